//! The connections to the nodes of a cluster, and which node decides on a key.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::future::join_all;
use futures_util::stream::FuturesUnordered;
use parking_lot::Mutex;
use redis::{ErrorKind, Pipeline, RedisError, RedisResult, ServerErrorKind, Value};
use tokio::time::{sleep, timeout};

use super::open::{OPEN_TIMEOUT, Place};
use super::server::{Late, Replies, Server};
use super::value;
use crate::error::Error;
use crate::key::around_tag;
use crate::stats::Counters;

/// How often the map of the slots is read at most.
const READS_APART: Duration = Duration::from_millis(250);
/// How often a request follows a redirection.
const MOST_REDIRECTIONS: u32 = 5;

const SLOTS: u16 = 16_384;

/// The host and the port of a node.
pub type Node = (String, u16);

/// Slots of one node: from the first to the last.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Range {
    first: u64,
    last: u64,
    node: Node,
}

#[derive(Debug)]
pub struct Cluster {
    seeds: Vec<Node>,
    /// How to connect, but for the address.
    place: Place,
    silence: Option<Duration>,
    counters: Arc<Counters>,
    state: Mutex<State>,
    /// When the map was read last, held while it is.
    read: tokio::sync::Mutex<Option<Instant>>,
}

#[derive(Debug, Default)]
struct State {
    servers: HashMap<Node, Arc<Server>>,
    /// Which node has which slots, sorted by the first slot.
    ranges: Vec<Range>,
}

impl Cluster {
    pub fn new(seeds: Vec<Node>, place: Place, silence: Option<Duration>, counters: Arc<Counters>) -> Self {
        Self { seeds, place, silence, counters, state: Mutex::default(), read: tokio::sync::Mutex::default() }
    }

    fn server(&self, node: &Node) -> Arc<Server> {
        let mut state = self.state.lock();
        let server = || Server::new(self.place.at(node.0.clone(), node.1), self.silence, Arc::clone(&self.counters));
        Arc::clone(state.servers.entry(node.clone()).or_insert_with(server))
    }

    /// The connection to the node that has a slot, if that is known.
    fn owner(&self, slot: u64) -> Option<Arc<Server>> {
        let node = {
            let state = self.state.lock();
            let node = owner(&state.ranges, slot)?;
            if let Some(server) = state.servers.get(node) {
                return Some(Arc::clone(server));
            }
            node.clone()
        };
        Some(self.server(&node))
    }

    /// The connection to the node of a key. Reads the map first, if it has no node for the slot.
    async fn route(&self, key: &[u8], limit: Duration) -> Result<Arc<Server>, Error> {
        let slot = slot(key);
        if let Some(server) = self.owner(slot) {
            return Ok(server);
        }
        match timeout(limit, self.read(|cluster| cluster.owner(slot).is_some())).await {
            Ok(read) => read?,
            Err(_) => return Err(Error::Timeout(limit)),
        }
        let unserved = || RedisError::from((ServerErrorKind::ClusterDown.into(), "no node has this slot"));
        self.owner(slot).ok_or_else(|| unserved().into())
    }

    /// Reads the map of the slots, unless another task did meanwhile.
    async fn read(&self, is_done: impl Fn(&Self) -> bool) -> Result<(), Error> {
        let mut read = self.read.lock().await;
        if is_done(self) {
            return Ok(());
        }
        *read = Some(Instant::now());
        let ranges = self.read_slots().await?;
        let mut state = self.state.lock();
        state.ranges = ranges;
        // Forgets the nodes that have left the cluster.
        let State { servers, ranges, .. } = &mut *state;
        servers.retain(|node, _| ranges.iter().any(|range| range.node == *node) || self.seeds.contains(node));
        Ok(())
    }

    /// Asks all nodes that are known at the same time. The first map counts.
    async fn read_slots(&self) -> Result<Vec<Range>, Error> {
        let mut nodes: Vec<Node> = self.state.lock().ranges.iter().map(|range| range.node.clone()).collect();
        nodes.extend(self.seeds.iter().cloned());
        nodes.sort_unstable();
        nodes.dedup();
        let questions = nodes.into_iter().map(|node| async move {
            let mut question = redis::pipe();
            question.cmd("CLUSTER").arg("SLOTS");
            let (replies, _) = self.server(&node).send(&Arc::new(question), OPEN_TIMEOUT, &mut None).await?;
            Ok::<_, Error>(ranges(&value(replies)?, &node.0)?)
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

    fn read_again(self: &Arc<Self>) {
        let is_new = |read: &Option<Instant>| read.is_some_and(|at| at.elapsed() < READS_APART);
        if self.read.try_lock().is_ok_and(|read| !is_new(&read)) {
            let cluster = Arc::clone(self);
            tokio::spawn(async move {
                // If it fails, the next request that needs the map reads it.
                let _ = timeout(OPEN_TIMEOUT, cluster.read(|_| false)).await;
            });
        }
    }

    pub async fn connect(&self) -> Result<(), Error> {
        self.read(|_| false).await?;
        let nodes: Vec<_> = self.state.lock().ranges.iter().map(|range| range.node.clone()).collect();
        // A node that is away does not keep the others from deciding.
        join_all(nodes.iter().map(|node| async { self.server(node).connect().await })).await;
        Ok(())
    }

    /// Sends a command, and follows redirections: these replies say that it was not executed. Nothing else is sent again.
    pub async fn request(
        self: &Arc<Self>,
        command: &Arc<Pipeline>,
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
            let is = |kind: ServerErrorKind| error.kind() == kind.into();
            let (node, is_moving) = (redirected(error), is(ServerErrorKind::Ask));
            let is_misrouted =
                is(ServerErrorKind::Moved) || is(ServerErrorKind::TryAgain) || is(ServerErrorKind::ReadOnly);
            if node.is_none() && !is_misrouted || rest().is_zero() {
                return Ok(replies);
            }
            if !is_moving {
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
            sent =
                if is_moving { ask(&server, command, rest()).await } else { server.send(command, rest(), late).await };
        }
        let (mut replies, _) = sent.inspect_err(|_| self.read_again())?;
        if let [Err(Error::Redis(error))] = replies.as_mut_slice() {
            *error = given_up(error.clone());
        }
        Ok(replies)
    }
}

/// Sends a command after ASKING, for a slot that is on its way to this node.
async fn ask(server: &Arc<Server>, command: &Pipeline, limit: Duration) -> Result<(Replies, Instant), Error> {
    let mut commands = redis::pipe();
    commands.cmd("ASKING");
    command.cmd_iter().for_each(|command| _ = commands.add_command(command.clone()));
    // No caller needs the reply to ASKING.
    let (replies, opened) = server.send(&Arc::new(commands), limit, &mut None).await?;
    Ok((replies.into_iter().skip(1).collect(), opened))
}

fn slot(key: &[u8]) -> u64 {
    let hashed = around_tag(key).map_or(key, |(_, tag, _)| tag);
    u64::from(crc16::State::<crc16::XMODEM>::calculate(hashed) % SLOTS)
}

/// The error after the last redirection. The nodes name one that is away, or do not agree, so the cluster cannot decide now:
/// CLUSTERDOWN says so. MOVED and ASK would say that the call is wrong.
fn given_up(error: RedisError) -> RedisError {
    if [ServerErrorKind::Moved, ServerErrorKind::Ask].into_iter().any(|kind| error.kind() == kind.into()) {
        return RedisError::from((ServerErrorKind::ClusterDown.into(), "redirected too often", error.to_string()));
    }
    error
}

fn owner(ranges: &[Range], slot: u64) -> Option<&Node> {
    let at = ranges.partition_point(|range| range.last < slot);
    ranges.get(at).filter(|range| range.first <= slot).map(|range| &range.node)
}

/// The reply to CLUSTER SLOTS: ranges with their primary and its replicas. A node without a name is the one that replied.
fn ranges(reply: &Value, host: &str) -> RedisResult<Vec<Range>> {
    let no_map = || RedisError::from((ErrorKind::Parse, "the reply is no map of the slots"));
    let range = |range: &Value| {
        let Value::Array(range) = range else { return None };
        let [Value::Int(first), Value::Int(last), Value::Array(primary), ..] = range.as_slice() else { return None };
        let [name, Value::Int(port), ..] = primary.as_slice() else { return None };
        let name = match name {
            Value::BulkString(name) if !name.is_empty() => String::from_utf8(name.clone()).ok()?,
            _ => host.to_owned(),
        };
        let (first, last) = (u64::try_from(*first).ok()?, u64::try_from(*last).ok()?);
        Some(Range { first, last, node: (name, u16::try_from(*port).ok()?) })
    };
    let Value::Array(all) = reply else { return Err(no_map()) };
    let mut ranges = all.iter().map(range).collect::<Option<Vec<_>>>().ok_or_else(no_map)?;
    ranges.sort_unstable_by_key(|range| range.first);
    Ok(ranges)
}

/// The node that MOVED or ASK names.
fn redirected(error: &RedisError) -> Option<Node> {
    let (host, port) = error.redirect_node()?.0.rsplit_once(':')?;
    // An empty host is that of the node which replied. Then the map says more.
    (!host.is_empty()).then_some((host.to_owned(), port.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_its_slot() {
        for (key, expected) in [("foo", 12_182), ("{foo}bar", 12_182), ("", 0), ("123456789", 12_739)] {
            assert_eq!(slot(key.as_bytes()), expected, "{key}");
        }
    }

    #[test]
    fn the_map_says_who_has_a_slot() {
        let reply = "*3\r\n*4\r\n:5\r\n:9\r\n*3\r\n$1\r\nb\r\n:2\r\n$2\r\nid\r\n*2\r\n$1\r\nz\r\n:9\r\n\
                     *3\r\n:0\r\n:3\r\n*2\r\n$0\r\n\r\n:1\r\n*3\r\n:10\r\n:16383\r\n*2\r\n$-1\r\n:3\r\n";
        let map = ranges(&redis::parse_redis_value(reply.as_bytes()).unwrap(), "a").unwrap();
        let owner = |slot| owner(&map, slot).map(|(host, port)| (host.as_str(), *port));
        let expected = [Some(("a", 1)), Some(("a", 1)), None, Some(("b", 2)), Some(("b", 2)), Some(("a", 3))];
        assert_eq!([0, 3, 4, 5, 9, 10].map(owner), expected);
        assert!(owner(16_383).is_some() && owner(16_384).is_none());
        assert!(ranges(&Value::Okay, "a").is_err());
    }

    #[test]
    fn redirections_without_an_end_are_no_fault_of_the_request() {
        for (reply, code) in
            [("-MOVED 1 a:1\r\n", "CLUSTERDOWN"), ("-ASK 1 a:1\r\n", "CLUSTERDOWN"), ("-ERR no\r\n", "ERR")]
        {
            let error = redis::parse_redis_value(reply.as_bytes()).and_then(redis::Value::extract_error).unwrap_err();
            assert_eq!(given_up(error).code(), Some(code), "{reply}");
        }
    }
}
