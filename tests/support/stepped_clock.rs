//! Servers whose clock runs, and steps when the test says so.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use redis::Connection;
use tempfile::TempDir;

use super::{Options, PATIENCE, eventually};

/// What the clock of some servers is off by: tests/reliability/clock.c, preloaded into them.
pub struct SteppedClock {
    dir: TempDir,
}

impl SteppedClock {
    /// The true time.
    pub fn new() -> Self {
        let dir = TempDir::new().expect("a temporary directory");
        build(&dir.path().join("clock.so"));
        fs::write(dir.path().join("offset"), 0_i64.to_ne_bytes()).expect("a file");
        Self { dir }
    }

    /// The options of a server that has this clock.
    pub fn govern(&self, options: Options) -> Options {
        let path = |name: &str| Path::display(&self.dir.path().join(name)).to_string();
        options.env("LD_PRELOAD", path("clock.so")).env("CLOCK_OFFSET", path("offset")).set("hz", 500)
    }

    /// Puts the clock so many seconds off the true time.
    #[track_caller]
    pub fn step(&self, con: &mut Connection, seconds: i64) {
        // In place, since the server has it mapped.
        let file = File::options().write(true).open(self.dir.path().join("offset")).expect("a file");
        file.write_all_at(&seconds.to_ne_bytes(), 0).expect("eight bytes");
        // Valkey 9 looks at the clock now and then only, and at a monotonic one between.
        let stepped = eventually(PATIENCE, || {
            let [shown, micros]: [i64; 2] = redis::cmd("TIME").query(con).expect("TIME");
            let shown = shown * 1_000_000 + micros;
            let true_time = SystemTime::now().duration_since(UNIX_EPOCH).expect("later than 1970").as_micros();
            (shown - true_time as i64 - seconds * 1_000_000).abs() <= 500_000
        });
        assert!(stepped, "the server's clock does not step");
    }
}

/// Builds tests/reliability/clock.c.
pub(super) fn build(library: &Path) {
    let root = super::binaries::root();
    let source = root.join("tests/reliability/clock.c");
    let built = Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(library).arg(&source).status();
    assert!(built.is_ok_and(|status| status.success()), "cc does not build {}", source.display());
}
