//! The circuit breakers of connections whose bytes are not visible: those of an application, and those of threads. There
//! a whole reply counts as a byte. One for each part of the server: a node of a cluster that is away does not stop the
//! requests of the others.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use redis::Value;

use super::{Breaker, Probe};
use crate::error::{Error, is_connection_error};
use crate::stats::Gauge;

/// How many parts a server has. A single one has the first.
const PARTS: usize = 256;

#[derive(Debug)]
pub struct Breakers {
    parts: Box<[Mutex<Part>]>,
    gauge: Arc<Gauge>,
}

#[derive(Debug)]
struct Part {
    breaker: Breaker,
    /// Whether a task runs its timer.
    #[cfg(feature = "async")]
    is_watched: bool,
}

impl Breakers {
    /// Each opens after this silence.
    pub fn new(limit: Option<Duration>, gauge: Arc<Gauge>) -> Self {
        let part = || {
            Mutex::new(Part {
                breaker: Breaker::new(limit),
                #[cfg(feature = "async")]
                is_watched: false,
            })
        };
        Self { parts: (0..PARTS).map(|_| part()).collect(), gauge }
    }

    fn with<T>(&self, part: u64, see: impl FnOnce(&mut Part) -> T) -> T {
        let at = usize::try_from(part).unwrap_or(0) % PARTS;
        let mut part = self.parts[at].lock().unwrap_or_else(PoisonError::into_inner);
        let was_open = part.breaker.is_open();
        let seen = see(&mut part);
        self.gauge.note(was_open, part.breaker.is_open());
        seen
    }

    /// Begins a request, if one may be sent.
    pub fn begin(&self, part: u64) -> Option<Begun<'_>> {
        let now = Instant::now();
        self.with(part, |part| {
            let permits = part.breaker.permits(now);
            if permits {
                part.breaker.written(now);
            }
            permits
        })
        .then_some(Begun { breakers: self, part: Some(part) })
    }

    /// A request had this result.
    pub fn ended(&self, part: u64, result: &Result<Value, Error>) {
        let now = Instant::now();
        self.with(part, |part| match result {
            Err(Error::Timeout(_)) => part.breaker.left(),
            Err(Error::Redis(error)) if error.is_timeout() => part.breaker.left(),
            Err(Error::Redis(error)) if is_connection_error(error) => drop(part.breaker.connect_failed(now)),
            _ => part.breaker.replied(now),
        });
    }

    /// The probe that is to be sent now.
    pub fn probe(&self, part: u64) -> Option<Probe> {
        let now = Instant::now();
        self.with(part, |part| part.breaker.tick(now))
    }

    /// A probe had a reply.
    pub fn ponged(&self, part: u64) {
        let now = Instant::now();
        self.with(part, |part| part.breaker.ponged(now));
    }

    /// A probe found no connection.
    pub fn connect_failed(&self, part: u64) {
        let now = Instant::now();
        self.with(part, |part| part.breaker.connect_failed(now));
    }
}

/// A request that was sent. If this is dropped, its caller is gone.
#[derive(Debug)]
pub struct Begun<'a> {
    breakers: &'a Breakers,
    part: Option<u64>,
}

impl Begun<'_> {
    pub fn ended(mut self, result: &Result<Value, Error>) {
        if let Some(part) = self.part.take() {
            self.breakers.ended(part, result);
        }
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        if let Some(part) = self.part {
            self.breakers.with(part, |part| part.breaker.left());
        }
    }
}

#[cfg(feature = "async")]
impl Breakers {
    /// Whether requests of this part are not sent now, and whether only one at a time is.
    pub fn is_open(&self, part: u64) -> (bool, bool) {
        self.with(part, |part| (part.breaker.is_open(), part.breaker.is_trying()))
    }

    /// Whether nobody runs the timer of this part, so that the caller does from now on.
    pub fn begins_watch(&self, part: u64) -> bool {
        self.with(part, |part| !std::mem::replace(&mut part.is_watched, true))
    }

    /// When the timer has something to do. If it has not, nobody runs it from now on.
    pub fn next_tick(&self, part: u64) -> Option<Instant> {
        self.with(part, |part| {
            let next = part.breaker.next_tick();
            part.is_watched = next.is_some();
            next
        })
    }

    /// Nobody runs the timer from now on.
    pub fn ends_watch(&self, part: u64) {
        self.with(part, |part| part.is_watched = false);
    }
}
