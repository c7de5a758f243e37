//! The connection of a limiter that is made from a URL: it opens itself when it is needed, and again when it is broken or
//! has lost its master.

mod nodes;
mod open;
mod sentinel;
mod server;

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use redis::{Cmd, Pipeline, Value};
use tokio::task::yield_now;
use tokio::time::timeout;

use crate::address::{Address, Kind, REOPEN_APART, is_read_only};
use crate::error::Error;
use crate::stats::Gauge;
use nodes::Nodes;
pub(crate) use server::Late;
use server::{Commands, Place, Replies, Server};

/// A connection that is opened when it is needed. Clones share it, and its circuit breaker.
///
/// It is opened again, through the name of the address, if it breaks, if the server has closed it since the last request,
/// if the server replies READONLY (it is not the master any more), and if the server is silent for a second; Sentinels
/// are asked each time. A command that was sent is sent again only if the reply says that it was not executed: READONLY,
/// and in a cluster MOVED, ASK and TRYAGAIN.
///
/// The limiter that was built last over it sets when its circuit breaker opens.
#[derive(Clone, Debug)]
pub struct Link(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    gauge: Arc<Gauge>,
    to: To,
}

#[derive(Debug)]
enum To {
    Server(Server),
    Cluster(Nodes),
}

impl Link {
    /// A connection to this address. Nothing is sent yet, so there is nothing to wait for, and no server need be there.
    pub fn new(address: impl Into<Address>) -> Self {
        let gauge = Arc::<Gauge>::default();
        let Address(kind, trust) = address.into();
        let server = |place| To::Server(Server::new(place, None, Arc::clone(&gauge)));
        let to = match kind {
            Kind::Server(info) => server(Place::Server(info, trust)),
            Kind::Sentinel(sentinels) => server(Place::Sentinel(sentinels, trust)),
            Kind::Cluster(seeds) => To::Cluster(Nodes::new(seeds, trust, Arc::clone(&gauge))),
        };
        Self(Arc::new(Shared { gauge, to }))
    }

    /// A connection to the address of this URL.
    ///
    /// # Errors
    /// [`Error::InvalidUrl`].
    pub fn open(url: &str) -> Result<Self, Error> {
        url.parse::<Address>().map(Self::new)
    }

    pub(crate) fn gauge(&self) -> &Gauge {
        &self.0.gauge
    }

    /// After how long a silence the circuit breaker opens.
    pub(crate) fn set_silence(&self, silence: Option<Duration>) {
        match &self.0.to {
            To::Server(server) => server.set_silence(silence),
            To::Cluster(nodes) => nodes.set_silence(silence),
        }
    }

    /// Opens the connection if there is none.
    pub(crate) async fn connect(&self) -> Result<(), Error> {
        match &self.0.to {
            To::Server(server) => server.connect().await,
            To::Cluster(nodes) => nodes.connect().await,
        }
    }

    /// Sends a command, and waits for its reply. `key` is the key whose slot decides which node of a cluster gets it.
    ///
    /// # Errors
    /// There is no connection, or it broke.
    pub async fn send(&self, command: Cmd, key: &[u8]) -> Result<Value, Error> {
        let mut commands = redis::pipe();
        commands.add_command(command);
        value(self.request(commands, key, at_most_a_year(Duration::MAX), &mut None).await?)
    }

    /// Whether keys of different slots need requests of their own.
    pub(crate) fn is_cluster(&self) -> bool {
        matches!(self.0.to, To::Cluster(_))
    }

    /// Sends commands with one write, and waits for `limit`. The replies are in the order of the commands. A cluster takes
    /// one command. Without replies in time, `late` waits for them.
    ///
    /// # Errors
    /// There is no connection, it broke, the breaker is open, or there is no reply in time.
    pub(crate) async fn request(
        &self,
        commands: Pipeline,
        key: &[u8],
        limit: Duration,
        late: &mut Option<Late>,
    ) -> Result<Replies, Error> {
        let commands = Arc::new(Commands::from(commands));
        match &self.0.to {
            To::Server(server) => request(server, &commands, limit, late).await,
            // The futures of requests to one server stay small.
            To::Cluster(nodes) => Box::pin(nodes.request(&commands, key, limit, late)).await,
        }
    }
}

impl<T: Into<Address>> From<T> for Link {
    fn from(address: T) -> Self {
        Self::new(address)
    }
}

/// The reply to one command.
fn value(mut replies: Replies) -> Result<Value, Error> {
    replies.pop().unwrap_or(Err(Error::UnknownReply))
}

/// Sends commands to one server. If a reply is READONLY, the command was not executed: it is sent again over a new connection,
/// which may reach the master.
async fn request(
    server: &Server,
    commands: &Arc<Commands>,
    limit: Duration,
    late: &mut Option<Late>,
) -> Result<Replies, Error> {
    let began = Instant::now();
    let (mut replies, mut opened) = server.send(commands, limit, late).await?;
    let is_elsewhere = |reply: &Result<Value, Error>| matches!(reply, Err(Error::Redis(error)) if is_read_only(error));
    while replies.iter().any(is_elsewhere) && opened.elapsed() >= REOPEN_APART && began.elapsed() < limit {
        server.retire(opened);
        let again = commands.only(|at| replies.get(at).is_some_and(is_elsewhere));
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
