//! Requests of every algorithm, and what became of them.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use redis::{Connection, FromRedisValue, Value};

use super::{ALGORITHMS, Algorithm, FIXED, Random, SLIDING, Server, cmd, ok};

/// A window in seconds that does not end while a test runs: the bucket of the fixed window ends in 2033, and the
/// nanoseconds of a record fit 64 bits.
pub const LONG: i64 = 1_000_000_000;

impl Algorithm {
    /// One request; the reply's three integers.
    #[track_caller]
    pub fn ask(&self, con: &mut Connection, key: &str, window: impl ToString, limit: i64) -> [i64; 3] {
        self.ask_for(con, key, window, limit, 1)
    }

    #[track_caller]
    pub fn ask_for(&self, con: &mut Connection, key: &str, window: impl ToString, limit: i64, cost: i64) -> [i64; 3] {
        let reply = self.request(key, window, limit, cost).query(con);
        reply.unwrap_or_else(|error| panic!("{} {key}: {error}", self.command))
    }

    pub fn request(&self, key: &str, window: impl ToString, limit: i64, cost: i64) -> redis::Cmd {
        let mut request = redis::cmd(self.command);
        request.arg(key).arg(window.to_string()).arg(limit);
        if cost != 1 {
            request.arg("COST").arg(cost);
        }
        request
    }

    /// Whether `ttl` is what the script replies, even on a denial, instead of the time to retry after.
    pub fn has_ttl_of_script(&self) -> bool {
        [FIXED.name, SLIDING.name].contains(&self.name)
    }

    /// Panics unless the key expires when its record equals none, in ms, or as much later as a record may.
    #[track_caller]
    pub fn assert_expires(&self, con: &mut Connection, key: &str, needed: i64) {
        let late = expires_at(con, key) - needed;
        assert!((0..=self.expires_late_ms).contains(&late), "{self:?}: {key} expires {late} ms late");
    }

    /// The figure `remaining` of a request of cost 1.
    #[track_caller]
    pub fn remaining(&self, con: &mut Connection, key: &str, window: impl ToString, limit: i64) -> i64 {
        let reply: Vec<Value> = self.request(key, window, limit, 1).arg("FULL").query(con).expect("FULL");
        let at = reply.iter().position(|item| *item == Value::BulkString(b"remaining".to_vec()));
        i64::from_redis_value_ref(&reply[at.expect("remaining") + 1]).expect("an integer")
    }
}

/// Sends requests of all kinds on a few keys of each algorithm and window: alone, in MULTI/EXEC, in scripts, of
/// different costs (0 too), under several limits at once, on logs with entries that have left the window. Some calls
/// are refunds and resets. Each key has one window and one limit.
/// Returns how many requests were allowed and how many denied. Neither is 0.
pub fn mixed_load(con: &mut Connection, random: &mut Random, windows: &[&str], requests: u64) -> [i64; 2] {
    const SCRIPT: &str = "return redis.call(ARGV[1], KEYS[1], unpack(ARGV, 2))";
    let mut tally = [0, 0];
    let mut count = |reply: [i64; 3]| tally[usize::from(reply[0] == 0)] += 1;
    for _ in 0..requests {
        let algorithm = random.pick(ALGORITHMS);
        let window = random.pick(windows);
        let limit = 1 + 20 * random.below(3) as i64;
        let key = format!("{}:{window}:{limit}", algorithm.command);
        let cost = random.below(5) as i64;
        match random.below(30) {
            0 => {
                let mut refund = redis::cmd("RL.REFUND");
                refund.arg(algorithm.word()).arg(&key).arg(window).arg(limit).arg("COST").arg(cost);
                refund.exec(con).expect("RL.REFUND");
            }
            1 if random.below(3) == 0 => {
                let mut reset = redis::cmd("RL.RESET");
                reset.arg(algorithm.word()).arg(&key).arg(window).exec(con).expect("RL.RESET");
            }
            1 => {
                let mut request = redis::cmd("RL.THROTTLE");
                request.arg("RL.THROTTLE:1h").arg(&[5, 5, 3_600]).exec(con).expect("RL.THROTTLE");
            }
            2 | 3 => {
                let mut request = redis::cmd("RL.MULTI");
                request.arg(2).arg(algorithm.word()).arg(&key).arg(window).arg(limit).arg("COST").arg(cost);
                request.arg(FIXED.word()).arg("RL.MULTI:1h").arg("1h").arg(100).arg("COST").arg(cost);
                let (allowed, _): (i64, Value) = request.query(con).expect("RL.MULTI");
                count([allowed, 0, 0]);
            }
            4..=8 => {
                let mut requests = redis::pipe();
                requests.atomic().add_command(algorithm.request(&key, window, limit, cost));
                requests.add_command(algorithm.request(&key, window, limit, 1));
                let replies: Vec<[i64; 3]> = requests.query(con).expect("EXEC");
                replies.into_iter().for_each(&mut count);
            }
            9..=13 => {
                let mut script = redis::cmd("EVAL");
                script.arg(SCRIPT).arg(1).arg(&key).arg(algorithm.command).arg(window).arg(limit);
                count(script.arg("COST").arg(cost).query(con).expect("EVAL"));
            }
            14..=16 if algorithm.key_type == "zset" => {
                // After a request, which in any case leaves the key with an entry and an expiry.
                let mut requests = redis::pipe();
                requests.atomic().add_command(algorithm.request(&key, window, limit, 1));
                requests.cmd("ZADD").arg(&key).arg(1 + random.below(1_000)).arg(random.below(1_000)).ignore();
                let [reply]: [[i64; 3]; 1] = requests.query(con).expect("EXEC");
                count(reply);
            }
            17 | 18 => {
                let key = format!("RL.LEASE:{window}:{limit}");
                let id = random.below(2 * limit as u64);
                match random.below(5) {
                    0 => redis::cmd("RL.RENEW").arg(key).arg(window).arg(id).exec(con).expect("RL.RENEW"),
                    1 => redis::cmd("RL.RELEASE").arg(key).arg(id).exec(con).expect("RL.RELEASE"),
                    _ => {
                        let mut request = redis::cmd("RL.LEASE");
                        count(request.arg(key).arg(window).arg(limit).arg("ID").arg(id).query(con).expect("RL.LEASE"));
                    }
                }
            }
            _ => count(algorithm.ask_for(con, &key, window, limit, cost)),
        }
    }
    assert!(tally[0] > 0 && tally[1] > 0, "no mixed load: {tally:?} of {requests}");
    tally
}

/// Every key, in order.
pub fn keys(con: &mut Connection) -> Vec<String> {
    let mut keys: Vec<String> = redis::cmd("KEYS").arg("*").query(con).expect("KEYS");
    keys.sort();
    keys
}

/// The key that holds the state, where there is one key only.
#[track_caller]
pub fn only_key(con: &mut Connection) -> String {
    let keys = keys(con);
    assert_eq!(keys.len(), 1, "{keys:?}");
    keys[0].clone()
}

/// When a key ends, in milliseconds since the epoch; -1 never, -2 for no key.
pub fn expires_at(con: &mut Connection, key: &str) -> i64 {
    redis::cmd("PEXPIRETIME").arg(key).query(con).expect("PEXPIRETIME")
}

/// Every key with its value and its expiry.
pub fn everything(con: &mut Connection) -> Vec<(String, Value, i64)> {
    let dump = |con: &mut Connection, key: &String| ok(cmd!(*con, "DUMP", key));
    keys(con).into_iter().map(|key| (key.clone(), dump(con, &key), expires_at(con, &key))).collect()
}

/// The members of a sorted set with their scores, the lowest first.
pub fn members(con: &mut Connection, key: &str) -> Vec<(String, i64)> {
    let all: Vec<(String, f64)> =
        redis::cmd("ZRANGE").arg(key).arg(&["0", "-1", "WITHSCORES"]).query(con).expect("ZRANGE");
    all.into_iter().map(|(member, score)| (member, score as i64)).collect()
}

pub fn scores(con: &mut Connection, key: &str) -> Vec<i64> {
    members(con, key).into_iter().map(|(_, score)| score).collect()
}

pub fn now_ms() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("later than 1970");
    now.as_millis() as i64
}

/// What the module replicates: plain commands, and the two that enclose several of them.
const PLAIN: &[&str] = &[
    "APPEND",
    "DEL",
    "EXEC",
    "INCR",
    "INCRBY",
    "MULTI",
    "PEXPIREAT",
    "SET",
    "SETRANGE",
    "UNLINK",
    "ZADD",
    "ZREM",
    "ZREMRANGEBYRANK",
    "ZREMRANGEBYSCORE",
];

/// Panics unless every effect is a plain command, and every SET sets an absolute expiry or keeps the one there is.
#[track_caller]
pub fn assert_plain(effects: &[Vec<String>]) {
    for effect in effects {
        assert!(PLAIN.contains(&effect[0].as_str()), "{effect:?}");
        let options = effect.get(3..).unwrap_or_default();
        let expires = matches!(options, [option, _] if option == "PXAT");
        let keeps = matches!(options, [option] if option == "KEEPTTL");
        assert!(effect[0] != "SET" || expires || keeps, "{effect:?}");
    }
}

/// What a server with [`super::Options::durable`] propagates, read from its AOF (which is fed as replicas are).
pub struct Effects<'s> {
    server: &'s Server,
    seen: usize,
}

impl<'s> Effects<'s> {
    /// From now on.
    pub fn of(server: &'s Server) -> Self {
        let mut effects = Self { server, seen: 0 };
        effects.take();
        effects
    }

    /// The commands propagated since the last call by what was answered before this one; without SELECT.
    pub fn take(&mut self) -> Vec<Vec<String>> {
        let files = fs::read_dir(self.server.dir().join("appendonlydir")).expect("an append only file");
        let mut files = files.map(|file| file.expect("a file").path());
        let file = files.find(|file| file.to_string_lossy().ends_with(".incr.aof")).expect("an append only file");
        let all = fs::read(file).expect("an append only file");
        let mut rest = &all[self.seen..];
        self.seen = all.len();
        let mut commands = Vec::new();
        while !rest.is_empty() {
            let count = length(&mut rest, b'*');
            let argument = |_| {
                let (argument, after) = {
                    let len = length(&mut rest, b'$');
                    rest.split_at(len)
                };
                rest = after.strip_prefix(b"\r\n").expect("the end of an argument");
                String::from_utf8_lossy(argument).into_owned()
            };
            commands.push((0..count).map(argument).collect::<Vec<_>>());
        }
        commands.retain(|command| !command[0].eq_ignore_ascii_case("SELECT"));
        commands
    }
}

/// Takes `<mark><digits>\r\n` off the front.
fn length(rest: &mut &[u8], mark: u8) -> usize {
    let end = rest.iter().position(|&byte| byte == b'\n').expect("a whole line");
    let (line, after) = rest.split_at(end + 1);
    *rest = after;
    let text = line.strip_prefix(&[mark]).unwrap_or_else(|| panic!("no {} in front of {line:?}", char::from(mark)));
    String::from_utf8_lossy(text).trim().parse().expect("a length")
}
