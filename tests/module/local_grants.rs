//! What docs/scale.md states of limits that are divided: instances that take their units in batches with PARTIAL,
//! and limits that are split over several keys.

use std::collections::{BTreeMap, VecDeque};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::*;

/// N instances spend `limit` + N × (batch − 1) units in one window if each holds a batch, less one unit, at its start.
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

/// How instances use what they were granted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Grants {
    /// Until it is spent.
    Kept,
    /// For so many ms.
    For(u64),
}

/// What an exact sliding window grants, at most `limit` in any window. Times are in ms.
struct Log {
    window: u64,
    limit: u64,
    charged: VecDeque<(u64, u64)>,
}

impl Log {
    fn grant(&mut self, now: u64, batch: u64) -> u64 {
        self.charged.retain(|(at, _)| at + self.window > now);
        let used: u64 = self.charged.iter().map(|(_, units)| units).sum();
        let granted = batch.min(self.limit - used);
        self.charged.push_back((now, granted));
        granted
    }
}

/// The most units that instances with random traffic spend in any window, and the requests to the server for each
/// unit that was spent.
fn simulate(seed: u64, [instances, batch, limit, window]: [u64; 4], grants: Grants) -> (u64, f64) {
    let mut random = Random::new(seed);
    let mut log = Log { window, limit, charged: VecDeque::new() };
    let mut held = vec![(0_u64, 0_u64); instances as usize];
    let (mut spent, mut most, mut total, mut requests) = (VecDeque::new(), 0, 0_u64, 0_u64);
    // All instances are quiet and busy at the same times, which is the worst case.
    let mut now = 0;
    for _ in 0..50 {
        let (busy, step) = (random.below(3 * instances * batch), 1 + random.below(3));
        for _ in 0..busy {
            let instance = random.below(instances) as usize;
            let (units, since) = &mut held[instance];
            if let Grants::For(ms) = grants
                && *since + ms <= now
            {
                *units = 0;
            }
            if *units == 0 {
                requests += 1;
                (*units, *since) = (log.grant(now, batch), now);
            }
            if *units > 0 {
                *units -= 1;
                total += 1;
                spent.push_back(now);
            }
            now += random.below(step);
            while spent.front().is_some_and(|at| at + window <= now) {
                spent.pop_front();
            }
            most = most.max(spent.len() as u64);
        }
        now += random.below(window);
    }
    (most, requests as f64 / total as f64)
}

#[test]
fn random_traffic_stays_within_the_bound() {
    let mut above = 0;
    for seed in 0..100 {
        let mut random = Random::new(seed);
        let [instances, batch] = [1 + random.below(8), 1 + random.below(20)];
        let limit = instances * batch + random.below(50);
        let window = 50 + random.below(200);
        let shape = [instances, batch, limit, window];
        let late = instances * (batch - 1);
        let (kept, _) = simulate(seed, shape, Grants::Kept);
        assert!(kept <= limit + late, "{shape:?}: {kept}");
        above += usize::from(kept > limit);
        let (none, _) = simulate(seed, shape, Grants::For(0));
        assert!(none <= limit, "{shape:?}: {none}, though no unit is spent later");
        let (short, _) = simulate(seed, shape, Grants::For(window / 10));
        assert!(short <= limit + late, "{shape:?}: {short}");
        // Less by what can be late: never above the limit itself.
        if limit > late {
            let (less, _) = simulate(seed, [instances, batch, limit - late, window], Grants::Kept);
            assert!(less <= limit, "{shape:?}: {less}");
        }
    }
    assert!(above > 30, "the traffic is not hard enough: {above} of 100 exceed the limit");
}

/// Far below the limit, a request is sent for each batch.
#[test]
fn a_batch_is_one_request() {
    let (_, requests) = simulate(1, [4, 20, 1_000_000_000, 100], Grants::Kept);
    assert!((0.05..0.052).contains(&requests), "{requests}");
}

/// A limit over k keys, chosen at random: never above the limit, and when as many units arrive as the limit has, about
/// 0.4 × √(k ÷ limit) of them are denied.
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
