//! Histories: clients call a real server while faults happen by a schedule, every call is recorded with its times and its
//! reply, and a checker decides afterwards. `make history`.
//!
//! SECONDS is how long each history goes on (6 if not set), SEED its schedule (1 if not set).

#[path = "../../../tests/support/mod.rs"]
mod support;

mod call;
mod checker;
mod client;
mod faults;
mod grants;
mod guards;
mod route;
mod service;

use std::collections::BTreeMap;
use std::env;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::thread;
use std::time::Duration;

use call::{Call, Kill, Step};
use client::Client;
use route::Route;
use support::{Options, Random, Sentinel, Server, ServerBin, SteppedClock, for_each_server, ok, servers};

/// What [`Call::path`] is. Each is in every history.
const PATHS: [&str; 11] = [
    "plain",
    "pipeline",
    "RL.MULTI",
    client::WITH_OTHERS,
    "lease",
    "renewal",
    "reservation",
    "grants",
    guards::LEASES,
    guards::RESERVATIONS,
    service::PATH,
];

/// Clients of each history.
const CLIENTS: usize = 6;

fn number(name: &str, default: u64) -> u64 {
    let value = env::var(name).ok().filter(|value| !value.is_empty());
    value.map_or(default, |value| value.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

/// What a history has.
#[derive(Default)]
struct History {
    calls: Vec<Call>,
    kills: Vec<Kill>,
    steps: Vec<Step>,
    /// Slots were moved, key by key.
    moved: bool,
    /// How often each fault happened.
    faults: Vec<(&'static str, u64)>,
}

impl History {
    /// Prints what was recorded and what the checker says of it.
    fn check(&self, title: &str, seed: u64) -> Result<(), String> {
        let replies = self.calls.iter().filter(|call| call.has_reply()).count();
        let unknown = self.calls.iter().filter(|call| call.is_unknown()).count();
        let thread = thread::current();
        let mut paths: BTreeMap<&str, u64> = BTreeMap::new();
        self.calls.iter().filter(|call| call.has_reply()).for_each(|call| *paths.entry(call.path).or_default() += 1);
        println!(
            "{} {title}: seed {seed}, {} calls, {replies} with a reply {paths:?}, {unknown} without a reply, faults {:?}",
            thread.name().unwrap_or_default(),
            self.calls.len(),
            self.faults
        );
        // Else a path could be gone and nobody would see it.
        let silent = PATHS.into_iter().find(|path| !paths.contains_key(path));
        assert_eq!(silent, None, "no reply on a path");
        let Self { calls, kills, steps, moved, .. } = self;
        checker::check(checker::Record { calls, kills, steps, moved: *moved })
    }
}

/// Runs clients while `fault` does harm until the time is up.
fn record(prefix: &str, port: &AtomicU16, seed: u64, fault: impl FnMut(&mut Random, &mut History)) -> History {
    record_on(&[prefix], Route::Primary(port), seed, fault)
}

/// The same, wherever the servers are.
fn record_on(
    prefixes: &[&str],
    route: Route<'_>,
    seed: u64,
    mut fault: impl FnMut(&mut Random, &mut History),
) -> History {
    let (done, calls) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    let mut history = History::default();
    thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (done, calls) = (&done, &calls);
            scope.spawn(move || {
                let mut client = Client::new(prefixes, client, route, seed);
                while !done.load(Ordering::Relaxed) {
                    client.step();
                }
                calls.lock().expect("no panic").extend(client.into_calls());
            });
        }
        let (done, calls) = (&done, &calls);
        scope.spawn(move || {
            let of_grants = grants::run(prefixes[0], route, done);
            calls.lock().expect("no panic").extend(of_grants);
        });
        for instance in 0..guards::INSTANCES {
            let number = CLIENTS + service::CLIENTS + instance;
            scope.spawn(move || {
                let of_guards = guards::run(prefixes[0], number, route, seed, done);
                calls.lock().expect("no panic").extend(of_guards);
            });
        }
        scope.spawn(move || {
            let of_service = service::run(prefixes, CLIENTS, route, seed, done);
            calls.lock().expect("no panic").extend(of_service);
        });
        struct Finish<'a>(&'a AtomicBool);
        impl Drop for Finish<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        let _finish = Finish(done);
        let (mut random, end) = (Random::new(seed), call::now_us() + number("SECONDS", 6) * 1_000_000);
        while call::now_us() < end {
            thread::sleep(Duration::from_millis(200 + random.below(500)));
            fault(&mut random, &mut history);
        }
        thread::sleep(Duration::from_millis(300));
    });
    history.calls = calls.into_inner().expect("no panic");
    history
}

/// A server whose AOF has every write on disk before its reply loses nothing, whatever happens to it.
fn one_server(bin: &ServerBin, prefix: &str, options: Options) -> Result<(), String> {
    let seed = number("SEED", 1);
    let mut server = options.durable().start();
    let port = AtomicU16::new(server.port());
    let history = record(prefix, &port, seed, |random, history| faults::one(&mut server, random, history));
    assert!(server.is_running(), "{bin}: {}", server.log());
    history.check("one server", seed)?;
    leases_end(&server, prefix)
}

fn leases_end(server: &Server, prefix: &str) -> Result<(), String> {
    checker::leases_end(prefix, |command| command.query(&mut server.con()).expect("a reply"))
}

/// The same of a cluster.
fn leases_end_in(ports: &[u16], prefix: &str) -> Result<(), String> {
    let (mut nodes, mut random) = (route::Nodes::default(), Random::new(1));
    checker::leases_end(prefix, |command| {
        let mut held = None;
        let replied = support::eventually(support::PATIENCE, || {
            let reply = nodes.query(ports, client::tag(prefix), command, &mut random);
            held = reply.ok().and_then(|reply| redis::from_redis_value(reply).ok());
            held.is_some()
        });
        held.filter(|_| replied).expect("a reply")
    })
}

#[test]
fn one_server_keeps_every_promise() {
    for_each_server(|bin| one_server(bin, "h", Server::options(bin)).unwrap_or_else(|offence| panic!("{offence}")));
}

#[test]
fn a_failover_loses_only_what_was_not_replicated() {
    for_each_server(|bin| {
        let seed = number("SEED", 1);
        let mut pair = faults::Pair::start(bin);
        let port = AtomicU16::new(pair.primary().port());
        let history = record("h", &port, seed, |random, history| pair.fail_over(random, history, &port));
        history.check("failover", seed).unwrap_or_else(|offence| panic!("{offence}"));
        leases_end(pair.primary(), "h").unwrap_or_else(|offence| panic!("{offence}"));
    });
}

#[test]
fn a_failover_by_sentinel_loses_only_what_was_not_replicated() {
    for_each_server(|bin| {
        let seed = number("SEED", 1);
        let mut pair = faults::Pair::start(bin);
        let port = AtomicU16::new(pair.primary().port());
        let sentinel = Sentinel::start(bin, port.load(Ordering::Relaxed));
        // Else it waits for ten seconds before the next one.
        ok(support::cmd!(sentinel.con(), "SENTINEL", "SET", "main", "failover-timeout", 1_000));
        // A busy machine may stop a primary for half a second.
        ok(support::cmd!(sentinel.con(), "SENTINEL", "SET", "main", "down-after-milliseconds", 1_500));
        let history = record("h", &port, seed, |random, history| {
            pair.wait_for_sentinel(&sentinel, random, history, &port);
        });
        history.check("Sentinel", seed).unwrap_or_else(|offence| panic!("{offence}"));
        leases_end(pair.primary(), "h").unwrap_or_else(|offence| panic!("{offence}"));
    });
}

/// Slots that move, key by key, in a cluster of three masters with a replica each, and masters that are away for less
/// than the node timeout: only FIXED may begin anew.
#[test]
fn moving_slots_change_no_limit() {
    for_each_server(|bin| {
        let seed = number("SEED", 1);
        // No replica takes over.
        let mut cluster = faults::Nodes::start(bin, 60_000);
        let ports = cluster.ports();
        let history = record_on(&faults::TAGS, Route::Cluster(&ports), seed, |random, history| {
            cluster.move_slot_or_restart(random, history);
        });
        history.check("cluster, slots move", seed).unwrap_or_else(|offence| panic!("{offence}"));
        leases_end_in(&ports, faults::TAGS[0]).unwrap_or_else(|offence| panic!("{offence}"));
    });
}

#[test]
fn a_failover_of_a_cluster_loses_only_what_was_not_replicated() {
    for_each_server(|bin| {
        let seed = number("SEED", 1);
        let mut cluster = faults::Nodes::start(bin, 1_500);
        let ports = cluster.ports();
        let history = record_on(&faults::TAGS, Route::Cluster(&ports), seed, |random, history| {
            cluster.fail_over(random, history);
        });
        history.check("cluster, failover", seed).unwrap_or_else(|offence| panic!("{offence}"));
        leases_end_in(&ports, faults::TAGS[0]).unwrap_or_else(|offence| panic!("{offence}"));
    });
}

/// A server without AOF keeps what it saved when it was shut down. After a kill, every limit begins anew, and no more.
#[test]
fn a_server_without_aof_loses_what_it_did_not_save() {
    for_each_server(|bin| {
        let seed = number("SEED", 1);
        let mut server = Server::start(bin);
        let port = AtomicU16::new(server.port());
        let history = record("h", &port, seed, |random, history| faults::without_aof(&mut server, random, history));
        history.check("no AOF", seed).unwrap_or_else(|offence| panic!("{offence}"));
        leases_end(&server, "h").unwrap_or_else(|offence| panic!("{offence}"));
    });
}

#[test]
fn a_step_of_the_clock_opens_a_limit_at_most_once() {
    for_each_server(|bin| {
        let (seed, clock) = (number("SEED", 1), SteppedClock::new());
        let server = clock.govern(Server::options(bin)).start();
        let port = AtomicU16::new(server.port());
        let history = record("h", &port, seed, |random, history| faults::step(&clock, &server, random, history));
        history.check("clock steps", seed).unwrap_or_else(|offence| panic!("{offence}"));
        clock.step(&mut server.con(), 4);
        leases_end(&server, "h").unwrap_or_else(|offence| panic!("{offence}"));
    });
}

/// A server whose module is built with the feature `lose-on-purpose`: it does not replicate what it charges to some keys.
fn losing(bin: &ServerBin) -> Options {
    let path = env::var_os("RL_LOSING_MODULE").map(PathBuf::from).expect("make history sets RL_LOSING_MODULE");
    Server::options(bin).module_at(&path)
}

const LOST: &str = "lose-on-purpose";

/// What is lost is missing in a count, or allows too much, or too early. The first call that shows it is named.
fn is_found(result: Result<(), String>) {
    let offence = result.expect_err("the module loses what it counts when it is killed");
    println!("found: {offence}");
    assert!(offence.contains(LOST), "{offence}");
}

#[test]
fn a_planted_fault_is_found() {
    let bin = &servers()[0];
    is_found(one_server(bin, LOST, losing(bin)));
}

#[test]
fn a_planted_fault_is_found_by_calls_of_the_service_alone() {
    let mut server = losing(&servers()[0]).durable().start();
    let (port, mut kills) = (AtomicU16::new(server.port()), Vec::new());
    let calls = service::around(LOST, Route::Primary(&port), number("SEED", 1), 200, || {
        server.kill();
        kills.push(Kill { at_us: call::now_us(), ..Kill::default() });
        server.start_again();
    });
    is_found(checker::check(checker::Record { calls: &calls, kills: &kills, ..checker::Record::default() }));
}
