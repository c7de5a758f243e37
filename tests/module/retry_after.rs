//! The promise of a denial: a client that waits as long as the reply says is allowed, and not before. It holds for
//! `retry_after_ms` of FULL, and for `ttl` in the algorithms that do not reply a script's `ttl`; also if the arguments
//! change from call to call.

use std::thread;
use std::time::{Duration, Instant};

use crate::support::*;
use redis::{Connection, Pipeline};

/// The longest wait, in ms.
const LONGEST: i64 = 1_500;

/// Milliseconds as the seconds of `ttl`: rounded up; −1 is never.
fn seconds(ms: i64) -> i64 {
    if ms < 0 { -1 } else { (ms + 999) / 1_000 }
}

/// A denial, and the moment from which on the same request is promised to be allowed.
struct Promise {
    what: String,
    peek: redis::Cmd,
    due: i64,
}

/// Sends all requests at once, again and again, until each promise is over. None changes anything.
fn wait_out(con: &mut Connection, promises: Vec<Promise>) {
    let mut open = promises;
    let end = Instant::now() + PATIENCE;
    while !open.is_empty() {
        assert!(Instant::now() < end, "{} promises are still open", open.len());
        let mut peeks = Pipeline::new();
        for promise in &open {
            peeks.add_command(promise.peek.clone());
        }
        let replies: Vec<redis::Value> = peeks.query(con).expect("replies");
        let mut replies = replies.into_iter().map(full);
        open.retain(|Promise { what, due, .. }| {
            let now = replies.next().expect("a reply");
            // The figures are of whole milliseconds, the clock of the server is finer.
            if now.now_ms < due - 1 {
                assert_eq!(now.allowed, 0, "{} ms early: {what}: {now:?}", due - now.now_ms);
            }
            if now.now_ms > *due {
                assert_eq!(now.allowed, 1, "{} ms late: {what}: {now:?}", now.now_ms - due);
            }
            now.now_ms <= *due
        });
        thread::sleep(Duration::from_millis(1));
    }
}

/// The last of a few calls on a key, each with other arguments, if it is denied for a while.
fn promise(con: &mut Connection, random: &mut Random, algorithm: &Algorithm, key: &str) -> Option<Promise> {
    let mut calls = Pipeline::new();
    let (mut peek, mut what) = (redis::Cmd::new(), String::new());
    let count = 2 + random.below(4);
    let mut window = "";
    for at in 0..count {
        if at == 0 || random.below(2) == 0 {
            window = random.pick(&["50ms", "200ms", "1s", "3s", "20s", "120s"]);
        }
        let limit = random.pick(&["1", "2", "5", "10", "100"]);
        let cost = random.pick(&["1", "1", "2", "5", "10"]);
        let burst = random.pick(&["1", "3", "10", "30"]);
        let mut arguments = vec![key, window, limit, "COST", cost];
        if algorithm.takes_burst && random.below(3) == 0 {
            arguments.extend(["BURST", burst]);
        }
        let mut call = redis::cmd(algorithm.command);
        if at + 1 < count && random.below(4) == 0 {
            call = redis::cmd("RL.REFUND");
            call.arg(algorithm.word()).arg(&arguments);
        } else {
            call.arg(&arguments).arg("FULL");
        }
        calls.add_command(call);
        peek = redis::cmd("RL.PEEK").arg(algorithm.word()).arg(&arguments).arg("FULL").to_owned();
        what = format!("{what}{} {}; ", algorithm.command, arguments.join(" "));
    }
    let replies: Vec<redis::Value> = calls.query(con).expect("replies");
    let last = full(replies.into_iter().next_back().expect("a reply"));
    what = format!("{what}{last:?}");
    if !algorithm.has_ttl_of_script() {
        let time = if last.allowed == 1 { last.reset_ms } else { last.retry_after_ms };
        assert_eq!(last.ttl, seconds(time), "{what}");
    }
    let waits = last.allowed == 0 && (1..=LONGEST).contains(&last.retry_after_ms);
    waits.then(|| Promise { what, peek, due: last.now_ms + last.retry_after_ms })
}

#[test]
fn a_denied_request_is_allowed_when_the_reply_says_and_not_before() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let mut promises = Vec::new();
        for mut random in randoms() {
            for algorithm in ALGORITHMS {
                let calls = (0..1_000).filter_map(|n| {
                    let key = format!("{algorithm:?}:{}:{n}", random.seed());
                    promise(&mut con, &mut random, algorithm, &key)
                });
                let made: Vec<_> = calls.take(10).collect();
                assert_eq!(made.len(), 10, "{algorithm:?}");
                promises.extend(made);
            }
        }
        wait_out(&mut con, promises);
    });
}

/// Ten units charged at ten a second, then a request at ten a minute: the next unit comes back after six seconds. The
/// key must not expire as if the rate had stayed.
#[test]
fn a_lower_rate_is_kept_after_the_old_one_is_over() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for algorithm in [&TOKEN, &LEAKY] {
            ok(cmd!(con, algorithm.command, algorithm.name, "1s", 10, "COST", 10));
            let denied = full_of(&mut con, algorithm.command, &[algorithm.name, "60s", "10", "FULL"]);
            assert!((5_000..=6_000).contains(&denied.retry_after_ms), "{denied:?}");
            let left: i64 = read(ok(cmd!(con, "PTTL", algorithm.name)));
            assert!(left >= denied.retry_after_ms, "{algorithm:?}: {left} ms are left, {denied:?}");
        }
        thread::sleep(Duration::from_millis(1_100));
        for algorithm in [&TOKEN, &LEAKY] {
            let later = full_of(&mut con, algorithm.command, &[algorithm.name, "60s", "10", "FULL"]);
            assert_eq!((later.allowed, later.remaining), (0, 0), "{algorithm:?}: {later:?}");
        }
    });
}

/// `ttl` of the short reply is what `Retry-After` takes: after so many seconds the same request is allowed.
#[test]
fn ttl_of_a_denial_is_the_time_to_retry_after() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let mut waiting = Vec::new();
        for algorithm in ALGORITHMS.iter().filter(|algorithm| !algorithm.has_ttl_of_script()) {
            for (window, limit, cost) in [("1s", 2, 1), ("1s", 1, 1), ("1s", 5, 5), ("900ms", 3, 2), ("2s", 3, 1)] {
                let key = format!("{algorithm:?}:{window}:{limit}");
                let charge = algorithm.request(&key, window, limit, limit);
                let request = algorithm.request(&key, window, limit, cost);
                let mut pipe = redis::pipe();
                pipe.add_command(charge).ignore().add_command(request.clone());
                let [denied]: [[i64; 3]; 1] = pipe.query(&mut con).expect("a reply");
                assert_eq!(denied[0], 0, "{key}");
                assert!((1..=4).contains(&denied[2]), "{key}: {denied:?}");
                // The millisecond of the clock is rounded down.
                let due = server_ms(&mut con) + 1 + 1_000 * denied[2];
                waiting.push((due, request, key, denied));
            }
        }
        waiting.sort_by_key(|(due, ..)| *due);
        for (due, request, key, denied) in waiting {
            let now = server_ms(&mut con);
            thread::sleep(Duration::from_millis(due.saturating_sub(now).max(0).unsigned_abs()));
            let reply: [i64; 3] = request.query(&mut con).expect("a reply");
            assert_eq!(reply[0], 1, "{key}: {denied:?}, then {reply:?}");
        }
    });
}

#[test]
fn ttl_is_never_0_on_a_denial_and_minus_1_if_the_request_never_fits() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for algorithm in ALGORITHMS.iter().filter(|algorithm| !algorithm.has_ttl_of_script()) {
            for window in ["1ms", "1s", "30d"] {
                for (limit, cost) in [(0, 1), (0, 5), (3, 4), (3, i64::MAX)] {
                    let key = format!("{algorithm:?}:{window}");
                    for _ in 0..2 {
                        let reply = algorithm.ask_for(&mut con, &key, window, limit, cost);
                        assert_eq!([reply[0], reply[2]], [0, -1], "{key} limit {limit} cost {cost}");
                        let word = algorithm.word();
                        let multi = cmd!(con, "RL.MULTI", 1, word, &key, window, limit, "COST", cost);
                        let (_, [multi]): (i64, [[i64; 3]; 1]) = read(ok(multi));
                        let peek = cmd!(con, "RL.PEEK", word, &key, window, limit, "COST", cost);
                        let peek: [i64; 3] = read(ok(peek));
                        assert_eq!([multi[2], peek[2]], [-1, -1], "{key} limit {limit} cost {cost}");
                        // The same with a unit charged.
                        algorithm.ask(&mut con, &key, window, 3);
                    }
                }
            }
            // Very short waits.
            let mut denied = 0;
            for _ in 0..200 {
                let reply = algorithm.ask(&mut con, algorithm.name, "2ms", 2);
                denied += 1 - reply[0];
                assert!(reply[0] == 1 || reply[2] == 1, "{algorithm:?}: {reply:?}");
            }
            assert!(denied > 0, "{algorithm:?}: never denied");
        }
    });
}
