//! Reservations that settle themselves.

use std::time::Duration;

use redis_rl_client::{Error, Fallback, Limiter, Policy, Request, Reservation, ReservedAll};

use crate::setup::{Way, at_port, block_on, connected, eventually_is, for_each_way, limiter};
use crate::support::*;

const TTL: Duration = Duration::from_secs(60);
const TOKENS: Policy = Policy::counter(Duration::from_secs(86_400), 1_000);

async fn held(limiter: &Limiter, cost: u64) -> Option<Reservation> {
    limiter.reserve(&TOKENS.request("k").cost(cost), TTL).await.unwrap().held()
}

/// Waits until so many units are left.
async fn left_is(limiter: &Limiter, left: u64) -> bool {
    let request = TOKENS.request("k").cost(0);
    eventually_is(left, async || limiter.peek(&request).await.unwrap().remaining).await
}

#[test]
fn a_reservation_is_settled_once() {
    for_each_way(async |limiter, _, way| {
        let reservation = held(&limiter, 800).await.expect("room");
        assert_eq!(reservation.decision().charged, 800);
        let id = reservation.id().to_owned();
        assert!(held(&limiter, 800).await.is_none(), "no room for another");
        let settled = reservation.settle(150).await.unwrap();
        assert_eq!(settled.charged, 150);
        assert!(left_is(&limiter, 850).await);
        let again = limiter.settle_request(&TOKENS.request("k"), &id, 500).await;
        match way {
            Way::Module => assert_eq!(again.unwrap().charged, 0),
            // Only the guard knows what was charged, and when.
            Way::Library => assert!(matches!(again, Err(Error::NeedsModule))),
        }
        assert!(left_is(&limiter, 850).await);
        // A key that is sent as it is, and would else be bounded once more.
        let key = format!("{}~{}", "k".repeat(32), "0".repeat(64));
        let request = TOKENS.request(&key).cost(10).with_key_as_it_is();
        limiter.reserve(&request, TTL).await.unwrap().held().expect("room").settle(4).await.unwrap();
        assert_eq!(limiter.peek(&request.cost(0)).await.unwrap().remaining, 996);
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

#[test]
fn a_settlement_that_is_rejected_is_counted() {
    let server = one_server();
    block_on(async {
        let limiter = limiter(&server).await;
        let held = held(&limiter, 10).await.expect("room");
        ok(cmd!(server.con(), "ACL", "SETUSER", "default", "-rl.settle"));
        // Nobody looks at the error.
        drop(held);
        assert!(eventually(PATIENCE, || limiter.stats().unsettled == 1));
    });
}

const REQUESTS: Policy = Policy::window_counter(Duration::from_secs(86_400), 10).name("requests");
const OUTPUT: Policy = Policy::fixed(Duration::from_secs(1_000_000_000), 500).name("output");

/// A request, and tokens of the prompt and of the output.
fn gateway(input: u64, output: u64) -> [Request<'static>; 3] {
    let (input, output) = (TOKENS.request("{g}:input").cost(input), OUTPUT.request("{g}:output").cost(output));
    [REQUESTS.request("{g}:requests"), input, output]
}

#[test]
fn several_limits_are_reserved_together_and_settled_each_by_itself() {
    for_each_way(async |limiter, _, _| {
        let charged = async || {
            let mut charged = [10, 1_000, 500];
            for (charged, request) in charged.iter_mut().zip(gateway(0, 0)) {
                *charged -= limiter.peek(&request.cost(0)).await.unwrap().remaining;
            }
            charged
        };
        let charged_is = async |expected| assert!(eventually_is(expected, &charged).await, "not {expected:?}");
        let all = async |input, output| limiter.reserve_all(&gateway(input, output), TTL).await.unwrap();
        let reservations = all(800, 200).await.held().expect("room");
        assert!(reservations.iter().all(|reservation| reservation.id() == reservations[0].id()));
        charged_is([1, 800, 200]).await;
        match all(201, 200).await {
            ReservedAll::Denied(decisions) => {
                assert_eq!(decisions.limits.iter().map(|limit| limit.allowed).collect::<Vec<_>>(), [true, false, true]);
            }
            ReservedAll::Held(_) => panic!("allowed"),
        }
        for (reservation, actual) in reservations.into_iter().zip([1, 700, 20]) {
            assert_eq!(reservation.settle(actual).await.unwrap().charged, actual);
        }
        charged_is([1, 700, 20]).await;
        // Dropped: what was reported; the estimate of what was not.
        let mut reservations = all(100, 200).await.held().expect("room");
        reservations[2].report(30);
        drop(reservations);
        charged_is([2, 800, 50]).await;
        // The upstream was not called.
        let mut reservations = all(100, 200).await.held().expect("room");
        reservations.iter_mut().for_each(|reservation| reservation.called(false));
        drop(reservations);
        charged_is([2, 800, 50]).await;
        // The caller is gone. The server decides on what nobody waits for.
        let decided = limiter.stats().decided;
        for micros in [0, 50, 200, 1_000] {
            let _ = tokio::time::timeout(Duration::from_micros(micros), async {
                if let Some(mut reservations) = all(100, 200).await.held() {
                    reservations.iter_mut().for_each(|reservation| reservation.called(false));
                }
            })
            .await;
        }
        assert!(eventually(PATIENCE, || limiter.stats().decided == decided + 4));
        charged_is([2, 800, 50]).await;
        let lease = Policy::lease(Duration::from_secs(30), 2);
        let error = limiter.reserve_all(&[lease.request("{g}:calls").id("x")], TTL).await.unwrap_err();
        assert!(error.to_string().contains("RESERVE") && !error.is_unavailable(), "{error}");
    });
}

/// The reply is lost: the server charges what nobody has, or what the fallback has denied by then.
#[test]
fn what_was_charged_too_late_is_cancelled() {
    const TIMEOUT: Duration = Duration::from_millis(200);
    let request = TOKENS.request("k").cost(500);
    let server = one_server();
    let mut con = server.con();
    block_on(async {
        let limiter =
            connected(&server, |builder| builder.timeout(TIMEOUT).breaker(Duration::ZERO).fallback(Fallback::Deny))
                .await;
        let fails = limiter.with_fallback(Fallback::Error);
        let mut count = |what: &str| info(&mut con, &format!("rl_reservations_{what}")).parse::<u64>().unwrap();
        for way in 0..4 {
            let made = count("made");
            let paused = Paused::new(&server);
            let is_held = match way {
                0 => limiter.reserve(&request, TTL).await.unwrap().held().is_some(),
                1 => limiter.reserve_all(&gateway(1, 1), TTL).await.unwrap().held().is_some(),
                2 => fails.reserve(&request, TTL).await.is_ok(),
                _ => fails.reserve_all(&gateway(1, 1), TTL).await.is_ok(),
            };
            assert!(!is_held, "{way}");
            drop(paused);
            assert!(eventually(PATIENCE, || count("made") > made && count("made") == count("settled")), "{way}");
        }
    });
}

/// While the circuit breaker is open nothing is sent, so nothing is charged under the new id.
#[test]
fn what_a_fallback_allows_without_sending_it_is_not_settled() {
    let request = TOKENS.request("k").cost(500);
    block_on(async {
        let builder = at_port(free_port());
        let limiter = builder.fallback(Fallback::Allow).build();
        assert!(limiter.check_request(&request).await.is_ok());
        for _ in 0..3 {
            drop(limiter.reserve(&request, TTL).await.unwrap().held().expect("allowed"));
            drop(limiter.reserve_all(&gateway(1, 1), TTL).await.unwrap().held().expect("allowed"));
        }
        let held = limiter.reserve(&request, TTL).await.unwrap().held().expect("allowed");
        let settled = tokio::time::timeout(PATIENCE, held.settle(7)).await.expect("at once").unwrap();
        let held = limiter.reserve(&request, TTL).await.unwrap().held().expect("allowed");
        assert_eq!((settled.charged, held.cancel().await.unwrap().charged), (0, 0));
        // A settlement would be tried at once, and again 50 ms later.
        tokio::time::sleep(Duration::from_millis(100)).await;
        let stats = limiter.stats();
        assert_eq!((stats.circuit_open, stats.unsettled), (8, 0), "{stats:?}");
    });
}
