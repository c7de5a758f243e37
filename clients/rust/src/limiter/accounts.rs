//! The table of what this process knows of each key: an [`Account`], what the server counts by its last reply, and the local
//! limit. Each part of the table has a lock.

use std::cmp::Reverse;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use foldhash::fast::RandomState;
use indexmap::IndexMap;
use parking_lot::Mutex;
use redis_rl_algorithm::Micros;
use tokio::sync::oneshot;

use super::account::{Account, Caller};
use super::denial::Denial;
use super::local::{self, Local};
use crate::decision::Decision;
use crate::error::Error;
use crate::key::State;
use crate::policy::{Policy, Request};

/// In how many parts the table is, by the hash of the key.
const PARTS: usize = 64;
/// The most keys of a part.
const MAX_KEYS: usize = 100_000_usize.div_ceil(PARTS);
/// The most bytes that the local limits of a part take.
const MAX_BYTES: usize = (64 << 20) / PARTS;
/// How many keys are looked at for one that can be forgotten.
const LOOKS: usize = 64;

/// Where a request waits for its decision.
#[derive(Debug)]
pub struct Answer(pub oneshot::Sender<Result<Decision, Error>>);

impl Caller for Answer {
    fn is_gone(&self) -> bool {
        self.0.is_closed()
    }
}

#[derive(Debug)]
pub struct Accounts {
    parts: [Mutex<Part>; PARTS],
    hasher: RandomState,
    /// How many denials are remembered, and how many may be.
    denials: AtomicUsize,
    most_denials: usize,
    /// After how long a denial is rechecked.
    pub recheck: Duration,
}

#[derive(Debug, Default)]
struct Part {
    keys: IndexMap<State<'static>, Entry, RandomState>,
    /// The number of the key that is looked at next for one that can be forgotten.
    next: usize,
    /// How many bytes the local limits take.
    bytes: usize,
}

/// What is known of one key.
#[derive(Debug, Default)]
pub struct Entry {
    pub account: Account<Answer>,
    /// How many units the server counts by its last reply, and when the last of them stops counting.
    used: Option<(u64, Instant)>,
    local: Option<Box<Local>>,
    /// A task gives back what is left of grants.
    pub is_kept: bool,
}

/// A key whose remembered denial denies requests.
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

impl Entry {
    /// Notes what the server counts.
    pub fn note(&mut self, decision: &Decision, now: Instant) {
        let used = if decision.shadow { 0 } else { decision.limit.saturating_sub(decision.remaining) };
        // Units that never come back count for as long as a denial is remembered.
        let resets_at = now.checked_add(decision.reset_after.unwrap_or(super::denial::LONGEST));
        self.used = resets_at.filter(|_| used > 0).map(|at| (used, at));
    }

    /// Whether this key can be forgotten, and whether that loses nothing.
    fn is_idle(&self, now: Instant) -> Option<bool> {
        let counts = self.used.is_some_and(|(_, until)| now < until) || self.account.denied.is_some();
        (self.account.is_idle() && self.local.is_none()).then_some(!counts)
    }
}

impl Part {
    /// The number of a key.
    fn find<'k>(&self, state: &State<'k>) -> Option<usize> {
        // A key that lives for longer is also one that lives as long as this.
        let keys: &IndexMap<State<'k>, Entry, RandomState> = &self.keys;
        keys.get_index_of(state)
    }

    /// The numbers of the keys that are looked at next.
    fn walk(&mut self) -> impl Iterator<Item = usize> + use<> {
        let (len, first) = (self.keys.len().max(1), self.next);
        self.next = (first + LOOKS) % len;
        (0..LOOKS.min(len)).map(move |step| (first + step) % len)
    }

    /// Looks at some keys: forgets local limits that count nothing any more by this clock. Returns the number of a key that
    /// can be forgotten; of one that loses nothing, if there is one.
    fn look(&mut self, now: Instant, clock: Option<Micros>) -> Option<usize> {
        let mut idle = None;
        for at in self.walk() {
            let Some((_, entry)) = self.keys.get_index_mut(at) else { continue };
            if let Some(local) = entry.local.take_if(|local| clock.is_some_and(|clock| local.is_over(clock))) {
                self.bytes = self.bytes.saturating_sub(local.bytes);
            }
            idle = idle.max(entry.is_idle(now).map(|loses_nothing| (loses_nothing, at)));
            if clock.is_none() && matches!(idle, Some((true, _))) {
                break;
            }
        }
        idle.map(|(_, at)| at)
    }

    /// What is known of a key, and its number. A key that is not there is added; `None` if there is no place for it. The
    /// places of denials that are forgotten for it are counted off.
    fn entry(
        &mut self,
        state: &State<'_>,
        now: Instant,
        clock: Option<Micros>,
        denials: &AtomicUsize,
    ) -> Option<(usize, &mut Entry)> {
        let at = match self.find(state) {
            Some(at) => at,
            None => {
                if self.keys.len() >= MAX_KEYS {
                    let idle = self.look(now, clock)?;
                    let (_, forgotten) = self.keys.swap_remove_index(idle)?;
                    denials.fetch_sub(usize::from(forgotten.account.denied.is_some()), Ordering::Relaxed);
                }
                self.keys.insert_full(state.clone().kept(), Entry::default()).0
            }
        };
        self.keys.get_index_mut(at).map(|(_, entry)| (at, entry))
    }

    /// Of the denials that are looked at next, forgets the one that has denied the fewest requests, but not that of `kept`.
    /// Returns whether it found one.
    fn forgets_denial(&mut self, kept: usize) -> bool {
        let others = self.walk().filter(|at| *at != kept);
        let least = others.filter_map(|at| Some((self.keys.get_index(at)?.1.account.denied.as_ref()?.count, at))).min();
        let entry = least.and_then(|(_, at)| self.keys.get_index_mut(at));
        entry.map(|(_, entry)| entry.account.denied = None).is_some()
    }
}

impl Accounts {
    /// Remembers the denials of at most so many keys, and asks about one again after `recheck`.
    pub fn new(most_denials: usize, recheck: Duration) -> Self {
        Self {
            parts: std::array::from_fn(|_| Mutex::default()),
            hasher: RandomState::default(),
            denials: AtomicUsize::new(0),
            most_denials,
            recheck,
        }
    }

    fn part(&self, state: &State<'_>) -> &Mutex<Part> {
        &self.parts[self.hasher.hash_one(state.key()) as usize % PARTS]
    }

    /// Changes what is known of a key. If the table has no room for the key, the change is not kept.
    pub fn with<T>(&self, state: &State<'_>, now: Instant, change: impl FnOnce(&mut Entry) -> T) -> T {
        let mut part = self.part(state).lock();
        let Some((at, entry)) = part.entry(state, now, None, &self.denials) else {
            return change(&mut Entry::default());
        };
        let before = entry.account.denied.is_some();
        let changed = change(entry);
        match (before, entry.account.denied.is_some()) {
            (false, true) if self.denials.fetch_add(1, Ordering::Relaxed) >= self.most_denials => {
                if !part.forgets_denial(at)
                    && let Some((_, entry)) = part.keys.get_index_mut(at)
                {
                    entry.account.denied = None;
                }
                self.denials.fetch_sub(1, Ordering::Relaxed);
            }
            (true, false) => _ = self.denials.fetch_sub(1, Ordering::Relaxed),
            _ => {}
        }
        changed
    }

    /// [`with`](Self::with), of the key of a request.
    pub fn of<T>(&self, request: &Request<'_>, now: Instant, change: impl FnOnce(&mut Entry) -> T) -> T {
        self.with(&State::of(request), now, change)
    }

    /// Decides on a request in this process. `None` if the table is full and does not have its key.
    pub fn decide_locally(
        &self,
        request: &Request<'_>,
        instances: u32,
        now: Instant,
        clock: Micros,
    ) -> Option<Decision> {
        let state = State::of(request);
        let mut part = self.part(&state).lock();
        let (at, entry) = part.entry(&state, now, Some(clock), &self.denials)?;
        if entry.local.is_none() {
            let bytes = local::bytes(request, instances);
            if part.bytes + bytes > MAX_BYTES {
                part.look(now, Some(clock));
            }
            part.bytes = Some(part.bytes + bytes).filter(|bytes| *bytes <= MAX_BYTES)?;
        }
        let (_, entry) = part.keys.get_index_mut(at)?;
        let used = entry.used.filter(|(_, until)| now < *until).map_or(0, |(used, _)| used);
        let local = entry.local.get_or_insert_with(|| Box::new(Local::new(request, instances, used, clock)));
        Some(local.decide(request, instances, clock))
    }

    pub fn give_back_locally(&self, request: &Request<'_>, instances: u32, units: u64, clock: Micros) {
        let state = State::of(request);
        let mut part = self.part(&state).lock();
        let entry = part.find(&state).and_then(|at| part.keys.get_index_mut(at));
        if let Some(local) = entry.and_then(|(_, entry)| entry.local.as_mut()) {
            local.give_back(request, instances, units, clock);
        }
    }

    /// The keys whose denials denied the most requests, at most `most`. Looks at all of them.
    pub fn top(&self, most: usize, now: Instant) -> Vec<TopDenial> {
        let mut all = Vec::new();
        for part in &self.parts {
            for (state, entry) in &part.lock().keys {
                let denies = |denied: &&Denial| denied.count > 0 && denied.until > now;
                if let Some(denied) = entry.account.denied.as_deref().filter(denies) {
                    let (policy, count, ends_in) = (denied.decision.policy, denied.count, denied.until - now);
                    all.push(TopDenial { key: state.key().to_vec(), policy, count, ends_in });
                }
            }
        }
        all.sort_by_key(|top| Reverse(top.count));
        all.truncate(most);
        all
    }

    /// The keys of a policy that have an account.
    pub fn keys(&self, policy: &Policy) -> Vec<State<'static>> {
        let of = |part: &Mutex<Part>| {
            part.lock().keys.keys().filter(|state| state.is_of(policy)).cloned().collect::<Vec<_>>()
        };
        self.parts.iter().flat_map(of).collect()
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::decision::{RetryAfter, Source};

    const HOUR: Duration = Duration::from_secs(3600);
    const POLICY: Policy = Policy::token(HOUR, 10);

    /// Takes in that the server denies a request for an hour.
    pub fn deny(accounts: &Accounts, request: &Request<'_>, now: Instant) {
        let decision = Decision::of_fallback(request.policy, false, 0, RetryAfter::After(HOUR));
        let decision = Decision { source: Source::Server, ..decision };
        accounts.of(request, now, |entry| {
            let sent = entry.account.begin(None, now);
            entry.account.learn(request, sent, &decision, HOUR, now);
        });
    }

    fn is_denied(accounts: &Accounts, key: &str, now: Instant) -> bool {
        let request = POLICY.request(key);
        accounts.of(&request, now, |entry| entry.account.held(&request, now)).is_some()
    }

    #[test]
    fn the_denials_of_so_many_keys_are_remembered() {
        let now = Instant::now();
        for most in [0, 1, 1_000] {
            let accounts = Accounts::new(most, HOUR);
            let keys: Vec<_> = (0..3_000).map(|n| format!("user:{n}")).collect();
            for key in &keys {
                deny(&accounts, &POLICY.request(key), now);
            }
            let denied = keys.iter().filter(|key| is_denied(&accounts, key, now)).count();
            assert_eq!((denied, accounts.denials.load(Ordering::Relaxed)), (most, most));
        }
    }

    #[test]
    fn the_keys_that_deny_most_come_first() {
        let (accounts, now) = (Accounts::new(10, HOUR), Instant::now());
        for (key, times) in [("once", 1), ("often", 3), ("over", 9), ("never", 0)] {
            deny(&accounts, &POLICY.request(key), now);
            assert!((0..times).all(|_| is_denied(&accounts, key, now)));
        }
        accounts.of(&POLICY.request("over"), now, |entry| entry.account.forget());
        let top = accounts.top(9, now).into_iter().map(|top| (top.key, top.count));
        assert_eq!(top.collect::<Vec<_>>(), [(b"often".to_vec(), 3), (b"once".to_vec(), 1)]);
        assert_eq!(accounts.top(1, now).len(), 1);
        assert!(accounts.top(9, now + HOUR).is_empty());
    }

    #[test]
    fn a_full_table_denies_new_keys_until_something_in_it_has_ended() {
        let policy = Policy::fixed(Duration::from_secs(1), 5);
        let (accounts, now) = (Accounts::new(10, HOUR), Instant::now());
        let decide = |key: &str, clock| accounts.decide_locally(&policy.request(key), 1, now, clock);
        let begin = Micros::from_millis(1_000_000);
        let keys: Vec<_> = (0..2 * MAX_KEYS * PARTS).map(|n| n.to_string()).collect();
        let counted = keys.iter().filter(|key| decide(key, begin).is_some_and(|decision| decision.allowed)).count();
        assert!(counted <= MAX_KEYS * PARTS && counted > MAX_KEYS * PARTS / 2, "{counted}");
        // Those that are known go on.
        let Some(decision) = decide(&keys[0], begin) else { panic!("it is forgotten") };
        assert!(decision.allowed);
        let later = begin.plus(2_000_000);
        assert!(keys.iter().rev().take(1_000).all(|key| decide(key, later).is_some()));
    }
}
