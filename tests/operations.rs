//! What docs/operations.md tells operators: the users of "Access", the cost of a key, and what a failover loses.

mod support;

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use redis::Connection;
use support::*;

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/operations.md");
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn send(con: &mut Connection, call: &str) -> Reply {
    let words: Vec<&str> = call.split(' ').collect();
    redis::cmd(words[0]).arg(&words[1..]).query(con)
}

/// The users that the page creates: the words after `redis-cli ACL SETUSER`, as the shell passes them.
fn users(page: &str) -> Vec<Vec<String>> {
    let joined = page.replace("\\\n", " ");
    let lines = joined.lines().filter_map(|line| line.strip_prefix("redis-cli ACL SETUSER "));
    lines.map(|line| line.split_whitespace().map(|word| word.replace(['\'', '\\'], "")).collect()).collect()
}

/// What each user of the page can and cannot send. A script of the exporter can only read.
const CAN: [(&str, &[&str], &[&str]); 4] = [
    (
        "app",
        &[
            "PING",
            "CLIENT SETNAME app",
            "RL.FIXED limit:a 60 5",
            "RL.SLIDING limit:b 60 5",
            "RL.COUNTER limit:c 60 5",
            "RL.TOKEN limit:d 60 5",
            "RL.LEAKY limit:e 60 5",
            "RL.GCRA limit:f 60 5",
            "RL.THROTTLE limit:f 5 5 60",
            "RL.ROLLING limit:g 60 5",
            "RL.LEASE limit:h 60 5 ID a",
            "RL.RENEW limit:h 60 a",
            "RL.RELEASE limit:h a",
            "RL.MULTI 2 TOKEN limit:d 60 5 FIXED limit:a 60 5",
            "RL.PEEK FIXED limit:a 60 5",
            "RL.REFUND FIXED limit:a 60 5",
            "RL.SETTLE TOKEN limit:d 60 5 RESERVED 1 ACTUAL 2",
            "RL.HELP",
        ],
        &[
            "RL.RESET TOKEN limit:d 60",
            "RL.TOKEN other 60 5",
            "RL.MULTI 2 TOKEN limit:d 60 5 TOKEN other 60 5",
            "RL.TOP",
            "GET limit:d",
            "DEL limit:d",
            "INFO",
            "CONFIG GET rl.shadow",
            "CLIENT LIST",
            "EVAL return 0",
        ],
    ),
    (
        "peek",
        &["PING", "RL.PEEK TOKEN limit:d 60 5", "RL.PEEK FIXED limit:a 60 5 COST 0 FULL", "RL.HELP"],
        &[
            "RL.PEEK TOKEN other 60 5",
            "RL.TOKEN limit:d 60 5",
            "RL.RESET TOKEN limit:d 60",
            "RL.TOP",
            "GET limit:d",
            "INFO",
        ],
    ),
    (
        "exporter",
        &["INFO rl", "RL.TOP 3", "CLIENT SETNAME exporter", "LATENCY LATEST", "SLOWLOG LEN", "SLOWLOG GET 1"],
        &["RL.TOKEN limit:d 60 5", "RL.PEEK TOKEN limit:d 60 5", "GET limit:d", "CONFIG GET *", "SCAN 0"],
    ),
    (
        "operator",
        &[
            "INFO everything",
            "ROLE",
            "DBSIZE",
            "CONFIG GET rl.*",
            "CONFIG SET rl.shadow no",
            "SLOWLOG GET 3",
            "LATENCY HISTOGRAM rl.token",
            "MEMORY USAGE limit:d",
            "CLIENT LIST",
            "MODULE LIST",
            "ACL LOG",
            "ACL GETUSER app",
            "SCAN 0",
            "TYPE limit:d",
            "TTL limit:d",
            "GET limit:d",
            "ZRANGE limit:b 0 -1",
            "RL.PEEK TOKEN limit:d 60 5 COST 0 FULL",
            "RL.REFUND TOKEN limit:d 60 5",
            "RL.SETTLE TOKEN limit:d 60 5 RESERVED 1 ACTUAL 2",
            "RL.RELEASE limit:h a",
            "RL.TOP",
            "RL.TOP RESET",
            "RL.RESET TOKEN limit:d 60",
        ],
        &[
            "SET limit:d 1",
            "FLUSHALL",
            "GET other",
            "MODULE UNLOAD rl",
            "ACL SETUSER app off",
            "SHUTDOWN",
            "DEBUG HELP",
        ],
    ),
];

#[test]
fn the_users_of_the_page_can_do_their_work_and_nothing_else() {
    let page = page();
    let users = users(&page);
    let by_category = |user: &[String]| user.iter().any(|rule| rule == "+@ratelimit");
    assert_eq!(users.iter().filter(|user| by_category(user)).count(), 1);
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut root = server.con();
        let has_category = cmd!(root, "ACL", "CAT", "ratelimit").is_ok();
        assert!(has_category || !bin.is_valkey(), "{bin} has categories for modules");
        for (name, can, cannot) in CAN {
            let named: Vec<_> = users.iter().filter(|user| user[0] == name).collect();
            assert!(!named.is_empty(), "the page has no user {name}");
            for user in named.into_iter().filter(|user| has_category || !by_category(user)) {
                let _ = cmd!(root, "ACL", "DELUSER", name);
                ok(redis::cmd("ACL").arg("SETUSER").arg(user).query(&mut root));
                let mut con = server.con();
                ok(cmd!(con, "AUTH", name, "CHANGE-ME"));
                for call in can {
                    assert!(send(&mut con, call).is_ok(), "{user:?}: {call}");
                }
                for call in cannot {
                    let text = err(send(&mut con, call));
                    assert!(text.starts_with("NOPERM "), "{user:?}: {call}: {text}");
                }
            }
            // For the next user.
            for call in &CAN[0].1[2..] {
                ok(send(&mut root, call));
            }
        }
        let mut exporter = server.con();
        ok(cmd!(exporter, "AUTH", "exporter", "CHANGE-ME"));
        ok(cmd!(exporter, "EVAL", "return redis.call('INFO','rl') .. #redis.call('RL.TOP')", 0));
        assert!(err(cmd!(exporter, "EVAL", "return redis.call('GET','limit:d')", 0)).contains("ERR"));
    });
}

/// The rows of the page's table of bytes: algorithm, what the state holds, bytes on Redis 7.0, on Valkey.
fn sizes(page: &str) -> Vec<(String, u64, [f64; 2])> {
    let (_, table) = page.split_once("| algorithm | in the state | Redis 7.0 |").expect("the table of bytes");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let number = |cell: &str| cell.parse().expect("bytes");
        let entries = cells[2].split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(5);
        (cells[1].to_owned(), entries, [number(cells[3]), number(cells[4])])
    })
    .collect()
}

#[test]
fn a_key_takes_the_memory_that_the_page_says() {
    /// The hash table is as full as that of 200,000 keys.
    const KEYS: usize = 12_500;
    const FILL: &str = "
        for n = 1, ARGV[1] do
            local key = string.format('usr:%012d', n)
            if ARGV[2] == 'LEASE' then
                redis.call('RL.LEASE', key, 1000, 10000, 'ID', '12345678-1234-1234-1234-12345678900' .. ARGV[3])
            else
                redis.call('RL.' .. ARGV[2], key, ARGV[2] == 'ROLLING' and 100 or 86400, 10000)
            end
        end";
    let sizes = sizes(&page());
    assert_eq!(sizes.len(), 11);
    for_each_server(|bin| {
        let column = match (bin.is_valkey(), bin.version) {
            (true, _) => 1,
            (false, (7, 0, _)) => 0,
            _ => return,
        };
        let server = Server::start(bin);
        let mut con = server.con();
        let used = |con: &mut Connection| info(con, "used_memory").parse::<f64>().expect("bytes");
        for (algorithm, entries, stated) in &sizes {
            ok(cmd!(con, "FLUSHALL", "SYNC"));
            let before = used(&mut con);
            for entry in 0..*entries {
                ok(cmd!(con, "EVAL", FILL, 0, KEYS, algorithm, entry));
                // A moment of ROLLING, for a window of 100 s.
                thread::sleep(Duration::from_millis(25));
            }
            let bytes = (used(&mut con) - before) / KEYS as f64;
            let stated = stated[column];
            assert!((bytes / stated - 1.0).abs() < 0.1, "{algorithm}, {entries}: {bytes:.0} bytes, not {stated}");
        }
    });
}

/// The rows of the page's table of replicated bytes, and the calls of each. HOLDER is an id of 36 characters.
const REPLICATED: [(&str, &[&str]); 9] = [
    ("RL.FIXED, in a window that has begun", &["RL.FIXED KEY 3600 LIMIT"]),
    ("RL.ROLLING, a new moment", &["RL.ROLLING KEY 4000ms LIMIT"]),
    ("RL.SLIDING", &["RL.SLIDING KEY 3600 LIMIT"]),
    ("RL.GCRA", &["RL.GCRA KEY 3600 LIMIT"]),
    ("RL.COUNTER", &["RL.COUNTER KEY 3600 LIMIT"]),
    ("RL.TOKEN, RL.LEAKY", &["RL.TOKEN KEY 3600 LIMIT"]),
    ("RL.LEASE renewed, id of 36 characters", &["RL.LEASE KEY 3600 LIMIT ID HOLDER"]),
    ("RL.LEASE and RL.RELEASE, id of 36 characters", &["RL.LEASE KEY 3600 LIMIT ID HOLDER", "RL.RELEASE KEY HOLDER"]),
    (
        "RL.MULTI of TOKEN and COUNTER",
        &["RL.MULTI 2 TOKEN {user:00000001}:t 3600 LIMIT COUNTER {user:00000001}:c 3600 LIMIT"],
    ),
];

/// The append only file gets the same bytes (benches/floods.rs counts both).
#[test]
fn a_request_replicates_the_bytes_that_the_page_says() {
    const REQUESTS: u64 = 50;
    let page = page();
    let (_, table) = page.split_once("### Replication and append only file").expect("the section");
    for_each_server(|bin| {
        // Nothing but effects.
        let server = Server::options(bin).set("repl-ping-replica-period", 3_600).start();
        let replica = Server::options(bin).replica_of(&server).start();
        wait_for_replica(&server, &replica);
        let replicated = || info(&mut server.con(), "master_repl_offset").parse::<u64>().expect("an offset");
        let mut con = server.con();
        for (label, calls) in REPLICATED {
            let (_, row) = table.split_once(&format!("| {label} | ")).unwrap_or_else(|| panic!("no row {label}"));
            let mut cells = row.split('|').map(str::trim);
            let mut cell = || cells.next().and_then(|cell| cell.parse::<f64>().ok());
            let [allowed, denied] = [cell(), cell()];
            assert!(allowed.is_some(), "{label}: {row}");
            ok(cmd!(con, "FLUSHALL"));
            for (limit, stated) in [("10000", allowed), ("1", denied)] {
                let Some(stated) = stated else { continue };
                // A holder is never denied, so another one asks.
                let holder = format!("{:036}", if limit == "1" { 2 } else { 1 });
                let mut request = || {
                    for call in calls {
                        let call = call.replace("KEY", "rl:user:00000001").replace("LIMIT", limit);
                        ok(send(&mut con, &call.replace("HOLDER", &holder)));
                    }
                    // Another moment of ROLLING.
                    thread::sleep(Duration::from_millis(1));
                };
                request();
                let before = replicated();
                (0..REQUESTS).for_each(|_| request());
                let bytes = (replicated() - before) as f64 / REQUESTS as f64;
                assert!((bytes - stated).abs() <= 0.05 * stated, "{label}, limit {limit}: {bytes}, not {stated}");
            }
        }
    });
}

/// A master with a replica in step.
fn pair(bin: &ServerBin) -> [Server; 2] {
    let master = Server::start(bin);
    let replica = Server::options(bin).replica_of(&master).start();
    wait_for_replica(&master, &replica);
    [master, replica]
}

fn is_master(server: &Server) -> bool {
    info(&mut server.con(), "role") == "master"
}

/// The steps of "Upgrade": the replica restarts, takes over, and the old master restarts as its replica.
#[test]
fn a_rolling_restart_loses_nothing() {
    for_each_server(|bin| {
        let [mut old, mut new] = pair(bin);
        let ask = |server: &Server, times: i64, before: i64| {
            let mut con = server.con();
            for algorithm in ALGORITHMS {
                for n in 0..times {
                    let [allowed, ..] = algorithm.ask(&mut con, algorithm.name, LONG, 10);
                    assert_eq!(allowed, i64::from(before + n < 10), "{algorithm:?}");
                }
            }
        };
        ask(&old, 3, 0);
        wait_for_replica(&old, &new);
        new.shutdown("NOSAVE");
        new.start_again();
        ask(&old, 3, 3);
        wait_for_replica(&old, &new);
        ok(cmd!(old.con(), "FAILOVER"));
        assert!(eventually(PATIENCE, || is_master(&new) && !is_master(&old)), "no failover:\n{}", new.log());
        ask(&new, 3, 6);
        wait_for_replica(&new, &old);
        old.shutdown("NOSAVE");
        let port = new.port();
        old.start_again_with(|options| options.set("replicaof", format!("127.0.0.1 {port}")));
        wait_for_replica(&new, &old);
        ask(&new, 3, 9);
        let replicas = info(&mut new.con(), "connected_slaves");
        assert_eq!(replicas, "1");
    });
}

/// What the old master charged and the new one has not received can be spent once more, and nothing else.
#[test]
fn an_unplanned_failover_loses_what_was_not_replicated() {
    const LIMIT: i64 = 20;
    for_each_server(|bin| {
        let [master, replica] = pair(bin);
        let units = |server: &Server, algorithm: &Algorithm, times: i64| -> i64 {
            let mut con = server.con();
            (0..times).map(|_| algorithm.ask(&mut con, algorithm.name, LONG, LIMIT)[0]).sum()
        };
        let both: i64 = ALGORITHMS.iter().map(|algorithm| units(&master, algorithm, 12)).sum();
        assert_eq!(both, 12 * ALGORITHMS.len() as i64);
        assert_eq!(cmd!(master.con(), "WAIT", 1, PATIENCE.as_millis() as u64), Ok(redis::Value::Int(1)));
        wait_for_replica(&master, &replica);
        // From here on the replica hears nothing.
        ok(cmd!(replica.con(), "REPLICAOF", "NO", "ONE"));
        for algorithm in ALGORITHMS {
            let lost = units(&master, algorithm, 5);
            assert_eq!(lost, 5, "{algorithm:?}");
            let allowed = 12 + lost + units(&replica, algorithm, LIMIT);
            assert_eq!(allowed, LIMIT + lost, "{algorithm:?}");
        }
        // A master that no replica hears does not go on, if told so.
        ok(cmd!(master.con(), "CONFIG", "SET", "min-replicas-to-write", 1));
        let alone = || cmd!(master.con(), "RL.TOKEN", "new", 60, 5).is_err_and(|e| e.code() == Some("NOREPLICAS"));
        assert!(eventually(PATIENCE, alone), "the master goes on alone");
        ok(cmd!(master.con(), "RL.PEEK", "TOKEN", "new", 60, 5));
    });
}
