//! Whether the service may be sent requests.

use std::time::Duration;

use redis_rl_client::{Error, Fallback, Policy};
use tracing::error;

use super::log::errors_left_out;
use super::redis::words;
use super::service::{NO_RULES, Service};

/// The key that RL.PEEK asks about where the rules have no limit that it can ask about.
const PROBE: Policy = Policy::fixed(Duration::from_secs(1), 1);

impl Service {
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
}
