//! `RL.MULTI numlimits <ALGO> key window limit [<ALGO> key window limit …] [COST n] [FULL | HEADERS]`: several limits
//! at once, all or nothing.
//!
//! One pass decides on all limits and charges none; a second commits, where all allow. Where one denies, nothing is
//! charged, not even FIXED's count of denials; a state that lies ahead of the clock is still brought back to it.

use super::algorithms::{self, algorithms};
use super::args::{Options, parse_limit, parse_window};
use super::limit::{COST, FORM, KEY, LIMIT, MEMORY_RETRY_MS, SINCE, WINDOW, starved};
use super::reply::{self, Answer, Form};
use crate::error::Error;
use crate::ffi::{Args, Argument, ArgumentKind, Argv, CommandDoc, CountedKeys, Ctx, Handler, KeySpec, Mode, Str};
use crate::integer::parse_unsigned;
use crate::limit::{Change, Cost, Decision, Micros, Quota, Verdict};
use crate::store::Limiter;

/// The most limits in one call.
const MAX_LIMITS: u64 = 64;

/// The command.
pub struct Multi;

impl Handler for Multi {
    const COUNTED_KEYS: Option<CountedKeys> = Some(KEYS);

    fn run<'c>(ctx: Ctx<'c>, mut args: Args<'c>) -> Result<(), Error> {
        let count = args.next().ok_or(Error::ARITY)?;
        let count = parse_unsigned(count.bytes()).filter(|n| (1..=MAX_LIMITS).contains(n)).ok_or(Error::NUM_LIMITS)?;
        let first_key = args.clone().nth(1).ok_or(Error::NUM_LIMITS)?;
        let now = ctx.now();

        let mut planned: Vec<Planned<'_>> = Vec::with_capacity(count as usize);
        for _ in 0..count {
            let one = Planned::parse(ctx, &mut args, now)?;
            if planned.iter().any(|other| other.name().bytes() == one.name().bytes()) {
                return Err(Error::SAME_KEY);
            }
            planned.push(one);
        }
        let Options { cost, burst: None, form } = Options::parse(args.map(Argv::bytes))? else {
            return Err(Error::MULTI_BURST);
        };
        let (cost, form) = (cost.unwrap_or(Cost::ONE), form.unwrap_or(Form::Triple));

        let mut decided = Vec::with_capacity(planned.len());
        for one in planned {
            decided.push(one.decide(ctx, now, cost)?);
        }
        let mut allowed = decided.iter().all(|one| one.verdict().allowed);
        let short = allowed && decided.iter().any(Decided::grows) && ctx.memory_full(first_key);
        if short && !starved(ctx)? {
            allowed = false;
            decided.iter_mut().filter(|one| one.grows()).for_each(Decided::deny);
        }

        let verdicts: Vec<Verdict> = decided.iter().map(Decided::verdict).collect();
        let answers: Vec<Answer> =
            if form == Form::Triple { Vec::new() } else { decided.iter().map(|one| one.answer(now, cost)).collect() };
        for one in decided {
            if (allowed && !short) || one.reanchors() {
                one.commit(ctx, now);
            }
        }
        reply::several(ctx, form, allowed, &verdicts, &answers);
        Ok(())
    }
}

/// A limit whose arguments are read.
struct Plan<'c, L> {
    limiter: L,
    quota: Quota,
    name: Str<'c>,
}

/// A limit that is decided on.
struct Decide<'c, L: Limiter> {
    limiter: L,
    quota: Quota,
    loaded: L::Loaded<'c>,
    decision: Decision<L::Change>,
    /// Denied for want of memory, not by the limit.
    short: bool,
}

impl<'c, L: Limiter> Plan<'c, L> {
    fn parse(ctx: Ctx<'c>, args: &mut Args<'c>, now: Micros) -> Result<Self, Error> {
        let (Some(key), Some(window), Some(limit)) = (args.next(), args.next(), args.next()) else {
            return Err(Error::NUM_LIMITS);
        };
        let quota = Quota { window: parse_window(window.bytes())?, limit: parse_limit(limit.bytes())?, burst: None };
        let limiter = L::new(&quota)?;
        let name = limiter.state_key(ctx, key, now)?;
        Ok(Self { limiter, quota, name })
    }

    fn decide(self, ctx: Ctx<'c>, now: Micros, cost: Cost) -> Result<Decide<'c, L>, Error> {
        let Self { limiter, quota, name } = self;
        let mut loaded = limiter.load(ctx, name, now, Mode::Write)?;
        let decision = limiter.decide(&mut loaded, now, cost)?;
        Ok(Decide { limiter, quota, loaded, decision, short: false })
    }
}

impl<L: Limiter> Decide<'_, L> {
    fn answer(&self, now: Micros, cost: Cost) -> Answer {
        let mut figures = self.limiter.figures(&self.loaded, &self.decision, now, cost);
        if self.short {
            figures.wait_at_least(MEMORY_RETRY_MS);
        }
        Answer { name: L::NAME, quota: self.quota, verdict: self.decision.verdict, figures, now }
    }
}

/// The two of them for whichever algorithm.
macro_rules! any_algorithm {
    ($($variant:ident($algorithm:ty) $name:literal burst: $burst:literal, $complexity:literal, $summary:literal;)*) => {
        enum Planned<'c> { $($variant(Plan<'c, $algorithm>),)* }

        enum Decided<'c> { $($variant(Decide<'c, $algorithm>),)* }

        impl<'c> Planned<'c> {
            fn parse(ctx: Ctx<'c>, args: &mut Args<'c>, now: Micros) -> Result<Self, Error> {
                let word = args.next().ok_or(Error::NUM_LIMITS)?.bytes();
                $(if word.eq_ignore_ascii_case($name.as_bytes()) {
                    return Plan::parse(ctx, args, now).map(Self::$variant);
                })*
                Err(Error::ALGORITHM)
            }

            fn name(&self) -> &Str<'c> {
                match self { $(Self::$variant(plan) => &plan.name,)* }
            }

            fn decide(self, ctx: Ctx<'c>, now: Micros, cost: Cost) -> Result<Decided<'c>, Error> {
                match self { $(Self::$variant(plan) => plan.decide(ctx, now, cost).map(Decided::$variant),)* }
            }
        }

        impl Decided<'_> {
            fn verdict(&self) -> Verdict {
                match self { $(Self::$variant(one) => one.decision.verdict,)* }
            }

            fn grows(&self) -> bool {
                match self { $(Self::$variant(one) => <$algorithm>::grows(&one.loaded, &one.decision),)* }
            }

            fn reanchors(&self) -> bool {
                match self { $(Self::$variant(one) => matches!(one.decision.change, Change::Reanchor(_)),)* }
            }

            /// Denied, for want of memory.
            fn deny(&mut self) {
                match self {
                    $(Self::$variant(one) => {
                        one.decision.verdict.allowed = false;
                        one.short = true;
                    })*
                }
            }

            fn answer(&self, now: Micros, cost: Cost) -> Answer {
                match self { $(Self::$variant(one) => one.answer(now, cost),)* }
            }

            fn commit(self, ctx: Ctx<'_>, now: Micros) {
                match self { $(Self::$variant(one) => one.limiter.commit(ctx, one.loaded, one.decision, now),)* }
            }
        }
    };
}
algorithms!(any_algorithm);

/// The documentation of the command.
pub const DOC: CommandDoc = CommandDoc {
    name: c"RL.MULTI",
    flags: c"write fast getkeys-api",
    acl: c"ratelimit write fast",
    summary: c"Asks for a request under several limits at once, all or nothing.",
    complexity: c"O(N) with N the number of limits; what SLIDING adds is as in RL.SLIDING",
    since: SINCE,
    arity: -6,
    keys: KeySpec::Counted(KEYS),
    arguments: &[Argument::new(c"numlimits", ArgumentKind::Integer), LIMITS, COST, FORM],
};

const LIMITS: Argument =
    Argument::new(c"limits", ArgumentKind::Block(&[algorithms::ARGUMENT, KEY, WINDOW, LIMIT])).multiple();

const KEYS: CountedKeys = CountedKeys { count_at: 1, first_after: 2, step: 4 };
