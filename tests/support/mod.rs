//! What every test file shares: real servers, started and ended by the test that wants them.
//!
//! ```ignore
//! mod support;
//! use support::*;
//!
//! #[test]
//! fn the_sixth_is_denied() {
//!     for_each_server(|bin| {
//!         let server = Server::start(bin);
//!         let mut con = server.con();
//!         assert_eq!(ok(cmd!(con, "RL.FIXED", "k", 60, 5)), ints(&[1, 1, 60]));
//!         assert_eq!(err(cmd!(con, "GET")), "ERR wrong number of arguments for 'get' command");
//!     });
//! }
//! ```
#![allow(dead_code, unused_imports)] // No test file uses all of it.

mod algorithms;
mod answer;
mod bad;
mod binaries;
mod client;
mod docs;
mod events;
mod frozen_clock;
mod process;
mod random;
pub mod scripts;
mod sentinel;
mod server;
mod stepped_clock;
mod topology;
mod traffic;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

pub use algorithms::{FOREIGN, OVERFLOW, algorithm_words, counting_words};
pub use answer::{FIGURES, Full, full, header_pairs, line, read, server_ms, with_headers};
pub use bad::BAD_WORDS;
pub use binaries::{ServerBin, module_path, servers, unsupported_servers};
pub(crate) use client::cmd;
pub use client::{Reply, bytes, call, digest, err, exec, info, ints, of_limit, ok, send, try_info};
pub use docs::{Grammar, TAKERS, algorithms};
pub use events::Events;
pub use frozen_clock::FrozenClock;
pub use process::{Paused, free_port, signal};
pub use random::{Random, randoms};
pub use sentinel::Sentinel;
pub use server::{Options, Server};
pub use stepped_clock::SteppedClock;
pub use topology::{Cluster, come_together, comes_in_step, wait_for_replica};
pub use traffic::{Effects, LONG, assert_plain, everything, keys, now_ms, only_key};

/// Sets it when dropped: what other threads wait for comes also when this one fails.
pub struct Done<'a>(pub &'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// How long anything that a healthy server does at once may take on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Runs the test against every server, all at the same time. Each runs in a thread named after its server, which is
/// what the message of a failed assertion begins with.
pub fn for_each_server(test: impl Fn(&ServerBin) + Sync) {
    let failed: Vec<String> = thread::scope(|scope| {
        let test = &test;
        let running: Vec<_> = servers()
            .iter()
            .map(|bin| {
                let thread = thread::Builder::new().name(bin.to_string());
                let running = thread.spawn_scoped(scope, move || test(bin));
                (bin, running.expect("a thread starts"))
            })
            .collect();
        running.into_iter().filter_map(|(bin, running)| running.join().err().map(|_| bin.to_string())).collect()
    });
    assert!(failed.is_empty(), "failed on {}", failed.join(", "));
}

/// The first server under test: for what does not depend on the server.
pub fn one_server() -> Server {
    Server::start(&servers()[0])
}

/// Asks until the answer is yes; whether it was in time.
#[must_use]
pub fn eventually(timeout: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + timeout;
    loop {
        if condition() {
            return true;
        }
        if Instant::now() > end {
            return false;
        }
        thread::sleep(Duration::from_millis(10));
    }
}
