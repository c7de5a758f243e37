//! RL.THROTTLE and CL.THROTTLE: redis-cell's command, its replies and its keys; and an error where redis-cell ends the
//! server.

use crate::support::*;
use redis::Connection;

const COMMANDS: [&str; 2] = ["RL.THROTTLE", "CL.THROTTLE"];

#[track_caller]
fn throttle(con: &mut Connection, command: &str, key: &str, arguments: &[i64]) -> [i64; 5] {
    read(ok(redis::cmd(command).arg(key).arg(arguments).query(con)))
}

fn now_ns() -> i64 {
    now_ms() * 1_000_000
}

/// The sequence of redis-cell's README: fifteen more at once, and thirty a minute.
#[test]
fn sixteen_pass_and_the_seventeenth_waits() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        for mut con in [server.con(), server.con3()] {
            for command in COMMANDS {
                ok(cmd!(con, "FLUSHALL"));
                for n in 0..16 {
                    let found = throttle(&mut con, command, "user", &[15, 30, 60]);
                    let reset = 2 * (n + 1);
                    assert!(
                        found == [0, 16, 15 - n, -1, reset] || found == [0, 16, 15 - n, -1, reset - 1],
                        "{found:?}"
                    );
                    if n == 0 {
                        assert_eq!(found, [0, 16, 15, -1, 2]);
                    }
                }
                let found = throttle(&mut con, command, "user", &[15, 30, 60]);
                assert!([[1, 16, 0, 2, 32], [1, 16, 0, 1, 31]].contains(&found), "{found:?}");
                // What does not fit costs nothing.
                let found = throttle(&mut con, command, "user", &[15, 30, 60, 16]);
                assert_eq!((found[0], found[2]), (1, 0), "{found:?}");
                // For a quantity that can never fit there is no time.
                let found = throttle(&mut con, command, "new", &[15, 30, 60, 17]);
                assert_eq!(found, [1, 16, 16, -1, 0]);
                assert_eq!(ok(cmd!(con, "EXISTS", "new")), redis::Value::Int(0));
            }
        }
    });
}

#[test]
fn both_names_and_gcra_share_a_key() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for n in 0..6 {
            let found = throttle(&mut con, COMMANDS[n % 2], "k", &[5, 1, 1_000_000]);
            assert_eq!((found[0], found[2]), (0, 5 - n as i64));
        }
        let reply: [i64; 3] = read(ok(cmd!(con, "RL.GCRA", "k", 1_000_000, 1, "BURST", 6)));
        assert_eq!(reply[..2], [0, 6]);
        let long = "1000000";
        ok(cmd!(con, "RL.REFUND", "GCRA", "k", long, 1, "BURST", 6, "COST", 2));
        let found = throttle(&mut con, "CL.THROTTLE", "k", &[5, 1, 1_000_000, 2]);
        assert_eq!((found[0], found[2]), (0, 0));
        assert_eq!(ok(cmd!(con, "RL.RESET", "GCRA", "k", long)), redis::Value::Int(1));
    });
}

/// As redis-cell leaves it: the theoretical arrival time in nanoseconds, with a TTL in seconds.
#[test]
fn a_key_of_redis_cell_is_continued() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for command in COMMANDS {
            // Three of sixteen are taken, each worth two hours.
            let hours = 7_200_000_000_000;
            ok(cmd!(con, "SET", "k", now_ns() + 3 * hours, "EX", 3 * 7_200));
            let stored: i64 = read(ok(cmd!(con, "GET", "k")));
            let found = throttle(&mut con, command, "k", &[15, 12, 86_400]);
            assert_eq!((found[0], found[1], found[2], found[3]), (0, 16, 12, -1));
            assert!((4 * 7_200 - 20..=4 * 7_200).contains(&found[4]), "{found:?}");
            let after: i64 = read(ok(cmd!(con, "GET", "k")));
            assert_eq!(after, stored + hours, "from where it stood");
            GCRA.assert_expires(&mut con, "k", (after + 999_999) / 1_000_000);
            // One that is over, of any age, is as none.
            for tat in [0, 1, now_ns() - 1] {
                ok(cmd!(con, "SET", "k", tat));
                let found = throttle(&mut con, command, "k", &[15, 12, 86_400]);
                assert_eq!(found, [0, 16, 15, -1, 7_200], "{tat}");
            }
        }
    });
}

#[test]
fn a_quantity_of_0_looks() {
    for_each_server(|bin| {
        let server = Server::options(bin).durable().start();
        let mut con = server.con();
        for command in COMMANDS {
            ok(cmd!(con, "FLUSHALL"));
            assert_eq!(throttle(&mut con, command, "k", &[4, 1, 1_000_000, 0]), [0, 5, 5, -1, 0]);
            assert_eq!(ok(cmd!(con, "DBSIZE")), redis::Value::Int(0));
            throttle(&mut con, command, "k", &[4, 1, 1_000_000, 5]);
            let before = (digest(&mut con), expires_at(&mut con, "k"));
            let mut effects = Effects::of(&server);
            let found = throttle(&mut con, command, "k", &[4, 1, 1_000_000, 0]);
            assert_eq!((found[0], found[1], found[2], found[3]), (0, 5, 0, -1));
            assert_eq!((digest(&mut con), expires_at(&mut con, "k")), before);
            assert_eq!(effects.take(), Vec::<Vec<String>>::new());
        }
    });
}

/// Each of these ended a server, or was taken for something, with redis-cell.
#[test]
fn what_ends_a_server_with_redis_cell_is_an_error() {
    for_each_server(|bin| {
        let mut server = Server::start(bin);
        for mut con in [server.con(), server.con3()] {
            for command in COMMANDS {
                ok(cmd!(con, "FLUSHALL"));
                for make in [&["RPUSH", "x"][..], &["HSET", "x", "1"], &["SADD", "x"], &["ZADD", "1", "x"]] {
                    ok(cmd!(con, "DEL", "k"));
                    ok(redis::cmd(make[0]).arg("k").arg(&make[1..]).query(&mut con));
                    let before = digest(&mut con);
                    let text = err(cmd!(con, command, "k", 15, 30, 60));
                    assert_eq!(text, "WRONGTYPE Operation against a key holding the wrong kind of value");
                    assert_eq!(digest(&mut con), before);
                }
                for (value, expected) in GCRA.foreign {
                    ok(cmd!(con, "SET", "k", value));
                    assert_eq!(err(cmd!(con, command, "k", 15, 30, 60)), *expected, "{value:?}");
                    assert_eq!(ok(cmd!(con, "GET", "k")), bytes(value));
                }
                ok(cmd!(con, "SET", "k", &b"\xff\xfe\0"[..]));
                assert_eq!(err(cmd!(con, command, "k", 15, 30, 60)), FOREIGN);
                // The greatest time there is lies further ahead than any burst: full.
                for tat in [i64::MAX as u64, u64::MAX] {
                    ok(cmd!(con, "SET", "k", tat));
                    let found = throttle(&mut con, command, "k", &[15, 30, 60]);
                    assert_eq!((found[0], found[2]), (1, 0), "{tat}: {found:?}");
                    let moved: i64 = read(ok(cmd!(con, "GET", "k")));
                    let ahead = (moved - now_ns()) / 1_000_000;
                    assert!((32_000 - 10_000..=32_001).contains(&ahead), "{tat}: {ahead} ms ahead");
                }
                ok(cmd!(con, "FLUSHALL"));
                let most = "9223372036854775807";
                for (arguments, expected) in [
                    (["15", "0", "60", "1"], "ERR invalid count"),
                    (["15", "30", "0", "1"], "ERR invalid period"),
                    (["-1", "30", "60", "1"], "ERR invalid max_burst"),
                    (["15", "-1", "60", "1"], "ERR invalid count"),
                    (["15", "30", "-1", "1"], "ERR invalid period"),
                    (["15", "30", "60", "-1"], "ERR invalid quantity"),
                    (["x", "30", "60", "1"], "ERR invalid max_burst"),
                    (["15", "1.5", "60", "1"], "ERR invalid count"),
                    (["15", "30", "", "1"], "ERR invalid period"),
                    (["15", "30", "60", "1 "], "ERR invalid quantity"),
                    (["9223372036854775808", "30", "60", "1"], "ERR invalid max_burst"),
                    (["15", "30", "60", "99999999999999999999"], "ERR invalid quantity"),
                    // A rate of nothing, a burst of centuries.
                    (["15", most, "1", "1"], "ERR invalid window, limit or BURST"),
                    ([most, "30", "60", "1"], "ERR invalid window, limit or BURST"),
                    (["9223372036854775806", "1", "1", "1"], "ERR invalid window, limit or BURST"),
                    (["15", "1", most, "1"], "ERR invalid window, limit or BURST"),
                ] {
                    let text = err(cmd!(con, command, "k", &arguments));
                    assert!(text.starts_with(expected), "{arguments:?}: {text}");
                }
                for few in [&[][..], &["k"], &["k", "15", "30"], &["k", "15", "30", "60", "1", "1"]] {
                    let text = err(redis::cmd(command).arg(few).query(&mut con));
                    assert!(text.starts_with("ERR wrong number of arguments"), "{few:?}: {text}");
                }
                assert_eq!(ok(cmd!(con, "DBSIZE")), redis::Value::Int(0));
                assert_eq!(throttle(&mut con, command, "k", &[15, 30, 60, i64::MAX])[..4], [1, 16, 16, -1]);
                for key in [&b""[..], b"\xff\xfe", b"a\0b"] {
                    let found: [i64; 5] = read(ok(cmd!(con, command, key, 15, 30, 60)));
                    assert_eq!(found, [0, 16, 15, -1, 2], "{}", key.escape_ascii());
                }
            }
        }
        assert!(server.is_running());
    });
}

/// The state and never the call: a replica without the module has the key.
#[test]
fn the_state_is_propagated() {
    for_each_server(|bin| {
        let server = Server::options(bin).durable().start();
        let mut con = server.con();
        for command in COMMANDS {
            ok(cmd!(con, "DEL", "k"));
            let mut effects = Effects::of(&server);
            for n in 0..3 {
                assert_eq!(throttle(&mut con, command, "k", &[1, 1, 1_000_000])[0], i64::from(n == 2));
                let sent = effects.take();
                if n == 2 {
                    assert_eq!(sent, Vec::<Vec<String>>::new());
                    continue;
                }
                let tat: String = read(ok(cmd!(con, "GET", "k")));
                let end = expires_at(&mut con, "k").to_string();
                assert_eq!(sent, [["SET", "k", &tat, "PXAT", &end].map(str::to_owned).to_vec()]);
            }
        }
    });
}

#[test]
fn the_name_of_redis_cell_can_be_left_to_it() {
    for_each_server(|bin| {
        for (arguments, taken) in [
            (&[][..], true),
            (&["cl-throttle", "yes"], true),
            (&["cl-throttle", "no"], false),
            (&["rl.on-oom", "deny", "cl-throttle", "no"], false),
        ] {
            let server = Server::options(bin).module_args(arguments).start();
            let mut con = server.con();
            throttle(&mut con, "RL.THROTTLE", "k", &[15, 30, 60]);
            let reply = cmd!(con, "CL.THROTTLE", "k", 15, 30, 60);
            assert_eq!(reply.is_ok(), taken, "{arguments:?}");
            if !taken {
                assert!(err(reply).starts_with("ERR unknown command"), "{arguments:?}");
            }
        }
        for wrong in [&["cl-throttle"][..], &["cl-throttle", "maybe"]] {
            let Err(log) = Server::options(bin).module_args(wrong).try_start() else { panic!("{wrong:?} is taken") };
            assert!(log.contains("<rl> not loaded: cl-throttle takes yes or no"), "{log}");
        }
    });
}

#[test]
fn shadow_mode_allows_and_changes_nothing() {
    for_each_server(|bin| {
        let server = Server::options(bin).durable().start();
        let mut con = server.con();
        for command in ["RL.THROTTLE", "CL.THROTTLE"] {
            ok(cmd!(con, "CONFIG", "SET", "rl.shadow", "no"));
            ok(cmd!(con, "FLUSHALL"));
            let ask = |con: &mut Connection, quantity: i64| -> [i64; 5] {
                read(ok(cmd!(*con, command, "k", 4, 5, LONG, quantity)))
            };
            ask(&mut con, 5);
            let before = (digest(&mut con), expires_at(&mut con, "k"));
            let mut effects = Effects::of(&server);
            for quantity in [1, 9] {
                assert_eq!(ask(&mut con, quantity)[0], 1);
                ok(cmd!(con, "CONFIG", "SET", "rl.shadow", "yes"));
                assert_eq!(ask(&mut con, quantity)[..4], [0, 5, 0, -1], "{command} of {quantity}");
                ok(cmd!(con, "CONFIG", "SET", "rl.shadow", "no"));
            }
            assert_eq!((digest(&mut con), expires_at(&mut con, "k")), before);
            assert_eq!(effects.take(), Vec::<Vec<String>>::new());
        }
    });
}
