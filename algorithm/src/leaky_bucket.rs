//! Leaky bucket as a queue: requests leave the queue one after another at the rate of `limit` a `window`. The reply
//! says how long to delay each request. A token bucket allows a burst at once; a leaky bucket spreads it out.

use super::level::{Bucket, LevelAlgorithm};
use super::record::{Letter, Owner};

/// A queue of at most `burst` units, of which `limit` leave each `window`.
///
/// ```
/// use redis_rl_algorithm::{Cost, LeakyBucket, Micros, Policy, RecordAlgorithm, Window};
///
/// let policy = Policy::new(Window::from_millis(1_000).unwrap(), 10);
/// let queue = LeakyBucket::new(&policy).unwrap();
/// let now = Micros(1_700_000_000_000_000);
/// let first = queue.decide(None, now, Cost::ONE);
/// let second = queue.decide(first.change.apply_to(None), now, Cost::ONE);
/// assert_eq!((first.delay, second.delay), (0, 100_000), "a tenth of a second apart");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct LeakyBucket(Bucket);

impl Owner for Letter<'L'> {
    type Algorithm = LeakyBucket;
}

/// `count` is the length of the queue before this request, rounded up. `ttl` is the number of seconds until the queue is
/// empty; on a denial, until the same request is allowed. `delay` is the time until the units that were in the queue
/// before this request have left it.
impl LevelAlgorithm for LeakyBucket {
    type Tag = Letter<'L'>;
    const DELAYS: bool = true;

    fn of(bucket: Bucket) -> Self {
        Self(bucket)
    }

    fn bucket(&self) -> &Bucket {
        &self.0
    }
}
