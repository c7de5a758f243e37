//! The `redis` blocks of the pages: sessions of redis-cli, with the output that it prints.
//!
//! The blocks of a page run in order on one server, whose clock stands still, so every figure is that of the page.
//! A line `…` in the output stands for any lines, and `…` in a line for any text. A comment before a block changes what
//! is around it:
//!
//! - `<!-- 12 s later -->` moves the clock first (`ms`, `s`, `h` or `d`).
//! - `<!-- not on redis-7.0 -->` leaves the block out on servers whose name begins so.

use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write as _};
use std::process::{Command, Stdio};
use std::thread;

use snapbox::report::Palette;
use snapbox::{Assert, Data};

use crate::support::{FrozenClock, PATIENCE, Server, ServerBin, eventually, for_each_server};
use crate::{Page, pages, root};

/// 21 November 2026, 14:00:20 UTC, in microseconds.
const START: i64 = 1_795_269_620_000_000;

/// What redis-cli prints after each command: it says that it does not know this one, and sends nothing.
const END: &str = ":end";

/// A block, as a page has it.
struct Session {
    line: usize,
    /// How far the clock moves before it.
    later: i64,
    /// The servers that it does not run on.
    not_on: Vec<String>,
    /// Each command with its prompt, and the output below it.
    steps: Vec<(String, String)>,
}

/// `127.0.0.1:6379> PING` without its prompt, which may be `127.0.0.1:6379(TX)> `.
fn command(line: &str) -> Option<&str> {
    line.strip_prefix("127.0.0.1:6379")?.split_once("> ").map(|(_, command)| command)
}

fn sessions(page: &Page) -> Vec<Session> {
    let lines: Vec<&str> = page.text.lines().collect();
    let read = |(line, block): (usize, String)| {
        let mut session = Session { line, later: 0, not_on: Vec::new(), steps: Vec::new() };
        // The comments are the lines right before the fence.
        for comment in lines[..line - 1].iter().rev().map_while(|line| line.strip_prefix("<!-- ")?.strip_suffix(" -->"))
        {
            if let Some(time) = comment.strip_suffix(" later") {
                session.later = micros(time).unwrap_or_else(|| panic!("{}: {comment}", page.path.display()));
            } else if let Some(server) = comment.strip_prefix("not on ") {
                session.not_on.push(server.to_owned());
            }
        }
        for line in block.lines() {
            if command(line).is_some() {
                session.steps.push((line.to_owned(), String::new()));
            } else {
                let at = || format!("{}:{}: output before the first command", page.path.display(), session.line);
                let (_, output) = session.steps.last_mut().unwrap_or_else(|| panic!("{}", at()));
                let _ = writeln!(output, "{line}");
            }
        }
        session
    };
    page.blocks("redis").into_iter().map(read).collect()
}

/// `12 s`
fn micros(time: &str) -> Option<i64> {
    let (number, unit) = time.split_once(' ')?;
    let unit = match unit {
        "ms" => 1_000,
        "s" => 1_000_000,
        "h" => 3_600_000_000,
        "d" => 86_400_000_000,
        _ => return None,
    };
    number.parse::<i64>().ok()?.checked_mul(unit)
}

/// A server whose clock stands still.
struct Frozen {
    server: Server,
    clock: FrozenClock,
}

impl Frozen {
    fn start(bin: &ServerBin) -> Self {
        let clock = FrozenClock::at(START);
        Self { server: clock.govern(Server::options(bin)).start(), clock }
    }

    fn later(&mut self, by: i64) {
        self.clock.set(self.clock.now() + by);
        self.clock.assert_governs(&mut self.server.con());
    }

    /// Sends the commands as one session of redis-cli; what it prints below each.
    fn run(&self, commands: &[&str]) -> Vec<String> {
        let mut cli = Command::new("redis-cli")
            .args(["--no-raw", "-p", &self.server.port().to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("redis-cli starts: run make deps");
        let mut input = cli.stdin.take().expect("its input");
        let mut output = cli.stdout.take().expect("its output");
        let read = thread::spawn(move || {
            let mut bytes = Vec::new();
            output.read_to_end(&mut bytes).map(|_| String::from_utf8_lossy(&bytes).into_owned())
        });
        for command in commands {
            writeln!(input, "{command}\n{END}").expect("redis-cli reads");
        }
        drop(input);
        let ended = eventually(PATIENCE, || cli.try_wait().expect("a child").is_some());
        if !ended {
            let _ = cli.kill();
        }
        assert!(ended, "redis-cli waits, after one of {commands:?}");
        let text = read.join().expect("a thread").expect("its output");
        let mut outputs = vec![String::new()];
        for line in text.lines() {
            if line.contains(&format!("'{END}'")) {
                outputs.push(String::new());
            } else {
                let _ = writeln!(outputs.last_mut().expect("one"), "{line}");
            }
        }
        outputs.pop();
        assert_eq!(outputs.len(), commands.len(), "{text}");
        outputs
    }
}

/// Compares line by line. What `…` stands for is `…` in the result, so the result can be written to the page.
fn compared(output: &str, page: &str) -> String {
    let wildcards = |line: &str| if line.trim() == "…" { "...".to_owned() } else { line.replace('…', "[..]") };
    let expected: String = page.lines().map(|line| wildcards(line) + "\n").collect();
    let (actual, _) =
        Assert::new().normalize_paths(false).normalize(Data::text(trimmed(output)), Data::text(trimmed(&expected)));
    let lines = actual.render().unwrap_or_default();
    lines.lines().map(|line| if line == "..." { " …".to_owned() } else { line.replace("[..]", "…") } + "\n").collect()
}

/// Without empty lines at the end.
fn trimmed(text: &str) -> String {
    text.trim_end().to_owned() + "\n"
}

fn without_blanks(text: &str) -> Vec<&str> {
    text.trim_end().lines().map(|line| if line.trim() == "…" { "…" } else { line.trim_end() }).collect()
}

fn run_page(page: &Page, bin: &ServerBin) -> Vec<(usize, String, String)> {
    let sessions = sessions(page);
    if sessions.is_empty() {
        return Vec::new();
    }
    let mut frozen = Frozen::start(bin);
    let mut different = Vec::new();
    for session in sessions {
        frozen.later(session.later);
        let name = bin.to_string();
        if session.not_on.iter().any(|server| name.starts_with(server.as_str())) {
            continue;
        }
        let commands: Vec<&str> = session.steps.iter().filter_map(|(line, _)| command(line)).collect();
        let outputs = frozen.run(&commands);
        let (mut page_says, mut real) = (String::new(), String::new());
        for ((line, expected), output) in session.steps.iter().zip(&outputs) {
            let compared = compared(output, expected);
            let compared = if without_blanks(&compared) == without_blanks(expected) { expected } else { &compared };
            let _ = write!(page_says, "{line}\n{}", expected);
            let _ = write!(real, "{line}\n{}", compared.trim_start_matches('\n'));
        }
        if page_says.trim_end() != real.trim_end() {
            different.push((session.line, page_says, trimmed(&real)));
        }
    }
    different
}

#[test]
fn the_examples_have_the_output_that_they_show() {
    let pages = pages();
    let all: usize = pages.iter().map(|page| page.blocks("redis").len()).sum();
    assert!(all > 10, "only {all} blocks");
    let update = std::env::var("UPDATE").is_ok_and(|update| update == "1");
    for_each_server(|bin| {
        let mut report = String::new();
        for page in &pages {
            let different = run_page(page, bin);
            for (line, page_says, real) in &different {
                let _ = writeln!(report, "{}:{line} on {bin}", page.path.display());
                let diff = Assert::new().palette(Palette::plain()).try_eq(
                    None,
                    Data::text(real.clone()),
                    Data::text(page_says.clone()).raw(),
                );
                let _ = writeln!(report, "{}", diff.err().map_or(String::new(), |diff| diff.to_string()));
            }
            if update && !different.is_empty() && bin.version.0 == 7 {
                write_back(page, &different);
            }
        }
        assert!(report.is_empty(), "{report}");
    });
}

/// Replaces the blocks that begin on those lines.
fn write_back(page: &Page, blocks: &[(usize, String, String)]) {
    let mut lines: Vec<&str> = page.text.lines().collect();
    for (start, _, real) in blocks.iter().rev() {
        let end = lines[*start..].iter().position(|line| line.starts_with("```")).expect("a fence") + start;
        lines.splice(start..&end, real.lines());
    }
    fs::write(root().join(&page.path), lines.join("\n") + "\n").expect("a page");
}
