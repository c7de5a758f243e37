//! A request under one limit, from its arguments to the commit. `RL.<ALGO>`, RL.MULTI, RL.PEEK and RL.THROTTLE all use
//! it, so a rule that belongs to every decision is here and nowhere else.

use redis_rl_algorithm::arithmetic::to_i64;
use redis_rl_algorithm::period::Anchor;
use redis_rl_algorithm::{Change, Cost, Decision, Micros, Policy, Schedule, Verdict};

use super::algorithms::{Algorithm, Name};
use super::memory;
use super::options::{Grammar, Keyword, Options, Reserve, Taker};
use super::reply::Reply;
use super::values::{parse_count, parse_schedule, parse_window};
use super::words::Form;
use crate::config;
use crate::denied;
use crate::error::Error;
use crate::ffi::{Arg, Args, ClosedKey, Ctx};
use crate::stats::Outcome;
use crate::store::{Purpose, state_key};

/// The most members that a call adds to sorted sets, over all its limits. Each costs the server about one ZADD.
const MAX_MEMBERS: u64 = 1_000;

/// A request under one limit whose arguments are valid.
pub struct Request<'c, A> {
    /// As the client named it. The state may have another key.
    pub key: Arg<'c>,
    pub algorithm: A,
    pub policy: Policy,
    /// Its name in the headers; the word of the algorithm if the client gives none.
    pub name: Option<&'c str>,
    /// The holder of a lease.
    pub id: Option<&'c [u8]>,
    pub cost: Cost,
    /// Charges as much of the cost as fits.
    pub partial: bool,
    /// Charges the cost whatever the limit says.
    pub always: bool,
    /// Allows what the limit denies.
    pub shadow: bool,
}

impl<'c, A: Algorithm> Request<'c, A> {
    /// A request with these arguments.
    ///
    /// # Errors
    /// The window or the limit is invalid, or what they describe cannot be represented.
    #[inline(always)]
    fn new(key: Arg<'c>, window: Arg<'c>, limit: Arg<'c>, options: &Options<'c>) -> Result<Self, Error> {
        let limit = parse_count(limit.bytes()).ok_or(Error::LIMIT)?;
        let policy = parse_policy::<A>(window, limit, options)?;
        Ok(Self {
            key,
            algorithm: A::new(&policy)?,
            policy,
            name: options.name,
            id: options.id,
            cost: options.cost.unwrap_or(Cost::ONE),
            partial: options.partial(),
            always: options.always(),
            shadow: options.shadow(),
        })
    }

    /// Parses `key window limit [options]`, and leaves what follows them.
    fn parse(args: &mut Args<'c>, grammar: &'static Grammar) -> Result<(Self, Options<'c>, Form), Error> {
        let (Some(key), Some(window), Some(limit)) = (args.next(), args.next(), args.next()) else {
            return Err(Error::ARITY);
        };
        let (options, form) = Options::parse(args, grammar)?;
        Ok((Self::new(key, window, limit, &options)?, options, form))
    }

    /// Parses the arguments of a command with one limit.
    ///
    /// # Errors
    /// An argument is invalid, or the cost is too large for one call.
    pub fn parse_all(mut args: Args<'c>, grammar: &'static Grammar) -> Result<(Self, Options<'c>, Form), Error> {
        let (request, options, form) = Self::parse(&mut args, grammar)?;
        if !args.is_empty() {
            return Err(grammar.usage());
        }
        require_few_members([request.most_members_added()])?;
        Ok((request, options, form))
    }

    /// [`Request::parse_all`] for RL.<ALGO> and RL.PEEK. Faster for requests without options, as most are.
    ///
    /// # Errors
    /// As [`Request::parse_all`].
    #[inline(always)]
    pub fn parse_request(
        mut args: Args<'c>,
        grammar: &'static Grammar,
    ) -> Result<(Self, Option<Reserve<'c>>, Form), Error> {
        if args.len() == 3
            && let (Some(key), Some(window), Some(limit)) = (args.next(), args.next(), args.next())
        {
            return Ok((Self::new(key, window, limit, &Options::default())?, None, Form::Verdict));
        }
        Self::parse_all(args, grammar).map(|(request, options, form)| (request, options.reserve, form))
    }

    /// `key window limit [options]` of RL.<ALGO>.
    pub const CHECK: &'static Grammar = &Grammar::new(Taker::Check, Some(A::NAME));

    /// `key window limit [options]` of a limit of RL.MULTI.
    const IN_MULTI: &'static Grammar = &Grammar::new(Taker::Multi, Some(A::NAME));

    /// The error for a word that follows the last limit of RL.MULTI.
    pub fn usage_in_multi(&self) -> Error {
        Self::IN_MULTI.usage()
    }

    /// Parses a limit of RL.MULTI, and leaves what follows it.
    ///
    /// # Errors
    /// An argument is invalid or missing.
    pub fn parse_limit(args: &mut Args<'c>) -> Result<(Self, Option<Reserve<'c>>), Error> {
        if args.len() < 3 {
            return Err(Error::LIMIT_ARITY);
        }
        let (request, options, _) = Self::parse(args, Self::IN_MULTI)?;
        request.require_id()?;
        Ok((request, options.reserve))
    }

    /// The most members of a sorted set that the request can add: none if the limit can never hold the cost.
    pub fn most_members_added(&self) -> u64 {
        match Cost::new(self.policy.capacity()) {
            Some(most) if most < self.cost => {
                if self.partial {
                    self.algorithm.members_added(most)
                } else {
                    0
                }
            }
            _ => self.algorithm.members_added(self.cost),
        }
    }

    /// Rejects a request for a lease that names no holder.
    ///
    /// # Errors
    /// [`Error::ID_MISSING`].
    #[inline(always)]
    pub fn require_id(&self) -> Result<(), Error> {
        if matches!(A::NAME, Name::Lease) && self.id.is_none() { Err(Error::ID_MISSING) } else { Ok(()) }
    }

    /// The key of the state.
    ///
    /// # Errors
    /// See [`state_key`].
    #[inline(always)]
    pub fn state_key(&self, ctx: Ctx<'c>, now: Micros, purpose: Purpose) -> Result<ClosedKey<'c>, Error> {
        state_key(&self.algorithm, ctx, self.key, now, purpose)
    }

    /// Loads the state and decides on the request.
    ///
    /// # Errors
    /// The key holds a value that is no state of the algorithm, or the state cannot represent the result.
    #[inline(always)]
    pub fn decide(self, key: ClosedKey<'c>, now: Micros, purpose: Purpose) -> Result<Pending<'c, A>, Error> {
        let ctx = key.ctx();
        let mut loaded = self.algorithm.load(key, self.id, now, purpose)?;
        let cost = if self.partial { self.part_that_fits(&loaded, now) } else { self.cost };
        let decision = self.decide_at(&mut loaded, now, cost)?;
        Ok(self.pend(loaded, decision, cost, now, ctx))
    }

    /// The decision that describes the state after a correction, which is committed: no error may follow. A request that
    /// the state cannot count is denied.
    ///
    /// # Errors
    /// As [`Request::decide`], but for that.
    pub fn decide_afterwards(self, key: ClosedKey<'c>, now: Micros) -> Result<Pending<'c, A>, Error> {
        let ctx = key.ctx();
        let mut loaded = self.algorithm.load(key, self.id, now, Purpose::Read)?;
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
        self,
        loaded: A::Loaded<'c>,
        mut decision: Decision<A::Change>,
        cost: Cost,
        now: Micros,
        ctx: Ctx<'c>,
    ) -> Pending<'c, A> {
        let shadowed = !decision.verdict.allowed && self.is_in_shadow_mode();
        if shadowed {
            self.allow(&loaded, &mut decision, now);
        }
        if A::CHANGES_LESS_IN_SHADOW && self.is_in_shadow_mode() {
            decision.change = self.algorithm.in_shadow(&loaded, now, decision.change);
        }
        Pending { request: self, loaded, decision, cost, now, ctx, out_of_memory: false, shadowed }
    }

    /// Whether the limit denies nothing, whatever it decides.
    #[inline(always)]
    pub fn is_in_shadow_mode(&self) -> bool {
        self.shadow || config::shadow()
    }

    /// Decides on the request at another cost.
    #[inline(always)]
    fn decide_at(&self, loaded: &mut A::Loaded<'c>, now: Micros, cost: Cost) -> Result<Decision<A::Change>, Error> {
        if self.always { self.decide_always(loaded, now, cost) } else { self.algorithm.decide_on(loaded, now, cost) }
    }

    /// Cold, so that requests without ALWAYS do not pay for it.
    #[cold]
    fn decide_always(&self, loaded: &mut A::Loaded<'c>, now: Micros, cost: Cost) -> Result<Decision<A::Change>, Error> {
        (A::ALWAYS.ok_or(Error::INTERNAL)?)(&self.algorithm, loaded, now, cost)
    }

    /// Allows a request that the limit denies. The change stays that of a denial.
    #[cold]
    pub(super) fn allow(&self, loaded: &A::Loaded<'c>, decision: &mut Decision<A::Change>, now: Micros) {
        decision.verdict.allowed = true;
        if !A::TTL_OF_SCRIPT {
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

/// The policy of a window, a limit and options that the algorithm takes.
///
/// # Errors
/// The window is invalid.
#[inline(always)]
pub fn parse_policy<A: Algorithm>(window: Arg<'_>, limit: u64, options: &Options<'_>) -> Result<Policy, Error> {
    let &Options { burst, anchor, .. } = options;
    let schedule = match parse_window(window.bytes()) {
        Some(window) if anchor.is_none() => Schedule::Aligned(window),
        _ => parse_other_schedule::<A>(window, anchor)?,
    };
    Ok(Policy { schedule, limit, burst })
}

/// A window of the calendar, or one with an anchor.
#[cold]
fn parse_other_schedule<A: Algorithm>(window: Arg<'_>, anchor: Option<Anchor>) -> Result<Schedule, Error> {
    let takes_calendar = A::KEYWORDS.has(Keyword::Anchor);
    match parse_schedule(window.bytes(), anchor) {
        Some(Schedule::Calendar(..)) if !takes_calendar => Err(Error::no_calendar(A::NAME.word())),
        Some(schedule) => Ok(schedule),
        None => Err(if takes_calendar { Error::CALENDAR_WINDOW } else { Error::WINDOW }),
    }
}

/// Rejects a call that would add too many members to sorted sets. `members` is the number of each limit.
///
/// # Errors
/// [`Error::LOG_COST`].
pub fn require_few_members(members: impl IntoIterator<Item = u64>) -> Result<(), Error> {
    if members.into_iter().fold(0, u64::saturating_add) > MAX_MEMBERS { Err(Error::LOG_COST) } else { Ok(()) }
}

/// A request that is decided and not yet committed.
pub struct Pending<'c, A: Algorithm> {
    pub request: Request<'c, A>,
    pub loaded: A::Loaded<'c>,
    pub decision: Decision<A::Change>,
    /// The cost that was decided on: with PARTIAL, the part that fits.
    pub(super) cost: Cost,
    pub(super) now: Micros,
    ctx: Ctx<'c>,
    /// Denied because the server is at `maxmemory`, not by the limit.
    out_of_memory: bool,
    /// Allowed by shadow mode. The limit denies, and the change is that of a denial.
    pub(super) shadowed: bool,
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
        if A::TTL_OF_SCRIPT || (verdict.allowed && allowed) {
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
        denied::record(self.ctx, self.request.key.bytes(), A::NAME.word(), self.now.millis());
    }

    /// The outcome of the decision.
    #[inline(always)]
    pub fn outcome(&self) -> Outcome {
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
        let used = if A::COUNT_IS_AFTER { before } else { before.saturating_add(self.cost.units()) };
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
            Change::Charge(_) if self.request.always => self.cost.units(),
            // FIXED counts denials too. A charge in shadow mode is that of a denial.
            Change::Charge(_) if self.decision.verdict.allowed && !self.shadowed => {
                A::units_charged(&self.loaded, self.cost)
            }
            _ => 0,
        }
    }

    /// Everything that a reply says. `charged` is the units that the call charges under this limit.
    pub fn reply(&self, charged: u64) -> Reply {
        let Request { algorithm, policy, name, .. } = &self.request;
        let mut figures = algorithm.figures(&self.loaded, &self.decision, self.now);
        if self.out_of_memory {
            figures.retry_after_ms = figures.retry_after_ms.max(memory::RETRY_SECONDS.saturating_mul(1_000));
        }
        Reply {
            name: name.map_or_else(|| A::NAME.word().to_ascii_lowercase(), str::to_owned),
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

    /// Counts the decision for INFO, and a denial for RL.TOP. Inlined into every command, it makes the module 3 KB larger
    /// and no request faster: RL.TOKEN takes 11,000 instructions either way.
    #[inline(never)]
    pub(super) fn count(&self) {
        let outcome = self.outcome();
        A::decisions().count(outcome);
        if outcome >= Outcome::ShadowDenied {
            self.record_denial();
        }
    }

    /// The key as the client named it.
    pub fn key(&self) -> Arg<'c> {
        self.request.key
    }

    /// Counts the decision, and commits the change without its charge: another limit of the call denies.
    pub fn commit_uncharged(mut self) {
        self.drop_charge();
        self.commit();
    }

    /// Leaves the charge out of the change.
    pub(super) fn drop_charge(&mut self) {
        if matches!(self.decision.change, Change::Charge(_)) {
            self.decision.change = Change::Keep;
        }
    }

    /// Counts the decision, and commits the change.
    #[inline(always)]
    pub fn commit(self) {
        self.count();
        self.request.algorithm.commit(self.loaded, self.decision.change, self.now);
    }
}
