//! A request for one key under one policy.

use std::borrow::Cow;
use std::time::Duration;

use super::{Algorithm, Policy};
use crate::key::bounded_key;

impl Policy {
    /// A request of cost 1 for a key under this policy.
    pub fn request<'a>(&'a self, key: &'a (impl AsRef<[u8]> + ?Sized)) -> Request<'a> {
        Request::new(self, key.as_ref())
    }
}

/// The most requests of one command.
const MOST_JOINED: u64 = 1_000;

/// What requests of cost 1 for one key and policy become, and how the reply is divided among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Join {
    /// `COST n PARTIAL`: as many are allowed as were charged.
    Partial,
    /// `COST n ALWAYS`, of FIXED without ALWAYS and PARTIAL: the count is that after the last of them.
    Counted,
    /// `COST n` beside ALWAYS: the count is that before the first of them.
    Always,
    /// The same for FIXED, whose count is that after the last.
    AlwaysAfter,
}

/// A request for one key under one policy.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) key: &'a [u8],
    /// Whether the key has a bounded length.
    pub(crate) is_bounded: bool,
    pub(crate) cost: u64,
    pub(crate) partial: bool,
    pub(crate) always: bool,
    pub(crate) at: Option<u64>,
    pub(crate) id: Option<&'a [u8]>,
    pub(crate) reserve: Option<(&'a [u8], Duration)>,
}

impl<'a> Request<'a> {
    /// A request of cost 1.
    pub const fn new(policy: &'a Policy, key: &'a [u8]) -> Self {
        let is_bounded = false;
        Self { policy, key, is_bounded, cost: 1, partial: false, always: false, at: None, id: None, reserve: None }
    }

    /// The key as it is sent and kept in memory.
    pub(crate) fn bounded_key(&self) -> Cow<'a, [u8]> {
        if self.is_bounded { Cow::Borrowed(self.key) } else { bounded_key(self.key) }
    }

    /// The policy.
    pub const fn policy(&self) -> &'a Policy {
        self.policy
    }

    /// The key, as it was handed in. What is sent has a bounded length: see [`bounded`](crate::bounded).
    pub const fn key(&self) -> &'a [u8] {
        self.key
    }

    /// How many units it takes; 1 if not given, and always 1 for LEASE. 0 charges nothing and is allowed while at least one
    /// unit is left. For [`refund`](crate::Limiter::refund), how many to give back; for [`settle`](crate::Limiter::settle),
    /// how many were charged.
    #[must_use]
    pub const fn cost(self, cost: u64) -> Self {
        Self { cost, ..self }
    }

    /// The key is sent as it is: the caller has [bounded](crate::bounded) the values in it. Else the limiter bounds each
    /// part of a long key, and may cut words that are not the caller's.
    #[must_use]
    pub const fn with_key_as_it_is(self) -> Self {
        Self { is_bounded: true, ..self }
    }

    /// Charges as much of the cost as fits: [`Decision::charged`](crate::Decision::charged). Not for several limits in
    /// one call.
    #[must_use]
    pub const fn partial(self) -> Self {
        Self { partial: true, ..self }
    }

    /// Charges the cost whatever the limit says, and is allowed if no more than the limit is counted then. With a cost of 0
    /// it is denied only if more than the limit is counted. Only FIXED, WINDOW, COUNTER, ROLLING and TOKEN take it; not for
    /// several limits in one call, and not with [`partial`](Self::partial). A remembered denial does not keep it from being
    /// sent, except where an earlier one took a counter of FIXED or WINDOW over the limit: that counter denies until all its
    /// units come back at once.
    #[must_use]
    pub const fn always(self) -> Self {
        Self { always: true, ..self }
    }

    /// For [`refund`](crate::Limiter::refund) and [`settle`](crate::Limiter::settle): when the request was charged,
    /// [`Decision::now_ms`](crate::Decision::now_ms) of it.
    #[must_use]
    pub const fn at(self, now_ms: u64) -> Self {
        Self { at: Some(now_ms), ..self }
    }

    /// The holder of the lease: 1 to 512 bytes. LEASE requires it, except in [`peek`](crate::Limiter::peek); no other
    /// algorithm takes it.
    #[must_use]
    pub fn id(self, id: &'a (impl AsRef<[u8]> + ?Sized)) -> Self {
        Self { id: Some(id.as_ref()), ..self }
    }

    /// Makes the charge a reservation under an id of 1 to 128 bytes, which ends after `ttl`: whole milliseconds, at least
    /// one. Only FIXED, WINDOW, COUNTER and ROLLING take it; not with [`always`](Self::always) and not for
    /// [`peek`](crate::Limiter::peek). A request with an open id is allowed and charges nothing more.
    #[must_use]
    pub fn reserve(self, id: &'a (impl AsRef<[u8]> + ?Sized), ttl: Duration) -> Self {
        Self { reserve: Some((id.as_ref(), ttl)), ..self }
    }

    /// How requests like this one share a command, and at most how many do. `None` if the decision on one could change that on
    /// another. So requests with an id or a delay, and those of limits in shadow mode, share no command.
    pub(crate) fn joins(&self) -> Option<(Join, u64)> {
        let traits = self.policy.algorithm().traits();
        let has_id = self.id.is_some() || self.reserve.is_some() || traits.id;
        if self.cost != 1 || has_id || traits.delays || self.policy.is_shadow() {
            return None;
        }
        // Special: COUNTER rounds its count down, so the count does not say which requests were allowed.
        if self.always && self.policy.algorithm() == Algorithm::Counter {
            return None;
        }
        let join = if self.always {
            if traits.count_is_after { Join::AlwaysAfter } else { Join::Always }
        } else if traits.counts_denials && !self.partial {
            Join::Counted
        } else if traits.partial {
            Join::Partial
        } else {
            return None;
        };
        // More than the capacity is never allowed at once, also if the server has no memory to charge it.
        let limit = if join == Join::Partial { u64::MAX } else { self.policy.capacity() };
        Some((join, traits.most.unwrap_or(MOST_JOINED).min(limit)))
    }

    /// The smallest cost that a denial of this request also denies. If a part of a cost does not fit, or a cost of 0, then 1
    /// does not fit either.
    pub(crate) const fn least_cost(&self) -> u64 {
        if self.partial || self.cost == 0 { 1 } else { self.cost }
    }
}

/// A request that owns its policy, its key and its id.
#[derive(Clone, Debug)]
pub struct Owned {
    pub policy: Policy,
    /// Of a bounded length.
    key: Vec<u8>,
    pub cost: u64,
    partial: bool,
    always: bool,
    pub id: Option<Vec<u8>>,
}

impl Owned {
    pub fn of(request: &Request<'_>) -> Self {
        let &Request { policy, cost, partial, always, id, .. } = request;
        let key = request.bounded_key().into_owned();
        Self { policy: *policy, key, cost, partial, always, id: id.map(<[u8]>::to_vec) }
    }

    pub fn request(&self) -> Request<'_> {
        let &Self { ref policy, ref key, cost, partial, always, ref id } = self;
        Request { cost, partial, always, id: id.as_deref(), ..Request::new(policy, key).with_key_as_it_is() }
    }
}
