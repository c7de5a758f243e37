//! RL.MULTI: several limits at once, all or nothing.

use crate::support::*;
use redis::{Cmd, Connection, Value};

/// A limit: algorithm, key, window, limit.
type Limit<'a> = (&'a Algorithm, String, &'a str, i64);

/// RL.MULTI of these limits. `form` comes last.
fn multi(limits: &[Limit], form: &[&str]) -> Cmd {
    multi_with(limits, |_| Vec::new(), form)
}

/// The same with the cost `cost(n)` of the n-th limit, from 0.
fn multi_of_costs(limits: &[Limit], cost: impl Fn(usize) -> i64, form: &[&str]) -> Cmd {
    multi_with(limits, |n| vec!["COST".into(), cost(n).to_string()], form)
}

/// The same with the options `options(n)` of the n-th limit, which follow it.
fn multi_with(limits: &[Limit], options: impl Fn(usize) -> Vec<String>, form: &[&str]) -> Cmd {
    let mut request = redis::cmd("RL.MULTI");
    request.arg(limits.len());
    for (n, (algorithm, key, window, limit)) in limits.iter().enumerate() {
        request.arg(algorithm.word()).arg(key).arg(*window).arg(limit).arg(options(n));
    }
    request.arg(form).to_owned()
}

/// The words of a call, its name first.
fn words(call: &Cmd) -> Vec<Vec<u8>> {
    let word = |argument: redis::Arg<&[u8]>| match argument {
        redis::Arg::Simple(bytes) => bytes.to_vec(),
        _ => unreachable!("no cursor"),
    };
    call.args_iter().map(word).collect()
}

/// One limit of each algorithm, each at a key of its own, none of them ending meanwhile.
fn one_of_each(limit: i64) -> Vec<Limit<'static>> {
    ALGORITHMS.iter().map(|algorithm| (algorithm, algorithm.name.to_owned(), "100d", limit)).collect()
}

/// Whether all were allowed, and the answers of the limits.
#[track_caller]
fn parts<const N: usize>(reply: Value) -> [Value; N] {
    let Value::Array(parts) = reply else { panic!("no array: {reply:?}") };
    parts.try_into().unwrap_or_else(|parts: Vec<Value>| panic!("{} instead of {N}: {parts:?}", parts.len()))
}

#[test]
fn each_limit_answers_and_is_charged_as_it_would_be_alone() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        for mut random in randoms() {
            for mut con in [server.con(), server.con3()] {
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
                    for round in 0..4 {
                        // A cost of its own for each limit. Each limit holds the first one.
                        let least = u64::from(round == 0);
                        let costs: Vec<i64> = limits.iter().map(|_| (least + random.below(3)) as i64).collect();
                        let mut commands = Vec::new();
                        for ((algorithm, n, window, limit), cost) in limits.iter().zip(&costs) {
                            let mut request = redis::cmd(algorithm.command);
                            request
                                .arg(format!("alone:{n}"))
                                .arg(*window)
                                .arg(*limit)
                                .arg("COST")
                                .arg(cost)
                                .arg("FULL");
                            commands.push(request);
                        }
                        commands.push(multi_of_costs(&all, |n| costs[n], &["FULL"]));
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
                            limit.0.assert_ttl_agrees(together);
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
        }
    });
}

/// At one time, all of it to the byte: the answers in each form, and what is stored.
#[test]
fn at_one_time_the_answers_and_records_are_the_same_to_the_byte() {
    for_each_server(|bin| {
        if !bin.caches_time() {
            // What it answers there is seen above.
            return;
        }
        let server = Server::start(bin);
        for mut con in [server.con(), server.con3()] {
            for form in [&[][..], &["FULL"], &["HEADERS"]] {
                ok(cmd!(con, "FLUSHALL"));
                for request in 0..4 {
                    let mut commands = Vec::new();
                    for algorithm in ALGORITHMS {
                        let arguments = ["alone", algorithm.name].join(":");
                        let mut request = redis::cmd(algorithm.command);
                        commands.push(request.arg(arguments).arg(&["100d", "3"]).arg(form).to_owned());
                    }
                    let limits: Vec<_> = ALGORITHMS
                        .iter()
                        .map(|algorithm| (algorithm, format!("many:{}", algorithm.name), "100d", 3))
                        .collect();
                    commands.push(multi(&limits, form));
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
                for (algorithm, _) in records() {
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
                for (cost, form) in [(1, &[][..]), (1, &["FULL"]), (1, &["HEADERS"]), (2, &[]), (0, &[])] {
                    let request = multi_of_costs(&limits, |_| cost, form);
                    let Value::Array(reply) = ok(request.query(&mut con)) else { panic!("no array") };
                    assert_eq!(reply[0], Value::Int(0), "{limits:?}");
                    if form.is_empty() {
                        let answers: Vec<[i64; 3]> = read(reply[1].clone());
                        let allowed: Vec<i64> = answers.iter().map(|answer| answer[0]).collect();
                        let expected: Vec<i64> = (0..limits.len()).map(|n| i64::from(n != at)).collect();
                        assert_eq!(allowed, expected, "each says what it would");
                    }
                    assert_eq!((digest(&mut con), everything(&mut con)), before, "{:?} {cost} {form:?}", limits[at]);
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
                assert_eq!(parts::<2>(ok(multi_of_costs(&limits, |_| 3, &[]).query(&mut con)))[0], Value::Int(1));
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
                    let error = err(multi(&limits, options).query(&mut con));
                    assert_eq!(error, of_limit(expected, at + 1), "{algorithm:?}");
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

/// What a word of a call is. The limits are numbered from 1.
#[derive(Clone, Copy, Debug)]
enum Place {
    NumLimits,
    Algorithm(usize),
    Key(usize),
    Window(usize),
    Limit(usize),
    /// The word COST or BURST.
    Option(usize),
    Cost(usize),
    Burst(usize),
    Form,
}

/// A call with every word that the grammar knows, each with its place: every algorithm of the table, with every option
/// that it takes.
fn grammar() -> Vec<(Vec<u8>, Place)> {
    let mut call = vec![(ALGORITHMS.len().to_string(), Place::NumLimits)];
    for (algorithm, n) in ALGORITHMS.iter().zip(1..) {
        call.push((algorithm.word().to_owned(), Place::Algorithm(n)));
        call.push((algorithm.name.to_owned(), Place::Key(n)));
        call.push(("100d".to_owned(), Place::Window(n)));
        call.push(("5".to_owned(), Place::Limit(n)));
        call.push(("COST".to_owned(), Place::Option(n)));
        call.push(("1".to_owned(), Place::Cost(n)));
        if algorithm.takes_burst {
            call.push(("BURST".to_owned(), Place::Option(n)));
            call.push(("5".to_owned(), Place::Burst(n)));
        }
    }
    call.push(("FULL".to_owned(), Place::Form));
    call.into_iter().map(|(word, place)| (word.into_bytes(), place)).collect()
}

impl Place {
    /// What is wrong at this place, and how the error begins.
    fn bad(self) -> (Vec<&'static [u8]>, String) {
        const NO_WORDS: [&[u8]; 8] = [b"", b"-1", b"x", b"1.5", b"\0", b"\xff\xfe", b"99999999999999999999", b"FULLL"];
        let last = ALGORITHMS.len();
        let not = |n: usize, what: &str| format!("ERR limit {n}: invalid {what}: ");
        match self {
            Self::NumLimits => ([&NO_WORDS[..], &[b"0", b"65"]].concat(), "ERR invalid numlimits: ".into()),
            Self::Algorithm(n) => (NO_WORDS.into(), not(n, "algorithm")),
            Self::Key(_) => (Vec::new(), String::new()),
            Self::Window(n) => (BAD_WINDOWS.into(), not(n, "window")),
            Self::Limit(n) => (BAD_LIMITS.into(), not(n, "limit")),
            // What is no option of a limit is the next limit, or the form.
            Self::Option(n) if n < last => (NO_WORDS.into(), not(n + 1, "algorithm")),
            Self::Option(_) | Self::Form => (NO_WORDS.into(), format!("ERR limit {last}: syntax error: ")),
            Self::Cost(n) => (BAD_COSTS.into(), not(n, "COST")),
            Self::Burst(n) => (bad_bursts().collect(), not(n, "BURST")),
        }
    }

    /// How the error begins if the call ends before this place. `None` if the call is complete there.
    fn missing(self) -> Option<String> {
        match self {
            Self::NumLimits => Some("ERR wrong number of arguments".into()),
            Self::Algorithm(n) => Some(format!("ERR limit {n}: invalid numlimits: fewer limits follow")),
            Self::Key(n) | Self::Window(n) | Self::Limit(n) => {
                Some(format!("ERR limit {n}: syntax error: expected the "))
            }
            Self::Option(n) if n < ALGORITHMS.len() => Some(format!("ERR limit {}: invalid numlimits: ", n + 1)),
            Self::Option(_) | Self::Form => None,
            Self::Cost(n) => Some(format!("ERR limit {n}: invalid COST: ")),
            Self::Burst(n) => Some(format!("ERR limit {n}: invalid BURST: ")),
        }
    }
}

#[test]
fn a_bad_argument_at_any_place_charges_nothing() {
    for_each_server(|bin| {
        let mut server = Server::start(bin);
        let mut con = server.con();
        let good = grammar();
        let words = |call: &[(Vec<u8>, Place)]| call.iter().map(|(word, _)| word.clone()).collect::<Vec<_>>();
        let ask = |con: &mut Connection, words: &[Vec<u8>]| redis::cmd("RL.MULTI").arg(words).query::<Value>(con);
        ok(ask(&mut con, &words(&good)));
        let before = (digest(&mut con), everything(&mut con));
        for (at, (_, place)) in good.iter().enumerate() {
            let (bad, expected) = place.bad();
            for bad in bad {
                let mut call = words(&good);
                call[at] = bad.to_vec();
                let text = err(ask(&mut con, &call));
                assert!(text.starts_with(&expected), "{} at {place:?}: {text}, not {expected}", bad.escape_ascii());
            }
            // Cut off there.
            if let Some(expected) = place.missing() {
                let text = err(ask(&mut con, &words(&good[..at])));
                // The server itself rejects a call that is too short for any limit.
                let too_short = at + 1 < 6 && text.starts_with("ERR wrong number of arguments for 'RL.MULTI'");
                assert!(text.starts_with(&expected) || too_short, "cut before {place:?}: {text}, not {expected}");
            }
            assert_eq!((digest(&mut con), everything(&mut con)), before, "{place:?}");
        }
        // What is right by itself, and wrong at this place: options of limit n, and of the last one the form.
        for (algorithm, n) in ALGORITHMS.iter().zip(1..) {
            let last = n == ALGORITHMS.len();
            let mut refused = |options: &[&str], expected: String| {
                let of_limit =
                    |at| if at + 1 == n { options.iter().map(ToString::to_string).collect() } else { vec![] };
                let text = err(multi_with(&one_of_each(5), of_limit, &[]).query(&mut con));
                assert!(text.starts_with(&expected), "{algorithm:?} {options:?}: {text}, not {expected}");
            };
            refused(&["COST", "1", "cost", "1"], format!("ERR limit {n}: syntax error: "));
            if algorithm.takes_burst {
                refused(&["BURST", "1", "COST", "1", "burst", "1"], format!("ERR limit {n}: syntax error: "));
            } else {
                refused(&["BURST", "5"], format!("ERR limit {n}: invalid BURST: {} takes none", algorithm.word()));
                refused(&["COST", "1", "BURST", "5"], format!("ERR limit {n}: invalid BURST: "));
            }
            for form in ["FULL", "headers"] {
                if last {
                    refused(&[form, "COST", "1"], "ERR syntax error: FULL, LINE or HEADERS comes last".into());
                    refused(&[form, form], "ERR syntax error: FULL, LINE or HEADERS comes at most once".into());
                } else {
                    refused(&[form], format!("ERR limit {}: syntax error: FULL, LINE or HEADERS comes last", n + 1));
                }
            }
            if last {
                refused(&["FULL", "HEADERS"], "ERR syntax error: FULL, LINE and HEADERS ".into());
                refused(&["TOKEN", "k", "60", "5"], "ERR invalid numlimits: more limits follow".into());
            }
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
        for (says, comes, expected) in [
            ("0", 1, "ERR invalid numlimits: "),
            ("65", 65, "ERR invalid numlimits: "),
            ("65", 64, "ERR invalid numlimits: "),
            ("-1", 1, "ERR invalid numlimits: "),
            ("01", 1, "ERR invalid numlimits: "),
            ("1.0", 1, "ERR invalid numlimits: "),
            ("18446744073709551617", 1, "ERR invalid numlimits: "),
            ("9223372036854775807", 2, "ERR invalid numlimits: "),
            // The first limit that does not come.
            ("3", 2, "ERR limit 3: invalid numlimits: "),
            ("64", 1, "ERR limit 2: invalid numlimits: "),
            ("1", 2, "ERR invalid numlimits: more limits follow than it says"),
            ("63", 64, "ERR invalid numlimits: more limits follow than it says"),
        ] {
            let text = err(ask(&mut con, says, comes));
            assert!(text.starts_with(expected), "{says} of {comes}: {text}");
        }
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
        let refused = |con: &mut Connection, limits: &[Limit]| {
            for form in [&[][..], &["FULL"]] {
                let text = err(multi(limits, form).query(con));
                // The second of the two is named.
                let expected = format!("ERR limit {}: invalid key: two limits", limits.len());
                assert!(text.starts_with(&expected), "{limits:?}: {text}");
            }
            assert_eq!(ok(cmd!(*con, "DBSIZE")), Value::Int(0), "{limits:?}");
        };
        for one in ALGORITHMS {
            refused(&mut con, &[(one, "k".into(), &long, 5), (one, "k".into(), &long, 6)]);
            for other in ALGORITHMS {
                let first = (&TOKEN, "first".to_owned(), long.as_str(), 5);
                if !one.key_per_window && !other.key_per_window {
                    refused(&mut con, &[first, (one, "k".into(), &long, 5), (other, "k".into(), "1h", 5)]);
                } else if one.key_per_window && !other.key_per_window {
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
            let reply = ok(multi_of_costs(&limits, |_| cost, &[]).query(&mut con));
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

/// A request can cost one unit of one limit and many of another. The COST after the last limit belongs to that limit
/// alone, and so does a BURST.
#[test]
fn options_belong_to_the_limit_they_follow() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let limits = one_of_each(5);
        let look = |con: &mut Connection, (algorithm, key, window, limit): &Limit, burst: &[&str]| {
            let limit = limit.to_string();
            let arguments = [&[algorithm.word(), key, window, &limit, "COST", "0", "FULL"], burst].concat();
            full_of(con, "RL.PEEK", &arguments)
        };
        for at in 0..limits.len() {
            ok(cmd!(con, "FLUSHALL"));
            let options = |n: usize| if n == at { vec!["COST".to_owned(), "4".to_owned()] } else { vec![] };
            let [allowed, answers] = parts(ok(multi_with(&limits, options, &["FULL"]).query(&mut con)));
            assert_eq!(allowed, Value::Int(1));
            let Value::Array(answers) = answers else { panic!("no array: {answers:?}") };
            for (n, (limit, answer)) in limits.iter().zip(answers).enumerate() {
                let expected = if n == at { 1 } else { 4 };
                assert_eq!(full(answer).remaining, expected, "{limit:?}, COST after {:?}", limits[at]);
                assert_eq!(look(&mut con, limit, &[]).remaining, expected, "{limit:?}, COST after {:?}", limits[at]);
            }
            // A cost that one of them can never hold denies all of them.
            let before = digest(&mut con);
            let options = |n: usize| if n == at { vec!["COST".to_owned(), "6".to_owned()] } else { vec![] };
            let [allowed, answers] = parts(ok(multi_with(&limits, options, &["FULL"]).query(&mut con)));
            assert_eq!(allowed, Value::Int(0));
            let Value::Array(answers) = answers else { panic!("no array: {answers:?}") };
            for (n, answer) in answers.into_iter().enumerate() {
                let retry = if n == at { -1 } else { 0 };
                assert_eq!(full(answer).retry_after_ms, retry, "{:?}, COST after {:?}", limits[n], limits[at]);
            }
            assert_eq!(digest(&mut con), before);
            if !limits[at].0.takes_burst {
                continue;
            }
            ok(cmd!(con, "FLUSHALL"));
            let options =
                |n: usize| if n == at { ["BURST", "9", "COST", "2"].map(str::to_owned).into() } else { vec![] };
            let [_, answers] = parts(ok(multi_with(&limits, options, &["FULL"]).query(&mut con)));
            let Value::Array(answers) = answers else { panic!("no array: {answers:?}") };
            for (n, answer) in answers.into_iter().enumerate() {
                let answer = full(answer);
                let expected = if n == at { (9, 7) } else { (5, 4) };
                assert_eq!((answer.limit, answer.remaining), expected, "{:?}", limits[n]);
            }
            assert_eq!(look(&mut con, &limits[at], &["BURST", "9"]).remaining, 7, "{:?}", limits[at]);
        }
    });
}

/// All policies, and the figures of the strictest limit: denied before allowed, then the longest wait, then the least
/// remaining.
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
            let ask = |con: &mut Connection, cost: i64| {
                let request = multi_of_costs(&limits, |_| cost, &["HEADERS"]);
                let [allowed, answers, headers] = parts(ok(request.query(con)));
                assert_eq!(read::<Vec<[i64; 3]>>(answers).len(), limits.len());
                (read::<i64>(allowed), header_pairs(headers))
            };
            let value = |headers: &[(String, String)], wanted: &str| {
                let found = headers.iter().find(|(name, _)| name == wanted);
                found.map(|(_, value)| value.clone())
            };
            for n in 0..4 {
                let (allowed, headers) = ask(&mut con, 1);
                assert_eq!(allowed, i64::from(n < 3));
                let policies = "\"token\";q=200;w=3, \"sliding\";q=3;w=8640000, \"counter\";q=50;w=3600, \
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
            // A limit that never allows the cost is the strictest, and names no time.
            let (allowed, headers) = ask(&mut con, 4);
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
            // Keys that are words of the grammar are among them.
            let odd = ["COST", "FULL", "BURST", "TOKEN", "1"];
            let name = |n: usize| odd.get(n).map_or_else(|| format!("k\0{n}"), ToString::to_string);
            let names: Vec<String> = (0..count).map(name).collect();
            let limits: Vec<_> = names.iter().map(|name| (&LEAKY, name.clone(), "1h", 5)).collect();
            let options = ["", "COST 2", "BURST 3", "COST 2 BURST 3", "burst 3 cost 0"];
            for first in 0..options.len() {
                let of_limit = |n: usize| {
                    let options = options[(first + n) % options.len()];
                    options.split_whitespace().map(str::to_owned).collect()
                };
                for form in [&[][..], &["FULL"], &["HEADERS"]] {
                    let mut ask = redis::cmd("COMMAND");
                    ask.arg("GETKEYS").arg(words(&multi_with(&limits, of_limit, form)));
                    let found: Vec<String> = read(ok(ask.query(&mut con)));
                    assert_eq!(found, names, "{first} {form:?}");
                }
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
        let arguments = words(&multi(&limits, &[]));
        let mut script = redis::cmd("EVAL");
        script.arg("return redis.call(unpack(ARGV))").arg(0).arg(&arguments);
        let [allowed, answers] = parts(ok(script.query(&mut con)));
        assert_eq!(allowed, Value::Int(1));
        assert_eq!(read::<Vec<[i64; 3]>>(answers).len(), limits.len());
        let commands = [(); 3].map(|()| multi(&limits, &[]));
        let allowed: Vec<Value> =
            exec(&mut con, &commands).into_iter().map(|reply| parts::<2>(reply)[0].clone()).collect();
        assert_eq!(allowed, [1, 0, 0].map(Value::Int));
    });
}
