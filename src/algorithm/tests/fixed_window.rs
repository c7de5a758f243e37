//! Known values, and the script itself as the oracle.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::super::fixed_window::Counter;
use super::super::*;
use super::{SECOND, Subject, T0, cost, policy, steady};

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
fn more_than_a_unit_is_counted_only_where_it_fits_or_nothing_does() {
    let ask = |value, units| minute(5).decide(counter(value), NOW, cost(units)).unwrap();
    assert_eq!(ask(2, 3).change, Change::Charge(counter(5).unwrap()));
    assert_eq!((ask(3, 3).verdict.count, ask(3, 3).change), (3, Change::Keep));
    assert_eq!(ask(5, 3).change, Change::Charge(counter(8).unwrap()));
    assert!(!ask(3, 3).verdict.allowed && !ask(5, 3).verdict.allowed);
}

#[test]
fn a_new_counter_lives_for_a_window_and_one_found_without_expiry_gets_one() {
    let expires_at = Some(NOW.millis() + 60_000);
    for (state, value) in [(None, 1), (Some(Counter { value: 3, expires_at: None }), 4)] {
        let decision = minute(5).decide(state, NOW, Cost::ONE).unwrap();
        assert_eq!(decision.verdict, Verdict { allowed: true, count: value, ttl: 60 });
        assert_eq!(decision.change, Change::Charge(Counter { value, expires_at }));
    }
    // A denied request that is not counted makes no counter, but mends one.
    let denied = |state| minute(5).decide(state, NOW, cost(6)).unwrap();
    assert_eq!((denied(None).change, denied(None).verdict.ttl), (Change::Keep, -2));
    let mended = denied(Some(Counter { value: 3, expires_at: None }));
    assert_eq!(mended.change, Change::Charge(Counter { value: 3, expires_at }));
}

#[test]
fn below_zero_there_is_more_room_but_no_larger_cost() {
    let ask = |units| minute(5).decide(counter(-3), NOW, cost(units)).unwrap();
    assert_eq!(ask(5).verdict, Verdict { allowed: true, count: 2, ttl: 40 });
    assert!(!ask(6).verdict.allowed);
    assert_eq!(minute(5).forecast(-3, NOW).remaining(), 5);
    assert!(minute(5).decide(counter(i64::MIN), NOW, cost(5)).unwrap().verdict.allowed);
}

/// DECR took it back to 0 meanwhile: the script's INCR makes it 1, and its EXPIRE starts anew.
#[test]
fn a_counter_that_becomes_1_again_expires_anew() {
    let algorithm = FixedWindow::new(&policy(60_000, 5));
    let now = Micros::from_millis(1_000_000);
    let expiry_of = |value| {
        let state = Some(Counter { value, expires_at: Some(1_010_000) });
        algorithm.decide(state, now, Cost::ONE).unwrap().change.into_state().unwrap().expires_at
    };
    assert_eq!((expiry_of(0), expiry_of(1), expiry_of(-1)), (Some(1_060_000), Some(1_010_000), Some(1_010_000)));
}

#[test]
fn an_overflow_is_an_error() {
    let ask = |value, units| minute(MAX_COUNT).decide(counter(value), NOW, cost(units));
    assert_eq!(ask(i64::MAX, 1), Err(Unrepresentable::Overflow));
    assert!(ask(i64::MAX - 1, 1).unwrap().verdict.allowed);
    // Not full yet, so it is not counted, so nothing overflows.
    assert_eq!(ask(i64::MAX - 1, 2).unwrap().change, Change::Keep);
    assert_eq!(minute(5).decide(counter(6), NOW, cost(MAX_COUNT)), Err(Unrepresentable::Overflow));
}

#[test]
fn refund_is_from_what_fits_the_limit() {
    let refund = |value, units| minute(5).refund(counter(value), cost(units)).map(|counter| counter.value);
    assert_eq!(refund(3, 1), Some(2));
    assert_eq!(refund(3, 9), Some(0));
    assert_eq!(refund(17, 1), Some(4));
    assert_eq!((refund(0, 1), refund(-2, 1), minute(5).refund(None, Cost::ONE)), (None, None, None));
}

#[test]
fn the_bucket_ends_before_the_counter_expires() {
    let figures = |value, units| {
        let decision = minute(5).decide(counter(value), NOW, cost(units)).unwrap();
        Figures::new(&minute(5).forecast(decision.verdict.count, NOW), &decision, NOW, cost(units))
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

    /// The script: INCRBY, EXPIRE when new, compare; with the rule for a cost above 1.
    #[test]
    fn does_as_the_script(trace in steady()) {
        let (mut key, mut script) = (BTreeMap::new(), BTreeMap::<u64, (i64, u64)>::new());
        for (policy, now, cost) in trace.calls() {
            let (window, limit) = (policy.window.millis(), i64::try_from(policy.limit).unwrap());
            let (ms, units) = (now.millis(), i64::try_from(cost.units()).unwrap());
            script.retain(|_, (_, expires_at)| *expires_at > ms);
            let found = script.get(&(ms / window)).copied();
            let (counter, expires_at) = found.unwrap_or((0, ms + window));
            let allowed = counter + units <= limit;
            let counts = allowed || counter >= limit;
            let after = if counts { counter + units } else { counter };
            if counts {
                script.insert(ms / window, (after, expires_at));
            }
            let ttl = if found.is_none() && !counts { -2 } else { (expires_at - ms + 500).cast_signed() / 1_000 };

            let answer = FixedWindow::new(policy).ask(&mut key, now, cost).unwrap();
            prop_assert_eq!(answer.verdict, Verdict { allowed, count: after, ttl });
        }
    }
}
