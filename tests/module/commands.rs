//! What the server promises of every command: a table of calls, and each promise over all of it. A command, an algorithm
//! or an option that COMMAND DOCS shows has its calls here, or `every_command_has_calls` says what is missing. Values are in
//! cases.txt and differential.rs.

use std::collections::BTreeSet;

use redis::{Cmd, Connection, FromRedisValue, Value};
use redis_rl_algorithm::Name;

use crate::support::*;

/// A call on a limit at the key KEY.
#[derive(Clone, Debug)]
struct Call(String);

impl Call {
    fn name(&self) -> &str {
        self.0.split(' ').next().expect("a name")
    }

    fn on(&self, key: &str) -> Cmd {
        let words: Vec<String> = self.0.split(' ').skip(1).map(|word| word.replace("KEY", key)).collect();
        redis::cmd(self.name()).arg(words).to_owned()
    }

    /// The start of an error about the limit at KEY.
    fn error(&self, error: &str) -> String {
        if self.is_of_several() { of_limit(error, 2) } else { error.to_owned() }
    }

    /// The limit at KEY is the second one; the first is at KEY:other.
    fn is_of_several(&self) -> bool {
        ["RL.MULTI", "RL.SHARE"].contains(&self.name())
    }

    fn only_reads(&self) -> bool {
        self.name() == "RL.PEEK"
    }

    fn takes_form(&self) -> bool {
        !["RL.RESET", "RL.RENEW", "RL.RELEASE", "RL.THROTTLE", "CL.THROTTLE"].contains(&self.name())
    }
}

/// The calls on one limit, in an order in which each of them has something to do.
struct Story {
    word: String,
    calls: Vec<Call>,
}

const COUNTING: &[&str] = &[
    "RL.ALGO KEY 100d 9",
    "RL.ALGO KEY 100d 9 COST 3",
    "RL.ALGO KEY 100d 4 COST 5",
    "RL.ALGO KEY 100d 9 COST 99 SHADOW",
    "RL.MULTI 2 TOKEN KEY:other 100d 9 ALGO KEY 100d 9 COST 2 AS b",
    "RL.MULTI 2 TOKEN KEY:other 100d 9 ALGO KEY 100d 1 COST 2",
    "RL.PEEK ALGO KEY 100d 9 COST 2",
    "RL.ALGO KEY 100d 9 COST 9 PARTIAL",
    "RL.ALGO KEY 100d 9",
    "RL.REFUND ALGO KEY 100d 9 COST 4",
    "RL.SETTLE ALGO KEY 100d 9 RESERVED 1 ACTUAL 3",
    "RL.SETTLE ALGO KEY 100d 9 RESERVED 3 ACTUAL 1 AT 1",
    "RL.SETTLE ALGO KEY 100d 9 RESERVED 2 ACTUAL 2",
    "RL.RESET ALGO KEY 100d",
    "RL.RESET ALGO KEY 100d",
    "RL.ALGO KEY 100d 9 COST 2",
    "RL.REFUND ALGO KEY 100d 9 COST 5",
    "RL.PEEK ALGO KEY 100d 9",
    "RL.ALGO KEY 100d 9 COST 3",
];
const BURST: &[&str] = &["RL.ALGO KEY 100d 9 BURST 20 COST 15", "RL.REFUND ALGO KEY 100d 9 BURST 20 COST 3"];
const BLOCK: &[&str] = &[
    "RL.ALGO KEY 1h 2 BLOCK 1m MAX 1h COST 2",
    "RL.ALGO KEY 1h 2 BLOCK 1m",
    "RL.PEEK ALGO KEY 1h 2 BLOCK 1m",
    "RL.MULTI 2 TOKEN KEY:other 100d 9 ALGO KEY 1h 2 BLOCK 1m MAX 1h",
    "RL.REFUND ALGO KEY 1h 2 BLOCK 1m MAX 1h",
];
const ANCHOR: &[&str] = &["RL.ALGO KEY month 9 ANCHOR 5", "RL.RESET ALGO KEY month ANCHOR 5", "RL.ALGO KEY year 9"];
const ALWAYS: &[&str] = &[
    "RL.ALGO KEY 100d 9 COST 20 ALWAYS",
    "RL.ALGO KEY 100d 9 COST 0 ALWAYS",
    "RL.SHARE 2 TOKEN KEY:other 100d 2 ALGO KEY 100d 9 COST 2 AS b",
    "RL.SHARE 2 TOKEN KEY:other 100d 0 ALGO KEY 100d 99 COST 3",
    "RL.SHARE 2 TOKEN KEY:other 100d 0 ALGO KEY 100d 1 COST 3",
];
const RESERVING: &[&str] = &[
    "RL.ALGO KEY 100d 90 COST 5 RESERVE a 1h",
    "RL.ALGO KEY 100d 90 COST 5 RESERVE a 2h",
    "RL.ALGO KEY 100d 1 COST 5 RESERVE b 1h",
    "RL.MULTI 2 TOKEN KEY:other 100d 9 ALGO KEY 100d 90 RESERVE b 1h",
    "RL.SETTLE ALGO KEY 100d 90 RESERVATION a ACTUAL 3",
    "RL.SETTLE ALGO KEY 100d 90 RESERVATION a ACTUAL 3",
    "RL.SETTLE ALGO KEY 100d 90 RESERVATION b ACTUAL 7",
    "RL.ALGO KEY 100d 90 COST 2 RESERVE c 1h",
    "RL.RESET ALGO KEY 100d",
    "RL.ALGO KEY 100d 90 COST 2 RESERVE d 1h",
];
const HOLDING: &[&str] = &[
    "RL.ALGO KEY 1h 2 ID a",
    "RL.ALGO KEY 2h 2 ID b",
    "RL.ALGO KEY 1h 2 ID c",
    "RL.ALGO KEY 1h 2 ID c SHADOW",
    "RL.RENEW KEY 3h a b c",
    "RL.RENEW KEY 1h c",
    "RL.ALGO KEY 1h 2 ID a",
    "RL.MULTI 2 TOKEN KEY:other 100d 9 ALGO KEY 1h 3 ID c",
    "RL.MULTI 2 TOKEN KEY:other 100d 9 ALGO KEY 1h 3 ID d",
    "RL.PEEK ALGO KEY 1h 3",
    "RL.RELEASE KEY b d",
    "RL.RELEASE KEY d",
    "RL.RESET ALGO KEY 1h",
    "RL.ALGO KEY 1h 2 ID a",
    "RL.RELEASE KEY a",
    "RL.ALGO KEY 1h 2 ID b",
];
const THROTTLE: &[&str] = &[
    "RL.THROTTLE KEY 4 5 8640000",
    "CL.THROTTLE KEY 4 5 8640000 3",
    "RL.THROTTLE KEY 4 5 8640000 3",
    "CL.THROTTLE KEY 4 5 8640000 0",
];
/// They concern no limit.
const WITHOUT_KEY: [&str; 2] = ["RL.HELP", "RL.TOP"];

/// The stories of all algorithms that the server has.
fn stories(con: &mut Connection) -> Vec<Story> {
    let grammar = Grammar::of(con);
    let options = [("COST", COUNTING), ("BURST", BURST), ("ANCHOR", ANCHOR), ("ALWAYS", ALWAYS), ("BLOCK", BLOCK)];
    let options = options.into_iter().chain([("RESERVE", RESERVING), ("ID", HOLDING)]);
    let story = |word: String| {
        let taken = options.clone().filter(|(option, _)| grammar.takes("RL.<ALGO>", &word, option));
        let can = Name::from_word(word.as_bytes()).expect("an algorithm").traits();
        let takes = |call: &&&str| {
            (can.partial || !call.contains(" PARTIAL")) && (can.settle || !call.starts_with("RL.SETTLE"))
        };
        let calls = taken.flat_map(|(_, calls)| calls).filter(takes).map(|text| Call(text.replace("ALGO", &word)));
        let calls = calls.collect();
        Story { word, calls }
    };
    let throttle = Story { word: "GCRA".into(), calls: THROTTLE.iter().map(|&text| Call(text.into())).collect() };
    algorithms(con).into_iter().map(story).chain([throttle]).collect()
}

/// The words of a command, its name first.
fn words_of(command: &Cmd) -> Vec<Vec<u8>> {
    let word = |argument: redis::Arg<&[u8]>| match argument {
        redis::Arg::Simple(bytes) => bytes.to_vec(),
        _ => unreachable!("no cursor"),
    };
    command.args_iter().map(word).collect()
}

/// With an append only file, which the server writes before it replies.
fn with_files(bin: &ServerBin) -> Options {
    Server::options(bin).set("appendonly", "yes").set("appendfsync", "no")
}

/// All keys, with values and expiries.
type Held = Vec<(String, Value, i64)>;

/// Plays all stories, each on a server without keys: `with` gets the connection and a call, and sends it.
#[track_caller]
fn play(con: &mut Connection, mut with: impl FnMut(&mut Connection, &Story, &Call)) {
    for story in stories(con) {
        ok(cmd!(*con, "FLUSHALL"));
        story.calls.iter().for_each(|call| with(con, &story, call));
    }
}

#[test]
fn every_command_has_calls() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let names = |text: &str| text.to_uppercase();
        let listed: Vec<String> = read(ok(cmd!(con, "COMMAND", "LIST", "FILTERBY", "MODULE", "rl")));
        let listed: BTreeSet<String> = listed.iter().map(|name| names(name)).collect();
        let stories = stories(&mut con);
        let calls: Vec<&Call> = stories.iter().flat_map(|story| &story.calls).collect();
        let called = calls.iter().map(|call| names(call.name())).chain(WITHOUT_KEY.map(str::to_owned));
        assert_eq!(called.collect::<BTreeSet<_>>(), listed);
        for (option, _) in Grammar::of(&mut con).options() {
            assert!(calls.iter().any(|call| call.0.split(' ').any(|word| word == option)), "no call with {option}");
        }
    });
}

/// The server's documentation of each command. That the reference says the same is in tests/docs/reference.rs.
#[test]
fn command_docs_info_and_getkeys() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        for mut con in [server.con(), server.con3()] {
            for story in stories(&mut con) {
                for call in &story.calls {
                    let words: Vec<Vec<u8>> = words_of(&call.on("k"));
                    let flagged = ok(redis::cmd("COMMAND").arg("GETKEYSANDFLAGS").arg(&words).query(&mut con));
                    let flagged: Vec<(String, BTreeSet<String>)> = read(flagged);
                    let keys: Vec<&str> = flagged.iter().map(|(key, _)| key.as_str()).collect();
                    assert_eq!(keys, if call.is_of_several() { vec!["k:other", "k"] } else { vec!["k"] }, "{call:?}");
                    let flags: &[&str] =
                        if call.only_reads() { &["RO", "access"] } else { &["RW", "access", "update"] };
                    assert!(flagged.iter().all(|(_, found)| found.iter().eq(flags)), "{call:?}: {flagged:?}");
                    // Behind every option the next limit of RL.MULTI is found.
                    if let Some(limit) = call.0.strip_prefix("RL.").filter(|limit| limit.starts_with(&story.word)) {
                        let several = format!("RL.MULTI 2 {} TOKEN other 1h 5", limit.replace("KEY", "k"));
                        let several = several.split(' ').collect::<Vec<_>>();
                        let found: Vec<String> = read(ok(cmd!(con, "COMMAND", "GETKEYS", several)));
                        assert_eq!(found, ["k", "other"], "{limit}");
                    }
                    let [info]: [Vec<Value>; 1] = read(ok(cmd!(con, "COMMAND", "INFO", call.name())));
                    let arity: i64 = read(info[1].clone());
                    assert!(arity < 0 && arity.unsigned_abs() <= words.len() as u64, "{call:?}: {arity}");
                    let flags: BTreeSet<String> = read(info[2].clone());
                    let access = if call.only_reads() { "readonly" } else { "write" };
                    assert!(["fast", access].iter().all(|flag| flags.contains(*flag)), "{call:?}: {flags:?}");
                    assert!(!flags.contains("denyoom"), "{call:?}");
                }
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
        let words = algorithms(&mut con);
        for (taker, word) in TAKERS.into_iter().flat_map(|taker| words.iter().map(move |word| (taker, word))) {
            for (option, has_value) in grammar.options() {
                ok(cmd!(con, "FLUSHALL"));
                let value = match option.as_str() {
                    "RESERVE" => " id 1",
                    // Not below the first lock.
                    "MAX" => " 1d",
                    _ if has_value => " 1",
                    _ => "",
                };
                let mut text = match taker {
                    "RL.<ALGO>" => format!("RL.{word} k 60 5"),
                    "RL.MULTI" => format!("RL.MULTI 1 {word} k 60 5"),
                    "RL.SHARE" => format!("RL.SHARE 2 TOKEN other 60 5 {word} k 60 5"),
                    "RL.RESET" => format!("RL.RESET {word} k 60"),
                    _ => format!("{taker} {word} k 60 5"),
                };
                // What the command requires beside this option.
                for (required, by) in [("ACTUAL", "RL.SETTLE"), ("RESERVED", "RL.SETTLE"), ("ID", taker)] {
                    let other = option == required || option == "RESERVATION" && required == "RESERVED";
                    if by == taker && !other && grammar.takes(taker, word, required) {
                        text += &format!(" {required} 1");
                    }
                }
                let reply = send(&mut con, &format!("{text} {option}{value}"));
                let limit = match taker {
                    "RL.MULTI" => "limit 1: ",
                    "RL.SHARE" => "limit 2: ",
                    _ => "",
                };
                let can = Name::from_word(word.as_bytes()).expect("an algorithm").traits();
                if taker == "RL.SHARE" && !can.always {
                    assert!(err(reply).starts_with("ERR limit 2: invalid algorithm"), "{text}");
                } else if taker == "RL.REFUND" && !can.refund || taker == "RL.SETTLE" && !can.settle {
                    // The error names the command that there is instead, whatever the options are.
                    assert!(
                        err(reply).contains(if can.refund { "RL.REFUND" } else { "RL.RELEASE" }),
                        "{text} {option}"
                    );
                } else if grammar.takes(taker, word, &option) {
                    ok(reply);
                } else {
                    let by_command = words.iter().any(|word| grammar.takes(taker, word, &option));
                    let why = if by_command { format!("{word} takes none") } else { grammar.only(&option) };
                    assert_eq!(err(reply), format!("ERR {limit}invalid {option}: {why}"), "{text} {option}");
                }
            }
        }
    });
}

/// A map as the flat array that it is on RESP2.
fn flat(value: Value) -> Value {
    match value {
        Value::Map(pairs) => Value::Array(pairs.into_iter().flat_map(|(name, figure)| [name, flat(figure)]).collect()),
        Value::Array(parts) => Value::Array(parts.into_iter().map(flat).collect()),
        other => other,
    }
}

/// The three integers of each limit in a reply of any form.
fn triples(call: &Call, form: &str, reply: Value) -> Vec<[i64; 3]> {
    let triple = |value: Value| match form {
        "FULL" => full(value).triple(),
        "LINE" => line(value).triple(),
        _ => read(value),
    };
    if !call.is_of_several() {
        return vec![if form == "HEADERS" { with_headers(reply).0 } else { triple(reply) }];
    }
    let mut parts: Vec<Value> = read(reply);
    if form == "HEADERS" {
        header_pairs(parts.pop().expect("headers"));
    }
    read::<Vec<Value>>(parts.pop().expect("limits")).into_iter().map(triple).collect()
}

/// The same reply on RESP2 and RESP3, in a script and in a transaction; and the same figures in every form.
#[test]
fn every_way_to_send_a_call_has_the_same_reply() {
    const EVAL: &str = "return redis.call(unpack(ARGV))";
    for_each_server(|bin| {
        let (_clock, server) = FrozenClock::server(bin);
        let replies = |way: &str, form: &str| {
            let mut con = if way == "RESP3" { server.con3() } else { server.con() };
            let mut replies = Vec::new();
            play(&mut con, |con, _, call| {
                let form = if call.takes_form() { form } else { "" };
                let words = [words_of(&call.on("k")), form.split_terminator(' ').map(Into::into).collect()].concat();
                let command = redis::cmd(call.name()).arg(&words[1..]).to_owned();
                let reply = match way {
                    "EVAL" => ok(redis::cmd("EVAL").arg(EVAL).arg(0).arg(&words).query(con)),
                    "EXEC" => exec(con, &[command]).swap_remove(0),
                    _ => ok(command.query(con)),
                };
                let is_map = matches!(reply, Value::Map(_));
                assert_eq!(is_map, way == "RESP3" && form == "FULL" && !call.is_of_several(), "{call:?} {way}");
                replies.push((call.clone(), form.to_owned(), flat(reply)));
            });
            replies
        };
        let plain = replies("RESP2", "");
        for form in ["", "FULL", "LINE", "HEADERS"] {
            let expected = replies("RESP2", form);
            for way in ["RESP3", "EVAL", "EXEC"] {
                for (found, expected) in replies(way, form).into_iter().zip(&expected) {
                    assert_eq!(found.2, expected.2, "{way}: {:?} {form}", expected.0);
                }
            }
            for ((call, form, reply), (_, _, plain)) in expected.into_iter().zip(plain.clone()) {
                if call.takes_form() {
                    assert_eq!(triples(&call, &form, reply), triples(&call, "", plain), "{call:?} {form}");
                }
            }
        }
    });
}

/// A client that hears of every key that changes, as a cache must.
struct Invalidated {
    ears: Connection,
    // It ends when this one does.
    _tracker: Connection,
    taken: u32,
}

impl Invalidated {
    fn of(server: &Server) -> Self {
        let (mut ears, mut tracker) = (server.con(), server.con());
        ears.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        let id: i64 = read(ok(cmd!(ears, "CLIENT", "ID")));
        ok(cmd!(ears, "SUBSCRIBE", "__redis__:invalidate"));
        ok(cmd!(tracker, "CLIENT", "TRACKING", "ON", "REDIRECT", id, "BCAST"));
        Self { ears, _tracker: tracker, taken: 0 }
    }

    /// The keys that have changed since the last call.
    fn take(&mut self, con: &mut Connection) -> BTreeSet<String> {
        self.taken += 1;
        let fence = format!("fence:{}", self.taken);
        ok(cmd!(*con, "SET", &fence, 1));
        ok(cmd!(*con, "DEL", &fence));
        let mut all = BTreeSet::new();
        while !all.contains(&fence) {
            let Value::Array(message) = self.ears.recv_response().expect("a message") else { panic!("no message") };
            all.extend(Option::<Vec<String>>::from_redis_value_ref(&message[2]).expect("keys").unwrap_or_default());
        }
        all.retain(|key| !key.starts_with("fence:"));
        all
    }
}

/// The effects of a call are plain commands with absolute expiry, in one transaction if they are several: with them, a
/// replica without the module holds and fires the same. A key that changes breaks WATCH and invalidates caches. A call that
/// changes nothing replicates and fires nothing. The files of the server bring everything back, also without the module.
#[test]
fn each_change_is_seen_by_replicas_files_events_watch_and_caches() {
    for_each_server(|bin| {
        let mut master = with_files(bin).start();
        let replica = Server::options(bin).without_module().replica_of(&master).start();
        wait_for_replica(&master, &replica);
        let mut copy = replica.con();
        let (mut effects, mut caches) = (Effects::of(&master), Invalidated::of(&master));
        let [mut fired, mut on_replica] = [&master, &replica].map(Events::listen);
        play(&mut master.con(), |con, _, call| {
            caches.take(con);
            ok(cmd!(*con, "WAIT", 1, 0));
            let _ = [&mut fired, &mut on_replica].map(Events::take);
            let before = everything(con);
            let watched: Vec<&str> = before.iter().map(|(key, ..)| key.as_str()).chain(["k"]).collect();
            let mut watching = master.con();
            ok(redis::cmd("WATCH").arg(&watched).query(&mut watching));
            effects.take();
            ok(call.on("k").query(con));
            let (sent, after) = (effects.take(), everything(con));
            ok(cmd!(*con, "WAIT", 1, 0));
            let what = format!("{call:?}: {before:?} became {after:?} by {sent:?}");
            assert_plain(&sent);
            let is_one = sent.len() < 2 || sent[0] == ["MULTI"] && sent[sent.len() - 1] == ["EXEC"];
            assert!(is_one && sent.is_empty() == (before == after), "{what}");
            // The first request of FIXED replicates SET, and fires what the script fires.
            let [here, mut there] = [&mut fired, &mut on_replica].map(Events::take);
            for (event, key) in &mut there {
                if event == "set" && here.contains(&("incrby".to_owned(), key.clone())) {
                    *event = "incrby".to_owned();
                }
            }
            assert_eq!(here, there, "{what}");
            let state = |con: &mut Connection| {
                let expiries = everything(con).into_iter().map(|(key, _, at)| (key, at)).collect::<Vec<_>>();
                (digest(con), expiries)
            };
            assert_eq!(state(&mut copy), state(con), "{what}");
            let is_in = |held: &Held, key: &str| held.iter().find(|(name, ..)| name == key).cloned();
            let names = before.iter().chain(&after).map(|(key, ..)| key.clone());
            let changed: BTreeSet<String> = names.filter(|key| is_in(&before, key) != is_in(&after, key)).collect();
            let dropped = caches.take(con);
            assert!(changed.is_subset(&dropped) && (dropped.is_empty() || !changed.is_empty()), "{what}: {dropped:?}");
            let mut transaction = redis::pipe();
            let executed: Option<Vec<Value>> = transaction.atomic().cmd("PING").query(&mut watching).expect("EXEC");
            assert_eq!(executed.is_none(), watched.iter().any(|key| changed.contains(*key)), "{what}");
        });
        // All at once, each limit at a key of its own.
        let mut con = master.con();
        for story in stories(&mut con) {
            story.calls.iter().for_each(|call| _ = call.on(&story.word).query::<Value>(&mut con));
        }
        let held = everything(&mut con);
        assert!(held.len() > 10, "{held:?}");
        for files in [|options: Options| options, Options::without_module] {
            master.kill();
            master.start_again_with(files);
            assert_eq!(everything(&mut master.con()), held);
        }
    });
}

/// Replicas reject what changes keys, and reply to RL.PEEK as their master does. Nothing is counted there.
#[test]
fn a_replica_only_peeks() {
    for_each_server(|bin| {
        let master = Server::start(bin);
        let replica = Server::options(bin).replica_of(&master).start();
        wait_for_replica(&master, &replica);
        let mut copy = replica.con();
        play(&mut master.con(), |con, _, call| {
            let reply = call.on("k").query::<Value>(&mut copy);
            if call.only_reads() {
                let [here, there]: [[i64; 3]; 2] = [ok(call.on("k").query(con)), ok(reply)].map(read);
                assert_eq!(here[..2], there[..2], "{call:?}");
            } else {
                assert_eq!(err(reply), "READONLY You can't write against a read only replica.", "{call:?}");
                ok(call.on("k").query(con));
            }
            ok(cmd!(*con, "WAIT", 1, 0));
        });
        let figures: String = redis::cmd("INFO").arg("rl").query(&mut copy).expect("INFO");
        let counted = figures.lines().filter(|line| line.contains("_allowed:") || line.contains("_denied:"));
        assert!(counted.clone().count() > 10 && counted.clone().all(|line| line.ends_with(":0")), "{figures}");
    });
}

/// A user needs the command, and may read and write the key; for RL.PEEK reading is enough. No other command is needed.
#[test]
fn a_call_needs_permission_for_its_command_and_its_key() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut root = server.con();
        let has_category = bin.is_valkey() || (bin.version.0, bin.version.1) >= (7, 4);
        let user = |root: &mut Connection, rules: &[&str]| {
            ok(cmd!(*root, "ACL", "SETUSER", "u", "reset", "on", ">p", rules));
            let mut con = server.con();
            ok(cmd!(con, "AUTH", "u", "p"));
            con
        };
        play(&mut server.con(), |_, _, call| {
            let command = format!("+{}", call.name().to_lowercase());
            let before = everything(&mut root);
            for (rules, reads) in [
                (&["+@all", "~other"][..], false),
                (&["+@all", "~k:*"], false),
                (&["+@all", &format!("-{}", &command[1..]), "~*"], false),
                (&["+@all", "%W~k*"], false),
                (&["+@all", "%R~k*"], true),
            ] {
                let reply = call.on("k").query::<Value>(&mut user(&mut root, rules));
                if reads && call.only_reads() {
                    ok(reply);
                } else {
                    assert!(err(reply).starts_with("NOPERM "), "{call:?} {rules:?}");
                }
                assert_eq!(everything(&mut root), before, "{call:?} {rules:?}");
            }
            let category = if has_category { "+@ratelimit" } else { &command };
            ok(call.on("k").query(&mut user(&mut root, &[category, "~k*"])));
        });
        // The category has no other command, and not RL.TOP, which shows the keys of everybody.
        if has_category {
            let mut listed: Vec<String> = read(ok(cmd!(root, "COMMAND", "LIST", "FILTERBY", "ACLCAT", "ratelimit")));
            listed.iter_mut().for_each(|name| name.make_ascii_lowercase());
            assert!(listed.len() > 10 && listed.iter().all(|name| name.starts_with("rl.") || name == "cl.throttle"));
            assert!(!listed.contains(&"rl.top".to_owned()), "{listed:?}");
        }
        let mut limited = user(&mut root, &["+@all", "-@admin", "-@dangerous", "~*"]);
        // There, commands of modules are in no category.
        let has_flags = bin.is_valkey() || (bin.version.0, bin.version.1) >= (7, 2);
        assert_eq!(cmd!(limited, "RL.TOP").is_err(), has_flags);
    });
}

/// Another node redirects. All that is kept of a limit is in the slot of its key.
#[test]
fn in_a_cluster_the_key_decides_the_slot() {
    for_each_server(|bin| {
        let cluster = Cluster::start(bin, 2, |options| options);
        for key in ["a", "open{brace", "{tag}:1", "x{a}{b}", "nul\0\u{ff}"] {
            let home = cluster.owner(key);
            let away = cluster.nodes.iter().find(|node| node.port() != home.port()).expect("another node");
            ok(cmd!(away.con(), "FLUSHALL"));
            let slot = |con: &mut Connection, key: &str| ok(cmd!(*con, "CLUSTER", "KEYSLOT", key));
            play(&mut home.con(), |con, _, call| {
                let is_apart = slot(con, key) != slot(con, &format!("{key}:other"));
                if call.is_of_several() && is_apart {
                    assert!(err(call.on(key).query(con)).starts_with("CROSSSLOT "), "{call:?}");
                    return;
                }
                assert!(err(call.on(key).query(&mut away.con())).starts_with("MOVED "), "{call:?}");
                ok(call.on(key).query(con));
                for held in keys(con) {
                    assert_eq!(slot(con, &held), slot(con, key), "{call:?}: {held}");
                }
                assert_eq!(keys(&mut away.con()), [""; 0], "{call:?}");
            });
        }
    });
}

/// At `maxmemory`, what frees memory or keeps it runs. What needs more is the error, or allowed or denied uncharged.
#[test]
fn at_maxmemory_the_setting_decides() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        for (setting, allowed) in [("error", None), ("allow", Some(1)), ("deny", Some(0))] {
            let mut is_new = true;
            let mut word = String::new();
            play(&mut server.con(), |con, story, call| {
                is_new |= std::mem::replace(&mut word, story.word.clone()) != story.word;
                let before = everything(con);
                ok(cmd!(*con, "CONFIG", "SET", "rl.on-oom", setting, "maxmemory", 1));
                let reply = call.on("k").query::<Value>(con);
                ok(cmd!(*con, "CONFIG", "SET", "maxmemory", 0));
                let keeps =
                    ["RL.PEEK", "RL.REFUND", "RL.SETTLE"].contains(&call.name()) && !call.0.contains("RESERVED 1 ");
                let may_need_more = !keeps && (call.takes_form() || call.name().ends_with("THROTTLE"));
                if reply.is_err() {
                    assert!(err(reply).starts_with("OOM ") && setting == "error" && may_need_more, "{call:?}");
                    assert_eq!(everything(con), before, "{call:?}");
                    ok(call.on("k").query(con));
                } else if is_new && before.is_empty() && call.takes_form() {
                    let first: i64 = read(match ok(reply) {
                        Value::Array(mut parts) => parts.swap_remove(0),
                        other => other,
                    });
                    assert_eq!((Some(first), everything(con)), (allowed, before), "{call:?} {setting}");
                    ok(call.on("k").query(con));
                }
                is_new = false;
            });
        }
    });
}

/// A key of another type, and a value that no algorithm has written, are errors in every command, and stay.
#[test]
fn what_is_another_ones_stays() {
    const WRONG_TYPE: &str = "WRONGTYPE Operation against a key holding the wrong kind of value";
    const NO_COUNTER: &str = "ERR value is not an integer or out of range";
    const KINDS: &[(&str, &[&str])] = &[
        ("string", &["SET", "KEY", "1", "EX", "1000"]),
        ("list", &["RPUSH", "KEY", "1"]),
        ("set", &["SADD", "KEY", "1"]),
        ("hash", &["HSET", "KEY", "1", "1"]),
        ("zset", &["ZADD", "KEY", "1", "1"]),
        ("stream", &["XADD", "KEY", "1-1", "1", "1"]),
    ];
    let long = "7".repeat(5_000);
    let strings = [
        "",
        " 1",
        "1 ",
        "+1",
        "01",
        "1.0",
        "nan",
        "18446744073709551616",
        "1\0",
        "X:1:0:60:1",
        "R:",
        "R:0123456789012345",
        "T:1",
        "L:1:0:60000:1x",
        "C:",
        &long,
    ];
    for_each_server(|bin| {
        let server = with_files(bin).start();
        let mut con = server.con();
        for story in stories(&mut con) {
            for call in &story.calls {
                // Where the call keeps its state.
                ok(cmd!(con, "FLUSHALL"));
                let takes_window = call.takes_form() || call.name() == "RL.RESET";
                let after_key = call.0.split(' ').skip_while(|word| *word != "KEY").nth(1);
                let window = after_key.filter(|_| takes_window).unwrap_or("1h");
                let anchor = if call.0.contains("ANCHOR") { " ANCHOR 5" } else { "" };
                let id = if story.word == "LEASE" { " ID a" } else { "" };
                ok(send(&mut con, &format!("RL.{} k {window} 9{anchor}{id}", story.word)));
                let state = only_key(&mut con);
                let kind: String = read(ok(cmd!(con, "TYPE", &state)));
                let mut effects = Effects::of(&server);
                let mut refuse = |make: &[&str], expected: &str| {
                    ok(cmd!(con, "FLUSHALL"));
                    let make: Vec<&str> = make.iter().map(|&word| if word == "KEY" { &state } else { word }).collect();
                    ok(redis::cmd(make[0]).arg(&make[1..]).query(&mut con));
                    effects.take();
                    let before = everything(&mut con);
                    assert_eq!(err(call.on("k").query(&mut con)), call.error(expected), "{call:?} on {make:?}");
                    assert_eq!(everything(&mut con), before, "{call:?} on {make:?}");
                    assert_eq!(effects.take(), Vec::<Vec<String>>::new(), "{call:?} on {make:?}");
                };
                for (_, make) in KINDS.iter().filter(|(other, _)| *other != kind) {
                    refuse(make, WRONG_TYPE);
                }
                let foreign = if ["FIXED", "WINDOW"].contains(&story.word.as_str()) { NO_COUNTER } else { FOREIGN };
                for value in strings.iter().filter(|_| kind == "string") {
                    let writers = [("C:", "COUNTER"), ("L:", "LEAKY"), ("R:", "ROLLING"), ("T:", "TOKEN")];
                    let writer = writers.iter().find(|(tag, word)| value.starts_with(tag) && *word != story.word);
                    let held = writer.map(|(_, word)| {
                        format!("ERR the key holds a state of {word}: use another key for each algorithm")
                    });
                    refuse(&["SET", "KEY", value], held.as_deref().unwrap_or(foreign));
                }
            }
        }
    });
}

/// Who chooses the end of a key must not reach the reservations of another.
#[test]
fn a_key_with_the_name_of_reservations_is_refused() {
    const EXPECTED: &str = "ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names \
                            of reservations";
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        ok(send(&mut con, "RL.COUNTER k 1m 5 RESERVE a 1m"));
        let before = everything(&mut con);
        for call in stories(&mut con).into_iter().flat_map(|story| story.calls) {
            for key in ["k:reserved", ":reserved", "{k}:reserved", "k:60000ms:reserved", "k:reserved:ends"] {
                if call.name() != "RL.RESET" {
                    assert_eq!(err(call.on(key).query(&mut con)), call.error(EXPECTED), "{key}");
                }
            }
        }
        assert_eq!(everything(&mut con), before);
        // Names that no reservations have, and any bytes.
        let long = "k".repeat(1 << 20);
        for key in ["reserved", "k:reserved:", "k:Reserved", "k:ends", "", "\0", " ", "\r\n", "{", "}", "%s%n", &long] {
            play(&mut con, |con, _, call| _ = ok(call.on(key).query(con)));
        }
        // What an earlier version has left there can be deleted.
        for (make, reset) in [
            ("ZADD k:reserved 1 a", "RL.RESET SLIDING k:reserved 1m"),
            ("SET k:reserved 5", "RL.RESET WINDOW k:reserved 1m"),
            ("ZADD k:reserved:ends 1 a", "RL.RESET LEASE k:reserved:ends 1m"),
        ] {
            ok(cmd!(con, "FLUSHALL"));
            ok(send(&mut con, make));
            assert_eq!(ok(send(&mut con, reset)), Value::Int(1), "{reset}");
            assert_eq!(err(send(&mut con, reset)), EXPECTED, "{reset}");
        }
        // An order is no state.
        ok(send(&mut con, "RL.COUNTER k 1m 5 RESERVE a 1m"));
        let before = everything(&mut con);
        for algorithm in ["LEASE", "SLIDING"] {
            assert_eq!(err(send(&mut con, &format!("RL.RESET {algorithm} k:reserved:ends 1m"))), EXPECTED);
        }
        assert_eq!(everything(&mut con), before);
    });
}
