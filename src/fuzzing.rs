//! What the targets in `fuzz/` need of private modules. Only cargo-fuzz builds it.

use crate::algorithm::{Cost, Gcra, LeakyBucket, SlidingCounter, TokenBucket};
use crate::command::args::{Form, Options, parse_limit, parse_window};
use crate::error::Error;
use crate::integer::parse_integer;
use crate::store::record::written_as_read;

/// `window limit [options]`.
#[derive(Debug, PartialEq, Eq)]
pub struct Parsed {
    pub window_ms: u64,
    pub limit: u64,
    pub cost: Option<u64>,
    pub burst: Option<u64>,
    pub form: Option<&'static str>,
}

/// Parses all arguments of a limit, as a command with one limit does. With `form`, FULL and HEADERS are options; RL.MULTI
/// parses its limits without.
///
/// # Errors
/// The text of the error.
pub fn arguments(words: &[&[u8]], form: bool) -> Result<Parsed, String> {
    parse(words, form).map_err(|error| error.text().to_string_lossy().into_owned())
}

fn parse(words: &[&[u8]], with_form: bool) -> Result<Parsed, Error> {
    let [window, limit, options @ ..] = words else { return Err(Error::ARITY) };
    let (window, limit) = (parse_window(window)?, parse_limit(limit)?);
    let (mut rest, mut form) = (options.iter(), Form::Verdict);
    let Options { cost, burst } = Options::parse(&mut rest, with_form.then_some(&mut form))?;
    if rest.next().is_some() {
        return Err(Error::OPTION);
    }
    let form = match form {
        Form::Verdict => None,
        Form::Full => Some("FULL"),
        Form::Headers => Some("HEADERS"),
    };
    Ok(Parsed { window_ms: window.millis(), limit, cost: cost.map(Cost::units), burst, form })
}

/// The text that each algorithm with a record writes for the record `text`; `None` if it does not read it.
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
