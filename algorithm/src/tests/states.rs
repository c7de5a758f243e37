//! States that another policy, an earlier call or a client wrote.

use super::*;
use crate::sliding_counter::Counts;

/// 20 seconds into a minute.
const NOW: Micros = Micros(T0);
const NOW_MS: u64 = T0 / 1_000;
const MINUTE: u64 = 60_000;

fn counter(value: i64, expires_at: Option<u64>) -> Option<Counter> {
    Some(Counter { value, expires_at })
}

fn charged(value: i64, ends_in: u64) -> Change<Counter> {
    Change::Charge(Counter { value, expires_at: Some(NOW_MS + ends_in) })
}

/// Redis keeps a key through the millisecond in which it expires. A DECR after the window has ended leaves a negative
/// counter.
#[test]
fn a_window_that_is_over_and_a_negative_counter_count_as_none() {
    let window = WindowCounter::new(&policy(MINUTE, 5)).unwrap();
    for none in [counter(5, Some(NOW_MS)), counter(5, Some(0)), counter(-4, Some(NOW_MS + 1_500))] {
        let decision = window.decide(none, NOW, cost(5)).unwrap();
        assert_eq!((decision.verdict.count, decision.change), (0, charged(5, MINUTE)), "{none:?}");
        assert_eq!(window.overcharging(none, NOW, None, cost(9)), Ok(charged(9, MINUTE)));
        assert_eq!(window.refunding(none, NOW, None, cost(1)), Change::Keep);
        assert_eq!(window.forecast(none, &Change::Keep, NOW).remaining(), 5);
    }
    let running = counter(0, Some(NOW_MS + 1_500));
    assert_eq!(window.decide(running, NOW, cost(5)).unwrap().change, charged(5, 1_500), "0 is not negative");
}

/// A key without an expiry would deny for ever, and so would one that a clock left far ahead.
#[test]
fn an_expiry_that_is_missing_or_too_late_is_a_window_from_now() {
    let window = WindowCounter::new(&policy(MINUTE, 5)).unwrap();
    for expires_at in [None, Some(NOW_MS + MINUTE + 1), Some(u64::MAX)] {
        for (value, units) in [(5, 1), (4, 0), (-3, 6)] {
            let decision = window.decide(counter(value, expires_at), NOW, cost(units)).unwrap();
            let restated = Counter { value, expires_at: Some(NOW_MS + MINUTE) };
            assert_eq!(decision.change, Change::Rebase(restated), "{expires_at:?} {value}");
        }
        assert_eq!(window.decide(counter(3, expires_at), NOW, cost(1)).unwrap().change, charged(4, MINUTE));
    }
    let fixed = FixedWindow::new(&policy(MINUTE, 5)).unwrap();
    assert_eq!(fixed.decide(counter(3, None), NOW, cost(1)).unwrap().change, charged(4, MINUTE));
    assert_eq!(fixed.decide(counter(3, None), NOW, cost(6)).unwrap().change, charged(3, MINUTE), "a denial too");
    assert_eq!(fixed.decide(None, NOW, cost(6)).unwrap().change, Change::Keep, "but creates none");
}

/// DECR has made it 0. The INCR of the script makes it 1, so the script sets the expiry again.
#[test]
fn a_counter_that_becomes_1_again_gets_a_new_expiry() {
    let fixed = FixedWindow::new(&policy(MINUTE, 5)).unwrap();
    let after = |value| fixed.decide(counter(value, Some(NOW_MS + 9)), NOW, Cost::ONE).unwrap();
    assert_eq!(
        [after(0), after(1), after(-1)].map(|decision| decision.change),
        [charged(1, MINUTE), charged(2, 9), charged(0, 9)]
    );
    assert_eq!(after(0).verdict, Verdict { allowed: true, count: 1, ttl: 60 });
    // Below 0 there is more room, but no larger cost.
    let below = |units| fixed.decide(counter(-3, Some(NOW_MS + 40_000)), NOW, cost(units)).unwrap().verdict;
    assert_eq!(below(5), Verdict { allowed: true, count: 2, ttl: 40 });
    assert!(!below(6).allowed);
    let most = counter(i64::MAX, Some(NOW_MS + 9));
    assert_eq!(fixed.decide(most, NOW, Cost::ONE), Err(Unrepresentable::Overflow));
}

/// Each count goes to the window of the latest moment at which it can have been charged.
#[test]
fn a_counter_of_other_windows_counts_at_the_latest_moment_of_a_charge() {
    let start = 28_333_333 * MINUTE;
    let record = |window: u64| SlidingCounter::from_words(&[window, start / window, 20, 70]).unwrap();
    let count = |window: u64, record: Counts, ms: u64| {
        let counter = SlidingCounter::new(&policy(window, 1_000)).unwrap();
        counter.decide(Some(record), Micros::from_millis(start + ms), Cost::ONE).unwrap().verdict.count
    };
    // In minutes, read in seconds: the current count can have been charged just now until its minute is over.
    let of_minutes = [0, 500, 1_000, 59_999, 60_500, 61_000].map(|ms| count(1_000, record(MINUTE), ms));
    assert_eq!(of_minutes, [90, 20 + 35, 20, 20, 10, 0]);
    // In seconds, read in minutes: the whole second is in this minute, or in the one before.
    let of_seconds = [0, 30_000, 90_000, 120_000].map(|ms| count(MINUTE, record(1_000), ms));
    assert_eq!(of_seconds, [90, 20 + 35, 10, 0]);
    // Ahead of the clock everything counts, and no more than the limit.
    let limited = SlidingCounter::new(&policy(MINUTE, 50)).unwrap();
    let denied = limited.decide(Some(record(MINUTE)), Micros::from_millis(start - 1_000), Cost::ONE).unwrap();
    assert_eq!(denied.verdict, Verdict { allowed: false, count: 50, ttl: 3 });
}

/// The amount is rounded up, so another window gives nothing back.
#[test]
fn a_bucket_of_another_window_keeps_what_was_charged() {
    let after = |window, part| {
        let level = TokenBucket::from_words(&[2, part, 7, T0, 0]);
        let change = TokenBucket::new(&policy(window, 9)).unwrap().decide(level, NOW, Cost::ONE).unwrap().change;
        TokenBucket::to_words(change.state().unwrap())
    };
    assert_eq!(after(3, 1_000), [3, 429, 3, T0, 0]);
    assert_eq!(after(1, 6_999), [4, 0, 1, T0, 0]);
}

/// What is above the capacity was never available, so a unit that comes back is one of those below it.
#[test]
fn a_refund_of_a_bucket_is_from_the_capacity_if_that_is_less() {
    let level = TokenBucket::from_words(&[5, 0, MINUTE, T0, 0]);
    let refund = |limit| {
        let change = TokenBucket::new(&policy(MINUTE, limit)).unwrap().refunding(level, NOW, None, Cost::ONE);
        TokenBucket::to_words(change.state().unwrap())
    };
    assert_eq!([refund(9), refund(3)], [[4, 0, MINUTE, T0, 0], [2, 0, MINUTE, T0, 0]]);
}

/// The policy that shadow mode tries may name another window than the one in force.
#[test]
fn shadow_mode_leaves_a_window_that_runs() {
    let counter = WindowCounter::new(&policy(1_000, 5)).unwrap();
    let (now, hour) = (Micros::from_millis(100_000), Some(Counter { value: 3, expires_at: Some(3_700_000) }));
    let change = counter.decide(hour, now, Cost::ONE).unwrap().change;
    assert_eq!(change, Change::Charge(Counter { value: 4, expires_at: Some(101_000) }));
    let charged = Change::Charge(Counter { value: 4, expires_at: Some(3_700_000) });
    assert_eq!(counter.in_shadow(hour, now, change), charged);
}
