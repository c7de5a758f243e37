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
#[macro_use]
mod algorithms;
mod check;
mod decide;
mod doc;
mod form;
mod help;
mod multi;
mod name;
mod options;
mod peek;
mod refund;
mod release;
mod renew;
mod reply;
mod request;
mod reserve;
mod reset;
mod settle;
mod several;
mod share;
mod throttle;
mod top;

use algorithms::PerAlgorithm;
pub use algorithms::for_each_decisions;
use name::{Name, command};

use crate::error::Error;
use crate::ffi::{Args, CommandDoc, Ctx, Handler, KeyPositions, register};

/// A command: its documentation, and what it does.
trait Command {
    const DOC: CommandDoc;
    const KEY_POSITIONS: Option<KeyPositions> = None;

    /// Runs the command and replies.
    fn run<'c>(ctx: Ctx<'c>, args: Args<'c>) -> Result<(), Error>;
}

impl<C: Command> Handler for C {
    const DOC: CommandDoc = C::DOC;
    const PANICKED: fn() -> Cow<'static, CStr> = || Error::INTERNAL.text();
    const KEY_POSITIONS: Option<KeyPositions> = C::KEY_POSITIONS;

    fn run<'c>(ctx: Ctx<'c>, args: Args<'c>) -> Result<(), Cow<'static, CStr>> {
        <C as Command>::run(ctx, args).map_err(|error| error.of_command(<C as Command>::DOC.example).text())
    }
}

/// The commands that are not `RL.<ALGO>`.
const COMMANDS: &[(&CStr, CommandDoc, Register)] = &[
    row::<multi::Multi>(c"RL.MULTI"),
    row::<share::Share>(c"RL.SHARE"),
    row::<PerAlgorithm<peek::Peek>>(c"RL.PEEK"),
    row::<PerAlgorithm<reset::Reset>>(c"RL.RESET"),
    row::<PerAlgorithm<refund::Refund>>(c"RL.REFUND"),
    row::<PerAlgorithm<settle::Settle>>(c"RL.SETTLE"),
    row::<renew::Renew>(c"RL.RENEW"),
    row::<release::Release>(c"RL.RELEASE"),
    row::<top::Top>(c"RL.TOP"),
    row::<help::Help>(c"RL.HELP"),
];

/// The names of redis-cell's command.
const THROTTLE: &[&CStr] = &[c"RL.THROTTLE", c"CL.THROTTLE"];

type Register = fn(Ctx<'_>, &'static CStr) -> Result<(), ()>;

const fn row<C: Command>(name: &'static CStr) -> (&'static CStr, CommandDoc, Register) {
    (name, <C as Command>::DOC, register::<C>)
}

/// Registers every command. `cl_throttle` says whether CL.THROTTLE is among them.
///
/// # Errors
/// The name of the command that the server rejected.
pub fn register_all(ctx: Ctx<'_>, cl_throttle: bool) -> Result<(), &'static str> {
    for name in Name::ALL {
        let registered = for_algorithm!(name, A => register::<check::Check<A>>(ctx, command(name)));
        registered.map_err(|()| name.command())?;
    }
    for (name, _, register) in COMMANDS {
        register(ctx, name).map_err(|()| name.to_str().unwrap_or_default())?;
    }
    // The server or another module may have these: its command stays.
    for name in THROTTLE.iter().take(if cl_throttle { 2 } else { 1 }) {
        if register::<throttle::Throttle>(ctx, name).is_err() {
            let name = name.to_str().unwrap_or_default();
            ctx.log_notice(&format!("{name} is not registered: the server or another module has that command"));
        }
    }
    Ok(())
}

/// Calls `visit` with the name and the documentation of every command, once for redis-cell's.
fn documentation(mut visit: impl FnMut(&'static CStr, &CommandDoc)) {
    for name in Name::ALL {
        for_algorithm!(name, A => visit(command(name), &<check::Check<A> as Command>::DOC));
    }
    COMMANDS.iter().for_each(|(name, doc, _)| visit(name, doc));
    visit(c"RL.THROTTLE", &<throttle::Throttle as Command>::DOC);
}
