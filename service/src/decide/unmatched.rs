//! Requests that no rule limits, as after a typo: their domain has no rules, or no rule fits a descriptor.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use envoy_types::pb::envoy::service::ratelimit::v3::RateLimitRequest;
use prometheus::{IntCounterVec, Opts, Registry};
use rlaas_rules::{Domain, Entry, Printable};
use tracing::warn;

use super::plan::{Plan, Slot};
use super::text::show_descriptor;
use crate::metric::register;
use crate::throttle::Throttle;

/// How many domains of requests have a series. The others share one.
const MAX_DOMAINS: usize = 100;
/// The label of the series that the other domains share.
const OTHERS: &str = "other";
/// How long the name of a domain, or a descriptor, may be in a label or in the log.
const MAX_BYTES: usize = 100;
/// How often the log has a line about domains, and one about descriptors.
const LINES_APART: Duration = Duration::from_secs(60);

/// Counts such requests, and logs them once a minute; those without descriptors once a second.
#[derive(Debug)]
pub struct Unmatched {
    domains: IntCounterVec,
    descriptors: IntCounterVec,
    /// The labels that come from requests.
    labels: Mutex<HashSet<String>>,
    domain_lines: Throttle,
    descriptor_lines: Throttle,
    empty_lines: Throttle,
}

impl Unmatched {
    /// # Errors
    /// A metric is registered twice: a fault of this program.
    pub fn new(registry: &Registry) -> Result<Self, prometheus::Error> {
        let counters =
            |name: &str, help: &str| register(registry, IntCounterVec::new(Opts::new(name, help), &["domain"]));
        Ok(Self {
            domains: counters("rlaas_requests_of_unknown_domains", "Requests of a domain that has no rules.")?,
            descriptors: counters("rlaas_descriptors_without_rule", "Descriptors that no rule fits.")?,
            labels: Mutex::default(),
            domain_lines: Throttle::new(LINES_APART),
            descriptor_lines: Throttle::new(LINES_APART),
            empty_lines: Throttle::new(Duration::from_secs(1)),
        })
    }

    /// Counts a request of which a part is not limited.
    pub fn count(&self, request: &RateLimitRequest, domain: Option<&Domain>, plan: &Plan, now: Instant) {
        let name = cut(&request.domain);
        let Some(domain) = domain else {
            self.domains.with_label_values(&[self.label(name)]).inc();
            if let Some(left_out) = self.domain_lines.next(now) {
                warn!(domain = %Printable(name), left_out, "no rules have this domain: its requests are allowed");
            }
            return;
        };
        for (slot, descriptor) in plan.slots.iter().zip(&request.descriptors) {
            let entries = || -> Vec<Entry<'_>> {
                descriptor.entries.iter().map(|entry| (entry.key.as_str(), entry.value.as_str())).collect()
            };
            // A rule without a limit is there on purpose.
            if !matches!(slot, Slot::None) || domain.has_rule(&entries()) {
                continue;
            }
            self.descriptors.with_label_values(&[&request.domain]).inc();
            if let Some(left_out) = self.descriptor_lines.next(now) {
                let shown = show_descriptor(descriptor);
                let (domain, descriptor) = (Printable(name), Printable(cut(&shown)));
                warn!(%domain, %descriptor, left_out, "no rule fits this descriptor: it is allowed");
            }
        }
    }

    /// Logs that a request had no descriptors. It is rejected, but a proxy that fails open does not show the rejection.
    pub fn say_empty(&self, domain: &str, now: Instant) {
        if let Some(left_out) = self.empty_lines.next(now) {
            let domain = Printable(cut(domain));
            warn!(%domain, left_out, "a request without descriptors is rejected: a proxy that fails open lets it pass");
        }
    }

    fn label<'n>(&self, name: &'n str) -> &'n str {
        let mut labels = self.labels.lock().unwrap_or_else(PoisonError::into_inner);
        if labels.contains(name) {
            return name;
        }
        if labels.len() >= MAX_DOMAINS {
            return OTHERS;
        }
        labels.insert(name.to_owned());
        name
    }
}

fn cut(text: &str) -> &str {
    let end = (0..=MAX_BYTES.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    end.and_then(|end| text.get(..end)).unwrap_or_default()
}
