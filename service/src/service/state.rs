//! The rules in force, and what belongs to them.

use std::collections::HashMap;
use std::sync::Arc;

use redis_rl_client::{Connection, Grants, Limiter, Policy};

use crate::rules::{Level, Limit, Printable, Rules};

/// A set of rules that a request uses from its beginning to its end.
#[derive(Debug)]
pub struct Snapshot<C> {
    pub rules: Rules,
    /// Counts the sets of rules, from 1.
    pub generation: u64,
    /// That of the rules.
    pub hash: String,
    pub grants: AllGrants<C>,
}

/// The grants of all limits. The path of a limit is not the key: rules `a.b`, and `b` below `a`, have the same.
#[derive(Debug)]
pub struct AllGrants<C> {
    /// By the domain and the names of the rules on the way to the limit.
    by_names: HashMap<Names, Granted<C>>,
    /// By the address of a limit of the snapshot: its names.
    names: HashMap<usize, Names>,
}

type Names = Arc<[Box<str>]>;

/// The grants of a limit. They are given back when the last snapshot that has them is dropped.
#[derive(Debug)]
pub struct Granted<C> {
    pub policy: Policy,
    units: u32,
    pub grants: Grants<C>,
}

impl<C> AllGrants<C> {
    /// Those of a limit of this snapshot.
    pub fn of(&self, limit: &Arc<Limit>) -> Option<&Granted<C>> {
        self.by_names.get(self.names.get(&address(limit))?)
    }

    pub fn all(&self) -> impl Iterator<Item = &Granted<C>> {
        self.by_names.values()
    }
}

fn address(limit: &Arc<Limit>) -> usize {
    Arc::as_ptr(limit) as usize
}

impl<C: Connection> Snapshot<C> {
    /// Takes over the grants of limits that have not changed.
    ///
    /// # Errors
    /// A limit cannot be granted in advance: which, and why.
    pub fn new(rules: Rules, before: Option<&Self>, limiter: &Limiter<C>) -> Result<Self, String> {
        let mut grants = AllGrants { by_names: HashMap::new(), names: HashMap::new() };
        for (name, domain) in &rules.domains {
            collect(&domain.root, &mut vec![name.clone()], before, limiter, &mut grants)?;
        }
        let (generation, hash) = (before.map_or(0, |before| before.generation) + 1, rules.hash());
        Ok(Self { rules, generation, hash, grants })
    }
}

/// Adds the grants of a level. `names` are those on the way to it.
fn collect<C: Connection>(
    level: &Level,
    names: &mut Vec<Box<str>>,
    before: Option<&Snapshot<C>>,
    limiter: &Limiter<C>,
    grants: &mut AllGrants<C>,
) -> Result<(), String> {
    for (name, rule) in &level.rules {
        names.push(name.clone());
        if let Some(limit) = &rule.limit
            && let Some(rate) = &limit.rate
            && let Some(units) = rate.grants
        {
            let names = Names::from(names.as_slice());
            let policy = if limit.shadow { rate.policy.shadow() } else { rate.policy };
            let known = before.and_then(|before| before.grants.by_names.get(&names));
            let granted = match known.filter(|known| known.policy == policy && known.units == units) {
                Some(known) => Granted { policy, units, grants: known.grants.clone() },
                None => {
                    let made = limiter.grants(&policy, u64::from(units));
                    let grants = made.map_err(|error| format!("grants of {}: {error}", Printable(&limit.path)))?;
                    Granted { policy, units, grants: grants.with_keys_as_they_are() }
                }
            };
            grants.names.insert(address(limit), names.clone());
            grants.by_names.insert(names, granted);
        }
        if let Some(below) = &rule.below {
            collect(below, names, before, limiter, grants)?;
        }
        names.pop();
    }
    Ok(())
}
