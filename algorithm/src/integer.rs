//! Integers: exact arithmetic, and their text in the form that Redis requires.

use std::num::{NonZeroU64, NonZeroU128};
use std::ops::Deref;

use arrayvec::ArrayVec;

use super::MAX_COUNT;

/// Parses a signed integer in the form that Redis requires: decimal digits after an optional minus; no plus, no
/// blanks, no leading zeros, at most 64 bits.
pub fn parse_integer(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let magnitude = parse_unsigned(digits)?;
    match (negative, magnitude) {
        (false, _) => i64::try_from(magnitude).ok(),
        (true, 0) => None,
        (true, _) => 0i64.checked_sub_unsigned(magnitude),
    }
}

/// Parses an unsigned integer in that form, of at most 64 bits.
pub fn parse_unsigned(text: &[u8]) -> Option<u64> {
    match take_unsigned(text)? {
        (n, []) => Some(n),
        _ => None,
    }
}

/// Parses a count: an integer from 0 to [`MAX_COUNT`] in that form.
#[inline]
pub fn parse_count(text: &[u8]) -> Option<u64> {
    parse_unsigned(text).filter(|&n| n <= MAX_COUNT)
}

/// The number at the start of `text`, and the rest of `text`.
#[inline]
pub fn take_unsigned(text: &[u8]) -> Option<(u64, &[u8])> {
    // Wraps from the twentieth digit on, and is then computed again below.
    let mut n = 0u64;
    let mut behind = text;
    while let Some((four, rest)) = behind.split_first_chunk().and_then(|(four, rest)| Some((four_digits(*four)?, rest)))
    {
        n = n.wrapping_mul(10_000).wrapping_add(u64::from(four));
        behind = rest;
    }
    while let [digit @ b'0'..=b'9', rest @ ..] = behind {
        n = n.wrapping_mul(10).wrapping_add(u64::from(digit.wrapping_sub(b'0')));
        behind = rest;
    }
    let len = text.len().wrapping_sub(behind.len());
    let (digits, behind) = text.split_at_checked(len)?;
    match digits {
        [] | [b'0', _, ..] => None,
        _ if len < 20 => Some((n, behind)),
        _ => Some((long_unsigned(digits)?, behind)),
    }
}

/// Twenty digits or more. A function of its own, so that shorter numbers cost nothing more.
#[cold]
fn long_unsigned(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Four digits at once: parsing numbers is most of the cost of a record.
fn four_digits(digits: [u8; 4]) -> Option<u32> {
    // Little endian: the first digit is the lowest byte. Digits become 0 … 9.
    let word = u32::from_le_bytes(digits) ^ 0x3030_3030;
    if (word.wrapping_add(0x7676_7676) | word) & 0x8080_8080 != 0 {
        return None;
    }
    let pairs = word.wrapping_mul(10).wrapping_add(word >> 8) & 0x00ff_00ff;
    Some((pairs & 0xff).wrapping_mul(100).wrapping_add(pairs >> 16))
}

/// The capacity of [`Text`], in bytes. [`crate::record`] checks at compile time that every record fits.
pub const CAPACITY: usize = 128;

/// The longest decimal form of a 64-bit integer, in bytes: 20 digits, or 19 and a minus.
pub const LONGEST_INTEGER: usize = 20;

/// The text of a record or a counter: at most [`CAPACITY`] bytes.
#[derive(Clone, Debug, Default)]
pub struct Text(ArrayVec<u8, CAPACITY>);

impl Text {
    /// An empty text.
    pub const fn new() -> Self {
        Self(ArrayVec::new_const())
    }

    /// Appends bytes. The caller ensures that they fit; bytes that do not fit are left out.
    #[inline]
    pub fn push(&mut self, bytes: &[u8]) {
        let pushed = self.0.try_extend_from_slice(bytes);
        debug_assert!(pushed.is_ok(), "the text is longer than its buffer");
    }

    /// Appends an unsigned integer in decimal.
    #[inline]
    pub fn push_unsigned(&mut self, n: u64) {
        self.push(itoa::Buffer::new().format(n).as_bytes());
    }

    /// Appends a signed integer in decimal.
    pub fn push_signed(&mut self, n: i64) {
        self.push(itoa::Buffer::new().format(n).as_bytes());
    }
}

impl Deref for Text {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

/// Converts a count or a time to the type of a Redis integer. Saturates at the largest value.
pub fn to_i64(n: impl TryInto<i64>) -> i64 {
    n.try_into().unwrap_or(i64::MAX)
}

/// The product of two 64-bit numbers. It always fits 128 bits, so the compiler removes the saturation.
pub(crate) fn widening_mul(a: u64, b: u64) -> u128 {
    u128::from(a).saturating_mul(u128::from(b))
}

/// Quotient and remainder. The quotient saturates at `u64::MAX`; it is `u64::MAX` for a division by 0.
///
/// Most dividends here fit 64 bits, and a 128-bit division costs several times a 64-bit one.
pub(crate) fn div_rem(n: u128, by: u64) -> (u64, u64) {
    let Some(by) = NonZeroU64::new(by) else { return (u64::MAX, 0) };
    if let Ok(n) = u64::try_from(n) {
        return (n / by, n % by);
    }
    let by = NonZeroU128::from(by);
    let rest = u64::try_from(n % by).unwrap_or(u64::MAX);
    (u64::try_from(n / by).unwrap_or(u64::MAX), rest)
}

/// [`div_rem`], rounded up. An amount divided by the rate at which it drains is the time it takes; at a rate of 0 that
/// is `u64::MAX`.
pub(crate) fn div_ceil(n: u128, by: u64) -> u64 {
    let (quotient, rest) = div_rem(n, by);
    quotient.saturating_add(u64::from(rest > 0))
}

/// Microseconds as whole seconds, rounded up.
pub(crate) fn ceil_seconds(micros: u64) -> i64 {
    to_i64(micros.div_ceil(1_000_000))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn accepts_what_redis_accepts() {
        for (text, number) in
            [("0", 0), ("7", 7), ("-1", -1), ("9223372036854775807", i64::MAX), ("-9223372036854775808", i64::MIN)]
        {
            assert_eq!(parse_integer(text.as_bytes()), Some(number), "{text}");
        }
    }

    #[test]
    fn rejects_what_redis_rejects() {
        let odd = ["", "-", "-0", "00", "01", "-01", "+1", " 1", "1 ", "1.0", "1e3", "0x1", "1\0"];
        let large = ["9223372036854775808", "-9223372036854775809", "18446744073709551616", "99999999999999999999"];
        for text in odd.iter().chain(&large) {
            assert_eq!(parse_integer(text.as_bytes()), None, "{text}");
        }
        assert_eq!(parse_integer("１".as_bytes()), None, "digits of another script");
    }

    proptest! {
        #[test]
        fn parses_every_integer(n: i64, u: u64) {
            prop_assert_eq!(parse_integer(n.to_string().as_bytes()), Some(n));
            prop_assert_eq!(parse_unsigned(u.to_string().as_bytes()), Some(u));
        }

        #[test]
        fn agrees_with_a_naive_reader(text in "-?[0-9+ ]{0,22}") {
            let naive = text.parse::<i64>().ok().filter(|n| n.to_string() == text);
            prop_assert_eq!(parse_integer(text.as_bytes()), naive);
        }
    }
}
