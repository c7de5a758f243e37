//! RL.PEEK looks and changes nothing; RL.REFUND gives back; RL.RESET forgets.

use crate::support::*;
use redis::{Connection, Value};

/// Both commands at one time.
#[track_caller]
fn both(con: &mut Connection, first: &redis::Cmd, second: &redis::Cmd) -> [Value; 2] {
    exec(con, &[first.clone(), second.clone()]).try_into().expect("two replies")
}

/// `RL.PEEK TOKEN k 100d 5 …`
fn on(command: &str, algorithm: &Algorithm, options: &[&str]) -> redis::Cmd {
    let mut request = redis::cmd(command);
    request.arg(algorithm.word()).arg(&["k", "100d", "5"]).arg(options).to_owned()
}

/// The key that holds the state of `k` under a window of 100 days.
fn state(algorithm: &Algorithm) -> Vec<u8> {
    algorithm.state_key(b"k", 8_640_000_000, now_ms().cast_unsigned())
}

/// The first two integers of an answer, the headers apart.
fn start_of(reply: &Value) -> [i64; 2] {
    match reply {
        Value::Array(items) if items.len() < 5 => [read(items[0].clone()), read(items[1].clone())],
        other => {
            let reply = full(other.clone());
            [reply.allowed, reply.count]
        }
    }
}

#[test]
fn a_look_answers_what_the_request_would() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        for mut con in [server.con(), server.con3()] {
            for algorithm in ALGORITHMS {
                let mut forms = vec![
                    vec![],
                    vec!["FULL"],
                    vec!["HEADERS"],
                    vec!["COST", "2", "FULL"],
                    vec!["COST", "9"],
                    vec!["COST", "9", "HEADERS"],
                ];
                if algorithm.takes_burst {
                    forms.extend([vec!["BURST", "2", "FULL"], vec!["BURST", "8"], vec!["BURST", "8", "HEADERS"]]);
                }
                ok(cmd!(con, "FLUSHALL"));
                let mut seen = [0; 2];
                for round in 0..4 {
                    for form in &forms {
                        let look = on("RL.PEEK", algorithm, form);
                        let mut request = redis::cmd(algorithm.command);
                        request.arg(&["k", "100d", "5"]).arg(form);
                        let [looked, asked] = both(&mut con, &look, &request);
                        let what = format!("{algorithm:?} {form:?}, round {round}");
                        seen[start_of(&asked)[0] as usize] += 1;
                        if bin.caches_time() {
                            assert_eq!(looked, uncharged(asked), "{what}");
                        } else {
                            assert_eq!(start_of(&looked), start_of(&asked), "{what}");
                        }
                    }
                }
                assert!(seen[0] > 0 && seen[1] > 0, "{algorithm:?}: {seen:?}");
            }
        }
    });
}

/// All there is to see of a key. Idle seconds and uses are as RESTORE said, or it was touched.
fn seen(con: &mut Connection, key: &[u8]) -> (Value, Value, i64, String) {
    let expires = read(ok(cmd!(*con, "PEXPIRETIME", key)));
    (ok(cmd!(*con, "DUMP", key)), ok(cmd!(*con, "OBJECT", "ENCODING", key)), expires, digest(con))
}

#[test]
fn a_look_changes_nothing() {
    for_each_server(|bin| {
        let server = Server::options(bin).durable().start();
        let mut con = server.con();
        for algorithm in ALGORITHMS {
            ok(cmd!(con, "FLUSHALL"));
            let look = |con: &mut Connection| {
                for options in [&[][..], &["FULL"], &["HEADERS"], &["COST", "3"], &["COST", "9", "FULL"]] {
                    ok(on("RL.PEEK", algorithm, options).query(con));
                }
            };
            // What is not there is not made.
            let mut effects = Effects::of(&server);
            look(&mut con);
            assert_eq!(ok(cmd!(con, "DBSIZE")), Value::Int(0), "{algorithm:?}");
            assert_eq!(effects.take(), Vec::<Vec<String>>::new());
            for _ in 0..7 {
                algorithm.ask(&mut con, "k", "100d", 5);
            }
            let key = state(algorithm);
            if algorithm.key_type == "zset" {
                // Entries that have left the window are not counted, and stay.
                ok(cmd!(con, "ZADD", &key, 5, "old", 6, "older"));
                assert_eq!(full(ok(on("RL.PEEK", algorithm, &["FULL"]).query(&mut con))).count, 5);
            }
            let before = seen(&mut con, &key);
            let mut effects = Effects::of(&server);
            let mut events = Events::listen(&server);
            look(&mut con);
            assert_eq!(seen(&mut con, &key), before, "{algorithm:?}");
            assert_eq!(effects.take(), Vec::<Vec<String>>::new(), "{algorithm:?}");
            assert_eq!(events.take(), [], "{algorithm:?}");
            // Nor is a key without an expiry given one.
            ok(cmd!(con, "PERSIST", &key));
            let before = seen(&mut con, &key);
            look(&mut con);
            assert_eq!(seen(&mut con, &key), before, "{algorithm:?}");
        }
    });
}

#[test]
fn a_look_may_be_in_what_only_reads() {
    const SCRIPT: &str = "return redis.call('RL.PEEK', ARGV[1], KEYS[1], '100d', 5)";
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for algorithm in ALGORITHMS {
            algorithm.ask_for(&mut con, algorithm.name, "100d", 5, 4);
            let mut script = redis::cmd("EVAL_RO");
            script.arg(SCRIPT).arg(1).arg(algorithm.name).arg(algorithm.word());
            let reply: [i64; 3] = read(ok(script.query(&mut con)));
            assert_eq!(reply[..2], [1, algorithm.count(4, 1)], "{algorithm:?}");
        }
        for write in ["'RL.REFUND', 'TOKEN', KEYS[1], '1h', 5", "'RL.RESET', 'TOKEN', KEYS[1], '1h'"] {
            let script = format!("return redis.call({write})");
            let text = err(cmd!(con, "EVAL_RO", script, 1, "token"));
            assert!(text.contains("rite commands are not allowed"), "{text}");
        }
    });
}

#[test]
fn what_is_given_back_can_be_taken_again() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        for mut con in [server.con(), server.con3()] {
            for algorithm in ALGORITHMS {
                ok(cmd!(con, "FLUSHALL"));
                let look = |con: &mut Connection| full(ok(on("RL.PEEK", algorithm, &["COST", "9", "FULL"]).query(con)));
                // Nothing was taken: nothing is given back, and nothing made.
                assert_eq!(read::<[i64; 3]>(ok(on("RL.REFUND", algorithm, &[]).query(&mut con)))[0], 1);
                assert_eq!(ok(cmd!(con, "DBSIZE")), Value::Int(0), "{algorithm:?}");
                assert_eq!(look(&mut con).remaining, 5, "{algorithm:?}");
                algorithm.ask_for(&mut con, "k", "100d", 5, 4);
                for (options, left) in [
                    (&["COST", "0"][..], 1),
                    (&["COST", "1"], 2),
                    (&["COST", "0", "FULL"], 2),
                    (&["FULL"], 3),
                    (&["HEADERS", "COST", "1"], 4),
                ] {
                    let refund = on("RL.REFUND", algorithm, options);
                    let after = on("RL.PEEK", algorithm, options);
                    let [refunded, looked] = both(&mut con, &refund, &after);
                    assert_eq!(
                        start_of(&refunded),
                        start_of(&looked),
                        "{algorithm:?} {options:?}: as RL.PEEK after it"
                    );
                    if bin.caches_time() {
                        assert_eq!(refunded, looked, "{algorithm:?} {options:?}: as RL.PEEK after it");
                    }
                    assert_eq!(look(&mut con).remaining, left, "{algorithm:?} {options:?}");
                }
                // Never beyond full.
                for cost in ["3", "9223372036854775807", "1"] {
                    ok(on("RL.REFUND", algorithm, &["COST", cost]).query(&mut con));
                    assert_eq!(look(&mut con).remaining, 5, "{algorithm:?} COST {cost}");
                    assert_eq!(look(&mut con).reset_ms, 0, "{algorithm:?} COST {cost}");
                }
                let allowed = (0..6).map(|_| algorithm.ask(&mut con, "k", "100d", 5)[0]);
                assert_eq!(allowed.sum::<i64>(), 5, "{algorithm:?}");
                // After denials, one is one.
                for _ in 0..3 {
                    assert_eq!(algorithm.ask(&mut con, "k", "100d", 5)[0], 0, "{algorithm:?}");
                }
                ok(on("RL.REFUND", algorithm, &[]).query(&mut con));
                let allowed = [(); 2].map(|()| algorithm.ask(&mut con, "k", "100d", 5)[0]);
                assert_eq!(allowed, [1, 0], "{algorithm:?}");
            }
        }
    });
}

#[test]
fn what_is_given_back_of_a_burst() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for algorithm in ALGORITHMS.iter().filter(|algorithm| algorithm.takes_burst) {
            let burst = ["BURST", "20"];
            let look = |con: &mut Connection| {
                let options = [&burst[..], &["COST", "21", "FULL"]].concat();
                full(ok(on("RL.PEEK", algorithm, &options).query(con))).remaining
            };
            ok(redis::cmd(algorithm.command).arg(&["k", "100d", "5", "COST", "15"]).arg(&burst).query(&mut con));
            assert_eq!(look(&mut con), 5, "{algorithm:?}");
            ok(on("RL.REFUND", algorithm, &[&burst[..], &["COST", "4"]].concat()).query(&mut con));
            assert_eq!(look(&mut con), 9, "{algorithm:?}");
            ok(on("RL.REFUND", algorithm, &[&burst[..], &["COST", "40"]].concat()).query(&mut con));
            assert_eq!(look(&mut con), 20, "{algorithm:?}");
            ok(cmd!(con, "FLUSHALL"));
        }
    });
}

#[test]
fn the_counter_of_a_window_gives_back_from_what_fits_its_limit() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let key = state(&FIXED);
        for (value, cost, left) in [(8, "1", 4), (5, "1", 4), (3, "1", 2), (3, "5", 0), (0, "1", 0), (-4, "1", -4)] {
            ok(cmd!(con, "SET", &key, value, "EX", 1_000));
            ok(on("RL.REFUND", &FIXED, &["COST", cost]).query(&mut con));
            assert_eq!(ok(cmd!(con, "GET", &key)), bytes(left.to_string()), "{value}, COST {cost}");
            let ttl: i64 = read(ok(cmd!(con, "TTL", &key)));
            assert!((980..=1_000).contains(&ttl), "{ttl}");
            // A counter without an expiry gets one.
            ok(cmd!(con, "SET", &key, value));
            ok(on("RL.REFUND", &FIXED, &["COST", cost]).query(&mut con));
            assert_eq!(ok(cmd!(con, "GET", &key)), bytes(left.to_string()), "{value}, COST {cost}");
            let ttl: i64 = read(ok(cmd!(con, "TTL", &key)));
            assert!((8_639_980..=8_640_000).contains(&ttl), "{ttl}");
        }
    });
}

#[test]
fn the_log_gives_back_its_newest_entries() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let now = now_ms();
        for (cost, left) in [("1", &["c", "a", "d"][..]), ("2", &["c", "a"]), ("4", &[]), ("9", &[])] {
            for (member, age) in [("a", 3_000), ("b", 1_000), ("c", 4_000), ("d", 2_000)] {
                ok(cmd!(con, "ZADD", "k", now - age, member));
            }
            ok(on("RL.REFUND", &SLIDING, &["COST", cost]).query(&mut con));
            let members: Vec<String> = read(ok(cmd!(con, "ZRANGE", "k", 0, -1)));
            assert_eq!(members, left, "COST {cost}");
        }
        // What has left the window gives nothing back.
        ok(cmd!(con, "ZADD", "k", 5, "old", now, "new"));
        ok(on("RL.REFUND", &SLIDING, &["COST", "2"]).query(&mut con));
        assert_eq!(ok(cmd!(con, "DBSIZE")), Value::Int(0));
    });
}

#[test]
fn the_windows_counter_gives_back_from_the_current_one_first() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let window = 8_640_000_000;
        let start = now_ms() / window * window;
        let record = |current: i64, previous: i64| format!("C:{window}:{}:{current}:{previous}", start / window);
        for (cost, current, previous) in [("1", 1, 3), ("2", 0, 3), ("4", 0, 1), ("5", 0, 0), ("50", 0, 0)] {
            ok(cmd!(con, "SET", "k", record(2, 3)));
            ok(on("RL.REFUND", &COUNTER, &["COST", cost]).query(&mut con));
            let found: Option<String> = read(ok(cmd!(con, "GET", "k")));
            let expected = record(current, previous);
            // A record of nothing is deleted.
            assert_eq!(found, (current + previous > 0).then_some(expected), "COST {cost}");
        }
    });
}

#[test]
fn what_is_forgotten_can_be_taken_again() {
    for_each_server(|bin| {
        let server = Server::options(bin).durable().start();
        for mut con in [server.con(), server.con3()] {
            for algorithm in ALGORITHMS {
                ok(cmd!(con, "FLUSHALL"));
                let reset = |con: &mut Connection| ok(cmd!(*con, "RL.RESET", algorithm.word(), "k", "100d"));
                assert_eq!(reset(&mut con), Value::Int(0), "{algorithm:?}");
                for key in ["k", "other"] {
                    assert_eq!(algorithm.ask_for(&mut con, key, "100d", 5, 5)[0], 1);
                    assert_eq!(algorithm.ask(&mut con, key, "100d", 5)[0], 0);
                }
                let mut effects = Effects::of(&server);
                assert_eq!(reset(&mut con), Value::Int(1), "{algorithm:?}");
                let name = String::from_utf8(state(algorithm)).expect("text");
                let sent = effects.take();
                let [effect] = sent.as_slice() else { panic!("{algorithm:?}: {sent:?}") };
                assert!(["UNLINK", "DEL"].contains(&effect[0].as_str()) && effect[1..] == [name], "{effect:?}");
                assert_eq!(reset(&mut con), Value::Int(0), "{algorithm:?}");
                assert_eq!(effects.take(), Vec::<Vec<String>>::new());
                assert_eq!(algorithm.ask_for(&mut con, "k", "100d", 5, 5)[0], 1, "{algorithm:?}");
                assert_eq!(algorithm.ask(&mut con, "other", "100d", 5)[0], 0, "another is another's");
            }
        }
    });
}

/// The length of a bucket and the time at which it was so stay: what has come back since is the same as if less had
/// been charged. A record in which nothing is left is deleted.
#[test]
fn a_refund_keeps_the_time_of_a_record_and_deletes_an_empty_one() {
    for_each_server(|bin| {
        let server = Server::options(bin).durable().start();
        let mut con = server.con();
        let mut events = Events::listen(&server);
        for (algorithm, record) in records() {
            ok(cmd!(con, "FLUSHALL"));
            let window_us = 8_640_000_000_000;
            let at = server_ms(&mut con) * 1_000;
            let before = record(4, 5, window_us, at);
            let held = at / 1_000 + 2 * window_us / 1_000;
            ok(cmd!(con, "SET", "k", &before, "PXAT", held));
            events.take();
            let mut effects = Effects::of(&server);
            ok(on("RL.REFUND", algorithm, &["COST", "3"]).query(&mut con));
            assert_eq!(ok(cmd!(con, "GET", "k")), bytes(record(1, 5, window_us, at)), "{algorithm:?} of {before}");
            let expires = expires_at(&mut con, "k");
            let record = record(1, 5, window_us, at);
            let (sent, fired) = if expires == held {
                (format!("SET k {record} KEEPTTL"), &["set"][..])
            } else {
                (format!("SET k {record} PXAT {expires}"), &["set", "expire"][..])
            };
            assert_eq!(effects.take().iter().map(|words| words.join(" ")).collect::<Vec<_>>(), [sent], "{algorithm:?}");
            let heard = events.take();
            assert_eq!(heard.iter().map(|(event, _)| event.as_str()).collect::<Vec<_>>(), fired, "{algorithm:?}");

            ok(on("RL.REFUND", algorithm, &[]).query(&mut con));
            assert_eq!(ok(cmd!(con, "EXISTS", "k")), Value::Int(0), "{algorithm:?}");
            assert_eq!(effects.take(), [["UNLINK", "k"].map(str::to_owned).to_vec()], "{algorithm:?}");
            assert_eq!(events.take(), [("del".to_owned(), b"k".to_vec())], "{algorithm:?}");
        }
    });
}

/// The window has no influence, and nothing is pruned first: another window might still count the entries.
#[test]
fn a_reset_deletes_a_log_of_any_age() {
    for_each_server(|bin| {
        let server = Server::options(bin).durable().start();
        let mut con = server.con();
        for members in [&["5", "old"][..], &["-1", "below 0"], &["5", "old", "99999999999999", "ahead"]] {
            ok(redis::cmd("ZADD").arg("k").arg(members).query(&mut con));
            let mut effects = Effects::of(&server);
            assert_eq!(ok(cmd!(con, "RL.RESET", "SLIDING", "k", "1ms")), Value::Int(1), "{members:?}");
            assert_eq!(effects.take(), [["UNLINK", "k"].map(str::to_owned).to_vec()], "{members:?}");
            assert_eq!(ok(cmd!(con, "DBSIZE")), Value::Int(0));
            assert_eq!(ok(cmd!(con, "RL.RESET", "SLIDING", "k", "1ms")), Value::Int(0));
        }
    });
}

/// Wrong types, the records of others, wrong arguments: errors, and nothing is changed.
#[test]
fn what_is_another_ones_stays() {
    const WRONG_TYPE: &str = "WRONGTYPE Operation against a key holding the wrong kind of value";
    for_each_server(|bin| {
        let mut server = Server::start(bin);
        let mut con = server.con();
        for algorithm in ALGORITHMS {
            let key = state(algorithm);
            let refused = |con: &mut Connection, expected: &str| {
                let before = digest(con);
                for reply in [
                    on("RL.PEEK", algorithm, &[]).query(con),
                    on("RL.PEEK", algorithm, &["FULL"]).query(con),
                    on("RL.PEEK", algorithm, &["HEADERS"]).query(con),
                    on("RL.REFUND", algorithm, &[]).query(con),
                    on("RL.REFUND", algorithm, &["COST", "3"]).query(con),
                    cmd!(*con, "RL.RESET", algorithm.word(), "k", "100d"),
                ] {
                    assert_eq!(err(reply), expected, "{algorithm:?}");
                }
                assert_eq!(digest(con), before, "{algorithm:?}");
            };
            for make in [&["RPUSH", "x"][..], &["HSET", "x", "1"], &["SADD", "x"], &["XADD", "1-1", "a", "1"]] {
                ok(cmd!(con, "FLUSHALL"));
                ok(redis::cmd(make[0]).arg(&key).arg(&make[1..]).query(&mut con));
                refused(&mut con, WRONG_TYPE);
            }
            ok(cmd!(con, "FLUSHALL"));
            for other in ALGORITHMS.iter().filter(|other| other.command != algorithm.command) {
                ok(cmd!(con, "FLUSHALL"));
                other.ask(&mut con, "k", "100d", 5);
                if other.key_per_window != algorithm.key_per_window {
                    // The states have different keys.
                    assert_eq!(ok(cmd!(con, "RL.RESET", algorithm.word(), "k", "100d")), Value::Int(0));
                } else if other.key_type != algorithm.key_type {
                    refused(&mut con, WRONG_TYPE);
                } else if [algorithm, other].iter().all(|one| [WINDOW.name, GCRA.name].contains(&one.name)) {
                    // Both states are integers.
                    ok(on("RL.PEEK", algorithm, &[]).query(&mut con));
                } else {
                    let (_, error) = algorithm.foreign[0];
                    refused(&mut con, error);
                }
            }
        }
        assert!(server.is_running());
    });
}

#[test]
fn bad_arguments_are_named_and_change_nothing() {
    for_each_server(|bin| {
        let mut server = Server::start(bin);
        let mut con = server.con();
        for algorithm in ALGORITHMS {
            ok(cmd!(con, "FLUSHALL"));
            algorithm.ask(&mut con, "k", "100d", 5);
            let before = digest(&mut con);
            let word = algorithm.word().as_bytes();
            let mut refused = |expected: &str, command: &str, arguments: &[&[u8]]| {
                let text = err(redis::cmd(command).arg(arguments).query(&mut con));
                assert!(text.starts_with(expected), "{command} {arguments:?}: {text}, not {expected}");
                assert_eq!(digest(&mut con), before, "{command} {arguments:?}");
            };
            for command in ["RL.PEEK", "RL.REFUND"] {
                for window in BAD_WINDOWS {
                    refused("ERR invalid window", command, &[word, b"k", window, b"5"]);
                    refused("ERR invalid window", "RL.RESET", &[word, b"k", window]);
                }
                for limit in BAD_LIMITS {
                    refused("ERR invalid limit", command, &[word, b"k", b"60", limit]);
                }
                for cost in BAD_COSTS {
                    refused("ERR invalid COST", command, &[word, b"k", b"60", b"5", b"COST", cost]);
                }
                if algorithm.takes_burst {
                    for burst in bad_bursts() {
                        refused("ERR invalid BURST: expected", command, &[word, b"k", b"60", b"5", b"BURST", burst]);
                    }
                } else {
                    let expected = format!("ERR invalid BURST: {} takes none", algorithm.word());
                    refused(&expected, command, &[word, b"k", b"60", b"5", b"BURST", b"5"]);
                }
                refused("ERR syntax error: FULL, LINE and", command, &[word, b"k", b"60", b"5", b"FULL", b"HEADERS"]);
                refused("ERR syntax error", command, &[word, b"k", b"60", b"5", b"NOW"]);
                for unknown in [&b""[..], b"RL.TOKEN", b"TOKE", b"TOKENS", b"\0", b"\xff", b"MULTI"] {
                    refused("ERR invalid algorithm", command, &[unknown, b"k", b"60", b"5"]);
                    refused("ERR invalid algorithm", "RL.RESET", &[unknown, b"k", b"60"]);
                }
            }
            refused("ERR syntax error: after window", "RL.RESET", &[word, b"k", b"60", b"5"]);
            refused("ERR invalid COST", "RL.RESET", &[word, b"k", b"60", b"COST", b"5"]);
            for few in [&[][..], &[word], &[word, b"k"]] {
                for command in ["RL.PEEK", "RL.REFUND", "RL.RESET"] {
                    refused("ERR wrong number", command, few);
                }
            }
        }
        assert!(server.is_running());
    });
}

/// A refund has the same largest cost as a request. A larger one is an error before anything is given back.
#[test]
fn a_refund_that_is_refused_gives_nothing_back() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for algorithm in ALGORITHMS.iter().filter(|algorithm| algorithm.max_cost < i64::MAX) {
            let ask = |con: &mut Connection, command, cost| {
                redis::cmd(command)
                    .arg(algorithm.word())
                    .arg(&["k", "1h", "5000000", "COST"])
                    .arg(cost)
                    .query::<Value>(con)
            };
            assert_eq!(algorithm.ask_for(&mut con, "k", "1h", 5_000_000, 3)[0], 1);
            for command in ["RL.PEEK", "RL.REFUND"] {
                assert!(err(ask(&mut con, command, algorithm.max_cost + 1)).starts_with("ERR invalid COST: "));
            }
            assert_eq!(algorithm.remaining(&mut con, "k", "1h", 5_000_000), 5_000_000 - 4, "{algorithm:?}");
            ok(ask(&mut con, "RL.REFUND", algorithm.max_cost));
            assert_eq!(algorithm.remaining(&mut con, "k", "1h", 5_000_000), 5_000_000 - 1, "{algorithm:?}");
        }
    });
}
