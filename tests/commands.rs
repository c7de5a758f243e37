//! What a client sees of the commands: every figure of every reply, and what is documented of them.

mod support;

use std::thread;
use std::time::Duration;

use redis::{Connection, Value};
use support::*;

/// A window whose end no test sees: aligned as FIXED's are, this one ends in 2033.
const LONG: i64 = 1_000_000_000;

const FIGURES: [&str; 10] =
    ["allowed", "count", "ttl", "limit", "remaining", "retry_after_ms", "next_ms", "reset_ms", "delay_ms", "now_ms"];

/// The figures of a FULL reply, which must be all of them, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Full {
    allowed: i64,
    count: i64,
    ttl: i64,
    limit: i64,
    remaining: i64,
    retry_after_ms: i64,
    next_ms: i64,
    reset_ms: i64,
    delay_ms: i64,
    now_ms: i64,
}

#[track_caller]
fn full(reply: Reply) -> Full {
    let flat: Vec<Value> = match ok(reply) {
        Value::Array(flat) => flat,
        Value::Map(pairs) => pairs.into_iter().flat_map(|(name, figure)| [name, figure]).collect(),
        other => panic!("neither array nor map: {other:?}"),
    };
    let names: Vec<&Value> = flat.iter().step_by(2).collect();
    assert_eq!(names, FIGURES.map(bytes).iter().collect::<Vec<_>>());
    let figures: Vec<i64> = flat.iter().skip(1).step_by(2).map(integer).collect();
    let &[allowed, count, ttl, limit, remaining, retry_after_ms, next_ms, reset_ms, delay_ms, now_ms] =
        figures.as_slice()
    else {
        panic!("{figures:?}");
    };
    Full { allowed, count, ttl, limit, remaining, retry_after_ms, next_ms, reset_ms, delay_ms, now_ms }
}

#[track_caller]
fn integer(value: &Value) -> i64 {
    match value {
        Value::Int(n) => *n,
        other => panic!("no integer: {other:?}"),
    }
}

fn now_ms(con: &mut Connection) -> i64 {
    let (seconds, micros): (i64, i64) = redis::cmd("TIME").query(con).expect("TIME");
    seconds * 1_000 + micros / 1_000
}

/// For each algorithm on each server, and on both protocols: a key of its own is the test's business.
fn for_each_algorithm(test: impl Fn(&Algorithm, &mut Connection) + Sync) {
    for_each_server(|bin| {
        let mut server = Server::start(bin);
        for algorithm in ALGORITHMS {
            for mut con in [server.con(), server.con3()] {
                ok(cmd!(con, "FLUSHALL"));
                test(algorithm, &mut con);
            }
        }
        assert!(server.is_running());
    });
}

/// When the `n`-th unit that was admitted, counted from 0, no longer counts; in ms. For a window of LONG.
fn freed_at(algorithm: &Algorithm, con: &mut Connection, key: &str, n: i64) -> i64 {
    match algorithm.name {
        "fixed" => 2 * LONG * 1_000,
        "sliding" => {
            let cmd = redis::cmd("ZRANGE").arg(key).arg(n).arg(n).arg("WITHSCORES").to_owned();
            let mut member: Vec<(String, i64)> = match cmd.query(con) {
                Ok(pairs) => pairs,
                // RESP3 has scores for floats, in pairs.
                Err(_) => cmd
                    .query::<Vec<(String, f64)>>(con)
                    .expect("ZRANGE")
                    .into_iter()
                    .map(|(m, s)| (m, s as i64))
                    .collect(),
            };
            member.pop().expect("a member").1 + LONG * 1_000
        }
        other => panic!("when does {other} free a unit?"),
    }
}

#[test]
fn the_triple() {
    for_each_algorithm(|algorithm, con| {
        let mut before = 0;
        for n in 0..5 {
            let allowed = n < 3;
            let added = i64::from(allowed || algorithm.counts_denials);
            let reply = ok(cmd!(*con, algorithm.command, "k", LONG, 3));
            assert_eq!(
                reply,
                ints(&[i64::from(allowed), (algorithm.count)(before, added), LONG]),
                "{}",
                algorithm.name
            );
            before += added;
        }
        // The arguments say what is allowed now.
        let reply = ok(cmd!(*con, algorithm.command, "k", LONG, 100));
        assert_eq!(reply, ints(&[1, (algorithm.count)(before, 1), LONG]), "{}", algorithm.name);
    });
}

#[test]
fn full_is_a_map_or_its_pairs() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        for algorithm in ALGORITHMS {
            let flat = ok(cmd!(server.con(), algorithm.command, "k", 60, 3, "FULL"));
            assert!(matches!(flat, Value::Array(flat) if flat.len() == 20));
            let map = ok(cmd!(server.con3(), algorithm.command, "k", 60, 3, "full"));
            assert!(matches!(map, Value::Map(pairs) if pairs.len() == 10));
        }
    });
}

#[test]
fn every_figure_of_full() {
    for_each_algorithm(|algorithm, con| {
        let mut before = 0;
        for n in 0..5 {
            thread::sleep(Duration::from_millis(2));
            let allowed = n < 3;
            let added = i64::from(allowed || algorithm.counts_denials);
            let start = now_ms(con);
            let found = full(cmd!(*con, algorithm.command, "k", LONG, 3, "FULL"));
            assert!((start..=now_ms(con)).contains(&found.now_ms));
            let next_ms = freed_at(algorithm, con, "k", 0) - found.now_ms;
            let reset_ms = freed_at(algorithm, con, "k", i64::min(n, 2)) - found.now_ms;
            let expected = Full {
                allowed: i64::from(allowed),
                count: (algorithm.count)(before, added),
                ttl: LONG,
                limit: 3,
                remaining: i64::max(2 - n, 0),
                retry_after_ms: if allowed { 0 } else { next_ms },
                next_ms,
                reset_ms,
                delay_ms: 0,
                now_ms: found.now_ms,
            };
            assert_eq!(found, expected, "{}, request {n}", algorithm.name);
            before += added;
        }
    });
}

/// Of ten, four are taken, and a little later four more: what is refused then has to wait for its share of them.
#[test]
fn figures_of_a_cost() {
    for_each_algorithm(|algorithm, con| {
        let name = algorithm.name;
        let count = algorithm.count;
        let ask = |con: &mut Connection, cost: i64| {
            thread::sleep(Duration::from_millis(2));
            full(cmd!(*con, algorithm.command, "k", LONG, 10, "COST", cost, "FULL"))
        };
        for before in [0, 4] {
            let reply = ask(con, 4);
            assert_eq!((reply.allowed, reply.count), (1, count(before, 4)), "{name}");
            assert_eq!((reply.remaining, reply.retry_after_ms), (6 - before, 0), "{name}");
        }
        for (cost, last_to_leave) in [(3, 0), (6, 3), (7, 4), (10, 7)] {
            let reply = ask(con, cost);
            assert_eq!((reply.allowed, reply.count, reply.remaining), (0, count(8, 0), 2), "{name}, COST {cost}");
            let [retry, next, reset] = [last_to_leave, 0, 7].map(|n| freed_at(algorithm, con, "k", n) - reply.now_ms);
            let found = (reply.retry_after_ms, reply.next_ms, reply.reset_ms);
            assert_eq!(found, (retry, next, reset), "{name}, COST {cost}");
        }
        let reply = ask(con, 2);
        assert_eq!((reply.allowed, reply.count, reply.remaining), (1, count(8, 2), 0), "{name}");
    });
}

#[test]
fn a_limit_of_0_denies_everything_for_ever() {
    for_each_algorithm(|algorithm, con| {
        for n in 0..2 {
            let before = if algorithm.counts_denials { n } else { 0 };
            let found = full(cmd!(*con, algorithm.command, "k", LONG, 0, "FULL"));
            let expected = Full {
                allowed: 0,
                count: (algorithm.count)(before, i64::from(algorithm.counts_denials)),
                ttl: LONG,
                limit: 0,
                remaining: 0,
                retry_after_ms: -1,
                next_ms: 0,
                reset_ms: 0,
                delay_ms: 0,
                now_ms: found.now_ms,
            };
            assert_eq!(found, expected, "{}", algorithm.name);
        }
        assert_eq!(ok(cmd!(*con, "DBSIZE")), Value::Int(algorithm.counts_denials.into()));
    });
}

#[test]
fn a_cost_above_the_limit_never_passes() {
    for_each_algorithm(|algorithm, con| {
        for cost in ["4", "9223372036854775807"] {
            let found = full(cmd!(*con, algorithm.command, "k", LONG, 3, "COST", cost, "FULL"));
            let figures = (found.allowed, found.count, found.limit, found.remaining);
            assert_eq!(figures, (0, 0, 3, 3), "{}", algorithm.name);
            assert_eq!((found.retry_after_ms, found.next_ms, found.reset_ms), (-1, 0, 0), "{}", algorithm.name);
        }
        assert_eq!(ok(cmd!(*con, "DBSIZE")), Value::Int(0), "{}", algorithm.name);
        ok(cmd!(*con, algorithm.command, "k", LONG, 3, "COST", 2));
        let found = full(cmd!(*con, algorithm.command, "k", LONG, 3, "COST", 4, "FULL"));
        assert_eq!((found.allowed, found.remaining, found.retry_after_ms), (0, 1, -1), "{}", algorithm.name);
        let next_ms = freed_at(algorithm, con, "k", 0) - found.now_ms;
        assert_eq!((found.next_ms, found.reset_ms), (next_ms, next_ms), "{}", algorithm.name);
    });
}

#[test]
fn headers_are_ready_to_copy() {
    for_each_algorithm(|algorithm, con| {
        let (name, mut before) = (algorithm.name, 0);
        for n in 0..4 {
            let allowed = n < 3;
            let added = i64::from(allowed || algorithm.counts_denials);
            let start = now_ms(con);
            let reply = ok(cmd!(*con, algorithm.command, "k", LONG, 3, "HEADERS"));
            let end = now_ms(con);
            // Seconds may begin anew while the command is under way.
            let seconds_until = |at: i64| [start, end].map(|now| (at - now + 999) / 1_000);
            let reset = (freed_at(algorithm, con, "k", i64::min(n, 2)) + 999) / 1_000;
            let expected = seconds_until(freed_at(algorithm, con, "k", 0)).map(|seconds| {
                let mut headers = vec![
                    ("X-RateLimit-Limit", "3".to_owned()),
                    ("X-RateLimit-Remaining", i64::max(2 - n, 0).to_string()),
                    ("X-RateLimit-Reset", reset.to_string()),
                    ("RateLimit-Policy", format!("\"{name}\";q=3;w=1000000000")),
                    ("RateLimit", format!("\"{name}\";r={};t={seconds}", i64::max(2 - n, 0))),
                ];
                if !allowed {
                    headers.push(("Retry-After", seconds.to_string()));
                }
                answer_with_headers([i64::from(allowed), (algorithm.count)(before, added), LONG], &headers)
            });
            assert!(expected.contains(&reply), "{name}: {reply:?}\ninstead of {:?}", expected[0]);
            before += added;
        }
    });
}

fn answer_with_headers(figures: [i64; 3], headers: &[(&str, String)]) -> Value {
    let headers = headers.iter().flat_map(|(name, value)| [bytes(name), bytes(value)]);
    let mut answer = figures.map(Value::Int).to_vec();
    answer.push(Value::Array(headers.collect()));
    Value::Array(answer)
}

/// Denied for ever: no time to come back is named.
#[test]
fn headers_of_what_never_passes() {
    for_each_algorithm(|algorithm, con| {
        for (limit, cost) in [(0, 1), (3, 4)] {
            let start = now_ms(con);
            let Value::Array(parts) = ok(cmd!(*con, algorithm.command, "k", "1500ms", limit, "COST", cost, "HEADERS"))
            else {
                panic!("no array");
            };
            let end = now_ms(con);
            assert_eq!(parts[0], Value::Int(0));
            let reset = [start, end].map(|now| (now + 999) / 1_000);
            let headers = reset.map(|reset| {
                let headers = [
                    ("X-RateLimit-Limit", limit.to_string()),
                    ("X-RateLimit-Remaining", limit.to_string()),
                    ("X-RateLimit-Reset", reset.to_string()),
                    ("RateLimit-Policy", format!("\"{}\";q={limit};w=2", algorithm.name)),
                    ("RateLimit", format!("\"{}\";r={limit};t=0", algorithm.name)),
                ];
                Value::Array(headers.iter().flat_map(|(name, value)| [bytes(name), bytes(value)]).collect())
            });
            assert!(headers.contains(&parts[3]), "{}: {:?}", algorithm.name, parts[3]);
            ok(cmd!(*con, "FLUSHALL"));
        }
    });
}

#[test]
fn windows_have_units() {
    const WINDOWS: [(&str, u64, i64); 10] = [
        ("1ms", 1, 1),
        ("500ms", 500, 1),
        ("1", 1_000, 1),
        ("10", 10_000, 10),
        ("10s", 10_000, 10),
        ("5m", 300_000, 300),
        ("1h", 3_600_000, 3_600),
        ("1d", 86_400_000, 86_400),
        ("2500ms", 2_500, 3),
        ("1000000000000", 1_000_000_000_000_000, 1_000_000_000_000),
    ];
    for_each_algorithm(|algorithm, con| {
        for (window, millis, seconds) in WINDOWS {
            let what = format!("{} {window}", algorithm.name);
            let mut transaction = redis::pipe();
            transaction.atomic();
            transaction.cmd(algorithm.command).arg("k").arg(window).arg(5).arg("FULL");
            transaction.cmd("KEYS").arg("*");
            let replies = ok(transaction.query(con));
            let Value::Array(mut replies) = replies else { panic!("{replies:?}") };
            let (keys, reply) = (replies.pop().expect("keys"), full(Ok(replies.pop().expect("a reply"))));
            assert_eq!((reply.allowed, reply.limit, reply.remaining), (1, 5, 4), "{what}");
            let rounded = if millis > 1 { seconds } else { reply.ttl };
            assert_eq!(reply.ttl, rounded, "{what}");
            let now = reply.now_ms.cast_unsigned();
            let state = (algorithm.state_key)(b"k", millis, now);
            if millis >= 500 {
                assert_eq!(keys, Value::Array(vec![bytes(&state)]), "{what}");
                assert_eq!(ok(cmd!(*con, "TYPE", &state)), Value::SimpleString(algorithm.state_type.into()), "{what}");
                let expires_at = integer(&ok(cmd!(*con, "PEXPIRETIME", &state)));
                assert_eq!(expires_at.cast_unsigned(), now + (algorithm.expires_after)(millis), "{what}");
            }
            ok(cmd!(*con, "FLUSHALL"));
        }
    });
}

/// Kept over the wire, for every cost: denied before `retry_after_ms` is over, allowed from then on.
#[test]
fn retry_after_is_exact() {
    for_each_algorithm(|algorithm, con| {
        for (cost, window) in [(1, "300ms"), (3, "1"), (5, "250ms")] {
            for _ in 0..5 {
                ok(cmd!(*con, algorithm.command, "k", window, 5));
            }
            let ask = |con: &mut Connection| full(cmd!(*con, algorithm.command, "k", window, 5, "COST", cost, "FULL"));
            let mut denied = ask(con);
            while denied.allowed == 1 {
                // A window ended meanwhile.
                denied = ask(con);
            }
            assert!(denied.retry_after_ms > 0);
            let opens = denied.now_ms + denied.retry_after_ms;
            // Most of it in one piece, to meet the last milliseconds awake.
            thread::sleep(Duration::from_millis((denied.retry_after_ms.cast_unsigned()).saturating_sub(20)));
            loop {
                let reply = ask(con);
                let what = format!("{} COST {cost}: {reply:?} after {denied:?}", algorithm.name);
                assert_eq!(reply.allowed == 1, reply.now_ms >= opens, "{what}");
                if reply.allowed == 1 {
                    break;
                }
                assert_eq!(reply.now_ms + reply.retry_after_ms, opens, "{what}");
            }
            ok(cmd!(*con, "FLUSHALL"));
        }
    });
}

#[test]
fn a_client_that_waits_as_told_passes() {
    for_each_algorithm(|algorithm, con| {
        let mut waited = 0;
        for _ in 0..20 {
            let reply = full(cmd!(*con, algorithm.command, "k", "100ms", 2, "FULL"));
            if reply.allowed == 0 {
                waited += 1;
                thread::sleep(Duration::from_millis(reply.retry_after_ms.cast_unsigned()));
                assert_eq!(
                    full(cmd!(*con, algorithm.command, "k", "100ms", 2, "FULL")).allowed,
                    1,
                    "{}",
                    algorithm.name
                );
            }
        }
        assert!(waited > 2, "{}: denied {waited} times", algorithm.name);
    });
}

#[test]
fn options_come_in_any_order_and_case() {
    for_each_algorithm(|algorithm, con| {
        for options in [["COST", "2", "FULL"], ["FULL", "COST", "2"], ["full", "Cost", "2"]] {
            let mut cmd = redis::cmd(&algorithm.command.to_lowercase());
            let reply = full(cmd.arg("k").arg(LONG).arg(5).arg(&options).query(con));
            assert_eq!((reply.allowed, reply.remaining), (1, 3), "{options:?}");
            ok(cmd!(*con, "FLUSHALL"));
        }
    });
}

#[test]
fn the_largest_arguments() {
    const MOST: i64 = i64::MAX;
    for_each_algorithm(|algorithm, con| {
        let found = full(cmd!(*con, algorithm.command, "k", "1000000000000", MOST, "FULL"));
        assert_eq!((found.allowed, found.limit, found.remaining), (1, MOST, MOST - 1), "{}", algorithm.name);
        let found = full(cmd!(*con, algorithm.command, "k", "1000000000000", 2, "COST", MOST, "FULL"));
        assert_eq!((found.allowed, found.retry_after_ms), (0, -1), "{}", algorithm.name);
    });
}

/// The same inside EVAL and MULTI as from a client.
#[test]
fn the_forms_inside_scripts_and_transactions() {
    for_each_algorithm(|algorithm, con| {
        let script = "return redis.call(KEYS[2], KEYS[1], ARGV[1], 3, unpack(ARGV, 2))";
        let eval = |con: &mut Connection, form: &[&str]| {
            let mut cmd = redis::cmd("EVAL");
            cmd.arg(script).arg(2).arg("k").arg(algorithm.command).arg(LONG).arg(form).query::<Value>(con)
        };
        assert_eq!(ok(eval(con, &[])), ints(&[1, (algorithm.count)(0, 1), LONG]));
        // Scripts speak RESP2 unless they ask.
        let reply = full(eval(con, &["FULL"]));
        assert_eq!((reply.allowed, reply.remaining), (1, 1), "{}", algorithm.name);
        let mut transaction = redis::pipe();
        transaction.atomic();
        for form in [&["FULL"][..], &["FULL"], &[]] {
            transaction.cmd(algorithm.command).arg("k").arg(LONG).arg(3).arg(form);
        }
        let Value::Array(mut replies) = ok(transaction.query(con)) else { panic!("no array") };
        let after = i64::from(algorithm.counts_denials);
        assert_eq!(replies.pop(), Some(ints(&[0, (algorithm.count)(3 + after, after), LONG])), "{}", algorithm.name);
        let denied = full(Ok(replies.pop().expect("a reply")));
        let allowed = full(Ok(replies.pop().expect("a reply")));
        assert_eq!((allowed.allowed, denied.allowed), (1, 0), "{}", algorithm.name);
    });
}
