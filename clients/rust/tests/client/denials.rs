//! Remembered denials: a denied key is not asked for again before it could pass, and never too late.

use std::time::Duration;

use redis_rl_client::{Policy, Request, Source};

use crate::setup::{block_on, connected, limiter, on_one_server};
use crate::support::*;

const SLOW: Policy = Policy::token(Duration::from_secs(3600), 10);

#[test]
fn a_denied_key_is_not_asked_for_again() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        block_on(async {
            let limiter = limiter(&server).await;
            assert!(limiter.check_request(&SLOW.request("k").cost(8)).await.unwrap().allowed);
            let denied = limiter.check_request(&SLOW.request("k").cost(5)).await.unwrap();
            assert_eq!((denied.allowed, denied.source), (false, Source::Server));
            for cost in [5, 6, 10] {
                let decision = limiter.check_request(&SLOW.request("k").cost(cost)).await.unwrap();
                assert_eq!((decision.allowed, decision.source), (false, Source::RememberedDenial), "{cost}");
                assert!(decision.retry_after.duration() <= denied.retry_after.duration());
            }
            // A smaller cost may fit, and other keys and policies are other limits.
            assert!(limiter.check_request(&SLOW.request("k").cost(2)).await.unwrap().allowed);
            assert!(limiter.check_request(&SLOW.request("other").cost(5)).await.unwrap().allowed);
            assert!(limiter.check_request(&SLOW.burst(50).request("k").cost(5)).await.unwrap().allowed);
            let stats = limiter.stats();
            assert_eq!((stats.decided, stats.remembered), (5, 3));

            // Where nothing fits, neither does a part; where a cost of 0 is denied, so is 1.
            assert!(!limiter.check_request(&SLOW.request("z").cost(11)).await.unwrap().allowed);
            assert!(limiter.check_request(&SLOW.request("z").cost(10)).await.unwrap().allowed);
            assert!(!limiter.check_request(&SLOW.request("z").cost(0)).await.unwrap().allowed);
            for request in [SLOW.request("z"), SLOW.request("z").cost(9).partial(), SLOW.request("z").cost(0)] {
                let decision = limiter.check_request(&request).await.unwrap();
                assert_eq!((decision.allowed, decision.source), (false, Source::RememberedDenial));
            }
        });
    });
}

#[test]
fn a_request_with_always_is_sent_unless_it_would_change_nothing() {
    on_one_server(async |limiter, _| {
        let hour = Duration::from_secs(3600);
        for (policy, all_come_back_at_once) in [
            (Policy::fixed(Duration::from_secs(365 * 86_400), 10), true),
            (Policy::window_counter(hour, 10), true),
            (Policy::counter(hour, 10), false),
            (Policy::rolling(hour, 10), false),
            (Policy::token(hour, 10), false),
        ] {
            let label = policy.label();
            let of = async |request: Request<'_>| {
                let decision = limiter.check_request(&request).await.unwrap();
                (decision.allowed, decision.charged, decision.source)
            };
            let always = |cost| policy.request(label).cost(cost).always();
            // A denial that charged nothing says nothing of what is to be charged.
            assert_eq!(of(policy.request(label).cost(11)).await, (false, 0, Source::Server), "{label}");
            assert_eq!(of(always(11)).await, (false, 11, Source::Server), "{label}");
            let again =
                if all_come_back_at_once { (false, 0, Source::RememberedDenial) } else { (false, 11, Source::Server) };
            assert_eq!(of(always(11)).await, again, "{label}");
            assert_eq!(of(always(10)).await, (false, 10, Source::Server), "{label}");
            // A look is sent; it is no denial of what costs more.
            assert_eq!(of(always(0)).await, (false, 0, Source::Server), "{label}");
        }
    });
}

#[test]
fn what_this_client_gives_back_counts_at_once() {
    on_one_server(async |limiter, server| {
        for key in ["refund", "settle", "reset"] {
            let all = SLOW.request(key).cost(10);
            limiter.check_request(&all).await.unwrap();
            assert!(!limiter.check(&SLOW, key).await.unwrap().allowed);
            assert_eq!(limiter.check(&SLOW, key).await.unwrap().source, Source::RememberedDenial);
            match key {
                "refund" => assert!(limiter.refund(&all).await.is_ok()),
                "settle" => assert!(limiter.settle(&all, 3).await.is_ok()),
                _ => assert!(limiter.reset_request(&all).await.unwrap()),
            }
            assert!(limiter.check(&SLOW, key).await.unwrap().allowed, "{key}");
        }

        // Leases are not remembered: another process may release one at any time.
        let jobs = Policy::lease(Duration::from_secs(3600), 1);
        let taken = limiter.check_request(&jobs.request("jobs").id("a")).await.unwrap();
        assert!(taken.allowed && !limiter.check_request(&jobs.request("jobs").id("b")).await.unwrap().allowed);
        redis::cmd("RL.RELEASE").arg("jobs").arg("a").exec(&mut server.con()).unwrap();
        assert!(limiter.check_request(&jobs.request("jobs").id("b")).await.unwrap().allowed);
    });
}

#[test]
fn what_others_give_back_counts_when_the_denial_is_asked_about_again() {
    const RECHECK: Duration = Duration::from_millis(1);
    block_on(async {
        let server = one_server();
        let asks = connected(&server, |builder| builder.timeout(PATIENCE).recheck_denials(RECHECK)).await;
        let all = SLOW.request("k").cost(10);
        let mut con = server.con();
        let allowed = async |way| match way {
            0 => asks.check_request(&all).await.unwrap().allowed,
            1 => asks.check_each(&[all]).await.pop().unwrap().unwrap().allowed,
            _ => asks.check_all(&[all]).await.unwrap().allowed,
        };
        for way in 0..3 {
            redis::cmd("FLUSHALL").exec(&mut con).unwrap();
            assert_eq!((allowed(way).await, allowed(way).await), (true, false), "{way}");
            redis::cmd("FLUSHALL").exec(&mut con).unwrap();
            tokio::time::sleep(2 * RECHECK).await;
            assert!(allowed(way).await, "{way}");
        }
    });
}
