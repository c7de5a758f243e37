//! A server to measure: fills its keys, and sends it commands.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use redis::{Connection, ConnectionLike, Value};

use super::cases::{FIXED_SCRIPT, Found, SLIDING_SCRIPT};
use crate::support::scripts::{script, script_of_several};
use crate::support::{Options, Server};

/// The number of commands in a pipeline.
pub const PIPELINE: usize = 50;

pub struct Lab {
    pub server: Server,
    pub con: Connection,
    loaded: RefCell<BTreeMap<String, String>>,
}

/// The values of the placeholders of a [`super::cases::Case`].
#[derive(Clone, Debug)]
pub struct Words {
    pub key: String,
    pub limit: u64,
    pub now: String,
    pub one: String,
}

/// How much has ended before a request.
pub const ENDED: u64 = 10_000;

/// The reservations of a limit that are open, in the cases about that.
const OPEN: u64 = 100_000;

impl Lab {
    pub fn start(options: Options) -> Self {
        let server = options.start();
        let con = server.con();
        Self { server, con, loaded: RefCell::default() }
    }

    /// Sends a command, its words separated by blanks. Panics if the reply is an error.
    pub fn ask(&mut self, command: &str) -> Value {
        self.send(&[command.split(' ').map(str::to_owned).collect()])
    }

    /// Sends requests in pipelines and returns the last reply. Panics if any is an error.
    pub fn send(&mut self, requests: &[Vec<String>]) -> Value {
        let mut last = Value::Nil;
        for batch in requests.chunks(PIPELINE) {
            let mut pipeline = redis::pipe();
            for words in batch {
                pipeline.cmd(&words[0]).arg(&words[1..]);
            }
            let packed = pipeline.get_packed_pipeline();
            let replies = self.con.req_packed_commands(&packed, 0, batch.len()).expect("replies");
            let error = replies.iter().find(|reply| matches!(reply, Value::ServerError(_)));
            assert!(error.is_none(), "{:?}: {error:?}", batch[0]);
            last = replies.into_iter().last().expect("a reply");
        }
        last
    }

    /// The digest of a script. It is loaded when a command needs it first: it makes the garbage collection of every other
    /// script take longer.
    fn digest(&self, word: &str) -> String {
        let load = || {
            let name = word.strip_prefix("LUA:").unwrap_or(word);
            let source = match name {
                "FIXED_SCRIPT" => FIXED_SCRIPT.to_owned(),
                "SLIDING_SCRIPT" => SLIDING_SCRIPT.to_owned(),
                several if several.contains('+') => script_of_several(name.split('+')),
                _ => script(name),
            };
            let mut con = self.server.con();
            redis::cmd("SCRIPT").arg("LOAD").arg(source).query(&mut con).expect("it is loaded")
        };
        self.loaded.borrow_mut().entry(word.to_owned()).or_insert_with(load).clone()
    }

    pub fn words(&self, sends: &str, put: &Words) -> Vec<String> {
        sends
            .split(' ')
            .map(|word| match word {
                _ if word.starts_with("LUA:") || word.ends_with("_SCRIPT") => self.digest(word),
                _ => word
                    .replace("KEY", &put.key)
                    .replace("LIMIT", &put.limit.to_string())
                    .replace("NOW", &put.now)
                    .replace("ONE", &put.one),
            })
            .collect()
    }

    /// Writes logs of that many members, as the script and the module write them. Each has its own score; the last one
    /// is `newest`.
    pub fn fill_logs(&mut self, key: &str, keys: usize, members: usize, newest: u64) {
        const LUA: &str = r"
            local first = tonumber(ARGV[2]) - tonumber(ARGV[1])
            local words = {}
            for n = 1, tonumber(ARGV[1]) do
                local score = string.format('%.0f', first + n)
                words[#words + 1] = score
                words[#words + 1] = score .. '-0.' .. n
                if #words == 400 or n == tonumber(ARGV[1]) then
                    for k = 3, #ARGV do redis.call('ZADD', ARGV[k], unpack(words)) end
                    words = {}
                end
            end";
        let names: Vec<_> = (0..keys).map(|at| key_name(key, keys, at)).collect();
        for names in names.chunks(10_000) {
            let mut eval = redis::cmd("EVAL");
            eval.arg(LUA).arg(0).arg(members).arg(newest).arg(names);
            eval.exec(&mut self.con).expect("logs are written");
        }
    }

    /// Records of RL.ROLLING with so many entries, evenly over the window that ends at `now`, of so many units in all.
    /// The server doubles a string that grows. So these have room for more, as nearly all records have.
    pub fn fill_packed(&mut self, key: &str, keys: usize, [entries, units]: [u64; 2], window_ms: u64, now: u64) {
        let mut record = b"R:".to_vec();
        for n in 1..=entries {
            let time = now - window_ms + n * window_ms / entries;
            record.extend(&time.to_le_bytes()[..7]);
            record.extend((n * units / entries).to_le_bytes());
        }
        for at in 0..keys {
            let key = key_name(key, keys, at);
            let mut pipeline = redis::pipe();
            pipeline.cmd("SET").arg(&key).arg(&record[..2]).arg("PXAT").arg(now + 2 * window_ms);
            pipeline.cmd("APPEND").arg(&key).arg(&record[2..]);
            pipeline.exec(&mut self.con).expect("SET and APPEND");
        }
    }

    /// Reservations of one unit each of RL.`word` with a window of 30 days, charged one after another: [`ENDED`] that ended
    /// a millisecond before `now`, or [`OPEN`].
    pub fn fill_reservations(&mut self, word: &str, key: &str, now: u64, found: Found) {
        const WINDOW_MS: u64 = 30 * 86_400_000;
        const TTL_MS: u64 = 86_400_000;
        self.ask("CONFIG SET rl.max-reservations 1000000");
        self.ask(&format!("RL.{word} {key} 30d {OPEN} COST {ENDED} RESERVE first 1d"));
        let hash = if word == "FIXED" { format!("{key}:{WINDOW_MS}ms:reserved") } else { format!("{key}:reserved") };
        let first: String = redis::cmd("HGET").arg(&hash).arg("first").query(&mut self.con).expect("HGET");
        // The expiry of WINDOW's counter, the end of FIXED's bucket.
        let counts_until = first.split(':').nth(3).expect("a field").to_owned();
        if word == "ROLLING" {
            self.fill_packed(key, 1, [4_096, ENDED], WINDOW_MS, now);
        }
        self.ask(&format!("RL.SETTLE {word} {key} 30d {OPEN} RESERVATION first ACTUAL {ENDED}"));
        let (mut fields, mut order) = (Vec::new(), Vec::new());
        for n in 0..if matches!(found, Found::Open) { OPEN } else { ENDED } {
            let charged_at = now - TTL_MS + n * 3;
            let (id, ends_at) = match found {
                // Named as `ONE` is. One in a hundred is never settled.
                Found::Open => (format!("0.{n:05}"), now + TTL_MS + n % 1_000),
                _ => {
                    // The ids are like UUIDs, and the charges in the order of neither.
                    let id = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                    (format!("{:08x}-{:04x}-4{:03x}-8000-{n:012x}", id >> 32, id >> 16 & 0xffff, id & 0xfff), now - 1)
                }
            };
            order.extend([ends_at.to_string(), id.clone()]);
            fields.extend([id, format!("1:{charged_at}:{ends_at}:{counts_until}:{TTL_MS}")]);
        }
        for (fields, order) in fields.chunks(500).zip(order.chunks(500)) {
            redis::cmd("HSET").arg(&hash).arg(fields).exec(&mut self.con).expect("HSET");
            redis::cmd("ZADD").arg(format!("{hash}:ends")).arg(order).exec(&mut self.con).expect("ZADD");
        }
        redis::cmd("HSET").arg(&hash).arg("").arg(0).exec(&mut self.con).expect("HSET");
        let expires_at = now + 2 * WINDOW_MS;
        self.ask(&format!("PEXPIREAT {hash} {expires_at}"));
        self.ask(&format!("PEXPIREAT {hash}:ends {expires_at}"));
    }
}

/// The name of key number `at` of `keys`: `<key>:<twelve digits>`, or the key itself if there is one.
pub fn key_name(key: &str, keys: usize, at: usize) -> String {
    if keys == 1 { key.to_owned() } else { format!("{key}:{at:012}") }
}

/// The integer of a reply, or the first one of an array.
pub fn first(reply: &Value) -> Option<i64> {
    match reply {
        Value::Int(integer) => Some(*integer),
        Value::Array(elements) => first(elements.first()?),
        // LINE
        Value::BulkString(line) => std::str::from_utf8(line).ok()?.split(' ').next()?.parse().ok(),
        _ => None,
    }
}

pub fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970");
    u64::try_from(since.as_millis()).expect("milliseconds")
}
