//! When the key of a state expires: not while a call since then still needs it, and not long after that. The moment is
//! the same on the master and on its replicas.

use std::collections::HashMap;
use std::thread;
use std::time::Duration;

use crate::support::*;
use redis::Connection;

/// How much later than necessary a key may expire, in ms.
const SLACK: i64 = 50;

fn arguments(key: &str, window: &str, limit: i64, options: &[&str]) -> Vec<String> {
    let words = [key, window, &limit.to_string()].map(str::to_owned);
    words.into_iter().chain(options.iter().map(ToString::to_string)).collect()
}

/// Windows from very short to very long, so that a sequence of calls shortens and lengthens them.
const WINDOWS: [(&str, i64); 6] =
    [("500ms", 500), ("1s", 1_000), ("7s", 7_000), ("60", 60_000), ("1h", 3_600_000), ("30d", 2_592_000_000)];

/// One random call on `key`, and its arguments from the window on but for COST, with the length of the window.
fn call(random: &mut Random, algorithm: &Algorithm, key: &str) -> (redis::Cmd, Vec<String>, i64) {
    let (window, window_ms) = random.pick(&WINDOWS);
    let limit = random.pick(&[0, 1, 2, 3, 10, 10, 1_000]);
    let burst = random.pick(&[1, 2, 10, 50]).to_string();
    let options: &[&str] = if algorithm.takes_burst && random.below(3) == 0 { &["BURST", &burst] } else { &[] };
    let arguments = arguments(key, window, limit, options);
    let mut call = match random.below(5) {
        0 => redis::cmd("RL.REFUND").arg(algorithm.word()).to_owned(),
        1 => redis::cmd("RL.MULTI").arg(1).arg(algorithm.word()).to_owned(),
        _ => redis::cmd(algorithm.command),
    };
    call.arg(&arguments);
    let cost = random.pick(&[1, 1, 2, 5, 10, 40]);
    if cost > 1 {
        call.arg("COST").arg(cost);
    }
    (call, arguments, window_ms)
}

/// The figures of the state as it is under these arguments: those of a request that never fits.
fn as_it_is(algorithm: &Algorithm, arguments: &[String]) -> redis::Cmd {
    let mut peek = redis::cmd("RL.PEEK");
    peek.arg(algorithm.word()).arg(arguments).arg("COST").arg(1_000_000_000).arg("FULL");
    peek
}

/// The arguments change from call to call, and nothing else happens in between.
#[test]
fn a_key_lives_as_long_as_every_call_since_requires_and_no_longer() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for mut random in randoms() {
            for algorithm in ALGORITHMS {
                // FIXED keeps a counter for each window.
                let mut longest: HashMap<String, i64> = HashMap::new();
                let mut calls = Vec::new();
                for step in 0..340 {
                    if step % 10 == 0 {
                        ok(cmd!(con, "FLUSHALL"));
                        longest.clear();
                        calls.clear();
                    }
                    let (call, arguments, window_ms) = call(&mut random, algorithm, "k");
                    calls.push(arguments.join(" "));
                    let mut pipe = redis::pipe();
                    pipe.add_command(call).add_command(as_it_is(algorithm, &arguments));
                    let [_, is]: [redis::Value; 2] = pipe.query(&mut con).expect("two replies");
                    let is = full(is);
                    let state_key = algorithm.state_key(b"k", window_ms.unsigned_abs(), is.now_ms.unsigned_abs());
                    let state_key = String::from_utf8(state_key).expect("text");
                    let expires_at = expires_at(&mut con, &state_key);
                    let what = format!("{algorithm:?} {calls:#?}: expires at {expires_at}, {is:?}");

                    let empty = is.remaining == is.limit;
                    if expires_at == -2 {
                        let over = server_ms(&mut con) >= is.now_ms + is.reset_ms;
                        assert!(empty || is.limit == 0 || over, "no key: {what}");
                        longest.remove(&state_key);
                        continue;
                    }
                    assert!(expires_at > 0, "no expiry: {what}");
                    // Gone earlier, all of the limit would be available earlier than the reply says.
                    if is.reset_ms > 0 {
                        assert!(expires_at >= is.now_ms + is.reset_ms - 2, "too early: {what}");
                    }
                    let needs = match algorithm.name {
                        "fixed" => window_ms,
                        "sliding" | "rolling" => 2 * window_ms,
                        // Nothing is ever available, but a refund counts the units in a window of this length.
                        "counter" if is.limit == 0 => 2 * window_ms,
                        _ => is.reset_ms.max(0),
                    };
                    let longest = longest.entry(state_key).or_insert(0);
                    *longest = (*longest).max(is.now_ms + needs);
                    let latest = *longest + algorithm.expires_late_ms + SLACK;
                    assert!(expires_at <= latest, "too late, {longest}: {what}");
                }
            }
        }
    });
}

/// A limit of 0 drains nothing, so it must not decide when the key expires.
#[test]
fn a_refund_that_leaves_nothing_leaves_no_key() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for algorithm in ALGORITHMS.iter().filter(|algorithm| algorithm.takes_burst) {
            let (command, word) = (algorithm.command, algorithm.word());
            for cost in [1, 2, 10] {
                ok(cmd!(con, "FLUSHALL"));
                ok(cmd!(con, command, "k", "1s", 10, "COST", cost));
                let end = expires_at(&mut con, "k");
                ok(cmd!(con, "RL.REFUND", word, "k", "1s", 0, "BURST", 10, "COST", cost));
                let now = expires_at(&mut con, "k");
                assert!(now == -2 || (now > 0 && now <= end), "{algorithm:?} {cost}: {end} became {now}");
            }
        }
        for algorithm in ALGORITHMS.iter().filter(|algorithm| ![FIXED.name, SLIDING.name].contains(&algorithm.name)) {
            for cost in [1, 2, 10] {
                ok(cmd!(con, "FLUSHALL"));
                ok(cmd!(con, algorithm.command, "k", "1h", 10, "COST", cost));
                ok(cmd!(con, "RL.REFUND", algorithm.word(), "k", "1h", 10, "COST", cost));
                assert_eq!(ok(cmd!(con, "DBSIZE")), redis::Value::Int(0), "{algorithm:?} {cost}");
            }
        }
    });
}

/// A denial whose arguments need the state for longer extends the expiry, and replicates that.
#[test]
fn a_denial_at_a_lower_rate_extends_the_expiry() {
    for_each_server(|bin| {
        let server = Server::options(bin).durable().start();
        let mut con = server.con();
        for algorithm in [&TOKEN, &LEAKY] {
            ok(cmd!(con, algorithm.command, "k", "10s", 10, "COST", 10));
            let mut effects = Effects::of(&server);
            let denied = full_of(&mut con, algorithm.command, &["k", "600s", "10", "FULL"]);
            let sent = effects.take();
            let until = denied.now_ms + denied.reset_ms;
            let expires_at = expires_at(&mut con, "k");
            assert!((55_000..=60_000).contains(&denied.retry_after_ms), "{denied:?}");
            let latest = until + algorithm.expires_late_ms + 1;
            assert!((until - 1..=latest).contains(&expires_at), "{algorithm:?}: {expires_at}, {denied:?}");
            assert_eq!(sent, [["PEXPIREAT", "k", &expires_at.to_string()].map(str::to_owned).to_vec()]);
            // The next denial needs no more.
            ok(cmd!(con, algorithm.command, "k", "600s", 10));
            ok(cmd!(con, algorithm.command, "k", "10s", 1, "COST", 2));
            assert_eq!(effects.take(), Vec::<Vec<String>>::new(), "{algorithm:?}");
            ok(cmd!(con, "DEL", "k"));
        }
    });
}

/// The calls on an existing log: allowed, denied, of no cost, refunded, in RL.MULTI.
const LOG_CALLS: [&str; 7] = [
    "RL.SLIDING k 60 100",
    "RL.SLIDING k 60 100 COST 3",
    "RL.SLIDING k 60 1 COST 2",
    "RL.SLIDING k 60 0",
    "RL.MULTI 1 SLIDING k 60 100",
    "RL.MULTI 1 SLIDING k 60 0",
    "RL.REFUND SLIDING k 60 100",
];

#[test]
fn after_every_call_a_log_lives_for_one_and_a_half_windows_or_more() {
    const WINDOW: i64 = 60_000;
    // More than a call takes, less than what tells the cases apart.
    const MARGIN: i64 = 2_000;
    for_each_server(|bin| {
        let server = Server::options(bin).durable().start();
        let mut con = server.con();
        let mut effects = Effects::of(&server);
        for call in LOG_CALLS {
            let words: Vec<&str> = call.split(' ').collect();
            // What is left before the call, in ms; none is a log without an expiry.
            for left in [None, Some(5_000), Some(30_000), Some(90_000 - MARGIN), Some(90_000 + MARGIN), Some(1_000_000)]
            {
                let now = server_ms(&mut con);
                let before = left.map_or(-1, |left| now + left);
                ok(cmd!(con, "DEL", "k"));
                ok(cmd!(con, "ZADD", "k", now, "a", now, "b", now, "c"));
                if before > 0 {
                    ok(cmd!(con, "PEXPIREAT", "k", before));
                }
                effects.take();
                let start = server_ms(&mut con);
                ok(redis::cmd(words[0]).arg(&words[1..]).query(&mut con));
                let end = server_ms(&mut con);
                let after = expires_at(&mut con, "k");
                let sent = effects.take().concat().join(" ");
                let what = format!("{call}, {left:?} left: {before} became {after}, {sent}");
                if left.is_some_and(|left| left > 90_000) {
                    assert_eq!(after, before, "{what}");
                    assert!(!sent.contains("EXPIRE"), "{what}");
                } else {
                    assert!((start + 2 * WINDOW..=end + 2 * WINDOW).contains(&after), "{what}");
                    assert!(sent.contains(&format!("PEXPIREAT k {after}")), "{what}");
                }
            }
        }
    });
}

/// Every key is used with short windows, which end during the test, and with long ones, which do not.
#[test]
fn master_and_replica_are_equal_under_any_mix_of_windows() {
    for_each_server(|bin| {
        let master = Server::start(bin);
        let replica = Server::options(bin).replica_of(&master).start();
        let mut con = master.con();
        for mut random in randoms() {
            for n in 0..400 {
                let algorithm = random.pick(ALGORITHMS);
                let key = format!("{}:{}", algorithm.name, random.below(4));
                let window = random.pick(&["5ms", "30ms", "1s", "20", "1h"]);
                let limit = random.pick(&[0, 1, 3, 20]).to_string();
                let cost = (1 + random.below(4)).to_string();
                let arguments = [&key, window, &limit, "COST", &cost];
                match random.below(12) {
                    0 | 1 => ok(cmd!(con, "RL.REFUND", algorithm.word(), &arguments)),
                    2 | 3 => ok(cmd!(con, "RL.MULTI", 1, algorithm.word(), &arguments)),
                    4 if n % 5 == 0 => ok(cmd!(con, "RL.RESET", algorithm.word(), &key, window)),
                    5 if algorithm.name == SLIDING.name => {
                        let ahead = server_ms(&mut con) + random.below(4_000) as i64 - 2_000;
                        ok(cmd!(con, "ZADD", &key, ahead, format!("odd-{n}")));
                        ok(cmd!(con, algorithm.command, &arguments))
                    }
                    _ => ok(cmd!(con, algorithm.command, &arguments)),
                };
                if random.below(40) == 0 {
                    thread::sleep(Duration::from_millis(random.below(20)));
                }
            }
            assert_equal(&master, &replica);
        }
    });
}

/// Same keys, same values, same expiries.
#[track_caller]
fn assert_equal(master: &Server, replica: &Server) {
    let (mut here, mut there) = (master.con(), replica.con());
    // The others may expire while the two are compared.
    let far = |con: &mut Connection| -> Vec<(String, i64)> {
        let now = server_ms(con);
        let ends = keys(con).into_iter().map(|key| (key.clone(), expires_at(con, &key)));
        ends.filter(|&(_, end)| end == -1 || end > now + 5_000).collect()
    };
    ok(cmd!(here, "DEBUG", "SET-ACTIVE-EXPIRE", 0));
    wait_for_replica(master, replica);
    assert_eq!(digest(&mut there), digest(&mut here));
    let mut ends = far(&mut here);
    ends.retain(|(key, end)| expires_at(&mut here, key) == *end);
    assert!(ends.len() >= 5, "{ends:?}");
    for (key, end) in ends {
        assert_eq!(expires_at(&mut there, &key), end, "{key}");
    }
    ok(cmd!(here, "DEBUG", "SET-ACTIVE-EXPIRE", 1));
}

/// A unit is charged under a short window, and a longer window then denies a request because of it. The unit still
/// counts under the longer window when the short one is over, also after a failover.
#[test]
fn a_failover_keeps_what_a_denial_still_counts() {
    for_each_server(|bin| {
        let mut master = Server::start(bin);
        let replica = Server::options(bin).replica_of(&master).start();
        wait_for_replica(&master, &replica);
        let mut con = master.con();
        for algorithm in ALGORITHMS {
            // In one write, so that the short window cannot end between them.
            let mut both = redis::pipe();
            both.add_command(algorithm.request(algorithm.name, "200ms", 1, 1));
            both.add_command(algorithm.request(algorithm.name, "100d", 1, 1));
            let [short, long]: [[i64; 3]; 2] = both.query(&mut con).expect("two replies");
            // FIXED has a counter for each window.
            assert_eq!((short[0], long[0]), (1, i64::from(algorithm.name == FIXED.name)), "{algorithm:?}");
        }
        // The log of the short window alone would be gone by then.
        thread::sleep(Duration::from_millis(600));
        let peek = |con: &mut Connection, algorithm: &Algorithm| {
            let arguments = [algorithm.word(), algorithm.name, "100d", "1", "FULL"];
            let figures = full_of(con, "RL.PEEK", &arguments);
            // GCRA stores one time, and that is over; so is the window of WINDOW, which no denial makes longer.
            let over = [GCRA.name, WINDOW.name].contains(&algorithm.name);
            assert_eq!(figures.allowed, i64::from(over), "{algorithm:?}: {figures:?}");
            figures
        };
        let before = ALGORITHMS.iter().map(|algorithm| peek(&mut con, algorithm)).collect::<Vec<_>>();
        wait_for_replica(&master, &replica);
        master.kill();
        let mut con = replica.con();
        ok(cmd!(con, "REPLICAOF", "NO", "ONE"));
        for (algorithm, before) in ALGORITHMS.iter().zip(before) {
            let after = peek(&mut con, algorithm);
            assert_eq!((after.count, after.remaining), (before.count, before.remaining), "{algorithm:?}");
            if after.allowed == 0 {
                let [here, there] = [before, after].map(|figures| figures.now_ms + figures.retry_after_ms);
                assert!(here.abs_diff(there) <= 2, "{algorithm:?}: {before:?}, {after:?}");
            }
        }
    });
}

#[test]
fn a_refund_gives_a_counter_without_an_expiry_one() {
    for_each_server(|bin| {
        let server = Server::options(bin).durable().start();
        let mut con = server.con();
        let mut effects = Effects::of(&server);
        let key = format!("k:{}", now_ms() / 1_000 / LONG);
        for (value, limit, cost, expected) in
            [(3, 5, 1, 2), (3, 5, 5, 0), (9, 5, 1, 4), (0, 5, 1, 0), (-3, 5, 1, -3), (3, 0, 1, 0)]
        {
            ok(cmd!(con, "SET", &key, value));
            effects.take();
            let start = server_ms(&mut con);
            ok(cmd!(con, "RL.REFUND", "FIXED", "k", LONG, limit, "COST", cost));
            let [least, most] = [start, server_ms(&mut con)].map(|now| now + LONG * 1_000);
            let end = expires_at(&mut con, &key);
            let what = format!("{value}, limit {limit}, cost {cost}");
            assert_eq!(ok(cmd!(con, "GET", &key)), bytes(expected.to_string()), "{what}");
            assert!((least..=most).contains(&end), "{what}: {end}");
            assert!(effects.take().concat().contains(&end.to_string()), "{what}: not replicated");
        }
    });
}
