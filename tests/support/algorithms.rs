//! The algorithms under test. A row here brings every test over `ALGORITHMS` along.

/// What the tests have to know of an algorithm beyond the grammar that all share.
pub struct Algorithm {
    /// The word in the grammar, in lower case as the headers say it.
    pub name: &'static str,
    pub command: &'static str,
    pub takes_burst: bool,
    /// Where the state of `key` lies outside cluster mode: given the key, the window and the time, both in ms.
    pub state_key: fn(&[u8], u64, u64) -> Vec<u8>,
    /// What TYPE says of that key.
    pub state_type: &'static str,
    /// The count of the reply: given what was counted before, and what this request adds to it.
    pub count: fn(before: i64, added: i64) -> i64,
    /// Whether a denied request of cost 1 is counted.
    pub counts_denials: bool,
    /// How long after the time of the call the state's key expires, in ms: given the window in ms.
    pub expires_after: fn(u64) -> u64,
    /// COMMAND DOCS: whether a call takes the same time whatever was counted.
    pub constant_time: bool,
    /// Values of the state's own type that are no such state, and the error each brings.
    pub foreign: &'static [(&'static str, &'static str)],
}

pub const FIXED: Algorithm = Algorithm {
    name: "fixed",
    command: "RL.FIXED",
    takes_burst: false,
    state_key: |key, window_ms, now_ms| [key, format!(":{}", now_ms / window_ms).as_bytes()].concat(),
    state_type: "string",
    count: |before, added| before + added,
    counts_denials: true,
    expires_after: |window| window,
    constant_time: true,
    foreign: &[
        ("", NOT_AN_INTEGER),
        ("text", NOT_AN_INTEGER),
        ("1.5", NOT_AN_INTEGER),
        (" 1", NOT_AN_INTEGER),
        ("+1", NOT_AN_INTEGER),
        ("01", NOT_AN_INTEGER),
        ("9223372036854775808", NOT_AN_INTEGER),
        ("9223372036854775807", "ERR increment or decrement would overflow"),
    ],
};

pub const SLIDING: Algorithm = Algorithm {
    name: "sliding",
    command: "RL.SLIDING",
    takes_burst: false,
    state_key: |key, _, _| key.to_vec(),
    state_type: "zset",
    count: |before, _| before,
    counts_denials: false,
    expires_after: |window| 2 * window,
    constant_time: false,
    foreign: &[],
};

pub const ALGORITHMS: &[Algorithm] = &[FIXED, SLIDING];

const NOT_AN_INTEGER: &str = "ERR value is not an integer or out of range";
