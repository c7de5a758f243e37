//! At `maxmemory`, whatever the server evicts and whatever `rl.on-oom` says, the server lives, uses no more memory and
//! decides as documented: who needs no memory goes on, who does is refused, let through uncharged, or denied.

use redis::Connection;

use crate::support::{self, Server, for_each_server, info, ok};
use crate::{ALGORITHMS, LONG, assert_sound, cmd, report};

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

/// What a request came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Allowed,
    Denied,
    OutOfMemory,
}

/// What a request that needs memory comes to where there is none.
const SETTINGS: [(&str, Outcome); 3] =
    [("error", Outcome::OutOfMemory), ("allow", Outcome::Allowed), ("deny", Outcome::Denied)];

fn outcome(request: &redis::Cmd, con: &mut Connection) -> Outcome {
    match request.query::<redis::Value>(con) {
        Ok(redis::Value::Array(parts)) if parts[0] == redis::Value::Int(1) => Outcome::Allowed,
        Ok(redis::Value::Array(parts)) if parts[0] == redis::Value::Int(0) => Outcome::Denied,
        Err(error) if error.code() == Some("OOM") => Outcome::OutOfMemory,
        other => panic!("neither an answer nor out of memory: {other:?}"),
    }
}

fn ask(con: &mut Connection, algorithm: &str, key: &str) -> Outcome {
    outcome(redis::cmd(&format!("RL.{algorithm}")).arg(key).arg(LONG).arg(3), con)
}

fn ask_for_all(con: &mut Connection, key: &str) -> Outcome {
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

#[test]
fn under_memory_pressure_the_module_decides_as_it_is_told() {
    for_each_server(|bin| {
        // A connection's buffers come and go, and so would the pressure.
        let mut server = Server::options(bin).set("maxmemory-clients", 0).start();
        let mut con = server.con();
        for policy in POLICIES {
            for (setting, starved) in SETTINGS {
                let what = format!("{policy}, {setting}");
                ok(cmd!(con, "CONFIG", "SET", "maxmemory", 0));
                // Memory given back later would relieve the pressure.
                ok(cmd!(con, "FLUSHALL", "SYNC"));
                ok(cmd!(con, "CONFIG", "SET", "maxmemory-policy", policy));
                ok(cmd!(con, "CONFIG", "SET", "rl.on-oom", setting));
                for algorithm in ALGORITHMS {
                    assert_eq!(ask(&mut con, algorithm, &format!("old:{algorithm}")), Outcome::Allowed);
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
                    let asked = [(); 4].map(|()| ask(&mut con, algorithm, &format!("after:{algorithm}")));
                    use Outcome::{Allowed, Denied};
                    assert_eq!(asked, [Allowed, Allowed, Allowed, Denied], "{what}, {algorithm}");
                }
            }
        }
        assert_sound(&mut server);
        report(&format!("{} policies by {} settings", POLICIES.len(), SETTINGS.len()));
    });
}

/// The server evicts keys to make room.
fn evicting(con: &mut Connection, full: i64, what: &str) {
    let mut charged = 0;
    for n in 0..200 {
        for algorithm in ALGORITHMS {
            charged += i64::from(ask(con, algorithm, &format!("new:{n}:{algorithm}")) == Outcome::Allowed);
        }
        ask_for_all(con, &format!("new:all:{n}"));
    }
    // One may meet a server that is about to evict.
    assert!(charged > 200 * ALGORITHMS.len() as i64 * 9 / 10, "{what}: {charged}");
    assert!(number(con, "evicted_keys") > 0, "{what}");
    let used = number(con, "used_memory");
    assert!(used < full + 1_000_000, "{what}: {used} of {full}");
}

/// There is no memory, and nothing to evict (any more: the states were the first to go where they could).
fn full_up(con: &mut Connection, starved: Outcome, kept: bool, what: &str) {
    let before = number(con, "used_memory");
    let size: i64 = redis::cmd("DBSIZE").query(con).expect("DBSIZE");
    for n in 0..200 {
        for algorithm in ALGORITHMS {
            assert_eq!(ask(con, algorithm, &format!("new:{n}:{algorithm}")), starved, "{what}, {algorithm}");
        }
        assert_eq!(ask_for_all(con, &format!("new:all:{n}")), starved, "{what}");
    }
    assert!(!has(con, "new:"), "{what}: charged without memory");
    for algorithm in support::ALGORITHMS {
        let key = format!("old:{}", algorithm.word());
        assert_eq!(has(con, &key), kept, "{what}, {algorithm:?}");
        let asked = [(); 3].map(|()| ask(con, algorithm.word(), &key));
        use Outcome::{Allowed, Denied};
        // A key that is there goes on to its limit, unless a request makes it larger.
        let expected = if kept && !algorithm.grows { [Allowed, Allowed, Denied] } else { [starved; 3] };
        assert_eq!(asked, expected, "{what}, {algorithm:?}");
    }
    let after: i64 = redis::cmd("DBSIZE").query(con).expect("DBSIZE");
    assert_eq!(after, size, "{what}");
    let used = number(con, "used_memory");
    assert!(used < before + 1_000_000, "{what}: {before} bytes came to be {used}");
}
