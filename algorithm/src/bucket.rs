//! Token bucket and leaky bucket: a level that rises by what is charged and drains at a steady rate.
//!
//! The level is the amount used, not the amount left, so a raised limit takes effect at once. It is exact: `limit`
//! units drain in `window` microseconds, so with a unit divided into `window` parts, `limit` parts drain in each
//! microsecond. All computations use such parts. They are whole numbers, so nothing is lost from call to call.
//!
//! Sizes: a level is at most [`MAX_COUNT`] units (63 bits) of at most [`MAX_SPAN`] parts (60 bits). What drains is at
//! most 64 bits of time multiplied by 63 bits of limit. Both fit `u128`.

use super::forecast::{Forecast, ttl_of_denial};
use super::integer::{ceil_seconds, div_ceil, div_rem, to_i64, widening_mul};
use super::record::{Letter, Owner};
use super::{
    Algorithm, Change, Changed, Cost, Decided, Decision, MAX_COUNT, MAX_SPAN, Micros, Named, Policy, RecordAlgorithm,
    Unrepresentable, Verdict, Window,
};

/// A bucket of `burst` tokens that fills at the rate of `limit` tokens a `window`. A request is allowed if its tokens
/// are there. After a quiet time it allows a burst at once; in the long run it holds the rate.
///
/// ```
/// use redis_rl_algorithm::{Algorithm, Change, Cost, Forecast, Micros, Policy, TokenBucket, Window};
///
/// let policy = Policy { burst: Some(50), ..Policy::new(Window::from_millis(1_000).unwrap(), 10) };
/// let bucket = TokenBucket::new(&policy).unwrap();
/// let now = Micros(1_700_000_000_000_000);
/// let burst = bucket.decide(None, now, Cost::new(50).unwrap()).unwrap();
/// assert!(burst.verdict.allowed);
/// let state = burst.change.apply_to(None);
/// assert_eq!(bucket.forecast(state, &Change::Keep, now.plus(500_000)).remaining(), 5);
/// ```
pub type TokenBucket = Bucket<'T'>;

/// A queue of at most `burst` units, of which `limit` leave each `window`, one after another. The reply says how long to
/// delay each request. A token bucket allows a burst at once; a leaky bucket spreads it out.
///
/// ```
/// use redis_rl_algorithm::{Algorithm, Cost, LeakyBucket, Micros, Policy, Window};
///
/// let policy = Policy::new(Window::from_millis(1_000).unwrap(), 10);
/// let queue = LeakyBucket::new(&policy).unwrap();
/// let now = Micros(1_700_000_000_000_000);
/// let first = queue.decide(None, now, Cost::ONE).unwrap();
/// let second = queue.decide(first.change.apply_to(None), now, Cost::ONE).unwrap();
/// assert_eq!((first.delay, second.delay), (0, 100_000), "a tenth of a second apart");
/// ```
pub type LeakyBucket = Bucket<'L'>;

impl Owner for Letter<'T'> {
    type Algorithm = TokenBucket;
}

impl Owner for Letter<'L'> {
    type Algorithm = LeakyBucket;
}

/// The amount used, and the time at which it was so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// Whole units: 0 to [`MAX_COUNT`].
    pub(super) used: u64,
    /// The fraction above the whole units, in parts of 1/`window`: 0 to `window` − 1.
    pub(super) part: u64,
    /// The window that `part` refers to.
    pub(super) window: Window,
    pub(super) at: Micros,
    /// Whole units charged beyond the capacity: 0 to [`MAX_COUNT`]. A smaller capacity does not reduce them.
    pub(super) debt: u64,
}

/// [`TokenBucket`] or [`LeakyBucket`]: the capacity of a level, and how it drains. `LETTER` is the tag of the record.
#[derive(Clone, Copy, Debug)]
pub struct Bucket<const LETTER: char> {
    capacity: u64,
    limit: u64,
    window: Window,
}

/// An amount in parts of a unit, 1/`window` each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Parts(u128);

impl<const LETTER: char> Bucket<LETTER> {
    fn units(&self, units: u64) -> Parts {
        Parts(widening_mul(units, self.window.micros()))
    }

    fn full(&self) -> Parts {
        self.units(self.capacity)
    }

    /// The level at the time it was written. An amount above the capacity counts as a full bucket since that time, not
    /// since now. So it drains from call to call, and a denied call has nothing to write. Debt counts in addition.
    fn level_when_written(&self, level: &Level) -> Parts {
        let part = if level.window == self.window {
            level.part
        } else {
            div_ceil(widening_mul(level.part, self.window.micros()), level.window.micros())
        };
        let used = Parts(self.units(level.used).0.saturating_add(u128::from(part))).min(self.full());
        Parts(used.0.saturating_add(self.units(level.debt).0))
    }

    /// The level at `now`. If it was written ahead of the clock, nothing has drained yet.
    fn level(&self, state: Option<&Level>, now: Micros) -> Parts {
        state.map_or(Parts(0), |level| {
            let drained = widening_mul(now.since(level.at), self.limit);
            Parts(self.level_when_written(level).0.saturating_sub(drained))
        })
    }

    /// Microseconds until that amount has drained, rounded up. Saturates at `u64::MAX`.
    fn time_to_drain(&self, parts: Parts) -> u64 {
        div_ceil(parts.0, self.limit)
    }
}

impl<const LETTER: char> Algorithm for Bucket<LETTER>
where
    Self: Named,
{
    type State<'s> = Option<Level>;
    type Change = Level;

    /// # Errors
    /// [`Unrepresentable::Span`] if a full bucket takes longer than [`MAX_SPAN`] to drain.
    fn new(policy: &Policy) -> Result<Self, Unrepresentable> {
        let bucket = Self { capacity: policy.capacity(), limit: policy.limit, window: policy.window() };
        // With a limit of 0 nothing is ever charged, so nothing has to drain.
        if bucket.limit > 0 && bucket.full().0 > widening_mul(bucket.limit, MAX_SPAN) {
            return Err(Unrepresentable::Span);
        }
        Ok(bucket)
    }

    /// `count` is the level before this request, rounded up: the missing tokens, or the length of the queue. `ttl` is the
    /// time until everything has drained, this request included; on a denial, the time until the same request is
    /// allowed. A leaky bucket delays an allowed request until the level before it has drained.
    #[inline]
    fn decide(&self, state: Option<Level>, now: Micros, cost: Cost) -> Decided<Level> {
        let before = self.level(state.as_ref(), now);
        let needed = Parts(before.0.saturating_add(self.units(cost.needed()).0));
        let allowed = self.limit > 0 && needed <= self.full();
        let (whole, part) = div_rem(before.0, self.window.micros());
        let uncharged = || match state {
            // Not reduced to the capacity: another call may name a larger one.
            Some(level) if level.at > now && self.limit > 0 => Change::Rebase(Level { at: now, ..level }),
            _ => Change::Keep,
        };
        let (change, ttl) = if !allowed {
            (uncharged(), ttl_of_denial(&BucketForecast { bucket: *self, level: before, now }, now, cost.needed()))
        } else if cost == Cost::ZERO {
            (uncharged(), ceil_seconds(self.time_to_drain(before)))
        } else {
            let used = whole.saturating_add(cost.units());
            let charged = Change::Charge(Level { used, part, window: self.window, at: now, debt: 0 });
            (charged, ceil_seconds(self.time_to_drain(needed)))
        };
        let count = to_i64(whole.saturating_add(u64::from(part > 0)));
        let delay = if Self::TRAITS.delays && allowed { self.time_to_drain(before) } else { 0 };
        Ok(Decision { verdict: Verdict { allowed, count, ttl }, delay, change, needed: cost.needed() })
    }

    /// Reduces the level as it was written, and leaves the time of writing: what has drained since is then the same as
    /// if the smaller amount had been charged.
    fn refunding(&self, state: Option<Level>, now: Micros, _at: Option<Micros>, cost: Cost) -> Change<Level> {
        let Some(level) = state else { return Change::Keep };
        if self.level(Some(&level), now) == Parts(0) || cost == Cost::ZERO {
            return Change::Keep;
        }
        let level = if level.used >= self.capacity { Level { used: self.capacity, part: 0, ..level } } else { level };
        let rest = cost.units().saturating_sub(level.debt);
        let level = Level { debt: level.debt.saturating_sub(cost.units()), ..level };
        // A fraction below a refunded unit goes with it: the level does not become negative.
        let refunded = match level.used.checked_sub(rest) {
            Some(used) => Level { used, ..level },
            None => Level { used: 0, part: 0, ..level },
        };
        if self.level(Some(&refunded), now) == Parts(0) { Change::Delete } else { Change::Refund(refunded) }
    }

    /// What does not fit becomes debt, which drains before anything else is allowed. With a limit of 0 nothing drains, so
    /// nothing is charged.
    fn overcharging(&self, state: Option<Level>, now: Micros, _at: Option<Micros>, cost: Cost) -> Changed<Level> {
        if cost == Cost::ZERO || self.limit == 0 {
            return Ok(Change::Keep);
        }
        let after = Parts(self.level(state.as_ref(), now).0.saturating_add(self.units(cost.units()).0));
        if after > self.units(MAX_COUNT) {
            return Err(Unrepresentable::Overflow);
        }
        let (whole, part) = div_rem(after.0, self.window.micros());
        // The fraction stays below the capacity, so debt is a number of whole units.
        let most = self.capacity.saturating_sub(u64::from(part > 0));
        let (used, debt) = (whole.min(most), whole.saturating_sub(most));
        Ok(Change::Charge(Level { used, part, window: self.window, at: now, debt }))
    }

    fn lent(&self, state: Option<Level>, now: Micros, cost: Cost) -> Cost {
        let most = Parts(self.full().0.saturating_add(self.units(self.limit).0));
        let left = most.0.saturating_sub(self.level(state.as_ref(), now).0);
        Cost::new(div_rem(left, self.window.micros()).0).map_or(cost, |left| cost.min(left))
    }

    fn forecast(&self, state: Self::State<'_>, change: &Change<Level>, now: Micros) -> impl Forecast {
        BucketForecast { bucket: *self, level: self.level(change.apply_to(state).as_ref(), now), now }
    }
}

impl<const LETTER: char> RecordAlgorithm for Bucket<LETTER>
where
    Self: Named,
    Letter<LETTER>: Owner<Algorithm = Self>,
{
    type Record = Level;
    type Words = [u64; 5];
    /// The debt.
    const OPTIONAL_WORDS: usize = 1;
    type Tag = Letter<LETTER>;
    const EXPIRY_DEPENDS_ON_POLICY: bool = true;

    /// With a limit of 0 the state has no effect, so it is not needed.
    fn expires_at(&self, level: &Level) -> Micros {
        if self.limit == 0 { level.at } else { level.at.plus(self.time_to_drain(self.level_when_written(level))) }
    }

    /// `used`, `part`, `window` in milliseconds, `at` in microseconds, and `debt`.
    fn to_words(&Level { used, part, window, at, debt }: &Level) -> [u64; 5] {
        [used, part, window.millis(), at.0, debt]
    }

    fn from_words(&[used, part, window, at, debt]: &[u64; 5]) -> Option<Level> {
        let window = Window::from_millis(window)?;
        let level = used < MAX_COUNT || (used == MAX_COUNT && part == 0);
        let valid = level && part < window.micros() && i64::try_from(at).is_ok() && debt <= MAX_COUNT;
        valid.then_some(Level { used, part, window, at: Micros(at), debt })
    }
}

/// The level of a bucket at a moment.
struct BucketForecast<const LETTER: char> {
    bucket: Bucket<LETTER>,
    level: Parts,
    now: Micros,
}

impl<const LETTER: char> Forecast for BucketForecast<LETTER> {
    fn capacity(&self) -> u64 {
        self.bucket.capacity
    }

    fn remaining(&self) -> u64 {
        if self.bucket.limit == 0 {
            return 0;
        }
        self.bucket.capacity.saturating_sub(div_ceil(self.level.0, self.bucket.window.micros()))
    }

    fn fits_at(&self, cost: u64) -> Option<Micros> {
        if self.bucket.limit == 0 {
            return None;
        }
        let room = self.bucket.units(self.bucket.capacity.checked_sub(cost)?);
        let excess = Parts(self.level.0.saturating_sub(room.0));
        // Only debt can take longer to drain than a time can represent.
        Some(self.bucket.time_to_drain(excess)).filter(|&time| time < u64::MAX)?.checked_add(self.now.0).map(Micros)
    }
}
