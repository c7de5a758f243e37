//! Nothing lost, nothing over the limit, nothing that ends the server: one file a promise, run by `make reliability`.
//!
//! What can go on for as long as one likes goes on for `SECONDS_EACH` (5 where it is not set) a test, and says how far
//! it came.

#[path = "../support/mod.rs"]
mod support;

mod clock_steps;
mod cluster_changes;
mod concurrency;
mod crash;
mod hostile_input;
mod least_privilege;
mod load_and_unload;
mod memory_pressure;
mod overload;
mod panics;
mod reservations;
mod resp;
mod soak;
mod topologies;

use std::env;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use redis::Connection;
use support::{Server, cmd, ok};

/// The words of the grammar.
const ALGORITHMS: [&str; support::ALGORITHMS.len()] = {
    let mut words = [""; support::ALGORITHMS.len()];
    let mut at = 0;
    while at < words.len() {
        (_, words[at]) = support::ALGORITHMS[at].command.split_at("RL.".len());
        at += 1;
    }
    words
};

const LONG: u64 = support::LONG as u64;

/// How long a test goes on where more is better.
fn each() -> Duration {
    let seconds = env::var("SECONDS_EACH").ok().filter(|text| !text.is_empty());
    Duration::from_secs(seconds.map_or(5, |text| text.parse().expect("SECONDS_EACH is a number of seconds")))
}

/// Sets it when dropped: what other threads wait for comes also when this one fails.
struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Prints what was done.
fn report(what: &str) {
    let thread = std::thread::current();
    println!("{}: {what}", thread.name().unwrap_or("test"));
}

/// The server is up, and has logged neither a crash nor a panic.
#[track_caller]
fn assert_sound(server: &mut Server) {
    let log = server.log();
    assert!(server.is_running(), "the server is gone:\n{}", tail(&log));
    for sign in ["panicked", "BUG REPORT", "crashed by signal", "ASSERTION FAILED", "Guru Meditation"] {
        assert!(!log.contains(sign), "the log says {sign}:\n{}", tail(&log));
    }
    ok(cmd!(server.con(), "PING"));
}

fn tail(log: &str) -> &str {
    let from = log.len().saturating_sub(8_000);
    log.get(from..).unwrap_or(log)
}

/// The largest cost that would be allowed now.
#[track_caller]
fn remaining(con: &mut Connection, algorithm: &str, key: &str, window: impl ToString, limit: u64) -> u64 {
    let mut peek = redis::cmd("RL.PEEK");
    peek.arg(algorithm).arg(key).arg(window.to_string()).arg(limit).arg(&["COST", "0", "FULL"]);
    let figures: Vec<redis::Value> = peek.query(con).expect("RL.PEEK");
    // allowed, count, ttl, limit, remaining, each after its name.
    redis::from_redis_value_ref(&figures[2 * 4 + 1]).expect("a figure")
}
