//! `RL.MULTI numlimits <ALGO> key window limit [options] [<ALGO> key window limit [options] …] [FULL | LINE | HEADERS]`:
//! several limits at once, all or nothing.
//!
//! The options of a limit follow it; the form of the reply comes last. The first pass parses all limits, the second decides
//! them and charges none, and the third commits. If one limit denies, none is charged, not even the denials that FIXED
//! counts. A state that is ahead of the clock is still rebased, and an expiry is extended where this call needs that.

use std::ffi::c_int;

use arrayvec::ArrayVec;
use redis_rl_algorithm::integer::parse_unsigned;
use redis_rl_algorithm::{Micros, Verdict};

use super::Command;
use super::algorithms::{self, Algorithm};
use super::doc::{KEY, LIMIT, SINCE, WINDOW};
use super::memory;
use super::name::{NO_SUCH_ALGORITHM, Name};
use super::options::{Grammar, Keyword, List, MOST_ARGUMENTS, Reserve, Taker};
use super::pending::Pending;
use super::reply::{Reply, make_names_unique, write_multi};
use super::request::{Request, require_few_members};
use super::reserve::Reserving;
use super::words::{Form, Words};
use crate::error::Error;
use crate::ffi::{Arg, Args, Argument, ArgumentKind, ClosedKey, CommandDoc, Ctx, KeyPositions, KeySpec};
use crate::stats::{Outcome, STATS};
use crate::store::{Budget, Purpose};

/// The most limits in one call.
const MAX_LIMITS: u8 = 64;
const MAX: usize = MAX_LIMITS as usize;

/// The command.
pub struct Multi;

impl Command for Multi {
    const DOC: CommandDoc = CommandDoc {
        flags: c"write fast getkeys-api",
        acl: c"ratelimit write fast",
        summary: c"Checks a request against several limits and charges all of them, or none.",
        complexity: c"O(N) with N the number of limits; SLIDING, ROLLING, LEASE and RESERVE add what the command of the algorithm says",
        since: SINCE,
        keys: KeySpec::FromCommand(3),
        arguments: &[Argument::new(c"numlimits", ArgumentKind::Integer), LIMITS, Form::ARGUMENT],
        example: "RL.MULTI 2 TOKEN {org:7}:requests 60s 100 TOKEN {org:7}:tokens 60s 50000 COST 1200",
    };
    const KEY_POSITIONS: Option<KeyPositions> = Some(key_positions);

    fn run<'c>(ctx: Ctx<'c>, args: Args<'c>) -> Result<(), Error> {
        check_all(ctx, args).inspect_err(|_| STATS.multi.errors.increment())
    }
}

fn check_all<'c>(ctx: Ctx<'c>, mut args: Args<'c>) -> Result<(), Error> {
    if args.len() < 5 {
        return Err(Error::ARITY);
    }
    let count = args.next().and_then(|count| parse_count(count.bytes())).ok_or(Error::NUM_LIMITS)?;
    let (now, budget) = (Micros(ctx.now_micros()), Budget::of_call());
    // Each has room for MAX_LIMITS, and `count` is at most that.
    let mut limits = ArrayVec::<Limit<'c>, MAX>::new();
    let mut keys = ArrayVec::<Keys<'c>, MAX>::new();
    for number in 1..=count {
        let parsed = parse_limit(ctx, &mut args, now, &budget, &mut limits);
        let written = parsed.map_err(|error| error.of_limit(number))?;
        let repeats = |key: &ClosedKey<'_>| keys.iter().any(|other| other.has(key));
        if repeats(&written.state) || written.reserve.as_ref().is_some_and(|reserve| repeats(&reserve.1)) {
            return Err(Error::SAME_KEY.of_limit(number));
        }
        keys.push(written);
    }
    let form = parse_form(&mut args, &limits)?;
    require_few_members(limits.iter().map(|limit| limit.most_members_added()))?;

    let mut pending = ArrayVec::<_, MAX>::new();
    for ((limit, keys), number) in limits.iter().zip(keys.drain(..)).zip(1..) {
        limit.decide(keys, now, &budget, &mut pending).map_err(|error| error.of_limit(number))?;
    }
    let allowed = pending.iter().all(|limit| limit.verdict().allowed);
    let allowed = allowed && require_memory(ctx, &mut pending)?;
    let mut replies = Vec::new();
    if form != Form::Verdict {
        replies.extend(pending.iter().map(|limit| limit.reply(allowed)));
        make_names_unique(&mut replies);
    }
    let mut verdicts = ArrayVec::<_, MAX>::new();
    let mut outcome = Outcome::Allowed;
    for limit in pending.drain(..) {
        verdicts.push(limit.verdict());
        outcome = outcome.max(limit.commit(allowed));
    }
    STATS.multi.count(if allowed { outcome } else { Outcome::Denied });
    write_multi(ctx, form, allowed, &verdicts, &replies);
    Ok(())
}

/// The keys that a limit writes.
struct Keys<'c> {
    state: ClosedKey<'c>,
    /// With RESERVE.
    reserve: Option<Box<(Reserve<'c>, ClosedKey<'c>)>>,
}

impl Keys<'_> {
    fn has(&self, key: &ClosedKey<'_>) -> bool {
        let is_same = |own: &ClosedKey<'_>| own.name().bytes() == key.name().bytes();
        is_same(&self.state) || self.reserve.as_ref().is_some_and(|reserve| is_same(&reserve.1))
    }
}

/// Applies `rl.on-oom` if the server is at `maxmemory` and limits that all allow need memory. Returns whether they still
/// allow.
///
/// # Errors
/// [`Error::OUT_OF_MEMORY`] if `rl.on-oom` is `error`.
fn require_memory<'c>(ctx: Ctx<'c>, pending: &mut [DecidedLimit<'c>]) -> Result<bool, Error> {
    let growing = pending.iter().find(|limit| limit.needs_memory());
    if !growing.is_some_and(|limit| ctx.out_of_memory(limit.key())) {
        return Ok(true);
    }
    if pending.iter().any(|limit| limit.needs_memory() && !limit.is_in_shadow_mode()) {
        let uncounted = memory::allows_uncounted(ctx, false)?;
        for limit in pending {
            let allow = uncounted || !limit.needs_memory() || limit.is_in_shadow_mode();
            limit.leave_uncharged(allow)?;
        }
        return Ok(uncounted);
    }
    // Only limits in shadow mode need the memory. The others are charged.
    memory::allows_uncounted(ctx, true)?;
    for limit in pending.iter_mut().filter(|limit| limit.needs_memory()) {
        limit.leave_uncharged(true)?;
    }
    Ok(true)
}

fn parse_count(text: &[u8]) -> Option<u8> {
    let count = parse_unsigned(text).and_then(|n| u8::try_from(n).ok());
    count.filter(|count| (1..=MAX_LIMITS).contains(count))
}

/// The form of the reply after the last limit, or nothing.
fn parse_form<'c>(args: &mut Args<'c>, limits: &[Limit<'c>]) -> Result<Form, Error> {
    let mut form = Form::Verdict;
    while let Some(word) = args.next_word() {
        form = match Form::from_word(word) {
            Some(named) => form.and(named)?,
            None if form != Form::Verdict => return Err(Form::NOT_LAST),
            None if Name::from_word(word).is_some() => return Err(Error::MORE_LIMITS),
            None => {
                let number = u8::try_from(limits.len()).unwrap_or(MAX_LIMITS);
                return Err(limits.last().map_or(Error::NUM_LIMITS, |limit| limit.usage(word)).of_limit(number));
            }
        };
    }
    Ok(form)
}

/// Parses `<ALGO> key window limit [options]` into `limits`. Returns the keys that the limit writes.
fn parse_limit<'c>(
    ctx: Ctx<'c>,
    args: &mut Args<'c>,
    now: Micros,
    budget: &Budget,
    limits: &mut ArrayVec<Limit<'c>, MAX>,
) -> Result<Keys<'c>, Error> {
    let word = args.next_word().ok_or(Error::FEWER_LIMITS)?;
    let Some(name) = Name::from_word(word) else {
        return Err(match Form::from_word(word) {
            Some(_) if args.is_empty() => Error::FEWER_LIMITS,
            Some(_) => Form::NOT_LAST,
            None => NO_SUCH_ALGORITHM,
        });
    };
    for_algorithm!(name, A => {
        let (request, reserve) = Request::<A>::parse_limit(args)?;
        let state = request.state_key(ctx, now, Purpose::Write(budget))?;
        let reserve = match reserve {
            None => None,
            Some(reserve) => Some(Box::new((reserve, request.hash_key(ctx)?))),
        };
        limits.push(request.into());
        Ok(Keys { state, reserve })
    })
}

/// Reports the positions of the keys of a call, up to the first word that can be no part of a limit. The command itself
/// replies the error.
fn key_positions(args: Args<'_>, report: &mut dyn FnMut(c_int)) {
    let mut words = args.zip(1..).skip(1);
    while let Some((word, _)) = words.next() {
        let further = if Name::from_word(word.bytes()).is_some() {
            if let Some((_, position)) = words.next() {
                report(position);
            }
            2
        } else if let Some(option) = Keyword::from_word(word.bytes()) {
            option.values()
        } else {
            return;
        };
        for _ in 0..further {
            words.next();
        }
    }
}

/// An enum that holds `$one` of any algorithm: a call needs no memory of its own for its limits.
macro_rules! any {
    (($(#[$doc:meta])* $any:ident of $one:ident) $($name:ident => $type:ty { $($text:tt)* })*) => {
        $(#[$doc])*
        enum $any<'c> {
            $($name($one<'c, $type>),)*
        }

        $(impl<'c> From<$one<'c, $type>> for $any<'c> {
            #[inline(always)]
            fn from(one: $one<'c, $type>) -> Self {
                Self::$name(one)
            }
        })*
    };
}

/// `with_table!(match_any(Limit, limit, request => expression))`: evaluates the expression with what such an enum holds.
macro_rules! match_any {
    (($any:ident, $value:expr, $one:ident => $action:expr) $($name:ident => $type:ty { $($text:tt)* })*) => {
        match $value {
            $($any::$name($one) => $action,)*
        }
    };
}

with_table!(any(
    /// A request under a limit of any algorithm.
    Limit of Request
));

impl Limit<'_> {
    fn most_members_added(&self) -> u64 {
        with_table!(match_any(Limit, self, request => request.most_members_added()))
    }

    /// The error for a word that follows the last limit.
    fn usage(&self, word: &[u8]) -> Error {
        with_table!(match_any(Limit, self, request => request.usage_in_multi(word)))
    }

    /// Decides into `decided`. See [`Request::decide`] and [`Request::decide_reserving`].
    fn decide<'r>(
        &'r self,
        keys: Keys<'r>,
        now: Micros,
        budget: &Budget,
        decided: &mut ArrayVec<DecidedLimit<'r>, MAX>,
    ) -> Result<(), Error> {
        with_table!(match_any(Limit, self, request => {
            decided.push(Decided::new(request, keys, now, budget)?.into());
            Ok(())
        }))
    }
}

with_table!(any(
    /// A limit of any algorithm that is decided and not yet committed.
    DecidedLimit of Decided
));

impl<'c> DecidedLimit<'c> {
    fn key(&self) -> Arg<'c> {
        with_table!(match_any(DecidedLimit, self, limit => limit.pending.request.key))
    }

    fn verdict(&self) -> Verdict {
        with_table!(match_any(DecidedLimit, self, limit => limit.pending.decision.verdict))
    }

    fn is_in_shadow_mode(&self) -> bool {
        with_table!(match_any(DecidedLimit, self, limit => limit.pending.request.is_in_shadow_mode()))
    }

    fn needs_memory(&self) -> bool {
        with_table!(match_any(DecidedLimit, self, limit => limit.needs_memory()))
    }

    fn leave_uncharged(&mut self, allowed: bool) -> Result<(), Error> {
        with_table!(match_any(DecidedLimit, self, limit => limit.leave_uncharged(allowed)))
    }

    /// `allowed` says whether the call is allowed; otherwise nothing is charged.
    fn reply(&self, allowed: bool) -> Reply {
        with_table!(match_any(DecidedLimit, self, limit => limit.reply(allowed)))
    }

    /// Counts the decision. If the call is not `allowed`, commits nothing that it charges.
    #[inline(always)]
    fn commit(self, allowed: bool) -> Outcome {
        with_table!(match_any(DecidedLimit, self, limit => limit.commit(allowed)))
    }
}

/// See [`DecidedLimit`].
struct Decided<'c, A: Algorithm> {
    pending: Pending<'c, A>,
    /// With RESERVE.
    reserving: Option<Box<Reserving<'c>>>,
}

impl<'c, A: Algorithm> Decided<'c, A> {
    fn new(request: &'c Request<'c, A>, keys: Keys<'c>, now: Micros, budget: &Budget) -> Result<Self, Error> {
        Ok(match keys.reserve {
            None => Self { pending: request.decide(keys.state, now, Purpose::Write(budget))?, reserving: None },
            Some(reserve) => {
                let (reserve, hash) = *reserve;
                let (pending, reserving) = request.decide_reserving(keys.state, hash, reserve, now, budget)?;
                Self { pending, reserving: Some(Box::new(reserving)) }
            }
        })
    }

    fn needs_memory(&self) -> bool {
        match &self.reserving {
            None => self.pending.needs_memory(),
            Some(reserving) => reserving.needs_memory(&self.pending),
        }
    }

    fn leave_uncharged(&mut self, allowed: bool) -> Result<(), Error> {
        match &mut self.reserving {
            None => self.pending.leave_uncharged(allowed),
            Some(reserving) => reserving.leave_uncharged(&mut self.pending, allowed),
        }
    }

    fn reply(&self, allowed: bool) -> Reply {
        match &self.reserving {
            None => self.pending.reply(if allowed { self.pending.charged() } else { 0 }),
            Some(reserving) => reserving.reply(&self.pending, allowed),
        }
    }

    #[inline(always)]
    fn commit(self, allowed: bool) -> Outcome {
        let Self { pending, reserving } = self;
        match reserving {
            None if allowed => pending.commit(),
            None => pending.commit_uncharged(),
            Some(reserving) => reserving.commit(pending, allowed),
        }
    }
}

const LIMITS: Argument = Argument::new(c"limits", ArgumentKind::Block(LIMIT_ARGUMENTS.as_slice())).multiple();

static LIMIT_ARGUMENTS: List<Argument, MOST_ARGUMENTS> =
    Grammar::new(Taker::Multi, None).arguments(&[algorithms::ARGUMENT, KEY, WINDOW, LIMIT]);
