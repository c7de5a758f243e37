//! A denial of the server that is remembered, so that the same request is not sent again.
//!
//! The reply to a denied request says exactly when the same request would be allowed. Until then, this client denies each
//! request that costs as much or more. It counts the wait from when the request was sent, since the server decided later,
//! and less one millisecond, since the server rounds up. So a client that is alone on a key never denies what the server
//! would allow. Other clients can only make the wait longer, unless they give units back.

use std::time::{Duration, Instant};

use crate::decision::{Decision, RetryAfter, Source};
use crate::policy::Request;

/// The longest time for which a denial is remembered. The limits of the server itself may change, for example by
/// `rl.shadow`.
pub const LONGEST: Duration = Duration::from_secs(60);

/// A denial that is remembered. It reads no clock: time is an argument.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Denial {
    pub decision: Decision,
    /// Every cost from this one on is denied.
    pub cost: u64,
    /// Whether it was charged although it was denied: [`Request::always`].
    pub always: bool,
    pub sent: Instant,
    /// From when on one request at a time is sent again: what the server knows may have changed (RL.RESET, `rl.shadow`,
    /// FLUSHALL). `None` if that is later than any time that can be represented.
    pub due: Option<Instant>,
    pub until: Instant,
    pub count: u64,
}

impl Denial {
    /// What is remembered of a decision on a request that was sent at `sent`, if anything is. It is due after `recheck`.
    pub fn new(request: &Request<'_>, sent: Instant, decision: &Decision, recheck: Duration) -> Option<Self> {
        // Other holders release their leases at any time. Elsewhere, what ALWAYS charges makes the wait longer.
        let traits = request.policy.algorithm().traits();
        let remembered = !traits.id && (!request.always || traits.ends_at_once && request.cost > 0);
        if decision.allowed || !remembered {
            return None;
        }
        // A request that it denies later is charged nothing.
        let decision = Decision { charged: 0, ..*decision };
        let wait = match decision.retry_after {
            RetryAfter::Now => return None,
            RetryAfter::After(wait) => wait.saturating_sub(Duration::from_millis(1)).min(LONGEST),
            RetryAfter::Never => LONGEST,
        };
        let (until, due) = (sent + wait, sent.checked_add(recheck));
        let (cost, always) = (request.least_cost(), request.always);
        (!wait.is_zero()).then_some(Self { decision, cost, always, sent, due, until, count: 0 })
    }

    /// Whether it denies another request for the same key at `now`.
    pub fn denies(&self, request: &Request<'_>, now: Instant) -> bool {
        // ALWAYS with a cost of 0 is a look: only the server knows whether more than the limit is counted. Any other cost
        // is to be charged, so it is sent; unless a request with ALWAYS took the counter over the limit before. Then it
        // denies until all its units come back at once.
        let is_charged = request.always && (request.cost == 0 || !self.always);
        // A policy with another limit or burst may allow what this one denies.
        !is_charged && now < self.until && request.least_cost() >= self.cost && self.decision.policy == *request.policy
    }

    pub fn deny(&mut self, now: Instant) -> Decision {
        self.count = self.count.saturating_add(1);
        self.decision.later(now.saturating_duration_since(self.sent), Source::RememberedDenial)
    }
}
