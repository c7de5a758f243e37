//! How the module is loaded, or not, and its settings: CONFIG, CONFIG REWRITE, load arguments and MODULE LOADEX.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;

use redis::{Connection, Value};
use tempfile::{NamedTempFile, TempDir};

use crate::support::*;

const NAMES: [&str; 4] = ["rl.on-oom", "rl.shadow", "rl.top-keys", "rl.max-reservations"];
const DEFAULTS: [&str; 4] = ["error", "no", "128", "100000"];

/// The values of [`NAMES`].
#[track_caller]
fn settings(con: &mut Connection) -> [String; 4] {
    NAMES.map(|name| {
        let [found, value]: [String; 2] = read(ok(cmd!(*con, "CONFIG", "GET", name)));
        assert_eq!(found, name);
        value
    })
}

/// The defaults, but for these.
fn with(changed: &[(usize, &str)]) -> [String; 4] {
    let mut all = DEFAULTS.map(str::to_owned);
    changed.iter().for_each(|&(at, value)| value.clone_into(&mut all[at]));
    all
}

fn path() -> String {
    module_path().to_str().expect("a path").to_owned()
}

/// The server puts the name of the module in front, so the module itself does not.
fn refusals(log: &str) -> Vec<&str> {
    log.lines().filter(|line| line.contains("<rl> not loaded: ")).collect()
}

#[test]
fn values_are_read_set_and_rewritten() {
    for_each_server(|bin| {
        let dir = TempDir::new().expect("a directory");
        let file = dir.path().join("server.conf");
        fs::write(&file, "# A comment that stays.\n").expect("a file");
        // The server gets the file as its first argument.
        let script = format!("exec \"$0\" '{}' \"$@\"", file.display());
        let mut server = Server::options(bin).under(&["sh", "-c", &script]).start();
        let mut con = server.con();
        assert_eq!(settings(&mut con), DEFAULTS);
        let all: Vec<String> = read(ok(cmd!(con, "CONFIG", "GET", "rl.*")));
        assert_eq!(all.len(), 2 * NAMES.len(), "{all:?}");
        // Several at once, of which one is wrong: none is set.
        err(cmd!(con, "CONFIG", "SET", "rl.shadow", "yes", "rl.top-keys", "10001"));
        assert_eq!(settings(&mut con), DEFAULTS);
        ok(cmd!(con, "CONFIG", "SET", "rl.on-oom", "DENY", "rl.shadow", "Yes", "rl.top-keys", 7));
        ok(cmd!(con, "CONFIG", "SET", "rl.max-reservations", 1));
        let changed = with(&[(0, "deny"), (1, "yes"), (2, "7"), (3, "1")]);
        assert_eq!(settings(&mut con), changed);
        ok(cmd!(con, "CONFIG", "REWRITE"));
        let written = fs::read_to_string(&file).expect("the file");
        for line in
            ["# A comment that stays.", "rl.on-oom deny", "rl.shadow yes", "rl.top-keys 7", "rl.max-reservations 1"]
        {
            assert!(written.lines().any(|found| found == line), "no {line}:\n{written}");
        }
        server.shutdown("NOSAVE");
        // The file loads the module.
        server.start_again_with(Options::without_module);
        let mut con = server.con();
        assert_eq!(settings(&mut con), changed);
        let reply: [i64; 3] = read(ok(cmd!(con, "RL.TOKEN", "k", 60, 0)));
        assert_eq!(reply[0], 1, "in shadow mode");
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
            ("rl.max-reservations", &["-1", "0", "1000001"], &["1", "1000000"]),
            ("rl.top-keys", &["", "x", "1.5", "1 ", "9223372036854775808"], &["integer"]),
        ] {
            for value in values {
                let text = err(cmd!(con, "CONFIG", "SET", name, value));
                assert!(range.iter().chain([&name]).all(|word| text.contains(word)), "{name} {value}: {text}");
                assert_eq!(settings(&mut con), DEFAULTS, "{name} {value}");
            }
        }
    });
}

/// A name may have its prefix or not, in any case. The last argument counts, and a setting of redis.conf counts more.
#[test]
fn load_arguments_set_them() {
    for_each_server(|bin| {
        for (arguments, conf, expected) in [
            (&["rl.on-oom", "allow"][..], &[][..], with(&[(0, "allow")])),
            (&["shadow", "yes", "top-keys", "0"], &[], with(&[(1, "yes"), (2, "0")])),
            (&["RL.SHADOW", "YES", "RL.ON-OOM", "DENY"], &[], with(&[(0, "deny"), (1, "yes")])),
            (&["rl.top-keys", "7", "cl-throttle", "no"], &[], with(&[(2, "7")])),
            (&["rl.max-reservations", "1000000"], &[], with(&[(3, "1000000")])),
            (&["rl.shadow", "yes", "rl.shadow", "no"], &[], with(&[])),
            (&["rl.on-oom", "deny"], &[("rl.on-oom", "allow"), ("rl.top-keys", "5")], with(&[(0, "allow"), (2, "5")])),
        ] {
            let options = Server::options(bin).module_args(arguments);
            let server = conf.iter().fold(options, |options, (name, value)| options.set(name, value)).start();
            let mut con = server.con();
            assert_eq!(settings(&mut con), expected, "{arguments:?}");
            assert_eq!(cmd!(con, "CL.THROTTLE", "k", 1, 1, 1).is_err(), arguments.contains(&"cl-throttle"));
        }
    });
}

const WRONG_ARGUMENTS: [(&[&str], &str); 14] = [
    (&["rl.colour"], "colour"),
    (&["100%s%n"], "unknown argument 100%s%n"),
    (&["rl.top-key", "7"], "there are rl.on-oom, rl.shadow, rl.top-keys"),
    (&["rl.on-oom"], "rl.on-oom takes"),
    (&["on-oom", ""], "rl.on-oom takes"),
    (&["rl.on-oom", "allow", "extra"], "extra"),
    (&["rl.shadow"], "rl.shadow takes yes or no"),
    (&["shadow", "1"], "rl.shadow takes yes or no"),
    (&["rl.top-keys", "-1"], "rl.top-keys takes an integer from 0 to 10000"),
    (&["top-keys", "10001"], "rl.top-keys takes an integer from 0 to 10000"),
    (&["rl.top-keys", "7x"], "rl.top-keys takes an integer from 0 to 10000"),
    (&["max-reservations", "0"], "rl.max-reservations takes an integer from 1 to 1000000"),
    (&["cl-throttle"], "cl-throttle takes yes or no"),
    (&["cl-throttle", "maybe"], "cl-throttle takes yes or no"),
];

#[test]
fn a_wrong_load_is_named_in_the_log_and_leaves_nothing_behind() {
    for_each_server(|bin| {
        let mut server = Server::options(bin).without_module().start();
        let mut con = server.con();
        let unknown = |con: &mut Connection| {
            assert!(err(cmd!(*con, "RL.TOP")).starts_with("ERR unknown command"));
        };
        for (n, (arguments, expected)) in WRONG_ARGUMENTS.into_iter().enumerate() {
            err(cmd!(con, "MODULE", "LOAD", path(), arguments));
            let log = server.log();
            let lines = refusals(&log);
            assert!(lines.len() == n + 1 && lines[n].contains(expected), "{arguments:?}:\n{log}");
            unknown(&mut con);
        }
        // The server unloads the module for these, after the module has loaded.
        for (name, value) in [("rl.colour", "red"), ("rl.on-oom", "maybe"), ("rl.top-keys", "x"), ("colour", "red")] {
            err(cmd!(con, "MODULE", "LOADEX", path(), "CONFIG", name, value));
            unknown(&mut con);
            err(cmd!(con, "MODULE", "UNLOAD", "rl"));
        }
        assert!(!server.log().contains("not unloaded"), "{}", server.log());
        let load = ["CONFIG", "rl.shadow", "yes", "CONFIG", "rl.top-keys", "7", "ARGS", "rl.top-keys", "9"];
        ok(cmd!(con, "MODULE", "LOADEX", path(), &load));
        assert_eq!(settings(&mut con), with(&[(1, "yes"), (2, "7")]));
        assert!(server.is_running());
        // A start ends in the same way.
        let (arguments, expected) = WRONG_ARGUMENTS[6];
        let Err(log) = Server::options(bin).module_args(arguments).try_start() else { panic!("the server starts") };
        assert!(log.contains(expected) && !log.contains("BUG REPORT"), "{log}");
    });
}

/// Valkey 9 unloads every module before it ends; the module does not stand in the way then.
#[test]
fn the_module_is_loaded_at_run_time_and_stays_until_the_server_ends() {
    for_each_server(|bin| {
        let mut server = Server::options(bin).without_module().start();
        let mut con = server.con();
        ok(cmd!(con, "MODULE", "LOAD", path()));
        assert!(server.log().contains(concat!("<rl> version ", env!("CARGO_PKG_VERSION"))), "{}", server.log());
        for _ in 0..2 {
            assert!(err(cmd!(con, "MODULE", "UNLOAD", "rl")).contains("rror unloading module"));
            assert!(server.log().contains("<rl> not unloaded: "), "{}", server.log());
            err(cmd!(con, "MODULE", "LOAD", path()));
            ok(cmd!(con, "RL.FIXED", "k", 60, 5));
        }
        let refusals = server.log().matches("not unloaded").count();
        server.shutdown("NOSAVE");
        let log = server.log();
        assert!(log.matches("not unloaded").count() == refusals && !log.contains("BUG REPORT"), "{log}");
        if bin.is_valkey() && bin.version.0 >= 9 {
            assert!(log.contains("Module rl unloaded"), "{log}");
        }
    });
}

/// The commands that the module calls or replicates under their names, in order: the C strings of its sources that are
/// commands of a server.
fn needed(bin: &ServerBin) -> Vec<String> {
    let sources = ["src/ffi", "src/store"].map(|dir| Path::new(env!("CARGO_MANIFEST_DIR")).join(dir));
    let files = sources.iter().flat_map(|dir| fs::read_dir(dir).expect("a directory"));
    let text: String = files.map(|file| fs::read_to_string(file.expect("a file").path()).expect("a text")).collect();
    let literals = text.split("c\"").skip(1).filter_map(|rest| rest.split('"').next());
    let is_word = |word: &&str| word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_uppercase());
    let words: BTreeSet<&str> = literals.filter(is_word).collect();
    let server = Server::options(bin).without_module().start();
    let infos: Vec<Value> = read(ok(cmd!(server.con(), "COMMAND", "INFO", words.iter().collect::<Vec<_>>())));
    let known = words.iter().zip(infos).filter(|(_, info)| *info != Value::Nil).map(|(word, _)| (*word).to_owned());
    known.collect()
}

#[test]
fn a_renamed_command_that_the_module_needs_ends_the_start_with_its_name_in_the_log() {
    for_each_server(|bin| {
        let renamed = |names: &[String]| {
            let mut file = NamedTempFile::new().expect("a file");
            for (n, name) in names.iter().enumerate() {
                // An empty name removes the command.
                let new = if n % 2 == 0 { format!("renamed-{n}") } else { "\"\"".to_owned() };
                writeln!(file, "rename-command {name} {new}").expect("a line");
            }
            Server::options(bin).set("include", file.path().display()).try_start()
        };
        let needed = needed(bin);
        assert!(needed.len() > 10, "{needed:?}");
        for names in [&["INCR".to_owned()][..], &needed] {
            let Err(log) = renamed(names) else { panic!("the server starts without {names:?}") };
            let lines = refusals(&log);
            assert_eq!(lines.len(), 1, "{names:?}:\n{log}");
            let (_, named) = lines[0].rsplit_once(": ").expect("the names");
            let mut named: Vec<&str> = named.split(", ").collect();
            named.sort_unstable();
            assert_eq!(named, names, "{log}");
            assert!(!log.contains("BUG REPORT"), "{names:?}:\n{log}");
        }
        // Other commands may have any name.
        let server = renamed(&["COMMAND", "EXPIRE", "KEYS"].map(str::to_owned)).unwrap_or_else(|log| panic!("{log}"));
        ok(cmd!(server.con(), "RL.FIXED", "k", 60, 5));
    });
}

/// Too old for the module: it says so, and the server is not brought down by anything worse.
#[test]
fn an_old_server_refuses_with_a_clear_line() {
    for bin in unsupported_servers() {
        let Err(log) = Server::options(&bin).try_start() else { panic!("{bin} starts with the module") };
        let lines = refusals(&log);
        assert!(lines.len() == 1 && lines[0].contains("Redis 7.0"), "{bin}:\n{log}");
        assert!(!log.contains("BUG REPORT"), "{bin}:\n{log}");

        let mut server = Server::options(&bin).without_module().start();
        err(cmd!(server.con(), "MODULE", "LOAD", path()));
        assert!(refusals(&server.log()).len() == 1 && server.is_running());
    }
}
