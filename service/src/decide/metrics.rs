//! What an operator sees in Prometheus: the names and labels that envoyproxy/ratelimit has there, and some of our own.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::HashSet;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

#[cfg(target_os = "linux")]
use prometheus::process_collector::ProcessCollector;
use prometheus::{
    Gauge, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGaugeVec, Opts, Registry, TextEncoder,
};
use redis_rl_client::{Decision, Source, Stats};
use rlaas_rules::Charge;
use tracing::warn;

use super::call::Method;
use super::counters::Counters;
use super::in_force::InForce;
use super::outcomes::Outcomes;
use super::overload::Load;
use super::plan::{Check, Hits, Plan, Slot};
use super::reply::is_over;
use super::unmatched::Unmatched;
use crate::control;
use crate::metric::register;

/// How many series may have names that come from requests. The others share one.
const MAX_SERIES_OF_REQUESTS: usize = 10_000;
/// The label of the series that the other values share.
const OTHERS: &str = "other";

/// The metrics of the service.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    /// From which part of the limit on a request is near it.
    near_ratio: f32,
    total_hits: IntCounterVec,
    over: IntCounterVec,
    near: IntCounterVec,
    within: IntCounterVec,
    shadow: IntCounterVec,
    remembered: IntCounterVec,
    of_requests: Mutex<HashSet<[String; 3]>>,
    requests: IntCounterVec,
    response_time: HistogramVec,
    /// The counter and the response times of ShouldRateLimit.
    usual: (IntCounter, Histogram),
    errors: IntCounterVec,
    pub config_load_success: IntCounter,
    pub config_load_error: IntCounter,
    pub in_force: InForce,
    pub control: control::Figures,
    pub unmatched: Unmatched,
    commits: IntCounterVec,
    unavailable: IntCounterVec,
    overload: IntCounterVec,
    overloaded: IntCounterVec,
    /// How far the clock of Redis is ahead of this machine's, in seconds.
    ahead: Gauge,
    /// Connections, by `listener`.
    pub connections: IntGaugeVec,
    connections_closed: IntCounterVec,
    /// By `reason`.
    pub goaways: IntCounterVec,
    pub accept_errors: IntCounter,
}

impl Metrics {
    /// # Errors
    /// A metric is registered twice: a fault of this program.
    pub fn new(near_ratio: f32) -> Result<Self, prometheus::Error> {
        let registry = Registry::new();
        #[cfg(target_os = "linux")]
        registry.register(Box::new(ProcessCollector::for_self()))?;
        let of_limits = |name: &str, help: &str| {
            let name = format!("ratelimit_service_rate_limit_{name}");
            register(&registry, IntCounterVec::new(Opts::new(name, help), &["domain", "key1", "key2"]))
        };
        let counter = |name: &str, help: &str| register(&registry, IntCounter::new(name, help));
        let labelled = |name: &str, help: &str, labels: &[&str]| {
            register(&registry, IntCounterVec::new(Opts::new(name, help), labels))
        };
        let of_methods = ["grpc_method"];
        let requests = labelled("ratelimit_service_total_requests", "Requests.", &of_methods)?;
        let (name, help) = ("ratelimit_service_response_time_seconds", "Time from a request to its reply.");
        let response_time = register(&registry, HistogramVec::new(HistogramOpts::new(name, help), &of_methods))?;
        let usual = [Method::ShouldRateLimit.name()];
        let usual = (requests.with_label_values(&usual), response_time.with_label_values(&usual));
        Ok(Self {
            near_ratio,
            total_hits: of_limits("total_hits", "Hits under a limit.")?,
            over: of_limits("over_limit", "Hits over the limit.")?,
            near: of_limits("near_limit", "Hits near the limit: beyond NEAR_LIMIT_RATIO of it.")?,
            within: of_limits("within_limit", "Hits within the limit.")?,
            shadow: of_limits("shadow_mode", "Hits over the limit that shadow_mode allowed.")?,
            remembered: of_limits("over_limit_with_local_cache", "Hits that a remembered denial denied.")?,
            of_requests: Mutex::default(),
            requests,
            response_time,
            usual,
            errors: labelled("ratelimit_service_should_rate_limit_error", "Requests with an error.", &["err_type"])?,
            config_load_success: counter("ratelimit_service_config_load_success", "Sets of rules that were loaded.")?,
            config_load_error: counter("ratelimit_service_config_load_error", "Sets of rules that were wrong.")?,
            in_force: InForce::new(&registry)?,
            control: control::Figures::new(&registry)?,
            unmatched: Unmatched::new(&registry)?,
            commits: labelled(
                "rlaas_commits",
                "Commits: settled, of an unknown reservation, or charged without one.",
                &["outcome"],
            )?,
            unavailable: labelled(
                "rlaas_decisions_without_redis",
                "Limits decided by on_unavailable.",
                &["domain", "outcome"],
            )?,
            overload: labelled("rlaas_overload", "Requests for which rlaas was too busy to ask Redis.", &["reason"])?,
            overloaded: labelled(
                "rlaas_decisions_by_overload",
                "Limits decided by on_overload.",
                &["domain", "outcome"],
            )?,
            ahead: register(
                &registry,
                Gauge::new(
                    "rlaas_redis_clock_ahead_seconds",
                    "By how much Redis's clock was ahead at its last decision.",
                ),
            )?,
            connections: register(
                &registry,
                IntGaugeVec::new(Opts::new("rlaas_connections", "Connections that are open."), &["listener"]),
            )?,
            connections_closed: labelled(
                "rlaas_connections_closed",
                "Connections that rlaas closed, not the client.",
                &["reason"],
            )?,
            goaways: labelled("rlaas_goaways_sent", "Connections of HTTP/2 that rlaas asked to end.", &["reason"])?,
            accept_errors: counter("rlaas_accept_errors", "Connections that could not be accepted.")?,
            registry,
        })
    }

    /// Counts a request, and how long its reply took.
    pub fn count_request(&self, method: Method, took: Duration) {
        let of_method = [method.name()];
        let (requests, time) = match method {
            Method::ShouldRateLimit => (&self.usual.0, &self.usual.1),
            _ => (&self.requests.with_label_values(&of_method), &self.response_time.with_label_values(&of_method)),
        };
        requests.inc();
        time.observe(took.as_secs_f64());
    }

    /// Watches a request: it counts as cancelled if the value is dropped before its `replied` is called.
    pub const fn cancelled_unless_replied(&self, method: Method) -> CancelledUnlessReplied<'_> {
        CancelledUnlessReplied { metrics: self, method, replied: false }
    }

    /// Counts a request that is not valid, or cannot be decided for another reason than Redis.
    pub fn count_service_error(&self) {
        self.errors.with_label_values(&["service_error"]).inc();
    }

    /// Counts a Commit.
    pub fn count_commit(&self, outcome: &str) {
        self.commits.with_label_values(&[outcome]).inc();
    }

    /// Counts a connection that this process closes, by the reason.
    pub fn count_closed(&self, why: &str) {
        self.connections_closed.with_label_values(&[why]).inc();
    }

    /// Counts a request for which Redis is not asked.
    pub fn count_overload(&self, why: &str) {
        self.overload.with_label_values(&[why]).inc();
    }

    /// Counts the hits of a request of a domain that has rules, if there is a limit.
    pub fn count(&self, domain: &str, plan: &Plan, outcomes: &Outcomes, overloaded: bool, known: &[Counters]) {
        if outcomes.iter().flatten().any(Result::is_err) {
            let why = if overloaded { "service_error" } else { "redis_error" };
            self.errors.with_label_values(&[why]).inc();
        }
        let without_redis = if overloaded { &self.overloaded } else { &self.unavailable };
        let count = |outcome| without_redis.with_label_values(&[domain, outcome]).inc();
        for (slot, outcome) in plan.slots.iter().zip(outcomes) {
            match (slot, outcome) {
                (Slot::Check(check), Some(Ok(decision))) => {
                    if decision.source == Source::Fallback {
                        count(if decision.allowed { "allowed" } else { "denied" });
                    }
                    if decision.source == Source::Server {
                        let here = UNIX_EPOCH.elapsed().unwrap_or_default().as_secs_f64();
                        self.ahead.set(decision.now_ms as f64 / 1e3 - here);
                    }
                    self.count_decision(domain, check, decision, known.get(check.limit.number));
                }
                (Slot::Check(_), Some(Err(error))) if error.is_unavailable() => count("error"),
                _ => {}
            }
        }
    }

    fn count_decision(&self, domain: &str, check: &Check, decision: &Decision, known: Option<&Counters>) {
        let Hits::Charge(hits) = check.hits else { return };
        let labels = LazyCell::new(|| self.labels(domain, check));
        let find = |counters: &IntCounterVec| counters.with_label_values(&labels.each_ref().map(|label| &**label));
        // No series without a value.
        let add = |counters: &IntCounterVec, n: u64| {
            if n > 0 {
                find(counters).inc_by(n);
            }
        };
        // Values of the request are in the names of the others.
        let known = known.filter(|_| check.metric.is_none());
        let add_hits = |known: Option<&OnceLock<IntCounter>>, counters: &IntCounterVec| match known {
            Some(known) => known.get_or_init(|| find(counters)).inc_by(hits),
            None => find(counters).inc_by(hits),
        };
        add_hits(known.map(|known| &known.total_hits), &self.total_hits);
        let limit = check.policy.capacity();
        let near_from = near_from(limit, self.near_ratio);
        let before = counted_before(decision, hits);
        let after = before.saturating_add(hits);
        if is_over(check, decision) {
            let partly = check.charge == Charge::Always && decision.source == Source::Server && before < limit;
            let over = if partly { after.saturating_sub(limit) } else { hits };
            add(&self.over, over);
            if partly {
                add(&self.near, limit.saturating_sub(near_from.max(before)));
            }
            if decision.shadow {
                add(&self.shadow, over);
            }
            if decision.source == Source::RememberedDenial {
                add(&self.remembered, hits);
            }
        } else {
            add_hits(known.map(|known| &known.within), &self.within);
            add(&self.near, after.saturating_sub(near_from.max(before)));
        }
    }

    /// The domain and the first two rules, or what the rules put there instead.
    fn labels<'c>(&self, domain: &'c str, check: &'c Check) -> [Cow<'c, str>; 3] {
        let Some(parts) = &check.metric else {
            let name = |i: usize| clean(check.limit.names.get(i).map_or("", |name| name));
            return [clean(domain), name(1), name(2)];
        };
        let part = |i: usize| clean(parts.get(i).map_or("", String::as_str));
        let labels = [clean(domain), part(0), part(1)];
        let mut known = self.of_requests.lock().unwrap_or_else(PoisonError::into_inner);
        let owned = labels.each_ref().map(|label| label.to_string());
        if known.contains(&owned) {
            return labels;
        }
        if known.len() < MAX_SERIES_OF_REQUESTS {
            known.insert(owned);
            if known.len() == MAX_SERIES_OF_REQUESTS {
                warn!("{MAX_SERIES_OF_REQUESTS} series have names from requests: the others are in key1=\"{OTHERS}\"");
            }
            return labels;
        }
        [clean(domain), OTHERS.into(), "".into()]
    }

    /// The text that Prometheus reads.
    ///
    /// # Errors
    /// A metric cannot be written, which is a fault of this program.
    pub fn text(&self, stats: &Stats, load: &Load) -> Result<String, prometheus::Error> {
        let mut text = TextEncoder::new().encode_to_string(&self.registry.gather())?;
        let mut add = |kind, name, help, value: f64| {
            text += &format!("# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}\n");
        };
        for (name, help, value) in [
            ("rlaas_remembered_denials", "Limits that a remembered denial decided.", stats.remembered),
            ("rlaas_granted", "Limits that a grant decided.", stats.granted),
            ("rlaas_local_full", "Limits of new keys that `local` denied, since it had no place.", stats.local_full),
            ("rlaas_redis_timeouts", "Calls of Redis without a reply in time.", stats.timeouts),
            ("rlaas_redis_errors", "Calls of Redis that failed.", stats.errors),
            ("rlaas_breaker_opened", "How often the breaker opened.", stats.circuit_opened),
            ("rlaas_breaker_not_sent", "Calls that the open breaker did not send.", stats.circuit_open),
        ] {
            add("counter", name, help, value as f64);
        }
        let (silent, requests) = (f64::from(stats.breakers_open), load.requests() as f64);
        add("gauge", "rlaas_breakers_open", "Nodes of Redis that are not asked, since they are silent.", silent);
        add("gauge", "rlaas_requests_under_way", "Requests without a reply, from their headers.", requests);
        let lag = load.largest_lag().as_secs_f64();
        add("gauge", "rlaas_lag_seconds", "How late rlaas ran at most, in the last 10 to 20 seconds.", lag);
        Ok(text)
    }
}

/// Counts a request whose caller is gone before there is a reply: its future is dropped.
pub struct CancelledUnlessReplied<'m> {
    metrics: &'m Metrics,
    method: Method,
    replied: bool,
}

impl CancelledUnlessReplied<'_> {
    pub fn replied(mut self) {
        self.replied = true;
    }
}

impl Drop for CancelledUnlessReplied<'_> {
    fn drop(&mut self) {
        if !self.replied {
            self.metrics.requests.with_label_values(&[self.method.name()]).inc();
            self.metrics.errors.with_label_values(&["cancelled"]).inc();
        }
    }
}

/// A label without the characters that separate the names of envoyproxy/ratelimit's statistics.
fn clean(text: &str) -> Cow<'_, str> {
    let separates = |byte| matches!(byte, b':' | b'|');
    if text.bytes().any(separates) { text.replace([':', '|'], "_").into() } else { text.into() }
}

/// From how many hits on a request is near the limit, in the precision of envoyproxy/ratelimit.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a ratio")]
fn near_from(limit: u64, ratio: f32) -> u64 {
    (limit as f32 * ratio) as u64
}

/// How much was counted before a request of so many units.
fn counted_before(decision: &Decision, units: u64) -> u64 {
    let count = u64::try_from(decision.count).unwrap_or(0);
    if decision.policy().algorithm().traits().count_is_after { count.saturating_sub(units) } else { count }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_begins_where_it_begins_for_envoyproxy_ratelimit() {
        // With 64 bits, 0.57 × 100 is a little less than 57.
        for (limit, ratio, expected) in [(100, 0.57, 57), (10, 0.8, 8), (7, 0.5, 3), (10, 1.5, 15), (0, 0.8, 0)] {
            assert_eq!(near_from(limit, ratio), expected, "{limit} {ratio}");
        }
    }

    #[test]
    fn an_error_of_redis_is_told_from_one_of_an_overload() {
        let metrics = Metrics::new(0.8).expect("metrics");
        let plan = Plan { slots: vec![Slot::None], pools: Vec::new(), all_or_nothing: false };
        let outcomes = vec![Some(Err(redis_rl_client::Error::CircuitOpen))];
        for overloaded in [true, false, false] {
            metrics.count("d", &plan, &outcomes, overloaded, &[]);
        }
        let counted = ["service_error", "redis_error"].map(|kind| metrics.errors.with_label_values(&[kind]).get());
        assert_eq!(counted, [1, 2]);
    }
}
