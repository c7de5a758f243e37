//! A primary, a replica and three Sentinels, each on a machine of its own or beside a server.

use std::thread;
use std::time::{Duration, Instant};

use super::load::Route;
use super::network::Network;
use super::table::check;
use super::{CALM, Measured, Node, measured, overlap, rounds, under_load, wait_until_in_step};
use crate::cmd;
use crate::support::{Options, ServerBin, eventually, ok};

/// After how many milliseconds without a reply a Sentinel misses the primary.
const DOWN_AFTER: u64 = 2_000;
/// For a primary that has to be back before it is missed, on a busy machine too.
const LONG_DOWN_AFTER: u64 = 10_000;
/// After a failover, Sentinels look at the old primary now and then only.
const LONG: Duration = Duration::from_secs(40);

struct Watched<'n> {
    old: Node<'n>,
    new: Node<'n>,
    sentinels: Vec<Node<'n>>,
}

/// The primary is on machine 0, the replica on machine 1, and a Sentinel on each of the three.
fn start<'n>(
    network: &'n Network,
    bin: &ServerBin,
    down_after: u64,
    options: impl Fn(Options) -> Options,
) -> Watched<'n> {
    let old = Node::start(network, 0, options(Options::new(bin)));
    let new = Node::start(network, 1, options(Options::new(bin)).set("replicaof", old.replicaof()));
    wait_until_in_step(&old, &new);
    let run = ["sh", "-c", "> sentinel.conf; exec \"$0\" sentinel.conf --sentinel \"$@\""];
    let sentinel = |machine| Node::start(network, machine, Options::new(bin).without_module().under(&run));
    let sentinels: Vec<Node> = (0..3).map(sentinel).collect();
    for sentinel in &sentinels {
        let mut con = sentinel.con();
        ok(cmd!(con, "SENTINEL", "MONITOR", "limits", network.address(0), old.server.port(), 2));
        ok(cmd!(con, "SENTINEL", "SET", "limits", "down-after-milliseconds", down_after));
        // Else a second failover of the same test waits for minutes. After an election that nobody won, the next one comes
        // after twice this time.
        ok(cmd!(con, "SENTINEL", "SET", "limits", "failover-timeout", 2_500));
    }
    let known = |sentinel: &Node| {
        let figures: Vec<String> =
            redis::cmd("SENTINEL").arg("MASTER").arg("limits").query(&mut sentinel.con()).expect("SENTINEL MASTER");
        let figure = |name: &str| figures.iter().skip_while(|field| *field != name).nth(1).cloned();
        figure("num-slaves").as_deref() == Some("1") && figure("num-other-sentinels").as_deref() == Some("2")
    };
    // A Sentinel looks for replicas and for others every ten and every two seconds.
    assert!(eventually(LONG, || sentinels.iter().all(known)), "the Sentinels do not know each other");
    Watched { old, new, sentinels }
}

impl Watched<'_> {
    fn route(&self, of: &[usize]) -> Route<'static> {
        Route::Sentinels(of.iter().map(|&at| self.sentinels[at].address()).collect())
    }

    fn wait_for_the_promotion(&self) {
        assert!(eventually(LONG, || self.new.is_primary()), "no promotion:\n{}", self.sentinels[1].server.log());
    }

    fn wait_for_the_demotion(&self) {
        assert!(eventually(LONG, || self.old.is_replica()), "no demotion:\n{}", self.sentinels[1].server.log());
    }

    /// `SENTINEL FAILOVER` until Sentinels name the new primary, and the moment from which that one decides.
    fn fail_over(&self, coordinated: bool) -> Instant {
        let mut con = self.sentinels[1].con();
        let mut command = redis::cmd("SENTINEL");
        command.arg("FAILOVER").arg("limits");
        if coordinated {
            command.arg("COORDINATED");
        }
        ok(command.query(&mut con));
        self.wait_for_the_promotion();
        let promoted = Instant::now();
        let new = [self.new.network.address(1), self.new.server.port().to_string()];
        let named = || {
            let mut name = redis::cmd("SENTINEL");
            name.arg("GET-MASTER-ADDR-BY-NAME").arg("limits").query::<[String; 2]>(&mut con).is_ok_and(|now| now == new)
        };
        assert!(eventually(LONG, named), "the Sentinels name nobody else:\n{}", self.sentinels[1].server.log());
        promoted
    }
}

#[test]
fn a_primary_is_killed() {
    rounds(|bin| {
        let network = Network::of(3);
        let mut all = start(&network, bin, DOWN_AFTER, |options| options);
        let (seen, ..) = under_load(&network, &[(2, all.route(&[1, 2]))], || {
            all.old.server.kill();
            all.wait_for_the_promotion();
            thread::sleep(CALM);
        });
        check("Sentinel", "primary killed", network.how(), measured(&seen, &all.new));
    });
}

/// Nobody misses a primary that is back in time. It is empty, and so is the replica then.
#[test]
fn a_primary_without_persistence_is_back_before_it_is_missed() {
    rounds(|bin| {
        let network = Network::of(3);
        let mut all = start(&network, bin, LONG_DOWN_AFTER, |options| options);
        let (seen, began, ()) = under_load(&network, &[(2, all.route(&[1, 2]))], || {
            all.old.server.kill();
            all.old.start_again();
            thread::sleep(CALM);
        });
        wait_until_in_step(&all.old, &all.new);
        assert!(all.old.is_primary(), "it was missed");
        let figures = measured(&seen, &all.new);
        let figures = Measured { of: seen[0].allowed_before(began), ..figures };
        check("Sentinel", "primary killed and started at once, `save \"\"`", network.how(), figures);
    });
}

/// The primary, with a client and a Sentinel beside it, is cut off until three seconds after the promotion.
fn partition(fault: &str, min_replicas_max_lag: Option<u64>) {
    rounds(|bin| {
        let network = Network::of(3);
        let all = start(&network, bin, DOWN_AFTER, |options| match min_replicas_max_lag {
            Some(lag) => options.set("min-replicas-to-write", 1).set("min-replicas-max-lag", lag),
            None => options,
        });
        if min_replicas_max_lag.is_some() {
            // What the new primary lacks after the failover is its replica; that is not what is measured here.
            ok(cmd!(all.new.con(), "CONFIG", "SET", "min-replicas-to-write", 0));
        }
        let clients = [(2, all.route(&[1, 2])), (0, Route::Server(all.old.address()))];
        let (seen, began, healed) = under_load(&network, &clients, || {
            let cut = network.cut(0, &all.old.server);
            all.wait_for_the_promotion();
            thread::sleep(Duration::from_secs(3));
            network.heal(cut);
            let healed = Instant::now();
            all.wait_for_the_demotion();
            healed
        });
        let mut figures = measured(&seen, &all.new);
        let last = seen[1].last_of(&all.old.address()).expect("the old primary decided");
        let two = match min_replicas_max_lag {
            // The page says how long after the end of the partition.
            None => {
                figures.lost -= seen[1].allowed_before(healed) - seen[1].allowed_before(began);
                last.checked_duration_since(healed).expect("the old primary goes on after the partition")
            }
            Some(_) => {
                println!("the old primary went on for {:.1} s", last.saturating_duration_since(began).as_secs_f64());
                overlap(&seen, &all.old.address(), &all.new.address())
            }
        };
        check("Sentinel", fault, network.how(), Measured { two, ..figures });
    });
}

#[test]
fn a_primary_is_cut_off() {
    partition("partition of the primary", None);
}

#[test]
fn a_primary_is_cut_off_and_needs_its_replica() {
    partition("partition of the primary, `min-replicas-max-lag 2`", Some(2));
}

enum Switch {
    Plain,
    ByHand,
    Coordinated,
}

/// A planned switch, with a client that keeps its connection to the old primary while it gets decisions there. Clients
/// that connect after the promotion get theirs from the new one.
fn switch(fault: &str, switch: &Switch, bin: &ServerBin) {
    let network = Network::of(3);
    let all = start(&network, bin, DOWN_AFTER, |options| options);
    let (seen, _, promoted) = under_load(&network, &[(2, all.route(&[1, 2]))], || {
        let promoted = all.fail_over(matches!(switch, Switch::Coordinated));
        if let Switch::ByHand = switch {
            let mut old = all.old.con();
            ok(cmd!(old, "REPLICAOF", network.address(1), all.new.server.port()));
            ok(cmd!(old, "CLIENT", "KILL", "TYPE", "normal"));
        }
        all.wait_for_the_demotion();
        promoted
    });
    let figures = measured(&seen, &all.new);
    let last = seen[0].last_of(&all.old.address()).expect("the old primary decided");
    let two = last.saturating_duration_since(promoted);
    check("Sentinel", fault, network.how(), Measured { two, ..figures });
}

#[test]
fn a_planned_switch_by_sentinel_alone() {
    rounds(|bin| switch("`SENTINEL FAILOVER`", &Switch::Plain, bin));
}

#[test]
fn a_planned_switch_and_the_old_primary_is_told() {
    rounds(|bin| switch("`SENTINEL FAILOVER`, then `REPLICAOF` and `CLIENT KILL`", &Switch::ByHand, bin));
}

/// From Valkey 9.1 on.
#[test]
fn a_coordinated_switch_loses_nothing() {
    rounds(|bin| {
        if bin.is_valkey() && bin.version >= (9, 1, 0) {
            switch("`SENTINEL FAILOVER … COORDINATED`", &Switch::Coordinated, bin);
        }
    });
}
