//! docs/commands.md beside COMMAND DOCS, COMMAND INFO and RL.HELP.
//!
//! A section is named after its command. It begins with the summary and a `text` block with the syntax; a list below
//! has the complexity, the version and the ACL categories.

use std::collections::BTreeMap;
use std::path::Path;

use redis::{Connection, FromRedisValue, Value};

use crate::Page;
use crate::support::{Server, for_each_server};

/// Registered under two names; RL.HELP and the page have it once.
const ALIASES: [&str; 1] = ["CL.THROTTLE"];

/// What is said of a command, in the page or by the server.
#[derive(Debug, PartialEq, Eq)]
struct About {
    summary: String,
    syntax: String,
    complexity: String,
    since: String,
    /// Sorted. Empty where the server has no categories for modules.
    categories: Vec<String>,
}

#[test]
fn the_page_says_what_the_server_says() {
    let page = sections(&Page::read(Path::new("docs/commands.md")));
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con3();
        let names: Vec<String> = ask(&mut con, &["COMMAND", "LIST", "FILTERBY", "MODULE", "rl"]);
        let mut names: Vec<String> = names.iter().map(|name| name.to_uppercase()).collect();
        names.retain(|name| !ALIASES.contains(&name.as_str()));
        names.sort();
        assert_eq!(page.keys().cloned().collect::<Vec<_>>(), names, "the sections");

        for (name, said) in &page {
            let mut real = about(&mut con, name);
            if real.categories.is_empty() {
                real.categories.clone_from(&said.categories);
            }
            assert_eq!(*said, real, "{name} (left: the page, right: COMMAND DOCS)");
            assert_eq!(
                real.syntax.contains("[RESERV"),
                real.complexity.contains("RESERV"),
                "{name}: what the reservations that have ended cost"
            );
        }

        let help: Vec<String> = ask(&mut con, &["RL.HELP"]);
        let mut helped: Vec<_> =
            help.iter().map(|line| line.split_once(": ").expect("a syntax and a summary")).collect();
        helped.sort_unstable();
        let mut shown: Vec<_> = page.values().map(|about| (about.syntax.as_str(), about.summary.as_str())).collect();
        shown.sort_unstable();
        assert_eq!(shown, helped, "(left: the page, right: RL.HELP)");
    });
}

fn sections(page: &Page) -> BTreeMap<String, About> {
    let mut sections = BTreeMap::new();
    for section in page.text.split("\n### ").skip(1) {
        let section = section.split("\n## ").next().unwrap_or_default();
        let (title, rest) = section.split_once('\n').expect("a title");
        let Some(name) = title.split_whitespace().next().filter(|name| name.starts_with("RL.")) else { continue };
        let (summary, rest) = rest.split_once("```text\n").unwrap_or_else(|| panic!("{name} has no syntax"));
        let (syntax, rest) = rest.split_once("```").expect("the end of the syntax");
        let item = |item: &str| {
            let (_, text) = rest.split_once(&format!("\n- {item}: ")).unwrap_or_else(|| panic!("{name} has no {item}"));
            let lines = text.lines().enumerate();
            let lines = lines.take_while(|(number, line)| *number == 0 || line.starts_with("  ")).map(|(_, line)| line);
            joined(&lines.collect::<Vec<_>>().join(" "))
        };
        let mut categories: Vec<String> = item("ACL").split(' ').map(|word| word.replace('`', "")).collect();
        categories.sort();
        let about = About {
            summary: joined(summary),
            syntax: joined(syntax),
            complexity: item("Complexity"),
            since: item("Since"),
            categories,
        };
        assert!(sections.insert(name.to_owned(), about).is_none(), "{name} twice");
    }
    sections
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
        since: read(&docs["since"]),
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
