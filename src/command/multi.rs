//! `RL.MULTI numlimits <ALGO> key window limit [options] [<ALGO> key window limit [options] …] [FULL | LINE | HEADERS]`:
//! several limits at once, all or nothing.
//!
//! The options of a limit follow it; the form of the reply comes last. The first pass parses all limits, the second decides
//! them and charges none, and the third commits. If one limit denies, none is charged, not even the denials that FIXED
//! counts. A state that is ahead of the clock is still rebased, and an expiry is extended where this call needs that.

use std::ffi::c_int;

use redis_rl_algorithm::integer::parse_unsigned;
use redis_rl_algorithm::{Micros, Verdict};

use super::Command;
use super::algorithms::{self, AnyPending, AnyRequest};
use super::doc::{KEY, LIMIT, SINCE, WINDOW};
use super::memory;
use super::name::{NO_SUCH_ALGORITHM, Name};
use super::options::{Grammar, List, MOST_ARGUMENTS, Reserve, Taker};
use super::reply::{Replies, Reply, make_names_unique};
use super::request::require_few_members;
use super::reserve::Reserving;
use super::words::{Form, Words};
use crate::error::Error;
use crate::ffi::{Arg, Args, Argument, ArgumentKind, ClosedKey, CommandDoc, Ctx, KeyPositions, KeySpec};
use crate::stats::{Outcome, STATS};
use crate::store::{Budget, Purpose};

/// The most limits in one call.
const MAX_LIMITS: u8 = 64;

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
    let now = Micros(ctx.now_micros());
    let mut limits: Vec<AnyRequest<'c>> = Vec::with_capacity(count.into());
    let mut keys: Vec<ClosedKey<'c>> = Vec::with_capacity(count.into());
    // Of the limits with RESERVE, in their order.
    let mut reserves: Vec<(u8, Reserve<'c>, ClosedKey<'c>)> = Vec::new();
    for number in 1..=count {
        let (limit, reserve) = parse_limit(&mut args).map_err(|error| error.of_limit(number))?;
        let key = limit.state_key(ctx, now).map_err(|error| error.of_limit(number))?;
        if keys.iter().any(|other| is_same(other, &key)) {
            return Err(Error::SAME_KEY.of_limit(number));
        }
        limits.push(limit);
        keys.push(key);
        if let (Some(reserve), Some(limit)) = (reserve, limits.last()) {
            let hash = limit.hash_key(ctx).map_err(|error| error.of_limit(number))?;
            if reserves.iter().any(|(_, _, other)| is_same(other, &hash)) {
                return Err(Error::SAME_KEY.of_limit(number));
            }
            reserves.push((number, reserve, hash));
        }
    }
    let form = parse_form(&mut args, &limits)?;
    require_few_members(limits.iter().map(AnyRequest::most_members_added))?;

    let budget = Budget::of_call();
    let mut pending = Vec::with_capacity(count.into());
    let mut reserves = reserves.into_iter().peekable();
    for ((limit, key), number) in limits.into_iter().zip(keys).zip(1..) {
        let decided = match reserves.next_if(|(of, _, _)| *of == number) {
            None => limit.decide(key, now, &budget),
            Some((_, reserve, hash)) => limit.decide_reserving(key, hash, reserve, now, &budget),
        };
        pending.push(decided.map_err(|error| error.of_limit(number))?);
    }
    let allowed = pending.iter().all(|limit| limit.verdict().allowed);
    let allowed = allowed && require_memory(ctx, &mut pending)?;
    let replies = match form {
        Form::Verdict => Replies::Verdicts(pending.iter().map(PendingLimit::verdict).collect()),
        Form::Full | Form::Line | Form::Headers => {
            let mut replies: Vec<Reply> = pending.iter().map(|limit| limit.reply(allowed)).collect();
            make_names_unique(&mut replies);
            Replies::Whole(replies)
        }
    };
    let outcome = pending.iter().map(PendingLimit::outcome).max().unwrap_or(Outcome::Allowed);
    STATS.multi.count(if allowed { outcome } else { Outcome::Denied });
    for limit in pending {
        limit.commit(allowed);
    }
    replies.write(ctx, form, allowed);
    Ok(())
}

/// Whether two limits of the call would write one key. (No state has the name of a hash: see [`Request::state_key`].)
///
/// [`Request::state_key`]: super::request::Request::state_key
fn is_same(one: &ClosedKey<'_>, other: &ClosedKey<'_>) -> bool {
    one.name().bytes() == other.name().bytes()
}

/// Applies `rl.on-oom` if the server is at `maxmemory` and limits that all allow need memory. Returns whether they still
/// allow.
///
/// # Errors
/// [`Error::OUT_OF_MEMORY`] if `rl.on-oom` is `error`.
fn require_memory<'c>(ctx: Ctx<'c>, pending: &mut [PendingLimit<'c>]) -> Result<bool, Error> {
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
fn parse_form(args: &mut Args<'_>, limits: &[AnyRequest<'_>]) -> Result<Form, Error> {
    let mut form = Form::Verdict;
    while let Some(word) = args.next_word() {
        form = match Form::from_word(word) {
            Some(named) => form.and(named)?,
            None if form != Form::Verdict => return Err(Form::NOT_LAST),
            None if Name::from_word(word).is_some() => return Err(Error::MORE_LIMITS),
            None => {
                let number = u8::try_from(limits.len()).unwrap_or(MAX_LIMITS);
                return Err(limits.last().map_or(Error::NUM_LIMITS, AnyRequest::usage).of_limit(number));
            }
        };
    }
    Ok(form)
}

/// `<ALGO> key window limit [options]`.
fn parse_limit<'c>(args: &mut Args<'c>) -> Result<(AnyRequest<'c>, Option<Reserve<'c>>), Error> {
    let word = args.next_word().ok_or(Error::FEWER_LIMITS)?;
    match Name::from_word(word) {
        Some(name) => AnyRequest::parse(name, args),
        None if Form::from_word(word).is_some() && args.is_empty() => Err(Error::FEWER_LIMITS),
        None if Form::from_word(word).is_some() => Err(Form::NOT_LAST),
        None => Err(NO_SUCH_ALGORITHM),
    }
}

/// The positions of the keys of a call. Stops at the first word that fits no limit; the command itself replies the
/// error.
fn key_positions(args: Args<'_>) -> Vec<c_int> {
    let mut rest = args.clone();
    let count = rest.next_word().and_then(parse_count).unwrap_or(0);
    let mut positions = Vec::with_capacity(count.into());
    for _ in 0..count {
        // The name of the command is position 0.
        let algorithm_at = args.len().saturating_sub(rest.len()).saturating_add(1);
        positions.extend(c_int::try_from(algorithm_at.saturating_add(1)));
        if parse_limit(&mut rest).is_err() {
            break;
        }
    }
    positions
}

impl<'c> AnyRequest<'c> {
    fn state_key(&self, ctx: Ctx<'c>, now: Micros) -> Result<ClosedKey<'c>, Error> {
        with_any!(AnyRequest, self, request => request.state_key(ctx, now, Purpose::Write(&Budget::of_call())))
    }

    fn most_members_added(&self) -> u64 {
        with_any!(AnyRequest, self, request => request.most_members_added())
    }

    fn hash_key(&self, ctx: Ctx<'c>) -> Result<ClosedKey<'c>, Error> {
        with_any!(AnyRequest, self, request => request.hash_key(ctx))
    }

    fn decide(self, key: ClosedKey<'c>, now: Micros, budget: &Budget) -> Result<PendingLimit<'c>, Error> {
        let pending =
            map_any!(AnyRequest => AnyPending, self, request => request.decide(key, now, Purpose::Write(budget))?);
        Ok(PendingLimit { pending, reserving: None })
    }

    #[cold]
    fn decide_reserving(
        self,
        key: ClosedKey<'c>,
        hash: ClosedKey<'c>,
        reserve: Reserve<'c>,
        now: Micros,
        budget: &Budget,
    ) -> Result<PendingLimit<'c>, Error> {
        let of_limit;
        let pending = map_any!(AnyRequest => AnyPending, self, request => {
            let (pending, reserving) = request.decide_reserving(key, hash, reserve, now, budget)?;
            of_limit = reserving;
            pending
        });
        Ok(PendingLimit { pending, reserving: Some(Box::new(of_limit)) })
    }

    fn usage(&self) -> Error {
        with_any!(AnyRequest, self, request => request.usage_in_multi())
    }
}

/// A limit that is decided and not yet committed.
struct PendingLimit<'c> {
    pending: AnyPending<'c>,
    /// With RESERVE.
    reserving: Option<Box<Reserving<'c>>>,
}

impl<'c> PendingLimit<'c> {
    fn key(&self) -> Arg<'c> {
        with_any!(AnyPending, &self.pending, pending => pending.key())
    }

    fn verdict(&self) -> Verdict {
        with_any!(AnyPending, &self.pending, pending => pending.decision.verdict)
    }

    fn needs_memory(&self) -> bool {
        with_any!(AnyPending, &self.pending, pending => match &self.reserving {
            None => pending.needs_memory(),
            Some(reserving) => reserving.needs_memory(pending),
        })
    }

    fn is_in_shadow_mode(&self) -> bool {
        with_any!(AnyPending, &self.pending, pending => pending.request.is_in_shadow_mode())
    }

    fn outcome(&self) -> Outcome {
        with_any!(AnyPending, &self.pending, pending => pending.outcome())
    }

    fn leave_uncharged(&mut self, allowed: bool) -> Result<(), Error> {
        with_any!(AnyPending, &mut self.pending, pending => match &mut self.reserving {
            None => pending.leave_uncharged(allowed),
            Some(reserving) => reserving.leave_uncharged(pending, allowed),
        })
    }

    /// `allowed` says whether the call is allowed; otherwise nothing is charged.
    fn reply(&self, allowed: bool) -> Reply {
        with_any!(AnyPending, &self.pending, pending => match &self.reserving {
            None => pending.reply(if allowed { pending.charged() } else { 0 }),
            Some(reserving) => reserving.reply(pending, allowed),
        })
    }

    /// If the call is not `allowed`, commits nothing that it charges.
    fn commit(self, allowed: bool) {
        with_any!(AnyPending, self.pending, pending => match self.reserving {
            None if allowed => pending.commit(),
            None => pending.commit_uncharged(),
            Some(reserving) => reserving.commit(pending, allowed),
        });
    }
}

const LIMITS: Argument = Argument::new(c"limits", ArgumentKind::Block(LIMIT_ARGUMENTS.as_slice())).multiple();

static LIMIT_ARGUMENTS: List<Argument, MOST_ARGUMENTS> =
    Grammar::new(Taker::Multi, None).arguments(&[algorithms::ARGUMENT, KEY, WINDOW, LIMIT]);
