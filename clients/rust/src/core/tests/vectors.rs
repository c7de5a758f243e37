//! `vectors/algorithms.json`: the words of each call, and what is read of its reply.

use std::time::Duration;

use redis::Value;

use crate::decision::{Decision, RetryAfter};
use crate::policy::{Algorithm, Policy, Request};
use crate::protocol::{Call, Commands, Verb, reply};

/// The words of a call as this client writes them: without what is the default, and in the units of [`Policy`].
fn canonical(call: &str) -> String {
    let call = call.replace(" COST 1 ", " ").replace(" 1m", " 60").replace(" 30s", " 30");
    match call.split_once(" RESERVE ") {
        Some((before, reserve)) => format!("{before} RESERVE {}000ms LINE", reserve.trim_end_matches(" LINE")),
        None => call,
    }
}

fn words(write: impl FnOnce(&mut Commands)) -> String {
    let mut commands = Commands::default();
    write(&mut commands);
    crate::protocol::words(&commands.bytes()).expect("a command").join(" ")
}

/// The value of an option among the words.
fn option<'w>(words: &[&'w str], name: &str) -> Option<&'w str> {
    words.get(words.iter().position(|word| *word == name)? + 1).copied()
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
    let vectors = include_str!("../../../../../vectors/algorithms.json");
    let vectors: serde_json::Value = serde_json::from_str(vectors).expect("JSON");
    for algorithm in Algorithm::ALL {
        for row in vectors[algorithm.word()].as_array().expect("an algorithm") {
            let call = row["call"].as_str().expect("a call");
            let words_of_call: Vec<_> = call.split(' ').collect();
            let (verb, rest) = match words_of_call.as_slice() {
                ["RL.RENEW" | "RL.RELEASE", rest @ ..] => (words_of_call[0], rest),
                [verb @ ("RL.PEEK" | "RL.REFUND" | "RL.SETTLE" | "RL.RESET"), _, rest @ ..] => (*verb, rest),
                [_, rest @ ..] => ("", rest),
                [] => panic!("{call}"),
            };
            // RL.RESET and RL.RENEW name no limit, and RL.RELEASE no window.
            let limit = rest.get(2).filter(|limit| limit.parse::<u64>().is_ok()).unwrap_or(&"1");
            let window = if verb == "RL.RELEASE" { "1" } else { rest[1] };
            let shadow = if rest.contains(&"SHADOW") { " SHADOW" } else { "" };
            let policy: Policy = format!("{} {window} {limit}{shadow}", algorithm.word()).parse().expect(call);
            let number_of = |name| option(rest, name).map(|value| value.parse::<u64>().expect(call));
            let mut request = Request::new(&policy, rest[0].as_bytes());
            request.cost = number_of("COST").or(number_of("RESERVED")).unwrap_or(1);
            request.partial = rest.contains(&"PARTIAL");
            request.always = rest.contains(&"ALWAYS");
            request.at = number_of("AT");
            request.id = option(rest, "ID").map(str::as_bytes);
            let ttl = rest.iter().rev().nth(1).and_then(|ttl| ttl.parse().ok()).map(Duration::from_secs);
            request.reserve = option(rest, "RESERVE").zip(ttl).map(|(id, ttl)| (id.as_bytes(), ttl));
            let holder = rest.last().expect(call).as_bytes();
            let verb = match (verb, number_of("ACTUAL"), option(rest, "RESERVATION")) {
                ("RL.PEEK", ..) => Verb::Peek,
                ("RL.REFUND", ..) => Verb::Refund,
                ("RL.SETTLE", Some(actual), None) => Verb::Settle(actual),
                ("RL.SETTLE", Some(actual), Some(id)) => Verb::SettleReservation { id: id.as_bytes(), actual },
                ("RL.RESET", ..) => Verb::Reset,
                ("RL.RENEW", ..) => Verb::Renew(holder),
                ("RL.RELEASE", ..) => Verb::Release(holder),
                _ => Verb::Check,
            };
            assert_eq!(words(|to| Call::of(verb, &request).native(to)), canonical(call));
            // What a caller chooses is sent in a bounded form, whatever the call is.
            let long = Request { key: &[b'x'; 300], at: Some(0), ..request };
            let long = Call::of(verb, &long);
            let scripted = words(|to| long.scripted("EVALSHA", "hash", false, to).expect("keys"));
            for words in [words(|to| long.native(to)), scripted] {
                assert!(words.contains(&format!(" {}~", "x".repeat(32))), "{call}");
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
