//! What docs/operations.md tells operators: the users of "Access", the cost of a key, and the health checks.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::support::*;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use redis::Connection;

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/operations.md");
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The users that the page creates: the words after `redis-cli ACL SETUSER`, as the shell passes them.
fn users(page: &str) -> Vec<Vec<String>> {
    let joined = page.replace("\\\n", " ");
    let lines = joined.lines().filter_map(|line| line.strip_prefix("redis-cli ACL SETUSER "));
    lines.map(|line| line.split_whitespace().map(|word| word.replace(['\'', '\\'], "")).collect()).collect()
}

/// What each user of the page can and cannot send, separated by commas. A script of the exporter can only read.
const CAN: [(&str, &str, &str); 4] = [
    (
        "app",
        "PING, CLIENT SETNAME app, RL.FIXED limit:a 60 5, RL.WINDOW limit:i 60 5, RL.SLIDING limit:b 60 5, \
         RL.COUNTER limit:c 60 5, RL.TOKEN limit:d 60 5, RL.LEAKY limit:e 60 5, RL.GCRA limit:f 60 5, \
         RL.THROTTLE limit:f 5 5 60, RL.ROLLING limit:g 60 5, RL.LEASE limit:h 60 5 ID a, RL.RENEW limit:h 60 a, \
         RL.RELEASE limit:h a, RL.MULTI 2 TOKEN limit:d 60 5 FIXED limit:a 60 5, RL.PEEK FIXED limit:a 60 5, \
         RL.REFUND FIXED limit:a 60 5, RL.SETTLE TOKEN limit:d 60 5 RESERVED 1 ACTUAL 2, RL.HELP",
        "RL.RESET TOKEN limit:d 60, RL.TOKEN other 60 5, RL.MULTI 2 TOKEN limit:d 60 5 TOKEN other 60 5, RL.TOP, \
         GET limit:d, DEL limit:d, INFO, CONFIG GET rl.shadow, CLIENT LIST, EVAL return 0",
    ),
    (
        "peek",
        "PING, RL.PEEK TOKEN limit:d 60 5, RL.PEEK FIXED limit:a 60 5 COST 0 FULL, RL.HELP",
        "RL.PEEK TOKEN other 60 5, RL.TOKEN limit:d 60 5, RL.RESET TOKEN limit:d 60, RL.TOP, GET limit:d, INFO",
    ),
    (
        "exporter",
        "INFO rl, RL.TOP 3, CLIENT SETNAME exporter, LATENCY LATEST, SLOWLOG LEN, SLOWLOG GET 1",
        "RL.TOKEN limit:d 60 5, RL.PEEK TOKEN limit:d 60 5, GET limit:d, CONFIG GET *, SCAN 0",
    ),
    (
        "operator",
        "INFO everything, ROLE, DBSIZE, CONFIG GET rl.*, CONFIG SET rl.shadow no, SLOWLOG GET 3, \
         LATENCY HISTOGRAM rl.token, MEMORY USAGE limit:d, CLIENT LIST, MODULE LIST, ACL LOG, ACL GETUSER app, \
         SCAN 0, TYPE limit:d, TTL limit:d, GET limit:d, ZRANGE limit:b 0 -1, \
         RL.PEEK TOKEN limit:d 60 5 COST 0 FULL, RL.REFUND TOKEN limit:d 60 5, \
         RL.SETTLE TOKEN limit:d 60 5 RESERVED 1 ACTUAL 2, RL.RELEASE limit:h a, RL.TOP, RL.TOP RESET, \
         RL.RESET TOKEN limit:d 60",
        "SET limit:d 1, FLUSHALL, GET other, MODULE UNLOAD rl, ACL SETUSER app off, SHUTDOWN, DEBUG HELP",
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
                for call in can.split(", ") {
                    assert!(send(&mut con, call).is_ok(), "{user:?}: {call}");
                }
                for call in cannot.split(", ") {
                    let text = err(send(&mut con, call));
                    assert!(text.starts_with("NOPERM "), "{user:?}: {call}: {text}");
                }
            }
            // For the next user.
            for call in CAN[0].1.split(", ").skip(2) {
                ok(send(&mut root, call));
            }
        }
        let mut exporter = server.con();
        ok(cmd!(exporter, "AUTH", "exporter", "CHANGE-ME"));
        ok(cmd!(exporter, "EVAL", "return redis.call('INFO','rl') .. #redis.call('RL.TOP')", 0));
        assert!(err(cmd!(exporter, "EVAL", "return redis.call('GET','limit:d')", 0)).contains("ERR"));
    });
}

/// Redis 7.0 has no categories for commands of modules: what a user may not do must not be said by category there.
#[test]
fn a_user_by_category_may_do_too_much_on_redis_7_0() {
    const CHANGES: [&str; 3] = ["RL.TOKEN limit:a 1m 5", "RL.RESET TOKEN limit:a 1m", "RL.TOP"];
    const LOOK: &str = "RL.PEEK TOKEN limit:a 1m 5";
    assert!(page().contains("`+@all -@write -@dangerous`") && page().contains("`-@all +@read +rl.peek`"));
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut root = server.con();
        let mut can = |rules: &str, calls: &[&str]| -> Vec<bool> {
            let _ = cmd!(root, "ACL", "DELUSER", "reader");
            let rules = rules.split(' ');
            ok(redis::cmd("ACL")
                .arg(&["SETUSER", "reader", "on", ">secret", "~*"])
                .arg(rules.collect::<Vec<_>>())
                .query(&mut root));
            let mut con = server.con();
            ok(cmd!(con, "AUTH", "reader", "secret"));
            calls.iter().map(|call| send(&mut con, call).is_ok()).collect()
        };
        let by_category = can("+@all -@write -@dangerous", &CHANGES);
        let has_no_categories = !bin.is_valkey() && bin.version < (7, 2, 0);
        assert_eq!(by_category, [has_no_categories; 3], "{bin}");
        for rules in ["-@all +rl.peek", "-@all +@read +rl.peek"] {
            assert_eq!(can(rules, &CHANGES), [false; 3], "{bin}: {rules}");
            assert_eq!(can(rules, &[LOOK]), [true], "{bin}: {rules}");
        }
    });
}

/// The rows of the page's table of bytes: algorithm, how many requests, under which limit, bytes on Redis 7.0, on Valkey.
fn sizes(page: &str) -> Vec<(String, u64, u64, [f64; 2])> {
    let (_, table) = page.split_once("| algorithm | in the state | Redis 7.0 |").expect("the table of bytes");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    rows.flat_map(|row| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let number = |cell: &str| cell.parse().expect("bytes");
        let entries = cells[2].split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(5);
        let limit = if cells[2] == "locked" { 3 } else { 10_000 };
        let bytes = [number(cells[3]), number(cells[4])];
        cells[1].split(", ").map(move |algorithm| (algorithm.to_owned(), entries, limit, bytes)).collect::<Vec<_>>()
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
                redis.call('RL.' .. ARGV[2], key, ARGV[2] == 'ROLLING' and 100 or 86400, ARGV[4])
            end
        end";
    let sizes = sizes(&page());
    assert_eq!(sizes.len(), 14);
    for_each_server(|bin| {
        let column = match (bin.is_valkey(), bin.version) {
            (true, _) => 1,
            (false, (7, 0, _)) => 0,
            _ => return,
        };
        let server = Server::start(bin);
        let mut con = server.con();
        let used = |con: &mut Connection| info(con, "used_memory").parse::<f64>().expect("bytes");
        for (algorithm, entries, limit, stated) in &sizes {
            ok(cmd!(con, "FLUSHALL", "SYNC"));
            let before = used(&mut con);
            for entry in 0..*entries {
                ok(cmd!(con, "EVAL", FILL, 0, KEYS, algorithm, entry, limit));
                // A moment of ROLLING, for a window of 100 s.
                thread::sleep(Duration::from_millis(25));
            }
            let bytes = (used(&mut con) - before) / KEYS as f64;
            let stated = stated[column];
            assert!((bytes / stated - 1.0).abs() < 0.1, "{algorithm}, {entries}: {bytes:.0} bytes, not {stated}");
        }
    });
}

/// Calls, and how many bytes are replicated where they are allowed and where they are denied, of a key of 16 characters in
/// a window that has begun. HOLDER is an id of 36 characters.
const REPLICATED: [(&[&str], f64, Option<f64>); 10] = [
    (&["RL.FIXED KEY 3600 LIMIT"], 44.0, Some(44.0)),
    (&["RL.WINDOW KEY 3600 LIMIT"], 37.0, Some(0.0)),
    // A new moment.
    (&["RL.ROLLING KEY 4000ms LIMIT"], 61.0, Some(0.0)),
    (&["RL.SLIDING KEY 3600 LIMIT"], 81.0, Some(0.0)),
    (&["RL.GCRA KEY 3600 LIMIT"], 76.0, Some(0.0)),
    (&["RL.COUNTER KEY 3600 LIMIT"], 77.0, Some(0.0)),
    (&["RL.TOKEN KEY 3600 LIMIT"], 97.0, Some(0.0)),
    (&["RL.LEASE KEY 3600 LIMIT ID HOLDER"], 199.0, Some(0.0)),
    (&["RL.LEASE KEY 3600 LIMIT ID HOLDER", "RL.RELEASE KEY HOLDER"], 271.0, None),
    (&["RL.MULTI 2 TOKEN {user:00000001}:t 3600 LIMIT COUNTER {user:00000001}:c 3600 LIMIT"], 205.0, Some(0.0)),
];

/// The append only file gets the same bytes.
#[test]
fn a_request_replicates_the_bytes_that_the_page_says() {
    const REQUESTS: u64 = 50;
    let stated = "37 bytes (WINDOW) to 97 (TOKEN, LEAKY), LEASE 199, a denial 0 (FIXED 44)";
    assert!(page().replace('\n', " ").contains(stated), "{stated}");
    for_each_server(|bin| {
        // Nothing but effects.
        let server = Server::options(bin).set("repl-ping-replica-period", 3_600).start();
        let replica = Server::options(bin).replica_of(&server).start();
        wait_for_replica(&server, &replica);
        let replicated = || info(&mut server.con(), "master_repl_offset").parse::<u64>().expect("an offset");
        let mut con = server.con();
        let mut wrong = Vec::new();
        for (calls, allowed, denied) in REPLICATED {
            ok(cmd!(con, "FLUSHALL"));
            for (limit, stated) in [("10000", Some(allowed)), ("1", denied)] {
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
                if (bytes - stated).abs() > 0.05 * stated {
                    wrong.push(format!("{calls:?}, limit {limit}: {bytes}, not {stated}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    });
}

/// The exit status of the image's check.
fn check(server: &Server, arguments: &[&str], password: Option<&str>) -> i32 {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/images/redis-rl-healthcheck");
    let mut check = std::process::Command::new(script);
    check.args(arguments).env("REDIS_RL_PORT", server.port().to_string());
    if let Some(password) = password {
        check.env("REDISCLI_AUTH", password).env("VALKEYCLI_AUTH", password);
    }
    check.status().expect("the check starts").code().expect("a status")
}

/// A probe that restarts a server asks for life, and one that sends clients to it for readiness. A server with all its
/// connections taken lives, and serves them.
#[test]
fn a_server_with_all_connections_taken_is_alive_and_not_ready() {
    for_each_server(|bin| {
        let checks = |server: &Server, password: Option<&str>| {
            let checks: [&[&str]; 5] = [&["live"], &[], &["ready"], &["ready", "primary"], &["ready", "replica"]];
            checks.map(|arguments| check(server, arguments, password))
        };
        let primary = Server::options(bin).set("maxclients", 8).start();
        assert_eq!(checks(&primary, None), [0, 0, 0, 0, 1]);
        let replica = Server::options(bin).replica_of(&primary).start();
        wait_for_replica(&primary, &replica);
        assert_eq!(checks(&replica, None), [0, 0, 0, 1, 0]);
        drop(replica);

        let without = Server::options(bin).without_module().start();
        assert_eq!(checks(&without, None), [0, 1, 1, 1, 1]);
        let with = Server::options(bin).start();
        for (server, expected) in [(&without, [0, 1, 1, 1, 1]), (&with, [0, 0, 0, 1, 1])] {
            ok(cmd!(server.con(), "ACL", "SETUSER", "default", "-@all", "+ping"));
            assert_eq!(checks(server, None), expected, "a user who may not list modules");
        }

        // All connections but one are in use. That one is closed, and the next client takes its place.
        let taken: Vec<_> =
            (0..8).map_while(|_| std::net::TcpStream::connect(("127.0.0.1", primary.port())).ok()).collect();
        assert!(eventually(PATIENCE, || check(&primary, &["ready"], None) == 1), "maxclients is not reached");
        assert_eq!(checks(&primary, None), [0, 0, 1, 1, 1]);
        drop(taken);
        assert!(eventually(PATIENCE, || check(&primary, &["ready"], None) == 0), "it is not ready again");

        ok(cmd!(primary.con(), "CONFIG", "SET", "requirepass", "secret"));
        assert_eq!(checks(&primary, None), [0, 0, 0, 1, 1]);
        assert_eq!(checks(&primary, Some("secret")), [0, 0, 0, 0, 1]);

        // It neither replies nor ends.
        let signal = |signal| kill(Pid::from_raw(primary.pid().cast_signed()), signal).expect("a process");
        signal(Signal::SIGSTOP);
        let stopped = [&["live"][..], &[], &["ready"]].map(|arguments| check(&primary, arguments, None) != 0);
        signal(Signal::SIGCONT);
        assert_eq!(stopped, [true; 3]);
        assert_eq!(check(&primary, &["lively"], None), 2);
    });
}
