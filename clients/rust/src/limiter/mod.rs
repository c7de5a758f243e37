//! The limiter, on tokio, and its guards.

#[allow(missing_docs, reason = "public for tests/proofs only")]
pub mod account;
mod accounts;
mod builder;
mod calls;
mod core;
mod denial;
mod grants;
pub mod joined;
mod lease;
mod local;
mod reservation;
mod shared;

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::watch;

pub use accounts::TopDenial;
pub use builder::Builder;
pub use grants::Grants;
pub use lease::{Lease, Leased};
pub use reservation::{Reservation, Reserved, ReservedAll};

use self::core::Core;
use crate::decision::Fallback;
use crate::error::Error;

/// Checks requests on a server with the module, or on one without it through the Lua scripts. Clones are cheap; they share the
/// connection, the remembered denials, the circuit breaker and the counters.
///
/// ```
/// # mod doc { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/client/doc.rs")); } use doc::with_server;
/// use std::time::Duration;
/// use redis_rl_client::{Fallback, Leased, Limiter, Policy, Reserved, RetryAfter};
///
/// const LOGIN: Policy = Policy::sliding(Duration::from_secs(300), 2).name("login");
/// const JOBS: Policy = Policy::lease(Duration::from_secs(30), 2).name("jobs");
///
/// # with_server(async |url| {
/// let limiter = Limiter::builder(url)?.timeout(Duration::from_secs(1)).fallback(Fallback::Deny).build();
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
/// // What others leave of the whole: the first limit that allows pays.
/// let shared = limiter.share(&[calls.request("{org:8}:team"), calls.request("{org:8}")]).await?;
/// assert_eq!(shared.paid, Some(0));
///
/// // Several requests in one round trip, each with a decision of its own.
/// let decisions: Vec<_> = limiter.check_each(&requests).await.into_iter().flatten().collect();
/// assert!(decisions[0].allowed && !decisions[1].allowed);
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
///         reservation.report(200); // if the caller hangs up from here on, 200 tokens stay charged
///         reservation.settle(310).await?;
///     }
///     Reserved::Denied(decision) => println!("too many tokens: {:?}", decision.retry_after),
/// }
/// # Ok(())
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct Limiter {
    pub(crate) core: Arc<Core>,
    pub(crate) fallback: Fallback,
    pub(crate) timeout: Duration,
    pub(crate) asks_server: bool,
    /// Of grants: ends when nobody can use them any more.
    pub(crate) granted: Option<watch::Receiver<()>>,
}

/// Does work in a task, which goes on if the caller is dropped, and waits for it.
async fn apart<T: Send + 'static>(
    runtime: &Handle,
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T, Error> {
    // The task neither panics nor is it aborted, unless the runtime ends.
    runtime.spawn(work).await.map_err(|_| Error::CircuitOpen)
}

/// An id that no other holder has.
pub fn new_id() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// The outcome of a request for a lease or a reservation.
#[derive(Debug)]
pub enum Outcome<G, D> {
    /// The lease is held, or the estimate charged, until the guard ends it.
    Held(G),
    /// A limit denies.
    Denied(D),
}

impl<G, D> Outcome<G, D> {
    /// The guard, if it is not denied.
    pub fn held(self) -> Option<G> {
        match self {
            Self::Held(guard) => Some(guard),
            Self::Denied(_) => None,
        }
    }
}
