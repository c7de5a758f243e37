//! `RL.REFUND <ALGO> key window limit [COST n] [AT ms] [BURST n] [ANCHOR t] [FULL | LINE | HEADERS]`: gives
//! units back, and replies as RL.PEEK does afterwards.

use super::algorithms::{self, Algorithm, AlgorithmCommand};
use super::doc::{KEY, LIMIT, SINCE, WINDOW};
use super::options::{Grammar, List, MOST_ARGUMENTS, Taker};
use super::peek::reply_afterwards;
use super::request::{Request, require_few_members};
use crate::error::Error;
use crate::ffi::{Access, Args, Argument, CommandDoc, Ctx, KeySpec};
use crate::stats::STATS;
use crate::store::{Budget, Purpose};
use redis_rl_algorithm::Micros;

/// The command.
pub struct Refund;

impl AlgorithmCommand for Refund {
    const DOC: CommandDoc = CommandDoc {
        flags: c"write fast",
        acl: c"ratelimit write fast",
        summary: c"Gives back what a request was charged.",
        complexity: c"O(1); with SLIDING O(log(N)+M) with N the requests in the window, and M the cost and the requests that left the window; with ROLLING O(N) with N the entries of the record",
        since: SINCE,
        keys: KeySpec::At(2, Access::ReadWrite),
        arguments: ARGUMENTS.as_slice(),
        example: "RL.REFUND TOKEN user:42 60s 100 COST 3",
    };

    fn run<'c, A: Algorithm>(ctx: Ctx<'c>, args: Args<'c>) -> Result<(), Error> {
        if !A::TRAITS.refund {
            return Err(Error::no_correction(A::NAME));
        }
        let grammar = const { &Grammar::new(Taker::Refund, Some(A::NAME)) };
        let (request, options, form) = Request::<A>::parse_all(args, grammar)?;
        require_few_members([request.algorithm.members_added(request.cost)])?;
        let (now, budget) = (Micros(ctx.now_micros()), Budget::of_call());
        let key = request.state_key(ctx, now, Purpose::Write(&budget))?;
        let afterwards = key.duplicate();
        let loaded = request.algorithm.load(key, None, now, Purpose::Write(&budget))?;
        let change = request.algorithm.refunding(&loaded, now, options.at, request.cost);
        request.algorithm.commit(loaded, change, now);
        STATS.refunds.increment();
        reply_afterwards(ctx, request, form, afterwards, (now, &budget), 0)
    }
}

static ARGUMENTS: List<Argument, MOST_ARGUMENTS> =
    Grammar::new(Taker::Refund, None).arguments(&[algorithms::ARGUMENT, KEY, WINDOW, LIMIT]);
