//! Booleans and durations as Go reads them, for which variables of envoyproxy/ratelimit are written.

use std::time::Duration;

/// A boolean of `strconv.ParseBool`.
///
/// # Errors
/// The text is no boolean.
pub fn boolean(text: &str) -> Result<bool, String> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err("expected true or false".to_owned()),
    }
}

/// A duration of `time.ParseDuration`: `15ms`, `1m30s`, `1.5h`; `0` has no unit.
///
/// # Errors
/// The text is no duration, or is negative.
pub fn duration(text: &str) -> Result<Duration, String> {
    unsigned(text.strip_prefix('+').unwrap_or(text)).ok_or_else(|| "expected a duration, as 15ms or 1m30s".to_owned())
}

fn unsigned(text: &str) -> Option<Duration> {
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let (mut rest, mut total) = (text, Duration::ZERO);
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at_checked(end)?;
        // The sign for micro and the Greek letter are two characters.
        let micro = [("us", 1e-6), ("\u{b5}s", 1e-6), ("\u{3bc}s", 1e-6)];
        let units = [("ns", 1e-9), ("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3_600.0)];
        let (unit, seconds) = micro.into_iter().chain(units).find(|(unit, _)| {
            after.strip_prefix(unit).is_some_and(|next| !next.starts_with(|c: char| c.is_alphabetic()))
        })?;
        rest = after.strip_prefix(unit)?;
        let number: f64 = number.parse().ok()?;
        total = total.checked_add(Duration::try_from_secs_f64(number * seconds).ok()?)?;
    }
    (!text.is_empty()).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_those_of_go() {
        for (text, micros) in [
            ("15ms", Some(15_000)),
            ("1m30s", Some(90_000_000)),
            ("1.5h", Some(5_400_000_000)),
            ("10us", Some(10)),
            ("10\u{b5}s", Some(10)),
            ("10\u{3bc}s", Some(10)),
            ("+1s", Some(1_000_000)),
            ("0", Some(0)),
            ("+-1s", None),
            ("+", None),
            ("", None),
            ("15", None),
            ("-1s", None),
            ("1x", None),
            ("1.2.3s", None),
        ] {
            assert_eq!(duration(text).ok(), micros.map(Duration::from_micros), "{text}");
        }
    }
}
