//! The value of a key: an algorithm whose record is integers would write the same bytes as it reads, so a state has one
//! text. And a value is of one algorithm.
//! guarantee: readers

#![no_main]

use libfuzzer_sys::fuzz_target;
use redis_rl_algorithm::rolling_log::{ENTRY_LEN, MAX_ENTRIES};
use redis_rl_algorithm::{Algorithm, Micros, Policy, RollingLog, Window};
use redis_rl::fuzzing::{counter, record};

/// The time and the total of each entry.
fn naive_entries(input: &[u8]) -> Option<Vec<(u64, u64)>> {
    let entries = input.strip_prefix(b"R:")?;
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte));
    let count = entries.len() / ENTRY_LEN;
    (entries.len() % ENTRY_LEN == 0 && (1..=MAX_ENTRIES).contains(&count))
        .then(|| entries.chunks(ENTRY_LEN).map(|entry| (number(&entry[..7]), number(&entry[7..]))).collect())
}

/// The units of a rolling log of one minute; `None` if it is no such log.
fn rolling(input: &[u8], now: Micros) -> Option<u64> {
    let log = RollingLog::new(&Policy::new(Window::from_millis(60_000).unwrap(), 5)).unwrap();
    let units = log.read(input, now).map(|log| log.units());
    let Some(entries) = naive_entries(input) else {
        assert_eq!(units, None);
        return None;
    };
    // An order that only damage can break. A search in a damaged record finds some entry.
    if entries.is_sorted_by(|a, b| a.0 <= b.0 && a.1 <= b.1) {
        let dead = entries.iter().rev().find(|(millis, _)| millis + 60_000 <= now.millis());
        let last = entries.last().map_or(0, |&(_, total)| total);
        assert_eq!(units, Some(last - dead.map_or(0, |&(_, total)| total)), "{entries:?} at {now:?}");
    }
    units
}

fuzz_target!(|input: &[u8]| {
    let written: Vec<Vec<u8>> = record(input).into_iter().flatten().collect();
    assert!(written.iter().all(|written| written == input));

    // Around each time that is in the record, and far from it.
    let times = naive_entries(input).unwrap_or_default().into_iter().map(|(millis, _)| millis);
    let around = times.take(8).flat_map(|millis| [millis, millis + 59_999, millis + 60_000]);
    let times = around.map(|millis| Micros::from_millis(millis)).chain([Micros(0), Micros(u64::MAX)]);
    let logs = times.filter(|&now| rolling(input, now).is_some()).count().min(1);
    assert!(written.len() + logs <= 1, "{} algorithms read it", written.len() + logs);

    let text = std::str::from_utf8(input).ok();
    let naive = text.and_then(|text| text.parse::<i64>().ok().filter(|n| n.to_string() == text));
    assert_eq!(counter(input), naive);
});
