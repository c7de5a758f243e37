//! The HTTP headers of a decision: the customary `X-RateLimit-*`, and `RateLimit-Policy` and `RateLimit` as in
//! draft-ietf-httpapi-ratelimit-headers.
//!
//! They are computed here, because a reply has either the figures or the headers, and a remembered denial and a grant have no
//! reply at all.

use std::time::Duration;

use super::{Decision, Decisions, Source, millis, strictest};

/// The largest integer of a structured header field (RFC 9651, section 3.3.1). A larger one voids the whole header.
const MAX_INTEGER: u64 = 999_999_999_999_999;

impl Decision {
    /// The headers of the HTTP response: those that `HEADERS` replies for the same request.
    pub fn headers(&self) -> Vec<(&'static str, String)> {
        headers(std::slice::from_ref(self))
    }
}

impl Decisions {
    /// The headers of the HTTP response: all policies, and the other figures of the strictest limit.
    pub fn headers(&self) -> Vec<(&'static str, String)> {
        headers(&self.limits)
    }
}

fn headers(decisions: &[Decision]) -> Vec<(&'static str, String)> {
    let Some(strictest) = strictest(decisions) else { return Vec::new() };
    let names = unique_names(decisions);
    let mut headers = Vec::with_capacity(6);
    let mut header = |name, value| headers.push((name, value));
    let policies: Vec<_> = decisions.iter().zip(&names).map(|(decision, name)| policy_item(decision, name)).collect();
    let policies = policies.join(", ");

    if matches!(strictest.source, Source::Fallback | Source::Unchecked) {
        // Nothing is known of what remains.
        header("RateLimit-Policy", policies);
    } else {
        header("X-RateLimit-Limit", strictest.limit.to_string());
        header("X-RateLimit-Remaining", strictest.remaining.to_string());
        if let Some(reset) = strictest.reset_after {
            let at = strictest.now_ms.saturating_add(millis(reset)).div_ceil(1_000);
            header("X-RateLimit-Reset", at.to_string());
        }
        header("RateLimit-Policy", policies);
        // The strictest decision is one of them.
        let name = decisions.iter().position(|decision| decision == strictest).and_then(|at| names.get(at));
        let name = name.map_or(strictest.policy.label(), String::as_str);
        let more = strictest.next.map_or(String::new(), |next| format!(";t={}", seconds(next).min(MAX_INTEGER)));
        header("RateLimit", format!("\"{name}\";r={}{more}", strictest.remaining.min(MAX_INTEGER)));
    }
    if let Some(wait) = strictest.retry_after.duration().filter(|_| !strictest.allowed) {
        header("Retry-After", seconds(wait).to_string());
    }
    headers
}

/// A name for each policy: the second of a name becomes `name-2`, and so on.
pub fn unique_names(decisions: &[Decision]) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(decisions.len());
    for decision in decisions {
        let name = decision.policy.label();
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let free = std::iter::once(name.to_owned()).chain(numbered).find(|name| !names.contains(name));
        names.extend(free);
    }
    names
}

/// The policy in `RateLimit-Policy`. Its window is a whole number of seconds, so the limit of another window is given
/// for the smallest whole multiple that is: 10 in 500 ms are 20 in 1 s.
fn policy_item(decision: &Decision, name: &str) -> String {
    let policy = &decision.policy;
    let window = policy.window_millis_at(decision.now_ms);
    if policy.algorithm().traits().id {
        // How many at once does not depend on the window.
        let [quota, seconds] = [policy.limit(), window.div_ceil(1_000)].map(|n| n.min(MAX_INTEGER));
        return format!("\"{name}\";q={quota};w={seconds};qu=\"concurrent-requests\"");
    }
    let windows = (1..=1_000u64).find(|windows| window.saturating_mul(*windows).is_multiple_of(1_000)).unwrap_or(1);
    let numbers = [policy.limit().saturating_mul(windows), window.saturating_mul(windows) / 1_000];
    let [quota, seconds] = numbers.map(|n| n.min(MAX_INTEGER));
    format!("\"{name}\";q={quota};w={seconds}")
}

/// Rounded up.
fn seconds(time: Duration) -> u64 {
    millis(time).div_ceil(1_000)
}
