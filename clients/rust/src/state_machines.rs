//! The state machines inside the limiter, for `tests/proofs`. Not part of the API.

use redis::Value;

pub use crate::limiter::account::{Account, Ahead, Asked, Caller, Command, Form, Sent};
pub use crate::policy::Join;
use crate::protocol::{Call, Verb};
use crate::{Decision, Error, Request};

/// The command of a request, and that of so many like it that share one; `None` if they do not.
pub fn alone_and_joined(request: &Request<'_>, requests: u64) -> Option<(Vec<u8>, Vec<u8>)> {
    let form = form(request)?;
    let bytes = |request: &Request<'_>| Call::of(Verb::Check, request).native(false).get_packed_command();
    Some((bytes(request), bytes(&form.joined(request.key, requests))))
}

/// The decisions of so many requests that share a command with this reply.
pub fn divided(reply: &Value, request: &Request<'_>, requests: u64) -> Vec<Decision> {
    let Ok(reply) = crate::protocol::reply::decision(reply, request) else { return Vec::new() };
    match form(request).filter(|_| requests > 1) {
        Some(form) => (1..=requests).map(|i| crate::limiter::joined::share(&reply, requests, i, form.join)).collect(),
        None => vec![reply],
    }
}

fn form(request: &Request<'_>) -> Option<Form> {
    let (join, most) = request.joins()?;
    Some(Form { policy: *request.policy, join, most, ahead: None })
}

/// The decision of a LINE reply.
///
/// # Errors
/// The line has another form.
pub fn decision(line: &str, request: &Request<'_>) -> Result<Decision, Error> {
    crate::protocol::reply::decision(&Value::BulkString(line.into()), request)
}
