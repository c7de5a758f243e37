//! Reservations that settle themselves.

use std::thread::{self, sleep};
use std::time::Duration;
use std::{fmt, io};

use super::{Connector, Limiter};
use crate::decision::{Decision, Decisions};
use crate::error::Error;
use crate::lease_id::new_id;
use crate::policy::Policy;
use crate::request::Request;
use crate::settlement::{Retry, Usage};

/// What a request for a reservation gets.
#[derive(Debug)]
pub enum Reserved {
    /// The estimate is charged until the guard settles it.
    Held(Reservation),
    /// The limit denies.
    Denied(Decision),
}

impl Reserved {
    /// The guard, if the estimate is charged.
    pub fn held(self) -> Option<Reservation> {
        match self {
            Self::Held(reservation) => Some(reservation),
            Self::Denied(_) => None,
        }
    }
}

/// What a request for reservations of several limits gets.
#[derive(Debug)]
pub enum ReservedAll {
    /// All estimates are charged. There is a guard for each request, in their order, and each settles by itself.
    Held(Vec<Reservation>),
    /// A limit denies, and nothing is charged.
    Denied(Decisions),
}

impl ReservedAll {
    /// The guards, if the estimates are charged.
    pub fn held(self) -> Option<Vec<Reservation>> {
        match self {
            Self::Held(reservations) => Some(reservations),
            Self::Denied(_) => None,
        }
    }
}

/// An estimate that is charged. It is settled once: by [`settle`](Self::settle), or when this guard is dropped.
///
/// A guard that is dropped, also because its thread panics, settles with the usage reported so far. If nothing was
/// reported, the whole estimate stays charged, since the upstream may have worked all the same; unless the caller said
/// that it was not [called](Self::called).
///
/// Dropping does not wait: a thread settles. A settlement without a reply is sent again until the reservation can no
/// longer be settled. If the process ends first, the estimate comes back when the reservation ends. What a
/// [`Fallback`](crate::Fallback) allows is not settled if the server cannot have charged it.
pub struct Reservation {
    id: String,
    decision: Decision,
    usage: Usage,
    /// `None` if there is nothing to settle.
    settle: Option<Settle>,
}

type Settle = Box<dyn FnOnce(u64) -> Result<Decision, Error> + Send>;

impl fmt::Debug for Reservation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, decision, usage, .. } = self;
        f.debug_struct("Reservation")
            .field("id", id)
            .field("decision", decision)
            .field("usage", usage)
            .finish_non_exhaustive()
    }
}

impl Reservation {
    /// The id: a random UUID, unless it was given.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The decision that charged the estimate.
    pub const fn decision(&self) -> &Decision {
        &self.decision
    }

    /// Says whether the upstream was called, or is called next. A guard counts as called. A guard that is not, and to
    /// which nothing was reported, is cancelled when it is dropped: it charges nothing.
    pub const fn called(&mut self, called: bool) {
        self.usage.called = called;
    }

    /// Says that so many units were used in all so far: tokens that were streamed, for example.
    pub const fn report(&mut self, used: u64) {
        self.usage.reported = Some(used);
    }

    /// Settles with what the request has cost, and waits for the reply. If the server cannot have charged it, returns the
    /// decision of the fallback at once, with `charged` 0.
    ///
    /// # Errors
    /// See [`Error`]. The server did not reply until the reservation could no longer be settled, or rejects the call.
    pub fn settle(mut self, actual: u64) -> Result<Decision, Error> {
        self.settle.take().map_or(Ok(Decision { charged: 0, ..self.decision }), |settle| settle(actual))
    }

    /// Charges nothing: the upstream has done no work.
    ///
    /// # Errors
    /// As [`settle`](Self::settle).
    pub fn cancel(self) -> Result<Decision, Error> {
        self.settle(0)
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let Some(settle) = self.settle.take() {
            let actual = self.usage.units();
            in_background(settle, actual);
        }
    }
}

/// Settles in a thread. If none can be started, the settlement is dropped.
fn in_background(settle: Settle, actual: u64) {
    let _ = thread::Builder::new().spawn(move || settle(actual));
}

/// Counts a settlement that is dropped before it has ended.
struct Pending<T: Connector>(Option<Limiter<T>>);

impl<T: Connector> Pending<T> {
    fn ended(mut self, result: &Result<Decision, Error>) {
        if let (Some(limiter), Err(error)) = (self.0.take(), result) {
            limiter.shared.core.unsettled(error);
        }
    }
}

impl<T: Connector> Drop for Pending<T> {
    fn drop(&mut self) {
        if let Some(limiter) = self.0.take() {
            limiter.shared.core.unsettled(&Error::Redis(io::Error::other("no thread can be started").into()));
        }
    }
}

impl<T: Connector> Limiter<T> {
    /// Charges the cost of a request as an estimate under a new id. The guard settles it once. It ends by itself after
    /// `ttl`, which must be longer than the work takes.
    ///
    /// ```
    /// # mod doc { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/client/doc.rs")); } use doc::with_client;
    /// use std::time::Duration;
    /// use redis_rl_client::{Policy, sync::Limiter, sync::Reserved};
    ///
    /// # with_client(async |client| {
    /// let limiter = Limiter::new(client); // client: redis::Client
    /// let tokens: Policy = "COUNTER 1m 3000 AS tokens".parse()?;
    /// match limiter.reserve(&tokens.request("org:7").cost(800), Duration::from_secs(600))? {
    ///     Reserved::Held(reservation) => drop(reservation.settle(310)?),
    ///     Reserved::Denied(decision) => println!("too many tokens: {:?}", decision.retry_after),
    /// }
    /// # Ok(())
    /// # });
    /// ```
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn reserve(&self, request: &Request<'_>, ttl: Duration) -> Result<Reserved, Error> {
        let id = new_id();
        let reserving = request.reserve(&id, ttl);
        let result = self.check_on_server(&reserving);
        let may_be_charged = result.as_ref().is_err_and(Error::may_be_charged);
        let is_settled = may_be_charged || result.is_ok();
        let result = result.or_else(|error| self.shared.core.fall_back(&reserving, self.fallback, error));
        if may_be_charged && !result.as_ref().is_ok_and(|decision| decision.allowed) {
            self.cancel(request, &id, ttl);
        }
        let decision = result?;
        Ok(match decision.allowed {
            true => Reserved::Held(self.held(request, id, ttl, decision, is_settled)),
            false => Reserved::Denied(decision),
        })
    }

    /// Charges the costs of all requests as estimates, or none, under one new id. Each guard settles its own limit, so
    /// limits that count different things are settled with different numbers. A limit of requests has a cost of 1, which
    /// stays charged when its guard is dropped. In a cluster all keys must be in one slot. LEASE takes no reservation:
    /// take a [`lease`](Self::lease) first.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn reserve_all(&self, requests: &[Request<'_>], ttl: Duration) -> Result<ReservedAll, Error> {
        let id = new_id();
        let all: Vec<_> = requests.iter().map(|request| request.reserve(&id, ttl)).collect();
        let result = self.check_all_on_server(&all);
        let may_be_charged = result.as_ref().is_err_and(Error::may_be_charged);
        let is_settled = may_be_charged || result.is_ok();
        let result = result.or_else(|error| self.shared.core.fall_back_all(&all, self.fallback, error));
        if may_be_charged && !result.as_ref().is_ok_and(|decisions| decisions.allowed) {
            requests.iter().for_each(|request| self.cancel(request, &id, ttl));
        }
        let decisions = result?;
        if !decisions.allowed {
            return Ok(ReservedAll::Denied(decisions));
        }
        let kept = requests.iter().zip(decisions.limits);
        let held = kept.map(|(request, decision)| self.held(request, id.clone(), ttl, decision, is_settled));
        Ok(ReservedAll::Held(held.collect()))
    }

    /// Charges an estimate under this id, or finds it charged: the request may be sent again after an error. The party
    /// that is limited must not choose the id: a request that repeats an open id is free.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn reserve_as(&self, request: &Request<'_>, id: impl Into<String>, ttl: Duration) -> Result<Reserved, Error> {
        let id = id.into();
        let decision = self.check_request(&request.reserve(&id, ttl))?;
        Ok(match decision.allowed {
            // An earlier call may have charged the id.
            true => Reserved::Held(self.held(request, id, ttl, decision, true)),
            false => Reserved::Denied(decision),
        })
    }

    /// Cancels what the server may have charged although it did not reply. Nobody else has the id.
    fn cancel(&self, request: &Request<'_>, id: &str, ttl: Duration) {
        in_background(self.settling(request.policy, request.key, id.to_owned(), ttl), 0);
    }

    /// The guard of what is allowed.
    fn held(
        &self,
        request: &Request<'_>,
        id: String,
        ttl: Duration,
        decision: Decision,
        is_settled: bool,
    ) -> Reservation {
        let settle = is_settled.then(|| {
            let (pending, settle) =
                (Pending(Some(self.clone())), self.settling(request.policy, request.key, id.clone(), ttl));
            let settle: Settle = Box::new(move |actual| {
                let result = settle(actual);
                pending.ended(&result);
                result
            });
            settle
        });
        let usage = Usage { reserved: decision.charged, reported: None, called: true };
        Reservation { id, decision, usage, settle }
    }

    /// Settles, again and again while the server does not reply and the reservation can be settled.
    fn settling(&self, policy: &Policy, key: &[u8], id: String, ttl: Duration) -> Settle {
        let (limiter, policy, key) = (self.clone(), *policy, key.to_vec());
        Box::new(move |actual| {
            let mut retry = Retry::new(ttl);
            loop {
                let result = limiter.settle_reservation(&policy, &key, &id, actual);
                match retry.pause(&result) {
                    Some(pause) => sleep(pause),
                    None => return result,
                }
            }
        })
    }
}
