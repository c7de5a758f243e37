//! `RL.MULTI numlimits <ALGO> key window limit [options] [<ALGO> key window limit [options] …] [FULL | HEADERS]`:
//! several limits at once, all or nothing.
//!
//! The options of a limit follow it; FULL or HEADERS comes last. The first pass parses all limits, the second decides
//! them and charges none, and the third commits. If one limit denies, none is charged, not even the denials that FIXED
//! counts. A state that is ahead of the clock is still rebased, and an expiry is extended where this call needs that.

use std::ffi::c_int;

use super::Command;
use super::algorithms::{self, ForAlgorithm, select};
use super::args::{Accepted, Form, Words};
use super::doc::{ANCHOR, AS, BURST, COST, FORM, ID, KEY, LIMIT, SHADOW, SINCE, WINDOW};
use super::memory;
use super::reply::{self, Answer};
use super::request::{Decided, Request, require_few_members};
use crate::algorithm::{Change, Micros, Verdict};
use crate::error::Error;
use crate::ffi::{Arg, Args, Argument, ArgumentKind, ClosedKey, CommandDoc, Ctx, KeyPositions, KeySpec};
use crate::integer::parse_unsigned;
use crate::stats::{Outcome, STATS};
use crate::store::{Purpose, StoredAlgorithm};

/// The most limits in one call.
const MAX_LIMITS: u8 = 64;

/// The command.
pub struct Multi;

impl Command for Multi {
    const DOC: CommandDoc = CommandDoc {
        flags: c"write fast getkeys-api",
        acl: c"ratelimit write fast",
        summary: c"Checks a request against several limits and charges all of them, or none.",
        complexity: c"O(N) with N the number of limits; SLIDING, ROLLING and LEASE add what RL.SLIDING, RL.ROLLING and RL.LEASE say",
        since: SINCE,
        arity: -6,
        keys: KeySpec::FromCommand(3),
        arguments: &[Argument::new(c"numlimits", ArgumentKind::Integer), LIMITS, FORM],
    };
    const KEY_POSITIONS: Option<KeyPositions> = Some(key_positions);

    fn run<'c>(ctx: Ctx<'c>, args: Args<'c>) -> Result<(), Error> {
        check_all(ctx, args).inspect_err(|_| STATS.multi.errors.increment())
    }
}

fn check_all<'c>(ctx: Ctx<'c>, mut args: Args<'c>) -> Result<(), Error> {
    let count = args.next().and_then(|count| parse_count(count.bytes())).ok_or(Error::NUM_LIMITS)?;
    let now = Micros(ctx.now_micros());
    let mut limits: Vec<Box<dyn ParsedLimit<'c> + 'c>> = Vec::with_capacity(count.into());
    let mut keys: Vec<ClosedKey<'c>> = Vec::with_capacity(count.into());
    for number in 1..=count {
        let limit = parse_limit(&mut args).map_err(|error| error.of_limit(number))?;
        let key = limit.state_key(ctx, now).map_err(|error| error.of_limit(number))?;
        if keys.iter().any(|other| other.name().bytes() == key.name().bytes()) {
            return Err(Error::SAME_KEY.of_limit(number));
        }
        limits.push(limit);
        keys.push(key);
    }
    let form = parse_form(&mut args, count)?;
    require_few_members(limits.iter().map(|limit| limit.members_added()))?;

    let mut decided = Vec::with_capacity(count.into());
    for ((limit, key), number) in limits.into_iter().zip(keys).zip(1..) {
        decided.push(limit.decide(key, now).map_err(|error| error.of_limit(number))?);
    }
    let mut allowed = decided.iter().all(|limit| limit.verdict().allowed);
    let growing = decided.iter().find(|limit| limit.grows());
    if let Some(growing) = growing.filter(|_| allowed)
        && ctx.out_of_memory(growing.key())
    {
        if decided.iter().any(|limit| limit.grows() && limit.result() != Outcome::ShadowDenied) {
            let uncounted = memory::allows_uncounted(ctx)?;
            for limit in &mut decided {
                let allow = uncounted || !limit.grows();
                limit.leave_uncharged(allow)?;
            }
            allowed = uncounted;
        } else {
            // Only denials that shadow mode allows need the memory. The others are charged.
            for limit in decided.iter_mut().filter(|limit| limit.grows()) {
                limit.leave_uncharged(true)?;
            }
        }
    }

    let verdicts: Vec<Verdict> = decided.iter().map(|limit| limit.verdict()).collect();
    let mut answers: Vec<Answer> =
        if form == Form::Verdict { Vec::new() } else { decided.iter().map(|limit| limit.reply()).collect() };
    reply::make_names_unique(&mut answers);
    let outcome = decided.iter().map(|limit| limit.result()).max().unwrap_or(Outcome::Allowed);
    STATS.multi.count(if allowed { outcome } else { Outcome::Denied });
    for limit in decided {
        limit.commit_if(allowed);
    }
    reply::multi(ctx, form, allowed, &verdicts, &answers);
    Ok(())
}

fn parse_count(text: &[u8]) -> Option<u8> {
    let count = parse_unsigned(text).and_then(|n| u8::try_from(n).ok());
    count.filter(|count| (1..=MAX_LIMITS).contains(count))
}

/// FULL or HEADERS after the last limit, or nothing.
fn parse_form(args: &mut Args<'_>, count: u8) -> Result<Form, Error> {
    let Some(word) = args.next() else { return Ok(Form::Verdict) };
    let form = Form::from_word(word.bytes()).ok_or(Error::OPTION.of_limit(count))?;
    match args.next().map(|word| Form::from_word(word.bytes())) {
        None => Ok(form),
        Some(Some(other)) if other != form => Err(Error::FULL_AND_HEADERS),
        Some(_) => Err(Error::AFTER_FORM),
    }
}

/// `<ALGO> key window limit [options]`.
fn parse_limit<'c>(args: &mut Args<'c>) -> Result<Box<dyn ParsedLimit<'c> + 'c>, Error> {
    struct Parse<'a, 'c>(&'a mut Args<'c>);

    impl<'c> ForAlgorithm for Parse<'_, 'c> {
        type Output = Result<Box<dyn ParsedLimit<'c> + 'c>, Error>;

        fn run<A: StoredAlgorithm + 'static>(self) -> Self::Output {
            match Request::<A>::parse(self.0, &Accepted::LIMIT, None) {
                Ok((request, _)) => {
                    request.require_id()?;
                    Ok(Box::new(request))
                }
                Err(error) => Err(if error == Error::ARITY { Error::NUM_LIMITS } else { error }),
            }
        }
    }
    let word = args.next().ok_or(Error::NUM_LIMITS)?.bytes();
    select(word, Parse(args))?
}

/// The keys of a call, wherever its options put them. It ends at the first word that fits no limit: the command itself
/// then replies the error.
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

/// A limit of any algorithm whose arguments are parsed.
trait ParsedLimit<'c> {
    fn state_key(&self, ctx: Ctx<'c>, now: Micros) -> Result<ClosedKey<'c>, Error>;
    fn members_added(&self) -> u64;
    fn decide(self: Box<Self>, key: ClosedKey<'c>, now: Micros) -> Result<Box<dyn DecidedLimit<'c> + 'c>, Error>;
}

impl<'c, A: StoredAlgorithm + 'static> ParsedLimit<'c> for Request<'c, A> {
    fn state_key(&self, ctx: Ctx<'c>, now: Micros) -> Result<ClosedKey<'c>, Error> {
        self.key_of_state(ctx, now, Purpose::Write)
    }

    fn members_added(&self) -> u64 {
        self.most_members_added()
    }

    fn decide(self: Box<Self>, key: ClosedKey<'c>, now: Micros) -> Result<Box<dyn DecidedLimit<'c> + 'c>, Error> {
        Ok(Box::new(self.decide_on(key, now, Purpose::Write)?))
    }
}

/// A limit of any algorithm that is decided.
trait DecidedLimit<'c> {
    fn key(&self) -> Arg<'c>;
    fn verdict(&self) -> Verdict;
    fn grows(&self) -> bool;
    fn result(&self) -> Outcome;
    fn leave_uncharged(&mut self, allowed: bool) -> Result<(), Error>;
    fn reply(&self) -> Answer;
    /// Commits the change. A charge is dropped unless the call is allowed.
    fn commit_if(self: Box<Self>, allowed: bool);
}

impl<'c, A: StoredAlgorithm> DecidedLimit<'c> for Decided<'c, A> {
    fn key(&self) -> Arg<'c> {
        self.request.key
    }

    fn verdict(&self) -> Verdict {
        self.decision.verdict
    }

    fn grows(&self) -> bool {
        self.would_grow()
    }

    fn result(&self) -> Outcome {
        self.outcome()
    }

    fn leave_uncharged(&mut self, allowed: bool) -> Result<(), Error> {
        self.leave_uncounted(allowed)
    }

    fn reply(&self) -> Answer {
        self.answer()
    }

    fn commit_if(mut self: Box<Self>, allowed: bool) {
        if !allowed && matches!(self.decision.change, Change::Charge(_)) {
            self.decision.change = Change::Keep;
        }
        self.commit();
    }
}

const LIMITS: Argument = Argument::new(
    c"limits",
    ArgumentKind::Block(&[algorithms::ARGUMENT, KEY, WINDOW, LIMIT, COST, BURST, ANCHOR, ID.optional(), AS, SHADOW]),
)
.multiple();
