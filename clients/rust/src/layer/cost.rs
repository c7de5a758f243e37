//! What a request turned out to cost.

use http::Extensions;

use super::limit::Limit;
use crate::Limiter;
use crate::decision::{Decision, Decisions, Source};

/// What a request turned out to cost, if one of its limits is settled. A handler puts it into the extensions of its
/// response. If several limits are settled, it says nothing: use [`ActualCosts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActualCost(pub u64);

/// What a request turned out to cost under each of its policies, by their names. A handler puts it into the extensions
/// of its response. A policy that is not named stays charged as it was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActualCosts(Vec<(String, u64)>);

impl ActualCosts {
    /// Adds the cost under the policy of this name.
    #[must_use]
    pub fn policy(mut self, name: impl Into<String>, cost: u64) -> Self {
        self.0.push((name.into(), cost));
        self
    }

    fn get(&self, name: &str) -> Option<u64> {
        self.0.iter().find(|(known, _)| known == name).map(|&(_, cost)| cost)
    }
}

/// The cost under each limit, as the extensions of a response say.
pub fn of_extensions(extensions: &Extensions, limits: &[Limit]) -> impl Fn(&Limit) -> Option<u64> + use<> {
    let named = extensions.get::<ActualCosts>().cloned().unwrap_or_default();
    let settled = limits.iter().filter(|limit| limit.is_settled()).count();
    let only = extensions.get().filter(|_| settled == 1).map(|&ActualCost(cost)| cost);
    move |limit| named.get(limit.policy().label()).or(only)
}

/// Settles in the background, so that the response does not wait.
pub fn settle(limiter: &Limiter, limits: &[Limit], decisions: &Decisions, actual: impl Fn(&Limit) -> Option<u64>) {
    for (limit, decision) in limits.iter().zip(&decisions.limits) {
        let actual = actual(limit).filter(|_| limit.is_settled() && was_charged(limit, decision));
        let Some(actual) = actual else { continue };
        let (limiter, limit, decision) = (limiter.clone(), limit.clone(), *decision);
        tokio::spawn(async move {
            let request = limit.request().cost(decision.charged).at(decision.now_ms);
            if let Err(error) = limiter.settle(&request, actual).await {
                limiter.core.unsettled(&error);
            }
        });
    }
}

/// Whether the server counts the request. If it does not (shadow mode allowed what the limit denies, or there was no
/// memory), there is nothing to correct.
fn was_charged(limit: &Limit, decision: &Decision) -> bool {
    decision.source == Source::Server && !decision.shadow && decision.charged == limit.request().cost
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::decision::RetryAfter;
    use crate::policy::Policy;

    #[test]
    fn only_what_the_server_has_charged_is_settled() {
        let policy = Policy::token(Duration::from_secs(60), 5);
        let limit = Limit::new(&policy, "k").cost(3);
        let cases = [
            (Source::Server, 3, false),
            (Source::Server, 0, false),
            (Source::Server, 3, true),
            (Source::Fallback, 3, false),
        ];
        let settled = cases.map(|(source, charged, shadow)| {
            let decision = Decision::of_fallback(&policy, true, charged, RetryAfter::Now);
            was_charged(&limit, &Decision { source, shadow, ..decision })
        });
        assert_eq!(settled, [true, false, false, false]);
    }
}
