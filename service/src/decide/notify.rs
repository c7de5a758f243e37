//! `notify` of a rule: a request that crosses a percentage of its limit is an event. The reply to its charge says what was
//! counted, so no copy of the service asks another.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::BuildHasher as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use envoy_types::pb::envoy::extensions::common::ratelimit::v3::RateLimitDescriptor;
use foldhash::fast::RandomState;
use jiff::Timestamp;
use prometheus::{IntCounterVec, Opts, Registry};
use redis_rl_client::{Decision, Window};
use rlaas_rules::Limit;
use serde_json::json;
use tokio::sync::mpsc::Sender;
use tracing::info;

use super::text::show_descriptor;
use crate::metric::register;

/// How many crossings are remembered, each until its window ends. While so many are, `rolling` and `counter` have no more
/// events. `fixed` and `window` have: their counts do not fall within a window.
const MAX_CROSSED: usize = 10_000;

/// Tells operators that a request has crossed a percentage of its limit.
#[derive(Debug)]
pub struct Notifier {
    /// The hash of a key, and a percentage of it that was crossed; until when no other crossing is an event.
    crossed: Mutex<HashMap<(u64, u8), Instant>>,
    keys: RandomState,
    figures: Figures,
    /// Events that wait to be posted.
    posts: Option<Sender<String>>,
    with_values: bool,
}

/// What is counted about events.
#[derive(Clone, Debug)]
pub struct Figures {
    events: IntCounterVec,
    pub posts: IntCounterVec,
}

impl Figures {
    /// # Errors
    /// A metric is there twice, which is a fault of this program.
    pub fn new(registry: &Registry) -> Result<Self, prometheus::Error> {
        let counters = |name: &str, help: &str, labels: &[&str]| {
            register(registry, IntCounterVec::new(Opts::new(name, help), labels))
        };
        Ok(Self {
            events: counters(
                "rlaas_notify_events",
                "Requests that crossed a percentage of notify.",
                &["domain", "rule", "percent"],
            )?,
            posts: counters(
                "rlaas_notify_posts",
                "Events for --notify-url: sent, failed, or dropped because too many waited.",
                &["outcome"],
            )?,
        })
    }
}

/// What a charge counted under a limit.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    pub before: u64,
    pub after: u64,
}

impl Counted {
    /// What the reply to a charge says.
    pub fn of_charge(decision: &Decision) -> Self {
        let before = counted_before(decision, decision.charged);
        Self { before, after: before.saturating_add(decision.charged) }
    }

    /// What a look with cost 0 before a settlement says, and the reply to it: that of RL.PEEK with cost 1 afterwards.
    pub fn of_settlement(before: &Decision, after: &Decision) -> Self {
        Self { before: counted_before(before, 0), after: counted_before(after, 1) }
    }
}

/// How much was counted before a request of so many units.
pub fn counted_before(decision: &Decision, units: u64) -> u64 {
    let count = u64::try_from(decision.count).unwrap_or(0);
    if decision.policy().algorithm().traits().count_is_after { count.saturating_sub(units) } else { count }
}

impl Notifier {
    pub fn new(figures: Figures, posts: Option<Sender<String>>, with_values: bool) -> Self {
        Self { crossed: Mutex::default(), keys: RandomState::default(), figures, posts, with_values }
    }

    /// Tells of each percentage of the limit that these units crossed.
    pub fn look(
        &self,
        domain: &str,
        descriptor: &RateLimitDescriptor,
        (limit, key): (&Limit, &str),
        decision: &Decision,
        Counted { before, after }: Counted,
    ) {
        let whole = decision.policy().limit();
        for percent in limit.notify.iter().copied() {
            let threshold = (u128::from(whole) * u128::from(percent)).div_ceil(100);
            let is_crossed = u128::from(before) < threshold && threshold <= u128::from(after);
            if is_crossed && self.is_first(key, percent, decision) {
                self.tell(domain, descriptor, limit, decision, percent);
            }
        }
    }

    /// Whether this copy has not told of it in the window. The count of a sliding window falls and rises.
    fn is_first(&self, key: &str, percent: u8, decision: &Decision) -> bool {
        let (now, policy) = (Instant::now(), decision.policy());
        let ends_at_once = policy.algorithm().traits().ends_at_once;
        let window = match policy.window() {
            Window::Length(length) if !ends_at_once => length,
            _ => decision.reset_after.unwrap_or_default(),
        };
        let until = now + window.min(Duration::from_secs(366 * 86_400));
        let mut crossed = self.crossed.lock().unwrap_or_else(PoisonError::into_inner);
        if crossed.len() >= MAX_CROSSED {
            crossed.retain(|_, until| *until > now);
        }
        let is_full = crossed.len() >= MAX_CROSSED;
        match crossed.entry((self.keys.hash_one(key), percent)) {
            Entry::Occupied(known) if *known.get() > now => false,
            Entry::Vacant(_) if is_full => ends_at_once,
            entry => {
                entry.insert_entry(until);
                true
            }
        }
    }

    fn tell(&self, domain: &str, descriptor: &RateLimitDescriptor, limit: &Limit, decision: &Decision, percent: u8) {
        let rule = &*limit.path;
        self.figures.events.with_label_values(&[domain, rule, &percent.to_string()]).inc();
        // In units of the rule.
        let scale = limit.unit_scale();
        let (most, remaining) = (decision.policy().limit() / scale, decision.remaining / scale);
        let reset_ms = decision.reset_after.map_or(0, |wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
        let ends = i64::try_from(decision.now_ms.saturating_add(reset_ms)).unwrap_or(i64::MAX);
        let window_ends = Timestamp::from_millisecond(ends).unwrap_or(Timestamp::MAX).to_string();
        let descriptor = self.with_values.then(|| show_descriptor(descriptor));
        info!(
            domain,
            rule,
            percent,
            limit = most,
            remaining,
            window_ends,
            descriptor,
            "a request has crossed a percentage of notify"
        );
        let Some(posts) = &self.posts else { return };
        let mut event = json!({
            "domain": domain, "rule": rule, "percent": percent, "limit": most, "remaining": remaining,
            "windowEnds": window_ends,
        });
        if let (Some(fields), Some(descriptor)) = (event.as_object_mut(), descriptor) {
            fields.insert("descriptor".to_owned(), descriptor.into());
        }
        if posts.try_send(event.to_string()).is_err() {
            self.figures.posts.with_label_values(&["dropped"]).inc();
        }
    }
}
