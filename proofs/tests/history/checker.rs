//! Decides, after a history, whether every promise was kept. The offence is the first call that breaks one.

use std::collections::BTreeMap;

use crate::call::{Call, Figures, Kill, Kind, Outcome};
use crate::grants;
use crate::support::Server;

/// # Errors
/// The first call that breaks a promise, and which.
pub fn check(calls: &[Call], kills: &[Kill]) -> Result<(), String> {
    let mut by_key: BTreeMap<&str, Vec<&Call>> = BTreeMap::new();
    for call in calls {
        by_key.entry(&call.key).or_default().push(call);
    }
    let mut offences = Vec::new();
    for of_key in by_key.values_mut() {
        // A client's calls are in its own order; those of several are in the order of the server's clock.
        of_key.sort_by_key(|call| call.reply().map_or(call.begun_us / 1_000, |figures| figures.now_ms));
        let first = of_key[0];
        let lost = kills.iter().flat_map(|kill| &kill.lost).filter(|(key, _)| *key == first.key);
        let lost: u64 = lost.map(|(_, units)| units).sum();
        let failover = kills.iter().any(|kill| !kill.lost.is_empty());
        offences.extend(match (&first.kind, first.is_own()) {
            (Kind::Lease { .. } | Kind::Release { .. }, _) if failover => None,
            (Kind::Lease { .. } | Kind::Release { .. }, _) => leases(of_key),
            (Kind::Granted, _) if failover => None,
            (Kind::Granted, _) => in_window(of_key, grants::LIMIT.limit + grants::INSTANCES * grants::UNITS),
            // What the new primary lacks shows in the quotas.
            (_, _) if failover && first.limit.window_ms < 86_400_000 => None,
            (_, true) if failover => None,
            (_, true) if first.limit.window_ms >= 86_400_000 => counters(of_key, kills),
            (_, true) => waits(of_key),
            (_, false) => match first.limit.algorithm {
                "TOKEN" | "GCRA" => bucket(of_key),
                _ => in_window(of_key, first.limit.limit + lost),
            },
        });
    }
    offences.sort_by_key(|(call, _)| call.begun_us);
    match offences.first() {
        None => Ok(()),
        Some((call, what)) => {
            Err(format!("{what}: {call:?}\nthe calls for this key before it:\n{}", before(calls, call)))
        }
    }
}

/// The last calls for the key of a call before it.
fn before(calls: &[Call], offence: &Call) -> String {
    let mut calls: Vec<_> =
        calls.iter().filter(|call| call.key == offence.key && call.begun_us <= offence.begun_us).collect();
    calls.sort_by_key(|call| call.begun_us);
    let line = |call: &&Call| {
        let Call { client, path, kind, begun_us, outcome, .. } = call;
        format!("{begun_us} client {client}, {path}: {kind:?}, {outcome:?}")
    };
    calls[calls.len().saturating_sub(8)..].iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A call, and what is wrong with it.
type Offence<'a> = Option<(&'a Call, String)>;

fn charged<'a>(calls: &[&'a Call]) -> Vec<(&'a Call, u64, u64)> {
    let charges = calls.iter().filter_map(|call| call.reply().map(|reply| (*call, reply.now_ms, reply.charged)));
    charges.filter(|(_, _, units)| *units > 0).collect()
}

/// No window has more than the limit: one of FIXED, else any.
fn in_window<'a>(calls: &[&'a Call], limit: u64) -> Offence<'a> {
    let charges = charged(calls);
    let (mut first, mut units) = (0, 0);
    for &(call, at, cost) in &charges {
        let window = call.limit.window_ms;
        let over = |earlier: u64| match call.limit.algorithm {
            "FIXED" => earlier / window != at / window,
            // The times of grants are the client's, so a window is a little shorter.
            _ if call.kind == Kind::Granted => earlier + window - 5 <= at,
            // A charge counts to the end of the millisecond in which it leaves the window.
            _ => earlier + window <= at,
        };
        units += cost;
        while over(charges[first].1) {
            units -= charges[first].2;
            first += 1;
        }
        if units > limit {
            return Some((call, format!("limit exceeded: {units} of {limit} units in one window")));
        }
    }
    None
}

/// A bucket that is filled by what was allowed, and drains at the rate, never overflows.
fn bucket<'a>(calls: &[&'a Call]) -> Offence<'a> {
    // In parts of a unit: window_ms to the unit.
    let (mut level, mut last) = (0_u64, 0);
    for (call, at, cost) in charged(calls) {
        let (window, limit) = (call.limit.window_ms, call.limit.limit);
        // One millisecond more, since times are cut.
        level = level.saturating_sub((at - last) * limit) + cost * window;
        last = at;
        if level > (window + 1) * limit {
            return Some((call, format!("limit exceeded: {} of {limit} units in the bucket", level / window)));
        }
    }
    None
}

/// The counter of one client: each reply says what was counted before, and the client knows that.
fn counters<'a>(calls: &[&'a Call], kills: &[Kill]) -> Offence<'a> {
    let mut calls = calls.to_vec();
    calls.sort_by_key(|call| (call.begun_us, call.ended_us));
    let mut known = 0_i64;
    // Calls without a reply that the server may have executed, or may still execute: when they were sent, and the change.
    let mut pending: Vec<(u64, i64)> = Vec::new();
    for call in calls {
        let change = match call.kind {
            Kind::Request { cost } => cost as i64,
            Kind::Refund { units } => -(units as i64),
            _ => return Some((call, "not a counter".to_owned())),
        };
        let counted = match &call.outcome {
            Outcome::Reply(reply) => after(call, reply),
            Outcome::Unknown => {
                pending.push((call.begun_us, change));
                continue;
            }
            _ => continue,
        };
        let (least, most) = pending
            .iter()
            .fold((known, known), |(least, most), &(_, change)| (least + change.min(0), most + change.max(0)));
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
        pending.retain(|&(sent, _)| !kills.iter().any(|kill| sent < kill.at_us && kill.at_us < call.begun_us));
    }
    None
}

/// What is counted after a call.
fn after(call: &Call, reply: &Figures) -> i64 {
    // RL.REFUND replies what a request of cost 1 would get next.
    let next = i64::from(matches!(call.kind, Kind::Refund { .. }));
    (call.limit.limit - reply.remaining) as i64 - next
}

/// A denied client that waits for `retry_after_ms` and is alone is allowed, and not earlier.
fn waits<'a>(calls: &[&'a Call]) -> Offence<'a> {
    let mut calls = calls.to_vec();
    calls.sort_by_key(|call| (call.begun_us, call.ended_us));
    let mut due: Option<u64> = None;
    for call in calls {
        let Some(reply) = call.reply() else {
            // It may have been charged, now or later.
            due = due.filter(|_| !call.is_unknown());
            continue;
        };
        // Times are cut to milliseconds.
        match due {
            Some(due) if reply.allowed && reply.now_ms + 1 < due => {
                return Some((call, format!("allowed {} ms before retry_after_ms was over", due - reply.now_ms)));
            }
            Some(due) if !reply.allowed && reply.now_ms > due => {
                return Some((call, format!("denied {} ms after retry_after_ms was over", reply.now_ms - due)));
            }
            _ => {}
        }
        due = u64::try_from(reply.retry_after_ms).ok().filter(|_| !reply.allowed).map(|wait| reply.now_ms + wait);
    }
    None
}

/// At most `limit` holders at once: from the reply until the lease ends or RL.RELEASE is sent.
fn leases<'a>(calls: &[&'a Call]) -> Offence<'a> {
    let mut calls = calls.to_vec();
    calls.sort_by_key(|call| match call.kind {
        Kind::Release { .. } => (call.begun_us, 0),
        _ => (call.ended_us, 1),
    });
    // The end of each lease that somebody may believe to hold.
    let mut held: BTreeMap<&str, u64> = BTreeMap::new();
    for call in calls {
        match (&call.kind, call.reply()) {
            (Kind::Release { id }, _) => drop(held.remove(id.as_str())),
            (Kind::Lease { id }, Some(reply)) if reply.allowed => {
                held.retain(|_, end| *end * 1_000 > call.ended_us);
                held.insert(id, reply.now_ms + call.limit.window_ms);
                if held.len() as u64 > call.limit.limit {
                    return Some((call, format!("{} holders of {} leases: {held:?}", held.len(), call.limit.limit)));
                }
            }
            _ => {}
        }
    }
    None
}

/// A window after the last call, no lease is left.
///
/// # Errors
/// Leases that never end.
pub fn leases_end(server: &Server, prefix: &str) -> Result<(), String> {
    let (limit, key) = (crate::client::LEASE, crate::client::shared_key(prefix, &crate::client::LEASE));
    std::thread::sleep(std::time::Duration::from_millis(limit.window_ms + 20));
    let mut peek = redis::cmd("RL.PEEK");
    peek.arg(limit.algorithm).arg(&key).arg(format!("{}ms", limit.window_ms)).arg(limit.limit);
    let [_, held, _]: [u64; 3] = peek.query(&mut server.con()).expect("RL.PEEK");
    if held == 0 { Ok(()) } else { Err(format!("{held} leases of {key} never ended")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Limit;

    fn call(key: &str, limit: Limit, at: u64, figures: Figures) -> Call {
        let (kind, outcome) = (Kind::Request { cost: 1 }, Outcome::Reply(Figures { now_ms: at, ..figures }));
        Call {
            client: 0,
            path: "plain",
            key: key.to_owned(),
            limit,
            kind,
            begun_us: at * 1_000,
            ended_us: at * 1_000,
            outcome,
        }
    }

    const ALLOWED: Figures =
        Figures { allowed: true, count: 0, remaining: 0, retry_after_ms: 0, now_ms: 0, charged: 1 };
    const DENIED: Figures = Figures { allowed: false, charged: 0, retry_after_ms: 50, ..ALLOWED };
    const ROLLING: Limit = Limit { algorithm: "ROLLING", window_ms: 100, limit: 2 };

    fn offence(calls: &[Call], kills: &[Kill]) -> String {
        check(calls, kills).unwrap_err()
    }

    #[test]
    fn a_limit_that_is_exceeded_is_found() {
        let at = |times: [u64; 3]| times.map(|at| call("h:all:k", ROLLING, at, ALLOWED));
        assert_eq!(check(&at([1_000, 1_050, 1_100]), &[]), Ok(()));
        assert!(offence(&at([1_000, 1_050, 1_099]), &[]).starts_with("limit exceeded: 3 of 2"));
        let token = Limit { algorithm: "TOKEN", ..ROLLING };
        let at = |times: [u64; 3]| times.map(|at| call("h:all:k", token, at, ALLOWED));
        assert_eq!(check(&at([1_000, 1_000, 1_050]), &[]), Ok(()));
        assert!(offence(&at([1_000, 1_000, 1_040]), &[]).starts_with("limit exceeded"));
    }

    #[test]
    fn a_wait_that_is_wrong_is_found() {
        let calls = |next: Figures, at| [call("h:own:k", ROLLING, 1_000, DENIED), call("h:own:k", ROLLING, at, next)];
        assert_eq!(check(&calls(ALLOWED, 1_050), &[]), Ok(()));
        assert_eq!(check(&calls(DENIED, 1_049), &[]), Ok(()));
        assert!(offence(&calls(ALLOWED, 1_040), &[]).starts_with("allowed 10 ms before"));
        assert!(offence(&calls(DENIED, 1_060), &[]).starts_with("denied 10 ms after"));
    }

    #[test]
    fn a_unit_that_is_lost_or_charged_twice_is_found() {
        let quota = Limit { algorithm: "ROLLING", window_ms: 86_400_000, limit: 10 };
        let count = |at, remaining| call("h:own:k", quota, at, Figures { remaining, ..ALLOWED });
        assert_eq!(check(&[count(1, 9), count(2, 8)], &[]), Ok(()));
        for wrong in [7, 9] {
            assert!(offence(&[count(1, 9), count(2, wrong)], &[]).contains("units are counted, not 2 to 2"));
        }
        // A call without a reply may have been charged, but not after the server was killed.
        let lost = Call { outcome: Outcome::Unknown, ..count(2, 0) };
        for counted in [7, 8] {
            assert_eq!(check(&[count(1, 9), lost.clone(), count(3, counted)], &[]), Ok(()));
        }
        let killed = [Kill { at_us: 3_000, lost: Vec::new() }];
        let calls = [count(1, 9), lost, count(4, 8), count(5, 6)];
        assert_eq!(check(&calls, &[]), Ok(()));
        assert!(offence(&calls, &killed).contains("not 3 to 3"));
    }

    #[test]
    fn a_holder_too_many_is_found() {
        let lease = |id: &str, at| {
            let limit = Limit { algorithm: "LEASE", window_ms: 100, limit: 1 };
            Call { kind: Kind::Lease { id: id.to_owned() }, ..call("h:all:LEASE", limit, at, ALLOWED) }
        };
        let release = |id: &str, at| {
            let (kind, outcome) = (Kind::Release { id: id.to_owned() }, Outcome::Unknown);
            Call { kind, outcome, ..lease(id, at) }
        };
        assert_eq!(check(&[lease("a", 1_000), lease("b", 1_100)], &[]), Ok(()));
        assert_eq!(check(&[lease("a", 1_000), release("a", 1_010), lease("b", 1_010)], &[]), Ok(()));
        assert!(offence(&[lease("a", 1_000), lease("b", 1_099)], &[]).starts_with("2 holders of 1 leases"));
    }
}
