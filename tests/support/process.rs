//! The processes behind a `Server`.

use std::fs::{self, File};
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{self, Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};

use redis::ProtocolVersion;

use super::client::connect;
use super::{Options, PATIENCE, eventually, info};

/// The server's process, and one that ends it should the test's own process be killed.
///
/// The guard is a shell that waits for the end of its input, a pipe that this process alone holds open and the kernel
/// closes whatever happens to it. (PR_SET_PDEATHSIG would end the server with the *thread* that started it.)
pub struct Process {
    pub server: Child,
    guard: Child,
    pub port: u16,
    pub bus_port: u16,
}

impl Process {
    /// The log, if the server ends before it answers.
    pub fn start(options: &Options, dir: &Path, port: u16, bus_port: u16) -> Result<Self, String> {
        let output = File::options().create(true).append(true).open(dir.join(LOG)).expect("a log");
        let mut server = options.command(dir, port, bus_port);
        server.stdin(Stdio::null()).stderr(output.try_clone().expect("a log")).stdout(output);
        let server = server.spawn().unwrap_or_else(|error| panic!("{}: {error}", options.bin.path.display()));

        let guard = Command::new("/bin/sh")
            .args(["-c", "read -r _; kill -9 \"$0\" 2>/dev/null", &server.id().to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0) // Ctrl-C goes to a whole group, and this one must outlive it.
            .spawn()
            .expect("/bin/sh starts");

        let mut process = Self { server, guard, port, bus_port };
        let answers = eventually(PATIENCE, || !process.is_running() || process.answers());
        if process.is_running() && answers {
            Ok(process)
        } else {
            drop(process);
            Err(log(dir))
        }
    }

    pub fn is_running(&mut self) -> bool {
        self.server.try_wait().expect("a child").is_none()
    }

    /// Whether this very server is ready: something else may have got the port first.
    fn answers(&self) -> bool {
        let Ok(mut con) = connect(self.port, ProtocolVersion::RESP2) else {
            return false;
        };
        // -LOADING until all data are read.
        redis::cmd("PING").exec(&mut con).is_ok() && info(&mut con, "process_id") == self.server.id().to_string()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.server.kill();
        // Killed, not let go: a server that ended by itself has given its number back, perhaps to another process.
        let _ = self.guard.kill();
        let _ = self.guard.wait();
        let _ = self.server.wait();
    }
}

pub const LOG: &str = "server.log";

pub fn log(dir: &Path) -> String {
    let bytes = fs::read(dir.join(LOG)).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A port that nothing listens on and that no test of this process was given lately. All lie below those that Linux
/// hands to outgoing connections, so that a server that is started again finds its port free.
pub fn free_port() -> u16 {
    const FIRST: u16 = 11_000;
    const COUNT: u16 = 21_000;
    static NEXT: AtomicU16 = AtomicU16::new(0);
    // Test programs may run side by side: each begins somewhere else.
    let begin = (process::id() % u32::from(COUNT / 100)) as u16 * 100;
    loop {
        let step = NEXT.fetch_add(1, Ordering::Relaxed) % COUNT;
        let port = FIRST + ((u32::from(begin) + u32::from(step)) % u32::from(COUNT)) as u16;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}
