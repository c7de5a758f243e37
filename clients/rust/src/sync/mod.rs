//! The limiter of programs without an async runtime.

mod connection;
#[path = "../calls/lease.rs"]
mod lease;
#[path = "../calls/limiter.rs"]
mod limiter;
#[path = "../calls/reservation.rs"]
mod reservation;

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SendError, Sender, channel};
use std::thread::{self, JoinHandle as Task, scope, sleep, spawn};
use std::time::{Duration, Instant};

use maybe_async::must_be_sync as both;
use parking_lot::Mutex;
use redis::{RedisError, RedisResult, Value};

pub use lease::{Lease, Leased};
pub use reservation::{Reservation, Reserved, ReservedAll};

use connection::Connection;

use crate::Address as Target;
use crate::breaker::{Breaker, Probe};
use crate::core::Core;
use crate::error::{Error, ends_connection, is_connection_error};
use crate::protocol::Commands;
use crate::stats::Gauge;
use crate::{Address, Builder, Decision, Fallback, Request};

/// A connection that was idle for so long is tested with PING before a request is sent: the server may have closed it.
const IDLE: Duration = Duration::from_millis(500);
/// How many circuit breakers there are: one for each part of a cluster, since a node that is away does not stop the requests
/// of the others. A single server has the first.
const PARTS: u64 = 256;
/// How many slots of a cluster are one part: a node has them in ranges.
const SLOTS_OF_PART: u64 = 64;
/// How many connections a call to a cluster uses at once.
const MAX_THREADS: usize = 8;

/// The same as the limiter of async programs, for threads. It opens a connection for each request that runs at the same
/// time, and keeps them.
///
/// ```
/// # mod doc { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/client/doc.rs")); } use doc::with_client;
/// use std::time::Duration;
/// use redis_rl_client::{Policy, sync::Limiter, sync::Reserved};
///
/// const API: Policy = Policy::token(Duration::from_secs(60), 600).burst(50).name("api");
/// const TOKENS: Policy = Policy::counter(Duration::from_secs(60), 3000).name("tokens");
///
/// # with_client(async |client| {
/// let limiter = Limiter::new(client); // client: redis::Client
/// assert!(limiter.check(&API, "user:42")?.allowed);
/// match limiter.reserve(&TOKENS.request("org:7").cost(800), Duration::from_secs(600))? {
///     Reserved::Held(reservation) => drop(reservation.settle(310)?),
///     Reserved::Denied(decision) => println!("too many tokens: {:?}", decision.retry_after),
/// }
/// # Ok(())
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct Limiter {
    link: Arc<Pool>,
    core: Arc<Core>,
    fallback: Fallback,
    timeout: Duration,
}

impl Builder<Address> {
    /// The limiter of programs without an async runtime.
    pub fn build_sync(self) -> Limiter {
        Limiter::of(self)
    }
}

impl Limiter {
    fn of(builder: Builder<Address>) -> Self {
        let Builder { connection: address, settings } = builder;
        let (gauge, limit) = (Arc::<Gauge>::default(), Breaker::limit(settings.breaker, settings.timeout));
        let breakers = (0..PARTS).map(|_| Mutex::new(Breaker::new(limit))).collect();
        let core = Arc::new(Core::new(&settings, Arc::clone(&gauge)));
        let link = Arc::new(Pool { address, breakers, gauge, idle: Mutex::default() });
        Self { link, core, fallback: settings.fallback, timeout: settings.timeout }
    }

    /// Threads send the requests of different slots.
    fn decide_each(&self, requests: &[Request<'_>]) -> Vec<Result<Decision, Error>> {
        let deadline = Instant::now() + self.timeout;
        // The numbers of the requests of each slot.
        let mut slots: HashMap<u64, Vec<usize>> = HashMap::new();
        for (number, request) in requests.iter().enumerate() {
            slots.entry(self.link.address.group(&request.bounded_key())).or_default().push(number);
        }
        let slots: Vec<_> = slots.into_values().collect();
        let decide_some = |numbers: &Vec<usize>| {
            let rest = deadline.saturating_duration_since(Instant::now());
            let decisions = self.decide_together(numbers.iter().map(|&number| &requests[number]), rest);
            numbers.iter().copied().zip(decisions).collect::<Vec<_>>()
        };
        let decide = |slots: &[Vec<usize>]| slots.iter().flat_map(decide_some).collect::<Vec<_>>();
        let mut decided = if slots.len() < 2 {
            decide(&slots)
        } else {
            scope(|scope| {
                let parts = slots.chunks(slots.len().div_ceil(MAX_THREADS));
                let threads: Vec<_> = parts.map(|part| scope.spawn(|| decide(part))).collect();
                threads
                    .into_iter()
                    .flat_map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
                    .collect()
            })
        };
        decided.sort_unstable_by_key(|(number, _)| *number);
        decided.into_iter().map(|(_, decision)| decision).collect()
    }
}

/// What the server replied to each command, and how long that took.
struct Reply {
    values: Vec<Result<Value, Error>>,
    took: Duration,
}

struct Pool {
    address: Address,
    /// Nothing runs between requests, so a request sends the probe that is due. The bytes of a connection are not visible:
    /// a whole reply counts as one.
    breakers: Vec<Mutex<Breaker>>,
    gauge: Arc<Gauge>,
    /// The connections that no request uses, and since when.
    idle: Mutex<Vec<(Connection, Instant)>>,
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}

impl Pool {
    fn keep(&self, connection: Option<Connection>) {
        self.idle.lock().extend(connection.map(|connection| (connection, Instant::now())));
    }

    /// Lets the circuit breaker of a part see something.
    fn breaker<T>(&self, part: usize, see: impl FnOnce(&mut Breaker, Instant) -> T) -> T {
        let mut breaker = self.breakers[part].lock();
        let was_open = breaker.is_open();
        let seen = see(&mut breaker, Instant::now());
        self.gauge.note(was_open, breaker.is_open());
        seen
    }

    /// Sends commands with keys of one slot, for which the server may take so long.
    fn request(self: &Arc<Self>, commands: Commands, key: &[u8], limit: Duration) -> Result<Reply, Error> {
        let (began, part) = (Instant::now(), (self.address.group(key) / SLOTS_OF_PART) as usize);
        let deadline = began + limit;
        let mut connection = self.probe(part, key, deadline)?;
        // The server is not silent about what this process was too slow to send.
        if Instant::now() >= deadline {
            self.keep(connection);
            return Err(timed_out().into());
        }
        let is_permitted = self.breaker(part, |breaker, now| {
            let permits = breaker.permits(now);
            if permits {
                breaker.written(now);
            }
            permits
        });
        if !is_permitted {
            self.keep(connection);
            return Err(Error::CircuitOpen);
        }
        let replies = self.send(&mut connection, &commands, key, deadline);
        self.keep(connection);
        self.breaker(part, |breaker, now| {
            if replies.first().is_some_and(|reply| !reply.as_ref().is_err_and(ends_connection)) {
                breaker.bytes(now);
            }
            // The first error that is no reply is that of all that follow.
            match replies.last() {
                Some(Err(error)) if error.is_timeout() => breaker.left(),
                Some(Err(error)) if is_connection_error(error) => breaker.connect_failed(now),
                _ => breaker.replied(now),
            }
        });
        let values = replies.into_iter().map(|reply| reply.map_err(Error::from)).collect();
        Ok(Reply { values, took: began.elapsed() })
    }

    /// Before a request, sends PING if the circuit breaker asks for it, and waits for the reply. A connection that no
    /// request uses, if there is one that is still open.
    fn probe(self: &Arc<Self>, part: usize, key: &[u8], deadline: Instant) -> Result<Option<Connection>, Error> {
        let ping = Commands::from(&redis::cmd("PING"));
        let mut connection = match self.breaker(part, Breaker::tick) {
            None => {
                let Some((mut connection, since)) = self.idle.lock().pop() else { return Ok(None) };
                if since.elapsed() >= IDLE {
                    let reply = connection.send(&self.address, &ping, key, deadline).pop();
                    // An error that the server replies shows that it is open.
                    if reply.is_some_and(|reply| reply.is_err_and(|error| ends_connection(&error))) {
                        return Ok(None);
                    }
                }
                return Ok(Some(connection));
            }
            Some(Probe::Connect) => {
                // They lead to a server that is silent.
                self.idle.lock().clear();
                None
            }
            Some(Probe::Ping) => self.idle.lock().pop().map(|(connection, _)| connection),
        };
        match self.send(&mut connection, &ping, key, deadline).pop() {
            // The request itself is not sent.
            Some(Err(error)) if ends_connection(&error) => {
                if !error.is_timeout() {
                    self.breaker(part, Breaker::connect_failed);
                }
                Err(Error::CircuitOpen)
            }
            // An error that the server replies shows that it is there.
            _ => {
                self.breaker(part, Breaker::ponged);
                Ok(connection)
            }
        }
    }

    /// Sends over a connection, which is opened first if there is none. After a failure it is of no use any more.
    fn send(
        self: &Arc<Self>,
        connection: &mut Option<Connection>,
        commands: &Commands,
        key: &[u8],
        deadline: Instant,
    ) -> Vec<RedisResult<Value>> {
        let failed = |error| vec![Err(error); commands.len()];
        let used = match connection {
            Some(connection) => connection,
            None => match self.open(rest_until(deadline)) {
                Ok(new) => connection.insert(new),
                Err(error) => return failed(error),
            },
        };
        let replies = used.send(&self.address, commands, key, deadline);
        if replies.iter().any(|reply| reply.as_ref().is_err_and(ends_connection)) {
            *connection = None;
            // The server closed its other connections too, or their replies are late.
            self.idle.lock().clear();
        }
        replies
    }

    /// Opens a connection in a thread of its own: the crate waits for the timeout once for each of several replies, and
    /// in a cluster for each node. A connection that is too late is kept for another request.
    fn open(self: &Arc<Self>, timeout: Duration) -> RedisResult<Connection> {
        let ((sender, receiver), pool) = (channel(), Arc::clone(self));
        spawn(move || {
            if let Err(SendError(Ok(late))) = sender.send(Connection::open(&pool.address, timeout)) {
                pool.keep(Some(late));
            }
        });
        receiver.recv_timeout(timeout).unwrap_or_else(|_| Err(timed_out()))
    }
}

fn timed_out() -> RedisError {
    io::Error::new(io::ErrorKind::TimedOut, "no reply in time").into()
}

/// What is left of a request's time. A socket takes no timeout of 0.
fn rest_until(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
}

fn now() -> Instant {
    Instant::now()
}

/// What the work has returned. It has a timeout of its own.
fn until<T>(_: Instant, done: T) -> Option<T> {
    Some(done)
}

type Held = Sender<()>;
type Other = Receiver<()>;

/// Runs what goes on without its caller, in threads.
#[derive(Clone, Debug)]
struct Background;

impl Background {
    fn here() -> Self {
        Self
    }

    /// What was done: nobody leaves a call of this thread.
    fn apart<T>(&self, done: T) -> Result<T, Error> {
        Ok(done)
    }

    /// `None` if it cannot be started.
    fn start<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Option<Task<T>> {
        thread::Builder::new().spawn(work).ok()
    }
}

/// What the thread returned; `None` if it panicked.
fn join<T>(task: Task<T>) -> Option<T> {
    task.join().ok()
}

/// Waits for so long. Returns whether the other end is dropped by then: nothing is ever sent.
fn is_dropped_within(other: &mut Other, pause: Duration) -> bool {
    other.recv_timeout(pause) != Err(RecvTimeoutError::Timeout)
}

/// Nobody waits for a change.
#[derive(Debug, Default)]
struct Changed();

fn tell(_: &Changed) {}
