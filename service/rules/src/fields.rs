//! Reads maps of a file: which keys they may have, and the types of their values.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::model::{Metadata, Rules};
use super::problem::{Mark, Place, Problem};
use super::yaml::{Node, Scalar, Type, Value};

/// A key and its value.
pub type Pair<'a> = (Node<'a>, Node<'a>);
/// The pairs of a map, in the order of the document.
pub type Entries<'a> = [Pair<'a>];

/// Known to envoyproxy/ratelimit, which accepts each of them in every map and ignores those that mean nothing there.
const EVERYWHERE: &str = "domain key value descriptors rate_limit unit requests_per_unit unlimited shadow_mode quota_mode name \
    replaces detailed_metric value_to_metric share_threshold metadata";

/// What a map describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    File,
    Descriptor,
    RateLimit,
    Replaces,
    Pool,
    /// Its reader checks what is in it.
    Authorize,
    AuthorizeEntry,
    /// A map that means nothing where it is.
    Nothing,
}

impl Kind {
    /// The keys that mean something in such a map.
    const fn keys(self) -> &'static str {
        match self {
            Self::File => {
                "domain descriptors all_or_nothing hash_tag on_unavailable on_overload instances authorize pools"
            }
            Self::Descriptor => {
                "key value rate_limit descriptors shadow_mode quota_mode detailed_metric value_to_metric \
                share_threshold metadata"
            }
            Self::RateLimit => {
                "unit requests_per_unit unlimited name replaces algorithm window anchor limit burst block max charge \
                grants unit_scale else share"
            }
            Self::Replaces => "name",
            Self::Pool => "name rate_limit",
            Self::Authorize => "trusted_proxies deny_status if_none descriptors",
            Self::AuthorizeEntry => "key header client_address path",
            Self::Nothing => "",
        }
    }

    fn of_value(self, key: &str) -> Self {
        match (self, key) {
            (Self::File | Self::Descriptor, "descriptors") => Self::Descriptor,
            (Self::Descriptor | Self::Pool, "rate_limit") => Self::RateLimit,
            (Self::File, "pools") => Self::Pool,
            (Self::RateLimit, "replaces") => Self::Replaces,
            _ => Self::Nothing,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::File => "at the top of a file",
            Self::Descriptor => "in a descriptor",
            Self::RateLimit => "in a rate_limit",
            Self::Replaces => "in replaces",
            Self::Pool => "in a pool",
            Self::Authorize => "in authorize",
            Self::AuthorizeEntry => "in an entry of authorize",
            Self::Nothing => "here",
        }
    }
}

/// What was found in the files: errors, and warnings about what has no effect.
#[derive(Debug, Default)]
pub struct Findings {
    pub errors: Vec<Problem>,
    pub warnings: Vec<Problem>,
}

/// The rules and the warnings about them; or what is wrong. One line each.
pub type Outcome = Result<(Rules, Vec<String>), Vec<String>>;

impl Findings {
    /// What becomes of rules with these findings. There are rules if there is no error.
    pub fn outcome(self, rules: Option<Rules>) -> Outcome {
        let lines = |problems: &[Problem]| problems.iter().map(ToString::to_string).collect();
        rules.map(|rules| (rules, lines(&self.warnings))).ok_or_else(|| lines(&self.errors))
    }
}

/// Where findings about one file go.
pub struct Reporter<'f> {
    pub file: Arc<str>,
    pub findings: &'f mut Findings,
}

impl Reporter<'_> {
    pub fn place(&self, at: Mark) -> Place {
        Place { file: self.file.clone(), at }
    }

    pub fn error(&mut self, at: Mark, text: impl Into<String>) {
        let problem = Problem { place: self.place(at), text: text.into() };
        self.findings.errors.push(problem);
    }

    pub fn warn(&mut self, at: Mark, text: impl Into<String>) {
        let problem = Problem { place: self.place(at), text: text.into() };
        self.findings.warnings.push(problem);
    }

    /// Checks the keys of a map and of every map in it, and that nothing but `metadata` has fractions.
    pub fn check_keys(&mut self, entries: &Entries<'_>, kind: Kind) {
        for (key, value) in entries {
            let Some(name) = key_text(key) else {
                self.error(key.at, "a key must be text");
                continue;
            };
            if !lists(kind.keys(), name) {
                if lists(EVERYWHERE, name) {
                    self.warn(key.at, format!("'{name}' means nothing {} and is ignored", kind.name()));
                } else {
                    self.error(key.at, format!("unknown key '{name}' {}", kind.name()));
                    continue;
                }
            }
            if !["metadata", "authorize"].contains(&name) && kind != Kind::Authorize {
                self.check_value(value, kind.of_value(name));
            }
        }
    }

    fn check_value(&mut self, value: &Node<'_>, kind: Kind) {
        match &value.value {
            Value::Map(entries) => self.check_keys(entries, kind),
            Value::List(items) => {
                for item in items {
                    match item.map() {
                        Some(entries) => self.check_keys(entries, kind),
                        None => self.error(item.at, "a list must have maps here"),
                    }
                }
            }
            Value::Scalar(scalar) => {
                if let Type::Number(_) = scalar.resolve() {
                    self.error(value.at, "expected an integer up to 2^63 - 1 or text; quote the value if it is text");
                }
            }
        }
    }

    /// The value of a key, which `read` takes from its node. `None` if there is none, or null; it is an error if `read`
    /// does not take it.
    pub fn get<'n, 'a, T>(
        &mut self,
        entries: &'n Entries<'a>,
        name: &str,
        expected: &str,
        read: impl FnOnce(&'n Node<'a>) -> Option<T>,
    ) -> Option<T> {
        let node = field(entries, name).filter(|node| !node.is_null())?;
        let value = read(node);
        if value.is_none() {
            self.error(node.at, format!("invalid {name}: expected {expected}"));
        }
        value
    }

    /// The text of a scalar; empty if there is none.
    pub fn text<'n>(&mut self, entries: &'n Entries<'_>, name: &str) -> &'n str {
        self.get(entries, name, "text", |node| node.text()).unwrap_or_default()
    }

    /// A boolean; false if there is none.
    pub fn flag(&mut self, entries: &Entries<'_>, name: &str) -> bool {
        let read = |node: &Node<'_>| if let Some(Type::Bool(value)) = node.resolve() { Some(value) } else { None };
        self.get(entries, name, "true or false", read).unwrap_or(false)
    }

    /// One of some words; `None` if there is none.
    pub fn choice<T: Copy>(&mut self, entries: &Entries<'_>, name: &str, known: &[(&str, T)]) -> Option<T> {
        let mut words = known.iter().map(|(word, _)| *word).collect::<Vec<_>>();
        let last = words.pop().unwrap_or_default();
        let expected = format!("{} or {last}", words.join(", "));
        let found = |text: &str| known.iter().find(|(word, _)| *word == text).map(|(_, value)| Some(*value));
        let read =
            |node: &Node<'_>| node.text().and_then(|text| if text.is_empty() { Some(None) } else { found(text) });
        self.get(entries, name, &expected, read).flatten()
    }

    /// An integer from `least` to 2³² − 1; `None` if there is none.
    pub fn number(&mut self, entries: &Entries<'_>, name: &str, least: u32) -> Option<u32> {
        let read = |node: &Node<'_>| match node.resolve() {
            Some(Type::Int(value)) => u32::try_from(value).ok().filter(|value| *value >= least),
            _ => None,
        };
        self.get(entries, name, &format!("an integer from {least} to 4294967295"), read)
    }

    /// The maps of a list.
    pub fn maps<'n, 'a>(&mut self, entries: &'n Entries<'a>, name: &str) -> Vec<(Mark, &'n Entries<'a>)> {
        let items = self.get(entries, name, "a list", |node| node.list()).unwrap_or_default();
        // `check_keys` has reported what is no map.
        items.iter().filter_map(|item| Some((item.at, item.map()?))).collect()
    }

    /// The fields of `metadata`; `None` if there are none.
    pub fn metadata(&mut self, node: Option<&Node<'_>>) -> Option<Arc<BTreeMap<String, Metadata>>> {
        let node = node?;
        match metadata(node) {
            Metadata::Map(fields) => (!fields.is_empty()).then(|| Arc::new(fields)),
            Metadata::Null => None,
            _ => {
                self.error(node.at, "invalid metadata: expected a map");
                None
            }
        }
    }
}

/// Whether a word is in a list of them.
fn lists(words: &str, name: &str) -> bool {
    words.split_whitespace().any(|word| word == name)
}

/// The last value of a key.
pub fn field<'n, 'a>(entries: &'n Entries<'a>, name: &str) -> Option<&'n Node<'a>> {
    entries.iter().rev().find(|(key, _)| key_text(key) == Some(name)).map(|(_, value)| value)
}

/// Where the value of a key is; the file as a whole if there is none.
pub fn at_of(entries: &Entries<'_>, name: &str) -> Mark {
    field(entries, name).map_or_else(Mark::default, |node| node.at)
}

/// The value of a key that may be there several times, as merges (`<<`) do. Their maps are joined, and a null removes
/// what was before it, as go-yaml 2 reads a struct behind a pointer, or a map. So of `rate_limit` and `metadata` only.
pub fn joined<'n, 'a>(entries: &'n Entries<'a>, name: &str) -> Option<Cow<'n, Node<'a>>> {
    let mut joined: Option<Cow<'n, Node<'a>>> = None;
    for (_, node) in entries.iter().filter(|(key, _)| key_text(key) == Some(name)) {
        let next = match (joined.as_deref().map(|node| &node.value), &node.value) {
            (Some(Value::Map(before)), Value::Map(more)) => {
                let all = before.iter().chain(more).cloned().collect();
                Cow::Owned(Node { at: node.at, value: Value::Map(all) })
            }
            // It is neither a map nor null, which is an error.
            (Some(Value::List(_)), _) => break,
            (Some(Value::Scalar(scalar)), _) if scalar.resolve() != Type::Null => break,
            _ => Cow::Borrowed(node),
        };
        joined = Some(next);
    }
    joined
}

/// The text of a key, if it is text.
pub fn key_text<'n>(key: &'n Node<'_>) -> Option<&'n str> {
    key.text().filter(|_| key.resolve() == Some(Type::Text))
}

fn metadata(node: &Node<'_>) -> Metadata {
    match &node.value {
        Value::Scalar(scalar) => leaf(scalar),
        Value::List(items) => Metadata::List(items.iter().map(metadata).collect()),
        Value::Map(entries) => {
            let pair = |(key, value): &Pair<'_>| Some((key.text()?.to_owned(), metadata(value)));
            Metadata::Map(entries.iter().filter_map(pair).collect())
        }
    }
}

fn leaf(scalar: &Scalar<'_>) -> Metadata {
    match scalar.resolve() {
        Type::Null => Metadata::Null,
        Type::Bool(value) => Metadata::Bool(value),
        #[expect(clippy::cast_precision_loss, reason = "a google.protobuf.Value has no integers")]
        Type::Int(value) => Metadata::Number(value as f64),
        Type::Number(value) => Metadata::Number(value),
        Type::Text => Metadata::Text(scalar.text.to_string()),
    }
}
