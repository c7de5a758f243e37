//! Units that the server grants in advance, for keys with many requests.

mod fetch;
pub(crate) mod lot;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use parking_lot::{Mutex, RwLock};
use scopeguard::ScopeGuard;
use tokio::sync::watch;
use tokio::time::timeout_at;

use crate::Fallback;
use crate::Limiter;
use crate::Request;
use crate::core::at_most_a_year;
use crate::decision::Decision;
use crate::error::Error;
use crate::key::Bounded;
use crate::policy::Policy;
use fetch::Running;
use lot::{Lot, Taken, is_low};

/// The most keys that have a grant at once. Requests of other keys are sent.
const MAX_KEYS: usize = 100_000;
/// How many keys are given back at once when this ends.
const CLOSED_AT_ONCE: usize = 100;

/// Decides in this process, with units that the server granted in advance.
///
/// The first request of a key charges a whole grant of `units` in one call, or what is left of it (`COST n PARTIAL`). The
/// next requests take from the grant, without the server. When a quarter is left, a task fetches the rest in the
/// background. Requests that find nothing left wait for one fetch together, none for longer than the limiter's timeout. A
/// grant that was not fetched again for a [second](Grants::hold), and every grant when the last clone of this value is
/// dropped, is given back as far as it was not used.
///
/// # The bound
///
/// Each unit is charged before it is used, and an instance holds at most `units` of a key. So in any time span, N
/// instances allow together at most what the policy allows in that time, plus N × `units`: those that were charged before
/// and used in it. With FIXED, a grant ends with its window, so a window never has more than the limit.
///
/// In the other direction, a request may be denied while another instance still holds units: up to (N − 1) × `units`, for
/// as long as grants are held. A process that dies keeps what it holds. So choose `units` small beside the limit: a
/// hundredth of it, divided by the number of instances, is a good start.
///
/// Not for LEASE, and not for LEAKY, whose delays are those of single requests.
///
/// ```
/// # mod doc { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/client/doc.rs")); } use doc::with_client;
/// # use std::time::Duration;
/// # use redis_rl_client::{Fallback, Limiter, Policy, Source};
/// const API: Policy = Policy::counter(Duration::from_secs(60), 600_000).name("api");
///
/// # with_client(async |client| {
/// # let limiter = Limiter::new(client);
/// let api = limiter.grants(&API, 100)?;
/// assert_eq!(api.check("tenant:7").await?.source, Source::Server);
/// assert_eq!(api.check("tenant:7").await?.source, Source::Grant);
/// let soon = api.with_timeout(Duration::from_millis(10)).with_fallback(Fallback::Allow);
/// assert!(soon.check("tenant:8").await?.allowed);
/// api.shutdown().await;
/// # Ok(())
/// # });
/// ```
#[derive(Debug)]
pub struct Grants {
    shared: Arc<Shared>,
    /// How long a request waits for units.
    timeout: Duration,
    /// What a request gets that finds no units while the server cannot decide.
    fallback: Fallback,
    /// Whether the keys are bounded already.
    keys_as_they_are: bool,
    /// The tasks of the keys end when the last sender is dropped.
    alive: Arc<watch::Sender<()>>,
}

#[derive(Debug)]
struct Shared {
    limiter: Limiter,
    policy: Policy,
    units: u64,
    hold: Duration,
    keys: RwLock<HashMap<Arc<[u8]>, Arc<Key>>>,
}

/// What this process holds of one key.
#[derive(Debug)]
struct Key {
    name: Arc<[u8]>,
    lot: Mutex<Lot>,
    /// The fetch that runs now, if any.
    fetch: Mutex<Option<Running>>,
}

impl Key {
    /// A request of cost 1.
    fn request<'a>(&'a self, policy: &'a Policy) -> Request<'a> {
        Request::for_bounded(policy, &self.name)
    }
}

impl Limiter {
    /// Decides in this process, with grants of `units` that the server makes: see [`Grants`].
    ///
    /// # Errors
    /// The algorithm takes no PARTIAL or delays requests (LEASE, LOCKOUT, LEAKY), or `units` is 0 or more than the policy allows at once.
    pub fn grants(&self, policy: &Policy, units: u64) -> Result<Grants, Error> {
        let traits = policy.algorithm().traits();
        if !traits.partial || traits.delays {
            return Err(Error::Unsupported("the algorithm cannot be granted in advance; send each request"));
        }
        if units == 0 || units > policy.capacity() {
            return Err(Error::Unsupported("a grant has 1 unit or more, up to the burst or the limit of the policy"));
        }
        let hold = policy.longest_window().min(Duration::from_secs(1));
        let (limiter, policy, keys) = (self.clone(), *policy, RwLock::default());
        Ok(Grants {
            timeout: limiter.timeout,
            fallback: limiter.fallback,
            keys_as_they_are: false,
            shared: Arc::new(Shared { limiter, policy, units, hold, keys }),
            alive: Arc::new(watch::Sender::new(())),
        })
    }
}

impl Clone for Grants {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), alive: Arc::clone(&self.alive), ..*self }
    }
}

impl Grants {
    /// How long units are held without another fetch before they are given back; a second if not given, or the window if
    /// that is shorter.
    #[must_use]
    pub fn hold(self, hold: Duration) -> Self {
        let Shared { limiter, policy, units, .. } = &*self.shared;
        let hold = hold.clamp(Duration::from_millis(1), policy.longest_window());
        let shared = Shared { limiter: limiter.clone(), policy: *policy, units: *units, hold, keys: RwLock::default() };
        Self { shared: Arc::new(shared), alive: Arc::new(watch::Sender::new(())), ..self }
    }

    /// The same grants with another fallback: for requests that find no units while the server cannot decide. That of the
    /// limiter if not given.
    #[must_use]
    pub fn with_fallback(&self, fallback: Fallback) -> Self {
        Self { fallback, ..self.clone() }
    }

    /// The same grants for keys that are sent as they are: see
    /// [`Request::with_key_as_it_is`](crate::Request::with_key_as_it_is).
    #[must_use]
    pub fn with_keys_as_they_are(self) -> Self {
        Self { keys_as_they_are: true, ..self }
    }

    fn name<'k>(&self, key: &'k [u8]) -> Bounded<'k> {
        if self.keys_as_they_are { Bounded::known(key) } else { Bounded::new(key) }
    }

    /// The same grants with another timeout, for example what is left of a caller's deadline: how long a request waits for
    /// units. With 0 it does not wait. That of the limiter if not given. What is fetched is not lost: the next request finds
    /// it.
    #[must_use]
    pub fn with_timeout(&self, timeout: Duration) -> Self {
        Self { timeout: at_most_a_year(timeout), ..self.clone() }
    }

    /// Checks a request of cost 1.
    ///
    /// # Errors
    /// As [`Limiter::check`].
    pub async fn check(&self, key: impl AsRef<[u8]>) -> Result<Decision, Error> {
        self.check_cost(key, 1).await
    }

    /// Checks a request. A cost above the size of a grant is sent to the server.
    ///
    /// # Errors
    /// As [`Limiter::check`].
    pub async fn check_cost(&self, key: impl AsRef<[u8]>, cost: u64) -> Result<Decision, Error> {
        let (shared, name) = (&self.shared, self.name(key.as_ref()));
        let request = Request::for_bounded(&shared.policy, &name).cost(cost);
        let deadline = Instant::now() + self.timeout;
        loop {
            let key = match self.key(&name) {
                Some(key) if cost > 0 && cost <= shared.units => key,
                _ => {
                    let limiter = shared.limiter.with_fallback(self.fallback).with_timeout(self.timeout);
                    return limiter.check_request(&request).await;
                }
            };
            let taken = key.lot.lock().take(cost, Instant::now());
            match taken {
                Taken::Units { decision, left } => {
                    shared.limiter.core.counters.granted.increment();
                    if is_low(left, shared.units) {
                        // If it is denied, the units that are left are used all the same.
                        _ = shared.start_fetch(&key);
                    }
                    return Ok(decision);
                }
                Taken::Closed => continue,
                Taken::Nothing => {}
            }
            // All requests that find nothing wait for the same fetch, none for longer than the timeout.
            let running = match shared.start_fetch(&key) {
                Ok(running) => running,
                Err(denied) => return Ok(shared.limiter.core.remembered(denied)),
            };
            let unended = shared.limiter.core.unended(1);
            let fetched = timeout_at(deadline.into(), running).await;
            ScopeGuard::into_inner(unended);
            match fetched.unwrap_or(Err(Error::Timeout(self.timeout))) {
                Ok(fetched) => {
                    let decision = key.lot.lock().take_after(cost, &fetched.decision, Instant::now());
                    // The others took all of it, but there may be more.
                    if !decision.allowed && fetched.whole {
                        continue;
                    }
                    shared.limiter.core.counters.granted.increment();
                    return Ok(decision);
                }
                Err(error) => return shared.limiter.core.fall_back(&request, self.fallback, error),
            }
        }
    }

    /// Decides on a request with the units that are held, else as
    /// [`Limiter::decide_without_server`]. Nothing is sent and nothing is waited for.
    ///
    /// # Errors
    /// [`Error::Overloaded`], with [`Fallback::Error`].
    pub fn decide_without_server(
        &self,
        key: impl AsRef<[u8]>,
        cost: u64,
        fallback: Fallback,
    ) -> Result<Decision, Error> {
        let (shared, name) = (&self.shared, self.name(key.as_ref()));
        let held = shared.keys.read().get(&*name).cloned();
        if let Some(Taken::Units { decision, .. }) =
            held.filter(|_| cost > 0).map(|key| key.lot.lock().take(cost, Instant::now()))
        {
            shared.limiter.core.counters.granted.increment();
            return Ok(decision);
        }
        let request = Request::for_bounded(&shared.policy, &name).cost(cost);
        shared.limiter.core.fall_back(&request, fallback, Error::Overloaded)
    }

    /// Gives back what is not used, and waits for that. What other clones use later is granted anew.
    pub async fn shutdown(self) {
        let keys: Vec<_> = self.shared.keys.read().values().cloned().collect();
        for some in keys.chunks(CLOSED_AT_ONCE) {
            join_all(some.iter().map(|key| self.shared.close(key))).await;
        }
    }

    /// The entry of a key; `None` if there are too many.
    fn key(&self, name: &[u8]) -> Option<Arc<Key>> {
        if let Some(key) = self.shared.keys.read().get(name) {
            return Some(Arc::clone(key));
        }
        let mut keys = self.shared.keys.write();
        if let Some(key) = keys.get(name) {
            return Some(Arc::clone(key));
        }
        if keys.len() >= MAX_KEYS {
            return None;
        }
        let name: Arc<[u8]> = name.into();
        let key = Arc::new(Key { name: Arc::clone(&name), lot: Mutex::default(), fetch: Mutex::default() });
        keys.insert(name, Arc::clone(&key));
        tokio::spawn(Arc::clone(&self.shared).keep(Arc::clone(&key), self.alive.subscribe()));
        Some(key)
    }
}

impl Shared {
    /// Gives the units of a key back when they were held for long enough, or when nobody can use them any more.
    async fn keep(self: Arc<Self>, key: Arc<Key>, mut alive: watch::Receiver<()>) {
        let mut until = Instant::now() + self.hold;
        loop {
            // Nothing is ever sent: this ends when the last sender is dropped, or in time.
            if tokio::time::timeout_at(until.into(), alive.changed()).await.is_ok() {
                break;
            }
            let ends = key.lot.lock().ends_after(Instant::now());
            match ends {
                Some(later) => until = later,
                // Units are on their way.
                None if key.fetch.lock().is_some() => until = Instant::now() + self.hold,
                None => break,
            }
        }
        self.close(&key).await;
    }

    /// Removes a key, and gives back what is left of its grant.
    async fn close(&self, key: &Arc<Key>) {
        // What it brings is given back with the rest.
        self.fetch_ended(key).await;
        {
            let mut keys = self.keys.write();
            if keys.get(&key.name).is_some_and(|known| Arc::ptr_eq(known, key)) {
                keys.remove(&key.name);
            }
        }
        let unused = key.lot.lock().close();
        if let Some((units, at)) = unused {
            self.give_back(key, units, at).await;
        }
    }

    /// Gives units back that were charged at this time of the server. If this fails, they stay charged.
    async fn give_back(&self, key: &Key, units: u64, at: u64) {
        let _ = self.limiter.refund(&key.request(&self.policy).cost(units).at(at)).await;
    }
}
