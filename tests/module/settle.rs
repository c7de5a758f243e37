//! RL.SETTLE corrects what a request was charged to what it turned out to cost. What was charged too much is refunded.
//! What was charged too little is charged whatever the limit says, and is remembered.

use std::collections::HashSet;
use std::thread;
use std::time::Duration;

use crate::support::*;
use redis::{Cmd, Connection, Value};

/// 100 days in milliseconds. It does not end while a test runs.
const HUNDRED_DAYS: i64 = 8_640_000_000;
const NOTHING: [Vec<String>; 0] = [];
const OOM: &str = "OOM command not allowed when used memory > 'maxmemory'.";

/// The algorithms that store debt, and the start of their records.
const WITH_DEBT: [(Algorithm, &str); 2] = [(TOKEN, "T:"), (LEAKY, "L:")];

/// `<command> <ALGO> <key> 100d 5`
fn on(command: &str, algorithm: &Algorithm, key: &str) -> Cmd {
    redis::cmd(command).arg(algorithm.word()).arg(&[key, "100d", "5"]).to_owned()
}

/// `RL.SETTLE <ALGO> <key> 100d 5 RESERVED <n> ACTUAL <m>`
fn settle(algorithm: &Algorithm, key: &str, reserved: i64, actual: i64) -> Cmd {
    on("RL.SETTLE", algorithm, key).arg("RESERVED").arg(reserved).arg("ACTUAL").arg(actual).to_owned()
}

fn is(algorithm: &Algorithm, other: &Algorithm) -> bool {
    algorithm.command == other.command
}

fn rolling() -> &'static Algorithm {
    ALGORITHMS.iter().find(|algorithm| algorithm.word() == "ROLLING").expect("a row of the table")
}

/// The key of the state of `key` under a window of 100 days.
fn state(algorithm: &Algorithm, key: &str) -> String {
    let state = algorithm.state_key(key.as_bytes(), HUNDRED_DAYS.unsigned_abs(), now_ms().unsigned_abs());
    String::from_utf8(state).expect("UTF-8")
}

fn get(con: &mut Connection, key: &str) -> String {
    read(ok(cmd!(*con, "GET", key)))
}

/// The units that are left. `remaining` is what a request would leave of them.
fn left(reply: Value) -> i64 {
    let reply = full(reply);
    reply.remaining + reply.allowed
}

/// The commands of some effects, without those that enclose a transaction.
fn names(effects: &[Vec<String>]) -> Vec<&str> {
    effects.iter().map(|effect| effect[0].as_str()).filter(|name| !["MULTI", "EXEC"].contains(name)).collect()
}

/// Waits until the clock of the server says `millis` or more.
fn wait_until(con: &mut Connection, millis: i64) {
    loop {
        let left = millis - server_ms(con);
        if left <= 0 {
            return;
        }
        thread::sleep(Duration::from_millis(left.unsigned_abs()));
    }
}

// What it replies.

#[test]
fn a_settlement_replies_as_a_peek_afterwards() {
    for_each_server(|bin| {
        let clock_stands = bin.caches_time();
        let server = Server::start(bin);
        for mut con in [server.con(), server.con3()] {
            for algorithm in ALGORITHMS {
                let bursts: &[&[&str]] = if algorithm.takes_burst { &[&[], &["BURST", "8"]] } else { &[&[]] };
                for options in bursts {
                    ok(cmd!(con, "FLUSHALL"));
                    for (reserved, actual) in [(0, 2), (2, 2), (2, 9), (3, 0), (9, 1), (0, 40), (40, 0), (7, 8)] {
                        for form in [&[][..], &["FULL"], &["HEADERS"]] {
                            let settle = settle(algorithm, "k", reserved, actual).arg(*options).arg(form).to_owned();
                            let peek = on("RL.PEEK", algorithm, "k").arg(*options).arg(form).to_owned();
                            let replies = exec(&mut con, &[settle, peek]);
                            let what = format!("{algorithm:?} {options:?} {reserved} {actual} {form:?}");
                            if clock_stands && form == ["FULL"] {
                                let [settled, peeked] = [0, 1].map(|n| full(replies[n].clone()));
                                assert_eq!((settled.charged, peeked.charged), (actual, 0), "{what}");
                                assert_eq!(Full { charged: 0, ..settled }, peeked, "{what}");
                            } else if clock_stands {
                                assert_eq!(replies[0], replies[1], "{what}");
                            } else if form.is_empty() {
                                let [settled, peeked]: [[i64; 3]; 2] = read(Value::Array(replies));
                                assert_eq!(settled[..2], peeked[..2], "{what}");
                            } else if form == ["FULL"] {
                                let [settled, peeked] = [0, 1].map(|n| full(replies[n].clone()));
                                assert_eq!(settled.remaining, peeked.remaining, "{what}");
                                assert!((0..50).contains(&(peeked.now_ms - settled.now_ms)), "{what}");
                                assert!((0..50).contains(&(settled.reset_ms - peeked.reset_ms)), "{what}");
                            } else {
                                assert_eq!(
                                    with_headers(replies[0].clone()).1.len(),
                                    with_headers(replies[1].clone()).1.len()
                                );
                            }
                        }
                    }
                }
            }
        }
    });
}

/// Whatever came before: what is settled at less is refunded, and what is settled at more is counted.
#[test]
fn it_charges_beyond_the_limit_and_gives_back_as_a_refund_does() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for algorithm in ALGORITHMS {
            ok(cmd!(con, "FLUSHALL"));
            let settle = |con: &mut Connection, reserved, actual| {
                left(ok(settle(algorithm, "k", reserved, actual).arg("FULL").query(con)))
            };
            assert_eq!(algorithm.ask_for(&mut con, "k", "100d", 5, 3)[0], 1, "{algorithm:?}");
            assert_eq!(settle(&mut con, 3, 4), 1, "{algorithm:?}");
            assert_eq!(settle(&mut con, 4, 2), 3, "{algorithm:?}");
            assert_eq!(settle(&mut con, 2, 7), 0, "{algorithm:?}");
            assert_eq!(algorithm.ask(&mut con, "k", "100d", 5)[0], 0, "{algorithm:?}");
            // GCRA has forgotten what was beyond the limit. FIXED gives back from min(counter, limit).
            let forgets = is(algorithm, &GCRA) || is(algorithm, &FIXED);
            assert_eq!(settle(&mut con, 7, 2), if forgets { 5 } else { 3 }, "{algorithm:?}");
        }
        // The same state, with RL.REFUND and with RL.SETTLE.
        for algorithm in ALGORITHMS {
            for (counted, back) in [(4, 1), (4, 3), (4, 9), (9, 2), (9, 20)] {
                ok(cmd!(con, "FLUSHALL"));
                let commands: Vec<Cmd> = ["a", "b"]
                    .into_iter()
                    .flat_map(|key| [settle(algorithm, key, 0, counted), on("RL.PEEK", algorithm, key)])
                    .collect();
                exec(&mut con, &commands);
                ok(on("RL.REFUND", algorithm, "a").arg("COST").arg(back).query(&mut con));
                ok(settle(algorithm, "b", back + 2, 2).query(&mut con));
                let left = ["a", "b"].map(|key| full(ok(on("RL.PEEK", algorithm, key).arg("FULL").query(&mut con))));
                assert_eq!(left[0].remaining, left[1].remaining, "{algorithm:?} {counted} {back}");
                assert_eq!(left[0].count, left[1].count, "{algorithm:?} {counted} {back}");
            }
        }
    });
}

// Debt.

/// 663 tokens used, 100 of them reserved, against 100 a minute: 0.6 s a token.
#[test]
fn tokens_used_beyond_the_limit_block_as_long_as_the_rate_says() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for (algorithm, tag) in WITH_DEBT {
            let reserved = full(ok(algorithm.request("k", 60, 100, 100).arg("FULL").query(&mut con)));
            assert_eq!((reserved.allowed, reserved.remaining), (1, 0));
            let record = get(&mut con, "k");
            assert_eq!(record.split(':').count(), 5, "a tag and four integers: {record}");
            let used = ["k", "60", "100", "RESERVED", "100", "ACTUAL", "663", "FULL"];
            let settled = full(ok(cmd!(con, "RL.SETTLE", algorithm.word(), &used)));

            // The record says exactly how much was used at what time, so every figure follows.
            let record = get(&mut con, "k");
            let words: Vec<i64> =
                record[tag.len()..].split(':').map(|word| word.parse().expect("an integer")).collect();
            let &[units, part, 60_000, at, debt] = words.as_slice() else { panic!("{record}") };
            let first_at: i64 = reserved.now_ms * 1_000;
            assert!((0..PATIENCE.as_micros() as i64).contains(&(at - first_at)), "{record}");
            // In parts of which a token has 60,000,000, and of which 100 drain each microsecond: 663 tokens less what
            // has drained between the two calls.
            let parts = (units + debt) * 60_000_000 + part;
            assert!(parts <= 663 * 60_000_000 && parts > 663 * 60_000_000 - (at - first_at + 1_000) * 100, "{record}");
            assert_eq!(units + i64::from(part > 0), 100, "{record}");
            let late = expires_at(&mut con, "k") - (at + (parts + 99) / 100 + 999) / 1_000;
            assert!((0..=algorithm.expires_late_ms).contains(&late), "{record}: {late} ms late");
            let [drained, fits] = [parts, parts - 99 * 60_000_000].map(|parts| (parts + 99) / 100);
            assert_eq!((settled.allowed, settled.remaining, settled.limit), (0, 0, 100));
            for reply in [settled, full_of(&mut con, "RL.PEEK", &[algorithm.word(), "k", "60", "100", "FULL"])] {
                // In milliseconds, rounded up; the reply does not say the microsecond of its time.
                let until = |micros: i64| (at + micros - reply.now_ms * 1_000 + 999) / 1_000;
                let exact = |figure: i64, micros| (until(micros) - 1..=until(micros)).contains(&figure);
                assert!(exact(reply.retry_after_ms, fits), "{reply:?} {record}");
                assert!(exact(reply.next_ms, fits), "{reply:?} {record}");
                assert!(exact(reply.reset_ms, drained), "{reply:?} {record}");
                assert_eq!(reply.ttl, (reply.retry_after_ms + 999) / 1_000);
                assert!((338_400 - 5_000..=338_400).contains(&reply.retry_after_ms), "{reply:?}");
            }
            ok(cmd!(con, "DEL", "k"));
        }
    });
}

/// The same against the clock: denied until the moment that `retry_after_ms` says, and allowed from it on.
#[test]
fn debt_is_paid_at_the_moment_that_the_reply_says() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for (algorithm, _) in WITH_DEBT {
            let used = ["k", "100ms", "100", "RESERVED", "0", "ACTUAL", "500", "FULL"];
            let settled = full(ok(cmd!(con, "RL.SETTLE", algorithm.word(), &used)));
            let (first, mut seen) = (settled.now_ms + settled.retry_after_ms, [0, 0]);
            assert!((400..=401).contains(&settled.retry_after_ms), "{settled:?}");
            loop {
                let reply = full_of(&mut con, "RL.PEEK", &[algorithm.word(), "k", "100ms", "100", "FULL"]);
                seen[reply.allowed as usize] += 1;
                match reply.now_ms {
                    // What now_ms leaves out decides the millisecond itself.
                    now if now < first - 1 => assert_eq!(reply.allowed, 0, "{settled:?} {reply:?}"),
                    now if now > first => assert_eq!(reply.allowed, 1, "{settled:?} {reply:?}"),
                    _ => {}
                }
                if reply.now_ms > first + 10 {
                    break;
                }
            }
            assert!(seen[0] > 10 && seen[1] > 0, "{seen:?}");
            wait_until(&mut con, settled.now_ms + settled.reset_ms + algorithm.expires_late_ms + 2);
            assert_eq!(ok(cmd!(con, "EXISTS", "k")), Value::Int(0), "nothing is left of it");
        }
    });
}

#[test]
fn a_smaller_capacity_forgives_no_debt_and_a_refund_reduces_it_first() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for (algorithm, tag) in WITH_DEBT {
            let units = |con: &mut Connection| {
                let record = get(con, "k");
                let words: Vec<i64> = record[tag.len()..].split(':').map(|word| word.parse().expect(&record)).collect();
                // The unit that has started to drain counts as whole.
                (words[0] + i64::from(words[1] > 0), words.get(4).copied())
            };
            let counts = |con: &mut Connection, limit: &str, capacity: &str| {
                let arguments = [algorithm.word(), "k", "100d", limit, "BURST", capacity, "FULL"];
                full_of(con, "RL.PEEK", &arguments).count
            };
            ok(cmd!(con, "FLUSHALL"));
            ok(cmd!(con, "RL.SETTLE", algorithm.word(), "k", "100d", 50, "RESERVED", 0, "ACTUAL", 50));
            assert_eq!(units(&mut con), (50, None), "full is no debt");
            assert_eq!(counts(&mut con, "50", "10"), 10, "the amount above a smaller capacity is forgiven");
            ok(cmd!(con, "RL.SETTLE", algorithm.word(), "k", "100d", 50, "RESERVED", 0, "ACTUAL", 30));
            assert_eq!(units(&mut con), (50, Some(30)));
            assert_eq!(counts(&mut con, "50", "10"), 40, "and debt is not");
            assert_eq!(counts(&mut con, "50", "100"), 80);
            ok(cmd!(con, "RL.SETTLE", algorithm.word(), "k", "100d", 50, "RESERVED", 20, "ACTUAL", 0));
            assert_eq!(units(&mut con), (50, Some(10)));
            ok(cmd!(con, "RL.REFUND", algorithm.word(), "k", "100d", 50, "COST", 25));
            assert_eq!(units(&mut con), (35, None), "ten of debt, and the rest of what is used");
        }
    });
}

#[test]
fn a_record_with_debt_is_read_and_damaged_debt_is_an_error() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let at = server_ms(&mut con) * 1_000;
        for (algorithm, tag) in WITH_DEBT {
            let record = format!("{tag}5:0:{HUNDRED_DAYS}:{at}");
            for (debt, count) in [("", 5), (":1", 6), (":563", 568), (":9223372036854775807", i64::MAX)] {
                ok(cmd!(con, "SET", "k", format!("{record}{debt}"), "EX", 1_000));
                let reply = full(ok(on("RL.PEEK", &algorithm, "k").arg("FULL").query(&mut con)));
                assert_eq!((reply.allowed, reply.count), (0, count), "{debt}");
            }
            // More than the largest debt is an error. The end of that debt is a time.
            let before = get(&mut con, "k");
            for more in [1, i64::MAX] {
                assert_eq!(err(settle(&algorithm, "k", 0, more).query(&mut con)), OVERFLOW);
            }
            assert_eq!(get(&mut con, "k"), before);
            ok(settle(&algorithm, "k", 1, 0).query(&mut con));
            assert!(get(&mut con, "k").ends_with(":9223372036854775806"));
            assert!(expires_at(&mut con, "k") > at / 1_000);
            ok(settle(&algorithm, "k", i64::MAX, 0).query(&mut con));
            for damaged in
                [":0", ":", ":00", ":01", ":-1", ":+1", ": 1", ":1 ", ":1:1", ":1:", ":x", ":9223372036854775808"]
            {
                ok(cmd!(con, "SET", "k", format!("{record}{damaged}"), "EX", 1_000));
                let before = digest(&mut con);
                let expected = err(on("RL.PEEK", &algorithm, "k").query(&mut con));
                assert!(expected.starts_with("ERR the key holds a value"), "{expected}");
                for command in
                    [settle(&algorithm, "k", 1, 2), settle(&algorithm, "k", 2, 1), on("RL.REFUND", &algorithm, "k")]
                {
                    assert_eq!(err(command.query(&mut con)), expected, "{tag} {damaged}");
                }
                assert_eq!(err(cmd!(con, algorithm.command, "k", "100d", 5)), expected);
                assert_eq!(digest(&mut con), before, "{tag} {damaged}");
            }
        }
    });
}

/// A TAT is a time: it cannot hold more than full.
#[test]
fn gcra_and_throttle_charge_up_to_full_and_forget_the_rest() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        ok(cmd!(con, "RL.THROTTLE", "k", 9, 10, 1_000));
        let settle = ["k", "1000", "10", "RESERVED", "1", "ACTUAL", "900", "FULL"];
        let settled = full(ok(cmd!(con, "RL.SETTLE", "GCRA", &settle)));
        assert_eq!((settled.count, settled.remaining, settled.retry_after_ms), (10, 0, 100_000));
        assert_eq!(settled.reset_ms, 1_000_000);
        let [limited, limit, left, retry, reset]: [i64; 5] = read(ok(cmd!(con, "RL.THROTTLE", "k", 9, 10, 1_000)));
        assert_eq!([limited, limit, left], [1, 10, 0]);
        assert!((95..=100).contains(&retry) && (995..=1_000).contains(&reset), "{retry} {reset}");
        // A larger capacity sees no more than the ten.
        let larger = full_of(&mut con, "RL.PEEK", &["GCRA", "k", "1000", "10", "BURST", "20", "FULL"]);
        assert_eq!((larger.allowed, larger.count), (1, 10));
    });
}

// AT.

#[test]
fn settled_after_its_window_a_request_does_not_touch_the_new_one() {
    for_each_server(|bin| {
        let server = Server::options(bin).durable().start();
        let mut con = server.con();
        ok(cmd!(con, "DEBUG", "SET-ACTIVE-EXPIRE", 0));
        let old = full(ok(FIXED.request("k", 1, 5, 2).arg("FULL").query(&mut con))).now_ms;
        let (mut settled, mut tries) = (0, 0);
        while settled < 2 {
            tries += 1;
            assert!(tries < 20, "too slow for a window of a second");
            let start = (server_ms(&mut con) / 1_000 + 1) * 1_000;
            wait_until(&mut con, start);
            assert_eq!(FIXED.ask(&mut con, "k", 1, 5)[..2], [1, 1]);
            let before = digest(&mut con);
            let mut effects = Effects::of(&server);
            for actual in ["0", "900"] {
                let arguments = ["k", "1", "5", "RESERVED", "2", "ACTUAL", actual, "AT", &old.to_string(), "FULL"];
                let reply = full(ok(cmd!(con, "RL.SETTLE", "FIXED", &arguments)));
                if reply.now_ms < start + 1_000 {
                    assert_eq!((reply.allowed, reply.count), (1, 2), "one request, and this one");
                    settled += 1;
                }
                ok(cmd!(con, "RL.REFUND", "FIXED", "k", 1, 5, "AT", old));
            }
            assert_eq!((effects.take(), digest(&mut con)), (NOTHING.into(), before));
        }
    });
}

#[test]
fn the_counters_correct_the_window_of_the_request() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let this = server_ms(&mut con) / HUNDRED_DAYS * HUNDRED_DAYS;
        let future = [this + HUNDRED_DAYS, i64::MAX];
        let (number, day) = (this / HUNDRED_DAYS, 86_400_000);
        let now = server_ms(&mut con);
        let midnight = now / day * day;
        let [fixed, counter] = [&FIXED, &COUNTER].map(|algorithm| state(algorithm, "k"));
        for (at, of) in [(this, "this"), (now, "this"), (future[0], "this"), (future[1], "this")].into_iter().chain([
            (this - 1, "previous"),
            (this - HUNDRED_DAYS, "previous"),
            (this - HUNDRED_DAYS - 1, "none"),
            (0, "none"),
        ]) {
            for (reserved, actual) in [(1, 4), (4, 1)] {
                let by = actual - reserved;
                ok(cmd!(con, "SET", &fixed, 4, "EX", 10_000));
                ok(cmd!(con, "SET", &counter, format!("C:{HUNDRED_DAYS}:{number}:4:20"), "EX", 10_000));
                for algorithm in [&FIXED, &COUNTER] {
                    ok(settle(algorithm, "k", reserved, actual).arg("AT").arg(at).query(&mut con));
                }
                let counted = if of == "this" { 4 + by } else { 4 };
                let previous = if of == "previous" { 20 + by } else { 20 };
                assert_eq!(get(&mut con, &fixed), counted.to_string(), "AT {at}, {of}");
                assert_eq!(
                    get(&mut con, &counter),
                    format!("C:{HUNDRED_DAYS}:{number}:{counted}:{previous}"),
                    "AT {at}, {of}"
                );
            }
        }
        // Windows of the calendar and with an anchor; unless midnight comes.
        for (window, anchor, start) in [("day", None, midnight), ("1d", Some("0"), midnight), ("month", None, 0)] {
            let mut counts = Vec::new();
            for at in [midnight, midnight - 86_400_000 * 40] {
                ok(cmd!(con, "FLUSHALL"));
                let anchor = anchor.map(|t| ["ANCHOR", t]);
                let arguments = ["k", window, "5", "RESERVED", "0", "ACTUAL", "7", "FULL", "AT"];
                let mut settle = redis::cmd("RL.SETTLE");
                settle.arg("FIXED").arg(&arguments).arg(at).arg(anchor.as_ref().map(|words| &words[..]));
                counts.push(5 - left(ok(settle.query(&mut con))));
                assert!(start == 0 || keys(&mut con).iter().all(|key| key.ends_with(&start.to_string())));
            }
            if server_ms(&mut con) / day * day == midnight {
                assert_eq!(counts, [5, 0], "{window} {anchor:?}");
            }
        }
    });
}

#[test]
fn the_log_corrects_the_entries_of_that_time_else_the_nearest_older() {
    for_each_server(|bin| {
        let server = Server::options(bin).durable().start();
        let mut con = server.con();
        let now = server_ms(&mut con);
        let [a, b, c] = [now - 3_000_000, now - 2_000_000, now - 1_000_000];
        let fill = |con: &mut Connection| {
            ok(cmd!(*con, "DEL", "k"));
            ok(cmd!(*con, "ZADD", "k", a, "a1", b, "b1", b, "b2", c, "c1"));
            ok(cmd!(*con, "EXPIRE", "k", 1_000_000_000));
        };
        for (at, reserved, actual, expected) in [
            (b, 0, 1, vec![a, b, b, b, c]),
            (b, 1, 0, vec![a, b, c]),
            (b, 2, 0, vec![a, c]),
            (b, 3, 0, vec![c]),
            (b, 9, 0, vec![c]),
            (c - 1, 1, 0, vec![a, b, c]),
            (a - 1, 5, 0, vec![a, b, b, c]),
            (a - 1, 0, 1, vec![a - 1, a, b, b, c]),
            (0, 5, 0, vec![a, b, b, c]),
            (0, 0, 5, vec![a, b, b, c]),
            (now - HUNDRED_DAYS - 1_000, 0, 5, vec![a, b, b, c]),
            (i64::MAX, 1, 0, vec![a, b, b]),
            (i64::MAX, 9, 0, vec![]),
        ] {
            fill(&mut con);
            ok(settle(&SLIDING, "k", reserved, actual).arg("AT").arg(at).query(&mut con));
            assert_eq!(scores(&mut con, "k"), expected, "AT {at} {reserved} {actual}");
        }
        fill(&mut con);
        let before = server_ms(&mut con);
        ok(settle(&SLIDING, "k", 0, 1).arg("AT").arg(i64::MAX).query(&mut con));
        assert!((before..=server_ms(&mut con)).contains(&scores(&mut con, "k")[4]), "the future is now");
        // An entry leaves the window when that of the request does.
        ok(cmd!(con, "DEL", "k"));
        let at = server_ms(&mut con) - 700;
        ok(cmd!(con, "RL.SETTLE", "SLIDING", "k", 1, 1, "RESERVED", 0, "ACTUAL", 3, "AT", at));
        assert_eq!(SLIDING.ask(&mut con, "k", 1, 1)[0], 0);
        wait_until(&mut con, at + 1_000);
        assert_eq!(SLIDING.ask(&mut con, "k", 1, 1)[0], 1);
    });
}

/// With AT, units leave the window with the request that they belong to, and are refunded from its time.
#[test]
fn a_log_keeps_what_is_settled_for_as_long_as_the_request() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        // A moment of ROLLING is an hour / 4096.
        for (algorithm, moment_ms) in [(&SLIDING, 0), (rolling(), 879)] {
            ok(cmd!(con, "FLUSHALL"));
            let start = server_ms(&mut con);
            let earlier = (start - 50 * 60_000).to_string();
            let settle = |con: &mut Connection, reserved: &str, actual: &str, at: &[&str]| {
                let words = ["k", "1h", "9", "RESERVED", reserved, "ACTUAL", actual, "FULL"];
                let mut settle = redis::cmd("RL.SETTLE");
                full(ok(settle.arg(algorithm.word()).arg(&words).arg(at).query(con)))
            };
            let at = ["AT", &earlier];
            // What a reply says that is sent after `reply`: the last units leave in so many minutes.
            let leaves_in = |reply: &Full, minutes: i64| {
                let least = start + minutes * 60_000 - reply.now_ms;
                let until = least..=least + 2 * moment_ms + PATIENCE.as_millis() as i64;
                // Of a denied request, which leaves the state as it is.
                assert!(reply.allowed == 0 && until.contains(&reply.reset_ms), "{algorithm:?} {minutes} {reply:?}");
            };
            leaves_in(&settle(&mut con, "0", "9", &at), 10);
            leaves_in(&settle(&mut con, "4", "7", &[]), 60);
            let reply = settle(&mut con, "3", "0", &[]);
            leaves_in(&reply, 10);
            leaves_in(&settle(&mut con, "4", "7", &[]), 60);
            leaves_in(&settle(&mut con, "3", "0", &at), 60);
            // Nothing older than the request is left, and what is younger stays.
            let reply = settle(&mut con, "9", "0", &["AT", &(start - 55 * 60_000).to_string()]);
            leaves_in(&reply, 60);
            let reply = settle(&mut con, "9", "0", &at);
            assert_eq!(reply.remaining + reply.allowed, 6, "{algorithm:?} {reply:?}");
        }
    });
}

/// Many requests of one millisecond are settled later, while others come in between: every unit gets a member.
#[test]
fn no_unit_is_lost_where_many_requests_of_one_millisecond_are_settled() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let at = server_ms(&mut con) - 1_000;
        for n in 1..=200 {
            ok(settle(&SLIDING, "k", 1, 2).arg("AT").arg(at).query(&mut con));
            ok(settle(&SLIDING, "other", 1, 2).arg("AT").arg(at - n % 7 - 1).query(&mut con));
            if n % 3 == 0 {
                thread::sleep(Duration::from_millis(1));
                SLIDING.ask(&mut con, "another", "100d", 1_000);
            }
            let all = members(&mut con, "k");
            assert_eq!(all.len(), n as usize);
            assert!(
                all.iter().all(|(member, score)| *score == at && member.starts_with(&format!("{at}-0."))),
                "{all:?}"
            );
        }
        let log = server.log();
        assert!(!log.contains("internal error"), "{log}");
        // After a restart the names are in use as well.
        let all: HashSet<String> = members(&mut con, "k").into_iter().map(|(member, _)| member).collect();
        assert_eq!(all.len(), 200);
    });
}

/// At least 1.5 windows are left after every call on a key that exists.
#[test]
fn the_log_keeps_its_expiry_rule() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let now = server_ms(&mut con);
        for (reserved, actual, at) in [
            (1, 1, None),
            (1, 2, None),
            (2, 1, None),
            (9, 1, Some(now - 2_000)),
            (9, 1, Some(now - 3_000)),
            (1, 2, Some(now - 2_000)),
            (1, 2, Some(0)),
            (1, 1, Some(0)),
            (1, 0, Some(0)),
        ] {
            for expires in [true, false] {
                ok(cmd!(con, "DEL", "k"));
                ok(cmd!(con, "ZADD", "k", now - 2_000, "a", now - 1_000, "b", now, "c"));
                if expires {
                    ok(cmd!(con, "PEXPIRE", "k", HUNDRED_DAYS));
                }
                let mut settle = settle(&SLIDING, "k", reserved, actual);
                at.map(|at| settle.arg("AT").arg(at));
                ok(settle.query(&mut con));
                let left = expires_at(&mut con, "k") - now;
                let what = format!("{reserved} {actual} AT {at:?}, expires: {expires}");
                assert!((2 * HUNDRED_DAYS..2 * HUNDRED_DAYS + 60_000).contains(&left), "{what}: {left}");
            }
        }
    });
}

// Nothing to correct.

#[test]
fn what_corrects_nothing_changes_nothing() {
    for_each_server(|bin| {
        let server = Server::options(bin).durable().start();
        let mut con = server.con();
        for algorithm in ALGORITHMS {
            for charged in [0, 3, 40] {
                ok(cmd!(con, "FLUSHALL"));
                ok(settle(algorithm, "k", 0, charged).query(&mut con));
                let key = state(algorithm, "k");
                let before = (digest(&mut con), expires_at(&mut con, &key), ok(cmd!(con, "DUMP", &key)));
                let (mut effects, mut events) = (Effects::of(&server), Events::listen(&server));
                ok(cmd!(con, "WATCH", &key, "k"));
                let now = server_ms(&mut con);
                for n in [0, 1, 7, 10_001, i64::MAX] {
                    ok(settle(algorithm, "k", n, n).query(&mut server.con()));
                    ok(settle(algorithm, "k", n, n).arg("FULL").arg("AT").arg(now).query(&mut server.con()));
                    ok(settle(algorithm, "k", n, n).arg("AT").arg(0).query(&mut server.con()));
                }
                let after = (digest(&mut con), expires_at(&mut con, &key), ok(cmd!(con, "DUMP", &key)));
                assert_eq!(after, before, "{algorithm:?} {charged}");
                assert_eq!(effects.take(), NOTHING, "{algorithm:?} {charged}");
                assert_eq!(events.take(), [], "{algorithm:?} {charged}");
                assert_eq!(exec(&mut con, &[redis::cmd("PING").to_owned()]).len(), 1, "WATCH saw a change");
            }
        }
    });
}

/// A slower rate needs the state for longer than its expiry: the call extends it, else the figures of its reply would
/// not come true.
#[test]
fn what_corrects_nothing_still_extends_the_expiry_that_it_needs() {
    for_each_server(|bin| {
        let server = Server::options(bin).durable().start();
        let mut con = server.con();
        for (algorithm, _) in WITH_DEBT {
            ok(cmd!(con, "FLUSHALL"));
            ok(cmd!(con, "RL.SETTLE", algorithm.word(), "k", 60, 5, "RESERVED", 0, "ACTUAL", 9));
            let before = (get(&mut con, "k"), expires_at(&mut con, "k"));
            let mut effects = Effects::of(&server);
            let slower = ["k", "600", "5", "RESERVED", "3", "ACTUAL", "3", "FULL"];
            let reply = full(ok(cmd!(con, "RL.SETTLE", algorithm.word(), &slower)));
            assert_eq!(get(&mut con, "k"), before.0);
            let needed = expires_at(&mut con, "k");
            // now_ms is rounded down.
            let late = needed - reply.now_ms - reply.reset_ms;
            assert!((0..=algorithm.expires_late_ms + 1).contains(&late), "{needed} {reply:?}");
            assert_eq!(effects.take(), [["PEXPIREAT".to_owned(), "k".to_owned(), needed.to_string()]]);
            assert_eq!(needed - before.1, 9 * (120_000 - 12_000));
        }
    });
}

// The server.

#[test]
fn it_replicates_effects_and_fires_the_events_of_plain_commands() {
    for_each_server(|bin| {
        let server = Server::options(bin).durable().start();
        let mut con = server.con();
        let now = server_ms(&mut con);
        type Step<'a> = (i64, i64, Option<i64>, &'a [&'a str], &'a [&'a str]);
        for algorithm in ALGORITHMS {
            // Charged new, charged, charged at another time, given back, all given back: effects and events.
            let steps: [Step; 5] = if is(algorithm, rolling()) {
                // A moment of 100 days / 4096: all in one entry.
                [
                    (0, 2, None, &["SET"], &["set", "expire"]),
                    (2, 3, None, &["SETRANGE"], &["setrange"]),
                    (2, 9, Some(now), &["SETRANGE"], &["setrange"]),
                    (3, 1, None, &["SETRANGE"], &["setrange"]),
                    (99, 0, None, &["UNLINK"], &["del"]),
                ]
            } else if is(algorithm, &WINDOW) {
                [
                    (0, 2, None, &["SET"], &["set", "expire"]),
                    (2, 3, None, &["INCR"], &["incrby"]),
                    (2, 9, Some(now), &["INCRBY"], &["incrby"]),
                    (3, 1, None, &["INCRBY"], &["incrby"]),
                    (99, 0, None, &["UNLINK"], &["del"]),
                ]
            } else if is(algorithm, &COUNTER) {
                // The expiry is the end of the next window, whatever is counted.
                [
                    (0, 2, None, &["SET"], &["set", "expire"]),
                    (2, 3, None, &["SET"], &["set"]),
                    (2, 9, Some(now), &["SET"], &["set"]),
                    (3, 1, None, &["SET"], &["set"]),
                    (99, 0, None, &["UNLINK"], &["del"]),
                ]
            } else if is(algorithm, &FIXED) {
                [
                    (0, 2, None, &["SET"], &["incrby", "expire"]),
                    (2, 3, None, &["INCR"], &["incrby"]),
                    (2, 9, Some(now), &["INCRBY"], &["incrby"]),
                    (3, 1, None, &["INCRBY"], &["incrby"]),
                    (99, 0, Some(now), &["INCRBY"], &["incrby"]),
                ]
            } else if is(algorithm, &SLIDING) {
                [
                    (0, 2, None, &["ZADD", "PEXPIREAT"], &["zadd", "expire"]),
                    (2, 3, None, &["ZADD"], &["zadd"]),
                    (2, 9, Some(now - 1_000), &["ZADD"], &["zadd"]),
                    (3, 1, Some(now - 1_000), &["ZREMRANGEBYRANK"], &["zremrangebyrank"]),
                    (99, 0, None, &["ZREMRANGEBYRANK"], &["zremrangebyrank", "del"]),
                ]
            } else if is(algorithm, &COUNTER) {
                // The expiry stays while the window lasts.
                [
                    (0, 2, None, &["SET"], &["set", "expire"]),
                    (2, 3, None, &["SET"], &["set"]),
                    (2, 9, Some(now), &["SET"], &["set"]),
                    (3, 1, None, &["SET"], &["set"]),
                    (99, 0, None, &["UNLINK"], &["del"]),
                ]
            } else {
                [
                    (0, 2, None, &["SET"], &["set", "expire"]),
                    (2, 3, None, &["SET"], &["set", "expire"]),
                    (2, 9, Some(now), &["SET"], &["set", "expire"]),
                    (3, 1, None, &["SET"], &["set", "expire"]),
                    (99, 0, None, &["UNLINK"], &["del"]),
                ]
            };
            let (key, mut effects, mut events) = (state(algorithm, "k"), Effects::of(&server), Events::listen(&server));
            for (reserved, actual, at, replicated, fired) in steps {
                let what = format!("{algorithm:?} {reserved} {actual}");
                let mut command = settle(algorithm, "k", reserved, actual);
                at.map(|at| command.arg("AT").arg(at));
                ok(cmd!(con, "WATCH", &key));
                ok(command.query(&mut server.con()));
                let sent = effects.take();
                assert_eq!(names(&sent), replicated, "{what}");
                assert_plain(&sent);
                let heard: Vec<_> = events.take();
                assert!(heard.iter().all(|(_, of)| *of == key.as_bytes()), "{heard:?}");
                assert_eq!(heard.iter().map(|(event, _)| event.as_str()).collect::<Vec<_>>(), fired, "{what}");
                let mut watched = redis::pipe();
                let aborted: Value = ok(watched.atomic().cmd("PING").query(&mut con));
                assert_eq!(aborted, Value::Nil, "WATCH sees the change: {what}");
            }
            ok(cmd!(con, "FLUSHALL"));
        }
    });
}

/// Requests, refunds and settlements, with AT and without, at random, on keys with one policy and on keys with many.
fn mixed_settlements(con: &mut Connection, random: &mut Random, calls: u64) {
    let now = server_ms(con);
    for _ in 0..calls {
        let algorithm = random.pick(ALGORITHMS);
        let (window, millis) = random.pick(&[("200ms", 200_i64), ("1h", 3_600_000), ("100d", HUNDRED_DAYS)]);
        let limit = 3 + 20 * random.below(2) as i64;
        let burst = if algorithm.takes_burst && random.below(2) == 0 { Some(limit + 5) } else { None };
        let key = if millis > 1_000 && random.below(4) == 0 {
            format!("{}:any", algorithm.word())
        } else {
            format!("{}:{window}:{limit}:{}", algorithm.word(), burst.unwrap_or(0))
        };
        let most = random.pick(&[9, 9, 9, 200]);
        let [n, m] = [random.below(9), random.below(most)];
        let at = match random.below(4) {
            0 => None,
            1 => Some(now - random.below(2 * millis.unsigned_abs()) as i64),
            _ => Some(server_ms(con) - random.below(1_000) as i64),
        };
        let mut command;
        match random.below(5) {
            0 | 1 => {
                command = redis::cmd(algorithm.command);
                command.arg(&key).arg(window).arg(limit).arg("COST").arg(n);
            }
            2 => {
                command = redis::cmd("RL.REFUND");
                command.arg(algorithm.word()).arg(&key).arg(window).arg(limit).arg("COST").arg(n);
                at.map(|at| command.arg("AT").arg(at));
            }
            _ => {
                command = redis::cmd("RL.SETTLE");
                command.arg(algorithm.word()).arg(&key).arg(window).arg(limit);
                command.arg("RESERVED").arg(n).arg("ACTUAL").arg(m);
                at.map(|at| command.arg("AT").arg(at));
            }
        }
        burst.map(|burst| command.arg("BURST").arg(burst));
        ok(command.query(con));
    }
}

/// The keys that do not go while they are compared: each with its value and its expiry.
fn contents(con: &mut Connection) -> Vec<(String, String, i64)> {
    let stay = keys(con).into_iter().filter(|key| !key.contains(":200ms:"));
    stay.map(|key| {
        let value = cmd!(*con, "GET", &key).or_else(|_| cmd!(*con, "ZRANGE", &key, 0, -1, "WITHSCORES"));
        let (value, expires_at) = (format!("{:?}", ok(value)), expires_at(con, &key));
        (key, value, expires_at)
    })
    .collect()
}

#[test]
fn replicas_and_files_have_what_the_master_has_after_any_mix() {
    for_each_server(|bin| {
        let mut master = Server::options(bin).durable().start();
        let replicas = start_replicas(bin, &master);
        let mut con = master.con();
        let mut effects = Effects::of(&master);
        for seed in 0..3 {
            ok(cmd!(con, "DEBUG", "SET-ACTIVE-EXPIRE", 1));
            mixed_settlements(&mut con, &mut Random::new(seed), 1_200);
            // Keys that are gone stay gone, and the others do not go while they are compared.
            ok(cmd!(con, "DEBUG", "SET-ACTIVE-EXPIRE", 0));
            let (expected, held) = (digest(&mut con), contents(&mut con));
            assert!(held.len() > 20 && held.iter().all(|(_, _, at)| *at > 0), "{held:?}");
            for replica in &replicas {
                wait_for_replica(&master, replica);
                assert_eq!(digest(&mut replica.con()), expected, "seed {seed}");
                assert_eq!(contents(&mut replica.con()), held, "seed {seed}");
            }
        }
        let sent = effects.take();
        assert!(sent.len() > 500, "{}", sent.len());
        assert_plain(&sent);
        // From the AOF as it was written, and from one that was rewritten.
        for rewritten in [false, true] {
            if rewritten {
                let mut con = master.con();
                ok(cmd!(con, "BGREWRITEAOF"));
                let idle = |con: &mut Connection, field| info(con, field) == "0";
                assert!(eventually(PATIENCE, || idle(&mut con, "aof_rewrite_in_progress")
                    && idle(&mut con, "aof_rewrite_scheduled")));
            }
            let held = contents(&mut master.con());
            master.kill();
            master.start_again();
            assert_eq!(contents(&mut master.con()), held, "rewritten: {rewritten}");
        }
    });
}

#[test]
fn a_replica_refuses_it() {
    for_each_server(|bin| {
        let master = Server::start(bin);
        let replica = Server::options(bin).replica_of(&master).start();
        wait_for_replica(&master, &replica);
        for algorithm in ALGORITHMS {
            for (reserved, actual) in [(1, 2), (2, 1), (1, 1)] {
                let refused = err(settle(algorithm, "k", reserved, actual).query(&mut replica.con()));
                assert_eq!(refused, "READONLY You can't write against a read only replica.", "{algorithm:?}");
            }
        }
    });
}

#[test]
fn wrong_types_and_foreign_values_are_errors_and_stay() {
    for_each_server(|bin| {
        let mut server = Server::start(bin);
        let mut con = server.con();
        for algorithm in ALGORITHMS {
            let key = state(algorithm, "k");
            let of_another_type = if is(algorithm, &SLIDING) {
                redis::cmd("SET").arg(&key).arg("5").to_owned()
            } else {
                redis::cmd("ZADD").arg(&key).arg(&["5", "a"]).to_owned()
            };
            let list = redis::cmd("RPUSH").arg(&key).arg("5").to_owned();
            let foreign = algorithm.foreign.iter().map(|(value, _)| redis::cmd("SET").arg(&key).arg(value).to_owned());
            for (n, fill) in [of_another_type, list].into_iter().chain(foreign).enumerate() {
                ok(cmd!(con, "FLUSHALL"));
                ok(fill.query(&mut con));
                let before = digest(&mut con);
                let expected = err(on("RL.PEEK", algorithm, "k").query(&mut con));
                assert_eq!(expected.starts_with("WRONGTYPE "), n < 2, "{expected}");
                assert_eq!(err(settle(algorithm, "k", 1, 2).query(&mut con)), expected, "{algorithm:?}");
                if !expected.contains("overflow") {
                    assert_eq!(err(settle(algorithm, "k", 2, 1).query(&mut con)), expected, "{algorithm:?}");
                    assert_eq!(err(settle(algorithm, "k", 1, 1).query(&mut con)), expected, "{algorithm:?}");
                }
                assert_eq!(digest(&mut con), before, "{algorithm:?}");
            }
        }
        // A counter that would overflow stays; also if only the request of the reply would overflow it.
        let key = state(&FIXED, "k");
        ok(cmd!(con, "SET", &key, i64::MAX - 3));
        for actual in [5, 4] {
            assert!(err(settle(&FIXED, "k", 1, actual).query(&mut con)).contains("overflow"));
            assert_eq!(get(&mut con, &key), (i64::MAX - 3).to_string());
        }
        ok(settle(&FIXED, "k", 1, 3).query(&mut con));
        assert!(server.is_running());
    });
}

#[test]
fn at_maxmemory_the_setting_decides_on_what_needs_memory() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for on_oom in ["error", "allow", "deny"] {
            ok(cmd!(con, "CONFIG", "SET", "maxmemory", 0));
            ok(cmd!(con, "FLUSHALL"));
            for algorithm in ALGORITHMS {
                ok(settle(algorithm, algorithm.name, 0, 3).query(&mut con));
            }
            ok(cmd!(con, "CONFIG", "SET", "rl.on-oom", on_oom));
            ok(cmd!(con, "CONFIG", "SET", "maxmemory", 1));
            assert_eq!(err(cmd!(con, "SET", "k", 1)), OOM);
            for algorithm in ALGORITHMS {
                let what = format!("{algorithm:?} {on_oom}");
                let remaining = |con: &mut Connection, key, reserved, actual| {
                    let reply = settle(algorithm, key, reserved, actual).arg("FULL").query(con);
                    reply.map(left)
                };
                let before = digest(&mut con);
                // A new key; and a log, which grows with every unit.
                let growing = [("new", 5), (algorithm.name, 2)];
                for &(key, left) in &growing[..if is(algorithm, &SLIDING) { 2 } else { 1 }] {
                    match remaining(&mut con, key, 1, 3) {
                        Ok(remaining) => assert_eq!((remaining, on_oom != "error"), (left, true), "{what}"),
                        Err(error) => {
                            assert_eq!((err(Err(error)).as_str(), on_oom), (OOM, "error"), "{what}");
                        }
                    }
                    // What gives back or corrects nothing needs no memory.
                    assert_eq!(remaining(&mut con, key, 2, 2).expect("no memory needed"), left, "{what}");
                }
                assert_eq!(digest(&mut con), before, "{what}");
                assert_eq!(remaining(&mut con, "new", 3, 1).expect("no memory needed"), 5, "{what}");
                assert_eq!(remaining(&mut con, algorithm.name, 3, 2).expect("no memory needed"), 3, "{what}");
                if !is(algorithm, &SLIDING) {
                    assert_eq!(remaining(&mut con, algorithm.name, 3, 9).expect("the key is there"), 0, "{what}");
                }
            }
        }
    });
}

#[test]
fn the_user_needs_permission_for_the_counter_too() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut root = server.con();
        let counter = state(&FIXED, "user");
        for (keys, allowed) in [
            ("~user", false),
            ("~user:*", false),
            ("%R~* ~user", false),
            (&format!("~user %W~{counter}"), false),
            (&format!("~user ~{counter}"), true),
            ("~user*", true),
        ] {
            ok(cmd!(root, "SET", &counter, 3));
            let rules: Vec<&str> = keys.split(' ').collect();
            ok(cmd!(root, "ACL", "SETUSER", "u", "reset", "on", ">secret", rules, "-@all", "+rl.settle"));
            let mut con = server.con();
            ok(cmd!(con, "AUTH", "u", "secret"));
            for (reserved, actual, after) in [(1, 2, 4), (2, 1, 3), (1, 1, 3)] {
                let reply = settle(&FIXED, "user", reserved, actual).query(&mut con);
                if allowed {
                    ok(reply);
                    assert_eq!(get(&mut root, &counter), after.to_string(), "{keys}");
                } else {
                    assert!(err(reply).starts_with("NOPERM "), "{keys}");
                    assert_eq!(get(&mut root, &counter), "3", "{keys}");
                }
            }
        }
    });
}

#[test]
fn the_server_describes_it() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let text = |value: &Value| format!("{value:?}");
        let info = text(&ok(cmd!(con, "COMMAND", "INFO", "RL.SETTLE")));
        for part in ["int(-9)", "'write'", "'fast'", "'RW'", "'access'", "'update'"] {
            let found = info.to_lowercase().replace("simple-string(\"", "'").replace("\")", "'");
            assert!(found.contains(&part.to_lowercase()), "{part}: {found}");
        }
        assert!(!info.contains("denyoom"), "{info}");
        let docs = text(&ok(cmd!(con, "COMMAND", "DOCS", "RL.SETTLE")));
        for part in ["RESERVED", "ACTUAL", "AT", "BURST", "ANCHOR", "FULL", "HEADERS", "summary", "complexity", "since"]
        {
            assert!(docs.contains(&format!("'{part}'")) || docs.contains(&format!("\"{part}\"")), "{part}: {docs}");
        }
        for not_taken in ["COST", "PARTIAL", "\"AS\""] {
            assert!(!docs.contains(not_taken), "{not_taken}: {docs}");
        }
        let rest = ["RL.SETTLE", "TOKEN", "k", "60", "5", "RESERVED", "1", "ACTUAL", "2"];
        assert_eq!(ok(cmd!(con, "COMMAND", "GETKEYS", &rest)), Value::Array(vec![bytes("k")]));
        let of = |con: &mut Connection, name: &str| {
            let call = [&[name], &rest[1..]].concat();
            ok(cmd!(*con, "COMMAND", "GETKEYSANDFLAGS", call))
        };
        assert_eq!(of(&mut con, "RL.SETTLE"), of(&mut con, "RL.REFUND"));
    });
}

#[test]
fn in_a_cluster_the_key_decides_the_slot() {
    for_each_server(|bin| {
        let cluster = Cluster::start(bin, 2, |options| options);
        for algorithm in ALGORITHMS {
            for key in ["a", "b", "c", "d", "{a}b", "x:{b}"] {
                let owner = cluster.owner(key);
                let remaining = |server: &Server, reserved, actual| {
                    let reply = settle(algorithm, key, reserved, actual).arg("FULL").query(&mut server.con());
                    reply.map(left)
                };
                ok(cmd!(owner.con(), "FLUSHALL"));
                assert_eq!(remaining(owner, 1, 4).expect("the owner"), 2, "{algorithm:?} {key}");
                assert_eq!(remaining(owner, 4, 1).expect("the owner"), 5, "{algorithm:?} {key}");
                if is(algorithm, &FIXED) {
                    let expected = state(&FIXED, &if key.contains('{') { key.into() } else { format!("{{{key}}}") });
                    assert_eq!(keys(&mut owner.con()), [expected]);
                }
                let other = cluster.nodes.iter().find(|node| node.port() != owner.port()).expect("two nodes");
                let moved = remaining(other, 1, 4).expect_err("another node owns the key");
                assert!(format!("{moved:?}").to_uppercase().contains("MOVED"), "{moved:?}");
            }
        }
        let owner = cluster.owner("a}b");
        assert!(err(settle(&FIXED, "a}b", 1, 2).query(&mut owner.con())).contains("invalid key"));
    });
}

// Arguments.

#[test]
fn wrong_arguments_are_errors_that_name_them_and_change_nothing() {
    for_each_server(|bin| {
        let mut server = Server::start(bin);
        let mut con = server.con();
        for algorithm in ALGORITHMS {
            ok(cmd!(con, "FLUSHALL"));
            ok(settle(algorithm, "k", 0, 3).query(&mut con));
            let before = digest(&mut con);
            let refused = |con: &mut Connection, words: &[&[u8]], name: &str| {
                let what = words.iter().map(|word| word.escape_ascii().to_string()).collect::<Vec<_>>().join(" ");
                for key in ["k", "new"] {
                    let text = err(on("RL.SETTLE", algorithm, key).arg(words).query(con));
                    assert!(text.starts_with("ERR ") && text.contains(name), "{algorithm:?} {what}: {text}");
                }
                assert_eq!(digest(con), before, "{algorithm:?} {what}");
            };
            let mut words = |line: &str, name: &str| {
                refused(&mut con, &line.split(' ').map(str::as_bytes).collect::<Vec<_>>(), name);
            };
            // Missing.
            words("RESERVED 1 ACTUAL", "wrong number of arguments");
            words("RESERVED 1", "wrong number of arguments");
            words("RESERVED 1 FULL FULL", "syntax error");
            words("RESERVED 1 AT 5", "RL.SETTLE needs ACTUAL m, and RESERVED n or RESERVATION id");
            words("ACTUAL 1 AT 5", "RL.SETTLE needs ACTUAL m, and RESERVED n or RESERVATION id");
            words("RESERVED 1 AT 5 ACTUAL", "invalid ACTUAL");
            words("ACTUAL 1 AT 5 RESERVED", "invalid RESERVED");
            words("RESERVED 1 ACTUAL 2 AT", "invalid AT");
            // Twice.
            words("RESERVED 1 ACTUAL 2 RESERVED 1", "RESERVED n comes at most once");
            words("RESERVED 1 ACTUAL 2 ACTUAL 2", "ACTUAL m comes at most once");
            words("RESERVED 1 ACTUAL 2 AT 5 AT 5", "at most once");
            words("RESERVED 1 ACTUAL 2 FULL FULL", "at most once");
            words("RESERVED 1 ACTUAL 2 FULL HEADERS", "exclude each other");
            // Not taken.
            words("RESERVED 1 ACTUAL 2 COST 1", "invalid COST");
            words("COST 1 RESERVED 1 ACTUAL 2", "invalid COST");
            words("RESERVED 1 ACTUAL 2 PARTIAL", "invalid PARTIAL");
            words("RESERVED 1 ACTUAL 2 AS name", "invalid AS");
            words("RESERVED 1 ACTUAL 2 NOW", "syntax error: after limit come RESERVED n");
            words("RESERVED 1 ACTUAL 2 3", "syntax error");
            words("1 2 3 4", "syntax error");
            if !algorithm.takes_burst {
                words("RESERVED 1 ACTUAL 2 BURST 5", "invalid BURST");
            }
            if !is(algorithm, &FIXED) {
                words("RESERVED 1 ACTUAL 2 ANCHOR 5", "invalid ANCHOR");
            }
            for bad in BAD_LIMITS {
                refused(&mut con, &[b"RESERVED", bad, b"ACTUAL", b"2"], "invalid RESERVED");
                refused(&mut con, &[b"RESERVED", b"1", b"ACTUAL", bad], "invalid ACTUAL");
                refused(&mut con, &[b"RESERVED", b"1", b"ACTUAL", b"2", b"AT", bad], "invalid AT");
            }
            // The options of a settlement are no options of other commands.
            for (option, name) in [("RESERVED", "RESERVED"), ("ACTUAL", "ACTUAL"), ("AT", "AT")] {
                let word = algorithm.word();
                let mut calls = vec![
                    cmd!(con, algorithm.command, "k", "100d", 5, option, 1),
                    cmd!(con, "RL.PEEK", word, "k", "100d", 5, option, 1),
                    cmd!(con, "RL.MULTI", 1, word, "k", "100d", 5, option, 1),
                ];
                if option != "AT" {
                    calls.push(cmd!(con, "RL.REFUND", word, "k", "100d", 5, option, 1));
                }
                for call in calls {
                    let text = err(call);
                    assert!(text.contains(&format!("invalid {name}:")), "{algorithm:?} {option}: {text}");
                }
                assert_eq!(digest(&mut con), before, "{algorithm:?} {option}");
            }
        }
        assert!(err(cmd!(con, "RL.SETTLE", "NONE", "k", 60, 5, "RESERVED", 1, "ACTUAL", 2)).contains("FIXED"));
        for (window, limit, name) in [("0", "5", "window"), ("60", "-1", "limit"), ("week", "5", "window")] {
            let arguments = ["TOKEN", "k", window, limit, "RESERVED", "1", "ACTUAL", "2"];
            assert!(err(cmd!(con, "RL.SETTLE", &arguments)).contains(&format!("invalid {name}")));
        }
        assert!(server.is_running());
    });
}

/// Case, order and the largest values.
#[test]
fn options_come_in_any_order_and_case() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for algorithm in ALGORITHMS {
            let now = server_ms(&mut con).to_string();
            let words = ["full", "actual", "3", "aT", &now, "Reserved", "1"];
            let reply = full(ok(on("rl.settle", algorithm, algorithm.name).arg(&words).query(&mut con)));
            assert_eq!(reply.remaining + reply.allowed, 3, "{algorithm:?}");
            let largest = i64::MAX;
            for _ in 0..2 {
                let reply = settle(algorithm, algorithm.name, 0, largest).query(&mut con);
                match algorithm.name {
                    // It stores a time, so it charges up to full.
                    "gcra" => _ = ok(reply),
                    "sliding" => assert!(err(reply).starts_with("ERR invalid ACTUAL: ")),
                    _ => assert_eq!(err(reply), OVERFLOW, "{algorithm:?}"),
                }
            }
            let reply = full(ok(settle(algorithm, algorithm.name, largest, largest - 3).arg("FULL").query(&mut con)));
            assert!(reply.remaining >= 0, "{algorithm:?}");
        }
    });
}

#[test]
fn the_log_is_corrected_by_a_thousand_units_at_most() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for (reserved, actual) in [(0, 1_001), (1_001, 0), (5, 1_006), (0, i64::MAX), (i64::MAX, 0)] {
            let text = err(settle(&SLIDING, "k", reserved, actual).query(&mut con));
            assert!(text.starts_with("ERR invalid ACTUAL: ") && text.contains("1000"), "{text}");
            assert!(text.contains("COUNTER"), "the error names the other algorithms: {text}");
        }
        assert_eq!(ok(cmd!(con, "DBSIZE")), Value::Int(0));
        let count = |con: &mut Connection, reserved, actual, at: Option<i64>| {
            let mut settle = settle(&SLIDING, "k", reserved, actual);
            at.map(|at| settle.arg("AT").arg(at));
            ok(settle.query(con));
            read::<i64>(ok(cmd!(*con, "ZCARD", "k")))
        };
        let at = server_ms(&mut con) - 60_000;
        assert_eq!(count(&mut con, 20_000, 21_000, None), 1_000);
        assert_eq!(count(&mut con, 0, 1_000, Some(at)), 2_000);
        assert_eq!(count(&mut con, 1, 1_001, Some(at)), 3_000, "names that are in use");
        assert_eq!(count(&mut con, 1_000, 0, Some(at)), 2_000);
        assert_eq!(count(&mut con, 1_000, 0, None), 1_000);
        assert_eq!(scores(&mut con, "k"), vec![at; 1_000]);
    });
}
