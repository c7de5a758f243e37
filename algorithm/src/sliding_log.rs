//! Sliding window log: every charged unit is stored with its time, and a request is allowed while fewer than `limit`
//! units are in the last `window`. It is exact at every moment and needs one entry a unit. Its replies are those of the Lua
//! script that RL.SLIDING replaces (`lua/drop-in/`), which is "the script" below.
//!
//! The log has a resolution of milliseconds: an entry of millisecond `s` counts before, and not in, `s + window`.

use super::forecast::LeavingInOrder;
use super::integer::to_i64;
use super::{
    Algorithm, Change, Changed, Cost, Decided, Decision, Forecast, MAX_EXPIRED, MAX_MOVED, Micros, Policy,
    Unrepresentable, Verdict, Window,
};

/// At most `limit` units in any half-open span of `window`.
///
/// ```
/// use redis_rl_algorithm::sliding_log::LogChange;
/// use redis_rl_algorithm::{Algorithm, Change, Cost, Policy, SlidingLog, Window};
///
/// let policy = Policy::new(Window::from_millis(60_000).unwrap(), 5);
/// let log = SlidingLog::new(&policy).unwrap();
/// let decision = log.decide_on_len(4, || false, Cost::ONE);
/// assert_eq!(decision.change, Change::Charge(LogChange::Add(1)));
/// assert!(!log.decide_on_len(5, || false, Cost::ONE).verdict.allowed);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SlidingLog {
    pub(super) window: Window,
    limit: u64,
}

/// What a decision does to the log, beyond the removal of expired entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogChange {
    /// Add this many entries, as of now.
    Add(u64),
    /// Move the entries that are ahead of the clock to now, at most [`MAX_MOVED`], oldest first.
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
    /// Remove this many entries: first the entries of a millisecond, then the nearest older ones.
    RemoveUpTo {
        /// How many at most.
        count: u64,
        /// The latest millisecond of the entries.
        millis: u64,
    },
}

impl SlidingLog {
    /// The last millisecond whose entries no longer count at `now`. `None` if the window reaches back to the epoch.
    pub const fn expired_through(&self, now: Micros) -> Option<u64> {
        now.millis().checked_sub(self.window.millis())
    }

    /// Decides on a request. `len` is how many entries count; `ahead` returns whether any of them is later than now.
    /// `count` is `len`, `ttl` is the window, as in the script.
    #[inline]
    pub fn decide_on_len(&self, len: u64, ahead: impl FnOnce() -> bool, cost: Cost) -> Decision<LogChange> {
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

    /// What gives `cost` units back: the newest entries of a log of `len`; with `at`, the entries of that time, then the
    /// nearest older ones.
    pub fn refunding_len(&self, len: u64, at: Option<Micros>, cost: Cost) -> Change<LogChange> {
        let count = len.min(cost.units());
        match at.map(Micros::millis) {
            _ if count == 0 => Change::Keep,
            None => Change::Refund(LogChange::RemoveNewest(count)),
            Some(millis) => Change::Refund(LogChange::RemoveUpTo { count, millis }),
        }
    }

    /// What charges `cost` units whatever the limit says; with `at`, as of that time, or nothing if its window has passed.
    pub fn overcharging_at(&self, now: Micros, at: Option<Micros>, cost: Cost) -> Change<LogChange> {
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
    pub fn forecast_of_len<E: Fn(u64) -> Option<u64>>(
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

/// A log in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Log {
    /// The millisecond of each entry, oldest first.
    pub entries: Vec<u64>,
    /// The expiry of the key in milliseconds since the epoch; `None` for a key without one.
    pub expires_at: Option<u64>,
}

impl Log {
    /// How many entries no longer count.
    fn expired(&self, algorithm: &SlidingLog, now: Micros) -> usize {
        let expired_through = algorithm.expired_through(now);
        self.entries.partition_point(|&entry| expired_through.is_some_and(|expired| entry <= expired))
    }

    /// How many entries count.
    fn len(&self, algorithm: &SlidingLog, now: Micros) -> u64 {
        u64::try_from(self.entries.len().saturating_sub(self.expired(algorithm, now))).unwrap_or(u64::MAX)
    }

    fn remove_up_to(&mut self, millis: u64, count: u64) {
        let end = self.entries.iter().take_while(|&&entry| entry <= millis).count();
        let start = end.saturating_sub(usize::try_from(count).unwrap_or(usize::MAX));
        self.entries.drain(start..end);
    }

    /// Removes the entries that no longer count, at most [`MAX_EXPIRED`], oldest first.
    pub fn prune(&mut self, algorithm: &SlidingLog, now: Micros) {
        self.remove_oldest(self.expired(algorithm, now).min(MAX_EXPIRED));
    }

    fn remove_oldest(&mut self, count: usize) {
        self.entries.drain(..count);
        // An empty key is no more.
        self.expires_at = self.expires_at.filter(|_| !self.entries.is_empty());
    }

    /// Writes a change. Needs memory for one entry a unit.
    pub fn commit(&mut self, algorithm: &SlidingLog, change: &Change<LogChange>, now: Micros) {
        let entries = &mut self.entries;
        match change.state() {
            Some(&LogChange::Add(count)) => entries.extend((0..count).map(|_| now.millis())),
            Some(LogChange::MoveAheadToNow) => {
                let ahead = entries.iter_mut().filter(|entry| **entry > now.millis());
                ahead.take(MAX_MOVED as usize).for_each(|entry| *entry = now.millis());
            }
            Some(&LogChange::AddEarlier { count, millis }) => entries.extend((0..count).map(|_| millis)),
            Some(&LogChange::RemoveNewest(count)) => self.remove_up_to(u64::MAX, count),
            Some(&LogChange::RemoveUpTo { count, millis }) => self.remove_up_to(millis, count),
            None if matches!(change, Change::Delete) => entries.clear(),
            None => {}
        }
        self.entries.sort_unstable();
        let expires_at = algorithm.new_expiry(self.expires_at, now).or(self.expires_at);
        self.expires_at = expires_at.filter(|_| !self.entries.is_empty());
    }
}

/// With the log in memory. A server has it in a sorted set, and calls the functions that get its length.
impl Algorithm for SlidingLog {
    type State<'s> = &'s Log;
    type Change = LogChange;

    fn new(policy: &Policy) -> Result<Self, Unrepresentable> {
        Ok(Self { window: policy.window(), limit: policy.limit })
    }

    fn decide(&self, log: &Log, now: Micros, cost: Cost) -> Decided<LogChange> {
        let ahead = || log.entries.last().is_some_and(|&last| last > now.millis());
        Ok(self.decide_on_len(log.len(self, now), ahead, cost))
    }

    fn refunding(&self, log: &Log, now: Micros, at: Option<Micros>, cost: Cost) -> Change<LogChange> {
        self.refunding_len(log.len(self, now), at, cost)
    }

    fn overcharging(&self, _log: &Log, now: Micros, at: Option<Micros>, cost: Cost) -> Changed<LogChange> {
        Ok(self.overcharging_at(now, at, cost))
    }

    fn forecast(&self, log: Self::State<'_>, change: &Change<LogChange>, now: Micros) -> impl Forecast {
        let mut after = log.clone();
        after.remove_oldest(after.expired(self, now));
        after.commit(self, change, now);
        // The key still exists in the millisecond of its expiry.
        let gone_at = after.expires_at.map(|millis| Micros::from_millis(millis.saturating_add(1)));
        let len = after.len(self, now);
        let entry = move |n| after.entries.get(usize::try_from(n).ok()?).copied();
        LeavingInOrder { gone_at, ..self.forecast_of_len(len, entry, now) }
    }
}
