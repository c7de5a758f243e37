//! The keys that are denied most: a Space-Saving sketch, which needs a fixed amount of memory whatever the traffic.
//!
//! It counts a fixed number of keys. A key that is not among them replaces the key with the lowest count. It starts from
//! that count, since it can have been denied as often before. So a count is never too low. It is too high by at most the
//! count that it started from, which is stored with it. A key that is not in the sketch was denied at most
//! [`Sketch::error_bound`] times.
//!
//! Source: Metwally, Agrawal, El Abbadi, "Efficient Computation of Frequent and Top-k Elements in Data Streams", 2005.

use std::cmp::Reverse;
use std::hash::{BuildHasher, Hasher};

use arrayvec::ArrayVec;
use foldhash::fast::SeedableRandomState;
use hashbrown::HashTable;
use redis_rl_algorithm::Micros;

/// The longest key that is stored, in bytes. A longer one is cut.
pub const MAX_KEY: usize = 256;
/// Longer than any window: 20 digits and a unit, or a word of the calendar.
const MAX_WINDOW: usize = 24;

/// The limit of a denial, as the call wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written<'a> {
    pub window: &'a [u8],
    pub limit: u64,
    /// In Unix seconds.
    pub anchor: Option<u64>,
}

/// A key, and how often it was denied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied<'a> {
    /// At most [`MAX_KEY`] bytes.
    pub key: &'a [u8],
    /// The number of its algorithm in the table.
    pub algorithm: u8,
    /// How often: never too low.
    pub count: u64,
    /// By how much `count` can be too high.
    pub error: u64,
    /// The last time, in Unix milliseconds.
    pub last_ms: u64,
    /// The limit of that time.
    pub last: Written<'a>,
}

/// The keys with the highest counts. A key stays in its slot while its rank changes; the table finds the slot of a key.
pub struct Sketch {
    capacity: usize,
    /// By rank: the highest count first.
    ranks: Vec<Rank>,
    slots: Vec<Counted>,
    /// The rank that was incremented last. While each key is denied once, the next count to increment begins after it.
    last_rank: usize,
    /// The slot of each key, by its hash.
    table: HashTable<usize>,
    /// Seeded, so that a client does not know which keys collide.
    hasher: SeedableRandomState,
    /// The highest count that was dropped when the capacity was changed. No count is lower.
    dropped: u64,
}

/// A count, and the slot of its key.
#[derive(Clone, Copy)]
struct Rank {
    count: u64,
    slot: usize,
}

/// A key that is counted.
struct Counted {
    hash: u64,
    /// Where in `ranks` its count is.
    rank: usize,
    key: ArrayVec<u8, MAX_KEY>,
    algorithm: u8,
    error: u64,
    last: Micros,
    window: ArrayVec<u8, MAX_WINDOW>,
    limit: u64,
    anchor: Option<u64>,
}

impl Counted {
    #[inline(always)]
    fn set_last(&mut self, now: Micros, written: Written<'_>) {
        (self.last, self.limit, self.anchor) = (now, written.limit, written.anchor);
        self.window.clear();
        // It fits: what parses as a window is that short.
        let _ = self.window.try_extend_from_slice(written.window);
    }
}

/// Whether two keys are equal. A call of memcmp costs more than the comparison of a short key.
#[inline(always)]
fn same_key(a: &[u8], b: &[u8]) -> bool {
    if a.len() <= 16 { a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b) } else { a == b }
}

/// A table for so many keys and one more. With twice the room, a key that is replaced never makes it grow.
fn table_for(capacity: usize) -> HashTable<usize> {
    HashTable::with_capacity(capacity.saturating_add(1).saturating_mul(2))
}

/// Returns the hash of the key in a slot, for the table.
fn hash_of(slots: &[Counted]) -> impl Fn(&usize) -> u64 {
    |&slot| slots.get(slot).map_or(0, |counted| counted.hash)
}

impl Sketch {
    /// A sketch that counts `capacity` keys.
    pub fn new(capacity: usize) -> Self {
        let (ranks, slots, table) = (Vec::new(), Vec::new(), table_for(capacity));
        Self { capacity, ranks, slots, last_rank: 0, table, hasher: SeedableRandomState::random(), dropped: 0 }
    }

    /// How many keys are counted now.
    pub fn len(&self) -> usize {
        self.ranks.len()
    }

    /// The most that a key which is not counted can have been denied.
    pub fn error_bound(&self) -> u64 {
        match self.ranks.last() {
            Some(&Rank { count: lowest, .. }) if self.ranks.len() >= self.capacity => lowest,
            _ => self.dropped,
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.ranks.clear();
        self.slots.clear();
        self.table.clear();
        self.dropped = 0;
    }

    /// Changes the number of keys. If it shrinks, the keys with the highest counts stay.
    #[inline(always)]
    pub fn set_capacity(&mut self, capacity: usize) {
        if capacity != self.capacity {
            self.change_capacity(capacity);
        }
    }

    #[cold]
    fn change_capacity(&mut self, capacity: usize) {
        // A key that was replaced before can have been denied so often, and so can the first key that is dropped now.
        let first_to_go = self.ranks.get(capacity).map_or(0, |first| first.count);
        self.dropped = self.error_bound().max(first_to_go);
        self.capacity = capacity;
        self.ranks.truncate(capacity);
        self.slots.sort_unstable_by_key(|key| key.rank);
        self.slots.truncate(capacity);
        self.ranks.iter_mut().enumerate().for_each(|(at, rank)| rank.slot = at);
        // A denial then allocates nothing.
        self.ranks.shrink_to(capacity);
        self.ranks.reserve_exact(capacity.saturating_sub(self.ranks.len()));
        self.slots.shrink_to(capacity);
        self.slots.reserve_exact(capacity.saturating_sub(self.slots.len()));
        self.fill_table();
    }

    /// Counts a denial.
    #[inline(always)]
    pub fn record(&mut self, key: &[u8], algorithm: u8, now: Micros, written: Written<'_>) {
        let key = key.get(..MAX_KEY).unwrap_or(key);
        let hash = self.hash(key, algorithm);
        let is_same = |&slot: &usize| {
            self.slots.get(slot).is_some_and(|c| c.hash == hash && c.algorithm == algorithm && same_key(&c.key, key))
        };
        let found = self.table.find(hash, is_same).copied();
        let Some(slot) = found.or_else(|| self.take_slot(hash, key, algorithm)) else { return };
        let Some(counted) = self.slots.get_mut(slot) else { return };
        counted.set_last(now, written);
        let rank = counted.rank;
        if let Some(&Rank { count, .. }) = self.ranks.get(rank) {
            self.increment(rank, count, slot);
        }
    }

    /// The slot of a new key: that of the key with the lowest count, or a new one. The new key has the count that it can have
    /// at most. `None` if the capacity is 0.
    #[inline(always)]
    fn take_slot(&mut self, hash: u64, key: &[u8], algorithm: u8) -> Option<usize> {
        let slot = if self.ranks.len() < self.capacity {
            let slot = self.slots.len();
            self.ranks.push(Rank { count: self.dropped, slot });
            let (key, window, last, error) = (ArrayVec::new(), ArrayVec::new(), Micros(0), self.dropped);
            self.slots.push(Counted { hash, rank: slot, key, algorithm, error, last, window, limit: 0, anchor: None });
            slot
        } else {
            let &Rank { count, slot } = self.ranks.last()?;
            let counted = self.slots.get_mut(slot)?;
            if let Ok(entry) = self.table.find_entry(counted.hash, |&other| other == slot) {
                entry.remove();
            }
            (counted.hash, counted.algorithm, counted.error) = (hash, algorithm, count);
            slot
        };
        self.table.insert_unique(hash, slot, hash_of(&self.slots));
        let counted = self.slots.get_mut(slot)?;
        counted.key.clear();
        // It fits: the caller has cut it.
        let _ = counted.key.try_extend_from_slice(key);
        Some(slot)
    }

    /// Writes the table anew.
    fn fill_table(&mut self) {
        self.table = table_for(self.capacity);
        for (slot, counted) in self.slots.iter().enumerate() {
            self.table.insert_unique(counted.hash, slot, hash_of(&self.slots));
        }
    }

    /// Adds one to the count of a key. The count moves before those that are equal, which keeps the order.
    fn increment(&mut self, rank: usize, count: u64, slot: usize) {
        let first = self.first_of(count, rank);
        self.last_rank = first;
        let Some(place) = self.ranks.get_mut(first) else { return };
        let moved = std::mem::replace(place, Rank { count: count.saturating_add(1), slot });
        if moved.slot != slot {
            if let Some(place) = self.ranks.get_mut(rank) {
                *place = moved;
            }
            if let Some(counted) = self.slots.get_mut(moved.slot) {
                counted.rank = rank;
            }
            if let Some(counted) = self.slots.get_mut(slot) {
                counted.rank = first;
            }
        }
    }

    /// The first rank of a count, which `rank` has too.
    #[inline(always)]
    fn first_of(&self, count: u64, rank: usize) -> usize {
        // A key that is denied often is the only one with its count.
        let before = rank.checked_sub(1).and_then(|before| self.ranks.get(before));
        if before.is_none_or(|before| before.count > count) {
            return rank;
        }
        if let Some([before, next, ..]) = self.ranks.get(self.last_rank..)
            && before.count > count
            && next.count == count
        {
            return self.last_rank.saturating_add(1);
        }
        self.ranks.partition_point(|other| other.count > count)
    }

    /// The `count` keys that were denied most, the highest count first.
    pub fn top(&self, count: usize) -> Vec<Denied<'_>> {
        let denied = |&Rank { count, slot }: &Rank| {
            let &Counted { ref key, algorithm, error, last, ref window, limit, anchor, .. } = self.slots.get(slot)?;
            let (last_ms, last) = (last.millis(), Written { window, limit, anchor });
            Some(Denied { key, algorithm, count, error, last_ms, last })
        };
        // The counts are sorted. Of keys with equal counts, any may be cut.
        let mut top: Vec<_> = self.ranks.iter().take(count).filter_map(denied).collect();
        top.sort_unstable_by_key(|denied| (Reverse(denied.count), denied.key, denied.algorithm));
        top
    }

    /// A hash of the key and the algorithm.
    fn hash(&self, key: &[u8], algorithm: u8) -> u64 {
        let mut hasher = self.hasher.build_hasher();
        hasher.write(key);
        hasher.finish().wrapping_add(u64::from(algorithm))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    const LIMIT: Written<'_> = Written { window: b"1m", limit: 5, anchor: None };

    fn counts(sketch: &Sketch) -> HashMap<Vec<u8>, (u64, u64)> {
        sketch.top(usize::MAX).into_iter().map(|d| (d.key.to_vec(), (d.count, d.error))).collect()
    }

    #[test]
    fn a_key_has_one_entry_for_each_algorithm() {
        let mut sketch = Sketch::new(3);
        sketch.record(b"a", 4, Micros(5_000), LIMIT);
        let last = Written { window: b"month", limit: 7, anchor: Some(0) };
        sketch.record(b"a", 4, Micros(7_000), last);
        sketch.record(b"a", 6, Micros(6_000), LIMIT);
        let top: Vec<_> = sketch.top(10).into_iter().map(|d| (d.algorithm, d.count, d.error, d.last_ms)).collect();
        assert_eq!(top, [(4, 2, 0, 7), (6, 1, 0, 6)]);
        assert_eq!(sketch.top(10).into_iter().map(|d| d.last).collect::<Vec<_>>(), [last, LIMIT]);
        assert_eq!(sketch.top(1).len(), 1);
        sketch.clear();
        assert_eq!((sketch.len(), sketch.error_bound()), (0, 0));
    }

    #[test]
    fn a_denial_allocates_nothing() {
        for capacity in [1, 2, 3, 14, 112, 128, 1_000, 10_000] {
            let mut sketch = Sketch::new(0);
            sketch.set_capacity(capacity);
            let allocated = sketch.table.allocation_size();
            for key in 0..40 * capacity {
                sketch.record(&key.to_le_bytes(), 4, Micros(0), LIMIT);
            }
            assert_eq!((sketch.len(), sketch.table.allocation_size()), (capacity, allocated));
        }
    }

    proptest! {
        /// Against exact counts: none is too low, none is too high by more than its error, and what is not counted is
        /// within the bound. The capacity changes meanwhile.
        #[test]
        fn counts_are_within_their_errors(
            keys in proptest::collection::vec(prop_oneof![3 => 0..4u8, 2 => 0..40u8], 0..400),
            capacities in proptest::collection::vec(0..12usize, 1..5),
        ) {
            let mut sketch = Sketch::new(capacities[0]);
            let mut exact = HashMap::<Vec<u8>, u64>::new();
            let change_every = keys.len() / capacities.len() + 1;
            for (n, key) in keys.iter().enumerate() {
                let capacity = capacities[n / change_every];
                sketch.set_capacity(capacity);
                sketch.record(&[*key], 4, Micros(n as u64), LIMIT);
                // What is denied while the sketch is off is not counted.
                if capacity > 0 {
                    *exact.entry(vec![*key]).or_default() += 1;
                }
                prop_assert!(sketch.len() <= capacity);
                let counts = counts(&sketch);
                for (key, &denied) in &exact {
                    match counts.get(key) {
                        Some(&(count, error)) => prop_assert!(count >= denied && count - error <= denied),
                        None => prop_assert!(capacity == 0 || denied <= sketch.error_bound()),
                    }
                }
                let lowest = counts.values().map(|&(count, _)| count).min();
                prop_assert!(sketch.len() < capacity || lowest.unwrap_or(0) <= sketch.error_bound());
            }
        }
    }
}
