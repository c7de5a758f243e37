//! The table of algorithms, and how a word of a call selects one.

use std::ffi::CStr;
use std::marker::PhantomData;

use super::name::{NO_SUCH_ALGORITHM, Name, argument};
use super::options::{List, MOST_ARGUMENTS};
use super::{Command, doc};
use crate::error::Error;
use crate::ffi::{Args, Argument, ArgumentKind, CommandDoc, Ctx};
use crate::stats::Decisions;
use crate::store::StoredAlgorithm;
use redis_rl_algorithm::Named;

/// What the commands know of an algorithm: a row of the table.
pub trait Algorithm: StoredAlgorithm + 'static {
    const SUMMARY: &'static CStr;
    const COMPLEXITY: &'static CStr;
    const EXAMPLE: &'static str;

    /// The counters of the algorithm.
    fn decisions() -> &'static Decisions;
}

/// The table: `with_table!(read (arguments))` calls the macro `read` with the arguments and all rows.
macro_rules! with_table {
    ($read:ident ($($arguments:tt)*)) => {
        $read! {
            ($($arguments)*)
            Fixed => crate::store::Count<redis_rl_algorithm::FixedWindow> {
                complexity: c"O(1); with RESERVE O(log(R)+E*log(E)) with R the reservations of the limit, and E those that have ended, at most 1000",
                summary: c"Checks a request against a fixed window counter and charges it if allowed.",
                example: "RL.FIXED user:42 60s 100",
            }
            Window => crate::store::Count<redis_rl_algorithm::WindowCounter> {
                complexity: c"O(1); with RESERVE O(log(R)+E*log(E)) with R the reservations of the limit, and E those that have ended, at most 1000",
                summary: c"Checks a request against a counter whose window starts with the first request, and charges it if allowed.",
                example: "RL.WINDOW user:42 60s 100",
            }
            Sliding => redis_rl_algorithm::SlidingLog {
                complexity: c"O(log(N)+M) with N the requests in the window, and M the cost and the requests that left the window, at most 4000",
                summary: c"Checks a request against a sliding window log and charges it if allowed.",
                example: "RL.SLIDING user:42 60s 100",
            }
            Counter => crate::store::Record<redis_rl_algorithm::SlidingCounter> {
                complexity: c"O(1); with RESERVE O(log(R)+E*log(E)) with R the reservations of the limit, and E those that have ended, at most 1000",
                summary: c"Checks a request against a sliding window counter and charges it if allowed.",
                example: "RL.COUNTER user:42 60s 100",
            }
            Token => crate::store::Record<redis_rl_algorithm::TokenBucket> {
                complexity: c"O(1)",
                summary: c"Checks a request against a token bucket and charges it if allowed.",
                example: "RL.TOKEN user:42 60s 100",
            }
            Leaky => crate::store::Record<redis_rl_algorithm::LeakyBucket> {
                complexity: c"O(1)",
                summary: c"Checks a request against a leaky bucket, charges it if allowed, and replies how long to delay it.",
                example: "RL.LEAKY user:42 60s 100",
            }
            Gcra => crate::store::Record<redis_rl_algorithm::Gcra> {
                complexity: c"O(1)",
                summary: c"Checks a request with the generic cell rate algorithm and charges it if allowed.",
                example: "RL.GCRA user:42 60s 100",
            }
            Rolling => redis_rl_algorithm::RollingLog {
                complexity: c"O(log(N)) with N the entries of the record, at most 8192; O(N) when it is pruned, at most once in N/2 requests; with RESERVE O(N+log(R)+E*log(E)) if reservations have ended, with R those of the limit, and E those that have ended, at most 1000",
                summary: c"Checks a request against a packed sliding window log and charges it if allowed.",
                example: "RL.ROLLING user:42 60s 100",
            }
            Lockout => crate::store::Record<redis_rl_algorithm::Lockout> {
                complexity: c"O(1)",
                summary: c"Charges an attempt if allowed. The one that uses the last of the limit locks the key, each time for twice as long.",
                example: "RL.LOCKOUT user:ann 1d 5 BLOCK 1m",
            }
            Lease => redis_rl_algorithm::Lease {
                complexity: c"O(log(N)+M) with N the leases, and M those that have ended, at most 4000",
                summary: c"Takes or renews a lease if fewer than the limit are held.",
                example: "RL.LEASE jobs 30s 5 ID worker-1",
            }
        }
    };
}

/// Every row becomes an [`Algorithm`].
macro_rules! implement {
    (() $($name:ident => $type:ty { complexity: $complexity:literal, summary: $summary:literal, example: $example:literal, })*) => {
        $(impl Algorithm for $type {
            const SUMMARY: &'static CStr = $summary;
            const COMPLEXITY: &'static CStr = $complexity;
            const EXAMPLE: &'static str = $example;

            fn decisions() -> &'static Decisions {
                static DECISIONS: Decisions = Decisions::new();
                &DECISIONS
            }
        })*

        $(const _: () = {
            assert!(
                <$type as Named>::NAME as u8 == Name::$name as u8,
                concat!("the row ", stringify!($name), " has the type of another algorithm"),
            );
        };)*
    };
}

with_table!(implement());

/// `for_algorithm!(name, A => expression)`: evaluates the expression with the type `A` of the algorithm `name`.
macro_rules! for_algorithm {
    ($chosen:expr, $algorithm:ident => $action:expr) => {
        with_table!(match_name ($chosen, $algorithm => $action))
    };
}

macro_rules! match_name {
    (($chosen:expr, $algorithm:ident => $action:expr) $($name:ident => $type:ty { $($text:tt)* })*) => {
        match $chosen {
            $($crate::command::name::Name::$name => {
                type $algorithm = $type;
                $action
            })*
        }
    };
}

/// The word of an algorithm in COMMAND DOCS.
pub const ARGUMENT: Argument = Argument::new(c"algorithm", ArgumentKind::OneOf(&TOKENS));

const TOKENS: [Argument; Name::ALL.len()] = {
    let mut tokens = [doc::KEY; Name::ALL.len()];
    let (mut names, mut rest) = (&Name::ALL as &[Name], &mut tokens as &mut [Argument]);
    while let ([name, other_names @ ..], [token, other_tokens @ ..]) = (names, rest) {
        *token = argument(*name);
        (names, rest) = (other_names, other_tokens);
    }
    tokens
};

/// The same of the algorithms that RL.SHARE takes.
pub const LENDING: Argument = Argument::new(c"algorithm", ArgumentKind::OneOf(LENDING_TOKENS.as_slice()));

static LENDING_TOKENS: List<Argument, MOST_ARGUMENTS> = {
    let (mut tokens, mut names) = (List::new(doc::KEY), &Name::ALL as &[Name]);
    while let [name, other_names @ ..] = names {
        if name.traits().always {
            tokens = tokens.push(argument(*name));
        }
        names = other_names;
    }
    tokens
};

/// Calls `visit` with the name and the counters of every algorithm.
pub fn for_each_decisions(mut visit: impl FnMut(Name, &'static Decisions)) {
    for name in Name::ALL {
        visit(name, for_algorithm!(name, A => A::decisions()));
    }
}

/// A command whose first argument is the word of an algorithm. [`PerAlgorithm`] registers it.
pub trait AlgorithmCommand {
    const DOC: CommandDoc;
    /// The fewest arguments that it takes, with the word.
    const LEAST: usize = 4;

    /// Runs the command with the arguments after the word.
    fn run<'c, A: Algorithm>(ctx: Ctx<'c>, args: Args<'c>) -> Result<(), Error>;
}

/// Reads the word of the algorithm, and runs the command for it.
pub struct PerAlgorithm<C>(PhantomData<C>);

impl<C: AlgorithmCommand> Command for PerAlgorithm<C> {
    const DOC: CommandDoc = C::DOC;

    fn run<'c>(ctx: Ctx<'c>, mut args: Args<'c>) -> Result<(), Error> {
        let word = if args.len() < C::LEAST { None } else { args.next() };
        let word = word.ok_or(Error::ARITY)?.bytes();
        let name = Name::from_word(word).ok_or(NO_SUCH_ALGORITHM)?;
        for_algorithm!(name, A => C::run::<A>(ctx, args))
    }
}
