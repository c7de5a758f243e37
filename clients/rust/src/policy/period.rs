//! How long the current window is, for the headers.

use std::time::Duration;

use jiff::civil::DateTime;
use jiff::tz::Offset;
use jiff::{Span, Timestamp};

use super::{Calendar, Policy, Window};

impl Policy {
    /// The length of the window that contains `now_ms`, in milliseconds. Only months and years differ in length.
    pub(crate) fn window_millis_at(&self, now_ms: u64) -> u64 {
        let months = match self.window() {
            Window::Calendar(Calendar::Month) => 1,
            Window::Calendar(Calendar::Year) => 12,
            _ => return millis(self.longest_window()),
        };
        let anchor = self.anchor_seconds().unwrap_or(0);
        months_around(now_ms / 1_000, anchor, months).unwrap_or_else(|| millis(self.longest_window()))
    }
}

fn millis(length: Duration) -> u64 {
    u64::try_from(length.as_millis()).unwrap_or(u64::MAX)
}

/// The length of the period of `step` months that contains `now`, where one period starts at `anchor`. A month that is
/// too short for the anchor's day starts on its last day.
fn months_around(now: u64, anchor: u64, step: i32) -> Option<u64> {
    let (today, anchor) = (date(now)?, date(anchor)?);
    let months = |date: DateTime| i32::from(date.year()) * 12 + i32::from(date.month());
    let apart = (months(today) - months(anchor)).div_euclid(step) * step;
    let start = |months| {
        let day = anchor.date().checked_add(Span::new().try_months(months).ok()?).ok()?;
        let at = Offset::UTC.to_timestamp(day.to_datetime(anchor.time())).ok()?;
        Some(at.as_second())
    };
    let middle = start(apart)?;
    let (from, to) = if middle <= i64::try_from(now).ok()? {
        (middle, start(apart + step)?)
    } else {
        (start(apart - step)?, middle)
    };
    Some(u64::try_from(to - from).ok()? * 1_000)
}

/// The date and time in UTC.
fn date(seconds: u64) -> Option<DateTime> {
    Some(Offset::UTC.to_datetime(Timestamp::from_second(i64::try_from(seconds).ok()?).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_and_years_have_their_own_lengths() {
        let month = Policy::fixed_calendar(Calendar::Month, 1);
        let year = Policy::fixed_calendar(Calendar::Year, 1);
        let days = |policy: Policy, seconds: u64| policy.window_millis_at(seconds * 1_000) / 86_400_000;
        // 29 February 2024, and 1 January 2026.
        assert_eq!((days(month, 1_709_164_800), days(year, 1_709_164_800)), (29, 366));
        assert_eq!((days(month, 1_767_225_600), days(year, 1_767_225_600)), (31, 365));
        // Anchored at 31 January 2026, 12:00: the period that starts on 28 February ends on 31 March.
        let billing = month.anchor(1_769_860_800);
        assert_eq!((days(billing, 1_769_860_800), days(billing, 1_772_280_000)), (28, 31));
        // Before the anchor.
        assert_eq!(days(billing, 1_769_860_799), 31);
        assert_eq!(days(Policy::fixed_calendar(Calendar::Week, 1), 0), 7);
    }
}
