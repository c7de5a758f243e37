//! Known values, and a log of times as the oracle.

use proptest::prelude::*;

use super::super::sliding_log::LogChange;
use super::super::*;
use super::{SECOND, T0, TestAlgorithm, cost, policy, steady};
use crate::in_memory::Log;

const NOW: Micros = Micros(T0 + 456);

fn minute() -> SlidingLog {
    SlidingLog::new(&policy(60_000, 5))
}

#[test]
fn counts_the_entries_before_the_request() {
    let request = |len, units| minute().decide(len, || false, cost(units));
    assert_eq!(request(4, 1).verdict, Verdict { allowed: true, count: 4, ttl: 60 });
    assert_eq!(request(4, 1).change, Change::Charge(LogChange::Add(1)));
    assert_eq!(request(5, 1).verdict, Verdict { allowed: false, count: 5, ttl: 60 });
    assert_eq!(request(5, 1).change, Change::Keep);
    assert_eq!((request(2, 3).change, request(3, 3).change), (Change::Charge(LogChange::Add(3)), Change::Keep));
    assert!(!request(u64::MAX, MAX_COUNT).verdict.allowed);
    assert_eq!((request(4, 0).verdict.allowed, request(5, 0).verdict.allowed), (true, false));
    assert_eq!((request(4, 0).change, request(5, 0).change), (Change::Keep, Change::Keep));
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
fn a_refund_removes_the_newest_entries_and_no_more_than_there_are() {
    let refund = |len, units| minute().refund(len, None, cost(units));
    assert_eq!(refund(3, 2), Change::Refund(LogChange::RemoveNewest(2)));
    assert_eq!(refund(3, MAX_COUNT), Change::Refund(LogChange::RemoveNewest(3)));
    assert_eq!((refund(0, 1), refund(3, 0)), (Change::Keep, Change::Keep));
}

/// A log that was written when the clock was at `at`.
fn log(entries: Vec<u64>, at: u64) -> Log {
    Log { entries, expires_at: Some(at + 120_000) }
}

#[test]
fn a_denial_moves_what_is_ahead_of_the_clock() {
    let (algorithm, ahead) = (SlidingLog::new(&policy(60_000, 2)), NOW.millis() + 3_600_000);
    let mut key = log(vec![NOW.millis() - 5, ahead], ahead);
    let denied = algorithm.request_at(&mut key, NOW, Cost::ONE).unwrap();
    assert_eq!((denied.rebased, denied.figures.reset_ms), (true, 60_000));
    assert_eq!(key.entries, [NOW.millis() - 5, NOW.millis()]);
    assert!(!algorithm.request_at(&mut key, NOW, Cost::ONE).unwrap().rebased);
}

#[test]
fn an_allowed_request_leaves_what_is_ahead_of_the_clock_and_says_when_that_leaves() {
    let (algorithm, ahead) = (SlidingLog::new(&policy(60_000, 2)), NOW.millis() + 3_600_000);
    for (units, entries) in [(1, vec![NOW.millis(), ahead]), (0, vec![ahead])] {
        let mut key = log(vec![ahead], ahead);
        let allowed = algorithm.request_at(&mut key, NOW, cost(units)).unwrap();
        assert!(allowed.verdict.allowed && !allowed.rebased);
        assert_eq!(key.entries, entries);
        assert_eq!(allowed.figures.reset_ms, 3_660_000);
        assert_eq!(allowed.figures.next_ms, if units > 0 { 60_000 } else { 3_660_000 });
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn never_over_the_limit_and_no_denial_of_what_fits(trace in steady()) {
        let policy = trace.policies[0];
        let (window, limit) = (policy.window().millis(), policy.limit);
        let (algorithm, mut key, mut charged) = (SlidingLog::new(&policy), Log::default(), Vec::<u64>::new());
        for (_, now, cost) in trace.requests() {
            let ms = now.millis();
            let within = charged.iter().filter(|&&at| ms - window < at && at <= ms).count() as u64;
            let reply = algorithm.request_at(&mut key, now, cost).unwrap();
            prop_assert_eq!(reply.verdict.allowed, within + cost.needed() <= limit);
            prop_assert_eq!(reply.verdict.count, within.cast_signed());
            if reply.verdict.allowed {
                charged.extend((0..cost.units()).map(|_| ms));
            }
        }
        // Of all half-open windows, one that begins with an entry holds the most.
        for &start in &charged {
            let within = charged.iter().filter(|&&at| start <= at && at < start + window).count() as u64;
            prop_assert!(within <= limit);
        }
    }
}
