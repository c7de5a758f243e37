//! What callers get while Redis or this process stands still, at 400 requests a second: rows of the table "rlaas" of
//! docs/failure.md. The others are about the connection to Redis, and tests of the client hold them.
//!
//! The limit is 0 and the domain says `allow`, so a request that is allowed was decided without Redis.

use std::time::{Duration, Instant};

use envoy_types::pb::envoy::service::ratelimit::v3::rate_limit_response::Code;
use tokio::time::{sleep, sleep_until, timeout};

use super::process::{Options, Rlaas, url};
use super::{alone, block_on, one_server};
use crate::support::{Cluster, PATIENCE, Server, servers, signal};

/// Requests come at this rate.
const EVERY: Duration = Duration::from_micros(2_500);
/// Another program that takes the processor is a stall too: one attempt that meets none is enough.
const ATTEMPTS: usize = 6;

fn serve(server: &Server, timeout: &str) -> Rlaas {
    let rules = "domain: d
on_unavailable: allow
on_overload: deny
descriptors: [{key: k, rate_limit: {algorithm: token, unit: year, requests_per_unit: 0}}]
";
    let env = [("RLAAS_DENIALS", "0"), ("RLAAS_TIMEOUT", timeout)];
    Rlaas::with(&Options { redis: url(server), rules, env: &env })
}

/// How many requests were allowed and so decided without Redis, and how many were lost, around a stall of a process that
/// begins after 200 ms. The callers give up after a while.
fn stalled(service: &Rlaas, process: u32, stall: Duration, patience: Duration) -> (usize, usize) {
    block_on(async {
        let mut client = service.client().await;
        _ = client.try_ask("k=warm").await;
        tokio::spawn(async move {
            sleep(Duration::from_millis(200)).await;
            signal(process, "-STOP");
            sleep(stall).await;
            signal(process, "-CONT");
        });
        let (began, mut tasks) = (Instant::now(), tokio::task::JoinSet::new());
        for n in 0..((stall + Duration::from_millis(600)).as_micros() / EVERY.as_micros()) as u32 {
            sleep_until((began + EVERY * n).into()).await;
            let mut client = client.clone();
            tasks.spawn(async move { timeout(patience, client.try_ask(&*format!("k={n}"))).await });
        }
        let replies: Vec<_> = tasks.join_all().await.into_iter().flatten().collect();
        let allowed = replies.iter().flatten().filter(|reply| reply.overall_code() == Code::Ok).count();
        (allowed, replies.iter().filter(|reply| reply.is_err()).count())
    })
}

#[test]
fn a_stall_of_redis_costs_its_length_and_no_more() {
    let (_alone, server) = (alone(), one_server());
    let service = serve(&server, "15ms");
    for stall in [30, 60, 100, 300].map(Duration::from_millis) {
        let most = ((stall + Duration::from_millis(50)).as_micros() / EVERY.as_micros()) as usize;
        let least = usize::from(stall >= Duration::from_millis(50));
        let found = || stalled(&service, server.pid(), stall, PATIENCE);
        let good = |(allowed, lost): (usize, usize)| lost == 0 && (least..=most).contains(&allowed);
        assert!((0..ATTEMPTS).any(|_| good(found())), "{stall:?}: {:?}", found());
    }
}

#[test]
fn a_stall_of_rlaas_lifts_no_limit() {
    let (_alone, server) = (alone(), one_server());
    // Longer than Redis waits for the processor on a busy machine, and shorter than the stalls.
    let service = serve(&server, "100ms");
    // Envoy gives up after 20 ms, and then has cancelled more calls than h2 takes by itself.
    for (stall, patience) in [(150, PATIENCE), (400, PATIENCE), (250, Duration::from_millis(20))] {
        let stall = Duration::from_millis(stall);
        // What was sent before has its reply in the socket; what came meanwhile is overload.
        let found = || stalled(&service, service.pid(), stall, patience);
        assert!((0..ATTEMPTS).any(|_| found() == (0, 0)), "{stall:?}: {:?}", found());
    }
    assert_eq!(service.metrics("rlaas_goaways_sent{"), [""; 0]);
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
        let both = &*format!("k={away} | k={here}");
        let ends = Instant::now() + PATIENCE;
        while client.codes(both).await.0 != [Code::OverLimit; 2] {
            assert!(Instant::now() < ends, "never decided");
        }
        cluster.nodes[0].kill();
        // The breaker opens for the slots of this node alone.
        for _ in 0..10 {
            assert_eq!(client.code(&*format!("k={away}")).await, Code::Ok);
        }
        for _ in 0..5 {
            // One limit is decided by on_unavailable, the other by its server.
            assert_eq!(client.codes(both).await, (vec![Code::Ok, Code::OverLimit], Code::OverLimit));
        }
        cluster.nodes[0].start_again();
        let ends = Instant::now() + PATIENCE;
        while client.codes(both).await.0[1] != Code::OverLimit || client.try_ask(both).await.is_err() {
            assert!(Instant::now() < ends, "it does not recover");
        }
    });
}
