//! The master that Sentinels name. The crate `redis` asks them one after the other, without a common time limit, so one
//! that hangs would hide the others.

use redis::{Client, Cmd, ConnectionInfo, ErrorKind, RedisError, RedisResult, Value};

use super::at;
use crate::error::is_connection_error;

/// The Sentinels, and how to connect to the master.
#[derive(Clone, Debug)]
pub struct Sentinels {
    pub sentinels: Vec<Client>,
    pub name: String,
    /// The settings of the master, with another address.
    pub master: ConnectionInfo,
}

impl Sentinels {
    /// The command that asks a Sentinel for the address.
    pub fn question(&self) -> Cmd {
        let mut command = redis::cmd("SENTINEL");
        command.arg("GET-MASTER-ADDR-BY-NAME").arg(&self.name);
        command
    }

    /// The client of the master that a Sentinel has named.
    pub fn client(&self, reply: RedisResult<Option<(String, u16)>>) -> Result<Client, Failure> {
        let (host, port) = reply.and_then(|reply| reply.ok_or_else(|| self.unknown())).map_err(Failure::of_sentinel)?;
        Client::open(at(&self.master, host, port)).map_err(Failure::of_master)
    }

    /// What counts while no Sentinel has replied.
    pub fn no_reply(&self) -> Failure {
        let text = "no Sentinel names a master of that name in time";
        Failure::of_sentinel((ErrorKind::MasterNameNotFoundBySentinel, text, self.name.clone()).into())
    }

    /// A Sentinel has no master of that name. That is a fault of the configuration: it names one that is away too.
    fn unknown(&self) -> RedisError {
        (ErrorKind::InvalidClientConfig, "the Sentinels know no master of that name", self.name.clone()).into()
    }
}

/// Why a Sentinel did not lead to the master.
#[derive(Debug)]
pub struct Failure {
    rank: Rank,
    pub error: RedisError,
}

/// The largest counts: what a Sentinel replies says more than that another one is away, and a Sentinel that names a master
/// knows more than one that does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    SentinelAway,
    SentinelRejects,
    Master,
}

impl Failure {
    pub fn of_sentinel(error: RedisError) -> Self {
        let rank = if is_connection_error(&error) { Rank::SentinelAway } else { Rank::SentinelRejects };
        Self { rank, error }
    }

    pub const fn of_master(error: RedisError) -> Self {
        Self { rank: Rank::Master, error }
    }

    /// The one that counts, of this one and a later one.
    pub fn or(self, later: Self) -> Self {
        if later.rank >= self.rank { later } else { self }
    }
}

/// Whether a server says that it is a master. A Sentinel may name one that is none any more.
pub fn require_master(role: &Value) -> RedisResult<()> {
    let is_master = matches!(role, Value::Array(parts) if matches!(parts.first(),
        Some(Value::BulkString(word)) if word == b"master"));
    let error =
        || (ErrorKind::MasterNameNotFoundBySentinel, "the server that the Sentinels name is not a master").into();
    if is_master { Ok(()) } else { Err(error()) }
}
