//! The measured commands: what each is compared with, and what its key holds before.

use redis_rl_algorithm::Name;

/// One command, with placeholders that a measurement fills in.
///
/// Placeholders in `sends`: `KEY` is the key, `LIMIT` a limit that no run reaches, `NOW` the caller's clock in
/// milliseconds, `ONE` a fraction that makes a member unique, `FIXED_SCRIPT` and `SLIDING_SCRIPT` the digests of the
/// scripts, `LUA:TOKEN` that of the script of TOKEN from `lua/`, and `LUA:FIXED+TOKEN` that of several limits under these.
#[derive(Clone, Debug)]
pub struct Case {
    pub name: String,
    pub sends: String,
    /// A command, and how often it is sent to every key before the measurement.
    pub before: (String, usize),
    /// The first integer that the reply must have. A benchmark that takes the wrong path would measure something else.
    pub answers: Option<i64>,
    /// Whether every request makes the key larger, so that the next one costs more.
    pub grows: bool,
    /// The window of a rolling log in milliseconds: its instructions are counted at several sizes of the record. 0 for
    /// every other case.
    pub packed_ms: u64,
    /// What the request finds. If it has ended, the request is sent once.
    pub found: Option<Found>,
    /// How many keys the requests take turns on while instructions are counted, if neither field above says otherwise.
    pub keys: usize,
}

/// What a request finds.
#[derive(Clone, Copy, Debug)]
pub enum Found {
    /// [`super::lab::ENDED`] members of a log that have left the window.
    Members,
    /// As many reservations that have ended.
    Ended,
    /// 100,000 reservations that are open.
    Open,
}

impl Case {
    fn new(name: impl Into<String>, sends: impl Into<String>) -> Self {
        let (name, sends, before) = (name.into(), sends.into(), (String::new(), 0));
        Self { name, sends, before, answers: None, grows: false, packed_ms: 0, found: None, keys: 1 }
    }

    fn after(self, before: impl Into<String>, times: usize) -> Self {
        Self { before: (before.into(), times), ..self }
    }

    fn answers(self, first: i64) -> Self {
        Self { answers: Some(first), ..self }
    }

    fn grows(self) -> Self {
        Self { grows: true, ..self }
    }

    fn packed(self, window_ms: u64) -> Self {
        Self { packed_ms: window_ms, ..self }
    }

    fn finds(self, what: Found) -> Self {
        Self { found: Some(what), ..self }
    }
}

pub const FIXED_SCRIPT: &str = include_str!("../../tests/scripts/fixed_window.lua");
pub const SLIDING_SCRIPT: &str = include_str!("../../tests/scripts/sliding_window.lua");

/// A call under an algorithm, allowed and denied.
fn both(name: &str, sends: &str, word: &str) -> [Case; 2] {
    let (is_log, few) = if word == "SLIDING" { (true, 5) } else { (false, 1) };
    let allowed = Case::new(format!("{name} allowed"), format!("{sends} 3600 LIMIT")).answers(1);
    let denied = Case::new(format!("{name} denied"), format!("{sends} 3600 {few}")).answers(0);
    let denied = denied.after(format!("RL.{word} KEY 3600 {few}"), few);
    [Case { grows: is_log, ..allowed }, denied]
}

/// The server's own commands, which are the least that a command can cost, the scripts, which the module
/// replaces, and the commands of the module.
pub fn all() -> Vec<Case> {
    let mut cases = vec![
        Case::new("PING", "PING"),
        Case::new("INCR", "INCR KEY").after("SET KEY 1 EX 100000", 1),
        Case::new("ZADD", "ZADD KEY NOW NOW-ONE").grows(),
        // It counts denied requests as well, so allowed and denied are the same path.
        Case::new("fixed script", "EVALSHA FIXED_SCRIPT 1 KEY 3600 LIMIT").answers(1),
        Case::new("sliding script, allowed", "EVALSHA SLIDING_SCRIPT 1 KEY NOW 3600 LIMIT").answers(1).grows(),
        Case::new("sliding script, denied", "EVALSHA SLIDING_SCRIPT 1 KEY NOW 3600 5")
            .after("ZADD KEY NOW NOW-ONE", 5)
            .answers(0),
    ];
    let counting = || Name::ALL.into_iter().filter(|name| name.traits().cost).map(Name::word);
    for word in counting() {
        let sends = format!("EVALSHA LUA:{word} 1 KEY CHECK 3600 LIMIT LINE");
        let allowed = Case::new(format!("Lua {word}"), sends).answers(1);
        let packed_ms = if word == "ROLLING" { 3_600_000 } else { 0 };
        cases.push(Case { grows: word == "SLIDING", packed_ms, ..allowed });
    }
    cases.push(Case::new("Lua LEASE", "EVALSHA LUA:LEASE 1 KEY CHECK 3600 5 ID a LINE").answers(1));
    let of_two = "EVALSHA LUA:FIXED+TOKEN 2 KEY:a KEY:b MULTI 2 TOKEN 3600 LIMIT FIXED 3600 LIMIT LINE";
    cases.push(Case::new("Lua MULTI of 2", of_two).answers(1));
    // That of ROLLING depends on how many entries there are.
    for word in counting().filter(|word| *word != "ROLLING") {
        cases.extend(both(&format!("RL.{word}"), &format!("RL.{word} KEY"), word));
    }
    let several = |word: &str, limits: &str| {
        let each = limits.chars().map(|limit| format!(" {word} KEY:{limit} 3600 LIMIT"));
        let sends = format!("RL.MULTI {}{}", limits.len(), each.collect::<String>());
        Case::new(format!("RL.MULTI of {} {word}", limits.len()), sends).answers(1)
    };
    cases.extend([several("FIXED", "abc"), several("TOKEN", "ab"), several("TOKEN", "abcdefghij")]);
    const SHARE: &str = "TOKEN KEY:b 3600 LIMIT";
    cases.extend([
        Case::new("RL.SHARE of 2 TOKEN, own", format!("RL.SHARE 2 TOKEN KEY:a 3600 LIMIT {SHARE}")).answers(1),
        Case::new("RL.SHARE of 2 TOKEN, borrowed", format!("RL.SHARE 2 TOKEN KEY:a 3600 0 {SHARE}")).answers(2),
    ]);
    cases.extend([
        Case::new("RL.TOKEN allowed, FULL", "RL.TOKEN KEY 3600 LIMIT FULL"),
        Case::new("RL.GCRA allowed, LINE", "RL.GCRA KEY 3600 LIMIT LINE"),
        // RL.TOP has none of the keys, so each replaces another one.
        Case { keys: 1_000, ..Case::new("RL.GCRA denied, 1000 keys", "RL.GCRA KEY 3600 0").answers(0) },
        Case::new("RL.ROLLING allowed", "RL.ROLLING KEY 3600 LIMIT").packed(3_600_000).answers(1),
        Case::new("RL.ROLLING allowed, same moment", "RL.ROLLING KEY 3600 LIMIT").answers(1),
        Case::new("RL.ROLLING denied", "RL.ROLLING KEY 3600 LIMIT")
            .after("RL.ROLLING KEY 3600 LIMIT COST LIMIT", 1)
            .packed(3_600_000)
            .answers(0),
        // Each key in a millisecond of its own: a second renewal in one writes less.
        Case { keys: 1_000, ..Case::new("RL.LEASE renewed", "RL.LEASE KEY 3600 5 ID a") }
            .after("RL.LEASE KEY 3600 5 ID a", 1)
            .answers(1),
        Case::new("RL.LEASE denied", "RL.LEASE KEY 3600 1 ID b").after("RL.LEASE KEY 3600 1 ID a", 1).answers(0),
        // The first integer of its reply is 1 if the request is limited.
        Case::new("RL.THROTTLE allowed", "RL.THROTTLE KEY LIMIT LIMIT 3600").answers(0),
        Case::new("RL.THROTTLE denied", "RL.THROTTLE KEY 0 1 3600").after("RL.THROTTLE KEY 0 1 3600", 1).answers(1),
        Case::new("RL.PEEK FIXED", "RL.PEEK FIXED KEY 3600 LIMIT").after("RL.FIXED KEY 3600 LIMIT", 1).answers(1),
        Case::new("RL.REFUND FIXED", "RL.REFUND FIXED KEY 3600 LIMIT")
            .after("RL.FIXED KEY 3600 LIMIT COST LIMIT", 1)
            .answers(1),
    ]);
    let reserving = ["FIXED", "ROLLING"];
    let reserve = |word| Case::new(format!("RL.{word} RESERVE"), format!("RL.{word} KEY 3600 LIMIT RESERVE ONE 1h"));
    cases.extend(reserving.map(reserve));
    const RESERVE: &str = "RL.FIXED KEY 3600 LIMIT RESERVE a 1h";
    cases.extend([
        // It lasts longer already. Else the first call of each millisecond would write a later end.
        Case::new("RL.FIXED RESERVE, repeated", RESERVE).after("RL.FIXED KEY 3600 LIMIT RESERVE a 2h", 1),
        Case::new("RL.SETTLE FIXED RESERVATION, unknown", "RL.SETTLE FIXED KEY 3600 LIMIT RESERVATION b ACTUAL 1")
            .after(RESERVE, 1),
    ]);
    // What costs more the more there is to remove.
    let ended = |word| {
        let sends = format!("RL.{word} KEY 30d LIMIT RESERVE a 1h");
        Case::new(format!("RL.{word} RESERVE, 10,000 ended"), sends).finds(Found::Ended)
    };
    cases.extend(reserving.map(ended));
    cases.extend([
        Case::new("ZREMRANGEBYSCORE, 10,000 expired", "ZREMRANGEBYSCORE KEY 0 NOW")
            .answers(10_000)
            .finds(Found::Members),
        Case::new("RL.SLIDING allowed, 10,000 expired", "RL.SLIDING KEY 3600 LIMIT").answers(1).finds(Found::Members),
    ]);
    // Last: the allocator is busy for a while with the memory that they free.
    cases.extend([
        Case::new("RL.WINDOW RESERVE, 100,000 open", "RL.WINDOW KEY 30d LIMIT RESERVE new-ONE 1h").finds(Found::Open),
        Case::new(
            "RL.SETTLE WINDOW RESERVATION, 100,000 open",
            "RL.SETTLE WINDOW KEY 30d LIMIT RESERVATION ONE ACTUAL 1",
        )
        .finds(Found::Open),
    ]);
    cases
}
