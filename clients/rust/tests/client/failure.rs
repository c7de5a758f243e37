//! What a request gets when something fails.

use std::time::Duration;

use redis_rl_client::{Fallback, Policy, Source};

use crate::link::Client;
use crate::proxy::Proxy;
use crate::setup::url;
use crate::support::*;

/// A server that does not reply: every fallback does what it says, the breaker opens, and the server decides again.
#[test]
fn a_server_that_is_gone_gets_the_fallback_until_it_is_back() {
    for (fallback, allowed) in [
        (Fallback::Error, None),
        (Fallback::Allow, Some(true)),
        (Fallback::Deny, Some(false)),
        (Fallback::Local { instances: 1 }, Some(true)),
    ] {
        for gone_at_start in [false, true] {
            let mut server = one_server();
            let client = Client::falls_back(&url(server.port()), fallback);
            if !gone_at_start {
                client.served("k");
            }
            server.kill();
            for _ in 0..10 {
                match client.check("k") {
                    Ok(decision) => assert_eq!((decision.source, Some(decision.allowed)), (Source::Fallback, allowed)),
                    Err(error) => assert!(error.is_unavailable() && allowed.is_none(), "{fallback:?}: {error}"),
                }
            }
            let stats = client.limiter.stats();
            assert!(stats.circuit_opened >= 1 && stats.circuit_open >= 4, "{stats:?}");
            server.start_again();
            client.served("k");
        }
    }
}

#[test]
fn failover() {
    let (old, new) = (one_server(), one_server());
    let proxy = Proxy::start(old.port(), Duration::ZERO);
    let client = Client::falls_back(&url(proxy.port), Fallback::Error);
    client.served("k");
    std::thread::sleep(Duration::from_millis(300));
    proxy.redirect(new.port());
    redis::cmd("REPLICAOF").arg("127.0.0.1").arg(new.port()).exec(&mut old.con()).unwrap();
    for _ in 0..5 {
        assert_eq!(client.source("k"), Source::Server);
    }
    assert_eq!(client.limiter.stats().circuit_opened, 0);
}

#[test]
fn a_server_without_memory_cannot_decide() {
    let server = one_server();
    let mut con = server.con();
    let client = Client::new(&url(server.port()));
    ok(cmd!(con, "CONFIG", "SET", "maxmemory", "1"));
    for _ in 0..10 {
        assert_eq!(client.source("m"), Source::Fallback);
    }
    assert_eq!(client.opened(), 0);
    ok(cmd!(con, "CONFIG", "SET", "maxmemory", "0"));
    assert_eq!(client.source("other"), Source::Server);
}

/// A request that is wrong is an error, whatever the fallback is.
#[test]
fn a_request_that_is_wrong_gets_no_fallback() {
    // A rate so low that no state holds the time that the capacity takes.
    let wrong = Policy::gcra(Duration::from_secs(1_000_000_000_000), 1).burst(u64::MAX / 4);
    let server = one_server();
    ok(cmd!(server.con(), "RPUSH", "list", "x"));
    let client = Client::falls_back(&url(server.port()), Fallback::Local { instances: 1 });
    for _ in 0..5 {
        assert!(client.check("list").is_err_and(|error| error.to_string().contains("WRONGTYPE")));
        assert!(client.check_policy(&wrong, "k").is_err_and(|error| !error.is_unavailable()));
    }
    let stats = client.limiter.stats();
    assert_eq!((stats.circuit_opened, stats.rejected), (0, 10), "{stats:?}");
}

/// The server has no module: it forgets the scripts, does not load them, and does not let this user call them.
#[test]
fn scripts_decide_without_the_module_and_are_sent_again() {
    let server = Server::options(&servers()[0]).without_module().start();
    let (client, mut con) = (Client::falls_back(&url(server.port()), Fallback::Allow), server.con());
    let rolling = Policy::rolling(Duration::from_secs(60), 5);
    assert!(client.check_policy(&rolling, "r").is_ok_and(|decision| decision.source == Source::Server));
    ok(cmd!(con, "SCRIPT", "FLUSH"));
    assert_eq!(client.source("k"), Source::Server);
    ok(cmd!(con, "ACL", "SETUSER", "default", "-script|load"));
    ok(cmd!(con, "SCRIPT", "FLUSH"));
    assert_eq!(client.source("k"), Source::Server);
    ok(cmd!(con, "ACL", "SETUSER", "default", "-evalsha"));
    let denied = client.check("k").unwrap_err().to_string();
    assert!(denied.contains("no permissions to run the 'evalsha' command"), "{denied}");
}
