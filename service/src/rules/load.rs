//! From files to rules.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use redis_rl_client::Fallback::{self, Allow, Deny, Error, Local};
use redis_rl_client::Policy;

use super::authorize;
use super::fields::{Entries, Findings, Kind, Pair, Reporter, field, joined, key_text};
use super::model::{Authorize, Domain, Level, Limit, Options, Rule, Rules};
use super::problem::{Mark, Place, Problem};
use super::rate;
use super::wildcard::Wildcard;
use super::yaml::{self, Node, Value};

/// The domain of the limits that were configured for the Lua scripts.
pub const SCRIPT_DOMAIN: &str = "rlaas";
/// The descriptor of those limits.
pub const SCRIPT_ENTRY: &str = "userId";

/// A file of rules: its name, as the errors show it, and its text.
#[derive(Clone, Debug)]
pub struct Source {
    pub name: String,
    pub text: String,
}

/// How files are read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings {
    /// Several files of one domain are merged; else they are an error.
    pub merge_domains: bool,
    /// The keys of a request with `all_or_nothing` must be in one slot.
    pub cluster: bool,
}

/// Reads all files. There are rules only if no file has an error.
pub fn load(sources: &[Source], settings: Settings) -> (Option<Rules>, Findings) {
    let mut findings = Findings::default();
    let mut rules = Rules::default();
    // The options of a domain decide how its rules are charged, so they are read first, from all of its files.
    let parsed: Vec<_> = sources.iter().filter_map(|source| parse(source, &mut findings)).collect();
    let mut options: HashMap<String, Given> = HashMap::new();
    for (file, entries) in &parsed {
        let reporter = &mut Reporter { file: file.clone(), findings: &mut findings };
        if is_script_file(entries) {
            continue;
        }
        reporter.check_keys(entries, Kind::File);
        let domain = reporter.text(entries, "domain").into_owned();
        options.entry(domain).or_default().add(reporter, entries);
    }
    // The file in which a domain is first.
    let mut files: HashMap<String, &str> = HashMap::new();
    for (file, entries) in &parsed {
        let reporter = &mut Reporter { file: file.clone(), findings: &mut findings };
        if is_script_file(entries) {
            let first = *files.entry(SCRIPT_DOMAIN.to_owned()).or_insert(file);
            add_script_domain(&mut rules, reporter, entries, first);
            continue;
        }
        let name = reporter.text(entries, "domain");
        let at = field(entries, "domain").map_or_else(Mark::default, |node| node.at);
        if name.is_empty() {
            reporter.error(at, "a file must name its domain");
            continue;
        }
        let first = *files.entry(name.to_string()).or_insert(file);
        let given = options.get(name.as_ref());
        let domain = match rules.domains.entry(name.as_ref().into()) {
            Entry::Occupied(_) if !settings.merge_domains => {
                let text = format!("domain '{name}' is in {first} too; MERGE_DOMAIN_CONFIG merges them");
                reporter.error(at, text);
                continue;
            }
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let options = given.map(Given::options).unwrap_or_default();
                if let Some(given) = given {
                    given.check(reporter.findings);
                }
                entry.insert(Domain { options, ..Domain::default() })
            }
        };
        let descriptors = reporter.maps(entries, "descriptors");
        let mut loader = Loader {
            reporter,
            options: &domain.options,
            cluster: settings.cluster,
            keys: Vec::new(),
            names: vec![name.to_string()],
        };
        let path = Path { text: format!("{name}."), values_in_metric: false, shares_hash_tag: false };
        loader.add_rules(&mut domain.root, &path, &descriptors);
    }
    (findings.errors.is_empty().then_some(rules), findings)
}

/// The entries of a file's document.
fn parse<'a>(source: &'a Source, findings: &mut Findings) -> Option<(Arc<str>, Vec<Pair<'a>>)> {
    let file: Arc<str> = source.name.as_str().into();
    let mut reporter = Reporter { file: file.clone(), findings };
    match yaml::parse(&source.text) {
        Ok(Some(Node { value: Value::Map(entries), .. })) => return Some((file, entries)),
        Ok(Some(Node { at, value: Value::List(_) })) => reporter.error(at, "a file of rules must be a map"),
        Ok(Some(Node { at, value: Value::Scalar(scalar) })) if scalar.resolve() != yaml::Type::Null => {
            reporter.error(at, "a file of rules must be a map");
        }
        Ok(_) => reporter.error(Mark::default(), "a file must name its domain"),
        Err((at, text)) => reporter.error(at, text),
    }
    None
}

/// The options that the files of a domain give.
#[derive(Default)]
struct Given {
    all_or_nothing: Option<bool>,
    hash_tag: Option<String>,
    /// `local` is for one instance until all files are read.
    on_unavailable: Option<Fallback>,
    on_overload: Option<Fallback>,
    instances: Option<u32>,
    /// Where `instances` is.
    instances_at: Option<Place>,
    authorize: Option<Arc<Authorize>>,
}

impl Given {
    fn add(&mut self, reporter: &mut Reporter<'_>, entries: &Entries<'_>) {
        add(reporter, entries, "all_or_nothing", &mut self.all_or_nothing, |reporter, _, name| {
            Some(reporter.flag(entries, name))
        });
        add(reporter, entries, "hash_tag", &mut self.hash_tag, |reporter, node, name| {
            let value = reporter.text(entries, name).into_owned();
            if value.is_empty() {
                reporter.error(node.at, "invalid hash_tag: expected the key of an entry");
            }
            Some(value)
        });
        add(reporter, entries, "on_unavailable", &mut self.on_unavailable, |reporter, _, name| {
            let known = [("allow", Allow), ("deny", Deny), ("error", Error), ("local", Local { instances: 1 })];
            reporter.choice(entries, name, &known)
        });
        add(reporter, entries, "on_overload", &mut self.on_overload, |reporter, _, name| {
            reporter.choice(entries, name, &[("local", Local { instances: 1 }), ("deny", Deny), ("error", Error)])
        });
        add(reporter, entries, "instances", &mut self.instances, |reporter, node, name| {
            self.instances_at.get_or_insert(reporter.place(node.at));
            reporter.number(entries, name, 1)
        });
        add(reporter, entries, "authorize", &mut self.authorize, |reporter, node, _| {
            authorize::read(reporter, node).map(Arc::new)
        });
    }

    /// Checks what depends on several options, which may be in several files.
    fn check(&self, findings: &mut Findings) {
        let Options { on_unavailable, on_overload, .. } = self.options();
        let is_local = [on_unavailable, on_overload].iter().any(|fallback| matches!(fallback, Local { .. }));
        if let Some(place) = self.instances_at.clone().filter(|_| !is_local) {
            let text =
                "invalid instances: neither on_unavailable nor on_overload is 'local', which takes it".to_owned();
            findings.errors.push(Problem { place, text });
        }
    }

    fn options(&self) -> Options {
        let shared = |fallback| match fallback {
            Local { .. } => Local { instances: self.instances.unwrap_or(1) },
            other => other,
        };
        let default = Options::default();
        Options {
            all_or_nothing: self.all_or_nothing.unwrap_or(false),
            hash_tag: self.hash_tag.as_deref().map(Into::into),
            on_unavailable: shared(self.on_unavailable.unwrap_or(default.on_unavailable)),
            on_overload: shared(self.on_overload.unwrap_or(default.on_overload)),
            authorize: self.authorize.clone(),
        }
    }
}

/// Reads an option of a domain. All of its files that have it must say the same.
fn add<T: PartialEq>(
    reporter: &mut Reporter<'_>,
    entries: &Entries<'_>,
    name: &str,
    known: &mut Option<T>,
    read: impl FnOnce(&mut Reporter<'_>, &Node<'_>, &str) -> Option<T>,
) {
    let Some(node) = field(entries, name) else { return };
    match (known, read(reporter, node, name)) {
        (_, None) => {}
        (Some(known), Some(value)) if *known != value => {
            reporter.error(node.at, format!("invalid {name}: another file of this domain says something else"));
        }
        (known, value) => *known = value,
    }
}

/// The rules on the way to a level.
#[derive(Clone)]
struct Path {
    /// Ends with a dot.
    text: String,
    values_in_metric: bool,
    /// Whether the entry of `hash_tag` is shared by all values.
    shares_hash_tag: bool,
}

struct Loader<'l, 'f> {
    reporter: &'l mut Reporter<'f>,
    options: &'l Options,
    cluster: bool,
    /// Those of the rules on the way.
    keys: Vec<String>,
    /// The domain, and their `key_value`.
    names: Vec<String>,
}

impl Loader<'_, '_> {
    fn add_rules(&mut self, level: &mut Level, path: &Path, descriptors: &[(Mark, &Entries<'_>)]) {
        for &(at, entries) in descriptors {
            self.add_rule(level, path, at, entries);
        }
    }

    fn add_rule(&mut self, level: &mut Level, path: &Path, at: Mark, entries: &Entries<'_>) {
        let key = self.reporter.text(entries, "key");
        if key.is_empty() {
            self.reporter.error(at, "a descriptor must have a key");
            return;
        }
        let value = self.reporter.text(entries, "value");
        let name = if value.is_empty() { key.to_string() } else { format!("{key}_{value}") };
        if level.rules.contains_key(name.as_str()) {
            let text =
                format!("'{}{name}' is here twice; key and value are compared as one text, joined by '_'", path.text);
            self.reporter.error(at, text);
            return;
        }
        let wildcard = Wildcard::new(&name);
        let share_threshold = self.reporter.flag(entries, "share_threshold");
        if share_threshold && wildcard.is_none() {
            let at = field(entries, "share_threshold").map_or(at, |node| node.at);
            self.reporter.error(at, "invalid share_threshold: only a value with '*' has something to share");
        }
        let mut rule = Rule {
            limit: None,
            below: None,
            value_to_metric: self.reporter.flag(entries, "value_to_metric"),
            share_threshold,
        };
        let is_hash_tag = self.options.hash_tag.as_deref() == Some(key.as_ref());
        let here = Path {
            text: format!("{}{name}", path.text),
            values_in_metric: path.values_in_metric || rule.value_to_metric,
            shares_hash_tag: path.shares_hash_tag || (is_hash_tag && share_threshold),
        };
        self.keys.push(key.into_owned());
        self.names.push(name.clone());
        rule.limit = self.limit(&here, at, entries);
        let below = self.reporter.maps(entries, "descriptors");
        if !below.is_empty() {
            let mut next = Level::default();
            self.add_rules(&mut next, &Path { text: format!("{}.", here.text), ..here }, &below);
            rule.below = Some(Box::new(next));
        }
        self.keys.pop();
        self.names.pop();
        if let Some(wildcard) = wildcard {
            level.wildcards.push((name.as_str().into(), wildcard));
        }
        level.rules.insert(name.into(), rule);
    }

    fn limit(&mut self, path: &Path, at: Mark, entries: &Entries<'_>) -> Option<Arc<Limit>> {
        let shadow = self.reporter.flag(entries, "shadow_mode");
        let quota = self.reporter.flag(entries, "quota_mode");
        let detailed_metric = self.reporter.flag(entries, "detailed_metric");
        let metadata = self.reporter.metadata(joined(entries, "metadata").as_deref());
        if quota && self.options.all_or_nothing {
            let at = field(entries, "quota_mode").map_or(at, |node| node.at);
            self.reporter.error(at, "all_or_nothing charges nothing if one limit denies, so it has no quota_mode");
        }
        let node = joined(entries, "rate_limit")?;
        let fields = match &node.value {
            Value::Map(fields) => fields,
            Value::Scalar(scalar) if scalar.resolve() == yaml::Type::Null => return None,
            _ => {
                self.reporter.error(node.at, "invalid rate_limit: expected a map");
                return None;
            }
        };
        let name = self.reporter.text(fields, "name").into_owned();
        let mut replaces = Vec::new();
        for (at, entries) in self.reporter.maps(fields, "replaces") {
            let replaced = self.reporter.text(entries, "name").into_owned();
            if replaced.is_empty() {
                self.reporter.error(at, "invalid replaces: expected the name of a rate_limit");
            } else if replaced == name {
                self.reporter.error(at, "invalid replaces: a rate_limit cannot replace itself");
            }
            replaces.push(replaced.into());
        }
        // After an error, which is reported, the rule stays: what is below it is checked too.
        let mut rate = rate::read(self.reporter, node.at, fields, self.options)?;
        if let Some(rate) = &mut rate {
            self.check_slot(path, at);
            // For the headers of HTTP, where not every name is one of a policy.
            rate.policy = rate.policy.try_name(&name).unwrap_or(rate.policy);
        }
        Some(Arc::new(Limit {
            path: path.text.as_str().into(),
            names: self.names.iter().map(|name| name.as_str().into()).collect(),
            place: Some(self.reporter.place(at)),
            name: name.into(),
            replaces: replaces.into(),
            rate,
            shadow,
            quota,
            detailed_metric,
            values_in_metric: path.values_in_metric,
            metadata,
        }))
    }

    /// All keys of a request must be in one slot if it is charged as a whole.
    fn check_slot(&mut self, path: &Path, at: Mark) {
        if !self.cluster || !self.options.all_or_nothing {
            return;
        }
        match &self.options.hash_tag {
            None => self.reporter.error(at, "all_or_nothing needs a hash_tag in a cluster"),
            Some(tag) if !self.keys.iter().any(|key| **key == **tag) => {
                let text = format!("all_or_nothing needs the entry '{tag}' of hash_tag in every rule in a cluster");
                self.reporter.error(at, text);
            }
            Some(tag) if path.shares_hash_tag => {
                let text = format!("all_or_nothing in a cluster: the entry '{tag}' of hash_tag cannot share_threshold");
                self.reporter.error(at, text);
            }
            Some(_) => {}
        }
    }
}

fn is_script_file(entries: &Entries<'_>) -> bool {
    field(entries, "rate-limiter").is_some()
}

/// The configuration of the service that the Lua scripts come from.
///
/// `first` is the file in which its domain is first.
fn add_script_domain(rules: &mut Rules, reporter: &mut Reporter<'_>, entries: &Entries<'_>, first: &str) {
    for (key, _) in entries.iter().filter(|(key, _)| key_text(key) != Some("rate-limiter")) {
        reporter.error(key.at, "a file with 'rate-limiter' has no other key");
    }
    let Some(Node { at, value: Value::Map(fields) }) = field(entries, "rate-limiter") else {
        let at = field(entries, "rate-limiter").map_or_else(Mark::default, |node| node.at);
        reporter.error(at, "invalid rate-limiter: expected a map");
        return;
    };
    let at = *at;
    for (key, _) in fields {
        if !key_text(key).is_some_and(|name| ["use-algo", "window-size", "max-requests"].contains(&name)) {
            reporter.error(key.at, "unknown key in rate-limiter: expected use-algo, window-size or max-requests");
        }
    }
    let algorithm = reporter.text(fields, "use-algo");
    let word = match algorithm.as_ref() {
        "fixed-window-algo" => "FIXED",
        "sliding-window-algo" => "SLIDING",
        _ => return reporter.error(at, "invalid use-algo: expected fixed-window-algo or sliding-window-algo"),
    };
    let window = reporter.number(fields, "window-size", 1);
    let limit = reporter.number(fields, "max-requests", 0);
    let (Some(window), Some(limit)) = (window, limit) else {
        reporter.error(at, "rate-limiter needs window-size in seconds and max-requests");
        return;
    };
    let policy: Policy = match format!("{word} {window} {limit}").parse() {
        Ok(policy) => policy,
        Err(error) => return reporter.error(at, format!("invalid rate-limiter: {error}")),
    };
    let Entry::Vacant(entry) = rules.domains.entry(SCRIPT_DOMAIN.into()) else {
        reporter.error(at, format!("domain '{SCRIPT_DOMAIN}' of rate-limiter is in {first} too"));
        return;
    };
    let limit = Limit {
        path: format!("{SCRIPT_DOMAIN}.{SCRIPT_ENTRY}").into(),
        names: [SCRIPT_DOMAIN, SCRIPT_ENTRY].map(Into::into).into(),
        place: Some(reporter.place(at)),
        name: "".into(),
        replaces: Box::default(),
        rate: Some(rate::of_scripts(policy)),
        shadow: false,
        quota: false,
        detailed_metric: false,
        values_in_metric: false,
        metadata: None,
    };
    let mut domain = Domain { script_keys: true, ..Domain::default() };
    domain.root.rules.insert(SCRIPT_ENTRY.into(), Rule { limit: Some(Arc::new(limit)), ..Rule::default() });
    entry.insert(domain);
}
