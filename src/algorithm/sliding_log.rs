//! Sliding window log: every charged unit is stored with its time, and a request is allowed while fewer than `limit`
//! units are in the last `window`. It is exact at every moment and needs one entry a unit.
//!
//! The log has a resolution of milliseconds: an entry of millisecond `s` counts before, and not in, `s + window`.

use super::arithmetic::to_i64;
use super::{Change, Cost, Decision, Forecast, Micros, Policy, Verdict, Window};

/// At most `limit` units in any half-open span of `window`.
///
/// ```
/// use redis_rl::algorithm::sliding_log::LogChange;
/// use redis_rl::algorithm::{Change, Cost, Policy, SlidingLog, Window};
///
/// let policy = Policy { window: Window::from_millis(60_000).unwrap(), limit: 5, burst: None };
/// let log = SlidingLog::new(&policy);
/// let decision = log.decide(4, || false, Cost::ONE);
/// assert_eq!(decision.change, Change::Charge(LogChange::Add(1)));
/// assert!(!log.decide(5, || false, Cost::ONE).verdict.allowed);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SlidingLog {
    window: Window,
    limit: u64,
}

/// What a decision does to the log, beyond the removal of expired entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogChange {
    /// Add this many entries, as of now.
    Add(u64),
    /// Move the entries that are ahead of the clock to now.
    MoveAheadToNow,
    /// Remove this many of the newest entries.
    RemoveNewest(u64),
}

impl SlidingLog {
    /// The algorithm under a policy.
    pub const fn new(policy: &Policy) -> Self {
        Self { window: policy.window, limit: policy.limit }
    }

    /// The length of the window.
    pub const fn window(&self) -> Window {
        self.window
    }

    /// How many members a request adds if it is allowed; 0 if the limit can never hold it.
    pub const fn members_added(&self, cost: Cost) -> u64 {
        if cost.units() <= self.limit { cost.units() } else { 0 }
    }

    /// The last millisecond whose entries no longer count at `now`. `None` if the window reaches back to the epoch.
    pub const fn expired_through(&self, now: Micros) -> Option<u64> {
        now.millis().checked_sub(self.window.millis())
    }

    /// `len` is how many entries count; `ahead` tells whether any of them is later than now. `count` is `len`, `ttl`
    /// is the window, as in the script.
    #[inline]
    pub fn decide(&self, len: u64, ahead: impl FnOnce() -> bool, cost: Cost) -> Decision<LogChange> {
        let allowed = len.checked_add(cost.needed()).is_some_and(|after| after <= self.limit);
        let change = if allowed && cost != Cost::ZERO {
            Change::Charge(LogChange::Add(cost.units()))
        } else if !allowed && len > 0 && ahead() {
            Change::Rebase(LogChange::MoveAheadToNow)
        } else {
            Change::Keep
        };
        let verdict = Verdict { allowed, count: to_i64(len), ttl: to_i64(self.window.seconds()) };
        Decision { verdict, delay: 0, change }
    }

    /// Gives `cost` units back: the newest entries of a log of `len`.
    pub const fn refund(&self, len: u64, cost: Cost) -> Change<LogChange> {
        let count = if len < cost.units() { len } else { cost.units() };
        if count == 0 { Change::Keep } else { Change::Refund(LogChange::RemoveNewest(count)) }
    }

    /// The expiry to set after a call on an existing key, in milliseconds since the epoch: 2 windows from now if fewer
    /// than 1.5 windows are left, or if the key has no expiry. `None` leaves the expiry as it is.
    ///
    /// The script sets 2 windows at every call. This rule keeps what that is for, at a fraction of the writes.
    ///
    /// ```
    /// use redis_rl::algorithm::{Micros, Policy, SlidingLog, Window};
    ///
    /// let policy = Policy { window: Window::from_millis(1_000).unwrap(), limit: 5, burst: None };
    /// let log = SlidingLog::new(&policy);
    /// let now = Micros::from_millis(10_000);
    /// assert_eq!(log.new_expiry(Some(11_500), now), None);
    /// assert_eq!(log.new_expiry(Some(11_499), now), Some(12_000));
    /// ```
    #[inline]
    pub const fn new_expiry(&self, expires_at: Option<u64>, now: Micros) -> Option<u64> {
        let (now, window) = (now.millis(), self.window.millis());
        match expires_at {
            Some(at) if at.saturating_sub(now).saturating_mul(2) >= window.saturating_mul(3) => None,
            _ => Some(now.saturating_add(window.saturating_mul(2))),
        }
    }

    /// What a log of `len` entries allows. `entry(n)` is the millisecond of the n-th entry to leave the window, from
    /// 0; `None` if that entry never leaves.
    pub const fn forecast<E: Fn(u64) -> Option<u64>>(&self, len: u64, entry: E, now: Micros) -> LogForecast<E> {
        LogForecast { algorithm: *self, len, entry, now }
    }
}

/// The result of [`SlidingLog::forecast`].
pub struct LogForecast<E> {
    algorithm: SlidingLog,
    len: u64,
    entry: E,
    now: Micros,
}

impl<E: Fn(u64) -> Option<u64>> Forecast for LogForecast<E> {
    fn capacity(&self) -> u64 {
        self.algorithm.limit
    }

    fn remaining(&self) -> u64 {
        self.algorithm.limit.saturating_sub(self.len)
    }

    fn fits_at(&self, cost: u64) -> Option<Micros> {
        let room = self.algorithm.limit.checked_sub(cost)?;
        let Some(last_to_leave) = self.len.saturating_sub(room).checked_sub(1) else {
            return Some(self.now);
        };
        let made = (self.entry)(last_to_leave)?;
        Some(Micros::from_millis(made).plus(self.algorithm.window.micros()).max(self.now))
    }
}
