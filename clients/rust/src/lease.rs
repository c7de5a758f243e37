//! Leases that renew themselves.

use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};

use crate::command::Call;
use crate::connection::Connection;
use crate::decision::Decision;
use crate::error::Error;
use crate::lease_id::{Holder, new_id, require_lease};
use crate::limiter::Limiter;
use crate::policy::Policy;
use crate::reply;
use crate::request::Request;
use crate::term::{Renewal, Term};

/// What a request for a lease gets.
#[derive(Debug)]
pub enum Leased {
    /// The lease is held until the guard is dropped.
    Held(Lease),
    /// As many leases are held as the limit allows.
    Denied(Decision),
}

impl Leased {
    /// The guard, if the lease is held.
    pub fn held(self) -> Option<Lease> {
        match self {
            Self::Held(lease) => Some(lease),
            Self::Denied(_) => None,
        }
    }
}

/// A lease. It is renewed every third of its window by a task of tokio, and released when this guard is dropped.
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
    term: watch::Receiver<Term>,
    /// Dropping it makes the task release the lease.
    held: oneshot::Sender<()>,
    task: JoinHandle<Result<bool, Error>>,
}

impl Lease {
    /// Renews a lease that was taken after `sent` until the guard is dropped.
    pub(crate) fn keep<C: Connection>(
        limiter: Limiter<C>,
        policy: Policy,
        key: Vec<u8>,
        id: String,
        sent: Instant,
    ) -> Self {
        let (sender, term) = watch::channel(Term::new(policy.longest_window(), sent.into_std()));
        let (held, dropped) = oneshot::channel();
        let keeper = Keeper { limiter, policy, key, id: id.clone(), term: sender };
        Self { id, kept: Some(Kept { term, held, task: tokio::spawn(keeper.run(dropped)) }) }
    }

    /// The id of the holder: a random UUID, unless it was given.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Whether the lease has ended although it was not released: it was not renewed for a window, or somebody else
    /// released it or reset the key. Another holder may have been allowed since.
    pub fn is_lost(&self) -> bool {
        self.kept.as_ref().is_some_and(|kept| kept.term.borrow().is_lost(Instant::now().into_std()))
    }

    /// Waits until the lease is lost. Never returns if that does not happen.
    pub async fn lost(&mut self) {
        let Some(Kept { term, .. }) = &mut self.kept else { return std::future::pending().await };
        loop {
            let Some(ends) = term.borrow_and_update().ends() else { return };
            if timeout_at(ends.into(), term.changed()).await.is_err() {
                return;
            }
        }
    }

    /// Releases the lease and waits for that; whether it was still held.
    ///
    /// # Errors
    /// See [`Error`]. The lease then ends by itself.
    pub async fn release(self) -> Result<bool, Error> {
        let Some(Kept { held, task, .. }) = self.kept else { return Ok(false) };
        drop(held);
        // The task neither panics nor is it aborted, unless the runtime ends.
        task.await.unwrap_or(Ok(false))
    }
}

/// The task behind a lease.
struct Keeper<C> {
    limiter: Limiter<C>,
    policy: Policy,
    key: Vec<u8>,
    id: String,
    term: watch::Sender<Term>,
}

impl<C: Connection> Keeper<C> {
    async fn run(self, mut dropped: oneshot::Receiver<()>) -> Result<bool, Error> {
        let mut pause = self.term.borrow().first_pause(Instant::now().into_std());
        loop {
            // An error means that the guard is gone: nothing is ever sent.
            if timeout(pause, &mut dropped).await.is_ok() {
                return self.limiter.release(&self.policy, &self.key, &self.id).await;
            }
            let mut term = *self.term.borrow();
            let Some(ends) = term.ends() else { break };
            let sent = Instant::now();
            let renewing = timeout_at(ends.into(), self.limiter.renew(&self.policy, &self.key, &self.id));
            let renewal = renewing.await.map_or(Renewal::Unknown, |renewed| Renewal::of(&renewed));
            let next = term.renewed(sent.into_std(), renewal, Instant::now().into_std());
            self.term.send_replace(term);
            match next {
                Some(next) => pause = next,
                None => break,
            }
        }
        self.limiter.core.lease_lost();
        // The sender stays until the guard is gone, so that nobody waits for a change that cannot come.
        let _ = dropped.await;
        Ok(false)
    }
}

impl<C: Connection> Limiter<C> {
    /// Takes a lease for a new holder. If this future is dropped before it returns, the lease is released.
    ///
    /// ```
    /// # mod doc { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/client/doc.rs")); } use doc::with_client;
    /// # use std::time::Duration;
    /// # use redis_rl_client::{Leased, Limiter, Policy};
    /// const JOBS: Policy = Policy::lease(Duration::from_secs(30), 2).name("jobs");
    ///
    /// # with_client(async |client| {
    /// # let limiter = Limiter::new(client.get_connection_manager().await?);
    /// match limiter.lease(&JOBS, "jobs:42").await? {
    ///     Leased::Held(lease) => {
    ///         // Work. The lease is renewed every 10 seconds.
    ///         lease.release().await?;
    ///     }
    ///     Leased::Denied(decision) => println!("two jobs run already: {:?}", decision.retry_after),
    /// }
    /// # Ok(())
    /// # });
    /// ```
    ///
    /// # Errors
    /// The policy is not one of LEASE, or the server did not decide: no [`Fallback`](crate::Fallback) applies, since only
    /// the server can hold a lease.
    pub async fn lease(&self, policy: &Policy, key: impl AsRef<[u8]>) -> Result<Leased, Error> {
        require_lease(policy)?;
        let (limiter, policy, key) = (self.clone(), *policy, key.as_ref().to_vec());
        // A task of its own: if the caller is gone when the reply comes, the guard is dropped, which releases the lease.
        let taking = tokio::spawn(async move {
            let id = new_id();
            let leased = limiter.take(&policy, &key, &id, Holder::New).await;
            if leased.as_ref().is_err_and(Error::is_failure) {
                // The server may have taken the lease after all.
                tokio::spawn(async move { limiter.release(&policy, key, id).await });
            }
            leased
        });
        // The task neither panics nor is it aborted, unless the runtime ends.
        taking.await.unwrap_or(Err(Error::CircuitOpen))
    }

    /// Takes a lease for a holder with this id, or renews the one that it has. If this future is dropped before it
    /// returns, a lease that was taken ends by itself: it may be the one that another caller holds under the id.
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
        let sent = Instant::now();
        let decision = self.check_request(&Request::new(policy, key).id(id)).await?;
        if !decision.allowed {
            return Ok(Leased::Denied(decision));
        }
        if !holder.has_lease(&decision) {
            return Ok(Leased::Held(Lease { id: id.to_owned(), kept: None }));
        }
        Ok(Leased::Held(Lease::keep(self.clone(), *policy, key.to_vec(), id.to_owned(), sent)))
    }

    /// Renews a lease; whether it was still held. [`Lease`] does this by itself.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn renew(&self, policy: &Policy, key: impl AsRef<[u8]>, id: impl AsRef<[u8]>) -> Result<bool, Error> {
        require_lease(policy)?;
        let call = Call::Renew { policy, key: key.as_ref(), id: id.as_ref() };
        self.call(call).await.and_then(reply::integer).map(|renewed| renewed != 0)
    }

    /// Ends a lease; whether it was still held. [`Lease`] does this by itself.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn release(&self, policy: &Policy, key: impl AsRef<[u8]>, id: impl AsRef<[u8]>) -> Result<bool, Error> {
        require_lease(policy)?;
        let call = Call::Release { key: key.as_ref(), id: id.as_ref() };
        self.call(call).await.and_then(reply::integer).map(|released| released != 0)
    }
}
