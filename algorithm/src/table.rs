//! What each algorithm can do: one table, a row an algorithm, a column a capability.
//!
//! The module, the clients and the service ask it, so an algorithm is added by its file, a row here and a row of the
//! commands. Other languages test themselves against the same table as JSON: `vectors/capabilities.json`.
//!
//! ```
//! use redis_rl_algorithm::Name;
//!
//! let burst = Name::ALL.into_iter().filter(|name| name.traits().burst).map(Name::word);
//! assert_eq!(burst.collect::<Vec<_>>(), ["TOKEN", "LEAKY", "GCRA"]);
//! ```

/// The rows. `with_algorithms!(read (arguments))` calls the macro `read` with the arguments and all rows, so a crate can
/// do something for each algorithm. A row has its documentation; a name in snake case; the variant of
/// [`Name`](crate::Name); its word in the grammar and in the headers; its type; the type that keeps it in memory; and its
/// [`Traits`](crate::Traits).
#[macro_export]
macro_rules! with_algorithms {
    ($($read:tt)::+ ($($arguments:tt)*)) => {
        $($read)::+! {
            ($($arguments)*)

            /// At most `limit` in each window. Windows start at multiples of their length since 1970.
            fixed Fixed "FIXED" "fixed": $crate::FixedWindow, in_memory $crate::FixedWindow {
                cost: true, partial: true, always: true, reserve: true, burst: false, anchor: true, id: false, lock: false,
                refund: true, settle: true, at: true, debt: true, most: None,
                ends_at_once: true, counts_denials: true, delays: false, count_is_after: true, ttl_of_script: true,
                key_per_window: true, letter: None,
            }

            /// At most `limit` in each window. A window starts with the first request that finds no key.
            window_counter Window "WINDOW" "window": $crate::WindowCounter, in_memory $crate::WindowCounter {
                cost: true, partial: true, always: true, reserve: true, burst: false, anchor: false, id: false, lock: false,
                refund: true, settle: true, at: true, debt: true, most: None,
                ends_at_once: true, counts_denials: false, delays: false, count_is_after: false, ttl_of_script: false,
                key_per_window: false, letter: None,
            }

            /// At most `limit` in any window, with one member of a sorted set for each unit.
            sliding Sliding "SLIDING" "sliding": $crate::SlidingLog, in_memory $crate::RollingLog {
                cost: true, partial: true, always: false, reserve: false, burst: false, anchor: false, id: false, lock: false,
                refund: true, settle: true, at: true, debt: true, most: Some(1_000),
                ends_at_once: false, counts_denials: false, delays: false, count_is_after: false, ttl_of_script: true,
                key_per_window: false, letter: None,
            }

            /// At most `limit` in any window, estimated from two counters.
            counter Counter "COUNTER" "counter": $crate::SlidingCounter, in_memory $crate::SlidingCounter {
                cost: true, partial: true, always: true, reserve: true, burst: false, anchor: false, id: false, lock: false,
                refund: true, settle: true, at: true, debt: true, most: None,
                ends_at_once: false, counts_denials: false, delays: false, count_is_after: false, ttl_of_script: false,
                key_per_window: false, letter: Some('C'),
            }

            /// A bucket that fills with `limit` tokens each window. It holds as many as the burst.
            token Token "TOKEN" "token": $crate::TokenBucket, in_memory $crate::TokenBucket {
                cost: true, partial: true, always: true, reserve: false, burst: true, anchor: false, id: false, lock: false,
                refund: true, settle: true, at: false, debt: true, most: None,
                ends_at_once: false, counts_denials: false, delays: false, count_is_after: false, ttl_of_script: false,
                key_per_window: false, letter: Some('T'),
            }

            /// A queue that `limit` units leave each window. It holds as many as the burst, and an allowed request has a
            /// delay.
            leaky Leaky "LEAKY" "leaky": $crate::LeakyBucket, in_memory $crate::LeakyBucket {
                cost: true, partial: true, always: false, reserve: false, burst: true, anchor: false, id: false, lock: false,
                refund: true, settle: true, at: false, debt: true, most: None,
                ends_at_once: false, counts_denials: false, delays: true, count_is_after: false, ttl_of_script: false,
                key_per_window: false, letter: Some('L'),
            }

            /// As the token bucket. Its whole state is one time.
            gcra Gcra "GCRA" "gcra": $crate::Gcra, in_memory $crate::Gcra {
                cost: true, partial: true, always: false, reserve: false, burst: true, anchor: false, id: false, lock: false,
                refund: true, settle: true, at: false, debt: false, most: None,
                ends_at_once: false, counts_denials: false, delays: false, count_is_after: false, ttl_of_script: false,
                key_per_window: false, letter: None,
            }

            /// At most `limit` in any window, in a packed string.
            rolling Rolling "ROLLING" "rolling": $crate::RollingLog, in_memory $crate::RollingLog {
                cost: true, partial: true, always: true, reserve: true, burst: false, anchor: false, id: false, lock: false,
                refund: true, settle: true, at: true, debt: true, most: None,
                ends_at_once: false, counts_denials: false, delays: false, count_is_after: false, ttl_of_script: false,
                key_per_window: false, letter: Some('R'),
            }

            /// At most `limit` holders at the same time. The lease of a holder that dies ends after `window`.
            lease Lease "LEASE" "lease": $crate::Lease, in_memory $crate::RollingLog {
                cost: false, partial: false, always: false, reserve: false, burst: false, anchor: false, id: true, lock: false,
                refund: false, settle: false, at: false, debt: false, most: None,
                ends_at_once: false, counts_denials: false, delays: false, count_is_after: false, ttl_of_script: false,
                key_per_window: false, letter: None,
            }

            /// `limit` attempts in a window, and the one that uses the last of them locks the key. Each lock lasts twice as
            /// long as the one before.
            lockout Lockout "LOCKOUT" "lockout": $crate::Lockout, in_memory $crate::Lockout {
                cost: true, partial: false, always: false, reserve: false, burst: false, anchor: false, id: false, lock: true,
                refund: true, settle: false, at: true, debt: false, most: None,
                ends_at_once: true, counts_denials: false, delays: false, count_is_after: false, ttl_of_script: false,
                key_per_window: false, letter: Some('O'),
            }
        }
    };
}

/// `for_in_memory!(name, A => expression)`: evaluates the expression with the type `A` that keeps the algorithm `name` in
/// memory. SLIDING is kept as ROLLING, since it would keep an entry for each unit; leases are units that each count until
/// their time ends.
///
/// ```
/// use redis_rl_algorithm::in_memory::InMemory;
/// use redis_rl_algorithm::{Name, Policy, Window, for_in_memory};
///
/// let policy = Policy::new(Window::from_millis(60_000).unwrap(), 5);
/// let valid = |name: Name| for_in_memory!(name, A => A::with_policy(&policy).is_ok());
/// assert!(Name::ALL.into_iter().all(valid));
/// ```
#[macro_export]
macro_rules! for_in_memory {
    ($chosen:expr, $algorithm:ident => $action:expr) => {
        $crate::with_algorithms!($crate::match_in_memory ($chosen, $algorithm => $action))
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! match_in_memory {
    (($chosen:expr, $algorithm:ident => $action:expr) $(
        $(#[$doc:meta])*
        $snake:ident $name:ident $word:literal $label:literal: $type:ty, in_memory $in_memory:ty { $($column:tt)* }
    )*) => {
        match $chosen {
            $($crate::Name::$name => {
                type $algorithm = $in_memory;
                $action
            })*
        }
    };
}

/// The struct, and its columns as JSON.
macro_rules! columns {
    ($($(#[doc = $text:literal])+ $column:ident: $type:ty,)+) => {
        /// What an algorithm can do: a row of the table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Traits { $($(#[doc = $text])+ pub $column: $type,)+ }

        #[cfg(test)]
        impl Traits {
            /// The names of the columns, what they say, and their values as `Debug` writes them.
            pub fn columns(&self) -> Vec<(&'static str, String, String)> {
                vec![$((stringify!($column), [$($text),+].concat(), format!("{:?}", self.$column))),+]
            }
        }
    };
}

columns! {
    /// The option COST.
    cost: bool,
    /// The option PARTIAL.
    partial: bool,
    /// The option ALWAYS.
    always: bool,
    /// The options RESERVE and RESERVATION: a charge may be a reservation.
    reserve: bool,
    /// The option BURST.
    burst: bool,
    /// The option ANCHOR, and the windows of the calendar.
    anchor: bool,
    /// The option ID, which it requires: it counts holders instead of units.
    id: bool,
    /// The options BLOCK and MAX: the last unit locks the key.
    lock: bool,
    /// RL.REFUND.
    refund: bool,
    /// RL.SETTLE.
    settle: bool,
    /// A correction depends on when the units were charged. If not, AT is ignored.
    at: bool,
    /// What is charged beyond the limit is remembered.
    debt: bool,
    /// The most units that a call charges.
    most: Option<u64>,
    /// All units of a window come back at the same time. So a denial stays true until then, whatever is charged meanwhile.
    ends_at_once: bool,
    /// Denied requests are counted too.
    counts_denials: bool,
    /// An allowed request has a delay.
    delays: bool,
    /// `count` includes this request.
    count_is_after: bool,
    /// `ttl` is what the script replies, even on a denial, instead of the time to retry after.
    ttl_of_script: bool,
    /// Each window has a key of its own.
    key_per_window: bool,
    /// The letter that its records start with.
    letter: Option<char>,
}

/// Reads the rows.
macro_rules! names {
    (() $(
        $(#[$doc:meta])*
        $snake:ident $name:ident $word:literal $label:literal: $type:ty, in_memory $in_memory:ty { $($column:tt)* }
    )*) => {
        /// The algorithms, by the words of the grammar.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Name { $($(#[$doc])* $name,)* }

        impl Name {
            /// Every algorithm, in the order of the table.
            pub const ALL: [Self; [$($word),*].len()] = [$(Self::$name),*];

            /// The algorithm that a word names, in any case.
            #[inline(always)]
            pub fn from_word(word: &[u8]) -> Option<Self> {
                $(if word.eq_ignore_ascii_case($word.as_bytes()) {
                    return Some(Self::$name);
                })*
                None
            }

            /// The algorithm that writes records with the tag of this one; `None` where it has none.
            pub fn of_record(record: &[u8]) -> Option<Self> {
                let [letter, b':', ..] = record else { return None };
                Self::ALL.into_iter().find(|name| name.traits().letter == Some(char::from(*letter)))
            }

            /// The word of the grammar, such as `TOKEN`.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }

            /// The word in lower case: the name of a policy that has none.
            pub const fn label(self) -> &'static str {
                match self { $(Self::$name => $label,)* }
            }

            /// The command of one request, such as `RL.TOKEN`.
            pub const fn command(self) -> &'static str {
                match self { $(Self::$name => concat!("RL.", $word),)* }
            }

            /// What it can do.
            pub const fn traits(self) -> &'static Traits {
                match self { $(Self::$name => &Traits { $($column)* },)* }
            }
        }

        $(impl crate::Named for $type {
            const NAME: Name = Name::$name;
        })*
    };
}

with_algorithms!(names());
