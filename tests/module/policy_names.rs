//! AS: the name of a policy in the headers. And how FULL ends.

use crate::support::*;
use redis::{Connection, Value};

/// The names in `RateLimit-Policy`, and the one in `RateLimit`.
fn names(headers: &[(String, String)]) -> (Vec<String>, String) {
    let value = |name: &str| headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.clone());
    let quoted =
        |item: &str| item.strip_prefix('"').and_then(|rest| rest.split_once('"')).map(|(name, _)| name.to_owned());
    let policies = value("RateLimit-Policy").expect("RateLimit-Policy");
    let listed = policies.split(", ").map(|item| quoted(item).expect("a quoted name")).collect();
    (listed, quoted(&value("RateLimit").expect("RateLimit")).expect("a quoted name"))
}

/// The names that RL.MULTI gives these limits: the algorithm's word and its options.
#[track_caller]
fn names_of_multi(con: &mut Connection, limits: &[(&str, String)]) -> (Vec<String>, String) {
    let each = limits.iter().enumerate();
    let each: Vec<String> = each.map(|(n, (word, options))| format!("{word} k{n} {LONG} 5{options}")).collect();
    let call = format!("RL.MULTI {} {} HEADERS", each.len(), each.join(" "));
    let (_, _, headers): (i64, Value, Value) = read(ok(send(con, &call)));
    names(&header_pairs(headers))
}

#[test]
fn the_name_is_in_both_headers() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for algorithm in ALGORITHMS {
            let (word, default) = (algorithm.word(), algorithm.name);
            for (options, expected) in [
                ("", default),
                (" AS requests", "requests"),
                (" as Per.Minute_60-x", "Per.Minute_60-x"),
                (" COST 1 AS HEADERS", "HEADERS"),
                (" AS 0 COST 9", "0"),
            ] {
                let expected = (vec![expected.to_owned()], expected.to_owned());
                for call in [format!("RL.{word} {word} 60 5"), format!("RL.PEEK {word} {word} 60 5")] {
                    for call in [format!("{call}{options} HEADERS"), format!("{call} headers{options}")] {
                        let (_, headers) = with_headers(ok(send(&mut con, &call)));
                        assert_eq!(names(&headers), expected, "{call}");
                    }
                }
                ok(cmd!(con, "FLUSHALL"));
                assert_eq!(names_of_multi(&mut con, &[(word, options.to_owned())]), expected, "{word}{options}");
            }
            // The name changes nothing that is counted.
            for (n, name) in ["AS a", "AS b", "", "AS a"].iter().enumerate() {
                let reply = full(ok(send(&mut con, format!("RL.{word} same {LONG} 5 FULL {name}").trim_end())));
                assert_eq!(reply.remaining, 4 - n as i64, "{algorithm:?} {name}");
            }
            ok(cmd!(con, "FLUSHALL"));
        }
    });
}

#[test]
fn two_limits_of_a_call_never_share_a_name() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let token = |name: &str| ("TOKEN", if name.is_empty() { String::new() } else { format!(" AS {name}") });
        for (given, expected) in [
            (&["", ""][..], &["token", "token-2"][..]),
            (&["", "", ""], &["token", "token-2", "token-3"]),
            (&["x", "x", "x"], &["x", "x-2", "x-3"]),
            (&["x", "y", "x"], &["x", "y", "x-2"]),
            (&["x", "x-2", "x"], &["x", "x-2", "x-3"]),
            (&["x-2", "x", "x", "x"], &["x-2", "x", "x-3", "x-4"]),
            (&["x", "x", "x-2"], &["x", "x-2", "x-2-2"]),
            (&["token", ""], &["token", "token-2"]),
            (&["", "token"], &["token", "token-2"]),
            (&["x", "X", "x"], &["x", "X", "x-2"]),
        ] {
            ok(cmd!(con, "FLUSHALL"));
            let limits: Vec<_> = given.iter().map(|name| token(name)).collect();
            let (found, _) = names_of_multi(&mut con, &limits);
            assert_eq!(found, expected, "{given:?}");
        }
        // The default names of different algorithms differ. Of one algorithm they do not.
        ok(cmd!(con, "FLUSHALL"));
        let words: Vec<_> = ALGORITHMS.iter().chain(ALGORITHMS).map(|one| (one.word(), String::new())).collect();
        let (found, _) = names_of_multi(&mut con, &words);
        let second = ALGORITHMS.iter().map(|one| format!("{}-2", one.name));
        let expected: Vec<String> = ALGORITHMS.iter().map(|one| one.name.to_owned()).chain(second).collect();
        assert_eq!(found, expected);

        // Any mix, up to 64 limits: each has a name of its own, which begins with the one that it was given.
        let longest = "n".repeat(64);
        for mut random in randoms() {
            for count in [2, 5, 17, 64] {
                ok(cmd!(con, "FLUSHALL"));
                let from = ["x", "x-2", "x-3", "x-2-2", "token", "token-2", &longest];
                let given: Vec<&str> = (0..count).map(|_| random.pick(&from)).collect();
                let limits: Vec<_> = given.iter().map(|name| token(name)).collect();
                let (found, strictest) = names_of_multi(&mut con, &limits);
                let mut unique = found.clone();
                unique.sort();
                unique.dedup();
                assert_eq!(unique.len(), count, "{given:?} became {found:?}");
                assert!(found.contains(&strictest), "{strictest} is not one of {found:?}");
                for (n, (given, found)) in given.iter().zip(&found).enumerate() {
                    assert!(found.starts_with(given), "{given} became {found}");
                    assert!(n > 0 || found == given, "the first name is not as given: {found}");
                }
            }
        }
    });
}

/// `RateLimit` has the figures of the strictest limit, under the name that the policies list for it.
#[test]
fn the_strictest_limit_has_its_name() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for strictest in 0..4 {
            ok(cmd!(con, "FLUSHALL"));
            let limits: Vec<_> =
                (0..4).map(|n| ("COUNTER", format!(" AS x COST {}", if n == strictest { 4 } else { 1 }))).collect();
            let expected = if strictest == 0 { "x".to_owned() } else { format!("x-{}", strictest + 1) };
            // At first it has the least left; then it denies.
            for _ in 0..2 {
                assert_eq!(names_of_multi(&mut con, &limits).1, expected, "{limits:?}");
            }
        }
    });
}

#[test]
fn a_name_has_1_to_64_characters_of_a_few_kinds() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let mut name = |name: &[u8]| cmd!(con, "RL.TOKEN", "k", "60", 5, "COST", 0, "AS", name, "HEADERS");
        let error = "ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -";
        for byte in 0..=255 {
            let allowed = matches!(byte, b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-');
            for text in [&[byte][..], &[b'a', byte], &[byte, b'a'], &[b'a', byte, b'a']] {
                if allowed {
                    let (_, headers) = with_headers(ok(name(text)));
                    assert_eq!(names(&headers).1.as_bytes(), text);
                } else {
                    assert_eq!(err(name(text)), error, "{}", text.escape_ascii());
                }
            }
        }
        for (len, allowed) in [(0, false), (1, true), (2, true), (63, true), (64, true), (65, false), (100_000, false)]
        {
            let text = vec![b'n'; len];
            if allowed {
                assert_eq!(names(&with_headers(ok(name(&text))).1).1.len(), len);
            } else {
                assert_eq!(err(name(&text)), error, "{len}");
            }
        }
    });
}

#[test]
fn commands_without_a_policy_of_their_own_take_no_name() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for algorithm in ALGORITHMS {
            let word = algorithm.word();
            for call in [
                format!("RL.REFUND {word} k 60 5 AS x HEADERS"),
                format!("RL.SETTLE {word} k 60 5 RESERVED 1 ACTUAL 1 AS x"),
                format!("RL.RESET {word} k 60 AS x"),
            ] {
                assert_eq!(
                    err(send(&mut con, &call)),
                    "ERR invalid AS: only RL.<ALGO>, RL.PEEK and RL.MULTI take it",
                    "{call}"
                );
            }
            // Their headers have the default name.
            let (_, headers) = with_headers(ok(send(&mut con, &format!("RL.REFUND {word} k 60 5 HEADERS"))));
            assert_eq!(names(&headers).0, [algorithm.name]);
        }
    });
}

/// Without shadow mode it is 0 in every reply.
#[test]
fn full_ends_with_shadow_0() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        for algorithm in ALGORITHMS {
            let word = algorithm.word();
            for call in [
                format!("RL.{word} k 60 5 FULL"),
                format!("RL.{word} k 60 5 COST 9 FULL AS x"),
                format!("RL.{word} k 60 5 PARTIAL COST 9 FULL"),
                format!("RL.PEEK {word} k 60 0 FULL"),
                format!("RL.REFUND {word} k 60 5 FULL"),
                format!("RL.SETTLE {word} k 60 5 RESERVED 1 ACTUAL 9 FULL"),
                format!("RL.MULTI 1 {word} k 60 5 AS x FULL"),
            ] {
                let one = |reply: Value| {
                    if !call.starts_with("RL.MULTI") {
                        return reply;
                    }
                    let (_, [reply]): (i64, [Value; 1]) = read(reply);
                    reply
                };
                let Value::Array(flat) = one(ok(send(&mut server.con(), &call))) else { panic!("{call}") };
                assert_eq!((flat.len(), &flat[20..22]), (24, &[bytes("shadow"), Value::Int(0)][..]), "{call}");
                let Value::Map(pairs) = one(ok(send(&mut server.con3(), &call))) else { panic!("{call}") };
                assert_eq!((pairs.len(), &pairs[10]), (12, &(bytes("shadow"), Value::Int(0))), "{call}");
            }
            ok(cmd!(server.con(), "FLUSHALL"));
        }
    });
}
