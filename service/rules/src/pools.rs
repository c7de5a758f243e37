//! The pools of a domain: limits that are asked and charged if those that name them by `else` deny, or of which those that
//! name them by `share` are a part.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::fields::{Entries, Findings, Reporter, at_of, field};
use super::key::{policy_name, pool_key};
use super::model::{Limit, Options, Pools, Rate, next_number};
use super::overrides::Overrides;
use super::problem::{Mark, quoted};
use super::rate;

/// How many pools may follow a limit.
pub const MAX_POOLS: usize = 4;
const TOO_MANY: &str = "more than 4 pools follow each other";

/// A pool as a file describes it.
struct Described<'f> {
    file: &'f Arc<str>,
    at: Mark,
    fields: &'f Entries<'f>,
}

/// How the pools of a domain are read.
#[derive(Clone, Copy)]
pub struct Domain<'d> {
    pub name: &'d str,
    pub options: &'d Options,
    pub overrides: &'d Overrides,
    pub in_cluster: bool,
}

/// The pools of a domain, from all of its files: their names, and what is in them.
pub fn read<'f>(
    files: impl Iterator<Item = (&'f Arc<str>, &'f Entries<'f>)>,
    domain: Domain<'_>,
    findings: &mut Findings,
    numbers: &mut usize,
) -> Pools {
    let mut all: BTreeMap<&str, Described<'_>> = BTreeMap::new();
    for (file, entries) in files {
        let mut reporter = Reporter { file: file.clone(), findings };
        for (at, entries) in reporter.maps(entries, "pools") {
            let name = reporter.text(entries, "name");
            let fields = reporter.get(entries, "rate_limit", "a map", |node| node.map());
            match fields {
                _ if name.is_empty() => reporter.error(at, "a pool must have a name"),
                _ if all.contains_key(name) => {
                    reporter.error(at, format!("the pool {} is here twice", quoted(name)));
                }
                None => reporter.error(at, "a pool must have a rate_limit"),
                Some(fields) => _ = all.insert(name, Described { file, at, fields }),
            }
        }
    }
    let mut builder = Builder { domain, all: &all, findings, numbers, built: BTreeMap::new() };
    for (name, described) in &all {
        _ = builder.build(name, described, &mut Vec::new());
    }
    builder.built.into_iter().filter_map(|(name, pool)| Some((name.into(), pool?))).collect()
}

struct Builder<'b, 'f> {
    domain: Domain<'b>,
    all: &'b BTreeMap<&'b str, Described<'b>>,
    findings: &'f mut Findings,
    numbers: &'b mut usize,
    /// By its name; `None` if it has an error.
    built: BTreeMap<&'b str, Option<Arc<Limit>>>,
}

impl<'b> Builder<'b, '_> {
    /// A pool, after those that it names. `way` are the pools that lead to it.
    fn build(&mut self, name: &'b str, described: &'b Described<'b>, way: &mut Vec<&'b str>) -> Option<Arc<Limit>> {
        let Described { file, at, fields } = *described;
        if let Some(known) = self.built.get(name) {
            return known.clone();
        }
        way.push(name);
        let (all, domain) = (self.all, self.domain);
        let mut reporter = Reporter { file: file.clone(), findings: self.findings };
        for key in ["name", "replaces"].into_iter().filter(|key| field(fields, key).is_some()) {
            reporter.error(at_of(fields, key), format!("the rate_limit of a pool has no {key}"));
        }
        let found = named(&mut reporter, fields, domain, |pool| {
            if way.contains(&pool) {
                return Some(Err(format!("a circle of pools: {}", way.join(", "))));
            }
            let found = all.get_key_value(pool)?;
            Some(if way.len() < MAX_POOLS { Ok(found) } else { Err(TOO_MANY.to_owned()) })
        });
        let otherwise = found.and_then(|(name, described)| self.build(name, described, way));
        way.pop();
        let mut reporter = Reporter { file: file.clone(), findings: self.findings };
        let path = format!("{}.pools.{name}", domain.name);
        let defaults = domain.overrides.of(domain.name, &path, name);
        let rate = rate::read(&mut reporter, at, fields, domain.options, defaults, true);
        if rate == Some(None) {
            reporter.error(at, "a pool cannot be unlimited");
        }
        let pool = rate.flatten().map(|mut rate| {
            rate.policy = rate.policy.try_name(&policy_name(name, &path)).unwrap_or(rate.policy);
            let otherwise = otherwise.filter(|next_pool| fits(&mut reporter, fields, &rate, next_pool));
            let shares = otherwise.is_some() && key_of(fields) == "share";
            // No rule has these names: the last one is empty.
            let names = [domain.name, "pools", name, ""].map(Into::into).into();
            Arc::new(Limit {
                number: next_number(self.numbers),
                path: path.into(),
                names,
                place: Some(reporter.place(at)),
                name: name.into(),
                rate: Some(rate),
                otherwise,
                shares,
                is_pool: true,
                key_start: pool_key(domain.name, &rate, name),
                ..Limit::default()
            })
        });
        self.built.insert(name, pool.clone());
        pool
    }
}

/// The key by which a limit names its pool.
pub fn key_of(fields: &Entries<'_>) -> &'static str {
    if field(fields, "share").is_some() { "share" } else { "else" }
}

/// What `else` or `share` names. `find` knows the pools of the domain, and says what is wrong with one.
fn named<T>(
    reporter: &mut Reporter<'_>,
    fields: &Entries<'_>,
    domain: Domain<'_>,
    find: impl FnOnce(&str) -> Option<Result<T, String>>,
) -> Option<T> {
    let key = key_of(fields);
    let name = reporter.text(fields, key);
    let at = field(fields, key)?.at;
    if domain.in_cluster && domain.options.all_or_nothing {
        reporter.error(at, format!("invalid {key}: with all_or_nothing in a cluster, all keys are in one slot"));
    }
    match find(name) {
        Some(Ok(found)) => return Some(found),
        Some(Err(text)) => reporter.error(at, format!("invalid {key}: {text}")),
        None => reporter.error(at, format!("invalid {key}: the domain has no pool {}", quoted(name))),
    }
    None
}

/// The pool that a rule names.
pub fn otherwise(
    reporter: &mut Reporter<'_>,
    fields: &Entries<'_>,
    domain: Domain<'_>,
    pools: &Pools,
) -> Option<Arc<Limit>> {
    named(reporter, fields, domain, |name| pools.get(name).cloned().map(Ok))
}

/// Whether a pool can stand in for a limit with this rate.
pub fn fits(reporter: &mut Reporter<'_>, fields: &Entries<'_>, rate: &Rate, pool: &Limit) -> bool {
    let is_lease = |rate: &Rate| rate.policy.algorithm().traits().id;
    let (key, of_pool) = (key_of(fields), pool.rate.as_ref());
    let shares = key == "share";
    let text = if pool.pools().count() >= MAX_POOLS {
        TOO_MANY
    } else if pool.otherwise.is_some() && pool.shares != shares {
        "of pools that follow each other, all are named by else, or all by share"
    } else if shares && of_pool.is_some_and(|rate| !rate.policy.algorithm().traits().always || rate.grants.is_some()) {
        "the pool has grants, or an algorithm that cannot count beyond its limit"
    } else if of_pool.is_some_and(|of_pool| is_lease(of_pool) != is_lease(rate)) {
        "a lease and another limit cannot stand in for each other"
    } else {
        return true;
    };
    reporter.error(at_of(fields, key), format!("invalid {key}: {text}"));
    false
}
