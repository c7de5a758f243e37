//! Decides on requests with the rules in force.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use envoy_types::pb::envoy::service::ratelimit::v3::{RateLimitRequest, RateLimitResponse};
use redis_rl_client::{Decisions, Error, Fallback, Limiter, Policy};
use rlaas_rules::Domain;
use tonic::Status;
use tracing::error;

use super::call::Call;
use super::leases::{count_leases, without_leases};
use super::log::{errors_left_out, log};
use super::metrics::Metrics;
use super::outcomes::{How, Outcomes, decisions, has_no_decision};
use super::overload::Load;
use super::plan::{Bounds, Plan};
use super::pools::decide;
use super::redis::{Known, words};
use super::reply::{ReplySettings, reply};
use super::state::Snapshot;
use super::trace::Traces;

/// The reply must be on its way before the caller's deadline: by so much, or a twentieth of the time if that is more.
/// Timers end up to two milliseconds late.
const BEFORE_DEADLINE: Duration = Duration::from_millis(6);

const NO_RULES: &str = "there are no valid rules yet";
/// What is looked at to see whether the server replies, if the rules have no limit that can be looked at.
const PROBE: Policy = Policy::fixed(Duration::from_secs(1), 1);

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

    /// Why the rules do not make the service ready; `None` if they do.
    pub fn lacks_rules(&self) -> Option<&'static str> {
        match &*self.snapshot.load() {
            None => Some(NO_RULES),
            Some(snapshot) if self.settings.ready_needs_domain && snapshot.rules.domains.is_empty() => {
                Some("the rules have no domain")
            }
            Some(_) => None,
        }
    }

    /// Why the service is not healthy; `None` if it is.
    pub fn not_healthy(&self) -> Option<&'static str> {
        match self.is_draining() {
            true => Some("draining"),
            false => self.lacks_rules().filter(|_| self.settings.ready_needs_domain),
        }
    }

    /// Why the service is not ready; `None` if it is.
    pub async fn not_ready(&self) -> Option<&'static str> {
        if self.is_draining() {
            return Some("draining");
        }
        if let Some(why) = self.lacks_rules() {
            return Some(why);
        }
        if self.settings.ready_needs_redis
            && let Err(error) = self.ask_redis().await
        {
            if let Some(left_out) = errors_left_out() {
                error!(error = self.known.explain(&error), left_out, "not ready: Redis cannot decide");
            }
            return Some(if error.is_unavailable() { "Redis does not reply" } else { "Redis rejects commands" });
        }
        None
    }

    /// Asks what decisions ask, and charges nothing: a request of each algorithm in the rules, for a key that the service
    /// may use.
    async fn ask_redis(&self) -> Result<(), Error> {
        let key = format!("{}rl:ready", self.settings.prefix);
        let limiter = self.limiter.with_fallback(Fallback::Error);
        let snapshot = self.snapshot.load_full();
        let words = snapshot.as_ref().map(|snapshot| words(&snapshot.rules)).unwrap_or_default();
        let policies: Vec<Policy> = words.iter().filter_map(|word| format!("{word} 1s 1").parse().ok()).collect();
        let requests: Vec<_> = policies.iter().map(|policy| policy.request(&key).cost(0).with_key_as_it_is()).collect();
        for decision in limiter.check_each(&requests).await {
            decision?;
        }
        let joins = snapshot.as_ref().is_some_and(|set| set.rules.domains.values().any(|d| d.options.all_or_nothing));
        match requests.get(..1) {
            Some(first) if joins => limiter.check_all(first).await.map(|_| ()),
            Some(_) => Ok(()),
            None => limiter.peek(&PROBE.request(&key)).await.map(|_| ()),
        }
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
        let overload = self.load.overload(timeout);
        overload.inspect(|why| self.metrics.count_overload(why));
        let overloaded = overload.is_some();
        let says =
            |domain: &Domain| if overloaded { domain.options.on_overload } else { domain.options.on_unavailable };
        let fallback = domain.map_or(Fallback::Error, says);
        let mut outcomes = decide(&mut plan, &self.limiter, snapshot, How { overloaded, fallback, timeout }).await;
        // Only the server holds leases.
        if fallback != Fallback::Error && has_no_decision(&outcomes) && count_leases(&mut plan) {
            outcomes = decide(&mut plan, &self.limiter, snapshot, How { overloaded: true, fallback, timeout }).await;
        }
        self.metrics.count(&request.domain, &plan, &outcomes, overloaded, &snapshot.counters);
        log(request, &plan, &outcomes, overloaded, began.elapsed());
        match reply(request, &plan, &outcomes, &self.settings.reply) {
            Ok(reply) => Ok((reply, outcomes)),
            Err(error) => Err(self.cannot_decide(&error)),
        }
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
            Status::failed_precondition("a reservation needs the module on the server of the limits: docs/hosted.md")
        } else if error.is_unavailable() {
            let error = self.known.explain(error);
            Status::unavailable(format!("the limits cannot be decided: {error}"))
        } else {
            Status::internal(format!("the limits cannot be decided: {error}"))
        }
    }
}
