//! Known dates, and a walk over 450 years, day by day, as the oracle.

use proptest::prelude::*;

use super::super::period::*;
use super::super::*;
use super::SECOND;

const MILLIS: u64 = 1_000;
const DAY: u64 = 86_400 * SECOND;
/// 400 years: the Gregorian calendar repeats after them.
const CYCLE: u64 = 146_097 * DAY;

fn anchor(seconds: u64) -> Anchor {
    Anchor::from_seconds(seconds).unwrap()
}

fn window(millis: u64) -> Window {
    Window::from_millis(millis).unwrap()
}

fn calendar(unit: CalendarUnit, at: Option<u64>) -> Schedule {
    Schedule::Calendar(unit, at.map(anchor))
}

/// A day of the oracle: the only arithmetic is counting on from the day before.
#[derive(Clone, Copy, Debug)]
struct Date {
    year: u64,
    month: u64,
    day: u64,
    /// 0 is Monday.
    weekday: u64,
    /// Days since 1 January 1970.
    number: u64,
}

impl Date {
    /// 1 January 1970 was a Thursday.
    const EPOCH: Self = Self { year: 1970, month: 1, day: 1, weekday: 3, number: 0 };

    fn days_in_month(&self) -> u64 {
        let leap = match self.year {
            year if year.is_multiple_of(400) => true,
            year if year.is_multiple_of(100) => false,
            year => year.is_multiple_of(4),
        };
        match self.month {
            2 if leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        }
    }

    fn next(&self) -> Self {
        let (year, month, day) = match (self.month, self.day) {
            (12, 31) => (self.year + 1, 1, 1),
            (month, day) if day == self.days_in_month() => (self.year, month + 1, 1),
            (month, day) => (self.year, month, day + 1),
        };
        Self { year, month, day, weekday: (self.weekday + 1) % 7, number: self.number + 1 }
    }

    /// Seconds since the epoch.
    fn at(&self, time_of_day: u64) -> u64 {
        self.number * 86_400 + time_of_day
    }
}

/// Every day from 1 January 1970 on.
fn days() -> impl Iterator<Item = Date> {
    std::iter::successors(Some(Date::EPOCH), |date| Some(date.next()))
}

/// 1970 to 2419.
fn walk() -> impl Iterator<Item = Date> {
    days().take_while(|date| date.year < 2420)
}

fn find(year: u64, month: u64, day: u64) -> Date {
    days().find(|date| (date.year, date.month, date.day) == (year, month, day)).unwrap()
}

/// The periods of the walk: every two starts that follow each other, in microseconds.
fn periods(starts: impl Fn(&Date) -> bool, time_of_day: u64) -> Vec<(u64, u64)> {
    let starts: Vec<u64> = walk().filter(starts).map(|date| date.at(time_of_day) * SECOND).collect();
    starts.windows(2).map(|pair| (pair[0], pair[1])).collect()
}

/// The schedule has exactly these periods, whichever moment of a period is looked up.
fn assert_periods(schedule: Schedule, expected: &[(u64, u64)]) {
    assert!(expected.len() > 400, "{schedule:?}: the walk found {}", expected.len());
    for &(start, end) in expected {
        let period = Period { start: Micros(start), end: Micros(end), length: end - start };
        for now in [start, start + 1, start + (end - start) / 3, end - SECOND, end - 1] {
            assert_eq!(schedule.period_at(Micros(now)), period, "{schedule:?} at {now}");
        }
    }
}

#[test]
fn without_an_anchor_periods_start_where_the_calendar_does() {
    assert_periods(calendar(CalendarUnit::Day, None), &periods(|_| true, 0));
    assert_periods(calendar(CalendarUnit::Week, None), &periods(|date| date.weekday == 0, 0));
    assert_periods(calendar(CalendarUnit::Month, None), &periods(|date| date.day == 1, 0));
    assert_periods(calendar(CalendarUnit::Year, None), &periods(|date| (date.month, date.day) == (1, 1), 0));
}

/// Years of anchors: an ordinary one, leap years, one that is divisible by 4 alone, the ends of the walk.
const YEARS: [u64; 6] = [1970, 2023, 2024, 2000, 2100, 2419];
/// Midnight, a moment in the day, the last second.
const TIMES: [u64; 3] = [0, 45_296, 86_399];

#[test]
fn a_month_starts_on_the_day_of_its_anchor_or_on_the_last_one() {
    let (mut years, mut times) = (YEARS.into_iter().cycle(), TIMES.into_iter().cycle());
    for day in 1..=31 {
        let time = times.next().unwrap();
        let expected = periods(|date| date.day == day.min(date.days_in_month()), time);
        assert_eq!(expected.len(), 450 * 12 - 1);
        // Where the anchor lies makes no difference: in January, or in a later month that has that day.
        for month in [1, if day > 30 { 12 } else { 4 }] {
            let at = find(years.next().unwrap(), month, day).at(time);
            assert_periods(calendar(CalendarUnit::Month, Some(at)), &expected);
        }
    }
}

#[test]
fn a_year_starts_on_the_day_of_its_anchor_and_in_february_on_the_last_one_at_most() {
    for (month, day) in [(1, 1), (1, 31), (2, 28), (2, 29), (3, 1), (6, 30), (12, 31)] {
        for time in TIMES {
            let starts = |date: &Date| date.month == month && date.day == day.min(date.days_in_month());
            let expected = periods(starts, time);
            for year in YEARS.into_iter().filter(|&year| day <= find(year, month, 1).days_in_month()) {
                assert_periods(calendar(CalendarUnit::Year, Some(find(year, month, day).at(time))), &expected);
            }
        }
    }
}

#[test]
fn an_anchor_reaches_the_end_of_the_year_9999() {
    let next_year = days().find(|date| date.year == 10_000).unwrap();
    assert_eq!(Anchor::MAX.seconds(), next_year.at(0) - 1);
    assert_eq!(Anchor::from_seconds(Anchor::MAX.seconds() + 1), None);
}

/// The start is cut at the epoch, the length is not, and the period after it has another start.
#[test]
fn a_period_that_starts_before_1970() {
    let day = |days: u64| Micros(days * DAY);
    let expected = [
        // Monday, 29 December 1969.
        (calendar(CalendarUnit::Week, None), day(4), 7),
        (calendar(CalendarUnit::Week, Some(86_400)), day(1), 7),
        // 31 December 1969; 17 December 1969; 29 December 1969, as 1970 has no 29 February.
        (calendar(CalendarUnit::Month, Some(find(1970, 1, 31).at(0))), day(30), 31),
        (calendar(CalendarUnit::Month, Some(find(2026, 3, 17).at(0))), day(16), 31),
        (calendar(CalendarUnit::Year, Some(find(2024, 2, 29).at(0))), day(58), 365),
        (Schedule::Anchored(window(30 * DAY / MILLIS), anchor(2 * 86_400)), day(2), 30),
    ];
    for (schedule, end, days) in expected {
        for now in [0, 1, end.0 - 1] {
            let period = schedule.period_at(Micros(now));
            assert_eq!(period, Period { start: Micros(0), end, length: days * DAY }, "{schedule:?}");
        }
        assert_eq!(schedule.period_at(end).start, end);
    }
}

#[test]
fn the_last_period_ends_at_the_largest_moment() {
    let now = Micros(u64::MAX);
    for unit in CalendarUnit::ALL {
        for at in [None, Some(0), Some(find(2024, 2, 29).at(1)), Some(Anchor::MAX.seconds())] {
            let period = calendar(unit, at).period_at(now);
            assert!(period.start < now && period.end == now, "{unit:?}: {period:?}");
            assert_eq!(calendar(unit, at).period_at(period.start), period);
        }
    }
    // It lies in the year 586,524: 1,461 cycles after 2124.
    let year = calendar(CalendarUnit::Year, None).period_at(now);
    assert_eq!(year.start.0, 1_461 * CYCLE + find(2124, 1, 1).at(0) * SECOND);
    assert_eq!(year.length, 366 * DAY);
}

fn moments() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => 0..=u64::MAX,
        // 1970 to 2419, to the microsecond.
        4 => 0..=450 * 366 * DAY,
        // The edges of days, of cycles, and of what can be represented.
        2 => (0..=u64::MAX / DAY, 0..=2_u64).prop_map(|(day, micros)| (day * DAY + micros).saturating_sub(1)),
        1 => (0..=u64::MAX / CYCLE, 0..=2_u64).prop_map(|(cycle, micros)| (cycle * CYCLE + micros).saturating_sub(1)),
        1 => prop::sample::select(vec![0, 1, u64::MAX - 1, u64::MAX]),
    ]
}

fn anchors() -> impl Strategy<Value = Anchor> {
    let edges = vec![0, 1, 86_399, 86_400, Anchor::MAX.seconds()];
    prop_oneof![
        1 => 0..=Anchor::MAX.seconds(),
        1 => 0..=450 * 366 * 86_400_u64,
        1 => prop::sample::select(edges),
    ]
    .prop_map(anchor)
}

fn windows() -> impl Strategy<Value = Window> {
    prop_oneof![
        (0..=49_u32, 0..=999_u64).prop_map(|(bits, more)| (1 << bits) + more),
        prop::sample::select(vec![1, 1_000, 60_000, 86_400_000, 366 * 86_400_000, MAX_SPAN / MILLIS]),
    ]
    .prop_map(|millis| window(millis.min(MAX_SPAN / MILLIS)))
}

fn units() -> impl Strategy<Value = CalendarUnit> {
    prop::sample::select(CalendarUnit::ALL.to_vec())
}

fn schedules() -> impl Strategy<Value = Schedule> {
    prop_oneof![
        1 => windows().prop_map(Schedule::Aligned),
        2 => (windows(), anchors()).prop_map(|(window, anchor)| Schedule::Anchored(window, anchor)),
        4 => (units(), prop::option::of(anchors())).prop_map(|(unit, anchor)| Schedule::Calendar(unit, anchor)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_096))]

    /// Every moment of the clock lies in exactly one period, and the periods touch each other.
    #[test]
    fn a_moment_lies_in_one_period(schedule in schedules(), now in moments(), inside in 0..=u64::MAX) {
        let period = schedule.period_at(Micros(now));
        let Period { start: Micros(start), end: Micros(end), length } = period;
        prop_assert!(start <= now && (now < end || end == u64::MAX), "{period:?}");
        prop_assert!(start.is_multiple_of(MILLIS) && (end.is_multiple_of(MILLIS) || end == u64::MAX), "{period:?}");
        // Only what does not fit is cut.
        prop_assert!(end - start == length || ((start == 0 || end == u64::MAX) && end - start < length), "{period:?}");
        // Whatever else lies in it finds the same period.
        for other in [start, end - 1, start + inside % (end - start)] {
            prop_assert_eq!(schedule.period_at(Micros(other)), period);
        }
        if end < u64::MAX {
            prop_assert_eq!(schedule.period_at(Micros(end)).start, Micros(end));
        }
        if start > 0 {
            prop_assert_eq!(schedule.period_at(Micros(start - 1)).end, Micros(start));
        }
    }

    #[test]
    fn one_suffix_for_each_period(schedule in schedules(), now in moments()) {
        let (suffix, period) = (schedule.suffix_at(Micros(now)), schedule.period_at(Micros(now)));
        prop_assert_eq!(suffix, schedule.suffix_at(period.start));
        prop_assert!(suffix.to_string().len() <= Suffix::MAX_LEN);
        if period.end.0 < u64::MAX {
            prop_assert_ne!(suffix, schedule.suffix_at(period.end));
        }
        if let Suffix::Start { millis, .. } = suffix {
            prop_assert_eq!(Micros(millis * MILLIS), period.start, "the text says where the period starts");
        }
    }

    /// The walk covers more than 400 years; this carries it on to the last period.
    #[test]
    fn the_calendar_repeats_after_400_years(
        unit in units(), anchor in prop::option::of(anchors()), now in moments(), cycles in 1..=1_460_u64,
    ) {
        let schedule = Schedule::Calendar(unit, anchor);
        let now = Micros(now % CYCLE + CYCLE);
        let (sooner, later) = (schedule.period_at(now), schedule.period_at(now.plus(cycles * CYCLE)));
        if later.end.0 < u64::MAX {
            let moved = |micros: Micros| micros.plus(cycles * CYCLE);
            prop_assert_eq!(later, Period { start: moved(sooner.start), end: moved(sooner.end), ..sooner });
        }
    }

    /// One window starts at the anchor, and all are of one length.
    #[test]
    fn anchored_windows_are_counted_from_the_anchor(window in windows(), anchor in anchors(), now in moments()) {
        let schedule = Schedule::Anchored(window, anchor);
        prop_assert_eq!(schedule.period_at(Micros(now)).length, window.micros());
        let (now, at) = (i128::from(now), i128::from(anchor.seconds() * SECOND));
        let length = i128::from(window.micros());
        let start = at + (now - at).div_euclid(length) * length;
        let clamped = |micros: i128| Micros(u64::try_from(micros.clamp(0, i128::from(u64::MAX))).unwrap());
        let expected = Period { start: clamped(start), end: clamped(start + length), length: window.micros() };
        prop_assert_eq!(schedule.period_at(clamped(now)), expected);
    }

    #[test]
    fn aligned_windows_have_the_number_of_the_script(window in windows(), now in moments()) {
        let (schedule, now) = (Schedule::Aligned(window), Micros(now));
        let number = now.0 / window.micros();
        prop_assert_eq!(schedule.suffix_at(now), Suffix::Number(number));
        prop_assert_eq!(schedule.suffix_at(now).to_string(), number.to_string());
        let start = number * window.micros();
        let end = start.saturating_add(window.micros());
        let expected = Period { start: Micros(start), end: Micros(end), length: window.micros() };
        prop_assert_eq!(schedule.period_at(now), expected);
        prop_assert_eq!(schedule.period_at(now), Schedule::Anchored(window, anchor(0)).period_at(now));
    }
}

#[test]
fn windows_are_seconds_or_carry_a_unit() {
    let millis = |text: &str| Window::from_text(text.as_bytes()).map(Window::millis);
    for (text, expected) in [
        ("60", 60_000),
        ("500ms", 500),
        ("10s", 10_000),
        ("5m", 300_000),
        ("1h", 3_600_000),
        ("1d", 86_400_000),
        ("1000000000000", MAX_SPAN / 1_000),
    ] {
        assert_eq!(millis(text), Some(expected), "{text}");
    }
    const LONGER: &str = "1000000000001 18446744073709551615d 9223372036854775807 99999999999999999999999";
    let others = "0 0ms -1 +1 1.5 1S s ms 1w 1sm 01 1e3 1\0".split(' ').chain(LONGER.split(' '));
    others.chain(["", "1 s", " 1"]).for_each(|text| assert_eq!(millis(text), None, "{text}"));
}
