//! Reservations that settle themselves.

use std::time::Duration;

use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::connection::Connection;
use crate::decision::{Decision, Decisions};
use crate::error::Error;
use crate::lease_id::new_id;
use crate::limiter::Limiter;
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
/// A guard that is dropped, also because the future that holds it is cancelled, settles with the usage reported so far.
/// If nothing was reported, the whole estimate stays charged, since the upstream may have worked all the same; unless
/// the caller said that it was not [called](Self::called). So hanging up makes nothing free.
///
/// A settlement without a reply is sent again until the reservation can no longer be settled. If the process dies, the
/// estimate comes back when the reservation ends. What a [`Fallback`](crate::Fallback) allows is not settled if the server
/// cannot have charged it.
#[derive(Debug)]
pub struct Reservation {
    id: String,
    decision: Decision,
    usage: Usage,
    /// What the task settles with. `None` if there is nothing to settle.
    actual: Option<oneshot::Sender<u64>>,
    task: Option<JoinHandle<Result<Decision, Error>>>,
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
    pub async fn settle(mut self, actual: u64) -> Result<Decision, Error> {
        self.report(actual);
        let (task, decision) = (self.task.take(), self.decision);
        drop(self);
        match task {
            // The task neither panics nor is it aborted, unless the runtime ends.
            Some(task) => task.await.unwrap_or(Err(Error::CircuitOpen)),
            None => Ok(Decision { charged: 0, ..decision }),
        }
    }

    /// Charges nothing: the upstream has done no work.
    ///
    /// # Errors
    /// As [`settle`](Self::settle).
    pub async fn cancel(self) -> Result<Decision, Error> {
        self.settle(0).await
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let Some(actual) = self.actual.take() {
            // The task is gone only if the runtime has ended.
            let _ = actual.send(self.usage.units());
        }
    }
}

/// What a reservation is known by.
#[derive(Clone, Debug)]
struct Charge {
    policy: Policy,
    key: Vec<u8>,
    id: String,
    ttl: Duration,
}

impl Charge {
    /// Settles, again and again while the server does not reply and the reservation can be settled.
    async fn settle<C: Connection>(&self, limiter: &Limiter<C>, actual: u64) -> Result<Decision, Error> {
        let mut retry = Retry::new(self.ttl);
        loop {
            let result = limiter.settle_reservation(&self.policy, &self.key, &self.id, actual).await;
            match retry.pause(&result) {
                Some(pause) => sleep(pause).await,
                None => return result,
            }
        }
    }
}

/// A request for a reservation, of a task.
#[derive(Debug)]
struct Wanted {
    charge: Charge,
    cost: u64,
    partial: bool,
    always: bool,
    holder: Option<Vec<u8>>,
}

impl Wanted {
    fn of(request: &Request<'_>, id: &str, ttl: Duration) -> Self {
        let &Request { policy, key, cost, partial, always, id: holder, .. } = request;
        let charge = Charge { policy: *policy, key: key.to_vec(), id: id.to_owned(), ttl };
        Self { charge, cost, partial, always, holder: holder.map(<[u8]>::to_vec) }
    }

    fn request(&self) -> Request<'_> {
        let Charge { policy, key, id, ttl } = &self.charge;
        let (cost, partial, always, holder) = (self.cost, self.partial, self.always, self.holder.as_deref());
        // The server rejects what excludes RESERVE.
        Request { cost, partial, always, id: holder, ..Request::new(policy, key) }.reserve(id, *ttl)
    }
}

impl<C: Connection> Limiter<C> {
    /// Charges the cost of a request as an estimate under a new id. The guard settles it once. It ends by itself after
    /// `ttl`, which must be longer than the work takes. If this future is dropped before it returns, it is cancelled.
    ///
    /// ```
    /// # mod doc { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/client/doc.rs")); } use doc::with_client;
    /// # use std::time::Duration;
    /// # use redis_rl_client::{Limiter, Policy, Reserved};
    /// # with_client(async |client| {
    /// # let limiter = Limiter::new(client.get_connection_manager().await?);
    /// let tokens: Policy = "COUNTER 1m 3000 AS tokens".parse()?;
    /// match limiter.reserve(&tokens.request("org:7").cost(800), Duration::from_secs(600)).await? {
    ///     Reserved::Held(mut reservation) => {
    ///         for streamed in [100, 200, 300] {
    ///             // If the caller hangs up here, 100, 200 or 300 tokens stay charged.
    ///             reservation.report(streamed);
    ///         }
    ///         reservation.settle(310).await?;
    ///     }
    ///     Reserved::Denied(decision) => println!("too many tokens: {:?}", decision.retry_after),
    /// }
    /// # Ok(())
    /// # });
    /// ```
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub async fn reserve(&self, request: &Request<'_>, ttl: Duration) -> Result<Reserved, Error> {
        let (limiter, wanted) = (self.clone(), Wanted::of(request, &new_id(), ttl));
        // A task of its own: if the caller is gone when the reply comes, the guard is dropped, which cancels.
        let holding = tokio::spawn(async move {
            let result = limiter.check_on_server(&wanted.request()).await;
            let may_be_charged = result.as_ref().is_err_and(Error::may_be_charged);
            let is_settled = may_be_charged || result.is_ok();
            let reserved = match result.or_else(|error| limiter.fall_back(&wanted.request(), error)) {
                Ok(decision) if decision.allowed && is_settled => {
                    return Ok(Reserved::Held(keep(limiter, wanted.charge, decision)));
                }
                Ok(decision) if decision.allowed => return Ok(Reserved::Held(uncharged(wanted.charge, decision))),
                Ok(decision) => Ok(Reserved::Denied(decision)),
                Err(error) => Err(error),
            };
            if may_be_charged {
                cancel(&limiter, [wanted.charge]);
            }
            reserved
        });
        // The task neither panics nor is it aborted, unless the runtime ends.
        let mut reserved = holding.await.unwrap_or(Err(Error::CircuitOpen));
        if let Ok(Reserved::Held(reservation)) = &mut reserved {
            reservation.called(true);
        }
        reserved
    }

    /// Charges an estimate under this id, or finds it charged: the request may be sent again after an error. The party
    /// that is limited must not choose the id: a request that repeats an open id is free.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub async fn reserve_as(
        &self,
        request: &Request<'_>,
        id: impl Into<String>,
        ttl: Duration,
    ) -> Result<Reserved, Error> {
        let id = id.into();
        let decision = self.check_request(&request.reserve(&id, ttl)).await?;
        if !decision.allowed {
            return Ok(Reserved::Denied(decision));
        }
        let charge = Charge { policy: *request.policy, key: request.key.to_vec(), id, ttl };
        let mut reservation = keep(self.clone(), charge, decision);
        reservation.called(true);
        Ok(Reserved::Held(reservation))
    }

    /// Charges the costs of all requests as estimates, or none, under one new id. Each guard settles its own limit, so
    /// limits that count different things are settled with different numbers. A limit of requests has a cost of 1, which
    /// stays charged when its guard is dropped. In a cluster all keys must be in one slot. LEASE takes no reservation:
    /// take a [`lease`](Self::lease) first.
    ///
    /// ```
    /// # mod doc { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/client/doc.rs")); } use doc::with_client;
    /// # use std::time::Duration;
    /// # use redis_rl_client::{Limiter, Policy, ReservedAll};
    /// # with_client(async |client| {
    /// # let limiter = Limiter::new(client.get_connection_manager().await?);
    /// let (requests, input): (Policy, Policy) = ("WINDOW 1m 60 AS requests".parse()?, "COUNTER 1m 9000 AS input".parse()?);
    /// let output: Policy = "COUNTER 1m 3000 AS output".parse()?;
    /// let all = [
    ///     requests.request("{org:7}:requests"),
    ///     input.request("{org:7}:input").cost(700),
    ///     output.request("{org:7}:output").cost(1000),
    /// ];
    /// match limiter.reserve_all(&all, Duration::from_secs(600)).await? {
    ///     ReservedAll::Held(mut reservations) => {
    ///         for (reservation, used) in reservations.iter_mut().zip([1, 690, 120]) {
    ///             reservation.report(used); // settled when it is dropped
    ///         }
    ///     }
    ///     ReservedAll::Denied(decisions) => println!("too many: {:?}", decisions.denied().next()),
    /// }
    /// # Ok(())
    /// # });
    /// ```
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub async fn reserve_all(&self, requests: &[Request<'_>], ttl: Duration) -> Result<ReservedAll, Error> {
        let (limiter, id) = (self.clone(), new_id());
        let all: Vec<_> = requests.iter().map(|request| Wanted::of(request, &id, ttl)).collect();
        let holding = tokio::spawn(async move {
            let requests: Vec<_> = all.iter().map(Wanted::request).collect();
            let result = limiter.check_all_on_server(&requests).await;
            let may_be_charged = result.as_ref().is_err_and(Error::may_be_charged);
            let is_settled = may_be_charged || result.is_ok();
            let result = result.or_else(|error| limiter.fall_back_all(&requests, error));
            let charges = all.into_iter().map(|wanted| wanted.charge);
            let reserved = match result {
                Ok(decisions) if decisions.allowed => {
                    let kept = charges.zip(decisions.limits);
                    let kept = kept.map(|(charge, decision)| match is_settled {
                        true => keep(limiter.clone(), charge, decision),
                        false => uncharged(charge, decision),
                    });
                    return Ok(ReservedAll::Held(kept.collect()));
                }
                Ok(decisions) => Ok(ReservedAll::Denied(decisions)),
                Err(error) => Err(error),
            };
            if may_be_charged {
                cancel(&limiter, charges);
            }
            reserved
        });
        // The task neither panics nor is it aborted, unless the runtime ends.
        let mut reserved = holding.await.unwrap_or(Err(Error::CircuitOpen));
        if let Ok(ReservedAll::Held(reservations)) = &mut reserved {
            reservations.iter_mut().for_each(|reservation| reservation.called(true));
        }
        reserved
    }
}

/// Cancels what the server may have charged although it did not reply. Nobody else has the id.
fn cancel<C: Connection>(limiter: &Limiter<C>, charges: impl IntoIterator<Item = Charge>) {
    for charge in charges {
        let limiter = limiter.clone();
        tokio::spawn(async move { charge.settle(&limiter, 0).await });
    }
}

/// The guard of what a fallback allowed and the server has not charged. There is nothing to settle.
fn uncharged(charge: Charge, decision: Decision) -> Reservation {
    let usage = Usage { reserved: decision.charged, reported: None, called: false };
    Reservation { id: charge.id, decision, usage, actual: None, task: None }
}

/// Settles what the guard says when it is dropped.
fn keep<C: Connection>(limiter: Limiter<C>, charge: Charge, decision: Decision) -> Reservation {
    let (actual, settled) = oneshot::channel();
    let id = charge.id.clone();
    let task = tokio::spawn(async move {
        // The guard always sends.
        let actual = settled.await.unwrap_or(decision.charged);
        charge.settle(&limiter, actual).await.inspect_err(|error| limiter.core.unsettled(error))
    });
    let (actual, task) = (Some(actual), Some(task));
    // Until the caller has the guard, nobody can have called the upstream.
    let usage = Usage { reserved: decision.charged, reported: None, called: false };
    Reservation { id, decision, usage, actual, task }
}
