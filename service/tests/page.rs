//! `docs/service.md` and the code know the same variables.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

fn read(path: &str) -> String {
    fs::read_to_string(format!("{}/{path}", env!("CARGO_MANIFEST_DIR")))
        .unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The variables of envoyproxy/ratelimit in the code: its strings in capital letters.
fn known() -> BTreeSet<String> {
    let code = read("src/serve/settings.rs");
    let code = code.split("#[cfg(test)]").next().expect("code");
    // The values of flags are in capital letters too.
    let code: String = code.lines().filter(|line| !line.contains("value_name")).collect();
    let is_name = |text: &&str| {
        text.len() > 3
            && text.starts_with(char::is_alphabetic)
            && text.bytes().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == b'_')
    };
    let names = code.split('"').skip(1).step_by(2).filter(is_name);
    let is_theirs = |name: &&str| !name.starts_with("RLAAS_") && !name.starts_with("OTEL_") && *name != "FILE";
    names.filter(is_theirs).map(str::to_owned).collect()
}

#[test]
fn the_rules_of_make_service_are_valid() {
    let check = |path: &str| {
        let path = format!("{}/{path}", env!("CARGO_MANIFEST_DIR"));
        let output = Command::new(env!("CARGO_BIN_EXE_rlaas")).args(["check", &path]).output().expect("rlaas runs");
        (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (is_valid, text) = check("rules");
    assert!(is_valid && text.starts_with("the rules are valid: 2 limits in 1 domain\n"), "{text}");
}

#[test]
fn the_table_has_every_variable_of_the_other_service() {
    let page = read("../docs/service.md");
    let (_, table) = page.split_once("| variable |").expect("the table");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let mut shown = BTreeSet::new();
    for row in rows {
        let first = row.split('|').nth(1).expect("a cell");
        for name in first.split('`').skip(1).step_by(2) {
            assert!(shown.insert(name.to_owned()), "{name} is there twice");
        }
    }
    assert_eq!(shown, known());
}
