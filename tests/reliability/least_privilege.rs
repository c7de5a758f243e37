//! A user who may use the commands on some keys can do that, and no more: a key outside the pattern is refused to
//! every command, wherever among the arguments it stands. (Read and write permissions are in tests/module/metadata.rs.)

use redis::Connection;

use crate::support::{Server, digest, err, for_each_server, ok};
use crate::{ALGORITHMS, LONG, assert_sound, cmd, report};

/// The commands beside those of [`ALGORITHMS`].
const COMMANDS: [&str; 10] = [
    "RL.LEASE",
    "RL.MULTI",
    "RL.PEEK",
    "RL.RESET",
    "RL.REFUND",
    "RL.SETTLE",
    "RL.RENEW",
    "RL.RELEASE",
    "RL.THROTTLE",
    "CL.THROTTLE",
];

/// Every command on a key; RL.MULTI with the key in each place of several, the others being the user's own.
fn calls(key: &str) -> Vec<Vec<String>> {
    let window = LONG.to_string();
    let text = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
    let mut calls = Vec::new();
    for algorithm in ALGORITHMS {
        calls.push(text(&[&format!("RL.{algorithm}"), key, &window, "5", "COST", "1", "FULL"]));
        calls.push(text(&["RL.PEEK", algorithm, key, &window, "5"]));
        calls.push(text(&["RL.REFUND", algorithm, key, &window, "5"]));
        calls.push(text(&["RL.SETTLE", algorithm, key, &window, "5", "RESERVED", "1", "ACTUAL", "2"]));
        calls.push(text(&["RL.RESET", algorithm, key, &window]));
        for limits in [1, 2, 3, 64] {
            for place in [0, 1, 2, 63].into_iter().filter(|&place| place < limits) {
                let mut call = text(&["RL.MULTI", &limits.to_string()]);
                for at in 0..limits {
                    let own = format!("rlaas:own:{at}");
                    call.extend(text(&[algorithm, if at == place { key } else { &own }, &window, "1000000"]));
                }
                calls.push(call);
            }
        }
    }
    calls.push(text(&["RL.LEASE", key, &window, "5", "ID", "a"]));
    calls.push(text(&["RL.RENEW", key, &window, "a"]));
    calls.push(text(&["RL.RELEASE", key, "a"]));
    for name in ["RL.THROTTLE", "CL.THROTTLE"] {
        calls.push(text(&[name, key, "5", "5", "60", "1"]));
    }
    calls
}

fn send(con: &mut Connection, call: &[String]) -> crate::support::Reply {
    redis::cmd(&call[0]).arg(&call[1..]).query(con)
}

fn granted() -> Vec<String> {
    commands_with("+")
}

/// Every command, with `sign` before it, as ACL SETUSER takes them.
fn commands_with(sign: &str) -> Vec<String> {
    let of_algorithms = ALGORITHMS.iter().map(|algorithm| format!("{sign}RL.{algorithm}"));
    of_algorithms.chain(COMMANDS.iter().map(|command| format!("{sign}{command}"))).collect()
}

/// The counter of FIXED has another key than the one of the call, and the user needs permission for it too. A window
/// can be chosen so that the counter of `user` is any key `user:<n>`.
#[test]
fn fixed_asks_for_permission_for_its_counter() {
    for_each_server(|bin| {
        let mut server = Server::start(bin);
        let (mut root, mut con) = (server.con(), server.con());
        let now: Vec<u64> = redis::cmd("TIME").query(&mut root).expect("TIME");
        let window = (now[0] * 2 / 85).to_string();
        ok(cmd!(root, "SET", "user:42", 7, "EX", 1_000));
        let before = digest(&mut root);
        let calls = [
            &["RL.FIXED", "user", &window, "9"][..],
            &["RL.FIXED", "user", &window, "9", "COST", "0", "FULL"],
            &["RL.PEEK", "FIXED", "user", &window, "9"],
            &["RL.REFUND", "FIXED", "user", &window, "9"],
            &["RL.RESET", "FIXED", "user", &window],
            &["RL.MULTI", "2", "TOKEN", "user", "60", "5", "FIXED", "user", &window, "9"],
        ];
        // The reader can look at the counter, and change nothing.
        for (name, patterns, readable) in [("exact", &["~user"][..], false), ("reader", &["~user", "%R~user:42"], true)]
        {
            ok(cmd!(root, "ACL", "SETUSER", name, "on", ">secret", "resetkeys", patterns, "-@all", granted()));
            ok(cmd!(con, "AUTH", name, "secret"));
            for call in calls {
                let reply = redis::cmd(call[0]).arg(&call[1..]).query::<redis::Value>(&mut con);
                if readable && call[0] == "RL.PEEK" {
                    let reply: [i64; 3] = redis::from_redis_value(ok(reply)).expect("a reply");
                    assert_eq!(reply[..2], [1, 8]);
                } else {
                    let error = err(reply).replace(" limit 1:", "").replace(" limit 2:", "");
                    assert_eq!(error, "NOPERM No permissions to access a key", "{name}: {call:?}");
                }
            }
            assert_eq!(digest(&mut root), before, "{name}");
        }
        ok(cmd!(root, "ACL", "SETUSER", "both", "on", ">secret", "~user", "~user:42", "-@all", granted()));
        ok(cmd!(con, "AUTH", "both", "secret"));
        for call in calls {
            ok(redis::cmd(call[0]).arg(&call[1..]).query(&mut con));
        }
        assert_sound(&mut server);
    });
}

#[test]
fn a_key_outside_the_pattern_is_refused_to_every_command() {
    for_each_server(|bin| {
        let mut server = Server::start(bin);
        let mut root = server.con();
        let has_category = cmd!(root, "ACL", "CAT", "ratelimit").is_ok();
        assert!(has_category || !bin.is_valkey(), "{bin} has categories for modules");
        let granted: Vec<String> = if has_category { vec!["+@ratelimit".into()] } else { granted() };
        ok(cmd!(root, "ACL", "SETUSER", "limited", "on", ">secret", "resetkeys", "~rlaas:*", "-@all", &granted));
        let mut con = server.con();
        ok(cmd!(con, "AUTH", "limited", "secret"));

        let mut allowed = 0;
        for call in calls("rlaas:user") {
            ok(cmd!(root, "FLUSHALL"));
            ok(send(&mut con, &call));
            assert!(err(send(&mut con, &call[..2])).starts_with("ERR "), "{call:?}");
            allowed += 1;
        }
        let before = digest(&mut root);
        let mut refused = 0;
        for key in ["other", "rlaas", "Rlaas:user", "", "xrlaas:user", "{rlaas:user}"] {
            for call in calls(key) {
                let error = err(send(&mut con, &call));
                assert!(error.starts_with("NOPERM "), "{error} to {call:?}");
                refused += 1;
            }
        }
        assert_eq!(digest(&mut root), before);

        // What is not the module's is not theirs.
        let own = "rlaas:user";
        for call in [
            &["GET", own][..],
            &["SET", own, "0"],
            &["DEL", own],
            &["INCR", own],
            &["ZADD", own, "1", "1"],
            &["EVAL", "return 1", "0"],
            &["KEYS", "*"],
            &["FLUSHALL"],
            &["CONFIG", "SET", "rl.on-oom", "allow"],
            &["MODULE", "UNLOAD", "rl"],
            &["ACL", "WHOAMI"],
            &["MONITOR"],
        ] {
            let error = err(redis::cmd(call[0]).arg(&call[1..]).query(&mut con));
            assert!(error.starts_with("NOPERM "), "{error} to {call:?}");
        }
        assert_eq!(digest(&mut root), before);

        // Nor are the commands for who has everything else.
        ok(cmd!(root, "ACL", "SETUSER", "other", "on", ">secret", "~*", "+@all", commands_with("-")));
        ok(cmd!(con, "AUTH", "other", "secret"));
        for call in calls(own) {
            assert!(err(send(&mut con, &call)).starts_with("NOPERM "), "{call:?}");
        }
        // And a script has the rights of who calls it.
        ok(cmd!(root, "ACL", "SETUSER", "scripter", "on", ">secret", "~rlaas:*", "-@all", "+eval", granted));
        ok(cmd!(con, "AUTH", "scripter", "secret"));
        let script = "return redis.pcall(unpack(ARGV))";
        for call in calls("other") {
            let reply = cmd!(con, "EVAL", script, 0, call.clone());
            let error = err(reply);
            assert!(
                error.contains("NOPERM") || error.contains("can't access") || error.contains("ermission"),
                "{error} to {call:?}"
            );
        }
        assert_eq!(digest(&mut root), before);
        assert_sound(&mut server);
        report(&format!("{allowed} calls allowed, {refused} refused"));
    });
}
