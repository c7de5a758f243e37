//! The requests under way, for all connections and for each.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Context;
use std::time::Duration;

use futures_util::task::AtomicWaker;
use prometheus::core::Collector;
use prometheus::{IntCounter, IntCounterVec, IntGaugeVec, Opts, Registry};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SetOnce};

use super::lag::Lag;
use super::micros;

/// How many requests of a connection are decided as others. It may have a few more under way.
const OF_A_CONNECTION: usize = 1_000;
/// How many streams of HTTP/2 a client may have open.
pub const MAX_STREAMS: u32 = 1_100;
/// How many requests beyond `--max-requests` are read before they are decided.
const BEYOND: usize = 500;
/// How much of a connection is read at once, before what it brought is looked at. Else one that waited for long would have
/// more streams open, and cancelled, than h2 takes.
const AT_ONCE: usize = 8 * 1024;
/// How many bytes of bodies are read before they are decided.
const MAX_HELD: usize = 24 * 1024 * 1024;
/// A connection with so few requests under way is always read.
const FEW: usize = 16;
/// So many requests take half of the lag that is allowed.
const FEW_TO_DECIDE: usize = 100;
/// How many long messages are read at once.
const LONG_AT_ONCE: usize = 4;
/// How long a client may take to begin, and for a header.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is under way.
#[derive(Debug)]
pub struct Load {
    max_requests: usize,
    max_lag: u64,
    /// How long a request may take.
    longest: Duration,
    lag: Arc<Lag>,
    open: AtomicUsize,
    held: AtomicUsize,
    long: Arc<Semaphore>,
    /// The connections that are not read until less is under way.
    waiting: Mutex<Vec<Arc<Peer>>>,
    waits: AtomicBool,
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
            held: AtomicUsize::new(0),
            long: Arc::new(Semaphore::new(LONG_AT_ONCE)),
            waiting: Mutex::default(),
            waits: AtomicBool::new(false),
            figures,
        })
    }

    /// Begins to measure the lag.
    pub fn measure(&self) {
        self.lag.measure();
    }

    /// How many requests are under way.
    pub fn open(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    /// The largest lag of the last 10 to 20 seconds.
    pub fn largest_lag(&self) -> Duration {
        Duration::from_micros(self.lag.largest())
    }

    /// Whether this process is too busy for a request that has come like this.
    pub fn overload(&self, arrival: Option<&Arrival>) -> Option<Overload> {
        let read = arrival.map_or(u64::MAX, |arrival| arrival.read);
        if self.open() > self.max_requests {
            Some(Overload::Requests)
        } else if arrival.is_some_and(|arrival| arrival.open.peer.open.load(Ordering::Relaxed) > OF_A_CONNECTION) {
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

    fn is_full(&self) -> bool {
        self.open() > self.max_requests.saturating_add(BEYOND) || self.held.load(Ordering::Relaxed) > MAX_HELD
    }

    /// Reads the connections again that wait.
    fn wake(&self) {
        let waiting = std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        self.waits.store(false, Ordering::SeqCst);
        for peer in waiting {
            peer.waits.store(false, Ordering::SeqCst);
            peer.waker.wake();
        }
    }
}

/// The client at the other end of a connection.
#[derive(Debug)]
pub struct Peer {
    load: Arc<Load>,
    /// When something was read. The other times are in microseconds too.
    read: AtomicU64,
    /// Since when a header is not complete, or the client has sent nothing; 0 if neither.
    began: AtomicU64,
    /// When a request ended last, or the first of those under way began.
    moved: AtomicU64,
    /// How much may be read before the next look.
    may_read: AtomicUsize,
    /// All requests under way.
    active: AtomicUsize,
    /// Those of them that are to be decided.
    open: AtomicUsize,
    /// How many of them have a long message that is read.
    long: AtomicUsize,
    waker: AtomicWaker,
    /// Whether it is not read until less is under way.
    waits: AtomicBool,
    end: SetOnce<Ending>,
}

/// Why a connection is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It sent nothing, or half a header.
    Silent,
    /// It was idle, and there were too many.
    Idle,
    /// None of its requests has ended for too long.
    Stuck,
}

impl Ending {
    /// The label of the metrics.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Silent => "silent",
            Self::Idle => "idle",
            Self::Stuck => "stuck",
        }
    }
}

impl Peer {
    pub fn new(load: &Arc<Load>) -> Arc<Self> {
        let now = micros();
        Arc::new(Self {
            load: load.clone(),
            read: AtomicU64::new(now),
            began: AtomicU64::new(now),
            moved: AtomicU64::new(now),
            may_read: AtomicUsize::new(AT_ONCE),
            active: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
            long: AtomicUsize::new(0),
            waker: AtomicWaker::new(),
            waits: AtomicBool::new(false),
            end: SetOnce::new(),
        })
    }

    /// To be called before each look at the connection.
    pub fn look(&self) {
        self.may_read.store(AT_ONCE, Ordering::Relaxed);
    }

    pub(super) fn has_read_enough(&self) -> bool {
        self.may_read.load(Ordering::Relaxed) == 0
    }

    pub(super) fn has_read(&self, bytes: usize) {
        self.read.store(micros(), Ordering::Relaxed);
        self.may_read.store(self.may_read.load(Ordering::Relaxed).saturating_sub(bytes), Ordering::Relaxed);
    }

    pub(super) fn header_began(&self) {
        if self.began.load(Ordering::Relaxed) == 0 {
            self.began.store(micros(), Ordering::Relaxed);
        }
    }

    /// What is read while a request is under way is its body.
    pub(super) fn header_began_unless_asked(&self) {
        if self.active.load(Ordering::Relaxed) == 0 {
            self.header_began();
        }
    }

    pub(super) fn header_ended(&self) {
        if self.began.load(Ordering::Relaxed) != 0 {
            self.began.store(0, Ordering::Relaxed);
        }
    }

    /// Whether the connection must not be read now. The task is woken when it may be.
    pub(super) fn must_wait(self: &Arc<Self>, cx: &Context<'_>) -> bool {
        if !self.is_beyond() {
            return false;
        }
        self.waker.register(cx.waker());
        if !self.waits.swap(true, Ordering::SeqCst) {
            self.load.waiting.lock().unwrap_or_else(PoisonError::into_inner).push(self.clone());
            self.load.waits.store(true, Ordering::SeqCst);
        }
        // Requests may have ended in between.
        self.is_beyond()
    }

    fn is_beyond(&self) -> bool {
        self.load.is_full()
            && self.open.load(Ordering::Relaxed) > FEW
            // Its messages would never end.
            && self.long.load(Ordering::Relaxed) == 0
    }

    /// Why the connection is to be closed now, if it is.
    pub(super) fn is_over(&self) -> Option<Ending> {
        // What came meanwhile may not be read yet.
        let patience = u64::try_from(PATIENCE.as_micros()).unwrap_or(u64::MAX).saturating_add(self.load.lag.largest());
        let now = micros();
        let longest = u64::try_from(self.load.longest.as_micros()).unwrap_or(u64::MAX);
        let began = self.began.load(Ordering::Relaxed);
        if began != 0 && now.saturating_sub(began) > patience {
            return Some(Ending::Silent);
        }
        let moved = self.moved.load(Ordering::Relaxed).max(self.read.load(Ordering::Relaxed));
        let moved = now.saturating_sub(moved);
        (self.open.load(Ordering::Relaxed) > 0 && moved > patience.saturating_add(longest)).then_some(Ending::Stuck)
    }

    /// Sort key: the smallest is the one that is idle longest. One with requests under way comes after those without.
    pub(super) fn idle(&self) -> (bool, u64) {
        (self.active.load(Ordering::Relaxed) > 0, self.read.load(Ordering::Relaxed))
    }

    /// Closes the connection.
    pub(super) fn close(&self, why: Ending) {
        _ = self.end.set(why);
    }

    /// Whether it was closed, and may take a moment.
    pub(super) fn is_closing(&self) -> bool {
        self.end.initialized()
    }

    /// Waits until the connection is to be closed.
    pub async fn closed(&self) -> Ending {
        *self.end.wait().await
    }

    /// A request begins. `decided` says whether it is one that is to be decided.
    pub fn begin(self: &Arc<Self>, decided: bool) -> Arc<Open> {
        self.header_ended();
        self.active.fetch_add(1, Ordering::Relaxed);
        if decided {
            if self.open.fetch_add(1, Ordering::SeqCst) == 0 {
                self.moved.store(micros(), Ordering::Relaxed);
            }
            self.load.open.fetch_add(1, Ordering::SeqCst);
        }
        Arc::new(Open { peer: self.clone(), decided, held: AtomicUsize::new(0) })
    }

    /// How a request has come that begins now.
    pub fn arrival(&self, open: &Arc<Open>) -> Arrival {
        Arrival { read: self.read.load(Ordering::Relaxed), open: open.clone() }
    }
}

/// A request under way, until the last clone of its reference is dropped.
#[derive(Debug)]
pub struct Open {
    peer: Arc<Peer>,
    decided: bool,
    /// How many bytes of its body were read.
    held: AtomicUsize,
}

impl Open {
    /// So much more of its body was read.
    pub(super) fn hold(&self, bytes: usize) {
        self.held.fetch_add(bytes, Ordering::Relaxed);
        self.peer.load.held.fetch_add(bytes, Ordering::SeqCst);
    }

    pub(super) fn long(&self) -> &Arc<Semaphore> {
        &self.peer.load.long
    }

    /// A long message is read, or has been.
    pub(super) fn is_long(&self, long: bool) {
        if long {
            self.peer.long.fetch_add(1, Ordering::SeqCst);
            if self.peer.waits.load(Ordering::SeqCst) {
                self.peer.waker.wake();
            }
        } else {
            self.peer.long.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let (peer, load) = (&self.peer, &self.peer.load);
        load.held.fetch_sub(*self.held.get_mut(), Ordering::SeqCst);
        peer.active.fetch_sub(1, Ordering::Relaxed);
        if self.decided {
            peer.open.fetch_sub(1, Ordering::SeqCst);
            peer.moved.store(micros(), Ordering::Relaxed);
            load.open.fetch_sub(1, Ordering::SeqCst);
        }
        if load.waits.load(Ordering::SeqCst) {
            if !load.is_full() {
                load.wake();
            } else if peer.waits.load(Ordering::SeqCst) && !peer.is_beyond() {
                peer.waker.wake();
            }
        }
    }
}

/// How a request has come. An extension of the request.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// When its bytes were read, in microseconds.
    read: u64,
    open: Arc<Open>,
}

impl Arrival {
    /// How long ago its bytes were read.
    pub fn ago(&self) -> Duration {
        Duration::from_micros(micros().saturating_sub(self.read))
    }

    /// Waits until few other long bodies are read. This one is read until the value is dropped.
    pub async fn long(&self) -> Option<OwnedSemaphorePermit> {
        self.open.long().clone().acquire_owned().await.ok()
    }
}
