//! A model of the promises that several processes keep together: every order of requests, replies, losses, crashes and steps
//! of the clock, for small numbers. `make proofs` checks it.
//!
//! The algorithms are those of the module, and the state machine is that of the Rust client. The model adds what lies
//! between them: messages, time and faults. It does not show anything about the network code of either.

pub mod accounts;
pub mod search;
pub mod server;

/// How much of the model is visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// For each change: less than 90 seconds.
    Small,
    /// By hand.
    Large,
}

impl Size {
    /// One of two values.
    pub fn pick<T>(self, small: T, large: T) -> T {
        match self {
            Self::Small => small,
            Self::Large => large,
        }
    }
}

/// Prints what is found as it comes.
#[derive(Debug)]
pub struct Report {
    kept: bool,
}

impl Report {
    /// Prints what was found of a model.
    pub fn add(&mut self, found: Result<String, String>) {
        self.kept &= found.is_ok();
        println!("{}", found.unwrap_or_else(|text| text));
    }
}

/// Checks the model in all its shapes, and prints what was found. Whether every promise is kept.
pub fn check(size: Size) -> bool {
    let mut report = Report { kept: true };
    accounts::check(size, &mut report);
    report.kept
}
