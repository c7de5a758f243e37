//! The option `RESERVE id ttl`: the charge of a request is a reservation. Requests without it do not come here.

use redis_rl_algorithm::integer::to_i64;
use redis_rl_algorithm::reservation::{Reservation, Standing};
use redis_rl_algorithm::{Change, Charging, Cost, Micros, Window};

use super::algorithms::Algorithm;
use super::decide::{Pending, allows_uncounted};
use super::form::Form;
use super::options::Reserve;
use super::reply::{self, Reply};
use super::request::Request;
use crate::config;
use crate::error::Error;
use crate::ffi::{ClosedKey, Ctx};
use crate::stats::{Outcome, STATS};
use crate::store::reserved::{self, Loaded, hash_key};
use crate::store::{Budget, Purpose};

/// The reservation of a request that is decided and not yet committed.
pub struct Reserving<'c> {
    hash: Loaded<'c>,
    ttl: Window,
    /// The open reservation, if the call has been made before.
    repeated: Option<Reservation>,
    /// Denied because the limit has too many reservations: the milliseconds until one ends.
    full_for: Option<u64>,
    /// Charges nothing, because there is no memory.
    uncharged: bool,
}

/// `RL.<ALGO> … RESERVE id ttl`.
#[cold]
pub fn check<'c, A: Algorithm>(
    ctx: Ctx<'c>,
    request: Request<'c, A>,
    reserve: Reserve<'c>,
    form: Form,
) -> Result<(), Error> {
    let (now, budget) = (Micros(ctx.now_micros()), Budget::of_call());
    let key = request.state_key(ctx, now, Purpose::Write(&budget))?;
    let hash = request.hash_key(ctx)?;
    let (mut pending, mut reserving) = request.decide_reserving(key, hash, reserve, now, &budget)?;
    if reserving.needs_memory(&pending) && ctx.out_of_memory(pending.request.key) {
        let allowed = allows_uncounted(ctx, pending.request.is_in_shadow_mode())?;
        reserving.leave_uncharged(&mut pending, allowed)?;
    }
    match form {
        Form::Verdict => {
            let (first, verdict) = (reserving.first_integer(&pending), pending.decision.verdict);
            reserving.commit(pending, true);
            reply::write_verdict(ctx, first, verdict);
        }
        Form::Full | Form::Line | Form::Headers => {
            let reply = reserving.reply(&pending, true);
            reserving.commit(pending, true);
            reply.write(ctx, form);
        }
    }
    Ok(())
}

impl<'c, A: Algorithm> Request<'c, A> {
    /// The key of the reservations.
    pub fn hash_key(&self, ctx: Ctx<'c>) -> Result<ClosedKey<'c>, Error> {
        hash_key(&self.algorithm, ctx, self.key)
    }

    /// Loads the state and the reservations, gives back what has ended, and decides on the request. Nothing is written.
    pub fn decide_reserving(
        &'c self,
        key: ClosedKey<'c>,
        hash: ClosedKey<'c>,
        reserve: Reserve<'c>,
        now: Micros,
        budget: &Budget,
    ) -> Result<(Pending<'c, A>, Reserving<'c>), Error> {
        let ctx = key.ctx;
        let mut hash = reserved::load(hash, self.key, reserve.id, now, budget)?;
        let mut loaded = self.algorithm.load(key, None, now, Purpose::Write(budget))?;
        self.algorithm.give_back(&mut loaded, now, hash.book.ended_mut());
        let repeated = match hash.book.standing() {
            Standing::Open(open) => Some(open),
            Standing::Mark(_) | Standing::Unknown => None,
        };
        let full_for = hash.full_for(config::max_reservations());
        let cost = match repeated {
            Some(_) => Cost::ZERO,
            None if self.partial => self.part_that_fits(&loaded, now),
            None => self.cost,
        };
        let mut decision = self.algorithm.decide(&mut loaded, now, cost, Charging::Reserving)?;
        if repeated.is_some() && !decision.verdict.allowed {
            self.allow(&loaded, &mut decision, now);
        }
        if let Some(millis) = full_for
            && decision.verdict.allowed
        {
            decision = self.algorithm.decide(&mut loaded, now, Cost::ZERO, Charging::Reserving)?;
            decision.verdict.allowed = false;
            decision.needed = cost.needed();
            if !A::TRAITS.ttl_of_script {
                decision.verdict.ttl = to_i64(millis.div_ceil(1_000));
            }
        }
        let mut pending = self.pend(loaded, decision, cost, now, ctx);
        // It denies nothing, though a part of the cost is charged.
        pending.shadowed &= repeated.is_none();
        Ok((pending, Reserving { hash, ttl: reserve.ttl, repeated, full_for, uncharged: false }))
    }
}

impl<'c> Reserving<'c> {
    /// Whether the request makes a reservation, if every limit of the call allows it.
    fn opens<A: Algorithm>(&self, pending: &Pending<'_, A>) -> bool {
        let fits = if pending.request.partial { pending.cost != Cost::ZERO } else { !pending.shadowed };
        let allowed = pending.decision.verdict.allowed && self.full_for.is_none();
        self.repeated.is_none() && allowed && fits && !self.uncharged
    }

    /// Whether the change creates a key, or makes one larger.
    pub fn needs_memory<A: Algorithm>(&self, pending: &Pending<'_, A>) -> bool {
        pending.needs_memory() || self.opens(pending)
    }

    /// See [`Pending::leave_uncharged`].
    pub fn leave_uncharged<A: Algorithm>(&mut self, pending: &mut Pending<'_, A>, allowed: bool) -> Result<(), Error> {
        self.uncharged = true;
        pending.leave_uncharged(allowed)
    }

    /// See [`Pending::first_integer`].
    pub fn first_integer<A: Algorithm>(&self, pending: &Pending<'_, A>) -> i64 {
        match self.repeated {
            Some(open) if pending.request.partial => to_i64(open.units()),
            _ => pending.first_integer(),
        }
    }

    /// Everything that a reply says. `allowed` says whether the call is allowed; otherwise nothing is charged.
    pub fn reply<'p, A: Algorithm>(&self, pending: &Pending<'p, A>, allowed: bool) -> Reply<'p> {
        let charged = match self.repeated {
            _ if !allowed => 0,
            Some(open) => open.units(),
            None => pending.charged(),
        };
        let mut reply = pending.reply(charged);
        reply.first = self.first_integer(pending);
        if let Some(millis) = self.full_for
            && !reply.verdict.allowed
            && reply.figures.retry_after_ms >= 0
        {
            reply.figures.retry_after_ms = reply.figures.retry_after_ms.max(to_i64(millis));
        }
        reply
    }

    /// Counts the decision, and commits the change and the reservation. If the call is not `allowed`, since another
    /// limit denies, it commits neither the charge nor the reservation, but what has ended is given back.
    pub fn commit<A: Algorithm>(mut self, mut pending: Pending<'c, A>, allowed: bool) -> Outcome {
        let Request { algorithm, .. } = &pending.request;
        if !allowed {
            pending.drop_charge();
        } else if let Some(open) = self.repeated {
            self.hash.book.prolong(open, self.ttl);
            STATS.reservations_repeated.increment();
        } else if self.opens(&pending) {
            let until = algorithm.counts_until(&pending.loaded, &pending.decision.change, pending.now);
            self.hash.book.open(pending.cost, self.ttl, until);
            STATS.reservations_made.increment();
        }
        let outcome = pending.count();
        let Pending { request, loaded, decision, now, .. } = pending;
        commit(&request.algorithm, self.hash, loaded, decision.change, now);
        outcome
    }
}

/// Commits a change of the state, what has ended, and the reservations.
pub fn commit<'c, A: Algorithm>(
    algorithm: &A,
    hash: Loaded<'c>,
    loaded: A::Loaded<'c>,
    change: Change<A::Change>,
    now: Micros,
) {
    if hash.book.gave_back() {
        algorithm.commit_given_back(loaded, change, now);
    } else {
        algorithm.commit(loaded, change, now);
    }
    commit_hash(hash);
}

/// Commits the reservations alone.
pub fn commit_hash(hash: Loaded<'_>) {
    STATS.reservations_ended.add(hash.book.ended());
    hash.commit();
}
