//! One file a command, and the table of them all.

mod args;
mod limit;
mod reply;

use crate::ffi::{Ctx, register};
use crate::limit::{FixedWindow, SlidingLog};

/// Registers every command.
///
/// # Errors
/// The name of the one the server refused.
pub fn register_all(ctx: Ctx<'_>) -> Result<(), &'static str> {
    macro_rules! table {
        ($($handler:ty: $doc:expr;)*) => {$(
            let doc = $doc;
            register::<$handler>(ctx, &doc).map_err(|()| doc.name.to_str().unwrap_or_default())?;
        )*};
    }
    table! {
        limit::Limit<FixedWindow>: limit::doc(
            c"RL.FIXED",
            c"Asks for a request under a fixed window counter.",
            c"O(1)",
        );
        limit::Limit<SlidingLog>: limit::doc(
            c"RL.SLIDING",
            c"Asks for a request under a sliding window log.",
            c"O(log(N)+M) with N the requests in the window and M the cost, or what has left the window since the last call",
        );
    }
    Ok(())
}
