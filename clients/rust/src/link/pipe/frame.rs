//! Where a reply ends in the bytes that were read. The crate `redis` makes a value of it.

use redis::{ErrorKind, RedisError, RedisResult, Value};

/// The first reply in these bytes, and how long it is. `None` if its end is missing. What the server sends by itself
/// (`>`, with RESP3) is skipped by the caller: it has no value.
pub fn first(bytes: &[u8]) -> RedisResult<Option<(Option<Value>, usize)>> {
    let Some(length) = length(bytes)? else { return Ok(None) };
    let frame = bytes.get(..length).unwrap_or_default();
    Ok(Some((value(frame)?, length)))
}

fn value(frame: &[u8]) -> RedisResult<Option<Value>> {
    match frame.first() {
        Some(b'>') => Ok(None),
        // Nearly every reply. The parser of the crate takes several times as long.
        Some(b'$') => Ok(Some(bulk_string(frame))),
        _ => redis::parse_redis_value(frame).map(Some),
    }
}

/// The value of a whole frame that begins with `$`.
fn bulk_string(frame: &[u8]) -> Value {
    let text = |header: usize| frame.get(header..frame.len().checked_sub(2)?);
    match line(frame).and_then(text) {
        Some(text) if frame.get(1) != Some(&b'-') => Value::BulkString(text.to_vec()),
        _ => Value::Nil,
    }
}

/// How long the first frame is.
fn length(bytes: &[u8]) -> RedisResult<Option<usize>> {
    // How many values end before the frame does.
    let (mut at, mut missing) = (0_usize, 1_usize);
    while missing > 0 {
        let rest = bytes.get(at..).unwrap_or_default();
        let Some(header) = line(rest) else { return Ok(None) };
        let (kind, number) = (rest[0], || number(&rest[1..header - 2]));
        missing -= 1;
        at = at.saturating_add(header);
        let parts = match kind {
            b'$' | b'!' | b'=' => {
                // −1 is a string that is not there.
                at = at.saturating_add(number()?.map_or(0, |length| length.saturating_add(2)));
                0
            }
            b'*' | b'~' | b'>' => number()?.unwrap_or(0),
            b'%' => number()?.unwrap_or(0).saturating_mul(2),
            // Attributes come before a value.
            b'|' => number()?.unwrap_or(0).saturating_mul(2).saturating_add(1),
            b'+' | b'-' | b':' | b',' | b'#' | b'_' | b'(' => 0,
            _ => return Err(no_reply()),
        };
        missing = missing.saturating_add(parts);
        if bytes.len() < at {
            return Ok(None);
        }
    }
    Ok(Some(at))
}

/// How long the first line is, with its end.
fn line(bytes: &[u8]) -> Option<usize> {
    // A header has a byte before its end.
    bytes.get(1..)?.windows(2).position(|end| end == b"\r\n").map(|at| at + 3)
}

/// A length; `None` for −1.
fn number(digits: &[u8]) -> RedisResult<Option<usize>> {
    if digits == b"-1" {
        return Ok(None);
    }
    atoi::atoi(digits).map(Some).ok_or_else(no_reply)
}

fn no_reply() -> RedisError {
    (ErrorKind::Parse, "what the server sent is no reply").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_ends_where_it_ends() {
        for reply in [
            "+OK\r\n",
            "-ERR a text\r\n",
            ":12\r\n",
            "$5\r\nab\r\nc\r\n",
            "$0\r\n\r\n",
            "$-1\r\n",
            "*-1\r\n",
            "*0\r\n",
            "*3\r\n:1\r\n*2\r\n$1\r\na\r\n$-1\r\n+b\r\n",
            "%1\r\n+a\r\n~2\r\n:1\r\n:2\r\n",
            "=7\r\ntxt:abc\r\n",
            "_\r\n",
            "#t\r\n",
            ",1.5\r\n",
        ] {
            let bytes = format!("{reply}:7\r\n").into_bytes();
            let (value, length) = first(&bytes).unwrap().expect(reply);
            assert_eq!((value, length), (redis::parse_redis_value(reply.as_bytes()).ok(), reply.len()), "{reply}");
            for cut in 0..reply.len() {
                assert_eq!(first(&bytes[..cut]).unwrap(), None, "{reply} up to {cut}");
            }
        }
        assert_eq!(first(b">2\r\n+invalidate\r\n_\r\n:1\r\n").unwrap(), Some((None, 20)));
        for garbage in ["HTTP/1.1 400 Bad Request\r\n", "$x\r\n", "*99999999999999999999999\r\n"] {
            assert!(first(garbage.as_bytes()).is_err(), "{garbage}");
        }
        assert_eq!(first(b"*9223372036854775807\r\n*9223372036854775807\r\n").unwrap(), None);
    }
}
