//! What this process knows of the keys that it sends: what the server counts by its last reply, what was sent and has no
//! reply, and what was admitted here.

mod known;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use quick_cache::sync::{Cache, GuardResult};
use quick_cache::{DefaultHashBuilder, Equivalent, Lifecycle, OptionsBuilder, UnitWeighter};
use redis::Value;

use known::Admission;
pub use known::{Asked, At, Figures, Known, Limit, Paid};

use crate::error::Error;
use crate::key::State;
use crate::policy::{Policy, Request};
use crate::protocol::reply;
use crate::stats::Counter;

/// The most keys. Beyond that, a key makes place for another one.
const MAX_KEYS: usize = 100_000;

/// When this process began to count.
static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);

/// This moment as the counts have it.
pub fn at(now: Instant) -> At {
    u64::try_from(now.saturating_duration_since(*BEGAN).as_micros()).unwrap_or(u64::MAX)
}

/// All keys.
#[derive(Debug)]
pub struct Counts {
    keys: Cache<Key, Arc<Count>, UnitWeighter, DefaultHashBuilder, Evicted>,
    shared: Arc<Shared>,
}

/// What the keys share.
#[derive(Debug)]
pub struct Shared {
    /// What to add to a moment for the server's time, in microseconds.
    skew: AtomicI64,
    /// The keys that have local units, each once.
    unsent: Mutex<VecDeque<Arc<Count>>>,
    /// Whether there are any.
    has_unsent: AtomicBool,
    /// How many local units were sent, and how many were not.
    pub sent: Counter,
    pub dropped: Counter,
}

/// What is known of one key.
#[derive(Debug)]
pub struct Count {
    state: State<'static>,
    known: Mutex<Known>,
    shared: Arc<Shared>,
}

/// A key of the table, which is part of its value.
#[derive(Clone, Debug)]
struct Key(Arc<Count>);

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.state.hash(state);
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.0.state == other.0.state
    }
}

impl Eq for Key {}

/// A state to look for.
#[derive(Hash)]
struct Lookup<'a>(State<'a>);

impl Equivalent<Key> for Lookup<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        self.0 == key.0.state
    }
}

/// Says how many keys made place for another one that still counted something here.
#[derive(Clone, Debug)]
struct Evicted;

impl Lifecycle<Key, Arc<Count>> for Evicted {
    type RequestState = usize;

    fn on_evict(&self, forgotten: &mut usize, _: Key, count: Arc<Count>) {
        *forgotten += usize::from(count.has_local());
    }
}

impl Default for Counts {
    fn default() -> Self {
        let options = OptionsBuilder::new().estimated_items_capacity(1_000).weight_capacity(MAX_KEYS as u64).build();
        let options = options.expect("both capacities are given");
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        // Until a reply says more, this machine's clock counts.
        let skew =
            i64::try_from(since_1970.as_micros()).unwrap_or(i64::MAX).saturating_sub_unsigned(at(Instant::now()));
        let shared = Shared {
            skew: AtomicI64::new(skew),
            unsent: Mutex::default(),
            has_unsent: AtomicBool::new(false),
            sent: Counter::new("redis_rl_client_local_sent_total"),
            dropped: Counter::new("redis_rl_client_local_dropped_total"),
        };
        Self {
            keys: Cache::with_options(options, UnitWeighter, DefaultHashBuilder::default(), Evicted),
            shared: Arc::new(shared),
        }
    }
}

impl Counts {
    /// The count of a key. Calls `forgotten` if another one that still counted something here makes place for it.
    pub fn of(&self, request: &Request<'_>, forgotten: impl FnOnce()) -> Arc<Count> {
        let key = request.bounded_key();
        let lookup = Lookup(State::new(request.policy, &key));
        if let Some(count) = self.keys.get(&lookup) {
            return count;
        }
        let (known, shared) = (Mutex::default(), Arc::clone(&self.shared));
        let new = Arc::new(Count { state: lookup.0.kept(), known, shared });
        let key = Key(Arc::clone(&new));
        if let GuardResult::Guard(place) = self.keys.get_value_or_guard(&key, None) {
            let mut forgot = 0;
            _ = place.insert_with_lifecycle(Arc::clone(&new), &mut forgot);
            if forgot > 0 {
                forgotten();
            }
            return new;
        }
        self.keys.get(&key).unwrap_or(new)
    }

    pub fn shared(&self) -> &Shared {
        &self.shared
    }

    /// The next keys whose local units are to be sent, at most so many.
    pub fn unsent(&self, most: usize) -> Vec<Arc<Count>> {
        let mut unsent = self.shared.unsent.lock();
        let next: Vec<_> = (0..most).map_while(|_| unsent.pop_front()).collect();
        self.shared.has_unsent.store(!unsent.is_empty(), Ordering::Relaxed);
        next.iter().for_each(|count| count.known.lock().listed = false);
        next
    }
}

impl Shared {
    /// Whether there are local units that are to be sent.
    pub fn has_unsent(&self) -> bool {
        self.has_unsent.load(Ordering::Relaxed)
    }
}

impl Count {
    fn limit(&self) -> Limit {
        let skew = self.shared.skew.load(Ordering::Relaxed);
        Limit { algorithm: self.state.algorithm(), schedule: self.state.schedule(), skew }
    }

    /// Changes what is known, and notes what follows for the other keys.
    fn change<T>(self: &Arc<Self>, change: impl FnOnce(&mut Known, &Limit) -> T) -> T {
        let mut known = self.known.lock();
        let changed = change(&mut known, &self.limit());
        // LOCKOUT is not settled: its local attempts count here alone, without the locks that grow.
        if self.state.algorithm().traits().settle && known.has_local() && !mem::replace(&mut known.listed, true) {
            drop(known);
            self.shared.unsent.lock().push_back(Arc::clone(self));
            self.shared.has_unsent.store(true, Ordering::Relaxed);
        }
        changed
    }

    /// Decides on a request.
    pub fn decide(self: &Arc<Self>, asked: &Asked, now: Instant) -> Admission {
        self.change(|known, limit| known.decide(limit, asked, at(now)))
    }

    pub fn give_back(self: &Arc<Self>, paid: Paid) {
        self.change(|known, limit| known.give_back(limit, paid));
    }

    pub fn has_local(&self) -> bool {
        self.known.lock().has_local()
    }

    /// The local units, to be sent: how they were admitted, how many they are, and the server's millisecond for which they
    /// count. They are unknown until the part has its reply.
    pub fn take_local(self: &Arc<Self>, now: Instant) -> Option<(Policy, u64, u64, Part)> {
        let (limit, now) = (self.limit(), at(now));
        let mut known = self.known.lock();
        let gone = known.expire(&limit, now);
        self.shared.dropped.add(gone);
        let (units, admitted) = known.take_local(&limit)?;
        let policy = Policy::of_terms(limit.algorithm, known.terms(limit.schedule));
        drop(known);
        let millis = admitted.saturating_add_signed(limit.skew) / 1_000;
        let count = Arc::clone(self);
        let part = Part { count, cost: units, settles: Some(admitted), is_open: true };
        Some((policy, units, millis, part))
    }

    pub fn key(&self) -> &[u8] {
        self.state.key()
    }
}

/// What one command charges of a key. It is counted as unknown until the command has its reply.
#[derive(Debug)]
pub struct Part {
    count: Arc<Count>,
    cost: u64,
    /// When the units were admitted that it settles, if it does.
    settles: Option<At>,
    /// Whether it is sent, and has no reply.
    is_open: bool,
}

impl Part {
    /// Of a request that is to be sent.
    pub fn of(count: Arc<Count>, request: &Request<'_>) -> Self {
        count.known.lock().opened(request.cost);
        Self { count, cost: request.cost, settles: None, is_open: true }
    }

    /// Its reply is an error, which charges nothing. Units that it settles may be `sent_again`.
    pub fn rejected(&mut self, sent_again: bool) {
        // They are put back when this is dropped.
        if self.is_open && !(self.settles.is_some() && sent_again) {
            self.is_open = false;
            self.count.known.lock().unsent(self.cost);
            if self.settles.is_some() {
                self.count.shared.dropped.add(self.cost);
            }
        }
    }

    /// Its reply has come, with the server's time.
    pub fn answered(&mut self, figures: &Figures, now_ms: u64, now: Instant) {
        // The reply to a settlement says what a request of cost 1 would get.
        let request = u64::from(self.settles.is_some() && figures.allowed);
        let figures = &Figures { remaining: figures.remaining.saturating_add(request), ..*figures };
        let now = at(now);
        let skew = i64::try_from(now_ms.saturating_mul(1_000)).unwrap_or(i64::MAX).saturating_sub_unsigned(now);
        self.count.shared.skew.store(skew, Ordering::Relaxed);
        self.count.known.lock().answered(&self.count.limit(), self.cost, figures, now);
        self.is_open = false;
        if self.settles.is_some() {
            self.count.shared.sent.add(self.cost);
        }
    }

    /// Nobody knows whether the command was executed.
    pub fn lost(&mut self, now: Instant) {
        self.is_open = false;
        self.count.known.lock().lost(&self.count.limit(), self.cost, self.settles.is_none(), at(now));
        if self.settles.is_some() {
            self.count.shared.dropped.add(self.cost);
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        match (self.is_open, self.settles) {
            (false, _) => {}
            (true, Some(admitted)) => self.count.change(|known, limit| known.put_back(limit, self.cost, admitted)),
            (true, None) => self.count.known.lock().unsent(self.cost),
        }
    }
}

/// What a command charges, as far as that is counted here: of each limit of RL.MULTI.
#[derive(Debug, Default)]
pub struct Parts(pub Vec<Option<Part>>);

impl Parts {
    /// The command has its reply, or none.
    pub fn ended(&mut self, reply: &Result<Value, Error>) {
        let now = Instant::now();
        match reply {
            Ok(Value::Array(limits)) if self.0.len() != 1 || limits.len() == 2 => {
                let lines = limits.last().and_then(Value::as_sequence).unwrap_or_default();
                self.0.iter_mut().zip(lines).for_each(|(part, line)| Self::answer(part, line, now));
            }
            Ok(line) => self.0.iter_mut().take(1).for_each(|part| Self::answer(part, line, now)),
            Err(Error::Timeout(limit)) if !limit.is_zero() => {
                self.0.iter_mut().flatten().for_each(|part| part.lost(now))
            }
            Err(error) => self.0.iter_mut().flatten().for_each(|part| part.rejected(error.is_sent_again())),
        }
    }

    fn answer(part: &mut Option<Part>, line: &Value, now: Instant) {
        match (part, reply::kept(line)) {
            (Some(part), Some((figures, now_ms))) => part.answered(&figures, now_ms, now),
            (Some(part), None) => part.rejected(false),
            (None, _) => {}
        }
    }
}
