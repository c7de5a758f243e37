//! `docs/service.md` and the code know the same variables.

use std::collections::BTreeSet;
use std::process::Command;

/// The page; the program reads its last table.
const PAGE: &str = include_str!("../src/serve/variables.txt");

#[test]
fn the_rules_of_make_service_are_valid() {
    let rules = format!("{}/examples/rules", env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(env!("CARGO_BIN_EXE_rlaas")).args(["check", &rules]).output().expect("rlaas runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.starts_with("the rules are valid: 2 limits in 1 domain"), "{text}");
}

#[test]
fn each_variable_of_the_table_is_read_or_has_no_effect() {
    let code = [
        include_str!("../src/serve/flags.rs"),
        include_str!("../src/serve/variables.rs"),
        include_str!("../src/serve/url.rs"),
        include_str!("../src/control/settings.rs"),
    ];
    let code: String = code.iter().filter_map(|file| file.split("#[cfg(test)]").next()).collect();
    let mut seen = BTreeSet::new();
    let table = PAGE.lines().skip_while(|line| !line.starts_with("| variable |"));
    for row in table.filter(|line| line.starts_with("| `")) {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let [_, names, _, here, _] = cells[..] else { panic!("{row}") };
        for name in names.split('`').skip(1).step_by(2) {
            assert!(seen.insert(name), "{name} is there twice");
            let is_read = code.contains(&format!("\"{name}\""));
            assert_eq!(is_read, !here.starts_with("no effect"), "{name}: {here}");
        }
    }
    assert!(seen.len() > 100, "{}", seen.len());
}
