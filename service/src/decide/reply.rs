//! From decisions to the reply.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use envoy_types::pb::envoy::config::core::v3::HeaderValue;
use envoy_types::pb::envoy::extensions::common::ratelimit::v3::RateLimitDescriptor;
use envoy_types::pb::envoy::service::ratelimit::v3::rate_limit_response::{Code, DescriptorStatus, RateLimit};
use envoy_types::pb::envoy::service::ratelimit::v3::{RateLimitRequest, RateLimitResponse};
use envoy_types::pb::envoy::r#type::v3::RateLimitUnit;
use envoy_types::pb::google::protobuf::value::Kind;
use envoy_types::pb::google::protobuf::{self as proto, ListValue, Struct, Value};
use redis_rl_client::{Decision, Error, RetryAfter, Source, bounded};
use rlaas_rules::{Charge, Metadata};

use super::outcomes::Outcomes;
use super::plan::{Check, Hits, Plan, Slot};

/// What the replies have besides the decision.
#[derive(Clone, Debug, Default)]
pub struct ReplySettings {
    /// Every request is allowed. Only the overall code shows it.
    pub shadow: bool,
    /// Every limit has `quota_mode`.
    pub quota: bool,
    /// The headers of limits, if they are enabled.
    pub headers: Option<HeaderNames>,
    pub dynamic_metadata: bool,
}

/// The names of the headers.
#[derive(Clone, Debug)]
pub struct HeaderNames {
    pub limit: String,
    pub remaining: String,
    pub reset: String,
}

/// Whether a decision says that its limit is over, also if shadow mode allows the request.
pub fn is_over(check: &Check, decision: &Decision) -> bool {
    // What is given back is always accepted.
    !matches!(check.hits, Hits::GiveBack(_)) && (!decision.allowed || decision.shadow)
}

/// Whether the limits of a request deny it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Overall {
    over: bool,
    quotas: usize,
    quotas_over: usize,
}

impl Overall {
    /// Adds a limit: whether it has `quota_mode`, and whether it denies.
    pub fn add(&mut self, quota: bool, over: bool) {
        self.quotas += usize::from(quota);
        self.quotas_over += usize::from(quota && over);
        self.over |= over && !quota;
    }

    /// One limit denies, or all that have `quota_mode` do.
    pub const fn is_over(self) -> bool {
        self.over || (self.quotas > 0 && self.quotas == self.quotas_over)
    }
}

/// The reply.
///
/// # Errors
/// No limit is over, and one could not be decided.
pub fn reply(
    request: &RateLimitRequest,
    plan: &Plan,
    outcomes: &Outcomes,
    settings: &ReplySettings,
) -> Result<RateLimitResponse, Error> {
    let mut statuses = Vec::with_capacity(plan.slots.len());
    let mut overall = Overall::default();
    let mut failure = None;
    for (slot, outcome) in plan.slots.iter().zip(outcomes) {
        let status = status(slot, outcome.as_ref());
        if let Some(Err(error)) = outcome {
            failure.get_or_insert(error);
        }
        if !matches!(slot, Slot::Unlimited(_)) {
            let quota = settings.quota || matches!(slot, Slot::Check(check) if check.rule().quota);
            overall.add(quota, status.code() == Code::OverLimit);
        }
        statuses.push(status);
    }
    let over = overall.is_over();
    // A request that another limit denies is denied whatever the missing decision would have been.
    if let Some(error) = failure.filter(|_| !over) {
        return Err(error.clone());
    }
    let headers = settings.headers.as_ref().and_then(|names| {
        let (slot, status) = shown(plan, &statuses, settings.quota)?;
        Some(headers(names, slot, status))
    });
    let dynamic_metadata = settings.dynamic_metadata.then(|| dynamic_metadata(request, plan, &statuses, over));
    let overall = if over && !settings.shadow { Code::OverLimit } else { Code::Ok };
    Ok(RateLimitResponse {
        overall_code: overall.into(),
        statuses,
        response_headers_to_add: headers.unwrap_or_default(),
        dynamic_metadata,
        ..RateLimitResponse::default()
    })
}

fn status(slot: &Slot, outcome: Option<&Result<Decision, Error>>) -> DescriptorStatus {
    let ok = DescriptorStatus { code: Code::Ok.into(), ..DescriptorStatus::default() };
    match (slot, outcome) {
        (Slot::Unlimited(_), _) => DescriptorStatus { limit_remaining: u32::MAX, ..ok },
        (Slot::None | Slot::Replaced(_), _) | (Slot::Check(_), None) => ok,
        (Slot::Check(_), Some(Err(_))) => DescriptorStatus::default(),
        (Slot::Check(check), Some(Ok(decision))) => decided(check, decision),
    }
}

fn decided(check: &Check, decision: &Decision) -> DescriptorStatus {
    let allowed = decision.allowed || matches!(check.hits, Hits::GiveBack(_));
    // In units of the rule.
    let scale = check.limit.unit_scale();
    let limit = RateLimit {
        name: check.limit.name.to_string(),
        requests_per_unit: small(check.policy.limit() / scale),
        unit: check.unit as i32,
    };
    let over = is_over(check, decision);
    // The figures of a limit that the server did not decide are not known.
    let wait = match (decision.source, decision.retry_after) {
        (_, RetryAfter::After(wait)) if over => Some(wait),
        // What was charged ends with its window, also if a request of so many hits is never allowed.
        (_, RetryAfter::Never) if over && check.charge == Charge::Allowed => None,
        _ => decision.reset_after,
    };
    DescriptorStatus {
        code: if allowed { Code::Ok } else { Code::OverLimit }.into(),
        // Only whether it is allowed is known without the server.
        current_limit: (decision.source != Source::Fallback || !allowed).then_some(limit),
        limit_remaining: if over && decision.shadow { 0 } else { small(decision.remaining / scale) },
        duration_until_reset: wait.map(seconds),
        quota: None,
    }
}

fn small(n: u64) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Whole seconds, rounded up.
pub fn whole_seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

fn seconds(wait: Duration) -> proto::Duration {
    proto::Duration { seconds: i64::try_from(whole_seconds(wait)).unwrap_or(i64::MAX), nanos: 0 }
}

/// The limit that the headers show: the last that denies, quotas aside, else the one with the least remaining.
fn shown<'s>(
    plan: &'s Plan,
    statuses: &'s [DescriptorStatus],
    all_quota: bool,
) -> Option<(&'s Slot, &'s DescriptorStatus)> {
    let denies = |(slot, status): &(&Slot, &DescriptorStatus)| {
        let quota = all_quota || matches!(slot, Slot::Check(check) if check.rule().quota);
        status.code() == Code::OverLimit && !quota
    };
    let last = plan.slots.iter().zip(statuses).rfind(denies);
    let limited = plan.slots.iter().zip(statuses).filter(|(_, status)| status.current_limit.is_some());
    last.or_else(|| limited.min_by_key(|(_, status)| status.limit_remaining))
}

fn headers(names: &HeaderNames, slot: &Slot, status: &DescriptorStatus) -> Vec<HeaderValue> {
    let header = |key: &str, value: String| HeaderValue { key: key.to_owned(), value, ..HeaderValue::default() };
    let limit = status.current_limit.as_ref().map_or(0, |limit| limit.requests_per_unit);
    let mut all =
        vec![header(&names.limit, limit.to_string()), header(&names.remaining, status.limit_remaining.to_string())];
    // A request that can never be allowed has no time to wait for.
    if let Some(wait) = &status.duration_until_reset {
        all.push(header(&names.reset, wait.seconds.to_string()));
    }
    if let Slot::Check(check) = slot {
        let wait = status.duration_until_reset.as_ref().map(|wait| format!(";t={}", wait.seconds));
        let (name, remaining) = (check.policy.label(), status.limit_remaining);
        all.push(header("RateLimit", format!("\"{name}\";r={remaining}{}", wait.unwrap_or_default())));
    }
    all
}

fn dynamic_metadata(request: &RateLimitRequest, plan: &Plan, statuses: &[DescriptorStatus], over: bool) -> Struct {
    let mut fields = HashMap::new();
    fields.insert("domain".to_owned(), text(bounded(&request.domain).into_owned()));
    let descriptors = request.descriptors.iter().map(descriptor).collect();
    fields.insert("descriptors".to_owned(), list(descriptors));
    if request.hits_addend != 0 {
        fields.insert("hitsAddend".to_owned(), value(Kind::NumberValue(f64::from(request.hits_addend))));
    }
    let charged = if over && plan.all_or_nothing { Vec::new() } else { charged_pools(plan, statuses) };
    for (field, names) in [("deniedBy", denied(plan, statuses)), ("chargedPools", charged)] {
        if !names.is_empty() {
            fields.insert(field.to_owned(), list(names.into_iter().map(|name| text(name.to_owned())).collect()));
        }
    }
    let mut merged = BTreeMap::new();
    for (slot, status) in plan.slots.iter().zip(statuses) {
        if let (Slot::Check(check), Code::Ok) = (slot, status.code())
            && let Some(metadata) = &check.rule().metadata
        {
            merge(&mut merged, metadata);
        }
    }
    if !merged.is_empty() {
        fields.insert("metadata".to_owned(), of_metadata(&Metadata::Map(merged)));
    }
    Struct { fields: fields.into_iter().collect() }
}

/// The names of the rules that deny.
fn denied<'p>(plan: &'p Plan, statuses: &[DescriptorStatus]) -> Vec<&'p str> {
    let over = plan.slots.iter().zip(statuses).filter(|(_, status)| status.code() == Code::OverLimit);
    let name = |(slot, _): (&'p Slot, _)| if let Slot::Check(check) = slot { Some(check.policy.label()) } else { None };
    over.filter_map(name).collect()
}

/// The names of the pools that allow what the limits of rules deny.
fn charged_pools<'p>(plan: &'p Plan, statuses: &[DescriptorStatus]) -> Vec<&'p str> {
    let allowed = plan.slots.iter().zip(statuses).filter(|(_, status)| status.code() == Code::Ok);
    let name = |(slot, _): (&'p Slot, _)| match slot {
        Slot::Check(check) if check.instead_of.is_some() => Some(check.policy.label()),
        _ => None,
    };
    allowed.filter_map(name).collect()
}

fn descriptor(descriptor: &RateLimitDescriptor) -> Value {
    let mut fields = HashMap::new();
    let entries = descriptor
        .entries
        .iter()
        .map(|entry| text(format!("{}={}", bounded(&entry.key), bounded(&entry.value))))
        .collect();
    fields.insert("entries".to_owned(), list(entries));
    if let Some(limit) = &descriptor.limit {
        let unit = RateLimitUnit::try_from(limit.unit).map_or("UNKNOWN", |unit| unit.as_str_name());
        let shown = format!("requests_per_unit:{} unit:{unit}", limit.requests_per_unit);
        fields.insert("limit".to_owned(), text(shown));
    }
    if let Some(hits) = &descriptor.hits_addend {
        #[expect(clippy::cast_precision_loss, reason = "a google.protobuf.Value has no integers")]
        fields.insert("hitsAddend".to_owned(), value(Kind::NumberValue(hits.value as f64)));
    }
    value(Kind::StructValue(Struct { fields: fields.into_iter().collect() }))
}

/// Adds fields. Of two values, the first wins; two maps are merged.
fn merge(into: &mut BTreeMap<String, Metadata>, from: &BTreeMap<String, Metadata>) {
    for (name, new) in from {
        match (into.get_mut(name), new) {
            (None, _) => _ = into.insert(name.clone(), new.clone()),
            (Some(Metadata::Map(known)), Metadata::Map(new)) => merge(known, new),
            (Some(_), _) => {}
        }
    }
}

fn of_metadata(metadata: &Metadata) -> Value {
    value(match metadata {
        Metadata::Null => Kind::NullValue(0),
        Metadata::Bool(flag) => Kind::BoolValue(*flag),
        Metadata::Number(number) => Kind::NumberValue(*number),
        Metadata::Text(text) => Kind::StringValue(text.clone()),
        Metadata::List(items) => Kind::ListValue(ListValue { values: items.iter().map(of_metadata).collect() }),
        Metadata::Map(fields) => Kind::StructValue(Struct {
            fields: fields.iter().map(|(name, field)| (name.clone(), of_metadata(field))).collect(),
        }),
    })
}

const fn value(kind: Kind) -> Value {
    Value { kind: Some(kind) }
}

const fn text(text: String) -> Value {
    value(Kind::StringValue(text))
}

const fn list(values: Vec<Value>) -> Value {
    value(Kind::ListValue(ListValue { values }))
}
