//! `kuadrant.service.ratelimit.v1.RateLimitService`: an estimate is charged before a request, and corrected after it.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use envoy_types::pb::envoy::service::ratelimit::v3::rate_limit_response::Code;
use envoy_types::pb::envoy::service::ratelimit::v3::{RateLimitRequest, RateLimitResponse};
use envoy_types::pb::google::protobuf::{Duration as ProtoDuration, UInt64Value};
use futures_util::future::join_all;
use redis_rl_client::{Decision, Error, Limiter, Source, Window};
use rlaas_rules::{Charge, Domain};
use tonic::Status;

use super::call::{Call, Method};
use super::leases::{checks, of_lease, unable, without_leases};
use super::outcomes::decisions;
use super::plan::{Check, Hits, Plan, Reservation, Slot};
use super::proto::http::ReserveRequest;
use super::proto::{CommitRequest, CommitResponse, ReserveResponse};
use super::service::Service;

/// How long an id may be.
const LONGEST_ID: usize = 128;
/// The fraction of a limit is in millionths of it.
const MILLION: u128 = 1_000_000;

impl Service {
    /// Whether one more unit would be allowed under each limit. Charges nothing.
    ///
    /// # Errors
    /// As [`decide`](Self::decide).
    pub async fn check(&self, request: &RateLimitRequest, call: &mut Call) -> Result<RateLimitResponse, Status> {
        let snapshot = self.rules(call)?;
        if request.domain.is_empty() {
            return Ok(of_no_domain());
        }
        let prepare = |mut plan: Plan, _: Option<&Domain>| {
            plan.all_or_nothing = false;
            checks(&mut plan).for_each(|check| check.hits = Hits::OneLeft);
            without_leases(plan)
        };
        self.decide_planned(&snapshot, request, call, prepare).await.map(|(reply, _)| reply)
    }

    /// Charges the hits, whatever the limits say: it is never denied.
    ///
    /// # Errors
    /// As [`decide`](Self::decide), or a limit has an algorithm that cannot count beyond it.
    pub async fn report(&self, request: &RateLimitRequest, call: &mut Call) -> Result<RateLimitResponse, Status> {
        let snapshot = self.rules(call)?;
        if request.domain.is_empty() {
            return Ok(of_no_domain());
        }
        self.decide_planned(&snapshot, request, call, |plan, _| reported(plan)).await?;
        Ok(RateLimitResponse { overall_code: Code::Ok.into(), ..RateLimitResponse::default() })
    }

    /// Charges an estimate of all limits, or of none.
    ///
    /// # Errors
    /// As [`decide`](Self::decide), or a limit cannot be reserved.
    pub async fn reserve(&self, wanted: ReserveRequest, call: &mut Call) -> Result<ReserveResponse, Status> {
        call.method = Method::Reserve;
        let snapshot = self.rules(call)?;
        let reservation = self.reservation(&wanted).inspect_err(|_| self.metrics.count_service_error())?;
        let request = RateLimitRequest { domain: wanted.domain, descriptors: wanted.descriptors, hits_addend: 0 };
        let request = with_hits(request, wanted.amount.max(1));
        let has_own_id = !wanted.reservation_id.is_empty();
        let prepare = |plan: Plan, domain: Option<&Domain>| {
            if let Some(shared) = plan.checks().map(|(_, check)| check).find(|check| check.limit.shares) {
                let text = format!("{}: a limit with share has no reservations", shared.policy.label());
                return Err(Status::failed_precondition(text));
            }
            // A repeated Reserve could charge a pool besides the limit that knows the id.
            match has_own_id && !plan.pools.is_empty() {
                true => Err(Status::failed_precondition("a limit with else takes no reservation_id of the caller")),
                false => self.reserved(plan, domain, &reservation),
            }
        };
        let (reply, outcomes) = self.decide_planned(&snapshot, &request, call, prepare).await?;
        let is_held = reply.overall_code() == Code::Ok && decisions(&outcomes).any(is_reserved);
        let reservation_id = if is_held { reservation.id.clone() } else { String::new() };
        Ok(ReserveResponse { code: reply.overall_code, reservation_id })
    }

    fn reservation(&self, wanted: &ReserveRequest) -> Result<Arc<Reservation>, Status> {
        let most = self.settings.reservations.ttl;
        let ttl = match &wanted.ttl {
            None => most,
            Some(ttl) => millis(ttl).ok_or_else(|| Status::invalid_argument("ttl must be more than 0"))?.min(most),
        };
        let id = if wanted.reservation_id.is_empty() {
            let mut random = [0; 16];
            getrandom::fill(&mut random).map_err(|error| Status::internal(format!("no random id: {error}")))?;
            format!("{:032x}", u128::from_be_bytes(random))
        } else {
            valid_id(&wanted.reservation_id)?
        };
        Ok(Arc::new(Reservation { id, ttl }))
    }

    /// The plan with a reservation in each limit.
    fn reserved(
        &self,
        mut plan: Plan,
        domain: Option<&Domain>,
        reservation: &Arc<Reservation>,
    ) -> Result<Plan, Status> {
        reservable(&mut plan)?;
        if self.settings.cluster && !plan.pools.is_empty() {
            return Err(Status::failed_precondition("a limit with else has no reservations in a cluster"));
        }
        for check in checks(&mut plan) {
            let name = check.policy.label();
            let Hits::Charge(hits) = check.hits else {
                return Err(Status::invalid_argument("a descriptor of Reserve must have hits_addend of at least 1"));
            };
            if self.settings.reply.quota || check.limit.quota {
                return Err(Status::failed_precondition(format!("{name}: quota_mode denies nothing by itself")));
            }
            let is_tagged = domain.is_some_and(|domain| domain.options.hash_tag.is_some());
            if self.settings.cluster && !is_tagged {
                let text = format!("{name}: a reservation in a cluster needs a hash_tag of the domain");
                return Err(Status::failed_precondition(text));
            }
            (check.charge, check.grants) = (Charge::Allowed, None);
            check.reservation = Some(Arc::clone(reservation));
            if check.policy.algorithm().traits().id {
                if hits != 1 {
                    return Err(Status::invalid_argument(format!("{name}: a lease takes an amount of 1")));
                }
                check.policy = of_lease(&check.policy, check.policy.algorithm(), Window::Length(reservation.ttl))?;
                continue;
            }
            let most = u128::from(check.policy.limit()) * u128::from(self.settings.reservations.fraction) / MILLION;
            check.hits = Hits::Charge(hits.min(u64::try_from(most).unwrap_or(u64::MAX).max(1)));
        }
        plan.all_or_nothing = true;
        match domain.and_then(|domain| plan.cannot_be_whole(domain, self.settings.cluster)) {
            Some(text) => Err(Status::invalid_argument(text)),
            None => Ok(plan),
        }
    }

    /// Corrects a reservation to what was used. It may be sent again.
    ///
    /// # Errors
    /// As [`decide`](Self::decide), but the server must decide.
    pub async fn commit(&self, used: CommitRequest, call: &mut Call) -> Result<CommitResponse, Status> {
        call.method = Method::Commit;
        let snapshot = self.rules(call)?;
        let request = RateLimitRequest { domain: used.domain, descriptors: used.descriptors, hits_addend: 0 };
        let request = with_hits(request, used.actual_amount);
        if used.reservation_id.is_empty() {
            let prepare = |mut plan: Plan, _: Option<&Domain>| {
                // Without an id, there is no lease to end.
                for slot in &mut plan.slots {
                    if matches!(slot, Slot::Check(check) if check.policy.algorithm().traits().id) {
                        *slot = Slot::None;
                    }
                }
                reported(plan)
            };
            let (_, outcomes) = self.decide_planned(&snapshot, &request, call, prepare).await?;
            if decisions(&outcomes).any(|decision| decision.source == Source::Fallback) {
                return Err(Status::unavailable("Redis does not decide, so nothing is charged: send it again"));
            }
            self.metrics.count_commit("charged");
            return Ok(CommitResponse { reservation_released: false });
        }
        let began = Instant::now();
        let settled = self.settle(&request, snapshot.rules.domains.get(&*request.domain), &used.reservation_id).await;
        self.metrics.count_request(call.method, began.elapsed());
        match settled {
            Ok(is_known) => {
                self.metrics.count_commit(if is_known { "settled" } else { "unknown" });
                Ok(CommitResponse { reservation_released: is_known })
            }
            Err(error) => {
                self.metrics.count_service_error();
                call.span.set_error(&error);
                Err(error)
            }
        }
    }

    /// Whether a limit knew the id.
    async fn settle(&self, request: &RateLimitRequest, domain: Option<&Domain>, id: &str) -> Result<bool, Status> {
        valid_id(id)?;
        let plan = Plan::new(request, domain, &self.settings.prefix, self.settings.cluster);
        let mut plan = plan.map_err(Status::invalid_argument)?;
        reservable(&mut plan)?;
        // Only the one that was charged knows the id. Several descriptors may have one pool.
        let pools = plan.pools.iter().flat_map(|(slot, pools)| pools.iter().map(|pool| (*slot, pool)));
        let mut each: Vec<_> = plan.checks().chain(pools).collect();
        each.sort_by_key(|(_, check)| Reverse(units(check)));
        let mut keys = HashSet::new();
        each.retain(|(_, check)| keys.insert(check.key.as_str()));
        let mut is_known = false;
        for settled in join_all(each.into_iter().map(|(_, check)| settle(&self.limiter, check, id))).await {
            is_known |= settled.map_err(|error| self.cannot_decide(&error))?;
        }
        Ok(is_known)
    }
}

/// As limitador replies to CheckRateLimit and Report. ShouldRateLimit is an error, as in envoyproxy/ratelimit.
fn of_no_domain() -> RateLimitResponse {
    RateLimitResponse { overall_code: Code::Unknown.into(), ..RateLimitResponse::default() }
}

/// Whether the limit knew the id.
async fn settle(limiter: &Limiter, check: &Check, id: &str) -> Result<bool, Error> {
    let Check { policy, key, .. } = check;
    let request = policy.request(key).with_key_as_it_is();
    if policy.algorithm().traits().id {
        return limiter.release_request(&request.id(id)).await;
    }
    match check.hits {
        Hits::Charge(actual) => Ok(limiter.settle_request(&request, id, actual).await?.charged > 0),
        // The reply does not say whether the id was known.
        _ => {
            let is_known = limiter.has_reservation(&request, id).await?;
            limiter.settle_request(&request, id, 0).await?;
            Ok(is_known)
        }
    }
}

/// Leaves one check for each key, and rejects limits that have no reservations.
fn reservable(plan: &mut Plan) -> Result<(), Status> {
    for check in checks(plan) {
        let traits = check.policy.algorithm().traits();
        if !traits.reserve && !traits.id {
            return Err(unable(check, "has no reservations"));
        }
        if matches!(check.hits, Hits::GiveBack(_)) {
            return Err(Status::invalid_argument("is_negative_hits is not for reservations"));
        }
    }
    once_each_key(plan);
    Ok(())
}

/// Each check charges whatever its limit says.
fn reported(plan: Plan) -> Result<Plan, Status> {
    let mut plan = without_leases(plan)?;
    plan.all_or_nothing = false;
    let shares = |slot: &usize| plan.slots.get(*slot).and_then(Slot::limit).is_some_and(|limit| limit.shares);
    plan.pools.retain(|(slot, _)| shares(slot));
    for check in checks(&mut plan) {
        if !check.policy.algorithm().traits().always {
            return Err(unable(check, "cannot count beyond its limit"));
        }
        (check.charge, check.grants) = (Charge::Always, None);
    }
    Ok(plan)
}

const fn units(check: &Check) -> u64 {
    if let Hits::Charge(units) = check.hits { units } else { 0 }
}

/// One check for each key: the largest of its hits.
fn once_each_key(plan: &mut Plan) {
    let mut slots: Vec<_> = plan.slots.iter_mut().collect();
    slots.sort_by_key(|slot| Reverse(if let Slot::Check(check) = slot { units(check) } else { 0 }));
    let mut keys = HashSet::new();
    for slot in slots {
        if matches!(slot, Slot::Check(check) if !keys.insert(check.key.clone())) {
            *slot = Slot::None;
        }
    }
}

/// Whether the server holds a reservation. It holds none of what only shadow mode allows. A lease that is renewed charges
/// nothing.
fn is_reserved(decision: &Decision) -> bool {
    let is_charged = decision.charged > 0 || decision.policy().algorithm().traits().id;
    decision.source == Source::Server && decision.allowed && !decision.shadow && is_charged
}

/// The request where each descriptor has hits: its own, or these.
fn with_hits(mut request: RateLimitRequest, value: u64) -> RateLimitRequest {
    for descriptor in &mut request.descriptors {
        descriptor.hits_addend.get_or_insert(UInt64Value { value });
    }
    request
}

fn valid_id(id: &str) -> Result<String, Status> {
    match id.len() {
        1..=LONGEST_ID => Ok(id.to_owned()),
        _ => Err(Status::invalid_argument(format!("reservation_id must have at most {LONGEST_ID} bytes"))),
    }
}

/// A time of whole milliseconds, rounded up; `None` if it is not more than 0.
fn millis(time: &ProtoDuration) -> Option<Duration> {
    let time = Duration::new(u64::try_from(time.seconds).ok()?, u32::try_from(time.nanos).ok()?);
    let millis = u64::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX);
    (millis > 0).then(|| Duration::from_millis(millis))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_up_to_128_bytes_and_a_ttl_is_rounded_up() {
        let valid = [0, 1, 128, 129].map(|length| valid_id(&"x".repeat(length)).is_ok());
        assert_eq!(valid, [false, true, true, false]);
        let ttl =
            [(0, 0), (0, 1), (1, 1_000_001), (-1, 0)].map(|(seconds, nanos)| millis(&ProtoDuration { seconds, nanos }));
        assert_eq!(ttl, [None, Some(1), Some(1_002), None].map(|ttl| ttl.map(Duration::from_millis)));
    }
}
