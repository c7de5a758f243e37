//! Slots that the server itself moves to another node (Valkey 9: CLUSTER MIGRATESLOTS, Redis 8.4: CLUSTER MIGRATION)
//! take their limits along: while clients send requests, every key is allowed exactly its limit.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::support::*;
use redis::Connection;

const CLIENTS: u64 = 3;
/// How often the slots move.
const MOVES: usize = 4;
/// Of each algorithm and limit.
const KEYS: u64 = 8;
/// The first is reached, the second is not.
const LIMITS: [i64; 2] = [50, 1_000_000];
/// Half of the slots of the first of three nodes, which would become a replica if it had none left.
const SLOTS: [u16; 2] = [0, 2_730];

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Key {
    algorithm: usize,
    limit: i64,
    n: u64,
}

impl Key {
    fn request(self) -> redis::Cmd {
        let algorithm = &ALGORITHMS[self.algorithm];
        algorithm.request(&format!("{}:{}:{}", algorithm.name, self.limit, self.n), LONG, self.limit, 1)
    }
}

/// How many requests were allowed.
type Allowed = Mutex<BTreeMap<Key, i64>>;

/// Sends requests for random keys until it is done. Every request has a reply.
fn request_until(done: &AtomicBool, cluster: &Cluster, allowed: &Allowed, seed: u64) {
    let mut random = Random::new(seed);
    let mut con = cluster.client().get_connection().expect("a connection");
    while !done.load(Ordering::Relaxed) {
        let algorithm = random.below(ALGORITHMS.len() as u64) as usize;
        let key = Key { algorithm, limit: random.pick(&LIMITS), n: random.below(KEYS) };
        let [one, ..]: [i64; 3] = key.request().query(&mut con).unwrap_or_else(|error| panic!("{key:?}: {error}"));
        *allowed.lock().expect("a tally").entry(key).or_default() += one;
    }
}

fn node_id(node: &Server) -> String {
    redis::cmd("CLUSTER").arg("MYID").query(&mut node.con()).expect("CLUSTER MYID")
}

/// Moves the slots, and waits until both nodes know their new owner.
fn migrate(bin: &ServerBin, from: &Server, to: &Server) {
    let mut start = redis::cmd("CLUSTER");
    let mut status = redis::cmd("CLUSTER");
    let side = if bin.is_valkey() {
        start.arg("MIGRATESLOTS").arg("SLOTSRANGE").arg(&SLOTS).arg("NODE").arg(node_id(to));
        status.arg("GETSLOTMIGRATIONS");
        from
    } else {
        start.arg("MIGRATION").arg("IMPORT").arg(&SLOTS);
        status.arg("MIGRATION").arg("STATUS").arg("ALL");
        to
    };
    ok(start.query(&mut side.con()));
    let moved = eventually(PATIENCE, || [from, to].iter().all(|node| owner(&mut node.con()) == to.port()));
    assert!(moved, "{:?}\n{}", status.query::<redis::Value>(&mut side.con()), side.log());
}

/// The port of the owner of the first of the slots.
fn owner(con: &mut Connection) -> u16 {
    type Range = (u16, u16, (String, u16));
    let ranges: Vec<redis::Value> = redis::cmd("CLUSTER").arg("SLOTS").query(con).expect("CLUSTER SLOTS");
    let ranges = ranges.into_iter().map(|range| {
        let redis::Value::Array(mut parts) = range else { panic!("no range: {range:?}") };
        parts.truncate(3);
        let redis::Value::Array(node) = &mut parts[2] else { panic!("no node: {parts:?}") };
        node.truncate(2);
        read::<Range>(redis::Value::Array(parts))
    });
    let mut ranges = ranges.filter(|(first, ..)| *first == SLOTS[0]);
    ranges.next().map_or(0, |(_, _, (_, port))| port)
}

#[test]
fn every_key_is_allowed_exactly_its_limit_while_its_slot_moves() {
    for_each_server(|bin| {
        let version = (bin.version.0, bin.version.1);
        if version < if bin.is_valkey() { (9, 0) } else { (8, 4) } {
            let server = Server::options(bin).cluster().start();
            let mut con = server.con();
            for unknown in ["MIGRATESLOTS", "MIGRATION"] {
                assert!(err(cmd!(con, "CLUSTER", unknown)).contains("unknown subcommand"));
            }
            return;
        }
        let cluster = Cluster::start(bin, 3, |options| options);
        let [first, second, _] = cluster.nodes.as_slice() else { panic!("three nodes") };
        let allowed = Allowed::default();
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            let _done = Done(&done);
            let clients: Vec<_> = (0..CLIENTS)
                .map(|seed| {
                    let (done, cluster, allowed) = (&done, &cluster, &allowed);
                    scope.spawn(move || request_until(done, cluster, allowed, seed))
                })
                .collect();
            let count = || allowed.lock().expect("a tally").values().sum::<i64>();
            let (mut from, mut to) = (first, second);
            for _ in 0..MOVES {
                let before = count();
                thread::sleep(Duration::from_millis(200));
                migrate(bin, from, to);
                assert!(count() > before && !clients.iter().any(|client| client.is_finished()), "no traffic");
                (from, to) = (to, from);
            }
        });
        let mut con = cluster.client().get_connection().expect("a connection");
        let mut keys = 0;
        for (key, allowed) in allowed.into_inner().expect("a tally") {
            keys += 1;
            // One request more, if the limit has room for it.
            let now = full(ok(key.request().arg("FULL").query(&mut con)));
            assert_eq!(allowed + now.allowed + now.remaining, key.limit, "{key:?}: {allowed} allowed, then {now:?}");
        }
        assert_eq!(keys, ALGORITHMS.len() as u64 * KEYS * LIMITS.len() as u64);
    });
}
