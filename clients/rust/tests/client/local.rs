//! What is decided without the server counts with what the server counts.

use std::time::Duration;

use redis_rl_client::{Algorithm, Fallback, Policy, Window};

use crate::setup::{Way, eventually_is, for_each_way};

const HERE: Fallback = Fallback::Local { instances: 1 };

#[test]
fn the_server_is_told_what_was_allowed_without_it() {
    for_each_way(async |limiter, _, way| {
        let has = |algorithm: &Algorithm| {
            let traits = algorithm.traits();
            traits.settle && (traits.library || way == Way::Module)
        };
        for (at, algorithm) in Algorithm::ALL.into_iter().filter(has).enumerate() {
            let policy = Policy::new(algorithm, Window::Length(Duration::from_secs(36_000)), 10).expect("a policy");
            let request = policy.request("k");
            let here = |requests: usize| {
                let decisions = limiter.decide_without_server(&vec![request; requests], HERE);
                decisions
                    .into_iter()
                    .filter(|decision| decision.as_ref().is_ok_and(|decision| decision.allowed))
                    .count()
            };
            assert_eq!(limiter.check_request(&request).await.expect("a decision").remaining, 9, "{policy}");
            assert_eq!(here(5), 5, "{policy}");
            let left = async || limiter.peek(&request.cost(0)).await.expect("a decision").remaining;
            assert!(eventually_is(4, left).await, "{policy}: {} left", left().await);
            // No more than its reply has left.
            assert_eq!(here(9), 4, "{policy}");
            assert!(eventually_is(0, left).await, "{policy}: {} left", left().await);
            assert!(!limiter.check_request(&request).await.expect("a decision").allowed, "{policy}");
            let sent = u64::try_from(9 * (at + 1)).expect("few");
            assert_eq!((limiter.stats().local_sent, limiter.stats().local_dropped), (sent, 0), "{policy}");
            // The algorithms have one key after the other.
            limiter.reset(&policy, "k").await.expect("a reset");
        }
    });
}
