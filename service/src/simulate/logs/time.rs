//! Times and durations of logs.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::fmt::strtime;
use jiff::tz::Offset;

/// A second in µs.
pub const SECOND: i64 = 1_000_000;

/// A time of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time {
    /// µs since 1970; not negative.
    pub micros: i64,
    /// It has no fraction of a second.
    pub whole: bool,
}

/// Reads times. It keeps the last one: the lines of a second repeat it.
#[derive(Debug, Default)]
pub struct Clock {
    text: Vec<u8>,
    time: Time,
}

impl Clock {
    /// Reads `10/Oct/2000:13:55:36 -0700`, ISO 8601 (UTC where it names no zone), or the seconds, ms, µs or ns since
    /// 1970: which of them, its size tells.
    pub fn read(&mut self, text: &[u8]) -> Result<Time, &'static str> {
        if text != self.text {
            self.time = read(text)?;
            self.text.clear();
            self.text.extend_from_slice(text);
        }
        Ok(self.time)
    }
}

fn read(text: &[u8]) -> Result<Time, &'static str> {
    const INVALID: &str = "invalid time";
    let text = text.strip_prefix(b"[").and_then(|text| text.strip_suffix(b"]")).unwrap_or(text);
    let text = std::str::from_utf8(text).map_err(|_| INVALID)?;
    let number = text.strip_prefix('-').unwrap_or(text);
    let (micros, whole) = if number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        let (micros, whole) = since_1970(number).ok_or(INVALID)?;
        (if number == text { micros } else { -1 }, whole)
    } else {
        let timestamp = if text.contains('/') { common(text) } else { iso_8601(text) }.ok_or(INVALID)?;
        (timestamp.as_microsecond(), !text.contains(['.', ',']))
    };
    if micros < 0 { Err("a time before 1970") } else { Ok(Time { micros, whole }) }
}

fn common(text: &str) -> Option<Timestamp> {
    strtime::parse("%d/%b/%Y:%H:%M:%S %z", text).ok()?.to_timestamp().ok()
}

fn iso_8601(text: &str) -> Option<Timestamp> {
    if !text.contains(['T', 't', ' ']) {
        return None;
    }
    let utc = || Offset::UTC.to_timestamp(text.parse::<DateTime>().ok()?).ok();
    text.parse().ok().or_else(utc)
}

fn since_1970(text: &str) -> Option<(i64, bool)> {
    let digits = text.split('.').next().map_or(0, str::len);
    let micros = match digits {
        0 => None,
        1..=11 => decimal(text, SECOND),
        12..=14 => decimal(text, 1_000),
        15..=17 => decimal(text, 1),
        _ => Some(text.parse::<i64>().ok()?.div_euclid(1_000)),
    }?;
    Some((micros, digits <= 11 && !text.contains('.')))
}

/// A duration in µs. `unit` is in µs.
pub fn duration(text: &[u8], unit: i64) -> Option<i64> {
    decimal(std::str::from_utf8(text).ok()?, unit)
}

/// A decimal number, in millionths of which a unit has `unit`.
fn decimal(text: &str, unit: i64) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = fraction.get(..fraction.len().min(6))?;
    let fraction = if digits.is_empty() { 0 } else { digits.parse::<u32>().ok()? };
    let millionths = i64::from(fraction) * 10_i64.pow(6 - u32::try_from(digits.len()).ok()?);
    i64::try_from(whole.parse::<u64>().ok()?).ok()?.checked_mul(unit)?.checked_add(millionths * unit / SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        // A time as logs have it; the same in UTC, with a point if it has a fraction.
        for (text, expected) in [
            ("10/Oct/2000:13:55:36 -0700", "2000-10-10T20:55:36Z"),
            ("[10/Oct/2000:13:55:36 -0700]", "2000-10-10T20:55:36Z"),
            // Five zones, one of them over its change to summer time.
            ("31/Mar/2024:01:59:59 +0100", "2024-03-31T00:59:59Z"),
            ("31/Mar/2024:03:00:00 +0200", "2024-03-31T01:00:00Z"),
            ("01/Jan/2024:05:45:00 +0545", "2024-01-01T00:00:00Z"),
            ("31/Dec/2023:14:30:00 -0930", "2024-01-01T00:00:00Z"),
            ("01/Jan/2024:14:00:00 +1400", "2024-01-01T00:00:00Z"),
            ("2024-02-29T12:00:00+02:00", "2024-02-29T10:00:00Z"),
            ("2024-02-29 12:00:00.25", "2024-02-29T12:00:00.25Z"),
            ("2024-02-29t12:00:00,5z", "2024-02-29T12:00:00.5Z"),
            ("1700000000", "2023-11-14T22:13:20Z"),
            ("1700000000.123", "2023-11-14T22:13:20.123Z"),
            ("1700000000123", "2023-11-14T22:13:20.123Z"),
            ("1700000000123456", "2023-11-14T22:13:20.123456Z"),
            ("1700000000123456789", "2023-11-14T22:13:20.123456Z"),
            ("0", "1970-01-01T00:00:00Z"),
            ("31/Dec/1969:23:59:59 +0000", "a time before 1970"),
            ("1969-12-31T23:59:59.5Z", "a time before 1970"),
            ("-1.5", "a time before 1970"),
            ("31/Feb/2024:00:00:00 +0000", "invalid time"),
            ("10/Oct/2000:13:55:36", "invalid time"),
            ("2024-02-29", "invalid time"),
            ("9223372036854775808", "invalid time"),
            ("1.2.3", "invalid time"),
            (".5", "invalid time"),
            ("[]", "invalid time"),
        ] {
            let mut clock = Clock::default();
            for _ in 0..2 {
                let read = clock.read(text.as_bytes()).map(|Time { micros, whole }| {
                    assert_eq!(whole, !expected.contains('.'), "{text}");
                    Timestamp::from_microsecond(micros).unwrap().to_string()
                });
                assert_eq!(read.unwrap_or_else(str::to_owned), expected, "{text}");
            }
        }
    }
}
