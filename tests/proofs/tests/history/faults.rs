//! The servers of a history, and what happens to them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill as send_signal};
use nix::unistd::Pid;
use redis::{Cmd, Connection, RedisResult, Value};

use crate::History;
use crate::call::{Count, Counted, Kill, Limit, now_us};
use crate::client::long;
use crate::route::connect;
use crate::support::{
    Cluster, Options, PATIENCE, Random, Server, ServerBin, call, digest, eventually, info, line, migrate_slot,
    try_info, wait_for_replica,
};

/// What happens now and then.
pub type Fault = fn(&mut World, &mut Random, &mut History);

/// What the keys of the clients begin with.
const ONE: &[&str] = &["h"];
/// The same in a cluster: each is in another slot, and at first on another master.
const OF_A_CLUSTER: &[&str] = &["{a}", "{b}", "{c}"];

/// The servers of a history.
pub struct World {
    bin: ServerBin,
    pub prefixes: &'static [&'static str],
    /// One, or three masters of a cluster.
    pub primaries: Vec<Server>,
    /// One for each of the primaries, in the same order, or none.
    pub replicas: Vec<Server>,
    /// Where the primary is, if there is one.
    pub port: Arc<AtomicU16>,
}

impl World {
    fn of(bin: &ServerBin, primary: Server) -> Self {
        let port = Arc::new(AtomicU16::new(primary.port()));
        let bin = bin.clone();
        Self { bin, prefixes: ONE, primaries: vec![primary], replicas: vec![], port }
    }

    /// A primary and its replica, whose AOF has each write on disk before its reply.
    pub fn pair(bin: &ServerBin) -> Self {
        let primary = Server::options(bin).durable().start();
        let replica = Options::new(bin).durable().replica_of(&primary).start();
        wait_for_replica(&primary, &replica);
        Self { replicas: vec![replica], ..Self::of(bin, primary) }
    }

    /// Three masters and their replicas, which take over from none.
    pub fn cluster(bin: &ServerBin) -> Self {
        let options = |options: Options| options.durable().set("cluster-node-timeout", 60_000);
        let cluster = Cluster::start(bin, 3, options);
        let replicas = cluster.start_replicas(bin, options);
        let mut masters = cluster.nodes;
        let others = masters.split_off(1);
        let mut world = Self { prefixes: OF_A_CLUSTER, replicas, ..Self::of(bin, masters.remove(0)) };
        world.primaries.extend(others);
        world
    }

    /// All servers of a cluster.
    pub fn ports(&self) -> Vec<u16> {
        self.primaries.iter().chain(&self.replicas).map(Server::port).collect()
    }

    /// The primary of a hash tag.
    fn owner(&self, tag: &str) -> usize {
        let slot = slot(&self.primaries[0], tag);
        let owns = |node: &Server| call(&format!("CLUSTER COUNTKEYSINSLOT {slot}")).query::<u64>(&mut node.con());
        (0..self.primaries.len()).max_by_key(|&at| owns(&self.primaries[at]).unwrap_or(0)).expect("a master")
    }

    /// What the keys of a primary begin with.
    fn prefixes_of(&self, at: usize) -> Vec<&'static str> {
        let all = self.prefixes.iter().copied();
        all.filter(|prefix| self.primaries.len() == 1 || self.owner(prefix) == at).collect()
    }

    /// After the last call: the servers are up, what has a short window is gone, and replicas have what their primary has.
    ///
    /// # Errors
    /// What is not so.
    pub fn rests(&mut self) -> Result<(), String> {
        for server in self.primaries.iter_mut().chain(&mut self.replicas) {
            let log = server.log();
            if !server.is_running() || log.contains("panicked") || log.contains("BUG REPORT") {
                return Err(log);
            }
        }
        for primary in &self.primaries {
            let mut lasting = Vec::new();
            let gone = eventually(PATIENCE, || {
                let mut con = primary.con();
                let keys: Vec<String> = call("KEYS *").query(&mut con).expect("KEYS");
                let mut ttl = |key: &String| redis::cmd("PTTL").arg(key).query::<i64>(&mut con).expect("PTTL");
                lasting = keys.into_iter().map(|key| (ttl(&key), key)).filter(|(ttl, _)| *ttl < 600_000).collect();
                lasting.is_empty()
            });
            if !gone {
                return Err(format!("keys outlive their windows: {lasting:?}"));
            }
        }
        for (primary, replica) in self.primaries.iter().zip(&self.replicas) {
            wait_for_replica(primary, replica);
            if !eventually(PATIENCE, || digest(&mut primary.con()) == digest(&mut replica.con())) {
                return Err(format!("a replica does not have what its primary has:\n{}", replica.log()));
            }
        }
        Ok(())
    }
}

/// Kills the primary, or one of a cluster, and starts it again before any replica takes over.
pub fn kill(world: &mut World, random: &mut Random, history: &mut History) {
    history.happened("kill -9");
    let at = world.owner(random.pick(world.prefixes));
    let tags = if world.primaries.len() == 1 { vec![] } else { world.prefixes_of(at) };
    let primary = &mut world.primaries[at];
    primary.kill();
    history.kills.push(Kill { at_us: now_us(), tags, ..Kill::default() });
    primary.start_again();
    // A master of a cluster waits for two seconds before it serves its slots.
    let serves = eventually(PATIENCE, || {
        let state = call("CLUSTER INFO").query::<String>(&mut primary.con());
        state.map_or_else(|error| error.code() == Some("ERR"), |state| state.contains("cluster_state:ok"))
    });
    assert!(serves, "the primary does not come back:\n{}", primary.log());
    assert_eq!(info(&mut primary.con(), "role"), "master");
}

/// SIGSTOP for up to 300 ms.
pub fn stop(world: &mut World, random: &mut Random, history: &mut History) {
    history.happened("SIGSTOP");
    let server = &world.primaries[random.below(world.primaries.len() as u64) as usize];
    signal(server, Signal::SIGSTOP);
    thread::sleep(Duration::from_millis(20 + random.below(280)));
    signal(server, Signal::SIGCONT);
}

/// Sets `maxmemory` so low that nothing may grow, for up to 120 ms.
pub fn fill(world: &mut World, random: &mut Random, history: &mut History) {
    history.happened("maxmemory");
    let mut con = world.primaries[0].con();
    call("CONFIG SET maxmemory 1").exec(&mut con).expect("CONFIG SET");
    thread::sleep(Duration::from_millis(20 + random.below(100)));
    call("CONFIG SET maxmemory 0").exec(&mut con).expect("CONFIG SET");
}

pub fn close_connections(world: &mut World, _: &mut Random, history: &mut History) {
    history.happened("connections closed");
    tell(&world.primaries[0], &call("CLIENT KILL TYPE normal"));
}

/// Rewrites the AOF and saves. They wait for one another, so that a kill meets now the one and now the other.
pub fn write_files(world: &mut World, _: &mut Random, history: &mut History) {
    history.happened("BGREWRITEAOF, BGSAVE");
    tell(&world.primaries[0], &call("BGREWRITEAOF"));
    tell(&world.primaries[0], &call("BGSAVE SCHEDULE"));
}

/// The link between the two breaks: the replica gets the rest.
pub fn break_link(world: &mut World, _: &mut Random, history: &mut History) {
    history.happened("link broken");
    tell(&world.primaries[0], &call("CLIENT KILL TYPE replica"));
}

/// The replica is killed and begins with nothing: it gets everything.
pub fn replace_replica(world: &mut World, _: &mut Random, history: &mut History) {
    history.happened("replica replaced");
    let options = Options::new(&world.bin).durable().replica_of(&world.primaries[0]);
    world.replicas[0] = options.start();
}

/// The primary is killed and the replica takes its place, often without the last changes. The AOF of the old primary says
/// which those are. It then becomes the replica.
pub fn fail_over(world: &mut World, random: &mut Random, history: &mut History) {
    history.happened("failover");
    let promote = |replica: &Server| call("REPLICAOF NO ONE").exec(&mut replica.con()).expect("REPLICAOF");
    if random.below(2) == 0 {
        history.happened("replica cut off");
        // What the primary charges from now on is lost.
        promote(&world.replicas[0]);
        thread::sleep(Duration::from_millis(20 + random.below(80)));
    }
    world.primaries[0].kill();
    promote(&world.replicas[0]);
    let replaced = Replaced::by(&world.replicas[0], world.prefixes);
    world.port.store(world.replicas[0].port(), Ordering::Relaxed);
    world.primaries[0].start_again_with(|options| options.set("replicaof", "no one"));
    history.kills.push(replaced.kill(&world.primaries[0]));
    world.swap();
}

/// Moves a slot to another master, while clients call for its keys.
pub fn move_slot(world: &mut World, random: &mut Random, history: &mut History) {
    history.happened("slot moved");
    let tag = random.pick(world.prefixes);
    let from = world.owner(tag);
    let to = (from + 1 + random.below(2) as usize) % 3;
    let [from, to, other] = [from, to, 3 - from - to].map(|at| &world.primaries[at]);
    migrate_slot(slot(from, tag), from, to, &[other]);
}

impl World {
    /// The old primary becomes the replica.
    fn swap(&mut self) {
        let (old, new) = (&self.primaries[0], &self.replicas[0]);
        let follow = call(&format!("REPLICAOF 127.0.0.1 {}", new.port()));
        let told = eventually(PATIENCE, || connect(old.port()).is_ok_and(|mut con| follow.exec(&mut con).is_ok()));
        assert!(told, "REPLICAOF");
        let offset = |server: &Server, name| try_info(server.port(), name)?.parse::<u64>().ok();
        let mut sent = None;
        let in_step = eventually(PATIENCE, || {
            sent = sent.or_else(|| offset(new, "master_repl_offset"));
            try_info(old.port(), "master_link_status").is_some_and(|status| status == "up")
                && sent.is_some_and(|sent| offset(old, "slave_repl_offset").is_some_and(|offset| offset >= sent))
        });
        assert!(in_step, "the replica is not in step:\n{}", old.log());
        std::mem::swap(&mut self.primaries[0], &mut self.replicas[0]);
    }
}

fn signal(server: &Server, signal: Signal) {
    send_signal(Pid::from_raw(server.pid().cast_signed()), signal).expect("a process");
}

/// Sends a command until there is a reply: the server may close the connection meanwhile, and may reply an error.
fn tell(server: &Server, command: &Cmd) {
    let replied = |mut con: Connection| match command.query::<Value>(&mut con) {
        Err(error) if error.is_io_error() => Err(error),
        _ => Ok(()),
    };
    let sent = || -> RedisResult<()> { connect(server.port()).and_then(replied) };
    assert!(eventually(PATIENCE, || sent().is_ok()), "no reply:\n{}", server.log());
}

/// The slot of a hash tag.
fn slot(node: &Server, tag: &str) -> u16 {
    redis::cmd("CLUSTER").arg("KEYSLOT").arg(tag).query(&mut node.con()).unwrap_or(0)
}

/// What the server that takes the place of a primary counted then.
struct Replaced {
    at_us: u64,
    keys: Vec<(String, Limit)>,
    new: Vec<Count>,
}

impl Replaced {
    fn by(new: &Server, prefixes: &[&str]) -> Self {
        let keys: Vec<_> = prefixes.iter().copied().flat_map(long).collect();
        let new = counts(new, &keys);
        Self { at_us: now_us(), keys, new }
    }

    /// The end of the old primary, which counts what the new one lacks.
    fn kill(self, old: &Server) -> Kill {
        let old = counts(old, &self.keys);
        let counted =
            self.keys.into_iter().zip(old).zip(self.new).map(|(((key, _), old), new)| Counted { key, old, new });
        Kill { at_us: self.at_us, tags: vec![], counted: counted.collect() }
    }
}

/// How many units a server counts under each key, and when.
fn counts(server: &Server, keys: &[(String, Limit)]) -> Vec<Count> {
    let mut counts = Vec::new();
    let replied = eventually(PATIENCE, || {
        let Ok(mut con) = connect(server.port()) else { return false };
        peek(&mut con, keys).is_ok_and(|all| {
            counts = all;
            true
        })
    });
    assert!(replied, "RL.PEEK:\n{}", server.log());
    counts
}

/// The same over a connection.
pub fn peek(con: &mut Connection, keys: &[(String, Limit)]) -> RedisResult<Vec<Count>> {
    let mut peeks = redis::pipe();
    for (key, limit) in keys {
        peeks.cmd("RL.PEEK").arg(limit.algorithm).arg(key).arg(format!("{}ms", limit.window_ms)).arg(limit.limit);
        peeks.arg(&["COST", "0", "LINE"]);
    }
    let count = |((_, limit), reply): (&(String, Limit), Value)| {
        let full = line(reply);
        Count { units: limit.limit - full.remaining as u64, at_ms: full.now_ms as u64 }
    };
    Ok(keys.iter().zip(peeks.query::<Vec<Value>>(con)?).map(count).collect())
}
