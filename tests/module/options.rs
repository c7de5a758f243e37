//! The options of each limit in RL.MULTI: whom they belong to, where the keys behind them are found, and what an error
//! names. (Names are in tests/module/policy_names.rs, PARTIAL in tests/module/partial.rs, ANCHOR in tests/module/calendar.rs.)

use crate::support::*;
use redis::{Connection, Value};

/// Whether RL.MULTI allows, and the FULL reply of each limit.
#[track_caller]
fn multi_full(con: &mut Connection, limits: &[String]) -> (i64, Vec<Full>) {
    let command = call(&format!("RL.MULTI {} {} FULL", limits.len(), limits.join(" ")));
    let (allowed, replies): (i64, Vec<Value>) = read(ok(command.query(con)));
    (allowed, replies.into_iter().map(full).collect())
}

#[track_caller]
fn peek(con: &mut Connection, limit: &str) -> Full {
    full(ok(call(&format!("RL.PEEK {limit} COST 0 FULL")).query(con)))
}

/// Options for one limit of the algorithm, in any order, and what they say: the cost and the capacity.
fn random_options(random: &mut Random, algorithm: &Algorithm, limit: i64) -> (String, i64, i64) {
    let (mut cost, mut capacity) = (1, limit);
    let mut options = Vec::new();
    if random.below(2) == 0 {
        cost = random.below(6) as i64;
        options.push(format!("COST {cost}"));
    }
    if algorithm.takes_burst && random.below(2) == 0 {
        capacity = 1 + random.below(9) as i64;
        options.push(format!("burst {capacity}"));
    }
    if algorithm.name == FIXED.name && random.below(3) == 0 {
        options.push("Anchor 0".to_owned());
    }
    if random.below(3) == 0 {
        options.push(format!("AS {}", random.pick(&["a", "TOKEN", "COST", "FULL", "64", "a.b_c-D"])));
    }
    let turn = random.below(4) as usize % options.len().max(1);
    options.rotate_left(turn);
    (options.iter().map(|option| format!(" {option}")).collect(), cost, capacity)
}

#[test]
fn the_example_of_the_reference() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let limits = "RL.MULTI 2 TOKEN {u}:rpm 1m 60 BURST 10 AS requests COUNTER {u}:tpm 1m 90000 COST 3500 AS tokens";
        for mut con in [server.con(), server.con3()] {
            ok(cmd!(con, "FLUSHALL"));
            let (allowed, replies): (i64, [Value; 2]) = read(ok(call(&format!("{limits} FULL")).query(&mut con)));
            let [requests, tokens] = replies.map(full);
            assert_eq!(allowed, 1);
            assert_eq!([requests.limit, requests.remaining], [10, 9]);
            assert_eq!([tokens.limit, tokens.remaining], [90_000, 86_500]);
            let (allowed, triples, headers): (i64, Vec<[i64; 3]>, Value) =
                read(ok(call(&format!("{limits} HEADERS")).query(&mut con)));
            assert_eq!((allowed, triples.len()), (1, 2));
            let headers = header_pairs(headers);
            let policies = "\"requests\";q=60;w=60, \"tokens\";q=90000;w=60";
            assert!(headers.contains(&("RateLimit-Policy".to_owned(), policies.to_owned())), "{headers:?}");
        }
    });
}

/// Each limit replies and is charged as it would be alone with the same options.
#[test]
fn options_belong_to_the_limit_they_follow() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        for mut random in randoms() {
            for mut con in [server.con(), server.con3()] {
                let (mut all_allowed, mut one_denied) = (0, 0);
                for _ in 0..60 {
                    ok(cmd!(con, "FLUSHALL"));
                    let count = 1 + random.below(6);
                    let (mut alone, mut together, mut costs) = (Vec::new(), Vec::new(), Vec::new());
                    for n in 0..count {
                        let algorithm = random.pick(ALGORITHMS);
                        let limit = 3 + random.below(6) as i64;
                        let (options, cost, capacity) = random_options(&mut random, &algorithm, limit);
                        let of = |at: &str| format!("{} {at}:{n} {LONG} {limit}{options}", algorithm.word());
                        alone.push(of("alone"));
                        together.push(of("together"));
                        costs.push((cost, capacity));
                    }
                    for _ in 0..3 {
                        let single: Vec<Full> = alone
                            .iter()
                            .map(|limit| full(ok(call(&format!("RL.{limit} FULL")).query(&mut con))))
                            .collect();
                        let data = digest(&mut con);
                        let (allowed, replies) = multi_full(&mut con, &together);
                        for ((one, alone), (limit, (_, capacity))) in
                            replies.iter().zip(&single).zip(together.iter().zip(&costs))
                        {
                            let figures = |full: &Full| [full.allowed, full.count, full.limit, full.remaining];
                            assert_eq!(figures(one), figures(alone), "{limit} in {together:?}");
                            assert_eq!(one.limit, *capacity, "{limit}");
                        }
                        let every = single.iter().all(|reply| reply.allowed == 1);
                        assert_eq!(allowed, i64::from(every), "{together:?}");
                        if !every {
                            one_denied += 1;
                            assert_eq!(digest(&mut con), data, "a denied call charged something: {together:?}");
                            break;
                        }
                        all_allowed += 1;
                    }
                }
                assert!(all_allowed > 20 && one_denied > 20, "{all_allowed} allowed and {one_denied} denied");
            }
        }
    });
}

#[test]
fn a_cost_after_the_last_limit_belongs_to_that_limit_alone() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for first in ALGORITHMS {
            for last in ALGORITHMS {
                ok(cmd!(con, "FLUSHALL"));
                let limits = [format!("{} a {LONG} 10", first.word()), format!("{} b {LONG} 10 COST 4", last.word())];
                let (allowed, replies) = multi_full(&mut con, &limits);
                let remaining: Vec<i64> = replies.iter().map(|reply| reply.remaining).collect();
                assert_eq!((allowed, remaining), (1, vec![9, 6]), "{limits:?}");
                assert_eq!(peek(&mut con, &format!("{} a {LONG} 10", first.word())).remaining, 9, "{limits:?}");
                assert_eq!(peek(&mut con, &format!("{} b {LONG} 10", last.word())).remaining, 6, "{limits:?}");
            }
        }
    });
}

/// COST 0 asks whether one unit is left. It neither charges its own limit nor keeps the others from being charged.
#[test]
fn a_limit_with_cost_0_beside_one_that_is_charged() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for free in ALGORITHMS {
            for charged in ALGORITHMS {
                ok(cmd!(con, "FLUSHALL"));
                let [free, charged] = [free, charged].map(Algorithm::word);
                let limits = [format!("{free} a {LONG} 3 COST 0"), format!("{charged} b {LONG} 5 COST 2")];
                let (allowed, replies) = multi_full(&mut con, &limits);
                let figures: Vec<_> = replies.iter().map(|reply| (reply.allowed, reply.remaining)).collect();
                assert_eq!((allowed, figures), (1, vec![(1, 3), (1, 3)]), "{limits:?}");
                assert_eq!(keys(&mut con).len(), 1, "COST 0 made a key: {limits:?}");

                // With nothing left it denies the whole call.
                ok(call(&format!("RL.{free} a {LONG} 3 COST 3")).query(&mut con));
                let data = digest(&mut con);
                let (allowed, replies) = multi_full(&mut con, &limits);
                let figures: Vec<_> = replies.iter().map(|reply| reply.allowed).collect();
                assert_eq!((allowed, figures), (0, vec![0, 1]), "{limits:?}");
                assert_eq!(digest(&mut con), data, "{limits:?}");
                assert_eq!(peek(&mut con, &format!("{charged} b {LONG} 5")).remaining, 3, "{limits:?}");
            }
        }
    });
}

#[test]
fn full_or_headers_comes_last() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let of_form = "ERR syntax error: FULL, LINE or HEADERS comes last";
        let in_the_middle = "ERR limit 2: syntax error: FULL, LINE or HEADERS comes last";
        for form in ["FULL", "HEADERS", "LINE", "full", "Headers"] {
            for (words, expected) in [
                (format!("1 TOKEN a 60 5 {form} COST 2"), of_form),
                (format!("1 TOKEN a 60 5 {form} {form}"), "ERR syntax error: FULL, LINE or HEADERS comes at most once"),
                (format!("1 TOKEN a 60 5 {form} x"), of_form),
                (format!("2 TOKEN a 60 5 COUNTER b 60 5 {form} COST 2"), of_form),
                (format!("2 TOKEN a 60 5 {form} COUNTER b 60 5"), in_the_middle),
                (format!("2 TOKEN a 60 5 COST 1 {form} COUNTER b 60 5"), in_the_middle),
                (format!("1 TOKEN a 60 5 COST {form}"), "ERR limit 1: invalid COST"),
                (format!("1 TOKEN a 60 5 BURST 2 COST {form}"), "ERR limit 1: invalid COST"),
                (format!("{form} TOKEN a 60 5"), "ERR invalid numlimits"),
            ] {
                let text = err(call(&format!("RL.MULTI {words}")).query(&mut con));
                assert!(text.starts_with(expected), "{words}: {text}");
            }
            // As the value of another option it is that value.
            ok(call(&format!("RL.MULTI 1 TOKEN {form} 60 5 AS {form} {form}")).query(&mut con));
        }
        for both in ["FULL HEADERS", "HEADERS FULL", "FULL LINE", "LINE HEADERS"] {
            let text = err(call(&format!("RL.MULTI 1 TOKEN a 60 5 {both}")).query(&mut con));
            assert_eq!(text, "ERR syntax error: FULL, LINE and HEADERS exclude each other");
        }
        assert_eq!(keys(&mut con), ["FULL", "HEADERS", "Headers", "LINE", "full"]);
    });
}

/// Options that a limit of the algorithm does not take, and the start of the error. What it takes is what RL.<ALGO>
/// does.
fn wrong_options(grammar: &Grammar, algorithm: &Algorithm) -> Vec<(String, String)> {
    let word = algorithm.word();
    let takes = |option| grammar.takes("RL.<ALGO>", word, option);
    let mut wrong: Vec<(String, String)> = Vec::new();
    let mut add = |options: &str, error: &str| wrong.push((options.to_owned(), error.to_owned()));
    for value in ["", " -1", " x", " 01", " +1", " 1.5", " 9223372036854775808", " COST"] {
        add(&format!("COST{value}"), "invalid COST: expected");
        if takes("BURST") {
            add(&format!("BURST{value}"), "invalid BURST: expected");
        }
        add(&format!("AT{value}"), "invalid AT: ");
        add(&format!("RESERVED{value}"), "invalid RESERVED: ");
        add(&format!("ACTUAL{value}"), "invalid ACTUAL: ");
    }
    if takes("ANCHOR") {
        for value in ["", " -1", " x", " 01", " 253402300800", " 1767225600000", " month"] {
            add(&format!("ANCHOR{value}"), "invalid ANCHOR: expected");
        }
    }
    for value in ["", " a\"b", " a;b", " \u{e9}", &format!(" {}", "n".repeat(65))] {
        add(&format!("AS{value}"), "invalid AS: expected");
    }
    if takes("BURST") {
        add("BURST 0", "invalid BURST: expected");
    } else {
        add("BURST 3", &format!("invalid BURST: {word} takes none"));
        add("COST 2 BURST 3", &format!("invalid BURST: {word} takes none"));
    }
    if !takes("ANCHOR") {
        add("ANCHOR 0", &format!("invalid ANCHOR: {word} takes none"));
        add("AS x ANCHOR 5", &format!("invalid ANCHOR: {word} takes none"));
    }
    add("COST 1 COST 1", "syntax error: COST n comes at most once");
    add("AS a COST 2 AS a", "syntax error: AS name comes at most once");
    if takes("BURST") {
        add("BURST 1 COST 1 BURST 1", "syntax error: BURST n comes at most once");
    }
    if takes("ANCHOR") {
        add("ANCHOR 1 ANCHOR 1", "syntax error: ANCHOR t comes at most once");
    }
    wrong
}

/// A wrong window or limit, and the start of the error.
fn wrong_limits(algorithm: &Algorithm) -> Vec<(String, String)> {
    let word = algorithm.word();
    let mut wrong = vec![
        (format!("{word} k 0 5"), "invalid window: expected".to_owned()),
        (format!("{word} k months 5"), "invalid window: expected".to_owned()),
        (format!("{word} k 60 -1"), "invalid limit: expected".to_owned()),
        (format!("{word} k 60 x COST 1"), "invalid limit: expected".to_owned()),
        (format!("{word}S k 60 5"), "invalid algorithm: expected one of".to_owned()),
    ];
    if algorithm.name != FIXED.name {
        for unit in ["day", "week", "MONTH", "Year"] {
            let error = format!("invalid window: {word} takes no windows of the calendar");
            wrong.push((format!("{word} k {unit} 5"), error));
        }
    }
    wrong
}

#[test]
fn every_error_names_the_limit_and_the_option() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let good = |n: usize| format!("GCRA good:{n} 60 5 BURST 2 COST 1 AS good");
        let grammar = Grammar::of(&mut con);
        for algorithm in ALGORITHMS {
            let word = algorithm.word();
            // The options of other commands.
            let of_others =
                grammar.options().into_iter().filter(|(option, _)| grammar.taken_by_none("RL.MULTI", option));
            let of_others = of_others.flat_map(|(option, has_value)| {
                let error = format!("invalid {option}: {}", grammar.only(&option));
                let option = if has_value { format!("{option} 5") } else { option };
                [format!("COST 2 {option} AS a"), option].map(|options| (options, error.clone()))
            });
            let options = wrong_options(&grammar, algorithm).into_iter().chain(of_others);
            let with_options = options.map(|(options, error)| (format!("{word} k 60 5 {options}"), error));
            for (wrong, error) in with_options.chain(wrong_limits(algorithm)) {
                for at in 1..=3 {
                    let limits: Vec<String> = (1..=3).map(|n| if n == at { wrong.clone() } else { good(n) }).collect();
                    let text = err(call(&format!("RL.MULTI 3 {}", limits.join(" "))).query(&mut con));
                    // A name that is missing is the next word, where there is one.
                    if wrong.ends_with(" AS") && at < 3 {
                        assert!(text.starts_with("ERR limit "), "{wrong} at {at}: {text}");
                        continue;
                    }
                    assert!(text.starts_with(&format!("ERR limit {at}: {error}")), "{wrong} at {at}: {text}");
                }
            }
        }
        // The last word of the last limit's options is none.
        for (words, expected) in [
            ("2 TOKEN a 60 5 FIXED b 60 5 NOW", "ERR limit 2: syntax error: "),
            ("2 TOKEN a 60 5 NOW FIXED b 60 5", "ERR limit 2: invalid algorithm: "),
            ("2 TOKEN a 60 5", "ERR limit 2: invalid numlimits: "),
            ("2 TOKEN a 60 5 COST 2", "ERR limit 2: invalid numlimits: "),
            ("2 TOKEN a 60 5 FIXED b 60", "ERR limit 2: syntax error: expected the word of an algorithm, "),
            ("1 TOKEN a 60 5 FIXED b 60 5", "ERR invalid numlimits: more limits follow"),
            ("3 TOKEN a 60 5 FIXED b 60 5 TOKEN a 60 7", "ERR limit 3: invalid key: "),
        ] {
            let text = err(call(&format!("RL.MULTI {words}")).query(&mut con));
            assert!(text.starts_with(expected), "{words}: {text}");
        }
        assert_eq!(keys(&mut con), [""; 0], "an error charged something");
    });
}

#[test]
fn an_error_of_a_single_limit_names_the_option() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let grammar = Grammar::of(&mut con);
        for algorithm in ALGORITHMS {
            let word = algorithm.word();
            let commands = [
                ("RL.<ALGO>", format!("RL.{word} k 60 5")),
                ("RL.PEEK", format!("RL.PEEK {word} k 60 5")),
                ("RL.REFUND", format!("RL.REFUND {word} k 60 5")),
                ("RL.SETTLE", format!("RL.SETTLE {word} k 60 5 RESERVED 1 ACTUAL 2")),
                ("RL.RESET", format!("RL.RESET {word} k 60")),
            ];
            for (taker, command) in commands {
                let not_taken = |option: &str| grammar.taken_by_none(taker, option);
                for (options, error) in wrong_options(&grammar, algorithm) {
                    // A value that the command would have to look at twice.
                    let settles = ["RESERVED", "ACTUAL"].iter().any(|option| options.contains(option));
                    if command.starts_with("RL.SETTLE") && settles {
                        continue;
                    }
                    let text = err(call(&format!("{command} {options}")).query(&mut con));
                    let other = options.split(' ').any(not_taken);
                    let expected = if other { "ERR " } else { &format!("ERR {error}") };
                    assert!(text.starts_with(expected), "{command} {options}: {text}");
                }
                for (option, has_value) in grammar.options().into_iter().filter(|(option, _)| not_taken(option)) {
                    let value = if has_value { " 1" } else { "" };
                    let text = err(call(&format!("{command} {option}{value}")).query(&mut con));
                    assert_eq!(text, format!("ERR invalid {option}: {}", grammar.only(&option)), "{command}");
                }
                let text = err(call(&format!("{command} NOW")).query(&mut con));
                assert!(text.starts_with("ERR syntax error: "), "{command} NOW: {text}");
            }
        }
        assert_eq!(keys(&mut con), [""; 0], "an error charged something");
    });
}

/// Keys that look like something else.
const CONFUSING: &[&str] = &["COST", "FULL", "TOKEN", "AS", "1", "ANCHOR", "k", "FIXED", "64", "BURST"];

/// What COMMAND says of the keys of a call.
fn keys_of(con: &mut Connection, subcommand: &str, words: &str) -> Reply {
    redis::cmd("COMMAND").arg(subcommand).arg(words.split(' ').collect::<Vec<_>>()).query(con)
}

#[test]
fn command_getkeys_finds_the_keys_behind_every_mix_of_options() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        for mut random in randoms() {
            for mut con in [server.con(), server.con3()] {
                for _ in 0..50 {
                    let count = if random.below(20) == 0 { 64 } else { 1 + random.below(5) };
                    let (mut words, mut expected) = (format!("RL.MULTI {count}"), Vec::new());
                    for _ in 0..count {
                        let algorithm = random.pick(ALGORITHMS);
                        let key = random.pick(CONFUSING);
                        let (options, ..) = random_options(&mut random, &algorithm, 5);
                        words.push_str(&format!(" {} {key} {LONG} 5{options}", algorithm.word()));
                        expected.push(key.to_owned());
                    }
                    words.push_str(random.pick(&["", " FULL", " headers"]));
                    let found: Vec<String> = read(ok(keys_of(&mut con, "GETKEYS", &words)));
                    assert_eq!(found, expected, "{words}");
                    let flagged: Vec<(String, Vec<String>)> = read(ok(keys_of(&mut con, "GETKEYSANDFLAGS", &words)));
                    for ((key, mut flags), expected) in flagged.into_iter().zip(&expected) {
                        flags.sort();
                        assert_eq!((&key, flags), (expected, vec!["RW".into(), "access".into(), "update".into()]));
                    }
                }
            }
        }
    });
}

/// Every key that a call names before its first mistake is found. What comes after it is never looked at.
#[test]
fn command_getkeys_of_a_malformed_call() {
    for_each_server(|bin| {
        let mut server = Server::start(bin);
        let mut con = server.con();
        for (words, expected) in [
            ("1 TOKEN a 60 5 COST x", &["a"][..]),
            ("2 TOKEN a 60 5 COST x TOKEN b 60 5", &["a"]),
            ("2 TOKEN a 60 5 COST 1 COST 1 TOKEN b 60 5", &["a"]),
            ("2 TOKEN a 60 5 COST 1 TOKEN b 60", &["a", "b"]),
            ("2 TOKEN a 60 5 COST 1 TOKEN b", &["a", "b"]),
            ("2 TOKEN a 60 5 COST 1 TOKEN", &["a"]),
            ("2 TOKEN a 60 5 COST 1", &["a"]),
            ("3 TOKEN a 60 5 FIXED b 60 5 AS x", &["a", "b"]),
            ("2 TOKEN a 60 5 FULL TOKEN b 60 5", &["a", "TOKEN"]),
            ("2 TOKEN a 60 5 PARTIAL TOKEN b 60 5", &["a"]),
            ("2 TOKEN a 60 5 NOSUCH b 60 5", &["a", "b"]),
            ("1 NOSUCH a 60 5", &["a"]),
            ("1 SLIDING a 60 5 BURST 2", &["a"]),
            ("2 TOKEN a 60 5 TOKEN b 60 5 TOKEN c 60 5", &["a", "b"]),
            ("2 TOKEN a 60 5 TOKEN b 60 5 FULL HEADERS", &["a", "b"]),
            ("2 TOKEN a month 5 TOKEN b 60 5", &["a"]),
            ("2 TOKEN a 60 5 TOKEN a 60 5", &["a", "a"]),
        ] {
            let words = format!("RL.MULTI {words}");
            let found: Vec<String> = read(ok(keys_of(&mut con, "GETKEYS", &words)));
            assert_eq!(found, expected, "{words}");
            let flagged: Vec<(String, Vec<String>)> = read(ok(keys_of(&mut con, "GETKEYSANDFLAGS", &words)));
            let found: Vec<String> = flagged.into_iter().map(|(key, _)| key).collect();
            assert_eq!(found, expected, "{words}");
            assert!(err(call(&words).query(&mut con)).starts_with("ERR "), "{words}");
        }
        // Without a valid number there are no limits.
        for count in ["0", "65", "x", "-1", "01", "99999999999999999999"] {
            for subcommand in ["GETKEYS", "GETKEYSANDFLAGS"] {
                let text = err(keys_of(&mut con, subcommand, &format!("RL.MULTI {count} TOKEN a 60 5")));
                assert!(text.starts_with("ERR "), "{count}: {text}");
            }
            let text = err(call(&format!("RL.MULTI {count} TOKEN a 60 5")).query(&mut con));
            assert!(text.starts_with("ERR invalid numlimits"), "{count}: {text}");
        }
        assert_eq!(keys(&mut con), [""; 0]);
        assert!(server.is_running());
    });
}

#[test]
fn a_user_needs_permission_for_every_key_of_rl_multi() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut admin = server.con();
        let mut con = server.con();
        ok(cmd!(admin, "ACL", "SETUSER", "limited", "on", ">secret", "resetkeys", "~mine*", "+@all"));
        ok(cmd!(con, "AUTH", "limited", "secret"));
        for mut random in randoms() {
            ok(cmd!(admin, "FLUSHALL"));
            for round in 0..30 {
                let count = 2 + random.below(4);
                let foreign = random.below(count);
                let limits: Vec<String> = (0..count)
                    .map(|n| {
                        let algorithm = random.pick(ALGORITHMS);
                        let (options, ..) = random_options(&mut random, &algorithm, 5);
                        let key = if n == foreign { "theirs" } else { "mine" };
                        format!("{} {key}:r{round}:{n} {LONG} 5{options}", algorithm.word())
                    })
                    .collect();
                let words = format!("RL.MULTI {count} {}", limits.join(" "));
                let text = err(call(&words).query(&mut con));
                assert!(text.starts_with("NOPERM "), "{words}: {text}");
                let all = keys(&mut admin);
                assert!(!all.iter().any(|key| key.contains(&format!(":r{round}:"))), "{words} charged {all:?}");
                let tried: String = read(ok(redis::cmd("ACL")
                    .arg("DRYRUN")
                    .arg("limited")
                    .arg(words.split(' ').collect::<Vec<_>>())
                    .query(&mut admin)));
                assert!(tried.contains("theirs"), "{words}: {tried}");
                ok(call(&words.replace("theirs:", "mine:")).query(&mut con));
            }
        }
        // A mistake in the options of the first limit hides the second key, and is the reply.
        let text = err(call("RL.MULTI 2 TOKEN mine 60 5 COST x TOKEN theirs 60 5").query(&mut con));
        assert!(text.starts_with("ERR limit 1: invalid COST"), "{text}");
        assert!(!keys(&mut admin).contains(&"theirs".to_owned()));
    });
}

#[test]
fn a_cluster_sees_the_keys_behind_options() {
    for_each_server(|bin| {
        let cluster = Cluster::start(bin, 1, |options| options);
        let mut con = cluster.nodes[0].con();
        for mut random in randoms() {
            for _ in 0..20 {
                ok(cmd!(con, "FLUSHALL"));
                let count = 2 + random.below(4);
                let apart = random.below(count);
                let mut fits = true;
                let limits: Vec<String> = (0..count)
                    .map(|n| {
                        let algorithm = random.pick(ALGORITHMS);
                        let (options, cost, capacity) = random_options(&mut random, &algorithm, 5);
                        fits &= cost <= capacity;
                        let tag = if n == apart { "{b}" } else { "{a}" };
                        format!("{} {tag}:{n} {LONG} 5{options}", algorithm.word())
                    })
                    .collect();
                let words = format!("RL.MULTI {count} {}", limits.join(" "));
                let text = err(call(&words).query(&mut con));
                assert!(text.starts_with("CROSSSLOT "), "{words}: {text}");
                assert_eq!(keys(&mut con), [""; 0], "{words}");
                let together = words.replace("{b}", "{a}");
                let (allowed, replies): (i64, Value) = read(ok(call(&together).query(&mut con)));
                assert!(matches!(replies, Value::Array(each) if each.len() == count as usize));
                assert_eq!(allowed, i64::from(fits), "{together}");
            }
        }
        let text = err(call("RL.MULTI 2 TOKEN {a} 60 5 COST x TOKEN {b} 60 5").query(&mut con));
        assert!(text.starts_with("ERR limit 1: invalid COST"), "{text}");
    });
}
