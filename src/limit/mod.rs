//! The mathematics of rate limiting: one file an algorithm, pure functions of a state, a time and a cost.
//!
//! Nothing in here knows Redis, reads a clock or does I/O: a state comes in with the time it is looked at, a
//! [`Decision`] goes out. Whoever asks commits the change in it, or drops it (a peek does).
//!
//! Units: time is [`Micros`] since the Unix epoch, spans are whole microseconds, windows whole milliseconds.
//! Arithmetic is exact: integers, with `u128` where a product may pass 64 bits. Where a division leaves a rest,
//! it is rounded against the one who asks, so that rounding never admits over the limit.

pub mod fixed_window;
pub mod gcra;
pub mod leaky_bucket;
pub mod level;
pub mod period;
pub mod sliding_counter;
pub mod sliding_log;
pub mod token_bucket;

#[cfg(test)]
mod tests;

pub use fixed_window::FixedWindow;
pub use gcra::Gcra;
pub use leaky_bucket::LeakyBucket;
pub use sliding_counter::SlidingCounter;
pub use sliding_log::SlidingLog;
pub use token_bucket::TokenBucket;

use std::num::{NonZeroU64, NonZeroU128};

/// A point in time, in microseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Micros(pub u64);

impl Micros {
    /// The millisecond this point lies in: what Redis calls `now`, and what a sliding window log is scored by.
    pub const fn millis(self) -> u64 {
        self.0 / 1_000
    }

    /// The first point of a millisecond.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000))
    }

    /// This point, `micros` later; the end of time where that cannot be represented.
    pub const fn after(self, micros: u64) -> Self {
        Self(self.0.saturating_add(micros))
    }

    /// Microseconds since `earlier`; 0 where that lies ahead (the clock stepped back).
    pub const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// The longest span anything here reckons with, in microseconds: 10¹⁸, some 31,700 years.
///
/// With it `now + 2 × window` fits 63 bits in microseconds, and `limit × window` fits `u128` with room to add.
pub const MAX_SPAN: u64 = 1_000_000_000_000_000_000;

/// The greatest limit, burst and cost: what a Redis integer holds.
pub const MAX_COUNT: u64 = i64::MAX as u64;

/// The span a limit applies to: whole milliseconds, from one to [`MAX_SPAN`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window(u64);

impl Window {
    /// `None` for 0 and for more than [`MAX_SPAN`].
    pub const fn from_millis(millis: u64) -> Option<Self> {
        match millis.checked_mul(1_000) {
            Some(micros @ 1..=MAX_SPAN) => Some(Self(micros)),
            _ => None,
        }
    }

    pub const fn micros(self) -> u64 {
        self.0
    }

    pub const fn millis(self) -> u64 {
        self.0 / 1_000
    }

    /// Whole seconds, rounded up.
    pub const fn seconds(self) -> u64 {
        self.0.div_ceil(1_000_000)
    }
}

/// How much a request takes: from 1 to [`MAX_COUNT`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost(u64);

impl Cost {
    pub const ONE: Self = Self(1);

    /// `None` for 0 and for more than [`MAX_COUNT`].
    pub const fn new(units: u64) -> Option<Self> {
        match units {
            1..=MAX_COUNT => Some(Self(units)),
            _ => None,
        }
    }

    pub const fn units(self) -> u64 {
        self.0
    }
}

/// What the arguments of a call allow: `limit` units a `window`, `burst` of them at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    pub window: Window,
    /// 0 … [`MAX_COUNT`]; 0 denies everything.
    pub limit: u64,
    /// 1 … [`MAX_COUNT`]; the algorithms that know no burst never see one.
    pub burst: Option<u64>,
}

impl Quota {
    /// What may pass at once: the burst where one is given, else the limit.
    pub const fn capacity(&self) -> u64 {
        match self.burst {
            Some(burst) => burst,
            None => self.limit,
        }
    }
}

/// The arguments, each fine by itself, ask together for what cannot be represented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unrepresentable {
    /// Filling the whole capacity at this rate takes longer than the algorithm's state can say.
    Span,
    /// The counter would pass what a Redis integer holds.
    Overflow,
}

/// What every algorithm answers: the three integers of the reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub allowed: bool,
    /// Requests counted; which ones, each algorithm says.
    pub count: i64,
    /// Seconds; until what, each algorithm says.
    pub ttl: i64,
}

/// What a decision does to the state it was made on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change<S> {
    Keep,
    /// The request was counted: the state from now on.
    Charge(S),
    /// The request was denied, and the state is not one that time alone leads out of as the figures say: it lies
    /// ahead of the clock, or counts windows of another length. This is the same state, as of now. Without it a clock
    /// that stepped back would lock the key until it has caught up.
    Reanchor(S),
}

impl<S> Change<S> {
    /// The state to write, if any.
    pub const fn state(&self) -> Option<&S> {
        match self {
            Self::Keep => None,
            Self::Charge(state) | Self::Reanchor(state) => Some(state),
        }
    }

    /// The same, taken out.
    pub fn into_state(self) -> Option<S> {
        match self {
            Self::Keep => None,
            Self::Charge(state) | Self::Reanchor(state) => Some(state),
        }
    }
}

/// A verdict, and what it does to the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision<S> {
    pub verdict: Verdict,
    /// How long to hold the request before it goes on, in microseconds (leaky bucket; else 0).
    pub delay: u64,
    pub change: Change<S>,
}

/// An algorithm whose whole state is one small record of integers. Storing such a record is the same for all of
/// them, so what is below is all that a new one has to say.
pub trait RecordAlgorithm: Sized {
    /// What is known of a key.
    type State: Copy + PartialEq + std::fmt::Debug;
    /// The record: an array of as many integers as it has.
    type Words: AsRef<[u64]> + AsMut<[u64]> + Default;
    /// What the stored record begins with, so that another algorithm's is never taken for it.
    const TAG: &'static str;

    /// # Errors
    /// [`Unrepresentable::Span`] where the quota asks for more than the state can say.
    fn new(quota: &Quota) -> Result<Self, Unrepresentable>;

    fn decide(&self, state: Option<Self::State>, now: Micros, cost: Cost) -> Decision<Self::State>;

    /// The state after `cost` was given back, never beyond full; `None` where there is nothing to give back.
    fn refund(&self, state: Option<Self::State>, now: Micros, cost: Cost) -> Option<Self::State>;

    fn outlook(&self, state: Option<Self::State>, now: Micros) -> impl Outlook;

    /// From when on the state says no more than none at all.
    fn forgotten_at(&self, state: &Self::State) -> Micros;

    fn to_words(state: &Self::State) -> Self::Words;

    /// `None` where no decision can have left such a record.
    fn from_words(words: &Self::Words) -> Option<Self::State>;
}

/// The figures of `FULL` and of the HTTP headers. Spans are milliseconds, rounded up; -1 is never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figures {
    /// What `remaining` counts down from.
    pub limit: u64,
    /// How much cost would pass right now, after this request.
    pub remaining: u64,
    /// 0 if allowed, else until this same cost fits.
    pub retry_after_ms: i64,
    /// Until `remaining` next grows; 0 if it is full.
    pub next_ms: i64,
    /// Until the whole limit is available again; 0 if it is.
    pub reset_ms: i64,
    pub delay_ms: i64,
}

/// What a state still holds, and from when on more of it: all that [`Figures`] are made of.
pub trait Outlook {
    /// What there is when nothing is taken.
    fn capacity(&self) -> u64;
    /// How much cost would pass at `now`.
    fn remaining(&self) -> u64;
    /// The first point, from `now` on, at which `cost` passes if nobody else asks; `None` for never.
    fn fits_at(&self, cost: u64) -> Option<Micros>;
}

impl Figures {
    /// `outlook` is that of the state after the decision.
    pub fn new<S>(outlook: &impl Outlook, decision: &Decision<S>, now: Micros, cost: Cost) -> Self {
        let until = |cost| match outlook.fits_at(cost) {
            Some(at) => to_i64(at.since(now).div_ceil(1_000)),
            None => -1,
        };
        let (limit, remaining) = (outlook.capacity(), outlook.remaining());
        let full = remaining >= limit;
        Self {
            limit,
            remaining,
            retry_after_ms: if decision.verdict.allowed { 0 } else { until(cost.units()) },
            next_ms: if full { 0 } else { until(remaining.saturating_add(1)) },
            reset_ms: if full { 0 } else { until(limit) },
            delay_ms: to_i64(decision.delay.div_ceil(1_000)),
        }
    }
}

impl Figures {
    /// Raises `retry_after_ms` to what something other than the limit asks for. Never stays never.
    pub fn wait_at_least(&mut self, millis: i64) {
        if self.retry_after_ms >= 0 {
            self.retry_after_ms = self.retry_after_ms.max(millis);
        }
    }
}

/// For figures whose size is known to fit, and a bound where it is not.
pub(crate) fn to_i64(n: impl TryInto<i64>) -> i64 {
    n.try_into().unwrap_or(i64::MAX)
}

/// The whole product. It always fits, which the compiler knows as well: nothing is checked at run time.
pub(crate) fn wide(a: u64, b: u64) -> u128 {
    u128::from(a).saturating_mul(u128::from(b))
}

/// Quotient (`u64::MAX` where it is greater, and for a division by 0) and rest.
///
/// Most of what is divided here fits 64 bits, and a division of 128 costs several times one of 64.
pub(crate) fn div_rem(n: u128, by: u64) -> (u64, u64) {
    let Some(by) = NonZeroU64::new(by) else { return (u64::MAX, 0) };
    if let Ok(n) = u64::try_from(n) {
        return (n / by, n % by);
    }
    let by = NonZeroU128::from(by);
    let rest = u64::try_from(n % by).unwrap_or(u64::MAX);
    (u64::try_from(n / by).unwrap_or(u64::MAX), rest)
}

/// [`div_rem`] rounded up. What is left, divided by the rate at which it goes, is how long it takes; at a rate of 0
/// it takes forever.
pub(crate) fn div_ceil(n: u128, by: u64) -> u64 {
    let (quotient, rest) = div_rem(n, by);
    quotient.saturating_add(u64::from(rest > 0))
}
