//! Calls that the module and the Lua library take, and their replies.

use redis::{Cmd, Connection, Value};

use crate::support::{Reply, bytes, cmd, err, ok, read};

const LIBRARY: &str = include_str!("../../lua/rl.lua");

/// Loads the function form of the library.
pub fn load_functions(con: &mut Connection) {
    let library = format!("#!lua name=rl\n{LIBRARY}");
    assert_eq!(ok(cmd!(*con, "FUNCTION", "LOAD", "REPLACE", library)), bytes("rl"));
}

/// Loads the library as a script, and returns its digest.
pub fn load_script(con: &mut Connection) -> String {
    read(ok(cmd!(*con, "SCRIPT", "LOAD", LIBRARY)))
}

/// How a call of the library is sent.
#[derive(Clone, Debug)]
pub enum Form {
    Function,
    Script(String),
}

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

    pub fn library(&self, form: &Form) -> Cmd {
        let mut command = redis::cmd(if matches!(form, Form::Function) { "FCALL" } else { "EVALSHA" });
        match form {
            Form::Function => command.arg(self.name),
            Form::Script(digest) => command.arg(digest),
        };
        command.arg(self.limits.len());
        self.limits.iter().for_each(|(key, _)| _ = command.arg(key));
        if matches!(form, Form::Script(_)) {
            command.arg(self.name);
        }
        self.limits.iter().for_each(|(_, words)| _ = command.arg(words));
        command.arg(&self.tail);
        command
    }
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
