//! What opens the connections of a limiter without an async runtime.

use std::time::Duration;

use redis::{Cmd, RedisResult, Value};

/// What opens connections: `redis::Client`, with the feature `cluster` `ClusterClient`, or your own.
pub trait Connector: Send + Sync + 'static {
    /// A connection.
    type Connection: Send;

    /// Opens a connection, within this time.
    ///
    /// # Errors
    /// There is no connection.
    fn connect(&self, timeout: Duration) -> RedisResult<Self::Connection>;

    /// Sends a command and waits for its reply, at most for this time. `key` is the key whose slot decides which node of a
    /// cluster gets it.
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
}

/// The timeout is that of each reply. A cluster's connection repeats a command that failed, so give its builder
/// `retries(0)` where no request may take longer.
#[cfg(feature = "cluster")]
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
        connection.route_command(command, crate::routing::routing(key))?.extract_error()
    }
}
