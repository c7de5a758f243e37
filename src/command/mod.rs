//! One file a command, and the table of them all.

/// A C string of literals.
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
mod limit;
mod multi;
mod peek;
mod refund;
pub(crate) mod reply;
mod reset;
mod throttle;

use algorithms::algorithms;

use crate::ffi::{CommandDoc, Ctx, register};

/// Registers every command.
///
/// # Errors
/// The name of the one the server refused.
pub fn register_all(ctx: Ctx<'_>) -> Result<(), &'static str> {
    let refused = |doc: &CommandDoc| doc.name.to_str().unwrap_or_default();
    macro_rules! algorithm_commands {
        ($($variant:ident($algorithm:ty) $name:literal burst: $burst:literal, $complexity:literal, $summary:literal;)*) => {$(
            let doc = limit::doc(c_str!("RL.", $name), c_str!($summary), c_str!($complexity), $burst);
            register::<limit::Limit<$algorithm>>(ctx, &doc).map_err(|()| refused(&doc))?;
        )*};
    }
    algorithms!(algorithm_commands);
    macro_rules! commands {
        ($($handler:ty: $doc:expr;)*) => {$(
            register::<$handler>(ctx, &$doc).map_err(|()| refused(&$doc))?;
        )*};
    }
    commands! {
        multi::Multi: multi::DOC;
        peek::Peek: peek::DOC;
        reset::Reset: reset::DOC;
        refund::Refund: refund::DOC;
        throttle::Throttle: throttle::doc(c"RL.THROTTLE");
    }
    Ok(())
}

/// `CL.THROTTLE`, unless another module has it: redis-cell may be loaded as well.
pub fn register_cl_throttle(ctx: Ctx<'_>) {
    if register::<throttle::Throttle>(ctx, &throttle::doc(c"CL.THROTTLE")).is_err() {
        ctx.log_notice("another module has CL.THROTTLE: it stays there, and RL.THROTTLE is the same");
    }
}
