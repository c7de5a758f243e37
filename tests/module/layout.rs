//! Who may import whom in `src/`: arrows go one way, so a reader can start at either end.

use std::fs;
use std::path::{Path, PathBuf};

/// Each part of `src/`, and the parts that it may name. `lib.rs` may name all.
const MAY_NAME: &[(&str, &[&str])] = &[
    ("command", &["config", "denied", "error", "ffi", "stats", "store"]),
    ("info", &["command", "config", "denied", "ffi", "stats"]),
    ("config", &["denied", "ffi"]),
    ("denied", &["ffi"]),
    ("store", &["error", "ffi"]),
    ("stats", &[]),
    ("error", &[]),
    ("ffi", &[]),
];

fn sources(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).expect("a directory") {
        let path = entry.expect("a file").path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

/// The parts that a text names: `crate::ffi`, and those of `use crate::{denied, ffi}`.
fn named(text: &str) -> Vec<String> {
    let mut parts = Vec::new();
    for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
        for rest in line.split("crate::").skip(1) {
            let list = rest.strip_prefix('{').and_then(|list| list.split('}').next());
            let names = list.map_or(vec![rest], |list| list.split(',').map(str::trim).collect());
            let word = |name: &str| name.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
            parts.extend(names.into_iter().map(word));
        }
    }
    parts
}

#[test]
fn imports_go_one_way() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut wrong, mut arrows) = (Vec::new(), 0);
    for path in sources(&src) {
        let below = path.strip_prefix(&src).expect("a path in src");
        let part = below.components().next().expect("a name").as_os_str().to_str().expect("text");
        let part = part.trim_end_matches(".rs");
        if part == "lib" {
            continue;
        }
        let Some((_, allowed)) = MAY_NAME.iter().find(|(name, _)| *name == part) else {
            panic!("{part} is not in the table: say there what it may import");
        };
        for other in named(&fs::read_to_string(&path).expect("a text")) {
            if other == part || !MAY_NAME.iter().any(|(name, _)| *name == other) {
                continue;
            }
            arrows += 1;
            if !allowed.contains(&other.as_str()) {
                wrong.push(format!("{} names {other}", below.display()));
            }
        }
    }
    assert!(arrows > 50, "{arrows} imports were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The table itself has no circle.
#[test]
fn the_table_has_no_circle() {
    let mut left: Vec<_> = MAY_NAME.to_vec();
    while !left.is_empty() {
        let names: Vec<&str> = left.iter().map(|(name, _)| *name).collect();
        let before = left.len();
        left.retain(|(_, allowed)| allowed.iter().any(|other| names.contains(other)));
        assert!(left.len() < before, "a circle among {names:?}");
    }
}
