//! The log of a sliding window: a ZSET with one member for each unit, scored with the millisecond of its charge.

use std::sync::atomic::{AtomicU64, Ordering};

use super::sorted_set::{self, Expired, SortedSet, count_scores, set_expiry};
use super::{Purpose, Storage, StoredAlgorithm};
use crate::error::Error;
use crate::ffi::{ClosedKey, Key, Str};
use redis_rl_algorithm::integer::to_i64;
use redis_rl_algorithm::sliding_log::LogChange;
use redis_rl_algorithm::{
    Algorithm, Change, Charging, Cost, Decision, Figures, Forecast, MAX_MOVED, Micros, Policy, SlidingLog,
};

impl Storage for SlidingLog {
    type Loaded<'c> = SortedSet<'c>;
    type Change = LogChange;

    fn new(policy: &Policy) -> Result<Self, Error> {
        Ok(<Self as Algorithm>::new(policy)?)
    }

    #[inline(always)]
    fn load<'c>(
        &self,
        key: ClosedKey<'c>,
        _id: Option<&'c [u8]>,
        now: Micros,
        purpose: Purpose<'_>,
    ) -> Result<SortedSet<'c>, Error> {
        let set = sorted_set::load(key, self.expired_through(now).map(Expired::FromZeroTo), purpose)?;
        let may_move = if let Purpose::Write(budget) = purpose { budget.moves() } else { MAX_MOVED };
        Ok(SortedSet { may_move, ..set })
    }

    fn exists(loaded: &SortedSet<'_>) -> bool {
        loaded.exists
    }

    fn needs_memory(_loaded: &SortedSet<'_>, change: &Change<LogChange>) -> bool {
        matches!(change, Change::Charge(_))
    }

    #[inline(always)]
    fn commit(&self, loaded: SortedSet<'_>, change: Change<LogChange>, now: Micros) {
        let mut key = loaded.key;
        let millis = now.millis();
        let held = || if loaded.exists { key.expires_at() } else { None };
        let expires_at = self.new_expiry(held(), now);
        match change {
            Change::Charge(LogChange::Add(1)) => {
                let mut text = itoa::Buffer::new();
                let text = text.format(millis);
                if let Some(member) = add_one(&mut key, millis, text) {
                    let key = set_expiry(key, expires_at);
                    key.notify_sorted_set(c"zadd");
                    key.replicate_add(text, &member);
                    super::announce(&key, expires_at);
                }
            }
            Change::Charge(LogChange::Add(count)) => add_several(key, count, millis, expires_at),
            Change::Charge(LogChange::AddEarlier { count, millis }) => add_several(key, count, millis, expires_at),
            Change::Rebase(_) => {
                let most = usize::try_from(loaded.may_move).unwrap_or(usize::MAX);
                let (ahead, _) = key.members((millis as f64, true), u64::MAX, most);
                let members: Vec<_> = ahead.into_iter().map(|(member, _)| member).collect();
                let key = set_expiry(key, expires_at);
                key.rescore_members(millis, &members);
                super::announce(&key, expires_at);
            }
            Change::Refund(LogChange::RemoveNewest(count)) => {
                let newest = (to_i64(count).saturating_neg(), -1);
                let stays = count < loaded.len || loaded.expired > 0;
                remove_ranks(key, newest, expires_at.filter(|_| stays));
            }
            Change::Refund(LogChange::RemoveUpTo { count, millis }) => {
                let up_to = count_scores(&key, c"-inf", millis).map_or(0, to_i64);
                let first = up_to.saturating_sub(to_i64(count)).max(0);
                if up_to > 0 {
                    // Younger members stay, even if there are fewer than `count` to remove.
                    let stays = first > 0 || to_i64(loaded.len.saturating_add(loaded.expired)) > up_to;
                    remove_ranks(key, (first, up_to.saturating_sub(1)), expires_at.filter(|_| stays));
                } else if let Some(millis) = expires_at {
                    super::extend(key, millis);
                }
            }
            Change::Delete => super::delete(key),
            Change::Keep | Change::Charge(_) | Change::Refund(_) => {
                if let Some(millis) = expires_at.filter(|_| loaded.exists) {
                    super::extend(key, millis);
                }
            }
        }
    }
}

/// It takes neither ALWAYS nor RESERVE.
impl StoredAlgorithm for SlidingLog {
    #[inline(always)]
    fn decide(
        &self,
        loaded: &mut SortedSet<'_>,
        now: Micros,
        cost: Cost,
        _charging: Charging,
    ) -> Result<Decision<LogChange>, Error> {
        let ahead = || loaded.key.any_score_above(now.millis());
        Ok(self.decide_on_len(loaded.len, ahead, cost))
    }

    fn remaining(&self, loaded: &SortedSet<'_>, now: Micros) -> u64 {
        self.forecast_of_len(loaded.len, |_| None, now).remaining()
    }

    fn figures(&self, loaded: &SortedSet<'_>, decision: &Decision<LogChange>, now: Micros) -> Figures {
        let added = if let Change::Charge(LogChange::Add(count)) = decision.change { count } else { 0 };
        let now_ms = now.millis();
        // Members ahead of the clock stay where they are, unless the change moves them: those with the lowest ranks.
        let moved = match decision.change {
            Change::Rebase(_) => {
                count_scores(&loaded.key, c"-inf", now_ms).unwrap_or(0).saturating_add(loaded.may_move)
            }
            _ => 0,
        };
        let key = loaded.key.closed();
        let score_at = |rank| key.score_at(rank).map(|score| score.ceil() as u64);
        // The scripts write no scores below 0. Such members have the lowest ranks, and neither the scripts nor this
        // module remove them: they never leave the window, but go with the key.
        let never = match key.score_at(0) {
            Some(score) if score < 0.0 => key.count_scores(c"-inf", c"(0").unwrap_or(0),
            _ => 0,
        };
        let passed = never.saturating_add(loaded.expired);
        // The n-th member to leave, the members that this request adds included.
        let entry = |n: u64| {
            if n >= loaded.len.saturating_add(added).saturating_sub(never) {
                return None;
            }
            let rank = n.saturating_add(passed);
            let score = score_at(rank).filter(|&score| score <= now_ms || added == 0);
            let later = || score_at(rank.checked_sub(added)?).filter(|&score| score > now_ms);
            Some(score.or_else(later).unwrap_or(now_ms).min(if rank < moved { now_ms } else { u64::MAX }))
        };
        let held = if loaded.exists { loaded.key.expires_at() } else { None };
        // The key still exists in the millisecond of its expiry.
        let last = self.new_expiry(held, now).or(held);
        let gone_at = last.map(|millis| Micros::from_millis(millis.saturating_add(1)));
        let mut forecast = self.forecast_of_len(loaded.len.saturating_add(added), entry, now);
        forecast.gone_at = gone_at;
        Figures::new(&forecast, decision, now)
    }

    fn members_added(&self, cost: Cost) -> u64 {
        cost.units()
    }

    fn refunding(&self, loaded: &SortedSet<'_>, _now: Micros, at: Option<Micros>, cost: Cost) -> Change<LogChange> {
        self.refunding_len(loaded.len, at, cost)
    }

    fn overcharging(
        &self,
        _loaded: &SortedSet<'_>,
        now: Micros,
        at: Option<Micros>,
        cost: Cost,
    ) -> Result<Change<LogChange>, Error> {
        Ok(self.overcharging_at(now, at, cost))
    }
}

/// Removes the members of some ranks, after the expiry is set. The command may delete the key.
fn remove_ranks(key: Key<'_>, (first, last): (i64, i64), expires_at: Option<u64>) {
    let key = set_expiry(key, expires_at);
    if expires_at.is_some() {
        super::announce(&key, expires_at);
    }
    key.remove_ranks(first, last);
}

fn add_several(mut key: Key<'_>, count: u64, millis: u64, expires_at: Option<u64>) {
    let mut text = itoa::Buffer::new();
    let text = text.format(millis);
    let members: Vec<_> = (0..count).map_while(|_| add_one(&mut key, millis, text)).collect();
    let key = set_expiry(key, expires_at);
    key.notify_sorted_set(c"zadd");
    key.replicate_add_all(millis, &members);
    super::announce(&key, expires_at);
}

/// Adds a member for a unit charged in `millis`, of which `text` is the text. Its name is `<millis>-0.<n>`, with an `n` that
/// no other member has. (The Lua script that RL.SLIDING replaces takes a random fraction.)
///
/// A member can exist already: from before a restart, from before the clock stepped back, or from a client. Each
/// attempt then doubles the step to the next `n`, so the attempts cover 64 bits. `None` if all of them exist.
fn add_one(key: &mut Key<'_>, millis: u64, text: &str) -> Option<Str<'static>> {
    let mut step = 1;
    for _ in 0..u64::BITS {
        let mut n = itoa::Buffer::new();
        let n = n.format(next_in_sequence(millis, step));
        let member = Str::concat([text.as_bytes(), b"-0.", n.as_bytes()]);
        if key.add_member(millis, &member) {
            return Some(member);
        }
        step = step.wrapping_mul(2);
    }
    key.closed().ctx.log_rejected("ZADD");
    None
}

/// The next number for a member of `millis`. (Handlers run on one thread; the atomics are for the compiler.)
///
/// The numbers start at 0 in every later millisecond, which keeps the members short. Those of an earlier millisecond
/// (RL.SETTLE with AT, or a clock that stepped back) have a sequence that never starts again: otherwise each of them
/// would first try the numbers that are in use, and have no number left after 64 starts.
fn next_in_sequence(millis: u64, step: u64) -> u64 {
    static LATEST: AtomicU64 = AtomicU64::new(0);
    static NEXT: AtomicU64 = AtomicU64::new(0);
    static NEXT_EARLIER: AtomicU64 = AtomicU64::new(0);
    let latest = LATEST.load(Ordering::Relaxed);
    if millis < latest {
        return NEXT_EARLIER.fetch_add(step, Ordering::Relaxed);
    }
    if millis > latest {
        LATEST.store(millis, Ordering::Relaxed);
        NEXT.store(0, Ordering::Relaxed);
    }
    NEXT.fetch_add(step, Ordering::Relaxed)
}
