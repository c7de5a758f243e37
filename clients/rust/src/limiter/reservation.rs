//! Reservations that settle themselves.

use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::time::sleep;

use super::{Limiter, Outcome, apart, new_id};
use crate::decision::{Decision, Decisions, Source};
use crate::error::Error;
use crate::policy::{Owned, Request};

/// The pause before a settlement is sent again that had no reply, and the longest.
const PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// The outcome of a request for a reservation.
pub type Reserved = Outcome<Reservation, Decision>;

/// The outcome of a request for reservations of several limits: a guard for each, in their order.
pub type ReservedAll = Outcome<Vec<Reservation>, Decisions>;

/// An estimate that is charged. It is settled once: by [`settle`](Self::settle), or by a task when this guard is dropped, also
/// because the future that holds it is cancelled.
///
/// A guard that is dropped settles with the usage reported so far. If nothing was reported, the whole estimate stays charged,
/// since the upstream may have worked all the same; unless the caller said that it was not [called](Self::called). So hanging
/// up makes nothing free. A settlement without a reply is sent again until the reservation can no longer be settled. If the
/// process ends first, the estimate comes back when the reservation ends. What a [`Fallback`](crate::Fallback) allows is not
/// settled if the server cannot have charged it.
#[derive(Debug)]
pub struct Reservation {
    id: String,
    decision: Decision,
    /// What the caller reported, and whether the upstream was called.
    reported: Option<u64>,
    called: bool,
    /// `None` if there is nothing to settle.
    charge: Option<Charge>,
}

impl Reservation {
    /// The id: a random UUID.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The decision that charged the estimate.
    pub const fn decision(&self) -> &Decision {
        &self.decision
    }

    /// Says whether the upstream was called, or is called next; true if not said. A guard that is not called, and to which
    /// nothing was reported, charges nothing when it is dropped.
    pub const fn called(&mut self, called: bool) {
        self.called = called;
    }

    /// Says that so many units were used so far in all, such as tokens that were streamed.
    pub const fn report(&mut self, used: u64) {
        self.reported = Some(used);
    }

    /// Settles with what the request has cost, and waits for the reply. If the server cannot have charged it, returns the
    /// decision of the fallback at once, with `charged` 0.
    ///
    /// # Errors
    /// The server did not reply until the reservation could no longer be settled, or rejects the call.
    pub async fn settle(mut self, actual: u64) -> Result<Decision, Error> {
        match self.charge.take() {
            // It goes on if the caller is gone.
            Some(charge) => apart(&charge.runtime.clone(), charge.end(actual)).await?,
            None => Ok(Decision { charged: 0, ..self.decision }),
        }
    }

    /// Settles with 0.
    pub async fn cancel(self) -> Result<Decision, Error> {
        self.settle(0).await
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let Some(charge) = self.charge.take() else { return };
        let used = self.reported.unwrap_or(if self.called { self.decision.charged } else { 0 });
        drop(charge.runtime.clone().spawn(charge.end(used)));
    }
}

/// What is reserved, or may be, with the request for it.
#[derive(Debug)]
struct Charge {
    limiter: Limiter,
    /// The runtime in which this was made: a guard may be dropped outside of it.
    runtime: Handle,
    request: Owned,
    id: String,
    ttl: Duration,
    /// What the server has charged, and its time then: without the module there is no other reservation.
    charged: Option<(u64, u64)>,
}

impl Charge {
    fn request(&self) -> Request<'_> {
        // Without the module the guard settles by amount and time, which `at` says; the module does not look at it.
        self.request.request().at(0).reserve(&self.id, self.ttl)
    }

    /// Settles, again and again while the server does not reply and the reservation can be settled.
    async fn send(&self, actual: u64) -> Result<Decision, Error> {
        // A reservation that has ended can be settled for one further TTL. `None` if that is later than any time that can be
        // represented.
        let until = Instant::now().checked_add(self.ttl.saturating_mul(2));
        let mut pause = PAUSE;
        loop {
            let request = self.request.request();
            let request = self.charged.map_or(request, |(cost, at)| request.cost(cost).at(at));
            let result = self.limiter.settle_request(&request, &self.id, actual).await;
            let is_in_time = until.is_none_or(|until| Instant::now() + pause < until);
            if !is_in_time || !result.as_ref().is_err_and(Error::is_unavailable) {
                return result;
            }
            sleep(pause).await;
            pause = (2 * pause).min(LONGEST_PAUSE);
        }
    }

    /// Settles what a guard had.
    async fn end(self, actual: u64) -> Result<Decision, Error> {
        self.send(actual).await.inspect_err(|error| self.limiter.core.unsettled(error))
    }

    /// Cancels what the server may have charged although it did not reply. Nobody else has the id.
    fn cancel(self) {
        drop(self.runtime.clone().spawn(async move { self.send(0).await }));
    }

    /// The guard. Until the caller has it, nobody can have called the upstream.
    fn guard(mut self, decision: Decision, is_settled: bool) -> Reservation {
        self.charged = Some((decision.charged, decision.now_ms)).filter(|_| decision.source == Source::Server);
        let id = self.id.clone();
        Reservation { id, decision, reported: None, called: false, charge: is_settled.then_some(self) }
    }
}

impl Limiter {
    /// Charges the cost of a request as an estimate under a new id. It ends by itself after `ttl`, which must be longer than
    /// the work takes. If the caller is gone before the reply is there, it is cancelled.
    pub async fn reserve(&self, request: &Request<'_>, ttl: Duration) -> Result<Reserved, Error> {
        let reserved = match self.reserve_all(std::slice::from_ref(request), ttl).await? {
            ReservedAll::Held(mut all) => all.pop().map(Reserved::Held),
            ReservedAll::Denied(mut decisions) => decisions.limits.pop().map(Reserved::Denied),
        };
        reserved.ok_or(Error::UnknownReply)
    }

    /// Charges the costs of all requests as estimates, or none, under one new id. Each guard settles its own limit. A limit
    /// of requests has a cost of 1, which stays charged when its guard is dropped. In a cluster all keys must be in one
    /// slot. LEASE takes no reservation: take a [`lease`](Self::lease) first.
    pub async fn reserve_all(&self, requests: &[Request<'_>], ttl: Duration) -> Result<ReservedAll, Error> {
        let id = new_id();
        let charge = |request| Charge {
            limiter: self.clone(),
            runtime: Handle::current(),
            request: Owned::of(request),
            id: id.clone(),
            ttl,
            charged: None,
        };
        let all: Vec<_> = requests.iter().map(charge).collect();
        let mut reserved = apart(&Handle::current(), hold(self.clone(), all)).await?;
        if let Ok(ReservedAll::Held(reservations)) = &mut reserved {
            reservations.iter_mut().for_each(|reservation| reservation.called(true));
        }
        reserved
    }
}

/// Reserves although the caller may be gone by then: the guards are dropped, which cancels.
async fn hold(limiter: Limiter, charges: Vec<Charge>) -> Result<ReservedAll, Error> {
    let requests: Vec<_> = charges.iter().map(Charge::request).collect();
    let result = limiter.check_together(&requests).await;
    let may_be_charged = result.as_ref().is_err_and(Error::may_be_charged);
    let is_settled = may_be_charged || result.is_ok();
    let result = result.or_else(|error| limiter.core.fall_back_all(&requests, limiter.fallback, error));
    match result {
        Ok(decisions) if decisions.allowed => {
            let guards = charges.into_iter().zip(decisions.limits);
            let guards = guards.map(|(charge, decision)| charge.guard(decision, is_settled));
            Ok(ReservedAll::Held(guards.collect()))
        }
        result => {
            if may_be_charged {
                charges.into_iter().for_each(Charge::cancel);
            }
            result.map(ReservedAll::Denied)
        }
    }
}
