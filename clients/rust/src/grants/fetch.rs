//! One fetch of units at a time, which all requests of a key wait for.

use std::sync::Arc;
use std::time::Instant;

use futures_util::FutureExt;
use futures_util::future::{self, BoxFuture};

use super::{Key, Shared};
use crate::core::{Recalled, SentAt};
use crate::decision::{Decision, Source};
use crate::error::Error;

/// What a fetch brought.
#[derive(Clone, Copy, Debug)]
pub struct Fetched {
    pub decision: Decision,
    /// Whether it brought all that was missing, so that there may be more.
    pub whole: bool,
}

/// A fetch that runs, for all who wait for it.
pub type Running = future::Shared<BoxFuture<'static, Result<Fetched, Error>>>;

impl Shared {
    /// Fetches what is missing from a whole grant, unless that is under way. It is a task, so that what was charged
    /// reaches the lot although the request that needed it is gone.
    ///
    /// # Errors
    /// A remembered denial denies it. If the fetch that is under way asks about that denial, it denies all other requests.
    pub fn start_fetch(self: &Arc<Self>, key: &Arc<Key>) -> Result<Running, Recalled> {
        let mut running = key.fetch.lock();
        let sent = self.limiter.core.recall(&key.request(&self.policy).partial())?;
        if let Some(running) = running.as_ref() {
            return Ok(running.clone());
        }
        let (shared, fetched) = (Arc::clone(self), Arc::clone(key));
        let task = tokio::spawn(async move {
            let outcome = shared.fetch(&fetched, sent).await;
            *fetched.fetch.lock() = None;
            outcome
        });
        // The task neither panics nor is it aborted, unless the runtime ends.
        let fetch = async { task.await.unwrap_or(Err(Error::CircuitOpen)) }.boxed().shared();
        Ok(running.insert(fetch).clone())
    }

    /// Waits until no fetch runs.
    pub async fn fetch_ended(&self, key: &Key) {
        loop {
            let Some(running) = key.fetch.lock().clone() else { return };
            _ = running.clone().await;
            if key.fetch.lock().as_ref().is_some_and(|now| now.ptr_eq(&running)) {
                return; // The runtime ends.
            }
        }
    }

    /// Charges what is missing from a whole grant, or what fits of it.
    async fn fetch(&self, key: &Key, unknown: SentAt) -> Result<Fetched, Error> {
        let missing = key.lot.lock().missing(self.units, Instant::now());
        let request = key.request(&self.policy).cost(missing).partial();
        let sent = Instant::now();
        let decision = self.limiter.send(&request, unknown).await?;
        // Shadow mode charges what fits: there may be nothing to hold.
        let granted = decision.source == Source::Server && (decision.charged > 0 || !decision.shadow);
        if granted && !key.lot.lock().add(&decision, sent, self.hold) {
            self.give_back(key, decision.charged, decision.now_ms).await;
        }
        // Units of a window that has ended would not help anybody either.
        let lasts = key.lot.lock().ends_after(Instant::now()).is_some();
        Ok(Fetched { decision, whole: granted && lasts && decision.charged == missing })
    }
}
