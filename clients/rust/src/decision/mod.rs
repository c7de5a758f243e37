//! The decision on a request.

mod headers;

use std::cmp::Reverse;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

#[cfg(feature = "tower")]
pub use headers::unique_names;

use crate::policy::Policy;

/// When a denied request would be allowed. The longest wait is the largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RetryAfter {
    /// It is allowed.
    Now,
    /// After exactly this time, if there is no other request in between. One millisecond earlier it is denied.
    After(Duration),
    /// Never: the cost is above the capacity, or the limit is 0.
    Never,
}

impl RetryAfter {
    /// 0 for now, −1 for never.
    pub(crate) fn from_millis(millis: i64) -> Self {
        match u64::try_from(millis) {
            Ok(millis) => Self::from_wait(Duration::from_millis(millis)),
            Err(_) => Self::Never,
        }
    }

    pub(crate) const fn from_wait(wait: Duration) -> Self {
        if wait.is_zero() { Self::Now } else { Self::After(wait) }
    }

    /// The time to wait; `None` for now and never.
    pub const fn duration(self) -> Option<Duration> {
        match self {
            Self::After(wait) => Some(wait),
            Self::Now | Self::Never => None,
        }
    }
}

/// Who decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Source {
    /// The server.
    Server,
    /// A [remembered denial](crate::Builder::denials) of the server. The times are those of now; `remaining` is that of the
    /// denial, and may be more by now.
    RememberedDenial,
    /// Units that the server [granted](crate::Grants) to this client.
    Grant,
    /// This client alone: see [`Fallback`](crate::Fallback). Only `allowed`, `charged`, `retry_after` and `delay` are known,
    /// and `now_ms` is this machine's time.
    Fallback,
    /// Nobody: the request is denied by another limit, and this one was not checked. `allowed` is true, nothing is
    /// charged, and no other figure is known.
    Unchecked,
}

/// What decides on a check if the server cannot: it does not reply within the timeout, the connection fails, the circuit
/// breaker is open, or the server replies that it accepts no writes now (LOADING, OOM, READONLY …). A lease is an error then,
/// but for `Local`. A policy in shadow mode denies nobody: unless the fallback is `Error`, its requests are allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fallback {
    /// Returns the error.
    #[default]
    Error,
    /// Allows the request: the service is more important than the limit.
    Allow,
    /// Denies the request: the limit is more important than the service.
    Deny,
    /// Limits inside this process: the same algorithm in memory, under the part of the limit and of the burst that each of
    /// the instances of the service has, rounded down, but at least 1. A key begins once, with its part of what the last
    /// reply says is used, and is counted until none of its units counts any more, also while the server decides again. So at
    /// most the limit passes through the server, and in each instance at most limit ÷ instances again, each as the algorithm
    /// bounds it. A new key without place among 100,000 keys in 64 MiB is denied, and so are LEASE and LOCKOUT.
    Local {
        /// How many instances share the limit.
        instances: u32,
    },
}

/// The decision on a request. The figures are those of `FULL` in the command reference, after this request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Decision {
    /// Whether the request may go on. With [`partial`](crate::Request::partial), whether any part of it may.
    pub allowed: bool,
    /// How many units were charged: with [`partial`](crate::Request::partial) 0 up to the cost; else the cost or 0.
    pub charged: u64,
    /// What the limit counts; see the table of the algorithms in the command reference.
    pub count: i64,
    /// The value that `remaining` counts down from: the burst if given, else the limit.
    pub limit: u64,
    /// The cost that would be allowed right now.
    pub remaining: u64,
    /// When the same request would be allowed.
    pub retry_after: RetryAfter,
    /// The time until `remaining` grows; 0 if everything is available, `None` for never.
    pub next: Option<Duration>,
    /// The time until the whole limit is available; 0 if it is, `None` for never.
    pub reset_after: Option<Duration>,
    /// LEAKY: how long to hold the request; else 0.
    pub delay: Duration,
    /// The server's time, in milliseconds since 1970.
    pub now_ms: u64,
    /// Whether shadow mode allowed what the limit denies.
    pub shadow: bool,
    /// Who decided.
    pub source: Source,
    pub(crate) policy: Policy,
}

impl Decision {
    /// The policy that decided.
    pub const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// When the same request would be allowed, by the server's clock, in milliseconds since 1970; the largest value for never.
    pub fn allowed_at_ms(&self) -> u64 {
        match self.retry_after {
            RetryAfter::Never => u64::MAX,
            other => self.now_ms.saturating_add(millis(other.duration().unwrap_or_default())),
        }
    }

    /// A decision without the server.
    pub(crate) fn of_fallback(policy: &Policy, allowed: bool, charged: u64, retry_after: RetryAfter) -> Self {
        Self {
            allowed,
            charged,
            count: 0,
            limit: policy.capacity(),
            remaining: 0,
            retry_after,
            next: retry_after.duration(),
            reset_after: None,
            delay: Duration::ZERO,
            now_ms: wall_ms(),
            shadow: false,
            source: Source::Fallback,
            policy: *policy,
        }
    }

    /// The decision of a limit that was not checked, because another one denies.
    pub(crate) fn unchecked(policy: &Policy) -> Self {
        Self { source: Source::Unchecked, ..Self::of_fallback(policy, true, 0, RetryAfter::Now) }
    }

    /// The same decision for a request that takes this cost of a grant which has so many units left then.
    pub(crate) fn granted(self, cost: u64, left: u64) -> Self {
        let (charged, remaining) = (cost, self.remaining.saturating_add(left));
        Self { allowed: true, charged, remaining, retry_after: RetryAfter::Now, shadow: false, ..self }
    }

    /// The same decision some time later, if nothing changed in between. Only the times go on: `remaining` may be too low.
    pub(crate) fn later(self, elapsed: Duration, source: Source) -> Self {
        const LEAST: Duration = Duration::from_millis(1);
        // Rounds against the caller: a wait is never said to be shorter than it is.
        let millis = millis(elapsed);
        // 0 would mean that there is nothing to wait for.
        let rest = |wait: Duration| wait.saturating_sub(Duration::from_millis(millis)).max(LEAST.min(wait));
        let retry_after = match self.retry_after {
            RetryAfter::After(wait) => RetryAfter::After(rest(wait)),
            other => other,
        };
        Self {
            retry_after,
            next: self.next.map(rest),
            reset_after: self.reset_after.map(rest),
            now_ms: self.now_ms.saturating_add(millis),
            source,
            ..self
        }
    }
}

/// The clock of this machine, in milliseconds since 1970.
pub(crate) fn wall_ms() -> u64 {
    millis(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

/// Whole milliseconds. Saturates at the largest value.
pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// The decisions on a request under several limits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Decisions {
    /// Whether every limit allows the request. If not, none was charged.
    pub allowed: bool,
    /// The decision of each limit, in the order of the requests. If this client denied by itself, the limits that it did
    /// not look at are [`Source::Unchecked`].
    pub limits: Vec<Decision>,
}

impl Decisions {
    /// The limits that deny.
    pub fn denied(&self) -> impl Iterator<Item = &Decision> {
        self.limits.iter().filter(|decision| !decision.allowed)
    }

    /// How long to hold the request: the longest [`Decision::delay`].
    pub fn delay(&self) -> Duration {
        self.limits.iter().map(|decision| decision.delay).max().unwrap_or_default()
    }
}

/// The decisions of limits that share: see [`Limiter::share`](crate::Limiter::share).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shared {
    /// The place of the limit that paid, from 0: it is charged, and each one after it. `None` if the request is denied and
    /// nothing is charged.
    pub paid: Option<usize>,
    /// The decision of each limit, in the order of the requests. The limits after the one that paid are charged in any case,
    /// so they may deny.
    pub limits: Vec<Decision>,
}

impl Shared {
    /// Whether one of the limits paid.
    pub const fn allowed(&self) -> bool {
        self.paid.is_some()
    }

    /// The place and the decision of the limit that paid; of a denial those of the limit that allows the request first.
    /// `None` if there are no limits.
    pub fn decision(&self) -> Option<(usize, &Decision)> {
        match self.paid {
            Some(paid) => self.limits.get(paid).map(|decision| (paid, decision)),
            None => self.limits.iter().enumerate().min_by_key(|(_, decision)| decision.allowed_at_ms()),
        }
    }
}

impl From<Decision> for Decisions {
    fn from(decision: Decision) -> Self {
        Self { allowed: decision.allowed, limits: vec![decision] }
    }
}

/// Of limits that were checked each by itself: what one that allows has charged stays charged.
impl FromIterator<Decision> for Decisions {
    fn from_iter<I: IntoIterator<Item = Decision>>(decisions: I) -> Self {
        let limits: Vec<_> = decisions.into_iter().collect();
        Self { allowed: limits.iter().all(|decision| decision.allowed), limits }
    }
}

/// The strictest decision: denied before allowed, then the longest wait, then the least remaining.
pub(crate) fn strictest(decisions: &[Decision]) -> Option<&Decision> {
    decisions.iter().min_by_key(|decision| (decision.allowed, Reverse(decision.retry_after), decision.remaining))
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: Policy = Policy::leaky(Duration::from_secs(60), 5);

    #[test]
    fn a_wait_that_is_not_over_is_a_millisecond_at_least() {
        let [long, short] = [5, 1].map(Duration::from_millis);
        let denied = Decision {
            reset_after: Some(Duration::ZERO),
            ..Decision::of_fallback(&POLICY, false, 0, RetryAfter::After(long))
        };
        let later = denied.later(2 * long, Source::RememberedDenial);
        let times = (later.retry_after, later.next, later.reset_after);
        assert_eq!(times, (RetryAfter::After(short), Some(short), Some(Duration::ZERO)));
    }

    #[test]
    fn the_longest_delay_counts() {
        let decision = Decision::of_fallback(&POLICY, true, 1, RetryAfter::Now);
        let delayed = [3, 5, 0].map(|seconds| Decision { delay: Duration::from_secs(seconds), ..decision });
        assert_eq!(Decisions::from_iter(delayed).delay(), Duration::from_secs(5));
    }
}
