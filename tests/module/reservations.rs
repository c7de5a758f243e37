//! RESERVE and RESERVATION: what an id is charged is charged once, corrected once, and comes back by itself. Random calls are
//! in differential.rs.

use std::collections::BTreeMap;

use crate::support::*;
use redis::{Connection, Value};
use redis_rl_algorithm::reservation::MAX_RESERVATIONS;

const LIMIT: u64 = 12;
/// The words of the algorithms that take RESERVE.
const WORDS: [&str; 4] = ["FIXED", "WINDOW", "COUNTER", "ROLLING"];

fn send(con: &mut Connection, call: &str) -> Reply {
    let mut words = call.split(' ');
    redis::cmd(words.next().expect("a name")).arg(words.collect::<Vec<_>>()).query(con)
}

#[track_caller]
fn full_of_call(con: &mut Connection, call: &str) -> Full {
    full(ok(send(con, &format!("{call} FULL"))))
}

#[track_caller]
fn allowed_and_charged(con: &mut Connection, call: &str) -> (i64, i64) {
    let reply = full_of_call(con, call);
    (reply.allowed, reply.charged)
}

/// What is left of [`LIMIT`] a day at `k`.
#[track_caller]
fn left(con: &mut Connection, word: &str) -> i64 {
    full_of_call(con, &format!("RL.PEEK {word} k 1d {LIMIT} COST 0")).remaining
}

/// The HASH of a limit: its fields, and its expiry.
type Hash = (BTreeMap<Vec<u8>, Vec<u8>>, i64);

fn hash(con: &mut Connection, key: &str) -> Hash {
    let fields = redis::cmd("HGETALL").arg(key).query(con).expect("HGETALL");
    (fields, redis::cmd("PEXPIRETIME").arg(key).query(con).expect("PEXPIRETIME"))
}

fn hash_key(word: &str, key: &str, window_ms: u64) -> String {
    if word == "FIXED" { format!("{key}:{window_ms}ms:reserved") } else { format!("{key}:reserved") }
}

/// A retry charges nothing more, a second settlement corrects nothing, and what a dead worker reserved comes back.
#[test]
fn an_id_is_charged_once_and_corrected_once() {
    for_each_server(|bin| {
        let (mut clock, server) = FrozenClock::server(bin);
        let mut con = server.con();
        for word in WORDS {
            ok(cmd!(con, "FLUSHALL"));
            let reserve = |id: &str, cost: u64| format!("RL.{word} k 1d {LIMIT} COST {cost} RESERVE {id} 10s");
            let settle =
                |id: &str, actual: u64| format!("RL.SETTLE {word} k 1d {LIMIT} RESERVATION {id} ACTUAL {actual}");
            assert_eq!(allowed_and_charged(&mut con, &reserve("a", 9)), (1, 9));
            assert_eq!(allowed_and_charged(&mut con, &reserve("a", 1)), (1, 9), "{word}: repeated");
            assert_eq!(allowed_and_charged(&mut con, &reserve("b", 9)), (0, 0), "{word}: no room");
            assert_eq!(allowed_and_charged(&mut con, &format!("{} PARTIAL", reserve("b", 9))), (3, 3));
            assert_eq!(allowed_and_charged(&mut con, &format!("{} PARTIAL", reserve("b", 9))), (3, 3));
            assert_eq!(allowed_and_charged(&mut con, &format!("{} PARTIAL", reserve("c", 9))), (0, 0));
            assert_eq!(full_of_call(&mut con, &settle("a", 4)).charged, 4);
            assert_eq!(left(&mut con, word), 5, "{word}: settled");
            let again = full_of_call(&mut con, &settle("a", 7));
            assert_eq!((again.charged, left(&mut con, word)), (0, 5), "{word}: settled before");
            // `b` dies. It counts until the first call with RESERVE after its end.
            clock.step(&mut con, 10_000);
            assert_eq!(left(&mut con, word), 5);
            assert_eq!(allowed_and_charged(&mut con, &reserve("d", 8)), (1, 8), "{word}: given back");
            // It comes back to life, and is charged what it cost, whatever the limit says.
            let late = full_of_call(&mut con, &settle("b", 2));
            assert_eq!((late.charged, late.remaining, late.allowed), (2, 0, 0), "{word}: settled late");
            ok(send(&mut con, &settle("d", 0)));
            assert_eq!(left(&mut con, word), 6, "{word}: cancelled");
            assert_eq!(hash(&mut con, &hash_key(word, "k", 86_400_000)).0.len(), 0, "{word}: an empty HASH");
        }
    });
}

/// Several counters of one key, all or nothing. Each settles by itself.
#[test]
fn limits_of_one_call_reserve_together() {
    for_each_server(|bin| {
        let (_clock, server) = FrozenClock::server(bin);
        let mut con = server.con();
        let call = |cost: u64| {
            format!(
                "RL.MULTI 3 FIXED k day 10 COST {cost} RESERVE a 1m FIXED k month 100 COST {cost} RESERVE a 1m TOKEN t 1h 1"
            )
        };
        let (allowed, _): (i64, Value) = read(ok(send(&mut con, &call(11))));
        assert_eq!(allowed, 0);
        assert_eq!(ok(cmd!(con, "DBSIZE")), Value::Int(0), "a denied call leaves nothing");
        let (allowed, _): (i64, Value) = read(ok(send(&mut con, &call(6))));
        assert_eq!(allowed, 1);
        assert_eq!(ok(cmd!(con, "HLEN", "k:day:reserved")), Value::Int(2));
        // The reservations are known, and the token is spent.
        let (allowed, limits): (i64, Vec<Value>) = read(ok(send(&mut con, &format!("{} FULL", call(6)))));
        let [day, month, token] = limits.try_into().expect("three limits");
        assert_eq!((allowed, full(day).charged, full(month).charged, full(token).allowed), (0, 0, 0, 0));
        assert_eq!(full_of_call(&mut con, "RL.SETTLE FIXED k day 10 RESERVATION a ACTUAL 1").remaining, 8);
        assert_eq!(full_of_call(&mut con, "RL.PEEK FIXED k month 100").remaining, 93);
        let clash = "RL.MULTI 2 FIXED k day 10 RESERVE a 1m COUNTER k:day 1m 5 RESERVE a 1m";
        let error = err(send(&mut con, clash));
        assert!(error.starts_with("ERR limit 2: invalid key: two limits would keep their state"), "{error}");
    });
}

#[test]
fn a_full_limit_denies_until_a_reservation_ends() {
    for_each_server(|bin| {
        let (mut clock, server) = FrozenClock::server(bin);
        let mut con = server.con();
        let reserve = |id: u64| format!("RL.WINDOW k 1d 1000000 RESERVE {id} 10s");
        let mut pipe = redis::pipe();
        for id in 0..MAX_RESERVATIONS {
            pipe.cmd("RL.WINDOW").arg(&["k", "1d", "1000000", "RESERVE", &id.to_string(), "10s"]).ignore();
        }
        pipe.exec(&mut con).expect("10,000 reservations");
        clock.step(&mut con, 4_000);
        let denied = full_of_call(&mut con, &reserve(MAX_RESERVATIONS));
        assert_eq!((denied.allowed, denied.retry_after_ms, denied.ttl, denied.charged), (0, 6_000, 6, 0));
        assert_eq!(allowed_and_charged(&mut con, &reserve(7)), (1, 1), "an open id needs no room");
        ok(send(&mut con, "RL.SETTLE WINDOW k 1d 1000000 RESERVATION 8 ACTUAL 1"));
        assert_eq!(allowed_and_charged(&mut con, &reserve(MAX_RESERVATIONS)), (1, 1));
        // All but two end at once.
        clock.step(&mut con, 6_000);
        let reply = full_of_call(&mut con, "RL.SETTLE WINDOW k 1d 1000000 RESERVATION unknown ACTUAL 1");
        assert_eq!(reply.remaining, 1_000_000 - 3 - 1);
        assert_eq!(info(&mut con, "rl_reservations_ended"), (MAX_RESERVATIONS - 2).to_string());
        assert_eq!(ok(cmd!(con, "HLEN", "k:reserved")), Value::Int(MAX_RESERVATIONS.cast_signed() + 1), "marks");
    });
}

/// What charges nothing reserves nothing.
#[test]
fn shadow_mode_and_no_memory_reserve_nothing() {
    for_each_server(|bin| {
        let (mut clock, server) = FrozenClock::server(bin);
        let mut con = server.con();
        for word in WORDS {
            ok(cmd!(con, "FLUSHALL"));
            let name = hash_key(word, "k", 86_400_000);
            let reserve = |id: &str, cost: u64| format!("RL.{word} k 1d {LIMIT} COST {cost} RESERVE {id} 10s");
            assert_eq!(allowed_and_charged(&mut con, &reserve("a", LIMIT)), (1, 12));
            let shadow = full_of_call(&mut con, &format!("{} SHADOW", reserve("b", 1)));
            assert_eq!((shadow.allowed, shadow.shadow, shadow.charged, shadow.remaining), (1, 1, 0, 0), "{word}");
            let denied = full_of_call(&mut con, &reserve("b", 1));
            assert_eq!((denied.allowed, denied.count), (0, 12), "{word}: a denial is not counted");
            assert_eq!(hash(&mut con, &name).0.len(), 2, "{word}");
            let before = hash(&mut con, &name);
            ok(cmd!(con, "CONFIG", "SET", "maxmemory", 1));
            for (on_oom, allowed) in [("allow", 1), ("deny", 0)] {
                ok(cmd!(con, "CONFIG", "SET", "rl.on-oom", on_oom));
                assert_eq!(
                    allowed_and_charged(&mut con, &reserve("c", 0).replace(" k ", " k2 ")),
                    (allowed, 0),
                    "{word}"
                );
                assert_eq!(allowed_and_charged(&mut con, &reserve("a", 1)), (1, 12), "{word}: a repeated call");
            }
            ok(cmd!(con, "CONFIG", "SET", "rl.on-oom", "error"));
            clock.step(&mut con, 10_000);
            let error = err(send(&mut con, &reserve("c", 1)));
            assert!(error.starts_with("OOM "), "{error}");
            assert_eq!(hash(&mut con, &name), before, "{word}: an error changes nothing");
            // Settling for less never needs memory.
            let settle = format!("RL.SETTLE {word} k 1d {LIMIT} RESERVATION a ACTUAL 0");
            ok(send(&mut con, &settle));
            assert_eq!(left(&mut con, word), 12, "{word}");
            ok(cmd!(con, "CONFIG", "SET", "maxmemory", 0));
        }
    });
}

/// What a reservation that ends is corrected to is stored already: no memory is needed.
#[test]
fn at_maxmemory_a_reservation_that_has_just_ended_is_settled() {
    for_each_server(|bin| {
        let (mut clock, server) = FrozenClock::server(bin);
        let mut con = server.con();
        for word in WORDS {
            for on_oom in ["error", "allow", "deny"] {
                for actual in [1, 7, 8] {
                    ok(cmd!(con, "CONFIG", "SET", "maxmemory", 0, "rl.on-oom", on_oom));
                    ok(cmd!(con, "FLUSHALL"));
                    ok(send(&mut con, &format!("RL.{word} k 1d {LIMIT} COST 8 RESERVE a 500ms")));
                    clock.step(&mut con, 550);
                    ok(cmd!(con, "CONFIG", "SET", "maxmemory", 1));
                    let settle = format!("RL.SETTLE {word} k 1d {LIMIT} RESERVATION a ACTUAL {actual}");
                    assert_eq!(full_of_call(&mut con, &settle).charged, actual, "{word} {on_oom}");
                    assert_eq!(left(&mut con, word), LIMIT.cast_signed() - actual, "{word} {on_oom}");
                }
            }
        }
    });
}

/// Shadow mode leaves the expiry of a window that runs. The reservation counts until then, and comes back.
#[test]
fn in_shadow_mode_a_reservation_counts_until_the_window_that_runs_ends() {
    for_each_server(|bin| {
        let (mut clock, server) = FrozenClock::server(bin);
        let mut con = server.con();
        for (mode, option) in [("no", " SHADOW"), ("yes", "")] {
            for call in ["RL.WINDOW k 1m 5 COST 3", "RL.WINDOW k 2h 5 COST 3"] {
                ok(cmd!(con, "FLUSHALL"));
                ok(cmd!(con, "CONFIG", "SET", "rl.shadow", "no"));
                ok(send(&mut con, "RL.WINDOW k 1h 5"));
                ok(cmd!(con, "CONFIG", "SET", "rl.shadow", mode));
                for id in ["a", "b"] {
                    let reserve = format!("{call} RESERVE {id} 10s{option}").replace("COST 3", "COST 2");
                    assert_eq!(allowed_and_charged(&mut con, &reserve), (1, 2), "{reserve}");
                }
                let expires: String = redis::cmd("PEXPIRETIME").arg("k").query(&mut con).expect("an expiry");
                let fields = hash(&mut con, "k:reserved").0;
                let counts_until = fields[&b"a"[..]].split(|&byte| byte == b':').nth(3).expect("a field");
                assert_eq!(counts_until, expires.as_bytes(), "{call}");
                ok(send(
                    &mut con,
                    &format!("{} RESERVATION a ACTUAL 0", call.replace("RL.", "RL.SETTLE ").replace(" COST 3", "")),
                ));
                assert_eq!(ok(cmd!(con, "GET", "k")), bytes("3"), "{call}");
                clock.step(&mut con, 10_000);
                ok(send(&mut con, &format!("RL.WINDOW k 1h 5 RESERVE c 10s{option}")));
                assert_eq!(ok(cmd!(con, "GET", "k")), bytes("2"), "{call}");
            }
        }
    });
}

/// A settlement that is committed has no error, though no request could be counted after it.
#[test]
fn a_settlement_at_the_largest_counter_is_no_error() {
    for_each_server(|bin| {
        let (_clock, server) = FrozenClock::server(bin);
        let mut con = server.con();
        for word in WORDS {
            ok(cmd!(con, "FLUSHALL"));
            let limit = i64::MAX;
            let reserve = format!("RL.{word} k 1d {limit} COST {limit} RESERVE a 1h");
            assert_eq!(allowed_and_charged(&mut con, &reserve), (1, limit), "{word}");
            let settled =
                full_of_call(&mut con, &format!("RL.SETTLE {word} k 1d {limit} RESERVATION a ACTUAL {limit}"));
            assert_eq!((settled.allowed, settled.remaining, settled.charged), (0, 0, limit), "{word}");
        }
    });
}

/// Foreign values are errors, and stay.
#[test]
fn a_foreign_hash_is_an_error() {
    for_each_server(|bin| {
        let (_clock, server) = FrozenClock::server(bin);
        let mut con = server.con();
        for word in WORDS {
            let name = hash_key(word, "k", 60_000);
            let calls = [
                format!("RL.{word} k 1m 5 RESERVE a 1m"),
                format!("RL.SETTLE {word} k 1m 5 RESERVATION a ACTUAL 1"),
                format!("RL.MULTI 2 TOKEN t 1m 5 {word} k 1m 5 RESERVE a 1m"),
            ];
            for (fields, code) in [
                (&["a", "b"][..], "ERR "),
                (&["a", "1:2:3:4:5:6", "", "9999999999999"], "ERR "),
                (&["a", "99999999999999999999:2:3:4:5", "", "9999999999999"], "ERR "),
                (&["other", "1:2:3", "", "1"], "ERR "),
                (&["other", ":1:2:3:4", "", "-1"], "ERR "),
            ] {
                ok(cmd!(con, "FLUSHALL"));
                ok(cmd!(con, "HSET", &name, fields));
                let before = digest(&mut con);
                for call in &calls {
                    let error = err(send(&mut con, call));
                    assert!(
                        error.starts_with(code) && error.contains("the hash of the reservations"),
                        "{call}: {error}"
                    );
                    assert_eq!(digest(&mut con), before, "{call}");
                }
                // It is not ours, so it stays.
                ok(send(&mut con, &format!("RL.RESET {word} k 1m")));
                if !fields.contains(&"9999999999999") && !fields.ends_with(&["1"]) {
                    assert_eq!(digest(&mut con), before);
                }
            }
            ok(cmd!(con, "FLUSHALL"));
            ok(cmd!(con, "SET", &name, "x"));
            for call in &calls {
                let error = err(send(&mut con, call));
                assert!(error.contains("WRONGTYPE") && ok(cmd!(con, "DBSIZE")) == Value::Int(1), "{call}: {error}");
            }
            // The largest numbers are valid.
            ok(cmd!(con, "FLUSHALL"));
            let max = i64::MAX;
            ok(cmd!(con, "HSET", &name, "a", format!("{max}:{max}:{max}:{max}:1"), "", 1));
            for call in &calls {
                ok(send(&mut con, call));
            }
        }
    });
}

/// Algorithms whose states are records share a name for the HASH. RL.RESET deletes it only for one that writes it.
#[test]
fn reset_keeps_the_hash_of_another_algorithm() {
    for_each_server(|bin| {
        let (_clock, server) = FrozenClock::server(bin);
        let mut con = server.con();
        let words = ALGORITHMS.iter().map(|algorithm| algorithm.command.trim_start_matches("RL.")).chain(["LEASE"]);
        for algorithm in words.filter(|word| !WORDS.contains(word)) {
            ok(cmd!(con, "FLUSHALL"));
            ok(send(&mut con, "RL.COUNTER k 1m 5 RESERVE a 1m"));
            ok(cmd!(con, "DEL", "k"));
            let before = hash(&mut con, "k:reserved");
            assert_eq!(send(&mut con, &format!("RL.RESET {algorithm} k 1m")), Ok(Value::Int(0)), "{algorithm}");
            assert_eq!(hash(&mut con, "k:reserved"), before, "{algorithm}");
        }
    });
}

/// The user needs permission for the HASH too; RL.RESET only if there is one.
#[test]
fn the_hash_needs_permission() {
    for_each_server(|bin| {
        let (_clock, server) = FrozenClock::server(bin);
        let mut con = server.con();
        for word in WORDS {
            ok(cmd!(con, "FLUSHALL"));
            let name = hash_key(word, "k", 60_000);
            ok(cmd!(con, "ACL", "SETUSER", "u", "reset", "on", ">p", "+@all", "~k", "resetkeys", "~k"));
            if word == "FIXED" {
                ok(cmd!(con, "ACL", "SETUSER", "u", "~k:[0-9]*"));
                ok(cmd!(con, "ACL", "SETUSER", "u", "resetkeys", "~k", "~k:1*[0-9]", "~k:2*[0-9]", "~k:3*[0-9]"));
            }
            let mut user = server.con();
            ok(cmd!(user, "AUTH", "u", "p"));
            let reset = format!("RL.RESET {word} k 1m");
            ok(send(&mut user, &reset));
            let calls = [
                format!("RL.{word} k 1m 5 RESERVE a 1m"),
                format!("RL.SETTLE {word} k 1m 5 RESERVATION a ACTUAL 1"),
                format!("RL.MULTI 1 {word} k 1m 5 RESERVE a 1m"),
            ];
            for call in &calls {
                assert!(err(send(&mut user, call)).starts_with("NOPERM "), "{call}");
            }
            assert_eq!(ok(cmd!(con, "DBSIZE")), Value::Int(0));
            ok(send(&mut con, &calls[0]));
            assert!(err(send(&mut user, &reset)).starts_with("NOPERM "), "{reset}");
            assert_eq!(ok(cmd!(con, "DBSIZE")), Value::Int(2), "nothing is deleted");
            ok(cmd!(con, "ACL", "SETUSER", "u", format!("~{name}")));
            for call in &calls {
                ok(send(&mut user, call));
            }
            assert_eq!(ok(send(&mut user, &reset)), Value::Int(1));
            assert_eq!(ok(cmd!(con, "DBSIZE")), Value::Int(0));
        }
        ok(cmd!(con, "ACL", "DELUSER", "u"));
    });
}

/// In a cluster the HASH is in the slot of the key.
#[test]
fn the_hash_stays_in_the_slot_of_the_key() {
    for_each_server(|bin| {
        let server = Server::options(bin).cluster().start();
        let mut con = server.con();
        ok(cmd!(con, "CLUSTER", "ADDSLOTSRANGE", 0, 16_383));
        assert!(eventually(PATIENCE, || send(&mut con, "SET x 1").is_ok()), "the cluster is up");
        for word in WORDS {
            ok(cmd!(con, "FLUSHALL"));
            for (key, tagged) in [("a", "{a}"), ("{a}b", "{a}b")] {
                let call = format!("RL.{word} {key} 1m 5 RESERVE id 1m");
                assert_eq!(allowed_and_charged(&mut con, &call), (1, 1), "{call}");
                assert_eq!(ok(cmd!(con, "HLEN", hash_key(word, tagged, 60_000))), Value::Int(2), "{call}");
            }
            let error = err(send(&mut con, &format!("RL.{word} a}}b 1m 5 RESERVE id 1m")));
            assert!(error.starts_with("ERR invalid key: in a cluster "), "{error}");
            assert!(send(&mut con, &format!("RL.RESET {word} {{a}}b 1m")).is_ok());
        }
    });
}

/// The counters of INFO.
#[test]
fn reservations_are_counted() {
    for_each_server(|bin| {
        let (mut clock, server) = FrozenClock::server(bin);
        let mut con = server.con();
        for call in ["RESERVE a 1s", "RESERVE a 1s", "COST 9 RESERVE b 1s", "COST 2 RESERVE c 1s"] {
            ok(send(&mut con, &format!("RL.COUNTER k 1h 5 {call}")));
        }
        for id in ["a", "a", "unknown"] {
            ok(send(&mut con, &format!("RL.SETTLE COUNTER k 1h 5 RESERVATION {id} ACTUAL 1")));
        }
        clock.step(&mut con, 1_000);
        ok(send(&mut con, "RL.COUNTER k 1h 5 RESERVE d 1s"));
        let counters =
            ["made", "repeated", "settled", "ended"].map(|name| info(&mut con, &format!("rl_reservations_{name}")));
        assert_eq!(counters, ["3", "1", "1", "1"]);
        assert_eq!(info(&mut con, "rl_settlements"), "3");
    });
}

/// A server without the module, or with one that knows no reservations, has the same data and changes only the counter.
/// `OLDER_MODULE=path` names such a module.
#[test]
fn a_downgrade_keeps_what_is_counted_and_what_is_reserved() {
    let older = std::env::var_os("OLDER_MODULE");
    for_each_server(|bin| {
        for way in ["AOF", "RDB"] {
            let (mut clock, mut server) = FrozenClock::server(bin);
            let mut con = server.con();
            let key = |word: &str| format!("{{{word}}}");
            for word in WORDS {
                let request = format!("RL.{word} {} 1d {LIMIT} COST", key(word));
                for reserved in ["5 RESERVE open 10m", "3 RESERVE dead 5s", "2 RESERVE gone 1s"] {
                    assert_eq!(allowed_and_charged(&mut con, &format!("{request} {reserved}")).0, 1);
                }
                // Who has reserved nothing has the same counter.
                for cost in [5, 3] {
                    ok(send(&mut con, &format!("RL.{word} plain:{word} 1d {LIMIT} COST {cost}")));
                }
            }
            clock.step(&mut con, 1_500);
            let settle = |word: &str, id: &str, actual: u64| {
                format!("RL.SETTLE {word} {} 1d {LIMIT} RESERVATION {id} ACTUAL {actual}", key(word))
            };
            let mut counters = Vec::new();
            for word in WORDS {
                ok(send(&mut con, &settle(word, "unknown", 0))); // `gone` becomes a mark
                let (fields, expiry) = hash(&mut con, &hash_key(word, &key(word), 86_400_000));
                let mark = fields[b"gone".as_slice()].first().copied();
                assert_eq!((fields.len(), mark), (4, Some(b':')), "{word}: {fields:?}");
                // It goes by itself when the last of it has left its window.
                let until = clock.now_ms() + 2 * 86_400_000 + 5_000;
                assert!((clock.now_ms()..=until).contains(&expiry), "{word}: {expiry}");
                let names: Vec<String> = read(ok(cmd!(con, "KEYS", format!("{}*", key(word)))));
                let counter = names.into_iter().find(|name| !name.ends_with(":reserved")).expect("a counter");
                let plain = counter.replace(&key(word), &format!("plain:{word}"));
                assert_eq!(ok(cmd!(con, "GET", &counter)), ok(cmd!(con, "GET", plain)), "{word}");
                counters.push(counter);
            }

            let before = (digest(&mut con), everything(&mut con));
            let end = |server: &mut Server| if way == "AOF" { server.kill() } else { server.shutdown("SAVE") };
            let files = |options: Options| options.set("appendonly", if way == "AOF" { "yes" } else { "no" });
            end(&mut server);
            server.start_again_with(|options| match &older {
                Some(path) => files(options).module_at(path.as_ref()),
                None => files(options).without_module(),
            });
            let mut con = server.con();
            assert_eq!((digest(&mut con), everything(&mut con)), before, "{way}");
            clock.step(&mut con, 60_000);
            let mut counted = Vec::new();
            for (word, counter) in WORDS.into_iter().zip(&counters) {
                counted.push(match send(&mut con, &format!("RL.{word} {} 1d {LIMIT}", key(word))) {
                    Ok(_) => 1,
                    // As the script with INCR counts.
                    Err(_) if matches!(word, "FIXED" | "WINDOW") => {
                        assert_eq!(ok(cmd!(con, "INCR", counter)), Value::Int(9), "{word}");
                        1
                    }
                    Err(error) => {
                        assert!(error.to_string().contains("unknown command"), "{word}: {error}");
                        0
                    }
                });
            }
            end(&mut server);

            // The reservations go on: one settles, the other has ended.
            server.start_again_with(|options| files(options).module_args(&[]).module_at(&module_path()));
            let mut con = server.con();
            for (word, more) in WORDS.into_iter().zip(counted) {
                let settled = full_of_call(&mut con, &settle(word, "open", 6));
                assert_eq!(settled.charged, 6, "{word}");
                let look = format!("RL.PEEK {word} {} 1d {LIMIT} COST 0", key(word));
                assert_eq!(full_of_call(&mut con, &look).remaining, (LIMIT - 6 - more).cast_signed(), "{word}");

                // A later version may write more. This one then rejects what needs the HASH, and nothing else.
                let name = hash_key(word, &key(word), 86_400_000);
                ok(cmd!(con, "HSET", &name, "later", "1:2:3:4:5:6", "", 1));
                let fields = hash(&mut con, &name);
                let error = err(send(&mut con, &format!("RL.{word} {} 1d {LIMIT} RESERVE new 1m", key(word))));
                assert!(error.starts_with("ERR the hash of the reservations"), "{word}: {error}");
                assert!(send(&mut con, &settle(word, "dead", 1)).is_err(), "{word}");
                assert_eq!(allowed_and_charged(&mut con, &format!("RL.{word} {} 1d {LIMIT}", key(word))), (1, 1));
                assert_eq!(hash(&mut con, &name), fields, "{word}");
            }
        }
    });
}
