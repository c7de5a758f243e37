//! A user who may use the commands on some keys can do that, and no more: a key outside the pattern is refused to
//! every command, wherever among the arguments it stands. (Read and write permissions are in tests/module/metadata.rs, the
//! counter of FIXED in tests/module/permissions.rs.)
//! guarantee: access

use redis::Connection;

use crate::support::{self, LONG, Server, cmd, digest, err, for_each_server, ok};
use crate::{ALGORITHMS, assert_sound};

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
        for (limits, place) in [(1, 0), (3, 0), (3, 1), (3, 2), (64, 63)] {
            let mut call = text(&["RL.MULTI", &limits.to_string()]);
            for at in 0..limits {
                let own = format!("rlaas:own:{at}");
                call.extend(text(&[algorithm, if at == place { key } else { &own }, &window, "1000000"]));
            }
            calls.push(call);
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

fn send(con: &mut Connection, call: &[String]) -> support::Reply {
    redis::cmd(&call[0]).arg(&call[1..]).query(con)
}

/// Every command, with `sign` before it, as ACL SETUSER takes them.
fn commands_with(sign: &str) -> Vec<String> {
    let of_algorithms = ALGORITHMS.iter().map(|algorithm| format!("{sign}RL.{algorithm}"));
    of_algorithms.chain(COMMANDS.iter().map(|command| format!("{sign}{command}"))).collect()
}

#[test]
fn a_key_outside_the_pattern_is_refused_to_every_command() {
    for_each_server(|bin| {
        let mut server = Server::start(bin);
        let mut root = server.con();
        let has_category = cmd!(root, "ACL", "CAT", "ratelimit").is_ok();
        assert!(has_category || !bin.is_valkey(), "{bin} has categories for modules");
        let granted: Vec<String> = if has_category { vec!["+@ratelimit".into()] } else { commands_with("+") };
        ok(cmd!(root, "ACL", "SETUSER", "limited", "on", ">secret", "resetkeys", "~rlaas:*", "-@all", &granted));
        let mut con = server.con();
        ok(cmd!(con, "AUTH", "limited", "secret"));

        for call in calls("rlaas:user") {
            ok(cmd!(root, "FLUSHALL"));
            ok(send(&mut con, &call));
        }
        let before = digest(&mut root);
        for key in ["other", "", "xrlaas:user"] {
            for call in calls(key) {
                let error = err(send(&mut con, &call));
                assert!(error.starts_with("NOPERM "), "{error} to {call:?}");
            }
        }
        assert_eq!(digest(&mut root), before);

        // What is not the module's is not theirs.
        for call in ["GET rlaas:user", "SET rlaas:user 0", "CONFIG SET rl.on-oom allow", "MODULE UNLOAD rl"] {
            let error = err(support::send(&mut con, call));
            assert!(error.starts_with("NOPERM "), "{error} to {call:?}");
        }
        assert_eq!(digest(&mut root), before);

        // Nor are the commands for who has everything else.
        ok(cmd!(root, "ACL", "SETUSER", "other", "on", ">secret", "~*", "+@all", commands_with("-")));
        ok(cmd!(con, "AUTH", "other", "secret"));
        for call in calls("rlaas:user") {
            assert!(err(send(&mut con, &call)).starts_with("NOPERM "), "{call:?}");
        }
        // And a script has the rights of who calls it.
        ok(cmd!(root, "ACL", "SETUSER", "scripter", "on", ">secret", "~rlaas:*", "-@all", "+eval", granted));
        ok(cmd!(con, "AUTH", "scripter", "secret"));
        let script = "return redis.pcall(unpack(ARGV))";
        for call in calls("other") {
            let error = err(cmd!(con, "EVAL", script, 0, call.clone()));
            assert!(
                error.contains("NOPERM") || error.contains("can't access") || error.contains("ermission"),
                "{error} to {call:?}"
            );
        }
        assert_eq!(digest(&mut root), before);
        assert_sound(&mut server);
    });
}
