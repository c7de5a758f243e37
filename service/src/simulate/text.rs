//! The report as text.

use std::fmt::{self, Write as _};

use jiff::SignedDuration;

use super::report::{Compared, Key, Report, Rule, at};
use super::suggest::Other;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.unused.is_empty() {
            writeln!(f, "WARNING: no request matches {} of the rules, so they limit nothing:", self.unused.len())?;
            self.unused.iter().try_for_each(|rule| writeln!(f, "  {rule}"))?;
            writeln!(f)?;
        }
        let (requests, denied) = (grouped(self.requests), grouped(self.denied));
        if self.requests == 0 {
            writeln!(f, "the log has no requests")?;
        } else {
            let share = percent(self.denied, self.requests);
            writeln!(f, "{requests} requests from {} to {}: {denied} denied ({share})", self.from, self.to)?;
        }
        self.notes.iter().try_for_each(|note| writeln!(f, "  {note}"))?;
        let mut rows = vec![
            ["rule", "requests", "denied", "", "keys", "denied", "wait p50", "p99", "head room", "429 in the log"]
                .map(str::to_owned),
        ];
        rows.extend(self.rules.iter().map(Rule::row));
        writeln!(f, "\n{}", table(&rows))?;
        for rule in &self.rules {
            write!(f, "{rule}")?;
        }
        self.compared.as_ref().map_or(Ok(()), |compared| write!(f, "{compared}"))
    }
}

impl Rule {
    /// The figures of the rule, in the order of the table.
    pub fn row(&self) -> [String; 10] {
        let head_room = percent(self.capacity.saturating_sub(self.most_used), self.capacity);
        [
            self.name.clone() + if self.shadow { " (shadow)" } else { "" },
            grouped(self.requests),
            grouped(self.denied),
            percent(self.denied, self.requests),
            grouped(self.keys as u64),
            grouped(self.keys_denied as u64),
            if self.denied == 0 { "-".to_owned() } else { span(self.wait_p50_ms) },
            if self.denied == 0 { "-".to_owned() } else { span(self.wait_p99_ms) },
            head_room,
            grouped(self.logged_429),
        ]
    }

    /// What is to be known of the suggestion, one fact a line.
    pub fn advice(&self) -> Vec<String> {
        let Some(suggested) = &self.suggestion else { return Vec::new() };
        let burst = suggested.burst.map(|burst| format!(", burst {burst}")).unwrap_or_default();
        let left_out = if suggested.left_out == 0 {
            String::new()
        } else {
            format!("; the last {} requests were not looked at", grouped(suggested.left_out))
        };
        let other = |other: &Other| {
            format!(
                "{} denies {} requests, keys denied: {}",
                other.limit,
                grouped(other.denied),
                grouped(other.keys_denied as u64)
            )
        };
        vec![
            format!(
                "limit {}{burst} never denies {} % of the keys ({} of {} are denied){left_out}",
                suggested.limit,
                suggested.share_percent,
                grouped(suggested.keys_denied as u64),
                grouped(self.keys as u64)
            ),
            format!("half, {}; twice, {}", other(&suggested.half), other(&suggested.twice)),
        ]
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let advice = self.advice();
        if self.denied == 0 && advice.is_empty() {
            return Ok(());
        }
        writeln!(f, "{}: {}{}", self.name, self.policy, at(&self.place))?;
        advice.iter().try_for_each(|line| writeln!(f, "  {line}"))?;
        if let Some(first) = &self.first_denial {
            writeln!(f, "  first denial at {}: {}", first.at, first.key)?;
        }
        if self.never_allowed > 0 {
            writeln!(f, "  {} denials are for ever: the cost is above the limit", grouped(self.never_allowed))?;
        }
        let mut rows = vec![["  denied most", "requests", "denied", "for", "first", "last"].map(str::to_owned)];
        rows.extend(self.denied_most.iter().map(Key::row).map(|mut row| {
            row[0].insert_str(0, "  ");
            row
        }));
        if self.denied > 0 {
            write!(f, "{}", table(&rows))?;
        }
        writeln!(f)
    }
}

impl Key {
    pub fn row(&self) -> [String; 6] {
        let figures = [grouped(self.requests), grouped(self.denied), span(self.blocked_ms)];
        let [requests, denied, blocked] = figures;
        [self.key.clone(), requests, denied, blocked, self.first.clone(), self.last.clone()]
    }
}

impl fmt::Display for Compared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            ("denied newly", self.newly_denied, &self.keys_newly_denied),
            ("denied no more", self.no_more_denied, &self.keys_no_more_denied),
        ];
        for (what, requests, keys) in parts {
            writeln!(f, "With the other rules, {} requests are {what}.", grouped(requests))?;
            let rows: Vec<_> =
                keys.iter().map(|key| [format!("  {} {}", key.rule, key.key), grouped(key.requests)]).collect();
            write!(f, "{}", table(&rows))?;
        }
        Ok(())
    }
}

/// Rows with their columns aligned: the first to the left, the others to the right.
fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    let mut text = String::new();
    for row in rows {
        for (column, (cell, width)) in row.iter().zip(widths).enumerate() {
            _ = if column == 0 { write!(text, "{cell:<width$}") } else { write!(text, "  {cell:>width$}") };
        }
        text.push('\n');
    }
    text
}

/// As `1,234,567`.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
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
