//! The state machines inside the limiter, for `tests/proofs`. Not part of the API.

use redis::Value;

pub use crate::account::{Account, Ahead, Asked, Caller, Command, Form, Sent};
pub use crate::denial::Denial;
pub use crate::policy::Join;
pub use crate::grants::lot::{Lot, Taken, is_low};
pub use crate::guard::{Renewal, Term};
use crate::protocol::{Call, Commands, Verb};
use crate::{Decision, Error, Request};

/// The command of a request, and that of so many like it that share one; `None` if they do not.
pub fn alone_and_joined(request: &Request<'_>, requests: usize) -> Option<(Vec<u8>, Vec<u8>)> {
    let (join, _) = request.joins()?;
    let mut alone = Commands::default();
    Call::of(Verb::Check, request).native(&mut alone);
    Some((alone.bytes(), alone.joined(requests, join).get_packed_command()))
}

/// The decisions of so many requests that share a command with this reply.
pub fn divided(reply: &Value, request: &Request<'_>, requests: usize) -> Vec<Decision> {
    let Some((join, _)) = request.joins().filter(|_| requests > 1) else {
        return crate::protocol::reply::decision(reply.clone(), request).into_iter().collect();
    };
    let each = crate::protocol::joined::divided(reply, requests, join);
    each.filter_map(|reply| crate::protocol::reply::decision(reply, request).ok()).collect()
}

/// The decision of a LINE reply.
///
/// # Errors
/// The line has another form.
pub fn decision(line: &str, request: &Request<'_>) -> Result<Decision, Error> {
    crate::protocol::reply::decision(Value::BulkString(line.into()), request)
}
