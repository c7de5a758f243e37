//! PARTIAL: a request takes as much of its cost as fits.

use crate::support::*;
use redis::Connection;

#[track_caller]
fn full_reply(con: &mut Connection, words: &str) -> Full {
    full(ok(send(con, &format!("{words} FULL"))))
}

#[track_caller]
fn triple(con: &mut Connection, words: &str) -> [i64; 3] {
    read(ok(send(con, words)))
}

/// In a window that does not end, one integer says what every algorithm must do.
#[test]
fn any_mix_of_requests_takes_what_the_oracle_allows() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        for mut random in randoms() {
            for mut con in [server.con(), server.con3()] {
                ok(cmd!(con, "FLUSHALL"));
                let [mut partly, mut nothing] = [0, 0];
                for algorithm in ALGORITHMS {
                    for round in 0..8 {
                        let key = format!("{}:{round}", algorithm.name);
                        let limit = random.below(15) as i64;
                        let (mut options, mut capacity) = (String::new(), limit);
                        // At a limit of 0 no unit comes back, and BURST is the capacity all the same.
                        if algorithm.takes_burst && limit > 0 && random.below(2) == 0 {
                            // The span that GCRA can represent fits four times the limit in such a window.
                            capacity = 1 + random.below(3 * limit.unsigned_abs()) as i64;
                            options = format!(" BURST {capacity}");
                        }
                        let mut left = capacity;
                        for _ in 0..8 {
                            let word = algorithm.word();
                            let partial = random.below(3) > 0;
                            // FIXED counts denials too, so a whole request of the largest cost would overflow.
                            let most = if partial { i64::MAX } else { 1_000_000_000_000 };
                            let cost = if random.below(8) == 0 { most } else { random.below(6) as i64 };
                            let said = if partial { " PARTIAL" } else { "" };
                            let limit = format!("{key} {LONG} {limit} COST {cost}{options}{said}");
                            let taken = if partial {
                                cost.min(left)
                            } else if cost <= left {
                                cost
                            } else {
                                0
                            };
                            let first = if partial { taken } else { i64::from(cost.max(1) <= left) };

                            let data = digest(&mut con);
                            assert_eq!(
                                full_reply(&mut con, &format!("RL.PEEK {word} {limit}")).allowed,
                                first,
                                "{limit}"
                            );
                            assert_eq!(digest(&mut con), data, "RL.PEEK {word} {limit}");
                            if random.below(2) == 0 {
                                assert_eq!(triple(&mut con, &format!("RL.{word} {limit}"))[0], first, "{word} {limit}");
                            } else {
                                let reply = full_reply(&mut con, &format!("RL.{word} {limit}"));
                                let expected = [first, capacity, left - taken];
                                assert_eq!([reply.allowed, reply.limit, reply.remaining], expected, "{word} {limit}");
                            }
                            partly += i64::from(partial && (1..cost).contains(&taken));
                            nothing += i64::from(partial && taken == 0 && cost > 0);
                            left -= taken;
                        }
                    }
                }
                assert!(partly > 20 && nothing > 20, "{partly} requests took a part, {nothing} nothing");
            }
        }
    });
}

/// Time passes: what comes back is taken as soon as it is there, and nothing twice.
#[test]
fn partial_requests_take_what_comes_back_and_no_more() {
    const WINDOW_MS: i64 = 50;
    const LIMIT: i64 = 40;
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for mut random in randoms() {
            for algorithm in ALGORITHMS {
                // When, and how much.
                let mut taken: Vec<(i64, i64)> = Vec::new();
                let start = now_ms();
                while now_ms() < start + 3 * WINDOW_MS {
                    let cost = 1 + random.below(30);
                    let partial = random.pick(&[" PARTIAL", " PARTIAL", ""]);
                    let request = format!("{} k {WINDOW_MS}ms {LIMIT} COST {cost}{partial}", algorithm.command);
                    let reply = full_reply(&mut con, &request);
                    let units = if partial.is_empty() { reply.allowed * cost as i64 } else { reply.allowed };
                    taken.push((reply.now_ms, units));
                    if !partial.is_empty() && units < cost as i64 {
                        assert_eq!(reply.remaining, 0, "{request} took too little: {reply:?}");
                    }
                }
                // FIXED allows the limit in each aligned window, SLIDING in any window. The others allow what was full at
                // the start, and what came back since.
                let (first, last) = (taken[0].0, taken[taken.len() - 1].0);
                let most = match algorithm.name {
                    "fixed" => LIMIT * (last / WINDOW_MS - first / WINDOW_MS + 1),
                    "sliding" => LIMIT * ((last - first) / WINDOW_MS + 1),
                    _ => LIMIT + LIMIT * (last - first + 1) / WINDOW_MS + 1,
                };
                let sum: i64 = taken.iter().map(|(_, units)| units).sum();
                assert!(sum > LIMIT && sum <= most, "{algorithm:?}: {sum} of {most} in {} ms", last - first);
                ok(cmd!(con, "FLUSHALL"));
            }
        }
    });
}

#[test]
fn if_nothing_fits_nothing_is_counted() {
    for_each_server(|bin| {
        let server = Server::options(bin).durable().start();
        for mut con in [server.con(), server.con3()] {
            ok(cmd!(con, "FLUSHALL"));
            for algorithm in ALGORITHMS {
                let request = format!("{} k:{} {LONG} 5", algorithm.command, algorithm.name);
                assert_eq!(triple(&mut con, &format!("{request} COST 5"))[0], 1);
                let before = everything(&mut con);
                let mut effects = Effects::of(&server);
                for cost in ["", " COST 1", " COST 4", " COST 9223372036854775807"] {
                    let reply = full_reply(&mut con, &format!("{request} PARTIAL{cost}"));
                    assert_eq!([reply.allowed, reply.count, reply.remaining], [0, 5, 0], "{request}{cost}");
                    // The time after which something fits.
                    assert!(reply.retry_after_ms > 0, "{request}{cost}: {reply:?}");
                    assert_eq!(reply.retry_after_ms, reply.next_ms, "{request}{cost}");
                }
                assert_eq!(everything(&mut con), before, "{request}");
                assert_eq!(effects.take(), Vec::<Vec<String>>::new(), "{request}");
                // Without PARTIAL, FIXED counts the denial.
                let counted = i64::from(algorithm.name == FIXED.name);
                assert_eq!(triple(&mut con, &request)[..2], [0, 5 + counted]);
                assert_eq!(triple(&mut con, &format!("{request} PARTIAL"))[..2], [0, 5 + counted]);

                // A limit of 0 never holds anything, and makes no key.
                let nothing = format!("{} none:{} {LONG} 0 COST 3 PARTIAL", algorithm.command, algorithm.name);
                let reply = full_reply(&mut con, &nothing);
                assert_eq!([reply.allowed, reply.remaining, reply.retry_after_ms], [0, 0, -1], "{nothing}");
                assert!(!keys(&mut con).iter().any(|key| key.starts_with("none:")), "{nothing}");
            }
        }
    });
}

/// COST 0 takes nothing, so the amount is 0 in either case. `retry_after_ms` tells whether a unit is left.
#[test]
fn cost_0_with_partial_replies_0() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for algorithm in ALGORITHMS {
            let request = format!("{} {} {LONG} 5", algorithm.command, algorithm.name);
            for charged in [0, 2, 5] {
                ok(cmd!(con, "FLUSHALL"));
                if charged > 0 {
                    triple(&mut con, &format!("{request} COST {charged}"));
                }
                let before = everything(&mut con);
                let reply = full_reply(&mut con, &format!("{request} PARTIAL COST 0"));
                assert_eq!([reply.allowed, reply.count, reply.remaining], [0, charged, 5 - charged], "{request}");
                assert_eq!(reply.retry_after_ms > 0, charged == 5, "{request}: {reply:?}");
                assert_eq!(everything(&mut con), before, "{request}");
            }
        }
    });
}

/// The headers go with the amount: there is no `Retry-After` if something was taken.
#[test]
fn the_headers_of_a_partial_request() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for algorithm in ALGORITHMS {
            let request = format!("{} {} {LONG} 5 COST 3 PARTIAL HEADERS", algorithm.command, algorithm.name);
            for (amount, remaining) in [(3, "2"), (2, "0"), (0, "0")] {
                let (found, headers) = with_headers(ok(send(&mut con, &request)));
                let value =
                    |name: &str| headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str());
                assert_eq!(found[0], amount, "{request}");
                assert_eq!(value("X-RateLimit-Remaining"), Some(remaining), "{request}");
                assert_eq!(value("Retry-After").is_some(), amount == 0, "{request}: {headers:?}");
            }
        }
    });
}

/// At most 1,000 members a call: PARTIAL counts the part that can fit, not the cost.
#[test]
fn a_log_takes_a_part_of_any_cost() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for (limit, expected) in [(5, 5), (1_000, 1_000)] {
            let request = format!("RL.SLIDING k{limit} {LONG} {limit} COST {} PARTIAL", i64::MAX);
            assert_eq!(triple(&mut con, &request)[0], expected, "{request}");
            assert_eq!(triple(&mut con, &request)[0], 0, "{request}");
        }
        let text = err(send(&mut con, &format!("RL.SLIDING k {LONG} 10001 COST 10001 PARTIAL")));
        assert!(text.starts_with("ERR invalid COST: RL.SLIDING takes at most 1000"), "{text}");
        assert_eq!(triple(&mut con, &format!("RL.SLIDING k {LONG} 1001 COST 1000 PARTIAL"))[0], 1_000);
    });
}

#[test]
fn commands_that_do_not_take_it_say_so() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for algorithm in ALGORITHMS {
            let word = algorithm.word();
            triple(&mut con, &format!("RL.{word} {word} {LONG} 5 COST 2"));
            let before = everything(&mut con);
            let error = "invalid PARTIAL: only RL.<ALGO> and RL.PEEK take it";
            for (call, expected) in [
                (format!("RL.MULTI 1 {word} {word} {LONG} 5 PARTIAL"), format!("ERR limit 1: {error}")),
                (format!("RL.MULTI 1 {word} {word} {LONG} 5 PARTIAL FULL"), format!("ERR limit 1: {error}")),
                (
                    format!("RL.MULTI 2 TOKEN k 60 5 {word} {word} {LONG} 5 COST 2 PARTIAL"),
                    format!("ERR limit 2: {error}"),
                ),
                (format!("RL.REFUND {word} {word} {LONG} 5 PARTIAL"), format!("ERR {error}")),
                (format!("RL.SETTLE {word} {word} {LONG} 5 RESERVED 2 ACTUAL 1 PARTIAL"), format!("ERR {error}")),
                (format!("RL.RESET {word} {word} {LONG} PARTIAL"), format!("ERR {error}")),
            ] {
                assert_eq!(err(send(&mut con, &call)), expected, "{call}");
            }
            let text = err(send(&mut con, &format!("RL.{word} {word} {LONG} 5 PARTIAL PARTIAL")));
            assert_eq!(text, "ERR syntax error: PARTIAL comes at most once");
            assert_eq!(everything(&mut con), before, "{word}");
        }
    });
}

/// At `maxmemory`, a request that has to create or grow a key charges nothing. With `rl.on-oom allow` it replies the
/// amount that would fit, with `deny` 0, with `error` the server's error. If nothing fits, it is denied in each case. A
/// request that needs no memory goes on as usual.
#[test]
fn at_maxmemory_the_amount_that_fits_is_replied_and_not_charged() {
    for_each_server(|bin| {
        for on_oom in ["allow", "deny", "error"] {
            let server = Server::start(bin);
            let mut con = server.con();
            for algorithm in ALGORITHMS {
                for charged in [2, 5] {
                    triple(
                        &mut con,
                        &format!("{} {charged}:{} {LONG} 5 COST {charged}", algorithm.command, algorithm.name),
                    );
                }
            }
            ok(cmd!(con, "CONFIG", "SET", "rl.on-oom", on_oom));
            ok(cmd!(con, "CONFIG", "SET", "maxmemory", 1));
            assert!(err(cmd!(con, "SET", "k", 1)).starts_with("OOM "));
            for algorithm in ALGORITHMS {
                let command = algorithm.command;
                for charged in [0, 2, 5] {
                    let request = format!("{command} {charged}:{} {LONG} 5 COST 4 PARTIAL FULL", algorithm.name);
                    let what = format!("{on_oom}: {request}");
                    let before = everything(&mut con);
                    let reply = send(&mut con, &request);
                    let fits = 4.min(5 - charged);
                    let grows = fits > 0 && (charged == 0 || algorithm.name == SLIDING.name);
                    if grows && on_oom == "error" {
                        assert!(err(reply).starts_with("OOM "), "{what}");
                    } else {
                        let reply = full(ok(reply));
                        let amount = if grows && on_oom == "deny" { 0 } else { fits };
                        let remaining = if grows { 5 - charged } else { 5 - charged - fits };
                        assert_eq!([reply.allowed, reply.remaining], [amount, remaining], "{what}");
                        match amount {
                            // Denied because there is no memory: a second at least.
                            0 if grows => assert!(reply.retry_after_ms >= 1_000, "{what}: {reply:?}"),
                            0 => assert!(reply.retry_after_ms > 0, "{what}: {reply:?}"),
                            _ => assert_eq!(reply.retry_after_ms, 0, "{what}"),
                        }
                    }
                    let charges = fits > 0 && !grows;
                    assert_eq!(everything(&mut con) != before, charges, "{what}");
                }
            }
        }
    });
}
