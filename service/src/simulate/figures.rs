//! Figures as people read them.

use indicatif::HumanCount;
use jiff::SignedDuration;

/// As `1,234,567`.
pub fn grouped(n: u64) -> String {
    HumanCount(n).to_string()
}

pub fn percent(part: u64, whole: u64) -> String {
    if whole == 0 { "-".to_owned() } else { format!("{:.2} %", part as f64 * 100.0 / whole as f64) }
}

/// As `1m 12s`; below ten seconds with the milliseconds.
pub fn span(millis: u64) -> String {
    let millis = i64::try_from(millis).unwrap_or(i64::MAX);
    let shown =
        if millis < 10_000 { SignedDuration::from_millis(millis) } else { SignedDuration::from_secs(millis / 1_000) };
    format!("{shown:#}")
}
