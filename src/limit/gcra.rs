//! Generic cell rate algorithm: a token bucket told by a single time. Every unit admitted pushes the theoretical
//! arrival time (TAT) an emission interval further on; a request passes while that time is no more than the tolerance
//! ahead of the clock.
//!
//! State and scale are redis-cell's: the TAT in nanoseconds since the epoch. The emission interval is a whole number
//! of nanoseconds. redis-cell cuts it off, here it is rounded up, so that the rate never exceeds the limit.
//! Source: <https://github.com/brandur/redis-cell>, `src/cell/mod.rs` (the reckoning) and `src/lib.rs` (the reply).

use super::{
    Change, Cost, Decision, MAX_COUNT, Micros, Outlook, Quota, RecordAlgorithm, Unrepresentable, Verdict, div_ceil,
    to_i64, wide,
};

/// The longest a TAT may lie ahead of the clock, in nanoseconds: some 126 years. With it a TAT fits the `i64` that
/// redis-cell reads until the year 2135, and the 64 bits it is kept in here until 2427.
const MAX_TOLERANCE: u64 = 4_000_000_000_000_000_000;

const SECOND: u64 = 1_000_000_000;

/// A unit each emission interval, `burst` of them at once.
#[derive(Clone, Copy, Debug)]
pub struct Gcra {
    capacity: u64,
    /// Nanoseconds; 0 where nothing is ever admitted.
    interval: u64,
    /// `capacity` intervals: 0 … [`MAX_TOLERANCE`] nanoseconds.
    tolerance: u64,
    /// Whole seconds: what `ttl` says where nothing is ever admitted.
    window_seconds: u64,
}

/// What redis-cell answers: `remaining` and `limit` in units, times in whole seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Throttled {
    pub limited: bool,
    pub limit: i64,
    pub remaining: i64,
    /// -1 where the request passed, and where it never can.
    pub retry_after: i64,
    pub reset_after: i64,
}

impl Throttled {
    /// In the order of the reply.
    pub const fn to_array(self) -> [i64; 5] {
        [self.limited as i64, self.limit, self.remaining, self.retry_after, self.reset_after]
    }
}

/// The state as seen by a request.
#[derive(Clone, Copy)]
struct Seen {
    now: u64,
    /// How far ahead of now the TAT is: 0 … tolerance.
    ahead: u64,
    /// It was found further ahead than that.
    beyond: bool,
}

impl Gcra {
    /// redis-cell's arguments: `count` units each `period`, and `max_burst` more at once.
    ///
    /// # Errors
    /// [`Unrepresentable::Span`] where count or period are 0, for more than a unit each nanosecond, and where
    /// the whole burst would take longer than some 126 years to come back.
    pub fn throttle(max_burst: u64, count: u64, period_seconds: u64) -> Result<Self, Unrepresentable> {
        let capacity = max_burst.checked_add(1).filter(|&n| n <= MAX_COUNT).ok_or(Unrepresentable::Span)?;
        Self::build(capacity, count, wide(period_seconds, SECOND), period_seconds)
    }

    /// `limit` must be greater than 0.
    fn build(capacity: u64, limit: u64, window_ns: u128, window_seconds: u64) -> Result<Self, Unrepresentable> {
        if limit == 0 || u128::from(limit) > window_ns {
            return Err(Unrepresentable::Span);
        }
        let interval = div_ceil(window_ns, limit);
        match capacity.checked_mul(interval) {
            Some(tolerance @ 0..=MAX_TOLERANCE) => Ok(Self { capacity, interval, tolerance, window_seconds }),
            _ => Err(Unrepresentable::Span),
        }
    }

    fn see(&self, tat: Option<u64>, now: Micros) -> Seen {
        let now = now.0.saturating_mul(1_000);
        let ahead = tat.map_or(0, |tat| tat.saturating_sub(now));
        Seen { now, ahead: ahead.min(self.tolerance), beyond: ahead > self.tolerance }
    }

    /// How far ahead the TAT comes to be with `units` more; `None` where they do not fit.
    fn admit(&self, seen: Seen, units: u64) -> Option<u64> {
        let pushed = units.checked_mul(self.interval)?.checked_add(seen.ahead)?;
        (pushed <= self.tolerance && self.interval > 0).then_some(pushed)
    }

    fn change(&self, seen: Seen, admitted: Option<u64>) -> Change<u64> {
        match admitted {
            Some(ahead) => Change::Charge(seen.now.saturating_add(ahead)),
            None if seen.beyond && self.interval > 0 => Change::Reanchor(seen.now.saturating_add(seen.ahead)),
            None => Change::Keep,
        }
    }

    /// Units, rounded up.
    fn taken(&self, ahead: u64) -> u64 {
        if self.interval == 0 { 0 } else { ahead.div_ceil(self.interval) }
    }

    /// A decision in redis-cell's words. A `quantity` of 0 looks and charges nothing.
    pub fn decide_throttle(&self, tat: Option<u64>, now: Micros, quantity: u64) -> (Throttled, Change<u64>) {
        let seen = self.see(tat, now);
        let admitted = self.admit(seen, quantity);
        let after = admitted.unwrap_or(seen.ahead);
        let retry_after = match (admitted, quantity.checked_mul(self.interval)) {
            (None, Some(pushed)) if pushed <= self.tolerance => {
                whole_seconds(pushed.saturating_add(seen.ahead).saturating_sub(self.tolerance))
            }
            _ => -1,
        };
        let throttled = Throttled {
            limited: admitted.is_none(),
            limit: to_i64(self.capacity),
            remaining: to_i64(self.capacity.saturating_sub(self.taken(after))),
            retry_after,
            reset_after: whole_seconds(after),
        };
        (throttled, if quantity == 0 { Change::Keep } else { self.change(seen, admitted) })
    }
}

/// redis-cell's rounding: up to the next second where at least a millisecond is left over.
fn whole_seconds(ns: u64) -> i64 {
    to_i64((ns / SECOND).saturating_add(u64::from(ns % SECOND >= 1_000_000)))
}

impl RecordAlgorithm for Gcra {
    /// The TAT, in nanoseconds since the epoch.
    type State = u64;
    type Words = [u64; 1];
    /// None: redis-cell's records are the bare number.
    const TAG: &'static str = "";

    /// # Errors
    /// [`Unrepresentable::Span`] for more than a unit each nanosecond, and where the whole burst would take longer
    /// than some 126 years to come back.
    fn new(quota: &Quota) -> Result<Self, Unrepresentable> {
        let (capacity, window_seconds) = (quota.capacity(), quota.window.seconds());
        if quota.limit == 0 {
            return Ok(Self { capacity, interval: 0, tolerance: 0, window_seconds });
        }
        Self::build(capacity, quota.limit, wide(quota.window.micros(), 1_000), window_seconds)
    }

    /// `count` is what was taken of the burst before this request, rounded up; `ttl` until all of it is back, or the
    /// window where the limit is 0.
    fn decide(&self, state: Option<u64>, now: Micros, cost: Cost) -> Decision<u64> {
        let seen = self.see(state, now);
        let admitted = self.admit(seen, cost.units());
        let ttl = if self.interval == 0 {
            self.window_seconds
        } else {
            admitted.unwrap_or(seen.ahead).div_ceil(SECOND).max(1)
        };
        let verdict = Verdict { allowed: admitted.is_some(), count: to_i64(self.taken(seen.ahead)), ttl: to_i64(ttl) };
        Decision { verdict, delay: 0, change: self.change(seen, admitted) }
    }

    fn refund(&self, state: Option<u64>, now: Micros, cost: Cost) -> Option<u64> {
        let seen = self.see(state, now);
        let given_back = cost.units().saturating_mul(self.interval);
        (seen.ahead > 0).then(|| seen.now.saturating_add(seen.ahead.saturating_sub(given_back)))
    }

    fn outlook(&self, state: Option<u64>, now: Micros) -> impl Outlook {
        GcraOutlook { algorithm: *self, ahead: self.see(state, now).ahead, now }
    }

    fn forgotten_at(&self, state: &u64) -> Micros {
        Micros(state.div_ceil(1_000))
    }

    fn to_words(state: &u64) -> [u64; 1] {
        [*state]
    }

    fn from_words(&[tat]: &[u64; 1]) -> Option<u64> {
        Some(tat)
    }
}

struct GcraOutlook {
    algorithm: Gcra,
    ahead: u64,
    now: Micros,
}

impl Outlook for GcraOutlook {
    fn capacity(&self) -> u64 {
        self.algorithm.capacity
    }

    fn remaining(&self) -> u64 {
        if self.algorithm.interval == 0 {
            return 0;
        }
        self.algorithm.capacity.saturating_sub(self.algorithm.taken(self.ahead))
    }

    fn fits_at(&self, cost: u64) -> Option<Micros> {
        if self.algorithm.interval == 0 || cost > self.algorithm.capacity {
            return None;
        }
        let room = self.algorithm.tolerance.saturating_sub(cost.saturating_mul(self.algorithm.interval));
        Some(self.now.after(self.ahead.saturating_sub(room).div_ceil(1_000)))
    }
}
