//! RL.TOP: the keys that are denied most; and RL.HELP.

use crate::support::*;
use redis::{Connection, Value};

#[derive(Clone, Debug, PartialEq, Eq)]
struct Denied {
    key: Vec<u8>,
    algorithm: String,
    denied: i64,
    error: i64,
    last_ms: i64,
}

/// The names and values of a map, which is a flat array on RESP2.
#[track_caller]
fn pairs(value: Value) -> Vec<(String, Value)> {
    match value {
        Value::Map(pairs) => pairs.into_iter().map(|(name, value)| (read(name), value)).collect(),
        Value::Array(flat) => flat.chunks(2).map(|pair| (read(pair[0].clone()), pair[1].clone())).collect(),
        other => panic!("no map: {other:?}"),
    }
}

#[track_caller]
fn values<const N: usize>(value: Value, names: [&str; N]) -> [Value; N] {
    let pairs = pairs(value);
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
        let [key, algorithm, denied, error, last] = values(entry, ["key", "algorithm", "denied", "error", "last_ms"]);
        let Value::BulkString(key) = key else { panic!("{key:?}") };
        Denied { key, algorithm: read(algorithm), denied: read(denied), error: read(error), last_ms: read(last) }
    };
    (read(bound), keys.into_iter().map(denied).collect())
}

/// Keys and counts.
#[track_caller]
fn counts(con: &mut Connection, arguments: &[&str]) -> Vec<(String, i64)> {
    let (_, keys) = top(con, arguments);
    keys.into_iter().map(|entry| (String::from_utf8_lossy(&entry.key).into_owned(), entry.denied)).collect()
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
        let server = Server::start(bin);
        let mut con = server.con();
        for (call, counted) in [
            ("RL.TOKEN k 1h 0", &[("k", "TOKEN")][..]),
            ("RL.TOKEN k 1h 0 SHADOW", &[("k", "TOKEN")]),
            ("RL.TOKEN k 1h 5 COST 6 FULL", &[("k", "TOKEN")]),
            ("RL.SLIDING k 1h 0 COST 2 PARTIAL", &[("k", "SLIDING")]),
            ("RL.LEASE k 1h 0 ID id", &[("k", "LEASE")]),
            ("RL.FIXED reserved 1h 0 RESERVE a 1h", &[("reserved", "FIXED")]),
            ("RL.WINDOW reserved 1h 0 RESERVE a 1h", &[("reserved", "WINDOW")]),
            ("RL.COUNTER reserved 1h 0 RESERVE a 1h", &[("reserved", "COUNTER")]),
            ("RL.MULTI 2 ROLLING reserved 1h 0 RESERVE a 1h TOKEN k 1h 5", &[("reserved", "ROLLING")]),
            ("RL.MULTI 3 TOKEN a 1h 0 GCRA b 1h 5 FIXED c 1h 0", &[("a", "TOKEN"), ("c", "FIXED")]),
            ("RL.THROTTLE k 0 1 3600 2", &[("k", "GCRA")]),
            ("CL.THROTTLE k 0 1 3600 2", &[("k", "GCRA")]),
            // An allowed request, one that changes nothing, and errors.
            ("RL.TOKEN new 1h 5", &[]),
            ("RL.MULTI 1 TOKEN new 1h 5", &[]),
            ("RL.ROLLING reserved 1h 5 RESERVE a 1h", &[]),
            ("RL.ROLLING reserved 1h 0 RESERVE a 1h", &[]),
            ("RL.SETTLE ROLLING reserved 1h 5 RESERVATION a ACTUAL 9", &[]),
            ("RL.PEEK TOKEN k 1h 0", &[]),
            ("RL.REFUND TOKEN k 1h 0", &[]),
            ("RL.TOKEN k 1h 0 COST x", &[]),
        ] {
            ok(cmd!(con, "RL.TOP", "RESET"));
            let mut words = call.split(' ');
            let reply: Reply = redis::cmd(words.next().expect("a name")).arg(words.collect::<Vec<_>>()).query(&mut con);
            assert_eq!(reply.is_err(), call.ends_with('x'), "{call}");
            let (_, keys) = top(&mut con, &[]);
            let found: Vec<(&[u8], &str, i64)> =
                keys.iter().map(|entry| (entry.key.as_slice(), entry.algorithm.as_str(), entry.denied)).collect();
            let expected: Vec<_> = counted.iter().map(|(key, word)| (key.as_bytes(), *word, 1)).collect();
            assert_eq!(found, expected, "{call}");
        }
    });
}

/// The words of LEAKY and LEASE begin alike.
#[test]
fn each_algorithm_of_a_key_is_an_entry() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let mut expected: Vec<(&str, i64)> = Vec::new();
        for (word, times) in algorithm_words().zip(1..) {
            for _ in 0..times {
                let id: &[&str] = if word == LEASE { &["ID", "id"] } else { &[] };
                let reply: [i64; 3] = read(ok(cmd!(con, &format!("RL.{word}"), "k", "1h", 0, id)));
                assert_eq!(reply[0], 0, "{word}");
            }
            expected.insert(0, (word, times));
        }
        let (_, keys) = top(&mut con, &[]);
        assert!(keys.iter().all(|entry| entry.key == b"k" && entry.error == 0), "{keys:?}");
        let found: Vec<(&str, i64)> = keys.iter().map(|entry| (entry.algorithm.as_str(), entry.denied)).collect();
        assert_eq!(found, expected);
    });
}

#[test]
fn the_number_of_keys_of_a_reply() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for n in 1..=15 {
            deny(&mut con, format!("k{n:02}"), n);
        }
        let all: Vec<(String, i64)> = (1..=15).rev().map(|n| (format!("k{n:02}"), n)).collect();
        for (arguments, expected) in [
            (&[][..], &all[..10]),
            (&["0"], &[]),
            (&["1"], &all[..1]),
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
        for wrong in [["1", "2"], ["RESET", "1"], ["RESET", "RESET"]] {
            assert_eq!(err(cmd!(con, "RL.TOP", &wrong)), "ERR wrong number of arguments");
        }
        assert_eq!(counts(&mut con, &["15"]), all, "errors change nothing");
        assert_eq!(ok(cmd!(con, "RL.TOP", "RESET")), Value::Okay);
        assert_eq!(top(&mut con, &["15"]), (0, vec![]));
        assert_eq!(info(&mut con, "rl_top_keys"), "0");
    });
}

#[test]
fn the_number_of_places_changes_at_run_time() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for n in 1..=9 {
            deny(&mut con, format!("k{n}"), n);
        }
        ok(cmd!(con, "CONFIG", "SET", "rl.top-keys", 3));
        assert_eq!(info(&mut con, "rl_top_keys"), "3");
        let (bound, keys) = top(&mut con, &[]);
        let kept: Vec<(&[u8], i64)> = keys.iter().map(|entry| (entry.key.as_slice(), entry.denied)).collect();
        assert_eq!(kept, [(&b"k9"[..], 9), (b"k8", 8), (b"k7", 7)], "those denied most stay");
        assert!(bound >= 6, "k6 was denied 6 times: {bound}");
        // Off: nothing is shown, counted or kept.
        ok(cmd!(con, "CONFIG", "SET", "rl.top-keys", 0));
        assert_eq!(info(&mut con, "rl_top_keys"), "0");
        for arguments in [&[][..], &["5"], &["0"]] {
            let text = err(cmd!(con, "RL.TOP", arguments));
            assert_eq!(text, "ERR RL.TOP is off: set rl.top-keys above 0");
        }
        deny(&mut con, "off", 20);
        ok(cmd!(con, "RL.TOP", "RESET"));
        ok(cmd!(con, "CONFIG", "SET", "rl.top-keys", 10_000));
        assert_eq!(top(&mut con, &[]), (0, vec![]));
        deny(&mut con, "on", 2);
        assert_eq!(counts(&mut con, &[]), [("on".to_owned(), 2)]);
    });
}

#[test]
fn help_has_a_line_for_every_command() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        for mut con in [server.con(), server.con3()] {
            let lines: Vec<String> = read(ok(cmd!(con, "RL.HELP")));
            let mut named: Vec<String> =
                lines.iter().map(|line| line.split([' ', ':']).next().expect("a name").to_lowercase()).collect();
            named.sort();
            let listed = ok(cmd!(con, "COMMAND", "LIST", "FILTERBY", "MODULE", "rl"));
            let mut commands: Vec<String> =
                read::<Vec<String>>(listed).iter().map(|name| name.to_lowercase()).collect();
            // The second name of RL.THROTTLE.
            commands.retain(|name| name != "cl.throttle");
            commands.sort();
            assert_eq!(named, commands);
            for line in &lines {
                let (_, summary) = line.split_once(": ").unwrap_or_else(|| panic!("no summary: {line}"));
                assert!(summary.ends_with('.') && !line.contains('\n'), "{line}");
            }
            let token = lines.iter().find(|line| line.starts_with("RL.TOKEN ")).expect("RL.TOKEN");
            let syntax = "RL.TOKEN key window limit [COST cost] [PARTIAL] [ALWAYS] [BURST burst] [AS name] [SHADOW] [FULL | LINE | HEADERS]: ";
            assert!(token.starts_with(syntax), "{token}");
            for name in named.iter().flat_map(|name| [name.as_str(), name.strip_prefix("rl.").expect("a prefix")]) {
                let described: Vec<String> = read(ok(cmd!(con, "RL.HELP", name)));
                let full = format!("rl.{}", name.trim_start_matches("rl."));
                assert!(described[0].to_lowercase().starts_with(&full), "{name}: {described:?}");
                let options = described[0].split('[').skip(1).filter_map(|option| option.split([' ', ']']).next());
                for option in
                    options.filter(|word| word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_uppercase()))
                {
                    let is_form = ["FULL", "LINE", "HEADERS", "RESET"].contains(&option);
                    let has_line = described.iter().any(|line| line.starts_with(option));
                    assert!(is_form || has_line, "{name}: no line for {option}: {described:?}");
                }
                let example = described.last().and_then(|line| line.strip_prefix("Example: ")).expect("an example");
                assert!(example.to_lowercase().starts_with(&full), "{name}: {example}");
                let mut words = example.split(' ');
                let call = redis::cmd(words.next().expect("a name")).arg(words.collect::<Vec<_>>()).to_owned();
                ok(call.query(&mut con));
                // The examples of two algorithms may have one key.
                ok(cmd!(con, "FLUSHALL"));
            }
            let token: Vec<String> = read(ok(cmd!(con, "RL.HELP", "TOKEN")));
            assert!(token.iter().any(|line| line.starts_with("window: ") && line.contains("500ms")), "{token:?}");
            assert!(token.iter().any(|line| line.starts_with("BURST n: ")), "{token:?}");
            assert_eq!(err(cmd!(con, "RL.HELP", "NOTHING")), "ERR invalid command: RL.HELP lists the commands");
            assert!(err(cmd!(con, "RL.HELP", "TOKEN", "GCRA")).starts_with("ERR wrong number of arguments"));
        }
    });
}
