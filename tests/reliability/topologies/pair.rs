//! One server, and one primary with one replica, without anything that promotes it.

use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use super::load::Route;
use super::network::Network;
use super::table::check;
use super::{CALM, Measured, Node, measured, overlap, rounds, under_load, wait_until_in_step};
use crate::support::{Options, PATIENCE, ServerBin, eventually, ok};
use crate::{assert_sound, cmd};

const AWAY: Duration = Duration::from_secs(1);
const PARTITION: Duration = Duration::from_secs(4);

/// What a server keeps when it ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    Everything,
    Nothing,
}

/// A server that ends and is started again after a second. `replicas` of it are there.
fn restart(topology: &str, fault: &str, kept: Kept, replica: bool, end: fn(&mut Node)) {
    let options =
        |bin: &ServerBin| Options::new(bin).set("appendonly", if kept == Kept::Everything { "yes" } else { "no" });
    rounds(|bin| {
        let network = Network::of(1);
        let mut primary = Node::start(&network, 0, options(bin));
        let replica = replica.then(|| {
            let options = options(bin).set("replicaof", primary.replicaof());
            let replica = Node::start(&network, 0, options);
            wait_until_in_step(&primary, &replica);
            replica
        });
        let client = (0, Route::Server(primary.address()));
        let (seen, began, ()) = under_load(&network, &[client], || {
            end(&mut primary);
            thread::sleep(AWAY);
            primary.start_again();
        });
        let mut figures = measured(&seen, &primary);
        if let Some(replica) = &replica {
            wait_until_in_step(&primary, replica);
            let of_the_replica = measured(&seen, replica);
            assert_eq!(of_the_replica.lost, figures.lost, "the replica does not have what the primary has");
        }
        // The second was ours.
        figures.failing = figures.failing.saturating_sub(AWAY);
        if kept == Kept::Nothing {
            figures.of = seen[0].allowed_before(began);
        }
        check(topology, fault, "kill", figures);
        assert_sound_at(&mut primary);
    });
}

fn assert_sound_at(node: &mut Node) {
    let (network, machine, server) = (node.network, node.machine, &mut node.server);
    network.at(machine, || assert_sound(server));
}

fn kill(node: &mut Node) {
    node.server.kill();
}

#[test]
fn one_server_killed_with_an_append_only_file() {
    restart("one server", "killed and started, `appendonly yes`", Kept::Everything, false, kill);
}

#[test]
fn one_server_killed_without_persistence() {
    restart("one server", "killed and started, `save \"\"`", Kept::Nothing, false, kill);
}

#[test]
fn one_server_restarted() {
    restart("one server", "SHUTDOWN and started, `appendonly yes`", Kept::Everything, false, |node| {
        let (network, machine, server) = (node.network, node.machine, &mut node.server);
        network.at(machine, || server.shutdown("NOSAVE"));
    });
}

#[test]
fn a_primary_killed_with_an_append_only_file() {
    restart("replica", "primary killed and started, `appendonly yes`", Kept::Everything, true, kill);
}

/// The replica copies the empty primary.
#[test]
fn a_primary_killed_without_persistence_empties_its_replica() {
    restart("replica", "primary killed and started, `save \"\"`", Kept::Nothing, true, kill);
}

#[test]
fn one_server_that_clients_do_not_reach() {
    rounds(|bin| {
        let network = Network::of(2);
        let server = Node::start(&network, 0, Options::new(bin));
        let (seen, _, ()) = under_load(&network, &[(1, Route::Server(server.address()))], || {
            let cut = network.cut(0, &server.server);
            thread::sleep(PARTITION);
            network.heal(cut);
        });
        let mut figures = measured(&seen, &server);
        assert!(figures.failing >= PARTITION, "{:?}: there was no partition", figures.failing);
        figures.failing -= PARTITION;
        check("one server", "partition from its clients", network.how(), figures);
    });
}

/// A partition between the primary, which has its clients, and the replica.
fn parted(fault: &str, min_replicas_max_lag: Option<u64>) {
    rounds(|bin| {
        let network = Network::of(2);
        let mut options = Options::new(bin);
        if let Some(lag) = min_replicas_max_lag {
            options = options.set("min-replicas-to-write", 1).set("min-replicas-max-lag", lag);
        }
        let primary = Node::start(&network, 0, options);
        let replica = Node::start(&network, 1, Options::new(bin).set("replicaof", primary.replicaof()));
        wait_until_in_step(&primary, &replica);
        let ready = || cmd!(primary.con(), "RL.TOKEN", "ready", "1m", 5).is_ok();
        assert!(eventually(PATIENCE, ready), "the primary does not know its replica");
        let (seen, ..) = under_load(&network, &[(0, Route::Server(primary.address()))], || {
            let cut = network.cut(1, &replica.server);
            thread::sleep(PARTITION);
            network.heal(cut);
            assert!(eventually(PATIENCE, ready), "the primary does not come back");
        });
        wait_until_in_step(&primary, &replica);
        let mut figures = measured(&seen, &primary);
        assert_eq!(measured(&seen, &replica).lost, 0, "the replica lacks something");
        if min_replicas_max_lag.is_some() {
            assert!(seen[0].errors.contains_key("NOREPLICAS"), "{:?}", seen[0].errors);
            figures.failing = figures.failing.saturating_sub(PARTITION);
        } else {
            assert!(seen[0].errors.is_empty(), "{:?}", seen[0].errors);
        }
        check("replica", fault, network.how(), figures);
    });
}

#[test]
fn a_replica_is_not_reached() {
    parted("partition between the two", None);
}

#[test]
fn a_replica_is_not_reached_and_the_primary_needs_it() {
    parted("partition between the two, `min-replicas-max-lag 2`", Some(2));
}

/// FAILOVER behind an address that moves: open connections stay where they are until they are killed.
#[test]
fn a_planned_failover_loses_nothing_and_keeps_connections() {
    rounds(|bin| {
        let network = Network::of(2);
        let old = Node::start(&network, 0, Options::new(bin));
        let new = Node::start(&network, 1, Options::new(bin).set("replicaof", old.replicaof()));
        wait_until_in_step(&old, &new);
        let current = Mutex::new(old.address());
        let address = || current.lock().expect("an address").clone();
        let (seen, _, killed) = under_load(&network, &[(1, Route::StableAddress(&address))], || {
            ok(cmd!(old.con(), "FAILOVER"));
            assert!(eventually(PATIENCE, || new.is_primary() && old.is_replica()), "no failover");
            *current.lock().expect("an address") = new.address();
            // As long as nobody does anything, the client stays.
            thread::sleep(CALM);
            let killed = Instant::now();
            ok(cmd!(old.con(), "CLIENT", "KILL", "TYPE", "normal"));
            killed
        });
        assert!(seen[0].errors.get("READONLY").is_some_and(|&count| count > 20), "{:?}", seen[0].errors);
        let first = seen[0].first_of(&new.address()).expect("the new primary decides");
        let figures = measured(&seen, &new);
        let two = overlap(&seen, &old.address(), &new.address());
        let failing = first.checked_duration_since(killed).expect("connections stay until they are killed");
        check("replica", "`FAILOVER`", network.how(), Measured { failing, two, ..figures });
    });
}
