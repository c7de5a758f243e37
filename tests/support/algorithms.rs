//! The algorithms under test, except LEASE. A row here brings every test over `ALGORITHMS` along.

use std::fmt;
use std::ops::RangeInclusive;

use super::Full;

/// What the tests have to know of an algorithm beyond the grammar that all share. Each column means one thing.
#[derive(Clone, Copy)]
pub struct Algorithm {
    /// Its name in the headers: its word in lower case.
    pub name: &'static str,
    pub command: &'static str,
    pub takes_burst: bool,
    /// The longest window in seconds, and the largest limit in it.
    pub largest: (i64, i64),
    /// The largest cost of one call that the limit could hold.
    pub max_cost: i64,

    /// The type of the state's key, as TYPE replies it.
    pub key_type: &'static str,
    /// Whether each window has a key of its own, `<key>:<bucket>`. Else the state is at the key as given.
    pub key_per_window: bool,
    /// The time, in ms, at which the state's key expires.
    pub expires_at: fn(&Taken) -> i64,
    /// How much later it may expire, in ms, so that a busy key is not given a new expiry at each request.
    pub expires_late_ms: i64,
    /// Values of the state's own type that the algorithm did not write, and the error that each brings.
    pub foreign: &'static [(&'static str, &'static str)],
    /// For an algorithm that keeps a record of integers: the record in which so many units are used.
    pub record: Option<Record>,

    /// Whether a denied request of cost 1 is counted.
    pub counts_denials: bool,
    /// Whether `count` is what is counted after the request instead of before it.
    pub count_is_after: bool,
    /// Whether `ttl` is what the script replies instead of the time to retry after, or to the whole limit.
    pub ttl_of_script: bool,
    /// Whether a changed limit changes what was charged with it, instead of giving room at once.
    pub rescales: bool,
    /// Whether an allowed request is delayed until all that was charged before has come back.
    pub delays: bool,
    /// The time, in ms, from which that many of the charged units no longer count.
    pub freed_at: fn(&Taken, units: usize) -> i64,
    /// How much later than the times above, which are computed in ms, those of the server can be.
    pub slack_ms: i64,

    /// Whether an allowed request makes an existing key larger.
    pub grows: bool,
    /// COMMAND DOCS: whether a call takes the same time whatever was counted.
    pub takes_constant_time: bool,
    /// The keyspace events of the first allowed request, of a later one, and of a denied one.
    pub events: [&'static [&'static str]; 3],
    /// The commands that the same three replicate, without MULTI and EXEC.
    pub replicated: [&'static [&'static str]; 3],
}

/// A record: given the units used, the limit, the window in µs and the time in µs. The algorithm reads a record with 0
/// units used, too.
pub type Record = fn(used: i64, limit: i64, window_us: i64, at_us: i64) -> String;

/// What has been charged to a key since it was empty. Nothing has come back yet.
#[derive(Clone, Debug)]
pub struct Taken {
    pub window_ms: i64,
    pub limit: i64,
    /// When, in ms: one entry a unit.
    pub at: Vec<i64>,
    /// The time of the last request, in ms.
    pub now: i64,
}

impl Taken {
    pub fn new(window_ms: i64, limit: i64) -> Self {
        Self { window_ms, limit, at: Vec::new(), now: 0 }
    }

    /// A request at that time that was charged so many units: 0 if it was denied.
    pub fn take(&mut self, units: usize, now: i64) {
        self.at.extend(vec![now; units]);
        self.now = now;
    }

    /// The end of the aligned window of the last request.
    fn window_end(&self) -> i64 {
        (self.now / self.window_ms + 1) * self.window_ms
    }

    /// When that many have come back at the rate.
    fn back_at(&self, units: usize) -> i64 {
        self.at.first().unwrap_or(&self.now) + units as i64 * self.window_ms / self.limit
    }
}

/// What most algorithms are: a record at the key, and units that come back at the rate.
const AT_THE_RATE: Algorithm = Algorithm {
    name: "",
    command: "",
    takes_burst: true,
    largest: (1_000_000_000_000, i64::MAX),
    max_cost: i64::MAX,
    key_type: "string",
    key_per_window: false,
    expires_at: |taken| taken.back_at(taken.at.len()),
    expires_late_ms: 5_000,
    foreign: &[
        ("", FOREIGN),
        ("text", FOREIGN),
        ("0", FOREIGN),
        ("-1", FOREIGN),
        ("X:1:0:60000000:1700000000000000", FOREIGN),
        ("1:0:60000000:1700000000000000", FOREIGN),
        (":1:0:60000000:1700000000000000", FOREIGN),
    ],
    record: None,
    counts_denials: false,
    count_is_after: false,
    ttl_of_script: false,
    rescales: false,
    delays: false,
    freed_at: Taken::back_at,
    // The server computes in µs, and rounds up.
    slack_ms: 2,
    grows: false,
    takes_constant_time: true,
    events: [&["set", "expire"], &["set", "expire"], &[]],
    replicated: [&["SET"], &["SET"], &[]],
};

pub const FIXED: Algorithm = Algorithm {
    name: "fixed",
    command: "RL.FIXED",
    takes_burst: false,
    key_per_window: true,
    expires_at: |taken| taken.at[0] + taken.window_ms,
    expires_late_ms: 0,
    foreign: &[
        ("", NOT_AN_INTEGER),
        ("text", NOT_AN_INTEGER),
        ("1.5", NOT_AN_INTEGER),
        (" 1", NOT_AN_INTEGER),
        ("+1", NOT_AN_INTEGER),
        ("01", NOT_AN_INTEGER),
        ("9223372036854775808", NOT_AN_INTEGER),
        ("9223372036854775807", OVERFLOW),
    ],
    counts_denials: true,
    count_is_after: true,
    ttl_of_script: true,
    freed_at: |taken, _| taken.window_end(),
    slack_ms: 0,
    events: [&["incrby", "expire"], &["incrby"], &["incrby"]],
    replicated: [&["SET"], &["INCR"], &["INCR"]],
    ..AT_THE_RATE
};

pub const WINDOW: Algorithm = Algorithm {
    name: "window",
    command: "RL.WINDOW",
    takes_burst: false,
    expires_at: |taken| taken.at[0] + taken.window_ms,
    expires_late_ms: 0,
    foreign: &[
        ("", NOT_AN_INTEGER),
        ("text", NOT_AN_INTEGER),
        ("1.5", NOT_AN_INTEGER),
        (" 1", NOT_AN_INTEGER),
        ("+1", NOT_AN_INTEGER),
        ("01", NOT_AN_INTEGER),
        ("9223372036854775808", NOT_AN_INTEGER),
    ],
    // The window starts with its first unit, and all come back together.
    freed_at: |taken, _| taken.at[0] + taken.window_ms,
    slack_ms: 0,
    events: [&["set", "expire"], &["incrby"], &[]],
    replicated: [&["SET"], &["INCR"], &[]],
    ..AT_THE_RATE
};

pub const SLIDING: Algorithm = Algorithm {
    name: "sliding",
    command: "RL.SLIDING",
    takes_burst: false,
    max_cost: 1_000,
    key_type: "zset",
    // Set by the first request. The later ones leave it, while 1.5 windows are left.
    expires_at: |taken| taken.at[0] + 2 * taken.window_ms,
    expires_late_ms: 0,
    foreign: &[],
    ttl_of_script: true,
    freed_at: |taken, units| taken.at[units - 1] + taken.window_ms,
    slack_ms: 0,
    grows: true,
    takes_constant_time: false,
    events: [&["zadd", "expire"], &["zadd"], &[]],
    replicated: [&["ZADD", "PEXPIREAT"], &["ZADD"], &[]],
    ..AT_THE_RATE
};

pub const COUNTER: Algorithm = Algorithm {
    name: "counter",
    command: "RL.COUNTER",
    takes_burst: false,
    // All units of one window lose their weight together while the next one passes.
    freed_at: |taken, units| {
        let all = taken.at.len() as i64;
        taken.window_end() + taken.window_ms * units as i64 / all
    },
    expires_at: |taken| taken.window_end() + taken.window_ms,
    // The expiry is that of the first request, until the window ends.
    events: [&["set", "expire"], &["set"], &[]],
    record: Some(|taken, _, window, at| format!("C:{}:{}:{taken}:0", window / 1_000, at / window)),
    ..AT_THE_RATE
};

pub const TOKEN: Algorithm = Algorithm {
    name: "token",
    command: "RL.TOKEN",
    record: Some(|taken, _, window, at| format!("T:{taken}:0:{}:{at}", window / 1_000)),
    ..AT_THE_RATE
};

pub const LEAKY: Algorithm = Algorithm {
    name: "leaky",
    command: "RL.LEAKY",
    delays: true,
    record: Some(|taken, _, window, at| format!("L:{taken}:0:{}:{at}", window / 1_000)),
    ..AT_THE_RATE
};

pub const GCRA: Algorithm = Algorithm {
    name: "gcra",
    command: "RL.GCRA",
    rescales: true,
    // What is ahead of the clock fits 126 years of nanoseconds.
    largest: (4_000_000_000, 4_000_000_000_000_000_000),
    record: Some(|taken, limit, window, at| (at * 1_000 + taken * (window * 1_000 / limit)).to_string()),
    foreign: &[
        ("", FOREIGN),
        ("text", FOREIGN),
        ("-1", FOREIGN),
        ("1.5", FOREIGN),
        ("01", FOREIGN),
        ("+1", FOREIGN),
        (" 1", FOREIGN),
        ("1 ", FOREIGN),
        ("18446744073709551616", FOREIGN),
    ],
    ..AT_THE_RATE
};

pub const ROLLING: Algorithm = Algorithm {
    name: "rolling",
    command: "RL.ROLLING",
    takes_burst: false,
    expires_at: |taken| taken.at[0] + 2 * taken.window_ms,
    expires_late_ms: 0,
    foreign: &[
        ("", FOREIGN),
        ("text", FOREIGN),
        ("1", FOREIGN),
        ("R:", FOREIGN),
        ("R:01234567890123", FOREIGN),
        ("R:0123456789012345", FOREIGN),
        ("r:012345678901234", FOREIGN),
        ("T:1:0:60000:1700000000000000", FOREIGN),
    ],
    // The units of a moment count from the last of them.
    freed_at: |taken, units| {
        let moment = |at: i64| i128::from(at) * 4_096 / i128::from(taken.window_ms.max(4_096));
        let of_moment = taken.at.iter().filter(|&&at| moment(at) == moment(taken.at[units - 1]));
        of_moment.max().expect("the unit itself") + taken.window_ms
    },
    slack_ms: 0,
    takes_constant_time: false,
    // In a window with moments so long that the requests of a test share one.
    events: [&["set", "expire"], &["setrange"], &[]],
    replicated: [&["SET"], &["SETRANGE"], &[]],
    ..AT_THE_RATE
};

/// The word of the concurrency limit. It counts holders and takes no COST, so it has no row in the table.
/// tests/module/lease.rs tests it, and what every command promises is tested with it there too.
pub const LEASE: &str = "LEASE";

/// The word of every algorithm, LEASE included.
pub fn algorithm_words() -> impl Iterator<Item = &'static str> {
    ALGORITHMS.iter().map(Algorithm::word).chain([LEASE])
}

/// Every algorithm that counts units: all but [`LEASE`]. What the module promises for them is tested over this table.
pub const ALGORITHMS: &[Algorithm] = &[FIXED, WINDOW, SLIDING, COUNTER, TOKEN, LEAKY, GCRA, ROLLING];

const NOT_AN_INTEGER: &str = "ERR value is not an integer or out of range";
pub const OVERFLOW: &str = "ERR increment or decrement would overflow";
pub const FOREIGN: &str = "ERR the key holds a value that this algorithm did not write";

impl Algorithm {
    /// Its name where a command takes any algorithm.
    pub fn word(&self) -> &'static str {
        self.command.strip_prefix("RL.").expect("RL.")
    }

    /// The key of the state of `key` outside cluster mode.
    pub fn state_key(&self, key: &[u8], window_ms: u64, now_ms: u64) -> Vec<u8> {
        if self.key_per_window { [key, format!(":{}", now_ms / window_ms).as_bytes()].concat() } else { key.to_vec() }
    }

    /// The count of the reply: given what was counted before, and what this request adds to it.
    pub fn count(&self, before: i64, added: i64) -> i64 {
        if self.count_is_after { before + added } else { before }
    }

    /// The `ttl` of an allowed request, the last of those taken: the seconds until the whole limit is available.
    pub fn ttl_if_allowed(&self, taken: &Taken) -> RangeInclusive<i64> {
        self.ttl(taken, Some(taken.at.len()))
    }

    /// The `ttl` of a request denied at `taken.now`: the seconds until so many units no longer count, and the same
    /// request is allowed. `None` if that never happens.
    pub fn ttl_if_denied(&self, taken: &Taken, have_to_leave: Option<usize>) -> RangeInclusive<i64> {
        self.ttl(taken, have_to_leave)
    }

    fn ttl(&self, taken: &Taken, units: Option<usize>) -> RangeInclusive<i64> {
        if self.ttl_of_script {
            let window = seconds(taken.window_ms);
            return window..=window;
        }
        let Some(units) = units else { return -1..=-1 };
        let freed = self.freed_in(taken, units);
        seconds(*freed.start()).max(1)..=seconds(*freed.end()).max(1)
    }

    /// Compares `ttl` with the figures in ms of the same reply. There is nothing to compare with if it is the script's.
    #[track_caller]
    pub fn assert_ttl_agrees(&self, reply: &Full) {
        if self.ttl_of_script {
            return;
        }
        let expected = match reply {
            Full { allowed: 0, retry_after_ms: -1, .. } => -1,
            Full { allowed: 0, retry_after_ms, .. } => seconds(*retry_after_ms),
            Full { reset_ms, .. } => seconds(*reset_ms),
        };
        assert_eq!(reply.ttl, expected, "{self:?}: {reply:?}");
    }

    /// What a figure of FULL in ms may be that says when so many units no longer count.
    pub fn freed_in(&self, taken: &Taken, units: usize) -> RangeInclusive<i64> {
        let left = (self.freed_at)(taken, units) - taken.now;
        left..=left + self.slack_ms
    }
}

/// Rounded up.
fn seconds(millis: i64) -> i64 {
    (millis + 999) / 1_000
}

/// The algorithms that keep a record of integers, and how to write one.
pub fn records() -> impl Iterator<Item = (&'static Algorithm, Record)> {
    ALGORITHMS.iter().filter_map(|algorithm| Some((algorithm, algorithm.record?)))
}

impl fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.command)
    }
}
