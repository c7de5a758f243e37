//! A cluster under load loses a master and moves slots at the same time: its replica goes on where the master stopped,
//! every key lies where its slot is, and no limit is exceeded by more than what no replica had heard of. And replicas
//! that were away come to have the same again.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use redis::cluster::ClusterConnection;
use redis::{Connection, Value};

use crate::support::{
    Cluster, Options, PATIENCE, Random, Server, digest, eventually, for_each_server, info, migrate_slot, ok,
    wait_for_replica,
};
use crate::{ALGORITHMS, Done, LONG, assert_sound, cmd, each, report};

const SLOTS: u16 = 16_384;
const CLIENTS: u64 = 6;
/// Of each algorithm.
const KEYS: u64 = 40;
/// So many of every key are admitted soon, and so many never.
const LIMITS: [u64; 2] = [30, 1_000_000];

/// What clients were told, by key: how much was admitted, and how much may have been, since no answer came.
type Tally = BTreeMap<String, [u64; 2]>;

fn nodes(options: Options) -> Options {
    options.set("cluster-node-timeout", 1_500).set("cluster-replica-validity-factor", 0)
}

fn connect(cluster: &Cluster) -> ClusterConnection {
    cluster.client().get_connection().expect("a connection")
}

/// Asks for random keys until it is done.
fn ask_until(done: &AtomicBool, cluster: &Cluster, tally: &Mutex<Tally>, seed: u64) {
    let mut random = Random::new(seed);
    let mut con = connect(cluster);
    while !done.load(Ordering::Relaxed) {
        let algorithm = random.pick(&ALGORITHMS);
        let limit = random.pick(&LIMITS);
        let key = format!("{algorithm}:{limit}:{}", random.below(KEYS));
        let mut request = redis::cmd(&format!("RL.{algorithm}"));
        let reply: redis::RedisResult<[u64; 3]> = request.arg(&key).arg(LONG).arg(limit).query(&mut con);
        let mut tally = tally.lock().expect("a tally");
        let [admitted, unknown] = tally.entry(key).or_default();
        match reply {
            Ok([allowed, _, _]) => *admitted += allowed,
            // Nobody knows what became of it; a client that tries again by itself may have been charged each time.
            Err(_) => {
                *unknown += 1;
                drop(tally);
                thread::sleep(Duration::from_millis(20));
            }
        }
    }
}

fn slot(con: &mut Connection, key: &str) -> u16 {
    redis::cmd("CLUSTER").arg("KEYSLOT").arg(key).query(con).expect("CLUSTER KEYSLOT")
}

fn slots_of(node: &Server) -> Vec<u16> {
    let all: String = redis::cmd("CLUSTER").arg("NODES").query(&mut node.con()).expect("CLUSTER NODES");
    let me = all.lines().find(|line| line.contains("myself")).expect("this node");
    let ranges = me.split(' ').skip(8).filter(|range| !range.starts_with('['));
    let ends = ranges.map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        (first.parse::<u16>().expect("a slot"), last.parse::<u16>().expect("a slot"))
    });
    ends.flat_map(|(first, last)| first..=last).collect()
}

/// What is counted of a key, asked at the node that has it, without counting.
fn taken(con: &mut ClusterConnection, key: &str) -> u64 {
    let (algorithm, rest) = key.split_once(':').expect("a key");
    let limit: u64 = rest.split(':').next().expect("a limit").parse().expect("a limit");
    let mut peek = redis::cmd("RL.PEEK");
    let figures: Vec<Value> =
        peek.arg(algorithm).arg(key).arg(LONG).arg(limit).arg("FULL").query(con).expect("RL.PEEK");
    let figure = |at: usize| redis::from_redis_value_ref::<u64>(&figures[2 * at + 1]).expect("a figure");
    limit - figure(0) - figure(4)
}

fn limit_of(key: &str) -> u64 {
    key.split(':').nth(1).expect("a limit").parse().expect("a limit")
}

#[test]
fn failover_and_resharding_at_once_lose_nothing_that_was_replicated() {
    for_each_server(|bin| {
        let mut cluster = Cluster::start(bin, 3, nodes);
        let mut replicas = cluster.start_replicas(bin, nodes);
        let tally = Mutex::new(Tally::new());
        let done = AtomicBool::new(false);
        let (before, at_kill, moved) = thread::scope(|scope| {
            let finish = Done(&done);
            let (done, tally, shared) = (&done, &tally, &cluster);
            for n in 0..CLIENTS {
                scope.spawn(move || ask_until(done, shared, tally, n));
            }
            thread::sleep(each() / 4);

            let asked = tally.lock().expect("a tally").clone();
            // Slots of our keys go from the first to the second master while the third is killed.
            let mut con = cluster.nodes[0].con();
            let first = slots_of(&cluster.nodes[0]);
            let of_key = |name: &String| slot(&mut con, name);
            let mut slots: Vec<u16> = asked.keys().map(of_key).filter(|slot| first.contains(slot)).collect();
            slots.sort_unstable();
            slots.dedup();
            slots.truncate(24);
            assert!(slots.len() >= 10, "{slots:?}");
            let (half, rest) = slots.split_at(slots.len() / 2);
            for &slot in half {
                migrate_slot(slot, &cluster.nodes[0], &cluster.nodes[1], &[&cluster.nodes[2]]);
            }
            // What is answered by now is with the replicas soon.
            let before = tally.lock().expect("a tally").clone();
            for (master, replica) in cluster.nodes.iter().zip(&replicas) {
                wait_for_replica(master, replica);
            }
            kill(Pid::from_raw(cluster.nodes[2].pid().cast_signed()), Signal::SIGKILL).expect("a process");
            let at_kill = tally.lock().expect("a tally").clone();
            for &slot in rest {
                migrate_slot(slot, &cluster.nodes[0], &cluster.nodes[1], &[]);
            }
            let mut con = replicas[2].con();
            let taken_over = eventually(2 * PATIENCE, || {
                let role: Vec<Value> = redis::cmd("ROLE").query(&mut con).expect("ROLE");
                let state: String = redis::cmd("CLUSTER").arg("INFO").query(&mut con).expect("CLUSTER INFO");
                role[0] == Value::BulkString(b"master".to_vec()) && state.contains("cluster_state:ok")
            });
            assert!(taken_over, "no replica takes over:\n{}", replicas[2].log());
            thread::sleep(each() / 4);
            drop(finish);
            (before, at_kill, slots)
        });
        // Its process is gone.
        drop(std::mem::replace(&mut cluster.nodes[2], replicas.remove(2)));
        let tally = tally.into_inner().expect("a tally");

        // Everyone knows whose the slots are.
        for node in &cluster.nodes {
            let mut con = node.con();
            let settled = eventually(PATIENCE, || {
                let state: String = redis::cmd("CLUSTER").arg("INFO").query(&mut con).expect("CLUSTER INFO");
                state.contains("cluster_state:ok")
            });
            assert!(settled, "the cluster is down:\n{}", node.log());
        }
        assert_eq!(cluster.nodes.iter().map(|node| slots_of(node).len()).sum::<usize>(), usize::from(SLOTS));
        let mut keys = 0;
        for node in &cluster.nodes {
            let mut con = node.con();
            let own = slots_of(node);
            let all: Vec<String> = redis::cmd("KEYS").arg("*").query(&mut con).expect("KEYS");
            for key in all {
                let slot = slot(&mut con, &key);
                assert!(own.contains(&slot), "{key} lies in slot {slot}, which is another node's");
                keys += 1;
            }
        }
        assert!(keys >= tally.len(), "{keys} keys of {}", tally.len());

        let mut con = connect(&cluster);
        let mut plain = cluster.nodes[0].con();
        let mut exceeded = 0;
        for (key, [admitted, unknown]) in &tally {
            let told = |tally: &Tally| tally.get(key).map_or(0, |[admitted, _]| *admitted);
            let found = taken(&mut con, key);
            // While its slot moves a fixed window begins to count anew where it goes: the server looks for the key as
            // given, which is never there, and not for the counter.
            let restarted = key.starts_with("FIXED") && moved.contains(&slot(&mut plain, key));
            if !restarted {
                assert!(found >= told(&before).min(limit_of(key)), "{key}: {found} of {} replicated", told(&before));
            }
            // Answered between the look and the kill, and perhaps heard of by no replica; and one of each client.
            let lost = told(&at_kill) - told(&before) + CLIENTS;
            let most = limit_of(key) * if restarted { 2 } else { 1 } + lost;
            assert!(*admitted <= most, "{key}: {admitted} admitted, at most {lost} of them lost");
            assert!(
                found <= admitted + unknown * 20 + CLIENTS || key.starts_with("FIXED"),
                "{key}: {found} of {admitted}"
            );
            exceeded += admitted.saturating_sub(limit_of(key));
        }
        for node in cluster.nodes.iter_mut().chain(&mut replicas) {
            assert_sound(node);
        }
        let admitted: u64 = tally.values().map(|[admitted, _]| admitted).sum();
        report(&format!("{admitted} admitted, {exceeded} of them over limits, {} slots moved", moved.len()));
    });
}

/// A replica whose link broke gets the rest, one that was away gets everything, and both have what the master has.
#[test]
fn a_replica_that_was_away_comes_to_have_the_same() {
    for_each_server(|bin| {
        let mut master = Server::options(bin).set("repl-backlog-size", "10mb").start();
        let mut replica = Server::options(bin).replica_of(&master).start();
        wait_for_replica(&master, &replica);
        let done = AtomicBool::new(false);
        let synced = |field: &str| info(&mut master.con(), field).parse::<u64>().expect("a count");
        let [partial, full] = thread::scope(|scope| {
            let finish = Done(&done);
            for n in 0..2 {
                let (done, mut con) = (&done, master.con());
                scope.spawn(move || {
                    let mut random = Random::new(n);
                    while !done.load(Ordering::Relaxed) {
                        let mut request = redis::cmd(&format!("RL.{}", random.pick(&ALGORITHMS)));
                        request.arg(random.below(1_000)).arg(random.pick(&["300ms", "10s", "1h"])).arg(20);
                        // Keys are shared by all algorithms here: some are of the wrong type.
                        let _ = request.query::<Value>(&mut con);
                    }
                });
            }
            let end = Instant::now() + each() / 2;
            while Instant::now() < end {
                let before = synced("sync_partial_ok");
                ok(cmd!(master.con(), "CLIENT", "KILL", "TYPE", "replica"));
                assert!(eventually(PATIENCE, || synced("sync_partial_ok") > before), "no partial resynchronisation");
                thread::sleep(Duration::from_millis(50));
            }
            let before = synced("sync_full");
            replica.kill();
            // Else it would go on from what it had then.
            let _ = fs::remove_file(replica.dir().join("dump.rdb"));
            replica.start_again();
            assert!(eventually(PATIENCE, || synced("sync_full") > before), "no full resynchronisation");
            thread::sleep(each() / 4);
            drop(finish);
            [synced("sync_partial_ok"), synced("sync_full")]
        });
        // What ends while they are compared is gone from the one earlier than from the other.
        let same = eventually(PATIENCE, || {
            wait_for_replica(&master, &replica);
            digest(&mut replica.con()) == digest(&mut master.con())
        });
        assert!(same, "the replica has something else");
        assert_sound(&mut master);
        assert_sound(&mut replica);
        report(&format!("{partial} partial and {full} full resynchronisations"));
    });
}
