//! At `maxmemory`, whatever the server evicts, the server lives, uses no more memory and
//! decides as documented. A client that does not read its replies takes no more memory than the shipped redis.conf allows.

use std::io::{ErrorKind, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use redis::{Connection, Value};

use crate::random::random_calls::traits;
use crate::support::{LONG, Options, Server, ServerBin, cmd, counting_words, for_each_server, info, ok};
use crate::{assert_sound, report};

const POLICIES: &str = "noeviction allkeys-lru allkeys-lfu allkeys-random volatile-lru volatile-lfu volatile-random \
                        volatile-ttl";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Allowed,
    Denied,
    OutOfMemory,
}

use Outcome::{Allowed, Denied, OutOfMemory};

fn request(con: &mut Connection, algorithm: &str, key: &str) -> Outcome {
    match cmd!(*con, &format!("RL.{algorithm}"), key, LONG, 3) {
        Ok(Value::Array(parts)) if parts[0] == Value::Int(1) => Allowed,
        Ok(Value::Array(parts)) if parts[0] == Value::Int(0) => Denied,
        Err(error) if error.code() == Some("OOM") => OutOfMemory,
        other => panic!("neither a decision nor out of memory: {other:?}"),
    }
}

fn number(con: &mut Connection, field: &str) -> i64 {
    info(con, field).parse().expect("a number")
}

/// What each command does at `maxmemory` with each value of `rl.on-oom` is in tests/module/commands.rs.
#[test]
fn under_memory_pressure_the_server_evicts_and_the_module_decides() {
    for_each_server(|bin| {
        // A connection's buffers come and go, and so would the pressure.
        let mut server = Server::options(bin).set("maxmemory-clients", 0).start();
        let mut con = server.con();
        for policy in POLICIES.split(' ') {
            ok(cmd!(con, "CONFIG", "SET", "maxmemory", 0, "maxmemory-policy", policy));
            // Memory given back later would relieve the pressure.
            ok(cmd!(con, "FLUSHALL", "SYNC"));
            for algorithm in counting_words() {
                assert_eq!(request(&mut con, algorithm, &format!("old:{algorithm}")), Allowed);
            }
            // 16 MB that never expire, of which 4 are too much.
            ok(cmd!(con, "DEBUG", "POPULATE", 2_000, "filler", 8_000));
            let full = number(&mut con, "used_memory") - 4_000_000;
            ok(cmd!(con, "CONFIG", "SET", "maxmemory", full));
            ok(cmd!(con, "PING"));
            let before = number(&mut con, "used_memory");
            let names =
                (0..100).flat_map(|n| counting_words().into_iter().map(move |word| (word, format!("new:{n}:{word}"))));
            let outcomes: Vec<_> = names.map(|(algorithm, key)| request(&mut con, algorithm, &key)).collect();
            let allowed = outcomes.iter().filter(|outcome| **outcome == Allowed).count();
            if policy.starts_with("allkeys") {
                // One may meet a server that is about to evict.
                assert!(
                    allowed > outcomes.len() * 9 / 10 && number(&mut con, "evicted_keys") > 0,
                    "{policy}: {allowed}"
                );
            } else {
                // What the server may evict, the states, is gone already.
                assert!(outcomes.iter().all(|outcome| *outcome == OutOfMemory), "{policy}: {outcomes:?}");
                for algorithm in counting_words() {
                    let key = format!("old:{algorithm}");
                    let outcomes = [(); 3].map(|()| request(&mut con, algorithm, &key));
                    // A key that is there goes on to its limit, unless a request makes it larger.
                    let goes_on = policy == "noeviction" && traits(algorithm).most.is_none();
                    let expected = if goes_on { [Allowed, Allowed, Denied] } else { [OutOfMemory; 3] };
                    assert_eq!(outcomes, expected, "{policy}, {algorithm}");
                }
            }
            let used = number(&mut con, "used_memory");
            assert!(used < before.max(full) + 1_000_000, "{policy}: {before} bytes came to be {used}");
        }
        assert_sound(&mut server);
    });
}

/// With the settings of the shipped file, and 200 MB of memory.
fn shipped(bin: &ServerBin) -> Options {
    let config = concat!("exec \"$0\" ", env!("CARGO_MANIFEST_DIR"), "/redis.conf \"$@\"");
    Options::new(bin).under(&["sh", "-c", config]).set("maxmemory", 200 << 20)
}

/// The server closes its connection, and decides for everybody else.
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
