//! Fixed window counter: time is divided into windows that start at multiples of the window since the epoch, and each
//! window has its own counter. It is cheap and exact within a window. A burst at the end of one window and another at
//! the start of the next allow up to twice the limit within the length of one window.

use super::arithmetic::to_i64;
use super::{Change, Cost, Decision, Forecast, MAX_COUNT, Micros, Policy, Unrepresentable, Verdict, Window};

/// `limit` units in each aligned `window`.
///
/// ```
/// use redis_rl::algorithm::fixed_window::Counter;
/// use redis_rl::algorithm::{Change, Cost, FixedWindow, Micros, Policy, Window};
///
/// let policy = Policy { window: Window::from_millis(60_000).unwrap(), limit: 5, burst: None };
/// let fixed = FixedWindow::new(&policy);
/// let now = Micros(1_700_000_000_000_000);
/// assert_eq!(fixed.bucket(now), 28_333_333, "the minutes since the epoch");
/// let decision = fixed.decide(None, now, Cost::ONE).unwrap();
/// assert_eq!(decision.change, Change::Charge(Counter { value: 1, expires_at: Some(1_700_000_060_000) }));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct FixedWindow {
    window: Window,
    limit: u64,
}

/// The counter of a window, as Redis stores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// Counts denied requests as well. It may be negative, since DECR works on it.
    pub value: i64,
    /// The expiry of its key, in milliseconds since the epoch; `None` for a counter without one.
    pub expires_at: Option<u64>,
}

impl FixedWindow {
    /// The algorithm under a policy.
    pub const fn new(policy: &Policy) -> Self {
        Self { window: policy.window, limit: policy.limit }
    }

    /// The length of a window.
    pub const fn window(&self) -> Window {
        self.window
    }

    /// The number of the window that `now` is in. It is part of the key of the counter.
    pub const fn bucket(&self, now: Micros) -> u64 {
        // A window is never 0: its type ensures that, but the lint does not know it.
        match now.0.checked_div(self.window.micros()) {
            Some(number) => number,
            None => 0,
        }
    }

    /// INCR, EXPIRE if new, compare: as the script does. `count` is the counter after this request. `ttl` is what the
    /// command TTL replies for the key: −2 if there is none.
    ///
    /// A denied request is counted too. With a cost above 1 it is counted only if the window was full already, since
    /// otherwise a smaller request could still be allowed. A counter without an expiry gets one.
    ///
    /// # Errors
    /// [`Unrepresentable::Overflow`] if INCRBY would overflow.
    #[inline]
    pub fn decide(
        &self,
        state: Option<Counter>,
        now: Micros,
        cost: Cost,
    ) -> Result<Decision<Counter>, Unrepresentable> {
        let before = state.map_or(0, |counter| counter.value);
        let limit = to_i64(self.limit);
        let (needed, cost) = (to_i64(cost.needed()), to_i64(cost.units()));
        let allowed = needed <= limit && before.checked_add(needed).is_some_and(|after| after <= limit);
        let counted = (allowed || before >= limit) && cost > 0;
        let after = if counted { before.checked_add(cost).ok_or(Unrepresentable::Overflow)? } else { before };
        // The script sets the expiry when the counter becomes 1, also if a DECR had made it 0 before.
        let becomes_one = counted && before == 0;
        let expires_at = match state {
            Some(Counter { expires_at: Some(at), .. }) if !becomes_one => Some(at),
            None if !counted => None,
            _ => Some(self.new_expiry(now)),
        };
        // TTL rounds to the nearest second.
        let ttl = expires_at.map_or(-2, |at| to_i64(at.saturating_sub(now.millis()).saturating_add(500) / 1_000));
        let changed = counted || state.is_some_and(|counter| counter.expires_at.is_none());
        let change = if changed { Change::Charge(Counter { value: after, expires_at }) } else { Change::Keep };
        Ok(Decision { verdict: Verdict { allowed, count: after, ttl }, delay: 0, change })
    }

    fn new_expiry(&self, now: Micros) -> u64 {
        now.millis().saturating_add(self.window.millis())
    }

    /// Gives `cost` units back, from min(counter, limit): what is above the limit was never available. A counter
    /// without an expiry gets one.
    pub fn refund(&self, state: Option<Counter>, now: Micros, cost: Cost) -> Change<Counter> {
        let Some(counter) = state else { return Change::Keep };
        let value = if counter.value > 0 && cost != Cost::ZERO {
            counter.value.min(to_i64(self.limit)).saturating_sub(to_i64(cost.units())).max(0)
        } else {
            counter.value
        };
        let expires_at = counter.expires_at.or(Some(self.new_expiry(now)));
        let refunded = Counter { value, expires_at };
        if refunded == counter { Change::Keep } else { Change::Refund(refunded) }
    }

    /// What the window allows with its counter at `value`.
    pub const fn forecast(&self, value: i64, now: Micros) -> WindowForecast {
        WindowForecast { algorithm: *self, value, now }
    }
}

/// The result of [`FixedWindow::forecast`].
pub struct WindowForecast {
    algorithm: FixedWindow,
    value: i64,
    now: Micros,
}

impl Forecast for WindowForecast {
    fn capacity(&self) -> u64 {
        self.algorithm.limit
    }

    fn remaining(&self) -> u64 {
        let used = u64::try_from(self.value).unwrap_or(0);
        self.algorithm.limit.saturating_sub(used)
    }

    fn fits_at(&self, cost: u64) -> Option<Micros> {
        if cost > self.algorithm.limit.min(MAX_COUNT) {
            None
        } else if cost <= self.remaining() {
            Some(self.now)
        } else {
            let next = self.algorithm.bucket(self.now).saturating_add(1);
            Some(Micros(next.saturating_mul(self.algorithm.window.micros())))
        }
    }
}
