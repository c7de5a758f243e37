//! What can go wrong.

use std::fmt;
use std::time::Duration;

use redis::{ErrorKind, RedisError};

use crate::policy::Algorithm;

/// Why there is no decision.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// The server did not reply within this time. It may still have charged the request.
    Timeout(Duration),
    /// The circuit breaker is open: earlier requests failed, so this one was not sent.
    CircuitOpen,
    /// The connection failed, or the server replied an error.
    Redis(RedisError),
    /// The server has no module, and the Lua library does not have this algorithm.
    NeedsModule(Algorithm),
    /// The reply is none of the module's.
    UnknownReply,
    /// The call does not work for this algorithm; the text says what does.
    Unsupported(&'static str),
    /// The URL of a server is none that this crate understands. The text says what it expects, and never shows the URL.
    InvalidUrl(String),
    /// A request has no value to make a key of. The text says what is missing: a header, for example.
    MissingKey(&'static str),
}

impl Error {
    /// Whether the server cannot decide now, so that [`Fallback`](crate::Fallback) applies. An error that says what is
    /// wrong with the request, such as WRONGTYPE, is none of these.
    pub fn is_unavailable(&self) -> bool {
        match self {
            Self::Timeout(_) | Self::CircuitOpen => true,
            Self::Redis(error) => is_connection_error(error) || cannot_decide_now(error),
            Self::NeedsModule(_)
            | Self::UnknownReply
            | Self::Unsupported(_)
            | Self::InvalidUrl(_)
            | Self::MissingKey(_) => false,
        }
    }

    /// Whether the circuit breaker counts it: there was no reply.
    pub(crate) fn is_failure(&self) -> bool {
        match self {
            Self::Timeout(_) => true,
            Self::Redis(error) => is_connection_error(error),
            _ => false,
        }
    }
}

/// The connection failed, so it is not known whether the command was executed.
pub(crate) fn is_connection_error(error: &RedisError) -> bool {
    let kinds = [
        ErrorKind::Io,
        ErrorKind::ClusterConnectionNotFound,
        ErrorKind::MasterNameNotFoundBySentinel,
        ErrorKind::EmptySentinelList,
    ];
    kinds.contains(&error.kind())
}

/// Replies of a server that works, but does not accept this write now.
fn cannot_decide_now(error: &RedisError) -> bool {
    let codes =
        ["LOADING", "CLUSTERDOWN", "MASTERDOWN", "TRYAGAIN", "BUSY", "READONLY", "MISCONF", "OOM", "NOREPLICAS"];
    let too_many_clients = || error.detail().is_some_and(|detail| detail.contains("max number of clients reached"));
    error.code().is_some_and(|code| codes.contains(&code) || (code == "ERR" && too_many_clients()))
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout(after) => write!(f, "the server did not reply within {after:?}"),
            Self::CircuitOpen => f.write_str("the circuit breaker is open: earlier requests had no reply"),
            Self::Redis(error) => error.fmt(f),
            Self::NeedsModule(algorithm) => {
                write!(f, "{} needs the module redis-rl, and the server does not have it", algorithm.word())
            }
            Self::UnknownReply => f.write_str("the reply is none of the module redis-rl"),
            Self::Unsupported(text) => f.write_str(text),
            Self::InvalidUrl(what) => write!(f, "invalid URL: {what}"),
            Self::MissingKey(what) => write!(f, "the request has no {what} to make a key of"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Redis(error) => Some(error),
            _ => None,
        }
    }
}

impl From<RedisError> for Error {
    fn from(error: RedisError) -> Self {
        Self::Redis(error)
    }
}
