//! What the pages name: targets of make and paths of the repository exist.

use std::fs;

use comrak::nodes::NodeValue;

use crate::{Page, pages, root};

/// The text that is for copying: blocks of the shell, and code in a sentence.
pub fn code_of(page: &Page) -> Vec<String> {
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

#[test]
fn the_targets_of_make_exist() {
    let read = |file: &str| fs::read_to_string(root().join(file)).expect(file);
    let mut makefile = read("Makefile");
    let included = makefile.lines().find_map(|line| line.strip_prefix("include $(addsuffix /targets.mk,"));
    let directories =
        included.and_then(|line| line.strip_suffix(')')).expect("the directories with targets").to_owned();
    directories.split(' ').for_each(|directory| makefile += &read(&format!("{directory}/targets.mk")));
    // Some targets are made from a list: bench-memory …
    let benches = makefile.lines().find_map(|line| line.strip_prefix("BENCHES := ")).expect("the benches");
    let mut targets: Vec<String> = benches.split(' ').map(|bench| format!("bench-{bench}")).collect();
    targets.extend(makefile.lines().filter_map(|line| line.strip_prefix(".PHONY: ")).map(str::to_owned));

    let mut missing = Vec::new();
    let mut named = 0;
    for page in pages() {
        for code in code_of(&page) {
            let Some(rest) = code.trim_start().strip_prefix("make ") else { continue };
            // `make build lint test SECONDS_EACH=5  # a comment`
            let words = rest.split(['#', '|', '&', ';']).next().unwrap_or_default().split_whitespace();
            for target in words.filter(|word| !word.contains('=') && !word.starts_with(['-', '…', '"'])) {
                named += 1;
                if !targets.iter().any(|known| known == target) {
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
        let dir = page.path.parent().unwrap_or(std::path::Path::new("")).to_owned();
        for word in code_of(&page).iter().flat_map(|code| code.split([' ', '=', '"', '\'', ':', ',', '(', ')'])) {
            let word = word.trim_end_matches(['.', ';']);
            let Some((first, _)) = word.split_once('/') else { continue };
            let made =
                ["target", "dist", "node_modules"].contains(&first) || word.contains(['<', '*', '…', '$', '{', '\\']);
            // Names such as valkey/valkey are not of this repository. src/ in the page of a client is not that of the module.
            let of_a_client = page.path.starts_with("clients") && first == "src";
            if made || of_a_client || first.is_empty() || first.starts_with('.') || !root().join(first).is_dir() {
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
