//! Clients of the service `rlaas`, over HTTP.

use std::collections::HashMap;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::{NamedTempFile, TempDir};

use crate::Run;
use crate::call::{Call, Figures, Kind, Limit, Outcome, now_us};
use crate::client::QUOTAS;
use crate::gateway;
use crate::support::{PATIENCE, Random, eventually};

/// What [`Call::path`] is.
pub const PATH: &str = "service";
pub const CLIENTS: usize = 2;
/// How long the service waits for the server: less than a client waits for the service.
const TIMEOUT_MS: u64 = 100;
const PATIENT: Duration = Duration::from_secs(2);
/// How much later a unit may be used that was charged too late: the longest pause of a server, and a second.
const HELD_US: u64 = 5_000_000;

/// Limits of these clients alone: so small that they are often over.
const SHORT: [Limit; 4] = [
    Limit { algorithm: "FIXED", window_ms: 500, limit: 4 },
    Limit { algorithm: "ROLLING", window_ms: 300, limit: 3 },
    Limit { algorithm: "TOKEN", window_ms: 500, limit: 5 },
    Limit { algorithm: "GCRA", window_ms: 400, limit: 4 },
];

/// Limits of one client each.
const OWN: [Limit; 3] = [Limit::endless("FIXED"), Limit::endless("WINDOW"), Limit::endless("ROLLING")];

/// The domain whose limits are checked one by one, and that whose limits are charged all or none.
const ONE: &str = "one";
const BOTH: &str = "both";

/// The service has no SLIDING.
fn known(limits: &[Limit]) -> Vec<Limit> {
    limits.iter().copied().filter(|limit| limit.algorithm != "SLIDING").collect()
}

/// The limits that last longer than the history, and their keys. Other clients use them too.
pub fn quotas(prefix: &str) -> Vec<(String, Limit)> {
    let of = |domain| known(&QUOTAS).into_iter().map(move |limit| (key(domain, prefix, "quota", &limit), limit));
    of(ONE).chain(of(BOTH)).collect()
}

/// The key of a limit on the server: `rl:one:rolling:86400:of={h},quota=rolling`.
fn key(domain: &str, prefix: &str, entry: &str, limit: &Limit) -> String {
    let algorithm = limit.algorithm.to_ascii_lowercase();
    let window = match limit.window_ms {
        ms if ms % 1_000 == 0 => format!("{}", ms / 1_000),
        ms => format!("{ms}ms"),
    };
    format!("rl:{domain}:{algorithm}:{window}:of={{{}}},{entry}={algorithm}", bare(prefix))
}

/// What is the hash tag of the keys.
fn bare(prefix: &str) -> &str {
    prefix.trim_matches(['{', '}'])
}

/// What is charged is what is allowed, so each reply says what was charged. Redis alone decides.
fn rules(domain: &str) -> String {
    let mut text = format!("domain: {domain}\nhash_tag: of\nall_or_nothing: {}\n", domain == BOTH);
    text += "descriptors:\n  - key: of\n    descriptors:\n";
    let groups = [("short", SHORT.to_vec(), ""), ("quota", known(&QUOTAS), ""), ("own", OWN.to_vec(), "client")];
    for (entry, limits, below) in groups {
        for Limit { algorithm, window_ms, limit } in limits {
            let algorithm = algorithm.to_ascii_lowercase();
            let rate = format!("{{algorithm: {algorithm}, window: {window_ms}ms, limit: {limit}, charge: allowed}}");
            _ = writeln!(text, "      - key: {entry}\n        value: {algorithm}");
            if below.is_empty() {
                _ = writeln!(text, "        rate_limit: {rate}");
            } else {
                _ = writeln!(text, "        descriptors: [{{key: {below}, rate_limit: {rate}}}]");
            }
        }
    }
    text
}

/// A service, which ends with this value.
pub struct Service {
    child: Child,
    /// The address of its HTTP.
    pub http: String,
    _rules: TempDir,
}

impl Service {
    pub fn start(redis: &str, timeout_ms: u64) -> Self {
        let program = env::var_os("RL_SERVICE").map(PathBuf::from).expect("make history sets RL_SERVICE");
        let dir = tempfile::tempdir().expect("a directory");
        for (domain, rules) in [(ONE, rules(ONE)), (BOTH, rules(BOTH)), (gateway::DOMAIN, gateway::rules())] {
            fs::write(dir.path().join(format!("{domain}.yaml")), rules).expect("a file");
        }
        let nowhere = "127.0.0.1:0";
        let log = NamedTempFile::new().expect("a file");
        let child = Command::new(&program)
            .args(["serve", "--redis", redis, "--grpc", nowhere, "--http", nowhere, "--metrics", nowhere, "--rules"])
            .arg(dir.path())
            .env_clear()
            .env("RLAAS_TIMEOUT", format!("{timeout_ms}ms"))
            // Else it would decide without Redis on a busy machine.
            .env("RLAAS_MAX_LAG", "10s")
            .stderr(log.reopen().expect("a file"))
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", program.display()));
        let mut service = Self { child, http: String::new(), _rules: dir };
        let listens = eventually(PATIENCE, || {
            let log = fs::read_to_string(&log).expect("a text");
            let addresses = log.lines().filter(|line| line.contains("HTTP listens"));
            let mut addresses = addresses.filter_map(|line| Some(line.split_once("address=")?.1.to_owned()));
            addresses.next().map(|address| service.http = address).is_some()
        });
        assert!(listens, "rlaas does not listen:\n{}", fs::read_to_string(&log).unwrap_or_default());
        service
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// Starts the service and its clients, and again when the primary is elsewhere, until it is done.
pub fn run(run: Run<'_>, first: usize) -> Vec<Call> {
    let calls = Mutex::new(Vec::new());
    let mut randoms: Vec<_> = (first..first + CLIENTS).map(|number| (number, run.random(number))).collect();
    while !run.is_done() {
        let at = run.route.address();
        let service = Service::start(&at, TIMEOUT_MS);
        thread::scope(|scope| {
            for (number, random) in &mut randoms {
                let (calls, service, at) = (&calls, &service, &at);
                scope.spawn(move || {
                    let mut client = Client::new(run, *number, random, &service.http);
                    let mut own = Vec::new();
                    while !run.is_done() && run.route.address() == *at {
                        client.step(&mut own);
                    }
                    calls.lock().expect("no panic").append(&mut own);
                });
            }
        });
    }
    without_held(calls.into_inner().expect("no panic"))
}

/// A unit that was charged too late for its caller pays for the next request of the key, whose reply does not say so. So
/// after a call without a reply, nobody knows which of the next ones have charged.
fn without_held(mut calls: Vec<Call>) -> Vec<Call> {
    let mut unknown: HashMap<String, Vec<u64>> = HashMap::new();
    for call in calls.iter().filter(|call| call.is_unknown()) {
        unknown.entry(call.key.clone()).or_default().push(call.begun_us);
    }
    let may_be_held = |call: &Call| {
        let begun = unknown.get(&call.key).into_iter().flatten();
        begun.into_iter().any(|begun| (*begun..begun + HELD_US).contains(&call.ended_us))
    };
    for call in &mut calls {
        if call.reply().is_some_and(|reply| reply.allowed) && may_be_held(call) {
            call.outcome = Outcome::Unknown;
        }
    }
    calls
}

struct Client<'a> {
    number: usize,
    prefixes: &'a [&'a str],
    random: &'a mut Random,
    short: Vec<Limit>,
    /// None if no limit that lasts longer is used.
    quotas: Vec<Limit>,
    own: Vec<Limit>,
    http: Http<&'a str>,
}

impl<'a> Client<'a> {
    fn new(Run { prefixes, traffic, .. }: Run<'a>, number: usize, random: &'a mut Random, http: &'a str) -> Self {
        let long = |limits: &[Limit]| if traffic.long_of_service { traffic.of(limits) } else { Vec::new() };
        let (short, quotas, own) = (traffic.of(&SHORT), long(&known(&QUOTAS)), long(&OWN));
        Self { number, prefixes, random, short, quotas, own, http: Http::new(http) }
    }

    /// Sends a request of one or two limits.
    fn step(&mut self, calls: &mut Vec<Call>) {
        let prefix = self.random.pick(self.prefixes);
        let short = ("short", self.random.pick(&self.short));
        let (domain, limits) = match self.random.below(4) {
            1 if !self.quotas.is_empty() => (ONE, vec![("quota", self.random.pick(&self.quotas))]),
            2 if !self.own.is_empty() => (ONE, vec![("own", self.random.pick(&self.own))]),
            3 if !self.quotas.is_empty() => (BOTH, vec![short, ("quota", self.random.pick(&self.quotas))]),
            3 => {
                let other = self.short.iter().copied().find(|limit| *limit != short.1).expect("two limits");
                (BOTH, vec![short, ("short", other)])
            }
            _ => (ONE, vec![short]),
        };
        let cost = 1 + self.random.below(2);
        let descriptor = |(entry, limit): &(&str, Limit)| {
            let pair = |key: &str, value: &str| json!({"key": key, "value": value});
            let mut entries = vec![pair("of", bare(prefix)), pair(entry, &limit.algorithm.to_ascii_lowercase())];
            if *entry == "own" {
                entries.push(pair("client", &self.number.to_string()));
            }
            json!({"entries": entries})
        };
        let descriptors: Vec<Value> = limits.iter().map(descriptor).collect();
        let body = json!({"domain": domain, "descriptors": descriptors, "hitsAddend": cost});
        let begun_us = now_us();
        let reply = self.http.post("/json", &body);
        let ended_us = now_us();
        let reply = reply.and_then(|(status, body)| decided(status, &body));
        for (at, (entry, limit)) in limits.into_iter().enumerate() {
            let mut key = key(domain, prefix, entry, &limit);
            if entry == "own" {
                _ = write!(key, ",client={}", self.number);
            }
            let outcome = reply.as_ref().map_or(Outcome::Unknown, |reply| {
                let (allowed, status) = (reply["overallCode"] == "OK", &reply["statuses"][at]);
                if status["currentLimit"].is_null() {
                    // Another limit denied, so this one charged nothing.
                    assert!(!allowed, "no limit for {key}: {reply}");
                    return Outcome::Error("DENIED".to_owned());
                }
                // A field that is 0 is left out.
                let remaining = status["limitRemaining"].as_u64().unwrap_or(0);
                Outcome::Reply(Figures {
                    allowed,
                    remaining,
                    // The reply has it in seconds.
                    retry_after_ms: -1,
                    // The latest that it can have been.
                    now_ms: ended_us / 1_000,
                    charged: if allowed { cost } else { 0 },
                    ..Figures::default()
                })
            });
            let call = Call::new(self.number, PATH, key, limit, Kind::Request { cost });
            calls.push(Call { begun_us, ended_us, outcome, ..call });
        }
        thread::sleep(Duration::from_micros(self.random.below(3_000)));
    }
}

/// A client of HTTP, with one connection at a time.
pub struct Http<A> {
    address: A,
    stream: Option<BufReader<TcpStream>>,
}

impl<A: ToSocketAddrs> Http<A> {
    pub const fn new(address: A) -> Self {
        Self { address, stream: None }
    }

    /// The status and the body of the response; `None` without one.
    pub fn post(&mut self, path: &str, body: &Value) -> Option<(u16, String)> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => {
                let stream = TcpStream::connect(&self.address).ok()?;
                stream.set_nodelay(true).ok()?;
                stream.set_read_timeout(Some(PATIENT)).ok()?;
                BufReader::new(stream)
            }
        };
        let body = body.to_string();
        let length = body.len();
        let request = format!("POST {path} HTTP/1.1\r\nHost: test\r\nContent-Length: {length}\r\n\r\n{body}");
        stream.get_mut().write_all(request.as_bytes()).ok()?;
        let (mut status, mut length, mut line) = (None, 0, String::new());
        loop {
            line.clear();
            stream.read_line(&mut line).ok().filter(|read| *read > 0)?;
            let line = line.trim_end().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if status.is_none() {
                status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
            }
            if let Some(text) = line.strip_prefix("content-length: ") {
                length = text.parse().ok()?;
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).ok()?;
        self.stream = Some(stream);
        Some((status?, String::from_utf8(body).ok()?))
    }
}

/// A reply that Redis decided. What the service says while Redis is away is none: the call may have been executed.
fn decided(status: u16, body: &str) -> Option<Value> {
    match status {
        200 | 429 => Some(serde_json::from_str(body).expect("JSON")),
        500.. => None,
        _ => panic!("{status}: {body}"),
    }
}
