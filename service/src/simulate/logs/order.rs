//! Sorts what comes nearly in order.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A time, how many entries came before it, and the entry. Entries of one time keep their order.
type Timed = (i64, u64, usize);

/// A queue by time. What comes in order costs no comparison with more than the last entry.
#[derive(Debug, Default)]
pub struct Order {
    /// Sorted, because only what is not before its end is added.
    run: VecDeque<Timed>,
    /// What came after a later time.
    late: BinaryHeap<Reverse<Timed>>,
    pushed: u64,
}

impl Order {
    pub fn push(&mut self, time: i64, entry: usize) {
        let timed = (time, self.pushed, entry);
        self.pushed += 1;
        if self.run.back().is_none_or(|last| *last <= timed) {
            self.run.push_back(timed);
        } else {
            self.late.push(Reverse(timed));
        }
    }

    /// The least time.
    pub fn first(&self) -> Option<i64> {
        let run = self.run.front().map(|&(time, ..)| time);
        let late = self.late.peek().map(|&Reverse((time, ..))| time);
        run.into_iter().chain(late).min()
    }

    /// Removes the entry with the least time, if that is not after `until`.
    pub fn pop(&mut self, until: i64) -> Option<(i64, usize)> {
        let late = match (self.run.front(), self.late.peek()) {
            (Some(run), Some(Reverse(late))) => late < run,
            (None, Some(_)) => true,
            (_, None) => false,
        };
        if self.first()? > until {
            return None;
        }
        let popped = if late { self.late.pop().map(|Reverse(timed)| timed) } else { self.run.pop_front() };
        popped.map(|(time, _, entry)| (time, entry))
    }
}
