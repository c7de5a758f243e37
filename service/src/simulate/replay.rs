//! Replays requests through a set of rules: with the plans of the service, and the keys in memory.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};

use clap::Args;
use envoy_types::pb::envoy::service::ratelimit::v3::RateLimitRequest;
use rlaas_rules::{Authorize, Level, MAX_POOLS, Printable, Rules};

use super::descriptors::{Found, Template};
use super::keys::Verdict;
use super::limits::LimitReplay;
use super::logs::{Field, Logs, Request, usual};
use super::times::Slots;
use crate::decide::{Overall, Plan, Slot, sum_by_key};

/// How often is asked: a limit, and its pools.
const ROUNDS: usize = 1 + MAX_POOLS;
/// How many descriptors an error suggests.
const SUGGESTED: usize = 5;

/// How requests are replayed.
#[derive(Clone, Debug, Args)]
pub struct Settings {
    /// The only domain [default: all of the rules]
    #[arg(long, value_name = "NAME")]
    pub domain: Option<String>,
    /// A descriptor of each request, as user={user},path={path}: in braces is a field of the log. May be given several
    /// times [default: those of the part authorize of the domain]
    #[arg(long = "descriptor", value_name = "KEY=VALUE[,KEY=VALUE…]")]
    pub descriptors: Vec<String>,
    /// The field with the cost of a request [default: each costs 1]
    #[arg(long, value_name = "FIELD")]
    pub hits: Option<String>,
    /// A denied request comes again once, when it was told. Without it, it does not.
    #[arg(long)]
    pub retry: bool,
    /// Say for each rule the smallest limit under which this share of the keys is never denied.
    #[arg(long, value_name = "PERCENT", value_parser = share)]
    pub suggest: Option<f64>,
    /// How many keys a rule may have. The requests of further keys are left out.
    #[arg(long, value_name = "KEYS", default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub max_keys: u32,
}

/// 99.9% is 0.999.
fn share(text: &str) -> Result<f64, &'static str> {
    let percent: f64 = text.trim_end_matches('%').trim_end().parse().map_err(|_| "expected a percentage, as 99.9%")?;
    if percent > 0.0 && percent <= 100.0 { Ok(percent / 100.0) } else { Err("expected more than 0 and at most 100") }
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
    pub settings: Settings,
    retries: BinaryHeap<Reverse<Retry>>,
    /// What denied the last request.
    denied_by: Vec<Key>,
}

/// A domain of the rules.
#[derive(Debug)]
struct Replayed {
    name: Box<str>,
    templates: Vec<Template>,
    all_or_nothing: bool,
    /// Whether a request without descriptors is allowed.
    allow_if_none: bool,
}

/// A key by its number, under a limit by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    limit: usize,
    number: usize,
}

/// A request that comes again.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Retry {
    time: i64,
    request: u64,
    domain: usize,
    checks: Vec<(Key, u64)>,
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
            let mut own: Vec<_> = domain.limits().into_iter().cloned().collect();
            own.sort_by(|a, b| a.path.cmp(&b.path));
            let first = limits.len();
            for limit in own {
                limits.push(LimitReplay::new(limit, settings.suggest.is_some())?);
            }
            find_pools(&mut limits, first);
            let authorize = domain.options.authorize.as_ref().filter(|_| settings.descriptors.is_empty());
            domains.push(Replayed {
                name: name.clone(),
                templates: templates(name, &domain.root, authorize.map(|authorize| &**authorize), settings, logs)?,
                all_or_nothing: domain.options.all_or_nothing,
                allow_if_none: authorize.is_none_or(|authorize| authorize.allow_if_none),
            });
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
        })
    }

    /// The descriptors that no request had what they need for, each with its domain.
    pub fn never_made(&self) -> impl Iterator<Item = (&str, &str)> {
        self.domains.iter().flat_map(|domain| {
            let never = domain.templates.iter().filter(|template| template.made == 0);
            never.map(|template| (&*domain.name, &*template.name))
        })
    }

    /// Decides on the next request. Returns whether it is allowed.
    ///
    /// # Errors
    /// The service would not take the request: why.
    pub fn request(&mut self, request: &Request) -> Result<bool, String> {
        let time = request.time;
        self.retry_until(time);
        let mut units = 1;
        if let Some(field) = self.hits {
            match request.get(field).and_then(|text| text.parse().ok()) {
                Some(read) => units = read,
                None => self.totals.costs_unread += 1,
            }
        }
        let is_429 = request.get(self.status) == Some("429");
        self.totals.requests += 1;
        self.totals.first.get_or_insert(time);
        self.totals.last = time;
        self.denied_by.clear();
        let (mut over, mut matched) = (false, false);
        for at in 0..self.domains.len() {
            let mut checks = Vec::new();
            let (made, fits) = self.find(at, request, units, &mut checks)?;
            matched |= fits;
            if !made && !self.domains[at].allow_if_none {
                self.totals.without_descriptor += 1;
                over = true;
            }
            for (key, _) in &checks {
                self.limits[key.limit].logged_429 += u64::from(is_429);
            }
            over |= self.decide(at, time, checks, true);
        }
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
        checks: &mut Vec<(Key, u64)>,
    ) -> Result<(bool, bool), String> {
        let (mut made, mut fits) = (false, false);
        let mut replaced = Vec::new();
        for template in 0..self.domains[at].templates.len() {
            let known = &mut self.domains[at].templates[template];
            if !known.read(request) {
                continue;
            }
            let found = match known.recall() {
                Some(found) => found,
                None => self.find_anew(at, template)?,
            };
            made = true;
            let Some((number, key)) = found else { continue };
            fits = true;
            let limit = &mut self.limits[number];
            match key {
                Some(key) => checks.push((Key { limit: number, number: key }, units)),
                None if limit.rate().is_some() => limit.left_out += 1,
                None => limit.requests += 1,
            }
            replaced.extend(limit.limit.replaces.iter().cloned());
        }
        if !replaced.is_empty() {
            checks.retain(|(key, _)| {
                let limit = &mut self.limits[key.limit];
                let is_replaced = limit.limit.is_among(&replaced);
                limit.replaced += u64::from(is_replaced);
                !is_replaced
            });
        }
        if self.domains[at].all_or_nothing {
            *checks = sum_by_key(checks.drain(..)).0;
        }
        Ok((made, fits))
    }

    /// Finds the limit and the key of a descriptor as the service does, and remembers them.
    fn find_anew(&mut self, at: usize, template: usize) -> Result<Found, String> {
        let Replayed { name, templates, .. } = &mut self.domains[at];
        let template = &mut templates[template];
        let (domain, descriptors) = (name.to_string(), vec![template.descriptor()]);
        let request = RateLimitRequest { domain, descriptors, hits_addend: 0 };
        let plan = Plan::new(&request, self.rules.domains.get(name), "", false)?;
        let slot = plan.slots.into_iter().next().unwrap_or(Slot::None);
        let number =
            slot.limit().and_then(|limit| self.limits.iter().position(|known| std::ptr::eq(&*known.limit, limit)));
        let found = number.map(|number| {
            let limit = &mut self.limits[number];
            let key = match &slot {
                Slot::Check(check) if limit.rate().is_some() => limit.key(&check.key, self.settings.max_keys as usize),
                _ => None,
            };
            (number, key)
        });
        template.remember(found);
        Ok(found)
    }

    /// Charges the keys of a request as the service does. Returns whether it is denied.
    fn decide(&mut self, at: usize, time: i64, checks: Vec<(Key, u64)>, is_first: bool) -> bool {
        let decided = self.ask(time, &checks, self.domains[at].all_or_nothing);
        let slot = self.slot(time);
        let mut overall = Overall::default();
        let mut wait = Some(0_u64);
        let before = self.denied_by.len();
        for ((own, units), (key, verdict)) in checks.iter().zip(&decided) {
            self.limits[key.limit].count(key.number, time, slot, verdict);
            let rule = &mut self.limits[own.limit];
            if let Some(probe) = rule.probe.as_mut().filter(|_| is_first) {
                probe.add(own.number, time, *units);
            }
            let denies = !verdict.allowed && !rule.limit.shadow;
            overall.add(rule.limit.quota, denies);
            if denies {
                self.denied_by.push(*key);
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
            let (time, request) = (time.saturating_add(wait), self.totals.requests);
            self.retries.push(Reverse(Retry { time, request, domain: at, checks }));
        }
        true
    }

    /// Asks the limits of a request, and the pools of those that deny. Returns for each the one that decides.
    fn ask(&mut self, time: i64, checks: &[(Key, u64)], all_or_nothing: bool) -> Vec<(Key, Verdict)> {
        let mut asked: Vec<_> = checks.iter().map(|(key, units)| (*key, *units, 0)).collect();
        let mut decided: Vec<Option<(Key, Verdict)>> = vec![None; checks.len()];
        let mut open: Vec<usize> = (0..checks.len()).collect();
        for round in 1..=ROUNDS {
            // As RL.MULTI, which charges all or none.
            let sums = sum_by_key(asked.iter().map(|(key, units, _)| (*key, *units)));
            let mut verdicts = Vec::with_capacity(open.len());
            for &i in &open {
                let ((key, units), limit) = if all_or_nothing {
                    let sum = sums.0[sums.1[i]];
                    (sum, &mut self.limits[sum.0.limit])
                } else {
                    ((asked[i].0, asked[i].1), &mut self.limits[asked[i].0.limit])
                };
                verdicts.push(match all_or_nothing {
                    true => limit.ask(key.number, time, units, false),
                    false => limit.charge(key.number, time, units),
                });
            }
            let (mut moved, mut ends) = (Vec::new(), false);
            for (&i, verdict) in open.iter().zip(verdicts) {
                let (key, _, pool) = &mut asked[i];
                let next = self.limits[checks[i].0.limit].pools.get(*pool).copied();
                let passes_on = !verdict.allowed && !self.limits[key.limit].limit.shadow;
                let is_sooner = |(before, known): &(Key, Verdict)| {
                    *before != *key && !known.allowed && !verdict.allowed && known.wait() <= verdict.wait()
                };
                if !decided[i].as_ref().is_some_and(is_sooner) {
                    decided[i] = Some((*key, verdict));
                }
                let next = next.filter(|_| round < ROUNDS);
                ends |= passes_on && next.is_none();
                if let Some(next) = next.filter(|_| passes_on) {
                    (*key, *pool) = (Key { limit: next, number: 0 }, *pool + 1);
                    moved.push(i);
                }
            }
            if all_or_nothing && !ends && moved.is_empty() {
                for (key, units) in sums.0 {
                    self.limits[key.limit].ask(key.number, time, units, true);
                }
            }
            if moved.is_empty() || all_or_nothing && ends {
                break;
            }
            if !all_or_nothing {
                open = moved;
            }
        }
        decided.into_iter().flatten().collect()
    }

    /// Notes that the other set of rules decides otherwise on the last request, which this one denies.
    pub fn mark_changed(&mut self) {
        for key in &self.denied_by {
            if let Some((_, stats)) = self.limits[key.limit].keys.get_index_mut(key.number) {
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
            self.totals.retries_denied += u64::from(self.decide(retry.domain, retry.time, retry.checks, false));
        }
    }

    /// The slot of a time.
    fn slot(&mut self, time: i64) -> usize {
        loop {
            if let Some(slot) = self.slots.find(time) {
                return slot;
            }
            self.slots.widen();
            for limit in &mut self.limits {
                limit.allowed_at.fold();
                limit.denied_at.fold();
                limit.keys.values_mut().filter_map(|key| key.denials.as_mut()).for_each(|denials| denials.at.fold());
            }
        }
    }
}

/// Finds the pools of limits among those from `first` on. A pool has one key.
fn find_pools(limits: &mut [LimitReplay], first: usize) {
    let mut pools = HashMap::new();
    for (number, limit) in limits.iter_mut().enumerate().skip(first).filter(|(_, limit)| limit.limit.is_pool) {
        let name = limit.limit.name.clone();
        limit.key(&name, 1);
        pools.insert(name, number);
    }
    for limit in limits.iter_mut().skip(first) {
        limit.pools = limit.limit.pools().filter_map(|pool| pools.get(&pool.name).copied()).collect();
    }
}

/// Descriptors that rules of a level fit, at most five.
fn fitting(level: &Level, fields: &[String]) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for (name, rule) in &level.rules {
        // The key, and the value after a `_` if there is one: what the log has tells which part is the key.
        let ends = [name.len()].into_iter().chain(name.rmatch_indices('_').map(|(end, _)| end));
        let known = ends.map(|end| &name[..end]).find(|key| fields.contains(&usual(key)));
        let key = known.unwrap_or(name);
        let entry = format!("{key}={{{}}}", known.map_or_else(|| key.to_owned(), usual));
        all.extend(rule.limit.is_some().then(|| entry.clone()));
        let below = rule.below.iter().flat_map(|below| fitting(below, fields));
        all.extend(below.map(|below| format!("{entry},{below}")));
    }
    all.into_iter().take(SUGGESTED).collect()
}

/// How the descriptors of a domain are made.
fn templates(
    name: &str,
    root: &Level,
    authorize: Option<&Authorize>,
    settings: &Settings,
    logs: &mut Logs,
) -> Result<Vec<Template>, String> {
    if let Some(authorize) = authorize {
        return Ok(Template::of_authorize(authorize, logs));
    }
    if settings.descriptors.is_empty() {
        let fields = logs.fields();
        let fitting: Vec<_> = fitting(root, &fields).iter().map(|text| format!("--descriptor '{text}'")).collect();
        let known = if fields.is_empty() { String::new() } else { format!(", which has {}", fields.join(", ")) };
        return Err(format!(
            "domain {} has no part authorize, which makes descriptors of requests. Add {}; in braces is a field of the \
             log{known}. Or name another --domain",
            Printable(name),
            fitting.join(" ")
        ));
    }
    let mut read =
        |text: &String| Template::of_text(text, logs).map_err(|error| format!("invalid descriptor {text}: {error}"));
    settings.descriptors.iter().map(&mut read).collect()
}
