//! The limit of one key in this process alone, while the server cannot decide: the algorithm itself, under the part of the
//! limit and the burst that one of several instances has. The server learns nothing of these decisions.

use std::any::{Any, TypeId};
use std::time::Duration;

use redis_rl_algorithm::in_memory::{Charging, InMemory};
use redis_rl_algorithm::rolling_log::{ENTRY_LEN, MAX_ENTRIES};
use redis_rl_algorithm::{Cost, Micros, Policy as Terms, RollingLog, for_in_memory};

use crate::decision::{Decision, RetryAfter};
use crate::policy::{Policy, Request};

/// How many bytes an entry takes beside those of the key and its log.
const BYTES: usize = 400;

#[derive(Debug)]
pub struct Local {
    /// What the algorithm of the requests keeps.
    key: Box<dyn Any + Send>,
    /// When the last of its units stops counting.
    over_at: Micros,
    pub bytes: usize,
}

/// Decides on a request, and when its units stop counting, in ms.
fn decide<A: InMemory>(key: &mut A::Key, terms: &Terms, now: Micros, request: &Request<'_>) -> Option<(Decision, i64)> {
    let algorithm = A::with_policy(terms).ok()?;
    A::expire(key, now);
    algorithm.prune(key, now);
    let charging = if request.always { Charging::Always } else { Charging::IfAllowed };
    let cost = if request.partial { algorithm.remaining(key, now).min(request.cost) } else { request.cost };
    let reply = algorithm.request_charging(key, now, Cost::new(cost)?, charging).ok()?;
    let allowed = if request.partial && request.cost > 0 { cost > 0 } else { reply.verdict.allowed };
    let charged = if reply.verdict.allowed || request.always { cost } else { 0 };
    let retry_after = if allowed { RetryAfter::Now } else { RetryAfter::from_millis(reply.figures.retry_after_ms) };
    let decision = Decision::of_fallback(request.policy, allowed, charged, retry_after);
    let delay = Duration::from_millis(u64::try_from(reply.figures.delay_ms).unwrap_or(0));
    Some((Decision { delay, ..decision }, reply.figures.reset_ms))
}

/// A key on which so many units are used.
fn begun<A: InMemory<Key: Send + 'static>>(terms: &Terms, now: Micros, used: u64) -> Box<dyn Any + Send> {
    let mut key = A::Key::default();
    if let (1.., Ok(algorithm), Some(used)) = (used, A::with_policy(terms), Cost::new(used)) {
        _ = algorithm.overcharge(&mut key, now, None, used);
    }
    Box::new(key)
}

fn give_back<A: InMemory>(key: &mut A::Key, terms: &Terms, now: Micros, units: u64) {
    if let (Ok(algorithm), Some(units)) = (A::with_policy(terms), Cost::new(units)) {
        algorithm.refund(key, now, Some(now), units);
    }
}

/// The terms of one instance: its part of the limit and of the burst, each at least 1, unless the limit is 0.
fn part(policy: &Policy, instances: u32) -> Terms {
    let terms = policy.terms();
    let part = |whole: u64| (whole / u64::from(instances.max(1))).max(whole.min(1));
    Terms { limit: part(terms.limit), burst: terms.burst.map(part), ..terms }
}

/// The most bytes that the entry of the key takes.
pub fn bytes(request: &Request<'_>, instances: u32) -> usize {
    // Special: the log has an entry for each moment.
    let has_log = for_in_memory!(request.policy.algorithm(), A => TypeId::of::<A>() == TypeId::of::<RollingLog>());
    let limit = part(request.policy, instances).limit;
    let entries = usize::try_from(limit.saturating_add(1)).unwrap_or(usize::MAX).min(MAX_ENTRIES);
    BYTES + request.key.len() + if has_log { entries.saturating_mul(ENTRY_LEN) } else { 0 }
}

impl Local {
    /// Begins with the part of one instance of what the server counts by its last reply.
    pub fn new(request: &Request<'_>, instances: u32, used: u64, now: Micros) -> Self {
        let (terms, used) = (part(request.policy, instances), used.div_ceil(u64::from(instances.max(1))));
        let key = for_in_memory!(request.policy.algorithm(), A => begun::<A>(&terms, now, used));
        Self { key, over_at: Micros(u64::MAX), bytes: bytes(request, instances) }
    }

    pub fn decide(&mut self, request: &Request<'_>, instances: u32, now: Micros) -> Decision {
        let terms = part(request.policy, instances);
        let decided = for_in_memory!(request.policy.algorithm(), A => {
            self.key.downcast_mut().and_then(|key| decide::<A>(key, &terms, now, request))
        });
        let Some((decision, reset_ms)) = decided else {
            return Decision::of_fallback(request.policy, false, 0, RetryAfter::Never);
        };
        self.over_at = u64::try_from(reset_ms).map_or(Micros(u64::MAX), |reset| now.plus((reset + 1) * 1_000));
        decision
    }

    pub fn give_back(&mut self, request: &Request<'_>, instances: u32, units: u64, now: Micros) {
        let terms = part(request.policy, instances);
        for_in_memory!(request.policy.algorithm(), A => {
            _ = self.key.downcast_mut().map(|key| give_back::<A>(key, &terms, now, units));
        });
    }

    /// Whether its last unit has stopped counting.
    pub fn is_over(&self, now: Micros) -> bool {
        self.over_at <= now
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Algorithm, Window};

    /// The algorithm itself under a part of the limit: what counted before, all options, and when it is over.
    #[test]
    fn it_is_the_algorithm_under_a_part_of_the_limit() {
        let window = Duration::from_secs(60);
        for algorithm in Algorithm::ALL.into_iter().filter(|algorithm| algorithm.traits().partial) {
            let policy = Policy::new(algorithm, Window::Length(window), 10).expect("a policy");
            let now = Micros::from_millis(60_000_000);
            let decide = |local: &mut Local, asked: Request<'_>, now| {
                let decision = local.decide(&asked, 2, now);
                (decision.allowed, decision.charged)
            };
            let asked = policy.request("k");
            // Each of two has 5, of which 2 are used.
            let mut local = Local::new(&asked, 2, 3, now);
            assert_eq!(decide(&mut local, asked.cost(4), now), (false, 0), "{policy}");
            assert_eq!(decide(&mut local, asked.cost(2), now), (true, 2), "{policy}");
            assert_eq!(decide(&mut local, asked.cost(9).partial(), now), (true, 1), "{policy}");
            assert_eq!(decide(&mut local, asked.partial(), now), (false, 0), "{policy}");
            local.give_back(&asked, 2, 1, now);
            assert_eq!(decide(&mut local, asked, now), (true, 1), "{policy}");
            if algorithm.traits().always {
                assert_eq!(decide(&mut local, asked.always(), now), (false, 1), "{policy}");
            }
            let [soon, later] = [30, 240].map(|seconds| now.plus(seconds * 1_000_000));
            assert!(!local.is_over(soon) && local.is_over(later), "{policy}");
            let mut never = Local::new(&asked, 20, 0, now);
            let one = |local: &mut Local| local.decide(&asked, 20, now).allowed;
            assert_eq!([one(&mut never), one(&mut never)], [true, false], "at least 1: {policy}");
        }
    }
}
