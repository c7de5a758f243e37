//! The connections of a limiter without a runtime, of the crate `redis`.

use std::sync::mpsc::channel;
use std::thread::spawn;
use std::time::{Duration, Instant};

use redis::cluster::{ClusterClient, ClusterConnection};
use redis::{Client, RedisError, RedisResult, Value};

use super::rest_until;
use crate::address::routing::{asked, given_up, routing};
use crate::address::{
    Address, Failure, Kind, REOPEN_APART, Sentinels, Trust, is_misrouted, is_read_only, require_master,
};
use crate::error::{Error, ends_connection, is_connection_error};
use crate::protocol::{Commands, parse};

/// A cluster's connection asks the nodes in turn, so one that hangs must not take all of the time.
const NODES_IN_TURN: u32 = 4;

/// A connection to an [`Address`].
pub struct Connection {
    to: To,
    since: Instant,
}

enum To {
    Server(redis::Connection),
    Cluster(Box<ClusterConnection>),
}

impl Connection {
    /// Opens a connection, within this time.
    pub fn open(address: &Address, timeout: Duration) -> RedisResult<Self> {
        let to = match &address.0 {
            Kind::Server(client) => To::Server(client.get_connection_with_timeout(timeout)?),
            Kind::Cluster(nodes) => To::Cluster(Box::new(connect_cluster(nodes, &address.1, timeout / NODES_IN_TURN)?)),
            Kind::Sentinel(sentinels) => To::Server(master(sentinels, timeout)?),
        };
        Ok(Self { to, since: Instant::now() })
    }

    /// Sends commands with keys of one slot that do not depend on each other. The reply of each, which there is by then.
    pub fn send(
        &mut self,
        address: &Address,
        all: &Commands,
        key: &[u8],
        deadline: Instant,
    ) -> Vec<RedisResult<Value>> {
        let mut replies = self.send_once(all, key, deadline);
        for (command, reply) in all.iter().zip(&mut replies) {
            // It was not executed. Another connection may reach the master, and knows the slots of now.
            while reply.as_ref().is_err_and(|error| self.is_elsewhere(error)) && Instant::now() < deadline {
                *reply = Self::open(address, rest_until(deadline)).and_then(|new| {
                    *self = new;
                    self.send_once(&Commands::from_iter([command]), key, deadline).remove(0)
                });
            }
        }
        replies.into_iter().map(|reply| reply.map_err(given_up)).collect()
    }

    fn send_once(&mut self, all: &Commands, key: &[u8], deadline: Instant) -> Vec<RedisResult<Value>> {
        let mut state = match &mut self.to {
            To::Server(connection) => write(connection, all, deadline),
            To::Cluster(_) => Ok(()),
        };
        let reply = |command| {
            let reply = state.clone().and_then(|()| match &mut self.to {
                To::Server(connection) => receive(connection, deadline),
                To::Cluster(connection) => ask_node(connection, command, key, deadline),
            });
            // The first error that is no reply is that of all that follow.
            state = reply.as_ref().map(drop).map_err(Clone::clone).or_else(only_broken);
            reply.and_then(Value::extract_error)
        };
        all.iter().map(reply).collect()
    }

    /// Whether the reply says that the command was not executed, and that another connection may do better.
    fn is_elsewhere(&self, error: &RedisError) -> bool {
        match &self.to {
            To::Server(_) => is_read_only(error) && self.since.elapsed() >= REOPEN_APART,
            To::Cluster(_) => is_misrouted(error),
        }
    }
}

/// A reply that is an error does not end a connection.
fn only_broken(error: RedisError) -> RedisResult<()> {
    if ends_connection(&error) { Err(error) } else { Ok(()) }
}

fn write(connection: &mut redis::Connection, all: &Commands, deadline: Instant) -> RedisResult<()> {
    connection.set_write_timeout(Some(rest_until(deadline)))?;
    connection.send_packed_command(all.bytes())
}

/// The next reply, which may be an error of the server.
fn receive(connection: &mut redis::Connection, deadline: Instant) -> RedisResult<Value> {
    loop {
        connection.set_read_timeout(Some(rest_until(deadline)))?;
        match connection.recv_response()? {
            Value::Push { .. } => {}
            reply => return Ok(reply),
        }
    }
}

fn ask_node(node: &mut ClusterConnection, command: &[u8], key: &[u8], deadline: Instant) -> RedisResult<Value> {
    let command = &parse(command)?;
    node.set_read_timeout(Some(rest_until(deadline)))?;
    node.set_write_timeout(Some(rest_until(deadline)))?;
    let reply = node.route_command(command, routing(key)).and_then(Value::extract_error);
    match reply.as_ref().err().and_then(asked) {
        Some(named) => {
            let named = redis::cluster_routing::RoutingInfo::SingleNode(named);
            node.route_command(&redis::cmd("ASKING"), named.clone())?;
            node.route_command(command, named)
        }
        None => reply,
    }
}

/// Opens a connection, within this time for each node.
fn connect_cluster(nodes: &[Client], trust: &Trust, timeout: Duration) -> RedisResult<ClusterConnection> {
    let infos = nodes.iter().map(|node| node.get_connection_info().clone());
    let protocol = infos.clone().next().map(|info| info.redis_settings().protocol()).unwrap_or_default();
    let builder = ClusterClient::builder(infos)
        .use_protocol(protocol)
        // Nothing that may have been executed is sent again. Redirections are followed by this crate.
        .retries(0)
        .connection_timeout(timeout)
        .response_timeout(timeout);
    #[cfg(feature = "tls")]
    let builder = match trust.certificates.clone() {
        Some(certificates) => builder.certs(certificates),
        None => builder,
    };
    #[cfg(not(feature = "tls"))]
    let _ = trust;
    builder.build()?.get_connection().map_err(|error| {
        let reason = is_connection_error(&error).then(|| login_error(nodes, timeout)).flatten();
        reason.unwrap_or(error)
    })
}

/// What the first node that can be reached says against the user or the password. The crate's own error may only say
/// that the node did not reply to PING.
fn login_error(nodes: &[Client], timeout: Duration) -> Option<RedisError> {
    let ping = |node: &Client| {
        let mut connection = node.get_connection_with_timeout(timeout)?;
        connection.set_read_timeout(Some(timeout))?;
        redis::cmd("PING").exec(&mut connection)
    };
    let reached = |reply: &RedisResult<()>| !reply.as_ref().is_err_and(is_connection_error);
    let error = nodes.iter().map(ping).find(reached)?.err()?;
    Some(error).filter(|error| !Error::Redis(error.clone()).is_unavailable())
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
        let connection = client.get_connection_with_timeout(timeout)?;
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
