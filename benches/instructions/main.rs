//! Instructions that the server executes for a command: `make bench-instructions`.
//!
//! A server runs under callgrind and counts everything it does between two points in time, from reading the socket to
//! writing the reply. Between them it gets hundreds or thousands of commands in pipelines of 50. The seeds of the
//! server's hash tables are random, and a longer chain costs some per cent, so what is above its budget is counted again
//! on other servers, and the smallest count is used. How busy the machine is changes nothing; the smallest of six servers
//! differs by up to 2 % from run to run where a command is short.
//!
//! `benches/budget.md` has the budget of each command. A command that exceeds it by more than 2 % fails the run. So does
//! counting for INFO or RL.TOP that takes more instructions a decision than it may.
//!
//! Environment: `UPDATE=1` writes the measured figures into the budget instead; `ONLY=TOKEN,GCRA` measures the cases
//! whose name contains one of these; `PROFILES=dir` keeps a profile of each case for callgrind_annotate.

mod budget;
mod cases;
mod lab;
mod profile;
#[path = "../../tests/support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use support::{Server, ServerBin, eventually, servers};
use tempfile::TempDir;

use budget::{Budget, Measured};
use cases::{Case, Found};
use lab::{ENDED, Lab, PIPELINE, Words, first, key_name, now_ms};

/// The value of `LIMIT`.
const LIMIT: u64 = 100_000;

/// The functions that count a decision for INFO rl, and within it a denial for RL.TOP. Each has the most instructions
/// that it may take.
const COUNTS_DECISION: (&str, u64) = ("::decide::Pending<A>::count", 60);
const COUNTS_DENIAL: (&str, u64) = ("::decide::Pending<A>::record_denial", 420);

fn main() -> ExitCode {
    let bin = &servers()[0];
    let only = std::env::var("ONLY").unwrap_or_default();
    let runs = runs(&only);
    let budget = Budget::read(bin, only.is_empty());
    // For a short command, perhaps one server in ten has seeds with which it is within its budget.
    let starts = if budget.updates { 6 } else { 24 };
    eprintln!("{} cases, each on at most {starts} servers ({bin}) under callgrind", runs.len());

    let mut least = BTreeMap::<String, Counts>::new();
    let mut left: Vec<&Run> = runs.iter().collect();
    // Two at a time: the number of instructions does not depend on the load of the machine.
    let parallel = 2;
    for first in (0..starts).step_by(parallel) {
        // At first each counts its part, since most cases are within their budget on any server.
        let parts = if first == 0 && !budget.updates { parallel } else { 1 };
        let counts: Vec<_> = std::thread::scope(|scope| {
            let one = |start| {
                let part: Vec<&Run> = left.iter().skip(start % parts).step_by(parts).copied().collect();
                scope.spawn(move || Counted::start(bin).count_all(&part))
            };
            let running: Vec<_> = (first..starts.min(first + parallel)).map(one).collect();
            running.into_iter().map(|counts| counts.join().expect("a server that counts")).collect()
        });
        for (name, count) in counts.into_iter().flatten() {
            let least = least.entry(name).or_insert(count);
            *least = least.min(count);
        }
        if !budget.updates {
            left.retain(|run| {
                let counts = &least[&run.name];
                let counts_dearly = counts.decision > COUNTS_DECISION.1 || counts.denial > COUNTS_DENIAL.1;
                counts_dearly || budget.is_exceeded(&run.name, counts.all)
            });
        }
        if left.is_empty() {
            break;
        }
    }
    let measure = |run: &Run| Measured {
        name: run.name.clone(),
        sends: run.case.sends.replace("KEY", "k").replace("LIMIT", &LIMIT.to_string()),
        instructions: least[&run.name].all,
    };
    let measured: Vec<_> = runs.iter().map(measure).collect();
    let judged = budget.judge(&measured);
    let mut met = true;
    for (one, text) in counting(&least) {
        println!("{text}");
        met &= one;
    }
    if met { judged } else { ExitCode::FAILURE }
}

/// Whether counting takes no more instructions than it may, and how many it takes.
fn counting(least: &BTreeMap<String, Counts>) -> [(bool, String); 2] {
    let judge = |what: &str, most: u64, cost: fn(&Counts) -> u64| {
        let dearest = least.iter().max_by_key(|(_, counts)| cost(counts));
        let (name, instructions) = dearest.map_or(("", 0), |(name, counts)| (name, cost(counts)));
        let text = format!("Counting for {what}: at most {instructions} instructions ({name}); it may take {most}.");
        // A function that has another name now takes none.
        let is_found = instructions > 0 || !least.keys().any(|name| name.starts_with("RL.") && name.contains("denied"));
        (is_found && instructions <= most, text)
    };
    [
        judge("INFO rl, of a decision", COUNTS_DECISION.1, |counts| counts.decision),
        judge("RL.TOP, of a denial", COUNTS_DENIAL.1, |counts| counts.denial),
    ]
}

/// Instructions of a request, and of the counting in it.
#[derive(Clone, Copy)]
struct Counts {
    all: u64,
    /// A decision for INFO rl.
    decision: u64,
    /// A denial for RL.TOP.
    denial: u64,
}

impl Counts {
    fn of(profile: &str, requests: u64) -> Self {
        let [decisions, denials] = [COUNTS_DECISION, COUNTS_DENIAL].map(|(name, _)| profile::calls(profile, name));
        Self {
            all: profile::total(profile).expect("a total in the profile") / requests,
            decision: (decisions.instructions - denials.instructions) / decisions.number.max(1),
            denial: denials.instructions / denials.number.max(1),
        }
    }

    fn min(self, other: Self) -> Self {
        Self {
            all: self.all.min(other.all),
            decision: self.decision.min(other.decision),
            denial: self.denial.min(other.denial),
        }
    }
}

/// A case, at one size of the key.
struct Run {
    name: String,
    case: Case,
    keys: usize,
    /// The members of a log, or the entries of a packed one, that exists before the requests.
    members: usize,
    requests: usize,
}

fn runs(only: &str) -> Vec<Run> {
    let sizes = |case: Case| {
        // A call of a script takes so many instructions that few calls are enough.
        let share = if case.name.starts_with("Lua ") { 5 } else { 1 };
        let run = |name, keys: usize, members, requests| Run {
            name,
            case: case.clone(),
            keys: keys.div_ceil(share),
            members,
            requests: requests / share,
        };
        if case.grows {
            // About 5, 100 (still a listpack) and 1,000 members, as an average over the requests.
            vec![
                run(format!("{} @5", case.name), 400, 3, 2_000),
                run(format!("{} @100", case.name), 20, 90, 400),
                run(format!("{} @1000", case.name), 10, 900, 2_000),
            ]
        } else if case.packed_ms > 0 {
            // All requests are of one moment, so an allowed one adds an entry if it is the first for its key.
            let (keys, requests) = if case.answers == Some(0) { (1, 2_000) } else { (1_000, 1_000) };
            PACKED_ENTRIES.map(|entries| run(format!("{} @{entries}", case.name), keys, entries, requests)).into()
        } else if let Some(found) = case.found {
            vec![run(case.name.clone(), 1, 0, if matches!(found, Found::Open) { 2_000 } else { 1 })]
        } else {
            vec![run(case.name.clone(), case.keys, 0, 2_000)]
        }
    };
    cases::all().into_iter().flat_map(sizes).filter(|run| only.split(',').any(|name| run.name.contains(name))).collect()
}

/// The entries of a packed log.
const PACKED_ENTRIES: [usize; 3] = [10, 1_000, 4_096];

/// A server under callgrind.
struct Counted {
    lab: Lab,
    dumps: usize,
    // The last field: the server ends before its directory is deleted.
    dir: TempDir,
}

impl Counted {
    fn start(bin: &ServerBin) -> Self {
        let dir = TempDir::new().expect("a temporary directory");
        let lab = Lab::start(Server::options(&under_callgrind(bin, dir.path())).set("hz", 1));
        Self { lab, dumps: 0, dir }
    }

    fn count_all(mut self, runs: &[&Run]) -> Vec<(String, Counts)> {
        runs.iter().map(|run| (run.name.clone(), self.count(run))).collect()
    }

    /// Instructions per request.
    fn count(&mut self, run: &Run) -> Counts {
        self.lab.ask("FLUSHALL");
        let (sends, times) = &run.case.before;
        let before: Vec<_> = (0..*times).map(|n| self.words(sends, run, n)).collect();
        self.lab.send(&before);
        let requests: Vec<_> = (0..run.requests).map(|n| self.words(&run.case.sends, run, n)).collect();
        if let Some(found) = run.case.found {
            match found {
                Found::Members => self.lab.fill_logs("k", 1, ENDED as usize, now_ms() - 7_200_000),
                found => {
                    let mut words = run.case.sends.split([' ', '.']).skip(1);
                    let word = words.find(|word| *word != "SETTLE").expect("an algorithm");
                    self.lab.fill_reservations(word, "k", now_ms(), found);
                }
            }
        } else if run.case.packed_ms > 0 {
            let (entries, window_ms) = (run.members as u64, run.case.packed_ms);
            if run.case.answers == Some(0) {
                // No entry leaves the window while the requests are sent, however long that takes.
                self.lab.fill_packed("k", run.keys, [entries, LIMIT], window_ms / 2, now_ms());
            } else {
                let moment = window_ms / 4_096 + 1;
                self.lab.fill_packed("k", run.keys, [entries, entries], window_ms, now_ms() - moment);
            }
        } else {
            self.lab.fill_logs("k", run.keys, run.members, now_ms());
        }
        (0..PIPELINE).for_each(|_| drop(self.lab.ask("PING")));
        self.control("--zero");
        let last = self.lab.send(&requests);
        let profile = self.dump();
        if let Some(expected) = run.case.answers {
            assert_eq!(first(&last), Some(expected), "{}: the last reply is {last:?}", run.name);
        }
        let text = fs::read_to_string(&profile).expect("a profile");
        if let Ok(keep) = std::env::var("PROFILES") {
            fs::create_dir_all(&keep).expect("a directory for profiles");
            fs::write(Path::new(&keep).join(run.name.replace([' ', ','], "_")), &text).expect("a profile is kept");
        }
        Counts::of(&text, run.requests as u64)
    }

    fn words(&self, sends: &str, run: &Run, n: usize) -> Vec<String> {
        let put = Words {
            key: key_name("k", run.keys, n % run.keys),
            limit: LIMIT,
            // Each request is a millisecond after the one before, and later than every entry of the key.
            now: (now_ms() + n as u64).to_string(),
            one: format!("0.{n:05}"),
        };
        self.lab.words(sends, &put)
    }

    /// Makes callgrind write what it has counted since the last `--zero`.
    fn dump(&mut self) -> PathBuf {
        self.control("--dump");
        self.dumps += 1;
        let path = self.dir.path().join(format!("{PROFILE}.{}", self.dumps));
        let written = eventually(Duration::from_secs(20), || {
            fs::read_to_string(&path).is_ok_and(|text| profile::total(&text).is_some())
        });
        assert!(written, "callgrind has not written {}", path.display());
        path
    }

    fn control(&self, what: &str) {
        // It waits for ever for a server that has ended.
        let pid = self.lab.server.pid().to_string();
        let mut command = Command::new("timeout");
        command.args(["60", "callgrind_control", what, &pid]);
        for name in IN_NAMES {
            command.env_remove(name);
        }
        let output = command.output().expect("callgrind_control runs");
        assert!(output.status.success(), "callgrind_control {what}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

const PROFILE: &str = "profile";

/// Valgrind makes the names of its pipes of these variables, each time anew. A server overwrites its environment with its
/// title, so they must not be set.
const IN_NAMES: [&str; 4] = ["LOGNAME", "USER", "HOST", "HOSTNAME"];

/// Writes a program into `dir` that runs the server under callgrind. Its profiles are in `dir` as well.
fn under_callgrind(bin: &ServerBin, dir: &Path) -> ServerBin {
    let path = dir.join("server");
    let script = format!(
        "#!/bin/sh\nunset {}\nexec valgrind --tool=callgrind --callgrind-out-file='{}' '{}' \"$@\"\n",
        IN_NAMES.join(" "),
        dir.join(PROFILE).display(),
        std::path::absolute(&bin.path).expect("a path").display()
    );
    fs::write(&path, script).expect("a script");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a program");
    let valgrind = Command::new("valgrind").arg("--version").stdout(Stdio::null()).status();
    assert!(valgrind.is_ok_and(|status| status.success()), "valgrind is missing: make bench-instructions installs it");
    ServerBin { path, ..bin.clone() }
}
