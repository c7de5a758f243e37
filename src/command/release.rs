//! `RL.RELEASE key id [id …]`: ends leases; replies how many had not ended before.

use super::Command;
use super::doc::{IDS, KEY, SINCE};
use super::values::parse_ids;
use crate::error::Error;
use crate::ffi::{Access, Args, CommandDoc, Ctx, KeySpec};
use crate::store::lease;
use redis_rl_algorithm::Micros;
use redis_rl_algorithm::arithmetic::to_i64;

/// The command.
pub struct Release;

impl Command for Release {
    const DOC: CommandDoc = CommandDoc {
        flags: c"write fast",
        acl: c"ratelimit write fast",
        summary: c"Ends leases.",
        complexity: c"O(M*log(N)+E) with N the leases, M the ids and E the leases that have ended",
        since: SINCE,
        keys: KeySpec::At(1, Access::ReadWrite),
        arguments: &[KEY, IDS],
        example: "RL.RELEASE jobs worker-1",
    };

    fn run<'c>(ctx: Ctx<'c>, mut args: Args<'c>) -> Result<(), Error> {
        let key = args.next().ok_or(Error::ARITY)?;
        let holders = parse_ids(args)?;
        let now = Micros(ctx.now_micros());
        let released = lease::release(lease::key(ctx, key)?, now, holders)?;
        ctx.reply_integer(to_i64(released));
        Ok(())
    }
}
