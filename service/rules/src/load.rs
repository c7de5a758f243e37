//! From files to rules.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use redis_rl_client::Fallback::{Allow, Deny, Error, Local};
use redis_rl_client::{Algorithm, Policy, Window};

use super::authorize;
use super::fields::{Entries, Findings, Kind, Pair, Reporter, at_of, field, joined, key_text};
use super::files::Source;
use super::key::{key_start, policy_name};
use super::model::{Domain, Level, Limit, Options, Pools, Rule, Rules, next_number};
use super::overrides::Overrides;
use super::pools;
use super::problem::Mark;
use super::rate;
use super::wildcard::Wildcard;
use super::yaml::{self, Node, Value};

/// The domain of the limits that were configured for the Lua scripts.
pub const SCRIPT_DOMAIN: &str = "rlaas";
/// The descriptor of those limits.
pub const SCRIPT_ENTRY: &str = "userId";

/// How rules are read.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Several files of one domain are merged; else they are an error.
    pub merge_domains: bool,
    /// The keys of a request with `all_or_nothing` must be in one slot.
    pub cluster: bool,
    pub overrides: Arc<Overrides>,
}

/// A file, or a resource of a control plane, whose domain is known.
pub struct File<'a> {
    name: Arc<str>,
    entries: Vec<Pair<'a>>,
    domain: String,
    /// Whether it is the configuration of the service that the Lua scripts come from.
    is_of_scripts: bool,
}

/// Reads all files. There are rules only if no file has an error.
pub fn load(sources: &[Source], settings: &Settings) -> (Option<Rules>, Findings) {
    let mut findings = Findings::default();
    let files: Vec<_> = sources.iter().filter_map(|source| parse(source, &mut findings)).collect();
    load_files(&files, findings, settings)
}

/// Makes rules of files. There are rules only if there is no error, also among those that were found before.
pub fn load_files(files: &[File<'_>], mut findings: Findings, settings: &Settings) -> (Option<Rules>, Findings) {
    let mut rules = Rules::default();
    let (mut domains, mut limits): (HashMap<&str, Vec<&File<'_>>>, _) = (HashMap::new(), 0);
    for file in files {
        domains.entry(&file.domain).or_default().push(file);
    }
    for file in files {
        let of_domain = domains.get(file.domain.as_str()).map_or(&[][..], Vec::as_slice);
        let first = of_domain.first().map_or(&file.name, |first| &first.name);
        let is_first = Arc::ptr_eq(first, &file.name);
        if is_first && !file.is_of_scripts {
            // They decide how the rules are charged, so they are read from all files of the domain before its rules.
            let options = options(of_domain, &mut findings);
            let names = of_domain.iter().map(|file| (&file.name, file.entries.as_slice()));
            let pools = pools::read(names, of_pools(&file.domain, &options, settings), &mut findings, &mut limits);
            rules.domains.insert(file.domain.as_str().into(), Domain { options, pools, ..Domain::default() });
        }
        let reporter = &mut Reporter { file: file.name.clone(), findings: &mut findings };
        if !is_first && of_domain.iter().any(|other| other.is_of_scripts) {
            reporter.error(at_of(&file.entries, "domain"), format!("domain '{}' is in {first} too", file.domain));
        } else if file.is_of_scripts {
            rules.domains.extend(
                script_domain(reporter, &file.entries, &mut limits).map(|domain| (SCRIPT_DOMAIN.into(), domain)),
            );
        } else if !is_first && !settings.merge_domains {
            let text = format!("domain '{}' is in {first} too; MERGE_DOMAIN_CONFIG merges them", file.domain);
            reporter.error(at_of(&file.entries, "domain"), text);
        } else if let Some(domain) = rules.domains.get_mut(file.domain.as_str()) {
            let descriptors = reporter.maps(&file.entries, "descriptors");
            let names = vec![file.domain.clone()];
            let (options, pools, keys, limits) = (&domain.options, &domain.pools, Vec::new(), &mut limits);
            let mut loader = Loader { reporter, options, pools, settings, keys, names, limits };
            loader.add_rules(&mut domain.root, Above::default(), &descriptors);
        }
    }
    settings.overrides.warn_of_unused(&rules, &mut findings);
    (findings.errors.is_empty().then_some(rules), findings)
}

/// The document of a file.
fn parse<'a>(source: &'a Source, findings: &mut Findings) -> Option<File<'a>> {
    let name: Arc<str> = source.name.as_str().into();
    let mut reporter = Reporter { file: name.clone(), findings };
    let document = match yaml::parse(&source.text) {
        Ok(document) => document.filter(|node| !node.is_null()),
        Err((at, text)) => {
            reporter.error(at, text);
            return None;
        }
    };
    let entries = match document {
        None => Vec::new(),
        Some(Node { value: Value::Map(entries), .. }) => entries,
        Some(Node { at, .. }) => {
            reporter.error(at, "a file of rules must be a map");
            return None;
        }
    };
    file(name, entries, findings)
}

/// A map of rules, with its keys checked.
pub fn file<'a>(name: Arc<str>, entries: Vec<Pair<'a>>, findings: &mut Findings) -> Option<File<'a>> {
    let mut reporter = Reporter { file: name.clone(), findings };
    let is_of_scripts = field(&entries, "rate-limiter").is_some();
    let domain = if is_of_scripts {
        SCRIPT_DOMAIN.to_owned()
    } else {
        reporter.check_keys(&entries, Kind::File);
        reporter.text(&entries, "domain").to_owned()
    };
    if domain.is_empty() {
        reporter.error(at_of(&entries, "domain"), "a file must name its domain");
        return None;
    }
    Some(File { name, entries, domain, is_of_scripts })
}

/// How the pools of a domain are read.
fn of_pools<'d>(name: &'d str, options: &'d Options, settings: &'d Settings) -> pools::Domain<'d> {
    pools::Domain { name, options, overrides: &settings.overrides, in_cluster: settings.cluster }
}

/// The options of a domain, from all of its files.
fn options(files: &[&File<'_>], findings: &mut Findings) -> Options {
    let default = Options::default();
    let all_or_nothing =
        option(files, findings, "all_or_nothing", |reporter, entries, name| Some(reporter.flag(entries, name)));
    let hash_tag: Option<Box<str>> = option(files, findings, "hash_tag", |reporter, entries, name| {
        let key = reporter.text(entries, name);
        if key.is_empty() {
            reporter.error(at_of(entries, name), "invalid hash_tag: expected the key of an entry");
        }
        Some(key.into())
    });
    // `local` is for one instance until `instances` is known.
    let known = [("allow", Allow), ("deny", Deny), ("error", Error), ("local", Local { instances: 1 })];
    let on_unavailable =
        option(files, findings, "on_unavailable", |reporter, entries, name| reporter.choice(entries, name, &known));
    let known = [("local", Local { instances: 1 }), ("deny", Deny), ("error", Error)];
    let on_overload =
        option(files, findings, "on_overload", |reporter, entries, name| reporter.choice(entries, name, &known));
    let fallbacks = [on_unavailable.unwrap_or(default.on_unavailable), on_overload.unwrap_or(default.on_overload)];
    let is_local = fallbacks.iter().any(|fallback| matches!(fallback, Local { .. }));
    let instances = option(files, findings, "instances", |reporter, entries, name| {
        if !is_local {
            let text = "invalid instances: neither on_unavailable nor on_overload is 'local', which takes it";
            reporter.error(at_of(entries, name), text);
        }
        reporter.number(entries, name, 1)
    });
    if is_local
        && instances.is_none()
        && let Some(first) = files.iter().find(|file| field(&file.entries, "descriptors").is_some())
    {
        let reporter = &mut Reporter { file: first.name.clone(), findings };
        let text =
            "without 'instances', each copy has the whole limit where 'local' decides (on_overload, if not given)";
        reporter.warn(at_of(&first.entries, "domain"), text);
    }
    let [on_unavailable, on_overload] = fallbacks.map(|fallback| match fallback {
        Local { .. } => Local { instances: instances.unwrap_or(1) },
        other => other,
    });
    let authorize = option(files, findings, "authorize", |reporter, entries, name| {
        authorize::read(reporter, field(entries, name)?).map(Arc::new)
    });
    let all_or_nothing = all_or_nothing.unwrap_or(default.all_or_nothing);
    Options { all_or_nothing, hash_tag, on_unavailable, on_overload, authorize }
}

/// An option of a domain. All of its files that have it must say the same.
fn option<T: PartialEq>(
    files: &[&File<'_>],
    findings: &mut Findings,
    name: &str,
    read: impl Fn(&mut Reporter<'_>, &Entries<'_>, &str) -> Option<T>,
) -> Option<T> {
    let mut known = None;
    for file in files.iter().filter(|file| field(&file.entries, name).is_some()) {
        let reporter = &mut Reporter { file: file.name.clone(), findings };
        let value = read(reporter, &file.entries, name);
        if known.is_some() && value.is_some() && known != value {
            let text = format!("invalid {name}: another file of this domain says something else");
            reporter.error(at_of(&file.entries, name), text);
        }
        known = known.or(value);
    }
    known
}

/// What the rules on the way to a level say.
#[derive(Clone, Copy, Default)]
struct Above {
    values_in_metric: bool,
    /// Whether the entry of `hash_tag` is shared by all values.
    shares_hash_tag: bool,
}

struct Loader<'l, 'f> {
    reporter: &'l mut Reporter<'f>,
    options: &'l Options,
    pools: &'l Pools,
    settings: &'l Settings,
    /// Those of the rules on the way.
    keys: Vec<String>,
    /// The domain, and their `key_value`.
    names: Vec<String>,
    /// How many limits there are by now.
    limits: &'l mut usize,
}

impl Loader<'_, '_> {
    fn add_rules(&mut self, level: &mut Level, above: Above, descriptors: &[(Mark, &Entries<'_>)]) {
        for &(at, entries) in descriptors {
            self.add_rule(level, above, at, entries);
        }
    }

    fn add_rule(&mut self, level: &mut Level, above: Above, at: Mark, entries: &Entries<'_>) {
        let key = self.reporter.text(entries, "key");
        if key.is_empty() {
            self.reporter.error(at, "a descriptor must have a key");
            return;
        }
        let value = self.reporter.text(entries, "value");
        let name = if value.is_empty() { key.to_owned() } else { format!("{key}_{value}") };
        if level.rules.contains_key(name.as_str()) {
            let path = self.names.join(".");
            let text = format!("'{path}.{name}' is here twice; key and value are compared as one text, joined by '_'");
            self.reporter.error(at, text);
            return;
        }
        let wildcard = Wildcard::new(&name);
        let share_threshold = self.reporter.flag(entries, "share_threshold");
        if share_threshold && wildcard.is_none() {
            let at = at_of(entries, "share_threshold");
            self.reporter.error(at, "invalid share_threshold: only a value with '*' has something to share");
        }
        let mut rule = Rule {
            limit: None,
            below: None,
            value_to_metric: self.reporter.flag(entries, "value_to_metric"),
            share_threshold,
        };
        let is_hash_tag = self.options.hash_tag.as_deref() == Some(key);
        let here = Above {
            values_in_metric: above.values_in_metric || rule.value_to_metric,
            shares_hash_tag: above.shares_hash_tag || (is_hash_tag && share_threshold),
        };
        self.keys.push(key.to_owned());
        self.names.push(name.clone());
        rule.limit = self.limit(here, at, entries);
        let below = self.reporter.maps(entries, "descriptors");
        if !below.is_empty() {
            let mut next = Level::default();
            self.add_rules(&mut next, here, &below);
            rule.below = Some(Box::new(next));
        }
        self.keys.pop();
        self.names.pop();
        if let Some(wildcard) = wildcard {
            level.wildcards.push((name.as_str().into(), wildcard));
        }
        level.rules.insert(name.into(), rule);
    }

    fn limit(&mut self, here: Above, at: Mark, entries: &Entries<'_>) -> Option<Arc<Limit>> {
        let shadow = self.reporter.flag(entries, "shadow_mode");
        let quota = self.reporter.flag(entries, "quota_mode");
        let detailed_metric = self.reporter.flag(entries, "detailed_metric");
        let metadata = self.reporter.metadata(joined(entries, "metadata").as_deref());
        if quota && self.options.all_or_nothing {
            let at = at_of(entries, "quota_mode");
            self.reporter.error(at, "all_or_nothing charges nothing if one limit denies, so it has no quota_mode");
        }
        let node = joined(entries, "rate_limit")?;
        if node.is_null() {
            return None;
        }
        let Some(fields) = node.map() else {
            self.reporter.error(node.at, "invalid rate_limit: expected a map");
            return None;
        };
        let name = self.reporter.text(fields, "name");
        let mut replaces = Vec::new();
        for (at, entries) in self.reporter.maps(fields, "replaces") {
            let replaced = self.reporter.text(entries, "name");
            if replaced.is_empty() {
                self.reporter.error(at, "invalid replaces: expected the name of a rate_limit");
            } else if replaced == name {
                self.reporter.error(at, "invalid replaces: a rate_limit cannot replace itself");
            }
            replaces.push(replaced.into());
        }
        // After an error, which is reported, the rule stays: what is below it is checked too.
        let path = self.names.join(".");
        let domain = self.names.first().cloned().unwrap_or_default();
        let defaults = self.settings.overrides.of(&domain, &path, name);
        let mut rate = rate::read(self.reporter, node.at, fields, self.options, defaults, false)?;
        let mut otherwise = None;
        if let Some(rate) = &mut rate {
            self.check_slot(here, at, fields);
            let of_pools = of_pools(&domain, self.options, self.settings);
            otherwise = pools::otherwise(self.reporter, fields, of_pools, self.pools);
            otherwise = otherwise.filter(|pool| pools::fits(self.reporter, fields, rate, pool));
            rate.policy = rate.policy.try_name(&policy_name(name, &path)).unwrap_or(rate.policy);
        }
        Some(Arc::new(Limit {
            number: next_number(self.limits),
            path: path.into(),
            names: self.names.iter().map(|name| name.as_str().into()).collect(),
            place: Some(self.reporter.place(at)),
            name: name.into(),
            replaces: replaces.into(),
            key_start: rate.map(|rate| key_start(&domain, &rate)).unwrap_or_default(),
            rate,
            shares: otherwise.is_some() && pools::key_of(fields) == "share",
            otherwise,
            is_pool: false,
            shadow,
            quota,
            detailed_metric,
            values_in_metric: here.values_in_metric,
            metadata,
        }))
    }

    /// All keys that one command charges must be in one slot: those of a request with `all_or_nothing`, or of a limit and
    /// the pools that it shares.
    fn check_slot(&mut self, here: Above, at: Mark, fields: &Entries<'_>) {
        let what = match (self.options.all_or_nothing, pools::key_of(fields)) {
            (true, _) => "all_or_nothing",
            (_, "share") => "share",
            _ => return,
        };
        if !self.settings.cluster {
            return;
        }
        match &self.options.hash_tag {
            None => self.reporter.error(at, format!("{what} needs a hash_tag in a cluster")),
            Some(tag) if !self.keys.iter().any(|key| **key == **tag) => {
                let text = format!("{what} needs the entry '{tag}' of hash_tag in every rule in a cluster");
                self.reporter.error(at, text);
            }
            Some(tag) if here.shares_hash_tag => {
                let text = format!("{what} in a cluster: the entry '{tag}' of hash_tag cannot share_threshold");
                self.reporter.error(at, text);
            }
            Some(_) => {}
        }
    }
}

/// The domain of the configuration of the service that the Lua scripts come from.
fn script_domain(reporter: &mut Reporter<'_>, entries: &Entries<'_>, limits: &mut usize) -> Option<Domain> {
    for (key, _) in entries.iter().filter(|(key, _)| key_text(key) != Some("rate-limiter")) {
        reporter.error(key.at, "a file with 'rate-limiter' has no other key");
    }
    let at = at_of(entries, "rate-limiter");
    let Some(fields) = field(entries, "rate-limiter").and_then(Node::map) else {
        reporter.error(at, "invalid rate-limiter: expected a map");
        return None;
    };
    for (key, _) in fields {
        if !key_text(key).is_some_and(|name| ["use-algo", "window-size", "max-requests"].contains(&name)) {
            reporter.error(key.at, "unknown key in rate-limiter: expected use-algo, window-size or max-requests");
        }
    }
    // Special: the scripts that the module replaces.
    let known = [("fixed-window-algo", Algorithm::Fixed), ("sliding-window-algo", Algorithm::Sliding)];
    let algorithm = reporter.choice(fields, "use-algo", &known);
    let window = reporter.number(fields, "window-size", 1);
    let limit = reporter.number(fields, "max-requests", 0);
    let (Some(algorithm), Some(window), Some(limit)) = (algorithm, window, limit) else {
        reporter.error(at, "rate-limiter needs use-algo, window-size in seconds and max-requests");
        return None;
    };
    let window = Window::Length(Duration::from_secs(window.into()));
    let policy = match Policy::new(algorithm, window, limit.into()) {
        Ok(policy) => policy,
        Err(error) => {
            reporter.error(at, format!("invalid rate-limiter: {error}"));
            return None;
        }
    };
    let limit = Limit {
        number: next_number(limits),
        path: format!("{SCRIPT_DOMAIN}.{SCRIPT_ENTRY}").into(),
        names: [SCRIPT_DOMAIN, SCRIPT_ENTRY].map(Into::into).into(),
        place: Some(reporter.place(at)),
        rate: Some(rate::of_scripts(policy)),
        key_start: format!("{SCRIPT_DOMAIN}:rate_limit:").into(),
        ..Limit::default()
    };
    let mut domain = Domain { script_keys: true, ..Domain::default() };
    domain.root.rules.insert(SCRIPT_ENTRY.into(), Rule { limit: Some(Arc::new(limit)), ..Rule::default() });
    Some(domain)
}
