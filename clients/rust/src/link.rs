//! The connection of a limiter, from a URL: it opens itself when it is needed, and again when it is broken or has lost its
//! master.

mod cluster;
mod gather;
mod open;
mod server;
mod silence;
mod url;

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use redis::{ErrorKind, Pipeline, ServerErrorKind, Value};
use tokio::task::yield_now;
use tokio::time::timeout;

use crate::error::Error;
use crate::stats::Counters;
use cluster::Cluster;
pub use gather::Gather;
pub use server::Late;
use server::{Replies, Server};
pub use url::{Target, parse};

/// A connection that is younger is not given up for READONLY: another one would reply the same.
const REOPEN_APART: Duration = Duration::from_millis(200);

/// The connection to a server, or those to the nodes of a cluster.
#[derive(Debug)]
pub enum Link {
    Server(Arc<Server>),
    Cluster(Arc<Cluster>),
}

impl Link {
    /// Nothing is connected yet. The circuit breaker opens after this silence.
    pub fn new(Target { place, nodes }: Target, silence: Option<Duration>, counters: Arc<Counters>) -> Self {
        match nodes {
            None => Self::Server(Server::new(place, silence, counters)),
            Some(seeds) => Self::Cluster(Arc::new(Cluster::new(seeds, place, silence, counters))),
        }
    }

    /// Opens the connection if there is none.
    pub async fn connect(&self) -> Result<(), Error> {
        match self {
            Self::Server(server) => server.connect().await,
            Self::Cluster(cluster) => cluster.connect().await,
        }
    }

    /// Whether keys of different slots need requests of their own.
    pub fn is_cluster(&self) -> bool {
        matches!(self, Self::Cluster(_))
    }

    /// Sends commands with one write, and waits for `limit`. The replies are in the order of the commands. A cluster takes
    /// one command. Without replies in time, `late` waits for them.
    ///
    /// # Errors
    /// There is no connection, it broke, the breaker is open, or there is no reply in time.
    pub async fn request(
        &self,
        commands: Pipeline,
        key: &[u8],
        limit: Duration,
        late: &mut Option<Late>,
    ) -> Result<Replies, Error> {
        let commands = Arc::new(commands);
        match self {
            Self::Server(server) => request(server, &commands, limit, late).await,
            // The futures of requests to one server stay small.
            Self::Cluster(cluster) => Box::pin(cluster.request(&commands, key, limit, late)).await,
        }
    }
}

/// The reply to the only command.
pub fn value(mut replies: Replies) -> Result<Value, Error> {
    replies.pop().unwrap_or(Err(Error::UnknownReply))
}

/// Sends commands to one server. If a reply is READONLY, the command was not executed: it is sent again over a new connection,
/// which may reach the master.
async fn request(
    server: &Arc<Server>,
    commands: &Arc<Pipeline>,
    limit: Duration,
    late: &mut Option<Late>,
) -> Result<Replies, Error> {
    let began = Instant::now();
    let (mut replies, mut opened) = server.send(commands, limit, late).await?;
    let read_only = ErrorKind::from(ServerErrorKind::ReadOnly);
    let is_elsewhere =
        |reply: &Result<Value, Error>| matches!(reply, Err(Error::Redis(error)) if error.kind() == read_only);
    while replies.iter().any(is_elsewhere) && opened.elapsed() >= REOPEN_APART && began.elapsed() < limit {
        server.retire(opened);
        let mut again = redis::pipe();
        let rejected = commands.cmd_iter().zip(&replies).filter(|(_, reply)| is_elsewhere(reply));
        rejected.for_each(|(command, _)| _ = again.add_command(command.clone()));
        let sent = server.send(&Arc::new(again), limit.saturating_sub(began.elapsed()), &mut None).await;
        let rejected = replies.iter_mut().filter(|reply| is_elsewhere(reply));
        match sent {
            Ok((new, over)) => {
                rejected.zip(new).for_each(|(reply, new)| *reply = new);
                opened = over;
            }
            Err(error) => rejected.for_each(|reply| *reply = Err(error.clone())),
        }
    }
    Ok(replies)
}

/// At most a year: a longer timeout could not be added to the current time.
pub fn at_most_a_year(timeout: Duration) -> Duration {
    timeout.min(Duration::from_secs(365 * 86_400))
}

/// Waits for `limit`. A reply that has come by then counts, even if this process was stopped and has not read it yet. `None`
/// without a reply.
pub async fn within<T>(limit: Duration, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    if let Ok(output) = timeout(limit, &mut future).await {
        return Some(output);
    }
    give_turns().await;
    future.now_or_never()
}

/// Lets the runtime read what has come, and run the tasks that wait for it.
async fn give_turns() {
    for _ in 0..3 {
        yield_now().await;
    }
}
