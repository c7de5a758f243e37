//! The Lua library in its forms: what a server promises of it. That it replies and stores what the module does is in
//! `tests/module/differential.rs`.

mod random;
mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use random::calls::*;
use random::dump::*;
use random::random_calls::*;
use redis::{Connection, Value};
use redis_rl_algorithm::Micros;
use support::*;

#[test]
fn it_takes_the_options_of_the_table() {
    with_all_forms(|_, con, form| {
        for word in words(|traits| traits.library) {
            let can = traits(word);
            for (option, taken) in options(can) {
                let id = if can.id && !option.starts_with("ID") { " ID a" } else { "" };
                let call = Call::of(&format!("rl {word} {word} 1m 5{id} {option}"));
                let is_taken = match answer(library(&call, form).query(con)) {
                    Answer::Error(error) => {
                        let keyword = option.split(' ').next().expect("a word");
                        assert_eq!(error, format!("ERR invalid {keyword}: {word} takes none"));
                        false
                    }
                    _ => true,
                };
                assert_eq!(is_taken, taken, "{word} {option}");
            }
        }
    });
}

/// Runs a test with every form of the library on every server, which has the module too.
fn with_all_forms(test: impl Fn(&Server, &mut Connection, Form) + Sync) {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        load_functions(&mut con);
        for form in FORMS {
            ok(cmd!(con, "FLUSHALL"));
            test(&server, &mut con, form);
        }
    });
}

/// A call of the library, by a client with this machine's clock.
fn library(call: &Call, form: Form) -> redis::Cmd {
    call.library(form, Micros::from_millis(now_ms().unsigned_abs())).expect("there is a script")
}

fn send(con: &mut Connection, form: Form, words: &str) -> Answer {
    answer(library(&Call::of(words), form).query(con))
}

fn integers(numbers: &[i64]) -> Answer {
    Answer::Value(ints(numbers))
}

#[test]
fn what_only_the_module_has_is_an_error_that_says_so() {
    with_all_forms(|_, con, form| {
        let error = |text: &str| Answer::Error(text.to_owned());
        let largest = error("ERR invalid limit: the Lua library takes integers up to 9007199254740991");
        assert_eq!(send(con, form, "rl k TOKEN 60 9007199254740992"), largest, "{form:?}");
        assert_eq!(send(con, form, "rl k TOKEN 60 9007199254740991"), integers(&[1, 0, 1]), "{form:?}");
        ok(cmd!(*con, "SET", "k2:0", "9007199254740992"));
        let stored = error("ERR the key holds a number above 9007199254740991, which needs the module");
        assert_eq!(send(con, form, "rl k2 FIXED 1000000000000 5"), stored, "{form:?}");
        assert_eq!(ok(cmd!(*con, "GET", "k2:0")), bytes("9007199254740992"), "{form:?}");
        ok(cmd!(*con, "SET", "token", "T:1:0:60000:1"));
        for (words, text) in [
            ("rl k TOKEN 60", "ERR wrong number of arguments"),
            ("rl k TOKEN 60 5 COTS 2", "ERR syntax error: no such option, but there is COST n"),
            ("rl_reset k FIXED 60 ANCOR 5", "ERR syntax error: no such option, but there is ANCHOR t"),
            (
                "rl_settle k TOKEN 60 5 ACTUAL 7",
                "ERR syntax error: RL.SETTLE needs ACTUAL m, and RESERVED n or RESERVATION id",
            ),
            ("rl token WINDOW 60 5", "ERR the key holds a state of TOKEN: use another key for each algorithm"),
            ("rl token COUNTER 60 5", "ERR the key holds a state of TOKEN: use another key for each algorithm"),
        ] {
            assert_eq!(send(con, form, words), error(text), "{form:?} {words}");
        }
    });
}

/// A script cannot know the protocol of its client, and a Lua table has no order: a map would lose that of FULL.
#[test]
fn full_is_a_flat_array_on_resp3_too() {
    with_all_forms(|server, _, form| {
        let mut con = server.con3();
        let reply = ok(library(&Call::of("rl k TOKEN 60 5 FULL"), form).query(&mut con));
        assert!(matches!(reply, Value::Array(_)), "{reply:?}");
        let figures = full(reply);
        assert_eq!((figures.allowed, figures.limit, figures.remaining), (1, 5, 4));
    });
}

#[test]
fn a_replica_peeks() {
    for_each_server(|bin| {
        let master = Server::options(bin).without_module().start();
        let mut con = master.con();
        load_functions(&mut con);
        assert_eq!(send(&mut con, Form::Function, "rl k TOKEN 100000 5"), integers(&[1, 0, 20_000]));
        let replica = Server::options(bin).without_module().replica_of(&master).start();
        wait_for_replica(&master, &replica);
        // The functions come with the data. A script does not, and is sent by the client.
        let (mut there, script) = (replica.con(), generated("peek_token").expect("a script"));
        for words in [["FCALL_RO", "rl_peek", "1", "k", "TOKEN"].as_slice(), &["EVAL_RO", &script, "1", "k"]] {
            let mut read_only = redis::cmd(words[0]);
            read_only.arg(&words[1..]).arg(&["100000", "5"]);
            assert_eq!(answer(read_only.query(&mut there)).outcome(), "allowed", "{words:?}");
        }
        let written = err(library(&Call::of("rl k TOKEN 60 5"), Form::Function).query(&mut there));
        assert!(written.contains("READONLY"), "{written}");
        // A function that may write is refused by FCALL_RO on the master as well.
        let refused = err(cmd!(con, "FCALL_RO", "rl", 1, "k", "TOKEN", 60, 5));
        assert!(refused.contains("write flag"), "{refused}");
    });
}

/// At maxmemory the server refuses the functions that may create a key, and runs the others.
#[test]
fn at_maxmemory_what_frees_memory_runs() {
    for_each_server(|bin| {
        let server = Server::options(bin).without_module().start();
        let mut con = server.con();
        load_functions(&mut con);
        for words in ["rl a TOKEN 60 5", "rl b LEASE 60 5 ID h1", "rl c TOKEN 60 5", "rl d LEASE 60 5 ID h1"] {
            assert_eq!(send(&mut con, Form::Function, words).outcome(), "allowed");
        }
        ok(cmd!(con, "CONFIG", "SET", "maxmemory", 1));
        for words in [
            "rl new TOKEN 60 5",
            "rl new FIXED 60 5",
            "rl new SLIDING 60 5",
            "rl_settle a TOKEN 60 5 RESERVED 1 ACTUAL 2",
        ] {
            let refused = err(library(&Call::of(words), Form::Function).query(&mut con));
            assert!(refused.starts_with("OOM "), "{words}: {refused}");
            assert_eq!(
                send(&mut con, Form::Script, words),
                Answer::Error("OOM command not allowed when used memory > 'maxmemory'.".to_owned()),
                "{words}"
            );
        }
        for (words, reply) in [("rl_renew b 60 h1", 1), ("rl_release b h1", 1), ("rl_reset a TOKEN 60", 1)] {
            assert_eq!(send(&mut con, Form::Function, words), Answer::Value(Value::Int(reply)), "{words}");
        }
        assert_eq!(send(&mut con, Form::Function, "rl_peek c TOKEN 60 5").outcome(), "allowed");
        assert_eq!(send(&mut con, Form::Function, "rl_refund c TOKEN 60 5").outcome(), "allowed");
        assert_eq!(keys(&mut con), ["d"]);
        assert_eq!(send(&mut con, Form::Script, "rl_release d h1"), Answer::Value(Value::Int(1)));
    });
}

#[test]
fn in_a_cluster_every_key_stays_in_its_slot() {
    for_each_server(|bin| {
        let cluster = Cluster::start(bin, 3, |options| options);
        cluster.nodes.iter().for_each(|node| load_functions(&mut node.con()));
        for form in FORMS {
            for (key, tagged) in
                [("user", "{user}"), ("user:1", "{user:1}"), ("{org}:2", "{org}:2"), ("a{b}c", "a{b}c"), ("x{", "{x{}")]
            {
                let mut con = cluster.owner(key).con();
                let [native, library_call] = [key, tagged].map(|key| Call::of(&format!("rl {key} FIXED 1000000000 5")));
                let before: [i64; 3] = read(ok(native.native().query(&mut con)));
                let after: [i64; 3] = read(ok(library(&library_call, form).query(&mut con)));
                assert_eq!(after[1], before[1] + 1, "{form:?} {key}");
                let of_month = format!("rl {tagged} FIXED month 5 ANCHOR 1");
                assert_eq!(send(&mut con, form, &of_month).outcome(), "allowed", "{form:?} {key}");
            }
        }
    });
}

/// Times and calls that are too rare to come by chance, after which only an expiry shows a mistake.
const RARE: [&[(i64, &str)]; 4] = [
    // What is settled on top when no window runs counts until the window of the charge ends.
    &[
        (0, "rl k WINDOW 1m 10 COST 2 RESERVE a 20s"),
        (0, "rl_refund k WINDOW 1m 10 COST 2"),
        (5_000, "rl_settle k WINDOW 1m 10 RESERVATION a ACTUAL 5"),
    ],
    // A log of which one younger unit stays lives for 1.5 windows.
    &[(0, "rl k SLIDING 1m 5"), (1, "rl k SLIDING 1m 5"), (36_000, "rl_refund k SLIDING 1m 5 AT 1795269620123")],
    // Each lock is longer than the one before. A refund ends one; quiet time, a reset and a clock that steps back.
    &[
        (0, "rl k LOCKOUT 1h 2 BLOCK 1s MAX 5s COST 2 FULL"),
        (999, "rl k LOCKOUT 1h 2 BLOCK 1s MAX 5s FULL"),
        (1, "rl k LOCKOUT 1h 2 BLOCK 1s MAX 5s COST 2 FULL"),
        (2_000, "rl k LOCKOUT 1h 2 BLOCK 1s MAX 5s COST 2 FULL"),
        (1_000, "rl_refund k LOCKOUT 1h 2 BLOCK 1s MAX 5s AT 1 FULL"),
        (0, "rl_refund k LOCKOUT 1h 2 BLOCK 1s MAX 5s FULL"),
        (0, "rl k LOCKOUT 1h 2 BLOCK 1s MAX 5s FULL"),
        (5_000, "rl k LOCKOUT 1h 2 BLOCK 1s MAX 5s COST 2 FULL"),
        (14_999, "rl_peek k LOCKOUT 1h 2 BLOCK 1s MAX 5s COST 0 FULL"),
        (1, "rl k LOCKOUT 1h 2 BLOCK 1s MAX 5s COST 2 FULL"),
        (-7_000, "rl_peek k LOCKOUT 1h 2 BLOCK 1s MAX 5s FULL"),
        (0, "rl k LOCKOUT 1h 2 BLOCK 1s MAX 5s SHADOW FULL"),
        (0, "rl k LOCKOUT 1h 2 BLOCK 1s MAX 5s FULL"),
        (1_999, "rl k LOCKOUT 1h 0 BLOCK 1s MAX 5s FULL"),
        (0, "rl_reset k LOCKOUT 1h"),
        (0, "rl k LOCKOUT 1h 2 BLOCK 1s MAX 5s FULL"),
    ],
    // What is wrong has the module's error, and changes nothing.
    &[
        (0, "rl k LOCKOUT 1m 1 BLOCK 1ms MAX 1000000000000 HEADERS"),
        (1, "rl k LOCKOUT 1m 1 BLOCK 1ms MAX 1000000000000 AS user LINE"),
        (0, "rl k LOCKOUT 1ms 1 BLOCK 2ms MAX 1ms"),
        (0, "rl k LOCKOUT 2d 1 MAX 1d"),
        (0, "rl k LOCKOUT 1ms 1 BLOCK 1x"),
        (0, "rl k LOCKOUT 1ms 1 MAX"),
        (0, "rl k LOCKOUT day 1"),
        (0, "rl k LOCKOUT 1h 1 BLCOK 1s"),
        (0, "rl_reset k LOCKOUT 1h BLOCK 1s"),
        (0, "rl_settle k LOCKOUT 1h 1 RESERVED 1 ACTUAL 2"),
        (0, "rl k LOCKOUT 1m 1"),
        (0, "rl k TOKEN 1m 1"),
    ],
];

#[test]
fn rare_calls_do_what_the_module_does() {
    for_each_server(|bin| {
        let (mut clock, server) = FrozenClock::server(bin);
        let (mut con, start) = (server.con(), clock.now());
        load_functions(&mut con);
        for calls in RARE {
            let played = [false, true].map(|library| {
                ok(cmd!(con, "FLUSHALL"));
                clock.set(start);
                let replies = calls.iter().map(|(wait, words)| {
                    clock.step(&mut con, *wait);
                    let call = Call::of(words);
                    let at = Micros::from_millis(clock.now_ms().unsigned_abs());
                    let function = call.library(Form::Function, at).expect("a function");
                    answer(if library { function } else { call.native() }.query(&mut con))
                });
                let replies: Vec<_> = replies.collect();
                (replies, comparable(&keys_of(answer(dump(&BTreeSet::new()).query(&mut con)))))
            });
            assert_eq!(played[0], played[1]);
        }
    });
}

/// The permissions in docs/lua.md are enough for every call.
#[test]
fn the_documented_permissions_are_enough() {
    const PAGE: &str = include_str!("../docs/lua.md");
    let lines: Vec<&str> = PAGE.lines().filter(|line| line.starts_with("ACL SETUSER app ")).collect();
    assert_eq!(lines.len(), 4);
    for_each_server(|bin| {
        let server = Server::options(bin).without_module().start();
        let mut con = server.con();
        load_functions(&mut con);
        for line in &lines {
            let words: Vec<&str> = line.split(' ').collect();
            ok(redis::cmd("ACL").arg(&words[1..]).query(&mut con));
        }
        let mut user = server.con();
        ok(cmd!(user, "AUTH", "app", "secret"));
        let mut case = Case::new(2);
        // Every algorithm on every key is WRONGTYPE now and then, which is a reply as well.
        for n in 0..1_500 {
            let mut call = case.call(&words(|traits| traits.library));
            call.limits.iter_mut().for_each(|(key, _)| key.splice(..0, *b"user:").for_each(drop));
            let at = Micros::from_millis(now_ms().unsigned_abs());
            let Some(command) = call.library(FORMS[n % FORMS.len()], at) else { continue };
            if let Answer::Error(error) = answer(command.query(&mut user)) {
                assert!(!refuses(&error), "{}: {error}", shown(&call.native()));
            }
        }
        let denied = |reply: Reply| assert!(err(reply).contains("NOPERM"));
        denied(cmd!(user, "FCALL", "rl", 1, "other", "TOKEN", 60, 5));
        denied(cmd!(user, "DEL", "user:1"));
    });
}

// Redis 7.0 has other words for a command that a script calls.
fn refuses(error: &str) -> bool {
    ["NOPERM", "ermission", "can't access", "can't run"].iter().any(|word| error.contains(word))
}

/// Every call uses the keys that it declares, and no other: a user who may use only those sees no error of permission,
/// and MONITOR shows no command of the script on another key.
#[test]
fn every_key_is_declared() {
    for_each_server(|bin| {
        let server = Server::options(bin).without_module().start();
        let mut con = server.con();
        load_functions(&mut con);
        let (mut monitor, mut seen) = (server.con(), BTreeSet::new());
        monitor.send_packed_command(&redis::cmd("MONITOR").get_packed_command()).expect("MONITOR");
        assert_eq!(monitor.recv_response().expect("a reply"), Value::Okay);
        let mut case = Case::new(3);
        for n in 0..1_500 {
            let call = case.call(&words(|traits| traits.library));
            let form = [Form::Script, Form::Function][n % 2];
            let at = Micros::from_millis(now_ms().unsigned_abs());
            let Some(command) = call.library(form, at) else { continue };
            let words: Vec<Vec<u8>> = command
                .args_iter()
                .map(|word| match word {
                    redis::Arg::Simple(bytes) => bytes.to_vec(),
                    _ => Vec::new(),
                })
                .collect();
            let count: usize = text(&words[2]).parse().expect("a number of keys");
            let mut allow = redis::cmd("ACL");
            allow.arg("SETUSER").arg("only").arg("on").arg("nopass").arg("resetkeys").arg("+@all");
            words[3..3 + count].iter().for_each(|key| _ = allow.arg([&b"~"[..], key].concat()));
            ok(allow.query(&mut con));
            let mut user = server.con();
            ok(cmd!(user, "AUTH", "only", ""));
            let reply = answer(command.query(&mut user));
            if let Answer::Error(error) = &reply {
                assert!(!refuses(error), "{}: {error}", shown(&call.native()));
            }
            // What the script has called: `1795696427.091 [0 lua] "GET" "k"`.
            ok(cmd!(con, "ECHO", "the end"));
            loop {
                let line: String = read(monitor.recv_response().expect("a line"));
                let called: Vec<&str> = line.split('"').skip(1).step_by(2).collect();
                if called == ["ECHO", "the end"] {
                    break;
                } else if line.contains(" lua] ") && called[0] != "TIME" {
                    let key = called[1].as_bytes();
                    assert!(
                        words[3..3 + count].iter().any(|declared| declared == key),
                        "{}: {line}",
                        shown(&call.native())
                    );
                    seen.insert(("called", "a command"));
                }
            }
            seen.insert((call.name, reply.outcome()));
        }
        assert!(seen.len() > 12, "{seen:?}");
    });
}

/// Scripts with the KEYS and ARGV of vectors/scripts.json reply what the commands reply.
#[test]
fn the_scripts_take_the_keys_of_the_vectors() {
    use serde_json::Value as Json;
    let vectors: Json = serde_json::from_str(include_str!("../vectors/scripts.json")).expect("vectors/scripts.json");
    let calls = vectors["calls"].as_array().expect("calls");
    // What a fast path compares with, to see how many bits a long of C has.
    const LONG: &str = "1099511627776";
    assert!(generated("fixed").is_some_and(|script| script.contains(LONG)));
    let named: BTreeSet<_> = calls.iter().filter_map(|call| call["script"].as_str()).collect();
    fn words(list: &Json) -> Vec<&str> {
        list.as_array().expect("words").iter().filter_map(Json::as_str).collect()
    }
    for_each_server(|bin| {
        let (mut clock, server) = FrozenClock::server(bin);
        let mut con = server.con();
        for call in calls {
            let Some(script) = call["script"].as_str().and_then(generated) else { continue };
            let (now_ms, [name, rest @ ..]) =
                (call["now_ms"].as_i64().unwrap_or(1_795_696_427_091), &words(&call["command"])[..])
            else {
                panic!("{call}")
            };
            clock.set(now_ms * 1_000);
            ok(cmd!(con, "FLUSHALL"));
            let native = answer(redis::cmd(name).arg(rest).query(&mut con));
            let keys = words(&call["keys"]);
            // As it is, and as where a long of C has 32 bits: the whole script runs then.
            for script in [script.replace(LONG, ""), script] {
                ok(cmd!(con, "FLUSHALL"));
                let library = cmd!(con, "EVAL", script, keys.len(), &keys, words(&call["argv"]));
                match answer(library) {
                    // The suffixes of the calendar are not known yet.
                    Answer::Error(error) if call.get("suffixes") == Some(&Json::Null) => {
                        assert!(error.starts_with(&format!("ERR clock {now_ms} :")), "{error}");
                    }
                    library => assert_eq!(library, native, "{call}"),
                }
            }
        }
    });
    let files = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("lua/generated")).expect("lua/generated");
    let names: BTreeSet<_> =
        files.map(|file| file.expect("a file").path().file_stem().map(|name| name.to_owned())).collect();
    let unnamed: Vec<_> =
        names.iter().flatten().filter_map(|name| name.to_str()).filter(|name| !named.contains(name)).collect();
    assert_eq!(unnamed, ["fixed_window", "rl", "sliding_window"]);
}

/// A locale in which `a` comes before `B`, and `9` before `0`. As bytes they are in the other order.
fn other_locale(dir: &Path) {
    const CHARACTERS: &str = "<code_set_name> ANSI_X3.4-1968\n<comment_char> %\n<escape_char> /\n<mb_cur_min> 1\n\
        <mb_cur_max> 1\nCHARMAP\n<U0000>..<U007F> /x00\nEND CHARMAP\n";
    let digits: String = ('0'..='9').rev().map(|digit| format!("<U{:04X}>\n", digit as u32)).collect();
    let order = format!(
        "comment_char %\nescape_char /\nLC_COLLATE\norder_start forward\n<U0061>\n<U0042>\n{digits}order_end\n\
        END LC_COLLATE\n"
    );
    let path = |name: &str| dir.join(name);
    fs::write(path("characters"), CHARACTERS).expect("written");
    fs::write(path("order"), order).expect("written");
    let mut localedef = Command::new("localedef");
    localedef.arg("-c").arg("-i").arg(path("order")).arg("-f").arg(path("characters")).arg(path("other"));
    // It warns of the parts of a locale that nobody needs here.
    let output = localedef.output().expect("localedef, of the C library");
    assert!(path("other/LC_COLLATE").exists(), "{}", text(&output.stderr));
}

/// The order of ids, and of digits, is that of their bytes also where the server has another one.
#[test]
fn the_locale_of_the_server_changes_nothing() {
    const CALLS: [&str; 3] = [
        // What is given back first empties the counter, so the order shows.
        "rl_settle k WINDOW 1h 10 RESERVATION none ACTUAL 0",
        "rl huge WINDOW 1h 9007199254740991",
        "rl huge WINDOW 1h 9223372036854775808",
    ];
    let dir = tempfile::tempdir().expect("a directory");
    other_locale(dir.path());
    for_each_server(|bin| {
        let module = Server::start(bin);
        let other = Server::options(bin).without_module();
        let other = other.env("LOCPATH", dir.path().display()).env("LC_ALL", "other").start();
        let [mut con, mut other] = [module.con(), other.con()];
        load_functions(&mut other);
        for (left, right) in [("a", "B"), ("9", "0")] {
            let before = format!("return tostring('{left}' < '{right}')");
            assert_eq!(ok(cmd!(other, "EVAL", before, 0)), bytes("true"), "the locale is not in force");
        }

        let now = now_ms();
        let (ended, until) = (now - 1_000, now + 3_600_000);
        let field = format!("5:{}:{ended}:{until}:60000", now - 2_000);
        let found = |con: &mut Connection, form: Option<Form>| {
            ok(cmd!(*con, "FLUSHALL"));
            ok(cmd!(*con, "SET", "k", 4, "PXAT", until));
            ok(cmd!(*con, "HSET", "k:reserved", "", ended, "a", &field, "B", &field));
            let replies = CALLS.map(|words| {
                let call = Call::of(words);
                match answer(form.map_or_else(|| call.native(), |form| library(&call, form)).query(con)) {
                    Answer::Value(value) => Answer::Value(ints(&read::<[i64; 3]>(value)[..2])),
                    error => error,
                }
            });
            (replies, read::<BTreeMap<String, String>>(ok(cmd!(*con, "HGETALL", "k:reserved"))))
        };
        let expected = found(&mut con, None);
        let mark = |counts_until: i64| format!(":{}:{}:{counts_until}:60000", now - 2_000, ended + 60_000);
        assert_eq!([&expected.1["B"], &expected.1["a"]], [&mark(until), &mark(0)]);
        for form in FORMS {
            assert_eq!(found(&mut other, Some(form)), expected, "{form:?}");
        }
    });
}
