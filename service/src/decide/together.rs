//! The charges of a request that are made together: one for each key.

use redis_rl_client::{Decision, Decisions, Error, Request};

use super::outcomes::Decided;
use super::plan::{Check, Hits, Numbered};

/// Adds up the charges of each key, which RL.MULTI charges once. Returns the sums, and which of them each charge is part of.
fn sum_by_key<K: PartialEq>(charges: impl Iterator<Item = (K, u64)>) -> (Vec<(K, u64)>, Vec<usize>) {
    let mut sums: Vec<(K, u64)> = Vec::new();
    let mut add = |(key, units)| {
        let known = sums.iter_mut().enumerate().find(|(_, (known, _))| *known == key);
        if let Some((at, (_, sum))) = known {
            *sum = sum.saturating_add(units);
            return at;
        }
        sums.push((key, units));
        sums.len() - 1
    };
    let at = charges.map(&mut add).collect();
    (sums, at)
}

/// The requests of charges, one for each key.
pub struct Merged<'p> {
    pub requests: Vec<Request<'p>>,
    /// Which of them each charge is part of.
    at: Vec<usize>,
}

impl<'p> Merged<'p> {
    pub fn new(charges: &[Numbered<'p>]) -> Self {
        let hits = |check: &Check| if let Hits::Charge(hits) = check.hits { hits } else { 0 };
        let (sums, at) = sum_by_key(charges.iter().map(|(_, check)| (check.key.as_str(), hits(check))));
        let request = |(place, (_, sum)): (usize, &(&str, u64))| {
            let own = || charges.iter().zip(&at).filter(|(_, at)| **at == place).map(|((_, check), _)| *check);
            // A reservation is one estimate for all descriptors that have come to one pool.
            let reserved = own().filter(|check| check.reservation.is_some()).map(hits).max();
            let cost = reserved.unwrap_or(*sum);
            // Two limits of one key: that of a rule, and one that a descriptor brought along.
            own().min_by_key(|check| check.policy.limit()).map(|check| check.request().cost(cost))
        };
        let requests = sums.iter().enumerate().filter_map(request).collect();
        Self { requests, at }
    }

    /// The decision of each request. A remembered denial, or a decision without the server, names only some limits: the
    /// others get none.
    pub fn assign(&self, decided: Result<Decisions, Error>) -> Vec<Option<Result<Decision, Error>>> {
        let decisions = match decided {
            Ok(decisions) => decisions,
            Err(error) => return self.requests.iter().map(|_| Some(Err(error.clone()))).collect(),
        };
        let mut decisions = decisions.limits.into_iter().peekable();
        let next = |request: &Request<'_>| decisions.next_if(|decision| decision.policy() == request.policy()).map(Ok);
        self.requests.iter().map(next).collect()
    }

    /// The outcome of each request, for every charge that is part of it.
    pub fn spread(&self, charges: &[Numbered<'_>], outcomes: Vec<Option<Result<Decision, Error>>>) -> Vec<Decided> {
        let outcome = |place: &usize| outcomes.get(*place).cloned().flatten();
        charges.iter().zip(&self.at).filter_map(|((i, _), place)| Some((*i, outcome(place)?))).collect()
    }
}
