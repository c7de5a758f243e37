//! A request under one limit, from its arguments to the commit. `RL.<ALGO>`, RL.MULTI, RL.PEEK and RL.THROTTLE all use
//! it, so a rule that belongs to every decision is here and nowhere else.

use super::args::{Accepted, Form, Options, parse_limit, parse_schedule, parse_window};
use super::memory;
use super::reply::Answer;
use crate::algorithm::arithmetic::to_i64;
use crate::algorithm::period::Anchor;
use crate::algorithm::{Change, Cost, Decision, Micros, Policy, Schedule};
use crate::config::{self, top_keys};
use crate::error::Error;
use crate::ffi::{Arg, Args, ClosedKey, Ctx};
use crate::stats::{Outcome, with_top};
use crate::store::{Purpose, StoredAlgorithm, Takes, state_key};

/// The most members that a call adds to sorted sets. Each costs the server about one ZADD.
const MAX_MEMBERS: u64 = 10_000;

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
    /// Allows what the limit denies.
    pub shadow: bool,
}

impl<'c, A: StoredAlgorithm> Request<'c, A> {
    /// Parses `key window limit [options]`, and leaves what follows the options. `form` is that of the reply; without
    /// it, FULL and HEADERS are no options.
    pub fn parse(
        args: &mut Args<'c>,
        accepted: &Accepted,
        form: Option<&mut Form>,
    ) -> Result<(Self, Options<'c>), Error> {
        let (Some(key), Some(window), Some(limit)) = (args.next(), args.next(), args.next()) else {
            return Err(Error::ARITY);
        };
        let options = Options::parse(args, form)?;
        options.require(accepted)?;
        require_taken::<A>(&options)?;
        let policy = parse_policy::<A>(window, parse_limit(limit.bytes())?, &options)?;
        let Options { cost, name, id, partial, shadow, .. } = options;
        let algorithm = A::new(&policy)?;
        Ok((Self { key, algorithm, policy, name, id, cost: cost.unwrap_or(Cost::ONE), partial, shadow }, options))
    }

    /// Parses the arguments of a command with one limit: [`Request::parse`], with no word left over.
    ///
    /// # Errors
    /// An argument is invalid, or the cost is too large for one call.
    pub fn parse_all(mut args: Args<'c>, accepted: &Accepted) -> Result<(Self, Options<'c>, Form), Error> {
        let mut form = Form::Verdict;
        let (request, options) = Self::parse(&mut args, accepted, Some(&mut form))?;
        if !args.is_empty() {
            return Err(Error::OPTION);
        }
        require_few_members([request.most_members_added()])?;
        Ok((request, options, form))
    }

    /// [`Request::parse_all`] of a request. Most of them have no options, and pay for none.
    ///
    /// # Errors
    /// As [`Request::parse_all`].
    #[inline(always)]
    pub fn parse_request(mut args: Args<'c>) -> Result<(Self, Form), Error> {
        if args.len() != 3 {
            return Self::parse_all(args, &Accepted::REQUEST).map(|(request, _, form)| (request, form));
        }
        let (Some(key), Some(window), Some(limit)) = (args.next(), args.next(), args.next()) else {
            return Err(Error::ARITY);
        };
        let policy = parse_policy::<A>(window, parse_limit(limit.bytes())?, &Options::default())?;
        let algorithm = A::new(&policy)?;
        let request =
            Self { key, algorithm, policy, name: None, id: None, cost: Cost::ONE, partial: false, shadow: false };
        Ok((request, Form::Verdict))
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
        if A::TAKES.has(Takes::ID) && self.id.is_none() { Err(Error::ID_MISSING) } else { Ok(()) }
    }

    /// The key of the state.
    ///
    /// # Errors
    /// See [`state_key`].
    #[inline(always)]
    pub fn key_of_state(&self, ctx: Ctx<'c>, now: Micros, purpose: Purpose) -> Result<ClosedKey<'c>, Error> {
        state_key(&self.algorithm, ctx, self.key, now, purpose)
    }

    /// Loads the state and decides on the request.
    ///
    /// # Errors
    /// The key holds what is no state of the algorithm, or the state cannot represent the result.
    #[inline(always)]
    pub fn decide_on(self, key: ClosedKey<'c>, now: Micros, purpose: Purpose) -> Result<Decided<'c, A>, Error> {
        let ctx = key.ctx();
        let mut loaded = self.algorithm.load_for(key, self.id, now, purpose)?;
        let cost = if self.partial { self.part_that_fits(&loaded, now) } else { self.cost };
        let mut decision = self.algorithm.decide_on(&mut loaded, now, cost)?;
        let shadowed = !decision.verdict.allowed && (self.shadow || config::shadow());
        if shadowed {
            self.allow_in_shadow(&loaded, &mut decision, now, cost);
        }
        Ok(Decided { request: self, loaded, decision, cost, now, ctx, out_of_memory: false, shadowed })
    }

    /// Replies that the request is allowed, which the limit denies. The change stays that of a denial.
    #[cold]
    fn allow_in_shadow(&self, loaded: &A::Loaded<'c>, decision: &mut Decision<A::Change>, now: Micros, cost: Cost) {
        decision.verdict.allowed = true;
        if !A::TTL_OF_SCRIPT {
            let reset_ms = self.algorithm.figures(loaded, decision, now, cost).reset_ms;
            decision.verdict.ttl = u64::try_from(reset_ms).map_or(-1, |ms| to_i64(ms.div_ceil(1_000)));
        }
    }

    /// How much of the cost fits now. If nothing does, a cost of 0 is denied and counted nowhere.
    #[cold]
    fn part_that_fits(&self, loaded: &A::Loaded<'c>, now: Micros) -> Cost {
        let remaining = self.algorithm.remaining(loaded, now);
        Cost::new(remaining).filter(|remaining| *remaining < self.cost).unwrap_or(self.cost)
    }
}

/// Rejects an option that the algorithm does not take.
///
/// # Errors
/// An error that names the option.
pub fn require_taken<A: StoredAlgorithm>(options: &Options<'_>) -> Result<(), Error> {
    let &Options { cost, partial, burst, anchor, id, .. } = options;
    let given = [
        (cost.is_some(), Takes::COST),
        (partial, Takes::PARTIAL),
        (burst.is_some(), Takes::BURST),
        (anchor.is_some(), Takes::ANCHOR),
        (id.is_some(), Takes::ID),
    ];
    let not_taken = given.into_iter().find(|&(given, option)| given && !A::TAKES.has(option));
    not_taken.map_or(Ok(()), |(_, option)| Err(A::takes_no(option)))
}

/// The policy of a window, a limit and options that the algorithm takes.
///
/// # Errors
/// The window is invalid.
#[inline(always)]
pub fn parse_policy<A: StoredAlgorithm>(window: Arg<'_>, limit: u64, options: &Options<'_>) -> Result<Policy, Error> {
    let &Options { burst, anchor, .. } = options;
    let schedule = match parse_window(window.bytes()) {
        Ok(window) if anchor.is_none() => Schedule::Aligned(window),
        _ => parse_other_schedule::<A>(window, anchor)?,
    };
    Ok(Policy { schedule, limit, burst })
}

/// A window of the calendar, or one with an anchor.
#[cold]
fn parse_other_schedule<A: StoredAlgorithm>(window: Arg<'_>, anchor: Option<Anchor>) -> Result<Schedule, Error> {
    match parse_schedule(window.bytes(), anchor) {
        Ok(Schedule::Calendar(..)) if !A::TAKES.has(Takes::ANCHOR) => Err(A::NO_CALENDAR),
        schedule => schedule,
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
pub struct Decided<'c, A: StoredAlgorithm> {
    pub request: Request<'c, A>,
    pub loaded: A::Loaded<'c>,
    pub decision: Decision<A::Change>,
    /// The cost that was decided on: with PARTIAL, the part that fits.
    cost: Cost,
    now: Micros,
    ctx: Ctx<'c>,
    /// Denied because the server is at `maxmemory`, not by the limit.
    out_of_memory: bool,
    /// Allowed by shadow mode. The limit denies, and the change is that of a denial.
    shadowed: bool,
}

impl<'c, A: StoredAlgorithm> Decided<'c, A> {
    /// Applies `rl.on-oom` if the server is at `maxmemory` and the change needs memory.
    ///
    /// # Errors
    /// [`Error::OUT_OF_MEMORY`] if `rl.on-oom` is `error`.
    #[inline(always)]
    pub fn require_memory(&mut self, ctx: Ctx<'c>) -> Result<(), Error> {
        if self.would_grow() && ctx.out_of_memory(self.request.key) {
            let allowed = memory::allows_uncounted(ctx)?;
            self.leave_uncounted(allowed)?;
        }
        Ok(())
    }

    /// Whether the change creates a key or makes one larger.
    #[inline(always)]
    pub fn would_grow(&self) -> bool {
        A::needs_memory(&self.loaded, &self.decision.change)
    }

    /// Charges nothing, because there is no memory. What the limit denies stays denied; `allowed` decides on the rest.
    /// The reply then describes the state as it is.
    #[cold]
    pub fn leave_uncounted(&mut self, allowed: bool) -> Result<(), Error> {
        let uncharged = self.request.algorithm.decide_on(&mut self.loaded, self.now, Cost::ZERO)?;
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
        if top_keys() > 0 {
            let (key, now_ms) = (self.request.key.bytes(), self.now.millis());
            with_top(self.ctx, |top| top.record(key, A::NAME, now_ms));
        }
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

    /// How long a request waits that is denied because the server is at `maxmemory`, in seconds; −1 for any other.
    pub fn wait_for_memory_seconds(&self) -> i64 {
        if self.out_of_memory { memory::RETRY_SECONDS } else { -1 }
    }

    /// Everything that a reply says.
    pub fn answer(&self) -> Answer {
        let Request { algorithm, policy, name, .. } = &self.request;
        let mut figures = algorithm.figures(&self.loaded, &self.decision, self.now, self.cost);
        if self.out_of_memory {
            figures.retry_after_ms = figures.retry_after_ms.max(memory::RETRY_SECONDS.saturating_mul(1_000));
        }
        Answer {
            name: name.map_or_else(|| A::NAME.to_ascii_lowercase(), str::to_owned),
            policy: *policy,
            quota_unit: A::QUOTA_UNIT,
            window_micros: algorithm.window_at(policy, self.now),
            verdict: self.decision.verdict,
            first: self.first_integer(),
            shadowed: self.shadowed,
            figures,
            now: self.now,
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

    /// Counts the decision for INFO, and a denial for RL.TOP. It is not inlined so that `make bench-instructions` can
    /// tell what counting costs.
    #[inline(never)]
    fn count(&self) {
        let outcome = self.outcome();
        A::decisions().count(outcome);
        if outcome >= Outcome::ShadowDenied {
            self.record_denial();
        }
    }

    /// Counts the decision, and commits the change.
    #[inline(always)]
    pub fn commit(self) {
        self.count();
        self.request.algorithm.commit(self.loaded, self.decision.change, self.now);
    }
}
