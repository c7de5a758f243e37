//! What `rlaas check` and `rlaas explain` print; and `docs/service.md` and the code know the same variables.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use tempfile::TempDir;

/// The exit status and the output of a command.
fn rlaas(dir: &TempDir, args: &[&str]) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_rlaas"))
        .args(args)
        .current_dir(dir.path())
        .env_clear()
        .output()
        .expect("rlaas runs");
    let text = String::from_utf8(output.stdout).expect("text") + &String::from_utf8(output.stderr).expect("text");
    (output.status.code().expect("ends by itself"), text)
}

fn dir(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    for (name, text) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, text).expect("a file");
    }
    dir
}

const WEB: &str = "domain: web
descriptors:
  - key: path
    value: /login
    descriptors:
      - key: client
        shadow_mode: true
        rate_limit: {name: login, unit: minute, requests_per_unit: 5}
  - key: org
    rate_limit: {algorithm: token, window: 10s, limit: 300, burst: 50, replaces: [{name: login}]}
  - key: free
    rate_limit: {unlimited: true}
instances: 2
";

#[test]
fn valid_rules_are_counted() {
    let dir =
        dir(&[("rules/web.yaml", WEB), ("rules/..data/old.yaml", "wrong: ["), ("rules/sub/api.yaml", "domain: api\n")]);
    let (status, text) = rlaas(&dir, &["check", "rules"]);
    // An unlimited rule is no limit.
    let hash = text.strip_prefix("the rules are valid: 2 limits in 2 domains\nhash ").expect(&text).split(',').next();
    assert_eq!((status, hash.map(str::len)), (0, Some(16)), "{text}");
    assert!(text.ends_with(&format!(", of rlaas {}\n", rlaas::VERSION)), "{text}");
    // Those of `make service`.
    let (status, text) = rlaas(&dir, &["check", concat!(env!("CARGO_MANIFEST_DIR"), "/examples/rules")]);
    assert!(status == 0 && text.starts_with("the rules are valid: 2 limits in 1 domain"), "{text}");
}

#[test]
fn the_version_says_which_build_it_is() {
    let (status, text) = rlaas(&dir(&[]), &["--version"]);
    assert_eq!((status, text), (0, format!("rlaas {}\n", rlaas::VERSION)));
    let build = rlaas::VERSION.strip_prefix(env!("CARGO_PKG_VERSION")).expect("the version of the crate");
    assert!(build.is_empty() || build.starts_with('+') && build.len() > 4, "{build}");
}

#[test]
fn rules_without_a_limit_are_valid_only_if_told_so() {
    let unlimited = "domain: d\ndescriptors: [{key: k, rate_limit: {unlimited: true}}]\ninstances: 2\n";
    let dir = dir(&[("empty/..data/a.yaml", WEB), ("domain.yaml", "domain: d\n"), ("unlimited.yaml", unlimited)]);
    for rules in ["empty", "domain.yaml", "unlimited.yaml"] {
        let rejected = "there is no limit in the rules; --allow-empty accepts that\n";
        assert_eq!(rlaas(&dir, &["check", rules]), (1, rejected.to_owned()));
        let (status, text) = rlaas(&dir, &["check", "--allow-empty", rules]);
        assert!(status == 0 && text.starts_with("the rules are valid: 0 limits in "), "{text}");
    }
}

#[test]
fn wrong_rules_exit_1_and_say_where() {
    let dir = dir(&[
        ("a.yaml", "domain: a\nrules: []\n"),
        ("b.yaml", "domain: [\n"),
        ("web.yaml", WEB),
        ("more.yaml", "domain: web\n"),
    ]);
    let (status, text) = rlaas(&dir, &["check", "a.yaml", "b.yaml"]);
    assert_eq!(status, 1);
    assert!(text.contains("a.yaml:2:1: unknown key 'rules' at the top of a file\n"), "{text}");
    assert!(text.contains("\nb.yaml:") || text.starts_with("b.yaml:"), "{text}");
    assert!(text.ends_with("2 errors in the rules\n"), "{text}");
    let (status, text) = rlaas(&dir, &["check", "nowhere"]);
    assert_eq!((status, text.starts_with("nowhere: ")), (1, true), "{text}");
    assert_eq!(rlaas(&dir, &["check", "web.yaml", "more.yaml"]).0, 1);
    assert_eq!(rlaas(&dir, &["check", "--merge-domains", "web.yaml", "more.yaml"]).0, 0);
}

#[test]
fn explain_shows_the_rule_the_key_and_the_command() {
    let dir = dir(&[("web.yaml", WEB)]);
    let args =
        ["explain", "web.yaml", "--domain", "web", "path=/login,client=10.0.0.1", "org=a\\,b", "free=x", "path=/"];
    let expected = "descriptor (path, /login), (client, 10.0.0.1)
  rule     web.path_/login.client at web.yaml:6:9
  mode     shadow_mode
  key      rl:web:fixed:60:path=/login,client=10.0.0.1
  command  RL.FIXED rl:web:fixed:60:path=/login,client=10.0.0.1 60 5 ALWAYS SHADOW
  replaced by another descriptor of this request: not charged
descriptor (org, a,b)
  rule     web.org at web.yaml:9:5
  key      rl:web:token:10:org=a%2Cb
  command  RL.TOKEN rl:web:token:10:org=a%2Cb 10 300 BURST 50
descriptor (free, x)
  rule     web.free at web.yaml:11:5
  unlimited: allowed
descriptor (path, /)
  no limit: allowed
";
    assert_eq!(rlaas(&dir, &args), (0, expected.to_owned()));
    let other = rlaas(&dir, &["explain", "web.yaml", "--domain", "other", "a=b"]);
    assert_eq!(other, (0, "domain other: no rules, so every request is allowed\n".to_owned()));
    assert_eq!(rlaas(&dir, &["explain", "web.yaml", "--domain", "web", "nothing"]).0, 1);
    // What is charged only if it is allowed: alone, and as a part of RL.MULTI.
    let alone = "RL.FIXED rl:d:fixed:86400:k=v 86400 5";
    for (whole, command) in [(false, format!("{alone} PARTIAL\n")), (true, format!("{alone}\n"))] {
        let text = format!(
            "domain: d\nall_or_nothing: {whole}\ndescriptors: [{{key: k, rate_limit: {{unit: day, requests_per_unit: 5, charge: allowed}}}}]\n"
        );
        let dir = self::dir(&[("d.yaml", &text)]);
        let (_, text) = rlaas(&dir, &["explain", "d.yaml", "--domain", "d", "k=v"]);
        assert!(text.contains(&format!("  command  {command}")), "{text}");
    }
}

#[test]
fn no_control_character_reaches_the_terminal() {
    let wrong = "domain: d\ndescriptors: [{\"k\\e\\n\": 1}]\n";
    let valid = "domain: \"d\\n\"\ndescriptors: [{key: \"k\\e\", rate_limit: {unit: day, requests_per_unit: 1}}]\n";
    let dir = dir(&[("wrong.yaml", wrong), ("valid.yaml", valid)]);
    let (_, text) = rlaas(&dir, &["check", "wrong.yaml"]);
    assert!(text.contains("unknown key 'k\\u{1b}\\n'") && !text.contains('\u{1b}'), "{text}");
    let (_, text) = rlaas(&dir, &["explain", "valid.yaml", "--domain", "d\n", "k\u{1b}=a\u{9b}", "x=\u{7}"]);
    assert!(text.contains("key      rl:d%0A:fixed:86400:k%1B=a\\u{9b}\n"), "{text}");
    assert!(text.contains("descriptor (x, \\u{7})\n"), "{text}");
    assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
}

#[test]
fn each_variable_of_the_table_is_read_or_has_no_effect() {
    // The page has this table.
    let page = include_str!("../src/serve/variables.txt");
    let code = [
        include_str!("../src/serve/flags.rs"),
        include_str!("../src/serve/variables.rs"),
        include_str!("../src/serve/url.rs"),
        include_str!("../src/control/settings.rs"),
    ];
    let code: String = code.iter().filter_map(|file| file.split("#[cfg(test)]").next()).collect();
    let mut seen = BTreeSet::new();
    let table = page.lines().skip_while(|line| !line.starts_with("| variable |"));
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
