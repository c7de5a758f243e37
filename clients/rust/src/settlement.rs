//! What a reservation is settled with, and when that is sent again.

use std::time::{Duration, Instant};

use crate::decision::Decision;
use crate::error::Error;

/// The pause before a settlement is sent again that had no reply, and the longest.
const PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// What a guard knows of the work that it pays for.
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
    /// Of a reservation with this `ttl`: it can be settled for one more after its end.
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

    #[test]
    fn a_settlement_is_sent_again_until_it_can_no_longer_be_settled() {
        let no_reply = || Err(Error::Timeout(PAUSE));
        let mut longest = Retry::new(Duration::MAX);
        assert_eq!([longest.pause(&no_reply()), longest.pause(&no_reply())], [Some(PAUSE), Some(PAUSE * 2)]);
        assert_eq!(longest.pause(&Err(Error::UnknownReply)), None);
        assert_eq!(Retry::new(PAUSE / 2).pause(&no_reply()), None);
    }
}
