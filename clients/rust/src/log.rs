//! What an operator sees: events of `tracing`, each kind at most once a second.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::error::Error;
use crate::fallback::Fallback;

#[derive(Debug)]
pub struct Log {
    began: Instant,
    overloaded: Kind,
    no_decision: Kind,
    open: Kind,
    closed: Kind,
    #[cfg(feature = "local")]
    local: Kind,
    #[cfg(feature = "local")]
    local_forgotten: Kind,
    rejected: Kind,
    unsettled: Kind,
    lease_lost: Kind,
    library: Kind,
}

/// When an event of one kind was logged last, in ms since the start, from 1; and how many were not since then.
#[derive(Debug, Default)]
struct Kind {
    last: AtomicU64,
    left_out: AtomicU64,
}

impl Default for Log {
    fn default() -> Self {
        Self {
            began: Instant::now(),
            overloaded: Kind::default(),
            no_decision: Kind::default(),
            open: Kind::default(),
            closed: Kind::default(),
            #[cfg(feature = "local")]
            local: Kind::default(),
            #[cfg(feature = "local")]
            local_forgotten: Kind::default(),
            rejected: Kind::default(),
            unsettled: Kind::default(),
            lease_lost: Kind::default(),
            library: Kind::default(),
        }
    }
}

impl Log {
    /// The server cannot decide, and the fallback does.
    pub fn fell_back(&self, fallback: Fallback, error: &Error) {
        let (kind, what) = match fallback {
            Fallback::Error => (&self.no_decision, "no decision"),
            Fallback::Allow => (&self.open, "failing open"),
            Fallback::Deny => (&self.closed, "failing closed"),
            #[cfg(feature = "local")]
            Fallback::Local { .. } => (&self.local, "limiting in this process"),
        };
        // It must not keep an outage from being logged.
        let kind = if matches!(error, Error::Overloaded) { &self.overloaded } else { kind };
        let Some(left_out) = kind.permits(self.began) else { return };
        tracing::warn!(left_out, "{what}: {error}");
    }

    /// A key of the local limit is forgotten although it counted.
    #[cfg(feature = "local")]
    pub fn local_forgotten(&self) {
        let Some(left_out) = self.local_forgotten.permits(self.began) else { return };
        tracing::warn!(left_out, "more keys than are counted in this process: the limit of one starts anew");
    }

    /// The server rejects a request, or there is no key for it. No fallback applies.
    pub fn rejected(&self, error: &Error) {
        let Some(left_out) = self.rejected.permits(self.began) else { return };
        tracing::error!(left_out, "a fault of the configuration, no request of this kind is decided: {error}");
    }

    /// What a request has cost is not settled.
    pub fn unsettled(&self, error: &Error) {
        let Some(left_out) = self.unsettled.permits(self.began) else { return };
        tracing::warn!(left_out, "what a request has cost is not settled: {error}");
    }

    /// A lease ended while it was held.
    pub fn lease_lost(&self) {
        let Some(left_out) = self.lease_lost.permits(self.began) else { return };
        tracing::warn!(left_out, "a lease ended while it was held: another holder may be allowed");
    }

    /// The server has no module.
    pub fn library_decides(&self) {
        let Some(left_out) = self.library.permits(self.began) else { return };
        tracing::warn!(
            left_out,
            "the server has no module redis-rl: the Lua library decides, which takes more of the server's time, and \
             algorithms that it does not have are errors"
        );
    }
}

pub fn circuit_opened() {
    tracing::warn!("the circuit breaker opens: the server is silent, or there is no connection");
}

pub fn circuit_closed() {
    tracing::info!("the circuit breaker closes: the server replies again");
}

impl Kind {
    /// How many events were left out, if one may be logged now.
    fn permits(&self, began: Instant) -> Option<u64> {
        let now = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX).saturating_add(1);
        let last = self.last.load(Ordering::Relaxed);
        let due = last == 0 || now.saturating_sub(last) >= 1_000;
        if due && self.last.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            return Some(self.left_out.swap(0, Ordering::Relaxed));
        }
        self.left_out.fetch_add(1, Ordering::Relaxed);
        None
    }
}
