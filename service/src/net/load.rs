//! The requests under way, for all connections and for each.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use prometheus::core::Collector;
use prometheus::{IntCounter, IntCounterVec, IntGaugeVec, Opts, Registry};
use tokio::sync::{Notify, Semaphore};

use super::lag::Lag;

/// How many requests of a connection are decided as others. It may have a few more under way.
const OF_A_CONNECTION: usize = 1_000;
/// How many streams of HTTP/2 a client may have open.
pub const MAX_STREAMS: u32 = 1_100;
/// How many requests beyond `--max-requests` are read before they are decided.
const BEYOND: usize = 500;
/// How many bytes all connections hold before they are read less: headers and bodies that are not whole, and those of
/// requests under way.
const HELD: usize = 20 * 1024 * 1024;
/// How many they hold before those that hold most for longest are closed.
const MAX_HELD: usize = 32 * 1024 * 1024;
/// How many messages of a connection may be incomplete without a turn. If much is held, it is one.
const FEW: usize = 16;
/// How many connections at a time may have more.
const TURNS: usize = 50;
/// So many requests take half of the lag that is allowed.
const FEW_TO_DECIDE: usize = 100;
/// How many long messages are read at once.
const LONG_AT_ONCE: usize = 4;

/// What is under way.
#[derive(Debug)]
pub struct Load {
    max_requests: usize,
    max_lag: u64,
    /// How long a request may take.
    pub(super) longest: Duration,
    pub(super) lag: Arc<Lag>,
    /// Requests under way whose message is whole.
    pub(super) open: AtomicUsize,
    /// Those, and those whose message has not been looked at.
    pub(super) begun: AtomicUsize,
    held: AtomicUsize,
    /// Told when too much is held.
    pub(super) full: Notify,
    pub(super) long: Arc<Semaphore>,
    pub(super) turns: Arc<Semaphore>,
    pub figures: Figures,
}

/// Why Redis is not asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overload {
    Lag,
    Requests,
    Connection,
    Deadline,
}

impl Overload {
    /// The label of the metrics.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Lag => "lag",
            Self::Requests => "requests",
            Self::Connection => "connection",
            Self::Deadline => "deadline",
        }
    }
}

/// What is counted of connections.
#[derive(Clone, Debug)]
pub struct Figures {
    /// By `listener`.
    pub open: IntGaugeVec,
    /// By `reason`: those that this process ended although the client had not.
    pub closed: IntCounterVec,
    /// By `reason`.
    pub goaways: IntCounterVec,
    pub accept_errors: IntCounter,
    /// By `reason`: requests that rlaas ended since their messages did not come.
    pub resets: IntCounterVec,
}

/// Adds a metric to those that Prometheus reads.
///
/// # Errors
/// It is there twice, which is a fault of this program.
pub fn register<M: Collector + Clone + 'static>(
    registry: &Registry,
    metric: prometheus::Result<M>,
) -> prometheus::Result<M> {
    let metric = metric?;
    registry.register(Box::new(metric.clone()))?;
    Ok(metric)
}

impl Figures {
    /// # Errors
    /// A metric is there twice, which is a fault of this program.
    pub fn new(registry: &Registry) -> Result<Self, prometheus::Error> {
        let counters =
            |name: &str, help: &str| register(registry, IntCounterVec::new(Opts::new(name, help), &["reason"]));
        let open = Opts::new("rlaas_connections", "Connections that are open.");
        let accept_errors = IntCounter::new("rlaas_accept_errors", "Connections that could not be accepted.");
        Ok(Self {
            open: register(registry, IntGaugeVec::new(open, &["listener"]))?,
            closed: counters("rlaas_connections_closed", "Connections that rlaas closed, not the client.")?,
            goaways: counters("rlaas_goaways_sent", "Connections of HTTP/2 that rlaas asked to end.")?,
            accept_errors: register(registry, accept_errors)?,
            resets: counters("rlaas_requests_reset", "Requests that rlaas ended since their message did not come.")?,
        })
    }
}

impl Load {
    pub fn new(max_requests: usize, max_lag: Duration, longest: Duration, figures: Figures) -> Arc<Self> {
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        Arc::new(Self {
            max_requests,
            max_lag: u64::try_from(max_lag.as_micros()).unwrap_or(u64::MAX),
            longest,
            lag: Arc::new(Lag::new(workers)),
            open: AtomicUsize::new(0),
            begun: AtomicUsize::new(0),
            held: AtomicUsize::new(0),
            full: Notify::new(),
            long: Arc::new(Semaphore::new(LONG_AT_ONCE)),
            turns: Arc::new(Semaphore::new(TURNS)),
            figures,
        })
    }

    /// Begins to measure the lag.
    pub fn measure(&self) {
        self.lag.measure();
    }

    /// How many requests are under way. One counts when its message is whole.
    pub fn open(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    /// The largest lag of the last 10 to 20 seconds.
    pub fn largest_lag(&self) -> Duration {
        Duration::from_micros(self.lag.largest())
    }

    /// Whether this process is too busy for a request that was read then, in microseconds, whose connection has so many
    /// requests under way.
    pub fn overload(&self, read: u64, of_connection: usize) -> Option<Overload> {
        if self.open() > self.max_requests {
            Some(Overload::Requests)
        } else if of_connection > OF_A_CONNECTION {
            Some(Overload::Connection)
        } else if self.lag.now(read) > self.max_lag {
            Some(Overload::Lag)
        } else {
            None
        }
    }

    /// Whether so few requests are under way that they are not why this process is late, but other programs. To ask Redis
    /// costs less then than to decide here and to tell Redis afterwards.
    pub fn has_few(&self) -> bool {
        self.open() <= FEW_TO_DECIDE
    }

    /// How many requests a connection may have under way before it is read no further. The more there are of all, the
    /// fewer of each, so that a few connections leave a place for others.
    pub(super) fn places(&self) -> usize {
        if self.held() > HELD {
            return 1;
        }
        let left = self.max_requests.saturating_add(BEYOND).saturating_sub(self.begun.load(Ordering::Relaxed));
        (left / 4).max(1)
    }

    /// The same for requests that have waited. Where others wait for a turn, they are few: the memory of a stream stays
    /// with its connection.
    pub(super) fn places_in_turn(&self) -> usize {
        if self.turns.available_permits() == 0 { self.places().min(FEW) } else { self.places() }
    }

    /// How many messages of a connection may be incomplete without a turn.
    pub(super) fn few(&self) -> usize {
        if self.held() > HELD / 2 { 1 } else { FEW }
    }

    /// How many bytes are held.
    fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    pub(super) fn hold(&self, bytes: usize) {
        if self.held.fetch_add(bytes, Ordering::SeqCst).saturating_add(bytes) > MAX_HELD {
            self.full.notify_one();
        }
    }

    pub(super) fn release(&self, bytes: usize) {
        self.held.fetch_sub(bytes, Ordering::SeqCst);
    }

    /// How many bytes must be given up.
    pub(super) fn excess(&self) -> usize {
        // A little more, so that this is not looked for with each byte.
        if self.held() > MAX_HELD { self.held() - MAX_HELD / 8 * 7 } else { 0 }
    }
}
