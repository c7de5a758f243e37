//! A server at `maxmemory` with `rl.on-oom` `allow` or `deny`: every figure of a reply describes the state as it then
//! is, in every command alike. (Which requests are allowed or denied is in tests/module/refusals.rs.)

use crate::support::*;
use redis::Connection;

const LIMIT: i64 = 5;

/// The states that a request finds: how many of the 5 units are charged. 0 is no key.
const STATES: [(&str, i64); 3] = [("new", 0), ("used", 2), ("full", LIMIT)];

/// A server at `maxmemory`, with a key for each algorithm and each of [`STATES`].
fn at_maxmemory(bin: &ServerBin, on_oom: &str) -> Server {
    let server = Server::start(bin);
    let mut con = server.con();
    for algorithm in ALGORITHMS {
        for (state, charged) in STATES {
            for _ in 0..charged {
                algorithm.ask(&mut con, &key(algorithm, state), LONG, LIMIT);
            }
        }
    }
    ok(cmd!(con, "CONFIG", "SET", "rl.on-oom", on_oom));
    ok(cmd!(con, "CONFIG", "SET", "maxmemory", 1));
    assert!(err(cmd!(con, "SET", "k", 1)).starts_with("OOM "));
    server
}

fn key(algorithm: &Algorithm, state: &str) -> String {
    format!("{}-{state}", algorithm.name)
}

/// Whether a request that is allowed creates a key or makes one larger.
fn grows(algorithm: &Algorithm, state: &str) -> bool {
    state == "new" || algorithm.name == SLIDING.name
}

/// `<ALGO> key window limit [COST n]`.
fn limit(algorithm: &Algorithm, key: &str, cost: i64) -> Vec<String> {
    let mut words = [algorithm.word(), key, &LONG.to_string(), &LIMIT.to_string()].map(str::to_owned).to_vec();
    if cost != 1 {
        words.extend(["COST".to_owned(), cost.to_string()]);
    }
    words
}

/// The figures of the state as it is: those of a request that is denied and never fits.
fn as_it_is(con: &mut Connection, algorithm: &Algorithm, key: &str) -> Full {
    full(ok(redis::cmd("RL.PEEK").arg(limit(algorithm, key, LIMIT + 1)).arg("FULL").query(con)))
}

/// One request alone, and as the only limit of RL.MULTI. Both reply the same.
fn ask(con: &mut Connection, algorithm: &Algorithm, key: &str, cost: i64, through_multi: bool) -> Full {
    let limit = limit(algorithm, key, cost);
    if !through_multi {
        return full(ok(redis::cmd(algorithm.command).arg(&limit[1..]).arg("FULL").query(con)));
    }
    let (allowed, [reply]): (i64, [redis::Value; 1]) =
        read(ok(redis::cmd("RL.MULTI").arg(1).arg(limit).arg("FULL").query(con)));
    let reply = full(reply);
    assert_eq!(allowed, reply.allowed);
    reply
}

/// Compares the figures that describe a state. Times are compared as moments: the two replies are of two moments.
#[track_caller]
fn assert_describes(found: &Full, state: &Full, what: &str) {
    assert_eq!([found.limit, found.remaining], [state.limit, state.remaining], "{what}: {found:?}, {state:?}");
    for (here, there) in [(found.next_ms, state.next_ms), (found.reset_ms, state.reset_ms)] {
        let same = if there == 0 { here == 0 } else { (found.now_ms + here).abs_diff(state.now_ms + there) <= 2 };
        assert!(same, "{what}: {found:?}, {state:?}");
    }
}

#[track_caller]
fn value_of(headers: &[(String, String)], name: &str) -> String {
    let found = headers.iter().find(|(found, _)| found == name);
    found.map(|(_, value)| value.clone()).unwrap_or_else(|| panic!("no {name} in {headers:?}"))
}

#[test]
fn the_figures_describe_the_state_as_it_is() {
    for_each_server(|bin| {
        for on_oom in ["allow", "deny"] {
            let server = at_maxmemory(bin, on_oom);
            let mut con = server.con();
            for algorithm in ALGORITHMS {
                for (state, _) in STATES {
                    let key = key(algorithm, state);
                    for cost in [1, 2, 3, 4, LIMIT, LIMIT + 1] {
                        for through_multi in [false, true] {
                            let what = format!("{on_oom} {algorithm:?} {key} COST {cost}, RL.MULTI: {through_multi}");
                            let (before, data) = (as_it_is(&mut con, algorithm, &key), digest(&mut con));
                            let found = ask(&mut con, algorithm, &key, cost, through_multi);
                            let after = as_it_is(&mut con, algorithm, &key);

                            assert_describes(&found, &after, &what);
                            let fits = cost <= before.remaining;
                            let needs_memory = fits && grows(algorithm, state);
                            assert_eq!(found.allowed == 1, fits && (!needs_memory || on_oom == "allow"), "{what}");
                            if needs_memory {
                                assert_eq!(digest(&mut con), data, "{what}: something was charged");
                                assert_eq!(found.count, before.count, "{what}");
                            }
                            let retry = found.retry_after_ms;
                            match (found.allowed, cost > LIMIT) {
                                (1, _) => assert_eq!(retry, 0, "{what}"),
                                (_, true) => assert_eq!(retry, -1, "{what}"),
                                _ => assert!(retry > 0, "{what}: {retry}"),
                            }
                            if !algorithm.has_ttl_of_script() {
                                let seconds = |ms: i64| if ms < 0 { -1 } else { (ms + 999) / 1_000 };
                                let time = if found.allowed == 1 { found.reset_ms } else { retry };
                                assert_eq!(found.ttl, seconds(time), "{what}");
                            }
                        }
                    }
                }
            }
        }
    });
}

#[test]
fn the_other_forms_of_the_reply_say_the_same() {
    for_each_server(|bin| {
        for on_oom in ["allow", "deny"] {
            let server = at_maxmemory(bin, on_oom);
            let mut con = server.con();
            for algorithm in ALGORITHMS {
                for (state, charged) in STATES {
                    if !grows(algorithm, state) {
                        continue;
                    }
                    let key = key(algorithm, state);
                    let allowed = i64::from(on_oom == "allow" && charged < LIMIT);
                    let limit = limit(algorithm, &key, 1);
                    let what = format!("{on_oom} {limit:?}");

                    let (alone, headers) = with_headers(ok(cmd!(con, algorithm.command, &limit[1..], "HEADERS")));
                    let short: [i64; 3] = read(ok(cmd!(con, algorithm.command, &limit[1..])));
                    let (total, [multi], multi_headers): (i64, [[i64; 3]; 1], redis::Value) =
                        read(ok(cmd!(con, "RL.MULTI", 1, &limit, "HEADERS")));
                    assert_eq!([alone, multi], [short, short], "{what}");
                    assert_eq!((alone[0], alone[1], total), (allowed, charged, allowed), "{what}");

                    let remaining = (LIMIT - charged).to_string();
                    for headers in [headers, header_pairs(multi_headers)] {
                        assert_eq!(value_of(&headers, "X-RateLimit-Remaining"), remaining, "{what}");
                        let ratelimit = value_of(&headers, "RateLimit");
                        assert!(ratelimit.contains(&format!(";r={remaining};")), "{what}: {ratelimit}");
                    }
                }
            }
        }
    });
}

/// One limit of each algorithm in one call. If one of them needs memory, none is charged.
#[test]
fn each_limit_of_a_call_describes_its_own_state() {
    for_each_server(|bin| {
        for on_oom in ["allow", "deny"] {
            let server = at_maxmemory(bin, on_oom);
            let mut con = server.con();
            let before = digest(&mut con);
            for (state, charged) in STATES {
                let mut call = redis::cmd("RL.MULTI");
                call.arg(ALGORITHMS.len());
                for algorithm in ALGORITHMS {
                    call.arg(limit(algorithm, &key(algorithm, state), 1));
                }
                let (allowed, replies): (i64, Vec<redis::Value>) = read(ok(call.arg("FULL").query(&mut con)));
                assert_eq!(allowed, i64::from(charged < LIMIT && on_oom == "allow"), "{on_oom} {state}");
                for (algorithm, reply) in ALGORITHMS.iter().zip(replies) {
                    let (found, what) = (full(reply), format!("{on_oom} {algorithm:?} {state}"));
                    let is = as_it_is(&mut con, algorithm, &key(algorithm, state));
                    assert_describes(&found, &is, &what);
                    assert_eq!(found.remaining, LIMIT - charged, "{what}");
                    // Only the limits that need memory are denied for the lack of it.
                    let allows = charged < LIMIT && (on_oom == "allow" || !grows(algorithm, state));
                    assert_eq!(found.allowed, i64::from(allows), "{what}");
                }
                assert_eq!(digest(&mut con), before, "{on_oom} {state}: something was charged");
            }
        }
    });
}

#[test]
fn throttle_describes_the_state_as_it_is() {
    for_each_server(|bin| {
        for (on_oom, expected) in [("allow", [0, 5, 5, -1, 0]), ("deny", [1, 5, 5, 1, 0])] {
            let server = at_maxmemory(bin, on_oom);
            let mut con = server.con();
            let before = digest(&mut con);
            for command in ["RL.THROTTLE", "CL.THROTTLE"] {
                for quantity in [1, 2, 5] {
                    let found: [i64; 5] = read(ok(cmd!(con, command, "new", 4, 5, LONG, quantity)));
                    assert_eq!(found, expected, "{on_oom} {command} of {quantity}");
                }
                let found: [i64; 5] = read(ok(cmd!(con, command, "new", 4, 5, LONG, 6)));
                assert_eq!(found, [1, 5, 5, -1, 0], "{on_oom} {command}: never fits");
            }
            assert_eq!(digest(&mut con), before);
        }
    });
}
