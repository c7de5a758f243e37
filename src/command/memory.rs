//! What happens to a request that needs memory when the server is at `maxmemory`: the setting `rl.on-oom`.

use crate::config::{OnOom, on_oom};
use crate::error::Error;
use crate::ffi::Ctx;
use crate::stats::STATS;

/// The `ttl` of a request that is denied because the server is at `maxmemory`, in seconds. The module cannot know when
/// there will be memory.
pub const RETRY_SECONDS: i64 = 1;

/// Whether `rl.on-oom` allows a request that cannot be counted.
///
/// # Errors
/// `rl.on-oom` is `error`.
pub fn allows_uncounted(ctx: Ctx<'_>) -> Result<bool, Error> {
    match on_oom(ctx) {
        OnOom::Error => {
            STATS.oom_error.increment();
            Err(Error::OUT_OF_MEMORY)
        }
        OnOom::Allow => {
            STATS.oom_allowed.increment();
            Ok(true)
        }
        OnOom::Deny => {
            STATS.oom_denied.increment();
            Ok(false)
        }
    }
}
