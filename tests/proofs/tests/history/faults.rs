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
    Options, PATIENCE, Random, Server, ServerBin, call, digest, eventually, info, line, try_info, wait_for_replica,
};

/// What happens now and then.
pub type Fault = fn(&mut World, &mut Random, &mut History);

/// The servers of a history.
pub struct World {
    bin: ServerBin,
    pub primary: Server,
    pub replica: Server,
    /// Where the primary is.
    pub port: Arc<AtomicU16>,
}

impl World {
    /// A primary and its replica, whose AOF has each write on disk before its reply.
    pub fn pair(bin: &ServerBin) -> Self {
        let primary = Server::options(bin).durable().start();
        let replica = Options::new(bin).durable().replica_of(&primary).start();
        wait_for_replica(&primary, &replica);
        let port = Arc::new(AtomicU16::new(primary.port()));
        Self { bin: bin.clone(), primary, replica, port }
    }

    /// After the last call: the servers are up, what has a short window is gone, and replicas have what their primary has.
    ///
    /// # Errors
    /// What is not so.
    pub fn rests(&mut self) -> Result<(), String> {
        for server in [&mut self.primary, &mut self.replica] {
            let log = server.log();
            if !server.is_running() || log.contains("panicked") || log.contains("BUG REPORT") {
                return Err(log);
            }
        }
        let (primary, replica) = (&self.primary, &self.replica);
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
        wait_for_replica(primary, replica);
        if !eventually(PATIENCE, || digest(&mut primary.con()) == digest(&mut replica.con())) {
            return Err(format!("a replica does not have what its primary has:\n{}", replica.log()));
        }
        Ok(())
    }
}

/// Kills the primary, and starts it again before the replica takes over.
pub fn kill(world: &mut World, _: &mut Random, history: &mut History) {
    history.happened("kill -9");
    world.primary.kill();
    history.kills.push(Kill { at_us: now_us(), ..Kill::default() });
    world.primary.start_again();
    assert_eq!(info(&mut world.primary.con(), "role"), "master");
}

/// SIGSTOP for up to 300 ms.
pub fn stop(world: &mut World, random: &mut Random, history: &mut History) {
    history.happened("SIGSTOP");
    signal(&world.primary, Signal::SIGSTOP);
    thread::sleep(Duration::from_millis(20 + random.below(280)));
    signal(&world.primary, Signal::SIGCONT);
}

/// Sets `maxmemory` so low that nothing may grow, for up to 120 ms.
pub fn fill(world: &mut World, random: &mut Random, history: &mut History) {
    history.happened("maxmemory");
    let mut con = world.primary.con();
    call("CONFIG SET maxmemory 1").exec(&mut con).expect("CONFIG SET");
    thread::sleep(Duration::from_millis(20 + random.below(100)));
    call("CONFIG SET maxmemory 0").exec(&mut con).expect("CONFIG SET");
}

pub fn close_connections(world: &mut World, _: &mut Random, history: &mut History) {
    history.happened("connections closed");
    tell(&world.primary, &call("CLIENT KILL TYPE normal"));
}

/// Rewrites the AOF and saves. They wait for one another, so that a kill meets now the one and now the other.
pub fn write_files(world: &mut World, _: &mut Random, history: &mut History) {
    history.happened("BGREWRITEAOF, BGSAVE");
    tell(&world.primary, &call("BGREWRITEAOF"));
    tell(&world.primary, &call("BGSAVE SCHEDULE"));
}

/// The link between the two breaks: the replica gets the rest.
pub fn break_link(world: &mut World, _: &mut Random, history: &mut History) {
    history.happened("link broken");
    tell(&world.primary, &call("CLIENT KILL TYPE replica"));
}

/// The replica is killed and begins with nothing: it gets everything.
pub fn replace_replica(world: &mut World, _: &mut Random, history: &mut History) {
    history.happened("replica replaced");
    let options = Options::new(&world.bin).durable().replica_of(&world.primary);
    world.replica = options.start();
}

/// The primary is killed and the replica takes its place, often without the last changes. The AOF of the old primary says
/// which those are. It then becomes the replica.
pub fn fail_over(world: &mut World, random: &mut Random, history: &mut History) {
    history.happened("failover");
    let promote = |replica: &Server| call("REPLICAOF NO ONE").exec(&mut replica.con()).expect("REPLICAOF");
    if random.below(2) == 0 {
        history.happened("replica cut off");
        // What the primary charges from now on is lost.
        promote(&world.replica);
        thread::sleep(Duration::from_millis(20 + random.below(80)));
    }
    world.primary.kill();
    promote(&world.replica);
    let replaced = Replaced::by(&world.replica);
    world.port.store(world.replica.port(), Ordering::Relaxed);
    world.primary.start_again_with(|options| options.set("replicaof", "no one"));
    history.kills.push(replaced.kill(&world.primary));
    world.swap();
}

impl World {
    /// The old primary becomes the replica.
    fn swap(&mut self) {
        let (old, new) = (&self.primary, &self.replica);
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
        std::mem::swap(&mut self.primary, &mut self.replica);
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

/// What the server that takes the place of a primary counted then.
struct Replaced {
    at_us: u64,
    keys: Vec<(String, Limit)>,
    new: Vec<Count>,
}

impl Replaced {
    fn by(new: &Server) -> Self {
        let keys = long();
        let new = counts(new, &keys);
        Self { at_us: now_us(), keys, new }
    }

    /// The end of the old primary, which counts what the new one lacks.
    fn kill(self, old: &Server) -> Kill {
        let old = counts(old, &self.keys);
        let counted =
            self.keys.into_iter().zip(old).zip(self.new).map(|(((key, _), old), new)| Counted { key, old, new });
        Kill { at_us: self.at_us, counted: counted.collect() }
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
