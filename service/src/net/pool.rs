//! Accepts connections, as many as there may be. If there is one more, the one that was idle longest is closed.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{interval, sleep, timeout};
use tokio_stream::{Stream, StreamExt as _};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{debug, error, info};

use super::load::Load;
use super::micros;
use super::peer::{Ending, Peer};
use crate::throttle::Throttle;

/// Descriptors that are not for connections of callers: for Redis, the log, files of rules, and the listeners.
const KEPT_BACK: usize = 64;
/// How many connections may be open to the metrics and to the debug address, together.
const OPERATORS: usize = 32;
/// How many idle connections are found at once: finding them takes a look at all.
const FOUND_AT_ONCE: usize = 32;
/// How often connections are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long a connection that was asked to end may take, at most.
const ENDS_WITHIN: Duration = Duration::from_millis(100);

/// The connections of some listeners.
#[derive(Debug)]
pub struct Pool {
    load: Arc<Load>,
    places: Arc<Semaphore>,
    peers: Mutex<Peers>,
    errors: Throttle,
}

#[derive(Debug, Default)]
struct Peers {
    next: u64,
    all: HashMap<u64, Arc<Peer>>,
    /// Those that were idle longest at the last look, the longest at the end, with their sort keys.
    idle: Vec<((bool, u64), u64)>,
}

/// The connections of callers, and those of operators, which callers do not take away.
#[derive(Clone, Debug)]
pub struct Pools {
    pub callers: Arc<Pool>,
    pub operators: Arc<Pool>,
}

impl Pools {
    /// At most `max` connections of callers, and less than the limit of descriptors leaves. Raises that limit as far as
    /// this process may.
    pub fn new(load: &Arc<Load>, max: usize) -> Self {
        let (callers, descriptors) = match descriptors() {
            Some(limit) => (max.min(limit.saturating_sub(KEPT_BACK + OPERATORS).max(limit / 4)).max(1), limit),
            None => (max.max(1), usize::MAX),
        };
        if callers < max {
            info!(connections = callers, descriptors, "the limit of descriptors leaves fewer than --max-connections");
        }
        Self { callers: Pool::new(load, callers), operators: Pool::new(load, OPERATORS) }
    }

    /// Closes connections that have sent nothing for too long, and those that hold most if all hold too much, until the
    /// runtime ends.
    pub async fn look_after(self) {
        let load = &self.callers.load;
        let mut looks = interval(LOOK_EVERY);
        loop {
            tokio::select! {
                _ = looks.tick() => {
                    for peer in self.all() {
                        if let Some(ending) = peer.is_over() {
                            peer.close(ending);
                        }
                    }
                }
                () = load.full.notified() => self.close_largest(load.excess()),
            }
        }
    }

    fn all(&self) -> Vec<Arc<Peer>> {
        let all = |pool: &Pool| pool.peers().all.values().cloned().collect::<Vec<_>>();
        [all(&self.callers), all(&self.operators)].concat()
    }

    /// Closes those that hold most for longest, until they hold so much.
    fn close_largest(&self, mut excess: usize) {
        let now = micros();
        let mut all: Vec<_> = self.all().into_iter().map(|peer| (peer.holds(now), peer)).collect();
        all.sort_unstable_by_key(|((key, _), peer)| (peer.is_closing(), *key));
        // What was closed and has not ended yet counts.
        for ((_, held), peer) in all.into_iter().rev() {
            if excess == 0 {
                return;
            }
            if held > 0 {
                peer.close(Ending::Memory);
                excess = excess.saturating_sub(held);
            }
        }
    }
}

/// How many descriptors this process may have.
fn descriptors() -> Option<usize> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_some() && current != maximum {
        _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
    getrlimit(Resource::Nofile).current.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX))
}

impl Pool {
    fn new(load: &Arc<Load>, max: usize) -> Arc<Self> {
        Arc::new(Self {
            load: load.clone(),
            places: Arc::new(Semaphore::new(max.min(Semaphore::MAX_PERMITS))),
            peers: Mutex::default(),
            errors: Throttle::new(Duration::from_secs(1)),
        })
    }

    /// Accepts connections until `stops` says so, and waits for their ends. `serve` must end soon after that.
    pub async fn accept<I, F: Future<Output = ()> + Send + 'static>(
        self: Arc<Self>,
        name: &'static str,
        mut incoming: impl Stream<Item = io::Result<I>> + Unpin,
        stops: CancellationToken,
        serve: impl Fn(I, Arc<Peer>) -> F,
    ) {
        let open = self.load.figures.open.with_label_values(&[name]);
        let connections = TaskTracker::new();
        loop {
            let accepted = tokio::select! {
                () = stops.cancelled() => break,
                accepted = incoming.next() => accepted,
            };
            let io = match accepted {
                // A listener does not end.
                None => break,
                Some(Ok(io)) => io,
                Some(Err(error)) => {
                    self.failed(name, &error);
                    // Too many open files, for example.
                    self.close_idle();
                    sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            let Some(place) = self.place().await else { break };
            let (peer, pool, open) = (Peer::new(&self.load), self.clone(), open.clone());
            let id = self.add(&peer);
            let served = serve(io, peer);
            connections.spawn(async move {
                open.inc();
                served.await;
                open.dec();
                pool.peers().all.remove(&id);
                drop(place);
            });
        }
        // Nothing is accepted while the last connections end.
        drop(incoming);
        connections.close();
        connections.wait().await;
    }

    /// A place for a connection, which another one may have to leave.
    async fn place(&self) -> Option<OwnedSemaphorePermit> {
        loop {
            if let Ok(place) = self.places.clone().try_acquire_owned() {
                return Some(place);
            }
            self.close_idle();
            match timeout(ENDS_WITHIN, self.places.clone().acquire_owned()).await {
                Ok(place) => return place.ok(),
                Err(_) => debug!("no connection has ended yet"),
            }
        }
    }

    /// Closes the connection that is idle longest.
    fn close_idle(&self) {
        let mut peers = self.peers();
        let Peers { all, idle, .. } = &mut *peers;
        for _ in 0..2 {
            while let Some((key, id)) = idle.pop() {
                // It may have ended, or asked, since.
                if let Some(peer) = all.get(&id).filter(|peer| peer.idle() == key) {
                    return peer.close(Ending::Idle);
                }
            }
            let others = all.iter().filter(|(_, peer)| !peer.is_closing());
            let mut keys: Vec<_> = others.map(|(id, peer)| (peer.idle(), *id)).collect();
            if keys.len() > FOUND_AT_ONCE {
                keys.select_nth_unstable(FOUND_AT_ONCE);
                keys.truncate(FOUND_AT_ONCE);
            }
            keys.sort_unstable_by(|a, b| b.cmp(a));
            *idle = keys;
        }
    }

    fn add(&self, peer: &Arc<Peer>) -> u64 {
        let mut peers = self.peers();
        let id = peers.next;
        peers.next += 1;
        peers.all.insert(id, peer.clone());
        id
    }

    fn peers(&self) -> MutexGuard<'_, Peers> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a connection that could not be accepted, and logs one a second.
    fn failed(&self, name: &str, error: &io::Error) {
        self.load.figures.accept_errors.inc();
        if let Some(left_out) = self.errors.next(Instant::now()) {
            error!(listener = name, %error, left_out, "a connection could not be accepted");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use prometheus::Registry;

    use super::*;
    use crate::net::{Figures, Load};

    #[test]
    fn what_holds_most_for_longest_is_closed_when_all_hold_too_much() {
        const MIB: usize = 1024 * 1024;
        let figures = Figures::new(&Registry::new()).expect("figures");
        let load = Load::new(1, Duration::ZERO, Duration::ZERO, figures);
        let pools = Pools { callers: Pool::new(&load, 9), operators: Pool::new(&load, 9) };
        let peers = [(); 4].map(|()| Peer::new(&load));
        let [old, of_operators, small, empty] = &peers;
        pools.operators.add(of_operators);
        for peer in [small, old, empty] {
            pools.callers.add(peer);
        }
        let held = [old.holding(16 * MIB), of_operators.holding(15 * MIB), small.holding(1000)];
        thread::sleep(Duration::from_millis(5));
        pools.close_largest(load.excess());
        assert_eq!(peers.each_ref().map(|peer| peer.is_closing()), [false; 4]);
        let more = small.holding(2 * MIB);
        pools.close_largest(load.excess());
        assert_eq!(peers.each_ref().map(|peer| peer.is_closing()), [true, false, false, false]);
        // It counts as gone before it is.
        pools.close_largest(load.excess());
        assert!(!of_operators.is_closing());
        drop((held, more));
        assert_eq!(load.excess(), 0);
        // A request ended just now, so it may hold more.
        drop(small.begin(true));
        let _held = [small.holding(27 * MIB), of_operators.holding(10 * MIB)];
        pools.close_largest(load.excess());
        assert_eq!(peers.each_ref().map(|peer| peer.is_closing()), [true, true, false, false]);
    }
}
