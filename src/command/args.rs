//! The grammar that the commands share: `window limit [COST n] [BURST n] [FULL | HEADERS]`.

use super::reply::Form;
use crate::error::Error;
use crate::ffi::{Args, Argv};
use crate::integer::parse_unsigned;
use crate::limit::{Cost, MAX_COUNT, Quota, Window};

/// `key window limit [options]`, parsed: what is in here is valid.
pub struct Request<'c> {
    pub key: Argv<'c>,
    pub quota: Quota,
    pub cost: Cost,
    pub form: Form,
}

impl<'c> Request<'c> {
    #[inline(always)]
    pub fn parse(mut args: Args<'c>, takes_burst: bool) -> Result<Self, Error> {
        let (Some(key), Some(window), Some(limit)) = (args.next(), args.next(), args.next()) else {
            return Err(Error::ARITY);
        };
        let window = parse_window(window.bytes())?;
        let limit = parse_limit(limit.bytes())?;
        // Most calls end here.
        let Options { cost, burst, form } =
            if args.is_empty() { Options::default() } else { Options::parse(args.map(Argv::bytes))? };
        if burst.is_some() && !takes_burst {
            return Err(Error::BURST_NOT_TAKEN);
        }
        Ok(Self {
            key,
            quota: Quota { window, limit, burst },
            cost: cost.unwrap_or(Cost::ONE),
            form: form.unwrap_or(Form::Triple),
        })
    }
}

/// What may follow the limit, in any order, each once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub cost: Option<Cost>,
    pub burst: Option<u64>,
    pub form: Option<Form>,
}

impl Options {
    pub fn parse<'a>(mut words: impl Iterator<Item = &'a [u8]>) -> Result<Self, Error> {
        let mut options = Self::default();
        while let Some(word) = words.next() {
            if word.eq_ignore_ascii_case(b"COST") && options.cost.is_none() {
                options.cost = Some(words.next().and_then(parse_cost).ok_or(Error::COST)?);
            } else if word.eq_ignore_ascii_case(b"BURST") && options.burst.is_none() {
                options.burst = Some(words.next().and_then(parse_cost).ok_or(Error::BURST)?.units());
            } else if let Some(form) = Form::from_word(word) {
                match options.form.replace(form) {
                    None => {}
                    Some(other) if other != form => return Err(Error::FULL_AND_HEADERS),
                    Some(_) => return Err(Error::OPTION),
                }
            } else {
                return Err(Error::OPTION);
            }
        }
        Ok(options)
    }
}

/// A positive integer of seconds, or one with a unit: `500ms`, `10s`, `5m`, `1h`, `1d`.
#[inline]
pub fn parse_window(text: &[u8]) -> Result<Window, Error> {
    let (digits, unit_millis) = match text {
        [digits @ .., b'm', b's'] => (digits, 1),
        [digits @ .., b's'] => (digits, 1_000),
        [digits @ .., b'm'] => (digits, 60_000),
        [digits @ .., b'h'] => (digits, 3_600_000),
        [digits @ .., b'd'] => (digits, 86_400_000),
        digits => (digits, 1_000),
    };
    let millis = parse_unsigned(digits).and_then(|n| n.checked_mul(unit_millis));
    millis.and_then(Window::from_millis).ok_or(Error::WINDOW)
}

/// An integer from 0 to 2⁶³ - 1.
#[inline]
pub fn parse_limit(text: &[u8]) -> Result<u64, Error> {
    parse_unsigned(text).filter(|&n| n <= MAX_COUNT).ok_or(Error::LIMIT)
}

fn parse_cost(text: &[u8]) -> Option<Cost> {
    parse_unsigned(text).and_then(Cost::new)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::limit::MAX_SPAN;

    #[test]
    fn windows_are_seconds_or_carry_a_unit() {
        for (text, millis) in [
            ("60", 60_000),
            ("500ms", 500),
            ("10s", 10_000),
            ("5m", 300_000),
            ("1h", 3_600_000),
            ("1d", 86_400_000),
            ("1000000000000", MAX_SPAN / 1_000),
        ] {
            assert_eq!(parse_window(text.as_bytes()).map(Window::millis), Ok(millis), "{text}");
        }
    }

    #[test]
    fn other_windows_are_refused() {
        for text in [
            "",
            "0",
            "0ms",
            "-1",
            "+1",
            "1.5",
            "1S",
            "1 s",
            " 1",
            "s",
            "ms",
            "1w",
            "1sm",
            "01",
            "1e3",
            "1\0",
            "1000000000001",
            "18446744073709551615d",
            "9223372036854775807",
            "99999999999999999999999",
        ] {
            assert_eq!(parse_window(text.as_bytes()), Err(Error::WINDOW), "{text}");
        }
    }

    fn options(text: &str) -> Result<Options, Error> {
        Options::parse(text.split_ascii_whitespace().map(str::as_bytes))
    }

    #[test]
    fn options_come_in_any_order_and_case() {
        let all = Options { cost: Cost::new(2), burst: Some(3), form: Some(Form::Full) };
        assert_eq!(options("COST 2 BURST 3 FULL"), Ok(all));
        assert_eq!(options("full burst 3 cost 2"), Ok(all));
        assert_eq!(options(""), Ok(Options::default()));
    }

    #[test]
    fn wrong_options_name_what_is_wrong() {
        for (text, error) in [
            ("COST", Error::COST),
            ("COST 0", Error::COST),
            ("COST -1", Error::COST),
            ("COST 9223372036854775808", Error::COST),
            ("BURST", Error::BURST),
            ("BURST 0", Error::BURST),
            ("COST 1 COST 1", Error::OPTION),
            ("BURST 1 BURST 1", Error::OPTION),
            ("FULL FULL", Error::OPTION),
            ("FULL HEADERS", Error::FULL_AND_HEADERS),
            ("NOW", Error::OPTION),
            ("1", Error::OPTION),
        ] {
            assert_eq!(options(text), Err(error), "{text}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(window: Vec<u8>, limit: Vec<u8>, words: Vec<Vec<u8>>) {
            let _ = parse_window(&window);
            let _ = parse_limit(&limit);
            let _ = Options::parse(words.iter().map(Vec::as_slice));
        }
    }
}
