//! `RL.RELEASE key id [id …]`: ends leases; replies how many had not ended before.

use super::Command;
use super::doc::{IDS, KEY, SINCE};
use super::options::is_id;
use crate::error::Error;
use crate::ffi::{Access, Args, CommandDoc, Ctx, KeySpec, Str};
use crate::store::lease;
use redis_rl_algorithm::Micros;
use redis_rl_algorithm::integer::to_i64;

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

/// The most ids of a call. Each costs the server about as much as a command of its own.
const MAX_IDS: usize = 1_000;

/// `id [id …]`: the rest of a call. The result has each id once.
pub fn parse_ids<'c>(args: Args<'c>) -> Result<Vec<Str<'c>>, Error> {
    if args.is_empty() {
        return Err(Error::ARITY);
    }
    if args.len() > MAX_IDS {
        return Err(Error::TOO_MANY_IDS);
    }
    let mut ids: Vec<_> = args.collect();
    if !ids.iter().all(|id| is_id(id.bytes())) {
        return Err(Error::ID);
    }
    ids.sort_unstable_by_key(|id| id.bytes());
    ids.dedup_by_key(|id| id.bytes());
    Ok(ids.into_iter().map(Str::of_argument).collect())
}
