//! Leases that renew themselves.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{timeout, timeout_at};

use super::{Limiter, Outcome, apart, new_id};
use crate::decision::Decision;
use crate::error::Error;
use crate::policy::{Policy, Request};
use crate::protocol::{Call, Verb, reply};

/// The shortest pause before a renewal.
const SHORTEST: Duration = Duration::from_millis(1);

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

    /// The id of the holder: a random UUID.
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
    let request = Request::new(&policy, &key).id(&id);
    let mut pause = known.term.lock().first_pause(now());
    // Nothing is ever sent: the channel ends when the guard is dropped.
    while timeout(pause, &mut dropped).await.is_err() {
        let (sent, ends) = (now(), known.term.lock().ends());
        let renewed = timeout_at(ends.unwrap_or(sent).into(), limiter.renew(&request)).await;
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
    limiter.release_request(&request).await
}

/// Whether the server has taken a lease for a new holder. It takes none for a request that only shadow mode allows, and none
/// at `maxmemory`.
pub const fn took_lease(decision: &Decision) -> bool {
    !decision.shadow && decision.charged > 0
}

/// Rejects a policy of another algorithm.
fn require_lease(policy: &Policy) -> Result<(), Error> {
    if policy.algorithm().traits().id {
        Ok(())
    } else {
        Err(Error::Unsupported("a lease needs a policy of the algorithm LEASE"))
    }
}

impl Limiter {
    /// Takes a lease for a new holder. If the caller is gone before the reply is there, the lease is released.
    ///
    /// # Errors
    /// The policy is not one of LEASE, or the server did not decide. [`Fallback::Local`](crate::Fallback::Local) denies. No
    /// other fallback applies, since only the server can hold a lease.
    pub async fn lease(&self, policy: &Policy, key: impl AsRef<[u8]>) -> Result<Leased, Error> {
        require_lease(policy)?;
        apart(&Handle::current(), take(self.clone(), *policy, key.as_ref().to_vec())).await?
    }

    async fn renew(&self, request: &Request<'_>) -> Result<bool, Error> {
        self.call(Call::of(Verb::Renew(request.id.unwrap_or_default()), request)).await.and_then(reply::flag)
    }

    /// Ends the lease of the [id](Request::id) of a request; whether it was still held. [`Lease`] does this by itself.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn release_request(&self, request: &Request<'_>) -> Result<bool, Error> {
        require_lease(request.policy)?;
        self.call(Call::of(Verb::Release(request.id.unwrap_or_default()), request)).await.and_then(reply::flag)
    }
}

/// Takes a lease. If the caller is gone by then, the guard is dropped, which releases the lease.
async fn take(limiter: Limiter, policy: Policy, key: Vec<u8>) -> Result<Leased, Error> {
    let (id, sent) = (new_id(), now());
    let request = Request::new(&policy, &key).id(&id);
    let decision = limiter.check_on_server(&request).await;
    if decision.as_ref().is_err_and(Error::is_failure) {
        // The server may have taken the lease all the same. No other holder has this id.
        let (limiter, key, id) = (limiter.clone(), key.clone(), id.clone());
        drop(tokio::spawn(async move { limiter.release_request(&Request::new(&policy, &key).id(&id)).await }));
    }
    let decision = decision.or_else(|error| limiter.core.fall_back(&request, limiter.fallback, error))?;
    if !decision.allowed {
        return Ok(Leased::Denied(decision));
    }
    if !took_lease(&decision) {
        return Ok(Leased::Held(Lease { id, kept: None }));
    }
    Ok(Leased::Held(Lease::keep(limiter, policy, key, id, sent)))
}

/// The clock of the timers.
fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// When a lease ends at the earliest. It reads no clock: time is an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Term {
    window: Duration,
    /// `None` once the lease is lost.
    ends: Option<Instant>,
}

/// How an attempt to renew ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Renewal {
    /// The server renewed the lease.
    Held,
    /// The server has no such lease any more.
    Gone,
    /// No reply, or an error: nobody knows.
    Unknown,
}

impl Renewal {
    const fn of(renewed: &Result<bool, Error>) -> Self {
        match renewed {
            Ok(true) => Self::Held,
            Ok(false) => Self::Gone,
            Err(_) => Self::Unknown,
        }
    }
}

impl Term {
    /// A lease that was taken by a request sent at `sent`. The server counted the window from a later moment.
    fn new(window: Duration, sent: Instant) -> Self {
        Self { window, ends: Some(sent + window) }
    }

    /// When the lease ends at the earliest, if it is not renewed; `None` once it is lost.
    const fn ends(&self) -> Option<Instant> {
        self.ends
    }

    /// Whether the lease may have ended: another holder may have been allowed since.
    fn is_lost(&self, now: Instant) -> bool {
        self.ends.is_none_or(|ends| now >= ends)
    }

    /// How long to wait from `now` until the first renewal.
    fn first_pause(&self, now: Instant) -> Duration {
        self.pause(self.window / 3, now)
    }

    /// Takes in how a renewal ended that was sent at `sent`. Returns how long to wait until the next one; `None` if the
    /// lease is lost.
    fn renewed(&mut self, sent: Instant, renewal: Renewal, now: Instant) -> Option<Duration> {
        // A late reply does not undo that the lease was lost: its holder may have acted on it.
        if self.is_lost(now) || renewal == Renewal::Gone {
            self.ends = None;
            return None;
        }
        if renewal == Renewal::Unknown {
            return Some(self.pause(self.window / 10, now));
        }
        self.ends = Some(sent + self.window);
        Some(self.pause(self.window / 3, now))
    }

    /// At most what is left of the lease.
    fn pause(&self, longest: Duration, now: Instant) -> Duration {
        let rest = self.ends.map_or(Duration::ZERO, |ends| ends.saturating_duration_since(now));
        longest.min(rest).max(SHORTEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Duration = Duration::from_secs(30);

    #[test]
    fn a_lease_that_was_lost_stays_lost() {
        let taken = Instant::now();
        let after = |seconds| taken + Duration::from_secs(seconds);
        let mut term = Term::new(WINDOW, taken);
        assert_eq!(term.first_pause(after(0)), WINDOW / 3);
        assert_eq!(term.renewed(after(10), Renewal::Held, after(11)), Some(WINDOW / 3));
        assert_eq!(term.ends(), Some(after(40)), "from the time at which the renewal was sent");
        assert_eq!(term.renewed(after(21), Renewal::Unknown, after(39)), Some(Duration::from_secs(1)));
        assert!(!term.is_lost(after(39)) && term.is_lost(after(40)));
        assert_eq!(term.renewed(after(39), Renewal::Held, after(40)), None, "the reply is late");
        assert!(term.is_lost(after(39)));
        let mut gone = Term::new(WINDOW, taken);
        assert_eq!((gone.renewed(taken, Renewal::Gone, taken), gone.ends()), (None, None));
    }
}
