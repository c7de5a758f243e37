//! What docs/scale.md states of limits that are divided: instances that take their units in batches with PARTIAL,
//! and limits that are split over several keys.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use crate::support::*;

/// N instances spend `limit` + N × (batch − 1) units in one window if each holds a batch, less one unit, at its start.
/// guarantee: grants
#[test]
fn batches_reach_the_bound_and_do_not_exceed_it() {
    const INSTANCES: i64 = 5;
    const BATCH: i64 = 10;
    const LIMIT: i64 = INSTANCES * BATCH;
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let mut take = |command: &str| -> i64 {
            let mut request = redis::cmd(command);
            request.arg(&[command, "2s"]).arg(LIMIT).arg("COST").arg(BATCH).arg("PARTIAL");
            request.query::<[i64; 3]>(&mut con).expect("a reply")[0]
        };
        // Each instance takes a batch and spends one unit of it.
        let mut held = BTreeMap::new();
        for command in ["RL.ROLLING", "RL.SLIDING"] {
            held.insert(command, (0..INSTANCES).map(|_| take(command) - 1).sum::<i64>());
            assert_eq!(held[command], LIMIT - INSTANCES);
            assert_eq!(take(command), 0, "everything is charged");
        }
        // Its other units are spent as soon as the window has passed, and then those of new batches.
        let mut con = server.con();
        for command in held.keys() {
            let mut all = redis::cmd("RL.PEEK");
            all.arg(&command[3..]).arg(&[command, "2s"]).arg(LIMIT).arg("COST").arg(LIMIT).arg("FULL");
            let wait = full(ok(all.query(&mut con))).retry_after_ms;
            thread::sleep(Duration::from_millis(wait.unsigned_abs()));
        }
        let start = Instant::now();
        for (command, held) in held {
            let spent = held + (0..2 * INSTANCES).map(|_| take(command)).sum::<i64>();
            assert_eq!(spent, LIMIT + INSTANCES * (BATCH - 1), "{command}");
        }
        assert!(start.elapsed() < Duration::from_millis(1_900), "too slow for one window");
    });
}

/// A limit over k keys, chosen at random: never above the limit, and when as many units arrive as the limit has, about
/// 0.4 × √(k ÷ limit) of them are denied.
/// guarantee: split
#[test]
fn a_split_limit_denies_a_little_too_early_and_never_allows_too_much() {
    const RUNS: u64 = 300;
    for (keys, limit) in [(4, 1_000), (16, 1_000), (16, 100_000)] {
        let (mut denied, mut requests) = (0, 0);
        for mut random in randoms() {
            for _ in 0..RUNS {
                requests += limit;
                // The first limit % keys keys have one unit more.
                let mut left: Vec<u64> = (0..keys).map(|key| limit / keys + u64::from(key < limit % keys)).collect();
                assert_eq!(left.iter().sum::<u64>(), limit);
                for _ in 0..limit {
                    let key = random.below(keys) as usize;
                    match left[key].checked_sub(1) {
                        Some(less) => left[key] = less,
                        None => denied += 1,
                    }
                }
            }
        }
        let share = f64::from(denied) / requests as f64;
        let stated = 0.4 * (keys as f64 / limit as f64).sqrt();
        assert!((0.8..1.1).contains(&(share / stated)), "{keys} keys of {limit}: {share:.4}, not {stated:.4}");
    }
}
