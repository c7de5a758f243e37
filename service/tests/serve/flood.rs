//! Many requests at once: no limit is lifted because rlaas is busy, and its memory is bounded.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::hint::spin_loop;
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use envoy_types::pb::envoy::service::ratelimit::v3::rate_limit_response::Code;
use futures_util::StreamExt as _;
use futures_util::future::{join, join_all};
use futures_util::stream;

use super::process::{Client, Rlaas, get, until, url};
use super::promises::frame;
use super::regions::Link;
use super::steps::{check, counted};
use super::{alone, block_on, one_server, steps};
use crate::support::*;
use Code::{Ok as OK, OverLimit as OVER};

const RULES: &str = "domain: d\ndescriptors: [{key: k, rate_limit: {unit: year, requests_per_unit: 1000000}}]\n";

/// With the limits of time that a service has by itself, but for the time of a request, which is long since this program is not optimized.
const IN_A_HURRY: [(&str, &str); 3] =
    [("RLAAS_TIMEOUT", "15ms"), ("RLAAS_MAX_LAG", "10ms"), ("RLAAS_REQUEST_TIMEOUT", "60s")];

/// What each of so many requests got, by its number. Each connection has 100 under way at once.
async fn flood(
    service: &Rlaas,
    connections: u32,
    requests: u32,
    ask: &impl Fn(u32) -> String,
) -> Vec<(u32, &'static str)> {
    let clients = join_all((0..connections).map(|_| service.client())).await;
    let each = clients.into_iter().zip(0..).map(|(client, at): (Client, u32)| async move {
        let calls = (at..requests).step_by(connections as usize).map(|n| {
            let mut client = client.clone();
            async move {
                let outcome = match client.try_ask(&ask(n)).await {
                    Ok(reply) if reply.overall_code() == OK => "allowed",
                    Ok(_) => "denied",
                    Err(status) if status.code() == tonic::Code::Unavailable => "unavailable",
                    Err(_) => "failed",
                };
                (n, outcome)
            }
        });
        stream::iter(calls).buffer_unordered(100).collect::<Vec<_>>().await
    });
    join_all(each).await.concat()
}

/// Requests of one user and of many, over 50 connections with 100 under way on each, also while other programs have the
/// cores. `local` allows at most the limit twice: what Redis allowed, and what this copy allowed while it was too busy.
#[test]
fn a_flood_lifts_no_limit_of_one_key_or_of_many() {
    for (users, limit) in [(1, 100), (400, 5)] {
        let (_alone, server) = (alone(), one_server());
        // A domain for each word of on_overload, in which each user has so many units.
        let rules = ["local", "deny", "error"].map(|says| {
            let limit = format!("{{key: user, rate_limit: {{unit: year, requests_per_unit: {limit}}}}}");
            (says, format!("on_unavailable: {says}\non_overload: {says}\ndescriptors: [{limit}]\n"))
        });
        let service = Rlaas::with_env(&server, "", &IN_A_HURRY);
        service.add_rules(&rules);
        for (says, is_busy) in [("local", true), ("deny", false), ("error", false)] {
            let ask = |n: u32| format!("{says}: user={is_busy}-{}", n % users);
            let is_over = AtomicBool::new(!is_busy);
            let outcomes = thread::scope(|scope| {
                let _over = Done(&is_over);
                // Another program on both cores.
                let spin = || {
                    while !is_over.load(Ordering::Relaxed) {
                        spin_loop();
                    }
                };
                _ = [(); 2].map(|()| scope.spawn(spin));
                block_on(flood(&service, 50, 3_000, &ask))
            });
            let most = if says == "local" { 2 * limit } else { limit };
            let mut allowed = BTreeMap::<u32, u32>::new();
            for (n, outcome) in &outcomes {
                *allowed.entry(n % users).or_default() += u32::from(*outcome == "allowed");
            }
            let what = || format!("{says}, busy {is_busy}: {allowed:?} {:?}", service.metrics("rlaas_"));
            assert!(allowed.values().any(|n| *n > 0) && allowed.values().all(|n| *n <= most), "{}", what());
            let is_decided = |outcome: &str| outcome != "failed" && (says == "error" || outcome != "unavailable");
            assert!(outcomes.iter().all(|(_, outcome)| is_decided(outcome)), "{}", what());
        }
    }
}

/// A call that Redis does not answer in time is overload while it replies to others, and an outage if it replies to none.
#[test]
fn a_time_out_under_load_is_overload() {
    /// How long one direction takes.
    const DELAY: Duration = Duration::from_millis(300);
    const MANY: u32 = 20;
    let server = one_server();
    let link = Link::new(server.port(), DELAY);
    let rules = "domain: d\non_unavailable: allow\non_overload: deny\ndescriptors: [{key: k, rate_limit: {unit: year, requests_per_unit: 100}}]\n";
    let start = |port: u16, timeout: &str| {
        let env = [("RLAAS_TIMEOUT", timeout), ("RLAAS_DENIALS", "0"), ("RLAAS_REQUEST_TIMEOUT", "60s")];
        Rlaas::at(&url(port), rules, &env)
    };
    let allowed = |outcomes: &[(u32, &str)]| outcomes.iter().filter(|(_, outcome)| *outcome == "allowed").count();
    let many = |_| "k=many".to_owned();
    // More than 100 are under way, since these have no message.
    let load = |service: &Rlaas| {
        let mut half = connect(service);
        half.write_all(&calls(101, None)).expect("sent");
        until("they are under way", || under_way(service) > 100.0);
        half
    };
    let service = start(link.port, "1500ms");
    // Until Redis has decided, the connection is being opened.
    until("Redis decides", || service.code("k=first") == OK && counted(&server, "*k=first").is_some());
    let _half = load(&service);
    block_on(async {
        let mut client = service.client().await;
        let one = async {
            assert_eq!(client.code("k=one").await, OK);
            // Its reply is there while the others wait for theirs, which do not come.
            link.cut(true);
        };
        let others = async {
            tokio::time::sleep(DELAY).await;
            flood(&service, 2, MANY, &many).await
        };
        let ((), outcomes) = join(one, others).await;
        assert_eq!(allowed(&outcomes), 0, "{:?}", service.metrics("rlaas_"));
    });
    assert_eq!(service.figures("rlaas_overload{reason=\"timeout\"}"), MANY.to_string());
    let (service, _paused) = (start(server.port(), "100ms"), Paused::new(&server));
    let _half = load(&service);
    let outcomes = block_on(flood(&service, 2, MANY, &many));
    assert_eq!(allowed(&outcomes), MANY as usize, "{:?}", service.metrics("rlaas_"));
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
        let [local, deny, error] = rules.each_ref().map(String::as_str);
        service.add_rules(&[("local", local), ("deny", deny), ("error", error), ("together", together)]);
        service
    };
    // One request counts from its header although its message never comes, so every other one finds it busy.
    let service = start(&[("RLAAS_MAX_REQUESTS", "1"), ("RLAAS_REQUEST_TIMEOUT", "600s"), ("RLAAS_LIMITS", "true")]);
    let mut half = connect(&service);
    half.write_all(&calls(1, None)).expect("sent");
    until("it is under way", || under_way(&service) > 1.0);
    let steps = [
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
    ];
    check(&server, &service, &steps);
    let json = |says| service.post("/json", &format!("{says}: k=json"), "").status;
    assert_eq!(says.map(json), [200, 429, 503]);
    let authorize = |says| get(&service.http, &format!("/authorize/{says}"), &[("K", "authorize")]).status;
    assert_eq!(says.map(authorize), [200, 429, 503]);
    assert_eq!(get(&service.http, "/limits/local", &[("K", "x")]).status, 503);
    assert_eq!(service.figures("rlaas_overload{reason=\"requests\"}"), "23");
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
    assert_ne!(service.figures("rlaas_granted "), "0");
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

/// The next frame: its kind, its flags, its stream, and what it holds.
pub fn read_frame(stream: &mut TcpStream) -> io::Result<(u8, u8, u32, Vec<u8>)> {
    let mut head = [0; 9];
    stream.read_exact(&mut head)?;
    let [a, b, c, kind, flags, id @ ..] = head;
    let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
    stream.read_exact(&mut payload)?;
    Ok((kind, flags, u32::from_be_bytes(id), payload))
}

/// How many calls have a message as their reply, and how many only an error.
fn outcomes(stream: &mut TcpStream, until: u32) -> (u32, u32) {
    let (mut ok, mut other, mut replied) = (0, 0, HashSet::new());
    while ok + other < until
        && let Ok((kind, flags, id, _)) = read_frame(stream)
    {
        if kind == 0 {
            replied.insert(id);
        } else if kind == 1 && flags & 1 == 1 {
            *(if replied.remove(&id) { &mut ok } else { &mut other }) += 1;
        }
    }
    (ok, other)
}

/// A stream takes 7 KB that has sent its header, and 10 KB that waits for Redis. `docs/service.md` has the sum.
#[test]
fn open_streams_take_little_memory_and_none_fails() {
    const STREAMS: u32 = 200 * 100;
    let _alone = alone();
    let server = one_server();
    let patient = ["RLAAS_REQUEST_TIMEOUT", "RLAAS_TIMEOUT", "RLAAS_MAX_LAG"].map(|name| (name, "600s"));
    let service = Rlaas::with_env(&server, RULES, &[&patient[..], &[("RLAAS_MAX_REQUESTS", "0")]].concat());
    assert_eq!(service.code("k=x"), OK);
    // Nobody gets a reply of Redis, so all are under way.
    let paused = Paused::new(&server);
    let mut streams: Vec<_> = (0..200).map(|_| connect(&service)).collect();
    let bytes = calls(100, Some("x"));
    streams.iter_mut().for_each(|stream| stream.write_all(&bytes).expect("sent"));
    until("all are under way", || under_way(&service) >= f64::from(STREAMS));
    drop(paused);
    let ended: u32 = streams.iter_mut().map(|stream| outcomes(stream, 100).0).sum();
    assert_eq!(ended, STREAMS, "{:?}", service.metrics("rlaas_"));
    let most = service.memory("VmHWM");
    assert!(most < 250_000, "{most} KiB");
}

/// Requests whose messages never come end in time. Meanwhile nobody else waits, and others have on_overload at most.
#[test]
fn requests_that_are_not_whole_end_and_hold_up_nobody() {
    let (_alone, server) = (alone(), one_server());
    let (headers, messages) = parts_of_calls(100, Some("x"));
    let half = |(header, message): (&Vec<u8>, &Vec<u8>)| [header, &message[..message.len() - 1]].concat();
    // A frame that is not whole is read as what there is of it.
    let halves: Vec<u8> = headers.iter().zip(&messages).take(1).flat_map(half).collect();
    for (what, bytes, ends) in [("headers", headers.concat(), 100), ("half a frame", halves, 0)] {
        let service = Rlaas::with_env(&server, RULES, &[("RLAAS_REQUEST_TIMEOUT", "3s")]);
        let began = Instant::now();
        let mut floods: Vec<_> = (0..60).map(|_| connect(&service)).collect();
        floods.iter_mut().for_each(|stream| stream.write_all(&bytes).expect("sent"));
        let mut times = block_on(async {
            let mut client = service.client().await;
            let mut times = Vec::new();
            while began.elapsed() < Duration::from_secs(3) {
                let began = Instant::now();
                assert_eq!(client.code("k=polite").await, OK, "{what}");
                times.push(began.elapsed());
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            times
        });
        times.sort_unstable();
        let late = times[times.len() * 99 / 100];
        assert!(late < Duration::from_secs(1), "{what}: {late:?}");
        // Each caller knows that its request has ended. Without pings the connection ends too.
        for stream in &mut floods {
            assert_eq!(outcomes(stream, ends), (0, ends), "{what}");
        }
        until("none is under way", || under_way(&service) < 2.0);
    }
}

/// Eight messages of 4 MiB that are not whole hold all that messages may. A short one that is whole does not wait. Of those
/// that wait there are at most 1,024.
#[test]
fn a_long_message_waits_until_others_are_read() {
    let server = one_server();
    let service = Rlaas::with_env(&server, RULES, &[("RLAAS_REQUEST_TIMEOUT", "12s")]);
    let (headers, messages) = parts_of_calls(8, Some(&"x".repeat(4 * 1024 * 1024 - 100)));
    let mut stream = connect(&service);
    // Until the service says that the connection may send more, 64 KiB are all.
    let window = 8;
    while read_frame(&mut stream).expect("a frame").0 != window {}
    // Until this time is over, none of them gives back what it holds.
    let began = Instant::now();
    for (header, message) in headers.iter().zip(&messages) {
        stream.write_all(&[header, &message[..8_192]].concat()).expect("sent");
        // The rest of the frame.
        stream.write_all(&message[8_192..16_393]).expect("sent");
    }
    until("they are under way", || under_way(&service) > 8.0);
    assert_eq!(service.code("k=short"), OK);
    let (headers, messages) = parts_of_calls(1_024, Some(&"x".repeat(50_000)));
    let first_frames = |n: usize| -> Vec<u8> {
        let parts = headers.iter().zip(&messages).take(n);
        parts.flat_map(|(header, message)| [header, &message[..16_393]].concat()).collect()
    };
    let mut waiting = connect(&service);
    waiting.write_all(&first_frames(1_024)).expect("sent");
    until("each has its place", || under_way(&service) > 1_031.0);
    let mut more = connect(&service);
    more.write_all(&first_frames(100)).expect("sent");
    assert_eq!(outcomes(&mut more, 100), (0, 100), "more are rejected");
    assert!(began.elapsed() < Duration::from_secs(12), "they have waited: {:?}", began.elapsed());
    drop(waiting);
    // It has the second half of their time, and its own.
    thread::sleep(Duration::from_secs(6).saturating_sub(began.elapsed()));
    let long = block_on(async { service.client().await.try_ask(&format!("k={}", "y".repeat(100_000))).await });
    assert_eq!(long.expect("a reply").overall_code(), OK);
    assert!(began.elapsed() >= Duration::from_secs(12), "{:?}", began.elapsed());
    assert_eq!(outcomes(&mut stream, 8), (0, 8));
}

/// The client knows from the first frame how many streams it may have. h2 takes more, since some know it too late.
#[test]
fn more_streams_than_a_connection_may_have_are_refused() {
    let server = one_server();
    let service = Rlaas::with_env(&server, RULES, &[("GRPC_MAX_CONCURRENT_STREAMS", "5")]);
    let mut stream = connect(&service);
    stream.write_all(&calls(1_025, None)).expect("sent");
    let [settings, reset] = [4, 3];
    let mut next = |wanted: u8| loop {
        let (kind, flags, id, payload) = read_frame(&mut stream).expect("a frame");
        if kind == wanted && flags == 0 {
            return (id, payload);
        }
    };
    // SETTINGS_MAX_CONCURRENT_STREAMS is 3, and REFUSED_STREAM 7.
    assert!(next(settings).1.chunks(6).any(|setting| setting == [0, 3, 0, 0, 0, 5]));
    assert_eq!(next(reset), (2 * 1_024 + 1, vec![0, 0, 0, 7]));
}

fn under_way(service: &Rlaas) -> f64 {
    service.figure("rlaas_requests_under_way ")
}

#[test]
fn what_a_caller_sends_decides_no_size() {
    const LONG: usize = 380_000;
    let server = one_server();
    let rules = "domain: d\ndescriptors: [{key: k, value_to_metric: true, rate_limit: {algorithm: token, unit: year, requests_per_unit: 0}}]\n";
    let script = "rate-limiter: {use-algo: fixed-window-algo, window-size: 31536000, max-requests: 5}\n";
    let service = Rlaas::with_env(
        &server,
        rules,
        &[("RLAAS_PREFIX", "app:"), ("RLAAS_LOG_LEVEL", "debug"), ("RLAAS_REQUEST_TIMEOUT", "60s")],
    );
    fs::write(service.dir.path().join("rules/scripts.yaml"), script).expect("a file");
    until("the rules are in force", || get(&service.debug, "/rlconfig", &[]).body.contains("userId"));
    let before = service.memory("VmHWM");
    let requests = 120;
    block_on(async {
        let client = service.client().await;
        let calls = (0..requests).map(|n| {
            let mut client = client.clone();
            async move { client.code(&format!("k={n}-{}", "x".repeat(LONG))).await }
        });
        assert!(stream::iter(calls).buffer_unordered(8).all(async |code| code == OVER).await);
        // Two of them have not the same key, and neither has one that looks so already.
        let mut client = service.client().await;
        for user_id in ["alice", "alice:reserved", "reserved", &"x".repeat(LONG), &format!("{}y", "x".repeat(LONG))] {
            let one = format!("rlaas: userId={user_id}");
            assert_eq!(client.code(&format!("{one} +5")).await, OK, "{user_id}");
            assert_eq!(client.code(&one).await, OVER, "{user_id}");
        }
    });
    let after = service.memory("VmHWM");
    let keys = keys(&mut server.con());
    let longest = keys.iter().map(String::len).max().expect("keys");
    let metrics = service.metrics("").join("\n").len();
    // The values have 45 MB.
    assert!(after < before + 30 * 1024, "{before} KiB, then {after} KiB");
    assert!(longest < 200 && metrics < requests * 1_000, "{longest} {metrics}");
    assert!(
        keys.iter().all(|key| key.starts_with("app:rl:d:token:") || key.starts_with("rlaas:rate_limit:")),
        "{keys:?}"
    );
    assert!(keys.iter().all(|key| !key.ends_with(":reserved")) && keys.len() >= 5, "{keys:?}");
    assert!(service.log().lines().all(|line| line.len() < 1_000));
}

/// One more connection than there may be is closed at once. HTTP, and operators, have some of their own.
#[test]
fn one_more_connection_is_closed_at_once() {
    let server = one_server();
    let is_closed = |mut stream: TcpStream| {
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        matches!(stream.read(&mut [0; 16]), Ok(0))
    };
    // The limit of descriptors leaves half of 256 - 128.
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "ulimit -n 256; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_rlaas")]);
    for (service, most) in [
        (Rlaas::with_env(&server, RULES, &[("RLAAS_MAX_CONNECTIONS", "20")]), 20),
        (Rlaas::run(shell, &url(server.port()), RULES, &[]), 64),
    ] {
        let open = |_| TcpStream::connect(&service.address).expect("a connection");
        let mut all: Vec<_> = (0..most).map(open).collect();
        assert!((0..5).map(open).all(is_closed));
        assert_eq!(get(&service.http, "/healthcheck", &[]).status, 200);
        assert!(get(&service.debug, "/rlconfig", &[]).body.contains("d.k"));
        assert_eq!(service.figures("rlaas_connections_closed{reason=\"full\"}"), "5");
        service.until_log("a connection was closed: --max-connections are open");
        all.pop();
        let left = (most - 1).to_string();
        until("there is room", || service.figures("rlaas_connections{listener=\"grpc\"}") == left);
        assert_eq!(service.code("k=x"), OK);
    }
}
