//! The table of algorithms, and how a word in a call finds its own.

use std::marker::PhantomData;

use crate::error::Error;
use crate::ffi::{Args, Argument, ArgumentKind, Ctx, Handler};
use crate::store::{Limiter, Named};

/// Hands the table to a macro. Another algorithm is another line here.
macro_rules! algorithms {
    ($use:ident) => {
        $use! {
            Fixed(crate::limit::FixedWindow) "FIXED" burst: false, "O(1)",
                "Asks for a request under a fixed window counter.";
            Sliding(crate::limit::SlidingLog) "SLIDING" burst: false,
                "O(log(N)+M) with N the requests in the window, and M the cost and how many have left the window",
                "Asks for a request under a sliding window log.";
            Counter(crate::limit::SlidingCounter) "COUNTER" burst: false, "O(1)",
                "Asks for a request under a sliding window counter.";
            Token(crate::limit::TokenBucket) "TOKEN" burst: true, "O(1)",
                "Asks for a request under a token bucket.";
            Leaky(crate::limit::LeakyBucket) "LEAKY" burst: true, "O(1)",
                "Asks for a place in a leaky bucket's queue, and how long to wait for it.";
            Gcra(crate::limit::Gcra) "GCRA" burst: true, "O(1)",
                "Asks for a request under the generic cell rate algorithm.";
        }
    };
}
pub(super) use algorithms;

macro_rules! named {
    ($($variant:ident($algorithm:ty) $name:literal burst: $burst:literal, $complexity:literal, $summary:literal;)*) => {
        $(impl Named for $algorithm {
            const NAME: &'static str = $name;
            const TAKES_BURST: bool = $burst;
        })*

        impl<W: Work> Handler for ByWord<W> {
            fn run<'c>(ctx: Ctx<'c>, mut args: Args<'c>) -> Result<(), Error> {
                let word = args.next().ok_or(Error::ARITY)?.bytes();
                $(if word.eq_ignore_ascii_case($name.as_bytes()) {
                    return W::run::<$algorithm>(ctx, args);
                })*
                Err(Error::ALGORITHM)
            }
        }
    };
}
algorithms!(named);

/// A command whose first argument is the word of an algorithm.
pub struct ByWord<W>(PhantomData<W>);

/// What such a command does with the arguments after the word.
pub trait Work {
    fn run<'c, L: Limiter>(ctx: Ctx<'c>, args: Args<'c>) -> Result<(), Error>;
}

/// The word, in COMMAND DOCS.
pub const ARGUMENT: Argument = Argument::new(c"algorithm", ArgumentKind::OneOf(WORDS));

macro_rules! words {
    ($($variant:ident($algorithm:ty) $name:literal burst: $burst:literal, $complexity:literal, $summary:literal;)*) => {
        const WORDS: &[Argument] = &[$(Argument::new(c_str!($name), ArgumentKind::Token).after(c_str!($name)),)*];
    };
}
algorithms!(words);
