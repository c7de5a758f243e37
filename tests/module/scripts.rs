//! RL.FIXED and RL.SLIDING are the two scripts, natively: the same requests bring the same replies, keys, types and
//! values, side by side and taking turns on one key, also through the files in `lua/`. The expiries of FIXED are the
//! same too. SLIDING has a rule of its own: at least 1.5 windows are left after every call.

use std::fs;
use std::ops::Range;
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::support::*;
use redis::{Connection, FromRedisValue, Value};

/// One of the two scripts, and everything that stands in for it.
struct Pair {
    algorithm: Algorithm,
    file: &'static str,
    /// Whether the script takes the time, in ms, before its other arguments.
    takes_now: bool,
}

const PAIRS: [Pair; 2] = [
    Pair { algorithm: FIXED, file: "fixed_window.lua", takes_now: false },
    Pair { algorithm: SLIDING, file: "sliding_window.lua", takes_now: true },
];

/// Who answers a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Script,
    Native,
    /// `lua/`
    Shim,
    /// `lua/fallback/`
    Fallback,
}

impl Pair {
    fn lua(&self, way: Way) -> String {
        let dir = match way {
            Way::Script => "tests/scripts",
            Way::Shim => "lua",
            Way::Fallback => "lua/fallback",
            Way::Native => unreachable!("no file"),
        };
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(dir).join(self.file);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// A Lua function of the key, the time in ms, the window in seconds and the limit.
    fn function(&self, way: Way) -> String {
        let command = self.algorithm.command;
        if way == Way::Native {
            return format!("function(key, now, window, limit) return redis.call('{command}', key, window, limit) end");
        }
        let lua = self.lua(way);
        let argv = if self.takes_now { "{ now, window, limit }" } else { "{ window, limit }" };
        format!(
            "function(key, now, window, limit)\n\
             local script = function(KEYS, ARGV)\n{lua}\nend\n\
             return script({{ key }}, {argv})\nend"
        )
    }

    /// The request as a client sends it. `now` is what it takes for the time.
    fn request(&self, way: Way, key: &str, now: u64, window: u64, limit: u64) -> redis::Cmd {
        let mut cmd;
        if way == Way::Native {
            cmd = redis::cmd(self.algorithm.command);
            cmd.arg(key);
        } else {
            cmd = redis::cmd("EVAL");
            cmd.arg(self.lua(way)).arg(1).arg(key);
            if self.takes_now {
                cmd.arg(now);
            }
        }
        cmd.arg(window).arg(limit);
        cmd
    }
}

/// The times of the server within one script or transaction: its clock, and the time that expiries are computed
/// from.
const CLOCK: &str = "
local function clock()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function expiry_clock()
  redis.call('SET', 'clock', 1, 'PX', 1000000)
  return redis.call('PEXPIRETIME', 'clock') - 1000000
end
";

/// Everything stored under names that begin with `name`, sorted.
const DUMP: &str = "
local function dump(name)
  local all = {}
  local keys = redis.call('KEYS', name .. '*')
  table.sort(keys)
  for _, key in ipairs(keys) do
    local kind = redis.call('TYPE', key).ok
    local value = kind == 'zset' and redis.call('ZRANGE', key, 0, -1, 'WITHSCORES') or { redis.call('GET', key) }
    table.insert(all, { key:sub(#name + 1), kind, value, redis.call('PEXPIRETIME', key) })
  end
  return all
end
";

/// Makes what lies under the second name the same as what lies under the first.
const SYNC: &str = "
for _, key in ipairs(redis.call('KEYS', KEYS[2] .. '*')) do redis.call('DEL', key) end
for _, key in ipairs(redis.call('KEYS', KEYS[1] .. '*')) do
  redis.call('COPY', key, KEYS[2] .. key:sub(#KEYS[1] + 1))
end
";

/// How both sides of a step are put into one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    Eval,
    Multi,
}

/// What a step found out.
struct Step {
    script: Value,
    other: Value,
    /// In ms: the clock before and after, and the time that expiries were computed from.
    clocks: [i64; 3],
    script_keys: Vec<Stored>,
    other_keys: Vec<Stored>,
}

/// A key: what follows the common part of the name, type, value, PEXPIRETIME.
#[derive(Debug, PartialEq, Eq)]
struct Stored {
    name: String,
    kind: String,
    /// For a sorted set the scores: the members' fractions differ.
    value: Vec<String>,
    expires_at: i64,
}

impl Stored {
    fn read(dump: Value) -> Vec<Self> {
        let all: Vec<(String, String, Vec<String>, i64)> = read(dump);
        let keys = all.into_iter().map(|(name, kind, value, expires_at)| {
            let value = if kind == "zset" { scores(&value) } else { value };
            Self { name, kind, value, expires_at }
        });
        keys.collect()
    }
}

/// The scores of `member, score, …`, each member of which must be `<score>-0.<digits>`.
#[track_caller]
fn scores(members: &[String]) -> Vec<String> {
    let score = |pair: &[String]| {
        let fraction = pair[0].strip_prefix(&pair[1]).and_then(|rest| rest.strip_prefix("-0."));
        let digits = fraction.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()));
        assert!(digits, "a member {:?} of score {:?}", pair[0], pair[1]);
        pair[1].clone()
    };
    members.chunks(2).map(score).collect()
}

#[track_caller]
fn read<T: FromRedisValue>(value: Value) -> T {
    let text = format!("{value:?}");
    T::from_redis_value(value).unwrap_or_else(|error| panic!("{error} in {text}"))
}

impl Pair {
    /// The same request to the script under the name `keys[0]`, and to `way` under `keys[1]`, in one moment.
    fn step(&self, con: &mut Connection, moment: Moment, way: Way, keys: [&str; 2], window: u64, limit: u64) -> Step {
        let [a, b] = keys;
        let script = self.function(Way::Script);
        let parts = match moment {
            Moment::Eval => {
                let lua = format!(
                    "{CLOCK}{DUMP}
                    local script = {script}
                    local other = {}
                    local before, expiry = clock(), expiry_clock()
                    local a = script(KEYS[1], tostring(before), ARGV[1], ARGV[2])
                    local b = other(KEYS[2], tostring(before), ARGV[1], ARGV[2])
                    return {{ {{ before, expiry }}, a, b, {{ clock(), dump(KEYS[1]), dump(KEYS[2]) }} }}",
                    self.function(way)
                );
                ok(cmd!(*con, "EVAL", lua, 2, a, b, window, limit))
            }
            Moment::Multi => {
                let clocks = format!("{CLOCK} return {{ clock(), expiry_clock() }}");
                let script = format!("{CLOCK} return ({script})(KEYS[1], tostring(clock()), ARGV[1], ARGV[2])");
                let dump = format!("{CLOCK}{DUMP} return {{ clock(), dump(KEYS[1]), dump(KEYS[2]) }}");
                let mut transaction = redis::pipe();
                transaction.atomic().cmd("EVAL").arg(clocks).arg(0);
                transaction.cmd("EVAL").arg(script).arg(1).arg(a).arg(window).arg(limit);
                // The client's idea of the time; only the script itself would take it.
                assert!(way != Way::Script || !self.takes_now);
                transaction.add_command(self.request(way, b, 1, window, limit));
                transaction.cmd("EVAL").arg(dump).arg(2).arg(a).arg(b);
                ok(transaction.query(con))
            }
        };
        let ((before, expiry), script, other, (after, script_keys, other_keys)): Parts = read(parts);
        Step {
            script,
            other,
            clocks: [before, expiry, after],
            script_keys: Stored::read(script_keys),
            other_keys: Stored::read(other_keys),
        }
    }

    /// A random stream of requests; every step is compared.
    fn stream(&self, server: &Server, bin: &ServerBin, moment: Moment, ways: &[Way], name: &str, random: &mut Random) {
        const STEPS: u64 = 100;
        let mut con = server.con();
        let (a, b) = (format!("{name}:a"), format!("{name}:b"));
        let window = random.pick(&[1, 1, 1, 60]);
        let usual = random.below(7);
        let (mut compared, mut denied, mut shrunk, mut last) = (0, 0, 0, 0);
        // How often the expiry of SLIDING stayed and how often it was set.
        let (mut kept, mut set) = (0, 0);
        // Whether the step in which a short window ends could not be compared.
        let mut end_missed = false;
        for step in 0..STEPS {
            // The scripts' members of one millisecond may collide, so every step has one of its own.
            let pause = match step {
                // One of the short windows surely ends here; the long one does not.
                60 => 1_000,
                _ if random.below(5) == 0 => 1 + random.below(100),
                _ => 1,
            };
            thread::sleep(Duration::from_millis(pause));
            let limit = if random.below(8) == 0 { random.below(10) } else { usual };
            let mut way = random.pick(ways);
            if moment == Moment::Multi && way == Way::Script && self.takes_now {
                way = Way::Native;
            }
            let what = format!("{name}, step {step}: {way:?} in {moment:?}, window {window}, limit {limit}");
            let expiry_before = expires_at(&mut con, &b);
            let found = self.step(&mut con, moment, way, [&a, &b], window, limit);
            // Where the server tells modules its cached time, a moment is a moment. Redis 7.0 reads the clock anew;
            // a step during which it went on is not comparable.
            let clean = found.clocks.iter().all(|&clock| clock == found.clocks[0]);
            if !clean {
                assert!(!bin.caches_time(), "{what}: the clock went on: {:?}", found.clocks);
                ok(cmd!(con, "EVAL", SYNC, 2, &a, &b));
                end_missed |= step == 60;
                continue;
            }
            assert_eq!(found.other, found.script, "{what}");
            let (allowed, count, _): (i64, i64, i64) = read(found.other);
            let [script_keys, other_keys] = [&found.script_keys, &found.other_keys].map(|keys| {
                let key = |key: &Stored| (key.name.clone(), key.kind.clone(), key.value.clone());
                keys.iter().map(key).collect::<Vec<_>>()
            });
            assert_eq!(other_keys, script_keys, "{what}");
            let [script_expires, other_expires] = [&found.script_keys, &found.other_keys]
                .map(|keys| keys.iter().map(|key| key.expires_at).collect::<Vec<_>>());
            if self.algorithm.command == FIXED.command {
                assert_eq!(other_expires, script_expires, "{what}");
            } else {
                let (now, window_ms) = (found.clocks[0], window.cast_signed() * 1_000);
                // Pruning deletes a log of which nothing is left, and the expiry with it.
                let keeps = way != Way::Script && count > 0 && 2 * (expiry_before - now) >= 3 * window_ms;
                let expected = if keeps { expiry_before } else { now + 2 * window_ms };
                assert!(script_expires.iter().all(|&at| at == now + 2 * window_ms), "{what}");
                assert!(other_expires.iter().all(|&at| at == expected), "{what}: {other_expires:?}, not {expected}");
                kept += u64::from(keeps);
                set += u64::from(!keeps && !other_expires.is_empty());
            }
            assert!(found.other_keys.iter().all(|key| key.kind == self.algorithm.key_type), "{what}");
            compared += 1;
            denied += u64::from(allowed == 0);
            shrunk += u64::from(count < last);
            last = count;
        }
        println!("{bin} {name}: {compared} of {STEPS} compared, {denied} denied, {shrunk} times the count fell");
        let enough = if bin.caches_time() { STEPS } else { STEPS / 4 };
        assert!(compared >= enough, "{name}: only {compared} of {STEPS} steps could be compared");
        assert!(window > 1 || usual == 0 || shrunk > 0, "{name}: no window has ended");
        assert!(denied > 0, "{name}: nothing was denied");
        // A long window sets the expiry once, in a step that may not be comparable.
        let seen = kept > 0 && (window > 1 || end_missed || set > 0);
        assert!(self.algorithm.command == FIXED.command || usual == 0 || seen, "{name}: {kept}, {set}");
    }
}

/// What a step's script or transaction answers.
type Parts = ((i64, i64), Value, Value, (i64, Value, Value));

/// Streams of both algorithms, each with these ways to answer, side by side.
fn streams(ways: &[Way], moments: &[Moment], seeds: Range<u64>) {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let (server, ways) = (&server, ways);
        thread::scope(|scope| {
            for pair in &PAIRS {
                for &moment in moments {
                    for seed in seeds.clone() {
                        let name = format!("{}-{moment:?}-{seed}", pair.algorithm.name);
                        let thread = thread::Builder::new().name(format!("{bin} {name}"));
                        let stream = move || {
                            pair.stream(server, bin, moment, ways, &name, &mut Random::new(seed));
                        };
                        thread.spawn_scoped(scope, stream).expect("a thread starts");
                    }
                }
            }
        });
    });
}

#[test]
fn the_native_commands_answer_and_store_as_the_scripts() {
    streams(&[Way::Native], &[Moment::Eval, Moment::Multi], 0..4);
}

#[test]
fn the_files_that_hand_over_to_the_native_commands_do_too() {
    streams(&[Way::Shim], &[Moment::Eval, Moment::Multi], 10..12);
}

#[test]
fn the_files_for_servers_without_the_module_do_too() {
    streams(&[Way::Fallback], &[Moment::Eval, Moment::Multi], 20..22);
}

#[test]
fn scripts_commands_and_files_take_turns_on_one_key() {
    let all = [Way::Script, Way::Native, Way::Shim, Way::Fallback];
    streams(&all, &[Moment::Eval, Moment::Multi], 30..33);
}

/// A rolling deployment with clients of their own: the script with the client's clock, the command with the server's.
#[test]
fn side_by_side_from_many_clients_the_limit_holds() {
    const LIMIT: u64 = 50;
    for_each_server(|bin| {
        let server = Server::start(bin);
        for pair in &PAIRS {
            let ways = [Way::Script, Way::Native, Way::Shim, Way::Fallback];
            let allowed: i64 = thread::scope(|scope| {
                let threads = ways.map(|way| {
                    let mut con = server.con();
                    scope.spawn(move || {
                        let mut allowed = 0;
                        for _ in 0..40 {
                            thread::sleep(Duration::from_millis(1));
                            let now = now_ms(&mut con);
                            let request = pair.request(way, "shared", now, LONG, LIMIT);
                            let (one, _, _): (i64, i64, i64) = request.query(&mut con).expect("a reply");
                            allowed += one;
                        }
                        allowed
                    })
                });
                threads.map(|thread| thread.join().expect("a client")).iter().sum()
            });
            assert_eq!(allowed, LIMIT.cast_signed(), "{}", pair.algorithm.command);
            ok(cmd!(server.con(), "FLUSHALL"));
        }
    });
}

fn now_ms(con: &mut Connection) -> u64 {
    let (seconds, micros): (u64, u64) = redis::cmd("TIME").query(con).expect("TIME");
    seconds * 1_000 + micros / 1_000
}

#[test]
fn twenty_thousand_requests_at_once_are_twenty_thousand_members() {
    const COUNT: usize = 20_000;
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let mut pipeline = redis::pipe();
        for _ in 0..COUNT {
            pipeline.cmd("RL.SLIDING").arg("k").arg(60).arg(COUNT - 1).ignore();
            pipeline.cmd("RL.SLIDING").arg("other").arg(60).arg(COUNT).ignore();
        }
        pipeline.exec(&mut con).expect("all are answered");
        assert_eq!(ok(cmd!(con, "ZCARD", "k")), Value::Int(COUNT as i64 - 1));
        assert_eq!(ok(cmd!(con, "ZCARD", "other")), Value::Int(COUNT as i64));
        let members: Vec<String> = read(ok(cmd!(con, "ZRANGE", "k", 0, -1, "WITHSCORES")));
        assert_eq!(scores(&members).len(), COUNT - 1);
    });
}

#[test]
fn requests_of_one_millisecond_are_members_each() {
    const COUNT: i64 = 500;
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();

        let mut transaction = redis::pipe();
        transaction.atomic();
        for n in 0..COUNT {
            transaction.cmd("RL.SLIDING").arg("multi").arg(60).arg(COUNT).arg(["FULL", "HEADERS"][n as usize % 2]);
        }
        let _: Value = transaction.query(&mut con).expect("EXEC");
        assert_eq!(ok(cmd!(con, "ZCARD", "multi")), Value::Int(COUNT));

        for (key, way) in [("native", Way::Native), ("shim", Way::Shim), ("fallback", Way::Fallback)] {
            let function = PAIRS[1].function(way);
            let lua = format!(
                "local request = {function}
                local last
                for _ = 1, ARGV[1] do last = request(KEYS[1], '1', '60', ARGV[1]) end
                return last"
            );
            assert_eq!(ok(cmd!(con, "EVAL", lua, 1, key, COUNT)), ints(&[1, COUNT - 1, 60]), "{key}");
            assert_eq!(ok(cmd!(con, "ZCARD", key)), Value::Int(COUNT), "{key}");
        }
        if bin.caches_time() {
            let members: Vec<String> = read(ok(cmd!(con, "ZRANGE", "multi", 0, -1, "WITHSCORES")));
            let scores = scores(&members);
            assert!(scores.iter().all(|score| *score == scores[0]), "a transaction is of one millisecond");
        }
    });
}

#[test]
fn a_cost_is_so_many_members() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        assert_eq!(ok(cmd!(con, "RL.SLIDING", "k", 60, 10, "COST", 7)), ints(&[1, 0, 60]));
        assert_eq!(ok(cmd!(con, "ZCARD", "k")), Value::Int(7));
        assert_eq!(ok(cmd!(con, "RL.SLIDING", "k", 60, 10, "COST", 4)), ints(&[0, 7, 60]));
        assert_eq!(ok(cmd!(con, "ZCARD", "k")), Value::Int(7));
        assert_eq!(ok(cmd!(con, "RL.SLIDING", "k", 60, 10, "COST", 3)), ints(&[1, 7, 60]));
        let members: Vec<String> = read(ok(cmd!(con, "ZRANGE", "k", 0, -1, "WITHSCORES")));
        assert_eq!(scores(&members).len(), 10);
        // The file passes on what follows the script's own arguments.
        let shim = PAIRS[1].lua(Way::Shim);
        assert_eq!(ok(cmd!(con, "EVAL", shim, 1, "file", 1, 60, 10, "COST", 7)), ints(&[1, 0, 60]));
        assert_eq!(ok(cmd!(con, "ZCARD", "file")), Value::Int(7));
    });
}

/// A window that ends in 2033, aligned as the windows of FIXED are. No test sees its end. (The script of SLIDING passes
/// 2,000 times the window to PEXPIRE. With 1,000,000,000 that is `2e+12` on Redis 7.2.4, which is no integer there.)
const LONG: u64 = 999_999_999;
const LONG_TTL: i64 = LONG.cast_signed();

fn counter_of(con: &mut Connection, key: &str) -> Vec<u8> {
    FIXED.state_key(key.as_bytes(), LONG * 1_000, now_ms(con))
}

#[test]
fn a_cost_that_is_denied_counts_only_where_the_bucket_was_full() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let mut ask = |cost| ok(cmd!(con, "RL.FIXED", "k", LONG, 10, "COST", cost));
        assert_eq!(ask(7), ints(&[1, 7, LONG_TTL]));
        assert_eq!(ask(4), ints(&[0, 7, LONG_TTL]), "a smaller one could still pass");
        assert_eq!(ask(3), ints(&[1, 10, LONG_TTL]));
        assert_eq!(ask(1), ints(&[0, 11, LONG_TTL]));
        assert_eq!(ask(5), ints(&[0, 16, LONG_TTL]));
        assert_eq!(ok(cmd!(con, "RL.FIXED", "new", LONG, 10, "COST", 11)), ints(&[0, 0, -2]), "nothing was made");
        assert_eq!(ok(cmd!(con, "DBSIZE")), Value::Int(1));
    });
}

#[test]
fn a_counter_without_an_expiry_gets_one() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for way in [Way::Native, Way::Shim, Way::Fallback] {
            let key = format!("{way:?}");
            let counter = counter_of(&mut con, &key);
            ok(cmd!(con, "SET", &counter, 41));
            let reply = PAIRS[0].request(way, &key, 0, LONG, 50).query(&mut con);
            assert_eq!(ok(reply), ints(&[1, 42, LONG_TTL]), "{way:?}");
            assert_eq!(ok(cmd!(con, "TTL", &counter)), Value::Int(LONG_TTL), "{way:?}");
            // A denied cost that adds nothing gives it one too.
            ok(cmd!(con, "PERSIST", &counter));
            assert_eq!(ok(cmd!(con, "RL.FIXED", &key, LONG, 50, "COST", 9)), ints(&[0, 42, LONG_TTL]), "{way:?}");
            assert_eq!(ok(cmd!(con, "TTL", &counter)), Value::Int(LONG_TTL), "{way:?}");
        }
    });
}

#[test]
fn plain_commands_go_on_working_on_a_counter() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let counter = counter_of(&mut con, "k");
        let mut expected = 0;
        for way in [Way::Native, Way::Shim, Way::Fallback, Way::Script] {
            let ask = |con: &mut Connection| ok(PAIRS[0].request(way, "k", 0, LONG, 100).query(con));
            assert_eq!(ask(&mut con), ints(&[1, expected + 1, LONG_TTL]));
            assert_eq!(ok(cmd!(con, "GET", &counter)), bytes((expected + 1).to_string()));
            assert_eq!(ok(cmd!(con, "INCR", &counter)), Value::Int(expected + 2));
            assert_eq!(ok(cmd!(con, "INCRBY", &counter, 10)), Value::Int(expected + 12));
            assert_eq!(ok(cmd!(con, "DECR", &counter)), Value::Int(expected + 11));
            assert_eq!(ask(&mut con), ints(&[1, expected + 12, LONG_TTL]));
            expected += 12;
        }
        ok(cmd!(con, "DECRBY", &counter, 1_000));
        for way in [Way::Native, Way::Fallback, Way::Shim] {
            let reply = PAIRS[0].request(way, "k", 0, LONG, 100).query(&mut con);
            expected += 1;
            assert_eq!(ok(reply), ints(&[1, expected - 1_000, LONG_TTL]), "below 0, {way:?}");
        }
    });
}

/// What the files refuse, they refuse as the module does.
#[test]
fn the_files_refuse_what_the_commands_refuse() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let bad = BAD_WINDOWS.iter().map(|&window| (window, &b"5"[..]));
        for (window, limit) in bad.chain(BAD_LIMITS.iter().map(|&limit| (&b"60"[..], limit))) {
            for pair in &PAIRS {
                let native = err(cmd!(con, pair.algorithm.command, "k", window, limit));
                for way in [Way::Shim, Way::Fallback] {
                    let mut request = redis::cmd("EVAL");
                    request.arg(pair.lua(way)).arg(1).arg("k");
                    if pair.takes_now {
                        request.arg(1);
                    }
                    request.arg(window).arg(limit);
                    let what = format!("{way:?} of {}: {}", pair.file, window.escape_ascii());
                    assert_eq!(err(request.query(&mut con)), native, "{what}, {}", limit.escape_ascii());
                }
            }
        }
        for pair in &PAIRS {
            for way in [Way::Shim, Way::Fallback] {
                let lua = pair.lua(way);
                for arguments in [&[][..], &["60"], &["60", "5", "5", "5"]] {
                    err(redis::cmd("EVAL").arg(&lua).arg(1).arg("k").arg(arguments).query(&mut con));
                }
                err(cmd!(con, "EVAL", &lua, 0, "60", "60", "5"));
            }
        }
        assert_eq!(ok(cmd!(con, "DBSIZE")), Value::Int(0));
    });
}

#[test]
fn the_files_take_units_and_limits_of_any_size() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for pair in &PAIRS {
            for (window, limit) in [
                ("5m", "1"),
                ("1h", "0"),
                ("1d", "9223372036854775807"),
                ("1000000000000", "9223372036854775806"),
                ("1000000000000000ms", "1"),
                ("11574074d", "1"),
            ] {
                // Both in one moment, so that no bucket ends in between.
                let lua = format!(
                    "local native, other = {}, {}
                    local clock = '1'
                    return {{ native(KEYS[1], clock, ARGV[1], ARGV[2]), other(KEYS[2], clock, ARGV[1], ARGV[2]) }}",
                    pair.function(Way::Native),
                    pair.function(Way::Fallback),
                );
                let (native, fallback): (Value, Value) = read(ok(cmd!(con, "EVAL", lua, 2, "n", "f", window, limit)));
                assert_eq!(fallback, native, "{} {window} {limit}", pair.file);
                ok(cmd!(con, "FLUSHALL"));
            }
        }
    });
}

#[test]
fn the_files_leave_other_types_and_values_as_they_are() {
    const WRONG_TYPE: &str = "WRONGTYPE Operation against a key holding the wrong kind of value";
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for pair in &PAIRS {
            let algorithm = &pair.algorithm;
            let state = algorithm.state_key(b"k", LONG * 1_000, now_ms(&mut con));
            let refused = |con: &mut Connection, expected: &str| {
                let before = digest(con);
                for way in [Way::Shim, Way::Fallback] {
                    let reply = pair.request(way, "k", 1, LONG, 5).query(con);
                    assert_eq!(err(reply), expected, "{way:?} of {}", pair.file);
                }
                assert_eq!(digest(con), before, "{}", pair.file);
            };
            ok(cmd!(con, "RPUSH", &state, "x"));
            refused(&mut con, WRONG_TYPE);
            for (value, expected) in algorithm.foreign {
                ok(cmd!(con, "SET", &state, value));
                refused(&mut con, expected);
            }
            ok(cmd!(con, "FLUSHALL"));
        }
    });
}

/// Made before the clock stepped back: neither does the pure file let it lock the key.
#[test]
fn members_ahead_of_the_clock_count_as_made_now() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for way in [Way::Native, Way::Shim, Way::Fallback] {
            let ahead = now_ms(&mut con) + 3_600_000;
            ok(cmd!(con, "ZADD", "k", ahead, format!("{ahead}-0.1"), ahead + 1, format!("{}-0.2", ahead + 1)));
            let reply = PAIRS[1].request(way, "k", 1, 1, 2).query(&mut con);
            assert_eq!(ok(reply), ints(&[0, 2, 1]), "{way:?}");
            let now = now_ms(&mut con);
            let members: Vec<(String, u64)> = read(ok(cmd!(con, "ZRANGE", "k", 0, -1, "WITHSCORES")));
            assert!(members.len() == 2 && members.iter().all(|&(_, score)| score <= now), "{way:?}: {members:?}");
            thread::sleep(Duration::from_millis(1_000));
            let reply = PAIRS[1].request(way, "k", 1, 1, 2).query(&mut con);
            assert_eq!(ok(reply), ints(&[1, 0, 1]), "{way:?}");
            ok(cmd!(con, "DEL", "k"));
        }
    });
}

/// Without the module the pure files do the same, and what they leave is what the module goes on with.
#[test]
fn a_server_without_the_module_answers_through_the_pure_files() {
    for_each_server(|bin| {
        let mut server = Server::options(bin).durable().without_module().start();
        for n in 1..=3 {
            for (pair, count) in PAIRS.iter().zip([n, n - 1]) {
                let reply = pair.request(Way::Fallback, "rlaas:k", 1, LONG, 3).query(&mut server.con());
                let (allowed, found, ttl): (i64, i64, i64) = read(ok(reply));
                assert_eq!((allowed, found), (1, count), "{}", pair.file);
                assert!((LONG_TTL - 60..=LONG_TTL).contains(&ttl));
            }
        }
        let before = digest(&mut server.con());
        server.kill();
        server.start_again_with(|options| options.module_args(&[]));
        let mut con = server.con();
        assert_eq!(digest(&mut con), before);
        for (pair, count) in PAIRS.iter().zip([4, 3]) {
            let reply = pair.request(Way::Native, "rlaas:k", 1, LONG, 3).query(&mut con);
            let (allowed, found, ttl): (i64, i64, i64) = read(ok(reply));
            assert_eq!((allowed, found), (0, count), "{}", pair.file);
            assert!((LONG_TTL - 60..=LONG_TTL).contains(&ttl));
        }
    });
}

/// Where a key has no hash tag, both keep the counter in its slot by the same name.
#[test]
fn in_a_cluster_the_pure_file_names_counters_as_the_command() {
    for_each_server(|bin| {
        let cluster = Cluster::start(bin, 3, |options| options);
        for (key, prefix) in
            [("a", "{a}:"), ("rlaas:b:c", "{rlaas:b:c}:"), ("{t}d", "{t}d:"), ("x{t}{u}", "x{t}{u}:"), ("{e", "{{e}:")]
        {
            let mut con = cluster.owner(key).con();
            for (n, way) in [Way::Fallback, Way::Native, Way::Shim, Way::Fallback].into_iter().enumerate() {
                let reply = PAIRS[0].request(way, key, 1, LONG, 3).query(&mut con);
                let (allowed, count, _): (i64, i64, i64) = read(ok(reply));
                assert_eq!((allowed, count), (i64::from(n < 3), n as i64 + 1), "{way:?} {key}");
            }
            let names: Vec<String> = read(ok(cmd!(con, "KEYS", "*")));
            assert!(names.iter().any(|name| name.starts_with(prefix)), "{key}: {names:?}");
            assert_eq!(names.len(), 1, "{key}: {names:?}");
            ok(cmd!(con, "FLUSHALL"));
        }
        for key in ["", "a}b", "}", "{}", "{}a"] {
            let mut con = cluster.owner(key).con();
            let native = err(cmd!(con, "RL.FIXED", key, LONG, 3));
            let reply = PAIRS[0].request(Way::Fallback, key, 1, LONG, 3).query(&mut con);
            assert_eq!(err(reply), native, "{key}");
            assert_eq!(ok(cmd!(con, "DBSIZE")), Value::Int(0));
        }
    });
}
