//! What programs without a runtime have beside the code that both kinds of limiters share: threads, and connections of
//! their own.

use std::time::{Duration, Instant};

use redis_rl_client::{BreakerSettings, Error, Fallback, Policy, Source, sync};

use crate::setup::{client, end_of};
use crate::support::*;

const API: Policy = Policy::token(Duration::from_secs(3600), 1_000_000);
const TOKENS: Policy = Policy::counter(Duration::from_secs(86_400), 1_000);

#[test]
fn a_thread_renews_and_releases_a_lease() {
    let server = one_server();
    let limiter = sync::Limiter::builder(client(&server, "resp3")).timeout(PATIENCE).build_sync();
    let (jobs, mut con) = (Policy::lease(Duration::from_secs(1), 1), server.con());
    let lease = limiter.lease(&jobs, "jobs").unwrap().held().expect("free");
    let first = end_of(&mut con, "jobs", lease.id());
    assert!(eventually(PATIENCE, || end_of(&mut con, "jobs", lease.id()) > first), "it is not renewed");
    assert!(limiter.lease(&jobs, "jobs").unwrap().held().is_none() && !lease.is_lost());
    assert!(lease.release().unwrap());
    drop(limiter.lease(&jobs, "jobs").unwrap().held().expect("free"));
    assert!(eventually(PATIENCE, || limiter.lease(&jobs, "jobs").unwrap().held().is_some()), "it is not released");
}

#[test]
fn a_thread_settles_the_reservation_of_a_guard_that_is_dropped() {
    let server = one_server();
    let limiter = sync::Limiter::builder(client(&server, "resp3")).timeout(PATIENCE).build_sync();
    let held = |cost| limiter.reserve(&TOKENS.request("k").cost(cost), Duration::from_secs(60)).unwrap().held();
    let left_is = |left| {
        eventually(PATIENCE, || limiter.peek(&TOKENS.request("k").cost(0)).is_ok_and(|found| found.remaining == left))
    };
    assert_eq!(held(800).expect("room").settle(150).unwrap().charged, 150);
    held(800).expect("room").called(false);
    assert!(left_is(850));
    held(800).expect("room").report(70);
    assert!(left_is(780));
    drop(held(80));
    assert!(left_is(700));
}

#[test]
fn a_sync_request_waits_no_longer_either() {
    // Longer than for the others, to see the difference between one timeout and two.
    const TIMEOUT: Duration = Duration::from_millis(450);
    const SLACK: Duration = Duration::from_millis(700);
    let mut server = one_server();
    let limiter = sync::Limiter::builder(client(&server, "resp3"))
        .timeout(TIMEOUT)
        .fallback(Fallback::Allow)
        .breaker(BreakerSettings { silence: Duration::ZERO })
        .build_sync();
    let timed = || {
        let began = Instant::now();
        let decision = limiter.check(&API, "k").expect("a decision");
        assert!(began.elapsed() <= TIMEOUT + SLACK, "{:?}", began.elapsed());
        decision.source
    };
    assert_eq!(timed(), Source::Server);
    {
        let _paused = Paused::new(&server);
        // Over the connection that is open, and over a new one.
        assert_eq!([timed(), timed()], [Source::Fallback; 2]);
        let error = limiter.with_fallback(Fallback::Error).check(&API, "k").unwrap_err();
        assert!(matches!(error, Error::Timeout(TIMEOUT)), "{error:?}");
    }
    assert!(eventually(PATIENCE, || timed() == Source::Server));
    {
        // Several requests share one timeout, over a connection that is open.
        let _paused = Paused::new(&server);
        let (requests, began) = ([API.request("k"); 20], Instant::now());
        let decisions = limiter.check_each(&requests);
        assert!(began.elapsed() <= TIMEOUT + SLACK, "{:?}", began.elapsed());
        assert!(decisions.into_iter().all(|decision| decision.unwrap().source == Source::Fallback));
    }
    assert!(eventually(PATIENCE, || timed() == Source::Server));
    server.kill();
    assert_eq!(timed(), Source::Fallback);
    server.start_again();
    assert!(eventually(PATIENCE, || timed() == Source::Server));
    assert!(limiter.stats().timeouts >= 3, "{:?}", limiter.stats());
}

#[test]
fn what_is_not_sent_in_time_is_no_silence_of_the_server() {
    let server = one_server();
    let (timeout, silence) = (Duration::from_nanos(1), Duration::from_millis(1));
    let builder = sync::Limiter::builder(client(&server, "resp3")).timeout(timeout).fallback(Fallback::Error);
    let late = builder.breaker(BreakerSettings { silence }).build_sync();
    for _ in 0..3 {
        let error = late.check(&API, "k").unwrap_err();
        assert!(matches!(error, Error::Timeout(_)), "{error:?}");
        std::thread::sleep(2 * silence);
    }
    assert_eq!(late.stats().circuit_opened, 0);
}

/// The server closed them too, or the replies to requests that were given up are on their way.
#[test]
fn connections_are_used_again_and_after_a_failure_none_of_before() {
    let server = one_server();
    let never_opens = BreakerSettings { silence: Duration::ZERO };
    let limiter = sync::Limiter::builder(client(&server, "resp3")).timeout(PATIENCE).breaker(never_opens).build_sync();
    let check = || limiter.check(&API, "k");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..20).for_each(|_| assert!(check().is_ok())));
        }
    });
    let mut con = server.con();
    let opened = info(&mut con, "total_connections_received");
    (0..20).for_each(|_| assert!(check().is_ok()));
    assert_eq!(info(&mut con, "total_connections_received"), opened, "a connection is not used again");
    redis::cmd("CLIENT").arg("KILL").arg("TYPE").arg("normal").exec(&mut server.con()).unwrap();
    // None of them was idle for long, so none is tested before.
    assert!(check().is_err() && check().is_ok());
}
