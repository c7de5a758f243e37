//! Leases that renew themselves.

use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{timeout, timeout_at};

use super::{Limiter, apart};
use crate::decision::Decision;
use crate::error::Error;
use crate::guard::{Holder, Outcome, Renewal, Term, new_id, require_lease};
use crate::policy::{Policy, Request};
use crate::protocol::{Call, Verb, reply};

/// What a request for a lease gets. It is denied if as many leases are held as the limit allows.
pub type Leased = Outcome<Lease, Decision>;

/// A lease. A task renews it every third of its window, and releases it when this guard is dropped.
///
/// If the process dies, or the runtime ends before the release is sent, the lease ends by itself, at most a window after
/// it was renewed last.
///
/// The server takes no lease for what shadow mode allows above the limit, and for what `rl.on-oom allow` allows. Then
/// nothing is renewed or released, and this guard is never lost.
#[derive(Debug)]
pub struct Lease {
    id: String,
    /// `None` if the server took no lease.
    kept: Option<Kept>,
}

#[derive(Debug)]
struct Kept {
    known: Arc<Known>,
    /// Dropping it makes the keeper release the lease.
    held: oneshot::Sender<()>,
    keeper: JoinHandle<Result<bool, Error>>,
}

/// What guard and keeper know of the lease.
#[derive(Debug)]
struct Known {
    term: Mutex<Term>,
    changed: Notify,
}

impl Lease {
    /// Renews a lease that was taken after `sent` until the guard is dropped.
    pub(crate) fn keep(limiter: Limiter, policy: Policy, key: Vec<u8>, id: String, sent: Instant) -> Self {
        let term = Mutex::new(Term::new(policy.longest_window(), sent));
        let known = Arc::new(Known { term, changed: Notify::new() });
        let (held, dropped) = oneshot::channel();
        let keeper = tokio::spawn(renew_until(dropped, limiter, policy, key, id.clone(), Arc::clone(&known)));
        Self { id, kept: Some(Kept { known, held, keeper }) }
    }

    /// The id of the holder: a random UUID, unless it was given.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Whether the lease has ended although it was not released: it was not renewed for a window, or somebody else
    /// released it or reset the key. Another holder may have been allowed since.
    pub fn is_lost(&self) -> bool {
        self.known().is_some_and(|known| known.term.lock().is_lost(now()))
    }

    fn known(&self) -> Option<&Known> {
        self.kept.as_ref().map(|kept| &*kept.known)
    }

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

    /// Releases the lease and waits for that; whether it was still held.
    ///
    /// # Errors
    /// See [`Error`]. The lease then ends by itself.
    pub async fn release(self) -> Result<bool, Error> {
        let Some(Kept { held, keeper, .. }) = self.kept else { return Ok(false) };
        drop(held);
        // The task ends without a result only if the runtime ends.
        keeper.await.unwrap_or(Ok(false))
    }
}

/// Renews a lease until the guard is dropped, and releases it then.
async fn renew_until(
    mut dropped: oneshot::Receiver<()>,
    limiter: Limiter,
    policy: Policy,
    key: Vec<u8>,
    id: String,
    known: Arc<Known>,
) -> Result<bool, Error> {
    let mut pause = known.term.lock().first_pause(now());
    // Nothing is ever sent: the channel ends when the guard is dropped.
    while timeout(pause, &mut dropped).await.is_err() {
        let (sent, ends) = (now(), known.term.lock().ends());
        let renewed = timeout_at(ends.unwrap_or(sent).into(), limiter.renew(&policy, &key, &id)).await;
        let renewal = renewed.as_ref().map_or(Renewal::Unknown, Renewal::of);
        let next = known.term.lock().renewed(sent, renewal, now());
        known.changed.notify_waiters();
        match next {
            Some(next) => pause = next,
            None => {
                limiter.core.lease_lost();
                return Ok(false);
            }
        }
    }
    limiter.release(&policy, &key, &id).await
}

impl Limiter {
    /// Takes a lease for a new holder. If the caller is gone before the reply is there, the lease is released.
    ///
    /// # Errors
    /// The policy is not one of LEASE, or the server did not decide: no [`Fallback`](crate::Fallback) applies, since only
    /// the server can hold a lease.
    pub async fn lease(&self, policy: &Policy, key: impl AsRef<[u8]>) -> Result<Leased, Error> {
        require_lease(policy)?;
        let taking = take_new(self.clone(), *policy, key.as_ref().to_vec());
        apart(&Handle::current(), taking).await?
    }

    /// Takes a lease for a holder with this id, or renews the one that it has. If the caller is gone before the reply is
    /// there, a lease that was taken ends by itself: it may be the one that another caller holds under the id.
    ///
    /// # Errors
    /// As [`lease`](Self::lease).
    pub async fn lease_as(
        &self,
        policy: &Policy,
        key: impl AsRef<[u8]>,
        id: impl Into<String>,
    ) -> Result<Leased, Error> {
        require_lease(policy)?;
        self.take(policy, key.as_ref(), &id.into(), Holder::MayHold).await
    }

    async fn take(&self, policy: &Policy, key: &[u8], id: &str, holder: Holder) -> Result<Leased, Error> {
        let sent = now();
        let decision = self.check_request(&Request::new(policy, key).id(id)).await?;
        if !decision.allowed {
            return Ok(Leased::Denied(decision));
        }
        let id = id.to_owned();
        if !holder.has_lease(&decision) {
            return Ok(Leased::Held(Lease { id, kept: None }));
        }
        Ok(Leased::Held(Lease::keep(self.clone(), *policy, key.to_vec(), id, sent)))
    }

    /// Renews a lease; whether it was still held. [`Lease`] does this by itself.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn renew(&self, policy: &Policy, key: impl AsRef<[u8]>, id: impl AsRef<[u8]>) -> Result<bool, Error> {
        require_lease(policy)?;
        let request = Request::new(policy, key.as_ref());
        self.call(Call::of(Verb::Renew(id.as_ref()), &request)).await.and_then(reply::flag)
    }

    /// Ends a lease; whether it was still held. [`Lease`] does this by itself.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn release(&self, policy: &Policy, key: impl AsRef<[u8]>, id: impl AsRef<[u8]>) -> Result<bool, Error> {
        require_lease(policy)?;
        self.release_request(&Request::new(policy, key.as_ref()).id(&id)).await
    }

    /// [`release`](Self::release) for the key, the policy and the [id](Request::id) of a request.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn release_request(&self, request: &Request<'_>) -> Result<bool, Error> {
        require_lease(request.policy)?;
        self.call(Call::of(Verb::Release(request.id.unwrap_or_default()), request)).await.and_then(reply::flag)
    }
}

/// Takes a lease although its caller may be gone by then: the guard is dropped, which releases it.
async fn take_new(limiter: Limiter, policy: Policy, key: Vec<u8>) -> Result<Leased, Error> {
    let id = new_id();
    let leased = limiter.take(&policy, &key, &id, Holder::New).await;
    if leased.as_ref().is_err_and(Error::is_failure) {
        // The server may have taken the lease after all. Nobody else has this id.
        drop(tokio::spawn(async move { limiter.release(&policy, key, id).await }));
    }
    leased
}

/// The clock of the timers.
fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}
