//! `RL.PEEK <ALGO> key window limit [options] [FULL | HEADERS]`: replies what the reply to a request would be.

use super::algorithms::{self, AlgorithmCommand};
use super::args::Form;
use super::doc::{ANCHOR, AS, BURST, COST, FORM, ID, KEY, LIMIT, PARTIAL, SHADOW, SINCE, WINDOW};
use super::reply;
use super::request::Request;
use crate::algorithm::Micros;
use crate::error::Error;
use crate::ffi::{Access, Args, ClosedKey, CommandDoc, Ctx, KeySpec};
use crate::stats::STATS;
use crate::store::{Purpose, StoredAlgorithm};

/// The command.
pub struct Peek;

impl AlgorithmCommand for Peek {
    const DOC: CommandDoc = CommandDoc {
        flags: c"readonly fast",
        acl: c"ratelimit read fast",
        summary: c"Replies what the reply to a request would be, and changes nothing.",
        complexity: c"O(1); with SLIDING and LEASE O(log(N)) with N the requests in the window or the leases; with ROLLING O(N) with N the entries of the record",
        since: SINCE,
        arity: -5,
        keys: KeySpec::At(2, Access::Read),
        arguments: &[
            algorithms::ARGUMENT,
            KEY,
            WINDOW,
            LIMIT,
            COST,
            PARTIAL,
            BURST,
            ANCHOR,
            ID.optional(),
            AS,
            SHADOW,
            FORM,
        ],
    };

    fn run<'c, A: StoredAlgorithm>(ctx: Ctx<'c>, args: Args<'c>) -> Result<(), Error> {
        let (request, form) = Request::<A>::parse_request(args)?;
        let now = Micros(ctx.now_micros());
        let key = request.key_of_state(ctx, now, Purpose::Read)?;
        peek(ctx, request, form, key, now).inspect(|()| STATS.peeks.increment())
    }
}

/// Decides and replies, and drops the change.
pub fn peek<'c, A: StoredAlgorithm>(
    ctx: Ctx<'c>,
    request: Request<'c, A>,
    form: Form,
    key: ClosedKey<'c>,
    now: Micros,
) -> Result<(), Error> {
    let decided = request.decide_on(key, now, Purpose::Read)?;
    if form == Form::Verdict {
        reply::verdict(ctx, decided.first_integer(), decided.decision.verdict);
    } else {
        reply::answer(ctx, form, &decided.answer());
    }
    Ok(())
}
