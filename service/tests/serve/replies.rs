//! What a request gets: the features of the protocol and of the rules.

use std::time::Duration;

use envoy_types::pb::envoy::service::ratelimit::v3::rate_limit_response::{Code, RateLimit};
use serde_json::{Value, json};

use super::process::{Rlaas, url};
use super::regions::Link;
use super::steps::{check, counted};
use super::{for_each_server, one_server};
use crate::support::*;
use Code::Ok as OK;

/// What a service with these rules and variables does, step by step.
type Case =
    (&'static str, &'static str, &'static [(&'static str, &'static str)], &'static [(&'static str, &'static str)]);

const NO_MEMORY: &[(&str, &str)] = &[("RLAAS_DENIALS", "0")];

const CASES: [Case; 12] = [
    (
        "each algorithm, no limit, and no rule",
        "domain: d
descriptors:
  - {key: user, rate_limit: {unit: year, requests_per_unit: 3}}
  - {key: bucket, rate_limit: {algorithm: token, window: 1000h, limit: 10, burst: 2}}
  - {key: rolling, rate_limit: {algorithm: rolling, unit: hour, requests_per_unit: 1}}
  - {key: free, rate_limit: {unlimited: true}}
",
        &[],
        &[
            ("free=x +1000000 | none=x", "ok 4294967295 | ok 0: ok"),
            ("elsewhere: user=a", "ok 0: ok"),
            ("GET rl", ""),
            ("user=a", "ok 2: ok"),
            ("user=a", "ok 1: ok"),
            ("user=a", "ok 0: ok"),
            ("user=a", "over 0: over"),
            ("user=b", "ok 2: ok"),
            ("bucket=x", "ok 1: ok"),
            ("bucket=x", "ok 0: ok"),
            ("bucket=x", "over 0: over"),
            ("rolling=x", "ok 0: ok"),
            ("rolling=x", "over 0: over"),
        ],
    ),
    (
        "a limit always charges, or only what it allows; a remembered denial is for as many hits, and never for a look",
        "domain: d
descriptors:
  - {key: always, rate_limit: {unit: year, requests_per_unit: 5}}
  - {key: allowed, rate_limit: {algorithm: counter, unit: year, requests_per_unit: 5}}
",
        &[],
        &[
            ("always=x +4", "ok 1: ok"),
            ("always=x +4", "over 0: over"),
            ("GET rl:d:fixed:", "8"),
            ("always=x +4", "over 0: over"),
            ("GET rl:d:fixed:", "8"),
            ("always=x +1", "over 0: over"),
            ("GET rl:d:fixed:", "9"),
            ("FLUSHALL", ""),
            ("always=x ?", "ok 5: ok"),
            ("allowed=x +4", "ok 1: ok"),
            ("allowed=x +4", "over 1: over"),
            ("allowed=x +1", "ok 0: ok"),
            // The hits of the request count for descriptors without their own; 0 means 1.
            ("always=y +6 | always=z all+5", "over 0 | ok 0: over"),
            // No number of hits is too large for the counters of the server.
            ("always=w +9223372036854775807 | always=w", "over 0 | over 0: over"),
            ("always=w +9223372036854775807 | always=w", "over 0 | over 0: over"),
        ],
    ),
    (
        "what is given back ends a remembered denial; a lockout",
        "domain: d
descriptors:
  - {key: k, rate_limit: {algorithm: counter, unit: year, requests_per_unit: 2}}
  - {key: login, rate_limit: {algorithm: lockout, window: 24h, limit: 1, block: 1h, max: 4h}}
",
        &[],
        &[
            ("k=x +2", "ok 0: ok"),
            ("k=x", "over 0: over"),
            ("METRIC rlaas_remembered_denials ", "0"),
            ("k=x", "over 0: over"),
            ("METRIC rlaas_remembered_denials ", "1"),
            ("k=x -1", "ok 1: ok"),
            ("k=x", "ok 0: ok"),
            ("login=ann", "ok 0: ok"),
            ("login=ann", "over 0: over"),
            ("login=bob", "ok 0: ok"),
        ],
    ),
    (
        "a look is over only beyond the limit; gcra has no debt",
        "domain: d
descriptors:
  - {key: fixed, rate_limit: {unit: year, requests_per_unit: 5}}
  - {key: gcra, rate_limit: {algorithm: gcra, unit: year, requests_per_unit: 5}}
",
        NO_MEMORY,
        &[
            ("fixed=x ?", "ok 5: ok"),
            ("fixed=x +5", "ok 0: ok"),
            ("fixed=x ?", "ok 0: ok"),
            ("fixed=x +1", "over 0: over"),
            ("fixed=x ?", "over 0: over"),
            // It gives back from the smaller of counter and limit.
            ("fixed=x -2", "ok 2: ok"),
            ("fixed=x ?", "ok 2: ok"),
            ("gcra=x +5", "ok 0: ok"),
            ("gcra=x ?", "over 0: over"),
            ("gcra=x -1", "ok 1: ok"),
            ("gcra=x ?", "ok 1: ok"),
        ],
    ),
    (
        "a limit replaces another by its name",
        "domain: d
descriptors:
  - {key: all, rate_limit: {name: general, unit: year, requests_per_unit: 0}}
  - {key: one, rate_limit: {unit: year, requests_per_unit: 5, replaces: [{name: general}]}}
  - {key: free, rate_limit: {unlimited: true, replaces: [{name: general}]}}
",
        &[],
        &[("all=", "over 0: over"), ("all= | one=", "ok 0 | ok 4: ok"), ("free= | all=", "ok 4294967295 | ok 0: ok")],
    ),
    (
        "shadow mode counts and allows",
        "domain: d
descriptors:
  - {key: shadow, shadow_mode: true, rate_limit: {unit: year, requests_per_unit: 1}}
  - {key: real, rate_limit: {unit: year, requests_per_unit: 1}}
",
        &[],
        &[
            ("shadow= | real=", "ok 0 | ok 0: ok"),
            ("shadow= | real=", "ok 0 | over 0: over"),
            ("GET rl:d:fixed:31536000:shadow", "2"),
        ],
    ),
    (
        "SHADOW_MODE changes only the code of the request",
        "domain: d\ndescriptors: [{key: real, rate_limit: {unit: year, requests_per_unit: 0}}]\n",
        &[("SHADOW_MODE", "true")],
        &[("real=", "over 0: ok")],
    ),
    (
        "quotas deny only if all of them are over",
        "domain: d
descriptors:
  - {key: one, quota_mode: true, rate_limit: {unit: year, requests_per_unit: 1}}
  - {key: two, quota_mode: true, rate_limit: {unit: year, requests_per_unit: 2}}
  - {key: hard, rate_limit: {unit: year, requests_per_unit: 0}}
",
        &[],
        &[
            ("one= | two=", "ok 0 | ok 1: ok"),
            ("one= | two=", "over 0 | ok 0: ok"),
            ("one= | two=", "over 0 | over 0: over"),
            ("two=new | hard=", "ok 1 | over 0: over"),
        ],
    ),
    (
        "all_or_nothing: what one limit denies charges none; one key is charged once, with the sum",
        "domain: d
all_or_nothing: true
descriptors:
  - {key: wide, rate_limit: {unit: year, requests_per_unit: 10}}
  - {key: narrow, rate_limit: {unit: year, requests_per_unit: 1}}
  - {key: try, shadow_mode: true, rate_limit: {unit: year, requests_per_unit: 0}}
",
        NO_MEMORY,
        &[
            ("wide= | narrow=", "ok 9 | ok 0: ok"),
            ("wide= | narrow=", "ok 8 | over 0: over"),
            ("wide= | narrow=", "ok 8 | over 0: over"),
            ("GET rl:d:fixed:31536000:wide", "1"),
            ("GET rl:d:fixed:31536000:narrow", "1"),
            ("wide=2 +4 | wide=2", "ok 5 | ok 5: ok"),
            ("GET rl:d:fixed:31536000:wide=2", "5"),
            ("wide=2 +9 | wide=2", "over 5 | over 5: over"),
            // Under the smallest of its limits, that of the request.
            ("wide=6 +5 | wide=6 +3 limit 8 YEAR", "ok 0 | ok 0: ok"),
            ("GET rl:d:fixed:31536000:wide=6", "8"),
            // A limit in shadow mode stops nothing.
            ("wide=3 | try=", "ok 9 | ok 0: ok"),
            ("GET rl:d:fixed:31536000:wide=3", "1"),
            // A look that denies stops the charge.
            ("narrow=4 +2 | wide=4", "over 1 | ok 9: over"),
            ("GET rl:d:fixed:31536000:wide=4", ""),
            ("narrow=4 ? | wide=4", "ok 1 | ok 9: ok"),
            ("GET rl:d:fixed:31536000:wide=4", "1"),
            ("wide=5 +9223372036854775807 | wide=5 +9223372036854775807", "over 10 | over 10: over"),
        ],
    ),
    (
        "a limit that a remembered denial leaves unchecked has no figures",
        "domain: d
all_or_nothing: true
descriptors:
  - {key: a, rate_limit: {unit: year, requests_per_unit: 1}}
  - {key: b, rate_limit: {unit: year, requests_per_unit: 10}}
",
        &[],
        &[
            ("a= | b=", "ok 0 | ok 9: ok"),
            ("a= | b=", "over 0 | ok 8: over"),
            ("a= | b=", "over 0 | ok 0: over"),
            ("METRIC ratelimit_service_rate_limit_within_limit{domain=\"d\",key1=\"b\"", "2"),
        ],
    ),
    (
        "a limit of a request changes the number and the window of its rule alone; without a rule it is a fixed window",
        "domain: d
descriptors:
  - {key: k, shadow_mode: true, rate_limit: {unit: day, requests_per_unit: 100}}
  - {key: bucket, rate_limit: {algorithm: token, unit: day, requests_per_unit: 5, burst: 2, unit_scale: 1000000}}
  - {key: counter, rate_limit: {algorithm: counter, window: 1d, limit: 5, charge: always}}
  - {key: month, rate_limit: {window: month, limit: 5}}
  - {key: granted, rate_limit: {algorithm: counter, unit: year, limit: 100, grants: 10}}
  - {key: all, value: a*, share_threshold: true, rate_limit: {unit: year, requests_per_unit: 9}}
  - {key: free, rate_limit: {unlimited: true}}
",
        &[],
        &[
            ("k=x limit 1 YEAR", "ok 0: ok"),
            ("k=x limit 1 YEAR", "ok 0: ok"),
            ("GET rl:d:fixed:31536000:k=x", "2"),
            ("bucket=x +2000000 limit 9 YEAR", "ok 0: ok"),
            ("bucket=x +2000000", "ok 0: ok"),
            ("bucket=x limit 4294967295 YEAR", "InvalidArgument"),
            // The unit of the rule keeps the key; a denial is remembered for its own limit alone.
            ("counter=x +2 limit 1 DAY", "over 0: over"),
            ("counter=x +2", "ok 1: ok"),
            ("counter=x +2 limit 9 DAY", "ok 3: ok"),
            ("month=x +2 limit 9 MONTH", "ok 7: ok"),
            ("GET rl:d:fixed:month:month=x", "2"),
            ("month=x limit 9 DAY", "ok 8: ok"),
            ("granted=x +2 limit 20 YEAR", "ok 18: ok"),
            ("all=ab limit 20 YEAR", "ok 19: ok"),
            ("all=ac", "ok 7: ok"),
            ("free=x limit 1 YEAR", "ok 0: ok"),
            ("other=x limit 1 YEAR", "ok 0: ok"),
            ("other=x limit 1 YEAR | elsewhere=x limit 3 YEAR", "over 0 | ok 2: over"),
            ("elsewhere: k=x limit 1 YEAR", "ok 0: ok"),
            ("k=x limit 1 UNKNOWN", "InvalidArgument"),
            ("METRIC ratelimit_service_rate_limit_total_hits{domain=\"d\",key1=\"counter\"", "6"),
        ],
    ),
    (
        "the keys of the scripts are shared; an error about a key is never open",
        "rate-limiter: {use-algo: sliding-window-algo, window-size: 60, max-requests: 2}
",
        &[],
        &[
            ("rlaas: userId=42", "ok 1: ok"),
            // The other service, on the same key.
            ("RL.SLIDING rlaas:rate_limit:42 60 2", ""),
            ("rlaas: userId=42", "over 0: over"),
            ("rlaas: userId=42 limit 3 MINUTE", "ok 0: ok"),
            ("rlaas: userId=42 limit 1 YEAR", "ok 0: ok"),
            ("rlaas: userId=42 limit 1 YEAR", "over 0: over"),
            ("rlaas: foo=42 limit 1 YEAR", "ok 0: ok"),
            ("GET rl:rlaas:fixed:31536000:foo=42", "1"),
            ("SET rlaas:rate_limit:43 x", ""),
            ("rlaas: userId=43", "Internal"),
        ],
    ),
];

#[test]
fn each_request_gets_what_the_page_says() {
    for_each_server(|bin| {
        for (name, rules, env, steps) in CASES {
            println!("{name}");
            let server = Server::start(bin);
            check(&server, &Rlaas::with_env(&server, rules, env), steps);
        }
    });
}

#[test]
fn a_reply_names_the_limit_and_says_when_it_is_whole_again() {
    let server = one_server();
    let rules = "domain: d
descriptors:
  - {key: user, rate_limit: {name: mine, unit: year, requests_per_unit: 3}}
  - {key: bucket, rate_limit: {algorithm: token, window: 100s, limit: 10, burst: 1}}
  - {key: window, rate_limit: {algorithm: window, window: 1000h, limit: 3}}
";
    let service = Rlaas::start(&server, rules);
    assert_eq!(service.code("bucket=x"), OK);
    let statuses = service.try_ask("user=a | bucket=x | window=x").expect("a reply").statuses;
    let limit = RateLimit { name: "mine".to_owned(), requests_per_unit: 3, unit: 6 };
    assert_eq!(statuses[0].current_limit, Some(limit));
    assert_eq!(statuses[1].current_limit.as_ref().expect("a limit").unit, 0);
    // A token comes every 10 seconds; a window starts with its first request.
    for (status, expected) in statuses.iter().zip([1..=31_536_000, 9..=10, 3_599_990..=3_600_000]) {
        assert!(expected.contains(&status.duration_until_reset.expect("a time").seconds), "{status:?}");
    }
}

#[test]
fn the_end_gives_back_what_was_granted() {
    let server = one_server();
    let rules = "domain: d\ndescriptors: [{key: k, rate_limit: {unit: year, requests_per_unit: 1000, grants: 100}}]\n";
    // Far away, so that it has to wait for the reply.
    let link = Link::new(server.port(), Duration::from_millis(75));
    let mut service = Rlaas::at(&url(link.port), rules, &[]);
    check(&server, &service, &[("k=x +50", "ok 950: ok"), ("k=x +50", "ok 900: ok"), ("k=x +50", "ok 850: ok")]);
    service.signal("-TERM");
    assert_eq!(service.wait(), 0);
    assert_eq!(counted(&server, "rl:d:fixed:"), Some(150));
}

#[test]
fn limits_with_one_path_have_grants_of_their_own() {
    let server = one_server();
    let rules = "domain: d
descriptors:
  - {key: a.b, rate_limit: {unit: year, requests_per_unit: 1000, grants: 2}}
  - {key: a, descriptors: [{key: b, rate_limit: {unit: year, requests_per_unit: 1000, grants: 500}}]}
";
    let service = Rlaas::start(&server, rules);
    let ask = || assert_eq!(["a.b=x", "a=x,b=x"].map(|ask| service.code(ask)), [OK, OK]);
    let counted = |key: &str| counted(&server, &format!("rl:d:fixed:31536000:{key}")).expect("a counter");
    ask();
    // What is fetched ahead may be a batch more.
    let (small, large) = (counted("a.b=x"), counted("a=x"));
    assert!(small <= 4 && large >= 500, "{small} {large}");
    // A reload takes both over.
    service.write_rules(&format!("{rules}  - {{key: c}}\n"));
    service.until_generation(2);
    ask();
    assert!(counted("a.b=x") <= 6 && counted("a=x") == large, "{} {}", counted("a.b=x"), counted("a=x"));
}

#[test]
fn headers_and_metadata_are_there_if_enabled() {
    let server = one_server();
    let rules = "domain: d
descriptors:
  - key: one
    rate_limit: {unit: year, requests_per_unit: 5}
    metadata: {team: a, deep: {x: 1}}
  - key: two
    rate_limit: {unit: year, requests_per_unit: 3, unit_scale: 10}
    metadata: {team: b, deep: {x: 2, y: [true, null]}}
  - {key: quota, quota_mode: true, rate_limit: {name: a quota, unit: year, requests_per_unit: 0}}
";
    let enabled = [
        ("LIMIT_RESPONSE_HEADERS_ENABLED", "true"),
        ("RESPONSE_DYNAMIC_METADATA", "1"),
        ("LIMIT_LIMIT_HEADER", "X-Limit"),
    ];
    let service = Rlaas::with_env(&server, rules, &enabled);
    let ask = |service: &Rlaas, ask: &str| -> Value {
        serde_json::from_str(&service.post("/json", ask, "").body).expect("JSON")
    };
    let reply = ask(&service, "one= | two=");
    // The one with the least remaining.
    let headers = reply["responseHeadersToAdd"].as_array().expect("headers");
    assert_eq!(
        headers[..2],
        [json!({"key": "X-Limit", "value": "3"}), json!({"key": "RateLimit-Remaining", "value": "2"})]
    );
    assert_eq!(headers[2]["key"], "RateLimit-Reset");
    let metadata = json!({"deep": {"x": 1.0, "y": [true, null]}, "team": "a"});
    let descriptors = json!([{"entries": ["one="]}, {"entries": ["two="]}]);
    assert_eq!(reply["dynamicMetadata"], json!({"domain": "d", "descriptors": descriptors, "metadata": metadata}));
    // The last that denies, quotas aside.
    let reply = ask(&service, "one= +9 | quota=");
    assert_eq!(
        (&reply["overallCode"], &reply["responseHeadersToAdd"][0]["value"]),
        (&json!("OVER_LIMIT"), &json!("5"))
    );
    let descriptors = json!([{"entries": ["one="], "hitsAddend": 9.0}, {"entries": ["quota="]}]);
    let expected = json!({"domain": "d", "descriptors": descriptors, "deniedBy": ["d.one", "a_quota"]});
    assert_eq!(reply["dynamicMetadata"], expected);
    assert_eq!(ask(&service, "one= +9 | two= +99")["responseHeadersToAdd"][0]["value"], "3");
    let reply = ask(&Rlaas::start(&server, rules), "one=");
    assert!(reply["statuses"].is_array() && reply.get("responseHeadersToAdd").is_none(), "{reply}");
    assert!(reply.get("dynamicMetadata").is_none(), "{reply}");
}

#[test]
fn wrong_requests_are_invalid_arguments() {
    let server = one_server();
    let service = Rlaas::start(
        &server,
        "domain: d\nall_or_nothing: true\ndescriptors: [{key: k, rate_limit: {unit: year, requests_per_unit: 5}}]\n",
    );
    let many = |n: usize| (0..n).map(|i| format!("k={i}")).collect::<Vec<_>>().join(" | ");
    for (wrong, text) in [
        (": k=x", "the domain"),
        ("d: ", "the list of descriptors"),
        (&many(65), "64 limits"),
        ("k=x +18446744073709551615", "hits_addend"),
    ] {
        let status = service.try_ask(wrong).expect_err(text);
        assert_eq!(status.code(), tonic::Code::InvalidArgument);
        assert!(status.message().contains(text), "{status}");
    }
    assert_eq!(service.code(&many(64)), OK);
}
