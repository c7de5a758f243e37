//! Known values of the level, and a bucket that is filled by fractions as the oracle.

use proptest::prelude::*;

use super::super::*;
use super::{SECOND, Subject, T0, burst, cost, magnitude, policy, steady};

const NOW: Micros = Micros(T0);

fn bucket(window: u64, limit: u64) -> TokenBucket {
    TokenBucket::new(&policy(window, limit)).unwrap()
}

fn level(words: [u64; 4]) -> Option<<TokenBucket as RecordAlgorithm>::State> {
    assert!(TokenBucket::from_words(&words).is_some());
    TokenBucket::from_words(&words)
}

fn words(change: Change<<TokenBucket as RecordAlgorithm>::State>) -> Option<[u64; 4]> {
    change.into_state().map(|state| TokenBucket::to_words(&state))
}

#[test]
fn takes_and_fills() {
    let algorithm = TokenBucket::new(&burst(policy(60_000, 5), 10)).unwrap();
    let first = algorithm.decide(None, NOW, cost(10));
    assert_eq!(first.verdict, Verdict { allowed: true, count: 0, ttl: 120 });
    assert_eq!(words(first.change), Some([10, 0, 60_000, T0]));
    let state = first.change.into_state();
    let denied = algorithm.decide(state, Micros(T0 + 12 * SECOND - 1), Cost::ONE);
    assert_eq!(denied.verdict, Verdict { allowed: false, count: 10, ttl: 109 });
    assert_eq!(denied.change, Change::Keep);
    let allowed = algorithm.decide(state, Micros(T0 + 13 * SECOND), Cost::ONE);
    assert_eq!(allowed.verdict, Verdict { allowed: true, count: 9, ttl: 119 });
    // 13 s at 5 a minute are 65/60 of a unit.
    assert_eq!(words(allowed.change), Some([9, 55 * SECOND, 60_000, T0 + 13 * SECOND]));
}

#[test]
fn a_raised_limit_gives_room_at_once_and_a_lowered_one_counts_since_then() {
    let state = level([10, 0, 60_000, T0]);
    assert_eq!(bucket(60_000, 30).forecast(state, NOW).remaining(), 20);
    // Lowered to 5, the bucket was full when the 10 were taken: half a minute later half of it is back.
    let later = Micros(T0 + 30 * SECOND);
    let lowered = bucket(60_000, 5);
    assert_eq!(lowered.forecast(state, later).remaining(), 2);
    assert_eq!(lowered.forecast(state, NOW).fits_at(1), Some(Micros(T0 + 12 * SECOND)));
    assert_eq!(lowered.decide(state, NOW, Cost::ONE).change, Change::Keep);
}

#[test]
fn another_window_keeps_what_was_taken_rounded_up() {
    let state = level([2, 1_000, 7, T0]);
    let charged = bucket(3, 9).decide(state, NOW, Cost::ONE);
    assert_eq!(words(charged.change), Some([3, 429, 3, T0]));
    // Up to a whole unit, which is not a part any more.
    let state = level([2, 6_999, 7, T0]);
    let charged = bucket(1, 9).decide(state, NOW, Cost::ONE);
    assert_eq!(words(charged.change), Some([4, 0, 1, T0]));
}

#[test]
fn ahead_of_the_clock_a_denial_starts_it_again() {
    let state = level([5, 0, 60_000, T0 + 3_600 * SECOND]);
    let denied = bucket(60_000, 5).decide(state, NOW, Cost::ONE);
    assert_eq!(words(denied.change), Some([5, 0, 60_000, T0]));
    // As it was taken, not as this call's smaller bucket holds it.
    let denied = bucket(60_000, 2).decide(state, NOW, Cost::ONE);
    assert_eq!(words(denied.change), Some([5, 0, 60_000, T0]));
    assert_eq!(bucket(60_000, 0).decide(state, NOW, Cost::ONE).change, Change::Keep);
    let allowed = bucket(60_000, 9).decide(state, NOW, Cost::ONE);
    assert_eq!(words(allowed.change), Some([6, 0, 60_000, T0]));
}

#[test]
fn a_limit_of_0_denies_everything_for_ever() {
    let none = TokenBucket::new(&burst(policy(1_500, 0), 3)).unwrap();
    for state in [None, level([2, 0, 60_000, T0])] {
        let decision = none.decide(state, Micros(T0 + 999 * SECOND), Cost::ONE);
        assert_eq!((decision.verdict.allowed, decision.verdict.ttl, decision.change), (false, 2, Change::Keep));
        let figures = Figures::new(&none.forecast(state, NOW), &decision, NOW, Cost::ONE);
        let never = Figures { limit: 3, remaining: 0, retry_after_ms: -1, next_ms: -1, reset_ms: -1, delay_ms: 0 };
        assert_eq!(figures, never);
    }
}

#[test]
fn what_takes_too_long_to_fill_is_refused() {
    let largest = MAX_SPAN / 1_000;
    let build = |window, limit, n| TokenBucket::new(&burst(policy(window, limit), n)).err();
    assert_eq!(build(largest, 1, 1), None);
    assert_eq!(build(largest, 1, 2), Some(Unrepresentable::Span));
    assert_eq!(build(largest, MAX_COUNT, MAX_COUNT), None);
    assert_eq!(build(largest, MAX_COUNT - 1, MAX_COUNT), Some(Unrepresentable::Span));
    assert_eq!(build(1, 1, largest), None);
    assert_eq!(build(1, 1, largest + 1), Some(Unrepresentable::Span));
    assert_eq!(build(largest, 0, MAX_COUNT), None);
}

#[test]
fn records_no_decision_leaves_are_refused() {
    let sound = [3, 999, 1, T0];
    assert!(TokenBucket::from_words(&sound).is_some());
    let odd = [(0, MAX_COUNT), (0, MAX_COUNT + 1), (1, 1_000), (2, 0), (2, MAX_SPAN / 1_000 + 1), (3, 1 << 63)];
    for (word, odd) in odd {
        let mut words = sound;
        words[word] = odd;
        assert_eq!(TokenBucket::from_words(&words), None, "{words:?}");
    }
    assert!(TokenBucket::from_words(&[MAX_COUNT, 0, MAX_SPAN / 1_000, T0]).is_some());
}

/// `calls` calls, one each `step` microseconds, more than the rate admits: how many were.
pub fn admitted<A: RecordAlgorithm>(policy: &Policy, calls: u64, step: u64) -> u64 {
    let (algorithm, mut state) = (A::new(policy).unwrap(), None);
    let call = |n: u64| {
        let decision = algorithm.decide(state, Micros(T0 + n * step), Cost::ONE);
        state = decision.change.into_state().or(state);
        decision.verdict.allowed
    };
    (0..calls).map(call).filter(|&allowed| allowed).count() as u64
}

#[test]
fn no_drift_over_a_million_calls() {
    // The last call is 337 × 999,999 µs after the first: 336.999663 s.
    let policy = burst(policy(1_000, 100), 7);
    assert_eq!(admitted::<TokenBucket>(&policy, 1_000_000, 337), 7 + 33_699);
}

#[test]
fn no_drift_where_the_rate_is_no_whole_number_of_anything() {
    // 3 each 7 s, a call each 9,973 µs: 99,999 × 9,973 µs × 3 / 7 s = 427.4
    let policy = burst(policy(7_000, 3), 5);
    assert_eq!(admitted::<TokenBucket>(&policy, 100_000, 9_973), 5 + 427);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Tokens that are there, in parts of 1/window of a token, filled up before each request.
    #[test]
    fn never_over_the_limit_and_no_denial_that_would_fit(trace in steady()) {
        let policy = trace.policies[0];
        let [window, limit, capacity] =
            [policy.window.micros(), policy.limit, policy.capacity()].map(i128::from);
        let (algorithm, mut key) = (TokenBucket::new(&policy).unwrap(), None);
        let (mut tokens, mut filled) = (capacity * window, trace.start.0);
        for (_, now, cost) in trace.calls() {
            tokens = (tokens + i128::from(now.0 - filled) * limit).min(capacity * window);
            filled = now.0;
            let (count, units) = (capacity - tokens / window, i128::from(cost.units()));
            let allowed = limit > 0 && tokens >= units * window;
            tokens -= if allowed { units * window } else { 0 };

            let answer = algorithm.ask(&mut key, now, cost).unwrap();
            prop_assert_eq!((answer.verdict.allowed, i128::from(answer.verdict.count)), (allowed, count));
            if limit > 0 {
                prop_assert_eq!(i128::from(answer.figures.remaining), tokens / window);
                let missing = capacity * window - tokens;
                let seconds = (missing + limit * 1_000_000 - 1) / (limit * 1_000_000);
                prop_assert_eq!(i128::from(answer.verdict.ttl), seconds.max(1));
            }
        }
    }

    #[test]
    fn divides_as_the_hardware_does(n in any::<u128>(), shift in 0..128u32, by in magnitude()) {
        let (n, by) = (n >> shift, by.max(1));
        let expected = u64::try_from(n / u128::from(by)).unwrap_or(u64::MAX);
        prop_assert_eq!(div_rem(n, by), (expected, u64::try_from(n % u128::from(by)).unwrap()));
        prop_assert_eq!(div_ceil(n, by), u64::try_from(n.div_ceil(u128::from(by))).unwrap_or(u64::MAX));
        prop_assert_eq!(div_ceil(n, 0), u64::MAX);
    }
}
