//! What `rlaas simulate` finds in logs whose truth is known.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

const RULES: &str = "domain: web
descriptors:
  - {key: user, rate_limit: {unit: minute, requests_per_unit: 5}}
  - {key: user, value: nobody, rate_limit: {unit: minute, requests_per_unit: 5}}
";
const EVIL: &str = "<script>alert(1)</script>&amp;";

/// Half an hour: 50 quiet users with 3 requests in one minute each, and one that floods the 12th minute with 600.
fn dir() -> TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    let mut requests = Vec::new();
    for user in 0..50 {
        requests.extend((0..3).map(|request| ((user % 30) * 60 + request * 11, format!("user{user}"), 200)));
    }
    requests
        .extend((0..600).map(|request| (12 * 60 + request / 10, EVIL.to_owned(), if request < 7 { 429 } else { 200 })));
    requests.sort();
    let mut log = String::new();
    for (second, user, status) in requests {
        let time = format!("02/Mar/2026:12:{:02}:{:02} +0000", second / 60, second % 60);
        _ = writeln!(log, "192.0.2.1 - {user} [{time}] \"GET / HTTP/1.1\" {status} 12 \"-\" \"-\"");
    }
    fs::write(dir.path().join("access.log"), log).expect("a file");
    let readme = "domain: web\ndescriptors:\n  - {key: user, rate_limit: {unit: minute, requests_per_unit: 5}}\n  \
                  - {key: api_key, rate_limit: {unit: day, requests_per_unit: 9}}\n  - key: path\n    value: /login\n    \
                  descriptors: [{key: remote_address, rate_limit: {algorithm: token, window: 1m, limit: 3}}]\n";
    fs::write(dir.path().join("readme.yaml"), readme).expect("a file");
    fs::write(dir.path().join("rules.yaml"), RULES).expect("a file");
    fs::write(dir.path().join("stricter.yaml"), RULES.replace("unit: 5", "unit: 2")).expect("a file");
    dir
}

fn rlaas(dir: &TempDir, args: &str) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rlaas"));
    let command = command.arg("simulate").args(args.split(' ')).current_dir(dir.path());
    let output = command.output().expect("rlaas runs");
    let text = String::from_utf8(output.stdout).expect("text") + &String::from_utf8(output.stderr).expect("text");
    (output.status.success(), text)
}

fn json(dir: &TempDir, args: &str) -> Value {
    let (ok, text) = rlaas(dir, &format!("rules.yaml --log access.log --descriptor user={{user}} --json {args}"));
    assert!(ok, "{text}");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn a_planted_caller_is_found_with_its_figures() {
    let found = json(&dir(), "--suggest 98%");
    assert_eq!((&found["requests"], &found["denied"]), (&750.into(), &595.into()));
    assert!(found["unused"][0].as_str().expect("a rule").starts_with("web.user_nobody at "), "{found}");
    let rule = &found["rules"][0];
    for (name, expected) in [
        ("requests", 750),
        ("denied", 595),
        ("keys", 51),
        ("keys_denied", 1),
        ("most_used", 3),
        ("capacity", 5),
        ("logged_429", 7),
        ("left_out", 0),
    ] {
        assert_eq!(rule[name], expected, "{name} of {rule:#}");
    }
    let key = &rule["denied_most"][0];
    assert_eq!((&key["requests"], &key["denied"]), (&600.into(), &595.into()));
    assert_eq!((&key["first"], &key["last"]), (&"2026-03-02T12:12:00Z".into(), &"2026-03-02T12:12:59Z".into()));
    assert_eq!(rule["first_denial"]["at"], "2026-03-02T12:12:00Z");
    // From the sixth of the ten requests of its first second until the end of the minute.
    let blocked = key["blocked_ms"].as_u64().expect("a time");
    assert!((59_400..=59_600).contains(&blocked), "{blocked}");
    let [half, most] = ["wait_p50_ms", "wait_p99_ms"].map(|name| rule[name].as_u64().expect("a time"));
    assert!((29_000..31_000).contains(&half) && (58_000..60_000).contains(&most), "{half} {most}");
    assert_eq!(rule["use_of_keys"], Value::from(vec![0, 0, 0, 0, 0, 50, 0, 0, 0, 0, 1]));
    let suggested = &rule["suggestion"];
    assert_eq!((&suggested["limit"], &suggested["keys_denied"]), (&3.into(), &1.into()));
    assert_eq!((&suggested["half"]["limit"], &suggested["half"]["denied"]), (&3.into(), &597.into()));
    assert_eq!((&suggested["twice"]["limit"], &suggested["twice"]["denied"]), (&10.into(), &590.into()));
}

#[test]
fn other_rules_are_compared_by_whom_they_deny() {
    let found = &json(&dir(), "--compare stricter.yaml")["compared"];
    assert_eq!((&found["newly_denied"], &found["no_more_denied"]), (&53.into(), &0.into()));
    let keys = found["keys_newly_denied"].as_array().expect("keys");
    assert_eq!((&keys[0]["requests"], &keys[1]["requests"], keys.len()), (&3.into(), &1.into(), 20));
}

#[test]
fn a_denied_request_comes_again_when_it_was_told() {
    let found = json(&dir(), "--retry");
    let notes = found["notes"].to_string();
    // All come at the beginning of the next minute, which allows five.
    assert!(notes.contains("595 requests came again") && notes.contains("590 requests of these"), "{notes}");
    assert_eq!((&found["denied"], &found["rules"][0]["denied"]), (&595.into(), &(595 + 590).into()));
}

#[test]
fn keys_beyond_the_bound_are_left_out_and_told() {
    let found = json(&dir(), "--max-keys 10");
    let rule = &found["rules"][0];
    assert_eq!(rule["keys"], 10);
    let (requests, left_out) = (rule["requests"].as_u64(), rule["left_out"].as_u64());
    assert!(requests.zip(left_out).is_some_and(|(requests, left_out)| requests + left_out == 750), "{rule}");
    assert!(found["notes"].to_string().contains("beyond --max-keys"), "{found}");
}

#[test]
fn the_page_has_nothing_of_the_log_as_html() {
    let dir = dir();
    let args =
        "rules.yaml --log access.log --descriptor user={user} --suggest 99% --compare stricter.yaml --html page.html";
    let (ok, text) = rlaas(&dir, args);
    assert!(ok && text.starts_with("WARNING: no request matches 1 of the rules"), "{text}");
    let page = fs::read_to_string(dir.path().join("page.html")).expect("a page");
    assert!(!page.contains("<script") && !page.contains("&amp;<"), "{page}");
    // In two tables, in the facts, and beside the heat map, shortened.
    assert!(page.matches("&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;").count() >= 3, "{page}");
    // The flood is 40 times what is usual, and does not flatten it.
    for shown in [
        "fixed: 5 in 1m<",
        "all keys begin with user=<",
        "Requests a second, by UTC; bars end at ",
        ", in UTC<",
        "there are only 51 keys",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    // All colours are those of the page.
    assert!(page.contains("var(--heat-5)") && !page.contains("#00000"), "{page}");
}

#[test]
fn what_gives_no_descriptor_is_an_error() {
    let dir = dir();
    for (args, expected) in [
        (
            "rules.yaml --log access.log",
            "domain web has no part authorize, which makes descriptors of requests. Add --descriptor 'user={user}'; in \
             braces is a field of the log, which has address, user, time, method, path, status, bytes, referer, \
             user_agent. Or name another --domain",
        ),
        (
            "readme.yaml --log access.log",
            "Add --descriptor 'api_key={api_key}' --descriptor 'path={path},remote_address={address}' --descriptor \
             'user={user}'; in braces",
        ),
        (
            "rules.yaml --log access.log --descriptor user={nothing}",
            "no request has the fields of the descriptor user={nothing}",
        ),
        ("rules.yaml --log access.log --descriptor user={user", "a { without }"),
        (
            "rules.yaml --log access.log --descriptor user={user} --hits none",
            "no request has a number in the field none",
        ),
        ("rules.yaml --log access.log --domain other", "the rules have no domain other"),
        ("rules.yaml --log nowhere", "nowhere: "),
        ("rules.yaml --log access.log --suggest 101%", "at most 100"),
    ] {
        let (ok, text) = rlaas(&dir, args);
        assert!(!ok && text.contains(expected), "{args}: {text}");
    }
}

#[test]
fn the_example_shows_what_it_planted() {
    let dir = dir();
    let (ok, text) = rlaas(&dir, "--example");
    assert!(ok, "{text}");
    for planted in ["address=192.0.2.66 ", "user=export-job ", "path=/login,address=203.0.113.99 "] {
        assert!(text.contains(planted), "{planted}: {text}");
    }
    for file in ["rules.yaml", "access.log", "page.html"] {
        assert!(dir.path().join("rlaas-example").join(file).exists(), "{file}");
    }
}
