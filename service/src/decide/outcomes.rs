//! What each limit of a request got.

use redis_rl_client::{Decision, Error};

/// What was decided about each descriptor; `None` where nothing was to be.
pub type Outcomes = Vec<Option<Result<Decision, Error>>>;

/// What was decided about a slot of the plan, by its number.
pub type Decided = (usize, Result<Decision, Error>);

/// The decisions about the limits that were checked.
pub fn decisions(outcomes: &Outcomes) -> impl Iterator<Item = &Decision> {
    outcomes.iter().flatten().flatten()
}

/// Whether the server could not decide on a limit, and the fallback neither.
pub fn has_no_decision(outcomes: &Outcomes) -> bool {
    outcomes.iter().flatten().any(|outcome| outcome.as_ref().is_err_and(Error::is_unavailable))
}

/// Whether a reply of the server did not come in time.
pub fn is_late(outcomes: &Outcomes) -> bool {
    outcomes.iter().flatten().any(|outcome| matches!(outcome, Err(Error::Timeout(_))))
}
