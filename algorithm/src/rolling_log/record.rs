//! The record of a rolling log: [`TAG`], then entries in the order of time. An entry is a millisecond (7 bytes) and the
//! total of all units up to it (8 bytes), both little-endian.
//!
//! The units in a window are the difference of two totals, and binary search finds both in place. Totals may start
//! anywhere, since only differences count.

use crate::record::Letter;

/// The start of every record.
pub const TAG: [u8; 2] = Letter::<'R'>::BYTES;

/// The length of an entry in bytes.
pub const ENTRY_LEN: usize = 15;

/// The most entries of a record.
pub const MAX_ENTRIES: usize = 8_192;

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
    #[inline]
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
    pub(super) entries: &'a [[u8; ENTRY_LEN]],
    pub(super) live: Live,
}

/// The part of a log that counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// The first entry that counts.
    pub(super) first: usize,
    /// The total before that entry.
    pub(super) base: u64,
}

impl<'a> Log<'a> {
    /// The log of a key that does not exist.
    pub const EMPTY: Self = Self { entries: &[], live: Live { first: 0, base: 0 } };

    /// The log of a record that [`RollingLog::read`](crate::RollingLog::read) has read before, without another search. The
    /// record must be the same.
    #[inline]
    pub fn again(record: &'a [u8], live: Live) -> Self {
        Self { entries: entries_of(record).unwrap_or_default(), live }
    }

    /// For [`Log::again`].
    #[inline]
    pub const fn live(&self) -> Live {
        self.live
    }

    /// The units that count.
    #[inline]
    pub fn units(&self) -> u64 {
        self.last().map_or(0, |last| last.total.wrapping_sub(self.live.base))
    }

    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<Entry> {
        self.entries.get(index).map(Entry::decode)
    }

    #[inline]
    pub(super) fn last(&self) -> Option<Entry> {
        self.entries.last().map(Entry::decode)
    }

    /// The number of entries up to and including a millisecond.
    #[inline]
    pub(super) fn count_through(&self, millis: u64) -> usize {
        match self.last() {
            // The clock seldom steps back.
            Some(last) if last.millis > millis => {
                self.entries.partition_point(|entry| Entry::decode(entry).millis <= millis)
            }
            _ => self.entries.len(),
        }
    }

    /// The entry before `index`, if it counts.
    #[inline]
    pub(super) fn live_before(&self, index: usize) -> Option<Entry> {
        if index > self.live.first { self.get(index.checked_sub(1)?) } else { None }
    }
}

/// The entries of a record, oldest first. `None` if it cannot be a record.
#[inline]
pub(super) fn entries_of(record: &[u8]) -> Option<&[[u8; ENTRY_LEN]]> {
    let (tag, entries) = record.split_first_chunk()?;
    let (entries, rest) = entries.as_chunks();
    (*tag == TAG && rest.is_empty() && (1..=MAX_ENTRIES).contains(&entries.len())).then_some(entries)
}

/// The record of these entries.
#[inline]
pub(super) fn whole(entries: impl IntoIterator<Item = Entry>) -> Vec<u8> {
    TAG.into_iter().chain(entries.into_iter().flat_map(Entry::encode)).collect()
}

/// Where an entry is in a record, in bytes.
#[inline]
pub(super) const fn offset_of(index: usize) -> usize {
    index.saturating_mul(ENTRY_LEN).saturating_add(TAG.len())
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
    #[inline]
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
