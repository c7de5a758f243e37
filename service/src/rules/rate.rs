//! A `rate_limit`: how much, in which window, under which algorithm, and how it is charged.

use std::time::Duration;

use redis_rl_client::{Algorithm, Policy, Window};

use super::fields::{Entries, Reporter, field};
use super::model::{Charge, Options, Rate, Unit, takes_always};
use super::problem::{Mark, quoted};
use super::yaml::{Node, Type, Value};

/// The algorithms of rules. Nothing ends a lease in this protocol, Envoy cannot delay a request as LEAKY asks, and
/// ROLLING is SLIDING without its cost.
const ALGORITHMS: [Algorithm; 6] =
    [Algorithm::Fixed, Algorithm::Window, Algorithm::Rolling, Algorithm::Counter, Algorithm::Token, Algorithm::Gcra];

/// Reads a `rate_limit`: `Some(None)` for unlimited, `None` if it has an error.
#[expect(clippy::option_option, reason = "an error is reported and is no limit")]
pub fn read(reporter: &mut Reporter<'_>, at: Mark, fields: &Entries<'_>, options: &Options) -> Option<Option<Rate>> {
    let errors = reporter.findings.errors.len();
    let rate = if reporter.flag(fields, "unlimited") {
        unlimited(reporter, fields);
        Some(None)
    } else {
        limited(reporter, at, fields, options).map(Some)
    };
    rate.filter(|_| reporter.findings.errors.len() == errors)
}

/// The rate of the Lua scripts' own configuration. RL.FIXED counts denied requests, as the script does.
pub fn of_scripts(policy: Policy) -> Rate {
    Rate { policy, unit: Unit::of(policy.window()), charge: Charge::Allowed, grants: None }
}

fn unlimited(reporter: &mut Reporter<'_>, fields: &Entries<'_>) {
    let unit = reporter.text(fields, "unit").into_owned();
    // As there, a unit that is none is ignored.
    if unit_of(&unit).is_some() {
        reporter.error(at_of(fields, "unit"), "an unlimited rate_limit has no unit");
    }
    reporter.number(fields, "requests_per_unit", 0);
    for name in ["algorithm", "window", "anchor", "limit", "burst", "charge", "grants"] {
        if let Some(node) = field(fields, name) {
            reporter.error(node.at, format!("an unlimited rate_limit has no {name}"));
        }
    }
}

fn limited(reporter: &mut Reporter<'_>, at: Mark, fields: &Entries<'_>, options: &Options) -> Option<Rate> {
    let algorithm = match reporter.text(fields, "algorithm").as_ref() {
        "" => Algorithm::Fixed,
        word => match ALGORITHMS.into_iter().find(|algorithm| algorithm.word().to_ascii_lowercase() == word) {
            Some(algorithm) => algorithm,
            None => {
                let words: Vec<_> = ALGORITHMS.iter().map(|algorithm| algorithm.word().to_ascii_lowercase()).collect();
                let text = format!("invalid algorithm: expected one of {}", words.join(", "));
                reporter.error(at_of(fields, "algorithm"), text);
                return None;
            }
        },
    };
    let window = window(reporter, at, fields)?;
    let limit = limit(reporter, at, fields)?;
    let mut policy = match Policy::new(algorithm, window, u64::from(limit)) {
        Ok(policy) => policy,
        Err(error) => {
            reporter.error(at_of(fields, "window"), error.to_string());
            return None;
        }
    };
    if let Some(burst) = reporter.number(fields, "burst", 1) {
        match policy.try_burst(u64::from(burst)) {
            Ok(with_burst) => policy = with_burst,
            Err(_) => reporter.error(at_of(fields, "burst"), "invalid burst: only token and gcra take it"),
        }
    }
    if let Some(node) = field(fields, "anchor") {
        match (anchor(node), algorithm) {
            (_, algorithm) if algorithm != Algorithm::Fixed => {
                reporter.error(node.at, "invalid anchor: only fixed takes it");
            }
            (Some(seconds), _) if policy.try_anchor(seconds).is_ok() => policy = policy.anchor(seconds),
            _ => reporter.error(node.at, "invalid anchor: expected a time from 1970 to 9999, as 2026-01-15T00:00:00Z"),
        }
    }
    let grants = grants(reporter, fields, &policy, options);
    let charge = charge(reporter, fields, algorithm, options, grants.is_some());
    Some(Rate { policy, unit: unit_or(fields, window), charge, grants })
}

fn at_of(fields: &Entries<'_>, name: &str) -> Mark {
    field(fields, name).map_or_else(Mark::default, |node| node.at)
}

fn unit_of(text: &str) -> Option<Unit> {
    Unit::ALL.into_iter().find(|unit| unit.word().eq_ignore_ascii_case(text))
}

/// The unit that is named, else the one that is as long as the window.
fn unit_or(fields: &Entries<'_>, window: Window) -> Unit {
    let named = field(fields, "unit").and_then(|node| match &node.value {
        Value::Scalar(scalar) => unit_of(&scalar.text),
        _ => None,
    });
    named.unwrap_or_else(|| Unit::of(window))
}

fn window(reporter: &mut Reporter<'_>, at: Mark, fields: &Entries<'_>) -> Option<Window> {
    let Some(node) = field(fields, "window") else {
        let text = reporter.text(fields, "unit").into_owned();
        if let Some(length) = unit_of(&text).and_then(Unit::length) {
            return Some(Window::Length(length));
        }
        let given = if text.is_empty() { String::new() } else { format!(" {}", quoted(&text)) };
        let at = field(fields, "unit").map_or(at, |node| node.at);
        let expected = "expected second, minute, hour, day, week, month or year, or a window instead";
        reporter.error(at, format!("invalid unit{given}: {expected}"));
        return None;
    };
    if let Some(unit) = field(fields, "unit") {
        reporter.error(unit.at, "a rate_limit has a unit or a window, not both");
    }
    let text = reporter.text(fields, "window").into_owned();
    // A number without a unit would be seconds, but nothing says so in a file.
    match text.parse::<Window>() {
        Ok(window) if !text.ends_with(|c: char| c.is_ascii_digit()) && in_range(window) => Some(window),
        _ => {
            reporter.error(
                node.at,
                "invalid window: expected an integer with a unit, as 500ms, 10s, 5m, 1h or 1d; or day, week, month or year",
            );
            None
        }
    }
}

fn in_range(window: Window) -> bool {
    !matches!(window, Window::Length(length) if length > Duration::from_secs(1_000_000_000_000))
}

fn limit(reporter: &mut Reporter<'_>, at: Mark, fields: &Entries<'_>) -> Option<u32> {
    let (theirs, ours) = (field(fields, "requests_per_unit"), field(fields, "limit"));
    if let (Some(_), Some(node)) = (theirs, ours) {
        reporter.error(node.at, "a rate_limit has requests_per_unit or limit, not both");
    }
    // As there, 0 if it is not given: that denies everything.
    match ours {
        Some(_) => reporter.number(fields, "limit", 0),
        None => match theirs {
            Some(Node { value: Value::Scalar(scalar), .. }) if scalar.resolve() == Type::Null => Some(0),
            Some(_) => reporter.number(fields, "requests_per_unit", 0),
            None => {
                reporter.warn(at, "a rate_limit without requests_per_unit denies every request");
                Some(0)
            }
        },
    }
}

/// Unix seconds of an RFC 3339 time.
fn anchor(node: &Node<'_>) -> Option<u64> {
    let Value::Scalar(scalar) = &node.value else { return None };
    let time: jiff::Timestamp = scalar.text.parse().ok()?;
    (time.subsec_nanosecond() == 0).then(|| u64::try_from(time.as_second()).ok())?
}

fn grants(reporter: &mut Reporter<'_>, fields: &Entries<'_>, policy: &Policy, options: &Options) -> Option<u32> {
    let node = field(fields, "grants")?;
    let grants = reporter.number(fields, "grants", 1)?;
    if options.all_or_nothing {
        reporter.error(node.at, "invalid grants: all_or_nothing decides on the server alone");
    }
    if u64::from(grants) > policy.capacity() {
        reporter.error(node.at, "invalid grants: expected at most the burst, or the limit if there is none");
    }
    Some(grants)
}

fn charge(
    reporter: &mut Reporter<'_>,
    fields: &Entries<'_>,
    algorithm: Algorithm,
    options: &Options,
    has_grants: bool,
) -> Charge {
    let known = [("always", Charge::Always), ("allowed", Charge::Allowed)];
    let given = reporter.choice(fields, "charge", &known);
    if given == Some(Charge::Always) {
        let at = at_of(fields, "charge");
        if !takes_always(algorithm) {
            reporter.error(at, "invalid charge: gcra stores a time, and cannot count beyond its limit");
        }
        if has_grants {
            reporter.error(at, "invalid charge: grants imply 'charge: allowed'");
        }
        if options.all_or_nothing {
            reporter.error(at, "invalid charge: all_or_nothing charges only what is allowed");
        }
    }
    given.unwrap_or(match algorithm {
        Algorithm::Fixed if !options.all_or_nothing && !has_grants => Charge::Always,
        _ => Charge::Allowed,
    })
}
