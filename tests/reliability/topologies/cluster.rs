//! A cluster of three masters, of which the first has a replica.

use std::thread;
use std::time::{Duration, Instant};

use super::load::{Route, Seen};
use super::network::Network;
use super::table::check;
use super::{CALM, Measured, Node, TAG, measured, rounds, under_load, wait_until_in_step};
use crate::cmd;
use crate::support::{Options, PATIENCE, ServerBin, eventually, ok};

const NODE_TIMEOUT: u64 = 2_000;
/// For a node that has to be back before it is missed, on a busy machine too.
const LONG_NODE_TIMEOUT: u64 = 10_000;
const SLOTS: usize = 16_384;

struct Cluster<'n> {
    masters: Vec<Node<'n>>,
    /// Of the first.
    replica: Node<'n>,
}

fn text(node: &Node, of: &str) -> String {
    redis::cmd("CLUSTER").arg(of).query(&mut node.con()).expect("CLUSTER")
}

/// A master on each of three machines. The replica of the first is on the second.
fn start<'n>(network: &'n Network, bin: &ServerBin, node_timeout: u64) -> Cluster<'n> {
    let node = |machine| {
        let options = Options::new(bin).cluster().set("cluster-node-timeout", node_timeout);
        Node::start(network, machine, options.set("cluster-replica-validity-factor", 0))
    };
    let cluster = Cluster { masters: (0..3).map(node).collect(), replica: node(1) };
    for (at, master) in cluster.masters.iter().enumerate() {
        let slots = [at * SLOTS / 3, (at + 1) * SLOTS / 3 - 1];
        ok(redis::cmd("CLUSTER").arg("ADDSLOTSRANGE").arg(&slots).query(&mut master.con()));
        ok(cmd!(master.con(), "CLUSTER", "SET-CONFIG-EPOCH", at + 1));
    }
    let first = &cluster.masters[0];
    let mut last_met: Option<Instant> = None;
    let known = || {
        // A server forgets a handshake that takes longer than the node timeout.
        if last_met.is_none_or(|at| at.elapsed() > Duration::from_secs(3)) {
            last_met = Some(Instant::now());
            for node in cluster.masters[1..].iter().chain([&cluster.replica]) {
                let (port, bus) = (first.server.port(), first.server.bus_port());
                ok(cmd!(node.con(), "CLUSTER", "MEET", network.address(0), port, bus));
            }
        }
        cluster.masters.iter().chain([&cluster.replica]).all(|node| {
            let info = text(node, "INFO");
            info.contains("cluster_state:ok") && info.contains("cluster_known_nodes:4\r")
        })
    };
    assert!(eventually(PATIENCE, known), "the cluster does not come together:\n{}", first.server.log());
    ok(cmd!(cluster.replica.con(), "CLUSTER", "REPLICATE", text(first, "MYID")));
    wait_until_in_step(first, &cluster.replica);

    let known_to_all = || cluster.masters.iter().all(|node| text(node, "NODES").contains("slave"));
    assert!(eventually(PATIENCE, known_to_all), "no master knows the replica");
    let slot: usize = redis::cmd("CLUSTER").arg("KEYSLOT").arg(TAG).query(&mut first.con()).expect("a slot");
    assert!(slot < SLOTS / 3, "the keys are not the first master's");
    cluster
}

impl Cluster<'_> {
    fn route(&self) -> Route<'static> {
        let nodes = [&self.replica, &self.masters[1], &self.masters[2]];
        Route::Cluster(nodes.map(Node::address).to_vec())
    }

    fn wait_for_the_promotion(&self) {
        let promoted = || self.replica.is_primary() && text(&self.replica, "INFO").contains("cluster_state:ok");
        assert!(eventually(2 * PATIENCE, promoted), "no promotion:\n{}", self.replica.server.log());
    }

    fn overlap(&self, seen: &[Seen]) -> Duration {
        super::overlap(seen, &self.masters[0].address(), &self.replica.address())
    }
}

#[test]
fn a_master_is_killed() {
    rounds(|bin| {
        let network = Network::of(3);
        let mut cluster = start(&network, bin, NODE_TIMEOUT);
        let (seen, ..) = under_load(&network, &[(2, cluster.route())], || {
            cluster.masters[0].server.kill();
            cluster.wait_for_the_promotion();
            thread::sleep(CALM);
        });
        check("cluster", "master killed", network.how(), measured(&seen, &cluster.replica));
    });
}

#[test]
fn a_master_without_persistence_is_back_before_it_is_missed() {
    rounds(|bin| {
        let network = Network::of(3);
        let mut cluster = start(&network, bin, LONG_NODE_TIMEOUT);
        let (seen, began, ()) = under_load(&network, &[(2, cluster.route())], || {
            cluster.masters[0].server.kill();
            cluster.masters[0].start_again();
            thread::sleep(2 * CALM);
        });
        assert!(cluster.masters[0].is_primary(), "it was missed");
        wait_until_in_step(&cluster.masters[0], &cluster.replica);
        let figures = measured(&seen, &cluster.masters[0]);
        let figures = Measured { of: seen[0].allowed_before(began), ..figures };
        check("cluster", "master killed and started at once, `save \"\"`", network.how(), figures);
    });
}

/// The master, with a client beside it, is cut off until three seconds after the promotion.
#[test]
fn a_master_is_cut_off() {
    rounds(|bin| {
        let network = Network::of(3);
        let cluster = start(&network, bin, NODE_TIMEOUT);
        let old = &cluster.masters[0];
        let clients = [(2, cluster.route()), (0, Route::Server(old.address()))];
        let (seen, began, ()) = under_load(&network, &clients, || {
            let cut = network.cut(0, &old.server);
            cluster.wait_for_the_promotion();
            thread::sleep(Duration::from_secs(3));
            network.heal(cut);
            assert!(eventually(PATIENCE, || old.is_replica()), "no demotion:\n{}", old.server.log());
        });
        let last = seen[1].last_of(&old.address()).expect("the old master decided");
        println!("the old master went on for {:.1} s", last.saturating_duration_since(began).as_secs_f64());
        let figures = measured(&seen, &cluster.replica);
        let two = cluster.overlap(&seen);
        check("cluster", "partition of a master", network.how(), Measured { two, ..figures });
    });
}

#[test]
fn a_planned_switch_loses_nothing() {
    rounds(|bin| {
        let network = Network::of(3);
        let cluster = start(&network, bin, NODE_TIMEOUT);
        let (seen, ..) = under_load(&network, &[(2, cluster.route())], || {
            ok(cmd!(cluster.replica.con(), "CLUSTER", "FAILOVER"));
            cluster.wait_for_the_promotion();
            let demoted = || cluster.masters[0].is_replica();
            assert!(eventually(PATIENCE, demoted), "the old master does not follow");
        });
        let figures = measured(&seen, &cluster.replica);
        let two = cluster.overlap(&seen);
        check("cluster", "`CLUSTER FAILOVER`", network.how(), Measured { two, ..figures });
    });
}
