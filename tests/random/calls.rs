//! Calls that the module and the Lua scripts take, and their replies.

use redis::{Cmd, Value};
use redis_rl_algorithm::Name;

use crate::support::scripts::{script, script_of_several};
use crate::support::{Reply, err};

/// A call of both sides.
#[derive(Clone, Debug)]
pub struct Call {
    /// `rl` for a check, `rl_peek` and so on.
    pub name: &'static str,
    /// Each key, and the words that follow it: of the native command, but for the key. The first is the algorithm, if
    /// the command takes one.
    pub limits: Vec<(Vec<u8>, Vec<Vec<u8>>)>,
    /// FULL or HEADERS.
    pub tail: Vec<Vec<u8>>,
}

impl Call {
    /// `rl user TOKEN 60 5`: the name, a key, and the words.
    pub fn of(words: &str) -> Self {
        let mut words = words.split(' ');
        let name = words.next().expect("a name");
        let name = ["rl", "rl_peek", "rl_refund", "rl_settle", "rl_reset", "rl_release", "rl_renew"]
            .into_iter()
            .find(|known| *known == name)
            .expect("a known name");
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
            "rl_multi" | "rl_share" => {
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

    /// The call of a script; `None` if there is none for it.
    pub fn script(&self) -> Option<Cmd> {
        let (first, skipped) = match self.name {
            "rl" => ("CHECK", 1),
            "rl_release" | "rl_renew" => (&*self.name[3..].to_uppercase(), 0),
            name => (&*name[3..].to_uppercase(), usize::from(!matches!(name, "rl_multi" | "rl_share"))),
        };
        let known = |words: &Vec<Vec<u8>>| Name::from_word(words.first()?);
        let algorithms = self.limits.iter().filter_map(|(_, words)| known(words)).map(Name::word);
        let source = match self.name {
            "rl_multi" | "rl_share" => script_of_several(algorithms),
            "rl_release" | "rl_renew" => script("LEASE"),
            _ => script(known(&self.limits[0].1)?.word()),
        };
        let mut command = redis::cmd("EVAL");
        command.arg(source).arg(self.limits.len()).arg(self.limits.iter().map(|(key, _)| key).collect::<Vec<_>>());
        command.arg(first);
        if matches!(self.name, "rl_multi" | "rl_share") {
            command.arg(self.limits.len());
        }
        self.limits.iter().for_each(|(_, words)| _ = command.arg(&words[skipped..]));
        command.arg(&self.tail);
        Some(command)
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

impl Answer {
    /// Whether a script has only the error that the module is needed.
    pub fn needs_module(&self) -> bool {
        let of_module = ["load the module", "only the module has it"];
        matches!(self, Self::Error(error) if of_module.iter().any(|text| error.contains(text)))
    }

    /// Whether a script replies what the module does: its errors are the beginnings of the module's.
    pub fn is_that_of(&self, module: &Self) -> bool {
        match (self, module) {
            (Self::Error(error), Self::Error(of_module)) => of_module.starts_with(error.as_str()),
            (script, module) => script == module,
        }
    }

    pub fn outcome(&self) -> &'static str {
        match self {
            Self::Error(_) => "errors",
            Self::Value(Value::Array(parts)) => match parts.as_slice() {
                [Value::BulkString(_), Value::Int(0), ..] | [Value::Int(0), ..] => "denied",
                _ => "allowed",
            },
            Self::Value(Value::BulkString(line)) => {
                if line.starts_with(b"0 ") {
                    "denied"
                } else {
                    "allowed"
                }
            }
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
