//! The algorithms under test.

use std::fmt;

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

const fn algorithm(name: &'static str, command: &'static str) -> Algorithm {
    Algorithm { name, command, takes_burst: false, key_per_window: false, max_cost: i64::MAX, grows: false }
}

pub const FIXED: Algorithm = Algorithm { key_per_window: true, ..algorithm("fixed", "RL.FIXED") };
pub const WINDOW: Algorithm = algorithm("window", "RL.WINDOW");
pub const SLIDING: Algorithm = Algorithm { max_cost: 1_000, grows: true, ..algorithm("sliding", "RL.SLIDING") };
pub const COUNTER: Algorithm = algorithm("counter", "RL.COUNTER");
pub const TOKEN: Algorithm = Algorithm { takes_burst: true, ..algorithm("token", "RL.TOKEN") };
pub const LEAKY: Algorithm = Algorithm { takes_burst: true, ..algorithm("leaky", "RL.LEAKY") };
pub const GCRA: Algorithm = Algorithm { takes_burst: true, ..algorithm("gcra", "RL.GCRA") };
pub const ROLLING: Algorithm = algorithm("rolling", "RL.ROLLING");

/// Every algorithm that counts units: all but [`LEASE`].
pub const ALGORITHMS: &[Algorithm] = &[FIXED, WINDOW, SLIDING, COUNTER, TOKEN, LEAKY, GCRA, ROLLING];
/// The word of the concurrency limit. It counts holders and takes no COST.
pub const LEASE: &str = "LEASE";

pub const OVERFLOW: &str = "ERR increment or decrement would overflow";
pub const FOREIGN: &str = "ERR the key holds a value that this algorithm did not write";

/// The word of every algorithm, LEASE included.
pub fn algorithm_words() -> impl Iterator<Item = &'static str> {
    ALGORITHMS.iter().map(Algorithm::word).chain([LEASE])
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
