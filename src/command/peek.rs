//! `RL.PEEK <ALGO> key window limit [COST n] [BURST n] [FULL | HEADERS]`: what the answer would be.

use super::algorithms::{self, ByWord, Work};
use super::args::Request;
use super::limit::{BURST, COST, FORM, KEY, LIMIT, SINCE, WINDOW};
use super::reply::{self, Answer, Form};
use crate::error::Error;
use crate::ffi::{Access, Args, CommandDoc, Ctx, KeySpec, Mode};
use crate::limit::Micros;
use crate::store::Limiter;

/// The command.
pub type Peek = ByWord<Look>;

/// See [`Peek`].
pub struct Look;

impl Work for Look {
    fn run<'c, L: Limiter>(ctx: Ctx<'c>, args: Args<'c>) -> Result<(), Error> {
        let request = Request::parse(args, L::TAKES_BURST)?;
        look::<L>(ctx, &L::new(&request.quota)?, &request, ctx.now())
    }
}

/// Decides and answers, and drops the change.
pub fn look<L: Limiter>(ctx: Ctx<'_>, limiter: &L, request: &Request<'_>, now: Micros) -> Result<(), Error> {
    let name = limiter.state_key(ctx, request.key, now)?;
    let mut loaded = limiter.load(ctx, name, now, Mode::Look)?;
    let decision = limiter.decide(&mut loaded, now, request.cost)?;
    if request.form == Form::Triple {
        reply::triple(ctx, decision.verdict);
        return Ok(());
    }
    let figures = limiter.figures(&loaded, &decision, now, request.cost);
    let answer = Answer { name: L::NAME, quota: request.quota, verdict: decision.verdict, figures, now };
    reply::with_figures(ctx, request.form, &answer);
    Ok(())
}

/// The documentation of the command.
pub const DOC: CommandDoc = CommandDoc {
    name: c"RL.PEEK",
    flags: c"readonly fast",
    acl: c"ratelimit read fast",
    summary: c"Tells what the answer to a request would be, and changes nothing.",
    complexity: c"O(1); with SLIDING O(log(N)) with N the requests in the window",
    since: SINCE,
    arity: -5,
    keys: KeySpec::At(2, Access::Read),
    arguments: &[algorithms::ARGUMENT, KEY, WINDOW, LIMIT, COST, BURST, FORM],
};
