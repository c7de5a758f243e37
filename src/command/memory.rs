//! What happens to a request that needs memory when the server is at `maxmemory`: the setting `rl.on-oom`.

use crate::config::{OnOom, on_oom};
use crate::error::Error;
use crate::ffi::Ctx;
use crate::stats::STATS;

/// The `ttl` of a request that is denied because the server is at `maxmemory`, in seconds. The module cannot know when
/// there will be memory.
pub const RETRY_SECONDS: i64 = 1;

/// Whether a request that cannot be counted is allowed: in shadow mode, which denies nothing, and where `rl.on-oom` says
/// so.
///
/// # Errors
/// `rl.on-oom` is `error`.
pub fn allows_uncounted(ctx: Ctx<'_>, in_shadow_mode: bool) -> Result<bool, Error> {
    match on_oom(ctx) {
        OnOom::Error if !in_shadow_mode => {
            STATS.oom_error.increment();
            Err(Error::OUT_OF_MEMORY)
        }
        OnOom::Deny if !in_shadow_mode => {
            STATS.oom_denied.increment();
            Ok(false)
        }
        _ => {
            STATS.oom_allowed.increment();
            Ok(true)
        }
    }
}
