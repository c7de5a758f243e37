//! The limiter of programs without an async runtime.

mod address;
mod connector;
mod each;
mod lease;
mod reservation;

use std::io;
use std::sync::mpsc::{SendError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

use redis::{RedisResult, Value};

pub use connector::Connector;
pub use lease::{Lease, Leased};
pub use reservation::{Reservation, Reserved, ReservedAll};

use crate::address::Address;
use crate::bounded::Bounded;
use crate::breaker::Probe;
use crate::builder::Builder;
use crate::command::Call;
use crate::core::Core;
use crate::decision::{Decision, Decisions};
use crate::denials::{Recalled, Sent, TopDenial};
use crate::error::{Error, ends_connection};
use crate::fallback::Fallback;
use crate::policy::Policy;
use crate::protocol::Step;
use crate::reply;
use crate::request::Request;
use crate::stats::Stats;

/// A connection that was idle for so long is tested with PING before a request is sent: the server may have closed it.
const IDLE: Duration = Duration::from_millis(500);

/// The same as the limiter of async programs, for threads. It opens a connection for each request that runs at the same
/// time, and keeps them.
///
/// ```
/// # mod doc { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/client/doc.rs")); } use doc::with_client;
/// use std::time::Duration;
/// use redis_rl_client::{Policy, sync::Limiter};
///
/// const API: Policy = Policy::token(Duration::from_secs(60), 600).burst(50).name("api");
///
/// # with_client(async |client| {
/// let limiter = Limiter::new(client); // client: redis::Client
/// assert!(limiter.check(&API, "user:42")?.allowed);
/// # Ok(())
/// # });
/// ```
#[derive(Debug)]
pub struct Limiter<T: Connector = Address> {
    shared: Arc<Shared<T>>,
    fallback: Fallback,
}

struct Shared<T: Connector> {
    connector: T,
    /// The connections that no request uses, and since when.
    idle: Mutex<Vec<(T::Connection, Instant)>>,
    core: Core,
}

impl<T: Connector> std::fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("core", &self.core).finish_non_exhaustive()
    }
}

impl<T: Connector> Clone for Limiter<T> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), fallback: self.fallback }
    }
}

impl<T: Connector> Builder<T> {
    /// The limiter of programs without an async runtime.
    pub fn build_sync(self) -> Limiter<T> {
        let (connector, settings) = self.into_parts();
        let shared = Shared { connector, idle: Mutex::default(), core: Core::new(&settings, Arc::default()) };
        Limiter { shared: Arc::new(shared), fallback: settings.fallback }
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
    /// A limiter with the default settings. It connects at the first request.
    pub fn new(client: T) -> Self {
        Self::builder(client).build_sync()
    }

    /// A limiter with other settings: `Limiter::builder(client).timeout(…).build_sync()`.
    pub fn builder(client: T) -> Builder<T> {
        Builder::new(client)
    }

    /// The same limiter with another fallback.
    #[must_use]
    pub fn with_fallback(&self, fallback: Fallback) -> Self {
        Self { fallback, ..self.clone() }
    }

    /// Checks a request of cost 1 and charges it if it is allowed.
    ///
    /// # Errors
    /// See [`Error`]. With a [`Fallback`] other than [`Fallback::Error`], a server that cannot decide is no error.
    pub fn check(&self, policy: &Policy, key: impl AsRef<[u8]>) -> Result<Decision, Error> {
        self.check_request(&Request::new(policy, key.as_ref()))
    }

    /// Checks a request with options.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn check_request(&self, request: &Request<'_>) -> Result<Decision, Error> {
        self.check_on_server(request).or_else(|error| self.shared.core.fall_back(request, self.fallback, error))
    }

    /// Checks a request under several limits: if every limit allows it, every one is charged, else none is. In a cluster
    /// all keys must be in one slot.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn check_all(&self, requests: &[Request<'_>]) -> Result<Decisions, Error> {
        let decisions = self.check_all_on_server(requests);
        decisions.or_else(|error| self.shared.core.fall_back_all(requests, self.fallback, error))
    }

    /// Decides on requests that do not depend on each other, as [`check_each`](Self::check_each) does while the server
    /// cannot decide: remembered denials deny, and the rest gets `fallback`. Nothing is sent and nothing is waited for. For
    /// a service that is overloaded itself: with [`Fallback::Local`] it still limits, by the same counts as in an outage.
    /// [`Stats`] has these decisions apart.
    ///
    /// # Errors
    /// Each [`Error::Overloaded`], with [`Fallback::Error`] or LEASE.
    pub fn decide_without_server(&self, requests: &[Request<'_>], fallback: Fallback) -> Vec<Result<Decision, Error>> {
        self.shared.core.without_server(requests, fallback)
    }

    /// [`decide_without_server`](Self::decide_without_server), all or nothing as [`check_all`](Self::check_all): if one limit
    /// denies, none is charged.
    ///
    /// # Errors
    /// [`Error::Overloaded`], with [`Fallback::Error`] or LEASE.
    pub fn decide_all_without_server(&self, requests: &[Request<'_>], fallback: Fallback) -> Result<Decisions, Error> {
        self.shared.core.fall_back_all(requests, fallback, Error::Overloaded)
    }

    /// What the reply to a request would be. Changes nothing. With a cost of 0, it shows what is left.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn peek(&self, request: &Request<'_>) -> Result<Decision, Error> {
        self.call(Call::Peek(request)).and_then(|value| reply::decision(value, request))
    }

    /// Gives the cost of a request back, never beyond full. The decision is that of [`peek`](Self::peek) afterwards.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn refund(&self, request: &Request<'_>) -> Result<Decision, Error> {
        let _forgets = self.shared.core.forgets(request.policy, request.bounded_key());
        self.call(Call::Refund(request)).and_then(|value| reply::decision(value, request))
    }

    /// Corrects a request that was charged its [cost](Request::cost) and turned out to cost `actual`. The decision is that
    /// of [`peek`](Self::peek) afterwards, for a request of cost 1.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn settle(&self, request: &Request<'_>, actual: u64) -> Result<Decision, Error> {
        let next = Request::new(request.policy, request.key);
        let _forgets = self.shared.core.forgets(request.policy, request.bounded_key());
        self.call(Call::Settle { request, actual }).and_then(|value| reply::decision(value, &next))
    }

    /// Corrects what was [reserved](Request::reserve) under an id to `actual`, once: an id that is not known changes nothing,
    /// so the call may be sent again. [`Decision::charged`] is `actual`, or 0 for such an id.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn settle_reservation(
        &self,
        policy: &Policy,
        key: impl AsRef<[u8]>,
        id: impl AsRef<[u8]>,
        actual: u64,
    ) -> Result<Decision, Error> {
        let (key, id) = (key.as_ref(), id.as_ref());
        let call = Call::SettleReservation { policy, key, id, actual };
        let _forgets = self.shared.core.forgets(policy, Bounded::new(key));
        self.call(call).and_then(|value| reply::decision(value, &Request::new(policy, key)))
    }

    /// Deletes the state of a key; whether there was one.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn reset(&self, policy: &Policy, key: impl AsRef<[u8]>) -> Result<bool, Error> {
        let key = key.as_ref();
        let _forgets = self.shared.core.forgets(policy, Bounded::new(key));
        self.call(Call::Reset { policy, key }).and_then(reply::integer).map(|deleted| deleted != 0)
    }

    /// Sends a request, waits until it is allowed, and waits for its [delay](Decision::delay); at most for `patience`. If
    /// it cannot be allowed in time, returns the denial at once.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn wait(&self, request: &Request<'_>, patience: Duration) -> Result<Decision, Error> {
        // `None` if it is later than any time that can be represented.
        let deadline = Instant::now().checked_add(patience);
        loop {
            let decision = self.check_request(request)?;
            let rest = deadline.map_or(Duration::MAX, |end| end.saturating_duration_since(Instant::now()));
            if decision.allowed {
                if decision.delay <= rest {
                    sleep(decision.delay);
                    return Ok(decision);
                }
                if decision.charged > 0 {
                    self.refund(&request.cost(decision.charged).at(decision.now_ms))?;
                }
                return Ok(decision.denied_for(decision.delay));
            }
            match decision.retry_after.duration() {
                Some(wait) if wait <= rest => sleep(wait),
                _ => return Ok(decision),
            }
        }
    }

    /// The keys whose [remembered denials](crate::Builder::denials) denied the most requests, the first the most; at most
    /// `most`. Looks at all that are remembered: a few milliseconds for 10,000.
    pub fn top_denials(&self, most: usize) -> Vec<TopDenial> {
        self.shared.core.top_denials(most)
    }

    /// What this limiter and its clones did.
    pub fn stats(&self) -> Stats {
        self.shared.core.stats()
    }

    /// Whether the server has no module, as far as known: the Lua library decides then. The module is looked for again
    /// after a connection failed, and every five seconds.
    pub fn lacks_module(&self) -> bool {
        self.shared.core.lacks_module()
    }

    /// Checks a request, without a fallback.
    fn check_on_server(&self, request: &Request<'_>) -> Result<Decision, Error> {
        let core = &self.shared.core;
        let key = request.bounded_key();
        let request = &request.with_bounded(&key);
        match core.recall(request) {
            Recalled::Denied(denied) => Ok(core.remembered(denied)),
            Recalled::Unknown(sent) => self.send(request, sent),
        }
    }

    /// Sends a request that no remembered denial denies.
    fn send(&self, request: &Request<'_>, sent: Option<Sent>) -> Result<Decision, Error> {
        let result = self.call(Call::Check(request)).and_then(|value| reply::decision(value, request));
        self.shared.core.learned(request, sent, result)
    }

    /// Checks a request under several limits, without a fallback.
    fn check_all_on_server(&self, requests: &[Request<'_>]) -> Result<Decisions, Error> {
        let core = &self.shared.core;
        let sent = match core.recall_all(requests) {
            Ok(sent) => sent,
            Err(denied) => return Ok(denied),
        };
        let result = self.call(Call::CheckAll(requests)).and_then(|value| reply::decisions(value, requests));
        core.learned_all(requests, sent, result)
    }

    /// Sends a call within the timeout.
    fn call(&self, call: Call<'_>) -> Result<Value, Error> {
        let result = self.call_within(call, Instant::now() + self.shared.core.timeout);
        result.map_err(|error| self.shared.core.failed(error))
    }

    fn call_within(&self, call: Call<'_>, deadline: Instant) -> Result<Value, Error> {
        let core = &self.shared.core;
        let key = call.key();
        let part = self.shared.connector.part(&key);
        let mut connection = self.probe(part, &key, deadline)?;
        let (mut exchange, begun) = core.begin(Some(part), call, core.timeout)?;
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
            self.shared.idle().clear();
        } else {
            self.shared.keep(connection);
        }
        core.ended(begun, result)
    }

    /// Sends PING before a request, if the circuit breaker asks for it, and waits for the reply. Nothing runs between
    /// requests that could do it. The connection over which there was one.
    fn probe(&self, part: u64, key: &[u8], deadline: Instant) -> Result<Option<T::Connection>, Error> {
        let breakers = &self.shared.core.breakers;
        let mut connection = match breakers.probe(part) {
            None => return Ok(None),
            Some(Probe::Connect) => {
                // They lead to a server that is silent.
                self.shared.idle().clear();
                None
            }
            Some(Probe::Ping) => self.shared.idle().pop().map(|(connection, _)| connection),
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
        let (mut connection, since) = self.shared.idle().pop()?;
        if since.elapsed() >= IDLE {
            let reply = self.shared.connector.send(&mut connection, &redis::cmd("PING"), key, rest_until(deadline));
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
        send(&self.shared.connector, connection, rest_until(deadline))
    }

    /// Opens a connection in a thread of its own: the crate waits for the timeout once for each of several replies, and
    /// in a cluster for each node. A connection that is too late is kept for another request.
    fn connect(&self, timeout: Duration) -> RedisResult<T::Connection> {
        let (sender, receiver) = channel();
        let shared = Arc::clone(&self.shared);
        spawn(move || {
            if let Err(SendError(Ok(late))) = sender.send(shared.connector.connect(timeout)) {
                shared.keep(Some(late));
            }
        });
        let timed_out = || Err(io::Error::new(io::ErrorKind::TimedOut, "no connection in time").into());
        receiver.recv_timeout(timeout).unwrap_or_else(|_| timed_out())
    }
}

impl<T: Connector> Shared<T> {
    fn idle(&self) -> MutexGuard<'_, Vec<(T::Connection, Instant)>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, connection: Option<T::Connection>) {
        self.idle().extend(connection.map(|connection| (connection, Instant::now())));
    }
}

/// What is left of a request's time. A socket takes no timeout of 0.
fn rest_until(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use redis::{Cmd, ErrorKind, RedisError};

    use super::*;

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
                limiter.shared.idle().extend([(Some(kind), Instant::now()); 3]);
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
        limiter.shared.connector.is_full.store(true, Ordering::Relaxed);
        limiter.check(&POLICY, "k").unwrap();
        assert!(limiter.check_each(&[POLICY.request("a"), POLICY.request("b")]).iter().all(Result::is_ok));
        assert_eq!(limiter.shared.idle().len(), 1);
    }
}
