//! The master that Sentinels name. The crate `redis` asks them one after the other, without a common time limit, so one
//! that hangs would hide the others.

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use redis::{Cmd, ConnectionInfo, ErrorKind, RedisError, RedisResult, Value};

use super::open::{Connection, connect};
use crate::address::{Sentinels, Trust, at};
use crate::error::is_connection_error;

/// How far the question to a Sentinel led. The largest counts: what a Sentinel replies says more than that another one is
/// away, and a Sentinel that names a master knows more than one that does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Away,
    Rejected,
    Named,
}

/// Asks all Sentinels at the same time. The first master that one of them names and that says so itself counts.
pub async fn master(sentinels: &Sentinels, trust: &Trust) -> RedisResult<Connection> {
    let mut asked: FuturesUnordered<_> =
        sentinels.sentinels.iter().map(|sentinel| ask(sentinels, sentinel, trust)).collect();
    let text = "no Sentinel names a master of that name in time";
    let no_reply = (ErrorKind::MasterNameNotFoundBySentinel, text, sentinels.name.clone());
    let mut failure = (Stage::Away, RedisError::from(no_reply));
    while let Some(result) = asked.next().await {
        match result {
            Ok(master) => return Ok(master),
            Err(later) if later.0 >= failure.0 => failure = later,
            Err(_) => {}
        }
    }
    Err(failure.1)
}

async fn ask(
    sentinels: &Sentinels,
    sentinel: &ConnectionInfo,
    trust: &Trust,
) -> Result<Connection, (Stage, RedisError)> {
    let Sentinels { name, master, .. } = sentinels;
    let named = async {
        let mut sentinel = connect(sentinel, trust).await?;
        let mut question = redis::cmd("SENTINEL");
        let reply = query(&mut sentinel, question.arg("GET-MASTER-ADDR-BY-NAME").arg(name)).await?;
        // A fault of the configuration: a Sentinel names a master that is away too.
        let text = "the Sentinels know no master of that name";
        let unknown = || RedisError::from((ErrorKind::InvalidClientConfig, text, name.clone()));
        redis::from_redis_value::<Option<(String, u16)>>(reply)?.ok_or_else(unknown)
    };
    let stage = |error: &RedisError| if is_connection_error(error) { Stage::Away } else { Stage::Rejected };
    let (host, port) = named.await.map_err(|error| (stage(&error), error))?;
    let master = async {
        let mut master = connect(&at(master, host, port), trust).await?;
        let role = query(&mut master, &redis::cmd("ROLE")).await?;
        let is_master = matches!(role.as_sequence().and_then(<[Value]>::first),
            Some(Value::BulkString(word)) if word == b"master");
        // A Sentinel may name one that is none any more.
        let text = "the server that the Sentinels name is not a master";
        if is_master { Ok(master) } else { Err((ErrorKind::MasterNameNotFoundBySentinel, text).into()) }
    };
    master.await.map_err(|error| (Stage::Named, error))
}

async fn query(connection: &mut Connection, command: &Cmd) -> RedisResult<Value> {
    connection.multiplexed.send_packed_command(command).await?.extract_error()
}
