//! Asks the server about the limits of a request, all in one round trip. Where a limit denies, its pools are asked, one
//! after the other.

use std::time::{Duration, Instant};

use futures_util::future::{join, join_all};
use redis_rl_client::{Decision, Error, Fallback, Limiter, Request, Source};
use rlaas_rules::{Charge, MAX_POOLS};

use super::outcomes::{Decided, Outcomes};
use super::plan::{Check, Hits, Numbered, Plan};
use super::state::Snapshot;
use super::together::Merged;

/// How many rounds a request takes at most: one for its limits, and one for each pool after another.
const ROUNDS: usize = 1 + MAX_POOLS;

/// How limits are decided.
#[derive(Clone, Copy, Debug)]
pub struct How {
    /// Whether this process is too busy to ask the server: then remembered denials deny, grants have what they hold, and
    /// the rest is up to the fallback.
    pub overloaded: bool,
    pub fallback: Fallback,
    pub timeout: Duration,
}

/// Decides on the limits of a request that have no decision yet. Where a pool has decided, it takes the place of the limit
/// in the plan.
pub async fn ask(plan: &mut Plan, outcomes: &mut Outcomes, limiter: &Limiter, snapshot: &Snapshot, how: How) {
    outcomes.resize_with(plan.slots.len(), || None);
    let is_undecided = |(slot, check): &Numbered<'_>| match outcomes.get(*slot) {
        // Units are given back once.
        Some(Some(Err(_))) => !matches!(check.hits, Hits::GiveBack(_)),
        outcome => outcome.is_none_or(Option::is_none),
    };
    let asked: Vec<Numbered<'_>> = plan.checks().filter(is_undecided).collect();
    if asked.is_empty() {
        return;
    }
    if plan.pools.is_empty() {
        let asker = Asker::new(limiter, snapshot, how);
        for (slot, outcome) in asker.round(asked, plan.all_or_nothing).await {
            if let Some(place) = outcomes.get_mut(slot) {
                *place = Some(outcome);
            }
        }
        return;
    }
    // In a box, so that other requests take less.
    for (slot, pool) in Box::pin(with_pools_and_shares(plan, asked, limiter, snapshot, how, outcomes)).await {
        plan.put_pool(slot, pool);
    }
}

/// Asks about limits that share their pools, by one command each, and meanwhile about the others, as [`with_pools`].
async fn with_pools_and_shares<'p>(
    plan: &'p Plan,
    asked: Vec<Numbered<'p>>,
    limiter: &Limiter,
    snapshot: &Snapshot,
    how: How,
    outcomes: &mut Outcomes,
) -> Vec<(usize, usize)> {
    let is_shared = |(slot, check): &Numbered<'_>| check.limit.shares && !plan.pools(*slot).is_empty();
    let (shared, others): (Vec<_>, Vec<_>) = asked.into_iter().partition(is_shared);
    let asker = Asker::new(limiter, snapshot, how);
    let shares = join_all(shared.iter().map(|&(slot, check)| asker.share(check, plan.pools(slot))));
    let (mut moved, shares) = join(with_pools(plan, others, limiter, snapshot, how, outcomes), shares).await;
    for ((slot, _), (place, outcome)) in shared.into_iter().zip(shares) {
        moved.extend(place.checked_sub(1).map(|pool| (slot, pool)));
        if let Some(known) = outcomes.get_mut(slot) {
            *known = Some(outcome);
        }
    }
    moved
}

/// Which limit of a slot is asked, and of which one the outcome is kept: 0 is that of the rule, then its pools.
#[derive(Clone, Copy, Default)]
struct Place {
    asked: usize,
    kept: usize,
}

/// Asks about all limits, and about the pools of those that deny, within one time. The first of them that allows is
/// charged. With `all_or_nothing` all limits are asked again, together, until none denies. If all deny, the outcome is
/// that of the one that allows first. Returns the slots that have the outcome of a pool, and the number of the pool.
async fn with_pools<'p>(
    plan: &'p Plan,
    mut asked: Vec<Numbered<'p>>,
    limiter: &Limiter,
    snapshot: &Snapshot,
    how: How,
    outcomes: &mut Outcomes,
) -> Vec<(usize, usize)> {
    let started = Instant::now();
    let mut places = vec![Place::default(); plan.slots.len()];
    for _ in 0..ROUNDS {
        let timeout = how.timeout.saturating_sub(started.elapsed());
        let asker = Asker::new(limiter, snapshot, How { timeout, ..how });
        let (mut moved, mut ends) = (Vec::new(), false);
        for (slot, outcome) in asker.round(asked, plan.all_or_nothing).await {
            let (Some(place), Some(known)) = (places.get_mut(slot), outcomes.get_mut(slot)) else { continue };
            let next = plan.pools(slot).get(place.asked).filter(|_| passes_on(&outcome, how.fallback));
            ends |= next.is_none() && !outcome.as_ref().is_ok_and(|decision| decision.allowed);
            if place.kept == place.asked || !is_sooner(known.as_ref(), &outcome) {
                (*known, place.kept) = (Some(outcome), place.asked);
            }
            if let Some(pool) = next {
                place.asked += 1;
                moved.push((slot, pool));
            }
        }
        // One that denies for good denies the whole request.
        if moved.is_empty() || plan.all_or_nothing && ends {
            break;
        }
        asked = if plan.all_or_nothing { plan.checks().map(|own| now(plan, own, &places)).collect() } else { moved };
    }
    let moved = places.iter().enumerate().filter_map(|(slot, place)| Some((slot, place.kept.checked_sub(1)?)));
    moved.collect()
}

/// The check of a slot that is asked now.
fn now<'p>(plan: &'p Plan, (slot, own): Numbered<'p>, places: &[Place]) -> Numbered<'p> {
    let pool = places.get(slot).and_then(|place| place.asked.checked_sub(1));
    (slot, pool.and_then(|pool| plan.pools(slot).get(pool)).unwrap_or(own))
}

/// Whether a pool is asked after this outcome. `deny` decides about the whole request, `local` about each limit.
fn passes_on(outcome: &Result<Decision, Error>, fallback: Fallback) -> bool {
    let decides =
        |decision: &Decision| decision.source != Source::Fallback || matches!(fallback, Fallback::Local { .. });
    outcome.as_ref().is_ok_and(|decision| !decision.allowed && decides(decision))
}

/// Whether an earlier denial ends no later than that of a pool.
fn is_sooner(known: Option<&Result<Decision, Error>>, pool: &Result<Decision, Error>) -> bool {
    match (known, pool) {
        (Some(Ok(known)), Ok(pool)) => !known.allowed && !pool.allowed && known.allowed_at_ms() <= pool.allowed_at_ms(),
        _ => false,
    }
}

/// Asks once.
struct Asker<'s> {
    limiter: Limiter,
    snapshot: &'s Snapshot,
    how: How,
}

fn numbers(checks: &[Numbered<'_>]) -> impl Iterator<Item = usize> {
    checks.iter().map(|(number, _)| *number)
}

impl<'s> Asker<'s> {
    fn new(limiter: &Limiter, snapshot: &'s Snapshot, how: How) -> Self {
        let limiter = limiter.with_fallback(how.fallback).with_timeout(how.timeout);
        Self { limiter: if how.overloaded { limiter.without_server() } else { limiter }, snapshot, how }
    }

    /// Asks about checks in one round trip, of which all are charged or none, or each by itself. Units that are given back
    /// are sent in any case: they lift no limit, and kept they would deny others.
    async fn round(&self, asked: Vec<Numbered<'_>>, whole: bool) -> Vec<Decided> {
        let (together, alone): (Vec<_>, Vec<_>) = asked.into_iter().partition(|(_, check)| check.is_sent_together());
        let decided = async {
            if whole {
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
            (true, _) => merged.assign(limiter.check_all(&merged.requests).await),
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

    /// Asks about each check by itself.
    async fn each(&self, checks: &[Numbered<'_>]) -> Vec<Result<Decision, Error>> {
        let requests: Vec<Request<'_>> = checks.iter().map(|(_, check)| check.request()).collect();
        if !checks.iter().any(|(_, check)| check.is_tried()) {
            return self.limiter.check_each(&requests).await;
        }
        let each = checks.iter().zip(&requests).map(async |((_, check), request)| match check.is_tried() {
            true => self.limiter.try_request(request).await,
            false => self.limiter.check_request(request).await,
        });
        join_all(each).await
    }

    /// Asks about a limit and the pools that it shares, by one command. The place of the limit that paid, 0 for its own,
    /// and its decision; of a denial that of the one that allows first.
    async fn share(&self, own: &Check, pools: &[Check]) -> (usize, Result<Decision, Error>) {
        let requests: Vec<_> = [own].into_iter().chain(pools).map(Check::request_of_share).collect();
        if own.charge == Charge::Always {
            // Report charges all of them, whatever they say.
            let always: Vec<_> = requests.into_iter().map(Request::always).collect();
            let each = self.limiter.check_each(&always).await;
            return (0, each.into_iter().next().unwrap_or(Err(Error::UnknownReply)));
        }
        match self
            .limiter
            .share(&requests)
            .await
            .map(|shared| shared.decision().map(|(place, decision)| (place, *decision)))
        {
            Ok(Some((place, decision))) => (place, Ok(decision)),
            Ok(None) => (0, Err(Error::UnknownReply)),
            Err(error) => (0, Err(error)),
        }
    }

    /// Gives units back, or takes them of a grant.
    async fn one(&self, (slot, check): Numbered<'_>) -> Decided {
        let outcome = match (check.hits, self.snapshot.grants.get(&check.limit.names)) {
            (Hits::GiveBack(hits), _) => {
                self.limiter.refund(&check.request()).await.map(|decision| without_request(decision, hits))
            }
            (Hits::Charge(hits), Some(granted)) if granted.policy == check.policy => {
                let request = check.policy.request(&check.key).with_key_as_it_is().cost(hits);
                granted.grants.with_settings_of(&self.limiter).check_request(&request).await
            }
            _ => self.each(&[(slot, check)]).await.pop().unwrap_or(Err(Error::Overloaded)),
        };
        (slot, outcome)
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
