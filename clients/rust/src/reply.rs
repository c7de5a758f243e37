//! Reads the replies of the module and of the library, on RESP2 and RESP3.

use std::time::Duration;

use atoi::FromRadix10SignedChecked;
use redis::Value;

use crate::decision::{Decision, Decisions, RetryAfter, Source};
use crate::error::Error;
use crate::request::Request;

/// The figures of a FULL reply, by name; of a LINE reply, in order. `charged` follows, unless the module is older.
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

/// The LINE or FULL reply to a request.
pub fn decision(reply: Value, request: &Request<'_>) -> Result<Decision, Error> {
    let Figures { known, charged } = figures(reply)?;
    let [first, count, _, limit, remaining, retry_after_ms, next_ms, reset_ms, delay_ms, now_ms, shadow] = known;
    // With PARTIAL, COST 0 charges 0 units in either case.
    let allowed = if request.partial && request.cost == 0 { retry_after_ms == 0 } else { first > 0 };
    let charged = match (allowed, request.partial) {
        _ if charged.is_some() => unsigned(charged.unwrap_or(0)),
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

/// The LINE or FULL reply of RL.MULTI.
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

/// The figures of a reply.
struct Figures {
    known: [i64; FIGURES.len()],
    /// `None` from a module that is older.
    charged: Option<i64>,
}

/// LINE is one string. FULL is a map on RESP3; a flat array on RESP2 and from a script. Figures that this client does not
/// know are left out.
fn figures(reply: Value) -> Result<Figures, Error> {
    match reply {
        Value::BulkString(line) => figures_of_line(&line),
        Value::Map(pairs) => named_figures(pairs.into_iter().map(Ok)),
        Value::Array(flat) => {
            let mut words = flat.into_iter();
            let pair =
                || Some(words.next().map(|name| words.next().map(|figure| (name, figure)).ok_or(Error::UnknownReply)));
            named_figures(std::iter::from_fn(pair).map_while(|pair| pair))
        }
        _ => Err(Error::UnknownReply),
    }
}

/// The figures in order, with a blank between them.
fn figures_of_line(line: &[u8]) -> Result<Figures, Error> {
    let figure = |word: &[u8]| match i64::from_radix_10_signed_checked(word) {
        (Some(figure), used) if used > 0 && used == word.len() => Ok(figure),
        _ => Err(Error::UnknownReply),
    };
    let mut words = line.split(|&byte| byte == b' ').map(figure);
    let mut known = [0; FIGURES.len()];
    for figure in &mut known {
        *figure = words.next().ok_or(Error::UnknownReply)??;
    }
    let charged = words.next().transpose()?;
    Ok(Figures { known, charged })
}

fn named_figures(pairs: impl Iterator<Item = Result<(Value, Value), Error>>) -> Result<Figures, Error> {
    let (mut found, mut charged) = ([None; FIGURES.len()], None);
    for pair in pairs {
        let (Value::BulkString(name), figure) = pair? else { return Err(Error::UnknownReply) };
        if let Some(at) = FIGURES.iter().position(|known| known.as_bytes() == name) {
            found[at] = Some(integer(figure)?);
        } else if name == b"charged" {
            charged = Some(integer(figure)?);
        }
    }
    let mut known = [0; FIGURES.len()];
    for (known, figure) in known.iter_mut().zip(found) {
        *known = figure.ok_or(Error::UnknownReply)?;
    }
    Ok(Figures { known, charged })
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
    use std::time::Duration;

    use super::*;
    use crate::policy::Policy;

    const POLICY: Policy = Policy::token(Duration::from_secs(60), 60);

    fn line(text: &str) -> Result<Decision, Error> {
        decision(Value::BulkString(text.into()), &POLICY.request("k").cost(3))
    }

    #[test]
    fn a_line_has_the_figures_in_order() {
        let reply = line("1 0 1 60 59 0 1000 1000 0 1795281570123 0 2").unwrap();
        assert_eq!((reply.allowed, reply.count, reply.limit, reply.remaining, reply.charged), (true, 0, 60, 59, 2));
        assert_eq!((reply.next, reply.now_ms), (Some(Duration::from_secs(1)), 1_795_281_570_123));
        // An older module does not say what it charged; a newer one says more.
        assert_eq!(line("1 0 1 60 59 0 1000 1000 0 1795281570123 0").unwrap().charged, 3);
        assert_eq!(line("1 0 1 60 59 0 1000 1000 0 1795281570123 0 2 7").unwrap().charged, 2);
        for text in ["", "1 0 1", "1 0 1 60 59 0 1000 1000 0 1795281570123 x", "1  0 1 60 59 0 1000 1000 0 1 0 1"] {
            assert!(matches!(line(text), Err(Error::UnknownReply)), "{text}");
        }
    }

    #[test]
    fn what_an_older_module_charged_is_seen_from_the_other_figures() {
        const ALLOWED: &str = "1 0 1 60 57 0 1000 1000 0 1795281570123 0";
        const DENIED: &str = "0 58 1 60 2 1000 1000 58000 0 1795281570123 0";
        const SHADOW: &str = "1 58 1 60 2 0 1000 58000 0 1795281570123 1";
        assert_eq!([ALLOWED, DENIED, SHADOW].map(|text| line(text).unwrap().charged), [3, 0, 0]);
        // If one limit denies, none is charged.
        let requests = [POLICY.request("a").cost(3), POLICY.request("b").cost(3)];
        let limits = [ALLOWED, DENIED].map(|text| Value::BulkString(text.into()));
        let reply = decisions(Value::Array(vec![Value::Int(0), Value::Array(limits.to_vec())]), &requests).unwrap();
        assert_eq!((reply.allowed, reply.limits[0].charged, reply.limits[1].charged), (false, 0, 0));
    }
}
