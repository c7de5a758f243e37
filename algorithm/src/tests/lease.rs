//! Known values, and holders that take, renew, release and die, against an oracle that knows who holds what.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::super::lease::{Leases, NEVER};
use super::super::*;
use crate::in_memory::{Holders, Reply};

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

#[test]
fn a_renewal_in_the_same_millisecond_writes_nothing() {
    let renewed = lease(MINUTE, 1).decide(&leases(&[], Some(MINUTE)), NOW, Cost::ONE);
    assert_eq!((renewed.verdict.allowed, renewed.change), (true, Change::Keep));
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
fn a_lease_that_a_client_wrote_without_an_end_stays() {
    let endless = Leases { len: 1, own: None, end: |_| NEVER };
    let denied = lease(MINUTE, 1).decide(&endless, NOW, Cost::ONE);
    assert_eq!((denied.change, denied.verdict.ttl), (Change::Keep, -1));
    assert_eq!(lease(MINUTE, 2).forecast(&endless, &Change::Keep, NOW).fits_at(2), None);
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

/// What the clock does, then what one of five holders does, under the n-th window and limit.
fn steps(back: u32) -> impl Strategy<Value = Vec<(Clock, u8, Action, usize)>> {
    let clock = prop_oneof![
        4 => (0..2_000_000u64).prop_map(Clock::On),
        1 => (0..90_000_000u64).prop_map(Clock::On),
        3 => (0..5usize, -1_500..1_500i64).prop_map(|(n, micros)| Clock::ToAnEnd(n, micros)),
        back => (0..200_000_000u64).prop_map(Clock::Back),
    ];
    let action = prop_oneof![5 => Just(Action::Request), 2 => Just(Action::Renew), 2 => Just(Action::Release)];
    proptest::collection::vec((clock, 0..5u8, action, 0..3usize), 1..80)
}

/// The time after a step of the clock. `held` is who holds a lease, and until when.
fn after(clock: Clock, now: Micros, held: &BTreeMap<Vec<u8>, u64>) -> Micros {
    match clock {
        Clock::On(micros) => now.plus(micros),
        Clock::Back(micros) => Micros(now.0 - micros),
        Clock::ToAnEnd(n, micros) => {
            let end = held.values().nth(n % held.len().max(1)).copied();
            let at = end.map_or(now, |end| Micros(Micros::from_millis(end).0.saturating_add_signed(micros)));
            at.max(now)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Whatever the clock does, and whether the window and the limit stay or change: a new lease is allowed exactly if fewer
    /// than the limit are held, no other lease changes, and the figures are exact. The oracle is a list of who holds a lease.
    #[test]
    fn as_many_leases_as_the_limit_and_exact_figures(
        steps in prop_oneof![steps(0), steps(1)],
        terms in proptest::collection::vec((prop_oneof![Just(1u64), 2..60_000u64], 0..4u64), 1..4),
    ) {
        let (mut key, mut held) = (Holders::default(), BTreeMap::<Vec<u8>, u64>::new());
        let mut now = Micros(NOW.0 + 20_000_000_000);
        for (clock, holder, action, n) in steps {
            now = after(clock, now, &held);
            // Every call removes what has ended, and a clock that steps back does not bring it back.
            held.retain(|_, &mut end| now.millis() < end);
            let ((millis, limit), id) = (terms[n % terms.len()], vec![holder]);
            let (lease, until) = (lease(millis, limit), now.millis() + millis);
            let (own, others) = (held.contains_key(&id), held.iter().filter(|&(other, _)| *other != id).count() as u64);
            let reply = match action {
                Action::Request => Some(key.request(&lease, &id, now)),
                Action::Renew => {
                    prop_assert_eq!(key.renew(window(millis), &id, now), own, "an ended lease is not revived");
                    None
                }
                Action::Release => {
                    prop_assert_eq!(key.release(&id, now), own);
                    held.remove(&id);
                    None
                }
            };
            if reply.map_or(own && matches!(action, Action::Renew), |reply| reply.verdict.allowed) {
                held.insert(id, until);
            }
            prop_assert_eq!(&key.ends, &held);
            let Some(Reply { verdict, figures, .. }) = reply else { continue };
            prop_assert_eq!(verdict.allowed, limit > 0 && (own || others < limit));
            prop_assert_eq!(verdict.count, others as i64);

            // Waiting exactly as long as promised is enough, and 1 ms less is not.
            let later = |wait: i64| now.plus(wait as u64 * 1_000);
            let allowed = |wait| key.clone().request(&lease, &[99], later(wait)).verdict.allowed;
            let free = |wait| limit.saturating_sub(held.values().filter(|&&end| later(wait).millis() < end).count() as u64);
            let wait = figures.retry_after_ms;
            match verdict.allowed {
                true => prop_assert_eq!(verdict.ttl as u64, (until * 1_000 - now.0).div_ceil(1_000_000)),
                false if limit == 0 => prop_assert_eq!((wait, verdict.ttl), (-1, -1)),
                false => {
                    prop_assert!(allowed(wait) && !allowed(wait - 1), "{}", wait);
                    prop_assert_eq!(verdict.ttl, (wait + 999) / 1_000);
                }
            }
            prop_assert_eq!(figures.remaining, free(0));
            if figures.remaining < limit {
                prop_assert!(free(figures.next_ms) > figures.remaining && free(figures.next_ms - 1) == figures.remaining);
                prop_assert!(free(figures.reset_ms) == limit && free(figures.reset_ms - 1) < limit);
            } else {
                prop_assert_eq!((figures.next_ms, figures.reset_ms), (0, 0));
            }
        }
    }
}
