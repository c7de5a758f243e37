//! What a key may hold: what is read as a record would be written as the same bytes, and no other bytes mean the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use redis_rl::fuzzing::{counter, record};

fuzz_target!(|input: &[u8]| {
    let read: Vec<Vec<u8>> = record(input).into_iter().flatten().collect();
    assert!(read.iter().all(|written| written == input));
    // Nobody's record is another's.
    assert!(read.len() <= 1, "{} algorithms take it", read.len());

    let text = std::str::from_utf8(input).ok();
    let naive = text.and_then(|text| text.parse::<i64>().ok().filter(|n| n.to_string() == text));
    assert_eq!(counter(input), naive);
});
