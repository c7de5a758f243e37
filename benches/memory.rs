//! Memory of a key, and of a million users: `make bench-memory`.
//!
//! Environment: `USERS=1000000`.

mod common;
#[path = "../tests/support/mod.rs"]
mod support;

use common::cases::SCRIPTS;
use common::lab::{Lab, PIPELINE, Words};
use common::now_ms;
use common::report::{self, Json, conditions, setting, table, thousands};
use redis::Value;
use support::{Server, servers};

const KEY: &str = "rl:user:00000001";
/// A bucket of ten thousand that a day refills: nothing is forgotten meanwhile.
const LIMIT: u64 = 10_000;
const REQUESTS: [usize; 5] = [1, 5, 100, 1_000, 10_000];
/// What every one of the million has sent.
const EACH: usize = 5;

/// Name, what a request sends, and the same for `EACH` at once.
const ROWS: [(&str, &str, &str); 8] = [
    ("fixed script", SCRIPTS[0].sends, ""),
    ("RL.FIXED", "RL.FIXED KEY 86400 LIMIT", "RL.FIXED KEY 86400 LIMIT COST 5"),
    ("sliding script", SCRIPTS[1].sends, ""),
    ("RL.SLIDING", "RL.SLIDING KEY 86400 LIMIT", "RL.SLIDING KEY 86400 LIMIT COST 5"),
    ("RL.COUNTER", "RL.COUNTER KEY 86400 LIMIT", "RL.COUNTER KEY 86400 LIMIT COST 5"),
    ("RL.TOKEN", "RL.TOKEN KEY 86400 LIMIT", "RL.TOKEN KEY 86400 LIMIT COST 5"),
    ("RL.LEAKY", "RL.LEAKY KEY 86400 LIMIT", "RL.LEAKY KEY 86400 LIMIT COST 5"),
    ("RL.GCRA, RL.THROTTLE", "RL.GCRA KEY 86400 LIMIT", "RL.GCRA KEY 86400 LIMIT COST 5"),
];

fn main() {
    let bin = &servers()[0];
    let users = setting("USERS", 1e6) as usize;
    let mut lab = Lab::start(Server::options(bin));
    let (mut rows, mut list) = (Vec::new(), Vec::new());
    for (name, one, each) in ROWS {
        let sizes = REQUESTS.map(|requests| bytes_after(&mut lab, one, requests));
        let million = (!each.is_empty()).then(|| bytes_of(&mut lab, each, users));
        let per_user = million.map(|bytes| bytes / users as f64);
        let mut row = vec![name.to_owned()];
        row.extend(sizes.map(thousands));
        row.push(per_user.map_or(String::new(), thousands));
        row.push(million.map_or(String::new(), |bytes| format!("{:.0} MB", bytes / 1e6)));
        rows.push(row);
        list.push(Json::map([
            ("name", name.into()),
            ("requests", Json::List(REQUESTS.map(|requests| Json::Number(requests as f64)).into())),
            ("bytes", Json::List(sizes.map(Json::Number).into())),
            ("bytes_per_user", per_user.map_or("".into(), Json::Number)),
        ]));
    }
    let requests = REQUESTS.map(|requests| thousands(requests as f64));
    let (each, million) = (format!("a user, {EACH} requests each"), format!("{} users", thousands(users as f64)));
    let heading: Vec<_> =
        ["after requests"].into_iter().chain(requests.iter().map(String::as_str)).chain([&*each, &*million]).collect();
    let text = format!(
        "# Memory\n\n{}.\n\n\
         Bytes of one key ({} characters) as MEMORY USAGE says, after so many requests in the window; then what {} users\n\
         really add to the server's memory (`used_memory`), hash tables and expiry included. The scripts keep the same\n\
         keys as RL.FIXED and RL.SLIDING. Only a sliding log grows with the requests: one member each.\n\n{}",
        conditions(bin),
        KEY.len(),
        thousands(users as f64),
        table(&heading, &rows)
    );
    println!("{text}");
    report::write(bin, "memory.md", &text);
    let all = Json::map([("conditions", conditions(bin).as_str().into()), ("results", Json::List(list))]);
    report::write(bin, "memory.json", &(all.text() + "\n"));
}

/// Of the key that so many requests leave.
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
    let Value::Array(keys) = lab.ask("KEYS *") else { panic!("KEYS answers no array") };
    let [Value::BulkString(key)] = keys.as_slice() else { panic!("{sends} left {} keys", keys.len()) };
    let key = String::from_utf8_lossy(key).into_owned();
    lab.ask_integer(&format!("MEMORY USAGE {key} SAMPLES 0")) as f64
}

/// Of that many keys together, asked of the server as a whole.
fn bytes_of(lab: &mut Lab, sends: &str, users: usize) -> f64 {
    lab.ask("FLUSHALL");
    let before = lab.info("used_memory");
    // Named `u:000000000001`: of 14 characters.
    lab.fill(sends, "u", users, LIMIT, 1);
    assert_eq!(lab.ask_integer("DBSIZE"), users as i64);
    let bytes = lab.info("used_memory") - before;
    lab.ask("FLUSHALL");
    bytes
}
