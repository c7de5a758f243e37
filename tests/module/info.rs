//! INFO rl: exact figures after known traffic.

use std::collections::BTreeMap;

use crate::support::*;
use redis::Connection;

/// The lines of the section, in order.
fn section(con: &mut Connection) -> Vec<(String, String)> {
    let text: String = redis::cmd("INFO").arg("rl").query(con).expect("INFO");
    let lines = text.lines().filter_map(|line| line.split_once(':'));
    lines.map(|(name, value)| (name.to_owned(), value.trim_end().to_owned())).collect()
}

/// The figures that are integers, without `rl_`.
fn figures(con: &mut Connection) -> BTreeMap<String, i64> {
    let section = section(con);
    let section = section.iter().filter(|(name, _)| name != "rl_loaded_seconds");
    let numbers = section.filter_map(|(name, value)| Some((name.strip_prefix("rl_")?, value.parse().ok()?)));
    numbers.map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The figures that changed since they were last taken, and by how much. That of RL.TOP is left out.
struct Changes {
    con: Connection,
    before: BTreeMap<String, i64>,
}

impl Changes {
    fn of(server: &Server) -> Self {
        let mut con = server.con();
        let before = figures(&mut con);
        Self { con, before }
    }

    #[track_caller]
    fn assert(&mut self, expected: &[(&str, i64)], what: &str) {
        let now = figures(&mut self.con);
        let changed: BTreeMap<&str, i64> = now
            .iter()
            .map(|(name, value)| (name.as_str(), value - self.before[name]))
            .filter(|(name, difference)| *difference != 0 && *name != "top_keys")
            .collect();
        let mut sums = BTreeMap::new();
        for (name, n) in expected.iter().filter(|(_, n)| *n != 0) {
            *sums.entry(*name).or_insert(0) += n;
        }
        assert_eq!(changed, sums, "{what}");
        self.before = now;
    }
}

/// A figure of an algorithm: `token_near`.
fn of(algorithm: &Algorithm, outcome: &str) -> String {
    format!("{}_{outcome}", algorithm.name)
}

fn missing_api(bin: &ServerBin) -> &'static str {
    match (bin.is_valkey(), bin.version.0, bin.version.1) {
        (false, 7, 0) => "acl-categories,cached-time",
        (false, 7, 1..=3) => "acl-categories",
        _ => "none",
    }
}

#[test]
fn every_figure_is_there_and_starts_at_0() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut expected =
            vec![("rl_version".to_owned(), "0".to_owned()), ("rl_loaded_seconds".to_owned(), "0".to_owned())];
        for name in ALGORITHMS.iter().map(|algorithm| algorithm.name).chain(["lease", "multi"]) {
            for outcome in ["allowed", "near", "denied", "shadow_denied", "errors"] {
                expected.push((format!("rl_{name}_{outcome}"), "0".into()));
            }
        }
        for name in [
            "peeks",
            "refunds",
            "settlements",
            "reservations_made",
            "reservations_repeated",
            "reservations_settled",
            "reservations_ended",
            "oom_error",
            "oom_allowed",
            "oom_denied",
            "top_keys",
        ] {
            expected.push((format!("rl_{name}"), "0".into()));
        }
        expected.push(("rl_missing_api".into(), missing_api(bin).into()));
        for mut con in [server.con(), server.con3()] {
            let mut section = section(&mut con);
            let seconds: u64 = section[1].1.parse().expect("a number");
            assert!(seconds <= PATIENCE.as_secs(), "{seconds}");
            section[1].1 = "0".to_owned();
            // That of the crate, and which build it is.
            let version = std::mem::replace(&mut section[0].1, "0".to_owned());
            let build = version.strip_prefix(env!("CARGO_PKG_VERSION"));
            assert!(build.is_some_and(|build| build.is_empty() || build.starts_with('+')), "{version}");
            assert_eq!(section, expected);
            assert_eq!(info(&mut con, "rl_version"), version, "in INFO everything");
        }
    });
}

#[test]
fn decisions_by_outcome() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let mut changes = Changes::of(&server);
        for algorithm in ALGORITHMS {
            let (command, key) = (algorithm.command, algorithm.name);
            let call = |options: &str| format!("{command} {key} {LONG} 10 {options}").trim_end().to_owned();
            let [allowed, near, denied, shadow, errors] =
                ["allowed", "near", "denied", "shadow_denied", "errors"].map(|outcome| of(algorithm, outcome));
            // Units 1 to 8 of 10 are at most 80 %.
            for (times, options, figure) in [
                (8, "", &allowed),
                (1, "COST 0", &allowed),
                (1, "", &near),
                (2, "COST 0 FULL", &near),
                (1, "COST 9 PARTIAL", &near),
                (3, "", &denied),
                (1, "COST 0", &denied),
                (1, "COST 3 PARTIAL", &denied),
                (2, "COST 11 HEADERS", &denied),
                (2, "SHADOW", &shadow),
                (1, "COST 11 SHADOW FULL", &shadow),
                (2, "COST x", &errors),
                (1, "SHADOW SHADOW", &errors),
            ] {
                for _ in 0..times {
                    assert_eq!(send(&mut con, &call(options)).is_err(), figure == &errors, "{}", call(options));
                }
                changes.assert(&[(figure, times)], &call(options));
            }
            ok(cmd!(con, "CONFIG", "SET", "rl.shadow", "yes"));
            ok(send(&mut con, &call("")));
            changes.assert(&[(&shadow, 1)], "rl.shadow");
            ok(send(&mut con, &format!("{command} {key}:new {LONG} 10")));
            changes.assert(&[(&allowed, 1)], "rl.shadow, and it fits");
            ok(cmd!(con, "CONFIG", "SET", "rl.shadow", "no"));
            // A key of another type.
            let state = algorithm.state_key(b"list", LONG as u64 * 1_000, now_ms().cast_unsigned());
            ok(cmd!(con, "RPUSH", &state, "x"));
            err(send(&mut con, &format!("{command} list {LONG} 10")));
            changes.assert(&[(&errors, 1)], "WRONGTYPE");
            ok(cmd!(con, "DEL", &state));
            // The server itself rejects this one, and nothing is counted.
            err(cmd!(con, command, key));
            changes.assert(&[], "arity");
            if algorithm.takes_burst {
                ok(send(&mut con, &format!("{command} burst:{key} {LONG} 10 BURST 20 COST 16")));
                changes.assert(&[(&allowed, 1)], "80 % of the burst");
                ok(send(&mut con, &format!("{command} burst:{key} {LONG} 10 BURST 20")));
                changes.assert(&[(&near, 1)], "85 % of the burst");
            }
        }
    });
}

#[test]
fn leases_by_outcome() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let mut changes = Changes::of(&server);
        for (id, options, figure) in [
            ("a", "", "lease_allowed"),
            ("b", "", "lease_allowed"),
            ("c", "", "lease_allowed"),
            ("d", "", "lease_allowed"),
            ("d", "FULL", "lease_allowed"),
            ("e", "", "lease_near"),
            ("f", "", "lease_denied"),
            ("f", "SHADOW", "lease_shadow_denied"),
            ("a", "", "lease_near"),
            ("a", "COST 1", "lease_errors"),
        ] {
            let call = format!("RL.LEASE k 1h 5 ID {id} {options}");
            assert_eq!(send(&mut con, call.trim_end()).is_err(), figure == "lease_errors", "{call}");
            changes.assert(&[(figure, 1)], &call);
        }
        err(send(&mut con, "RL.LEASE k 1h 5"));
        changes.assert(&[("lease_errors", 1)], "no ID");
    });
}

#[test]
fn throttle_counts_as_gcra() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let mut changes = Changes::of(&server);
        for command in ["RL.THROTTLE", "CL.THROTTLE"] {
            ok(cmd!(con, "FLUSHALL"));
            for (times, quantity, figure) in [(8, 1, "allowed"), (2, 1, "near"), (3, 1, "denied"), (1, -1, "errors")] {
                for _ in 0..times {
                    let reply = cmd!(con, command, "k", 9, 10, LONG, quantity);
                    assert_eq!(reply.is_err(), figure == "errors");
                }
                changes.assert(&[(&format!("gcra_{figure}"), times)], command);
            }
            ok(cmd!(con, "RPUSH", "list", "x"));
            err(cmd!(con, command, "list", 9, 10, LONG));
            changes.assert(&[("gcra_errors", 1)], command);
        }
    });
}

/// Each limit counts as it would alone, and the call by its strictest limit.
#[test]
fn several_limits_at_once() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let mut changes = Changes::of(&server);
        for algorithm in ALGORITHMS {
            let word = algorithm.word();
            let call =
                |options: &str| format!("RL.MULTI 2 TOKEN {word}:t {LONG} 100 {word} {word}:k {LONG} 2{options}");
            for (options, own, multi) in [
                ("", "allowed", "multi_allowed"),
                (" FULL", "near", "multi_near"),
                ("", "denied", "multi_denied"),
                (" HEADERS", "denied", "multi_denied"),
                (" SHADOW", "shadow_denied", "multi_shadow_denied"),
            ] {
                ok(send(&mut con, &call(options)));
                changes.assert(&[("token_allowed", 1), (&of(algorithm, own), 1), (multi, 1)], &call(options));
            }
            // One limit denies, and another is in shadow mode.
            let denied = format!("RL.MULTI 2 TOKEN {word}:u {LONG} 0 {word} {word}:k {LONG} 2 SHADOW");
            ok(send(&mut con, &denied));
            let expected = [("token_denied", 1), (&*of(algorithm, "shadow_denied"), 1), ("multi_denied", 1)];
            changes.assert(&expected, &denied);
            err(send(&mut con, &call(" COST x")));
            changes.assert(&[("multi_errors", 1)], "an error");
        }
        err(cmd!(con, "RL.MULTI", 0, "TOKEN", "k", 60, 5));
        changes.assert(&[("multi_errors", 1)], "an error");
    });
}

#[test]
fn peeks_refunds_and_settlements_are_no_decisions() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let mut changes = Changes::of(&server);
        for algorithm in ALGORITHMS {
            let word = algorithm.word();
            let limit = format!("{word} {word} {LONG} 10");
            for (call, figure) in [
                (format!("RL.PEEK {limit}"), "peeks"),
                (format!("RL.PEEK {limit} COST 11 FULL"), "peeks"),
                (format!("RL.PEEK {limit} COST 11 SHADOW"), "peeks"),
                (format!("RL.REFUND {limit} COST 2"), "refunds"),
                (format!("RL.SETTLE {limit} RESERVED 0 ACTUAL 3"), "settlements"),
                (format!("RL.SETTLE {limit} RESERVED 3 ACTUAL 1 HEADERS"), "settlements"),
            ] {
                ok(send(&mut con, &call));
                changes.assert(&[(figure, 1)], &call);
            }
            for call in [
                format!("RL.RESET {word} {word} {LONG}"),
                format!("RL.PEEK {limit} COST x"),
                format!("RL.REFUND {limit} COST x"),
                format!("RL.SETTLE {limit} RESERVED x ACTUAL 1"),
            ] {
                assert_eq!(send(&mut con, &call).is_err(), call.contains('x'), "{call}");
                changes.assert(&[], &call);
            }
        }
    });
}

#[test]
fn decisions_at_maxmemory() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        ok(cmd!(con, "CONFIG", "SET", "maxmemory", 1));
        let mut changes = Changes::of(&server);
        for (setting, oom, outcome) in
            [("error", "oom_error", "errors"), ("allow", "oom_allowed", "allowed"), ("deny", "oom_denied", "denied")]
        {
            ok(cmd!(con, "CONFIG", "SET", "rl.on-oom", setting));
            for algorithm in ALGORITHMS {
                let what = format!("{setting} {algorithm:?}");
                let own = of(algorithm, outcome);
                let reply = cmd!(con, algorithm.command, "new", LONG, 10);
                assert_eq!(reply.is_err(), setting == "error", "{what}");
                changes.assert(&[(oom, 1), (&own, 1)], &what);
                let reply = cmd!(con, "RL.MULTI", 1, algorithm.word(), "new", LONG, 10);
                assert_eq!(reply.is_err(), setting == "error", "{what}");
                let own = (&*own, i64::from(setting != "error"));
                changes.assert(&[(oom, 1), own, (&format!("multi_{outcome}"), 1)], &what);
                // What needs no memory is decided as usual.
                ok(cmd!(con, "RL.PEEK", algorithm.word(), "new", LONG, 10));
                changes.assert(&[("peeks", 1)], &what);
            }
        }
    });
}

/// A replica gets the effects, not the decisions.
#[test]
fn a_replica_counts_nothing() {
    for_each_server(|bin| {
        let master = Server::start(bin);
        let replica = Server::options(bin).replica_of(&master).start();
        wait_for_replica(&master, &replica);
        let mut con = master.con();
        let mut changes = Changes::of(&replica);
        for algorithm in ALGORITHMS {
            for n in 0..3 {
                assert_eq!(algorithm.ask(&mut con, algorithm.name, LONG, 2)[0], i64::from(n < 2));
            }
        }
        wait_for_replica(&master, &replica);
        changes.assert(&[], "after the requests of the master");
        ok(cmd!(replica.con(), "RL.PEEK", "TOKEN", "token", LONG, 2));
        changes.assert(&[("peeks", 1)], "its own");
    });
}

/// Also for RL.TOP.
#[test]
fn a_request_with_always_is_a_decision() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let grammar = Grammar::of(&mut con);
        let takes = |algorithm: &&Algorithm| grammar.takes("RL.<ALGO>", algorithm.word(), "ALWAYS");
        for algorithm in ALGORITHMS.iter().filter(takes) {
            ok(cmd!(con, "FLUSHALL"));
            ok(cmd!(con, "RL.TOP", "RESET"));
            let decisions = |con: &mut Connection| {
                ["allowed", "near", "denied", "shadow_denied", "errors"].map(|outcome| {
                    info(con, &format!("rl_{}_{outcome}", algorithm.name)).parse::<i64>().expect("a figure")
                })
            };
            let before = decisions(&mut con);
            // 4 of 5 are 80 %.
            for (cost, options) in [(4, ""), (0, ""), (1, ""), (1, ""), (0, ""), (3, "SHADOW"), (i64::MAX, "")] {
                let call = format!("{} k {LONG} 5 COST {cost} ALWAYS {options}", algorithm.command);
                let _ = send(&mut con, call.trim_end());
            }
            let after = decisions(&mut con);
            let counted: Vec<i64> = after.iter().zip(before).map(|(after, before)| after - before).collect();
            assert_eq!(counted, [2, 1, 2, 1, 1], "{algorithm:?}");
            let top = format!("{:?}", ok(cmd!(con, "RL.TOP")));
            let denials = format!("{:?}, {:?}, {:?}", bytes("denied"), redis::Value::Int(3), bytes("error"));
            assert!(top.contains(&denials), "{algorithm:?}: {top}");
        }
    });
}
