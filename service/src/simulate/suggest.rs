//! Which limit a rule needs: every key is replayed under other limits as well, as if no other rule denied.

use redis_rl_algorithm::{Policy as Terms, Suggest};
use rlaas_rules::Rate;
use serde::Serialize;

use super::keys::{self, Ask, Keys};

/// More than any limit of a rule, and far from what a counter can hold.
const NO_LIMIT: u64 = 1 << 52;
/// How many requests are kept of a rule whose limit is a rate: 16 bytes each.
const MAX_EVENTS: usize = 20_000_000;

/// A rule under other limits.
#[derive(Debug)]
pub struct Probe {
    rate: Rate,
    terms: Terms,
    demand: Demand,
    half: Trial,
    twice: Trial,
}

/// What the keys would take if nothing denied them.
#[derive(Debug)]
enum Demand {
    /// What is counted does not depend on the limit: the largest count of each key is the limit that it needs.
    Counts(Box<dyn Keys>, Vec<u64>),
    /// The rate depends on the limit, so the requests of each key are kept: when, and how many units.
    Events { keys: Vec<Vec<(i64, u64)>>, len: usize, left_out: u64 },
}

/// The keys under another limit.
#[derive(Debug)]
struct Trial {
    keys: Box<dyn Keys>,
    limit: u64,
    denied: u64,
    /// By the numbers of the keys.
    denies: Vec<bool>,
}

/// The limit that a rule needs.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Suggestion {
    /// The share of keys that it never denies.
    pub share_percent: f64,
    pub limit: u64,
    pub burst: Option<u64>,
    /// How many keys it would deny.
    pub keys_denied: usize,
    /// Requests that were not looked at, because there are too many.
    pub left_out: u64,
    pub half: Other,
    pub twice: Other,
}

/// What another limit does.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Other {
    pub limit: u64,
    pub denied: u64,
    pub keys_denied: usize,
}

impl Probe {
    /// `None` if no limit can be suggested for the algorithm, or if the policy cannot be represented with another one.
    pub fn new(rate: &Rate) -> Option<Self> {
        let terms = rate.policy.terms();
        let other =
            |limit| Some(Trial { keys: with_limit(rate, &terms, limit)?, limit, denied: 0, denies: Vec::new() });
        let demand = match rate.policy.algorithm().traits().suggest {
            Suggest::Trying => Demand::Events { keys: Vec::new(), len: 0, left_out: 0 },
            Suggest::Counting => Demand::Counts(with_limit(rate, &terms, NO_LIMIT)?, Vec::new()),
            Suggest::Never => return None,
        };
        Some(Self {
            rate: *rate,
            terms,
            demand,
            half: other(terms.limit.div_ceil(2))?,
            twice: other(terms.limit.saturating_mul(2))?,
        })
    }

    /// Adds a request of a key.
    pub fn add(&mut self, key: usize, time: i64, units: u64) {
        let ask = Ask::new(time, units, &self.rate);
        self.half.add(key, ask);
        self.twice.add(key, ask);
        match &mut self.demand {
            Demand::Counts(keys, most) => {
                let used = keys.ask(key, ask, true).used;
                most.resize(most.len().max(key + 1), 0);
                most[key] = most[key].max(used);
            }
            Demand::Events { keys, len, left_out } => {
                keys.resize_with(keys.len().max(key + 1), Vec::new);
                match keys[key].last_mut() {
                    // If the sum is allowed, so is each of them.
                    Some((last, sum)) if *last == time => *sum = sum.saturating_add(units),
                    _ if *len < MAX_EVENTS => {
                        *len += 1;
                        keys[key].push((time, units));
                    }
                    _ => *left_out += 1,
                }
            }
        }
    }

    /// The smallest limit under which so many of all keys are never denied; `None` without a key.
    pub fn suggest(&self, share: f64) -> Option<Suggestion> {
        let (all, left_out) = match &self.demand {
            Demand::Counts(_, most) => (most.len(), 0),
            Demand::Events { keys, left_out, .. } => (keys.len(), *left_out),
        };
        let wanted = ((all as f64 * share).ceil() as usize).clamp(1, all.max(1));
        let most = match &self.demand {
            Demand::Counts(_, most) => most.iter().copied().max()?,
            Demand::Events { keys, .. } => {
                let sum =
                    |events: &Vec<(i64, u64)>| events.iter().fold(0_u64, |sum, (_, units)| sum.saturating_add(*units));
                let units = keys.iter().map(sum).max()?;
                // The limit whose burst is as much as the key ever took.
                let burst = self.terms.burst.unwrap_or(self.terms.limit).max(1);
                let limit = u128::from(units) * u128::from(self.terms.limit.max(1)) / u128::from(burst) + 1;
                u64::try_from(limit).unwrap_or(u64::MAX)
            }
        };
        // The keys between: not yet known to need at most `low`, nor more than `high`.
        let (mut low, mut high, mut enough) = (1, most.max(1), 0);
        let mut between: Vec<usize> = (0..all).collect();
        while low < high {
            let middle = low + (high - low) / 2;
            let (fit, more): (Vec<_>, Vec<_>) = between.into_iter().partition(|key| self.fits(*key, middle));
            if enough + fit.len() >= wanted {
                (high, between) = (middle, fit);
            } else {
                enough += fit.len();
                (low, between) = (middle + 1, more);
            }
        }
        let keys_denied = (0..all).filter(|key| !self.fits(*key, high)).count();
        Some(Suggestion {
            share_percent: share * 100.0,
            limit: high,
            burst: self.terms.burst.map(|_| burst(&self.terms, high)),
            keys_denied,
            left_out,
            half: self.half.figures(),
            twice: self.twice.figures(),
        })
    }

    /// Whether a limit never denies a key.
    fn fits(&self, key: usize, limit: u64) -> bool {
        match &self.demand {
            Demand::Counts(_, most) => most[key] <= limit,
            Demand::Events { keys, .. } => {
                let Some(mut table) = with_limit(&self.rate, &self.terms, limit) else { return true };
                keys[key].iter().all(|&(time, units)| table.ask(0, Ask::new(time, units, &self.rate), true).allowed)
            }
        }
    }
}

impl Trial {
    fn add(&mut self, key: usize, ask: Ask) {
        self.denies.resize(self.denies.len().max(key + 1), false);
        if !self.keys.ask(key, ask, true).allowed {
            self.denied += 1;
            self.denies[key] = true;
        }
    }

    fn figures(&self) -> Other {
        let keys_denied = self.denies.iter().filter(|denied| **denied).count();
        Other { limit: self.limit, denied: self.denied, keys_denied }
    }
}

/// The burst that has the same ratio to another limit, rounded up.
fn burst(terms: &Terms, limit: u64) -> u64 {
    let scaled = u128::from(terms.burst.unwrap_or(limit)) * u128::from(limit);
    u64::try_from(scaled.div_ceil(u128::from(terms.limit.max(1)))).unwrap_or(NO_LIMIT).clamp(1, NO_LIMIT)
}

fn with_limit(rate: &Rate, terms: &Terms, limit: u64) -> Option<Box<dyn Keys>> {
    let terms = Terms { limit, burst: terms.burst.map(|_| burst(terms, limit)), ..*terms };
    keys::new(rate.policy.algorithm(), &terms).ok().flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use redis_rl_client::Algorithm;

    use super::*;
    use rlaas_rules::{Charge, Unit};

    /// Those of rules for which a limit can be suggested.
    fn algorithms() -> Vec<Algorithm> {
        let suggests = |algorithm: &Algorithm| algorithm.traits().suggest != Suggest::Never;
        rlaas_rules::algorithms().map(|(_, algorithm)| algorithm).filter(suggests).collect()
    }

    proptest! {
        #[test]
        fn a_suggested_limit_is_the_smallest(
            algorithm in prop::sample::select(algorithms()),
            burst in prop::option::of(1_u64..9),
            always: bool,
            share in prop::sample::select(vec![0.5, 0.8, 1.0]),
            requests in prop::collection::vec((0_i64..3_000_000, 0_usize..6, 0_u64..4), 1..60),
        ) {
            let traits = algorithm.traits();
            let burst = burst.filter(|_| traits.burst).map(|burst| format!(" BURST {burst}")).unwrap_or_default();
            let policy = format!("{} 1 4{burst}", algorithm.word()).parse().expect("a policy");
            let charge = if always && traits.always { Charge::Always } else { Charge::Allowed };
            let rate = Rate { policy, unit: Unit::Second, charge, grants: None, unit_scale: 1 };
            let mut probe = Probe::new(&rate).expect("limits");
            let mut time = 1_700_000_000_000_000;
            let requests: Vec<_> = requests.into_iter().map(|(after, key, units)| { time += after; (time, key, units) }).collect();
            requests.iter().for_each(|&(time, key, units)| probe.add(key, time, units));
            // What is denied under a limit, by replaying all of it.
            let keys = requests.iter().map(|(_, key, _)| key + 1).max().expect("a request");
            let allowed = |limit| {
                let mut table = with_limit(&rate, &probe.terms, limit).expect("a limit");
                let mut denied = vec![false; keys];
                requests.iter().for_each(|&(time, key, units)| denied[key] |= !table.ask(key, Ask::new(time, units, &rate), true).allowed);
                denied.iter().filter(|denied| !**denied).count()
            };
            let wanted = (keys as f64 * share).ceil() as usize;
            let found = probe.suggest(share).expect("a key");
            prop_assert!(allowed(found.limit) >= wanted, "{found:?}");
            prop_assert_eq!(keys - allowed(found.limit), found.keys_denied);
            prop_assert!(found.limit == 1 || allowed(found.limit - 1) < wanted, "{found:?}");
        }
    }
}
