//! `RL.RENEW key window id [id …]`: renews the leases that have not ended; replies how many.

use super::Command;
use super::doc::{IDS, KEY, SINCE, WINDOW};
use super::release::parse_ids;
use crate::error::Error;
use crate::ffi::{Access, Args, CommandDoc, Ctx, KeySpec};
use crate::store::lease;
use redis_rl_algorithm::integer::to_i64;
use redis_rl_algorithm::{Micros, Window};

/// The command.
pub struct Renew;

impl Command for Renew {
    const DOC: CommandDoc = CommandDoc {
        flags: c"write fast",
        acl: c"ratelimit write fast",
        summary: c"Renews leases that have not ended.",
        complexity: c"O(M*log(N)+E) with N the leases, M the ids and E the leases that have ended",
        since: SINCE,
        keys: KeySpec::At(1, Access::ReadWrite),
        arguments: &[KEY, WINDOW, IDS],
        example: "RL.RENEW jobs 30s worker-1",
    };

    fn run<'c>(ctx: Ctx<'c>, mut args: Args<'c>) -> Result<(), Error> {
        let (Some(key), Some(window), false) = (args.next(), args.next(), args.is_empty()) else {
            return Err(Error::ARITY);
        };
        let window = Window::from_text(window.bytes()).ok_or(Error::WINDOW)?;
        let holders = parse_ids(args)?;
        let now = Micros(ctx.now_micros());
        let renewed = lease::renew(lease::key(ctx, key)?, window, now, holders)?;
        ctx.reply_integer(to_i64(renewed));
        Ok(())
    }
}
