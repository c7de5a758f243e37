//! Made-up traffic: policies of every size, a clock that goes where it wants, and costs around what just fits.

use proptest::prelude::*;

use super::super::*;
use super::{SECOND, T0, cost, policy};

/// How the clock moves and what is asked, in terms of the policy it will be asked with, so that both land around what
/// matters there.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    clock: Clock,
    units: Units,
    /// Which of the policies of the trace; modulo how many there are.
    pub policy: usize,
}

#[derive(Clone, Copy, Debug)]
enum Clock {
    /// Microseconds.
    On(u64),
    /// Thousandths of an emission interval.
    Intervals(u64),
    /// Thousandths of a window.
    Windows(u64),
    /// Back, thousandths of a window.
    Back(u64),
}

#[derive(Clone, Copy, Debug)]
enum Units {
    Exactly(u64),
    /// Thousandths of the capacity.
    Share(u64),
    /// More than can ever fit.
    TooMany,
}

impl Step {
    pub fn clock(&self, now: Micros, policy: &Policy) -> Micros {
        let (window, limit) = (u128::from(policy.window.micros()), u128::from(policy.limit.max(1)));
        let micros = |n: u128| u64::try_from(n).unwrap();
        match self.clock {
            Clock::On(micros) => now.plus(micros),
            Clock::Intervals(n) => now.plus(micros(window * u128::from(n) / limit / 1_000)),
            Clock::Windows(n) => now.plus(micros(window * u128::from(n) / 1_000)),
            Clock::Back(n) => Micros(now.0.saturating_sub(micros(window * u128::from(n) / 1_000)).max(T0 / 2)),
        }
        // Where a trace would leave the years a clock can show, it stays there.
        .min(Micros(3 * T0))
    }

    pub fn cost(&self, policy: &Policy) -> Cost {
        let units = match self.units {
            Units::Exactly(units) => units,
            Units::Share(n) => u64::try_from(u128::from(policy.capacity()) * u128::from(n) / 1_000).unwrap(),
            Units::TooMany => policy.capacity().saturating_add(1),
        };
        cost(units.clamp(1, MAX_COUNT))
    }
}

#[derive(Clone, Debug)]
pub struct Trace {
    pub policies: Vec<Policy>,
    pub start: Micros,
    pub steps: Vec<Step>,
}

impl Trace {
    /// Every step: the policy, the time and the cost.
    pub fn calls(&self) -> impl Iterator<Item = (&Policy, Micros, Cost)> {
        let mut now = self.start;
        self.steps.iter().map(move |step| {
            let policy = &self.policies[step.policy % self.policies.len()];
            now = step.clock(now, policy);
            (policy, now, step.cost(policy))
        })
    }
}

/// Small policies, where the edges are met often.
pub fn small_policy() -> impl Strategy<Value = Policy> {
    let window = prop_oneof![1..20u64, Just(1_000), Just(1_001), Just(60_000)];
    let limit = prop_oneof![1 => Just(0), 20 => 1..13u64];
    (window, limit, proptest::option::of(1..16u64))
        .prop_map(|(window, limit, burst)| Policy { burst, ..policy(window, limit) })
}

/// From 0 to 2⁶³-1, every order of magnitude as likely as the others, and the last one itself.
pub fn magnitude() -> impl Strategy<Value = u64> {
    prop_oneof![9 => (any::<u64>(), 1..64u32).prop_map(|(n, shift)| n >> shift), 1 => Just(MAX_COUNT)]
}

/// Quotas of every size, the largest included.
pub fn any_policy() -> impl Strategy<Value = Policy> {
    let largest = MAX_SPAN / 1_000;
    let window = magnitude().prop_map(move |n| n.clamp(1, largest));
    (window, magnitude(), proptest::option::of(magnitude()))
        .prop_map(|(window, limit, burst)| Policy { burst: burst.map(|burst| burst.max(1)), ..policy(window, limit) })
}

fn steps(back: u32) -> impl Strategy<Value = Vec<Step>> {
    let clock = prop_oneof![
        4 => Just(Clock::On(0)),
        2 => (0..3_000u64).prop_map(Clock::On),
        5 => (0..3_000u64).prop_map(Clock::Intervals),
        3 => (0..2_500u64).prop_map(Clock::Windows),
        back => (0..3_000u64).prop_map(Clock::Back),
    ];
    let units = prop_oneof![
        5 => Just(Units::Exactly(1)),
        3 => (1..4u64).prop_map(Units::Exactly),
        3 => (0..=1_000u64).prop_map(Units::Share),
        1 => Just(Units::TooMany),
    ];
    let step = (clock, units, 0..8usize).prop_map(|(clock, units, policy)| Step { clock, units, policy });
    proptest::collection::vec(step, 1..40)
}

fn trace(policies: impl Strategy<Value = Vec<Policy>>, back: u32) -> impl Strategy<Value = Trace> {
    let start = (0..120 * SECOND).prop_map(|n| Micros(T0 + n));
    (policies, start, steps(back)).prop_map(|(policies, start, steps)| Trace { policies, start, steps })
}

/// One small policy throughout, and a clock that only goes forward: what the oracles are asked about.
pub fn steady() -> impl Strategy<Value = Trace> {
    trace(proptest::collection::vec(small_policy(), 1), 0)
}

/// Quotas that change from call to call, and a clock that goes back and forth.
pub fn changing() -> impl Strategy<Value = Trace> {
    let policies = prop_oneof![
        3 => proptest::collection::vec(small_policy(), 1..4),
        2 => proptest::collection::vec(any_policy(), 1..3),
    ];
    trace(policies, 3)
}
