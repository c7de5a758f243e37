//! The decisions in the log.

use std::time::{Duration, Instant};

use envoy_types::pb::envoy::service::ratelimit::v3::RateLimitRequest;
use redis_rl_client::{Decision, RetryAfter, Source, bounded};
use tracing::{Level, debug, enabled, error};

use super::outcomes::Outcomes;
use super::plan::{Check, Plan, Slot};
use super::reply::is_over;
use super::text::show_descriptor;
use crate::throttle::Throttle;

/// Logs at debug level what each descriptor of a request got, one event for each. An error about the request is logged at
/// any level, once a second.
pub fn log(request: &RateLimitRequest, plan: &Plan, outcomes: &Outcomes, overloaded: bool, took: Duration) {
    let domain = &*bounded(&request.domain);
    for (slot, outcome) in plan.slots.iter().zip(outcomes) {
        if let (Slot::Check(check), Some(Err(problem))) = (slot, outcome)
            // That the server is away is not an error about the request: the client logs it.
            && !problem.is_unavailable()
            && let Some(left_out) = errors_left_out()
        {
            let (rule, key, error) = (&*check.limit.path, check.key.as_str(), problem.to_string());
            error!(domain, rule, key, error, left_out, "the server rejected a command");
        }
    }
    if !enabled!(Level::DEBUG) {
        return;
    }
    let took_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    for ((descriptor, slot), outcome) in request.descriptors.iter().zip(&plan.slots).zip(outcomes) {
        let descriptor = show_descriptor(descriptor);
        let check = if let Slot::Check(check) = slot { Some(check) } else { None };
        let decided = outcome.as_ref().and_then(|outcome| outcome.as_ref().ok());
        let failed = outcome.as_ref().and_then(|outcome| outcome.as_ref().err());
        let decision = match (slot, decided) {
            (Slot::None, _) => "no limit",
            (Slot::Replaced(_), _) => "replaced",
            (Slot::Unlimited(_), _) => "unlimited",
            (Slot::Check(check), Some(decision)) => word(check, decision),
            (Slot::Check(_), None) if failed.is_some() => "error",
            (Slot::Check(_), None) => "not checked",
        };
        debug!(
            domain,
            descriptor,
            rule = slot.limit().map(|limit| &*limit.path),
            at = check.and_then(|check| check.limit.place.as_ref()).map(ToString::to_string),
            key = check.map(|check| check.key.as_str()),
            command = check.map(|check| check.command(plan.all_or_nothing)),
            decision,
            by = decided.map(|decision| by(decision.source, overloaded)),
            remaining = decided.map(|decision| decision.remaining),
            retry_after_ms = decided.and_then(retry_after_ms),
            error = failed.map(ToString::to_string),
            took_us,
            "decided"
        );
    }
}

/// The bound on lines about errors: with a wrong password each request is an error, and would fill the disk.
static ERRORS: Throttle = Throttle::new(Duration::from_secs(1));

/// How many errors were not logged since the last one, if this one is.
pub fn errors_left_out() -> Option<u64> {
    ERRORS.next(Instant::now())
}

fn word(check: &Check, decision: &Decision) -> &'static str {
    match (is_over(check, decision), decision.allowed) {
        (false, _) => "allowed",
        (true, true) => "allowed by shadow_mode",
        (true, false) => "denied",
    }
}

/// Who decided. Only if it was the server, the command was sent.
const fn by(source: Source, overloaded: bool) -> &'static str {
    match source {
        Source::Server => "server",
        Source::RememberedDenial => "remembered denial",
        Source::Grant => "grant",
        _ if overloaded => "on_overload",
        // An unchecked limit has no decision.
        _ => "on_unavailable",
    }
}

/// −1 for never; `None` if it is allowed.
fn retry_after_ms(decision: &Decision) -> Option<i64> {
    match decision.retry_after {
        RetryAfter::Now => None,
        RetryAfter::After(wait) => i64::try_from(wait.as_millis()).ok(),
        RetryAfter::Never => Some(-1),
    }
}
