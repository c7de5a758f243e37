//! A request that is decided and not yet committed: what the server allows of it, what it replies, and what it commits.

use redis_rl_algorithm::arithmetic::to_i64;
use redis_rl_algorithm::period::Anchor;
use redis_rl_algorithm::{Change, Cost, Decision, Micros, Verdict};

use super::algorithms::Algorithm;
use super::memory;
use super::reply::Reply;
use super::request::Request;
use crate::denied::{self, Written};
use crate::error::Error;
use crate::ffi::{ClosedKey, Ctx};
use crate::stats::Outcome;
use crate::store::{Budget, Purpose};

/// A request that is decided and not yet committed.
pub struct Pending<'c, A: Algorithm> {
    pub request: &'c Request<'c, A>,
    pub loaded: A::Loaded<'c>,
    pub decision: Decision<A::Change>,
    /// The cost that was decided on: with PARTIAL, the part that fits.
    pub(super) cost: Cost,
    pub(super) now: Micros,
    ctx: Ctx<'c>,
    /// Denied because the server is at `maxmemory`, not by the limit.
    out_of_memory: bool,
    /// Allowed by shadow mode. The limit denies, and the change is that of a denial; with PARTIAL, a part of the cost may
    /// be charged.
    pub(super) shadowed: bool,
}

impl<'c, A: Algorithm> Request<'c, A> {
    /// Loads the state and decides on the request.
    ///
    /// # Errors
    /// The key holds a value that is no state of the algorithm, or the state cannot represent the result.
    #[inline(always)]
    pub fn decide(&'c self, key: ClosedKey<'c>, now: Micros, purpose: Purpose<'_>) -> Result<Pending<'c, A>, Error> {
        let ctx = key.ctx();
        let mut loaded = self.algorithm.load(key, self.id, now, purpose)?;
        let cost = if self.partial { self.part_that_fits(&loaded, now) } else { self.cost };
        let decision = self.decide_at(&mut loaded, now, cost)?;
        Ok(self.pend(loaded, decision, cost, now, ctx))
    }

    /// [`Request::decide`] of a limit of RL.SHARE, of which a narrower one has paid.
    ///
    /// # Errors
    /// As [`Request::decide`].
    pub fn decide_lending(
        &'c self,
        key: ClosedKey<'c>,
        now: Micros,
        purpose: Purpose<'_>,
    ) -> Result<Pending<'c, A>, Error> {
        let ctx = key.ctx();
        let mut loaded = self.algorithm.load(key, self.id, now, purpose)?;
        let (decision, cost) = self.algorithm.decide_lending(&mut loaded, now, self.cost)?;
        Ok(self.pend(loaded, decision, cost, now, ctx))
    }

    /// The decision that describes the state after a correction, which is committed: no error may follow. A request that
    /// the state cannot count is denied.
    ///
    /// # Errors
    /// As [`Request::decide`], but for that.
    pub fn decide_afterwards(
        &'c self,
        key: ClosedKey<'c>,
        now: Micros,
        budget: &Budget,
    ) -> Result<Pending<'c, A>, Error> {
        let ctx = key.ctx();
        // A key that is open for writing is read in place. What could be removed has been.
        let mut loaded = self.algorithm.load(key, self.id, now, Purpose::Write(budget))?;
        let cost = self.cost;
        let decision = self.algorithm.decide_on(&mut loaded, now, cost).or_else(|_| {
            let look = self.algorithm.decide_on(&mut loaded, now, Cost::ZERO)?;
            let verdict = Verdict { allowed: false, ..look.verdict };
            Ok::<_, Error>(Decision { verdict, needed: cost.needed(), ..look })
        })?;
        Ok(self.pend(loaded, decision, cost, now, ctx))
    }

    /// A decision at `cost`, in shadow mode where that is on.
    #[inline(always)]
    pub(super) fn pend(
        &'c self,
        loaded: A::Loaded<'c>,
        mut decision: Decision<A::Change>,
        cost: Cost,
        now: Micros,
        ctx: Ctx<'c>,
    ) -> Pending<'c, A> {
        let denied = !decision.verdict.allowed;
        let shadowed = (denied || (self.partial && cost < self.cost)) && self.is_in_shadow_mode();
        if shadowed && denied {
            self.allow(&loaded, &mut decision, now);
        }
        if A::TRAITS.shadow_keeps && self.is_in_shadow_mode() {
            decision.change = self.algorithm.in_shadow(&loaded, now, decision.change);
        }
        Pending { request: self, loaded, decision, cost, now, ctx, out_of_memory: false, shadowed }
    }
}

impl<'c, A: Algorithm> Pending<'c, A> {
    /// Applies `rl.on-oom` if the server is at `maxmemory` and the change needs memory.
    ///
    /// # Errors
    /// [`Error::OUT_OF_MEMORY`] if `rl.on-oom` is `error`.
    #[inline(always)]
    pub fn require_memory(&mut self, ctx: Ctx<'c>) -> Result<(), Error> {
        if self.needs_memory() && ctx.out_of_memory(self.request.key) {
            let allowed = memory::allows_uncounted(ctx, self.request.is_in_shadow_mode())?;
            self.leave_uncharged(allowed)?;
        }
        Ok(())
    }

    /// Whether the change creates a key or makes one larger.
    #[inline(always)]
    pub fn needs_memory(&self) -> bool {
        A::needs_memory(&self.loaded, &self.decision.change)
    }

    /// Charges nothing, because there is no memory. What the limit denies stays denied; `allowed` decides on the rest.
    /// The reply then describes the state as it is.
    #[cold]
    pub fn leave_uncharged(&mut self, allowed: bool) -> Result<(), Error> {
        let uncharged = self.request.decide_at(&mut self.loaded, self.now, Cost::ZERO)?;
        let verdict = &mut self.decision.verdict;
        verdict.count = uncharged.verdict.count;
        if A::TRAITS.ttl_of_script || (verdict.allowed && allowed) {
            verdict.ttl = uncharged.verdict.ttl;
        } else if verdict.allowed {
            verdict.ttl = memory::RETRY_SECONDS;
        }
        if !self.shadowed {
            self.out_of_memory = verdict.allowed && !allowed;
            verdict.allowed &= allowed;
        }
        self.decision.change = Change::Keep;
        Ok(())
    }

    /// Counts the key, as the client named it, among those that are denied most.
    #[inline(never)]
    fn record_denial(&self) {
        let Request { key, window, policy, .. } = self.request;
        let anchor = policy.schedule.anchor().map(Anchor::seconds);
        let written = Written { window: window.bytes(), limit: policy.limit, anchor };
        denied::record(self.ctx, key.bytes(), A::NAME as u8, self.now, written);
    }

    /// The outcome of the decision.
    #[inline(always)]
    fn outcome(&self) -> Outcome {
        if self.shadowed {
            Outcome::ShadowDenied
        } else if !self.decision.verdict.allowed {
            Outcome::Denied
        } else if self.is_near() {
            Outcome::Near
        } else {
            Outcome::Allowed
        }
    }

    /// Whether more than 80 % of the limit is used after this request.
    #[inline(always)]
    fn is_near(&self) -> bool {
        let before = u64::try_from(self.decision.verdict.count).unwrap_or(0);
        let used = if A::TRAITS.count_is_after { before } else { before.saturating_add(self.cost.units()) };
        let capacity = self.request.policy.capacity();
        used > capacity.saturating_sub(capacity.div_ceil(5))
    }

    /// The seconds after which to retry a request that is denied because the server is at `maxmemory`; −1 for any other.
    pub fn wait_for_memory_seconds(&self) -> i64 {
        if self.out_of_memory { memory::RETRY_SECONDS } else { -1 }
    }

    /// The units that the decision charges once it is committed.
    pub fn charged(&self) -> u64 {
        match self.decision.change {
            Change::Charge(_) if self.request.always || self.request.lends => self.cost.units(),
            // FIXED counts denials too. A charge in shadow mode is that of a denial, but for a part that fits.
            Change::Charge(_) if self.decision.verdict.allowed && (!self.shadowed || self.request.partial) => {
                A::units_charged(&self.loaded, self.cost)
            }
            _ => 0,
        }
    }

    /// Everything that a reply says. `charged` is the units that the call charges under this limit.
    pub fn reply(&self, charged: u64) -> Reply {
        let Request { algorithm, policy, name, .. } = self.request;
        let mut figures = algorithm.figures(&self.loaded, &self.decision, self.now);
        if self.out_of_memory {
            figures.retry_after_ms = figures.retry_after_ms.max(memory::RETRY_SECONDS.saturating_mul(1_000));
        }
        Reply {
            name: name.map_or_else(|| A::NAME.label().to_owned(), str::to_owned),
            policy: *policy,
            quota_unit: A::QUOTA_UNIT,
            window_micros: algorithm.window_at(policy, self.now),
            verdict: self.decision.verdict,
            first: self.first_integer(),
            shadowed: self.shadowed,
            figures,
            now: self.now,
            charged,
        }
    }

    /// The first integer of the reply: whether the request is allowed or, with PARTIAL, how much of it.
    #[inline(always)]
    pub fn first_integer(&self) -> i64 {
        match (self.decision.verdict.allowed, self.request.partial) {
            (allowed, false) => i64::from(allowed),
            (true, true) if self.shadowed => to_i64(self.request.cost.units()),
            (true, true) => to_i64(self.cost.units()),
            (false, true) => 0,
        }
    }

    /// Counts the decision for INFO, and one that does not charge the whole cost for RL.TOP. Inlined into every command, it makes the module 3 KB larger
    /// and no request faster: RL.TOKEN takes 11,000 instructions either way.
    #[inline(never)]
    pub(super) fn count(&self) -> Outcome {
        let outcome = self.outcome();
        A::decisions().count(outcome);
        // A flood that is charged in parts is one too.
        let only_a_part = self.cost < self.request.cost && self.cost != Cost::ZERO;
        if outcome >= Outcome::ShadowDenied || only_a_part {
            self.record_denial();
        }
        outcome
    }

    /// Counts the decision, and commits the change without its charge: another limit of the call denies.
    pub fn commit_uncharged(mut self) -> Outcome {
        self.drop_charge();
        self.commit()
    }

    /// Commits the change, without its charge if the request `charges` nothing, and counts nothing.
    pub fn commit_uncounted(mut self, charges: bool) {
        if !charges {
            self.drop_charge();
        }
        self.request.algorithm.commit(self.loaded, self.decision.change, self.now);
    }

    /// Leaves the charge out of the change.
    pub(super) fn drop_charge(&mut self) {
        if matches!(self.decision.change, Change::Charge(_)) {
            self.decision.change = Change::Keep;
        }
    }

    /// Counts the decision, and commits the change.
    #[inline(always)]
    pub fn commit(self) -> Outcome {
        let outcome = self.count();
        self.request.algorithm.commit(self.loaded, self.decision.change, self.now);
        outcome
    }
}
