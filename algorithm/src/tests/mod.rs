//! Tests of the algorithms with a clock of their own. `laws.rs` is what all of them promise, for each row of the table
//! in `oracle.rs`, against that oracle; the other files are what an algorithm promises beside that.

mod buckets;
mod laws;
mod lease;
mod lockout;
mod oracle;
mod period;
mod records_page;
mod reservation;
mod rolling_log;
mod share;
mod states;
mod table;
mod trace;

use super::fixed_window::Counter;
use super::period::{CalendarUnit, Period};
use super::rolling_log::{Entry, TAG};
use super::*;
use crate::in_memory::{Counters, InMemory, Log, Reply, StoredRecord};
use crate::record;
use oracle::{Kind, Oracle, every_algorithm, every_record};
pub use trace::*;

/// 2023-11-14 22:13:20 UTC: the start of a second, but not of a minute.
pub const T0: u64 = 1_700_000_000_000_000;

pub const SECOND: u64 = 1_000_000;

/// `limit` units in `window` milliseconds.
pub fn policy(window: u64, limit: u64) -> Policy {
    Policy::new(Window::from_millis(window).unwrap(), limit)
}

pub fn burst(policy: Policy, burst: u64) -> Policy {
    Policy { burst: Some(burst), ..policy }
}

pub fn cost(units: u64) -> Cost {
    Cost::new(units).unwrap()
}

/// A key without an expiry that holds the record of a state.
pub fn stored<A: RecordAlgorithm>(state: A::Record) -> Option<StoredRecord> {
    Some(StoredRecord { text: record::encode::<A>(&state).to_vec(), expires_at: None })
}

/// The state of a record.
pub fn state_of<A: RecordAlgorithm>(key: &Option<StoredRecord>) -> Option<A::Record> {
    key.as_ref().map(|stored| record::decode::<A>(&stored.text).expect("a record that the algorithm has written"))
}

/// What only the tests need to know of an algorithm.
pub trait TestAlgorithm: InMemory {
    /// The algorithm under a policy; `None` if it cannot represent the policy or a key would not fit a test's memory.
    fn build(policy: &Policy) -> Option<Self> {
        Self::with_policy(policy).ok()
    }

    /// A key that another program wrote; `None` if the algorithm replies an error to it.
    fn found(words: [u64; 4]) -> Option<Self::Key>;

    /// Whether the figures of a reply hold. They need not if the key holds something ahead of the clock.
    fn settled(&self, _key: &Self::Key, _now: Micros) -> bool {
        true
    }

    /// Whether no unit is charged, and no record is kept for none.
    fn is_empty(&self, key: &Self::Key, now: Micros) -> bool;

    /// Whether the expiry is as the algorithm documents it, after calls under this policy alone. `latest` is the latest
    /// time of any of them.
    fn expiry_is_right(&self, key: &Self::Key, now: Micros, latest: Micros) -> bool;

    /// Decides on a request, after the server has removed the key if its expiry is over. `None` is an error.
    fn request_at(&self, key: &mut Self::Key, now: Micros, cost: Cost) -> Option<Reply> {
        Self::expire(key, now);
        self.request(key, now, cost).ok()
    }

    fn allows(&self, key: &Self::Key, now: Micros, units: u64) -> bool {
        let request = |cost| self.request_at(&mut key.clone(), now, cost);
        Cost::new(units).and_then(request).is_some_and(|reply| reply.verdict.allowed)
    }

    fn remaining_at(&self, key: &Self::Key, now: Micros) -> u64 {
        let mut key = key.clone();
        Self::expire(&mut key, now);
        self.remaining(&key, now)
    }
}

impl<A: RecordAlgorithm> TestAlgorithm for A {
    fn found(words: [u64; 4]) -> Option<Self::Key> {
        let mut record = A::Words::ZERO;
        record.as_mut().iter_mut().zip(words).for_each(|(to, from)| *to = from);
        A::from_words(&record).map(stored::<A>)
    }

    /// A call that needs the state for longer than the calls before does not keep it, unless the algorithm says so.
    fn settled(&self, key: &Self::Key, _now: Micros) -> bool {
        let Some(stored) = key.as_ref().filter(|_| !A::EXPIRY_DEPENDS_ON_POLICY && A::TRAITS.lock) else {
            return true;
        };
        let needed = state_of::<A>(key).map(|state| A::expires_at(self, &state).ceil_millis());
        stored.expires_at.is_none_or(|at| Some(at) >= needed)
    }

    fn is_empty(&self, key: &Self::Key, _now: Micros) -> bool {
        key.is_none()
    }

    fn expiry_is_right(&self, key: &Self::Key, _now: Micros, _latest: Micros) -> bool {
        let Some(state) = state_of::<A>(key) else { return true };
        let needed = A::expires_at(self, &state).ceil_millis();
        let expires_at = key.as_ref().and_then(|stored| stored.expires_at);
        expires_at.is_some_and(|at| (needed..=needed + record::SLACK_MS).contains(&at))
    }
}

impl TestAlgorithm for FixedWindow {
    fn found([window, bucket, value, expires_at]: [u64; 4]) -> Option<Counters> {
        let counter = Counter { value: value.cast_signed(), expires_at: Some(expires_at) };
        let length = window.max(1);
        let [start, end] = [bucket, bucket.saturating_add(1)].map(|n| Micros(n.saturating_mul(length)));
        Some([(Period { start, end, length }, counter)].into())
    }

    /// The figures do not see that the next window has been counted in already.
    fn settled(&self, key: &Counters, now: Micros) -> bool {
        key.iter().all(|(period, _)| period.start <= now)
    }

    /// A counter of 0 stays until it expires, as after DECR.
    fn is_empty(&self, key: &Counters, now: Micros) -> bool {
        self.state(key, now).is_none_or(|counter| counter.value == 0)
    }

    /// Some time in the window after the counter's own.
    fn expiry_is_right(&self, key: &Counters, _now: Micros, _latest: Micros) -> bool {
        key.iter().all(|(period, counter)| {
            let (end, window) = (period.end.millis(), period.length / 1_000);
            counter.expires_at.is_some_and(|at| (end..end + window).contains(&at))
        })
    }
}

impl TestAlgorithm for WindowCounter {
    fn found([value, expires_at, has_expiry, _]: [u64; 4]) -> Option<Option<Counter>> {
        let expires_at = (has_expiry % 4 > 0).then_some(expires_at);
        Some(Some(Counter { value: value.cast_signed(), expires_at }))
    }

    fn is_empty(&self, key: &Option<Counter>, now: Micros) -> bool {
        key.is_none_or(|counter| counter.value <= 0 || counter.expires_at.is_some_and(|at| at <= now.millis()))
    }

    /// A window after the first request, and never more than a window from now.
    fn expiry_is_right(&self, key: &Option<Counter>, now: Micros, _latest: Micros) -> bool {
        let window = self.window.millis();
        self.is_empty(key, now)
            || key.and_then(|counter| counter.expires_at).is_some_and(|at| at <= now.millis() + window)
    }
}

impl TestAlgorithm for SlidingLog {
    fn build(policy: &Policy) -> Option<Self> {
        Self::new(policy).ok().filter(|_| policy.limit <= 1_000)
    }

    fn found(mut words: [u64; 4]) -> Option<Log> {
        words.sort_unstable();
        Some(Log { entries: words.into(), expires_at: None })
    }

    /// The expiry does not regard an entry ahead of the clock: a call under a longer window may need it for longer.
    fn settled(&self, key: &Log, now: Micros) -> bool {
        let leaves = |last: u64| last.saturating_add(self.window.millis());
        key.entries.last().is_none_or(|&last| last <= now.millis() || key.expires_at >= Some(leaves(last)))
    }

    fn is_empty(&self, key: &Log, _now: Micros) -> bool {
        *key == Log::default()
    }

    /// At least 1.5 windows from now and at most 2 from the latest call, and not before the last entry has left.
    fn expiry_is_right(&self, key: &Log, now: Micros, latest: Micros) -> bool {
        let (window, now, latest) = (self.window.millis(), now.millis(), latest.millis());
        match (key.entries.last(), key.expires_at) {
            (None, None) => true,
            (Some(last), Some(at)) => 2 * (at - now) >= 3 * window && at >= last + window && at <= latest + 2 * window,
            _ => false,
        }
    }
}

/// The latest time and the units of a rolling log.
fn latest_and_units(algorithm: &RollingLog, key: &Option<StoredRecord>, now: Micros) -> Option<(u64, u64)> {
    let text = &key.as_ref()?.text;
    let last = Entry::decode(text.last_chunk()?);
    Some((last.millis, algorithm.read(text, now)?.units()))
}

impl TestAlgorithm for RollingLog {
    fn found([a, b, c, d]: [u64; 4]) -> Option<Option<StoredRecord>> {
        let (mut times, mut totals) = ([a % (1 << 56), b % (1 << 56)], [c, d]);
        times.sort_unstable();
        totals.sort_unstable();
        let entries = times.into_iter().zip(totals).flat_map(|(millis, total)| Entry { millis, total }.encode());
        Some(Some(StoredRecord { text: TAG.into_iter().chain(entries).collect(), expires_at: None }))
    }

    /// As with [`SlidingLog`].
    fn settled(&self, key: &Option<StoredRecord>, now: Micros) -> bool {
        let Some((latest, units)) = latest_and_units(self, key, now) else { return true };
        let expires_at = key.as_ref().and_then(|stored| stored.expires_at);
        units == 0 || latest <= now.millis() || expires_at >= Some(latest.saturating_add(self.window_ms))
    }

    /// A record in which nothing counts stays until it expires.
    fn is_empty(&self, key: &Option<StoredRecord>, now: Micros) -> bool {
        latest_and_units(self, key, now).is_none_or(|(_, units)| units == 0)
    }

    /// As with [`SlidingLog`], while something counts.
    fn expiry_is_right(&self, key: &Option<StoredRecord>, now: Micros, latest: Micros) -> bool {
        let Some((last, units)) = latest_and_units(self, key, now) else { return key.is_none() };
        let (window, now, latest) = (self.window_ms, now.millis(), latest.millis());
        let at = key.as_ref().and_then(|stored| stored.expires_at).unwrap_or(0);
        units == 0 || 2 * (at - now) >= 3 * window && at >= last + window && at <= latest + 2 * window
    }
}
