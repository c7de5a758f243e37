//! The Lua scripts: what a server promises of them. That they reply and store what the module does is in `differential.rs`.

use std::collections::BTreeSet;

use redis::Connection;
use serde_json::Value as Json;

use crate::random::calls::*;
use crate::random::dump::*;
use crate::random::random_calls::*;
use crate::support::scripts::{script, script_of_files, script_of_several};
use crate::support::*;

fn send(con: &mut Connection, words: &str) -> Answer {
    answer(Call::of(words).script().expect("a script").query(con))
}

fn error(text: &str) -> Answer {
    Answer::Error(text.to_owned())
}

/// Scripts with the KEYS and ARGV of vectors/scripts.json reply what the commands reply.
#[test]
fn the_scripts_take_the_calls_of_the_vectors() {
    let vectors: Json = serde_json::from_str(include_str!("../../vectors/scripts.json")).expect("vectors/scripts.json");
    let calls = vectors["calls"].as_array().expect("calls");
    fn words(list: &Json) -> Vec<&str> {
        list.as_array().expect("words").iter().filter_map(Json::as_str).collect()
    }
    for_each_server(|bin| {
        let (_clock, server) = FrozenClock::server(bin);
        let mut con = server.con();
        for call in calls {
            let source = match &call["script"] {
                Json::String(word) => script(word),
                files @ Json::Array(_) => script_of_files(words(files)),
                _ => continue,
            };
            let [name, rest @ ..] = &words(&call["command"])[..] else { panic!("{call}") };
            ok(cmd!(con, "FLUSHALL"));
            let native = answer(redis::cmd(name).arg(rest).query(&mut con));
            ok(cmd!(con, "FLUSHALL"));
            let keys = words(&call["keys"]);
            let of_script = answer(cmd!(con, "EVAL", source, keys.len(), &keys, words(&call["argv"])));
            assert_eq!(of_script, native, "{call}");
        }
    });
}

#[test]
fn what_only_the_module_has_is_an_error_that_says_so() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let largest = error("ERR invalid limit: load the module for numbers above 9007199254740991");
        assert_eq!(send(&mut con, "rl k TOKEN 60 9007199254740992"), largest);
        assert_eq!(send(&mut con, "rl k TOKEN 60 9007199254740991"), Answer::Value(ints(&[1, 0, 1])));
        for (option, word) in [("FULL", "FULL"), ("HEADERS", "HEADERS"), ("AS a", "AS"), ("RESERVE a 1m", "RESERVE")] {
            let only = error(&format!("ERR invalid {word}: only the module has it"));
            assert_eq!(send(&mut con, &format!("rl k WINDOW 60 5 {option}")), only);
        }
        ok(cmd!(con, "SET", "token", "T:1:0:60000:1"));
        for (words, text) in [
            ("rl k TOKEN 60", "ERR wrong number of arguments"),
            ("rl k TOKEN 60 5 COTS 2", "ERR syntax error"),
            ("rl_reset k FIXED 60 ANCOR 5", "ERR syntax error"),
            ("rl_settle k TOKEN 60 5 ACTUAL 7", "ERR syntax error"),
            ("rl_settle k LOCKOUT 60 5 RESERVED 1 ACTUAL 7", "ERR invalid algorithm"),
            ("rl token WINDOW 60 5", "ERR the key holds a state of TOKEN: use another key for each algorithm"),
            ("rl token COUNTER 60 5", "ERR the key holds a state of TOKEN: use another key for each algorithm"),
        ] {
            assert_eq!(send(&mut con, words), error(text), "{words}");
        }
        for verb in ["ALLOW", "CHECK PEEK", "MULTI"] {
            let unknown = cmd!(con, "EVAL", script("TOKEN"), 1, "k", verb, 60, 5);
            assert_eq!(err(unknown), "ERR invalid command: expected CHECK, PEEK, REFUND, SETTLE or RESET first");
        }
        for verb in ["ALLOW", "CHECK", "PEEK"] {
            let unknown = cmd!(con, "EVAL", script_of_several(["TOKEN"]), 1, "k", verb, 1, "TOKEN", 60, 5);
            assert_eq!(err(unknown), "ERR invalid command: expected MULTI or SHARE first");
        }
        assert!(
            err(cmd!(con, "EVAL", script("TOKEN"), 0, "CHECK", 60, 5)).starts_with("ERR wrong number of arguments")
        );
    });
}

#[test]
fn a_replica_peeks() {
    for_each_server(|bin| {
        let master = Server::options(bin).without_module().start();
        assert_eq!(send(&mut master.con(), "rl k TOKEN 100000 5").outcome(), "allowed");
        let replica = Server::options(bin).without_module().replica_of(&master).start();
        wait_for_replica(&master, &replica);
        let mut there = replica.con();
        for word in words(|_| true) {
            let id = if traits(word).id { " ID a" } else { "" };
            let key = if word == "TOKEN" { "k" } else { "none" };
            let peeked = send(&mut there, &format!("rl_peek {key} {word} 100000 5{id}"));
            assert_eq!(peeked.outcome(), "allowed", "{word}: {peeked:?}");
        }
        let Answer::Error(written) = send(&mut there, "rl k TOKEN 60 5") else { panic!("it is written") };
        assert!(written.contains("READONLY"), "{written}");
    });
}

/// At maxmemory the server refuses what may create a key, before anything is written.
#[test]
fn at_maxmemory_what_frees_memory_runs() {
    for_each_server(|bin| {
        let server = Server::options(bin).without_module().start();
        let mut con = server.con();
        for words in ["rl a TOKEN 60 5", "rl c TOKEN 60 5", "rl d LEASE 60 5 ID h1"] {
            assert_eq!(send(&mut con, words).outcome(), "allowed");
        }
        ok(cmd!(con, "CONFIG", "SET", "maxmemory", 1));
        for words in ["rl new TOKEN 60 5", "rl new FIXED 60 5", "rl new SLIDING 60 5", "rl new ROLLING 60 5"] {
            assert_eq!(
                send(&mut con, words),
                error("OOM command not allowed when used memory > 'maxmemory'."),
                "{words}"
            );
        }
        assert_eq!(send(&mut con, "rl_peek c TOKEN 60 5").outcome(), "allowed");
        for words in ["rl_reset a TOKEN 60", "rl_refund c TOKEN 60 5", "rl_release d h1"] {
            assert!(!matches!(send(&mut con, words), Answer::Error(_)), "{words}");
        }
        assert!(keys(&mut con).iter().all(|key| key == "c"));
    });
}

/// The key of FIXED stays in its slot where it has a hash tag, and the module goes on with the counter of the script.
#[test]
fn in_a_cluster_every_key_stays_in_its_slot() {
    for_each_server(|bin| {
        let cluster = Cluster::start(bin, 3, |options| options);
        for (key, tagged) in
            [("user", "{user}"), ("user:1", "{user:1}"), ("{org}:2", "{org}:2"), ("a{b}c", "a{b}c"), ("x{", "{x{}")]
        {
            let mut con = cluster.owner(key).con();
            let before: [i64; 3] = read(ok(cmd!(con, "RL.FIXED", key, 1_000_000_000, 5)));
            let Answer::Value(after) = send(&mut con, &format!("rl {tagged} FIXED 1000000000 5")) else {
                panic!("{key}")
            };
            assert_eq!(read::<[i64; 3]>(after)[1], before[1] + 1, "{key}");
            assert_eq!(send(&mut con, &format!("rl {tagged} FIXED month 5 ANCHOR 1")).outcome(), "allowed", "{key}");
        }
    });
}

/// Times and calls that are too rare to come by chance, after which only an expiry shows a mistake.
const RARE: [&[(i64, &str)]; 4] = [
    // Keys may contain any byte.
    &[
        (0, "rl a\0b FIXED month 5"),
        (0, "rl a\0c FIXED month 5"),
        (0, "rl a\0b FIXED 1m 5"),
        (0, "rl a\0c FIXED 1m 5 ANCHOR 1"),
    ],
    // A log of which one younger unit stays lives for 1.5 windows.
    &[(0, "rl k SLIDING 1m 5"), (1, "rl k SLIDING 1m 5"), (36_000, "rl_refund k SLIDING 1m 5 AT 1795269620123")],
    // Each lock is longer than the one before. A refund ends one; quiet time, a reset and a clock that steps back.
    &[
        (0, "rl k LOCKOUT 1h 2 BLOCK 1s MAX 5s COST 2 LINE"),
        (999, "rl k LOCKOUT 1h 2 BLOCK 1s MAX 5s LINE"),
        (1, "rl k LOCKOUT 1h 2 BLOCK 1s MAX 5s COST 2 LINE"),
        (2_000, "rl k LOCKOUT 1h 2 BLOCK 1s MAX 5s COST 2 LINE"),
        (1_000, "rl_refund k LOCKOUT 1h 2 BLOCK 1s MAX 5s AT 1 LINE"),
        (0, "rl_refund k LOCKOUT 1h 2 BLOCK 1s MAX 5s LINE"),
        (0, "rl k LOCKOUT 1h 2 BLOCK 1s MAX 5s LINE"),
        (5_000, "rl k LOCKOUT 1h 2 BLOCK 1s MAX 5s COST 2 LINE"),
        (14_999, "rl_peek k LOCKOUT 1h 2 BLOCK 1s MAX 5s COST 0 LINE"),
        (1, "rl k LOCKOUT 1h 2 BLOCK 1s MAX 5s COST 2 LINE"),
        (-7_000, "rl_peek k LOCKOUT 1h 2 BLOCK 1s MAX 5s LINE"),
        (0, "rl k LOCKOUT 1h 2 BLOCK 1s MAX 5s SHADOW LINE"),
        (0, "rl k LOCKOUT 1h 2 BLOCK 1s MAX 5s LINE"),
        (1_999, "rl k LOCKOUT 1h 0 BLOCK 1s MAX 5s LINE"),
        (0, "rl_reset k LOCKOUT 1h"),
        (0, "rl k LOCKOUT 1h 2 BLOCK 1s MAX 5s LINE"),
    ],
    // What is wrong changes nothing.
    &[
        (0, "rl k LOCKOUT 1m 1 BLOCK 1ms MAX 1000000000000 LINE"),
        (0, "rl k LOCKOUT 1ms 1 BLOCK 2ms MAX 1ms"),
        (0, "rl k LOCKOUT 2d 1 MAX 1d"),
        (0, "rl k LOCKOUT 1ms 1 BLOCK 1x"),
        (0, "rl k LOCKOUT 1ms 1 MAX"),
        (0, "rl k LOCKOUT day 1"),
        (0, "rl k LOCKOUT 1h 1 BLCOK 1s"),
        (0, "rl_reset k LOCKOUT 1h BLOCK 1s"),
        (0, "rl k LOCKOUT 1m 1"),
        (0, "rl k TOKEN 1m 1"),
    ],
];

#[test]
fn rare_calls_do_what_the_module_does() {
    for_each_server(|bin| {
        let (mut clock, server) = FrozenClock::server(bin);
        let (mut con, start) = (server.con(), clock.now());
        for calls in RARE {
            let mut played = [false, true].map(|scripts| {
                ok(cmd!(con, "FLUSHALL"));
                clock.set(start);
                let replies = calls.iter().map(|(wait, words)| {
                    clock.step(&mut con, *wait);
                    let call = Call::of(words);
                    let command = if scripts { call.script().expect("a script") } else { call.native() };
                    answer(command.query(&mut con))
                });
                let replies: Vec<_> = replies.collect();
                (replies, comparable(&keys_of(answer(dump(&BTreeSet::new()).query(&mut con)))))
            });
            let [(native, held), (of_scripts, held_by_scripts)] = &mut played;
            assert!(of_scripts.iter().zip(&*native).all(|(script, native)| script.is_that_of(native)), "{played:?}");
            assert_eq!(held, held_by_scripts);
        }
    });
}

// Redis 7.0 has other words for a command that a script calls.
fn refuses(error: &str) -> bool {
    ["NOPERM", "ermission", "can't access", "can't run"].iter().any(|word| error.contains(word))
}

/// The permissions in docs/hosted.md are enough for every call, and a call uses the key that it declares, and of FIXED those
/// that begin with it: a user who may use `key` and `key:*` sees no error of permission.
#[test]
fn the_documented_permissions_are_enough_and_a_call_uses_no_other_key() {
    const PAGE: &str = include_str!("../../docs/hosted.md");
    let lines: Vec<Vec<&str>> = PAGE
        .lines()
        .filter(|line| line.starts_with("ACL SETUSER app "))
        .map(|line| line.split(' ').collect())
        .collect();
    assert_eq!(lines.len(), 3);
    for_each_server(|bin| {
        let server = Server::options(bin).without_module().start();
        let (mut con, mut case, mut seen) = (server.con(), Case { for_scripts: true, ..Case::new(2) }, BTreeSet::new());
        let set = |con: &mut Connection, words: &[&str]| ok(redis::cmd(words[0]).arg(&words[1..]).query(con));
        lines.iter().for_each(|line| _ = set(&mut con, line));
        let mut user = server.con();
        ok(cmd!(user, "AUTH", "app", "secret"));
        // Every algorithm on every key is WRONGTYPE now and then, which is a reply as well.
        for _ in 0..600 {
            let call = case.call(&words(|_| true));
            let Some(command) = call.script() else { continue };
            let mut allow = redis::cmd("ACL");
            allow.arg(&["SETUSER", "app", "resetkeys"]);
            for (key, _) in &call.limits {
                allow.arg([b"~", &key[..]].concat()).arg([b"~", &key[..], b":*"].concat());
            }
            ok(allow.query(&mut con));
            let reply = answer(command.query(&mut user));
            if let Answer::Error(error) = &reply {
                assert!(!refuses(error), "{}: {error}", shown(&call.native()));
            }
            seen.insert((call.name, reply.outcome()));
        }
        assert!(seen.len() > 8, "{seen:?}");
        lines.iter().for_each(|line| _ = set(&mut con, line));
        assert!(err(cmd!(user, "EVAL", script("TOKEN"), 1, "other", "CHECK", 60, 5)).contains("NOPERM"));
        assert!(err(cmd!(user, "DEL", "user:1")).contains("NOPERM"));
    });
}

/// Products of a time and a limit that a double rounds: over many calls in a row, less than one unit in 10^9 is lost, and none
/// is added. Each call takes all that fits. `make full` makes a million calls.
#[test]
fn what_is_rounded_does_not_add_up() {
    const CALLS: usize = 20_000;
    const DRIVER: &str = "
        local now, state, passed = ARGV[1] + 0, ARGV[2] ~= '' and ARGV[2] or nil, 0
        local words = { 'CHECK', '1d', ARGV[3], 'COST', ARGV[3], 'PARTIAL' }
        local redis = { REDIS_VERSION_NUM = 1, error_reply = redis.error_reply, call = function(name, _, value)
          if name == 'TIME' then
            return { string.format('%d', (now - now % 1000000) / 1000000), string.format('%d', now % 1000000) }
          elseif name == 'GET' then
            return state
          elseif name == 'SET' then
            state = value
          end
          return -1
        end }
        local KEYS, ARGV = { 'k' }, words
        local function script()
          SCRIPT
        end
        for n = 1, CALLS do
          now = now + n * 7919 % 1000003
          passed = passed + script()[1]
        end
        return { string.format('%d', now), state, string.format('%d', passed) }";
    const BEGIN: u64 = 1_700_000_000_000_000;
    const DAY: u64 = 86_400_000_000;
    let calls =
        std::env::var("CALLS_IN_A_ROW").map_or(CALLS, |calls| calls.parse().expect("CALLS_IN_A_ROW is a number"));
    let server = Server::options(&servers()[0]).without_module().start();
    let mut con = server.con();
    // GCRA's interval is a whole number of nanoseconds.
    for (word, limit) in [("TOKEN", 999_999_999_989_u64), ("LEAKY", 999_999_999_989), ("GCRA", 43_200_000_000_000)] {
        let driver = DRIVER.replace("SCRIPT", &script(word)).replace("CALLS", &CALLS.to_string());
        let (mut now, mut state, mut passed) = (BEGIN.to_string(), String::new(), 0_u64);
        for _ in 0..calls.div_ceil(CALLS) {
            let reply = cmd!(con, "EVAL", &driver, 0, &now, &state, limit);
            let more: String;
            (now, state, more) = redis::from_redis_value(ok(reply)).expect("the time, the state and what has passed");
            passed += more.parse::<u64>().expect("a number");
        }
        let begin = BEGIN + 7919;
        let since = now.parse::<u64>().expect("a number") - begin;
        let exact =
            u64::try_from(u128::from(limit) + u128::from(since) * u128::from(limit) / u128::from(DAY)).expect("few");
        assert!(
            passed <= exact && exact - passed <= 1 + (exact - limit) / 1_000_000_000,
            "{word}: {passed} of {exact}"
        );
    }
}
