//! Fixed window counter whose window starts with the first request: `limit` units in each window, and a window starts
//! with the first request that finds none running. It is one counter with an expiry: INCR and EXPIRE of one key, the
//! oldest pattern there is. All units come back together, when the window ends. So two windows that follow one another
//! can allow up to twice the limit within the length of one, as with [`FixedWindow`](crate::FixedWindow).
//!
//! The resolution is a millisecond: a window that ends in millisecond `s` runs before, and not in, `s`.
//!
//! All calls for a key should name one window: a call with a shorter window shortens the running one.

use super::fixed_window::{Counter, CounterForecast};
use super::forecast::ttl_of_denial;
use super::integer::{ceil_seconds, to_i64};
use super::reservation::{Correction, Reservation};
use super::{
    Algorithm, Change, Changed, Cost, Decided, Decision, Forecast, MAX_COUNT, Micros, Policy, Unrepresentable, Verdict,
    Window,
};

/// `limit` units in each window, which starts with its first request.
///
/// ```
/// use redis_rl_algorithm::fixed_window::Counter;
/// use redis_rl_algorithm::{Algorithm, Change, Cost, Micros, Policy, Window, WindowCounter};
///
/// let counter = WindowCounter::new(&Policy::new(Window::from_millis(60_000).unwrap(), 2)).unwrap();
/// let now = Micros::from_millis(100_000);
/// let first = counter.decide(None, now, Cost::ONE).unwrap();
/// assert_eq!(first.change, Change::Charge(Counter { value: 1, expires_at: Some(160_000) }));
/// // Ten seconds later, the same window runs.
/// let later = now.plus(10_000_000);
/// let two = Cost::new(2).unwrap();
/// let denied = counter.decide(first.change.apply_to(None), later, two).unwrap().verdict;
/// assert_eq!((denied.allowed, denied.count, denied.ttl), (false, 1, 50));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct WindowCounter {
    pub(super) window: Window,
    limit: u64,
}

/// What a counter means at a time.
#[derive(Clone, Copy, Debug)]
struct Running {
    /// 0 to [`MAX_COUNT`].
    units: u64,
    /// The millisecond in which the window ends.
    ends: u64,
    /// Whether the key holds this expiry already.
    expiry_is_right: bool,
}

impl WindowCounter {
    /// The window that runs at `now`. `None` if there is no counter, or if its expiry is now or earlier: Redis keeps a
    /// key through the millisecond in which it expires.
    ///
    /// A counter without an expiry gets one, and one with more than a window left (a call named a longer window, or the
    /// clock stepped back) gets another: a window from now.
    fn running(&self, state: Option<Counter>, now: Micros) -> Option<Running> {
        let Counter { value, expires_at } = state?;
        if expires_at.is_some_and(|at| at <= now.millis()) {
            return None;
        }
        let latest = self.end_of_new(now);
        let ends = expires_at.map_or(latest, |at| at.min(latest));
        Some(Running { units: u64::try_from(value).unwrap_or(0), ends, expiry_is_right: expires_at == Some(ends) })
    }

    /// The millisecond in which a window ends that starts at `now`.
    const fn end_of_new(&self, now: Micros) -> u64 {
        now.millis().saturating_add(self.window.millis())
    }

    /// The millisecond in which the window ends that a charge counts in: the running one, or a new one. A negative counter
    /// counts as none, since a client gave back after its window had ended.
    fn end_of_charged(&self, state: Option<Counter>, running: Option<Running>, now: Micros) -> u64 {
        let continues = running.filter(|_| state.is_some_and(|counter| counter.value >= 0));
        continues.map_or(self.end_of_new(now), |running| running.ends)
    }

    /// The change of a call that counts nothing: sets the expiry, if the counter has none or one that is too late.
    fn uncharged(state: Option<Counter>, running: Option<Running>) -> Change<Counter> {
        match (state, running) {
            (Some(counter), Some(running)) if !running.expiry_is_right => {
                Change::Rebase(Counter { expires_at: Some(running.ends), ..counter })
            }
            _ => Change::Keep,
        }
    }
}

impl Algorithm for WindowCounter {
    type State<'s> = Option<Counter>;
    type Change = Counter;

    fn new(policy: &Policy) -> Result<Self, Unrepresentable> {
        Ok(Self { window: policy.window(), limit: policy.limit })
    }

    /// `count` is the units in the window before this request. `ttl` is the number of seconds until the window ends, 0 if
    /// none runs afterwards; on a denial, until the same request is allowed.
    ///
    /// A denial counts nothing. It returns [`Change::Rebase`] if the expiry has to be set, as a cost of 0 does.
    #[inline]
    fn decide(&self, state: Option<Counter>, now: Micros, cost: Cost) -> Decided<Counter> {
        let running = self.running(state, now);
        let (units, ends) = running.map_or((0, 0), |running| (running.units, running.ends));
        let allowed = units.checked_add(cost.needed()).is_some_and(|after| after <= self.limit);
        let (change, ends) = if allowed && cost != Cost::ZERO {
            let ends = self.end_of_charged(state, running, now);
            let value = to_i64(units.saturating_add(cost.units()));
            (Change::Charge(Counter { value, expires_at: Some(ends) }), ends)
        } else {
            (Self::uncharged(state, running), if units > 0 { ends } else { 0 })
        };
        let ends = Micros::from_millis(ends);
        let ttl = if allowed {
            ceil_seconds(ends.since(now))
        } else {
            ttl_of_denial(&CounterForecast { limit: self.limit, units, ends, now }, now, cost.needed())
        };
        let verdict = Verdict { allowed, count: to_i64(units), ttl };
        Ok(Decision { verdict, delay: 0, change, needed: cost.needed() })
    }

    /// [`Change::Delete`] if nothing is counted then. With `at`, the time of the charge, nothing is given back unless that
    /// is in the running window.
    fn refunding(&self, state: Option<Counter>, now: Micros, at: Option<Micros>, cost: Cost) -> Change<Counter> {
        let running = self.running(state, now);
        let Some(Running { units: units @ 1.., ends, .. }) = running else { return Self::uncharged(state, running) };
        let is_earlier = at.is_some_and(|at| at.millis().saturating_add(self.window.millis()) < ends);
        if is_earlier || cost == Cost::ZERO {
            return Self::uncharged(state, running);
        }
        match units.saturating_sub(cost.units()) {
            0 => Change::Delete,
            rest => Change::Refund(Counter { value: to_i64(rest), expires_at: Some(ends) }),
        }
    }

    /// In the running window, or in a new one. With `at`, the time of the charge, nothing is charged if that is a window
    /// or more ago.
    fn overcharging(&self, state: Option<Counter>, now: Micros, at: Option<Micros>, cost: Cost) -> Changed<Counter> {
        let is_over = at.is_some_and(|at| at.millis().saturating_add(self.window.millis()) <= now.millis());
        if cost == Cost::ZERO || is_over {
            return Ok(Change::Keep);
        }
        let running = self.running(state, now);
        let units = running.map_or(0, |running| running.units).saturating_add(cost.units());
        if units > MAX_COUNT {
            return Err(Unrepresentable::Overflow);
        }
        let expires_at = Some(self.end_of_charged(state, running, now));
        Ok(Change::Charge(Counter { value: to_i64(units), expires_at }))
    }

    /// The expiry of the counter that is written, which shadow mode leaves as it is. If nothing is counted, it would start
    /// a window.
    fn counts_until(&self, state: Option<Counter>, change: &Change<Counter>, now: Micros) -> u64 {
        let expires_at = change.apply_to(state).and_then(|counter| counter.expires_at).filter(|&at| at > now.millis());
        expires_at.unwrap_or_else(|| self.end_of_new(now))
    }

    /// Units are given back only if the window of the charge runs: the key expires when it ends. Units that come on top
    /// count in the running window. If none runs, they count until the window of the charge ends.
    fn settling(&self, state: Option<Counter>, now: Micros, charge: &Reservation, actual: Cost) -> Changed<Counter> {
        if !charge.counts(now) {
            return Ok(Change::Keep);
        }
        match (Correction::new(charge, actual), state) {
            (Correction::Refund(cost), Some(counter @ Counter { value: 1.., .. }))
                if counter.expires_at == Some(charge.counts_until) =>
            {
                let value = counter.value.saturating_sub(to_i64(cost.units()));
                Ok(if value <= 0 { Change::Delete } else { Change::Refund(Counter { value, ..counter }) })
            }
            (Correction::Refund(_), _) => Ok(Change::Keep),
            (Correction::Charge(cost), state) => match self.overcharging(state, now, None, cost)? {
                Change::Charge(counter) if self.running(state, now).is_none() => {
                    let ends = charge.counts_until.min(self.end_of_new(now));
                    Ok(Change::Charge(Counter { expires_at: Some(ends), ..counter }))
                }
                change => Ok(change),
            },
        }
    }

    /// The counter of a charge, but never another expiry for a window that runs.
    fn in_shadow(&self, state: Option<Counter>, now: Micros, change: Change<Counter>) -> Change<Counter> {
        match (change, state.filter(|counter| counter.value >= 0 && self.running(state, now).is_some())) {
            (Change::Rebase(_), _) => Change::Keep,
            (Change::Charge(after), Some(before)) => Change::Charge(Counter { expires_at: before.expires_at, ..after }),
            (change, _) => change,
        }
    }

    fn forecast(&self, state: Self::State<'_>, change: &Change<Counter>, now: Micros) -> impl Forecast {
        let running = self.running(change.apply_to(state), now);
        let (units, ends) = running.map_or((0, now), |running| (running.units, Micros::from_millis(running.ends)));
        CounterForecast { limit: self.limit, units, ends, now }
    }
}
