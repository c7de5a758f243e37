//! `vectors/algorithms.json` and `vectors/scripts.json`: the words of each call, and what is read of its reply.

use std::time::Duration;

use redis::{Cmd, Value};
use serde_json::Value as Json;

use super::scripts::Script;
use super::{Call, Verb, reply};
use crate::decision::{Decision, RetryAfter};
use crate::policy::{Algorithm, Policy, Request};

/// The words of a command.
pub fn words(command: &Cmd) -> Vec<String> {
    let words = redis::parse_redis_value(&command.get_packed_command()).expect("a command");
    redis::from_redis_value(words).expect("words")
}

fn vectors(text: &str) -> Json {
    serde_json::from_str(text).expect("JSON")
}

fn texts(list: &Json) -> Vec<String> {
    list.as_array().expect("words").iter().map(|word| word.as_str().expect("a word").to_owned()).collect()
}

/// The value of an option among the words.
fn option<'w>(words: &'w [String], name: &str) -> Option<&'w str> {
    words.get(words.iter().position(|word| word == name)? + 1).map(String::as_str)
}

/// A limit of a command: `key window limit [options]`.
struct Limit<'w> {
    policy: Policy,
    words: &'w [String],
}

impl<'w> Limit<'w> {
    /// RL.RESET and RL.RENEW name no limit, and RL.RELEASE no window. `None` for a policy that this client does not have.
    fn of(algorithm: &str, words: &'w [String]) -> Option<Self> {
        let [window, limit] = [1, 2].map(|at| words.get(at).map_or("1", String::as_str));
        let limit = if limit.parse::<u64>().is_ok() { limit } else { "1" };
        let mut text = format!("{algorithm} {window} {limit}");
        for name in ["BURST", "ANCHOR", "BLOCK", "MAX"] {
            text += &option(words, name).map_or(String::new(), |value| format!(" {name} {value}"));
        }
        text += if words.iter().any(|word| word == "SHADOW") { " SHADOW" } else { "" };
        Some(Self { policy: text.parse().ok()?, words })
    }

    fn request(&self) -> Request<'_> {
        let number = |name| option(self.words, name).map(|value| value.parse::<u64>().expect("a number"));
        let is_set = |name| self.words.iter().any(|word| word == name);
        let ttl = |id| self.words.iter().skip_while(|word| *word != id).nth(1).and_then(|ttl| ttl.parse().ok());
        let reserve = option(self.words, "RESERVE");
        Request {
            cost: number("COST").or(number("RESERVED")).unwrap_or(1),
            partial: is_set("PARTIAL"),
            always: is_set("ALWAYS"),
            at: number("AT"),
            id: option(self.words, "ID").map(str::as_bytes),
            reserve: reserve.map(|id| (id.as_bytes(), Duration::from_secs(ttl(id).unwrap_or(10)))),
            ..Request::new(&self.policy, self.words[0].as_bytes())
        }
    }
}

/// A command as this client calls it; `None` for what it never sends.
fn parsed(command: &[String]) -> Option<(Verb<'_>, Vec<Limit<'_>>)> {
    let (name, rest) = (command[0].strip_prefix("RL.")?, &command[1..]);
    let actual = || option(command, "ACTUAL")?.parse().ok();
    let verb = match name {
        "PEEK" => Verb::Peek,
        "REFUND" => Verb::Refund,
        "SETTLE" => match option(command, "RESERVATION") {
            Some(id) => Verb::SettleReservation { id: id.as_bytes(), actual: actual()? },
            None => Verb::Settle(actual()?),
        },
        "RESET" => Verb::Reset,
        "RENEW" => return Some((Verb::Renew(rest[2].as_bytes()), vec![Limit::of("LEASE", &rest[..2])?])),
        "RELEASE" => return Some((Verb::Release(rest[1].as_bytes()), vec![Limit::of("LEASE", &rest[..1])?])),
        "MULTI" | "SHARE" => {
            let begins = |at: &usize| Algorithm::ALL.iter().any(|name| name.word() == rest[*at]);
            let begins: Vec<_> = (1..rest.len()).filter(begins).collect();
            let ends = begins.iter().skip(1).copied().chain([rest.len()]);
            let limits = begins.iter().zip(ends).map(|(&at, end)| Limit::of(&rest[at], &rest[at + 1..end]));
            let verb = if name == "SHARE" { Verb::Share } else { Verb::CheckAll };
            return Some((verb, limits.collect::<Option<_>>()?));
        }
        word => return Some((Verb::Check, vec![Limit::of(word, rest)?])),
    };
    Some((verb, vec![Limit::of(&rest[0], &rest[1..])?]))
}

/// The figures that a decision holds, in the order of the reply.
fn figures(decision: &Decision) -> [i64; 10] {
    let millis = |time: Duration| time.as_millis() as i64;
    let retry_after = match decision.retry_after {
        RetryAfter::Now => 0,
        RetryAfter::After(wait) => millis(wait),
        RetryAfter::Never => -1,
    };
    let [next, reset] = [decision.next, decision.reset_after].map(|wait| wait.map_or(-1, millis));
    let (limit, remaining, charged) = (decision.limit as i64, decision.remaining as i64, decision.charged as i64);
    let (now, delay) = (decision.now_ms as i64, millis(decision.delay));
    [decision.count, limit, remaining, retry_after, next, reset, delay, now, decision.shadow.into(), charged]
}

#[test]
fn calls_and_replies_are_those_of_the_vectors() {
    let vectors = vectors(include_str!("../../../../../vectors/algorithms.json"));
    for algorithm in Algorithm::ALL {
        for row in vectors[algorithm.word()].as_array().expect("an algorithm") {
            let call = row["call"].as_str().expect("a call");
            let command: Vec<_> = call.split(' ').map(str::to_owned).collect();
            let (verb, limits) = parsed(&command).expect(call);
            let request = limits[0].request();
            // Without what is the default, and in the units of a policy.
            let own = call.replace(" COST 1 ", " ").replace(" 1m", " 60").replace(" 30s", " 30");
            let own = match own.split_once(" RESERVE ") {
                Some((before, reserve)) => {
                    format!("{before} RESERVE {}000ms LINE", reserve.trim_end_matches(" LINE"))
                }
                None => own,
            };
            assert_eq!(words(&Call::of(verb, &request).native(false)).join(" "), own);
            // What a caller chooses is sent in a bounded form, whatever the call is.
            let long = Request { key: &[b'x'; 300], at: Some(0), ..request };
            let long = Call::of(verb, &long);
            let scripted = words(&long.scripted("EVALSHA", "hash", false).expect("keys"));
            for words in [words(&long.native(false)), scripted] {
                assert!(words.iter().any(|word| word.starts_with(&format!("{}~", "x".repeat(32)))), "{call}");
            }
            let Some(line) = row["reply"].as_str() else {
                let number = row["reply"].as_i64().expect(call);
                assert_eq!(reply::flag(Value::Int(number)).ok(), Some(number != 0));
                continue;
            };
            let decision = reply::decision(&Value::BulkString(line.into()), &request).expect(call);
            let mut expected: Vec<i64> = line.split(' ').map(|figure| figure.parse().expect(line)).collect();
            assert_eq!(decision.allowed, expected.remove(0) > 0, "{call}: {line}");
            // The rest of the window is in no decision.
            expected.remove(1);
            assert_eq!(figures(&decision), *expected, "{call}: {line}");
        }
    }
}

/// Each call has the script, KEYS and ARGV.
#[test]
fn calls_of_scripts_are_those_of_the_vectors() {
    let vectors = vectors(include_str!("../../../../../vectors/scripts.json"));
    let file = |name: &str| std::fs::read_to_string(format!("src/protocol/scripts/{name}.lua")).expect("a file");
    let mut seen = 0;
    for vector in vectors["calls"].as_array().expect("calls") {
        let command = texts(&vector["command"]);
        let Some((verb, limits)) = parsed(&command) else { continue };
        let requests: Vec<_> = limits.iter().map(Limit::request).collect();
        let call = Call { verb, requests: &requests };
        let result = call.scripted("EVALSHA", "SHA", vector["cluster"].as_bool().unwrap_or(false));
        seen += 1;
        if let Some(error) = vector["error"].as_str() {
            let found = result.expect_err(error).to_string();
            assert!(found.ends_with(error.trim_start_matches("ERR ")), "{found}");
            continue;
        }
        let sent = words(&result.expect("a command"));
        let keys = texts(&vector["keys"]);
        let expected = ["EVALSHA".to_owned(), "SHA".to_owned(), keys.len().to_string()].into_iter().chain(keys);
        let expected: Vec<_> = expected.chain(texts(&vector["argv"])).collect();
        // This client writes a length in seconds.
        let seconds = |words: Vec<String>| words.join(" ").replace("1m", "60").replace("1d", "86400");
        assert_eq!(seconds(sent), seconds(expected), "{vector}");
        let source = match &vector["script"] {
            Json::String(word) => {
                let name = Algorithm::from_word(word.as_bytes()).expect("an algorithm");
                let name = if name.label() == "leaky" || name.label() == "token" { "bucket" } else { name.label() };
                [file("head"), file(name), format!("return run('{word}')\n")].concat()
            }
            files => {
                let files = texts(files).into_iter().map(|name| file(&name));
                [file("head")].into_iter().chain(files).chain([file("several")]).collect()
            }
        };
        assert_eq!(call.script().expect("a script").source, source, "{vector}");
    }
    assert!(seen > 50, "{seen}");
    // Each algorithm has its file, also one that no call above names.
    for name in Algorithm::ALL {
        Script::of(name);
    }
}
