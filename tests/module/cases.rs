//! What each command replies, by examples: cases.txt. Each part of it begins with empty keys, at 14:00:20.123456 UTC on
//! 21 November 2026. `> ` is a command, what follows is its reply, and `wait` moves the clock. What random calls reply and
//! store is in differential.rs.

use redis::Value;

use crate::support::*;

const CASES: &str = include_str!("cases.txt");
const START: i64 = 1_795_269_620_123_456;

/// A reply in one line: arrays within the reply are in brackets.
fn shown(reply: Reply) -> String {
    fn part(value: &Value) -> String {
        match value {
            Value::Array(parts) => format!("[{}]", parts.iter().map(part).collect::<Vec<_>>().join(" ")),
            Value::BulkString(text) => String::from_utf8_lossy(text).into_owned(),
            Value::Int(n) => n.to_string(),
            Value::Okay => "OK".to_owned(),
            other => format!("{other:?}"),
        }
    }
    match reply.and_then(Value::extract_error) {
        Ok(Value::Array(mut parts)) => {
            // KEYS has no order. Other replies of strings alone have names and figures.
            if parts.iter().all(|part| matches!(part, Value::BulkString(_))) {
                parts.sort_by_key(part);
            }
            parts.iter().map(part).collect::<Vec<_>>().join(" ")
        }
        Ok(value) => part(&value),
        error => err(error),
    }
}

#[test]
fn every_command_replies_what_the_examples_say() {
    for_each_server(|bin| {
        let (mut clock, server) = FrozenClock::server(bin);
        let mut con = server.con();
        // A reply goes on in lines with four blanks.
        let text = CASES.replace("\n    ", " ");
        let mut commands = 0;
        for case in text.split("\n\n") {
            ok(cmd!(con, "FLUSHALL"));
            clock.set(START);
            clock.assert_governs(&mut con);
            let mut lines = case.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
            while let Some(line) = lines.next() {
                if let Some(wait) = line.strip_prefix("wait ") {
                    clock.step(&mut con, wait.trim_end_matches(" ms").parse().expect("milliseconds"));
                    continue;
                }
                let command = line.strip_prefix("> ").unwrap_or_else(|| panic!("no command: {line}"));
                let expected = lines.next().unwrap_or_default().trim_start();
                assert_eq!(shown(send(&mut con, command)), expected, "{command}, in\n{case}");
                commands += 1;
            }
        }
        assert!(commands > 150, "{commands}");
    });
}
