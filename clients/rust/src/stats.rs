//! Counters of what a limiter did.

use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    pub fn increment(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The counters themselves.
        #[derive(Debug, Default)]
        pub struct Counters { $(pub $name: Counter,)* }

        /// What a limiter did since it was built; its clones count together.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Stats { $($(#[$doc])* pub $name: u64,)* }

        impl Counters {
            pub fn snapshot(&self) -> Stats {
                Stats { $($name: self.$name.get(),)* }
            }
        }
    };
}

counters! {
    /// Requests that the server decided. A call with several limits is one.
    decided,
    /// Requests that a remembered denial decided.
    remembered,
    /// Requests that a grant decided.
    granted,
    /// Calls that had no reply within the timeout.
    timeouts,
    /// Calls whose connection failed, or whose reply was an error.
    errors,
    /// Calls that were not sent because the circuit breaker was open.
    circuit_open,
    /// How often the circuit breaker opened.
    circuit_opened,
    /// Requests that [`Fallback::Allow`](crate::Fallback::Allow) allowed.
    fallback_allowed,
    /// Requests that [`Fallback::Deny`](crate::Fallback::Deny) denied.
    fallback_denied,
    /// Requests that the local limit of [`Fallback::Local`](crate::Fallback) allowed.
    local_allowed,
    /// Requests that the local limit of [`Fallback::Local`](crate::Fallback) denied.
    local_denied,
    /// Requests that got an error although the server could not decide: with [`Fallback::Error`](crate::Fallback::Error).
    fallback_errors,
}
