//! Rolling log: the sliding window log, packed and weighted. A request of any cost is one entry of 15 bytes, and
//! requests in the same moment share an entry.
//!
//! A record is [`TAG`], then entries in the order of time. An entry is a millisecond (7 bytes) and the total of all
//! units up to it (8 bytes), both little-endian. The units in a window are the difference of two totals, and binary
//! search finds both in place.
//!
//! A moment is a millisecond, or `window / 4096` if that is longer: moment `n` lasts from `n × window / 4096` to
//! `(n + 1) × window / 4096` milliseconds after the epoch. An entry has the time of the latest request in it. So a unit
//! counts for at least a window, and at most one moment longer. As in the sliding window log, the resolution is a
//! millisecond: a unit of millisecond `s` counts before, and not in, `s + window`.
//!
//! The times of a record do not depend on the window, so every policy can read it. Where calls with different windows
//! share a key, an entry can gather units under several divisions into moments; its units then count for longer than
//! one moment more, but never for less than a window.

use super::arithmetic::{ceil_seconds, to_i64};
use super::forecast::ttl_of_denial;
use super::{
    Change, Cost, Decision, Forecast, MAX_COUNT, Micros, Policy, SlidingLog, Unrepresentable, Verdict, Window,
};

/// The start of every record.
pub const TAG: [u8; 2] = *b"R:";

/// The length of an entry in bytes.
pub const ENTRY_LEN: usize = 15;

/// The most entries of a record.
pub const MAX_ENTRIES: usize = 8_192;

/// The most entries that count: one for each moment that the window touches.
const MAX_LIVE_ENTRIES: usize = 4_097;

/// The moments of a window that is longer than so many milliseconds.
const MOMENTS: u64 = 4_096;

/// At most `limit` units in any half-open span of `window`.
///
/// ```
/// use redis_rl::algorithm::rolling_log::{Log, Write};
/// use redis_rl::algorithm::{Change, Cost, Micros, Policy, RollingLog, Window};
///
/// let log = RollingLog::new(&Policy::new(Window::from_millis(60_000).unwrap(), 5));
/// let now = Micros(1_700_000_000_000_000);
/// let four = Cost::new(4).unwrap();
/// let decision = log.decide(&Log::EMPTY, now, four);
/// assert_eq!((decision.verdict.allowed, decision.verdict.ttl), (true, 60));
/// let Change::Charge(edit) = decision.change else { panic!() };
/// let Write::Whole(record) = log.write(&Log::EMPTY, &edit, now) else { panic!() };
///
/// let later = now.plus(10_000_000);
/// let read = log.read(&record, later).unwrap();
/// let denied = log.decide(&read, later, four).verdict;
/// assert_eq!((denied.allowed, denied.count, denied.ttl), (false, 4, 50));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RollingLog {
    /// The same window, limit and expiry.
    sliding: SlidingLog,
    limit: u64,
    window_ms: u64,
}

/// An entry: the latest millisecond of its units, and the total of all units up to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Milliseconds since the epoch, less than 2⁵⁶. (2⁶⁴ microseconds are less than that.)
    pub millis: u64,
    /// The units of this entry and of all before it in the record.
    pub total: u64,
}

impl Entry {
    /// The bytes of the entry.
    pub const fn encode(self) -> [u8; ENTRY_LEN] {
        let [a, b, c, d, e, f, g, _] = self.millis.to_le_bytes();
        let [s, t, u, v, w, x, y, z] = self.total.to_le_bytes();
        [a, b, c, d, e, f, g, s, t, u, v, w, x, y, z]
    }

    /// The entry of these bytes.
    #[inline]
    pub const fn decode(&[a, b, c, d, e, f, g, s, t, u, v, w, x, y, z]: &[u8; ENTRY_LEN]) -> Self {
        let millis = u64::from_le_bytes([a, b, c, d, e, f, g, 0]);
        let total = u64::from_le_bytes([s, t, u, v, w, x, y, z]);
        Self { millis, total }
    }
}

/// The entries of a record, and which of them count.
#[derive(Clone, Copy, Debug)]
pub struct Log<'a> {
    entries: &'a [[u8; ENTRY_LEN]],
    live: Live,
}

/// The part of a log that counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// The first entry that counts.
    first: usize,
    /// The total before that entry.
    base: u64,
}

impl<'a> Log<'a> {
    /// The log of a key that does not exist.
    pub const EMPTY: Self = Self { entries: &[], live: Live { first: 0, base: 0 } };

    /// The log of a record that [`RollingLog::read`] has read before, without another search. The record must be the
    /// same.
    #[inline]
    pub fn again(record: &'a [u8], live: Live) -> Self {
        Self { entries: entries_of(record).unwrap_or_default(), live }
    }

    /// For [`Log::again`].
    pub const fn live(&self) -> Live {
        self.live
    }

    /// The units that count.
    #[inline]
    pub fn units(&self) -> u64 {
        self.last().map_or(0, |last| last.total.wrapping_sub(self.live.base))
    }

    fn get(&self, index: usize) -> Option<Entry> {
        self.entries.get(index).map(Entry::decode)
    }

    fn last(&self) -> Option<Entry> {
        self.entries.last().map(Entry::decode)
    }

    /// The number of entries up to and including a millisecond.
    fn count_through(&self, millis: u64) -> usize {
        match self.last() {
            // The clock seldom steps back.
            Some(last) if last.millis > millis => {
                self.entries.partition_point(|entry| Entry::decode(entry).millis <= millis)
            }
            _ => self.entries.len(),
        }
    }

    /// The entry before `index`, if it counts.
    fn live_before(&self, index: usize) -> Option<Entry> {
        if index > self.live.first { self.get(index.checked_sub(1)?) } else { None }
    }
}

/// The entries of a record, oldest first. `None` if it cannot be a record.
#[inline]
fn entries_of(record: &[u8]) -> Option<&[[u8; ENTRY_LEN]]> {
    let (tag, entries) = record.split_first_chunk()?;
    let (entries, rest) = entries.as_chunks();
    (*tag == TAG && rest.is_empty() && (1..=MAX_ENTRIES).contains(&entries.len())).then_some(entries)
}

/// A change of a log. The new log has, in this order:
/// - the first `kept` entries, with totals of at most `cap`;
/// - `entry`;
/// - the entries from `rest` on, with totals raised by `added` (modulo 2⁶⁴: a refund lowers them).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edit {
    kept: usize,
    cap: u64,
    entry: Option<Entry>,
    rest: usize,
    added: u64,
    /// A total exceeds 64 bits. The log must be written anew, with totals from 0.
    overflows: bool,
    /// The log gets longer.
    grows: bool,
}

impl Edit {
    /// Whether the record gets longer.
    pub const fn grows(&self) -> bool {
        self.grows
    }
}

/// How to write a change of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// A new entry at the end of the record.
    Append([u8; ENTRY_LEN]),
    /// The last entry, at this offset.
    Last {
        /// In bytes.
        offset: usize,
        /// The entry.
        bytes: [u8; ENTRY_LEN],
    },
    /// The rest of the record, from this offset on. The record does not get shorter.
    Tail {
        /// In bytes.
        offset: usize,
        /// The new bytes.
        bytes: Vec<u8>,
    },
    /// A new record.
    Whole(Vec<u8>),
}

impl Write {
    /// Writes to a record in memory.
    ///
    /// ```
    /// use redis_rl::algorithm::rolling_log::Write;
    ///
    /// let mut record = b"abc".to_vec();
    /// Write::Tail { offset: 2, bytes: b"def".to_vec() }.apply_to(&mut record);
    /// assert_eq!(record, b"abdef");
    /// ```
    pub fn apply_to(self, record: &mut Vec<u8>) {
        let (offset, bytes) = match self {
            Self::Whole(bytes) => (0, bytes),
            Self::Tail { offset, bytes } => (offset, bytes),
            Self::Last { offset, bytes } => (offset, bytes.to_vec()),
            Self::Append(bytes) => (record.len(), bytes.to_vec()),
        };
        record.truncate(offset);
        record.extend(bytes);
    }
}

impl RollingLog {
    /// The algorithm under a policy.
    pub const fn new(policy: &Policy) -> Self {
        Self { sliding: SlidingLog::new(policy), limit: policy.limit, window_ms: policy.window().millis() }
    }

    /// The length of the window.
    pub const fn window(&self) -> Window {
        self.sliding.window()
    }

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

    /// Decides on a request. `count` is the units in the window before it. `ttl` is the time until the whole limit is
    /// available or, on a denial, until the same request is allowed.
    #[inline]
    pub fn decide(&self, log: &Log<'_>, now: Micros, cost: Cost) -> Decision<Edit> {
        let units = log.units();
        let allowed = units.checked_add(cost.needed()).is_some_and(|after| after <= self.limit);
        let change = if allowed && cost != Cost::ZERO {
            Change::Charge(self.charge(log, now.millis(), cost.units()))
        } else if !allowed && units > 0 && log.last().is_some_and(|last| last.millis > now.millis()) {
            Change::Rebase(self.move_ahead_to_now(log, now.millis()))
        } else {
            Change::Keep
        };
        let ttl = {
            let forecast = self.forecast(log, &change, now);
            if allowed {
                forecast.fits_at(self.limit).map_or(-1, |at| ceil_seconds(at.since(now)))
            } else {
                ttl_of_denial(&forecast, now, cost)
            }
        };
        Decision { verdict: Verdict { allowed, count: to_i64(units), ttl }, delay: 0, change }
    }

    /// Gives `cost` units back: the newest; with `at`, those of that moment, then the nearest older ones.
    pub fn refund(&self, log: &Log<'_>, at: Option<Micros>, cost: Cost) -> Change<Edit> {
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

    /// Charges `cost` units whatever the limit says; with `at`, as of that time, or nothing if its window has passed.
    ///
    /// # Errors
    /// [`Unrepresentable::Overflow`] if more than [`MAX_COUNT`] units would count.
    pub fn overcharge(
        &self,
        log: &Log<'_>,
        now: Micros,
        at: Option<Micros>,
        cost: Cost,
    ) -> Result<Change<Edit>, Unrepresentable> {
        let at = at.unwrap_or(now).min(now);
        let expired = at < now && self.sliding.expired_through(now).is_some_and(|expired| at.millis() <= expired);
        if expired || cost == Cost::ZERO {
            return Ok(Change::Keep);
        }
        if log.units().saturating_add(cost.units()) > MAX_COUNT {
            return Err(Unrepresentable::Overflow);
        }
        Ok(Change::Charge(self.charge(log, at.millis(), cost.units())))
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

    /// What the log allows after a change.
    #[inline]
    pub fn forecast<'a>(&self, log: &Log<'a>, change: &Change<Edit>, now: Micros) -> RollingForecast<'a> {
        let log = if matches!(change, Change::Delete) { Log::EMPTY } else { *log };
        RollingForecast { algorithm: *self, after: Edited { log, edit: change.state().copied() }, now }
    }

    /// How to write a change, in as few bytes as possible. Entries that no longer count are removed when half of the
    /// record is such.
    #[inline]
    pub fn write(&self, log: &Log<'_>, edit: &Edit, now: Micros) -> Write {
        let after = Edited { log: *log, edit: Some(*edit) };
        let (before, len, first) = (log.entries.len(), after.len(), log.live.first);
        let half_is_dead = first > 0 && first.saturating_mul(2) >= before;
        if before == 0 || half_is_dead || edit.overflows || len < before || len > MAX_ENTRIES {
            return Write::Whole(self.rewrite(&after, now));
        }
        let offset = |index: usize| index.saturating_mul(ENTRY_LEN).saturating_add(TAG.len());
        match edit.entry {
            Some(entry) if edit.kept == before => Write::Append(entry.encode()),
            Some(entry) if edit.rest == before => Write::Last { offset: offset(edit.kept), bytes: entry.encode() },
            _ => {
                let unchanged = log.entries.partition_point(|entry| Entry::decode(entry).total <= edit.cap);
                let start = unchanged.min(edit.kept);
                let bytes = (start..len).filter_map(|index| after.get(index)).flat_map(Entry::encode).collect();
                Write::Tail { offset: offset(start), bytes }
            }
        }
    }

    /// A record of the units that count, with totals from 0.
    #[cold]
    fn rewrite(&self, after: &Edited<'_>, now: Micros) -> Vec<u8> {
        let Live { first, base } = after.log.live;
        let mut entries = Vec::<Entry>::with_capacity(after.len().saturating_sub(first));
        for entry in (first..after.len()).filter_map(|index| after.get(index)) {
            let entry = Entry { total: entry.total.wrapping_sub(base), ..entry };
            match entries.last_mut() {
                None if entry.total == 0 => {}
                None => entries.push(entry),
                Some(last) if last.total == entry.total => {}
                Some(_) => entries.push(entry),
            }
        }
        // Calls with shorter windows left more than one entry for a moment. Elsewhere such entries stay apart: the
        // figures of the reply are theirs.
        if entries.len() > MAX_LIVE_ENTRIES {
            entries.dedup_by(|later, entry| {
                let same = self.same_moment(later.millis, entry.millis);
                if same {
                    *entry = *later;
                }
                same
            });
        }
        // A clock that stepped back can leave more: one entry for each moment ahead of the clock. They become one, which
        // counts until the last of them would.
        if entries.len() > MAX_ENTRIES {
            let ahead = entries.partition_point(|entry| entry.millis <= now.millis());
            let last = entries.last().copied();
            entries.truncate(ahead.min(MAX_ENTRIES.saturating_sub(1)));
            entries.extend(last);
        }
        TAG.into_iter().chain(entries.into_iter().flat_map(Entry::encode)).collect()
    }

    /// The expiry to set after a call on an existing key: see [`SlidingLog::new_expiry`].
    #[inline]
    pub const fn new_expiry(&self, expires_at: Option<u64>, now: Micros) -> Option<u64> {
        self.sliding.new_expiry(expires_at, now)
    }
}

/// A log after a change.
#[derive(Clone, Copy, Debug)]
struct Edited<'a> {
    log: Log<'a>,
    edit: Option<Edit>,
}

impl Edited<'_> {
    fn len(&self) -> usize {
        let len = self.log.entries.len();
        match self.edit {
            None => len,
            Some(Edit { kept, entry, rest, .. }) => {
                kept.saturating_add(usize::from(entry.is_some())).saturating_add(len.saturating_sub(rest))
            }
        }
    }

    #[inline]
    fn get(&self, index: usize) -> Option<Entry> {
        let Some(Edit { kept, cap, entry, rest, added, .. }) = self.edit else { return self.log.get(index) };
        let Some(after) = index.checked_sub(kept) else {
            return self.log.get(index).map(|entry| Entry { total: entry.total.min(cap), ..entry });
        };
        let after = match (entry, after.checked_sub(usize::from(entry.is_some()))) {
            (Some(_), None) => return entry,
            (_, after) => after.unwrap_or(0),
        };
        let moved = self.log.get(rest.saturating_add(after))?;
        Some(Entry { total: moved.total.wrapping_add(added), ..moved })
    }

    /// The units of the entries that count, up to and including one.
    #[inline]
    fn units_through(&self, entry: Entry) -> u64 {
        entry.total.wrapping_sub(self.log.live.base)
    }

    #[inline]
    fn units(&self) -> u64 {
        let last = self.len().checked_sub(1).and_then(|last| self.get(last));
        last.map_or(0, |last| self.units_through(last))
    }
}

/// The result of [`RollingLog::forecast`].
#[derive(Clone, Copy, Debug)]
pub struct RollingForecast<'a> {
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
