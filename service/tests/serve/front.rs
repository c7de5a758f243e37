//! Proxies in front of a service.

use std::env;
use std::fs;
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use super::process::{Response, get, until};

/// A proxy. It ends with the test.
pub struct Front {
    child: Child,
    dir: TempDir,
    address: String,
}

impl Front {
    /// Starts a program, whose last argument is the file of its configuration. `<DIR>` there is a directory of its own.
    pub fn start(program: &str, arguments: &[&str], config: &str, port: u16) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let (file, log) = (dir.path().join("config.yaml"), dir.path().join("log"));
        fs::write(&file, config.replace("<DIR>", dir.path().to_str().expect("text"))).expect("a file");
        // Debian has nginx in a directory of root.
        let path = format!("{}:/usr/sbin", env::var("PATH").unwrap_or_default());
        let child = Command::new(program)
            .args(arguments)
            .arg(&file)
            .env("PATH", path)
            .env("HOME", dir.path())
            .stdout(Stdio::null())
            .stderr(fs::File::create(log).expect("a file"))
            .spawn()
            .unwrap_or_else(|error| panic!("{program}: {error}; scripts/install proxies installs it"));
        let mut front = Self { child, dir, address: format!("127.0.0.1:{port}") };
        until("the proxy listens", || {
            assert!(front.child.try_wait().expect("a child").is_none(), "{}", front.log());
            TcpStream::connect(&front.address).is_ok()
        });
        front
    }

    fn log(&self) -> String {
        fs::read_to_string(self.dir.path().join("log")).unwrap_or_default()
    }

    pub fn get(&self, path: &str, headers: &[(&str, &str)]) -> Response {
        get(&self.address, path, headers)
    }

    pub fn status(&self, path: &str, headers: &[(&str, &str)]) -> u16 {
        self.get(path, headers).status
    }

    /// The statuses of as many equal requests, one after the other.
    pub fn statuses<const N: usize>(&self, path: &str, headers: &[(&str, &str)]) -> [u16; N] {
        [(); N].map(|()| self.status(path, headers))
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("{}", self.log());
        }
    }
}
