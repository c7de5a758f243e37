//! What callers get while Redis or this process stands still, at 400 requests a second: rows of the table "rlaas" of
//! docs/failure.md. The others are about the connection to Redis, and tests of the client hold them.
//!
//! The limit is 0 and the domain says `allow`, so a request that is allowed was decided without Redis.

use std::thread;
use std::time::{Duration, Instant};

use envoy_types::pb::envoy::service::ratelimit::v3::rate_limit_response::Code;

use super::process::{Client, Options, Paused, Rlaas, request, url};
use super::{block_on, one_server};
use crate::support::{Cluster, PATIENCE, Server, servers};

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
