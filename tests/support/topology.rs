//! Several servers: replicas and clusters.

use std::time::{Duration, Instant};

use redis::Connection;

use super::{Options, PATIENCE, Server, ServerBin, cmd, eventually, info, ok};

const SLOTS: usize = 16_384;

/// Waits until the replica has everything that the master has executed before this call.
#[track_caller]
pub fn wait_for_replica(master: &Server, replica: &Server) {
    let offset = |con: &mut Connection, field| info(con, field).parse::<u64>().expect("an offset");
    let sent = offset(&mut master.con(), "master_repl_offset");
    let mut con = replica.con();
    let in_step = eventually(PATIENCE, || {
        info(&mut con, "master_link_status") == "up" && offset(&mut con, "slave_repl_offset") >= sent
    });
    assert!(in_step, "the replica is not in step:\n{}", replica.log());
}

/// Masters with an equal share of the slots, in order.
pub struct Cluster {
    pub nodes: Vec<Server>,
}

impl Cluster {
    /// Starts the nodes. `options` changes the options of each: `Cluster::start(bin, 3, |options| options)`.
    pub fn start(bin: &ServerBin, size: usize, options: impl Fn(Options) -> Options) -> Self {
        let start = |_| options(Options::new(bin).cluster()).start();
        let cluster = Self { nodes: (0..size).map(start).collect() };
        let first = &cluster.nodes[0];
        for (at, node) in cluster.nodes.iter().enumerate() {
            let mut con = node.con();
            let slots = [at * SLOTS / size, (at + 1) * SLOTS / size - 1];
            let added = redis::cmd("CLUSTER").arg("ADDSLOTSRANGE").arg(&slots).exec(&mut con);
            added.expect("CLUSTER ADDSLOTSRANGE");
            // Each node gets its own epoch. With equal ones they would first have to resolve the conflict.
            let set = redis::cmd("CLUSTER").arg("SET-CONFIG-EPOCH").arg(at + 1).exec(&mut con);
            set.expect("CLUSTER SET-CONFIG-EPOCH");
        }
        let mut last_met: Option<Instant> = None;
        let ready = eventually(PATIENCE, || {
            // A server forgets a handshake that takes longer than the node timeout, as on a busy machine.
            if last_met.is_none_or(|at| at.elapsed() > Duration::from_secs(3)) {
                last_met = Some(Instant::now());
                for node in &cluster.nodes[1..] {
                    let mut meet = redis::cmd("CLUSTER");
                    meet.arg("MEET").arg("127.0.0.1").arg(first.port()).arg(first.bus_port());
                    meet.exec(&mut node.con()).expect("CLUSTER MEET");
                }
            }
            cluster.nodes.iter().all(|node| {
                let state: String = redis::cmd("CLUSTER").arg("INFO").query(&mut node.con()).expect("CLUSTER INFO");
                state.contains("cluster_state:ok") && state.contains(&format!("cluster_size:{size}\r"))
            })
        });
        assert!(ready, "the cluster does not come together:\n{}", first.log());
        cluster
    }

    /// The node that owns the key's slot.
    pub fn owner(&self, key: impl AsRef<[u8]>) -> &Server {
        let slot: usize = redis::cmd("CLUSTER")
            .arg("KEYSLOT")
            .arg(key.as_ref())
            .query(&mut self.nodes[0].con())
            .expect("CLUSTER KEYSLOT");
        let size = self.nodes.len();
        let owns = |at: &usize| slot < (at + 1) * SLOTS / size;
        &self.nodes[(0..size).find(owns).expect("every slot has an owner")]
    }

    /// A client that follows redirections.
    pub fn client(&self) -> redis::cluster::ClusterClient {
        let urls = self.nodes.iter().map(|node| format!("redis://127.0.0.1:{}", node.port()));
        redis::cluster::ClusterClient::new(urls.collect::<Vec<_>>()).expect("a client")
    }

    /// A replica for each master.
    #[track_caller]
    pub fn start_replicas(&self, bin: &ServerBin, options: impl Fn(Options) -> Options) -> Vec<Server> {
        let replicas: Vec<Server> = self.nodes.iter().map(|_| options(Options::new(bin).cluster()).start()).collect();
        let first = &self.nodes[0];
        for replica in &replicas {
            ok(cmd!(replica.con(), "CLUSTER", "MEET", "127.0.0.1", first.port(), first.bus_port()));
        }
        for (master, replica) in self.nodes.iter().zip(&replicas) {
            let id: String = redis::cmd("CLUSTER").arg("MYID").query(&mut master.con()).expect("CLUSTER MYID");
            let mut con = replica.con();
            let replicates = eventually(PATIENCE, || cmd!(con, "CLUSTER", "REPLICATE", &id).is_ok());
            assert!(replicates, "the replica does not hear of its master");
            wait_for_replica(master, replica);
        }
        // A master that does not know its replica yet would be missed by nobody.
        for node in self.nodes.iter().chain(&replicas) {
            let mut con = node.con();
            let known = eventually(PATIENCE, || {
                let all: String = redis::cmd("CLUSTER").arg("NODES").query(&mut con).expect("CLUSTER NODES");
                all.lines().filter(|line| line.contains("slave")).count() == replicas.len()
                    && !all.contains("handshake")
            });
            assert!(known, "the nodes do not come to know each other");
        }
        replicas
    }
}

/// Moves a slot with all its keys, as redis-cli does.
#[track_caller]
pub fn migrate_slot(slot: u16, from: &Server, to: &Server, others: &[&Server]) {
    let id =
        |node: &Server| -> String { redis::cmd("CLUSTER").arg("MYID").query(&mut node.con()).expect("CLUSTER MYID") };
    let (from_id, to_id) = (id(from), id(to));
    // From Valkey 8 on, the replicas must have it within two seconds.
    let set_slot = |node: &Server, state: &str, id: &str| {
        let set = eventually(PATIENCE, || match cmd!(node.con(), "CLUSTER", "SETSLOT", slot, state, id) {
            Err(error) if error.code() == Some("NOREPLICAS") => false,
            set => {
                ok(set);
                true
            }
        });
        assert!(set, "the replicas stay behind");
    };
    set_slot(to, "IMPORTING", &from_id);
    set_slot(from, "MIGRATING", &to_id);
    loop {
        let keys: Vec<String> =
            redis::cmd("CLUSTER").arg("GETKEYSINSLOT").arg(slot).arg(10).query(&mut from.con()).expect("GETKEYSINSLOT");
        if keys.is_empty() {
            break;
        }
        // REPLACE, since a fixed window that is asked meanwhile begins to count anew where it goes.
        // While a master is away, the cluster may be down for a moment: the keys are then moved once it is back.
        let moved = eventually(PATIENCE, || {
            let keys = keys.clone();
            match cmd!(from.con(), "MIGRATE", "127.0.0.1", to.port(), "", 0, 10_000, "REPLACE", "KEYS", keys) {
                Err(error) if error.code() == Some("CLUSTERDOWN") => false,
                moved => {
                    ok(moved);
                    true
                }
            }
        });
        assert!(moved, "the cluster stays down");
    }
    for node in [&[to, from], others].concat() {
        set_slot(node, "NODE", &to_id);
    }
}
