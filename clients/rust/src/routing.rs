//! Which node of a cluster gets a command.

#[cfg(feature = "sync")]
use std::hash::{DefaultHasher, Hash, Hasher};

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

/// A number for the slot of a key.
#[cfg(feature = "sync")]
pub fn slot(key: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    Slot::for_key(key).hash(&mut hasher);
    hasher.finish()
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
