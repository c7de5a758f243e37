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
}
