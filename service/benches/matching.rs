//! What it costs to find the rule of a descriptor: `make bench-matching`.
//!
//! The time is the least of several rounds. The instructions are counted by callgrind, which runs this program with some
//! descriptors and then with more: the difference is theirs. They do not depend on the load of the machine.

use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use rlaas::rules::{Domain, Entry, Settings, Source, load};

/// The most that a descriptor may take, where a level has at most 100 wildcards.
const MOST: Duration = Duration::from_micros(2);
const ROUNDS: u32 = 7;
/// How many descriptors a round has.
const MANY: u32 = 200_000;
/// How many descriptors callgrind sees: in the first run, and more in the second.
const COUNTED: u32 = 1_000;

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
        let (rules, findings) = load(&[Source { name: "rules".to_owned(), text }], Settings::default());
        let mut rules = rules.unwrap_or_else(|| panic!("{}: {:?}", self.name, findings.errors));
        rules.domains.remove("d").expect("the domain")
    }

    fn find(&self, domain: &Domain, times: u32) {
        for _ in 0..times {
            let found = domain.find(black_box(self.entries));
            assert_eq!(black_box(&found).is_some(), self.found, "{}", self.name);
        }
    }

    fn time(&self) -> Duration {
        let domain = self.domain();
        let round = || {
            let began = Instant::now();
            self.find(&domain, MANY);
            began.elapsed() / MANY
        };
        (0..ROUNDS).map(|_| round()).min().expect("a round")
    }

    fn instructions(&self) -> u64 {
        let all = |times: u32| -> u64 {
            let output = Command::new("valgrind")
                .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
                .arg(std::env::current_exe().expect("this program"))
                .args(["--count", self.name, &times.to_string()])
                .output()
                .expect("valgrind runs");
            let text = String::from_utf8_lossy(&output.stderr);
            let line =
                text.lines().find_map(|line| line.split_once("Collected : ")).unwrap_or_else(|| panic!("{text}"));
            line.1.trim().parse().expect("a number")
        };
        all(2 * COUNTED).saturating_sub(all(COUNTED)) / u64::from(COUNTED)
    }
}

fn main() -> ExitCode {
    let cases = cases();
    let arguments: Vec<_> = std::env::args().collect();
    if let [_, flag, name, times] = arguments.as_slice()
        && flag == "--count"
    {
        let case = cases.iter().find(|case| case.name == name).expect("a case");
        case.find(&case.domain(), times.parse().expect("a number"));
        return ExitCode::SUCCESS;
    }
    let mut table = String::from(
        "# Finding the rule of a descriptor\n\n\
         `make bench-matching`: the least time of seven rounds, and instructions by callgrind. A descriptor may take \
         2 µs where\na level has at most 100 wildcards.\n\n\
         | rules of the domain | ns | instructions |\n|---|--:|--:|\n",
    );
    let mut slow = Vec::new();
    for case in &cases {
        let (time, instructions) = (case.time(), case.instructions());
        eprintln!("{}: {time:?}, {instructions} instructions", case.name);
        writeln!(table, "| {} | {} | {instructions} |", case.name, time.as_nanos()).expect("text");
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
