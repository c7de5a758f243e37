//! A circuit breaker: after some failures in a row, requests are not sent for a while.
//!
//! Of the crates, `failsafe` lets every request through when that while is over, and `recloser` a fixed number of them.
//! Each would wait for the timeout if the server is still away. Here it is one request at a time.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// When the breaker opens, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerSettings {
    /// How many requests in a row must have had no reply; 0 for a breaker that never opens.
    pub failures: u32,
    /// How long no request is sent then. After it, one request tries the server.
    pub open_for: Duration,
}

impl Default for BreakerSettings {
    fn default() -> Self {
        Self { failures: 5, open_for: Duration::from_secs(1) }
    }
}

/// For how long no request must have had a reply until those count that waited for less than the timeout: their callers
/// may wait for less than the server takes.
const SILENCE: Duration = Duration::from_millis(250);

#[derive(Debug)]
pub struct Breaker {
    settings: BreakerSettings,
    began: Instant,
    failures: AtomicU32,
    /// When the first of them failed, in ms since `began`.
    failing_since: AtomicU64,
    /// Until when it is open, in ms since `began`; 0 if it is closed.
    open_until: AtomicU64,
}

impl Breaker {
    pub fn new(settings: BreakerSettings) -> Self {
        Self {
            settings,
            began: Instant::now(),
            failures: AtomicU32::new(0),
            failing_since: AtomicU64::new(0),
            open_until: AtomicU64::new(0),
        }
    }

    /// Whether a request may be sent now.
    pub fn permits(&self) -> bool {
        let until = self.open_until.load(Ordering::Relaxed);
        if until == 0 {
            return true;
        }
        let now = self.now_ms();
        // The request that moves the end tries the server; the others still find the breaker open.
        now >= until
            && self
                .open_until
                .compare_exchange(until, self.end_after(now), Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }

    /// A request had a reply. Whether this closed the breaker.
    pub fn succeeded(&self) -> bool {
        if self.failures.load(Ordering::Relaxed) != 0 {
            self.failures.store(0, Ordering::Relaxed);
        }
        self.open_until.load(Ordering::Relaxed) != 0 && self.open_until.swap(0, Ordering::Relaxed) != 0
    }

    /// A request had no reply; `early` if it waited for less than the timeout. Whether this opened the breaker.
    pub fn failed(&self, early: bool) -> bool {
        let now = self.now_ms();
        let failures = self.failures.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        if failures == 1 {
            self.failing_since.store(now, Ordering::Relaxed);
        }
        if self.settings.failures == 0 || failures < self.settings.failures {
            return false;
        }
        let silence = now.saturating_sub(self.failing_since.load(Ordering::Relaxed));
        if early && u128::from(silence) < SILENCE.as_millis() {
            return false;
        }
        self.open_until.swap(self.end_after(now), Ordering::Relaxed) == 0
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn end_after(&self, now: u64) -> u64 {
        let open_ms = u64::try_from(self.settings.open_for.as_millis()).unwrap_or(u64::MAX);
        now.saturating_add(open_ms).max(1)
    }
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;

    use super::*;

    #[test]
    fn it_opens_after_failures_in_a_row_and_lets_one_request_try() {
        let breaker = Breaker::new(BreakerSettings { failures: 2, open_for: Duration::from_millis(300) });
        assert!(!breaker.failed(false));
        assert!(!breaker.succeeded());
        assert!(!breaker.failed(false));
        assert!(breaker.permits());
        assert!(breaker.failed(false));
        assert!(!breaker.permits());
        sleep(Duration::from_millis(301));
        assert_eq!([breaker.permits(), breaker.permits()], [true, false]);
        // The try failed, so it stays open; a later one succeeds and closes it.
        assert!(!breaker.failed(false));
        assert!(!breaker.permits());
        sleep(Duration::from_millis(301));
        assert!(breaker.permits());
        assert!(breaker.succeeded());
        assert_eq!([breaker.permits(), breaker.permits()], [true, true]);
    }

    #[test]
    fn callers_that_wait_for_less_open_it_only_while_nobody_gets_a_reply() {
        let breaker = Breaker::new(BreakerSettings { failures: 2, open_for: Duration::from_secs(60) });
        let early = || (0..10).any(|_| breaker.failed(true));
        assert!(!early());
        sleep(SILENCE);
        assert!(!breaker.succeeded());
        assert!(!early());
        assert!(breaker.permits());
        sleep(SILENCE);
        assert!(early());
        assert!(!breaker.permits());
        assert!(breaker.succeeded());
        // One that waited for the whole timeout counts at once.
        assert!(!breaker.failed(false));
        assert!(breaker.failed(false));
    }

    #[test]
    fn it_never_opens_without_a_number_of_failures() {
        let breaker = Breaker::new(BreakerSettings { failures: 0, open_for: Duration::from_secs(60) });
        assert!((0..100).all(|_| !breaker.failed(false)));
        assert!(breaker.permits());
    }
}
