//! `RL.MULTI numlimits <ALGO> key window limit [options] [<ALGO> key window limit [options] …] [FULL | LINE | HEADERS]`:
//! several limits at once, all or nothing.
//!
//! The options of a limit follow it; the form of the reply comes last. The first pass parses all limits, the second decides
//! them and charges none, and the third commits. If one limit denies, none is charged, not even the denials that FIXED
//! counts. A state that is ahead of the clock is still rebased, and an expiry is extended where this call needs that.

use std::ffi::c_int;
use std::hash::BuildHasher;

use arrayvec::ArrayVec;
use foldhash::fast::FixedState;
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
        arity: -6,
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
    let count = args.next().and_then(|count| parse_count(count.bytes())).ok_or(Error::NUM_LIMITS)?;
    let (now, budget) = (Micros(ctx.now_micros()), Budget::of_call());
    // Each has room for MAX_LIMITS, and `count` is at most that.
    let mut limits = ArrayVec::<Box<dyn Limit + 'c>, MAX>::new();
    let mut keys = ArrayVec::<Keys<'c>, MAX>::new();
    let mut names = Names::default();
    for number in 1..=count {
        let (limit, written) = parse_limit(ctx, &mut args, now, &budget).map_err(|error| error.of_limit(number))?;
        let mut repeats = |key: &ClosedKey<'_>| names.may_repeat(key) && keys.iter().any(|other| other.has(key));
        if repeats(&written.state) || written.reserve.as_ref().is_some_and(|reserve| repeats(&reserve.1)) {
            return Err(Error::SAME_KEY.of_limit(number));
        }
        limits.push(limit);
        keys.push(written);
    }
    let form = parse_form(&mut args, &limits)?;
    require_few_members(limits.iter().map(|limit| limit.most_members_added()))?;

    let mut pending = ArrayVec::<_, MAX>::new();
    for ((limit, keys), number) in limits.iter().zip(keys.drain(..)).zip(1..) {
        pending.push(limit.decide(keys, now, &budget).map_err(|error| error.of_limit(number))?);
    }
    let allowed = pending.iter().all(|limit| limit.verdict().allowed);
    let allowed = allowed && require_memory(ctx, &mut pending)?;
    let verdicts: ArrayVec<Verdict, MAX> = pending.iter().map(|limit| limit.verdict()).collect();
    let mut replies = Vec::new();
    if form != Form::Verdict {
        replies.extend(pending.iter().map(|limit| limit.reply(allowed)));
        make_names_unique(&mut replies);
    }
    let outcome = pending.iter().map(|limit| limit.outcome()).max().unwrap_or(Outcome::Allowed);
    STATS.multi.count(if allowed { outcome } else { Outcome::Denied });
    for limit in pending.drain(..) {
        limit.commit(allowed);
    }
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

/// The names of the keys that a call writes, as a filter: what it has not seen is no repetition.
#[derive(Default)]
struct Names {
    seen: [u64; 16],
    hasher: FixedState,
}

impl Names {
    /// Adds a name. Returns whether it may have been added before.
    fn may_repeat(&mut self, key: &ClosedKey<'_>) -> bool {
        let hash = self.hasher.hash_one(key.name().bytes());
        let bit = 1 << (hash % 64);
        let Some(word) = self.seen.get_mut((hash / 64 % 16) as usize) else { return true };
        let seen = *word & bit != 0;
        *word |= bit;
        seen
    }
}

/// Applies `rl.on-oom` if the server is at `maxmemory` and limits that all allow need memory. Returns whether they still
/// allow.
///
/// # Errors
/// [`Error::OUT_OF_MEMORY`] if `rl.on-oom` is `error`.
fn require_memory<'c>(ctx: Ctx<'c>, pending: &mut [Box<dyn PendingLimit<'c> + 'c>]) -> Result<bool, Error> {
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
fn parse_form<'c>(args: &mut Args<'c>, limits: &[Box<dyn Limit + 'c>]) -> Result<Form, Error> {
    let mut form = Form::Verdict;
    while let Some(word) = args.next_word() {
        form = match Form::from_word(word) {
            Some(named) => form.and(named)?,
            None if form != Form::Verdict => return Err(Form::NOT_LAST),
            None if Name::from_word(word).is_some() => return Err(Error::MORE_LIMITS),
            None => {
                let number = u8::try_from(limits.len()).unwrap_or(MAX_LIMITS);
                return Err(limits.last().map_or(Error::NUM_LIMITS, |limit| limit.usage()).of_limit(number));
            }
        };
    }
    Ok(form)
}

/// `<ALGO> key window limit [options]`.
fn parse_limit<'c>(
    ctx: Ctx<'c>,
    args: &mut Args<'c>,
    now: Micros,
    budget: &Budget,
) -> Result<(Box<dyn Limit + 'c>, Keys<'c>), Error> {
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
        Ok((Box::new(request), Keys { state, reserve }))
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

/// A request under a limit of any algorithm.
trait Limit {
    fn most_members_added(&self) -> u64;

    /// The error for a word that follows the last limit.
    fn usage(&self) -> Error;

    /// See [`Request::decide`] and [`Request::decide_reserving`].
    fn decide<'r>(
        &'r self,
        keys: Keys<'r>,
        now: Micros,
        budget: &Budget,
    ) -> Result<Box<dyn PendingLimit<'r> + 'r>, Error>;
}

impl<A: Algorithm> Limit for Request<'_, A> {
    fn most_members_added(&self) -> u64 {
        self.most_members_added()
    }

    fn usage(&self) -> Error {
        self.usage_in_multi()
    }

    fn decide<'r>(
        &'r self,
        keys: Keys<'r>,
        now: Micros,
        budget: &Budget,
    ) -> Result<Box<dyn PendingLimit<'r> + 'r>, Error> {
        let request: &'r Request<'r, A> = self;
        Ok(match keys.reserve {
            None => {
                Box::new(Decided { pending: request.decide(keys.state, now, Purpose::Write(budget))?, reserving: None })
            }
            Some(reserve) => {
                let (reserve, hash) = *reserve;
                let (pending, reserving) = request.decide_reserving(keys.state, hash, reserve, now, budget)?;
                Box::new(Decided { pending, reserving: Some(Box::new(reserving)) })
            }
        })
    }
}

/// A limit that is decided and not yet committed, of any algorithm.
trait PendingLimit<'c> {
    fn key(&self) -> Arg<'c>;
    fn verdict(&self) -> Verdict;
    fn needs_memory(&self) -> bool;
    fn is_in_shadow_mode(&self) -> bool;
    fn outcome(&self) -> Outcome;
    fn leave_uncharged(&mut self, allowed: bool) -> Result<(), Error>;

    /// `allowed` says whether the call is allowed; otherwise nothing is charged.
    fn reply(&self, allowed: bool) -> Reply;

    /// If the call is not `allowed`, commits nothing that it charges.
    fn commit(self: Box<Self>, allowed: bool);
}

/// See [`PendingLimit`].
struct Decided<'c, A: Algorithm> {
    pending: Pending<'c, A>,
    /// With RESERVE.
    reserving: Option<Box<Reserving<'c>>>,
}

impl<'c, A: Algorithm> PendingLimit<'c> for Decided<'c, A> {
    fn key(&self) -> Arg<'c> {
        self.pending.request.key
    }

    fn verdict(&self) -> Verdict {
        self.pending.decision.verdict
    }

    fn needs_memory(&self) -> bool {
        match &self.reserving {
            None => self.pending.needs_memory(),
            Some(reserving) => reserving.needs_memory(&self.pending),
        }
    }

    fn is_in_shadow_mode(&self) -> bool {
        self.pending.request.is_in_shadow_mode()
    }

    fn outcome(&self) -> Outcome {
        self.pending.outcome()
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

    fn commit(self: Box<Self>, allowed: bool) {
        let Self { pending, reserving } = *self;
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
