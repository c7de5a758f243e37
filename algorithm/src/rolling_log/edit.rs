//! The change of a rolling log: what a decision does to its entries, and how to write that to the record in as few bytes
//! as possible.

use super::record::{self, Entry, Live, Log, MAX_ENTRIES, Write, offset_of};
use super::{Micros, RollingLog};

/// The most entries that count: one for each moment that the window touches.
const MAX_LIVE_ENTRIES: usize = 4_097;

/// A change of a log. The new log has, in this order:
/// - the first `kept` entries, with totals of at most `cap`;
/// - `entry`;
/// - the entries from `rest` on, with totals raised by `added` (modulo 2⁶⁴: a refund lowers them).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edit {
    pub(super) kept: usize,
    pub(super) cap: u64,
    pub(super) entry: Option<Entry>,
    pub(super) rest: usize,
    pub(super) added: u64,
    /// A total exceeds 64 bits. The log must be written anew, with totals from 0.
    pub(super) overflows: bool,
    /// The log gets longer.
    pub(super) grows: bool,
}

impl Edit {
    /// Whether the record gets longer.
    pub const fn grows(&self) -> bool {
        self.grows
    }
}

/// A log after a change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edited<'a> {
    pub(super) log: Log<'a>,
    pub(super) edit: Option<Edit>,
}

impl Edited<'_> {
    pub(super) fn len(&self) -> usize {
        let len = self.log.entries.len();
        match self.edit {
            None => len,
            Some(Edit { kept, entry, rest, .. }) => {
                kept.saturating_add(usize::from(entry.is_some())).saturating_add(len.saturating_sub(rest))
            }
        }
    }

    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<Entry> {
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
    pub(super) fn units_through(&self, entry: Entry) -> u64 {
        entry.total.wrapping_sub(self.log.live.base)
    }

    #[inline]
    pub(super) fn units(&self) -> u64 {
        let last = self.len().checked_sub(1).and_then(|last| self.get(last));
        last.map_or(0, |last| self.units_through(last))
    }
}

impl RollingLog {
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
        match edit.entry {
            Some(entry) if edit.kept == before => Write::Append(entry.encode()),
            Some(entry) if edit.rest == before => Write::Last { offset: offset_of(edit.kept), bytes: entry.encode() },
            _ => {
                let unchanged = log.entries.partition_point(|entry| Entry::decode(entry).total <= edit.cap);
                let start = unchanged.min(edit.kept);
                let bytes = (start..len).filter_map(|index| after.get(index)).flat_map(Entry::encode).collect();
                Write::Tail { offset: offset_of(start), bytes }
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
        record::whole(entries)
    }
}
