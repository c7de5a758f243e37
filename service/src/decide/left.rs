//! What is left of the limits of a request, for its caller.

use std::time::Duration;

use envoy_types::pb::envoy::service::ratelimit::v3::RateLimitRequest;
use futures_util::future::join_all;
use redis_rl_client::Fallback;
use tonic::Status;

use super::plan::{Check, Plan, Slot};
use super::service::Service;
use super::state::Snapshot;

/// What is left of a limit.
#[derive(Debug)]
pub struct Left {
    pub name: String,
    pub limit: u64,
    pub remaining: u64,
    /// The time until the whole limit is available; `None` for never.
    pub reset: Option<Duration>,
}

impl Service {
    /// What is left of the limits that can deny a request, without the pools, which others use too. Charges nothing.
    ///
    /// # Errors
    /// The request is not valid, this process is too busy, or the server does not reply.
    pub async fn left(&self, snapshot: &Snapshot, request: &RateLimitRequest) -> Result<Vec<Left>, Status> {
        if let Some(why) = self.load.overload(self.settings.timeout) {
            self.metrics.count_overload(why);
            return Err(Status::unavailable("rlaas is too busy"));
        }
        let domain = snapshot.rules.domains.get(request.domain.as_str());
        let plan = Plan::new(request, domain, &self.settings.prefix, self.settings.cluster);
        let plan = plan.map_err(Status::invalid_argument)?;
        let limiter = self.limiter.with_fallback(Fallback::Error).with_timeout(self.settings.timeout);
        let shown = plan.slots.iter().filter_map(|slot| match slot {
            // RL.LEASE takes no COST, so nothing looks at a lease without taking one.
            Slot::Check(check) if check.policy.algorithm().traits().cost && !check.limit.shadow => Some(check),
            _ => None,
        });
        let left = shown.map(async |check| {
            let Check { policy, key, limit, .. } = &**check;
            let decision = limiter.peek(&policy.request(key).with_key_as_it_is().cost(0)).await?;
            let scale = limit.unit_scale();
            let name = policy.label().to_owned();
            let (limit, remaining) = (decision.limit / scale, decision.remaining / scale);
            Ok(Left { name, limit, remaining, reset: decision.reset_after })
        });
        let left: Result<_, _> = join_all(left).await.into_iter().collect();
        left.map_err(|error| self.cannot_decide(&error))
    }
}
