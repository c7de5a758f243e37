//! A policy as the words of the command reference: `TOKEN 60 600 BURST 50 AS api`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::{Algorithm, Calendar, InvalidPolicy, Policy, Window};

const SYNTAX: InvalidPolicy = InvalidPolicy(
    "syntax error: expected an algorithm, a window and a limit; then BURST n, BLOCK d, MAX d, ANCHOR t, AS name or SHADOW, each at most once",
);
const WINDOW: InvalidPolicy = InvalidPolicy(
    "invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to 10^12 seconds; FIXED also takes day, week, month and year",
);

impl FromStr for Policy {
    type Err = InvalidPolicy;

    /// Parses `<ALGO> window limit [options]`, with the options BURST, BLOCK, MAX, ANCHOR, AS and SHADOW in any order.
    fn from_str(text: &str) -> Result<Self, InvalidPolicy> {
        let mut words = text.split_ascii_whitespace();
        let mut next = || words.next().ok_or(SYNTAX);
        let word = next()?;
        let algorithm = Algorithm::from_word(word.as_bytes());
        let window = next()?.parse()?;
        let limit = integer(next()?).ok_or(SYNTAX)?;
        let mut policy = Self::new(algorithm.ok_or(SYNTAX)?, window, limit)?;
        let mut max = None;
        while let Some(option) = words.next() {
            let mut value = || words.next().ok_or(SYNTAX);
            policy = match option.to_ascii_uppercase().as_str() {
                "BURST" if policy.terms.burst.is_none() => policy.try_burst(integer(value()?).ok_or(SYNTAX)?)?,
                "BLOCK" if policy.terms.block.is_none() => policy.try_block(lock(value()?)?)?,
                "MAX" if max.is_none() => {
                    max = Some(lock(value()?)?);
                    policy
                }
                "ANCHOR" if policy.anchor_seconds().is_none() => policy.try_anchor(integer(value()?).ok_or(SYNTAX)?)?,
                "AS" if policy.name.is_none() => policy.try_name(value()?)?,
                "SHADOW" if !policy.shadow => policy.shadow(),
                _ => return Err(SYNTAX),
            };
        }
        // BLOCK may follow it.
        max.map_or(Ok(policy), |max| policy.try_max(max))
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.algorithm.word(), self.window(), self.limit())?;
        if let Some(burst) = self.terms.burst {
            write!(f, " BURST {burst}")?;
        }
        for (word, lock) in ["BLOCK", "MAX"].into_iter().zip(self.locks()) {
            if let Some(lock) = lock {
                write!(f, " {word} {lock}")?;
            }
        }
        if let Some(anchor) = self.anchor_seconds() {
            write!(f, " ANCHOR {anchor}")?;
        }
        if let Some(name) = &self.name {
            write!(f, " AS {name}")?;
        }
        if self.shadow { f.write_str(" SHADOW") } else { Ok(()) }
    }
}

impl FromStr for Window {
    type Err = InvalidPolicy;

    /// Parses a calendar word, a positive integer of seconds, or one with a unit: `500ms`, `10s`, `5m`, `1h`, `1d`.
    fn from_str(text: &str) -> Result<Self, InvalidPolicy> {
        if let Some(period) = Calendar::from_word(text.as_bytes()) {
            return Ok(Self::Calendar(period));
        }
        let units = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];
        let (digits, unit_millis) =
            units.iter().find_map(|&(unit, millis)| Some((text.strip_suffix(unit)?, millis))).unwrap_or((text, 1_000));
        let millis = integer(digits).and_then(|n| n.checked_mul(unit_millis)).filter(|&millis| millis > 0);
        millis.map(|millis| Self::Length(Duration::from_millis(millis))).ok_or(WINDOW)
    }
}

impl fmt::Display for Window {
    /// Whole seconds without a unit, else milliseconds with `ms`; or the word of the calendar.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length(length) if length.subsec_nanos() == 0 => write!(f, "{}", length.as_secs()),
            Self::Length(length) => write!(f, "{}ms", length.as_millis()),
            Self::Calendar(period) => f.write_str(period.word()),
        }
    }
}

/// The length of a lock: of a window that is no period of the calendar.
fn lock(text: &str) -> Result<Duration, InvalidPolicy> {
    match text.parse()? {
        Window::Length(length) => Ok(length),
        Window::Calendar(_) => Err(SYNTAX),
    }
}

/// Decimal digits without a sign and without leading zeros.
fn integer(text: &str) -> Option<u64> {
    let canonical = text == "0" || !text.starts_with(['0', '+']);
    text.parse().ok().filter(|_| canonical)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_displayed_is_parsed_back() {
        for text in [
            "TOKEN 60 600 BURST 50 AS api",
            "FIXED month 10 ANCHOR 1768608000 AS a-Z_0.9 SHADOW",
            "LEAKY 500ms 10",
            "LEASE 30 0",
            "LOCKOUT 86400 5 BLOCK 60 MAX 86400",
            "SLIDING 1 9223372036854775807",
        ] {
            assert_eq!(text.parse::<Policy>().expect(text).to_string(), text);
        }
        assert_eq!("gcra 1h 5 as x burst 2".parse::<Policy>().unwrap().to_string(), "GCRA 3600 5 BURST 2 AS x");
    }

    #[test]
    fn what_the_module_rejects_is_not_a_policy() {
        for text in [
            "",
            "TOKEN",
            "TOKEN 60",
            "BUCKET 60 5",
            "TOKEN 0 5",
            "TOKEN +1 5",
            "TOKEN 01 5",
            "TOKEN 1w 5",
            "TOKEN 60 -1",
            "TOKEN 60 9223372036854775808",
            "TOKEN 1000000000001 5",
            "TOKEN month 5",
            "TOKEN 60 5 BURST 0",
            "TOKEN 60 5 BURST",
            "TOKEN 60 5 BURST 1 BURST 1",
            "FIXED 60 5 BURST 1",
            "TOKEN 60 5 ANCHOR 0",
            "FIXED 60 5 ANCHOR 253402300800",
            "TOKEN 60 5 AS a\"b",
            "TOKEN 60 5 COST 2",
            "TOKEN 60 5 BLOCK 60",
            "LOCKOUT 1d 5 MAX 60",
            "LOCKOUT 1d 5 MAX 1m BLOCK 61s",
            "LOCKOUT 1d 5 BLOCK day",
            "LOCKOUT 1d 5 BLOCK 0",
        ] {
            assert!(text.parse::<Policy>().is_err(), "{text}");
        }
    }
}
