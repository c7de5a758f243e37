//! What comes and goes leaves nothing behind, and what stays has an end.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::net::TcpStream;

use super::flood::{calls, connect};
use super::one_server;
use super::process::{Rlaas, get, until};
use crate::support::{PATIENCE, Paused, eventually};

/// The gauges of what a service holds: first the connections of HTTP, debug and gRPC, then those of the metrics.
const HELD: [&str; 4] =
    ["rlaas_connections{", "rlaas_requests_under_way ", "rlaas_breakers_open ", "rlaas_rules_wrong "];

/// The metrics of rare outcomes: each has its lines from the first time on. Their labels are words of rlaas and domains of
/// the rules, so nothing that comes and goes adds to them.
const RARE: [&str; 5] = [
    "ratelimit_service_should_rate_limit_error",
    "rlaas_decisions_",
    "rlaas_overload",
    "rlaas_connections_closed",
    "rlaas_goaways_sent",
];

/// The open files of a service, the names of its other metrics, and what it holds by its own figures.
fn sizes(service: &Rlaas) -> (usize, BTreeSet<String>, Vec<String>) {
    let files = fs::read_dir(format!("/proc/{}/fd", service.pid())).expect("a process").count();
    let held = HELD.iter().flat_map(|name| service.metrics(name)).collect();
    let lines = service.metrics("").into_iter().filter(|line| !RARE.iter().any(|name| line.contains(name)));
    (files, lines.filter_map(|line| Some(line.rsplit_once(' ')?.0.to_owned())).collect(), held)
}

/// So many come and go, after a few that may leave what is kept once. Then all sizes are as before.
fn come_and_go(service: &Rlaas, what: &str, n: usize, each: impl Fn()) {
    let come = |n| (0..n).for_each(|_| each());
    come(n.div_ceil(10));
    let mut before = sizes(service);
    until("it is at rest", || {
        let last = std::mem::replace(&mut before, sizes(service));
        last == before && before.2[..3].iter().all(|line| line.ends_with(" 0"))
    });
    come(n);
    let mut after = sizes(service);
    let is_as_before = || {
        after = sizes(service);
        after.0 <= before.0 && after.1.len() <= before.1.len() && after.2 == before.2
    };
    let is_rest = eventually(PATIENCE, is_as_before);
    let new: Vec<_> = after.1.difference(&before.1).collect();
    assert!(
        is_rest,
        "{what}: {} files, {:?}, new: {new:?}; before: {} files, {:?}",
        after.0, after.2, before.0, before.2
    );
}

#[test]
fn what_comes_and_goes_leaves_nothing() {
    let server = one_server();
    let rules = |n: usize| {
        let limit = "rate_limit: {unit: year, requests_per_unit: 9, grants: 3}";
        format!("domain: d\ndescriptors: [{{key: k, {limit}}}, {{key: k, value: of {n}, {limit}}}]\n")
    };
    let service = Rlaas::with_env(&server, &rules(0), &[("RLAAS_TIMEOUT", "300ms")]);
    // A denial that is remembered has a line of its own in the metrics: from the tenth request on, or the one after it.
    (0..20).for_each(|_| _ = service.code("k=x"));
    come_and_go(&service, "connections of gRPC", 100, || _ = service.code("k=x"));
    come_and_go(&service, "connections of HTTP", 100, || _ = get(&service.http, "/json", &[]));
    come_and_go(&service, "callers that leave", 50, || {
        connect(&service).write_all(&calls(20, Some("y"))).expect("sent")
    });
    come_and_go(&service, "half requests", 50, || connect(&service).write_all(&calls(20, None)).expect("sent"));
    let half = b"POST /json HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{";
    let connect = || TcpStream::connect(&service.http).expect("a connection");
    come_and_go(&service, "half requests of HTTP", 50, || connect().write_all(half).expect("sent"));
    let generation = Cell::new(1);
    come_and_go(&service, "sets of rules", 20, || {
        generation.set(generation.get() + 1);
        // Every other one is wrong.
        service.write_rules("domain: [");
        service.signal("-HUP");
        until("the old rules stay", || service.figures("rlaas_rules_wrong") == "1");
        service.write_rules(&rules(generation.get() as usize));
        service.signal("-HUP");
        service.until_generation(generation.get());
        service.code("k=z");
    });
    come_and_go(&service, "outages of Redis", 2, || {
        let paused = Paused::new(&server);
        let open = || service.figures("rlaas_breakers_open");
        until("the breaker is open", || service.try_ask("k=x -1").is_err() && open() == "1");
        drop(paused);
        until("it is closed", || service.try_ask("k=x -1").is_ok() && open() == "0");
    });
}

/// Nobody asks for these keys again. At most 100,000 of them are kept. Of the denials 100 are shown.
#[test]
fn the_memory_of_many_keys_ends() {
    const MANY: usize = 100_000;
    let server = one_server();
    let rules = "domain: d
descriptors:
  - {key: k, rate_limit: {algorithm: token, unit: year, requests_per_unit: 5}}
  - {key: none, rate_limit: {algorithm: token, unit: year, requests_per_unit: 0}}
";
    let service = Rlaas::start(&server, rules);
    let ask = |key: &str, from: usize, to: usize| {
        for first in (from..to).step_by(1_000) {
            let all: Vec<_> = (first..first + 1_000).map(|n| format!("{key}={n}")).collect();
            service.try_ask(&all.join(" | ")).expect("a reply");
        }
        service.memory("VmRSS")
    };
    let [first, second] = [0, MANY].map(|from| ask("k", from, from + MANY));
    assert!(second < first + first / 8, "{first} KiB for {MANY} keys, {second} KiB for as many others");
    // What a remembered denial has denied.
    (0..2).for_each(|_| _ = ask("none", 0, 1_000));
    assert_eq!(get(&service.debug, "/denials", &[]).body.lines().count(), 100);
}
