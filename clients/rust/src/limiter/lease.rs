//! Leases that renew themselves.

use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{timeout, timeout_at};

use super::{Limiter, Outcome, apart, new_id};
use crate::decision::{Decision, Decisions};
use crate::error::Error;
use crate::policy::{Owned, Policy, Request};
use crate::protocol::{Call, Verb, reply};

/// The shortest pause before a renewal.
const SHORTEST: Duration = Duration::from_millis(1);

/// The outcome of a request for a lease. It is denied if as many leases are held as the limit allows.
pub type Leased = Outcome<Lease, Decision>;

/// A lease. A task renews it every third of its window, and releases it when this guard is dropped. If the process dies, the
/// lease ends by itself, at most a window after it was renewed last.
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
    /// When the lease ends at the earliest, if it is not renewed; `None` once it is lost. The keeper releases the lease when
    /// this is dropped.
    ends: watch::Receiver<Option<Instant>>,
    keeper: JoinHandle<Result<bool, Error>>,
}

impl Lease {
    /// Renews a lease that a request took which was sent at `sent`, until the guard is dropped.
    fn keep(limiter: &Limiter, request: Owned, sent: Instant) -> Self {
        let id = String::from_utf8_lossy(request.id.as_deref().unwrap_or_default()).into_owned();
        let (sender, ends) = watch::channel(Some(sent + request.policy.longest_window()));
        let keeper = tokio::spawn(renew_until_dropped(limiter.clone(), request, sender, sent));
        Self { id, kept: Some(Kept { ends, keeper }) }
    }

    /// The id of the holder: a random UUID.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Whether the lease has ended although it was not released: it was not renewed for a window, or somebody else
    /// released it or reset the key. Another holder may have been allowed since.
    pub fn is_lost(&self) -> bool {
        self.kept.as_ref().is_some_and(|kept| kept.ends.borrow().is_none_or(|ends| now() >= ends))
    }

    /// Waits until the lease is lost. Never returns if that does not happen.
    pub async fn lost(&mut self) {
        let Some(Kept { ends, .. }) = &mut self.kept else { return std::future::pending().await };
        loop {
            let Some(end) = *ends.borrow_and_update() else { return };
            if !matches!(timeout_at(end.into(), ends.changed()).await, Ok(Ok(()))) {
                return;
            }
        }
    }

    /// Releases the lease and waits for that; whether it was still held. After an error it ends by itself.
    pub async fn release(self) -> Result<bool, Error> {
        let Some(Kept { ends, keeper }) = self.kept else { return Ok(false) };
        drop(ends);
        // The task ends without a result only if the runtime ends.
        keeper.await.unwrap_or(Ok(false))
    }
}

/// Renews a lease until its guard, which has the receiver, is dropped, and releases it then.
async fn renew_until_dropped(
    limiter: Limiter,
    request: Owned,
    guard: watch::Sender<Option<Instant>>,
    sent: Instant,
) -> Result<bool, Error> {
    let (request, window) = (request.request(), request.policy.longest_window());
    let (mut ends, mut pause) = (sent + window, window / 3);
    while timeout(pause, guard.closed()).await.is_err() {
        let sent = now();
        let renewed = timeout_at(ends.into(), limiter.renew(&request)).await;
        let next = next_renewal(window, ends, sent, renewed.ok().and_then(Result::ok), now());
        guard.send_replace(next.map(|(ends, _)| ends));
        let Some(next) = next else {
            limiter.core.lease_lost();
            return Ok(false);
        };
        (ends, pause) = next;
    }
    limiter.release_request(&request).await
}

/// What follows from an attempt at `sent` to renew a lease that ends at `ends`: when the lease ends then, and the pause before
/// the next attempt. `None` if the lease is lost. `renewed` is the reply: whether there is still such a lease. It is `None`
/// without a reply.
fn next_renewal(
    window: Duration,
    ends: Instant,
    sent: Instant,
    renewed: Option<bool>,
    now: Instant,
) -> Option<(Instant, Duration)> {
    let (next, pause) = match renewed {
        // A late reply does not undo that the lease was lost: its holder may have acted on it.
        _ if now >= ends => return None,
        Some(false) => return None,
        // The server counts the window from a moment after `sent`.
        Some(true) => (sent + window, window / 3),
        None => (ends, window / 10),
    };
    Some((next, pause.min(next.saturating_duration_since(now)).max(SHORTEST)))
}

impl Limiter {
    /// Takes a lease for a new holder. If the caller is gone before the reply is there, the lease is released.
    ///
    /// # Errors
    /// The policy is not one of LEASE, or the server did not decide and the fallback is not
    /// [`Fallback::Local`](crate::Fallback::Local), which denies: only the server can hold a lease.
    pub async fn lease(&self, policy: &Policy, key: impl AsRef<[u8]>) -> Result<Leased, Error> {
        if !policy.algorithm().traits().id {
            return Err(Error::Unsupported("a lease needs a policy of the algorithm LEASE"));
        }
        let id = new_id();
        let request = Owned::of(&Request::new(policy, key.as_ref()).id(&id));
        let (decisions, leases) = self.take_leases(vec![request]).await?;
        match (decisions.allowed, leases.into_iter().next()) {
            (true, lease) => Ok(Leased::Held(lease.unwrap_or(Lease { id, kept: None }))),
            (false, _) => decisions.limits.into_iter().next().map(Leased::Denied).ok_or(Error::UnknownReply),
        }
    }

    /// Checks requests together, and takes the leases of those of LEASE, whose ids nobody else has. If the caller is gone when
    /// the reply comes, the guards are dropped, which releases the leases.
    pub(crate) async fn take_leases(&self, requests: Vec<Owned>) -> Result<(Decisions, Vec<Lease>), Error> {
        apart(&Handle::current(), take(self.clone(), requests)).await?
    }

    async fn renew(&self, request: &Request<'_>) -> Result<bool, Error> {
        self.call(Call::of(Verb::Renew(request.id.unwrap_or_default()), request)).await.and_then(reply::flag)
    }

    /// Ends the lease of the [id](Request::id) of a request; whether it was still held. [`Lease`] does this by itself.
    pub async fn release_request(&self, request: &Request<'_>) -> Result<bool, Error> {
        self.call(Call::of(Verb::Release(request.id.unwrap_or_default()), request)).await.and_then(reply::flag)
    }
}

async fn take(limiter: Limiter, requests: Vec<Owned>) -> Result<(Decisions, Vec<Lease>), Error> {
    let sent = now();
    let all: Vec<_> = requests.iter().map(Owned::request).collect();
    let result = limiter.check_together(&all).await;
    let is_lease = |request: &&Owned| request.policy.algorithm().traits().id;
    if result.as_ref().is_err_and(Error::may_be_charged) {
        // The server may have taken the leases all the same. Dropping a guard releases its lease.
        requests.iter().filter(is_lease).for_each(|request| drop(Lease::keep(&limiter, request.clone(), sent)));
    }
    let decisions = result.or_else(|error| limiter.core.fall_back_all(&all, limiter.fallback, error))?;
    // The server takes no lease for a request that only shadow mode allows, and none at `maxmemory`.
    let takes = |decision: &Decision| decisions.allowed && !decision.shadow && decision.charged > 0;
    let taken = requests.iter().zip(&decisions.limits).filter(|(_, decision)| takes(decision));
    let taken = taken.map(|(request, _)| request).filter(is_lease);
    let leases = taken.map(|request| Lease::keep(&limiter, request.clone(), sent)).collect();
    Ok((decisions, leases))
}

/// The clock of the timers.
fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_that_was_lost_stays_lost() {
        const WINDOW: Duration = Duration::from_secs(30);
        let taken = Instant::now();
        let after = |seconds| taken + Duration::from_secs(seconds);
        let next = |sent, renewed, now| next_renewal(WINDOW, after(30), after(sent), renewed, after(now));
        assert_eq!(next(10, Some(true), 11), Some((after(40), WINDOW / 3)), "from the time at which it was sent");
        assert_eq!(next(10, None, 11), Some((after(30), WINDOW / 10)));
        assert_eq!(next(20, None, 29), Some((after(30), Duration::from_secs(1))), "at most what is left");
        assert_eq!(next(29, Some(true), 30), None, "the reply is late");
        assert_eq!(next(1, Some(false), 1), None);
    }
}
