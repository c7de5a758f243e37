//! A sliding window's log: a ZSET of one member a unit, scored by the millisecond it was admitted in.

use std::sync::atomic::{AtomicU64, Ordering};

use super::Limiter;
use crate::error::Error;
use crate::ffi::{Argv, Ctx, Key, Kind, Mode, Str};
use crate::limit::sliding_log::LogChange;
use crate::limit::{Change, Cost, Decision, Figures, Micros, Quota, SlidingLog, to_i64};

/// The most members a call may add. Each costs the server about a ZADD: a million is a second that nobody else gets.
const MAX_ADDED: u64 = 1_000_000;

/// See [`Limiter::load`].
pub struct Loaded<'c> {
    ctx: Ctx<'c>,
    name: Str<'c>,
    key: Key<'c>,
    /// Entries that have left the window and are still there: none, except where the log is looked at only.
    expired: u64,
    /// Entries that count.
    len: u64,
}

impl Limiter for SlidingLog {
    type Loaded<'c> = Loaded<'c>;
    type Change = LogChange;

    fn new(quota: &Quota) -> Result<Self, Error> {
        Ok(SlidingLog::new(quota))
    }

    #[inline(always)]
    fn state_key<'c>(&self, _ctx: Ctx<'c>, key: Argv<'c>, _now: Micros) -> Result<Str<'c>, Error> {
        Ok(Str::of_argument(key))
    }

    #[inline(always)]
    fn load<'c>(&self, ctx: Ctx<'c>, name: Str<'c>, now: Micros, mode: Mode) -> Result<Loaded<'c>, Error> {
        let mut key = Key::open(ctx, &name, mode);
        let mut expired = 0;
        match key.kind() {
            Kind::Nothing => return Ok(Loaded { ctx, name, key, expired, len: 0 }),
            Kind::SortedSet => {}
            _ => return Err(Error::WRONG_TYPE),
        }
        if let Some(through) = self.expired_through(now)
            && key.any_score_in(0, through)
        {
            match mode {
                Mode::Look => expired = ctx.count_scores(&name, 0, through).ok_or(Error::INTERNAL)?,
                Mode::Write => {
                    // The command may delete the key.
                    drop(key);
                    ctx.call_range(c"ZREMRANGEBYSCORE", &name, 0, to_i64(through)).ok_or(Error::INTERNAL)?;
                    key = Key::open(ctx, &name, mode);
                }
            }
        }
        let len = key.len().saturating_sub(expired);
        Ok(Loaded { ctx, name, key, expired, len })
    }

    fn decide(&self, loaded: &mut Loaded<'_>, now: Micros, cost: Cost) -> Result<Decision<LogChange>, Error> {
        let ahead = || loaded.key.any_score_above(now.millis());
        let decision = SlidingLog::decide(self, loaded.len, ahead, cost);
        match decision.change {
            Change::Charge(LogChange::Add(count)) if count > MAX_ADDED => Err(Error::LOG_COST),
            _ => Ok(decision),
        }
    }

    fn figures(&self, loaded: &Loaded<'_>, decision: &Decision<LogChange>, now: Micros, cost: Cost) -> Figures {
        let added = if let Change::Charge(LogChange::Add(count)) = decision.change { count } else { 0 };
        // A score is a float; one that the scripts cannot have written, below 0 or no number at all, never leaves the
        // window. Such entries come before those that have left it, and those before the others.
        let score_at = |rank| loaded.ctx.score_at(&loaded.name, rank).filter(|&score| score >= 0.0);
        let entry = |rank: u64| {
            if rank >= loaded.len {
                // What is not written yet was made now.
                return Some(now.millis());
            }
            let score = score_at(rank)?;
            let score = if loaded.expired == 0 { score } else { score_at(loaded.expired.saturating_add(rank))? };
            Some(score.ceil() as u64)
        };
        let len = loaded.len.saturating_add(added);
        Figures::new(&self.outlook(len, entry, now), decision, now, cost)
    }

    fn grows(_loaded: &Loaded<'_>, decision: &Decision<LogChange>) -> bool {
        matches!(decision.change, Change::Charge(_))
    }

    #[inline(always)]
    fn commit(&self, ctx: Ctx<'_>, mut loaded: Loaded<'_>, decision: Decision<LogChange>, now: Micros) {
        let Loaded { name, key, len, .. } = &mut loaded;
        let millis = now.millis();
        let expires_at = millis.saturating_add(self.window().millis().saturating_mul(2));
        let change = decision.change.into_state();
        match change {
            Some(LogChange::Add(1)) => {
                let member = add_one(key, millis);
                ctx.replicate_add(name, millis, &member);
            }
            Some(LogChange::Add(count)) => {
                let members: Vec<_> = (0..count).map(|_| add_one(key, millis)).collect();
                ctx.replicate_add_all(name, millis, &members);
            }
            Some(LogChange::MoveAheadToNow) => {
                let members = key.members_above(millis);
                members.iter().for_each(|member| key.rescore_member(millis, member));
                ctx.replicate_add_all(name, millis, &members);
            }
            None if *len == 0 => return,
            None => {}
        }
        key.set_expires_at(expires_at);
        if change.is_some() {
            ctx.notify_sorted_set(c"zadd", name);
            ctx.signal_modified(name);
            // A denial's refresh alone stays here: what still counts outlives its window on the expiry of the call
            // that admitted it, and a flood of denials would else fill the AOF.
            ctx.replicate_integer(c"PEXPIREAT", name, to_i64(expires_at));
        }
        ctx.notify_generic(c"expire", name);
    }

    /// What is above the limit is an answer, not an error: it never passes.
    fn check(&self, cost: Cost) -> Result<(), Error> {
        if cost.units() > MAX_ADDED && cost.units() <= self.limit() { Err(Error::LOG_COST) } else { Ok(()) }
    }

    /// The newest entries go first.
    fn refund(&self, ctx: Ctx<'_>, Loaded { name, key, len, .. }: Loaded<'_>, _now: Micros, cost: Cost) {
        let newest = to_i64(len.min(cost.units()));
        // The command may delete the key.
        drop(key);
        if newest > 0 {
            ctx.call_range(c"ZREMRANGEBYRANK", &name, newest.saturating_neg(), -1);
        }
    }

    fn reset(&self, ctx: Ctx<'_>, Loaded { name, key, len, .. }: Loaded<'_>) -> bool {
        if len > 0 {
            super::unlink(ctx, &name, key);
        }
        len > 0
    }
}

/// Adds a member for a unit admitted in `millis`, named `<millis>-0.<n>` (the script takes a random fraction) with an
/// `n` that no other has.
fn add_one(key: &mut Key<'_>, millis: u64) -> Str<'static> {
    loop {
        let member = {
            let (mut millis_text, mut n_text) = (itoa::Buffer::new(), itoa::Buffer::new());
            let (millis_text, n_text) = (millis_text.format(millis), n_text.format(sequence(millis)));
            Str::concat([millis_text.as_bytes(), b"-0.", n_text.as_bytes()])
        };
        // It may be there: left by the server before this one, or from before the clock stepped back.
        if key.add_member(millis, &member) {
            return member;
        }
    }
}

/// How many members this server has named in `millis`. (Handlers run on one thread; the atomics are for the compiler.)
fn sequence(millis: u64) -> u64 {
    static MILLIS: AtomicU64 = AtomicU64::new(0);
    static NEXT: AtomicU64 = AtomicU64::new(0);
    if MILLIS.swap(millis, Ordering::Relaxed) != millis {
        NEXT.store(0, Ordering::Relaxed);
    }
    NEXT.fetch_add(1, Ordering::Relaxed)
}
