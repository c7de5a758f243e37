//! What a replay has found, as JSON has it.

use jiff::Timestamp;
use redis_rl_client::{Policy, Window};
use rlaas_rules::Printable;
use serde::Serialize;

use super::figures::{grouped, span};
use super::limits::{Denials, KeyStats, LimitReplay};
use super::logs::{MOST_HELD, Summary, Unread};
use super::replay::{Replay, Totals};
use super::suggest::Suggestion;
use super::times::Slots;

/// How many keys are shown of a rule.
const SHOWN_KEYS: usize = 10;
/// How many keys are shown whose decisions another set of rules changes.
const SHOWN_CHANGED: usize = 20;
/// The bars of the distribution of use: up to a tenth of the limit, and so on; the last one is for keys that were denied.
pub const BARS: usize = 11;

/// What a replay has found.
#[derive(Debug, Serialize)]
pub struct Report {
    pub requests: u64,
    pub denied: u64,
    /// When the first request began, and the last.
    pub from: String,
    pub to: String,
    /// Rules that no request matches.
    pub unused: Vec<String>,
    /// What was assumed, and what was left out.
    pub notes: Vec<String>,
    pub rules: Vec<Rule>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compared: Option<Compared>,
    #[serde(skip)]
    pub slots: Slots,
}

/// What happened under a rule.
#[derive(Debug, Serialize)]
pub struct Rule {
    pub name: String,
    /// The file, the line and the column; empty if it is of no file.
    pub place: String,
    /// As `TOKEN 10 300 BURST 50`.
    pub policy: String,
    /// As `token: 300 in 10s, burst 50`.
    #[serde(skip)]
    pub terms: String,
    /// What all keys begin with, up to a `:` or a `=`.
    #[serde(skip)]
    pub prefix: String,
    pub shadow: bool,
    pub limit: u64,
    pub requests: u64,
    pub denied: u64,
    pub keys: usize,
    pub keys_denied: usize,
    pub first_denial: Option<Denial>,
    /// What the denied are told to wait, in ms.
    pub wait_p50_ms: u64,
    pub wait_p99_ms: u64,
    /// Denials for ever: the cost is above the limit.
    pub never_allowed: u64,
    /// How much of `capacity` a key used that was never denied.
    pub most_used: u64,
    pub capacity: u64,
    pub logged_429: u64,
    /// Requests of keys beyond `--max-keys`, which are not in the other figures.
    pub left_out: u64,
    pub denied_most: Vec<Key>,
    /// How many keys used up to a tenth of the capacity, two tenths …; the last figure is the keys that were denied.
    pub use_of_keys: [u64; BARS],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<Suggestion>,
    #[serde(skip)]
    pub allowed_at: Vec<u32>,
    #[serde(skip)]
    pub denied_at: Vec<u32>,
}

#[derive(Debug, Serialize)]
pub struct Denial {
    pub at: String,
    pub key: String,
}

/// A key that was denied.
#[derive(Debug, Serialize)]
pub struct Key {
    pub key: String,
    pub requests: u64,
    pub denied: u64,
    pub first: String,
    pub last: String,
    /// For how long it was denied: from each denial until the time that it was told.
    pub blocked_ms: u64,
    #[serde(skip)]
    pub denied_at: Vec<u32>,
}

/// What other rules change.
#[derive(Debug, Default, Serialize)]
pub struct Compared {
    pub newly_denied: u64,
    pub no_more_denied: u64,
    pub keys_newly_denied: Vec<Changed>,
    pub keys_no_more_denied: Vec<Changed>,
}

#[derive(Debug, Serialize)]
pub struct Changed {
    pub rule: String,
    pub key: String,
    pub requests: u64,
}

impl Report {
    pub fn new(replay: &Replay, log: &Summary) -> Self {
        let Totals { requests, denied, first, last, .. } = replay.totals;
        let mut order: Vec<_> =
            replay.limits.iter().filter(|limit| limit.rate().is_some() && limit.requests > 0).collect();
        order.sort_by_key(|limit| std::cmp::Reverse(limit.denied));
        let unused = replay
            .limits
            .iter()
            .filter(|limit| limit.requests + limit.left_out + limit.replaced == 0 && !limit.is_lease());
        Self {
            requests,
            denied,
            from: time(first.unwrap_or(0)),
            to: time(last),
            unused: unused.map(|limit| name(limit) + &at(&place(limit))).collect(),
            notes: of_log(log).into_iter().chain(notes(replay)).collect(),
            rules: order.into_iter().map(|limit| Rule::new(limit, replay.settings.suggest, replay.slots.len)).collect(),
            compared: None,
            slots: replay.slots,
        }
    }
}

/// The keys whose requests these rules deny, and others do not.
pub fn changed(replay: &Replay) -> Vec<Changed> {
    let of_limit = |limit: &LimitReplay| {
        let keys = limit.keys.iter().filter(|(_, stats)| stats.changed > 0);
        let one =
            |key: &str, stats: &KeyStats| Changed { rule: name(limit), key: printable(key), requests: stats.changed };
        keys.map(|(key, stats)| one(key, stats)).collect::<Vec<_>>()
    };
    let mut changed: Vec<_> = replay.limits.iter().flat_map(of_limit).collect();
    changed.sort_by_key(|key| std::cmp::Reverse(key.requests));
    changed.truncate(SHOWN_CHANGED);
    changed
}

/// How the log was read.
pub fn of_log(log: &Summary) -> Vec<String> {
    let mut notes: Vec<_> = log.formats.iter().map(|(file, format)| format!("{}: {format}", printable(file))).collect();
    if log.whole_seconds {
        notes.push("times in whole seconds: the requests of a second are spread evenly over it".to_owned());
    }
    if log.durations_subtracted {
        notes.push("durations are subtracted from the times".to_owned());
    }
    if log.too_many_to_sort {
        let text = "requests of one second, or within --sort-within: sorted only as far as so many reach";
        notes.push(format!("more than {} {text}", grouped(MOST_HELD as u64)));
    }
    let counts = [
        (log.out_of_order, "lines are out of order: sorted"),
        (log.not_in_order, "requests are too far out of order: they got the time of the one before"),
        (log.unread, "lines cannot be read, the first of them:"),
    ];
    notes.extend(counted(counts));
    let unread =
        |Unread { file, line, text, why }: &Unread| format!("  {}:{line}: {why}: {}", printable(file), printable(text));
    notes.extend(log.first_unread.iter().map(unread));
    notes
}

/// A text for each count that is not 0.
fn counted<const N: usize>(counts: [(u64, &str); N]) -> impl Iterator<Item = String> {
    counts.into_iter().filter(|(count, _)| *count > 0).map(|(count, text)| format!("{} {text}", grouped(count)))
}

fn notes(replay: &Replay) -> Vec<String> {
    let totals = replay.totals;
    let mut notes = Vec::new();
    for (domain, descriptor) in replay.never_made() {
        notes.push(format!(
            "domain {}: no request has what the descriptor {} needs",
            printable(domain),
            printable(descriptor)
        ));
    }
    let counts = [
        (totals.unmatched, "requests match no rule: allowed"),
        (totals.without_descriptor, "requests have no descriptor: denied, as if_none says"),
        (totals.costs_unread, "requests have no number in the field of --hits: they cost 1"),
        (totals.retries, "requests came again when they were told"),
        (totals.retries_denied, "requests of these were denied again"),
        (totals.retries_later, "requests were told to come after the end of the log"),
    ];
    notes.extend(counted(counts));
    for limit in &replay.limits {
        if limit.left_out > 0 {
            notes.push(format!(
                "{}: {} requests of keys beyond --max-keys are left out",
                name(limit),
                grouped(limit.left_out)
            ));
        }
        if limit.is_lease() {
            notes.push(format!("{}: a lease is for Reserve and Commit: left out", name(limit)));
        }
        if limit.rate().is_some_and(|rate| rate.grants.is_some()) {
            notes.push(format!("{}: decided as without grants", name(limit)));
        }
    }
    notes
}

impl Rule {
    fn new(limit: &LimitReplay, share: Option<f64>, len: usize) -> Self {
        let capacity = limit.rate().map_or(0, |rate| rate.policy.capacity());
        let denials = |stats: &KeyStats| stats.denials.as_ref().map_or(0, |denials| denials.count);
        let mut most: Vec<_> = limit.keys.iter().filter(|(_, stats)| stats.denials.is_some()).collect();
        let keys_denied = most.len();
        most.sort_by_key(|(_, stats)| std::cmp::Reverse(denials(stats)));
        let mut use_of_keys = [0; BARS];
        let mut most_used = 0;
        for stats in limit.keys.values() {
            let bar = match stats.denials {
                Some(_) => BARS - 1,
                None => {
                    most_used = most_used.max(stats.most_used);
                    let tenths = u128::from(stats.most_used) * 10;
                    usize::try_from(tenths.div_ceil(u128::from(capacity.max(1)))).unwrap_or(BARS).clamp(1, BARS - 1) - 1
                }
            };
            use_of_keys[bar] += 1;
        }
        let key = |key: &str, stats: &KeyStats| {
            let Denials { count, first, last, blocked_ms, at, .. } = stats.denials.as_deref()?;
            Some(Key {
                key: printable(key),
                requests: stats.requests,
                denied: *count,
                first: time(*first),
                last: time(*last),
                blocked_ms: *blocked_ms,
                denied_at: at.all()[..len].to_vec(),
            })
        };
        let first_denial = limit.first_denial.and_then(|(at, key)| {
            let (key, _) = limit.keys.get_index(key)?;
            Some(Denial { at: time(at), key: printable(key) })
        });
        let wait = |quantile| if limit.waits.is_empty() { 0 } else { limit.waits.value_at_quantile(quantile) };
        let policy = limit.rate().map(|rate| rate.policy.to_string()).unwrap_or_default();
        Self {
            name: name(limit),
            place: place(limit),
            policy: policy.split(" AS ").next().unwrap_or_default().to_owned(),
            terms: limit.rate().map(|rate| terms(&rate.policy)).unwrap_or_default(),
            prefix: prefix(limit.keys.keys().map(|key| &**key)),
            shadow: limit.limit.shadow,
            limit: limit.rate().map_or(0, |rate| rate.policy.limit()),
            requests: limit.requests,
            denied: limit.denied,
            keys: limit.keys.len(),
            keys_denied,
            first_denial,
            wait_p50_ms: wait(0.5),
            wait_p99_ms: wait(0.99),
            never_allowed: limit.never,
            most_used,
            capacity,
            logged_429: limit.logged_429,
            left_out: limit.left_out,
            denied_most: most.into_iter().take(SHOWN_KEYS).filter_map(|(name, stats)| key(name, stats)).collect(),
            use_of_keys,
            suggestion: share.and_then(|share| limit.probe.as_ref()?.suggest(share)),
            allowed_at: limit.allowed_at.all()[..len].to_vec(),
            denied_at: limit.denied_at.all()[..len].to_vec(),
        }
    }
}

/// As `token: 300 in 10s, burst 50`.
fn terms(policy: &Policy) -> String {
    let text = policy.to_string();
    let (word, limit) = (policy.algorithm().word().to_ascii_lowercase(), grouped(policy.limit()));
    let window = match policy.window() {
        Window::Length(length) => span(u64::try_from(length.as_millis()).unwrap_or(u64::MAX)),
        Window::Calendar(_) => format!("a {} of the calendar", text.split(' ').nth(1).unwrap_or_default()),
    };
    let burst = text.split_once(" BURST ").and_then(|(_, rest)| rest.split(' ').next());
    format!("{word}: {limit} in {window}{}", burst.map(|burst| format!(", burst {burst}")).unwrap_or_default())
}

/// Nothing if there is only one.
fn prefix<'k>(mut keys: impl Iterator<Item = &'k str>) -> String {
    let Some(first) = keys.next() else { return String::new() };
    let mut several = false;
    let common = keys.fold(first, |common, key| {
        several = true;
        let same = common.char_indices().zip(key.chars()).find(|((_, a), b)| a != b).map(|((at, _), _)| at);
        &common[..same.unwrap_or(common.len().min(key.len()))]
    });
    let end = common.rfind([':', '=', ',']).filter(|_| several).map_or(0, |end| end + 1);
    printable(&common[..end])
}

fn name(limit: &LimitReplay) -> String {
    printable(&limit.limit.path)
}

fn place(limit: &LimitReplay) -> String {
    limit.limit.place.as_ref().map(ToString::to_string).unwrap_or_default()
}

/// After the name of a rule; nothing for a rule without a place.
pub fn at(place: &str) -> String {
    if place.is_empty() { String::new() } else { format!(" at {place}") }
}

fn printable(text: &str) -> String {
    Printable(text).to_string()
}

/// UTC, to the second.
pub fn time(micros: i64) -> String {
    Timestamp::from_second(micros.div_euclid(1_000_000)).map(|time| time.to_string()).unwrap_or_default()
}
