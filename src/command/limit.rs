//! `RL.<ALGO> key window limit [COST n] [BURST n] [FULL | HEADERS]`: asks for a request under one limit.

use std::ffi::CStr;
use std::marker::PhantomData;

use super::args::Request;
use super::reply::{self, Answer, Form};
use crate::config::{OnOom, on_oom};
use crate::error::Error;
use crate::ffi::{Access, Args, Argument, ArgumentKind, CommandDoc, Ctx, Handler, KeySpec, Mode};
use crate::limit::{Change, Decision};
use crate::store::Limiter;

/// The command of one algorithm.
pub struct Limit<L>(PhantomData<L>);

impl<L: Limiter> Handler for Limit<L> {
    fn run<'c>(ctx: Ctx<'c>, args: Args<'c>) -> Result<(), Error> {
        let request = Request::parse(args, L::TAKES_BURST)?;
        let limiter = L::new(&request.quota)?;
        let now = ctx.now();
        let name = limiter.state_key(ctx, request.key, now)?;
        let mut loaded = limiter.load(ctx, name, now, Mode::Write)?;
        let mut decision = limiter.decide(&mut loaded, now, request.cost)?;
        let short = L::grows(&loaded, &decision) && ctx.memory_full(request.key);
        if short {
            decision = without_memory(ctx, decision)?;
        }
        let verdict = decision.verdict;
        if request.form == Form::Triple {
            limiter.commit(ctx, loaded, decision, now);
            reply::triple(ctx, verdict);
        } else {
            let mut figures = limiter.figures(&loaded, &decision, now, request.cost);
            if short && !verdict.allowed {
                figures.wait_at_least(MEMORY_RETRY_MS);
            }
            limiter.commit(ctx, loaded, decision, now);
            let answer = Answer { name: L::NAME, quota: request.quota, verdict, figures, now };
            reply::with_figures(ctx, request.form, &answer);
        }
        Ok(())
    }
}

/// What a client denied for want of memory is told to wait: nobody knows when there will be some.
pub const MEMORY_RETRY_MS: i64 = 1_000;

/// The decision on a request that would need memory where there is none: nothing is charged, and `rl.on-oom` says
/// whether it passes. What the limit denies stays denied.
fn without_memory<C>(ctx: Ctx<'_>, decision: Decision<C>) -> Result<Decision<C>, Error> {
    let Decision { mut verdict, delay, .. } = decision;
    verdict.allowed &= starved(ctx)?;
    Ok(Decision { verdict, delay, change: Change::Keep })
}

/// Whether a request passes though there is no memory to count it.
pub fn starved(ctx: Ctx<'_>) -> Result<bool, Error> {
    match on_oom(ctx) {
        OnOom::Refuse => Err(Error::OUT_OF_MEMORY),
        OnOom::Allow => Ok(true),
        OnOom::Deny => Ok(false),
    }
}

/// The documentation of the command of one algorithm.
pub const fn doc(name: &'static CStr, summary: &'static CStr, complexity: &'static CStr, burst: bool) -> CommandDoc {
    CommandDoc {
        name,
        flags: c"write fast",
        acl: c"ratelimit write fast",
        summary,
        complexity,
        since: SINCE,
        arity: -4,
        keys: KeySpec::At(1, Access::ReadWrite),
        arguments: if burst { WITH_BURST } else { WITHOUT_BURST },
    }
}

/// The version the commands came with.
pub const SINCE: &CStr = c"0.1.0";

const WITHOUT_BURST: &[Argument] = &[KEY, WINDOW, LIMIT, COST, FORM];
const WITH_BURST: &[Argument] = &[KEY, WINDOW, LIMIT, COST, BURST, FORM];

pub const KEY: Argument = Argument::new(c"key", ArgumentKind::Key);
pub const WINDOW: Argument = Argument::new(c"window", ArgumentKind::String);
pub const LIMIT: Argument = Argument::new(c"limit", ArgumentKind::Integer);
pub const COST: Argument = Argument::new(c"cost", ArgumentKind::Integer).after(c"COST").optional();
pub const BURST: Argument = Argument::new(c"burst", ArgumentKind::Integer).after(c"BURST").optional();
pub const FORM: Argument = Argument::new(
    c"form",
    ArgumentKind::OneOf(&[
        Argument::new(c"full", ArgumentKind::Token).after(c"FULL"),
        Argument::new(c"headers", ArgumentKind::Token).after(c"HEADERS"),
    ]),
)
.optional();
