//! Every algorithm against an oracle that remembers all charges. And any record, under any policy: no panic, and no more
//! than the capacity at one time.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use redis_rl::algorithm::{
    Cost, FixedWindow, Forecast, Gcra, LeakyBucket, MAX_COUNT, Micros, Policy, RecordAlgorithm, RecordWords,
    RollingLog, SlidingCounter, SlidingLog, TokenBucket, Window,
};
use redis_rl::in_memory::{InMemory, StoredRecord};

/// 2023-11-14 22:13:20 UTC.
const T0: u64 = 1_700_000_000_000_000;

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Algorithm {
    Fixed,
    Sliding,
    Counter,
    Token,
    Leaky,
    Gcra,
    Rolling,
}

#[derive(Arbitrary, Debug)]
struct Input {
    algorithm: Algorithm,
    /// Small, so that boundaries are met.
    window_ms: u16,
    limit: u8,
    burst: Option<u8>,
    /// Microseconds since the request before, and the cost.
    requests: Vec<(u32, u8)>,
    /// Of any size.
    wild: Wild,
}

#[derive(Arbitrary, Debug)]
struct Wild {
    window_ms: u64,
    limit: u64,
    burst: Option<u64>,
    words: [u64; 4],
    /// Time and cost.
    requests: Vec<(u64, u64)>,
}

/// The time and the units of each charge.
type Charges = Vec<(u64, u64)>;

/// The level of a bucket, in parts: a unit is `unit` parts, and `rate` parts drain each microsecond. No value is kept
/// from call to call: it is the most that is left of the latest charges, of any number of them.
fn level(charges: &Charges, now: u64, unit: u128, rate: u128) -> u128 {
    let mut charged = 0;
    let left = charges.iter().rev().map(|&(at, units)| {
        charged += u128::from(units) * unit;
        charged.saturating_sub(u128::from(now - at) * rate)
    });
    left.max().unwrap_or(0)
}

/// Whether `needed` units fit.
fn oracle(algorithm: Algorithm, policy: &Policy, charges: &Charges, now: u64, needed: u64) -> bool {
    let window = policy.window().micros();
    let within = |from: u64, to: u64| -> u64 {
        charges.iter().filter(|(at, _)| (from..to).contains(at)).map(|(_, units)| units).sum()
    };
    let start = now - now % window;
    match algorithm {
        Algorithm::Fixed => within(start, start + window) + needed <= policy.limit,
        Algorithm::Sliding | Algorithm::Rolling => {
            // In milliseconds: one of millisecond s counts before, and not in, s + window.
            let (now, window) = (now / 1_000, window / 1_000);
            let counted: u64 = charges.iter().filter(|(at, _)| at / 1_000 + window > now).map(|(_, units)| units).sum();
            counted + needed <= policy.limit
        }
        Algorithm::Counter => {
            let current = u128::from(within(start, start + window) + needed) * u128::from(window);
            let previous = u128::from(within(start - window, start)) * u128::from(start + window - now);
            current + previous <= u128::from(policy.limit) * u128::from(window)
        }
        Algorithm::Token | Algorithm::Leaky => {
            let unit = u128::from(window);
            let level = level(charges, now, unit, policy.limit.into());
            policy.limit > 0 && level + u128::from(needed) * unit <= u128::from(policy.capacity()) * unit
        }
        Algorithm::Gcra => {
            if policy.limit == 0 {
                return false;
            }
            let interval = (u128::from(window) * 1_000).div_ceil(policy.limit.into());
            let level = level(charges, now, interval, 1_000);
            level + u128::from(needed) * interval <= u128::from(policy.capacity()) * interval
        }
    }
}

/// One small policy, and a clock that only goes forward.
fn steady<A: InMemory>(input: &Input) {
    // The oracle has moments of 1 ms.
    let most = if matches!(input.algorithm, Algorithm::Rolling) { 4_096 } else { u16::MAX };
    let Some(window) = Window::from_millis(input.window_ms.min(most).into()) else { return };
    let takes_burst = matches!(input.algorithm, Algorithm::Token | Algorithm::Leaky | Algorithm::Gcra);
    let burst = input.burst.filter(|&burst| takes_burst && burst > 0).map(u64::from);
    let policy = Policy { burst, ..Policy::new(window, input.limit.into()) };
    let Ok(algorithm) = A::with_policy(&policy) else { return };
    let mut key = A::Key::default();
    let mut charges = Charges::new();
    let mut now = T0;
    for &(later, units) in input.requests.iter().take(64) {
        now += u64::from(later);
        let Some(cost) = Cost::new(units.into()) else { continue };
        A::expire(&mut key, Micros(now));
        let before = algorithm.remaining(&key, Micros(now));
        let Ok(reply) = algorithm.request(&mut key, Micros(now), cost) else { continue };
        let expected = oracle(input.algorithm, &policy, &charges, now, cost.needed());
        assert_eq!(reply.verdict.allowed, expected, "{policy:?} at {now} for {cost:?}, after {charges:?}");
        let charged = if expected { cost.units() } else { 0 };
        assert_eq!(reply.figures.remaining, before - charged, "{policy:?} at {now} for {cost:?}, after {charges:?}");
        if charged > 0 {
            charges.push((now, charged));
        }
    }
}

/// A key with a record that somebody wrote; `None` if the algorithm does not read such a record.
fn stored<A: RecordAlgorithm>(words: [u64; 4]) -> Option<StoredRecord> {
    let mut record = A::Words::ZERO;
    record.as_mut().iter_mut().zip(words).for_each(|(to, from)| *to = from);
    A::from_words(&record)?;
    let digits: Vec<String> = record.as_ref().iter().map(u64::to_string).collect();
    Some(StoredRecord { text: [A::TAG, &digits.join(":")].concat().into(), expires_at: None })
}

/// Any record, any policy, any time: at one time no more than the capacity is allowed.
fn wild<A: RecordAlgorithm>(Wild { window_ms, limit, burst, words, requests }: &Wild) {
    let Some(window) = Window::from_millis(*window_ms) else { return };
    let burst = burst.map(|burst| burst.clamp(1, MAX_COUNT));
    let policy = Policy { burst, ..Policy::new(window, (*limit).min(MAX_COUNT)) };
    let Ok(algorithm) = A::with_policy(&policy) else { return };
    let mut key = stored::<A>(*words);
    let (mut at, mut charged) = (None, 0u128);
    for &(now, units) in requests.iter().take(16) {
        // The year 2255: until then the nanoseconds of GCRA fit 64 bits under every policy.
        let now = Micros(now % (1 << 53));
        let Some(cost) = Cost::new(units) else { continue };
        if at.replace(now) != Some(now) {
            charged = 0;
        }
        A::expire(&mut key, now);
        let before = algorithm.remaining(&key, now);
        let Ok(reply) = algorithm.request(&mut key, now, cost) else { continue };
        assert_eq!(reply.verdict.allowed, before >= cost.needed());
        if reply.verdict.allowed {
            charged += u128::from(cost.units());
        }
        // Not that of the policy: COUNTER takes no burst.
        let capacity = algorithm.forecast(None, now).capacity();
        assert!(charged <= capacity.into(), "{charged} of {capacity} at {now:?}: {policy:?}");
        let mut refunded = key.clone();
        InMemory::refund(&algorithm, &mut refunded, now, None, cost);
        let remaining = algorithm.remaining(&refunded, now);
        let most = reply.figures.remaining.saturating_add(cost.units()).min(capacity);
        assert!((reply.figures.remaining..=most).contains(&remaining), "{cost:?} at {now:?}: {policy:?}");
    }
}

fuzz_target!(|input: Input| {
    match input.algorithm {
        Algorithm::Fixed => steady::<FixedWindow>(&input),
        Algorithm::Sliding => steady::<SlidingLog>(&input),
        Algorithm::Rolling => steady::<RollingLog>(&input),
        Algorithm::Counter => (steady::<SlidingCounter>(&input), wild::<SlidingCounter>(&input.wild)).0,
        Algorithm::Token => (steady::<TokenBucket>(&input), wild::<TokenBucket>(&input.wild)).0,
        Algorithm::Leaky => (steady::<LeakyBucket>(&input), wild::<LeakyBucket>(&input.wild)).0,
        Algorithm::Gcra => (steady::<Gcra>(&input), wild::<Gcra>(&input.wild)).0,
    }
});
