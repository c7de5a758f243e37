//! Which node of a cluster gets a command.

use redis::cluster_routing::{Route, RoutingInfo, SingleNodeRoutingInfo, Slot, SlotAddr};

/// The node that owns the key. The crate `redis` takes the first argument of a command that it does not know for its key, which
/// it is not in RL.MULTI and RL.PEEK.
pub fn routing(key: &[u8]) -> RoutingInfo {
    let route = Route::with_slot(Slot::for_key(key), SlotAddr::Master);
    RoutingInfo::SingleNode(SingleNodeRoutingInfo::SpecificNode(route))
}
