//! Many requests at once: no limit is lifted because rlaas is busy, and its memory is bounded.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use envoy_types::pb::envoy::service::ratelimit::v3::RateLimitRequest;
use envoy_types::pb::envoy::service::ratelimit::v3::rate_limit_response::Code;
use futures_util::StreamExt as _;
use futures_util::future::join_all;
use futures_util::stream;

use super::process::{Client, Options, Rlaas, get, hits, http, request, until, url};
use super::promises::frame;
use super::steps::check;
use super::{block_on, one_server, steps};
use crate::support::*;
use Code::{Ok as OK, OverLimit as OVER};

/// With the limits of time that a service has by itself.
const IN_A_HURRY: [(&str, &str); 2] = [("RLAAS_TIMEOUT", "15ms"), ("RLAAS_MAX_LAG", "10ms")];

/// Another program on both cores, until it is dropped.
struct Busy(&'static AtomicBool);

impl Busy {
    fn new() -> Self {
        let busy: &AtomicBool = Box::leak(Box::new(AtomicBool::new(true)));
        for _ in 0..2 {
            thread::spawn(|| while busy.load(Ordering::Relaxed) {});
        }
        Self(busy)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// How many requests got which outcome. Each connection has as many under way at once.
async fn flood(
    service: &Rlaas,
    connections: usize,
    at_once: usize,
    requests: usize,
    ask: &RateLimitRequest,
) -> Outcomes {
    let clients = join_all((0..connections).map(|_| service.client())).await;
    let each = clients.into_iter().map(|client: Client| async move {
        let calls = (0..requests / connections).map(|_| {
            let mut client = client.clone();
            async move {
                match client.try_ask(ask.clone()).await {
                    Ok(reply) if reply.overall_code() == OK => "allowed",
                    Ok(_) => "denied",
                    Err(status) if status.code() == tonic::Code::Unavailable => "unavailable",
                    Err(_) => "failed",
                }
            }
        });
        stream::iter(calls).buffer_unordered(at_once).collect::<Vec<_>>().await
    });
    let mut outcomes = BTreeMap::new();
    for outcome in join_all(each).await.into_iter().flatten() {
        *outcomes.entry(outcome).or_default() += 1;
    }
    outcomes
}

type Outcomes = BTreeMap<&'static str, u32>;

const LIMIT: u32 = 100;
const SAYS: [&str; 3] = ["local", "deny", "error"];

/// A service with a domain for each word of on_overload.
fn that_says(server: &Server) -> Rlaas {
    let rules = SAYS.map(|says| {
        format!(
            "on_unavailable: {says}\non_overload: {says}\ndescriptors: [{{key: user, rate_limit: {{unit: year, requests_per_unit: {LIMIT}}}}}]\n"
        )
    });
    let service = Rlaas::with_env(server, "", &IN_A_HURRY);
    service.add_rules(&[("local", &rules[0]), ("deny", &rules[1]), ("error", &rules[2])]);
    service
}

/// Floods keep the limit within a fiftieth, and a tenth where other programs have the cores; and what it allows passes.
fn floods(rounds: usize) {
    let server = one_server();
    let service = that_says(&server);
    for round in 0..rounds {
        for (connections, says, is_busy) in
            [1, 50].into_iter().flat_map(|n| SAYS.map(|says| [(n, says, false), (n, says, true)])).flatten()
        {
            let busy = is_busy.then(Busy::new);
            let ask = steps::request(&format!("{says}: user={connections}-{is_busy}-{round}"));
            let outcomes = block_on(flood(&service, connections, 100, 2_000, &ask));
            drop(busy);
            let allowed = outcomes.get("allowed").copied().unwrap_or(0);
            let most = LIMIT + if is_busy { LIMIT / 10 } else { LIMIT / 50 };
            let is_within = (LIMIT - LIMIT / 20..=most).contains(&allowed);
            let is_decided =
                !outcomes.contains_key("failed") && (says == "error" || !outcomes.contains_key("unavailable"));
            let figures = || service.metrics("rlaas_");
            assert!(is_within && is_decided, "{says}, {connections}, busy {is_busy}: {outcomes:?} {:?}", figures());
        }
    }
}

#[test]
fn a_flood_lifts_no_limit() {
    floods(1);
}

#[test]
#[ignore = "minutes: many floods"]
fn many_floods_lift_no_limit() {
    floods(20);
}

/// Users with 5 units each ask at this pace, while other programs have the cores. No more than a hundredth is too much.
fn calm(users: u32, requests: u32) {
    let server = one_server();
    let rules = "on_unavailable: local\ndescriptors: [{key: user, rate_limit: {unit: year, requests_per_unit: 5}}]\n";
    let service = Rlaas::with_env(&server, "", &IN_A_HURRY);
    service.add_rules(&[("calm", rules)]);
    let _busy = [Busy::new(), Busy::new()];
    let allowed = block_on(async {
        let client = service.client().await;
        let mut pace = tokio::time::interval(Duration::from_millis(10));
        let mut calls = Vec::new();
        for n in 0..requests {
            pace.tick().await;
            let (mut client, ask) = (client.clone(), format!("calm: user={}", n % users));
            calls.push(tokio::spawn(async move { client.try_ask(&*ask).await }));
        }
        let replies = join_all(calls).await.into_iter().map(|reply| reply.expect("a task").expect("a decision"));
        u32::try_from(replies.filter(|reply| reply.overall_code() == OK).count()).expect("few")
    });
    let most = users * 5;
    let figures = || service.metrics("rlaas_");
    assert!((most - most / 20..=most + most / 100).contains(&allowed), "{allowed} of {most}: {:?}", figures());
}

#[test]
fn other_programs_lift_no_limit() {
    calm(40, 400);
}

#[test]
#[ignore = "half a minute"]
fn other_programs_lift_no_limit_for_long() {
    calm(200, 2_000);
}

#[test]
fn units_that_were_charged_too_late_go_to_the_next_request() {
    let server = one_server();
    let service = that_says(&server);
    for says in ["deny", "error"] {
        let ask = format!("{says}: user=late");
        assert_eq!(service.code(&*ask), OK);
        let paused = Paused::new(&server);
        for _ in 0..5 {
            let reply = service.try_ask(&*ask);
            assert!(!reply.is_ok_and(|reply| reply.overall_code() == OK), "{says}");
        }
        drop(paused);
        // All of the limit passes: what was charged is not lost.
        let ends = Instant::now() + PATIENCE;
        let mut allowed = 1;
        while allowed < LIMIT && Instant::now() < ends {
            allowed += u32::from(service.try_ask(&*ask).is_ok_and(|reply| reply.overall_code() == OK));
        }
        assert_eq!(allowed, LIMIT, "{says}: {:?}", service.metrics("rlaas_"));
    }
}

/// What `/json` says.
fn json(service: &Rlaas, domain: &str) -> u16 {
    let body =
        format!(r#"{{"domain": "{domain}", "descriptors": [{{"entries": [{{"key": "k", "value": "json"}}]}}]}}"#);
    http(&service.http, "POST /json", &[], &body).status
}

#[test]
fn a_service_that_is_too_busy_does_what_on_overload_says() {
    let server = one_server();
    let says = ["local", "deny", "error"];
    let rules = says.map(|says| {
        format!(
            "on_unavailable: allow
on_overload: {says}
authorize: {{descriptors: [[{{key: k, header: K}}]]}}
descriptors:
  - {{key: k, rate_limit: {{unit: year, requests_per_unit: 2}}}}
  - {{key: granted, rate_limit: {{algorithm: token, unit: year, requests_per_unit: 8, grants: 4}}}}
"
        )
    });
    let together = "on_unavailable: allow
all_or_nothing: true
descriptors: [{key: k, rate_limit: {unit: year, requests_per_unit: 2}}]
";
    let start = |env: &[(&str, &str)]| {
        let service = Rlaas::with_env(&server, "", env);
        let [local, deny, error] = &rules;
        service.add_rules(&[("local", local), ("deny", deny), ("error", error), ("together", together)]);
        service
    };
    // One request is more than none, so every one finds it busy.
    let service = start(&[("RLAAS_MAX_REQUESTS", "0")]);
    check(
        &server,
        &service,
        &[
            // What remains is not known without Redis.
            ("local: k=x", "ok 0: ok"),
            ("local: k=x", "ok 0: ok"),
            ("local: k=x", "over 0: over"),
            ("deny: k=x", "over 0: over"),
            ("error: k=x", "Unavailable"),
            // Without a limit there is nothing to decide.
            ("error: new=x", "ok 0: ok"),
            // All of them or none: the one of "b" is not charged with the third of "a".
            ("together: k=a", "ok 0: ok"),
            ("together: k=a", "ok 0: ok"),
            ("together: k=a | k=b", "over 0 | ok 0: over"),
            ("together: k=b", "ok 0: ok"),
            ("together: k=b", "ok 0: ok"),
            ("together: k=b", "over 0: over"),
            // A look denies where more than the limit is counted.
            ("local: k=x ?", "over 0: over"),
            ("local: k=z ?", "ok 0: ok"),
            // What is given back is given back.
            ("local: k=back -1", "ok 2: ok"),
            ("deny: granted=x", "over 0: over"),
        ],
    );
    assert_eq!(says.map(|says| json(&service, says)), [200, 429, 503]);
    let authorize = |says| get(&service.http, &format!("/authorize/{says}"), &[("K", "authorize")]).status;
    assert_eq!(says.map(authorize), [200, 429, 503]);
    assert_eq!(service.metrics("rlaas_overload{"), ["rlaas_overload{reason=\"requests\"} 22"]);
    let by_overload = [
        "{domain=\"deny\",outcome=\"denied\"} 4",
        "{domain=\"error\",outcome=\"error\"} 3",
        "{domain=\"local\",outcome=\"allowed\"} 5",
        "{domain=\"local\",outcome=\"denied\"} 2",
        "{domain=\"together\",outcome=\"allowed\"} 4",
        "{domain=\"together\",outcome=\"denied\"} 2",
    ];
    assert_eq!(
        service.metrics("rlaas_decisions_by_overload{"),
        by_overload.map(|line| format!("rlaas_decisions_by_overload{line}"))
    );
    assert_eq!(service.metrics("rlaas_decisions_without_redis{"), [""; 0]);

    // What is remembered, and what was granted, decides first. Here the deadline of the caller leaves no time.
    let service = start(&[]);
    block_on(async {
        let mut client = service.client().await;
        let (hurry, granted, over) = (("grpc-timeout", "6m"), "deny: granted=y", "error: k=y +3");
        assert_eq!(client.code(granted).await, OK);
        let mut allowed = 0;
        for _ in 0..9 {
            let reply = client.try_ask_with(hurry, granted).await;
            // It is late on a busy machine.
            allowed += u32::from(reply.is_ok_and(|reply| reply.overall_code() == OK));
        }
        assert!(allowed <= 3, "{allowed} of the 3 that it holds");
        assert_eq!(client.code(over).await, OVER);
        let ends = Instant::now() + PATIENCE;
        while !client.try_ask_with(hurry, over).await.is_ok_and(|reply| reply.overall_code() == OVER) {
            assert!(Instant::now() < ends, "no remembered denial denies");
        }
    });
    assert!(service.metrics("rlaas_granted ")[0] != "rlaas_granted 0");
    assert!(service.metrics("rlaas_overload{").iter().any(|line| line.contains("deadline")));
}

/// Frames of calls, as many as streams, whose only entry is the key `k` with this value; without one, their headers alone.
pub fn calls(streams: u32, value: Option<&str>) -> Vec<u8> {
    let [data, headers] = [0, 1];
    let body = value.map_or_else(Vec::new, |value| {
        let message = prost::Message::encode_to_vec(&steps::request(&format!("k={value}")));
        let length = u32::try_from(message.len()).expect("short").to_be_bytes();
        [&[0][..], &length, &message].concat()
    });
    let literal = |text: &str| [&[u8::try_from(text.len()).expect("short")], text.as_bytes()].concat();
    // POST http of host "x", and then literal fields.
    let mut fields = vec![0x83, 0x86, 0x01, 1, b'x'];
    fields.extend([vec![0x04], literal("/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit")].concat());
    fields.extend([vec![0x00], literal("content-type"), literal("application/grpc")].concat());
    let call = |n: u32| {
        let stream = 2 * n + 1;
        let mut frames = frame(headers, 4, stream, &fields);
        let mut parts = body.chunks(16_384).peekable();
        while let Some(part) = parts.next() {
            frames.extend(frame(data, u8::from(parts.peek().is_none()), stream, part));
        }
        frames
    };
    (0..streams).flat_map(call).collect()
}

/// A connection that has begun, and lets the service send as much as it likes.
pub fn connect(service: &Rlaas) -> TcpStream {
    let [settings, window] = [4, 8];
    let mut stream = TcpStream::connect(&service.address).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let more = frame(window, 0, 0, &0x3fff_0000_u32.to_be_bytes());
    let preface = [&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], &frame(settings, 0, 0, &[]), &more].concat();
    stream.write_all(&preface).expect("sent");
    stream
}

/// How many calls of a connection have ended, until it is closed or so many have.
fn replies(stream: &mut TcpStream, until: u32) -> u32 {
    let (mut ended, mut head) = (0, [0; 9]);
    while ended < until && stream.read_exact(&mut head).is_ok() {
        let [a, b, c, kind, flags, ..] = head;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        if stream.read_exact(&mut payload).is_err() {
            break;
        }
        // The trailers of a reply, or a stream that was refused.
        ended += u32::from((kind == 1 && flags & 1 == 1) || kind == 3);
    }
    ended
}

#[test]
fn many_requests_at_once_take_little_memory() {
    let server = one_server();
    let rules = "domain: d\ndescriptors: [{key: k, rate_limit: {unit: year, requests_per_unit: 100}}]\n";
    // A third of 60,000 with a fifth of the default, since this program is not optimized.
    let (connections, max_requests) = (20, 1_000);
    let service = Rlaas::with_env(&server, rules, &[("RLAAS_MAX_REQUESTS", &max_requests.to_string())]);
    let before = service.memory("VmHWM");
    // 500 more, and what a connection reads at once.
    let most = f64::from(max_requests + 500 + connections * 300);
    let bytes = calls(1_000, Some("x"));
    // Nobody gets a reply of Redis, so as many as may be are under way.
    let paused = Paused::new(&server);
    let mut streams: Vec<_> = (0..connections).map(|_| connect(&service)).collect();
    thread::scope(|scope| {
        let mut readers = Vec::new();
        for stream in &mut streams {
            let bytes = &bytes;
            let mut writes = stream.try_clone().expect("a connection");
            // The service may stop to read.
            scope.spawn(move || writes.write_all(bytes).expect("sent"));
            readers.push(scope.spawn(|| replies(stream, 1_000)));
        }
        until("many are under way", || under_way(&service) > f64::from(max_requests));
        assert!(under_way(&service) < most, "more than {most} are under way");
        drop(paused);
        let ended: u32 = readers.into_iter().map(|reader| reader.join().expect("replies")).sum();
        assert_eq!(ended, connections * 1_000, "{:?}", service.metrics("rlaas_"));
    });
    // Calls whose messages never come. Beyond the bound, the service does not read the connections.
    let mut unfinished: Vec<_> = (0..connections).map(|_| connect(&service)).collect();
    let headers = calls(1_000, None);
    for stream in &mut unfinished {
        stream.set_write_timeout(Some(Duration::from_millis(200))).expect("a timeout");
        _ = stream.write_all(&headers);
    }
    until("many have begun", || under_way(&service) > f64::from(max_requests));
    thread::sleep(Duration::from_secs(1));
    assert!(under_way(&service) < most, "{} have begun", under_way(&service));
    let after = service.memory("VmHWM");
    assert!(after < 128 * 1024, "{before} KiB, then {after} KiB");
}

fn under_way(service: &Rlaas) -> f64 {
    let line = service.metrics("rlaas_requests_under_way ").pop().expect("a figure");
    line.trim_start_matches("rlaas_requests_under_way ").parse().expect("a number")
}

#[test]
fn what_a_caller_sends_decides_no_size() {
    const LONG: usize = 380_000;
    let server = one_server();
    let rules = "domain: d\ndescriptors: [{key: k, value_to_metric: true, rate_limit: {algorithm: token, unit: year, requests_per_unit: 0}}]\n";
    let script = "rate-limiter: {use-algo: fixed-window-algo, window-size: 31536000, max-requests: 5}\n";
    let service = Rlaas::with_env(&server, rules, &[("RLAAS_PREFIX", "app:"), ("RLAAS_LOG_LEVEL", "debug")]);
    fs::write(service.dir.path().join("rules/scripts.yaml"), script).expect("a file");
    until("the rules are in force", || get(&service.debug, "/rlconfig", &[]).body.contains("userId"));
    let before = service.memory("VmHWM");
    let requests = 300;
    block_on(async {
        let clients = join_all((0..10).map(|_| service.client())).await;
        let each = clients.into_iter().enumerate().map(|(at, client)| async move {
            let calls = (0..requests / 10).map(|n| {
                let mut client = client.clone();
                let value = format!("{at}-{n}-{}", "x".repeat(LONG));
                async move { client.code(&*format!("k={value}")).await }
            });
            stream::iter(calls).buffer_unordered(50).collect::<Vec<_>>().await
        });
        assert!(join_all(each).await.into_iter().flatten().all(|code| code == OVER));
        // Two of them have not the same key, and neither has one that looks so already.
        let mut client = service.client().await;
        let user = |user: &str| request("rlaas", &[&[("userId", user)]]);
        for user_id in ["alice", "alice:reserved", "reserved", &"x".repeat(LONG), &format!("{}y", "x".repeat(LONG))] {
            assert_eq!(client.code(hits(user(user_id), 5)).await, OK, "{user_id}");
            assert_eq!(client.code(user(user_id)).await, OVER, "{user_id}");
        }
    });
    let after = service.memory("VmHWM");
    let keys: Vec<String> = redis::cmd("KEYS").arg("*").query(&mut server.con()).expect("KEYS");
    let longest = keys.iter().map(String::len).max().expect("keys");
    let metrics = service.metrics("").join("\n").len();
    assert!(after < 128 * 1024, "{before} KiB, then {after} KiB");
    assert!(longest < 200 && metrics < requests * 1_000, "{longest} {metrics}");
    assert!(
        keys.iter().all(|key| key.starts_with("app:rl:d:token:") || key.starts_with("rlaas:rate_limit:")),
        "{keys:?}"
    );
    assert!(keys.iter().all(|key| !key.ends_with(":reserved")) && keys.len() >= 5, "{keys:?}");
    assert!(service.log().lines().all(|line| line.len() < 1_000));
}

#[test]
fn connections_that_say_nothing_are_closed_and_keep_nobody_out() {
    let server = one_server();
    let rules = "domain: d\ndescriptors: [{key: k, rate_limit: {unit: year, requests_per_unit: 100}}]\n";
    let options = Options { redis: url(&server), rules, env: &[] };
    let service = Rlaas::with_descriptors(256, &options);
    let call = calls(1, Some("x"));
    let began = Instant::now();
    let starts: [(&str, &[u8]); 7] = [
        (&service.address, b""),
        (&service.address, b"PRI * HTTP/2.0\r\n"),
        (&service.http, b""),
        (&service.http, b"GET /healthcheck HTTP/1.1\r\nHost: x\r\n"),
        (&service.metrics, b"GET /met"),
        (&service.debug, b""),
        (&service.debug, b"GET /rlconfig HTTP/1.1\r\n"),
    ];
    let mut silent: Vec<_> = starts
        .into_iter()
        .map(|(address, bytes)| {
            let mut stream = TcpStream::connect(address).expect("a connection");
            stream.write_all(bytes).expect("sent");
            stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
            stream
        })
        .collect();
    // Half a header of HTTP/2.
    let mut half = connect(&service);
    half.write_all(&call[..20]).expect("sent");
    silent.push(half);
    let many: Vec<_> = (0..250).map(|_| TcpStream::connect(&service.address).expect("a connection")).collect();
    let still_serves = || {
        assert_eq!(get(&service.http, "/healthcheck", &[]).status, 200);
        assert!(get(&service.debug, "/rlconfig", &[]).body.contains("d.k"));
        assert_eq!(service.code("k=x"), OK);
        service.metrics("rlaas_connections")
    };
    let figures = still_serves();
    assert!(figures.iter().any(|line| line.starts_with("rlaas_connections_closed{reason=\"idle\"}")), "{figures:?}");
    for mut stream in silent {
        let mut rest = Vec::new();
        let ended = stream.read_to_end(&mut rest);
        assert!(!ended.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock), "still open");
        assert!(began.elapsed() < Duration::from_secs(14), "{:?}", began.elapsed());
    }
    assert!(began.elapsed() > Duration::from_secs(9), "{:?}", began.elapsed());
    let figures = still_serves();
    assert!(figures.iter().any(|line| line.starts_with("rlaas_connections_closed{reason=\"silent\"}")), "{figures:?}");
    drop(many);
}
