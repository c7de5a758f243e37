//! RL.TOP: the keys that are denied most. The counts and their errors are in `src/denied/sketch.rs`.

use redis::{Connection, Value};

use crate::support::*;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Denied {
    key: Vec<u8>,
    algorithm: String,
    denied: i64,
    error: i64,
    last_ms: i64,
    /// The window, limit and ANCHOR of the last denial.
    limit: (String, i64, i64),
}

/// The values of a map, which is a flat array on RESP2.
#[track_caller]
fn values<const N: usize>(value: Value, names: [&str; N]) -> [Value; N] {
    let pairs: Vec<(String, Value)> = match value {
        Value::Map(pairs) => pairs.into_iter().map(|(name, value)| (read(name), value)).collect(),
        Value::Array(flat) => flat.chunks(2).map(|pair| (read(pair[0].clone()), pair[1].clone())).collect(),
        other => panic!("no map: {other:?}"),
    };
    assert_eq!(pairs.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), names);
    let values: Vec<Value> = pairs.into_iter().map(|(_, value)| value).collect();
    values.try_into().expect("as many values")
}

/// The error bound and the keys of RL.TOP.
#[track_caller]
fn top(con: &mut Connection, arguments: &[&str]) -> (i64, Vec<Denied>) {
    let reply = ok(redis::cmd("RL.TOP").arg(arguments).query(con));
    let [bound, Value::Array(keys)] = values(reply, ["error_bound", "keys"]) else { panic!("no list") };
    let denied = |entry: Value| {
        let [key, algorithm, denied, error, last, window, limit, anchor] =
            values(entry, ["key", "algorithm", "denied", "error", "last_ms", "window", "limit", "anchor"]);
        let Value::BulkString(key) = key else { panic!("{key:?}") };
        let limit = (read(window), read(limit), read(anchor));
        Denied { key, algorithm: read(algorithm), denied: read(denied), error: read(error), last_ms: read(last), limit }
    };
    (read(bound), keys.into_iter().map(denied).collect())
}

/// Keys and counts.
#[track_caller]
fn counts(con: &mut Connection, arguments: &[&str]) -> Vec<(Vec<u8>, i64)> {
    top(con, arguments).1.into_iter().map(|entry| (entry.key, entry.denied)).collect()
}

#[track_caller]
fn deny(con: &mut Connection, key: impl AsRef<[u8]>, times: i64) {
    for _ in 0..times {
        let reply: [i64; 3] = read(ok(cmd!(*con, "RL.TOKEN", key.as_ref(), LONG, 0)));
        assert_eq!(reply[0], 0);
    }
}

#[test]
fn every_way_to_be_denied_is_counted_and_nothing_else() {
    for_each_server(|bin| {
        let (clock, server) = FrozenClock::server(bin);
        for (call, counted) in [
            ("RL.TOKEN k 1h 0", &[("k", "TOKEN", "1h", 0, -1)][..]),
            ("RL.TOKEN k 1h 0 SHADOW", &[("k", "TOKEN", "1h", 0, -1)]),
            ("RL.TOKEN k 1h 5 COST 6 FULL", &[("k", "TOKEN", "1h", 5, -1)]),
            ("RL.TOKEN k 1h 0 COST 5 ALWAYS", &[("k", "TOKEN", "1h", 0, -1)]),
            ("RL.SLIDING k 1h 0 COST 2 PARTIAL", &[("k", "SLIDING", "1h", 0, -1)]),
            ("RL.LEASE k 1h 0 ID id", &[("k", "LEASE", "1h", 0, -1)]),
            // FIXED too shows the key that the client named.
            ("RL.FIXED reserved 1h 0 RESERVE a 1h", &[("reserved", "FIXED", "1h", 0, -1)]),
            ("RL.WINDOW reserved 1h 0 RESERVE a 1h", &[("reserved", "WINDOW", "1h", 0, -1)]),
            ("RL.COUNTER reserved 1h 0 RESERVE a 1h", &[("reserved", "COUNTER", "1h", 0, -1)]),
            ("RL.LEAKY k 1h 0", &[("k", "LEAKY", "1h", 0, -1)]),
            ("RL.MULTI 2 ROLLING reserved 1h 0 RESERVE a 1h TOKEN k 1h 5", &[("reserved", "ROLLING", "1h", 0, -1)]),
            (
                "RL.MULTI 3 TOKEN a 1h 0 GCRA b 1h 5 FIXED c 1h 0",
                &[("a", "TOKEN", "1h", 0, -1), ("c", "FIXED", "1h", 0, -1)],
            ),
            // The widest limit, and nothing where another one pays.
            ("RL.SHARE 2 TOKEN a 1h 0 FIXED b 1h 0", &[("b", "FIXED", "1h", 0, -1)]),
            ("RL.SHARE 2 TOKEN a 1h 0 FIXED c 1h 0 SHADOW", &[("c", "FIXED", "1h", 0, -1)]),
            ("RL.SHARE 2 TOKEN a 1h 0 TOKEN new 1h 5", &[]),
            ("RL.THROTTLE t 0 1 3600 2", &[("t", "GCRA", "3600", 1, -1)]),
            ("CL.THROTTLE t 0 1 3600 2", &[("t", "GCRA", "3600", 1, -1)]),
            // The window as it was written, and the anchor.
            ("RL.TOKEN k 3600s 0", &[("k", "TOKEN", "3600s", 0, -1)]),
            ("RL.FIXED k month 0 ANCHOR 1768608000", &[("k", "FIXED", "month", 0, 1_768_608_000)]),
            ("RL.MULTI 1 FIXED k 86400000ms 3 COST 4 ANCHOR 0", &[("k", "FIXED", "86400000ms", 3, 0)]),
            ("RL.GCRA k 1000000000000000ms 0", &[("k", "GCRA", "1000000000000000ms", 0, -1)]),
            // A part of the cost, with PARTIAL.
            ("RL.TOKEN k 1h 5 COST 6 PARTIAL", &[("k", "TOKEN", "1h", 5, -1)]),
            ("RL.TOKEN k 1h 5 COST 6 PARTIAL SHADOW", &[("k", "TOKEN", "1h", 5, -1)]),
            ("RL.TOKEN k 1h 5 COST 5 PARTIAL", &[]),
            ("RL.ROLLING reserved 1h 0 RESERVE a 1h COST 9 PARTIAL", &[]),
            // An allowed request, one that changes nothing, and errors.
            ("RL.TOKEN new 1h 5", &[]),
            ("RL.MULTI 1 TOKEN new 1h 5", &[]),
            ("RL.ROLLING reserved 1h 5 RESERVE a 1h", &[]),
            ("RL.ROLLING reserved 1h 0 RESERVE a 1h", &[]),
            ("RL.SETTLE ROLLING reserved 1h 5 RESERVATION a ACTUAL 9", &[]),
            ("RL.PEEK TOKEN k 1h 0", &[]),
            ("RL.REFUND TOKEN new 1h 0", &[]),
            ("RL.TOKEN k 1h 0 COST x", &[]),
        ] {
            for mut con in [server.con(), server.con3()] {
                ok(cmd!(con, "FLUSHALL"));
                if call.contains("1h 0 RESERVE a") && counted.is_empty() {
                    ok(send(&mut con, &call.replace("1h 0", "1h 5")));
                }
                ok(cmd!(con, "RL.TOP", "reset"));
                let reply = send(&mut con, call);
                assert_eq!(reply.is_err(), call.ends_with('x'), "{call}");
                let entry = |&(key, word, window, limit, anchor): &(&str, &str, &str, i64, i64)| Denied {
                    key: key.as_bytes().to_vec(),
                    algorithm: word.to_owned(),
                    denied: 1,
                    error: 0,
                    last_ms: clock.now_ms(),
                    limit: (window.to_owned(), limit, anchor),
                };
                assert_eq!(top(&mut con, &[]), (0, counted.iter().map(entry).collect()), "{call}");
                assert_eq!(info(&mut con, "rl_top_keys"), counted.len().to_string(), "{call}");
            }
        }
    });
}

#[test]
fn the_number_of_keys_of_a_reply_and_of_places() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for n in 1..=15 {
            deny(&mut con, format!("k{n:02}"), n);
        }
        let all: Vec<(Vec<u8>, i64)> = (1..=15).rev().map(|n| (format!("k{n:02}").into_bytes(), n)).collect();
        for (arguments, expected) in [
            (&[][..], &all[..10]),
            (&["0"], &[]),
            (&["12"], &all[..12]),
            (&["15"], &all),
            (&["18446744073709551615"], &all),
        ] {
            assert_eq!(counts(&mut con, arguments), expected, "{arguments:?}");
        }
        for wrong in ["", "x", "-1", "+1", "01", "1.5", "18446744073709551616", "RESETS", "\u{e4}"] {
            let text = err(cmd!(con, "RL.TOP", wrong));
            assert_eq!(text, "ERR invalid count: expected an integer of 0 or more, or RESET", "{wrong}");
        }
        let arity = "ERR wrong number of arguments for 'RL.TOP' command: RL.HELP TOP lists its arguments";
        assert_eq!(err(cmd!(con, "RL.TOP", "RESET", "1")), arity);
        assert_eq!(counts(&mut con, &["15"]), all, "errors change nothing");
        // With fewer places those denied most stay.
        ok(cmd!(con, "CONFIG", "SET", "rl.top-keys", 3));
        assert_eq!(info(&mut con, "rl_top_keys"), "3");
        assert_eq!(counts(&mut con, &[]), all[..3]);
        assert!(top(&mut con, &[]).0 >= 12, "k12 was denied 12 times");
        // Off: nothing is shown, counted or kept.
        ok(cmd!(con, "CONFIG", "SET", "rl.top-keys", 0));
        assert_eq!(err(cmd!(con, "RL.TOP", "5")), "ERR RL.TOP is off: set rl.top-keys above 0");
        deny(&mut con, "off", 20);
        ok(cmd!(con, "RL.TOP", "RESET"));
        ok(cmd!(con, "CONFIG", "SET", "rl.top-keys", 10_000));
        assert_eq!(top(&mut con, &[]), (0, vec![]));
        // A key is cut at 256 bytes, and its bytes stay.
        let long = "x".repeat(100_000);
        for (key, times) in [(long.as_bytes(), 2), (&long.as_bytes()[..257], 1), (b"\0\xff\r\n", 2), (b"", 1)] {
            deny(&mut con, key, times);
        }
        let expected = [(vec![b'x'; 256], 3), (b"\0\xff\r\n".to_vec(), 2), (vec![], 1)];
        assert_eq!(counts(&mut con, &[]), expected);
    });
}
