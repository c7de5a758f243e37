//! Windows of a fixed window counter: when the window that contains a moment starts and ends, and which counter
//! belongs to it.
//!
//! A [`Schedule`] is what the arguments say: a length, a calendar word, an anchor. [`Schedule::period_at`] gives the
//! [`Period`] that contains a moment, [`Schedule::suffix_at`] what the key of its counter ends with. All dates are UTC
//! in the Gregorian calendar. Unix time has no leap seconds, so every day has 86,400 seconds.
//!
//! Every function is defined for every moment that [`Micros`] holds, up to the year 586,524, and is exact there. The
//! Gregorian calendar repeats every 400 years, which are a whole number of days and of weeks. So the date library
//! only computes with dates between 1970 and 3171, and the result is moved back by whole cycles of 400 years.

use std::fmt::{self, Display, Formatter};

use jiff::civil::DateTime;
use jiff::tz::Offset;
use jiff::{Span, Timestamp};

use super::{Micros, Window};

/// A day, in seconds.
const DAY: u64 = 86_400;
/// 7 days, in seconds.
const WEEK: u64 = 7 * DAY;
/// 400 Gregorian years, in seconds.
const CYCLE: u64 = 146_097 * DAY;
/// A second, in microseconds.
const SECOND: u64 = 1_000_000;

/// A calendar word in the place of a window's length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CalendarUnit {
    /// 24 hours; starts at midnight UTC.
    Day,
    /// 7 days; starts on Monday.
    Week,
    /// 28 to 31 days; starts on the 1st.
    Month,
    /// 365 or 366 days; starts on 1 January.
    Year,
}

impl CalendarUnit {
    /// Every unit, the shortest first.
    pub const ALL: [Self; 4] = [Self::Day, Self::Week, Self::Month, Self::Year];

    /// The word of the grammar and of the counter's key: `day`, `week`, `month` or `year`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Year => "year",
        }
    }

    /// The length of the longest period: 1, 7, 31 or 366 days.
    pub const fn longest(self) -> Window {
        let days = match self {
            Self::Day => 1,
            Self::Week => 7,
            Self::Month => 31,
            Self::Year => 366,
        };
        match Window::from_millis(u64::saturating_mul(days, DAY * 1_000)) {
            Some(window) => window,
            None => Window::LONGEST,
        }
    }

    /// The unit of a word, in upper or lower case.
    pub fn from_word(word: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|unit| word.eq_ignore_ascii_case(unit.word().as_bytes()))
    }

    /// The first start of a period in 1970: what a schedule without an anchor is anchored at.
    const fn default_anchor(self) -> Anchor {
        match self {
            // 5 January 1970 was a Monday.
            Self::Week => Anchor(4 * DAY),
            Self::Day | Self::Month | Self::Year => Anchor(0),
        }
    }
}

/// A moment at which a period starts: 0 to [`Anchor::MAX`] seconds since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Anchor(u64);

impl Anchor {
    /// The last second of the year 9999.
    ///
    /// A later one is most likely a mistake: milliseconds in the place of seconds are above it from 1978 on.
    pub const MAX: Self = Self(253_402_300_799);

    /// The anchor at `seconds` since the Unix epoch; `None` for more than [`Anchor::MAX`].
    pub const fn from_seconds(seconds: u64) -> Option<Self> {
        if seconds <= Self::MAX.0 { Some(Self(seconds)) } else { None }
    }

    /// Seconds since the Unix epoch.
    pub const fn seconds(self) -> u64 {
        self.0
    }

    /// The moment itself: at most 2.6 × 10¹⁷ microseconds since the Unix epoch.
    const fn micros(self) -> Micros {
        Micros(self.0.saturating_mul(SECOND))
    }
}

/// When the windows of a fixed window counter start: its window argument and its ANCHOR.
///
/// ```
/// use redis_rl_algorithm::Micros;
/// use redis_rl_algorithm::period::{Anchor, CalendarUnit, Schedule};
///
/// // 31 January 2026, 12:00.
/// let anchor = Anchor::from_seconds(1_769_860_800).unwrap();
/// let billing = Schedule::Calendar(CalendarUnit::Month, Some(anchor));
///
/// // February has no 31st: the next period starts on 28 February, 12:00, the one after it on 31 March, 12:00.
/// let january = billing.period_at(Micros(anchor.seconds() * 1_000_000));
/// let february = billing.period_at(january.end);
/// assert_eq!(february.start, Micros(1_772_280_000_000_000));
/// assert_eq!(february.end, Micros(1_774_958_400_000_000));
/// assert_eq!((january.seconds(), february.seconds()), (28 * 86_400, 31 * 86_400));
/// assert_eq!(billing.suffix_at(january.end).to_string(), "month:1772280000000");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Schedule {
    /// Windows that start at whole multiples of their length since the epoch.
    Aligned(Window),
    /// Windows that start at the anchor, and every whole window before and after it.
    Anchored(Window, Anchor),
    /// Periods of the calendar.
    ///
    /// Without an anchor they start as [`CalendarUnit`] says. With an anchor:
    /// - days and weeks are 24 hours and 7 days long, and start as an anchored window of that length does;
    /// - a month starts on the anchor's day of the month, a year on the anchor's day and month, both at its time of day.
    ///   Where the month is too short for that day, the period starts on the last day of the month. Later periods
    ///   start on the anchor's own day again.
    Calendar(CalendarUnit, Option<Anchor>),
}

impl Schedule {
    /// The schedule of a window argument, a length or a calendar word, and of the option ANCHOR. `None` for another text.
    pub fn from_text(text: &[u8], anchor: Option<Anchor>) -> Option<Self> {
        match (CalendarUnit::from_word(text), anchor) {
            (Some(unit), anchor) => Some(Self::Calendar(unit, anchor)),
            (None, Some(anchor)) => Window::from_text(text).map(|window| Self::Anchored(window, anchor)),
            (None, None) => Window::from_text(text).map(Self::Aligned),
        }
    }

    /// The anchor that the arguments name.
    pub const fn anchor(&self) -> Option<Anchor> {
        match *self {
            Self::Aligned(_) => None,
            Self::Anchored(_, anchor) => Some(anchor),
            Self::Calendar(_, anchor) => anchor,
        }
    }

    /// The period that contains `now`.
    ///
    /// Each moment lies in exactly one period, and the next one starts where a period ends.
    #[inline]
    pub fn period_at(&self, now: Micros) -> Period {
        match *self {
            Self::Aligned(window) => Period::around(now, rest(now, window.micros()), window.micros()),
            Self::Anchored(window, anchor) => plain(window.micros(), anchor, now),
            Self::Calendar(unit, anchor) => {
                let anchor = anchor.unwrap_or(unit.default_anchor());
                match unit {
                    CalendarUnit::Day => plain(DAY * SECOND, anchor, now),
                    CalendarUnit::Week => plain(WEEK * SECOND, anchor, now),
                    CalendarUnit::Month => months(1, anchor, now),
                    CalendarUnit::Year => months(12, anchor, now),
                }
            }
        }
    }

    /// What follows `<key>:` in the name of the counter of the period that contains `now`.
    ///
    /// For [`Schedule::Aligned`] this is one division, and no period is computed.
    #[inline]
    pub fn suffix_at(&self, now: Micros) -> Suffix {
        match *self {
            Self::Aligned(window) => Suffix::Number(number(now, window.micros())),
            schedule => Suffix::Start { schedule, millis: self.period_at(now).start.millis() },
        }
    }

    /// `<window>` in the name of a counter: the length in milliseconds, or the calendar word.
    fn write_window(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Aligned(window) | Self::Anchored(window, _) => write!(f, "{}ms", window.millis()),
            Self::Calendar(unit, _) => f.write_str(unit.word()),
        }
    }
}

/// `<window>`, and with an anchor `<window>:<anchor>` in Unix seconds. Distinguishes the schedules of a key.
///
/// ```
/// use redis_rl_algorithm::Window;
/// use redis_rl_algorithm::period::{Anchor, CalendarUnit, Schedule};
///
/// let minute = Window::from_millis(60_000).unwrap();
/// assert_eq!(Schedule::Aligned(minute).to_string(), "60000ms");
/// assert_eq!(Schedule::Anchored(minute, Anchor::from_seconds(7).unwrap()).to_string(), "60000ms:7");
/// assert_eq!(Schedule::Calendar(CalendarUnit::Month, None).to_string(), "month");
/// ```
impl Display for Schedule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.write_window(f)?;
        self.anchor().map_or(Ok(()), |anchor| write!(f, ":{}", anchor.seconds()))
    }
}

/// One window: the moments from `start` up to, but not including, `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Period {
    /// The first moment: a whole millisecond, at most the moment that was looked up.
    ///
    /// It is 0 for a period that starts before 1970. No other period of the schedule starts at 0 then.
    pub start: Micros,
    /// The first moment after the period: a whole millisecond, and where the next period starts.
    ///
    /// It is the largest [`Micros`] for the last period, which ends later and contains that moment too.
    pub end: Micros,
    /// The length in microseconds: exact, also where `start` or `end` is cut. It is always above 0.
    pub length: u64,
}

impl Period {
    /// The length in seconds, rounded up: at least 1.
    pub const fn seconds(&self) -> u64 {
        self.length.div_ceil(SECOND)
    }

    /// The period of a given length that started `ago` microseconds before `now`, where `ago` < `length`.
    const fn around(now: Micros, ago: u64, length: u64) -> Self {
        Self { start: Micros(now.0.saturating_sub(ago)), end: now.plus(length.saturating_sub(ago)), length }
    }
}

/// What follows `<key>:` in the name of a counter. [`Display`] writes it.
///
/// Two periods of a schedule never have the same suffix. Where the text is equal for two schedules with different anchors,
/// so is the start of the period, and the schedules share that counter.
///
/// ```
/// use redis_rl_algorithm::period::{Anchor, CalendarUnit, Schedule};
/// use redis_rl_algorithm::{Micros, Window};
///
/// // 1 January 2026, 12:00.
/// let now = Micros(1_767_268_800_000_000);
/// let day = Window::from_millis(86_400_000).unwrap();
/// let midnight = Anchor::from_seconds(1_767_225_600).unwrap();
/// let suffix = |schedule: Schedule| schedule.suffix_at(now).to_string();
///
/// assert_eq!(suffix(Schedule::Aligned(day)), "20454");
/// assert_eq!(suffix(Schedule::Anchored(day, midnight)), "86400000ms:1767225600000");
/// assert_eq!(suffix(Schedule::Calendar(CalendarUnit::Day, None)), "day:1767225600000");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suffix {
    /// `<number>`: how many whole windows lie between the epoch and an aligned window, as in the keys of the script.
    Number(u64),
    /// `<window>:<start>`, of an anchored window or a calendar period.
    Start {
        /// Whose window it is.
        schedule: Schedule,
        /// The millisecond since the Unix epoch in which the period starts; see [`Period::start`].
        millis: u64,
    },
}

impl Suffix {
    /// The longest text, in bytes: `1000000000000000ms:` and 17 digits.
    pub const MAX_LEN: usize = 36;
}

impl Display for Suffix {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Start { schedule, millis } => {
                schedule.write_window(f)?;
                write!(f, ":{millis}")
            }
        }
    }
}

/// How many whole windows of `length` microseconds lie between the epoch and `now`.
const fn number(now: Micros, length: u64) -> u64 {
    // A length is never 0, here and in `rest`. The types guarantee that, but the lint does not know it.
    match now.0.checked_div(length) {
        Some(number) => number,
        None => 0,
    }
}

/// Microseconds from the last whole multiple of `length` since the epoch to `now`.
const fn rest(now: Micros, length: u64) -> u64 {
    match now.0.checked_rem(length) {
        Some(rest) => rest,
        None => 0,
    }
}

/// The window of `length` microseconds that contains `now`, where one window starts at the anchor.
#[inline]
fn plain(length: u64, anchor: Anchor, now: Micros) -> Period {
    let (now_rest, anchor_rest) = (rest(now, length), rest(anchor.micros(), length));
    let borrowed = if now_rest < anchor_rest { length } else { 0 };
    Period::around(now, now_rest.saturating_add(borrowed).saturating_sub(anchor_rest), length)
}

/// The period of `step` months that contains `now`, where one period starts at the anchor.
fn months(step: i32, anchor: Anchor, now: Micros) -> Period {
    let whole_cycle = || plain(CYCLE * SECOND, Anchor(0), now);
    // The library represents all dates that occur here, so the default is never used.
    try_months(step, anchor, now).unwrap_or_else(whole_cycle)
}

/// [`months`]; `None` where the date library does not represent a date.
fn try_months(step: i32, anchor: Anchor, now: Micros) -> Option<Period> {
    // With the anchor in the first cycle since 1970 and now in the third, all differences are positive.
    let anchor = utc(anchor.seconds() % CYCLE)?;
    let seconds = (now.0 / SECOND % CYCLE).saturating_add(2 * CYCLE);
    let apart = months_of(utc(seconds)?).saturating_sub(months_of(anchor));
    // The period that starts in the month of now or, of a longer period, in the last month before it that can.
    let latest = apart.saturating_sub(apart.checked_rem(step)?);
    let start_of = |months| start_after(anchor, months);
    let start = start_of(latest)?;
    let (start, end) = if start <= seconds {
        (start, start_of(latest.saturating_add(step))?)
    } else {
        (start_of(latest.saturating_sub(step))?, start)
    };
    let ago = seconds.checked_sub(start)?.saturating_mul(SECOND).saturating_add(now.0 % SECOND);
    Some(Period::around(now, ago, end.checked_sub(start)?.saturating_mul(SECOND)))
}

/// The date and time of day in UTC at `seconds` since the Unix epoch.
fn utc(seconds: u64) -> Option<DateTime> {
    Some(Offset::UTC.to_datetime(Timestamp::from_second(seconds.try_into().ok()?).ok()?))
}

/// Months since the start of the year 0.
fn months_of(date: DateTime) -> i32 {
    i32::from(date.year()).saturating_mul(12).saturating_add(i32::from(date.month()))
}

/// `months` after the anchor, at the same time of day: on the same day of the month, or on the last one of a shorter
/// month. In seconds since the Unix epoch.
fn start_after(anchor: DateTime, months: i32) -> Option<u64> {
    let date = anchor.date().checked_add(Span::new().try_months(months).ok()?).ok()?;
    Offset::UTC.to_timestamp(date.to_datetime(anchor.time())).ok()?.as_second().try_into().ok()
}
