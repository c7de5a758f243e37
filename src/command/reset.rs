//! `RL.RESET <ALGO> key window [ANCHOR t]`: deletes the state and the reservations; replies 1 if there was one of them,
//! else 0.

use super::algorithms::{self, Algorithm, AlgorithmCommand};
use super::doc::{KEY, SINCE, WINDOW};
use super::options::{Grammar, List, MOST_ARGUMENTS, Options, Taker};
use super::request::parse_policy;
use crate::error::Error;
use crate::ffi::{Access, Args, Argument, CommandDoc, Ctx, KeySpec};
use crate::store::{Purpose, require_left_over, reserved, state_key};
use redis_rl_algorithm::{Change, Micros};

/// The command.
pub struct Reset;

impl AlgorithmCommand for Reset {
    const DOC: CommandDoc = CommandDoc {
        flags: c"write fast",
        acl: c"ratelimit write fast",
        summary: c"Deletes what was counted.",
        complexity: c"O(1)",
        since: SINCE,
        keys: KeySpec::At(2, Access::ReadWrite),
        arguments: ARGUMENTS.as_slice(),
        example: "RL.RESET TOKEN user:42 60s",
    };
    const LEAST: usize = 3;

    fn run<'c, A: Algorithm>(ctx: Ctx<'c>, mut args: Args<'c>) -> Result<(), Error> {
        let (Some(key), Some(window)) = (args.next(), args.next()) else { return Err(Error::ARITY) };
        let (options, _) = Options::parse(&mut args, const { &Grammar::new(Taker::Reset, Some(A::NAME)) })?;
        if !args.is_empty() {
            return Err(const { &Grammar::new(Taker::Reset, None) }.usage());
        }
        // The window selects the counter of FIXED. The limit has no influence.
        let policy = parse_policy::<A>(window, 0, &options)?;
        let algorithm = A::new(&policy)?;
        let now = Micros(ctx.now_micros());
        let (named, reservations) = (key, reserved::existing(&algorithm, ctx, key)?);
        let key = state_key(&algorithm, ctx, key, now, Purpose::Delete)?;
        let loaded = algorithm.load(key, None, now, Purpose::Delete)?;
        let existed = A::exists(&loaded);
        require_left_over(ctx, named, existed || reservations.is_some())?;
        algorithm.commit(loaded, if existed { Change::Delete } else { Change::Keep }, now);
        ctx.reply_integer(i64::from(existed || reservations.is_some()));
        if let Some(hash) = reservations {
            reserved::delete(hash);
        }
        Ok(())
    }
}

static ARGUMENTS: List<Argument, MOST_ARGUMENTS> =
    Grammar::new(Taker::Reset, None).arguments(&[algorithms::ARGUMENT, KEY, WINDOW]);
