//! Every algorithm against an oracle that remembers all it has admitted; and from any record, under any policy, without
//! a panic and without more than fits.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use redis_rl::algorithm::fixed_window::Counter;
use redis_rl::algorithm::sliding_log::LogChange;
use redis_rl::algorithm::{
    Change, Cost, FixedWindow, Gcra, LeakyBucket, Micros, Forecast, Policy, RecordAlgorithm, SlidingCounter, SlidingLog,
    TokenBucket, Window,
};

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
}

#[derive(Arbitrary, Debug)]
struct Input {
    algorithm: Algorithm,
    /// Small, so that the edges are met.
    window_ms: u16,
    limit: u8,
    burst: Option<u8>,
    /// How long after the one before, and for how much.
    calls: Vec<(u32, u8)>,
    /// Of any size.
    wild: Wild,
}

#[derive(Arbitrary, Debug)]
struct Wild {
    window_ms: u64,
    limit: u64,
    burst: Option<u64>,
    words: [u64; 4],
    calls: Vec<(u64, u64)>,
}

/// An admission: when, and for how much.
type Admitted = Vec<(u64, u64)>;

/// What a leak has left of what was poured in, in parts: `unit` of them for each unit, `rate` of them gone each
/// microsecond. Nothing is carried from call to call: it is the most that any run of admissions up to now has left.
fn level(admitted: &Admitted, now: u64, unit: u128, rate: u128) -> u128 {
    let mut poured = 0;
    let left = admitted.iter().rev().map(|&(at, cost)| {
        poured += u128::from(cost) * unit;
        poured.saturating_sub(u128::from(now - at) * rate)
    });
    left.max().unwrap_or(0)
}

fn oracle(algorithm: Algorithm, policy: &Policy, admitted: &Admitted, now: u64, cost: u64) -> bool {
    let window = policy.window.micros();
    let within = |from: u64, to: u64| -> u64 {
        admitted.iter().filter(|(at, _)| (from..to).contains(at)).map(|(_, cost)| cost).sum()
    };
    let start = now - now % window;
    match algorithm {
        Algorithm::Fixed => within(start, start + window) + cost <= policy.limit,
        Algorithm::Sliding => {
            // In milliseconds: one of millisecond s counts until, and not in, s + window.
            let (now, window) = (now / 1_000, window / 1_000);
            let counts: u64 = admitted.iter().filter(|(at, _)| at / 1_000 + window > now).map(|(_, cost)| cost).sum();
            counts + cost <= policy.limit
        }
        Algorithm::Counter => {
            let current = u128::from(within(start, start + window) + cost) * u128::from(window);
            let previous = u128::from(within(start - window, start)) * u128::from(start + window - now);
            current + previous <= u128::from(policy.limit) * u128::from(window)
        }
        Algorithm::Token | Algorithm::Leaky => {
            let unit = u128::from(window);
            let level = level(admitted, now, unit, policy.limit.into());
            policy.limit > 0 && level + u128::from(cost) * unit <= u128::from(policy.capacity()) * unit
        }
        Algorithm::Gcra => {
            let Some(interval) = (u128::from(window) * 1_000).checked_add(u128::from(policy.limit)) else {
                return false;
            };
            if policy.limit == 0 {
                return false;
            }
            let interval = (interval - 1) / u128::from(policy.limit);
            let level = level(admitted, now, interval, 1_000);
            level + u128::from(cost) * interval <= u128::from(policy.capacity()) * interval
        }
    }
}

/// What is between two calls: a key as the store would have it.
trait Subject: Sized {
    type Key: Default;
    fn build(policy: &Policy) -> Option<Self>;
    fn ask(&self, key: &mut Self::Key, now: Micros, cost: Cost) -> bool;
}

/// An algorithm with a record.
struct Recorded<A>(A);

impl<A: RecordAlgorithm> Subject for Recorded<A> {
    type Key = Option<A::State>;

    fn build(policy: &Policy) -> Option<Self> {
        A::new(policy).ok().map(Self)
    }

    fn ask(&self, key: &mut Self::Key, now: Micros, cost: Cost) -> bool {
        // The server forgets it then.
        *key = key.filter(|state| self.0.expires_at(state).0.div_ceil(1_000) > now.millis());
        let decision = self.0.decide(*key, now, cost);
        if let Some(&state) = decision.change.state() {
            assert_eq!(A::from_words(&A::to_words(&state)), Some(state));
            *key = Some(state);
        }
        let left = self.0.forecast(*key, now);
        assert!(left.remaining() <= left.capacity());
        decision.verdict.allowed
    }
}

impl Subject for FixedWindow {
    type Key = Option<(u64, Counter)>;

    fn build(policy: &Policy) -> Option<Self> {
        Some(Self::new(policy))
    }

    fn ask(&self, key: &mut Self::Key, now: Micros, cost: Cost) -> bool {
        let bucket = self.bucket(now);
        let counter =
            key.filter(|&(of, counter)| of == bucket && counter.expires_at.is_none_or(|at| now.millis() < at));
        let Ok(decision) = self.decide(counter.map(|(_, counter)| counter), now, cost) else { return false };
        if let Some(&counter) = decision.change.state() {
            *key = Some((bucket, counter));
        }
        decision.verdict.allowed
    }
}

impl Subject for SlidingLog {
    type Key = Vec<u64>;

    fn build(policy: &Policy) -> Option<Self> {
        (policy.limit <= 10_000).then(|| Self::new(policy))
    }

    fn ask(&self, key: &mut Self::Key, now: Micros, cost: Cost) -> bool {
        key.retain(|&entry| self.expired_through(now).is_none_or(|expired| entry > expired));
        let decision = self.decide(key.len() as u64, || key.iter().any(|&entry| entry > now.millis()), cost);
        match decision.change {
            Change::Charge(LogChange::Add(count)) => key.extend((0..count).map(|_| now.millis())),
            Change::Keep => {}
            // A clock that goes forward leaves nothing ahead.
            odd => panic!("{odd:?}"),
        }
        decision.verdict.allowed
    }
}

fn steady<S: Subject>(input: &Input) {
    let Some(window) = Window::from_millis(input.window_ms.into()) else { return };
    let takes_burst = matches!(input.algorithm, Algorithm::Token | Algorithm::Leaky | Algorithm::Gcra);
    let burst = input.burst.filter(|&burst| takes_burst && burst > 0).map(u64::from);
    let policy = Policy { window, limit: input.limit.into(), burst };
    let Some(algorithm) = S::build(&policy) else { return };
    let mut key = S::Key::default();
    let mut admitted = Admitted::new();
    let mut now = T0;
    for &(later, cost) in input.calls.iter().take(64) {
        now += u64::from(later);
        let Some(cost) = Cost::new(cost.into()) else { continue };
        let allowed = algorithm.ask(&mut key, Micros(now), cost);
        let expected = oracle(input.algorithm, &policy, &admitted, now, cost.units());
        assert_eq!(allowed, expected, "{policy:?} at {now} for {cost:?}, after {admitted:?}");
        if allowed {
            admitted.push((now, cost.units()));
        }
    }
}

/// Any record, any policy, any time: at one time no more than the capacity passes.
fn wild<A: RecordAlgorithm>(Wild { window_ms, limit, burst, words, calls }: &Wild) {
    let most = i64::MAX as u64;
    let Some(window) = Window::from_millis(*window_ms) else { return };
    let policy = Policy { window, limit: (*limit).min(most), burst: burst.map(|burst| burst.clamp(1, most)) };
    let Some(algorithm) = Recorded::<A>::build(&policy) else { return };
    let mut record = A::Words::default();
    record.as_mut().iter_mut().zip(words).for_each(|(to, &from)| *to = from);
    let mut key = A::from_words(&record);
    let (mut at, mut passed) = (None, 0u128);
    for &(now, cost) in calls.iter().take(16) {
        // The year 2255: as long as GCRA's nanoseconds fit their 64 bits at any policy.
        let now = Micros(now % (1 << 53));
        let Some(cost) = Cost::new(cost) else { continue };
        if at.replace(now) != Some(now) {
            passed = 0;
        }
        if algorithm.ask(&mut key, now, cost) {
            passed += u128::from(cost.units());
        }
        // Not the policy's: COUNTER knows no burst.
        let capacity = algorithm.0.forecast(None, now).capacity();
        assert!(passed <= capacity.into(), "{passed} of {capacity} at {now:?}: {policy:?}");
        if let Some(state) = algorithm.0.refund(key, now, cost) {
            assert_eq!(A::from_words(&A::to_words(&state)), Some(state));
        }
    }
}

fuzz_target!(|input: Input| {
    match input.algorithm {
        Algorithm::Fixed => steady::<FixedWindow>(&input),
        Algorithm::Sliding => steady::<SlidingLog>(&input),
        Algorithm::Counter => (steady::<Recorded<SlidingCounter>>(&input), wild::<SlidingCounter>(&input.wild)).0,
        Algorithm::Token => (steady::<Recorded<TokenBucket>>(&input), wild::<TokenBucket>(&input.wild)).0,
        Algorithm::Leaky => (steady::<Recorded<LeakyBucket>>(&input), wild::<LeakyBucket>(&input.wild)).0,
        Algorithm::Gcra => (steady::<Recorded<Gcra>>(&input), wild::<Gcra>(&input.wild)).0,
    }
});
