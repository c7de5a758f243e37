//! The table of algorithms, and how a word in a call finds its own.

use crate::error::Error;
use crate::ffi::{Argument, ArgumentKind};
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

        /// Runs `work` for the algorithm that `word` names.
        ///
        /// # Errors
        /// There is none of that name; or what the work says.
        pub fn dispatch<W: Work>(word: &[u8], work: W) -> Result<(), Error> {
            $(if word.eq_ignore_ascii_case($name.as_bytes()) {
                return work.run::<$algorithm>();
            })*
            Err(Error::ALGORITHM)
        }
    };
}
algorithms!(named);

/// Something to be done for whichever algorithm the call names.
pub trait Work {
    fn run<L: Limiter>(self) -> Result<(), Error>;
}

/// The word, in COMMAND DOCS.
pub const ARGUMENT: Argument = Argument::new(c"algorithm", ArgumentKind::OneOf(WORDS));

macro_rules! words {
    ($($variant:ident($algorithm:ty) $name:literal burst: $burst:literal, $complexity:literal, $summary:literal;)*) => {
        const WORDS: &[Argument] = &[$(Argument::new(c_str!($name), ArgumentKind::Token).after(c_str!($name)),)*];
    };
}
algorithms!(words);
