//! The leases of a concurrency limit: a ZSET with one member for each holder, scored with the millisecond in which its
//! lease ends. The key expires when the last lease ends.

use std::cell::OnceCell;

use super::sorted_set::{self, Expired, SortedSet, set_expiry};
use super::{Budget, Purpose, Storage, StoredAlgorithm, announce, extend, require_own_name};
use crate::error::Error;
use crate::ffi::{Access, Arg, ClosedKey, Ctx, Key, Kind, Str};
use redis_rl_algorithm::lease::{Hold, Leases, NEVER};
use redis_rl_algorithm::{
    Change, Charging, Cost, Decision, Figures, Forecast, Lease, MAX_COUNT, Micros, Policy, Window,
};

/// See [`Storage::Loaded`].
pub struct Loaded<'c> {
    set: SortedSet<'c>,
    /// The holder that the request names. RL.PEEK may name none.
    holder: Option<Str<'c>>,
    /// The millisecond in which its lease ends.
    own: Option<u64>,
    /// A lease of the holder is there, and it may have ended.
    is_member: bool,
    /// The millisecond in which the last lease ends, once it is known.
    last: OnceCell<u64>,
}

impl Loaded<'_> {
    fn last_end(&self) -> u64 {
        *self.last.get_or_init(|| self.set.key.highest_score().map_or(NEVER, end_of_score))
    }
}

impl Storage for Lease {
    type Loaded<'c> = Loaded<'c>;
    type Change = Hold;
    const QUOTA_UNIT: Option<&'static str> = Some("concurrent-requests");

    fn new(policy: &Policy) -> Result<Self, Error> {
        Ok(Lease::new(policy))
    }

    #[inline(always)]
    fn load<'c>(
        &self,
        key: ClosedKey<'c>,
        id: Option<&'c [u8]>,
        now: Micros,
        purpose: Purpose<'_>,
    ) -> Result<Loaded<'c>, Error> {
        let set = load_leases(key, now, purpose)?;
        let holder = id.map(Str::new);
        let end = holder.as_ref().filter(|_| set.exists).and_then(|holder| set.key.score_of(holder)).map(end_of_score);
        // Leases that have ended may still be there.
        let own = end.filter(|&end| end > Lease::ended_through(now));
        Ok(Loaded { set, holder, own, is_member: end.is_some(), last: OnceCell::new() })
    }

    fn exists(loaded: &Loaded<'_>) -> bool {
        loaded.set.exists
    }

    fn needs_memory(loaded: &Loaded<'_>, change: &Change<Hold>) -> bool {
        loaded.own.is_none() && matches!(change, Change::Charge(_))
    }

    #[inline(always)]
    fn commit(&self, loaded: Loaded<'_>, change: Change<Hold>, _now: Micros) {
        if change == Change::Keep && loaded.set.len > 0 {
            // A key that a client wrote may have another expiry, or none.
            if let Some(millis) = new_expiry(&loaded.set.key, loaded.last_end()) {
                extend(loaded.set.key, millis);
            }
            return;
        }
        let Loaded { set: SortedSet { key, .. }, holder, is_member, .. } = loaded;
        match (change, holder) {
            (Change::Delete, _) => super::delete(key),
            (Change::Charge(Hold { until }), Some(holder)) if !is_member => take(key, until, &holder),
            (Change::Charge(Hold { until }), Some(holder)) => move_ends(key, until, &[holder]),
            _ => {}
        }
    }
}

impl StoredAlgorithm for Lease {
    #[inline(always)]
    fn decide(
        &self,
        loaded: &mut Loaded<'_>,
        now: Micros,
        cost: Cost,
        _charging: Charging,
    ) -> Result<Decision<Hold>, Error> {
        Ok(Lease::decide(self, &leases(loaded), now, cost))
    }

    fn remaining(&self, loaded: &Loaded<'_>, now: Micros) -> u64 {
        self.forecast(&leases(loaded), &Change::Keep, now).remaining()
    }

    fn figures(&self, loaded: &Loaded<'_>, decision: &Decision<Hold>, now: Micros) -> Figures {
        Figures::new(&self.forecast(&leases(loaded), &decision.change, now), decision, now)
    }

    fn units_charged(loaded: &Loaded<'_>, _cost: Cost) -> u64 {
        u64::from(loaded.own.is_none())
    }
}

/// The key of the leases, for a command that takes no limit.
pub fn key<'c>(ctx: Ctx<'c>, key: Arg<'c>) -> Result<ClosedKey<'c>, Error> {
    require_own_name(key.bytes())?;
    Ok(ClosedKey::new(ctx, Str::of_argument(key)))
}

/// Renews the leases of `holders` that have not ended, and returns how many. `holders` has each at most once.
pub fn renew(key: ClosedKey<'_>, window: Window, now: Micros, mut holders: Vec<Str<'_>>) -> Result<u64, Error> {
    let set = load_leases(key, now, Purpose::Write(&Budget::of_call()))?;
    holders.retain(|holder| holds(&set, holder, now));
    if !holders.is_empty() {
        move_ends(set.key, Lease::end_of(window, now), &holders);
    }
    Ok(u64::try_from(holders.len()).unwrap_or(u64::MAX))
}

/// Ends the leases of `holders`, and returns how many had not ended before.
pub fn release(key: ClosedKey<'_>, now: Micros, mut holders: Vec<Str<'_>>) -> Result<u64, Error> {
    let set = load_leases(key, now, Purpose::Write(&Budget::of_call()))?;
    if set.len == 0 {
        return Ok(0);
    }
    holders.retain(|holder| set.expired == 0 || holds(&set, holder, now));
    // The command may delete the key.
    let key = set.key.close();
    let released = key.remove_members(&holders).ok_or(Error::INTERNAL)?;
    expire_with_the_last(key.open(Access::ReadWrite));
    Ok(released)
}

/// Whether the holder has a lease that has not ended.
fn holds(set: &SortedSet<'_>, holder: &Str<'_>, now: Micros) -> bool {
    let end = if set.len > 0 { set.key.score_of(holder).map(end_of_score) } else { None };
    end.is_some_and(|end| end > Lease::ended_through(now))
}

fn load_leases<'c>(key: ClosedKey<'c>, now: Micros, purpose: Purpose<'_>) -> Result<SortedSet<'c>, Error> {
    sorted_set::load(key, Some(Expired::UpTo(Lease::ended_through(now))), purpose)
}

/// The leases that have not ended.
fn leases(loaded: &Loaded<'_>) -> Leases<impl Fn(u64) -> u64> {
    let SortedSet { key, expired, len, .. } = &loaded.set;
    let end = |n: u64| {
        let score = match n {
            _ if n.saturating_add(1) == *len => return loaded.last_end(),
            0 if *expired == 0 => key.lowest_score(),
            _ => key.closed().score_at(n.saturating_add(*expired)),
        };
        score.map_or(NEVER, end_of_score)
    };
    Leases { len: *len, own: loaded.own, end }
}

/// The millisecond in which a lease with this score ends. A client can write a score with a fraction, or infinity.
fn end_of_score(score: f64) -> u64 {
    // The cast saturates: 0 for what is below, NEVER for what is above.
    score.ceil() as u64
}

/// Writes a lease of a holder that has none.
#[inline(always)]
fn take(mut key: Key<'_>, until: u64, holder: &Str<'_>) {
    let last = if key.any_score_above(until) { key.highest_score().map_or(NEVER, end_of_score) } else { until };
    let expires_at = new_expiry(&key, last);
    if key.add_member(until, holder) {
        let key = set_expiry(key, expires_at);
        key.notify_sorted_set(c"zadd");
        key.replicate_add(itoa::Buffer::new().format(until), holder);
        announce(&key, expires_at);
    } else {
        key.closed().ctx.log_rejected("ZADD");
    }
}

/// Changes the end of leases that exist.
fn move_ends(key: Key<'_>, end: u64, holders: &[Str<'_>]) {
    let key = key.close();
    key.rescore_members(end, holders);
    expire_with_the_last(key.open(Access::ReadWrite));
}

/// Lets the key expire when its last lease ends: later than before, or earlier.
fn expire_with_the_last(key: Key<'_>) {
    if key.kind() == Kind::SortedSet
        && let Some(last) = key.highest_score()
        && let Some(millis) = new_expiry(&key, end_of_score(last))
    {
        extend(key, millis);
    }
}

/// The expiry to set if the last lease ends in `last`. `None` leaves the expiry as it is.
fn new_expiry(key: &Key<'_>, last: u64) -> Option<u64> {
    Some(last.min(MAX_COUNT)).filter(|_| key.expires_at() != Some(last.min(MAX_COUNT)))
}
