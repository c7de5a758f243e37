//! The state machines inside the limiter, for `tests/proofs`. Not part of the API.

use redis::Value;

pub use crate::core::Denial;
pub use crate::grants::lot::{Lot, Taken, is_low};
pub use crate::guard::{Renewal, Term};
use crate::{Decision, Error, Request};

/// The decision of a LINE reply.
///
/// # Errors
/// The line has another form.
pub fn decision(line: &str, request: &Request<'_>) -> Result<Decision, Error> {
    crate::protocol::reply::decision(Value::BulkString(line.into()), request)
}
