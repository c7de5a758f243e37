//! Leases that renew themselves.

use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;

use super::{
    Background, Changed, Held, Limiter, Other, Task, both, channel, is_dropped_within, join, now, tell, until,
};
use crate::Request;
use crate::decision::Decision;
use crate::error::Error;
use crate::guard::{Holder, Outcome, Renewal, Term, new_id, require_lease};
use crate::policy::Policy;
use crate::protocol::{Call, Verb, reply};

/// What a request for a lease gets. It is denied if as many leases are held as the limit allows.
pub type Leased = Outcome<Lease, Decision>;

/// A lease. It is renewed every third of its window, by a task of tokio or, without a runtime, by a thread; and released
/// when this guard is dropped.
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
    held: Held,
    /// `None` if no thread could be started. Then the lease ends by itself.
    keeper: Option<Task<Result<bool, Error>>>,
}

/// What guard and keeper know of the lease.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) term: Mutex<Term>,
    pub(super) changed: Changed,
}

impl Lease {
    /// Renews a lease that was taken after `sent` until the guard is dropped.
    pub(crate) fn keep(limiter: Limiter, policy: Policy, key: Vec<u8>, id: String, sent: Instant) -> Self {
        let term = Mutex::new(Term::new(policy.longest_window(), sent));
        let known = Arc::new(Known { term, changed: Changed::default() });
        let (held, other) = channel();
        let (holder, renewed) = (id.clone(), Arc::clone(&known));
        let keeper = Background::here().start(move || renew_until(other, limiter, policy, key, holder, renewed));
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

    pub(super) fn known(&self) -> Option<&Known> {
        self.kept.as_ref().map(|kept| &*kept.known)
    }
}

#[both]
impl Lease {
    /// Releases the lease and waits for that; whether it was still held.
    ///
    /// # Errors
    /// See [`Error`]. The lease then ends by itself.
    pub async fn release(self) -> Result<bool, Error> {
        let Some(Kept { held, keeper, .. }) = self.kept else { return Ok(false) };
        drop(held);
        match keeper {
            Some(keeper) => join(keeper).await.unwrap_or(Ok(false)),
            None => Ok(false),
        }
    }
}

/// Renews a lease until the guard is dropped, and releases it then.
#[both]
async fn renew_until(
    mut dropped: Other,
    limiter: Limiter,
    policy: Policy,
    key: Vec<u8>,
    id: String,
    known: Arc<Known>,
) -> Result<bool, Error> {
    let mut pause = known.term.lock().first_pause(now());
    while !is_dropped_within(&mut dropped, pause).await {
        let (sent, ends) = (now(), known.term.lock().ends());
        let renewed = until(ends.unwrap_or(sent), limiter.renew(&policy, &key, &id)).await;
        let renewal = renewed.as_ref().map_or(Renewal::Unknown, Renewal::of);
        let next = known.term.lock().renewed(sent, renewal, now());
        tell(&known.changed);
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

#[both]
impl Limiter {
    /// Takes a lease for a new holder. If the caller is gone before the reply is there, the lease is released.
    ///
    /// # Errors
    /// The policy is not one of LEASE, or the server did not decide: no [`Fallback`](crate::Fallback) applies, since only
    /// the server can hold a lease.
    pub async fn lease(&self, policy: &Policy, key: impl AsRef<[u8]>) -> Result<Leased, Error> {
        require_lease(policy)?;
        let taking = take_new(self.clone(), *policy, key.as_ref().to_vec());
        Background::here().apart(taking).await?
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
#[both]
async fn take_new(limiter: Limiter, policy: Policy, key: Vec<u8>) -> Result<Leased, Error> {
    let id = new_id();
    let leased = limiter.take(&policy, &key, &id, Holder::New).await;
    if leased.as_ref().is_err_and(Error::is_failure) {
        // The server may have taken the lease after all. Nobody else has this id.
        let _ = Background::here().start(move || async move { limiter.release(&policy, key, id).await });
    }
    leased
}
