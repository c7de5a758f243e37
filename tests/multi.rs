//! RL.MULTI: several limits at once, all or nothing.

mod support;

use redis::{Cmd, Connection, Pipeline, Value};
use support::*;

/// RL.MULTI of these limits: algorithm, key, window, limit.
fn multi(limits: &[(&Algorithm, String, &str, i64)], options: &[&str]) -> Cmd {
    let mut request = redis::cmd("RL.MULTI");
    request.arg(limits.len());
    for (algorithm, key, window, limit) in limits {
        request.arg(algorithm.word()).arg(key).arg(*window).arg(limit);
    }
    request.arg(options).to_owned()
}

/// One limit of each algorithm, each at a key of its own, none of them ending meanwhile.
fn one_of_each(limit: i64) -> Vec<(&'static Algorithm, String, &'static str, i64)> {
    ALGORITHMS.iter().map(|algorithm| (algorithm, algorithm.name.to_owned(), "100d", limit)).collect()
}

/// Whether all were allowed, and the answers of the limits.
#[track_caller]
fn parts<const N: usize>(reply: Value) -> [Value; N] {
    let Value::Array(parts) = reply else { panic!("no array: {reply:?}") };
    parts.try_into().unwrap_or_else(|parts: Vec<Value>| panic!("{} instead of {N}: {parts:?}", parts.len()))
}

#[track_caller]
fn exec(con: &mut Connection, commands: &Pipeline) -> Vec<Value> {
    match ok(commands.query(con)) {
        Value::Array(replies) => replies,
        other => panic!("no array: {other:?}"),
    }
}

/// Every key with its value and its end.
fn everything(con: &mut Connection) -> Vec<(String, Value, i64)> {
    let dump = |con: &mut Connection, key: &String| ok(cmd!(*con, "DUMP", key));
    keys(con).into_iter().map(|key| (key.clone(), dump(con, &key), expires_at(con, &key))).collect()
}

/// RM_CachedMicroseconds is there from 7.2 on: then one time holds for a whole transaction.
fn clock_stands_in_transactions(bin: &ServerBin) -> bool {
    (bin.version.0, bin.version.1) >= (7, 2)
}

#[test]
fn each_limit_answers_and_is_charged_as_it_would_be_alone() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        for mut con in [server.con(), server.con3()] {
            let mut random = Random::new(30);
            for count in [1, 2, 3, 6, 17, 64] {
                ok(cmd!(con, "FLUSHALL"));
                let limits: Vec<_> = (0..count)
                    .map(|n| {
                        let window = random.pick(&["100d", "200d", "8640000", "365d"]);
                        (random.pick(ALGORITHMS), n, window, 3 + random.below(20) as i64)
                    })
                    .collect();
                let all: Vec<_> = limits
                    .iter()
                    .map(|(algorithm, n, window, limit)| (algorithm, format!("many:{n}"), *window, *limit))
                    .collect();
                for cost in [1, 2, 1] {
                    let cost_text = cost.to_string();
                    let mut commands = redis::pipe();
                    commands.atomic();
                    for (algorithm, n, window, limit) in &limits {
                        let mut request = redis::cmd(algorithm.command);
                        request.arg(format!("alone:{n}")).arg(*window).arg(*limit).arg("COST").arg(cost).arg("FULL");
                        commands.add_command(request);
                    }
                    commands.add_command(multi(&all, &["COST", &cost_text, "FULL"]));
                    let mut replies = exec(&mut con, &commands);
                    let [allowed, together] = parts(replies.pop().expect("RL.MULTI's"));
                    let Value::Array(together) = together else { panic!("no array: {together:?}") };
                    let alone: Vec<Full> = replies.into_iter().map(full).collect();
                    let together: Vec<Full> = together.into_iter().map(full).collect();
                    let passes = alone.iter().all(|reply| reply.allowed == 1);
                    assert_eq!(read::<i64>(allowed), i64::from(passes));
                    for ((alone, together), limit) in alone.iter().zip(&together).zip(&all) {
                        let figures = |full: &Full| [full.allowed, full.count, full.limit, full.remaining];
                        assert_eq!(figures(together), figures(alone), "{limit:?}");
                        assert_eq!(together.retry_after_ms == -1, alone.retry_after_ms == -1, "{limit:?}");
                    }
                    assert_eq!(together.len(), count);
                    assert!(together.iter().all(|reply| reply.now_ms == together[0].now_ms));
                    if !passes {
                        break;
                    }
                }
                let after = keys(&mut con);
                let [alone, many] =
                    ["alone:", "many:"].map(|from| after.iter().filter(|key| key.starts_with(from)).count());
                assert_eq!((alone, many), (count, count), "{after:?}");
            }
        }
    });
}

/// At one time, all of it to the byte: the answers in each form, and what is stored.
#[test]
fn at_one_time_the_answers_and_records_are_the_same_to_the_byte() {
    for_each_server(|bin| {
        if !clock_stands_in_transactions(bin) {
            // What it answers there is seen above.
            return;
        }
        let server = Server::start(bin);
        for mut con in [server.con(), server.con3()] {
            for form in [&[][..], &["FULL"], &["HEADERS"]] {
                ok(cmd!(con, "FLUSHALL"));
                for request in 0..4 {
                    let mut commands = redis::pipe();
                    commands.atomic();
                    for algorithm in ALGORITHMS {
                        let arguments = ["alone", algorithm.name].join(":");
                        commands.cmd(algorithm.command).arg(arguments).arg(&["100d", "3"]).arg(form);
                    }
                    let limits: Vec<_> = ALGORITHMS
                        .iter()
                        .map(|algorithm| (algorithm, format!("many:{}", algorithm.name), "100d", 3))
                        .collect();
                    commands.add_command(multi(&limits, form));
                    let mut replies = exec(&mut con, &commands);
                    let reply = replies.pop().expect("RL.MULTI's");
                    let (allowed, together) = if form == ["HEADERS"] {
                        let [allowed, together, _] = parts(reply);
                        (allowed, together)
                    } else {
                        let [allowed, together] = parts(reply);
                        (allowed, together)
                    };
                    if form == ["HEADERS"] {
                        // Without the headers of each.
                        for reply in &mut replies {
                            let Value::Array(figures) = reply else { panic!("{reply:?}") };
                            figures.truncate(3);
                        }
                    }
                    assert_eq!(allowed, Value::Int((request < 3).into()));
                    assert_eq!(together, Value::Array(replies), "{form:?}, request {request}");
                }
                for algorithm in ALGORITHMS.iter().filter(|algorithm| algorithm.state == State::Record) {
                    let [alone, many] = ["alone", "many"].map(|from| format!("{from}:{}", algorithm.name));
                    assert_eq!(ok(cmd!(con, "GET", &alone)), ok(cmd!(con, "GET", &many)), "{algorithm:?}");
                    assert_eq!(expires_at(&mut con, &alone), expires_at(&mut con, &many), "{algorithm:?}");
                }
            }
        }
    });
}

#[test]
fn where_one_denies_nothing_is_charged() {
    for_each_server(|bin| {
        let server = Server::options(bin).durable().start();
        for mut con in [server.con(), server.con3()] {
            for at in 0..ALGORITHMS.len() {
                ok(cmd!(con, "FLUSHALL"));
                // Two of five are taken everywhere, and two of two where it is to be denied.
                let mut limits = one_of_each(5);
                limits[at].3 = 2;
                for (algorithm, key, window, limit) in &limits {
                    assert_eq!(algorithm.ask_for(&mut con, key, window, *limit, 2)[0], 1);
                }
                let before = (digest(&mut con), everything(&mut con));
                let mut effects = Effects::of(&server);
                for options in [&[][..], &["FULL"], &["HEADERS"], &["COST", "2"]] {
                    let Value::Array(reply) = ok(multi(&limits, options).query(&mut con)) else { panic!("no array") };
                    assert_eq!(reply[0], Value::Int(0), "{limits:?}");
                    if options.is_empty() {
                        let answers: Vec<[i64; 3]> = read(reply[1].clone());
                        let allowed: Vec<i64> = answers.iter().map(|answer| answer[0]).collect();
                        let expected: Vec<i64> = (0..limits.len()).map(|n| i64::from(n != at)).collect();
                        assert_eq!(allowed, expected, "each says what it would");
                    }
                    assert_eq!((digest(&mut con), everything(&mut con)), before, "{:?} {options:?}", limits[at]);
                }
                // New keys are not made either.
                let mut more = limits.clone();
                more.push((&TOKEN, "new".into(), "100d", 5));
                more.push((&FIXED, "new".into(), "100d", 0));
                more.push((&SLIDING, "another".into(), "100d", 5));
                assert_eq!(parts::<2>(ok(multi(&more, &[]).query(&mut con)))[0], Value::Int(0));
                assert_eq!((digest(&mut con), everything(&mut con)), before);
                assert_eq!(effects.take(), Vec::<Vec<String>>::new());
                // With room everywhere all are charged.
                if limits[at].0.rescales {
                    continue;
                }
                limits[at].3 = 5;
                assert_eq!(parts::<2>(ok(multi(&limits, &["COST", "3"]).query(&mut con)))[0], Value::Int(1));
                for (algorithm, key, window, limit) in &limits {
                    assert_eq!(algorithm.ask(&mut con, key, window, *limit)[0], 0, "{algorithm:?}");
                }
            }
        }
    });
}

#[test]
fn a_key_that_cannot_be_charged_charges_no_other() {
    for_each_server(|bin| {
        let mut server = Server::start(bin);
        let mut con = server.con();
        for at in 0..ALGORITHMS.len() {
            ok(cmd!(con, "FLUSHALL"));
            let limits = one_of_each(5);
            ok(multi(&limits, &[]).query(&mut con));
            let (algorithm, key, _, _) = &limits[at];
            let state = algorithm.state_key(key.as_bytes(), 8_640_000_000, now_ms().cast_unsigned());
            ok(cmd!(con, "DEL", &state));
            ok(cmd!(con, "RPUSH", &state, "x"));
            let mut refused = |expected: &str| {
                let before = (digest(&mut con), everything(&mut con));
                for options in [&[][..], &["FULL"], &["HEADERS"]] {
                    assert_eq!(err(multi(&limits, options).query(&mut con)), expected, "{algorithm:?}");
                }
                assert_eq!((digest(&mut con), everything(&mut con)), before, "{algorithm:?}");
            };
            refused("WRONGTYPE Operation against a key holding the wrong kind of value");
            for (value, expected) in algorithm.foreign {
                ok(cmd!(server.con(), "SET", &state, value));
                refused(expected);
            }
        }
        assert!(server.is_running());
    });
}

#[test]
fn a_bad_argument_at_any_place_charges_nothing() {
    for_each_server(|bin| {
        let mut server = Server::start(bin);
        let mut con = server.con();
        let good = multi(&one_of_each(5), &["COST", "1", "FULL"]);
        ok(good.query(&mut con));
        let good: Vec<Vec<u8>> = good
            .args_iter()
            .map(|argument| match argument {
                redis::Arg::Simple(bytes) => bytes.to_vec(),
                _ => unreachable!("no cursor"),
            })
            .collect();
        let before = (digest(&mut con), everything(&mut con));
        for place in 1..good.len() {
            let (what, is_key) = match place {
                1 => ("ERR invalid numlimits", false),
                26 => ("ERR syntax error", false),
                27 => ("ERR invalid COST", false),
                28 => ("ERR syntax error", false),
                _ => [
                    ("ERR invalid algorithm", false),
                    ("", true),
                    ("ERR invalid window", false),
                    ("ERR invalid limit", false),
                ][(place - 2) % 4],
            };
            if is_key {
                continue;
            }
            for bad in [&b""[..], b"-1", b"x", b"1.5", b"\0", b"\xff\xfe", b"99999999999999999999"] {
                let mut arguments = good.clone();
                arguments[place] = bad.to_vec();
                let text = err(redis::cmd("RL.MULTI").arg(&arguments[1..]).query(&mut con));
                assert!(text.starts_with(what), "{} at {place}: {text}", bad.escape_ascii());
            }
        }
        // Cut off anywhere.
        for end in 1..26 {
            let text = err(redis::cmd("RL.MULTI").arg(&good[1..end]).query(&mut con));
            assert!(text.starts_with("ERR "), "{end}: {text}");
        }
        for (options, what) in [
            (&["BURST", "5"][..], "ERR invalid BURST"),
            (&["COST"], "ERR invalid COST"),
            (&["FULL", "HEADERS"], "ERR syntax error"),
            (&["FULL", "FULL"], "ERR syntax error"),
            (&["COST", "1", "COST", "1"], "ERR syntax error"),
            (&["TOKEN", "k", "60", "5"], "ERR syntax error"),
        ] {
            let text = err(multi(&one_of_each(5), options).query(&mut con));
            assert!(text.starts_with(what), "{options:?}: {text}");
        }
        assert_eq!((digest(&mut con), everything(&mut con)), before);
        assert!(server.is_running());
    });
}

#[test]
fn numlimits_is_from_1_to_64_and_as_many_as_come() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let ask = |con: &mut Connection, says: &str, comes: usize| {
            let mut request = redis::cmd("RL.MULTI");
            request.arg(says);
            for n in 0..comes {
                request.arg("GCRA").arg(n).arg("1d").arg(5);
            }
            request.query::<Value>(con)
        };
        for (says, comes) in [
            ("0", 1),
            ("65", 65),
            ("65", 64),
            ("-1", 1),
            ("3", 2),
            ("64", 1),
            ("01", 1),
            ("1.0", 1),
            ("18446744073709551617", 1),
            ("9223372036854775807", 2),
        ] {
            let text = err(ask(&mut con, says, comes));
            assert!(text.starts_with("ERR "), "{says} of {comes}: {text}");
            assert!(text.contains("numlimits") || text.contains("arguments"), "{says} of {comes}: {text}");
        }
        // One too many is no option.
        let text = err(ask(&mut con, "1", 2));
        assert!(text.starts_with("ERR syntax error"), "{text}");
        assert_eq!(ok(cmd!(con, "DBSIZE")), Value::Int(0));
        for all in [1, 64] {
            let [allowed, answers] = parts(ok(ask(&mut con, &all.to_string(), all)));
            assert_eq!(allowed, Value::Int(1));
            assert!(matches!(answers, Value::Array(answers) if answers.len() == all));
        }
        assert_eq!(ok(cmd!(con, "DBSIZE")), Value::Int(64));
    });
}

#[test]
fn two_limits_on_one_state_are_an_error_before_anything_is_charged() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let bucket = String::from_utf8(FIXED.state_key(b"k", LONG as u64 * 1_000, now_ms().cast_unsigned()));
        let bucket = bucket.expect("text");
        let long = LONG.to_string();
        let refused = |con: &mut Connection, limits: &[(&Algorithm, String, &str, i64)]| {
            for options in [&[][..], &["FULL"]] {
                let text = err(multi(limits, options).query(con));
                assert!(text.starts_with("ERR invalid key: two limits"), "{limits:?}: {text}");
            }
            assert_eq!(ok(cmd!(*con, "DBSIZE")), Value::Int(0), "{limits:?}");
        };
        for one in ALGORITHMS {
            refused(&mut con, &[(one, "k".into(), &long, 5), (one, "k".into(), &long, 6)]);
            for other in ALGORITHMS {
                let first = (&TOKEN, "first".to_owned(), long.as_str(), 5);
                if one.state != State::Counter && other.state != State::Counter {
                    refused(&mut con, &[first, (one, "k".into(), &long, 5), (other, "k".into(), "1h", 5)]);
                } else if one.state == State::Counter && other.state != State::Counter {
                    // The counter's own name.
                    refused(&mut con, &[first.clone(), (one, "k".into(), &long, 5), (other, bucket.clone(), "1h", 5)]);
                    refused(&mut con, &[first, (other, bucket.clone(), "1h", 5), (one, "k".into(), &long, 5)]);
                    // The key that it counts for is another.
                    let limits = [(one, "k".to_owned(), long.as_str(), 5), (other, "k".to_owned(), "1h", 5)];
                    let [allowed, _] = parts(ok(multi(&limits, &[]).query(&mut con)));
                    assert_eq!(allowed, Value::Int(1), "{limits:?}");
                    ok(cmd!(con, "FLUSHALL"));
                }
            }
        }
        // Windows of different lengths have counters of their own.
        let limits = [(&FIXED, "k".to_owned(), long.as_str(), 5), (&FIXED, "k".to_owned(), "1d", 5)];
        assert_eq!(parts::<2>(ok(multi(&limits, &[]).query(&mut con)))[0], Value::Int(1));
    });
}

#[test]
fn the_cost_is_taken_of_every_limit() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let limits = one_of_each(5);
        for (cost, allowed) in [(6, 0), (3, 1), (3, 0), (2, 1), (1, 0)] {
            let reply = ok(multi(&limits, &["COST", &cost.to_string()]).query(&mut con));
            assert_eq!(parts::<2>(reply)[0], Value::Int(allowed), "COST {cost}");
        }
        for (algorithm, key, window, limit) in &limits {
            let arguments = [algorithm.word(), key, window, &(limit + 1).to_string(), "FULL"];
            let look = full_of(&mut con, "RL.PEEK", &arguments);
            let expected = if algorithm.rescales { (0, 0) } else { (1, 0) };
            assert_eq!((look.allowed, look.remaining), expected, "{algorithm:?}");
        }
    });
}

/// All policies, and the figures of the limit that binds most: of those that deny the one that does so longest, else
/// the one with the least left.
#[test]
fn the_headers_are_of_the_limit_that_binds() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        for mut con in [server.con(), server.con3()] {
            ok(cmd!(con, "FLUSHALL"));
            let limits = [
                (&TOKEN, "t".to_owned(), "1500ms", 100),
                (&SLIDING, "s".to_owned(), "100d", 3),
                (&COUNTER, "c".to_owned(), "1h", 50),
                (&FIXED, "f".to_owned(), "200d", 4),
            ];
            let ask = |con: &mut Connection, options: &[&str]| {
                let [allowed, answers, headers] = parts(ok(multi(&limits, options).query(con)));
                assert_eq!(read::<Vec<[i64; 3]>>(answers).len(), limits.len());
                (read::<i64>(allowed), header_pairs(headers))
            };
            let value = |headers: &[(String, String)], wanted: &str| {
                let found = headers.iter().find(|(name, _)| name == wanted);
                found.map(|(_, value)| value.clone())
            };
            for n in 0..4 {
                let (allowed, headers) = ask(&mut con, &["HEADERS"]);
                assert_eq!(allowed, i64::from(n < 3));
                let policies = "\"token\";q=100;w=2, \"sliding\";q=3;w=8640000, \"counter\";q=50;w=3600, \
                                \"fixed\";q=4;w=17280000";
                assert_eq!(value(&headers, "RateLimit-Policy").as_deref(), Some(policies));
                assert_eq!(value(&headers, "X-RateLimit-Limit").as_deref(), Some("3"));
                let remaining = i64::max(2 - n, 0);
                assert_eq!(value(&headers, "X-RateLimit-Remaining"), Some(remaining.to_string()));
                let limit = value(&headers, "RateLimit").expect("RateLimit");
                assert!(limit.starts_with(&format!("\"sliding\";r={remaining};t=8")), "{limit}");
                // The newest entry leaves after a window.
                let reset: i64 = value(&headers, "X-RateLimit-Reset").expect("a time").parse().expect("a time");
                let latest = (server_ms(&mut con) + 999) / 1_000 + 8_640_000;
                assert!((latest - 20..=latest).contains(&reset), "{reset} up to {latest}");
                let retry = value(&headers, "Retry-After").map(|seconds| seconds.parse::<i64>().expect("seconds"));
                match retry {
                    None => assert!(n < 3),
                    Some(seconds) => assert!(n == 3 && (8_639_980..=8_640_000).contains(&seconds), "{seconds}"),
                }
            }
            // What never passes binds most, and promises no time.
            let (allowed, headers) = ask(&mut con, &["COST", "4", "HEADERS"]);
            assert_eq!(allowed, 0);
            assert_eq!(value(&headers, "X-RateLimit-Limit").as_deref(), Some("3"));
            assert_eq!(value(&headers, "Retry-After"), None);
        }
    });
}

#[test]
fn the_server_finds_the_keys() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for count in [1, 2, 64] {
            let names: Vec<String> = (0..count).map(|n| format!("k\0{n}")).collect();
            let limits: Vec<_> = names.iter().map(|name| (&LEAKY, name.clone(), "1h", 5)).collect();
            for options in [&[][..], &["COST", "2", "FULL"]] {
                let request = multi(&limits, options);
                let mut ask = redis::cmd("COMMAND");
                ask.arg("GETKEYS");
                for argument in request.args_iter() {
                    if let redis::Arg::Simple(bytes) = argument {
                        ask.arg(bytes);
                    }
                }
                let found: Vec<String> = read(ok(ask.query(&mut con)));
                assert_eq!(found, names);
            }
        }
        // No more keys than there are arguments, whatever the number says.
        for says in ["3", "64", "65", "0", "-1", "x", "9223372036854775807", "18446744073709551615"] {
            let reply = cmd!(con, "COMMAND", "GETKEYS", "RL.MULTI", says, "FIXED", "a", 60, 5, "FIXED", "b", 60, 5);
            if let Ok(keys) = &reply {
                let keys: Vec<String> = read(keys.clone());
                assert!(keys.len() <= 2, "{says}: {keys:?}");
            }
        }
        ok(cmd!(con, "PING"));
    });
}

/// Who may use some keys may not charge others by listing them second.
#[test]
fn every_key_is_checked_against_the_users_rights() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        ok(cmd!(con, "ACL", "SETUSER", "limited", "on", ">secret", "~mine:*", "-@all", "+rl.multi", "+auth"));
        ok(cmd!(con, "AUTH", "limited", "secret"));
        let ask = |con: &mut Connection, keys: [&str; 3]| {
            let limits = keys.map(|key| (&TOKEN, key.to_owned(), "1h", 5));
            multi(&limits, &[]).query::<Value>(con)
        };
        ok(ask(&mut con, ["mine:1", "mine:2", "mine:3"]));
        for at in 0..3 {
            let mut keys = ["mine:1", "mine:2", "mine:3"];
            keys[at] = "other";
            assert!(err(ask(&mut con, keys)).starts_with("NOPERM "), "{keys:?}");
        }
        assert_eq!(keys(&mut server.con()).len(), 3);
    });
}

#[test]
fn inside_scripts_and_transactions() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let limits = one_of_each(2);
        let arguments: Vec<Vec<u8>> = multi(&limits, &[])
            .args_iter()
            .filter_map(|argument| if let redis::Arg::Simple(bytes) = argument { Some(bytes.to_vec()) } else { None })
            .collect();
        let mut script = redis::cmd("EVAL");
        script.arg("return redis.call(unpack(ARGV))").arg(0).arg(&arguments);
        let [allowed, answers] = parts(ok(script.query(&mut con)));
        assert_eq!(allowed, Value::Int(1));
        assert_eq!(read::<Vec<[i64; 3]>>(answers).len(), limits.len());
        let mut commands = redis::pipe();
        commands.atomic();
        (0..3).for_each(|_| _ = commands.add_command(multi(&limits, &[])));
        let allowed: Vec<Value> =
            exec(&mut con, &commands).into_iter().map(|reply| parts::<2>(reply)[0].clone()).collect();
        assert_eq!(allowed, [1, 0, 0].map(Value::Int));
    });
}
