//! Every algorithm against an oracle that remembers all charges. And any record, under any policy: no panic, and no more
//! than the capacity at one time.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use redis_rl_algorithm::period::{Anchor, CalendarUnit};
use redis_rl_algorithm::record::Tag;
use redis_rl_algorithm::rolling_log::{ENTRY_LEN, Entry, MAX_ENTRIES, TAG, Write};
use redis_rl_algorithm::{
    Cost, FixedWindow, Forecast, Gcra, LeakyBucket, MAX_COUNT, Micros, Policy, RecordAlgorithm, RecordWords,
    RollingLog, Schedule, SlidingCounter, SlidingLog, TokenBucket, Unrepresentable, Window, WindowCounter,
};
use redis_rl_algorithm::in_memory::{Always, InMemory, Reply, StoredRecord};

/// 2023-11-14 22:13:20 UTC.
const T0: u64 = 1_700_000_000_000_000;

#[derive(Arbitrary, Clone, Copy, Debug, PartialEq)]
enum Algorithm {
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
    /// A request with ALWAYS, if the algorithm takes it.
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
    algorithm: Algorithm,
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

/// What was charged and given back. No algorithm keeps all of it.
#[derive(Debug, Default)]
struct History {
    /// The time and the units of each charge that was not given back, in the order of time.
    charges: Vec<(u64, u64)>,
    /// The time and the units of each change, for the buckets; negative if given back.
    changes: Vec<(u64, i128)>,
    /// The millisecond in which the window of WINDOW ends, and the units in it.
    running: (u64, u64),
}

impl History {
    fn charge(&mut self, now: u64, at: u64, units: u64) {
        self.charges.push((at, units));
        self.charges.sort_by_key(|&(at, _)| at);
        self.changes.push((now, units.into()));
    }

    fn sum(&self, counts: impl Fn(u64) -> bool) -> u64 {
        self.charges.iter().filter(|&&(at, _)| counts(at)).map(|(_, units)| units).sum()
    }

    /// Removes so many units, the newest first.
    fn take(&mut self, mut units: u64, counts: impl Fn(u64) -> bool) {
        for (_, charged) in self.charges.iter_mut().rev().filter(|(at, _)| counts(*at)) {
            let taken = units.min(*charged);
            *charged -= taken;
            units -= taken;
        }
    }

    /// The level of a bucket in parts: a unit is `unit` parts, `rate` parts drain each microsecond, and it holds `most`.
    fn level(&self, now: u64, unit: i128, rate: i128, most: i128) -> i128 {
        let (mut level, mut at) = (0, T0);
        for &(then, units) in self.changes.iter().chain([&(now, 0)]) {
            level = (level - i128::from(then - at) * rate).max(0);
            level = (level + units * unit).clamp(0, most);
            at = then;
        }
        level
    }
}

/// The same promises as the algorithm's, computed from the whole history.
struct Oracle {
    algorithm: Algorithm,
    policy: Policy,
    history: History,
}

impl Oracle {
    fn window(&self) -> u64 {
        self.policy.window().micros()
    }

    /// When the window of `now` starts.
    fn start(&self, now: u64) -> u64 {
        let anchor = match self.policy.schedule {
            Schedule::Anchored(_, anchor) | Schedule::Calendar(_, Some(anchor)) => anchor.seconds(),
            // A Monday.
            Schedule::Calendar(CalendarUnit::Week, None) => 345_600,
            _ => 0,
        };
        let ago = (i128::from(now) - i128::from(anchor) * 1_000_000).rem_euclid(self.window().into());
        now - ago as u64
    }

    /// Whether a unit of the time `at` counts in a log, in milliseconds: one of millisecond s counts before, and not
    /// in, s + window.
    fn counts_in_log(&self, at: u64, now: u64) -> bool {
        at / 1_000 + self.window() / 1_000 > now / 1_000
    }

    /// In a rolling log all units of a moment have the time of the latest of them. A request that charges nothing
    /// writes nothing.
    fn latest_of_moment(&self, at: u64) -> u64 {
        let window_ms = self.window() / 1_000;
        let moment = |at: u64| if window_ms > 4_096 { at / 1_000 * 4_096 / window_ms } else { at / 1_000 };
        let written = self.history.charges.iter().filter(|&&(_, units)| units > 0);
        written.map(|&(other, _)| other).filter(|&other| moment(other) == moment(at)).max().unwrap_or(at)
    }

    /// The units in the window of WINDOW that runs at `now`.
    fn units_running(&self, now: u64) -> u64 {
        let (ends, units) = self.history.running;
        if now / 1_000 < ends { units } else { 0 }
    }

    /// A charge in the window that runs, or in a new one.
    fn charge_running(&mut self, now: u64, units: u64) {
        let before = self.units_running(now);
        if before == 0 {
            self.history.running.0 = now / 1_000 + self.window() / 1_000;
        }
        self.history.running.1 = before + units;
    }

    /// Whether `needed` units fit.
    fn fits(&self, now: u64, needed: u64) -> bool {
        let Self { algorithm, policy, history } = self;
        let (start, window) = (self.start(now), self.window());
        let current = history.sum(|at| at >= start);
        let level = |unit: u64, rate, most| history.level(now, unit.into(), rate, most);
        let fits_bucket = |level, unit: u64| level + i128::from(needed * unit) <= i128::from(policy.capacity() * unit);
        match algorithm {
            Algorithm::Fixed => current + needed <= policy.limit,
            Algorithm::Window => self.units_running(now) + needed <= policy.limit,
            Algorithm::Sliding => history.sum(|at| self.counts_in_log(at, now)) + needed <= policy.limit,
            Algorithm::Rolling => {
                history.sum(|at| self.counts_in_log(self.latest_of_moment(at), now)) + needed <= policy.limit
            }
            Algorithm::Counter => {
                let previous = history.sum(|at| (start - window..start).contains(&at));
                let weighted = u128::from(previous) * u128::from(start + window - now);
                u128::from(current + needed) * u128::from(window) + weighted
                    <= u128::from(policy.limit) * u128::from(window)
            }
            Algorithm::Token | Algorithm::Leaky | Algorithm::Gcra if policy.limit == 0 => false,
            // A charge beyond the capacity is debt.
            Algorithm::Token | Algorithm::Leaky => fits_bucket(level(window, policy.limit.into(), i128::MAX), window),
            // A charge beyond the capacity is forgotten.
            Algorithm::Gcra => {
                let interval = (window * 1_000).div_ceil(policy.limit);
                fits_bucket(level(interval, 1_000, i128::from(policy.capacity() * interval)), interval)
            }
        }
    }

    /// FIXED counts a denied request too, if the window is full.
    fn counts_denials(&self, now: u64) -> bool {
        let start = self.start(now);
        self.algorithm == Algorithm::Fixed && self.history.sum(|at| at >= start) >= self.policy.limit
    }

    fn refund(&mut self, now: u64, at: Option<u64>, units: u64) {
        // Otherwise what is beyond the limit is given back first.
        if units == 0 {
            return;
        }
        let (start, window) = (self.start(now), self.window());
        let current = move |charged: u64| charged >= start;
        let previous = move |charged: u64| (start.saturating_sub(window)..start).contains(&charged);
        match self.algorithm {
            Algorithm::Fixed if at.is_none_or(current) => {
                let beyond = self.history.sum(current).saturating_sub(self.policy.limit);
                self.history.take(beyond + units, current);
            }
            Algorithm::Fixed => {}
            Algorithm::Window => {
                let (ends, before) = (self.history.running.0, self.units_running(now));
                if at.is_none_or(|at| at / 1_000 + window / 1_000 >= ends) {
                    self.history.running.1 = before.saturating_sub(units);
                }
            }
            Algorithm::Counter => match at {
                None => {
                    self.history.take(units, |charged| current(charged) || previous(charged));
                }
                Some(at) if current(at) => self.history.take(units, current),
                Some(at) if previous(at) => self.history.take(units, previous),
                Some(_) => {}
            },
            Algorithm::Sliding | Algorithm::Rolling => {
                let until = at.map_or(u64::MAX, |at| at / 1_000);
                let window = window / 1_000;
                let counts = |charged: u64| charged / 1_000 <= until && charged / 1_000 + window > now / 1_000;
                self.history.take(units, counts);
            }
            Algorithm::Token | Algorithm::Leaky | Algorithm::Gcra => {
                self.history.changes.push((now, -i128::from(units)));
            }
        }
    }

    fn overcharge(&mut self, now: u64, at: Option<u64>, units: u64) {
        let at = at.unwrap_or(now).min(now);
        let (start, window) = (self.start(now), self.window());
        let charged = match self.algorithm {
            Algorithm::Fixed => at >= start,
            Algorithm::Window if self.counts_in_log(at, now) => return self.charge_running(now, units),
            Algorithm::Window => false,
            Algorithm::Counter => at >= start - window,
            Algorithm::Sliding | Algorithm::Rolling => self.counts_in_log(at, now),
            Algorithm::Token | Algorithm::Leaky | Algorithm::Gcra => true,
        };
        if charged {
            self.history.charge(now, at, units);
        }
    }
}

type RequestAlways<A> = fn(&A, &mut <A as InMemory>::Key, Micros, Cost) -> Result<Reply, Unrepresentable>;

/// One small policy, and a clock that only goes forward.
fn steady<A: InMemory>(input: &Input, always: Option<RequestAlways<A>>) {
    let algorithm = input.algorithm;
    let schedule = match (input.window_ms, input.anchor.map(u64::from).and_then(Anchor::from_seconds)) {
        (0, anchor) if algorithm == Algorithm::Fixed => Schedule::Calendar(CalendarUnit::Day, anchor),
        (1, anchor) if algorithm == Algorithm::Fixed => Schedule::Calendar(CalendarUnit::Week, anchor),
        (window_ms, anchor) => {
            let Some(window) = Window::from_millis(window_ms.into()) else { return };
            match anchor.filter(|_| algorithm == Algorithm::Fixed) {
                Some(anchor) => Schedule::Anchored(window, anchor),
                None => Schedule::Aligned(window),
            }
        }
    };
    let takes_burst = matches!(algorithm, Algorithm::Token | Algorithm::Leaky | Algorithm::Gcra);
    let burst = input.burst.filter(|&burst| takes_burst && burst > 0).map(u64::from);
    let policy = Policy { schedule, limit: input.limit.into(), burst };
    let Ok(limiter) = A::with_policy(&policy) else { return };
    let mut key = A::Key::default();
    let mut oracle = Oracle { algorithm, policy, history: History::default() };
    let mut now = T0;
    for &(later, units, action) in input.actions.iter().take(64) {
        now += match later {
            Later::Micros(micros) => micros.into(),
            Later::Window(millis) => policy.window().micros().saturating_add_signed(i64::from(millis) * 1_000),
        };
        let Some(cost) = Cost::new(units.into()) else { continue };
        let ago = |millis: i16| now.saturating_add_signed(-i64::from(millis) * 1_000);
        A::expire(&mut key, Micros(now));
        match action {
            // Units that a moment of the log has given back can leave it a later time than the rest of them had.
            Action::Refund(_) | Action::Overcharge(_) if algorithm == Algorithm::Rolling && input.window_ms > 4_096 => {
            }
            Action::Refund(at) => {
                let at = at.map(ago);
                limiter.refund(&mut key, Micros(now), at.map(Micros), cost);
                oracle.refund(now, at, cost.units());
            }
            Action::Overcharge(at) => {
                let at = at.map(ago);
                if limiter.overcharge(&mut key, Micros(now), at.map(Micros), cost).is_ok() {
                    oracle.overcharge(now, at, cost.units());
                }
            }
            Action::Always => {
                let Some(Ok(reply)) = always.map(|request| request(&limiter, &mut key, Micros(now), cost)) else {
                    continue;
                };
                oracle.overcharge(now, None, cost.units());
                let expected = policy.capacity() > 0 && oracle.fits(now, 0);
                assert_eq!(reply.verdict.allowed, expected, "{policy:?} at {now} for {cost:?}: {:?}", oracle.history);
                assert_eq!(reply.figures.remaining, limiter.remaining(&key, Micros(now)));
            }
            Action::Request => {
                let Ok(reply) = limiter.request(&mut key, Micros(now), cost) else { continue };
                let expected = oracle.fits(now, cost.needed());
                assert_eq!(reply.verdict.allowed, expected, "{policy:?} at {now} for {cost:?}: {:?}", oracle.history);
                if expected && algorithm == Algorithm::Window && cost.units() > 0 {
                    oracle.charge_running(now, cost.units());
                } else if expected || oracle.counts_denials(now) {
                    oracle.history.charge(now, now, cost.units());
                }
                assert_eq!(reply.figures.remaining, limiter.remaining(&key, Micros(now)));
            }
        }
        let remaining = limiter.remaining(&key, Micros(now));
        let told =
            || format!("{remaining} remain after {action:?} of {units}, {policy:?} at {now}: {:?}", oracle.history);
        assert!(remaining == 0 || oracle.fits(now, remaining), "{}", told());
        assert!(!oracle.fits(now, remaining + 1), "{}", told());
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
        let capacity = algorithm.forecast(None, now).capacity();
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
                InMemory::refund(&algorithm, &mut refunded, now, at.map(Micros), cost);
                let most = before.saturating_add(cost.units()).min(capacity);
                assert!((before..=most).contains(&algorithm.remaining(&refunded, now)), "{}", told());
            }
            WildAction::Overcharge(at) => {
                let Ok(()) = InMemory::overcharge(&algorithm, &mut key, now, at.map(Micros), cost) else { continue };
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
    let algorithm = RollingLog::new(&policy);
    let mut key = wild.log.record();
    for &(now, units, action) in wild.requests.iter().take(16) {
        let now = Micros(now);
        let Some(cost) = Cost::new(units) else { continue };
        RollingLog::expire(&mut key, now);
        let text = key.as_ref().map(|stored| stored.text.clone());
        // A key that the module would answer with an error.
        let Some(log) = (match &text {
            Some(text) => algorithm.read(text, now),
            None => Some(redis_rl_algorithm::rolling_log::Log::EMPTY),
        }) else {
            assert!(!wild.log.in_order, "{:?} at {now:?}", wild.log);
            continue;
        };
        let (before, remaining) = (log.units(), algorithm.remaining(&key, now));
        assert_eq!(remaining, policy.limit.saturating_sub(before));
        let change = match action {
            WildAction::Request => algorithm.decide(&log, now, cost).change,
            WildAction::Refund(at) => algorithm.refund(&log, at.map(Micros), cost),
            WildAction::Overcharge(at) => match algorithm.overcharge(&log, now, at.map(Micros), cost) {
                Ok(change) => change,
                Err(_) => continue,
            },
        };
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
                InMemory::refund(&algorithm, &mut key, now, at.map(Micros), cost);
                [refunded, if at.is_some() { before } else { refunded }]
            }
            WildAction::Overcharge(at) => {
                let _ = InMemory::overcharge(&algorithm, &mut key, now, at.map(Micros), cost);
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

fuzz_target!(|input: Input| {
    match input.algorithm {
        Algorithm::Fixed => steady::<FixedWindow>(&input, Some(Always::request_always)),
        Algorithm::Window => steady::<WindowCounter>(&input, Some(Always::request_always)),
        Algorithm::Sliding => steady::<SlidingLog>(&input, None),
        Algorithm::Counter => (steady::<SlidingCounter>(&input, Some(Always::request_always)), wild::<SlidingCounter>(&input.wild)).0,
        Algorithm::Token => (steady::<TokenBucket>(&input, Some(Always::request_always)), wild::<TokenBucket>(&input.wild)).0,
        Algorithm::Leaky => (steady::<LeakyBucket>(&input, None), wild::<LeakyBucket>(&input.wild)).0,
        Algorithm::Gcra => (steady::<Gcra>(&input, None), wild::<Gcra>(&input.wild)).0,
        Algorithm::Rolling => (steady::<RollingLog>(&input, Some(Always::request_always)), wild_log(&input.wild)).0,
    }
});
