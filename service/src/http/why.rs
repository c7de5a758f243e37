//! `/why`: what each limit of a request holds now.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use redis_rl_client::{Fallback, RetryAfter};
use rlaas_rules::Printable;
use tonic::Status;

use super::{Rejected, json};
use crate::decide::{Call, Check, Plan, Service, Slot, show_descriptor, show_pool, show_slot};

/// More remembered denials than there can be of a request.
const ALL: usize = usize::MAX;

/// Deletes what the limits of the request in the body hold, and ends the denials of them that this copy remembers.
pub async fn reset(State(service): State<Arc<Service>>, body: Bytes) -> Result<String, Rejected> {
    if !service.settings.allow_reset {
        return Err(Status::permission_denied("this rlaas was started without --allow-reset").into());
    }
    each(&service, &body, true).await
}

/// Shows, for each descriptor of the request in the body, its rule and key, how much is used, and when it is allowed
/// again. Charges nothing.
pub async fn why(State(service): State<Arc<Service>>, body: Bytes) -> Result<String, Rejected> {
    each(&service, &body, false).await
}

/// The rule and the key of each descriptor of the request in the body, and what its limit holds, or held.
async fn each(service: &Service, body: &Bytes, resets: bool) -> Result<String, Rejected> {
    let request = json::read(body)?;
    let snapshot = service.rules(&mut Call::default())?;
    let domain = snapshot.rules.domains.get(request.domain.as_str());
    let plan = Plan::new(&request, domain, &service.settings.prefix, service.settings.cluster)?;
    let mut text = super::shadow(service).into_bytes();
    for (i, (descriptor, slot)) in request.descriptors.iter().zip(&plan.slots).enumerate() {
        text.extend(format!("descriptor {}\n", Printable(&show_descriptor(descriptor))).into_bytes());
        // Writing to memory cannot fail.
        _ = show_slot(&request.domain, slot, plan.all_or_nothing, &mut text);
        if let Slot::Check(check) | Slot::Replaced(check) = slot {
            let said = if resets { held(service, check).await } else { holds(service, check).await };
            text.extend(said.into_bytes());
        }
        // Others are charged there, too: it is not reset.
        for pool in plan.pools(i).iter().filter(|_| !resets) {
            let shares = slot.limit().is_some_and(|limit| limit.shares);
            _ = show_pool(pool, shares, plan.all_or_nothing, &mut text);
            text.extend(holds(service, pool).await.into_bytes());
        }
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Whether a limit held something, which is deleted.
async fn held(service: &Service, check: &Check) -> String {
    let request = check.policy.request(&check.key).with_key_as_it_is();
    match service.limiter.reset_request(&request).await {
        Ok(true) => "  reset    it held something\n".to_owned(),
        Ok(false) => "  reset    it held nothing\n".to_owned(),
        Err(error) => format!("  Redis    {}\n", Printable(&error.to_string())),
    }
}

/// What a limit holds.
async fn holds(service: &Service, check: &Check) -> String {
    let mut text = format!("  name     {}\n", check.policy.label());
    let remembered = service.limiter.top_denials(ALL).into_iter().find(|denial| denial.key == check.key.as_bytes());
    if let Some(denial) = remembered {
        _ = writeln!(text, "  denied   without Redis, by a remembered denial, for {} more", seconds(denial.ends_in));
    }
    let limiter = service.limiter.with_fallback(Fallback::Error);
    match limiter.peek(&check.policy.request(&check.key).with_key_as_it_is()).await {
        Err(error) => _ = writeln!(text, "  Redis    {}", Printable(&error.to_string())),
        Ok(decision) => {
            let when = match decision.retry_after {
                _ if decision.allowed && !decision.shadow => "now".to_owned(),
                RetryAfter::After(wait) => format!("in {}", seconds(wait)),
                RetryAfter::Now => "now".to_owned(),
                RetryAfter::Never => "never".to_owned(),
            };
            // What remains is without the unit that would be allowed.
            let left = decision.remaining.saturating_add(u64::from(decision.allowed && !decision.shadow));
            let used = decision.limit.saturating_sub(left);
            _ = writeln!(text, "  used     {used} of {}", decision.limit);
            _ = writeln!(text, "  allowed  {when}");
        }
    }
    text
}

fn seconds(wait: std::time::Duration) -> String {
    format!("{:.1} s", wait.as_secs_f64())
}
