//! Which limits apply to a request.

use tokio::time::Instant;

use crate::connection::Connection;
use crate::lease::Lease;
use crate::lease_id::new_id;
use crate::limiter::Limiter;
use crate::policy::{Algorithm, Policy};
use crate::request::Request;

/// A policy, the key that it counts, and what the request takes.
#[derive(Clone, Debug)]
pub struct Limit {
    policy: Policy,
    key: Vec<u8>,
    cost: u64,
    settled: bool,
    /// The holder, with LEASE.
    id: Option<String>,
}

impl Limit {
    /// A limit that the request takes 1 of. With LEASE, the request holds a lease until the body of its response ends.
    pub fn new(policy: &Policy, key: impl Into<Vec<u8>>) -> Self {
        let id = (policy.algorithm() == Algorithm::Lease).then(new_id);
        Self { policy: *policy, key: key.into(), cost: 1, settled: false, id }
    }

    /// How many units the request takes, or an estimate if the limit is [settled](Self::settled).
    #[must_use]
    pub fn cost(self, cost: u64) -> Self {
        Self { cost, ..self }
    }

    /// Corrects the cost after the response: see [`RateLimitLayer::actual_cost`](super::RateLimitLayer::actual_cost). If
    /// the service fails, everything is given back.
    #[must_use]
    pub fn settled(self) -> Self {
        Self { settled: true, ..self }
    }

    pub(super) fn is_settled(&self) -> bool {
        self.settled
    }

    pub(super) fn request(&self) -> Request<'_> {
        let request = self.policy.request(&self.key).cost(self.cost);
        self.id.as_ref().map_or(request, |id| request.id(id))
    }

    /// The lease that an allowed request holds.
    pub(super) fn lease<C: Connection>(&self, limiter: &Limiter<C>, sent: Instant) -> Option<Lease> {
        let id = self.id.clone()?;
        Some(Lease::keep(limiter.clone(), self.policy, self.key.clone(), id, sent))
    }
}

/// The limits of a request: none, one, or several that are checked together.
#[derive(Clone, Debug, Default)]
pub struct Limits(Vec<Limit>);

impl Limits {
    /// No limits: the request is not checked.
    pub const fn none() -> Self {
        Self(Vec::new())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Limit> {
        self.0.iter()
    }

    pub(super) fn requests(&self) -> Vec<Request<'_>> {
        self.0.iter().map(Limit::request).collect()
    }
}

impl From<Limit> for Limits {
    fn from(limit: Limit) -> Self {
        Self(vec![limit])
    }
}

impl From<Option<Limit>> for Limits {
    fn from(limit: Option<Limit>) -> Self {
        Self(limit.into_iter().collect())
    }
}

impl From<Vec<Limit>> for Limits {
    fn from(limits: Vec<Limit>) -> Self {
        Self(limits)
    }
}

impl<const N: usize> From<[Limit; N]> for Limits {
    fn from(limits: [Limit; N]) -> Self {
        Self(limits.into())
    }
}

/// What a request turned out to cost. A handler puts it into the extensions of its response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActualCost(pub u64);
