//! When things happened: counts in slots of time that grow wider as the log goes on.

use std::mem;

/// The most slots that cover a log.
pub const SLOTS: usize = 128;

/// Where the slots are.
#[derive(Clone, Copy, Debug)]
pub struct Slots {
    /// When the first one begins, in µs since 1970; `None` before the first request.
    pub start: Option<i64>,
    /// How long each of them is, in µs.
    pub width: i64,
}

impl Default for Slots {
    fn default() -> Self {
        Self { start: None, width: 1_000_000 }
    }
}

impl Slots {
    /// The slot of a time, if the slots reach that far. Else they are to be twice as wide.
    pub fn find(&mut self, time: i64) -> Option<usize> {
        let start = *self.start.get_or_insert(time - time.rem_euclid(self.width));
        let slot = usize::try_from(time.saturating_sub(start).max(0) / self.width).unwrap_or(usize::MAX);
        (slot < SLOTS).then_some(slot)
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
