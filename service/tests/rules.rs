//! Which limit a descriptor gets: the behaviour that envoyproxy/ratelimit documents, in rules of our own.

use redis_rl_client::Fallback;
use rlaas::rules::{self, Entry, Found, Rules, Settings, Source};

fn sources(files: &[&str]) -> Vec<Source> {
    let file = |(i, text): (usize, &&str)| Source { name: format!("{i}.yaml"), text: (*text).to_owned() };
    files.iter().enumerate().map(file).collect()
}

fn load(text: &str) -> Rules {
    let (rules, findings) = rules::load(&sources(&[text]), Settings::default());
    rules.unwrap_or_else(|| panic!("{:?}\n{text}", findings.errors))
}

/// The errors of files, as they are printed.
fn errors_of(files: &[&str], settings: Settings) -> Vec<String> {
    let (rules, findings) = rules::load(&sources(files), settings);
    assert_eq!(rules.is_none(), !findings.errors.is_empty());
    findings.errors.iter().map(ToString::to_string).collect()
}

fn find<'r>(rules: &'r Rules, domain: &str, entries: &[Entry<'_>]) -> Option<Found<'r>> {
    rules.domains.get(domain)?.find(entries)
}

/// The policy of a descriptor's limit; `unlimited`, or `none`.
fn policy(rules: &Rules, domain: &str, entries: &[Entry<'_>]) -> String {
    match find(rules, domain, entries) {
        None => "none".to_owned(),
        Some(found) => found.limit.rate.map_or_else(|| "unlimited".to_owned(), |rate| rate.policy.to_string()),
    }
}

fn key(rules: &Rules, domain: &str, entries: &[Entry<'_>]) -> String {
    let found = find(rules, domain, entries).expect("a rule");
    let rate = found.limit.rate.expect("a limit");
    rules::key("", domain, &rules.domains[domain], &rate, entries, &found)
}

fn metric(rules: &Rules, domain: &str, entries: &[Entry<'_>]) -> String {
    let found = find(rules, domain, entries).expect("a rule");
    if found.limit.detailed_metric || found.limit.values_in_metric {
        format!("{domain}.{}", rules.domains[domain].metric(entries).expect("a rule").join("."))
    } else {
        found.limit.path.to_string()
    }
}

#[test]
fn a_value_is_more_specific_than_a_key() {
    let rules = load(
        "domain: edge
descriptors:
  - key: client
    rate_limit: {unit: second, requests_per_unit: 10}
  - key: client
    value: 203.0.113.9
    rate_limit: {unit: second, requests_per_unit: 0}
  - key: client
    value: trusted
",
    );
    assert_eq!(policy(&rules, "edge", &[("client", "198.51.100.1")]), "FIXED 1 10");
    assert_eq!(policy(&rules, "edge", &[("client", "203.0.113.9")]), "FIXED 1 0");
    // A rule without a limit: no way back to the less specific one.
    assert_eq!(policy(&rules, "edge", &[("client", "trusted")]), "none");
    assert_eq!(policy(&rules, "edge", &[("other", "x")]), "none");
    assert_eq!(policy(&rules, "elsewhere", &[("client", "x")]), "none");
    assert_eq!(policy(&rules, "edge", &[]), "none");
}

#[test]
fn the_depth_must_be_equal() {
    let rules = load(
        "domain: mail
descriptors:
  - key: kind
    value: marketing
    descriptors:
      - key: to
        rate_limit: {unit: day, requests_per_unit: 5}
  - key: to
    rate_limit: {unit: day, requests_per_unit: 100}
    descriptors:
      - key: campaign
        rate_limit: {unit: HOUR, requests_per_unit: 2}
",
    );
    assert_eq!(policy(&rules, "mail", &[("kind", "marketing"), ("to", "a@example.org")]), "FIXED 86400 5");
    assert_eq!(policy(&rules, "mail", &[("kind", "marketing")]), "none");
    assert_eq!(policy(&rules, "mail", &[("to", "a")]), "FIXED 86400 100");
    assert_eq!(policy(&rules, "mail", &[("to", "a"), ("campaign", "b")]), "FIXED 3600 2");
    assert_eq!(policy(&rules, "mail", &[("to", "a"), ("other", "b")]), "none");
    assert_eq!(policy(&rules, "mail", &[("to", "a"), ("campaign", "b"), ("x", "y")]), "none");
}

#[test]
fn units_are_fixed_lengths() {
    for (unit, seconds) in [
        ("second", 1),
        ("Minute", 60),
        ("HOUR", 3_600),
        ("day", 86_400),
        ("week", 604_800),
        ("month", 2_592_000),
        ("year", 31_536_000),
    ] {
        let rules =
            load(&format!("domain: d\ndescriptors: [{{key: k, rate_limit: {{unit: {unit}, requests_per_unit: 3}}}}]"));
        assert_eq!(policy(&rules, "d", &[("k", "v")]), format!("FIXED {seconds} 3"), "{unit}");
        let rate = find(&rules, "d", &[("k", "v")]).unwrap().limit.rate.unwrap();
        assert_eq!(rate.unit.word(), unit.to_ascii_lowercase());
        assert_eq!(rate.charge, rules::Charge::Always);
    }
}

#[test]
fn stars_stand_for_any_characters() {
    let rules = load(
        "domain: web
descriptors:
  - {key: path, value: /api/*, rate_limit: {unit: minute, requests_per_unit: 1}}
  - {key: path, value: /api/v2*, rate_limit: {unit: minute, requests_per_unit: 2}}
  - {key: path, value: /api/v3, rate_limit: {unit: minute, requests_per_unit: 3}}
  - {key: path, value: /u/*/posts/*/edit, rate_limit: {unit: minute, requests_per_unit: 4}}
  - {key: path, rate_limit: {unit: minute, requests_per_unit: 5}}
  - {key: tenant*, rate_limit: {unit: minute, requests_per_unit: 6}}
",
    );
    let of = |path| policy(&rules, "web", &[("path", path)]);
    assert_eq!(of("/api/"), "FIXED 60 1");
    // The first in the order of the file, not the longest.
    assert_eq!(of("/api/v2/x"), "FIXED 60 1");
    // The exact value wins over an earlier star.
    assert_eq!(of("/api/v3"), "FIXED 60 3");
    assert_eq!(of("/u/1/posts/2/edit"), "FIXED 60 4");
    assert_eq!(of("/u/1/posts/2/edit/x"), "FIXED 60 5");
    assert_eq!(policy(&rules, "web", &[("tenant-7", "x")]), "FIXED 60 6");
}

#[test]
fn share_threshold_is_one_limit_for_all_that_fit() {
    let rules = load(
        "domain: d
descriptors:
  - {key: file, value: img/*, share_threshold: true, rate_limit: {unit: hour, requests_per_unit: 1}}
  - {key: doc, value: doc/*, rate_limit: {unit: hour, requests_per_unit: 1}}
  - key: dir
    value: top/*
    share_threshold: true
    descriptors: [{key: user, rate_limit: {unit: hour, requests_per_unit: 1}}]
  - {key: x*, share_threshold: true, rate_limit: {unit: hour, requests_per_unit: 1}}
",
    );
    assert_eq!(key(&rules, "d", &[("file", "img/a")]), "rl:d:fixed:3600:file=img/*");
    assert_eq!(key(&rules, "d", &[("file", "img/b")]), key(&rules, "d", &[("file", "img/*")]));
    assert_eq!(key(&rules, "d", &[("doc", "doc/a")]), "rl:d:fixed:3600:doc=doc/a");
    assert_eq!(key(&rules, "d", &[("doc", "doc/*")]), "rl:d:fixed:3600:doc=doc/%2A");
    assert_eq!(key(&rules, "d", &[("dir", "top/1"), ("user", "u")]), "rl:d:fixed:3600:dir=top/*,user=u");
    assert_eq!(key(&rules, "d", &[("x1", "v")]), "rl:d:fixed:3600:x1~x*");
}

#[test]
fn no_two_descriptors_share_a_key() {
    let rules = load(
        "domain: d
descriptors:
  - key: a
    rate_limit: {unit: hour, requests_per_unit: 1}
    descriptors: [{key: c, rate_limit: {unit: hour, requests_per_unit: 1}}]
  - {key: a_b, rate_limit: {unit: hour, requests_per_unit: 1}}
",
    );
    assert_eq!(key(&rules, "d", &[("a_b", "c")]), "rl:d:fixed:3600:a_b=c");
    assert_eq!(key(&rules, "d", &[("a", "b_c")]), "rl:d:fixed:3600:a=b_c");
    assert_eq!(key(&rules, "d", &[("a", "b,c=d")]), "rl:d:fixed:3600:a=b%2Cc%3Dd");
    assert_eq!(key(&rules, "d", &[("a", "x"), ("c", "d")]), "rl:d:fixed:3600:a=x,c=d");
    assert_eq!(key(&rules, "d", &[("a", "ü %{}~\n")]), "rl:d:fixed:3600:a=ü%20%25%7B%7D%7E%0A");
}

#[test]
fn the_hash_tag_is_the_value_of_its_entry() {
    let rules = load(
        "domain: d
hash_tag: tenant
descriptors:
  - {key: tenant, rate_limit: {unit: hour, requests_per_unit: 1}}
  - {key: path, rate_limit: {unit: hour, requests_per_unit: 1}}
",
    );
    assert_eq!(key(&rules, "d", &[("tenant", "acme")]), "rl:d:fixed:3600:tenant={acme}");
    assert_eq!(key(&rules, "d", &[("tenant", "")]), "rl:d:fixed:3600:tenant={%}");
    assert_eq!(key(&rules, "d", &[("tenant", "}x{")]), "rl:d:fixed:3600:tenant={%7Dx%7B}");
    assert_eq!(key(&rules, "d", &[("path", "/")]), "rl:d:fixed:3600:path=/");
}

#[test]
fn metrics_have_the_names_of_the_rules_or_the_values() {
    let rules = load(
        "domain: d
descriptors:
  - {key: plain, rate_limit: {unit: hour, requests_per_unit: 1}}
  - {key: star, value: s*, rate_limit: {unit: hour, requests_per_unit: 1}}
  - {key: detail, detailed_metric: true, rate_limit: {unit: hour, requests_per_unit: 1}}
  - key: route
    value_to_metric: true
    descriptors:
      - key: method
        value: G*
        value_to_metric: true
        descriptors: [{key: user, rate_limit: {unit: hour, requests_per_unit: 1}, metadata: {a: 1}}]
  - key: shared
    value: s/*
    share_threshold: true
    value_to_metric: true
    descriptors: [{key: m, detailed_metric: true, rate_limit: {unit: hour, requests_per_unit: 1}}]
",
    );
    assert_eq!(metric(&rules, "d", &[("plain", "x")]), "d.plain");
    assert_eq!(metric(&rules, "d", &[("star", "sun")]), "d.star_s*");
    assert_eq!(metric(&rules, "d", &[("detail", "x")]), "d.detail_x");
    let deep = [("route", "api"), ("method", "GET"), ("user", "u")];
    assert_eq!(metric(&rules, "d", &deep), "d.route_api.method_GET.user");
    // In envoyproxy/ratelimit it is lost.
    assert!(find(&rules, "d", &deep).unwrap().limit.metadata.is_some());
    assert_eq!(metric(&rules, "d", &[("shared", "s/1"), ("m", "GET")]), "d.shared_s/*.m_GET");
}

#[test]
fn go_yaml_reads_it_so() {
    let rules = load(
        "domain: first
domain: d
x-rules: &none null
descriptors:
  - key: yes
    value: 010
    shadow_mode: on
    rate_limit: &limit {unit: hour, requests_per_unit: 0x10}
  - key: b
    rate_limit: {<<: *limit, requests_per_unit: 1_000}
---
not: rules
"
        .replace("x-rules: &none null\n", "")
        .as_str(),
    );
    assert_eq!(policy(&rules, "d", &[("yes", "010")]), "FIXED 3600 16");
    assert!(find(&rules, "d", &[("yes", "010")]).unwrap().limit.shadow);
    assert_eq!(policy(&rules, "d", &[("b", "x")]), "FIXED 3600 1000");
    assert_eq!(policy(&rules, "first", &[("b", "x")]), "none");
}

#[test]
fn every_algorithm_has_its_options() {
    for (fields, expected) in [
        ("algorithm: token, window: 90s, limit: 300, burst: 50", "TOKEN 90 300 BURST 50"),
        ("algorithm: gcra, unit: second, requests_per_unit: 5", "GCRA 1 5"),
        ("algorithm: rolling, window: 500ms, limit: 5", "ROLLING 500ms 5"),
        ("algorithm: counter, window: 1d, limit: 5, charge: always", "COUNTER 86400 5"),
        ("algorithm: window, window: 90s, limit: 5, charge: always", "WINDOW 90 5"),
        ("window: month, limit: 5, anchor: 2026-01-15T00:00:00Z", "FIXED month 5 ANCHOR 1768435200"),
        ("window: 5m, limit: 5, charge: allowed", "FIXED 300 5"),
        ("window: 5m, limit: 500, grants: 100", "FIXED 300 500"),
        ("unlimited: true", "unlimited"),
        ("unlimited: true, unit: fortnight", "unlimited"),
    ] {
        let rules = load(&format!("domain: d\ndescriptors: [{{key: k, rate_limit: {{{fields}}}}}]"));
        assert_eq!(policy(&rules, "d", &[("k", "v")]), expected, "{fields}");
    }
    let rules = load("domain: d\ndescriptors: [{key: k, rate_limit: {window: 5m, limit: 500, grants: 100}}]");
    let rate = find(&rules, "d", &[("k", "v")]).unwrap().limit.rate.unwrap();
    assert_eq!((rate.charge, rate.grants), (rules::Charge::Allowed, Some(100)));
    let rules = load("domain: d\nall_or_nothing: yes\ndescriptors: [{key: k, rate_limit: {window: 5m, limit: 5}}]");
    assert_eq!(find(&rules, "d", &[("k", "v")]).unwrap().limit.rate.unwrap().charge, rules::Charge::Allowed);
}

#[test]
fn a_wrong_file_says_where_and_what() {
    let limit = |fields: &str| format!("domain: d\ndescriptors:\n  - key: k\n    rate_limit:\n      {{{fields}}}\n");
    for (text, expected) in [
        ("descriptors:\n", "0.yaml: a file must name its domain"),
        ("", "0.yaml: a file must name its domain"),
        ("- a\n", "0.yaml:1:1: a file of rules must be a map"),
        ("domain: d\ndescriptors:\n  - value: x\n", "0.yaml:3:5: a descriptor must have a key"),
        ("domain: d\ndescriptors: [a]\n", "0.yaml:2:15: a list must have maps here"),
        ("domain: d\n0.25: x\n", "0.yaml:2:1: a key must be text"),
        (
            "domain: d\ndescriptors:\n  - key: k\n    ratelimit: {}\n",
            "0.yaml:4:5: unknown key 'ratelimit' in a descriptor",
        ),
        (
            "domain: d\ndescriptors:\n  - key: k\n    value: 1.5\n",
            "0.yaml:4:12: expected an integer up to 2^63 - 1 or text; quote the value if it is text",
        ),
        (
            "domain: d\ndescriptors:\n  - {key: a, value: b}\n  - {key: a_b}\n",
            "0.yaml:4:5: 'd.a_b' is here twice; key and value are compared as one text, joined by '_'",
        ),
        (
            "domain: d\ndescriptors:\n  - {key: a, shadow_mode: 'true'}\n",
            "0.yaml:3:27: invalid shadow_mode: expected true or false",
        ),
        (
            "domain: d\ndescriptors:\n  - {key: a, share_threshold: true}\n",
            "0.yaml:3:31: invalid share_threshold: only a value with '*' has something to share",
        ),
        ("domain: d\ndescriptors: {key: a}\n", "0.yaml:2:14: invalid descriptors: expected a list"),
        (
            "domain: d\non_unavailable: maybe\n",
            "0.yaml:2:17: invalid on_unavailable: expected allow, deny, error or local",
        ),
        ("domain: d\non_overload: allow\n", "0.yaml:2:14: invalid on_overload: expected local, deny or error"),
        (
            "domain: d\ninstances: 3\non_overload: deny\n",
            "0.yaml:2:12: invalid instances: neither on_unavailable nor on_overload is 'local', which takes it",
        ),
        (
            &limit("unit: fortnight, requests_per_unit: 5"),
            "0.yaml:5:14: invalid unit 'fortnight': expected second, minute, hour, day, week, month or year, \
             or a window instead",
        ),
        (
            &limit(&format!("unit: \"x\\n{}\", requests_per_unit: 5", "y".repeat(50))),
            "0.yaml:5:14: invalid unit 'x\\nyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy…': expected second, minute, hour, day, \
             week, month or year, or a window instead",
        ),
        (
            &limit("unit: day, requests_per_unit: 4294967296"),
            "0.yaml:5:38: invalid requests_per_unit: expected an integer from 0 to 4294967295",
        ),
        (
            &limit("unit: day, requests_per_unit: '5'"),
            "0.yaml:5:38: invalid requests_per_unit: expected an integer from 0 to 4294967295",
        ),
        (
            &limit("unit: day, requests_per_unit: -1"),
            "0.yaml:5:38: invalid requests_per_unit: expected an integer from 0 to 4294967295",
        ),
        (&limit("unit: day, unlimited: true"), "0.yaml:5:14: an unlimited rate_limit has no unit"),
        (&limit("unit: day, window: 1d, limit: 5"), "0.yaml:5:14: a rate_limit has a unit or a window, not both"),
        (
            &limit("unit: day, requests_per_unit: 5, limit: 5"),
            "0.yaml:5:48: a rate_limit has requests_per_unit or limit, not both",
        ),
        (
            &limit("window: 60, limit: 5"),
            "0.yaml:5:16: invalid window: expected an integer with a unit, as 500ms, 10s, 5m, 1h or 1d; or day, week, month or year",
        ),
        (
            &limit("algorithm: lease, window: 1s, limit: 5"),
            "0.yaml:5:19: invalid algorithm: expected one of fixed, window, rolling, counter, token, gcra",
        ),
        (&limit("window: 1s, limit: 5, burst: 5"), "0.yaml:5:37: invalid burst: only token and gcra take it"),
        (
            &limit("algorithm: token, window: month, limit: 5"),
            "0.yaml:5:34: invalid window: only FIXED takes day, week, month and year",
        ),
        (
            &limit("algorithm: token, window: 1s, limit: 5, anchor: 2026-01-15T00:00:00Z"),
            "0.yaml:5:56: invalid anchor: only fixed takes it",
        ),
        (
            &limit("window: 1d, limit: 5, anchor: soon"),
            "0.yaml:5:38: invalid anchor: expected a time from 1970 to 9999, as 2026-01-15T00:00:00Z",
        ),
        (
            &limit("algorithm: gcra, window: 1s, limit: 5, charge: always"),
            "0.yaml:5:55: invalid charge: gcra stores a time, and cannot count beyond its limit",
        ),
        (
            &limit("window: 1s, limit: 5, charge: always, grants: 5"),
            "0.yaml:5:38: invalid charge: grants imply 'charge: allowed'",
        ),
        (
            &limit("unit: day, requests_per_unit: 5, name: a, replaces: [{name: a}]"),
            "0.yaml:5:61: invalid replaces: a rate_limit cannot replace itself",
        ),
        (
            &limit("unit: day, requests_per_unit: 5, replaces: [{name: }]"),
            "0.yaml:5:52: invalid replaces: expected the name of a rate_limit",
        ),
    ] {
        assert_eq!(errors_of(&[text], Settings::default()), [expected]);
    }
    for (fields, expected) in [
        ("{}", "2:12: authorize needs descriptors: a list of lists of entries"),
        ("{descriptors: [{key: k}]}", "2:27: invalid descriptors of authorize: expected a list of entries"),
        ("{descriptors: [[]]}", "2:27: invalid descriptors of authorize: a descriptor needs an entry"),
        (
            "{descriptors: [[{key: k, header: A, client_address: true}]]}",
            "2:28: an entry of authorize needs one of header, client_address and path",
        ),
        ("{descriptors: [[{key: k, header: 'a b'}]]}", "2:28: invalid header: expected the name of a header"),
        ("{descriptors: [[{key: k, heder: A}]]}", "2:37: unknown key 'heder' in an entry of authorize"),
        (
            "{descriptors: [[{key: k, path: true}]]}",
            "2:12: authorize needs trusted_proxies: the path and X-Forwarded-* come from them",
        ),
        (
            "{trusted_proxies: [10.0.0.0/99], descriptors: [[{key: k, header: A}]]}",
            "2:31: invalid trusted_proxies: expected an address or a network, as 10.0.0.0/8",
        ),
        (
            "{deny_status: 200, descriptors: [[{key: k, header: A}]]}",
            "2:26: invalid deny_status: expected a status from 400 to 499",
        ),
        ("{if_none: ask, descriptors: [[{key: k, header: A}]]}", "2:22: invalid if_none: expected allow or deny"),
        ("{if_nothing: deny}", "2:13: unknown key 'if_nothing' in authorize"),
    ] {
        let errors = errors_of(&[&format!("domain: d\nauthorize: {fields}\n")], Settings::default());
        assert_eq!(errors.first().map(String::as_str), Some(format!("0.yaml:{expected}").as_str()), "{fields}");
    }
    let errors = errors_of(&["'''"], Settings::default());
    assert!(errors[0].starts_with("0.yaml:"), "{errors:?}");
    let all = "domain: d\nall_or_nothing: true\ndescriptors: [{key: k, rate_limit: {unit: day, requests_per_unit: 9, grants: 5, charge: always}}]";
    assert_eq!(errors_of(&[all], Settings::default()).len(), 3);
}

#[test]
fn the_maps_of_a_repeated_rate_limit_are_joined() {
    let of = |descriptor: &str| {
        let base =
            "{key: base, rate_limit: &rate {unit: minute, requests_per_unit: 5, name: n}, metadata: {a: 1, b: 1}}";
        load(&format!("domain: d\ndescriptors:\n  - &base {base}\n  - {descriptor}\n"))
    };
    for (descriptor, expected) in [
        ("{<<: *base, key: k, rate_limit: {requests_per_unit: 10}}", "FIXED 60 10 AS n"),
        ("{<<: *base, key: k, rate_limit: {unit: hour, name: m}}", "FIXED 3600 5 AS m"),
        ("{key: k, rate_limit: {requests_per_unit: 10}, <<: {rate_limit: *rate}}", "FIXED 60 5 AS n"),
        ("{key: k, rate_limit: {unit: day}, rate_limit: {requests_per_unit: 7}}", "FIXED 86400 7"),
        ("{<<: *base, key: k, rate_limit: {unlimited: true, unit: null}}", "unlimited"),
        ("{<<: *base, key: k, rate_limit: null}", "none"),
        ("{<<: *base, key: k, rate_limit: null, rate_limit: {unit: day, requests_per_unit: 1}}", "FIXED 86400 1"),
    ] {
        assert_eq!(policy(&of(descriptor), "d", &[("k", "v")]), expected, "{descriptor}");
    }
    let metadata = |descriptor: &str| {
        let rules = of(descriptor);
        let fields = find(&rules, "d", &[("k", "v")]).expect("a rule").limit.metadata.clone();
        format!("{:?}", fields.unwrap_or_default())
    };
    assert_eq!(metadata("{<<: *base, key: k, metadata: {b: 2}}"), r#"{"a": Number(1.0), "b": Number(2.0)}"#);
    assert_eq!(metadata("{<<: *base, key: k, metadata: ~}"), "{}");
    let twice = "domain: d\ndescriptors: [{key: k, rate_limit: 5, rate_limit: {unit: day, requests_per_unit: 1}}]";
    assert_eq!(errors_of(&[twice], Settings::default()), ["0.yaml:2:36: invalid rate_limit: expected a map"]);
}

#[test]
fn instances_do_not_depend_on_the_order_of_files() {
    let merge = Settings { merge_domains: true, ..Settings::default() };
    let (local, instances) = ("domain: d\non_unavailable: local\n", "domain: d\ninstances: 10\n");
    for files in [[local, instances], [instances, local]] {
        let (rules, findings) = rules::load(&sources(&files), merge);
        let rules = rules.unwrap_or_else(|| panic!("{:?}", findings.errors));
        let options = &rules.domains["d"].options;
        assert_eq!(options.on_unavailable, Fallback::Local { instances: 10 });
        assert_eq!(options.on_overload, Fallback::Local { instances: 10 });
    }
    // on_overload is local if it is not given.
    assert!(errors_of(&["domain: d\n", instances], merge).is_empty());
    let invalid = "1.yaml:2:12: invalid instances: neither on_unavailable nor on_overload is 'local', which takes it";
    assert_eq!(errors_of(&["domain: d\non_overload: deny\n", instances], merge), [invalid]);
}

#[test]
fn files_of_one_domain_are_merged_only_if_told_to() {
    let merge = Settings { merge_domains: true, ..Settings::default() };
    let one = "domain: d\ndescriptors: [{key: a, rate_limit: {unit: day, requests_per_unit: 1}}]";
    let two = "domain: d\ndescriptors: [{key: b, rate_limit: {unit: day, requests_per_unit: 2}}]";
    let (rules, _) = rules::load(&sources(&[one, two]), merge);
    let rules = rules.expect("merged");
    assert_eq!(policy(&rules, "d", &[("a", "")]), "FIXED 86400 1");
    assert_eq!(policy(&rules, "d", &[("b", "")]), "FIXED 86400 2");
    assert!(errors_of(&[one, two], Settings::default())[0].starts_with("1.yaml:1:9: domain 'd' is in 0.yaml too"));
    assert!(errors_of(&[one, one], merge)[0].contains("is here twice"));
    let strict = format!("all_or_nothing: true\n{two}");
    let loose = format!("all_or_nothing: false\n{one}");
    assert_eq!(
        errors_of(&[&loose, &strict], merge),
        ["1.yaml:1:17: invalid all_or_nothing: another file of this domain says something else"]
    );
    // The options of a later file hold for the rules of an earlier one.
    let (rules, _) = rules::load(&sources(&[one, &strict]), merge);
    let rules = rules.expect("merged");
    assert_eq!(find(&rules, "d", &[("a", "")]).unwrap().limit.rate.unwrap().charge, rules::Charge::Allowed);
}

#[test]
fn all_or_nothing_in_a_cluster_needs_one_slot() {
    let cluster = Settings { cluster: true, ..Settings::default() };
    let rules = |head: &str, keys: &str| {
        format!(
            "domain: d\nall_or_nothing: true\n{head}\ndescriptors:\n  - {{key: {keys}, rate_limit: {{unit: day, requests_per_unit: 1}}}}\n"
        )
    };
    assert_eq!(errors_of(&[&rules("hash_tag: tenant", "tenant")], cluster), [""; 0]);
    assert_eq!(errors_of(&[&rules("", "tenant")], Settings::default()), [""; 0]);
    assert!(errors_of(&[&rules("", "tenant")], cluster)[0].contains("needs a hash_tag"));
    assert!(errors_of(&[&rules("hash_tag: tenant", "path")], cluster)[0].contains("needs the entry 'tenant'"));
    let shared = rules("hash_tag: tenant", "tenant, value: a*, share_threshold: true");
    assert!(errors_of(&[&shared], cluster)[0].contains("cannot share_threshold"));
}

#[test]
fn the_configuration_of_the_scripts_has_their_keys() {
    let rules = load("rate-limiter:\n  use-algo: sliding-window-algo\n  window-size: 60\n  max-requests: 5\n");
    assert_eq!(policy(&rules, "rlaas", &[("userId", "42")]), "SLIDING 60 5");
    assert_eq!(key(&rules, "rlaas", &[("userId", "a:b")]), "rlaas:rate_limit:a:b");
    let rules = load("rate-limiter: {use-algo: fixed-window-algo, window-size: 60, max-requests: 5}");
    assert_eq!(policy(&rules, "rlaas", &[("userId", "42")]), "FIXED 60 5");
    assert!(errors_of(&["rate-limiter: {use-algo: other}"], Settings::default())[0].contains("use-algo"));
    assert!(
        errors_of(&["rate-limiter: {use-algo: fixed-window-algo}"], Settings::default())[0].contains("window-size")
    );
}

#[test]
fn what_has_no_effect_is_a_warning() {
    let text =
        "domain: d\ndescriptors:\n  - key: k\n    rate_limit: {unit: day, requests_per_unit: 1, shadow_mode: true}\n";
    let (rules, findings) = rules::load(&sources(&[text]), Settings::default());
    assert!(rules.is_some());
    let warnings: Vec<_> = findings.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warnings, ["0.yaml:4:51: 'shadow_mode' means nothing in a rate_limit and is ignored"]);
}

#[test]
fn the_hash_is_that_of_the_meaning() {
    let rules = "domain: d
on_unavailable: deny
descriptors:
  - {key: a, rate_limit: {unit: day, requests_per_unit: 1}}
  - {key: b, descriptors: [{key: c, shadow_mode: true, rate_limit: {unit: day, requests_per_unit: 2}}]}
  - {key: w, value: x*, rate_limit: {unit: day, requests_per_unit: 3}}
  - {key: w, value: '*y', metadata: {m: 1}, rate_limit: {unlimited: true}}
";
    let hash = load(rules).hash();
    assert!(hash.len() == 16 && hash.bytes().all(|c| c.is_ascii_hexdigit()), "{hash}");
    let same = "# Another file, in another order.
domain: d
descriptors:
  - key: b
    descriptors: [{key: c, shadow_mode: yes, rate_limit: {window: 1d, limit: 2}}]
  - {key: w, value: x*, rate_limit: {unit: DAY, requests_per_unit: 3}}
  - {key: w, value: '*y', metadata: {m: 1}, rate_limit: {unlimited: true}}
";
    let rest =
        "domain: d\non_unavailable: deny\ndescriptors: [{key: a, rate_limit: {unit: day, requests_per_unit: 1}}]\n";
    let settings = Settings { merge_domains: true, ..Settings::default() };
    let (merged, _) = rules::load(&sources(&[same, rest]), settings);
    assert_eq!(merged.expect("valid").hash(), hash);
    for (from, to) in [
        ("domain: d", "domain: e"),
        ("deny", "allow"),
        ("requests_per_unit: 1", "requests_per_unit: 11"),
        ("key: c", "key: d"),
        ("shadow_mode: true, ", ""),
        ("day", "hour"),
        ("{m: 1}", "{m: 2}"),
        ("requests_per_unit: 3", "requests_per_unit: 3, charge: allowed"),
        ("unlimited: true", "unlimited: true, name: n"),
        // The order of these decides.
        ("x*", "z*y"),
    ] {
        assert_ne!(load(&rules.replacen(from, to, 1)).hash(), hash, "{from} {to}");
    }
    let swapped = rules.replace("x*", "?").replace("'*y'", "x*").replace('?', "'*y'");
    assert_ne!(load(&swapped).hash(), hash);
    assert_ne!(Rules::default().hash(), hash);
}
