//! `--overrides`: algorithms for rules that name none, as those of a control plane.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use super::defaults::{CALENDARS, Defaults};
use super::fields::{Entries, Findings, Reporter};
use super::files::Source;
use super::model::{Domain, Rules};
use super::problem::{Mark, Place, Problem, quoted};
use super::rate::algorithms;
use super::yaml::{self, Node};

/// What a rule can get, besides calendars.
const OPTIONS: [&str; 2] = ["algorithm", "unit_scale"];

/// What rules get that name no algorithm.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    all: Defaults,
    domains: BTreeMap<String, (Defaults, Place)>,
    /// By the `name` of the limit, or by the path of its rule: `domain.key_value`.
    rules: BTreeMap<String, (Defaults, Place)>,
}

impl Overrides {
    /// Reads the file.
    ///
    /// # Errors
    /// It cannot be read, or what is wrong with it, with file:line:column.
    pub fn read(path: &Path) -> Result<Self, String> {
        Self::load(&Source::read(path)?)
    }

    /// Reads the text of the file.
    ///
    /// # Errors
    /// What is wrong with it, with file:line:column.
    pub fn load(source: &Source) -> Result<Self, String> {
        let mut findings = Findings::default();
        let mut reporter = Reporter { file: source.name.as_str().into(), findings: &mut findings };
        let mut overrides = Self::default();
        match yaml::parse(&source.text) {
            Ok(node) if node.as_ref().is_none_or(Node::is_null) => {}
            Ok(node) => overrides.add(&mut reporter, node.as_ref()),
            Err((at, text)) => reporter.error(at, text),
        }
        let errors: Vec<_> = findings.errors.iter().map(ToString::to_string).collect();
        if errors.is_empty() { Ok(overrides) } else { Err(errors.join("\n")) }
    }

    fn add(&mut self, reporter: &mut Reporter<'_>, node: Option<&Node<'_>>) {
        let Some(entries) = node.and_then(Node::map) else {
            return reporter.error(Mark::default(), "overrides must be a map");
        };
        self.all = defaults(reporter, entries, &["domains", "rules"]);
        for (group, of_group) in [("domains", &mut self.domains), ("rules", &mut self.rules)] {
            let named =
                reporter.get(entries, group, "a map from names to what they get", Node::map).unwrap_or_default();
            for (name, value) in named {
                match name.text().zip(value.map()) {
                    Some((name, entries)) => {
                        let found = defaults(reporter, entries, &[]);
                        of_group.insert(name.to_owned(), (found, reporter.place(value.at)));
                    }
                    None => reporter.error(value.at, "expected a map with what it gets"),
                }
            }
        }
    }

    /// What a rule gets: what is said about it, else about its domain, else about all.
    pub fn of(&self, domain: &str, path: &str, name: &str) -> Defaults {
        let rule = self.rules.get(name).filter(|_| !name.is_empty()).or_else(|| self.rules.get(path));
        let narrower = self.domains.get(domain).into_iter().chain(rule);
        narrower.fold(self.all, |wider, (defaults, _)| wider.and(*defaults))
    }

    /// A name that no domain and no rule has is a mistake, or the rules are no more.
    pub fn warn_of_unused(&self, rules: &Rules, findings: &mut Findings) {
        if self.domains.is_empty() && self.rules.is_empty() {
            return;
        }
        let limits: Vec<_> = rules.domains.values().flat_map(Domain::limits).collect();
        let names: HashSet<_> = limits.iter().flat_map(|limit| [&*limit.name, &*limit.path]).collect();
        let domains = self.domains.iter().filter(|(name, _)| !rules.domains.contains_key(name.as_str()));
        let unused = domains.chain(self.rules.iter().filter(|(name, _)| !names.contains(name.as_str())));
        findings.warnings.extend(unused.map(|(name, (_, place))| Problem {
            place: place.clone(),
            text: format!("no domain or rule has the name {}", quoted(name)),
        }));
    }
}

fn defaults(reporter: &mut Reporter<'_>, entries: &Entries<'_>, others: &[&str]) -> Defaults {
    let units = CALENDARS.map(|(word, ..)| word);
    for (key, _) in entries {
        let name = key.text().unwrap_or_default();
        if !OPTIONS.contains(&name) && !units.contains(&name) && !others.contains(&name) {
            let known = OPTIONS.iter().chain(&units).chain(others);
            let known = known.copied().collect::<Vec<_>>().join(", ");
            reporter.error(key.at, format!("unknown key {}: expected one of {known}", quoted(name)));
        }
    }
    // These rules charge what they deny.
    let known: Vec<_> = algorithms().filter(|(_, algorithm)| algorithm.traits().always).collect();
    let calendar = |text: &str| (text == "calendar").then_some(true);
    Defaults {
        algorithm: reporter.choice(entries, "algorithm", &known),
        unit_scale: reporter.number(entries, "unit_scale", 1),
        calendars: units.map(|unit| {
            reporter.get(entries, unit, "calendar", |node| node.text().and_then(calendar)).unwrap_or(false)
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Settings, load};

    fn overrides(text: &str) -> Result<Overrides, String> {
        Overrides::load(&Source { name: "o.yaml".to_owned(), text: text.to_owned() })
    }

    /// The limits of some rules under overrides, and the warnings.
    fn limits(overrides_text: &str) -> (Vec<String>, Vec<String>) {
        const RULES: &str = "domain: d
descriptors:
  - {key: a, rate_limit: {unit: month, requests_per_unit: 5}}
  - {key: b, rate_limit: {unit: day, requests_per_unit: 5, name: b name}}
  - {key: c, rate_limit: {unit: day, requests_per_unit: 5, algorithm: gcra}}
  - {key: e, rate_limit: {unit: day, requests_per_unit: 5, anchor: 2026-01-15T00:00:00Z}}
  - {key: f, rate_limit: {window: 30d, requests_per_unit: 5, grants: 2}}
instances: 1
";
        let source = |domain: &str| Source { name: domain.to_owned(), text: RULES.replace("domain: d", domain) };
        let overrides = overrides(overrides_text).unwrap_or_else(|error| panic!("{error}")).into();
        let settings = Settings { overrides, ..Settings::default() };
        let (rules, findings) = load(&[source("domain: d"), source("domain: e\nall_or_nothing: false")], &settings);
        let rules = rules.unwrap_or_else(|| panic!("{:?}", findings.errors)).to_string();
        let shown = |line: &str| line.split(", at").next().unwrap_or_default().to_owned();
        (rules.lines().map(shown).collect(), findings.warnings.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn the_narrowest_says_the_algorithm_and_a_calendar_wins() {
        let (rules, warnings) = limits(
            "algorithm: rolling\nmonth: calendar\ndomains: {e: {algorithm: counter, week: calendar}, gone: {}}\n\
             rules: {b name: {algorithm: token}, e.a: {algorithm: window}, d.f: {algorithm: token}, x: {}, e.c: {unit_scale: 10}, d.b: {algorithm: rolling}}\n",
        );
        let expected = [
            "d.a: FIXED month 5, charge always",
            "d.b: TOKEN 86400 5 AS b_name, charge always",
            // What a rule says itself is no default, and grants charge what is allowed.
            "d.c: GCRA 86400 5, charge allowed",
            "d.e: FIXED 86400 5 ANCHOR 1768435200, charge always",
            "d.f: TOKEN 2592000 5, charge allowed, grants 2",
            "e.a: FIXED month 5, charge always",
            "e.b: TOKEN 86400 5 AS b_name, charge always",
            "e.c: GCRA 86400 50, charge allowed, unit_scale 10",
            "e.e: FIXED 86400 5 ANCHOR 1768435200, charge always",
            "e.f: COUNTER 2592000 5, charge allowed, grants 2",
        ];
        assert_eq!(rules, expected);
        let unused =
            ["o.yaml:3:58: no domain or rule has the name 'gone'", "o.yaml:4:91: no domain or rule has the name 'x'"];
        assert_eq!(warnings, unused);
        assert_eq!(limits(""), limits("{}"));
    }

    #[test]
    fn a_wrong_file_says_where() {
        for (text, expected) in [
            ("algorithm: gcra", "o.yaml:1:12: invalid algorithm: expected fixed, window, counter, token or rolling"),
            ("algorithm: leaky", "o.yaml:1:12: invalid algorithm: "),
            ("month: 30d", "o.yaml:1:8: invalid month: expected calendar"),
            (
                "hour: calendar",
                "o.yaml:1:1: unknown key 'hour': expected one of algorithm, unit_scale, day, week, month, year, domains, rules",
            ),
            (
                "domains: {d: {rules: {}}}",
                "o.yaml:1:15: unknown key 'rules': expected one of algorithm, unit_scale, day, week, month, year",
            ),
            ("domains: [d]", "o.yaml:1:10: invalid domains: expected a map from names to what they get"),
            ("rules: {r: rolling}", "o.yaml:1:12: expected a map with what it gets"),
            ("- rolling", "o.yaml: overrides must be a map"),
            ("a: [", "o.yaml:"),
        ] {
            let error = overrides(text).expect_err(text);
            assert!(error.starts_with(expected), "{text}: {error}");
        }
        assert!(Overrides::read(Path::new("/none")).is_err());
    }
}
