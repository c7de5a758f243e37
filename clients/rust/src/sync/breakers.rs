//! The circuit breakers of connections whose bytes are not visible: there a whole reply counts as a byte. One for each part
//! of a cluster: a node that is away does not stop the requests of the others. Nothing runs between requests, so a request
//! sends the probe that is due.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use redis::Value;

use crate::breaker::{Breaker, Probe};
use crate::error::{Error, is_connection_error};
use crate::stats::Gauge;

/// How many parts a server has. A single one has the first.
const PARTS: usize = 256;

#[derive(Debug)]
pub struct Breakers {
    parts: Box<[Mutex<Breaker>]>,
    gauge: Arc<Gauge>,
}

impl Breakers {
    /// Each opens after this silence.
    pub fn new(limit: Option<Duration>, gauge: Arc<Gauge>) -> Self {
        Self { parts: (0..PARTS).map(|_| Mutex::new(Breaker::new(limit))).collect(), gauge }
    }

    fn with<T>(&self, part: u64, see: impl FnOnce(&mut Breaker, Instant) -> T) -> T {
        let at = usize::try_from(part).unwrap_or(0) % PARTS;
        let mut breaker = self.parts[at].lock();
        let was_open = breaker.is_open();
        let seen = see(&mut breaker, Instant::now());
        self.gauge.note(was_open, breaker.is_open());
        seen
    }

    /// Begins a request. Whether it may be sent.
    pub fn begins(&self, part: u64) -> bool {
        self.with(part, |breaker, now| {
            let permits = breaker.permits(now);
            if permits {
                breaker.written(now);
            }
            permits
        })
    }

    /// A request had this result.
    pub fn ended(&self, part: u64, result: &Result<Value, Error>) {
        self.with(part, |breaker, now| match result {
            Err(Error::Timeout(_)) => breaker.left(),
            Err(Error::Redis(error)) if error.is_timeout() => breaker.left(),
            Err(Error::Redis(error)) if is_connection_error(error) => drop(breaker.connect_failed(now)),
            _ => breaker.replied(now),
        });
    }

    /// The probe that is to be sent now.
    pub fn probe(&self, part: u64) -> Option<Probe> {
        self.with(part, Breaker::tick)
    }

    /// A probe had a reply.
    pub fn ponged(&self, part: u64) {
        self.with(part, Breaker::ponged);
    }

    /// A probe found no connection.
    pub fn connect_failed(&self, part: u64) {
        self.with(part, Breaker::connect_failed);
    }
}
