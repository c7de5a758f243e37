//! The connections to the nodes of a cluster, and which node decides on a key.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::future::join_all;
use futures_util::stream::FuturesUnordered;
use parking_lot::Mutex;
use redis::{ConnectionAddr, ConnectionInfo, ErrorKind, RedisError};
use tokio::time::{sleep, timeout};

use super::server::{Commands, Late, Place, Replies, Server};
use super::value;
use crate::address::routing::{self, Node, Range};
use crate::address::{OPEN_TIMEOUT, Trust, at, is_misrouted};
use crate::error::Error;
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
    servers: HashMap<Node, Arc<Server>>,
    /// Which node has which slots, sorted by the first slot.
    ranges: Vec<Range>,
}

impl Nodes {
    /// `infos` is not empty: a URL has a host.
    pub fn new(infos: Vec<ConnectionInfo>, trust: Trust, gauge: Arc<Gauge>) -> Self {
        let nodes = infos.iter().filter_map(|info| match info.addr() {
            ConnectionAddr::Tcp(host, port) | ConnectionAddr::TcpTls { host, port, .. } => Some((host.clone(), *port)),
            _ => None,
        });
        let seeds = nodes.collect();
        let info = infos.into_iter().next().expect("a cluster has a node");
        let (state, read) = (Mutex::default(), tokio::sync::Mutex::default());
        Self(Arc::new(Shared { seeds, info, trust, gauge, state, read }))
    }

    pub fn set_silence(&self, silence: Option<Duration>) {
        let mut state = self.0.state.lock();
        state.silence = silence;
        state.servers.values().for_each(|server| server.set_silence(silence));
    }

    /// The connection to a node.
    fn server(&self, node: &Node) -> Arc<Server> {
        let mut state = self.0.state.lock();
        let silence = state.silence;
        let server = state.servers.entry(node.clone()).or_insert_with(|| {
            let info = at(&self.0.info, node.0.clone(), node.1);
            let place = Place::Server(Box::new(info), self.0.trust.clone());
            Arc::new(Server::new(place, silence, Arc::clone(&self.0.gauge)))
        });
        Arc::clone(server)
    }

    /// The connection to the node that has a slot, if that is known.
    fn owner(&self, slot: u64) -> Option<Arc<Server>> {
        let node = {
            let state = self.0.state.lock();
            let node = routing::owner(&state.ranges, slot)?;
            if let Some(server) = state.servers.get(node) {
                return Some(Arc::clone(server));
            }
            node.clone()
        };
        Some(self.server(&node))
    }

    /// The connection to the node of a key. Reads the map first, if it has no node for the slot.
    async fn route(&self, key: &[u8], limit: Duration) -> Result<Arc<Server>, Error> {
        let slot = routing::slot(key);
        if let Some(server) = self.owner(slot) {
            return Ok(server);
        }
        match timeout(limit, self.read(|nodes| nodes.owner(slot).is_some())).await {
            Ok(read) => read?,
            Err(_) => return Err(Error::Timeout(limit)),
        }
        let unserved = || RedisError::from((redis::ServerErrorKind::ClusterDown.into(), "no node has this slot"));
        self.owner(slot).ok_or_else(|| unserved().into())
    }

    /// Reads the map of the slots, unless another task did meanwhile.
    async fn read(&self, is_done: impl Fn(&Self) -> bool) -> Result<(), Error> {
        let mut read = self.0.read.lock().await;
        if is_done(self) {
            return Ok(());
        }
        *read = Some(Instant::now());
        let ranges = self.read_slots().await?;
        let mut state = self.0.state.lock();
        state.ranges = ranges;
        // Forgets the nodes that have left the cluster.
        let State { servers, ranges, .. } = &mut *state;
        servers.retain(|node, _| ranges.iter().any(|range| range.node == *node) || self.0.seeds.contains(node));
        Ok(())
    }

    /// Asks all nodes that are known at the same time. The first map counts.
    async fn read_slots(&self) -> Result<Vec<Range>, Error> {
        let mut nodes: Vec<Node> = self.0.state.lock().ranges.iter().map(|range| range.node.clone()).collect();
        nodes.extend(self.0.seeds.iter().cloned());
        nodes.sort_unstable();
        nodes.dedup();
        let questions = nodes.into_iter().map(|node| async move {
            let mut question = redis::pipe();
            question.cmd("CLUSTER").arg("SLOTS");
            let (replies, _) = self.server(&node).send(&Arc::new(question.into()), OPEN_TIMEOUT, &mut None).await?;
            Ok::<_, Error>(routing::ranges(&value(replies)?, &node.0)?)
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
        join_all(nodes.iter().map(|node| async { self.server(node).connect().await })).await;
        Ok(())
    }

    /// Sends a command, and follows redirections: these replies say that it was not executed. Nothing else is sent again.
    pub async fn request(
        &self,
        command: &Arc<Commands>,
        key: &[u8],
        limit: Duration,
        late: &mut Option<Late>,
    ) -> Result<Replies, Error> {
        let began = Instant::now();
        let rest = || limit.saturating_sub(began.elapsed());
        let mut sent = self.route(key, limit).await?.send(command, rest(), late).await;
        for redirection in 1..=MOST_REDIRECTIONS {
            // Another node may have the slot by now.
            let (replies, _) = sent.inspect_err(|_| self.read_again())?;
            let [Err(Error::Redis(error))] = replies.as_slice() else { return Ok(replies) };
            let (node, asking) = (routing::redirected(error), routing::is_ask(error));
            if node.is_none() && !is_misrouted(error) || rest().is_zero() {
                return Ok(replies);
            }
            if !asking {
                self.read_again();
            }
            let server = match node {
                Some(node) => self.server(&node),
                None => {
                    // The nodes may not agree yet.
                    sleep(Duration::from_millis(5) * redirection).await;
                    self.route(key, rest()).await?
                }
            };
            sent = if asking {
                server.send(&Arc::new(command.asking()), rest(), late).await
            } else {
                server.send(command, rest(), late).await
            };
        }
        let (mut replies, _) = sent.inspect_err(|_| self.read_again())?;
        if let [Err(Error::Redis(error))] = replies.as_mut_slice() {
            *error = routing::given_up(error.clone());
        }
        Ok(replies)
    }
}
