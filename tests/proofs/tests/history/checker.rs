//! Decides, after a history, whether every promise was kept. The offence is the first call that breaks one.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use crate::call::{Call, Count, Counted, Figures, Kill, Kind, Outcome};
use crate::client::TOGETHER;
use crate::guards;

/// Checks the calls of a history. A schedule sends no call that a check would have to excuse.
///
/// # Errors
/// The first call that breaks a promise, and which.
pub fn check(calls: &[Call], kills: &[Kill]) -> Result<(), String> {
    let mut by_key: BTreeMap<&str, Vec<&Call>> = BTreeMap::new();
    for call in calls {
        by_key.entry(&call.key).or_default().push(call);
    }
    let mut offences: Vec<_> = by_key.values_mut().filter_map(|calls| check_key(calls, kills)).collect();
    offences.extend(all_or_none(calls, kills));
    offences.sort_by_key(|(call, _)| call.begun_us);
    match offences.first() {
        None => Ok(()),
        Some((call, what)) => {
            Err(format!("{what}: {call:?}\nthe calls for this key before it:\n{}", before(calls, call)))
        }
    }
}

/// Checks the calls for one key.
fn check_key<'a>(calls: &mut [&'a Call], kills: &[Kill]) -> Offence<'a> {
    // A client's calls are in its own order; those of several are in the order of the server's clock.
    calls.sort_by_key(|call| call.reply().map_or(call.begun_us / 1_000, |figures| figures.now_ms));
    let Call { key, limit, kind, .. } = calls[0];
    let failovers: Vec<&Kill> = kills.iter().filter(|kill| !kill.counted.is_empty()).collect();
    let calls = &*calls;
    match kind {
        Kind::Lease { .. } | Kind::Renew { .. } | Kind::Release { .. } => leases(calls, &failovers),
        Kind::Held => holders(calls),
        Kind::Reserve { .. } | Kind::Settle { .. } => reservations(calls, &failovers),
        Kind::Request { .. } | Kind::Refund { .. } if calls[0].is_own() => counters(calls, kills),
        _ => {
            let lacks =
                |kill: &&Kill| counted(kill, key).map(|Counted { old, new, .. }| old.units.saturating_sub(new.units));
            let lost: u64 = failovers.iter().filter_map(lacks).sum();
            within(calls, limit.limit + lost).or_else(|| denied_early(calls))
        }
    }
}

/// How many calls are shown: more than a window of most limits has.
const LINES: usize = 60;

/// The last calls for the key of a call before it.
fn before(calls: &[Call], offence: &Call) -> String {
    let mut calls: Vec<_> =
        calls.iter().filter(|call| call.key == offence.key && call.begun_us <= offence.begun_us).collect();
    calls.sort_by_key(|call| call.begun_us);
    let line = |call: &&Call| {
        let Call { client, path, kind, begun_us, outcome, .. } = call;
        format!("{begun_us} client {client}, {path}: {kind:?}, {outcome:?}")
    };
    calls[calls.len().saturating_sub(LINES)..].iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A call, and what is wrong with it.
type Offence<'a> = Option<(&'a Call, String)>;

/// What was counted of a key when another server took the place of its primary.
fn counted<'a>(kill: &'a Kill, key: &str) -> Option<&'a Counted> {
    kill.counted.iter().find(|counted| counted.key == key)
}

/// How many failovers there were before a moment.
fn primary(failovers: &[&Kill], at_us: u64) -> usize {
    failovers.iter().filter(|kill| kill.at_us < at_us).count()
}

/// No more than the limit is charged, whose window does not end in the history.
fn within<'a>(calls: &[&'a Call], limit: u64) -> Offence<'a> {
    let mut units = 0;
    let over = calls.iter().find(|call| {
        units += call.reply().map_or(0, |reply| reply.charged);
        units > limit
    });
    over.map(|call| (*call, format!("limit exceeded: {units} of {limit} units")))
}

/// It denies once all its units may be charged, and not before.
fn denied_early<'a>(calls: &[&'a Call]) -> Offence<'a> {
    let most = |call: &&&Call| match (&call.kind, &call.outcome) {
        (_, Outcome::Reply(reply)) => reply.charged,
        (Kind::Request { cost }, Outcome::Unknown) => *cost,
        _ => 0,
    };
    let is_denied = |call: &&&Call| call.reply().is_some_and(|reply| !reply.allowed);
    let first = calls.iter().filter(is_denied).min_by_key(|call| call.ended_us)?;
    let charged: u64 = calls.iter().filter(|call| call.begun_us <= first.ended_us).map(|call| most(&call)).sum();
    let too_early = charged < first.limit.limit;
    too_early.then(|| (*first, format!("denied when {charged} of {} units were charged", first.limit.limit)))
}

/// RL.MULTI charges all its limits or none: what it alone charges is always equal, also on another primary.
fn all_or_none<'a>(calls: &'a [Call], kills: &[Kill]) -> Offence<'a> {
    let together: Vec<&Call> = calls.iter().filter(|call| call.path == TOGETHER).collect();
    let count = |call: &Call| call.reply().map(|reply| after(call, reply));
    let half = together.windows(2).find(|pair| {
        (pair[0].client, pair[0].begun_us) == (pair[1].client, pair[1].begun_us) && count(pair[0]) != count(pair[1])
    });
    if let Some(pair) = half {
        return Some((
            pair[1],
            format!("RL.MULTI charged a part: {:?} and {:?} units", count(pair[0]), count(pair[1])),
        ));
    }
    let sent: BTreeMap<&str, &Call> = together.iter().map(|call| (call.key.as_str(), *call)).collect();
    let client = |counted: &Counted| counted.key.rsplit_once(':').map(|(client, _)| client.to_owned());
    kills.iter().find_map(|kill| {
        let counted: Vec<_> = kill.counted.iter().filter(|counted| sent.contains_key(counted.key.as_str())).collect();
        let half = counted.windows(2).find(|pair| {
            let [units, others] = [pair[0], pair[1]].map(|counted| (counted.old.units, counted.new.units));
            client(pair[0]) == client(pair[1]) && units != others
        })?;
        Some((sent[half[1].key.as_str()], format!("a part of RL.MULTI was replicated: {half:?}")))
    })
}

/// The counter of one client: each reply says what was counted before, and the client knows that.
fn counters<'a>(calls: &[&'a Call], kills: &[Kill]) -> Offence<'a> {
    let mut calls = calls.to_vec();
    calls.sort_by_key(|call| (call.begun_us, call.ended_us));
    let mut known = 0_i64;
    // What may have been counted after each call, since the last failover.
    let mut past = vec![(0, 0)];
    let mut failovers = kills.iter().filter(|kill| !kill.counted.is_empty()).peekable();
    // Calls without a reply that the server may have executed, or may still execute: when they were sent, and the change.
    let mut pending: Vec<(u64, i64)> = Vec::new();
    for call in calls {
        while let Some(kill) = failovers.next_if(|kill| kill.at_us < call.begun_us) {
            let Some(Counted { old, new, .. }) = counted(kill, &call.key) else { continue };
            let (least, most) = past[past.len() - 1];
            if !(least..=most).contains(&(old.units as i64)) {
                return Some((
                    call,
                    format!("before it, the old primary counted {} units, not {least} to {most}", old.units),
                ));
            }
            known = new.units as i64;
            if !past.iter().any(|(least, most)| (least..=most).contains(&&known)) {
                return Some((
                    call,
                    format!("before it, the new primary counted {known} units, which the old one never did"),
                ));
            }
            pending.clear();
            past = vec![(known, known)];
        }
        let change = match call.kind {
            Kind::Request { cost } => cost as i64,
            Kind::Refund { units } => -(units as i64),
            _ => return Some((call, "not a counter".to_owned())),
        };
        let counted = match &call.outcome {
            Outcome::Reply(reply) => after(call, reply),
            Outcome::Unknown => {
                // The Rust client may send it again until it gives up.
                pending.push((if call.path == guards::REQUESTS { call.ended_us } else { call.begun_us }, change));
                past.push(range(known, &pending));
                continue;
            }
            _ => continue,
        };
        let (least, most) = range(known, &pending);
        let (least, most) = ((least + change).max(0), (most + change).max(0));
        if !(least..=most).contains(&counted) {
            return Some((
                call,
                format!(
                    "{counted} units are counted, not {least} to {most}: one was lost, or charged or refunded twice"
                ),
            ));
        }
        known = counted;
        // A server that was killed executes nothing that was sent before.
        let killed = |sent: u64, kill: &Kill| sent < kill.at_us && kill.at_us < call.begun_us;
        pending.retain(|&(sent, _)| !kills.iter().any(|kill| killed(sent, kill)));
        past.push(range(known, &pending));
    }
    None
}

/// The least and the most that may be counted.
fn range(known: i64, pending: &[(u64, i64)]) -> (i64, i64) {
    let add = |(least, most): (i64, i64), &(_, change): &(u64, i64)| (least + change.min(0), most + change.max(0));
    let (least, most) = pending.iter().fold((known, known), add);
    (least.max(0), most)
}

/// What is counted after a call.
fn after(call: &Call, reply: &Figures) -> i64 {
    // RL.REFUND and RL.SETTLE reply what a request of cost 1 would get next.
    let next = i64::from(matches!(call.kind, Kind::Refund { .. } | Kind::Settle { .. }));
    call.limit.limit as i64 - reply.remaining as i64 - next
}

/// What a client knows of a reservation of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Reserved {
    /// What it is charged.
    units: u64,
    /// It is open, or can be settled late.
    known: bool,
    is_open: bool,
    ends_at: u64,
    ttl_ms: u64,
    /// What it is charged if the last call, which had no reply, was executed.
    pending: Option<u64>,
    /// Until when that may count.
    pending_until: u64,
}

/// How late a server may execute a call whose client does not wait any more.
const LATE_MS: u64 = 5_000;

/// What a client knows of its reservations under one key.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Ledger<'a> {
    open: BTreeMap<&'a str, Reserved>,
    /// The units of those that cannot change any more.
    settled: u64,
}

impl<'a> Ledger<'a> {
    /// What has ended is given back before anything else, and can be settled for one more ttl.
    fn expire(&mut self, now_ms: u64) {
        for one in self.open.values_mut() {
            if one.is_open && one.ends_at <= now_ms {
                (one.is_open, one.units) = (false, 0);
            }
            one.known &= now_ms < one.ends_at + one.ttl_ms;
            one.pending.take_if(|_| one.pending_until <= now_ms);
        }
        self.open.retain(|_, one| {
            let may_change = one.known || one.is_open || one.pending.is_some();
            self.settled += if may_change { 0 } else { one.units };
            may_change
        });
    }

    fn counts(&self) -> RangeInclusive<u64> {
        let least: u64 = self.open.values().map(|one| one.units.min(one.pending.unwrap_or(one.units))).sum();
        let most: u64 = self.open.values().map(|one| one.units.max(one.pending.unwrap_or(0))).sum();
        self.settled + least..=self.settled + most
    }

    /// Takes in a call, or says what is wrong with its reply.
    fn take(&mut self, call: &'a Call) -> Result<(), String> {
        let (id, actual, pending_until) = match &call.kind {
            Kind::Reserve { id, units, ttl_ms } => (id, *units, call.ended_us / 1_000 + LATE_MS + ttl_ms),
            Kind::Settle { id, actual } => (id, *actual, u64::MAX),
            _ => return Err("not a reservation".to_owned()),
        };
        let Some(reply) = call.reply() else {
            if call.is_unknown() {
                let one = self.open.entry(id).or_default();
                (one.pending, one.pending_until) = (Some(actual), pending_until);
            }
            return Ok(());
        };
        self.expire(reply.now_ms);
        let one = self.open.entry(id).or_default();
        let mut pending = one.pending.take();
        if call.path == guards::RESERVATIONS && matches!(call.kind, Kind::Settle { .. }) {
            // It may have sent it before, without a reply.
            (pending, one.pending_until) = (Some(actual), pending_until);
        }
        let charged = match call.kind {
            Kind::Reserve { units, ttl_ms, .. } => {
                let ends_at = reply.now_ms + ttl_ms;
                *one = Reserved { units, known: true, is_open: true, ends_at, ttl_ms, ..Reserved::default() };
                vec![units]
            }
            // The call that had no reply may have been executed; it may have been in time, and this one too late.
            _ if pending.is_some() => {
                if reply.charged > 0 || one.known {
                    one.units = actual;
                } else {
                    one.pending = pending;
                }
                let known = std::mem::take(&mut one.known);
                one.is_open = false;
                if known { vec![0, actual] } else { vec![0] }
            }
            _ if one.known => {
                (one.units, one.known, one.is_open) = (actual, false, false);
                vec![actual]
            }
            _ => vec![0],
        };
        if !charged.contains(&reply.charged) {
            return Err(format!("{} units charged, not {charged:?}", reply.charged));
        }
        let (counted, counts) = (after(call, reply), self.counts());
        if !u64::try_from(counted).is_ok_and(|counted| counts.contains(&counted)) {
            let what = "was charged, corrected or given back twice, or not at all";
            let (least, most) = counts.into_inner();
            return Err(format!("{counted} units are counted, not {least} to {most}: one {what}"));
        }
        Ok(())
    }

    /// Whether a server may have counted so many units then. What has ended is counted until the next call for the key.
    fn may_have_counted(&self, count: Count) -> bool {
        let mut ended = self.clone();
        ended.expire(count.at_ms);
        let (before, after) = (self.counts(), ended.counts());
        (*after.start().min(before.start())..=*after.end().max(before.end())).contains(&count.units)
    }
}

/// The reservations of one client: each reply says what is counted, and the client knows that. It sends each call again
/// until there is a reply. After a failover, the server has what was counted after one of the calls before.
fn reservations<'a>(calls: &[&'a Call], failovers: &[&Kill]) -> Offence<'a> {
    let mut calls = calls.to_vec();
    calls.sort_by_key(|call| (call.begun_us, call.ended_us));
    let mut failovers = failovers.iter().peekable();
    // What the server may have, and what it may have had since the last failover.
    let mut ledgers = BTreeSet::from([Ledger::default()]);
    let mut past = ledgers.clone();
    for call in calls {
        while let Some(kill) = failovers.next_if(|kill| kill.at_us < call.begun_us) {
            let Some(&Counted { old, new, .. }) = counted(kill, &call.key) else { continue };
            if !ledgers.iter().any(|ledger| ledger.may_have_counted(old)) {
                let counts: Vec<_> = ledgers.iter().map(Ledger::counts).collect();
                return Some((call, format!("before it, the old primary counted {} units, not {counts:?}", old.units)));
            }
            past.retain(|ledger| ledger.may_have_counted(new));
            if past.is_empty() {
                let what = "before it, the new primary counted";
                return Some((call, format!("{what} {} units, which the old one never did", new.units)));
            }
            ledgers.clone_from(&past);
        }
        let mut offence = None;
        let took = ledgers.into_iter().filter_map(|mut ledger| match ledger.take(call) {
            Ok(()) => Some(ledger),
            Err(what) => {
                offence = Some(what);
                None
            }
        });
        // What differed in what has ended since is equal then.
        ledgers = took.collect();
        if let Some(what) = offence.filter(|_| ledgers.is_empty()) {
            return Some((call, what));
        }
        if failovers.peek().is_some() {
            past.extend(ledgers.iter().cloned());
        }
    }
    None
}

/// At most `limit` holders at once: from the reply until the lease ends or RL.RELEASE is sent. RL.RENEW renews what is held,
/// and nothing else.
fn leases<'a>(calls: &[&'a Call], failovers: &[&Kill]) -> Offence<'a> {
    let mut calls: Vec<_> = calls.iter().map(|call| (primary(failovers, call.begun_us), *call)).collect();
    calls.sort_by_key(|(primary, call)| match call.kind {
        Kind::Release { .. } => (*primary, call.begun_us, 0),
        _ => (*primary, call.ended_us, 1),
    });
    // The end of each lease that somebody may believe to hold, at the earliest.
    let mut held: BTreeMap<&str, u64> = BTreeMap::new();
    // The end of each lease at the latest.
    let mut ended: BTreeMap<&str, u64> = BTreeMap::new();
    let mut released = BTreeSet::new();
    let mut current = 0;
    for (primary, call) in calls {
        if primary != current {
            // What was taken or released last may be lost.
            (held, released, current) = (BTreeMap::new(), BTreeSet::new(), primary);
        }
        let (window, began_ms, ended_ms) = (call.limit.window_ms, call.begun_us / 1_000, call.ended_us / 1_000);
        let (Kind::Lease { id } | Kind::Renew { id } | Kind::Release { id }) = &call.kind else {
            return Some((call, "not a lease".to_owned()));
        };
        let is_held = held.get(id.as_str()).is_some_and(|end| *end > ended_ms + 1);
        match (&call.kind, &call.outcome) {
            (Kind::Release { .. }, outcome) => {
                held.remove(id.as_str());
                if matches!(outcome, Outcome::Found(_)) {
                    released.insert(id);
                }
            }
            (_, Outcome::Unknown) => _ = ended.insert(id, u64::MAX),
            (_, Outcome::Found(false)) | (_, Outcome::Reply(Figures { allowed: false, .. })) if is_held => {
                return Some((call, "a lease that is held is not renewed".to_owned()));
            }
            (Kind::Renew { .. }, Outcome::Found(true)) => {
                let last = ended.get(id.as_str()).copied();
                if last.is_some_and(|end| end < began_ms || end < u64::MAX && released.contains(id)) {
                    return Some((call, format!("a lease is renewed that had ended: {last:?}")));
                }
                held.insert(id, began_ms + window);
                ended.insert(id, last.unwrap_or(0).max(ended_ms + window));
            }
            (Kind::Lease { .. }, Outcome::Reply(reply)) if reply.allowed => {
                held.insert(id, reply.now_ms + window);
                let last = ended.entry(id).or_default();
                *last = (*last).max(reply.now_ms + window);
            }
            _ => {}
        }
        held.retain(|_, end| *end * 1_000 > call.ended_us);
        if held.len() as u64 > call.limit.limit {
            return Some((call, format!("{} holders of {} leases: {held:?}", held.len(), call.limit.limit)));
        }
    }
    None
}

/// Guards of the client that are not lost: at most `limit` at once.
fn holders<'a>(calls: &[&'a Call]) -> Offence<'a> {
    let mut calls: Vec<_> = calls.iter().filter(|call| call.begun_us < call.ended_us).collect();
    calls.sort_by_key(|call| call.begun_us);
    let mut held: Vec<(u64, u64)> = Vec::new();
    for call in calls {
        held.retain(|(end, _)| *end > call.begun_us);
        held.push((call.ended_us, call.reply().map_or(0, |reply| reply.charged)));
        let units: u64 = held.iter().map(|(_, units)| units).sum();
        if units > call.limit.limit {
            return Some((call, format!("{units} of {} units are held at once", call.limit.limit)));
        }
    }
    None
}

/// Changes replies of a history that was checked, one at a time. Checks that what is wrong then is found, in calls of each
/// path and each algorithm: else a check could look at nothing.
///
/// # Errors
/// The changes that are not found.
pub fn finds_changes(calls: &[Call], kills: &[Kill]) -> Result<(), String> {
    // Each change is tried on so many calls: one that lies beside a fault need not be wrong.
    const TRIES: u32 = 40;
    let mut together: BTreeMap<&str, Vec<Call>> = BTreeMap::new();
    for call in calls {
        together.entry(if call.path == TOGETHER { TOGETHER } else { &call.key }).or_default().push(call.clone());
    }
    let mut tried: BTreeMap<String, (u32, bool)> = BTreeMap::new();
    for calls in together.values() {
        for (at, call) in calls.iter().enumerate() {
            for (what, changed) in changes(call) {
                let name = format!("{what} ({}, {})", call.path, call.limit.algorithm);
                let (tries, found) = tried.entry(name).or_default();
                if !*found && *tries < TRIES {
                    *tries += 1;
                    let calls = [&calls[..at], &changed, &calls[at + 1..]].concat();
                    *found = check(&calls, kills).is_err();
                }
            }
        }
    }
    let missed: Vec<_> = tried.iter().filter(|(_, (_, found))| !found).map(|(name, _)| name).collect();
    if missed.is_empty() { Ok(()) } else { Err(format!("not found: {missed:?}")) }
}

/// What may not be there in place of a call.
fn changes(call: &Call) -> Vec<(&'static str, Vec<Call>)> {
    let as_kind =
        |kind| Call { kind, begun_us: call.ended_us + 1_000, ended_us: call.ended_us + 1_000, ..call.clone() };
    let Some(&reply) = call.reply() else {
        return match (&call.kind, &call.outcome) {
            (Kind::Release { id }, Outcome::Found(true)) => {
                vec![("renewed after its release", vec![call.clone(), as_kind(Kind::Renew { id: id.clone() })])]
            }
            _ => vec![],
        };
    };
    let of = |figures| Call { outcome: Outcome::Reply(figures), ..call.clone() };
    let with = |figures| vec![of(figures)];
    let limit = call.limit.limit;
    let miscounted = ("a unit lost", with(Figures { remaining: reply.remaining + 1_000, ..reply }));
    match &call.kind {
        Kind::Lease { .. } if reply.allowed => {
            let id = |number| Kind::Lease { id: format!("another {number}") };
            vec![("a holder too many", (0..=limit).map(|number| Call { kind: id(number), ..call.clone() }).collect())]
        }
        Kind::Held if call.begun_us < call.ended_us => {
            vec![("a holder too many", vec![call.clone(); 1 + limit as usize])]
        }
        // 9 is what no reservation takes and no settlement corrects to.
        Kind::Reserve { .. } | Kind::Settle { .. } => {
            vec![miscounted, ("wrongly corrected", with(Figures { charged: 9, ..reply }))]
        }
        Kind::Request { .. } | Kind::Refund { .. } if call.is_own() => {
            let half = (call.path == TOGETHER).then(|| vec![Call { outcome: Outcome::Unknown, ..call.clone() }]);
            [miscounted].into_iter().chain(half.map(|half| ("a part of RL.MULTI charged", half))).collect()
        }
        Kind::Request { .. } if reply.allowed => vec![
            ("limit exceeded", with(Figures { charged: reply.charged + 10 * limit, ..reply })),
            ("denied too early", with(Figures { allowed: false, charged: 0, ..reply })),
        ],
        _ => vec![],
    }
}
