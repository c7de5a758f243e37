//! The text of a state, without an allocation.

use std::ops::Deref;

use arrayvec::ArrayVec;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_text_is_as_long_as_its_buffer() {
        let mut text = Text::new();
        text.push(&[b'x'; CAPACITY]);
        assert_eq!(text.len(), CAPACITY);
    }
}
