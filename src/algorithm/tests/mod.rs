//! The mathematics against a made-up clock: a file of known values and a naive oracle for each algorithm, and the
//! promises that all of them keep, whichever they are: `promises.rs`.

mod fixed_window;
mod gcra;
mod leaky_bucket;
mod lease;
mod period;
mod promises;
mod sliding_counter;
mod sliding_log;
mod token_bucket;
mod trace;

use std::collections::BTreeMap;
use std::fmt::Debug;

use super::fixed_window::Counter;
use super::sliding_log::LogChange;
use super::*;
pub use trace::*;

/// 2023-11-14 22:13:20 UTC, at the start of no round window but the second.
pub const T0: u64 = 1_700_000_000_000_000;

pub const SECOND: u64 = 1_000_000;

/// `limit` units in `window` milliseconds.
pub fn policy(window: u64, limit: u64) -> Policy {
    Policy { window: Window::from_millis(window).unwrap(), limit, burst: None }
}

pub fn burst(policy: Policy, burst: u64) -> Policy {
    Policy { burst: Some(burst), ..policy }
}

pub fn cost(units: u64) -> Cost {
    Cost::new(units).unwrap()
}

/// An algorithm together with what the command layer does for it: load, decide, commit. The promises are written
/// against this.
pub trait Subject: Sized {
    /// What a key holds; none yet by default.
    type Key: Clone + Debug + Default;

    fn build(policy: &Policy) -> Option<Self>;

    /// Decides and commits; `None` for an error, which leaves the key as it was.
    fn ask(&self, key: &mut Self::Key, now: Micros, cost: Cost) -> Option<Answer>;

    fn remaining(&self, key: &Self::Key, now: Micros) -> u64;

    /// A key as somebody else may have left it; `None` where it is refused.
    fn found(words: [u64; 4]) -> Option<Self::Key>;

    /// `ttl` says what the script says, even on a denial.
    const TTL_OF_SCRIPT: bool = false;
    /// A clock that stepped back may find another counter, so its denials are not carried along.
    const COUNTER_PER_WINDOW: bool = false;

    /// Nothing in the key lies ahead of the clock, where the figures say what will be without looking there: the next
    /// fixed window may have been counted in already, and a log is put right by a denial alone.
    fn settled(_: &Self::Key, _: Micros) -> bool {
        true
    }

    fn allows(&self, key: &Self::Key, now: Micros, units: u64) -> bool {
        let ask = |cost| self.ask(&mut key.clone(), now, cost);
        Cost::new(units).and_then(ask).is_some_and(|answer| answer.verdict.allowed)
    }
}

#[derive(Debug)]
pub struct Answer {
    pub verdict: Verdict,
    pub figures: Figures,
    pub rebased: bool,
}

impl Answer {
    fn new<S>(decision: &Decision<S>, forecast: &impl Forecast, now: Micros, cost: Cost) -> Self {
        Self {
            verdict: decision.verdict,
            figures: Figures::new(forecast, decision, now, cost),
            rebased: matches!(decision.change, Change::Rebase(_)),
        }
    }
}

/// Every algorithm with a record, those yet to come as well.
impl<A: RecordAlgorithm> Subject for A {
    type Key = Option<A::State>;

    fn build(policy: &Policy) -> Option<Self> {
        Self::new(policy).ok()
    }

    fn ask(&self, key: &mut Self::Key, now: Micros, cost: Cost) -> Option<Answer> {
        let decision = self.decide(*key, now, cost);
        *key = decision.change.into_state().or(*key);
        if let Some(state) = key {
            assert_eq!(A::from_words(&A::to_words(state)), Some(*state), "what is written can be read");
        }
        Some(Answer::new(&decision, &self.forecast(*key, now), now, cost))
    }

    fn remaining(&self, key: &Self::Key, now: Micros) -> u64 {
        self.forecast(*key, now).remaining()
    }

    fn found(words: [u64; 4]) -> Option<Self::Key> {
        let mut record = A::Words::default();
        record.as_mut().iter_mut().zip(words).for_each(|(to, from)| *to = from);
        A::from_words(&record).map(Some)
    }
}

impl Subject for FixedWindow {
    /// By window and number of the bucket.
    type Key = BTreeMap<(u64, u64), Counter>;
    const TTL_OF_SCRIPT: bool = true;
    const COUNTER_PER_WINDOW: bool = true;

    fn build(policy: &Policy) -> Option<Self> {
        Some(Self::new(policy))
    }

    fn ask(&self, key: &mut Self::Key, now: Micros, cost: Cost) -> Option<Answer> {
        let bucket = (self.window().micros(), self.bucket(now));
        let found = key.get(&bucket).copied();
        let state = found.filter(|counter| counter.expires_at.is_none_or(|at| now.millis() < at));
        let decision = self.decide(state, now, cost).ok()?;
        let after = decision.change.into_state().or(state);
        after.map(|counter| key.insert(bucket, counter));
        Some(Answer::new(&decision, &self.forecast(after.map_or(0, |counter| counter.value), now), now, cost))
    }

    fn remaining(&self, key: &Self::Key, now: Micros) -> u64 {
        let counter = key.get(&(self.window().micros(), self.bucket(now)));
        self.forecast(counter.map_or(0, |counter| counter.value), now).remaining()
    }

    fn settled(key: &Self::Key, now: Micros) -> bool {
        key.keys().all(|&(window, bucket)| bucket <= now.0 / window)
    }

    fn found([window, bucket, value, expires_at]: [u64; 4]) -> Option<Self::Key> {
        let counter = Counter { value: value.cast_signed(), expires_at: Some(expires_at) };
        Some([((window.max(1), bucket), counter)].into())
    }
}

impl Subject for SlidingLog {
    /// Milliseconds, oldest first.
    type Key = Vec<u64>;

    fn build(policy: &Policy) -> Option<Self> {
        // An entry a unit: what fits a test's memory.
        (policy.limit <= 1_000).then(|| Self::new(policy))
    }

    fn ask(&self, key: &mut Self::Key, now: Micros, cost: Cost) -> Option<Answer> {
        key.retain(|&entry| self.expired_through(now).is_none_or(|expired| entry > expired));
        let ahead = || key.last().is_some_and(|&last| last > now.millis());
        let decision = self.decide(key.len() as u64, ahead, cost);
        match decision.change {
            Change::Charge(LogChange::Add(n)) => key.extend((0..n).map(|_| now.millis())),
            Change::Rebase(LogChange::MoveAheadToNow) => {
                key.iter_mut().for_each(|entry| *entry = now.millis().min(*entry));
            }
            Change::Keep => {}
            odd => panic!("{odd:?}"),
        }
        key.sort_unstable();
        let forecast = self.forecast(key.len() as u64, |n| key.get(n as usize).copied(), now);
        Some(Answer::new(&decision, &forecast, now, cost))
    }

    fn remaining(&self, key: &Self::Key, now: Micros) -> u64 {
        let counted = |entry: &&u64| self.expired_through(now).is_none_or(|expired| **entry > expired);
        let len = key.iter().filter(counted).count() as u64;
        self.forecast(len, |_| unreachable!(), now).remaining()
    }

    fn found(mut words: [u64; 4]) -> Option<Self::Key> {
        words.sort_unstable();
        Some(words.into())
    }

    fn settled(key: &Self::Key, now: Micros) -> bool {
        key.last().is_none_or(|&last| last <= now.millis())
    }
}
