//! `RL.<ALGO> key window limit [options] [FULL | LINE | HEADERS]`: checks a request against one limit and charges it if
//! allowed.

use std::marker::PhantomData;

use super::Command;
use super::algorithms::Algorithm;
use super::doc::{KEY, LIMIT, SINCE, WINDOW};
use super::form::Form;
use super::options::{List, MOST_ARGUMENTS};
use super::reply;
use super::request::Request;
use super::reserve;
use crate::error::Error;
use crate::ffi::{Access, Args, Argument, CommandDoc, Ctx, KeySpec};
use crate::store::{Budget, Purpose};
use redis_rl_algorithm::Micros;

/// The command of one algorithm.
pub struct Check<A>(PhantomData<A>);

impl<A: Algorithm> Check<A> {
    const ARGUMENTS: &'static List<Argument, MOST_ARGUMENTS> = &Request::<A>::CHECK.arguments(&[KEY, WINDOW, LIMIT]);
}

impl<A: Algorithm> Command for Check<A> {
    const DOC: CommandDoc = CommandDoc {
        flags: c"write fast",
        acl: c"ratelimit write fast",
        summary: A::SUMMARY,
        complexity: A::COMPLEXITY,
        since: SINCE,
        keys: KeySpec::At(1, Access::ReadWrite),
        arguments: Self::ARGUMENTS.as_slice(),
        example: A::EXAMPLE,
    };

    fn run<'c>(ctx: Ctx<'c>, args: Args<'c>) -> Result<(), Error> {
        check::<A>(ctx, args).inspect_err(|_| A::decisions().errors.increment())
    }
}

#[inline(always)]
fn check<'c, A: Algorithm>(ctx: Ctx<'c>, args: Args<'c>) -> Result<(), Error> {
    let (request, reserve, form) = Request::<A>::parse_request(args, Request::<A>::CHECK)?;
    if let Some(reserve) = reserve {
        return reserve::check(ctx, request, reserve, form);
    }
    request.require_id()?;
    let now = Micros(ctx.now_micros());
    let budget = Budget::of_call();
    let key = request.state_key(ctx, now, Purpose::Write(&budget))?;
    let mut pending = request.decide(key, now, Purpose::Write(&budget))?;
    pending.require_memory(ctx)?;
    match form {
        Form::Verdict => {
            let (first, verdict) = (pending.first_integer(), pending.decision.verdict);
            pending.commit();
            reply::write_verdict(ctx, first, verdict);
        }
        Form::Full | Form::Line | Form::Headers => {
            let reply = pending.reply(pending.charged());
            pending.commit();
            reply.write(ctx, form);
        }
    }
    Ok(())
}
