//! Counters since the module was loaded. [`crate::info`] shows them.

use std::sync::atomic::{AtomicU64, Ordering};

/// A counter. Handlers run on one thread; the atomic is for the compiler.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    #[inline(always)]
    pub fn increment(&self) {
        self.add(1);
    }

    #[inline(always)]
    pub fn add(&self, n: u64) {
        // Not fetch_add: its lock would cost more than the two accesses.
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
    }
}

/// Counters with the names that INFO shows.
macro_rules! counters {
    ($(#[$doc:meta])* $group:ident { $($(#[$field:meta])* $name:ident,)+ }) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $group { $($(#[$field])* pub $name: Counter,)+ }

        impl $group {
            pub const fn new() -> Self {
                Self { $($name: Counter(AtomicU64::new(0)),)+ }
            }

            pub fn fields(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name.0.load(Ordering::Relaxed))),+]
            }
        }
    };
}

counters! {
    /// Decisions by outcome: of one algorithm, or of RL.MULTI.
    Decisions {
        /// Allowed, with at most 80 % of the limit used afterwards.
        allowed,
        /// Allowed, with more than 80 % used.
        near,
        denied,
        /// Allowed because of shadow mode; the limit denies.
        shadow_denied,
        /// Calls that got an error.
        errors,
    }
}

/// The counter that a decision adds to, the mildest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    Allowed,
    Near,
    ShadowDenied,
    Denied,
}

impl Decisions {
    #[inline(always)]
    pub fn count(&self, outcome: Outcome) {
        match outcome {
            Outcome::Allowed => self.allowed.increment(),
            Outcome::Near => self.near.increment(),
            Outcome::ShadowDenied => self.shadow_denied.increment(),
            Outcome::Denied => self.denied.increment(),
        }
    }
}

counters! {
    /// Calls of RL.SHARE by outcome.
    Shares {
        /// Paid by the first limit, the caller's own part.
        own,
        /// Paid by another one.
        borrowed,
        denied,
        shadow_denied,
        errors,
    }
}

counters! {
    /// What belongs to no algorithm.
    Stats {
        peeks,
        refunds,
        settlements,
        reservations_made,
        /// Calls that named an open reservation.
        reservations_repeated,
        reservations_settled,
        /// Reservations that no call settled in time.
        reservations_ended,
        /// Reservations whose hash or order was gone, or that disagreed.
        reservations_lost,
        /// Decisions at `maxmemory`, by `rl.on-oom`.
        oom_error,
        oom_allowed,
        oom_denied,
    }
}

/// Calls of RL.MULTI as a whole.
pub static MULTI: Decisions = Decisions::new();
pub static SHARE: Shares = Shares::new();
pub static STATS: Stats = Stats::new();
