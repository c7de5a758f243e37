//! From a request to the limits that it is checked against.

use std::sync::Arc;
use std::time::Duration;

use envoy_types::pb::envoy::extensions::common::ratelimit::v3::RateLimitDescriptor;
use envoy_types::pb::envoy::extensions::common::ratelimit::v3::rate_limit_descriptor::RateLimitOverride;
use envoy_types::pb::envoy::service::ratelimit::v3::RateLimitRequest;
use redis_rl_client::{Algorithm, Policy, Request, Window, bounded};
use rlaas_rules::{self as rules, Charge, Domain, Entry, Found, Limit, Rate, Unit};

/// How many descriptors a request may have.
const MAX_DESCRIPTORS: usize = 1_000;
/// How many limits RL.MULTI takes.
const MAX_LIMITS: usize = 64;

/// The most hits that one request counts. This is more than any limit, and the 63 bits of the server's counters hold it. A
/// limit with `unit_scale` may be 2⁵⁰.
const MOST_HITS: u64 = 1 << 40;
const MOST_SCALED_HITS: u64 = 1 << 51;

/// What is done for a descriptor.
#[derive(Debug)]
pub enum Slot {
    /// No rule fits.
    None,
    /// Another descriptor of the request replaces the limit.
    Replaced(Box<Check>),
    Unlimited(Arc<Limit>),
    Check(Box<Check>),
}

/// What a descriptor does to its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hits {
    Charge(u64),
    /// Charges nothing.
    Look,
    GiveBack(u64),
    /// Charges nothing. Denied if not one unit is left.
    OneLeft,
}

impl Hits {
    /// Charges so many units; 0 only looks.
    pub const fn of(hits: u64) -> Self {
        if hits == 0 { Self::Look } else { Self::Charge(hits) }
    }

    /// No more than the counters of the server can hold.
    pub fn bounded(self, rate: &Rate) -> Self {
        let most = if rate.unit_scale == 1 { MOST_HITS } else { MOST_SCALED_HITS };
        match self {
            Self::Charge(hits) => Self::Charge(hits.min(most)),
            Self::GiveBack(hits) => Self::GiveBack(hits.min(most)),
            other => other,
        }
    }

    /// The cost that the server is asked for, and whether it is charged whatever the limit says.
    pub fn cost(self, charge: Charge, algorithm: Algorithm) -> (u64, bool) {
        match self {
            Self::Charge(hits) => (hits, charge == Charge::Always),
            Self::GiveBack(hits) => (hits, false),
            // Denied only if more than the limit is counted: what a request that looked charges later may fill it.
            Self::Look => (0, algorithm.traits().always),
            Self::OneLeft => (0, false),
        }
    }
}

/// What is charged under an id, and comes back unless it is settled.
#[derive(Debug)]
pub struct Reservation {
    pub id: String,
    pub ttl: Duration,
}

/// The largest reservation.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// In millionths of the limit.
    pub fraction: u32,
    /// The longest time of a reservation, and that of one without a time.
    pub ttl: Duration,
}

/// A descriptor under a limit.
#[derive(Debug)]
pub struct Check {
    pub limit: Arc<Limit>,
    pub policy: Policy,
    pub unit: Unit,
    pub charge: Charge,
    pub grants: Option<u32>,
    pub hits: Hits,
    pub key: String,
    pub reservation: Option<Arc<Reservation>>,
    /// The entries as the metrics name them, if values of the request are in the names.
    pub metric: Option<Vec<String>>,
    /// The check of the rule, where this is one of its pools.
    pub instead_of: Option<Box<Self>>,
}

/// A check, and the number of its slot.
pub type Numbered<'p> = (usize, &'p Check);

/// The limits of a request, one slot for each descriptor.
#[derive(Debug)]
pub struct Plan {
    pub slots: Vec<Slot>,
    /// What is asked one after the other if the limit of a slot denies, by the number of the slot.
    pub pools: Vec<(usize, Vec<Check>)>,
    pub all_or_nothing: bool,
}

impl Plan {
    /// The limits of a request. `domain` is `None` if there are no rules for it. In a cluster, what is charged as a whole
    /// must be in one slot.
    ///
    /// # Errors
    /// The request is not valid: why.
    pub fn new(
        request: &RateLimitRequest,
        domain: Option<&Domain>,
        prefix: &str,
        cluster: bool,
    ) -> Result<Self, String> {
        if request.domain.is_empty() {
            return Err("the domain must not be empty".to_owned());
        }
        if request.descriptors.is_empty() {
            return Err("the list of descriptors must not be empty".to_owned());
        }
        if request.descriptors.len() > MAX_DESCRIPTORS {
            return Err(format!("a request may have at most {MAX_DESCRIPTORS} descriptors"));
        }
        let Some(domain) = domain else {
            let slots = request.descriptors.iter().map(|_| Slot::None).collect();
            return Ok(Self { slots, pools: Vec::new(), all_or_nothing: false });
        };
        let (mut slots, mut entries) = (Vec::with_capacity(request.descriptors.len()), Vec::new());
        let mut pools = Vec::new();
        for descriptor in &request.descriptors {
            entries.clear();
            entries.extend(descriptor.entries.iter().map(|entry| (entry.key.as_str(), entry.value.as_str())));
            let slot = slot(request, descriptor, &entries, domain, prefix)?;
            if let Slot::Check(check) = &slot
                && check.limit.otherwise.is_some()
                // What is given back was charged to the limit, as far as is known.
                && !matches!(check.hits, Hits::GiveBack(_))
            {
                pools.push((slots.len(), check.pools(prefix)));
            }
            slots.push(slot);
        }
        let mut plan = Self { slots, pools, all_or_nothing: domain.options.all_or_nothing };
        plan.replace();
        match plan.cannot_be_whole(domain, cluster).filter(|_| plan.all_or_nothing) {
            Some(text) => Err(text),
            None => Ok(plan),
        }
    }

    /// What is to be checked, but for pools.
    pub fn checks(&self) -> impl Iterator<Item = Numbered<'_>> {
        self.slots.iter().enumerate().filter_map(|(number, slot)| match slot {
            Slot::Check(check) => Some((number, &**check)),
            _ => None,
        })
    }

    /// The pools of a slot, in the order in which they are asked.
    pub fn pools(&self, slot: usize) -> &[Check] {
        self.pools.iter().find(|(of, _)| *of == slot).map(|(_, pools)| pools.as_slice()).unwrap_or_default()
    }

    /// Puts a pool, counted from 0, in the place of the limit of its slot.
    pub fn put_pool(&mut self, slot: usize, pool: usize) {
        let Some((_, pools)) = self.pools.iter_mut().find(|(of, _)| *of == slot) else { return };
        if let Some(Slot::Check(check)) = self.slots.get_mut(slot)
            && pool < pools.len()
        {
            let pool = Box::new(pools.swap_remove(pool));
            pools.clear();
            let own = std::mem::replace(check, pool);
            check.instead_of = Some(own);
        }
    }

    /// Why the limits cannot be charged as a whole; `None` if they can.
    pub fn cannot_be_whole(&self, domain: &Domain, cluster: bool) -> Option<String> {
        if self.slots.iter().filter(|slot| matches!(slot, Slot::Check(_))).count() > MAX_LIMITS {
            return Some(format!("a request that is charged as a whole may have at most {MAX_LIMITS} limits"));
        }
        let tag = domain.options.hash_tag.as_deref().unwrap_or_default();
        let text = || format!("the descriptors of a request must have one value of '{tag}', the entry of hash_tag");
        (cluster && !self.has_one_slot()).then(text)
    }

    /// Whether all keys that are charged have the same hash tag.
    fn has_one_slot(&self) -> bool {
        let charged = self.slots.iter().filter_map(|slot| match slot {
            // What is in the first braces is hashed, else the whole key.
            Slot::Check(of) if matches!(of.hits, Hits::Charge(_)) => Some(hash_tag(&of.key).unwrap_or(&of.key)),
            _ => None,
        });
        let mut pairs = charged.clone().zip(charged.skip(1));
        pairs.all(|(one, next)| one == next)
    }

    /// Drops the limits that others replace, by their names.
    fn replace(&mut self) {
        let limits = self.slots.iter().filter_map(Slot::limit);
        let replaced: Vec<_> = limits.flat_map(|limit| limit.replaces.iter().cloned()).collect();
        if replaced.is_empty() {
            return;
        }
        for slot in &mut self.slots {
            *slot = match std::mem::replace(slot, Slot::None) {
                Slot::Check(check) if check.limit.is_among(&replaced) => Slot::Replaced(check),
                other => other,
            };
        }
        self.pools.retain(|(slot, _)| matches!(self.slots.get(*slot), Some(Slot::Check(_))));
    }
}

impl Slot {
    /// The limit of the rule that fits, or of the descriptor itself.
    pub fn limit(&self) -> Option<&Limit> {
        match self {
            Self::None => None,
            Self::Unlimited(limit) => Some(limit),
            Self::Check(check) | Self::Replaced(check) => Some(&check.limit),
        }
    }
}

fn slot(
    request: &RateLimitRequest,
    descriptor: &RateLimitDescriptor,
    entries: &[Entry<'_>],
    domain: &Domain,
    prefix: &str,
) -> Result<Slot, String> {
    let any_hits = hits(request, descriptor)?;
    let own: Arc<Limit>;
    let (found, is_of_rule) = match (&descriptor.limit, domain.find(entries)) {
        (None, None) => return Ok(Slot::None),
        (None, Some(found)) => (found, true),
        (Some(given), found) => {
            // An unlimited rule has no limit that could be changed.
            let found = found.filter(|found| found.limit.rate.is_some());
            let rule = found.as_ref().map(|found| &**found.limit);
            let window = |limit: &Limit| limit.rate.map(|rate| rate.policy.window());
            own = Arc::new(given_limit(&request.domain, entries, given, rule, domain)?);
            let (is_of_rule, is_own) = (rule.is_some(), rule.and_then(window) != window(&own));
            (Found { limit: &own, shared: found.map(|found| found.shared).unwrap_or_default(), is_own }, is_of_rule)
        }
    };
    let Some(rate) = found.limit.rate else { return Ok(Slot::Unlimited(found.limit.clone())) };
    let limit = Arc::clone(found.limit);
    let key = rules::key(prefix, domain, entries, &found);
    let dynamic = limit.detailed_metric || limit.values_in_metric;
    let metric = match is_of_rule {
        true => dynamic.then(|| domain.metric(entries)).flatten(),
        false => Some(parts(entries)),
    };
    let hits = any_hits.bounded(&rate);
    // Of limits that share, the widest says what happens to a request that none allows.
    let policy = if limit.shadow && !limit.shares { rate.policy.shadow() } else { rate.policy };
    let Rate { unit, charge, grants, .. } = rate;
    Ok(Slot::Check(Box::new(Check {
        limit,
        policy,
        unit,
        charge,
        grants,
        hits,
        key,
        reservation: None,
        metric,
        instead_of: None,
    })))
}

/// What is in the first braces, if anything is.
fn hash_tag(key: &str) -> Option<&str> {
    let tag = key.split_once('{').and_then(|(_, rest)| rest.split_once('}')).map(|(tag, _)| tag);
    tag.filter(|tag| !tag.is_empty())
}

/// What a descriptor does: its own hits win over those of the request, where 0 means 1.
fn hits(request: &RateLimitRequest, descriptor: &RateLimitDescriptor) -> Result<Hits, String> {
    let hits = match &descriptor.hits_addend {
        Some(own) => own.value,
        None => u64::from(request.hits_addend.max(1)),
    };
    if i64::try_from(hits).is_err() {
        return Err("hits_addend must be at most 9223372036854775807".to_owned());
    }
    Ok(if descriptor.is_negative_hits && hits > 0 { Hits::GiveBack(hits) } else { Hits::of(hits) })
}

/// The limit that a descriptor brings along: that of the rule with another number and window, if a rule fits.
fn given_limit(
    name: &str,
    entries: &[Entry<'_>],
    given: &RateLimitOverride,
    rule: Option<&Limit>,
    domain: &Domain,
) -> Result<Limit, String> {
    let unit = Unit::of_number(given.unit).ok_or("the limit of a descriptor has an unknown unit")?;
    if let Some((rule, of_rule)) = rule.and_then(|rule| Some((rule, rule.rate?))) {
        let rate = of_rule.overridden(given.requests_per_unit, unit)?;
        let stays = rate.policy.window() == of_rule.policy.window();
        let key_start = if stays { rule.key_start.clone() } else { rules::key_start(name, &rate) };
        return Ok(Limit { rate: Some(rate), key_start, ..rule.clone() });
    }
    // Special: as envoyproxy/ratelimit.
    let policy = Policy::new(Algorithm::Fixed, Window::Length(unit.length()), u64::from(given.requests_per_unit))
        .map_err(|error| error.to_string())?;
    let charge = if domain.options.all_or_nothing { Charge::Allowed } else { Charge::Always };
    let rate = Rate { policy, unit, charge, grants: None, unit_scale: 1 };
    Ok(Limit {
        path: format!("{name}.{}", parts(entries).join(".")).into(),
        key_start: rules::key_start(name, &rate),
        rate: Some(rate),
        // The name of such a limit has values of the request.
        detailed_metric: true,
        values_in_metric: true,
        ..Limit::default()
    })
}

/// Entries as the metrics name them.
fn parts(entries: &[Entry<'_>]) -> Vec<String> {
    let part = |(key, value): &Entry<'_>| {
        let key = bounded(key);
        if value.is_empty() { key.into_owned() } else { format!("{key}_{}", bounded(value)) }
    };
    entries.iter().map(part).collect()
}

impl Check {
    /// The same hits of the pools that follow the limit, in their order.
    fn pools(&self, prefix: &str) -> Vec<Self> {
        // What one command charges is in one slot, that of the hash tag: such a pool has a counter for each of its values.
        let own = self.key.strip_prefix(prefix).filter(|_| self.limit.shares).and_then(hash_tag);
        let tag = own.map(|tag| format!(":{{{tag}}}")).unwrap_or_default();
        let of_pool = |pool: &Arc<Limit>| {
            let rate = pool.rate?;
            let Rate { policy, unit, charge, grants, .. } = rate;
            let (hits, key) = (self.hits.bounded(&rate), format!("{prefix}{}{tag}", pool.key_start));
            let (reservation, metric, instead_of) = (None, None, None);
            Some(Self { limit: pool.clone(), policy, unit, charge, grants, hits, key, reservation, metric, instead_of })
        };
        let mut pools: Vec<_> = self.limit.pools().filter_map(of_pool).collect();
        if let Some(widest) = pools.last_mut().filter(|_| self.limit.shares && self.limit.shadow) {
            widest.policy = widest.policy.shadow();
        }
        pools
    }

    /// The limit of the rule, also where one of its pools is charged.
    pub fn rule(&self) -> &Limit {
        self.instead_of.as_ref().map_or(&self.limit, |own| &own.limit)
    }

    /// Whether it is asked together with others. Units that are given back, and grants, have calls of their own.
    pub const fn is_sent_together(&self) -> bool {
        !matches!((self.hits, self.grants), (Hits::GiveBack(_), _) | (Hits::Charge(_), Some(_)))
    }

    /// Whether its denial counts nothing although the command alone would count it.
    pub fn is_tried(&self) -> bool {
        let counts = self.policy.algorithm().traits().counts_denials;
        counts && self.charge == Charge::Allowed && matches!(self.hits, Hits::Charge(_))
    }

    /// The request that asks for it.
    pub fn request(&self) -> Request<'_> {
        let mut request = self.policy.request(&self.key).with_key_as_it_is();
        if let Some(Reservation { id, ttl }) = self.reservation.as_deref() {
            let is_lease = self.policy.algorithm().traits().id;
            request = if is_lease { request.id(id) } else { request.reserve(id, *ttl) };
        }
        let (cost, always) = self.hits.cost(self.charge, self.policy.algorithm());
        if always { request.cost(cost).always() } else { request.cost(cost) }
    }

    /// The request that asks for it as one of limits that share.
    pub fn request_of_share(&self) -> Request<'_> {
        let cost = if let Hits::Charge(hits) = self.hits { hits } else { 0 };
        self.policy.request(&self.key).with_key_as_it_is().cost(cost)
    }

    /// The command that is sent for it, or its part of RL.MULTI with `all_or_nothing`. It is not sent if the decision is
    /// known without it.
    pub fn command(&self, all_or_nothing: bool) -> String {
        let always = |always| if always { " ALWAYS" } else { "" };
        let is_tried = self.is_tried() && !all_or_nothing;
        let (hits, options) = match (self.hits, self.grants) {
            (Hits::Charge(hits), Some(units)) if hits <= u64::from(units) => (u64::from(units), " PARTIAL"),
            (Hits::Charge(1), _) if is_tried => (1, " PARTIAL"),
            (Hits::Charge(hits), _) => (hits, always(self.charge == Charge::Always)),
            (Hits::OneLeft, _) => (0, ""),
            (Hits::Look, _) => (0, always(self.policy.algorithm().traits().always)),
            (Hits::GiveBack(hits), _) => {
                return rules::command(&self.policy, &self.key, hits, "").replacen("RL.", "RL.REFUND ", 1);
            }
        };
        let reservation = match self.reservation.as_deref() {
            Some(Reservation { id, .. }) if self.policy.algorithm().traits().id => format!(" ID {id}"),
            Some(Reservation { id, ttl }) => format!(" RESERVE {id} {}ms", ttl.as_millis()),
            None => String::new(),
        };
        let command = rules::command(&self.policy, &self.key, hits, &(reservation + options));
        if is_tried && options.is_empty() { command.replacen("RL.", "RL.MULTI 1 ", 1) } else { command }
    }
}

#[cfg(test)]
mod tests {
    use std::iter::repeat_n;

    use envoy_types::pb::google::protobuf::UInt64Value;

    use super::*;
    use crate::decide::read_descriptor;
    use rlaas_rules::{Settings, Source};

    fn descriptor(text: &str) -> RateLimitDescriptor {
        read_descriptor(text).expect("a descriptor")
    }

    /// The plan of a request under these rules.
    fn plan(text: &str, cluster: bool, descriptors: Vec<RateLimitDescriptor>) -> Result<Plan, String> {
        let source = Source { name: "d".to_owned(), text: text.to_owned() };
        let (rules, findings) = rules::load(&[source], &Settings { cluster, ..Settings::default() });
        let rules = rules.unwrap_or_else(|| panic!("{:?}", findings.errors));
        let request = RateLimitRequest { domain: "d".to_owned(), descriptors, hits_addend: 0 };
        Plan::new(&request, rules.domains.get("d"), "", cluster)
    }

    #[test]
    fn what_is_charged_as_a_whole_is_in_one_slot() {
        let text = "domain: d
all_or_nothing: true
hash_tag: tenant
descriptors:
  - {key: tenant, rate_limit: {unit: day, requests_per_unit: 5}}
  - {key: path, descriptors: [{key: tenant, rate_limit: {unit: day, requests_per_unit: 5}}]}
";
        let plan = |descriptors, cluster| plan(text, cluster, descriptors).map(|plan| plan.slots.len());
        let (a, b) = (descriptor("tenant=a"), descriptor("tenant=b"));
        assert_eq!(plan(vec![a.clone(), descriptor("path=/,tenant=a")], true), Ok(2));
        assert_eq!(plan(vec![a.clone(), b.clone()], false), Ok(2));
        let error = plan(vec![a.clone(), b.clone()], true).expect_err("two slots");
        assert!(error.contains("'tenant'"), "{error}");
        let own = |mut descriptor: RateLimitDescriptor| {
            descriptor.limit = Some(RateLimitOverride { requests_per_unit: 5, unit: 4 });
            descriptor
        };
        assert!(plan(vec![a.clone(), own(descriptor("path=/"))], true).is_err());
        assert_eq!(plan(vec![own(descriptor("path=/"))], true), Ok(1));
        // What is not part of RL.MULTI may be elsewhere.
        let look = RateLimitDescriptor { hits_addend: Some(UInt64Value { value: 0 }), ..b.clone() };
        assert_eq!(plan(vec![a.clone(), look], true), Ok(2));
        assert_eq!(plan(vec![a, RateLimitDescriptor { is_negative_hits: true, ..b }], true), Ok(2));
    }

    #[test]
    fn pools_are_those_of_what_is_charged_and_an_unlimited_rule_is_no_limit_to_change() {
        let text = "domain: d
pools: [{name: spare, rate_limit: {unit: day, limit: 1}}]
descriptors:
  - {key: own, rate_limit: {unit: day, limit: 5, name: own, else: spare}}
  - {key: instead, rate_limit: {unit: day, limit: 5, replaces: [{name: own}]}}
  - {key: free, rate_limit: {unlimited: true}}
";
        let plan = |descriptors| plan(text, false, descriptors);
        let pools = |descriptors| plan(descriptors).expect("a plan").pools.len();
        let own = descriptor("own=a");
        assert_eq!(pools(vec![own.clone()]), 1);
        assert_eq!(pools(vec![own.clone(), descriptor("instead=a")]), 0);
        assert_eq!(pools(vec![RateLimitDescriptor { is_negative_hits: true, ..own }]), 0);
        let limit = Some(RateLimitOverride { requests_per_unit: 5, unit: 4 });
        let free = plan(vec![RateLimitDescriptor { limit, ..descriptor("free=a") }]).expect("a plan");
        let [Slot::Check(check)] = free.slots.as_slice() else { panic!("{free:?}") };
        assert_eq!(check.metric, Some(vec!["free_a".to_owned()]));
        let many = [1_000, 1_001].map(|count| plan(repeat_n(descriptor("free=a"), count).collect()).is_ok());
        assert_eq!(many, [true, false]);
    }
}
