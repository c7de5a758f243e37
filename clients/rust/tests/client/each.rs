//! Independent requests in one call: each has a decision of its own.

use std::time::{Duration, Instant};

use redis_rl_client::{Decision, Error, Policy};

use crate::proxy::Proxy;
use crate::setup::{at_port, block_on, for_each_way};
use crate::support::*;

const HOUR: Duration = Duration::from_secs(3600);
const API: Policy = Policy::token(HOUR, 2).name("api");

/// Whether each decision allows the request.
fn allowed(decisions: Vec<Result<Decision, Error>>) -> Vec<bool> {
    decisions.into_iter().map(|decision| decision.expect("a decision").allowed).collect()
}

#[test]
fn each_request_has_its_own_decision() {
    for_each_way(async |limiter, server, _| {
        redis::cmd("SET").arg("foreign").arg("value").exec(&mut server.con()).unwrap();
        // Two requests of the same key are decided in their order.
        let requests =
            [API.request("a"), API.request("b"), API.request("a").cost(2), API.request("a"), API.request("a")];
        assert_eq!(allowed(limiter.check_each(&requests).await), [true, true, false, true, false]);
        assert!(limiter.check_each(&[]).await.is_empty());
        // The error of one request is none of the others.
        let rolling = Policy::rolling(HOUR, 1);
        let decisions = limiter
            .check_each(&[API.request("c"), API.request("foreign"), rolling.request("d"), API.request("c")])
            .await;
        assert_eq!(decisions[0].as_ref().unwrap().remaining, 1);
        assert!(decisions[1].as_ref().is_err_and(|error| error.to_string().contains("did not write")));
        assert!(decisions[2].as_ref().unwrap().allowed);
        assert_eq!(decisions[3].as_ref().unwrap().remaining, 0);
    });
}

#[test]
fn all_requests_are_one_round_trip() {
    const DELAY: Duration = Duration::from_millis(100);
    let server = one_server();
    let proxy = Proxy::start(server.port(), DELAY);
    let keys: Vec<_> = (0..20).map(|n| format!("user:{n}")).collect();
    let requests: Vec<_> = keys.iter().map(|key| API.request(key)).collect();
    block_on(async {
        let limiter = at_port(proxy.port).timeout(PATIENCE).build();
        limiter.connect().await.expect("a connection");
        let began = Instant::now();
        assert_eq!(allowed(limiter.check_each(&requests).await), [true; 20]);
        // One after the other they need four seconds.
        assert!((2 * DELAY..Duration::from_secs(3)).contains(&began.elapsed()), "{:?}", began.elapsed());
    });
}
