//! The limiter of async programs, on tokio: how it sends, and what its guards need of the runtime.

mod connection;
#[path = "../calls/lease.rs"]
mod lease;
#[path = "../calls/limiter.rs"]
mod limiter;
#[path = "../calls/reservation.rs"]
mod reservation;

use std::sync::{Arc, Weak};
use std::time::Duration;

use maybe_async::must_be_async as both;
use redis::{Cmd, RedisResult, Value};
use tokio::runtime::Handle;
use tokio::sync::Notify as Changed;
use tokio::sync::oneshot::{Receiver, Sender, channel};
use tokio::task::{JoinHandle as Task, yield_now};
use tokio::time::{Instant, sleep, sleep_until, timeout, timeout_at};

pub use connection::Connection;
use connection::Connection as Transport;
pub use lease::{Lease, Leased};
pub use reservation::{Reservation, Reserved, ReservedAll};

use crate::breaker::Breaker;
use crate::core::{Core, Outgoing, at_most_a_year};
use crate::error::{Error, is_connection_error};
use crate::link::Link;
use crate::protocol::{Call, Step};
use crate::{Builder, Fallback, Request};

/// How long the reply to a probe counts, and how long a request may try.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often other tasks get their turn before a timer acts: those that read replies which have come.
const TURNS: u32 = 3;

/// Sends requests to a server with the module, or to one without it through the Lua library.
///
/// Clones are cheap; they share the connection, the remembered denials, the circuit breaker and the counters.
///
/// ```
/// # mod doc { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/client/doc.rs")); } use doc::with_client;
/// use std::time::Duration;
/// use redis_rl_client::{Fallback, Leased, Limiter, Policy, Reserved, ReservedAll, RetryAfter};
///
/// const LOGIN: Policy = Policy::sliding(Duration::from_secs(300), 2).name("login");
/// const JOBS: Policy = Policy::lease(Duration::from_secs(30), 2).name("jobs");
///
/// # with_client(async |client| {
/// let connection = client.get_connection_manager().await?;
/// let limiter = Limiter::builder(connection).timeout(Duration::from_secs(1)).fallback(Fallback::Deny).build();
/// assert!(limiter.check(&LOGIN, "login:alice").await?.allowed);
/// assert!(limiter.check(&LOGIN, "login:alice").await?.allowed);
/// let denied = limiter.check(&LOGIN, "login:alice").await?;
/// assert!(!denied.allowed && denied.retry_after != RetryAfter::Never);
///
/// // As much as fits.
/// let (calls, tokens): (Policy, Policy) = ("TOKEN 1m 60 AS calls".parse()?, "COUNTER 1m 3000 AS tokens".parse()?);
/// let decision = limiter.check_request(&tokens.request("org:7").cost(3500).partial()).await?;
/// assert_eq!((decision.allowed, decision.charged), (true, 3000));
///
/// // Several limits, all or nothing.
/// let requests = [calls.request("{org:8}:calls"), tokens.request("{org:8}:tokens").cost(3500)];
/// let decisions = limiter.check_all(&requests).await?;
/// let names: Vec<_> = decisions.denied().map(|decision| decision.policy().label()).collect();
/// assert_eq!(names, ["tokens"]);
///
/// // Several requests in one round trip, each with a decision of its own.
/// let mut allowed = Vec::new();
/// for decision in limiter.check_each(&requests).await {
///     allowed.push(decision?.allowed);
/// }
/// assert_eq!(allowed, [true, false]);
///
/// // At most two at the same time.
/// match limiter.lease(&JOBS, "jobs:42").await? {
///     Leased::Held(lease) => {
///         // Work. The lease is renewed every 10 seconds.
///         lease.release().await?;
///     }
///     Leased::Denied(decision) => println!("two jobs run already: {:?}", decision.retry_after),
/// }
///
/// // An estimate, which is corrected when the cost is known.
/// match limiter.reserve(&tokens.request("org:9").cost(800), Duration::from_secs(600)).await? {
///     Reserved::Held(mut reservation) => {
///         for streamed in [100, 200, 300] {
///             // If the caller hangs up here, 100, 200 or 300 tokens stay charged.
///             reservation.report(streamed);
///         }
///         reservation.settle(310).await?;
///     }
///     Reserved::Denied(decision) => println!("too many tokens: {:?}", decision.retry_after),
/// }
/// let window: Policy = "WINDOW 1m 60 AS requests".parse()?;
/// let all = [window.request("{org:10}:requests"), tokens.request("{org:10}:tokens").cost(700)];
/// match limiter.reserve_all(&all, Duration::from_secs(600)).await? {
///     ReservedAll::Held(mut reservations) => reservations[1].report(690), // settled when they are dropped
///     ReservedAll::Denied(decisions) => println!("too many: {:?}", decisions.denied().next()),
/// }
/// # Ok(())
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct Limiter<C = Link> {
    pub(crate) connection: C,
    pub(crate) core: Arc<Core>,
    pub(crate) fallback: Fallback,
    pub(crate) timeout: Duration,
}

impl<C: Connection> Builder<C> {
    /// The limiter.
    pub fn build(self) -> Limiter<C> {
        Limiter::of(self)
    }
}

impl Limiter {
    /// A limiter for the server of this URL, with the default settings: see [`Address`](crate::Address) for the URLs. It
    /// starts at once: the connection is opened by the first request or [`connect`](Self::connect), and opened again when it
    /// is lost. For other settings, use `Limiter::builder(Link::open(url)?)`.
    ///
    /// # Errors
    /// [`Error::InvalidUrl`].
    pub fn open(url: &str) -> Result<Self, Error> {
        Link::open(url).map(Self::new)
    }

    /// Opens the connection, so that the first request does not wait for it: that takes longer than a request, and the
    /// timeout may be shorter. Takes up to 5 seconds. If this future is dropped, the attempt goes on.
    ///
    /// # Errors
    /// There is no connection. The next request tries again.
    pub async fn connect(&self) -> Result<(), Error> {
        Ok(self.connection.connect().await?)
    }
}

impl<C: Connection> Limiter<C> {
    fn of(builder: Builder<C>) -> Self {
        let Builder { connection, settings } = builder;
        let gauge = match connection.link() {
            Some(link) => {
                link.set_silence(Breaker::limit(settings.breaker, settings.timeout));
                link.gauge()
            }
            None => Arc::default(),
        };
        let core = Arc::new(Core::new(&settings, gauge));
        Self { connection, core, fallback: settings.fallback, timeout: settings.timeout }
    }

    /// The same limiter with another timeout, for example what is left of a caller's deadline. With 0 it sends nothing.
    ///
    /// It says nothing about the server: the circuit breaker has the timeout of the [builder](crate::Builder::timeout).
    #[must_use]
    pub fn with_timeout(&self, timeout: Duration) -> Self {
        Self { timeout: at_most_a_year(timeout), ..self.clone() }
    }

    /// The part of the server that decides on a key, unless the connection has circuit breakers of its own.
    fn part(&self, key: &[u8]) -> Option<u64> {
        self.connection.link().is_none().then(|| self.connection.part(key))
    }

    async fn converse(&self, call: Call<'_>) -> Result<Value, Error> {
        match self.connection.link() {
            Some(link) => self.over_link(link, call).await,
            None => self.over_other(call).await,
        }
    }

    async fn over_link(&self, link: &Link, call: Call<'_>) -> Result<Value, Error> {
        let (mut exchange, _) = self.core.begin(None, call, self.timeout)?;
        let unended = self.core.unended();
        let key = call.key();
        let (mut limit, mut reply) = (self.timeout, None);
        let result = loop {
            match exchange.step(reply) {
                Step::Send(command) => match link.request(command, &key, limit).await {
                    Ok(replied) => {
                        limit = limit.saturating_sub(replied.took);
                        reply = Some(replied.value);
                    }
                    Err(error) => break Err(error),
                },
                Step::Done(result) => break result,
            }
        };
        unended.ended();
        self.core.ended(None, result)
    }

    /// Over a connection that is none of this crate: of the crate `redis`, or an application's own. The timers of its
    /// circuit breakers run as tasks.
    async fn over_other(&self, call: Call<'_>) -> Result<Value, Error> {
        let key = call.key();
        let (core, part) = (&self.core, self.connection.part(&key));
        self.give_timers_a_turn([&*key]).await;
        let (_, tries) = core.breakers.is_open(part);
        let (mut exchange, begun) = core.begin(Some(part), call, self.timeout)?;
        self.run_timer(part, &key);
        let unended = core.unended();
        let conversation = async {
            let mut connection = self.connection.clone();
            let mut reply = None;
            loop {
                match exchange.step(reply) {
                    Step::Send(command) if tries => reply = Some(self.try_out(command, &key, part).await),
                    Step::Send(command) => reply = Some(connection.send(command, &key).await),
                    Step::Done(result) => return result,
                }
            }
        };
        let result = timeout(self.timeout, conversation).await.unwrap_or(Err(Error::Timeout(self.timeout)));
        unended.ended();
        core.ended(begun, result)
    }

    /// Sends the one command that tries whether the server decides. Its reply is awaited even if the caller leaves.
    async fn try_out(&self, command: Cmd, key: &[u8], part: u64) -> RedisResult<Value> {
        let (mut connection, core, key) = (self.connection.clone(), Arc::clone(&self.core), key.to_vec());
        let trial = tokio::spawn(async move {
            let reply = timeout(PATIENCE, connection.send(command, &key)).await;
            let late = || Err(std::io::Error::new(std::io::ErrorKind::TimedOut, "no reply").into());
            let reply = reply.unwrap_or_else(|_| late());
            if !reply.as_ref().is_err_and(is_connection_error) {
                core.breakers.ended(part, &Ok(Value::Nil));
            }
            reply
        });
        trial.await.unwrap_or_else(|_| Err((redis::ErrorKind::Io, "the runtime ended").into()))
    }

    /// To be called before requests that do not depend on each other are sent.
    async fn prepare(&self, requests: &[Request<'_>], _: Instant) {
        if self.connection.link().is_none() {
            let keys: Vec<_> = requests.iter().map(Request::bounded_key).collect();
            self.give_timers_a_turn(keys.iter().map(|key| &**key)).await;
        }
    }

    /// Runs the timers of their circuit breakers, which have begun.
    fn run_timers(&self, requests: &[Request<'_>]) {
        if self.connection.link().is_none() {
            let keys = requests.iter().map(Request::bounded_key);
            keys.for_each(|key| self.run_timer(self.connection.part(&key), &key));
        }
    }

    /// Sends them. Commands without a reply by then stay without one.
    async fn send_round<'a>(&self, mut round: Vec<Outgoing<'a>>, deadline: Instant) -> Vec<Outgoing<'a>> {
        match self.connection.link() {
            Some(link) => link.send_within(&mut round).await,
            None => {
                let mut connection = self.connection.clone();
                let _ = timeout_at(deadline, connection.send_each(&mut round)).await;
            }
        }
        round
    }

    /// To be called before requests of these keys are sent: in a runtime that runs only while a request waits, this is the
    /// turn of the timers.
    async fn give_timers_a_turn(&self, keys: impl IntoIterator<Item = &[u8]>) {
        let is_open = |key| self.core.breakers.is_open(self.connection.part(key)).0;
        if keys.into_iter().any(is_open) {
            yield_now().await;
        }
    }

    /// Runs the timer of a part, unless a task does.
    fn run_timer(&self, part: u64, key: &[u8]) {
        if self.core.breakers.begins_watch(part) {
            let watch = Watch { core: Arc::downgrade(&self.core), part };
            tokio::spawn(watch.run(self.connection.clone(), key.to_vec()));
        }
    }
}

/// The timer of the breaker of a part, while it has something to do.
struct Watch {
    core: Weak<Core>,
    part: u64,
}

impl Watch {
    async fn run(mut self, connection: impl Connection, key: Vec<u8>) {
        loop {
            let Some(due) = self.core.upgrade().and_then(|core| core.breakers.next_tick(self.part)) else {
                // The next request begins another one.
                self.core = Weak::new();
                return;
            };
            sleep_until(due.into()).await;
            for _ in 0..TURNS {
                yield_now().await;
            }
            let Some(core) = self.core.upgrade() else { return };
            if core.breakers.probe(self.part).is_some() {
                // The connection itself decides where PING goes.
                let (mut connection, key, part) = (connection.clone(), key.clone(), self.part);
                tokio::spawn(async move {
                    let reply = timeout(PATIENCE, connection.send(redis::cmd("PING"), &key)).await;
                    if reply.is_ok_and(|reply| !reply.is_err_and(|error| is_connection_error(&error))) {
                        core.breakers.ponged(part);
                    }
                });
            }
        }
    }
}

impl Drop for Watch {
    /// The runtime ended.
    fn drop(&mut self) {
        if let Some(core) = self.core.upgrade() {
            core.breakers.ends_watch(self.part);
        }
    }
}

/// The clock of the timers.
fn now() -> std::time::Instant {
    Instant::now().into_std()
}

/// What the work returns; `None` if it has not ended by then.
async fn until<T>(ends: std::time::Instant, work: impl Future<Output = T>) -> Option<T> {
    timeout_at(ends.into(), work).await.ok()
}

type Held = Sender<()>;
type Other = Receiver<()>;

/// Runs what goes on without its caller, in the runtime in which this was made.
#[derive(Clone, Debug)]
struct Background(Handle);

impl Background {
    fn here() -> Self {
        Self(Handle::current())
    }

    /// Waits for work that goes on if nobody waits any more.
    async fn apart<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> Result<T, Error> {
        // The task neither panics nor is it aborted, unless the runtime ends.
        self.0.spawn(work).await.map_err(|_| Error::CircuitOpen)
    }

    fn start<T: Send + 'static, F: Future<Output = T> + Send + 'static>(&self, work: impl FnOnce() -> F) -> Task<T> {
        self.0.spawn(work())
    }

    /// The same without a result. Returns whether it could be started.
    fn run<F: Future<Output = ()> + Send + 'static>(&self, work: impl FnOnce() -> F) -> bool {
        drop(self.start(work));
        true
    }
}

/// What the task returned; `None` if the runtime ended.
async fn join<T>(task: Task<T>) -> Option<T> {
    task.await.ok()
}

/// Waits for so long. Returns whether the other end is dropped by then: nothing is ever sent.
async fn is_dropped_within(other: &mut Other, pause: Duration) -> bool {
    timeout(pause, other).await.is_ok()
}

/// Wakes those who wait for a change.
fn tell(changed: &Changed) {
    changed.notify_waiters();
}

impl Lease {
    /// Waits until the lease is lost. Never returns if that does not happen.
    pub async fn lost(&mut self) {
        let Some(known) = self.known() else { return std::future::pending().await };
        loop {
            let changed = known.changed.notified();
            let Some(ends) = known.term().ends() else { return };
            if timeout_at(ends.into(), changed).await.is_err() {
                return;
            }
        }
    }
}
