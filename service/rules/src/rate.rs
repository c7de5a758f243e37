//! A `rate_limit`: how much, in which window, under which algorithm, and how it is charged.

use std::time::Duration;

use redis_rl_client::{Algorithm, Policy, Traits, Window};

use super::defaults::{CALENDARS, Defaults};
use super::fields::{Entries, Reporter, at_of, field};
use super::model::{Charge, Options, Rate, Unit};
use super::problem::{Mark, quoted};
use super::yaml::Node;

/// The algorithms of rules, by their words. Envoy cannot delay a request as LEAKY asks, and ROLLING is SLIDING without its
/// cost.
pub fn algorithms() -> impl Iterator<Item = (&'static str, Algorithm)> {
    let named = Algorithm::ALL.into_iter().filter(|algorithm| {
        let Traits { delays, most, .. } = algorithm.traits();
        !delays && most.is_none()
    });
    named.map(|algorithm| (algorithm.label(), algorithm))
}

/// `only token and gcra take it`.
fn only(can: impl Fn(&Traits) -> bool) -> String {
    let takers = algorithms().filter(|(_, algorithm)| can(algorithm.traits())).map(|(word, _)| word);
    let mut takers: Vec<_> = takers.collect();
    let last = takers.pop().unwrap_or_default();
    match takers.is_empty() {
        true => format!("only {last} takes it"),
        false => format!("only {} and {last} take it", takers.join(", ")),
    }
}

/// The window of a lease in a rule. Each Reserve has its own.
const LEASE: Duration = Duration::from_secs(60);

/// The largest limit times `unit_scale`: far from 2⁶³, where counters end.
const MOST_SCALED: u64 = 1 << 50;

const LONGEST: Duration = Duration::from_secs(1_000_000_000_000);

/// Reads a `rate_limit`: `Some(None)` for unlimited, `None` if it has an error.
#[expect(clippy::option_option, reason = "an error is reported and is no limit")]
pub fn read(
    reporter: &mut Reporter<'_>,
    at: Mark,
    fields: &Entries<'_>,
    options: &Options,
    defaults: Defaults,
    is_pool: bool,
) -> Option<Option<Rate>> {
    let errors = reporter.findings.errors.len();
    let rate = if reporter.flag(fields, "unlimited") {
        unlimited(reporter, fields);
        Some(None)
    } else {
        limited(reporter, at, fields, options, defaults, is_pool).map(Some)
    };
    rate.filter(|_| reporter.findings.errors.len() == errors)
}

/// The rate of the Lua scripts' own configuration. RL.FIXED counts denied requests, as the script does.
pub fn of_scripts(policy: Policy) -> Rate {
    Rate { policy, unit: Unit::of(policy.window()), charge: Charge::Allowed, grants: None, unit_scale: 1 }
}

impl Rate {
    /// The same with the limit and the window that a request brings along.
    ///
    /// # Errors
    /// The algorithm cannot have them: why.
    pub fn overridden(self, limit: u32, unit: Unit) -> Result<Self, String> {
        let scaled = u64::from(limit).saturating_mul(self.unit_scale.into());
        if scaled > MOST_SCALED {
            return Err("the limit of a descriptor, times unit_scale, must be at most 2^50".to_owned());
        }
        let own = self.policy.window();
        let is_calendar = CALENDARS.iter().any(|(_, known, of)| *known == unit && own == Window::Calendar(*of));
        // Each Reserve says the time of a lease.
        let is_lease = self.policy.algorithm().traits().id;
        let stays = is_lease || is_calendar || self.unit == unit;
        let window = if stays { own } else { Window::Length(unit.length()) };
        let policy = self.policy.try_terms(window, scaled).map_err(|error| error.to_string())?;
        // What is granted is for one limit.
        let grants = self.grants.filter(|_| policy == self.policy);
        Ok(Self { policy, unit: if is_lease { self.unit } else { unit }, grants, ..self })
    }
}

fn unlimited(reporter: &mut Reporter<'_>, fields: &Entries<'_>) {
    // As there, a unit that is none is ignored.
    if Unit::of_word(reporter.text(fields, "unit")).is_some() {
        reporter.error(at_of(fields, "unit"), "an unlimited rate_limit has no unit");
    }
    reporter.number(fields, "requests_per_unit", 0);
    let not_taken = "algorithm window anchor limit burst block max charge grants unit_scale else share";
    for name in not_taken.split(' ') {
        if let Some(node) = field(fields, name) {
            reporter.error(node.at, format!("an unlimited rate_limit has no {name}"));
        }
    }
}

fn limited(
    reporter: &mut Reporter<'_>,
    at: Mark,
    fields: &Entries<'_>,
    options: &Options,
    defaults: Defaults,
    is_pool: bool,
) -> Option<Rate> {
    let own = reporter.choice(fields, "algorithm", &algorithms().collect::<Vec<_>>());
    if own.is_some_and(|algorithm| algorithm.traits().id) {
        return lease(reporter, at, fields);
    }
    let mut window = window(reporter, at, fields)?;
    // Only fixed takes an anchor.
    let takes_default = own.is_none() && field(fields, "anchor").is_none();
    let calendar = field(fields, "unit").and_then(|_| defaults.calendar(Unit::of(window))).filter(|_| takes_default);
    window = calendar.map_or(window, Window::Calendar);
    let default = defaults.algorithm.filter(|_| takes_default && calendar.is_none());
    // Special: as envoyproxy/ratelimit.
    let algorithm = own.or(default).unwrap_or(Algorithm::Fixed);
    let limit = u64::from(limit(reporter, at, fields));
    let unit_scale = reporter.number(fields, "unit_scale", 1).or(defaults.unit_scale).unwrap_or(1);
    let scaled = limit.saturating_mul(unit_scale.into());
    if scaled > MOST_SCALED {
        reporter.error(at_of(fields, "unit_scale"), "invalid unit_scale: the limit times it must be at most 2^50");
    }
    let mut policy = match Policy::new(algorithm, window, scaled) {
        Ok(policy) => policy,
        Err(error) => {
            reporter.error(at_of(fields, "window"), error.to_string());
            return None;
        }
    };
    if let Some(burst) = reporter.number(fields, "burst", 1) {
        match policy.try_burst(u64::from(burst).saturating_mul(unit_scale.into()).min(MOST_SCALED)) {
            Ok(with_burst) => policy = with_burst,
            Err(_) => reporter.error(at_of(fields, "burst"), format!("invalid burst: {}", only(|can| can.burst))),
        }
    }
    for (name, with_lock) in [("block", Policy::try_block as fn(_, _) -> _), ("max", Policy::try_max)] {
        let Some(node) = field(fields, name) else { continue };
        if !algorithm.traits().lock {
            reporter.error(node.at, format!("invalid {name}: {}", only(|can| can.lock)));
        } else if let Some(Window::Length(length)) = length(reporter, fields, name) {
            policy = with_lock(policy, length).unwrap_or_else(|error| {
                reporter.error(node.at, error.to_string());
                policy
            });
        }
    }
    if !algorithm.traits().anchor && field(fields, "anchor").is_some() {
        reporter.error(at_of(fields, "anchor"), format!("invalid anchor: {}", only(|can| can.anchor)));
    } else {
        let expected = "a time from 1970 to 9999, as 2026-01-15T00:00:00Z";
        let anchored = |node: &Node<'_>| policy.try_anchor(anchor(node.text()?)?).ok();
        policy = reporter.get(fields, "anchor", expected, anchored).unwrap_or(policy);
    }
    let grants = grants(reporter, fields, &policy, options);
    // Of the limits that are asked one after the other, only the one that allows is charged.
    let shares = field(fields, "share").is_some();
    let is_tried = is_pool || shares || field(fields, "else").is_some();
    if shares {
        share(reporter, fields, algorithm, options);
    }
    let charge = charge(reporter, fields, (algorithm, default.is_some()), options, [grants.is_some(), is_tried]);
    Some(Rate { policy, unit: unit_or(fields, window), charge, grants, unit_scale })
}

/// Rejects what a part of a pool cannot have.
fn share(reporter: &mut Reporter<'_>, fields: &Entries<'_>, algorithm: Algorithm, options: &Options) {
    let at = at_of(fields, "share");
    if !algorithm.traits().always {
        reporter.error(at, format!("invalid share: {}", only(|can| can.always)));
    }
    if options.all_or_nothing {
        reporter.error(at, "invalid share: all_or_nothing charges every limit");
    }
    for name in ["charge", "grants", "else"] {
        if let Some(node) = field(fields, name) {
            reporter.error(node.at, format!("a limit with share has no {name}"));
        }
    }
}

/// How many may be inside at once.
fn lease(reporter: &mut Reporter<'_>, at: Mark, fields: &Entries<'_>) -> Option<Rate> {
    for name in ["unit", "window", "anchor", "burst", "block", "max", "charge", "grants", "unit_scale", "share"] {
        if let Some(node) = field(fields, name) {
            reporter
                .error(node.at, format!("invalid {name}: a lease has a limit alone, and each Reserve says its time"));
        }
    }
    let limit = u64::from(limit(reporter, at, fields));
    // Special: a limit for Reserve alone.
    let policy = Policy::new(Algorithm::Lease, Window::Length(LEASE), limit);
    let policy = policy.map_err(|error| reporter.error(at, error.to_string())).ok()?;
    Some(Rate { policy, unit: Unit::Unknown, charge: Charge::Allowed, grants: None, unit_scale: 1 })
}

/// The unit that is named, else the one that is as long as the window.
fn unit_or(fields: &Entries<'_>, window: Window) -> Unit {
    field(fields, "unit").and_then(Node::text).and_then(Unit::of_word).unwrap_or_else(|| Unit::of(window))
}

fn window(reporter: &mut Reporter<'_>, at: Mark, fields: &Entries<'_>) -> Option<Window> {
    let Some(node) = field(fields, "window") else {
        let text = reporter.text(fields, "unit");
        if let Some(unit) = Unit::of_word(text) {
            return Some(Window::Length(unit.length()));
        }
        let given = if text.is_empty() { String::new() } else { format!(" {}", quoted(text)) };
        let at = field(fields, "unit").map_or(at, |node| node.at);
        let expected = "expected second, minute, hour, day, week, month or year, or a window instead";
        reporter.error(at, format!("invalid unit{given}: {expected}"));
        return None;
    };
    if let Some(unit) = field(fields, "unit") {
        reporter.error(unit.at, "a rate_limit has a unit or a window, not both");
    }
    let expected = "an integer with a unit, as 500ms, 10s, 5m, 1h or 1d; or day, week, month or year";
    let read = reporter.get(fields, "window", expected, span);
    if node.is_null() {
        reporter.error(node.at, format!("invalid window: expected {expected}"));
    }
    read
}

/// A number without a unit would be seconds, but a file does not show that.
fn span(node: &Node<'_>) -> Option<Window> {
    let text = node.text().filter(|text| !text.ends_with(|c: char| c.is_ascii_digit()))?;
    text.parse().ok().filter(|window| !matches!(window, Window::Length(length) if *length > LONGEST))
}

/// The length of a lock.
fn length(reporter: &mut Reporter<'_>, fields: &Entries<'_>, name: &str) -> Option<Window> {
    let is_length = |window: &Window| matches!(window, Window::Length(_));
    reporter
        .get(fields, name, "an integer with a unit, as 500ms, 10s, 5m, 1h or 1d", |node| span(node).filter(is_length))
}

/// As there, 0 if it is not given: that denies everything.
fn limit(reporter: &mut Reporter<'_>, at: Mark, fields: &Entries<'_>) -> u32 {
    let (theirs, ours) = (field(fields, "requests_per_unit"), field(fields, "limit"));
    if let (Some(_), Some(node)) = (theirs, ours) {
        reporter.error(node.at, "a rate_limit has requests_per_unit or limit, not both");
    }
    if theirs.or(ours).is_none_or(Node::is_null) {
        reporter.warn(at, "a rate_limit without requests_per_unit denies every request");
    }
    reporter.number(fields, if ours.is_some() { "limit" } else { "requests_per_unit" }, 0).unwrap_or(0)
}

/// Unix seconds of an RFC 3339 time.
fn anchor(text: &str) -> Option<u64> {
    let time: jiff::Timestamp = text.parse().ok()?;
    (time.subsec_nanosecond() == 0).then(|| u64::try_from(time.as_second()).ok())?
}

fn grants(reporter: &mut Reporter<'_>, fields: &Entries<'_>, policy: &Policy, options: &Options) -> Option<u32> {
    let node = field(fields, "grants")?;
    let grants = reporter.number(fields, "grants", 1)?;
    if options.all_or_nothing {
        reporter.error(node.at, "invalid grants: all_or_nothing decides on the server alone");
    }
    let traits = policy.algorithm().traits();
    if !traits.partial {
        reporter.error(node.at, format!("invalid grants: {} decides on the server alone", policy.algorithm().label()));
    }
    if u64::from(grants) > policy.capacity() {
        reporter.error(node.at, "invalid grants: expected at most the burst, or the limit if there is none");
    }
    Some(grants)
}

fn charge(
    reporter: &mut Reporter<'_>,
    fields: &Entries<'_>,
    (algorithm, is_default): (Algorithm, bool),
    options: &Options,
    [has_grants, is_tried]: [bool; 2],
) -> Charge {
    let known = [("always", Charge::Always), ("allowed", Charge::Allowed)];
    let given = reporter.choice(fields, "charge", &known);
    if given == Some(Charge::Always) {
        let at = at_of(fields, "charge");
        if !algorithm.traits().always {
            let text = format!("invalid charge: {} cannot count beyond its limit", algorithm.label());
            reporter.error(at, text);
        }
        if has_grants {
            reporter.error(at, "invalid charge: grants imply 'charge: allowed'");
        }
        if is_tried {
            reporter.error(at, "invalid charge: of a limit and its pools, only the one that allows is charged");
        }
        if options.all_or_nothing {
            reporter.error(at, "invalid charge: all_or_nothing charges only what is allowed");
        }
    }
    // A default is for rules that were written for `fixed`, which always charges.
    let always = (is_default || algorithm.traits().counts_denials) && !options.all_or_nothing;
    let always = always && !has_grants && !is_tried;
    given.unwrap_or(if always { Charge::Always } else { Charge::Allowed })
}
