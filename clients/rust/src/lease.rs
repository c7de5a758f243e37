//! Leases that renew themselves.

use std::time::Duration;

use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use crate::command::Call;
use crate::connection::Connection;
use crate::decision::Decision;
use crate::error::Error;
use crate::lease_id::{new_id, require_lease};
use crate::limiter::Limiter;
use crate::policy::Policy;
use crate::reply;
use crate::request::Request;

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
#[derive(Debug)]
pub struct Lease {
    id: String,
    lost: watch::Receiver<bool>,
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
        let (lost_sender, lost) = watch::channel(false);
        let (held, dropped) = oneshot::channel();
        let keeper = Keeper { limiter, policy, key, id: id.clone(), ends: sent + policy.longest_window() };
        Self { id, lost, held, task: tokio::spawn(keeper.run(lost_sender, dropped)) }
    }

    /// The id of the holder: a random UUID, unless it was given.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Whether the lease has ended although it was not released: the server could not be reached for a window, or
    /// somebody else released it or reset the key. Another holder may have been allowed since.
    pub fn is_lost(&self) -> bool {
        *self.lost.borrow()
    }

    /// Waits until the lease is lost. Never returns if that does not happen.
    pub async fn lost(&mut self) {
        if self.lost.wait_for(|lost| *lost).await.is_err() {
            std::future::pending().await
        }
    }

    /// Releases the lease and waits for that; whether it was still held.
    ///
    /// # Errors
    /// See [`Error`]. The lease then ends by itself.
    pub async fn release(self) -> Result<bool, Error> {
        drop(self.held);
        // The task neither panics nor is it aborted, unless the runtime ends.
        self.task.await.unwrap_or(Ok(false))
    }
}

/// The task behind a lease.
struct Keeper<C> {
    limiter: Limiter<C>,
    policy: Policy,
    key: Vec<u8>,
    id: String,
    /// When the lease ends at the earliest, if it is not renewed.
    ends: Instant,
}

impl<C: Connection> Keeper<C> {
    async fn run(mut self, lost: watch::Sender<bool>, mut dropped: oneshot::Receiver<()>) -> Result<bool, Error> {
        let window = self.policy.longest_window();
        let mut pause = window / 3;
        loop {
            // An error means that the guard is gone: nothing is ever sent.
            if timeout(pause, &mut dropped).await.is_ok() {
                return self.limiter.release(&self.policy, &self.key, &self.id).await;
            }
            let sent = Instant::now();
            pause = match self.limiter.renew(&self.policy, &self.key, &self.id).await {
                Ok(true) => {
                    self.ends = sent + window;
                    window / 3
                }
                Err(_) if Instant::now() < self.ends => {
                    (window / 10).min(self.ends.saturating_duration_since(Instant::now()))
                }
                Ok(false) | Err(_) => {
                    lost.send_replace(true);
                    return Ok(false);
                }
            }
            .max(Duration::from_millis(1));
        }
    }
}

impl<C: Connection> Limiter<C> {
    /// Takes a lease for a new holder.
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
        self.lease_as(policy, key, new_id()).await
    }

    /// Takes a lease for a holder with this id, or renews the one that it has.
    ///
    /// # Errors
    /// As [`lease`](Self::lease).
    pub async fn lease_as(
        &self,
        policy: &Policy,
        key: impl AsRef<[u8]>,
        id: impl Into<String>,
    ) -> Result<Leased, Error> {
        let (key, id) = (key.as_ref(), id.into());
        require_lease(policy)?;
        let sent = Instant::now();
        let decision = self.check_request(&Request::new(policy, key).id(&id)).await?;
        Ok(if decision.allowed {
            Leased::Held(Lease::keep(self.clone(), *policy, key.to_vec(), id, sent))
        } else {
            Leased::Denied(decision)
        })
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
