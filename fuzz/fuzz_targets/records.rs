//! The text of a key: an algorithm that reads it would write the same bytes. So a state has one text, and a text is of
//! one algorithm.

#![no_main]

use libfuzzer_sys::fuzz_target;
use redis_rl::fuzzing::{counter, record};

fuzz_target!(|input: &[u8]| {
    let written: Vec<Vec<u8>> = record(input).into_iter().flatten().collect();
    assert!(written.iter().all(|written| written == input));
    assert!(written.len() <= 1, "{} algorithms read it", written.len());

    let text = std::str::from_utf8(input).ok();
    let naive = text.and_then(|text| text.parse::<i64>().ok().filter(|n| n.to_string() == text));
    assert_eq!(counter(input), naive);
});
