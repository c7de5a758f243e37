//! Every algorithm with its state in memory: what the module does with a key, without a server. Leases, which have no
//! cost, are [`Holders`]; all others are [`InMemory`].
//!
//! The tests and the pictures of the documentation use it. A record is kept as the text that the module
//! stores, so each step goes through encoding and decoding.

use std::collections::BTreeMap;
use std::fmt::Debug;

pub use crate::Charging;
use crate::fixed_window::Counter;
use crate::lease::{Hold, Leases};
use crate::period::Period;
use crate::record;
use crate::reservation::{self, Book, Ended, MAX_ENDED, Reservation, Standing, Stored};
use crate::rolling_log;
pub use crate::sliding_log::Log;
use crate::{
    Algorithm, Change, Cost, Decided, Decision, Figures, FixedWindow, Forecast, Lease, MAX_EXPIRED, Micros, Policy,
    RecordAlgorithm, RollingLog, SlidingLog, Unrepresentable, Verdict, Window, WindowCounter,
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

/// An algorithm whose keys are in memory.
///
/// A request is decided, and its change is committed, in two steps, as on a server: a caller can decide several before it
/// commits any. [`InMemory::request`] does both.
pub trait InMemory: Algorithm {
    /// What a key holds. The default is a key that does not exist.
    type Key: Clone + Debug + Default;

    /// What a decision reads of the key.
    fn state<'k>(&self, key: &'k Self::Key, now: Micros) -> Self::State<'k>;

    /// Removes what a server has removed at `now`: a key whose expiry is over. A server keeps a key through the millisecond
    /// in which it expires.
    fn expire(key: &mut Self::Key, now: Micros);

    /// Removes from the key what counts no more, as every call does that may write it.
    fn prune(&self, _key: &mut Self::Key, _now: Micros) {}

    /// Writes a change.
    fn commit(&self, key: &mut Self::Key, change: &Change<Self::Change>, now: Micros);

    /// The algorithm under a policy.
    ///
    /// # Errors
    /// [`Unrepresentable`], as the constructor of the algorithm says.
    fn with_policy(policy: &Policy) -> Result<Self, Unrepresentable> {
        Self::new(policy)
    }

    /// Decides on a request. The key has been pruned.
    ///
    /// # Errors
    /// [`Unrepresentable::Overflow`].
    fn decision(&self, key: &Self::Key, now: Micros, cost: Cost, charging: Charging) -> Decided<Self::Change> {
        self.decide_charging(self.state(key, now), now, cost, charging)
    }

    /// The figures after a decision, which need not be committed.
    fn figures(&self, key: &Self::Key, decision: &Decision<Self::Change>, now: Micros) -> Figures {
        Figures::new(&self.forecast(self.state(key, now), &decision.change, now), decision, now)
    }

    /// The largest cost that would be allowed at `now`.
    fn remaining(&self, key: &Self::Key, now: Micros) -> u64 {
        self.forecast(self.state(key, now), &Change::Keep, now).remaining()
    }

    /// Decides on a request and commits the change.
    ///
    /// # Errors
    /// [`Unrepresentable::Overflow`]. The key is unchanged.
    fn request(&self, key: &mut Self::Key, now: Micros, cost: Cost) -> Result<Reply, Unrepresentable> {
        self.request_charging(key, now, cost, Charging::IfAllowed)
    }

    /// [`InMemory::request`] that is charged in another way.
    ///
    /// ```
    /// use redis_rl_algorithm::in_memory::InMemory;
    /// use redis_rl_algorithm::{Charging, Cost, Micros, Policy, Window, WindowCounter};
    ///
    /// let policy = Policy::new(Window::from_millis(60_000).unwrap(), 5);
    /// let counter = WindowCounter::with_policy(&policy).unwrap();
    /// let (mut key, now) = (None, Micros::from_millis(100_000));
    /// let seven = Cost::new(7).unwrap();
    /// assert!(!counter.request_charging(&mut key, now, seven, Charging::Always).unwrap().verdict.allowed);
    /// assert_eq!(key.unwrap().value, 7, "a denied request is charged too");
    /// ```
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
        let reply = Reply::new(&decision, &self.forecast(self.state(key, now), &decision.change, now), now);
        self.commit(key, &decision.change, now);
        Ok(reply)
    }

    /// Gives `cost` units back. `at` is when they were charged, if that is known.
    fn refund(&self, key: &mut Self::Key, now: Micros, at: Option<Micros>, cost: Cost) {
        self.prune(key, now);
        let change = self.refunding(self.state(key, now), now, at, cost);
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
        let change = self.overcharging(self.state(key, now), now, at, cost)?;
        self.commit(key, &change, now);
        Ok(())
    }

    /// Gives back the reservations that have ended.
    fn give_back(&self, key: &mut Self::Key, now: Micros, ended: &mut [Ended]) {
        for one in ended.iter_mut().filter(|one| one.holds_units(now)) {
            let change = self.settling(self.state(key, now), now, &one.was, Cost::ZERO).unwrap_or(Change::Keep);
            one.given_back = change != Change::Keep;
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

/// A record as the server holds it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StoredRecord {
    /// The value of the key.
    pub text: Vec<u8>,
    /// Its expiry in milliseconds since the epoch; `None` for a key without one.
    pub expires_at: Option<u64>,
}

fn expire_record(key: &mut Option<StoredRecord>, now: Micros) {
    key.take_if(|stored| stored.expires_at.is_some_and(|at| at < now.millis()));
}

impl<A: RecordAlgorithm> InMemory for A {
    type Key = Option<StoredRecord>;

    fn state(&self, key: &Self::Key, _now: Micros) -> Option<A::Record> {
        record::decode::<A>(&key.as_ref()?.text)
    }

    fn expire(key: &mut Self::Key, now: Micros) {
        expire_record(key, now);
    }

    fn commit(&self, key: &mut Self::Key, change: &Change<A::Record>, now: Micros) {
        let before = self.state(key, now);
        let held = key.as_ref().and_then(|stored| stored.expires_at);
        let new_expiry = record::new_expiry(self, before.as_ref(), change, || held);
        *key = change
            .apply_to(before)
            .map(|state| StoredRecord { text: record::encode::<A>(&state).to_vec(), expires_at: new_expiry.or(held) });
    }

    fn commit_given_back(
        &self,
        stored: &mut Self::Key,
        given_back: Self::Key,
        change: &Change<A::Record>,
        now: Micros,
    ) {
        let given_back = self.state(&given_back, now);
        if self.state(stored, now) == given_back {
            return self.commit(stored, change, now);
        }
        let written = match (change.apply_to(given_back), change) {
            (Some(state), Change::Charge(_)) => Change::Charge(state),
            (Some(state), _) => Change::Refund(state),
            (None, _) => Change::Delete,
        };
        self.commit(stored, &written, now);
    }
}

/// The counters of a fixed window, in the order of their windows. (On a server, windows of more than some 28 years share
/// the numbers 0 and 1, and with those their counters.)
pub type Counters = Vec<(Period, Counter)>;

impl InMemory for FixedWindow {
    type Key = Counters;

    fn state(&self, key: &Counters, now: Micros) -> Option<Counter> {
        let period = self.schedule.period_at(now);
        key.iter().find(|(known, _)| *known == period).map(|(_, counter)| *counter)
    }

    fn expire(key: &mut Counters, now: Micros) {
        key.retain(|(_, counter)| counter.expires_at.is_none_or(|at| now.millis() <= at));
    }

    fn prune(&self, key: &mut Counters, now: Micros) {
        Self::expire(key, now);
    }

    fn commit(&self, key: &mut Counters, change: &Change<Counter>, now: Micros) {
        let Some(&counter) = change.state() else { return };
        let period = self.schedule.period_at(now);
        key.retain(|(known, _)| *known != period);
        // Most keys have one counter.
        key.reserve_exact(1);
        key.insert(key.partition_point(|(known, _)| *known < period), (period, counter));
    }
}

impl InMemory for WindowCounter {
    type Key = Option<Counter>;

    fn state(&self, key: &Self::Key, _now: Micros) -> Option<Counter> {
        *key
    }

    fn expire(key: &mut Self::Key, now: Micros) {
        key.take_if(|counter| counter.expires_at.is_some_and(|at| at < now.millis()));
    }

    fn commit(&self, key: &mut Self::Key, change: &Change<Counter>, _now: Micros) {
        *key = change.apply_to(*key);
    }
}

impl InMemory for SlidingLog {
    type Key = Log;

    fn state<'k>(&self, key: &'k Log, _now: Micros) -> &'k Log {
        key
    }

    fn expire(key: &mut Log, now: Micros) {
        if key.expires_at.is_some_and(|at| at < now.millis()) {
            *key = Log::default();
        }
    }

    fn prune(&self, key: &mut Log, now: Micros) {
        key.prune(self, now);
    }

    fn commit(&self, key: &mut Log, change: &Change<Self::Change>, now: Micros) {
        key.commit(self, change, now);
    }
}

impl InMemory for RollingLog {
    type Key = Option<StoredRecord>;

    /// An empty log for a record that the algorithm has not written.
    fn state<'k>(&self, key: &'k Self::Key, now: Micros) -> rolling_log::Log<'k> {
        key.as_ref().and_then(|stored| self.read(&stored.text, now)).unwrap_or(rolling_log::Log::EMPTY)
    }

    fn expire(key: &mut Self::Key, now: Micros) {
        expire_record(key, now);
    }

    fn commit(&self, key: &mut Self::Key, change: &Change<Self::Change>, now: Micros) {
        let log = self.state(key, now);
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

    fn give_back(&self, key: &mut Self::Key, now: Micros, ended: &mut [Ended]) {
        match Self::give_back(self, &self.state(key, now), now, ended) {
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
pub struct Limit<A: InMemory> {
    /// The state of the algorithm.
    pub key: A::Key,
    /// The fields of the hash, [`reservation::EARLIEST`] included.
    pub fields: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The expiry of the hash in milliseconds since the epoch.
    pub expires_at: Option<u64>,
}

impl<A: InMemory> Default for Limit<A> {
    fn default() -> Self {
        Self { key: A::Key::default(), fields: BTreeMap::new(), expires_at: None }
    }
}

/// The reply to a request with RESERVE.
#[derive(Clone, Copy, Debug)]
pub struct Reserved {
    /// The reply as to a request without RESERVE. For a repeated call it has the figures of a cost of 0.
    pub reply: Reply,
    /// The units that are reserved under the id.
    pub charged: u64,
    /// The id was open already.
    pub repeated: bool,
    /// The limit has no room for another reservation until then: the milliseconds until one ends.
    pub full_for: Option<u64>,
}

impl<A: InMemory> Limit<A> {
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
        let full_for = book.full_for(reservation::MAX_RESERVATIONS, || self.ends().min());
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
            let counts_until = algorithm.counts_until(algorithm.state(&key, now), &change, now);
            book.open(cost, ttl, counts_until);
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
                let change = algorithm.settling(algorithm.state(&key, now), now, &charge, actual)?;
                book.close();
                (change, actual.units())
            }
        };
        self.commit(algorithm, (key, &book), &change, now);
        Ok(charged)
    }

    fn ends(&self) -> impl Iterator<Item = u64> {
        self.fields.values().filter_map(|text| Some(Reservation::decode(text)?.ends_at))
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
        let has_earliest = self.fields.contains_key(reservation::EARLIEST);
        let len = self.fields.len().saturating_sub(usize::from(has_earliest));
        let len = u64::try_from(len).unwrap_or(u64::MAX);
        let reserved = self.fields.keys().filter(|id| *id != reservation::EARLIEST);
        let mut all: Vec<_> = reserved.filter_map(|id| Some((id.clone(), field(id)?))).collect();
        all.sort_by_key(|(_, field)| field.ends_at);
        let any_ended = all.first().is_some_and(|(_, field)| field.ends_at <= now.millis());
        let (own, expires_at) = (field(id), self.expires_at);
        let stored = Stored { own, has_earliest, len, any_ended, expires_at };
        let (mut key, mut book) = (self.key.clone(), Book::new(id, stored, now));
        if book.needs_review() {
            let ended = all.iter().take(MAX_ENDED).take_while(|(_, field)| book.has_ended(field.ends_at)).count();
            let later = all.split_off(ended);
            let next_end = later.first().map(|(_, field)| field.ends_at);
            let own = later.into_iter().find(|(other, field)| other == id && book.has_ended(field.ends_at));
            book.review(all.into_iter().chain(own), next_end);
        }
        algorithm.give_back(&mut key, now, book.ended_mut());
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
        if changes.earliest {
            self.fields.insert(reservation::EARLIEST.to_vec(), reservation::EARLIEST_END.to_vec());
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
        let mut ends: Vec<u64> = self.ends.values().copied().filter(|&end| has_not_ended(end, now)).collect();
        ends.sort_unstable();
        let end = |n: u64| usize::try_from(n).ok().and_then(|n| ends.get(n).copied()).unwrap_or(u64::MAX);
        let len = u64::try_from(ends.len()).unwrap_or(u64::MAX);
        let leases = Leases { len, own: self.own(id, now), end };
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
        self.own(id, now).map(|_| self.ends.insert(id.to_vec(), Lease::end_of(window, now))).is_some()
    }

    /// RL.RELEASE: whether `id` had a lease that had not ended, and now has none.
    pub fn release(&mut self, id: &[u8], now: Micros) -> bool {
        self.remove_ended(now);
        self.own(id, now).map(|_| self.ends.remove(id)).is_some()
    }

    /// The end of the lease of `id`, if it has not ended.
    fn own(&self, id: &[u8], now: Micros) -> Option<u64> {
        self.ends.get(id).copied().filter(|&end| has_not_ended(end, now))
    }

    /// Removes leases that have ended, at most [`MAX_EXPIRED`], the earliest end first.
    fn remove_ended(&mut self, now: Micros) {
        let ended = self.ends.iter().filter(|&(_, &end)| !has_not_ended(end, now));
        let mut ended: Vec<_> = ended.map(|(id, &end)| (end, id.clone())).collect();
        ended.sort_unstable();
        ended.iter().take(MAX_EXPIRED).for_each(|(_, id)| _ = self.ends.remove(id));
    }
}

const fn has_not_ended(end: u64, now: Micros) -> bool {
    end > Lease::ended_through(now)
}
