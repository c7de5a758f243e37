//! The table of topologies in docs/operations.md: each row of it is a test, and no figure may be worse than the row.
//!
//! `UPDATE=1 make reliability PROMISE=topologies` writes what was measured into the page.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use super::load::RATE;
use crate::report;

/// What was measured for a row.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured {
    /// The longest time in which a client that follows the primary had no decision.
    pub failing: Duration,
    /// How long two primaries decided.
    pub two: Duration,
    /// Units that were allowed and are counted nowhere.
    pub lost: u64,
    /// Units that were allowed, where all are lost: before the fault.
    pub of: u64,
}

fn page() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/operations.md"))
}

/// The cells of the row that begins with these words.
fn row(text: &str, name: &str) -> Vec<String> {
    let line = text.lines().find(|line| line.starts_with(&format!("| {name} | ")));
    let line = line.unwrap_or_else(|| panic!("docs/operations.md has no row {name}"));
    line.split('|').map(|cell| cell.trim().to_owned()).collect()
}

/// The seconds in a cell: 12 of `the partition + 12 s`.
fn seconds(cell: &str) -> Option<f64> {
    let mut words = cell.split(' ').rev();
    (words.next() == Some("s")).then(|| words.next()?.parse().ok()).flatten()
}

/// Compares what was measured with the row `| topology | fault | …` of the page.
///
/// A figure of the page is the largest that was measured on a quiet machine. A busy one may take half as long again,
/// and two seconds more. Where the page says 0 units, none may be lost.
pub fn check(topology: &str, fault: &str, how: &str, measured: Measured) {
    static LARGEST: Mutex<BTreeMap<String, [f64; 3]>> = Mutex::new(BTreeMap::new());
    let Measured { failing, two, lost, of } = measured;
    let name = format!("{topology} | {fault}");
    let (failing, two, lost_seconds) = (failing.as_secs_f64(), two.as_secs_f64(), lost as f64 / RATE);
    report(&format!("{name}: fails {failing:.1} s, two decide {two:.1} s, {lost} of {of} units lost ({how})"));
    let text = fs::read_to_string(page()).expect("docs/operations.md");
    let cells = row(&text, &name);
    if env::var("UPDATE").is_ok_and(|update| update == "1") {
        // Others write the page too.
        let mut largest = LARGEST.lock().expect("the figures");
        let text = fs::read_to_string(page()).expect("docs/operations.md");
        let cells = row(&text, &name);
        let figures = largest.entry(name.clone()).or_default();
        for (at, now) in [failing, two, lost_seconds].into_iter().enumerate() {
            figures[at] = figures[at].max(now);
        }
        let written: Vec<String> = cells[3..6].iter().zip(*figures).map(|(cell, now)| rewritten(cell, now)).collect();
        let old = format!("| {name} | {} |", cells[3..6].join(" | "));
        fs::write(page(), text.replace(&old, &format!("| {name} | {} |", written.join(" | ")))).expect("the page");
        return;
    }
    for (what, cell, now) in [("requests fail", &cells[3], failing), ("two primaries decide", &cells[4], two)] {
        if let Some(stated) = seconds(cell) {
            assert!(now <= 1.5 * stated + 2.0, "{name}: {what} for {now:.1} s, the page says {cell}");
        }
    }
    match (cells[5].as_str(), seconds(&cells[5])) {
        ("all", _) => assert!(lost >= of && of > 0, "{name}: {lost} of {of} units lost, the page says all"),
        ("0", _) => assert_eq!(lost, 0, "{name}: units lost of {of}, the page says 0"),
        (cell, Some(stated)) => {
            assert!(
                lost_seconds <= 1.5 * stated + 2.0,
                "{name}: {lost_seconds:.1} s of units lost, the page says {cell}"
            );
            // Nor does the page say much more than is so.
            assert!(
                stated < 4.0 || lost_seconds > stated / 4.0,
                "{name}: {lost_seconds:.1} s lost, the page says {cell}"
            );
        }
        (cell, None) => panic!("{name}: the page says {cell:?} units are lost"),
    }
}

/// The cell with another figure. A cell without seconds stays.
fn rewritten(cell: &str, now: f64) -> String {
    let Some(stated) = seconds(cell) else { return cell.to_owned() };
    let rounded = if now <= 1.0 { (now * 10.0).ceil() / 10.0 } else { now.ceil() };
    let old = format!("{stated} s");
    assert!(cell.ends_with(&old), "write {old} in the page, not {cell}");
    cell.replace(&old, &format!("{rounded} s"))
}
