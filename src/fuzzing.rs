//! What `fuzz/` sees of the modules that are nobody else's business. Built by cargo-fuzz alone.

use crate::algorithm::{Cost, Gcra, LeakyBucket, SlidingCounter, TokenBucket};
use crate::command::args::{Options, parse_limit, parse_window};
use crate::command::reply::Form;
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

/// # Errors
/// The text of the error.
pub fn arguments(words: &[&[u8]]) -> Result<Parsed, &'static str> {
    let [window, limit, options @ ..] = words else { return Err("ERR too few") };
    let parse = || {
        let (window, limit) = (parse_window(window)?, parse_limit(limit)?);
        Options::parse(options.iter().copied()).map(|options| (window, limit, options))
    };
    let (window, limit, Options { cost, burst, form }) =
        parse().map_err(|error| error.0.to_str().unwrap_or_default())?;
    let form = form.map(|form| if form == Form::Headers { "HEADERS" } else { "FULL" });
    Ok(Parsed { window_ms: window.millis(), limit, cost: cost.map(Cost::units), burst, form })
}

/// What each algorithm that takes `text` for its record would write instead.
pub fn record(text: &[u8]) -> [Option<Vec<u8>>; 4] {
    [
        written_as_read::<SlidingCounter>(text),
        written_as_read::<TokenBucket>(text),
        written_as_read::<LeakyBucket>(text),
        written_as_read::<Gcra>(text),
    ]
}

/// A counter of the fixed window.
pub fn counter(text: &[u8]) -> Option<i64> {
    parse_integer(text)
}
