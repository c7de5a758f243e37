//! What the targets in `fuzz/` need of private modules. Only cargo-fuzz builds it.

use crate::algorithm::{Cost, Gcra, LeakyBucket, Micros, Schedule, SlidingCounter, TokenBucket};
use crate::command::args::{Accepted, Form, Options, parse_limit, parse_schedule};
use crate::error::Error;
use crate::integer::parse_integer;
use crate::store::record::written_as_read;

/// `window limit [options]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    /// The length of a window in milliseconds; `None` for a calendar word.
    pub window_ms: Option<u64>,
    pub calendar: Option<&'static str>,
    /// Unix seconds.
    pub anchor: Option<u64>,
    pub limit: u64,
    pub cost: Option<u64>,
    pub burst: Option<u64>,
    pub id: Option<Vec<u8>>,
    pub name: Option<String>,
    pub partial: bool,
    pub shadow: bool,
    /// Unix microseconds.
    pub at: Option<u64>,
    pub reserved: Option<u64>,
    pub actual: Option<u64>,
    pub form: Option<&'static str>,
}

/// The commands that take different options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// `RL.<ALGO>` and RL.PEEK.
    Request,
    /// A limit of RL.MULTI, without FULL and HEADERS.
    Limit,
    Refund,
    Settle,
}

/// Parses all arguments of a limit, as a command does before it asks the algorithm what it takes.
///
/// # Errors
/// The text of the error.
pub fn arguments(words: &[&[u8]], command: Command) -> Result<Parsed, String> {
    parse(words, command).map_err(|error| error.text().to_string_lossy().into_owned())
}

fn parse(words: &[&[u8]], command: Command) -> Result<Parsed, Error> {
    let [window, limit, rest @ ..] = words else { return Err(Error::ARITY) };
    let accepted = match command {
        Command::Request => Accepted::REQUEST,
        Command::Limit => Accepted::LIMIT,
        Command::Refund => Accepted::REFUND,
        Command::Settle => Accepted::SETTLEMENT,
    };
    let (mut rest, mut form) = (rest.iter(), Form::Verdict);
    let options = Options::parse(&mut rest, (command != Command::Limit).then_some(&mut form))?;
    options.require(&accepted)?;
    let limit = parse_limit(limit)?;
    // Every field is named, so a new option does not compile until the targets know it.
    let Options { cost, burst, anchor, id, name, partial, shadow, at, reserved, actual } = options;
    let (window_ms, calendar, anchor) = match parse_schedule(window, anchor)? {
        Schedule::Aligned(window) => (Some(window.millis()), None, None),
        Schedule::Anchored(window, anchor) => (Some(window.millis()), None, Some(anchor)),
        Schedule::Calendar(unit, anchor) => (None, Some(unit.word()), anchor),
    };
    if rest.next().is_some() {
        return Err(Error::OPTION);
    }
    Ok(Parsed {
        window_ms,
        calendar,
        anchor: anchor.map(|anchor| anchor.seconds()),
        limit,
        cost: cost.map(Cost::units),
        burst,
        id: id.map(<[u8]>::to_vec),
        name: name.map(str::to_owned),
        partial,
        shadow,
        at: at.map(|Micros(micros)| micros),
        reserved: reserved.map(Cost::units),
        actual: actual.map(Cost::units),
        form: match form {
            Form::Verdict => None,
            Form::Full => Some("FULL"),
            Form::Headers => Some("HEADERS"),
        },
    })
}

/// The text that each algorithm whose record is integers writes for the record `text`; `None` if it does not read it.
pub fn record(text: &[u8]) -> [Option<Vec<u8>>; 4] {
    [
        written_as_read::<SlidingCounter>(text),
        written_as_read::<TokenBucket>(text),
        written_as_read::<LeakyBucket>(text),
        written_as_read::<Gcra>(text),
    ]
}

/// The value of a counter of a fixed window.
pub fn counter(text: &[u8]) -> Option<i64> {
    parse_integer(text)
}
