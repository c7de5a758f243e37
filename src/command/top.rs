//! `RL.TOP [count]` and `RL.TOP RESET`: the keys that are denied most.
//!
//! It shows keys whatever the permissions of the user, so it is a command for administrators.

use super::Command;
use super::doc::SINCE;
use super::name::Name;
use crate::denied;
use crate::error::Error;
use crate::ffi::{Args, Argument, ArgumentKind, CommandDoc, Ctx, KeySpec};
use redis_rl_algorithm::integer::parse_unsigned;
use redis_rl_algorithm::integer::to_i64;

/// How many keys are replied if the call does not say.
const DEFAULT_COUNT: usize = 10;

/// The command.
pub struct Top;

impl Command for Top {
    const DOC: CommandDoc = CommandDoc {
        flags: c"admin fast allow-stale",
        acl: c"admin dangerous",
        summary: c"Replies the keys that are denied most, or clears them.",
        complexity: c"O(N*log(N)) with N the value of rl.top-keys",
        since: SINCE,
        keys: KeySpec::None,
        arguments: &[WHAT],
        example: "RL.TOP 10",
    };

    fn run<'c>(ctx: Ctx<'c>, mut args: Args<'c>) -> Result<(), Error> {
        let word = args.next().map(|word| word.bytes());
        if !args.is_empty() {
            return Err(Error::ARITY);
        }
        if word.is_some_and(|word| word.eq_ignore_ascii_case(b"RESET")) {
            denied::with_sketch(&ctx.context(), |sketch| sketch.clear());
            ctx.reply_simple(c"OK");
            return Ok(());
        }
        let count = word.map_or(Some(DEFAULT_COUNT), |word| usize::try_from(parse_unsigned(word)?).ok());
        let count = count.ok_or(Error::TOP_COUNT)?;
        if denied::capacity() == 0 {
            return Err(Error::TOP_OFF);
        }
        denied::with_sketch(&ctx.context(), |sketch| {
            let keys = sketch.top(count);
            ctx.reply_map(2);
            ctx.reply_bytes(b"error_bound");
            ctx.reply_unsigned(sketch.error_bound());
            ctx.reply_bytes(b"keys");
            ctx.reply_array(keys.len());
            for denied in keys {
                ctx.reply_map(8);
                ctx.reply_bytes(b"key");
                ctx.reply_bytes(denied.key);
                ctx.reply_bytes(b"algorithm");
                let name = Name::ALL.get(usize::from(denied.algorithm));
                ctx.reply_bytes(name.map_or("", |name| name.word()).as_bytes());
                for (name, n) in [("denied", denied.count), ("error", denied.error), ("last_ms", denied.last_ms)] {
                    ctx.reply_bytes(name.as_bytes());
                    ctx.reply_unsigned(n);
                }
                ctx.reply_bytes(b"window");
                ctx.reply_bytes(denied.last.window);
                ctx.reply_bytes(b"limit");
                ctx.reply_unsigned(denied.last.limit);
                ctx.reply_bytes(b"anchor");
                ctx.reply_integer(denied.last.anchor.map_or(-1, to_i64));
            }
        });
        Ok(())
    }
}

const WHAT: Argument = Argument::new(
    c"what",
    ArgumentKind::OneOf(&[
        Argument::new(c"count", ArgumentKind::Integer),
        Argument::new(c"reset", ArgumentKind::Token).after(c"RESET"),
    ]),
)
.optional();
