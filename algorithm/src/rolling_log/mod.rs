//! Rolling log: the sliding window log, packed and weighted. A request of any cost is one entry of 15 bytes, and
//! requests in the same moment share an entry.
//!
//! This file decides. `record.rs` is the form in which the log is stored, and `edit.rs` writes a change to it.
//!
//! A moment is a millisecond, or `window / 4096` if that is longer: moment `n` lasts from `n × window / 4096` to
//! `(n + 1) × window / 4096` milliseconds after the epoch. An entry has the time of the latest request in it. So a unit
//! counts for at least a window, and at most one moment longer. As in the sliding window log, the resolution is a
//! millisecond: a unit of millisecond `s` counts before, and not in, `s + window`.
//!
//! The times of a record do not depend on the window, so every policy can read it. If calls with different windows
//! share a key, they divide time into different moments, and one entry can take units under several divisions. Such
//! units can count for more than one moment longer than a window, but never for less than a window.

mod edit;
mod record;

pub use self::edit::Edit;
use self::edit::Edited;
use self::record::entries_of;
pub use self::record::{ENTRY_LEN, Entry, Live, Log, MAX_ENTRIES, TAG, Write};
use super::forecast::ttl_of_denial;
use super::integer::{ceil_seconds, to_i64};
use super::{
    Algorithm, Change, Changed, Cost, Decided, Decision, Forecast, MAX_COUNT, Micros, Policy, SlidingLog,
    Unrepresentable, Verdict,
};
use crate::record::{Letter, Owner};
use crate::reservation::Ended;

/// How many moments a window has. In a window of fewer milliseconds than this, a moment is a millisecond.
const MOMENTS: u64 = 4_096;

/// At most `limit` units in any half-open span of `window`.
///
/// ```
/// use redis_rl_algorithm::rolling_log::{Log, Write};
/// use redis_rl_algorithm::{Algorithm, Change, Cost, Micros, Policy, RollingLog, Window};
///
/// let log = RollingLog::new(&Policy::new(Window::from_millis(60_000).unwrap(), 5)).unwrap();
/// let now = Micros(1_700_000_000_000_000);
/// let four = Cost::new(4).unwrap();
/// let decision = log.decide(Log::EMPTY, now, four).unwrap();
/// assert_eq!((decision.verdict.allowed, decision.verdict.ttl), (true, 60));
/// let Change::Charge(edit) = decision.change else { panic!() };
/// let Write::Whole(record) = log.write(&Log::EMPTY, &edit, now) else { panic!() };
///
/// let later = now.plus(10_000_000);
/// let read = log.read(&record, later).unwrap();
/// let denied = log.decide(read, later, four).unwrap().verdict;
/// assert_eq!((denied.allowed, denied.count, denied.ttl), (false, 4, 50));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RollingLog {
    /// The same window, limit and expiry.
    sliding: SlidingLog,
    limit: u64,
    pub(super) window_ms: u64,
}

impl Owner for Letter<'R'> {
    type Algorithm = RollingLog;
}

impl RollingLog {
    /// The entries of a record, and which of them count. `None` if no log is written so.
    ///
    /// Only the entries that a binary search meets are looked at. A record that is damaged elsewhere counts too much or
    /// too little, but reads as some record.
    #[inline]
    pub fn read<'a>(&self, record: &'a [u8], now: Micros) -> Option<Log<'a>> {
        let entries = entries_of(record)?;
        let first = match self.sliding.expired_through(now) {
            // Nothing has expired yet in the first window of a key.
            Some(expired) if Entry::decode(entries.first()?).millis <= expired => {
                entries.partition_point(|entry| Entry::decode(entry).millis <= expired)
            }
            _ => 0,
        };
        let before = first.checked_sub(1).and_then(|index| entries.get(index));
        let base = before.map_or(0, |entry| Entry::decode(entry).total);
        let last = Entry::decode(entries.last()?);
        (last.total >= base).then_some(Log { entries, live: Live { first, base } })
    }

    /// Gives back what has ended, in the order of the charges: [`Algorithm::refunding`] of each in one pass. Returns the
    /// new record: an empty one if nothing counts any more, `None` if nothing was given back.
    pub fn give_back(&self, log: &Log<'_>, now: Micros, ended: &mut [Ended]) -> Option<Vec<u8>> {
        let mut before = log.live.base;
        let counted = log.entries.get(log.live.first..).unwrap_or_default().iter().map(Entry::decode);
        let mut entries: Vec<(u64, u64)> = counted
            .map(|entry| {
                let units = entry.total.saturating_sub(before);
                before = before.max(entry.total);
                (entry.millis, units)
            })
            .collect();
        // The entries up to the time of a charge, the newest last.
        let (mut reached, mut older) = (0, Vec::<usize>::new());
        let mut changed = false;
        for one in ended.iter_mut().filter(|one| one.holds_units(now)) {
            let at = one.was.charged_at;
            let through = entries.partition_point(|&(millis, _)| millis <= at);
            let exact = through.checked_sub(1).and_then(|last| entries.get(last)).is_some_and(|last| last.0 == at);
            let later = entries.get(through).is_some_and(|&(millis, _)| !exact && self.same_moment(millis, at));
            let end = through.saturating_add(usize::from(later));
            older.extend(reached..end);
            reached = reached.max(end);
            let mut left = one.was.units();
            while let (1.., Some(&newest)) = (left, older.last()) {
                let Some((_, units)) = entries.get_mut(newest) else { break };
                let taken = left.min(*units);
                *units = units.saturating_sub(taken);
                left = left.saturating_sub(taken);
                one.given_back |= taken > 0;
                if *units == 0 {
                    older.pop();
                }
            }
            changed |= one.given_back;
        }
        if !changed {
            return None;
        }
        let mut total = 0_u64;
        let rest = entries.into_iter().filter(|&(_, units)| units > 0).map(|(millis, units)| {
            total = total.saturating_add(units);
            Entry { millis, total }
        });
        let rest: Vec<Entry> = rest.collect();
        Some(if rest.is_empty() { Vec::new() } else { record::whole(rest) })
    }

    /// Adds units of a time at which they count.
    fn charge(&self, log: &Log<'_>, at: u64, units: u64) -> Edit {
        let index = log.count_through(at);
        let (before, after) = (log.live_before(index), log.get(index));
        let overflows = log.last().is_some_and(|last| last.total.checked_add(units).is_none());
        let edit = Edit { kept: index, cap: u64::MAX, entry: None, rest: index, added: units, overflows, grows: false };
        let entry = |millis, total: u64| Some(Entry { millis, total: total.wrapping_add(units) });
        match (before, after) {
            (Some(before), _) if self.same_moment(before.millis, at) => {
                Edit { kept: index.saturating_sub(1), entry: entry(at, before.total), ..edit }
            }
            (_, Some(after)) if self.same_moment(after.millis, at) => {
                Edit { rest: index.saturating_add(1), entry: entry(after.millis, after.total), ..edit }
            }
            (before, _) => {
                let total = before.map_or(log.live.base, |before| before.total);
                Edit { entry: entry(at, total), grows: true, ..edit }
            }
        }
    }

    /// Moves the entries that are ahead of the clock to now.
    fn move_ahead_to_now(&self, log: &Log<'_>, now: u64) -> Edit {
        let index = log.count_through(now);
        let joins = log.live_before(index).is_some_and(|before| self.same_moment(before.millis, now));
        Edit {
            kept: index.saturating_sub(usize::from(joins)),
            cap: u64::MAX,
            entry: log.last().map(|last| Entry { millis: now, total: last.total }),
            rest: log.entries.len(),
            added: 0,
            overflows: false,
            grows: false,
        }
    }

    /// Whether two times are in the same moment.
    #[inline]
    fn same_moment(&self, a: u64, b: u64) -> bool {
        let moment = |millis: u64| u128::from(millis).saturating_mul(MOMENTS.into()).checked_div(self.window_ms.into());
        let near = a.abs_diff(b) < self.window_ms.div_ceil(MOMENTS);
        a == b || near && self.window_ms > MOMENTS && moment(a) == moment(b)
    }

    /// The expiry to set after a call on an existing key: see [`SlidingLog::new_expiry`].
    #[inline]
    pub const fn new_expiry(&self, expires_at: Option<u64>, now: Micros) -> Option<u64> {
        self.sliding.new_expiry(expires_at, now)
    }
}

impl Algorithm for RollingLog {
    type State<'s> = Log<'s>;
    type Change = Edit;

    fn new(policy: &Policy) -> Result<Self, Unrepresentable> {
        Ok(Self { sliding: SlidingLog::new(policy)?, limit: policy.limit, window_ms: policy.window().millis() })
    }

    /// `count` is the units in the window before it. `ttl` is the time until the whole limit is
    /// available or, on a denial, until the same request is allowed.
    #[inline]
    fn decide(&self, log: Log<'_>, now: Micros, cost: Cost) -> Decided<Edit> {
        let units = log.units();
        let allowed = units.checked_add(cost.needed()).is_some_and(|after| after <= self.limit);
        let change = if allowed && cost != Cost::ZERO {
            Change::Charge(self.charge(&log, now.millis(), cost.units()))
        } else if !allowed && units > 0 && log.last().is_some_and(|last| last.millis > now.millis()) {
            Change::Rebase(self.move_ahead_to_now(&log, now.millis()))
        } else {
            Change::Keep
        };
        let ttl = {
            let forecast = self.forecast(log, &change, now);
            if allowed {
                forecast.fits_at(self.limit).map_or(-1, |at| ceil_seconds(at.since(now)))
            } else {
                ttl_of_denial(&forecast, now, cost.needed())
            }
        };
        Ok(Decision {
            verdict: Verdict { allowed, count: to_i64(units), ttl },
            delay: 0,
            change,
            needed: cost.needed(),
        })
    }

    /// Takes the newest units; with `at`, the units of that moment, then the nearest older ones.
    fn refunding(&self, log: Log<'_>, _now: Micros, at: Option<Micros>, cost: Cost) -> Change<Edit> {
        let end = match at.map(Micros::millis) {
            None => log.entries.len(),
            Some(at) => {
                let through = log.count_through(at);
                let exact = log.live_before(through).is_some_and(|entry| entry.millis == at);
                // An entry has the time of its latest request.
                let later = log.get(through).is_some_and(|entry| !exact && self.same_moment(entry.millis, at));
                through.saturating_add(usize::from(later))
            }
        };
        let total = log.live_before(end).map_or(log.live.base, |entry| entry.total);
        let count = cost.units().min(total.saturating_sub(log.live.base));
        match count {
            0 => Change::Keep,
            _ if count == log.units() => Change::Delete,
            _ => Change::Refund(Edit {
                kept: end,
                cap: total.saturating_sub(count),
                entry: None,
                rest: end,
                added: 0_u64.wrapping_sub(count),
                overflows: false,
                grows: false,
            }),
        }
    }

    /// With `at`, as of that time, or nothing if its window has passed.
    fn overcharging(&self, log: Log<'_>, now: Micros, at: Option<Micros>, cost: Cost) -> Changed<Edit> {
        let at = at.unwrap_or(now).min(now);
        let expired = at < now && self.sliding.expired_through(now).is_some_and(|expired| at.millis() <= expired);
        if expired || cost == Cost::ZERO {
            return Ok(Change::Keep);
        }
        if log.units().saturating_add(cost.units()) > MAX_COUNT {
            return Err(Unrepresentable::Overflow);
        }
        Ok(Change::Charge(self.charge(&log, at.millis(), cost.units())))
    }

    fn counts_until(&self, _log: Log<'_>, _change: &Change<Edit>, now: Micros) -> u64 {
        now.millis().saturating_add(self.window_ms)
    }

    #[inline]
    fn forecast(&self, log: Self::State<'_>, change: &Change<Edit>, now: Micros) -> impl Forecast {
        let log = if matches!(change, Change::Delete) { Log::EMPTY } else { log };
        RollingForecast { algorithm: *self, after: Edited { log, edit: change.state().copied() }, now }
    }
}

struct RollingForecast<'a> {
    algorithm: RollingLog,
    after: Edited<'a>,
    now: Micros,
}

impl Forecast for RollingForecast<'_> {
    fn capacity(&self) -> u64 {
        self.algorithm.limit
    }

    fn remaining(&self) -> u64 {
        self.algorithm.limit.saturating_sub(self.after.units())
    }

    #[inline]
    fn fits_at(&self, cost: u64) -> Option<Micros> {
        let room = self.algorithm.limit.checked_sub(cost)?;
        let Some(must_leave) = self.after.units().checked_sub(room).filter(|&units| units > 0) else {
            return Some(self.now);
        };
        let stays = |index| self.after.get(index).is_some_and(|entry| self.after.units_through(entry) >= must_leave);
        // The last unit to leave is in an entry from `low` to `high`. Most often it is the first one, or the last one.
        let (mut low, mut high) = (self.after.log.live.first, self.after.len().saturating_sub(1));
        if stays(low) {
            high = low;
        } else if !stays(high.saturating_sub(1)) {
            low = high;
        }
        while low < high {
            let middle = low.midpoint(high);
            if stays(middle) {
                high = middle;
            } else {
                low = middle.saturating_add(1);
            }
        }
        let last_to_leave = self.after.get(low)?;
        let leaves = last_to_leave.millis.saturating_add(self.algorithm.window_ms);
        Some(Micros::from_millis(leaves).max(self.now))
    }
}
