//! Asks the server about the limits of a request, all in one round trip.

use std::time::{Duration, Instant};

use futures_util::future::{join, join_all};
use redis_rl_client::{Decision, Decisions, Error, Fallback, Limiter, Request, Source};

use super::plan::{Check, Hits, Plan, Slot};
use super::state::Snapshot;

/// What the server said about each descriptor; `None` where it was not asked.
pub type Outcomes = Vec<Option<Result<Decision, Error>>>;

/// Who decides, and how.
#[derive(Clone, Copy, Debug)]
pub struct How {
    /// Whether this process is too busy to ask the server: then remembered denials deny, grants have what they hold, and
    /// the rest is up to the fallback.
    pub overloaded: bool,
    pub fallback: Fallback,
    pub timeout: Duration,
}

/// Whether the server could not decide on a limit, and the fallback neither.
pub fn has_no_decision(outcomes: &Outcomes) -> bool {
    outcomes.iter().flatten().any(|outcome| outcome.as_ref().is_err_and(Error::is_unavailable))
}

/// The decisions about the limits that were checked.
pub fn decisions(outcomes: &Outcomes) -> impl Iterator<Item = &Decision> {
    outcomes.iter().flatten().flatten()
}

/// What is to be checked, by the numbers of the descriptors.
pub fn checks(plan: &Plan) -> impl Iterator<Item = Numbered<'_>> {
    plan.slots.iter().enumerate().filter_map(|(i, slot)| match slot {
        Slot::Check(check) => Some((i, &**check)),
        _ => None,
    })
}

/// A check, and the number of its slot.
pub type Numbered<'p> = (usize, &'p Check);
pub type Decided = (usize, Result<Decision, Error>);

fn numbers(checks: &[Numbered<'_>]) -> impl Iterator<Item = usize> {
    checks.iter().map(|(i, _)| *i)
}

/// Units that are given back, and grants, have calls of their own.
const fn is_sent_together(check: &Check) -> bool {
    !matches!((check.hits, check.grants), (Hits::GiveBack(_), _) | (Hits::Charge(_), Some(_)))
}

pub struct Decider<'s> {
    limiter: Limiter,
    snapshot: &'s Snapshot,
    pub how: How,
}

impl<'s> Decider<'s> {
    pub fn new(limiter: &Limiter, snapshot: &'s Snapshot, how: How) -> Self {
        let limiter = limiter.with_fallback(how.fallback).with_timeout(how.timeout);
        Self { limiter, snapshot, how }
    }

    /// The same with so much time.
    pub fn within(&self, timeout: Duration) -> Self {
        let how = How { timeout, ..self.how };
        Self { limiter: self.limiter.with_timeout(timeout), how, ..*self }
    }

    /// Asks about checks in one round trip, of which all are charged or none, or each by itself. Units that are given back
    /// are sent in any case: they lift no limit, and kept they would deny others.
    pub async fn round<'p>(&self, asked: impl Iterator<Item = Numbered<'p>>, all_or_nothing: bool) -> Vec<Decided> {
        let (together, alone): (Vec<_>, Vec<_>) = asked.partition(|(_, check)| is_sent_together(check));
        let decided = async {
            if all_or_nothing {
                Box::pin(self.all_or_nothing(&together)).await
            } else {
                numbers(&together).zip(self.each(&together).await).collect()
            }
        };
        let mut decided = if alone.is_empty() {
            decided.await
        } else {
            let single = join_all(alone.iter().map(|numbered| self.one(*numbered)));
            let (mut decided, mut single) = join(decided, single).await;
            if self.how.fallback != Fallback::Error {
                // Units that could not be given back deny nobody. A charge has the decision of the fallback already.
                single.retain(|(_, outcome)| !outcome.as_ref().is_err_and(Error::is_unavailable));
            }
            decided.append(&mut single);
            decided
        };
        // A limit that was not checked, because another one denies, has no figures.
        decided.retain(|(_, outcome)| !outcome.as_ref().is_ok_and(|decision| decision.source == Source::Unchecked));
        decided
    }

    async fn each(&self, checks: &[Numbered<'_>]) -> Vec<Result<Decision, Error>> {
        let requests: Vec<Request<'_>> = checks.iter().map(|(_, check)| check.request()).collect();
        if self.how.overloaded {
            return self.limiter.decide_without_server(&requests, self.how.fallback);
        }
        if !checks.iter().any(|(_, check)| check.is_tried()) {
            return self.limiter.check_each(&requests).await;
        }
        let each = checks.iter().zip(&requests).map(async |((_, check), request)| match check.is_tried() {
            true => self.limiter.try_request(request).await,
            false => self.limiter.check_request(request).await,
        });
        join_all(each).await
    }

    async fn one(&self, (i, check): Numbered<'_>) -> Decided {
        let How { overloaded, fallback, timeout } = self.how;
        let outcome = match (check.hits, self.snapshot.grants.get(&check.limit.names)) {
            (Hits::GiveBack(hits), _) => {
                self.limiter.refund(&check.request()).await.map(|decision| without_request(decision, hits))
            }
            (Hits::Charge(hits), Some(granted)) if granted.policy == check.policy => {
                if overloaded {
                    granted.grants.decide_without_server(&check.key, hits, fallback)
                } else {
                    let grants = granted.grants.with_fallback(fallback).with_timeout(timeout);
                    grants.check_cost(&check.key, hits).await
                }
            }
            _ => self.each(&[(i, check)]).await.pop().unwrap_or(Err(Error::Overloaded)),
        };
        (i, outcome)
    }

    /// Charges all limits or none. Descriptors with one key are charged once, with the sum. Those that look are asked
    /// before, and if one is denied, nothing is charged.
    async fn all_or_nothing(&self, checks: &[Numbered<'_>]) -> Vec<Decided> {
        let started = Instant::now();
        let (looks, charges): (Vec<_>, Vec<_>) =
            checks.iter().copied().partition(|(_, check)| check.hits == Hits::Look);
        let mut outcomes: Vec<_> = numbers(&looks).zip(self.each(&looks).await).collect();
        let goes_on = outcomes.iter().all(|(_, outcome)| outcome.as_ref().is_ok_and(|decision| decision.allowed));
        if charges.is_empty() {
            return outcomes;
        }
        let merged = Merged::new(&charges);
        let rest = if looks.is_empty() { self.how.timeout } else { self.how.timeout.saturating_sub(started.elapsed()) };
        let limiter = self.limiter.with_timeout(rest);
        let decided = match (goes_on, self.how.overloaded) {
            (true, true) => merged.assign(limiter.decide_all_without_server(&merged.requests, self.how.fallback)),
            (true, false) => merged.assign(limiter.check_all(&merged.requests).await),
            (false, true) => return outcomes,
            // The request is denied, or cannot be decided: the other limits only show what they would say.
            (false, false) => {
                let shown = join_all(merged.requests.iter().map(|request| limiter.peek(request))).await;
                shown.into_iter().map(Some).collect()
            }
        };
        outcomes.extend(merged.spread(&charges, decided));
        outcomes
    }
}

/// What is left after units were given back. The reply is that of RL.PEEK for the same cost, so `remaining` is without
/// that cost if it is available.
const fn without_request(mut decision: Decision, hits: u64) -> Decision {
    if decision.allowed && !decision.shadow {
        decision.remaining = decision.remaining.saturating_add(hits);
    }
    decision
}

/// Adds up the charges of each key, which RL.MULTI charges once. Returns the sums, and which of them each charge is part of.
fn sum_by_key<K: PartialEq>(charges: impl Iterator<Item = (K, u64)>) -> (Vec<(K, u64)>, Vec<usize>) {
    let mut sums: Vec<(K, u64)> = Vec::new();
    let mut add = |(key, units)| {
        let known = sums.iter_mut().enumerate().find(|(_, (known, _))| *known == key);
        if let Some((at, (_, sum))) = known {
            *sum = sum.saturating_add(units);
            return at;
        }
        sums.push((key, units));
        sums.len() - 1
    };
    let at = charges.map(&mut add).collect();
    (sums, at)
}

/// The requests of charges, one for each key.
struct Merged<'p> {
    requests: Vec<Request<'p>>,
    /// Which of them each charge is part of.
    at: Vec<usize>,
}

impl<'p> Merged<'p> {
    fn new(charges: &[Numbered<'p>]) -> Self {
        let hits = |check: &Check| if let Hits::Charge(hits) = check.hits { hits } else { 0 };
        let (sums, at) = sum_by_key(charges.iter().map(|(_, check)| (check.key.as_str(), hits(check))));
        let request = |(place, (_, sum)): (usize, &(&str, u64))| {
            let own = || charges.iter().zip(&at).filter(|(_, at)| **at == place).map(|((_, check), _)| *check);
            // A reservation is one estimate for all descriptors that have come to one pool.
            let reserved = own().filter(|check| check.reservation.is_some()).map(hits).max();
            let cost = reserved.unwrap_or(*sum);
            // Two limits of one key: that of a rule, and one that a descriptor brought along.
            own().min_by_key(|check| check.policy.limit()).map(|check| check.request().cost(cost))
        };
        let requests = sums.iter().enumerate().filter_map(request).collect();
        Self { requests, at }
    }

    /// The decision of each request. A remembered denial, or a decision without the server, names only some limits: the
    /// others get none.
    fn assign(&self, decided: Result<Decisions, Error>) -> Vec<Option<Result<Decision, Error>>> {
        let decisions = match decided {
            Ok(decisions) => decisions,
            Err(error) => return self.requests.iter().map(|_| Some(Err(error.clone()))).collect(),
        };
        let mut decisions = decisions.limits.into_iter().peekable();
        let next = |request: &Request<'_>| decisions.next_if(|decision| decision.policy() == request.policy()).map(Ok);
        self.requests.iter().map(next).collect()
    }

    /// The outcome of each request, for every charge that is part of it.
    fn spread(&self, charges: &[Numbered<'_>], outcomes: Vec<Option<Result<Decision, Error>>>) -> Vec<Decided> {
        let outcome = |place: &usize| outcomes.get(*place).cloned().flatten();
        charges.iter().zip(&self.at).filter_map(|((i, _), place)| Some((*i, outcome(place)?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use envoy_types::pb::envoy::extensions::common::ratelimit::v3::RateLimitDescriptor;
    use envoy_types::pb::envoy::extensions::common::ratelimit::v3::rate_limit_descriptor::RateLimitOverride;
    use envoy_types::pb::google::protobuf::UInt64Value;
    use rlaas_rules::{Settings, Source, load};

    use super::super::plan::Reservation;
    use super::*;
    use std::sync::Arc;

    use envoy_types::pb::envoy::service::ratelimit::v3::RateLimitRequest;

    use crate::decide::read_descriptor;

    /// A charge of 5 under the limit of a rule, and one of 3 under a smaller limit of the same key.
    fn plan() -> Plan {
        let text = "domain: d\ndescriptors: [{key: k, rate_limit: {unit: day, requests_per_unit: 9}}]".to_owned();
        let (rules, _) = load(&[Source { name: "d".to_owned(), text }], &Settings::default());
        let descriptor = |hits, limit| RateLimitDescriptor {
            hits_addend: Some(UInt64Value { value: hits }),
            limit,
            ..read_descriptor("k=v").expect("a descriptor")
        };
        let own = Some(RateLimitOverride { requests_per_unit: 8, unit: 4 });
        let descriptors = vec![descriptor(5, None), descriptor(3, own)];
        let request = RateLimitRequest { domain: "d".to_owned(), descriptors, hits_addend: 0 };
        Plan::new(&request, rules.expect("valid").domains.get("d"), "", false).expect("a plan")
    }

    #[test]
    fn one_key_is_charged_once_under_the_smallest_limit() {
        let plan = plan();
        let merged = Merged::new(&checks(&plan).collect::<Vec<_>>());
        let [request] = merged.requests.as_slice() else { panic!("{:?}", merged.requests) };
        assert_eq!((request.policy().limit(), &*merged.at), (8, &[0, 0][..]));
        assert!(format!("{request:?}").contains("cost: 8,"), "{request:?}");
    }

    #[test]
    fn of_two_estimates_in_one_key_the_larger_is_reserved() {
        let mut plan = plan();
        for slot in &mut plan.slots {
            let Slot::Check(check) = slot else { continue };
            check.reservation = Some(Arc::new(Reservation { id: "a".to_owned(), ttl: Duration::from_secs(1) }));
        }
        let merged = Merged::new(&checks(&plan).collect::<Vec<_>>());
        assert!(format!("{:?}", merged.requests).contains("cost: 5,"), "{:?}", merged.requests);
    }
}
