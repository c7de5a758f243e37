//! The connection of a limiter that is made from a URL: it opens itself when it is needed, and again when it is broken or
//! has lost its master.

mod nodes;
mod pipe;

use std::sync::Arc;
use std::time::Duration;

use redis::{Cmd, Value};

use crate::address::{Address, Kind, REOPEN_APART, is_read_only};
use crate::core::at_most_a_year;
use crate::error::Error;
use crate::protocol::Commands;
use crate::stats::Gauge;
use nodes::Nodes;
use pipe::{Pipe, Place, Reply};

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
    Server(Pipe),
    Cluster(Nodes),
}

impl Link {
    /// A connection to this address. Nothing is sent yet, so there is nothing to wait for, and no server need be there.
    pub fn new(address: impl Into<Address>) -> Self {
        let gauge = Arc::<Gauge>::default();
        let Address(kind, trust) = address.into();
        let pipe = |place| To::Server(Pipe::new(place, None, Arc::clone(&gauge)));
        let to = match kind {
            Kind::Server(client) => pipe(Place::Server(Box::new(client.get_connection_info().clone()), trust)),
            Kind::Sentinel(sentinels) => pipe(Place::Sentinel(sentinels, trust)),
            Kind::Cluster(seeds) => To::Cluster(Nodes::new(&seeds, trust, Arc::clone(&gauge))),
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

    pub(crate) fn gauge(&self) -> Arc<Gauge> {
        Arc::clone(&self.0.gauge)
    }

    /// After how long a silence the circuit breaker opens.
    pub(crate) fn set_silence(&self, silence: Option<Duration>) {
        match &self.0.to {
            To::Server(pipe) => pipe.set_silence(silence),
            To::Cluster(nodes) => nodes.set_silence(silence),
        }
    }

    /// Opens the connection if there is none.
    pub(crate) async fn connect(&self) -> Result<(), Error> {
        match &self.0.to {
            To::Server(pipe) => pipe.connect().await,
            To::Cluster(nodes) => nodes.connect().await,
        }
    }

    /// Sends a command, and waits for its reply. `key` is the key whose slot decides which node of a cluster gets it.
    ///
    /// # Errors
    /// There is no connection, or it broke.
    pub async fn send(&self, command: Cmd, key: &[u8]) -> Result<Value, Error> {
        self.request(Commands::from(&command), key, at_most_a_year(Duration::MAX)).await?.value()
    }

    /// Whether keys of different slots need requests of their own.
    pub(crate) fn is_cluster(&self) -> bool {
        matches!(self.0.to, To::Cluster(_))
    }

    /// Sends commands, for which the server may take so long: to a cluster, one. An error if none of them has a reply.
    pub(crate) async fn request(&self, commands: Commands, key: &[u8], limit: Duration) -> Result<Reply, Error> {
        match &self.0.to {
            To::Server(pipe) => again(pipe, pipe.send(commands, limit).await?, limit).await,
            // The futures of requests to one server stay small.
            To::Cluster(nodes) => Box::pin(nodes.request(commands, key, limit)).await,
        }
    }
}

impl<T: Into<Address>> From<T> for Link {
    fn from(address: T) -> Self {
        Self::new(address)
    }
}

/// Sends commands over another connection, if the reply says that the master is elsewhere.
async fn again(pipe: &Pipe, mut reply: Reply, limit: Duration) -> Result<Reply, Error> {
    let is_elsewhere = |value: &Result<Value, Error>| matches!(value, Err(Error::Redis(error)) if is_read_only(error));
    while reply.values.iter().any(is_elsewhere) && reply.via.age >= REOPEN_APART && reply.took < limit {
        pipe.retire(reply.via);
        let commands = reply.commands.only(|at| reply.values.get(at).is_some_and(is_elsewhere));
        let sent = pipe.send(commands, limit - reply.took).await;
        let rejected = reply.values.iter_mut().filter(|value| is_elsewhere(value));
        match sent {
            Ok(mut sent) => {
                sent.commands.accept();
                rejected.zip(sent.values).for_each(|(value, new)| *value = new);
                (reply.took, reply.via) = (reply.took + sent.took, sent.via);
            }
            Err(error) => rejected.for_each(|value| *value = Err(error.clone())),
        }
    }
    Ok(reply)
}
