//! Where the server is, from a URL.

pub(crate) mod routing;
#[cfg(feature = "tls")]
mod trust;
mod url;

use std::str::FromStr;
use std::time::Duration;

use redis::{ConnectionAddr, ConnectionInfo, RedisError, ServerErrorKind};

use crate::error::Error;
#[cfg(feature = "tls")]
pub(crate) use trust::Trust;

/// The certificates that a connection trusts: none without TLS.
#[cfg(not(feature = "tls"))]
#[derive(Clone, Debug, Default)]
pub(crate) struct Trust();

/// How long one connection may take to open. The requests that wait for it have a timeout of their own.
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// A connection that is younger is not given up for READONLY: another one would reply the same.
pub(crate) const REOPEN_APART: Duration = Duration::from_millis(200);

/// How long it may take until a connection is open, with Sentinels, a login and the nodes of a cluster.
pub(crate) const OPEN_TIMEOUT: Duration = Duration::from_secs(5);

/// Where the server is: one server, a cluster, or a master that Sentinels know. Nothing is connected yet.
///
/// | URL | |
/// |---|---|
/// | `redis://[user:password@]host[:6379][/db]` | a server |
/// | `rediss://…` | the same with TLS; the feature `tls` |
/// | `unix:///path?db=0&user=…&pass=…` | a server on this machine |
/// | `redis-cluster://[user:password@]host[:6379],host[:6379]…` | a cluster, by some of its nodes |
/// | `redis-sentinel://[user:password@]host[:26379],host[:26379]…/name[/db]` | the master of that name; the user is that of the master |
///
/// `rediss-cluster` and `rediss-sentinel` are the same with TLS. Parameters follow `?` and have `&` between them:
///
/// - `protocol=resp3`: the protocol; RESP2 if not given.
/// - `ca=/path`, `cert=/path`, `key=/path`, with TLS: files with the PEM of the certificates that are trusted (else those
///   of the system), and of the certificate and the key of this client.
/// - `sentinel_username`, `sentinel_password`: the user of the Sentinels, if they have one.
///
/// ```
/// use redis_rl_client::Address;
///
/// let address: Address = "redis-sentinel://a.example,b.example/main?protocol=resp3".parse()?;
/// let error = "http://localhost".parse::<Address>().unwrap_err();
/// assert!(error.to_string().starts_with("invalid URL: expected redis://"));
/// # Ok::<(), redis_rl_client::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Address(pub(crate) Kind, pub(crate) Trust);

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Server(Box<ConnectionInfo>),
    /// By some of its nodes.
    Cluster(Vec<ConnectionInfo>),
    Sentinel(Box<Sentinels>),
}

/// The Sentinels, and how to connect to the master.
#[derive(Clone, Debug)]
pub(crate) struct Sentinels {
    pub sentinels: Vec<ConnectionInfo>,
    pub name: String,
    /// The settings of the master, with another address.
    pub master: ConnectionInfo,
}

impl FromStr for Address {
    type Err = Error;

    fn from_str(url: &str) -> Result<Self, Error> {
        url::parse(url).map(|(kind, trust)| Self(kind, trust))
    }
}

/// The same settings for another server.
pub(crate) fn at(info: &ConnectionInfo, host: String, port: u16) -> ConnectionInfo {
    let address = match info.addr() {
        ConnectionAddr::TcpTls { insecure, tls_params, .. } => {
            ConnectionAddr::TcpTls { host, port, insecure: *insecure, tls_params: tls_params.clone() }
        }
        _ => ConnectionAddr::Tcp(host, port),
    };
    info.clone().set_addr(address)
}

/// Whether the reply says that this server is not the master any more, so that the command was not executed, and another
/// connection may reach the master.
pub(crate) fn is_read_only(error: &RedisError) -> bool {
    error.kind() == ServerErrorKind::ReadOnly.into()
}

/// Whether the reply of a node of a cluster says that the command was not executed, and that the map of the slots is old.
pub(crate) fn is_misrouted(error: &RedisError) -> bool {
    let kinds = [ServerErrorKind::Moved, ServerErrorKind::TryAgain, ServerErrorKind::ReadOnly];
    kinds.into_iter().any(|kind| error.kind() == kind.into())
}
