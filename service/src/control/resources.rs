//! Rules that a control plane sends, as maps like those of a file, so that the same code checks both.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use envoy_types::pb::google::protobuf::Value as ProtoValue;
use envoy_types::pb::google::protobuf::value::Kind;
use envoy_types::pb::ratelimit::config::ratelimit::v3::{
    RateLimitConfig, RateLimitDescriptor, RateLimitPolicy, RateLimitUnit,
};
use rlaas_rules::{Findings, Mark, Node, Pair, Rules, Scalar, Settings, Value, file, load_files};

/// The paths of the descriptors of a resource, each before those below it. The number of a path, from 1, is the line of
/// the marks of its descriptor.
type Paths = Vec<String>;

/// Reads resources. There are rules only if no resource has an error.
///
/// The places of findings have the names of the resources; the texts begin with the path of the rule.
pub fn load_resources(resources: &[RateLimitConfig], settings: &Settings) -> (Option<Rules>, Findings) {
    let (mut findings, mut paths, mut files) = (Findings::default(), HashMap::new(), Vec::new());
    for RateLimitConfig { name, domain, descriptors } in resources {
        let name: Arc<str> = format!("resource {}", if name.is_empty() { domain } else { name }).into();
        let mut of_resource = Paths::new();
        let descriptors = self::descriptors(domain, descriptors, &mut of_resource);
        paths.entry(name.clone()).or_insert(of_resource);
        let fields = map(Mark::default(), [("domain", filled(domain)), ("descriptors", descriptors)]);
        files.extend(file(name, fields, &mut findings));
    }
    let (rules, mut findings) = load_files(&files, findings, settings);
    for problem in findings.errors.iter_mut().chain(&mut findings.warnings) {
        let number = problem.place.at.line.checked_sub(1).and_then(|number| usize::try_from(number).ok());
        if let Some(path) = paths.get(&problem.place.file).zip(number).and_then(|(paths, number)| paths.get(number)) {
            problem.text = format!("{path}: {}", problem.text);
        }
    }
    (rules, findings)
}

fn descriptors<'a>(above: &str, all: &'a [RateLimitDescriptor], paths: &mut Paths) -> Option<Value<'a>> {
    list(all.iter().map(|one| descriptor(above, one, paths)).collect())
}

fn descriptor<'a>(above: &str, descriptor: &'a RateLimitDescriptor, paths: &mut Paths) -> Node<'a> {
    let RateLimitDescriptor { key, value, descriptors, .. } = descriptor;
    let path = [above, ".", key, if value.is_empty() { "" } else { "_" }, value].concat();
    paths.push(path.clone());
    let at = Mark { line: u32::try_from(paths.len()).unwrap_or(u32::MAX), column: 0 };
    let fields = [
        ("key", filled(key)),
        ("value", filled(value)),
        ("shadow_mode", flag(descriptor.shadow_mode)),
        ("detailed_metric", flag(descriptor.detailed_metric)),
        ("quota_mode", flag(descriptor.quota_mode)),
        ("rate_limit", descriptor.rate_limit.as_ref().map(|policy| rate_limit(at, policy))),
        ("metadata", descriptor.metadata.as_ref().map(|metadata| structure(at, &metadata.fields))),
        ("descriptors", self::descriptors(&path, descriptors, paths)),
    ];
    Node { at, value: Value::Map(map(at, fields)) }
}

fn rate_limit(at: Mark, policy: &RateLimitPolicy) -> Value<'_> {
    let unit = match RateLimitUnit::try_from(policy.unit) {
        Ok(unit) => text(unit.as_str_name()),
        Err(_) => plain(policy.unit.to_string()),
    };
    let replaces = policy.replaces.iter();
    let replaces = replaces.map(|other| Node { at, value: Value::Map(map(at, [("name", filled(&other.name))])) });
    let fields = [
        ("unit", Some(unit)),
        // protobuf does not tell 0 from a missing number.
        ("requests_per_unit", Some(plain(policy.requests_per_unit.to_string()))),
        ("unlimited", flag(policy.unlimited)),
        ("name", filled(&policy.name)),
        ("replaces", list(replaces.collect())),
    ];
    Value::Map(map(at, fields))
}

/// A map of which every part has one mark. What has no value is left out.
fn map<'a>(at: Mark, fields: impl IntoIterator<Item = (&'a str, Option<Value<'a>>)>) -> Vec<Pair<'a>> {
    let node = |value| Node { at, value };
    fields.into_iter().filter_map(|(key, value)| Some((node(text(key)), node(value?)))).collect()
}

fn text(text: &str) -> Value<'_> {
    Value::Scalar(Scalar { text: text.into(), plain: false })
}

fn plain<'a>(word: impl Into<Cow<'a, str>>) -> Value<'a> {
    Value::Scalar(Scalar { text: word.into(), plain: true })
}

/// `None` for the default of protobuf. The next functions do the same.
fn filled(text: &str) -> Option<Value<'_>> {
    (!text.is_empty()).then(|| self::text(text))
}

fn flag(on: bool) -> Option<Value<'static>> {
    on.then(|| plain("true"))
}

fn list(items: Vec<Node<'_>>) -> Option<Value<'_>> {
    (!items.is_empty()).then_some(Value::List(items))
}

fn structure(at: Mark, fields: &HashMap<String, ProtoValue>) -> Value<'_> {
    Value::Map(map(at, fields.iter().map(|(name, field)| (name.as_str(), Some(value(at, field))))))
}

fn value(at: Mark, value: &ProtoValue) -> Value<'_> {
    match &value.kind {
        Some(Kind::BoolValue(on)) => plain(if *on { "true" } else { "false" }),
        Some(Kind::NumberValue(number)) if number.is_finite() => plain(number.to_string()),
        // JSON, in which control planes write them, has no other number.
        None | Some(Kind::NullValue(_) | Kind::NumberValue(_)) => plain("null"),
        Some(Kind::StringValue(word)) => text(word),
        Some(Kind::StructValue(fields)) => structure(at, &fields.fields),
        Some(Kind::ListValue(list)) => {
            Value::List(list.values.iter().map(|item| Node { at, value: self::value(at, item) }).collect())
        }
    }
}
