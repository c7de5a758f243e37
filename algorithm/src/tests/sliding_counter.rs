//! Known values, and a list of all charges as the oracle.

use proptest::prelude::*;

use super::super::sliding_counter::Counts;
use super::super::*;
use super::{SECOND, TestAlgorithm, cost, policy, state_of, steady, stored};

/// The start of a minute.
const MINUTE: u64 = 28_333_333 * 60 * SECOND;

fn counter(window: u64, limit: u64) -> SlidingCounter {
    SlidingCounter::new(&policy(window, limit)).unwrap()
}

/// A state in windows of `window` milliseconds. Its current window began `ago` milliseconds before the minute, or less
/// than a window earlier.
fn record(window: u64, ago: u64, current: u64, previous: u64) -> Option<Counts> {
    let record = SlidingCounter::from_words(&[window, (MINUTE / 1_000 - ago) / window, current, previous]);
    assert!(record.is_some());
    record
}

fn weighted(window: u64, state: Option<Counts>, ms: u64) -> i64 {
    counter(window, 1_000).decide(state, Micros(MINUTE + ms * 1_000), Cost::ONE).verdict.count
}

#[test]
fn a_known_example() {
    // 70 in the previous minute, 20 in the current one, 30 % in.
    let state = record(60_000, 0, 20, 70);
    let now = Micros(MINUTE + 18 * SECOND);
    let request = |limit, units| counter(60_000, limit).decide(state, now, cost(units));
    assert_eq!(request(100, 1).verdict, Verdict { allowed: true, count: 69, ttl: 102 });
    assert!(request(70, 1).verdict.allowed && !request(69, 1).verdict.allowed);
    assert!(request(100, 31).verdict.allowed && !request(100, 32).verdict.allowed);
    assert_eq!(counter(60_000, 100).forecast(state, now).remaining(), 31);
    // A microsecond earlier the weighted count is a little more than 69, which is too much.
    let before = counter(60_000, 70).decide(state, Micros(now.0 - 1), Cost::ONE).verdict;
    assert_eq!(before, Verdict { allowed: false, count: 69, ttl: 1 });
    assert_eq!((request(100, 101).verdict.ttl, request(0, 1).verdict.ttl), (-1, -1));
    assert_eq!((request(70, 0).verdict.allowed, request(69, 0).verdict.allowed), (true, false));
    assert_eq!((request(70, 0).verdict.ttl, request(70, 0).change), (102, Change::Keep));
}

#[test]
fn the_current_window_becomes_the_previous_one() {
    let state = record(60_000, 0, 20, 70);
    assert_eq!(weighted(60_000, state, 59_999), 20);
    assert_eq!(weighted(60_000, state, 60_000), 20);
    assert_eq!(weighted(60_000, state, 90_000), 10);
    assert_eq!(weighted(60_000, state, 120_000), 0);
}

#[test]
fn other_windows_count_at_the_latest_moment_of_a_charge() {
    // A record in minutes, read in seconds: the current count can have been charged just now until its minute is over.
    let state = record(60_000, 0, 20, 70);
    assert_eq!(weighted(1_000, state, 0), 90);
    assert_eq!(weighted(1_000, state, 500), 20 + 35);
    assert_eq!(weighted(1_000, state, 1_000), 20);
    assert_eq!(weighted(1_000, state, 59_999), 20);
    assert_eq!(weighted(1_000, state, 60_500), 10);
    assert_eq!(weighted(1_000, state, 61_000), 0);
    // A record in seconds, read in minutes: the whole second is in this minute, or in the one before.
    let state = record(1_000, 0, 3, 5);
    assert_eq!(weighted(60_000, state, 0), 8);
    assert_eq!(weighted(60_000, state, 30_000), 3 + 2);
    assert_eq!(weighted(60_000, state, 90_000), 1);
    assert_eq!(weighted(60_000, state, 120_000), 0);
}

#[test]
fn a_denial_writes_the_record_in_windows_of_its_own_length() {
    // In minutes, it would count as charged just now in each second until the minute is over.
    let policy = policy(1_000, 10);
    let (algorithm, now) = (SlidingCounter::new(&policy).unwrap(), Micros(MINUTE + SECOND));
    let mut key = record(60_000, 0, 20, 0).and_then(stored::<SlidingCounter>);
    let reply = algorithm.request_at(&mut key, now, Cost::ONE).unwrap();
    assert!(reply.rebased && !reply.verdict.allowed);
    assert_eq!(
        state_of::<SlidingCounter>(&key).map(|state| SlidingCounter::to_words(&state)),
        Some([1_000, MINUTE / SECOND + 1, 20, 0])
    );
    assert_eq!(reply.figures.retry_after_ms, 1_550);
}

#[test]
fn ahead_of_the_clock_everything_counts_and_no_more_than_the_limit() {
    let state = record(60_000, 0, 20, 70);
    let now = Micros(MINUTE - 1_000_000);
    let request = |limit| counter(60_000, limit).decide(state, now, Cost::ONE);
    assert_eq!(request(100).verdict, Verdict { allowed: true, count: 90, ttl: 61 });
    // 1 s to the end of the window, and 1/50 of the next.
    assert_eq!(request(50).verdict, Verdict { allowed: false, count: 50, ttl: 3 });
    let rebased = request(50).change.state().map(SlidingCounter::to_words);
    assert_eq!(rebased, Some([60_000, MINUTE / (60 * SECOND) - 1, 50, 0]));
    assert_eq!(counter(60_000, 0).decide(state, now, Cost::ONE).change, Change::Keep);
}

#[test]
fn a_refund_is_from_the_current_window_first() {
    let state = record(60_000, 0, 20, 70);
    let refund = |units| {
        let refunded = counter(60_000, 100).refund(state, Micros(MINUTE), None, cost(units));
        refunded.map(|state| (state.current, state.previous))
    };
    assert_eq!((refund(5), refund(20)), (Change::Refund((15, 70)), Change::Refund((0, 70))));
    assert_eq!((refund(21), refund(90)), (Change::Refund((0, 69)), Change::Delete));
    assert_eq!((refund(1_000), refund(0)), (Change::Delete, Change::Keep));
    let over = counter(60_000, 100).refund(state, Micros(MINUTE + 120 * SECOND), None, cost(1));
    assert_eq!(over, Change::Keep);
}

#[test]
fn expires_two_windows_after_the_last_request() {
    let at = |current| counter(60_000, 9).expires_at(&record(60_000, 0, current, 3).unwrap());
    assert_eq!((at(1), at(0)), (Micros(MINUTE + 120 * SECOND), Micros(MINUTE + 60 * SECOND)));
}

#[test]
fn records_that_no_decision_writes_are_refused() {
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
    fn never_over_the_limit_and_no_denial_of_what_fits(trace in steady()) {
        let policy = trace.policies[0];
        let window = policy.window().micros();
        let (algorithm, mut key, mut charged) = (SlidingCounter::new(&policy).unwrap(), None, Vec::<(u64, u64)>::new());
        for (_, now, cost) in trace.requests() {
            let number = now.0 / window;
            let units_in = |n| charged.iter().filter(|(at, _)| at / window == n).map(|(_, units)| units).sum::<u64>();
            // In parts of 1/window.
            let weighted = u128::from(units_in(number)) * u128::from(window)
                + u128::from(units_in(number - 1)) * u128::from(window - now.0 % window);
            let allowed = weighted + u128::from(cost.needed()) * u128::from(window)
                <= u128::from(policy.limit) * u128::from(window);
            let reply = algorithm.request_at(&mut key, now, cost).unwrap();
            prop_assert_eq!(reply.verdict.allowed, allowed);
            prop_assert_eq!(reply.verdict.count as u128, weighted / u128::from(window));
            if allowed {
                charged.push((now.0, cost.units()));
                // The window of the last charge, and the one after it.
                let last = charged.iter().rev().find(|(_, units)| *units > 0);
                let end = last.map_or(0, |(at, _)| (at / window + 2) * window);
                prop_assert_eq!(reply.verdict.ttl as u64, end.saturating_sub(now.0).div_ceil(SECOND));
            }
        }
    }
}
