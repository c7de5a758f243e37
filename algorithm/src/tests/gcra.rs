//! Sequences of redis-cell, and units that come back one by one as the oracle.

use proptest::prelude::*;

use super::super::arithmetic::to_i64;
use super::super::gcra::Throttled;
use super::super::*;
use super::token_bucket::allowed_of;
use super::{SECOND, T0, TestAlgorithm, burst, cost, policy, state_of, steady, stored};

const NOW: Micros = Micros(T0);

/// In nanoseconds, as the state is.
const NOW_NS: u64 = T0 * 1_000;

/// CL.THROTTLE with this quantity.
fn throttle(algorithm: &Gcra, tat: Option<u64>, now: Micros, quantity: u64) -> (Throttled, Change<u64>) {
    let decision = algorithm.decide(tat, now, cost(quantity));
    let after = decision.change.apply_to(tat);
    (algorithm.throttled(after, now, quantity, decision.verdict.allowed), decision.change)
}

#[test]
fn a_sequence_of_redis_cell() {
    // CL.THROTTLE key 15 30 60
    let (algorithm, mut tat) = (Gcra::throttle(15, 30, 60).unwrap(), None);
    let mut request = |now, quantity| {
        let (throttled, change) = throttle(&algorithm, tat, now, quantity);
        tat = change.apply_to(tat);
        throttled.to_array()
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
    assert_eq!(request(Micros(T0 + 2 * SECOND), 1), [0, 16, 0, -1, 32]);
    assert_eq!(request(Micros(T0 + 99 * SECOND), 0), [0, 16, 16, -1, 0]);
    assert_eq!(request(Micros(T0 + 99 * SECOND), 16), [0, 16, 0, -1, 32]);
}

#[test]
fn redis_cell_drops_a_remainder_below_a_millisecond() {
    let algorithm = Gcra::throttle(0, 1, 60).unwrap();
    let reply = |ahead| throttle(&algorithm, Some(NOW_NS + ahead), NOW, 0).0.reset_after;
    assert_eq!((reply(5_000_999_999), reply(5_001_000_000), reply(5_000_000_000)), (5, 6, 5));
}

#[test]
fn continues_a_key_of_redis_cell() {
    // As redis-cell writes it: nanoseconds, with the interval rounded down.
    let algorithm = Gcra::throttle(2, 7, 10).unwrap();
    let tat = Gcra::from_words(&[NOW_NS + 2 * 1_428_571_428]);
    let (reply, change) = throttle(&algorithm, tat, NOW, 1);
    assert_eq!(reply.to_array(), [0, 3, 0, -1, 5]);
    assert_eq!(change, Change::Charge(NOW_NS + 2 * 1_428_571_428 + 1_428_571_429));
    // Neither a quantity of 0 nor a denied request charges anything.
    assert_eq!(throttle(&algorithm, None, NOW, 0).1, Change::Keep);
    assert_eq!(throttle(&algorithm, tat, NOW, 3).1, Change::Keep);
}

#[test]
fn rates_of_zero_and_rates_that_overflow_are_errors() {
    let largest = 4_000_000_000;
    assert!(Gcra::throttle(0, 1, largest).is_ok());
    for (max_burst, count, period) in [
        (1, 0, 60),
        (1, 30, 0),
        (0, 0, 0),
        (0, 1, largest + 1),
        (1, 1, largest),
        (MAX_COUNT, 1, 1),
        (u64::MAX, 1, 1),
        (1, 1_000_000_001, 1),
        (1, u64::MAX, 1),
        (1, 1, u64::MAX),
    ] {
        assert_eq!(Gcra::throttle(max_burst, count, period).err(), Some(Unrepresentable::Span));
    }
    assert!(Gcra::throttle(1, 1_000_000_000, 1).is_ok());
}

#[test]
fn exactly_the_burst_is_allowed_at_once_if_the_interval_is_rounded() {
    let (algorithm, mut key) = (Gcra::new(&policy(1_000, 7)).unwrap(), None);
    for n in 0..7 {
        let reply = algorithm.request_at(&mut key, NOW, Cost::ONE).unwrap();
        assert_eq!(reply.verdict, Verdict { allowed: true, count: n, ttl: if n < 6 { 1 } else { 2 } });
    }
    assert_eq!(state_of::<Gcra>(&key), Some(NOW_NS + 7 * 142_857_143));
    let denied = algorithm.request_at(&mut key, NOW, Cost::ONE).unwrap();
    assert_eq!((denied.verdict.allowed, denied.verdict.count, denied.figures.retry_after_ms), (false, 7, 143));
}

#[test]
fn further_ahead_than_the_burst_is_full() {
    let algorithm = Gcra::new(&burst(policy(1_000, 10), 5)).unwrap();
    let mut key = stored::<Gcra>(NOW_NS + 3_600_000_000_000);
    let denied = algorithm.request_at(&mut key, NOW, Cost::ONE).unwrap();
    assert_eq!((denied.verdict.allowed, denied.rebased, denied.figures.reset_ms), (false, true, 500));
    assert_eq!(state_of::<Gcra>(&key), Some(NOW_NS + 500_000_000));
    assert!(!algorithm.request_at(&mut key, NOW, Cost::ONE).unwrap().rebased);
}

#[test]
fn a_refund_gives_back_no_more_than_was_charged() {
    let algorithm = Gcra::new(&policy(1_000, 10)).unwrap();
    let refund = |ahead, units| algorithm.refund(Some(NOW_NS + ahead), NOW, None, cost(units)).map(|tat| tat - NOW_NS);
    assert_eq!(refund(300_000_000, 1), Change::Refund(200_000_000));
    assert_eq!((refund(300_000_000, 3), refund(300_000_000, MAX_COUNT)), (Change::Delete, Change::Delete));
    assert_eq!((refund(300_000_000, 0), refund(0, 1)), (Change::Keep, Change::Keep));
    assert_eq!(refund(5_000_000_000, 1), Change::Refund(900_000_000));
    assert_eq!(algorithm.refund(Some(NOW_NS - 1), NOW, None, Cost::ONE), Change::Keep);
}

#[test]
fn a_limit_of_0_denies_everything_forever() {
    let none = Gcra::new(&burst(policy(1_500, 0), 3)).unwrap();
    for state in [None, Some(NOW_NS + 5), Some(u64::MAX)] {
        let decision = none.decide(state, NOW, Cost::ONE);
        assert_eq!((decision.verdict.allowed, decision.verdict.ttl, decision.change), (false, -1, Change::Keep));
        let figures = Figures::new(&none.forecast(state, NOW), &decision, NOW);
        let never = Figures { limit: 3, remaining: 0, retry_after_ms: -1, next_ms: -1, reset_ms: -1, delay_ms: 0 };
        assert_eq!(figures, never);
        assert_eq!(none.refund(state, NOW, None, Cost::ONE), Change::Keep);
    }
}

#[test]
fn what_nanoseconds_cannot_represent_is_an_error() {
    let build = |window, limit, n| Gcra::new(&burst(policy(window, limit), n)).err();
    assert_eq!(build(1, 1_000_000, 1), None);
    assert_eq!(build(1, 1_000_001, 1), Some(Unrepresentable::Span));
    assert_eq!(build(4_000_000_000_000, 1, 1), None);
    assert_eq!(build(4_000_000_000_001, 1, 1), Some(Unrepresentable::Span));
    assert_eq!(build(4_000_000_000_000, 1, 2), Some(Unrepresentable::Span));
    assert_eq!(build(MAX_SPAN / 1_000, MAX_COUNT, MAX_COUNT), Some(Unrepresentable::Span));
    assert_eq!(build(MAX_SPAN / 1_000, MAX_COUNT, 1), None);
}

#[test]
fn no_drift_over_a_million_calls() {
    let policy = burst(policy(1_000, 100), 7);
    assert_eq!(allowed_of::<Gcra>(&policy, 1_000_000, 337), 7 + 33_699);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Each unit comes back an interval after the one before it.
    #[test]
    fn never_over_the_limit_and_no_denial_of_what_fits(trace in steady()) {
        let policy = trace.policies[0];
        let (algorithm, mut key, mut out) = (Gcra::new(&policy).unwrap(), None, Vec::<u64>::new());
        let interval = (policy.window().micros() * 1_000).div_ceil(policy.limit.max(1));
        for (_, now, cost) in trace.requests() {
            let ns = now.0 * 1_000;
            out.retain(|&back| back > ns);
            let count = out.len() as u64;
            let allowed = policy.limit > 0 && count + cost.needed() <= policy.capacity();
            let reply = algorithm.request_at(&mut key, now, cost).unwrap();
            prop_assert_eq!((reply.verdict.allowed, reply.verdict.count), (allowed, count.cast_signed()));
            if allowed {
                for _ in 0..cost.units() {
                    out.push(out.last().map_or(ns, |&last| last.max(ns)) + interval);
                }
            }
            if policy.limit > 0 {
                prop_assert_eq!(reply.figures.remaining, policy.capacity() - out.len() as u64);
            }
            let missing = (count + cost.needed()).saturating_sub(policy.capacity());
            let until = match missing.checked_sub(1) {
                _ if policy.limit == 0 => None,
                None => Some(out.last().copied().unwrap_or(ns)),
                Some(last) => usize::try_from(last).ok().and_then(|last| out.get(last).copied()),
            };
            let ttl = until.map_or(-1, |at| (at - ns).div_ceil(1_000_000_000).cast_signed());
            prop_assert_eq!(reply.verdict.ttl, ttl);
        }
    }

    /// The reply of redis-cell and the other replies describe one decision.
    #[test]
    fn the_reply_of_redis_cell_agrees_with_the_figures(trace in steady()) {
        let policy = trace.policies[0];
        let (algorithm, mut state) = (Gcra::new(&policy).unwrap(), None);
        for (_, now, cost) in trace.requests() {
            let decision = algorithm.decide(state, now, cost);
            state = decision.change.apply_to(state);
            let throttled = algorithm.throttled(state, now, cost.needed(), decision.verdict.allowed);
            prop_assert_eq!(throttled.limited, !decision.verdict.allowed);
            if policy.limit > 0 {
                let figures = Figures::new(&algorithm.forecast(state, now), &decision, now);
                prop_assert_eq!(throttled.remaining, to_i64(figures.remaining));
                prop_assert_eq!(throttled.retry_after == -1, figures.retry_after_ms <= 0);
            }
        }
    }
}
