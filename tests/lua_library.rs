//! lua/rl.lua replies and stores what the module does, whatever the calls and the keys are. Both get the same random
//! calls at the same time, on two servers whose clock the test moves.
//!
//! `SECONDS_EACH=10` is how long the comparison runs. The cases are the same each time; `SEED=random` runs others. A
//! failure prints a seed, and `SEED=n` runs that case first. The servers run both forms of the library, and Redis 6.2 the
//! script.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use redis::{Cmd, Connection, Value};
use support::*;

const LIBRARY: &str = include_str!("../lua/rl.lua");

/// The function form.
fn library() -> String {
    format!("#!lua name=rl\n{LIBRARY}")
}

fn load_functions(con: &mut Connection) {
    assert_eq!(ok(cmd!(*con, "FUNCTION", "LOAD", "REPLACE", library())), bytes("rl"));
}

fn load_script(con: &mut Connection) -> String {
    read(ok(cmd!(*con, "SCRIPT", "LOAD", LIBRARY)))
}

/// How a call of the library is sent.
#[derive(Clone, Debug)]
enum Form {
    Function,
    Script(String),
}

/// A call of both sides.
#[derive(Clone, Debug)]
struct Call {
    /// The name of the function.
    name: &'static str,
    /// Each key, and the words that follow it: of the native command, but for the key. The first is the algorithm, if
    /// the command takes one.
    limits: Vec<(Vec<u8>, Vec<Vec<u8>>)>,
    /// FULL or HEADERS.
    tail: Vec<Vec<u8>>,
}

impl Call {
    fn takes_algorithm(&self) -> bool {
        !matches!(self.name, "rl_release" | "rl_renew")
    }

    fn native(&self) -> Cmd {
        let (key, words) = &self.limits[0];
        let mut command = if self.name == "rl" {
            redis::cmd(&format!("RL.{}", text(&words[0])))
        } else {
            redis::cmd(&self.name.replace("rl_", "RL.").to_uppercase())
        };
        match self.name {
            "rl" => _ = command.arg(key).arg(&words[1..]),
            "rl_multi" => {
                command.arg(self.limits.len());
                for (key, words) in &self.limits {
                    command.arg(&words[0]).arg(key).arg(&words[1..]);
                }
            }
            _ if self.takes_algorithm() => _ = command.arg(&words[0]).arg(key).arg(&words[1..]),
            _ => _ = command.arg(key).arg(words),
        }
        command.arg(&self.tail);
        command
    }

    fn library(&self, form: &Form) -> Cmd {
        let mut command = redis::cmd(if matches!(form, Form::Function) { "FCALL" } else { "EVALSHA" });
        match form {
            Form::Function => command.arg(self.name),
            Form::Script(digest) => command.arg(digest),
        };
        command.arg(self.limits.len());
        self.limits.iter().for_each(|(key, _)| _ = command.arg(key));
        if matches!(form, Form::Script(_)) {
            command.arg(self.name);
        }
        self.limits.iter().for_each(|(_, words)| _ = command.arg(words));
        command.arg(&self.tail);
        command
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn shown(command: &Cmd) -> String {
    let words = command.args_iter().map(|word| match word {
        redis::Arg::Simple(bytes) => bytes.escape_ascii().to_string(),
        _ => "?".to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The keys of a server: name, type, value and expiry. ARGV: names that may have expired. Looking at them deletes them,
/// so that a clock that steps back brings none of them back on one server only.
const DUMP: &str = r"
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _, name in ipairs(ARGV) do redis.call('EXISTS', name) end
local all = {}
for _, name in ipairs(redis.call('KEYS', '*')) do
  local kind, value = redis.call('TYPE', name).ok, {}
  if kind == 'string' then value = { redis.call('GET', name) } end
  if kind == 'hash' then value = redis.call('HGETALL', name) end
  if kind == 'zset' then value = redis.call('ZRANGE', name, 0, -1, 'WITHSCORES') end
  local expiry = redis.pcall('PEXPIRETIME', name)
  if type(expiry) == 'table' then
    expiry = redis.call('PTTL', name)
    if expiry >= 0 then expiry = expiry + now end
  end
  -- Lua rounds a time from 2^53 on.
  table.insert(all, { name, kind, value, expiry < 2 ^ 53 and string.format('%.0f', expiry) or 'far away' })
end
return all
";

/// What [`DUMP`] says of an expiry that a double does not hold.
const FAR_AWAY: &str = "far away";

/// Type, value and expiry.
type Key = (String, Vec<Vec<u8>>, String);
type Keys = BTreeMap<Vec<u8>, Key>;

fn shown_keys(keys: &Keys) -> String {
    let mut all = String::new();
    for (name, (kind, value, expiry)) in keys {
        let value: Vec<_> = value.iter().map(|part| part.escape_ascii().to_string()).collect();
        writeln!(all, "  {} {kind} [{}] expires at {expiry}", name.escape_ascii(), value.join(" ")).expect("a string");
    }
    all
}

fn dump(names: &BTreeSet<Vec<u8>>) -> Cmd {
    redis::cmd("EVAL").arg(DUMP).arg(0).arg(names.iter().collect::<Vec<_>>()).to_owned()
}

fn keys_of(dumped: Answer) -> Keys {
    let Answer::Value(dumped) = dumped else { panic!("{dumped:?}") };
    /// The name, then as in [`Key`].
    type Line = (Vec<u8>, String, Vec<Vec<u8>>, String);
    let all: Vec<Line> = read(dumped);
    all.into_iter().map(|(name, kind, value, expiry)| (name, (kind, value, expiry))).collect()
}

/// The keys, without the numbers in the names of members: each side numbers the units of a millisecond in its own way.
fn comparable(keys: &Keys) -> Keys {
    let mut keys = keys.clone();
    for (kind, value, _) in keys.values_mut() {
        if kind == "hash" {
            let mut fields: Vec<Vec<u8>> = value.chunks(2).map(|pair| pair.join(&b' ')).collect();
            fields.sort();
            *value = fields;
        }
        if kind == "zset" {
            let mut members: Vec<Vec<u8>> = value
                .chunks(2)
                .map(|pair| {
                    let name = text(&pair[0]);
                    let unit = name.split_once("-0.").filter(|(ms, n)| {
                        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
                        digits(ms) && digits(n)
                    });
                    let name = unit.map_or(pair[0].clone(), |(ms, _)| ms.as_bytes().to_vec());
                    [&name, &b" "[..], &pair[1]].concat()
                })
                .collect();
            members.sort();
            *value = members;
        }
    }
    keys
}

/// Random calls, keys and times of one case.
struct Case {
    random: Random,
    windows: Vec<(String, i64)>,
    limits: Vec<i64>,
    now: i64,
}

const ALL: [&str; 8] = ["FIXED", "WINDOW", "SLIDING", "COUNTER", "TOKEN", "LEAKY", "GCRA", "LEASE"];
const EXACT: i64 = 1 << 53;
const HUGE: [i64; 6] = [EXACT - 2, EXACT - 1, EXACT, EXACT + 1, i64::MAX - 1, i64::MAX];

impl Case {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        const STARTS: [i64; 6] = [
            1_700_000_000_000_000,
            1_700_000_000_000_000,
            951_782_400_000_000,   // 29 February 2000
            1_767_225_599_999_999, // the end of 2025
            4_107_542_400_000_000, // 1 March 2100
            5_000_000_000,         // 1970
        ];
        let now = random.pick(&STARTS) + random.below(86_400_000_000) as i64;
        let windows = (0..2)
            .map(|_| {
                const WINDOWS: [(&str, i64); 22] = [
                    ("1", 1_000),
                    ("1", 1_000),
                    ("60", 60_000),
                    ("60", 60_000),
                    ("1ms", 1),
                    ("2ms", 2),
                    ("3ms", 3),
                    ("7ms", 7),
                    ("10ms", 10),
                    ("999ms", 999),
                    ("1001ms", 1_001),
                    ("1500ms", 1_500),
                    ("100ms", 100),
                    ("5m", 300_000),
                    ("1h", 3_600_000),
                    ("1d", 86_400_000),
                    ("7d", 604_800_000),
                    ("365d", 31_536_000_000),
                    ("1000000000", 1_000_000_000_000),
                    ("10000000001", 10_000_000_001_000),
                    ("1000000000000", 1_000_000_000_000_000),
                    ("999999999999999ms", 999_999_999_999_999),
                ];
                // The longest are rare: most algorithms have no room for them.
                let count = if random.below(4) == 0 { WINDOWS.len() } else { WINDOWS.len() - 4 };
                let (text, ms) = random.pick(&WINDOWS[..count]);
                (text.to_owned(), ms)
            })
            .collect();
        let limits = (0..2)
            .map(|_| match random.below(12) {
                0 => 0,
                1 => random.pick(&HUGE),
                2 => random.pick(&[100, 1_000, 12_345, 1_000_000, 999_999_999_999, 4_000_000_000_000_000]),
                _ => random.pick(&[1, 1, 2, 2, 3, 5, 10]),
            })
            .collect();
        Self { random, windows, limits, now }
    }

    fn chance(&mut self, one_in: u64) -> bool {
        self.random.below(one_in) == 0
    }

    fn window(&mut self) -> (String, i64) {
        let at = if self.chance(5) { 1 } else { 0 };
        self.windows[at].clone()
    }

    fn limit(&mut self) -> i64 {
        let at = if self.chance(4) { 1 } else { 0 };
        self.limits[at]
    }

    /// A cost, most often a small one.
    fn units(&mut self) -> i64 {
        let limit = self.limit();
        match self.random.below(12) {
            0 => 0,
            1 => limit,
            2 => limit.saturating_add(1),
            3 if self.chance(4) => self.random.pick(&HUGE),
            3 if self.chance(2) => self.random.pick(&[999, 1_001, 2_500, 9_999, 10_000, 10_001]),
            _ => 1 + self.random.below(4) as i64,
        }
    }

    fn anchor(&mut self) -> i64 {
        let now = self.now / 1_000_000;
        match self.random.below(5) {
            0 => 0,
            1 => self.random.pick(&[253_402_300_799, 1_769_860_800, 951_782_400 + 43_200, 86_399]),
            _ => (now + self.random.below(40_000_000) as i64 - 20_000_000).max(0),
        }
    }

    /// The time of a request, in ms.
    fn at(&mut self) -> i64 {
        let (_, window) = self.window();
        let now = self.now / 1_000;
        match self.random.below(8) {
            0 => self.random.pick(&[0, i64::MAX, now + 5, EXACT + 1]),
            1 => now,
            2 => now - window,
            3 => now - window + 1,
            _ => now - self.random.below(2 * window as u64 + 1) as i64,
        }
        .max(0)
    }

    fn id(&mut self) -> String {
        format!("h{}", self.random.below(4))
    }

    /// `<ALGO> window limit [options]`.
    fn limit_words(&mut self, name: &str, algorithm: &str) -> Vec<String> {
        let (mut window, _) = self.window();
        let mut options: Vec<Vec<String>> = Vec::new();
        let limit = self.limit();
        let with = |word: &str, value: String| vec![word.to_owned(), value];
        if algorithm == "FIXED" {
            if self.chance(4) {
                window = self.random.pick(&["day", "week", "month", "year", "MONTH"]).to_owned();
            }
            if self.chance(4) {
                let anchor = self.anchor();
                options.push(with("ANCHOR", anchor.to_string()));
            }
        }
        let is_request = matches!(name, "rl" | "rl_multi" | "rl_peek");
        if matches!(algorithm, "TOKEN" | "LEAKY" | "GCRA") && name != "rl_reset" && self.chance(4) {
            let burst = self.units().max(1);
            options.push(with("BURST", burst.to_string()));
        }
        if algorithm == "LEASE" {
            if is_request && !(name == "rl_peek" && self.chance(3)) {
                let id = self.id();
                options.push(with("ID", id));
            }
        } else if (is_request || name == "rl_refund") && self.chance(2) {
            let cost = self.units();
            options.push(with("COST", cost.to_string()));
        }
        if matches!(name, "rl" | "rl_peek") && algorithm != "LEASE" && self.chance(6) {
            options.push(vec!["PARTIAL".to_owned()]);
        }
        let takes_always = matches!(algorithm, "FIXED" | "WINDOW" | "COUNTER" | "TOKEN") || self.chance(20);
        if matches!(name, "rl" | "rl_peek") && takes_always && self.chance(4) {
            options.push(vec!["ALWAYS".to_owned()]);
        }
        let takes_reserve = matches!(algorithm, "FIXED" | "WINDOW" | "COUNTER") && name != "rl_peek" || self.chance(40);
        if is_request && takes_reserve && self.chance(2) {
            let (id, ttl) = (self.id(), self.random.pick(&["1ms", "1", "7s", "1m", "1h"]).to_owned());
            options.push(vec!["RESERVE".to_owned(), id, ttl]);
        }
        if is_request && self.chance(8) {
            options.push(vec!["SHADOW".to_owned()]);
        }
        if is_request && self.chance(8) {
            let policy = self.random.pick(&["a", "b", "a-2", "x.Y_0-9"]).to_owned();
            options.push(with("AS", policy));
        }
        if matches!(name, "rl_refund" | "rl_settle") && self.chance(3) {
            let at = self.at();
            options.push(with("AT", at.to_string()));
        }
        if name == "rl_settle" {
            let (reserved, actual) = (self.units(), self.units());
            let takes_reservation = matches!(algorithm, "FIXED" | "WINDOW" | "COUNTER") || self.chance(20);
            if takes_reservation && self.chance(2) {
                let id = self.id();
                options.retain(|option| option[0] != "AT");
                options.push(with("RESERVATION", id));
            } else {
                options.push(with("RESERVED", reserved.to_string()));
            }
            options.push(with("ACTUAL", actual.to_string()));
        }
        let mut words = vec![algorithm.to_owned(), window];
        if name != "rl_reset" {
            words.push(limit.to_string());
        }
        while !options.is_empty() {
            let at = self.random.below(options.len() as u64) as usize;
            words.extend(options.swap_remove(at));
        }
        words
    }

    fn call(&mut self, keys: &[&str]) -> Call {
        const NAMES: [&str; 16] = [
            "rl",
            "rl",
            "rl",
            "rl",
            "rl",
            "rl",
            "rl",
            "rl_multi",
            "rl_multi",
            "rl_peek",
            "rl_peek",
            "rl_refund",
            "rl_settle",
            "rl_settle",
            "rl_reset",
            "rl",
        ];
        let (key, algorithm) = self.key_and_algorithm(keys);
        let lease = algorithm == "LEASE";
        let name = if lease && self.chance(3) {
            self.random.pick(&["rl_release", "rl_renew"])
        } else {
            self.random.pick(&NAMES)
        };
        let key_bytes = key.as_bytes().to_vec();
        let mut limits: Vec<(Vec<u8>, Vec<String>)> = match name {
            "rl_multi" => (0..1 + self.random.below(3))
                .map(|_| {
                    let (key, algorithm) = self.key_and_algorithm(keys);
                    (key.into_bytes(), self.limit_words(name, algorithm))
                })
                .collect(),
            "rl_release" | "rl_renew" => {
                let mut words: Vec<String> = (0..1 + self.random.below(3)).map(|_| self.id()).collect();
                if name == "rl_renew" {
                    words.insert(0, self.window().0);
                }
                vec![(key_bytes, words)]
            }
            _ => vec![(key_bytes, self.limit_words(name, algorithm))],
        };
        let forms: &[&[&str]] = &[&[], &[], &["FULL"], &["FULL"], &["LINE"], &["line"], &["HEADERS"], &["headers"]];
        let has_form = !matches!(name, "rl_reset" | "rl_release" | "rl_renew");
        let mut tail = if has_form { self.random.pick(forms) } else { &[] };
        if has_form && self.chance(40) {
            tail = self.random.pick(&[
                &["FULL", "FULL"][..],
                &["FULL", "HEADERS"],
                &["HEADERS", "LINE"],
                &["LINE", "LINE"],
                &["HEADERS", "X"],
                &["X"],
            ]);
        }
        let mut limits: Vec<(Vec<u8>, Vec<Vec<u8>>)> =
            limits.drain(..).map(|(key, words)| (key, words.into_iter().map(String::into_bytes).collect())).collect();
        if self.chance(8) {
            self.spoil(&mut limits, name);
        }
        Call { name, limits, tail: tail.iter().map(|word| word.as_bytes().to_vec()).collect() }
    }

    /// A key, and most often the algorithm whose state it has.
    fn key_and_algorithm(&mut self, keys: &[&str]) -> (String, &'static str) {
        let at = self.random.below(keys.len() as u64) as usize;
        let own = ALL.iter().position(|&word| keys[at].starts_with(word)).expect("an algorithm");
        let at_random = if self.chance(12) { self.random.below(ALL.len() as u64) as usize } else { own };
        (keys[at].to_owned(), ALL[at_random])
    }

    /// Makes a word wrong, takes one away or adds one. Only the last limit may change its length: the others are
    /// followed by a key in one grammar and not in the other.
    fn spoil(&mut self, limits: &mut [(Vec<u8>, Vec<Vec<u8>>)], name: &str) {
        let count = limits.len();
        let which = self.random.below(count as u64) as usize;
        let (last, words) = (which + 1 == count, &mut limits[which].1);
        let takes_algorithm = !matches!(name, "rl_release" | "rl_renew");
        // RL.<another word> is no command, and a window in the place of an algorithm is one in the other grammar.
        let first = usize::from(takes_algorithm && name != "rl_peek");
        if words.len() <= first {
            return;
        }
        let at = first + self.random.below((words.len() - first) as u64) as usize;
        let bad = |random: &mut Random| match random.below(4) {
            0 => random.pick(BAD_WINDOWS).to_vec(),
            1 => random.pick(BAD_LIMITS).to_vec(),
            2 => random.pick(BAD_COSTS).to_vec(),
            _ => {
                const WORDS: [&str; 22] = [
                    "COST",
                    "BURST",
                    "ANCHOR",
                    "ID",
                    "AS",
                    "AT",
                    "RESERVED",
                    "ACTUAL",
                    "PARTIAL",
                    "SHADOW",
                    "FULL",
                    "cost",
                    "Partial",
                    "month",
                    "FIXED",
                    "token",
                    "a b",
                    "a\u{e4}",
                    "0",
                    "1",
                    "253402300800",
                    "x",
                ];
                random.pick(&WORDS).as_bytes().to_vec()
            }
        };
        match self.random.below(4) {
            0 | 1 => {
                let word = bad(&mut self.random);
                // An algorithm in the place of an option begins another limit.
                let begins = ALL.iter().any(|name| word.eq_ignore_ascii_case(name.as_bytes()));
                if last || at < 3 || !begins {
                    words[at] = word;
                }
            }
            2 if last => words.insert((at + 1).min(words.len()), bad(&mut self.random)),
            3 if last && at > 0 => _ = words.remove(at),
            _ => {
                // An option, twice or not taken.
                let pairs = [["COST", "1"], ["BURST", "2"], ["ANCHOR", "3"], ["ID", "h1"], ["AS", "c"], ["AT", "5"]];
                let more = [
                    ["RESERVED", "1"],
                    ["ACTUAL", "2"],
                    ["SHADOW", "SHADOW"],
                    ["PARTIAL", "PARTIAL"],
                    ["RESERVE", "h1"],
                    ["RESERVATION", "h1"],
                ];
                let pair = if self.chance(2) { self.random.pick(&pairs) } else { self.random.pick(&more) };
                if last {
                    words.extend(pair.map(|word| word.as_bytes().to_vec()));
                }
            }
        }
    }

    /// What one of the keys holds before the next call: the commands that write it.
    fn plant(&mut self, keys: &[&str]) -> Vec<Cmd> {
        let (key, algorithm) = self.key_and_algorithm(keys);
        let (_, window) = self.window();
        let now_ms = self.now / 1_000;
        let mut name = key.clone();
        if algorithm == "FIXED" || key.starts_with("FIXED") {
            name = match self.random.below(4) {
                0 => format!("{key}:day:{}", now_ms / 86_400_000 * 86_400_000),
                _ => format!("{key}:{}", now_ms / window),
            };
        }
        let mut commands = vec![redis::cmd("DEL").arg(&name).to_owned()];
        let command = match self.random.below(20) {
            0 => "RPUSH",
            1 => "HSET",
            2 if self.chance(2) => "SADD",
            _ if matches!(algorithm, "SLIDING" | "LEASE") => "ZADD",
            _ => "SET",
        };
        let mut write = redis::cmd(command);
        write.arg(&name);
        match command {
            "ZADD" => _ = write.arg(self.members(algorithm, window)),
            "SET" => _ = write.arg(self.record(algorithm, window)),
            "HSET" => _ = write.arg(&["field", "1"]),
            _ => _ = write.arg("1"),
        }
        commands.push(write);
        if !self.chance(4) {
            let expiry = match self.random.below(6) {
                0 => now_ms + self.random.pick(&[1, 2, 499, 500, 501, 1_500, 30_000, 1_000_000]),
                1 => i64::MAX / 2,
                2 => now_ms + window + window / 2 + self.random.below(5) as i64 - 2,
                3 => now_ms + 2 * window,
                4 => now_ms + window,
                _ => now_ms + 1 + self.random.below(3 * window as u64) as i64,
            };
            commands.push(redis::cmd("PEXPIREAT").arg(&name).arg(expiry.max(now_ms + 1)).to_owned());
        }
        commands
    }

    /// Scores and members of a sorted set.
    fn members(&mut self, algorithm: &str, window: i64) -> Vec<String> {
        let (now, mut words) = (self.now / 1_000, Vec::new());
        let count = if self.chance(10) { 150 } else { 1 + self.random.below(6) };
        let odd = self.chance(3);
        for n in 0..count {
            let score = if odd && self.chance(2) {
                const SCORES: [&str; 13] = [
                    "-inf",
                    "-1e300",
                    "-5",
                    "-0.5",
                    "0",
                    "0.5",
                    "1",
                    "1e12",
                    "1e15",
                    "9007199254740993",
                    "1e19",
                    "1e300",
                    "inf",
                ];
                self.random.pick(&SCORES).to_owned()
            } else {
                let around = self.random.pick(&[0, 0, -window, window]);
                let tenths = self.random.pick(&[-1_000, -10, -5, 0, 0, 0, 5, 10, 1_000]);
                let tenths = ((now + around) * 10 + tenths).max(0);
                format!("{}.{}", tenths / 10, tenths % 10)
            };
            words.push(score);
            words.push(match algorithm {
                "LEASE" if n < 4 => format!("h{n}"),
                // Some have the name that a new member would get.
                _ if self.chance(4) => format!("{now}-0.{n}"),
                _ => format!("x{n}"),
            });
        }
        words
    }

    /// The text of a record or a counter: a valid one, most often.
    fn record(&mut self, algorithm: &str, window: i64) -> String {
        const OTHERS: [&str; 22] = [
            "",
            "text",
            "1.5",
            " 1",
            "1\0",
            "+1",
            "01",
            "-0",
            "-1",
            "0",
            "T:",
            "T:1:0:60000",
            "T:1:0:60000:1:",
            "C:1",
            "T:1:0:60000:1700000000000000:0",
            "L:1:0:60000:1700000000000000:1:1",
            "18446744073709551616",
            "9223372036854775808",
            "-9223372036854775809",
            "t:1:0:60000:1700000000000000",
            "T::0:60000:1",
            "C:60000:1:1:1:",
        ];
        if self.chance(8) {
            return self.random.pick(&OTHERS).to_owned();
        }
        let limit = self.limit();
        let count = |case: &mut Self| match case.random.below(12) {
            0 => case.random.pick(&HUGE),
            1 => limit,
            2 => limit.saturating_add(1),
            3 => 0,
            _ => case.random.below(8) as i64,
        };
        let window_ms =
            if self.chance(4) { self.random.pick(&[1, 7, 1_000, 60_000, 999_999_999_999_999]) } else { window };
        let at = match self.random.below(10) {
            0 => self.random.pick(&[0, i64::MAX, EXACT]),
            1 | 2 => self.now + self.random.below(2_000 * window.min(1 << 45) as u64) as i64,
            _ => (self.now - self.random.below(1_500 * window.min(1 << 45) as u64) as i64).max(0),
        };
        match algorithm {
            "TOKEN" | "LEAKY" => {
                let part = if self.chance(2) { 0 } else { self.random.below(1_000 * window_ms as u64 + 1) };
                let tag = if self.chance(20) { "X" } else { &algorithm[..1] };
                let mut text = format!("{tag}:{}:{part}:{window_ms}:{at}", count(self));
                if self.chance(4) {
                    write!(text, ":{}", count(self)).expect("a string");
                }
                text
            }
            "COUNTER" => {
                let number = (at / 1_000 / window_ms + self.random.below(3) as i64 - 1).max(0);
                format!("C:{window_ms}:{number}:{}:{}", count(self), count(self))
            }
            "GCRA" => match self.random.below(8) {
                0 => self.random.pick(&[0, 1, 999, 1_000, u64::MAX, 1 << 63, EXACT as u64]).to_string(),
                _ => (i128::from(at.min(i64::MAX / 1_000)) * 1_000 + i128::from(self.random.below(1_000))).to_string(),
            },
            "FIXED" | "WINDOW" => match self.random.below(6) {
                0 => (-1 - self.random.below(5) as i64).to_string(),
                1 => self.random.pick(&[i64::MIN, -EXACT, EXACT, EXACT - 1, EXACT - 2]).to_string(),
                _ => count(self).to_string(),
            },
            _ => "1".to_owned(),
        }
    }

    /// When the next call is.
    fn next_time(&mut self) -> i64 {
        let (_, window) = self.window();
        let window_us = window.min(1 << 45) * 1_000;
        let step = match self.random.below(20) {
            0..8 => 0,
            8..10 => self.random.below(1_000) as i64,
            10..12 => self.random.below(5_000) as i64,
            12..15 => self.random.below(window_us as u64) as i64,
            15 => window_us,
            16 => 2 * window_us - 1,
            17 => 1_000 * self.random.pick(&[1, 999, 60_000, 86_400_000, 2_678_400_000]),
            18 => -(self.random.below(window_us as u64) as i64),
            _ => -self.random.pick(&[1, 1_000, 3_600_000_000]),
        };
        // Below 2^53 microseconds, whose end is in the year 2255.
        self.now = (self.now + step).clamp(1_000_000, 8_500_000_000_000_000);
        self.now
    }
}

/// A reply that two sides can be compared by.
#[derive(Clone, Debug, PartialEq)]
enum Answer {
    Value(Value),
    Error(String),
}

fn answer(reply: Reply) -> Answer {
    match reply.and_then(Value::extract_error) {
        Ok(value) => Answer::Value(value),
        // The server itself counts the arguments of a native command, and names it.
        error => match err(error) {
            error if error.starts_with("ERR wrong number of arguments") => {
                Answer::Error("ERR wrong number of arguments".to_owned())
            }
            error => Answer::Error(error),
        },
    }
}

/// The library's own error, of a number that a double does not hold.
const INEXACT: &str = "9007199254740991";

impl Answer {
    fn is_inexact(&self) -> bool {
        matches!(self, Self::Error(error) if error.contains(INEXACT))
    }

    fn outcome(&self) -> &'static str {
        match self {
            Self::Error(_) => "errors",
            Self::Value(Value::Array(parts)) => match parts.as_slice() {
                [Value::BulkString(_), Value::Int(0), ..] | [Value::Int(0), ..] => "denied",
                _ => "allowed",
            },
            Self::Value(_) => "integers",
        }
    }
}

/// Whether a text has an integer of 2^53 or more, or one that can be such a number of milliseconds in seconds, or that is
/// so close that the sum with a cost is one.
fn has_large_integer(text: &str) -> bool {
    let integers = text.split(|character: char| !character.is_ascii_digit()).filter_map(|digits| digits.parse().ok());
    integers
        .into_iter()
        .any(|n: u128| n >= 9_000_000_000_000_000 || (9_000_000_000_000..99_999_999_999_999).contains(&n))
}

/// A server with the module, one with the library, and their clock.
struct Lab {
    clock: FrozenClock,
    native: Connection,
    library: Connection,
    forms: Vec<Form>,
    // The last field: the connections end first.
    _servers: [Server; 2],
}

impl Lab {
    fn start(with_module: &ServerBin, with_library: &ServerBin) -> Self {
        let clock = FrozenClock::at(1_700_000_000_000_000);
        let native = clock.govern(Server::options(with_module)).start();
        let library = clock.govern(Server::options(with_library).without_module()).start();
        let (mut native_con, mut library_con) = (native.con(), library.con());
        for con in [&mut native_con, &mut library_con] {
            clock.assert_governs(con);
            ok(cmd!(*con, "DEBUG", "SET-ACTIVE-EXPIRE", 0));
        }
        let mut forms = vec![Form::Script(load_script(&mut library_con))];
        if with_library.is_supported() {
            load_functions(&mut library_con);
            forms.push(Form::Function);
        }
        Self { clock, native: native_con, library: library_con, forms, _servers: [native, library] }
    }

    /// Sends commands to the server with the module, and others to that with the library; returns the replies of both.
    fn both(&mut self, native: &[&Cmd], library: &[&Cmd]) -> [Vec<Answer>; 2] {
        let mut sides = [(&mut self.native, native), (&mut self.library, library)];
        for (con, commands) in &mut sides {
            let packed: Vec<u8> = commands.iter().flat_map(|command| command.get_packed_command()).collect();
            con.send_packed_command(&packed).expect("a connection");
        }
        sides.map(|(con, commands)| commands.iter().map(|_| answer(con.recv_response())).collect())
    }
}

/// How often something happened.
type Seen = BTreeMap<String, u64>;

/// Runs one case; returns how many calls it compared.
fn run_case(lab: &mut Lab, seed: u64, seen: &mut Seen) -> u64 {
    let mut case = Case::new(seed);
    let own = case.random.pick(&ALL);
    let other = case.random.pick(&ALL);
    let names = [format!("{own}-a"), format!("{own}-b"), format!("{other}-c{{x}}")];
    let keys: Vec<&str> = names.iter().map(String::as_str).collect();
    for con in [&mut lab.native, &mut lab.library] {
        ok(cmd!(*con, "FLUSHALL"));
    }
    lab.clock.set(case.now);
    let mut story = format!("SEED={seed}\n");
    let (mut known, mut before) = (BTreeSet::new(), Keys::new());
    let calls = 1 + case.random.below(20);
    for n in 0..calls {
        if (n == 0 && case.chance(2)) || case.chance(12) {
            for command in case.plant(&keys) {
                writeln!(story, "  {}", shown(&command)).expect("a string");
                let [native, library] = lab.both(&[&command], &[&command]);
                assert_eq!(native, library, "{story}");
            }
            let look = dump(&known);
            let [planted, _] = lab.both(&[&look], &[&look]);
            before = planted.into_iter().map(keys_of).next().expect("one reply");
            known.extend(before.keys().cloned());
        }
        let call = case.call(&keys);
        let form = lab.forms[case.random.below(lab.forms.len() as u64) as usize].clone();
        writeln!(story, "  at {}: {}", case.now, shown(&call.native())).expect("a string");
        let look = dump(&known);
        let replies = lab.both(&[&call.native(), &look], &[&call.library(&form), &look]);
        let [(native, native_keys), (library, library_keys)] = replies.map(|replies| {
            let mut replies = replies.into_iter();
            let reply = replies.next().expect("a reply");
            (reply, keys_of(replies.next().expect("the keys")))
        });
        known.extend(native_keys.keys().chain(library_keys.keys()).cloned());
        let algorithm = if call.takes_algorithm() { text(&call.limits[0].1[0]).to_uppercase() } else { String::new() };
        let mut saw = |what: &str| *seen.entry(format!("{} {algorithm} {what}", call.name)).or_default() += 1;
        if library.is_inexact() {
            let keys = [&before, &native_keys].map(shown_keys).concat();
            let all = format!("{} {native:?} {keys}", shown(&call.native()));
            assert!(
                has_large_integer(&all) || all.contains(FAR_AWAY),
                "{form:?}: {library:?} instead of {native:?}, after\n{story}"
            );
            saw("inexact");
            return n + 1;
        }
        // A record that expires now is deleted by the SET of some servers; that of the module stays for this ms.
        let now_ms = case.now / 1_000;
        let [library_keys, native_keys] = [library_keys, native_keys].map(|mut keys| {
            let ends_now = |key: &Key| key.2 == now_ms.to_string();
            for (name, _) in keys.iter().filter(|(_, key)| ends_now(key)) {
                let delete = redis::cmd("DEL").arg(name).to_owned();
                lab.both(&[&delete], &[&delete]);
            }
            keys.retain(|_, key| !ends_now(key));
            keys
        });
        let [of_library, of_module] = [&library_keys, &native_keys].map(|keys| shown_keys(&comparable(keys)));
        if library != native || of_library != of_module {
            let held = shown_keys(&before);
            panic!(
                "{form:?}\n{story}keys before:\n{held}of the module: {native:?}\n{of_module}of the library: {library:?}\n{of_library}"
            );
        }
        saw(native.outcome());
        before = native_keys;
        lab.clock.set(case.next_time());
    }
    calls
}

/// The least number of cases on all servers together, however slow the machine is. Everything that must happen does so
/// in fewer.
const LEAST_CASES: u64 = 1_500;

/// How long the comparison runs.
fn duration() -> Duration {
    let seconds = std::env::var("SECONDS_EACH").map_or(10, |text| text.parse().expect("SECONDS_EACH is a number"));
    Duration::from_secs(seconds)
}

/// The seed of the first case, of the server of this number: always the same, so that a change fails only by what it
/// changed; `SEED=random` takes a new one, and `SEED=n` that of one case.
fn first_seed(number: u64) -> u64 {
    let apart = 100_000_000 * number;
    match std::env::var("SEED").as_deref() {
        Err(_) => 1 + apart,
        Ok("random") => {
            let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).expect("later than 1970");
            since_1970.as_micros() as u64 * 1_000 + apart
        }
        Ok(seed) => seed.parse().expect("SEED is a number, or random"),
    }
}

/// Compares the library on each server with the module on the same server, or on Redis 7.0.
#[test]
fn every_call_replies_and_stores_what_the_module_does() {
    let with_module = servers();
    let mut pairs: Vec<(ServerBin, ServerBin)> = with_module.iter().map(|bin| (bin.clone(), bin.clone())).collect();
    pairs.extend(unsupported_servers().into_iter().map(|old| (with_module[0].clone(), old)));
    let seen = Mutex::new((Seen::new(), 0));
    let least = LEAST_CASES / pairs.len() as u64;
    thread::scope(|scope| {
        let seen = &seen;
        for (number, (with_module, with_library)) in pairs.iter().enumerate() {
            let thread = thread::Builder::new().name(with_library.to_string());
            let compare = move || {
                let mut lab = Lab::start(with_module, with_library);
                let (begun, mut seed) = (Instant::now(), first_seed(number as u64));
                let (mut here, mut calls, mut cases) = (Seen::new(), 0, 0);
                while begun.elapsed() < duration() || cases < least {
                    calls += run_case(&mut lab, seed, &mut here);
                    cases += 1;
                    seed += 1;
                }
                println!("{with_library}: {calls} calls in {cases} cases, {} s", begun.elapsed().as_secs());
                let mut seen = seen.lock().expect("no other thread has failed");
                here.into_iter().for_each(|(what, count)| *seen.0.entry(what).or_default() += count);
                seen.1 += calls;
            };
            thread.spawn_scoped(scope, compare).expect("a thread starts");
        }
    });
    let (seen, calls) = seen.into_inner().expect("no thread has failed");
    assert_all_happened(&seen, calls);
}

/// What the comparison is there for must have happened.
fn assert_all_happened(seen: &Seen, calls: u64) {
    let count = |start: &str, end: &str| -> u64 {
        let found = seen.iter().filter(|(what, _)| what.starts_with(start) && what.ends_with(end));
        found.map(|(_, count)| count).sum()
    };
    for name in ["rl", "rl_multi", "rl_peek", "rl_refund", "rl_settle"] {
        for algorithm in ALL {
            if algorithm == "LEASE" && matches!(name, "rl_refund" | "rl_settle") {
                continue;
            }
            for outcome in ["allowed", "denied"] {
                assert!(
                    count(&format!("{name} {algorithm}"), outcome) > 0,
                    "{name} {algorithm} {outcome}: never; {seen:?}"
                );
            }
        }
        assert!(count(name, "errors") > 0, "{name}: no error; {seen:?}");
    }
    for name in ["rl_reset", "rl_release", "rl_renew"] {
        assert!(count(name, "integers") > 0, "{name}: never; {seen:?}");
    }
    let inexact = count("rl", "inexact");
    assert!(inexact * 10 < calls, "{inexact} of {calls} calls were not compared");
}

/// Runs a test with both forms of the library on every server, which has the module too.
fn with_both_forms(test: impl Fn(&Server, &mut Connection, &Form) + Sync) {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        load_functions(&mut con);
        let script = load_script(&mut con);
        for form in [Form::Function, Form::Script(script)] {
            ok(cmd!(con, "FLUSHALL"));
            test(&server, &mut con, &form);
        }
    });
}

/// `rl user TOKEN 60 5`: the name of the function, a key, and the words.
fn call(words: &str) -> Call {
    let mut words = words.split(' ');
    let name = words.next().expect("a name");
    let name = ["rl", "rl_peek", "rl_refund", "rl_settle", "rl_reset", "rl_release", "rl_renew"]
        .into_iter()
        .find(|known| *known == name)
        .expect("the name of a function");
    let key = words.next().expect("a key").as_bytes().to_vec();
    Call { name, limits: vec![(key, words.map(|word| word.as_bytes().to_vec()).collect())], tail: Vec::new() }
}

fn send(con: &mut Connection, form: &Form, words: &str) -> Answer {
    answer(call(words).library(form).query(con))
}

fn integers(numbers: &[i64]) -> Answer {
    Answer::Value(ints(numbers))
}

/// The words of a request of an algorithm.
fn request(algorithm: &str, window: &str, limit: &str) -> String {
    let id = if algorithm == "LEASE" { " ID h1" } else { "" };
    format!("{algorithm} {window} {limit}{id}")
}

/// What an earlier version has left at the name of reservations can be deleted.
#[test]
fn a_key_with_the_name_of_reservations_can_be_reset() {
    with_both_forms(|_, con, form| {
        ok(cmd!(*con, "SET", "k:reserved", 5));
        assert_eq!(send(con, form, "rl_reset k:reserved WINDOW 60"), Answer::Value(Value::Int(1)));
    });
}

/// In turn, on the same key of the same server.
#[test]
fn module_and_library_share_their_keys() {
    with_both_forms(|_, con, form| {
        for algorithm in ALL {
            let words = |id: i64| match algorithm {
                "LEASE" => format!("LEASE 1000000000 5 ID h{id}"),
                _ => format!("{algorithm} 1000000000 5"),
            };
            let mut counts = Vec::new();
            for n in 0..6 {
                let call = call(&format!("rl k:{algorithm} {}", words(n)));
                let command = if n % 2 == 0 { call.native() } else { call.library(form) };
                let reply: [i64; 3] = read(ok(command.query(con)));
                counts.push([reply[0], reply[1]]);
            }
            let expected: [i64; 6] = if algorithm == "FIXED" { [1, 2, 3, 4, 5, 6] } else { [0, 1, 2, 3, 4, 5] };
            let allowed = |n: usize| i64::from(n < 5);
            let expected: Vec<[i64; 2]> = expected.iter().enumerate().map(|(n, count)| [allowed(n), *count]).collect();
            assert_eq!(counts, expected, "{form:?} {algorithm}");
        }
        assert_eq!(send(con, form, "rl_renew k:LEASE 2000000000 h0 h4 h5"), Answer::Value(Value::Int(2)), "{form:?}");
        assert_eq!(ok(cmd!(*con, "RL.RELEASE", "k:LEASE", "h0", "h1")), Value::Int(2), "{form:?}");
        assert_eq!(send(con, form, "rl_release k:LEASE h1 h2"), Answer::Value(Value::Int(1)), "{form:?}");
        for algorithm in ALL {
            let reset = call(&format!("rl_reset k:{algorithm} {algorithm} 1000000000"));
            assert_eq!(ok(reset.library(form).query(con)), Value::Int(1), "{form:?} {algorithm}");
            assert_eq!(ok(reset.native().query(con)), Value::Int(0), "{form:?} {algorithm}");
        }
        assert_eq!(keys(con), Vec::<String>::new(), "{form:?}");
    });
}

/// Keys that no limit may have.
const NAMES_OF_RESERVATIONS: [&str; 3] = ["k:reserved", "{k}:60000ms:reserved", "k:reserved:ends"];

/// The words that no command takes: the errors of the module, word for word.
#[test]
fn bad_arguments_are_the_errors_of_the_module() {
    with_both_forms(|_, con, form| {
        let mut compared = 0;
        let mut compare = |call: &Call| {
            let [native, library] = [call.native(), call.library(form)].map(|command| answer(command.query(con)));
            if library.is_inexact() {
                assert!(has_large_integer(&shown(&call.native())), "{}: {library:?}", shown(&call.native()));
                return;
            }
            assert!(matches!(native, Answer::Error(_)), "{}: {native:?}", shown(&call.native()));
            assert_eq!(library, native, "{form:?} {}", shown(&call.native()));
            compared += 1;
        };
        for algorithm in ALL {
            for name in ["rl", "rl_peek", "rl_refund", "rl_settle"] {
                let good = call(&format!("{name} k {}", request(algorithm, "60", "5")));
                let with = |at: usize, word: &[u8]| {
                    let mut call = good.clone();
                    let words = &mut call.limits[0].1;
                    words.resize(words.len().max(at), b"COST".to_vec());
                    if at < words.len() {
                        words[at] = word.to_vec()
                    } else {
                        words.push(word.to_vec())
                    }
                    call
                };
                BAD_WINDOWS.iter().for_each(|window| compare(&with(1, window)));
                BAD_LIMITS.iter().for_each(|limit| compare(&with(2, limit)));
                if algorithm != "LEASE" {
                    BAD_COSTS.iter().for_each(|cost| compare(&with(4, cost)));
                }
                for words in ["", "NOW", "COST 1 COST 1", "FULL FULL", "FULL HEADERS", "BURST 1 BURST 1", "ID a ID a"] {
                    let mut call = good.clone();
                    call.limits[0].1.truncate(3);
                    call.limits[0].1.extend(words.split(' ').map(|word| word.as_bytes().to_vec()));
                    compare(&call);
                }
                for count in 1..3 {
                    let mut call = good.clone();
                    call.limits[0].1.truncate(count);
                    compare(&call);
                }
                for key in NAMES_OF_RESERVATIONS {
                    let mut call = good.clone();
                    call.limits[0].0 = key.as_bytes().to_vec();
                    // A settlement needs more.
                    if name == "rl_settle" {
                        let words = ["RESERVED", "1", "ACTUAL", "2"].map(|word| word.as_bytes().to_vec());
                        call.limits[0].1.extend(words);
                    }
                    compare(&call);
                    if name == "rl" {
                        let other = good.limits[0].clone();
                        compare(&Call { name: "rl_multi", limits: vec![other, call.limits[0].clone()], tail: vec![] });
                    }
                }
            }
        }
        for (words, key) in ["rl_release k a", "rl_renew k 60 a"]
            .into_iter()
            .flat_map(|words| NAMES_OF_RESERVATIONS.map(|key| (words, key)))
        {
            compare(&call(&words.replace(" k ", &format!(" {key} "))));
        }
        assert!(compared > 2_000, "{compared}");
    });
}

#[test]
fn what_only_the_module_has_is_an_error_that_says_so() {
    with_both_forms(|_, con, form| {
        let error = |text: &str| Answer::Error(text.to_owned());
        let rolling = error("ERR invalid algorithm: ROLLING needs the module, the Lua library has all others");
        for name in ["rl", "rl_peek", "rl_refund", "rl_reset"] {
            assert_eq!(send(con, form, &format!("{name} k ROLLING 60 5")), rolling, "{form:?}");
        }
        let largest = error("ERR invalid limit: the Lua library takes integers up to 9007199254740991");
        assert_eq!(send(con, form, "rl k TOKEN 60 9007199254740992"), largest, "{form:?}");
        assert_eq!(send(con, form, "rl k TOKEN 60 9007199254740991"), integers(&[1, 0, 1]), "{form:?}");
        ok(cmd!(*con, "SET", "k2:0", "9007199254740992"));
        let stored = error("ERR the key holds a number above 9007199254740991, which needs the module");
        assert_eq!(send(con, form, "rl k2 FIXED 1000000000000 5"), stored, "{form:?}");
        assert_eq!(ok(cmd!(*con, "GET", "k2:0")), bytes("9007199254740992"), "{form:?}");
        let arguments = error("ERR wrong number of arguments");
        for words in ["rl k", "rl k TOKEN", "rl k TOKEN 60", "rl_reset k TOKEN", "rl_renew k 60", "rl_release k"] {
            let command = call(words.trim_end());
            assert_eq!(answer(command.library(form).query(con)), arguments, "{form:?} {words}");
        }
        if let Form::Script(digest) = form {
            let unknown = err(cmd!(*con, "EVALSHA", digest, 1, "k", "rl_top", "TOKEN", 60, 5));
            assert!(unknown.starts_with("ERR invalid function: expected one of rl, rl_multi,"), "{unknown}");
        }
    });
}

/// A script cannot know the protocol of its client, and a Lua table has no order: a map would lose that of FULL.
#[test]
fn full_is_a_flat_array_on_resp3_too() {
    with_both_forms(|server, _, form| {
        let mut con = server.con3();
        let reply = ok(call("rl k TOKEN 60 5 FULL").library(form).query(&mut con));
        assert!(matches!(reply, Value::Array(_)), "{reply:?}");
        let figures = full(reply);
        assert_eq!((figures.allowed, figures.limit, figures.remaining), (1, 5, 4));
    });
}

#[test]
fn a_replica_peeks_and_has_what_its_master_has() {
    for_each_server(|bin| {
        let master = Server::options(bin).without_module().start();
        let mut con = master.con();
        load_functions(&mut con);
        let script = load_script(&mut con);
        let replica = Server::options(bin).without_module().replica_of(&master).start();
        wait_for_replica(&master, &replica);
        // Nothing goes while it is compared.
        ok(cmd!(con, "DEBUG", "SET-ACTIVE-EXPIRE", 0));
        let mut case = Case::new(1);
        case.windows = vec![("1000000".to_owned(), 1_000_000_000), ("100000".to_owned(), 100_000_000)];
        case.now = now_ms() * 1_000;
        let names: Vec<String> = ALL.iter().map(|word| format!("{word}-k")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut allowed = 0;
        for n in 0..2_000 {
            let form = if n % 2 == 0 { Form::Function } else { Form::Script(script.clone()) };
            let reply = answer(case.call(&names).library(&form).query(&mut con));
            allowed += usize::from(reply.outcome() == "allowed");
        }
        assert!(allowed > 200, "{allowed} of 2000");
        wait_for_replica(&master, &replica);
        let look = dump(&BTreeSet::new());
        let mut there = replica.con();
        let [here, copied] = [&mut con, &mut there].map(|con| keys_of(answer(look.query(con))));
        assert!(here.len() > 5, "{here:?}");
        assert_eq!(shown_keys(&copied), shown_keys(&here));

        // The functions come with the data. A script does not, and is loaded by the client.
        let peek = call("rl_peek TOKEN-k TOKEN 100000 5");
        let of_master = answer(peek.library(&Form::Function).query(&mut con));
        let mut read_only = redis::cmd("FCALL_RO");
        read_only.arg(&["rl_peek", "1", "TOKEN-k", "TOKEN", "100000", "5"]);
        assert_eq!(answer(read_only.query(&mut there)).outcome(), of_master.outcome());
        assert_eq!(load_script(&mut there), script);
        let mut read_only = redis::cmd("EVALSHA_RO");
        read_only.arg(&[&script, "1", "TOKEN-k", "rl_peek", "TOKEN", "100000", "5"]);
        assert_eq!(answer(read_only.query(&mut there)).outcome(), of_master.outcome());
        let written = err(call("rl TOKEN-k TOKEN 60 5").library(&Form::Function).query(&mut there));
        assert!(written.contains("READONLY"), "{written}");
        // A function that may write is refused by FCALL_RO on the master as well.
        let refused = err(cmd!(con, "FCALL_RO", "rl", 1, "TOKEN-k", "TOKEN", 60, 5));
        assert!(refused.contains("write flag"), "{refused}");
    });
}

/// At maxmemory the server refuses the functions that may create a key, and runs the others.
#[test]
fn at_maxmemory_what_frees_memory_runs() {
    for_each_server(|bin| {
        let server = Server::options(bin).without_module().start();
        let mut con = server.con();
        load_functions(&mut con);
        let script = Form::Script(load_script(&mut con));
        for words in ["rl a TOKEN 60 5", "rl b LEASE 60 5 ID h1", "rl c TOKEN 60 5", "rl d LEASE 60 5 ID h1"] {
            assert_eq!(send(&mut con, &Form::Function, words).outcome(), "allowed");
        }
        ok(cmd!(con, "CONFIG", "SET", "maxmemory", 1));
        for words in [
            "rl new TOKEN 60 5",
            "rl new FIXED 60 5",
            "rl new SLIDING 60 5",
            "rl_settle a TOKEN 60 5 RESERVED 1 ACTUAL 2",
        ] {
            let refused = err(call(words).library(&Form::Function).query(&mut con));
            assert!(refused.starts_with("OOM "), "{words}: {refused}");
            assert_eq!(
                send(&mut con, &script, words),
                Answer::Error("OOM command not allowed when used memory > 'maxmemory'.".to_owned()),
                "{words}"
            );
        }
        for (words, reply) in [("rl_renew b 60 h1", 1), ("rl_release b h1", 1), ("rl_reset a TOKEN 60", 1)] {
            assert_eq!(send(&mut con, &Form::Function, words), Answer::Value(Value::Int(reply)), "{words}");
        }
        assert_eq!(send(&mut con, &Form::Function, "rl_peek c TOKEN 60 5").outcome(), "allowed");
        assert_eq!(send(&mut con, &Form::Function, "rl_refund c TOKEN 60 5").outcome(), "allowed");
        assert_eq!(keys(&mut con), ["d"]);
        assert_eq!(send(&mut con, &script, "rl_release d h1"), Answer::Value(Value::Int(1)));
    });
}

#[test]
fn in_a_cluster_every_key_stays_in_its_slot() {
    for_each_server(|bin| {
        let cluster = Cluster::start(bin, 3, |options| options);
        let mut script = String::new();
        for node in &cluster.nodes {
            load_functions(&mut node.con());
            script = load_script(&mut node.con());
        }
        for form in [Form::Function, Form::Script(script)] {
            for key in ["user", "user:1", "{org}:2", "a{b}c", "x{"] {
                let mut con = cluster.owner(key).con();
                let call = call(&format!("rl {key} FIXED 1000000000 5"));
                let before: [i64; 3] = read(ok(call.native().query(&mut con)));
                let after: [i64; 3] = read(ok(call.library(&form).query(&mut con)));
                assert_eq!(after[1], before[1] + 1, "{form:?} {key}");
                let of_month = format!("rl {key} FIXED month 5 ANCHOR 1");
                assert_eq!(send(&mut con, &form, &of_month).outcome(), "allowed", "{form:?} {key}");
            }
            for key in ["a}b", "}", "{}a"] {
                let mut con = cluster.owner(key).con();
                let call = call(&format!("rl {key} FIXED 60 5"));
                let [native, library] =
                    [call.native(), call.library(&form)].map(|command| err(command.query(&mut con)));
                assert!(native.starts_with("ERR invalid key"), "{native}");
                assert_eq!(library, native, "{form:?} {key}");
            }
            // All limits of a call are in one slot.
            let mut con = cluster.owner("{org}").con();
            let several = Call {
                name: "rl_multi",
                limits: ["{org}:t", "{org}:f"]
                    .iter()
                    .zip([["TOKEN", "60", "5"], ["FIXED", "60", "5"]])
                    .map(|(key, words)| (key.as_bytes().to_vec(), words.map(|word| word.as_bytes().to_vec()).to_vec()))
                    .collect(),
                tail: Vec::new(),
            };
            let (allowed, _): (i64, Value) = read(ok(several.library(&form).query(&mut con)));
            assert_eq!(allowed, 1, "{form:?}");
            let mut crossing = several.clone();
            crossing.limits[1].0 = b"{other}:f".to_vec();
            assert!(err(crossing.library(&form).query(&mut con)).starts_with("CROSSSLOT"), "{form:?}");
        }
    });
}

/// The permissions in docs/lua.md are enough for every call.
#[test]
fn the_documented_permissions_are_enough() {
    const PAGE: &str = include_str!("../docs/lua.md");
    let lines: Vec<&str> = PAGE.lines().filter(|line| line.starts_with("ACL SETUSER app ")).collect();
    assert_eq!(lines.len(), 4);
    for_each_server(|bin| {
        let server = Server::options(bin).without_module().start();
        let mut con = server.con();
        load_functions(&mut con);
        let script = load_script(&mut con);
        for line in &lines {
            let words: Vec<&str> = line.split(' ').collect();
            ok(redis::cmd("ACL").arg(&words[1..]).query(&mut con));
        }
        let mut user = server.con();
        ok(cmd!(user, "AUTH", "app", "secret"));
        // Redis 7.0 has other words for a command that a script calls.
        let refuses =
            |error: &str| ["NOPERM", "ermission", "can't access", "can't run"].iter().any(|word| error.contains(word));
        let mut case = Case::new(2);
        // Every algorithm on every key is WRONGTYPE now and then, which is a reply as well.
        for _ in 0..1_500 {
            let mut call = case.call(&ALL);
            call.limits.iter_mut().for_each(|(key, _)| key.splice(..0, *b"user:").for_each(drop));
            if let Answer::Error(error) = answer(call.library(&Form::Function).query(&mut user)) {
                assert!(!refuses(&error), "{}: {error}", shown(&call.native()));
            }
        }
        let denied = |reply: Reply| assert!(err(reply).contains("NOPERM"));
        denied(cmd!(user, "FCALL", "rl", 1, "other", "TOKEN", 60, 5));
        denied(cmd!(user, "EVALSHA", &script, 1, "user:1", "rl", "TOKEN", 60, 5));
        denied(cmd!(user, "DEL", "user:1"));
        ok(cmd!(con, "ACL", "SETUSER", "app", "+evalsha", "+evalsha_ro", "+script|load"));
        ok(cmd!(user, "EVALSHA", &script, 1, "user:2", "rl", "TOKEN", 60, 5));
        // The counter of FIXED has another key.
        ok(cmd!(con, "ACL", "SETUSER", "app", "resetkeys", "~user:1"));
        let error = err(cmd!(user, "FCALL", "rl", 1, "user:1", "FIXED", 60, 5));
        assert!(refuses(&error), "{error}");
        assert_eq!(ok(cmd!(con, "EXISTS", "user:1:0")), Value::Int(0));
    });
}

/// A locale in which `a` comes before `B`, and `9` before `0`. As bytes they are in the other order.
fn other_locale(dir: &Path) {
    const CHARACTERS: &str = "<code_set_name> ANSI_X3.4-1968\n<comment_char> %\n<escape_char> /\n<mb_cur_min> 1\n\
        <mb_cur_max> 1\nCHARMAP\n<U0000>..<U007F> /x00\nEND CHARMAP\n";
    let digits: String = ('0'..='9').rev().map(|digit| format!("<U{:04X}>\n", digit as u32)).collect();
    let order = format!(
        "comment_char %\nescape_char /\nLC_COLLATE\norder_start forward\n<U0061>\n<U0042>\n{digits}order_end\n\
        END LC_COLLATE\n"
    );
    let path = |name: &str| dir.join(name);
    fs::write(path("characters"), CHARACTERS).expect("written");
    fs::write(path("order"), order).expect("written");
    let mut localedef = Command::new("localedef");
    localedef.arg("-c").arg("-i").arg(path("order")).arg("-f").arg(path("characters")).arg(path("other"));
    // It warns of the parts of a locale that nobody needs here.
    let output = localedef.output().expect("localedef, of the C library");
    assert!(path("other/LC_COLLATE").exists(), "{}", text(&output.stderr));
}

/// The order of ids, and of digits, is that of their bytes also where the server has another one.
#[test]
fn the_locale_of_the_server_changes_nothing() {
    const CALLS: [&str; 3] = [
        // What is given back first empties the counter, so the order shows.
        "rl_settle k WINDOW 1h 10 RESERVATION none ACTUAL 0",
        "rl huge WINDOW 1h 9007199254740991",
        "rl huge WINDOW 1h 9223372036854775808",
    ];
    let dir = tempfile::tempdir().expect("a directory");
    other_locale(dir.path());
    for_each_server(|bin| {
        let module = Server::start(bin);
        let other = Server::options(bin).without_module();
        let other = other.env("LOCPATH", dir.path().display()).env("LC_ALL", "other").start();
        let [mut con, mut other] = [module.con(), other.con()];
        load_functions(&mut other);
        let script = load_script(&mut other);
        for (left, right) in [("a", "B"), ("9", "0")] {
            let before = format!("return tostring('{left}' < '{right}')");
            assert_eq!(ok(cmd!(other, "EVAL", before, 0)), bytes("true"), "the locale is not in force");
        }

        let now = now_ms();
        let (ended, until) = (now - 1_000, now + 3_600_000);
        let field = format!("5:{}:{ended}:{until}:60000", now - 2_000);
        let found = |con: &mut Connection, form: Option<&Form>| {
            ok(cmd!(*con, "FLUSHALL"));
            ok(cmd!(*con, "SET", "k", 4, "PXAT", until));
            ok(cmd!(*con, "HSET", "k:reserved", "", ended, "a", &field, "B", &field));
            let replies = CALLS.map(|words| {
                let call = call(words);
                match answer(form.map_or_else(|| call.native(), |form| call.library(form)).query(con)) {
                    Answer::Value(value) => Answer::Value(ints(&read::<[i64; 3]>(value)[..2])),
                    error => error,
                }
            });
            (replies, read::<BTreeMap<String, String>>(ok(cmd!(*con, "HGETALL", "k:reserved"))))
        };
        let expected = found(&mut con, None);
        let mark = |counts_until: i64| format!(":{}:{}:{counts_until}:60000", now - 2_000, ended + 60_000);
        assert_eq!([&expected.1["B"], &expected.1["a"]], [&mark(until), &mark(0)]);
        for form in [Form::Function, Form::Script(script)] {
            assert_eq!(found(&mut other, Some(&form)), expected, "{form:?}");
        }
    });
}
