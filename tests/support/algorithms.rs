//! The algorithms under test.

use std::fmt;

use redis_rl_algorithm::{Name, Traits};

/// What the tests have to know of an algorithm beyond what COMMAND DOCS says.
#[derive(Clone, Copy)]
pub struct Algorithm {
    /// Its name in the headers: its word in lower case.
    pub name: &'static str,
    pub command: &'static str,
    pub takes_burst: bool,
    /// Whether each window has a key of its own, `<key>:<bucket>`. Else the state is at the key as given.
    pub key_per_window: bool,
    /// The largest cost of one call that the limit could hold.
    pub max_cost: i64,
    /// Whether an allowed request makes an existing key larger.
    pub grows: bool,
}

const fn algorithm(name: Name) -> Algorithm {
    let &Traits { burst, key_per_window, most, .. } = name.traits();
    let max_cost = match most {
        Some(most) => most as i64,
        None => i64::MAX,
    };
    // What takes few units a call has a member of a sorted set for each.
    let grows = most.is_some();
    Algorithm { name: name.label(), command: name.command(), takes_burst: burst, key_per_window, max_cost, grows }
}

pub const FIXED: Algorithm = algorithm(Name::Fixed);
pub const WINDOW: Algorithm = algorithm(Name::Window);
pub const SLIDING: Algorithm = algorithm(Name::Sliding);
pub const COUNTER: Algorithm = algorithm(Name::Counter);
pub const TOKEN: Algorithm = algorithm(Name::Token);
pub const LEAKY: Algorithm = algorithm(Name::Leaky);
pub const GCRA: Algorithm = algorithm(Name::Gcra);
pub const ROLLING: Algorithm = algorithm(Name::Rolling);

/// Every algorithm that counts units: all but [`LEASE`].
pub const ALGORITHMS: &[Algorithm] = {
    const ALL: ([Algorithm; Name::ALL.len()], usize) = {
        let (mut all, mut len, mut at) = ([FIXED; Name::ALL.len()], 0, 0);
        while at < Name::ALL.len() {
            if Name::ALL[at].traits().cost {
                all[len] = algorithm(Name::ALL[at]);
                len += 1;
            }
            at += 1;
        }
        (all, len)
    };
    ALL.0.split_at(ALL.1).0
};
/// The word of the concurrency limit. It counts holders and takes no COST.
pub const LEASE: &str = "LEASE";

pub const OVERFLOW: &str = "ERR increment or decrement would overflow";
pub const FOREIGN: &str = "ERR the key holds a value that this algorithm did not write";

/// The word of every algorithm, LEASE included.
pub fn algorithm_words() -> impl Iterator<Item = &'static str> {
    Name::ALL.into_iter().map(Name::word)
}

impl Algorithm {
    /// Its name where a command takes any algorithm.
    pub fn word(&self) -> &'static str {
        self.command.strip_prefix("RL.").expect("RL.")
    }
}

impl fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.command)
    }
}
