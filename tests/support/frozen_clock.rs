//! Servers whose clock stands still until the test moves it, in any direction.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;

use redis::Connection;
use tempfile::TempDir;

use super::{Options, PATIENCE, Server, ServerBin, eventually, stepped_clock};

/// The clock of some servers: tests/reliability/clock.c, preloaded into them.
pub struct FrozenClock {
    dir: TempDir,
    file: File,
    /// Unix time in microseconds.
    now: i64,
    /// What the monotonic clock shows. It only goes forward.
    monotonic: i64,
}

impl FrozenClock {
    /// A clock that shows this Unix time, in microseconds.
    pub fn at(now: i64) -> Self {
        let dir = TempDir::new().expect("a temporary directory");
        stepped_clock::build(&dir.path().join("clock.so"));
        fs::write(dir.path().join("at"), [0; 16]).expect("a file");
        let file = File::options().write(true).open(dir.path().join("at")).expect("a file");
        let mut clock = Self { dir, file, now, monotonic: 1_000_000_000 };
        clock.set(now);
        clock
    }

    /// The options of a server that has this clock. It removes expired keys when they are looked at, and not before.
    pub fn govern(&self, options: Options) -> Options {
        let path = |name: &str| Path::display(&self.dir.path().join(name)).to_string();
        options.env("LD_PRELOAD", path("clock.so")).env("CLOCK_AT", path("at"))
    }

    pub fn now(&self) -> i64 {
        self.now
    }

    /// Sets the clock.
    pub fn set(&mut self, now: i64) {
        self.now = now;
        self.monotonic += 10_000;
        // In place, since the servers have it mapped.
        let both = [now.to_ne_bytes(), self.monotonic.to_ne_bytes()].concat();
        self.file.write_all_at(&both, 0).expect("sixteen bytes");
    }

    /// A server with an append only file whose clock stands still at a moment in 2026.
    pub fn server(bin: &ServerBin) -> (Self, Server) {
        let clock = Self::at(1_795_269_620_123_456);
        let server = clock.govern(Server::options(bin)).durable().start();
        clock.assert_governs(&mut server.con());
        (clock, server)
    }

    /// Unix time in milliseconds.
    pub fn now_ms(&self) -> i64 {
        self.now / 1_000
    }

    /// Moves the clock of a server by so many milliseconds.
    #[track_caller]
    pub fn step(&mut self, con: &mut Connection, millis: i64) {
        self.set(self.now + millis * 1_000);
        self.assert_governs(con);
    }

    /// Panics if a server does not show this clock's time.
    #[track_caller]
    pub fn assert_governs(&self, con: &mut Connection) {
        let shown = eventually(PATIENCE, || {
            let [seconds, micros]: [i64; 2] = redis::cmd("TIME").query(con).expect("TIME");
            seconds * 1_000_000 + micros == self.now
        });
        assert!(shown, "the server has another clock");
    }
}
