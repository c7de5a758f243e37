//! `RL.<ALGO> key window limit [options] [FULL | HEADERS]`: checks a request against one limit and charges it if
//! allowed.

use std::marker::PhantomData;

use super::Command;
use super::args::Form;
use super::doc::SINCE;
use super::reply;
use super::request::Request;
use crate::algorithm::Micros;
use crate::error::Error;
use crate::ffi::{Access, Args, CommandDoc, Ctx, KeySpec};
use crate::store::{Purpose, StoredAlgorithm};

/// The command of one algorithm.
pub struct Check<A>(PhantomData<A>);

impl<A: StoredAlgorithm> Command for Check<A> {
    const DOC: CommandDoc = CommandDoc {
        flags: c"write fast",
        acl: c"ratelimit write fast",
        summary: A::SUMMARY,
        complexity: A::COMPLEXITY,
        since: SINCE,
        arity: -4,
        keys: KeySpec::At(1, Access::ReadWrite),
        arguments: A::ARGUMENTS,
    };

    fn run<'c>(ctx: Ctx<'c>, args: Args<'c>) -> Result<(), Error> {
        let (request, form) = Request::<A>::parse_request(args)?;
        request.require_id()?;
        let now = Micros(ctx.now_micros());
        let key = request.key_of_state(ctx, now, Purpose::Write)?;
        let mut decided = request.decide_on(key, now, Purpose::Write)?;
        decided.require_memory(ctx)?;
        if form == Form::Verdict {
            let (first, verdict) = (decided.first_integer(), decided.decision.verdict);
            decided.commit();
            reply::verdict(ctx, first, verdict);
        } else {
            let answer = decided.answer();
            decided.commit();
            reply::answer(ctx, form, &answer);
        }
        Ok(())
    }
}
