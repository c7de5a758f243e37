//! Each call, over RESP2 and RESP3, with the module and with the library, with and without a runtime.

use std::time::Duration;

use redis_rl_client::{Algorithm, Calendar, Error, Leased, Policy, RetryAfter, Source, Window, sync};

use crate::setup::{Way, client, end_of, for_each_way, one_server};
use crate::support::*;

const HOUR: Duration = Duration::from_secs(3600);
const API: Policy = Policy::token(HOUR, 5).name("api");

/// A policy of each algorithm but LEASE: 5 an hour.
fn policies(way: Way) -> impl Iterator<Item = Policy> {
    let fits = move |algorithm: &Algorithm| {
        *algorithm != Algorithm::Lease && (way == Way::Module || *algorithm != Algorithm::Rolling)
    };
    let policies = Algorithm::ALL.into_iter().filter(fits);
    policies.map(|algorithm| Policy::new(algorithm, Window::Length(HOUR), 5).expect("a policy"))
}

#[test]
fn the_sixth_request_is_denied_and_says_until_when() {
    for_each_way(async |limiter, _, way| {
        for policy in policies(way) {
            for left in (0..5).rev() {
                let decision = limiter.check(&policy, policy.to_string()).await.unwrap();
                assert!(decision.allowed, "{policy}");
                assert_eq!((decision.charged, decision.remaining, decision.limit), (1, left, 5), "{policy}");
                assert_eq!((decision.retry_after, decision.source), (RetryAfter::Now, Source::Server));
            }
            let denied = limiter.check(&policy, policy.to_string()).await.unwrap();
            assert!(!denied.allowed && denied.charged == 0, "{policy}");
            let wait = denied.retry_after.duration().expect("a wait");
            // COUNTER counts a window for another one.
            assert!(wait > Duration::ZERO && wait <= 2 * HOUR, "{policy}: {wait:?}");
            assert_eq!(denied.next, Some(wait), "{policy}");
            assert!(denied.reset_after.unwrap() >= wait, "{policy}");
            let never = limiter.check_request(&policy.request("other").cost(6)).await.unwrap();
            assert_eq!((never.allowed, never.retry_after), (false, RetryAfter::Never), "{policy}");
        }
        assert_eq!(limiter.lacks_module(), way == Way::Library);
    });
}

#[test]
fn options_reach_the_server() {
    for_each_way(async |limiter, server, way| {
        let now = server_ms(&mut server.con());
        let burst = Policy::gcra(HOUR, 5).burst(50);
        let decision = limiter.check_request(&burst.request("burst").cost(20)).await.unwrap();
        assert_eq!((decision.limit, decision.remaining, decision.charged), (50, 30, 20));
        assert!(decision.now_ms >= now as u64 && decision.now_ms < now as u64 + 60_000);

        let partial = limiter.check_request(&API.request("partial").cost(7).partial()).await.unwrap();
        assert_eq!((partial.allowed, partial.charged, partial.remaining), (true, 5, 0));
        let nothing = limiter.check_request(&API.request("partial").cost(7).partial()).await.unwrap();
        assert_eq!((nothing.allowed, nothing.charged), (false, 0));
        // COST 0 PARTIAL charges 0 units in either case.
        let left = |key: &'static str| {
            let limiter = &limiter;
            async move { limiter.check_request(&API.request(key).cost(0).partial()).await.unwrap().allowed }
        };
        assert_eq!([left("partial").await, left("fresh").await], [false, true]);

        let shadow = Policy::token(HOUR, 0).shadow();
        let decision = limiter.check(&shadow, "shadow").await.unwrap();
        assert_eq!((decision.allowed, decision.shadow, decision.charged), (true, true, 0));

        let queue = Policy::leaky(Duration::from_secs(10), 10);
        let delays = [limiter.check(&queue, "queue").await.unwrap(), limiter.check(&queue, "queue").await.unwrap()];
        assert_eq!(delays[0].delay, Duration::ZERO);
        assert!(delays[1].delay > Duration::from_millis(500) && delays[1].delay <= Duration::from_secs(1));

        let month = Policy::fixed_calendar(Calendar::Month, 5).anchor(1_768_608_000);
        assert!(limiter.check(&month, "month").await.unwrap().allowed);
        let key: Vec<String> = redis::cmd("KEYS").arg("month:month:*").query(&mut server.con()).unwrap();
        assert_eq!(key.len(), 1, "{way:?}");
    });
}

#[test]
fn several_limits_are_all_or_nothing() {
    for_each_way(async |limiter, _, _| {
        let (calls, tokens) = (Policy::token(HOUR, 2).name("calls"), Policy::counter(HOUR, 1000).name("tokens"));
        let requests = [calls.request("{o}:calls"), tokens.request("{o}:tokens").cost(400)];
        for left in [600, 200] {
            let decisions = limiter.check_all(&requests).await.unwrap();
            assert!(decisions.allowed);
            assert_eq!((decisions.limits[1].remaining, decisions.limits[1].charged), (left, 400));
        }
        let denied = limiter.check_all(&requests).await.unwrap();
        assert!(!denied.allowed && denied.limits.iter().all(|limit| limit.charged == 0));
        assert_eq!(denied.denied().map(|limit| limit.policy().label()).collect::<Vec<_>>(), ["calls", "tokens"]);
        assert_eq!(limiter.peek(&tokens.request("{o}:tokens").cost(0)).await.unwrap().remaining, 200);
    });
}

#[test]
fn what_is_given_back_can_be_used_again() {
    for_each_way(async |limiter, _, way| {
        for policy in policies(way) {
            let key = policy.to_string();
            let all = policy.request(&key).cost(5);
            let charged = limiter.check_request(&all).await.unwrap();
            assert_eq!(charged.remaining, 0);
            let after = limiter.refund(&policy.request(&key).cost(2).at(charged.now_ms)).await.unwrap();
            assert!(after.allowed, "{policy}");
            assert_eq!(limiter.peek(&policy.request(&key).cost(0)).await.unwrap().remaining, 2, "{policy}");
            // It was charged 3 in the end, and cost 5.
            limiter.settle(&policy.request(&key).cost(3).at(charged.now_ms), 5).await.unwrap();
            assert_eq!(limiter.peek(&policy.request(&key).cost(0)).await.unwrap().remaining, 0, "{policy}");
            assert!(limiter.reset(&policy, &key).await.unwrap(), "{policy}");
            assert!(!limiter.reset(&policy, &key).await.unwrap(), "{policy}");
            assert_eq!(limiter.peek(&policy.request(&key).cost(0)).await.unwrap().remaining, 5, "{policy}");
        }
    });
}

#[test]
fn wait_is_as_long_as_the_limit_says_and_not_longer() {
    for_each_way(async |limiter, _, _| {
        let policy = Policy::gcra(Duration::from_millis(300), 1);
        let began = std::time::Instant::now();
        assert!(limiter.check(&policy, "k").await.unwrap().allowed);
        assert!(limiter.wait(&policy.request("k"), Duration::MAX).await.unwrap().allowed);
        assert!(began.elapsed() >= Duration::from_millis(200), "{:?}", began.elapsed());
        // What cannot be in time is denied at once.
        let slow = Policy::gcra(HOUR, 1);
        assert!(limiter.check(&slow, "slow").await.unwrap().allowed);
        let began = std::time::Instant::now();
        assert!(!limiter.wait(&slow.request("slow"), HOUR / 2).await.unwrap().allowed);
        assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());

        let queue = Policy::leaky(Duration::from_millis(300), 3);
        let began = std::time::Instant::now();
        let waits = (0..3).map(|_| {
            let limiter = limiter.clone();
            tokio::spawn(async move { limiter.wait(&queue.request("q"), PATIENCE).await.unwrap() })
        });
        for wait in waits.collect::<Vec<_>>() {
            assert!(wait.await.unwrap().allowed);
        }
        assert!(began.elapsed() >= Duration::from_millis(150), "{:?}", began.elapsed());
        // A delay that is too long is given back. A unit drains in a time that no machine takes for this.
        let queue = Policy::leaky(HOUR, 3);
        let before = limiter.peek(&queue.request("r").cost(0)).await.unwrap().remaining;
        limiter.check_request(&queue.request("r").cost(2)).await.unwrap();
        assert!(!limiter.wait(&queue.request("r"), Duration::ZERO).await.unwrap().allowed);
        assert_eq!((before, limiter.peek(&queue.request("r").cost(0)).await.unwrap().remaining), (3, 1));
    });
}

#[test]
fn an_error_of_the_server_is_an_error_and_no_fallback() {
    for_each_way(async |limiter, server, way| {
        redis::cmd("SET").arg("k").arg("foreign").exec(&mut server.con()).unwrap();
        let limiter = limiter.with_fallback(redis_rl_client::Fallback::Allow);
        let error = limiter.check(&API, "k").await.unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, Error::Redis(_)) && text.contains("did not write"), "{way:?}: {text}");
        let error = limiter.check_all(&[API.request("other"), API.request("k")]).await.unwrap_err();
        assert!(!error.is_unavailable() && error.to_string().contains("did not write"), "{way:?}: {error}");
        let stats = limiter.stats();
        assert_eq!((stats.fallback_allowed, stats.rejected), (0, 2), "{stats:?}");
    });
}

fn sync_calls(client: redis::Client, way: Way) {
    let mut con = client.get_connection().expect("a connection");
    let limiter = sync::Limiter::builder(client).denials(0).timeout(Duration::MAX).build_sync();
    for left in (0..5).rev() {
        assert_eq!(limiter.check(&API, "user").unwrap().remaining, left);
    }
    assert!(!limiter.check(&API, "user").unwrap().allowed);
    assert_eq!(limiter.lacks_module(), way == Way::Library);
    assert!(limiter.refund(&API.request("user").cost(2)).unwrap().allowed);
    assert!(limiter.settle(&API.request("user").cost(2), 1).unwrap().allowed);
    assert_eq!(limiter.peek(&API.request("user").cost(0)).unwrap().remaining, 3);
    assert!(limiter.reset(&API, "user").unwrap());
    let over = limiter.check_request(&API.request("always").cost(6).always()).unwrap();
    assert_eq!((over.allowed, over.charged), (false, 6));
    let (budget, hour) = (Policy::counter(Duration::from_secs(3600), 10), Duration::from_secs(3600));
    let reserved = limiter.check_request(&budget.request("budget").cost(8).reserve("job", hour)).unwrap();
    assert_eq!((reserved.allowed, reserved.charged), (true, 8));
    let settle = || limiter.settle_reservation(&budget, "budget", "job", 3).unwrap();
    assert_eq!((settle().charged, settle().charged), (3, 0));
    let both = [API.request("{u}:1"), API.request("{u}:2").cost(6)];
    let decisions = limiter.check_all(&both).unwrap();
    assert_eq!((decisions.allowed, decisions.denied().count()), (false, 1));

    let quick = Policy::gcra(Duration::from_millis(100), 1);
    assert!(limiter.check(&quick, "w").unwrap().allowed);
    assert!(limiter.wait(&quick.request("w"), Duration::MAX).unwrap().allowed);

    let jobs = Policy::lease(Duration::from_secs(3), 1);
    let sync::Leased::Held(lease) = limiter.lease(&jobs, "jobs").unwrap() else { panic!("denied") };
    let first = end_of(&mut con, "jobs", lease.id());
    assert!(eventually(PATIENCE, || end_of(&mut con, "jobs", lease.id()) > first), "it is not renewed");
    assert!(!lease.is_lost());
    assert!(matches!(limiter.lease(&jobs, "jobs").unwrap(), sync::Leased::Denied(_)));
    assert!(lease.release().unwrap());
    assert!(matches!(limiter.lease(&jobs, "jobs").unwrap(), sync::Leased::Held(_)));
}
