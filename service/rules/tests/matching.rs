//! Matching agrees with a naive oracle on generated rules and descriptors.

mod naive;

use naive::{Rule, agrees, unique};
use proptest::prelude::*;
use rlaas_rules as rules;

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
