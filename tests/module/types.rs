//! What an algorithm finds at its key and has not written is refused, and stays as it is.

use crate::support::*;
use redis::Connection;

/// A key of each type.
const TYPES: &[(&str, &[&str])] = &[
    ("string", &["SET", "k", "text"]),
    ("list", &["RPUSH", "k", "1"]),
    ("set", &["SADD", "k", "1"]),
    ("hash", &["HSET", "k", "1", "1"]),
    ("zset", &["ZADD", "k", "1", "1"]),
    ("stream", &["XADD", "k", "1-1", "1", "1"]),
];

/// Strings that are no counter and no record: nearly integers, binary, long, empty.
const FOREIGN: &[&[u8]] = &[
    b"",
    b" 1",
    b"1 ",
    b"+1",
    b"01",
    b"-0",
    b"1.0",
    b"1e3",
    b"0x1",
    b"nan",
    b"18446744073709551616",
    b"-9223372036854775809",
    b"1\0",
    b"\xff\xfe\0\r\n",
    &[b'7'; 5_000],
];

/// Where the state of `k` lies.
fn state_key(algorithm: &Algorithm) -> String {
    let state = algorithm.state_key(b"k", LONG.cast_unsigned() * 1_000, now_ms().cast_unsigned());
    String::from_utf8(state).expect("text")
}

/// All there is to see of a key.
fn seen(con: &mut Connection, key: &str) -> (Vec<u8>, i64, String) {
    let dump = redis::cmd("DUMP").arg(key).query(con).expect("DUMP");
    (dump, expires_at(con, key), digest(con))
}

/// Asks for something that the key does not allow: the error. The key, and what replicas know of it, stay.
#[track_caller]
fn refused(server: &Server, algorithm: &Algorithm, key: &str) -> String {
    let mut con = server.con();
    let before = seen(&mut con, key);
    let mut effects = Effects::of(server);
    let mut error = String::new();
    for request in [(5, 1), (5, 3), (0, 1)] {
        let again = err(algorithm.request("k", LONG, request.0, request.1).query(&mut con));
        assert!(error.is_empty() || error == again, "{error}, {again}");
        error = again;
    }
    assert_eq!(effects.take(), Vec::<Vec<String>>::new());
    assert_eq!(seen(&mut con, key), before);
    error
}

#[test]
fn a_key_of_another_type_is_refused_and_stays() {
    for_each_server(|bin| {
        let server = Server::options(bin).durable().start();
        let mut con = server.con();
        for algorithm in ALGORITHMS {
            let key = state_key(algorithm);
            for (name, make) in TYPES.iter().filter(|(name, _)| *name != algorithm.key_type) {
                for expiry in [0, 100_000] {
                    let mut command = redis::cmd(make[0]);
                    command.arg(&key).arg(&make[2..]).exec(&mut con).expect("a key");
                    if expiry > 0 {
                        ok(cmd!(con, "EXPIRE", &key, expiry));
                    }
                    assert_eq!(
                        refused(&server, algorithm, &key),
                        "WRONGTYPE Operation against a key holding the wrong kind of value",
                        "{algorithm:?}: {name}"
                    );
                    ok(cmd!(con, "DEL", &key));
                }
            }
        }
    });
}

#[test]
fn a_string_of_another_is_refused_and_stays() {
    for_each_server(|bin| {
        let server = Server::options(bin).durable().start();
        let mut con = server.con();
        for algorithm in ALGORITHMS.iter().filter(|algorithm| algorithm.key_type == "string") {
            let key = state_key(algorithm);
            for value in FOREIGN {
                ok(cmd!(con, "SET", &key, *value, "EX", 100_000));
                let error = refused(&server, algorithm, &key);
                assert!(error.starts_with("ERR "), "{algorithm:?}: {error}");
            }
            ok(cmd!(con, "FLUSHALL"));
        }
    });
}

#[test]
fn a_counter_that_would_overflow_is_refused_and_stays() {
    for_each_server(|bin| {
        let server = Server::options(bin).durable().start();
        let mut con = server.con();
        let key = state_key(&FIXED);
        ok(cmd!(con, "SET", &key, "9223372036854775808", "EX", 100_000));
        assert_eq!(refused(&server, &FIXED, &key), "ERR value is not an integer or out of range");
        ok(cmd!(con, "SET", &key, i64::MAX, "EX", 100_000));
        assert_eq!(refused(&server, &FIXED, &key), OVERFLOW);
        // The commands go on with it.
        ok(cmd!(con, "DECR", &key));
        assert_eq!(FIXED.ask(&mut con, "k", LONG, 5)[..2], [0, i64::MAX]);
    });
}

/// Scores below 0, which no request leaves, come before those that have left the window: a look, which removes nothing,
/// says of such a log what a request would, which removes the latter first.
#[test]
fn a_log_of_odd_scores_is_looked_at_as_it_is_asked() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let now = now_ms().to_string();
        for limit in ["1", "2", "3", "4"] {
            for cost in ["1", "2", "3"] {
                let arguments = ["k", "1h", limit, "COST", cost, "FULL"];
                ok(cmd!(con, "DEL", "k"));
                ok(cmd!(con, "ZADD", "k", "-inf", "a", "-1", "b", "0.5", "c", "5", "d", &now, "e"));
                let looked = full_of(&mut con, "RL.PEEK", &[&["SLIDING"], &arguments[..]].concat());
                if looked.allowed == 1 {
                    continue;
                }
                assert!(looked.retry_after_ms != 0, "limit {limit}, cost {cost}: denied, and allowed at once");
                let asked = full_of(&mut con, "RL.SLIDING", &arguments);
                assert_eq!([looked.count, looked.remaining], [asked.count, asked.remaining]);
                let same = |looked: i64, asked: i64| (looked - asked).abs() < 5_000 && (looked < 0) == (asked < 0);
                assert!(
                    same(looked.retry_after_ms, asked.retry_after_ms) && same(looked.reset_ms, asked.reset_ms),
                    "limit {limit}, cost {cost}: {looked:?}, {asked:?}"
                );
            }
        }
    });
}
