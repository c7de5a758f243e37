//! The counters of windows: a STRING that INCR could have written. That of a window that starts with its first request is at
//! the key itself, and expires at the end of the window. That of a fixed window is at `<key>:<bucket>`, or at
//! `<key>:<window>:<start>` for a window of the calendar or with an anchor.

use std::ffi::CStr;
use std::fmt::Write;

use arrayvec::ArrayString;

use super::reserved::Infix;
use super::{Budget, Purpose, Storage, WholeState, foreign_value, read_string};
use crate::error::Error;
use crate::ffi::{ClosedKey, Ctx, Key, Str};
use redis_rl_algorithm::fixed_window::Counter;
use redis_rl_algorithm::hash_tag::braces;
use redis_rl_algorithm::integer::{Text, parse_integer};
use redis_rl_algorithm::period::Suffix;
use redis_rl_algorithm::reservation::{Ended, give_back};
use redis_rl_algorithm::{Algorithm, Change, Cost, FixedWindow, Micros, Name, Named, Policy, WindowCounter};

/// An open key and the counter in it.
pub struct Loaded<'c> {
    key: Key<'c>,
    counter: Option<Counter>,
}

/// What differs between the counters of two algorithms.
pub trait Counting: for<'s> Algorithm<State<'s> = Option<Counter>, Change = Counter> + 'static {
    /// The event of a value that is written with a new expiry.
    const EVENT_WITH_EXPIRY: &'static CStr;

    /// See [`Storage::other_key`].
    #[inline(always)]
    fn other_key<'c>(&self, _ctx: Ctx<'c>, _key: &[u8], _now: Micros) -> Result<Option<Str<'c>>, Error> {
        Ok(None)
    }

    /// See [`Storage::infix`].
    fn infix(&self) -> Infix {
        Infix::new()
    }
}

impl Counting for WindowCounter {
    const EVENT_WITH_EXPIRY: &'static CStr = c"set";
}

impl Counting for FixedWindow {
    const EVENT_WITH_EXPIRY: &'static CStr = c"incrby";

    #[inline(always)]
    fn other_key<'c>(&self, ctx: Ctx<'c>, key: &[u8], now: Micros) -> Result<Option<Str<'c>>, Error> {
        let [open, close] = braces(key, ctx.is_cluster()).ok_or(Error::CLUSTER_KEY)?;
        let mut number = itoa::Buffer::new();
        let mut text = ArrayString::<{ Suffix::MAX_LEN }>::new();
        let suffix = match self.schedule.suffix_at(now) {
            Suffix::Number(n) => number.format(n),
            suffix => {
                write!(text, "{suffix}").map_err(|_| {
                    ctx.log_warning("internal error: the name of a counter is longer than the module expects");
                    Error::INTERNAL
                })?;
                &text
            }
        };
        Ok(Some(Str::concat([open, key, close, b":", suffix.as_bytes()])))
    }

    fn infix(&self) -> Infix {
        let mut infix = Infix::new();
        // It fits: 18 characters of the window and 12 of the anchor.
        let _ = write!(infix, ":{}", self.schedule);
        infix
    }
}

/// An algorithm whose state is a counter.
pub struct Count<A>(A);

impl<A: Named> Named for Count<A> {
    const NAME: Name = A::NAME;
}

impl<A: Counting> Storage for Count<A> {
    type Loaded<'c> = Loaded<'c>;
    type Change = Counter;

    fn new(policy: &Policy) -> Result<Self, Error> {
        Ok(Self(A::new(policy)?))
    }

    #[inline(always)]
    fn other_key<'c>(&self, ctx: Ctx<'c>, key: &[u8], now: Micros) -> Result<Option<Str<'c>>, Error> {
        self.0.other_key(ctx, key, now)
    }

    #[inline(always)]
    fn load<'c>(
        &self,
        key: ClosedKey<'c>,
        _id: Option<&'c [u8]>,
        _now: Micros,
        purpose: Purpose<'_>,
    ) -> Result<Loaded<'c>, Error> {
        let key = key.open(purpose.access());
        let counter = match read_string(&key, purpose, parse_integer)? {
            None => None,
            Some(Some(value)) => Some(Counter { value, expires_at: key.expires_at() }),
            Some(None) => return Err(foreign_value(&key, purpose, b"", Error::NOT_A_COUNTER)),
        };
        Ok(Loaded { key, counter })
    }

    fn exists(loaded: &Loaded<'_>) -> bool {
        loaded.counter.is_some()
    }

    fn needs_memory(loaded: &Loaded<'_>, change: &Change<Counter>) -> bool {
        loaded.counter.is_none() && matches!(change, Change::Charge(_))
    }

    #[inline(always)]
    fn commit(&self, loaded: Loaded<'_>, change: Change<Counter>, _now: Micros) {
        match change {
            Change::Keep => {}
            Change::Delete => super::delete(loaded.key),
            Change::Charge(counter) | Change::Rebase(counter) | Change::Refund(counter) => {
                write(loaded, counter, A::EVENT_WITH_EXPIRY);
            }
        }
    }

    fn infix(&self) -> Infix {
        self.0.infix()
    }

    fn give_back(&self, loaded: &mut Loaded<'_>, now: Micros, ended: &mut [Ended]) {
        let settle = |counter, charge: &_| self.0.settling(counter, now, charge, Cost::ZERO);
        give_back(&mut loaded.counter, now, ended, settle);
    }

    fn commit_given_back(&self, loaded: Loaded<'_>, change: Change<Counter>, now: Micros) {
        let Loaded { key, counter } = loaded;
        // The type has been checked.
        let purpose = Purpose::Write(&Budget::of_call());
        let Ok(stored) = self.load(key.close(), None, now, purpose) else { return };
        match change.apply_to(counter) {
            Some(after) => write(stored, after, A::EVENT_WITH_EXPIRY),
            None if stored.counter.is_some() => super::delete(stored.key),
            None => {}
        }
    }
}

impl<A: Counting> WholeState for Count<A> {
    type Of = A;

    fn algorithm(&self) -> &A {
        &self.0
    }

    fn state(loaded: &Loaded<'_>) -> Option<Counter> {
        loaded.counter
    }
}

/// Writes the counter and replicates it in as few commands as possible. `event_with_expiry` is the event of a value that is
/// written with a new expiry.
#[inline(always)]
fn write(Loaded { mut key, counter: before }: Loaded<'_>, after: Counter, event_with_expiry: &CStr) {
    let delta = after.value.checked_sub(before.map_or(0, |counter| counter.value));
    let new_expiry = after.expires_at.filter(|_| after.expires_at != before.and_then(|counter| counter.expires_at));
    let mut digits = Text::new();
    if delta != Some(0) {
        digits.push_signed(after.value);
        key.set_string(&digits);
    }
    if let Some(millis) = new_expiry {
        key.set_expires_at(millis);
    }
    let key = key.close_changed();
    if delta != Some(0) {
        key.notify_string(if new_expiry.is_some() { event_with_expiry } else { c"incrby" });
    }
    if new_expiry.is_some() {
        key.notify_generic(c"expire");
    }
    match (delta, new_expiry) {
        (Some(0), None) => {}
        (Some(0), Some(millis)) => key.replicate_integer(c"PEXPIREAT", millis.try_into().unwrap_or(i64::MAX)),
        (_, Some(millis)) => key.replicate_set(&digits, millis),
        (Some(1), None) => key.replicate(c"INCR"),
        (Some(delta), None) => key.replicate_integer(c"INCRBY", delta),
        // The difference does not fit an INCRBY.
        (None, None) => key.replicate_set_keeping_ttl(&digits),
    }
}
