//! Matching agrees with a naive oracle on generated rules and descriptors.
//! guarantee: rules

mod naive;

use naive::{Rule, agrees, unique};
use proptest::prelude::*;
use rlaas::rules;

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
}
