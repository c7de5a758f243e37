//! Every algorithm with its state in memory: what the module does with a key, without a server. Leases, which have no
//! cost, are [`Holders`]; all others are [`InMemory`].
//!
//! The tests, the fuzzer and the pictures of the documentation use it. A record is kept as the text that the module
//! stores, so each step goes through encoding and decoding.
//!
//! ```
//! use redis_rl_algorithm::{Cost, Micros, Policy, TokenBucket, Window};
//! use redis_rl_algorithm::in_memory::InMemory;
//!
//! let policy = Policy::new(Window::from_millis(60_000).unwrap(), 5);
//! let bucket = TokenBucket::with_policy(&policy).unwrap();
//! let mut key = Default::default();
//! let now = Micros(1_700_000_000_000_000);
//! for remaining in [4, 3, 2, 1, 0] {
//!     let reply = bucket.request(&mut key, now, Cost::ONE).unwrap();
//!     assert!(reply.verdict.allowed);
//!     assert_eq!(reply.figures.remaining, remaining);
//! }
//! let denied = bucket.request(&mut key, now, Cost::ONE).unwrap();
//! assert!(!denied.verdict.allowed);
//! assert_eq!(denied.figures.retry_after_ms, 12_000);
//! bucket.refund(&mut key, now, None, Cost::ONE);
//! assert!(bucket.request(&mut key, now, Cost::ONE).unwrap().verdict.allowed);
//! ```

use std::collections::BTreeMap;
use std::fmt::Debug;

use crate::fixed_window::Counter;
use crate::integer::parse_unsigned;
use crate::lease::{Hold, Leases};
use crate::period::Period;
use crate::record;
use crate::reservation::{self, Book, Ended, Reservation, Standing, Stored};
use crate::rolling_log::{self, Edit};
use crate::sliding_log::LogChange;
use crate::{
    Change, Cost, Decision, Figures, FixedWindow, Forecast, Lease, Micros, Policy, RecordAlgorithm, RollingLog,
    SlidingLog, Unrepresentable, Verdict, Window, WindowCounter,
};

/// The reply to a request.
#[derive(Clone, Copy, Debug)]
pub struct Reply {
    /// The three integers.
    pub verdict: Verdict,
    /// The other figures of FULL.
    pub figures: Figures,
    /// A request that charged nothing has restated the state: [`Change::Rebase`].
    pub rebased: bool,
}

impl Reply {
    fn new<S>(decision: &Decision<S>, forecast: &impl Forecast, now: Micros) -> Self {
        Self {
            verdict: decision.verdict,
            figures: Figures::new(forecast, decision, now),
            rebased: matches!(decision.change, Change::Rebase(_)),
        }
    }
}

/// What an algorithm decides, or the error that the result cannot be represented.
pub type Decided<C> = Result<Decision<C>, Unrepresentable>;
/// What an algorithm changes, or the same error.
pub type Changed<C> = Result<Change<C>, Unrepresentable>;

/// How a request is charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charging {
    /// If the limit allows it.
    IfAllowed,
    /// Whatever the limit says: the option ALWAYS.
    Always,
    /// As a reservation: the option RESERVE. FIXED counts no denial then.
    Reserving,
}

/// An algorithm whose keys are in memory.
///
/// A request is decided, and its change is committed, in two steps, as on a server: a caller can decide several before it
/// commits any. [`InMemory::request`] does both.
pub trait InMemory: Sized {
    /// What a key holds. The default is a key that does not exist.
    type Key: Clone + Debug + Default;
    /// What a decision writes.
    type Change: Clone;

    /// The algorithm under a policy.
    ///
    /// # Errors
    /// [`Unrepresentable`], as the constructor of the algorithm says.
    fn with_policy(policy: &Policy) -> Result<Self, Unrepresentable>;

    /// Removes what a server has removed at `now`: a key whose expiry is over. A server keeps a key through the millisecond
    /// in which it expires.
    fn expire(key: &mut Self::Key, now: Micros);

    /// Removes from the key what counts no more, as every call does that may write it.
    fn prune(&self, _key: &mut Self::Key, _now: Micros) {}

    /// Decides on a request. The key has been pruned.
    ///
    /// # Errors
    /// [`Unrepresentable::Overflow`].
    fn decision(&self, key: &Self::Key, now: Micros, cost: Cost, charging: Charging) -> Decided<Self::Change>;

    /// What gives `cost` units back. `at` is when they were charged, if that is known.
    fn refunding(&self, key: &Self::Key, now: Micros, at: Option<Micros>, cost: Cost) -> Change<Self::Change>;

    /// What charges `cost` units whatever the limit says.
    ///
    /// # Errors
    /// [`Unrepresentable::Overflow`].
    fn overcharging(&self, key: &Self::Key, now: Micros, at: Option<Micros>, cost: Cost) -> Changed<Self::Change>;

    /// Writes a change.
    fn commit(&self, key: &mut Self::Key, change: &Change<Self::Change>, now: Micros);

    /// The figures after a decision, which need not be committed.
    fn figures(&self, key: &Self::Key, decision: &Decision<Self::Change>, now: Micros) -> Figures;

    /// The largest cost that would be allowed at `now`.
    fn remaining(&self, key: &Self::Key, now: Micros) -> u64;

    /// Decides on a request and commits the change.
    ///
    /// # Errors
    /// [`Unrepresentable::Overflow`]. The key is unchanged.
    fn request(&self, key: &mut Self::Key, now: Micros, cost: Cost) -> Result<Reply, Unrepresentable> {
        self.request_charging(key, now, cost, Charging::IfAllowed)
    }

    /// [`InMemory::request`] that is charged in another way.
    ///
    /// # Errors
    /// As [`InMemory::request`].
    fn request_charging(
        &self,
        key: &mut Self::Key,
        now: Micros,
        cost: Cost,
        charging: Charging,
    ) -> Result<Reply, Unrepresentable> {
        self.prune(key, now);
        let decision = self.decision(key, now, cost, charging)?;
        let figures = self.figures(key, &decision, now);
        self.commit(key, &decision.change, now);
        Ok(Reply { verdict: decision.verdict, figures, rebased: matches!(decision.change, Change::Rebase(_)) })
    }

    /// Gives `cost` units back. `at` is when they were charged, if that is known.
    fn refund(&self, key: &mut Self::Key, now: Micros, at: Option<Micros>, cost: Cost) {
        self.prune(key, now);
        let change = self.refunding(key, now, at, cost);
        self.commit(key, &change, now);
    }

    /// Charges `cost` units whatever the limit says.
    ///
    /// # Errors
    /// [`Unrepresentable::Overflow`]. The key is unchanged.
    fn overcharge(
        &self,
        key: &mut Self::Key,
        now: Micros,
        at: Option<Micros>,
        cost: Cost,
    ) -> Result<(), Unrepresentable> {
        self.prune(key, now);
        let change = self.overcharging(key, now, at, cost)?;
        self.commit(key, &change, now);
        Ok(())
    }
}

/// An algorithm whose requests may be charged whatever the limit says: the option ALWAYS. (The module takes it for FIXED,
/// WINDOW, COUNTER, ROLLING and TOKEN.)
///
/// ```
/// use redis_rl_algorithm::in_memory::{Always, InMemory};
/// use redis_rl_algorithm::{Cost, Micros, Policy, Window, WindowCounter};
///
/// let policy = Policy::new(Window::from_millis(60_000).unwrap(), 5);
/// let counter = WindowCounter::with_policy(&policy).unwrap();
/// let (mut key, now) = (None, Micros::from_millis(100_000));
/// let seven = Cost::new(7).unwrap();
/// assert!(!counter.request_always(&mut key, now, seven).unwrap().verdict.allowed);
/// assert_eq!(key.unwrap().value, 7, "charged all the same");
/// ```
pub trait Always: InMemory {
    /// Decides on a request that is charged whatever the limit says, and commits the change. It is allowed if no more
    /// than the limit is counted then.
    ///
    /// # Errors
    /// [`Unrepresentable::Overflow`]. The key is unchanged.
    fn request_always(&self, key: &mut Self::Key, now: Micros, cost: Cost) -> Result<Reply, Unrepresentable> {
        self.request_charging(key, now, cost, Charging::Always)
    }
}

impl<A: RecordAlgorithm> Always for A {}
impl Always for FixedWindow {}
impl Always for WindowCounter {}
impl Always for RollingLog {}

/// A record as the server holds it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StoredRecord {
    /// The value of the key.
    pub text: Vec<u8>,
    /// Its expiry in milliseconds since the epoch; `None` for a key without one.
    pub expires_at: Option<u64>,
}

fn state_of<A: RecordAlgorithm>(key: &Option<StoredRecord>) -> Option<A::State> {
    record::decode::<A>(&key.as_ref()?.text)
}

impl<A: RecordAlgorithm> InMemory for A {
    type Key = Option<StoredRecord>;
    type Change = A::State;

    fn with_policy(policy: &Policy) -> Result<Self, Unrepresentable> {
        A::new(policy)
    }

    fn expire(key: &mut Self::Key, now: Micros) {
        key.take_if(|stored| stored.expires_at.is_some_and(|at| at < now.millis()));
    }

    fn decision(&self, key: &Self::Key, now: Micros, cost: Cost, charging: Charging) -> Decided<A::State> {
        match charging {
            Charging::Always => self.decide_always(state_of::<A>(key), now, cost),
            Charging::IfAllowed | Charging::Reserving => {
                Ok(RecordAlgorithm::decide(self, state_of::<A>(key), now, cost))
            }
        }
    }

    fn refunding(&self, key: &Self::Key, now: Micros, at: Option<Micros>, cost: Cost) -> Change<A::State> {
        RecordAlgorithm::refund(self, state_of::<A>(key), now, at, cost)
    }

    fn overcharging(&self, key: &Self::Key, now: Micros, at: Option<Micros>, cost: Cost) -> Changed<A::State> {
        RecordAlgorithm::overcharge(self, state_of::<A>(key), now, at, cost)
    }

    fn commit(&self, key: &mut Self::Key, change: &Change<A::State>, _now: Micros) {
        let before = state_of::<A>(key);
        let held = key.as_ref().and_then(|stored| stored.expires_at);
        let new_expiry = record::new_expiry(self, before.as_ref(), change, || held);
        *key = change
            .apply_to(before)
            .map(|state| StoredRecord { text: record::encode::<A>(&state).to_vec(), expires_at: new_expiry.or(held) });
    }

    fn figures(&self, key: &Self::Key, decision: &Decision<A::State>, now: Micros) -> Figures {
        let after = decision.change.apply_to(state_of::<A>(key));
        Figures::new(&self.forecast(after, now), decision, now)
    }

    fn remaining(&self, key: &Self::Key, now: Micros) -> u64 {
        self.forecast(state_of::<A>(key), now).remaining()
    }
}

/// The counters of a fixed window, by their windows. (On a server, windows of more than some 28 years share the numbers 0
/// and 1, and with those their counters.)
pub type Counters = BTreeMap<Period, Counter>;

/// The counter of the window that `now` is in.
fn counter_at(algorithm: &FixedWindow, key: &Counters, now: Micros) -> Option<Counter> {
    key.get(&algorithm.period_at(now)).copied()
}

impl InMemory for FixedWindow {
    type Key = Counters;
    type Change = Counter;

    fn with_policy(policy: &Policy) -> Result<Self, Unrepresentable> {
        Ok(Self::new(policy))
    }

    fn expire(key: &mut Counters, now: Micros) {
        key.retain(|_, counter| counter.expires_at.is_none_or(|at| now.millis() <= at));
    }

    fn prune(&self, key: &mut Counters, now: Micros) {
        Self::expire(key, now);
    }

    fn decision(&self, key: &Counters, now: Micros, cost: Cost, charging: Charging) -> Decided<Counter> {
        let decide = match charging {
            Charging::IfAllowed => Self::decide,
            Charging::Always => Self::decide_always,
            Charging::Reserving => Self::decide_reserving,
        };
        decide(self, counter_at(self, key, now), now, cost)
    }

    fn refunding(&self, key: &Counters, now: Micros, at: Option<Micros>, cost: Cost) -> Change<Counter> {
        Self::refund(self, counter_at(self, key, now), now, at, cost)
    }

    fn overcharging(&self, key: &Counters, now: Micros, at: Option<Micros>, cost: Cost) -> Changed<Counter> {
        Self::overcharge(self, counter_at(self, key, now), now, at, cost)
    }

    fn commit(&self, key: &mut Counters, change: &Change<Counter>, now: Micros) {
        change.state().map(|&counter| key.insert(self.period_at(now), counter));
    }

    fn figures(&self, key: &Counters, decision: &Decision<Counter>, now: Micros) -> Figures {
        let value = decision.change.apply_to(counter_at(self, key, now)).map_or(0, |counter| counter.value);
        Figures::new(&self.forecast(value, now), decision, now)
    }

    fn remaining(&self, key: &Counters, now: Micros) -> u64 {
        self.forecast(counter_at(self, key, now).map_or(0, |counter| counter.value), now).remaining()
    }
}

impl InMemory for WindowCounter {
    type Key = Option<Counter>;
    type Change = Counter;

    fn with_policy(policy: &Policy) -> Result<Self, Unrepresentable> {
        Ok(Self::new(policy))
    }

    fn expire(key: &mut Self::Key, now: Micros) {
        key.take_if(|counter| counter.expires_at.is_some_and(|at| at < now.millis()));
    }

    fn decision(&self, key: &Self::Key, now: Micros, cost: Cost, charging: Charging) -> Decided<Counter> {
        match charging {
            Charging::Always => self.decide_always(*key, now, cost),
            Charging::IfAllowed | Charging::Reserving => Ok(Self::decide(self, *key, now, cost)),
        }
    }

    fn refunding(&self, key: &Self::Key, now: Micros, at: Option<Micros>, cost: Cost) -> Change<Counter> {
        Self::refund(self, *key, now, at, cost)
    }

    fn overcharging(&self, key: &Self::Key, now: Micros, at: Option<Micros>, cost: Cost) -> Changed<Counter> {
        Self::overcharge(self, *key, now, at, cost)
    }

    fn commit(&self, key: &mut Self::Key, change: &Change<Counter>, _now: Micros) {
        *key = change.apply_to(*key);
    }

    fn figures(&self, key: &Self::Key, decision: &Decision<Counter>, now: Micros) -> Figures {
        Figures::new(&self.forecast(decision.change.apply_to(*key), now), decision, now)
    }

    fn remaining(&self, key: &Self::Key, now: Micros) -> u64 {
        self.forecast(*key, now).remaining()
    }
}

/// The log of a sliding window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Log {
    /// The millisecond of each entry, oldest first.
    pub entries: Vec<u64>,
    /// The expiry of the key in milliseconds since the epoch; `None` for a key without one.
    pub expires_at: Option<u64>,
}

impl Log {
    fn remove_up_to(&mut self, millis: u64, count: u64) {
        let end = self.entries.iter().take_while(|&&entry| entry <= millis).count();
        let start = end.saturating_sub(usize::try_from(count).unwrap_or(usize::MAX));
        self.entries.drain(start..end);
    }

    fn len(&self) -> u64 {
        u64::try_from(self.entries.len()).unwrap_or(u64::MAX)
    }
}

impl InMemory for SlidingLog {
    type Key = Log;
    type Change = LogChange;

    fn with_policy(policy: &Policy) -> Result<Self, Unrepresentable> {
        Ok(Self::new(policy))
    }

    fn expire(key: &mut Log, now: Micros) {
        if key.expires_at.is_some_and(|at| at < now.millis()) {
            *key = Log::default();
        }
    }

    fn prune(&self, key: &mut Log, now: Micros) {
        key.entries.retain(|&entry| self.expired_through(now).is_none_or(|expired| entry > expired));
        // An empty key is no more.
        key.expires_at = key.expires_at.filter(|_| !key.entries.is_empty());
    }

    fn decision(&self, key: &Log, now: Micros, cost: Cost, _charging: Charging) -> Decided<LogChange> {
        let ahead = || key.entries.last().is_some_and(|&last| last > now.millis());
        Ok(Self::decide(self, key.len(), ahead, cost))
    }

    fn refunding(&self, key: &Log, _now: Micros, at: Option<Micros>, cost: Cost) -> Change<LogChange> {
        Self::refund(self, key.len(), at, cost)
    }

    fn overcharging(&self, _key: &Log, now: Micros, at: Option<Micros>, cost: Cost) -> Changed<LogChange> {
        Ok(Self::overcharge(self, now, at, cost))
    }

    /// Needs memory for one entry a unit.
    fn commit(&self, key: &mut Log, change: &Change<LogChange>, now: Micros) {
        let entries = &mut key.entries;
        match change.state() {
            Some(&LogChange::Add(count)) => entries.extend((0..count).map(|_| now.millis())),
            Some(LogChange::MoveAheadToNow) => entries.iter_mut().for_each(|entry| *entry = now.millis().min(*entry)),
            Some(&LogChange::AddEarlier { count, millis }) => entries.extend((0..count).map(|_| millis)),
            Some(&LogChange::RemoveNewest(count)) => key.remove_up_to(u64::MAX, count),
            Some(&LogChange::RemoveUpTo { count, millis }) => key.remove_up_to(millis, count),
            None if matches!(change, Change::Delete) => entries.clear(),
            None => {}
        }
        key.entries.sort_unstable();
        key.expires_at =
            if key.entries.is_empty() { None } else { self.new_expiry(key.expires_at, now).or(key.expires_at) };
    }

    fn figures(&self, key: &Log, decision: &Decision<LogChange>, now: Micros) -> Figures {
        let mut after = key.clone();
        self.commit(&mut after, &decision.change, now);
        let entry = |n| after.entries.get(usize::try_from(n).ok()?).copied();
        // The key still exists in the millisecond of its expiry.
        let gone_at = after.expires_at.map(|millis| Micros::from_millis(millis.saturating_add(1)));
        Figures::new(&self.forecast(after.len(), entry, now).gone_at(gone_at), decision, now)
    }

    fn remaining(&self, key: &Log, now: Micros) -> u64 {
        let mut log = key.clone();
        self.prune(&mut log, now);
        self.forecast(log.len(), |_| None, now).remaining()
    }
}

/// The log in a record that the algorithm has written; an empty one for any other.
fn log_of<'a>(algorithm: &RollingLog, key: &'a Option<StoredRecord>, now: Micros) -> rolling_log::Log<'a> {
    key.as_ref().and_then(|stored| algorithm.read(&stored.text, now)).unwrap_or(rolling_log::Log::EMPTY)
}

impl InMemory for RollingLog {
    type Key = Option<StoredRecord>;
    type Change = Edit;

    fn with_policy(policy: &Policy) -> Result<Self, Unrepresentable> {
        Ok(Self::new(policy))
    }

    fn expire(key: &mut Self::Key, now: Micros) {
        key.take_if(|stored| stored.expires_at.is_some_and(|at| at < now.millis()));
    }

    fn decision(&self, key: &Self::Key, now: Micros, cost: Cost, charging: Charging) -> Decided<Edit> {
        let log = log_of(self, key, now);
        match charging {
            Charging::Always => self.decide_always(&log, now, cost),
            Charging::IfAllowed | Charging::Reserving => Ok(Self::decide(self, &log, now, cost)),
        }
    }

    fn refunding(&self, key: &Self::Key, now: Micros, at: Option<Micros>, cost: Cost) -> Change<Edit> {
        Self::refund(self, &log_of(self, key, now), at, cost)
    }

    fn overcharging(&self, key: &Self::Key, now: Micros, at: Option<Micros>, cost: Cost) -> Changed<Edit> {
        Self::overcharge(self, &log_of(self, key, now), now, at, cost)
    }

    fn commit(&self, key: &mut Self::Key, change: &Change<Edit>, now: Micros) {
        let log = log_of(self, key, now);
        let (units, write) = (log.units(), change.state().map(|edit| self.write(&log, edit, now)));
        if matches!(change, Change::Delete) {
            *key = None;
        } else if write.is_some() || units > 0 {
            let stored = key.get_or_insert(StoredRecord { text: Vec::new(), expires_at: None });
            stored.expires_at = self.new_expiry(stored.expires_at, now).or(stored.expires_at);
            if let Some(write) = write {
                write.apply_to(&mut stored.text);
            }
        }
    }

    fn figures(&self, key: &Self::Key, decision: &Decision<Edit>, now: Micros) -> Figures {
        Figures::new(&self.forecast(&log_of(self, key, now), &decision.change, now), decision, now)
    }

    fn remaining(&self, key: &Self::Key, now: Micros) -> u64 {
        self.forecast(&log_of(self, key, now), &Change::Keep, now).remaining()
    }
}

/// An algorithm whose charges may be reservations: the option RESERVE.
pub trait Reservable: InMemory {
    /// The millisecond in which a charge of `now` leaves its window, after it is committed.
    fn counts_until(&self, key: &Self::Key, now: Micros) -> u64;

    /// What corrects the charge of a reservation to `actual`.
    ///
    /// # Errors
    /// [`Unrepresentable::Overflow`].
    fn settling(&self, key: &Self::Key, now: Micros, charge: &Reservation, actual: Cost) -> Changed<Self::Change>;

    /// Gives back what has ended.
    fn give_back(&self, key: &mut Self::Key, now: Micros, ended: &mut [Ended]) {
        for one in ended.iter_mut().filter(|one| one.holds_units(now)) {
            let change = self.settling(key, now, &one.was, Cost::ZERO).unwrap_or(Change::Keep);
            one.given_back = !matches!(change, Change::Keep);
            self.commit(key, &change, now);
        }
    }

    /// Writes to `stored` what is left after units were given back, and a change of that, as one write.
    fn commit_given_back(
        &self,
        stored: &mut Self::Key,
        given_back: Self::Key,
        change: &Change<Self::Change>,
        now: Micros,
    ) {
        *stored = given_back;
        self.commit(stored, change, now);
    }
}

impl Reservable for FixedWindow {
    fn counts_until(&self, _key: &Counters, now: Micros) -> u64 {
        Self::counts_until(self, now)
    }

    fn settling(&self, key: &Counters, now: Micros, charge: &Reservation, actual: Cost) -> Changed<Counter> {
        self.settle_reserved(counter_at(self, key, now), now, charge, actual)
    }
}

impl Reservable for WindowCounter {
    fn counts_until(&self, key: &Self::Key, now: Micros) -> u64 {
        Self::counts_until(self, *key, now)
    }

    fn settling(&self, key: &Self::Key, now: Micros, charge: &Reservation, actual: Cost) -> Changed<Counter> {
        self.settle_reserved(*key, now, charge, actual)
    }
}

impl<A: RecordAlgorithm> Reservable for A {
    fn counts_until(&self, _key: &Self::Key, now: Micros) -> u64 {
        RecordAlgorithm::counts_until(self, now)
    }

    fn settling(&self, key: &Self::Key, now: Micros, charge: &Reservation, actual: Cost) -> Changed<A::State> {
        reservation::settle_record(self, state_of::<A>(key), now, charge, actual)
    }

    fn commit_given_back(&self, stored: &mut Self::Key, given_back: Self::Key, change: &Change<A::State>, now: Micros) {
        if state_of::<A>(stored) == state_of::<A>(&given_back) {
            return self.commit(stored, change, now);
        }
        let written = match (change.apply_to(state_of::<A>(&given_back)), change) {
            (Some(state), Change::Charge(_)) => Change::Charge(state),
            (Some(state), _) => Change::Refund(state),
            (None, _) => Change::Delete,
        };
        self.commit(stored, &written, now);
    }
}

impl Reservable for RollingLog {
    fn counts_until(&self, _key: &Self::Key, now: Micros) -> u64 {
        Self::counts_until(self, now)
    }

    fn settling(&self, key: &Self::Key, now: Micros, charge: &Reservation, actual: Cost) -> Changed<Edit> {
        self.settle_reserved(&log_of(self, key, now), now, charge, actual)
    }

    fn give_back(&self, key: &mut Self::Key, now: Micros, ended: &mut [Ended]) {
        match Self::give_back(self, &log_of(self, key, now), now, ended) {
            Some(record) if record.is_empty() => *key = None,
            Some(record) => {
                if let Some(stored) = key {
                    stored.text = record;
                    stored.expires_at = self.new_expiry(stored.expires_at, now).or(stored.expires_at);
                }
            }
            None => {}
        }
    }
}

/// A limit with reservations: the key, and the hash of the reservations as a server holds it. See
/// [`reservation`].
#[derive(Clone, Debug)]
pub struct Limit<A: Reservable> {
    /// The state of the algorithm.
    pub key: A::Key,
    /// The fields of the hash, [`reservation::EARLIEST`] included.
    pub fields: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The expiry of the hash in milliseconds since the epoch.
    pub expires_at: Option<u64>,
}

impl<A: Reservable> Default for Limit<A> {
    fn default() -> Self {
        Self { key: A::Key::default(), fields: BTreeMap::new(), expires_at: None }
    }
}

/// The reply to a request with RESERVE.
#[derive(Clone, Copy, Debug)]
pub struct Reserved {
    /// As for a request without. Its figures of a repeated call are those of a cost of 0.
    pub reply: Reply,
    /// The units that are reserved under the id.
    pub charged: u64,
    /// The id was open already.
    pub repeated: bool,
    /// The limit has no room for another reservation until then: the milliseconds until one ends.
    pub full_for: Option<u64>,
}

impl<A: Reservable> Limit<A> {
    /// Decides on a request whose charge is a reservation, and commits the change.
    ///
    /// # Errors
    /// As [`InMemory::request`]. Nothing is changed.
    pub fn reserve(
        &mut self,
        algorithm: &A,
        now: Micros,
        id: &[u8],
        ttl: Window,
        cost: Cost,
    ) -> Result<Reserved, Unrepresentable> {
        let (key, mut book) = self.give_back(algorithm, now, id);
        let full_for = book.full_for();
        let decide = |cost| algorithm.decision(&key, now, cost, Charging::Reserving);
        let (mut decision, charged, repeated, full_for) = match book.standing() {
            Standing::Open(open) => (decide(Cost::ZERO)?, open.units(), Some(open), None),
            _ if full_for.is_some() => (decide(Cost::ZERO)?, 0, None, full_for),
            Standing::Unknown | Standing::Mark(_) => (decide(cost)?, cost.units(), None, None),
        };
        let figures = algorithm.figures(&key, &decision, now);
        decision.verdict.allowed = repeated.is_some() || decision.verdict.allowed && full_for.is_none();
        let Decision { verdict, change, .. } = decision;
        let rebased = matches!(change, Change::Rebase(_));
        if let Some(open) = repeated {
            book.prolong(open, ttl);
        } else if verdict.allowed {
            let mut after = key.clone();
            algorithm.commit(&mut after, &change, now);
            book.open(cost, ttl, algorithm.counts_until(&after, now));
        }
        self.commit(algorithm, (key, &book), &change, now);
        let charged = if verdict.allowed { charged } else { 0 };
        Ok(Reserved { reply: Reply { verdict, figures, rebased }, charged, repeated: repeated.is_some(), full_for })
    }

    /// Corrects what `id` was charged to `actual`. Returns the units charged now: 0 if the id is unknown.
    ///
    /// # Errors
    /// [`Unrepresentable::Overflow`]. Nothing is changed.
    pub fn settle(&mut self, algorithm: &A, now: Micros, id: &[u8], actual: Cost) -> Result<u64, Unrepresentable> {
        let (key, mut book) = self.give_back(algorithm, now, id);
        let (change, charged) = match book.standing() {
            // Without an id to settle, and without units to give back, the key is left alone.
            Standing::Unknown if !book.gave_back() => {
                self.write(&book);
                return Ok(0);
            }
            Standing::Unknown => (Change::Keep, 0),
            Standing::Open(charge) | Standing::Mark(charge) => {
                let change = algorithm.settling(&key, now, &charge, actual)?;
                book.close();
                (change, actual.units())
            }
        };
        self.commit(algorithm, (key, &book), &change, now);
        Ok(charged)
    }

    /// The key and the reservations after what has ended is given back, for a call that names an id. Nothing is written
    /// before [`Limit::commit`].
    pub fn give_back<'i>(&mut self, algorithm: &A, now: Micros, id: &'i [u8]) -> (A::Key, Book<'i>) {
        A::expire(&mut self.key, now);
        if self.expires_at.is_some_and(|at| at < now.millis()) {
            self.fields.clear();
            self.expires_at = None;
        }
        let field = |id: &[u8]| self.fields.get(id).and_then(|text| Reservation::decode(text));
        let earliest = self.fields.get(reservation::EARLIEST).and_then(|text| parse_unsigned(text));
        let len = self.fields.len().saturating_sub(usize::from(earliest.is_some()));
        let len = u64::try_from(len).unwrap_or(u64::MAX);
        let stored = Stored { own: field(id), earliest, len, expires_at: self.expires_at };
        let (mut key, mut book) = (self.key.clone(), Book::new(id, stored, now));
        if book.needs_review() {
            let reserved = self.fields.keys().filter(|id| *id != reservation::EARLIEST);
            book.review(reserved.filter_map(|id| Some((id.clone(), field(id)?))));
            algorithm.give_back(&mut key, now, book.ended_mut());
        }
        (key, book)
    }

    /// Writes a change of the key that [`Limit::give_back`] has returned, and the reservations.
    pub fn commit(&mut self, algorithm: &A, given_back: (A::Key, &Book<'_>), change: &Change<A::Change>, now: Micros) {
        let (key, book) = given_back;
        algorithm.commit_given_back(&mut self.key, key, change, now);
        self.write(book);
    }

    fn write(&mut self, book: &Book<'_>) {
        let changes = book.changes();
        if changes.delete {
            self.fields.clear();
            self.expires_at = None;
        }
        changes.removed.iter().for_each(|id| drop(self.fields.remove(*id)));
        self.fields.extend(changes.marks.into_iter().map(|(id, mark)| (id.clone(), mark.encode().to_vec())));
        match changes.own {
            Some(Some(own)) => drop(self.fields.insert(book.id().to_vec(), own.encode().to_vec())),
            Some(None) => drop(self.fields.remove(book.id())),
            None => {}
        }
        if let Some(at) = changes.earliest {
            self.fields.insert(reservation::EARLIEST.to_vec(), at.to_string().into_bytes());
        }
        self.expires_at = changes.expires_at.or(self.expires_at);
    }
}

/// The leases of a key: what RL.LEASE, RL.RENEW and RL.RELEASE do with it.
///
/// A lease has no cost, and a request for one names its holder, so [`InMemory`] does not fit.
///
/// ```
/// use redis_rl_algorithm::{Lease, Micros, Policy, Window};
/// use redis_rl_algorithm::in_memory::Holders;
///
/// let window = Window::from_millis(30_000).unwrap();
/// let lease = Lease::new(&Policy::new(window, 1));
/// let mut key = Holders::default();
/// let now = Micros::from_millis(100_000);
/// assert!(key.request(&lease, b"a", now).verdict.allowed);
/// assert_eq!(key.request(&lease, b"b", now).figures.retry_after_ms, 30_000);
/// let later = now.plus(10_000_000);
/// assert!(key.renew(window, b"a", later));
/// assert_eq!(key.request(&lease, b"b", later).figures.retry_after_ms, 30_000);
/// assert!(key.release(b"a", later));
/// assert!(key.request(&lease, b"b", later).verdict.allowed);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Holders {
    /// The millisecond in which the lease of each holder ends. The key expires with the last of them.
    pub ends: BTreeMap<Vec<u8>, u64>,
}

impl Holders {
    /// RL.LEASE: takes or renews the lease of `id`, if the limit allows it.
    pub fn request(&mut self, lease: &Lease, id: &[u8], now: Micros) -> Reply {
        self.remove_ended(now);
        let mut ends: Vec<u64> = self.ends.values().copied().collect();
        ends.sort_unstable();
        let end = |n: u64| usize::try_from(n).ok().and_then(|n| ends.get(n).copied()).unwrap_or(u64::MAX);
        let len = u64::try_from(ends.len()).unwrap_or(u64::MAX);
        let leases = Leases { len, own: self.ends.get(id).copied(), end };
        let decision = lease.decide(&leases, now, Cost::ONE);
        if let Some(&Hold { until }) = decision.change.state() {
            self.ends.insert(id.to_vec(), until);
        }
        let forecast = lease.forecast(&leases, &decision.change, now);
        Reply::new(&decision, &forecast, now)
    }

    /// RL.RENEW: whether `id` had a lease that has not ended, and renewed it.
    pub fn renew(&mut self, window: Window, id: &[u8], now: Micros) -> bool {
        self.remove_ended(now);
        self.ends.get_mut(id).map(|end| *end = Lease::end_of(window, now)).is_some()
    }

    /// RL.RELEASE: whether `id` had a lease that had not ended, and now has none.
    pub fn release(&mut self, id: &[u8], now: Micros) -> bool {
        self.remove_ended(now);
        self.ends.remove(id).is_some()
    }

    fn remove_ended(&mut self, now: Micros) {
        self.ends.retain(|_, &mut end| end > Lease::ended_through(now));
    }
}
