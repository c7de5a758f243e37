//! Divides the reply to one command among the requests that share it, in the order in which they came: each gets what it
//! would have got alone, but for times that the later ones make longer.

use redis::Value;

use super::reply::{self, FIGURES};
use crate::policy::Join;

/// The figures for each of so many requests of cost 1. What is no line is the reply of all.
pub fn divided(reply: &Value, requests: usize, join: Join) -> impl Iterator<Item = Value> {
    let line = reply::figures(reply);
    let n = i64::try_from(requests).unwrap_or(i64::MAX);
    (1..=n).map(move |i| match line {
        Some(line) => Value::Array(of_request(line, n, i, join).map(Value::Int).into()),
        None => reply.clone(),
    })
}

/// The figures of the i-th of n requests.
fn of_request(line: [i64; FIGURES], n: i64, i: i64, join: Join) -> [i64; FIGURES] {
    let [first, count, ttl, limit, remaining, retry_after, next, reset, delay, now, shadow, charged] = line;
    // Nothing fits, or a server without memory denies. The time to wait is that of one of them, where nothing is left.
    if first == 0 && (join == Join::Partial || charged == 0) {
        let wait = if remaining > 0 { retry_after } else { next };
        return [first, count, ttl, limit, remaining, wait, next, reset, delay, now, shadow, charged];
    }
    // A server without memory counts nothing, and allows: each of them finds the limit as the first did. Shadow mode is of
    // all of them together in the reply.
    let unused = if join == Join::Always { limit.saturating_sub(count).max(0) } else { remaining };
    if charged == 0 && (shadow == 0 || join != Join::Partial || unused > 0) {
        let is_shadow = i64::from(shadow != 0 && unused == 0);
        return [1, count, ttl, limit, unused, 0, next, reset, delay, now, is_shadow, 0];
    }
    // What was counted before the first of them, and how much of the limit was left then.
    let (before, fits) = match join {
        Join::Partial => (count, charged),
        Join::Counted | Join::AlwaysAfter => (count.saturating_sub(n), limit.saturating_sub(count.saturating_sub(n))),
        Join::Always => (count, limit.saturating_sub(count)),
    };
    let is_allowed = i <= fits;
    let counted = match join {
        Join::Partial => before.saturating_add(i.min(fits + 1) - 1),
        Join::Counted | Join::AlwaysAfter => before.saturating_add(i),
        Join::Always => before.saturating_add(i - 1),
    };
    let left = match join {
        Join::Partial => remaining.saturating_add(fits.saturating_sub(i).max(0)),
        _ => fits.saturating_sub(i).max(0),
    };
    let is_charged = charged > 0 && (is_allowed || matches!(join, Join::Always | Join::AlwaysAfter));
    let is_shadow = !is_allowed && shadow != 0;
    let wait = if is_allowed || is_shadow { 0 } else { next };
    let [allowed, is_shadow, is_charged] = [is_allowed || is_shadow, is_shadow, is_charged].map(i64::from);
    [allowed, counted, ttl, limit, left, wait, next, reset, delay, now, is_shadow, is_charged]
}
