//! Memory of a key, of a million users, and of a sliding log in both of its encodings: `make bench-memory`.
//!
//! Environment: `USERS=1000000`.

mod common;
#[path = "../tests/support/mod.rs"]
mod support;

use common::cases::SCRIPTS;
use common::lab::{Lab, PIPELINE, Words, key_name};
use common::now_ms;
use common::report::{self, conditions, setting, table, thousands};
use redis::Value;
use support::{Server, servers};

/// As long as [`USER`] with its number, so that one key length stands for all figures.
const KEY: &str = "rl:user:00000001";
/// The users of the million are `usr:000000000001` and so on.
const USER: &str = "usr";
/// A bucket of ten thousand that refills in a day: no state expires during a measurement.
const LIMIT: u64 = 10_000;
const REQUESTS: [usize; 5] = [1, 5, 100, 1_000, 10_000];
/// The requests that each of the million users sends, one at a time.
const EACH: usize = 5;

const SLIDING: &str = "RL.SLIDING KEY 86400 LIMIT";
/// Name, command, and whether a million users are measured. They are filled by a script, which cannot call another one.
const ROWS: [(&str, &str, bool); 9] = [
    ("fixed script", SCRIPTS[0].sends, false),
    ("RL.FIXED", "RL.FIXED KEY 86400 LIMIT", true),
    ("sliding script", SCRIPTS[1].sends, false),
    ("RL.SLIDING", SLIDING, true),
    ("RL.ROLLING", "RL.ROLLING KEY 86400 LIMIT", true),
    ("RL.COUNTER", "RL.COUNTER KEY 86400 LIMIT", true),
    ("RL.TOKEN", "RL.TOKEN KEY 86400 LIMIT", true),
    ("RL.LEAKY", "RL.LEAKY KEY 86400 LIMIT", true),
    ("RL.GCRA, RL.THROTTLE", "RL.GCRA KEY 86400 LIMIT", true),
];

/// Values of `zset-max-listpack-entries`: never a listpack, the server's default, a listpack for every log below.
const LISTPACK_ENTRIES: [usize; 3] = [0, 128, 2_048];
const LOG_ENTRIES: [usize; 4] = [5, 100, 128, 1_000];

fn main() {
    let bin = &servers()[0];
    let users = setting("USERS", 1e6) as usize;
    let mut lab = Lab::start(Server::options(bin));
    let mut rows = Vec::new();
    for (name, sends, by_users) in ROWS {
        let sizes = REQUESTS.map(|requests| bytes_after(&mut lab, sends, requests));
        let million = by_users.then(|| bytes_of(&mut lab, sends, users));
        let per_user = million.map(|bytes| bytes / users as f64);
        let mut row = vec![name.to_owned()];
        row.extend(sizes.map(thousands));
        row.push(per_user.map_or(String::new(), thousands));
        row.push(million.map_or(String::new(), |bytes| format!("{:.0} MB", bytes / 1e6)));
        rows.push(row);
    }
    let requests = REQUESTS.map(|requests| thousands(requests as f64));
    let (each, million) = (format!("a user, {EACH} requests each"), format!("{} users", thousands(users as f64)));
    let heading: Vec<_> =
        ["after requests"].into_iter().chain(requests.iter().map(String::as_str)).chain([&*each, &*million]).collect();
    let logs = logs(&mut lab);
    let text = format!(
        "# Memory\n\n{}.\n\n\
         Bytes of one key as MEMORY USAGE says, after so many requests in the window; then what {} users add to the\n\
         server's memory (`used_memory`), hash tables and expiries included. Each user sends {EACH} requests, one in each of\n\
         {EACH} passes over all users. Keys are {} characters long (RL.FIXED adds `:` and the number of the window). The\n\
         scripts keep the same keys as RL.FIXED and RL.SLIDING. Only the logs grow with the requests: SLIDING by a member\n\
         for each unit, ROLLING by 15 bytes for each moment with a request. Its moments are 21 s long here.\n\n\
         {}\n\
         ## A log in both encodings\n\n\
         Bytes of one key of RL.SLIDING after so many requests. A log of at most `zset-max-listpack-entries` entries is\n\
         a listpack; a larger one is a skiplist.\n\n{logs}",
        conditions(bin),
        thousands(users as f64),
        KEY.len(),
        table(&heading, &rows)
    );
    println!("{text}");
    report::write(bin, "memory.md", &text);
}

/// The table of the bytes of a log. The server has its default setting afterwards.
fn logs(lab: &mut Lab) -> String {
    let mut rows = Vec::new();
    for most in LISTPACK_ENTRIES {
        lab.ask(&format!("CONFIG SET zset-max-listpack-entries {most}"));
        let sizes = LOG_ENTRIES.map(|entries| {
            let bytes = bytes_after(lab, SLIDING, entries);
            let encoding = lab.ask(&format!("OBJECT ENCODING {KEY}"));
            let expected = if entries <= most { "listpack" } else { "skiplist" };
            assert_eq!(encoding, Value::BulkString(expected.into()), "{entries} entries");
            (bytes, expected)
        });
        let cells = sizes.iter().map(|(bytes, encoding)| format!("{} ({encoding})", thousands(*bytes)));
        rows.push([most.to_string()].into_iter().chain(cells).collect());
    }
    lab.ask("CONFIG SET zset-max-listpack-entries 128");
    let entries = LOG_ENTRIES.map(|entries| format!("{} entries", thousands(entries as f64)));
    let heading: Vec<_> =
        ["`zset-max-listpack-entries`"].into_iter().chain(entries.iter().map(String::as_str)).collect();
    table(&heading, &rows)
}

/// The bytes of one key after that many requests.
fn bytes_after(lab: &mut Lab, sends: &str, requests: usize) -> f64 {
    lab.ask("FLUSHALL");
    let now = now_ms();
    for first in (0..requests).step_by(PIPELINE) {
        let batch = (first..requests.min(first + PIPELINE)).map(|n| {
            let now = (now + n as u64).to_string();
            lab.words(sends, &Words { key: KEY.into(), limit: LIMIT, now, one: String::new() })
        });
        let batch: Vec<_> = batch.collect();
        lab.send(&batch);
    }
    let Value::Array(keys) = lab.ask("KEYS *") else { panic!("KEYS replies no array") };
    let [Value::BulkString(key)] = keys.as_slice() else { panic!("{sends} left {} keys", keys.len()) };
    let key = String::from_utf8_lossy(key).into_owned();
    lab.ask_integer(&format!("MEMORY USAGE {key} SAMPLES 0")) as f64
}

/// The bytes that the server uses for that many keys after `EACH` requests to each of them.
fn bytes_of(lab: &mut Lab, sends: &str, users: usize) -> f64 {
    lab.ask("FLUSHALL");
    let before = lab.info("used_memory");
    assert_eq!(key_name(USER, users, 1).len(), KEY.len());
    // Each pass goes over all users, so that time passes between two requests of a user, as in use.
    for _ in 0..EACH {
        lab.fill(sends, USER, users, LIMIT, 1);
    }
    assert_eq!(lab.ask_integer("DBSIZE"), users as i64);
    let bytes = lab.info("used_memory") - before;
    lab.ask("FLUSHALL");
    bytes
}
