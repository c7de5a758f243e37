//! Models of the promises that several processes keep together: every order of requests, replies, losses, repetitions,
//! crashes and steps of the clock, for small numbers. `make proofs` checks them.
//!
//! The algorithms are those of the module, and the state machines are those of the Rust client. A model adds what lies
//! between them: messages, time and faults. It does not show anything about the network code of either.

pub mod accounts;
pub mod leases;
pub mod reservations;
pub mod search;
pub mod server;

/// How much of a model is visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// For each change: all models in less than 90 seconds.
    Small,
    /// By hand: each model in less than five minutes.
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

/// The models by name.
const MODELS: [(&str, Check); 3] =
    [("accounts", accounts::check), ("leases", leases::check), ("reservations", reservations::check)];

/// Checks a model in several shapes.
type Check = fn(Size, &mut Report);

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

/// Checks the models whose name contains `name`, and prints what was found. Whether every promise is kept.
pub fn check(size: Size, name: &str) -> bool {
    let mut report = Report { kept: true };
    for (_, check) in MODELS.iter().filter(|(model, _)| model.contains(name)) {
        check(size, &mut report);
    }
    report.kept
}
