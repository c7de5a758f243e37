//! Units that the server grants in advance, for keys with many requests.

mod lot;

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::connection::Connection;
use crate::decision::{Decision, Source};
use crate::error::Error;
use crate::limiter::Limiter;
use crate::policy::{Algorithm, Policy};
use crate::request::Request;
use lot::{Lot, Taken};

/// The most keys that have a grant at once. Requests of other keys are sent.
const MAX_KEYS: usize = 100_000;

/// Decides in this process, with units that the server granted in advance.
///
/// The first request of a key charges a whole grant of `units` in one call, or what is left of it (`COST n PARTIAL`). The
/// next requests take from the grant, without the server. When a quarter is left, a task fetches the rest in the
/// background. A grant that was not fetched again for a [second](Grants::hold), and every grant when the last clone of
/// this value is dropped, is given back as far as it was not used.
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
/// # use redis_rl_client::{Limiter, Policy, Source};
/// const API: Policy = Policy::counter(Duration::from_secs(60), 600_000).name("api");
///
/// # with_client(async |client| {
/// # let limiter = Limiter::new(client.get_connection_manager().await?);
/// let api = limiter.grants(&API, 100)?;
/// assert_eq!(api.check("tenant:7").await?.source, Source::Server);
/// assert_eq!(api.check("tenant:7").await?.source, Source::Grant);
/// api.shutdown().await;
/// # Ok(())
/// # });
/// ```
#[derive(Debug)]
pub struct Grants<C> {
    shared: Arc<Shared<C>>,
    /// The tasks of the keys end when the last sender is dropped.
    alive: Arc<watch::Sender<()>>,
}

#[derive(Debug)]
struct Shared<C> {
    limiter: Limiter<C>,
    policy: Policy,
    units: u64,
    hold: Duration,
    keys: RwLock<HashMap<Arc<[u8]>, Arc<Key>>>,
}

/// What this process holds of one key.
#[derive(Debug)]
struct Key {
    name: Arc<[u8]>,
    lot: Lot,
    /// Held while units are fetched, so that one request at a time does.
    fetching: tokio::sync::Mutex<()>,
}

impl<C: Connection> Limiter<C> {
    /// Decides in this process, with grants of `units` that the server makes: see [`Grants`].
    ///
    /// # Errors
    /// The algorithm is LEASE or LEAKY, or `units` is 0 or more than the policy allows at once.
    pub fn grants(&self, policy: &Policy, units: u64) -> Result<Grants<C>, Error> {
        if matches!(policy.algorithm(), Algorithm::Lease | Algorithm::Leaky) {
            return Err(Error::Unsupported("LEASE and LEAKY cannot be granted in advance; send each request"));
        }
        if units == 0 || units > policy.capacity() {
            return Err(Error::Unsupported("a grant has 1 unit or more, up to the burst or the limit of the policy"));
        }
        let hold = policy.longest_window().min(Duration::from_secs(1));
        let (limiter, policy, keys) = (self.clone(), *policy, RwLock::default());
        Ok(Grants {
            shared: Arc::new(Shared { limiter, policy, units, hold, keys }),
            alive: Arc::new(watch::Sender::new(())),
        })
    }
}

impl<C> Clone for Grants<C> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), alive: Arc::clone(&self.alive) }
    }
}

impl<C: Connection> Grants<C> {
    /// How long units are held without another fetch before they are given back; a second if not given, or the window if
    /// that is shorter.
    #[must_use]
    pub fn hold(self, hold: Duration) -> Self {
        let Shared { limiter, policy, units, .. } = &*self.shared;
        let hold = hold.clamp(Duration::from_millis(1), policy.longest_window());
        let shared = Shared { limiter: limiter.clone(), policy: *policy, units: *units, hold, keys: RwLock::default() };
        Self { shared: Arc::new(shared), alive: Arc::new(watch::Sender::new(())) }
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
        let (shared, name) = (&self.shared, key.as_ref());
        let request = Request::new(&shared.policy, name).cost(cost);
        loop {
            let key = match self.key(name) {
                Some(key) if cost > 0 && cost <= shared.units => key,
                _ => return shared.limiter.check_request(&request).await,
            };
            match key.lot.take(cost, Instant::now()) {
                Taken::Units { decision, left } => {
                    shared.limiter.core.counters.granted.increment();
                    if left <= shared.units / 4 {
                        self.fetch_in_background(&key);
                    }
                    return Ok(decision);
                }
                Taken::Closed => continue,
                Taken::Nothing => {}
            }
            let _fetching = key.fetching.lock().await;
            // Another request may have fetched meanwhile.
            match key.lot.take(cost, Instant::now()) {
                Taken::Units { decision, .. } => {
                    shared.limiter.core.counters.granted.increment();
                    return Ok(decision);
                }
                Taken::Closed => continue,
                Taken::Nothing => {}
            }
            match shared.fetch(&key).await {
                Ok(reply) => return Ok(key.lot.take_after(cost, &reply, Instant::now())),
                Err(error) if error.is_unavailable() => return shared.limiter.fall_back(&request, error),
                Err(error) => return Err(error),
            }
        }
    }

    /// Gives back what is not used, and waits for that. What other clones use later is granted anew.
    pub async fn shutdown(self) {
        let keys: Vec<_> = self.shared.read().values().cloned().collect();
        for key in keys {
            self.shared.close(&key).await;
        }
    }

    /// The entry of a key; `None` if there are too many.
    fn key(&self, name: &[u8]) -> Option<Arc<Key>> {
        if let Some(key) = self.shared.read().get(name) {
            return Some(Arc::clone(key));
        }
        let mut keys = self.shared.keys.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(key) = keys.get(name) {
            return Some(Arc::clone(key));
        }
        if keys.len() >= MAX_KEYS {
            return None;
        }
        let name: Arc<[u8]> = name.into();
        let key = Arc::new(Key { name: Arc::clone(&name), lot: Lot::default(), fetching: Default::default() });
        keys.insert(name, Arc::clone(&key));
        tokio::spawn(Arc::clone(&self.shared).keep(Arc::clone(&key), self.alive.subscribe()));
        Some(key)
    }

    fn fetch_in_background(&self, key: &Arc<Key>) {
        if !key.lot.begin_refill() {
            return;
        }
        let (shared, key) = (Arc::clone(&self.shared), Arc::clone(key));
        tokio::spawn(async move {
            let fetching = key.fetching.lock().await;
            if !key.lot.is_closed() {
                // An error here is one of the next request that finds nothing left.
                let _ = shared.fetch(&key).await;
            }
            drop(fetching);
            key.lot.end_refill();
        });
    }
}

impl<C: Connection> Shared<C> {
    fn read(&self) -> std::sync::RwLockReadGuard<'_, HashMap<Arc<[u8]>, Arc<Key>>> {
        self.keys.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Charges what is missing from a whole grant, or what fits of it.
    async fn fetch(&self, key: &Key) -> Result<Decision, Error> {
        let missing = self.units.saturating_sub(key.lot.held(Instant::now()));
        let request = Request::new(&self.policy, &key.name).cost(missing).partial();
        let sent = Instant::now();
        let decision = self.limiter.check_on_server(&request).await?;
        // Shadow mode charges nothing, so there is nothing to hold.
        if decision.source == Source::Server && !decision.shadow {
            key.lot.add(&decision, sent, self.hold);
        }
        Ok(decision)
    }

    /// Gives the units of a key back when they were held for long enough, or when nobody can use them any more.
    async fn keep(self: Arc<Self>, key: Arc<Key>, mut alive: watch::Receiver<()>) {
        let mut until = Instant::now() + self.hold;
        loop {
            // Nothing is ever sent: this ends when the last sender is dropped, or in time.
            if tokio::time::timeout_at(until.into(), alive.changed()).await.is_ok() {
                break;
            }
            match key.lot.ends_after(Instant::now()) {
                Some(later) => until = later,
                // Units are on their way.
                None if key.fetching.try_lock().is_err() => until = Instant::now() + self.hold,
                None => break,
            }
        }
        self.close(&key).await;
    }

    /// Removes a key, and gives back what is left of its grant.
    async fn close(&self, key: &Arc<Key>) {
        let _fetching = key.fetching.lock().await;
        {
            let mut keys = self.keys.write().unwrap_or_else(PoisonError::into_inner);
            if keys.get(&key.name).is_some_and(|known| Arc::ptr_eq(known, key)) {
                keys.remove(&key.name);
            }
        }
        if let Some((units, at)) = key.lot.close() {
            let request = Request::new(&self.policy, &key.name).cost(units).at(at);
            // If this fails, the units stay charged.
            let _ = self.limiter.refund(&request).await;
        }
    }
}
