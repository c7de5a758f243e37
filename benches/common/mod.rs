//! Code that the benchmarks share.
#![allow(dead_code)] // No benchmark uses all of it.

pub mod budget;
pub mod cases;
pub mod lab;
pub mod profile;
pub mod report;

use std::time::{SystemTime, UNIX_EPOCH};

pub fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970");
    u64::try_from(since.as_millis()).expect("milliseconds")
}

/// `2024-03-09`, in UTC.
pub fn today() -> String {
    // From days to a date, as in Howard Hinnant's "chrono-Compatible Low-Level Date Algorithms".
    let days = now_ms() / 86_400_000 + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let (day, month) = (of_year - (153 * shifted + 2) / 5 + 1, if shifted < 10 { shifted + 3 } else { shifted - 9 });
    format!("{}-{month:02}-{day:02}", year + era * 400 + u64::from(month <= 2))
}
