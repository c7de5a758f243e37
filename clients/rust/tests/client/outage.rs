//! A server that stops, pauses and comes back, under load.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use redis::aio::ConnectionManagerConfig;
use redis_rl_client::{BreakerSettings, Error, Fallback, Limiter, Policy, Source, sync};

use crate::setup::{Paused, block_on, client, manager, one_server};
use crate::support::*;

type Manager = redis::aio::ConnectionManager;

const API: Policy = Policy::token(Duration::from_secs(3600), 1_000_000);
const TIMEOUT: Duration = Duration::from_millis(100);
/// What a machine may add to a timeout, beside what [`Counts::late_ms`] says.
const SLACK: Duration = Duration::from_millis(100);
const TASKS: u64 = 16;

async fn limiter(server: &Server, fallback: Fallback) -> Limiter<Manager> {
    // The manager tries again soon, so that the test is short.
    let config = ConnectionManagerConfig::new().set_max_delay(Duration::from_millis(50));
    let manager = client(server, "resp3").get_connection_manager_with_config(config).await.expect("a connection");
    Limiter::builder(manager).timeout(TIMEOUT).fallback(fallback).build()
}

/// Requests without a pause, and what became of them.
struct Load {
    stop: Arc<AtomicBool>,
    counts: Arc<Counts>,
    tasks: Vec<tokio::task::JoinHandle<()>>,
}

#[derive(Default)]
struct Counts {
    longest_ms: AtomicU64,
    /// By how much the timer of this machine is late.
    late_ms: AtomicU64,
    server: AtomicU64,
    allowed: AtomicU64,
    denied: AtomicU64,
    errors: AtomicU64,
}

impl Load {
    fn start(limiter: &Limiter<Manager>) -> Self {
        let (stop, counts) = (Arc::new(AtomicBool::new(false)), Arc::new(Counts::default()));
        let tasks = (0..TASKS).map(|_| {
            let (limiter, stop, counts) = (limiter.clone(), Arc::clone(&stop), Arc::clone(&counts));
            tokio::spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    let began = Instant::now();
                    let result = limiter.check(&API, "k").await;
                    counts.longest_ms.fetch_max(began.elapsed().as_millis() as u64, Ordering::Relaxed);
                    let counter = match result {
                        Ok(decision) if decision.source == Source::Server => &counts.server,
                        Ok(decision) if decision.allowed => &counts.allowed,
                        Ok(_) => &counts.denied,
                        Err(_) => &counts.errors,
                    };
                    counter.fetch_add(1, Ordering::Relaxed);
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            })
        });
        let mut tasks: Vec<_> = tasks.collect();
        let (stopped, late) = (Arc::clone(&stop), Arc::clone(&counts));
        tasks.push(tokio::spawn(async move {
            while !stopped.load(Ordering::Relaxed) {
                let began = Instant::now();
                tokio::time::sleep(TIMEOUT).await;
                let by = began.elapsed().saturating_sub(TIMEOUT).as_millis() as u64;
                late.late_ms.fetch_max(by, Ordering::Relaxed);
            }
        }));
        Self { stop, counts, tasks }
    }

    /// Waits until the server has decided some more requests.
    async fn served(&self) {
        let (before, deadline) = (self.counts.server.load(Ordering::Relaxed), Instant::now() + PATIENCE);
        while self.counts.server.load(Ordering::Relaxed) < before + 50 {
            assert!(Instant::now() < deadline, "the server decides nothing");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    async fn end(self) -> Arc<Counts> {
        self.stop.store(true, Ordering::Relaxed);
        for task in self.tasks {
            task.await.expect("a task ends");
        }
        self.counts
    }
}

/// Stops, pauses and restarts the server under load, and compares what the tasks saw with what the limiter counted.
fn outage(fallback: Fallback, check: impl Fn(&Counts, redis_rl_client::Stats) + Sync) {
    for_each_server(|bin| {
        let mut server = Server::start(bin);
        block_on(async {
            let limiter = limiter(&server, fallback).await;
            let load = Load::start(&limiter);
            load.served().await;
            {
                let _paused = Paused::new(&server);
                tokio::time::sleep(Duration::from_millis(700)).await;
            }
            load.served().await;
            server.kill();
            tokio::time::sleep(Duration::from_millis(400)).await;
            server.start_again();
            load.served().await;
            let counts = load.end().await;
            let (get, stats) = (|counter: &AtomicU64| counter.load(Ordering::Relaxed), limiter.stats());

            let longest = Duration::from_millis(get(&counts.longest_ms));
            // A request may be late when it starts and when it ends.
            let late = 2 * Duration::from_millis(get(&counts.late_ms));
            assert!(longest <= TIMEOUT + SLACK + late, "a request took {longest:?}; the machine adds {late:?}");
            assert_eq!(get(&counts.server), stats.decided, "{stats:?}");
            // While the breaker was open, requests were not sent: few of them waited for the timeout.
            assert!(stats.circuit_opened >= 2, "{stats:?}");
            assert!(stats.circuit_open > stats.timeouts, "{stats:?}");
            assert!(stats.timeouts > 0, "{stats:?}");
            assert_eq!(
                stats.timeouts + stats.errors + stats.circuit_open,
                get(&counts.allowed) + get(&counts.denied) + get(&counts.errors),
                "{stats:?}"
            );
            check(&counts, stats);
        });
    });
}

fn seen(counts: &Counts) -> [u64; 3] {
    [&counts.allowed, &counts.denied, &counts.errors].map(|counter| counter.load(Ordering::Relaxed))
}

#[test]
fn without_the_server_requests_are_allowed() {
    outage(Fallback::Allow, |counts, stats| assert_eq!(seen(counts), [stats.fallback_allowed, 0, 0]));
}

#[test]
fn without_the_server_requests_are_denied() {
    outage(Fallback::Deny, |counts, stats| assert_eq!(seen(counts), [0, stats.fallback_denied, 0]));
}

#[test]
fn without_the_server_requests_are_errors() {
    outage(Fallback::Error, |counts, stats| assert_eq!(seen(counts), [0, 0, stats.fallback_errors]));
}

#[test]
fn without_the_server_each_instance_allows_its_part() {
    // A part of 10,000 of the burst is more than the load.
    outage(Fallback::Local { instances: 100 }, |counts, stats| {
        assert_eq!(seen(counts), [stats.local_allowed, stats.local_denied, 0]);
        assert!(stats.local_allowed > 0);
    });
    block_on(async {
        let mut server = one_server();
        let limiter = limiter(&server, Fallback::Local { instances: 4 }).await;
        server.kill();
        let policy = Policy::counter(Duration::from_secs(3600), 20);
        let mut allowed = 0;
        for _ in 0..20 {
            allowed += u64::from(limiter.check(&policy, "k").await.unwrap().allowed);
        }
        assert_eq!((allowed, limiter.stats().local_denied), (5, 15));
        // A limit that is only tried denies nobody.
        let shadow = policy.shadow();
        for _ in 0..10 {
            assert!(limiter.check(&shadow, "s").await.unwrap().allowed);
        }
        let both = [policy.request("a").cost(5), policy.request("b").cost(6)];
        assert!(!limiter.check_all(&both).await.unwrap().allowed);
    });
}

#[test]
fn peeks_and_corrections_get_the_error() {
    block_on(async {
        let mut server = one_server();
        let limiter = limiter(&server, Fallback::Allow).await;
        server.kill();
        let request = API.request("k");
        assert!(limiter.peek(&request).await.is_err_and(|error| error.is_unavailable()));
        assert!(limiter.refund(&request).await.is_err());
        assert!(limiter.settle(&request, 2).await.is_err());
        assert!(limiter.reset(&API, "k").await.is_err());
        assert!(limiter.check(&API, "k").await.unwrap().allowed);
    });
}

#[test]
fn a_broken_connection_is_no_reply() {
    block_on(async {
        let mut server = one_server();
        let connection = client(&server, "resp2").get_multiplexed_async_connection().await.expect("a connection");
        let limiter = Limiter::builder(connection).timeout(PATIENCE).fallback(Fallback::Allow).build();
        assert_eq!(limiter.check(&API, "k").await.unwrap().source, Source::Server);
        server.kill();
        for _ in 0..10 {
            assert_eq!(limiter.check(&API, "k").await.unwrap().source, Source::Fallback);
        }
        let stats = limiter.stats();
        assert_eq!((stats.errors, stats.circuit_opened, stats.circuit_open), (1, 1, 9), "{stats:?}");
    });
}

#[test]
fn a_server_that_accepts_no_writes_cannot_decide() {
    block_on(async {
        let server = one_server();
        let limiter =
            Limiter::builder(manager(&server, "resp3").await).timeout(PATIENCE).fallback(Fallback::Deny).build();
        let mut con = server.con();
        redis::cmd("CONFIG").arg("SET").arg("maxmemory").arg("1").exec(&mut con).unwrap();
        let decision = limiter.check(&API, "k").await.unwrap();
        assert_eq!((decision.allowed, decision.source), (false, Source::Fallback));
        // It replied, so the breaker stays closed.
        for _ in 0..20 {
            limiter.check(&API, "k").await.unwrap();
        }
        assert_eq!((limiter.stats().circuit_opened, limiter.stats().errors), (0, 21));
    });
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
