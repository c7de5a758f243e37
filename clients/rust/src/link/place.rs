//! Where a connection leads to.

use redis::{ConnectionInfo, RedisResult};

use super::open::{Connection, connect, in_time};
use super::sentinel;
use crate::address::{OPEN_TIMEOUT, Sentinels, Trust};

/// Where a connection leads to.
#[derive(Clone, Debug)]
pub enum Place {
    Server(Box<ConnectionInfo>, Trust),
    /// The master that Sentinels name.
    Sentinel(Box<Sentinels>, Trust),
}

impl Place {
    /// Opens a connection. The server has replied to PING then, if only with an error.
    pub async fn open(&self) -> RedisResult<Connection> {
        let opening = async {
            match self {
                Self::Server(info, trust) => connect(info, trust).await,
                Self::Sentinel(sentinels, trust) => sentinel::master(sentinels, trust).await,
            }
        };
        in_time(OPEN_TIMEOUT, opening).await
    }
}
