//! Known values, and an oracle: who charged how much in which window.

use proptest::prelude::*;

use super::super::fixed_window::Counter;
use super::super::*;
use super::{T0, cost, policy};
use crate::in_memory::InMemory;

const NOW: Micros = Micros(T0 + 250);
const NOW_MS: u64 = T0 / 1_000;
const MINUTE: u64 = 60_000;

fn counter(limit: u64) -> WindowCounter {
    WindowCounter::new(&policy(MINUTE, limit))
}

/// A counter whose window ends so many milliseconds from now.
fn running(value: i64, ends_in: u64) -> Option<Counter> {
    Some(Counter { value, expires_at: Some(NOW_MS + ends_in) })
}

fn charge(value: i64, ends_in: u64) -> Change<Counter> {
    Change::Charge(running(value, ends_in).unwrap())
}

#[test]
fn a_window_starts_with_the_first_request() {
    let decide = |state, units| counter(5).decide(state, NOW, cost(units));
    let first = decide(None, 3);
    assert_eq!(first.change, charge(3, MINUTE));
    assert_eq!(first.verdict, Verdict { allowed: true, count: 0, ttl: 60 });
    let second = decide(running(3, 1_500), 2);
    assert_eq!((second.change, second.verdict), (charge(5, 1_500), Verdict { allowed: true, count: 3, ttl: 2 }));
    let denied = decide(running(5, 1_500), 1);
    assert_eq!((denied.change, denied.verdict), (Change::Keep, Verdict { allowed: false, count: 5, ttl: 2 }));
    let never = decide(running(5, 1_500), 6);
    assert_eq!((never.change, never.verdict), (Change::Keep, Verdict { allowed: false, count: 5, ttl: -1 }));
    // A cost of 0 needs one unit and starts no window.
    assert_eq!((decide(None, 0).change, decide(None, 0).verdict.ttl), (Change::Keep, 0));
    assert_eq!(decide(running(4, 1_500), 0).verdict, Verdict { allowed: true, count: 4, ttl: 2 });
    assert_eq!(decide(running(5, 1_500), 0).verdict, Verdict { allowed: false, count: 5, ttl: 2 });
}

/// Redis keeps a key through the millisecond in which it expires.
#[test]
fn a_key_whose_expiry_is_now_or_earlier_counts_as_none() {
    for ends in [NOW_MS, NOW_MS - 1, 0] {
        let over = Some(Counter { value: 5, expires_at: Some(ends) });
        let decision = counter(5).decide(over, NOW, cost(1));
        assert_eq!((decision.verdict.count, decision.change), (0, charge(1, MINUTE)), "{ends}");
        assert_eq!(counter(5).decide(over, NOW, Cost::ZERO).change, Change::Keep);
        assert_eq!(counter(5).refund(over, NOW, None, cost(1)), Change::Keep);
        assert_eq!(counter(5).overcharge(over, NOW, None, cost(9)), Ok(charge(9, MINUTE)));
        assert_eq!(counter(5).forecast(over, NOW).remaining(), 5);
    }
    assert_eq!(counter(5).decide(running(5, 1), NOW, cost(1)).verdict.count, 5);
}

/// A key without an expiry would deny for ever, and so would one that a clock left far ahead.
#[test]
fn an_expiry_that_is_missing_or_too_late_is_a_window_from_now() {
    for expires_at in [None, Some(NOW_MS + MINUTE + 1), Some(u64::MAX)] {
        let state = |value| Some(Counter { value, expires_at });
        for (value, units) in [(5, 1), (4, 0), (0, 6), (-3, 6)] {
            let decision = counter(5).decide(state(value), NOW, cost(units));
            assert_eq!(decision.change, Change::Rebase(running(value, MINUTE).unwrap()), "{expires_at:?} {value}");
        }
        assert_eq!(counter(5).decide(state(5), NOW, cost(1)).verdict.ttl, 60);
        assert_eq!(counter(5).decide(state(3), NOW, cost(1)).change, charge(4, MINUTE));
        assert_eq!(counter(5).overcharge(state(3), NOW, None, cost(9)), Ok(charge(12, MINUTE)));
        assert_eq!(counter(5).refund(state(3), NOW, None, cost(1)), Change::Refund(running(2, MINUTE).unwrap()));
        assert_eq!(counter(5).refund(state(3), NOW, None, Cost::ZERO), Change::Rebase(running(3, MINUTE).unwrap()));
    }
    // Exactly a window is left after the first request.
    assert_eq!(counter(5).decide(running(5, MINUTE), NOW, cost(1)).change, Change::Keep);
}

#[test]
fn a_negative_counter_counts_as_none() {
    let negative = running(-4, 1_500);
    let decision = counter(5).decide(negative, NOW, cost(5));
    assert_eq!((decision.verdict.count, decision.change), (0, charge(5, MINUTE)));
    assert_eq!(counter(5).overcharge(negative, NOW, None, cost(1)), Ok(charge(1, MINUTE)));
    assert_eq!(counter(5).refund(negative, NOW, None, cost(1)), Change::Keep);
    assert_eq!(counter(5).forecast(negative, NOW).remaining(), 5);
    // A counter of 0 is not negative: its window runs on.
    assert_eq!(counter(5).decide(running(0, 1_500), NOW, cost(5)).change, charge(5, 1_500));
}

#[test]
fn a_refund_changes_the_counter_itself_and_one_of_everything_deletes_it() {
    let refund = |value, units| counter(5).refund(running(value, 1_500), NOW, None, cost(units));
    assert_eq!(refund(5, 2), Change::Refund(running(3, 1_500).unwrap()));
    assert_eq!(refund(12, 2), Change::Refund(running(10, 1_500).unwrap()), "not from the limit");
    assert_eq!((refund(5, 5), refund(5, MAX_COUNT)), (Change::Delete, Change::Delete));
    assert_eq!((refund(5, 0), refund(0, 1)), (Change::Keep, Change::Keep));
}

#[test]
fn at_before_the_running_window_gives_nothing_back_and_charges_the_running_one() {
    let at = |ago: u64| Some(Micros::from_millis(NOW_MS - ago));
    // The window started 58.5 s ago.
    let state = running(5, 1_500);
    let refund = |at| counter(5).refund(state, NOW, at, cost(2));
    let refunded = Change::Refund(running(3, 1_500).unwrap());
    assert_eq!((refund(at(0)), refund(at(58_500)), refund(at(58_501))), (refunded, refunded, Change::Keep));
    assert_eq!(refund(Some(Micros(u64::MAX))), refunded, "the future is now");
    assert_eq!(refund(Some(Micros(0))), Change::Keep);
    let overcharge = |state, at| counter(5).overcharge(state, NOW, at, cost(2)).unwrap();
    for at in [at(0), at(58_501), at(59_999), Some(Micros(u64::MAX))] {
        assert_eq!(overcharge(state, at), charge(7, 1_500), "{at:?}");
        assert_eq!(overcharge(None, at), charge(2, MINUTE), "{at:?}");
    }
    for at in [at(60_000), Some(Micros(0))] {
        assert_eq!((overcharge(state, at), overcharge(None, at)), (Change::Keep, Change::Keep), "{at:?}");
    }
}

#[test]
fn shadow_mode_changes_no_expiry() {
    let counter = counter(5);
    let shadowed = |state, units| counter.in_shadow(state, NOW, counter.decide(state, NOW, cost(units)).change);
    for expires_at in [None, Some(NOW_MS + 2 * MINUTE), Some(NOW_MS + 9)] {
        let state = Some(Counter { value: 4, expires_at });
        assert_eq!(shadowed(state, 1), Change::Charge(Counter { value: 5, expires_at }));
        assert_eq!((shadowed(state, 2), shadowed(state, 0)), (Change::Keep, Change::Keep));
    }
    // Where no window runs, one starts.
    for none in [None, running(5, 0), running(-1, 9)] {
        assert_eq!(shadowed(none, 1), charge(1, MINUTE));
    }
    let delete = counter.in_shadow(running(4, 9), NOW, Change::Delete);
    assert_eq!(delete, Change::Delete);
}

#[derive(Clone, Copy, Debug)]
enum What {
    Request,
    Look,
    Charge(Option<u64>),
    Refund(Option<u64>),
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// The oracle keeps what was charged in the running window, and when it started. Microseconds and milliseconds meet:
    /// steps are often at the end of a window or a little beside it.
    #[test]
    fn agrees_with_its_oracle(
        window in 1..30u64,
        limit in 0..12u64,
        calls in proptest::collection::vec(
            (
                prop_oneof![0..3_000u64, (0..40u64).prop_map(|ms| ms * 1_000), 0..60_000u64],
                0..8u64,
                prop_oneof![
                    4 => Just(What::Request),
                    1 => Just(What::Look),
                    2 => proptest::option::of(0..60u64).prop_map(What::Charge),
                    2 => proptest::option::of(0..60u64).prop_map(What::Refund),
                ],
            ),
            1..60,
        ),
    ) {
        let algorithm = WindowCounter::with_policy(&policy(window, limit)).unwrap();
        let (mut key, mut now) = (None, NOW);
        // The millisecond in which the window started, and its units.
        let (mut start, mut units) = (0, 0);
        for (step, amount, what) in calls {
            now = now.plus(step);
            let ms = now.millis();
            let before = units > 0 && ms < start + window;
            if !before {
                (start, units) = (ms, 0);
            }
            WindowCounter::expire(&mut key, now);
            match what {
                What::Request | What::Look => {
                    let amount = if matches!(what, What::Look) { 0 } else { amount };
                    let allowed = units + amount.max(1) <= limit;
                    let reply = algorithm.request(&mut key, now, cost(amount)).unwrap();
                    prop_assert_eq!((reply.verdict.allowed, reply.verdict.count), (allowed, units as i64));
                    units += if allowed { amount } else { 0 };
                }
                What::Charge(ago) => {
                    let at = ago.map(|ago| Micros::from_millis(ms - ago));
                    InMemory::overcharge(&algorithm, &mut key, now, at, cost(amount)).unwrap();
                    units += if ago.is_none_or(|ago| ago < window) { amount } else { 0 };
                }
                What::Refund(ago) => {
                    let at = ago.map(|ago| Micros::from_millis(ms - ago));
                    InMemory::refund(&algorithm, &mut key, now, at, cost(amount));
                    units -= if ago.is_none_or(|ago| ms - ago >= start) { amount.min(units) } else { 0 };
                }
            }
            let counted = key.filter(|counter| counter.expires_at > Some(ms));
            let expected = (units > 0).then_some(Counter { value: units as i64, expires_at: Some(start + window) });
            prop_assert_eq!(counted, expected);
            prop_assert_eq!(algorithm.remaining(&key, now), limit.saturating_sub(units));
        }
    }
}
