//! Several servers: replicas and clusters.

use std::time::{Duration, Instant};

use redis::Connection;

use super::{Options, PATIENCE, Server, ServerBin, cmd, eventually, info, ok, read, send};

const SLOTS: usize = 16_384;

/// Waits until the replica has everything that the master has executed before this call.
#[track_caller]
pub fn wait_for_replica(master: &Server, replica: &Server) {
    assert!(comes_in_step(&mut master.con(), &mut replica.con()), "the replica is not in step:\n{}", replica.log());
}

/// The same, by connections to both: whether it was in time.
pub fn comes_in_step(master: &mut Connection, replica: &mut Connection) -> bool {
    let offset = |con: &mut Connection, field| info(con, field).parse::<u64>().expect("an offset");
    let sent = offset(master, "master_repl_offset");
    eventually(PATIENCE, || info(replica, "master_link_status") == "up" && offset(replica, "slave_repl_offset") >= sent)
}

/// Gives each of the first nodes, the masters, an equal share of the slots, and lets all nodes know each other. `first` is
/// the host, the port and the bus port of the first node, and `con` connects to the node of a number. Whether they came
/// together.
pub fn come_together(masters: usize, nodes: usize, first: &str, con: impl Fn(usize) -> Connection) -> bool {
    let send = |at: usize, words: &str| _ = ok(send(&mut con(at), &format!("CLUSTER {words}")));
    for at in 0..masters {
        send(at, &format!("ADDSLOTSRANGE {} {}", at * SLOTS / masters, (at + 1) * SLOTS / masters - 1));
        // Each node gets its own epoch. With equal ones they would first have to resolve the conflict.
        send(at, &format!("SET-CONFIG-EPOCH {}", at + 1));
    }
    let mut last_met: Option<Instant> = None;
    eventually(PATIENCE, || {
        // A server forgets a handshake that takes longer than the node timeout, as on a busy machine.
        if last_met.is_none_or(|at| at.elapsed() > Duration::from_secs(3)) {
            last_met = Some(Instant::now());
            (1..nodes).for_each(|at| send(at, &format!("MEET {first}")));
        }
        (0..nodes).all(|at| {
            let info: String = read(ok(cmd!(con(at), "CLUSTER", "INFO")));
            let wanted = format!("cluster_known_nodes:{nodes}\r\ncluster_size:{masters}\r");
            info.contains("cluster_state:ok") && info.contains(&wanted)
        })
    })
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
        let address = format!("127.0.0.1 {} {}", first.port(), first.bus_port());
        assert!(come_together(size, size, &address, |at| cluster.nodes[at].con()), "no cluster:\n{}", first.log());
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
