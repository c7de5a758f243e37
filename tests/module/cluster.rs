//! In a cluster the counter of FIXED has the key as its hash tag. That every key is in its slot is in commands.rs.

use crate::support::*;

const CALLS: [&str; 6] = [
    "RL.FIXED KEY 1000000000 5",
    "RL.PEEK FIXED KEY 1000000000 5",
    "RL.REFUND FIXED KEY 1000000000 5",
    "RL.SETTLE FIXED KEY 1000000000 5 RESERVED 1 ACTUAL 2",
    "RL.MULTI 1 FIXED KEY 1000000000 5",
    "RL.RESET FIXED KEY 1000000000",
];

#[test]
fn the_counter_of_fixed_stays_in_the_slot_of_its_key() {
    for_each_server(|bin| {
        let cluster = Cluster::start(bin, 2, |options| options);
        for (key, tagged) in [
            ("user:42", "{user:42}"),
            ("open{brace", "{open{brace}"),
            ("{tag}", "{tag}"),
            ("{tag}:1", "{tag}:1"),
            ("x{a}{b}", "x{a}{b}"),
        ] {
            let mut con = cluster.owner(key).con();
            for call in CALLS {
                ok(send(&mut con, &call.replace("KEY", key)));
                let expected = if call.contains("RESET") { vec![] } else { vec![format!("{tagged}:1")] };
                assert_eq!(keys(&mut con), expected, "{call}");
            }
        }
        // Keys for which no name stays there: empty, or with a brace that ends the hash tag too early.
        for key in ["", "}", "a}b", "{}", "{}a", "}{"] {
            let mut con = cluster.owner(key).con();
            for call in CALLS {
                let limit = if call.contains("MULTI") { "limit 1: " } else { "" };
                let text = err(send(&mut con, &call.replace("KEY", key)));
                assert!(
                    text.starts_with(&format!("ERR {limit}invalid key: in a cluster FIXED needs")),
                    "{call}: {text}"
                );
            }
            // The other algorithms have no other key, but with RESERVE.
            ok(send(&mut con, &format!("RL.COUNTER {key} 1h 5")));
            let text = err(send(&mut con, &format!("RL.COUNTER {key} 1h 5 RESERVE a 1m")));
            assert!(text.starts_with("ERR invalid key: in a cluster "), "{text}");
        }
    });
}
