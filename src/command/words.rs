//! The words of a call, and the form of its reply.

use crate::error::Error;
use crate::ffi::Args;

/// The words of a call, of which some are still to come.
pub trait Words<'c>: Clone {
    fn next_word(&mut self) -> Option<&'c [u8]>;
}

impl<'c> Words<'c> for Args<'c> {
    fn next_word(&mut self) -> Option<&'c [u8]> {
        self.next().map(|arg| arg.bytes())
    }
}

impl<'c> Words<'c> for std::slice::Iter<'_, &'c [u8]> {
    fn next_word(&mut self) -> Option<&'c [u8]> {
        self.next().copied()
    }
}

/// The form of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `<allowed, count, ttl>`
    Verdict,
    /// A map of all figures.
    Full,
    /// The figures of [`Form::Full`] without their names, in one string.
    Line,
    /// The three integers, and HTTP headers.
    Headers,
}

impl Form {
    /// The words of the forms; [`Form::Verdict`] has none.
    pub const WORDS: &[(&str, Self)] = &[("FULL", Self::Full), ("LINE", Self::Line), ("HEADERS", Self::Headers)];

    /// The form that a word names.
    pub fn from_word(word: &[u8]) -> Option<Self> {
        Self::WORDS.iter().find(|(name, _)| word.eq_ignore_ascii_case(name.as_bytes())).map(|&(_, form)| form)
    }

    /// The form of a call that has named this one, and now names another.
    ///
    /// # Errors
    /// It has named one already.
    pub fn and(self, named: Self) -> Result<Self, Error> {
        match self {
            Self::Verdict => Ok(named),
            Self::Full | Self::Line | Self::Headers if self == named => Err(Error::FORM_TWICE),
            Self::Full | Self::Line | Self::Headers => Err(Error::TWO_FORMS),
        }
    }
}
