//! The connections that a limiter sends its commands over.

use std::time::Duration;

use redis::{Cmd, ErrorKind, RedisError, RedisResult, Value};

use crate::address::routing::{part, routing};
use crate::core::{Outgoing, at_most_a_year};
use crate::error::Error;
use crate::link::Link;

/// A connection that can be cloned and shared: of the crate `redis`, or your own.
///
/// Use [`Link`](crate::Link), which [`Limiter::open`](crate::Limiter::open) makes of a URL. The trait is also implemented for
/// connections of the crate `redis` that a program has already:
///
/// - `ConnectionManager`: it waits for the server at its start, keeps a connection that replies READONLY after a failover,
///   and fails the first request after the server closed the connection.
/// - `ClusterConnection`: it repeats a command whose connection broke, although the server may
///   have charged it. `retries(0)` of its builder turns that off.
/// - `MultiplexedConnection`: it does not connect again.
pub trait Connection: Clone + Send + Sync + 'static {
    /// Sends a command and returns its reply. `key` is the key whose slot decides which node of a cluster gets it.
    fn send(&mut self, cmd: Cmd, key: &[u8]) -> impl Future<Output = RedisResult<Value>> + Send;

    /// Sends commands that do not depend on each other, and sets the reply of each as soon as it is there. This may be
    /// dropped before the last reply has come.
    ///
    /// If not given, they are sent at the same time over clones of this connection. A connection to one server sends
    /// them as a pipeline.
    fn send_each(&mut self, all: &mut [Outgoing<'_>]) -> impl Future<Output = ()> + Send {
        let sends = all.iter_mut().map(|outgoing| {
            let (mut connection, command) = (self.clone(), outgoing.command().clone());
            async move { outgoing.set_reply(connection.send(command, outgoing.key()).await) }
        });
        let sends = futures_util::future::join_all(sends);
        async { drop(sends.await) }
    }

    /// The part of the server that decides on a key: a number below 256 for a range of slots of a cluster, 0 for a single
    /// server. The circuit breaker of a part does not stop the requests of the others.
    fn part(&self, _key: &[u8]) -> u64 {
        0
    }

    /// The connection of this crate. It has time limits and circuit breakers of its own.
    #[doc(hidden)]
    fn link(&self) -> Option<&Link> {
        None
    }
}

/// A connection to one server.
macro_rules! one_server {
    ($connection:ty) => {
        impl Connection for $connection {
            async fn send(&mut self, cmd: Cmd, _: &[u8]) -> RedisResult<Value> {
                cmd.query_async(self).await
            }

            async fn send_each(&mut self, all: &mut [Outgoing<'_>]) {
                let replies = self.send_packed_commands(&Outgoing::pipeline(all), 0, all.len()).await;
                Outgoing::set_replies(all, replies);
            }
        }
    };
}

one_server!(redis::aio::MultiplexedConnection);
one_server!(redis::aio::ConnectionManager);

impl Connection for redis::cluster_async::ClusterConnection {
    async fn send(&mut self, cmd: Cmd, key: &[u8]) -> RedisResult<Value> {
        self.route_command(cmd, routing(key)).await?.extract_error()
    }

    fn part(&self, key: &[u8]) -> u64 {
        part(key)
    }
}

impl Connection for Link {
    async fn send(&mut self, cmd: Cmd, key: &[u8]) -> RedisResult<Value> {
        match self.request(cmd, key, at_most_a_year(Duration::MAX)).await {
            Ok(reply) => reply.value,
            Err(Error::Redis(error)) => Err(error),
            Err(error) => Err(RedisError::from((ErrorKind::Io, "there is no reply", error.to_string()))),
        }
    }

    fn link(&self) -> Option<&Link> {
        Some(self)
    }
}
