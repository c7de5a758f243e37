//! The connections of a limiter that is made from a URL.

use std::sync::mpsc::channel;
use std::thread::spawn;
use std::time::{Duration, Instant};

use redis::cluster::ClusterConnection;
use redis::{Client, Cmd, RedisError, RedisResult, Value};

use super::connector::{Connector, one_by_one, pipelined};
use super::rest_until;
use crate::address::routing::{asked, given_up, routing, slot};
use crate::address::{
    Address, Cluster, Failure, Kind, REOPEN_APART, Sentinels, is_misrouted, is_read_only, require_master,
};
use crate::core::Outgoing;
use crate::error::{Error, is_connection_error};

/// A connection of an [`Address`].
pub struct Pipe {
    inner: Inner,
    since: Instant,
}

/// A cluster's connection asks the nodes in turn, so one that hangs must not take all of the time.
const NODES_IN_TURN: u32 = 4;

enum Inner {
    Server(redis::Connection),
    Cluster(Box<ClusterConnection>),
}

impl Connector for Address {
    type Connection = Pipe;

    fn connect(&self, timeout: Duration) -> RedisResult<Pipe> {
        let inner = match &self.0 {
            Kind::Server(client) => Inner::Server(client.connect(timeout)?),
            Kind::Cluster(cluster) => Inner::Cluster(Box::new(connect_cluster(cluster, timeout / NODES_IN_TURN)?)),
            Kind::Sentinel(sentinels) => Inner::Server(master(sentinels, timeout)?),
        };
        Ok(Pipe { inner, since: Instant::now() })
    }

    fn send(&self, pipe: &mut Pipe, command: &Cmd, key: &[u8], timeout: Duration) -> RedisResult<Value> {
        let deadline = Instant::now() + timeout;
        loop {
            let reply = self.send_once(pipe, command, key, rest_until(deadline));
            match reply {
                // It was not executed. Another connection may reach the master, and knows the slots of now.
                Err(error) if is_elsewhere(pipe, &error) && Instant::now() < deadline => {
                    *pipe = self.connect(rest_until(deadline))?;
                }
                Err(error) if matches!(pipe.inner, Inner::Cluster(_)) => return Err(given_up(error)),
                reply => return reply,
            }
        }
    }

    fn part(&self, key: &[u8]) -> u64 {
        Self::part(self, key)
    }

    fn group(&self, key: &[u8]) -> u64 {
        match &self.0 {
            Kind::Cluster(_) => slot(key),
            _ => 0,
        }
    }

    fn send_each(&self, pipe: &mut Pipe, all: &mut [Outgoing<'_>], timeout: Duration) {
        let deadline = Instant::now() + timeout;
        match &mut pipe.inner {
            Inner::Server(connection) => pipelined(connection, all, timeout),
            Inner::Cluster(_) => return one_by_one(self, pipe, all, timeout),
        }
        for outgoing in all.iter_mut().filter(|outgoing| outgoing.error().is_some_and(is_read_only)) {
            let rest = deadline.saturating_duration_since(Instant::now());
            if !rest.is_zero() {
                let reply = self.send(pipe, outgoing.command(), outgoing.key(), rest);
                outgoing.set_reply(reply);
            }
        }
    }
}

impl Address {
    fn send_once(&self, pipe: &mut Pipe, command: &Cmd, key: &[u8], timeout: Duration) -> RedisResult<Value> {
        match &mut pipe.inner {
            Inner::Server(connection) => {
                connection.set_read_timeout(Some(timeout))?;
                connection.set_write_timeout(Some(timeout))?;
                command.query(connection)
            }
            Inner::Cluster(connection) => {
                connection.set_read_timeout(Some(timeout))?;
                connection.set_write_timeout(Some(timeout))?;
                let reply = connection.route_command(command, routing(key));
                let reply = reply.and_then(Value::extract_error);
                match reply.as_ref().err().and_then(asked) {
                    Some(node) => {
                        let node = redis::cluster_routing::RoutingInfo::SingleNode(node);
                        connection.route_command(&redis::cmd("ASKING"), node.clone())?;
                        connection.route_command(command, node)?.extract_error()
                    }
                    None => reply,
                }
            }
        }
    }
}

/// Opens a connection, within this time for each node.
fn connect_cluster(cluster: &Cluster, timeout: Duration) -> RedisResult<ClusterConnection> {
    cluster.client.connect(timeout).map_err(|error| {
        let reason = is_connection_error(&error).then(|| login_error(cluster, timeout)).flatten();
        reason.unwrap_or(error)
    })
}

/// What the first node that can be reached says against the user or the password. The crate's own error may only say
/// that the node did not reply to PING.
fn login_error(cluster: &Cluster, timeout: Duration) -> Option<RedisError> {
    let ping = |node: &Client| {
        let mut connection = node.get_connection_with_timeout(timeout)?;
        connection.set_read_timeout(Some(timeout))?;
        redis::cmd("PING").exec(&mut connection)
    };
    let reached = |reply: &RedisResult<()>| !reply.as_ref().is_err_and(is_connection_error);
    let error = cluster.nodes.iter().map(ping).find(reached)?.err()?;
    Some(error).filter(|error| !Error::Redis(error.clone()).is_unavailable())
}

/// Whether the reply says that the command was not executed, and that another connection may do better.
fn is_elsewhere(pipe: &Pipe, error: &RedisError) -> bool {
    match &pipe.inner {
        Inner::Server(_) => is_read_only(error) && pipe.since.elapsed() >= REOPEN_APART,
        Inner::Cluster(_) => is_misrouted(error),
    }
}

/// Asks all Sentinels at the same time. The first master that one of them names and that says so itself counts.
fn master(sentinels: &Sentinels, timeout: Duration) -> RedisResult<redis::Connection> {
    let (sender, receiver) = channel();
    let deadline = Instant::now() + timeout;
    for sentinel in &sentinels.sentinels {
        let (sentinels, sentinel, sender) = (sentinels.clone(), sentinel.clone(), sender.clone());
        // The other threads end with their timeouts.
        spawn(move || {
            let _ = sender.send(ask(&sentinels, &sentinel, timeout));
        });
    }
    drop(sender);
    let mut failure = sentinels.no_reply();
    while let Ok(result) = receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        match result {
            Ok(master) => return Ok(master),
            Err(later) => failure = failure.or(later),
        }
    }
    Err(failure.error)
}

fn ask(sentinels: &Sentinels, sentinel: &Client, timeout: Duration) -> Result<redis::Connection, Failure> {
    let connect = |client: &Client| {
        let connection = client.connect(timeout)?;
        connection.set_read_timeout(Some(timeout))?;
        Ok(connection)
    };
    let mut connection = connect(sentinel).map_err(Failure::of_sentinel)?;
    let client = sentinels.client(sentinels.question().query(&mut connection))?;
    let master = || {
        let mut master = connect(&client)?;
        require_master(&redis::cmd("ROLE").query(&mut master)?)?;
        Ok(master)
    };
    master().map_err(Failure::of_master)
}
