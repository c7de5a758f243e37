//! `RL.SETTLE <ALGO> key window limit RESERVED n ACTUAL m [AT ms] [BURST n] [ANCHOR t] [FULL | LINE | HEADERS]`: a request was
//! charged n and turned out to cost m. Gives the difference back, or charges it whatever the limit says, and replies as
//! RL.PEEK does afterwards.
//!
//! `RL.SETTLE <ALGO> key window limit RESERVATION id ACTUAL m [ANCHOR t] [FULL | LINE | HEADERS]`: the same for what was
//! charged with RESERVE. The reservation knows what it was charged, and when.

use super::algorithms::{self, Algorithm, AlgorithmCommand};
use super::decide::allows_uncounted;
use super::doc::{KEY, LIMIT, SINCE, WINDOW};
use super::form::Form;
use super::options::{Grammar, List, MOST_ARGUMENTS, Taker};
use super::peek::reply_afterwards;
use super::request::{Request, require_few_members};
use super::reserve;
use crate::error::Error;
use crate::ffi::{Access, Args, Argument, CommandDoc, Ctx, KeySpec};
use crate::stats::STATS;
use crate::store::{Budget, Purpose, reserved};
use redis_rl_algorithm::reservation::Standing;
use redis_rl_algorithm::{Change, Cost, Micros};

/// The command.
pub struct Settle;

impl AlgorithmCommand for Settle {
    const DOC: CommandDoc = CommandDoc {
        flags: c"write fast",
        acl: c"ratelimit write fast",
        summary: c"Corrects what a request was charged to what it turned out to cost.",
        complexity: c"O(1); with SLIDING O(log(N)+M) with N the requests in the window, and M the difference and the requests that left the window; with ROLLING O(N) with N the entries of the record; with RESERVATION add O(log(R)+E*log(E)) with R the reservations of the limit, and E those that have ended, at most 1000",
        since: SINCE,
        keys: KeySpec::At(2, Access::ReadWrite),
        arguments: ARGUMENTS.as_slice(),
        example: "RL.SETTLE TOKEN user:42 60s 100 RESERVED 10 ACTUAL 7",
    };

    fn run<'c, A: Algorithm>(ctx: Ctx<'c>, args: Args<'c>) -> Result<(), Error> {
        if !A::TRAITS.settle {
            return Err(Error::no_correction(A::NAME));
        }
        let grammar = const { &Grammar::new(Taker::Settle, Some(A::NAME)) };
        let (request, options, form) = Request::<A>::parse_all(args, grammar)?;
        let (reserved, actual) = match (options.reserved, options.reservation, options.actual) {
            (Some(reserved), _, Some(actual)) => (reserved, actual),
            (None, Some(id), Some(actual)) => return settle_reservation(ctx, request, id, actual, form),
            _ => return Err(Error::SETTLEMENT),
        };
        let difference = Cost::new(reserved.units().abs_diff(actual.units())).unwrap_or(Cost::ZERO);
        require_few_members([request.algorithm.members_added(difference)]).map_err(|_| Error::LOG_DIFFERENCE)?;
        let (now, budget) = (Micros(ctx.now_micros()), Budget::of_call());
        let key = request.state_key(ctx, now, Purpose::Write(&budget))?;
        let afterwards = key.duplicate();
        let loaded = request.algorithm.load(key, None, now, Purpose::Write(&budget))?;
        let mut change = if actual < reserved {
            request.algorithm.refunding(&loaded, now, options.at, difference)
        } else {
            request.algorithm.overcharging(&loaded, now, options.at, difference)?
        };
        let mut charged = actual;
        if A::needs_memory(&loaded, &change) && ctx.out_of_memory(request.key) {
            allows_uncounted(ctx, false)?;
            (change, charged) = (Change::Keep, reserved);
        }
        request.algorithm.commit(loaded, change, now);
        STATS.settlements.increment();
        reply_afterwards(ctx, request, form, afterwards, (now, &budget), charged.units())
    }
}

/// `RESERVATION id ACTUAL m`. An id that is not known changes nothing, so the call may be sent again.
fn settle_reservation<'c, A: Algorithm>(
    ctx: Ctx<'c>,
    request: Request<'c, A>,
    id: &'c [u8],
    actual: Cost,
    form: Form,
) -> Result<(), Error> {
    let (now, budget) = (Micros(ctx.now_micros()), Budget::of_call());
    let key = request.state_key(ctx, now, Purpose::Write(&budget))?;
    let afterwards = key.duplicate();
    let mut hash = reserved::load(request.hash_key(ctx)?, request.key, id, now, &budget)?;
    let mut loaded = request.algorithm.load(key, None, now, Purpose::Write(&budget))?;
    request.algorithm.give_back(&mut loaded, now, hash.book.ended_mut());
    let (mut change, mut charged) = (Change::Keep, Cost::ZERO);
    let standing = hash.book.standing();
    if let Standing::Open(charge) | Standing::Mark(charge) = standing {
        change = request.algorithm.settling(&loaded, now, &charge, actual)?;
        charged = actual;
        // The units that have been given back are still stored.
        let needs_memory = A::needs_memory(&loaded, &change) && !hash.book.gave_back();
        if needs_memory && ctx.out_of_memory(request.key) {
            allows_uncounted(ctx, false)?;
            (change, charged) = (Change::Keep, charge.cost.unwrap_or(Cost::ZERO));
        }
        hash.book.close();
        STATS.reservations_settled.increment();
    }
    if standing == Standing::Unknown && !hash.book.gave_back() {
        drop(loaded);
        reserve::commit_hash(hash);
    } else {
        reserve::commit(&request.algorithm, hash, loaded, change, now);
    }
    STATS.settlements.increment();
    reply_afterwards(ctx, request, form, afterwards, (now, &budget), charged.units())
}

static ARGUMENTS: List<Argument, MOST_ARGUMENTS> =
    Grammar::new(Taker::Settle, None).arguments(&[algorithms::ARGUMENT, KEY, WINDOW, LIMIT]);
