//! The text of a key: an algorithm that reads it would write the same bytes. So a state has one text, and a text is of
//! one algorithm. Any bytes in the key of a rolling log: no panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use redis_rl::algorithm::{Cost, MAX_COUNT, Micros, Policy, RollingLog, Window};
use redis_rl::fuzzing::{counter, record};
use redis_rl::in_memory::{InMemory, StoredRecord};

/// 2023-11-14 22:13:20 UTC.
const NOW: Micros = Micros(1_700_000_000_000_000);

/// Whether a rolling log reads the text. Runs all that a command does with it.
fn rolling(text: &[u8]) -> bool {
    let policies = [(1, 1), (5_000, 9), (86_400_000, MAX_COUNT)];
    let reads = policies.map(|(window, limit)| {
        let algorithm = RollingLog::new(&Policy::new(Window::from_millis(window).expect("a window"), limit));
        for units in [0, 1, 7, MAX_COUNT] {
            let cost = Cost::new(units).expect("a cost");
            for at in [None, Some(NOW), Some(Micros(NOW.0 - 1_000_000))] {
                let mut key = Some(StoredRecord { text: text.to_vec(), expires_at: None });
                let _ = InMemory::overcharge(&algorithm, &mut key, NOW, at, cost);
                let _ = algorithm.request(&mut key, NOW, cost);
                InMemory::refund(&algorithm, &mut key, NOW, at, cost);
            }
        }
        algorithm.read(text, NOW).is_some()
    });
    reads.contains(&true)
}

fuzz_target!(|input: &[u8]| {
    let written: Vec<Vec<u8>> = record(input).into_iter().flatten().collect();
    assert!(written.iter().all(|written| written == input));
    let readers = written.len() + usize::from(rolling(input));
    assert!(readers <= 1, "{readers} algorithms read it");

    let text = std::str::from_utf8(input).ok();
    let naive = text.and_then(|text| text.parse::<i64>().ok().filter(|n| n.to_string() == text));
    assert_eq!(counter(input), naive);
});
