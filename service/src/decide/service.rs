//! Decides on requests with the rules in force.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use envoy_types::pb::envoy::service::ratelimit::v3::{RateLimitRequest, RateLimitResponse};
use redis_rl_client::{Decisions, Error, Fallback, Limiter};
use rlaas_rules::Domain;
use tonic::Status;

use super::ask::{How, ask};
use super::call::Call;
use super::leases::{count_leases, without_leases};
use super::log::log;
use super::metrics::Metrics;
use super::outcomes::{Outcomes, decisions, has_no_decision, is_late};
use super::overload::Load;
use super::plan::{Bounds, Plan};
use super::redis::Known;
use super::reply::{ReplySettings, reply};
use super::state::Snapshot;
use super::trace::Traces;

/// The reply must be on its way before the caller's deadline: by so much, or a twentieth of the time if that is more.
/// Timers end up to two milliseconds late.
const BEFORE_DEADLINE: Duration = Duration::from_millis(6);

pub(super) const NO_RULES: &str = "there are no valid rules yet";

/// Decides on requests with the rules in force.
#[derive(Debug)]
pub struct Service {
    pub limiter: Limiter,
    /// `None` until there are valid rules.
    pub snapshot: ArcSwapOption<Snapshot>,
    pub settings: ServiceSettings,
    /// What is under way, and how late this process is.
    pub load: Arc<Load>,
    pub metrics: Metrics,
    pub traces: Traces,
    /// Why Redis cannot be used.
    pub known: Known,
    draining: AtomicBool,
}

/// How requests are decided.
#[derive(Clone, Debug)]
pub struct ServiceSettings {
    /// What every key begins with.
    pub prefix: String,
    /// How long the server may take.
    pub timeout: Duration,
    pub reply: ReplySettings,
    /// How many requests may be under way.
    pub max_requests: usize,
    /// How late this process may be.
    pub max_lag: Duration,
    /// From which part of the limit on a request is near it.
    pub near_limit_ratio: f32,
    /// Whether the service is ready only while the server replies.
    pub ready_needs_redis: bool,
    /// Whether it is ready, and healthy, only while the rules have a domain.
    pub ready_needs_domain: bool,
    /// Whether the server is a cluster.
    pub cluster: bool,
    pub reservations: Bounds,
    /// Whether the debug address deletes what limits hold.
    pub allow_reset: bool,
}

impl Service {
    /// A service without rules.
    pub fn new(limiter: Limiter, settings: ServiceSettings, metrics: Metrics, traces: Traces) -> Self {
        metrics.in_force.shadow.set(settings.reply.shadow.into());
        Self {
            limiter,
            snapshot: ArcSwapOption::empty(),
            load: Load::new(settings.max_requests, settings.max_lag),
            metrics,
            traces,
            known: Known::default(),
            draining: AtomicBool::new(false),
            settings,
        }
    }

    /// Tells balancers that the service ends soon.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }

    pub fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// Decides on a request.
    ///
    /// # Errors
    /// The request is not valid, or it cannot be decided and the domain says `error`.
    pub async fn decide(&self, request: &RateLimitRequest, call: &mut Call) -> Result<RateLimitResponse, Status> {
        let snapshot = self.rules(call)?;
        let decided = self.decide_planned(&snapshot, request, call, |plan, _| without_leases(plan)).await;
        decided.map(|(reply, _)| reply)
    }

    /// The rules in force, for a request.
    ///
    /// # Errors
    /// There are none yet. The request counts as an error.
    pub fn rules(&self, call: &mut Call) -> Result<Arc<Snapshot>, Status> {
        self.snapshot.load_full().ok_or_else(|| {
            self.metrics.count_request(call.method, Duration::ZERO);
            self.metrics.count_service_error();
            let error = Status::unavailable(NO_RULES);
            call.span.set_error(&error);
            error
        })
    }

    /// Decides with these rules. The decisions are those of the limits that were checked.
    ///
    /// # Errors
    /// As [`decide`](Self::decide).
    pub async fn decide_under(
        &self,
        snapshot: &Snapshot,
        request: &RateLimitRequest,
        call: &mut Call,
    ) -> Result<(RateLimitResponse, Decisions), Status> {
        let (reply, outcomes) = self.decide_planned(snapshot, request, call, |plan, _| without_leases(plan)).await?;
        Ok((reply, decisions(&outcomes).cloned().collect()))
    }

    /// Decides with these rules, where `prepare` changes the plan.
    ///
    /// # Errors
    /// As [`decide`](Self::decide), or of `prepare`.
    pub async fn decide_planned(
        &self,
        snapshot: &Snapshot,
        request: &RateLimitRequest,
        call: &mut Call,
        prepare: impl FnOnce(Plan, Option<&Domain>) -> Result<Plan, Status>,
    ) -> Result<(RateLimitResponse, Outcomes), Status> {
        let (began, cancelled) = (Instant::now(), self.metrics.cancelled_unless_replied(call.method));
        let result = self.decide_uncounted(snapshot, request, (began, call.deadline), prepare).await;
        cancelled.replied();
        call.span.set_decision(request, result.as_ref());
        self.metrics.count_request(call.method, began.elapsed());
        result
    }

    async fn decide_uncounted(
        &self,
        snapshot: &Snapshot,
        request: &RateLimitRequest,
        (began, deadline): (Instant, Option<Instant>),
        prepare: impl FnOnce(Plan, Option<&Domain>) -> Result<Plan, Status>,
    ) -> Result<(RateLimitResponse, Outcomes), Status> {
        let domain = snapshot.rules.domains.get(request.domain.as_str());
        let plan = Plan::new(request, domain, &self.settings.prefix, self.settings.cluster);
        let plan = plan.map_err(Status::invalid_argument).and_then(|plan| prepare(plan, domain));
        if request.descriptors.is_empty() {
            self.metrics.unmatched.say_empty(&request.domain, began);
        }
        let mut plan = plan.inspect_err(|_| self.metrics.count_service_error())?;
        self.metrics.unmatched.count(request, domain, &plan, began);
        let timeout = self.timeout(deadline);
        let (outcomes, overload) = self.outcomes(&mut plan, domain, snapshot, (began, timeout)).await;
        overload.inspect(|why| self.metrics.count_overload(why));
        self.metrics.count(&request.domain, &plan, &outcomes, overload.is_some(), &snapshot.counters);
        log(request, &plan, &outcomes, overload.is_some(), began.elapsed());
        match reply(request, &plan, &outcomes, &self.settings.reply) {
            Ok(reply) => Ok((reply, outcomes)),
            Err(error) => Err(self.cannot_decide(&error)),
        }
    }

    /// What is decided about the limits of a plan, and why `on_overload` decides what the server does not, if it does.
    async fn outcomes(
        &self,
        plan: &mut Plan,
        domain: Option<&Domain>,
        snapshot: &Snapshot,
        (began, timeout): (Instant, Duration),
    ) -> (Outcomes, Option<&'static str>) {
        let options = domain.map(|domain| &domain.options);
        let [on_overload, on_unavailable] =
            options.map_or([Fallback::Error; 2], |options| [options.on_overload, options.on_unavailable]);
        let (limiter, mut outcomes, mut overload) = (&self.limiter, Outcomes::new(), self.load.overload(timeout));
        // Whether a time-out is overload or an outage shows when it is there.
        let decided_before = (overload.is_none() && on_overload != on_unavailable).then(|| limiter.stats().decided);
        let says = if overload.is_some() { on_overload } else { on_unavailable };
        let is_left = decided_before.is_some() || plan.checks().any(|(_, check)| check.policy.algorithm().traits().id);
        let fallback = if is_left { Fallback::Error } else { says };
        let mut how = How { overloaded: overload.is_some(), fallback, timeout };
        ask(plan, &mut outcomes, limiter, snapshot, how).await;
        if is_left && has_no_decision(&outcomes) {
            let was_high = self.load.was_high_since(began);
            let replies = |before| was_high && is_late(&outcomes) && limiter.stats().decided > before;
            let is_late = decided_before.is_some_and(replies);
            overload = overload.or(is_late.then_some("timeout"));
            (how.overloaded, how.fallback) = (true, if is_late { on_overload } else { says });
            if how.fallback != Fallback::Error {
                // Only the server holds leases.
                count_leases(plan);
                ask(plan, &mut outcomes, limiter, snapshot, how).await;
            }
        }
        (outcomes, overload)
    }

    /// How long the server may take, so that the reply is there before the deadline of the call.
    pub(super) fn timeout(&self, deadline: Option<Instant>) -> Duration {
        let rest = deadline.map_or(Duration::MAX, |end| {
            let rest = end.saturating_duration_since(Instant::now());
            rest.saturating_sub(BEFORE_DEADLINE.max(rest / 20))
        });
        rest.min(self.settings.timeout)
    }

    /// The status for an error of the server.
    pub(super) fn cannot_decide(&self, error: &Error) -> Status {
        if matches!(error, Error::NeedsModule) {
            Status::failed_precondition(
                "a reservation needs the module on the server of the limits; without it, one that is never settled stays \
                 charged until its window ends, and one that is settled twice is charged twice: docs/hosted.md",
            )
        } else if error.is_unavailable() {
            let error = self.known.explain(error);
            Status::unavailable(format!("the limits cannot be decided: {error}"))
        } else {
            Status::internal(format!("the limits cannot be decided: {error}"))
        }
    }
}
