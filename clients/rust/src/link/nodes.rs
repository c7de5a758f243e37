//! The connections to the nodes of a cluster, and which node decides on a key.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::future::join_all;
use futures_util::stream::FuturesUnordered;
use parking_lot::Mutex;
use redis::{Client, ConnectionAddr, ConnectionInfo, ErrorKind, RedisError};
use tokio::time::{sleep, timeout};

use super::pipe::{Pipe, Place, Reply};
use crate::address::routing::{self, Node, Range};
use crate::address::{OPEN_TIMEOUT, Trust, at, is_misrouted};
use crate::error::Error;
use crate::protocol::Commands;
use crate::stats::Gauge;

/// How often the map of the slots is read at most.
const READS_APART: Duration = Duration::from_millis(250);
/// How often a request follows a redirection.
const MOST_REDIRECTIONS: u32 = 5;

/// A cluster.
#[derive(Clone, Debug)]
pub struct Nodes(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    seeds: Vec<Node>,
    /// How to connect, but for the address.
    info: ConnectionInfo,
    trust: Trust,
    gauge: Arc<Gauge>,
    state: Mutex<State>,
    /// When the map was read last, held while it is.
    read: tokio::sync::Mutex<Option<Instant>>,
}

#[derive(Debug, Default)]
struct State {
    silence: Option<Duration>,
    pipes: HashMap<Node, Arc<Pipe>>,
    /// Who has which slots, by the first of them.
    ranges: Vec<Range>,
}

impl Nodes {
    /// `seeds` are not empty: a URL has a host.
    pub fn new(seeds: &[Client], trust: Trust, gauge: Arc<Gauge>) -> Self {
        let infos = seeds.iter().map(Client::get_connection_info);
        let nodes = infos.clone().filter_map(|info| match info.addr() {
            ConnectionAddr::Tcp(host, port) | ConnectionAddr::TcpTls { host, port, .. } => Some((host.clone(), *port)),
            _ => None,
        });
        let seeds = nodes.collect();
        let info = infos.clone().next().cloned().expect("a cluster has a node");
        let (state, read) = (Mutex::default(), tokio::sync::Mutex::default());
        Self(Arc::new(Shared { seeds, info, trust, gauge, state, read }))
    }

    pub fn set_silence(&self, silence: Option<Duration>) {
        let mut state = self.0.state.lock();
        state.silence = silence;
        state.pipes.values().for_each(|pipe| pipe.set_silence(silence));
    }

    /// The connection to a node.
    fn pipe(&self, node: &Node) -> Arc<Pipe> {
        let mut state = self.0.state.lock();
        let silence = state.silence;
        let pipe = state.pipes.entry(node.clone()).or_insert_with(|| {
            let info = at(&self.0.info, node.0.clone(), node.1);
            let place = Place::Server(Box::new(info), self.0.trust.clone());
            Arc::new(Pipe::new(place, silence, Arc::clone(&self.0.gauge)))
        });
        Arc::clone(pipe)
    }

    /// The connection to the node that has a slot, if that is known.
    fn owner(&self, slot: u64) -> Option<Arc<Pipe>> {
        let node = {
            let state = self.0.state.lock();
            let node = routing::owner(&state.ranges, slot)?;
            if let Some(pipe) = state.pipes.get(node) {
                return Some(Arc::clone(pipe));
            }
            node.clone()
        };
        Some(self.pipe(&node))
    }

    /// The connection to the node of a key. The map is read first, if nobody has the slot.
    async fn route(&self, key: &[u8], limit: Duration) -> Result<Arc<Pipe>, Error> {
        let slot = routing::slot(key);
        if let Some(pipe) = self.owner(slot) {
            return Ok(pipe);
        }
        match timeout(limit, self.read(|nodes| nodes.owner(slot).is_some())).await {
            Ok(read) => read?,
            Err(_) => return Err(Error::Timeout(limit)),
        }
        let unserved = || RedisError::from((redis::ServerErrorKind::ClusterDown.into(), "no node has this slot"));
        self.owner(slot).ok_or_else(|| unserved().into())
    }

    /// Reads the map of the slots, unless somebody did meanwhile.
    async fn read(&self, is_done: impl Fn(&Self) -> bool) -> Result<(), Error> {
        let mut read = self.0.read.lock().await;
        if is_done(self) {
            return Ok(());
        }
        *read = Some(Instant::now());
        let ranges = self.read_slots().await?;
        let mut state = self.0.state.lock();
        state.ranges = ranges;
        // Those that are no part of the cluster any more.
        let State { pipes, ranges, .. } = &mut *state;
        pipes.retain(|node, _| ranges.iter().any(|range| range.node == *node) || self.0.seeds.contains(node));
        Ok(())
    }

    /// Asks all nodes that are known at the same time. The first map counts.
    async fn read_slots(&self) -> Result<Vec<Range>, Error> {
        let mut nodes: Vec<Node> = self.0.state.lock().ranges.iter().map(|range| range.node.clone()).collect();
        nodes.extend(self.0.seeds.iter().cloned());
        nodes.sort_unstable();
        nodes.dedup();
        let questions = nodes.into_iter().map(|node| async move {
            let mut command = redis::cmd("CLUSTER");
            command.arg("SLOTS");
            let reply = self.pipe(&node).send(Commands::from(&command), OPEN_TIMEOUT).await?;
            Ok::<_, Error>(routing::ranges(&reply.value()?, &node.0)?)
        });
        let mut questions: FuturesUnordered<_> = questions.collect();
        let mut failure = Error::Redis((ErrorKind::ClusterConnectionNotFound, "the cluster has no nodes").into());
        while let Some(reply) = questions.next().await {
            match reply {
                Ok(ranges) => return Ok(ranges),
                // What a node says counts more than that another one is away.
                Err(error) if failure.is_unavailable() => failure = error,
                Err(_) => {}
            }
        }
        Err(failure)
    }

    /// Reads the map of the slots in the background.
    fn read_again(&self) {
        let is_new = |read: &Option<Instant>| read.is_some_and(|at| at.elapsed() < READS_APART);
        if self.0.read.try_lock().is_ok_and(|read| !is_new(&read)) {
            let nodes = self.clone();
            tokio::spawn(async move {
                // If it fails, the next request that needs the map reads it.
                let _ = timeout(OPEN_TIMEOUT, nodes.read(|_| false)).await;
            });
        }
    }

    /// Opens the connections to all nodes.
    pub async fn connect(&self) -> Result<(), Error> {
        self.read(|_| false).await?;
        let nodes: Vec<_> = self.0.state.lock().ranges.iter().map(|range| range.node.clone()).collect();
        // A node that is away does not keep the others from deciding.
        join_all(nodes.iter().map(|node| async { self.pipe(node).connect().await })).await;
        Ok(())
    }

    /// Sends a command, and follows redirections: these replies say that it was not executed. Nothing else is sent again.
    pub async fn request(&self, command: Commands, key: &[u8], limit: Duration) -> Result<Reply, Error> {
        let mut took = Duration::ZERO;
        let mut reply = self.route(key, limit).await?.send(command, limit).await;
        for redirection in 1..=MOST_REDIRECTIONS {
            // Another node may have the slot by now.
            let sent = reply.inspect_err(|_| self.read_again())?;
            took += sent.took;
            let [Err(Error::Redis(error))] = sent.values.as_slice() else { return Ok(Reply { took, ..sent }) };
            let rest = limit.saturating_sub(took);
            let (node, asking) = (routing::redirected(error), routing::is_ask(error));
            if node.is_none() && !is_misrouted(error) || rest.is_zero() {
                return Ok(Reply { took, ..sent });
            }
            if !asking {
                self.read_again();
            }
            let pipe = match node {
                Some(node) => self.pipe(&node),
                None => {
                    // The nodes may not agree yet.
                    let pause = Duration::from_millis(5) * redirection;
                    sleep(pause).await;
                    took += pause;
                    self.route(key, rest).await?
                }
            };
            reply = if asking { ask(&pipe, sent.commands, rest).await } else { pipe.send(sent.commands, rest).await };
        }
        let mut last = reply.inspect_err(|_| self.read_again())?;
        last.took += took;
        if let [Err(Error::Redis(error))] = last.values.as_mut_slice() {
            *error = routing::given_up(error.clone());
        }
        Ok(last)
    }
}

/// Sends a command for a slot that is on its way to this node.
async fn ask(pipe: &Pipe, command: Commands, limit: Duration) -> Result<Reply, Error> {
    // The reply to ASKING says nothing.
    pipe.send(command.after(&redis::cmd("ASKING")), limit).await
}
