//! The connections that a limiter sends its commands over.

use redis::{Cmd, RedisResult, Value};

/// A connection that can be cloned and shared: of the crate `redis`, or your own.
///
/// It is implemented for `MultiplexedConnection`, `ConnectionManager` and, with the feature `cluster`,
/// `ClusterConnection`. Use `ConnectionManager` rather than `MultiplexedConnection` in a service: it connects again after
/// the server was restarted, and the other does not. `ClusterConnection` repeats a command whose connection broke, although
/// the server may have charged it; `retries(0)` of its builder turns that off.
pub trait Connection: Clone + Send + Sync + 'static {
    /// Sends a command and returns its reply. `key` is the key whose slot decides which node of a cluster gets it.
    fn send(&mut self, cmd: Cmd, key: &[u8]) -> impl Future<Output = RedisResult<Value>> + Send;
}

impl Connection for redis::aio::MultiplexedConnection {
    async fn send(&mut self, cmd: Cmd, _: &[u8]) -> RedisResult<Value> {
        cmd.query_async(self).await
    }
}

impl Connection for redis::aio::ConnectionManager {
    async fn send(&mut self, cmd: Cmd, _: &[u8]) -> RedisResult<Value> {
        cmd.query_async(self).await
    }
}

#[cfg(feature = "cluster")]
impl Connection for redis::cluster_async::ClusterConnection {
    async fn send(&mut self, cmd: Cmd, key: &[u8]) -> RedisResult<Value> {
        self.route_command(cmd, crate::routing::routing(key)).await?.extract_error()
    }
}
