//! The keys that are denied most: a Space-Saving sketch, which needs a fixed amount of memory whatever the traffic.
//!
//! It counts a fixed number of keys. A key that is not among them replaces the one with the lowest count, and takes
//! over that count: it can have been denied as often before. So a count is never too low, and is too high by at most
//! the count that was taken over, which is stored with it. A key that is not in the sketch was denied at most
//! [`Sketch::error_bound`] times.
//!
//! Source: Metwally, Agrawal, El Abbadi, "Efficient Computation of Frequent and Top-k Elements in Data Streams", 2005.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};

use arrayvec::ArrayVec;

/// The longest key that is stored, in bytes. A longer one is cut.
pub const MAX_KEY: usize = 256;

/// A key, and how often it was denied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied {
    /// At most [`MAX_KEY`] bytes.
    pub key: ArrayVec<u8, MAX_KEY>,
    pub algorithm: &'static str,
    /// How often: never too low.
    pub count: u64,
    /// By how much `count` can be too high.
    pub error: u64,
    /// The last time, in Unix milliseconds.
    pub last_ms: u64,
}

/// The keys with the highest counts.
pub struct Sketch {
    capacity: usize,
    /// A binary heap, the lowest count first.
    heap: Vec<(u64, Denied)>,
    /// Where in the heap the key of a hash is. The hashes are seeded, so no client can make two keys collide.
    places: HashMap<u64, usize, BuildHasherDefault<Unchanged>>,
    hasher: RandomState,
    /// The highest count that was dropped when the capacity was reduced.
    dropped: u64,
}

impl Sketch {
    /// A sketch that counts `capacity` keys.
    pub fn new(capacity: usize) -> Self {
        let (heap, places, hasher) = (Vec::new(), HashMap::default(), RandomState::new());
        Self { capacity, heap, places, hasher, dropped: 0 }
    }

    /// How many keys are counted now.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// The most that a key which is not counted can have been denied.
    pub fn error_bound(&self) -> u64 {
        match self.heap.first() {
            Some((_, lowest)) if self.heap.len() >= self.capacity => lowest.count.max(self.dropped),
            _ => self.dropped,
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Self::new(self.capacity);
    }

    /// Changes the number of keys. If it shrinks, the keys with the highest counts stay.
    pub fn set_capacity(&mut self, capacity: usize) {
        if capacity == self.capacity {
            return;
        }
        // What was replaced until now can have been denied as often.
        self.dropped = self.error_bound();
        self.capacity = capacity;
        while self.heap.len() > capacity {
            self.remove_lowest();
        }
        self.heap.shrink_to(capacity);
        self.places.shrink_to(capacity);
    }

    /// Counts a denial.
    pub fn record(&mut self, key: &[u8], algorithm: &'static str, now_ms: u64) {
        if self.capacity == 0 {
            return;
        }
        let key = key.get(..MAX_KEY).unwrap_or(key);
        let hash = self.hash(key, algorithm);
        if let Some(&place) = self.places.get(&hash) {
            if let Some((_, denied)) = self.heap.get_mut(place) {
                denied.count = denied.count.saturating_add(1);
                denied.last_ms = now_ms;
            }
            self.sift_down(place);
            return;
        }
        let error = self.error_bound();
        if self.heap.len() >= self.capacity {
            self.remove_lowest();
        }
        let mut stored = ArrayVec::new();
        // It fits: it is cut above.
        let _ = stored.try_extend_from_slice(key);
        let place = self.heap.len();
        self.heap
            .push((hash, Denied { key: stored, algorithm, count: error.saturating_add(1), error, last_ms: now_ms }));
        self.places.insert(hash, place);
        self.sift_up(place);
    }

    /// The `count` keys that were denied most, the highest count first.
    pub fn top(&self, count: usize) -> Vec<&Denied> {
        let mut all: Vec<&Denied> = self.heap.iter().map(|(_, denied)| denied).collect();
        all.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.key.cmp(&b.key)));
        all.truncate(count);
        all
    }

    /// One write of the key, which is most of the cost. The names of the algorithms differ in their first two bytes.
    fn hash(&self, key: &[u8], algorithm: &'static str) -> u64 {
        let mut hasher = self.hasher.build_hasher();
        hasher.write(key);
        let name = algorithm.as_bytes().first_chunk().map_or(0, |&two| u16::from_le_bytes(two));
        hasher.finish().wrapping_add(u64::from(name))
    }

    fn remove_lowest(&mut self) {
        let Some(last) = self.heap.len().checked_sub(1) else { return };
        self.swap(0, last);
        if let Some((hash, removed)) = self.heap.pop() {
            self.places.remove(&hash);
            if self.heap.len() >= self.capacity {
                self.dropped = self.dropped.max(removed.count);
            }
        }
        self.sift_down(0);
    }

    fn count_at(&self, place: usize) -> Option<u64> {
        self.heap.get(place).map(|(_, denied)| denied.count)
    }

    fn sift_up(&mut self, mut place: usize) {
        while let Some(parent) = place.checked_sub(1).map(|n| n / 2)
            && self.count_at(place) < self.count_at(parent)
        {
            self.swap(place, parent);
            place = parent;
        }
    }

    fn sift_down(&mut self, mut place: usize) {
        loop {
            let left = place.saturating_mul(2).saturating_add(1);
            let Some(mut lower) = self.count_at(left) else { return };
            let mut child = left;
            if let Some(count) = self.count_at(left.saturating_add(1))
                && count < lower
            {
                (lower, child) = (count, left.saturating_add(1));
            }
            if self.count_at(place).is_none_or(|count| count <= lower) {
                return;
            }
            self.swap(place, child);
            place = child;
        }
    }

    fn swap(&mut self, a: usize, b: usize) {
        if a == b || a >= self.heap.len() || b >= self.heap.len() {
            return;
        }
        self.heap.swap(a, b);
        for place in [a, b] {
            if let Some(&(hash, _)) = self.heap.get(place) {
                self.places.insert(hash, place);
            }
        }
    }
}

/// The keys of the map are hashes already.
#[derive(Default)]
struct Unchanged(u64);

impl Hasher for Unchanged {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.0 = self.0.rotate_left(8) ^ u64::from(byte));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    fn counts(sketch: &Sketch) -> HashMap<Vec<u8>, (u64, u64)> {
        sketch.top(usize::MAX).into_iter().map(|d| (d.key.to_vec(), (d.count, d.error))).collect()
    }

    #[test]
    fn a_key_has_one_entry_for_each_algorithm() {
        let mut sketch = Sketch::new(3);
        sketch.record(b"a", "TOKEN", 5);
        sketch.record(b"a", "TOKEN", 7);
        sketch.record(b"a", "GCRA", 6);
        let top: Vec<_> = sketch.top(10).into_iter().map(|d| (d.algorithm, d.count, d.error, d.last_ms)).collect();
        assert_eq!(top, [("TOKEN", 2, 0, 7), ("GCRA", 1, 0, 6)]);
        assert_eq!(sketch.top(1).len(), 1);
        sketch.clear();
        assert_eq!((sketch.len(), sketch.error_bound()), (0, 0));
    }

    #[test]
    fn a_long_key_is_cut() {
        let mut sketch = Sketch::new(1);
        sketch.record(&[b'x'; 300], "TOKEN", 0);
        assert_eq!(sketch.top(1)[0].key.as_slice(), [b'x'; 256]);
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
                sketch.record(&[*key], "TOKEN", n as u64);
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
