//! Reads the replies of the module and of the Lua scripts.

use std::time::Duration;

use redis::Value;

use crate::decision::{Decision, Decisions, RetryAfter, Shared, Source};
use crate::error::Error;
use crate::policy::Request;

/// The figures of a LINE reply, in order.
const FIGURES: usize = 12;

/// The LINE reply to a request.
pub fn decision(reply: &Value, request: &Request<'_>) -> Result<Decision, Error> {
    let Value::BulkString(line) = reply else { return Err(Error::UnknownReply) };
    let [first, count, _, limit, remaining, retry_after_ms, next_ms, reset_ms, delay_ms, now_ms, shadow, charged] =
        figures(line).ok_or(Error::UnknownReply)?;
    Ok(Decision {
        // With PARTIAL, COST 0 charges 0 units in either case.
        allowed: if request.partial && request.cost == 0 { retry_after_ms == 0 } else { first > 0 },
        charged: unsigned(charged),
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

/// The LINE reply of RL.MULTI.
pub fn decisions(reply: Value, requests: &[Request<'_>]) -> Result<Decisions, Error> {
    let (allowed, limits) = several(reply, requests)?;
    Ok(Decisions { allowed: allowed != 0, limits })
}

/// The LINE reply of RL.SHARE.
pub fn shared(reply: Value, requests: &[Request<'_>]) -> Result<Shared, Error> {
    let (paid, limits) = several(reply, requests)?;
    let paid = usize::try_from(paid).ok().filter(|paid| *paid <= limits.len()).ok_or(Error::UnknownReply)?;
    Ok(Shared { paid: paid.checked_sub(1), limits })
}

/// The number that a command of several limits replies first, and the decision of each limit.
fn several(reply: Value, requests: &[Request<'_>]) -> Result<(i64, Vec<Decision>), Error> {
    let Value::Array(parts) = reply else { return Err(Error::UnknownReply) };
    let Ok([Value::Int(first), Value::Array(limits)]) = <[Value; 2]>::try_from(parts) else {
        return Err(Error::UnknownReply);
    };
    if limits.len() != requests.len() {
        return Err(Error::UnknownReply);
    }
    let each = limits.into_iter().zip(requests).map(|(reply, request)| decision(&reply, request));
    Ok((first, each.collect::<Result<_, Error>>()?))
}

/// 1 or 0, as RL.RESET and RL.RELEASE reply.
pub fn flag(reply: Value) -> Result<bool, Error> {
    match reply {
        Value::Int(n) => Ok(n != 0),
        _ => Err(Error::UnknownReply),
    }
}

/// The figures of a line, with a blank between them. Those that this client does not know are left out.
fn figures(mut rest: &[u8]) -> Option<[i64; FIGURES]> {
    let mut known = [0; FIGURES];
    for figure in &mut known {
        let negative = rest.strip_prefix(b"-");
        rest = negative.unwrap_or(rest);
        let (length, mut value) = (rest.len(), 0_u64);
        while let [digit @ b'0'..=b'9', more @ ..] = rest {
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
            rest = more;
        }
        // So many digits fit a u64.
        if !(1..=19).contains(&(length - rest.len())) {
            return None;
        }
        *figure = if negative.is_some() { 0_i64.checked_sub_unsigned(value) } else { i64::try_from(value).ok() }?;
        rest = match rest {
            [b' ', more @ ..] => more,
            [] => rest,
            _ => return None,
        };
    }
    Some(known)
}

/// Negative figures mean never; where they cannot be, 0.
fn unsigned(figure: i64) -> u64 {
    u64::try_from(figure).unwrap_or(0)
}

fn wait(millis: i64) -> Option<Duration> {
    u64::try_from(millis).ok().map(Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Policy;

    const POLICY: Policy = Policy::token(Duration::from_secs(60), 60);

    fn line(text: &str) -> Result<Decision, Error> {
        decision(&Value::BulkString(text.into()), &POLICY.request("k").cost(3))
    }

    #[test]
    fn what_is_no_line_is_an_error() {
        // A newer module says more.
        assert_eq!(line("1 0 1 60 59 0 1000 1000 0 1795281570123 0 2 7").unwrap().charged, 2);
        assert_eq!(line("0 -9223372036854775808 1 60 0 -1 -1 1000 0 1 0 0").unwrap().count, i64::MIN);
        for text in [
            "",
            "1 0 1 60 59 0 1000 1000 0 1795281570123 0",
            "1 0 1 60 59 0 1000 1000 0 1795281570123 x",
            "1  0 1 60 59 0 1000 1000 0 1 0 1",
            "1 0 1 60 59 0 1000 1000 0 1 0 1x",
            "1 0 1 60 59 0 1000 1000 0 1 0 -",
            "1 0 1 60 59 0 1000 1000 0 1 0 9223372036854775808",
        ] {
            assert!(matches!(line(text), Err(Error::UnknownReply)), "{text}");
        }
    }
}
