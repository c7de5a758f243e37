//! Known values, and holders that take, renew, release and die, against an oracle that knows who holds what.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::super::lease::{Hold, Leases, NEVER};
use super::super::*;
use crate::in_memory::Holders;

/// In milliseconds: half a minute before 2023-11-14 22:13:50.
const NOW_MS: u64 = 1_700_000_000_000;
/// Inside a millisecond.
const NOW: Micros = Micros(NOW_MS * 1_000 + 250);

const MINUTE: u64 = 60_000;

fn window(millis: u64) -> Window {
    Window::from_millis(millis).unwrap()
}

fn lease(millis: u64, limit: u64) -> Lease {
    Lease::new(&Policy::new(window(millis), limit))
}

/// The leases that end so many milliseconds from now, with the holder's own if it has one.
fn leases(ends: &[u64], own: Option<u64>) -> Leases<impl Fn(u64) -> u64> {
    let mut ends: Vec<u64> = ends.iter().chain(&own).map(|ms| NOW_MS + ms).collect();
    ends.sort_unstable();
    Leases { len: ends.len() as u64, own: own.map(|ms| NOW_MS + ms), end: move |n| ends[n as usize] }
}

/// The decision of a limit of 2 in a minute, and its figures.
fn decide(limit: u64, ends: &[u64], own: Option<u64>) -> (Decision<Hold>, Figures) {
    let (lease, leases) = (lease(MINUTE, limit), leases(ends, own));
    let decision = lease.decide(&leases, NOW, Cost::ONE);
    let figures = Figures::new(&lease.forecast(&leases, &decision.change, NOW), &decision, NOW);
    (decision, figures)
}

fn hold() -> Change<Hold> {
    Change::Charge(Hold { until: NOW_MS + MINUTE })
}

#[test]
fn a_holder_renews_whatever_the_others_hold() {
    let (decision, figures) = decide(1, &[10, 20], Some(15));
    assert_eq!((decision.verdict, decision.change), (Verdict { allowed: true, count: 2, ttl: 60 }, hold()));
    // All three have to end before there is room for a new one, or rather all of them at a limit of 1.
    assert_eq!((figures.remaining, figures.next_ms, figures.reset_ms), (0, MINUTE as i64, MINUTE as i64));
    // In the same millisecond there is nothing to write.
    let (decision, figures) = decide(1, &[], Some(MINUTE));
    assert_eq!((decision.verdict.allowed, decision.change), (true, Change::Keep));
    assert_eq!((figures.remaining, figures.next_ms), (0, MINUTE as i64));
}

#[test]
fn a_limit_of_0_denies_everything_for_ever() {
    for own in [None, Some(20)] {
        let (decision, figures) = decide(0, &[10], own);
        assert_eq!((decision.verdict, decision.change), (Verdict { allowed: false, count: 1, ttl: -1 }, Change::Keep));
        let expected = Figures { limit: 0, remaining: 0, retry_after_ms: -1, next_ms: 0, reset_ms: 0, delay_ms: 0 };
        assert_eq!(figures, expected);
    }
}

#[test]
fn a_cost_of_0_takes_no_lease() {
    let decide = |ends: &[u64], own| lease(MINUTE, 2).decide(&leases(ends, own), NOW, Cost::ZERO);
    let verdict = |allowed, count, ttl| Verdict { allowed, count, ttl };
    assert_eq!((decide(&[10], None).verdict, decide(&[10], None).change), (verdict(true, 1, 0), Change::Keep));
    assert_eq!(decide(&[10], Some(2_000)).verdict, verdict(true, 1, 2));
    assert_eq!(decide(&[10, 1_500], None).verdict, verdict(false, 2, 1));
}

#[test]
fn no_request_shortens_a_lease_of_another() {
    let hour = 60 * MINUTE;
    let (decision, figures) = decide(2, &[hour, hour + 5], None);
    assert_eq!((decision.change, decision.verdict.allowed, decision.verdict.ttl), (Change::Keep, false, 3_600));
    assert_eq!((figures.retry_after_ms, figures.reset_ms), (hour as i64, hour as i64 + 5));
    assert_eq!(decide(2, &[10, hour], None).0.change, Change::Keep);
    assert_eq!(decide(3, &[10, hour], None).0.change, hold());
    // A lease that a client wrote without an end.
    let endless = Leases { len: 1, own: None, end: |_| NEVER };
    let denied = lease(MINUTE, 1).decide(&endless, NOW, Cost::ONE);
    assert_eq!((denied.change, denied.verdict.ttl), (Change::Keep, -1));
    assert_eq!(lease(MINUTE, 2).forecast(&endless, &Change::Keep, NOW).fits_at(2), None);
}

/// What happens next: to which of five holders, and how the clock moves before.
#[derive(Clone, Copy, Debug)]
struct Step {
    holder: u8,
    clock: Clock,
    action: Action,
}

#[derive(Clone, Copy, Debug)]
enum Clock {
    /// Microseconds.
    On(u64),
    /// To the moment in which the n-th lease ends, and so many microseconds from it.
    ToAnEnd(usize, i64),
    /// Microseconds.
    Back(u64),
}

#[derive(Clone, Copy, Debug)]
enum Action {
    Request,
    Renew,
    Release,
}

fn steps(back: u32) -> impl Strategy<Value = Vec<Step>> {
    let clock = prop_oneof![
        4 => (0..2_000_000u64).prop_map(Clock::On),
        1 => (0..90_000_000u64).prop_map(Clock::On),
        3 => (0..5usize, -1_500..1_500i64).prop_map(|(n, micros)| Clock::ToAnEnd(n, micros)),
        back => (0..200_000_000u64).prop_map(Clock::Back),
    ];
    let action = prop_oneof![5 => Just(Action::Request), 2 => Just(Action::Renew), 2 => Just(Action::Release)];
    let step = (0..5u8, clock, action).prop_map(|(holder, clock, action)| Step { holder, clock, action });
    proptest::collection::vec(step, 1..80)
}

impl Step {
    /// The time of this step: `ends` are the leases that there are.
    fn time(&self, now: Micros, ends: &BTreeMap<u8, u64>) -> Micros {
        match self.clock {
            Clock::On(micros) => now.plus(micros),
            Clock::Back(micros) => Micros(now.0 - micros),
            Clock::ToAnEnd(n, micros) => {
                let end = ends.values().nth(n % ends.len().max(1)).copied();
                let at = end.map_or(now, |end| Micros(Micros::from_millis(end).0.saturating_add_signed(micros)));
                at.max(now)
            }
        }
    }
}

/// A server in memory beside the oracle: a list of who holds a lease and until when.
struct Run {
    key: Holders,
    oracle: BTreeMap<u8, u64>,
}

impl Run {
    fn holds(&self, holder: u8, now: Micros) -> bool {
        self.oracle.get(&holder).is_some_and(|&end| now.millis() < end)
    }

    fn held(&self, now: Micros) -> usize {
        self.oracle.values().filter(|&&end| now.millis() < end).count()
    }

    /// Does the step to both; the reply to a request.
    fn step(&mut self, lease: &Lease, window: Window, step: Step, now: Micros) -> Option<crate::in_memory::Reply> {
        // Every call removes what has ended, and a clock that steps back does not bring it back.
        self.oracle.retain(|_, &mut end| now.millis() < end);
        let (id, until) = ([step.holder], now.millis() + window.millis());
        let held = self.holds(step.holder, now);
        match step.action {
            Action::Request => {
                let reply = self.key.request(lease, &id, now);
                if reply.verdict.allowed {
                    self.oracle.insert(step.holder, until);
                }
                return Some(reply);
            }
            Action::Renew => {
                assert_eq!(self.key.renew(window, &id, now), held, "an ended lease is not revived");
                if held {
                    self.oracle.insert(step.holder, until);
                }
            }
            Action::Release => {
                assert_eq!(self.key.release(&id, now), held);
                self.oracle.remove(&step.holder);
            }
        }
        None
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Whatever the clock does: never more than the limit, nothing denied that fits, and exact figures.
    #[test]
    fn never_more_leases_than_the_limit(
        steps in prop_oneof![steps(0), steps(1)], millis in prop_oneof![Just(1u64), 2..60_000u64], limit in 0..4u64
    ) {
        let (lease, window) = (lease(millis, limit), window(millis));
        let mut run = Run { key: Holders::default(), oracle: BTreeMap::new() };
        let mut now = Micros(NOW.0 + 20_000_000_000);
        for step in steps {
            now = step.time(now, &run.oracle);
            let others = run.held(now) - usize::from(run.holds(step.holder, now));
            let held = run.holds(step.holder, now);
            let reply = run.step(&lease, window, step, now);
            prop_assert!(run.held(now) as u64 <= limit);
            prop_assert_eq!(run.key.ends.values().filter(|&&end| now.millis() < end).count(), run.held(now));
            let Some(reply) = reply else { continue };
            let (verdict, figures) = (reply.verdict, reply.figures);
            prop_assert_eq!(verdict.allowed, limit > 0 && (held || (others as u64) < limit));
            prop_assert_eq!(verdict.count, others as i64);
            prop_assert_eq!(figures.remaining, limit - run.held(now) as u64);

            // Waiting exactly as long as promised is enough, and 1 ms less is not.
            let after = |wait: i64| now.plus(wait as u64 * 1_000);
            let allowed = |wait| run.key.clone().request(&lease, &[99], after(wait)).verdict.allowed;
            if !verdict.allowed && limit > 0 {
                let wait = figures.retry_after_ms;
                prop_assert!(allowed(wait) && !allowed(wait - 1), "{wait}");
                prop_assert_eq!(verdict.ttl, (wait + 999) / 1_000);
            } else if verdict.allowed {
                let mut own = run.key.ends[&vec![step.holder]] * 1_000 - now.0;
                own = own.div_ceil(1_000_000);
                prop_assert_eq!(verdict.ttl, own as i64);
            }
            let free = |wait| limit - run.held(after(wait)) as u64;
            if figures.remaining < limit {
                prop_assert!(free(figures.next_ms) > figures.remaining && free(figures.next_ms - 1) == figures.remaining);
                prop_assert!(free(figures.reset_ms) == limit && free(figures.reset_ms - 1) < limit);
            } else {
                prop_assert_eq!((figures.next_ms, figures.reset_ms), (0, 0));
            }
        }
        // All holders die. Without a step back, every slot is free again a window later.
        let latest = run.oracle.values().copied().max().unwrap_or(0).max(now.millis() + window.millis());
        now = Micros::from_millis(latest);
        for holder in 100..100 + limit {
            prop_assert!(run.key.request(&lease, &[holder as u8], now).verdict.allowed);
        }
    }

    /// Windows and limits that change from call to call: a request for a new lease is allowed as soon as fewer than
    /// its limit are held, and the figures agree with what then happens.
    #[test]
    fn the_arguments_may_change(
        calls in proptest::collection::vec((0..5u8, 1..5_000u64, 0..5u64, 0..3_000_000u64), 1..60)
    ) {
        let (mut key, mut now) = (Holders::default(), NOW);
        for (holder, millis, limit, micros) in calls {
            now = now.plus(micros);
            let held: Vec<u64> = key.ends.values().copied().filter(|&end| end > now.millis()).collect();
            let own = key.ends.get(&vec![holder]).is_some_and(|&end| end > now.millis());
            let before = key.clone();
            let reply = key.request(&lease(millis, limit), &[holder], now);
            for (other, end) in before.ends.iter().filter(|(id, end)| **id != [holder] && **end > now.millis()) {
                prop_assert_eq!(key.ends.get(other), Some(end), "the lease of another holder stays as it is");
            }
            prop_assert_eq!(reply.verdict.allowed, limit > 0 && (own || (held.len() as u64) < limit));
            if !reply.verdict.allowed && limit > 0 {
                let wait = reply.figures.retry_after_ms;
                let allowed = |wait: i64| {
                    let at = now.plus(wait as u64 * 1_000);
                    key.clone().request(&lease(millis, limit), &[holder], at).verdict.allowed
                };
                prop_assert!(wait > 0 && allowed(wait) && !allowed(wait - 1));
            }
        }
    }
}
