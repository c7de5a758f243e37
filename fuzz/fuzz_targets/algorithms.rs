//! Every algorithm against an oracle that remembers all charges. And any record, under any policy: no panic, and no more
//! than the capacity at one time.
//! guarantee: readers

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use redis_rl_algorithm::in_memory::{InMemory, StoredRecord};
use redis_rl_algorithm::period::{Anchor, CalendarUnit};
use redis_rl_algorithm::record::Tag;
use redis_rl_algorithm::rolling_log::{ENTRY_LEN, Entry, Log, MAX_ENTRIES, TAG, Write};
use redis_rl_algorithm::{
    Algorithm, Change, Cost, FixedWindow, Forecast, Gcra, LeakyBucket, MAX_COUNT, Micros, Policy, RecordAlgorithm,
    RecordWords, RollingLog, Schedule, SlidingCounter, SlidingLog, TokenBucket, Window, WindowCounter,
};

#[path = "../../algorithm/src/tests/oracle.rs"]
mod oracle;

use oracle::{Kind, Oracle};

/// 2023-11-14 22:13:20 UTC.
const T0: u64 = 1_700_000_000_000_000;

#[derive(Arbitrary, Clone, Copy, Debug, PartialEq)]
enum Name {
    Fixed,
    Window,
    Sliding,
    Counter,
    Token,
    Leaky,
    Gcra,
    Rolling,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Action {
    Request,
    Always,
    /// With the milliseconds between the time of the charge and now, if the time is given; negative for the future.
    Refund(Option<i16>),
    Overcharge(Option<i16>),
}

/// When an action follows the one before.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Later {
    Micros(u32),
    /// A window later, and so many milliseconds: where what was charged stops to count.
    Window(i8),
}

#[derive(Arbitrary, Debug)]
struct Input {
    algorithm: Name,
    /// Small, so that boundaries are met.
    window_ms: u16,
    limit: u8,
    burst: Option<u8>,
    /// Seconds.
    anchor: Option<u32>,
    /// The time, the cost, and the action.
    actions: Vec<(Later, u8, Action)>,
    /// Of any size.
    wild: Wild,
}

#[derive(Arbitrary, Debug)]
struct Wild {
    window_ms: u64,
    limit: u64,
    burst: Option<u64>,
    words: [u64; 5],
    log: WildLog,
    /// Time, cost, and action.
    requests: Vec<(u64, u64, WildAction)>,
}

#[derive(Arbitrary, Debug)]
struct WildLog {
    /// The milliseconds and the total of each entry.
    entries: Vec<(u64, u64)>,
    /// So many entries; those above are repeated.
    len: u16,
    /// As the algorithm writes it: times and totals rise.
    in_order: bool,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum WildAction {
    Request,
    Refund(Option<u64>),
    Overcharge(Option<u64>),
}

/// One small policy, and a clock that only goes forward.
fn steady<A: InMemory>(input: &Input, kind: Kind) {
    let anchor = input.anchor.map(u64::from).and_then(Anchor::from_seconds).filter(|_| kind == Kind::Fixed);
    let schedule = match (input.window_ms, anchor) {
        (0, anchor) if kind == Kind::Fixed => Schedule::Calendar(CalendarUnit::Day, anchor),
        (1, anchor) if kind == Kind::Fixed => Schedule::Calendar(CalendarUnit::Week, anchor),
        (window_ms, anchor) => {
            let Some(window) = Window::from_millis(window_ms.into()) else { return };
            anchor.map_or(Schedule::Aligned(window), |anchor| Schedule::Anchored(window, anchor))
        }
    };
    let burst = input.burst.filter(|&burst| matches!(kind, Kind::Bucket | Kind::Gcra) && burst > 0).map(u64::from);
    let policy = Policy { schedule, limit: input.limit.into(), burst };
    let Ok(limiter) = A::with_policy(&policy) else { return };
    let (mut key, mut oracle, mut now) = (A::Key::default(), Oracle::new(kind, policy), Micros(T0));
    // Units that a moment of the log has given back can leave it a later time than the rest of them had.
    let corrects = kind != (Kind::Log { moments: Some(4_096) }) || input.window_ms <= 4_096;
    for &(later, units, action) in input.actions.iter().take(64) {
        now = now.plus(match later {
            Later::Micros(micros) => micros.into(),
            Later::Window(millis) => policy.window().micros().saturating_add_signed(i64::from(millis) * 1_000),
        });
        let Some(cost) = Cost::new(units.into()) else { continue };
        let ago = |millis: Option<i16>| millis.map(|ms| Micros(now.0.saturating_add_signed(-i64::from(ms) * 1_000)));
        A::expire(&mut key, now);
        match action {
            Action::Refund(at) if corrects => {
                limiter.refund(&mut key, now, ago(at), cost);
                oracle.refund(now, ago(at), cost.units());
            }
            Action::Overcharge(at) if corrects => {
                if limiter.overcharge(&mut key, now, ago(at), cost).is_ok() {
                    oracle.overcharge(now, ago(at), cost.units());
                }
            }
            Action::Refund(_) | Action::Overcharge(_) => {}
            Action::Always => {
                let Ok(reply) = limiter.request_always(&mut key, now, cost) else { continue };
                oracle.overcharge(now, None, cost.units());
                let expected = policy.limit > 0 && oracle.fits(now, 0);
                assert_eq!(reply.verdict.allowed, expected, "{cost:?} at {now:?}: {oracle:?}");
                assert_eq!(reply.figures.remaining, limiter.remaining(&key, now));
            }
            Action::Request => {
                let Ok(reply) = limiter.request(&mut key, now, cost) else { continue };
                assert_eq!(reply.verdict.allowed, oracle.request(now, cost.units()), "{cost:?} at {now:?}: {oracle:?}");
                assert_eq!(reply.figures.remaining, limiter.remaining(&key, now));
            }
        }
        let remaining = limiter.remaining(&key, now);
        assert_eq!(remaining, oracle.remaining(now), "after {action:?} of {units} at {now:?}: {oracle:?}");
    }
}

/// A key with a record that somebody wrote; `None` if the algorithm does not read such a record.
fn stored<A: RecordAlgorithm>(words: [u64; 5]) -> Option<StoredRecord> {
    let mut record = A::Words::ZERO;
    record.as_mut().iter_mut().zip(words).for_each(|(to, from)| *to = from);
    A::from_words(&record)?;
    let mut digits: Vec<String> = record.as_ref().iter().map(u64::to_string).collect();
    let required = digits.len() - A::OPTIONAL_WORDS;
    digits.truncate(record.as_ref().iter().rposition(|&word| word > 0).map_or(0, |last| last + 1).max(required));
    Some(StoredRecord { text: [<A::Tag as Tag>::TEXT, digits.join(":").as_bytes()].concat(), expires_at: None })
}

impl Wild {
    fn policy(&self) -> Option<Policy> {
        let window = Window::from_millis(self.window_ms)?;
        let burst = self.burst.map(|burst| burst.clamp(1, MAX_COUNT));
        Some(Policy { burst, ..Policy::new(window, self.limit.min(MAX_COUNT)) })
    }
}

/// Any record, any policy, any time: at one time no more than the capacity is allowed.
fn wild<A: RecordAlgorithm>(wild: &Wild) {
    let Some(policy) = wild.policy() else { return };
    let Ok(algorithm) = A::with_policy(&policy) else { return };
    let mut key = stored::<A>(wild.words);
    let (mut last, mut charged) = (None, 0u128);
    for &(now, units, action) in wild.requests.iter().take(16) {
        // The year 2255: until then the nanoseconds of GCRA fit 64 bits under every policy.
        let now = Micros(now % (1 << 53));
        let Some(cost) = Cost::new(units) else { continue };
        if last.replace(now) != Some(now) {
            charged = 0;
        }
        A::expire(&mut key, now);
        let before = algorithm.remaining(&key, now);
        // Not that of the policy: COUNTER takes no burst.
        let capacity = algorithm.forecast(None, &Change::Keep, now).capacity();
        let told = || format!("{action:?}, {cost:?} at {now:?}: {policy:?}");
        match action {
            WildAction::Request => {
                let Ok(reply) = algorithm.request(&mut key, now, cost) else { continue };
                assert_eq!(reply.verdict.allowed, before >= cost.needed(), "{}", told());
                if reply.verdict.allowed {
                    charged += u128::from(cost.units());
                }
                assert!(charged <= capacity.into(), "{charged} of {capacity}: {}", told());
            }
            WildAction::Refund(at) => {
                // On a copy: what is given back can be charged again at the same time.
                let mut refunded = key.clone();
                algorithm.refund(&mut refunded, now, at.map(Micros), cost);
                let most = before.saturating_add(cost.units()).min(capacity);
                assert!((before..=most).contains(&algorithm.remaining(&refunded, now)), "{}", told());
            }
            WildAction::Overcharge(at) => {
                let Ok(()) = algorithm.overcharge(&mut key, now, at.map(Micros), cost) else { continue };
                let least = before.saturating_sub(cost.units());
                assert!((least..=before).contains(&algorithm.remaining(&key, now)), "{}", told());
            }
        }
    }
}

impl WildLog {
    fn record(&self) -> Option<StoredRecord> {
        let len = usize::from(self.len) % (MAX_ENTRIES + 1);
        let repeated = self.entries.iter().cycle().zip(0u64..).take(len);
        // A time has 56 bits.
        let mut entries: Vec<_> = repeated
            .map(|(&(millis, total), index)| (millis.wrapping_add(index) % (1 << 56), total.wrapping_add(index)))
            .collect();
        if self.in_order {
            let mut totals: Vec<_> = entries.iter().map(|&(_, total)| total).collect();
            entries.sort_unstable();
            totals.sort_unstable();
            entries.iter_mut().zip(totals).for_each(|(entry, total)| entry.1 = total);
        }
        let bytes = entries.iter().flat_map(|&(millis, total)| Entry { millis, total }.encode());
        let text = TAG.iter().copied().chain(bytes).collect();
        (!entries.is_empty()).then_some(StoredRecord { text, expires_at: None })
    }
}

/// Any log, damaged or not: a change writes inside the record or at its end, and leaves a record.
fn wild_log(wild: &Wild) {
    let Some(policy) = wild.policy() else { return };
    let Ok(algorithm) = RollingLog::new(&policy) else { return };
    let mut key = wild.log.record();
    for &(now, units, action) in wild.requests.iter().take(16) {
        let now = Micros(now);
        let Some(cost) = Cost::new(units) else { continue };
        RollingLog::expire(&mut key, now);
        let text = key.as_ref().map(|stored| stored.text.clone());
        // A key that the module would answer with an error.
        let Some(log) = (match &text {
            Some(text) => algorithm.read(text, now),
            None => Some(Log::EMPTY),
        }) else {
            assert!(!wild.log.in_order, "{:?} at {now:?}", wild.log);
            continue;
        };
        let (before, remaining) = (log.units(), algorithm.remaining(&key, now));
        assert_eq!(remaining, policy.limit.saturating_sub(before));
        let change = match action {
            WildAction::Request => algorithm.decide(log, now, cost).map(|decision| decision.change),
            WildAction::Refund(at) => Ok(algorithm.refunding(log, now, at.map(Micros), cost)),
            WildAction::Overcharge(at) => algorithm.overcharging(log, now, at.map(Micros), cost),
        };
        let Ok(change) = change else { continue };
        if let Some(edit) = change.state() {
            let held = text.as_ref().map_or(0, Vec::len);
            match algorithm.write(&log, edit, now) {
                Write::Whole(_) | Write::Append(_) => {}
                Write::Last { offset, bytes } => inside(held, offset, bytes.len()),
                Write::Tail { offset, bytes } => inside(held, offset, bytes.len()),
            }
        }
        let told = || format!("{action:?}, {cost:?} at {now:?}: {policy:?}, {:?}", wild.log);
        let (refunded, overcharged) = (before.saturating_sub(cost.units()), before.saturating_add(cost.units()));
        let expected = match action {
            WildAction::Request => {
                let Ok(reply) = algorithm.request(&mut key, now, cost) else { continue };
                let allowed = remaining >= cost.needed();
                assert_eq!(reply.verdict.allowed, allowed, "{}", told());
                if allowed { [overcharged; 2] } else { [before; 2] }
            }
            WildAction::Refund(at) => {
                algorithm.refund(&mut key, now, at.map(Micros), cost);
                [refunded, if at.is_some() { before } else { refunded }]
            }
            WildAction::Overcharge(at) => {
                let _ = algorithm.overcharge(&mut key, now, at.map(Micros), cost);
                [if at.is_some() { before } else { overcharged }, overcharged]
            }
        };
        let text = key.as_ref().map_or(&TAG[..], |stored| &stored.text);
        let entries = text.strip_prefix(&TAG).map(<[u8]>::as_chunks::<ENTRY_LEN>);
        let Some((entries, [])) = entries.filter(|(entries, _)| entries.len() <= MAX_ENTRIES) else {
            panic!("no whole entries, or too many: {}", told());
        };
        // A damaged record can count anything.
        if wild.log.in_order {
            let rises = |a: Entry, b: Entry| a.millis <= b.millis && a.total <= b.total;
            assert!(entries.is_sorted_by(|a, b| rises(Entry::decode(a), Entry::decode(b))), "{}", told());
            let after = if entries.is_empty() { Some(0) } else { algorithm.read(text, now).map(|log| log.units()) };
            assert!(after.is_some_and(|n| expected[0] <= n && n <= expected[1]), "{after:?} {expected:?} {}", told());
        }
    }
}

/// A write begins in the record or at its end, with a whole entry, and does not shorten it.
fn inside(held: usize, offset: usize, len: usize) {
    assert!((TAG.len()..=held).contains(&offset) && offset + len >= held, "{len} bytes at {offset} of {held}");
    assert_eq!(((offset - TAG.len()) % ENTRY_LEN, len % ENTRY_LEN), (0, 0));
}

/// A row for each algorithm, as in the tests of the crate.
fn run(input: &Input) {
    match input.algorithm {
        Name::Fixed => steady::<FixedWindow>(input, Kind::Fixed),
        Name::Window => steady::<WindowCounter>(input, Kind::Window),
        Name::Sliding => steady::<SlidingLog>(input, Kind::Log { moments: None }),
        Name::Counter => steady_and_wild::<SlidingCounter>(input, Kind::Counter),
        Name::Token => steady_and_wild::<TokenBucket>(input, Kind::Bucket),
        Name::Leaky => steady_and_wild::<LeakyBucket>(input, Kind::Bucket),
        Name::Gcra => steady_and_wild::<Gcra>(input, Kind::Gcra),
        Name::Rolling => {
            steady::<RollingLog>(input, Kind::Log { moments: Some(4_096) });
            wild_log(&input.wild);
        }
    }
}

fn steady_and_wild<A: RecordAlgorithm>(input: &Input, kind: Kind) {
    steady::<A>(input, kind);
    wild::<A>(&input.wild);
}

fuzz_target!(|input: Input| run(&input));
