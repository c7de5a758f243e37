//! When things happened: counts in slots of time that grow wider as the log goes on.

use std::mem;

/// The most slots that cover a log.
const SLOTS: usize = 128;

/// Where the slots are, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Slots {
    /// When the first one begins, since 1970.
    pub start: i64,
    /// How long each of them is.
    pub width: i64,
    /// How many have begun.
    pub len: usize,
}

impl Default for Slots {
    fn default() -> Self {
        Self { start: 0, width: 1, len: 0 }
    }
}

impl Slots {
    /// The slot of a time, in µs. `None` if the slots do not reach that far: they are to be widened.
    pub fn find(&mut self, time: i64) -> Option<usize> {
        let second = time.div_euclid(1_000_000);
        if self.len == 0 {
            self.start = second;
        }
        let slot = usize::try_from(second.saturating_sub(self.start).max(0) / self.width).unwrap_or(usize::MAX);
        if slot >= SLOTS {
            return None;
        }
        self.len = self.len.max(slot + 1);
        Some(slot)
    }

    /// The second in which a slot begins.
    pub fn start_of(&self, slot: usize) -> i64 {
        self.start + slot as i64 * self.width
    }

    /// Makes each slot twice as wide.
    pub fn widen(&mut self) {
        self.width *= 2;
        self.len = self.len.div_ceil(2);
    }
}

/// Counts in slots, without those that are 0.
#[derive(Clone, Debug, Default)]
pub struct Counts(Vec<(u32, u32)>);

impl Counts {
    /// Adds one to a slot, which is not before the last one but for what comes late.
    pub fn add(&mut self, slot: usize) {
        let slot = slot as u32;
        match self.0.last_mut() {
            Some((last, count)) if *last >= slot => *count = count.saturating_add(1),
            _ => self.0.push((slot, 1)),
        }
    }

    /// Makes each slot twice as wide.
    pub fn fold(&mut self) {
        for (slot, count) in mem::take(&mut self.0) {
            match self.0.last_mut() {
                Some((last, sum)) if *last == slot / 2 => *sum = sum.saturating_add(count),
                _ => self.0.push((slot / 2, count)),
            }
        }
    }

    /// The slots, with those that are 0.
    pub fn all(&self) -> [u32; SLOTS] {
        let mut all = [0; SLOTS];
        for &(slot, count) in &self.0 {
            if let Some(place) = all.get_mut(slot as usize) {
                *place = count;
            }
        }
        all
    }
}
