//! Fixed window counter: time is cut into windows that start at multiples of the window since the epoch, and each
//! has a counter of its own. Cheap and exact within a window; a burst at the end of one and another at the start of
//! the next let up to twice the limit pass within one window's length.

use super::{Change, Cost, Decision, MAX_COUNT, Micros, Outlook, Quota, Unrepresentable, Verdict, Window, to_i64};

/// `limit` units in each aligned `window`.
#[derive(Clone, Copy, Debug)]
pub struct FixedWindow {
    window: Window,
    limit: u64,
}

/// A window's counter, as Redis keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// Counts denied requests as well, and may be below 0 where somebody used DECR.
    pub value: i64,
    /// Milliseconds since the epoch; `None` for a counter found without.
    pub expires_at: Option<u64>,
}

impl FixedWindow {
    pub const fn new(quota: &Quota) -> Self {
        Self { window: quota.window, limit: quota.limit }
    }

    pub const fn window(&self) -> Window {
        self.window
    }

    /// The number of the window that `now` lies in: part of the counter's key.
    pub const fn bucket(&self, now: Micros) -> u64 {
        // A window is never 0, which its type says but not the compiler's lint.
        match now.0.checked_div(self.window.micros()) {
            Some(number) => number,
            None => 0,
        }
    }

    /// INCR, EXPIRE when new, compare: as the script does. `count` is the counter after this request, `ttl` what
    /// TTL says of the key (-2 where there is none, -1 never, as a counter without an expiry is given one).
    ///
    /// A denied request is counted too, but one that takes more than a unit only once the window is full: before
    /// that a smaller one may still pass.
    ///
    /// # Errors
    /// [`Unrepresentable::Overflow`] where INCRBY would overflow.
    pub fn decide(
        &self,
        state: Option<Counter>,
        now: Micros,
        cost: Cost,
    ) -> Result<Decision<Counter>, Unrepresentable> {
        let before = state.map_or(0, |counter| counter.value);
        let limit = to_i64(self.limit);
        let cost = to_i64(cost.units());
        let fits = cost <= limit && before.checked_add(cost).is_some_and(|after| after <= limit);
        let counted = fits || before >= limit;
        let after = if counted { before.checked_add(cost).ok_or(Unrepresentable::Overflow)? } else { before };
        // The script sets the expiry when the counter becomes 1: also where it was taken back to 0 before.
        let becomes_one = counted && before == 0;
        let expires_at = match state {
            Some(Counter { expires_at: Some(at), .. }) if !becomes_one => Some(at),
            None if !counted => None,
            _ => Some(now.millis().saturating_add(self.window.millis())),
        };
        // TTL rounds to the nearest second.
        let ttl = expires_at.map_or(-2, |at| to_i64(at.saturating_sub(now.millis()).saturating_add(500) / 1_000));
        let changed = counted || state.is_some_and(|counter| counter.expires_at.is_none());
        let change = if changed { Change::Charge(Counter { value: after, expires_at }) } else { Change::Keep };
        Ok(Decision { verdict: Verdict { allowed: fits, count: after, ttl }, delay: 0, change })
    }

    /// The counter after `cost` was given back, from what fits the limit: what was counted above it took no room.
    /// `None` where there is nothing to give back.
    pub fn refund(&self, state: Option<Counter>, cost: Cost) -> Option<Counter> {
        let counter = state.filter(|counter| counter.value > 0)?;
        let value = counter.value.min(to_i64(self.limit)).saturating_sub(to_i64(cost.units())).max(0);
        Some(Counter { value, ..counter })
    }

    /// What the window holds with its counter at `value`.
    pub const fn outlook(&self, value: i64, now: Micros) -> WindowOutlook {
        WindowOutlook { algorithm: *self, value, now }
    }
}

/// See [`FixedWindow::outlook`].
pub struct WindowOutlook {
    algorithm: FixedWindow,
    value: i64,
    now: Micros,
}

impl Outlook for WindowOutlook {
    fn capacity(&self) -> u64 {
        self.algorithm.limit
    }

    fn remaining(&self) -> u64 {
        let taken = u64::try_from(self.value).unwrap_or(0);
        self.algorithm.limit.saturating_sub(taken)
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
