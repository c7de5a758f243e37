//! `RL.REFUND <ALGO> key window limit [COST n] [AT ms] [BURST n] [ANCHOR t] [FULL | HEADERS]`: gives units back, and replies as RL.PEEK
//! does afterwards.

use super::algorithms::{self, AlgorithmCommand};
use super::args::Accepted;
use super::doc::{ANCHOR, AT, BURST, COST, FORM, KEY, LIMIT, SINCE, WINDOW};
use super::peek::peek;
use super::request::Request;
use crate::algorithm::Micros;
use crate::error::Error;
use crate::ffi::{Access, Args, CommandDoc, Ctx, KeySpec};
use crate::stats::STATS;
use crate::store::{Purpose, StoredAlgorithm};

/// The command.
pub struct Refund;

impl AlgorithmCommand for Refund {
    const DOC: CommandDoc = CommandDoc {
        flags: c"write fast",
        acl: c"ratelimit write fast",
        summary: c"Gives back what a request was charged.",
        complexity: c"O(1); with SLIDING O(log(N)+M) with N the requests in the window, and M the cost and the requests that left the window; with ROLLING O(N) with N the entries of the record",
        since: SINCE,
        arity: -5,
        keys: KeySpec::At(2, Access::ReadWrite),
        arguments: &[algorithms::ARGUMENT, KEY, WINDOW, LIMIT, COST, AT, BURST, ANCHOR, FORM],
    };

    fn run<'c, A: StoredAlgorithm>(ctx: Ctx<'c>, args: Args<'c>) -> Result<(), Error> {
        if let Some(error) = A::NO_CORRECTION {
            return Err(error);
        }
        let (request, options, form) = Request::<A>::parse_all(args, &Accepted::REFUND)
            .map_err(|error| if error == Error::OPTION { Error::REFUND_OPTION } else { error })?;
        let now = Micros(ctx.now_micros());
        let key = request.key_of_state(ctx, now, Purpose::Write)?;
        let afterwards = key.duplicate();
        let loaded = request.algorithm.load(key, now, Purpose::Write)?;
        let change = request.algorithm.refund_on(&loaded, now, options.at, request.cost);
        request.algorithm.commit(loaded, change, now);
        STATS.refunds.increment();
        peek(ctx, request, form, afterwards, now)
    }
}
