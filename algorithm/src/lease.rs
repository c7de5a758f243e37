//! Concurrency limit: at most `limit` leases at once. A holder takes a lease, renews it while it works, and releases
//! it. The lease of a holder that dies ends by itself, one window after it was taken or renewed.
//!
//! The resolution is a millisecond: a lease that ends in millisecond `s` counts before, and not in, `s`.
//!
//! No call shortens the lease of another holder, whatever window it names. So after the clock stepped back, leases last
//! longer by the step.

use super::forecast::{LeavingInOrder, ttl_of_denial};
use super::integer::{ceil_seconds, to_i64};
use super::{Change, Cost, Decision, Forecast, Micros, Policy, Verdict, Window};

/// The end of a lease that never ends. The module writes none; a client can, with a score of infinity.
pub const NEVER: u64 = u64::MAX;

/// At most `limit` leases at once, each of length `window`.
///
/// ```
/// use redis_rl_algorithm::lease::{Hold, Leases};
/// use redis_rl_algorithm::{Change, Cost, Lease, Micros, Policy, Window};
///
/// let lease = Lease::new(&Policy::new(Window::from_millis(30_000).unwrap(), 2));
/// let now = Micros::from_millis(100_000);
/// // One other holder, whose lease ends at 110 s.
/// let decision = lease.decide(&Leases { len: 1, own: None, end: |_| 110_000 }, now, Cost::ONE);
/// assert_eq!(decision.change, Change::Charge(Hold { until: 130_000 }));
/// assert_eq!((decision.verdict.count, decision.verdict.ttl), (1, 30));
/// // Two others: denied until the first of them ends.
/// let two = Leases { len: 2, own: None, end: |n| [110_000, 120_000][n as usize] };
/// let denied = lease.decide(&two, now, Cost::ONE);
/// assert_eq!((denied.verdict.allowed, denied.verdict.ttl), (false, 10));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Lease {
    window: Window,
    limit: u64,
}

/// The leases of a key that have not ended, as a request of one holder finds them.
#[derive(Clone, Copy, Debug)]
pub struct Leases<E> {
    /// How many there are, with that of the holder.
    pub len: u64,
    /// The millisecond in which the holder's own lease ends; `None` if it has none.
    pub own: Option<u64>,
    /// The millisecond in which the n-th lease ends, earliest first, from 0; [`NEVER`] if it does not end.
    pub end: E,
}

/// What a charge does to the leases: the holder takes one, or renews its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hold {
    /// The millisecond in which the lease ends.
    pub until: u64,
}

impl<E: Fn(u64) -> u64> Leases<E> {
    /// How many leases others hold.
    pub fn others(&self) -> u64 {
        self.len.saturating_sub(u64::from(self.own.is_some()))
    }

    /// The end of the n-th lease of the others.
    fn end_of_other(&self, n: u64) -> u64 {
        let end = (self.end)(n);
        match self.own {
            // From its own place on, the holder's lease is left out.
            Some(own) if end >= own => (self.end)(n.saturating_add(1)),
            _ => end,
        }
    }

    /// The end of the n-th lease if the holder's own ends in `until`.
    fn end_with_own(&self, n: u64, until: u64) -> u64 {
        if n < self.others() {
            let end = self.end_of_other(n);
            if end <= until {
                return end;
            }
        }
        match n.checked_sub(1) {
            Some(before) => self.end_of_other(before).max(until),
            None => until,
        }
    }
}

impl Lease {
    /// The algorithm under a policy.
    pub const fn new(policy: &Policy) -> Self {
        Self { window: policy.window(), limit: policy.limit }
    }

    /// The millisecond in which a lease that is taken or renewed at `now` ends.
    pub const fn end_of(window: Window, now: Micros) -> u64 {
        now.millis().saturating_add(window.millis())
    }

    /// The last millisecond whose leases no longer count at `now`: a lease that ends in that millisecond has ended.
    pub const fn ended_through(now: Micros) -> u64 {
        now.millis()
    }

    /// Decides on a request for a lease. A holder that has a lease renews it, whatever other holders have. `cost` is 1, or 0
    /// to charge nothing.
    ///
    /// `count` is the number of leases that others hold. `ttl` is the number of seconds until the holder's lease ends,
    /// 0 if it has none because the cost is 0. On a denial, it is the number of seconds until a lease is free; −1 for
    /// never (a limit of 0).
    pub fn decide<E: Fn(u64) -> u64>(&self, leases: &Leases<E>, now: Micros, cost: Cost) -> Decision<Hold> {
        let others = leases.others();
        let allowed = self.limit > 0 && (leases.own.is_some() || others < self.limit);
        let until = Self::end_of(self.window, now);
        let change = if !allowed || cost == Cost::ZERO || leases.own == Some(until) {
            Change::Keep
        } else {
            Change::Charge(Hold { until })
        };
        let ttl = if allowed {
            let until = if cost == Cost::ZERO { leases.own.unwrap_or(0) } else { until };
            ceil_seconds(Micros::from_millis(until).since(now))
        } else {
            ttl_of_denial(&self.forecast(leases, &change, now), now, 1)
        };
        Decision { verdict: Verdict { allowed, count: to_i64(others), ttl }, delay: 0, change, needed: cost.needed() }
    }

    /// What the leases allow after a change.
    pub fn forecast<E: Fn(u64) -> u64>(&self, leases: &Leases<E>, change: &Change<Hold>, now: Micros) -> impl Forecast {
        let held = change.state().map(|hold| hold.until);
        let end = move |n| match held {
            Some(until) => leases.end_with_own(n, until),
            None => (leases.end)(n),
        };
        LeavingInOrder {
            capacity: self.limit,
            charged: if held.is_some() { leases.others().saturating_add(1) } else { leases.len },
            leaves_at: move |n| Some(end(n)).filter(|&end| end != NEVER).map(Micros::from_millis),
            gone_at: None,
            now,
        }
    }
}
