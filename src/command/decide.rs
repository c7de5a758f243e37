//! From a request to the decision of its limit, and on to the change that is committed: what shadow mode and `maxmemory` make
//! of the decision, what is replied, and what is counted.

use redis_rl_algorithm::integer::to_i64;
use redis_rl_algorithm::period::Anchor;
use redis_rl_algorithm::{Change, Charging, Cost, Decision, Micros, Verdict};

use super::algorithms::Algorithm;
use super::reply::Reply;
use super::request::Request;
use crate::config::{self, OnOom};
use crate::denied::{self, Written};
use crate::error::Error;
use crate::ffi::{ClosedKey, Ctx};
use crate::stats::{Outcome, STATS};
use crate::store::{Budget, Purpose, state_key};

/// The `ttl` of a request that is denied because the server is at `maxmemory`, in seconds. The module cannot know when
/// there will be memory.
const RETRY_SECONDS: i64 = 1;

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
    /// The key of the state.
    #[inline(always)]
    pub fn state_key(&self, ctx: Ctx<'c>, now: Micros, purpose: Purpose<'_>) -> Result<ClosedKey<'c>, Error> {
        state_key(&self.algorithm, ctx, self.key, now, purpose)
    }

    /// Loads the state and decides on the request.
    ///
    /// # Errors
    /// The key holds a value that is no state of the algorithm, or the state cannot represent the result.
    #[inline(always)]
    pub fn decide(&'c self, key: ClosedKey<'c>, now: Micros, purpose: Purpose<'_>) -> Result<Pending<'c, A>, Error> {
        let ctx = key.ctx;
        let mut loaded = self.algorithm.load(key, self.id, now, purpose)?;
        let cost = if self.partial { self.part_that_fits(&loaded, now) } else { self.cost };
        let (decision, cost) = match self.charging {
            Charging::IfAllowed => (self.algorithm.decide(&mut loaded, now, cost, Charging::IfAllowed)?, cost),
            charging => self.decide_charging(&mut loaded, now, cost, charging)?,
        };
        Ok(self.pend(loaded, decision, cost, now, ctx))
    }

    /// Decides on a request that is charged whatever the limit says; and how many units it charges. Not inlined, so that other
    /// requests do not pay for it.
    #[inline(never)]
    fn decide_charging(
        &self,
        loaded: &mut A::Loaded<'c>,
        now: Micros,
        cost: Cost,
        charging: Charging,
    ) -> Result<(Decision<A::Change>, Cost), Error> {
        let decision = self.algorithm.decide(loaded, now, cost, charging)?;
        let lends = charging == Charging::Lending;
        Ok((decision, if lends { self.algorithm.lent(loaded, now, cost) } else { cost }))
    }

    /// The decision that describes the state after a correction, which is committed: no error may follow. A request that
    /// the state cannot count is denied.
    pub fn decide_afterwards(
        &'c self,
        key: ClosedKey<'c>,
        now: Micros,
        budget: &Budget,
    ) -> Result<Pending<'c, A>, Error> {
        let ctx = key.ctx;
        // A key that is open for writing is read in place. What could be removed has been.
        let mut loaded = self.algorithm.load(key, self.id, now, Purpose::Write(budget))?;
        let cost = self.cost;
        let mut decide = |cost| self.algorithm.decide(&mut loaded, now, cost, Charging::IfAllowed);
        let decision = decide(cost).or_else(|_| {
            let look = decide(Cost::ZERO)?;
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
        if self.is_in_shadow_mode() {
            decision.change = self.algorithm.in_shadow(&loaded, now, decision.change);
        }
        Pending { request: self, loaded, decision, cost, now, ctx, out_of_memory: false, shadowed }
    }

    /// Whether the limit denies nothing, whatever it decides.
    #[inline(always)]
    pub fn is_in_shadow_mode(&self) -> bool {
        (self.shadow || config::shadow()) && !self.ignores_shadow
    }

    /// Allows a request that the limit denies. The change stays that of a denial.
    #[cold]
    pub(super) fn allow(&self, loaded: &A::Loaded<'c>, decision: &mut Decision<A::Change>, now: Micros) {
        decision.verdict.allowed = true;
        if !A::TRAITS.ttl_of_script {
            let reset_ms = self.algorithm.figures(loaded, decision, now).reset_ms;
            decision.verdict.ttl = u64::try_from(reset_ms).map_or(-1, |ms| to_i64(ms.div_ceil(1_000)));
        }
    }

    /// The part of the cost that fits now. If nothing fits it is 0, which is denied and not counted.
    #[cold]
    pub(super) fn part_that_fits(&self, loaded: &A::Loaded<'c>, now: Micros) -> Cost {
        let remaining = self.algorithm.remaining(loaded, now);
        Cost::new(remaining).filter(|remaining| *remaining < self.cost).unwrap_or(self.cost)
    }
}

impl<'c, A: Algorithm> Pending<'c, A> {
    /// Applies `rl.on-oom` if the server is at `maxmemory` and the change needs memory.
    #[inline(always)]
    pub fn require_memory(&mut self, ctx: Ctx<'c>) -> Result<(), Error> {
        if self.needs_memory() && ctx.out_of_memory(self.request.key) {
            let allowed = allows_uncounted(ctx, self.request.is_in_shadow_mode())?;
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
        let Request { algorithm, charging, .. } = self.request;
        let uncharged = algorithm.decide(&mut self.loaded, self.now, Cost::ZERO, *charging)?;
        let verdict = &mut self.decision.verdict;
        verdict.count = uncharged.verdict.count;
        if A::TRAITS.ttl_of_script || (verdict.allowed && allowed) {
            verdict.ttl = uncharged.verdict.ttl;
        } else if verdict.allowed {
            verdict.ttl = RETRY_SECONDS;
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
        if self.out_of_memory { RETRY_SECONDS } else { -1 }
    }

    /// The units that the decision charges once it is committed.
    pub fn charged(&self) -> u64 {
        match self.decision.change {
            Change::Charge(_) if self.request.charging != Charging::IfAllowed => self.cost.units(),
            // FIXED counts denials too. A charge in shadow mode is that of a denial, but for a part that fits.
            Change::Charge(_) if self.decision.verdict.allowed && (!self.shadowed || self.request.partial) => {
                A::units_charged(&self.loaded, self.cost)
            }
            _ => 0,
        }
    }

    /// Everything that a reply says. `charged` is the units that the call charges under this limit.
    pub fn reply(&self, charged: u64) -> Reply<'c> {
        let Request { algorithm, policy, name, .. } = self.request;
        let mut figures = algorithm.figures(&self.loaded, &self.decision, self.now);
        if self.out_of_memory {
            figures.retry_after_ms = figures.retry_after_ms.max(RETRY_SECONDS.saturating_mul(1_000));
        }
        Reply {
            name: name.unwrap_or(A::NAME.label()),
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

    /// Counts the decision for INFO, and one that does not charge the whole cost for RL.TOP. Inlined into every command, it
    /// makes the module 3 KB larger and no request faster.
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

    /// Commits the change, without its charge if the request `charges` nothing, and counts nothing.
    pub fn commit_uncounted(mut self, charges: bool) {
        if !charges {
            self.drop_charge();
        }
        self.request.algorithm.commit(self.loaded, self.decision.change, self.now);
    }

    /// Leaves the charge out of the change: another limit of the call denies.
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

/// Whether a request that cannot be counted, because the server is at `maxmemory`, is allowed: in shadow mode, which denies
/// nothing, and where `rl.on-oom` says so.
pub fn allows_uncounted(ctx: Ctx<'_>, in_shadow_mode: bool) -> Result<bool, Error> {
    match config::on_oom(ctx) {
        OnOom::Error if !in_shadow_mode => {
            STATS.oom_error.increment();
            Err(Error::OUT_OF_MEMORY)
        }
        OnOom::Deny if !in_shadow_mode => {
            STATS.oom_denied.increment();
            Ok(false)
        }
        _ => {
            STATS.oom_allowed.increment();
            Ok(true)
        }
    }
}
