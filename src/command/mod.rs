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
mod release;
mod renew;
pub(crate) mod reply;
mod request;
mod reset;
mod settle;
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

/// Registers every command but [`register_throttle`]'s.
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
    add::<PerAlgorithm<settle::Settle>>(ctx, c"RL.SETTLE")?;
    add::<renew::Renew>(ctx, c"RL.RENEW")?;
    add::<release::Release>(ctx, c"RL.RELEASE")
}

fn add<C: Command>(ctx: Ctx<'_>, name: &'static CStr) -> Result<(), &'static str> {
    register::<C>(ctx, name).map_err(|()| name.to_str().unwrap_or_default())
}

/// Registers redis-cell's command under one of its names, `RL.THROTTLE` or `CL.THROTTLE`. If the server or another
/// module has a command of that name, that one stays, and a notice says so.
pub fn register_throttle(ctx: Ctx<'_>, name: &'static CStr) {
    if let Err(name) = add::<throttle::Throttle>(ctx, name) {
        ctx.log_notice(&format!("{name} is not registered: the server or another module has that command"));
    }
}
