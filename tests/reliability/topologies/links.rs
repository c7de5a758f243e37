//! What is between servers: links that break for a while, and TLS.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use redis::Value;
use tempfile::TempDir;

use super::load::Route;
use super::network::Network;
use super::{Node, measured, rounds, under_load, wait_until_in_step};
use crate::support::{Options, PATIENCE, Server, digest, eventually, ok, servers};
use crate::{ALGORITHMS, assert_sound, cmd, report};

/// A link that breaks for longer than `repl-timeout`: the replica goes on where it stopped, from the backlog.
#[test]
fn a_replica_that_was_cut_off_gets_the_rest() {
    rounds(|bin| {
        let network = Network::of(2);
        let primary =
            Node::start(&network, 0, Options::new(bin).set("repl-timeout", 2).set("repl-ping-replica-period", 1));
        let replica =
            Node::start(&network, 1, Options::new(bin).set("repl-timeout", 2).set("replicaof", primary.replicaof()));
        wait_until_in_step(&primary, &replica);
        let begun: u64 = primary.info("sync_full").parse().expect("a count");
        let (seen, ..) = under_load(&network, &[(0, Route::Server(primary.address()))], || {
            let cut = network.cut(1, &replica.server);
            let gone = || primary.info("connected_slaves") == "0";
            assert!(eventually(PATIENCE, gone), "the primary does not miss its replica");
            thread::sleep(Duration::from_secs(1));
            network.heal(cut);
            wait_until_in_step(&primary, &replica);
        });
        wait_until_in_step(&primary, &replica);
        assert_eq!(measured(&seen, &replica).lost, 0);
        assert_eq!(digest(&mut replica.con()), digest(&mut primary.con()));
        let count = |field: &str| primary.info(field).parse::<u64>().expect("a count");
        assert_eq!(count("sync_full"), begun, "a full resynchronisation");
        assert!(count("sync_partial_ok") >= 1, "no partial resynchronisation");
        report(&format!("{} requests while the replica was away and came back ({})", seen[0].total(), network.how()));
    });
}

/// A certificate for 127.0.0.1 that is its own authority.
fn certificate(dir: &Path) {
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"])
        .args(["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"])
        .current_dir(dir)
        .output()
        .expect("openssl starts");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

/// Whether the server was built with TLS. Those in wheels are not.
fn knows_tls(bin: &crate::support::ServerBin) -> bool {
    let linked = Command::new("ldd").arg(fs::canonicalize(&bin.path).expect("a path")).output().expect("ldd starts");
    String::from_utf8_lossy(&linked.stdout).contains("libssl")
}

/// Sends commands over TLS with redis-cli; the lines of the replies.
fn over_tls(dir: &Path, port: &str, commands: &[String]) -> Vec<String> {
    let input = dir.join("commands");
    fs::write(&input, commands.join("\n") + "\n").expect("a file");
    let output = Command::new("redis-cli")
        .args(["-p", port, "--tls", "--cacert", "cert.pem", "--cert", "cert.pem", "--key", "key.pem"])
        .stdin(fs::File::open(&input).expect("a file"))
        .current_dir(dir)
        .output()
        .expect("redis-cli starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

/// Clients, and the link to the replica, with TLS and certificates of both sides.
#[test]
fn decisions_and_replication_over_tls() {
    let with_tls: Vec<_> = servers().iter().filter(|bin| knows_tls(bin)).collect();
    assert!(!with_tls.is_empty(), "no server under test was built with TLS");
    for bin in with_tls {
        let dir = TempDir::new().expect("a directory");
        certificate(dir.path());
        let file = |name: &str| dir.path().join(name).display().to_string();
        let tls = |options: Options, port: u16| {
            let options = options.set("tls-port", port).set("tls-replication", "yes");
            let options = options.set("tls-cert-file", file("cert.pem")).set("tls-key-file", file("key.pem"));
            options.set("tls-ca-cert-file", file("cert.pem"))
        };
        let [port, other] = [crate::support::free_port(), crate::support::free_port()];
        let mut primary = tls(Server::options(bin), port).start();
        let options = tls(Server::options(bin), other).set("replicaof", format!("127.0.0.1 {port}"));
        let mut replica = options.start();
        crate::support::wait_for_replica(&primary, &replica);
        // Limits of 3, and five requests of each algorithm.
        let mut commands = Vec::new();
        for algorithm in ALGORITHMS {
            commands.extend((0..5).map(|_| format!("RL.{algorithm} limit:{algorithm} 1d 3")));
        }
        let lines = over_tls(dir.path(), &port.to_string(), &commands);
        assert_eq!(lines.len(), 3 * commands.len(), "{lines:?}");
        for (algorithm, replies) in ALGORITHMS.iter().zip(lines.chunks(15)) {
            let allowed: Vec<&str> = replies.chunks(3).map(|reply| reply[0].as_str()).collect();
            assert_eq!(allowed, ["1", "1", "1", "0", "0"], "{algorithm}");
        }
        crate::support::wait_for_replica(&primary, &replica);
        assert_eq!(digest(&mut replica.con()), digest(&mut primary.con()));
        let keys: Vec<Value> = redis::cmd("KEYS").arg("*").query(&mut replica.con()).expect("KEYS");
        assert_eq!(keys.len(), ALGORITHMS.len());
        // And it is TLS: a plain connection gets nothing there.
        assert!(super::load::connect(&format!("127.0.0.1:{port}")).and_then(|mut con| cmd!(con, "PING")).is_err());
        ok(cmd!(replica.con(), "RL.PEEK", "TOKEN", "limit:TOKEN", "1d", 3));
        assert_sound(&mut primary);
        assert_sound(&mut replica);
        report(&format!("{} requests over TLS", commands.len()));
    }
}
