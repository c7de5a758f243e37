//! The text of a state, without an allocation.

use arrayvec::ArrayVec;

/// The capacity of [`Text`], in bytes. [`super::record`] checks at compile time that every record fits.
pub const CAPACITY: usize = 128;

/// The longest decimal form of a 64-bit integer, in bytes: 20 digits, or 19 and a minus.
pub const LONGEST_INTEGER: usize = 20;

/// The text of a record or a counter.
pub type Text = ArrayVec<u8, CAPACITY>;

/// Appends a number. The caller ensures that it fits.
pub fn push_integer(text: &mut Text, n: impl itoa::Integer) {
    push(text, itoa::Buffer::new().format(n).as_bytes());
}

/// Appends bytes. The caller ensures that they fit.
pub fn push(text: &mut Text, bytes: &[u8]) {
    let fits = text.try_extend_from_slice(bytes).is_ok();
    debug_assert!(fits, "the text is longer than its buffer");
}
