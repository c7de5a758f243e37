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
        const EIGHT: u64 = 100_000_000;
        let (upper, lower) = (n / EIGHT, n % EIGHT);
        if upper == 0 {
            self.push_number(lower);
        } else if upper < EIGHT {
            self.push_number(upper);
            self.push_word(eight_digits(lower), 8);
        } else {
            self.push_number(upper / EIGHT);
            self.push_word(eight_digits(upper % EIGHT), 8);
            self.push_word(eight_digits(lower), 8);
        }
    }

    /// Appends a number of at most eight digits, without leading zeros.
    #[inline]
    fn push_number(&mut self, n: u64) {
        let digits = eight_digits(n);
        // The last digit stays, a zero too.
        let zeros = (digits.trailing_zeros() / 8).min(7);
        self.push_word(digits >> (zeros.wrapping_mul(8)), 8_usize.wrapping_sub(zeros as usize));
    }

    /// Appends the first `len` bytes of a word, which are digits from 0 to 9.
    #[inline]
    fn push_word(&mut self, digits: u64, len: usize) {
        let text = (digits | 0x3030_3030_3030_3030).to_le_bytes();
        match self.bytes.get_mut(self.len..).and_then(<[u8]>::first_chunk_mut) {
            // What follows the text may be anything.
            Some(room) => {
                *room = text;
                self.len = self.len.wrapping_add(len);
            }
            None => self.push(text.get(..len).unwrap_or_default()),
        }
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

/// The digits of a number below 100,000,000, from 0 to 9, with leading zeros. The first digit is the lowest byte.
///
/// It divides all parts of the number at once: by multiplying with a reciprocal, in one word.
#[inline]
fn eight_digits(n: u64) -> u64 {
    // Two numbers of four digits, in 32 bits each.
    let fours = (n / 10_000) | (n % 10_000) << 32;
    // Four of two digits, in 16 bits each.
    let upper = (fours.wrapping_mul(10_486) >> 20) & 0x0000_007f_0000_007f;
    let twos = upper | fours.wrapping_sub(upper.wrapping_mul(100)) << 16;
    // Eight of one digit.
    let upper = (twos.wrapping_mul(103) >> 10) & 0x000f_000f_000f_000f;
    upper | twos.wrapping_sub(upper.wrapping_mul(10)) << 8
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
