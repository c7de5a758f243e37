//! `charged` of FULL: the units that this call charged. A caller that settles later needs to know.

use crate::support::*;
use redis::{Connection, Value};

const LIMIT: i64 = 5;

#[track_caller]
fn full_of_call(con: &mut Connection, call: &str) -> Full {
    full(ok(send(con, &format!("{call} FULL"))))
}

/// The units that are counted.
#[track_caller]
fn counted(con: &mut Connection, algorithm: &Algorithm, key: &str) -> i64 {
    full_of_call(con, &format!("RL.PEEK {} {key} {LONG} {LIMIT} COST 0", algorithm.word())).count
}

/// `charged` is what the call adds to the counter, except that FIXED's count of denials is no charge.
#[test]
fn a_request_says_what_it_charged() {
    for_each_server(|bin| {
        let (_clock, server) = FrozenClock::server(bin);
        let mut con = server.con();
        for algorithm in ALGORITHMS {
            ok(cmd!(con, "FLUSHALL"));
            for (options, allowed, charged) in [
                ("COST 2", 1, 2),
                ("", 1, 1),
                ("COST 0", 1, 0),
                ("COST 4", 0, 0),
                ("COST 9", 0, 0),
                ("COST 9 PARTIAL", 2, 2),
                ("COST 9 PARTIAL", 0, 0),
                ("COST 0 PARTIAL", 0, 0),
                ("", 0, 0),
                ("COST 3 SHADOW", 1, 0),
                ("SHADOW", 1, 0),
            ] {
                let before = counted(&mut con, algorithm, "k");
                let call = format!("{} k {LONG} {LIMIT} {options}", algorithm.command);
                let peek = call.replace("RL.", "RL.PEEK ");
                assert_eq!(full_of_call(&mut con, peek.trim_end()).charged, 0, "{peek}");
                let reply = full_of_call(&mut con, call.trim_end());
                assert_eq!((reply.allowed, reply.charged), (allowed, charged), "{call}: {reply:?}");
                let added = counted(&mut con, algorithm, "k") - before;
                let counts_denials = algorithm.counts_denials && before >= LIMIT;
                assert!(added == charged || counts_denials, "{call}: {added} added, {charged} charged");
            }
        }
    });
}

/// PARTIAL in shadow mode allows all of the cost. What fits is charged.
#[test]
fn shadow_mode_charges_nothing_where_it_allows_a_denial() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for algorithm in ALGORITHMS {
            for (setting, option) in [("no", " SHADOW"), ("yes", "")] {
                ok(cmd!(con, "CONFIG", "SET", "rl.shadow", setting));
                ok(cmd!(con, "FLUSHALL"));
                for (cost, shadow, charged) in [(3, 0, 3), (3, 1, 0), (2, 0, 2), (1, 1, 0)] {
                    let call = format!("{} k {LONG} {LIMIT} COST {cost}{option}", algorithm.command);
                    let reply = full_of_call(&mut con, &call);
                    assert_eq!([reply.allowed, reply.shadow, reply.charged], [1, shadow, charged], "{call}");
                }
                let call = format!("RL.MULTI 1 {} k {LONG} {LIMIT}{option} FULL", algorithm.word());
                let (allowed, [reply]): (i64, [Value; 1]) = read(ok(send(&mut con, &call)));
                assert_eq!((allowed, full(reply).charged), (1, 0), "{call}");
            }
        }
        ok(cmd!(con, "CONFIG", "SET", "rl.shadow", "no"));
    });
}

#[test]
fn at_maxmemory_with_allow_nothing_is_charged() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for (on_oom, allowed) in [("allow", 1), ("deny", 0)] {
            for algorithm in ALGORITHMS {
                ok(cmd!(con, "CONFIG", "SET", "maxmemory", 0));
                ok(cmd!(con, "FLUSHALL"));
                full_of_call(&mut con, &format!("{} old {LONG} {LIMIT}", algorithm.command));
                ok(cmd!(con, "CONFIG", "SET", "rl.on-oom", on_oom));
                ok(cmd!(con, "CONFIG", "SET", "maxmemory", 1));
                for options in ["", " COST 2", " COST 9 PARTIAL"] {
                    let call = format!("{} new {LONG} {LIMIT}{options}", algorithm.command);
                    let reply = full_of_call(&mut con, &call);
                    assert_eq!((reply.allowed > 0, reply.charged), (allowed == 1, 0), "{on_oom} {call}: {reply:?}");
                }
                // A key that exists and does not grow is charged. ROLLING shares the entry of the moment.
                let call = format!("{} old {LONG} {LIMIT} COST 2", algorithm.command);
                let reply = full_of_call(&mut con, &call);
                let expected = if algorithm.grows { (allowed, 0) } else { (1, 2) };
                assert_eq!((reply.allowed, reply.charged), expected, "{on_oom} {call}: {reply:?}");
                // In RL.MULTI too.
                let words = format!("RL.MULTI 1 {} new {LONG} {LIMIT} COST 2 FULL", algorithm.word());
                let (multi, [reply]): (i64, [Value; 1]) = read(ok(send(&mut con, &words)));
                assert_eq!((multi, full(reply).charged), (allowed, 0), "{on_oom} {words}");
            }
        }
    });
}

#[test]
fn a_denied_rl_multi_charges_nothing_and_an_allowed_one_each_cost() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for algorithm in ALGORITHMS {
            ok(cmd!(con, "FLUSHALL"));
            let word = algorithm.word();
            for (allowed, charged) in [(1, [2, 1, 1]), (1, [2, 1, 0]), (0, [0, 0, 0])] {
                let call =
                    format!("RL.MULTI 3 {word} a {LONG} 5 COST 2 {word} b {LONG} 9 LEASE c {LONG} 1 ID one FULL");
                let (found, replies): (i64, [Value; 3]) = read(ok(send(&mut con, &call)));
                assert_eq!((found, replies.map(full).map(|reply| reply.charged)), (allowed, charged), "{call}");
            }
        }
    });
}

#[test]
fn a_refund_charges_nothing_and_a_settlement_what_it_cost() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for algorithm in ALGORITHMS {
            ok(cmd!(con, "CONFIG", "SET", "maxmemory", 0));
            ok(cmd!(con, "FLUSHALL"));
            let word = algorithm.word();
            for (call, charged) in [
                ("RL.SETTLE ALGO k WINDOW 5 RESERVED 0 ACTUAL 3", 3),
                ("RL.SETTLE ALGO k WINDOW 5 RESERVED 3 ACTUAL 3", 3),
                ("RL.SETTLE ALGO k WINDOW 5 RESERVED 3 ACTUAL 2", 2),
                ("RL.SETTLE ALGO k WINDOW 5 RESERVED 2 ACTUAL 40", 40),
                ("RL.SETTLE ALGO k WINDOW 5 RESERVED 40 ACTUAL 0", 0),
                ("RL.REFUND ALGO k WINDOW 5", 0),
                ("RL.REFUND ALGO k WINDOW 5 COST 9", 0),
            ] {
                let call = call.replace("ALGO", word).replace("WINDOW 5", &format!("{LONG} 5"));
                assert_eq!(full_of_call(&mut con, &call).charged, charged, "{call}");
            }
            // Where there is no memory for more, what was reserved stays charged.
            ok(cmd!(con, "CONFIG", "SET", "rl.on-oom", "allow"));
            ok(cmd!(con, "CONFIG", "SET", "maxmemory", 1));
            for (reserved, actual) in [(0, 4), (2, 4)] {
                let call = format!("RL.SETTLE {word} new {LONG} 5 RESERVED {reserved} ACTUAL {actual}");
                assert_eq!(full_of_call(&mut con, &call).charged, reserved, "{call}");
            }
            assert_eq!(ok(cmd!(con, "EXISTS", "new")), Value::Int(0));
        }
    });
}

#[test]
fn a_lease_charges_1_if_it_is_taken_and_0_if_it_is_renewed() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for (id, option, allowed, charged) in [
            ("one", "", 1, 1),
            ("one", "", 1, 0),
            ("two", "", 1, 1),
            ("three", "", 0, 0),
            ("three", " SHADOW", 1, 0),
            ("two", "", 1, 0),
        ] {
            let call = format!("k {LONG} 2 ID {id}{option}");
            let peek = full_of_call(&mut con, &format!("RL.PEEK LEASE {call}"));
            assert_eq!((peek.allowed, peek.charged), (allowed, 0), "{call}");
            let reply = full_of_call(&mut con, &format!("RL.LEASE {call}"));
            assert_eq!((reply.allowed, reply.charged), (allowed, charged), "{call}");
        }
    });
}
