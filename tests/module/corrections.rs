//! What RL.SETTLE replicates and fires: as few plain commands as possible, and their events. What it replies and stores is in
//! cases.txt and differential.rs.

use std::thread;
use std::time::Duration;

use crate::support::*;
use redis::{Cmd, Value};

/// `RL.SETTLE <ALGO> <key> 100d 5 RESERVED <n> ACTUAL <m>`, in a window that does not end while a test runs.
fn settle(algorithm: &Algorithm, key: &str, reserved: i64, actual: i64) -> Cmd {
    let mut command = redis::cmd("RL.SETTLE");
    command.arg(algorithm.word()).arg(&[key, "100d", "5", "RESERVED"]);
    command.arg(reserved).arg("ACTUAL").arg(actual).to_owned()
}

/// The commands of some effects, without those that enclose a transaction.
fn names(effects: &[Vec<String>]) -> Vec<&str> {
    effects.iter().map(|effect| effect[0].as_str()).filter(|name| !["MULTI", "EXEC"].contains(name)).collect()
}

#[test]
fn it_replicates_effects_and_fires_the_events_of_plain_commands() {
    for_each_server(|bin| {
        let server = Server::options(bin).durable().start();
        let mut con = server.con();
        let now = server_ms(&mut con);
        type Step<'a> = (i64, i64, Option<i64>, &'a [&'a str], &'a [&'a str]);
        for algorithm in ALGORITHMS {
            // Charged new, charged, charged at another time, given back, all given back: effects and events.
            let steps: [Step; 5] = if algorithm.command == ROLLING.command {
                // A moment of 100 days / 4096: all in one entry.
                [
                    (0, 2, None, &["SET"], &["set", "expire"]),
                    (2, 3, None, &["SETRANGE"], &["setrange"]),
                    (2, 9, Some(now), &["SETRANGE"], &["setrange"]),
                    (3, 1, None, &["SETRANGE"], &["setrange"]),
                    (99, 0, None, &["UNLINK"], &["del"]),
                ]
            } else if algorithm.command == WINDOW.command {
                [
                    (0, 2, None, &["SET"], &["set", "expire"]),
                    (2, 3, None, &["INCR"], &["incrby"]),
                    (2, 9, Some(now), &["INCRBY"], &["incrby"]),
                    (3, 1, None, &["INCRBY"], &["incrby"]),
                    (99, 0, None, &["UNLINK"], &["del"]),
                ]
            } else if algorithm.command == COUNTER.command {
                // The expiry is the end of the next window, whatever is counted.
                [
                    (0, 2, None, &["SET"], &["set", "expire"]),
                    (2, 3, None, &["SET"], &["set"]),
                    (2, 9, Some(now), &["SET"], &["set"]),
                    (3, 1, None, &["SET"], &["set"]),
                    (99, 0, None, &["UNLINK"], &["del"]),
                ]
            } else if algorithm.command == FIXED.command {
                [
                    (0, 2, None, &["SET"], &["incrby", "expire"]),
                    (2, 3, None, &["INCR"], &["incrby"]),
                    (2, 9, Some(now), &["INCRBY"], &["incrby"]),
                    (3, 1, None, &["INCRBY"], &["incrby"]),
                    (99, 0, Some(now), &["INCRBY"], &["incrby"]),
                ]
            } else if algorithm.command == SLIDING.command {
                [
                    (0, 2, None, &["ZADD", "PEXPIREAT"], &["zadd", "expire"]),
                    (2, 3, None, &["ZADD"], &["zadd"]),
                    (2, 9, Some(now - 1_000), &["ZADD"], &["zadd"]),
                    (3, 1, Some(now - 1_000), &["ZREMRANGEBYRANK"], &["zremrangebyrank"]),
                    (99, 0, None, &["ZREMRANGEBYRANK"], &["zremrangebyrank", "del"]),
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
            let key = algorithm.state_key(b"k", 8_640_000_000, now_ms().unsigned_abs());
            let (mut effects, mut events) = (Effects::of(&server), Events::listen(&server));
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
                assert!(heard.iter().all(|(_, of)| *of == key), "{heard:?}");
                assert_eq!(heard.iter().map(|(event, _)| event.as_str()).collect::<Vec<_>>(), fired, "{what}");
                let mut watched = redis::pipe();
                let aborted: Value = ok(watched.atomic().cmd("PING").query(&mut con));
                assert_eq!(aborted, Value::Nil, "WATCH sees the change: {what}");
            }
            ok(cmd!(con, "FLUSHALL"));
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
            let is_unit = |(member, score): &(String, i64)| *score == at && member.starts_with(&format!("{at}-0."));
            assert!(all.iter().all(is_unit), "{all:?}");
        }
    });
}
