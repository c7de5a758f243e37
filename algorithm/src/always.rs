//! The option ALWAYS: charges the cost whatever the limit says. The request is allowed if no more than the limit is
//! counted then. A gateway charges in this way what a response has already used.

use super::arithmetic::ceil_seconds;
use super::forecast::ttl_of_denial;
use super::{Change, Cost, Decision, Forecast, Micros, Verdict};

/// The decision of a request with ALWAYS, from the two functions that every algorithm has: `look` is its decision at a
/// cost of 0, `charge` what it overcharges by `cost`. `forecast` is that of the state after a change.
///
/// A cost of 0 charges nothing, and is denied only if more than the limit is counted. Under a limit of 0, everything is
/// denied.
pub(super) fn decide<S, F: Forecast>(
    look: Decision<S>,
    charge: Change<S>,
    now: Micros,
    cost: Cost,
    forecast: impl FnOnce(&Change<S>) -> F,
) -> Decision<S> {
    let change = if cost == Cost::ZERO { look.change } else { charge };
    let after = forecast(&change);
    let capacity = after.capacity();
    let allowed = capacity > 0 && after.fits_at(0) == Some(now);
    let needed = if capacity > 0 { cost.units() } else { cost.needed() };
    let ttl = if allowed {
        after.fits_at(capacity).map_or(-1, |at| ceil_seconds(at.since(now)))
    } else {
        ttl_of_denial(&after, now, needed)
    };
    Decision { verdict: Verdict { allowed, ttl, ..look.verdict }, delay: 0, change, needed }
}
