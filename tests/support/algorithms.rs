//! The algorithms under test. A row here brings every test over `ALGORITHMS` along.

use std::fmt;
use std::ops::RangeInclusive;

/// What the tests have to know of an algorithm beyond the grammar that all share.
#[derive(Clone, Copy)]
pub struct Algorithm {
    /// As the headers say it: its word in lower case.
    pub name: &'static str,
    pub command: &'static str,
    pub state: State,
    pub takes_burst: bool,
    /// Whether a changed limit changes what was taken with it, instead of giving room at once.
    pub rescales: bool,
    /// Whether what is admitted is told to wait until all that was taken before has come back.
    pub delays: bool,
    /// The longest window in seconds, and the greatest limit in it.
    pub largest: (i64, i64),
    /// The time, in ms, from which on that many of the units taken no longer count.
    pub freed_at: fn(&Taken, units: usize) -> i64,
    /// The time, in ms, that the reply's `ttl` counts down to, but for the two that answer as the scripts.
    pub ttl_until: fn(&Taken) -> i64,
    /// The time, in ms, at which the state's key expires.
    pub expires_at: fn(&Taken) -> i64,
    /// The STRING that says so many units are taken: given those, the limit, the window and the time in µs.
    pub record: fn(taken: i64, limit: i64, window_us: i64, at_us: i64) -> String,
    /// Values of the state's own type that are no such state, and the error each brings.
    pub foreign: &'static [(&'static str, &'static str)],
}

/// Where an algorithm keeps what it knows of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// A STRING at `key:<bucket>` that denied requests count on.
    Counter,
    /// A ZSET at the key.
    Log,
    /// A STRING at the key.
    Record,
}

/// What has been admitted to a key since it was empty, none of it gone by itself.
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

    /// A request of that many units at that time; of none where it was denied.
    pub fn take(&mut self, units: usize, now: i64) {
        self.at.extend(vec![now; units]);
        self.now = now;
    }

    /// The end of the aligned window of the last request.
    fn window_end(&self) -> i64 {
        (self.now / self.window_ms + 1) * self.window_ms
    }

    /// When that many have come back at the rate; they never do at a limit of 0, and a window is what is said then.
    fn back_at(&self, units: usize) -> i64 {
        let begin = self.at.first().unwrap_or(&self.now);
        let time = if self.limit == 0 { self.window_ms } else { units as i64 * self.window_ms / self.limit };
        begin + time
    }
}

/// What most algorithms are: a record at the key, and units that come back at the rate.
const AT_THE_RATE: Algorithm = Algorithm {
    name: "",
    command: "",
    state: State::Record,
    takes_burst: true,
    rescales: false,
    delays: false,
    largest: (1_000_000_000_000, i64::MAX),
    freed_at: Taken::back_at,
    ttl_until: |taken| taken.back_at(taken.at.len()),
    expires_at: |taken| taken.back_at(taken.at.len()),
    record: |_, _, _, _| unreachable!("no record"),
    foreign: &[
        ("", FOREIGN),
        ("text", FOREIGN),
        ("0", FOREIGN),
        ("-1", FOREIGN),
        ("X:1:0:60000000:1700000000000000", FOREIGN),
        ("1:0:60000000:1700000000000000", FOREIGN),
        (":1:0:60000000:1700000000000000", FOREIGN),
    ],
};

pub const FIXED: Algorithm = Algorithm {
    name: "fixed",
    command: "RL.FIXED",
    state: State::Counter,
    takes_burst: false,
    freed_at: |taken, _| taken.window_end(),
    ttl_until: |_| unreachable!("as the script"),
    expires_at: |taken| taken.at[0] + taken.window_ms,
    record: |taken, _, _, _| taken.to_string(),
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
    ..AT_THE_RATE
};

pub const SLIDING: Algorithm = Algorithm {
    name: "sliding",
    command: "RL.SLIDING",
    state: State::Log,
    takes_burst: false,
    freed_at: |taken, units| taken.at[units - 1] + taken.window_ms,
    ttl_until: |_| unreachable!("as the script"),
    expires_at: |taken| taken.now + 2 * taken.window_ms,
    foreign: &[],
    ..AT_THE_RATE
};

pub const COUNTER: Algorithm = Algorithm {
    name: "counter",
    command: "RL.COUNTER",
    takes_burst: false,
    // All of one window fade together while the next one passes.
    freed_at: |taken, units| {
        let all = taken.at.len() as i64;
        taken.window_end() + taken.window_ms * units as i64 / all
    },
    ttl_until: Taken::window_end,
    expires_at: |taken| taken.window_end() + taken.window_ms,
    record: |taken, _, window, at| format!("C:{}:{}:{taken}:0", window / 1_000, at / window),
    ..AT_THE_RATE
};

pub const TOKEN: Algorithm = Algorithm {
    name: "token",
    command: "RL.TOKEN",
    record: |taken, _, window, at| format!("T:{taken}:0:{}:{at}", window / 1_000),
    ..AT_THE_RATE
};

pub const LEAKY: Algorithm = Algorithm {
    name: "leaky",
    command: "RL.LEAKY",
    delays: true,
    record: |taken, _, window, at| format!("L:{taken}:0:{}:{at}", window / 1_000),
    ..AT_THE_RATE
};

pub const GCRA: Algorithm = Algorithm {
    name: "gcra",
    command: "RL.GCRA",
    rescales: true,
    // What is ahead of the clock fits 126 years of nanoseconds.
    largest: (4_000_000_000, 4_000_000_000_000_000_000),
    record: |taken, limit, window, at| (at * 1_000 + taken * (window * 1_000 / limit)).to_string(),
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

/// Every algorithm. What the whole server promises is tested over this table.
pub const ALGORITHMS: &[Algorithm] = &[FIXED, SLIDING, COUNTER, TOKEN, LEAKY, GCRA];

const NOT_AN_INTEGER: &str = "ERR value is not an integer or out of range";
pub const FOREIGN: &str = "ERR the key holds a value that is no state of this algorithm";

impl Algorithm {
    /// Its name where a command takes any algorithm.
    pub fn word(&self) -> &'static str {
        self.command.strip_prefix("RL.").expect("RL.")
    }

    /// Where the state of `key` lies outside cluster mode.
    pub fn state_key(&self, key: &[u8], window_ms: u64, now_ms: u64) -> Vec<u8> {
        match self.state {
            State::Counter => [key, format!(":{}", now_ms / window_ms).as_bytes()].concat(),
            State::Log | State::Record => key.to_vec(),
        }
    }

    /// What TYPE says of that key.
    pub fn state_type(&self) -> &'static str {
        if self.state == State::Log { "zset" } else { "string" }
    }

    /// The count of the reply: given what was counted before, and what this request adds to it.
    pub fn count(&self, before: i64, added: i64) -> i64 {
        if self.state == State::Counter { before + added } else { before }
    }

    /// Whether a denied request of cost 1 is counted.
    pub fn counts_denials(&self) -> bool {
        self.state == State::Counter
    }

    /// COMMAND DOCS: whether a call takes the same time whatever was counted.
    pub fn takes_constant_time(&self) -> bool {
        self.state != State::Log
    }

    /// What the reply's `ttl` may be, the last request being one of those taken or a denied one.
    pub fn ttl(&self, taken: &Taken) -> RangeInclusive<i64> {
        if self.state != State::Record {
            // What the scripts say.
            let window = (taken.window_ms + 999) / 1_000;
            return window..=window;
        }
        let until = (self.ttl_until)(taken) - taken.now;
        let [least, most] = [until, until + self.slack_ms()].map(|left| ((left + 999) / 1_000).max(1));
        least..=most
    }

    /// What a figure of FULL in ms may be that says when so many units have come back.
    pub fn freed_in(&self, taken: &Taken, units: usize) -> RangeInclusive<i64> {
        let left = (self.freed_at)(taken, units) - taken.now;
        left..=left + self.slack_ms()
    }

    /// How much later than the times above, which are reckoned in ms, the server's may be, which are in µs.
    pub fn slack_ms(&self) -> i64 {
        if self.state == State::Record { 2 } else { 0 }
    }
}

impl fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.command)
    }
}
