//! What is refused, and that nothing is written, repeated or ended by it: bad arguments, keys that hold something
//! else, a server without memory.

use std::collections::HashMap;

use crate::support::*;
use redis::{Connection, Value};

fn state_of(algorithm: &Algorithm, key: &[u8], con: &mut Connection) -> Vec<u8> {
    let (seconds, _): (u64, u64) = redis::cmd("TIME").query(con).expect("TIME");
    algorithm.state_key(key, LONG.cast_unsigned() * 1_000, seconds * 1_000)
}

/// Asks for what must be refused, and looks whether anything has changed.
struct Refusals<'a> {
    con: &'a mut Connection,
    algorithm: &'a Algorithm,
    before: (String, Value),
    /// The text for what is wrong. It is the same for every value, so none is repeated in it.
    texts: HashMap<String, String>,
}

impl<'a> Refusals<'a> {
    fn new(con: &'a mut Connection, algorithm: &'a Algorithm) -> Self {
        let before = Self::data(con);
        Self { con, algorithm, before, texts: HashMap::new() }
    }

    fn data(con: &mut Connection) -> (String, Value) {
        (digest(con), ok(cmd!(*con, "DBSIZE")))
    }

    #[track_caller]
    fn refused(&mut self, begins: &str, arguments: &[&[u8]]) {
        let command = self.algorithm.command;
        let text = err(redis::cmd(command).arg(arguments).query(self.con));
        let what = || {
            let shown = arguments.iter().map(|argument| argument[..argument.len().min(60)].escape_ascii().to_string());
            format!("{command} {}: {text}", shown.collect::<Vec<_>>().join(" "))
        };
        assert!(text.starts_with(begins), "{}, not {begins}", what());
        let first = self.texts.entry(begins.to_owned()).or_insert_with(|| text.clone());
        assert_eq!(*first, text, "{}", what());
        assert_eq!(Self::data(self.con), self.before, "{}", what());
    }
}

#[test]
fn bad_arguments_are_named_and_write_nothing() {
    let long = vec![b'1'; 1 << 20];
    for_each_server(|bin| {
        let mut server = Server::start(bin);
        for algorithm in ALGORITHMS {
            for mut con in [server.con(), server.con3()] {
                ok(cmd!(con, "FLUSHALL"));
                ok(cmd!(con, "SET", "foreign", "value"));
                ok(cmd!(con, algorithm.command, "used", LONG, 5));
                for key in [&b"used"[..], b"new", b"", b"\0\xff"] {
                    let mut refusals = Refusals::new(&mut con, algorithm);
                    for window in BAD_WINDOWS.iter().copied().chain([&long[..]]) {
                        refusals.refused("ERR invalid window: ", &[key, window, b"5"]);
                        refusals.refused("ERR invalid window: ", &[key, window, b"5", b"COST", b"1", b"FULL"]);
                    }
                    for limit in BAD_LIMITS.iter().copied().chain([&long[..]]) {
                        refusals.refused("ERR invalid limit: ", &[key, b"60", limit]);
                        refusals.refused("ERR invalid limit: ", &[key, b"500ms", limit, b"HEADERS"]);
                    }
                    for cost in BAD_COSTS.iter().copied().chain([&long[..]]) {
                        refusals.refused("ERR invalid COST: ", &[key, b"60", b"5", b"COST", cost]);
                        refusals.refused("ERR invalid COST: ", &[key, b"60", b"5", b"FULL", b"cost", cost]);
                    }
                    for burst in bad_bursts().chain([&long[..]]) {
                        refusals.refused("ERR invalid BURST: ", &[key, b"60", b"5", b"BURST", burst]);
                    }
                    refusals.refused("ERR invalid COST: ", &[key, b"60", b"5", b"COST"]);
                    refusals.refused("ERR invalid BURST: ", &[key, b"60", b"5", b"FULL", b"BURST"]);
                }
            }
        }
        assert!(server.is_running());
    });
}

#[test]
fn bad_options_are_refused_and_write_nothing() {
    let long = vec![b'F'; 1 << 20];
    for_each_server(|bin| {
        let mut server = Server::start(bin);
        for algorithm in ALGORITHMS {
            let mut con = server.con();
            ok(cmd!(con, "FLUSHALL"));
            let mut refusals = Refusals::new(&mut con, algorithm);
            for word in
                [&b""[..], b"1", b"NOW", b"FULLL", b"FUL", b"FULL\0", b"\0", b"\xff\xfe", b"COST\0", b"COST=2", &long]
            {
                refusals.refused("ERR syntax error: after limit ", &[b"k", b"60", b"5", word]);
                refusals.refused("ERR syntax error: after limit ", &[b"k", b"60", b"5", b"FULL", word]);
                refusals.refused("ERR syntax error: after limit ", &[b"k", b"60", b"5", b"COST", b"2", word]);
                refusals.refused("ERR syntax error: after limit ", &[b"k", b"60", b"5", word, b"COST", b"2"]);
            }
            for (expected, words) in [
                ("ERR syntax error: FULL, LINE or HEADERS ", &[&b"FULL"[..], b"FULL"][..]),
                ("ERR syntax error: FULL, LINE or HEADERS ", &[b"HEADERS", b"headers"]),
                ("ERR syntax error: COST n comes ", &[b"COST", b"1", b"COST", b"1"]),
                ("ERR syntax error: after limit come ", &[b"COST", b"1", b"2"]),
            ] {
                let arguments = [&[&b"k"[..], b"60", b"5"], words].concat();
                refusals.refused(expected, &arguments);
            }
            refusals.refused("ERR syntax error: FULL, LINE and HEADERS ", &[b"k", b"60", b"5", b"FULL", b"HEADERS"]);
            refusals.refused("ERR syntax error: FULL, LINE and HEADERS ", &[b"k", b"60", b"5", b"headers", b"full"]);
            if algorithm.takes_burst {
                let twice = "ERR syntax error: BURST n comes ";
                refusals.refused(twice, &[b"k", b"60", b"5", b"BURST", b"1", b"burst", b"1"]);
                refusals.refused("ERR syntax error: after limit ", &[b"k", b"60", b"5", b"BURST", b"1", b"2"]);
            } else {
                let expected = format!("ERR invalid BURST: {} takes none", algorithm.word());
                refusals.refused(&expected, &[b"k", b"60", b"5", b"BURST", b"5"]);
                refusals.refused(&expected, &[b"k", b"60", b"5", b"BURST", b"1", b"FULL"]);
            }
        }
        assert!(server.is_running());
    });
}

#[test]
fn missing_arguments_are_refused() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for algorithm in ALGORITHMS {
            let mut refusals = Refusals::new(&mut con, algorithm);
            for arguments in [&[][..], &[&b"k"[..]], &[b"k", b"60"]] {
                refusals.refused("ERR wrong number of arguments", arguments);
            }
        }
    });
}

/// Many arguments are no more than a few.
#[test]
fn a_hundred_thousand_arguments_are_refused() {
    for_each_server(|bin| {
        let mut server = Server::start(bin);
        let mut con = server.con();
        for algorithm in ALGORITHMS {
            let mut refusals = Refusals::new(&mut con, algorithm);
            let arguments = [&[&b"k"[..], b"60", b"5"][..], &[&b"x"[..]; 100_000]].concat();
            refusals.refused("ERR syntax error: ", &arguments);
        }
        assert!(server.is_running());
    });
}

#[test]
fn keys_are_any_bytes() {
    let long = vec![b'k'; 1 << 20];
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for algorithm in ALGORITHMS {
            for key in
                [&b""[..], b"\0", b"a\0b", b"\xff\xfe", b"\xc3\x28", b" ", b"\r\n", b"{", b"}", b"{}", b"%s%n", &long]
            {
                ok(cmd!(con, "FLUSHALL"));
                let what = format!("{} {}", algorithm.command, key[..key.len().min(20)].escape_ascii());
                let reply: [i64; 3] = read(ok(cmd!(con, algorithm.command, key, LONG, 2)));
                assert_eq!(reply[..2], [1, algorithm.count(0, 1)], "{what}");
                ok(cmd!(con, algorithm.command, key, LONG, 2, "FULL"));
                ok(cmd!(con, algorithm.command, key, LONG, 2, "HEADERS"));
                let state = state_of(algorithm, key, &mut con);
                assert_eq!(ok(cmd!(con, "KEYS", "*")), Value::Array(vec![bytes(state)]), "{what}");
            }
        }
    });
}

/// Every command that takes a key of a limit, but RL.RESET, with KEY in the place of the key.
fn calls_with_a_key() -> Vec<String> {
    let mut calls: Vec<String> =
        ["RL.RENEW KEY 1m a", "RL.RELEASE KEY a", "RL.MULTI 2 TOKEN k 1m 5 GCRA KEY 1m 5"].map(str::to_owned).into();
    for word in algorithm_words() {
        let id = if word == LEASE { " ID a" } else { "" };
        calls.push(format!("RL.{word} KEY 1m 5{id}"));
        calls.push(format!("RL.{word} KEY 1m 5{id} AS name HEADERS"));
        calls.push(format!("RL.MULTI 1 {word} KEY 1m 5{id}"));
        calls.push(format!("RL.PEEK {word} KEY 1m 5{id}"));
        if word != LEASE {
            calls.push(format!("RL.REFUND {word} KEY 1m 5"));
            calls.push(format!("RL.SETTLE {word} KEY 1m 5 RESERVED 1 ACTUAL 2"));
        }
    }
    for word in ["FIXED", "WINDOW", "COUNTER", "ROLLING"] {
        calls.push(format!("RL.{word} KEY 1m 5 RESERVE a 1m"));
        calls.push(format!("RL.SETTLE {word} KEY 1m 5 RESERVATION a ACTUAL 2"));
    }
    ["RL", "CL"].into_iter().for_each(|prefix| calls.push(format!("{prefix}.THROTTLE KEY 15 30 60")));
    calls
}

/// Who chooses the end of a key must not reach the reservations of another.
#[test]
fn a_key_with_the_name_of_reservations_is_refused() {
    const EXPECTED: &str =
        "invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of reservations";
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let calls = calls_with_a_key();
        let commands: Vec<String> = read(ok(cmd!(con, "COMMAND", "LIST", "FILTERBY", "MODULE", "rl")));
        for name in commands.iter().map(|name| name.to_uppercase()) {
            let in_table = calls.iter().any(|call| call.split(' ').next() == Some(&name));
            assert!(in_table || ["RL.RESET", "RL.TOP", "RL.HELP"].contains(&name.as_str()), "{name} is not tried");
        }
        ok(call("RL.COUNTER k 1m 5 RESERVE a 1m").query(&mut con));
        ok(call("RL.FIXED k 1m 5 RESERVE a 1m").query(&mut con));
        let before = digest(&mut con);
        for shape in &calls {
            for key in ["k:reserved", ":reserved", "{k}:reserved", "k:60000ms:reserved", "k:reserved:ends"] {
                let text = err(call(&shape.replace("KEY", key)).query(&mut con));
                let limit =
                    shape.strip_prefix("RL.MULTI ").map_or(String::new(), |rest| format!("limit {}: ", &rest[..1]));
                assert_eq!(text, format!("ERR {limit}{EXPECTED}"), "{shape} {key}");
            }
        }
        assert_eq!(digest(&mut con), before);
        // Names that no reservations have.
        for shape in &calls {
            ok(cmd!(con, "FLUSHALL"));
            for key in
                ["reserved", "k:reserve", "k:reserved:", "k:reserved:end", "k:Reserved", "reserved:ends", "k:ends"]
            {
                ok(call(&shape.replace("KEY", key)).query(&mut con));
            }
        }
        // What an earlier version has left there can be deleted.
        for (make, reset) in [
            ("ZADD k:reserved 1 a", "RL.RESET SLIDING k:reserved 1m"),
            ("SET k:reserved 5", "RL.RESET WINDOW k:reserved 1m"),
        ] {
            ok(cmd!(con, "FLUSHALL"));
            ok(call(make).query(&mut con));
            assert_eq!(ok(call(reset).query(&mut con)), Value::Int(1), "{reset}");
            assert_eq!(ok(cmd!(con, "DBSIZE")), Value::Int(0), "{reset}");
        }
    });
}

const MAKERS: &[(&str, &[&str])] = &[
    ("string", &["SET", "", "value"]),
    ("list", &["RPUSH", "", "a", "b"]),
    ("hash", &["HSET", "", "a", "1"]),
    ("set", &["SADD", "", "a", "b"]),
    ("zset", &["ZADD", "", "1", "a"]),
    ("stream", &["XADD", "", "*", "a", "1"]),
];

#[test]
fn keys_of_another_type_stay_as_they_are() {
    for_each_server(|bin| {
        let mut server = Server::start(bin);
        let mut con = server.con();
        for algorithm in ALGORITHMS {
            let state = state_of(algorithm, b"k", &mut con);
            for (_, maker) in MAKERS.iter().filter(|(kind, _)| *kind != algorithm.key_type) {
                ok(cmd!(con, "FLUSHALL"));
                ok(redis::cmd(maker[0]).arg(&state).arg(&maker[2..]).query(&mut con));
                let mut refusals = Refusals::new(&mut con, algorithm);
                let window = LONG.to_string();
                for limit in [&b"0"[..], b"1", b"1000000000000000000"] {
                    for form in [&[][..], &[&b"FULL"[..]], &[b"HEADERS"], &[b"COST", b"2"]] {
                        let arguments = [&[&b"k"[..], window.as_bytes(), limit], form].concat();
                        refusals
                            .refused("WRONGTYPE Operation against a key holding the wrong kind of value", &arguments);
                    }
                }
                assert_eq!(ok(cmd!(con, "TTL", &state)), Value::Int(-1));
            }
        }
        assert!(server.is_running());
    });
}

#[test]
fn values_that_are_no_state_stay_as_they_are() {
    for_each_server(|bin| {
        let mut server = Server::start(bin);
        let mut con = server.con();
        for algorithm in ALGORITHMS {
            let state = state_of(algorithm, b"k", &mut con);
            for (value, expected) in algorithm.foreign {
                for expiry in [&["KEEPTTL"][..], &["EX", "1000"]] {
                    ok(cmd!(con, "FLUSHALL"));
                    ok(cmd!(con, "SET", &state, value, expiry));
                    let before = digest(&mut con);
                    for form in [&[][..], &["FULL"], &["HEADERS"], &["COST", "2"]] {
                        let text = err(cmd!(con, algorithm.command, "k", LONG, 5, form));
                        assert_eq!(text, *expected, "{} at {value:?}", algorithm.command);
                    }
                    assert_eq!(digest(&mut con), before, "{} at {value:?}", algorithm.command);
                    assert_eq!(ok(cmd!(con, "GET", &state)), bytes(value));
                }
            }
        }
        // A HyperLogLog is a string as well.
        let state = state_of(&FIXED, b"h", &mut con);
        ok(cmd!(con, "PFADD", &state, "a"));
        let before = digest(&mut con);
        assert_eq!(err(cmd!(con, "RL.FIXED", "h", LONG, 5)), "ERR value is not an integer or out of range");
        assert_eq!(digest(&mut con), before);
        assert!(server.is_running());
    });
}

#[test]
fn a_counter_does_not_overflow() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let state = state_of(&FIXED, b"k", &mut con);
        for (value, cost) in [(i64::MAX, 1), (i64::MAX - 1, 2), (5, i64::MAX), (i64::MAX, i64::MAX)] {
            ok(cmd!(con, "SET", &state, value, "EX", 1_000));
            let text = err(cmd!(con, "RL.FIXED", "k", LONG, 5, "COST", cost));
            assert_eq!(text, OVERFLOW);
            assert_eq!(ok(cmd!(con, "GET", &state)), bytes(value.to_string()));
        }
        ok(cmd!(con, "SET", &state, i64::MAX - 1, "EX", 1_000));
        assert_eq!(ok(cmd!(con, "RL.FIXED", "k", LONG, i64::MAX)), ints(&[1, i64::MAX, 1_000]));
        ok(cmd!(con, "SET", &state, i64::MIN, "EX", 1_000));
        assert_eq!(ok(cmd!(con, "RL.FIXED", "k", LONG, 1)), ints(&[1, i64::MIN + 1, 1_000]));
    });
}

/// Each member costs the server a ZADD, so a call adds at most 1,000 of them, over all its limits.
#[test]
fn a_log_gets_at_most_a_thousand_members_in_a_call() {
    const EXPECTED: &str = "ERR invalid COST: RL.SLIDING takes at most 1000 units a call, over all its limits; \
                            use ROLLING, COUNTER, TOKEN, LEAKY or GCRA for more";
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for cost in [1_001, 1_000_001, i64::MAX] {
            for form in [&[][..], &["FULL"], &["HEADERS"]] {
                assert_eq!(err(cmd!(con, "RL.SLIDING", "k", LONG, i64::MAX, "COST", cost, form)), EXPECTED);
                assert_eq!(err(cmd!(con, "RL.PEEK", "SLIDING", "k", LONG, i64::MAX, "COST", cost, form)), EXPECTED);
                assert_eq!(err(cmd!(con, "RL.REFUND", "SLIDING", "k", LONG, i64::MAX, "COST", cost, form)), EXPECTED);
            }
            // A cost that the limit can never hold is denied.
            assert_eq!(ok(cmd!(con, "RL.SLIDING", "k", LONG, cost - 1, "COST", cost)), ints(&[0, 0, LONG]));
            let limit = (cost - 1).to_string();
            let arguments = ["k", &LONG.to_string(), &limit, "COST", &cost.to_string(), "FULL"];
            assert_eq!(full_of(&mut con, "RL.SLIDING", &arguments).retry_after_ms, -1);
        }
        // The costs of all limits together; those that can never be charged add no member.
        let multi = |con: &mut Connection, costs: &[(&str, i64, i64)]| {
            let mut request = redis::cmd("RL.MULTI");
            request.arg(costs.len());
            for (n, (algorithm, limit, cost)) in costs.iter().enumerate() {
                request.arg(algorithm).arg(n).arg(LONG).arg(limit).arg("COST").arg(cost);
            }
            request.query::<Value>(con)
        };
        let most = i64::MAX;
        assert_eq!(err(multi(&mut con, &[("SLIDING", most, 1_001)])), EXPECTED);
        assert_eq!(err(multi(&mut con, &[("SLIDING", most, 500), ("SLIDING", most, 501)])), EXPECTED);
        assert_eq!(err(multi(&mut con, &[("SLIDING", most, most), ("SLIDING", most, most)])), EXPECTED);
        assert_eq!(err(multi(&mut con, &[("TOKEN", most, most), ("SLIDING", most, 1_001)])), EXPECTED);
        assert_eq!(ok(cmd!(con, "DBSIZE")), Value::Int(0));
        let denied = ok(multi(&mut con, &[("SLIDING", most, 1_000), ("SLIDING", 1_000, 1_001)]));
        assert!(matches!(denied, Value::Array(parts) if parts[0] == Value::Int(0)));
        assert_eq!(ok(cmd!(con, "DBSIZE")), Value::Int(0));
        let limits = [("SLIDING", most, 500), ("COUNTER", most, 1 << 40), ("SLIDING", most, 500)];
        let allowed = ok(multi(&mut con, &limits));
        assert!(matches!(allowed, Value::Array(parts) if parts[0] == Value::Int(1)));
        for key in [0, 2] {
            assert_eq!(ok(cmd!(con, "ZCARD", key)), Value::Int(500));
        }
        assert_eq!(ok(cmd!(con, "RL.SLIDING", "k", LONG, most, "COST", 1_000)), ints(&[1, 0, LONG]));
        assert_eq!(ok(cmd!(con, "ZCARD", "k")), Value::Int(1_000));
    });
}

/// What a whole burst takes to come back must fit the state.
#[test]
fn a_burst_that_takes_for_ever_to_come_back_is_refused() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for algorithm in ALGORITHMS.iter().filter(|algorithm| algorithm.takes_burst) {
            let (window, _) = algorithm.largest;
            let mut refusals = Refusals::new(&mut con, algorithm);
            let window = window.to_string();
            for (limit, burst) in [("1", "2"), ("1", "9223372036854775807"), ("1000", "1001")] {
                let arguments = [b"k", window.as_bytes(), limit.as_bytes(), b"BURST", burst.as_bytes()];
                refusals.refused("ERR invalid window, limit or BURST: ", &arguments);
            }
        }
    });
}

/// Scores that neither the scripts nor the module write.
#[test]
fn a_log_with_odd_scores_ends_nothing() {
    for_each_server(|bin| {
        let mut server = Server::start(bin);
        let mut con = server.con();
        for score in ["-inf", "+inf", "-1", "0.5", "1e300", "-1e300", "9007199254740993", "1e18", "5e-324"] {
            for limit in [0, 1, 2, 5] {
                for form in [&[][..], &["FULL"], &["HEADERS"], &["COST", "3"], &["COST", "3", "FULL"]] {
                    ok(cmd!(con, "DEL", "k"));
                    ok(cmd!(con, "ZADD", "k", score, "odd", score, "\u{ff}"));
                    ok(cmd!(con, "RL.SLIDING", "k", 60, limit, form));
                    ok(cmd!(con, "RL.SLIDING", "k", "1000000000000", limit, form));
                }
            }
        }
        assert!(server.is_running());
    });
}

/// A server that has less memory than it uses, and on it a state with room and one without, for each algorithm.
fn starved(bin: &ServerBin, on_oom: &str) -> Server {
    let server = Server::start(bin);
    let mut con = server.con();
    for algorithm in ALGORITHMS {
        for (key, times) in [("room", 1), ("full", 2)] {
            for _ in 0..times {
                ok(cmd!(con, algorithm.command, format!("{}-{key}", algorithm.name), LONG, 2));
            }
        }
    }
    ok(cmd!(con, "CONFIG", "SET", "rl.on-oom", on_oom));
    ok(cmd!(con, "CONFIG", "SET", "maxmemory", 1));
    assert!(err(cmd!(con, "SET", "k", 1)).starts_with("OOM "));
    server
}

/// What needs no memory goes on whatever the setting.
fn go_on_without_memory(server: &Server) {
    let mut con = server.con();
    for algorithm in ALGORITHMS {
        let denial = i64::from(algorithm.counts_denials);
        let (room, full) = (format!("{}-room", algorithm.name), format!("{}-full", algorithm.name));
        if !algorithm.grows {
            // The key is there and keeps its size.
            assert_eq!(algorithm.ask(&mut con, &room, LONG, 2)[..2], [1, algorithm.count(1, 1)], "{algorithm:?}");
            assert_eq!(algorithm.ask(&mut con, &room, LONG, 2)[..2], [0, algorithm.count(2, denial)], "{algorithm:?}");
        }
        // A denial creates no key and makes none larger.
        assert_eq!(algorithm.ask(&mut con, &full, LONG, 2)[..2], [0, algorithm.count(2, denial)], "{algorithm:?}");
        assert_eq!(algorithm.ask_for(&mut con, "new", LONG, 1, 2)[..2], [0, 0], "{algorithm:?}");
        // COST 0 charges nothing.
        assert_eq!(algorithm.ask_for(&mut con, "new", LONG, 2, 0)[..2], [1, 0], "{algorithm:?}");
        if !algorithm.counts_denials {
            assert_eq!(algorithm.ask(&mut con, "new", LONG, 0)[..2], [0, 0], "{algorithm:?}");
        }
    }
    let [allowed, count, ttl] = FIXED.ask_for(&mut con, "fixed-full", LONG, 9, 3);
    // The TTL of a counter that may be some seconds old.
    let oldest = LONG - PATIENCE.as_secs().cast_signed();
    assert!((allowed, count) == (1, 6) && (oldest..=LONG).contains(&ttl), "{allowed}, {count}, {ttl}");
    // Entries that have left the window are removed.
    assert_eq!(ok(cmd!(con, "RL.SLIDING", "sliding-full", "1ms", 0)), ints(&[0, 0, 1]));
}

/// The requests that would have to create a key or make one larger: the algorithm, the key, what is counted there.
fn growing() -> impl Iterator<Item = (&'static Algorithm, String, i64)> {
    let room = ALGORITHMS.iter().filter(|algorithm| algorithm.grows);
    let room = room.map(|algorithm| (algorithm, format!("{}-room", algorithm.name), 1));
    ALGORITHMS.iter().map(|algorithm| (algorithm, "new".to_owned(), 0)).chain(room)
}

#[test]
fn without_memory_what_grows_is_an_error() {
    const OOM: &str = "OOM command not allowed when used memory > 'maxmemory'.";
    for_each_server(|bin| {
        let server = starved(bin, "error");
        let mut con = server.con();
        let before = digest(&mut con);
        for (algorithm, key, _) in growing() {
            for form in [&[][..], &["FULL"], &["HEADERS"], &["COST", "2"]] {
                let text = err(cmd!(con, algorithm.command, &key, LONG, 4, form));
                assert_eq!(text, OOM, "{algorithm:?} {key}");
                let text = err(cmd!(con, "RL.MULTI", 1, algorithm.word(), &key, LONG, 4, form));
                assert_eq!(text, OOM, "{algorithm:?} {key}");
            }
        }
        assert_eq!(err(cmd!(con, "RL.THROTTLE", "new", 4, 5, 60)), OOM);
        // FIXED counts its denials.
        assert_eq!(err(cmd!(con, "RL.FIXED", "new", LONG, 0)), OOM);
        assert_eq!(digest(&mut con), before);
        go_on_without_memory(&server);
        ok(cmd!(con, "CONFIG", "SET", "maxmemory", 0));
        assert_eq!(ok(cmd!(con, "RL.SLIDING", "sliding-room", LONG, 4)), ints(&[1, 1, LONG]));
        assert_eq!(ok(cmd!(con, "RL.FIXED", "new", LONG, 4)), ints(&[1, 1, LONG]));
    });
}

/// All figures describe the state as it is: nothing was charged, so they are those of a request of cost 0.
#[track_caller]
fn assert_uncharged(con: &mut Connection, algorithm: &Algorithm, key: &str, counted: i64, found: Full) {
    let as_it_is = full_of(con, "RL.PEEK", &[algorithm.word(), key, &LONG.to_string(), "4", "COST", "0", "FULL"]);
    let what = format!("{algorithm:?} {key}: {found:?}, {as_it_is:?}");
    assert_eq!((found.count, found.limit, found.remaining), (counted, 4, 4 - counted), "{what}");
    assert_eq!((as_it_is.count, as_it_is.remaining, as_it_is.allowed), (counted, 4 - counted, 1), "{what}");
    let elapsed = as_it_is.now_ms - found.now_ms;
    for (found, as_it_is) in [(found.next_ms, as_it_is.next_ms), (found.reset_ms, as_it_is.reset_ms)] {
        assert_eq!(found, as_it_is + if counted > 0 { elapsed } else { 0 }, "{what}");
    }
    if algorithm.ttl_of_script {
        assert_eq!(found.ttl, as_it_is.ttl, "{what}");
    }
    algorithm.assert_ttl_agrees(&found);
    assert_eq!(found.delay_ms, 0, "{what}");
}

/// The same request alone and in RL.MULTI, with FULL and without: the three integers are the same in every form.
#[track_caller]
fn ask_in_every_way(con: &mut Connection, algorithm: &Algorithm, key: &str) -> [Full; 2] {
    let long = LONG.to_string();
    let alone = full_of(con, algorithm.command, &[key, &long, "4", "FULL"]);
    let reply = ok(cmd!(*con, "RL.MULTI", 1, algorithm.word(), key, LONG, 4, "FULL"));
    let (allowed, mut each): (i64, Vec<Value>) = read(reply);
    let in_multi = full(each.pop().expect("a limit"));
    assert_eq!((allowed, each.len()), (in_multi.allowed, 0), "{algorithm:?} {key}");
    assert_eq!(algorithm.ask(con, key, LONG, 4), alone.triple(), "{algorithm:?} {key}");
    let (allowed, [triple]): (i64, [[i64; 3]; 1]) = read(ok(cmd!(*con, "RL.MULTI", 1, algorithm.word(), key, LONG, 4)));
    assert_eq!((allowed, triple), (alone.allowed, alone.triple()), "{algorithm:?} {key}");
    let (triple, headers) = with_headers(ok(cmd!(*con, algorithm.command, key, LONG, 4, "HEADERS")));
    assert_eq!(triple, alone.triple(), "{algorithm:?} {key}");
    let remaining = ("X-RateLimit-Remaining".to_owned(), alone.remaining.to_string());
    assert!(headers.contains(&remaining), "{algorithm:?} {key}: {headers:?}");
    [alone, in_multi]
}

/// Two limits in one call: the first has to create a key, the second needs no memory.
#[track_caller]
fn ask_beside_room(con: &mut Connection) -> (i64, Full, Full) {
    let reply = cmd!(*con, "RL.MULTI", 2, "TOKEN", "new", LONG, 4, "GCRA", "gcra-room", LONG, 2, "FULL");
    let (allowed, [new, room]): (i64, [Value; 2]) = read(ok(reply));
    (allowed, full(new), full(room))
}

#[test]
fn without_memory_what_grows_may_pass_uncharged() {
    for_each_server(|bin| {
        let server = starved(bin, "allow");
        let mut con = server.con();
        let before = digest(&mut con);
        for (algorithm, key, counted) in growing() {
            for _ in 0..5 {
                for found in ask_in_every_way(&mut con, algorithm, &key) {
                    assert_eq!((found.allowed, found.retry_after_ms), (1, 0), "{algorithm:?} {key}");
                    assert_uncharged(&mut con, algorithm, &key, counted, found);
                }
            }
        }
        let (allowed, new, room) = ask_beside_room(&mut con);
        assert_eq!((allowed, new.allowed, new.remaining, room.allowed, room.remaining), (1, 1, 4, 1, 1));
        assert_eq!(ok(cmd!(con, "RL.THROTTLE", "new", 4, 5, 60)), ints(&[0, 5, 5, -1, 0]));
        // What the limit denies stays denied.
        let found = full_of(&mut con, "RL.FIXED", &["new", &LONG.to_string(), "0", "FULL"]);
        assert_eq!((found.allowed, found.count, found.retry_after_ms), (0, 0, -1));
        assert_eq!(digest(&mut con), before);
        go_on_without_memory(&server);
    });
}

#[test]
fn without_memory_what_grows_may_be_denied() {
    for_each_server(|bin| {
        let server = starved(bin, "deny");
        let mut con = server.con();
        let before = digest(&mut con);
        for (algorithm, key, counted) in growing() {
            for found in ask_in_every_way(&mut con, algorithm, &key) {
                // When there is memory again is not known: a second.
                assert_eq!((found.allowed, found.retry_after_ms), (0, 1_000), "{algorithm:?} {key}: {found:?}");
                assert_uncharged(&mut con, algorithm, &key, counted, found);
            }
        }
        let (allowed, new, room) = ask_beside_room(&mut con);
        assert_eq!((allowed, new.allowed, new.remaining, room.allowed, room.remaining), (0, 0, 4, 1, 1));
        assert_eq!(ok(cmd!(con, "RL.THROTTLE", "new", 4, 5, 60)), ints(&[1, 5, 5, 1, 0]));
        // A limit that never allows it still says so.
        let found = full_of(&mut con, "RL.FIXED", &["new", &LONG.to_string(), "0", "FULL"]);
        assert_eq!((found.allowed, found.count, found.retry_after_ms), (0, 0, -1));
        assert_eq!(digest(&mut con), before);
        go_on_without_memory(&server);
    });
}

/// A full server under a policy that evicts makes room for what grows, as for any command that does.
#[test]
fn eviction_makes_room() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let used: u64 = info(&mut con, "used_memory").parse().expect("bytes");
        ok(cmd!(con, "CONFIG", "SET", "maxmemory-policy", "allkeys-lru"));
        ok(cmd!(con, "CONFIG", "SET", "maxmemory", used + (4 << 20)));
        let value = vec![b'x'; 64 << 10];
        for n in 0..200 {
            ok(cmd!(con, "SET", n, &value[..]));
        }
        let mut allowed = 0;
        for n in 0..200 {
            for command in ALGORITHMS.iter().map(|algorithm| algorithm.command) {
                if let Ok(reply) = cmd!(con, command, format!("{command}-{n}"), LONG, 5) {
                    assert!(matches!(&reply, Value::Array(figures) if figures[0] == Value::Int(1)), "{reply:?}");
                    allowed += 1;
                }
            }
        }
        assert_eq!(allowed, 200 * ALGORITHMS.len());
    });
}
