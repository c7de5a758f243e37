//! `RL.MULTI numlimits <ALGO> key window limit [options] [<ALGO> key window limit [options] …] [FULL | LINE | HEADERS]`:
//! several limits at once, all or nothing.
//!
//! If one limit denies, none is charged, not even the denials that FIXED counts. A state that is ahead of the clock is still
//! rebased, and an expiry is extended where this call needs that.

use arrayvec::ArrayVec;
use redis_rl_algorithm::{Micros, Verdict};

use super::Command;
use super::algorithms;
use super::decide::allows_uncounted;
use super::doc::{KEY, LIMIT, SINCE, WINDOW};
use super::form::Form;
use super::options::{Grammar, List, MOST_ARGUMENTS, Taker};
use super::reply::{strictest, write_several};
use super::several::{self, DecidedLimit, MAX, Rules, key_positions};
use crate::error::Error;
use crate::ffi::{Args, Argument, ArgumentKind, CommandDoc, Ctx, KeyPositions, KeySpec};
use crate::stats::{MULTI, Outcome};
use crate::store::Budget;

const RULES: Rules = Rules { taker: Taker::Multi, limits: 1..=64, num_limits: Error::NUM_LIMITS };

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
        check_all(ctx, args).inspect_err(|_| MULTI.errors.increment())
    }
}

fn check_all<'c>(ctx: Ctx<'c>, mut args: Args<'c>) -> Result<(), Error> {
    if args.len() < 5 {
        return Err(Error::ARITY);
    }
    let (now, budget) = (Micros(ctx.now_micros()), Budget::of_call());
    let (mut limits, mut keys) = (ArrayVec::new(), ArrayVec::new());
    let form = several::parse(ctx, &RULES, &mut args, (now, &budget), &mut limits, &mut keys)?;

    let (mut pending, mut verdicts) = (ArrayVec::<_, MAX>::new(), ArrayVec::<_, MAX>::new());
    for ((limit, keys), number) in limits.iter().zip(keys.drain(..)).zip(1..) {
        let verdict = limit.decide(keys, now, &budget, &mut pending);
        verdicts.push(verdict.map_err(|error| error.of_limit(number))?);
    }
    let allowed = verdicts.iter().all(|verdict| verdict.allowed) && require_memory(ctx, &mut pending, &mut verdicts)?;
    let mut replies = Vec::new();
    if form != Form::Verdict {
        replies.extend(pending.iter().map(|limit| limit.reply(allowed)));
    }
    let outcome = pending.drain(..).map(|limit| limit.commit(allowed)).max().filter(|_| allowed);
    MULTI.count(outcome.unwrap_or(Outcome::Denied));
    write_several(ctx, form, i64::from(allowed), &verdicts, &replies, strictest(&replies));
    Ok(())
}

/// Applies `rl.on-oom` if the server is at `maxmemory` and limits that all allow need memory. Returns whether they still
/// allow.
fn require_memory<'c>(ctx: Ctx<'c>, pending: &mut [DecidedLimit<'c>], verdicts: &mut [Verdict]) -> Result<bool, Error> {
    let growing = pending.iter().find(|limit| limit.needs_memory());
    if !growing.is_some_and(|limit| ctx.out_of_memory(limit.facts().key)) {
        return Ok(true);
    }
    let is_counted = |limit: &DecidedLimit<'_>| limit.needs_memory() && !limit.facts().is_in_shadow_mode;
    // If only limits in shadow mode need the memory, all other limits are charged.
    let none = pending.iter().any(is_counted);
    let uncounted = allows_uncounted(ctx, !none)?;
    for (limit, verdict) in pending.iter_mut().zip(verdicts) {
        if none || limit.needs_memory() {
            limit.leave_uncharged(uncounted || !is_counted(limit))?;
            *verdict = limit.facts().verdict;
        }
    }
    Ok(uncounted)
}

const LIMITS: Argument = Argument::new(c"limits", ArgumentKind::Block(LIMIT_ARGUMENTS.as_slice())).multiple();

static LIMIT_ARGUMENTS: List<Argument, MOST_ARGUMENTS> =
    Grammar::new(Taker::Multi, None).arguments(&[algorithms::ARGUMENT, KEY, WINDOW, LIMIT]);
