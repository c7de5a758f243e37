//! What callers get while Redis is away or this process stands still, at 400 requests a second: the table "rlaas" of
//! docs/failure.md.
//!
//! The limit is 0 and the domain says `allow`, so a request that is allowed was decided without Redis.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use envoy_types::pb::envoy::service::ratelimit::v3::rate_limit_response::Code;

use super::process::{Client, Options, Paused, Rlaas, request, url};
use super::{block_on, one_server};
use crate::support::{Cluster, PATIENCE, Server, cmd, eventually, ok, servers};

const RULES: &str = "domain: d
on_unavailable: allow
on_overload: deny
descriptors: [{key: k, rate_limit: {algorithm: token, unit: year, requests_per_unit: 0}}]
";
/// Requests come at this rate.
const EVERY: Duration = Duration::from_micros(2_500);
/// Another program that takes the processor is a stall too: one attempt that meets none is enough.
const ATTEMPTS: usize = 6;

fn serve(redis: String) -> Rlaas {
    Rlaas::with(&Options { redis, rules: RULES, env: &[("RLAAS_DENIALS", "0"), ("RLAAS_TIMEOUT", "15ms")] })
}

/// What became of requests, by the time at which they were sent after the first.
#[derive(Debug, Default)]
struct Outcome {
    /// Decided without Redis.
    allowed: Vec<Duration>,
    denied: Vec<Duration>,
    lost: Vec<String>,
}

/// Sends requests for `span`, without waiting for their replies. `value` says which key the request n is for.
async fn traffic(client: &Client, span: Duration, value: impl Fn(u32) -> String) -> Outcome {
    let began = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0_u32.. {
        let at = EVERY * n;
        if at >= span {
            break;
        }
        tokio::time::sleep_until((began + at).into()).await;
        let (mut client, value) = (client.clone(), value(n));
        tasks.spawn(async move {
            (at, client.try_ask(request("d", &[&[("k", &value)]])).await.map(|reply| reply.overall_code()))
        });
    }
    let mut outcome = Outcome::default();
    for (at, reply) in tasks.join_all().await {
        match reply {
            Ok(Code::Ok) => outcome.allowed.push(at),
            Ok(_) => outcome.denied.push(at),
            Err(status) => outcome.lost.push(status.to_string()),
        }
    }
    outcome
}

/// How many requests come in a span, and 50 ms.
fn requests_in(stall: Duration) -> usize {
    ((stall + Duration::from_millis(50)).as_micros() / EVERY.as_micros()) as usize
}

/// Whether Redis decides on all requests from this one on.
fn decided_from(found: &Outcome, at: Duration) -> bool {
    found.allowed.iter().all(|sent| *sent < at)
}

/// Repeats a measurement until it shows what it should, as long as another program may be why it does not.
fn some_attempt<T: std::fmt::Debug>(attempt: impl FnMut() -> T, good: impl Fn(&T) -> bool) {
    let mut last = None;
    let shown = std::iter::repeat_with(attempt).take(ATTEMPTS).any(|found| {
        let shown = good(&found);
        last = Some(found);
        shown
    });
    assert!(shown, "{last:?}");
}

/// Requests before, in and after a stall, which begins after 200 ms.
fn stalled(service: &Rlaas, stall: Duration, stop: impl FnOnce() + Send, go_on: impl FnOnce() + Send) -> Outcome {
    block_on(async {
        let client = service.client().await;
        let before = traffic(&client, Duration::from_millis(100), |_| "warm".to_owned()).await;
        assert!(before.lost.is_empty(), "{before:?}");
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(200));
                stop();
                thread::sleep(stall);
                go_on();
            });
            tokio::task::block_in_place(|| {
                let all = traffic(&client, stall + Duration::from_millis(600), |n| n.to_string());
                tokio::runtime::Handle::current().block_on(all)
            })
        })
    })
}

/// The same, of a stall of Redis.
fn stalled_server(service: &Rlaas, stall: Duration, server: &Server) -> Outcome {
    let paused = std::sync::Mutex::new(None);
    let stop = || *paused.lock().expect("a lock") = Some(Paused::new(server));
    stalled(service, stall, stop, || drop(paused.lock().expect("a lock").take()))
}

#[test]
fn a_stall_of_redis_costs_its_length_and_no_more() {
    let server = one_server();
    let service = serve(url(&server));
    for stall in [30, 60, 100, 300].map(Duration::from_millis) {
        let attempt = || stalled_server(&service, stall, &server);
        let good = |found: &Outcome| {
            found.lost.is_empty()
                && (stall < Duration::from_millis(50) || !found.allowed.is_empty())
                && found.allowed.len() <= requests_in(stall)
        };
        some_attempt(attempt, good);
    }
}

#[test]
fn a_stall_of_rlaas_lifts_no_limit() {
    let server = one_server();
    let service = serve(url(&server));
    for stall in [80, 300].map(Duration::from_millis) {
        let attempt = || stalled(&service, stall, || service.signal("-STOP"), || service.signal("-CONT"));
        // What was sent before has its reply in the socket; what came meanwhile is overload.
        some_attempt(attempt, |found| found.lost.is_empty() && found.allowed.is_empty());
    }
}

#[test]
fn writes_that_are_paused_are_tried_one_at_a_time() {
    let server = one_server();
    let service = serve(url(&server));
    let pause = || ok(cmd!(server.con(), "CLIENT", "PAUSE", 1_000, "WRITE"));
    let attempt = || stalled(&service, Duration::from_secs(1), || drop(pause()), || ());
    some_attempt(attempt, |found| {
        // The server looks ten times a second whether the pause is over.
        found.lost.is_empty() && !found.allowed.is_empty() && decided_from(found, Duration::from_millis(1_350))
    });
}

#[test]
fn a_script_that_runs_is_busy_and_no_outage() {
    let server = one_server();
    ok(cmd!(server.con(), "CONFIG", "SET", "busy-reply-threshold", 20));
    let service = serve(url(&server));
    let attempt = || {
        let script = "local from = redis.call('TIME')
            repeat local now = redis.call('TIME') until (now[1] - from[1]) * 1e6 + now[2] - from[2] > 300000";
        thread::scope(|scope| {
            let run = || drop(scope.spawn(|| drop(ok(cmd!(server.con(), "EVAL", script, 0)))));
            stalled(&service, Duration::from_millis(300), run, || ())
        })
    };
    some_attempt(attempt, |found| {
        found.lost.is_empty() && found.allowed.len() <= requests_in(Duration::from_millis(320))
    });
    // It replied BUSY, so no breaker was needed.
    assert_eq!(service.metrics("rlaas_breaker_opened"), ["rlaas_breaker_opened 0"]);
}

/// An address whose connections stop to forward what they carry, as if a network dropped every packet. Later ones work.
fn cut() -> (u16, Arc<AtomicBool>, impl Fn(u16)) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let cut = Arc::new(AtomicBool::new(false));
    let flag = cut.clone();
    let start = move |target: u16| {
        let (listener, flag) = (listener.try_clone().expect("a clone"), flag.clone());
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // This connection works if the ones before were cut.
                let was_cut = flag.load(Ordering::Relaxed);
                let Ok(server) = TcpStream::connect(("127.0.0.1", target)) else { continue };
                let pairs = [(client.try_clone(), server.try_clone()), (Ok(server), Ok(client))];
                for (from, to) in pairs {
                    let (mut from, mut to, flag) = (from.expect("a clone"), to.expect("a clone"), flag.clone());
                    thread::spawn(move || {
                        let mut buffer = [0; 1 << 14];
                        while let Ok(length @ 1..) = from.read(&mut buffer) {
                            if !was_cut && flag.load(Ordering::Relaxed) {
                                continue;
                            }
                            if to.write_all(&buffer[..length]).is_err() {
                                break;
                            }
                        }
                    });
                }
            }
        });
    };
    (port, cut, start)
}

#[test]
fn a_connection_whose_packets_are_dropped_is_replaced_after_a_second() {
    let server = one_server();
    let attempt = || {
        let (port, cut, start) = cut();
        start(server.port());
        let service = serve(format!("redis://127.0.0.1:{port}"));
        stalled(&service, Duration::from_millis(1_100), || cut.store(true, Ordering::Relaxed), || ())
    };
    some_attempt(attempt, |found| {
        // The next probe after a second of silence is 1,050 ms after the last byte.
        found.lost.is_empty() && !found.allowed.is_empty() && decided_from(found, Duration::from_millis(1_350))
    });
}

#[test]
fn the_limits_of_other_shards_count_while_one_is_away() {
    let mut cluster = Cluster::start(&servers()[0], 3, |options| options.set("cluster-require-full-coverage", "no"));
    let rules = "on_unavailable: allow\ndomain: d\ndescriptors: [{key: k, rate_limit: {algorithm: token, unit: year, requests_per_unit: 1}}]\n";
    let hosts: Vec<_> = cluster.nodes.iter().map(|node| format!("127.0.0.1:{}", node.port())).collect();
    let redis = format!("redis-cluster://{}", hosts.join(","));
    let env = [("RLAAS_DENIALS", "0"), ("RLAAS_TIMEOUT", "1s")];
    let service = Rlaas::with(&Options { redis, rules, env: &env });
    // One key of each node.
    let of_node = |at: usize| {
        let key = |n: &u32| format!("rl:d:token:31536000:k={n}");
        (0..).find(|n| cluster.owner(key(n)).port() == cluster.nodes[at].port()).expect("a key").to_string()
    };
    let [away, here] = [of_node(0), of_node(1)];
    block_on(async {
        let mut client = service.client().await;
        let both = || request("d", &[&[("k", &away)], &[("k", &here)]]);
        let ends = Instant::now() + PATIENCE;
        while client.codes(both()).await.0 != [Code::OverLimit; 2] {
            assert!(Instant::now() < ends, "never decided");
        }
        cluster.nodes[0].kill();
        // The breaker opens for the slots of this node alone.
        for _ in 0..10 {
            assert_eq!(client.code(request("d", &[&[("k", &away)]])).await, Code::Ok);
        }
        for _ in 0..5 {
            // One limit is decided by on_unavailable, the other by its server.
            assert_eq!(client.codes(both()).await, (vec![Code::Ok, Code::OverLimit], Code::OverLimit));
        }
        cluster.nodes[0].start_again();
        let ends = Instant::now() + PATIENCE;
        while client.codes(both()).await.0[1] != Code::OverLimit || client.try_ask(both()).await.is_err() {
            assert!(Instant::now() < ends, "it does not recover");
        }
    });
}

#[test]
fn a_node_of_a_cluster_that_is_away_takes_only_its_own_keys_along() {
    let cluster = Cluster::start(&servers()[0], 3, |options| options);
    let hosts: Vec<_> = cluster.nodes.iter().map(|node| format!("127.0.0.1:{}", node.port())).collect();
    let service = serve(format!("redis-cluster://{}", hosts.join(",")));
    let attempt = || stalled_server(&service, Duration::from_millis(300), &cluster.nodes[0]);
    // A third of the keys.
    some_attempt(attempt, |found| {
        found.lost.is_empty() && found.allowed.len() <= requests_in(Duration::from_millis(350)) / 2
    });
}

#[test]
fn a_server_that_loads_its_data_decides_once_it_has_them() {
    let mut server = Server::options(&servers()[0]).durable().set("key-load-delay", 300).start();
    let mut con = server.con();
    for key in 0..2_000 {
        ok(cmd!(con, "SET", key, "x"));
    }
    let service = serve(url(&server));
    server.kill();
    block_on(async {
        let client = service.client().await;
        let away = traffic(&client, Duration::from_millis(200), |n| n.to_string()).await;
        assert!(away.lost.is_empty() && away.denied.is_empty(), "{away:?}");
        server.start_again();
        let decided = || {
            let found = tokio::runtime::Handle::current().block_on(traffic(&client, EVERY, |_| "x".to_owned()));
            !found.denied.is_empty()
        };
        let in_time = tokio::task::block_in_place(|| eventually(Duration::from_secs(2), decided));
        assert!(in_time, "it is not asked again");
    });
}
