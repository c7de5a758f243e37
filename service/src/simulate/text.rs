//! The report as text.

use std::fmt::{self, Write as _};
use std::iter;

use super::figures::{grouped, percent, span};
use super::report::{Changed, Compared, Key, Report, Rule, at};
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
        writeln!(f, "\n{}", table(Rule::HEADS, self.rules.iter().map(Rule::row)))?;
        for rule in &self.rules {
            write!(f, "{rule}")?;
        }
        self.compared.as_ref().map_or(Ok(()), |compared| write!(f, "{compared}"))
    }
}

impl Rule {
    pub const HEADS: [&str; 10] = [
        "Rule",
        "Requests",
        "Denied",
        "Share",
        "Keys",
        "Keys denied",
        "Wait p50",
        "p99",
        "Head room",
        "429 in the log",
    ];

    /// A key without what all of them begin with.
    pub fn short<'k>(&self, key: &'k str) -> &'k str {
        key.strip_prefix(&self.prefix).filter(|rest| !rest.is_empty()).unwrap_or(key)
    }

    /// The figures of the rule, one for each of the heads.
    pub fn row(&self) -> [String; 10] {
        let never_denied = self.keys - self.keys_denied;
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
            if never_denied == 0 { "-".to_owned() } else { head_room },
            grouped(self.logged_429),
        ]
    }

    /// What is to be known of the rule besides the tables, one fact a line.
    pub fn facts(&self) -> Vec<String> {
        let mut facts = Vec::new();
        if let Some(suggested) = &self.suggestion {
            let burst = suggested.burst.map(|burst| format!(", burst {burst}")).unwrap_or_default();
            facts.push(format!(
                "limit {}{burst} never denies {} % of the keys ({} of {} are denied)",
                suggested.limit,
                suggested.share_percent,
                grouped(suggested.keys_denied as u64),
                grouped(self.keys as u64)
            ));
            if self.keys < 100 && suggested.share_percent < 100.0 {
                let keys = grouped(self.keys as u64);
                facts.push(format!("there are only {keys} keys, so one of them decides which limit that is"));
            }
            if suggested.left_out > 0 {
                facts.push(format!("the last {} requests were not looked at for that", grouped(suggested.left_out)));
            }
            let other = |Other { limit, denied, keys_denied }: &Other| {
                format!("{limit} denies {} requests, keys denied: {}", grouped(*denied), grouped(*keys_denied as u64))
            };
            facts.push(format!("half, {}; twice, {}", other(&suggested.half), other(&suggested.twice)));
        }
        if let Some(first) = &self.first_denial {
            facts.push(format!("first denial at {}: {}", first.at, first.key));
        }
        if self.never_allowed > 0 {
            facts.push(format!("{} denials are for ever: the cost is above the limit", grouped(self.never_allowed)));
        }
        facts
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let facts = self.facts();
        if facts.is_empty() {
            return Ok(());
        }
        writeln!(f, "{}: {}{}", self.name, self.policy, at(&self.place))?;
        facts.iter().try_for_each(|fact| writeln!(f, "  {fact}"))?;
        if self.denied > 0 {
            write!(f, "{}", table(Key::HEADS, self.denied_most.iter().map(Key::row)))?;
        }
        writeln!(f)
    }
}

impl Key {
    pub const HEADS: [&str; 6] = ["Denied most", "Requests", "Denied", "For", "First", "Last"];

    pub fn row(&self) -> [String; 6] {
        let figures = [grouped(self.requests), grouped(self.denied), span(self.blocked_ms)];
        let [requests, denied, blocked] = figures;
        [self.key.clone(), requests, denied, blocked, self.first.clone(), self.last.clone()]
    }
}

impl Compared {
    /// What the other rules change: how many requests, and the keys.
    pub fn parts(&self) -> [(&str, u64, &[Changed]); 2] {
        [
            ("Denied newly", self.newly_denied, &self.keys_newly_denied),
            ("Denied no more", self.no_more_denied, &self.keys_no_more_denied),
        ]
    }
}

impl fmt::Display for Compared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (what, requests, keys) in self.parts() {
            writeln!(f, "{what} with the other rules: {} requests", grouped(requests))?;
            if !keys.is_empty() {
                write!(f, "{}", table(Changed::HEADS, keys.iter().map(Changed::row)))?;
            }
        }
        Ok(())
    }
}

impl Changed {
    pub const HEADS: [&str; 3] = ["Key", "Rule", "Requests"];

    pub fn row(&self) -> [String; 3] {
        [self.key.clone(), self.rule.clone(), grouped(self.requests)]
    }
}

/// Rows under their heads, with their columns aligned: the first to the left, the others to the right.
fn table<const N: usize>(heads: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let rows: Vec<_> = iter::once(heads.map(str::to_owned)).chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    let mut text = String::new();
    for row in &rows {
        for (column, (cell, width)) in row.iter().zip(widths).enumerate() {
            _ = if column == 0 { write!(text, "  {cell:<width$}") } else { write!(text, "  {cell:>width$}") };
        }
        text.push('\n');
    }
    text
}
