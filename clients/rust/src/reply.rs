//! Reads the replies of the module and of the library, on RESP2 and RESP3.

use std::time::Duration;

use redis::Value;

use crate::decision::{Decision, Decisions, RetryAfter, Source};
use crate::error::Error;
use crate::request::Request;

/// The figures of a FULL reply, by name.
const FIGURES: [&str; 11] = [
    "allowed",
    "count",
    "ttl",
    "limit",
    "remaining",
    "retry_after_ms",
    "next_ms",
    "reset_ms",
    "delay_ms",
    "now_ms",
    "shadow",
];

/// The FULL reply to a request.
pub fn decision(reply: Value, request: &Request<'_>) -> Result<Decision, Error> {
    let [first, count, _, limit, remaining, retry_after_ms, next_ms, reset_ms, delay_ms, now_ms, shadow] =
        figures(reply)?;
    // With PARTIAL, COST 0 charges 0 units in either case.
    let allowed = if request.partial && request.cost == 0 { retry_after_ms == 0 } else { first > 0 };
    let charged = match (allowed, request.partial) {
        // Shadow mode allows what is not charged.
        _ if shadow != 0 => 0,
        (false, _) => 0,
        (true, false) => request.cost,
        (true, true) => unsigned(first),
    };
    Ok(Decision {
        allowed,
        charged,
        count,
        limit: unsigned(limit),
        remaining: unsigned(remaining),
        retry_after: RetryAfter::from_millis(retry_after_ms),
        next: wait(next_ms),
        reset_after: wait(reset_ms),
        delay: wait(delay_ms).unwrap_or_default(),
        now_ms: unsigned(now_ms),
        shadow: shadow != 0,
        source: Source::Server,
        policy: *request.policy,
    })
}

/// The FULL reply of RL.MULTI.
pub fn decisions(reply: Value, requests: &[Request<'_>]) -> Result<Decisions, Error> {
    let Value::Array(parts) = reply else { return Err(Error::UnknownReply) };
    let Ok([allowed, Value::Array(limits)]) = <[Value; 2]>::try_from(parts) else { return Err(Error::UnknownReply) };
    if limits.len() != requests.len() {
        return Err(Error::UnknownReply);
    }
    let allowed = integer(allowed)? != 0;
    let each = limits.into_iter().zip(requests).map(|(reply, request)| {
        let decision = decision(reply, request)?;
        // If one limit denies, none is charged.
        Ok(Decision { charged: if allowed { decision.charged } else { 0 }, ..decision })
    });
    Ok(Decisions { allowed, limits: each.collect::<Result<_, Error>>()? })
}

/// An integer, as RL.RESET and RL.RELEASE reply.
pub fn integer(reply: Value) -> Result<i64, Error> {
    match reply {
        Value::Int(n) => Ok(n),
        _ => Err(Error::UnknownReply),
    }
}

/// A map on RESP3; a flat array on RESP2 and from a script. Figures that this client does not know are left out.
fn figures(reply: Value) -> Result<[i64; 11], Error> {
    let mut figures = [None; 11];
    let mut set = |name: Value, figure: Value| {
        let Value::BulkString(name) = name else { return Err(Error::UnknownReply) };
        if let Some(at) = FIGURES.iter().position(|known| known.as_bytes() == name) {
            figures[at] = Some(integer(figure)?);
        }
        Ok(())
    };
    match reply {
        Value::Map(pairs) => pairs.into_iter().try_for_each(|(name, figure)| set(name, figure))?,
        Value::Array(flat) => {
            let mut words = flat.into_iter();
            while let Some(name) = words.next() {
                set(name, words.next().ok_or(Error::UnknownReply)?)?;
            }
        }
        _ => return Err(Error::UnknownReply),
    }
    let mut known = [0; 11];
    for (known, figure) in known.iter_mut().zip(figures) {
        *known = figure.ok_or(Error::UnknownReply)?;
    }
    Ok(known)
}

/// Negative figures mean never; where they cannot be, 0.
fn unsigned(figure: i64) -> u64 {
    u64::try_from(figure).unwrap_or(0)
}

fn wait(millis: i64) -> Option<Duration> {
    u64::try_from(millis).ok().map(Duration::from_millis)
}
