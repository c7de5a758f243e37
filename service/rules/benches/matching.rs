//! What it costs to find the rule of a descriptor: `make bench-matching`.
//!
//! The time is the least of several rounds.

use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use rlaas_rules::{Domain, Entry, Settings, Source, load};

/// The most that a descriptor may take, where a level has at most 100 wildcards.
const MOST: Duration = Duration::from_micros(2);
const ROUNDS: u32 = 7;
/// How many descriptors a round has.
const MANY: u32 = 200_000;

struct Case {
    name: &'static str,
    rules: String,
    entries: &'static [Entry<'static>],
    found: bool,
}

/// Rules of so many users.
fn users(n: u32) -> String {
    let rule = |n| format!("  - {{key: user, value: u{n}, rate_limit: {{unit: minute, requests_per_unit: 5}}}}\n");
    (0..n).map(rule).collect()
}

fn paths(n: u32) -> String {
    let rule =
        |n| format!("  - {{key: path, value: '/api/*/v{n}/*', rate_limit: {{unit: minute, requests_per_unit: 5}}}}\n");
    (0..n).map(rule).collect()
}

fn cases() -> Vec<Case> {
    let case = |name, rules, entries, found| Case { name, rules, entries, found };
    let nested = "  - key: tenant
    descriptors:
      - key: path
        value: /login
        descriptors: [{key: address, rate_limit: {unit: minute, requests_per_unit: 5}}]
";
    let path: &[Entry<'_>] = &[("path", "/api/orders/v99/items/12345")];
    vec![
        case("1 rule", users(1), &[("user", "u0")], true),
        case("100 rules", users(100), &[("user", "u99")], true),
        case("10,000 rules", users(10_000), &[("user", "u9999")], true),
        case("10,000 rules, none fits", users(10_000), &[("user", "somebody")], false),
        case("3 entries", nested.to_owned(), &[("tenant", "t1"), ("path", "/login"), ("address", "192.0.2.1")], true),
        case("100 wildcards, the last fits", paths(100), path, true),
        case("100 wildcards, none fits", paths(100), &[("path", "/static/images/12345.png")], false),
        case("10,000 rules and 100 wildcards", users(10_000) + &paths(100), path, true),
    ]
}

impl Case {
    fn domain(&self) -> Domain {
        let text = format!("domain: d\ndescriptors:\n{}", self.rules);
        let (rules, findings) = load(&[Source { name: "rules".to_owned(), text }], &Settings::default());
        let mut rules = rules.unwrap_or_else(|| panic!("{}: {:?}", self.name, findings.errors));
        rules.domains.remove("d").expect("the domain")
    }

    fn time(&self) -> Duration {
        let domain = self.domain();
        let round = || {
            let began = Instant::now();
            for _ in 0..MANY {
                let found = domain.find(black_box(self.entries));
                assert_eq!(black_box(&found).is_some(), self.found, "{}", self.name);
            }
            began.elapsed() / MANY
        };
        (0..ROUNDS).map(|_| round()).min().expect("a round")
    }
}

fn main() -> ExitCode {
    let mut table = String::from(
        "# Finding the rule of a descriptor\n\n\
         `make bench-matching`: the least time of seven rounds. A descriptor may take 2 µs where a level has at most 100\n\
         wildcards.\n\n\
         | rules of the domain | ns |\n|---|--:|\n",
    );
    let mut slow = Vec::new();
    for case in cases() {
        let time = case.time();
        eprintln!("{}: {time:?}", case.name);
        writeln!(table, "| {} | {} |", case.name, time.as_nanos()).expect("text");
        if time > MOST {
            slow.push(case.name);
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../benches/results/matching.md");
    fs::write(path, table).expect("the results are written");
    if slow.is_empty() {
        return ExitCode::SUCCESS;
    }
    eprintln!("more than {MOST:?}: {slow:?}");
    ExitCode::FAILURE
}
