//! Which limit a descriptor gets: the behaviour that envoyproxy/ratelimit documents, in rules of our own.

use redis_rl_client::Fallback;
use rlaas_rules::{self as rules, Entry, Found, Rate, Rules, Settings, Source};

fn sources(files: &[&str]) -> Vec<Source> {
    let file = |(i, text): (usize, &&str)| Source { name: format!("{i}.yaml"), text: (*text).to_owned() };
    files.iter().enumerate().map(file).collect()
}

fn load_all(files: &[&str], settings: &Settings) -> Rules {
    let (rules, findings) = rules::load(&sources(files), settings);
    rules.unwrap_or_else(|| panic!("{:?}\n{files:?}", findings.errors))
}

fn load(text: &str) -> Rules {
    load_all(&[text], &Settings::default())
}

/// The rules with one limit, of the key `k`.
fn limited(fields: &str) -> Rules {
    load(&format!("domain: d\ndescriptors: [{{key: k, rate_limit: {{{fields}}}}}]"))
}

/// The errors of files, as they are printed.
fn errors_of(files: &[&str], settings: &Settings) -> Vec<String> {
    let (rules, findings) = rules::load(&sources(files), settings);
    assert_eq!(rules.is_none(), !findings.errors.is_empty());
    findings.errors.iter().map(ToString::to_string).collect()
}

/// Those of one file.
fn wrong(text: &str) -> Vec<String> {
    errors_of(&[text], &Settings::default())
}

fn find<'r>(rules: &'r Rules, domain: &str, entries: &[Entry<'_>]) -> Option<Found<'r>> {
    rules.domains.get(domain)?.find(entries)
}

fn rate(rules: &Rules, key: &str) -> Rate {
    find(rules, "d", &[(key, "v")]).expect("a rule").limit.rate.expect("a limit")
}

/// The policy of a descriptor's limit, without a name that its rule gives it; `unlimited`, or `none`.
fn policy(rules: &Rules, domain: &str, entries: &[Entry<'_>]) -> String {
    match find(rules, domain, entries) {
        None => "none".to_owned(),
        Some(found) => {
            let policy = found.limit.rate.map_or_else(|| "unlimited".to_owned(), |rate| rate.policy.to_string());
            let unnamed = policy.split(" AS ").next().filter(|_| found.limit.name.is_empty());
            unnamed.unwrap_or(&policy).to_owned()
        }
    }
}

fn key(rules: &Rules, domain: &str, entries: &[Entry<'_>]) -> String {
    let found = find(rules, domain, entries).expect("a rule");
    rules::key("", &rules.domains[domain], entries, &found)
}

fn metric(rules: &Rules, domain: &str, entries: &[Entry<'_>]) -> String {
    let found = find(rules, domain, entries).expect("a rule");
    if found.limit.detailed_metric || found.limit.values_in_metric {
        format!("{domain}.{}", rules.domains[domain].metric(entries).expect("a rule").join("."))
    } else {
        found.limit.path.to_string()
    }
}

/// Rules, and descriptors with the keys of their limits; `metric` with their names in the metrics instead.
const NAMES: [(&str, &[(&str, &str)]); 4] = [
    (
        "
  - {key: file, value: img/*, share_threshold: true, rate_limit: {unit: hour, requests_per_unit: 1}}
  - {key: doc, value: doc/*, rate_limit: {unit: hour, requests_per_unit: 1}}
  - key: dir
    value: top/*
    share_threshold: true
    descriptors: [{key: user, rate_limit: {unit: hour, requests_per_unit: 1}}]
  - {key: x*, share_threshold: true, rate_limit: {unit: hour, requests_per_unit: 1}}
",
        &[
            ("file=img/a", "file=img/*"),
            ("file=img/*", "file=img/*"),
            ("doc=doc/a", "doc=doc/a"),
            ("doc=doc/*", "doc=doc/%2A"),
            ("dir=top/1 user=u", "dir=top/*,user=u"),
            ("x1=v", "x1~x*"),
        ],
    ),
    (
        "
  - key: a
    rate_limit: {unit: hour, requests_per_unit: 1}
    descriptors: [{key: c, rate_limit: {unit: hour, requests_per_unit: 1}}]
  - {key: a_b, rate_limit: {unit: hour, requests_per_unit: 1}}
",
        &[
            ("a_b=c", "a_b=c"),
            ("a=b_c", "a=b_c"),
            ("a=b,c=d", "a=b%2Cc%3Dd"),
            ("a=x c=d", "a=x,c=d"),
            ("a=ü\t%{}~\n", "a=ü%09%25%7B%7D%7E%0A"),
        ],
    ),
    (
        "
  - {key: tenant, rate_limit: {unit: hour, requests_per_unit: 1}}
  - {key: path, rate_limit: {unit: hour, requests_per_unit: 1}}
hash_tag: tenant
",
        &[
            ("tenant=acme", "tenant={acme}"),
            ("tenant=", "tenant={%}"),
            ("tenant=}x{", "tenant={%7Dx%7B}"),
            ("path=/", "path=/"),
        ],
    ),
    (
        "
  - {key: yes, value: 010, rate_limit: {unit: hour, requests_per_unit: 1}}
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
        &[
            ("metric yes=010", "d.yes_010"),
            ("metric star=sun", "d.star_s*"),
            ("metric detail=x", "d.detail_x"),
            ("metric route=api method=GET user=u", "d.route_api.method_GET.user"),
            ("metric shared=s/1 m=GET", "d.shared_s/*.m_GET"),
        ],
    ),
];

#[test]
fn keys_and_metrics_have_the_names_of_rules_and_values() {
    for (rules, descriptors) in NAMES {
        let rules = load(&format!("domain: d\ndescriptors:{rules}"));
        for (descriptor, expected) in descriptors {
            let (is_metric, entries) =
                descriptor.strip_prefix("metric ").map_or((false, *descriptor), |rest| (true, rest));
            let entries: Vec<_> = entries.split(' ').filter_map(|entry| entry.split_once('=')).collect();
            if is_metric {
                assert_eq!(metric(&rules, "d", &entries), *expected);
                // In envoyproxy/ratelimit it is lost.
                let metadata = &find(&rules, "d", &entries).unwrap().limit.metadata;
                assert_eq!(metadata.is_some(), descriptor.contains("user="));
            } else {
                assert_eq!(key(&rules, "d", &entries), format!("rl:d:fixed:3600:{expected}"));
            }
        }
    }
}

#[test]
fn a_scale_is_in_the_key_and_a_name_has_at_most_64_characters() {
    for (fields, expected) in [
        ("unit: hour, requests_per_unit: 5, unit_scale: 10", "rl:d:fixed:3600x10:k=v"),
        ("algorithm: lease, limit: 5", "rl:d:lease:k=v"),
    ] {
        assert_eq!(key(&limited(fields), "d", &[("k", "v")]), expected);
    }
    let name = "n".repeat(65);
    let named = limited(&format!("unit: hour, requests_per_unit: 5, name: {name}"));
    assert_eq!(policy(&named, "d", &[("k", "v")]), format!("FIXED 3600 5 AS {}", &name[1..]));
}

#[test]
fn every_algorithm_has_its_options() {
    for (fields, expected) in [
        ("unit: second, requests_per_unit: 0x10", "FIXED 1 16"),
        ("unit: Minute, requests_per_unit: 3", "FIXED 60 3"),
        ("unit: minute, requests_per_unit: 0", "FIXED 60 0"),
        ("algorithm: token, window: 1s, limit: 3, burst: 1, unit_scale: 1", "TOKEN 1 3 BURST 1"),
        ("unit: HOUR, requests_per_unit: 3", "FIXED 3600 3"),
        ("unit: week, requests_per_unit: 3", "FIXED 604800 3"),
        ("unit: month, requests_per_unit: 3", "FIXED 2592000 3"),
        ("unit: year, requests_per_unit: 3", "FIXED 31536000 3"),
        ("algorithm: token, window: 90s, limit: 300, burst: 50", "TOKEN 90 300 BURST 50"),
        ("algorithm: gcra, unit: second, requests_per_unit: 5", "GCRA 1 5"),
        ("algorithm: rolling, window: 500ms, limit: 5", "ROLLING 500ms 5"),
        ("algorithm: counter, window: 1d, limit: 5, charge: always", "COUNTER 86400 5"),
        ("algorithm: window, window: 90s, limit: 5, charge: always", "WINDOW 90 5"),
        ("algorithm: lease, limit: 5", "LEASE 60 5"),
        ("algorithm: lockout, window: 1d, limit: 5, max: 1h, block: 1m", "LOCKOUT 86400 5 BLOCK 60 MAX 3600"),
        ("unit: day, requests_per_unit: 20, unit_scale: 1000000", "FIXED 86400 20000000"),
        ("algorithm: token, window: 1s, limit: 3, burst: 2, unit_scale: 10", "TOKEN 1 30 BURST 20"),
        ("algorithm: token, window: 1s, limit: 3, burst: 9, grants: 9", "TOKEN 1 3 BURST 9"),
        ("window: month, limit: 5, anchor: 2026-01-15T00:00:00Z", "FIXED month 5 ANCHOR 1768435200"),
        ("window: 5m, limit: 5, charge: allowed", "FIXED 300 5"),
        ("window: 5m, limit: 500, grants: 100", "FIXED 300 500"),
        ("unlimited: true", "unlimited"),
        ("unlimited: true, unit: fortnight", "unlimited"),
    ] {
        assert_eq!(policy(&limited(fields), "d", &[("k", "v")]), expected, "{fields}");
    }
    let granted = rate(&limited("window: 5m, limit: 500, grants: 100"), "k");
    assert_eq!((granted.charge, granted.grants), (rules::Charge::Allowed, Some(100)));
    let whole = load("domain: d\nall_or_nothing: yes\ndescriptors: [{key: k, rate_limit: {window: 5m, limit: 5}}]");
    assert_eq!(rate(&whole, "k").charge, rules::Charge::Allowed);
}

#[test]
fn a_request_changes_the_number_and_the_window_of_a_rule_and_nothing_else() {
    let rows = |hour: &str, day: &str, fields: &str| (hour.to_owned(), day.to_owned(), fields.to_owned());
    let options = |algorithm| match algorithm {
        "token" | "gcra" => (", burst: 3", " BURST 3"),
        "lockout" => (", block: 1m, max: 1h", " BLOCK 60 MAX 3600"),
        "fixed" => (", anchor: 2026-01-15T00:00:00Z", " ANCHOR 1768435200"),
        _ => ("", ""),
    };
    let lease = rows("LEASE 60 7", "LEASE 60 7", "algorithm: lease, limit: 5");
    let days = rows("FIXED 3600 7", "FIXED day 7", "window: day, limit: 5");
    let each = rules::algorithms().filter(|(name, _)| *name != "lease").map(|(name, _)| {
        let ((fields, words), word) = (options(name), name.to_uppercase());
        let of = |window| format!("{word} {window} 7{words}");
        rows(&of(3_600), &of(86_400), &format!("algorithm: {name}, window: 1d, limit: 5{fields}"))
    });
    for (hour, day, fields) in each.chain([lease, days]) {
        let rate = rate(&limited(&fields), "k");
        for (unit, expected) in [(rules::Unit::Hour, hour), (rules::Unit::Day, day)] {
            let new = rate.overridden(7, unit).unwrap_or_else(|error| panic!("{fields}: {error}"));
            assert_eq!(new.policy.to_string(), format!("{expected} AS d.k"), "{fields}");
            assert_eq!((new.charge, new.unit_scale), (rate.charge, rate.unit_scale), "{fields}");
        }
    }
    let new = rate(&limited("window: month, limit: 5"), "k").overridden(7, rules::Unit::Month).expect("valid");
    assert_eq!((new.policy.to_string(), new.unit), ("FIXED month 7 AS d.k".to_owned(), rules::Unit::Month));
    let granted = rate(&limited("unit: hour, requests_per_unit: 500, grants: 100"), "k");
    assert_eq!([7, 500].map(|limit| granted.overridden(limit, rules::Unit::Hour).unwrap().grants), [None, Some(100)]);
    let lock = rate(&limited("algorithm: lockout, unit: hour, limit: 5, max: 2h"), "k");
    assert!(lock.overridden(5, rules::Unit::Day).is_err_and(|error| error.contains("MAX")));
}

/// What is wrong in a rate_limit, and what is said about it: the column in line 5, and the text.
const WRONG_LIMITS: &str = r"
unit: fortnight, requests_per_unit: 5
  14: invalid unit 'fortnight': expected second, minute, hour, day, week, month or year, or a window instead
unit: day, requests_per_unit: 4294967296
  38: invalid requests_per_unit: expected an integer from 0 to 4294967295
unit: day, requests_per_unit: '5'
  38: invalid requests_per_unit: expected an integer from 0 to 4294967295
unit: day, requests_per_unit: -1
  38: invalid requests_per_unit: expected an integer from 0 to 4294967295
unit: day, unlimited: true
  14: an unlimited rate_limit has no unit
unit: day, window: 1d, limit: 5
  14: a rate_limit has a unit or a window, not both
unit: day, requests_per_unit: 5, limit: 5
  48: a rate_limit has requests_per_unit or limit, not both
window: 60, limit: 5
  16: invalid window: expected an integer with a unit, as 500ms, 10s, 5m, 1h or 1d; or day, week, month or year
algorithm: lease, window: 1s, limit: 5
  34: invalid window: a lease has a limit alone, and each Reserve says its time
unit: day, requests_per_unit: 4294967295, unit_scale: 1000000
  62: invalid unit_scale: the limit times it must be at most 2^50
unit: day, requests_per_unit: 5, unit_scale: 0
  53: invalid unit_scale: expected an integer from 1 to 4294967295
algorithm: leaky, window: 1s, limit: 5
  19: invalid algorithm: expected fixed, window, counter, token, gcra, rolling, lease or lockout
window: 1s, limit: 5, burst: 5
  37: invalid burst: only token and gcra take it
window: 1s, limit: 5, block: 1m
  37: invalid block: only lockout takes it
algorithm: lockout, window: 1d, limit: 5, max: 1m
  55: invalid MAX: expected at least BLOCK, which is the window if not given
algorithm: lockout, window: 1d, limit: 5, block: day
  57: invalid block: expected an integer with a unit, as 500ms, 10s, 5m, 1h or 1d
algorithm: lockout, window: 1d, limit: 5, grants: 5
  58: invalid grants: lockout decides on the server alone
algorithm: lockout, window: 1d, limit: 5, charge: always
  58: invalid charge: lockout cannot count beyond its limit
algorithm: token, window: month, limit: 5
  34: invalid window: only FIXED takes day, week, month and year
algorithm: token, window: 1s, limit: 5, anchor: 2026-01-15T00:00:00Z
  56: invalid anchor: only fixed takes it
window: 1d, limit: 5, anchor: soon
  38: invalid anchor: expected a time from 1970 to 9999, as 2026-01-15T00:00:00Z
window: 1s, limit: 5, charge: often
  38: invalid charge: expected always or allowed
algorithm: gcra, window: 1s, limit: 5, charge: always
  55: invalid charge: gcra cannot count beyond its limit
window: 1s, limit: 5, charge: always, grants: 5
  38: invalid charge: grants imply 'charge: allowed'
unit: day, requests_per_unit: 5, name: a, replaces: [{name: a}]
  61: invalid replaces: a rate_limit cannot replace itself
unit: day, requests_per_unit: 5, replaces: [{name: }]
  52: invalid replaces: expected the name of a rate_limit
";

/// What is wrong in `authorize`, and where in line 2.
const WRONG_AUTHORIZE: &str = r"
{}
  12: authorize needs descriptors: a list of lists of entries
{descriptors: [{key: k}]}
  27: invalid descriptors of authorize: expected a list of entries
{descriptors: [[]]}
  27: invalid descriptors of authorize: a descriptor needs an entry
{descriptors: [[{key: k, header: A, client_address: true}]]}
  28: an entry of authorize needs one of header, client_address and path
{descriptors: [[{key: k, header: 'a b'}]]}
  28: invalid header: expected the name of a header
{descriptors: [[{key: k, heder: A}]]}
  37: unknown key 'heder' in an entry of authorize
{descriptors: [[{key: k, path: true}]]}
  12: authorize needs trusted_proxies: the path and X-Forwarded-* come from them
{trusted_proxies: [10.0.0.0/99], descriptors: [[{key: k, header: A}]]}
  31: invalid trusted_proxies: expected an address or a network, as 10.0.0.0/8
{deny_status: 200, descriptors: [[{key: k, header: A}]]}
  26: invalid deny_status: expected a status from 400 to 499
{if_none: ask, descriptors: [[{key: k, header: A}]]}
  22: invalid if_none: expected allow or deny
{if_nothing: deny}
  13: unknown key 'if_nothing' in authorize
";

/// What is wrong in a file, whose lines are between bars.
const WRONG_FILES: &str = r"
descriptors:
  : a file must name its domain
- a
  :1:1: a file of rules must be a map
domain: d|descriptors:|  - value: x
  :3:5: a descriptor must have a key
domain: d|descriptors: [a]
  :2:15: a list must have maps here
domain: d|0.25: x
  :2:1: a key must be text
domain: d|descriptors:|  - key: k|    ratelimit: {}
  :4:5: unknown key 'ratelimit' in a descriptor
domain: d|descriptors:|  - key: k|    value: 1.5
  :4:12: expected an integer up to 2^63 - 1 or text; quote the value if it is text
domain: d|descriptors:|  - {key: a, value: b}|  - {key: a_b}
  :4:5: 'd.a_b' is here twice; key and value are compared as one text, joined by '_'
domain: d|descriptors:|  - {key: a, shadow_mode: 'true'}
  :3:27: invalid shadow_mode: expected true or false
domain: d|descriptors:|  - {key: a, share_threshold: true}
  :3:31: invalid share_threshold: only a value with '*' has something to share
domain: d|descriptors: {key: a}
  :2:14: invalid descriptors: expected a list
domain: d|on_unavailable: maybe
  :2:17: invalid on_unavailable: expected allow, deny, error or local
domain: d|on_overload: allow
  :2:14: invalid on_overload: expected local, deny or error
domain: d|instances: 3|on_overload: deny
  :2:12: invalid instances: neither on_unavailable nor on_overload is 'local', which takes it
domain: d|pools: [{name: a, rate_limit: {unit: day, limit: 1, else: nix}}]
  :2:59: invalid else: the domain has no pool 'nix'
domain: d|pools: [{name: a, rate_limit: {unit: day, limit: 1, else: b}}, {name: b, rate_limit: {unit: day, limit: 1, else:   a}}]
  :2:116: invalid else: a circle of pools: a, b
domain: d|pools: [{name: a, rate_limit: {unit: day, limit: 1, else: a}}]
  :2:59: invalid else: a circle of pools: a
domain: d|pools: [{name: a, rate_limit: {unlimited: true}}]
  :2:9: a pool cannot be unlimited
domain: d|pools: [{name: a}]
  :2:9: a pool must have a rate_limit
domain: d|pools: [{rate_limit: {unit: day, limit: 1}}]
  :2:9: a pool must have a name
domain: d|pools: [{name: a, rate_limit: {unit: day, limit: 1}}, {name: a, rate_limit: {unit: day, limit: 1}}]
  :2:55: the pool 'a' is here twice
domain: d|pools: [{name: a, rate_limit: {unit: day, limit: 1, charge: always}}]
  :2:61: invalid charge: of a limit and its pools, only the one that allows is charged
domain: d|pools: [{name: a, rate_limit: {unit: day, limit: 1, name: n}}]
  :2:59: the rate_limit of a pool has no name
domain: d|pools: [{name: a, quota: 1, rate_limit: {unit: day, limit: 1}}]
  :2:19: unknown key 'quota' in a pool
domain: d|pools: [{name: a, rate_limit: {unit: day, limit: 1}}]|descriptors: [{key: k, rate_limit: {algorithm: lease, limit: 1, else: a}}]
  :3:71: invalid else: a lease and another limit cannot stand in for each other
domain: d|descriptors: [{key: k, rate_limit: {unlimited: true, else: nix}}]
  :2:60: an unlimited rate_limit has no else
domain: d|pools: [{name: a, rate_limit: {unit: day, limit: 1}}]|descriptors: [{key: k, rate_limit: {unit: day, limit: 1, charge: always, else: a}}]
  :3:66: invalid charge: of a limit and its pools, only the one that allows is charged
domain: d|descriptors: [{key: k, rate_limit: {unit: day, limit: 1, share: nix}}]
  :2:65: invalid share: the domain has no pool 'nix'
domain: d|pools: [{name: a, rate_limit: {unit: day, limit: 1}}]|descriptors: [{key: k, rate_limit: {algorithm: gcra, unit: day, limit: 1, share: a}}]
  :3:82: invalid share: only fixed, window, counter, token and rolling take it
domain: d|pools: [{name: a, rate_limit: {unit: day, limit: 1}}]|descriptors: [{key: k, rate_limit: {algorithm: lease, limit: 1, share: a}}]
  :3:72: invalid share: a lease has a limit alone, and each Reserve says its time
domain: d|pools: [{name: a, rate_limit: {unit: day, limit: 9, grants: 2}}]|descriptors: [{key: k, rate_limit: {unit: day, limit: 1, share: a}}]
  :3:65: invalid share: the pool has grants, or an algorithm that cannot count beyond its limit
domain: d|pools: [{name: a, rate_limit: {unit: day, limit: 1}}]|descriptors: [{key: k, rate_limit: {unit: day, limit: 1, charge: allowed, share: a}}]
  :3:66: a limit with share has no charge
domain: d|pools: [{name: a, rate_limit: {unit: day, limit: 1}}]|descriptors: [{key: k, rate_limit: {unit: day, limit: 1, grants: 1, share: a}}]
  :3:66: a limit with share has no grants
domain: d|pools: [{name: a, rate_limit: {unit: day, limit: 1}}]|descriptors: [{key: k, rate_limit: {unit: day, limit: 1, else: a, share: a}}]
  :3:64: a limit with share has no else
domain: d|pools: [{name: a, rate_limit: {unit: day, limit: 1}}, {name: b, rate_limit: {unit: day, limit: 1, else: a}}]|descriptors: [{key: k, rate_limit: {unit: day, limit: 1, share: b}}]
  :3:65: invalid share: of pools that follow each other, all are named by else, or all by share
domain: d|all_or_nothing: true|pools: [{name: a, rate_limit: {unit: day, limit: 1}}]|descriptors: [{key: k, rate_limit: {unit: day, limit: 1, share: a}}]
  :4:65: invalid share: all_or_nothing charges every limit
";

#[test]
fn a_wrong_file_says_where_and_what() {
    let limit = |fields: &str| format!("domain: d\ndescriptors:\n  - key: k\n    rate_limit:\n      {{{fields}}}\n");
    let authorize = |fields: &str| format!("domain: d\nauthorize: {fields}\n");
    let pairs = |table: &'static str| {
        let lines: Vec<_> = table.trim().lines().map(str::trim_start).collect();
        lines.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect::<Vec<_>>()
    };
    let limits = pairs(WRONG_LIMITS).into_iter().map(|(text, error)| (limit(text), format!(":5:{error}")));
    let authorizes = pairs(WRONG_AUTHORIZE).into_iter().map(|(text, error)| (authorize(text), format!(":2:{error}")));
    let files = pairs(WRONG_FILES).into_iter().map(|(text, error)| (text.replace('|', "\n"), error.to_owned()));
    for (text, expected) in limits.chain(authorizes).chain(files) {
        let errors = wrong(&text);
        assert_eq!(errors.first(), Some(&format!("0.yaml{expected}")), "{text}");
        assert!(errors.len() == 1 || text.contains("authorize"), "{errors:?}");
    }
    let long = limit(&format!("unit: \"x\\n{}\", requests_per_unit: 5", "y".repeat(50)));
    assert!(wrong(&long)[0].contains(&format!("invalid unit 'x\\n{}…'", "y".repeat(38))));
    assert_eq!(wrong(""), ["0.yaml: a file must name its domain"]);
    assert!(wrong("'''")[0].starts_with("0.yaml:"));
    let status = |status| authorize(&format!("{{deny_status: {status}, descriptors: [[{{key: k, header: A}}]]}}"));
    let rejected = [399, 400, 499, 500].map(|n| !wrong(&status(n)).is_empty());
    assert_eq!(rejected, [true, false, false, true]);
    let all = limit("unit: day, requests_per_unit: 9, grants: 5, charge: always").replacen(
        '\n',
        "\nall_or_nothing: true\n",
        1,
    );
    assert_eq!(wrong(&all).len(), 3);
}

#[test]
fn the_maps_of_a_repeated_rate_limit_are_joined() {
    let of = |descriptor: &str| {
        let base =
            "{key: base, rate_limit: &rate {unit: minute, requests_per_unit: 5, name: n}, metadata: {a: 1, b: 1}}";
        // Of other keys, the last one counts.
        load(&format!("domain: first\ndomain: d\ndescriptors:\n  - &base {base}\n  - {descriptor}\n"))
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
    assert_eq!(wrong(twice), ["0.yaml:2:36: invalid rate_limit: expected a map"]);
}

#[test]
fn instances_do_not_depend_on_the_order_of_files() {
    let merge = Settings { merge_domains: true, ..Settings::default() };
    let (local, instances) = ("domain: d\non_unavailable: local\n", "domain: d\ninstances: 10\n");
    for files in [[local, instances], [instances, local]] {
        let rules = load_all(&files, &merge);
        let options = &rules.domains["d"].options;
        assert_eq!(options.on_unavailable, Fallback::Local { instances: 10 });
        assert_eq!(options.on_overload, Fallback::Local { instances: 10 });
    }
    // on_overload is local if it is not given.
    assert!(errors_of(&["domain: d\n", instances], &merge).is_empty());
    let invalid = "1.yaml:2:12: invalid instances: neither on_unavailable nor on_overload is 'local', which takes it";
    assert_eq!(errors_of(&["domain: d\non_overload: deny\n", instances], &merge), [invalid]);
}

#[test]
fn files_of_one_domain_are_merged_only_if_told_to() {
    let merge = Settings { merge_domains: true, ..Settings::default() };
    let one = "domain: d\ndescriptors: [{key: a, rate_limit: {unit: day, requests_per_unit: 1}}]";
    let two = "domain: d\ndescriptors: [{key: b, rate_limit: {unit: day, requests_per_unit: 2}}]";
    let rules = load_all(&[one, two], &merge);
    assert_eq!(policy(&rules, "d", &[("a", "")]), "FIXED 86400 1");
    assert_eq!(policy(&rules, "d", &[("b", "")]), "FIXED 86400 2");
    assert!(errors_of(&[one, two], &Settings::default())[0].starts_with("1.yaml:1:9: domain 'd' is in 0.yaml too"));
    assert!(errors_of(&[one, one], &merge)[0].contains("is here twice"));
    let strict = format!("all_or_nothing: true\n{two}");
    let loose = format!("all_or_nothing: false\n{one}");
    assert_eq!(
        errors_of(&[&loose, &strict], &merge),
        ["1.yaml:1:17: invalid all_or_nothing: another file of this domain says something else"]
    );
    // The options of a later file hold for the rules of an earlier one.
    assert_eq!(rate(&load_all(&[one, &strict], &merge), "a").charge, rules::Charge::Allowed);
}

#[test]
fn what_one_command_charges_is_in_one_slot_of_a_cluster() {
    let cluster = Settings { cluster: true, ..Settings::default() };
    let rules = |head: &str, keys: &str| {
        format!(
            "domain: d\nall_or_nothing: true\n{head}\ndescriptors:\n  - {{key: {keys}, rate_limit: {{unit: day, requests_per_unit: 1}}}}\n"
        )
    };
    assert_eq!(errors_of(&[&rules("hash_tag: tenant", "tenant")], &cluster), [""; 0]);
    assert_eq!(wrong(&rules("", "tenant")), [""; 0]);
    assert!(errors_of(&[&rules("", "tenant")], &cluster)[0].contains("needs a hash_tag"));
    assert!(errors_of(&[&rules("hash_tag: tenant", "path")], &cluster)[0].contains("needs the entry 'tenant'"));
    let shared = rules("hash_tag: tenant", "tenant, value: a*, share_threshold: true");
    assert!(errors_of(&[&shared], &cluster)[0].contains("cannot share_threshold"));
    let of_pool = |text: String| {
        let pools = "pools: [{name: p, rate_limit: {unit: day, limit: 9}}]";
        text.replace("all_or_nothing: true", pools).replace("requests_per_unit: 1", "limit: 1, share: p")
    };
    assert_eq!(errors_of(&[&of_pool(rules("hash_tag: tenant", "tenant"))], &cluster), [""; 0]);
    assert_eq!(errors_of(&[&of_pool(rules("", "tenant"))], &Settings::default()), [""; 0]);
    assert!(errors_of(&[&of_pool(rules("", "tenant"))], &cluster)[0].contains("share needs a hash_tag"));
}

#[test]
fn at_most_four_pools_follow_a_limit_whose_keys_are_no_pool() {
    let chain = |pools: usize| {
        let pool = |n: usize| {
            let otherwise = if n < pools { format!(", else: p{}", n + 1) } else { String::new() };
            format!("  - {{name: p{n}, rate_limit: {{unit: day, limit: {n}{otherwise}}}}}\n")
        };
        let pools: String = (1..=pools).rev().map(pool).collect();
        format!("domain: d\npools:\n{pools}descriptors: [{{key: p1, rate_limit: {{unit: day, limit: 9, else: p1}}}}]\n")
    };
    let rules = load(&chain(4));
    let found = find(&rules, "d", &[("p1", "")]).expect("a rule");
    let keys: Vec<_> = found.limit.pools().map(|pool| pool.key_start.to_string()).collect();
    assert_eq!(keys, (1..=4).map(|n| format!("rl:d:fixed:86400:p{n}")).collect::<Vec<_>>());
    assert_eq!(key(&rules, "d", &[("p1", "")]), "rl:d:fixed:86400:p1=");
    assert_eq!(rules.limits(), 1);
    let shown = rules.to_string();
    assert!(shown.contains("d.p1: FIXED 86400 9, charge allowed, else p1, at") && shown.contains("d.pools.p4: FIXED"));
    // Pools are read in the order of their names.
    let backwards = chain(5).replace("name: p", "name: q").replace("else: p", "else: q");
    let backwards = (1..=5).fold(backwards, |text, n| text.replace(&format!("q{n}"), &format!("r{}", 6 - n)));
    for (pools, text) in [(5, backwards), (5, chain(5)), (6, chain(6)), (1_000, chain(1_000))] {
        let errors = wrong(&text);
        assert!(errors.iter().all(|error| error.ends_with("invalid else: more than 4 pools follow each other")));
        assert!(!errors.is_empty(), "{pools}");
    }
    let whole = chain(1).replace("domain: d", "domain: d\nall_or_nothing: true\nhash_tag: p1");
    let cluster = Settings { cluster: true, ..Settings::default() };
    assert_eq!(wrong(&whole), [""; 0]);
    assert!(errors_of(&[&whole], &cluster)[0].ends_with("with all_or_nothing in a cluster, all keys are in one slot"));
    // What a pool says is part of the meaning.
    let [hash, other, without] =
        [chain(2), chain(2).replace("limit: 2", "limit: 3"), chain(2).replace(", else: p2", "")]
            .map(|text| load(&text).hash());
    assert!(hash != other && hash != without);
    // Files of one domain have their pools together.
    let (first, second) = (chain(1), "domain: d\npools: [{name: q, rate_limit: {unit: day, limit: 1, else: p1}}]\n");
    let merged = Settings { merge_domains: true, ..Settings::default() };
    assert_eq!(errors_of(&[&first, second], &merged), [""; 0]);
    assert_eq!(errors_of(&[second, &first.replace("else: p1}", "else: q}")], &merged), [""; 0]);
}

#[test]
fn the_configuration_of_the_scripts_has_their_keys() {
    let rules = load("rate-limiter:\n  use-algo: sliding-window-algo\n  window-size: 60\n  max-requests: 5\n");
    assert_eq!(policy(&rules, "rlaas", &[("userId", "42")]), "SLIDING 60 5");
    assert_eq!(key(&rules, "rlaas", &[("userId", "a:b")]), "rlaas:rate_limit:a:b");
    let rules = load("rate-limiter: {use-algo: fixed-window-algo, window-size: 60, max-requests: 5}");
    assert_eq!(policy(&rules, "rlaas", &[("userId", "42")]), "FIXED 60 5");
    assert!(wrong("rate-limiter: {use-algo: other}")[0].contains("use-algo"));
    assert!(wrong("rate-limiter: {use-algo: fixed-window-algo}")[0].contains("window-size"));
}

#[test]
fn what_has_no_effect_is_a_warning() {
    let text =
        "domain: d\ndescriptors:\n  - key: k\n    rate_limit: {unit: day, requests_per_unit: 1, shadow_mode: true}\n";
    let (rules, findings) = rules::load(&sources(&[text]), &Settings::default());
    assert!(rules.is_some());
    let warnings: Vec<_> = findings.warnings.iter().map(ToString::to_string).collect();
    let ignored = "0.yaml:4:51: 'shadow_mode' means nothing in a rate_limit and is ignored";
    let copies = "0.yaml:1:9: without 'instances', each copy has the whole limit where 'local' decides (on_overload, if not given)";
    assert!(
        warnings.len() == 2 && [ignored, copies].iter().all(|text| warnings.iter().any(|warning| warning == text)),
        "{warnings:?}"
    );
    // Who says how many, or that nothing is decided here, gets none.
    for option in ["instances: 2", "on_overload: deny"] {
        let (_, findings) = rules::load(&sources(&[&format!("{text}{option}\n")]), &Settings::default());
        assert_eq!(findings.warnings.len(), 1, "{option}");
    }
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
    assert_eq!(load_all(&[same, rest], &settings).hash(), hash);
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
    let lines: Vec<_> = rules.lines().collect();
    let [head @ .., one, other] = lines.as_slice() else { panic!("two wildcards") };
    let swapped = [head, &[*other, *one]].concat().join("\n");
    assert_ne!(load(&swapped).hash(), hash);
    assert_ne!(Rules::default().hash(), hash);
}

#[test]
fn each_limit_of_a_set_of_rules_has_a_number_of_its_own() {
    let scripts = "rate-limiter: {use-algo: fixed-window-algo, window-size: 60, max-requests: 5}";
    let rules = "descriptors:
  - {key: a, rate_limit: {unit: day, requests_per_unit: 5}, descriptors: [{key: b, rate_limit: {unlimited: true}}]}
  - {key: KEY, rate_limit: {unit: day, requests_per_unit: 5}}";
    let files = [("d", "c"), ("d", "e"), ("other", "c")];
    let files = files.map(|(domain, key)| format!("domain: {domain}\n{}", rules.replace("KEY", key)));
    let second = files[1].replace("{key: a,", "{key: f,");
    let merge = Settings { merge_domains: true, ..Settings::default() };
    let rules = load_all(&[&files[0], &second, scripts, &files[2]], &merge);
    let mut numbers: Vec<_> =
        rules.domains.values().flat_map(|domain| domain.limits()).map(|limit| limit.number).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..10).collect::<Vec<_>>());
}
