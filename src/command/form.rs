//! The form of a reply.

use crate::error::{Error, Message};
use crate::ffi::{Argument, ArgumentKind};

/// Reads the rows.
macro_rules! forms {
    ($($(#[$doc:meta])* $form:ident = $word:literal, argument $name:literal;)+) => {
        /// The form of a reply.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Form {
            /// `<allowed, count, ttl>`: the form of a call that names none.
            Verdict,
            $($(#[$doc])* $form,)+
        }

        impl Form {
            pub const WORDS: &[&str] = &[$($word),+];

            /// The form in COMMAND DOCS.
            pub const ARGUMENT: Argument = Argument::new(
                c"form",
                ArgumentKind::OneOf(&[$(Argument::new(c_str!($name), ArgumentKind::Token).after(c_str!($word))),+]),
            )
            .optional();

            /// The form that a word names, in any case.
            pub fn from_word(word: &[u8]) -> Option<Self> {
                $(if word.eq_ignore_ascii_case($word.as_bytes()) {
                    return Some(Self::$form);
                })+
                None
            }
        }
    };
}

forms! {
    /// A map of all figures.
    Full = "FULL", argument "full";
    /// The figures of [`Form::Full`] without their names, in one string.
    Line = "LINE", argument "line";
    /// The three integers, and HTTP headers.
    Headers = "HEADERS", argument "headers";
}

impl Form {
    /// The error for a form that is not at the end of a call.
    pub const NOT_LAST: Error =
        Error::new(Message::OfWords { words: Self::WORDS, joined_by: "or", rule: "comes last" });

    /// The form of a call that has named this one, and now names another.
    pub fn and(self, named: Self) -> Result<Self, Error> {
        match self {
            Self::Verdict => Ok(named),
            _ if self == named => {
                Err(Error::new(Message::OfWords { words: Self::WORDS, joined_by: "or", rule: "comes at most once" }))
            }
            _ => Err(Error::new(Message::OfWords { words: Self::WORDS, joined_by: "and", rule: "exclude each other" })),
        }
    }
}
