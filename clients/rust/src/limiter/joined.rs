//! Divides one reply among the requests that shared the command, in arrival order. Each gets the decision that it would have
//! got alone, except that the times are those after the last of the requests.

use crate::decision::{Decision, RetryAfter};
use crate::policy::Join;

/// The decision of the request that takes unit `i`, from 1, of the `n` units of the command.
pub fn share(reply: &Decision, n: u64, i: u64, join: Join) -> Decision {
    let next = reply.next.map_or(RetryAfter::Never, RetryAfter::from_wait);
    // Nothing fits, or a server without memory denies. If nothing is left, one unit waits for `next`.
    if !reply.allowed && (join == Join::Partial || reply.charged == 0) {
        return Decision { retry_after: if reply.remaining > 0 { reply.retry_after } else { next }, ..*reply };
    }
    let [n, i, limit, remaining, charged] =
        [n, i, reply.limit, reply.remaining, reply.charged].map(|units| i64::try_from(units).unwrap_or(i64::MAX));
    let (count, counts_after) = (reply.count, reply.policy.algorithm().traits().count_is_after);
    // A server without memory counts nothing, and allows: each request finds the limit as the first did. The reply says shadow
    // of all requests together.
    let unused = if join == Join::Always { limit.saturating_sub(count).max(0) } else { remaining };
    if charged == 0 && (!reply.shadow || join != Join::Partial || unused > 0) {
        let shadow = reply.shadow && unused == 0;
        return Decision {
            allowed: true,
            remaining: unused.unsigned_abs(),
            retry_after: RetryAfter::Now,
            shadow,
            ..*reply
        };
    }
    // What was counted before the first of them, and how much of the limit was left then.
    let (before, fits) = match join {
        // The count of FIXED includes what was charged.
        Join::Partial if counts_after => (count.saturating_sub(charged), charged),
        Join::Partial => (count, charged),
        Join::Counted | Join::AlwaysAfter => (count.saturating_sub(n), limit.saturating_sub(count.saturating_sub(n))),
        Join::Always => (count, limit.saturating_sub(count)),
    };
    let is_allowed = i <= fits;
    let counted = match join {
        Join::Partial if counts_after => before.saturating_add(i.min(fits)),
        Join::Partial => before.saturating_add(i.min(fits.saturating_add(1)) - 1),
        Join::Counted | Join::AlwaysAfter => before.saturating_add(i),
        Join::Always => before.saturating_add(i - 1),
    };
    let left = match join {
        Join::Partial => remaining.saturating_add(fits.saturating_sub(i).max(0)),
        _ => fits.saturating_sub(i).max(0),
    };
    let is_charged = charged > 0 && (is_allowed || matches!(join, Join::Always | Join::AlwaysAfter));
    let shadow = !is_allowed && reply.shadow;
    Decision {
        allowed: is_allowed || shadow,
        charged: u64::from(is_charged),
        count: counted,
        remaining: left.unsigned_abs(),
        retry_after: if is_allowed || shadow { RetryAfter::Now } else { next },
        shadow,
        ..*reply
    }
}
