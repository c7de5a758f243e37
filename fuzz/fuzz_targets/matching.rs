//! Rules and descriptors: the rule that a descriptor gets is that of the naive oracle of the service's tests, and two
//! descriptors have one key only if they share a limit.
//! guarantee: rules

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;

#[path = "../../service/tests/naive/mod.rs"]
mod naive;
#[path = "../../service/src/rules/mod.rs"]
#[expect(dead_code, unused_imports, reason = "the service uses the rest")]
mod rules;

/// A few letters, so that rules meet descriptors; the last ones are separators of keys, or stand for something else in a
/// file or a pattern.
const LETTERS: [char; 10] = ['a', 'b', '_', '*', 'ä', ' ', ':', ',', '=', '%'];

#[derive(Arbitrary, Debug)]
struct Text(Vec<u8>);

impl Text {
    fn get(&self, most: usize) -> String {
        self.0.iter().take(most).map(|&byte| LETTERS[usize::from(byte) % LETTERS.len()]).collect()
    }
}

#[derive(Arbitrary, Debug)]
struct Rule {
    key: Text,
    value: Text,
    limited: bool,
    share: bool,
    below: Vec<Rule>,
}

fn rules_of(rules: &[Rule], depth: usize) -> Vec<naive::Rule> {
    let rules = rules.iter().take(6).filter(|rule| !rule.key.0.is_empty()).map(|rule| naive::Rule {
        key: rule.key.get(3),
        value: rule.value.get(5),
        limited: rule.limited,
        share: rule.share,
        below: if depth < 3 { rules_of(&rule.below, depth + 1) } else { Vec::new() },
    });
    naive::unique(rules.collect())
}

fuzz_target!(|input: (Vec<Rule>, Vec<Vec<(Text, Text)>>)| {
    let (rules, descriptors) = input;
    let descriptor = |entries: &Vec<(Text, Text)>| {
        entries.iter().take(4).map(|(key, value)| (key.get(3), value.get(5))).collect()
    };
    let descriptors: Vec<_> = descriptors.iter().take(12).map(descriptor).collect();
    let rules = rules_of(&rules, 1);
    if !rules.is_empty() {
        naive::agrees(&rules, &descriptors);
    }
});
