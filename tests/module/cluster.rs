//! In a cluster the key as given decides the slot, and all that is kept of it lies there.

use crate::support::*;
use redis::Connection;

/// Keys that either form of the counter's name keeps in their slot.
const KEYS: &[&[u8]] = &[
    b"a",
    b"user:42",
    b"a longer key with blanks",
    b"{tag}",
    b"{tag}:1",
    b"before{tag}after",
    b"two{a}{b}",
    b"open{brace",
    b"{",
    b"{{x}",
    b"nul\0and\xff\xfe",
    b"line\r\nend",
    b"star*",
];

/// Keys for which neither does: empty, or with a brace that ends the hash tag too early.
const HOMELESS: &[&[u8]] = &[b"", b"}", b"a}b", b"{}", b"{}a", b"}{"];

fn start(bin: &ServerBin) -> Cluster {
    Cluster::start(bin, 3, |options| options)
}

fn all_keys(con: &mut Connection) -> Vec<Vec<u8>> {
    redis::cmd("KEYS").arg("*").query(con).expect("KEYS")
}

fn slot(con: &mut Connection, key: &[u8]) -> u16 {
    redis::cmd("CLUSTER").arg("KEYSLOT").arg(key).query(con).expect("CLUSTER KEYSLOT")
}

/// How many keys there are, all of them on the node that owns their slot.
#[track_caller]
fn assert_at_home(cluster: &Cluster) -> usize {
    let mut total = 0;
    for node in &cluster.nodes {
        for key in all_keys(&mut node.con()) {
            assert_eq!(node.port(), cluster.owner(&key).port(), "{}", key.escape_ascii());
            total += 1;
        }
    }
    total
}

fn flush(cluster: &Cluster) {
    for node in &cluster.nodes {
        ok(cmd!(node.con(), "FLUSHALL"));
    }
}

/// Windows enough that counters would be scattered all over the slots, were their names hashed whole.
#[test]
fn every_key_lies_on_the_node_that_owns_its_slot() {
    const WINDOWS: i64 = 7;
    for_each_server(|bin| {
        let cluster = start(bin);
        for algorithm in ALGORITHMS {
            for key in KEYS {
                let mut con = cluster.owner(key).con();
                for part in 1..=WINDOWS {
                    let reply = ok(cmd!(con, algorithm.command, key, LONG / part, 20));
                    assert_eq!(redis::from_redis_value::<[i64; 3]>(reply).expect("a reply")[0], 1);
                }
            }
            // Each window has a bucket of its own.
            let each = if algorithm.key_per_window { WINDOWS as usize } else { 1 };
            assert_eq!(assert_at_home(&cluster), KEYS.len() * each, "{algorithm:?}");
            // In the slot of the key as given, too: keys of one tag stay together.
            let node = cluster.owner("{tag}");
            let mut con = node.con();
            let home = slot(&mut con, b"{tag}");
            let in_slot = all_keys(&mut con).into_iter().filter(|key| slot(&mut con, key) == home).count();
            let tagged = KEYS.iter().filter(|key| String::from_utf8_lossy(key).contains("{tag}")).count();
            assert_eq!(in_slot, tagged * each, "{algorithm:?}");
            flush(&cluster);
        }
    });
}

#[test]
fn the_fixed_counter_makes_a_tag_of_a_key_without_one() {
    for_each_server(|bin| {
        let cluster = start(bin);
        let plain = Server::start(bin);
        let bucket = now_ms() / 1_000 / LONG;
        for (key, in_cluster) in [
            ("user:42", "{user:42}"),
            ("open{brace", "{open{brace}"),
            ("{tag}", "{tag}"),
            ("{tag}:1", "{tag}:1"),
            ("x{a}{b}", "x{a}{b}"),
        ] {
            let mut con = cluster.owner(key).con();
            assert_eq!(FIXED.ask(&mut con, key, LONG, 5)[..2], [1, 1]);
            assert_eq!(only_key(&mut con), format!("{in_cluster}:{bucket}"));
            flush(&cluster);
            let mut con = plain.con();
            assert_eq!(FIXED.ask(&mut con, key, LONG, 5)[..2], [1, 1]);
            assert_eq!(only_key(&mut con), format!("{key}:{bucket}"), "no cluster, no tag");
            ok(cmd!(con, "FLUSHALL"));
        }
    });
}

#[test]
fn a_key_that_cannot_stay_in_its_slot_is_refused_by_the_fixed_window_alone() {
    for_each_server(|bin| {
        let cluster = start(bin);
        let plain = Server::start(bin);
        for key in HOMELESS {
            let mut con = cluster.owner(key).con();
            for (limit, before, after) in [
                ("", &["RL.FIXED"][..], &["month", "5", "ANCHOR", "1"][..]),
                ("", &["RL.PEEK", "FIXED"], &["1h", "5"]),
                ("", &["RL.REFUND", "FIXED"], &["1h", "5"]),
                ("", &["RL.SETTLE", "FIXED"], &["day", "5", "RESERVED", "1", "ACTUAL", "2"]),
                ("", &["RL.RESET", "FIXED"], &["1h"]),
                ("limit 1: ", &["RL.MULTI", "1", "FIXED"], &["1h", "5"]),
            ] {
                let command = redis::cmd(before[0]).arg(&before[1..]).arg(key).arg(after).to_owned();
                let refused = err(command.query(&mut con));
                let expected = format!("ERR {limit}invalid key: in a cluster FIXED needs");
                assert!(refused.starts_with(&expected), "{before:?} {}: {refused}", key.escape_ascii());
            }
            assert_eq!(assert_at_home(&cluster), 0);
            for algorithm in ALGORITHMS {
                ok(cmd!(plain.con(), algorithm.command, key, LONG, 5));
                assert_eq!(all_keys(&mut plain.con()).len(), 1, "no cluster, no such rule");
                ok(cmd!(plain.con(), "FLUSHALL"));
                if !algorithm.key_per_window {
                    ok(cmd!(con, algorithm.command, key, LONG, 5));
                    assert_eq!(assert_at_home(&cluster), 1);
                    flush(&cluster);
                }
            }
        }
    });
}

#[test]
fn another_node_redirects_and_charges_nothing() {
    for_each_server(|bin| {
        let cluster = start(bin);
        for algorithm in ALGORITHMS {
            for key in KEYS {
                let owner = cluster.owner(key);
                for node in cluster.nodes.iter().filter(|node| node.port() != owner.port()) {
                    let mut con = node.con();
                    let moved = err(cmd!(con, algorithm.command, key, LONG, 5));
                    let slot = slot(&mut con, key);
                    assert_eq!(moved, format!("MOVED {slot} 127.0.0.1:{}", owner.port()));
                }
            }
        }
        assert_eq!(assert_at_home(&cluster), 0);
    });
}

/// A client that follows redirections counts as it would on one server.
#[test]
fn a_cluster_client_counts_on() {
    for_each_server(|bin| {
        let cluster = start(bin);
        let mut client = cluster.client().get_connection().expect("a connection");
        for algorithm in ALGORITHMS {
            for at in 0..40 {
                // A slot of its own for each, so that every node has some.
                let key = format!("{}:{at}", algorithm.command);
                let allowed = (0..4).map(|_| {
                    let reply: [i64; 3] = algorithm.request(&key, LONG, 3, 1).query(&mut client).expect("a reply");
                    reply[0]
                });
                assert_eq!(allowed.collect::<Vec<_>>(), [1, 1, 1, 0], "{key}");
            }
        }
        assert_eq!(assert_at_home(&cluster), 40 * ALGORITHMS.len());
        for node in &cluster.nodes {
            assert!(!all_keys(&mut node.con()).is_empty());
        }
    });
}

#[test]
fn several_limits_share_a_slot() {
    for_each_server(|bin| {
        let cluster = start(bin);
        for algorithm in ALGORITHMS {
            let ask = |node: &Server, keys: [&str; 2]| {
                let mut request = redis::cmd("RL.MULTI");
                request.arg(2);
                for (key, algorithm) in keys.iter().zip([algorithm, &FIXED]) {
                    request.arg(algorithm.word()).arg(key).arg(LONG).arg(5);
                }
                request.query(&mut node.con())
            };
            let home = cluster.owner("{tag}");
            let away = cluster.nodes.iter().find(|node| node.port() != home.port()).expect("another node");
            let mut con = home.con();
            let slot = slot(&mut con, b"tag");
            assert!(err(ask(home, ["{tag}1", "{gat}1"])).starts_with("CROSSSLOT "));
            assert_eq!(err(ask(away, ["{tag}1", "{tag}2"])), format!("MOVED {slot} 127.0.0.1:{}", home.port()));
            assert_eq!(assert_at_home(&cluster), 0);
            ok(ask(home, ["{tag}1", "{tag}2"]));
            // A tag and the key that it makes lie in one slot, whatever the counter is called.
            ok(ask(home, ["{tag}3", "tag"]));
            assert_eq!(assert_at_home(&cluster), 4);
            flush(&cluster);
        }
    });
}
