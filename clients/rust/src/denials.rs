//! Denials of the server that are remembered, so that the same request is not sent again.
//!
//! A denial says when the same request would be allowed, exactly. Until then this client denies by itself what costs as
//! much or more. The server decided after the request was sent, so that time begins, at the earliest, when it was sent.
//! `retry_after_ms` is rounded up, so a millisecond is taken off. What is left never denies what the server would allow
//! to a client that is alone. Other clients can only make a wait longer, unless they give units back.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use quick_cache::sync::Cache;

use crate::decision::{Decision, RetryAfter, Source};
use crate::policy::{Algorithm, Policy};
use crate::request::Request;
use crate::state::{State, StateRef};

/// The longest time for which a denial is remembered. The limits of the server itself may change, for example by
/// `rl.shadow`.
const LONGEST: Duration = Duration::from_secs(60);

/// Counters of what was given back, one for the keys of a hash.
const GENERATIONS: usize = 64;

#[derive(Debug)]
pub struct Denials {
    cache: Cache<State, Denial>,
    hasher: RandomState,
    generations: [AtomicU32; GENERATIONS],
}

/// The time at which a request is sent, and what had been given back by then.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    at: Instant,
    generation: u32,
}

/// A denial that is remembered. It reads no clock, so that `proofs/` can try every order of events.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Denial {
    decision: Decision,
    /// Every cost from this one on is denied.
    cost: u64,
    /// Whether it was charged although it was denied: [`Request::always`].
    always: bool,
    sent: Instant,
    until: Instant,
}

impl Denial {
    /// What is remembered of a decision on a request that was sent at `sent`, if anything is.
    pub fn new(request: &Request<'_>, sent: Instant, decision: &Decision) -> Option<Self> {
        // Other holders release their leases at any time. Elsewhere, what ALWAYS charges makes the wait longer.
        let remembered = match request.policy.algorithm() {
            Algorithm::Lease => false,
            Algorithm::Fixed | Algorithm::Window => !request.always || request.cost > 0,
            _ => !request.always,
        };
        if decision.allowed || !remembered {
            return None;
        }
        let wait = match decision.retry_after {
            RetryAfter::Now => return None,
            RetryAfter::After(wait) => wait.saturating_sub(Duration::from_millis(1)).min(LONGEST),
            RetryAfter::Never => LONGEST,
        };
        // Who recalls it is charged nothing.
        let decision = Decision { charged: 0, ..*decision };
        let (cost, always, until) = (request.least_cost(), request.always, sent + wait);
        (!wait.is_zero()).then_some(Self { decision, cost, always, sent, until })
    }

    /// What is known at `now` of a request for the same key without sending it.
    pub fn recall(&self, request: &Request<'_>, now: Instant) -> Option<Decision> {
        // ALWAYS with a cost of 0 is a look: only the server knows whether more than the limit is counted. Any other cost
        // is to be charged, so it is sent; unless a request with ALWAYS took the counter over the limit before. Then it
        // denies until all its units come back at once.
        if request.always && (request.cost == 0 || !self.always) {
            return None;
        }
        // A policy with another limit or burst may allow what this one denies.
        let applies = now < self.until && request.least_cost() >= self.cost && self.decision.policy == *request.policy;
        applies.then(|| self.decision.later(now.saturating_duration_since(self.sent), Source::RememberedDenial))
    }
}

impl Denials {
    /// Remembers the denials of at most `capacity` keys.
    pub fn new(capacity: usize) -> Self {
        Self {
            cache: Cache::new(capacity),
            hasher: RandomState::new(),
            generations: std::array::from_fn(|_| AtomicU32::new(0)),
        }
    }

    /// To be called before a request is sent.
    pub fn sent(&self, request: &Request<'_>, at: Instant) -> Sent {
        Sent { at, generation: self.generation(request.key).load(Ordering::Acquire) }
    }

    /// What is known at `now` of a request without sending it.
    pub fn recall(&self, request: &Request<'_>, now: Instant) -> Option<Decision> {
        // A reservation may be open already: then the request is allowed.
        if request.reserve.is_some() {
            return None;
        }
        self.cache.get(&StateRef::new(request.policy, request.key))?.recall(request, now)
    }

    /// Remembers a denial of the server.
    pub fn learn(&self, request: &Request<'_>, sent: Sent, decision: &Decision) {
        let Some(denial) = Denial::new(request, sent.at, decision) else { return };
        // Units were given back since, so the decision may be older than that.
        if self.generation(request.key).load(Ordering::Acquire) == sent.generation {
            self.cache.insert(State::new(request.policy, request.key), denial);
        }
    }

    /// Forgets what is known of a key, because units were given back.
    pub fn forget(&self, policy: &Policy, key: &[u8]) {
        self.generation(key).fetch_add(1, Ordering::AcqRel);
        self.cache.remove(&StateRef::new(policy, key));
    }

    fn generation(&self, key: &[u8]) -> &AtomicU32 {
        &self.generations[self.hasher.hash_one(key) as usize % GENERATIONS]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WINDOW: Duration = Duration::from_millis(200);
    const LIMIT: u64 = 8;
    const POLICY: Policy = Policy::gcra(WINDOW, LIMIT);
    /// A unit comes back in each interval.
    const INTERVAL_MS: u64 = 25;

    /// A server whose clock ticks once a millisecond: 8 units of 25 ms.
    #[derive(Default)]
    struct Oracle {
        /// When all units are back.
        full_at: u64,
    }

    impl Oracle {
        /// 0 if the cost is allowed in this millisecond; else the time until it is; `None` for never.
        fn wait(&self, now_ms: u64, cost: u64) -> Option<u64> {
            let end = self.full_at.max(now_ms) + cost * INTERVAL_MS;
            (cost <= LIMIT).then(|| end.saturating_sub(now_ms + LIMIT * INTERVAL_MS))
        }

        fn charge(&mut self, now_ms: u64, cost: u64) {
            self.full_at = self.full_at.max(now_ms) + cost * INTERVAL_MS;
        }

        fn refund(&mut self, cost: u64) {
            self.full_at = self.full_at.saturating_sub(cost * INTERVAL_MS);
        }
    }

    fn decision(allowed: bool, wait: Option<u64>) -> Decision {
        let retry_after = match wait {
            Some(0) => RetryAfter::Now,
            Some(wait) => RetryAfter::After(Duration::from_millis(wait)),
            None => RetryAfter::Never,
        };
        Decision::of_fallback(&POLICY, allowed, 0, retry_after)
    }

    #[derive(Clone, Debug)]
    struct Event {
        pause_us: u64,
        /// On the way to the server, and back.
        travel_us: [u64; 2],
        cost: u64,
        refund: bool,
    }

    fn event() -> impl Strategy<Value = Event> {
        let travel = prop_oneof![0..500u64, 0..40_000u64];
        (0..30_000u64, [travel.clone(), travel], 1..=LIMIT + 1, prop::bool::weighted(0.1))
            .prop_map(|(pause_us, travel_us, cost, refund)| Event { pause_us, travel_us, cost, refund })
    }

    proptest! {
        /// A lone client with any travel times: what is denied locally, the server would deny at that moment.
        #[test]
        fn never_denies_what_the_server_would_allow(events in prop::collection::vec(event(), 1..200)) {
            let (denials, mut oracle) = (Denials::new(100), Oracle::default());
            let (start, mut clock_us) = (Instant::now(), 1_000_000);
            let at = |micros: u64| start + Duration::from_micros(micros);
            for Event { pause_us, travel_us, cost, refund } in events {
                clock_us += pause_us;
                let request = POLICY.request("k").cost(cost);
                if refund {
                    oracle.refund(cost);
                    denials.forget(&POLICY, b"k");
                    continue;
                }
                if denials.recall(&request, at(clock_us)).is_some() {
                    prop_assert_ne!(oracle.wait(clock_us / 1_000, cost), Some(0));
                    continue;
                }
                let sent = denials.sent(&request, at(clock_us));
                clock_us += travel_us[0];
                let wait = oracle.wait(clock_us / 1_000, cost);
                let allowed = wait == Some(0);
                if allowed {
                    oracle.charge(clock_us / 1_000, cost);
                }
                clock_us += travel_us[1];
                denials.learn(&request, sent, &decision(allowed, wait));
                if !allowed {
                    // It is remembered, unless it is over already.
                    let over = wait.is_some_and(|wait| wait * 1_000 <= travel_us[0] + travel_us[1] + 1_000);
                    prop_assert!(over || denials.recall(&request, at(clock_us)).is_some());
                }
            }
        }
    }

    #[test]
    fn a_denial_that_is_older_than_a_refund_is_not_remembered() {
        let (denials, now, request) = (Denials::new(100), Instant::now(), POLICY.request("k"));
        let sent = denials.sent(&request, now);
        denials.forget(&POLICY, b"k");
        denials.learn(&request, sent, &decision(false, Some(100)));
        assert!(denials.recall(&request, now).is_none());
        let sent = denials.sent(&request, now);
        denials.learn(&request, sent, &decision(false, Some(100)));
        assert!(denials.recall(&request, now).is_some());
    }
}
