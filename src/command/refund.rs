//! `RL.REFUND <ALGO> key window limit [COST n] [BURST n]`: gives back, and answers as RL.PEEK after it.

use super::algorithms::{self, ByWord, Work};
use super::args::Request;
use super::limit::{BURST, COST, KEY, LIMIT, SINCE, WINDOW};
use super::peek::look;
use super::reply::Form;
use crate::error::Error;
use crate::ffi::{Access, Args, CommandDoc, Ctx, KeySpec, Mode};
use crate::store::Limiter;

/// The command.
pub type Refund = ByWord<GiveBack>;

/// See [`Refund`].
pub struct GiveBack;

impl Work for GiveBack {
    fn run<'c, L: Limiter>(ctx: Ctx<'c>, args: Args<'c>) -> Result<(), Error> {
        let request = Request::parse(args, L::TAKES_BURST)?;
        if request.form != Form::Triple {
            return Err(Error::REFUND_OPTION);
        }
        let limiter = L::new(&request.quota)?;
        // Before anything is given back: the look behind it would refuse it too late.
        limiter.check(request.cost)?;
        let now = ctx.now();
        let name = limiter.state_key(ctx, request.key, now)?;
        let loaded = limiter.load(ctx, name, now, Mode::Write)?;
        limiter.refund(ctx, loaded, now, request.cost);
        look(ctx, &limiter, &request, now)
    }
}

/// The documentation of the command.
pub const DOC: CommandDoc = CommandDoc {
    name: c"RL.REFUND",
    flags: c"write fast",
    acl: c"ratelimit write fast",
    summary: c"Gives back what a request took.",
    complexity: c"O(1); with SLIDING O(log(N)+M) with N the requests in the window and M how many have left it",
    since: SINCE,
    arity: -5,
    keys: KeySpec::At(2, Access::ReadWrite),
    arguments: &[algorithms::ARGUMENT, KEY, WINDOW, LIMIT, COST, BURST],
};
