//! A request under one limit: its arguments, and how it decides on a state. `RL.<ALGO>`, RL.MULTI, RL.PEEK and
//! RL.THROTTLE all use it, and commit it as a [`Pending`](super::pending::Pending).

use redis_rl_algorithm::arithmetic::to_i64;
use redis_rl_algorithm::period::Anchor;
use redis_rl_algorithm::{Cost, Decision, Micros, Policy, Schedule};

use super::algorithms::Algorithm;
use super::name::Name;
use super::options::{Grammar, Options, Reserve, Taker};
use super::values::{parse_count, parse_schedule, parse_window};
use super::words::Form;
use crate::config;
use crate::error::Error;
use crate::ffi::{Arg, Args, ClosedKey, Ctx};
use crate::store::{Purpose, state_key};

/// The most members that a call adds to sorted sets, over all its limits. Each costs the server about one ZADD.
const MAX_MEMBERS: u64 = 1_000;

/// A request under one limit whose arguments are valid.
pub struct Request<'c, A> {
    /// As the client named it. The state may have another key.
    pub key: Arg<'c>,
    /// As the client wrote it.
    pub window: Arg<'c>,
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
    /// The same in RL.SHARE, where a narrower limit has paid.
    pub lends: bool,
    /// Allows what the limit denies.
    pub shadow: bool,
    /// In RL.SHARE, that the limit denies does not deny the request.
    pub ignores_shadow: bool,
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
            window,
            algorithm: A::new(&policy)?,
            policy,
            name: options.name,
            id: options.id,
            cost: options.cost.unwrap_or(Cost::ONE),
            partial: options.partial(),
            always: options.always(),
            lends: false,
            shadow: options.shadow(),
            ignores_shadow: false,
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
        if let Some(word) = args.next() {
            return Err(grammar.usage(word.bytes()));
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

    /// `key window limit [options]` of a limit of RL.MULTI or RL.SHARE.
    pub const fn of_several(taker: Taker) -> &'static Grammar {
        match taker {
            Taker::Share => const { &Grammar::new(Taker::Share, Some(A::NAME)) },
            _ => const { &Grammar::new(Taker::Multi, Some(A::NAME)) },
        }
    }

    /// Parses a limit of RL.MULTI or RL.SHARE, and leaves what follows it.
    ///
    /// # Errors
    /// An argument is invalid or missing.
    pub fn parse_limit(args: &mut Args<'c>, taker: Taker) -> Result<(Self, Option<Reserve<'c>>), Error> {
        if args.len() < 3 {
            return Err(Error::LIMIT_ARITY);
        }
        let mut ahead = args.clone();
        if let (Some(key), Some(window), Some(limit)) = (ahead.next(), ahead.next(), ahead.next())
            && ahead.clone().next().is_none_or(|next| Name::from_word(next.bytes()).is_some())
        {
            let request = Self::new(key, window, limit, &Options::default())?;
            request.require_id()?;
            *args = ahead;
            return Ok((request, None));
        }
        let (request, options, _) = Self::parse(args, Self::of_several(taker))?;
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
        if A::TRAITS.id && self.id.is_none() { Err(Error::ID_MISSING) } else { Ok(()) }
    }

    /// The key of the state.
    ///
    /// # Errors
    /// See [`state_key`].
    #[inline(always)]
    pub fn state_key(&self, ctx: Ctx<'c>, now: Micros, purpose: Purpose<'_>) -> Result<ClosedKey<'c>, Error> {
        state_key(&self.algorithm, ctx, self.key, now, purpose)
    }

    /// Whether the limit denies nothing, whatever it decides.
    #[inline(always)]
    pub fn is_in_shadow_mode(&self) -> bool {
        (self.shadow || config::shadow()) && !self.ignores_shadow
    }

    /// Decides on the request at another cost.
    #[inline(always)]
    pub(super) fn decide_at(
        &self,
        loaded: &mut A::Loaded<'c>,
        now: Micros,
        cost: Cost,
    ) -> Result<Decision<A::Change>, Error> {
        if self.always || self.lends {
            self.decide_always(loaded, now, cost)
        } else {
            self.algorithm.decide_on(loaded, now, cost)
        }
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

/// The policy of a window, a limit and options that the algorithm takes.
///
/// # Errors
/// The window is invalid.
#[inline(always)]
pub fn parse_policy<A: Algorithm>(window: Arg<'_>, limit: u64, options: &Options<'_>) -> Result<Policy, Error> {
    let &Options { burst, block, max, anchor, .. } = options;
    let schedule = match parse_window(window.bytes()) {
        Some(window) if anchor.is_none() => Schedule::Aligned(window),
        _ => parse_other_schedule::<A>(window, anchor)?,
    };
    Ok(Policy { schedule, limit, burst, block, max })
}

/// A window of the calendar, or one with an anchor.
#[cold]
fn parse_other_schedule<A: Algorithm>(window: Arg<'_>, anchor: Option<Anchor>) -> Result<Schedule, Error> {
    let takes_calendar = A::TRAITS.anchor;
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
