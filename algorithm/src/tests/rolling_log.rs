//! What ROLLING promises beside the laws: how a change is written, moments of more than a millisecond, and damaged
//! records.

use proptest::prelude::*;

use super::super::rolling_log::*;
use super::*;

const T0: u64 = super::T0 / 1_000;

type Key = Option<StoredRecord>;

fn at(millis: u64) -> Micros {
    Micros::from_millis(millis)
}

fn rolling(window: u64, limit: u64) -> RollingLog {
    RollingLog::new(&policy(window, limit)).unwrap()
}

fn record(entries: &[(u64, u64)]) -> Vec<u8> {
    let entries = entries.iter().flat_map(|&(millis, total)| Entry { millis, total }.encode());
    TAG.into_iter().chain(entries).collect()
}

/// The entries of a key: times and totals.
fn entries(key: &Key) -> Vec<(u64, u64)> {
    let text = key.as_ref().map_or(&TAG[..], |stored| &stored.text);
    let entries = text.strip_prefix(&TAG).unwrap().chunks_exact(ENTRY_LEN);
    entries.map(|bytes| Entry::decode(bytes.try_into().unwrap())).map(|entry| (entry.millis, entry.total)).collect()
}

fn request(algorithm: &RollingLog, key: &mut Key, millis: u64, units: u64) -> bool {
    RollingLog::expire(key, at(millis));
    algorithm.request(key, at(millis), cost(units)).unwrap().verdict.allowed
}

/// How a request would be written, and what it would write.
fn write(algorithm: &RollingLog, text: &[u8], millis: u64, units: u64) -> Write {
    let log = algorithm.read(text, at(millis)).unwrap();
    let change = algorithm.decide(log, at(millis), cost(units)).unwrap().change;
    algorithm.write(&log, change.state().unwrap(), at(millis))
}

#[test]
fn one_entry_for_each_moment() {
    // A moment of 1 ms.
    let (algorithm, mut key) = (rolling(4_096, 500), None);
    for millis in [T0, T0, T0 + 1, T0 + 2, T0 + 2] {
        assert!(request(&algorithm, &mut key, millis, 2));
    }
    assert_eq!(entries(&key), [(T0, 4), (T0 + 1, 6), (T0 + 2, 10)]);
    // A moment of 10 ms: an entry has the time of its latest request.
    let (algorithm, mut key) = (rolling(40_960, 500), None);
    for millis in [T0, T0 + 5, T0 + 9, T0 + 10, T0 + 25, T0 + 26] {
        assert!(request(&algorithm, &mut key, millis, 2));
    }
    assert_eq!(entries(&key), [(T0 + 9, 6), (T0 + 10, 8), (T0 + 26, 12)]);
}

#[test]
fn a_charge_writes_one_entry() {
    let algorithm = rolling(4_096, 500);
    let text = record(&[(T0, 1), (T0 + 5, 4)]);
    let encode = |millis, total| Entry { millis, total }.encode();
    assert_eq!(write(&algorithm, &text, T0 + 5, 7), Write::Last { offset: 2 + 15, bytes: encode(T0 + 5, 11) });
    assert_eq!(write(&algorithm, &text, T0 + 6, 7), Write::Append(encode(T0 + 6, 11)));
    // The clock stepped back: what is ahead stays ahead.
    let tail = |offset, entries| Write::Tail { offset, bytes: record(entries)[2..].to_vec() };
    assert_eq!(write(&algorithm, &text, T0 + 4, 7), tail(2 + 15, &[(T0 + 4, 8), (T0 + 5, 11)]));
    assert_eq!(write(&algorithm, &text, T0, 7), tail(2, &[(T0, 8), (T0 + 5, 11)]));
}

#[test]
fn a_record_is_written_anew_when_half_of_it_no_longer_counts() {
    let algorithm = rolling(1_000, 500);
    let text = record(&[(T0, 1), (T0 + 1, 3), (T0 + 2, 6), (T0 + 3, 10)]);
    assert!(matches!(write(&algorithm, &text, T0 + 1_000, 5), Write::Append(_)));
    let rest = record(&[(T0 + 2, 3), (T0 + 3, 7), (T0 + 1_001, 12)]);
    assert_eq!(write(&algorithm, &text, T0 + 1_001, 5), Write::Whole(rest));
}

#[test]
fn totals_start_from_0_before_they_overflow() {
    let algorithm = rolling(1_000, MAX_COUNT);
    let text = record(&[(T0, u64::MAX - 3), (T0 + 999, u64::MAX - 2), (T0 + 1_000, u64::MAX)]);
    assert!(matches!(write(&algorithm, &text, T0 + 1_000, 1), Write::Whole(_)));
    let expected = record(&[(T0 + 999, 1), (T0 + 1_000, 3), (T0 + 1_001, MAX_COUNT)]);
    assert_eq!(write(&algorithm, &text, T0 + 1_001, MAX_COUNT - 3), Write::Whole(expected));
}

#[test]
fn a_refund_finds_the_units_of_a_time_in_the_entry_of_their_moment() {
    let (algorithm, mut key) = (rolling(40_960, 50), None);
    for (millis, units) in [(T0 + 1, 2), (T0 + 10, 3), (T0 + 19, 4), (T0 + 30, 5)] {
        assert!(request(&algorithm, &mut key, millis, units));
    }
    algorithm.refund(&mut key, at(T0 + 50), Some(at(T0 + 10)), cost(3));
    assert_eq!(entries(&key), [(T0 + 1, 2), (T0 + 19, 6), (T0 + 30, 11)]);
}

/// What a log would be with one entry for each charge.
#[derive(Clone, Debug, Default)]
struct Naive {
    charges: Vec<(u64, u64)>,
}

impl Naive {
    fn units(&self, window: u64, now: u64) -> u128 {
        let counts = |&&(millis, _): &&(u64, u64)| millis + window > now;
        self.charges.iter().filter(counts).map(|&(_, units)| u128::from(units)).sum()
    }
}

fn units() -> impl Strategy<Value = u64> {
    prop_oneof![6 => 0..5u64, 2 => (0..63u32).prop_map(|bits| 1 << bits), 2 => (any::<u64>(), 1..64u32).prop_map(|(n, by)| n >> by)]
}

fn limit() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0..20u64, 1 => (10..63u32).prop_map(|bits| 1 << bits), 1 => Just(MAX_COUNT)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// Windows and limits that change from call to call, and a clock that steps back: never more than the limit of the call in
    /// its window.
    #[test]
    fn changing_policies_never_allow_too_much(
        policies in proptest::collection::vec((prop_oneof![1..50u64, 4_000..100_000u64, Just(86_400_000)], limit()), 1..4),
        steps in proptest::collection::vec((prop_oneof![4 => 0..60_000i64, 1 => -60_000..0i64], 0..9usize, units()), 1..60),
    ) {
        let (mut key, mut naive, mut now) = (None, Naive::default(), T0);
        for (step, policy, units) in steps {
            now = now.saturating_add_signed(step);
            let (window, limit) = policies[policy % policies.len()];
            RollingLog::expire(&mut key, at(now));
            if key.is_none() {
                naive = Naive::default();
            }
            let before = key.clone();
            let fits = naive.units(window, now) + u128::from(units.max(1)) <= u128::from(limit);
            if request(&rolling(window, limit), &mut key, now, units) {
                prop_assert!(fits, "{window} {limit} {units}: {before:?}");
                naive.charges.push((now, units));
            } else {
                // A denial moves what is ahead of the clock to now.
                naive.charges.iter_mut().for_each(|(millis, _)| *millis = now.min(*millis));
            }
            // A shorter window may remove what a longer one would count, as SLIDING does.
            naive.charges.retain(|&(millis, _)| millis + window > now);
        }
    }
}

/// Runs everything that a command does on a record, which may be damaged. What is written can be read.
fn survives(algorithm: &RollingLog, text: &[u8], now: Micros) {
    let Some(log) = algorithm.read(text, now) else { return };
    let all = [0, 1, 3, 1 << 62, MAX_COUNT].map(cost);
    let mut changes = vec![Change::Keep];
    for units in all {
        changes.push(algorithm.decide(log, now, units).unwrap().change);
        for time in [None, Some(now), Some(at(T0)), Some(at(T0 + 7)), Some(Micros(0)), Some(Micros(u64::MAX))] {
            changes.push(algorithm.refunding(log, now, time, units));
            changes.extend(algorithm.overcharging(log, now, time, units));
        }
    }
    for change in changes {
        let forecast = algorithm.forecast(log, &change, now);
        forecast.remaining();
        for units in all {
            forecast.fits_at(units.needed());
        }
        if let Some(edit) = change.state() {
            let mut written = text.to_vec();
            algorithm.write(&log, edit, now).apply_to(&mut written);
            assert!((written.len() - TAG.len()).is_multiple_of(ENTRY_LEN));
            assert!(written.len() <= TAG.len() + MAX_ENTRIES * ENTRY_LEN);
        }
    }
}

proptest! {
    /// Whatever was written over a record, and wherever it was cut.
    #[test]
    fn a_damaged_record_is_foreign_or_some_record(
        entries in proptest::collection::vec((prop_oneof![T0..T0 + 900, any::<u64>()], any::<u64>()), 0..6),
        (index, byte) in (0..90usize, any::<u8>()),
        len in 0..95usize,
        now in prop_oneof![(T0..T0 + 1_900).prop_map(at), any::<u64>().prop_map(Micros)],
        algorithm in prop_oneof![Just(rolling(10, 5)), Just(rolling(1_000, MAX_COUNT)), Just(rolling(86_400_000, 1 << 62))],
    ) {
        let mut text = record(&entries);
        if let Some(found) = text.get_mut(index) {
            *found = byte;
        }
        text.truncate(len);
        let whole = text.starts_with(&TAG) && text.len() > 2 && (text.len() - 2).is_multiple_of(ENTRY_LEN);
        prop_assert!(whole || algorithm.read(&text, now).is_none());
        survives(&algorithm, &text, now);
    }
}

#[test]
fn a_record_is_of_at_most_so_many_entries() {
    let longest = record(&vec![(T0, 1); MAX_ENTRIES + 1]);
    assert!(rolling(10, 5).read(&longest, at(T0)).is_none(), "too long");
    assert!(rolling(10, 5).read(&longest[..longest.len() - ENTRY_LEN], at(T0)).is_some());
    // The total before what counts is above the last total.
    assert!(rolling(10, 5).read(&record(&[(T0, 9), (T0 + 50, 8)]), at(T0 + 51)).is_none());
}

/// The longest that a record gets, and the longest that one gets in which nothing is dead.
fn longest(mut requests: impl Iterator<Item = (RollingLog, u64)>) -> usize {
    let mut key = None;
    let len = |(algorithm, now): (RollingLog, u64)| {
        assert!(request(&algorithm, &mut key, now, 1));
        (key.as_ref().unwrap().text.len() - TAG.len()) / ENTRY_LEN
    };
    requests.by_ref().map(len).max().unwrap()
}

#[test]
fn a_record_has_at_most_64_kib_of_entries_that_count_and_128_kib_in_all() {
    const KIB: usize = 1_024;
    const { assert!(2 + MAX_ENTRIES * ENTRY_LEN <= 128 * KIB && 2 + 4_097 * ENTRY_LEN <= 64 * KIB) };
    for window in [4_096, 5_000, 1_000_000_007] {
        let algorithm = rolling(window, MAX_COUNT);
        // Two requests in each moment, for three windows.
        let times = (0..3 * 8_192).map(|n| T0 + n * window / 8_192);
        let most = longest(times.map(|now| (algorithm, now)));
        assert!((4_096..=2 * 4_097).contains(&most), "{most}");
        let mut key = None;
        for n in 0..=8_192 {
            request(&algorithm, &mut key, T0 + 1 + n * window / 8_192, 1);
        }
        assert!((4_095..=4_098).contains(&entries(&key).len()), "{}", entries(&key).len());
    }
    // Windows that change: a short one adds an entry in every millisecond.
    let [short, middle, long] = [4_096, 12_000, 86_400_000].map(|window| rolling(window, MAX_COUNT));
    let mut key = None;
    for n in 0..12_000 {
        // Just before the short one would remove half of the entries, the middle one adds more than fit.
        let algorithm = match n {
            8_189..8_230 => &middle,
            _ if n % 4_095 == 0 => &long,
            _ => &short,
        };
        assert!(request(algorithm, &mut key, T0 + n, 1));
        let text = &key.as_ref().unwrap().text;
        assert!(text.len() <= TAG.len() + MAX_ENTRIES * ENTRY_LEN);
        // When no more fit, entries in one moment of the middle one have become one.
        assert!(n != 8_229 || entries(&key).len() <= 4_097, "{}", entries(&key).len());
        assert!(short.read(text, at(T0 + n)).unwrap().units() > n.min(4_095), "none leaves early");
    }
    // A clock that steps back by more and more.
    let steps = (0..10_000).map(|n| (rolling(4_096, MAX_COUNT), T0 - n / 4_000 * 100_000 + n % 4_000));
    assert!(longest(steps) <= MAX_ENTRIES);
}
