//! `benches/budget.md`: how many instructions each command may take. People and this file read the table there.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::support::ServerBin;

/// How far above its budget a command may be. The measurement itself varies by one per cent.
const TOLERANCE: f64 = 1.02;

pub struct Measured {
    pub name: String,
    /// The command, with placeholders.
    pub sends: String,
    pub instructions: u64,
}

/// A row of the table.
#[derive(Clone, Default)]
struct Row {
    name: String,
    sends: String,
    /// The planned number: empty, a number, or a multiple of another row (`1.3 × ZADD @100`).
    target: String,
    /// The number that must not be exceeded; `None` for the server's own commands.
    budget: Option<u64>,
    last: Option<u64>,
}

/// The server's own commands have no budget.
fn has_budget(name: &str) -> bool {
    name.starts_with("RL.") || name.starts_with("Lua ")
}

/// The file, and how it is used.
pub struct Budget {
    path: PathBuf,
    text: String,
    rows: Vec<Row>,
    server: String,
    /// Whether all cases are measured.
    complete: bool,
    /// `UPDATE=1`: the measured figures become the budget.
    pub updates: bool,
}

impl Budget {
    pub fn read(server: &ServerBin, complete: bool) -> Self {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("benches/budget.md");
        let text = fs::read_to_string(&path).expect("benches/budget.md");
        let rows = text.lines().filter_map(Row::parse).collect();
        let updates = std::env::var("UPDATE").is_ok_and(|update| update == "1");
        Self { path, text, rows, server: server.to_string(), complete, updates }
    }

    fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.name == name)
    }

    pub fn is_exceeded(&self, name: &str, instructions: u64) -> bool {
        let budget = self.row(name).and_then(|row| row.budget);
        budget.is_some_and(|most| instructions as f64 > most as f64 * TOLERANCE)
    }

    /// What exceeds the budget, or is missing in it.
    pub fn failures(&self, measured: &[Measured]) -> Vec<String> {
        let mut failures = Vec::new();
        if !self.text.contains(&format!("on {}.", self.server)) {
            let server = &self.server;
            failures
                .push(format!("the budget is not for {server}, whose own code takes another number of instructions"));
        }
        for Measured { name, instructions, .. } in measured {
            match self.row(name).map(|row| row.budget) {
                Some(Some(most)) if self.is_exceeded(name, *instructions) => {
                    failures.push(format!("{name} takes {instructions} instructions; its budget is {most}"));
                }
                None if has_budget(name) => {
                    failures.push(format!("{name}, {instructions} instructions, has no row in the budget"));
                }
                _ => {}
            }
        }
        let gone = |row: &&Row| self.complete && !measured.iter().any(|one| one.name == row.name);
        let gone = self.rows.iter().filter(gone);
        failures.extend(gone.map(|row| format!("{} is in the budget, but is not measured any more", row.name)));
        failures
    }

    /// Prints the measured figures beside the budget, or writes them into it.
    pub fn judge(&self, measured: &[Measured]) -> ExitCode {
        if self.updates {
            fs::write(&self.path, self.updated(measured)).expect("benches/budget.md is written");
            println!("Written to benches/budget.md");
            return ExitCode::SUCCESS;
        }
        println!("{:<36} {:>9} {:>9}", "instructions per command", "measured", "budget");
        for Measured { name, instructions, .. } in measured {
            let budget = self.row(name).and_then(|row| row.budget);
            let share = |most: u64| format!("{most:>9} {:+.1} %", (*instructions as f64 / most as f64 - 1.0) * 100.0);
            println!("{name:<36} {instructions:>9} {}", budget.map_or(String::new(), share));
        }
        let failures = self.failures(measured);
        failures.iter().for_each(|failure| println!("FAILED: {failure}"));
        if failures.is_empty() {
            println!("Every command is within its budget.");
            return ExitCode::SUCCESS;
        }
        println!("If that is intended: make bench-instructions UPDATE=1, and give the reason in the commit message.");
        ExitCode::FAILURE
    }

    /// The text of the file with the new figures. Everything outside the table and the line above it stays as it is.
    fn updated(&self, measured: &[Measured]) -> String {
        let before: Vec<_> = self.text.lines().take_while(|line| !line.starts_with("Measured ")).collect();
        let after =
            self.text.lines().skip_while(|line| !line.starts_with('|')).skip_while(|line| line.starts_with('|'));
        let mut rows: Vec<Row> = if self.complete { Vec::new() } else { self.rows.clone() };
        for one in measured {
            let row = Row {
                name: one.name.clone(),
                sends: one.sends.clone(),
                target: self.row(&one.name).map_or(String::new(), |row| row.target.clone()),
                budget: has_budget(&one.name).then(|| one.instructions.next_multiple_of(10)),
                last: Some(one.instructions),
            };
            match rows.iter_mut().find(|row| row.name == one.name) {
                Some(old) => *old = row,
                None => rows.push(row),
            }
        }
        let figures: BTreeMap<_, _> = rows.iter().filter_map(|row| Some((row.name.as_str(), row.last?))).collect();
        let mut text = before.join("\n");
        let _ = write!(text, "\nMeasured on {}.\n\n", self.server);
        text.push_str("| command | sent | target | budget | measured | |\n|---|---|--:|--:|--:|---|\n");
        for row in &rows {
            let number = |number: Option<u64>| number.map_or(String::from("–"), |number| number.to_string());
            let met = match (row.target(&figures), row.last) {
                (Some(most), Some(last)) if last <= most => "met",
                (Some(_), Some(_)) => "missed",
                _ => "",
            };
            let Row { name, sends, target, budget, last } = row;
            let _ =
                writeln!(text, "| {name} | `{sends}` | {target} | {} | {} | {met} |", number(*budget), number(*last));
        }
        after.for_each(|line| text.extend([line, "\n"]));
        text
    }
}

impl Row {
    /// `| name | sent | target | budget | measured | met |`; `None` for the heading.
    fn parse(line: &str) -> Option<Self> {
        let cells: Vec<_> = line.strip_prefix('|')?.split('|').map(str::trim).collect();
        let [name, sends, target, budget, last, ..] = cells.as_slice() else { return None };
        if *name == "command" || name.starts_with("--") {
            return None;
        }
        Some(Self {
            name: (*name).to_owned(),
            sends: sends.trim_matches('`').to_owned(),
            target: (*target).to_owned(),
            budget: budget.parse().ok(),
            last: last.parse().ok(),
        })
    }

    /// The target as a number. A multiple of another row is computed from the measured figure of that row.
    fn target(&self, figures: &BTreeMap<&str, u64>) -> Option<u64> {
        match self.target.split_once(" × ") {
            None => self.target.parse().ok(),
            Some((factor, of)) => Some((factor.parse::<f64>().ok()? * *figures.get(of)? as f64) as u64),
        }
    }
}
