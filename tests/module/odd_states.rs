//! Logs that SLIDING itself would not write: scores below 0, scores ahead of the clock (as after the clock stepped
//! back), and members that one window counts and another does not.

use std::thread;
use std::time::{Duration, Instant};

use crate::support::*;
use redis::{Connection, Value};

fn sliding(con: &mut Connection, key: &str, window: &str, limit: i64, cost: i64) -> Full {
    full_of(con, "RL.SLIDING", &[key, window, &limit.to_string(), "COST", &cost.to_string(), "FULL"])
}

/// Asks RL.PEEK until the cost is allowed. It must not be before `due`, in ms, and must be when that is over.
#[track_caller]
fn wait_until_allowed(con: &mut Connection, key: &str, window: &str, limit: i64, cost: i64, due: i64) {
    let end = Instant::now() + PATIENCE;
    loop {
        assert!(Instant::now() < end, "{key}: still denied");
        let arguments = ["SLIDING", key, window, &limit.to_string(), "COST", &cost.to_string(), "FULL"];
        let now = full_of(con, "RL.PEEK", &arguments);
        if now.now_ms < due {
            assert_eq!(now.allowed, 0, "{key}: {} ms early: {now:?}", due - now.now_ms);
        } else if now.now_ms > due {
            assert_eq!(now.allowed, 1, "{key}: {} ms late: {now:?}", now.now_ms - due);
            return;
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// Such members never leave the window, and the figures are those of the others.
#[test]
fn members_with_scores_below_0_stay_and_the_others_leave() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let mut waiting = Vec::new();
        for (key, scores) in [("one", &["-5"][..]), ("two", &["-5", "-1"]), ("far", &["-inf", "-1e18"])] {
            for (at, score) in scores.iter().enumerate() {
                ok(cmd!(con, "ZADD", key, *score, at));
            }
            let odd = scores.len() as i64;
            let free = 5 - odd;
            let first = sliding(&mut con, key, "800ms", 5, 1);
            assert_eq!((first.allowed, first.count, first.remaining), (1, odd, free - 1), "{key}");
            for n in 1..free {
                assert_eq!(sliding(&mut con, key, "800ms", 5, 1).count, odd + n, "{key}");
            }
            let denied = sliding(&mut con, key, "800ms", 5, 1);
            assert_eq!((denied.allowed, denied.count), (0, 5), "{key}: {denied:?}");
            let due = denied.now_ms + denied.retry_after_ms;
            assert_eq!(due, first.now_ms + 800, "{key}: {denied:?}");
            assert_eq!(denied.retry_after_ms, denied.next_ms, "{key}: {denied:?}");
            // The whole limit is available when the key expires, which no call then puts off.
            assert_eq!(denied.now_ms + denied.reset_ms, expires_at(&mut con, key) + 1, "{key}: {denied:?}");
            // All that can leave, and one more.
            let [all, more] = [free, free + 1].map(|cost| sliding(&mut con, key, "800ms", 5, cost).retry_after_ms);
            assert!((1..=800).contains(&all), "{key}: {all}");
            assert!(more > 800, "{key}: {more}");
            waiting.push((key, due));
        }
        for (key, due) in waiting {
            wait_until_allowed(&mut con, key, "800ms", 5, 1, due);
        }
    });
}

/// Such a log allows nothing until its key expires, with or without an expiry before the call.
#[test]
fn a_log_that_is_full_of_scores_below_0_is_gone_when_its_key_expires() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let mut waiting = Vec::new();
        for (key, ttl) in [("lasting", None), ("short", Some(200)), ("long", Some(700))] {
            ok(cmd!(con, "ZADD", key, -3, "a", -2, "b", -1, "c"));
            if let Some(ttl) = ttl {
                ok(cmd!(con, "PEXPIRE", key, ttl));
            }
            let denied = sliding(&mut con, key, "300ms", 3, 1);
            assert_eq!((denied.allowed, denied.count, denied.remaining), (0, 3, 0), "{key}: {denied:?}");
            assert_eq!([denied.next_ms, denied.reset_ms], [denied.retry_after_ms; 2], "{key}: {denied:?}");
            waiting.push((key, denied.now_ms + denied.retry_after_ms));
        }
        for (key, due) in waiting {
            wait_until_allowed(&mut con, key, "300ms", 3, 1, due);
        }
    });
}

/// An allowed request leaves members of later where they are. They leave the window last, though they were there first;
/// at the latest when the key expires.
#[test]
fn members_ahead_of_the_clock_leave_last() {
    const WINDOW: i64 = 400;
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let now = server_ms(&mut con);
        let mut waiting = Vec::new();
        for (key, ahead, cost) in [("one", &[300][..], 1), ("several", &[200, 300], 2), ("far", &[5_000], 1)] {
            for (at, ahead) in ahead.iter().enumerate() {
                ok(cmd!(con, "ZADD", key, now + ahead, at));
            }
            let counted = ahead.len() as i64;
            let found = sliding(&mut con, key, "400ms", 5, cost);
            assert_eq!((found.allowed, found.count, found.remaining), (1, counted, 5 - counted - cost), "{key}");
            // What this request adds leaves first.
            assert_eq!(found.next_ms, WINDOW, "{key}: {found:?}");
            let last = now + ahead[ahead.len() - 1] + WINDOW;
            let due = last.min(expires_at(&mut con, key) + 1);
            assert_eq!(found.now_ms + found.reset_ms, due, "{key}: {found:?}");
            waiting.push((key, due));
        }
        for (key, due) in waiting {
            wait_until_allowed(&mut con, key, "400ms", 5, 5, due);
        }
    });
}

/// The command replies whether there was a key, whatever window is named, and deletes it.
#[test]
fn a_reset_deletes_a_log_that_another_window_would_still_count() {
    for_each_server(|bin| {
        let server = Server::options(bin).durable().start();
        let mut con = server.con();
        let mut effects = Effects::of(&server);
        for age in [10_000, 3_000_000, -10_000] {
            for count in [1, 3, 500] {
                let at = server_ms(&mut con) - age;
                for n in 0..count {
                    ok(cmd!(con, "ZADD", "k", at, n));
                }
                effects.take();
                let what = format!("{count} members, {age} ms old");
                assert_eq!(ok(cmd!(con, "RL.RESET", "SLIDING", "k", "1s")), Value::Int(1), "{what}");
                assert_eq!(ok(cmd!(con, "EXISTS", "k")), Value::Int(0), "{what}");
                assert_eq!(effects.take(), [["UNLINK", "k"].map(str::to_owned).to_vec()], "{what}");
                assert_eq!(ok(cmd!(con, "RL.RESET", "SLIDING", "k", "1s")), Value::Int(0), "{what}");
                assert_eq!(effects.take(), Vec::<Vec<String>>::new(), "{what}");
            }
        }
    });
}
