//! Which limits apply to a request.

use crate::Request;
use crate::error::Error;
use crate::limiter::new_id;
use crate::policy::{Owned, Policy};

/// A policy, the key that it counts, and what the request takes.
#[derive(Clone, Debug)]
pub struct Limit(pub(super) Owned);

impl Limit {
    /// A limit that the request takes 1 of. With LEASE, the request holds a lease until the body of its response ends.
    pub fn new(policy: &Policy, key: impl AsRef<[u8]>) -> Self {
        let (request, id) = (Request::new(policy, key.as_ref()), new_id());
        Self(Owned::of(&if policy.algorithm().traits().id { request.id(&id) } else { request }))
    }

    /// How many units the request takes.
    #[must_use]
    pub fn cost(mut self, cost: u64) -> Self {
        self.0.cost = cost;
        self
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
