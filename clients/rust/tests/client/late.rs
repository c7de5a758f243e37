//! Replies that come too late, and callers that leave: who is charged has used it, and no key is left without a next command.

use std::time::Duration;

use futures_util::future::join_all;
use redis_rl_client::{Decision, Error, Fallback, Limiter, Policy, Source};
use tokio::time::{sleep, timeout};

use crate::proxy::Proxy;
use crate::setup::{at_port, block_on, limiter, policies};
use crate::support::*;

const LIMIT: u64 = 100;
const SOON: Duration = Duration::from_millis(60);

fn behind(proxy: &Proxy, fallback: Fallback, time_limit: Duration) -> Limiter {
    at_port(proxy.port).fallback(fallback).timeout(time_limit).denials(0).build()
}

/// How many the server has allowed of these.
fn allowed(decisions: &[Result<Decision, Error>]) -> u64 {
    let by_server = |decision: &&Result<Decision, Error>| {
        decision.as_ref().is_ok_and(|decision| decision.allowed && decision.source != Source::Fallback)
    };
    decisions.iter().filter(by_server).count() as u64
}

#[test]
fn what_was_charged_too_late_is_nobody_elses() {
    for policy in policies(Duration::from_secs(360_000_000), LIMIT) {
        let server = one_server();
        block_on(async {
            let proxy = Proxy::start(server.port(), Duration::ZERO);
            let direct = limiter(&server).await;
            for fallback in [Fallback::Allow, Fallback::Error] {
                direct.reset(&policy, "k").await.expect("a reset");
                let limiter = behind(&proxy, fallback, SOON);
                limiter.connect().await.expect("a connection");
                // 30 requests whose replies are late: their callers have the fallback.
                proxy.delay(SOON);
                for _ in 0..3 {
                    join_all((0..10).map(|_| limiter.check(&policy, "k"))).await;
                }
                proxy.delay(Duration::ZERO);
                // The replies have come.
                sleep(3 * SOON).await;
                let left = direct.peek(&policy.request("k").cost(0)).await.expect("a decision").remaining;
                assert!(left < LIMIT, "nothing was late: {policy}");
                let patient = limiter.with_timeout(PATIENCE);
                let rest = join_all((0..120).map(|_| patient.check(&policy, "k"))).await;
                assert_eq!(allowed(&rest), left, "{policy}, {fallback:?}");
            }
        });
    }
}

#[test]
fn a_late_reply_still_says_what_is_denied() {
    let (server, policy) = (one_server(), Policy::token(Duration::from_secs(3600), 1));
    block_on(async {
        let proxy = Proxy::start(server.port(), Duration::ZERO);
        let limiter = at_port(proxy.port).timeout(SOON).fallback(Fallback::Allow).build();
        limiter.connect().await.expect("a connection");
        proxy.delay(SOON);
        // One by itself, and one of several that are sent together.
        for keys in [&["a"][..], &["b", "c"]] {
            let requests: Vec<_> = keys.iter().map(|key| policy.request(key)).collect();
            for _ in 0..2 {
                let decisions = limiter.check_each(&requests).await;
                assert!(decisions.iter().flatten().all(|decision| decision.source == Source::Fallback));
            }
            sleep(3 * SOON).await;
            for key in keys {
                let denied = limiter.check(&policy, key).await.expect("a decision");
                assert_eq!((denied.allowed, denied.source), (false, Source::RememberedDenial), "{key}");
            }
        }
    });
}

/// A request waits for up to a part of its time limit, and then for a round trip: as 10 of 15 ms, on a busy machine.
#[test]
fn a_hot_key_far_away_is_answered_in_time() {
    let server = one_server();
    block_on(async {
        let proxy = Proxy::start(server.port(), Duration::from_millis(150));
        let limiter = behind(&proxy, Fallback::Allow, Duration::from_millis(450));
        limiter.connect().await.expect("a connection");
        let policy = Policy::counter(Duration::from_secs(3600), 1_000_000);
        let ask = async |first: u64| {
            sleep(Duration::from_millis(first)).await;
            for _ in 0..4 {
                assert_eq!(limiter.check(&policy, "k").await.expect("a decision").source, Source::Server);
            }
        };
        join_all((0..100).map(|n| ask(6 * n))).await;
        assert_eq!(limiter.stats().timeouts, 0);
    });
}

#[test]
fn a_caller_that_leaves_at_any_point_leaves_no_key_stuck() {
    let server = one_server();
    block_on(async {
        let proxy = Proxy::start(server.port(), Duration::from_millis(2));
        let limiter = behind(&proxy, Fallback::Error, PATIENCE);
        limiter.connect().await.expect("a connection");
        let policy = Policy::counter(Duration::from_secs(3600), 1_000_000);
        let grants = limiter.grants(&policy, 5).expect("grants");
        for micros in (0..8_000).step_by(100) {
            let leaves = Duration::from_micros(micros);
            let some = join_all((0..10).map(|_| timeout(leaves, limiter.check(&policy, "k")))).await;
            let granted = join_all((0..10).map(|_| timeout(leaves, grants.check("granted")))).await;
            drop((some, granted));
            assert!(limiter.check(&policy, "k").await.expect("a decision").allowed);
            assert!(grants.check("granted").await.expect("a decision").allowed);
        }
    });
}
