//! ALWAYS: a request that is charged whatever the limit says.

use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;

use super::super::fixed_window::Counter;
use super::super::*;
use super::{Call, T0, TestAlgorithm, Trace, changing, cost, policy};
use crate::in_memory::Always;

const NOW: Micros = Micros(T0);
const MINUTE: u64 = 60_000;

/// Against 5 a minute: what is counted before, the cost; whether it is allowed, what is counted then.
const CASES: [(u64, u64, bool, u64); 9] = [
    (0, 0, true, 0),
    (0, 5, true, 5),
    (0, 6, false, 6),
    (4, 1, true, 5),
    (4, 2, false, 6),
    (5, 0, true, 5),
    (5, 1, false, 6),
    (6, 0, false, 6),
    (6, 3, false, 9),
];

fn charges_and_then_compares<A: Always>() {
    let algorithm = A::with_policy(&policy(MINUTE, 5)).unwrap();
    for (before, units, allowed, after) in CASES {
        let mut key = A::Key::default();
        algorithm.overcharge(&mut key, NOW, None, cost(before)).unwrap();
        let reply = algorithm.request_always(&mut key, NOW, cost(units)).unwrap();
        assert_eq!(reply.verdict.allowed, allowed, "{before} {units}");
        assert_eq!(reply.figures.remaining, 5u64.saturating_sub(after), "{before} {units}");
        // What is counted can be given back, but for one unit of room.
        if after >= 5 {
            algorithm.refund(&mut key, NOW, None, cost(after - 4));
            assert_eq!(algorithm.remaining(&key, NOW), 1, "{before} {units}");
        }
    }
    // Under a limit of 0 everything is denied.
    let nothing = A::with_policy(&Policy { burst: Some(3), ..policy(MINUTE, 0) }).unwrap();
    for units in [0, 1] {
        let reply = nothing.request_always(&mut A::Key::default(), NOW, cost(units)).unwrap();
        assert_eq!((reply.verdict.allowed, reply.figures.retry_after_ms), (false, -1), "{units}");
    }
    // Beyond the largest integer nothing changes.
    let mut key = A::Key::default();
    algorithm.overcharge(&mut key, NOW, None, cost(MAX_COUNT - 5)).unwrap();
    let before = format!("{key:?}");
    assert_eq!(algorithm.request_always(&mut key, NOW, cost(6)).unwrap_err(), Unrepresentable::Overflow);
    assert_eq!(format!("{key:?}"), before);
}

#[test]
fn charges_the_cost_and_then_compares_with_the_limit() {
    // FIXED refunds from the limit, so what is above it is checked below.
    charges_and_then_compares::<WindowCounter>();
    charges_and_then_compares::<SlidingCounter>();
    charges_and_then_compares::<RollingLog>();
    charges_and_then_compares::<TokenBucket>();
}

#[test]
fn the_fixed_window_replies_its_counter_and_the_ttl_of_the_script() {
    let fixed = FixedWindow::new(&policy(MINUTE, 5));
    let expires_at = Some(T0 / 1_000 + 9_000);
    for (before, units, allowed, after) in CASES {
        let state = (before > 0).then_some(Counter { value: before as i64, expires_at });
        let decision = fixed.decide_always(state, NOW, cost(units)).unwrap();
        let ttl = if before > 0 {
            9
        } else if units > 0 {
            60
        } else {
            -2
        };
        assert_eq!(decision.verdict, Verdict { allowed, count: after as i64, ttl }, "{before} {units}");
        let value = decision.change.apply_to(state).map_or(0, |counter| counter.value);
        assert_eq!(value, after as i64);
    }
    let none = FixedWindow::new(&policy(MINUTE, 0)).decide_always(None, NOW, Cost::ZERO).unwrap();
    assert_eq!((none.verdict.allowed, none.change), (false, Change::Keep));
}

/// Wherever a request without ALWAYS is allowed, one with ALWAYS is decided and charged in the same way. Elsewhere the
/// cost is charged too. The wait of a denial is exact for the same request.
fn agrees_with_requests_and_overcharges<A: TestAlgorithm + Always>(trace: &Trace) -> TestCaseResult
where
    A::Key: PartialEq,
{
    let mut key = A::Key::default();
    for Call { policy, now, cost, refund } in trace.calls() {
        let Some(algorithm) = A::build(&policy) else { continue };
        A::expire(&mut key, now);
        let (mut plain, mut charged) = (key.clone(), key.clone());
        let request = algorithm.request_at(&mut plain, now, cost);
        let settled = algorithm.overcharge(&mut charged, now, None, cost);
        let Ok(reply) = algorithm.request_always(&mut key, now, cost) else {
            prop_assert!(settled.is_err());
            continue;
        };
        prop_assert!(settled.is_ok());
        if let Some(request) = request.filter(|request| request.verdict.allowed) {
            prop_assert_eq!((reply.verdict, reply.figures), (request.verdict, request.figures));
            prop_assert_eq!(&key, &plain);
        } else if cost.units() > 0 {
            prop_assert!(!reply.verdict.allowed);
            prop_assert_eq!(&key, &charged);
        }
        prop_assert!(!reply.verdict.allowed || policy.limit > 0);
        prop_assert_eq!(reply.verdict.allowed, reply.figures.retry_after_ms == 0);
        if reply.figures.retry_after_ms > 0 && algorithm.settled(&key, now) {
            let allowed = |millis: i64| {
                let (mut key, at) = (key.clone(), now.plus(millis.cast_unsigned() * 1_000));
                A::expire(&mut key, at);
                algorithm.request_always(&mut key, at, cost).is_ok_and(|reply| reply.verdict.allowed)
            };
            let wait = reply.figures.retry_after_ms;
            prop_assert!(allowed(wait) && !allowed(wait - 1), "{} {:?}", wait, key);
        }
        algorithm.refund(&mut key, now, None, refund);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn of_a_fixed_window(trace in changing()) {
        agrees_with_requests_and_overcharges::<FixedWindow>(&trace)?;
    }

    #[test]
    fn of_a_window_counter(trace in changing()) {
        agrees_with_requests_and_overcharges::<WindowCounter>(&trace)?;
    }

    #[test]
    fn of_a_sliding_counter(trace in changing()) {
        agrees_with_requests_and_overcharges::<SlidingCounter>(&trace)?;
    }

    #[test]
    fn of_a_rolling_log(trace in changing()) {
        agrees_with_requests_and_overcharges::<RollingLog>(&trace)?;
    }

    #[test]
    fn of_a_token_bucket(trace in changing()) {
        agrees_with_requests_and_overcharges::<TokenBucket>(&trace)?;
    }
}
