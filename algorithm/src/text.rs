//! The text of a state, without an allocation.

use std::ops::Deref;

/// The capacity of [`Text`], in bytes. [`crate::record`] checks at compile time that every record fits.
pub const CAPACITY: usize = 128;

/// The longest decimal form of a 64-bit integer, in bytes: 20 digits, or 19 and a minus.
pub const LONGEST_INTEGER: usize = 20;

/// The text of a record or a counter: at most [`CAPACITY`] bytes.
///
/// ```
/// use redis_rl_algorithm::text::Text;
///
/// let mut text = Text::new();
/// text.push(b"T:");
/// text.push_unsigned(1_700_000_000);
/// text.push(b":");
/// text.push_signed(-5);
/// assert_eq!(&*text, b"T:1700000000:-5");
/// ```
#[derive(Clone, Debug)]
pub struct Text {
    bytes: [u8; CAPACITY],
    len: usize,
}

impl Text {
    /// An empty text.
    #[inline]
    pub const fn new() -> Self {
        Self { bytes: [0; CAPACITY], len: 0 }
    }

    /// Appends bytes. The caller ensures that they fit; bytes that do not fit are left out.
    #[inline]
    pub fn push(&mut self, bytes: &[u8]) {
        let end = self.len.saturating_add(bytes.len());
        let room = self.bytes.get_mut(self.len..end);
        debug_assert!(room.is_some(), "the text is longer than its buffer");
        if let Some(room) = room {
            room.copy_from_slice(bytes);
            self.len = end;
        }
    }

    /// Appends an unsigned integer in decimal.
    #[inline]
    pub fn push_unsigned(&mut self, n: u64) {
        self.push(Digits::of(n).as_bytes());
    }

    /// Appends a signed integer in decimal.
    #[inline]
    pub fn push_signed(&mut self, n: i64) {
        if n < 0 {
            self.push(b"-");
        }
        self.push_unsigned(n.unsigned_abs());
    }
}

impl Default for Text {
    fn default() -> Self {
        Self::new()
    }
}

impl Deref for Text {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

/// The decimal digits of an integer.
struct Digits {
    /// Right-aligned.
    digits: [u8; LONGEST_INTEGER],
    start: usize,
}

impl Digits {
    /// Two digits a step: a division is the dear part.
    #[inline]
    fn of(mut n: u64) -> Self {
        let mut digits = [b'0'; LONGEST_INTEGER];
        let mut start = LONGEST_INTEGER;
        for pair in digits.rchunks_exact_mut(2) {
            let (rest, two) = (n / 100, n % 100);
            // Below 100, so both fit a byte.
            #[allow(clippy::arithmetic_side_effects)]
            pair.copy_from_slice(&[b'0' + (two / 10) as u8, b'0' + (two % 10) as u8]);
            start = start.saturating_sub(if n < 10 { 1 } else { 2 });
            n = rest;
            if n == 0 {
                break;
            }
        }
        Self { digits, start }
    }

    #[inline]
    fn as_bytes(&self) -> &[u8] {
        self.digits.get(self.start..).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn integers_are_written_as_the_standard_library_writes_them(n: u64, shift in 0_u32..64, signed: i64) {
            for n in [n, n >> shift, 10_u64.pow(shift % 20), 10_u64.pow(shift % 20) - 1] {
                let mut text = Text::new();
                text.push_unsigned(n);
                prop_assert_eq!(text.to_vec(), n.to_string().into_bytes());
            }
            for n in [signed, signed >> shift, i64::MIN, i64::MAX, 0] {
                let mut text = Text::new();
                text.push_signed(n);
                prop_assert_eq!(text.to_vec(), n.to_string().into_bytes());
            }
        }
    }

    #[test]
    fn the_longest_text_is_as_long_as_its_buffer() {
        let mut text = Text::new();
        text.push(&[b'x'; CAPACITY]);
        assert_eq!(text.len(), CAPACITY);
    }
}
