//! How long the current window is, for the headers.

use redis_rl_algorithm::period::{Anchor, CalendarUnit};
use redis_rl_algorithm::{Micros, Schedule};

use super::{Calendar, Policy, Window};

impl Policy {
    /// The length of the window that contains `now_ms`, in milliseconds. Only months and years differ in length.
    pub(crate) fn window_millis_at(&self, now_ms: u64) -> u64 {
        let unit = match self.window() {
            Window::Calendar(Calendar::Month) => CalendarUnit::Month,
            Window::Calendar(Calendar::Year) => CalendarUnit::Year,
            _ => return u64::try_from(self.longest_window().as_millis()).unwrap_or(u64::MAX),
        };
        let anchor = self.anchor_seconds().and_then(Anchor::from_seconds);
        let now = Micros(now_ms.saturating_mul(1_000));
        Schedule::Calendar(unit, anchor).period_at(now).seconds().saturating_mul(1_000)
    }
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
