//! Histories: clients call real servers while faults happen by a schedule, every call is recorded with its times and its
//! reply, and a checker decides afterwards. `make history`.
//!
//! SECONDS is how long each history goes on (6 if not set), SEED its schedule (1 if not set).

#[path = "../../../support/mod.rs"]
mod support;

mod call;
mod checker;
mod client;
mod faults;
mod gateway;
mod grants;
mod guards;
mod network;
mod route;
mod service;
mod topologies;

use std::collections::BTreeMap;
use std::env;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use call::{Call, Kill, Limit, Step};
use faults::{Fault, World};
use route::Route;
use support::{Done, Random, ServerBin, for_each_server};

/// Clients of each history.
const CLIENTS: usize = 6;

/// A schedule: the servers, what clients send, and what happens meanwhile. Every check of the checker applies to every call.
struct Schedule {
    servers: fn(&ServerBin) -> World,
    traffic: Traffic,
    /// Each is as likely as the others.
    faults: &'static [Fault],
}

/// What clients send, beside requests, pipelines and RL.MULTI. Of what a fault takes a promise away, nothing is sent.
#[derive(Clone, Copy)]
struct Traffic {
    leases: bool,
    reservations: bool,
    /// Instances with local grants.
    grants: bool,
    /// Instances that hold leases with the guards of the Rust client; and reservations, if these are sent too.
    guards: bool,
    /// Limits of the service that others use too or that last longer than the history: it may send a call before a fault or
    /// after it.
    long_of_service: bool,
    /// Algorithms that nobody uses.
    without: &'static [&'static str],
    /// Algorithms that nobody uses with a window that ends in the history.
    without_short: &'static [&'static str],
    /// The same with a window that does not.
    without_long: &'static [&'static str],
}

impl Traffic {
    const ALL: Self = Self {
        leases: true,
        reservations: true,
        grants: true,
        guards: true,
        long_of_service: true,
        without: &[],
        without_short: &[],
        without_long: &[],
    };
    /// A new primary does not know what instances of the client hold, nor does one that has lost its data.
    const AFTER_LOSS: Self = Self { grants: false, guards: false, long_of_service: false, ..Self::ALL };
    /// While a slot moves key by key, the server looks for a key that FIXED never creates; a key and the hash of its
    /// reservations move one after the other; and MIGRATE takes along what is left of a window of WINDOW, which may then end
    /// later (docs/operations.md, "Cluster and resharding").
    const WHILE_SLOTS_MOVE: Self =
        Self { reservations: false, without: &["FIXED"], without_short: &["WINDOW"], ..Self::ALL };

    /// Those of the limits that are used.
    fn of(&self, limits: &[Limit]) -> Vec<Limit> {
        let used = |limit: &Limit| {
            let barred = |words: &[&str]| words.contains(&limit.algorithm);
            !barred(self.without) && !barred(if limit.is_long() { self.without_long } else { self.without_short })
        };
        limits.iter().copied().filter(used).collect()
    }

    /// What [`Call::path`] is.
    fn paths(&self) -> Vec<&'static str> {
        let all = [
            (true, "plain"),
            (true, "pipeline"),
            (true, "RL.MULTI"),
            (true, client::TOGETHER),
            (self.leases && self.reservations, client::WITH_OTHERS),
            (self.leases, "lease"),
            (self.leases, "renewal"),
            (self.reservations, "reservation"),
            (self.grants, grants::PATH),
            (self.guards, guards::LEASES),
            (self.guards && self.reservations, guards::RESERVATIONS),
            (true, service::PATH),
        ];
        all.into_iter().filter_map(|(sent, path)| sent.then_some(path)).collect()
    }
}

/// What all clients of a history have.
#[derive(Clone, Copy)]
struct Run<'a> {
    prefixes: &'a [&'a str],
    route: Route<'a>,
    seed: u64,
    traffic: &'a Traffic,
    done: &'a AtomicBool,
}

impl Run<'_> {
    fn is_done(&self) -> bool {
        self.done.load(Ordering::Relaxed)
    }

    /// The choices of the client of this number.
    fn random(&self, number: usize) -> Random {
        Random::new(self.seed.wrapping_mul(1_000).wrapping_add(number as u64 + 1))
    }
}

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
    /// How often each fault happened.
    faults: BTreeMap<&'static str, u64>,
}

impl History {
    fn happened(&mut self, fault: &'static str) {
        *self.faults.entry(fault).or_default() += 1;
    }
}

/// Keeps the schedule on every server.
fn run(schedule: &Schedule) {
    for_each_server(|bin| {
        record(schedule, &mut (schedule.servers)(bin)).unwrap_or_else(|offence| panic!("{offence}"));
    });
}

/// Records a history, prints what it has, and checks it.
fn record(schedule: &Schedule, world: &mut World) -> Result<(), String> {
    let (port, ports) = (Arc::clone(&world.port), world.ports());
    let route = if world.primaries.len() == 1 { Route::Primary(&port) } else { Route::Cluster(&ports) };
    let (traffic, seed) = (&schedule.traffic, number("SEED", 1));
    let (done, calls, mut history) = (AtomicBool::new(false), Mutex::new(Vec::new()), History::default());
    let run = Run { prefixes: world.prefixes, route, seed, traffic, done: &done };
    thread::scope(|scope| {
        let calls = &calls;
        for number in 0..CLIENTS {
            spawn(scope, calls, move || client::run(run, number));
        }
        if traffic.grants {
            spawn(scope, calls, move || grants::run(run));
        }
        for instance in 0..if traffic.guards { guards::INSTANCES } else { 0 } {
            spawn(scope, calls, move || guards::run(run, CLIENTS + service::CLIENTS + instance));
        }
        spawn(scope, calls, move || service::run(run, CLIENTS));

        let _done = Done(&done);
        let (mut random, end) = (Random::new(seed), call::now_us() + number("SECONDS", 6) * 1_000_000);
        while call::now_us() < end {
            thread::sleep(Duration::from_millis(200 + random.below(500)));
            random.pick(schedule.faults)(world, &mut random, &mut history);
        }
        thread::sleep(Duration::from_millis(300));
    });
    history.calls = calls.into_inner().expect("no panic");

    let mut paths: BTreeMap<&str, u64> = BTreeMap::new();
    history.calls.iter().filter(|call| call.has_reply()).for_each(|call| *paths.entry(call.path).or_default() += 1);
    let unknown = history.calls.iter().filter(|call| call.is_unknown()).count();
    println!(
        "{}: seed {seed}, {} calls, replies {paths:?}, {unknown} without a reply, faults {:?}",
        thread::current().name().unwrap_or_default(),
        history.calls.len(),
        history.faults
    );
    // Else a path could be gone and nobody would see it.
    assert_eq!(paths.keys().copied().collect::<Vec<_>>(), sorted(traffic.paths()), "no reply on a path");
    checker::check(&history.calls, &history.kills, &history.steps)?;
    checker::finds_changes(&history.calls, &history.kills, &history.steps)?;
    world.rests()
}

/// Runs what returns calls, and keeps them.
fn spawn<'s>(
    scope: &'s thread::Scope<'s, '_>,
    calls: &'s Mutex<Vec<Call>>,
    run: impl FnOnce() -> Vec<Call> + Send + 's,
) {
    scope.spawn(move || {
        let of_client = run();
        calls.lock().expect("no panic").extend(of_client);
    });
}

fn sorted(mut words: Vec<&str>) -> Vec<&str> {
    words.sort_unstable();
    words
}

/// A primary whose AOF has every write on disk before its reply loses nothing, whatever happens to it, and its replica comes
/// to have the same.
const ONE_SERVER: Schedule = Schedule {
    servers: World::pair,
    traffic: Traffic::ALL,
    faults: &[
        faults::kill,
        faults::kill,
        faults::kill,
        faults::stop,
        faults::fill,
        faults::close_connections,
        faults::write_files,
        faults::break_link,
        faults::replace_replica,
    ],
};

#[test]
fn one_server_keeps_every_promise() {
    run(&ONE_SERVER);
}

/// A server without AOF keeps what it saved when it was shut down. After a kill, every limit begins anew, and no more.
#[test]
fn a_server_without_aof_loses_what_it_did_not_save() {
    run(&Schedule {
        servers: World::forgetful,
        traffic: Traffic::AFTER_LOSS,
        faults: &[faults::kill_and_lose, faults::shut_down, faults::stop, faults::fill],
    });
}

/// What stands for a time of the server is not sent: leases, reservations and what a client has of them; nor FIXED with a
/// short window, which a step back opens or finds full; nor counters that drain with time.
#[test]
fn a_step_of_the_clock_opens_a_limit_at_most_once() {
    let traffic = Traffic {
        leases: false,
        reservations: false,
        grants: false,
        guards: false,
        without_short: &["FIXED"],
        without_long: &["TOKEN", "LEAKY", "GCRA"],
        ..Traffic::ALL
    };
    run(&Schedule { servers: World::with_clock, traffic, faults: &[faults::step] });
}

#[test]
fn a_failover_loses_only_what_was_not_replicated() {
    run(&Schedule { servers: World::pair, traffic: Traffic::AFTER_LOSS, faults: &[faults::fail_over] });
}

#[test]
fn a_failover_by_sentinel_loses_only_what_was_not_replicated() {
    run(&Schedule { servers: World::watched, traffic: Traffic::AFTER_LOSS, faults: &[faults::let_sentinel_fail_over] });
}

/// Slots that move, key by key, and masters that are away for less than the node timeout.
#[test]
fn moving_slots_change_no_limit() {
    run(&Schedule {
        // No replica takes over.
        servers: |bin| World::cluster(bin, 60_000),
        traffic: Traffic::WHILE_SLOTS_MOVE,
        faults: &[faults::move_slot, faults::move_slot, faults::move_slot, faults::kill, faults::stop],
    });
}

#[test]
fn a_failover_of_a_cluster_loses_only_what_was_not_replicated() {
    run(&Schedule {
        servers: |bin| World::cluster(bin, 1_500),
        traffic: Traffic::AFTER_LOSS,
        faults: &[faults::fail_over_in_cluster],
    });
}

#[test]
fn a_failover_while_slots_move_loses_only_what_was_not_replicated() {
    let traffic = Traffic { grants: false, guards: false, long_of_service: false, ..Traffic::WHILE_SLOTS_MOVE };
    run(&Schedule {
        servers: |bin| World::cluster(bin, 1_500),
        traffic,
        faults: &[faults::move_slot, faults::fail_over_and_move_slot],
    });
}
