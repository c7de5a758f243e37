//! docs/commands.md beside COMMAND DOCS, COMMAND INFO and RL.HELP.
//!
//! The list of all commands is what the server says; `UPDATE=1 cargo test --test docs` writes it. Each command has a
//! heading too, if there is more to say.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use redis::{Connection, FromRedisValue, Value};

use crate::support::{Server, algorithm_words, for_each_server};
use crate::{Page, root};

const PAGE: &str = "docs/commands.md";
const BEGIN: &str = "<!-- begin: COMMAND DOCS -->\n";
const END: &str = "<!-- end: COMMAND DOCS -->\n";

/// Registered under two names; RL.HELP and the page have it once.
const ALIASES: [&str; 1] = ["CL.THROTTLE"];

/// What the server says of a command.
struct About {
    summary: String,
    syntax: String,
    complexity: String,
    /// Sorted. Empty where the server has no categories for modules.
    categories: Vec<String>,
}

#[test]
fn the_page_says_what_the_server_says() {
    let page = Page::read(Path::new(PAGE)).text;
    let (before, rest) = page.split_once(BEGIN).expect("the begin of the list");
    let (list, after) = rest.split_once(END).expect("the end of the list");
    let update = std::env::var("UPDATE").is_ok_and(|update| update == "1");
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con3();
        // In the order of RL.HELP.
        let help: Vec<String> = ask(&mut con, &["RL.HELP"]);
        let abouts: Vec<About> = help.iter().map(|line| about(&mut con, line.split(' ').next().unwrap())).collect();
        for (about, helped) in abouts.iter().zip(&help) {
            assert_eq!(format!("{}: {}", about.syntax, about.summary), *helped, "(left: COMMAND DOCS, right: RL.HELP)");
            let (syntax, complexity) = (&about.syntax, &about.complexity);
            let of_reservations = syntax.contains("[RESERV") == complexity.contains("RESERV");
            assert!(of_reservations, "{syntax}: what the reservations that have ended cost");
            assert!(about.categories.is_empty() || about.categories == about.expected(), "{syntax}");
        }
        let mut names: Vec<String> = ask(&mut con, &["COMMAND", "LIST", "FILTERBY", "MODULE", "rl"]);
        names.retain(|name| !ALIASES.contains(&name.to_uppercase().as_str()));
        assert_eq!(names.len(), help.len(), "{names:?}");

        let real = list_of(&abouts);
        if update {
            fs::write(root().join(PAGE), format!("{before}{BEGIN}{real}{END}{after}")).expect("a page");
        } else {
            assert_eq!(list, real, "(left: the page, right: COMMAND DOCS)");
        }
    });
}

impl About {
    /// The categories that the page names below the list.
    fn expected(&self) -> Vec<&str> {
        match self.syntax.split(' ').next() {
            Some("RL.TOP") => vec!["@admin", "@dangerous"],
            Some("RL.PEEK" | "RL.HELP") => vec!["@fast", "@ratelimit", "@read"],
            _ => vec!["@fast", "@ratelimit", "@write"],
        }
    }
}

fn list_of(abouts: &[About]) -> String {
    // In the order of the commands.
    let words = abouts.iter().filter_map(|about| about.syntax.split(' ').next()?.strip_prefix("RL."));
    let words: Vec<&str> = words.filter(|word| algorithm_words().any(|known| known == *word)).collect();
    let algorithms = format!("<{}>", words.join(" | "));
    let line = |about: &About| without_repeats(&about.syntax.replace(&algorithms, "<ALGO>")) + "\n";
    let lines: Vec<String> = abouts.iter().map(line).collect();
    format!("```text\n{}```\n", lines.concat())
}

/// Says the limit of a call of several once: `limit [limit ...]` becomes `limit [...]`.
fn without_repeats(syntax: &str) -> String {
    let Some((before, after)) = syntax.split_once(" ...]") else { return syntax.to_owned() };
    let repeats = before.match_indices(" [").find(|(at, open)| before[..*at].ends_with(&before[at + open.len()..]));
    match repeats {
        Some((at, open)) if before.len() - at > 100 => format!("{}{open}...]{after}", &before[..at]),
        _ => syntax.to_owned(),
    }
}

/// With single blanks.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn ask<T: FromRedisValue>(con: &mut Connection, words: &[&str]) -> T {
    redis::cmd(words[0]).arg(&words[1..]).query(con).unwrap_or_else(|error| panic!("{words:?}: {error}"))
}

fn about(con: &mut Connection, name: &str) -> About {
    let docs: BTreeMap<String, BTreeMap<String, Value>> = ask(con, &["COMMAND", "DOCS", name]);
    let docs = docs.into_values().next().unwrap_or_else(|| panic!("no docs of {name}"));
    let info: Vec<Vec<Value>> = ask(con, &["COMMAND", "INFO", name]);
    let mut categories: Vec<String> = read(&info[0][6]);
    categories.sort();
    let arguments: Vec<Argument> = docs.get("arguments").map_or(Vec::new(), read);
    let syntax: Vec<String> = [name.to_owned()].into_iter().chain(arguments.iter().map(syntax)).collect();
    About {
        summary: read(&docs["summary"]),
        syntax: syntax.join(" "),
        complexity: read(&docs["complexity"]),
        // Before Redis 7.4 a command of a module is in no category but those that its flags name.
        categories: if categories.iter().any(|name| name == "@ratelimit" || name == "@admin") {
            categories
        } else {
            Vec::new()
        },
    }
}

type Argument = BTreeMap<String, Value>;

fn read<T: FromRedisValue>(value: &Value) -> T {
    T::from_redis_value(value.clone()).unwrap_or_else(|error| panic!("{error}"))
}

/// An argument as the documentation of Redis writes it.
fn syntax(argument: &Argument) -> String {
    let text = |field: &str| argument.get(field).map(read::<String>);
    let flags: Vec<String> = argument.get("flags").map_or(Vec::new(), read);
    let has = |flag: &str| flags.iter().any(|one| one == flag);
    let inner = || {
        let inner: Vec<Argument> = read(&argument["arguments"]);
        inner.iter().map(syntax).collect::<Vec<_>>()
    };
    let value = match text("type").expect("a type").as_str() {
        "pure-token" => String::new(),
        "oneof" if has("optional") => inner().join(" | "),
        "oneof" => format!("<{}>", inner().join(" | ")),
        "block" => inner().join(" "),
        _ => text("name").expect("a name"),
    };
    let one = joined(&format!("{} {value}", text("token").unwrap_or_default()));
    let all = if has("multiple") { format!("{one} [{one} ...]") } else { one };
    if has("optional") { format!("[{all}]") } else { all }
}
