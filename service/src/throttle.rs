//! Lines of the log that would fill the disk.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Lets one line through in a while.
#[derive(Debug)]
pub struct Throttle {
    every: Duration,
    /// When the last one went through, and how many did not since.
    last: Mutex<(Option<Instant>, u64)>,
}

impl Throttle {
    pub const fn new(every: Duration) -> Self {
        Self { every, last: Mutex::new((None, 0)) }
    }

    /// How many were left out since the last line, if this one may be written.
    pub fn next(&self, now: Instant) -> Option<u64> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.0.is_some_and(|last| now.saturating_duration_since(last) < self.every) {
            last.1 = last.1.saturating_add(1);
            return None;
        }
        let left_out = last.1;
        *last = (Some(now), 0);
        Some(left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_many_were_left_out_before_it() {
        let (throttle, began) = (Throttle::new(Duration::from_secs(1)), Instant::now());
        let found = [0, 1, 999, 1_000, 1_001, 2_000].map(|at| throttle.next(began + Duration::from_millis(at)));
        assert_eq!(found, [Some(0), None, None, Some(2), None, Some(1)]);
    }
}
