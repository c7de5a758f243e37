//! docs/commands.md beside COMMAND DOCS, COMMAND INFO and RL.HELP.
//!
//! A section is named after its command. It begins with the summary and a `text` block with the syntax; a list below
//! has the complexity, the version and the ACL categories.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use redis::{Connection, FromRedisValue, Value};

use crate::Page;
use crate::support::{Server, for_each_server};

/// Registered under two names; RL.HELP and the page have it once.
const ALIASES: [&str; 1] = ["CL.THROTTLE"];

#[test]
fn the_page_says_what_the_server_says() {
    let page = Page::read(Path::new("docs/commands.md")).text;
    let section = |section: &str| {
        let (title, text) = section.split("\n## ").next()?.split_once('\n')?;
        let name = title.split_whitespace().next().filter(|name| name.starts_with("RL."))?;
        Some((name.to_owned(), joined(text)))
    };
    let sections: BTreeMap<String, String> = page.split("\n### ").skip(1).filter_map(section).collect();
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con3();
        let names: Vec<String> = ask(&mut con, &["COMMAND", "LIST", "FILTERBY", "MODULE", "rl"]);
        let names: BTreeSet<String> = names.iter().map(|name| name.to_uppercase()).collect();
        assert!(names.iter().filter(|name| !ALIASES.contains(&name.as_str())).eq(sections.keys()), "{names:?}");

        let mut help: BTreeSet<String> = ask::<Vec<_>>(&mut con, &["RL.HELP"]).into_iter().collect();
        for (name, section) in &sections {
            let docs: BTreeMap<String, BTreeMap<String, Value>> = ask(&mut con, &["COMMAND", "DOCS", name]);
            let docs = docs.into_values().next().unwrap_or_else(|| panic!("no docs of {name}"));
            let [summary, complexity, since] =
                ["summary", "complexity", "since"].map(|field| read::<String>(&docs[field]));
            let arguments: Vec<Argument> = docs.get("arguments").map_or(Vec::new(), read);
            let syntax: Vec<String> = [name.clone()].into_iter().chain(arguments.iter().map(syntax)).collect();
            let syntax = syntax.join(" ");
            let begins = format!("{summary} ```text {syntax} ``` ");
            assert!(section.starts_with(&begins), "{name}: the server says {begins}, the page {section}");
            let list = format!(" - Complexity: {complexity} - Since: {since} - ACL: ");
            let found = section.split_once(&list);
            let (_, acl) = found.unwrap_or_else(|| panic!("{name}: the server says {list}, the page {section}"));
            let said: BTreeSet<&str> = acl.split(' ').map_while(|word| word.strip_prefix("`@")).collect();
            let info: Vec<Vec<Value>> = ask(&mut con, &["COMMAND", "INFO", name]);
            let categories: Vec<String> = read(&info[0][6]);
            // Before Redis 7.4 a command of a module is in no category but those that its flags name.
            if categories.iter().any(|name| name == "@ratelimit" || name == "@admin") {
                let real = categories.iter().map(|category| format!("{}`", &category[1..]));
                assert_eq!(real.collect::<BTreeSet<_>>(), said.into_iter().map(str::to_owned).collect(), "{name}");
            }
            let costs = complexity.contains("RESERV");
            assert_eq!(syntax.contains("[RESERV"), costs, "{name}: what the reservations that have ended cost");
            assert!(help.remove(&format!("{syntax}: {summary}")), "{name} in RL.HELP: {help:?}");
        }
        assert!(help.is_empty(), "more in RL.HELP: {help:?}");
    });
}

/// With single blanks.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn ask<T: FromRedisValue>(con: &mut Connection, words: &[&str]) -> T {
    redis::cmd(words[0]).arg(&words[1..]).query(con).unwrap_or_else(|error| panic!("{words:?}: {error}"))
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
