//! `RL.SHARE numlimits <ALGO> key window limit [options] <ALGO> key window limit [options] […] [FULL | LINE | HEADERS]`: a
//! limit of the caller's own, and beyond it what is idle of the limits that it shares with others.
//!
//! The limits go from the narrowest to the widest. The first that allows pays: it is charged, and each one after it is
//! charged even if it denies. Those before it are not charged. If none allows, nothing is charged, and the denial
//! counts for the algorithm of the widest.

use arrayvec::ArrayVec;
use redis_rl_algorithm::Micros;

use super::Command;
use super::algorithms::LENDING;
use super::decide::allows_uncounted;
use super::doc::{KEY, LIMIT, SINCE, WINDOW};
use super::form::Form;
use super::options::{Grammar, List, MOST_ARGUMENTS, Taker};
use super::reply::{soonest, write_several};
use super::several::{self, DecidedLimit, MAX, Rules, key_positions};
use crate::config;
use crate::error::Error;
use crate::ffi::{Args, Argument, ArgumentKind, CommandDoc, Ctx, KeyPositions, KeySpec};
use crate::stats::{SHARE, Shares};
use crate::store::Budget;

const RULES: Rules = Rules { taker: Taker::Share, limits: 2..=8, num_limits: Error::SHARED_LIMITS };

/// The command.
pub struct Share;

impl Command for Share {
    const DOC: CommandDoc = CommandDoc {
        flags: c"write fast getkeys-api",
        acl: c"ratelimit write fast",
        summary: c"Charges the first limit that allows the request, and all limits after it.",
        complexity: c"O(N) with N the number of limits; ROLLING adds what its command says",
        since: SINCE,
        keys: KeySpec::FromCommand(3),
        arguments: &[Argument::new(c"numlimits", ArgumentKind::Integer), LIMITS, Form::ARGUMENT],
        example: "RL.SHARE 2 TOKEN {model}:team:a 1m 500 TOKEN {model} 1m 1000",
    };
    const KEY_POSITIONS: Option<KeyPositions> = Some(key_positions);

    fn run<'c>(ctx: Ctx<'c>, args: Args<'c>) -> Result<(), Error> {
        share(ctx, args).inspect_err(|_| SHARE.errors.increment())
    }
}

fn share<'c>(ctx: Ctx<'c>, mut args: Args<'c>) -> Result<(), Error> {
    if args.len() < 9 {
        return Err(Error::ARITY);
    }
    let (now, budget) = (Micros(ctx.now_micros()), Budget::of_call());
    let (mut limits, mut keys) = (ArrayVec::<_, MAX>::new(), ArrayVec::new());
    let form = several::parse(ctx, &RULES, &mut args, (now, &budget), &mut limits, &mut keys)?;
    let (widest, narrower) = keys.split_last().map_or((false, &[][..]), |(last, others)| (last.names_shadow, others));
    // The denial of a narrower limit does not deny the request.
    if narrower.iter().any(|limit| limit.names_shadow) {
        return Err(Error::SHADOW_NOT_LAST);
    }

    let shadow = config::shadow() || widest;
    let (mut decided, mut verdicts, mut payer) =
        (ArrayVec::<DecidedLimit<'_>, MAX>::new(), ArrayVec::<_, MAX>::new(), None);
    let last = limits.len().saturating_sub(1);
    for ((at, limit), keys) in limits.iter_mut().enumerate().zip(keys.drain(..)) {
        limit.set_place(payer.is_some(), at == last);
        let number = u8::try_from(at).unwrap_or(u8::MAX).saturating_add(1);
        let verdict = limit.decide(keys, now, &budget, &mut decided).map_err(|error| error.of_limit(number))?;
        payer = payer.or(verdict.allowed.then_some(at));
        verdicts.push(verdict);
    }
    let is_shadowed = decided.last().is_some_and(|widest| widest.facts().is_shadowed);
    let mut charges = payer.is_some() && !is_shadowed;
    if let Some(at) = payer.filter(|_| charges)
        && let Some(allowed) = without_memory(ctx, shadow, decided.get_mut(at..).unwrap_or_default())?
    {
        (payer, charges) = (Some(at).filter(|_| allowed), false);
        verdicts.iter_mut().zip(&decided).for_each(|(verdict, limit)| *verdict = limit.facts().verdict);
    }

    let mut replies = Vec::new();
    if form != Form::Verdict {
        let charged = |at: usize| charges && payer.is_some_and(|payer| payer <= at);
        replies.extend(decided.iter().enumerate().map(|(at, limit)| limit.reply(charged(at))));
    }
    // The one that decided counts for its algorithm, and a denial for RL.TOP.
    if let Some(one) = decided.get(payer.unwrap_or(last)) {
        one.count();
    }
    let Shares { own, borrowed, denied, shadow_denied, .. } = &SHARE;
    match payer {
        None => denied.increment(),
        Some(_) if is_shadowed => shadow_denied.increment(),
        Some(0) => own.increment(),
        Some(_) => borrowed.increment(),
    }
    for (at, limit) in decided.drain(..).enumerate() {
        limit.commit_uncounted(charges && payer.is_some_and(|payer| payer <= at));
    }
    let paid = payer.and_then(|at| i64::try_from(at).ok()).map_or(0, |at| at.saturating_add(1));
    write_several(ctx, form, paid, &verdicts, &replies, payer.unwrap_or_else(|| soonest(&replies)));
    Ok(())
}

/// Applies `rl.on-oom` if the server is at `maxmemory` and one of the limits that are charged needs memory: then none is.
/// Returns whether the request is allowed all the same; `None` if there is memory.
fn without_memory<'c>(ctx: Ctx<'c>, shadow: bool, charged: &mut [DecidedLimit<'c>]) -> Result<Option<bool>, Error> {
    let growing = charged.iter().find(|limit| limit.needs_memory());
    if !growing.is_some_and(|limit| ctx.out_of_memory(limit.facts().key)) {
        return Ok(None);
    }
    let allowed = allows_uncounted(ctx, shadow)?;
    for limit in charged {
        limit.leave_uncharged(allowed)?;
    }
    Ok(Some(allowed))
}

const LIMITS: Argument = Argument::new(c"limits", ArgumentKind::Block(LIMIT_ARGUMENTS.as_slice())).multiple();

static LIMIT_ARGUMENTS: List<Argument, MOST_ARGUMENTS> =
    Grammar::new(Taker::Share, None).arguments(&[LENDING, KEY, WINDOW, LIMIT]);
