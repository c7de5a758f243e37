//! Each call, with the module and with the library.

use std::time::{Duration, Instant};

use redis_rl_client::{Algorithm, Decision, Error, Policy, RetryAfter, Source, Window};

use crate::proxy::Proxy;
use crate::setup::{Way, at_port, block_on, for_each_way};
use crate::support::*;

const HOUR: Duration = Duration::from_secs(3600);

/// A window that does not end while a test runs.
const LONG: Duration = Duration::from_secs(1_000_000_000);

/// A policy of each algorithm but LEASE: 5 in a long window.
fn policies(way: Way) -> impl Iterator<Item = Policy> {
    let fits = move |algorithm: &Algorithm| {
        *algorithm != Algorithm::Lease && (way == Way::Module || *algorithm != Algorithm::Rolling)
    };
    let policies = Algorithm::ALL.into_iter().filter(fits);
    policies.map(|algorithm| Policy::new(algorithm, Window::Length(LONG), 5).expect("a policy"))
}

#[test]
fn every_call_of_every_algorithm_reaches_the_server() {
    for_each_way(async |limiter, _, way| {
        for policy in policies(way) {
            let key = &*policy.to_string();
            let remaining = async || limiter.peek(&policy.request(key).cost(0)).await.unwrap().remaining;
            let first = limiter.check(&policy, key).await.unwrap();
            assert_eq!((first.allowed, first.charged, first.remaining, first.limit), (true, 1, 4, 5), "{policy}");
            assert_eq!((first.retry_after, first.source), (RetryAfter::Now, Source::Server));
            let charged = limiter.check_request(&policy.request(key).cost(4)).await.unwrap();
            let denied = limiter.check(&policy, key).await.unwrap();
            assert!(!denied.allowed && denied.charged == 0, "{policy}");
            let wait = denied.retry_after.duration().expect("a wait");
            // COUNTER counts a window for another one.
            assert!(wait > Duration::ZERO && wait <= 2 * LONG, "{policy}: {wait:?}");
            assert_eq!((denied.next, denied.reset_after.unwrap() >= wait), (Some(wait), true), "{policy}");
            let never = limiter.check_request(&policy.request("other").cost(6)).await.unwrap();
            assert_eq!((never.allowed, never.retry_after), (false, RetryAfter::Never), "{policy}");

            assert!(limiter.refund(&policy.request(key).cost(2).at(charged.now_ms)).await.unwrap().allowed, "{policy}");
            assert_eq!(remaining().await, 2, "{policy}");
            // It was charged 3 in the end, and cost 5.
            let settled = limiter.settle(&policy.request(key).cost(3).at(charged.now_ms), 5).await;
            assert_eq!(settled.is_ok(), policy.algorithm().traits().settle, "{policy}: {settled:?}");
            assert_eq!(remaining().await, if settled.is_ok() { 0 } else { 2 }, "{policy}");
            assert!(limiter.reset(&policy, key).await.unwrap(), "{policy}");
            assert!(!limiter.reset(&policy, key).await.unwrap(), "{policy}");
            assert_eq!(remaining().await, 5, "{policy}");
        }
    });
}

#[test]
fn the_first_limit_that_allows_pays_and_each_one_after_it() {
    for_each_way(async |limiter, _, _| {
        let (team, model) = (Policy::counter(HOUR, 2).name("team"), Policy::token(HOUR, 4).name("model"));
        let share = async |key: &str, cost| {
            let shared = limiter.share(&[team.request(key).cost(cost), model.request("{m}").cost(cost)]).await.unwrap();
            (shared.paid, shared.decision().map(|(_, one)| one.policy().label().to_owned()), shared.limits[1].remaining)
        };
        let team_pays = |left| (Some(0), Some("team".to_owned()), left);
        assert_eq!(share("{m}:a", 2).await, team_pays(2));
        assert_eq!(share("{m}:a", 2).await, (Some(1), Some("model".to_owned()), 0));
        let denied = share("{m}:a", 1).await;
        assert_eq!((denied.0, denied.2), (None, 0), "the model allows it first: {denied:?}");
        assert_eq!(denied.1.as_deref(), Some("model"));
        assert_eq!(share("{m}:b", 1).await, team_pays(0));
        let one = limiter.share(&[team.request("k")]).await;
        assert!(matches!(one, Err(Error::Redis(_))), "{one:?}");
    });
}

#[test]
fn wait_is_as_long_as_the_limit_says_and_not_longer() {
    for_each_way(async |limiter, _, _| {
        let policy = Policy::gcra(Duration::from_millis(300), 1);
        let began = Instant::now();
        assert!(limiter.check(&policy, "k").await.unwrap().allowed);
        assert!(limiter.wait(&policy.request("k"), Duration::MAX).await.unwrap().allowed);
        assert!(began.elapsed() >= Duration::from_millis(200), "{:?}", began.elapsed());
        // What cannot be in time is denied at once.
        let slow = Policy::gcra(HOUR, 1);
        assert!(limiter.check(&slow, "slow").await.unwrap().allowed);
        let began = Instant::now();
        assert!(!limiter.wait(&slow.request("slow"), HOUR / 2).await.unwrap().allowed);
        assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
        // A delay that is too long is given back. A unit drains in a time that no machine takes for this.
        let queue = Policy::leaky(HOUR, 3);
        limiter.check_request(&queue.request("r").cost(2)).await.unwrap();
        assert!(!limiter.wait(&queue.request("r"), Duration::ZERO).await.unwrap().allowed);
        assert_eq!(limiter.peek(&queue.request("r").cost(0)).await.unwrap().remaining, 1);
    });
}

const PAIR: Policy = Policy::token(HOUR, 2).name("pair");

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
            [PAIR.request("a"), PAIR.request("b"), PAIR.request("a").cost(2), PAIR.request("a"), PAIR.request("a")];
        assert_eq!(allowed(limiter.check_each(&requests).await), [true, true, false, true, false]);
        assert!(limiter.check_each(&[]).await.is_empty());
        // The error of one request is none of the others.
        let rolling = Policy::rolling(HOUR, 1);
        let decisions = limiter
            .check_each(&[PAIR.request("c"), PAIR.request("foreign"), rolling.request("d"), PAIR.request("c")])
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
    let requests: Vec<_> = keys.iter().map(|key| PAIR.request(key)).collect();
    block_on(async {
        let limiter = at_port(proxy.port).timeout(PATIENCE).build();
        limiter.connect().await.expect("a connection");
        let began = Instant::now();
        assert_eq!(allowed(limiter.check_each(&requests).await), [true; 20]);
        // One after the other they need four seconds.
        assert!((2 * DELAY..Duration::from_secs(3)).contains(&began.elapsed()), "{:?}", began.elapsed());
    });
}
