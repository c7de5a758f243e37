//! What this process knows of the keys that it sends: what the server counts by its last reply, what was sent and has no
//! reply, and what was admitted here. One table for the decisions without the server, for units whose caller is gone, and
//! for requests that share a command.

mod known;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use quick_cache::sync::{Cache, GuardResult};
use quick_cache::{DefaultHashBuilder, Equivalent, Lifecycle, OptionsBuilder, UnitWeighter};

use known::{Admission, Waiter};
pub use known::{Asked, At, Figures, Known, Limit, Paid};

use crate::key::State;
use crate::policy::{Join, Policy, Request};
use crate::stats::Counter;

/// The most keys. Beyond that, a key makes place for another one.
const MAX_KEYS: usize = 100_000;

/// Of a key with more requests under way, one command is under way at a time. The others wait for its reply, to
/// share the next one.
const BUSY: u32 = 8;
/// A key is never busy if fewer requests may share a command. A flood of them would have so few decisions for each round
/// trip, and most of its requests would end without a reply.
const MANY: usize = 64;

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
    /// How many keys have units that were charged for callers who did not get them, or had.
    held: AtomicUsize,
    /// How many keys are busy.
    busy: AtomicUsize,
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
    /// How many requests are written that may share a command, and have no reply.
    flying: AtomicU32,
    /// The number of the request that waits to be written, and that others may join.
    leader: AtomicU64,
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
            held: AtomicUsize::new(0),
            busy: AtomicUsize::new(0),
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
        let (flying, leader) = (AtomicU32::new(0), AtomicU64::new(0));
        let new = Arc::new(Count { state: lookup.0.kept(), known, shared, flying, leader });
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

    /// Takes units that were charged for callers who did not get them, if there are enough for all of these requests.
    /// Costs nothing while there are none.
    pub fn take_held(&self, requests: &[Request<'_>], now: Instant) -> Option<Vec<Arc<Count>>> {
        if self.shared.held.load(Ordering::Relaxed) == 0 || requests.iter().any(|request| !request.takes_held()) {
            return None;
        }
        let counts: Vec<_> = requests.iter().map(|request| self.of(request, || {})).collect();
        for (at, (count, request)) in counts.iter().zip(requests).enumerate() {
            if !count.change(|known, _| known.take_held(request.cost, self::at(now))) {
                for (count, request) in counts.iter().zip(requests).take(at) {
                    count.change(|known, limit| known.give_back(limit, Paid::Held(request.cost)));
                }
                return None;
            }
        }
        Some(counts)
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
    /// Whether there is a busy key.
    pub fn has_busy(&self) -> bool {
        self.busy.load(Ordering::Relaxed) > 0
    }

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
        let held = known.has_held();
        let changed = change(&mut known, &self.limit());
        match (held, known.has_held()) {
            (false, true) => _ = self.shared.held.fetch_add(1, Ordering::Relaxed),
            (true, false) => _ = self.shared.held.fetch_sub(1, Ordering::Relaxed),
            _ => {}
        }
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

    /// What the server counts, and in how many microseconds all of it comes back.
    pub fn used(&self, now: Instant) -> (u64, Option<u64>) {
        let (known, now) = (self.known.lock(), at(now));
        (known.used_at(now), known.reset_at(now).map(|at| at - now))
    }

    /// The local units, to be sent: how they were admitted, how many they are, and the server's millisecond for which they
    /// count. They are unknown until the part has its reply.
    pub fn take_local(self: &Arc<Self>, now: Instant) -> Option<(Policy, u64, u64, Part)> {
        let (limit, now) = (self.limit(), at(now));
        let mut known = self.known.lock();
        let gone = known.expire(&limit, now);
        self.shared.dropped.add(gone);
        let (units, admitted) = known.take_local(&limit, now)?;
        let policy = Policy::of_terms(limit.algorithm, known.terms(limit.schedule));
        drop(known);
        let millis = admitted.saturating_add_signed(limit.skew) / 1_000;
        let count = Arc::clone(self);
        let part = Part { count, cost: units, holds: false, joins: None, settles: Some(admitted), state: Stage::Open };
        Some((policy, units, millis, part))
    }

    pub fn key(&self) -> &[u8] {
        self.state.key()
    }

    /// Whether the next requests wait for a reply, to share a command.
    pub fn is_busy(&self) -> bool {
        self.flying.load(Ordering::Relaxed) > BUSY
    }

    /// One more request is written, or one less.
    fn fly(&self, more: bool) {
        if more {
            if self.flying.fetch_add(1, Ordering::Relaxed) == BUSY {
                self.shared.busy.fetch_add(1, Ordering::Relaxed);
            }
        } else if self.flying.fetch_sub(1, Ordering::Relaxed) == BUSY + 1 {
            self.shared.busy.fetch_sub(1, Ordering::Relaxed);
        }
    }

    pub fn leader(&self) -> u64 {
        self.leader.load(Ordering::Relaxed)
    }

    pub fn set_leader(&self, number: u64) {
        self.leader.store(number, Ordering::Relaxed);
    }
}

impl Drop for Count {
    fn drop(&mut self) {
        if self.known.get_mut().has_held() {
            self.shared.held.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// What one command charges of a key. It is counted as unknown from when it is [opened](Part::open) until the command has
/// its reply, whatever becomes of it: what nobody accepts goes to the key's next request.
#[derive(Debug)]
pub struct Part {
    count: Arc<Count>,
    cost: u64,
    /// Whether what it charges may be used by another request.
    holds: bool,
    /// How it shares a command.
    joins: Option<(Join, usize)>,
    /// When the units were admitted that it settles, if it does.
    settles: Option<At>,
    state: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// It is not sent, or nothing more is to be done.
    Closed,
    Open,
    /// Its caller no longer waits for the reply.
    Orphan,
    /// It has its reply, which charged so much.
    Answered {
        charged: u64,
        orphan: bool,
    },
}

/// A part that is to be sent again, or not at all.
impl Clone for Part {
    fn clone(&self) -> Self {
        Self { count: Arc::clone(&self.count), state: Stage::Closed, ..*self }
    }
}

impl Part {
    /// Of a request.
    pub fn of(count: Arc<Count>, request: &Request<'_>) -> Self {
        Self {
            count,
            cost: request.cost,
            holds: request.takes_held(),
            joins: request.joins(),
            settles: None,
            state: Stage::Closed,
        }
    }

    /// How it shares a command with others of its key.
    pub fn joins(&self) -> Option<(&Arc<Count>, Join, usize)> {
        self.joins.map(|(join, most)| (&self.count, join, most))
    }

    /// It is written, or no longer under way. Where few share a command, nobody waits for a reply to share the next.
    pub fn fly(&self, more: bool) {
        if self.joins.is_some_and(|(_, most)| most >= MANY) {
            self.count.fly(more);
        }
    }

    /// It is to be sent.
    pub fn open(&mut self) {
        if self.state == Stage::Closed {
            self.state = Stage::Open;
            self.count.known.lock().opened(self.cost);
        }
    }

    /// It is not sent. Units that it settles are put back when this is dropped.
    pub fn unsent(&mut self) {
        if self.state == Stage::Open && self.settles.is_none() {
            self.state = Stage::Closed;
            self.count.known.lock().unsent(self.cost);
        }
    }

    /// Its caller no longer waits for the reply.
    pub fn orphan(&mut self) {
        if self.state == Stage::Open && self.settles.is_none() {
            self.state = Stage::Orphan;
            self.count.known.lock().orphaned(self.cost);
        }
    }

    /// Its reply is an error, which charges nothing. Units that it settles may be `sent_again`.
    pub fn rejected(&mut self, sent_again: bool) {
        // They are put back when this is dropped.
        if matches!(self.state, Stage::Open | Stage::Orphan) && !(self.settles.is_some() && sent_again) {
            self.count.known.lock().unsent(self.cost);
            if self.settles.is_some() {
                self.count.shared.dropped.add(self.cost);
            }
            self.state = Stage::Answered { charged: 0, orphan: self.state == Stage::Orphan };
        }
    }

    /// Its reply has come, with the server's time.
    pub fn answered(&mut self, figures: &Figures, now_ms: u64, now: Instant) {
        let (orphan, cost) = (self.state == Stage::Orphan, self.cost);
        if !orphan && self.state != Stage::Open {
            return;
        }
        // The reply to a settlement says what a request of cost 1 would get.
        let request = u64::from(self.settles.is_some() && figures.allowed);
        let figures = &Figures { remaining: figures.remaining.saturating_add(request), ..*figures };
        let now = at(now);
        let skew = i64::try_from(now_ms.saturating_mul(1_000)).unwrap_or(i64::MAX).saturating_sub_unsigned(now);
        self.count.shared.skew.store(skew, Ordering::Relaxed);
        self.count.known.lock().answered(&self.count.limit(), cost, figures, now);
        self.holds &= figures.allowed;
        self.state = Stage::Answered { charged: figures.charged, orphan };
        if self.settles.is_some() {
            self.count.shared.sent.add(cost);
            self.state = Stage::Closed;
        }
    }

    /// The caller has the reply.
    pub fn accept(&mut self) {
        if matches!(self.state, Stage::Answered { orphan: false, .. }) {
            self.state = Stage::Closed;
        }
    }

    /// The connection is gone, and nobody knows whether the command was executed.
    pub fn lost(&mut self, now: Instant) {
        if matches!(self.state, Stage::Open | Stage::Orphan) {
            let waiter = match (mem::replace(&mut self.state, Stage::Closed), self.settles) {
                (_, Some(_)) => Waiter::Nobody,
                (Stage::Orphan, None) => Waiter::Gone,
                _ => Waiter::Caller,
            };
            self.count.known.lock().lost(&self.count.limit(), self.cost, waiter, at(now));
            if waiter == Waiter::Nobody {
                self.count.shared.dropped.add(self.cost);
            }
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let cost = self.cost;
        match (self.state, self.settles) {
            (Stage::Closed, _) => {}
            (Stage::Answered { charged, orphan }, _) => {
                let holds = self.holds;
                if charged > 0 || orphan {
                    let now = at(Instant::now());
                    self.count.change(|known, limit| known.left(limit, cost, orphan, charged, holds, now));
                }
            }
            (_, Some(admitted)) => self.count.change(|known, limit| known.put_back(limit, cost, admitted)),
            (_, None) => self.count.known.lock().unsent(cost),
        }
    }
}
