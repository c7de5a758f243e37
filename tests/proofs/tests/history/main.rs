//! Histories: clients call real servers while faults happen by a schedule, every call is recorded with its times and its
//! reply, and a checker decides afterwards. `make history`.
//!
//! What each is there to find, that no test of a single call finds:
//! - `one_server_keeps_every_promise`: a decision whose effect is not in the AOF or at the replica, or is there in part, when
//!   the server is killed, stopped, full, or writes its files at that moment; a call that the Rust client sends twice after
//!   its connection broke, or a lease or a reservation of its guards that it believes to hold and does not.
//! - `a_failover_loses_only_what_was_not_replicated`: a replica that has a part of what one call has written (one limit of
//!   RL.MULTI, a reservation without its charge), or counts what its primary never did.
//! - `moving_slots_change_no_limit`: a key that counts on two nodes, or on none, while its slot moves; a call that is sent
//!   twice because of MOVED or ASK.
//! - `topologies`: what each topology loses by each fault, and for how long, as docs/operations.md says.
//!
//! Restarts without AOF, clocks that step, and rlaas have tests of their own in tests/module, tests/random, service/tests.
//!
//! SECONDS is how long each history goes on (6 if not set), SEED its schedule (1 if not set).

#[path = "../../../support/mod.rs"]
mod support;

mod call;
mod checker;
mod client;
mod faults;
mod guards;
mod network;
mod route;
mod topologies;

use std::collections::BTreeMap;
use std::env;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use call::{Call, Kill, Limit};
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
    /// Instances of the Rust client, with its guards. One may send a call before a fault or after it.
    guards: bool,
    /// Algorithms that nobody uses.
    without: &'static [&'static str],
    /// Algorithms that nobody uses with a window that ends in the history.
    without_short: &'static [&'static str],
}

impl Traffic {
    const ALL: Self = Self { leases: true, reservations: true, guards: true, without: &[], without_short: &[] };
    /// A new primary does not know what instances of the client hold.
    const AFTER_LOSS: Self = Self { guards: false, ..Self::ALL };
    /// While a slot moves key by key, the server looks for a key that FIXED never creates; a key and the hash of its
    /// reservations move one after the other; and MIGRATE takes along what is left of a window of WINDOW, which may then end
    /// later (docs/operations.md, "Cluster and resharding").
    const WHILE_SLOTS_MOVE: Self =
        Self { reservations: false, without: &["FIXED"], without_short: &["WINDOW"], ..Self::ALL };

    /// Those of the limits that are used.
    fn of(&self, limits: &[Limit]) -> Vec<Limit> {
        let used = |limit: &Limit| {
            let barred = |words: &[&str]| words.contains(&limit.algorithm);
            !barred(self.without) && (limit.is_long() || !barred(self.without_short))
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
            (self.guards, guards::REQUESTS),
            (self.guards, guards::LEASES),
            (self.guards && self.reservations, guards::RESERVATIONS),
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
        for instance in 0..if traffic.guards { guards::INSTANCES } else { 0 } {
            spawn(scope, calls, move || guards::run(run, CLIENTS + instance));
        }

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
    checker::check(&history.calls, &history.kills)?;
    checker::finds_changes(&history.calls, &history.kills)?;
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

#[test]
fn a_failover_loses_only_what_was_not_replicated() {
    run(&Schedule { servers: World::pair, traffic: Traffic::AFTER_LOSS, faults: &[faults::fail_over] });
}

/// Slots that move, key by key, and masters that are away for less than the node timeout.
#[test]
fn moving_slots_change_no_limit() {
    run(&Schedule {
        servers: World::cluster,
        traffic: Traffic::WHILE_SLOTS_MOVE,
        faults: &[faults::move_slot, faults::move_slot, faults::move_slot, faults::kill, faults::stop],
    });
}
