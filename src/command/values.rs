//! The values of arguments, from their text: windows, limits, names, ids.

use redis_rl_algorithm::integer::parse_unsigned;
use redis_rl_algorithm::period::{Anchor, CalendarUnit};
use redis_rl_algorithm::{MAX_COUNT, Schedule, Window};

use crate::error::Error;
use crate::ffi::{Args, Str};

/// A positive integer of seconds, or one with a unit: `500ms`, `10s`, `5m`, `1h`, `1d`.
#[inline]
pub fn parse_window(text: &[u8]) -> Option<Window> {
    let (digits, unit_millis) = match text {
        [digits @ .., b'm', b's'] => (digits, 1),
        [digits @ .., b's'] => (digits, 1_000),
        [digits @ .., b'm'] => (digits, 60_000),
        [digits @ .., b'h'] => (digits, 3_600_000),
        [digits @ .., b'd'] => (digits, 86_400_000),
        digits => (digits, 1_000),
    };
    let millis = parse_unsigned(digits).and_then(|n| n.checked_mul(unit_millis));
    millis.and_then(Window::from_millis)
}

/// A window of a fixed length, or of the calendar; with an anchor if there is one.
pub fn parse_schedule(text: &[u8], anchor: Option<Anchor>) -> Option<Schedule> {
    match (CalendarUnit::from_word(text), anchor) {
        (Some(unit), anchor) => Some(Schedule::Calendar(unit, anchor)),
        (None, Some(anchor)) => parse_window(text).map(|window| Schedule::Anchored(window, anchor)),
        (None, None) => parse_window(text).map(Schedule::Aligned),
    }
}

/// Unix seconds, from 0 to [`Anchor::MAX`].
pub fn parse_anchor(text: &[u8]) -> Option<Anchor> {
    parse_unsigned(text).and_then(Anchor::from_seconds)
}

/// Whether a holder of a lease may have this name: 1 to 512 bytes.
pub fn is_id(text: &[u8]) -> bool {
    (1..=512).contains(&text.len())
}

/// Whether a reservation may have this id: 1 to 128 bytes.
pub fn is_reservation_id(text: &[u8]) -> bool {
    (1..=128).contains(&text.len())
}

/// The most ids of a call. Each costs the server about as much as a command of its own.
const MAX_IDS: usize = 1_000;

/// `id [id …]`: the rest of a call. The result has each id once.
///
/// # Errors
/// There is none, there are too many, or one is invalid.
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

/// 1 to 64 characters that need no quoting in a header.
pub fn parse_name(text: &[u8]) -> Option<&str> {
    let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    let valid = (1..=64).contains(&text.len()) && text.iter().all(allowed);
    std::str::from_utf8(text).ok().filter(|_| valid)
}

/// An integer from 0 to 2⁶³ − 1.
#[inline]
pub fn parse_count(text: &[u8]) -> Option<u64> {
    parse_unsigned(text).filter(|&n| n <= MAX_COUNT)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use redis_rl_algorithm::MAX_SPAN;

    #[test]
    fn windows_are_seconds_or_carry_a_unit() {
        for (text, millis) in [
            ("60", 60_000),
            ("500ms", 500),
            ("10s", 10_000),
            ("5m", 300_000),
            ("1h", 3_600_000),
            ("1d", 86_400_000),
            ("1000000000000", MAX_SPAN / 1_000),
        ] {
            assert_eq!(parse_window(text.as_bytes()).map(Window::millis), Some(millis), "{text}");
        }
    }

    #[test]
    fn other_windows_are_errors() {
        for text in [
            "",
            "0",
            "0ms",
            "-1",
            "+1",
            "1.5",
            "1S",
            "1 s",
            " 1",
            "s",
            "ms",
            "1w",
            "1sm",
            "01",
            "1e3",
            "1\0",
            "1000000000001",
            "18446744073709551615d",
            "9223372036854775807",
            "99999999999999999999999",
        ] {
            assert_eq!(parse_window(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(window: Vec<u8>, limit: Vec<u8>) {
            let _ = parse_window(&window);
            let _ = parse_count(&limit);
        }
    }
}
