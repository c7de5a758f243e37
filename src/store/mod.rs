//! From a key to the state that an algorithm decides on, and from a change back to the key. A change is written, gets
//! its absolute expiry, is replicated and fires its keyspace events in one place for each kind of state.

mod counter;
pub mod lease;
mod log;
pub mod record;
mod rolling;
mod sorted_set;
pub mod text;

use crate::algorithm::arithmetic::to_i64;
use crate::algorithm::{Change, Cost, Decision, Figures, Micros, Policy};
use crate::error::Error;
use crate::ffi::{Access, Arg, Argument, ClosedKey, Ctx, Key, Mode, Str};
use crate::stats::Decisions;

/// The columns of the table of algorithms.
pub trait AlgorithmInfo {
    /// The word of the algorithm in the grammar.
    const NAME: &'static str;
    const SUMMARY: &'static std::ffi::CStr;
    const COMPLEXITY: &'static std::ffi::CStr;
    /// What it takes of the options that not every algorithm takes.
    const TAKES: Takes;
    /// The arguments of its command in COMMAND DOCS.
    const ARGUMENTS: &'static [Argument];

    /// The error for an option that it does not take.
    fn takes_no(option: Takes) -> Error;

    /// The error for a window of the calendar.
    const NO_CALENDAR: Error;

    /// The counters of the algorithm.
    fn decisions() -> &'static Decisions;
}

/// A set of options that not every algorithm takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Takes(u8);

impl Takes {
    pub const NOTHING: Self = Self(0);
    pub const COST: Self = Self(1);
    pub const PARTIAL: Self = Self(2);
    pub const BURST: Self = Self(4);
    /// And the windows of the calendar.
    pub const ANCHOR: Self = Self(8);
    /// It is required, but in RL.PEEK.
    pub const ID: Self = Self(16);

    /// These options, and those of `other`.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all options of `other` are among these.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// Why a state is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To read it. Nothing changes.
    Read,
    /// To decide on it and write it. Entries that no longer count are removed.
    Write,
    /// To delete it. Only its type and form are checked.
    Delete,
}

impl Purpose {
    /// How the key is opened.
    const fn mode(self) -> Mode {
        match self {
            Self::Read => Mode::ReadOnly,
            Self::Write | Self::Delete => Mode::Write,
        }
    }

    /// What the user needs permission for.
    const fn access(self) -> Access {
        match self {
            Self::Read => Access::Read,
            Self::Write | Self::Delete => Access::ReadWrite,
        }
    }
}

/// An algorithm, and where its state is stored.
///
/// The steps are separate so that RL.MULTI can decide every limit before it commits any, and RL.PEEK commits nothing.
pub trait StoredAlgorithm: AlgorithmInfo + Sized {
    /// An open key and the state in it.
    type Loaded<'c>: 'c;
    /// What a decision writes.
    type Change;

    /// Whether `count` includes this request.
    const COUNT_IS_AFTER: bool = false;

    /// Whether `ttl` is what the script replies, even on a denial, instead of the time to retry after.
    const TTL_OF_SCRIPT: bool = false;
    /// The error of RL.REFUND and RL.SETTLE, if the algorithm counts nothing that they could correct.
    const NO_CORRECTION: Option<Error> = None;
    /// What `q` counts in the header RateLimit-Policy, if not requests.
    const QUOTA_UNIT: Option<&'static str> = None;

    /// The algorithm under a policy.
    ///
    /// # Errors
    /// The policy describes what cannot be represented.
    fn new(policy: &Policy) -> Result<Self, Error>;

    /// The key that holds the state of the limit on `key`, if it is another one.
    ///
    /// # Errors
    /// There is no such key in the slot of `key` (cluster mode).
    #[inline(always)]
    fn other_key<'c>(&self, _ctx: Ctx<'c>, _key: Arg<'c>, _now: Micros) -> Result<Option<Str<'c>>, Error> {
        Ok(None)
    }

    /// Loads the state.
    ///
    /// # Errors
    /// The key holds another type, or a value that is no such state. It is left unchanged.
    fn load<'c>(&self, key: ClosedKey<'c>, now: Micros, purpose: Purpose) -> Result<Self::Loaded<'c>, Error>;

    /// Loads the state for a request. `id` is the holder that asks; only LEASE has holders.
    ///
    /// # Errors
    /// As [`StoredAlgorithm::load`].
    #[inline(always)]
    fn load_for<'c>(
        &self,
        key: ClosedKey<'c>,
        _id: Option<&'c [u8]>,
        now: Micros,
        purpose: Purpose,
    ) -> Result<Self::Loaded<'c>, Error> {
        self.load(key, now, purpose)
    }

    /// Whether the key holds a state.
    fn exists(loaded: &Self::Loaded<'_>) -> bool;

    /// Decides on a request.
    ///
    /// # Errors
    /// What the request would count cannot be represented.
    fn decide_on(
        &self,
        loaded: &mut Self::Loaded<'_>,
        now: Micros,
        cost: Cost,
    ) -> Result<Decision<Self::Change>, Error>;

    /// Gives `cost` units back, never beyond full. `at` is when they were charged, if that is known.
    fn refund_on(&self, loaded: &Self::Loaded<'_>, now: Micros, at: Option<Micros>, cost: Cost)
    -> Change<Self::Change>;

    /// Charges `cost` units whatever the limit says, for RL.SETTLE. `at` is when the request was charged, if that is
    /// known.
    ///
    /// # Errors
    /// The result cannot be represented.
    fn overcharge_on(
        &self,
        loaded: &Self::Loaded<'_>,
        now: Micros,
        at: Option<Micros>,
        cost: Cost,
    ) -> Result<Change<Self::Change>, Error>;

    /// The largest cost that would be allowed now.
    fn remaining(&self, loaded: &Self::Loaded<'_>, now: Micros) -> u64;

    /// The length of the window at `now`, in microseconds.
    fn window_at(&self, policy: &Policy, _now: Micros) -> u64 {
        policy.window().micros()
    }

    /// The figures of the state as it is after the decision, which need not be committed.
    fn figures(&self, loaded: &Self::Loaded<'_>, decision: &Decision<Self::Change>, now: Micros, cost: Cost)
    -> Figures;

    /// Whether the change creates a key or makes one larger.
    fn needs_memory(loaded: &Self::Loaded<'_>, change: &Change<Self::Change>) -> bool;

    /// How many members of a sorted set a charge of `cost` adds.
    fn members_added(&self, _cost: Cost) -> u64 {
        0
    }

    /// Writes a change, extends the expiry if this call needs the state for longer, replicates both and fires the
    /// keyspace events. [`Change::Keep`] writes no state, but may extend the expiry.
    fn commit(&self, loaded: Self::Loaded<'_>, change: Change<Self::Change>, now: Micros);
}

/// The key that holds the state of the limit on `key`.
///
/// # Errors
/// There is no such key in the slot of `key` (cluster mode), or the user has no permission for it. The server has
/// checked the permission for `key` only.
#[inline(always)]
pub fn state_key<'c, A: StoredAlgorithm>(
    algorithm: &A,
    ctx: Ctx<'c>,
    key: Arg<'c>,
    now: Micros,
    purpose: Purpose,
) -> Result<ClosedKey<'c>, Error> {
    let name = match algorithm.other_key(ctx, key, now)? {
        None => Str::of_argument(key),
        Some(name) if ctx.may_access(&name, purpose.access()) => name,
        Some(_) => return Err(Error::NO_PERMISSION),
    };
    Ok(ClosedKey::new(ctx, name))
}

/// Deletes a key, replicates that and fires the event.
fn delete(mut key: Key<'_>) {
    key.unlink();
    let key = key.close();
    key.notify_generic(c"del");
    key.signal_modified();
    key.replicate(c"UNLINK");
}

/// Sets the expiry, replicates it and fires the event.
fn extend(mut key: Key<'_>, expires_at: u64) {
    key.set_expires_at(expires_at);
    announce(&key.close(), Some(expires_at));
}

/// Writes a record with its expiry, replicates both and fires the events.
#[inline(always)]
fn set(mut key: Key<'_>, record: &[u8], expires_at: u64) {
    key.set_string(record);
    key.set_expires_at(expires_at);
    let key = key.close();
    key.notify_string(c"set");
    key.notify_generic(c"expire");
    key.signal_modified();
    key.replicate_set(record, expires_at);
}

/// Announces a changed key, and its expiry if that has changed.
fn announce(key: &ClosedKey<'_>, expires_at: Option<u64>) {
    if expires_at.is_some() {
        key.notify_generic(c"expire");
    }
    key.signal_modified();
    if let Some(millis) = expires_at {
        key.replicate_integer(c"PEXPIREAT", to_i64(millis));
    }
}

/// The error of a call that the server must not reject, with a line in the log.
fn internal_error(ctx: Ctx<'_>, command: &str) -> Error {
    ctx.log_warning(&format!("internal error: the server rejected {command}, which the module calls"));
    Error::INTERNAL
}
