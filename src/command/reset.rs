//! `RL.RESET <ALGO> key window [ANCHOR t]`: deletes the state; replies 1 if there was one, else 0.

use super::algorithms::{self, AlgorithmCommand};
use super::args::{Accepted, Options};
use super::doc::{ANCHOR, KEY, SINCE, WINDOW};
use super::request::{parse_policy, require_taken};
use crate::algorithm::{Change, Micros};
use crate::error::Error;
use crate::ffi::{Access, Args, CommandDoc, Ctx, KeySpec};
use crate::store::{Purpose, StoredAlgorithm, state_key};

/// The command.
pub struct Reset;

impl AlgorithmCommand for Reset {
    const DOC: CommandDoc = CommandDoc {
        flags: c"write fast",
        acl: c"ratelimit write fast",
        summary: c"Deletes what was counted.",
        complexity: c"O(1)",
        since: SINCE,
        arity: -4,
        keys: KeySpec::At(2, Access::ReadWrite),
        arguments: &[algorithms::ARGUMENT, KEY, WINDOW, ANCHOR],
    };

    fn run<'c, A: StoredAlgorithm>(ctx: Ctx<'c>, mut args: Args<'c>) -> Result<(), Error> {
        let (Some(key), Some(window)) = (args.next(), args.next()) else { return Err(Error::ARITY) };
        let options = Options::parse(&mut args, None)?;
        options.require(&Accepted::NONE)?;
        require_taken::<A>(&options)?;
        if !args.is_empty() || options.burst.is_some() {
            return Err(Error::RESET_OPTION);
        }
        // The window selects the counter of FIXED. The limit has no influence.
        let policy = parse_policy::<A>(window, 0, &options)?;
        let algorithm = A::new(&policy)?;
        let now = Micros(ctx.now_micros());
        let key = state_key(&algorithm, ctx, key, now, Purpose::Delete)?;
        let loaded = algorithm.load(key, now, Purpose::Delete)?;
        let existed = A::exists(&loaded);
        algorithm.commit(loaded, Change::reset(existed), now);
        ctx.reply_integer(i64::from(existed));
        Ok(())
    }
}
