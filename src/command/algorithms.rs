//! The table of algorithms, and how a word of a call selects one.

use std::ffi::CStr;
use std::marker::PhantomData;

use super::{Command, doc};
use crate::error::Error;
use crate::ffi::{Args, Argument, ArgumentKind, CommandDoc, Ctx};
use crate::store::{AlgorithmInfo, StoredAlgorithm, Takes};

/// Reads the table: every column becomes a constant of [`AlgorithmInfo`], and every row a case of [`select`].
macro_rules! algorithms {
    (
        $first:literal => $first_type:ty { $($first_columns:tt)* }
        $($name:literal => $type:ty { $($columns:tt)* })*
    ) => {
        algorithms!(@info $first => $first_type { $($first_columns)* });
        $(algorithms!(@info $name => $type { $($columns)* });)*

        /// Runs `action` for the algorithm of a word.
        ///
        /// # Errors
        /// There is no algorithm of that name.
        #[inline(always)]
        pub fn select<A: ForAlgorithm>(word: &[u8], action: A) -> Result<A::Output, Error> {
            if word.eq_ignore_ascii_case($first.as_bytes()) {
                return Ok(action.run::<$first_type>());
            }
            $(if word.eq_ignore_ascii_case($name.as_bytes()) {
                return Ok(action.run::<$type>());
            })*
            Err(NO_SUCH_ALGORITHM)
        }

        /// Runs `action` for every algorithm, with the name of its command.
        pub fn for_each<E>(mut action: impl ForEach<Error = E>) -> Result<(), E> {
            action.run::<$first_type>(c_str!("RL.", $first))?;
            $(action.run::<$type>(c_str!("RL.", $name))?;)*
            Ok(())
        }

        const NO_SUCH_ALGORITHM: Error =
            Error::new(c_str!("ERR invalid algorithm: expected one of ", $first, $(", ", $name),*));

        /// The word in COMMAND DOCS.
        pub const ARGUMENT: Argument = Argument::new(
            c"algorithm",
            ArgumentKind::OneOf(&[
                Argument::new(c_str!($first), ArgumentKind::Token).after(c_str!($first)),
                $(Argument::new(c_str!($name), ArgumentKind::Token).after(c_str!($name)),)*
            ]),
        );
    };
    (@info $name:literal => $type:ty {
        takes: [$($option:ident)*],
        complexity: $complexity:literal,
        summary: $summary:literal,
    }) => {
        impl AlgorithmInfo for $type {
            const NAME: &'static str = $name;
            const SUMMARY: &'static CStr = $summary;
            const COMPLEXITY: &'static CStr = $complexity;
            const TAKES: Takes = Takes::NOTHING$(.and(Takes::$option))*;
            const ARGUMENTS: &'static [Argument] =
                &[doc::KEY, doc::WINDOW, doc::LIMIT, $(doc::$option,)* doc::AS, doc::FORM];

            fn takes_no(option: Takes) -> Error {
                algorithms!(@takes_no option $name COST PARTIAL BURST ANCHOR ID)
            }

            const NO_CALENDAR: Error =
                Error::new(c_str!("ERR invalid window: ", $name, " takes no windows of the calendar"));
        }
    };
    (@takes_no $tried:ident $name:literal $($option:ident)*) => {
        match $tried {
            $(Takes::$option => Error::new(c_str!("ERR invalid ", stringify!($option), ": ", $name, " takes none")),)*
            _ => Error::OPTION,
        }
    };
}

algorithms! {
    "FIXED" => crate::algorithm::FixedWindow {
        takes: [COST PARTIAL ANCHOR],
        complexity: c"O(1)",
        summary: c"Checks a request against a fixed window counter and charges it if allowed.",
    }
    "SLIDING" => crate::algorithm::SlidingLog {
        takes: [COST PARTIAL],
        complexity: c"O(log(N)+M) with N the requests in the window, and M the cost and the requests that left the window",
        summary: c"Checks a request against a sliding window log and charges it if allowed.",
    }
    "COUNTER" => crate::algorithm::SlidingCounter {
        takes: [COST PARTIAL],
        complexity: c"O(1)",
        summary: c"Checks a request against a sliding window counter and charges it if allowed.",
    }
    "TOKEN" => crate::algorithm::TokenBucket {
        takes: [COST PARTIAL BURST],
        complexity: c"O(1)",
        summary: c"Checks a request against a token bucket and charges it if allowed.",
    }
    "LEAKY" => crate::algorithm::LeakyBucket {
        takes: [COST PARTIAL BURST],
        complexity: c"O(1)",
        summary: c"Checks a request against a leaky bucket, charges it if allowed, and replies how long to delay it.",
    }
    "GCRA" => crate::algorithm::Gcra {
        takes: [COST PARTIAL BURST],
        complexity: c"O(1)",
        summary: c"Checks a request with the generic cell rate algorithm and charges it if allowed.",
    }
    "ROLLING" => crate::algorithm::RollingLog {
        takes: [COST PARTIAL],
        complexity: c"O(log(N)) with N the entries of the record, at most 8192; O(N) when it is pruned, at most once in N/2 requests",
        summary: c"Checks a request against a packed sliding window log and charges it if allowed.",
    }
    "LEASE" => crate::algorithm::Lease {
        takes: [ID],
        complexity: c"O(log(N)+M) with N the leases, and M those that have ended",
        summary: c"Takes or renews a lease if fewer than the limit are held.",
    }
}

/// An action for one algorithm, which [`select`] chooses.
pub trait ForAlgorithm {
    type Output;
    fn run<A: StoredAlgorithm + 'static>(self) -> Self::Output;
}

/// An action for every algorithm: see [`for_each`].
pub trait ForEach {
    type Error;

    /// # Errors
    /// Ends the loop.
    fn run<A: StoredAlgorithm + 'static>(&mut self, command: &'static CStr) -> Result<(), Self::Error>;
}

/// A command whose first argument is the word of an algorithm. [`PerAlgorithm`] registers it.
pub trait AlgorithmCommand {
    const DOC: CommandDoc;

    /// Runs the command with the arguments after the word.
    ///
    /// # Errors
    /// The error reply. Nothing has been replied before.
    fn run<'c, A: StoredAlgorithm>(ctx: Ctx<'c>, args: Args<'c>) -> Result<(), Error>;
}

/// Reads the word of the algorithm, and runs the command for it.
pub struct PerAlgorithm<C>(PhantomData<C>);

impl<C: AlgorithmCommand> Command for PerAlgorithm<C> {
    const DOC: CommandDoc = C::DOC;

    fn run<'c>(ctx: Ctx<'c>, mut args: Args<'c>) -> Result<(), Error> {
        struct Run<'c, C>(Ctx<'c>, Args<'c>, PhantomData<C>);

        impl<C: AlgorithmCommand> ForAlgorithm for Run<'_, C> {
            type Output = Result<(), Error>;

            fn run<A: StoredAlgorithm + 'static>(self) -> Self::Output {
                C::run::<A>(self.0, self.1)
            }
        }
        let word = args.next().ok_or(Error::ARITY)?.bytes();
        select(word, Run::<C>(ctx, args, PhantomData))?
    }
}
