//! One file for each command, and the table of all commands.

use std::borrow::Cow;
use std::ffi::CStr;

/// A C string from literals.
macro_rules! c_str {
    ($($part:expr),*) => {
        const {
            match std::ffi::CStr::from_bytes_with_nul(concat!($($part,)* "\0").as_bytes()) {
                Ok(text) => text,
                Err(_) => c"",
            }
        }
    };
}
mod algorithms;
pub(crate) mod args;
mod check;
mod doc;
mod memory;
mod multi;
mod peek;
mod refund;
pub(crate) mod reply;
mod request;
mod reset;
mod throttle;

use algorithms::{ForEach, PerAlgorithm};

use crate::error::Error;
use crate::ffi::{Args, CommandDoc, Ctx, Handler, KeyPositions, register};
use crate::store::StoredAlgorithm;

/// A command: its documentation, and what it does.
trait Command {
    const DOC: CommandDoc;
    const KEY_POSITIONS: Option<KeyPositions> = None;

    /// Runs the command and replies.
    ///
    /// # Errors
    /// The error reply. Nothing has been replied before.
    fn run<'c>(ctx: Ctx<'c>, args: Args<'c>) -> Result<(), Error>;
}

impl<C: Command> Handler for C {
    const DOC: CommandDoc = C::DOC;
    const PANICKED: fn() -> Cow<'static, CStr> = || Error::INTERNAL.text();
    const KEY_POSITIONS: Option<KeyPositions> = C::KEY_POSITIONS;

    fn run<'c>(ctx: Ctx<'c>, args: Args<'c>) -> Result<(), Cow<'static, CStr>> {
        <C as Command>::run(ctx, args).map_err(Error::text)
    }
}

/// Registers every command.
///
/// # Errors
/// The name of the command that the server rejected.
pub fn register_all(ctx: Ctx<'_>) -> Result<(), &'static str> {
    struct Register<'c>(Ctx<'c>);

    impl ForEach for Register<'_> {
        type Error = &'static str;

        fn run<A: StoredAlgorithm + 'static>(&mut self, command: &'static CStr) -> Result<(), &'static str> {
            add::<check::Check<A>>(self.0, command)
        }
    }
    algorithms::for_each(Register(ctx))?;
    add::<multi::Multi>(ctx, c"RL.MULTI")?;
    add::<PerAlgorithm<peek::Peek>>(ctx, c"RL.PEEK")?;
    add::<PerAlgorithm<reset::Reset>>(ctx, c"RL.RESET")?;
    add::<PerAlgorithm<refund::Refund>>(ctx, c"RL.REFUND")?;
    add::<throttle::Throttle>(ctx, c"RL.THROTTLE")
}

fn add<C: Command>(ctx: Ctx<'_>, name: &'static CStr) -> Result<(), &'static str> {
    register::<C>(ctx, name).map_err(|()| name.to_str().unwrap_or_default())
}

/// Registers `CL.THROTTLE`, unless another module has it: redis-cell may be loaded as well.
pub fn register_cl_throttle(ctx: Ctx<'_>) {
    if add::<throttle::Throttle>(ctx, c"CL.THROTTLE").is_err() {
        ctx.log_notice("another module has CL.THROTTLE, which therefore stays there; RL.THROTTLE does the same");
    }
}
