//! What the states that are sorted sets share: the log of a sliding window, and leases.

use std::ffi::{CStr, CString};

use super::Purpose;
use crate::error::Error;
use crate::ffi::{Access, ClosedKey, Key, Kind};
use redis_rl_algorithm::integer::to_i64;

/// An open key and the members in it.
pub struct SortedSet<'c> {
    pub key: Key<'c>,
    /// Members that no longer count and are still there: all if the set is read only, else what is beyond the budget.
    pub expired: u64,
    /// Members that count.
    pub len: u64,
    pub exists: bool,
    /// How many members of a log may be moved to now, if there are some ahead of the clock.
    pub may_move: u64,
}

/// The scores of the members that no longer count.
#[derive(Clone, Copy)]
pub enum Expired {
    /// From 0 to this score. The scripts leave lower scores alone.
    FromZeroTo(u64),
    /// All scores up to this one.
    UpTo(u64),
}

impl Expired {
    const fn lowest(self) -> (&'static CStr, f64) {
        match self {
            Self::FromZeroTo(_) => (c"0", 0.0),
            Self::UpTo(_) => (c"-inf", f64::NEG_INFINITY),
        }
    }
}

/// Loads a sorted set. Members that no longer count are removed, lowest score first, as far as the budget of the call
/// reaches. The others are counted.
#[inline(always)]
pub fn load<'c>(key: ClosedKey<'c>, expired: Option<Expired>, purpose: Purpose<'_>) -> Result<SortedSet<'c>, Error> {
    let mut key = key.open(purpose.access());
    match key.kind() {
        Kind::Nothing => return Ok(SortedSet { key, expired: 0, len: 0, exists: false, may_move: 0 }),
        Kind::SortedSet => {}
        _ => return Err(Error::WRONG_TYPE),
    }
    let mut still_there = 0;
    if let Some(expired @ (Expired::FromZeroTo(through) | Expired::UpTo(through))) = expired
        && purpose != Purpose::Delete
        && let (min, min_score) = expired.lowest()
        && key.any_score_in(min_score, through)
    {
        still_there = match purpose {
            Purpose::Write(budget) if key.len() <= budget.expired.get() => {
                // The command may delete the key.
                let closed = key.close();
                let removed = closed.remove_scores(min, through);
                budget.spend_expired(removed.ok_or(Error::INTERNAL)?);
                key = closed.open(purpose.access());
                0
            }
            Purpose::Write(budget) => {
                let found = count_scores(&key, min, through)?;
                let removed = found.min(budget.expired.get());
                key = remove_lowest(key, min_score, removed)?;
                budget.spend_expired(removed);
                found.saturating_sub(removed)
            }
            Purpose::Read | Purpose::Delete => count_scores(&key, min, through)?,
        };
    }
    let members = key.len();
    let len = members.saturating_sub(still_there);
    Ok(SortedSet { key, expired: still_there, len, exists: members > 0, may_move: 0 })
}

/// Removes `count` of the members with a score of at least `min`, lowest score first. `min` is 0 or -infinity.
#[cold]
fn remove_lowest(key: Key<'_>, min: f64, count: u64) -> Result<Key<'_>, Error> {
    if count == 0 {
        return Ok(key);
    }
    let lower = key.lowest_score().is_some_and(|lowest| lowest < min);
    let key = key.close();
    let first = if lower { to_i64(key.count_scores(c"-inf", c"(0").unwrap_or(0)) } else { 0 };
    let removed = key.remove_ranks(first, first.saturating_add(to_i64(count)).saturating_sub(1));
    removed.ok_or(Error::INTERNAL)?;
    Ok(key.open(Access::ReadWrite))
}

/// The number of members with a score from `min` to `max`.
pub fn count_scores(key: &Key<'_>, min: &CStr, max: u64) -> Result<u64, Error> {
    let max = CString::new(max.to_string()).unwrap_or_default();
    key.closed().count_scores(min, &max).ok_or(Error::INTERNAL)
}

/// Sets the expiry, if there is one to set, of a key that has changed or changes now. [`super::announce`] goes with it.
#[inline(always)]
pub fn set_expiry(mut key: Key<'_>, expires_at: Option<u64>) -> ClosedKey<'_> {
    if let Some(millis) = expires_at {
        key.set_expires_at(millis);
    }
    key.close_changed()
}
