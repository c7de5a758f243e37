//! Matching agrees with a naive oracle on generated rules and descriptors, and nothing in a file ends the service.
//! guarantee: rules

mod naive;

use naive::{Rule, agrees, unique, write};
use proptest::prelude::*;
use rlaas::rules::{self, Settings, Source};

fn some_rules() -> impl Strategy<Value = Vec<Rule>> {
    let rule = |below: BoxedStrategy<Vec<Rule>>| {
        ("[ab*]{1,2}|a_b", "|[ab*_]{1,3}", any::<bool>(), any::<bool>(), below)
            .prop_map(|(key, value, limited, share, below)| Rule { key, value, limited, share, below })
    };
    let leaf = prop::collection::vec(rule(Just(Vec::new()).boxed()), 0..5).prop_map(unique).boxed();
    let middle = prop::collection::vec(rule(leaf), 0..5).prop_map(unique).boxed();
    prop::collection::vec(rule(middle), 1..6).prop_map(unique)
}

fn some_entries() -> impl Strategy<Value = Vec<(String, String)>> {
    prop::collection::vec(("[ab]{1,2}|a_b|a\\*", "[ab_*]{0,3}"), 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn agrees_with_a_naive_oracle(rules in some_rules(), descriptors in prop::collection::vec(some_entries(), 1..12)) {
        agrees(&rules, &descriptors);
    }

    /// Damaged files are rejected or read, and never end the service.
    #[test]
    fn no_file_ends_it(rules in some_rules(), edits in prop::collection::vec((any::<prop::sample::Index>(), "[ -~\n]{0,3}"), 1..8)) {
        let mut text = "domain: d\nall_or_nothing: true\ndescriptors:\n".to_owned();
        write(&rules, "", 2, &mut text);
        for (at, with) in edits {
            let at = at.index(text.len());
            text.replace_range(at..=at, &with);
            if text.is_empty() {
                break;
            }
        }
        let (loaded, findings) = rules::load(&[Source { name: "x".into(), text }], Settings::default());
        prop_assert_eq!(loaded.is_none(), !findings.errors.is_empty());
    }

    #[test]
    fn no_text_ends_it(text in "[ -~\n]{0,60}|[-:{}\\[\\]&*!|>'\"#%@`,?a\n ]{0,40}|\\PC{0,30}") {
        let (loaded, findings) = rules::load(&[Source { name: "x".into(), text }], Settings::default());
        prop_assert_eq!(loaded.is_none(), !findings.errors.is_empty());
    }
}
