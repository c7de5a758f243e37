//! What happens to the servers.

use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::{AtomicU16, Ordering};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use redis::{Connection, Value};

use crate::History;
use crate::call::{Count, Counted, Kill, Limit, Step, now_us};
use crate::client::{TIMEOUT, long};
use crate::route::connect;
use crate::support::{
    Cluster, Options, PATIENCE, Random, Sentinel, Server, ServerBin, SteppedClock, eventually, info, line,
    migrate_slot, try_info, wait_for_replica,
};

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
            history.kills.push(Kill { at_us: now_us(), ..Kill::default() });
            server.start_again();
        }
        2 => stop_for_a_while(server, random, history),
        3 => fill(server, random, history),
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

/// A fault of one server that has no AOF: what was not saved is gone.
pub fn without_aof(server: &mut Server, random: &mut Random, history: &mut History) {
    match random.below(4) {
        0 => {
            count(history, "kill -9");
            server.kill();
            history.kills.push(Kill { at_us: now_us(), emptied: true, ..Kill::default() });
            server.start_again();
        }
        1 => {
            count(history, "SHUTDOWN SAVE");
            server.shutdown("SAVE");
            history.kills.push(Kill { at_us: now_us(), ..Kill::default() });
            server.start_again();
            // After the next kill it is too old.
            fs::remove_file(server.dir().join("dump.rdb")).expect("a dump");
        }
        2 => stop_for_a_while(server, random, history),
        _ => fill(server, random, history),
    }
}

/// The server's clock steps by up to three seconds, or back to the true time.
pub fn step(clock: &SteppedClock, server: &Server, random: &mut Random, history: &mut History) {
    count(history, "clock step");
    let begun_us = now_us();
    clock.step(&mut server.con(), random.below(7) as i64 - 3);
    history.steps.push(Step { begun_us, ended_us: now_us() });
}

fn signal(server: &Server, signal: Signal) {
    kill(Pid::from_raw(server.pid().cast_signed()), signal).expect("a process");
}

fn stop_for_a_while(server: &Server, random: &mut Random, history: &mut History) {
    count(history, "SIGSTOP");
    signal(server, Signal::SIGSTOP);
    thread::sleep(Duration::from_millis(20 + random.below(280)));
    signal(server, Signal::SIGCONT);
}

fn fill(server: &Server, random: &mut Random, history: &mut History) {
    count(history, "maxmemory");
    let mut con = server.con();
    set(&mut con, "maxmemory", "1");
    thread::sleep(Duration::from_millis(20 + random.below(100)));
    set(&mut con, "maxmemory", "0");
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
        redis::cmd("REPLICAOF").arg(&["NO", "ONE"]).exec(&mut self.replica.con()).expect("REPLICAOF");
        let replicated = counts(&self.replica, &long("h"));
        let at_us = now_us();
        port.store(self.replica.port(), Ordering::Relaxed);
        self.primary.start_again_with(|options| options.set("replicaof", "no one"));
        self.record(at_us, replicated, history);
        self.swap();
    }

    /// The primary is killed or stopped until Sentinel has put the replica in its place. A primary that was stopped goes
    /// on then, with the calls that it had received.
    pub fn wait_for_sentinel(
        &mut self,
        sentinel: &Sentinel,
        random: &mut Random,
        history: &mut History,
        port: &AtomicU16,
    ) {
        let killed = random.below(2) == 0;
        if killed {
            count(history, "kill -9, Sentinel");
            self.primary.kill();
        } else {
            count(history, "SIGSTOP, Sentinel");
            signal(&self.primary, Signal::SIGSTOP);
        }
        let new = ["127.0.0.1".to_owned(), self.replica.port().to_string()];
        let promoted = eventually(2 * PATIENCE, || {
            sentinel.ask::<[String; 2]>("GET-MASTER-ADDR-BY-NAME").is_ok_and(|now| now == new)
        });
        assert!(promoted, "Sentinel does not fail over:\n{}", self.replica.log());
        let replicated = counts(&self.replica, &long("h"));
        let at_us = now_us();
        port.store(self.replica.port(), Ordering::Relaxed);
        if killed {
            self.primary.start_again_with(|options| options.set("replicaof", "no one"));
        } else {
            // A client that was about to call it has given up then.
            thread::sleep(3 * TIMEOUT);
            signal(&self.primary, Signal::SIGCONT);
        }
        // Sentinel looks at a primary that is back only after eight seconds.
        self.record(at_us, replicated, history);
        self.swap();
        let known = eventually(PATIENCE, || {
            let figures: BTreeMap<String, String> = sentinel.ask("MASTER").expect("SENTINEL MASTER");
            figures["num-slaves"] == "1" && figures["flags"] == "master"
        });
        assert!(known, "Sentinel does not know the replica");
    }

    /// What the old primary counts and the new one did not when it took its place.
    fn record(&self, at_us: u64, replicated: Vec<Count>, history: &mut History) {
        let counted = compare(long("h"), &self.primary, replicated);
        history.kills.push(Kill { at_us, counted, ..Kill::default() });
    }

    /// The old primary becomes the replica. Sentinel closes connections when it sees that something has changed.
    fn swap(&mut self) {
        let replica = self.replica.port().to_string();
        let told = eventually(PATIENCE, || {
            let con = connect(self.primary.port());
            con.and_then(|mut con| redis::cmd("REPLICAOF").arg(&["127.0.0.1", &replica]).exec(&mut con)).is_ok()
        });
        assert!(told, "REPLICAOF");
        std::mem::swap(&mut self.primary, &mut self.replica);
        let offset = |server: &Server, name| try_info(server.port(), name)?.parse::<u64>().ok();
        let sent = eventually(PATIENCE, || offset(&self.primary, "master_repl_offset").is_some());
        let sent = offset(&self.primary, "master_repl_offset").filter(|_| sent).unwrap_or(0);
        let in_step = eventually(PATIENCE, || {
            try_info(self.replica.port(), "master_link_status").is_some_and(|status| status == "up")
                && offset(&self.replica, "slave_repl_offset").is_some_and(|offset| offset >= sent)
        });
        assert!(in_step, "the replica is not in step:\n{}", self.replica.log());
    }
}

/// What the keys of the cluster begin with: each is in another slot, and at first on another master.
pub const TAGS: [&str; 3] = ["{a}", "{b}", "{c}"];

/// Three masters and their replicas.
pub struct Nodes {
    bin: ServerBin,
    /// The masters, and their replicas in the same order.
    masters: Vec<Server>,
    replicas: Vec<Server>,
}

impl Nodes {
    /// A replica takes over from a master that is away for longer than the timeout.
    pub fn start(bin: &ServerBin, timeout_ms: u64) -> Self {
        let options = |options: Options| {
            options.durable().set("cluster-node-timeout", timeout_ms).set("cluster-replica-validity-factor", 0)
        };
        let cluster = Cluster::start(bin, 3, options);
        let replicas = cluster.start_replicas(bin, options);
        Self { bin: bin.clone(), masters: cluster.nodes, replicas }
    }

    pub fn ports(&self) -> Vec<u16> {
        self.masters.iter().chain(&self.replicas).map(Server::port).collect()
    }

    /// The master of a hash tag.
    fn owner(&self, tag: &str) -> usize {
        let slot = slot(&self.masters[0], tag);
        let owns = |node: &Server| redis::cmd("CLUSTER").arg("COUNTKEYSINSLOT").arg(slot).query::<u64>(&mut node.con());
        let keys = |at: &usize| owns(&self.masters[*at]).unwrap_or(0);
        (0..self.masters.len()).max_by_key(keys).expect("a master")
    }

    /// Moves a slot, or takes a master away that comes back as one.
    pub fn move_slot_or_restart(&mut self, random: &mut Random, history: &mut History) {
        match random.below(6) {
            0 => self.restart(random, history),
            1 => stop_for_a_while(&self.masters[random.below(3) as usize], random, history),
            _ => self.move_slot(random, history),
        }
    }

    /// A master is killed and starts again with its AOF, before any replica takes over.
    fn restart(&mut self, random: &mut Random, history: &mut History) {
        count(history, "kill -9, a master again");
        let at = self.owner(random.pick(&TAGS));
        let tags = TAGS.into_iter().filter(|tag| self.owner(tag) == at).collect();
        let master = &mut self.masters[at];
        master.kill();
        history.kills.push(Kill { at_us: now_us(), tags, ..Kill::default() });
        master.start_again();
        // A master that starts waits for two seconds before it serves its slots.
        let again = eventually(PATIENCE, || {
            let state = redis::cmd("CLUSTER").arg("INFO").query::<String>(&mut master.con());
            state.is_ok_and(|state| state.contains("cluster_state:ok"))
        });
        assert!(again, "the master does not come back:\n{}", master.log());
        assert_eq!(info(&mut master.con(), "role"), "master");
    }

    /// Moves a slot to another master, while clients call for its keys.
    fn move_slot(&mut self, random: &mut Random, history: &mut History) {
        count(history, "slot moved");
        history.moved = true;
        let tag = random.pick(&TAGS);
        let from = self.owner(tag);
        let to = (from + 1 + random.below(2) as usize) % 3;
        let other = 3 - from - to;
        let slot = slot(&self.masters[0], tag);
        migrate_slot(slot, &self.masters[from], &self.masters[to], &[&self.masters[other]]);
    }

    /// A master is killed, or stopped for good, and its replica takes its place. Then it comes back, as the replica.
    pub fn fail_over(&mut self, random: &mut Random, history: &mut History) {
        let at = random.below(3) as usize;
        let tags: Vec<_> = TAGS.into_iter().filter(|tag| self.owner(tag) == at).collect();
        let keys: Vec<_> = tags.iter().copied().flat_map(long).collect();
        let (master, replica) = (&mut self.masters[at], &self.replicas[at]);
        if random.below(2) == 0 {
            count(history, "kill -9, cluster");
            master.kill();
        } else {
            count(history, "SIGSTOP, cluster");
            signal(master, Signal::SIGSTOP);
        }
        let at_us = now_us();
        // It reads what is under way, long before it takes over.
        thread::sleep(Duration::from_millis(500));
        let replicated = counts(replica, &keys);
        let promoted = eventually(2 * PATIENCE, || info(&mut replica.con(), "role") == "master");
        assert!(promoted, "no replica takes over:\n{}", replica.log());
        let disk = master.dir().join("appendonlydir");
        master.kill();
        let copy = tempfile::tempdir().expect("a directory");
        let files = fs::read_dir(&disk).expect("an AOF").map(|file| file.expect("a file").path());
        fs::create_dir(copy.path().join("appendonlydir")).expect("a directory");
        for file in files {
            let name = file.file_name().expect("a name");
            fs::copy(&file, copy.path().join("appendonlydir").join(name)).expect("a copy");
        }
        let old = Options::new(&self.bin).durable().set("dir", copy.path().display()).start();
        let counted = compare(keys, &old, replicated);
        history.kills.push(Kill { at_us, tags, counted, ..Kill::default() });
        drop(old);
        master.start_again();
        let master = &self.masters[at];
        let demoted = eventually(2 * PATIENCE, || info(&mut master.con(), "role") == "slave");
        assert!(demoted, "the old master does not follow:\n{}", master.log());
        std::mem::swap(&mut self.masters[at], &mut self.replicas[at]);
        wait_for_replica(&self.masters[at], &self.replicas[at]);
    }
}

/// The slot of a hash tag.
fn slot(node: &Server, tag: &str) -> u16 {
    redis::cmd("CLUSTER").arg("KEYSLOT").arg(tag).query(&mut node.con()).expect("CLUSTER KEYSLOT")
}

/// How many units a server counts under each key, and when. Sentinel may close the connection meanwhile.
fn counts(server: &Server, keys: &[(String, Limit)]) -> Vec<Count> {
    let mut peeks = redis::pipe();
    for (key, limit) in keys {
        peeks.cmd("RL.PEEK").arg(limit.algorithm).arg(key).arg(format!("{}ms", limit.window_ms)).arg(limit.limit);
        peeks.arg(&["COST", "0", "LINE"]);
    }
    let mut replies: Vec<Value> = Vec::new();
    let replied = eventually(PATIENCE, || {
        let mut con = server.con();
        // A replica of a cluster sends readers away without it. Elsewhere it does nothing, or is an error.
        let _ = redis::cmd("READONLY").exec(&mut con);
        peeks.query(&mut con).is_ok_and(|all| {
            replies = all;
            true
        })
    });
    assert!(replied, "RL.PEEK:\n{}", server.log());
    let count = |((_, limit), reply): (&(String, Limit), Value)| {
        let full = line(reply);
        Count { units: limit.limit - full.remaining as u64, at_ms: full.now_ms as u64 }
    };
    keys.iter().zip(replies).map(count).collect()
}

/// What the old primary counts, and what the new one counted.
fn compare(keys: Vec<(String, Limit)>, old: &Server, new: Vec<Count>) -> Vec<Counted> {
    let old = counts(old, &keys);
    keys.into_iter().zip(old).zip(new).map(|(((key, _), old), new)| Counted { key, old, new }).collect()
}
