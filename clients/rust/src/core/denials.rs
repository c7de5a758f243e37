//! Denials of the server that are remembered, so that the same request is not sent again.
//!
//! The reply to a denied request says exactly when the same request would be allowed. Until then, this client denies each
//! request that costs as much or more. It counts the wait from when the request was sent, since the server decided later,
//! and less one millisecond, since the server rounds up. So a client that is alone on a key never denies what the server
//! would allow. Other clients can only make the wait longer, unless they give units back.

mod packed;

use std::cmp::Reverse;
use std::collections::HashSet;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use foldhash::fast::RandomState;
use parking_lot::Mutex;
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, UnitWeighter};

use crate::decision::Decision;
use crate::denial::{Denial, LONGEST};
use crate::key::{Bounded, State};
use crate::policy::{Policy, Request};
use packed::{Lookup, Packed, Policies};

/// In how many parts the keys are, by their hash.
const PARTS: usize = 64;

#[derive(Debug)]
pub struct Denials {
    /// The key of the table is a part of its value.
    cache: Cache<Packed, Packed>,
    policies: Policies,
    /// After how long a request is sent again.
    recheck: Duration,
    /// Before any request.
    start: Instant,
    hasher: RandomState,
    parts: Arc<[Part; PARTS]>,
}

/// What is known of all keys of one hash.
#[derive(Debug, Default)]
struct Part {
    /// Counts what was given back.
    generation: AtomicU32,
    /// The denials whose requests are sent again, and have no reply yet.
    rechecked: Mutex<HashSet<Packed>>,
}

/// A request that a remembered denial denies.
#[derive(Debug)]
pub struct Recalled {
    decision: Decision,
    by: Packed,
}

impl Recalled {
    /// Counts it.
    pub fn counted(self) -> Decision {
        self.by.count();
        self.decision
    }
}

/// The time at which a request is sent, and what had been given back by then.
#[derive(Debug)]
pub struct SentAt {
    at: Instant,
    generation: u32,
    recheck: Option<Recheck>,
}

/// A request that is sent although a denial is remembered: the only one of its key. Dropped when the reply is learned, or
/// when there is none.
#[derive(Debug)]
struct Recheck {
    parts: Arc<[Part; PARTS]>,
    part: usize,
    of: Packed,
}

impl Drop for Recheck {
    fn drop(&mut self) {
        self.parts[self.part].rechecked.lock().remove(&self.of);
    }
}

/// What is known of a request without sending it.
struct Known {
    entry: Packed,
    is_due: bool,
    decision: Decision,
}

impl Known {
    fn recalled(self) -> Recalled {
        Recalled { decision: self.decision, by: self.entry }
    }
}

/// A key whose remembered denial denies requests: [`Limiter::top_denials`](crate::Limiter::top_denials).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TopDenial {
    /// The key as it is sent: see [`bounded`](crate::bounded).
    pub key: Vec<u8>,
    /// The policy that denies.
    pub policy: Policy,
    /// How many requests were denied without the server. A minute after the last denial of the key ended, it begins anew.
    pub count: u64,
    /// When the denial ends. A later reply may make that sooner or later.
    pub ends_in: Duration,
}

impl Denials {
    /// Remembers the denials of at most `capacity` keys, with 0 of none, and sends a request again after `recheck`.
    pub fn new(capacity: usize, recheck: Duration) -> Self {
        let mut options = OptionsBuilder::new();
        // Of the keys that made place, a hash is kept that takes as much of the table as a denial.
        options.estimated_items_capacity(capacity).weight_capacity(capacity as u64).ghost_allocation(0.1);
        let options = options.build().expect("both capacities are given");
        Self {
            cache: Cache::with_options(
                options,
                UnitWeighter,
                DefaultHashBuilder::default(),
                DefaultLifecycle::default(),
            ),
            policies: Policies::default(),
            recheck,
            start: Instant::now(),
            hasher: RandomState::default(),
            parts: Arc::new(std::array::from_fn(|_| Part::default())),
        }
    }

    /// A request at `now` that is to be sent. A denial is asked about again by one request at a time.
    ///
    /// # Errors
    /// It is denied.
    pub fn recall(&self, request: &Request<'_>, now: Instant) -> Result<SentAt, Recalled> {
        let key = request.bounded_key();
        // A reservation may be open already: then the request is allowed.
        let known = if request.reserve.is_some() { None } else { self.known(request, &key, now) };
        let Some(known) = known else { return Ok(self.sent(&key, now, None)) };
        match if known.is_due { self.begin_recheck(&known.entry) } else { None } {
            Some(recheck) => Ok(self.sent(&key, now, Some(recheck))),
            None => Err(known.recalled()),
        }
    }

    /// [`Denials::recall`] of requests that are decided together.
    ///
    /// # Errors
    /// The limits that deny the request.
    pub fn recall_all(&self, requests: &[Request<'_>], now: Instant) -> Result<Vec<SentAt>, Vec<Option<Recalled>>> {
        let keys: Vec<_> = requests.iter().map(Request::bounded_key).collect();
        let of_request = |(request, key): (&Request<'_>, &Bounded<'_>)| {
            if request.reserve.is_some() { None } else { self.known(request, key, now) }
        };
        let known: Vec<_> = requests.iter().zip(&keys).map(of_request).collect();
        // All of them are asked about, or none.
        if known.iter().flatten().all(|known| known.is_due)
            && let Some(rechecks) = self.begin_rechecks(&known)
        {
            return Ok(keys.iter().zip(rechecks).map(|(key, recheck)| self.sent(key, now, recheck)).collect());
        }
        Err(known.into_iter().map(|known| known.map(Known::recalled)).collect())
    }

    /// Whether a request is denied at `now` that the server cannot decide. A denial holds until its own end then, whether it
    /// is to be asked about again or not.
    pub fn hold(&self, request: &Request<'_>, now: Instant) -> Option<Recalled> {
        self.known(request, &request.bounded_key(), now).map(Known::recalled)
    }

    /// Takes a decision of the server in.
    pub fn learn(&self, request: &Request<'_>, sent: &SentAt, decision: &Decision) {
        if decision.allowed && sent.recheck.is_none() {
            return;
        }
        let key = request.bounded_key();
        // Units were given back since, so the decision may be older than that.
        if self.part(&key).1.generation.load(Ordering::Acquire) != sent.generation {
            return;
        }
        let state = Lookup(State::new(request.policy, &key));
        match (Denial::new(request, sent.at, decision, self.recheck), &sent.recheck) {
            (Some(denial), _) => {
                let goes_on = |old: &Packed| self.denial(old).is_some_and(|old| old.until + LONGEST > sent.at);
                let denied = self.cache.peek(&state).filter(goes_on).map_or(0, |old| old.denied());
                let policy = self.policies.shared(request.policy);
                if let Some(packed) = Packed::new(policy, &key, &denial, self.start, denied) {
                    self.cache.insert(packed.clone(), packed);
                }
            }
            // The denial that it asked about is over. Another one may have taken its place since.
            (None, Some(recheck)) => {
                self.cache.remove_if(&state, |entry| entry.is(&recheck.of));
            }
            (None, None) => {}
        }
    }

    /// Forgets what is known of a key, because units were given back.
    pub fn forget(&self, policy: &Policy, key: &Bounded<'_>) {
        self.part(key).1.generation.fetch_add(1, Ordering::AcqRel);
        self.cache.remove(&Lookup(State::new(policy, key)));
    }

    /// The keys whose denials denied the most requests, at most `most`. Looks at all of them.
    pub fn top(&self, most: usize, now: Instant) -> Vec<TopDenial> {
        let in_force = self.cache.iter().filter_map(|(entry, _)| {
            let (denial, count) = (self.denial(&entry)?, entry.denied());
            let ends_in = denial.until.checked_duration_since(now).filter(|rest| !rest.is_zero())?;
            let top = || TopDenial { key: entry.key().to_vec(), policy: denial.decision.policy, count, ends_in };
            (count > 0).then(top)
        });
        let mut all: Vec<_> = in_force.collect();
        all.sort_by_key(|top| Reverse(top.count));
        all.truncate(most);
        all
    }

    fn denial(&self, packed: &Packed) -> Option<Denial> {
        packed.denial(self.start, self.recheck)
    }

    fn known(&self, request: &Request<'_>, key: &Bounded<'_>, now: Instant) -> Option<Known> {
        let entry = self.cache.get(&Lookup(State::new(request.policy, key)))?;
        let denial = self.denial(&entry)?;
        let decision = denial.recall(request, now)?;
        Some(Known { entry, is_due: denial.is_due(now), decision })
    }

    fn sent(&self, key: &Bounded<'_>, at: Instant, recheck: Option<Recheck>) -> SentAt {
        SentAt { at, generation: self.part(key).1.generation.load(Ordering::Acquire), recheck }
    }

    /// Begins to recheck a denial, unless one of its key is rechecked already.
    fn begin_recheck(&self, entry: &Packed) -> Option<Recheck> {
        let (at, part) = self.part(entry.key());
        let begins = part.rechecked.lock().insert(entry.clone());
        begins.then(|| Recheck { parts: Arc::clone(&self.parts), part: at, of: entry.clone() })
    }

    /// Begins to recheck all denials that are known, unless one of them is rechecked already. Two limits may have one key.
    fn begin_rechecks(&self, known: &[Option<Known>]) -> Option<Vec<Option<Recheck>>> {
        let mut all: Vec<Option<Recheck>> = Vec::with_capacity(known.len());
        for known in known {
            let recheck = match known {
                Some(Known { entry, .. }) if !all.iter().flatten().any(|recheck| recheck.of == *entry) => {
                    Some(self.begin_recheck(entry)?)
                }
                _ => None,
            };
            all.push(recheck);
        }
        Some(all)
    }

    /// The part of a key, and its number.
    fn part(&self, key: &[u8]) -> (usize, &Part) {
        let at = self.hasher.hash_one(key) as usize % PARTS;
        (at, &self.parts[at])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WINDOW: Duration = Duration::from_millis(200);
    const LIMIT: u64 = 8;
    const POLICY: Policy = Policy::gcra(WINDOW, LIMIT);
    /// A unit comes back in each interval.
    const INTERVAL_MS: u64 = 25;

    /// A server whose clock ticks once a millisecond: 8 units of 25 ms.
    #[derive(Default)]
    struct Oracle {
        /// When all units are back.
        full_at: u64,
    }

    impl Oracle {
        /// 0 if the cost is allowed in this millisecond; else the time until it is; `None` for never.
        fn wait(&self, now_ms: u64, cost: u64) -> Option<u64> {
            let end = self.full_at.max(now_ms) + cost * INTERVAL_MS;
            (cost <= LIMIT).then(|| end.saturating_sub(now_ms + LIMIT * INTERVAL_MS))
        }

        fn charge(&mut self, now_ms: u64, cost: u64) {
            self.full_at = self.full_at.max(now_ms) + cost * INTERVAL_MS;
        }

        fn refund(&mut self, cost: u64) {
            self.full_at = self.full_at.saturating_sub(cost * INTERVAL_MS);
        }
    }

    fn decision(allowed: bool, wait: Option<u64>) -> Decision {
        let retry_after = match wait {
            Some(0) => RetryAfter::Now,
            Some(wait) => RetryAfter::After(Duration::from_millis(wait)),
            None => RetryAfter::Never,
        };
        Decision::of_fallback(&POLICY, allowed, 0, retry_after)
    }

    #[derive(Clone, Debug)]
    struct Event {
        pause_us: u64,
        /// On the way to the server, and back.
        travel_us: [u64; 2],
        cost: u64,
        refund: bool,
    }

    fn event() -> impl Strategy<Value = Event> {
        let travel = prop_oneof![0..500u64, 0..40_000u64];
        (0..30_000u64, [travel.clone(), travel], 1..=LIMIT + 1, prop::bool::weighted(0.1))
            .prop_map(|(pause_us, travel_us, cost, refund)| Event { pause_us, travel_us, cost, refund })
    }

    /// What is sent of a request, if it is.
    fn sent(denials: &Denials, request: &Request<'_>, at: Instant) -> Option<SentAt> {
        denials.recall(request, at).ok()
    }

    proptest! {
        /// A lone client with any travel times: what is denied locally, the server would deny at that moment.
        #[test]
        fn never_denies_what_the_server_would_allow(events in prop::collection::vec(event(), 1..200)) {
            let (denials, mut oracle) = (Denials::new(100, LONGEST), Oracle::default());
            let (start, mut clock_us) = (Instant::now(), 1_000_000);
            let at = |micros: u64| start + Duration::from_micros(micros);
            for Event { pause_us, travel_us, cost, refund } in events {
                clock_us += pause_us;
                let request = POLICY.request("k").cost(cost);
                if refund {
                    oracle.refund(cost);
                    denials.forget(&POLICY, &Bounded::new(b"k"));
                    continue;
                }
                let Some(sent) = sent(&denials, &request, at(clock_us)) else {
                    prop_assert_ne!(oracle.wait(clock_us / 1_000, cost), Some(0));
                    continue;
                };
                clock_us += travel_us[0];
                let wait = oracle.wait(clock_us / 1_000, cost);
                let allowed = wait == Some(0);
                if allowed {
                    oracle.charge(clock_us / 1_000, cost);
                }
                clock_us += travel_us[1];
                denials.learn(&request, &sent, &decision(allowed, wait));
                if !allowed {
                    // It is remembered, unless it is over already.
                    let over = wait.is_some_and(|wait| wait * 1_000 <= travel_us[0] + travel_us[1] + 1_000);
                    prop_assert!(over || denials.hold(&request, at(clock_us)).is_some());
                }
            }
        }
    }

    #[test]
    fn a_denial_that_is_older_than_a_refund_is_not_remembered() {
        let (denials, now, request) = (Denials::new(100, LONGEST), Instant::now(), POLICY.request("k"));
        let old = sent(&denials, &request, now).unwrap();
        denials.forget(&POLICY, &Bounded::new(b"k"));
        denials.learn(&request, &old, &decision(false, Some(100)));
        let new = sent(&denials, &request, now).unwrap();
        denials.learn(&request, &new, &decision(false, Some(100)));
        assert!(sent(&denials, &request, now).is_none());
        let none = Denials::new(0, LONGEST);
        none.learn(&request, &sent(&none, &request, now).unwrap(), &decision(false, Some(100)));
        assert!(sent(&none, &request, now).is_some());
    }

    const RECHECK: Duration = Duration::from_secs(10);
    const HOUR_MS: u64 = 3_600_000;

    /// Denials of keys at a time, and the time when they are to be asked about again.
    fn denied(keys: &[&str]) -> (Denials, Instant) {
        let (denials, now) = (Denials::new(100, RECHECK), Instant::now());
        for key in keys {
            let request = POLICY.request(key);
            denials.learn(&request, &sent(&denials, &request, now).unwrap(), &decision(false, Some(HOUR_MS)));
        }
        (denials, now + RECHECK)
    }

    #[test]
    fn one_request_at_a_time_asks_again() {
        let ((denials, due), request) = (denied(&["k"]), POLICY.request("k").cost(2));
        let ask = |at| sent(&denials, &request, at);
        let millisecond = Duration::from_millis(1);
        assert!(ask(due - millisecond).is_none());
        let first = ask(due).unwrap();
        assert!(ask(due).is_none());
        // No reply: the denial stays, also for the request that asked, and the next one asks.
        drop(first);
        assert!(denials.hold(&request, due).is_some());
        let second = ask(due).unwrap();
        denials.learn(&request, &second, &decision(false, Some(HOUR_MS)));
        drop(second);
        // It is denied anew, for as long again.
        assert!(ask(due + RECHECK - millisecond).is_none());
        let third = ask(due + RECHECK).unwrap();
        assert!(ask(due + RECHECK).is_none());
        denials.learn(&request, &third, &decision(true, Some(0)));
        drop(third);
        let both = [ask(due + RECHECK), ask(due + RECHECK)];
        assert!(both.iter().all(Option::is_some) && denials.hold(&request, due + RECHECK).is_none());
        // Without an answer it ends as ever.
        let (denials, due) = denied(&["k"]);
        let _asks = sent(&denials, &request, due).unwrap();
        assert!(denials.hold(&request, due - RECHECK + LONGEST - millisecond).is_some());
        assert!(denials.hold(&request, due - RECHECK + LONGEST).is_none());
    }

    #[test]
    fn a_reservation_that_may_be_open_is_sent() {
        let (denials, due) = denied(&["k"]);
        let (request, now) = (POLICY.request("k"), due - RECHECK);
        let open = request.reserve("id", WINDOW);
        assert!(sent(&denials, &request, now).is_none() && sent(&denials, &open, now).is_some());
        assert!(denials.recall_all(&[open], now).is_ok());
    }

    #[test]
    fn only_the_denial_that_was_asked_about_is_forgotten() {
        let (denials, due) = denied(&["k"]);
        let [one, two] = [1, 2].map(|cost| POLICY.request("k").cost(cost));
        // A request that costs less is not denied by the second denial, and takes its place.
        denials.forget(&POLICY, &Bounded::new(b"k"));
        let first = sent(&denials, &two, due).unwrap();
        denials.learn(&two, &first, &decision(false, Some(HOUR_MS)));
        let due = due + RECHECK;
        let [asks, less] = [two, one].map(|request| sent(&denials, &request, due).unwrap());
        denials.learn(&one, &less, &decision(false, Some(HOUR_MS)));
        denials.learn(&two, &asks, &decision(true, Some(0)));
        assert!(denials.hold(&two, due).is_some());
    }

    #[test]
    fn limits_that_are_checked_together_are_asked_about_together() {
        let (denials, due) = denied(&["a", "b"]);
        let [a, b, other] = ["a", "b", "other"].map(|key| POLICY.request(key));
        let ask = |requests: &[Request<'_>], at| denials.recall_all(requests, at);
        assert!(ask(&[other, other], due).is_ok());
        assert!(ask(&[other, a, a], due - RECHECK).is_err());
        // While one of them is asked about, the other is not.
        let asks = sent(&denials, &a, due).unwrap();
        let Err(known) = ask(&[b, a, other], due) else { panic!("it is sent") };
        assert_eq!(known.iter().map(Option::is_some).collect::<Vec<_>>(), [true, true, false]);
        drop(asks);
        // Two limits of one key do not wait for each other.
        let all = ask(&[b, a, a, other], due).unwrap();
        assert!(ask(&[b], due).is_err() && ask(&[a], due).is_err());
        for ((request, sent), allowed) in [b, a].iter().zip(&all).zip([true, false]) {
            denials.learn(request, sent, &decision(allowed, Some(HOUR_MS)));
        }
        drop(all);
        assert_eq!([b, a].map(|request| denials.hold(&request, due).is_some()), [false, true]);
        // One that is not due denies the request, so the other is not asked about.
        assert!(ask(&[a, b], due).is_err());
    }

    /// What the memory of a denial is beside the bytes of its key, also where others had to make place.
    #[test]
    fn a_denial_takes_at_most_150_bytes_and_its_key() {
        // Of a reply of the server, with a window of a month.
        let reply = Decision {
            count: 1_000_000,
            limit: 1_000_000,
            next: Some(Duration::from_millis(2_591_999_123)),
            reset_after: Some(Duration::from_millis(2_591_999_123)),
            now_ms: 1_795_500_000_123,
            ..decision(false, Some(2_591_999_123))
        };
        for (capacity, keys) in [(10_000, 10_000), (10_000, 30_000), (1_000_000, 100_000)] {
            let denials = Denials::new(capacity, RECHECK);
            for n in 0..keys {
                let (now, key) = (denials.start + Duration::from_micros(n), format!("user:{n:06}"));
                let request = POLICY.request(&key);
                denials.learn(&request, &sent(&denials, &request, now).unwrap(), &reply);
            }
            let table = denials.cache.memory_used();
            let entries: Vec<_> = denials.cache.iter().map(|(entry, _)| entry).collect();
            let blocks: usize = entries.iter().map(|entry| entry.memory().0 - entry.key().len()).sum();
            let policies: HashSet<_> = entries.iter().map(|entry| entry.memory().1).collect();
            let all = table.entries + table.map + blocks + policies.len() * size_of::<Policy>();
            let each = all / entries.len();
            assert!(each <= 150, "{each} bytes, where {keys} keys were denied and {capacity} are remembered");
        }
    }

    #[test]
    fn the_keys_that_deny_most_come_first() {
        let (denials, due) = denied(&["often", "once", "never", "over"]);
        let now = due - RECHECK;
        let count = |key, times| {
            for _ in 0..times {
                denials.hold(&POLICY.request(key), now).unwrap().counted();
            }
        };
        count("once", 1);
        count("over", 9);
        count("often", 2);
        denials.forget(&POLICY, &Bounded::new(b"over"));
        // The count goes on when a denial takes the place of another.
        let request = POLICY.request("often");
        let asks = sent(&denials, &request, due).unwrap();
        denials.learn(&request, &asks, &decision(false, Some(20_001)));
        count("often", 1);
        let top = |most, at| {
            let top = denials.top(most, at).into_iter();
            top.map(|top| (String::from_utf8(top.key).unwrap(), top.count, top.ends_in.as_secs())).collect::<Vec<_>>()
        };
        assert_eq!(top(9, due), [("often".to_owned(), 3, 20), ("once".to_owned(), 1, 50)]);
        assert_eq!(top(1, due).len(), 1);
        assert_eq!(top(9, due + LONGEST), []);
    }
}
