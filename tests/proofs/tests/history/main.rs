//! Histories: clients call real servers while faults happen by a schedule, every call is recorded with its times and its
//! reply, and a checker decides afterwards. `make history`.
//!
//! What each is there to find, that no test of a single call finds:
//! - `one_server_keeps_every_promise`: a decision whose effect is not in the AOF or at the replica, or is there in part, when
//!   the server is killed, stopped, full, or writes its files at that moment; a call that the Rust client sends twice after
//!   its connection broke, or a lease or a reservation of its guards that it believes to hold and does not.
//! - `a_failover_loses_only_what_was_not_replicated`: a replica that has a part of what one call has written (one limit of
//!   RL.MULTI, a reservation without its charge), or counts what its primary never did.
//! - `topologies`: what each topology loses by each fault, and for how long, as docs/operations.md says.
//!
//! Limits of short windows, restarts without AOF, clocks that step, slots that move, and rlaas have tests of their own in
//! tests/module, tests/random, clients/rust/tests and service/tests.
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
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use call::{Call, Kill};
use faults::{Fault, World};
use support::{Done, Random, for_each_server};

/// Clients of each history.
const CLIENTS: usize = 6;

/// A schedule: what happens to a primary and its replica while clients send requests, pipelines, RL.MULTI, leases and
/// reservations. Every check of the checker applies to every call.
struct Schedule {
    /// Whether instances of the Rust client take part, with its guards. One may send a call before a fault or after it, and a
    /// new primary does not know what they hold.
    guards: bool,
    /// Each is as likely as the others.
    faults: &'static [Fault],
}

/// What all clients of a history have.
#[derive(Clone, Copy)]
struct Run<'a> {
    /// Where the primary is.
    port: &'a AtomicU16,
    seed: u64,
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
        record(schedule, &mut World::pair(bin)).unwrap_or_else(|offence| panic!("{offence}"));
    });
}

/// Records a history, prints what it has, and checks it.
fn record(schedule: &Schedule, world: &mut World) -> Result<(), String> {
    let (port, seed) = (Arc::clone(&world.port), number("SEED", 1));
    let (done, calls, mut history) = (AtomicBool::new(false), Mutex::new(Vec::new()), History::default());
    let run = Run { port: &port, seed, done: &done };
    thread::scope(|scope| {
        let calls = &calls;
        for number in 0..CLIENTS {
            spawn(scope, calls, move || client::run(run, number));
        }
        for instance in 0..if schedule.guards { guards::INSTANCES } else { 0 } {
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
    assert_eq!(paths.keys().copied().collect::<Vec<_>>(), sorted(paths_of(schedule)), "no reply on a path");
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

/// What [`Call::path`] is.
fn paths_of(schedule: &Schedule) -> Vec<&'static str> {
    let mut paths =
        vec!["plain", "pipeline", "RL.MULTI", client::TOGETHER, client::WITH_OTHERS, "lease", "renewal", "reservation"];
    if schedule.guards {
        paths.extend([guards::REQUESTS, guards::LEASES, guards::RESERVATIONS]);
    }
    paths
}

fn sorted(mut words: Vec<&str>) -> Vec<&str> {
    words.sort_unstable();
    words
}

/// A primary whose AOF has every write on disk before its reply loses nothing, whatever happens to it, and its replica comes
/// to have the same.
const ONE_SERVER: Schedule = Schedule {
    guards: true,
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
    run(&Schedule { guards: false, faults: &[faults::fail_over] });
}
