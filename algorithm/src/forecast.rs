//! What a state allows now and when it allows more: the figures of `FULL` and of the HTTP headers.

use super::integer::{ceil_seconds, to_i64};
use super::{Decision, Micros};

/// How much of a limit is available now, and when more becomes available.
pub trait Forecast {
    /// The amount available when nothing is charged: BURST if given, else the limit.
    fn capacity(&self) -> u64;
    /// The largest cost that would be allowed now.
    fn remaining(&self) -> u64;
    /// The first moment, from now on, at which `cost` fits if there is no other request: at which `cost` units or more
    /// are available. A cost of 0 fits unless more than the capacity is charged. `None` means never.
    fn fits_at(&self, cost: u64) -> Option<Micros>;
}

/// The forecast of units, or leases, that each leave at a known time.
pub struct LeavingInOrder<F> {
    /// The amount available when nothing is charged.
    pub capacity: u64,
    /// How many units are charged.
    pub charged: u64,
    /// When the n-th of them leaves, earliest first, from 0; `None` if it never does.
    pub leaves_at: F,
    /// When all of them are gone, whatever `leaves_at` says; `None` if nothing removes them.
    pub gone_at: Option<Micros>,
    /// The time of the forecast.
    pub now: Micros,
}

impl<F: Fn(u64) -> Option<Micros>> Forecast for LeavingInOrder<F> {
    fn capacity(&self) -> u64 {
        self.capacity
    }

    fn remaining(&self) -> u64 {
        self.capacity.saturating_sub(self.charged)
    }

    fn fits_at(&self, cost: u64) -> Option<Micros> {
        let room = self.capacity.checked_sub(cost)?;
        let Some(last_to_leave) = self.charged.saturating_sub(room).checked_sub(1) else {
            return Some(self.now);
        };
        let left = (self.leaves_at)(last_to_leave);
        Some(left.into_iter().chain(self.gone_at).min()?.max(self.now))
    }
}

/// The figures of `FULL` and of the HTTP headers. Times are in milliseconds, rounded up; −1 means never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figures {
    /// The value that `remaining` counts down from.
    pub limit: u64,
    /// The largest cost that would be allowed now, after this request.
    pub remaining: u64,
    /// 0 if allowed; else the time until the same cost fits.
    pub retry_after_ms: i64,
    /// The time until `remaining` grows; 0 if nothing is charged.
    pub next_ms: i64,
    /// The time until the whole limit is available; 0 if it is.
    pub reset_ms: i64,
    /// How long to hold the request; 0 for every algorithm but the leaky bucket.
    pub delay_ms: i64,
}

impl Figures {
    /// The figures of a decision. `forecast` is that of the state after it.
    pub fn new<S>(forecast: &impl Forecast, decision: &Decision<S>, now: Micros) -> Self {
        let until = |cost| match forecast.fits_at(cost) {
            Some(at) => to_i64(at.since(now).div_ceil(1_000)),
            None => -1,
        };
        let (limit, remaining) = (forecast.capacity(), forecast.remaining());
        let full = remaining >= limit;
        Self {
            limit,
            remaining,
            retry_after_ms: if decision.verdict.allowed { 0 } else { until(decision.needed) },
            next_ms: if full { 0 } else { until(remaining.saturating_add(1)) },
            reset_ms: if full { 0 } else { until(limit) },
            delay_ms: to_i64(decision.delay.div_ceil(1_000)),
        }
    }
}

/// The `ttl` of a denied request, in seconds: the time until so many units are available, at least 1; −1 for never.
pub(super) fn ttl_of_denial(forecast: &impl Forecast, now: Micros, needed: u64) -> i64 {
    forecast.fits_at(needed).map_or(-1, |at| ceil_seconds(at.since(now)).max(1))
}
