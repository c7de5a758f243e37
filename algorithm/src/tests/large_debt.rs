//! Settlements of every size. A result of up to 2⁶³ − 1 units is counted exactly; one beyond that is an error and
//! changes nothing. The wait that it causes is exact, or −1 where no time can represent it.

use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;

use super::super::*;
use super::{T0, any_policy, cost, magnitude, small_policy};
use crate::in_memory::InMemory;

const NOW: Micros = Micros(T0);

/// Charges amounts one after another in one moment. `wait` is the wait in milliseconds for a cost while some units are
/// counted, `None` for never; `largest` is the largest count that is no error.
fn is_counted_or_an_error<A: InMemory>(
    policy: &Policy,
    amounts: &[u64],
    largest: u64,
    wait: impl Fn(u64, u64) -> Option<u64>,
) -> TestCaseResult
where
    A::Key: PartialEq,
{
    let Ok(algorithm) = A::with_policy(policy) else { return Ok(()) };
    let (mut key, mut total) = (A::Key::default(), 0u64);
    for &amount in amounts {
        let before = key.clone();
        let charged = InMemory::overcharge(&algorithm, &mut key, NOW, None, cost(amount));
        match total.checked_add(amount).filter(|&after| after <= largest) {
            Some(after) => {
                prop_assert_eq!(charged, Ok(()));
                total = after;
            }
            None => {
                prop_assert_eq!(charged, Err(Unrepresentable::Overflow));
                prop_assert_eq!(&key, &before);
            }
        }
        let after = key.clone();
        let request = |units: u64| algorithm.request(&mut after.clone(), NOW, cost(units));
        let look = request(0).unwrap();
        prop_assert_eq!(look.verdict.count.cast_unsigned(), total);
        prop_assert_eq!(look.figures.remaining, look.figures.limit.saturating_sub(total));
        for units in [1, policy.capacity().min(MAX_COUNT)] {
            // FIXED counts what it denies.
            let Ok(reply) = request(units) else { continue };
            if !reply.verdict.allowed {
                let expected = wait(total, units.max(1)).map_or(-1, |ms| ms.cast_signed());
                prop_assert_eq!(reply.figures.retry_after_ms, expected, "{} counted, cost {}", total, units);
            }
        }
    }
    Ok(())
}

/// Milliseconds until the level has sunk far enough, by division as on paper.
fn drains(policy: &Policy, total: u64, units: u64) -> Option<u64> {
    let room = policy.capacity().checked_sub(units)?;
    let excess = u128::from(total.saturating_sub(room)) * u128::from(policy.window().micros());
    let micros = u64::try_from(excess.div_ceil(policy.limit.into())).ok().filter(|&micros| micros < u64::MAX)?;
    T0.checked_add(micros).map(|_| micros.div_ceil(1_000))
}

/// Milliseconds until the count weighs little enough: in the window after this one, or from its end on.
fn loses_weight(policy: &Policy, total: u64, units: u64) -> Option<u64> {
    let window = u128::from(policy.window().micros());
    let room = u128::from(policy.limit.checked_sub(units)?);
    let left = window - u128::from(T0) % window;
    let waited = if u128::from(total) <= room { 0 } else { window - room * window / u128::from(total) + left };
    Some(u64::try_from(waited).unwrap().div_ceil(1_000))
}

fn policies() -> impl Strategy<Value = Policy> {
    prop_oneof![small_policy(), any_policy()].prop_filter("a limit of 0 charges nothing", |policy| policy.limit > 0)
}

fn amounts() -> impl Strategy<Value = Vec<u64>> {
    let near_half = (0..5u64).prop_map(|n| MAX_COUNT / 2 - 2 + n);
    let small = 0..5u64;
    proptest::collection::vec(prop_oneof![4 => magnitude(), 2 => near_half, 2 => small], 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn of_buckets(policy in policies(), amounts in amounts()) {
        let wait = |total, units| drains(&policy, total, units);
        is_counted_or_an_error::<TokenBucket>(&policy, &amounts, MAX_COUNT, wait)?;
        is_counted_or_an_error::<LeakyBucket>(&policy, &amounts, MAX_COUNT, wait)?;
    }

    #[test]
    fn of_the_counter_and_the_logs(policy in policies(), amounts in amounts()) {
        let policy = Policy { burst: None, ..policy };
        let weight = |total, units| loses_weight(&policy, total, units);
        is_counted_or_an_error::<SlidingCounter>(&policy, &amounts, MAX_COUNT, weight)?;
        let leaves = |_, _| Some(policy.window().millis());
        is_counted_or_an_error::<RollingLog>(&policy, &amounts, MAX_COUNT, leaves)?;
        is_counted_or_an_error::<WindowCounter>(&policy, &amounts, MAX_COUNT, leaves)?;
        // At the largest value, the reply to the next request would be an error.
        let ends = |_, _| Some(FixedWindow::new(&policy).period_at(NOW).end.since(NOW).div_ceil(1_000));
        is_counted_or_an_error::<FixedWindow>(&policy, &amounts, MAX_COUNT - 1, ends)?;
    }

    /// The units of both windows of a COUNTER together are at most 2⁶³ − 1, as the reply counts them.
    #[test]
    fn of_two_windows(earlier in magnitude(), amount in magnitude(), share in 0..60_000u64) {
        let policy = super::policy(60_000, 5);
        let counter = SlidingCounter::new(&policy).unwrap();
        let start = T0 - T0 % 60_000_000;
        let state = RecordAlgorithm::overcharge(&counter, None, Micros(start), None, cost(earlier)).unwrap().apply_to(None);
        let now = Micros(start + 60_000_000 + share * 1_000);
        let weighted = (u128::from(earlier) * u128::from(60_000 - share)).div_ceil(60_000);
        for at in [None, Some(Micros(start))] {
            let counts = |amount: u64| match at {
                None => weighted + u128::from(amount),
                Some(_) => (u128::from(earlier) + u128::from(amount)) * u128::from(60_000 - share) / 60_000,
            };
            let charged = RecordAlgorithm::overcharge(&counter, state, now, at, cost(amount));
            let fits = counts(amount) <= MAX_COUNT.into()
                && (at.is_none() || amount.checked_add(earlier).is_some_and(|sum| sum <= MAX_COUNT));
            prop_assert_eq!(charged.is_ok(), fits || amount == 0);
        }
    }
}

/// 2⁶² units at one a day take longer than any time; 2⁴⁰ at a million a second do not.
#[test]
fn a_wait_beyond_all_times_is_never() {
    let wait = |policy: Policy, units| {
        let bucket = TokenBucket::with_policy(&policy).unwrap();
        let mut key = None;
        InMemory::overcharge(&bucket, &mut key, NOW, None, cost(units)).unwrap();
        let reply = bucket.request(&mut key, NOW, Cost::ONE).unwrap();
        (reply.verdict.ttl, reply.figures.retry_after_ms, reply.figures.reset_ms)
    };
    assert_eq!(wait(super::policy(86_400_000, 1), 1 << 62), (-1, -1, -1));
    assert_eq!(wait(super::policy(1_000, 1_000_000), 1 << 40), (1_099_511, 1_099_510_628, 1_099_511_628));
}
