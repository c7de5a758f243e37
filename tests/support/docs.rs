//! What COMMAND DOCS says of the arguments of the commands: the tests know from there which command takes which option.

use std::collections::BTreeMap;

use redis::{Connection, FromRedisValue, Value};

use super::{algorithm_words, ok, read};

/// An argument of a command.
#[derive(Debug)]
struct Argument {
    name: String,
    kind: String,
    token: Option<String>,
    /// What a block or a choice consists of.
    inner: Vec<Argument>,
}

impl Argument {
    /// From a map, or from the flat array that a map is on RESP2.
    #[track_caller]
    fn new(value: Value) -> Self {
        let mut fields: BTreeMap<String, Value> = read(value);
        let mut field = |name: &str| fields.remove(name);
        let inner: Vec<Value> = field("arguments").map_or(Vec::new(), read);
        Self {
            name: field("name").map(read).expect("a name"),
            kind: field("type").map(read).expect("a type"),
            token: field("token").map(read),
            inner: inner.into_iter().map(Self::new).collect(),
        }
    }
}

/// The arguments of a command, in order.
#[track_caller]
fn arguments_of(con: &mut Connection, command: &str) -> Vec<Argument> {
    let docs: BTreeMap<String, BTreeMap<String, Value>> =
        read(ok(redis::cmd("COMMAND").arg("DOCS").arg(command).query(con)));
    let mut docs = docs.into_values().next().unwrap_or_else(|| panic!("no docs of {command}"));
    let arguments = Vec::from_redis_value(docs.remove("arguments").expect("arguments")).expect("a list");
    arguments.into_iter().map(Argument::new).collect()
}

/// The words of all algorithms.
pub fn algorithms(con: &mut Connection) -> Vec<String> {
    let words = arguments_of(con, "RL.RESET").swap_remove(0).inner;
    words.into_iter().filter_map(|word| word.token).collect()
}

/// The commands that take options, as errors name them.
pub const TAKERS: [&str; 7] = ["RL.<ALGO>", "RL.PEEK", "RL.MULTI", "RL.SHARE", "RL.REFUND", "RL.SETTLE", "RL.RESET"];

/// Which command takes which option, for which algorithm.
#[derive(Debug)]
pub struct Grammar {
    /// The options of a command, or of `RL.<ALGO>` with one algorithm, in order.
    by_command: BTreeMap<String, Vec<Argument>>,
}

impl Grammar {
    /// As the server documents it.
    #[track_caller]
    pub fn of(con: &mut Connection) -> Self {
        let of_algorithms = algorithm_words().map(|word| format!("RL.{word}"));
        let commands = of_algorithms.chain(TAKERS[1..].iter().map(ToString::to_string));
        let by_command = commands.map(|command| {
            let mut arguments = arguments_of(con, &command);
            if let Some(block) = arguments.iter_mut().find(|argument| argument.name == "limits") {
                // The options of a limit of RL.MULTI are in the block that repeats.
                arguments = std::mem::take(&mut block.inner);
            }
            arguments.retain(|argument| argument.token.is_some());
            (command, arguments)
        });
        Self { by_command: by_command.collect() }
    }

    /// The options of a command for an algorithm, in order.
    fn taken(&self, taker: &str, algorithm: &str) -> Vec<&Argument> {
        let of_check = &self.by_command[&format!("RL.{algorithm}")];
        if taker == TAKERS[0] {
            return of_check.iter().collect();
        }
        // An option that no RL.<ALGO> takes is one of every algorithm; RESERVATION settles what RESERVE charged.
        let takes = |token: &str| {
            let token = if token == "RESERVATION" { "RESERVE" } else { token };
            let has = |arguments: &[Argument]| arguments.iter().any(|one| one.token.as_deref() == Some(token));
            has(of_check) || !self.checks().any(|(_, arguments)| has(arguments))
        };
        let arguments = self.by_command[taker].iter();
        arguments.filter(|argument| argument.token.as_deref().is_some_and(takes)).collect()
    }

    /// Whether a command takes an option for an algorithm.
    pub fn takes(&self, taker: &str, algorithm: &str, option: &str) -> bool {
        self.taken(taker, algorithm).iter().any(|argument| argument.token.as_deref() == Some(option))
    }

    /// Whether an option of other commands is none of this one, for any algorithm.
    fn taken_by_none(&self, taker: &str, option: &str) -> bool {
        self.options().contains_key(option) && !algorithm_words().any(|word| self.takes(taker, word, option))
    }

    /// Every option that some command takes: its word, and whether it has a value.
    pub fn options(&self) -> BTreeMap<String, bool> {
        let all = self.by_command.values().flatten();
        all.filter_map(|argument| Some((argument.token.clone()?, argument.kind != "pure-token"))).collect()
    }

    /// The commands that take an option, for any algorithm: "only RL.REFUND and RL.SETTLE take it".
    pub fn only(&self, option: &str) -> String {
        let takers: Vec<&str> = TAKERS.into_iter().filter(|taker| !self.taken_by_none(taker, option)).collect();
        match takers.as_slice() {
            [one] => format!("only {one} takes it"),
            [first @ .., last] => format!("only {} and {last} take it", first.join(", ")),
            [] => panic!("nothing takes {option}"),
        }
    }

    fn checks(&self) -> impl Iterator<Item = (&String, &Vec<Argument>)> {
        self.by_command.iter().filter(|(command, _)| !TAKERS.contains(&command.as_str()))
    }
}
