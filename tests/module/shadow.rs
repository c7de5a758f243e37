//! Shadow mode: a limit that would deny allows, and everything else is as on the denial.

use crate::support::*;
use redis::{Connection, Value};

/// The two ways into shadow mode: SHADOW in the call, and `rl.shadow yes`.
const WAYS: [(&str, &[&str]); 2] = [("no", &["SHADOW"]), ("yes", &[])];

const LIMIT: i64 = 5;

/// Two keys of the same length, so that all about them is the same but the name.
const PLAIN: &str = "plain";
const SHADOW: &str = "shado";

fn set(con: &mut Connection, value: &str) {
    ok(cmd!(*con, "CONFIG", "SET", "rl.shadow", value));
}

fn request(algorithm: &Algorithm, key: &str, options: &[&str]) -> redis::Cmd {
    algorithm.request(key, LONG, LIMIT, 1).arg(options).to_owned()
}

/// The state of a key: its type, value and expiry.
fn state(con: &mut Connection, algorithm: &Algorithm, key: &str) -> (Value, Value, i64) {
    let key = algorithm.state_key(key.as_bytes(), LONG as u64 * 1_000, now_ms().cast_unsigned());
    let expires = read(ok(cmd!(*con, "PEXPIRETIME", &key)));
    let (kind, dump) = (ok(cmd!(*con, "TYPE", &key)), ok(cmd!(*con, "DUMP", &key)));
    (kind, dump, expires)
}

/// The commands that were replicated, with the name of one key for both.
fn sent(effects: &mut Effects) -> Vec<Vec<String>> {
    let rename = |word: String| word.replace(SHADOW, PLAIN);
    effects.take().into_iter().map(|command| command.into_iter().map(rename).collect()).collect()
}

/// Takes the whole limit of both keys.
fn fill(con: &mut Connection, algorithm: &Algorithm) {
    ok(cmd!(*con, "FLUSHALL"));
    for key in [PLAIN, SHADOW] {
        for _ in 0..LIMIT {
            assert_eq!(algorithm.ask(con, key, LONG, LIMIT)[0], 1);
        }
    }
}

#[test]
fn a_denied_request_is_allowed_and_the_key_is_as_on_a_denial() {
    for_each_server(|bin| {
        let server = Server::options(bin).durable().start();
        let replica = Server::options(bin).replica_of(&server).start();
        wait_for_replica(&server, &replica);
        let mut con = server.con();
        for algorithm in ALGORITHMS {
            for (setting, option) in WAYS {
                set(&mut con, "no");
                fill(&mut con, algorithm);
                let mut effects = Effects::of(&server);
                for options in [&["FULL"][..], &["FULL", "COST", "3"], &["FULL", "COST", "9"], &["FULL", "COST", "0"]] {
                    let what = format!("{algorithm:?} {options:?}, rl.shadow {setting}");
                    let denied = full(ok(request(algorithm, PLAIN, options).query(&mut con)));
                    assert_eq!([denied.allowed, denied.shadow], [0, 0], "{what}");
                    let effects_of_denial = sent(&mut effects);
                    let value_of_denial = state(&mut con, algorithm, PLAIN).1;

                    set(&mut con, setting);
                    let allowed = full(ok(request(algorithm, SHADOW, &[options, option].concat()).query(&mut con)));
                    set(&mut con, "no");
                    assert_eq!([allowed.allowed, allowed.shadow, allowed.retry_after_ms], [1, 1, 0], "{what}");
                    let figures = |full: &Full| [full.count, full.limit, full.remaining];
                    assert_eq!(figures(&allowed), figures(&denied), "{what}");
                    algorithm.assert_ttl_agrees(&allowed);
                    // What is replicated, and what is stored.
                    assert_eq!(sent(&mut effects), effects_of_denial, "{what}");
                    if algorithm.key_per_window {
                        assert_eq!(state(&mut con, algorithm, SHADOW).1, value_of_denial, "{what}");
                    }
                }
                let before = state(&mut con, algorithm, SHADOW);
                // The other forms. A denial does not change a key but FIXED's.
                set(&mut con, setting);
                let reply: [i64; 3] = read(ok(request(algorithm, SHADOW, option).query(&mut con)));
                assert_eq!(reply[0], 1, "{algorithm:?}");
                let headers = ok(request(algorithm, SHADOW, &[&["HEADERS"], option].concat()).query(&mut con));
                let (reply, headers) = with_headers(headers);
                assert_eq!(reply[0], 1, "{algorithm:?}");
                assert!(!headers.iter().any(|(name, _)| name == "Retry-After"), "{headers:?}");
                let remaining = headers.iter().find(|(name, _)| name == "X-RateLimit-Remaining");
                assert_eq!(remaining.expect("a header").1, "0");
                set(&mut con, "no");
                if algorithm.counts_denials {
                    assert_ne!(state(&mut con, algorithm, SHADOW), before, "{algorithm:?} counts denials");
                } else {
                    assert_eq!(state(&mut con, algorithm, SHADOW), before, "{algorithm:?}");
                }
                // Without shadow mode the limit denies as before.
                assert_eq!(algorithm.ask(&mut con, SHADOW, LONG, LIMIT)[0], 0);
                wait_for_replica(&server, &replica);
                assert_eq!(digest(&mut replica.con()), digest(&mut con), "{algorithm:?}");
            }
        }
    });
}

#[test]
fn a_request_that_fits_is_charged_as_ever() {
    for_each_server(|bin| {
        let server = Server::options(bin).durable().start();
        let mut con = server.con();
        for algorithm in ALGORITHMS {
            for (setting, option) in WAYS {
                set(&mut con, setting);
                ok(cmd!(con, "FLUSHALL"));
                for charged in 1..=LIMIT {
                    let reply = full(ok(request(algorithm, "k", &[&["FULL"], option].concat()).query(&mut con)));
                    assert_eq!([reply.allowed, reply.shadow, reply.remaining], [1, 0, LIMIT - charged]);
                }
                // Zero units of a limit of 0 are denied as well.
                let mut none = algorithm.request("none", LONG, 0, 1);
                let reply = full(ok(none.arg("FULL").arg(option).query(&mut con)));
                assert_eq!([reply.allowed, reply.shadow, reply.retry_after_ms], [1, 1, 0], "{algorithm:?}");
            }
        }
    });
}

#[test]
fn a_lease_of_shadow_mode_is_not_held() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for (setting, option) in WAYS {
            ok(cmd!(con, "FLUSHALL"));
            ok(cmd!(con, "RL.LEASE", "k", "1h", 1, "ID", "a"));
            let before = (ok(cmd!(con, "DUMP", "k")), expires_at(&mut con, "k"));
            set(&mut con, setting);
            let reply = full(ok(cmd!(con, "RL.LEASE", "k", "1h", 1, "ID", "b", "FULL", option)));
            assert_eq!([reply.allowed, reply.shadow, reply.retry_after_ms], [1, 1, 0]);
            set(&mut con, "no");
            assert_eq!((ok(cmd!(con, "DUMP", "k")), expires_at(&mut con, "k")), before);
            assert_eq!(ok(cmd!(con, "RL.RELEASE", "k", "b")), Value::Int(0));
        }
    });
}

#[test]
fn partial_charges_what_fits_and_allows_all_where_nothing_does() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for algorithm in ALGORITHMS {
            for (setting, option) in WAYS {
                set(&mut con, setting);
                ok(cmd!(con, "FLUSHALL"));
                let options = [&["COST", "3", "PARTIAL", "FULL"], option].concat();
                let mut ask = || full(ok(request(algorithm, "k", &options).query(&mut con)));
                let found = [ask(), ask(), ask()].map(|reply| [reply.allowed, reply.shadow, reply.remaining]);
                // Of 5: 3, the 2 that are left, and nothing, which shadow mode allows in full.
                assert_eq!(found, [[3, 0, 2], [2, 0, 0], [3, 1, 0]], "{algorithm:?}");
            }
        }
    });
}

#[test]
fn a_peek_replies_what_the_request_would() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for algorithm in ALGORITHMS {
            fill(&mut con, algorithm);
            let before = digest(&mut con);
            for (setting, option) in WAYS {
                set(&mut con, setting);
                let reply = full(ok(cmd!(con, "RL.PEEK", algorithm.word(), PLAIN, LONG, LIMIT, "FULL", option)));
                assert_eq!([reply.allowed, reply.shadow, reply.retry_after_ms], [1, 1, 0], "{algorithm:?}");
            }
            set(&mut con, "no");
            assert_eq!(digest(&mut con), before);
        }
    });
}

#[test]
fn throttle_follows_the_setting() {
    for_each_server(|bin| {
        let server = Server::options(bin).durable().start();
        let mut con = server.con();
        for command in ["RL.THROTTLE", "CL.THROTTLE"] {
            set(&mut con, "no");
            ok(cmd!(con, "FLUSHALL"));
            let ask = |con: &mut Connection, quantity: i64| -> [i64; 5] {
                read(ok(cmd!(*con, command, "k", LIMIT - 1, LIMIT, LONG, quantity)))
            };
            ask(&mut con, LIMIT);
            let before = (digest(&mut con), expires_at(&mut con, "k"));
            let mut effects = Effects::of(&server);
            for quantity in [1, 9] {
                assert_eq!(ask(&mut con, quantity)[0], 1);
                set(&mut con, "yes");
                assert_eq!(ask(&mut con, quantity)[..4], [0, LIMIT, 0, -1], "{command} of {quantity}");
                set(&mut con, "no");
            }
            assert_eq!((digest(&mut con), expires_at(&mut con, "k")), before);
            assert_eq!(effects.take(), Vec::<Vec<String>>::new());
        }
    });
}

/// `RL.MULTI` of one limit of each algorithm, with these options after the limit at `at`.
fn multi_with(at: usize, options: &[&str], form: &[&str]) -> redis::Cmd {
    let mut call = redis::cmd("RL.MULTI");
    call.arg(ALGORITHMS.len());
    for (n, algorithm) in ALGORITHMS.iter().enumerate() {
        call.arg(algorithm.word()).arg(algorithm.name).arg(LONG).arg(LIMIT);
        call.arg(if n == at { options } else { &[] });
    }
    call.arg(form).to_owned()
}

/// What is left of each limit of [`multi_with`].
fn left(con: &mut Connection) -> Vec<i64> {
    let left = |algorithm: &Algorithm| {
        let limit = LIMIT.to_string();
        let arguments = [algorithm.word(), algorithm.name, &LONG.to_string(), &limit, "COST", "0", "FULL"];
        full_of(con, "RL.PEEK", &arguments).remaining
    };
    ALGORITHMS.iter().map(left).collect()
}

#[test]
fn a_limit_in_shadow_mode_never_prevents_the_others_from_being_charged() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        for mut con in [server.con(), server.con3()] {
            for (at, algorithm) in ALGORITHMS.iter().enumerate() {
                ok(cmd!(con, "FLUSHALL"));
                assert_eq!(algorithm.ask_for(&mut con, algorithm.name, LONG, LIMIT, LIMIT)[0], 1);
                let mut expected = vec![LIMIT; ALGORITHMS.len()];
                expected[at] = 0;
                for form in [&["FULL"][..], &["HEADERS"], &[]] {
                    // Without it, none is charged.
                    let Value::Array(reply) = ok(multi_with(at, &[], form).query(&mut con)) else { panic!("no array") };
                    assert_eq!(reply[0], Value::Int(0));
                    assert_eq!(left(&mut con), expected, "{algorithm:?}");

                    let before = state(&mut con, algorithm, algorithm.name);
                    let call = multi_with(at, &["SHADOW"], form);
                    let Value::Array(reply) = ok(call.query(&mut con)) else { panic!("no array") };
                    assert_eq!(reply[0], Value::Int(1), "{algorithm:?}");
                    for (n, left) in expected.iter_mut().enumerate() {
                        *left -= i64::from(n != at);
                    }
                    assert_eq!(left(&mut con), expected, "{algorithm:?}");
                    // FIXED counts the denial, as it does alone.
                    assert_eq!(state(&mut con, algorithm, algorithm.name) == before, !algorithm.counts_denials);
                    if form == ["FULL"] {
                        let replies: Vec<Full> = read::<Vec<Value>>(reply[1].clone()).into_iter().map(full).collect();
                        for (n, reply) in replies.iter().enumerate() {
                            let shadowed = i64::from(n == at);
                            assert_eq!([reply.allowed, reply.shadow, reply.retry_after_ms], [1, shadowed, 0]);
                        }
                    }
                }
                // Another limit denies, and no key changes.
                let other = ALGORITHMS.len() - 1 - at;
                if other != at {
                    let other = ALGORITHMS[other];
                    other.ask_for(&mut con, other.name, LONG, LIMIT, LIMIT - 3);
                    while other.ask(&mut con, other.name, LONG, LIMIT)[0] == 1 {}
                    let before = digest(&mut con);
                    let Value::Array(reply) = ok(multi_with(at, &["SHADOW"], &[]).query(&mut con)) else { panic!() };
                    assert_eq!(reply[0], Value::Int(0));
                    assert_eq!(digest(&mut con), before, "{algorithm:?}");
                }
            }
            // All of them in shadow mode.
            ok(cmd!(con, "FLUSHALL"));
            for _ in 0..LIMIT {
                ok(multi_with(0, &[], &[]).query(&mut con));
            }
            set(&mut con, "yes");
            let (allowed, replies): (i64, Vec<Value>) = read(ok(multi_with(0, &[], &["FULL"]).query(&mut con)));
            set(&mut con, "no");
            assert_eq!(allowed, 1);
            assert!(replies.into_iter().map(full).all(|reply| [reply.allowed, reply.shadow] == [1, 1]));
            assert_eq!(left(&mut con), vec![0; ALGORITHMS.len()]);
        }
    });
}

/// FIXED counts denials, which takes memory for a new key. There is none: that denial is not counted, and the limits
/// that need no memory are charged.
#[test]
fn at_maxmemory_a_limit_in_shadow_mode_does_not_decide_on_the_others() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        ok(cmd!(con, "RL.TOKEN", "old", LONG, LIMIT));
        ok(cmd!(con, "CONFIG", "SET", "maxmemory", 1));
        for (n, on_oom) in (2..).zip(["error", "allow", "deny"]) {
            ok(cmd!(con, "CONFIG", "SET", "rl.on-oom", on_oom));
            let call = ["2", "FIXED", "new", "1h", "0", "SHADOW", "TOKEN", "old", &LONG.to_string(), "5"];
            let (allowed, replies): (i64, [[i64; 3]; 2]) = read(ok(cmd!(con, "RL.MULTI", &call)));
            assert_eq!((allowed, replies.map(|reply| reply[0])), (1, [1, 1]), "{on_oom}");
            let arguments = ["TOKEN", "old", &LONG.to_string(), "5", "COST", "0", "FULL"];
            assert_eq!(full_of(&mut con, "RL.PEEK", &arguments).remaining, LIMIT - n, "{on_oom}");
            assert_eq!(ok(cmd!(con, "DBSIZE")), Value::Int(1), "{on_oom}");
        }
    });
}

/// A limit that is tried on real traffic has a new key for each user. Without memory it is not counted, and neither denies
/// nor lets the limits beside it go uncharged.
#[test]
fn at_maxmemory_a_limit_in_shadow_mode_denies_nothing() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let long = LONG.to_string();
        for (mode, options) in WAYS {
            for on_oom in ["error", "allow", "deny"] {
                ok(cmd!(con, "CONFIG", "SET", "maxmemory", 0, "rl.on-oom", on_oom, "rl.shadow", "no"));
                ok(cmd!(con, "FLUSHALL"));
                ok(cmd!(con, "RL.TOKEN", "old", LONG, 1_000));
                ok(cmd!(con, "CONFIG", "SET", "maxmemory", 1, "rl.shadow", mode));
                for (n, word) in (2..).zip(algorithm_words()) {
                    let id: &[&str] = if word == LEASE { &["ID", "a"] } else { &[] };
                    let new = [&["new", &long, "5"], id, options].concat();
                    let alone: [i64; 3] = read(ok(redis::cmd(&format!("RL.{word}")).arg(&new).query(&mut con)));
                    assert_eq!(alone[0], 1, "{word} {mode} {on_oom}");
                    let call = [&["2", word], &new[..], &["TOKEN", "old", &long, "1000"]].concat();
                    let (allowed, replies): (i64, [[i64; 3]; 2]) = read(ok(cmd!(con, "RL.MULTI", &call)));
                    assert_eq!((allowed, replies.map(|reply| reply[0])), (1, [1, 1]), "{word} {mode} {on_oom}");
                    let arguments = ["TOKEN", "old", &long, "1000", "COST", "0", "FULL"];
                    assert_eq!(full_of(&mut con, "RL.PEEK", &arguments).remaining, 1_000 - n, "{word} {mode} {on_oom}");
                    assert_eq!(ok(cmd!(con, "DBSIZE")), Value::Int(1), "{word} {mode} {on_oom}");
                }
            }
        }
    });
}

#[test]
fn where_shadow_is_not_taken() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for algorithm in ALGORITHMS {
            let word = algorithm.word();
            let twice = cmd!(con, algorithm.command, "k", 60, 5, "SHADOW", "shadow");
            assert_eq!(err(twice), "ERR syntax error: SHADOW comes at most once");
            let refund = cmd!(con, "RL.REFUND", word, "k", 60, 5, "SHADOW");
            assert_eq!(err(refund), "ERR invalid SHADOW: only RL.<ALGO>, RL.PEEK and RL.MULTI take it");
            let settle = cmd!(con, "RL.SETTLE", word, "k", 60, 5, "RESERVED", 1, "ACTUAL", 1, "SHADOW");
            assert_eq!(err(settle), "ERR invalid SHADOW: only RL.<ALGO>, RL.PEEK and RL.MULTI take it");
            err(cmd!(con, "RL.RESET", word, "k", 60, "SHADOW"));
            // After the form no option of a limit follows.
            err(cmd!(con, "RL.MULTI", 1, word, "k", 60, 5, "FULL", "SHADOW"));
        }
        assert_eq!(ok(cmd!(con, "DBSIZE")), Value::Int(0));
    });
}
