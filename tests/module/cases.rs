//! What each command replies, replicates and fires, by examples: cases.txt. Each part of it begins with empty keys, at
//! 14:00:20.123456 UTC on 21 November 2026. `> ` is a command, and what follows is its reply. `wait` moves the clock,
//! `replicated` shows what the append only file has got since the last `replicated`, and `fired` the keyspace events. What
//! random calls reply and store is in differential.rs.
//!
//! `SNAPSHOTS=overwrite` writes what the server does into cases.txt, for a reader to judge.

use redis::Value;
use snapbox::Data;

use crate::support::*;

const START: i64 = 1_795_269_620_123_456;
/// No line of cases.txt is longer.
const WIDTH: usize = 118;

/// A reply in one line: arrays within the reply are in brackets.
fn shown(reply: Reply) -> String {
    fn part(value: &Value) -> String {
        match value {
            Value::Array(parts) => format!("[{}]", parts.iter().map(part).collect::<Vec<_>>().join(" ")),
            Value::BulkString(text) => text.escape_ascii().to_string().replace("\\\"", "\""),
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

/// A text in lines: a reply goes on in lines with four blanks.
fn lines(text: &str) -> String {
    let (mut lines, mut line) = (String::new(), " ".to_owned());
    for word in text.split(' ') {
        if line.len() + 1 + word.len() > WIDTH {
            lines += &format!("{line}\n");
            line = "   ".to_owned();
        }
        line += &format!(" {word}");
    }
    lines + &line
}

/// The parts of a list. The numbers in the names of units of SLIDING depend on the calls before.
fn list(parts: &[String], separator: &str) -> String {
    let text = if parts.is_empty() { "nothing".to_owned() } else { parts.join(separator) };
    let mut units = text.split("-0.");
    let first = units.next().expect("a text").to_owned();
    let text =
        units.fold(first, |text, rest| text + "-0.n" + rest.trim_start_matches(|digit: char| digit.is_ascii_digit()));
    text.escape_debug().to_string()
}

/// The examples, with what this server replies, replicates and fires.
fn played(bin: &ServerBin, examples: &str) -> String {
    let (mut clock, server) = FrozenClock::server(bin);
    let mut con = server.con();
    let (mut effects, mut events) = (Effects::of(&server), Events::listen(&server));
    let mut played = Vec::new();
    for case in examples.split("\n\n") {
        ok(cmd!(con, "FLUSHALL"));
        clock.set(START);
        clock.assert_governs(&mut con);
        effects.take();
        events.take();
        let mut all = Vec::new();
        for line in case.lines().filter(|line| !line.starts_with(' ')) {
            all.push(line.to_owned());
            if let Some(wait) = line.strip_prefix("wait ") {
                clock.step(&mut con, wait.trim_end_matches(" ms").parse().expect("milliseconds"));
            } else if line == "replicated" {
                let sent: Vec<String> = effects.take().iter().map(|effect| effect.join(" ")).collect();
                all.push(lines(&list(&sent, "; ")));
            } else if line == "fired" {
                let fired: Vec<String> = events.take().into_iter().map(|(event, _)| event).collect();
                all.push(lines(&list(&fired, " ")));
            } else if let Some(command) = line.strip_prefix("> ") {
                all.push(lines(&shown(send(&mut con, command))));
            } else {
                assert!(line.starts_with("# "), "no command: {line}");
            }
        }
        played.push(all.join("\n"));
    }
    played.join("\n\n") + "\n"
}

#[test]
fn every_command_does_what_the_examples_say() {
    for_each_server(|bin| {
        let examples = Data::read_from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/module/cases.txt").as_ref(), None);
        let played = played(bin, examples.to_string().trim_end());
        snapbox::Assert::new().action_env("SNAPSHOTS").eq(played, examples);
    });
}
