//! The circuit breaker measures the server, and nothing else.

use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use redis_rl_client::{Error, Fallback, Limiter, Policy, Source};

use crate::setup::{at_port, block_on};
use crate::support::*;

const API: Policy = Policy::token(Duration::from_secs(3600), 1_000_000);
const TIMEOUT: Duration = Duration::from_millis(15);
/// After so long a silence the breaker opens.
const SILENCE: Duration = Duration::from_millis(250);
/// What a busy machine may add.
const SLACK: Duration = Duration::from_millis(400);

fn limiter(port: u16) -> Limiter {
    at_port(port).timeout(TIMEOUT).fallback(Fallback::Deny).denials(0).build()
}

/// A runtime with one thread, so that a task that does not yield stops all others.
fn one_thread<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(test)
}

async fn source(limiter: &Limiter) -> Source {
    limiter.check(&API, "k").await.expect("a decision").source
}

/// Lets the other tasks of this thread run.
async fn give_turns() {
    for _ in 0..5 {
        tokio::task::yield_now().await;
    }
}

#[test]
fn a_reply_that_is_there_counts_however_late_it_is_read() {
    let server = one_server();
    one_thread(async {
        let limiter = limiter(server.port());
        limiter.connect().await.expect("a connection");
        // Longer than the time limit, then longer than the silence.
        for stop in [4 * TIMEOUT, 2 * SILENCE] {
            let (checked, pair) = (limiter.clone(), [API.request("a"), API.request("b")]);
            let check = tokio::spawn(async move { source(&checked).await });
            let several = limiter.clone();
            let each = tokio::spawn(async move { several.check_each(&pair).await });
            give_turns().await;
            thread::sleep(stop);
            assert_eq!(check.await.expect("a task"), Source::Server);
            assert!(each.await.expect("a task").iter().flatten().all(|decision| decision.source == Source::Server));
        }
        let stats = limiter.stats();
        assert_eq!((stats.timeouts, stats.circuit_opened), (0, 0), "{stats:?}");
    });
}

/// Polls once.
fn begin<T>(future: &mut (impl Future<Output = T> + Unpin)) {
    let polled = std::pin::Pin::new(future).poll(&mut Context::from_waker(Waker::noop()));
    assert!(matches!(polled, Poll::Pending), "it did not wait");
}

#[test]
fn a_request_that_nobody_waits_for_is_not_sent() {
    let server = one_server();
    one_thread(async {
        let limiter = limiter(server.port());
        limiter.connect().await.expect("a connection");
        let mut left = Box::pin(source(&limiter));
        begin(&mut left);
        drop(left);
        assert_eq!(source(&limiter).await, Source::Server);
        assert_eq!(info(&mut server.con(), "rl_token_allowed"), "1");
    });
}

/// More requests than this process handles within the time limit, beside other work on its thread.
#[test]
fn a_flood_opens_nothing() {
    const REQUESTS: usize = 4_000;
    let server = one_server();
    one_thread(async {
        let limiter = limiter(server.port());
        limiter.connect().await.expect("a connection");
        let busy = tokio::spawn(async {
            loop {
                thread::sleep(Duration::from_millis(20));
                tokio::task::yield_now().await;
            }
        });
        let checks = (0..REQUESTS).map(|_| {
            let limiter = limiter.clone();
            tokio::spawn(async move { source(&limiter).await })
        });
        for check in checks.collect::<Vec<_>>() {
            check.await.expect("a task");
        }
        busy.abort();
        assert_eq!(limiter.stats().circuit_opened, 0, "{:?}", limiter.stats());
        let began = Instant::now();
        while source(&limiter).await != Source::Server {
            assert!(began.elapsed() < SLACK, "it decides nothing after the flood");
        }
    });
}

#[test]
fn a_server_that_hangs_opens_it_and_its_late_reply_closes_it() {
    let server = one_server();
    let mut con = server.con();
    block_on(async {
        let limiter = limiter(server.port());
        limiter.connect().await.expect("a connection");
        assert_eq!(source(&limiter).await, Source::Server);
        let connections = info(&mut con, "total_connections_received");
        let began = Instant::now();
        {
            let _paused = Paused::new(&server);
            while limiter.stats().circuit_opened == 0 {
                assert_eq!(source(&limiter).await, Source::Fallback);
                assert!(began.elapsed() < SILENCE + SLACK, "it does not open");
            }
            assert!(began.elapsed() >= SILENCE, "{:?}", began.elapsed());
            // More than five requests had no reply until then.
            assert!(limiter.stats().timeouts > 5 && limiter.stats().breakers_open == 1, "{:?}", limiter.stats());
            let began = Instant::now();
            assert_eq!(source(&limiter).await, Source::Fallback);
            assert!(began.elapsed() < TIMEOUT, "it was sent");
        }
        let began = Instant::now();
        while source(&limiter).await != Source::Server {
            assert!(began.elapsed() < SLACK, "it does not close");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert_eq!(limiter.stats().breakers_open, 0);
        // That silence is over, so a second later it does not replace the connection.
        tokio::time::sleep(Duration::from_secs(1)).await;
        source(&limiter).await;
        assert_eq!(info(&mut con, "total_connections_received"), connections);
    });
}

#[test]
fn without_a_connection_all_fail_at_once_and_the_first_says_why() {
    block_on(async {
        let limiter = limiter(free_port()).with_fallback(Fallback::Error);
        let error = limiter.check(&API, "k").await.unwrap_err();
        assert!(matches!(&error, Error::Redis(error) if error.to_string().contains("refused")), "{error}");
        assert!(matches!(limiter.check(&API, "k").await, Err(Error::CircuitOpen)));
    });
}
