//! Known values, and every admitted request with its time as the oracle.

use proptest::prelude::*;

use super::super::*;
use super::{SECOND, Subject, cost, policy, steady};

/// The start of a minute, and of a second, and of ten.
const MINUTE: u64 = 28_333_333 * 60 * SECOND;

fn counter(window: u64, limit: u64) -> SlidingCounter {
    SlidingCounter::new(&policy(window, limit)).unwrap()
}

/// A record of windows of `window` milliseconds, the current one `ago` milliseconds old at the start of the minute.
fn record(window: u64, ago: u64, current: u64, previous: u64) -> Option<<SlidingCounter as RecordAlgorithm>::State> {
    let record = SlidingCounter::from_words(&[window, (MINUTE / 1_000 - ago) / window, current, previous]);
    assert!(record.is_some());
    record
}

fn weighted(window: u64, state: Option<<SlidingCounter as RecordAlgorithm>::State>, ms: u64) -> i64 {
    counter(window, 1_000).decide(state, Micros(MINUTE + ms * 1_000), Cost::ONE).verdict.count
}

#[test]
fn the_textbook() {
    // 70 in the previous minute, 20 in the current one, 30 % in.
    let state = record(60_000, 0, 20, 70);
    let now = Micros(MINUTE + 18 * SECOND);
    let ask = |limit, units| counter(60_000, limit).decide(state, now, cost(units));
    assert_eq!(ask(100, 1).verdict, Verdict { allowed: true, count: 69, ttl: 42 });
    assert!(ask(70, 1).verdict.allowed && !ask(69, 1).verdict.allowed);
    assert!(ask(100, 31).verdict.allowed && !ask(100, 32).verdict.allowed);
    assert_eq!(counter(60_000, 100).forecast(state, now).remaining(), 31);
    // A microsecond earlier it weighs a little more than 69, and that little is too much.
    let before = counter(60_000, 70).decide(state, Micros(now.0 - 1), Cost::ONE).verdict;
    assert_eq!((before.allowed, before.count), (false, 69));
}

#[test]
fn rolls_on() {
    let state = record(60_000, 0, 20, 70);
    assert_eq!(weighted(60_000, state, 59_999), 20);
    assert_eq!(weighted(60_000, state, 60_000), 20);
    assert_eq!(weighted(60_000, state, 90_000), 10);
    assert_eq!(weighted(60_000, state, 120_000), 0);
}

#[test]
fn other_windows_find_the_counts_where_they_can_have_happened_latest() {
    // A minute's record seen in seconds: the current count may be just now, until its minute is over.
    let state = record(60_000, 0, 20, 70);
    assert_eq!(weighted(1_000, state, 0), 90);
    assert_eq!(weighted(1_000, state, 500), 20 + 35);
    assert_eq!(weighted(1_000, state, 1_000), 20);
    assert_eq!(weighted(1_000, state, 59_999), 20);
    assert_eq!(weighted(1_000, state, 60_500), 10);
    assert_eq!(weighted(1_000, state, 61_000), 0);
    // A second's record seen in minutes: the whole second lies in this minute, or in the last.
    let state = record(1_000, 0, 3, 5);
    assert_eq!(weighted(60_000, state, 0), 8);
    assert_eq!(weighted(60_000, state, 30_000), 3 + 2);
    assert_eq!(weighted(60_000, state, 90_000), 1);
    assert_eq!(weighted(60_000, state, 120_000), 0);
}

#[test]
fn a_denial_keeps_the_record_in_the_windows_it_was_asked_in() {
    // Left in minutes, it would be found anew in each second until the minute is over.
    let policy = policy(1_000, 10);
    let (algorithm, now) = (SlidingCounter::new(&policy).unwrap(), Micros(MINUTE + SECOND));
    let mut key = record(60_000, 0, 20, 0);
    let answer = algorithm.ask(&mut key, now, Cost::ONE).unwrap();
    assert!(answer.rebased && !answer.verdict.allowed);
    assert_eq!(key.map(|state| SlidingCounter::to_words(&state)), Some([1_000, MINUTE / SECOND + 1, 20, 0]));
    assert_eq!(answer.figures.retry_after_ms, 1_550);
}

#[test]
fn ahead_of_the_clock_everything_counts_and_no_more_than_the_limit() {
    let state = record(60_000, 0, 20, 70);
    let now = Micros(MINUTE - 1_000_000);
    let ask = |limit| counter(60_000, limit).decide(state, now, Cost::ONE);
    assert_eq!(ask(100).verdict, Verdict { allowed: true, count: 90, ttl: 1 });
    assert_eq!(ask(50).verdict, Verdict { allowed: false, count: 50, ttl: 1 });
    let rebased = ask(50).change.into_state().map(|state| SlidingCounter::to_words(&state));
    assert_eq!(rebased, Some([60_000, MINUTE / (60 * SECOND) - 1, 50, 0]));
    assert_eq!(counter(60_000, 0).decide(state, now, Cost::ONE).change, Change::Keep);
}

#[test]
fn refund_is_from_the_current_window_first() {
    let state = record(60_000, 0, 20, 70);
    let refund = |units| {
        let refunded = counter(60_000, 100).refund(state, Micros(MINUTE), cost(units));
        refunded.map(|state| (state.current, state.previous))
    };
    assert_eq!((refund(5), refund(20), refund(21)), (Some((15, 70)), Some((0, 70)), Some((0, 69))));
    assert_eq!(refund(1_000), Some((0, 0)));
    assert_eq!(counter(60_000, 100).refund(state, Micros(MINUTE + 120 * SECOND), cost(1)), None);
}

#[test]
fn forgotten_two_windows_after_the_last_request() {
    let at = |current| counter(60_000, 9).expires_at(&record(60_000, 0, current, 3).unwrap());
    assert_eq!((at(1), at(0)), (Micros(MINUTE + 120 * SECOND), Micros(MINUTE + 60 * SECOND)));
}

#[test]
fn records_no_decision_leaves_are_refused() {
    let sound = [60_000, MINUTE / (60 * SECOND), 1, 2];
    assert!(SlidingCounter::from_words(&sound).is_some());
    for (word, odd) in [(0, 0), (0, MAX_SPAN / 1_000 + 1), (1, 0), (1, u64::MAX), (1, (1 << 63) / (60 * SECOND) + 1)] {
        let mut words = sound;
        words[word] = odd;
        assert_eq!(SlidingCounter::from_words(&words), None, "{words:?}");
    }
    for word in [2, 3] {
        let mut words = sound;
        words[word] = MAX_COUNT;
        assert!(SlidingCounter::from_words(&words).is_some());
        words[word] += 1;
        assert_eq!(SlidingCounter::from_words(&words), None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn never_over_the_limit_and_no_denial_that_would_fit(trace in steady()) {
        let policy = trace.policies[0];
        let window = policy.window.micros();
        let (algorithm, mut key, mut admitted) = (SlidingCounter::new(&policy).unwrap(), None, Vec::<(u64, u64)>::new());
        for (_, now, cost) in trace.calls() {
            let number = now.0 / window;
            let units_in = |n| admitted.iter().filter(|(at, _)| at / window == n).map(|(_, units)| units).sum::<u64>();
            // In parts of 1/window.
            let weighted = u128::from(units_in(number)) * u128::from(window)
                + u128::from(units_in(number - 1)) * u128::from(window - now.0 % window);
            let allowed = weighted + u128::from(cost.units()) * u128::from(window)
                <= u128::from(policy.limit) * u128::from(window);
            let answer = algorithm.ask(&mut key, now, cost).unwrap();
            prop_assert_eq!(answer.verdict.allowed, allowed);
            prop_assert_eq!(answer.verdict.count as u128, weighted / u128::from(window));
            prop_assert_eq!(answer.verdict.ttl as u64, (window - now.0 % window).div_ceil(SECOND));
            if allowed {
                admitted.push((now.0, cost.units()));
            }
        }
    }
}
