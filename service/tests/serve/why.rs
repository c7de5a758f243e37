//! What `rlaas why` shows of each limit, and what `rlaas reset` ends.

use std::process::Command;

use super::one_server;
use super::process::{Rlaas, http, run};
use crate::support::*;
use envoy_types::pb::envoy::service::ratelimit::v3::rate_limit_response::Code;

const RULES: &str = "domain: d
descriptors:
  - {key: user, rate_limit: {name: per user, unit: year, requests_per_unit: 3}}
  - {key: free, rate_limit: {unlimited: true}}
";

#[test]
fn reset_ends_a_denial_where_it_is_allowed() {
    let server = one_server();
    for allowed in ["true", "false"] {
        let service = Rlaas::with_env(&server, RULES, &[("RLAAS_ALLOW_RESET", allowed)]);
        let reset =
            |arguments: &[&str]| run(&[&["reset", "--debug", &service.debug, "--domain", "d"], arguments].concat());
        // Longer than a key may be.
        let long = "x".repeat(300);
        let code = || service.code(&format!("user={long}"));
        assert_eq!([(); 3].map(|()| code()), [Code::Ok; 3]);
        assert_eq!([code(), code()], [Code::OverLimit; 2]);
        let (ok, text) = reset(&[&format!("user={long}"), "free=1"]);
        let expected =
            if allowed == "true" { "  reset    it held something\ndescriptor free=1" } else { "--allow-reset" };
        assert!(ok == (allowed == "true") && text.contains(expected), "{text}");
        assert_eq!(code(), if allowed == "true" { Code::Ok } else { Code::OverLimit });
        assert_eq!(reset(&[&format!("user={long}")]).0, allowed == "true");
    }
}

#[test]
fn who_looks_at_limits_is_told_that_shadow_mode_lifts_them() {
    const LINE: &str = "SHADOW_MODE=true: no request is denied, whatever its limits say\n";
    let server = one_server();
    for (value, expected) in [("true", true), ("false", false)] {
        let service = Rlaas::with_env(&server, RULES, &[("SHADOW_MODE", value)]);
        let of_command = |arguments: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_rlaas"));
            let output = command.args(arguments).current_dir(service.dir.path()).env("SHADOW_MODE", value).output();
            String::from_utf8(output.expect("rlaas runs").stdout).expect("text")
        };
        for (what, text) in [
            ("the log", service.log()),
            ("/rlconfig", http(&service.debug, "GET /rlconfig", &[], "").body),
            ("why", of_command(&["why", "--debug", &service.debug, "--domain", "d", "user=x"])),
            ("check", of_command(&["check", "rules"])),
            ("explain", of_command(&["explain", "rules", "--domain", "d", "user=x"])),
        ] {
            assert!(text.len() > 50 && text.contains(LINE) == expected, "{what} {value}: {text}");
        }
        assert_eq!(service.figures("rlaas_shadow_mode"), u8::from(expected).to_string());
    }
}

#[test]
fn why_shows_what_each_limit_holds_and_charges_nothing() {
    let server = one_server();
    let service = Rlaas::start(&server, RULES);
    let why = |arguments: &[&str]| run(&[&["why", "--debug", &service.debug, "--domain"], arguments].concat());
    let code = || service.code(r"user=a\,b");
    assert_eq!([code(), code()], [Code::Ok; 2]);
    for _ in 0..2 {
        let (ok, text) = why(&["d", r"user=a\,b", "free=1", "other=1"]);
        let file = service.dir.path().join("rules/rules.yaml").display().to_string();
        let expected = format!(
            "descriptor user=a\\,b\n  rule     d.user at {file}:3:5\n  key      rl:d:fixed:31536000:user=a%2Cb\n  \
             command  RL.FIXED rl:d:fixed:31536000:user=a%2Cb 31536000 3 ALWAYS\n  name     per_user\n  used     2 of 3\n  \
             allowed  now\ndescriptor free=1\n  rule     d.free at {file}:4:5\n  unlimited: allowed\n\
             descriptor other=1\n  no limit: allowed\n"
        );
        assert_eq!((ok, text), (true, expected));
    }
    assert_eq!([code(), code(), code()], [Code::Ok, Code::OverLimit, Code::OverLimit]);
    let (ok, text) = why(&["d", r"user=a\,b"]);
    assert!(
        ok && text.contains("  used     3 of 3\n  allowed  in ") && text.contains("by a remembered denial"),
        "{text}"
    );
    assert_eq!(why(&["unknown", "k=1"]), (true, "descriptor k=1\n  no limit: allowed\n".to_owned()));
    assert_eq!(why(&["", "k=1"]), (false, "the domain must not be empty\n".to_owned()));
    assert!(!why(&["d", "k"]).0);
    let closed = format!("127.0.0.1:{}", free_port());
    let (_, text) = run(&["why", "--debug", &closed, "--domain", "d", "k=1"]);
    let expected = "refused (os error 111); rlaas serve listens there only with --debug\n";
    assert!(text.starts_with(&format!("--debug {closed}: ")) && text.ends_with(expected), "{text}");
}
