//! `RL.THROTTLE key max_burst count period [quantity]`, and the same as `CL.THROTTLE`: the command of redis-cell, with
//! its arguments, its five integers and its keys.
//!
//! What ends a server with redis-cell is an error here: a value that is no theoretical arrival time, a rate of 0, and
//! a rate that overflows. A negative quantity, with which redis-cell gives units back, is an error too: RL.REFUND does
//! that.

use super::Command;
use super::algorithms::Algorithm;
use super::doc::{KEY, SINCE};
use super::request::Request;
use crate::error::Error;
use crate::ffi::{Access, Args, Argument, ArgumentKind, CommandDoc, Ctx, KeySpec};
use crate::store::{Budget, Purpose, Record};
use redis_rl_algorithm::integer::parse_unsigned;
use redis_rl_algorithm::{Charging, Cost, Gcra, MAX_COUNT, Micros, Policy, Window};

/// The command, under either name.
pub struct Throttle;

impl Command for Throttle {
    const DOC: CommandDoc = CommandDoc {
        flags: c"write fast",
        acl: c"ratelimit write fast",
        summary: c"Checks a request with the generic cell rate algorithm, as redis-cell does.",
        complexity: c"O(1)",
        since: SINCE,
        keys: KeySpec::At(1, Access::ReadWrite),
        arguments: ARGUMENTS,
        example: "RL.THROTTLE user:42 15 30 60",
    };

    fn run<'c>(ctx: Ctx<'c>, args: Args<'c>) -> Result<(), Error> {
        throttle(ctx, args).inspect_err(|_| Record::<Gcra>::decisions().errors.increment())
    }
}

fn throttle<'c>(ctx: Ctx<'c>, args: Args<'c>) -> Result<(), Error> {
    let request = parse(args)?;
    let now = Micros(ctx.now_micros());
    let budget = Budget::of_call();
    let key = request.state_key(ctx, now, Purpose::Write(&budget))?;
    let mut pending = request.decide(key, now, Purpose::Write(&budget))?;
    pending.require_memory(ctx)?;
    let throttled = {
        let Request { algorithm, cost, .. } = &pending.request;
        let after = pending.decision.change.apply_to(pending.loaded.state);
        let mut throttled = algorithm.0.throttled(after, now, cost.units(), pending.decision.verdict.allowed);
        let [.., retry_after, _] = &mut throttled;
        *retry_after = pending.wait_for_memory_seconds().max(*retry_after);
        throttled
    };
    pending.commit();
    ctx.reply_array(throttled.len());
    throttled.iter().for_each(|&n| ctx.reply_integer(n));
    Ok(())
}

fn parse<'c>(mut args: Args<'c>) -> Result<Request<'c, Record<Gcra>>, Error> {
    let (Some(key), Some(max_burst), Some(count), Some(window)) = (args.next(), args.next(), args.next(), args.next())
    else {
        return Err(Error::ARITY);
    };
    let number = |text: &[u8], least: u64| parse_unsigned(text).filter(|n| (least..=MAX_COUNT).contains(n));
    let max_burst = number(max_burst.bytes(), 0).ok_or(Error::MAX_BURST)?;
    let count = number(count.bytes(), 1).ok_or(Error::COUNT)?;
    let period = number(window.bytes(), 1).ok_or(Error::PERIOD)?;
    let quantity = args.next().map_or(Some(1), |quantity| number(quantity.bytes(), 0));
    let cost = quantity.and_then(Cost::new).ok_or(Error::QUANTITY)?;
    if !args.is_empty() {
        return Err(Error::ARITY);
    }
    let algorithm = Record(Gcra::throttle(max_burst, count, period)?);
    // Only headers show the policy, and this command has none: a period above the longest window is cut.
    let length = Window::from_millis(period.saturating_mul(1_000)).unwrap_or(Window::LONGEST);
    let policy = Policy { burst: max_burst.checked_add(1), ..Policy::new(length, count) };
    let (name, id) = (None, None);
    Ok(Request {
        key,
        window,
        algorithm,
        policy,
        name,
        id,
        cost,
        partial: false,
        charging: Charging::IfAllowed,
        shadow: false,
        ignores_shadow: false,
    })
}

const ARGUMENTS: &[Argument] = &[
    KEY,
    Argument::new(c"max_burst", ArgumentKind::Integer),
    Argument::new(c"count", ArgumentKind::Integer),
    Argument::new(c"period", ArgumentKind::Integer),
    Argument::new(c"quantity", ArgumentKind::Integer).optional(),
];
