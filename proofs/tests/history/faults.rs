//! What happens to the servers.

use std::sync::atomic::{AtomicU16, Ordering};
use std::thread;
use std::time::Duration;

use redis::{Connection, Value};

use crate::History;
use crate::call::{Kill, Limit, now_us};
use crate::client::{QUOTAS, shared_key};
use crate::support::{Options, Random, Server, ServerBin, wait_for_replica};

fn count(history: &mut History, name: &'static str) {
    match history.faults.iter_mut().find(|(fault, _)| *fault == name) {
        Some((_, times)) => *times += 1,
        None => history.faults.push((name, 1)),
    }
}

/// A fault of one server.
pub fn one(server: &mut Server, random: &mut Random, history: &mut History) {
    match random.below(6) {
        0 | 1 => {
            count(history, "kill -9");
            server.kill();
            history.kills.push(Kill { at_us: now_us(), lost: Vec::new() });
            server.start_again();
        }
        2 => {
            count(history, "SIGSTOP");
            let pid = server.pid().to_string();
            let signal = |name: &str| std::process::Command::new("kill").args([name, &pid]).status().expect("kill");
            signal("-STOP");
            thread::sleep(Duration::from_millis(20 + random.below(280)));
            signal("-CONT");
        }
        3 => {
            count(history, "maxmemory");
            let mut con = server.con();
            set(&mut con, "maxmemory", "1");
            thread::sleep(Duration::from_millis(20 + random.below(100)));
            set(&mut con, "maxmemory", "0");
        }
        4 => {
            count(history, "connections closed");
            let _ = redis::cmd("CLIENT").arg(&["KILL", "TYPE", "normal"]).query::<Value>(&mut server.con());
        }
        _ => {
            count(history, "BGREWRITEAOF");
            // One may be under way.
            let _ = redis::cmd("BGREWRITEAOF").query::<Value>(&mut server.con());
        }
    }
}

fn set(con: &mut Connection, name: &str, value: &str) {
    redis::cmd("CONFIG").arg(&["SET", name, value]).exec(con).expect("CONFIG SET");
}

/// A primary and its replica.
pub struct Pair {
    primary: Server,
    replica: Server,
}

impl Pair {
    pub fn start(bin: &ServerBin) -> Self {
        let primary = Options::new(bin).durable().start();
        let replica = Options::new(bin).durable().replica_of(&primary).start();
        wait_for_replica(&primary, &replica);
        Self { primary, replica }
    }

    pub const fn primary(&self) -> &Server {
        &self.primary
    }

    /// The primary is killed and the replica takes its place, often without the last changes. The old primary's AOF says
    /// which those are. It then becomes the replica.
    pub fn fail_over(&mut self, random: &mut Random, history: &mut History, port: &AtomicU16) {
        count(history, "failover");
        let cut_off = random.below(2) == 0;
        if cut_off {
            count(history, "replica cut off");
            // What the primary charges from now on is lost.
            redis::cmd("REPLICAOF").arg(&["NO", "ONE"]).exec(&mut self.replica.con()).expect("REPLICAOF");
            thread::sleep(Duration::from_millis(20 + random.below(80)));
        }
        self.primary.kill();
        let at_us = now_us();
        redis::cmd("REPLICAOF").arg(&["NO", "ONE"]).exec(&mut self.replica.con()).expect("REPLICAOF");
        let replicated = QUOTAS.map(|limit| counted(&self.replica, &limit));
        port.store(self.replica.port(), Ordering::Relaxed);
        self.primary.start_again_with(|options| options.set("replicaof", "no one"));
        let lost = QUOTAS.iter().zip(replicated).map(|(limit, replicated)| {
            (shared_key("h", limit), counted(&self.primary, limit).saturating_sub(replicated))
        });
        history.kills.push(Kill { at_us, lost: lost.collect() });
        let replica = self.replica.port().to_string();
        redis::cmd("REPLICAOF").arg(&["127.0.0.1", &replica]).exec(&mut self.primary.con()).expect("REPLICAOF");
        std::mem::swap(&mut self.primary, &mut self.replica);
        wait_for_replica(&self.primary, &self.replica);
    }
}

/// How many units a server counts.
fn counted(server: &Server, limit: &Limit) -> u64 {
    let mut peek = redis::cmd("RL.PEEK");
    peek.arg(limit.algorithm).arg(shared_key("h", limit)).arg(format!("{}ms", limit.window_ms)).arg(limit.limit);
    let line: String = peek.arg(&["COST", "0", "LINE"]).query(&mut server.con()).expect("RL.PEEK");
    let remaining: u64 = line.split(' ').nth(4).and_then(|figure| figure.parse().ok()).expect("a figure");
    limit.limit - remaining
}
