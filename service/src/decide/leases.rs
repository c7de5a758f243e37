//! Leases, which only Reserve takes and only Commit ends, in the plans of requests.

use redis_rl_client::{Algorithm, Policy, Window};
use tonic::Status;

use super::plan::{Check, Plan, Slot};

/// Replaces each lease by a unit of RL.ROLLING that counts for as long: the client decides no lease without the server.
pub fn count_leases(plan: &mut Plan) {
    for check in checks(plan).filter(|check| check.policy.algorithm().traits().id) {
        // Special: it counts each unit until its own time ends.
        if let Ok(policy) = of_lease(&check.policy, Algorithm::Rolling, check.policy.window()) {
            (check.policy, check.reservation) = (policy, None);
        }
    }
}

/// Rejects leases: nothing but Commit ends them.
pub fn without_leases(mut plan: Plan) -> Result<Plan, Status> {
    let lease = checks(&mut plan).find(|check| check.policy.algorithm().traits().id);
    lease.map_or(Ok(()), |lease| Err(unable(lease, "is for Reserve and Commit alone")))?;
    Ok(plan)
}

/// Why the algorithm of a limit cannot do what is asked.
pub fn unable(Check { policy, .. }: &Check, why: &str) -> Status {
    let word = policy.algorithm().word().to_ascii_lowercase();
    Status::failed_precondition(format!("{}: algorithm {word} {why}", policy.label()))
}

/// The policy of a lease, with a window or an algorithm for one request.
pub fn of_lease(policy: &Policy, algorithm: Algorithm, window: Window) -> Result<Policy, Status> {
    let lease = Policy::new(algorithm, window, policy.limit()).and_then(|lease| lease.try_name(policy.label()));
    let lease = lease.map_err(|error| Status::internal(error.to_string()))?;
    Ok(if policy.is_shadow() { lease.shadow() } else { lease })
}

/// The limits that are to be checked, and their pools.
pub fn checks(plan: &mut Plan) -> impl Iterator<Item = &mut Check> {
    let own = plan.slots.iter_mut();
    let own = own.filter_map(|slot| if let Slot::Check(check) = slot { Some(&mut **check) } else { None });
    own.chain(plan.pools.iter_mut().flat_map(|(_, pools)| pools))
}
