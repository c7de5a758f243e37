//! Leases that a thread renews.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::{Connector, Limiter};
use crate::command::Call;
use crate::decision::Decision;
use crate::error::Error;
use crate::lease_id::{new_id, require_lease};
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

/// A lease. A thread renews it every third of its window, and releases it when this guard is dropped.
#[derive(Debug)]
pub struct Lease {
    id: String,
    lost: Arc<AtomicBool>,
    /// Dropping it makes the thread release the lease.
    held: Sender<()>,
    thread: JoinHandle<Result<bool, Error>>,
}

impl Lease {
    /// The id of the holder: a random UUID, unless it was given.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Whether the lease has ended although it was not released. Another holder may have been allowed since.
    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    /// Releases the lease and waits for that; whether it was still held.
    ///
    /// # Errors
    /// See [`Error`]. The lease then ends by itself.
    pub fn release(self) -> Result<bool, Error> {
        drop(self.held);
        self.thread.join().unwrap_or(Ok(false))
    }
}

impl<T: Connector> Limiter<T> {
    /// Takes a lease for a new holder.
    ///
    /// # Errors
    /// The policy is not one of LEASE, or the server did not decide: no fallback applies.
    pub fn lease(&self, policy: &Policy, key: impl AsRef<[u8]>) -> Result<Leased, Error> {
        self.lease_as(policy, key, new_id())
    }

    /// Takes a lease for a holder with this id, or renews the one that it has.
    ///
    /// # Errors
    /// As [`lease`](Self::lease).
    pub fn lease_as(&self, policy: &Policy, key: impl AsRef<[u8]>, id: impl Into<String>) -> Result<Leased, Error> {
        let (key, id) = (key.as_ref(), id.into());
        require_lease(policy)?;
        let ends = Instant::now() + policy.longest_window();
        let decision = self.check_request(&Request::new(policy, key).id(&id))?;
        if !decision.allowed {
            return Ok(Leased::Denied(decision));
        }
        let lost = Arc::new(AtomicBool::new(false));
        let (held, dropped) = channel();
        let keeper = Keeper {
            limiter: self.clone(),
            policy: *policy,
            key: key.to_vec(),
            id: id.clone(),
            ends,
            lost: Arc::clone(&lost),
        };
        Ok(Leased::Held(Lease { id, lost, held, thread: thread::spawn(move || keeper.run(&dropped)) }))
    }

    /// Renews a lease; whether it was still held. [`Lease`] does this by itself.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn renew(&self, policy: &Policy, key: impl AsRef<[u8]>, id: impl AsRef<[u8]>) -> Result<bool, Error> {
        require_lease(policy)?;
        let call = Call::Renew { policy, key: key.as_ref(), id: id.as_ref() };
        self.call(call).and_then(reply::integer).map(|renewed| renewed != 0)
    }

    /// Ends a lease; whether it was still held. [`Lease`] does this by itself.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn release(&self, policy: &Policy, key: impl AsRef<[u8]>, id: impl AsRef<[u8]>) -> Result<bool, Error> {
        require_lease(policy)?;
        let call = Call::Release { key: key.as_ref(), id: id.as_ref() };
        self.call(call).and_then(reply::integer).map(|released| released != 0)
    }
}

/// The thread behind a lease.
struct Keeper<T: Connector> {
    limiter: Limiter<T>,
    policy: Policy,
    key: Vec<u8>,
    id: String,
    /// When the lease ends at the earliest, if it is not renewed.
    ends: Instant,
    lost: Arc<AtomicBool>,
}

impl<T: Connector> Keeper<T> {
    fn run(mut self, dropped: &Receiver<()>) -> Result<bool, Error> {
        let window = self.policy.longest_window();
        let mut pause = window / 3;
        // Nothing is ever sent: the guard is dropped, or time has passed.
        while dropped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
            let sent = Instant::now();
            pause = match self.limiter.renew(&self.policy, &self.key, &self.id) {
                Ok(true) => {
                    self.ends = sent + window;
                    window / 3
                }
                Err(_) if Instant::now() < self.ends => {
                    (window / 10).min(self.ends.saturating_duration_since(Instant::now()))
                }
                Ok(false) | Err(_) => {
                    self.lost.store(true, Ordering::Release);
                    return Ok(false);
                }
            }
            .max(Duration::from_millis(1));
        }
        self.limiter.release(&self.policy, &self.key, &self.id)
    }
}
