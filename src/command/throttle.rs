//! `RL.THROTTLE key max_burst count period [quantity]`, and the same as `CL.THROTTLE`: redis-cell's command, with its
//! arguments, its five integers and its keys.
//!
//! What ends a server with redis-cell is an error here: a value that is no theoretical arrival time, a rate of zero
//! or one that overflows. A negative quantity, with which redis-cell gives back, is one too: RL.REFUND does that.

use std::ffi::CStr;

use super::limit::{KEY, MEMORY_RETRY_MS, SINCE, starved};
use crate::error::Error;
use crate::ffi::{Access, Args, Argument, ArgumentKind, CommandDoc, Ctx, Handler, KeySpec, Mode, Str};
use crate::integer::parse_unsigned;
use crate::limit::{Change, Gcra, MAX_COUNT};
use crate::store::record;

/// The command, under either name.
pub struct Throttle;

impl Handler for Throttle {
    fn run<'c>(ctx: Ctx<'c>, mut args: Args<'c>) -> Result<(), Error> {
        let (Some(key), Some(max_burst), Some(count), Some(period)) =
            (args.next(), args.next(), args.next(), args.next())
        else {
            return Err(Error::ARITY);
        };
        let number = |text: &[u8], least: u64| parse_unsigned(text).filter(|n| (least..=MAX_COUNT).contains(n));
        let max_burst = number(max_burst.bytes(), 0).ok_or(Error::MAX_BURST)?;
        let count = number(count.bytes(), 1).ok_or(Error::COUNT)?;
        let period = number(period.bytes(), 1).ok_or(Error::PERIOD)?;
        let quantity = args.next().map_or(Some(1), |quantity| number(quantity.bytes(), 0)).ok_or(Error::QUANTITY)?;
        if !args.is_empty() {
            return Err(Error::ARITY);
        }
        let gcra = Gcra::throttle(max_burst, count, period)?;

        let loaded = record::load::<Gcra>(ctx, Str::of_argument(key), Mode::Write)?;
        let (mut throttled, change) = gcra.decide_throttle(loaded.state(), ctx.now(), quantity);
        if record::makes_a_key(&loaded, &change) && ctx.memory_full(key) {
            if !starved(ctx)? {
                throttled.limited = true;
                throttled.retry_after = throttled.retry_after.max(MEMORY_RETRY_MS / 1_000);
            }
        } else if let Change::Charge(tat) | Change::Reanchor(tat) = change {
            record::write(&gcra, ctx, loaded, &tat);
        }
        let figures = throttled.to_array();
        ctx.reply_array(figures.len());
        figures.iter().for_each(|&n| ctx.reply_integer(n));
        Ok(())
    }
}

/// The documentation of the command.
pub const fn doc(name: &'static CStr) -> CommandDoc {
    CommandDoc {
        name,
        flags: c"write fast",
        acl: c"ratelimit write fast",
        summary: c"Asks for a request under the generic cell rate algorithm, as redis-cell does.",
        complexity: c"O(1)",
        since: SINCE,
        arity: -5,
        keys: KeySpec::At(1, Access::ReadWrite),
        arguments: ARGUMENTS,
    }
}

const ARGUMENTS: &[Argument] = &[
    KEY,
    Argument::new(c"max_burst", ArgumentKind::Integer),
    Argument::new(c"count", ArgumentKind::Integer),
    Argument::new(c"period", ArgumentKind::Integer),
    Argument::new(c"quantity", ArgumentKind::Integer).optional(),
];
