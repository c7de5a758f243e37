//! What a holder knows of its lease.

use std::time::{Duration, Instant};

use crate::error::Error;

/// The shortest pause before a renewal.
const SHORTEST: Duration = Duration::from_millis(1);

/// When a lease ends at the earliest. It reads no clock and sends nothing, so that `proofs/` can try every order of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Term {
    window: Duration,
    /// `None` once the lease is lost.
    ends: Option<Instant>,
}

/// How an attempt to renew ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renewal {
    /// The server renewed the lease.
    Held,
    /// The server has no such lease any more.
    Gone,
    /// No reply, or an error: nobody knows.
    Unknown,
}

impl Renewal {
    pub(crate) const fn of(renewed: &Result<bool, Error>) -> Self {
        match renewed {
            Ok(true) => Self::Held,
            Ok(false) => Self::Gone,
            Err(_) => Self::Unknown,
        }
    }
}

impl Term {
    /// A lease that was taken by a request sent at `sent`. The server counted the window from a later moment.
    pub fn new(window: Duration, sent: Instant) -> Self {
        Self { window, ends: Some(sent + window) }
    }

    /// When the lease ends at the earliest, if it is not renewed; `None` once it is lost.
    #[cfg(any(feature = "async", test))]
    pub const fn ends(&self) -> Option<Instant> {
        self.ends
    }

    /// Whether the lease may have ended: another holder may have been allowed since.
    pub fn is_lost(&self, now: Instant) -> bool {
        self.ends.is_none_or(|ends| now >= ends)
    }

    /// How long to wait from `now` until the first renewal.
    pub fn first_pause(&self, now: Instant) -> Duration {
        self.pause(self.window / 3, now)
    }

    /// Takes in how a renewal ended that was sent at `sent`. Returns how long to wait until the next one; `None` if the
    /// lease is lost.
    pub fn renewed(&mut self, sent: Instant, renewal: Renewal, now: Instant) -> Option<Duration> {
        // A late reply does not undo that the lease was lost: its holder may have acted on it.
        if self.is_lost(now) || renewal == Renewal::Gone {
            self.ends = None;
            return None;
        }
        if renewal == Renewal::Unknown {
            return Some(self.pause(self.window / 10, now));
        }
        self.ends = Some(sent + self.window);
        Some(self.pause(self.window / 3, now))
    }

    /// At most what is left of the lease.
    fn pause(&self, longest: Duration, now: Instant) -> Duration {
        let rest = self.ends.map_or(Duration::ZERO, |ends| ends.saturating_duration_since(now));
        longest.min(rest).max(SHORTEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Duration = Duration::from_secs(30);

    #[test]
    fn a_lease_that_was_lost_stays_lost() {
        let taken = Instant::now();
        let after = |seconds| taken + Duration::from_secs(seconds);
        let mut term = Term::new(WINDOW, taken);
        assert_eq!(term.first_pause(after(0)), WINDOW / 3);
        assert_eq!(term.renewed(after(10), Renewal::Held, after(11)), Some(WINDOW / 3));
        assert_eq!(term.ends(), Some(after(40)), "from the time at which the renewal was sent");
        assert_eq!(term.renewed(after(21), Renewal::Unknown, after(39)), Some(Duration::from_secs(1)));
        assert!(!term.is_lost(after(39)) && term.is_lost(after(40)));
        assert_eq!(term.renewed(after(39), Renewal::Held, after(40)), None, "the reply is late");
        assert!(term.is_lost(after(39)));
    }

    #[test]
    fn a_lease_that_is_gone_is_lost() {
        let taken = Instant::now();
        let mut term = Term::new(WINDOW, taken);
        assert_eq!(term.renewed(taken, Renewal::Gone, taken), None);
        assert_eq!(term.ends(), None);
    }
}
