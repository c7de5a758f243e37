//! What each topology loses by each fault, and for how long: the table in docs/operations.md, row by row.
//!
//! Clients send requests at a known rate and remember what was allowed. Afterwards the server that decides must have
//! counted it. The short form has one round of each row; with a longer `SECONDS_EACH` a row is repeated.

mod cluster;
mod links;
mod load;
mod network;
mod pair;
mod sentinel;
mod table;

use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use redis::Connection;

use crate::Done;
use crate::support::{PATIENCE, Server, ServerBin, eventually, for_each_server, info};
use load::{Route, Seen, connect, send};
use network::Network;
use table::Measured;

/// How long clients send before and after a fault.
const CALM: Duration = Duration::from_secs(1);

/// Runs one round on each server, and more while there is time.
fn rounds(round: impl Fn(&ServerBin) + Sync) {
    for_each_server(|bin| {
        let begin = Instant::now();
        loop {
            round(bin);
            // A round takes longer than the short form gives.
            if begin.elapsed() + begin.elapsed() / 2 > crate::each() {
                break;
            }
        }
    });
}

/// Clients on these machines send requests while `fault` happens. What each saw, and when the fault began.
fn under_load<T>(network: &Network, clients: &[(usize, Route)], fault: impl FnOnce() -> T) -> (Vec<Seen>, Instant, T) {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let finish = Done(&done);
        let done = &done;
        let running: Vec<_> = clients
            .iter()
            .enumerate()
            .map(|(n, (machine, route))| {
                // One slot in a cluster.
                scope.spawn(move || send(network, *machine, route, &format!("{{{TAG}}}:{n}"), done))
            })
            .collect();
        thread::sleep(CALM);
        let begin = Instant::now();
        let result = fault();
        thread::sleep(CALM);
        drop(finish);
        let seen = running.into_iter().map(|client| client.join().expect("a client")).collect();
        (seen, begin, result)
    })
}

/// The hash tag of all keys: its slot is 3300, which is one of the first master's of three.
const TAG: &str = "b";

/// A server on a machine, and what leads to it.
struct Node<'n> {
    network: &'n Network,
    machine: usize,
    server: Server,
}

impl<'n> Node<'n> {
    fn start(network: &'n Network, machine: usize, options: crate::support::Options) -> Self {
        Self { network, machine, server: network.start(machine, options) }
    }

    fn con(&self) -> Connection {
        self.network.at(self.machine, || self.server.con())
    }

    /// `10.77.0.1:6379`, as the other machines have it.
    fn address(&self) -> String {
        format!("{}:{}", self.network.address(self.machine), self.server.port())
    }

    /// A setting that names this server.
    fn replicaof(&self) -> String {
        format!("{} {}", self.network.address(self.machine), self.server.port())
    }

    fn start_again(&mut self) {
        let (network, machine, server) = (self.network, self.machine, &mut self.server);
        network.at(machine, || server.start_again());
    }

    fn info(&self, field: &str) -> String {
        info(&mut self.con(), field)
    }

    /// Its role; nothing while it does not reply. A server that changes its role closes its connections.
    fn role(&self) -> Option<String> {
        let con = self.network.at(self.machine, || connect(&format!("127.0.0.1:{}", self.server.port())));
        let role: Vec<redis::Value> = redis::cmd("ROLE").query(&mut con.ok()?).ok()?;
        redis::from_redis_value_ref(role.first()?).ok()
    }

    fn is_primary(&self) -> bool {
        self.role().as_deref() == Some("master")
    }

    fn is_replica(&self) -> bool {
        self.role().as_deref() == Some("slave")
    }
}

/// Waits until the replica has what the primary has now.
#[track_caller]
fn wait_until_in_step(primary: &Node, replica: &Node) {
    let sent: u64 = primary.info("master_repl_offset").parse().expect("an offset");
    let in_step = eventually(PATIENCE, || {
        let mut con = replica.con();
        info(&mut con, "master_link_status") == "up"
            && info(&mut con, "slave_repl_offset").parse::<u64>().expect("an offset") >= sent
    });
    assert!(in_step, "the replica is not in step:\n{}", replica.server.log());
}

/// The figures of a row, from what clients saw. The first client follows the primary.
fn measured(seen: &[Seen], counted_by: &Node) -> Measured {
    let mut con = counted_by.con();
    Measured {
        failing: seen[0].failing(),
        two: Duration::ZERO,
        lost: seen.iter().map(|seen| seen.lost(&mut con)).sum(),
        of: seen.iter().map(Seen::total).sum(),
    }
}

/// How long the old primary went on after the new one began.
fn overlap(seen: &[Seen], old: &str, new: &str) -> Duration {
    let last = seen.iter().filter_map(|seen| seen.last_of(old)).max().expect("the old primary decided");
    let first = seen.iter().filter_map(|seen| seen.first_of(new)).min().expect("the new primary decides");
    last.saturating_duration_since(first)
}
