//! Known values, and a log of times as the oracle.

use proptest::prelude::*;

use super::super::sliding_log::LogChange;
use super::super::*;
use super::{SECOND, Subject, T0, cost, policy, steady};

const NOW: Micros = Micros(T0 + 456);

fn minute() -> SlidingLog {
    SlidingLog::new(&policy(60_000, 5))
}

#[test]
fn counts_what_came_before() {
    let ask = |len, units| minute().decide(len, || false, cost(units));
    assert_eq!(ask(4, 1).verdict, Verdict { allowed: true, count: 4, ttl: 60 });
    assert_eq!(ask(4, 1).change, Change::Charge(LogChange::Add(1)));
    assert_eq!(ask(5, 1).verdict, Verdict { allowed: false, count: 5, ttl: 60 });
    assert_eq!(ask(5, 1).change, Change::Keep);
    assert_eq!((ask(2, 3).change, ask(3, 3).change), (Change::Charge(LogChange::Add(3)), Change::Keep));
    assert!(!ask(u64::MAX, MAX_COUNT).verdict.allowed);
}

#[test]
fn an_entry_leaves_exactly_a_window_later() {
    assert_eq!(minute().expired_through(NOW), Some(NOW.millis() - 60_000));
    assert_eq!(minute().expired_through(Micros(59 * SECOND)), None);
    let entries = [NOW.millis() - 59_999, NOW.millis() - 10];
    let forecast = minute().forecast(2, |n| entries.get(n as usize).copied(), NOW);
    assert_eq!(forecast.remaining(), 3);
    assert_eq!(forecast.fits_at(3), Some(NOW));
    assert_eq!(forecast.fits_at(4), Some(Micros::from_millis(NOW.millis() + 1)));
    assert_eq!(forecast.fits_at(5), Some(Micros::from_millis(NOW.millis() + 59_990)));
    assert_eq!(forecast.fits_at(6), None);
}

#[test]
fn a_denial_puts_what_is_ahead_of_the_clock_right() {
    let policy = policy(60_000, 2);
    let log = SlidingLog::new(&policy);
    let ahead = NOW.millis() + 3_600_000;
    let mut key = vec![NOW.millis() - 5, ahead];
    assert!(log.ask(&mut key, NOW, Cost::ONE).unwrap().rebased);
    assert_eq!(key, [NOW.millis() - 5, NOW.millis()]);
    assert!(!log.ask(&mut key, NOW, Cost::ONE).unwrap().rebased);
    // One that is allowed leaves it.
    let mut key = vec![ahead];
    assert!(log.ask(&mut key, NOW, Cost::ONE).unwrap().verdict.allowed);
    assert_eq!(key, [NOW.millis(), ahead]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn never_over_the_limit_and_no_denial_that_would_fit(trace in steady()) {
        let policy = trace.policies[0];
        let (window, limit) = (policy.window.millis(), policy.limit);
        let (log, mut key, mut admitted) = (SlidingLog::new(&policy), Vec::new(), Vec::<u64>::new());
        for (_, now, cost) in trace.calls() {
            let ms = now.millis();
            let within = admitted.iter().filter(|&&at| ms - window < at && at <= ms).count() as u64;
            let answer = log.ask(&mut key, now, cost).unwrap();
            prop_assert_eq!(answer.verdict.allowed, within + cost.units() <= limit);
            prop_assert_eq!(answer.verdict.count, within.cast_signed());
            if answer.verdict.allowed {
                admitted.extend((0..cost.units()).map(|_| ms));
            }
        }
        // In every half-open window: it is fullest where one begins with an entry.
        for &start in &admitted {
            let within = admitted.iter().filter(|&&at| start <= at && at < start + window).count() as u64;
            prop_assert!(within <= limit);
        }
    }
}
