//! Imports go one way, between files and between crates: a reader can begin at either end.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Sources whose files do not import one another in a circle, and how their names end.
const SOURCES: [(&str, &str); 8] = [
    ("src", "rs"),
    ("algorithm/src", "rs"),
    ("clients/rust/src", "rs"),
    ("service/src", "rs"),
    ("service/rules/src", "rs"),
    ("tests/proofs/src", "rs"),
    ("clients/python/limits_redis_rl", "py"),
    ("clients/node/src", "ts"),
];

/// The crates of this repository that each crate may use.
const MAY_USE: [(&str, &[&str]); 6] = [
    ("algorithm", &[]),
    ("clients/rust", &["redis-rl-algorithm"]),
    ("service/rules", &["redis-rl-client"]),
    ("service", &["redis-rl-algorithm", "redis-rl-client", "rlaas-rules"]),
    ("tests/proofs", &["redis-rl-algorithm", "redis-rl-client"]),
    (".", &["redis-rl-algorithm"]),
];

/// The path of a file below its root, or of a name in it: `["store", "record", "Record"]`.
type Names = Vec<String>;
type Arrows = BTreeSet<(Names, Names)>;

/// The sources below a directory, without tests.
pub fn sources(dir: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).expect("a directory").map(|entry| entry.expect("a file").path());
    let (dirs, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let is_product = |path: &&PathBuf| !["tests", "test", "node_modules"].iter().any(|name| path.ends_with(name));
    let here = files.into_iter().filter(|path| path.extension().is_some_and(|found| found == ending));
    dirs.iter().filter(is_product).flat_map(|path| sources(path, ending)).chain(here).collect()
}

fn names(path: &str) -> Names {
    path.split(['/', ':', '.']).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// What a file imports of its own sources, as paths from their root. `of` is its own path.
fn imports(of: &[String], text: &str, ending: &str) -> Vec<Names> {
    let above = |ups: usize, rest: &[String]| [&of[..of.len().saturating_sub(ups)], rest].concat();
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().lines();
    let code: Vec<_> = code.filter(|line| !line.trim_start().starts_with(['/', '*', '#'])).collect();
    let (text, mut found) = (code.join("\n"), Vec::new());
    match ending {
        "rs" => {
            let begins = |at: &usize| !text[..*at].ends_with(|c| is_word(c) || c == ':');
            let all = text.match_indices("crate::").chain(text.match_indices("super::")).map(|(at, _)| at);
            for at in all.filter(begins) {
                let (path, rest) = text[at..].split_at(text[at..].find(|c: char| !is_word(c) && c != ':').unwrap_or(0));
                let group = rest.strip_prefix('{').and_then(|group| group.split(';').next()).unwrap_or_default();
                for item in group.split(|c: char| !is_word(c) && c != ':') {
                    let path = [names(path), names(item)].concat();
                    let ups = path.iter().take_while(|part| *part == "super").count();
                    found.push(if path[0] == "crate" { path[1..].to_vec() } else { above(ups, &path[ups..]) });
                }
            }
        }
        "py" => {
            for (module, imported) in
                code.iter().filter_map(|line| line.trim().strip_prefix("from .")?.split_once(" import "))
            {
                let base = above(1 + module.len() - module.trim_start_matches('.').len(), &names(module));
                found.extend(imported.split(|c| !is_word(c)).map(|name| [base.clone(), names(name)].concat()));
            }
        }
        _ => {
            for path in text.split('\'').filter_map(|text| text.strip_prefix('.')?.strip_suffix(".js")) {
                found.push(above(1 + usize::from(path.starts_with("./")), &names(path)));
            }
        }
    }
    found
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The imports between files. A directory's own file and those in it are one.
fn arrows(src: &str, ending: &str) -> Arrows {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(src);
    let mut tree = BTreeMap::new();
    for path in sources(&root, ending) {
        let of = names(path.strip_prefix(&root).expect("a path below").with_extension("").to_str().expect("text"));
        let is_own = of.last().is_some_and(|name| ["mod", "lib", "__init__"].contains(&name.as_str()));
        let short = of[..of.len() - usize::from(is_own)].to_vec();
        let text = fs::read_to_string(&path).expect("a text");
        tree.insert(short.clone(), imports(if ending == "rs" { &short } else { &of }, &text, ending));
    }
    let mut arrows = Arrows::new();
    for (from, path) in tree.iter().flat_map(|(from, paths)| paths.iter().map(move |path| (from, path))) {
        let to = (0..=path.len()).rev().map(|end| &path[..end]).find(|path| tree.contains_key(*path)).unwrap_or(from);
        if !from.starts_with(to) && !to.starts_with(from) {
            arrows.insert((from.clone(), to.to_vec()));
        }
    }
    arrows
}

/// Those that are part of a circle, or lead from one circle to another: the others have an end that imports nothing, or that
/// nothing imports.
fn circles(arrows: &Arrows) -> Vec<String> {
    let mut left = arrows.clone();
    loop {
        let (from, to): (BTreeSet<_>, BTreeSet<_>) = left.iter().cloned().unzip();
        left.retain(|arrow| to.contains(&arrow.0) && from.contains(&arrow.1));
        if from == to {
            return left.iter().map(|(from, to)| format!("{} imports {}", from.join("/"), to.join("/"))).collect();
        }
    }
}

#[test]
fn no_files_import_each_other() {
    let found = SOURCES.map(|(src, ending)| circles(&arrows(src, ending))).concat();
    assert!(found.is_empty(), "files that import each other: {found:#?}");
}

#[test]
fn crates_use_those_below_them() {
    for (dir, allowed) in MAY_USE {
        let manifest = format!("{}/{dir}/Cargo.toml", env!("CARGO_MANIFEST_DIR"));
        let manifest = fs::read_to_string(manifest).expect("a manifest");
        let (_, rest) = manifest.split_once("\n[dependencies]\n").expect("dependencies");
        let own = rest.lines().take_while(|line| !line.starts_with('['));
        let used = own.filter(|line| line.contains("path = ")).filter_map(|line| line.split(' ').next());
        used.for_each(|name| assert!(allowed.contains(&name), "{dir} uses {name}"));
    }
}

#[test]
fn imports_and_circles_are_found() {
    let found = |of: &str, text: &str, ending: &str| {
        imports(&names(of), text, ending).iter().map(|path| path.join("/")).collect::<Vec<_>>()
    };
    let rust = "use crate::ffi::{Ctx, key::{Key, Kind}};\nfn f() { super::super::g(1) }";
    assert!(["ffi/Ctx", "ffi/key", "g"].iter().all(|name| found("store/a", rust, "rs").contains(&(*name).to_owned())));
    assert_eq!(found("a/b", "from . import c\nfrom ..d import e", "py"), ["a/c", "d/e"]);
    assert_eq!(found("a/b", "import { c } from '../d.js'\nimport './e.js'", "js"), ["d", "a/e"]);
    let arrows = [("a", "b"), ("b", "c"), ("c", "a"), ("d", "a")].map(|(from, to)| (names(from), names(to)));
    assert_eq!(circles(&arrows.into()), ["a imports b", "b imports c", "c imports a"]);
}
