//! The limiter of async programs, on tokio: how it sends, and what its guards need of the runtime.

#[path = "../calls/lease.rs"]
mod lease;
#[path = "../calls/limiter.rs"]
mod limiter;
#[path = "../calls/reservation.rs"]
mod reservation;

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use maybe_async::must_be_async as both;
use tokio::runtime::Handle;
use tokio::sync::Notify as Changed;
use tokio::sync::oneshot::{Receiver, Sender, channel};
use tokio::task::JoinHandle as Task;
use tokio::time::{Instant, sleep, timeout, timeout_at};

pub use lease::{Lease, Leased};
pub use reservation::{Reservation, Reserved, ReservedAll};

use crate::breaker::Breaker;
use crate::core::{Core, at_most_a_year};
use crate::decision::Decision;
use crate::error::Error;
use crate::link::Link;
use crate::link::Link as Target;
use crate::{Builder, Fallback, Request};

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
/// let limiter = Limiter::builder(client).timeout(Duration::from_secs(1)).fallback(Fallback::Deny).build();
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
pub struct Limiter {
    link: Link,
    pub(crate) core: Arc<Core>,
    pub(crate) fallback: Fallback,
    pub(crate) timeout: Duration,
}

impl Builder<Link> {
    /// The limiter.
    pub fn build(self) -> Limiter {
        Limiter::of(self)
    }
}

impl Limiter {
    /// Opens the connection, so that the first request does not wait for it: that takes longer than a request, and the
    /// timeout may be shorter. Takes up to 5 seconds. If this future is dropped, the attempt goes on.
    ///
    /// # Errors
    /// There is no connection. The next request tries again.
    pub async fn connect(&self) -> Result<(), Error> {
        self.link.connect().await
    }

    fn of(builder: Builder<Link>) -> Self {
        let Builder { connection: link, settings } = builder;
        link.set_silence(Breaker::limit(settings.breaker, settings.timeout));
        let core = Arc::new(Core::new(&settings, link.gauge()));
        Self { link, core, fallback: settings.fallback, timeout: settings.timeout }
    }

    /// The same limiter with another timeout, for example what is left of a caller's deadline. With 0 it sends nothing.
    ///
    /// It says nothing about the server: the circuit breaker has the timeout of the [builder](crate::Builder::timeout).
    #[must_use]
    pub fn with_timeout(&self, timeout: Duration) -> Self {
        Self { timeout: at_most_a_year(timeout), ..self.clone() }
    }

    async fn decide_each(&self, requests: &[Request<'_>]) -> Vec<Result<Decision, Error>> {
        if self.link.is_cluster() {
            // The nodes reply at the same time.
            return join_all(requests.iter().map(|request| self.check_request(request))).await;
        }
        self.decide_together(requests.iter(), self.timeout).await
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

    /// `None` if it cannot be started.
    fn start<F>(&self, work: impl FnOnce() -> F) -> Option<Task<F::Output>>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        Some(self.0.spawn(work()))
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
            let Some(ends) = known.term.lock().ends() else { return };
            if timeout_at(ends.into(), changed).await.is_err() {
                return;
            }
        }
    }
}
