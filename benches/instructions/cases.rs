//! The measured commands: what each is compared with, and what its key holds before.

/// One command, with placeholders that a measurement fills in.
///
/// Placeholders in `sends`: `KEY` is the key, `LIMIT` a limit that no run reaches, `NOW` the caller's clock in
/// milliseconds, `ONE` a fraction that makes a member unique, `FIXED_SCRIPT` and `SLIDING_SCRIPT` the digests of the
/// scripts, `LIBRARY` that of the Lua library, which is loaded as functions too.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub name: &'static str,
    pub sends: &'static str,
    /// A command, and how often it is sent to every key before the measurement.
    pub before: (&'static str, usize),
    /// The first integer that the reply must have. A benchmark that takes the wrong path would measure something else.
    pub answers: Option<i64>,
    /// Whether every request makes the key larger, so that the next one costs more.
    pub grows: bool,
    /// The window of a rolling log in milliseconds: its instructions are counted at several sizes of the record. 0 for
    /// every other case.
    pub packed_ms: u64,
    /// What has ended before the request. It is sent once then.
    pub ended: Option<Ended>,
    /// How many keys the requests take turns on while instructions are counted, if neither field above says otherwise.
    pub keys: usize,
}

/// What the next request removes.
#[derive(Clone, Copy, Debug)]
pub enum Ended {
    /// [`super::lab::ENDED`] reservations of the limit.
    Reservations,
    /// As many members of a log.
    Members,
}

impl Case {
    const fn new(name: &'static str, sends: &'static str) -> Self {
        let (before, answers, grows, packed_ms, ended, keys) = (("", 0), None, false, 0, None, 1);
        Self { name, sends, before, answers, grows, packed_ms, ended, keys }
    }

    const fn after(self, before: &'static str, times: usize) -> Self {
        Self { before: (before, times), ..self }
    }

    const fn answers(self, first: i64) -> Self {
        Self { answers: Some(first), ..self }
    }

    const fn grows(self) -> Self {
        Self { grows: true, ..self }
    }

    const fn packed(self, window_ms: u64) -> Self {
        Self { packed_ms: window_ms, ..self }
    }

    const fn ended(self, what: Ended) -> Self {
        Self { ended: Some(what), ..self }
    }

    const fn on_keys(self, keys: usize) -> Self {
        Self { keys, ..self }
    }
}

pub const FIXED_SCRIPT: &str = include_str!("../../tests/scripts/fixed_window.lua");
pub const SLIDING_SCRIPT: &str = include_str!("../../tests/scripts/sliding_window.lua");

/// The Lua library.
pub const LIBRARY_SOURCE: &str = include_str!("../../lua/rl.lua");

/// The server's own commands: the least that a command can cost.
pub const PING: Case = Case::new("PING", "PING");
pub const INCR: Case = Case::new("INCR", "INCR KEY").after("SET KEY 1 EX 100000", 1);
pub const ZADD: Case = Case::new("ZADD", "ZADD KEY NOW NOW-ONE").grows();

/// The scripts that the module's commands are compared with.
pub const SCRIPTS: [Case; 3] = [
    // It counts denied requests as well, so allowed and denied are the same path.
    Case::new("fixed script", "EVALSHA FIXED_SCRIPT 1 KEY 3600 LIMIT").answers(1),
    Case::new("sliding script, allowed", "EVALSHA SLIDING_SCRIPT 1 KEY NOW 3600 LIMIT").answers(1).grows(),
    Case::new("sliding script, denied", "EVALSHA SLIDING_SCRIPT 1 KEY NOW 3600 5")
        .after("ZADD KEY NOW NOW-ONE", 5)
        .answers(0),
];

/// The Lua library in both forms: what the module saves.
pub const LIBRARY: [Case; 12] = [
    Case::new("FCALL rl FIXED allowed", "FCALL rl 1 KEY FIXED 3600 LIMIT").answers(1),
    Case::new("FCALL rl FIXED denied", "FCALL rl 1 KEY FIXED 3600 1").after("RL.FIXED KEY 3600 1", 1).answers(0),
    Case::new("FCALL rl SLIDING allowed", "FCALL rl 1 KEY SLIDING 3600 LIMIT").answers(1).grows(),
    Case::new("FCALL rl SLIDING denied", "FCALL rl 1 KEY SLIDING 3600 5").after("RL.SLIDING KEY 3600 5", 5).answers(0),
    Case::new("FCALL rl TOKEN allowed", "FCALL rl 1 KEY TOKEN 3600 LIMIT").answers(1),
    Case::new("FCALL rl TOKEN denied", "FCALL rl 1 KEY TOKEN 3600 1").after("RL.TOKEN KEY 3600 1", 1).answers(0),
    Case::new("EVALSHA rl FIXED allowed", "EVALSHA LIBRARY 1 KEY rl FIXED 3600 LIMIT").answers(1),
    Case::new("EVALSHA rl FIXED denied", "EVALSHA LIBRARY 1 KEY rl FIXED 3600 1")
        .after("RL.FIXED KEY 3600 1", 1)
        .answers(0),
    Case::new("EVALSHA rl SLIDING allowed", "EVALSHA LIBRARY 1 KEY rl SLIDING 3600 LIMIT").answers(1).grows(),
    Case::new("EVALSHA rl SLIDING denied", "EVALSHA LIBRARY 1 KEY rl SLIDING 3600 5")
        .after("RL.SLIDING KEY 3600 5", 5)
        .answers(0),
    Case::new("EVALSHA rl TOKEN allowed", "EVALSHA LIBRARY 1 KEY rl TOKEN 3600 LIMIT").answers(1),
    Case::new("EVALSHA rl TOKEN denied", "EVALSHA LIBRARY 1 KEY rl TOKEN 3600 1")
        .after("RL.TOKEN KEY 3600 1", 1)
        .answers(0),
];

pub const COMMANDS: [Case; 39] = [
    Case::new("RL.FIXED allowed", "RL.FIXED KEY 3600 LIMIT").answers(1),
    Case::new("RL.FIXED denied", "RL.FIXED KEY 3600 1").after("RL.FIXED KEY 3600 1", 1).answers(0),
    Case::new("RL.WINDOW allowed", "RL.WINDOW KEY 3600 LIMIT").answers(1),
    Case::new("RL.WINDOW denied", "RL.WINDOW KEY 3600 1").after("RL.WINDOW KEY 3600 1", 1).answers(0),
    Case::new("RL.SLIDING allowed", "RL.SLIDING KEY 3600 LIMIT").answers(1).grows(),
    Case::new("RL.SLIDING denied", "RL.SLIDING KEY 3600 5").after("RL.SLIDING KEY 3600 5", 5).answers(0),
    Case::new("RL.COUNTER allowed", "RL.COUNTER KEY 3600 LIMIT").answers(1),
    Case::new("RL.COUNTER denied", "RL.COUNTER KEY 3600 1").after("RL.COUNTER KEY 3600 1", 1).answers(0),
    Case::new("RL.TOKEN allowed", "RL.TOKEN KEY 3600 LIMIT").answers(1),
    Case::new("RL.TOKEN allowed, FULL", "RL.TOKEN KEY 3600 LIMIT FULL"),
    Case::new("RL.TOKEN allowed, LINE", "RL.TOKEN KEY 3600 LIMIT LINE"),
    Case::new("RL.TOKEN denied", "RL.TOKEN KEY 3600 1").after("RL.TOKEN KEY 3600 1", 1).answers(0),
    Case::new("RL.LEAKY allowed", "RL.LEAKY KEY 3600 LIMIT").answers(1),
    Case::new("RL.LEAKY denied", "RL.LEAKY KEY 3600 1").after("RL.LEAKY KEY 3600 1", 1).answers(0),
    Case::new("RL.GCRA allowed", "RL.GCRA KEY 3600 LIMIT").answers(1),
    Case::new("RL.GCRA denied", "RL.GCRA KEY 3600 1").after("RL.GCRA KEY 3600 1", 1).answers(0),
    // RL.TOP has none of the keys, so each replaces another one.
    Case::new("RL.GCRA denied, 1000 keys", "RL.GCRA KEY 3600 0").on_keys(1_000).answers(0),
    Case::new("RL.ROLLING allowed", "RL.ROLLING KEY 3600 LIMIT").packed(3_600_000).answers(1),
    Case::new("RL.ROLLING allowed, same moment", "RL.ROLLING KEY 3600 LIMIT").answers(1),
    Case::new("RL.ROLLING denied", "RL.ROLLING KEY 3600 LIMIT")
        .after("RL.ROLLING KEY 3600 LIMIT COST LIMIT", 1)
        .packed(3_600_000)
        .answers(0),
    Case::new("RL.LEASE renewed", "RL.LEASE KEY 3600 5 ID a").after("RL.LEASE KEY 3600 5 ID a", 1).answers(1),
    Case::new("RL.LEASE denied", "RL.LEASE KEY 3600 1 ID b").after("RL.LEASE KEY 3600 1 ID a", 1).answers(0),
    // The first integer of its reply is 1 if the request is limited.
    Case::new("RL.THROTTLE allowed", "RL.THROTTLE KEY LIMIT LIMIT 3600").answers(0),
    Case::new("RL.THROTTLE denied", "RL.THROTTLE KEY 0 1 3600").after("RL.THROTTLE KEY 0 1 3600", 1).answers(1),
    Case::new(
        "RL.MULTI of 3 FIXED, allowed",
        "RL.MULTI 3 FIXED KEY:a 3600 LIMIT FIXED KEY:b 3600 LIMIT FIXED KEY:c 3600 LIMIT",
    )
    .answers(1),
    Case::new(
        "RL.MULTI of 3 FIXED, denied",
        "RL.MULTI 3 FIXED KEY:a 3600 LIMIT FIXED KEY:b 3600 LIMIT FIXED KEY:c 3600 1",
    )
    .after("RL.FIXED KEY:c 3600 1", 1)
    .answers(0),
    Case::new("RL.MULTI of 2 TOKEN", "RL.MULTI 2 TOKEN KEY:a 3600 LIMIT TOKEN KEY:b 3600 LIMIT").answers(1),
    Case::new("RL.MULTI of 3 TOKEN", "RL.MULTI 3 TOKEN KEY:a 3600 LIMIT TOKEN KEY:b 3600 LIMIT TOKEN KEY:c 3600 LIMIT")
        .answers(1),
    Case::new(
        "RL.MULTI of 10 TOKEN",
        "RL.MULTI 10 TOKEN KEY:a 3600 LIMIT TOKEN KEY:b 3600 LIMIT TOKEN KEY:c 3600 LIMIT TOKEN KEY:d 3600 LIMIT \
         TOKEN KEY:e 3600 LIMIT TOKEN KEY:f 3600 LIMIT TOKEN KEY:g 3600 LIMIT TOKEN KEY:h 3600 LIMIT \
         TOKEN KEY:i 3600 LIMIT TOKEN KEY:j 3600 LIMIT",
    )
    .answers(1),
    Case::new("RL.PEEK FIXED", "RL.PEEK FIXED KEY 3600 LIMIT").after("RL.FIXED KEY 3600 LIMIT", 1).answers(1),
    Case::new("RL.REFUND FIXED", "RL.REFUND FIXED KEY 3600 LIMIT")
        .after("RL.FIXED KEY 3600 LIMIT COST LIMIT", 1)
        .answers(1),
    Case::new("HSET", "HSET KEY ONE 1:1795269620000:1795273220000:1795273220000:3600000"),
    Case::new("RL.FIXED RESERVE", "RL.FIXED KEY 3600 LIMIT RESERVE ONE 1h"),
    Case::new("RL.WINDOW RESERVE", "RL.WINDOW KEY 3600 LIMIT RESERVE ONE 1h"),
    Case::new("RL.COUNTER RESERVE", "RL.COUNTER KEY 3600 LIMIT RESERVE ONE 1h"),
    Case::new("RL.ROLLING RESERVE", "RL.ROLLING KEY 3600 LIMIT RESERVE ONE 1h"),
    Case::new("RL.FIXED RESERVE, repeated", "RL.FIXED KEY 3600 LIMIT RESERVE a 1h")
        .after("RL.FIXED KEY 3600 LIMIT RESERVE a 1h", 1),
    Case::new("RL.SETTLE FIXED RESERVATION, unknown", "RL.SETTLE FIXED KEY 3600 LIMIT RESERVATION b ACTUAL 1")
        .after("RL.FIXED KEY 3600 LIMIT RESERVE a 1h", 1),
    Case::new("RL.RESET FIXED of nothing", "RL.RESET FIXED KEY 3600").answers(0),
];

/// What costs more the more there is to remove, and what costs the same however much was counted before. Instructions only.
pub const GROWTH: [Case; 11] = [
    // The marks of the reservations leave no room for another one, so it is denied.
    Case::new("RL.FIXED RESERVE, 10,000 ended", "RL.FIXED KEY 30d LIMIT RESERVE a 1h").answers(0).ended(RESERVATIONS),
    Case::new("RL.WINDOW RESERVE, 10,000 ended", "RL.WINDOW KEY 30d LIMIT RESERVE a 1h").answers(0).ended(RESERVATIONS),
    Case::new("RL.COUNTER RESERVE, 10,000 ended", "RL.COUNTER KEY 30d LIMIT RESERVE a 1h")
        .answers(0)
        .ended(RESERVATIONS),
    Case::new("RL.ROLLING RESERVE, 10,000 ended", "RL.ROLLING KEY 30d LIMIT RESERVE a 1h")
        .answers(0)
        .ended(RESERVATIONS),
    Case::new("ZREMRANGEBYSCORE, 10,000 expired", "ZREMRANGEBYSCORE KEY 0 NOW").answers(10_000).ended(Ended::Members),
    Case::new("RL.SLIDING allowed, 10,000 expired", "RL.SLIDING KEY 3600 LIMIT").answers(1).ended(Ended::Members),
    Case::new("RL.FIXED allowed, a million before", "RL.FIXED KEY 3600 1000000000")
        .after("RL.FIXED KEY 3600 1000000000 COST 1000000", 1)
        .answers(1),
    Case::new("RL.COUNTER allowed, a million before", "RL.COUNTER KEY 3600 1000000000")
        .after("RL.COUNTER KEY 3600 1000000000 COST 1000000", 1)
        .answers(1),
    Case::new("RL.TOKEN allowed, a million before", "RL.TOKEN KEY 30d 1000000000")
        .after("RL.TOKEN KEY 30d 1000000000 COST 1000000", 1)
        .answers(1),
    Case::new("RL.LEAKY allowed, a million before", "RL.LEAKY KEY 30d 1000000000")
        .after("RL.LEAKY KEY 30d 1000000000 COST 1000000", 1)
        .answers(1),
    Case::new("RL.GCRA allowed, a million before", "RL.GCRA KEY 30d 1000000000")
        .after("RL.GCRA KEY 30d 1000000000 COST 1000000", 1)
        .answers(1),
];

const RESERVATIONS: Ended = Ended::Reservations;

/// The counter of Redis 8.8 that does not go above a bound.
pub const INCREX: [Case; 2] = [
    Case::new("INCREX allowed", "INCREX KEY BYINT 1 UBOUND LIMIT EX 3600 ENX"),
    Case::new("INCREX denied", "INCREX KEY BYINT 1 UBOUND 1 EX 3600 ENX")
        .after("INCREX KEY BYINT 1 UBOUND 1 EX 3600 ENX", 1)
        .answers(1),
];

/// The commands of redis-cell, if it is loaded.
pub const CELL: [Case; 2] = [
    Case::new("redis-cell CL.THROTTLE allowed", "CL.THROTTLE KEY LIMIT LIMIT 3600").answers(0),
    Case::new("redis-cell CL.THROTTLE denied", "CL.THROTTLE KEY 0 1 3600")
        .after("CL.THROTTLE KEY 0 1 3600", 1)
        .answers(1),
];

/// The server's own commands, the scripts, the Lua library, and the commands of the module.
pub fn all() -> Vec<Case> {
    [PING, INCR, ZADD].into_iter().chain(SCRIPTS).chain(LIBRARY).chain(COMMANDS).collect()
}
