//! What opens the connections of a limiter without an async runtime.

use std::time::{Duration, Instant};

use redis::{Cmd, RedisResult, Value};

use super::rest_until;
use crate::address::routing::{part, routing, slot};
use crate::core::Outgoing;
use crate::error::ends_connection;

/// What opens connections: an [`Address`](crate::Address), which [`Limiter::open`](super::Limiter::open) makes of a URL;
/// `redis::Client`, `ClusterClient`, or your own.
pub trait Connector: Send + Sync + 'static {
    /// A connection.
    type Connection: Send;

    /// Opens a connection, within this time.
    ///
    /// # Errors
    /// There is no connection.
    fn connect(&self, timeout: Duration) -> RedisResult<Self::Connection>;

    /// Sends a command and waits for its reply, at most for this time. `key` is the key whose slot decides which node of a
    /// cluster gets it. A connection that was idle for half a second gets a PING first, and is dropped if that fails.
    ///
    /// # Errors
    /// The connection failed, or the server replied an error.
    fn send(
        &self,
        connection: &mut Self::Connection,
        command: &Cmd,
        key: &[u8],
        timeout: Duration,
    ) -> RedisResult<Value>;

    /// The commands with keys of one group can share a connection: a number for each node or slot of a cluster, 0 for a
    /// single server.
    fn group(&self, _key: &[u8]) -> u64 {
        0
    }

    /// The part of the server that decides on a key: a number below 256 for a range of slots of a cluster, 0 for a single
    /// server. The circuit breaker of a part does not stop the requests of the others.
    fn part(&self, _key: &[u8]) -> u64 {
        0
    }

    /// Sends commands of one group that do not depend on each other, and sets the reply of each, at most for this time.
    /// If not given, one after the other.
    fn send_each(&self, connection: &mut Self::Connection, all: &mut [Outgoing<'_>], timeout: Duration) {
        one_by_one(self, connection, all, timeout);
    }
}

/// Sends commands one after the other, at most for this time.
pub fn one_by_one<T: Connector + ?Sized>(
    connector: &T,
    connection: &mut T::Connection,
    all: &mut [Outgoing<'_>],
    timeout: Duration,
) {
    let deadline = Instant::now() + timeout;
    for outgoing in all {
        let rest = deadline.saturating_duration_since(Instant::now());
        // A socket takes no timeout of 0.
        if rest.is_zero() {
            return;
        }
        let reply = connector.send(connection, outgoing.command(), outgoing.key(), rest);
        let broken = reply.as_ref().is_err_and(ends_connection);
        outgoing.set_reply(reply);
        if broken {
            return;
        }
    }
}

impl Connector for redis::Client {
    type Connection = redis::Connection;

    fn connect(&self, timeout: Duration) -> RedisResult<redis::Connection> {
        self.get_connection_with_timeout(timeout)
    }

    fn send(
        &self,
        connection: &mut redis::Connection,
        command: &Cmd,
        _: &[u8],
        timeout: Duration,
    ) -> RedisResult<Value> {
        connection.set_read_timeout(Some(timeout))?;
        connection.set_write_timeout(Some(timeout))?;
        command.query(connection)
    }

    fn send_each(&self, connection: &mut redis::Connection, all: &mut [Outgoing<'_>], timeout: Duration) {
        pipelined(connection, all, timeout);
    }
}

/// Sends commands as a pipeline. That of the crate waits for the timeout once for each reply.
pub fn pipelined(connection: &mut redis::Connection, all: &mut [Outgoing<'_>], timeout: Duration) {
    let deadline = Instant::now() + timeout;
    let mut state = connection
        .set_write_timeout(Some(timeout))
        .and_then(|()| connection.send_packed_command(&Outgoing::pipeline(all).get_packed_pipeline()));
    for outgoing in all {
        let reply = state.and_then(|()| receive(connection, deadline));
        // The first error that is no reply is that of all that follow.
        state = reply.as_ref().map(|_| ()).map_err(Clone::clone);
        outgoing.set_reply(reply);
    }
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

/// The timeout is that of each reply. A cluster's connection repeats a command that failed, so give its builder
/// `retries(0)` where no request may take longer.
impl Connector for redis::cluster::ClusterClient {
    type Connection = redis::cluster::ClusterConnection;

    fn connect(&self, timeout: Duration) -> RedisResult<Self::Connection> {
        let config = redis::cluster::ClusterConfig::new();
        self.get_connection_with_config(config.set_connection_timeout(timeout).set_response_timeout(timeout))
    }

    fn send(
        &self,
        connection: &mut Self::Connection,
        command: &Cmd,
        key: &[u8],
        timeout: Duration,
    ) -> RedisResult<Value> {
        connection.set_read_timeout(Some(timeout))?;
        connection.set_write_timeout(Some(timeout))?;
        connection.route_command(command, routing(key))?.extract_error()
    }

    fn group(&self, key: &[u8]) -> u64 {
        slot(key)
    }

    fn part(&self, key: &[u8]) -> u64 {
        part(key)
    }
}
