//! Asks the server about the limits of a request, all in one round trip.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use futures_util::future::{join, join_all};
use redis_rl_client::{Connection, Decision, Error, Fallback, Limiter, Request, Source};

use super::plan::{Check, Hits, Plan, Slot};
use super::state::Snapshot;
use crate::rules::OnUnavailable;

/// What the server said about each descriptor; `None` where it was not asked.
pub type Outcomes = Vec<Option<Result<Decision, Error>>>;

/// Asks within `timeout`.
pub async fn decide<C: Connection>(
    plan: &Plan,
    limiter: &Limiter<C>,
    snapshot: &Snapshot<C>,
    on_unavailable: OnUnavailable,
    timeout: Duration,
) -> Outcomes {
    let limiter = limiter.with_fallback(fallback(on_unavailable)).with_timeout(timeout);
    let checks: Vec<(usize, &Check)> = plan
        .slots
        .iter()
        .enumerate()
        .filter_map(|(i, slot)| match slot {
            Slot::Check(check) => Some((i, &**check)),
            _ => None,
        })
        .collect();
    let mut outcomes: Outcomes = plan.slots.iter().map(|_| None).collect();
    let (together, alone): (Vec<_>, Vec<_>) = checks.into_iter().partition(|(_, check)| is_sent_together(check));
    let decided = async {
        if plan.all_or_nothing {
            all_or_nothing(&limiter, &together, timeout).await
        } else {
            each(&limiter, &together).await
        }
    };
    if alone.is_empty() {
        set(&mut outcomes, decided.await);
        return outcomes;
    }
    let single = join_all(alone.iter().map(|numbered| one(&limiter, snapshot, (on_unavailable, timeout), *numbered)));
    let (decided, mut single) = join(decided, single).await;
    if on_unavailable != OnUnavailable::Error {
        // Units that could not be given back deny nobody. A charge has the decision of on_unavailable already.
        single.retain(|(_, outcome)| !outcome.as_ref().is_err_and(Error::is_unavailable));
    }
    set(&mut outcomes, decided);
    set(&mut outcomes, single);
    outcomes
}

type Numbered = (usize, Result<Decision, Error>);

fn set(outcomes: &mut Outcomes, decided: Vec<Numbered>) {
    for (i, outcome) in decided {
        // A limit that was not checked, because another one denies, has no figures.
        let checked = !outcome.as_ref().is_ok_and(|decision| decision.source == Source::Unchecked);
        if let Some(place) = outcomes.get_mut(i).filter(|_| checked) {
            *place = Some(outcome);
        }
    }
}

/// Units that are given back, and grants, have calls of their own.
const fn is_sent_together(check: &Check) -> bool {
    !matches!((check.hits, check.grants), (Hits::GiveBack(_), _) | (Hits::Charge(_), Some(_)))
}

async fn each<C: Connection>(limiter: &Limiter<C>, checks: &[(usize, &Check)]) -> Vec<Numbered> {
    let requests: Vec<Request<'_>> = checks.iter().map(|(_, check)| check.request()).collect();
    let decisions = limiter.check_each(&requests).await;
    checks.iter().map(|(i, _)| *i).zip(decisions).collect()
}

async fn one<C: Connection>(
    limiter: &Limiter<C>,
    snapshot: &Snapshot<C>,
    (on_unavailable, timeout): (OnUnavailable, Duration),
    (i, check): (usize, &Check),
) -> Numbered {
    let request = check.request();
    let outcome = match (check.hits, snapshot.grants.of(&check.limit)) {
        (Hits::GiveBack(hits), _) => limiter.refund(&request).await.map(|decision| without_request(decision, hits)),
        (Hits::Charge(hits), Some(granted)) if granted.policy == check.policy => {
            let grants = granted.grants.with_fallback(fallback(on_unavailable)).with_timeout(timeout);
            grants.check_cost(&check.key, hits).await
        }
        _ => limiter.check_request(&request).await,
    };
    (i, outcome)
}

/// What is left after units were given back. The reply is that of RL.PEEK for the same cost, so `remaining` is without
/// that cost if it is available.
const fn without_request(mut decision: Decision, hits: u64) -> Decision {
    if decision.allowed && !decision.shadow {
        decision.remaining = decision.remaining.saturating_add(hits);
    }
    decision
}

/// Charges all limits or none. Descriptors with one key are charged once, with the sum. Those that look are asked
/// before, and if one is denied, nothing is charged.
async fn all_or_nothing<C: Connection>(
    limiter: &Limiter<C>,
    checks: &[(usize, &Check)],
    timeout: Duration,
) -> Vec<Numbered> {
    let started = Instant::now();
    let (looks, charges): (Vec<_>, Vec<_>) = checks.iter().copied().partition(|(_, check)| check.hits == Hits::Look);
    let mut outcomes = each(limiter, &looks).await;
    let goes_on = outcomes.iter().all(|(_, outcome)| outcome.as_ref().is_ok_and(|decision| decision.allowed));
    if charges.is_empty() {
        return outcomes;
    }
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut merged: Vec<Request<'_>> = Vec::with_capacity(charges.len());
    let mut at = Vec::with_capacity(charges.len());
    let mut costs: Vec<u64> = Vec::with_capacity(charges.len());
    for (_, check) in &charges {
        let Hits::Charge(hits) = check.hits else { continue };
        let place = *places.entry(&check.key).or_insert(merged.len());
        at.push(place);
        match (merged.get_mut(place), costs.get_mut(place)) {
            (Some(request), Some(cost)) => {
                *cost = cost.saturating_add(hits);
                // Two limits of one key: that of a rule, and one that a descriptor brought along.
                let policy =
                    if check.policy.limit() < request.policy().limit() { &check.policy } else { request.policy() };
                *request = policy.request(&check.key).cost(*cost);
            }
            _ => {
                costs.push(hits);
                merged.push(check.request());
            }
        }
    }
    let limiter = &if looks.is_empty() {
        limiter.clone()
    } else {
        limiter.with_timeout(timeout.saturating_sub(started.elapsed()))
    };
    if !goes_on {
        // The request is denied, or cannot be decided: the other limits only show what they would say.
        let shown = join_all(merged.iter().map(|request| limiter.peek(request))).await;
        outcomes.extend(spread(&charges, &at, shown.into_iter().map(Some).collect()));
        return outcomes;
    }
    let result = match limiter.check_all(&merged).await {
        Ok(decisions) => assign(&merged, decisions.limits),
        Err(error) => merged.iter().map(|_| Some(Err(error.clone()))).collect(),
    };
    outcomes.extend(spread(&charges, &at, result));
    outcomes
}

/// The decision of each request. A remembered denial, or a decision without the server, names only some limits: the
/// others get none.
fn assign(requests: &[Request<'_>], decisions: Vec<Decision>) -> Vec<Option<Result<Decision, Error>>> {
    let mut decisions = decisions.into_iter().peekable();
    let next = |request: &Request<'_>| decisions.next_if(|decision| decision.policy() == request.policy()).map(Ok);
    requests.iter().map(next).collect()
}

/// The outcome of each merged request, for every descriptor that is part of it.
fn spread(charges: &[(usize, &Check)], at: &[usize], merged: Vec<Option<Result<Decision, Error>>>) -> Vec<Numbered> {
    let outcome = |place: &usize| merged.get(*place).cloned().flatten();
    charges.iter().zip(at).filter_map(|((i, _), place)| Some((*i, outcome(place)?))).collect()
}

const fn fallback(on_unavailable: OnUnavailable) -> Fallback {
    match on_unavailable {
        OnUnavailable::Allow => Fallback::Allow,
        OnUnavailable::Deny => Fallback::Deny,
        OnUnavailable::Error => Fallback::Error,
        OnUnavailable::Local { instances } => Fallback::Local { instances },
    }
}
