//! Token bucket: a bucket of `burst` tokens fills at the rate of `limit` tokens a `window`. A request is allowed if its
//! tokens are there. After a quiet time it allows a burst at once; in the long run it holds the rate.
//!
//! The state is the amount used, which drains, not the amount left, which fills: see [`level`](super::level).

use super::level::{Bucket, Level};
use super::{Change, Cost, Decision, Forecast, Micros, Policy, RecordAlgorithm, Unrepresentable};

/// `limit` tokens each `window`, at most `burst` of them at once.
///
/// ```
/// use redis_rl::algorithm::{Cost, Forecast, Micros, Policy, RecordAlgorithm, TokenBucket, Window};
///
/// let policy = Policy { burst: Some(50), ..Policy::new(Window::from_millis(1_000).unwrap(), 10) };
/// let bucket = TokenBucket::new(&policy).unwrap();
/// let now = Micros(1_700_000_000_000_000);
/// let burst = bucket.decide(None, now, Cost::new(50).unwrap());
/// assert!(burst.verdict.allowed);
/// let state = burst.change.apply_to(None);
/// assert_eq!(bucket.forecast(state, now.plus(500_000)).remaining(), 5);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TokenBucket(Bucket);

impl RecordAlgorithm for TokenBucket {
    type State = Level;
    type Words = [u64; 5];
    /// The debt.
    const OPTIONAL_WORDS: usize = 1;
    const TAG: &'static str = "T:";
    const EXPIRY_DEPENDS_ON_POLICY: bool = true;

    fn new(policy: &Policy) -> Result<Self, Unrepresentable> {
        Bucket::new(policy).map(Self)
    }

    /// `count` is the number of missing tokens before this request, rounded up. `ttl` is the number of seconds until
    /// the bucket is full again; on a denial, until the same request is allowed.
    #[inline]
    fn decide(&self, state: Option<Level>, now: Micros, cost: Cost) -> Decision<Level> {
        self.0.decide(state, now, cost).decision
    }

    fn refund(&self, state: Option<Level>, now: Micros, _at: Option<Micros>, cost: Cost) -> Change<Level> {
        self.0.refund(state, now, cost)
    }

    /// What does not fit becomes debt, which drains before anything else is allowed.
    fn overcharge(&self, state: Option<Level>, now: Micros, _at: Option<Micros>, cost: Cost) -> Change<Level> {
        self.0.overcharge(state, now, cost)
    }

    fn forecast(&self, state: Option<Level>, now: Micros) -> impl Forecast {
        self.0.forecast(state, now)
    }

    fn expires_at(&self, state: &Level) -> Micros {
        self.0.empty_at(state)
    }

    fn to_words(state: &Level) -> [u64; 5] {
        state.to_words()
    }

    fn from_words(words: &[u64; 5]) -> Option<Level> {
        Level::from_words(words)
    }
}
