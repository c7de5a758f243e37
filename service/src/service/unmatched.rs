//! Requests that no rule limits: of a domain without rules, or with a descriptor without one. A typo looks so.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use envoy_types::pb::envoy::service::ratelimit::v3::RateLimitRequest;
use prometheus::{IntCounterVec, Opts, Registry};
use tracing::warn;

use super::log::show;
use super::plan::{Plan, Slot};
use crate::net::register;
use crate::rules::{Domain, Entry, Printable};

/// How many domains of requests have a series. The others share one.
const MAX_DOMAINS: usize = 100;
/// The name of that one.
const OTHERS: &str = "other";
/// How long the name of a domain, or a descriptor, may be in a label or in the log.
const MAX_BYTES: usize = 100;
/// How many of each are in a line of the log.
const MAX_SHOWN: usize = 3;
/// How often there is such a line.
const LINES_APART: Duration = Duration::from_secs(60);

/// Counts them, and says so once a minute.
#[derive(Debug)]
pub struct Unmatched {
    domains: IntCounterVec,
    descriptors: IntCounterVec,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    /// The labels that come from requests.
    labels: HashSet<String>,
    /// When the last line was written.
    said: Option<Instant>,
    /// How many since then, and the first of them.
    domains: (u64, Vec<String>),
    descriptors: (u64, Vec<String>),
}

impl Unmatched {
    /// # Errors
    /// A metric is there twice, which is a fault of this program.
    pub fn new(registry: &Registry) -> Result<Self, prometheus::Error> {
        let counters =
            |name: &str, help: &str| register(registry, IntCounterVec::new(Opts::new(name, help), &["domain"]));
        Ok(Self {
            domains: counters("rlaas_requests_of_unknown_domains", "Requests of a domain that has no rules.")?,
            descriptors: counters("rlaas_descriptors_without_rule", "Descriptors that no rule fits.")?,
            seen: Mutex::default(),
        })
    }

    /// Counts a request, if something of it is not limited.
    pub fn count(&self, request: &RateLimitRequest, domain: Option<&Domain>, plan: &Plan, now: Instant) {
        let Some(domain) = domain else {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            let label = seen.label(cut(&request.domain));
            self.domains.with_label_values(&[&label]).inc();
            seen.domains.add(|| cut(&request.domain).to_owned());
            return seen.say(now);
        };
        let without = plan.slots.iter().zip(&request.descriptors).filter(|(slot, descriptor)| {
            let entries = || -> Vec<Entry<'_>> {
                descriptor.entries.iter().map(|entry| (entry.key.as_str(), entry.value.as_str())).collect()
            };
            // A rule without a limit is there on purpose.
            matches!(slot, Slot::None) && !domain.has_rule(&entries())
        });
        let mut without = without.map(|(_, descriptor)| descriptor).peekable();
        if without.peek().is_none() {
            return;
        }
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        for descriptor in without {
            self.descriptors.with_label_values(&[&request.domain]).inc();
            seen.descriptors.add(|| cut(&format!("{}: {}", request.domain, show(descriptor))).to_owned());
        }
        seen.say(now);
    }
}

impl Seen {
    fn label(&mut self, name: &str) -> String {
        if !self.labels.contains(name) {
            if self.labels.len() >= MAX_DOMAINS {
                return OTHERS.to_owned();
            }
            self.labels.insert(name.to_owned());
        }
        name.to_owned()
    }

    fn say(&mut self, now: Instant) {
        if self.said.is_some_and(|said| now.saturating_duration_since(said) < LINES_APART) {
            return;
        }
        self.said = Some(now);
        let (unknown_domains, domains) = std::mem::take(&mut self.domains);
        let (descriptors_without_rule, descriptors) = std::mem::take(&mut self.descriptors);
        let list = |shown: &[String]| Printable(&shown.join(" | ")).to_string();
        let (domains, descriptors) = (list(&domains), list(&descriptors));
        warn!(
            unknown_domains,
            domains, descriptors_without_rule, descriptors, "no rule limits these: they are allowed"
        );
    }
}

/// Counts one, and keeps the first ones.
trait Add {
    fn add(&mut self, text: impl FnOnce() -> String);
}

impl Add for (u64, Vec<String>) {
    fn add(&mut self, text: impl FnOnce() -> String) {
        self.0 = self.0.saturating_add(1);
        if self.1.len() < MAX_SHOWN {
            let text = text();
            if !self.1.contains(&text) {
                self.1.push(text);
            }
        }
    }
}

fn cut(text: &str) -> &str {
    let end = (0..=MAX_BYTES.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    end.and_then(|end| text.get(..end)).unwrap_or_default()
}
