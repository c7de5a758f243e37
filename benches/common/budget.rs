//! `benches/budget.md`: how many instructions each command may take. People and this file read the table there.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

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

/// Compares the measured figures with the budget. With `UPDATE=1` it writes them into the budget instead.
pub fn judge(server: &str, measured: &[Measured], complete: bool) -> ExitCode {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("benches/budget.md");
    let text = fs::read_to_string(&path).expect("benches/budget.md");
    let rows: Vec<_> = text.lines().filter_map(Row::parse).collect();
    if std::env::var("UPDATE").is_ok_and(|update| update == "1") {
        fs::write(&path, update(&text, &rows, server, measured, complete)).expect("benches/budget.md is written");
        println!("Written to benches/budget.md");
        return ExitCode::SUCCESS;
    }

    let mut failures = Vec::new();
    if !text.contains(&format!("on {server},")) {
        failures.push(format!("the budget is not for {server}, whose own code takes another number of instructions"));
    }
    let figures: BTreeMap<_, _> = measured.iter().map(|one| (one.name.as_str(), one.instructions)).collect();
    println!("{:<32} {:>9} {:>9} {:>8} {:>9}  target", "instructions per command", "measured", "budget", "", "target");
    for one in measured {
        let Some(row) = rows.iter().find(|row| row.name == one.name) else {
            if !one.name.starts_with("RL.") {
                println!("{:<32} {:>9}", one.name, one.instructions);
                continue;
            }
            failures.push(format!("{}, {} instructions, has no row in the budget", one.name, one.instructions));
            continue;
        };
        let got = one.instructions as f64;
        let (mut budget, mut share) = (String::from("–"), String::new());
        if let Some(most) = row.budget {
            (budget, share) = (most.to_string(), format!("{:+.1} %", (got / most as f64 - 1.0) * 100.0));
            if got > most as f64 * TOLERANCE {
                failures.push(format!("{} takes {} instructions; its budget is {most}", one.name, one.instructions));
            }
        }
        let target = row.target(&figures).map_or(String::new(), |most| most.to_string());
        let met = row.target(&figures).map_or("", |most| if one.instructions <= most { "met" } else { "MISSED" });
        println!("{:<32} {:>9} {budget:>9} {share:>8} {target:>9}  {met}", one.name, one.instructions);
    }
    if complete {
        let gone = rows.iter().filter(|row| !figures.contains_key(row.name.as_str()));
        failures.extend(gone.map(|row| format!("{} is in the budget, but is not measured any more", row.name)));
    }
    for failure in &failures {
        println!("FAILED: {failure}");
    }
    if failures.is_empty() {
        println!("Every command is within its budget.");
        ExitCode::SUCCESS
    } else {
        println!("If that is intended: make bench-instructions UPDATE=1, and give the reason in the commit message.");
        ExitCode::FAILURE
    }
}

/// The text of the file with the new figures. Everything outside the table and the line above it stays as it is.
fn update(text: &str, rows: &[Row], server: &str, measured: &[Measured], complete: bool) -> String {
    let before: Vec<_> = text.lines().take_while(|line| !line.starts_with("Measured ")).collect();
    let after = text.lines().skip_while(|line| !line.starts_with('|')).skip_while(|line| line.starts_with('|'));
    let mut new: Vec<Row> = if complete { Vec::new() } else { rows.to_vec() };
    for one in measured {
        let old = rows.iter().find(|row| row.name == one.name);
        let ours = one.name.starts_with("RL.");
        let row = Row {
            name: one.name.clone(),
            sends: one.sends.clone(),
            target: old.map_or(String::new(), |row| row.target.clone()),
            budget: ours.then(|| one.instructions.next_multiple_of(10)),
            last: Some(one.instructions),
        };
        match new.iter_mut().find(|row| row.name == one.name) {
            Some(old) => *old = row,
            None => new.push(row),
        }
    }
    let figures: BTreeMap<_, _> = new.iter().filter_map(|row| Some((row.name.as_str(), row.last?))).collect();
    let mut text = before.join("\n");
    let _ = write!(text, "\nMeasured on {server}, {}.\n\n", super::today());
    text.push_str("| command | sent | target | budget | measured | |\n|---|---|--:|--:|--:|---|\n");
    for row in &new {
        let number = |number: Option<u64>| number.map_or(String::from("–"), |number| number.to_string());
        let met = match (row.target(&figures), row.last) {
            (Some(most), Some(last)) if last <= most => "met",
            (Some(_), Some(_)) => "missed",
            _ => "",
        };
        let Row { name, sends, target, budget, last } = row;
        let _ = writeln!(text, "| {name} | `{sends}` | {target} | {} | {} | {met} |", number(*budget), number(*last));
    }
    after.for_each(|line| text.extend([line, "\n"]));
    text
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
