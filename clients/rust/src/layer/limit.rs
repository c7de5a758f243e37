//! Which limits apply to a request.

use std::time::Instant;

use crate::Lease;
use crate::Limiter;
use crate::Request;
use crate::error::Error;
use crate::limiter::new_id;
use crate::policy::Policy;

/// A policy, the key that it counts, and what the request takes.
#[derive(Clone, Debug)]
pub struct Limit {
    policy: Policy,
    key: Vec<u8>,
    cost: u64,
    /// The holder, with LEASE.
    id: Option<String>,
}

impl Limit {
    /// A limit that the request takes 1 of. With LEASE, the request holds a lease until the body of its response ends.
    pub fn new(policy: &Policy, key: impl Into<Vec<u8>>) -> Self {
        let id = policy.algorithm().traits().id.then(new_id);
        Self { policy: *policy, key: key.into(), cost: 1, id }
    }

    /// How many units the request takes.
    #[must_use]
    pub fn cost(self, cost: u64) -> Self {
        Self { cost, ..self }
    }

    pub(super) fn is_lease(&self) -> bool {
        self.id.is_some()
    }

    pub(super) fn request(&self) -> Request<'_> {
        let request = self.policy.request(&self.key).cost(self.cost);
        self.id.as_ref().map_or(request, |id| request.id(id))
    }

    /// The lease that an allowed request holds.
    pub(super) fn lease(&self, limiter: &Limiter, sent: Instant) -> Option<Lease> {
        let id = self.id.clone()?;
        Some(Lease::keep(limiter.clone(), self.policy, self.key.clone(), id, sent))
    }
}

/// The limits of a request: none, one, or several that are checked together; or why they are not known.
#[derive(Clone, Debug)]
pub struct Limits(pub(super) Result<Vec<Limit>, Error>);

impl Limits {
    /// No limits: the request is not checked.
    pub const fn none() -> Self {
        Self(Ok(Vec::new()))
    }
}

impl From<Limit> for Limits {
    fn from(limit: Limit) -> Self {
        Self(Ok(vec![limit]))
    }
}

impl From<Option<Limit>> for Limits {
    fn from(limit: Option<Limit>) -> Self {
        Self(Ok(limit.into_iter().collect()))
    }
}

impl From<Vec<Limit>> for Limits {
    fn from(limits: Vec<Limit>) -> Self {
        Self(Ok(limits))
    }
}

impl<const N: usize> From<[Limit; N]> for Limits {
    fn from(limits: [Limit; N]) -> Self {
        Self(Ok(limits.into()))
    }
}

/// An error is a fault of the configuration: the request gets status 500.
impl<L: Into<Self>> From<Result<L, Error>> for Limits {
    fn from(limits: Result<L, Error>) -> Self {
        limits.map_or_else(|error| Self(Err(error)), Into::into)
    }
}
