//! The counter of a fixed window: a STRING that INCR could have written, at `<key>:<bucket>`, or at
//! `<key>:<window>:<start>` for a window of the calendar or with an anchor.

use std::ffi::CStr;
use std::fmt::Write;

use arrayvec::ArrayString;

use super::braces::braces;
use super::reserved::{Infix, Reservations};
use super::{Budget, Corrections, Decide, Purpose, StoredAlgorithm, foreign_value, internal_error, read_string};
use crate::error::Error;
use crate::ffi::{ClosedKey, Ctx, Key, Str};
use redis_rl_algorithm::fixed_window::Counter;
use redis_rl_algorithm::integer::parse_integer;
use redis_rl_algorithm::period::Suffix;
use redis_rl_algorithm::reservation::{Ended, Reservation};
use redis_rl_algorithm::text::Text;
use redis_rl_algorithm::{Algorithm, Change, Changed, Cost, Decision, Figures, FixedWindow, Forecast, Micros, Policy};

/// An open key and the counter in it: [`StoredAlgorithm::Loaded`] of FIXED and of WINDOW.
pub struct Loaded<'c> {
    pub key: Key<'c>,
    pub counter: Option<Counter>,
}

/// Loads a counter.
///
/// # Errors
/// The key holds another type, or a STRING that is no integer.
#[inline(always)]
pub fn load<'c>(key: ClosedKey<'c>, purpose: Purpose<'_>) -> Result<Loaded<'c>, Error> {
    let key = key.open(purpose.access());
    let counter = match read_string(&key, purpose, parse_integer)? {
        None => None,
        Some(Some(value)) => Some(Counter { value, expires_at: key.expires_at() }),
        Some(None) => return Err(foreign_value(&key, purpose, b"", Error::NOT_A_COUNTER)),
    };
    Ok(Loaded { key, counter })
}

impl StoredAlgorithm for FixedWindow {
    type Loaded<'c> = Loaded<'c>;
    type Change = Counter;
    const ALWAYS: Option<Decide<Self>> =
        Some(|this, loaded, now, cost| Ok(this.decide_always(loaded.counter, now, cost)?));
    const CORRECTIONS: Result<Corrections<Self>, Error> = Ok(Corrections {
        refund: |this, loaded, now, at, cost| this.refunding(loaded.counter, now, at, cost),
        overcharge: |this, loaded, now, at, cost| Ok(this.overcharging(loaded.counter, now, at, cost)?),
    });
    const RESERVATIONS: Option<&'static Reservations<Self>> = Some(&Reservations {
        infix: |this| {
            let mut infix = Infix::new();
            // It fits: 18 characters of the window and 12 of the anchor.
            let _ = write!(infix, ":{}", this.schedule());
            infix
        },
        decide: |this, loaded, now, cost| Ok(this.decide_reserving(loaded.counter, now, cost)?),
        counts_until: |this, loaded, change, now| this.counts_until(loaded.counter, change, now),
        settle: |this, loaded, now, charge, actual| Ok(this.settling(loaded.counter, now, charge, actual)?),
        give_back: |this, loaded, now, ended| {
            give_back(loaded, now, ended, |counter, charge| this.settling(counter, now, charge, Cost::ZERO));
        },
        commit: |_, loaded, change, _| commit_given_back(loaded, change, c"incrby"),
    });

    fn new(policy: &Policy) -> Result<Self, Error> {
        Ok(<Self as Algorithm>::new(policy)?)
    }

    #[inline(always)]
    fn other_key<'c>(&self, ctx: Ctx<'c>, key: &[u8], now: Micros) -> Result<Option<Str<'c>>, Error> {
        let [open, close] = braces(key, ctx.is_cluster()).ok_or(Error::CLUSTER_KEY)?;
        let mut number = itoa::Buffer::new();
        let mut text = ArrayString::<{ Suffix::MAX_LEN }>::new();
        let suffix = match self.suffix_at(now) {
            Suffix::Number(n) => number.format(n),
            suffix => {
                write!(text, "{suffix}").map_err(|_| internal_error(ctx, "a key of its own"))?;
                &text
            }
        };
        Ok(Some(Str::concat([open, key, close, b":", suffix.as_bytes()])))
    }

    #[inline(always)]
    fn load<'c>(
        &self,
        key: ClosedKey<'c>,
        _id: Option<&'c [u8]>,
        _now: Micros,
        purpose: Purpose<'_>,
    ) -> Result<Loaded<'c>, Error> {
        load(key, purpose)
    }

    fn exists(loaded: &Loaded<'_>) -> bool {
        loaded.counter.is_some()
    }

    #[inline(always)]
    fn decide_on(&self, loaded: &mut Loaded<'_>, now: Micros, cost: Cost) -> Result<Decision<Counter>, Error> {
        Ok(self.decide(loaded.counter, now, cost)?)
    }

    fn remaining(&self, loaded: &Loaded<'_>, now: Micros) -> u64 {
        self.forecast(loaded.counter, &Change::Keep, now).remaining()
    }

    fn window_at(&self, _policy: &Policy, now: Micros) -> u64 {
        self.period_at(now).length
    }

    fn figures(&self, loaded: &Loaded<'_>, decision: &Decision<Counter>, now: Micros) -> Figures {
        Figures::new(&self.forecast(loaded.counter, &decision.change, now), decision, now)
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
                write(loaded, counter, c"incrby");
            }
        }
    }
}

/// Writes the counter and replicates it in as few commands as possible. `event_with_expiry` is the event of a value that
/// is written with a new expiry.
#[inline(always)]
pub fn write(Loaded { mut key, counter: before }: Loaded<'_>, after: Counter, event_with_expiry: &CStr) {
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

/// Gives back in `loaded` what has ended. `settle` corrects a counter.
pub fn give_back(
    loaded: &mut Loaded<'_>,
    now: Micros,
    ended: &mut [Ended],
    settle: impl Fn(Option<Counter>, &Reservation) -> Changed<Counter>,
) {
    for one in ended.iter_mut().filter(|one| one.holds_units(now)) {
        let change = settle(loaded.counter, &one.was).unwrap_or(Change::Keep);
        one.given_back = change != Change::Keep;
        loaded.counter = change.apply_to(loaded.counter);
    }
}

/// Writes a counter that [`give_back`] has changed, and a change of it, as one.
pub fn commit_given_back(loaded: Loaded<'_>, change: Change<Counter>, event_with_expiry: &CStr) {
    let Loaded { key, counter } = loaded;
    let after = change.apply_to(counter);
    // The type has been checked.
    let Ok(stored) = load(key.close(), Purpose::Write(&Budget::of_call())) else { return };
    match after {
        Some(after) => write(stored, after, event_with_expiry),
        None if stored.counter.is_some() => super::delete(stored.key),
        None => {}
    }
}
