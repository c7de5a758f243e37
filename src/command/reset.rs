//! `RL.RESET <ALGO> key window`: forgets what was counted; 1 if there was anything, else 0.

use super::algorithms::{self, ByWord, Work};
use super::args::parse_window;
use super::limit::{KEY, SINCE, WINDOW};
use crate::error::Error;
use crate::ffi::{Access, Args, CommandDoc, Ctx, KeySpec, Mode};
use crate::limit::Quota;
use crate::store::Limiter;

/// The command.
pub type Reset = ByWord<Forget>;

/// See [`Reset`].
pub struct Forget;

impl Work for Forget {
    fn run<'c, L: Limiter>(ctx: Ctx<'c>, mut args: Args<'c>) -> Result<(), Error> {
        let (Some(key), Some(window), None) = (args.next(), args.next(), args.next()) else {
            return Err(Error::ARITY);
        };
        // The window finds FIXED's counter; the limit has no say in what was counted.
        let quota = Quota { window: parse_window(window.bytes())?, limit: 0, burst: None };
        let limiter = L::new(&quota)?;
        let now = ctx.now();
        let name = limiter.state_key(ctx, key, now)?;
        let loaded = limiter.load(ctx, name, now, Mode::Write)?;
        let was_there = limiter.reset(ctx, loaded);
        ctx.reply_integer(i64::from(was_there));
        Ok(())
    }
}

/// The documentation of the command.
pub const DOC: CommandDoc = CommandDoc {
    name: c"RL.RESET",
    flags: c"write fast",
    acl: c"ratelimit write fast",
    summary: c"Forgets what was counted.",
    complexity: c"O(1); with SLIDING O(log(N)+M) with N the requests in the window and M how many have left it",
    since: SINCE,
    arity: 4,
    keys: KeySpec::At(2, Access::ReadWrite),
    arguments: &[algorithms::ARGUMENT, KEY, WINDOW],
};
