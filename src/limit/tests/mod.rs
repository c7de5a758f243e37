//! The mathematics against a made-up clock: a file of known values and a naive oracle for each algorithm, and the
//! promises that all of them keep, whichever they are: `promises.rs`.

mod fixed_window;
mod gcra;
mod leaky_bucket;
mod promises;
mod sliding_counter;
mod sliding_log;
mod token_bucket;

use std::collections::BTreeMap;
use std::fmt::Debug;

use proptest::prelude::*;

use super::fixed_window::Counter;
use super::sliding_log::LogChange;
use super::*;

/// 2023-11-14 22:13:20 UTC, at the start of no round window but the second.
pub const T0: u64 = 1_700_000_000_000_000;

pub const SECOND: u64 = 1_000_000;

/// `limit` units in `window` milliseconds.
pub fn quota(window: u64, limit: u64) -> Quota {
    Quota { window: Window::from_millis(window).unwrap(), limit, burst: None }
}

pub fn burst(quota: Quota, burst: u64) -> Quota {
    Quota { burst: Some(burst), ..quota }
}

pub fn cost(units: u64) -> Cost {
    Cost::new(units).unwrap()
}

/// An algorithm together with what the command layer does for it: load, decide, commit. The promises are written
/// against this.
pub trait Subject: Sized {
    /// What a key holds; none yet by default.
    type Key: Clone + Debug + Default;

    fn build(quota: &Quota) -> Option<Self>;

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
    pub reanchored: bool,
}

impl Answer {
    fn new<S>(decision: &Decision<S>, outlook: &impl Outlook, now: Micros, cost: Cost) -> Self {
        Self {
            verdict: decision.verdict,
            figures: Figures::new(outlook, decision, now, cost),
            reanchored: matches!(decision.change, Change::Reanchor(_)),
        }
    }
}

/// Every algorithm with a record, those yet to come as well.
impl<A: RecordAlgorithm> Subject for A {
    type Key = Option<A::State>;

    fn build(quota: &Quota) -> Option<Self> {
        Self::new(quota).ok()
    }

    fn ask(&self, key: &mut Self::Key, now: Micros, cost: Cost) -> Option<Answer> {
        let decision = self.decide(*key, now, cost);
        *key = decision.change.into_state().or(*key);
        if let Some(state) = key {
            assert_eq!(A::from_words(&A::to_words(state)), Some(*state), "what is written can be read");
        }
        Some(Answer::new(&decision, &self.outlook(*key, now), now, cost))
    }

    fn remaining(&self, key: &Self::Key, now: Micros) -> u64 {
        self.outlook(*key, now).remaining()
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

    fn build(quota: &Quota) -> Option<Self> {
        Some(Self::new(quota))
    }

    fn ask(&self, key: &mut Self::Key, now: Micros, cost: Cost) -> Option<Answer> {
        let bucket = (self.window().micros(), self.bucket(now));
        let found = key.get(&bucket).copied();
        let state = found.filter(|counter| counter.expires_at.is_none_or(|at| now.millis() < at));
        let decision = self.decide(state, now, cost).ok()?;
        let after = decision.change.into_state().or(state);
        after.map(|counter| key.insert(bucket, counter));
        Some(Answer::new(&decision, &self.outlook(after.map_or(0, |counter| counter.value), now), now, cost))
    }

    fn remaining(&self, key: &Self::Key, now: Micros) -> u64 {
        let counter = key.get(&(self.window().micros(), self.bucket(now)));
        self.outlook(counter.map_or(0, |counter| counter.value), now).remaining()
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

    fn build(quota: &Quota) -> Option<Self> {
        // An entry a unit: what fits a test's memory.
        (quota.limit <= 1_000).then(|| Self::new(quota))
    }

    fn ask(&self, key: &mut Self::Key, now: Micros, cost: Cost) -> Option<Answer> {
        key.retain(|&entry| self.expired_through(now).is_none_or(|expired| entry > expired));
        let ahead = || key.last().is_some_and(|&last| last > now.millis());
        let decision = self.decide(key.len() as u64, ahead, cost);
        match decision.change {
            Change::Charge(LogChange::Add(n)) => key.extend((0..n).map(|_| now.millis())),
            Change::Reanchor(LogChange::MoveAheadToNow) => {
                key.iter_mut().for_each(|entry| *entry = now.millis().min(*entry));
            }
            Change::Keep => {}
            odd => panic!("{odd:?}"),
        }
        key.sort_unstable();
        let outlook = self.outlook(key.len() as u64, |n| key.get(n as usize).copied(), now);
        Some(Answer::new(&decision, &outlook, now, cost))
    }

    fn remaining(&self, key: &Self::Key, now: Micros) -> u64 {
        let counted = |entry: &&u64| self.expired_through(now).is_none_or(|expired| **entry > expired);
        let len = key.iter().filter(counted).count() as u64;
        self.outlook(len, |_| unreachable!(), now).remaining()
    }

    fn found(mut words: [u64; 4]) -> Option<Self::Key> {
        words.sort_unstable();
        Some(words.into())
    }

    fn settled(key: &Self::Key, now: Micros) -> bool {
        key.last().is_none_or(|&last| last <= now.millis())
    }
}

/// How the clock moves and what is asked, in terms of the quota it will be asked with, so that both land around what
/// matters there.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    clock: Clock,
    units: Units,
    /// Which of the quotas of the trace; modulo how many there are.
    pub quota: usize,
}

#[derive(Clone, Copy, Debug)]
enum Clock {
    /// Microseconds.
    On(u64),
    /// Thousandths of an emission interval.
    Intervals(u64),
    /// Thousandths of a window.
    Windows(u64),
    /// Back, thousandths of a window.
    Back(u64),
}

#[derive(Clone, Copy, Debug)]
enum Units {
    Exactly(u64),
    /// Thousandths of the capacity.
    Share(u64),
    /// More than can ever fit.
    TooMany,
}

impl Step {
    pub fn clock(&self, now: Micros, quota: &Quota) -> Micros {
        let (window, limit) = (u128::from(quota.window.micros()), u128::from(quota.limit.max(1)));
        let micros = |n: u128| u64::try_from(n).unwrap();
        match self.clock {
            Clock::On(micros) => now.after(micros),
            Clock::Intervals(n) => now.after(micros(window * u128::from(n) / limit / 1_000)),
            Clock::Windows(n) => now.after(micros(window * u128::from(n) / 1_000)),
            Clock::Back(n) => Micros(now.0.saturating_sub(micros(window * u128::from(n) / 1_000)).max(T0 / 2)),
        }
        // Where a trace would leave the years a clock can show, it stays there.
        .min(Micros(3 * T0))
    }

    pub fn cost(&self, quota: &Quota) -> Cost {
        let units = match self.units {
            Units::Exactly(units) => units,
            Units::Share(n) => u64::try_from(u128::from(quota.capacity()) * u128::from(n) / 1_000).unwrap(),
            Units::TooMany => quota.capacity().saturating_add(1),
        };
        cost(units.clamp(1, MAX_COUNT))
    }
}

#[derive(Clone, Debug)]
pub struct Trace {
    pub quotas: Vec<Quota>,
    pub start: Micros,
    pub steps: Vec<Step>,
}

impl Trace {
    /// Every step: the quota, the time and the cost.
    pub fn calls(&self) -> impl Iterator<Item = (&Quota, Micros, Cost)> {
        let mut now = self.start;
        self.steps.iter().map(move |step| {
            let quota = &self.quotas[step.quota % self.quotas.len()];
            now = step.clock(now, quota);
            (quota, now, step.cost(quota))
        })
    }
}

/// Small quotas, where the edges are met often.
pub fn small_quota() -> impl Strategy<Value = Quota> {
    let window = prop_oneof![1..20u64, Just(1_000), Just(1_001), Just(60_000)];
    let limit = prop_oneof![1 => Just(0), 20 => 1..13u64];
    (window, limit, proptest::option::of(1..16u64))
        .prop_map(|(window, limit, burst)| Quota { burst, ..quota(window, limit) })
}

/// From 0 to 2⁶³-1, every order of magnitude as likely as the others, and the last one itself.
pub fn magnitude() -> impl Strategy<Value = u64> {
    prop_oneof![9 => (any::<u64>(), 1..64u32).prop_map(|(n, shift)| n >> shift), 1 => Just(MAX_COUNT)]
}

/// Quotas of every size, the largest included.
pub fn any_quota() -> impl Strategy<Value = Quota> {
    let largest = MAX_SPAN / 1_000;
    let window = magnitude().prop_map(move |n| n.clamp(1, largest));
    (window, magnitude(), proptest::option::of(magnitude()))
        .prop_map(|(window, limit, burst)| Quota { burst: burst.map(|burst| burst.max(1)), ..quota(window, limit) })
}

fn steps(back: u32) -> impl Strategy<Value = Vec<Step>> {
    let clock = prop_oneof![
        4 => Just(Clock::On(0)),
        2 => (0..3_000u64).prop_map(Clock::On),
        5 => (0..3_000u64).prop_map(Clock::Intervals),
        3 => (0..2_500u64).prop_map(Clock::Windows),
        back => (0..3_000u64).prop_map(Clock::Back),
    ];
    let units = prop_oneof![
        5 => Just(Units::Exactly(1)),
        3 => (1..4u64).prop_map(Units::Exactly),
        3 => (0..=1_000u64).prop_map(Units::Share),
        1 => Just(Units::TooMany),
    ];
    let step = (clock, units, 0..8usize).prop_map(|(clock, units, quota)| Step { clock, units, quota });
    proptest::collection::vec(step, 1..40)
}

fn trace(quotas: impl Strategy<Value = Vec<Quota>>, back: u32) -> impl Strategy<Value = Trace> {
    let start = (0..120 * SECOND).prop_map(|n| Micros(T0 + n));
    (quotas, start, steps(back)).prop_map(|(quotas, start, steps)| Trace { quotas, start, steps })
}

/// One small quota throughout, and a clock that only goes forward: what the oracles are asked about.
pub fn steady() -> impl Strategy<Value = Trace> {
    trace(proptest::collection::vec(small_quota(), 1), 0)
}

/// Quotas that change from call to call, and a clock that goes back and forth.
pub fn changing() -> impl Strategy<Value = Trace> {
    let quotas = prop_oneof![
        3 => proptest::collection::vec(small_quota(), 1..4),
        2 => proptest::collection::vec(any_quota(), 1..3),
    ];
    prop_oneof![trace(quotas, 3)]
}
