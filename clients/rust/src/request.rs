//! A request for one key under one policy.

use crate::policy::Policy;

/// A request for one key under one policy.
///
/// ```
/// use std::time::Duration;
/// use redis_rl_client::Policy;
///
/// const TOKENS: Policy = Policy::token(Duration::from_secs(60), 90_000).name("tokens");
/// let request = TOKENS.request("org:7").cost(3500);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) key: &'a [u8],
    pub(crate) cost: u64,
    pub(crate) partial: bool,
    pub(crate) at: Option<u64>,
    pub(crate) id: Option<&'a [u8]>,
}

impl<'a> Request<'a> {
    /// A request of cost 1.
    pub const fn new(policy: &'a Policy, key: &'a [u8]) -> Self {
        Self { policy, key, cost: 1, partial: false, at: None, id: None }
    }

    /// The policy.
    pub const fn policy(&self) -> &'a Policy {
        self.policy
    }

    /// The key.
    pub const fn key(&self) -> &'a [u8] {
        self.key
    }

    /// How many units it takes; 1 if not given. 0 charges nothing and is allowed while at least one unit is left.
    ///
    /// For [`refund`](crate::Limiter::refund), how many to give back; for [`settle`](crate::Limiter::settle), how many
    /// were charged. LEASE takes no other cost than 1.
    #[must_use]
    pub const fn cost(self, cost: u64) -> Self {
        Self { cost, ..self }
    }

    /// Charges as much of the cost as fits: [`Decision::charged`](crate::Decision::charged). Not for several limits in
    /// one call.
    #[must_use]
    pub const fn partial(self) -> Self {
        Self { partial: true, ..self }
    }

    /// For [`refund`](crate::Limiter::refund) and [`settle`](crate::Limiter::settle): when the request was charged,
    /// [`Decision::now_ms`](crate::Decision::now_ms) of it.
    #[must_use]
    pub const fn at(self, now_ms: u64) -> Self {
        Self { at: Some(now_ms), ..self }
    }

    /// The holder of the lease: 1 to 512 bytes. LEASE requires it, except in [`peek`](crate::Limiter::peek); no other
    /// algorithm takes it. [`Limiter::lease`](crate::Limiter::lease) chooses one by itself.
    #[must_use]
    pub fn id(self, id: &'a (impl AsRef<[u8]> + ?Sized)) -> Self {
        Self { id: Some(id.as_ref()), ..self }
    }

    /// The smallest cost that a denial of this request also denies. Nothing fits if a part does not, or a cost of 0.
    pub(crate) const fn least_cost(&self) -> u64 {
        if self.partial || self.cost == 0 { 1 } else { self.cost }
    }
}
