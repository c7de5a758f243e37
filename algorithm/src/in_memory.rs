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
    SlidingCounter, SlidingLog, Unrepresentable, Verdict, Window, WindowCounter,
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
pub trait InMemory: Sized {
    /// What a key holds. The default is a key that does not exist.
    type Key: Clone + Debug + Default;

    /// The algorithm under a policy.
    ///
    /// # Errors
    /// [`Unrepresentable`], as the constructor of the algorithm says.
    fn with_policy(policy: &Policy) -> Result<Self, Unrepresentable>;

    /// Removes what a server has removed at `now`: a key whose expiry is over. A server keeps a key through the millisecond
    /// in which it expires.
    fn expire(key: &mut Self::Key, now: Micros);

    /// Decides on a request and commits the change.
    ///
    /// # Errors
    /// [`Unrepresentable::Overflow`]. The key is unchanged.
    fn request(&self, key: &mut Self::Key, now: Micros, cost: Cost) -> Result<Reply, Unrepresentable>;

    /// Gives `cost` units back. `at` is when they were charged, if that is known.
    fn refund(&self, key: &mut Self::Key, now: Micros, at: Option<Micros>, cost: Cost);

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
    ) -> Result<(), Unrepresentable>;

    /// The largest cost that would be allowed at `now`.
    fn remaining(&self, key: &Self::Key, now: Micros) -> u64;
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
    fn request_always(&self, key: &mut Self::Key, now: Micros, cost: Cost) -> Result<Reply, Unrepresentable>;
}

/// A record as the server holds it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StoredRecord {
    /// The value of the key.
    pub text: Vec<u8>,
    /// Its expiry in milliseconds since the epoch; `None` for a key without one.
    pub expires_at: Option<u64>,
}

impl StoredRecord {
    fn state<A: RecordAlgorithm>(&self) -> Option<A::State> {
        record::decode::<A>(&self.text)
    }
}

fn state_of<A: RecordAlgorithm>(key: &Option<StoredRecord>) -> Option<A::State> {
    key.as_ref().and_then(StoredRecord::state::<A>)
}

fn commit<A: RecordAlgorithm>(algorithm: &A, key: &mut Option<StoredRecord>, change: Change<A::State>) {
    let before = state_of::<A>(key);
    let held = key.as_ref().and_then(|stored| stored.expires_at);
    let new_expiry = record::new_expiry(algorithm, before.as_ref(), &change, || held);
    *key = change
        .apply_to(before)
        .map(|state| StoredRecord { text: record::encode::<A>(&state).to_vec(), expires_at: new_expiry.or(held) });
}

impl<A: RecordAlgorithm> InMemory for A {
    type Key = Option<StoredRecord>;

    fn with_policy(policy: &Policy) -> Result<Self, Unrepresentable> {
        A::new(policy)
    }

    fn expire(key: &mut Self::Key, now: Micros) {
        key.take_if(|stored| stored.expires_at.is_some_and(|at| at < now.millis()));
    }

    fn request(&self, key: &mut Self::Key, now: Micros, cost: Cost) -> Result<Reply, Unrepresentable> {
        let decision = self.decide(state_of::<A>(key), now, cost);
        commit(self, key, decision.change);
        Ok(Reply::new(&decision, &self.forecast(state_of::<A>(key), now), now))
    }

    fn refund(&self, key: &mut Self::Key, now: Micros, at: Option<Micros>, cost: Cost) {
        let change = RecordAlgorithm::refund(self, state_of::<A>(key), now, at, cost);
        commit(self, key, change);
    }

    fn overcharge(
        &self,
        key: &mut Self::Key,
        now: Micros,
        at: Option<Micros>,
        cost: Cost,
    ) -> Result<(), Unrepresentable> {
        let change = RecordAlgorithm::overcharge(self, state_of::<A>(key), now, at, cost)?;
        commit(self, key, change);
        Ok(())
    }

    fn remaining(&self, key: &Self::Key, now: Micros) -> u64 {
        self.forecast(state_of::<A>(key), now).remaining()
    }
}

impl<A: RecordAlgorithm> Always for A {
    fn request_always(&self, key: &mut Self::Key, now: Micros, cost: Cost) -> Result<Reply, Unrepresentable> {
        let decision = self.decide_always(state_of::<A>(key), now, cost)?;
        commit(self, key, decision.change);
        Ok(Reply::new(&decision, &self.forecast(state_of::<A>(key), now), now))
    }
}

/// The counters of a fixed window, by their windows. (On a server, windows of more than some 28 years share the numbers 0
/// and 1, and with those their counters.)
pub type Counters = BTreeMap<Period, Counter>;

fn counter_at(algorithm: &FixedWindow, key: &Counters, now: Micros) -> Option<Counter> {
    key.get(&algorithm.period_at(now)).copied()
}

fn store_counter(algorithm: &FixedWindow, key: &mut Counters, now: Micros, change: Change<Counter>) {
    change.state().map(|&counter| key.insert(algorithm.period_at(now), counter));
}

impl InMemory for FixedWindow {
    type Key = Counters;

    fn with_policy(policy: &Policy) -> Result<Self, Unrepresentable> {
        Ok(Self::new(policy))
    }

    fn expire(key: &mut Counters, now: Micros) {
        key.retain(|_, counter| counter.expires_at.is_none_or(|at| now.millis() <= at));
    }

    fn request(&self, key: &mut Counters, now: Micros, cost: Cost) -> Result<Reply, Unrepresentable> {
        Self::expire(key, now);
        let decision = self.decide(counter_at(self, key, now), now, cost)?;
        store_counter(self, key, now, decision.change);
        let value = counter_at(self, key, now).map_or(0, |counter| counter.value);
        Ok(Reply::new(&decision, &self.forecast(value, now), now))
    }

    fn refund(&self, key: &mut Counters, now: Micros, at: Option<Micros>, cost: Cost) {
        Self::expire(key, now);
        let change = FixedWindow::refund(self, counter_at(self, key, now), now, at, cost);
        store_counter(self, key, now, change);
    }

    fn overcharge(
        &self,
        key: &mut Counters,
        now: Micros,
        at: Option<Micros>,
        cost: Cost,
    ) -> Result<(), Unrepresentable> {
        Self::expire(key, now);
        let change = FixedWindow::overcharge(self, counter_at(self, key, now), now, at, cost)?;
        store_counter(self, key, now, change);
        Ok(())
    }

    fn remaining(&self, key: &Counters, now: Micros) -> u64 {
        self.forecast(counter_at(self, key, now).map_or(0, |counter| counter.value), now).remaining()
    }
}

impl Always for FixedWindow {
    fn request_always(&self, key: &mut Counters, now: Micros, cost: Cost) -> Result<Reply, Unrepresentable> {
        Self::expire(key, now);
        let decision = self.decide_always(counter_at(self, key, now), now, cost)?;
        store_counter(self, key, now, decision.change);
        let value = counter_at(self, key, now).map_or(0, |counter| counter.value);
        Ok(Reply::new(&decision, &self.forecast(value, now), now))
    }
}

impl InMemory for WindowCounter {
    type Key = Option<Counter>;

    fn with_policy(policy: &Policy) -> Result<Self, Unrepresentable> {
        Ok(Self::new(policy))
    }

    fn expire(key: &mut Self::Key, now: Micros) {
        key.take_if(|counter| counter.expires_at.is_some_and(|at| at < now.millis()));
    }

    fn request(&self, key: &mut Self::Key, now: Micros, cost: Cost) -> Result<Reply, Unrepresentable> {
        let decision = self.decide(*key, now, cost);
        *key = decision.change.apply_to(*key);
        Ok(Reply::new(&decision, &self.forecast(*key, now), now))
    }

    fn refund(&self, key: &mut Self::Key, now: Micros, at: Option<Micros>, cost: Cost) {
        *key = WindowCounter::refund(self, *key, now, at, cost).apply_to(*key);
    }

    fn overcharge(
        &self,
        key: &mut Self::Key,
        now: Micros,
        at: Option<Micros>,
        cost: Cost,
    ) -> Result<(), Unrepresentable> {
        *key = WindowCounter::overcharge(self, *key, now, at, cost)?.apply_to(*key);
        Ok(())
    }

    fn remaining(&self, key: &Self::Key, now: Micros) -> u64 {
        self.forecast(*key, now).remaining()
    }
}

impl Always for WindowCounter {
    fn request_always(&self, key: &mut Self::Key, now: Micros, cost: Cost) -> Result<Reply, Unrepresentable> {
        let decision = self.decide_always(*key, now, cost)?;
        *key = decision.change.apply_to(*key);
        Ok(Reply::new(&decision, &self.forecast(*key, now), now))
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
    fn prune(&mut self, algorithm: &SlidingLog, now: Micros) {
        self.entries.retain(|&entry| algorithm.expired_through(now).is_none_or(|expired| entry > expired));
    }

    fn remove_up_to(&mut self, millis: u64, count: u64) {
        let end = self.entries.iter().take_while(|&&entry| entry <= millis).count();
        let start = end.saturating_sub(usize::try_from(count).unwrap_or(usize::MAX));
        self.entries.drain(start..end);
    }

    fn len(&self) -> u64 {
        u64::try_from(self.entries.len()).unwrap_or(u64::MAX)
    }

    fn commit(&mut self, algorithm: &SlidingLog, change: Change<LogChange>, now: Micros) {
        match change.state() {
            Some(&LogChange::Add(count)) => self.entries.extend((0..count).map(|_| now.millis())),
            Some(LogChange::MoveAheadToNow) => {
                self.entries.iter_mut().for_each(|entry| *entry = now.millis().min(*entry));
            }
            Some(&LogChange::AddEarlier { count, millis }) => self.entries.extend((0..count).map(|_| millis)),
            Some(&LogChange::RemoveNewest(count)) => self.remove_up_to(u64::MAX, count),
            Some(&LogChange::RemoveUpTo { count, millis }) => self.remove_up_to(millis, count),
            None => {}
        }
        self.entries.sort_unstable();
        self.expires_at =
            if self.entries.is_empty() { None } else { algorithm.new_expiry(self.expires_at, now).or(self.expires_at) };
    }
}

impl InMemory for SlidingLog {
    type Key = Log;

    fn with_policy(policy: &Policy) -> Result<Self, Unrepresentable> {
        Ok(Self::new(policy))
    }

    fn expire(key: &mut Log, now: Micros) {
        if key.expires_at.is_some_and(|at| at <= now.millis()) {
            *key = Log::default();
        }
    }

    /// Needs memory for one entry a unit.
    fn request(&self, key: &mut Log, now: Micros, cost: Cost) -> Result<Reply, Unrepresentable> {
        key.prune(self, now);
        let ahead = || key.entries.last().is_some_and(|&last| last > now.millis());
        let decision = self.decide(key.len(), ahead, cost);
        key.commit(self, decision.change, now);
        let entry = |n| key.entries.get(usize::try_from(n).ok()?).copied();
        Ok(Reply::new(&decision, &self.forecast(key.len(), entry, now), now))
    }

    fn refund(&self, key: &mut Log, now: Micros, at: Option<Micros>, cost: Cost) {
        key.prune(self, now);
        let change = SlidingLog::refund(self, key.len(), at, cost);
        key.commit(self, change, now);
    }

    fn overcharge(&self, key: &mut Log, now: Micros, at: Option<Micros>, cost: Cost) -> Result<(), Unrepresentable> {
        key.prune(self, now);
        let change = SlidingLog::overcharge(self, now, at, cost);
        key.commit(self, change, now);
        Ok(())
    }

    fn remaining(&self, key: &Log, now: Micros) -> u64 {
        let mut log = key.clone();
        log.prune(self, now);
        self.forecast(log.len(), |_| None, now).remaining()
    }
}

/// The log in a record that the algorithm has written; an empty one for any other.
fn log_of<'a>(algorithm: &RollingLog, key: &'a Option<StoredRecord>, now: Micros) -> rolling_log::Log<'a> {
    key.as_ref().and_then(|stored| algorithm.read(&stored.text, now)).unwrap_or(rolling_log::Log::EMPTY)
}

fn commit_rolling(algorithm: &RollingLog, key: &mut Option<StoredRecord>, change: &Change<Edit>, now: Micros) {
    let log = log_of(algorithm, key, now);
    let (units, write) = (log.units(), change.state().map(|edit| algorithm.write(&log, edit, now)));
    if matches!(change, Change::Delete) {
        *key = None;
    } else if write.is_some() || units > 0 {
        let stored = key.get_or_insert(StoredRecord { text: Vec::new(), expires_at: None });
        stored.expires_at = algorithm.new_expiry(stored.expires_at, now).or(stored.expires_at);
        if let Some(write) = write {
            write.apply_to(&mut stored.text);
        }
    }
}

impl InMemory for RollingLog {
    type Key = Option<StoredRecord>;

    fn with_policy(policy: &Policy) -> Result<Self, Unrepresentable> {
        Ok(Self::new(policy))
    }

    fn expire(key: &mut Self::Key, now: Micros) {
        key.take_if(|stored| stored.expires_at.is_some_and(|at| at < now.millis()));
    }

    fn request(&self, key: &mut Self::Key, now: Micros, cost: Cost) -> Result<Reply, Unrepresentable> {
        let log = log_of(self, key, now);
        let decision = self.decide(&log, now, cost);
        let reply = Reply::new(&decision, &self.forecast(&log, &decision.change, now), now);
        commit_rolling(self, key, &decision.change, now);
        Ok(reply)
    }

    fn refund(&self, key: &mut Self::Key, now: Micros, at: Option<Micros>, cost: Cost) {
        let change = RollingLog::refund(self, &log_of(self, key, now), at, cost);
        commit_rolling(self, key, &change, now);
    }

    fn overcharge(
        &self,
        key: &mut Self::Key,
        now: Micros,
        at: Option<Micros>,
        cost: Cost,
    ) -> Result<(), Unrepresentable> {
        let change = RollingLog::overcharge(self, &log_of(self, key, now), now, at, cost)?;
        commit_rolling(self, key, &change, now);
        Ok(())
    }

    fn remaining(&self, key: &Self::Key, now: Micros) -> u64 {
        self.forecast(&log_of(self, key, now), &Change::Keep, now).remaining()
    }
}

impl Always for RollingLog {
    fn request_always(&self, key: &mut Self::Key, now: Micros, cost: Cost) -> Result<Reply, Unrepresentable> {
        let log = log_of(self, key, now);
        let decision = self.decide_always(&log, now, cost)?;
        let reply = Reply::new(&decision, &self.forecast(&log, &decision.change, now), now);
        commit_rolling(self, key, &decision.change, now);
        Ok(reply)
    }
}

/// An algorithm whose charges may be reservations: the option RESERVE.
pub trait Reservable: InMemory {
    /// Decides on a request that is a reservation, and commits the change.
    ///
    /// # Errors
    /// As [`InMemory::request`].
    fn request_reserving(&self, key: &mut Self::Key, now: Micros, cost: Cost) -> Result<Reply, Unrepresentable> {
        self.request(key, now, cost)
    }

    /// The millisecond in which a charge of `now` leaves its window, after it is committed.
    fn counts_until(&self, key: &Self::Key, now: Micros) -> u64;

    /// Corrects the charge of a reservation to `actual`. Returns whether the key has changed.
    ///
    /// # Errors
    /// [`Unrepresentable::Overflow`]. The key is unchanged.
    fn settle_reserved(
        &self,
        key: &mut Self::Key,
        now: Micros,
        charge: &Reservation,
        actual: Cost,
    ) -> Result<bool, Unrepresentable>;

    /// Gives back what has ended.
    fn give_back(&self, key: &mut Self::Key, now: Micros, ended: &mut [Ended]) {
        for one in ended.iter_mut().filter(|one| one.holds_units(now)) {
            one.given_back = self.settle_reserved(key, now, &one.was, Cost::ZERO) == Ok(true);
        }
    }
}

impl Reservable for FixedWindow {
    fn request_reserving(&self, key: &mut Counters, now: Micros, cost: Cost) -> Result<Reply, Unrepresentable> {
        Self::expire(key, now);
        let decision = self.decide_reserving(counter_at(self, key, now), now, cost)?;
        store_counter(self, key, now, decision.change);
        let value = counter_at(self, key, now).map_or(0, |counter| counter.value);
        Ok(Reply::new(&decision, &self.forecast(value, now), now))
    }

    fn counts_until(&self, _key: &Counters, now: Micros) -> u64 {
        FixedWindow::counts_until(self, now)
    }

    fn settle_reserved(
        &self,
        key: &mut Counters,
        now: Micros,
        charge: &Reservation,
        actual: Cost,
    ) -> Result<bool, Unrepresentable> {
        let change = FixedWindow::settle_reserved(self, counter_at(self, key, now), now, charge, actual)?;
        store_counter(self, key, now, change);
        Ok(change != Change::Keep)
    }
}

impl Reservable for WindowCounter {
    fn counts_until(&self, key: &Self::Key, now: Micros) -> u64 {
        WindowCounter::counts_until(self, *key, now)
    }

    fn settle_reserved(
        &self,
        key: &mut Self::Key,
        now: Micros,
        charge: &Reservation,
        actual: Cost,
    ) -> Result<bool, Unrepresentable> {
        let change = WindowCounter::settle_reserved(self, *key, now, charge, actual)?;
        *key = change.apply_to(*key);
        Ok(change != Change::Keep)
    }
}

impl Reservable for SlidingCounter {
    fn counts_until(&self, _key: &Self::Key, now: Micros) -> u64 {
        RecordAlgorithm::counts_until(self, now)
    }

    fn settle_reserved(
        &self,
        key: &mut Self::Key,
        now: Micros,
        charge: &Reservation,
        actual: Cost,
    ) -> Result<bool, Unrepresentable> {
        let change = reservation::settle_record(self, state_of::<Self>(key), now, charge, actual)?;
        commit(self, key, change);
        Ok(change != Change::Keep)
    }
}

impl Reservable for RollingLog {
    fn counts_until(&self, _key: &Self::Key, now: Micros) -> u64 {
        RollingLog::counts_until(self, now)
    }

    fn settle_reserved(
        &self,
        key: &mut Self::Key,
        now: Micros,
        charge: &Reservation,
        actual: Cost,
    ) -> Result<bool, Unrepresentable> {
        let change = RollingLog::settle_reserved(self, &log_of(self, key, now), now, charge, actual)?;
        commit_rolling(self, key, &change, now);
        Ok(change != Change::Keep)
    }

    fn give_back(&self, key: &mut Self::Key, now: Micros, ended: &mut [Ended]) {
        match RollingLog::give_back(self, &log_of(self, key, now), now, ended) {
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
        let (mut key, mut book) = self.give_back(algorithm, now, id);
        let full_for = book.full_for();
        let mut reserved = match book.standing() {
            Standing::Open(open) => {
                let mut reply = algorithm.request_reserving(&mut key, now, Cost::ZERO)?;
                reply.verdict.allowed = true;
                book.prolong(open, ttl);
                Reserved { reply, charged: open.units(), repeated: true, full_for: None }
            }
            _ if full_for.is_some() => {
                let mut reply = algorithm.request_reserving(&mut key, now, Cost::ZERO)?;
                reply.verdict.allowed = false;
                Reserved { reply, charged: 0, repeated: false, full_for }
            }
            Standing::Unknown | Standing::Mark(_) => {
                let reply = algorithm.request_reserving(&mut key, now, cost)?;
                Reserved { reply, charged: 0, repeated: false, full_for: None }
            }
        };
        if reserved.reply.verdict.allowed && !reserved.repeated {
            book.open(cost, ttl, algorithm.counts_until(&key, now));
            reserved.charged = cost.units();
        }
        self.commit(key, &book);
        Ok(reserved)
    }

    /// Corrects what `id` was charged to `actual`. Returns the units charged now: 0 if the id is unknown.
    ///
    /// # Errors
    /// [`Unrepresentable::Overflow`]. Nothing is changed.
    pub fn settle(&mut self, algorithm: &A, now: Micros, id: &[u8], actual: Cost) -> Result<u64, Unrepresentable> {
        let (mut key, mut book) = self.give_back(algorithm, now, id);
        let charged = match book.standing() {
            Standing::Unknown => 0,
            Standing::Open(charge) | Standing::Mark(charge) => {
                algorithm.settle_reserved(&mut key, now, &charge, actual)?;
                book.close();
                actual.units()
            }
        };
        self.commit(key, &book);
        Ok(charged)
    }

    /// The key and the reservations after what has ended is given back.
    fn give_back<'i>(&mut self, algorithm: &A, now: Micros, id: &'i [u8]) -> (A::Key, Book<'i>) {
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

    fn commit(&mut self, key: A::Key, book: &Book<'_>) {
        self.key = key;
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
