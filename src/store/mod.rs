//! From a key to the state that an algorithm decides on, and from a change back to the key. A change is written, gets
//! its absolute expiry, is replicated and fires its keyspace events in one place for each kind of state.

mod counter;
pub mod lease;
mod log;
mod record;
pub mod reserved;
mod rolling;
mod sorted_set;

use std::cell::Cell;

use crate::error::{Error, Message};
use crate::ffi::{Access, Arg, ClosedKey, Ctx, Key, Kind, Str};
pub use counter::Count;
pub use record::Record;
use redis_rl_algorithm::integer::to_i64;
use redis_rl_algorithm::reservation::{Ended, MAX_ENDED, Reservation};
use redis_rl_algorithm::{
    Algorithm, Change, Charging, Cost, Decision, Figures, Forecast, MAX_EXPIRED, MAX_MOVED, Micros, Name, Named, Policy,
};
use reserved::Infix;

/// What a call may still remove, over all its limits, of what no longer counts. It leaves the rest to later calls.
#[derive(Debug, PartialEq, Eq)]
pub struct Budget {
    /// Entries of logs, and leases.
    expired: Cell<u64>,
    /// Reservations that have ended.
    ended: Cell<usize>,
    /// Entries of logs ahead of the clock that it moves to now.
    moved: Cell<u64>,
}

impl Budget {
    pub const fn of_call() -> Self {
        let (expired, ended, moved) = (MAX_EXPIRED as u64, MAX_ENDED, 2 * MAX_MOVED);
        Self { expired: Cell::new(expired), ended: Cell::new(ended), moved: Cell::new(moved) }
    }

    fn spend_expired(&self, removed: u64) {
        self.expired.set(self.expired.get().saturating_sub(removed));
    }

    /// How many entries the next log may move: the first log [`MAX_MOVED`], each later log half as many as the one before.
    fn moves(&self) -> u64 {
        let half = self.moved.get() / 2;
        self.moved.set(half);
        half
    }

    fn spend_ended(&self, noticed: usize) {
        self.ended.set(self.ended.get().saturating_sub(noticed));
    }
}

/// Why a state is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose<'b> {
    /// To read it. Nothing changes.
    Read,
    /// To decide on it and write it. Entries that no longer count are removed.
    Write(&'b Budget),
    /// To delete it. Only its type and form are checked.
    Delete,
}

impl Purpose<'_> {
    /// How the key is opened, and what the user needs permission for.
    const fn access(self) -> Access {
        match self {
            Self::Read => Access::Read,
            Self::Write(_) | Self::Delete => Access::ReadWrite,
        }
    }
}

/// Where the state of an algorithm is stored: from a key to what the algorithm decides on, and from a change back to the key.
///
/// The steps are separate so that RL.MULTI can decide every limit before it commits any, and RL.PEEK commits nothing.
pub trait Storage: Named + Sized + 'static {
    /// An open key and the state in it.
    type Loaded<'c>: 'c;
    /// What a decision writes.
    type Change;

    /// What `q` counts in the header RateLimit-Policy, if not requests.
    const QUOTA_UNIT: Option<&'static str> = None;

    /// The algorithm under a policy.
    fn new(policy: &Policy) -> Result<Self, Error>;

    /// The key that holds the state of the limit on `key`, if it is another one.
    ///
    /// # Errors
    /// There is no such key in the slot of `key` (cluster mode).
    #[inline(always)]
    fn other_key<'c>(&self, _ctx: Ctx<'c>, _key: &[u8], _now: Micros) -> Result<Option<Str<'c>>, Error> {
        Ok(None)
    }

    /// Loads the state. `id` is the holder of the request; only LEASE has holders.
    ///
    /// # Errors
    /// The key holds another type, or a value that is no such state. It is left unchanged.
    fn load<'c>(
        &self,
        key: ClosedKey<'c>,
        id: Option<&'c [u8]>,
        now: Micros,
        purpose: Purpose<'_>,
    ) -> Result<Self::Loaded<'c>, Error>;

    /// Whether the key holds a state.
    fn exists(loaded: &Self::Loaded<'_>) -> bool;

    /// Whether the change creates a key or makes one larger.
    fn needs_memory(loaded: &Self::Loaded<'_>, change: &Change<Self::Change>) -> bool;

    /// Writes a change, extends the expiry if this call needs the state for longer, replicates both and fires the
    /// keyspace events. [`Change::Keep`] writes no state, but may extend the expiry.
    fn commit(&self, loaded: Self::Loaded<'_>, change: Change<Self::Change>, now: Micros);

    /// What the name of the HASH of reservations has between the key and `:reserved`.
    fn infix(&self) -> Infix {
        Infix::new()
    }

    /// Gives back reservations that have ended, in what is loaded only: [`Storage::commit_given_back`] writes it.
    fn give_back(&self, _loaded: &mut Self::Loaded<'_>, _now: Micros, _ended: &mut [Ended]) {}

    /// Writes what [`Storage::give_back`] has left of the state, and a change of it, as [`Storage::commit`] does.
    fn commit_given_back(&self, loaded: Self::Loaded<'_>, change: Change<Self::Change>, now: Micros) {
        self.commit(loaded, change, now);
    }
}

/// What an algorithm decides on a stored state. All of it is pure: [`Storage::commit`] writes the change.
pub trait StoredAlgorithm: Storage {
    /// Decides on a request.
    ///
    /// # Errors
    /// What the request would count cannot be represented.
    fn decide(
        &self,
        loaded: &mut Self::Loaded<'_>,
        now: Micros,
        cost: Cost,
        charging: Charging,
    ) -> Result<Decision<Self::Change>, Error>;

    /// How many units of a cost [`Charging::Lending`] charges.
    fn lent(&self, _loaded: &Self::Loaded<'_>, _now: Micros, cost: Cost) -> Cost {
        cost
    }

    /// The change that a request in shadow mode commits.
    fn in_shadow(
        &self,
        _loaded: &Self::Loaded<'_>,
        _now: Micros,
        change: Change<Self::Change>,
    ) -> Change<Self::Change> {
        change
    }

    /// The largest cost that would be allowed now.
    fn remaining(&self, loaded: &Self::Loaded<'_>, now: Micros) -> u64;

    /// The length of the window at `now`, in microseconds.
    fn window_at(&self, policy: &Policy, _now: Micros) -> u64 {
        policy.window().micros()
    }

    /// The figures of the state as it is after the decision, which need not be committed.
    fn figures(&self, loaded: &Self::Loaded<'_>, decision: &Decision<Self::Change>, now: Micros) -> Figures;

    /// The units that a charge adds: `cost`, but for a lease that is renewed.
    fn units_charged(_loaded: &Self::Loaded<'_>, cost: Cost) -> u64 {
        cost.units()
    }

    /// How many members of a sorted set a charge of `cost` adds.
    fn members_added(&self, _cost: Cost) -> u64 {
        0
    }

    // RL.REFUND, RL.SETTLE and RESERVE call these of the algorithms that the table says take them.

    /// What gives units back, never beyond full. `at` is when they were charged, if that is known.
    fn refunding(
        &self,
        _loaded: &Self::Loaded<'_>,
        _now: Micros,
        _at: Option<Micros>,
        _cost: Cost,
    ) -> Change<Self::Change> {
        Change::Keep
    }

    /// What charges units whatever the limit says.
    fn overcharging(
        &self,
        _loaded: &Self::Loaded<'_>,
        _now: Micros,
        _at: Option<Micros>,
        _cost: Cost,
    ) -> Result<Change<Self::Change>, Error> {
        Ok(Change::Keep)
    }

    /// The millisecond in which a charge of now leaves its window, from the state and the change that charges.
    fn counts_until(&self, _loaded: &Self::Loaded<'_>, _change: &Change<Self::Change>, now: Micros) -> u64 {
        now.millis()
    }

    /// What corrects the charge of a reservation.
    fn settling(
        &self,
        _loaded: &Self::Loaded<'_>,
        _now: Micros,
        _charge: &Reservation,
        _actual: Cost,
    ) -> Result<Change<Self::Change>, Error> {
        Ok(Change::Keep)
    }
}

/// An algorithm whose whole state is loaded before it decides: all but SLIDING and LEASE, which ask the server for members
/// of a sorted set.
trait WholeState: Storage<Change = <Self::Of as Algorithm>::Change> {
    type Of: Algorithm;

    fn algorithm(&self) -> &Self::Of;

    fn state<'l>(loaded: &'l Self::Loaded<'_>) -> <Self::Of as Algorithm>::State<'l>;
}

impl<S: WholeState> StoredAlgorithm for S {
    #[inline(always)]
    fn decide(
        &self,
        loaded: &mut S::Loaded<'_>,
        now: Micros,
        cost: Cost,
        charging: Charging,
    ) -> Result<Decision<S::Change>, Error> {
        Ok(self.algorithm().decide_charging(S::state(loaded), now, cost, charging)?)
    }

    fn lent(&self, loaded: &S::Loaded<'_>, now: Micros, cost: Cost) -> Cost {
        self.algorithm().lent(S::state(loaded), now, cost)
    }

    fn in_shadow(&self, loaded: &S::Loaded<'_>, now: Micros, change: Change<S::Change>) -> Change<S::Change> {
        self.algorithm().in_shadow(S::state(loaded), now, change)
    }

    fn remaining(&self, loaded: &S::Loaded<'_>, now: Micros) -> u64 {
        self.algorithm().forecast(S::state(loaded), &Change::Keep, now).remaining()
    }

    fn window_at(&self, policy: &Policy, now: Micros) -> u64 {
        policy.schedule.period_at(now).length
    }

    fn figures(&self, loaded: &S::Loaded<'_>, decision: &Decision<S::Change>, now: Micros) -> Figures {
        Figures::new(&self.algorithm().forecast(S::state(loaded), &decision.change, now), decision, now)
    }

    fn refunding(&self, loaded: &S::Loaded<'_>, now: Micros, at: Option<Micros>, cost: Cost) -> Change<S::Change> {
        self.algorithm().refunding(S::state(loaded), now, at, cost)
    }

    fn overcharging(
        &self,
        loaded: &S::Loaded<'_>,
        now: Micros,
        at: Option<Micros>,
        cost: Cost,
    ) -> Result<Change<S::Change>, Error> {
        Ok(self.algorithm().overcharging(S::state(loaded), now, at, cost)?)
    }

    fn counts_until(&self, loaded: &S::Loaded<'_>, change: &Change<S::Change>, now: Micros) -> u64 {
        self.algorithm().counts_until(S::state(loaded), change, now)
    }

    fn settling(
        &self,
        loaded: &S::Loaded<'_>,
        now: Micros,
        charge: &Reservation,
        actual: Cost,
    ) -> Result<Change<S::Change>, Error> {
        Ok(self.algorithm().settling(S::state(loaded), now, charge, actual)?)
    }
}

/// Rejects a key that is named as the reservations of a limit are. With such a key, a client could break the reservations of
/// another limit.
#[inline(always)]
fn require_own_name(key: &[u8]) -> Result<(), Error> {
    // Most keys end in another letter, and cost a comparison.
    if matches!(key.last(), Some(b'd' | b's')) && (key.ends_with(b":reserved") || key.ends_with(b":reserved:ends")) {
        Err(Error::RESERVED_KEY)
    } else {
        Ok(())
    }
}

/// Rejects the deletion of a key that is named as the reservations of a limit are, unless it holds a state that an earlier
/// version of the module wrote. The order of a HASH of reservations is no such state.
pub fn require_left_over(ctx: Ctx<'_>, key: Arg<'_>, exists: bool) -> Result<(), Error> {
    let name = key.bytes();
    require_own_name(name).or_else(|error| {
        let hash = name.strip_suffix(b":ends").map(|hash| ClosedKey::new(ctx, Str::new(hash)).open(Access::Read));
        if exists && hash.is_none_or(|hash| hash.kind() != Kind::Hash) { Ok(()) } else { Err(error) }
    })
}

/// The key that holds the state of the limit on `key`.
///
/// # Errors
/// `key` has the name of reservations and is not to be deleted, there is no such key in its slot (cluster mode), or the
/// user has no permission for it. The server has checked the permission for `key` only.
#[inline(always)]
pub fn state_key<'c>(
    algorithm: &impl Storage,
    ctx: Ctx<'c>,
    key: Arg<'c>,
    now: Micros,
    purpose: Purpose<'_>,
) -> Result<ClosedKey<'c>, Error> {
    let bytes = key.bytes();
    // An earlier version may have left a state there: RL.RESET deletes it.
    if purpose != Purpose::Delete {
        require_own_name(bytes)?;
    }
    let name = match algorithm.other_key(ctx, bytes, now)? {
        None => Str::of_argument(key),
        Some(name) if ctx.may_access(&[&name], key, purpose.access()) => name,
        Some(_) => return Err(Error::NO_PERMISSION),
    };
    Ok(ClosedKey::new(ctx, name))
}

/// Reads the STRING at a key. `None` if the key does not exist.
#[inline(always)]
fn read_string<T>(key: &Key<'_>, purpose: Purpose<'_>, read: impl FnOnce(&[u8]) -> T) -> Result<Option<T>, Error> {
    match (key.kind(), purpose) {
        (Kind::Nothing, _) => Ok(None),
        // A key that is open for reading may not be read in place.
        (Kind::String, Purpose::Read) => Ok(key.closed().get_string(read)),
        (Kind::String, Purpose::Write(_) | Purpose::Delete) => Ok(Some(read(key.string()))),
        _ => Err(Error::WRONG_TYPE),
    }
}

/// The error for a STRING that the algorithm with this tag did not write. Names the one that did, where that can be told.
#[cold]
fn foreign_value(key: &Key<'_>, purpose: Purpose<'_>, tag: &[u8], otherwise: Error) -> Error {
    let is_own = |record: &[u8]| !tag.is_empty() && record.starts_with(tag);
    let writer = |record: &[u8]| Name::of_record(record).filter(|_| !is_own(record));
    match read_string(key, purpose, writer) {
        Ok(Some(Some(name))) => Error::new(Message::HeldBy(name.word())),
        _ => otherwise,
    }
}

/// Deletes a key, replicates that and fires the event.
fn delete(mut key: Key<'_>) {
    key.unlink();
    let key = key.close_changed();
    key.notify_generic(c"del");
    key.replicate(c"UNLINK");
}

/// Sets the expiry, replicates it and fires the event.
fn extend(mut key: Key<'_>, expires_at: u64) {
    key.set_expires_at(expires_at);
    announce(&key.close_changed(), Some(expires_at));
}

/// Writes a record with its expiry, replicates both and fires the events.
#[inline(always)]
fn set(mut key: Key<'_>, record: &[u8], expires_at: u64) {
    key.set_string(record);
    key.set_expires_at(expires_at);
    let key = key.close_changed();
    key.notify_string(c"set");
    key.notify_generic(c"expire");
    key.replicate_set(record, expires_at);
}

/// Writes a record and leaves the expiry of its key, replicates that and fires the event.
#[inline(always)]
fn set_keeping_ttl(mut key: Key<'_>, record: &[u8]) {
    key.set_string(record);
    let key = key.close_changed();
    key.notify_string(c"set");
    key.replicate_set_keeping_ttl(record);
}

/// Announces the expiry of a key, if it has changed.
#[inline(always)]
fn announce(key: &ClosedKey<'_>, expires_at: Option<u64>) {
    if let Some(millis) = expires_at {
        key.notify_generic(c"expire");
        key.replicate_integer(c"PEXPIREAT", to_i64(millis));
    }
}
