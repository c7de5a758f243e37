//! Many requests at once: no limit is lifted because rlaas is busy, and its memory is bounded.

use std::collections::{BTreeMap, HashSet};
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
    let (mut all, messages) = parts_of_calls(streams, value);
    all.iter_mut().zip(messages).for_each(|(headers, message)| headers.extend(message));
    all.concat()
}

/// The headers of calls, and their messages.
fn parts_of_calls(streams: u32, value: Option<&str>) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let [data, headers] = [0, 1];
    let body = value.map_or_else(Vec::new, |value| {
        let message = prost::Message::encode_to_vec(&steps::request(&format!("k={value}")));
        let length = u32::try_from(message.len()).expect("short").to_be_bytes();
        [&[0][..], &length, &message].concat()
    });
    let literal = |text: &str| [&[u8::try_from(text.len()).expect("short")], text.as_bytes()].concat();
    // POST http of host "x". What the first says at length the others name by its place.
    let first = [
        vec![0x83, 0x86, 0x44],
        literal("/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit"),
        vec![0x41, 1, b'x', 0x5f],
        literal("application/grpc"),
    ];
    let (first, others) = (first.concat(), [0x83, 0x86, 0xc0, 0xbf, 0xbe]);
    let header = |n| frame(headers, 4, 2 * n + 1, if n == 0 { &first } else { &others });
    let message = |n| {
        let mut frames = Vec::new();
        let mut parts = body.chunks(16_384).peekable();
        while let Some(part) = parts.next() {
            frames.extend(frame(data, u8::from(parts.peek().is_none()), 2 * n + 1, part));
        }
        frames
    };
    ((0..streams).map(header).collect(), (0..streams).map(message).collect())
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
    let (replies, resets) = outcomes(stream, until);
    replies + resets
}

/// How many calls have a message as their reply, and how many only an error.
fn outcomes(stream: &mut TcpStream, until: u32) -> (u32, u32) {
    let (mut ok, mut other, mut head, mut replied) = (0, 0, [0; 9], HashSet::new());
    while ok + other < until && stream.read_exact(&mut head).is_ok() {
        let [a, b, c, kind, flags, id @ ..] = head;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        if stream.read_exact(&mut payload).is_err() {
            break;
        }
        if kind == 0 {
            replied.insert(id);
        } else if kind == 1 && flags & 1 == 1 {
            *(if replied.remove(&id) { &mut ok } else { &mut other }) += 1;
        }
    }
    (ok, other)
}

/// The service may stop to read.
fn writes_all(stream: &mut TcpStream, bytes: &[u8]) {
    stream.write_all(bytes).expect("sent");
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
            scope.spawn(move || writes_all(&mut writes, bytes));
            readers.push(scope.spawn(|| replies(stream, 1_000)));
        }
        until("many are under way", || under_way(&service) > f64::from(max_requests));
        assert!(under_way(&service) < most, "more than {most} are under way");
        drop(paused);
        let ended: u32 = readers.into_iter().map(|reader| reader.join().expect("replies")).sum();
        assert_eq!(ended, connections * 1_000, "{:?}", service.metrics("rlaas_"));
    });
    let after = service.memory("VmHWM");
    assert!(after < 128 * 1024, "{before} KiB, then {after} KiB");
}

/// Messages that never come hold up nobody else, and end a second after their turn began; their connections do not.
#[test]
fn messages_that_are_not_whole_take_little_and_end() {
    let (connections, streams) = if is_long() { (400, 1_000) } else { (60, 300) };
    let server = one_server();
    let rules = "domain: d\ndescriptors: [{key: k, rate_limit: {unit: year, requests_per_unit: 1000000}}]\n";
    let service = Rlaas::with_env(&server, rules, &[("RLAAS_MAX_REQUESTS", "500")]);
    let (before, headers) = (service.memory("VmHWM"), calls(streams, None));
    let mut attackers: Vec<_> = (0..connections).map(|_| connect(&service)).collect();
    let resets = || service.metrics("rlaas_requests_reset{reason=\"no_progress\"}");
    let polite = thread::scope(|scope| {
        for stream in &mut attackers {
            stream.set_write_timeout(Some(Duration::from_millis(500))).expect("a timeout");
            // The service may not read all of it.
            scope.spawn(|| _ = stream.write_all(&headers));
        }
        let polite = scope.spawn(|| {
            block_on(async {
                let mut client = service.client().await;
                let mut times = Vec::new();
                while times.len() < 300 {
                    let began = Instant::now();
                    assert_eq!(client.code("k=polite").await, OK);
                    times.push(began.elapsed());
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
                times.sort_unstable();
                times
            })
        });
        polite.join().expect("replies")
    });
    let n = |line: &str| line.rsplit(' ').next().and_then(|n| n.parse::<u32>().ok()).unwrap_or(0);
    let have_ended = || resets().iter().any(|line| n(line) > connections * (streams - 20));
    assert!(eventually(10 * PATIENCE, have_ended), "{:?} of {connections}", resets());
    let figures = service.metrics("rlaas_");
    assert_memory(&service, before);
    assert!(!figures.iter().any(|line| line.starts_with("rlaas_overload{")), "{figures:?}");
    assert!(!figures.iter().any(|line| line.starts_with("rlaas_connections_closed")), "{figures:?}");
    let late = polite[polite.len() * 99 / 100];
    assert!(late < PATIENCE / 4, "{late:?}");
    // Each caller knows that its request has ended, and may make others.
    let more = frame(1, 4, 2 * streams + 1, &[0x83, 0x86, 0xc0, 0xbf, 0xbe]);
    let stream = attackers.first_mut().expect("one");
    stream.write_all(&more).expect("sent");
    assert_eq!(replies(stream, streams), streams);
}

/// The headers of many calls, and only then their messages, as some clients send them.
#[test]
fn messages_that_come_late_are_all_read() {
    let (connections, streams) = if is_long() { (1_000, 200) } else { (100, 100) };
    raise_descriptors();
    let server = one_server();
    let rules = "domain: d\ndescriptors: [{key: k, rate_limit: {unit: year, requests_per_unit: 1000000}}]\n";
    let service = Rlaas::with_env(&server, rules, &[("RLAAS_MAX_REQUESTS", "1000")]);
    let before = service.memory("VmHWM");
    let (headers, messages) = parts_of_calls(streams, Some("x"));
    let (headers, messages) = (headers.concat(), messages.concat());
    let mut streams_of: Vec<_> = (0..connections).map(|_| connect(&service)).collect();
    for stream in &mut streams_of {
        stream.write_all(&headers).expect("sent");
    }
    let ended: u32 = thread::scope(|scope| {
        let ends = |stream: TcpStream| {
            // The last connection has its turn when all others have had theirs.
            stream.set_read_timeout(Some(100 * PATIENCE)).expect("a timeout");
            let (mut writes, mut reads, messages) = (stream.try_clone().expect("a connection"), stream, &messages);
            scope.spawn(move || writes_all(&mut writes, messages));
            scope.spawn(move || outcomes(&mut reads, streams).0)
        };
        let all: Vec<_> = streams_of.into_iter().map(ends).collect();
        all.into_iter().map(|replies| replies.join().expect("replies")).sum()
    });
    assert_eq!(ended, connections * streams, "{:?}", service.metrics("rlaas_"));
    assert_memory(&service, before);
    assert_eq!(service.metrics("rlaas_connections_closed"), [""; 0]);
    assert_eq!(service.metrics("rlaas_requests_reset"), [""; 0]);
}

/// Half requests of HTTP, and half handshakes, take no more than all connections may hold.
#[test]
fn half_requests_take_little_and_keep_nobody_out() {
    let connections: usize = if is_long() { 9_500 } else { 300 };
    raise_descriptors();
    let (server, files) = (one_server(), super::security::Certificates::new());
    let half = |header: usize, body: usize| {
        let length = if body > 0 { format!("Content-Length: {}\r\n\r\n", 2 * body) } else { String::new() };
        let field = format!("X: {}{}", "x".repeat(header), if body > 0 { "\r\n" } else { "" });
        format!("POST /json HTTP/1.1\r\nHost: x\r\n{field}{length}{}", "x".repeat(body)).into_bytes()
    };
    let hello = [&b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..], &[b'r'; 200]].concat();
    let rules = "domain: d\ndescriptors: [{key: k, rate_limit: {unit: year, requests_per_unit: 100}}]\n";
    for (what, bytes, connections, closed) in [
        ("a header of 60 KB", half(60_000, 0), connections, true),
        ("a header of 8 KB", half(8_000, 0), connections, false),
        ("nothing", Vec::new(), connections, false),
        ("a body of 15 KB", half(1, 15_000), connections, false),
        ("half a ClientHello", hello, connections.min(5_000), false),
    ] {
        let with_tls = what.contains("Hello");
        let service = if with_tls { files.service(&server, rules) } else { Rlaas::start(&server, rules) };
        let address = if with_tls { &service.address } else { &service.http };
        let begun = |_| {
            let mut stream = TcpStream::connect(address).expect("a connection");
            // It may be closed before all is sent.
            _ = stream.write_all(&bytes);
            assert!(!closed || is_answered(&mut stream), "{what}");
            stream
        };
        let _streams: Vec<_> = (0..connections).map(begun).collect();
        let memory = service.memory("VmHWM");
        assert_eq!(get(&service.http, "/healthcheck", &[]).status, 200, "{what}");
        if with_tls {
            assert!(block_on(files.connects(&service, Some("client"))));
        } else {
            assert_eq!(json(&service, "d"), 200, "{what}");
        }
        let figures = service.metrics("rlaas_connections");
        let most = if is_long() { 256 } else { 128 } * 1024;
        assert!(memory < most, "{what}: {memory} KiB, {figures:?}");
        let for_memory = figures.iter().any(|line| line.contains("closed{reason=\"memory\"}"));
        assert_eq!(for_memory, is_long() && what.contains("KB") && !closed, "{what}: {figures:?}");
    }
}

/// Whether a response comes: that the header is too long.
fn is_answered(stream: &mut TcpStream) -> bool {
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let mut start = [0; 12];
    match stream.read_exact(&mut start) {
        Ok(()) => start == *b"HTTP/1.1 431",
        // It had been sent when the rest came.
        Err(error) => error.kind() == io::ErrorKind::ConnectionReset,
    }
}

/// 128 MB for a program that is optimized, which begins with 20.
fn assert_memory(service: &Rlaas, before: u64) {
    let after = service.memory("VmHWM");
    assert!(after - before < 108 * 1024, "{before} KiB, then {after} KiB");
}

/// So many connections take as many descriptors.
fn raise_descriptors() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).expect("a limit");
}

/// Whether this is the run at length, which `make full` makes.
fn is_long() -> bool {
    std::env::var("FLOODS").is_ok_and(|floods| floods == "long")
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
