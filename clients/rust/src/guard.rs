//! What the guards of leases and reservations know. No input, no output and no clock, but for [`Retry`].

use std::time::{Duration, Instant};

use crate::decision::Decision;
use crate::error::Error;
use crate::policy::Policy;

/// The shortest pause before a renewal.
const SHORTEST: Duration = Duration::from_millis(1);
/// The pause before a settlement is sent again that had no reply, and the longest.
const PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// An id that no other holder has.
pub fn new_id() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// Rejects a policy of another algorithm.
pub fn require_lease(policy: &Policy) -> Result<(), Error> {
    if policy.algorithm().traits().id {
        Ok(())
    } else {
        Err(Error::Unsupported("a lease needs a policy of the algorithm LEASE"))
    }
}

/// Who takes a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// A new holder.
    New,
    /// A holder that may have the lease already.
    MayHold,
}

impl Holder {
    /// Whether the holder has a lease after a request that was allowed. The server takes none for what only shadow mode
    /// allows, and none at `maxmemory`; a lease that was renewed charges nothing either.
    pub const fn has_lease(self, decision: &Decision) -> bool {
        !decision.shadow && (decision.charged > 0 || matches!(self, Self::MayHold))
    }
}

/// What a request for a lease or a reservation gets.
#[derive(Debug)]
pub enum Outcome<G, D> {
    /// The lease is held, or the estimate charged, until the guard ends it.
    Held(G),
    /// A limit denies.
    Denied(D),
}

impl<G, D> Outcome<G, D> {
    /// The guard, if it is not denied.
    pub fn held(self) -> Option<G> {
        match self {
            Self::Held(guard) => Some(guard),
            Self::Denied(_) => None,
        }
    }
}

/// When a lease ends at the earliest. It reads no clock and sends nothing, so that `tests/proofs` can try every order of events.
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

/// What the guard of a reservation knows of the work that it pays for.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    pub reserved: u64,
    pub reported: Option<u64>,
    /// Whether the upstream was called.
    pub called: bool,
}

impl Usage {
    /// What to settle with: what was reported; else the whole estimate, if the upstream was called.
    pub fn units(self) -> u64 {
        self.reported.unwrap_or(if self.called { self.reserved } else { 0 })
    }
}

/// When a settlement without a reply is sent again.
pub struct Retry {
    /// `None` if it is later than any time that can be represented.
    until: Option<Instant>,
    pause: Duration,
}

impl Retry {
    /// A reservation that lasts `ttl`. After it has ended, it can be settled for one further `ttl`.
    pub fn new(ttl: Duration) -> Self {
        Self { until: Instant::now().checked_add(ttl.saturating_mul(2)), pause: PAUSE }
    }

    /// The pause before it is sent again; `None` if this result is the last.
    pub fn pause(&mut self, result: &Result<Decision, Error>) -> Option<Duration> {
        let pause = self.pause;
        self.pause = (pause * 2).min(LONGEST_PAUSE);
        let in_time = self.until.is_none_or(|until| Instant::now() + pause < until);
        (result.as_ref().is_err_and(Error::is_unavailable) && in_time).then_some(pause)
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
        let mut gone = Term::new(WINDOW, taken);
        assert_eq!((gone.renewed(taken, Renewal::Gone, taken), gone.ends()), (None, None));
    }

    #[test]
    fn a_settlement_is_sent_again_until_it_can_no_longer_be_settled() {
        let no_reply = || Err(Error::Timeout(PAUSE));
        let mut longest = Retry::new(Duration::MAX);
        assert_eq!([longest.pause(&no_reply()), longest.pause(&no_reply())], [Some(PAUSE), Some(PAUSE * 2)]);
        assert_eq!(longest.pause(&Err(Error::UnknownReply)), None);
        assert_eq!(Retry::new(PAUSE / 2).pause(&no_reply()), None);
        // It can be settled for one ttl, and then for one more.
        assert_eq!(Retry::new(PAUSE).pause(&no_reply()), Some(PAUSE));
    }
}
