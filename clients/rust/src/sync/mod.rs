//! The limiter of programs without an async runtime.

mod address;
mod connector;
#[path = "../calls/lease.rs"]
mod lease;
#[path = "../calls/limiter.rs"]
mod limiter;
#[path = "../calls/reservation.rs"]
mod reservation;

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SendError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle as Task, scope, sleep, spawn};
use std::time::{Duration, Instant};

use maybe_async::must_be_sync as both;
use redis::{RedisResult, Value};

pub use connector::Connector;
use connector::Connector as Transport;
pub use lease::{Lease, Leased};
pub use reservation::{Reservation, Reserved, ReservedAll};

use crate::breaker::Probe;
use crate::core::{Core, Outgoing};
use crate::error::{Error, ends_connection};
use crate::protocol::{Call, Step};
use crate::{Address, Builder, Fallback, Request};

/// A connection that was idle for so long is tested with PING before a request is sent: the server may have closed it.
const IDLE: Duration = Duration::from_millis(500);
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
#[derive(Debug)]
pub struct Limiter<T: Connector = Address> {
    pool: Arc<Pool<T>>,
    core: Arc<Core>,
    fallback: Fallback,
    timeout: Duration,
}

impl<T: Connector> Clone for Limiter<T> {
    fn clone(&self) -> Self {
        Self { pool: Arc::clone(&self.pool), core: Arc::clone(&self.core), ..*self }
    }
}

struct Pool<T: Connector> {
    connector: T,
    /// The connections that no request uses, and since when.
    idle: Mutex<Vec<(T::Connection, Instant)>>,
}

impl<T: Connector> std::fmt::Debug for Pool<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}

impl<T: Connector> Pool<T> {
    fn idle(&self) -> MutexGuard<'_, Vec<(T::Connection, Instant)>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, connection: Option<T::Connection>) {
        self.idle().extend(connection.map(|connection| (connection, Instant::now())));
    }
}

impl<T: Connector> Builder<T> {
    /// The limiter of programs without an async runtime.
    pub fn build_sync(self) -> Limiter<T> {
        Limiter::of(self)
    }
}

impl Limiter {
    /// A limiter for the server of this URL, with the default settings: see [`Address`] for the URLs. It connects at the
    /// first request. For other settings, use `Limiter::builder(url.parse::<Address>()?)`.
    ///
    /// # Errors
    /// [`Error::InvalidUrl`].
    pub fn open(url: &str) -> Result<Self, Error> {
        url.parse::<Address>().map(Self::new)
    }
}

impl<T: Connector> Limiter<T> {
    fn of(builder: Builder<T>) -> Self {
        let Builder { connection, settings } = builder;
        let pool = Arc::new(Pool { connector: connection, idle: Mutex::default() });
        let core = Arc::new(Core::new(&settings, Arc::default()));
        Self { pool, core, fallback: settings.fallback, timeout: settings.timeout }
    }

    /// The part of the server that decides on a key.
    fn part(&self, key: &[u8]) -> Option<u64> {
        Some(self.pool.connector.part(key))
    }

    fn converse(&self, call: Call<'_>) -> Result<Value, Error> {
        let (core, deadline) = (&self.core, Instant::now() + self.timeout);
        let key = call.key();
        let part = self.pool.connector.part(&key);
        let mut connection = self.probe(part, &key, deadline)?;
        let (mut exchange, begun) = core.begin(Some(part), call, self.timeout)?;
        if connection.is_none() {
            connection = self.idle_connection(&key, deadline);
        }
        let mut reply = None;
        let result = loop {
            match exchange.step(reply) {
                Step::Send(command) => {
                    reply = Some(self.with_connection(&mut connection, deadline, |connector, connection, rest| {
                        connector.send(connection, &command, &key, rest)
                    }));
                }
                Step::Done(result) => break result,
            }
        };
        if matches!(&result, Err(Error::Redis(error)) if ends_connection(error)) {
            // The server closed its other connections too, or their replies are late.
            self.pool.idle().clear();
        } else {
            self.pool.keep(connection);
        }
        core.ended(begun, result)
    }

    /// Before requests that do not depend on each other: sends PING where a circuit breaker asks for it.
    fn prepare(&self, requests: &[Request<'_>], deadline: Instant) {
        let mut probed = HashSet::new();
        for request in requests.iter().filter(|request| probed.insert(self.part(request.key))) {
            // If there is no reply, the circuit breaker stays open.
            if let Ok(connection) = self.probe(self.pool.connector.part(request.key), request.key, deadline) {
                self.pool.keep(connection);
            }
        }
    }

    /// Nothing runs between requests.
    fn run_timers(&self, _: &[Request<'_>]) {}

    /// Sends them. Commands without a reply by then stay without one.
    fn send_round<'a>(&self, round: Vec<Outgoing<'a>>, deadline: Instant) -> Vec<Outgoing<'a>> {
        if Instant::now() >= deadline {
            return round;
        }
        let mut groups: HashMap<u64, Vec<Outgoing<'a>>> = HashMap::new();
        for outgoing in round {
            groups.entry(self.pool.connector.group(outgoing.key())).or_default().push(outgoing);
        }
        let mut groups: Vec<_> = groups.into_values().collect();
        if let [group] = groups.as_mut_slice() {
            self.send_group(group, deadline);
        } else {
            let share = groups.len().div_ceil(MAX_THREADS).max(1);
            scope(|scope| {
                for part in groups.chunks_mut(share) {
                    scope.spawn(move || part.iter_mut().for_each(|group| self.send_group(group, deadline)));
                }
            });
        }
        groups.into_iter().flatten().collect()
    }

    fn send_group(&self, group: &mut [Outgoing<'_>], deadline: Instant) {
        // All keys of a group have one slot.
        let key = group.first().map_or(&[][..], Outgoing::key);
        let mut kept = self.idle_connection(key, deadline);
        let sent = self.with_connection(&mut kept, deadline, |connector, connection, rest| {
            connector.send_each(connection, group, rest);
            Ok(())
        });
        match sent {
            // A connection that a reply is missing on is of no use any more.
            Ok(()) if group.iter().all(Outgoing::is_intact) => self.pool.keep(kept),
            Ok(()) => self.pool.idle().clear(),
            Err(error) => group.iter_mut().for_each(|outgoing| outgoing.set_reply(Err(error.clone()))),
        }
    }

    /// Sends PING before a request, if the circuit breaker asks for it, and waits for the reply. Nothing runs between
    /// requests that could do it. The connection over which there was one.
    fn probe(&self, part: u64, key: &[u8], deadline: Instant) -> Result<Option<T::Connection>, Error> {
        let breakers = &self.core.breakers;
        let mut connection = match breakers.probe(part) {
            None => return Ok(None),
            Some(Probe::Connect) => {
                // They lead to a server that is silent.
                self.pool.idle().clear();
                None
            }
            Some(Probe::Ping) => self.pool.idle().pop().map(|(connection, _)| connection),
        };
        let reply = self.with_connection(&mut connection, deadline, |connector, connection, rest| {
            connector.send(connection, &redis::cmd("PING"), key, rest)
        });
        match reply {
            // The request itself is not sent.
            Err(error) if ends_connection(&error) => {
                if !error.is_timeout() {
                    breakers.connect_failed(part);
                }
                Err(Error::CircuitOpen)
            }
            // An error that the server replies shows that it is there.
            _ => {
                breakers.ponged(part);
                Ok(connection)
            }
        }
    }

    /// A connection that no request uses, if it is still open.
    fn idle_connection(&self, key: &[u8], deadline: Instant) -> Option<T::Connection> {
        let (mut connection, since) = self.pool.idle().pop()?;
        if since.elapsed() >= IDLE {
            let reply = self.pool.connector.send(&mut connection, &redis::cmd("PING"), key, rest_until(deadline));
            // An error that the server replies shows that it is open.
            if reply.is_err_and(|error| ends_connection(&error)) {
                return None;
            }
        }
        Some(connection)
    }

    /// Sends over a connection, which is opened first if there is none.
    fn with_connection<R>(
        &self,
        connection: &mut Option<T::Connection>,
        deadline: Instant,
        send: impl FnOnce(&T, &mut T::Connection, Duration) -> RedisResult<R>,
    ) -> RedisResult<R> {
        let connection = match connection {
            Some(connection) => connection,
            None => connection.insert(self.connect(rest_until(deadline))?),
        };
        send(&self.pool.connector, connection, rest_until(deadline))
    }

    /// Opens a connection in a thread of its own: the crate waits for the timeout once for each of several replies, and
    /// in a cluster for each node. A connection that is too late is kept for another request.
    fn connect(&self, timeout: Duration) -> RedisResult<T::Connection> {
        let (sender, receiver) = channel();
        let pool = Arc::clone(&self.pool);
        spawn(move || {
            if let Err(SendError(Ok(late))) = sender.send(pool.connector.connect(timeout)) {
                pool.keep(Some(late));
            }
        });
        let timed_out = || Err(io::Error::new(io::ErrorKind::TimedOut, "no connection in time").into());
        receiver.recv_timeout(timeout).unwrap_or_else(|_| timed_out())
    }
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

    fn start<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Task<T> {
        spawn(work)
    }

    /// The same without a result. Returns whether it could be started.
    fn run(&self, work: impl FnOnce() + Send + 'static) -> bool {
        thread::Builder::new().spawn(work).is_ok()
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use redis::{Cmd, ErrorKind, RedisError};

    use super::*;
    use crate::Policy;

    const POLICY: Policy = Policy::token(Duration::from_secs(60), 60);

    /// A server. Its connections fail as they say.
    #[derive(Default)]
    struct Fake {
        is_full: AtomicBool,
    }

    impl Connector for Fake {
        type Connection = Option<ErrorKind>;

        fn connect(&self, _: Duration) -> RedisResult<Self::Connection> {
            let full = RedisError::from((ErrorKind::Io, "no more connections"));
            if self.is_full.load(Ordering::Relaxed) { Err(full) } else { Ok(None) }
        }

        fn send(&self, fails: &mut Self::Connection, _: &Cmd, _: &[u8], _: Duration) -> RedisResult<Value> {
            match *fails {
                Some(kind) => Err(RedisError::from((kind, "no reply"))),
                None => Ok(Value::BulkString(b"1 0 1 60 59 0 1000 1000 0 1795281570123 0 1".to_vec())),
            }
        }
    }

    #[test]
    fn after_a_failure_no_idle_connection_is_used() {
        // Closed; and one that a reply of another request may come over.
        for kind in [ErrorKind::Io, ErrorKind::Parse] {
            let limiter = || {
                let limiter = Limiter::builder(Fake::default()).build_sync();
                limiter.pool.idle().extend([(Some(kind), Instant::now()); 3]);
                limiter
            };
            let (one, several) = (limiter(), limiter());
            assert!(one.check(&POLICY, "k").is_err(), "{kind:?}");
            assert!(one.check(&POLICY, "k").is_ok(), "{kind:?}");
            let requests = [POLICY.request("a"), POLICY.request("b")];
            assert!(several.check_each(&requests).iter().all(Result::is_err), "{kind:?}");
            assert!(several.check_each(&requests).iter().all(Result::is_ok), "{kind:?}");
        }
    }

    #[test]
    fn a_connection_that_replied_is_used_again() {
        let limiter = Limiter::builder(Fake::default()).build_sync();
        limiter.check(&POLICY, "k").unwrap();
        limiter.pool.connector.is_full.store(true, Ordering::Relaxed);
        limiter.check(&POLICY, "k").unwrap();
        assert!(limiter.check_each(&[POLICY.request("a"), POLICY.request("b")]).iter().all(Result::is_ok));
        assert_eq!(limiter.pool.idle().len(), 1);
    }
}
