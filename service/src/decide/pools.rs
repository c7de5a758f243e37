//! Decides on the limits of a request. If a limit denies, its pools are asked, one after the other.

use std::time::Instant;

use redis_rl_client::{Decision, Error, Fallback, Limiter, Source};
use rlaas_rules::MAX_POOLS;

use super::outcomes::{Decider, How, Numbered, Outcomes, checks};
use super::plan::{Check, Plan};
use super::state::Snapshot;

/// How often is asked: a limit, and its pools.
const ROUNDS: usize = 1 + MAX_POOLS;

/// Which limit of a slot is asked, and of which one the outcome is kept: 0 is that of the rule, then its pools.
#[derive(Clone, Copy, Default)]
struct Place {
    asked: usize,
    kept: usize,
}

/// Decides on the limits of a request. Where a pool has decided, it takes the place of the limit in the plan.
pub async fn decide(plan: &mut Plan, limiter: &Limiter, snapshot: &Snapshot, how: How) -> Outcomes {
    let decider = Decider::new(limiter, snapshot, how);
    let mut outcomes: Outcomes = plan.slots.iter().map(|_| None).collect();
    if plan.pools.is_empty() {
        for (i, outcome) in decider.round(checks(plan), plan.all_or_nothing).await {
            if let Some(place) = outcomes.get_mut(i) {
                *place = Some(outcome);
            }
        }
        return outcomes;
    }
    // In a box, so that other requests take less.
    for (slot, pool) in Box::pin(with_pools(plan, &decider, &mut outcomes)).await {
        plan.put_pool(slot, pool);
    }
    outcomes
}

/// Asks about all limits, and about the pools of those that deny, within one time. The first of them that allows is
/// charged. With `all_or_nothing` all limits are asked again, together, until none denies. If all deny, the outcome is
/// that of the one that allows first. Returns the slots that have the outcome of a pool, and the number of the pool.
async fn with_pools(plan: &Plan, decider: &Decider<'_>, outcomes: &mut Outcomes) -> Vec<(usize, usize)> {
    let started = Instant::now();
    let mut places = vec![Place::default(); plan.slots.len()];
    let mut asked: Vec<Numbered<'_>> = checks(plan).collect();
    for _ in 0..ROUNDS {
        let rest = decider.how.timeout.saturating_sub(started.elapsed());
        let (mut moved, mut ends) = (Vec::new(), false);
        for (slot, outcome) in decider.within(rest).round(asked.into_iter(), plan.all_or_nothing).await {
            let (Some(place), Some(known)) = (places.get_mut(slot), outcomes.get_mut(slot)) else { continue };
            let next = plan.pools(slot).get(place.asked).filter(|_| passes_on(&outcome, decider.how.fallback));
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
        asked = if plan.all_or_nothing { checks(plan).map(|own| now(plan, own, &places)).collect() } else { moved };
    }
    let moved = places.iter().enumerate().filter_map(|(slot, place)| Some((slot, place.kept.checked_sub(1)?)));
    moved.collect()
}

/// The check of a slot that is asked now.
fn now<'p>(plan: &'p Plan, (slot, own): Numbered<'p>, places: &[Place]) -> (usize, &'p Check) {
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
