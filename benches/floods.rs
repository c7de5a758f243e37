//! The bytes that a flood of denied requests sends to replicas and to the append only file: `make bench-floods`.
//!
//! Environment: `REQUESTS=20000`; `PEER_MODULE=path` names a redis-cell `.so`.

mod common;
#[path = "../tests/support/mod.rs"]
mod support;

use std::time::Duration;

use common::lab::{Lab, Load, PIPELINE};
use common::report::{self, Json, conditions, setting, table, thousands};
use support::{Server, eventually, servers, wait_for_replica};

/// One in twenty is allowed.
const ALLOWED: f64 = 0.05;

/// Name, command (`LIMIT` is how many requests are allowed), and the script or command that it replaces.
const ROWS: [(&str, &str, &str); 14] = [
    ("fixed script", "EVALSHA FIXED_SCRIPT 1 KEY 3600 LIMIT", ""),
    ("RL.FIXED", "RL.FIXED KEY 3600 LIMIT", "fixed script"),
    ("sliding script", "EVALSHA SLIDING_SCRIPT 1 KEY NOW 3600 LIMIT", ""),
    ("RL.SLIDING", "RL.SLIDING KEY 3600 LIMIT", "sliding script"),
    ("RL.WINDOW", "RL.WINDOW KEY 3600 LIMIT", ""),
    ("RL.COUNTER", "RL.COUNTER KEY 3600 LIMIT", ""),
    ("RL.ROLLING", "RL.ROLLING KEY 3600 LIMIT", ""),
    // Each request is another holder.
    ("RL.LEASE", "RL.LEASE KEY 3600 LIMIT ID ONE", ""),
    ("RL.TOKEN", "RL.TOKEN KEY 86400000 LIMIT", ""),
    ("RL.LEAKY", "RL.LEAKY KEY 86400000 LIMIT", ""),
    ("RL.GCRA", "RL.GCRA KEY 86400000 LIMIT", ""),
    ("RL.THROTTLE", "RL.THROTTLE KEY LIMIT LIMIT 86400000", "redis-cell CL.THROTTLE"),
    ("RL.MULTI of FIXED and SLIDING", "RL.MULTI 2 FIXED KEY:a 3600 LIMIT SLIDING KEY:b 3600 LIMIT", ""),
    ("redis-cell CL.THROTTLE", "CL.THROTTLE KEY LIMIT LIMIT 86400000", ""),
];

fn main() {
    let bin = &servers()[0];
    let requests = setting("REQUESTS", 20_000.0);
    let peer = std::env::var("PEER_MODULE").ok().filter(|path| !path.is_empty());
    // The PINGs to the replica would be counted as well.
    let options = |options: support::Options| {
        let options = options.set("repl-ping-replica-period", 3_600);
        match &peer {
            Some(path) => options.set("loadmodule", path).module_args(&["cl-throttle", "no"]),
            None => options,
        }
    };
    let durable = Server::options(bin).set("appendonly", "yes").set("auto-aof-rewrite-percentage", 0);
    let mut lab = Lab::start(options(durable));
    let replica = options(Server::options(bin)).replica_of(&lab.server).start();
    wait_for_replica(&lab.server, &replica);

    let mut measured = Vec::new();
    for (at, &(name, sends, replaces)) in ROWS.iter().enumerate() {
        if name.starts_with("redis-cell") && peer.is_none() {
            continue;
        }
        settle(&mut lab);
        let (offset, file) = (lab.info("master_repl_offset"), lab.server.aof_size());
        let key = format!("flood:{at:02}");
        let limit = (requests * ALLOWED) as u64;
        let load = Load { sends, key: &key, keys: 1, limit, pipeline: PIPELINE, requests: requests as u64, db: 0 };
        lab.load(&load);
        wait_for_replica(&lab.server, &replica);
        settle(&mut lab);
        let replicated = (lab.info("master_repl_offset") - offset) / requests;
        let appended = (lab.server.aof_size() - file) as f64 / requests;
        measured.push((name, replaces, replicated, appended));
    }

    let rows: Vec<_> = measured
        .iter()
        .map(|&(name, replaces, replicated, appended)| {
            let other = measured.iter().find(|other| other.0 == replaces);
            let share = other.map_or(String::new(), |other| format!("{:.1} %", replicated / other.2 * 100.0));
            vec![name.to_owned(), format!("{replicated:.1}"), format!("{appended:.1}"), share]
        })
        .collect();
    let text = format!(
        "# Floods of denied requests\n\n{}; a replica and an append only file attached.\n\n\
         {} requests to one key, of which the first {:.0} % are allowed and all others denied. The figures are bytes per request.\n\
         The last column compares the replication with that of the script (for RL.THROTTLE: of redis-cell). The fixed\n\
         window counts denied requests, as its script does, so it replicates them. The others replicate only allowed ones.\n\n{}",
        conditions(bin),
        thousands(requests),
        ALLOWED * 100.0,
        table(&["", "to replicas", "to the append only file", "of the script's"], &rows)
    );
    println!("{text}");
    report::write(bin, "floods.md", &text);
    let list = measured.iter().map(|&(name, _, replicated, appended)| {
        Json::map([
            ("name", name.into()),
            ("replication_bytes_per_request", replicated.into()),
            ("aof_bytes_per_request", appended.into()),
        ])
    });
    let all = Json::map([("conditions", conditions(bin).as_str().into()), ("results", Json::List(list.collect()))]);
    report::write(bin, "floods.json", &(all.text() + "\n"));
}

/// Waits until the server writes nothing more.
fn settle(lab: &mut Lab) {
    let mut last = (0.0, 0);
    let still = eventually(Duration::from_secs(10), || {
        std::thread::sleep(Duration::from_millis(50));
        let now = (lab.info("master_repl_offset"), lab.server.aof_size());
        std::mem::replace(&mut last, now) == now
    });
    assert!(still, "the server goes on writing");
}
