//! Random traffic: policies of every size, a clock that goes forward and back, and costs near what just fits.

use proptest::prelude::*;

use super::super::*;
use super::{SECOND, T0, cost, policy};

/// A request, and what is refunded after it. The step of the clock and the cost are relative to the policy of the
/// request, so that both are often near a boundary of that policy.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    clock: Clock,
    units: Units,
    refund: u64,
    /// The number of the policy, modulo the number of policies of the trace.
    policy: usize,
}

#[derive(Clone, Copy, Debug)]
enum Clock {
    /// Microseconds.
    Forward(u64),
    /// Thousandths of an emission interval.
    Intervals(u64),
    /// Thousandths of a window.
    Windows(u64),
    /// Thousandths of a window, backward.
    Back(u64),
}

#[derive(Clone, Copy, Debug)]
enum Units {
    Exactly(u64),
    /// Thousandths of the capacity; at least one unit.
    Share(u64),
    /// More than the capacity.
    TooMany,
}

impl Step {
    fn clock(&self, now: Micros, policy: &Policy) -> Micros {
        let (window, limit) = (u128::from(policy.window().micros()), u128::from(policy.limit.max(1)));
        let micros = |n: u128| u64::try_from(n).unwrap();
        match self.clock {
            Clock::Forward(micros) => now.plus(micros),
            Clock::Intervals(n) => now.plus(micros(window * u128::from(n) / limit / 1_000)),
            Clock::Windows(n) => now.plus(micros(window * u128::from(n) / 1_000)),
            Clock::Back(n) => Micros(now.0.saturating_sub(micros(window * u128::from(n) / 1_000)).max(T0 / 2)),
        }
        // The state of GCRA cannot represent later times under every policy.
        .min(Micros(3 * T0))
    }

    pub fn cost(&self, policy: &Policy) -> Cost {
        let units = match self.units {
            Units::Exactly(units) => units,
            Units::Share(n) => u64::try_from(u128::from(policy.capacity()) * u128::from(n) / 1_000).unwrap().max(1),
            Units::TooMany => policy.capacity().saturating_add(1),
        };
        cost(units.min(MAX_COUNT))
    }
}

/// A request under a policy, and what is refunded after it.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    pub policy: Policy,
    pub now: Micros,
    pub cost: Cost,
    pub refund: Cost,
}

#[derive(Clone, Debug)]
pub struct Trace {
    pub policies: Vec<Policy>,
    pub start: Micros,
    pub steps: Vec<Step>,
}

impl Trace {
    pub fn calls(&self) -> impl Iterator<Item = Call> {
        let mut now = self.start;
        self.steps.iter().map(move |step| {
            let policy = self.policies[step.policy % self.policies.len()];
            now = step.clock(now, &policy);
            Call { policy, now, cost: step.cost(&policy), refund: cost(step.refund) }
        })
    }

    /// Every step as a request without a refund: the policy, the time and the cost.
    pub fn requests(&self) -> impl Iterator<Item = (Policy, Micros, Cost)> {
        self.calls().map(|call| (call.policy, call.now, call.cost))
    }
}

/// Small policies: their boundaries are met often.
pub fn small_policy() -> impl Strategy<Value = Policy> {
    let window = prop_oneof![1..20u64, Just(1_000), Just(1_001), Just(60_000)];
    let limit = prop_oneof![1 => Just(0), 20 => 1..13u64];
    let lock = || proptest::option::of((1..100u64).prop_map(|millis| Window::from_millis(millis).unwrap()));
    (window, limit, proptest::option::of(1..16u64), lock(), lock())
        .prop_map(|(window, limit, burst, block, max)| Policy { burst, block, max, ..policy(window, limit) })
}

/// 0 to 2⁶³ − 1, each order of magnitude as likely as the others; often the largest.
pub fn magnitude() -> impl Strategy<Value = u64> {
    prop_oneof![9 => (any::<u64>(), 1..64u32).prop_map(|(n, shift)| n >> shift), 1 => Just(MAX_COUNT)]
}

/// Policies of every size, up to the largest.
pub fn any_policy() -> impl Strategy<Value = Policy> {
    let largest = MAX_SPAN / 1_000;
    let window = magnitude().prop_map(move |n| n.clamp(1, largest));
    let lock =
        || proptest::option::of(magnitude().prop_map(move |n| Window::from_millis(n.clamp(1, largest)).unwrap()));
    (window, magnitude(), proptest::option::of(magnitude()), lock(), lock()).prop_map(
        |(window, limit, burst, block, max)| Policy {
            burst: burst.map(|burst| burst.max(1)),
            block,
            max,
            ..policy(window, limit)
        },
    )
}

fn steps(back: u32) -> impl Strategy<Value = Vec<Step>> {
    let clock = prop_oneof![
        4 => Just(Clock::Forward(0)),
        2 => (0..3_000u64).prop_map(Clock::Forward),
        5 => (0..3_000u64).prop_map(Clock::Intervals),
        3 => (0..2_500u64).prop_map(Clock::Windows),
        back => (0..3_000u64).prop_map(Clock::Back),
    ];
    let units = prop_oneof![
        5 => Just(Units::Exactly(1)),
        3 => (0..4u64).prop_map(Units::Exactly),
        3 => (0..=1_000u64).prop_map(Units::Share),
        1 => Just(Units::TooMany),
    ];
    let refund = prop_oneof![12 => Just(0), 2 => 1..4u64, 1 => magnitude()];
    let step = (clock, units, refund, 0..8usize).prop_map(|(clock, units, refund, policy)| Step {
        clock,
        units,
        refund,
        policy,
    });
    proptest::collection::vec(step, 1..40)
}

fn trace(policies: impl Strategy<Value = Vec<Policy>>, back: u32) -> impl Strategy<Value = Trace> {
    let start = (0..120 * SECOND).prop_map(|n| Micros(T0 + n));
    (policies, start, steps(back)).prop_map(|(policies, start, steps)| Trace { policies, start, steps })
}

/// One small policy, and a clock that only goes forward: the traffic of the oracles.
pub fn steady() -> impl Strategy<Value = Trace> {
    trace(proptest::collection::vec(small_policy(), 1), 0)
}

/// One policy, and a clock that goes forward and back.
pub fn constant() -> impl Strategy<Value = Trace> {
    let policy = prop_oneof![3 => small_policy(), 1 => any_policy()];
    trace(proptest::collection::vec(policy, 1), 3)
}

/// Policies that change from call to call, and a clock that goes forward and, half of the time, back.
pub fn changing() -> impl Strategy<Value = Trace> {
    let policies = || {
        prop_oneof![
            3 => proptest::collection::vec(small_policy(), 1..4),
            2 => proptest::collection::vec(any_policy(), 1..3),
        ]
    };
    prop_oneof![trace(policies(), 0), trace(policies(), 3)]
}
