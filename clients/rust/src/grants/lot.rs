//! The units of one key that are charged and not yet used.

use std::time::{Duration, Instant};

use crate::decision::{Decision, RetryAfter, Source};

/// The units that this process holds of a key. It reads no clock and sends nothing, so that `tests/proofs` can try every order
/// of events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Lot {
    held: u64,
    grant: Option<Grant>,
    closed: bool,
}

/// What is known of the last grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Grant {
    decision: Decision,
    sent: Instant,
    /// When its units are given back.
    ends: Instant,
    /// FIXED: when its units may no longer be used.
    window_ends: Option<Instant>,
}

/// Whether so few units are left of a whole grant that the next ones are fetched before anybody waits for them.
pub const fn is_low(left: u64, units: u64) -> bool {
    left <= units / 4
}

/// What a request takes from the lot.
#[expect(clippy::large_enum_variant, reason = "the large variant is the common one, and is returned at once")]
pub enum Taken {
    /// It is allowed.
    Units {
        /// What the request gets.
        decision: Decision,
        /// How many units are held after it.
        left: u64,
    },
    /// There are not enough units.
    Nothing,
    /// The key was given back. Another lot takes its place.
    Closed,
}

impl Lot {
    /// Takes the cost of a request, if that much is held.
    pub fn take(&mut self, cost: u64, now: Instant) -> Taken {
        if self.closed {
            return Taken::Closed;
        }
        self.drop_ended_window(now);
        match self.grant {
            Some(grant) if self.held >= cost => {
                self.held -= cost;
                Taken::Units { decision: grant.allow(cost, self.held, now), left: self.held }
            }
            _ => Taken::Nothing,
        }
    }

    /// The same, for the request that fetched the units with this reply.
    pub fn take_after(&mut self, cost: u64, reply: &Decision, now: Instant) -> Decision {
        if let Taken::Units { decision, .. } = self.take(cost, now) {
            return Decision { source: reply.source, ..decision };
        }
        if reply.shadow {
            return Decision { charged: 0, ..*reply };
        }
        // Something was granted, but not enough. More comes back after `next`.
        let retry_after = match reply.retry_after {
            RetryAfter::Now => RetryAfter::After(reply.next.unwrap_or_default().max(Duration::from_millis(1))),
            other => other,
        };
        Decision { allowed: false, charged: 0, retry_after, ..*reply }
    }

    /// Adds what the server granted. Returns false if the lot has ended: nobody can use the units.
    pub fn add(&mut self, decision: &Decision, sent: Instant, hold: Duration) -> bool {
        if decision.charged == 0 || self.closed {
            return !self.closed;
        }
        let window_ends = decision.policy.algorithm().traits().ends_at_once.then(|| {
            // The figures are rounded up, by less than a millisecond.
            sent + decision.reset_after.unwrap_or_default().saturating_sub(Duration::from_millis(1))
        });
        if window_ends.is_some() && self.grant.is_some_and(|old| window_end(&old.decision) != window_end(decision)) {
            self.held = 0;
        }
        let ends = window_ends.map_or(sent + hold, |end| end.min(sent + hold));
        self.held = self.held.saturating_add(decision.charged);
        self.grant = Some(Grant { decision: *decision, sent, ends, window_ends });
        true
    }

    /// How many units can be used now.
    pub fn held(&mut self, now: Instant) -> u64 {
        self.drop_ended_window(now);
        self.held
    }

    /// How many units a fetch asks for: what is missing from a whole grant.
    pub fn missing(&mut self, units: u64, now: Instant) -> u64 {
        units.saturating_sub(self.held(now))
    }

    /// When the units must be given back, if that is later than now.
    pub fn ends_after(&self, now: Instant) -> Option<Instant> {
        self.grant.map(|grant| grant.ends).filter(|ends| *ends > now)
    }

    /// Ends the lot. How many units were not used, and when the last ones were charged.
    pub fn close(&mut self) -> Option<(u64, u64)> {
        self.closed = true;
        let held = std::mem::take(&mut self.held);
        self.grant.filter(|_| held > 0).map(|grant| (held, grant.decision.now_ms))
    }

    /// The counter of the next window has none of the units.
    fn drop_ended_window(&mut self, now: Instant) {
        if self.grant.and_then(|grant| grant.window_ends).is_some_and(|end| now >= end) {
            self.held = 0;
        }
    }
}

impl Grant {
    fn allow(&self, cost: u64, held: u64, now: Instant) -> Decision {
        let decision = self.decision.later(now.saturating_duration_since(self.sent), Source::Grant);
        Decision {
            allowed: true,
            charged: cost,
            retry_after: RetryAfter::Now,
            shadow: false,
            remaining: decision.remaining.saturating_add(held),
            ..decision
        }
    }
}

/// When the window of a decision of FIXED ends, on the server's clock.
fn window_end(decision: &Decision) -> u64 {
    let rest = decision.reset_after.map_or(0, |rest| u64::try_from(rest.as_millis()).unwrap_or(u64::MAX));
    decision.now_ms.saturating_add(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Policy;

    const HOLD: Duration = Duration::from_secs(1);

    /// A grant of 10 units, 100 ms before the window ends.
    fn grant(policy: Policy, now_ms: u64) -> Decision {
        let reset_after = Some(Duration::from_millis(100));
        let decision = Decision::of_fallback(&policy, true, 10, RetryAfter::Now);
        Decision { source: Source::Server, now_ms, reset_after, ..decision }
    }

    fn takes(lot: &mut Lot, at: Instant) -> bool {
        matches!(lot.take(1, at), Taken::Units { .. })
    }

    #[test]
    fn units_of_fixed_end_with_their_window() {
        let policy = Policy::fixed(Duration::from_millis(500), 100);
        let (mut lot, now) = (Lot::default(), Instant::now());
        let after = |millis| now + Duration::from_millis(millis);
        lot.add(&grant(policy, 400), now, HOLD);
        // The figures are rounded up, so the last millisecond is not used.
        assert_eq!([98, 99].map(|millis| takes(&mut lot, after(millis))), [true, false]);
        assert_eq!((lot.held(after(99)), lot.ends_after(after(98))), (0, Some(after(99))));

        let mut short = Lot::default();
        short.add(&grant(policy, 400), now, HOLD / 20);
        assert_eq!(short.ends_after(now), Some(after(50)));

        lot.add(&grant(policy, 900), after(100), HOLD);
        lot.add(&grant(policy, 900), after(101), HOLD);
        assert_eq!(lot.held(after(102)), 20);
        // The next window has other units, also if the clocks let them meet.
        lot.add(&grant(policy, 1_400), after(103), HOLD);
        assert_eq!(lot.held(after(104)), 10);
        assert_eq!([201, 202].map(|millis| lot.missing(100, after(millis))), [90, 100]);
    }

    #[test]
    fn the_next_units_are_fetched_when_a_quarter_is_left() {
        assert_eq!([25, 26].map(|left| is_low(left, 100)), [true, false]);
    }

    #[test]
    fn other_units_are_used_until_they_are_given_back() {
        let (mut lot, now) = (Lot::default(), Instant::now());
        lot.add(&grant(Policy::counter(Duration::from_secs(60), 100), 400), now, HOLD);
        assert!(takes(&mut lot, now + 2 * HOLD));
        assert_eq!(lot.ends_after(now + HOLD), None);
        assert_eq!(lot.close(), Some((9, 400)));
        assert!(matches!(lot.take(1, now), Taken::Closed));
        assert_eq!(lot.close(), None);
    }
}
