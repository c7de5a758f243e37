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
fn no_reply(at_start: bool, fail: impl Fn(&mut Server), repair: impl Fn(&mut Server)) {
    let all = [
        (Fallback::Error, Outcome::Unavailable, "no decision: "),
        (Fallback::Allow, Outcome::Allowed, "failing open: "),
        (Fallback::Deny, Outcome::Denied, "failing closed: "),
        (Fallback::Local { instances: 1 }, Outcome::Allowed, "limiting in this process: "),
    ];
    for (fallback, outcome, log) in &all {
        let mut server = one_server();
        if at_start {
            fail(&mut server);
        }
        let client = Client::new(server.port(), *fallback);
        if !at_start {
            assert!(client.served());
            fail(&mut server);
        }
        for _ in 0..10 {
            assert_eq!(client.ask(&API, "k"), *outcome);
        }
        let stats = client.limiter.stats();
        assert!(stats.circuit_opened >= 1 && stats.circuit_open >= 4, "{stats:?}");
        assert!(client.logged(log) && client.logged("WARN"));
        repair(&mut server);
        assert!(client.served());
    }
}

#[test]
fn killed() {
    no_reply(false, Server::kill, Server::start_again);
}

#[test]
fn down_at_start() {
    no_reply(true, Server::kill, Server::start_again);
}

#[test]
fn paused() {
    no_reply(false, |server| std::mem::forget(Paused::new(server)), |server| drop(Paused::new(server)));
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
fn maxmemory() {
    let server = one_server();
    let mut con = server.con();
    for (fallback, outcome) in [
        (Fallback::Error, Outcome::Unavailable),
        (Fallback::Allow, Outcome::Allowed),
        (Fallback::Deny, Outcome::Denied),
    ] {
        redis::cmd("CONFIG").arg("SET").arg("maxmemory").arg("1").exec(&mut con).unwrap();
        let client = Client::new(server.port(), fallback);
        for _ in 0..10 {
            assert_eq!(client.ask(&API, "m"), outcome);
        }
        if fallback == Fallback::Error {
            assert!(client.logged("no decision: "));
        }
        assert!(client.logged("WARN") && client.logged("OOM") && client.limiter.stats().circuit_opened == 0);
        redis::cmd("CONFIG").arg("SET").arg("maxmemory").arg("0").exec(&mut con).unwrap();
        assert_eq!(client.ask(&API, "other"), Outcome::Server);
    }
}

/// A request that is wrong is an error with every fallback.
#[test]
fn rejected() {
    // A rate so low that no state holds the time that the capacity takes.
    let wrong = Policy::gcra(Duration::from_secs(1_000_000_000_000), 1).burst(u64::MAX / 4);
    let server = one_server();
    redis::cmd("RPUSH").arg("list").arg("x").exec(&mut server.con()).unwrap();
    for (policy, key, log) in [(API, "list", "WRONGTYPE"), (wrong, "k", "ERR")] {
        for fallback in [Fallback::Error, Fallback::Allow, Fallback::Deny, Fallback::Local { instances: 1 }] {
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
}

#[test]
fn no_module() {
    let rolling = Policy::rolling(Duration::from_secs(60), 5);
    let server = Server::options(&servers()[0]).without_module().start();
    let client = Client::new(server.port(), Fallback::Allow);
    for policy in [&API, &API, &rolling] {
        assert_eq!(client.ask(policy, &policy.to_string()), Outcome::Server);
    }
    assert!(client.logged("WARN") && client.logged("no module: the Lua scripts decide"));
    assert!(client.logged("comes back when its window ends, and a settlement sent twice charges twice"));
}

/// The server has forgotten the scripts, does not load them, and does not let this user call them.
#[test]
fn scripts_are_sent_again_and_a_missing_permission_is_named() {
    let server = Server::options(&servers()[0]).without_module().start();
    let (client, mut con) = (Client::new(server.port(), Fallback::Allow), server.con());
    let asks = || client.ask(&API, "k");
    assert_eq!(asks(), Outcome::Server);
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
