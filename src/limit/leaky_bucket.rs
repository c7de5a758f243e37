//! Leaky bucket as a queue: requests leave it one after another at `limit` a `window`, and each is told how long to
//! wait for its turn. Where a token bucket lets a burst through, this one spreads it out.

use super::level::{Bucket, Drawn, Level};
use super::{Cost, Decision, Micros, Outlook, Quota, RecordAlgorithm, Unrepresentable};

/// A queue that `limit` units leave each `window`, and that has room for `burst`.
#[derive(Clone, Copy, Debug)]
pub struct LeakyBucket(Bucket);

impl RecordAlgorithm for LeakyBucket {
    type State = Level;
    type Words = [u64; 4];
    const TAG: &'static str = "L:";

    fn new(quota: &Quota) -> Result<Self, Unrepresentable> {
        Bucket::new(quota).map(Self)
    }

    /// `count` is the length of the queue before this request, rounded up; `ttl` until the queue has drained; `delay`
    /// until what was in the queue before this request has left it.
    fn decide(&self, state: Option<Level>, now: Micros, cost: Cost) -> Decision<Level> {
        let Drawn { mut decision, before } = self.0.decide(state, now, cost);
        if decision.verdict.allowed {
            decision.delay = self.0.time_to_drain(before);
        }
        decision
    }

    fn refund(&self, state: Option<Level>, now: Micros, cost: Cost) -> Option<Level> {
        self.0.refund(state, now, cost)
    }

    fn outlook(&self, state: Option<Level>, now: Micros) -> impl Outlook {
        self.0.outlook(state, now)
    }

    fn forgotten_at(&self, state: &Level) -> Micros {
        self.0.drained_at(state)
    }

    fn to_words(state: &Level) -> [u64; 4] {
        state.to_words()
    }

    fn from_words(words: &[u64; 4]) -> Option<Level> {
        Level::from_words(words)
    }
}
