//! A decision under one limit: what it replies and what it writes, in shadow mode and at `maxmemory` too.

use redis::Value;
use redis_rl_algorithm::in_memory::Charging;
use redis_rl_algorithm::{Change, Cost, Decision, Figures, Micros, Verdict};

use super::request::Request;
use super::state::{Hash, Kept, State};
use crate::support::{FIGURES, bytes, ints};

/// What a call writes under one limit: the state, and the hash of the reservations if it may have changed.
pub type Writes = (String, Option<State>, Option<(String, Hash)>);

/// A decision under one limit.
pub struct Pending {
    /// Whether it creates a key or makes one larger.
    pub needs_memory: bool,
    pub in_shadow_mode: bool,
    /// The same at `maxmemory`: nothing is charged, and the request is denied or allowed.
    pub uncharged: Option<Box<[Pending; 2]>>,
    pub verdict: Verdict,
    /// The first integer of the reply.
    pub first: i64,
    pub figures: Figures,
    pub shadowed: bool,
    pub charged: u64,
    /// What is written if every limit of the call allows it, and what otherwise.
    pub writes: [Writes; 2],
}

/// What RL.MULTI does at `maxmemory` with limits that all allow. Whether they still do.
pub fn leave_all_uncharged(pending: &mut [Pending], on_oom: &str) -> bool {
    let decides = pending.iter().any(|limit| limit.needs_memory && !limit.in_shadow_mode);
    let uncounted = !decides || on_oom == "allow";
    for limit in pending.iter_mut().filter(|limit| limit.needs_memory || decides) {
        limit.leave_uncharged(uncounted || !limit.needs_memory || limit.in_shadow_mode);
    }
    uncounted
}

impl Pending {
    pub fn leave_uncharged(&mut self, allowed: bool) {
        let both = self.uncharged.take().expect("a decision at maxmemory");
        let [denied, uncounted] = *both;
        *self = if allowed { uncounted } else { denied };
    }

    /// The reply in a form. That of HEADERS is without the headers.
    pub fn reply(&self, form: &str, charged: u64, now: Micros) -> Value {
        let Self { verdict, figures, first, .. } = self;
        let all = [
            *first,
            verdict.count,
            verdict.ttl,
            figures.limit.cast_signed(),
            figures.remaining.cast_signed(),
            figures.retry_after_ms,
            figures.next_ms,
            figures.reset_ms,
            figures.delay_ms,
            now.millis().cast_signed(),
            self.shadowed.into(),
            charged.cast_signed(),
        ];
        match form {
            "FULL" => {
                Value::Array(FIGURES.iter().zip(all).flat_map(|(name, n)| [bytes(name), Value::Int(n)]).collect())
            }
            "LINE" => bytes(all.map(|figure| figure.to_string()).join(" ")),
            _ => ints(&all[..3]),
        }
    }
}

/// Allows what the limit denies. The change stays that of a denial.
pub fn allow<A: Kept>(algorithm: &A, key: &A::Key, decision: &mut Decision<A::Change>, now: Micros) {
    decision.verdict.allowed = true;
    if !A::TRAITS.ttl_of_script {
        decision.verdict.ttl = seconds(algorithm.figures(key, decision, now).reset_ms);
    }
}

pub fn seconds(millis: i64) -> i64 {
    if millis < 0 { -1 } else { (millis + 999) / 1_000 }
}

/// What the request commits if it is allowed.
pub fn change_of<A: Kept>(
    algorithm: &A,
    request: &Request,
    key: &A::Key,
    change: Change<A::Change>,
    now: Micros,
) -> Change<A::Change> {
    if request.shadow { algorithm.in_shadow(algorithm.state(key, now), now, change) } else { change }
}

/// What stays of a change if another limit denies.
pub fn uncharged<S>(change: Change<S>) -> Change<S> {
    if matches!(change, Change::Charge(_)) { Change::Keep } else { change }
}

/// A decision in shadow mode, where the request asks for that, and what is written.
pub fn conclude<A: Kept>(
    algorithm: &A,
    request: &Request,
    key: &A::Key,
    mut decision: Decision<A::Change>,
    cost: Cost,
    now: Micros,
    commit: impl Fn(&Change<A::Change>) -> Option<Writes>,
) -> Pending {
    let denied = !decision.verdict.allowed;
    let shadowed = request.shadow && (denied || request.partial && cost < request.cost);
    if request.shadow && denied {
        allow(algorithm, key, &mut decision, now);
    }
    decision.change = change_of(algorithm, request, key, decision.change, now);
    let pending = |decision: &Decision<A::Change>| {
        let Verdict { allowed, .. } = decision.verdict;
        let charged = match decision.change {
            Change::Charge(_) if request.always || request.lends || allowed && (request.partial || !shadowed) => {
                cost.units()
            }
            _ => 0,
        };
        let part = if shadowed { request.cost } else { cost };
        let first = if allowed && request.partial { part.units().cast_signed() } else { allowed.into() };
        let nothing = || (String::new(), None, None);
        let changes = [decision.change, uncharged(decision.change)];
        Pending {
            needs_memory: A::needs_memory(key, &decision.change),
            in_shadow_mode: request.shadow,
            uncharged: None,
            verdict: decision.verdict,
            first,
            figures: algorithm.figures(key, decision, now),
            shadowed,
            charged,
            writes: changes.map(|change| commit(&change).unwrap_or_else(nothing)),
        }
    };
    let charging = if request.always || request.lends { Charging::Always } else { Charging::IfAllowed };
    let look = algorithm.decision(key, now, Cost::ZERO, charging).ok();
    let without_memory = |may: bool| {
        let (look, mut decision) = (look.as_ref()?, decision);
        let verdict = &mut decision.verdict;
        verdict.count = look.verdict.count;
        if A::TRAITS.ttl_of_script || verdict.allowed && may {
            verdict.ttl = look.verdict.ttl;
        } else if verdict.allowed {
            verdict.ttl = 1;
        }
        let denied = !shadowed && verdict.allowed && !may;
        verdict.allowed &= !denied;
        decision.change = Change::Keep;
        let mut pending = pending(&decision);
        if denied {
            pending.figures.retry_after_ms = pending.figures.retry_after_ms.max(1_000);
        }
        Some(pending)
    };
    let uncharged =
        without_memory(false).zip(without_memory(true)).map(|(denied, allowed)| Box::new([denied, allowed]));
    Pending { uncharged, ..pending(&decision) }
}
