//! The pure Lua files in `lua/fallback/` reply and store what RL.FIXED and RL.SLIDING do, whatever the key holds. The
//! values, expiries, windows and limits are random.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use crate::support::*;
use redis::{Connection, Value};

const FIXED_FALLBACK: &str = include_str!("../../lua/fallback/fixed_window.lua");
const SLIDING_FALLBACK: &str = include_str!("../../lua/fallback/sliding_window.lua");

/// One step, in one script, so that both sides see the same time. It writes the state of the key `native`, copies it to
/// `fallback`, sends the same request to the command and to the file, and returns the replies and the keys.
///
/// ARGV: command, window as sent, limit as sent, window in ms, expiry, type, then the words of the value. With an empty
/// type, the step goes on with what the step before left. A word that begins with `@5` means 5 ms after now.
const STEP: &str = r"
local function clock()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local now = clock()
redis.call('SET', 'clock', 1, 'PX', 1000000)
local expiry_clock = redis.call('PEXPIRETIME', 'clock') - 1000000

local command, window, limit, millis, expiry, kind = unpack(ARGV, 1, 6)
local takes_now = command == 'RL.SLIDING'

local function at(text)
  local offset, rest = text:match('^@(-?[%d.]+)(.*)$')
  return offset and string.format('%.17g', now + tonumber(offset)) .. rest or text
end

if kind ~= '' then
  redis.call('FLUSHALL')
  local key = takes_now and 'native' or 'native:' .. string.format('%.0f', math.floor(now / millis))
  local writes = { string = 'SET', raw = 'APPEND', list = 'RPUSH', hash = 'HSET', set = 'SADD', zset = 'ZADD' }
  local words = { writes[kind], key }
  for n = 7, #ARGV do words[n - 4] = at(ARGV[n]) end
  if kind ~= 'none' and words[3] then redis.call(unpack(words)) end
  if expiry ~= '' then redis.call('PEXPIREAT', key, at(expiry)) end
end

local function keys(name)
  local all = redis.call('KEYS', name .. '*')
  table.sort(all)
  return all
end
for _, key in ipairs(keys('fallback')) do redis.call('DEL', key) end
for _, key in ipairs(keys('native')) do redis.call('COPY', key, 'fallback' .. key:sub(#'native' + 1)) end

local function dump(name)
  local all = {}
  for _, key in ipairs(keys(name)) do
    local kind, value = redis.call('TYPE', key).ok, {}
    if kind == 'string' then value = { redis.call('GET', key) } end
    if kind == 'zset' then value = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES') end
    if kind ~= 'string' and kind ~= 'zset' then value = { redis.call('DUMP', key) } end
    local expiry = string.format('%.0f', redis.call('PEXPIRETIME', key))
    table.insert(all, { key:sub(#name + 1), kind, value, expiry })
  end
  return all
end

-- Integers become text: a reply would change those above 2^63.
local function text(reply)
  if reply.err then return { reply.err } end
  local numbers = {}
  for n = 1, #reply do numbers[n] = string.format('%.0f', reply[n]) end
  return numbers
end

local before = dump('native')
local native = text(redis.pcall(command, 'native', window, limit))
local fallback = text(fallback({ 'fallback' }, takes_now and { '1', window, limit } or { window, limit }))
return { { now, expiry_clock, clock() }, native, fallback, before, dump('native'), dump('fallback') }
";

/// A key: its name without `native` or `fallback`, type, value, PEXPIRETIME.
type Key = (String, String, Vec<Vec<u8>>, i64);

/// What a step returns.
struct Step {
    now: i64,
    native: Vec<String>,
    fallback: Vec<String>,
    before: Vec<Key>,
    native_keys: Vec<Key>,
    fallback_keys: Vec<Key>,
}

/// What a key holds before the first step.
#[derive(Clone, Debug)]
struct Planted {
    kind: &'static str,
    expiry: String,
    words: Vec<String>,
}

/// A request. `window` is the text that is sent.
#[derive(Clone, Debug)]
struct Request {
    window: String,
    window_ms: i64,
    limit: String,
}

/// The names of reservations are errors here too.
#[test]
fn a_key_with_the_name_of_reservations_is_refused() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for (file, command, arguments) in
            [(FIXED_FALLBACK, "RL.FIXED", &["60", "5"][..]), (SLIDING_FALLBACK, "RL.SLIDING", &["1", "60", "5"])]
        {
            for key in ["k:reserved", "k:reserved:ends"] {
                let native = err(cmd!(con, command, key, 60, 5));
                assert_eq!(err(cmd!(con, "EVAL", file, 1, key, arguments)), native);
            }
            ok(cmd!(con, "EVAL", file, 1, "k:reserved:1", arguments));
        }
    });
}

/// The text of [`STEP`] for one of the files.
fn script(file: &str) -> String {
    format!("local fallback = function(KEYS, ARGV)\n{file}\nend\n{STEP}")
}

/// `None` if the clock went on during the step, so that the two sides did not see the same time.
fn step(
    con: &mut Connection,
    script: &str,
    algorithm: &Algorithm,
    request: &Request,
    planted: Option<&Planted>,
) -> Option<Step> {
    let mut eval = redis::cmd("EVAL");
    eval.arg(script).arg(0).arg(algorithm.command).arg(&request.window).arg(&request.limit).arg(request.window_ms);
    match planted {
        Some(Planted { kind, expiry, words }) => eval.arg(expiry).arg(kind).arg(words),
        None => eval.arg("").arg(""),
    };
    type Parts = ([i64; 3], Vec<String>, Vec<String>, Vec<Key>, Vec<Key>, Vec<Key>);
    let (clocks, native, fallback, before, native_keys, fallback_keys): Parts = read(ok(eval.query::<Value>(con)));
    let now = clocks[0];
    (clocks == [now; 3]).then_some(Step { now, native, fallback, before, native_keys, fallback_keys })
}

const WINDOWS: [i64; 13] =
    [1, 2, 3, 7, 10, 999, 1_000, 1_001, 1_500, 60_000, 86_400_000, 2_000_000_000_000, 1_000_000_000_000_000];
const LIMITS: [&str; 12] = [
    "0",
    "0",
    "0",
    "1",
    "2",
    "3",
    "5",
    "9007199254740992",
    "9007199254740993",
    "9223372036854775805",
    "9223372036854775806",
    "9223372036854775807",
];

fn request(random: &mut Random, window_ms: i64) -> Request {
    let window = match window_ms {
        ms if ms % 60_000 == 0 && random.below(2) == 0 => format!("{}m", ms / 60_000),
        ms if ms % 1_000 == 0 && random.below(2) == 0 => (ms / 1_000).to_string(),
        ms => format!("{ms}ms"),
    };
    Request { window, window_ms, limit: random.pick(&LIMITS).to_owned() }
}

/// An expiry, often close to 1, 1.5 or 2 windows from now. Empty means none.
fn expiry(random: &mut Random, window_ms: i64) -> String {
    let three_halves = window_ms + window_ms / 2;
    match random.below(4) {
        0 => String::new(),
        1 => format!("@{}", random.pick(&[1, 2, 100, 499, 500, 501, 1_499, 1_500, 1_000_000])),
        2 => {
            format!("@{}", (random.pick(&[window_ms, three_halves, 2 * window_ms]) + random.below(5) as i64 - 2).max(1))
        }
        _ => random.pick(&["@1000000000000000", "8000000000000000000", "@1", "@30000"]).to_owned(),
    }
}

/// A value that at least one of the algorithms did not write.
fn foreign(random: &mut Random) -> Planted {
    let (kind, words): (_, &[&str]) = random.pick(&[
        ("string", &["text"]),
        ("string", &[""]),
        ("list", &["1"]),
        ("hash", &["1", "1"]),
        ("set", &["1"]),
        ("zset", &["1", "1"]),
    ]);
    Planted { kind, expiry: String::new(), words: words.iter().map(ToString::to_string).collect() }
}

/// A value at the key of RL.FIXED's counter.
fn counter(random: &mut Random, window_ms: i64) -> Planted {
    const EDGES: [i64; 8] = [0, 1, 3, 1 << 53, -(1 << 53), i64::MAX - 2, i64::MIN + 2, 9_007_199_254_740_993];
    const NO_COUNTERS: [&str; 12] =
        ["", "text", "1.5", " 1", "1 ", "1\0", "+1", "01", "-0", "-01", "9223372036854775808", "-9223372036854775809"];
    let value = match random.below(8) {
        0 => return Planted { kind: "none", expiry: String::new(), words: Vec::new() },
        1 => return Planted { expiry: expiry(random, window_ms), ..foreign(random) },
        2 => random.pick(&NO_COUNTERS).to_owned(),
        3 => "0".to_owned(),
        4 => (-1 - random.below(5) as i64).to_string(),
        _ => (random.pick(&EDGES) + (random.below(5) as i64 - 2)).to_string(),
    };
    // APPEND stores a number with the encoding raw instead of int.
    let kind = random.pick(&["string", "string", "raw"]);
    Planted { kind, expiry: expiry(random, window_ms), words: vec![value] }
}

/// A value at the key of RL.SLIDING's log.
fn log(random: &mut Random, window_ms: i64) -> Planted {
    const SCORES: [&str; 14] = [
        "-inf",
        "-1e300",
        "-5",
        "-0.5",
        "-0",
        "0",
        "0.5",
        "1",
        "1e12",
        "1e15",
        "9223372036854775808",
        "1e300",
        "inf",
        "+1e3",
    ];
    const TENTHS: [i64; 11] = [-1_000, -10, -5, 0, 0, 0, 0, 5, 10, 10_000, 36_000_000];
    let len = match random.below(20) {
        0 => return Planted { kind: "none", expiry: String::new(), words: Vec::new() },
        1 => return Planted { expiry: expiry(random, window_ms), ..foreign(random) },
        // More than a listpack holds, so the set has a skiplist.
        2 => 200,
        _ => 1 + random.below(6),
    };
    let odd = random.below(3);
    let mut words = Vec::new();
    for n in 0..len {
        let score = if odd == 0 && random.below(2) == 0 {
            random.pick(&SCORES).to_owned()
        } else {
            let around = random.pick(&[0, 0, -window_ms, -window_ms, window_ms]);
            let tenths = random.pick(&TENTHS);
            format!(
                "@{}{}.{}",
                if around * 10 + tenths < 0 { "-" } else { "" },
                (around * 10 + tenths).abs() / 10,
                (tenths % 10).abs()
            )
        };
        words.push(score);
        // Some entries have the name that a new member would get.
        words.push(if random.below(4) == 0 { format!("@0-0.{}", random.below(4)) } else { format!("{n}") });
    }
    Planted { kind: "zset", expiry: expiry(random, window_ms), words }
}

/// The largest double below 2^63: the largest integer that a Lua script can return.
const MAX_REPLY: f64 = 9_223_372_036_854_774_784.0;

/// The reply that the file must give where the command gives this one.
fn as_lua_replies(native: &[String]) -> Vec<String> {
    let cut = |text: &String| match text.parse::<f64>() {
        Ok(number) if number > MAX_REPLY => format!("{MAX_REPLY:.0}"),
        _ => text.clone(),
    };
    native.iter().map(cut).collect()
}

/// The keys without their expiries and without the names of new members: each side chooses those itself.
fn without_new_names(keys: &[Key], now: i64) -> Vec<(String, String, Vec<Vec<u8>>)> {
    let prefix = format!("{now}-0.");
    let comparable = |value: &[Vec<u8>]| {
        let mut all: Vec<Vec<u8>> = value
            .chunks(2)
            .map(|pair| match pair {
                [member, score] if member.starts_with(prefix.as_bytes()) => [b"new ", score.as_slice()].concat(),
                pair => pair.join(&b' '),
            })
            .collect();
        all.sort();
        all
    };
    keys.iter().map(|(name, kind, value, _)| (name.clone(), kind.clone(), comparable(value))).collect()
}

const NO_EXPIRY: i64 = -1;

fn expires_at_of(keys: &[Key]) -> Option<i64> {
    keys.first().map(|key| key.3)
}

/// The expiry of a log after a call. `before` is the one it found; `None` if there was no key. If less than 1.5 windows
/// are left, it becomes 2 windows.
fn expiry_after(before: Option<i64>, now: i64, window_ms: i64) -> i64 {
    match before {
        Some(at) if at != NO_EXPIRY && 2 * i128::from(at - now) >= 3 * i128::from(window_ms) => at,
        _ => now + 2 * window_ms,
    }
}

/// How often something happened: a test fails if what it is there for never happens.
type Seen = BTreeMap<&'static str, usize>;

impl Step {
    fn is_error(&self) -> bool {
        self.native.len() == 1
    }

    fn check(&self, algorithm: &Algorithm, request: &Request, seen: &mut Seen, what: &str) {
        let mut saw = |name, is: bool| *seen.entry(name).or_default() += usize::from(is);
        assert_eq!(self.fallback, as_lua_replies(&self.native), "{what}");
        saw("errors", self.is_error());
        saw("allowed", self.native[0] == "1");
        saw("denied", self.native[0] == "0");
        if self.is_error() {
            assert_eq!(self.native_keys, self.before, "{what}: an error changes nothing");
            assert_eq!(self.fallback_keys, self.before, "{what}: an error changes nothing");
        } else if algorithm.key_type == "string" {
            assert_eq!(self.fallback_keys, self.native_keys, "{what}");
            saw("not counted", self.native_keys == self.before);
            saw("below 0", self.native[1].starts_with('-'));
            let anew =
                |key: &Key| key.3 != NO_EXPIRY && self.native_keys.iter().any(|new| new.0 == key.0 && new.3 != key.3);
            saw("expiry anew", self.before.iter().any(anew));
            saw("beyond doubles", self.native[1].len() > 16);
        } else {
            let [native, fallback] =
                [&self.native_keys, &self.fallback_keys].map(|keys| without_new_names(keys, self.now));
            assert_eq!(fallback, native, "{what}");
            let old = without_new_names(&self.before, self.now);
            saw("removed", fallback.is_empty() && !old.is_empty());
            let entries = |keys: &[(_, _, Vec<Vec<u8>>)]| keys.first().map(|key| key.2.clone()).unwrap_or_default();
            let moved = entries(&fallback).iter().any(|entry| !entries(&old).contains(entry));
            saw("moved to now", self.native[0] == "0" && moved);
            if let (Some(native), Some(fallback)) =
                (expires_at_of(&self.native_keys), expires_at_of(&self.fallback_keys))
            {
                // Pruning deletes a log of which nothing is left, and the expiry with it.
                let before = expires_at_of(&self.before).filter(|_| self.native[1] != "0");
                let expected = expiry_after(before, self.now, request.window_ms);
                assert_eq!(fallback, expected, "{what}");
                saw("expiry left", before == Some(fallback));
                saw("expiry set", before != Some(fallback));
                assert_eq!(native, expected, "{what}");
            }
        }
    }
}

fn differential(
    algorithm: &Algorithm,
    file: &str,
    plant: fn(&mut Random, i64) -> Planted,
    cases: usize,
    happens: &[&str],
) {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let (mut con, script) = (server.con(), script(file));
        let mut seen = Seen::new();
        let (mut steps, mut compared) = (0, 0);
        for mut random in randoms() {
            for case in 0..cases {
                let window_ms = random.pick(&WINDOWS);
                let planted = plant(&mut random, window_ms);
                let mut first = Some(&planted);
                for _ in 0..=random.below(4) {
                    let window_ms = if random.below(4) == 0 { random.pick(&WINDOWS) } else { window_ms };
                    let request = request(&mut random, window_ms);
                    steps += 1;
                    if let Some(found) = step(&mut con, &script, algorithm, &request, first) {
                        compared += 1;
                        let what = format!(
                            "case {case}: {request:?} at {}, {} planted {planted:?}, before {:?}",
                            found.now,
                            if first.is_some() { "just" } else { "earlier" },
                            found.before,
                        );
                        found.check(algorithm, &request, &mut seen, &what);
                    } else {
                        assert!(!bin.caches_time(), "case {case}: the clock went on");
                    }
                    first = None;
                    thread::sleep(Duration::from_millis(random.pick(&[0, 0, 0, 1, 3])));
                }
            }
        }
        println!("{bin} {algorithm:?}: {compared} of {steps} compared, {seen:?}");
        assert!(compared >= steps / 4, "only {compared} of {steps} steps could be compared");
        for name in happens {
            assert!(seen.get(name).is_some_and(|&count| count > 0), "{name}: never");
        }
    });
}

#[test]
fn fixed_agrees_with_the_command_over_any_counter() {
    let happens = ["errors", "allowed", "denied", "not counted", "below 0", "expiry anew", "beyond doubles"];
    differential(&FIXED, FIXED_FALLBACK, counter, 500, &happens);
}

#[test]
fn sliding_agrees_with_the_command_over_any_log() {
    let happens = ["errors", "allowed", "denied", "removed", "moved to now", "expiry left", "expiry set"];
    differential(&SLIDING, SLIDING_FALLBACK, log, 500, &happens);
}
