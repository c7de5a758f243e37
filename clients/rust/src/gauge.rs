//! How many circuit breakers are open, and how often one opened.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::log;
use crate::stats::Counter;

/// Of all breakers of a limiter.
#[derive(Debug)]
pub struct Gauge {
    pub opened: Counter,
    open: AtomicU32,
}

impl Default for Gauge {
    fn default() -> Self {
        Self { opened: Counter::new("redis_rl_client_circuit_opened_total"), open: AtomicU32::new(0) }
    }
}

impl Gauge {
    /// How many are open now.
    pub fn open(&self) -> u32 {
        self.open.load(Ordering::Relaxed)
    }

    /// Notes that one changed, if it did.
    pub fn note(&self, was_open: bool, is_open: bool) {
        match (was_open, is_open) {
            (false, true) => {
                self.opened.increment();
                // One line for all parts of a server that is away.
                if self.open.fetch_add(1, Ordering::Relaxed) == 0 {
                    log::circuit_opened();
                }
            }
            (true, false) if self.open.fetch_sub(1, Ordering::Relaxed) == 1 => log::circuit_closed(),
            _ => {}
        }
    }
}
