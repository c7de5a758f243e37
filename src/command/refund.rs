//! `RL.REFUND <ALGO> key window limit [COST n] [BURST n]`: gives back, and answers as RL.PEEK after it.

use super::algorithms::{self, Work, dispatch};
use super::args::Request;
use super::limit::{BURST, COST, KEY, LIMIT, SINCE, WINDOW};
use super::peek::look;
use super::reply::Form;
use crate::error::Error;
use crate::ffi::{Access, Args, CommandDoc, Ctx, Handler, KeySpec, Mode};
use crate::store::Limiter;

/// The command.
pub struct Refund;

impl Handler for Refund {
    fn run<'c>(ctx: Ctx<'c>, mut args: Args<'c>) -> Result<(), Error> {
        let word = args.next().ok_or(Error::ARITY)?;
        dispatch(word.bytes(), GiveBack { ctx, args })
    }
}

struct GiveBack<'c> {
    ctx: Ctx<'c>,
    args: Args<'c>,
}

impl Work for GiveBack<'_> {
    fn run<L: Limiter>(self) -> Result<(), Error> {
        let ctx = self.ctx;
        let request = Request::parse(self.args, L::TAKES_BURST)?;
        if request.form != Form::Triple {
            return Err(Error::REFUND_OPTION);
        }
        let limiter = L::new(&request.quota)?;
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
