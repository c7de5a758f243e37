//! A request under one limit, from its arguments: `RL.<ALGO>`, RL.MULTI, RL.PEEK and RL.THROTTLE all use it.
//! [`super::decide`] decides on it.

use redis_rl_algorithm::integer::parse_count;
use redis_rl_algorithm::period::Anchor;
use redis_rl_algorithm::{Charging, Cost, Policy, Schedule, Window};

use super::algorithms::Algorithm;
use super::form::Form;
use super::name::Name;
use super::options::{Grammar, Keyword, Options, Reserve, Taker};
use crate::error::{Error, Message};
use crate::ffi::{Arg, Args};

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
    pub charging: Charging,
    /// Allows what the limit denies.
    pub shadow: bool,
    /// In RL.SHARE, that the limit denies does not deny the request.
    pub ignores_shadow: bool,
}

impl<'c, A: Algorithm> Request<'c, A> {
    /// A request with these arguments.
    #[inline(always)]
    fn new(key: Arg<'c>, window: Arg<'c>, limit: Arg<'c>, options: &Options<'c>) -> Result<Self, Error> {
        let limit = parse_count(limit.bytes()).ok_or_else(|| invalid_limit(limit))?;
        let policy = parse_policy::<A>(window, limit, options)?;
        Ok(Self {
            key,
            window,
            algorithm: A::new(&policy)?,
            policy,
            name: options.name,
            id: options.id,
            cost: options.cost.unwrap_or(Cost::ONE),
            partial: options.given.has(Keyword::Partial),
            charging: if options.given.has(Keyword::Always) { Charging::Always } else { Charging::IfAllowed },
            shadow: options.given.has(Keyword::Shadow),
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
    pub fn parse_all(mut args: Args<'c>, grammar: &'static Grammar) -> Result<(Self, Options<'c>, Form), Error> {
        let (request, options, form) = Self::parse(&mut args, grammar)?;
        if !args.is_empty() {
            return Err(grammar.usage());
        }
        require_few_members([request.most_members_added()])?;
        Ok((request, options, form))
    }

    /// [`Request::parse_all`] for RL.<ALGO> and RL.PEEK. Faster for requests without options, as most are.
    #[inline(always)]
    pub fn parse_request(
        mut args: Args<'c>,
        grammar: &'static Grammar,
    ) -> Result<(Self, Option<Reserve<'c>>, Form), Error> {
        if args.len() == 3
            && let (Some(key), Some(window), Some(limit)) = (args.next(), args.next(), args.next())
        {
            return Ok((Self::new(key, window, limit, &Options::NONE)?, None, Form::Verdict));
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
    pub fn parse_limit(args: &mut Args<'c>, taker: Taker) -> Result<(Self, Option<Reserve<'c>>), Error> {
        if args.len() < 3 {
            return Err(Error::LIMIT_ARITY);
        }
        let mut ahead = args.clone();
        if let (Some(key), Some(window), Some(limit)) = (ahead.next(), ahead.next(), ahead.next())
            && ahead.clone().next().is_none_or(|next| Name::from_word(next.bytes()).is_some())
        {
            let request = Self::new(key, window, limit, &Options::NONE)?;
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
    #[inline(always)]
    pub fn require_id(&self) -> Result<(), Error> {
        if A::TRAITS.id && self.id.is_none() { Err(Error::ID_MISSING) } else { Ok(()) }
    }
}

/// The error for a limit that is none.
#[cold]
fn invalid_limit(limit: Arg<'_>) -> Error {
    if Schedule::from_text(limit.bytes(), None).is_some() { Error::WINDOW_FIRST } else { Error::LIMIT }
}

/// The policy of a window, a limit and options that the algorithm takes.
#[inline(always)]
pub fn parse_policy<A: Algorithm>(window: Arg<'_>, limit: u64, options: &Options<'_>) -> Result<Policy, Error> {
    let &Options { burst, block, max, anchor, .. } = options;
    let schedule = match Window::from_text(window.bytes()) {
        Some(window) if anchor.is_none() => Schedule::Aligned(window),
        _ => parse_other_schedule::<A>(window, anchor)?,
    };
    Ok(Policy { schedule, limit, burst, block, max })
}

/// A window of the calendar, or one with an anchor.
#[cold]
fn parse_other_schedule<A: Algorithm>(window: Arg<'_>, anchor: Option<Anchor>) -> Result<Schedule, Error> {
    let takes_calendar = A::TRAITS.anchor;
    match Schedule::from_text(window.bytes(), anchor) {
        Some(Schedule::Calendar(..)) if !takes_calendar => Err(Error::new(Message::NoCalendar(A::NAME.word()))),
        Some(schedule) => Ok(schedule),
        None => Err(if takes_calendar { Error::CALENDAR_WINDOW } else { Error::WINDOW }),
    }
}

/// Rejects a call that would add too many members to sorted sets. `members` is the number of each limit.
pub fn require_few_members(members: impl IntoIterator<Item = u64>) -> Result<(), Error> {
    if members.into_iter().fold(0, u64::saturating_add) > MAX_MEMBERS { Err(Error::LOG_COST) } else { Ok(()) }
}
