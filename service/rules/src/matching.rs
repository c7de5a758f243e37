//! Which rule a descriptor gets.
//!
//! At each level, the exact `key_value`, else the first wildcard in the order of the file, else the key alone. There is
//! no way back to a less specific rule, and the depth must be equal.

use std::sync::Arc;

use redis_rl_client::bounded;

use super::model::{Domain, Level, Limit, Rule};
use super::wildcard::Pairs;

/// An entry of a descriptor: its key and its value.
pub type Entry<'e> = (&'e str, &'e str);

/// The limit that a descriptor gets.
#[derive(Clone, Debug)]
pub struct Found<'r> {
    pub limit: &'r Arc<Limit>,
    /// The rules that share a limit among all values that fit: the number of the entry, and the rule's `key_value`.
    pub shared: Vec<(usize, &'r str)>,
    /// Whether the descriptor brought the limit or its window along, so that the key is not that of the rule.
    pub is_own: bool,
}

/// How a rule was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Exact,
    Wildcard,
    Key,
}

/// A rule that was found for an entry, with its name in the level.
struct Step<'r> {
    name: &'r str,
    rule: &'r Rule,
    how: How,
}

impl Level {
    fn step(&self, (key, value): Entry<'_>, joined: &mut String) -> Option<Step<'_>> {
        joined.clear();
        joined.reserve(key.len() + 1 + value.len());
        joined.push_str(key);
        joined.push('_');
        joined.push_str(value);
        let found = |name: &str, how| self.rules.get_key_value(name).map(|(name, rule)| Step { name, rule, how });
        found(joined, How::Exact)
            .or_else(|| {
                if self.wildcards.is_empty() {
                    return None;
                }
                let pairs = Pairs::of(joined);
                let (name, _) = self.wildcards.iter().find(|(_, wildcard)| wildcard.matches(joined, &pairs))?;
                found(name, How::Wildcard)
            })
            .or_else(|| found(key, How::Key))
    }
}

impl Domain {
    /// The limit for a descriptor; `None` if no rule fits, or the one that does has no limit.
    pub fn find(&self, entries: &[Entry<'_>]) -> Option<Found<'_>> {
        let mut shared = Vec::new();
        let mut last = None;
        for (i, step) in self.steps(entries).enumerate() {
            let step = step?;
            if step.rule.share_threshold {
                shared.push((i, step.name));
            }
            last = step.rule.limit.as_ref();
        }
        Some(Found { limit: last?, shared, is_own: false })
    }

    /// Whether a rule fits, with a limit or without.
    pub fn has_rule(&self, entries: &[Entry<'_>]) -> bool {
        !entries.is_empty() && self.steps(entries).all(|step| step.is_some())
    }

    /// The domain and the entries as the metrics name them, if the limit puts values of requests there; else those of
    /// the rules themselves are [`Limit::path`].
    pub fn metric(&self, entries: &[Entry<'_>]) -> Option<Vec<String>> {
        let steps: Vec<_> = self.steps(entries).collect::<Option<_>>()?;
        let detailed = steps.last()?.rule.limit.as_ref()?.detailed_metric;
        let shares = steps.iter().any(|step| step.rule.share_threshold);
        let part = |(step, &(key, value)): (&Step<'_>, &Entry<'_>)| {
            let pattern = without_key(step.name, key);
            let is_shared = step.rule.share_threshold;
            let (key, value) = (&*bounded(key), &*bounded(value));
            if detailed {
                return match (is_shared, shares, value) {
                    (true, ..) => format!("{key}_{pattern}"),
                    (_, true, "") => key.to_owned(),
                    _ => format!("{key}_{value}"),
                };
            }
            let shown = match step.how {
                How::Wildcard if is_shared => pattern,
                How::Wildcard if !step.rule.value_to_metric => pattern,
                How::Key if !step.rule.value_to_metric => "",
                _ => value,
            };
            if shown.is_empty() { key.to_owned() } else { format!("{key}_{shown}") }
        };
        Some(steps.iter().zip(entries).map(part).collect())
    }

    /// A rule for each entry. Nothing is known of what follows one that none fits.
    fn steps<'r>(&'r self, entries: &[Entry<'_>]) -> impl Iterator<Item = Option<Step<'r>>> {
        let mut joined = String::new();
        let mut level = Some(&self.root);
        entries.iter().map(move |entry| {
            let step = level?.step(*entry, &mut joined)?;
            level = step.rule.below.as_deref();
            Some(step)
        })
    }
}

/// The part of a rule's `key_value` after the key of the entry. The whole of it if the star is in the key.
pub fn without_key<'n>(name: &'n str, key: &str) -> &'n str {
    name.strip_prefix(key).and_then(|rest| rest.strip_prefix('_')).unwrap_or(name)
}
