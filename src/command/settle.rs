//! `RL.SETTLE <ALGO> key window limit RESERVED n ACTUAL m [AT ms] [BURST n] [ANCHOR t] [FULL | HEADERS]`: a request was
//! charged n and turned out to cost m. Gives the difference back, or charges it whatever the limit says, and replies as
//! RL.PEEK does afterwards.

use super::algorithms::{self, AlgorithmCommand};
use super::args::Accepted;
use super::doc::{ANCHOR, AT, BURST, FORM, KEY, LIMIT, SINCE, WINDOW};
use super::memory;
use super::peek::peek;
use super::request::{Request, require_few_members};
use crate::algorithm::{Change, Cost, Micros};
use crate::error::Error;
use crate::ffi::{Access, Args, Argument, ArgumentKind, CommandDoc, Ctx, KeySpec};
use crate::stats::STATS;
use crate::store::{Purpose, StoredAlgorithm};

/// The command.
pub struct Settle;

impl AlgorithmCommand for Settle {
    const DOC: CommandDoc = CommandDoc {
        flags: c"write fast",
        acl: c"ratelimit write fast",
        summary: c"Corrects what a request was charged to what it turned out to cost.",
        complexity: c"O(1); with SLIDING O(log(N)+M) with N the requests in the window, and M the difference and the requests that left the window; with ROLLING O(N) with N the entries of the record",
        since: SINCE,
        arity: -9,
        keys: KeySpec::At(2, Access::ReadWrite),
        arguments: &[algorithms::ARGUMENT, KEY, WINDOW, LIMIT, RESERVED, ACTUAL, AT, BURST, ANCHOR, FORM],
    };

    fn run<'c, A: StoredAlgorithm>(ctx: Ctx<'c>, args: Args<'c>) -> Result<(), Error> {
        if let Some(error) = A::NO_CORRECTION {
            return Err(error);
        }
        let (request, options, form) = Request::<A>::parse_all(args, &Accepted::SETTLEMENT)
            .map_err(|error| if error == Error::OPTION { Error::SETTLE_OPTION } else { error })?;
        let (Some(reserved), Some(actual)) = (options.reserved, options.actual) else {
            return Err(Error::SETTLEMENT);
        };
        let difference = Cost::new(reserved.units().abs_diff(actual.units())).unwrap_or(Cost::ZERO);
        require_few_members([request.algorithm.members_added(difference)]).map_err(|_| Error::LOG_DIFFERENCE)?;
        let now = Micros(ctx.now_micros());
        let key = request.key_of_state(ctx, now, Purpose::Write)?;
        let afterwards = key.duplicate();
        let loaded = request.algorithm.load(key, now, Purpose::Write)?;
        let mut change = if actual < reserved {
            request.algorithm.refund_on(&loaded, now, options.at, difference)
        } else {
            request.algorithm.overcharge_on(&loaded, now, options.at, difference)?
        };
        if A::needs_memory(&loaded, &change) && ctx.out_of_memory(request.key) {
            memory::allows_uncounted(ctx)?;
            change = Change::Keep;
        }
        request.algorithm.commit(loaded, change, now);
        STATS.settlements.increment();
        peek(ctx, request, form, afterwards, now)
    }
}

const RESERVED: Argument = Argument::new(c"reserved", ArgumentKind::Integer).after(c"RESERVED");
const ACTUAL: Argument = Argument::new(c"actual", ArgumentKind::Integer).after(c"ACTUAL");
