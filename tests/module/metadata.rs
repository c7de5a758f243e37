//! What a server tells of the module: COMMAND, ACL, CONFIG; and how it is loaded, or not.

use std::fs;
use std::io::Write;
use std::path::Path;

use crate::support::*;
use redis::{Connection, Value};
use tempfile::NamedTempFile;

/// What stands under `name` in a map, or in the flat array that a map is on RESP2.
#[track_caller]
fn field<'a>(value: &'a Value, name: &str) -> &'a Value {
    let found = match value {
        Value::Map(pairs) => pairs.iter().find(|(key, _)| text(key) == name).map(|(_, value)| value),
        Value::Array(flat) => flat.chunks_exact(2).find(|pair| text(&pair[0]) == name).map(|pair| &pair[1]),
        other => panic!("no {name} in {other:?}"),
    };
    found.unwrap_or_else(|| panic!("no {name} in {value:?}"))
}

fn has_field(value: &Value, name: &str) -> bool {
    match value {
        Value::Map(pairs) => pairs.iter().any(|(key, _)| text(key) == name),
        Value::Array(flat) => flat.chunks_exact(2).any(|pair| text(&pair[0]) == name),
        _ => false,
    }
}

#[track_caller]
fn text(value: &Value) -> String {
    match value {
        Value::BulkString(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::SimpleString(text) => text.clone(),
        Value::Okay => "OK".to_owned(),
        other => panic!("no text: {other:?}"),
    }
}

#[track_caller]
fn list(value: &Value) -> &[Value] {
    match value {
        Value::Array(items) | Value::Set(items) => items,
        other => panic!("no list: {other:?}"),
    }
}

/// Sorted, in lower case.
#[track_caller]
fn words(value: &Value) -> Vec<String> {
    let mut words: Vec<String> = list(value).iter().map(|word| text(word).to_lowercase()).collect();
    words.sort();
    words
}

/// Whether a module can add an ACL category: Redis 7.4, and every Valkey from 8 on.
fn has_categories(bin: &ServerBin) -> bool {
    bin.is_valkey() || (bin.version.0, bin.version.1) >= (7, 4)
}

#[test]
fn command_info() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        for mut con in [server.con(), server.con3()] {
            for algorithm in ALGORITHMS {
                let reply = ok(cmd!(con, "COMMAND", "INFO", algorithm.command));
                let [info] = list(&reply) else { panic!("{reply:?}") };
                let [name, arity, flags, first, last, step, categories, _tips, keys, _subcommands] = list(info) else {
                    panic!("{info:?}")
                };
                assert_eq!(text(name).to_uppercase(), algorithm.command);
                assert_eq!([arity, first, last, step].map(Clone::clone), [-4, 1, 1, 1].map(Value::Int));
                assert_eq!(words(flags), ["fast", "module", "write"]);
                if has_categories(bin) {
                    assert_eq!(words(categories), ["@fast", "@ratelimit", "@write"]);
                }
                let [spec] = list(keys) else { panic!("{keys:?}") };
                assert_eq!(words(field(spec, "flags")), ["access", "rw", "update"]);
                let begin = field(spec, "begin_search");
                assert_eq!(text(field(begin, "type")), "index");
                assert_eq!(*field(field(begin, "spec"), "index"), Value::Int(1));
                let find = field(spec, "find_keys");
                assert_eq!(text(field(find, "type")), "range");
                let range = ["lastkey", "keystep", "limit"].map(|name| field(field(find, "spec"), name).clone());
                assert_eq!(range, [0, 1, 0].map(Value::Int));
            }
        }
    });
}

#[test]
fn command_docs() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        for mut con in [server.con(), server.con3()] {
            for algorithm in ALGORITHMS {
                let reply = ok(cmd!(con, "COMMAND", "DOCS", algorithm.command));
                let name = if has_field(&reply, algorithm.command) {
                    algorithm.command.to_owned()
                } else {
                    algorithm.command.to_lowercase()
                };
                let docs = field(&reply, &name);
                assert!(text(field(docs, "summary")).len() > 20);
                assert_eq!(text(field(docs, "since")), "0.1.0");
                assert_eq!(text(field(docs, "group")), "module");
                assert_eq!(text(field(docs, "module")), "rl");
                let complexity = text(field(docs, "complexity"));
                // RESERVE takes longer.
                let plain = complexity.split("; with RESERVE").next().expect("a text");
                assert!(plain.starts_with("O(") && (plain == "O(1)") == algorithm.takes_constant_time);
            }
        }
    });
}

/// The options: how COMMAND DOCS shows each, the commands that take it, and the algorithms. The other tests ask
/// COMMAND DOCS.
const OPTIONS: &[(&str, &str, &str)] = &[
    ("COST cost:integer", "RL.<ALGO> RL.PEEK RL.MULTI RL.REFUND", "all but LEASE"),
    ("PARTIAL partial:pure-token", "RL.<ALGO> RL.PEEK", "all but LEASE"),
    ("ALWAYS always:pure-token", "RL.<ALGO> RL.PEEK", "FIXED WINDOW COUNTER TOKEN ROLLING"),
    ("RESERVED reserved:integer", "RL.SETTLE", "all"),
    ("ACTUAL actual:integer", "RL.SETTLE", "all"),
    ("AT unix_time_milliseconds:integer", "RL.REFUND RL.SETTLE", "all"),
    ("BURST burst:integer", "RL.<ALGO> RL.PEEK RL.MULTI RL.REFUND RL.SETTLE", "TOKEN LEAKY GCRA"),
    ("ANCHOR anchor:integer", "RL.<ALGO> RL.PEEK RL.MULTI RL.REFUND RL.SETTLE RL.RESET", "FIXED"),
    ("ID id:string", "RL.<ALGO> RL.PEEK RL.MULTI", "LEASE"),
    ("AS name:string", "RL.<ALGO> RL.PEEK RL.MULTI", "all"),
    ("SHADOW shadow:pure-token", "RL.<ALGO> RL.PEEK RL.MULTI", "all"),
    ("RESERVE reservation:block(id:string|ttl:string)", "RL.<ALGO> RL.MULTI", "FIXED WINDOW COUNTER ROLLING"),
    ("RESERVATION reservation_id:string", "RL.SETTLE", "FIXED WINDOW COUNTER ROLLING"),
];

/// The options of [`OPTIONS`] that a command takes, for an algorithm or for any.
fn options(taker: &str, algorithm: Option<&str>) -> Vec<String> {
    let takes = |algorithms: &str| match (algorithm, algorithms) {
        (None, _) | (_, "all") => true,
        (Some(word), "all but LEASE") => word != LEASE,
        (Some(word), some) => some.split(' ').any(|one| one == word),
    };
    let taken =
        OPTIONS.iter().filter(|(_, takers, algorithms)| takers.split(' ').any(|one| one == taker) && takes(algorithms));
    let required = |shown: &str| {
        taker == "RL.SETTLE" && shown.starts_with("ACTUAL") || taker == TAKERS[0] && shown.starts_with("ID")
    };
    taken.map(|(shown, ..)| if required(shown) { (*shown).to_owned() } else { format!("[{shown}]") }).collect()
}

#[test]
fn command_docs_show_the_arguments_of_each_command() {
    const FORM: &str = "[form:oneof(FULL full:pure-token|LINE line:pure-token|HEADERS headers:pure-token)]";
    for_each_server(|bin| {
        let server = Server::start(bin);
        for mut con in [server.con(), server.con3()] {
            let mut shown = |command: &str| {
                let arguments = arguments_of(&mut con, command);
                let key = arguments.iter().find(|argument| argument.name == "key");
                assert!(key.is_none_or(|key| key.key_spec_index == Some(0)), "{command}");
                arguments.iter().map(Argument::shown).collect::<Vec<_>>()
            };
            let with = |head: &[&str], options: Vec<String>, form: &[&str]| {
                let owned = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
                [owned(head), options, owned(form)].concat()
            };
            for word in algorithm_words() {
                let expected =
                    with(&["key:key", "window:string", "limit:integer"], options(TAKERS[0], Some(word)), &[FORM]);
                assert_eq!(shown(&format!("RL.{word}")), expected, "{word}");
            }
            let words: Vec<String> = algorithm_words().map(|word| format!("{word} {word}:pure-token")).collect();
            for taker in &TAKERS[1..] {
                let (limit, form) = match *taker {
                    "RL.RESET" => (&["key:key", "window:string"][..], &[][..]),
                    _ => (&["key:key", "window:string", "limit:integer"][..], &[FORM][..]),
                };
                let mut found = shown(taker);
                if *taker == "RL.MULTI" {
                    // The options of a limit are in the block that repeats.
                    let [count, limits, form] = found.as_slice() else { panic!("{found:?}") };
                    assert_eq!((count.as_str(), form.as_str()), ("numlimits:integer", FORM));
                    let block = limits.strip_prefix("limits:block(").and_then(|block| block.strip_suffix(") multiple"));
                    let block = block.unwrap_or_else(|| panic!("{limits}"));
                    let (algorithms, rest) = block.split_once(")|").expect("the algorithms");
                    // A bar within parentheses separates the values of one option.
                    let mut depth = 0;
                    let options = rest.split(|letter| {
                        depth += i32::from(letter == '(') - i32::from(letter == ')');
                        letter == '|' && depth == 0
                    });
                    found = [format!("{algorithms})")].into_iter().chain(options.map(str::to_owned)).collect();
                    found.push(FORM.to_owned());
                }
                let algorithm = found.remove(0);
                let listed = algorithm.strip_prefix("algorithm:oneof(").and_then(|list| list.strip_suffix(')'));
                let mut listed: Vec<&str> = listed.unwrap_or_else(|| panic!("{algorithm}")).split('|').collect();
                let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
                listed.sort_unstable();
                words.sort_unstable();
                assert_eq!(listed, words, "{taker}");
                assert_eq!(found, with(limit, options(taker, None), form), "{taker}");
            }
        }
    });
}

/// A call takes the options that COMMAND DOCS shows, and rejects every other option of the module by its name.
#[test]
fn a_call_takes_the_options_that_command_docs_shows() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let grammar = Grammar::of(&mut con);
        for (taker, word) in TAKERS.into_iter().flat_map(|taker| algorithm_words().map(move |word| (taker, word))) {
            for (option, has_value) in grammar.options() {
                ok(cmd!(con, "FLUSHALL"));
                let value = match option.as_str() {
                    "RESERVE" => " id 1",
                    _ if has_value => " 1",
                    _ => "",
                };
                let call = match taker {
                    "RL.<ALGO>" => format!("RL.{word} k 60 5"),
                    "RL.MULTI" => format!("RL.MULTI 1 {word} k 60 5"),
                    "RL.RESET" => format!("RL.RESET {word} k 60"),
                    _ => format!("{taker} {word} k 60 5"),
                };
                // What the command requires beside this option.
                let mut required = vec![];
                if taker == "RL.SETTLE" {
                    required.push("ACTUAL");
                    if option != "RESERVATION" {
                        required.push("RESERVED");
                    }
                }
                if word == LEASE && grammar.takes(taker, word, "ID") {
                    required.push("ID");
                }
                let required: Vec<String> =
                    required.into_iter().filter(|one| *one != option).map(|one| format!("{one} 1")).collect();
                let call = [call, required.join(" "), format!("{option}{value}")].join(" ");
                let words: Vec<&str> = call.split_whitespace().collect();
                let reply = redis::cmd(words[0]).arg(&words[1..]).query::<Value>(&mut con);
                let of_limit = if taker == "RL.MULTI" { "limit 1: " } else { "" };
                let by_command = algorithm_words().any(|word| grammar.takes(taker, word, &option));
                if word == LEASE && ["RL.REFUND", "RL.SETTLE"].contains(&taker) {
                    // LEASE has RL.RELEASE instead, whatever the options are.
                    assert!(err(reply).contains("RL.RELEASE"), "{call}");
                } else if grammar.takes(taker, word, &option) {
                    ok(reply);
                } else if by_command {
                    assert_eq!(err(reply), format!("ERR {of_limit}invalid {option}: {word} takes none"), "{call}");
                } else {
                    assert_eq!(
                        err(reply),
                        format!("ERR {of_limit}invalid {option}: {}", grammar.only(&option)),
                        "{call}"
                    );
                }
            }
        }
    });
}

#[test]
fn command_getkeys() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for algorithm in ALGORITHMS {
            let name = algorithm.command;
            let key = b"k\0\xff";
            for rest in [&["60", "5"][..], &["60", "5", "COST", "2", "FULL"]] {
                let keys = ok(cmd!(con, "COMMAND", "GETKEYS", name, key, rest));
                assert_eq!(keys, Value::Array(vec![bytes(key)]));
            }
            let keys = ok(cmd!(con, "COMMAND", "GETKEYSANDFLAGS", name, key, 60, 5));
            let [entry] = list(&keys) else { panic!("{keys:?}") };
            let [found, flags] = list(entry) else { panic!("{entry:?}") };
            assert_eq!(*found, bytes(key));
            assert_eq!(words(flags), ["access", "rw", "update"]);
            err(cmd!(con, "COMMAND", "GETKEYS", name, key));
        }
    });
}

#[test]
fn the_commands_have_an_acl_category_where_the_server_can() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        if !has_categories(bin) {
            assert!(err(cmd!(con, "ACL", "CAT", "ratelimit")).contains("nknown category"));
            assert!(server.log().contains("grant the commands by name instead of @ratelimit"), "{}", server.log());
            // From 7.2 on, the commands are in the server's own categories, so `-@write` takes them away. On 7.0 a module
            // can set none: docs/operations.md says how to write the line there.
            let set = (bin.version.0, bin.version.1) >= (7, 2);
            ok(cmd!(con, "ACL", "SETUSER", "user", "reset", "~*", "+@all", "-@write", "-@dangerous"));
            for call in [&["RL.TOKEN", "k", "60", "5"][..], &["RL.TOP"]] {
                let checked = text(&ok(cmd!(con, "ACL", "DRYRUN", "user", call)));
                assert_eq!(checked == "OK", !set, "{call:?}: {checked}");
            }
            return;
        }
        assert!(words(&ok(cmd!(con, "ACL", "CAT"))).contains(&"ratelimit".to_owned()));
        for category in ["ratelimit", "write", "fast"] {
            for (rules, reply) in [("-@all +", "OK"), ("+@all -", "has no permissions to run")] {
                let rules = format!("{rules}@{category}");
                let rules: Vec<&str> = rules.split(' ').collect();
                ok(cmd!(con, "ACL", "SETUSER", "user", "reset", "~*", rules.as_slice()));
                for algorithm in ALGORITHMS {
                    let checked = text(&ok(cmd!(con, "ACL", "DRYRUN", "user", algorithm.command, "k", 60, 5)));
                    assert!(checked.contains(reply), "{rules:?}, {}: {checked}", algorithm.command);
                }
            }
        }
        // The category has the commands of the module and no other: what a user of it alone may run. (ACL CAT lists
        // none of them on Redis 7.4.1.)
        ok(cmd!(con, "ACL", "SETUSER", "user", "reset", "allkeys", "allchannels", "-@all", "+@ratelimit"));
        let commands = ok(cmd!(con, "COMMAND"));
        let mut allowed: Vec<String> = Vec::new();
        for command in list(&commands) {
            let [name, Value::Int(arity), flags, ..] = list(command) else { panic!("{command:?}") };
            // AUTH, HELLO, QUIT and RESET are for everybody.
            if words(flags).contains(&"no_auth".to_owned()) {
                continue;
            }
            let arguments = vec!["1"; arity.unsigned_abs() as usize - 1];
            // An error where a subcommand is missing.
            let checked = cmd!(con, "ACL", "DRYRUN", "user", text(name), arguments);
            if checked.is_ok_and(|reply| text(&reply) == "OK") {
                allowed.push(text(name).to_lowercase());
            }
        }
        allowed.sort();
        let mut of_module = words(&ok(cmd!(con, "COMMAND", "LIST", "FILTERBY", "MODULE", "rl")));
        // RL.TOP shows keys whatever the permissions of the user.
        of_module.retain(|name| name != "rl.top");
        assert_eq!(allowed, of_module);
        assert!(allowed.len() > ALGORITHMS.len(), "{allowed:?}");
    });
}

#[test]
fn a_user_of_the_commands_alone_can_do_no_more() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut root = server.con();
        let by_name: Vec<String> =
            ALGORITHMS.iter().map(|algorithm| format!("+{}", algorithm.command.to_lowercase())).collect();
        let granted = if has_categories(bin) { vec!["+@ratelimit".to_owned()] } else { by_name };
        for (user, keys) in [("limited", "~rlaas:*"), ("reader", "%R~rlaas:*"), ("writer", "%W~rlaas:*")] {
            ok(cmd!(root, "ACL", "SETUSER", user, "on", ">secret", keys, "-@all", &granted));
        }
        let con_of = |user| {
            let mut con = server.con();
            ok(cmd!(con, "AUTH", user, "secret"));
            con
        };
        let refused = |reply: Reply| assert!(err(reply).starts_with("NOPERM "));
        let (mut limited, mut reader, mut writer) = (con_of("limited"), con_of("reader"), con_of("writer"));
        for algorithm in ALGORITHMS {
            let command = algorithm.command;
            for n in 0..3 {
                let key = format!("rlaas:{command}");
                let reply = ok(cmd!(limited, command, &key, 1_000_000_000, 2));
                assert_eq!(list(&reply)[0], Value::Int((n < 2).into()), "{command}");
                ok(cmd!(limited, command, format!("{key}:full"), 1_000_000_000, 2, "FULL"));
            }
            let before = digest(&mut root);
            for key in ["other", "rlaas", "Rlaas:k", "", "{rlaas:k}"] {
                refused(cmd!(limited, command, key, 60, 5));
            }
            // The commands read and write.
            refused(cmd!(reader, command, "rlaas:k", 60, 5));
            refused(cmd!(writer, command, "rlaas:k", 60, 5));
            assert_eq!(digest(&mut root), before);
        }
        refused(cmd!(limited, "GET", "rlaas:k"));
        refused(cmd!(limited, "DEL", "rlaas:k"));
        refused(cmd!(limited, "CONFIG", "SET", "rl.on-oom", "allow"));
    });
}

#[track_caller]
fn on_oom(con: &mut Connection) -> String {
    let reply = ok(cmd!(*con, "CONFIG", "GET", "rl.on-oom"));
    text(field(&reply, "rl.on-oom"))
}

#[test]
fn the_configuration_is_read_and_set() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        for mut con in [server.con(), server.con3()] {
            assert_eq!(on_oom(&mut con), "error", "the default");
            assert!(has_field(&ok(cmd!(con, "CONFIG", "GET", "rl.*")), "rl.on-oom"));
            for value in ["allow", "deny", "error", "DENY"] {
                ok(cmd!(con, "CONFIG", "SET", "rl.on-oom", value));
                assert_eq!(on_oom(&mut con), value.to_lowercase());
            }
            for value in [&b""[..], b"yes", b"0", b"1", b"allow ", b"allow deny", b"\xff\xfe"] {
                let reply = cmd!(con, "CONFIG", "SET", "rl.on-oom", value);
                assert!(reply.is_err(), "{} is taken", value.escape_ascii());
                let text = err(reply);
                assert!(text.contains("on-oom"), "{text}");
                assert_eq!(on_oom(&mut con), "deny");
            }
            ok(cmd!(con, "CONFIG", "SET", "rl.on-oom", "error"));
            err(cmd!(con, "CONFIG", "SET", "rl.no-such-setting", "1"));
        }
    });
}

#[test]
fn load_arguments_set_the_configuration() {
    for_each_server(|bin| {
        for (arguments, expected) in [
            (&[][..], "error"),
            (&["rl.on-oom", "allow"], "allow"),
            (&["on-oom", "deny"], "deny"),
            (&["RL.ON-OOM", "DENY"], "deny"),
            (&["rl.on-oom", "allow", "rl.on-oom", "error"], "error"),
        ] {
            let server = Server::options(bin).module_args(arguments).start();
            assert_eq!(on_oom(&mut server.con()), expected, "{arguments:?}");
        }
        // As in redis.conf; it counts more than the argument.
        let server = Server::options(bin).module_args(&["rl.on-oom", "deny"]).set("rl.on-oom", "allow").start();
        assert_eq!(on_oom(&mut server.con()), "allow");
    });
}

const WRONG_ARGUMENTS: [(&[&str], &str); 6] = [
    (&["colour", "red"], "colour"),
    (&["rl.colour"], "colour"),
    (&["rl.on-oom"], "rl.on-oom"),
    (&["rl.on-oom", "maybe"], "rl.on-oom"),
    (&["on-oom", ""], "rl.on-oom"),
    (&["rl.on-oom", "allow", "extra"], "extra"),
];

/// The server puts the name of the module in front, so the module itself does not.
fn refusals(log: &str) -> Vec<&str> {
    log.lines().filter(|line| line.contains("<rl> not loaded: ")).collect()
}

#[test]
fn wrong_load_arguments_end_the_start_with_their_name_in_the_log() {
    for_each_server(|bin| {
        for (arguments, name) in WRONG_ARGUMENTS {
            let Err(log) = Server::options(bin).module_args(arguments).try_start() else {
                panic!("the server starts with {arguments:?}");
            };
            let lines = refusals(&log);
            assert!(lines.len() == 1 && lines[0].contains(name), "{arguments:?}:\n{log}");
            assert!(!log.contains("BUG REPORT"), "{arguments:?}:\n{log}");
        }
    });
}

/// 10203 for 1.2.3.
fn module_version() -> i64 {
    let parts = env!("CARGO_PKG_VERSION").split('.').map(|part| part.parse::<i64>().expect("a number"));
    parts.fold(0, |version, part| 100 * version + part)
}

#[test]
fn a_wrong_load_at_run_time_leaves_nothing_behind() {
    for_each_server(|bin| {
        let mut server = Server::options(bin).without_module().start();
        let mut con = server.con();
        let path = module_path();
        let path = path.to_str().expect("a path");
        let unknown = |con: &mut Connection| {
            assert!(err(cmd!(*con, "RL.FIXED", "k", 60, 5)).starts_with("ERR unknown command"));
        };
        unknown(&mut con);
        for (n, (arguments, name)) in WRONG_ARGUMENTS.into_iter().enumerate() {
            err(cmd!(con, "MODULE", "LOAD", path, arguments));
            let log = server.log();
            let lines = refusals(&log);
            assert!(lines.len() == n + 1 && lines[n].contains(name), "{arguments:?}:\n{log}");
            unknown(&mut con);
        }
        // The server unloads the module for these, after the module has loaded.
        for (name, value) in [("rl.colour", "red"), ("rl.on-oom", "maybe"), ("colour", "red")] {
            for _ in 0..3 {
                err(cmd!(con, "MODULE", "LOADEX", path, "CONFIG", name, value));
                unknown(&mut con);
                err(cmd!(con, "MODULE", "UNLOAD", "rl"));
            }
        }
        assert!(!server.log().contains("not unloaded"), "{}", server.log());
        ok(cmd!(con, "MODULE", "LOAD", path));
        ok(cmd!(con, "RL.FIXED", "k", 60, 5));
        assert!(server.is_running());
    });
}

#[test]
fn the_module_is_loaded_at_run_time_and_stays() {
    for_each_server(|bin| {
        let path = module_path();
        let path = path.to_str().expect("a path");
        for (load, expected) in [
            (&["LOAD", path][..], "error"),
            (&["LOAD", path, "rl.on-oom", "deny"], "deny"),
            (&["LOADEX", path, "CONFIG", "rl.on-oom", "allow"], "allow"),
            (&["LOADEX", path, "ARGS", "rl.on-oom", "deny"], "deny"),
            (&["LOADEX", path, "CONFIG", "rl.on-oom", "allow", "ARGS", "rl.on-oom", "deny"], "allow"),
        ] {
            let mut server = Server::options(bin).without_module().start();
            let mut con = server.con();
            ok(cmd!(con, "MODULE", load));
            assert_eq!(on_oom(&mut con), expected, "{load:?}");
            let listed = ok(cmd!(con, "MODULE", "LIST"));
            // Valkey 9.1 has its Lua in a module.
            let ours: Vec<_> = list(&listed).iter().filter(|module| text(field(module, "name")) == "rl").collect();
            assert!(ours.len() == 1 && *field(ours[0], "ver") == Value::Int(module_version()), "{listed:?}");
            let version = concat!("<rl> version ", env!("CARGO_PKG_VERSION"));
            assert!(server.log().contains(version), "{}", server.log());
            // Unloading is refused before and after the first request, and so is loading it twice.
            for _ in 0..2 {
                assert!(err(cmd!(con, "MODULE", "UNLOAD", "rl")).contains("rror unloading module"));
                assert!(server.log().contains("<rl> not unloaded: "), "{}", server.log());
                err(cmd!(con, "MODULE", "LOAD", path));
                for algorithm in ALGORITHMS {
                    let reply = ok(cmd!(con, algorithm.command, algorithm.name, 1_000_000_000, 2));
                    assert_eq!(list(&reply).len(), 3);
                }
            }
            assert_eq!(on_oom(&mut con), expected, "{load:?}");
            assert!(server.is_running());
        }
    });
}

/// Valkey 9 unloads every module before it ends. The module does not stand in the way.
#[test]
fn a_server_that_shuts_down_unloads_the_module() {
    for_each_server(|bin| {
        let mut server = Server::start(bin);
        ok(cmd!(server.con(), "RL.FIXED", "k", 60, 5));
        server.shutdown("NOSAVE");
        let log = server.log();
        assert!(!log.contains("not unloaded") && !log.contains("BUG REPORT"), "{log}");
        if bin.is_valkey() && bin.version.0 >= 9 {
            assert!(log.contains("Module rl unloaded"), "{log}");
        }
    });
}

/// The commands that the module calls or replicates under their names.
const NEEDED: &[&str] = &[
    "APPEND",
    "GET",
    "HDEL",
    "HSET",
    "INCR",
    "INCRBY",
    "PEXPIREAT",
    "SET",
    "SETRANGE",
    "UNLINK",
    "ZADD",
    "ZCOUNT",
    "ZRANGE",
    "ZREM",
    "ZREMRANGEBYRANK",
    "ZREMRANGEBYSCORE",
];

#[test]
fn a_renamed_command_that_the_module_needs_ends_the_start_with_its_name_in_the_log() {
    for_each_server(|bin| {
        let renamed = |names: &[&str]| {
            let mut file = NamedTempFile::new().expect("a file");
            for (n, name) in names.iter().enumerate() {
                // An empty name removes the command.
                let new = if n % 2 == 0 { format!("renamed-{n}") } else { "\"\"".to_owned() };
                writeln!(file, "rename-command {name} {new}").expect("a line");
            }
            Server::options(bin).set("include", file.path().display()).try_start()
        };
        for names in [&["INCR"][..], &["UNLINK"], NEEDED] {
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
        let server = renamed(&["COMMAND", "EXPIRE", "KEYS"]).unwrap_or_else(|log| panic!("{log}"));
        ok(cmd!(server.con(), "RL.FIXED", "k", 60, 5));
    });
}

/// Reads the sources: a C string there that is the name of a server's command is called or replicated.
#[test]
fn no_command_that_the_module_needs_is_missing_from_the_list() {
    let sources = ["src/ffi", "src/store"].map(|dir| Path::new(env!("CARGO_MANIFEST_DIR")).join(dir));
    let files = sources.iter().flat_map(|dir| fs::read_dir(dir).expect("a directory"));
    let text: String = files.map(|file| fs::read_to_string(file.expect("a file").path()).expect("a text")).collect();
    let literals = text.split("c\"").skip(1).filter_map(|rest| rest.split('"').next());
    let mut words: Vec<&str> =
        literals.filter(|word| word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_uppercase())).collect();
    words.sort_unstable();
    words.dedup();
    for_each_server(|bin| {
        let server = Server::options(bin).without_module().start();
        let mut con = server.con();
        let infos = ok(cmd!(con, "COMMAND", "INFO", &words));
        let known = words.iter().zip(list(&infos)).filter(|(_, info)| **info != Value::Nil);
        let known: Vec<&str> = known.map(|(word, _)| *word).collect();
        assert_eq!(known, NEEDED);
    });
}

/// Too old for the module: it says so, and the server is not brought down by anything worse.
#[test]
fn an_old_server_refuses_with_a_clear_line() {
    for bin in unsupported_servers() {
        let Err(log) = Server::options(&bin).try_start() else {
            panic!("{bin} starts with the module");
        };
        let lines = refusals(&log);
        assert!(lines.len() == 1 && lines[0].contains("Redis 7.0"), "{bin}:\n{log}");
        assert!(!log.contains("BUG REPORT"), "{bin}:\n{log}");

        let mut server = Server::options(&bin).without_module().start();
        let mut con = server.con();
        err(cmd!(con, "MODULE", "LOAD", module_path().to_str().expect("a path")));
        assert_eq!(refusals(&server.log()).len(), 1);
        assert_eq!(ok(cmd!(con, "PING")), Value::SimpleString("PONG".into()));
        assert!(server.is_running());
    }
}
