//! What the targets in `fuzz/` need of private modules. Only cargo-fuzz builds it.

use crate::command::options::{Grammar, Options, Taker};
use crate::command::values::{parse_count, parse_schedule};
use crate::command::words::Form;
use crate::error::Error;
use redis_rl_algorithm::integer::parse_integer;
use redis_rl_algorithm::record::written_as_read;
use redis_rl_algorithm::{Cost, Gcra, LeakyBucket, Micros, Schedule, SlidingCounter, TokenBucket};

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
    pub always: bool,
    pub shadow: bool,
    /// Unix microseconds.
    pub at: Option<u64>,
    pub reserved: Option<u64>,
    pub actual: Option<u64>,
    /// The id, and the ttl in milliseconds.
    pub reserve: Option<(Vec<u8>, u64)>,
    pub reservation: Option<Vec<u8>>,
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

/// Parses all arguments of a limit, without the checks of one algorithm.
///
/// # Errors
/// The text of the error.
pub fn arguments(words: &[&[u8]], command: Command) -> Result<Parsed, String> {
    parse(words, command).map_err(|error| error.text().to_string_lossy().into_owned())
}

fn parse(words: &[&[u8]], command: Command) -> Result<Parsed, Error> {
    static CHECK: Grammar = Grammar::new(Taker::Check, None);
    static MULTI: Grammar = Grammar::new(Taker::Multi, None);
    static REFUND: Grammar = Grammar::new(Taker::Refund, None);
    static SETTLE: Grammar = Grammar::new(Taker::Settle, None);
    let [window, limit, rest @ ..] = words else { return Err(Error::ARITY) };
    let grammar = match command {
        Command::Request => &CHECK,
        Command::Limit => &MULTI,
        Command::Refund => &REFUND,
        Command::Settle => &SETTLE,
    };
    let mut rest = rest.iter();
    let (options, form) = Options::parse(&mut rest, grammar)?;
    let limit = parse_count(limit).ok_or(Error::LIMIT)?;
    let (partial, always, shadow) = (options.partial(), options.always(), options.shadow());
    // Every field is named, so a new option does not compile until the targets know it.
    let Options { given: _, cost, burst, anchor, id, name, at, reserved, actual, reserve, reservation } = options;
    let (window_ms, calendar, anchor) = match parse_schedule(window, anchor).ok_or(Error::CALENDAR_WINDOW)? {
        Schedule::Aligned(window) => (Some(window.millis()), None, None),
        Schedule::Anchored(window, anchor) => (Some(window.millis()), None, Some(anchor)),
        Schedule::Calendar(unit, anchor) => (None, Some(unit.word()), anchor),
    };
    if rest.next().is_some() {
        return Err(grammar.usage());
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
        always,
        shadow,
        at: at.map(|Micros(micros)| micros),
        reserved: reserved.map(Cost::units),
        actual: actual.map(Cost::units),
        reserve: reserve.map(|reserve| (reserve.id.to_vec(), reserve.ttl.millis())),
        reservation: reservation.map(<[u8]>::to_vec),
        form: match form {
            Form::Verdict => None,
            Form::Full => Some("FULL"),
            Form::Line => Some("LINE"),
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
