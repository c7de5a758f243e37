//! Known values of the level, and a bucket that fills by fractions of a token as the oracle.

use proptest::prelude::*;

use super::super::arithmetic::{div_ceil, div_rem};
use super::super::level::Level;
use super::super::*;
use super::{SECOND, T0, TestAlgorithm, burst, cost, magnitude, policy, steady};

const NOW: Micros = Micros(T0);

fn bucket(window: u64, limit: u64) -> TokenBucket {
    TokenBucket::new(&policy(window, limit)).unwrap()
}

fn level(words: [u64; 5]) -> Option<Level> {
    assert!(TokenBucket::from_words(&words).is_some());
    TokenBucket::from_words(&words)
}

fn words(change: Change<Level>) -> Option<[u64; 5]> {
    change.state().map(TokenBucket::to_words)
}

#[test]
fn drains_and_fills() {
    let algorithm = TokenBucket::new(&burst(policy(60_000, 5), 10)).unwrap();
    let first = algorithm.decide(None, NOW, cost(10));
    assert_eq!(first.verdict, Verdict { allowed: true, count: 0, ttl: 120 });
    assert_eq!(words(first.change), Some([10, 0, 60_000, T0, 0]));
    let state = first.change.state().copied();
    let denied = algorithm.decide(state, Micros(T0 + 12 * SECOND - 1), Cost::ONE);
    assert_eq!(denied.verdict, Verdict { allowed: false, count: 10, ttl: 1 });
    assert_eq!(denied.change, Change::Keep);
    assert_eq!(algorithm.decide(state, Micros(T0 + SECOND), Cost::ONE).verdict.ttl, 11);
    assert_eq!(algorithm.decide(state, Micros(T0 + SECOND - 1), Cost::ONE).verdict.ttl, 12);
    assert_eq!(algorithm.decide(state, NOW, cost(11)).verdict.ttl, -1);
    let allowed = algorithm.decide(state, Micros(T0 + 13 * SECOND), Cost::ONE);
    assert_eq!(allowed.verdict, Verdict { allowed: true, count: 9, ttl: 119 });
    // 13 s at 5 a minute are 65/60 of a unit.
    assert_eq!(words(allowed.change), Some([9, 55 * SECOND, 60_000, T0 + 13 * SECOND, 0]));
}

#[test]
fn a_raised_limit_gives_room_at_once_and_a_lowered_one_counts_from_the_last_charge() {
    let state = level([10, 0, 60_000, T0, 0]);
    assert_eq!(bucket(60_000, 30).forecast(state, NOW).remaining(), 20);
    // With a limit of 5 the bucket was empty when the 10 were charged: half a minute later half of it is back.
    let later = Micros(T0 + 30 * SECOND);
    let lowered = bucket(60_000, 5);
    assert_eq!(lowered.forecast(state, later).remaining(), 2);
    assert_eq!(lowered.forecast(state, NOW).fits_at(1), Some(Micros(T0 + 12 * SECOND)));
    assert_eq!(lowered.decide(state, NOW, Cost::ONE).change, Change::Keep);
}

#[test]
fn another_window_keeps_what_was_charged_rounded_up() {
    let state = level([2, 1_000, 7, T0, 0]);
    let charged = bucket(3, 9).decide(state, NOW, Cost::ONE);
    assert_eq!(words(charged.change), Some([3, 429, 3, T0, 0]));
    // Rounded up to a whole unit.
    let state = level([2, 6_999, 7, T0, 0]);
    let charged = bucket(1, 9).decide(state, NOW, Cost::ONE);
    assert_eq!(words(charged.change), Some([4, 0, 1, T0, 0]));
}

#[test]
fn a_denial_moves_what_is_ahead_of_the_clock() {
    let state = level([5, 0, 60_000, T0 + 3_600 * SECOND, 0]);
    let denied = bucket(60_000, 5).decide(state, NOW, Cost::ONE);
    assert_eq!(words(denied.change), Some([5, 0, 60_000, T0, 0]));
    // Not reduced to the smaller capacity of this call.
    let denied = bucket(60_000, 2).decide(state, NOW, Cost::ONE);
    assert_eq!(words(denied.change), Some([5, 0, 60_000, T0, 0]));
    assert_eq!(bucket(60_000, 0).decide(state, NOW, Cost::ONE).change, Change::Keep);
    let allowed = bucket(60_000, 9).decide(state, NOW, Cost::ONE);
    assert_eq!(words(allowed.change), Some([6, 0, 60_000, T0, 0]));
}

#[test]
fn a_cost_of_0_is_allowed_while_a_unit_is_left() {
    let request = |used| bucket(60_000, 5).decide(level([used, 0, 60_000, T0, 0]), NOW, Cost::ZERO);
    assert_eq!(request(4).verdict, Verdict { allowed: true, count: 4, ttl: 48 });
    assert_eq!(request(5).verdict, Verdict { allowed: false, count: 5, ttl: 12 });
    assert_eq!((request(4).change, request(5).change), (Change::Keep, Change::Keep));
    assert_eq!(bucket(60_000, 5).decide(None, NOW, Cost::ZERO).verdict, Verdict { allowed: true, count: 0, ttl: 0 });
}

#[test]
fn a_refund_keeps_the_window_and_the_time_of_writing() {
    let later = Micros(T0 + 12 * SECOND);
    let refund =
        |algorithm: TokenBucket, units| algorithm.refund(level([3, 500, 60_000, T0, 0]), later, None, cost(units));
    assert_eq!(words(refund(bucket(60_000, 5), 1)), Some([2, 500, 60_000, T0, 0]));
    assert_eq!(words(refund(bucket(30_000, 2), 1)), Some([1, 0, 60_000, T0, 0]), "from the capacity, if that is less");
    // One of the three has drained since, so two refunded units leave the fraction only.
    assert_eq!(words(refund(bucket(60_000, 5), 2)), Some([1, 500, 60_000, T0, 0]));
    assert_eq!(refund(bucket(60_000, 5), 3), Change::Delete);
    assert_eq!(refund(bucket(60_000, 5), MAX_COUNT), Change::Delete);
    assert_eq!(refund(bucket(60_000, 5), 0), Change::Keep);
    assert_eq!(bucket(60_000, 5).refund(None, NOW, None, Cost::ONE), Change::Keep);
    assert_eq!(
        bucket(60_000, 5).refund(level([3, 0, 60_000, T0, 0]), Micros(T0 + 36 * SECOND), None, Cost::ONE),
        Change::Keep
    );
}

/// A limit of 0 drains nothing, and must not make an expiry that is never over.
#[test]
fn a_refund_under_a_limit_of_0_leaves_no_record_that_never_expires() {
    let none = TokenBucket::new(&burst(policy(1_000, 0), 10)).unwrap();
    let mut key = None;
    bucket(1_000, 10).request_at(&mut key, NOW, Cost::ONE).unwrap();
    crate::in_memory::InMemory::refund(&none, &mut key, NOW, None, Cost::ONE);
    assert_eq!(key, None);

    bucket(1_000, 10).request_at(&mut key, NOW, cost(3)).unwrap();
    crate::in_memory::InMemory::refund(&none, &mut key, NOW, None, Cost::ONE);
    assert_eq!(key.and_then(|stored| stored.expires_at), Some(T0 / 1_000 + 300 + record::SLACK_MS));
}

#[test]
fn a_denial_under_a_slower_rate_keeps_the_record_for_longer() {
    let mut key = None;
    bucket(1_000, 10).request_at(&mut key, NOW, cost(10)).unwrap();
    assert_eq!(key.as_ref().unwrap().expires_at, Some(T0 / 1_000 + 1_000 + record::SLACK_MS));
    let slow = bucket(60_000, 10);
    assert_eq!(slow.request_at(&mut key, NOW, Cost::ONE).unwrap().figures.retry_after_ms, 6_000);
    assert_eq!(key.as_ref().unwrap().expires_at, Some(T0 / 1_000 + 60_000 + record::SLACK_MS));
    assert!(!slow.allows(&key, Micros(T0 + 5_999_999), 1) && slow.allows(&key, Micros(T0 + 6_000_000), 1));
    // A charge at the faster rate needs it for less, and keeps the expiry of the slower one.
    let now = Micros(T0 + 500_000);
    assert!(bucket(1_000, 10).request_at(&mut key, now, Cost::ONE).unwrap().verdict.allowed);
    assert_eq!(key.unwrap().expires_at, Some(T0 / 1_000 + 60_000 + record::SLACK_MS));
}

#[test]
fn a_limit_of_0_denies_everything_forever() {
    let none = TokenBucket::new(&burst(policy(1_500, 0), 3)).unwrap();
    for state in [None, level([2, 0, 60_000, T0, 0])] {
        let decision = none.decide(state, Micros(T0 + 999 * SECOND), Cost::ONE);
        assert_eq!((decision.verdict.allowed, decision.verdict.ttl, decision.change), (false, -1, Change::Keep));
        let figures = Figures::new(&none.forecast(state, NOW), &decision, NOW);
        let never = Figures { limit: 3, remaining: 0, retry_after_ms: -1, next_ms: -1, reset_ms: -1, delay_ms: 0 };
        assert_eq!(figures, never);
    }
}

#[test]
fn what_takes_too_long_to_fill_is_an_error() {
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
fn records_that_no_decision_writes_are_refused() {
    let sound = [3, 999, 1, T0, 0];
    assert!(TokenBucket::from_words(&sound).is_some());
    let odd = [
        (0, MAX_COUNT),
        (0, MAX_COUNT + 1),
        (1, 1_000),
        (2, 0),
        (2, MAX_SPAN / 1_000 + 1),
        (3, 1 << 63),
        (4, MAX_COUNT + 1),
    ];
    for (word, odd) in odd {
        let mut words = sound;
        words[word] = odd;
        assert_eq!(TokenBucket::from_words(&words), None, "{words:?}");
    }
    assert!(TokenBucket::from_words(&[MAX_COUNT, 0, MAX_SPAN / 1_000, T0, MAX_COUNT]).is_some());
}

/// How many of `calls` requests are allowed, one each `step` microseconds.
pub fn allowed_of<A: RecordAlgorithm>(policy: &Policy, calls: u64, step: u64) -> u64 {
    let (algorithm, mut state) = (A::new(policy).unwrap(), None);
    let call = |n: u64| {
        let decision = algorithm.decide(state, Micros(T0 + n * step), Cost::ONE);
        state = decision.change.apply_to(state);
        decision.verdict.allowed
    };
    (0..calls).map(call).filter(|&allowed| allowed).count() as u64
}

#[test]
fn no_drift_over_a_million_calls() {
    // The last request is 337 × 999,999 µs after the first: 336.999663 s.
    let policy = burst(policy(1_000, 100), 7);
    assert_eq!(allowed_of::<TokenBucket>(&policy, 1_000_000, 337), 7 + 33_699);
}

#[test]
fn no_drift_at_a_rate_that_no_unit_of_time_divides() {
    // 3 each 7 s, a request each 9,973 µs: 99,999 × 9,973 µs × 3 / 7 s = 427.4
    let policy = burst(policy(7_000, 3), 5);
    assert_eq!(allowed_of::<TokenBucket>(&policy, 100_000, 9_973), 5 + 427);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// The tokens in the bucket, in parts of 1/window of a token, filled before each request.
    #[test]
    fn never_over_the_limit_and_no_denial_of_what_fits(trace in steady()) {
        let policy = trace.policies[0];
        let [window, limit, capacity] =
            [policy.window().micros(), policy.limit, policy.capacity()].map(i128::from);
        let (algorithm, mut key) = (TokenBucket::new(&policy).unwrap(), None);
        let (mut tokens, mut filled) = (capacity * window, trace.start.0);
        for (_, now, cost) in trace.requests() {
            tokens = (tokens + i128::from(now.0 - filled) * limit).min(capacity * window);
            filled = now.0;
            let (count, units) = (capacity - tokens / window, i128::from(cost.units()));
            let needed = i128::from(cost.needed()) * window;
            let allowed = limit > 0 && tokens >= needed;
            tokens -= if allowed { units * window } else { 0 };

            let reply = algorithm.request_at(&mut key, now, cost).unwrap();
            prop_assert_eq!((reply.verdict.allowed, i128::from(reply.verdict.count)), (allowed, count));
            if limit > 0 {
                prop_assert_eq!(i128::from(reply.figures.remaining), tokens / window);
            }
            // All of them if the request is allowed, else those that it lacks.
            let missing = if allowed { capacity * window - tokens } else { needed - tokens };
            let ttl = match limit {
                1.. if allowed || needed <= capacity * window => missing.cast_unsigned().div_ceil((limit * 1_000_000).cast_unsigned()).cast_signed(),
                _ => -1,
            };
            prop_assert_eq!(i128::from(reply.verdict.ttl), ttl);
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
