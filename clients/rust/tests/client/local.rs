//! What is decided in this process alone, beside a server that comes and goes.

use std::time::Duration;

use redis_rl_client::Fallback;

use crate::proxy::Proxy;
use crate::setup::{at_port, block_on, eventually_is, on_one_server, policies};
use crate::support::*;

const LIMIT: u64 = 100;
/// A window in which no unit comes back.
const LONG: Duration = Duration::from_secs(360_000_000);

/// It begins with what the last reply says is used, once, and counts alone from then on.
#[test]
fn it_begins_with_its_part_of_what_the_server_counts() {
    on_one_server(async |limiter, _| {
        for policy in policies(LONG, LIMIT) {
            let request = policy.request(policy.label());
            let local = limiter.without_server().with_fallback(Fallback::Local { instances: 4 });
            let here = async |requests: usize| {
                let decisions = local.check_each(&vec![request; requests]).await;
                decisions.into_iter().filter(|one| one.as_ref().is_ok_and(|one| one.allowed)).count()
            };
            assert!(limiter.check_request(&request.cost(20)).await.expect("a decision").allowed);
            // A quarter of the limit, and of the 20 units.
            assert_eq!(here(30).await, 20, "{policy}");
            assert!(limiter.check_request(&request).await.expect("a decision").allowed);
            assert_eq!(here(30).await, 0, "{policy}");
            // What was decided here is nothing to the server.
            assert_eq!(limiter.peek(&request.cost(0)).await.expect("a decision").remaining, LIMIT - 21, "{policy}");
        }
    });
}

/// The promise: the limit, and again its part, however often the connection comes and goes.
#[test]
fn a_connection_that_comes_and_goes_multiplies_nothing() {
    for policy in policies(LONG, LIMIT) {
        let server = one_server();
        block_on(async {
            let mut passed = 0;
            let proxy = Proxy::start(server.port(), Duration::ZERO);
            let limiter = at_port(proxy.port)
                .fallback(Fallback::Local { instances: 2 })
                .timeout(Duration::from_millis(100))
                .denials(0)
                .build();
            for round in 0..6 {
                for _ in 0..60 {
                    passed += u64::from(limiter.check(&policy, "k").await.expect("a decision").allowed);
                }
                if round % 2 == 0 {
                    proxy.close();
                } else {
                    proxy.open();
                    let replies = async || limiter.peek(&policy.request("k")).await.is_ok();
                    assert!(eventually_is(true, replies).await, "{policy}");
                }
            }
            assert!((LIMIT..=LIMIT + LIMIT / 2).contains(&passed), "{policy}: {passed}");
        });
    }
}
