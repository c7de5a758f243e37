//! The time limit and the circuit breaker measure the server, and nothing else.

use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use redis_rl_client::{Decision, Error, Fallback, Limiter, Link, Policy, Source};

use crate::link::url;
use crate::proxy::Proxy;
use crate::setup::block_on;
use crate::support::*;

const API: Policy = Policy::token(Duration::from_secs(3600), 1_000_000);
const TIMEOUT: Duration = Duration::from_millis(15);
/// After so long a silence the breaker opens.
const SILENCE: Duration = Duration::from_millis(250);
/// What a busy machine may add.
const SLACK: Duration = Duration::from_millis(400);

fn limiter(port: u16) -> Limiter {
    let link = Link::open(&url(port)).expect("a URL");
    Limiter::builder(link).timeout(TIMEOUT).fallback(Fallback::Deny).denials(0).build()
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
fn the_time_in_the_queue_is_not_that_of_the_server() {
    let server = one_server();
    one_thread(async {
        let limiter = limiter(server.port());
        limiter.connect().await.expect("a connection");
        let mut check = Box::pin(source(&limiter));
        begin(&mut check);
        // It is not written yet.
        thread::sleep(4 * TIMEOUT);
        assert_eq!(check.await, Source::Server);
        // A request that nobody waits for any more is not sent.
        let mut left = Box::pin(source(&limiter));
        begin(&mut left);
        drop(left);
        assert_eq!(source(&limiter).await, Source::Server);
        assert_eq!(info(&mut server.con(), "rl_token_allowed"), "2");
    });
}

#[test]
fn a_flood_lifts_no_limit() {
    const REQUESTS: usize = 2_000;
    let few = Policy::fixed(Duration::from_secs(86_400), 100);
    let server = one_server();
    one_thread(async {
        let limiter = limiter(server.port()).with_fallback(Fallback::Allow);
        limiter.connect().await.expect("a connection");
        // Other work on this thread.
        let busy = tokio::spawn(async {
            loop {
                thread::sleep(Duration::from_millis(20));
                tokio::task::yield_now().await;
            }
        });
        let checks = (0..REQUESTS).map(|_| {
            let limiter = limiter.clone();
            tokio::spawn(async move { limiter.check(&few, "flooded").await.expect("a decision") })
        });
        let mut decisions: Vec<Decision> = Vec::new();
        for check in checks.collect::<Vec<_>>() {
            decisions.push(check.await.expect("a task"));
        }
        busy.abort();
        assert_eq!(decisions.iter().filter(|decision| decision.allowed).count(), 100, "{:?}", limiter.stats());
        assert!(decisions.iter().all(|decision| decision.source == Source::Server));
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
            tokio::time::sleep(Duration::from_millis(150)).await;
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
        // The probes went over the connection that there was.
        assert_eq!(info(&mut con, "total_connections_received"), connections);
        let stats: String = redis::cmd("INFO").arg("commandstats").query(&mut con).expect("INFO");
        let pings = stats.lines().find_map(|line| line.strip_prefix("cmdstat_ping:calls="));
        let pings = pings.and_then(|rest| rest.split(',').next()?.parse::<u32>().ok());
        assert!(pings.is_some_and(|pings| pings >= 3), "{stats}");
    });
}

/// CLIENT PAUSE WRITE, as in a failover: PING over a new connection has a reply, and commands have none.
#[test]
fn while_only_ping_has_a_reply_one_decision_at_a_time_is_sent() {
    let server = one_server();
    block_on(async {
        let limiter = limiter(server.port());
        limiter.connect().await.expect("a connection");
        assert_eq!(source(&limiter).await, Source::Server);
        let mut con = server.con();
        redis::cmd("CLIENT").arg("PAUSE").arg(60_000).arg("WRITE").exec(&mut con).expect("CLIENT PAUSE");
        let ask = async |is_over: &dyn Fn(Duration) -> bool| {
            let began = Instant::now();
            while !is_over(began.elapsed()) {
                assert_eq!(source(&limiter).await, Source::Fallback);
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        // The reply to PING closes it once, in case the server was only away.
        ask(&|time| limiter.stats().circuit_opened == 2 || time > PATIENCE).await;
        let before = limiter.stats();
        ask(&|time| time > Duration::from_millis(2_500)).await;
        let after = limiter.stats();
        // Those that tried had no reply in time.
        assert!(after.timeouts - before.timeouts <= 3, "{before:?} {after:?}");
        assert!(after.circuit_open > before.circuit_open + 100, "{after:?}");
        redis::cmd("CLIENT").arg("UNPAUSE").exec(&mut con).expect("CLIENT UNPAUSE");
        let began = Instant::now();
        while source(&limiter).await != Source::Server {
            assert!(began.elapsed() < SLACK, "it does not close");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert!(limiter.stats().timeouts > 0);
    });
}

#[test]
fn a_connection_that_is_half_open_is_replaced_after_a_second() {
    let server = one_server();
    let proxy = Proxy::start(server.port(), Duration::ZERO);
    block_on(async {
        let limiter = limiter(proxy.port);
        limiter.connect().await.expect("a connection");
        assert_eq!(source(&limiter).await, Source::Server);
        proxy.lose_packets();
        let began = Instant::now();
        while source(&limiter).await != Source::Server {
            assert!(began.elapsed() < Duration::from_secs(1) + 2 * SLACK, "{:?}", limiter.stats());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert!(began.elapsed() >= Duration::from_secs(1), "{:?}", began.elapsed());
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
