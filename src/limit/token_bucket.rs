//! Token bucket: a bucket of `burst` tokens fills at `limit` a `window`; a request passes when it finds its tokens.
//! Lets a burst through at once after a quiet time, and holds the rate in the long run.
//!
//! Kept as what was taken, which drains, rather than as what is left, which fills: see [`level`](super::level).

use super::level::{Bucket, Level};
use super::{Cost, Decision, Micros, Outlook, Quota, RecordAlgorithm, Unrepresentable};

/// `limit` tokens each `window`, at most `burst` of them kept.
#[derive(Clone, Copy, Debug)]
pub struct TokenBucket(Bucket);

impl RecordAlgorithm for TokenBucket {
    type State = Level;
    type Words = [u64; 4];
    const TAG: &'static str = "T:";

    fn new(quota: &Quota) -> Result<Self, Unrepresentable> {
        Bucket::new(quota).map(Self)
    }

    /// `count` is how many tokens were missing before this request, rounded up; `ttl` until the bucket is full again.
    fn decide(&self, state: Option<Level>, now: Micros, cost: Cost) -> Decision<Level> {
        self.0.decide(state, now, cost).decision
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
