//! A call is answered before its deadline although Redis is not.

use std::time::{Duration, Instant};

use envoy_types::pb::envoy::service::ratelimit::v3::rate_limit_response::Code;
use futures_util::future::join_all;

use super::process::{Client, Rlaas};
use super::{alone, block_on, one_server};
use crate::support::{PATIENCE, Paused};

/// How many calls wait at the same time.
const AT_ONCE: usize = 4;
/// A busy machine makes replies late, and nothing makes them early: one good attempt is enough.
const ATTEMPTS: usize = 8;

/// What a request waits for: a command, a grant, and with `all_or_nothing` a look and then the others.
const REQUESTS: [&str; 3] = ["k=x", "granted=x", "together: k=x ? | k=y"];

/// How many of the calls got a reply before the deadline.
async fn in_time(client: &Client, ask: &str, deadline: Duration) -> usize {
    let wait = format!("{}m", deadline.as_millis());
    let call = async |mut client: Client| {
        let began = Instant::now();
        client.try_ask_with(("grpc-timeout", &*wait), ask).await.is_ok() && began.elapsed() <= deadline
    };
    let calls = (0..AT_ONCE).map(|_| call(client.clone()));
    join_all(calls).await.into_iter().filter(|in_time| *in_time).count()
}

#[test]
fn calls_are_answered_before_their_deadlines() {
    let (_alone, server) = (alone(), one_server());
    let limit = "algorithm: token, unit: second, requests_per_unit: 1000000";
    let rules = format!(
        "domain: d\non_unavailable: deny\ndescriptors: [{{key: k, rate_limit: {{{limit}}}}}, {{key: granted, rate_limit: {{{limit}, grants: 1}}}}]\n"
    );
    let together =
        format!("all_or_nothing: true\non_unavailable: deny\ndescriptors: [{{key: k, rate_limit: {{{limit}}}}}]\n");
    // By itself it would wait for ten seconds, so what ends a call is its deadline.
    let service = Rlaas::start(&server, &rules);
    service.add_rules(&[("together", &together)]);
    block_on(async {
        let mut client = service.client().await;
        // A twentieth of the time is left for the reply. The program is not optimized, and other tests run:
        // `make bench-service` fails if less than 99 % of the replies are there 2 ms before 20 ms and 50 ms.
        let deadline = Duration::from_millis(400);
        let mut best = [0; 3];
        for _ in 0..ATTEMPTS {
            for ask in REQUESTS {
                let ends = Instant::now() + PATIENCE;
                while client.code(ask).await != Code::Ok {
                    assert!(Instant::now() < ends, "Redis is never asked again");
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            }
            let paused = Paused::new(&server);
            let found = join_all(REQUESTS.map(|ask| in_time(&client, ask, deadline))).await;
            drop(paused);
            best = std::array::from_fn(|ask| found[ask].max(best[ask]));
            if best == [AT_ONCE; 3] {
                break;
            }
        }
        assert_eq!(best, [AT_ONCE; 3], "within {deadline:?}");
    });
}
