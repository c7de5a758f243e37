//! A remembered denial in few bytes: its key and its figures in one allocation, and its policy once for all keys.

use std::collections::HashSet;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use quick_cache::Equivalent;
use triomphe::ThinArc;

use crate::denial::Denial;
use crate::decision::{Decision, RetryAfter, Source};
use crate::key::{Bounded, State};
use crate::policy::Policy;

/// The figures of a denial, each as an integer of one to ten bytes.
const FIGURES: usize = 10;

/// A denial and its key. Equal to all denials of the same state.
#[derive(Clone, Debug)]
pub struct Packed(ThinArc<Head, u8>);

/// What is before the length of the figures, the figures and the key.
#[derive(Debug)]
struct Head {
    policy: Arc<Policy>,
    /// How many requests were denied without the server.
    denied: AtomicU64,
}

impl Packed {
    /// `None` if the request was sent before `start`, or if a figure is missing.
    pub fn new(policy: Arc<Policy>, key: &[u8], denial: &Denial, start: Instant, denied: u64) -> Option<Self> {
        let Decision { count, limit, remaining, retry_after, next, reset_after, delay, now_ms, .. } = denial.decision;
        let sent = u64::try_from(denial.sent.checked_duration_since(start)?.as_nanos()).ok()?;
        // One more, since 0 is never.
        let or_never = |time: Option<Duration>| time.map_or(0, |time| millis(time).saturating_add(1));
        let wait = match retry_after {
            RetryAfter::Now => return None,
            RetryAfter::After(wait) => or_never(Some(wait)),
            RetryAfter::Never => 0,
        };
        let figures: [u64; FIGURES] = [
            denial.cost << 1 | u64::from(denial.always),
            sent,
            count.cast_unsigned(),
            limit,
            remaining,
            wait,
            or_never(next),
            or_never(reset_after),
            millis(delay),
            now_ms,
        ];
        let mut bytes = Vec::with_capacity(1 + FIGURES * 10 + key.len());
        bytes.push(0);
        figures.into_iter().for_each(|figure| push(&mut bytes, figure));
        bytes[0] = u8::try_from(bytes.len()).ok()?;
        bytes.extend_from_slice(key);
        Some(Self(ThinArc::from_header_and_slice(Head { policy, denied: AtomicU64::new(denied) }, &bytes)))
    }

    /// The denial, of which a request is sent again after `recheck`.
    pub fn denial(&self, start: Instant, recheck: Duration) -> Option<Denial> {
        let (figures, _) = self.parts()?;
        let mut figures = figures.get(1..)?;
        let mut next = || pull(&mut figures);
        let or_never = |millis: u64| millis.checked_sub(1).map(Duration::from_millis);
        let (cost, sent) = (next()?, start.checked_add(Duration::from_nanos(next()?))?);
        let decision = Decision {
            allowed: false,
            charged: 0,
            count: next()?.cast_signed(),
            limit: next()?,
            remaining: next()?,
            retry_after: or_never(next()?).map_or(RetryAfter::Never, RetryAfter::After),
            next: or_never(next()?),
            reset_after: or_never(next()?),
            delay: Duration::from_millis(next()?),
            now_ms: next()?,
            shadow: false,
            source: Source::Server,
            policy: *self.0.header.header.policy,
        };
        Denial::of(decision, cost >> 1, cost & 1 == 1, sent, recheck)
    }

    pub fn key(&self) -> &[u8] {
        self.parts().map_or(&[], |(_, key)| key)
    }

    /// Counts a request that it denied.
    pub fn count(&self) {
        self.0.header.header.denied.fetch_add(1, Ordering::Relaxed);
    }

    pub fn denied(&self) -> u64 {
        self.0.header.header.denied.load(Ordering::Relaxed)
    }

    /// Whether both are the same denial, and not another one that took its place.
    pub fn is(&self, other: &Self) -> bool {
        std::ptr::eq(&raw const self.0.header, &raw const other.0.header)
    }

    /// How much memory it takes, with the counter of those who hold it and what an allocator adds, and where its policy is.
    #[cfg(test)]
    pub fn memory(&self) -> (usize, *const Policy) {
        ((8 + size_of_val(&*self.0) + 8).next_multiple_of(16), Arc::as_ptr(&self.0.header.header.policy))
    }

    fn parts(&self) -> Option<(&[u8], &[u8])> {
        self.0.slice.split_at_checked(usize::from(*self.0.slice.first()?))
    }

    /// Calls `see` with the state whose requests it denies.
    fn state<T>(&self, see: impl FnOnce(&State<'_>) -> T) -> T {
        see(&State::new(&self.0.header.header.policy, &Bounded::known(self.key())))
    }
}

impl Hash for Packed {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.state(|state| state.hash(hasher));
    }
}

impl PartialEq for Packed {
    fn eq(&self, other: &Self) -> bool {
        self.state(|state| other.state(|other| state == other))
    }
}

impl Eq for Packed {}

/// A state to look for.
#[derive(Hash)]
pub struct Lookup<'a>(pub State<'a>);

impl Equivalent<Packed> for Lookup<'_> {
    fn equivalent(&self, packed: &Packed) -> bool {
        packed.state(|state| self.0 == *state)
    }
}

/// The policies of denials that are remembered, each once.
#[derive(Debug, Default)]
pub struct Policies(Mutex<HashSet<Arc<Policy>>>);

impl Policies {
    pub fn shared(&self, policy: &Policy) -> Arc<Policy> {
        let mut known = self.0.lock();
        if let Some(policy) = known.get(policy) {
            return Arc::clone(policy);
        }
        if known.len() == known.capacity() {
            // Those of no denial any more make place.
            known.retain(|policy| Arc::strong_count(policy) > 1);
            let alive = known.len();
            known.reserve(alive + 1);
        }
        let policy = Arc::new(*policy);
        known.insert(Arc::clone(&policy));
        policy
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Appends an integer, seven bits in a byte. The highest bit says that more follow.
fn push(bytes: &mut Vec<u8>, mut figure: u64) {
    while figure > 0x7f {
        bytes.push((figure & 0x7f) as u8 | 0x80);
        figure >>= 7;
    }
    bytes.push(figure as u8);
}

/// Takes the next integer.
fn pull(bytes: &mut &[u8]) -> Option<u64> {
    let mut figure = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        figure |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(figure);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Small figures and large ones.
    fn figure() -> impl Strategy<Value = u64> {
        (any::<u64>(), 0..64u32).prop_map(|(figure, shift)| figure >> shift)
    }

    fn time() -> impl Strategy<Value = Duration> {
        figure().prop_map(|millis| Duration::from_millis(millis / 2))
    }

    proptest! {
        #[test]
        fn what_is_packed_is_the_same_denial(
            (count, limit, remaining, now_ms, cost, sent) in (any::<i64>(), figure(), figure(), figure(), figure(), figure()),
            (wait, next, reset_after, delay) in (proptest::option::of(time()), proptest::option::of(time()), proptest::option::of(time()), time()),
            (always, key) in (any::<bool>(), proptest::collection::vec(any::<u8>(), 0..300)),
        ) {
            const POLICY: Policy = Policy::gcra(Duration::from_secs(60), 100);
            let (start, recheck) = (Instant::now(), Duration::from_secs(10));
            let retry_after = wait.map_or(RetryAfter::Never, RetryAfter::After);
            let decision = Decision::of_fallback(&POLICY, false, 0, retry_after);
            let source = Source::Server;
            let decision = Decision { count, limit, remaining, next, reset_after, delay, now_ms, source, ..decision };
            let sent = start + Duration::from_nanos(sent / 4);
            let Some(denial) = Denial::of(decision, cost / 2, always, sent, recheck) else { return Ok(()) };
            let packed = Packed::new(Arc::new(POLICY), &key, &denial, start, 7).unwrap();
            prop_assert_eq!(packed.denial(start, recheck), Some(denial));
            prop_assert_eq!((packed.key(), packed.denied()), (&*key, 7));
        }
    }

    #[test]
    fn policies_of_no_denial_make_place() {
        let policies = Policies::default();
        let held = policies.shared(&Policy::gcra(Duration::from_secs(60), 1));
        for limit in 2..10_000 {
            policies.shared(&Policy::gcra(Duration::from_secs(60), limit));
        }
        assert!(policies.0.lock().capacity() < 10);
        assert!(Arc::ptr_eq(&held, &policies.shared(&held.clone())));
    }
}
