//! What every algorithm promises, checked over all of them: a new one comes to have it by its line at the end.

use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;

use super::super::*;
use super::{Answer, Subject, Trace, any_policy, changing, cost, magnitude, small_policy};

/// `remaining`, `retry_after_ms`, `next_ms` and `reset_ms` come true to the millisecond if nobody else asks, whatever
/// policies came before and wherever the clock went.
fn figures_come_true<A: Subject>(trace: &Trace) -> TestCaseResult {
    let mut key = A::Key::default();
    for (policy, now, cost) in trace.calls() {
        let Some(algorithm) = A::build(policy) else { continue };
        let Some(answer) = algorithm.ask(&mut key, now, cost) else { continue };
        figures_hold(&algorithm, policy, &key, now, cost, &answer)?;
    }
    Ok(())
}

fn figures_hold<A: Subject>(
    algorithm: &A,
    policy: &Policy,
    key: &A::Key,
    now: Micros,
    cost: Cost,
    Answer { verdict, figures, .. }: &Answer,
) -> TestCaseResult {
    let later = |ms: i64| now.plus(ms.cast_unsigned() * 1_000);
    let remaining = figures.remaining;

    prop_assert!(remaining <= figures.limit);
    prop_assert!(remaining == 0 || algorithm.allows(key, now, remaining), "what remains passes");
    prop_assert!(!algorithm.allows(key, now, remaining + 1), "no more than what remains passes");
    prop_assert!(verdict.allowed || A::TTL_OF_SCRIPT || verdict.ttl >= 1, "a denial says when");
    prop_assert!(!verdict.allowed || policy.limit > 0);

    match figures.retry_after_ms {
        0 => prop_assert!(verdict.allowed),
        -1 => {
            prop_assert!(!verdict.allowed);
            prop_assert!(policy.limit == 0 || cost.units() > figures.limit, "only what never fits is told never");
            prop_assert!(!algorithm.allows(key, now.plus(3 * policy.window.micros()), cost.units()));
        }
        ms => prop_assert!(!verdict.allowed && ms > 0),
    }
    if !A::settled(key, now) {
        prop_assert!(verdict.allowed || A::COUNTER_PER_WINDOW, "a denial puts right what is ahead of the clock");
        return Ok(());
    }
    match figures.retry_after_ms {
        -1 | 0 => {}
        ms => {
            prop_assert!(algorithm.allows(key, later(ms), cost.units()), "who waits is allowed");
            prop_assert!(!algorithm.allows(key, later(ms - 1), cost.units()), "a millisecond earlier is too early");
        }
    }

    if remaining == figures.limit {
        prop_assert_eq!((figures.next_ms, figures.reset_ms), (0, 0));
    } else if policy.limit == 0 {
        prop_assert_eq!((figures.next_ms, figures.reset_ms), (-1, -1));
    } else {
        let (next, reset) = (figures.next_ms, figures.reset_ms);
        prop_assert!(0 < next && next <= reset);
        prop_assert!(algorithm.remaining(key, later(next)) > remaining);
        prop_assert!(algorithm.remaining(key, later(next - 1)) == remaining);
        prop_assert!(algorithm.remaining(key, later(reset)) == figures.limit);
        prop_assert!(algorithm.remaining(key, later(reset - 1)) < figures.limit);
    }
    Ok(())
}

/// Whatever is found in a key: no panic, and no more than the capacity passes at once.
fn anything_found_is_survived<A: Subject>(words: [u64; 4], policy: &Policy, trace: &Trace) -> TestCaseResult {
    let (Some(mut key), Some(algorithm)) = (A::found(words), A::build(policy)) else { return Ok(()) };
    let (mut admitted, mut capacity) = (0, 0);
    for step in &trace.steps {
        let cost = step.cost(policy);
        let Some(answer) = algorithm.ask(&mut key, trace.start, cost) else { continue };
        figures_hold(&algorithm, policy, &key, trace.start, cost, &answer)?;
        capacity = answer.figures.limit;
        admitted += if answer.verdict.allowed { u128::from(cost.units()) } else { 0 };
    }
    // A counter below 0 is somebody's DECR, who gave that much more on purpose.
    prop_assert!(A::COUNTER_PER_WINDOW || admitted <= u128::from(capacity));
    let mut key = A::found(words).unwrap_or_default();
    for (policy, now, cost) in trace.calls() {
        A::build(policy).map(|algorithm| algorithm.ask(&mut key, now, cost));
    }
    Ok(())
}

/// A denied request is still denied when the clock steps back, and a denial is never for longer than it would be on
/// a key that was filled just now.
fn clock_stepping_back_neither_opens_nor_locks<A: Subject>(trace: &Trace, back: u64) -> TestCaseResult {
    let mut key = A::Key::default();
    for (policy, now, cost) in trace.calls() {
        let Some(algorithm) = A::build(policy) else { continue };
        let Some(answer) = algorithm.ask(&mut key, now, cost) else { continue };
        if answer.verdict.allowed || policy.limit == 0 {
            continue;
        }
        let mut full = A::Key::default();
        let filling = algorithm.ask(&mut full, now, super::cost(answer.figures.limit)).unwrap();
        prop_assert!(filling.verdict.allowed);
        prop_assert!(answer.figures.reset_ms <= filling.figures.reset_ms);

        let earlier = Micros(now.0 - back);
        if !A::COUNTER_PER_WINDOW {
            prop_assert!(!algorithm.allows(&key, earlier, cost.units()));
            prop_assert!(algorithm.remaining(&key, earlier) <= answer.figures.remaining);
        }
    }
    Ok(())
}

/// A denial that rewrites the state says nothing new: asked again, it is the same answer and nothing more to write.
fn rebasing_is_done_once<A: Subject>(trace: &Trace) -> TestCaseResult {
    let mut key = A::Key::default();
    for (policy, now, cost) in trace.calls() {
        let Some(algorithm) = A::build(policy) else { continue };
        let Some(answer) = algorithm.ask(&mut key, now, cost) else { continue };
        if answer.rebased {
            prop_assert!(!answer.verdict.allowed);
            let again = algorithm.ask(&mut key, now, cost).unwrap();
            prop_assert!(!again.rebased);
            prop_assert_eq!((again.verdict, again.figures), (answer.verdict, answer.figures));
        }
    }
    Ok(())
}

/// Giving back: as if the request had never been, never more than everything, and nothing where nothing was taken.
fn refund_undoes<A: RecordAlgorithm>(trace: &Trace, back: Cost) -> TestCaseResult {
    let mut state = None;
    for (policy, now, cost) in trace.calls() {
        let Ok(algorithm) = A::new(policy) else { continue };
        let before = algorithm.forecast(state, now).remaining();
        let decision = algorithm.decide(state, now, cost);
        state = decision.change.into_state().or(state);
        if decision.verdict.allowed {
            let undone = algorithm.refund(state, now, cost);
            prop_assert_eq!(algorithm.forecast(undone, now).remaining(), before);
        }
        let (remaining, capacity) = {
            let forecast = algorithm.forecast(state, now);
            (forecast.remaining(), forecast.capacity())
        };
        match algorithm.refund(state, now, back) {
            None => prop_assert!(remaining == capacity || policy.limit == 0),
            Some(refunded) => {
                prop_assert_eq!(A::from_words(&A::to_words(&refunded)), Some(refunded));
                let after = algorithm.forecast(Some(refunded), now).remaining();
                let given_back = remaining.saturating_add(back.units()).min(capacity);
                prop_assert!(policy.limit == 0 || (remaining..=given_back).contains(&after));
            }
        }
    }
    prop_assert_eq!(A::new(&trace.policies[0]).ok().and_then(|a| a.refund(None, trace.start, back)), None);
    Ok(())
}

/// From `expires_at` on the state is as good as none, and before that it is not.
fn forgotten_when_nothing_is_left<A: RecordAlgorithm>(trace: &Trace) -> TestCaseResult {
    let mut state = None;
    for (policy, now, cost) in trace.calls() {
        let Ok(algorithm) = A::new(policy) else { continue };
        let decision = algorithm.decide(state, now, cost);
        state = decision.change.into_state().or(state);
        if let Change::Charge(charged) = decision.change {
            let at = algorithm.expires_at(&charged);
            let capacity = algorithm.forecast(None, at).capacity();
            let remaining = |at| algorithm.forecast(Some(charged), at).remaining();
            prop_assert!(at > now);
            prop_assert_eq!(remaining(at), capacity);
            prop_assert_eq!(remaining(at.plus(policy.window.micros())), capacity);
            prop_assert!(remaining(Micros(at.0 - 1)) < capacity);
            let fresh = algorithm.decide(None, at, cost);
            prop_assert_eq!(algorithm.decide(Some(charged), at, cost).verdict, fresh.verdict);
        }
    }
    Ok(())
}

/// A record that somebody wrote is read as a decision's own or not at all, and survived by all that a command does.
fn any_record_is_survived<A: RecordAlgorithm>(
    words: [u64; 4],
    policy: &Policy,
    now: u64,
    cost: Cost,
) -> TestCaseResult {
    let mut record = A::Words::default();
    record.as_mut().iter_mut().zip(words).for_each(|(to, from)| *to = from);
    let (Some(state), Ok(algorithm)) = (A::from_words(&record), A::new(policy)) else { return Ok(()) };
    let written = A::to_words(&state);
    prop_assert_eq!(written.as_ref(), record.as_ref());
    let now = Micros(now);
    for state in [Some(state), algorithm.refund(Some(state), now, cost)] {
        let decision = algorithm.decide(state, now, cost);
        Figures::new(&algorithm.forecast(state, now), &decision, now, cost);
        let after = decision.change.into_state().or(state);
        Figures::new(&algorithm.forecast(after, now), &decision, now, cost);
        after.map(|state| algorithm.expires_at(&state));
        prop_assert!(decision.verdict.count >= 0 && decision.verdict.ttl >= 1);
    }
    Ok(())
}

/// Words around those of a real record: windows that are windows, times near the clock, counts of every size.
fn words() -> impl Strategy<Value = [u64; 4]> {
    let word = || {
        prop_oneof![
            magnitude(),
            any::<u64>(),
            (0..20u64).prop_map(|n| n * 1_000),
            (0..4_000_000u64).prop_map(|n| super::T0 - 2_000_000 + n),
            (0..4_000u64).prop_map(|n| super::T0 - 2_000_000 + n * 1_000),
            (0..4_000u64).prop_map(|n| super::T0 * 1_000 - 2_000_000 + n * 1_000),
        ]
    };
    [word(), word(), word(), word()]
}

macro_rules! promises {
    (all { $($name:ident: $algorithm:ty,)* } records { $($record:ident: $of:ty,)* }) => {
        $(mod $name {
            use super::*;

            proptest! {
                #![proptest_config(ProptestConfig::with_cases(192))]

                #[test]
                fn figures_come_true(trace in changing()) {
                    super::figures_come_true::<$algorithm>(&trace)?;
                }

                #[test]
                fn anything_found_is_survived(
                    words in words(),
                    policy in prop_oneof![small_policy(), any_policy()],
                    trace in changing(),
                ) {
                    super::anything_found_is_survived::<$algorithm>(words, &policy, &trace)?;
                }

                #[test]
                fn clock_stepping_back_neither_opens_nor_locks(trace in changing(), back in 0..100_000_000u64) {
                    super::clock_stepping_back_neither_opens_nor_locks::<$algorithm>(&trace, back)?;
                }

                #[test]
                fn rebasing_is_done_once(trace in changing()) {
                    super::rebasing_is_done_once::<$algorithm>(&trace)?;
                }
            }
        })*
        $(mod $record {
            use super::*;

            proptest! {
                #![proptest_config(ProptestConfig::with_cases(192))]

                #[test]
                fn refund_undoes(trace in changing(), back in 1..20u64) {
                    super::refund_undoes::<$of>(&trace, cost(back))?;
                }

                #[test]
                fn forgotten_when_nothing_is_left(trace in changing()) {
                    super::forgotten_when_nothing_is_left::<$of>(&trace)?;
                }

                #[test]
                fn any_record_is_survived(
                    words in words(),
                    policy in prop_oneof![small_policy(), any_policy()],
                    now in prop_oneof![any::<u64>(), magnitude(), Just(super::super::T0)],
                    units in magnitude(),
                ) {
                    super::any_record_is_survived::<$of>(words, &policy, now, cost(units.max(1)))?;
                }
            }
        })*
    };
}

promises! {
    all {
        fixed_window: FixedWindow,
        sliding_log: SlidingLog,
        sliding_counter: SlidingCounter,
        token_bucket: TokenBucket,
        leaky_bucket: LeakyBucket,
        gcra: Gcra,
    }
    records {
        sliding_counter_record: SlidingCounter,
        token_bucket_record: TokenBucket,
        leaky_bucket_record: LeakyBucket,
        gcra_record: Gcra,
    }
}
