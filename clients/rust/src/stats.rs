//! Counters of what a limiter did.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::gauge::Gauge;

/// A counter, which is also one of the facade `metrics` with that feature.
#[derive(Debug)]
pub struct Counter {
    count: AtomicU64,
    #[cfg(feature = "metrics")]
    name: &'static str,
}

impl Counter {
    #[cfg_attr(not(feature = "metrics"), expect(unused_variables, reason = "the name of the metric"))]
    pub const fn new(name: &'static str) -> Self {
        Self {
            count: AtomicU64::new(0),
            #[cfg(feature = "metrics")]
            name,
        }
    }

    pub fn increment(&self) {
        self.count.fetch_add(1, Ordering::Relaxed);
        #[cfg(feature = "metrics")]
        metrics::counter!(self.name).increment(1);
    }

    pub fn get(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }
}

/// Counts what is dropped before it has ended.
#[cfg(feature = "async")]
pub struct Unended<'a>(Option<&'a Counter>);

#[cfg(feature = "async")]
impl<'a> Unended<'a> {
    pub const fn new(counter: &'a Counter) -> Self {
        Self(Some(counter))
    }

    pub fn ended(mut self) {
        self.0 = None;
    }
}

#[cfg(feature = "async")]
impl Drop for Unended<'_> {
    fn drop(&mut self) {
        if let Some(counter) = self.0 {
            counter.increment();
        }
    }
}

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The counters themselves.
        #[derive(Debug)]
        pub struct Counters { $(pub $name: Counter,)* }

        impl Default for Counters {
            fn default() -> Self {
                Self { $($name: Counter::new(concat!("redis_rl_client_", stringify!($name), "_total")),)* }
            }
        }

        /// What a limiter did since it was built; its clones count together.
        ///
        /// With the feature `metrics`, each is also a counter of the facade `metrics`, such as
        /// `redis_rl_client_decided_total`; those of all limiters count together.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Stats {
            $($(#[$doc])* pub $name: u64,)*
            /// How often the circuit breaker opened.
            pub circuit_opened: u64,
            /// How many circuit breakers are open now: there is one for each node of a cluster, else one. No counter of
            /// the facade.
            pub breakers_open: u32,
        }

        impl Counters {
            pub fn snapshot(&self, gauge: &Gauge) -> Stats {
                Stats {
                    $($name: self.$name.get(),)*
                    circuit_opened: gauge.opened.get(),
                    breakers_open: gauge.open(),
                }
            }
        }
    };
}

counters! {
    /// Requests that the server decided, and calls that fetch grants. A call with several limits is one.
    decided,
    /// Of these, how many were allowed.
    allowed,
    /// Of these, how many were denied.
    denied,
    /// Requests that a remembered denial decided.
    remembered,
    /// Requests that a grant decided: with units that were held, or with the fetch that they waited for.
    granted,
    /// Calls that had no reply within the timeout.
    timeouts,
    /// Calls whose connection failed, or whose reply was an error.
    errors,
    /// Calls whose caller did not wait for the end: the future was dropped. The server may have executed them.
    cancelled,
    /// Requests that the server rejected as wrong: a fault of the configuration.
    rejected,
    /// Calls that were not sent because the circuit breaker was open.
    circuit_open,
    /// Requests that [`Fallback::Allow`](crate::Fallback::Allow) allowed.
    fallback_allowed,
    /// Requests that [`Fallback::Deny`](crate::Fallback::Deny) denied.
    fallback_denied,
    /// Requests that the local limit of [`Fallback::Local`](crate::Fallback) allowed.
    local_allowed,
    /// Requests that the local limit of [`Fallback::Local`](crate::Fallback) denied.
    local_denied,
    /// Keys that the local limit of [`Fallback::Local`](crate::Fallback) forgot although they counted, since it had 100,000
    /// others. Their limits start anew.
    local_forgotten,
    /// Requests that [`decide_without_server`](crate::Limiter::decide_without_server) allowed, by whatever fallback. None of
    /// them is counted under that fallback.
    overload_allowed,
    /// Requests that it denied. Those that a remembered denial decided are counted there.
    overload_denied,
    /// Requests that got [`Error::Overloaded`](crate::Error::Overloaded).
    overload_errors,
    /// Requests that got an error although the server could not decide: with [`Fallback::Error`](crate::Fallback::Error).
    fallback_errors,
    /// Costs that could not be settled: what a reservation or a response of the tower layer has used is not counted, but
    /// its estimate, which comes back if it was reserved.
    unsettled,
    /// Leases that ended while they were held: the server renewed them too late or did not know them, and may have
    /// allowed another holder.
    leases_lost,
}
