//! Who may import whom: arrows go one way, so a reader can start at either end.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The sources of each crate, its parts (a directory or a file), and the other parts that each may name: `part: others`.
/// The root of a crate, `lib.rs`, may name all.
const MAY_NAME: &[(&str, &str)] = &[
    (
        "src",
        "command: config denied error ffi stats store
        info: command config denied ffi stats
        config: denied ffi
        denied: ffi
        store: error ffi
        stats:
        error:
        ffi:",
    ),
    (
        "clients/rust/src",
        "layer: decision error guard limiter policy
        grants: core decision error fallback key limiter policy
        limiter: address breaker core counts decision error fallback guard link policy protocol stats
        state_machines: core decision error grants guard policy protocol
        link: address breaker core counts error protocol stats
        core: breaker counts decision error fallback key policy protocol stats
        guard: decision error policy
        protocol: counts decision error key policy
        counts: decision key policy stats
        address: error key
        stats: error fallback
        breaker:
        error:
        decision: policy
        fallback:
        policy: key
        key: policy",
    ),
    (
        "service/src",
        "cli: control decide go http serve simulate
        serve: control decide env go http net
        simulate: decide http
        http: decide net
        decide: control net throttle
        control: env go net
        net: throttle
        env: go
        throttle:
        go:",
    ),
    (
        "service/rules/src",
        "load: authorize fields files key model overrides pools problem rate wildcard yaml
        pools: fields key model overrides problem rate
        rate: defaults fields model problem yaml
        overrides: defaults fields files model problem rate yaml
        authorize: fields model yaml
        fields: model problem yaml
        key: matching model
        matching: model wildcard
        hash: model
        defaults: model
        model: problem wildcard
        yaml: problem
        files:
        problem:
        wildcard:",
    ),
    (
        "algorithm/src",
        "table: bucket fixed_window gcra lease lockout rolling_log sliding_counter sliding_log window_counter
        in_memory: fixed_window forecast integer lease period record reservation rolling_log sliding_log window_counter
        fixed_window: always arithmetic forecast period reservation
        window_counter: arithmetic fixed_window forecast reservation
        rolling_log: arithmetic forecast record reservation sliding_log
        sliding_counter: arithmetic forecast record
        sliding_log: arithmetic forecast
        bucket: arithmetic forecast record
        gcra: arithmetic forecast record
        lockout: arithmetic forecast record
        lease: arithmetic forecast
        always: arithmetic forecast
        reservation: integer record text
        record: integer text
        forecast: arithmetic
        arithmetic:
        integer:
        period:
        text:",
    ),
];

/// The crates of this repository that each crate may use.
const MAY_USE: &[(&str, &[&str])] = &[
    ("algorithm", &[]),
    ("clients/rust", &["redis-rl-algorithm"]),
    ("service/rules", &["redis-rl-client"]),
    ("service", &["redis-rl-algorithm", "redis-rl-client", "rlaas-rules"]),
    ("tests/proofs", &["redis-rl-algorithm", "redis-rl-client"]),
    (".", &["redis-rl-algorithm"]),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A file: what it names, and the names that it hands on, each with where it has it from.
struct Module {
    file: String,
    names: Vec<Names>,
    hands_on: Vec<(String, Names)>,
}

/// The path of a module or of a name in it, from the root of its crate: `["store", "record"]`.
type Names = Vec<String>;
type Tree = BTreeMap<Names, Module>;

/// The sources below a directory.
pub fn sources(dir: &Path) -> Vec<PathBuf> {
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

/// The text without comments, and without the tests at the end of a file.
fn code(text: &str) -> String {
    let tests = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    let lines = text[..tests].lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// The paths at the beginning of a text: of `a::{b, c::{d as e}};` these are `a::b` and `a::c::d`. Returns where they end.
fn paths(text: &str, head: &[String], found: &mut Vec<Names>) -> usize {
    let word =
        |at: usize| text[at..].find(|c: char| !c.is_alphanumeric() && c != '_').map_or(text.len(), |end| at + end);
    let (mut path, mut at) = (head.to_vec(), 0);
    while !text[at..].starts_with('{') {
        let end = word(at);
        path.extend((end > at).then(|| text[at..end].to_owned()));
        if !text[end..].starts_with("::") {
            found.push(path);
            return if text[end..].starts_with(" as ") { word(end + 4) } else { end };
        }
        at = end + 2;
    }
    at += 1;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.starts_with('}')) {
        let begins = rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        at += if begins { paths(rest, &path, found) } else { rest.chars().next().map_or(1, char::len_utf8) };
    }
    at + 1
}

/// The path from the root of the crate, of one that the module `of` names.
fn absolute(of: &[String], path: Names) -> Names {
    let ups = path.iter().take_while(|part| *part == "super").count();
    match path.first().map(String::as_str) {
        Some("crate") => path[1..].to_vec(),
        _ => [&of[..of.len().saturating_sub(ups)], &path[ups..]].concat(),
    }
}

fn module(of: &[String], file: String, text: &str) -> Module {
    let (mut names, mut hands_on) = (Vec::new(), Vec::new());
    for begin in ["crate::", "super::"] {
        let first = |at: &usize| !text[..*at].ends_with(|c: char| c.is_alphanumeric() || "_:".contains(c));
        for at in text.match_indices(begin).map(|(at, _)| at).filter(first) {
            paths(&text[at..], &[], &mut names);
        }
    }
    for (at, used) in text.match_indices(" use ") {
        if text[..at].rsplit('\n').next().is_some_and(|line| line.trim_start().starts_with("pub")) {
            let mut found = Vec::new();
            paths(&text[at + used.len()..], &[], &mut found);
            let with_name = |path: Names| Some((path.last()?.clone(), absolute(of, path)));
            hands_on.extend(found.into_iter().filter_map(with_name));
        }
    }
    Module { file, names: names.into_iter().map(|path| absolute(of, path)).collect(), hands_on }
}

/// The files of a crate by the paths of their modules. Of a program, `main.rs` only starts the library.
fn tree(src: &str) -> Tree {
    let src = root().join(src);
    let mut tree = Tree::new();
    for path in sources(&src) {
        let below = path.strip_prefix(&src).expect("a path in src").with_extension("");
        let mut of: Names = below.iter().map(|part| part.to_str().expect("text").to_owned()).collect();
        if !of.iter().any(|part| part == "tests" || part == "main") {
            of.pop_if(|last| last == "mod" || last == "lib");
            let file = path.strip_prefix(root()).unwrap_or(&path).display().to_string();
            let text = code(&fs::read_to_string(&path).expect("a text"));
            tree.insert(of.clone(), module(&of, file, &text));
        }
    }
    tree
}

/// The module in which the name at the end of a path is written.
fn home(tree: &Tree, path: &[String]) -> Names {
    let known = (0..=path.len()).rev().find(|&length| tree.contains_key(&path[..length])).unwrap_or(0);
    let (module, name) = (&path[..known], path.get(known));
    let handed = name.and_then(|name| tree.get(module)?.hands_on.iter().find(|(known, _)| known == name));
    match handed {
        Some((_, from)) if from != path => home(tree, from),
        _ => module.to_vec(),
    }
}

type Arrow = (Names, Names);

/// The arrows between the modules of a crate.
fn arrows(tree: &Tree) -> BTreeSet<Arrow> {
    let names = tree.iter().flat_map(|(of, module)| module.names.iter().map(move |path| (of, path)));
    names.map(|(of, path)| (of.clone(), home(tree, path))).filter(|(from, to)| from != to).collect()
}

/// The arrows of circles, and those that lead from one to another.
fn circles(mut arrows: BTreeSet<Arrow>) -> BTreeSet<Arrow> {
    loop {
        let before = arrows.clone();
        arrows
            .retain(|(from, to)| before.iter().any(|(_, to)| to == from) && before.iter().any(|(from, _)| from == to));
        if arrows == before {
            return arrows;
        }
    }
}

/// The parts of a table, and those that each may name.
fn table(text: &str) -> BTreeMap<&str, BTreeSet<&str>> {
    let rows = text.lines().filter_map(|row| row.trim().split_once(':'));
    rows.map(|(part, others)| (part, others.split_whitespace().collect())).collect()
}

#[test]
fn imports_go_one_way() {
    let mut wrong = Vec::new();
    for (src, text) in MAY_NAME {
        let (tree, table) = (tree(src), table(text));
        let arrows = arrows(&tree);
        let parts: BTreeSet<_> = tree.keys().filter_map(|module| module.first()).map(String::as_str).collect();
        let rows: BTreeSet<_> = table.keys().copied().collect();
        wrong.extend(
            parts.symmetric_difference(&rows).map(|part| format!("{src}: {part} is there or in the table alone")),
        );
        let mut named = BTreeSet::new();
        for (from, to) in &arrows {
            let (Some(part), Some(other)) = (from.first(), to.first()) else { continue };
            named.insert((part.as_str(), other.as_str()));
            if part != other && table.get(part.as_str()).is_none_or(|others| !others.contains(other.as_str())) {
                wrong.push(format!("{} names {other}", tree[from].file));
            }
        }
        let all = table.iter().flat_map(|(part, others)| others.iter().map(|other| (*part, *other)));
        wrong.extend(all.filter(|row| !named.contains(row)).map(|(a, b)| format!("{src}: {a} does not name {b}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A `mod.rs` and the files of its directory are for each other; of all others, one is below the other.
#[test]
fn no_files_import_each_other() {
    let mut wrong = Vec::new();
    for (src, _) in MAY_NAME {
        let tree = tree(src);
        let apart = |(from, to): &Arrow| !from.starts_with(to) && !to.starts_with(from);
        let circles = circles(arrows(&tree).into_iter().filter(apart).collect());
        wrong.extend(circles.iter().map(|(from, to)| format!("{} names {}", tree[from].file, tree[to].file)));
    }
    assert!(wrong.is_empty(), "a circle:\n{}", wrong.join("\n"));
}

#[test]
fn crates_use_those_below_them() {
    for (dir, allowed) in MAY_USE {
        let manifest = fs::read_to_string(root().join(dir).join("Cargo.toml")).expect("a manifest");
        let (_, rest) = manifest.split_once("\n[dependencies]\n").expect("dependencies");
        let lines = rest.split("\n[").next().unwrap_or_default().lines().filter(|line| line.contains("path = "));
        let found: BTreeSet<_> = lines.filter_map(|line| line.split(' ').next()).collect();
        assert_eq!(found, allowed.iter().copied().collect(), "{dir}");
    }
}

/// What the tests above find in a text.
#[test]
fn imports_and_circles_are_found() {
    let names = |path: &str| path.split("::").map(str::to_owned).collect::<Names>();
    let text = "use crate::ffi::{Ctx, key::{Key, Kind as K}};\npub use super::b::B;\nfn f() { super::super::g(1) }";
    let found = module(&names("store::a"), String::new(), text);
    let expected = ["ffi::Ctx", "ffi::key::Key", "ffi::key::Kind", "store::b::B", "g"].map(names);
    assert_eq!(found.names, expected);
    assert_eq!(found.hands_on, [("B".to_owned(), names("store::b::B"))]);
    let arrows = |all: &[[&str; 2]]| all.iter().map(|[from, to]| (names(from), names(to))).collect::<BTreeSet<_>>();
    assert_eq!(circles(arrows(&[["a", "b"], ["b", "c"]])), BTreeSet::new());
    assert_eq!(circles(arrows(&[["a", "b"], ["b", "c"], ["b", "a"], ["d", "a"]])), arrows(&[["a", "b"], ["b", "a"]]));
}
