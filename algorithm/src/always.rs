//! The option ALWAYS, and what RL.SHARE lends: charges the cost whatever the limit says.

use super::forecast::ttl_of_denial;
use super::integer::ceil_seconds;
use super::{Algorithm, Cost, Decided, Decision, Forecast, Micros, Verdict};

/// [`Algorithm::decide_always`], from what every algorithm has: its decision at a cost of 0, and what it overcharges.
pub(super) fn decide<A: Algorithm>(
    algorithm: &A,
    state: A::State<'_>,
    now: Micros,
    cost: Cost,
    charged: Cost,
) -> Decided<A::Change> {
    let look = algorithm.decide(state, now, Cost::ZERO)?;
    let charge = algorithm.overcharging(state, now, None, charged)?;
    let change = if charged == Cost::ZERO { look.change } else { charge };
    let after = algorithm.forecast(state, &change, now);
    let capacity = after.capacity();
    let allowed = capacity > 0 && after.fits_at(0) == Some(now);
    let needed = if capacity > 0 { cost.units() } else { cost.needed() };
    let ttl = if allowed {
        after.fits_at(capacity).map_or(-1, |at| ceil_seconds(at.since(now)))
    } else {
        ttl_of_denial(&after, now, needed)
    };
    Ok(Decision { verdict: Verdict { allowed, ttl, ..look.verdict }, delay: 0, change, needed })
}
