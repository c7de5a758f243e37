//! Generic cell rate algorithm: a token bucket whose whole state is one time. Each charged unit moves the theoretical
//! arrival time (TAT) one emission interval into the future. A request is allowed while the TAT is at most the
//! tolerance ahead of the clock.
//!
//! State and scale are those of redis-cell: the TAT in nanoseconds since the epoch. The emission interval is a whole
//! number of nanoseconds. redis-cell rounds it down; here it is rounded up, so the rate never exceeds the limit.
//! Source: <https://github.com/brandur/redis-cell>, `src/cell/mod.rs` (the computation) and `src/lib.rs` (the reply).

use super::forecast::{Forecast, ttl_of_denial};
use super::integer::{div_ceil, to_i64, widening_mul};
use super::record::{NoTag, Tag};
use super::{
    Algorithm, Change, Changed, Cost, Decided, Decision, MAX_COUNT, Micros, Policy, RecordAlgorithm, Unrepresentable,
    Verdict,
};

/// The furthest that a TAT may be ahead of the clock, in nanoseconds: about 126 years. With it a TAT fits the `i64` of
/// redis-cell until the year 2135, and the 64 bits that hold it here until 2427.
const MAX_TOLERANCE: u64 = 4_000_000_000_000_000_000;

const SECOND: u64 = 1_000_000_000;

/// One unit each emission interval, `burst` units at once.
///
/// ```
/// use redis_rl_algorithm::{Algorithm, Cost, Gcra, Micros, Policy, Window};
///
/// let policy = Policy { burst: Some(10), ..Policy::new(Window::from_millis(60_000).unwrap(), 60) };
/// let gcra = Gcra::new(&policy).unwrap();
/// let now = Micros(1_700_000_000_000_000);
/// let decision = gcra.decide(None, now, Cost::ONE).unwrap();
/// assert!(decision.verdict.allowed);
/// assert_eq!(decision.change.state(), Some(&1_700_000_001_000_000_000), "one second ahead, in nanoseconds");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Gcra {
    capacity: u64,
    /// The emission interval in nanoseconds; 0 if nothing is ever allowed.
    interval: u64,
    /// `capacity` intervals: 0 to [`MAX_TOLERANCE`] nanoseconds.
    tolerance: u64,
    /// The units that must be available for a request of cost 0: 1, but 0 for redis-cell's command.
    needed_for_zero: u64,
}

impl Tag for NoTag {
    type Algorithm = Gcra;
    const TEXT: &'static [u8] = b"";
}

/// The stored TAT relative to the clock.
#[derive(Clone, Copy)]
struct Position {
    now: u64,
    /// How far the TAT is ahead of now: 0 to tolerance.
    ahead: u64,
    /// The stored TAT is further ahead than the tolerance.
    beyond: bool,
}

impl Gcra {
    /// The arguments of redis-cell: `count` units each `period`, and `max_burst` more at once.
    ///
    /// # Errors
    /// [`Unrepresentable::Span`] if `count` or `period` is 0, for more than one unit a nanosecond, and if the whole
    /// burst takes more than about 126 years to come back.
    pub fn throttle(max_burst: u64, count: u64, period_seconds: u64) -> Result<Self, Unrepresentable> {
        let capacity = max_burst.checked_add(1).filter(|&n| n <= MAX_COUNT).ok_or(Unrepresentable::Span)?;
        let gcra = Self::build(capacity, count, widening_mul(period_seconds, SECOND))?;
        Ok(Self { needed_for_zero: 0, ..gcra })
    }

    /// `limit` must be greater than 0.
    fn build(capacity: u64, limit: u64, window_ns: u128) -> Result<Self, Unrepresentable> {
        if limit == 0 || u128::from(limit) > window_ns {
            return Err(Unrepresentable::Span);
        }
        let interval = div_ceil(window_ns, limit);
        match capacity.checked_mul(interval) {
            Some(tolerance @ 0..=MAX_TOLERANCE) => Ok(Self { capacity, interval, tolerance, needed_for_zero: 1 }),
            _ => Err(Unrepresentable::Span),
        }
    }

    fn position(&self, tat: Option<u64>, now: Micros) -> Position {
        let now = now.0.saturating_mul(1_000);
        let ahead = tat.map_or(0, |tat| tat.saturating_sub(now));
        Position { now, ahead: ahead.min(self.tolerance), beyond: ahead > self.tolerance }
    }

    /// How far ahead the TAT is after `units` more; `None` if they do not fit.
    fn ahead_after(&self, position: Position, units: u64) -> Option<u64> {
        let ahead = units.checked_mul(self.interval)?.checked_add(position.ahead)?;
        (ahead <= self.tolerance && self.interval > 0).then_some(ahead)
    }

    /// The units of the capacity that are in use, rounded up.
    fn used(&self, ahead: u64) -> u64 {
        if self.interval == 0 { 0 } else { ahead.div_ceil(self.interval) }
    }

    /// The integers of redis-cell's reply, times in whole seconds: whether the request is denied; the capacity; the largest
    /// quantity that would be allowed now; when to retry, −1 if it is allowed or never can be; and the time until the whole
    /// capacity is available. `tat` is the state after the decision; `quantity` is the cost of the request.
    pub fn throttled(&self, tat: Option<u64>, now: Micros, quantity: u64, allowed: bool) -> [i64; 5] {
        let ahead = self.position(tat, now).ahead;
        let retry_after = match quantity.checked_mul(self.interval) {
            Some(cost) if !allowed && cost <= self.tolerance => {
                seconds_of_redis_cell(cost.saturating_add(ahead).saturating_sub(self.tolerance))
            }
            _ => -1,
        };
        let remaining = to_i64(self.capacity.saturating_sub(self.used(ahead)));
        [i64::from(!allowed), to_i64(self.capacity), remaining, retry_after, seconds_of_redis_cell(ahead)]
    }
}

/// Rounds nanoseconds to seconds as redis-cell does: up, if the remainder is at least one millisecond.
fn seconds_of_redis_cell(ns: u64) -> i64 {
    to_i64((ns / SECOND).saturating_add(u64::from(ns % SECOND >= 1_000_000)))
}

impl Algorithm for Gcra {
    type State<'s> = Option<u64>;
    type Change = u64;

    /// # Errors
    /// [`Unrepresentable::Span`] for more than one unit a nanosecond, and if the whole burst takes more than about
    /// 126 years to come back.
    fn new(policy: &Policy) -> Result<Self, Unrepresentable> {
        let capacity = policy.capacity();
        if policy.limit == 0 {
            return Ok(Self { capacity, interval: 0, tolerance: 0, needed_for_zero: 1 });
        }
        Self::build(capacity, policy.limit, widening_mul(policy.window().micros(), 1_000))
    }

    /// `count` is the used part of the capacity before this request, rounded up. `ttl` is the number of seconds until
    /// all of it is available again; on a denial, until the same request is allowed.
    #[inline]
    fn decide(&self, state: Option<u64>, now: Micros, cost: Cost) -> Decided<u64> {
        let position = self.position(state, now);
        let admitted = self.ahead_after(position, cost.units().max(self.needed_for_zero));
        let (change, ttl) = match admitted {
            Some(_) if cost == Cost::ZERO => (Change::Keep, to_i64(position.ahead.div_ceil(SECOND))),
            Some(ahead) => (Change::Charge(position.now.saturating_add(ahead)), to_i64(ahead.div_ceil(SECOND))),
            None => {
                let change = if position.beyond && self.interval > 0 {
                    Change::Rebase(position.now.saturating_add(position.ahead))
                } else {
                    Change::Keep
                };
                let forecast = GcraForecast { algorithm: *self, ahead: position.ahead, now };
                (change, ttl_of_denial(&forecast, now, cost.needed()))
            }
        };
        let count = to_i64(self.used(position.ahead));
        let verdict = Verdict { allowed: admitted.is_some(), count, ttl };
        Ok(Decision { verdict, delay: 0, change, needed: cost.needed() })
    }

    fn refunding(&self, state: Option<u64>, now: Micros, _at: Option<Micros>, cost: Cost) -> Change<u64> {
        let position = self.position(state, now);
        let refunded = cost.units().saturating_mul(self.interval);
        if position.ahead == 0 || refunded == 0 {
            return Change::Keep;
        }
        match position.ahead.saturating_sub(refunded) {
            0 => Change::Delete,
            ahead => Change::Refund(position.now.saturating_add(ahead)),
        }
    }

    /// Charges up to full. A TAT cannot represent more, so the rest is forgotten.
    fn overcharging(&self, state: Option<u64>, now: Micros, _at: Option<Micros>, cost: Cost) -> Changed<u64> {
        if cost == Cost::ZERO || self.interval == 0 {
            return Ok(Change::Keep);
        }
        let position = self.position(state, now);
        let ahead = cost.units().saturating_mul(self.interval).saturating_add(position.ahead).min(self.tolerance);
        Ok(Change::Charge(position.now.saturating_add(ahead)))
    }

    fn forecast(&self, state: Self::State<'_>, change: &Change<u64>, now: Micros) -> impl Forecast {
        GcraForecast { algorithm: *self, ahead: self.position(change.apply_to(state), now).ahead, now }
    }
}

impl RecordAlgorithm for Gcra {
    /// The TAT, in nanoseconds since the epoch.
    type Record = u64;
    type Words = [u64; 1];
    type Tag = NoTag;
    const EXPIRY_DEPENDS_ON_POLICY: bool = false;

    fn expires_at(&self, state: &u64) -> Micros {
        Micros(state.div_ceil(1_000))
    }

    fn to_words(state: &u64) -> [u64; 1] {
        [*state]
    }

    fn from_words(&[tat]: &[u64; 1]) -> Option<u64> {
        Some(tat)
    }
}

struct GcraForecast {
    algorithm: Gcra,
    ahead: u64,
    now: Micros,
}

impl Forecast for GcraForecast {
    fn capacity(&self) -> u64 {
        self.algorithm.capacity
    }

    fn remaining(&self) -> u64 {
        if self.algorithm.interval == 0 {
            return 0;
        }
        self.algorithm.capacity.saturating_sub(self.algorithm.used(self.ahead))
    }

    fn fits_at(&self, cost: u64) -> Option<Micros> {
        if self.algorithm.interval == 0 || cost > self.algorithm.capacity {
            return None;
        }
        let room = self.algorithm.tolerance.saturating_sub(cost.saturating_mul(self.algorithm.interval));
        Some(self.now.plus(self.ahead.saturating_sub(room).div_ceil(1_000)))
    }
}
