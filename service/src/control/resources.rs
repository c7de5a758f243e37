//! Rules that a control plane sends, as maps like those of a file: what checks the ones checks the others.

use std::borrow::Cow;

use envoy_types::pb::google::protobuf::value::Kind;
use envoy_types::pb::google::protobuf::{Struct, Value as ProtoValue};
use envoy_types::pb::ratelimit::config::ratelimit::v3::{
    RateLimitConfig, RateLimitDescriptor, RateLimitPolicy, RateLimitUnit,
};

use crate::rules::{Findings, Mark, Node, Pair, Problem, Rules, Scalar, Settings, Value, file, load_files};

/// Reads resources. There are rules only if no resource has an error.
///
/// The places of findings have the names of the resources; the texts begin with the path of the rule.
pub fn load_resources(resources: &[RateLimitConfig], settings: &Settings) -> (Option<Rules>, Findings) {
    let mut findings = Findings::default();
    let read = |resource| file(name(resource).into(), Counter(0).config(resource), &mut findings);
    let files: Vec<_> = resources.iter().filter_map(read).collect();
    let (rules, mut findings) = load_files(&files, findings, settings);
    for problem in findings.errors.iter_mut().chain(&mut findings.warnings) {
        let resource = resources.iter().find(|resource| *name(resource) == *problem.place.file);
        if let Some(path) = resource.and_then(|resource| path(resource, problem)) {
            problem.text = format!("{path}: {}", problem.text);
        }
    }
    (rules, findings)
}

/// How findings and logs name a resource.
fn name(resource: &RateLimitConfig) -> String {
    let RateLimitConfig { name, domain, .. } = resource;
    format!("resource {}", if name.is_empty() { domain } else { name })
}

/// The path of the descriptor that a problem is about.
fn path(resource: &RateLimitConfig, problem: &Problem) -> Option<String> {
    let mut path = resource.domain.clone();
    let mut left = problem.place.at.line.checked_sub(1)?;
    descend(&resource.descriptors, &mut left, &mut path).then_some(path)
}

/// Whether the descriptor is among these or below them: the path is its path then, else it is as before.
fn descend(descriptors: &[RateLimitDescriptor], left: &mut u32, path: &mut String) -> bool {
    descriptors.iter().any(|RateLimitDescriptor { key, value, descriptors, .. }| {
        let length = path.len();
        let separator = if value.is_empty() { "" } else { "_" };
        path.extend([".", key, separator, value]);
        let found = left.checked_sub(1).is_none_or(|fewer| {
            *left = fewer;
            descend(descriptors, left, path)
        });
        if !found {
            path.truncate(length);
        }
        found
    })
}

/// Counts the descriptors, each before those below it: the number is the line of its mark.
struct Counter(u32);

impl Counter {
    fn config<'a>(&mut self, config: &'a RateLimitConfig) -> Vec<Pair<'a>> {
        let mut map = Map::new(Mark::default());
        map.text("domain", &config.domain);
        map.list("descriptors", self.descriptors(&config.descriptors));
        map.entries
    }

    fn descriptors<'a>(&mut self, descriptors: &'a [RateLimitDescriptor]) -> Vec<Node<'a>> {
        descriptors.iter().map(|descriptor| self.descriptor(descriptor)).collect()
    }

    fn descriptor<'a>(&mut self, descriptor: &'a RateLimitDescriptor) -> Node<'a> {
        self.0 = self.0.saturating_add(1);
        let mut map = Map::new(Mark { line: self.0, column: 0 });
        map.text("key", &descriptor.key);
        map.text("value", &descriptor.value);
        map.flag("shadow_mode", descriptor.shadow_mode);
        map.flag("detailed_metric", descriptor.detailed_metric);
        map.flag("quota_mode", descriptor.quota_mode);
        if let Some(policy) = &descriptor.rate_limit {
            map.rate_limit(policy);
        }
        if let Some(metadata) = &descriptor.metadata {
            let metadata = structure(map.at, metadata);
            map.put("metadata", metadata);
        }
        map.list("descriptors", self.descriptors(&descriptor.descriptors));
        map.node()
    }
}

/// A map of which every part has one mark. What has the default of protobuf is left out.
struct Map<'a> {
    at: Mark,
    entries: Vec<Pair<'a>>,
}

impl<'a> Map<'a> {
    const fn new(at: Mark) -> Self {
        Self { at, entries: Vec::new() }
    }

    fn node(self) -> Node<'a> {
        Node { at: self.at, value: Value::Map(self.entries) }
    }

    fn put(&mut self, key: &'a str, value: Value<'a>) {
        self.entries.push((text(self.at, key), Node { at: self.at, value }));
    }

    fn plain(&mut self, key: &'static str, word: impl Into<Cow<'a, str>>) {
        self.put(key, Value::Scalar(Scalar { text: word.into(), plain: true }));
    }

    fn text(&mut self, key: &'static str, value: &'a str) {
        if !value.is_empty() {
            self.put(key, Value::Scalar(Scalar { text: value.into(), plain: false }));
        }
    }

    fn flag(&mut self, key: &'static str, on: bool) {
        if on {
            self.plain(key, "true");
        }
    }

    fn list(&mut self, key: &'static str, items: Vec<Node<'a>>) {
        if !items.is_empty() {
            self.put(key, Value::List(items));
        }
    }

    fn rate_limit(&mut self, policy: &'a RateLimitPolicy) {
        let mut map = Map::new(self.at);
        match RateLimitUnit::try_from(policy.unit) {
            Ok(unit) => map.text("unit", unit.as_str_name()),
            Err(_) => map.plain("unit", policy.unit.to_string()),
        }
        // There is no difference between 0 and none.
        map.plain("requests_per_unit", policy.requests_per_unit.to_string());
        map.flag("unlimited", policy.unlimited);
        map.text("name", &policy.name);
        let replaces = policy.replaces.iter().map(|replaced| {
            let mut map = Map::new(self.at);
            map.text("name", &replaced.name);
            map.node()
        });
        map.list("replaces", replaces.collect());
        self.put("rate_limit", Value::Map(map.entries));
    }
}

fn text(at: Mark, text: &str) -> Node<'_> {
    Node { at, value: Value::Scalar(Scalar { text: text.into(), plain: false }) }
}

fn structure(at: Mark, fields: &Struct) -> Value<'_> {
    let mut map = Map::new(at);
    for (name, field) in &fields.fields {
        map.put(name, value(at, field));
    }
    Value::Map(map.entries)
}

fn value(at: Mark, value: &ProtoValue) -> Value<'_> {
    let plain = |text: Cow<'static, str>| Value::Scalar(Scalar { text, plain: true });
    match &value.kind {
        None | Some(Kind::NullValue(_)) => plain("null".into()),
        Some(Kind::BoolValue(on)) => plain(if *on { "true" } else { "false" }.into()),
        Some(Kind::NumberValue(number)) if number.is_finite() => plain(number.to_string().into()),
        // JSON, in which control planes write them, has no such number.
        Some(Kind::NumberValue(_)) => plain("null".into()),
        Some(Kind::StringValue(text)) => Value::Scalar(Scalar { text: text.into(), plain: false }),
        Some(Kind::StructValue(fields)) => structure(at, fields),
        Some(Kind::ListValue(list)) => {
            Value::List(list.values.iter().map(|item| Node { at, value: self::value(at, item) }).collect())
        }
    }
}
