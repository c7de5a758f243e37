//! A Sentinel.

use std::fs;
use std::process::{Child, Command, Stdio};

use redis::{FromRedisValue, RedisResult};
use tempfile::TempDir;

use super::{PATIENCE, ServerBin, eventually, free_port};

/// A Sentinel that ends with the test.
pub struct Sentinel {
    process: Child,
    port: u16,
    _dir: TempDir,
}

impl Sentinel {
    /// A Sentinel that watches this master, whom it calls `main`.
    pub fn start(bin: &ServerBin, master: u16) -> Self {
        let (dir, port) = (TempDir::new().expect("a directory"), free_port());
        let config = format!(
            "port {port}\nbind 127.0.0.1\nsentinel monitor main 127.0.0.1 {master} 1\n\
             sentinel down-after-milliseconds main 500\nsentinel failover-timeout main 2000\n"
        );
        fs::write(dir.path().join("sentinel.conf"), config).expect("a file");
        let process = Command::new(&bin.path)
            .current_dir(dir.path())
            .args(["sentinel.conf", "--sentinel"])
            .stdout(Stdio::null())
            .spawn()
            .expect("a Sentinel");
        let sentinel = Self { process, port, _dir: dir };
        assert!(eventually(PATIENCE, || sentinel.client().get_connection().is_ok()), "no Sentinel");
        sentinel
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn con(&self) -> redis::Connection {
        self.client().get_connection().expect("a connection")
    }

    /// `SENTINEL question main`.
    ///
    /// # Errors
    /// The error that it replies, and one of the connection.
    pub fn ask<T: FromRedisValue>(&self, question: &str) -> RedisResult<T> {
        redis::cmd("SENTINEL").arg(question).arg("main").query(&mut self.client().get_connection()?)
    }

    fn client(&self) -> redis::Client {
        redis::Client::open(format!("redis://127.0.0.1:{}/", self.port)).expect("a client")
    }
}

impl Drop for Sentinel {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
