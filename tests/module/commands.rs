//! What a client sees of the commands: every figure of every reply, and what is documented of them.

use std::ops::RangeInclusive;
use std::thread;
use std::time::Duration;

use crate::support::*;
use redis::{Connection, Value};

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

/// The `ttl` of a request of cost 1 whose limit was full if it is denied.
fn ttl_of_one(algorithm: &Algorithm, taken: &Taken, allowed: bool) -> RangeInclusive<i64> {
    if allowed { algorithm.ttl_if_allowed(taken) } else { algorithm.ttl_if_denied(taken, Some(1)) }
}

#[test]
fn the_triple() {
    for_each_algorithm(|algorithm, con| {
        let mut taken = Taken::new(LONG * 1_000, 3);
        let mut before = 0;
        for n in 0..5 {
            let allowed = n < 3;
            let added = i64::from(allowed || algorithm.counts_denials);
            let expected = [i64::from(allowed), algorithm.count(before, added)];
            before += added;
            // FULL replies the same, and when.
            let mut both = redis::pipe();
            both.atomic().cmd("RL.PEEK").arg(algorithm.word()).arg(&["k", &LONG.to_string(), "3", "FULL"]);
            both.add_command(algorithm.request("k", LONG, 3, 1));
            let Value::Array(mut replies) = ok(both.query(con)) else { panic!("no array") };
            let found: [i64; 3] = read(replies.pop().expect("two replies"));
            let look = full(replies.pop().expect("two replies"));
            taken.take(allowed.into(), look.now_ms);
            assert_eq!((found[..2].to_vec(), vec![look.allowed, look.count]), (expected.to_vec(), expected.to_vec()));
            let ttl = ttl_of_one(algorithm, &taken, allowed);
            assert!(ttl.contains(&found[2]), "{algorithm:?}: {found:?}, not {ttl:?}, {taken:?}");
            algorithm.assert_ttl_agrees(&look);
        }
    });
}

/// The state says what happened, the arguments what is allowed now.
#[test]
fn a_raised_limit_gives_room_at_once() {
    for_each_algorithm(|algorithm, con| {
        for _ in 0..3 {
            algorithm.ask(con, "k", LONG, 3);
        }
        let denials = i64::from(algorithm.counts_denials);
        assert_eq!(algorithm.ask(con, "k", LONG, 3)[0], 0);
        let look = full_of(con, "RL.PEEK", &[algorithm.word(), "k", &LONG.to_string(), "100", "FULL"]);
        let request = algorithm.ask(con, "k", LONG, 100);
        if algorithm.rescales {
            // All of it was taken, and is.
            assert_eq!((look.allowed, look.remaining, request[..2].to_vec()), (0, 0, vec![0, 100]), "{algorithm:?}");
        } else {
            let count = algorithm.count(3 + denials, 1);
            assert_eq!((look.allowed, look.remaining), (1, 96 - denials), "{algorithm:?}");
            assert_eq!(request[..2], [1, count], "{algorithm:?}");
        }
        // And lowered again, there is none.
        assert_eq!(algorithm.ask(con, "k", LONG, 2)[0], 0, "{algorithm:?}");
    });
}

#[test]
fn full_is_a_map_or_its_pairs() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        for algorithm in ALGORITHMS {
            let flat = ok(cmd!(server.con(), algorithm.command, "k", 60, 3, "FULL"));
            assert!(matches!(flat, Value::Array(flat) if flat.len() == 2 * FIGURES.len()));
            let map = ok(cmd!(server.con3(), algorithm.command, "k", 60, 3, "full"));
            assert!(matches!(map, Value::Map(pairs) if pairs.len() == FIGURES.len()));
            ok(cmd!(server.con(), "FLUSHALL"));
        }
    });
}

#[test]
fn every_figure_of_full() {
    for_each_algorithm(|algorithm, con| {
        let mut taken = Taken::new(LONG * 1_000, 3);
        let mut before = 0;
        for n in 0..5 {
            thread::sleep(Duration::from_millis(2));
            let allowed = n < 3;
            let added = i64::from(allowed || algorithm.counts_denials);
            let start = server_ms(con);
            let found = full(ok(cmd!(*con, algorithm.command, "k", LONG, 3, "FULL")));
            assert!((start..=server_ms(con)).contains(&found.now_ms));
            let queued = taken.at.len();
            taken.take(allowed.into(), found.now_ms);
            let expected = Full {
                allowed: i64::from(allowed),
                count: algorithm.count(before, added),
                limit: 3,
                remaining: i64::max(2 - n, 0),
                charged: i64::from(allowed),
                ..found
            };
            let what = format!("{algorithm:?}, request {n}: {found:?}, {taken:?}");
            assert_eq!(found, expected, "{what}");
            assert!(ttl_of_one(algorithm, &taken, allowed).contains(&found.ttl), "{what}");
            algorithm.assert_ttl_agrees(&found);
            assert!(algorithm.freed_in(&taken, 1).contains(&found.next_ms), "{what}");
            assert!(algorithm.freed_in(&taken, taken.at.len()).contains(&found.reset_ms), "{what}");
            assert_eq!(found.retry_after_ms, if allowed { 0 } else { found.next_ms }, "{what}");
            if algorithm.delays && allowed && queued > 0 {
                assert!(algorithm.freed_in(&taken, queued).contains(&found.delay_ms), "{what}");
            } else {
                assert_eq!(found.delay_ms, 0, "{what}");
            }
            before += added;
        }
    });
}

/// Of ten units, four are charged, and a little later four more. A denied cost waits until as many of them as it needs
/// have come back.
#[test]
fn figures_of_a_cost() {
    for_each_algorithm(|algorithm, con| {
        let mut taken = Taken::new(LONG * 1_000, 10);
        let ask = |con: &mut Connection, cost: i64| {
            thread::sleep(Duration::from_millis(2));
            full(ok(cmd!(*con, algorithm.command, "k", LONG, 10, "COST", cost, "FULL")))
        };
        for before in [0, 4] {
            let reply = ask(con, 4);
            taken.take(4, reply.now_ms);
            assert_eq!((reply.allowed, reply.count), (1, algorithm.count(before, 4)), "{algorithm:?}");
            assert_eq!((reply.remaining, reply.retry_after_ms), (6 - before, 0), "{algorithm:?}");
            assert_eq!(reply.charged, 4, "{algorithm:?}");
            assert!(algorithm.ttl_if_allowed(&taken).contains(&reply.ttl), "{algorithm:?}: {reply:?}, {taken:?}");
            algorithm.assert_ttl_agrees(&reply);
        }
        for (cost, have_to_leave) in [(3, 1), (6, 4), (7, 5), (10, 8)] {
            let reply = ask(con, cost);
            taken.take(0, reply.now_ms);
            let what = format!("{algorithm:?}, COST {cost}: {reply:?}, {taken:?}");
            assert_eq!((reply.allowed, reply.count, reply.remaining), (0, algorithm.count(8, 0), 2), "{what}");
            for (figure, units) in [(reply.retry_after_ms, have_to_leave), (reply.next_ms, 1), (reply.reset_ms, 8)] {
                assert!(algorithm.freed_in(&taken, units).contains(&figure), "{what}");
            }
            assert!(algorithm.ttl_if_denied(&taken, Some(have_to_leave)).contains(&reply.ttl), "{what}");
            algorithm.assert_ttl_agrees(&reply);
        }
        let reply = ask(con, 2);
        assert_eq!((reply.allowed, reply.count, reply.remaining), (1, algorithm.count(8, 2), 0), "{algorithm:?}");
    });
}

#[test]
fn a_limit_of_0_denies_everything_for_ever() {
    for_each_algorithm(|algorithm, con| {
        let mut taken = Taken::new(LONG * 1_000, 0);
        let denials = algorithm.counts_denials;
        for n in 0..2 {
            let before = if denials { n } else { 0 };
            let found = full(ok(cmd!(*con, algorithm.command, "k", LONG, 0, "FULL")));
            taken.take(0, found.now_ms);
            let expected = Full {
                allowed: 0,
                count: algorithm.count(before, i64::from(denials)),
                ttl: found.ttl,
                limit: 0,
                remaining: 0,
                retry_after_ms: -1,
                next_ms: 0,
                reset_ms: 0,
                delay_ms: 0,
                now_ms: found.now_ms,
                shadow: 0,
                charged: 0,
            };
            assert_eq!(found, expected, "{algorithm:?}");
            assert!(algorithm.ttl_if_denied(&taken, None).contains(&found.ttl), "{algorithm:?}: {found:?}");
            algorithm.assert_ttl_agrees(&found);
        }
        assert_eq!(ok(cmd!(*con, "DBSIZE")), Value::Int(denials.into()));
    });
}

#[test]
fn a_cost_above_the_limit_never_passes() {
    for_each_algorithm(|algorithm, con| {
        for cost in ["4", "9223372036854775807"] {
            let found = full(ok(cmd!(*con, algorithm.command, "k", LONG, 3, "COST", cost, "FULL")));
            let figures = (found.allowed, found.count, found.limit, found.remaining);
            assert_eq!(figures, (0, 0, 3, 3), "{algorithm:?}");
            assert_eq!((found.retry_after_ms, found.next_ms, found.reset_ms), (-1, 0, 0), "{algorithm:?}");
            algorithm.assert_ttl_agrees(&found);
        }
        assert_eq!(ok(cmd!(*con, "DBSIZE")), Value::Int(0), "{algorithm:?}");
        let mut taken = Taken::new(LONG * 1_000, 3);
        taken.take(2, full(ok(cmd!(*con, algorithm.command, "k", LONG, 3, "COST", 2, "FULL"))).now_ms);
        let found = full(ok(cmd!(*con, algorithm.command, "k", LONG, 3, "COST", 4, "FULL")));
        taken.take(0, found.now_ms);
        assert_eq!((found.allowed, found.remaining, found.retry_after_ms), (0, 1, -1), "{algorithm:?}");
        assert!(algorithm.ttl_if_denied(&taken, None).contains(&found.ttl), "{algorithm:?}: {found:?}");
        assert!(algorithm.freed_in(&taken, 1).contains(&found.next_ms), "{algorithm:?}: {found:?}");
        assert!(algorithm.freed_in(&taken, 2).contains(&found.reset_ms), "{algorithm:?}: {found:?}");
    });
}

/// COST 0 charges nothing, and is allowed while one unit is left.
#[test]
fn a_cost_of_0_charges_nothing_and_says_whether_anything_is_left() {
    for_each_algorithm(|algorithm, con| {
        let ask = |con: &mut Connection, limit: i64, cost: i64| {
            let cost = cost.to_string();
            full_of(con, algorithm.command, &["k", &LONG.to_string(), &limit.to_string(), "COST", &cost, "FULL"])
        };
        let found = ask(con, 3, 0);
        assert_eq!((found.allowed, found.count, found.remaining, found.reset_ms), (1, 0, 3, 0), "{algorithm:?}");
        algorithm.assert_ttl_agrees(&found);
        let found = ask(con, 0, 0);
        assert_eq!((found.allowed, found.remaining, found.retry_after_ms), (0, 0, -1), "{algorithm:?}");
        algorithm.assert_ttl_agrees(&found);
        assert_eq!(ok(cmd!(*con, "DBSIZE")), Value::Int(0), "{algorithm:?}");
        let mut taken = Taken::new(LONG * 1_000, 3);
        for used in 1..=3 {
            taken.take(1, ask(con, 3, 1).now_ms);
            let before = digest(con);
            for _ in 0..2 {
                let found = ask(con, 3, 0);
                taken.now = found.now_ms;
                let what = format!("{algorithm:?}, {used} used: {found:?}");
                let allowed = i64::from(used < 3);
                assert_eq!((found.allowed, found.count, found.remaining), (allowed, used, 3 - used), "{what}");
                assert_eq!(found.retry_after_ms, if used < 3 { 0 } else { found.next_ms }, "{what}");
                assert!(algorithm.freed_in(&taken, 1).contains(&found.next_ms), "{what}");
                assert!(ttl_of_one(algorithm, &taken, used < 3).contains(&found.ttl), "{what}");
                algorithm.assert_ttl_agrees(&found);
            }
            assert_eq!(digest(con), before, "{algorithm:?}, {used} used");
        }
    });
}

/// As in draft-ietf-httpapi-ratelimit-headers: what stands in each is checked against FULL of the same moment.
#[test]
fn headers_are_ready_to_copy() {
    for_each_algorithm(|algorithm, con| {
        let name = algorithm.name;
        let mut compared = 0;
        for n in 0..4 {
            let arguments = ["k", &LONG.to_string(), "3", "HEADERS"];
            let mut both = redis::pipe();
            both.atomic().cmd("RL.PEEK").arg(algorithm.word()).arg(&arguments[..3]).arg("FULL");
            both.cmd(algorithm.command).arg(&arguments);
            let Value::Array(mut replies) = ok(both.query(con)) else { panic!("no array") };
            let (figures, headers) = with_headers(replies.pop().expect("two replies"));
            let look = full(replies.pop().expect("two replies"));
            assert_eq!((figures[0], figures[1]), (i64::from(n < 3), look.count), "{name}");
            let value = |wanted: &str| {
                let found = headers.iter().find(|(name, _)| name == wanted);
                found.map(|(_, value)| value.as_str()).unwrap_or_else(|| panic!("no {wanted} in {headers:?}"))
            };
            let mut names = vec![
                "X-RateLimit-Limit",
                "X-RateLimit-Remaining",
                "X-RateLimit-Reset",
                "RateLimit-Policy",
                "RateLimit",
            ];
            if n == 3 {
                names.push("Retry-After");
            }
            assert_eq!(headers.iter().map(|(name, _)| name).collect::<Vec<_>>(), names, "{name}");
            let remaining = i64::max(2 - n, 0);
            assert_eq!(value("X-RateLimit-Limit"), "3", "{name}");
            assert_eq!(value("X-RateLimit-Remaining"), remaining.to_string(), "{name}");
            assert_eq!(value("RateLimit-Policy"), format!("\"{name}\";q=3;w={LONG}"));
            let reset = (look.now_ms + look.reset_ms + 999) / 1_000;
            let seconds = (look.next_ms + 999) / 1_000;
            // Redis 7.0 reads the clock for each of the two, and a second may begin between them.
            if value("X-RateLimit-Reset") == reset.to_string()
                && value("RateLimit") == format!("\"{name}\";r={remaining};t={seconds}")
                && (n < 3 || value("Retry-After") == seconds.to_string())
            {
                compared += 1;
            }
        }
        assert!(compared >= 3, "{name}: {compared} of 4");
    });
}

/// Denied for ever: no time to come back is named.
#[test]
fn headers_of_what_never_passes() {
    for_each_algorithm(|algorithm, con| {
        for (limit, cost) in [(0, 1), (3, 4)] {
            let start = server_ms(con);
            let reply = ok(cmd!(*con, algorithm.command, "k", "1500ms", limit, "COST", cost, "HEADERS"));
            let end = server_ms(con);
            let (figures, headers) = with_headers(reply);
            assert_eq!(figures[0], 0);
            let expected = [start, end].map(|now| {
                let headers = [
                    ("X-RateLimit-Limit", limit.to_string()),
                    ("X-RateLimit-Remaining", limit.to_string()),
                    ("X-RateLimit-Reset", ((now + 999) / 1_000).to_string()),
                    // 1500 ms are no whole number of seconds: twice the limit in twice the window.
                    ("RateLimit-Policy", format!("\"{}\";q={};w=3", algorithm.name, 2 * limit)),
                    ("RateLimit", format!("\"{}\";r={limit};t=0", algorithm.name)),
                ];
                headers.map(|(name, value)| (name.to_owned(), value)).to_vec()
            });
            assert!(expected.contains(&headers), "{algorithm:?}: {headers:?}");
            ok(cmd!(*con, "FLUSHALL"));
        }
    });
}

/// A window that is no whole number of seconds is multiplied until it is, and the limit with it. An integer of a
/// structured field has at most 15 digits, or the whole header is void.
#[test]
fn headers_hold_whole_seconds_and_15_digits() {
    for_each_algorithm(|algorithm, con| {
        for (window, limit, quota, seconds) in [
            ("500ms", 10_i64, 20_i64, 1),
            ("1500ms", 10, 20, 3),
            ("1ms", 3, 3_000, 1),
            ("999ms", 2, 2_000, 999),
            ("250ms", 5, 20, 1),
            ("60", 7, 7, 60),
            ("1000000000", 999_999_999_999_999, 999_999_999_999_999, LONG),
            ("1000000000", 1_000_000_000_000_000, 999_999_999_999_999, LONG),
            ("1000000000", 1_000_000_000_000_000_000, 999_999_999_999_999, LONG),
            ("1500ms", 999_999_999_999_999, 999_999_999_999_999, 3),
        ] {
            if window == "1500ms" && limit > 1_500_000_000 && algorithm.command == GCRA.command {
                // At most one unit a nanosecond.
                continue;
            }
            ok(cmd!(*con, "FLUSHALL"));
            let (figures, headers) = with_headers(ok(cmd!(*con, algorithm.command, "k", window, limit, "HEADERS")));
            assert_eq!(figures[0], 1, "{algorithm:?}");
            let value = |wanted: &str| {
                let found = headers.iter().find(|(name, _)| name == wanted);
                found.map(|(_, value)| value.as_str()).unwrap_or_else(|| panic!("no {wanted} in {headers:?}"))
            };
            let name = algorithm.name;
            assert_eq!(value("RateLimit-Policy"), format!("\"{name}\";q={quota};w={seconds}"), "{window} {limit}");
            let remaining = (limit - 1).min(999_999_999_999_999);
            let start = format!("\"{name}\";r={remaining};t=");
            assert!(value("RateLimit").starts_with(&start), "{window} {limit}: {headers:?}, not {start}");
            // These are no structured fields.
            assert_eq!(value("X-RateLimit-Limit"), limit.to_string(), "{algorithm:?}");
            assert_eq!(value("X-RateLimit-Remaining"), (limit - 1).to_string(), "{algorithm:?}");
        }
    });
}

#[test]
fn windows_have_units() {
    const WINDOWS: [(&str, i64); 9] = [
        ("1ms", 1),
        ("500ms", 500),
        ("1", 1_000),
        ("10", 10_000),
        ("10s", 10_000),
        ("5m", 300_000),
        ("1h", 3_600_000),
        ("1d", 86_400_000),
        ("2500ms", 2_500),
    ];
    for_each_algorithm(|algorithm, con| {
        let (longest, _) = algorithm.largest;
        let longest = (&*longest.to_string(), longest * 1_000);
        for (window, millis) in WINDOWS.into_iter().chain([longest]) {
            let mut transaction = redis::pipe();
            transaction.atomic();
            transaction.cmd(algorithm.command).arg("k").arg(window).arg(5).arg("FULL");
            transaction.cmd("KEYS").arg("*");
            let Value::Array(mut replies) = ok(transaction.query(con)) else { panic!("no array") };
            let (keys, reply) = (replies.pop().expect("keys"), full(replies.pop().expect("a reply")));
            let what = format!("{algorithm:?} {window}: {reply:?}");
            assert_eq!((reply.allowed, reply.limit, reply.remaining), (1, 5, 4), "{what}");
            let mut taken = Taken::new(millis, 5);
            taken.take(1, reply.now_ms);
            if millis > 1 {
                assert!(algorithm.ttl_if_allowed(&taken).contains(&reply.ttl), "{what}");
            }
            algorithm.assert_ttl_agrees(&reply);
            // What ends at once may be gone.
            if millis >= 1_000 {
                let state = algorithm.state_key(b"k", millis.cast_unsigned(), reply.now_ms.cast_unsigned());
                assert_eq!(keys, Value::Array(vec![bytes(&state)]), "{what}");
                assert_eq!(ok(cmd!(*con, "TYPE", &state)), Value::SimpleString(algorithm.key_type.into()), "{what}");
                let expires_at: i64 = read(ok(cmd!(*con, "PEXPIRETIME", &state)));
                let late = expires_at - (algorithm.expires_at)(&taken);
                assert!((0..=algorithm.slack_ms + algorithm.expires_late_ms).contains(&late), "{what}: {late} ms late");
            }
            ok(cmd!(*con, "FLUSHALL"));
        }
        // A millisecond more, or a unit, is refused where there is an end.
        let (window, limit) = algorithm.largest;
        let text = err(cmd!(*con, algorithm.command, "k", window + 1, 5));
        assert!(text.starts_with("ERR invalid window"), "{algorithm:?}: {text}");
        if limit < i64::MAX {
            let text = err(cmd!(*con, algorithm.command, "k", window, limit + 1));
            assert!(text.starts_with("ERR invalid window"), "{algorithm:?}: {text}");
        }
    });
}

/// Kept over the wire, for every cost: denied before `retry_after_ms` is over, allowed from then on.
#[test]
fn retry_after_is_kept() {
    for_each_algorithm(|algorithm, con| {
        // The server computes in microseconds, so a moment in milliseconds is known to this precision.
        let blur = i64::from(algorithm.slack_ms > 0);
        for (cost, window) in [(1, "300ms"), (3, "1"), (5, "250ms")] {
            for _ in 0..5 {
                ok(cmd!(*con, algorithm.command, "k", window, 5));
            }
            let ask =
                |con: &mut Connection| full(ok(cmd!(*con, algorithm.command, "k", window, 5, "COST", cost, "FULL")));
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
                let what = format!("{algorithm:?} COST {cost}: {reply:?} after {denied:?}");
                if reply.allowed == 1 {
                    assert!(reply.now_ms >= opens - blur, "{what}");
                    break;
                }
                assert!(reply.now_ms < opens + blur, "{what}");
                assert!((reply.now_ms + reply.retry_after_ms - opens).abs() <= blur, "{what}");
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
            let ask = |con: &mut Connection| full(ok(cmd!(*con, algorithm.command, "k", "100ms", 2, "FULL")));
            let reply = ask(con);
            if reply.allowed == 0 {
                waited += 1;
                thread::sleep(Duration::from_millis(reply.retry_after_ms.cast_unsigned()));
                assert_eq!(ask(con).allowed, 1, "{algorithm:?}");
            }
        }
        assert!(waited > 2, "{algorithm:?}: denied {waited} times");
    });
}

#[test]
fn options_come_in_any_order_and_case() {
    for_each_algorithm(|algorithm, con| {
        let mut ask = |options: &[&str]| {
            let mut cmd = redis::cmd(&algorithm.command.to_lowercase());
            let reply = full(ok(cmd.arg("k").arg(LONG).arg(5).arg(options).query(con)));
            ok(cmd!(*con, "FLUSHALL"));
            (reply.allowed, reply.limit, reply.remaining)
        };
        for options in [["COST", "2", "FULL"], ["FULL", "COST", "2"], ["full", "Cost", "2"]] {
            assert_eq!(ask(&options), (1, 5, 3), "{options:?}");
        }
        if algorithm.takes_burst {
            for options in [
                ["COST", "2", "BURST", "7", "FULL"],
                ["FULL", "burst", "7", "COST", "2"],
                ["bursT", "7", "full", "cost", "2"],
            ] {
                assert_eq!(ask(&options), (1, 7, 5), "{options:?}");
            }
        }
    });
}

#[test]
fn the_burst_is_what_passes_at_once() {
    for_each_algorithm(|algorithm, con| {
        if !algorithm.takes_burst {
            let text = err(cmd!(*con, algorithm.command, "k", LONG, 5, "BURST", 5));
            assert_eq!(text, format!("ERR invalid BURST: {} takes none", algorithm.word()));
            return;
        }
        // Of twice the limit, and of half of it.
        for burst in [10, 2] {
            let mut taken = Taken::new(LONG * 1_000, 5);
            for n in 0..burst + 2 {
                let reply = full(ok(cmd!(*con, algorithm.command, "k", LONG, 5, "BURST", burst, "FULL")));
                let allowed = n < burst;
                taken.take(allowed.into(), reply.now_ms);
                let what = format!("{algorithm:?} BURST {burst}, request {n}: {reply:?}");
                assert_eq!((reply.allowed, reply.count, reply.limit), (allowed.into(), n.min(burst), burst), "{what}");
                assert_eq!(reply.remaining, (burst - 1 - n).max(0), "{what}");
                assert!(algorithm.freed_in(&taken, 1).contains(&reply.next_ms), "{what}");
                assert!(algorithm.freed_in(&taken, taken.at.len()).contains(&reply.reset_ms), "{what}");
                assert!(ttl_of_one(algorithm, &taken, allowed).contains(&reply.ttl), "{what}");
                algorithm.assert_ttl_agrees(&reply);
            }
            let never =
                full(ok(cmd!(*con, algorithm.command, "k", LONG, 5, "BURST", burst, "COST", burst + 1, "FULL")));
            assert_eq!((never.allowed, never.retry_after_ms), (0, -1), "{algorithm:?}");
            ok(cmd!(*con, "FLUSHALL"));
        }
    });
}

#[test]
fn the_largest_arguments() {
    for_each_algorithm(|algorithm, con| {
        let (window, most) = algorithm.largest;
        let found = full(ok(cmd!(*con, algorithm.command, "k", window, most, "FULL")));
        assert_eq!((found.allowed, found.limit, found.remaining), (1, most, most - 1), "{algorithm:?}");
        let found = full(ok(cmd!(*con, algorithm.command, "l", window, 2, "COST", i64::MAX, "FULL")));
        assert_eq!((found.allowed, found.retry_after_ms), (0, -1), "{algorithm:?}");
        // The largest cost of one call fits, and again for as long as there is room.
        let cost = most.min(algorithm.max_cost);
        let ask = |con: &mut Connection, limit| {
            full(ok(cmd!(*con, algorithm.command, "m", window, limit, "COST", cost, "FULL")))
        };
        let found = ask(con, most);
        assert_eq!((found.allowed, found.limit, found.remaining), (1, most, most - cost), "{algorithm:?}");
        let found = if cost == most && algorithm.counts_denials {
            let text = err(cmd!(*con, algorithm.command, "m", window, most, "COST", cost));
            assert_eq!(text, OVERFLOW, "{algorithm:?}");
            full(ok(cmd!(*con, "RL.PEEK", algorithm.word(), "m", window, most, "COST", 0, "FULL")))
        } else {
            ask(con, cost)
        };
        // So large a limit comes back by millions a second.
        let back = if algorithm.slack_ms > 0 { most / 1_000_000 } else { 0 };
        assert!(found.allowed == 0 && found.remaining <= back, "{algorithm:?}: {found:?}");
        assert!(found.retry_after_ms > 0 && found.ttl > 0, "{algorithm:?}: {found:?}");
        algorithm.assert_ttl_agrees(&found);
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
        let triple: [i64; 3] = read(ok(eval(con, &[])));
        assert_eq!(triple[..2], [1, algorithm.count(0, 1)], "{algorithm:?}");
        // Scripts speak RESP2 unless they ask.
        let reply = full(ok(eval(con, &["FULL"])));
        assert_eq!((reply.allowed, reply.remaining), (1, 1), "{algorithm:?}");
        let mut transaction = redis::pipe();
        transaction.atomic();
        for form in [&["FULL"][..], &["FULL"], &[]] {
            transaction.cmd(algorithm.command).arg("k").arg(LONG).arg(3).arg(form);
        }
        let Value::Array(mut replies) = ok(transaction.query(con)) else { panic!("no array") };
        let after = i64::from(algorithm.counts_denials);
        let triple: [i64; 3] = read(replies.pop().expect("a reply"));
        assert_eq!(triple[..2], [0, algorithm.count(3 + after, after)], "{algorithm:?}");
        let denied = full(replies.pop().expect("a reply"));
        let allowed = full(replies.pop().expect("a reply"));
        assert_eq!((allowed.allowed, denied.allowed), (1, 0), "{algorithm:?}");
    });
}
