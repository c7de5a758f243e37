//! Fixed window counter: time is divided into windows, and each window has its own counter. Windows start at multiples
//! of their length since the epoch, or as a calendar or an anchor says: see [`Schedule`]. It is cheap and exact within
//! a window. A burst at the end of one window and another at the start of the next allow up to twice the limit within
//! the length of one window. Its replies are those of the Lua script that RL.FIXED replaces (`lua/drop-in/`), which is "the
//! script" below.

use super::integer::to_i64;
use super::period::Schedule;
use super::reservation::{Correction, Reservation};
use super::{
    Algorithm, Change, Changed, Cost, Decided, Decision, Forecast, MAX_COUNT, Micros, Policy, Unrepresentable, Verdict,
    always,
};

/// `limit` units in each window of a schedule.
///
/// ```
/// use redis_rl_algorithm::fixed_window::Counter;
/// use redis_rl_algorithm::{Algorithm, Change, Cost, FixedWindow, Micros, Policy, Window};
///
/// let policy = Policy::new(Window::from_millis(60_000).unwrap(), 5);
/// let fixed = FixedWindow::new(&policy).unwrap();
/// let now = Micros(1_700_000_000_000_000);
/// assert_eq!(fixed.schedule.suffix_at(now).to_string(), "28333333", "the minutes since the epoch");
/// let decision = fixed.decide(None, now, Cost::ONE).unwrap();
/// assert_eq!(decision.change, Change::Charge(Counter { value: 1, expires_at: Some(1_700_000_060_000) }));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct FixedWindow {
    /// When the windows start.
    pub schedule: Schedule,
    limit: u64,
}

/// The counter of a window, as Redis stores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Counter {
    /// Counts denied requests as well. It may be negative, since DECR works on it.
    pub value: i64,
    /// The expiry of its key, in milliseconds since the epoch; `None` for a counter without one.
    pub expires_at: Option<u64>,
}

impl FixedWindow {
    /// A window from now, as the script sets it. A counter of a calendar or with an anchor expires with its window.
    fn new_expiry(&self, now: Micros) -> u64 {
        match self.schedule {
            Schedule::Aligned(window) => now.millis().saturating_add(window.millis()),
            Schedule::Anchored(..) | Schedule::Calendar(..) => self.schedule.period_at(now).end.millis(),
        }
    }

    /// Whether a request of the time `at` was charged in the current window. A time in the future counts as now.
    fn is_current(&self, now: Micros, at: Option<Micros>) -> bool {
        at.is_none_or(|at| at >= self.schedule.period_at(now).start)
    }
}

impl Algorithm for FixedWindow {
    type State<'s> = Option<Counter>;
    type Change = Counter;

    fn new(policy: &Policy) -> Result<Self, Unrepresentable> {
        Ok(Self { schedule: policy.schedule, limit: policy.limit })
    }

    /// INCR, EXPIRE if new, compare: as the script does. `count` is the counter after this request. `ttl` is what the
    /// command TTL replies for the key: −2 if there is none.
    ///
    /// A denied request is counted too. With a cost above 1 it is counted only if the window was full already, since
    /// otherwise a smaller request could still be allowed. A counter without an expiry gets one.
    ///
    /// # Errors
    /// [`Unrepresentable::Overflow`] if INCRBY would overflow.
    #[inline]
    fn decide(&self, state: Option<Counter>, now: Micros, cost: Cost) -> Decided<Counter> {
        let before = state.map_or(0, |counter| counter.value);
        let limit = to_i64(self.limit);
        let (units_needed, cost) = (cost.needed(), to_i64(cost.units()));
        let needed = to_i64(units_needed);
        let allowed = needed <= limit && before.checked_add(needed).is_some_and(|after| after <= limit);
        let counted = (allowed || before >= limit) && cost > 0;
        let after = if counted { before.checked_add(cost).ok_or(Unrepresentable::Overflow)? } else { before };
        // The script sets the expiry when the counter becomes 1, also if a DECR had made it 0 before.
        let becomes_one = counted && before == 0;
        let expires_at = match state {
            Some(Counter { expires_at: Some(at), .. }) if !becomes_one => Some(at),
            None if !counted => None,
            _ => Some(self.new_expiry(now)),
        };
        let ttl = ttl_of_script(expires_at, now);
        let changed = counted || state.is_some_and(|counter| counter.expires_at.is_none());
        let change = if changed { Change::Charge(Counter { value: after, expires_at }) } else { Change::Keep };
        Ok(Decision { verdict: Verdict { allowed, count: after, ttl }, delay: 0, change, needed: units_needed })
    }

    /// `count` and `ttl` are as in [`FixedWindow::decide`](Algorithm::decide).
    ///
    /// # Errors
    /// [`Unrepresentable::Overflow`] if more than 2⁶³ − 2 units would be counted.
    fn decide_always(&self, state: Option<Counter>, now: Micros, cost: Cost, charged: Cost) -> Decided<Counter> {
        let decision = always::decide(self, state, now, cost, charged)?;
        let after = decision.change.apply_to(state);
        let count = after.map_or(0, |counter| counter.value);
        let ttl = ttl_of_script(after.and_then(|counter| counter.expires_at), now);
        Ok(Decision { verdict: Verdict { count, ttl, ..decision.verdict }, ..decision })
    }

    /// A denied request is not counted.
    fn decide_reserving(&self, state: Option<Counter>, now: Micros, cost: Cost) -> Decided<Counter> {
        match self.decide(state, now, cost) {
            Ok(decision) if decision.verdict.allowed => Ok(decision),
            _ => {
                let look = self.decide(state, now, Cost::ZERO)?;
                let verdict = Verdict { allowed: false, ..look.verdict };
                Ok(Decision { verdict, needed: cost.needed(), ..look })
            }
        }
    }

    /// From min(counter, limit): what is above the limit was never available. A counter without an expiry gets one. With
    /// `at`, nothing happens unless that is in the current window.
    fn refunding(&self, state: Option<Counter>, now: Micros, at: Option<Micros>, cost: Cost) -> Change<Counter> {
        let Some(counter) = state.filter(|_| self.is_current(now, at)) else { return Change::Keep };
        let value = if counter.value > 0 && cost != Cost::ZERO {
            counter.value.min(to_i64(self.limit)).saturating_sub(to_i64(cost.units())).max(0)
        } else {
            counter.value
        };
        let expires_at = counter.expires_at.or(Some(self.new_expiry(now)));
        let refunded = Counter { value, expires_at };
        if refunded == counter { Change::Keep } else { Change::Refund(refunded) }
    }

    /// With `at`, nothing happens unless that is in the current window.
    ///
    /// # Errors
    /// [`Unrepresentable::Overflow`] if INCRBY would overflow.
    fn overcharging(&self, state: Option<Counter>, now: Micros, at: Option<Micros>, cost: Cost) -> Changed<Counter> {
        if cost == Cost::ZERO || !self.is_current(now, at) {
            return Ok(Change::Keep);
        }
        let before = state.map_or(0, |counter| counter.value);
        // At the largest value, the reply would be an error: that of the request that RL.PEEK looks at.
        let value = before.checked_add(to_i64(cost.units())).filter(|&value| value < i64::MAX);
        let value = value.ok_or(Unrepresentable::Overflow)?;
        let held = state.and_then(|counter| counter.expires_at).filter(|_| before != 0);
        Ok(Change::Charge(Counter { value, expires_at: held.or(Some(self.new_expiry(now))) }))
    }

    /// Corrects the counter itself, which may be above the limit. Nothing happens unless the charge was in the current
    /// window.
    fn settling(&self, state: Option<Counter>, now: Micros, charge: &Reservation, actual: Cost) -> Changed<Counter> {
        if charge.counts_until != self.schedule.period_at(now).end.millis().min(MAX_COUNT) {
            return Ok(Change::Keep);
        }
        match (Correction::new(charge, actual), state) {
            (Correction::Charge(cost), state) => self.overcharging(state, now, None, cost),
            (Correction::Refund(cost), Some(counter @ Counter { value: 1.., .. })) => {
                let value = counter.value.saturating_sub(to_i64(cost.units())).max(0);
                Ok(Change::Refund(Counter { value, expires_at: counter.expires_at.or(Some(self.new_expiry(now))) }))
            }
            (Correction::Refund(_), _) => Ok(Change::Keep),
        }
    }

    fn counts_until(&self, _state: Option<Counter>, _change: &Change<Counter>, now: Micros) -> u64 {
        self.schedule.period_at(now).end.millis()
    }

    fn forecast(&self, state: Self::State<'_>, change: &Change<Counter>, now: Micros) -> impl Forecast {
        let value = change.apply_to(state).map_or(0, |counter| counter.value);
        let units = u64::try_from(value).unwrap_or(0);
        CounterForecast { limit: self.limit, units, ends: self.schedule.period_at(now).end, now }
    }
}

/// What the command TTL replies: the seconds until the expiry, rounded to the nearest; −2 if there is no key.
fn ttl_of_script(expires_at: Option<u64>, now: Micros) -> i64 {
    expires_at.map_or(-2, |at| to_i64(at.saturating_sub(now.millis()).saturating_add(500) / 1_000))
}

/// What a counter allows: all of its units come back together.
pub(super) struct CounterForecast {
    pub(super) limit: u64,
    pub(super) units: u64,
    pub(super) ends: Micros,
    pub(super) now: Micros,
}

impl Forecast for CounterForecast {
    fn capacity(&self) -> u64 {
        self.limit
    }

    fn remaining(&self) -> u64 {
        self.limit.saturating_sub(self.units)
    }

    fn fits_at(&self, cost: u64) -> Option<Micros> {
        let room = self.limit.checked_sub(cost)?;
        Some(if self.units <= room { self.now } else { self.ends.max(self.now) })
    }
}
