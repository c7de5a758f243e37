//! The keys of a limit in memory, whatever its algorithm is.

use std::fmt::Debug;

use redis_rl_algorithm::in_memory::{Charging, InMemory};
use redis_rl_algorithm::{Cost, Forecast as _, Micros, Policy as Terms, Unrepresentable, for_in_memory};
use redis_rl_client::Algorithm;
use rlaas_rules::Rate;

use crate::decide::Hits;

/// A request under a limit.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    pub now: Micros,
    pub cost: Cost,
    pub charging: Charging,
}

impl Ask {
    /// What the service asks for so many units. A negative time is 1970.
    pub fn new(time: i64, units: u64, rate: &Rate) -> Self {
        let (cost, always) = Hits::of(units).bounded(rate).cost(rate.charge, rate.policy.algorithm());
        let charging = if always { Charging::Always } else { Charging::IfAllowed };
        let now = Micros(u64::try_from(time).unwrap_or(0));
        Self { now, cost: Cost::new(cost).unwrap_or(Cost::ONE), charging }
    }
}

/// What a key says.
#[derive(Clone, Copy, Debug)]
pub struct Verdict {
    pub allowed: bool,
    /// How much of the limit is used with this request; 0 if it is denied.
    pub used: u64,
    /// When a denied request would be allowed: milliseconds from now, −1 for never. 0 if it is allowed.
    pub retry_after_ms: i64,
}

impl Verdict {
    /// How long to wait; the longest for never.
    pub fn wait(&self) -> u64 {
        u64::try_from(self.retry_after_ms).unwrap_or(u64::MAX)
    }
}

/// The keys of a limit, by numbers from 0 without gaps.
pub trait Keys: Debug {
    /// Decides, and charges if `commit`. The next new key has the number after the last one.
    fn ask(&mut self, key: usize, ask: Ask, commit: bool) -> Verdict;
}

#[derive(Debug)]
struct Table<A: InMemory> {
    algorithm: A,
    keys: Vec<A::Key>,
}

impl<A: InMemory + Debug> Keys for Table<A> {
    fn ask(&mut self, key: usize, Ask { now, cost, charging }: Ask, commit: bool) -> Verdict {
        if self.keys.len() <= key {
            self.keys.resize_with(key + 1, A::Key::default);
        }
        let key = &mut self.keys[key];
        A::expire(key, now);
        self.algorithm.prune(key, now);
        let Ok(decision) = self.algorithm.decision(key, now, cost, charging) else {
            return Verdict { allowed: false, used: 0, retry_after_ms: -1 };
        };
        let allowed = decision.verdict.allowed;
        let (used, retry_after_ms) = if allowed {
            let after = self.algorithm.forecast(self.algorithm.state(key, now), &decision.change, now);
            (after.capacity().saturating_sub(after.remaining()), 0)
        } else {
            (0, self.algorithm.figures(key, &decision, now).retry_after_ms)
        };
        if commit {
            self.algorithm.commit(key, &decision.change, now);
        }
        Verdict { allowed, used, retry_after_ms }
    }
}

/// No keys of a limit with these terms. `None` for leases, which the rate limit protocol does not have.
pub fn new(algorithm: Algorithm, terms: &Terms) -> Result<Option<Box<dyn Keys>>, Unrepresentable> {
    fn table<A: InMemory + Debug + 'static>(terms: &Terms) -> Result<Option<Box<dyn Keys>>, Unrepresentable> {
        Ok(Some(Box::new(Table { algorithm: A::with_policy(terms)?, keys: Vec::new() })))
    }
    if algorithm.traits().id { Ok(None) } else { for_in_memory!(algorithm, A => table::<A>(terms)) }
}
