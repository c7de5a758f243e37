//! What an operator sees: counters of what a limiter did, and events of `tracing`.

use std::fmt;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::decision::Fallback;
use crate::error::Error;

#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    pub fn increment(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The counters themselves.
        #[derive(Debug, Default)]
        pub struct Counters {
            $(pub $name: Counter,)*
            breakers_open: AtomicU32,
        }

        /// What a limiter did since it was built; its clones count together.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Stats {
            $($(#[$doc])* pub $name: u64,)*
            /// How many circuit breakers are open now: there is one for each node of a cluster, else one.
            pub breakers_open: u32,
        }

        impl Counters {
            pub fn snapshot(&self) -> Stats {
                Stats {
                    $($name: self.$name.0.load(Ordering::Relaxed),)*
                    breakers_open: self.breakers_open.load(Ordering::Relaxed),
                }
            }
        }
    };
}

counters! {
    /// Requests that the server decided, and calls that fetch grants. A call with several limits is one.
    decided,
    /// Of these, those that were allowed.
    allowed,
    /// Of these, those that were denied.
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
    /// How often the circuit breaker opened.
    circuit_opened,
    /// Requests that [`Fallback::Allow`](crate::Fallback::Allow) allowed.
    fallback_allowed,
    /// Requests that [`Fallback::Deny`](crate::Fallback::Deny) denied.
    fallback_denied,
    /// Requests that the local limit of [`Fallback::Local`](crate::Fallback) allowed.
    local_allowed,
    /// Requests that it denied.
    local_denied,
    /// Of these, those of new keys for which there was no place: 64 MiB, and 100,000 keys.
    local_full,
    /// Requests that a limiter [without the server](crate::Limiter::without_server) allowed, by whatever fallback. None of
    /// them is counted under that fallback.
    overload_allowed,
    /// Requests that it denied. Those that a remembered denial decided are counted there.
    overload_denied,
    /// Requests that got [`Error::Overloaded`](crate::Error::Overloaded).
    overload_errors,
    /// Requests that got an error although the server could not decide: with [`Fallback::Error`](crate::Fallback::Error).
    fallback_errors,
    /// Costs of reservations that could not be settled: the estimate counts until the reservation ends.
    unsettled,
    /// Leases that ended while they were held: the server may have allowed another holder.
    leases_lost,
}

impl Counters {
    /// Notes that a circuit breaker changed, if it did. There is one line in the log for all parts of a server that is away.
    pub fn note_breaker(&self, was_open: bool, is_open: bool) {
        match (was_open, is_open) {
            (false, true) => {
                self.circuit_opened.increment();
                if self.breakers_open.fetch_add(1, Ordering::Relaxed) == 0 {
                    tracing::warn!("the circuit breaker opens: the server is silent, or there is no connection");
                }
            }
            (true, false) if self.breakers_open.fetch_sub(1, Ordering::Relaxed) == 1 => {
                tracing::info!("the circuit breaker closes: the server replies again");
            }
            _ => {}
        }
    }
}

/// How often an event of one kind is logged at most.
const APART: Duration = Duration::from_secs(1);

/// The kinds of events.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Overloaded,
    NoDecision,
    FailingOpen,
    FailingClosed,
    Local,
    LocalFull,
    Rejected,
    Unsettled,
    LeaseLost,
}

/// When an event of each kind was logged last, and how many were not since then.
#[derive(Debug, Default)]
pub struct Log([Mutex<(Option<Instant>, u64)>; Kind::LeaseLost as usize + 1]);

impl Log {
    /// The server cannot decide, and the fallback does.
    pub fn fell_back(&self, fallback: Fallback, error: &Error) {
        let (kind, what) = match fallback {
            Fallback::Error => (Kind::NoDecision, "no decision"),
            Fallback::Allow => (Kind::FailingOpen, "failing open"),
            Fallback::Deny => (Kind::FailingClosed, "failing closed"),
            Fallback::Local { .. } => (Kind::Local, "limiting in this process"),
        };
        // It must not keep an outage from being logged.
        let kind = if matches!(error, Error::Overloaded) { Kind::Overloaded } else { kind };
        self.warn(kind, format_args!("{what}: {error}"));
    }

    /// The server rejects a request, or there is no key for it. No fallback applies.
    pub fn rejected(&self, error: &Error) {
        let Some(left_out) = self.permits(Kind::Rejected) else { return };
        tracing::error!(left_out, "a fault of the configuration, no request of this kind is decided: {error}");
    }

    /// Logs a warning, if it is time.
    pub fn warn(&self, kind: Kind, text: fmt::Arguments<'_>) {
        let Some(left_out) = self.permits(kind) else { return };
        tracing::warn!(left_out, "{text}");
    }

    /// How many events were left out, if one may be logged now.
    fn permits(&self, kind: Kind) -> Option<u64> {
        let (last, left_out) = &mut *self.0[kind as usize].lock();
        if last.is_some_and(|at| at.elapsed() < APART) {
            *left_out += 1;
            return None;
        }
        *last = Some(Instant::now());
        Some(std::mem::take(left_out))
    }
}
