//! Replays requests through a set of rules: with the plans of the service, and the keys in memory.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;

use envoy_types::pb::envoy::service::ratelimit::v3::RateLimitRequest;
use foldhash::fast::RandomState;

use super::descriptors::Template;
use super::keys::Verdict;
use super::limits::LimitReplay;
use super::logs::{Field, Logs, Request};
use super::times::Slots;
use crate::rules::{Authorize, Limit, Printable, Rules};
use crate::service::{Overall, Plan, Slot};

/// How requests are replayed.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The only domain.
    pub domain: Option<String>,
    /// Descriptors instead of those of the part `authorize`.
    pub descriptors: Vec<String>,
    /// The field with the cost.
    pub hits: Option<String>,
    /// A denied request comes again once, when it was told.
    pub retry: bool,
    /// Whether limits are to be suggested.
    pub suggest: bool,
    /// How many keys a limit may have.
    pub max_keys: usize,
}

/// A set of rules, and what it has done so far.
#[derive(Debug)]
pub struct Replay {
    rules: Rules,
    domains: Vec<Replayed>,
    pub limits: Vec<LimitReplay>,
    pub slots: Slots,
    pub totals: Totals,
    hits: Option<Field>,
    status: Field,
    settings: Settings,
    retries: BinaryHeap<Reverse<Retry>>,
    /// The limits and the keys that denied the last request.
    denied_by: Vec<(usize, usize)>,
    values: Vec<u8>,
    checks: Vec<Check>,
}

/// A domain of the rules.
#[derive(Debug)]
struct Replayed {
    name: Box<str>,
    templates: Vec<Template>,
    all_or_nothing: bool,
    /// Whether a request without descriptors is allowed.
    allow_if_none: bool,
    /// Whether a limit replaces others.
    replaces: bool,
    /// What was found for values, by the number of the template and the values.
    found: HashMap<Box<[u8]>, Found, RandomState>,
}

#[derive(Clone, Copy, Debug)]
enum Found {
    /// No descriptor, or no rule for it.
    None,
    Unlimited(usize),
    /// The number of the limit, and that of the key; no key if there are too many.
    Limit(usize, Option<usize>),
}

/// A key of a request under a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Check {
    limit: usize,
    key: usize,
    units: u64,
}

/// A request that comes again.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Retry {
    time: i64,
    number: u64,
    domain: usize,
    checks: Vec<Check>,
}

/// What happened to all requests.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    pub requests: u64,
    pub denied: u64,
    /// Without a descriptor, or without a rule that fits one.
    pub unmatched: u64,
    /// Denied because no descriptor could be made: `if_none` of `authorize`.
    pub without_descriptor: u64,
    pub retries: u64,
    pub retries_denied: u64,
    /// They were told a time after the last request.
    pub retries_later: u64,
    /// The field of the cost was no number: 1 was taken.
    pub costs_unread: u64,
    pub first: Option<i64>,
    pub last: i64,
}

impl Replay {
    /// # Errors
    /// The rules, or the settings, give no descriptors.
    pub fn new(rules: Rules, settings: &Settings, logs: &mut Logs) -> Result<Self, String> {
        let (mut limits, mut domains) = (Vec::new(), Vec::new());
        let is_chosen = |name: &str| settings.domain.as_ref().is_none_or(|only| only == name);
        let mut chosen: Vec<_> = rules.domains.iter().filter(|(name, _)| is_chosen(name)).collect();
        chosen.sort_by_key(|(name, _)| *name);
        for (name, domain) in chosen {
            let mut own: Vec<_> = domain.limits().into_iter().map(Arc::clone).collect();
            own.sort_by(|a, b| a.path.cmp(&b.path));
            let authorize = domain.options.authorize.as_ref().filter(|_| settings.descriptors.is_empty());
            domains.push(Replayed {
                name: name.clone(),
                templates: templates(name, authorize.map(|authorize| &**authorize), settings, logs)?,
                all_or_nothing: domain.options.all_or_nothing,
                allow_if_none: authorize.is_none_or(|authorize| authorize.allow_if_none),
                replaces: own.iter().any(|limit| !limit.replaces.is_empty()),
                found: HashMap::default(),
            });
            for limit in own {
                limits.push(LimitReplay::new(limit, settings.suggest)?);
            }
        }
        if domains.is_empty() {
            let none = || "there is no domain in the rules".to_owned();
            let name = settings.domain.as_deref();
            return Err(name.map_or_else(none, |name| format!("the rules have no domain {}", Printable(name))));
        }
        Ok(Self {
            rules,
            domains,
            limits,
            slots: Slots::default(),
            totals: Totals::default(),
            hits: settings.hits.as_ref().map(|name| logs.find(name)),
            status: logs.find("status"),
            settings: settings.clone(),
            retries: BinaryHeap::new(),
            denied_by: Vec::new(),
            values: Vec::new(),
            checks: Vec::new(),
        })
    }

    /// The descriptors that no request had what they need for.
    pub fn never_made(&self) -> impl Iterator<Item = (&str, &str)> {
        self.domains.iter().flat_map(|domain| {
            domain
                .templates
                .iter()
                .filter(|template| template.made == 0)
                .map(|template| (&*domain.name, &*template.name))
        })
    }

    /// Decides on the next request. Returns whether it is allowed.
    ///
    /// # Errors
    /// The service would not take the request: why.
    pub fn request(&mut self, request: &Request) -> Result<bool, String> {
        self.retry_until(request.time);
        let time = request.time;
        let units = match self.hits.map(|field| request.get(field).and_then(|text| text.parse().ok())) {
            None => 1,
            Some(Some(units)) => units,
            Some(None) => {
                self.totals.costs_unread += 1;
                1
            }
        };
        let is_429 = request.get(self.status) == Some("429");
        self.totals.requests += 1;
        self.totals.first.get_or_insert(time);
        self.totals.last = time;
        self.denied_by.clear();
        let (mut over, mut matched) = (false, false);
        let mut checks = std::mem::take(&mut self.checks);
        for at in 0..self.domains.len() {
            checks.clear();
            let (made, fits) = self.find(at, request, units, &mut checks)?;
            matched |= fits;
            if !made && !self.domains[at].allow_if_none {
                self.totals.without_descriptor += 1;
                over = true;
            }
            for check in &checks {
                self.limits[check.limit].logged_429 += u64::from(is_429);
            }
            over |= self.decide(at, time, &checks, true);
        }
        self.checks = checks;
        self.totals.unmatched += u64::from(!matched);
        self.totals.denied += u64::from(over);
        Ok(!over)
    }

    /// Finds the keys of a request in a domain. Returns whether it has a descriptor, and whether a rule fits one.
    fn find(
        &mut self,
        at: usize,
        request: &Request,
        units: u64,
        checks: &mut Vec<Check>,
    ) -> Result<(bool, bool), String> {
        let (mut made, mut fits) = (false, false);
        let mut replaced = Vec::new();
        for number in 0..self.domains[at].templates.len() {
            self.values.clear();
            self.values.extend((number as u64).to_ne_bytes());
            let domain = &mut self.domains[at];
            let template = &mut domain.templates[number];
            if !template.write_values(request, &mut self.values) {
                continue;
            }
            template.made += 1;
            made = true;
            let found = match domain.found.get(&*self.values) {
                Some(found) => *found,
                None => self.find_anew(at, number, request)?,
            };
            let limit = match found {
                Found::None => continue,
                Found::Unlimited(limit) => limit,
                Found::Limit(limit, Some(key)) => {
                    checks.push(Check { limit, key, units });
                    limit
                }
                Found::Limit(limit, None) => {
                    self.limits[limit].left_out += 1;
                    limit
                }
            };
            fits = true;
            let limit = &mut self.limits[limit];
            limit.requests += u64::from(limit.rate().is_none());
            if self.domains[at].replaces {
                replaced.extend(limit.limit.replaces.iter().cloned());
            }
        }
        if !replaced.is_empty() {
            checks.retain(|check| {
                let limit = &mut self.limits[check.limit];
                let is_replaced = limit.limit.is_among(&replaced);
                limit.replaced += u64::from(is_replaced);
                !is_replaced
            });
        }
        Ok((made, fits))
    }

    /// Finds the limit and the key of a descriptor as the service does, and remembers them.
    fn find_anew(&mut self, at: usize, number: usize, request: &Request) -> Result<Found, String> {
        let domain = &mut self.domains[at];
        let found = match domain.templates[number].make(request) {
            None => Found::None,
            Some(descriptor) => {
                let rules = self.rules.domains.get(&domain.name);
                let request =
                    RateLimitRequest { domain: domain.name.to_string(), descriptors: vec![descriptor], hits_addend: 0 };
                let slot = Plan::new(&request, rules, "", false)?.slots.pop().unwrap_or(Slot::None);
                let number = |limit: &Arc<Limit>| self.limits.iter().position(|known| Arc::ptr_eq(&known.limit, limit));
                match slot {
                    Slot::None | Slot::Replaced(_) => Found::None,
                    Slot::Unlimited(limit) => number(&limit).map_or(Found::None, Found::Unlimited),
                    Slot::Check(check) => match number(&check.limit) {
                        None => Found::None,
                        Some(limit) if self.limits[limit].rate().is_none() => Found::Unlimited(limit),
                        Some(limit) => Found::Limit(limit, self.limits[limit].key(&check.key, self.settings.max_keys)),
                    },
                }
            }
        };
        // It is a cache: the keys themselves stay.
        if domain.found.len() >= self.settings.max_keys {
            domain.found.clear();
        }
        domain.found.insert(self.values.as_slice().into(), found);
        Ok(found)
    }

    /// Charges the keys of a request as the service does. Returns whether it is denied.
    fn decide(&mut self, at: usize, time: i64, checks: &[Check], is_first: bool) -> bool {
        let whole = self.domains[at].all_or_nothing;
        let mut verdicts: Vec<Verdict> = Vec::with_capacity(checks.len());
        let goes = !whole || self.would_all_allow(time, checks);
        for (number, check) in checks.iter().enumerate() {
            let units = if whole { sum_of_key(checks, number) } else { Some(check.units) };
            let limit = &mut self.limits[check.limit];
            // What one RL.MULTI charges once.
            let verdict = match units {
                Some(units) => limit.ask(check.key, time, units, goes),
                None => verdicts
                    .iter()
                    .zip(checks)
                    .find(|(_, other)| (other.limit, other.key) == (check.limit, check.key))
                    .map(|(verdict, _)| *verdict),
            };
            verdicts.push(verdict.unwrap_or(Verdict { allowed: true, used: 0, retry_after_ms: 0 }));
        }
        let slot = self.slot(time);
        let mut overall = Overall::default();
        let mut wait = Some(0_u64);
        let before = self.denied_by.len();
        for (check, verdict) in checks.iter().zip(&verdicts) {
            let limit = &mut self.limits[check.limit];
            limit.count(check.key, time, slot, verdict);
            if let Some(probe) = limit.probe.as_mut().filter(|_| is_first) {
                probe.add(check.key, time, check.units);
            }
            let denies = !verdict.allowed && !limit.limit.shadow;
            overall.add(limit.limit.quota, denies);
            if denies {
                self.denied_by.push((check.limit, check.key));
                let told = u64::try_from(verdict.retry_after_ms).ok();
                wait = wait.zip(told).map(|(wait, told)| wait.max(told));
            }
        }
        if !overall.is_over() {
            self.denied_by.truncate(before);
            return false;
        }
        if let Some(wait) = wait.filter(|_| self.settings.retry && is_first) {
            // As Retry-After: whole seconds, rounded up.
            let wait = i64::try_from(wait.div_ceil(1_000)).unwrap_or(i64::MAX).saturating_mul(1_000_000);
            let time = time.saturating_add(wait);
            let retry = Retry { time, number: self.totals.requests, domain: at, checks: checks.to_vec() };
            self.retries.push(Reverse(retry));
        }
        true
    }

    /// Whether no limit denies, as RL.MULTI finds out before it charges any.
    fn would_all_allow(&mut self, time: i64, checks: &[Check]) -> bool {
        (0..checks.len()).all(|number| {
            let Some(units) = sum_of_key(checks, number) else { return true };
            let limit = &mut self.limits[checks[number].limit];
            limit.limit.shadow
                || limit.ask(checks[number].key, time, units, false).is_none_or(|verdict| verdict.allowed)
        })
    }

    /// Notes that the other set of rules decides otherwise on the last request, which this one denies.
    pub fn mark_changed(&mut self) {
        for (limit, key) in &self.denied_by {
            if let Some((_, stats)) = self.limits[*limit].keys.get_index_mut(*key) {
                stats.changed += 1;
            }
        }
    }

    /// Ends the replay. What was told to come after the last request does not come.
    ///
    /// # Errors
    /// No request has a field that the settings name.
    pub fn end(&mut self) -> Result<(), String> {
        self.totals.retries_later = self.retries.len() as u64;
        let Totals { requests, costs_unread, .. } = self.totals;
        let unread = self.settings.hits.as_ref().filter(|_| requests > 0 && costs_unread == requests);
        if let Some(name) = unread {
            return Err(format!("no request has a number in the field {name}"));
        }
        let mut never = self.never_made().filter(|_| requests > 0 && !self.settings.descriptors.is_empty());
        never.next().map_or(Ok(()), |(_, text)| Err(format!("no request has the fields of the descriptor {text}")))
    }

    /// Sends again what was told to come by this time.
    fn retry_until(&mut self, time: i64) {
        while self.retries.peek().is_some_and(|Reverse(retry)| retry.time <= time) {
            let Some(Reverse(retry)) = self.retries.pop() else { return };
            self.totals.retries += 1;
            self.denied_by.clear();
            self.totals.retries_denied += u64::from(self.decide(retry.domain, retry.time, &retry.checks, false));
        }
    }

    /// The slot of a time.
    fn slot(&mut self, time: i64) -> usize {
        loop {
            if let Some(slot) = self.slots.find(time) {
                return slot;
            }
            self.slots.width *= 2;
            for limit in &mut self.limits {
                limit.allowed_at.fold();
                limit.denied_at.fold();
                limit.keys.values_mut().filter_map(|key| key.denials.as_mut()).for_each(|denials| denials.at.fold());
            }
        }
    }
}

/// How the descriptors of a domain are made.
fn templates(
    name: &str,
    authorize: Option<&Authorize>,
    settings: &Settings,
    logs: &mut Logs,
) -> Result<Vec<Template>, String> {
    if let Some(authorize) = authorize {
        return Ok(Template::of_authorize(authorize, logs));
    }
    if settings.descriptors.is_empty() {
        let advice = "name descriptors with --descriptor, or another --domain";
        return Err(format!("domain {} has no part authorize: {advice}", Printable(name)));
    }
    let mut read =
        |text: &String| Template::of_text(text, logs).map_err(|error| format!("invalid descriptor {text}: {error}"));
    settings.descriptors.iter().map(&mut read).collect()
}

/// What is charged to the key of a check, if it is the first one with that key: the sum of all.
fn sum_of_key(checks: &[Check], number: usize) -> Option<u64> {
    let check = checks.get(number)?;
    let is_same = |other: &&Check| (other.limit, other.key) == (check.limit, check.key);
    let is_first = !checks.iter().take(number).any(|other| is_same(&other));
    is_first.then(|| checks.iter().filter(is_same).fold(0_u64, |sum, other| sum.saturating_add(other.units)))
}
