//! The records of the algorithms that need a few integers, as text: `<tag><integer>:<integer>:…` in decimal, and when
//! a record may expire.
//!
//! The tag names the algorithm; the record of redis-cell, a bare number, has none.

use crate::integer::{CAPACITY, LONGEST_INTEGER, Text, take_unsigned};
use crate::{Change, RecordAlgorithm, RecordWords};

/// The start of the records of one algorithm.
pub trait Tag {
    /// The algorithm that writes these records.
    type Algorithm;
    /// The bytes that every record starts with.
    const TEXT: &'static [u8];
}

/// A tag of one letter and a colon: `Letter<'T'>` is `T:`.
///
/// An algorithm claims its letter by implementing [`Owner`] for it. A second claim does not compile (E0119): a type
/// implements a trait once.
#[derive(Clone, Copy, Debug)]
pub struct Letter<const LETTER: char>;

/// The algorithm of a letter.
pub trait Owner {
    /// The algorithm that writes records with this letter.
    type Algorithm;
}

impl<const LETTER: char> Tag for Letter<LETTER>
where
    Self: Owner,
{
    type Algorithm = <Self as Owner>::Algorithm;
    const TEXT: &'static [u8] = &Self::BYTES;
}

impl<const LETTER: char> Letter<LETTER> {
    /// The bytes of the tag.
    pub const BYTES: [u8; 2] = {
        assert!(LETTER.is_ascii_uppercase(), "a tag is an upper case letter of ASCII");
        [LETTER as u8, b':']
    };
}

/// The record of redis-cell, a bare number, has no tag.
#[derive(Clone, Copy, Debug)]
pub struct NoTag;

/// How much later than needed the expiry of a record may be, in milliseconds. A key that is in use is then not created
/// anew at each request, and its expiry is written and replicated once in a while instead of each time.
pub const SLACK_MS: u64 = 5_000;

/// The expiry to set with a change, in milliseconds since the epoch. `None` leaves the expiry as it is, also where a
/// state is written (`SET … KEEPTTL`). `held` reads the expiry that the key has.
///
/// A state lives as long as the arguments of any call since it was written require, and at most [`SLACK_MS`] longer.
/// How long that is can depend on arguments that are not stored. Then a denied call extends the expiry if it needs the
/// state for longer, and a write keeps a later expiry if it is for a call with other arguments: if it is later than the
/// arguments of this call needed before the write. If it is not, less is needed now, after a refund or after the clock
/// stepped back.
#[inline(always)]
pub fn new_expiry<A: RecordAlgorithm>(
    algorithm: &A,
    before: Option<&A::Record>,
    change: &Change<A::Record>,
    held: impl FnOnce() -> Option<u64>,
) -> Option<u64> {
    let needed_for = |state| algorithm.expires_at(state).ceil_millis();
    let latest_for = |needed: u64| needed.saturating_add(A::EXPIRY_SLACK_MS);
    match (change, before) {
        (Change::Delete, _) | (Change::Keep, None) => None,
        (Change::Keep, Some(before)) => {
            let needed = if A::EXPIRY_DEPENDS_ON_POLICY { needed_for(before) } else { return None };
            held().filter(|&held| held < needed).map(|_| latest_for(needed))
        }
        (Change::Charge(after) | Change::Rebase(after) | Change::Refund(after), before) => {
            let needed = needed_for(after);
            let latest = latest_for(needed);
            let Some((before, held)) = before.and_then(|before| Some((before, held()?))) else { return Some(latest) };
            if A::EXPIRY_DEPENDS_ON_POLICY && matches!(change, Change::Rebase(_)) {
                // Every expiry moves back with the state, also one that other arguments need.
                let moved = held.saturating_sub(needed_for(before).saturating_sub(needed)).max(needed);
                return Some(moved).filter(|&moved| moved != held);
            }
            let is_for_others = || A::EXPIRY_DEPENDS_ON_POLICY && held > latest_for(needed_for(before));
            let stays = held >= needed && (held <= latest || is_for_others());
            if stays { None } else { Some(latest) }
        }
    }
}

/// The text of a record.
pub fn encode<A: RecordAlgorithm>(state: &A::Record) -> Text {
    const {
        // Each integer has a separator before it, but the first.
        let longest = A::Tag::TEXT.len() + A::Words::COUNT * (LONGEST_INTEGER + 1);
        assert!(longest <= CAPACITY, "the longest record of the algorithm does not fit its buffer");
    }
    let mut text = Text::new();
    text.push(A::Tag::TEXT);
    let words = A::to_words(state);
    let (required, optional) = words.as_ref().split_at(required_words::<A>());
    for (index, &word) in required.iter().enumerate() {
        if index > 0 {
            text.push(b":");
        }
        text.push_unsigned(word);
    }
    if A::OPTIONAL_WORDS > 0 {
        for &word in optional.iter().take_while(|&&word| word != 0) {
            text.push(b":");
            text.push_unsigned(word);
        }
    }
    text
}

/// How many integers every record of the algorithm has.
const fn required_words<A: RecordAlgorithm>() -> usize {
    A::Words::COUNT.saturating_sub(A::OPTIONAL_WORDS)
}

/// The state of a record. `None` if this algorithm does not write such a text.
pub fn decode<A: RecordAlgorithm>(text: &[u8]) -> Option<A::Record> {
    let mut words = A::Words::ZERO;
    let mut rest = text.strip_prefix(A::Tag::TEXT)?;
    let (required, optional) = words.as_mut().split_at_mut(required_words::<A>());
    for (index, word) in required.iter_mut().enumerate() {
        if index > 0 {
            rest = rest.strip_prefix(b":")?;
        }
        (*word, rest) = take_unsigned(rest)?;
    }
    if !rest.is_empty() {
        decode_optional(rest, optional)?;
    }
    A::from_words(&words)
}

/// The integers that a record has only while they are not 0.
#[cold]
fn decode_optional(mut rest: &[u8], words: &mut [u64]) -> Option<()> {
    for word in words {
        (*word, rest) = take_unsigned(rest.strip_prefix(b":")?)?;
        if *word == 0 {
            return None;
        }
        if rest.is_empty() {
            return Some(());
        }
    }
    None
}

/// The text that would be written for the record `text`. `None` if it is no record.
pub fn written_as_read<A: RecordAlgorithm>(text: &[u8]) -> Option<Vec<u8>> {
    Some(encode::<A>(&decode::<A>(text)?).to_vec())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Gcra, LeakyBucket, SlidingCounter, TokenBucket};

    fn text_of<A: RecordAlgorithm>(text: &str) -> Option<String> {
        Some(String::from_utf8(written_as_read::<A>(text.as_bytes())?).unwrap())
    }

    #[test]
    fn foreign_and_damaged_records_are_errors() {
        for text in [
            "",
            "T:",
            "T",
            "3",
            "T:3:500:60000",
            "T:3:500:60000:1700000000000000:",
            "T:3:500:60000:1700000000000000:0",
            "T:3:500:60000:1700000000000000:9223372036854775808",
            "T:3:500:60000:1700000000000000:1:1",
            "T:3:500:60000:17000 ",
            "T:03:500:60000:1700000000000000",
            "T:-3:500:60000:1700000000000000",
            "T:3:60000000:60000:17",
            "t:3:500:60000:1700000000000000",
            "L:3:500:60000:1700000000000000",
            "T:3:500:0:1700000000000000",
            "T:3:500:60000:99999999999999999999",
            "T:3:500:60000:1700000000000000\0",
        ] {
            assert_eq!(text_of::<TokenBucket>(text), None, "{text}");
        }
        for text in ["", "-1", "1.5", "01", "T:1", "18446744073709551616", "abc"] {
            assert_eq!(text_of::<Gcra>(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_read_is_what_is_written(text in "[TLC]?:?([0-9]{1,20}:){0,5}[0-9]{0,20}") {
            for read in [text_of::<TokenBucket>, text_of::<LeakyBucket>, text_of::<SlidingCounter>, text_of::<Gcra>] {
                if let Some(written) = read(&text) {
                    prop_assert_eq!(&written, &text);
                }
            }
        }
    }
}
