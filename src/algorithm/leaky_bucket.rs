//! Leaky bucket as a queue: requests leave the queue one after another at the rate of `limit` a `window`. The reply
//! says how long to delay each request. A token bucket allows a burst at once; a leaky bucket spreads it out.

use super::level::{Bucket, Charged, Level};
use super::{Change, Cost, Decision, Forecast, Micros, Policy, RecordAlgorithm, Unrepresentable};

/// A queue of at most `burst` units, of which `limit` leave each `window`.
///
/// ```
/// use redis_rl::algorithm::{Cost, LeakyBucket, Micros, Policy, RecordAlgorithm, Window};
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

impl RecordAlgorithm for LeakyBucket {
    type State = Level;
    type Words = [u64; 5];
    /// The debt.
    const OPTIONAL_WORDS: usize = 1;
    const TAG: &'static str = "L:";
    const EXPIRY_DEPENDS_ON_POLICY: bool = true;

    fn new(policy: &Policy) -> Result<Self, Unrepresentable> {
        Bucket::new(policy).map(Self)
    }

    /// `count` is the length of the queue before this request, rounded up. `ttl` is the number of seconds until the
    /// queue is empty; on a denial, until the same request is allowed. `delay` is the time until the units that were
    /// in the queue before this request have left it.
    #[inline]
    fn decide(&self, state: Option<Level>, now: Micros, cost: Cost) -> Decision<Level> {
        let Charged { mut decision, before } = self.0.decide(state, now, cost);
        if decision.verdict.allowed {
            decision.delay = self.0.time_to_drain(before);
        }
        decision
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
