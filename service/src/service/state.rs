//! The rules in force, and what belongs to them.

use std::collections::HashMap;

use redis_rl_client::{Connection, Grants, Limiter, Policy};

use crate::rules::{Level, Rules};

/// A set of rules that a request uses from its beginning to its end.
#[derive(Debug)]
pub struct Snapshot<C> {
    pub rules: Rules,
    /// Counts the sets of rules, from 1.
    pub generation: u64,
    /// By the path of the limit.
    pub grants: HashMap<Box<str>, Granted<C>>,
}

/// The grants of a limit. They are given back when the last snapshot that has them is dropped.
#[derive(Debug)]
pub struct Granted<C> {
    pub policy: Policy,
    units: u32,
    pub grants: Grants<C>,
}

impl<C: Connection> Snapshot<C> {
    /// Takes over the grants of limits that have not changed.
    ///
    /// # Errors
    /// A limit cannot be granted in advance: which, and why.
    pub fn new(rules: Rules, before: Option<&Self>, limiter: &Limiter<C>) -> Result<Self, String> {
        let mut grants = HashMap::new();
        for domain in rules.domains.values() {
            collect(&domain.root, before, limiter, &mut grants)?;
        }
        Ok(Self { rules, generation: before.map_or(0, |before| before.generation) + 1, grants })
    }
}

fn collect<C: Connection>(
    level: &Level,
    before: Option<&Snapshot<C>>,
    limiter: &Limiter<C>,
    grants: &mut HashMap<Box<str>, Granted<C>>,
) -> Result<(), String> {
    for rule in level.rules.values() {
        if let Some(limit) = &rule.limit
            && let Some(rate) = &limit.rate
            && let Some(units) = rate.grants
        {
            let policy = if limit.shadow { rate.policy.shadow() } else { rate.policy };
            let known = before.and_then(|before| before.grants.get(&limit.path));
            let granted = match known.filter(|known| known.policy == policy && known.units == units) {
                Some(known) => Granted { policy, units, grants: known.grants.clone() },
                None => {
                    let made = limiter.grants(&policy, u64::from(units));
                    let grants = made.map_err(|error| format!("grants of {}: {error}", limit.path))?;
                    Granted { policy, units, grants }
                }
            };
            grants.insert(limit.path.clone(), granted);
        }
        if let Some(below) = &rule.below {
            collect(below, before, limiter, grants)?;
        }
    }
    Ok(())
}
