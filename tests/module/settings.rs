//! The settings `rl.on-oom`, `rl.shadow` and `rl.top-keys`: CONFIG, CONFIG REWRITE, load arguments and MODULE LOADEX.

use std::fs;

use crate::support::*;
use redis::Connection;
use tempfile::TempDir;

const NAMES: [&str; 3] = ["rl.on-oom", "rl.shadow", "rl.top-keys"];
const DEFAULTS: [&str; 3] = ["error", "no", "128"];

/// The values of [`NAMES`].
#[track_caller]
fn settings(con: &mut Connection) -> [String; 3] {
    NAMES.map(|name| {
        let [found, value]: [String; 2] = read(ok(cmd!(*con, "CONFIG", "GET", name)));
        assert_eq!(found, name);
        value
    })
}

/// Whether `rl.shadow` is in effect.
#[track_caller]
fn shadows(con: &mut Connection) -> bool {
    let reply: [i64; 3] = read(ok(cmd!(*con, "RL.TOKEN", "k", 60, 0)));
    reply[0] == 1
}

#[test]
fn values_are_read_and_set_at_run_time() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        assert_eq!(settings(&mut con), DEFAULTS);
        let all: Vec<String> = read(ok(cmd!(con, "CONFIG", "GET", "rl.*")));
        assert_eq!(all.len(), 2 * NAMES.len(), "{all:?}");
        for (value, set) in [("yes", true), ("no", false), ("YES", true), ("No", false)] {
            ok(cmd!(con, "CONFIG", "SET", "rl.shadow", value));
            assert_eq!(settings(&mut con)[1], value.to_lowercase());
            assert_eq!(shadows(&mut con), set, "{value}");
        }
        for value in ["0", "1", "10000", "128"] {
            ok(cmd!(con, "CONFIG", "SET", "rl.top-keys", value));
            assert_eq!(settings(&mut con)[2], value);
        }
        // Several at once, of which one is wrong: none is set.
        err(cmd!(con, "CONFIG", "SET", "rl.shadow", "yes", "rl.top-keys", "10001"));
        assert_eq!(settings(&mut con), DEFAULTS);
        ok(cmd!(con, "CONFIG", "SET", "rl.shadow", "yes", "rl.top-keys", "7", "rl.on-oom", "deny"));
        assert_eq!(settings(&mut con), ["deny", "yes", "7"]);
    });
}

#[test]
fn a_wrong_value_is_an_error_with_the_range() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for (name, values, range) in [
            ("rl.on-oom", &["", "maybe", "allow deny", "1"][..], &["allow", "deny", "error"][..]),
            ("rl.shadow", &["", "maybe", "1", "yes ", "true"], &["yes", "no"]),
            ("rl.top-keys", &["-1", "10001", "9223372036854775807"], &["0", "10000"]),
            ("rl.top-keys", &["", "x", "1.5", "1 ", "9223372036854775808"], &["integer"]),
        ] {
            for value in values {
                let text = err(cmd!(con, "CONFIG", "SET", name, value));
                assert!(text.contains(name), "{name} {value}: {text}");
                for word in range {
                    assert!(text.contains(word), "{name} {value}: {text}");
                }
                assert_eq!(settings(&mut con), DEFAULTS, "{name} {value}");
            }
        }
    });
}

#[test]
fn config_rewrite_keeps_the_values() {
    for_each_server(|bin| {
        let dir = TempDir::new().expect("a directory");
        let file = dir.path().join("server.conf");
        fs::write(&file, "# A comment that stays.\n").expect("a file");
        // The server gets the file as its first argument.
        let script = format!("exec \"$0\" '{}' \"$@\"", file.display());
        let mut server = Server::options(bin).under(&["sh", "-c", &script]).start();
        let mut con = server.con();
        ok(cmd!(con, "CONFIG", "SET", "rl.on-oom", "deny", "rl.shadow", "yes", "rl.top-keys", 7));
        ok(cmd!(con, "CONFIG", "REWRITE"));
        let written = fs::read_to_string(&file).expect("the file");
        for line in ["# A comment that stays.", "rl.on-oom deny", "rl.shadow yes", "rl.top-keys 7"] {
            assert!(written.lines().any(|found| found == line), "no {line}:\n{written}");
        }
        server.shutdown("NOSAVE");
        // The file loads the module.
        server.start_again_with(Options::without_module);
        let mut con = server.con();
        assert_eq!(settings(&mut con), ["deny", "yes", "7"]);
        assert!(shadows(&mut con));
        // Back at the defaults, the lines are gone or name them.
        for (name, value) in NAMES.iter().zip(DEFAULTS) {
            ok(cmd!(con, "CONFIG", "SET", name, value));
        }
        ok(cmd!(con, "CONFIG", "REWRITE"));
        server.shutdown("NOSAVE");
        server.start_again();
        assert_eq!(settings(&mut server.con()), DEFAULTS);
    });
}

#[test]
fn load_arguments_set_them() {
    for_each_server(|bin| {
        for (arguments, expected) in [
            (&["rl.shadow", "yes"][..], ["error", "yes", "128"]),
            (&["shadow", "yes", "top-keys", "0"], ["error", "yes", "0"]),
            (&["RL.SHADOW", "YES", "RL.TOP-KEYS", "10000"], ["error", "yes", "10000"]),
            (&["rl.top-keys", "7", "rl.on-oom", "deny", "cl-throttle", "no"], ["deny", "no", "7"]),
            (&["rl.shadow", "yes", "rl.shadow", "no"], DEFAULTS),
        ] {
            let server = Server::options(bin).module_args(arguments).start();
            let mut con = server.con();
            assert_eq!(settings(&mut con), expected, "{arguments:?}");
            assert_eq!(shadows(&mut con), expected[1] == "yes", "{arguments:?}");
        }
        // As in redis.conf; it counts more than the argument.
        let server = Server::options(bin).module_args(&["rl.shadow", "no", "rl.top-keys", "9"]);
        let server = server.set("rl.shadow", "yes").set("rl.top-keys", 5).start();
        assert_eq!(settings(&mut server.con()), ["error", "yes", "5"]);
    });
}

const WRONG_ARGUMENTS: [(&[&str], &str); 8] = [
    (&["rl.shadow"], "rl.shadow takes yes or no"),
    (&["rl.shadow", "maybe"], "rl.shadow takes yes or no"),
    (&["shadow", "1"], "rl.shadow takes yes or no"),
    (&["rl.top-keys"], "rl.top-keys takes an integer from 0 to 10000"),
    (&["rl.top-keys", "-1"], "rl.top-keys takes an integer from 0 to 10000"),
    (&["top-keys", "10001"], "rl.top-keys takes an integer from 0 to 10000"),
    (&["rl.top-keys", "7x"], "rl.top-keys takes an integer from 0 to 10000"),
    (&["rl.top-key", "7"], "there are rl.on-oom, rl.shadow, rl.top-keys and cl-throttle"),
];

#[test]
fn wrong_load_arguments_end_the_load_with_the_range_in_the_log() {
    for_each_server(|bin| {
        let mut server = Server::options(bin).without_module().start();
        let mut con = server.con();
        let path = module_path();
        let path = path.to_str().expect("a path");
        for (n, (arguments, expected)) in WRONG_ARGUMENTS.into_iter().enumerate() {
            err(cmd!(con, "MODULE", "LOAD", path, arguments));
            let log = server.log();
            let lines: Vec<&str> = log.lines().filter(|line| line.contains("<rl> not loaded: ")).collect();
            assert!(lines.len() == n + 1 && lines[n].contains(expected), "{arguments:?}:\n{log}");
            assert!(err(cmd!(con, "RL.TOP")).starts_with("ERR unknown command"));
        }
        // A start ends in the same way.
        let (arguments, expected) = WRONG_ARGUMENTS[5];
        let Err(log) = Server::options(bin).module_args(arguments).try_start() else { panic!("the server starts") };
        assert!(log.contains(expected) && !log.contains("BUG REPORT"), "{log}");
        assert!(server.is_running());
    });
}

#[test]
fn module_loadex_sets_them_or_leaves_nothing_behind() {
    for_each_server(|bin| {
        let path = module_path();
        let path = path.to_str().expect("a path");
        let mut server = Server::options(bin).without_module().start();
        let mut con = server.con();
        for (name, value) in
            [("rl.shadow", "maybe"), ("rl.top-keys", "10001"), ("rl.top-keys", "-1"), ("rl.top-keys", "x")]
        {
            err(cmd!(con, "MODULE", "LOADEX", path, "CONFIG", name, value));
            assert!(server.log().contains(name), "{name} {value}:\n{}", server.log());
            assert!(err(cmd!(con, "RL.TOP")).starts_with("ERR unknown command"));
            err(cmd!(con, "MODULE", "UNLOAD", "rl"));
        }
        assert!(!server.log().contains("not unloaded"), "{}", server.log());
        assert!(server.is_running());
        let load = ["CONFIG", "rl.shadow", "yes", "CONFIG", "rl.top-keys", "7", "ARGS", "rl.top-keys", "9"];
        ok(cmd!(con, "MODULE", "LOADEX", path, &load));
        assert_eq!(settings(&mut con), ["error", "yes", "7"]);
        assert!(shadows(&mut con));
    });
}
