//! Sliding window log: every charged unit is stored with its time, and a request is allowed while fewer than `limit`
//! units are in the last `window`. It is exact at every moment and needs one entry a unit.
//!
//! The log has a resolution of milliseconds: an entry of millisecond `s` counts before, and not in, `s + window`.

use super::arithmetic::to_i64;
use super::forecast::LeavingInOrder;
use super::{Change, Cost, Decision, Micros, Policy, Verdict, Window};

/// At most `limit` units in any half-open span of `window`.
///
/// ```
/// use redis_rl_algorithm::sliding_log::LogChange;
/// use redis_rl_algorithm::{Change, Cost, Policy, SlidingLog, Window};
///
/// let policy = Policy::new(Window::from_millis(60_000).unwrap(), 5);
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
    /// Add this many entries, as of an earlier millisecond.
    AddEarlier {
        /// How many.
        count: u64,
        /// The millisecond of the entries.
        millis: u64,
    },
    /// Remove this many of the newest entries.
    RemoveNewest(u64),
    /// Remove this many entries: those of a millisecond, then the nearest older ones.
    RemoveUpTo {
        /// How many at most.
        count: u64,
        /// The latest millisecond of the entries.
        millis: u64,
    },
}

impl SlidingLog {
    /// The algorithm under a policy.
    pub const fn new(policy: &Policy) -> Self {
        Self { window: policy.window(), limit: policy.limit }
    }

    /// The length of the window.
    pub const fn window(&self) -> Window {
        self.window
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
        Decision { verdict, delay: 0, change, needed: cost.needed() }
    }

    /// Gives `cost` units back: the newest entries of a log of `len`; with `at`, those of that time, then the nearest
    /// older ones.
    pub fn refund(&self, len: u64, at: Option<Micros>, cost: Cost) -> Change<LogChange> {
        let count = len.min(cost.units());
        match at.map(Micros::millis) {
            _ if count == 0 => Change::Keep,
            None => Change::Refund(LogChange::RemoveNewest(count)),
            Some(millis) => Change::Refund(LogChange::RemoveUpTo { count, millis }),
        }
    }

    /// Charges `cost` units whatever the limit says; with `at`, as of that time, or nothing if its window has passed.
    pub fn overcharge(&self, now: Micros, at: Option<Micros>, cost: Cost) -> Change<LogChange> {
        let count = cost.units();
        let earlier = at.map(Micros::millis).filter(|&millis| millis < now.millis());
        match earlier {
            _ if count == 0 => Change::Keep,
            None => Change::Charge(LogChange::Add(count)),
            Some(millis) if self.expired_through(now).is_some_and(|expired| millis <= expired) => Change::Keep,
            Some(millis) => Change::Charge(LogChange::AddEarlier { count, millis }),
        }
    }

    /// The expiry to set after a call on an existing key, in milliseconds since the epoch: 2 windows from now if fewer
    /// than 1.5 windows are left, or if the key has no expiry. `None` leaves the expiry as it is.
    ///
    /// The script sets 2 windows at every call. With this rule, too, no entry is lost before it leaves the window, and
    /// few calls write an expiry.
    ///
    /// ```
    /// use redis_rl_algorithm::{Micros, Policy, SlidingLog, Window};
    ///
    /// let policy = Policy::new(Window::from_millis(1_000).unwrap(), 5);
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
    pub fn forecast<E: Fn(u64) -> Option<u64>>(
        &self,
        len: u64,
        entry: E,
        now: Micros,
    ) -> LeavingInOrder<impl Fn(u64) -> Option<Micros> + use<E>> {
        let window = self.window.micros();
        let leaves_at = move |n| entry(n).map(|made| Micros::from_millis(made).plus(window));
        LeavingInOrder { capacity: self.limit, charged: len, leaves_at, gone_at: None, now }
    }
}
