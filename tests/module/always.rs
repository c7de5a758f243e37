//! ALWAYS charges the cost whatever the limit says, and remembers what goes beyond it. Each test runs over every
//! algorithm that takes it.

use crate::support::*;
use redis::{Connection, Value};

const LIMIT: i64 = 5;

/// The algorithms that take ALWAYS, as COMMAND DOCS says.
fn with_always(con: &mut Connection) -> Vec<&'static Algorithm> {
    let grammar = Grammar::of(con);
    let all: Vec<_> =
        ALGORITHMS.iter().filter(|algorithm| grammar.takes("RL.<ALGO>", algorithm.word(), "ALWAYS")).collect();
    assert_eq!(
        all.iter().map(|one| one.word()).collect::<Vec<_>>(),
        ["FIXED", "WINDOW", "COUNTER", "TOKEN", "ROLLING"]
    );
    all
}

/// `key <window that does not end> 5 <options>`
fn send(con: &mut Connection, command: &str, key: &str, options: &str) -> Reply {
    let mut words = command.split(' ');
    let mut call = redis::cmd(words.next().expect("a name"));
    call.arg(words.collect::<Vec<_>>()).arg(key).arg(LONG).arg(LIMIT);
    call.arg(options.split_whitespace().collect::<Vec<_>>()).query(con)
}

#[track_caller]
fn ask(con: &mut Connection, algorithm: &Algorithm, options: &str) -> Full {
    full(ok(send(con, algorithm.command, "k", &format!("{options} FULL"))))
}

/// What is counted in the state as it is.
#[track_caller]
fn counted(con: &mut Connection, algorithm: &Algorithm) -> i64 {
    let look = full(ok(send(con, &format!("RL.PEEK {}", algorithm.word()), "k", "COST 0 FULL")));
    look.count
}

#[test]
fn it_charges_whatever_the_limit_says_and_is_allowed_up_to_the_limit() {
    for_each_server(|bin| {
        let (_clock, server) = FrozenClock::server(bin);
        let mut con = server.con();
        for algorithm in with_always(&mut con) {
            ok(cmd!(con, "FLUSHALL"));
            let mut before = 0;
            for cost in [1, 3, 0, 1, 0, 1, 0, 2, 40, 0] {
                let what = format!("{algorithm:?}: {before} counted, COST {cost}");
                let peeked = full(ok(send(
                    &mut con,
                    &format!("RL.PEEK {}", algorithm.word()),
                    "k",
                    &format!("COST {cost} ALWAYS FULL"),
                )));
                assert_eq!(counted(&mut con, algorithm), before, "a look charged: {what}");
                let reply = ask(&mut con, algorithm, &format!("COST {cost} ALWAYS"));
                let after = before + cost;
                assert_eq!(reply.allowed, i64::from(after <= LIMIT), "{what}: {reply:?}");
                assert_eq!(reply.count, algorithm.count(before, cost), "{what}: {reply:?}");
                assert_eq!((reply.limit, reply.remaining), (LIMIT, (LIMIT - after).max(0)), "{what}");
                assert_eq!((reply.charged, reply.shadow, reply.delay_ms), (cost, 0, 0), "{what}");
                assert_eq!(peeked, Full { charged: 0, ..reply }, "{what}");
                assert_eq!(counted(&mut con, algorithm), after, "{what}");
                algorithm.assert_ttl_agrees(&reply);
                // The times are those of a plain request of this cost in the state as it is then. (Without a cost, the
                // wait is for the limit, see below.)
                if reply.allowed == 1 {
                    assert_eq!(reply.retry_after_ms, 0, "{what}");
                } else if cost > 0 {
                    let look = format!("COST {cost} FULL");
                    let plain = full(ok(send(&mut con, &format!("RL.PEEK {}", algorithm.word()), "k", &look)));
                    let times = |full: &Full| [full.retry_after_ms, full.next_ms, full.reset_ms];
                    assert_eq!(times(&reply), times(&plain), "{what}");
                    assert_eq!(reply.retry_after_ms == -1, cost > LIMIT, "{what}");
                }
                before = after;
            }
            // A plain request is denied until what is above the limit has come back, and RL.REFUND gives it back.
            assert_eq!(algorithm.ask(&mut con, "k", LONG, LIMIT)[0], 0, "{algorithm:?}");
            let given_back = if algorithm.name == FIXED.name { LIMIT } else { before - LIMIT + 1 };
            ok(send(&mut con, &format!("RL.REFUND {}", algorithm.word()), "k", &format!("COST {given_back}")));
            assert_eq!(algorithm.ask(&mut con, "k", LONG, LIMIT)[0], 1, "{algorithm:?}");
        }
    });
}

/// The key, its expiry, what is replicated and which events are fired.
#[test]
fn it_stores_what_a_settlement_would() {
    for_each_server(|bin| {
        let (clock, server) = FrozenClock::server(bin);
        let mut con = server.con();
        let (mut effects, mut events) = (Effects::of(&server), Events::listen(&server));
        for algorithm in with_always(&mut con) {
            for charged in [0, 2, LIMIT, 9] {
                let mut outcomes = Vec::new();
                for way in ["ALWAYS", "RL.SETTLE"] {
                    ok(cmd!(con, "FLUSHALL"));
                    if charged > 0 {
                        ask(&mut con, algorithm, &format!("COST {charged} ALWAYS"));
                    }
                    effects.take();
                    events.take();
                    match way {
                        "ALWAYS" => ok(send(&mut con, algorithm.command, "k", "COST 4 ALWAYS")),
                        _ => ok(send(&mut con, &format!("RL.SETTLE {}", algorithm.word()), "k", "RESERVED 0 ACTUAL 4")),
                    };
                    let key = only_key(&mut con);
                    let value = ok(cmd!(con, "GET", &key));
                    outcomes.push((value, expires_at(&mut con, &key), effects.take(), events.take()));
                }
                assert_eq!(outcomes[0], outcomes[1], "{algorithm:?}, {charged} charged");
                assert!(outcomes[0].1 > clock.now_ms(), "{algorithm:?}");
            }
        }
    });
}

#[test]
fn a_cost_of_0_looks() {
    for_each_server(|bin| {
        let server = Server::options(bin).durable().start();
        let mut con = server.con();
        let mut effects = Effects::of(&server);
        for algorithm in with_always(&mut con) {
            for charged in 0..=LIMIT + 1 {
                ok(cmd!(con, "FLUSHALL"));
                if charged > 0 {
                    ask(&mut con, algorithm, &format!("COST {charged} ALWAYS"));
                }
                let before = digest(&mut con);
                effects.take();
                let reply = ask(&mut con, algorithm, "COST 0 ALWAYS");
                // Without ALWAYS, a unit must be left.
                let plain = ask(&mut con, algorithm, "COST 0");
                assert_eq!([reply.allowed, plain.allowed], [charged <= LIMIT, charged < LIMIT].map(i64::from));
                assert_eq!((reply.count, reply.charged), (charged, 0), "{algorithm:?}");
                assert_eq!((digest(&mut con), effects.take()), (before, vec![]), "{algorithm:?}");
            }
            // Under a limit of 0, everything is denied. TOKEN then has no rate at which a debt would drain, so it
            // remembers none.
            for cost in [0, 1] {
                let reply = full(ok(cmd!(con, algorithm.command, "none", LONG, 0, "COST", cost, "ALWAYS", "FULL")));
                let charged = if algorithm.name == TOKEN.name { 0 } else { cost };
                let found = (reply.allowed, reply.retry_after_ms, reply.charged);
                assert_eq!(found, (0, -1, charged), "{algorithm:?}");
            }
        }
    });
}

/// A look that is denied waits until no more than the limit is counted, to the millisecond.
#[test]
fn a_denied_look_is_allowed_when_the_reply_says() {
    for_each_server(|bin| {
        let (mut clock, server) = FrozenClock::server(bin);
        let mut con = server.con();
        for algorithm in with_always(&mut con) {
            for cost in [6, 9, 40] {
                ok(cmd!(con, "FLUSHALL"));
                ok(cmd!(con, algorithm.command, "k", 60, LIMIT, "COST", cost, "ALWAYS"));
                let look = |con: &mut Connection| {
                    full_of(con, "RL.PEEK", &[algorithm.word(), "k", "60", "5", "COST", "0", "ALWAYS", "FULL"])
                };
                let denied = look(&mut con);
                assert!(denied.allowed == 0 && denied.retry_after_ms > 0, "{algorithm:?}: {denied:?}");
                clock.step(&mut con, denied.retry_after_ms - 1);
                let early = look(&mut con);
                // FIXED and COUNTER have windows of the clock; the others start now. All are exact but for what
                // now_ms leaves out.
                assert_eq!((early.allowed, early.retry_after_ms), (0, 1), "{algorithm:?} {cost}: {denied:?}");
                clock.step(&mut con, 1);
                assert_eq!(look(&mut con).allowed, 1, "{algorithm:?} {cost}: {denied:?}");
            }
        }
    });
}

/// FULL, LINE, HEADERS and the three integers say the same.
#[test]
fn every_form_of_the_reply_says_the_same() {
    for_each_server(|bin| {
        let (_clock, server) = FrozenClock::server(bin);
        for mut con in [server.con(), server.con3()] {
            for algorithm in with_always(&mut con) {
                for cost in [3, 7] {
                    let mut replies = ["", "FULL", "LINE", "HEADERS"].map(|form| {
                        ok(cmd!(con, "FLUSHALL"));
                        ok(send(&mut con, algorithm.command, "k", &format!("COST {cost} ALWAYS {form}")))
                    });
                    replies.rotate_left(1);
                    let [full_reply, line_reply, headers, triple] = replies;
                    let full = full(full_reply);
                    assert_eq!(full.allowed, i64::from(cost <= LIMIT));
                    assert_eq!(line(line_reply), full);
                    assert_eq!(read::<[i64; 3]>(triple), full.triple());
                    let (three, headers) = with_headers(headers);
                    assert_eq!(three, full.triple());
                    let value = |name| headers.iter().find(|(one, _)| one == name).map(|(_, value)| value.as_str());
                    assert_eq!(value("X-RateLimit-Remaining"), Some(full.remaining.to_string().as_str()));
                    // A cost above the limit never fits, so nothing says when to try again.
                    assert_eq!(value("Retry-After"), None, "{algorithm:?}");
                }
            }
        }
    });
}

#[test]
fn it_excludes_partial_and_is_for_no_limit_of_rl_multi() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for algorithm in with_always(&mut con) {
            for (command, options) in [
                (algorithm.command.to_owned(), "ALWAYS PARTIAL"),
                (algorithm.command.to_owned(), "PARTIAL COST 2 ALWAYS"),
                (format!("RL.PEEK {}", algorithm.word()), "ALWAYS PARTIAL"),
            ] {
                let text = err(send(&mut con, &command, "k", options));
                assert!(text.contains("PARTIAL") && text.contains("ALWAYS"), "{command} {options}: {text}");
            }
            let text = err(send(&mut con, &format!("RL.MULTI 1 {}", algorithm.word()), "k", "ALWAYS"));
            assert_eq!(text, "ERR limit 1: invalid ALWAYS: only RL.<ALGO> and RL.PEEK take it");
        }
        assert_eq!(keys(&mut con), [""; 0]);
    });
}

#[test]
fn info_and_rl_top_count_it_as_a_decision() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for algorithm in with_always(&mut con) {
            ok(cmd!(con, "FLUSHALL"));
            ok(cmd!(con, "RL.TOP", "RESET"));
            let figures = |con: &mut Connection| {
                ["allowed", "near", "denied", "shadow_denied", "errors"].map(|outcome| {
                    info(con, &format!("rl_{}_{outcome}", algorithm.name)).parse::<i64>().expect("a figure")
                })
            };
            let before = figures(&mut con);
            // 4 of 5 are 80 %.
            for (cost, options) in [(4, ""), (0, ""), (1, ""), (1, ""), (0, ""), (3, "SHADOW"), (i64::MAX, "")] {
                let _ = send(&mut con, algorithm.command, "k", &format!("COST {cost} ALWAYS {options}"));
            }
            let after = figures(&mut con);
            let counted: Vec<i64> = after.iter().zip(before).map(|(after, before)| after - before).collect();
            assert_eq!(counted, [2, 1, 2, 1, 1], "{algorithm:?}");
            let top = format!("{:?}", ok(cmd!(con, "RL.TOP")));
            let denials = format!("{:?}, {:?}, {:?}", bytes("denied"), Value::Int(3), bytes("error"));
            assert!(top.contains(&denials), "{algorithm:?}: {top}");
        }
    });
}

/// The limit denies, shadow mode allows, and the key changes as it does on the denial.
#[test]
fn in_shadow_mode_it_charges_too() {
    for_each_server(|bin| {
        let (_clock, server) = FrozenClock::server(bin);
        let mut con = server.con();
        for algorithm in with_always(&mut con) {
            let mut outcomes = Vec::new();
            for options in ["", " SHADOW"] {
                ok(cmd!(con, "FLUSHALL"));
                ask(&mut con, algorithm, "COST 4 ALWAYS");
                let reply = ask(&mut con, algorithm, &format!("COST 3 ALWAYS{options}"));
                let shadow = i64::from(!options.is_empty());
                assert_eq!([reply.allowed, reply.shadow], [shadow; 2], "{algorithm:?}");
                // It is counted, so a settlement can correct it.
                assert_eq!((reply.charged, reply.remaining), (3, 0), "{algorithm:?}");
                let key = only_key(&mut con);
                outcomes.push((ok(cmd!(con, "GET", &key)), expires_at(&mut con, &key), reply.count));
            }
            assert_eq!(outcomes[0], outcomes[1], "{algorithm:?}");
        }
    });
}

#[test]
fn at_maxmemory_what_needs_memory_is_decided_by_the_setting() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for algorithm in with_always(&mut con) {
            for on_oom in ["allow", "deny", "error"] {
                ok(cmd!(con, "CONFIG", "SET", "maxmemory", 0));
                ok(cmd!(con, "CONFIG", "SET", "rl.on-oom", on_oom));
                ok(cmd!(con, "FLUSHALL"));
                ask(&mut con, algorithm, "COST 4 ALWAYS");
                ok(cmd!(con, "CONFIG", "SET", "maxmemory", 1));
                // A key that exists is charged. ROLLING may need another entry; in this window it does not.
                let reply = ask(&mut con, algorithm, "COST 4 ALWAYS");
                assert_eq!((reply.allowed, reply.charged), (0, 4), "{algorithm:?} {on_oom}");
                assert_eq!(counted(&mut con, algorithm), 8, "{algorithm:?} {on_oom}");
                // A new key needs memory, and nothing is charged.
                for cost in [2, 7] {
                    let reply = send(&mut con, algorithm.command, "new", &format!("COST {cost} ALWAYS FULL"));
                    if on_oom == "error" {
                        assert!(err(reply).starts_with("OOM "), "{algorithm:?}");
                        continue;
                    }
                    let reply = full(ok(reply));
                    let allowed = on_oom == "allow" && cost <= LIMIT;
                    assert_eq!(reply.allowed, i64::from(allowed), "{algorithm:?} {on_oom} {cost}");
                    assert_eq!((reply.count, reply.charged, reply.remaining), (0, 0, LIMIT), "{algorithm:?}");
                }
                assert_eq!(keys(&mut con).len(), 1, "{algorithm:?} {on_oom}");
            }
            ok(cmd!(con, "CONFIG", "SET", "maxmemory", 0));
        }
    });
}

#[test]
fn more_than_the_largest_integer_is_an_error_that_changes_nothing() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for algorithm in with_always(&mut con) {
            ok(cmd!(con, "FLUSHALL"));
            ask(&mut con, algorithm, "COST 2 ALWAYS");
            let before = digest(&mut con);
            for command in [algorithm.command.to_owned(), format!("RL.PEEK {}", algorithm.word())] {
                for cost in [i64::MAX - 1, i64::MAX] {
                    assert_eq!(err(send(&mut con, &command, "k", &format!("COST {cost} ALWAYS"))), OVERFLOW);
                }
            }
            assert_eq!(digest(&mut con), before, "{algorithm:?}");
            // At the largest integer, the denial that FIXED counts next would overflow, so it stops one before.
            let largest = if algorithm.name == FIXED.name { i64::MAX - 1 } else { i64::MAX };
            let most = format!("COST {} ALWAYS FULL", largest - 2);
            let reply = send(&mut con, algorithm.command, "k", &most);
            let reply = full(reply.unwrap_or_else(|error| panic!("{algorithm:?}: {error}")));
            assert_eq!((reply.allowed, reply.charged, reply.remaining), (0, largest - 2, 0), "{algorithm:?}");
            assert_eq!(err(send(&mut con, algorithm.command, "k", "ALWAYS")), OVERFLOW, "{algorithm:?}");
            assert_eq!(counted(&mut con, algorithm), largest, "{algorithm:?}");
        }
    });
}
