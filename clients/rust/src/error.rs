//! What can go wrong.

use std::time::Duration;

use redis::{ErrorKind, RedisError};

/// Why there is no decision.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The server did not reply within this time. It may still have charged the request.
    #[error("the server did not reply within {0:?}")]
    Timeout(Duration),
    /// The circuit breaker is open: earlier requests failed, so this one was not sent.
    #[error("the circuit breaker is open: earlier requests had no reply")]
    CircuitOpen,
    /// The limiter decides [without the server](crate::Limiter::without_server). Nothing was sent.
    #[error("overloaded: the server was not asked")]
    Overloaded,
    /// The connection failed, or the server replied an error.
    #[error(transparent)]
    Redis(#[from] RedisError),
    /// The server has no module, and the limiter [requires](crate::Builder::require_module) it.
    #[error("the server has no module redis-rl, which this limiter requires: load it, as docs/install.md says")]
    NeedsModule,
    /// The reply is none of the module's.
    #[error("the reply has another form than those of the module redis-rl")]
    UnknownReply,
    /// The call does not work for this algorithm; the text says what does.
    #[error("{0}")]
    Unsupported(&'static str),
    /// The URL of a server is invalid. The text says what is expected, and never shows the URL.
    #[error("invalid URL: {0}")]
    InvalidUrl(String),
    /// A request lacks the value that its key is made of, such as a header.
    #[error("the request has no {0}, so it has no key")]
    MissingKey(&'static str),
    /// The secret of the keys is empty.
    #[error("the secret of the keys is empty")]
    EmptySecret,
}

impl Error {
    /// Whether the server cannot decide now, so that [`Fallback`](crate::Fallback) applies. An error that says what is
    /// wrong with the request, such as WRONGTYPE, is none of these.
    pub fn is_unavailable(&self) -> bool {
        match self {
            Self::Timeout(_) | Self::CircuitOpen | Self::Overloaded => true,
            Self::Redis(error) => is_connection_error(error) || cannot_decide_now(error),
            _ => false,
        }
    }

    /// Whether the server may have charged a request that got this error: it was sent, and there was no reply.
    pub(crate) fn may_be_charged(&self) -> bool {
        match self {
            // With a timeout of 0 nothing is sent.
            Self::Timeout(limit) => !limit.is_zero(),
            Self::Redis(error) => is_connection_error(error),
            _ => false,
        }
    }
}

/// Whether the connection failed, so that nobody knows whether the server executed the command.
pub(crate) fn is_connection_error(error: &RedisError) -> bool {
    let kinds = [ErrorKind::Io, ErrorKind::ClusterConnectionNotFound, ErrorKind::MasterNameNotFoundBySentinel];
    kinds.contains(&error.kind())
}

/// Whether the server works, but does not accept this write now.
fn cannot_decide_now(error: &RedisError) -> bool {
    let codes =
        ["LOADING", "CLUSTERDOWN", "MASTERDOWN", "TRYAGAIN", "BUSY", "READONLY", "MISCONF", "OOM", "NOREPLICAS"];
    let too_many_clients = || error.detail().is_some_and(|detail| detail.starts_with("max number of clients"));
    error.code().is_some_and(|code| codes.contains(&code) || (code == "ERR" && too_many_clients()))
}

#[cfg(test)]
mod tests {
    use redis::{Value, parse_redis_value};

    use super::*;

    fn replied(text: &str) -> Error {
        let reply = parse_redis_value(format!("-{text}\r\n").as_bytes()).and_then(Value::extract_error);
        Error::Redis(reply.expect_err("an error"))
    }

    #[test]
    fn a_fallback_applies_to_what_the_server_cannot_decide_now() {
        let vectors = include_str!("../../../vectors/errors.json");
        let vectors: serde_json::Value = serde_json::from_str(vectors).expect("JSON");
        for (list, is_unavailable) in [("cannot_decide", true), ("faults", false)] {
            for text in vectors[list].as_array().expect(list) {
                let error = replied(text.as_str().expect("a text"));
                // The server replied.
                assert!(error.is_unavailable() == is_unavailable && !error.may_be_charged(), "{text}");
            }
        }
        // Only with a cluster's client that does not follow it; and not by its text alone.
        for text in ["MOVED 1 127.0.0.1:7000", "ERRORS max number of clients reached"] {
            assert!(!replied(text).is_unavailable(), "{text}");
        }
    }

    #[test]
    fn what_had_no_reply_may_be_charged() {
        for kind in [ErrorKind::Io, ErrorKind::ClusterConnectionNotFound, ErrorKind::MasterNameNotFoundBySentinel] {
            let error = Error::Redis(RedisError::from((kind, "no connection")));
            assert!(error.is_unavailable() && error.may_be_charged(), "{kind:?}");
        }
        assert!(Error::Timeout(Duration::from_millis(1)).may_be_charged());
        // It was not sent.
        for error in [Error::Timeout(Duration::ZERO), Error::CircuitOpen, Error::Overloaded] {
            assert!(error.is_unavailable() && !error.may_be_charged(), "{error}");
        }
        for error in [Error::UnknownReply, Error::NeedsModule, Error::MissingKey("header")] {
            assert!(!error.is_unavailable() && !error.may_be_charged(), "{error}");
        }
    }
}
