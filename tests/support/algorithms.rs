//! The algorithms under test.

use redis_rl_algorithm::Name;

pub const OVERFLOW: &str = "ERR increment or decrement would overflow";
pub const FOREIGN: &str = "ERR the key holds a value that this algorithm did not write";

/// The word of every algorithm.
pub fn algorithm_words() -> impl Iterator<Item = &'static str> {
    Name::ALL.into_iter().map(Name::word)
}

/// The words of those that count units: all but LEASE.
pub fn counting_words() -> Vec<&'static str> {
    Name::ALL.into_iter().filter(|name| name.traits().cost).map(Name::word).collect()
}
