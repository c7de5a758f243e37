//! Callers who hang up, and servers that hang: nothing stays charged, and nobody waits for longer than the timeout.

use std::time::Duration;

use redis_rl_client::{Error, Limiter, Policy, Source};
use tokio::time::timeout;

use crate::proxy::Proxy;
use crate::setup::{at_port, block_on, connected, eventually_is, limiter};
use crate::support::*;

const HOUR: Duration = Duration::from_secs(3600);
const DELAY: Duration = Duration::from_millis(100);

/// A limiter whose replies take at least twice the delay.
fn with_slow_replies(test: impl AsyncFnOnce(Limiter, &Server)) {
    let server = one_server();
    let proxy = Proxy::start(server.port(), DELAY);
    block_on(async {
        let limiter = at_port(proxy.port).timeout(PATIENCE).build();
        limiter.connect().await.expect("a connection");
        test(limiter, &server).await;
    });
}

#[test]
fn units_of_cancelled_requests_come_back() {
    with_slow_replies(async |slow, server| {
        let direct = limiter(server).await;
        let policy = Policy::token(HOUR, 10_000);
        let grants = slow.grants(&policy, 100).unwrap();
        for n in 0..20 {
            let key = format!("k{n}");
            assert!(timeout(Duration::from_millis(20), grants.check(&key)).await.is_err(), "it was not cancelled");
        }
        let mut con = server.con();
        assert!(eventually(PATIENCE, || info(&mut con, "rl_token_allowed") == "20"), "the units are not charged");
        for n in 0..20 {
            let key = format!("k{n}");
            let left = async || direct.peek(&policy.request(&key).cost(0)).await.unwrap().remaining;
            assert!(eventually_is(10_000, left).await, "the units do not come back");
        }
    });
}

#[test]
fn a_call_whose_caller_is_gone_is_counted() {
    with_slow_replies(async |slow, _| {
        let policy = Policy::token(HOUR, 100);
        let grants = slow.grants(&policy, 10).unwrap();
        assert!(slow.check(&policy, "k").await.unwrap().allowed);
        assert_eq!(slow.stats().cancelled, 0);
        let (request, hurry) = (policy.request("k"), Duration::from_millis(20));
        assert!(timeout(hurry, slow.check(&policy, "k")).await.is_err());
        assert!(timeout(hurry, slow.check_all(&[request])).await.is_err());
        assert!(timeout(hurry, slow.check_each(&[request, request])).await.is_err());
        assert!(timeout(hurry, slow.peek(&request)).await.is_err());
        assert!(timeout(hurry, grants.check("granted")).await.is_err());
        let stats = slow.stats();
        assert_eq!((stats.cancelled, stats.decided, stats.timeouts, stats.errors), (6, 1, 0, 0), "{stats:?}");
    });
}

#[test]
fn a_cancelled_refund_ends_a_remembered_denial() {
    with_slow_replies(async |slow, _| {
        let policy = Policy::token(HOUR, 10);
        assert!(slow.check_request(&policy.request("k").cost(10)).await.unwrap().allowed);
        assert!(!slow.check(&policy, "k").await.unwrap().allowed);
        assert_eq!(slow.check(&policy, "k").await.unwrap().source, Source::RememberedDenial);
        let all = policy.request("k").cost(10);
        assert!(timeout(Duration::from_millis(20), slow.refund(&all)).await.is_err(), "it was not cancelled");
        assert!(slow.check(&policy, "k").await.unwrap().allowed);
    });
}

#[test]
fn leases_of_cancelled_requests_end() {
    with_slow_replies(async |slow, server| {
        let jobs = Policy::lease(HOUR, 5);
        for _ in 0..8 {
            let taking = slow.lease(&jobs, "jobs");
            assert!(timeout(Duration::from_millis(20), taking).await.is_err(), "it was not cancelled");
        }
        let mut con = server.con();
        let mut holders = || redis::cmd("ZCARD").arg("jobs").query::<i64>(&mut con).unwrap();
        assert!(eventually(PATIENCE, || holders() > 0), "the leases are not taken");
        assert!(eventually(PATIENCE, || holders() == 0), "the leases are not released");
    });
}

#[test]
fn a_lease_that_a_slow_server_granted_too_late_ends() {
    let server = one_server();
    let jobs = Policy::lease(HOUR, 5);
    let mut con = server.con();
    let mut is_released = || {
        eventually(PATIENCE, || {
            // Granted, and then released.
            let stats = redis::cmd("INFO").arg("commandstats").query::<String>(&mut con).unwrap().to_ascii_lowercase();
            let ran = |command: &str| stats.contains(&format!("cmdstat_{command}:"));
            ran("rl.lease") && ran("rl.release") && redis::cmd("ZCARD").arg("jobs").query::<i64>(&mut con).unwrap() == 0
        })
    };
    block_on(async {
        let limiter = connected(&server, |builder| builder.timeout(DELAY)).await;
        let paused = Paused::new(&server);
        assert!(matches!(limiter.lease(&jobs, "jobs").await, Err(Error::Timeout(_))));
        drop(paused);
        assert!(is_released());
    });
}
