//! The grammar that the commands share: `window limit [options] [FULL | HEADERS]`.

use crate::algorithm::period::{Anchor, CalendarUnit};
use crate::algorithm::{Cost, MAX_COUNT, Micros, Schedule, Window};
use crate::error::Error;
use crate::ffi::{Args, Str};
use crate::integer::parse_unsigned;

/// The form of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `<allowed, count, ttl>`
    Verdict,
    /// A map of all figures.
    Full,
    /// The three integers, and HTTP headers.
    Headers,
}

impl Form {
    /// The form that a word names; [`Form::Verdict`] has none.
    pub fn from_word(word: &[u8]) -> Option<Self> {
        if word.eq_ignore_ascii_case(b"FULL") {
            Some(Self::Full)
        } else if word.eq_ignore_ascii_case(b"HEADERS") {
            Some(Self::Headers)
        } else {
            None
        }
    }
}

/// The words of a call, of which some are still to come.
pub trait Words<'c>: Clone {
    fn next_word(&mut self) -> Option<&'c [u8]>;
}

impl<'c> Words<'c> for Args<'c> {
    fn next_word(&mut self) -> Option<&'c [u8]> {
        self.next().map(|arg| arg.bytes())
    }
}

impl<'c> Words<'c> for std::slice::Iter<'_, &'c [u8]> {
    fn next_word(&mut self) -> Option<&'c [u8]> {
        self.next().copied()
    }
}

/// The options of one limit, in any order, each at most once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options<'c> {
    pub cost: Option<Cost>,
    pub burst: Option<u64>,
    pub anchor: Option<Anchor>,
    /// The holder of a lease.
    pub id: Option<&'c [u8]>,
    /// The name of the policy in the headers.
    pub name: Option<&'c str>,
    pub partial: bool,
    /// When the request was charged.
    pub at: Option<Micros>,
    /// What the request was charged, and what it turned out to cost.
    pub reserved: Option<Cost>,
    pub actual: Option<Cost>,
}

impl<'c> Options<'c> {
    /// Takes options from `words` up to the first word that is none. With `form`, FULL and HEADERS are options too.
    ///
    /// # Errors
    /// A value is invalid, or an option is there twice.
    pub fn parse(words: &mut impl Words<'c>, mut form: Option<&mut Form>) -> Result<Self, Error> {
        let mut options = Self::default();
        loop {
            let mut ahead = words.clone();
            let Some(word) = ahead.next_word() else { return Ok(options) };
            if word.eq_ignore_ascii_case(b"COST") {
                let cost = ahead.next_word().and_then(parse_count).and_then(Cost::new);
                set_once(&mut options.cost, cost.ok_or(Error::COST)?, Error::COST_TWICE)?;
            } else if word.eq_ignore_ascii_case(b"BURST") {
                let burst = ahead.next_word().and_then(parse_count).filter(|&burst| burst > 0);
                set_once(&mut options.burst, burst.ok_or(Error::BURST)?, Error::BURST_TWICE)?;
            } else if word.eq_ignore_ascii_case(b"ANCHOR") {
                let anchor = ahead.next_word().and_then(parse_anchor);
                set_once(&mut options.anchor, anchor.ok_or(Error::ANCHOR)?, Error::ANCHOR_TWICE)?;
            } else if word.eq_ignore_ascii_case(b"ID") {
                let id = ahead.next_word().filter(|id| is_id(id));
                set_once(&mut options.id, id.ok_or(Error::ID)?, Error::ID_TWICE)?;
            } else if word.eq_ignore_ascii_case(b"AS") {
                let name = ahead.next_word().and_then(parse_name);
                set_once(&mut options.name, name.ok_or(Error::NAME)?, Error::NAME_TWICE)?;
            } else if word.eq_ignore_ascii_case(b"AT") {
                let at = ahead.next_word().and_then(parse_unsigned).filter(|&millis| millis <= MAX_COUNT);
                set_once(&mut options.at, at.map(Micros::from_millis).ok_or(Error::AT)?, Error::AT_TWICE)?;
            } else if word.eq_ignore_ascii_case(b"RESERVED") {
                let reserved = ahead.next_word().and_then(parse_count).and_then(Cost::new);
                set_once(&mut options.reserved, reserved.ok_or(Error::RESERVED)?, Error::RESERVED_TWICE)?;
            } else if word.eq_ignore_ascii_case(b"ACTUAL") {
                let actual = ahead.next_word().and_then(parse_count).and_then(Cost::new);
                set_once(&mut options.actual, actual.ok_or(Error::ACTUAL)?, Error::ACTUAL_TWICE)?;
            } else if word.eq_ignore_ascii_case(b"PARTIAL") {
                if std::mem::replace(&mut options.partial, true) {
                    return Err(Error::PARTIAL_TWICE);
                }
            } else if let (Some(form), Some(named)) = (form.as_deref_mut(), Form::from_word(word)) {
                match std::mem::replace(form, named) {
                    Form::Verdict => {}
                    other if other == named => return Err(Error::FORM_TWICE),
                    _ => return Err(Error::FULL_AND_HEADERS),
                }
            } else {
                return Ok(options);
            }
            *words = ahead;
        }
    }
}

/// The options that only some commands take.
#[derive(Clone, Copy, Debug)]
pub struct Accepted {
    pub cost: bool,
    pub partial: bool,
    pub id: bool,
    pub name: bool,
    pub at: bool,
    pub settlement: bool,
}

impl Accepted {
    /// Of a request: RL.<ALGO> and RL.PEEK.
    pub const REQUEST: Self = Self { cost: true, partial: true, id: true, name: true, at: false, settlement: false };
    /// Of a limit of RL.MULTI, which charges all or nothing.
    pub const LIMIT: Self = Self { partial: false, ..Self::REQUEST };
    pub const REFUND: Self = Self { cost: true, partial: false, id: false, name: false, at: true, settlement: false };
    pub const SETTLEMENT: Self = Self { cost: false, settlement: true, ..Self::REFUND };
    pub const NONE: Self = Self { cost: false, partial: false, id: false, name: false, at: false, settlement: false };
}

impl Options<'_> {
    /// Rejects an option that the command does not take.
    ///
    /// # Errors
    /// An error that names the option.
    pub fn require(&self, accepted: &Accepted) -> Result<(), Error> {
        let rejected = [
            (self.cost.is_some() && !accepted.cost, Error::COST_NOT_TAKEN),
            (self.partial && !accepted.partial, Error::PARTIAL_NOT_TAKEN),
            (self.id.is_some() && !accepted.id, Error::ID_NOT_TAKEN),
            (self.name.is_some() && !accepted.name, Error::NAME_NOT_TAKEN),
            (self.at.is_some() && !accepted.at, Error::AT_NOT_TAKEN),
            (self.reserved.is_some() && !accepted.settlement, Error::RESERVED_NOT_TAKEN),
            (self.actual.is_some() && !accepted.settlement, Error::ACTUAL_NOT_TAKEN),
        ];
        rejected.into_iter().find(|(rejected, _)| *rejected).map_or(Ok(()), |(_, error)| Err(error))
    }
}

fn set_once<T>(option: &mut Option<T>, value: T, twice: Error) -> Result<(), Error> {
    match option.replace(value) {
        None => Ok(()),
        Some(_) => Err(twice),
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

/// A window of a fixed length, or of the calendar; with an anchor if there is one.
pub fn parse_schedule(text: &[u8], anchor: Option<Anchor>) -> Result<Schedule, Error> {
    match (CalendarUnit::from_word(text), anchor) {
        (Some(unit), anchor) => Ok(Schedule::Calendar(unit, anchor)),
        (None, Some(anchor)) => parse_window(text).map(|window| Schedule::Anchored(window, anchor)),
        (None, None) => parse_window(text).map(Schedule::Aligned),
    }
}

/// Unix seconds, from 0 to [`Anchor::MAX`].
pub fn parse_anchor(text: &[u8]) -> Option<Anchor> {
    parse_unsigned(text).and_then(Anchor::from_seconds)
}

/// Whether a holder of a lease may have this name: 1 to 512 bytes.
pub fn is_id(text: &[u8]) -> bool {
    (1..=512).contains(&text.len())
}

/// `id [id …]`: the rest of a call. The result has each id once.
///
/// # Errors
/// There is none, or one is invalid.
pub fn parse_ids<'c>(args: Args<'c>) -> Result<Vec<Str<'c>>, Error> {
    let mut ids: Vec<_> = args.collect();
    if ids.is_empty() {
        return Err(Error::ARITY);
    }
    if !ids.iter().all(|id| is_id(id.bytes())) {
        return Err(Error::ID);
    }
    ids.sort_unstable_by_key(|id| id.bytes());
    ids.dedup_by_key(|id| id.bytes());
    Ok(ids.into_iter().map(Str::of_argument).collect())
}

/// 1 to 64 characters that need no quoting in a header.
fn parse_name(text: &[u8]) -> Option<&str> {
    let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    let valid = (1..=64).contains(&text.len()) && text.iter().all(allowed);
    std::str::from_utf8(text).ok().filter(|_| valid)
}

/// An integer from 0 to 2⁶³ − 1.
#[inline]
pub fn parse_limit(text: &[u8]) -> Result<u64, Error> {
    parse_count(text).ok_or(Error::LIMIT)
}

fn parse_count(text: &[u8]) -> Option<u64> {
    parse_unsigned(text).filter(|&n| n <= MAX_COUNT)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::algorithm::MAX_SPAN;

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
    fn other_windows_are_errors() {
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

    /// The options and the form of a whole call.
    fn options(text: &str) -> Result<(Options<'_>, Form), Error> {
        let words: Vec<&[u8]> = text.split_ascii_whitespace().map(str::as_bytes).collect();
        let (mut words, mut form) = (words.iter(), Form::Verdict);
        let options = Options::parse(&mut words, Some(&mut form))?;
        if words.len() == 0 { Ok((options, form)) } else { Err(Error::OPTION) }
    }

    #[test]
    fn options_come_in_any_order_and_case() {
        let all = (Options { cost: Cost::new(2), burst: Some(3), ..Options::default() }, Form::Full);
        assert_eq!(options("COST 2 BURST 3 FULL"), Ok(all));
        assert_eq!(options("full burst 3 cost 2"), Ok(all));
        assert_eq!(options(""), Ok((Options::default(), Form::Verdict)));
        let named = options("PARTIAL AS a-Z_0.9 ANCHOR 253402300799").unwrap().0;
        assert_eq!((named.partial, named.name, named.anchor), (true, Some("a-Z_0.9"), Some(Anchor::MAX)));
        assert_eq!(options("COST 0").map(|(options, _)| options.cost), Ok(Some(Cost::ZERO)));
    }

    #[test]
    fn wrong_options_name_what_is_wrong() {
        for (text, error) in [
            ("COST", Error::COST),
            ("COST -1", Error::COST),
            ("COST 9223372036854775808", Error::COST),
            ("BURST", Error::BURST),
            ("BURST 0", Error::BURST),
            ("COST 1 COST 1", Error::COST_TWICE),
            ("BURST 1 BURST 1", Error::BURST_TWICE),
            ("ANCHOR", Error::ANCHOR),
            ("ANCHOR -1", Error::ANCHOR),
            ("ANCHOR 253402300800", Error::ANCHOR),
            ("ANCHOR 1 ANCHOR 1", Error::ANCHOR_TWICE),
            ("ID", Error::ID),
            ("ID a ID a", Error::ID_TWICE),
            ("AS", Error::NAME),
            ("AS a\u{e4}", Error::NAME),
            ("AS a\"b", Error::NAME),
            ("AS a AS b", Error::NAME_TWICE),
            ("PARTIAL PARTIAL", Error::PARTIAL_TWICE),
            ("AT 1 AT 1", Error::AT_TWICE),
            ("RESERVED 1 ACTUAL 1 RESERVED 1", Error::RESERVED_TWICE),
            ("ACTUAL 1 ACTUAL 2", Error::ACTUAL_TWICE),
            ("FULL FULL", Error::FORM_TWICE),
            ("FULL HEADERS", Error::FULL_AND_HEADERS),
            ("NOW", Error::OPTION),
            ("1", Error::OPTION),
        ] {
            assert_eq!(options(text), Err(error), "{text}");
        }
    }

    #[test]
    fn an_id_is_1_to_512_bytes() {
        let parse = |id: &[u8]| Options::parse(&mut [&b"ID"[..], id].iter(), None).map(|options| options.id.is_some());
        assert_eq!(parse(b""), Err(Error::ID));
        assert_eq!(parse(&[0xff; 513]), Err(Error::ID));
        assert_eq!((parse(b"\0"), parse(&[b' '; 512])), (Ok(true), Ok(true)));
    }

    proptest! {
        #[test]
        fn never_panics(window: Vec<u8>, limit: Vec<u8>, words: Vec<Vec<u8>>) {
            let _ = parse_window(&window);
            let _ = parse_limit(&limit);
            let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
            let _ = Options::parse(&mut words.iter(), Some(&mut Form::Verdict));
        }
    }
}
