//! vectors/algorithms.json: the module replies and stores what the algorithms in memory do. The file says what its fields
//! are.

use std::collections::BTreeMap;

use redis::{Connection, FromRedisValue, Value};

use crate::support::*;

const VECTORS: &str = include_str!("../../vectors/algorithms.json");

/// What is between two texts of a line.
fn between<'a>(line: &'a str, before: &str, after: &str) -> &'a str {
    let (_, rest) = line.split_once(before).unwrap_or_else(|| panic!("no {before} in {line}"));
    rest.split_once(after).unwrap_or_else(|| panic!("no {after} in {line}")).0
}

fn query<T: FromRedisValue>(con: &mut Connection, words: &[&str]) -> T {
    redis::cmd(words[0]).arg(&words[1..]).query(con).expect("a reply")
}

/// The value of a key as the file has it.
fn value(con: &mut Connection, algorithm: &str, name: &str) -> String {
    let pairs = |pairs: Vec<String>| format!("{{{}}}", pairs.join(", "));
    let kind: String = query(con, &["TYPE", name]);
    match kind.as_str() {
        "string" => {
            let bytes: Vec<u8> = query(con, &["GET", name]);
            match algorithm {
                "ROLLING" => format!("{:?}", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()),
                _ => format!("{:?}", String::from_utf8(bytes).expect("a text")),
            }
        }
        "hash" => {
            let fields: BTreeMap<String, String> = query(con, &["HGETALL", name]);
            pairs(fields.iter().map(|(id, field)| format!("{id:?}: {field:?}")).collect())
        }
        _ => {
            let members: Vec<(String, u64)> = query(con, &["ZRANGE", name, "0", "-1", "WITHSCORES"]);
            match algorithm {
                "SLIDING" => format!("{:?}", members.iter().map(|(_, score)| score).collect::<Vec<_>>()),
                _ => {
                    let scores: BTreeMap<_, _> = members.into_iter().collect();
                    pairs(scores.iter().map(|(id, score)| format!("{id:?}: {score}")).collect())
                }
            }
        }
    }
}

fn keys(con: &mut Connection, algorithm: &str) -> String {
    let mut names: Vec<String> = query(con, &["KEYS", "*"]);
    names.sort_unstable();
    let key = |name: String| {
        let expires_at: i64 = query(con, &["PEXPIRETIME", &name]);
        format!("[{name:?}, {}, {expires_at}]", value(con, algorithm, &name))
    };
    names.into_iter().map(key).collect::<Vec<_>>().join(", ")
}

#[test]
fn the_module_replies_and_stores_what_the_vectors_say() {
    for_each_server(|bin| {
        let (mut clock, server) = FrozenClock::server(bin);
        let mut con = server.con();
        let (mut algorithm, mut calls) = ("", 0);
        for line in VECTORS.lines() {
            if line.ends_with(": [") {
                algorithm = between(line, "\"", "\"");
                ok(cmd!(con, "FLUSHALL"));
            } else if line.starts_with("  {") {
                let (at, call) = (between(line, "\"at\": ", ","), between(line, "\"call\": \"", "\""));
                clock.set(at.parse().expect("microseconds"));
                clock.assert_governs(&mut con);
                let reply = match send(&mut con, call).expect("a reply") {
                    Value::BulkString(text) => format!("{:?}", String::from_utf8_lossy(&text)),
                    Value::Int(n) => n.to_string(),
                    other => panic!("{other:?}"),
                };
                let keys = keys(&mut con, algorithm);
                let found = format!("  {{\"at\": {at}, \"call\": \"{call}\", \"reply\": {reply}, \"keys\": [{keys}]}}");
                assert_eq!(found, line.trim_end_matches(','));
                calls += 1;
            }
        }
        assert!(calls > 150, "{calls}");
    });
}
