//! Attempts with a growing lock: `limit` attempts in a window, and the one that uses the last of them locks the key. Each
//! lock lasts twice as long as the one before, up to a bound; quiet time makes the next one shorter again. It is for
//! logins and one-time codes: an attempt is charged before the password is checked, so that n guesses at once are n, and a
//! success deletes the state.
//!
//! The resolution is a millisecond: a lock, or a window, that ends in millisecond `s` holds before, and not in, `s`.
//!
//! All calls for a key should name one window, BLOCK and MAX. A lock keeps the length with which it began.

use super::forecast::{Forecast, ttl_of_denial};
use super::integer::{ceil_seconds, to_i64};
use super::record::{Letter, Owner};
use super::{
    Algorithm, Change, Changed, Cost, Decided, Decision, MAX_COUNT, MAX_SPAN, Micros, Policy, RecordAlgorithm,
    Unrepresentable, Verdict, Window,
};

/// The longest lock, if the policy does not say: a day in milliseconds.
const DAY: u64 = 86_400_000;

/// More than any level is: a lock of 1 ms that doubles is the longest span after 50 times.
const MAX_LEVEL: u64 = 64;

/// `limit` attempts in each window, which starts with its first one; the last of them locks the key for `block`, then twice
/// that, up to `max`.
///
/// ```
/// use redis_rl_algorithm::{Algorithm, Cost, Lockout, Micros, Policy, Window};
///
/// let [day, minute] = [86_400_000, 60_000].map(|millis| Window::from_millis(millis));
/// let lockout = Lockout::new(&Policy { block: minute, ..Policy::new(day.unwrap(), 2) }).unwrap();
/// let now = Micros::from_millis(1_700_000_000_000);
/// let first = lockout.decide(None, now, Cost::ONE).unwrap().change.apply_to(None);
/// let last = lockout.decide(first, now, Cost::ONE).unwrap();
/// assert!(last.verdict.allowed, "the attempt that locks");
/// let locked = last.change.apply_to(first);
/// let denied = lockout.decide(locked, now.plus(1_000_000), Cost::ONE).unwrap().verdict;
/// assert_eq!((denied.allowed, denied.count, denied.ttl), (false, 2, 59));
/// assert!(lockout.decide(locked, now.plus(60_000_000), Cost::ONE).unwrap().verdict.allowed);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Lockout {
    window: Window,
    limit: u64,
    /// The lengths of the shortest and the longest lock, in milliseconds.
    block: u64,
    max: u64,
}

impl Owner for Letter<'O'> {
    type Algorithm = Lockout;
}

/// Attempts, and the lock that they began. Times are in milliseconds since the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempts {
    /// 0 to [`MAX_COUNT`].
    attempts: u64,
    /// When the window started.
    start: u64,
    /// The last charge, and the start of the lock.
    last: u64,
    /// The length of the lock; 0 if there is none.
    lock: u64,
    /// How many locks count, before this one.
    level: u64,
}

impl Attempts {
    /// The same if it starts after `now`, as after a clock stepped back: it starts now.
    fn not_after(self, now: u64) -> Self {
        Self { start: self.start.min(now), last: self.last.min(now), ..self }
    }

    /// The millisecond in which the lock ends, or the time of the last charge: from then on it is quiet.
    const fn quiet_from(&self) -> u64 {
        self.last.saturating_add(self.lock)
    }

    const fn is_locked(&self, now: u64) -> bool {
        now < self.quiet_from()
    }
}

impl Lockout {
    /// The length of a lock that begins at a level: twice as long for each lock before.
    fn lock_at(&self, level: u64) -> u64 {
        let doubled = u32::try_from(level).ok().and_then(|level| 1_u64.checked_shl(level));
        doubled.map_or(self.max, |times| self.block.saturating_mul(times).min(self.max))
    }

    /// The smallest level whose lock is the longest.
    fn top(&self) -> u64 {
        let times = self.max.div_ceil(self.block).checked_next_power_of_two();
        times.map_or(MAX_LEVEL, |times| times.trailing_zeros().into())
    }

    /// The level that a state leaves behind, before quiet time lowers it.
    fn level_after(&self, state: &Attempts) -> u64 {
        if state.lock == 0 { state.level } else { state.level.saturating_add(1).min(self.top()) }
    }

    /// The level at `now`: lower by one for each whole `max` of quiet.
    fn level(&self, state: &Attempts, now: u64) -> u64 {
        let quiet = now.saturating_sub(state.quiet_from());
        self.level_after(state).saturating_sub(quiet.checked_div(self.max).unwrap_or(0))
    }

    /// The attempts that count at `now`, if there are any, and the start of their window. A lock that is over leaves none.
    fn running(&self, state: Option<&Attempts>, now: u64) -> Option<(u64, u64)> {
        let state = state?;
        let counts = if state.lock > 0 { state.is_locked(now) } else { now < self.end_of_window(state.start) };
        (counts && state.attempts > 0).then_some((state.attempts, state.start))
    }

    const fn end_of_window(&self, start: u64) -> u64 {
        start.saturating_add(self.window.millis())
    }

    fn forecast_of(&self, state: Option<&Attempts>, now: Micros) -> AttemptsForecast {
        let millis = now.millis();
        let (attempts, start) = self.running(state, millis).unwrap_or((0, millis));
        let lock_ends = state.filter(|state| state.is_locked(millis)).map(Attempts::quiet_from);
        let ends = lock_ends.unwrap_or_else(|| self.end_of_window(start));
        let free = if lock_ends.is_some() { 0 } else { self.limit.saturating_sub(attempts) };
        AttemptsForecast { limit: self.limit, free, ends: Micros::from_millis(ends), now }
    }
}

impl Algorithm for Lockout {
    type State<'s> = Option<Attempts>;
    type Change = Attempts;

    /// # Errors
    /// [`Unrepresentable::Order`] if the longest lock is shorter than the first.
    fn new(policy: &Policy) -> Result<Self, Unrepresentable> {
        let window = policy.window();
        let block = policy.block.unwrap_or(window).millis();
        let max = policy.max.map_or(block.max(DAY), Window::millis);
        if max < block {
            return Err(Unrepresentable::Order);
        }
        Ok(Self { window, limit: policy.limit, block, max })
    }

    /// `count` is the attempts in the window before this one; while the key is locked, those that locked it. `ttl` is the
    /// number of seconds until the lock, else the window, ends; on a denial, until the same attempt is allowed.
    ///
    /// A denial counts nothing. It returns [`Change::Rebase`] if the state is ahead of the clock.
    #[inline]
    fn decide(&self, stored: Option<Attempts>, now: Micros, cost: Cost) -> Decided<Attempts> {
        let millis = now.millis();
        let known = stored.map(|state| state.not_after(millis));
        let running = self.running(known.as_ref(), millis);
        let attempts = running.map_or(0, |(attempts, _)| attempts);
        let is_locked = known.is_some_and(|state| state.is_locked(millis));
        let after = attempts.saturating_add(cost.needed());
        let allowed = !is_locked && after <= self.limit;
        let change = if allowed && cost != Cost::ZERO {
            let level = known.map_or(0, |state| self.level(&state, millis));
            let lock = if after == self.limit { self.lock_at(level) } else { 0 };
            let start = running.map_or(millis, |(_, start)| start);
            Change::Charge(Attempts { attempts: after, start, last: millis, lock, level })
        } else {
            // What counts no more is not written.
            known.filter(|state| known != stored && self.expires_at(state) > now).map_or(Change::Keep, Change::Rebase)
        };
        let forecast = self.forecast_of(change.apply_to(known).as_ref(), now);
        let ttl = match forecast.fits_at(self.limit) {
            Some(at) if allowed => ceil_seconds(at.since(now)),
            _ => ttl_of_denial(&forecast, now, cost.needed()),
        };
        let verdict = Verdict { allowed, count: to_i64(attempts), ttl };
        Ok(Decision { verdict, delay: 0, change, needed: cost.needed() })
    }

    /// A lock that has not ended ends: window and level are those before it. With `at`, the time of the charge, nothing is
    /// given back if that is before the window, or before the lock that ended it.
    fn refunding(&self, state: Option<Attempts>, now: Micros, at: Option<Micros>, cost: Cost) -> Change<Attempts> {
        let millis = now.millis();
        let Some(known) = state.map(|state| state.not_after(millis)) else { return Change::Keep };
        let Some((1.., start)) = self.running(Some(&known), millis) else { return Change::Keep };
        if cost == Cost::ZERO || at.is_some_and(|at| at.millis() < start) {
            return Change::Keep;
        }
        let refunded = Attempts { attempts: known.attempts.saturating_sub(cost.units()), lock: 0, ..known };
        let is_nothing = self.running(Some(&refunded), millis).is_none_or(|(attempts, _)| attempts == 0);
        if is_nothing && self.level(&refunded, millis) == 0 { Change::Delete } else { Change::Refund(refunded) }
    }

    /// Nothing: RL.SETTLE does not take it.
    fn overcharging(
        &self,
        _state: Option<Attempts>,
        _now: Micros,
        _at: Option<Micros>,
        _cost: Cost,
    ) -> Changed<Attempts> {
        Ok(Change::Keep)
    }

    fn in_shadow(&self, _state: Option<Attempts>, _now: Micros, change: Change<Attempts>) -> Change<Attempts> {
        if matches!(change, Change::Rebase(_)) { Change::Keep } else { change }
    }

    fn forecast(&self, state: Self::State<'_>, change: &Change<Attempts>, now: Micros) -> impl Forecast {
        let state = change.apply_to(state).map(|state| state.not_after(now.millis()));
        self.forecast_of(state.as_ref(), now)
    }
}

impl RecordAlgorithm for Lockout {
    type Record = Attempts;
    type Words = [u64; 5];
    type Tag = Letter<'O'>;
    /// A call keeps the state for as long as its own arguments say.
    const EXPIRY_DEPENDS_ON_POLICY: bool = false;
    /// What is left of a lock has an end that an operator can read.
    const EXPIRY_SLACK_MS: u64 = 0;

    /// The end of the window, or of the quiet time after which the next lock is as short as the first.
    fn expires_at(&self, state: &Attempts) -> Micros {
        let quiet = self.level_after(state).saturating_mul(self.max);
        Micros::from_millis(self.end_of_window(state.start).max(state.quiet_from().saturating_add(quiet)))
    }

    fn to_words(&Attempts { attempts, start, last, lock, level }: &Attempts) -> [u64; 5] {
        [attempts, start, last, lock, level]
    }

    fn from_words(&[attempts, start, last, lock, level]: &[u64; 5]) -> Option<Attempts> {
        let in_time = start <= last && last <= MAX_COUNT / 1_000 && lock <= MAX_SPAN / 1_000;
        let valid = in_time && attempts <= MAX_COUNT && level <= MAX_LEVEL;
        valid.then_some(Attempts { attempts, start, last, lock, level })
    }
}

/// What attempts leave free, and until when.
struct AttemptsForecast {
    limit: u64,
    free: u64,
    /// The end of the lock, else of the window.
    ends: Micros,
    now: Micros,
}

impl Forecast for AttemptsForecast {
    fn capacity(&self) -> u64 {
        self.limit
    }

    fn remaining(&self) -> u64 {
        self.free
    }

    fn fits_at(&self, cost: u64) -> Option<Micros> {
        if cost > self.limit || self.limit == 0 {
            None
        } else if cost <= self.free && (cost > 0 || self.free > 0) {
            Some(self.now)
        } else {
            Some(self.ends)
        }
    }
}
