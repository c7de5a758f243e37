//! What an operator sees: events of `tracing`, each kind at most once a second.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::error::Error;
use crate::fallback::Fallback;

#[derive(Debug)]
pub struct Log {
    began: Instant,
    fallback: Kind,
    rejected: Kind,
}

/// When an event of one kind was logged last, in ms since the start, from 1; and how many were not since then.
#[derive(Debug, Default)]
struct Kind {
    last: AtomicU64,
    left_out: AtomicU64,
}

impl Default for Log {
    fn default() -> Self {
        Self { began: Instant::now(), fallback: Kind::default(), rejected: Kind::default() }
    }
}

impl Log {
    /// The server cannot decide, and the fallback does.
    pub fn fell_back(&self, fallback: Fallback, error: &Error) {
        let Some(left_out) = self.fallback.permits(self.began) else { return };
        let what = match fallback {
            Fallback::Error => "no decision",
            Fallback::Allow => "failing open",
            Fallback::Deny => "failing closed",
            #[cfg(feature = "local")]
            Fallback::Local { .. } => "limiting in this process",
        };
        tracing::warn!(left_out, "{what}: {error}");
    }

    /// The server rejects a request, or there is no key for it. No fallback applies.
    pub fn rejected(&self, error: &Error) {
        let Some(left_out) = self.rejected.permits(self.began) else { return };
        tracing::error!(left_out, "a fault of the configuration, no request of this kind is decided: {error}");
    }

    pub fn circuit_opened(&self) {
        tracing::warn!("the circuit breaker opens: requests in a row had no reply");
    }

    pub fn circuit_closed(&self) {
        tracing::info!("the circuit breaker closes: the server replies again");
    }
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
