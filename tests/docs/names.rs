//! What the pages name: targets of make and paths of the repository exist.

use std::fs;
use std::path::Path;
use std::process::Command;

use comrak::nodes::NodeValue;

use crate::support::algorithm_words;
use crate::{Page, pages, root};

/// The text that is for copying: blocks of the shell, and code in a sentence.
fn code_of(page: &Page) -> Vec<String> {
    let mut code: Vec<String> = page
        .blocks("sh")
        .into_iter()
        .flat_map(|(_, text)| text.lines().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    page.visit(|node| {
        if let NodeValue::Code(inline) = &node.data.borrow().value {
            code.push(inline.literal.clone());
        }
    });
    code
}

/// What nothing else asks for when an algorithm is added: in the lines of a file that begin so, or in all of it, and for
/// which algorithms.
#[test]
fn each_algorithm_has_its_place() {
    type Can = fn(&serde_json::Value) -> bool;
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    let table: serde_json::Value = serde_json::from_str(&read("vectors/capabilities.json")).expect("JSON");
    let places: [(&str, &str, &str, Can); 7] = [
        ("README.md", "", "[`RL.NAME`]", |_| true),
        ("benches/budget.md", "| RL.", "| RL.NAME ", |_| true),
        ("docs/operations.md", "  +rl.", " +rl.name ", |_| true),
        ("docs/algorithms.md", "| [", "| [`NAME`](#name) |", |_| true),
        ("docs/algorithms.md", "## ", "## NAME\n", |_| true),
        ("docs/commands.md", "`<ALGO>` is ", " NAME", |_| true),
        ("docs/records.md", "- A form that differs", "`LETTER:`", |can| !can["letter"].is_null()),
    ];
    let mut missing = Vec::new();
    for (path, begin, place, can_do) in places {
        let text: String = read(path).split_inclusive('\n').filter(|line| line.starts_with(begin)).collect();
        for (name, can) in table["algorithms"].as_object().expect("algorithms").iter().filter(|(_, can)| can_do(can)) {
            let place = place.replace("NAME", name).replace("name", &name.to_lowercase());
            let place = place.replace("LETTER", can["letter"].as_str().unwrap_or_default());
            missing.extend((!text.contains(&place)).then(|| format!("{path}: {place}")));
        }
    }
    assert!(missing.is_empty(), "these are missing:\n{}", missing.join("\n"));
}

/// Tables of the pages with a row for each algorithm. The first cell of a row names one algorithm, or several.
#[test]
fn each_algorithm_has_its_row() {
    let tables = [
        ("docs/commands.md", "| algorithm | count | ttl"),
        ("docs/operations.md", "| algorithm | a key lives |"),
        ("docs/operations.md", "| algorithm | in the state |"),
    ];
    let mut missing = Vec::new();
    for (path, head) in tables {
        let text = fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        let rows = text.lines().skip_while(|line| !line.starts_with(head)).take_while(|line| line.starts_with('|'));
        let named: Vec<&str> =
            rows.filter_map(|row| row.split('|').nth(1)).flat_map(|cell| cell.trim().split(", ")).collect();
        let absent = algorithm_words().filter(|word| !named.contains(word));
        missing.extend(absent.map(|word| format!("{path}: {word} in the table \"{head}\"")));
    }
    assert!(missing.is_empty(), "these are missing:\n{}", missing.join("\n"));
}

#[test]
fn the_targets_of_make_exist() {
    // `make --print-data-base --question` prints every target, those made from lists too, and runs none.
    let made = Command::new("make").args(["-pqrR", "SERVERS=none"]).current_dir(root()).output().expect("make");
    let made = String::from_utf8_lossy(&made.stdout).into_owned();
    let targets: Vec<&str> =
        made.lines().find_map(|line| line.strip_prefix(".PHONY: ")).expect("targets").split(' ').collect();

    let mut missing = Vec::new();
    let mut named = 0;
    for page in pages() {
        for code in code_of(&page) {
            let Some(rest) = code.trim_start().strip_prefix("make ") else { continue };
            // `make build lint test SECONDS_EACH=5  # a comment`
            let words = rest.split(['#', '|', '&', ';']).next().unwrap_or_default().split_whitespace();
            for target in words.filter(|word| !word.contains('=') && !word.starts_with(['-', '…', '"'])) {
                named += 1;
                if !targets.contains(&target) {
                    missing.push(format!("{}: make {target}", page.path.display()));
                }
            }
        }
    }
    assert!(missing.is_empty() && named > 10, "{named} targets are named; these are missing:\n{}", missing.join("\n"));
}

#[test]
fn the_paths_of_the_repository_exist() {
    let mut missing = Vec::new();
    let mut named = 0;
    for page in pages() {
        // What was true of an older version.
        if page.path.ends_with("CHANGELOG.md") {
            continue;
        }
        let dir = page.path.parent().unwrap_or(Path::new("")).to_owned();
        for word in code_of(&page).iter().flat_map(|code| code.split([' ', '=', '"', '\'', ':', ',', '(', ')'])) {
            let word = word.trim_end_matches(['.', ';']);
            let Some((first, _)) = word.split_once('/') else { continue };
            let made =
                ["target", "dist", "node_modules"].contains(&first) || word.contains(['<', '*', '…', '$', '{', '\\']);
            // Names such as valkey/valkey are not of this repository. src/ in the page of a client is not that of the module,
            // src/main/ is that of an application in Java, and pytest names files from the directory of a client.
            let of_another = page.path.starts_with("clients") && first == "src" || word.starts_with("src/main/");
            if made || of_another || first.is_empty() || first.starts_with('.') || !root().join(first).is_dir() {
                continue;
            }
            named += 1;
            if !root().join(word).exists() && !root().join(&dir).join(word).exists() {
                missing.push(format!("{}: {word}", page.path.display()));
            }
        }
    }
    assert!(missing.is_empty() && named > 10, "{named} paths are named; these are missing:\n{}", missing.join("\n"));
}

/// A page names a test as `tests/module/info.rs::its_name`.
#[test]
fn the_tests_that_pages_name_exist() {
    let names = |page: &Page| {
        code_of(page).into_iter().filter(|code| code.contains(".rs::") || code.contains(".py::")).collect::<Vec<_>>()
    };
    let named: Vec<String> = pages().iter().flat_map(names).collect();
    let missing = named.iter().filter(|code| {
        let (path, test) = code.split_once("::").unwrap_or((code, ""));
        let text = fs::read_to_string(root().join(path)).unwrap_or_default();
        !["fn", "def"]
            .iter()
            .any(|word| text.contains(&format!("{word} {test}(")) || text.contains(&format!("{word} {test}<")))
    });
    let missing: Vec<_> = missing.collect();
    assert!(
        missing.is_empty() && named.len() > 10,
        "{} tests are named; these are missing:\n{missing:#?}",
        named.len()
    );
}

/// An excerpt shows lines of an example that runs.
#[test]
fn excerpts_are_of_examples_that_run() {
    let excerpts = [
        ("README.md", "python", 0, "clients/python/README.md"),
        ("README.md", "js", 0, "clients/node/README.md"),
        ("clients/rust/README.md", "rust,ignore", 0, "clients/rust/examples/axum/server.rs"),
        ("clients/rust/README.md", "rust,ignore", 1, "clients/rust/src/lib.rs"),
    ];
    for (page, language, number, source) in excerpts {
        let source = Page::read(Path::new(source)).text;
        let blocks = Page::read(Path::new(page)).blocks(language);
        let (_, excerpt) = blocks.get(number).unwrap_or_else(|| panic!("{page} has no {language}"));
        let other: Vec<_> = excerpt.lines().filter(|line| !source.contains(line)).collect();
        assert!(other.is_empty(), "{page} shows lines of no example: {other:?}");
    }
    // The tests of the adapters run the blocks of their pages.
}

/// The commands that a newcomer is given are those that the CI runs on a new machine.
#[test]
fn the_readme_says_how_to_run_and_how_to_test() {
    let blocks = Page::read(Path::new("README.md")).blocks("sh");
    let (_, first) = blocks.first().expect("a block");
    let commands: Vec<_> = first.lines().map(|line| line.split(" #").next().unwrap_or(line).trim()).collect();
    assert_eq!(commands, ["make run", "make test"]);
    let ci = Page::read(Path::new(".ci/run")).text;
    assert!(ci.lines().any(|line| line == "step test make test"), "the CI runs another command");
}
