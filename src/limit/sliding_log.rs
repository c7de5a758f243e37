//! Sliding window log: every admitted request is remembered with its time, and a request passes while fewer than
//! `limit` lie within the last `window`. Exact at any moment, and pays for it with memory: an entry a unit.
//!
//! The log is kept in milliseconds: an entry made in millisecond `s` counts until, and not in, `s + window`.

use super::{Change, Cost, Decision, Micros, Outlook, Quota, Verdict, Window, to_i64};

/// At most `limit` units in any half-open span of `window`.
#[derive(Clone, Copy, Debug)]
pub struct SlidingLog {
    window: Window,
    limit: u64,
}

/// What a decision does to the log, beyond forgetting what has left the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogChange {
    /// Remember this many entries, as of now.
    Add(u64),
    /// Entries made ahead of the clock are taken to be made now.
    MoveAheadToNow,
}

impl SlidingLog {
    pub const fn new(quota: &Quota) -> Self {
        Self { window: quota.window, limit: quota.limit }
    }

    pub const fn window(&self) -> Window {
        self.window
    }

    pub const fn limit(&self) -> u64 {
        self.limit
    }

    /// The last millisecond whose entries no longer count at `now`; `None` where the window reaches past the epoch.
    pub const fn expired_through(&self, now: Micros) -> Option<u64> {
        now.millis().checked_sub(self.window.millis())
    }

    /// `count` is what the window held before this request, `ttl` the window. `len` is how many entries count,
    /// `ahead` whether any of them is later than now.
    pub fn decide(&self, len: u64, ahead: impl FnOnce() -> bool, cost: Cost) -> Decision<LogChange> {
        let allowed = len.checked_add(cost.units()).is_some_and(|after| after <= self.limit);
        let change = if allowed {
            Change::Charge(LogChange::Add(cost.units()))
        } else if len > 0 && ahead() {
            Change::Reanchor(LogChange::MoveAheadToNow)
        } else {
            Change::Keep
        };
        let verdict = Verdict { allowed, count: to_i64(len), ttl: to_i64(self.window.seconds()) };
        Decision { verdict, delay: 0, change }
    }

    /// What a log of `len` entries holds. `entry(n)` is the millisecond of the n-th oldest, from 0; `None` where it
    /// never leaves the window.
    pub const fn outlook<E: Fn(u64) -> Option<u64>>(&self, len: u64, entry: E, now: Micros) -> LogOutlook<E> {
        LogOutlook { algorithm: *self, len, entry, now }
    }
}

/// See [`SlidingLog::outlook`].
pub struct LogOutlook<E> {
    algorithm: SlidingLog,
    len: u64,
    entry: E,
    now: Micros,
}

impl<E: Fn(u64) -> Option<u64>> Outlook for LogOutlook<E> {
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
        // What lies ahead of the clock counts as made now: the next denial moves it there.
        let made = (self.entry)(last_to_leave)?.min(self.now.millis());
        Some(Micros::from_millis(made).after(self.algorithm.window.micros()).max(self.now))
    }
}
