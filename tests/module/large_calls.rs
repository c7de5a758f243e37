//! No call does more work than a few thousand plain commands would: RL.SLIDING adds a limited number of members, over
//! all limits of a call, and RL.RESET does not prune what it deletes.

use crate::support::*;
use redis::{Connection, Value};

const MOST: i64 = 1_000;

#[track_caller]
fn assert_too_many(con: &mut Connection, call: &redis::Cmd) {
    let before = (keys(con), digest(con));
    let text = err(call.query(con));
    assert!(text.starts_with("ERR ") && text.contains("COST") && text.contains("1000"), "{text}");
    let others = ALGORITHMS.iter().filter(|algorithm| ![FIXED.name, SLIDING.name].contains(&algorithm.name));
    let mut named = others.filter(|algorithm| text.contains(algorithm.word()));
    assert!(named.next().is_some(), "no other algorithm is named: {text}");
    assert_eq!((keys(con), digest(con)), before, "something was charged");
}

fn multi(limits: &[(&Algorithm, String, i64)]) -> redis::Cmd {
    let mut call = redis::cmd("RL.MULTI");
    call.arg(limits.len());
    for (algorithm, key, cost) in limits {
        call.arg(algorithm.word()).arg(key).arg(60).arg(1_000_000).arg("COST").arg(cost);
    }
    call
}

#[test]
fn a_request_adds_at_most_a_thousand_members() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for cost in [MOST + 1, 10_000, 999_999, 1_000_000] {
            let call = SLIDING.request("k", 60, 1_000_000, cost);
            assert_too_many(&mut con, &call);
            assert_too_many(&mut con, call.clone().arg("FULL"));
            let mut peek = redis::cmd("RL.PEEK");
            assert_too_many(
                &mut con,
                peek.arg("SLIDING").arg(call.args_iter().skip(1).map(argument).collect::<Vec<_>>()),
            );
            assert_too_many(&mut con, &multi(&[(&SLIDING, "k".into(), cost)]));
        }
        assert_eq!(SLIDING.ask_for(&mut con, "k", 60, 1_000_000, MOST)[..2], [1, 0]);
        assert_eq!(ok(cmd!(con, "ZCARD", "k")), Value::Int(MOST));
        // A cost that the limit can never hold adds nothing: it is denied.
        assert_eq!(SLIDING.ask_for(&mut con, "other", 60, 100, 1_000_000), [0, 0, 60]);
        // The others count any cost.
        for algorithm in ALGORITHMS.iter().filter(|algorithm| algorithm.name != SLIDING.name) {
            assert_eq!(algorithm.ask_for(&mut con, algorithm.name, 60, 1_000_000, 1_000_000)[0], 1, "{algorithm:?}");
        }
    });
}

fn argument(argument: redis::Arg<&[u8]>) -> Vec<u8> {
    match argument {
        redis::Arg::Simple(bytes) => bytes.to_vec(),
        other => panic!("no bytes: {other:?}"),
    }
}

#[test]
fn all_limits_of_a_call_together_add_at_most_a_thousand_members() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let each = |count: i64, cost: i64| -> Vec<(&Algorithm, String, i64)> {
            (0..count).map(|n| (&SLIDING, format!("k{n}"), cost)).collect()
        };
        for (count, cost) in [(2, MOST / 2 + 1), (8, MOST), (8, 1_000_000), (64, 16)] {
            assert_too_many(&mut con, &multi(&each(count, cost)));
        }
        // A limit of another algorithm before or after them is not charged either.
        for place in [0, 1, 2] {
            let mut limits = each(2, MOST);
            limits.insert(place, (&TOKEN, "t".into(), 1));
            assert_too_many(&mut con, &multi(&limits));
        }
        // At the bound, and what the others cost does not count.
        for (count, cost) in [(2, MOST / 2), (64, 15)] {
            let mut limits = each(count, cost);
            limits.truncate(63);
            limits.push((&TOKEN, "t".into(), 900_000));
            let (allowed, _): (i64, Value) = read(ok(multi(&limits).query(&mut con)));
            assert_eq!(allowed, 1, "{count} of {cost}");
            assert_eq!(ok(cmd!(con, "ZCARD", "k0")), Value::Int(cost));
            ok(cmd!(con, "FLUSHALL"));
        }
    });
}

/// The time that the server took for all calls of a command so far, in µs.
fn usec(con: &mut Connection, command: &str) -> u64 {
    let stats: String = redis::cmd("INFO").arg("commandstats").query(con).expect("INFO");
    let name = format!("cmdstat_{}:", command.to_lowercase());
    let line = stats.lines().find(|line| line.to_lowercase().starts_with(&name));
    let line = line.unwrap_or_else(|| panic!("no {name} in {stats}"));
    let usec = line.split(',').find_map(|field| field.strip_prefix("usec="));
    usec.expect("usec").parse().expect("an integer")
}

/// None of the members counts under the window that is named.
#[test]
fn a_reset_does_not_prune_what_it_deletes() {
    const FILL: &str = "for n = 1, 200000, 2000 do
        local members = {}
        for at = n, n + 1999 do
            members[#members + 1] = at
            members[#members + 1] = at
        end
        redis.call('ZADD', KEYS[1], unpack(members))
    end";
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        // Another program may take the processor away in any round, so the shortest time of each command counts.
        let (mut reset, mut prune) = (u64::MAX, u64::MAX);
        for _ in 0..5 {
            ok(cmd!(con, "CONFIG", "RESETSTAT"));
            for key in ["reset", "pruned"] {
                ok(cmd!(con, "EVAL", FILL, 1, key));
                assert_eq!(ok(cmd!(con, "ZCARD", key)), Value::Int(200_000));
            }
            assert_eq!(ok(cmd!(con, "RL.RESET", "SLIDING", "reset", "1s")), Value::Int(1));
            ok(cmd!(con, "ZREMRANGEBYSCORE", "pruned", "-inf", "+inf"));
            assert_eq!(ok(cmd!(con, "DBSIZE")), Value::Int(0));
            reset = reset.min(usec(&mut con, "RL.RESET"));
            prune = prune.min(usec(&mut con, "ZREMRANGEBYSCORE"));
        }
        assert!(reset * 4 < prune, "RL.RESET took {reset} µs, ZREMRANGEBYSCORE {prune} µs");
    });
}
