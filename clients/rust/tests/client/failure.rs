//! What a request gets when something fails.

use std::fs::OpenOptions;
use std::sync::Arc;
use std::time::{Duration, Instant};

use redis_rl_client::{Decision, Error, Fallback, Limiter, Policy, Source};

use crate::proxy::Proxy;
use crate::setup::at_port;
use crate::support::*;

const API: Policy = Policy::token(Duration::from_secs(3600), 1_000_000);
/// The default timeout is 100 ms; the rest is for a busy machine.
const LONGEST: Duration = Duration::from_secs(1);
/// A probe is sent each second.
const RECOVERY: Duration = Duration::from_secs(3);

/// A limiter with one fallback, and the runtime that it is called in.
struct Client {
    runtime: tokio::runtime::Runtime,
    limiter: Limiter,
    /// What is logged in the thread of this limiter.
    logs: tempfile::NamedTempFile,
}

/// What a request gets: the server's decision, another one, or an error.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Server,
    Allowed,
    Denied,
    Unavailable,
    Rejected,
}

impl Client {
    fn new(port: u16, fallback: Fallback) -> Self {
        // One thread, whose events are all seen.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let limiter = at_port(port).fallback(fallback).build();
        Self { runtime, limiter, logs: tempfile::NamedTempFile::new().unwrap() }
    }

    fn ask(&self, policy: &Policy, key: &str) -> Outcome {
        let logs = OpenOptions::new().append(true).open(self.logs.path()).unwrap();
        let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(Arc::new(logs)).finish();
        let began = Instant::now();
        let outcome = tracing::subscriber::with_default(subscriber, || {
            of_result(self.runtime.block_on(self.limiter.check(policy, key)))
        });
        assert!(began.elapsed() <= LONGEST, "{:?}", began.elapsed());
        outcome
    }

    fn logged(&self, text: &str) -> bool {
        std::fs::read_to_string(self.logs.path()).unwrap().contains(text)
    }

    fn served(&self) -> bool {
        eventually(RECOVERY, || self.ask(&API, "k") == Outcome::Server)
    }
}

fn of_result(result: Result<Decision, Error>) -> Outcome {
    match result {
        Ok(decision) if decision.source == Source::Server => Outcome::Server,
        Ok(decision) if decision.allowed => Outcome::Allowed,
        Ok(_) => Outcome::Denied,
        Err(error) if error.is_unavailable() => Outcome::Unavailable,
        Err(_) => Outcome::Rejected,
    }
}

/// A server that does not reply: every fallback does what it says, the breaker opens, and the server decides again.
#[test]
fn a_server_that_is_gone_gets_the_fallback_until_it_is_back() {
    for (fallback, outcome, log) in [
        (Fallback::Error, Outcome::Unavailable, "no decision: "),
        (Fallback::Allow, Outcome::Allowed, "failing open: "),
        (Fallback::Deny, Outcome::Denied, "failing closed: "),
        (Fallback::Local { instances: 1 }, Outcome::Allowed, "limiting in this process: "),
    ] {
        for gone_at_start in [false, true] {
            let mut server = one_server();
            let client = Client::new(server.port(), fallback);
            assert!(gone_at_start || client.served());
            server.kill();
            for _ in 0..10 {
                assert_eq!(client.ask(&API, "k"), outcome);
            }
            let stats = client.limiter.stats();
            assert!(stats.circuit_opened >= 1 && stats.circuit_open >= 4, "{stats:?}");
            assert!(client.logged(log) && client.logged("WARN"));
            server.start_again();
            assert!(client.served());
        }
    }
}

#[test]
fn failover() {
    let (old, new) = (one_server(), one_server());
    let proxy = Proxy::start(old.port(), Duration::ZERO);
    let client = Client::new(proxy.port, Fallback::Error);
    assert!(client.served());
    std::thread::sleep(Duration::from_millis(300));
    proxy.redirect(new.port());
    redis::cmd("REPLICAOF").arg("127.0.0.1").arg(new.port()).exec(&mut old.con()).unwrap();
    for _ in 0..5 {
        assert_eq!(client.ask(&API, "k"), Outcome::Server);
    }
    assert_eq!(client.limiter.stats().circuit_opened, 0);
}

#[test]
fn a_server_without_memory_cannot_decide() {
    let server = one_server();
    let mut con = server.con();
    let client = Client::new(server.port(), Fallback::Deny);
    ok(cmd!(con, "CONFIG", "SET", "maxmemory", "1"));
    for _ in 0..10 {
        assert_eq!(client.ask(&API, "m"), Outcome::Denied);
    }
    assert!(client.logged("WARN") && client.logged("OOM") && client.limiter.stats().circuit_opened == 0);
    ok(cmd!(con, "CONFIG", "SET", "maxmemory", "0"));
    assert_eq!(client.ask(&API, "other"), Outcome::Server);
}

/// A request that is wrong is an error, whatever the fallback is.
#[test]
fn a_request_that_is_wrong_gets_no_fallback() {
    // A rate so low that no state holds the time that the capacity takes.
    let wrong = Policy::gcra(Duration::from_secs(1_000_000_000_000), 1).burst(u64::MAX / 4);
    let server = one_server();
    ok(cmd!(server.con(), "RPUSH", "list", "x"));
    for (policy, key, log, fallback) in
        [(API, "list", "WRONGTYPE", Fallback::Allow), (wrong, "k", "ERR", Fallback::Local { instances: 1 })]
    {
        let client = Client::new(server.port(), fallback);
        for _ in 0..10 {
            assert_eq!(client.ask(&policy, key), Outcome::Rejected, "{policy}");
        }
        let logged = ["ERROR", "a fault of the configuration, ", log].map(|text| client.logged(text));
        assert_eq!(logged, [true; 3], "{policy}");
        let stats = client.limiter.stats();
        assert_eq!((stats.circuit_opened, stats.rejected), (0, 10), "{stats:?}");
    }
}

/// The server has no module: it forgets the scripts, does not load them, and does not let this user call them.
#[test]
fn scripts_decide_without_the_module_and_are_sent_again() {
    let server = Server::options(&servers()[0]).without_module().start();
    let (client, mut con) = (Client::new(server.port(), Fallback::Allow), server.con());
    let rolling = Policy::rolling(Duration::from_secs(60), 5);
    let asks = || client.ask(&API, "k");
    assert_eq!([asks(), asks(), client.ask(&rolling, "r")], [Outcome::Server, Outcome::Server, Outcome::Server]);
    assert!(client.logged("WARN") && client.logged("no module: the Lua scripts decide"));
    assert!(client.logged("comes back when its window ends, and a settlement sent twice charges twice"));
    ok(cmd!(con, "SCRIPT", "FLUSH"));
    assert_eq!(asks(), Outcome::Server);
    ok(cmd!(con, "ACL", "SETUSER", "default", "-script|load"));
    ok(cmd!(con, "SCRIPT", "FLUSH"));
    assert_eq!(asks(), Outcome::Server);
    ok(cmd!(con, "ACL", "SETUSER", "default", "-evalsha"));
    assert_eq!(asks(), Outcome::Rejected);
    let denied = client.runtime.block_on(client.limiter.check(&API, "k")).unwrap_err().to_string();
    assert!(denied.contains("no permissions to run the 'evalsha' command"), "{denied}");
}
