//! Requests per second: `make bench-throughput`.
//!
//! `redis-benchmark` puts load on one server, one command after the other, in rounds. Other programs on the machine
//! slow all commands of a round in the same way, so ratios are computed round by round.
//!
//! Environment: `ROUNDS=9`, `SECONDS=0.25` for each figure of a round; `PEER_MODULE=path` names a redis-cell `.so`,
//! whose CL.THROTTLE is measured as well; `ONLY=TOKEN,GCRA` measures the commands whose name contains one of these,
//! and writes nothing.

mod common;
#[path = "../tests/support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::fmt::Write;

use common::cases::{self, Case};
use common::lab::{Figures, Lab, Load, PIPELINE, Words, first, key_name};
use common::now_ms;
use common::report::{self, Sample, conditions, setting, table, thousands};
use support::{Server, ServerBin, servers};

/// A limit that no run reaches; with GCRA, a whole number of nanoseconds for each request.
const LIMIT: u64 = 1_000_000_000;
/// The most requests of a command that makes its key grow.
const MOST_GROWTH: u64 = 100_000;
/// The database of the keys that grow. It is emptied before each measurement.
const GROWING: u32 = 1;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Setting {
    pipeline: usize,
    keys: usize,
}

const MILLION: usize = 1_000_000;
/// What is measured with a million keys too. All commands would need more memory than a usual machine has.
const WITH_A_MILLION: [&str; 12] = [
    "INCR",
    "INCREX allowed",
    "INCREX denied",
    "RL.FIXED allowed",
    "RL.FIXED denied",
    "RL.WINDOW allowed",
    "RL.WINDOW denied",
    "RL.COUNTER allowed",
    "RL.TOKEN allowed",
    "RL.TOKEN of 1,000 a minute",
    "RL.GCRA allowed",
    "RL.GCRA of 1,000 a minute",
];

/// Commands whose records are needed for a moment only, at a limit that no run reaches: they live for 5 seconds, and a
/// round takes longer.
const WHOSE_RECORDS_EXPIRE: [&str; 4] = ["TOKEN", "LEAKY", "GCRA", "THROTTLE"];

const SETTINGS: [Setting; 5] = [
    Setting { pipeline: PIPELINE, keys: 1 },
    Setting { pipeline: PIPELINE, keys: 100_000 },
    Setting { pipeline: PIPELINE, keys: MILLION },
    Setting { pipeline: 1, keys: 1 },
    Setting { pipeline: 1, keys: 100_000 },
];

impl Setting {
    fn measures(self, case: &Case) -> bool {
        self.keys >= case.least_keys && (self.keys < MILLION || WITH_A_MILLION.contains(&case.name))
    }

    fn title(self) -> String {
        let keys =
            if self.keys == 1 { "one hot key".into() } else { format!("{} random keys", thousands(self.keys as f64)) };
        if self.pipeline == 1 {
            format!("Without pipelining, {keys}")
        } else {
            format!("Pipelined ({}), {keys}", self.pipeline)
        }
    }
}

/// The figures of a command in a setting, one for each round.
#[derive(Default)]
struct Rounds {
    per_second: Sample,
    cpu_us: Sample,
    p50_ms: Sample,
    p99_ms: Sample,
}

type Results = BTreeMap<(Setting, &'static str), Rounds>;

fn main() {
    let bin = &servers()[0];
    let busy = report::load_average();
    let rounds = setting("ROUNDS", 9.0) as usize;
    let seconds = setting("SECONDS", 0.25);
    let only = std::env::var("ONLY").unwrap_or_default();
    let peer = std::env::var("PEER_MODULE").ok().filter(|path| !path.is_empty());

    let mut options = Server::options(bin);
    if let Some(path) = &peer {
        options = options.set("loadmodule", path).module_args(&["cl-throttle", "no"]);
    }
    // The library leaves garbage in the server's Lua that other scripts would collect: its calls get a server of their own.
    let mut labs = [Lab::start(options), Lab::start(Server::options(bin))];
    let cases: Vec<_> = list(&mut labs[0], peer.is_some())
        .into_iter()
        .filter(|case| only.split(',').any(|name| case.name.contains(name)))
        .collect();
    eprintln!("{} commands in {} settings, {rounds} rounds", cases.len(), SETTINGS.len());

    let mut results = Results::new();
    let mut requests = BTreeMap::new();
    for (at, case) in cases.iter().enumerate() {
        for setting in SETTINGS.into_iter().filter(|setting| setting.measures(case)) {
            let (lab, key) = (&mut labs[lab_of(case)], key(at, setting));
            prepare(lab, case, &key, setting.keys);
            check(lab, case, &key, setting.keys);
            // How many requests fill the time. These also warm up the server.
            let trial = if setting.pipeline == 1 { 2_000 } else { 20_000 };
            let figures = measure(lab, case, &key, setting, trial);
            let fill = (figures.per_second * seconds) as u64;
            requests.insert((at, setting), if case.grows { fill.min(MOST_GROWTH) } else { fill });
        }
    }
    for round in 0..rounds {
        eprintln!("round {}", round + 1);
        for setting in SETTINGS {
            for (at, case) in cases.iter().enumerate().filter(|(_, case)| setting.measures(case)) {
                let (lab, key) = (&mut labs[lab_of(case)], key(at, setting));
                let expires = WHOSE_RECORDS_EXPIRE.iter().any(|command| case.name.contains(command));
                if expires && lab.ask_integer(&format!("EXISTS {}", key_name(&key, setting.keys, 0))) == 0 {
                    prepare(lab, case, &key, setting.keys);
                }
                let figures = measure(lab, case, &key, setting, requests[&(at, setting)]);
                results.entry((setting, case.name)).or_default().add(figures);
            }
        }
    }
    for (at, case) in cases.iter().enumerate() {
        for setting in SETTINGS.into_iter().filter(|setting| setting.measures(case)) {
            let (lab, key) = (&mut labs[lab_of(case)], key(at, setting));
            // A window of FIXED may have begun since.
            let (sends, times) = case.before;
            lab.fill(sends, &key_name(&key, setting.keys, setting.keys / 2), 1, LIMIT, times);
            check(lab, case, &key, setting.keys);
        }
    }

    let text = markdown(bin, &cases, &results, &format!("{rounds} rounds of {seconds} s a figure"), &busy);
    println!("{text}");
    if only.is_empty() {
        report::write(bin, "throughput.md", &text);
    }
}

/// The commands of `cases`, those of the newest servers, and those of redis-cell.
fn list(lab: &mut Lab, peer: bool) -> Vec<Case> {
    let mut list = cases::all();
    list.extend(cases::USUAL);
    if lab.has("INCREX") {
        list.extend(cases::INCREX);
    }
    if peer {
        list.extend(cases::CELL);
    }
    list
}

/// The server that a case is measured on: 1 for calls of the Lua library.
fn lab_of(case: &Case) -> usize {
    usize::from(case.sends.starts_with("FCALL ") || case.sends.contains("LIBRARY"))
}

/// Every command has its own keys. What they hold stays from round to round.
fn key(at: usize, setting: Setting) -> String {
    let way = match setting {
        Setting { keys: MILLION, .. } => "m",
        Setting { pipeline: 1, .. } => "s",
        _ => "p",
    };
    format!("{at:02}{way}")
}

fn prepare(lab: &mut Lab, case: &Case, key: &str, keys: usize) {
    let (sends, times) = case.before;
    lab.fill(sends, key, keys, LIMIT, times);
    // An allowed request finds its key, the first one too.
    let decides = ["RL.", "CL.", "INCREX "].iter().any(|command| case.sends.starts_with(command));
    if times == 0 && decides && !case.grows && keys > 1 {
        lab.fill(case.sends, key, keys, LIMIT, 1);
    }
}

/// Panics if the command does not reply what the case expects.
fn check(lab: &mut Lab, case: &Case, key: &str, keys: usize) {
    let key = key_name(key, keys, keys / 2);
    let put = Words { key, limit: LIMIT, now: now_ms().to_string(), one: "0.1".into() };
    let words = lab.words(case.sends, &put);
    if case.grows {
        lab.ask(&format!("SELECT {GROWING}"));
    }
    let reply = lab.send(&[words]);
    lab.ask("SELECT 0");
    if let Some(expected) = case.answers {
        assert_eq!(first(&reply), Some(expected), "{}: {reply:?}", case.name);
    }
}

fn measure(lab: &mut Lab, case: &Case, key: &str, setting: Setting, requests: u64) -> Figures {
    let Setting { pipeline, keys } = setting;
    let db = if case.grows { GROWING } else { 0 };
    if case.grows {
        for command in [&format!("SELECT {GROWING}"), "FLUSHDB", "SELECT 0"] {
            lab.ask(command);
        }
    }
    lab.load(&Load { sends: case.sends, key, keys, limit: LIMIT, pipeline, requests: requests.max(1_000), db })
}

impl Rounds {
    fn add(&mut self, figures: Figures) {
        self.per_second.0.push(figures.per_second);
        self.cpu_us.0.push(figures.cpu_us);
        self.p50_ms.0.push(figures.p50_ms);
        self.p99_ms.0.push(figures.p99_ms);
    }
}

/// How many times as much one command does as another.
struct Ratio {
    /// By requests per second.
    per_second: f64,
    /// By processor time of the server.
    cpu: f64,
}

/// The median of the ratios of all rounds.
fn ratio(results: &Results, setting: Setting, this: &'static str, that: Option<&'static str>) -> Option<Ratio> {
    let (this, that) = (results.get(&(setting, this))?, results.get(&(setting, that?))?);
    Some(Ratio {
        per_second: this.per_second.over(&that.per_second).median(),
        cpu: that.cpu_us.over(&this.cpu_us).median(),
    })
}

fn markdown(bin: &ServerBin, cases: &[Case], results: &Results, rounds: &str, busy: &str) -> String {
    let mut text = format!(
        "# Throughput\n\n{}. Medians of {rounds}, 50 connections; server and load share the machine,\n\
         whose load average was {busy} before.\n\n\
         `server µs` is processor time of the server per request, system calls included; other programs on the machine\n\
         disturb it less than requests per second. The last two columns say how many times as much the command does as\n\
         the script that it replaces (for RL.THROTTLE: redis-cell's command), and as INCR or ZADD: first in requests per\n\
         second, then in requests per second of the server's processor time. Commands that make their key grow (ZADD,\n\
         sliding, allowed) begin each measurement with no keys and send at most {} requests.\n\
         Every key of a command exists before each measurement, but for those. No record expires during one: a record lives for 5 seconds\n\
         or longer.\n",
        conditions(bin),
        thousands(MOST_GROWTH as f64)
    );
    for setting in SETTINGS {
        let rows = cases.iter().filter_map(|case| {
            let rounds = results.get(&(setting, case.name))?;
            let times = |that| {
                let ratio = ratio(results, setting, case.name, that);
                ratio.map_or(String::new(), |ratio| format!("{:.2} × / {:.2} ×", ratio.per_second, ratio.cpu))
            };
            Some(vec![
                case.name.to_owned(),
                thousands(rounds.per_second.median()),
                format!("{} – {}", thousands(rounds.per_second.min()), thousands(rounds.per_second.max())),
                format!("{:.2}", rounds.cpu_us.median()),
                format!("{:.2} / {:.2}", rounds.p50_ms.median(), rounds.p99_ms.median()),
                times(case.replaces),
                times(case.beside),
            ])
        });
        let heading =
            ["command", "requests/s", "least – most", "server µs", "p50 / p99 ms", "to the script", "to INCR / ZADD"];
        let _ = write!(text, "\n## {}\n\n{}", setting.title(), table(&heading, &rows.collect::<Vec<_>>()));
    }
    text
}
