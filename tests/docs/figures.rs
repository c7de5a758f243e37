//! One source for each figure: what the pages say of costs is what `benches/` has measured.
//!
//! A page may round: a figure may differ from its source by 2 %, or by half of its last digit.

use std::collections::BTreeMap;
use std::fs;

use crate::root;

const BUDGET: &str = "benches/budget.md";
const MEMORY: &str = "benches/results/redis-7.0.15/memory.md";
const THROUGHPUT: &str = "benches/results/redis-7.0.15/throughput.md";
const GROWTH: &str = "benches/results/redis-7.0.15/growth.md";
const SERVICE: &str = "benches/results/redis-7.0.15/service.md";
const MATCHING: &str = "benches/results/matching.md";
const OPERATIONS: &str = "docs/operations.md";

/// Where a figure comes from.
enum Source {
    /// The column `measured` of the budget.
    Instructions(&'static str),
    /// How many times as much the first costs as the second, by the budget: the least and the most of some pairs.
    Least(&'static [(&'static str, &'static str)]),
    Most(&'static [(&'static str, &'static str)]),
    /// How many times as much the first is as the second.
    Times(&'static Source, &'static Source),
    /// The number, divided by the source.
    Over(f64, &'static Source),
    /// The cell of a file: below this heading or text, in the row that begins so, the column from 1.
    Cell(&'static str, &'static str, &'static str, usize),
}

use Source::{Cell, Instructions, Least, Most, Over, Times};

/// A script, and the command that replaces it.
const SCRIPTS: &[(&str, &str)] = &[
    ("fixed script", "RL.FIXED allowed"),
    ("fixed script", "RL.FIXED denied"),
    ("sliding script, allowed @5", "RL.SLIDING allowed @5"),
    ("sliding script, allowed @100", "RL.SLIDING allowed @100"),
    ("sliding script, allowed @1000", "RL.SLIDING allowed @1000"),
    ("sliding script, denied", "RL.SLIDING denied"),
];
const SCRIPTS_TIMES: [Source; 2] = [Least(SCRIPTS), Most(SCRIPTS)];

const ONE_BY_ONE: &str = "## Without pipelining, one hot key";
const ONE_BY_ONE_KEYS: &str = "## Without pipelining, 100,000 random keys";
const PIPELINED: &str = "## Pipelined (50), one hot key";
const PIPELINED_KEYS: &str = "## Pipelined (50), 100,000 random keys";
const ONE_BY_ONE_TOKEN: Source = Cell(THROUGHPUT, ONE_BY_ONE_KEYS, "RL.TOKEN allowed", 3);
const PIPELINED_TOKEN: Source = Cell(THROUGHPUT, PIPELINED_KEYS, "RL.TOKEN allowed", 3);
const MILLION: &str = "| after requests |";
const ENCODINGS: &str = "## A log in both encodings";
const KEYS: &str = "## With the number of keys";
const EXPIRED: &str = "## Removing expired entries";
const SIZES: &str = "| algorithm | in the state | Redis 7.0 |";

/// Bytes of a user and megabytes of a million.
const fn user(row: &'static str) -> Source {
    Cell(MEMORY, MILLION, row, 6)
}

const fn million(row: &'static str) -> Source {
    Cell(MEMORY, MILLION, row, 7)
}

/// A column of the service beside limitador.
const fn service(row: &'static str, column: usize) -> Source {
    Cell(SERVICE, "| | CPU µs |", row, column)
}

const fn log(setting: &'static str, entries: usize) -> Source {
    Cell(MEMORY, ENCODINGS, setting, entries)
}

/// How many times as much as RL.TOKEN.
const fn to_token(case: &'static Source) -> Source {
    Times(case, &Instructions("RL.TOKEN allowed"))
}

/// Decisions a second of that many servers, of which each is busy for 60 % of a second.
const fn decisions(servers: f64, micros: &'static Source) -> Source {
    Over(servers * 600_000.0, micros)
}

const NEWEST: &str = "benches/results/README.md";
const NEWEST_TABLE: &str = "On the newest Redis";

/// A sentence of a page with its figures, each `{}`, and their sources. Line breaks do not matter.
type Sentence = (&'static str, &'static str, &'static [Source]);

const SENTENCES: &[Sentence] = &[
    ("README.md", "cost the server {} to {} times the instructions.", &SCRIPTS_TIMES),
    (
        "README.md",
        "of which {} are those of a PING: | | allowed | denied | |---|--:|--:| | `RL.FIXED` | {} | {} | | `RL.WINDOW` \
         | {} | {} | | `RL.COUNTER` | {} | {} | | `RL.TOKEN` | {} | {} |",
        &[
            Instructions("PING"),
            Instructions("RL.FIXED allowed"),
            Instructions("RL.FIXED denied"),
            Instructions("RL.WINDOW allowed"),
            Instructions("RL.WINDOW denied"),
            Instructions("RL.COUNTER allowed"),
            Instructions("RL.COUNTER denied"),
            Instructions("RL.TOKEN allowed"),
            Instructions("RL.TOKEN denied"),
        ],
    ),
    ("docs/faq.md", "for {} to {} times the instructions", &SCRIPTS_TIMES),
    ("docs/comparison.md", "They cost {} to {} times the instructions.", &SCRIPTS_TIMES),
    (OPERATIONS, "FIXED then takes {} bytes, COUNTER and GCRA {} ", &[user("RL.FIXED"), user("RL.COUNTER")]),
    (
        OPERATIONS,
        "at 100 units an allowed request of SLIDING takes {} instructions, in a skiplist of 1,000 units {} ",
        &[Instructions("RL.SLIDING allowed @100"), Instructions("RL.SLIDING allowed @1000")],
    ),
    (OPERATIONS, "a log of 100 units is a skiplist and takes {} bytes", &[log("0", 2)]),
    (
        OPERATIONS,
        "without pipelining, the server spends {} µs on an RL.TOKEN, and {} µs if 50 are pipelined",
        &[Cell(THROUGHPUT, ONE_BY_ONE, "RL.TOKEN allowed", 3), Cell(THROUGHPUT, PIPELINED, "RL.TOKEN allowed", 3)],
    ),
    (
        "docs/algorithms.md",
        "take {} MB with FIXED, {} MB with COUNTER and GCRA, {} MB with TOKEN and LEAKY, {} MB with SLIDING. With \
         ROLLING it is {} MB if the five requests are in one moment (here 21 s), and with five moments a key has {} \
         bytes, beside {} of SLIDING",
        &[
            million("RL.FIXED"),
            million("RL.COUNTER"),
            million("RL.TOKEN"),
            million("RL.SLIDING"),
            million("RL.ROLLING"),
            Cell(OPERATIONS, SIZES, "ROLLING | 5 moments", 2),
            Cell(OPERATIONS, SIZES, "SLIDING | 5 units", 2),
        ],
    ),
    (
        "redis.conf",
        "5 {} bytes, {} instructions {} bytes 100 {} bytes, {} instructions {} bytes 1,000 {} bytes {} bytes, {} \
         instructions",
        &[
            log("128", 1),
            Instructions("RL.SLIDING allowed @5"),
            log("0", 1),
            log("128", 2),
            Instructions("RL.SLIDING allowed @100"),
            log("0", 2),
            log("2048", 4),
            log("0", 4),
            Instructions("RL.SLIDING allowed @1000"),
        ],
    ),
    (
        "docs/scale.md",
        "| one request at a time, one key | {} | {} | {} |",
        &[
            Cell(THROUGHPUT, ONE_BY_ONE, "RL.TOKEN allowed", 1),
            Cell(THROUGHPUT, ONE_BY_ONE, "RL.TOKEN allowed", 3),
            decisions(1.0, &Cell(THROUGHPUT, ONE_BY_ONE, "RL.TOKEN allowed", 3)),
        ],
    ),
    (
        "docs/scale.md",
        "| one request at a time, 100,000 keys | {} | {} | {} |",
        &[
            Cell(THROUGHPUT, ONE_BY_ONE_KEYS, "RL.TOKEN allowed", 1),
            Cell(THROUGHPUT, ONE_BY_ONE_KEYS, "RL.TOKEN allowed", 3),
            decisions(1.0, &Cell(THROUGHPUT, ONE_BY_ONE_KEYS, "RL.TOKEN allowed", 3)),
        ],
    ),
    (
        "docs/scale.md",
        "| pipelined by 50, one key | {} | {} | {} |",
        &[
            Cell(THROUGHPUT, PIPELINED, "RL.TOKEN allowed", 1),
            Cell(THROUGHPUT, PIPELINED, "RL.TOKEN allowed", 3),
            decisions(1.0, &Cell(THROUGHPUT, PIPELINED, "RL.TOKEN allowed", 3)),
        ],
    ),
    (
        "docs/scale.md",
        "| pipelined by 50, 100,000 keys | {} | {} | {} |",
        &[
            Cell(THROUGHPUT, PIPELINED_KEYS, "RL.TOKEN allowed", 1),
            Cell(THROUGHPUT, PIPELINED_KEYS, "RL.TOKEN allowed", 3),
            decisions(1.0, &Cell(THROUGHPUT, PIPELINED_KEYS, "RL.TOKEN allowed", 3)),
        ],
    ),
    (
        "docs/scale.md",
        "one request at a time ({}, balance 0.8) | pipelined by 50 ({}, balance 0.8)",
        &[decisions(1.0, &ONE_BY_ONE_TOKEN), decisions(1.0, &PIPELINED_TOKEN)],
    ),
    (
        "docs/scale.md",
        "| 3 | {} | {} | | 10 | {} | {} | | 30 | {} | {} |",
        &[
            decisions(0.8 * 3.0, &ONE_BY_ONE_TOKEN),
            decisions(0.8 * 3.0, &PIPELINED_TOKEN),
            decisions(0.8 * 10.0, &ONE_BY_ONE_TOKEN),
            decisions(0.8 * 10.0, &PIPELINED_TOKEN),
            decisions(0.8 * 30.0, &ONE_BY_ONE_TOKEN),
            decisions(0.8 * 30.0, &PIPELINED_TOKEN),
        ],
    ),
    (
        "docs/scale.md",
        "of one server, {} decisions a second one at a time, {} pipelined",
        &[Cell(THROUGHPUT, ONE_BY_ONE, "RL.TOKEN allowed", 1), Cell(THROUGHPUT, PIPELINED, "RL.TOKEN allowed", 1)],
    ),
    (
        "docs/scale.md",
        "Pipeline: a factor of {} in the table above",
        &[Times(
            &Cell(THROUGHPUT, PIPELINED, "RL.TOKEN allowed", 1),
            &Cell(THROUGHPUT, ONE_BY_ONE, "RL.TOKEN allowed", 1),
        )],
    ),
    (
        "docs/scale.md",
        "three FIXED take {} µs in one call",
        &[Cell(THROUGHPUT, ONE_BY_ONE, "RL.MULTI of 3 FIXED, allowed", 3)],
    ),
    (
        "docs/scale.md",
        "FIXED, COUNTER, LEAKY, GCRA and ROLLING cost {} to {} times as much as TOKEN, LEASE {} times, SLIDING {} to {} \
         times ({} times with a listpack of 100 units)",
        &[
            to_token(&Instructions("RL.GCRA allowed")),
            to_token(&Instructions("RL.LEAKY allowed")),
            to_token(&Instructions("RL.LEASE renewed")),
            to_token(&Instructions("RL.SLIDING allowed @1000")),
            to_token(&Instructions("RL.SLIDING allowed @5")),
            to_token(&Instructions("RL.SLIDING allowed @100")),
        ],
    ),
    (
        "README.md",
        "| fixed script to RL.FIXED | {} × ({}) |",
        &[
            Times(&Cell(NEWEST, NEWEST_TABLE, "fixed script", 1), &Cell(NEWEST, NEWEST_TABLE, "RL.FIXED", 1)),
            Cell(NEWEST, NEWEST_TABLE, "RL.FIXED", 1),
        ],
    ),
    (
        "README.md",
        "| sliding script to RL.SLIDING, allowed | {} × ({}) |",
        &[
            Times(
                &Cell(NEWEST, NEWEST_TABLE, "sliding script, 5 in the log", 1),
                &Cell(NEWEST, NEWEST_TABLE, "RL.SLIDING, 5 in the log", 1),
            ),
            Cell(NEWEST, NEWEST_TABLE, "RL.SLIDING, 5 in the log", 1),
        ],
    ),
    (
        "README.md",
        "| sliding script to RL.SLIDING, denied | {} × ({}) |",
        &[
            Times(
                &Cell(NEWEST, NEWEST_TABLE, "sliding script, 5 in the log", 2),
                &Cell(NEWEST, NEWEST_TABLE, "RL.SLIDING, 5 in the log", 2),
            ),
            Cell(NEWEST, NEWEST_TABLE, "RL.SLIDING, 5 in the log", 2),
        ],
    ),
    (
        "README.md",
        "| redis-cell to RL.THROTTLE, allowed | {} × ({}) |",
        &[
            Times(
                &Cell(NEWEST, NEWEST_TABLE, "redis-cell's CL.THROTTLE", 1),
                &Cell(NEWEST, NEWEST_TABLE, "RL.THROTTLE", 1),
            ),
            Cell(NEWEST, NEWEST_TABLE, "RL.THROTTLE", 1),
        ],
    ),
    (
        "README.md",
        "| INCREX to RL.WINDOW, allowed | {} × ({}) |",
        &[
            Times(
                &Cell(NEWEST, NEWEST_TABLE, "INCREX with UBOUND, EX and ENX", 1),
                &Cell(NEWEST, NEWEST_TABLE, "RL.WINDOW", 1),
            ),
            Cell(NEWEST, NEWEST_TABLE, "RL.WINDOW", 1),
        ],
    ),
    (
        "README.md",
        "| INCREX to RL.WINDOW, denied | {} × ({}) |",
        &[
            Times(
                &Cell(NEWEST, NEWEST_TABLE, "INCREX with UBOUND, EX and ENX", 2),
                &Cell(NEWEST, NEWEST_TABLE, "RL.WINDOW", 2),
            ),
            Cell(NEWEST, NEWEST_TABLE, "RL.WINDOW", 2),
        ],
    ),
    (
        "README.md",
        "| INCREX to RL.FIXED, denied | {} × ({}) |",
        &[
            Times(
                &Cell(NEWEST, NEWEST_TABLE, "INCREX with UBOUND, EX and ENX", 2),
                &Cell(NEWEST, NEWEST_TABLE, "RL.FIXED", 2),
            ),
            Cell(NEWEST, NEWEST_TABLE, "RL.FIXED", 2),
        ],
    ),
    (
        "benches/results/README.md",
        "executes {} instructions for the fixed script and {} for RL.FIXED. For a denied request it executes {} for the \
         sliding script and {} for RL.SLIDING; for an allowed one, with five entries in the log, {} and {}. A PING takes \
         {}, an INCR {}.",
        &[
            Instructions("fixed script"),
            Instructions("RL.FIXED allowed"),
            Instructions("sliding script, denied"),
            Instructions("RL.SLIDING denied"),
            Instructions("sliding script, allowed @5"),
            Instructions("RL.SLIDING allowed @5"),
            Instructions("PING"),
            Instructions("INCR"),
        ],
    ),
    (
        "benches/results/README.md",
        "RL.THROTTLE {} and {}.",
        &[Instructions("RL.THROTTLE allowed"), Instructions("RL.THROTTLE denied")],
    ),
    ("docs/development.md", "of RL.FIXED's {} instructions", &[Instructions("RL.FIXED allowed")]),
    (
        "docs/algorithms.md",
        "nothing else meanwhile: {} ms for 10,000 members, {} ms for 100,000, {} ms for a million",
        &[
            Cell(GROWTH, EXPIRED, "10,000", 2),
            Cell(GROWTH, EXPIRED, "100,000", 2),
            Cell(GROWTH, EXPIRED, "1,000,000", 2),
        ],
    ),
    (
        "benches/results/README.md",
        "FIXED ({} µs), LEAKY ({}), LEASE ({}) and COUNTER ({}) take the most",
        &[
            Cell(GROWTH, KEYS, "RL.FIXED", 7),
            Cell(GROWTH, KEYS, "RL.LEAKY", 7),
            Cell(GROWTH, KEYS, "RL.LEASE", 7),
            Cell(GROWTH, KEYS, "RL.COUNTER", 7),
        ],
    ),
    (
        "benches/results/README.md",
        "| RL.FIXED to the fixed script | {} × | {} × |",
        &[Cell(THROUGHPUT, PIPELINED, "RL.FIXED allowed", 5), Cell(THROUGHPUT, PIPELINED_KEYS, "RL.FIXED allowed", 5)],
    ),
    (
        "benches/results/README.md",
        "| RL.SLIDING to the sliding script, denied | {} × | {} × |",
        &[
            Cell(THROUGHPUT, PIPELINED, "RL.SLIDING denied", 5),
            Cell(THROUGHPUT, PIPELINED_KEYS, "RL.SLIDING denied", 5),
        ],
    ),
    (
        "benches/results/README.md",
        "| RL.SLIDING to the sliding script, allowed | {} × | {} × |",
        &[
            Cell(THROUGHPUT, PIPELINED, "RL.SLIDING allowed", 5),
            Cell(THROUGHPUT, PIPELINED_KEYS, "RL.SLIDING allowed", 5),
        ],
    ),
    (
        "benches/results/README.md",
        "| RL.THROTTLE to redis-cell, allowed | {} × | {} × |",
        &[
            Cell(THROUGHPUT, PIPELINED, "RL.THROTTLE allowed", 5),
            Cell(THROUGHPUT, PIPELINED_KEYS, "RL.THROTTLE allowed", 5),
        ],
    ),
    (
        "benches/results/README.md",
        "| RL.THROTTLE to redis-cell, denied | {} × | {} × |",
        &[
            Cell(THROUGHPUT, PIPELINED, "RL.THROTTLE denied", 5),
            Cell(THROUGHPUT, PIPELINED_KEYS, "RL.THROTTLE denied", 5),
        ],
    ),
    ("benches/results/README.md", "That is {} ms in which", &[Cell(GROWTH, EXPIRED, "1,000,000", 2)]),
    (
        "benches/results/README.md",
        "to an empty handler | 2 × | {} ×, {} × | token, fixed | | the same, 100,000 keys | 2 × | {} ×, {} × | token, fixed \
         | | the same, 10 limits | 2 × | {} ×, {} × |",
        &[
            service("rlaas: 1 limit, token", 2),
            service("rlaas: 1 limit, fixed", 2),
            service("rlaas: 1 limit, token, 100,000 keys", 2),
            service("rlaas: 1 limit, fixed, 100,000 keys", 2),
            service("rlaas: 10 limits, token", 2),
            service("rlaas: 10 limits, fixed", 2),
        ],
    ),
    (
        "benches/results/README.md",
        "limitador with `redis`: processor time of a request, to rlaas, 1 limit | 2 × (aim 2.5 ×) | {} × | | | … 10 limits | \
         2 × (aim 2.5 ×) | {} × | the aim is missed | | … denied | 2 × (aim 2.5 ×) | {} × | | | … 1 limit, 100,000 keys | 2 × \
         (aim 2.5 ×) | {} × |",
        &[
            Times(&service("limitador, redis: 1 limit", 1), &service("rlaas: 1 limit, fixed", 1)),
            Times(&service("limitador, redis: 10 limits", 1), &service("rlaas: 10 limits, fixed", 1)),
            Times(&service("limitador, redis: denied", 1), &service("rlaas: denied, sent", 1)),
            Times(
                &service("limitador, redis: 1 limit, 100,000 keys", 1),
                &service("rlaas: 1 limit, fixed, 100,000 keys", 1),
            ),
        ],
    ),
    (
        "benches/results/README.md",
        "limitador with `redis_cached`: the same, 1 limit | 2 × (aim 2.5 ×) | {} × | the aim is missed | | … 10 limits | 2 × \
         (aim 2.5 ×) | {} × | missed | | … denied | 2 × (aim 2.5 ×) | {} × | the aim is missed | | … 1 limit, 100,000 keys | \
         2 × (aim 2.5 ×) | {} × |",
        &[
            Times(&service("limitador, redis_cached: 1 limit", 1), &service("rlaas: 1 limit, fixed", 1)),
            Times(&service("limitador, redis_cached: 10 limits", 1), &service("rlaas: 10 limits, fixed", 1)),
            Times(&service("limitador, redis_cached: denied", 1), &service("rlaas: denied, sent", 1)),
            Times(
                &service("limitador, redis_cached: 1 limit, 100,000 keys", 1),
                &service("rlaas: 1 limit, fixed, 100,000 keys", 1),
            ),
        ],
    ),
    (
        "benches/results/README.md",
        "at a tenth of the load | 1.3 × | {} ×, {} × | token, fixed | | commands for a request of a hot rule with `grants: \
         100` | 0.02 | {} |",
        &[
            Times(&service("rlaas: 10 limits, token", 4), &service("rlaas: 1 limit, token", 4)),
            Times(&service("rlaas: 10 limits, fixed", 4), &service("rlaas: 1 limit, fixed", 4)),
            service("rlaas: grants of 100", 6),
        ],
    ),
    (
        "benches/results/README.md",
        "beside 100 wildcards | 2,000 ns | {} ns |",
        &[Cell(MATCHING, "# Finding", "10,000 rules and 100 wildcards", 1)],
    ),
    (
        "docs/service.md",
        "decides {} requests a second under one token bucket with one key, {} with 100,000 keys, and {} under ten limits",
        &[
            service("rlaas: 1 limit, token", 3),
            service("rlaas: 1 limit, token, 100,000 keys", 3),
            service("rlaas: 10 limits, token", 3),
        ],
    ),
    (
        "docs/service.md",
        "Count by processor time: {}, {} and {} µs a request",
        &[
            service("rlaas: 1 limit, token", 1),
            service("rlaas: 1 limit, token, 100,000 keys", 1),
            service("rlaas: 10 limits, token", 1),
        ],
    ),
    ("docs/service.md", "a request takes {} commands", &[service("rlaas: grants of 100", 6)]),
];

/// The rows of "Processor" in operations.md: the cases of `allowed` and `denied`.
const PROCESSOR: &[(&str, &[&str], &[&str])] = &[
    ("`PING`, for comparison", &["PING"], &[]),
    ("RL.FIXED", &["RL.FIXED allowed"], &["RL.FIXED denied"]),
    ("RL.GCRA", &["RL.GCRA allowed"], &["RL.GCRA denied"]),
    ("RL.COUNTER", &["RL.COUNTER allowed"], &["RL.COUNTER denied"]),
    ("RL.TOKEN, RL.LEAKY", &["RL.TOKEN allowed"], &["RL.TOKEN denied"]),
    (
        "RL.ROLLING, 10 to 4,096 moments",
        &["RL.ROLLING allowed @10", "RL.ROLLING allowed @4096"],
        &["RL.ROLLING denied @1000", "RL.ROLLING denied @4096"],
    ),
    ("RL.SLIDING, 5 units", &["RL.SLIDING allowed @5"], &["RL.SLIDING denied"]),
    ("RL.SLIDING, 1,000 units", &["RL.SLIDING allowed @1000"], &[]),
    ("RL.LEASE", &["RL.LEASE renewed"], &["RL.LEASE denied"]),
    ("RL.MULTI of three FIXED", &["RL.MULTI of 3 FIXED, allowed"], &["RL.MULTI of 3 FIXED, denied"]),
];

/// The rows of "Targets that were not reached" in benches/results/README.md.
const TARGETS: &[(&str, &[&str])] = &[
    ("RL.FIXED, allowed", &["RL.FIXED allowed"]),
    ("RL.FIXED, denied", &["RL.FIXED denied"]),
    ("RL.SLIDING, denied", &["RL.SLIDING denied"]),
    ("RL.COUNTER, denied", &["RL.COUNTER denied"]),
    ("RL.TOKEN, RL.LEAKY, allowed", &["RL.TOKEN allowed", "RL.LEAKY allowed"]),
    ("RL.TOKEN, RL.LEAKY, denied", &["RL.TOKEN denied", "RL.LEAKY denied"]),
    ("RL.THROTTLE, allowed", &["RL.THROTTLE allowed"]),
    ("RL.ROLLING, allowed", &["RL.ROLLING allowed, same moment", "RL.ROLLING allowed @4096"]),
    ("RL.ROLLING, denied", &["RL.ROLLING denied @1000", "RL.ROLLING denied @4096"]),
    ("RL.GCRA, allowed", &["RL.GCRA allowed"]),
    ("RL.GCRA, denied", &["RL.GCRA denied"]),
    ("RL.MULTI of three RL.FIXED", &["RL.MULTI of 3 FIXED, allowed"]),
    ("RESERVE, 10,000 ended", &["RL.WINDOW RESERVE, 10,000 ended", "RL.ROLLING RESERVE, 10,000 ended"]),
];

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A number as the pages write it: `10,949`, `1.32`, `12,848 (skiplist)`, `198 MB`.
fn number(text: &str) -> Option<f64> {
    text.split_whitespace().next()?.replace(',', "").parse().ok()
}

fn cells(line: &str) -> Vec<&str> {
    line.trim_matches('|').split(" | ").map(|cell| cell.trim_matches(['|', ' '])).collect()
}

fn instructions() -> BTreeMap<String, f64> {
    let text = read(BUDGET);
    let measured = |line: &str| {
        let cells = cells(line);
        Some((cells.first()?.to_string(), number(cells.get(4)?)?))
    };
    text.lines().filter(|line| line.starts_with("| ")).filter_map(measured).collect()
}

impl Source {
    fn value(&self, budget: &BTreeMap<String, f64>) -> f64 {
        let case = |name: &str| *budget.get(name).unwrap_or_else(|| panic!("{BUDGET} has no {name}"));
        let ratios = |pairs: &[(&str, &str)]| pairs.iter().map(|(a, b)| case(a) / case(b)).collect::<Vec<_>>();
        match self {
            Instructions(name) => case(name),
            Least(pairs) => ratios(pairs).into_iter().fold(f64::INFINITY, f64::min),
            Most(pairs) => ratios(pairs).into_iter().fold(0.0, f64::max),
            Times(a, b) => a.value(budget) / b.value(budget),
            Over(number, source) => number / source.value(budget),
            Cell(file, section, row, column) => {
                let text = read(file);
                let (_, below) = text.split_once(section).unwrap_or_else(|| panic!("{file} has no {section}"));
                let begin = format!("| {row} |");
                let line = below.lines().find(|line| line.starts_with(&begin));
                let line = line.unwrap_or_else(|| panic!("{file} has no row {row} below {section}"));
                number(cells(line)[*column]).unwrap_or_else(|| panic!("{file}: no number in {line}"))
            }
        }
    }
}

/// The page as one line, without the marks of comments.
fn joined(path: &str) -> String {
    let text = read(path);
    text.lines().flat_map(|line| line.trim_start_matches('#').split_whitespace()).collect::<Vec<_>>().join(" ")
}

/// The figures of the first place where the page has the sentence.
fn figures_in<'a>(page: &'a str, sentence: &str) -> Option<Vec<&'a str>> {
    let pieces: Vec<&str> = sentence.split("{}").collect();
    let first = pieces[0].trim_start();
    let mut from = 0;
    while let Some(at) = page[from..].find(first) {
        let mut rest = &page[from + at + first.len()..];
        from += at + 1;
        while !page.is_char_boundary(from) {
            from += 1;
        }
        let found: Option<Vec<&str>> = pieces[1..]
            .iter()
            .map(|piece| {
                let end = rest.find(|character: char| !character.is_ascii_digit() && !",.".contains(character));
                // Without a full stop or a comma of the sentence.
                let figure = rest[..end.unwrap_or(rest.len())].trim_end_matches([',', '.']);
                rest = rest[figure.len()..].strip_prefix(piece)?;
                (!figure.is_empty()).then_some(figure)
            })
            .collect();
        if found.is_some() {
            return found;
        }
    }
    None
}

fn compare(place: &str, figure: &str, source: f64, wrong: &mut Vec<String>) {
    let stated = number(figure).unwrap_or(f64::NAN);
    let decimals = figure.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let half = 0.5 / 10_f64.powi(i32::try_from(decimals).expect("few decimals")) + 1e-9;
    // Of an integer the last digit is rarely the one that was rounded.
    let near = (stated / source - 1.0).abs() <= 0.02 || decimals > 0 && (stated - source).abs() <= half;
    if !near {
        wrong.push(format!("{place}: {figure}, measured {source}"));
    }
}

#[test]
fn the_figures_of_the_pages_are_those_of_the_results() {
    let budget = instructions();
    assert!(budget.len() > 40, "{budget:?}");
    let mut wrong = Vec::new();
    for (page, sentence, sources) in SENTENCES {
        let Some(figures) = figures_in(&joined(page), sentence).map(|figures| figures.join(" ")) else {
            wrong.push(format!("{page} has no sentence: {sentence}"));
            continue;
        };
        let figures: Vec<&str> = figures.split(' ').collect();
        assert_eq!(figures.len(), sources.len(), "{page}: {sentence}");
        for (figure, source) in figures.iter().zip(*sources) {
            compare(page, figure, source.value(&budget), &mut wrong);
        }
    }
    let operations = read(OPERATIONS);
    let (_, table) = operations.split_once("| call | allowed | denied |").expect("the table of instructions");
    let rows: Vec<Vec<&str>> = table.lines().skip(2).take_while(|line| line.starts_with('|')).map(cells).collect();
    assert_eq!(
        rows.iter().map(|row| row[0]).collect::<Vec<_>>(),
        PROCESSOR.iter().map(|row| row.0).collect::<Vec<_>>()
    );
    for (row, (name, allowed, denied)) in rows.iter().zip(PROCESSOR) {
        for (cell, cases) in [(row[1], allowed), (row[2], denied)] {
            let figures: Vec<&str> = cell.split(" to ").filter(|figure| !figure.is_empty()).collect();
            assert_eq!(figures.len(), cases.len(), "{name}: {cell}");
            for (figure, case) in figures.iter().zip(*cases) {
                compare(&format!("{OPERATIONS}, {name}"), figure, budget[*case], &mut wrong);
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A target that the budget has as missed is in the table that says why, with what was reached.
#[test]
fn every_missed_target_has_its_reason() {
    let budget = instructions();
    let page = read(NEWEST);
    let (_, table) = page.split_once("| | target | reached | reason |").expect("the table of targets");
    let rows: Vec<Vec<&str>> = table.lines().skip(2).take_while(|line| line.starts_with('|')).map(cells).collect();
    assert_eq!(rows.iter().map(|row| row[0]).collect::<Vec<_>>(), TARGETS.iter().map(|row| row.0).collect::<Vec<_>>());
    let mut wrong = Vec::new();
    for (row, (name, cases)) in rows.iter().zip(TARGETS) {
        if let Some(times) = row[2].strip_suffix(" ×") {
            compare(name, times, budget[cases[0]] / budget["RL.FIXED allowed"], &mut wrong);
            continue;
        }
        let figures: Vec<&str> = row[2].split(" to ").flat_map(|figures| figures.split(", ")).collect();
        assert_eq!(figures.len(), cases.len(), "{name}: {}", row[2]);
        for (figure, case) in figures.iter().zip(*cases) {
            compare(name, figure, budget[*case], &mut wrong);
        }
    }
    // A case may name a size or the algorithm of a row that stands for several.
    let kind = |case: &str| {
        let case = case.split(" @").next().unwrap_or(case).replace(", same moment", "");
        if case.ends_with(" ended") { "RESERVE ended".to_owned() } else { case }
    };
    let known: Vec<String> = TARGETS.iter().flat_map(|(_, cases)| *cases).map(|case| kind(case)).collect();
    let text = read(BUDGET);
    let missed = text.lines().filter(|line| line.ends_with("| missed |")).map(|line| cells(line)[0]);
    wrong.extend(missed.filter(|case| !known.contains(&kind(case))).map(|case| format!("{case} has no row")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// docs/lua.md quotes the budget as it is.
#[test]
fn the_costs_of_the_library_are_those_of_the_budget() {
    let budget = instructions();
    let page = read("docs/lua.md");
    let (_, table) = page.split_once("| request | native command | `FCALL` |").expect("the table of costs");
    let rows: Vec<Vec<&str>> = table.lines().skip(2).take_while(|line| line.starts_with('|')).map(cells).collect();
    assert!(rows.len() >= 6);
    let mut wrong = Vec::new();
    for row in rows {
        let (algorithm, outcome) = row[0].split_once(", ").expect("an outcome");
        let case = match algorithm {
            "SLIDING of 5" if outcome == "allowed" => "SLIDING allowed @5".to_owned(),
            other => format!("{} {outcome}", other.split(' ').next().unwrap_or_default()),
        };
        for (cell, name) in [
            (row[1], format!("RL.{case}")),
            (row[2], format!("FCALL rl {case}")),
            (row[3], format!("EVALSHA rl {case}")),
        ] {
            compare(&format!("docs/lua.md, {}", row[0]), cell, budget[&name], &mut wrong);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
