//! Which node of a cluster gets a command.

use std::hash::{Hash, Hasher};

#[cfg(feature = "async")]
use redis::cluster_async::ClusterConnection;
use redis::cluster_routing::{Route, RoutingInfo, SingleNodeRoutingInfo, Slot, SlotAddr};
use redis::{RedisError, ServerErrorKind};

/// The node that owns the key. The crate `redis` takes the first argument of a command that it does not know for its key, which
/// it is not in RL.MULTI and RL.PEEK.
pub fn routing(key: &[u8]) -> RoutingInfo {
    let route = Route::with_slot(Slot::for_key(key), SlotAddr::Master);
    RoutingInfo::SingleNode(SingleNodeRoutingInfo::SpecificNode(route))
}

/// How many slots are one part: a node has them in ranges.
const SLOTS_OF_PART: u64 = 64;

/// The slot of a key.
pub fn slot(key: &[u8]) -> u64 {
    let mut number = Number(0);
    // Its number is private, but it is all that is hashed.
    Slot::for_key(key).hash(&mut number);
    number.finish()
}

/// The part of the slots that a key is in: see [`Core::begin`](crate::core::Core::begin).
pub fn part(key: &[u8]) -> u64 {
    slot(key) / SLOTS_OF_PART
}

/// The number that was hashed.
struct Number(u64);

impl Hasher for Number {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |number, byte| (number << 8) | u64::from(*byte));
    }

    fn write_u16(&mut self, number: u16) {
        self.0 = u64::from(number);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Sends a command to the owner of its key, and follows redirections: these replies say that it was not executed. Nothing
/// else is sent again, if the connection was built with `retries(0)`.
#[cfg(feature = "async")]
pub async fn send(
    connection: &mut ClusterConnection,
    command: &redis::Cmd,
    key: &[u8],
) -> redis::RedisResult<redis::Value> {
    const MOST: u32 = 5;
    let mut redirections = 0;
    loop {
        let reply = connection.route_command(command.clone(), routing(key)).await;
        let error = match reply.and_then(redis::Value::extract_error) {
            Err(error) if redirections < MOST => error,
            Err(error) => return Err(given_up(error)),
            reply => return reply,
        };
        redirections += 1;
        if crate::address::is_misrouted(&error) {
            // The connection reads the map of the slots anew, but the nodes may not agree yet.
            tokio::time::sleep(std::time::Duration::from_millis(5) * redirections).await;
        } else if let Some(node) = asked(&error) {
            let mut pipeline = redis::pipe();
            pipeline.cmd("ASKING").add_command(command.clone());
            let replies = connection.route_pipeline(pipeline, 1, 1, node).await?;
            let none = || RedisError::from((redis::ErrorKind::Parse, "no reply after ASKING"));
            return replies.into_iter().next_back().ok_or_else(none)?.extract_error();
        } else {
            return Err(error);
        }
    }
}

/// Tests the connection to the owner of the key with PING. If the node has closed it, the crate `redis` opens it again, and
/// uses that of another node meanwhile, which redirects what it gets. It notices that only when it sends.
#[cfg(feature = "async")]
pub async fn test(connection: &mut ClusterConnection, key: &[u8]) {
    const MOST: u32 = 5;
    for attempt in 1..=MOST {
        match connection.route_command(redis::cmd("PING"), routing(key)).await {
            Err(error) if crate::error::is_connection_error(&error) => {
                tokio::time::sleep(std::time::Duration::from_millis(5) * attempt).await;
            }
            _ => return,
        }
    }
}

/// The error after several redirections. They lead to a node that is away, or the nodes do not agree: then the cluster
/// cannot decide. MOVED and ASK alone would say that the call is wrong.
pub fn given_up(error: RedisError) -> RedisError {
    if [ServerErrorKind::Moved, ServerErrorKind::Ask].into_iter().any(|kind| error.kind() == kind.into()) {
        return RedisError::from((ServerErrorKind::ClusterDown.into(), "redirected too often", error.to_string()));
    }
    error
}

/// The node that an ASK names. The next command for it needs ASKING before it.
pub fn asked(error: &RedisError) -> Option<SingleNodeRoutingInfo> {
    let (node, _) = error.redirect_node().filter(|_| error.kind() == ServerErrorKind::Ask.into())?;
    let (host, port) = node.rsplit_once(':')?;
    Some(SingleNodeRoutingInfo::ByAddress { host: host.to_owned(), port: port.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_its_slot() {
        for (key, expected) in [("foo", 12_182), ("{foo}bar", 12_182), ("", 0), ("123456789", 12_739)] {
            assert_eq!((slot(key.as_bytes()), part(key.as_bytes())), (expected, expected / 64), "{key}");
        }
    }
}
