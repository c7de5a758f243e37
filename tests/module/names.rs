//! What an algorithm can do is asked of the table in `algorithm/src/table.rs`. A place that names an algorithm instead is
//! one that the next algorithm is missing from, so it says in a comment what is special there.

use std::fs;
use std::path::Path;

use redis_rl_algorithm::Name;

use crate::layout::sources;

/// What may be about all algorithms. The table of the commands has a row for each.
const PARTS: [&str; 3] = ["src", "clients/rust/src", "service"];
const COMMANDS: &str = "src/command/algorithms.rs";

/// The lines that name an algorithm, with the line before them. Tests come last in a file.
fn naming(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let product = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let names = |line: &str| {
        let variants = Name::ALL.map(|name| format!("{name:?}"));
        let by_variant = ["Name::", "Algorithm::"].iter().flat_map(|start| line.split(start).skip(1)).any(|rest| {
            let word: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            variants.contains(&word) || rest.starts_with(['{', '*'])
        });
        by_variant || Name::ALL.iter().any(|name| line.contains(&format!("{:?}", name.word())))
    };
    let before = std::iter::once("").chain(product.lines());
    let lines = product.lines().zip(before).enumerate();
    let silent = lines.filter(move |(_, (line, before))| names(line) && !before.contains("// Special: "));
    silent.map(|(at, (line, _))| (at + 1, line.trim()))
}

#[test]
fn a_place_that_names_an_algorithm_says_what_is_special() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for path in PARTS.iter().flat_map(|part| sources(&root.join(part), "rs")) {
        let below = path.strip_prefix(root).expect("a path below").to_str().expect("text");
        if below == COMMANDS || below.split('/').any(|part| ["tests", "tests.rs"].contains(&part)) {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a text");
        found.extend(naming(&text).map(|(line, code)| format!("{below}:{line}: {code}")));
    }
    assert!(found.is_empty(), "ask Name::traits, or say `// Special: …` in the line before:\n{}", found.join("\n"));
}

#[test]
fn a_name_is_found_where_no_comment_excuses_it() {
    let text = "if name == Name::Lease {\n// Special: x\nmatch Algorithm::Token {\nuse Algorithm::{Fixed};\nName::ALL;\n\
                if word == \"TOKEN\" {\n#[cfg(test)]\nmod tests {\nName::Lease";
    assert_eq!(naming(text).map(|(line, _)| line).collect::<Vec<_>>(), [1, 4, 6]);
}
