//! PARTIAL takes as much of the cost as fits. Any mix of whole and partial requests is compared with an oracle that
//! knows every charge ever made and adds them up.

use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;

use super::super::*;
use crate::in_memory::InMemory;

/// 2023-11-14 22:13:20 UTC.
const START: u64 = 1_700_000_000_000_000;

/// A charge: when, in microseconds, and how many units. The oldest is first.
type Charges = [(u64, u64)];

/// How much is available under a policy at a time, in microseconds, after these charges.
type Oracle = fn(&Policy, &Charges, u64) -> u64;

fn sum(charges: &Charges, counts: impl Fn(u64) -> bool) -> u64 {
    charges.iter().filter(|(at, _)| counts(*at)).map(|(_, units)| units).sum()
}

/// All charges of the aligned window.
fn fixed_window(policy: &Policy, charges: &Charges, now: u64) -> u64 {
    let window = policy.window().micros();
    policy.limit - sum(charges, |at| at / window == now / window)
}

/// All charges of the window that the first of them started.
fn window_counter(policy: &Policy, charges: &Charges, now: u64) -> u64 {
    let (mut end, mut units) = (0, 0);
    for &(at, charged) in charges.iter().chain(&[(now, 0)]) {
        if at / 1_000 >= end {
            (end, units) = (at / 1_000 + policy.window().millis(), 0);
        }
        units += charged;
    }
    policy.limit - units
}

/// All charges of the last `window` milliseconds, this one included.
fn sliding_log(policy: &Policy, charges: &Charges, now: u64) -> u64 {
    let window = policy.window().millis();
    policy.limit - sum(charges, |at| at / 1_000 + window > now / 1_000)
}

/// The charges of the aligned window, and those of the one before in proportion to what is left of this one.
fn sliding_counter(policy: &Policy, charges: &Charges, now: u64) -> u64 {
    let window = policy.window().micros();
    let of_window = |number: u64| u128::from(sum(charges, |at| at / window == number));
    let left = u128::from(window - now % window);
    let window_of_now = now / window;
    let used = of_window(window_of_now) * u128::from(window) + of_window(window_of_now - 1) * left;
    let free = (u128::from(policy.limit) * u128::from(window)).saturating_sub(used);
    u64::try_from(free / u128::from(window)).unwrap()
}

/// A bucket that each charge fills by `full` a unit, and that loses `drain` a microsecond.
fn bucket(capacity: u64, (full, drain): (u128, u128), charges: &Charges, now: u64) -> u64 {
    let (mut level, mut since) = (0, 0);
    for &(at, units) in charges.iter().chain(&[(now, 0)]) {
        level = u128::saturating_sub(level, u128::from(at - since) * drain) + u128::from(units) * full;
        since = at;
    }
    u64::try_from((u128::from(capacity) * full - level) / full).unwrap()
}

fn at_the_rate(policy: &Policy, charges: &Charges, now: u64) -> u64 {
    let rate = (policy.window().micros().into(), policy.limit.into());
    if policy.limit == 0 { 0 } else { bucket(policy.capacity(), rate, charges, now) }
}

/// At a whole number of nanoseconds a unit.
fn at_an_interval(policy: &Policy, charges: &Charges, now: u64) -> u64 {
    let interval = |limit| u128::from(policy.window().micros() * 1_000).div_ceil(limit);
    if policy.limit == 0 { 0 } else { bucket(policy.capacity(), (interval(policy.limit.into()), 1_000), charges, now) }
}

#[derive(Clone, Debug)]
struct Request {
    /// Microseconds since the last one.
    after: u64,
    cost: u64,
    partial: bool,
}

fn requests() -> impl Strategy<Value = Vec<Request>> {
    // Whole milliseconds meet the ends of windows.
    let millis = (0..60_u64).prop_map(|millis| millis * 1_000);
    let after = prop_oneof![Just(0), 0..3_000_u64, millis, 0..3_000_000_u64];
    let cost = prop_oneof![4 => 0..8_u64, 1 => 0..40_u64, 1 => Just(MAX_COUNT)];
    // FIXED counts whole requests that it denies. Two of the largest cost overflow.
    let request = (after, cost, any::<bool>()).prop_map(|(after, cost, partial)| {
        let cost = if partial { cost } else { cost.min(1_000) };
        Request { after, cost, partial }
    });
    prop::collection::vec(request, 1..60)
}

fn policies() -> impl Strategy<Value = Policy> {
    // Up to the window in which a rolling log is exact.
    let window = prop_oneof![1..4_u64, 1..50_u64, 1..4_097_u64].prop_map(|millis| Window::from_millis(millis).unwrap());
    (window, 0..15_u64, prop::option::of(1..25_u64))
        .prop_map(|(window, limit, burst)| Policy { burst, ..Policy::new(window, limit) })
}

/// A partial request takes what the oracle has, up to its cost: no more and no less. A whole request is allowed
/// exactly if the oracle has its cost.
fn takes_what_is_available<A: InMemory>(policy: &Policy, requests: &[Request], oracle: Oracle) -> TestCaseResult {
    let algorithm = A::with_policy(policy).unwrap();
    let mut key = A::Key::default();
    let mut charges = Vec::new();
    let mut now = Micros(START);
    for &Request { after, cost, partial } in requests {
        now = now.plus(after);
        A::expire(&mut key, now);
        let available = oracle(policy, &charges, now.0);
        let allows = |units| {
            let reply = algorithm.request(&mut key.clone(), now, Cost::new(units).unwrap());
            reply.unwrap().verdict.allowed
        };
        let amount = if partial {
            // What the command charges.
            let amount = algorithm.remaining(&key, now).min(cost);
            prop_assert_eq!(amount, available.min(cost));
            // A whole request finds the same.
            prop_assert!(amount == 0 || allows(amount), "{} is not allowed", amount);
            prop_assert!(amount == cost || !allows(amount + 1), "{} is allowed", amount + 1);
            amount
        } else {
            cost
        };
        let allowed = algorithm.request(&mut key, now, Cost::new(amount).unwrap()).unwrap().verdict.allowed;
        prop_assert_eq!(allowed, available >= amount.max(1));
        if allowed && amount > 0 {
            charges.push((now.0, amount));
        }
    }
    Ok(())
}

macro_rules! promise {
    ($($name:ident: $algorithm:ty => $oracle:expr;)*) => {
        proptest! {
            $(
                #[test]
                fn $name(policy in policies(), requests in requests()) {
                    takes_what_is_available::<$algorithm>(&policy, &requests, $oracle)?;
                }
            )*
        }
    };
}

promise! {
    of_a_fixed_window: FixedWindow => fixed_window;
    of_a_window_counter: WindowCounter => window_counter;
    of_a_sliding_log: SlidingLog => sliding_log;
    of_a_rolling_log: RollingLog => sliding_log;
    of_a_sliding_counter: SlidingCounter => sliding_counter;
    of_a_token_bucket: TokenBucket => at_the_rate;
    of_a_leaky_bucket: LeakyBucket => at_the_rate;
    of_gcra: Gcra => at_an_interval;
}
