//! How many instructions a limit costs: `make bench-limits`.
//!
//! A request is read, decided and written by one worker, 50 at a time, as the handler of gRPC does it; HTTP/2 is not part
//! of it. The program starts itself under callgrind, once for each number of limits and requests, and is the server that
//! replies meanwhile. A difference of two numbers of requests is the cost of a request, without the start.

use std::env;
use std::hint::black_box;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use envoy_types::pb::envoy::extensions::common::ratelimit::v3::{RateLimitDescriptor, rate_limit_descriptor::Entry};
use envoy_types::pb::envoy::service::ratelimit::v3::RateLimitRequest;
use futures_util::future::join_all;
use prost::Message as _;
use redis_rl_client::{Limiter, Link};
use rlaas::decide::proto::envoy::rate_limit_service_server::RateLimitService as _;
use rlaas::decide::{Bounds, Grpc, Metrics, ReplySettings, Service, ServiceSettings, Snapshot, Traces};
use rlaas_rules::{Settings, Source, load};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The most instructions of a limit beyond the first: what has been reached, and 2 %. The target is [`TARGET`].
const MOST: u64 = 10_220;
/// What was planned. It stays here whether it is met or not.
const TARGET: u64 = 7_000;
/// How many requests are under way together.
const AT_ONCE: usize = 50;
const ROUNDS: [usize; 2] = [10, 50];
const LIMITS: [usize; 2] = [1, 10];

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).filter(|word| word != "--bench").collect();
    if let [address, limits, rounds, at_once] = words.as_slice() {
        let number = |word: &String| word.parse().expect("a number");
        decide(address, number(limits), number(rounds), number(at_once));
        return ExitCode::SUCCESS;
    }
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(|| reply(stream.expect("a connection")));
        }
    });
    let [one, ten] = LIMITS.map(|limits| {
        let [few, many] = ROUNDS.map(|rounds| count(&address, limits, rounds));
        (many - few) / ((ROUNDS[1] - ROUNDS[0]) * AT_ONCE) as u64
    });
    let further = (ten - one) / (LIMITS[1] - LIMITS[0]) as u64;
    println!("a request: {one} instructions with one limit, {ten} with ten");
    println!("each further limit: {further}, at most {MOST}, target {TARGET}");
    if further <= MOST { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The instructions of this program, if it decides on so many requests.
fn count(address: &str, limits: usize, rounds: usize) -> u64 {
    let program = env::current_exe().expect("this program");
    let mut callgrind = Command::new("valgrind");
    let file = env::var("OUT").map_or("/dev/null".to_owned(), |prefix| format!("{prefix}-{limits}-{rounds}"));
    callgrind.args(["--tool=callgrind", &format!("--callgrind-out-file={file}")]);
    callgrind.arg(program).args([address, &limits.to_string(), &rounds.to_string(), &AT_ONCE.to_string()]);
    let output = callgrind.output().expect("valgrind runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let counted = said.lines().find_map(|line| line.split_once("Collected : "));
    counted.and_then(|(_, number)| number.trim().parse().ok()).unwrap_or_else(|| panic!("no number: {said}"))
}

/// A server that allows everything.
fn reply(mut stream: TcpStream) {
    const LINE: &[u8] = b"$52\r\n1 41 41 100000 99959 0 1723 1723 0 1795281570123 0 1\r\n";
    stream.set_nodelay(true).expect("no delay");
    let (mut chunk, mut rest) = (vec![0; 1 << 16], Vec::new());
    while let Ok(length @ 1..) = stream.read(&mut chunk) {
        rest.extend_from_slice(&chunk[..length]);
        let mut replies = Vec::new();
        // The last word of a command is LINE or PING.
        while let Some(end) = rest.windows(4).position(|end| end == b"NE\r\n" || end == b"NG\r\n").map(|at| at + 4) {
            replies.extend_from_slice(if rest[..end].ends_with(b"LINE\r\n") { LINE } else { b"+PONG\r\n" });
            rest.drain(..end);
        }
        if stream.write_all(&replies).is_err() {
            return;
        }
    }
}

/// Decides on `rounds` times `at_once` requests of so many limits.
fn decide(address: &str, limits: usize, rounds: usize, at_once: usize) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let service = Grpc(Arc::new(service(address)));
        let requests: Vec<Vec<u8>> = (0..at_once).map(|number| request(number, limits).encode_to_vec()).collect();
        for _ in 0..rounds {
            join_all(requests.iter().map(|bytes| one(&service, bytes))).await;
        }
    });
}

async fn one(service: &Grpc, bytes: &[u8]) {
    let request = RateLimitRequest::decode(bytes).expect("a request");
    let reply = service.should_rate_limit(tonic::Request::new(request)).await.expect("a reply");
    assert!(reply.get_ref().statuses.iter().all(|status| status.limit_remaining > 0), "{reply:?}");
    black_box(reply.into_inner().encode_to_vec());
}

fn service(address: &str) -> Service {
    let rule = |n| format!("  - {{key: user{n}, rate_limit: {{unit: minute, requests_per_unit: 100000}}}}\n");
    let text = (0..LIMITS[1]).map(rule).fold("domain: web\ndescriptors:\n".to_owned(), |text, rule| text + &rule);
    let (rules, findings) = load(&[Source { name: "rules".to_owned(), text }], &Settings::default());
    let rules = rules.unwrap_or_else(|| panic!("{:?}", findings.errors));
    let long = Duration::from_secs(600);
    let link = Link::open(&format!("redis://{address}")).expect("a URL");
    let limiter = Limiter::builder(link).timeout(long).build();
    let settings = ServiceSettings {
        allow_reset: false,
        prefix: String::new(),
        timeout: long,
        reply: ReplySettings::default(),
        max_requests: 10_000,
        max_lag: long,
        near_limit_ratio: 0.8,
        ready_needs_redis: false,
        ready_needs_domain: false,
        cluster: false,
        reservations: Bounds { fraction: 500_000, ttl: long },
    };
    let snapshot = Snapshot::new(rules, None, &limiter).expect("rules");
    let metrics = Metrics::new(settings.near_limit_ratio).expect("metrics");
    let service = Service::new(limiter, settings, metrics, Traces::default());
    service.snapshot.store(Some(Arc::new(snapshot)));
    service
}

fn request(number: usize, limits: usize) -> RateLimitRequest {
    let descriptor = |n| {
        let entries = vec![Entry { key: format!("user{n}"), value: format!("u{number:06}") }];
        RateLimitDescriptor { entries, ..RateLimitDescriptor::default() }
    };
    RateLimitRequest { domain: "web".to_owned(), descriptors: (0..limits).map(descriptor).collect(), hits_addend: 0 }
}
