//! Grants: fewer calls, and never more than the bound.

use std::time::{Duration, Instant};

use redis_rl_client::{Error, Fallback, Policy, Source};

use crate::setup::{block_on, eventually_is, limiter, on_one_server};
use crate::support::*;

const HOUR: Duration = Duration::from_secs(3600);

/// How many decisions the server made.
fn decisions(server: &Server, algorithm: &str) -> u64 {
    let mut con = server.con();
    ["allowed", "near", "denied"]
        .map(|outcome| info(&mut con, &format!("rl_{algorithm}_{outcome}")).parse::<u64>().unwrap())
        .iter()
        .sum()
}

#[test]
fn a_grant_decides_many_requests_and_the_rest_is_given_back() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        block_on(async {
            let limiter = limiter(&server).await;
            let policy = Policy::token(HOUR, 10_000);
            let grants = limiter.grants(&policy, 100).unwrap();
            for n in 0..250 {
                let decision = grants.check("k").await.unwrap();
                assert!(decision.allowed && decision.charged == 1, "{n}");
                assert!(matches!(decision.source, Source::Server | Source::Grant));
            }
            assert!(decisions(&server, "token") <= 5, "{}", decisions(&server, "token"));
            assert_eq!(limiter.stats().granted, 250);
            // Those that wait for one fetch together count too.
            let together = futures_util::future::join_all((0..50).map(|_| grants.check("other"))).await;
            assert!(together.into_iter().all(|decision| decision.unwrap().allowed));
            assert_eq!(limiter.stats().granted, 300);
            grants.shutdown().await;
            let left = limiter.peek(&policy.request("k").cost(0)).await.unwrap().remaining;
            assert_eq!(left, 9_750);
        });
    });
}

#[test]
fn what_is_held_for_too_long_or_dropped_is_given_back() {
    on_one_server(async |limiter, _| {
        let policy = Policy::counter(HOUR, 1_000);
        let left = async || limiter.peek(&policy.request("k").cost(0)).await.unwrap().remaining;
        let returned = async |units| assert!(eventually_is(units, left).await, "{} are left", left().await);
        let grants = limiter.grants(&policy, 100).unwrap().hold(Duration::from_secs(1));
        assert!(grants.check("k").await.unwrap().allowed);
        assert_eq!(left().await, 900);
        returned(999).await;
        // A grant that is given back is fetched anew.
        assert!(grants.check("k").await.unwrap().allowed);
        assert_eq!(left().await, 899);
        returned(998).await;
        let grants = limiter.grants(&policy, 100).unwrap().hold(HOUR);
        assert!(grants.check("k").await.unwrap().allowed);
        assert_eq!(left().await, 898);
        drop(grants);
        returned(997).await;
    });
}

#[test]
fn costs_and_denials() {
    on_one_server(async |limiter, _| {
        let policy = Policy::token(HOUR, 25);
        let grants = limiter.grants(&policy, 10).unwrap().hold(HOUR);
        let check = async |cost| grants.check_request(&policy.request("k").cost(cost)).await.unwrap();
        // More than a grant: sent as it is.
        assert_eq!(check(11).await.source, Source::Server);
        assert!(check(7).await.allowed && check(7).await.allowed);
        // All 25 units are used.
        let denied = check(1).await;
        assert_eq!((denied.allowed, denied.charged), (false, 0));
        let wait = denied.retry_after.duration().expect("a wait");
        assert!(wait > Duration::ZERO && wait <= HOUR / 25, "{wait:?}");
        // The denial is remembered.
        let decided = limiter.stats().decided;
        assert!(!grants.check("k").await.unwrap().allowed);
        assert_eq!(limiter.stats().decided, decided);

        assert!(matches!(limiter.grants(&Policy::leaky(HOUR, 5), 1), Err(Error::Unsupported(_))));
        assert!(matches!(limiter.grants(&policy, 26), Err(Error::Unsupported(_))));
        let shadow = Policy::token(HOUR, 2).shadow();
        let grants = limiter.grants(&shadow, 2).unwrap();
        for _ in 0..5 {
            assert!(grants.check("shadow").await.unwrap().allowed);
        }
    });
}

#[test]
fn a_request_has_its_own_timeout_and_fallback() {
    on_one_server(async |limiter, server| {
        // The limiter itself waits for long, and returns the error.
        let policy = Policy::token(HOUR, 1_000);
        let grants = limiter.grants(&policy, 10).unwrap().hold(HOUR);
        assert!(grants.check("k").await.unwrap().allowed);
        let other = policy.request("other");
        let paused = Paused::new(server);
        let soon = Duration::from_millis(50);
        let began = Instant::now();
        // A grant, a cost above one, and a request that does not wait.
        for (cost, timeout) in [(1, soon), (11, soon), (1, Duration::ZERO), (11, Duration::ZERO)] {
            for fallback in [Fallback::Allow, Fallback::Deny] {
                let limiter = limiter.with_timeout(timeout).with_fallback(fallback);
                let decision = grants.with_settings_of(&limiter).check_request(&other.cost(cost)).await.unwrap();
                assert_eq!((decision.allowed, decision.source), (fallback == Fallback::Allow, Source::Fallback));
            }
            let limiter = limiter.with_timeout(timeout);
            let error = grants.with_settings_of(&limiter).check_request(&other.cost(cost)).await.unwrap_err();
            assert!(matches!(error, Error::Timeout(waited) if waited == timeout), "{error}");
        }
        assert!(began.elapsed() < PATIENCE / 2, "{:?}", began.elapsed());
        // What is held is used.
        let at_once = grants.with_settings_of(&limiter.with_timeout(Duration::ZERO));
        assert_eq!(at_once.check("k").await.unwrap().source, Source::Grant);
        let alone = grants.with_settings_of(&limiter.without_server());
        assert_eq!(alone.check_request(&policy.request("k").cost(8)).await.unwrap().source, Source::Grant);
        for request in [policy.request("k"), policy.request("k").cost(0), other] {
            assert!(matches!(alone.check_request(&request).await, Err(Error::Overloaded)), "{request:?}");
        }
        drop(paused);
        // The fetch went on, so what it brings is not lost.
        assert!(eventually_is(true, async || at_once.check("other").await.is_ok()).await, "no units");
    });
}
