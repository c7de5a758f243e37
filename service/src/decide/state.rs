//! The rules in force, and what belongs to them.

use std::collections::HashMap;
use std::sync::Arc;

use redis_rl_client::{Grants, Limiter, Policy};
use rlaas_rules::{Domain, Limit, Printable, Rules};

use super::counters::Counters;

/// A set of rules that a request uses from its beginning to its end.
#[derive(Debug)]
pub struct Snapshot {
    pub rules: Rules,
    /// Counts the sets of rules, from 1.
    pub generation: u64,
    /// The hash of the rules.
    pub hash: String,
    /// By the names of the limit.
    pub grants: HashMap<Arc<[Box<str>]>, Granted>,
    /// By the number of the limit.
    pub counters: Box<[Counters]>,
}

/// The grants of a limit. They are given back when the last snapshot that has them is dropped.
#[derive(Debug)]
pub struct Granted {
    pub policy: Policy,
    units: u32,
    pub grants: Grants,
}

impl Snapshot {
    /// Takes over the grants of limits that have not changed.
    ///
    /// # Errors
    /// A limit cannot be granted in advance: which, and why.
    pub fn new(rules: Rules, before: Option<&Self>, limiter: &Limiter) -> Result<Self, String> {
        let (mut grants, mut counters) = (HashMap::new(), Vec::new());
        for limit in rules.domains.values().flat_map(Domain::limits) {
            counters.push(Counters::default());
            if let Some(granted) = granted(limit, before, limiter)? {
                grants.insert(limit.names.clone(), granted);
            }
        }
        let (generation, hash) = (before.map_or(0, |before| before.generation) + 1, rules.hash());
        Ok(Self { rules, generation, hash, grants, counters: counters.into() })
    }
}

fn granted(limit: &Limit, before: Option<&Snapshot>, limiter: &Limiter) -> Result<Option<Granted>, String> {
    let Some((rate, units)) = limit.rate.and_then(|rate| Some((rate, rate.grants?))) else { return Ok(None) };
    let policy = if limit.shadow { rate.policy.shadow() } else { rate.policy };
    let known = before.and_then(|before| before.grants.get(&limit.names));
    let grants = match known.filter(|known| known.policy == policy && known.units == units) {
        Some(known) => known.grants.clone(),
        None => {
            let made = limiter.grants(&policy, u64::from(units));
            made.map_err(|error| format!("grants of {}: {error}", Printable(&limit.path)))?
        }
    };
    Ok(Some(Granted { policy, units, grants }))
}
