//! Nothing that a client sends, and no place where the server may end, ends it: `make reliability`. What servers lose when
//! they die is in `make history`.
//!
//! What can go on for as long as one likes goes on for `SECONDS_EACH` (5 where it is not set) a test, and says how far
//! it came.

#[path = "../random/mod.rs"]
mod random;
#[path = "../support/mod.rs"]
mod support;

mod hostile_input;
mod memory;
mod panics;

use std::env;
use std::time::Duration;

use support::{Server, cmd, ok};

/// How long a test goes on where more is better.
fn each() -> Duration {
    let seconds = env::var("SECONDS_EACH").ok().filter(|text| !text.is_empty());
    Duration::from_secs(seconds.map_or(5, |text| text.parse().expect("SECONDS_EACH is a number of seconds")))
}

/// Prints what was done.
fn report(what: &str) {
    println!("{}: {what}", std::thread::current().name().unwrap_or("test"));
}

/// The server is up, and has logged neither a crash nor a panic.
#[track_caller]
fn assert_sound(server: &mut Server) {
    let log = server.log();
    let end = log.get(log.len().saturating_sub(8_000)..).unwrap_or(&log);
    assert!(server.is_running(), "the server is gone:\n{end}");
    for sign in ["panicked", "BUG REPORT", "crashed by signal", "ASSERTION FAILED", "Guru Meditation"] {
        assert!(!log.contains(sign), "the log says {sign}:\n{end}");
    }
    ok(cmd!(server.con(), "PING"));
}
