//! `RL.<ALGO> key window limit [COST n] [BURST n] [FULL | HEADERS]`: asks for a request under one limit.

use std::ffi::CStr;
use std::marker::PhantomData;

use super::args::Request;
use super::reply::{self, Answer, Form};
use crate::config::{OnOom, on_oom};
use crate::error::Error;
use crate::ffi::{Args, Argument, ArgumentKind, CommandDoc, Ctx, Handler, KeySpec, Mode};
use crate::limit::{Change, Decision};
use crate::store::Limiter;

/// The command of one algorithm.
pub struct Limit<L>(PhantomData<L>);

impl<L: Limiter> Handler for Limit<L> {
    fn run(ctx: Ctx<'_>, args: Args<'_>) -> Result<(), Error> {
        let request = Request::parse(args, L::TAKES_BURST)?;
        let limiter = L::new(&request.quota)?;
        let now = ctx.now();
        let name = limiter.state_key(ctx, request.key, now)?;
        let mut loaded = limiter.load(ctx, name, now, Mode::Write)?;
        let mut decision = limiter.decide(&mut loaded, now, request.cost)?;
        let starved = L::grows(&loaded, &decision) && ctx.memory_full();
        if starved {
            decision = without_memory(ctx, decision)?;
        }
        let verdict = decision.verdict;
        if request.form == Form::Triple {
            limiter.commit(ctx, loaded, decision, now);
            reply::triple(ctx, verdict);
        } else {
            let mut figures = limiter.figures(&loaded, &decision, now, request.cost);
            if starved && !verdict.allowed {
                figures.retry_after_ms = figures.retry_after_ms.max(MEMORY_RETRY_MS);
            }
            limiter.commit(ctx, loaded, decision, now);
            let answer = Answer { name: L::NAME, quota: request.quota, verdict, figures, now };
            reply::with_figures(ctx, request.form, &answer);
        }
        Ok(())
    }
}

/// What a client denied for want of memory is told to wait: nobody knows when there will be some.
const MEMORY_RETRY_MS: i64 = 1_000;

/// The decision on a request that would need memory where there is none: nothing is charged, and `rl.on-oom` says
/// whether it passes. What the limit denies stays denied.
fn without_memory<C>(ctx: Ctx<'_>, decision: Decision<C>) -> Result<Decision<C>, Error> {
    let Decision { mut verdict, delay, .. } = decision;
    match on_oom(ctx) {
        OnOom::Refuse => return Err(Error::OUT_OF_MEMORY),
        OnOom::Allow => {}
        OnOom::Deny => verdict.allowed = false,
    }
    Ok(Decision { verdict, delay, change: Change::Keep })
}

/// The documentation of the command of one algorithm.
pub const fn doc(name: &'static CStr, summary: &'static CStr, complexity: &'static CStr) -> CommandDoc {
    CommandDoc {
        name,
        flags: c"write fast",
        acl: c"ratelimit write fast",
        summary,
        complexity,
        since: c"0.1.0",
        arity: -4,
        keys: KeySpec::ReadWriteAt(1),
        arguments: const {
            &[
                Argument::new(c"key", ArgumentKind::Key),
                Argument::new(c"window", ArgumentKind::String),
                Argument::new(c"limit", ArgumentKind::Integer),
                Argument::new(c"cost", ArgumentKind::Integer).after(c"COST").optional(),
                Argument::new(c"form", ArgumentKind::OneOf(FORMS)).optional(),
            ]
        },
    }
}

const FORMS: &[Argument] = &[
    Argument::new(c"full", ArgumentKind::Token).after(c"FULL"),
    Argument::new(c"headers", ArgumentKind::Token).after(c"HEADERS"),
];
