//! Calls that the module and the Lua library take, and their replies.

use std::fmt::Display;
use std::fs;
use std::path::Path;

use redis::{Cmd, Connection, Value};
use redis_rl_algorithm::period::{Anchor, CalendarUnit, Schedule};
use redis_rl_algorithm::{Micros, Window};

use super::random_calls::words;
use crate::support::{Reply, bytes, cmd, err, ok};

/// A file of lua/generated. It is read when a test runs, so that another text needs no other build.
pub fn generated(name: &str) -> Option<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("lua/generated").join(format!("{name}.lua"));
    fs::read_to_string(path).ok()
}

/// Loads the functions of the library.
pub fn load_functions(con: &mut Connection) {
    let library = generated("rl").expect("the functions");
    assert_eq!(ok(cmd!(*con, "FUNCTION", "LOAD", "REPLACE", library)), bytes("rl"));
}

/// How a call of the library is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Function,
    /// As a function, with no other key than that of the limit.
    Derived,
    Script,
}

pub const FORMS: [Form; 3] = [Form::Function, Form::Derived, Form::Script];

/// A call of both sides.
#[derive(Clone, Debug)]
pub struct Call {
    /// The name of the function.
    pub name: &'static str,
    /// Each key, and the words that follow it: of the native command, but for the key. The first is the algorithm, if
    /// the command takes one.
    pub limits: Vec<(Vec<u8>, Vec<Vec<u8>>)>,
    /// FULL or HEADERS.
    pub tail: Vec<Vec<u8>>,
}

impl Call {
    /// `rl user TOKEN 60 5`: the name of the function, a key, and the words.
    pub fn of(words: &str) -> Self {
        let mut words = words.split(' ');
        let name = words.next().expect("a name");
        let name = ["rl", "rl_peek", "rl_refund", "rl_settle", "rl_reset", "rl_release", "rl_renew"]
            .into_iter()
            .find(|known| *known == name)
            .expect("the name of a function");
        let key = words.next().expect("a key").as_bytes().to_vec();
        Self { name, limits: vec![(key, words.map(|word| word.as_bytes().to_vec()).collect())], tail: Vec::new() }
    }

    pub fn takes_algorithm(&self) -> bool {
        !matches!(self.name, "rl_release" | "rl_renew")
    }

    pub fn native(&self) -> Cmd {
        let (key, words) = &self.limits[0];
        let mut command = if self.name == "rl" {
            redis::cmd(&format!("RL.{}", text(&words[0])))
        } else {
            redis::cmd(&self.name.replace("rl_", "RL.").to_uppercase())
        };
        match self.name {
            "rl" => _ = command.arg(key).arg(&words[1..]),
            "rl_multi" => {
                command.arg(self.limits.len());
                for (key, words) in &self.limits {
                    command.arg(&words[0]).arg(key).arg(&words[1..]);
                }
            }
            _ if self.takes_algorithm() => _ = command.arg(&words[0]).arg(key).arg(&words[1..]),
            _ => _ = command.arg(key).arg(words),
        }
        command.arg(&self.tail);
        command
    }

    /// The call of the library, by a client whose clock is `now`. `None` if there is no script for it.
    pub fn library(&self, form: Form, now: Micros) -> Option<Cmd> {
        let derived = form == Form::Derived && self.name != "rl_multi";
        let keys: Vec<_> = match derived {
            true => vec![self.limits[0].0.clone()],
            false => self.limits.iter().flat_map(|limit| self.keys_of(limit, now)).collect(),
        };
        let mut command = redis::cmd(if form == Form::Script { "EVAL" } else { "FCALL" });
        match form {
            Form::Script => command.arg(generated(&self.script())?),
            _ => command.arg(self.name),
        };
        command.arg(keys.len()).arg(keys);
        let names_algorithm = self.takes_algorithm() && (form != Form::Script || self.name == "rl_multi");
        let skipped = usize::from(self.takes_algorithm() && !names_algorithm);
        self.limits.iter().for_each(|(_, words)| _ = command.arg(&words[skipped..]));
        command.arg(&self.tail);
        Some(command)
    }

    /// The call of the function.
    pub fn function(&self, now_ms: i64) -> Cmd {
        self.library(Form::Function, Micros::from_millis(now_ms.unsigned_abs())).expect("a function")
    }

    /// The name of the script.
    fn script(&self) -> String {
        let command = self.name.strip_prefix("rl_").unwrap_or_default();
        let algorithm = text(&self.limits[0].1[0]).to_lowercase();
        match command {
            "" => algorithm,
            "multi" | "release" | "renew" => command.to_owned(),
            _ => format!("{command}_{algorithm}"),
        }
    }

    /// The keys of a limit, as docs/lua.md says.
    fn keys_of(&self, (key, sent): &(Vec<u8>, Vec<Vec<u8>>), now: Micros) -> Vec<Vec<u8>> {
        let with = |suffix: &dyn Display| [key, suffix.to_string().as_bytes()].concat();
        let word = text(&sent[0]).to_uppercase();
        if !self.takes_algorithm() {
            return vec![key.clone()];
        }
        let (mut keys, mut infix) = (vec![key.clone()], String::new());
        let options = self.options(sent);
        if word == "FIXED" {
            let anchor = options.iter().find(|(option, _)| option == "ANCHOR").map(|(_, value)| value.as_str());
            // What is no window is an error, whatever the keys are.
            let schedule = schedule(sent.get(1).map(|window| text(window)).unwrap_or_default(), anchor);
            let period = schedule.period_at(now);
            infix = format!(":{schedule}");
            keys = [now, period.end].map(|at| with(&format_args!(":{}", schedule.suffix_at(at)))).into();
        }
        let option = |name: &str| options.iter().any(|(option, _)| option == name);
        let with_book = match self.name {
            "rl_reset" => true,
            "rl_settle" => option("RESERVATION"),
            _ => option("RESERVE"),
        };
        if with_book && words(|traits| traits.reserve).contains(&word.as_str()) {
            keys.extend(["", ":ends"].map(|end| with(&format_args!("{infix}:reserved{end}"))));
        }
        keys
    }

    /// The options of a limit with their values, up to the first word that is none.
    fn options(&self, words: &[Vec<u8>]) -> Vec<(String, String)> {
        let (mut at, mut options) = (if self.name == "rl_reset" { 2 } else { 3 }, Vec::new());
        while let Some(option) = words.get(at) {
            let option = text(option).to_uppercase();
            let values = match option.as_str() {
                "PARTIAL" | "ALWAYS" | "SHADOW" | "FULL" | "LINE" | "HEADERS" => 0,
                "RESERVE" => 2,
                "COST" | "RESERVED" | "ACTUAL" | "AT" | "BURST" | "BLOCK" | "MAX" | "ANCHOR" | "ID" | "AS"
                | "RESERVATION" => 1,
                _ => break,
            };
            let value = if values > 0 { words.get(at + 1).map(|value| text(value)) } else { None };
            options.push((option, value.unwrap_or_default()));
            at += 1 + values;
        }
        options
    }
}

/// When the windows of FIXED start; those of a second if the words are wrong.
fn schedule(window: String, anchor: Option<&str>) -> Schedule {
    let anchor = anchor.and_then(|seconds| Anchor::from_seconds(seconds.parse().ok()?));
    if let Some(unit) = CalendarUnit::from_word(window.as_bytes()) {
        return Schedule::Calendar(unit, anchor);
    }
    let digits = window.trim_end_matches(|letter: char| letter.is_ascii_lowercase());
    let unit = match &window[digits.len()..] {
        "ms" => 1,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => 1_000,
    };
    let millis = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    let length = millis.and_then(Window::from_millis).unwrap_or(Window::from_millis(1_000).expect("a second"));
    anchor.map_or(Schedule::Aligned(length), |anchor| Schedule::Anchored(length, anchor))
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub fn shown(command: &Cmd) -> String {
    let words = command.args_iter().map(|word| match word {
        redis::Arg::Simple(bytes) => bytes.escape_ascii().to_string(),
        _ => "?".to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// A reply that two sides can be compared by.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    Value(Value),
    Error(String),
}

pub fn answer(reply: Reply) -> Answer {
    match reply.and_then(Value::extract_error) {
        Ok(value) => Answer::Value(value),
        // The server itself counts the arguments of a native command, and names it.
        error => match err(error) {
            error if error.starts_with("ERR wrong number of arguments") => {
                Answer::Error("ERR wrong number of arguments".to_owned())
            }
            error => Answer::Error(error),
        },
    }
}

/// The library's own error, of a number that a double does not hold.
pub const INEXACT: &str = "9007199254740991";

impl Answer {
    pub fn is_inexact(&self) -> bool {
        matches!(self, Self::Error(error) if error.contains(INEXACT))
    }

    pub fn outcome(&self) -> &'static str {
        match self {
            Self::Error(_) => "errors",
            Self::Value(Value::Array(parts)) => match parts.as_slice() {
                [Value::BulkString(_), Value::Int(0), ..] | [Value::Int(0), ..] => "denied",
                _ => "allowed",
            },
            Self::Value(_) => "integers",
        }
    }
}

/// Whether a text has an integer of 2^53 or more, or one that can be such a number of milliseconds in seconds, or that is
/// so close that the sum with a cost is one.
pub fn has_large_integer(text: &str) -> bool {
    let integers = text.split(|character: char| !character.is_ascii_digit()).filter_map(|digits| digits.parse().ok());
    integers
        .into_iter()
        .any(|n: u128| n >= 9_000_000_000_000_000 || (9_000_000_000_000..99_999_999_999_999).contains(&n))
}
