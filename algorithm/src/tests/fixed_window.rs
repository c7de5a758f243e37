//! Known values, and the script as the oracle.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::super::fixed_window::Counter;
use super::super::*;
use super::{SECOND, T0, TestAlgorithm, cost, policy, steady};

fn minute(limit: u64) -> FixedWindow {
    FixedWindow::new(&policy(60_000, limit))
}

/// 20 seconds into the minute.
const NOW: Micros = Micros(T0);

fn counter(value: i64) -> Option<Counter> {
    Some(Counter { value, expires_at: Some(NOW.millis() + 40_000) })
}

#[test]
fn denied_requests_are_counted_too() {
    let decision = minute(5).decide(counter(5), NOW, Cost::ONE).unwrap();
    assert_eq!(decision.verdict, Verdict { allowed: false, count: 6, ttl: 40 });
    assert_eq!(decision.change, Change::Charge(counter(6).unwrap()));
}

#[test]
fn more_than_a_unit_is_counted_only_if_it_fits_or_the_window_is_full() {
    let request = |value, units| minute(5).decide(counter(value), NOW, cost(units)).unwrap();
    assert_eq!(request(2, 3).change, Change::Charge(counter(5).unwrap()));
    assert_eq!((request(3, 3).verdict.count, request(3, 3).change), (3, Change::Keep));
    assert_eq!(request(5, 3).change, Change::Charge(counter(8).unwrap()));
    assert!(!request(3, 3).verdict.allowed && !request(5, 3).verdict.allowed);
}

#[test]
fn a_new_counter_expires_a_window_later_and_one_without_an_expiry_gets_one() {
    let expires_at = Some(NOW.millis() + 60_000);
    for (state, value) in [(None, 1), (Some(Counter { value: 3, expires_at: None }), 4)] {
        let decision = minute(5).decide(state, NOW, Cost::ONE).unwrap();
        assert_eq!(decision.verdict, Verdict { allowed: true, count: value, ttl: 60 });
        assert_eq!(decision.change, Change::Charge(Counter { value, expires_at }));
    }
    // A denied request that is not counted creates no counter, but gives one its expiry.
    let denied = |state| minute(5).decide(state, NOW, cost(6)).unwrap();
    assert_eq!((denied(None).change, denied(None).verdict.ttl), (Change::Keep, -2));
    let repaired = denied(Some(Counter { value: 3, expires_at: None }));
    assert_eq!(repaired.change, Change::Charge(Counter { value: 3, expires_at }));
}

#[test]
fn below_zero_there_is_more_room_but_no_larger_cost() {
    let request = |units| minute(5).decide(counter(-3), NOW, cost(units)).unwrap();
    assert_eq!(request(5).verdict, Verdict { allowed: true, count: 2, ttl: 40 });
    assert!(!request(6).verdict.allowed);
    assert_eq!(minute(5).forecast(-3, NOW).remaining(), 5);
    assert!(minute(5).decide(counter(i64::MIN), NOW, cost(5)).unwrap().verdict.allowed);
}

/// DECR has made it 0. The INCR of the script makes it 1, so the script sets the expiry again.
#[test]
fn a_counter_that_becomes_1_again_gets_a_new_expiry() {
    let algorithm = FixedWindow::new(&policy(60_000, 5));
    let now = Micros::from_millis(1_000_000);
    let expiry_of = |value| {
        let state = Some(Counter { value, expires_at: Some(1_010_000) });
        algorithm.decide(state, now, Cost::ONE).unwrap().change.state().unwrap().expires_at
    };
    assert_eq!((expiry_of(0), expiry_of(1), expiry_of(-1)), (Some(1_060_000), Some(1_010_000), Some(1_010_000)));
}

#[test]
fn an_overflow_is_an_error() {
    let request = |value, units| minute(MAX_COUNT).decide(counter(value), NOW, cost(units));
    assert_eq!(request(i64::MAX, 1), Err(Unrepresentable::Overflow));
    assert!(request(i64::MAX - 1, 1).unwrap().verdict.allowed);
    // The window is not full, so a denied request is not counted, and nothing overflows.
    assert_eq!(request(i64::MAX - 1, 2).unwrap().change, Change::Keep);
    assert_eq!(minute(5).decide(counter(6), NOW, cost(MAX_COUNT)), Err(Unrepresentable::Overflow));
}

#[test]
fn a_refund_is_from_the_counter_or_from_the_limit_if_that_is_less() {
    let refund = |value, units| minute(5).refund(counter(value), NOW, None, cost(units));
    assert_eq!(refund(3, 1), Change::Refund(counter(2).unwrap()));
    assert_eq!(refund(3, 9), Change::Refund(counter(0).unwrap()));
    assert_eq!(refund(17, 1), Change::Refund(counter(4).unwrap()));
    assert_eq!((refund(0, 1), refund(-2, 1), refund(3, 0)), (Change::Keep, Change::Keep, Change::Keep));
    assert_eq!(minute(5).refund(None, NOW, None, Cost::ONE), Change::Keep);
}

#[test]
fn a_refund_gives_a_counter_without_an_expiry_one() {
    let refund = |value, units| minute(5).refund(Some(Counter { value, expires_at: None }), NOW, None, cost(units));
    let expires_at = Some(NOW.millis() + 60_000);
    assert_eq!(refund(3, 1), Change::Refund(Counter { value: 2, expires_at }));
    assert_eq!(refund(0, 1), Change::Refund(Counter { value: 0, expires_at }));
    assert_eq!(refund(17, 0), Change::Refund(Counter { value: 17, expires_at }));
}

#[test]
fn a_cost_of_0_counts_nothing_and_needs_room_for_one() {
    let request = |state| minute(5).decide(state, NOW, Cost::ZERO).unwrap();
    assert_eq!(request(counter(4)).verdict, Verdict { allowed: true, count: 4, ttl: 40 });
    assert_eq!(request(counter(5)).verdict, Verdict { allowed: false, count: 5, ttl: 40 });
    assert_eq!(request(None).verdict, Verdict { allowed: true, count: 0, ttl: -2 });
    for state in [None, counter(0), counter(4), counter(5), counter(i64::MAX)] {
        assert_eq!(request(state).change, Change::Keep);
    }
}

#[test]
fn the_figures_are_about_the_end_of_the_window_not_the_expiry() {
    let figures = |value, units| {
        let decision = minute(5).decide(counter(value), NOW, cost(units)).unwrap();
        Figures::new(&minute(5).forecast(decision.verdict.count, NOW), &decision, NOW)
    };
    let full =
        Figures { limit: 5, remaining: 0, retry_after_ms: 40_000, next_ms: 40_000, reset_ms: 40_000, delay_ms: 0 };
    assert_eq!(figures(5, 1), full);
    assert_eq!(figures(4, 1), Figures { retry_after_ms: 0, ..full });
    assert_eq!(figures(5, 6).retry_after_ms, -1);
    assert_eq!(T0 / SECOND % 60, 20);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// The script: INCRBY, EXPIRE if new, compare; with the rules for a cost above 1 and for a cost of 0.
    #[test]
    fn does_as_the_script(trace in steady()) {
        let (mut key, mut script) = (BTreeMap::new(), BTreeMap::<u64, (i64, u64)>::new());
        for (policy, now, cost) in trace.requests() {
            let (window, limit) = (policy.window().millis(), i64::try_from(policy.limit).unwrap());
            let (ms, units) = (now.millis(), i64::try_from(cost.units()).unwrap());
            script.retain(|_, (_, expires_at)| *expires_at > ms);
            let found = script.get(&(ms / window)).copied();
            let (counter, expires_at) = found.unwrap_or((0, ms + window));
            let allowed = counter + units.max(1) <= limit;
            let counts = units > 0 && (allowed || counter >= limit);
            let after = if counts { counter + units } else { counter };
            if counts {
                script.insert(ms / window, (after, expires_at));
            }
            let ttl = if found.is_none() && !counts { -2 } else { (expires_at - ms + 500).cast_signed() / 1_000 };

            let reply = FixedWindow::new(&policy).request_at(&mut key, now, cost).unwrap();
            prop_assert_eq!(reply.verdict, Verdict { allowed, count: after, ttl });
        }
    }
}
