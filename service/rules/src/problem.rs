//! What is wrong with a file of rules, and where.

use std::fmt::{self, Write as _};
use std::sync::Arc;

/// A place in a file: from line 1 and column 1. Line 0 is the file as a whole; column 0, a place that only its file names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark {
    pub line: u32,
    pub column: u32,
}

impl Mark {
    pub fn new(line: usize, column: usize) -> Self {
        let small = |n| u32::try_from(n).unwrap_or(u32::MAX);
        Self { line: small(line), column: small(column) }
    }
}

/// A place in a file that is known by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub file: Arc<str>,
    pub at: Mark,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            Mark { line: 0, .. } | Mark { column: 0, .. } => write!(f, "{}", Printable(&self.file)),
            Mark { line, column } => write!(f, "{}:{line}:{column}", Printable(&self.file)),
        }
    }
}

/// What is wrong, or looks wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub place: Place,
    pub text: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, Printable(&self.text))
    }
}

/// A text of a file in quotes. A long one is cut.
pub fn quoted(text: &str) -> String {
    const CHARS: usize = 40;
    let cut: String = text.chars().take(CHARS).collect();
    format!("'{cut}{}'", if cut.len() < text.len() { "…" } else { "" })
}

/// A text in which control characters are escaped: in a terminal or a log they could hide or forge lines.
#[derive(Clone, Copy, Debug)]
pub struct Printable<'t>(pub &'t str);

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .chars()
            .try_for_each(|c| if c.is_control() { write!(f, "{}", c.escape_default()) } else { f.write_char(c) })
    }
}
