//! TOKEN, LEAKY and GCRA: the delays of the queue, the replies of redis-cell, and what 64 bits cannot represent.

use proptest::prelude::*;

use super::*;
use crate::integer::{div_ceil, div_rem, to_i64};

const NOW: Micros = Micros(T0);
/// In nanoseconds, as the state of GCRA is.
const NOW_NS: u64 = T0 * 1_000;

#[test]
fn what_takes_too_long_to_fill_is_an_error() {
    let largest = MAX_SPAN / 1_000;
    let build = |window, limit, n| TokenBucket::new(&burst(policy(window, limit), n)).err();
    assert_eq!([build(largest, 1, 1), build(largest, 1, 2)], [None, Some(Unrepresentable::Span)]);
    assert_eq!([build(1, 1, largest), build(1, 1, largest + 1)], [None, Some(Unrepresentable::Span)]);
    assert_eq!([build(largest, MAX_COUNT, MAX_COUNT), build(largest, 0, MAX_COUNT)], [None, None]);
    let build = |window, limit, n| Gcra::new(&burst(policy(window, limit), n)).err();
    assert_eq!([build(1, 1_000_000, 1), build(1, 1_000_001, 1)], [None, Some(Unrepresentable::Span)]);
    assert_eq!([build(4_000_000_000_000, 1, 1), build(4_000_000_000_000, 1, 2)], [None, Some(Unrepresentable::Span)]);
}

/// 2⁶² units at one a day take longer than any time; 2⁴⁰ at a million a second do not.
#[test]
fn a_wait_beyond_all_times_is_never() {
    let wait = |policy: Policy, units| {
        let (bucket, mut key) = (TokenBucket::new(&policy).unwrap(), None);
        bucket.overcharge(&mut key, NOW, None, cost(units)).unwrap();
        let reply = bucket.request(&mut key, NOW, Cost::ONE).unwrap();
        (reply.verdict.ttl, reply.figures.retry_after_ms, reply.figures.reset_ms)
    };
    assert_eq!(wait(policy(86_400_000, 1), 1 << 62), (-1, -1, -1));
    assert_eq!(wait(policy(1_000, 1_000_000), 1 << 40), (1_099_511, 1_099_510_628, 1_099_511_628));
}

/// The amount above a capacity that a later call names is forgiven, and debt is not.
#[test]
fn a_smaller_capacity_forgives_what_is_above_it_but_no_debt() {
    let bucket = |capacity| TokenBucket::new(&burst(policy(60_000, 60), capacity)).unwrap();
    let (large, small) = (bucket(100), bucket(10));
    let wait = |bucket: &TokenBucket, units| {
        let mut key = None;
        large.overcharge(&mut key, NOW, None, cost(units)).unwrap();
        bucket.request(&mut key, NOW, Cost::ONE).unwrap().figures.retry_after_ms
    };
    // One a second. 100 used count as 10; 100 used and 30 of debt count as 10 and 30.
    assert_eq!([wait(&large, 100), wait(&small, 100)], [1_000, 1_000]);
    assert_eq!([wait(&large, 130), wait(&small, 130)], [31_000, 31_000]);
}

#[test]
fn records_that_no_decision_writes_are_errors() {
    let token = [3, 999, 1, T0, 0];
    let largest_window = MAX_SPAN / 1_000;
    for (word, odd) in [
        (0, MAX_COUNT),
        (0, MAX_COUNT + 1),
        (1, 1_000),
        (2, 0),
        (2, largest_window + 1),
        (3, 1 << 63),
        (4, MAX_COUNT + 1),
    ] {
        let mut words = token;
        words[word] = odd;
        assert_eq!(TokenBucket::from_words(&words), None, "{words:?}");
    }
    assert!(TokenBucket::from_words(&[MAX_COUNT, 0, largest_window, T0, MAX_COUNT]).is_some());
    let counter = [60_000, 28_333_333, 1, 2];
    for (word, odd) in [
        (0, 0),
        (0, largest_window + 1),
        (1, 0),
        (1, (1 << 63) / (60 * SECOND) + 1),
        (2, MAX_COUNT + 1),
        (3, MAX_COUNT + 1),
    ] {
        let mut words = counter;
        words[word] = odd;
        assert_eq!(SlidingCounter::from_words(&words), None, "{words:?}");
    }
    assert!(SlidingCounter::from_words(&counter).is_some());
}

#[test]
fn a_sequence_of_redis_cell() {
    // CL.THROTTLE key 15 30 60
    let (algorithm, mut tat) = (Gcra::throttle(15, 30, 60).unwrap(), None);
    let mut request = |now, quantity| {
        let decision = algorithm.decide(tat, now, cost(quantity)).unwrap();
        tat = decision.change.apply_to(tat);
        algorithm.throttled(tat, now, quantity, decision.verdict.allowed)
    };
    assert_eq!(request(NOW, 1), [0, 16, 15, -1, 2]);
    for n in 2..=16 {
        assert_eq!(request(NOW, 1), [0, 16, 16 - n, -1, 2 * n]);
    }
    assert_eq!(request(NOW, 1), [1, 16, 0, 2, 32]);
    assert_eq!(request(Micros(T0 + 1_000), 1), [1, 16, 0, 2, 32], "a remainder of a millisecond or more is a second");
    assert_eq!(request(Micros(T0 + SECOND), 1), [1, 16, 0, 1, 31]);
    assert_eq!(request(Micros(T0 + SECOND), 17), [1, 16, 0, -1, 31], "never");
    assert_eq!(request(Micros(T0 + SECOND), 0), [0, 16, 0, -1, 31], "a quantity of 0 is never limited");
    assert_eq!(request(Micros(T0 + 99 * SECOND), 16), [0, 16, 0, -1, 32]);
    let reset = |ahead| Gcra::throttle(0, 1, 60).unwrap().throttled(Some(NOW_NS + ahead), NOW, 0, true)[4];
    assert_eq!([reset(5_000_999_999), reset(5_001_000_000), reset(5_000_000_000)], [5, 6, 5]);
    // A key of redis-cell, which rounds the interval down.
    let (algorithm, tat) = (Gcra::throttle(2, 7, 10).unwrap(), NOW_NS + 2 * 1_428_571_428);
    let change = algorithm.decide(Some(tat), NOW, Cost::ONE).unwrap().change;
    assert_eq!(change, Change::Charge(tat + 1_428_571_429));
}

#[test]
fn rates_of_zero_and_rates_that_overflow_are_errors() {
    let largest = 4_000_000_000;
    assert!(Gcra::throttle(0, 1, largest).is_ok() && Gcra::throttle(1, 1_000_000_000, 1).is_ok());
    for (max_burst, count, period) in [
        (1, 0, 60),
        (1, 30, 0),
        (0, 1, largest + 1),
        (1, 1, largest),
        (u64::MAX, 1, 1),
        (1, 1_000_000_001, 1),
        (1, 1, u64::MAX),
    ] {
        assert_eq!(Gcra::throttle(max_burst, count, period).err(), Some(Unrepresentable::Span));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Each request starts when the one before it is done, and takes window/limit for each unit. Times are in parts of
    /// 1/limit of a microsecond. The verdicts are those of a token bucket.
    #[test]
    fn delays_are_those_of_a_queue(trace in steady()) {
        let policy = trace.policies[0];
        let [window, limit] = [policy.window().micros(), policy.limit].map(u128::from);
        let (leaky, token) = (LeakyBucket::new(&policy).unwrap(), TokenBucket::new(&policy).unwrap());
        let (mut state, mut free) = (None, 0);
        for (_, now, cost) in trace.requests() {
            let decision = leaky.decide(state, now, cost).unwrap();
            prop_assert_eq!(decision.verdict, token.decide(state, now, cost).unwrap().verdict);
            state = decision.change.apply_to(state);
            let arrives = u128::from(now.0) * limit;
            let starts = arrives.max(free);
            let delay = if decision.verdict.allowed { (starts - arrives).div_ceil(limit) } else { 0 };
            prop_assert_eq!(u128::from(decision.delay), delay);
            if decision.verdict.allowed {
                free = starts + u128::from(cost.units()) * window;
            }
        }
    }

    /// The reply of redis-cell and the other replies describe one decision.
    #[test]
    fn the_reply_of_redis_cell_agrees_with_the_figures(trace in steady()) {
        let (algorithm, mut state) = (Gcra::new(&trace.policies[0]).unwrap(), None);
        for (policy, now, cost) in trace.requests() {
            let decision = algorithm.decide(state, now, cost).unwrap();
            state = decision.change.apply_to(state);
            let allowed = decision.verdict.allowed;
            let [limited, _, remaining, retry_after, _] = algorithm.throttled(state, now, cost.needed(), allowed);
            prop_assert_eq!(limited, i64::from(!allowed));
            if policy.limit > 0 {
                let figures = Figures::new(&algorithm.forecast(state, &Change::Keep, now), &decision, now);
                prop_assert_eq!(remaining, to_i64(figures.remaining));
                prop_assert_eq!(retry_after == -1, figures.retry_after_ms <= 0);
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
