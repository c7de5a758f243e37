//! What callers get while Redis or this process stands still, at 400 requests a second: rows of the table "rlaas" of
//! docs/failure.md. The others are about the connection to Redis, and tests of the client hold them.
//!
//! The limit is 0 and the domain says `allow`, so a request that is allowed was decided without Redis.

use std::time::{Duration, Instant};

use envoy_types::pb::envoy::service::ratelimit::v3::rate_limit_response::Code;
use tokio::time::{sleep, sleep_until, timeout};

use super::process::Rlaas;
use super::{alone, block_on, one_server};
use crate::support::{PATIENCE, Server, signal};

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
    Rlaas::with_env(server, rules, &[("RLAAS_DENIALS", "0"), ("RLAAS_TIMEOUT", timeout)])
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
            tasks.spawn(async move { timeout(patience, client.try_ask(&format!("k={n}"))).await });
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
