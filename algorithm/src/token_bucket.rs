//! Token bucket: a bucket of `burst` tokens fills at the rate of `limit` tokens a `window`. A request is allowed if its
//! tokens are there. After a quiet time it allows a burst at once; in the long run it holds the rate.
//!
//! The state is the amount used, which drains, not the amount left, which fills: see [`level`](super::level).

use super::level::{Bucket, LevelAlgorithm};
use super::record::{Letter, Owner};

/// `limit` tokens each `window`, at most `burst` of them at once.
///
/// ```
/// use redis_rl_algorithm::{Cost, Forecast, Micros, Policy, RecordAlgorithm, TokenBucket, Window};
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

impl Owner for Letter<'T'> {
    type Algorithm = TokenBucket;
}

/// `count` is the number of missing tokens before this request, rounded up. `ttl` is the number of seconds until the
/// bucket is full again; on a denial, until the same request is allowed.
impl LevelAlgorithm for TokenBucket {
    type Tag = Letter<'T'>;
    const DELAYS: bool = false;

    fn of(bucket: Bucket) -> Self {
        Self(bucket)
    }

    fn bucket(&self) -> &Bucket {
        &self.0
    }
}
