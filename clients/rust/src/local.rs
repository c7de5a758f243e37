//! Limits inside this process, for [`Fallback::Local`](crate::Fallback).

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use crate::decision::{Decision, RetryAfter};
use crate::policy::Policy;
use crate::request::Request;

/// After how many requests the keys are dropped whose whole limit is available again.
const SWEEP_EVERY: u32 = 1 << 16;

#[derive(Default)]
pub struct Local {
    limiters: RwLock<HashMap<(Policy, u32), Arc<Limiter>>>,
}

struct Limiter {
    /// `None` if the limit is 0.
    keys: Option<DefaultKeyedRateLimiter<Box<[u8]>>>,
    requests: AtomicU32,
}

impl std::fmt::Debug for Local {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Local").finish_non_exhaustive()
    }
}

impl Local {
    /// Decides on a request with the part of the limit that one of `instances` has.
    pub fn decide(&self, request: &Request<'_>, instances: u32) -> Decision {
        let (allowed, retry_after) = self.limiter(request.policy, instances).decide(request);
        let charged = if allowed { request.cost } else { 0 };
        Decision::of_fallback(request.policy, allowed, charged, retry_after)
    }

    fn limiter(&self, policy: &Policy, instances: u32) -> Arc<Limiter> {
        let at = (*policy, instances);
        let known = self.limiters.read().unwrap_or_else(PoisonError::into_inner).get(&at).cloned();
        known.unwrap_or_else(|| {
            let mut limiters = self.limiters.write().unwrap_or_else(PoisonError::into_inner);
            limiters.entry(at).or_insert_with(|| Arc::new(Limiter::new(policy, instances))).clone()
        })
    }
}

impl Limiter {
    fn new(policy: &Policy, instances: u32) -> Self {
        let part = |whole: u64| {
            let part = (whole / u64::from(instances.max(1))).max(1);
            NonZeroU32::new(u32::try_from(part).unwrap_or(u32::MAX)).unwrap_or(NonZeroU32::MIN)
        };
        let period = policy.longest_window() / part(policy.limit()).get();
        let quota = Quota::with_period(period.max(Duration::from_nanos(1))).filter(|_| policy.limit() > 0);
        let keys = quota.map(|quota| RateLimiter::keyed(quota.allow_burst(part(policy.capacity()))));
        Self { keys, requests: AtomicU32::new(0) }
    }

    fn decide(&self, request: &Request<'_>) -> (bool, RetryAfter) {
        let Some(keys) = &self.keys else { return (false, RetryAfter::Never) };
        if self.requests.fetch_add(1, Ordering::Relaxed) % SWEEP_EVERY == SWEEP_EVERY - 1 {
            keys.retain_recent();
            keys.shrink_to_fit();
        }
        let Some(cost) = NonZeroU32::new(u32::try_from(request.cost).unwrap_or(u32::MAX)) else {
            return (true, RetryAfter::Now); // governor cannot tell whether anything is left
        };
        match keys.check_key_n(&request.key.into(), cost) {
            Ok(Ok(())) => (true, RetryAfter::Now),
            Ok(Err(denied)) => {
                let wait = denied.wait_time_from(DefaultClock::default().now());
                (false, RetryAfter::After(wait.max(Duration::from_millis(1))))
            }
            Err(_) => (false, RetryAfter::Never),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_instance_allows_its_part() {
        let local = Local::default();
        let policy = Policy::token(Duration::from_secs(3600), 30).burst(10);
        let allowed =
            |instances, key: &str| (0..20).filter(|_| local.decide(&policy.request(key), instances).allowed).count();
        assert_eq!([allowed(1, "a"), allowed(3, "a"), allowed(100, "a"), allowed(3, "b")], [10, 3, 1, 3]);
    }

    #[test]
    fn a_denial_says_when_to_retry() {
        let local = Local::default();
        let policy = Policy::counter(Duration::from_secs(10), 10);
        let decide = |cost| local.decide(&policy.request("k").cost(cost), 1);
        assert!(decide(10).allowed);
        let RetryAfter::After(wait) = decide(1).retry_after else { panic!("denied for a while") };
        assert!(wait <= Duration::from_secs(1) && wait > Duration::from_millis(900), "{wait:?}");
        assert_eq!(decide(11).retry_after, RetryAfter::Never);
        assert_eq!(
            local.decide(&Policy::token(Duration::from_secs(1), 0).request("k"), 1).retry_after,
            RetryAfter::Never
        );
    }
}
