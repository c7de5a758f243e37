//! The names of the algorithms. What the commands know of each is in the table of `algorithms.rs`.

use std::ffi::CStr;

use crate::error::Error;
use crate::ffi::{Argument, ArgumentKind};

/// `"a, b"` as a C string, after some text.
macro_rules! list_c_str {
    ($before:literal, $first:literal $(, $other:literal)*) => {
        c_str!($before, $first $(, ", ", $other)*)
    };
}

/// Reads the list.
macro_rules! names {
    ($($name:ident $word:literal)+) => {
        /// The algorithms, by the words of the grammar.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Name { $(#[doc = $word] $name,)+ }

        impl Name {
            /// In the order of the list.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// The algorithm that a word of a call names, in any case.
            #[inline(always)]
            pub fn from_word(word: &[u8]) -> Option<Self> {
                $(if word.eq_ignore_ascii_case($word.as_bytes()) {
                    return Some(Self::$name);
                })+
                None
            }

            /// The word of the grammar.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)+ }
            }

            /// The command of the algorithm.
            pub const fn command(self) -> &'static CStr {
                match self { $(Self::$name => c_str!("RL.", $word),)+ }
            }

            /// The word in COMMAND DOCS.
            pub const fn argument(self) -> Argument {
                match self {
                    $(Self::$name => Argument::new(c_str!($word), ArgumentKind::Token).after(c_str!($word)),)+
                }
            }
        }

        /// The error for a word that is no algorithm.
        pub const NO_SUCH_ALGORITHM: Error =
            Error::new(list_c_str!("ERR invalid algorithm: expected one of ", $($word),+));
    };
}

names! {
    Fixed "FIXED"
    Window "WINDOW"
    Sliding "SLIDING"
    Counter "COUNTER"
    Token "TOKEN"
    Leaky "LEAKY"
    Gcra "GCRA"
    Rolling "ROLLING"
    Lease "LEASE"
}
