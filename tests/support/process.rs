//! The processes behind a `Server`.

use std::fs::{self, File};
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{self, Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};

use redis::ProtocolVersion;

use super::client::connect;
use super::{Options, PATIENCE, Server, eventually, info};

/// The process of a server, and a guard that ends it if the process of the test is killed.
///
/// The guard is a shell that waits for the end of its input. The input is a pipe that only this process holds open, and
/// the kernel closes it however this process ends. (PR_SET_PDEATHSIG would end the server together with the *thread*
/// that started it.)
pub struct Process {
    pub server: Child,
    guard: Child,
    pub port: u16,
    pub bus_port: u16,
}

impl Process {
    /// Starts the server.
    ///
    /// # Errors
    /// The log, if the server ends before it is ready.
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
            .process_group(0) // Ctrl-C ends a whole group, but the guard must go on.
            .spawn()
            .expect("/bin/sh starts");

        let mut process = Self { server, guard, port, bus_port };
        // Under valgrind, beside other tests, it takes a while.
        let answers = eventually(3 * PATIENCE, || !process.is_running() || process.answers());
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

    /// Whether this server is ready. Another program may have taken the port first.
    fn answers(&self) -> bool {
        let Ok(mut con) = connect(self.port, ProtocolVersion::RESP2) else {
            return false;
        };
        // The reply is -LOADING until all data are read.
        redis::cmd("PING").exec(&mut con).is_ok() && info(&mut con, "process_id") == self.server.id().to_string()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.server.kill();
        // Not ended through its input: it would kill the server's number, which another process may have by now.
        let _ = self.guard.kill();
        let _ = self.guard.wait();
        let _ = self.server.wait();
    }
}

/// A server that is continued when the test ends.
pub struct Paused<'a>(&'a Server);

impl<'a> Paused<'a> {
    pub fn new(server: &'a Server) -> Self {
        signal(server.pid(), "-STOP");
        Self(server)
    }
}

impl Drop for Paused<'_> {
    fn drop(&mut self) {
        signal(self.0.pid(), "-CONT");
    }
}

pub fn signal(pid: u32, signal: &str) {
    // The shell's own kill: a small system has no program of that name.
    let status = Command::new("/bin/sh").args(["-c", &format!("kill {signal} {pid}")]).status();
    assert!(status.expect("/bin/sh runs").success());
}

pub const LOG: &str = "server.log";

pub fn log(dir: &Path) -> String {
    let bytes = fs::read(dir.join(LOG)).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A port that nothing listens on and that no other test of this process got recently. It is below those that Linux
/// uses for outgoing connections, so a server that is started again finds its port free.
pub fn free_port() -> u16 {
    const FIRST: u16 = 11_000;
    const COUNT: u16 = 21_000;
    static NEXT: AtomicU16 = AtomicU16::new(0);
    // Test programs may run at the same time, so each begins at another port.
    let begin = (process::id() % u32::from(COUNT / 100)) as u16 * 100;
    loop {
        let step = NEXT.fetch_add(1, Ordering::Relaxed) % COUNT;
        let port = FIRST + ((u32::from(begin) + u32::from(step)) % u32::from(COUNT)) as u16;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}
