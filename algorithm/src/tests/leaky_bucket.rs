//! The delays: known values, and a queue that is served one by one as the oracle. The verdicts are those of a token
//! bucket.

use proptest::prelude::*;

use super::super::*;
use super::token_bucket::allowed_of;
use super::{T0, TestAlgorithm, burst, policy, steady};

#[test]
fn five_at_once_are_delayed_one_after_another() {
    let (algorithm, mut key) = (LeakyBucket::new(&policy(1_000, 10)).unwrap(), None);
    for (count, delay) in [(0, 0), (1, 100), (2, 200), (3, 300), (4, 400)] {
        let reply = algorithm.request_at(&mut key, Micros(T0), Cost::ONE).unwrap();
        assert_eq!((reply.verdict, reply.figures.delay_ms), (Verdict { allowed: true, count, ttl: 1 }, delay));
    }
    // 150 ms later one and a half have left.
    let reply = algorithm.request_at(&mut key, Micros(T0 + 150_000), Cost::ONE).unwrap();
    assert_eq!((reply.verdict.count, reply.figures.delay_ms), (4, 350));
}

#[test]
fn a_denied_request_has_no_delay() {
    let (algorithm, mut key) = (LeakyBucket::new(&burst(policy(1_000, 10), 1)).unwrap(), None);
    assert!(algorithm.request_at(&mut key, Micros(T0), Cost::ONE).unwrap().verdict.allowed);
    let denied = algorithm.request_at(&mut key, Micros(T0), Cost::ONE).unwrap();
    assert_eq!((denied.verdict.allowed, denied.figures.delay_ms, denied.figures.retry_after_ms), (false, 0, 100));
}

#[test]
fn no_drift_over_a_million_calls() {
    let policy = burst(policy(1_000, 100), 7);
    assert_eq!(allowed_of::<LeakyBucket>(&policy, 1_000_000, 337), 7 + 33_699);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Each request starts when the one before it is done, and takes window/limit for each unit. Times are in parts of
    /// 1/limit of a microsecond.
    #[test]
    fn delays_are_those_of_a_queue(trace in steady()) {
        let policy = trace.policies[0];
        let [window, limit] = [policy.window().micros(), policy.limit].map(u128::from);
        let (leaky, token) = (LeakyBucket::new(&policy).unwrap(), TokenBucket::new(&policy).unwrap());
        let (mut state, mut same, mut free) = (None, None, 0);
        for (_, now, cost) in trace.requests() {
            let decision = leaky.decide(state, now, cost);
            state = decision.change.apply_to(state);
            prop_assert_eq!(decision.verdict, token.request_at(&mut same, now, cost).unwrap().verdict);
            if decision.verdict.allowed {
                let arrives = u128::from(now.0) * limit;
                let starts = arrives.max(free);
                prop_assert_eq!(u128::from(decision.delay), (starts - arrives).div_ceil(limit));
                free = starts + u128::from(cost.units()) * window;
            } else {
                prop_assert_eq!(decision.delay, 0);
            }
        }
    }
}
