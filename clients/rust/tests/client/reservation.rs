//! Reservations that settle themselves.

use std::time::Duration;

use redis::aio::ConnectionManager;
use redis_rl_client::{Error, Limiter, Policy, Reservation, sync};

use crate::setup::{Paused, block_on, client, for_each_way, limiter, manager, one_server};
use crate::support::*;

const TTL: Duration = Duration::from_secs(60);
const TOKENS: Policy = Policy::counter(Duration::from_secs(86_400), 1_000);

async fn held(limiter: &Limiter<ConnectionManager>, cost: u64) -> Option<Reservation> {
    limiter.reserve(&TOKENS.request("k").cost(cost), TTL).await.unwrap().held()
}

/// Waits until so many units are left.
async fn left_is(limiter: &Limiter<ConnectionManager>, left: u64) -> bool {
    let began = std::time::Instant::now();
    while limiter.peek(&TOKENS.request("k").cost(0)).await.unwrap().remaining != left {
        if began.elapsed() > PATIENCE {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    true
}

#[test]
fn a_reservation_is_settled_once() {
    for_each_way(async |limiter, _, _| {
        let reservation = held(&limiter, 800).await.expect("room");
        assert_eq!(reservation.decision().charged, 800);
        let id = reservation.id().to_owned();
        assert!(held(&limiter, 800).await.is_none(), "no room for another");
        let settled = reservation.settle(150).await.unwrap();
        assert_eq!(settled.charged, 150);
        assert!(left_is(&limiter, 850).await);
        let again = limiter.settle_reservation(&TOKENS, "k", &id, 500).await.unwrap();
        assert_eq!(again.charged, 0);
        assert!(left_is(&limiter, 850).await);
    });
}

#[test]
fn what_excludes_a_reservation_is_an_error() {
    for_each_way(async |limiter, _, _| {
        let error = limiter.reserve(&TOKENS.request("k").always(), TTL).await.unwrap_err();
        assert!(error.to_string().contains("ALWAYS") && !error.is_unavailable(), "{error}");
        let error = limiter.reserve(&TOKENS.request("k").id("holder"), TTL).await.unwrap_err();
        assert!(error.to_string().contains("takes none") && !error.is_unavailable(), "{error}");
        assert!(left_is(&limiter, 1_000).await);
    });
}

#[test]
fn a_dropped_guard_settles_with_what_was_reported() {
    for_each_way(async |limiter, _, _| {
        // Nothing was reported: the upstream may have worked all the same.
        drop(held(&limiter, 100).await.expect("room"));
        assert!(left_is(&limiter, 900).await);
        // It was not called.
        let mut reservation = held(&limiter, 100).await.expect("room");
        reservation.called(false);
        drop(reservation);
        assert!(left_is(&limiter, 900).await);
        // A future that is cancelled while it streams. What was reported counts, whatever else was said.
        let mut reservation = held(&limiter, 100).await.expect("room");
        let streaming = async move {
            reservation.called(false);
            reservation.report(30);
            reservation.report(70);
            std::future::pending::<()>().await;
        };
        assert!(tokio::time::timeout(Duration::from_millis(20), streaming).await.is_err());
        assert!(left_is(&limiter, 830).await);
    });
}

#[test]
fn a_reservation_whose_caller_is_gone_is_cancelled() {
    for_each_way(async |limiter, _, _| {
        for micros in [0, 50, 200, 1_000] {
            let reserving = held(&limiter, 100);
            let _ = tokio::time::timeout(Duration::from_micros(micros), async {
                if let Some(reservation) = reserving.await {
                    reservation.cancel().await.unwrap();
                }
            })
            .await;
        }
        assert!(left_is(&limiter, 1_000).await);
    });
}

#[test]
fn the_same_id_is_charged_once() {
    for_each_way(async |limiter, _, _| {
        let request = TOKENS.request("k").cost(600);
        let first = limiter.reserve_as(&request, "job-1", TTL).await.unwrap().held().expect("room");
        let second = limiter.reserve_as(&request, "job-1", TTL).await.unwrap().held().expect("the same");
        assert_eq!((first.decision().charged, second.decision().charged), (600, 600));
        assert!(left_is(&limiter, 400).await);
        assert_eq!(first.settle(500).await.unwrap().charged, 500);
        assert_eq!(second.settle(400).await.unwrap().charged, 0);
        assert!(left_is(&limiter, 500).await);
    });
}

/// The guard of programs without a runtime.
#[test]
fn a_sync_reservation_is_settled_once() {
    let mut server = one_server();
    server.kill();
    server.start_again_with(|options| options.durable());
    let client = redis::Client::open(format!("redis://127.0.0.1:{}", server.port())).unwrap();
    let limiter = sync::Limiter::builder(client).timeout(Duration::from_millis(500)).build_sync();
    let request = TOKENS.request("k").cost(800);
    let held = || limiter.reserve(&request, TTL).unwrap().held();
    let left_is = |left| {
        eventually(PATIENCE, || limiter.peek(&TOKENS.request("k").cost(0)).is_ok_and(|found| found.remaining == left))
    };
    let reservation = held().expect("room");
    let id = reservation.id().to_owned();
    assert_eq!(reservation.decision().charged, 800);
    assert!(held().is_none(), "no room for another");
    assert_eq!(reservation.settle(150).unwrap().charged, 150);
    assert_eq!(limiter.settle_reservation(&TOKENS, "k", &id, 500).unwrap().charged, 0);
    assert!(left_is(850));
    held().expect("room").cancel().unwrap();
    assert!(left_is(850));
    // A guard that is dropped: nothing was called; something was reported; nothing is known.
    held().expect("room").called(false);
    assert!(left_is(850));
    held().expect("room").report(70);
    assert!(left_is(780));
    // The same id is charged once.
    let small = TOKENS.request("k").cost(80);
    let [mut first, second] =
        [0, 0].map(|_| limiter.reserve_as(&small, "job-1", TTL).unwrap().held().expect("the same"));
    assert_eq!((first.decision().charged, second.decision().charged), (80, 80));
    // That it is settled shows by what is left.
    first.report(60);
    drop(first);
    assert!(left_is(720));
    assert_eq!(second.settle(1).unwrap().charged, 0);
    assert!(left_is(720));
    // The server is away while the guard settles.
    let reservation = limiter.reserve(&small, TTL).unwrap().held().expect("room");
    server.kill();
    let settling = std::thread::spawn(move || reservation.settle(20));
    std::thread::sleep(Duration::from_millis(200));
    server.start_again();
    assert_eq!(settling.join().unwrap().unwrap().charged, 20);
    assert!(left_is(700));
}

/// The server is away while the guard settles.
#[test]
fn a_settlement_is_sent_again() {
    block_on(async {
        let mut server = one_server();
        server.kill();
        server.start_again_with(|options| options.durable());
        let limiter = limiter(&server).await.with_timeout(Duration::from_millis(200));
        let reservation = held(&limiter, 500).await.expect("room");
        server.kill();
        let settling = tokio::spawn(reservation.settle(120));
        tokio::time::sleep(Duration::from_millis(300)).await;
        server.start_again();
        assert_eq!(settling.await.unwrap().unwrap().charged, 120);
        assert!(left_is(&limiter, 880).await);
    });
}

/// The reply to a reservation is lost: the server charges it, and nobody has the guard.
#[test]
fn a_reservation_that_a_slow_server_charged_too_late_is_cancelled() {
    const TIMEOUT: Duration = Duration::from_millis(150);
    let server = one_server();
    let mut con = server.con();
    let mut is_cancelled = |key: &str| {
        eventually(PATIENCE, || {
            let stats = redis::cmd("INFO").arg("commandstats").query::<String>(&mut con).unwrap().to_ascii_lowercase();
            let count = redis::cmd("RL.PEEK").arg("COUNTER").arg(key).arg("1d").arg(1_000).query::<[i64; 3]>(&mut con);
            // It was charged, and then settled.
            let ran = |command: &str| stats.contains(&format!("cmdstat_{command}:"));
            ran("rl.counter") && ran("rl.settle") && count.unwrap()[1] == 0
        })
    };
    let asks_anew = || redis::cmd("CONFIG").arg("RESETSTAT").exec(&mut server.con()).unwrap();
    block_on(async {
        let limiter = Limiter::builder(manager(&server, "resp3").await).timeout(TIMEOUT).build();
        asks_anew();
        let paused = Paused::new(&server);
        let error = limiter.reserve(&TOKENS.request("async").cost(500), TTL).await.unwrap_err();
        assert!(matches!(error, Error::Timeout(TIMEOUT)), "{error:?}");
        drop(paused);
        assert!(is_cancelled("async"));
    });
    let limiter = sync::Limiter::builder(client(&server, "resp3")).timeout(TIMEOUT).build_sync();
    assert!(eventually(PATIENCE, || limiter.peek(&TOKENS.request("sync")).is_ok()), "no connection");
    asks_anew();
    let paused = Paused::new(&server);
    let error = limiter.reserve(&TOKENS.request("sync").cost(500), TTL).unwrap_err();
    assert!(matches!(error, Error::Timeout(TIMEOUT)), "{error:?}");
    drop(paused);
    assert!(is_cancelled("sync"));
}
