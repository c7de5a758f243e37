//! `RL.PEEK <ALGO> key window limit [options] [FULL | LINE | HEADERS]`: replies what the reply to a request would be.

use super::algorithms::{self, Algorithm, AlgorithmCommand};
use super::decide::Pending;
use super::doc::{KEY, LIMIT, SINCE, WINDOW};
use super::form::Form;
use super::options::{Grammar, List, MOST_ARGUMENTS, Taker};
use super::reply;
use super::request::Request;
use crate::error::Error;
use crate::ffi::{Access, Args, Argument, ClosedKey, CommandDoc, Ctx, KeySpec};
use crate::stats::STATS;
use crate::store::{Budget, Purpose};
use redis_rl_algorithm::Micros;

/// The command.
pub struct Peek;

impl AlgorithmCommand for Peek {
    const DOC: CommandDoc = CommandDoc {
        flags: c"readonly fast",
        acl: c"ratelimit read fast",
        summary: c"Replies what the reply to a request would be, and changes nothing.",
        complexity: c"O(1); with SLIDING and LEASE O(log(N)) with N the requests in the window or the leases; with ROLLING O(N) with N the entries of the record",
        since: SINCE,
        keys: KeySpec::At(2, Access::Read),
        arguments: ARGUMENTS.as_slice(),
        example: "RL.PEEK TOKEN user:42 60s 100 FULL",
    };

    fn run<'c, A: Algorithm>(ctx: Ctx<'c>, args: Args<'c>) -> Result<(), Error> {
        let grammar = const { &Grammar::new(Taker::Peek, Some(A::NAME)) };
        let (request, _, form) = Request::<A>::parse_request(args, grammar)?;
        let now = Micros(ctx.now_micros());
        let key = request.state_key(ctx, now, Purpose::Read)?;
        write(ctx, &request.decide(key, now, Purpose::Read)?, form, 0);
        STATS.peeks.increment();
        Ok(())
    }
}

static ARGUMENTS: List<Argument, MOST_ARGUMENTS> =
    Grammar::new(Taker::Peek, None).arguments(&[algorithms::ARGUMENT, KEY, WINDOW, LIMIT]);

/// Replies as RL.PEEK does after a correction, which is committed. `charged` is the units that the call has charged.
///
/// # Errors
/// None, unless another module has written the key since.
pub fn reply_afterwards<'c, A: Algorithm>(
    ctx: Ctx<'c>,
    request: Request<'c, A>,
    form: Form,
    key: ClosedKey<'c>,
    (now, budget): (Micros, &Budget),
    charged: u64,
) -> Result<(), Error> {
    write(ctx, &request.decide_afterwards(key, now, budget)?, form, charged);
    Ok(())
}

fn write<A: Algorithm>(ctx: Ctx<'_>, pending: &Pending<'_, A>, form: Form, charged: u64) {
    match form {
        Form::Verdict => reply::write_verdict(ctx, pending.first_integer(), pending.decision.verdict),
        Form::Full | Form::Line | Form::Headers => pending.reply(charged).write(ctx, form),
    }
}
