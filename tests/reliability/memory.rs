//! At `maxmemory`, whatever the server evicts and whatever `rl.on-oom` says, the server lives, uses no more memory and
//! decides as documented. A client that does not read its replies takes no more memory than the shipped redis.conf allows.

use std::io::{ErrorKind, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use redis::{Connection, Value};

use crate::support::{self, LONG, Options, Server, ServerBin, cmd, for_each_server, info, ok};
use crate::{ALGORITHMS, assert_sound, report};

const POLICIES: [&str; 8] = [
    "noeviction",
    "allkeys-lru",
    "allkeys-lfu",
    "allkeys-random",
    "volatile-lru",
    "volatile-lfu",
    "volatile-random",
    "volatile-ttl",
];

/// What a request that needs memory comes to where there is none.
const SETTINGS: [(&str, Outcome); 3] = [("error", OutOfMemory), ("allow", Allowed), ("deny", Denied)];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Allowed,
    Denied,
    OutOfMemory,
}

use Outcome::{Allowed, Denied, OutOfMemory};

fn outcome(request: &redis::Cmd, con: &mut Connection) -> Outcome {
    match request.query::<Value>(con) {
        Ok(Value::Array(parts)) if parts[0] == Value::Int(1) => Allowed,
        Ok(Value::Array(parts)) if parts[0] == Value::Int(0) => Denied,
        Err(error) if error.code() == Some("OOM") => OutOfMemory,
        other => panic!("neither a decision nor out of memory: {other:?}"),
    }
}

fn request(con: &mut Connection, algorithm: &str, key: &str) -> Outcome {
    outcome(redis::cmd(&format!("RL.{algorithm}")).arg(key).arg(LONG).arg(3), con)
}

fn request_all(con: &mut Connection, key: &str) -> Outcome {
    let mut request = redis::cmd("RL.MULTI");
    request.arg(ALGORITHMS.len());
    for algorithm in ALGORITHMS {
        request.arg(algorithm).arg(format!("{key}:{algorithm}")).arg(LONG).arg(3);
    }
    outcome(&request, con)
}

fn number(con: &mut Connection, field: &str) -> i64 {
    info(con, field).parse().expect("a number")
}

fn has(con: &mut Connection, key: &str) -> bool {
    let keys: Vec<String> = redis::cmd("KEYS").arg(format!("{key}*")).query(con).expect("KEYS");
    !keys.is_empty()
}

/// guarantee: maxmemory
#[test]
fn under_memory_pressure_the_module_decides_as_it_is_told() {
    for_each_server(|bin| {
        // A connection's buffers come and go, and so would the pressure.
        let mut server = Server::options(bin).set("maxmemory-clients", 0).start();
        let mut con = server.con();
        for (policy, (setting, starved)) in POLICIES.into_iter().flat_map(|policy| SETTINGS.map(|set| (policy, set))) {
            let what = format!("{policy}, {setting}");
            ok(cmd!(con, "CONFIG", "SET", "maxmemory", 0));
            // Memory given back later would relieve the pressure.
            ok(cmd!(con, "FLUSHALL", "SYNC"));
            ok(cmd!(con, "CONFIG", "SET", "maxmemory-policy", policy));
            ok(cmd!(con, "CONFIG", "SET", "rl.on-oom", setting));
            for algorithm in ALGORITHMS {
                assert_eq!(request(&mut con, algorithm, &format!("old:{algorithm}")), Allowed);
            }
            // 16 MB that never expire, of which 4 are too much.
            ok(cmd!(con, "DEBUG", "POPULATE", 2_000, "filler", 8_000));
            let full = number(&mut con, "used_memory") - 4_000_000;
            ok(cmd!(con, "CONFIG", "SET", "maxmemory", full));
            ok(cmd!(con, "PING"));
            if policy.starts_with("allkeys") {
                evicting(&mut con, full, &what);
            } else {
                full_up(&mut con, starved, policy == "noeviction", &what);
            }
            // With memory again everything is as ever.
            ok(cmd!(con, "CONFIG", "SET", "maxmemory", 0));
            for algorithm in ALGORITHMS {
                let outcomes = [(); 4].map(|()| request(&mut con, algorithm, &format!("after:{algorithm}")));
                assert_eq!(outcomes, [Allowed, Allowed, Allowed, Denied], "{what}, {algorithm}");
            }
        }
        assert_sound(&mut server);
    });
}

/// The server evicts keys to make room.
fn evicting(con: &mut Connection, full: i64, what: &str) {
    let mut charged = 0;
    for n in 0..100 {
        for algorithm in ALGORITHMS {
            charged += usize::from(request(con, algorithm, &format!("new:{n}:{algorithm}")) == Allowed);
        }
        request_all(con, &format!("new:all:{n}"));
    }
    // One may meet a server that is about to evict.
    assert!(charged > 100 * ALGORITHMS.len() * 9 / 10, "{what}: {charged}");
    assert!(number(con, "evicted_keys") > 0, "{what}");
    assert!(number(con, "used_memory") < full + 1_000_000, "{what}");
}

/// There is no memory, and nothing to evict (any more: the states were the first to go where they could).
fn full_up(con: &mut Connection, starved: Outcome, kept: bool, what: &str) {
    let before = number(con, "used_memory");
    for n in 0..100 {
        for algorithm in ALGORITHMS {
            assert_eq!(request(con, algorithm, &format!("new:{n}:{algorithm}")), starved, "{what}, {algorithm}");
        }
        assert_eq!(request_all(con, &format!("new:all:{n}")), starved, "{what}");
    }
    assert!(!has(con, "new:"), "{what}: charged without memory");
    for algorithm in support::ALGORITHMS {
        let key = format!("old:{}", algorithm.word());
        assert_eq!(has(con, &key), kept, "{what}, {algorithm:?}");
        let outcomes = [(); 3].map(|()| request(con, algorithm.word(), &key));
        // A key that is there goes on to its limit, unless a request makes it larger.
        let expected = if kept && !algorithm.grows { [Allowed, Allowed, Denied] } else { [starved; 3] };
        assert_eq!(outcomes, expected, "{what}, {algorithm:?}");
    }
    let used = number(con, "used_memory");
    assert!(used < before + 1_000_000, "{what}: {before} bytes came to be {used}");
}

/// With the settings of the shipped file, and 200 MB of memory.
fn shipped(bin: &ServerBin) -> Options {
    let config = concat!("exec \"$0\" ", env!("CARGO_MANIFEST_DIR"), "/redis.conf \"$@\"");
    Options::new(bin).under(&["sh", "-c", config]).set("maxmemory", 200 << 20)
}

/// The server closes its connection, and decides for everybody else.
/// guarantee: work
#[test]
fn a_client_that_does_not_read_its_replies_is_closed() {
    for_each_server(|bin| {
        let mut server = shipped(bin).start();
        let mut con = server.con();
        ok(cmd!(con, "CONFIG", "SET", "rl.on-oom", "deny"));
        let before = number(&mut con, "used_memory");
        let mut greedy = TcpStream::connect(("127.0.0.1", server.port())).expect("a connection");
        greedy.set_write_timeout(Some(Duration::from_millis(200))).expect("a timeout");
        let requests = b"RL.TOKEN hot 1m 5 HEADERS\r\n".repeat(1_000);
        let (begin, mut peak) = (Instant::now(), 0);
        while !greedy.write_all(&requests).is_err_and(|error| !is_timeout(error.kind())) {
            peak = peak.max(number(&mut con, "used_memory") - before);
            // Another caller, with a new key each time: at maxmemory it would be denied.
            assert_eq!(request(&mut con, "TOKEN", &format!("other:{}", begin.elapsed().as_nanos())), Allowed);
            assert!(begin.elapsed() < Duration::from_secs(20), "{} MB and not closed", peak >> 20);
        }
        assert!(peak < 64 << 20, "{} MB for one client", peak >> 20);
        assert_eq!(number(&mut con, "rl_oom_denied"), 0);
        let log = server.log();
        assert!(log.contains("overcoming of output buffer limits") || number(&mut con, "evicted_clients") == 1);
        report(&format!("closed after {:.1} s and {} MB", begin.elapsed().as_secs_f64(), peak >> 20));
        assert_sound(&mut server);
    });
}

fn is_timeout(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut)
}
