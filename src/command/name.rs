//! The names of the algorithms as C strings.

use std::ffi::CStr;

pub use redis_rl_algorithm::Name;

use crate::error::{Error, Message};
use crate::ffi::{Argument, ArgumentKind};

/// `"a, b"` as a C string, after some text.
macro_rules! list_c_str {
    ($before:literal, $first:literal $(, $other:literal)*) => {
        c_str!($before, $first $(, ", ", $other)*)
    };
}

/// Reads the rows.
macro_rules! words {
    (() $($(#[$doc:meta])* $snake:ident $name:ident $word:literal $label:literal: $type:ty, in_memory $in_memory:ty { $($column:tt)* })*) => {
        /// The command of an algorithm.
        pub const fn command(name: Name) -> &'static CStr {
            match name { $(Name::$name => c_str!("RL.", $word),)* }
        }

        /// The word of an algorithm in COMMAND DOCS.
        pub const fn argument(name: Name) -> Argument {
            match name {
                $(Name::$name => Argument::new(c_str!($word), ArgumentKind::Token).after(c_str!($word)),)*
            }
        }

        /// The error for a word that is no algorithm.
        pub const NO_SUCH_ALGORITHM: Error =
            Error::new(Message::Text(list_c_str!("ERR invalid algorithm: expected one of ", $($word),*)));
    };
}

redis_rl_algorithm::with_algorithms!(words());
