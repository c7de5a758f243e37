//! Matching agrees with a naive oracle on generated rules and descriptors.

use std::collections::HashSet;

use proptest::prelude::*;
use rlaas_rules::{self as rules, Settings, Source};

/// A rule as the oracle sees it. The number of its limit tells rules apart.
#[derive(Clone, Debug)]
struct Rule {
    key: String,
    value: String,
    limited: bool,
    share: bool,
    below: Vec<Self>,
}

impl Rule {
    fn name(&self) -> String {
        if self.value.is_empty() { self.key.clone() } else { format!("{}_{}", self.key, self.value) }
    }
}

/// Whether a text fits a pattern: tries every length for each star.
fn fits(pattern: &[u8], text: &[u8]) -> bool {
    match pattern {
        [] => text.is_empty(),
        [b'*', rest @ ..] => (0..=text.len()).any(|taken| fits(rest, &text[taken..])),
        [c, rest @ ..] => text.first() == Some(c) && fits(rest, &text[1..]),
    }
}

/// The places of the rules that a descriptor gets, one a level: `None` if no rule fits.
fn oracle(rules: &[Rule], entries: &[(String, String)]) -> Option<Vec<usize>> {
    let ((key, value), rest) = entries.split_first()?;
    let joined = format!("{key}_{value}");
    let exact = rules.iter().position(|rule| rule.name() == joined);
    let star =
        || rules.iter().position(|rule| rule.name().contains('*') && fits(rule.name().as_bytes(), joined.as_bytes()));
    let alone = || rules.iter().position(|rule| rule.name() == *key);
    let at = exact.or_else(star).or_else(alone)?;
    if rest.is_empty() {
        return rules[at].limited.then(|| vec![at]);
    }
    let mut places = oracle(&rules[at].below, rest)?;
    places.insert(0, at);
    Some(places)
}

/// Writes rules, and gives each limit the place of its rule as a name.
fn write(rules: &[Rule], place: &str, indent: usize, out: &mut String) {
    let pad = " ".repeat(indent);
    for (i, rule) in rules.iter().enumerate() {
        let place = format!("{place}{i}.");
        *out += &format!("{pad}- key: '{}'\n{pad}  value: '{}'\n", rule.key, rule.value);
        if rule.share && rule.name().contains('*') {
            *out += &format!("{pad}  share_threshold: true\n");
        }
        if rule.limited {
            *out += &format!("{pad}  rate_limit: {{name: '{place}', unit: day, requests_per_unit: 1}}\n");
        }
        if !rule.below.is_empty() {
            *out += &format!("{pad}  descriptors:\n");
            write(&rule.below, &place, indent + 4, out);
        }
    }
}

/// Only the first rule of each name.
fn unique(rules: Vec<Rule>) -> Vec<Rule> {
    let mut names = HashSet::new();
    rules.into_iter().filter(|rule| names.insert(rule.name())).collect()
}

/// Loads the rules, and compares what each descriptor gets.
fn agrees(rules: &[Rule], descriptors: &[Vec<(String, String)>]) {
    let mut text = "domain: d\ndescriptors:\n".to_owned();
    write(rules, "", 2, &mut text);
    let (loaded, findings) = rules::load(&[Source { name: "x".into(), text: text.clone() }], &Settings::default());
    let Some(loaded) = loaded else { panic!("{:?}\n{text}", findings.errors) };
    let domain = &loaded.domains["d"];
    let mut keys: Vec<(String, Vec<String>)> = Vec::new();
    for entries in descriptors {
        let borrowed: Vec<_> = entries.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        let found = domain.find(&borrowed);
        let expected =
            oracle(rules, entries).map(|places| places.iter().map(|place| format!("{place}.")).collect::<String>());
        assert_eq!(found.as_ref().map(|found| found.limit.name.to_string()), expected, "{:?}\n{}", entries, text);
        let Some(found) = found else { continue };
        // One key means one limit, and the same entries but for values that the rules share.
        let key = rules::key("", domain, &borrowed, &found);
        let mut what = vec![found.limit.name.to_string()];
        for (i, (entry, value)) in entries.iter().enumerate() {
            let shared = found.shared.iter().any(|(at, _)| *at == i);
            what.push(if shared { entry.clone() } else { format!("{entry}\0{value}") });
        }
        for (other, whose) in &keys {
            assert_eq!(*other == key, *whose == what, "{} {}\n{:?}\n{:?}\n{}", key, other, what, whose, text);
        }
        keys.push((key, what));
    }
}

fn some_rules() -> impl Strategy<Value = Vec<Rule>> {
    let rule = |below: BoxedStrategy<Vec<Rule>>| {
        // Some are separators of keys, or stand for something else in a file or a pattern.
        ("[ab*]{1,2}|a_b|[ab_*ä :,=%]{1,3}", "|[ab*_]{1,3}|[ab_*ä :,=%]{1,5}", any::<bool>(), any::<bool>(), below)
            .prop_map(|(key, value, limited, share, below)| Rule { key, value, limited, share, below })
    };
    let leaf = prop::collection::vec(rule(Just(Vec::new()).boxed()), 0..5).prop_map(unique).boxed();
    let middle = prop::collection::vec(rule(leaf), 0..5).prop_map(unique).boxed();
    prop::collection::vec(rule(middle), 1..6).prop_map(unique)
}

fn some_entries() -> impl Strategy<Value = Vec<(String, String)>> {
    prop::collection::vec(("[ab]{1,2}|a_b|a\\*|[ab_*ä :,=%]{1,3}", "[ab_*]{0,3}|[ab_*ä :,=%]{0,5}"), 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn agrees_with_a_naive_oracle(rules in some_rules(), descriptors in prop::collection::vec(some_entries(), 1..12)) {
        agrees(&rules, &descriptors);
    }
}
