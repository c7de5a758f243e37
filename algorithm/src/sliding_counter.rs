//! Sliding window counter: two aligned windows are counted, and the previous one counts in proportion to the part of
//! it that the last `window` still covers. It needs the memory of a fixed window counter, and has no burst at the
//! boundary. It assumes that the requests of the previous window were spread evenly.

use super::forecast::{Forecast, ttl_of_denial};
use super::integer::{ceil_seconds, div_ceil, div_rem, to_i64, widening_mul};
use super::record::{Letter, Owner};
use super::{
    Algorithm, Change, Changed, Cost, Decided, Decision, MAX_COUNT, Micros, Policy, RecordAlgorithm, Unrepresentable,
    Verdict, Window,
};

/// `limit` units in the last `window`, computed from two counters.
///
/// ```
/// use redis_rl_algorithm::{Algorithm, Change, Cost, Forecast, Micros, Policy, SlidingCounter, Window};
///
/// let policy = Policy::new(Window::from_millis(60_000).unwrap(), 100);
/// let counter = SlidingCounter::new(&policy).unwrap();
/// let start = Micros(1_699_999_980_000_000); // the start of a minute
/// let state = counter.decide(None, start, Cost::new(70).unwrap()).unwrap().change.apply_to(None);
/// // 18 seconds into the next minute, 70 % of those 70 still count.
/// assert_eq!(counter.forecast(state, &Change::Keep, start.plus(78_000_000)).remaining(), 100 - 49);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SlidingCounter {
    window: Window,
    limit: u64,
}

/// The units charged in the window that begins at `start`, and in the window before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    pub(super) window: Window,
    /// A multiple of `window`.
    pub(super) start: Micros,
    /// Both 0 to [`MAX_COUNT`].
    pub(super) current: u64,
    pub(super) previous: u64,
}

/// The window of a moment.
enum Place {
    Current,
    Previous,
    Older,
}

impl Counts {
    /// Whether nothing is counted.
    fn is_empty(&self) -> bool {
        self.current == 0 && self.previous == 0
    }

    /// The window that `at` is in. A time in the future is in the current window.
    fn place_of(&self, at: Micros) -> Place {
        if at >= self.start {
            Place::Current
        } else if at.plus(self.window.micros()) >= self.start {
            Place::Previous
        } else {
            Place::Older
        }
    }

    /// The time until the current window ends, in microseconds: 1 to `window`.
    fn time_left(&self, now: Micros) -> u64 {
        self.window.micros().saturating_sub(now.since(self.start))
    }

    /// The weighted count of the previous window, in parts of 1/`window`.
    fn weighted_previous(&self, now: Micros) -> u128 {
        widening_mul(self.previous, self.time_left(now))
    }
}

impl SlidingCounter {
    /// The counts in windows of this length, aligned to the window of `now`.
    ///
    /// A step to the next window and a change to windows of another length are the same operation: each old count
    /// goes to the window of the latest moment at which it can have been charged: the current one, the previous one,
    /// or neither. Counts ahead of the clock can all have been charged just now. They are reduced to the limit, so
    /// that a clock that stepped back does not block for longer than the limit itself does.
    fn align(&self, state: Option<Counts>, now: Micros) -> Counts {
        let window = self.window.micros();
        let Some(old) = state else { return self.empty(now) };
        if old.start > now {
            let current = old.current.saturating_add(old.previous).min(self.limit);
            return Counts { current, ..self.empty(now) };
        }
        if old.window == self.window && now.since(old.start) < window {
            return old;
        }
        let mut aligned = self.empty(now);
        let last_moment = |end: Micros| Micros(end.0.saturating_sub(1));
        let end = old.start.plus(old.window.micros());
        for (count, latest) in [(old.current, last_moment(end)), (old.previous, last_moment(old.start))] {
            // A last moment in the future means that the count can have been charged just now.
            let into = if latest >= aligned.start {
                &mut aligned.current
            } else if latest.plus(window) >= aligned.start {
                &mut aligned.previous
            } else {
                continue;
            };
            *into = into.saturating_add(count).min(MAX_COUNT);
        }
        aligned
    }

    fn empty(&self, now: Micros) -> Counts {
        let (_, elapsed) = div_rem(u128::from(now.0), self.window.micros());
        let start = Micros(now.0.saturating_sub(elapsed));
        Counts { window: self.window, start, current: 0, previous: 0 }
    }
}

impl Owner for Letter<'C'> {
    type Algorithm = SlidingCounter;
}

impl Algorithm for SlidingCounter {
    type State<'s> = Option<Counts>;
    type Change = Counts;

    fn new(policy: &Policy) -> Result<Self, Unrepresentable> {
        Ok(Self { window: policy.window(), limit: policy.limit })
    }

    /// `count` is the weighted count before this request, rounded down. `ttl` is the number of seconds until nothing
    /// counts any more; on a denial, until the same request is allowed.
    #[inline]
    fn decide(&self, state: Option<Counts>, now: Micros, cost: Cost) -> Decided<Counts> {
        let counts = self.align(state, now);
        let window = self.window.micros();
        let previous = counts.weighted_previous(now);
        // In parts of 1/window, so nothing is rounded: 65 bits of units by 60 bits of parts, and as much again.
        let needed = counts.current.saturating_add(cost.needed());
        let allowed = widening_mul(needed, window).saturating_add(previous) <= widening_mul(self.limit, window);
        let after = Counts { current: counts.current.saturating_add(cost.units()), ..counts };
        let uncharged = || match state {
            // Else every call would align the stored counts anew, each time to a later window, and they would never
            // lose their effect. An empty record is not written.
            Some(old) if (old.start > now || old.window != self.window) && self.limit > 0 && !counts.is_empty() => {
                Change::Rebase(counts)
            }
            _ => Change::Keep,
        };
        let (change, ttl) = if allowed {
            let change = if cost == Cost::ZERO { uncharged() } else { Change::Charge(after) };
            (change, ceil_seconds(self.expires_at(&after).since(now)))
        } else {
            (uncharged(), ttl_of_denial(&CountsForecast { limit: self.limit, counts, now }, now, cost.needed()))
        };
        let count = to_i64(counts.current.saturating_add(div_rem(previous, window).0));
        Ok(Decision { verdict: Verdict { allowed, count, ttl }, delay: 0, change, needed: cost.needed() })
    }

    /// Takes the units that were charged last: from the current window, and the rest from the previous one. With `at`,
    /// from the window of that time alone.
    fn refunding(&self, state: Option<Counts>, now: Micros, at: Option<Micros>, cost: Cost) -> Change<Counts> {
        let counts = self.align(state, now);
        let units = cost.units();
        let (from_current, from_previous) = match at.map(|at| counts.place_of(at)) {
            None => (units, units.saturating_sub(counts.current)),
            Some(Place::Current) => (units, 0),
            Some(Place::Previous) => (0, units),
            Some(Place::Older) => (0, 0),
        };
        let refunded = Counts {
            current: counts.current.saturating_sub(from_current),
            previous: counts.previous.saturating_sub(from_previous),
            ..counts
        };
        if refunded == counts {
            return Change::Keep;
        }
        if refunded.is_empty() { Change::Delete } else { Change::Refund(refunded) }
    }

    /// Charges the current window; with `at`, the window of that time, or nothing if that has passed.
    fn overcharging(&self, state: Option<Counts>, now: Micros, at: Option<Micros>, cost: Cost) -> Changed<Counts> {
        if cost == Cost::ZERO {
            return Ok(Change::Keep);
        }
        let mut counts = self.align(state, now);
        let into = match counts.place_of(at.unwrap_or(now)) {
            Place::Current => &mut counts.current,
            Place::Previous => &mut counts.previous,
            Place::Older => return Ok(Change::Keep),
        };
        let count = into.saturating_add(cost.units());
        *into = count;
        let window = self.window.micros();
        let weighted = widening_mul(counts.current, window).saturating_add(counts.weighted_previous(now));
        if count > MAX_COUNT || weighted > widening_mul(MAX_COUNT, window) {
            return Err(Unrepresentable::Overflow);
        }
        Ok(Change::Charge(counts))
    }

    /// The end of the next window.
    fn counts_until(&self, _state: Option<Counts>, _change: &Change<Counts>, now: Micros) -> u64 {
        self.empty(now).start.plus(self.window.micros().saturating_mul(2)).millis()
    }

    fn forecast(&self, state: Self::State<'_>, change: &Change<Counts>, now: Micros) -> impl Forecast {
        CountsForecast { limit: self.limit, counts: self.align(change.apply_to(state), now), now }
    }
}

impl RecordAlgorithm for SlidingCounter {
    type Record = Counts;
    type Words = [u64; 4];
    type Tag = Letter<'C'>;
    /// The record holds the window, and the counts lose their effect by the window alone.
    const EXPIRY_DEPENDS_ON_POLICY: bool = false;

    fn expires_at(&self, state: &Counts) -> Micros {
        let windows = match state {
            Counts { current: 1.., .. } => 2,
            Counts { previous: 1.., .. } => 1,
            _ => 0,
        };
        state.start.plus(state.window.micros().saturating_mul(windows))
    }

    /// `window` in milliseconds, the number of the current window since the epoch, `current`, `previous`.
    fn to_words(state: &Counts) -> [u64; 4] {
        let (number, _) = div_rem(u128::from(state.start.0), state.window.micros());
        [state.window.millis(), number, state.current, state.previous]
    }

    fn from_words(&[window, number, current, previous]: &[u64; 4]) -> Option<Counts> {
        let window = Window::from_millis(window)?;
        let start = number.checked_mul(window.micros()).filter(|&start| i64::try_from(start).is_ok())?;
        let valid = current <= MAX_COUNT && previous <= MAX_COUNT && (start > 0 || previous == 0);
        valid.then_some(Counts { window, start: Micros(start), current, previous })
    }
}

struct CountsForecast {
    limit: u64,
    counts: Counts,
    now: Micros,
}

impl CountsForecast {
    /// Microseconds from the start of the next window until `count` weighs no more than `room`; the length of the window if
    /// that never happens.
    fn time_until_weight_is(&self, room: u64, count: u64) -> u64 {
        let window = self.counts.window.micros();
        // A count of 0 weighs nothing from the start: the quotient saturates above any window.
        let (covered, _) = div_rem(widening_mul(room, window), count);
        window.saturating_sub(covered)
    }
}

impl Forecast for CountsForecast {
    fn capacity(&self) -> u64 {
        self.limit
    }

    fn remaining(&self) -> u64 {
        let previous = div_ceil(self.counts.weighted_previous(self.now), self.counts.window.micros());
        self.limit.saturating_sub(self.counts.current).saturating_sub(previous)
    }

    fn fits_at(&self, cost: u64) -> Option<Micros> {
        let room = self.limit.checked_sub(cost)?;
        // `current` loses weight as well, one window later. A count that has too much weight until the end of a window
        // has none at the start of the next, in which it is no longer the previous one.
        let at = if let Some(room) = room.checked_sub(self.counts.current) {
            self.counts.start.plus(self.time_until_weight_is(room, self.counts.previous))
        } else {
            let end = self.counts.start.plus(self.counts.window.micros());
            end.plus(self.time_until_weight_is(room, self.counts.current))
        };
        Some(at.max(self.now))
    }
}
