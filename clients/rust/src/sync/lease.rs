//! Leases that a thread renews.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use super::{Connector, Limiter};
use crate::command::Call;
use crate::decision::Decision;
use crate::error::Error;
use crate::lease_id::{Holder, new_id, require_lease};
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

/// A lease. A thread renews it every third of its window, and releases it when this guard is dropped.
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
    term: Arc<Mutex<Term>>,
    /// Dropping it makes the thread release the lease.
    held: Sender<()>,
    thread: JoinHandle<Result<bool, Error>>,
}

impl Lease {
    /// The id of the holder: a random UUID, unless it was given.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Whether the lease has ended although it was not released: it was not renewed for a window, or somebody else
    /// released it or reset the key. Another holder may have been allowed since.
    pub fn is_lost(&self) -> bool {
        self.kept.as_ref().is_some_and(|kept| lock(&kept.term).is_lost(Instant::now()))
    }

    /// Releases the lease and waits for that; whether it was still held.
    ///
    /// # Errors
    /// See [`Error`]. The lease then ends by itself.
    pub fn release(self) -> Result<bool, Error> {
        let Some(Kept { held, thread, .. }) = self.kept else { return Ok(false) };
        drop(held);
        thread.join().unwrap_or(Ok(false))
    }
}

impl<T: Connector> Limiter<T> {
    /// Takes a lease for a new holder.
    ///
    /// # Errors
    /// The policy is not one of LEASE, or the server did not decide: no fallback applies.
    pub fn lease(&self, policy: &Policy, key: impl AsRef<[u8]>) -> Result<Leased, Error> {
        let (id, key) = (new_id(), key.as_ref());
        let leased = self.take(policy, key, &id, Holder::New);
        if leased.as_ref().is_err_and(Error::is_failure) {
            // The server may have taken the lease after all. Nobody else has this id.
            let (limiter, policy, key) = (self.clone(), *policy, key.to_vec());
            thread::spawn(move || limiter.release(&policy, key, id));
        }
        leased
    }

    /// Takes a lease for a holder with this id, or renews the one that it has.
    ///
    /// # Errors
    /// As [`lease`](Self::lease).
    pub fn lease_as(&self, policy: &Policy, key: impl AsRef<[u8]>, id: impl Into<String>) -> Result<Leased, Error> {
        self.take(policy, key.as_ref(), &id.into(), Holder::MayHold)
    }

    fn take(&self, policy: &Policy, key: &[u8], id: &str, holder: Holder) -> Result<Leased, Error> {
        require_lease(policy)?;
        let term = Term::new(policy.longest_window(), Instant::now());
        let decision = self.check_request(&Request::new(policy, key).id(id))?;
        if !decision.allowed {
            return Ok(Leased::Denied(decision));
        }
        let id = id.to_owned();
        if !holder.has_lease(&decision) {
            return Ok(Leased::Held(Lease { id, kept: None }));
        }
        let (held, dropped) = channel();
        let term = Arc::new(Mutex::new(term));
        let keeper = Keeper {
            limiter: self.clone(),
            policy: *policy,
            key: key.to_vec(),
            id: id.clone(),
            term: Arc::clone(&term),
        };
        let thread = thread::spawn(move || keeper.run(&dropped));
        Ok(Leased::Held(Lease { id, kept: Some(Kept { term, held, thread }) }))
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
    term: Arc<Mutex<Term>>,
}

impl<T: Connector> Keeper<T> {
    fn run(self, dropped: &Receiver<()>) -> Result<bool, Error> {
        let mut pause = lock(&self.term).first_pause(Instant::now());
        // Nothing is ever sent: the guard is dropped, or time has passed.
        while dropped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
            let sent = Instant::now();
            let renewal = Renewal::of(&self.limiter.renew(&self.policy, &self.key, &self.id));
            match lock(&self.term).renewed(sent, renewal, Instant::now()) {
                Some(next) => pause = next,
                None => {
                    self.limiter.shared.core.lease_lost();
                    return Ok(false);
                }
            }
        }
        self.limiter.release(&self.policy, &self.key, &self.id)
    }
}

fn lock(term: &Mutex<Term>) -> MutexGuard<'_, Term> {
    term.lock().unwrap_or_else(PoisonError::into_inner)
}
