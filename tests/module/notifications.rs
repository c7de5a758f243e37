//! A request fires the keyspace events of the plain commands, breaks WATCH, and invalidates client-side caches as they
//! do.

use std::thread;
use std::time::Duration;

use crate::support::*;
use redis::{Connection, FromRedisValue, Pipeline, Value};

type Happened = Vec<(String, String)>;

/// What was heard, without what time does by itself.
fn heard(events: &mut Events) -> Happened {
    let text = |key: Vec<u8>| String::from_utf8_lossy(&key).into_owned();
    events.take().into_iter().filter(|(event, _)| event != "expired").map(|(event, key)| (event, text(key))).collect()
}

/// What plain commands fire, to compare with.
fn plain(con: &mut Connection, events: &mut Events, commands: &Pipeline) -> Happened {
    heard(events);
    commands.exec(con).expect("plain commands");
    heard(events)
}

/// INCR, and EXPIRE for the first: what the script of the fixed window does.
fn counted(key: &str, is_first: bool) -> Pipeline {
    let mut commands = redis::pipe();
    commands.cmd("INCR").arg(key);
    if is_first {
        commands.cmd("EXPIRE").arg(key).arg(LONG);
    }
    commands
}

#[test]
fn the_fixed_window_fires_what_incr_and_expire_fire() {
    for_each_server(|bin| {
        let [server, reference] = [Server::start(bin), Server::options(bin).without_module().start()];
        let [mut con, mut plain_con] = [server.con(), reference.con()];
        let [mut events, mut plain_events] = [Events::listen(&server), Events::listen(&reference)];
        let key = format!("k:{}", now_ms() / 1_000 / LONG);
        // The first, a later one, and two that are denied.
        for (at, allowed) in [1, 1, 0, 0].into_iter().enumerate() {
            assert_eq!(FIXED.ask(&mut con, "k", LONG, 2)[0], allowed);
            let expected = plain(&mut plain_con, &mut plain_events, &counted(&key, at == 0));
            assert_eq!(expected.len(), if at == 0 { 2 } else { 1 });
            assert_eq!(heard(&mut events), expected, "request {at}");
        }
        // A window that is over is another key's.
        let mut buckets = Vec::new();
        for _ in 0..2 {
            FIXED.ask(&mut con, "short", "300ms", 2);
            let happened = heard(&mut events);
            let [(incr, bucket), (expire, same)] = happened.as_slice() else { panic!("{happened:?}") };
            assert!((incr.as_str(), expire.as_str()) == ("incrby", "expire") && bucket == same, "{happened:?}");
            buckets.push(bucket.clone());
            thread::sleep(Duration::from_millis(300));
        }
        assert_ne!(buckets[0], buckets[1]);
        // INCRBY fires the same event; what adds nothing fires none.
        FIXED.ask_for(&mut con, "costly", LONG, 5, 3);
        assert_eq!(heard(&mut events).iter().map(|(event, _)| event).collect::<Vec<_>>(), ["incrby", "expire"]);
        FIXED.ask_for(&mut con, "costly", LONG, 5, 3);
        assert_eq!(heard(&mut events), []);
    });
}

/// ZREMRANGEBYSCORE through `through`, ZADD of `member`, PEXPIRE: what the script of the sliding window does. The
/// command sets the expiry only if less than 1.5 windows are left.
fn logged(key: &str, through: i64, member: Option<i64>, expires: bool) -> Pipeline {
    let mut commands = redis::pipe();
    commands.cmd("ZREMRANGEBYSCORE").arg(key).arg(0).arg(through);
    if let Some(member) = member {
        commands.cmd("ZADD").arg(key).arg(now_ms()).arg(member);
    }
    if expires {
        commands.cmd("PEXPIRE").arg(key).arg(LONG);
    }
    commands
}

#[test]
fn the_sliding_log_fires_what_its_three_commands_fire() {
    for_each_server(|bin| {
        let [server, reference] = [Server::start(bin), Server::options(bin).without_module().start()];
        let [mut con, mut plain_con] = [server.con(), reference.con()];
        let [mut events, mut plain_events] = [Events::listen(&server), Events::listen(&reference)];
        let old = |con: &mut Connection, count: i64| {
            for member in 0..count {
                ok(cmd!(*con, "ZADD", "k", 5, format!("old{member}")));
            }
        };
        // How much of the window is left until the expiry, if a client changes it; the entries that have left the
        // window; the limit, whether the request is allowed, whether it sets the expiry, how many events that makes.
        let hour = 3_600_000;
        for (at, (left, expired, limit, allowed, expires, count)) in [
            (None, 0, 0, 0, false, 0), // There is no key.
            (None, 0, 2, 1, true, 2),
            (None, 0, 2, 1, false, 1),
            (None, 0, 2, 0, false, 0),
            (None, 2, 2, 0, false, 1),
            (None, 3, 9, 1, false, 2),
            (Some(hour * 3 / 2 + PATIENCE.as_millis() as i64), 0, 0, 0, false, 0),
            (Some(hour * 3 / 2 - 1), 0, 0, 0, true, 1),
            (None, 0, 0, 0, false, 0),
            (Some(hour), 3, 9, 1, true, 3),
            (None, 0, 9, 1, false, 1),
        ]
        .into_iter()
        .enumerate()
        {
            old(&mut con, expired);
            old(&mut plain_con, expired);
            if let Some(left) = left {
                ok(cmd!(con, "PEXPIRE", "k", left));
            }
            heard(&mut events);
            assert_eq!(SLIDING.ask(&mut con, "k", "1h", limit)[0], allowed);
            let commands = logged("k", 10, (allowed == 1).then_some(at as i64), expires);
            let expected = plain(&mut plain_con, &mut plain_events, &commands);
            assert_eq!(expected.len(), count);
            assert_eq!(heard(&mut events), expected, "request {at}");
        }
        // If no entry is left, the key is deleted. It is created again if the request is allowed.
        for (limit, count) in [(2, 4), (0, 2)] {
            for con in [&mut con, &mut plain_con] {
                ok(cmd!(*con, "DEL", "k"));
                old(con, 2);
            }
            heard(&mut events);
            assert_eq!(SLIDING.ask(&mut con, "k", "1h", limit)[0], i64::from(limit > 0));
            let expected =
                plain(&mut plain_con, &mut plain_events, &logged("k", 10, (limit > 0).then_some(0), limit > 0));
            assert_eq!(expected.len(), count);
            assert_eq!(heard(&mut events), expected, "limit {limit}");
        }
        // ZADD of many is one event.
        SLIDING.ask_for(&mut con, "costly", "1h", 5, 3);
        assert_eq!(heard(&mut events), [("zadd", "costly"), ("expire", "costly")].map(|(e, k)| (e.into(), k.into())));
    });
}

/// The events of the table, for the key of the state alone.
#[test]
fn each_algorithm_fires_its_events() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let mut events = Events::listen(&server);
        for algorithm in ALGORITHMS {
            for (expected, allowed) in algorithm.events.into_iter().zip([1, 1, 0]) {
                assert_eq!(algorithm.ask(&mut con, "k", LONG, 2)[0], allowed);
                let key = only_key(&mut con);
                let expected: Vec<_> = expected.iter().map(|event| (event.to_string(), key.clone())).collect();
                assert_eq!(heard(&mut events), expected, "{algorithm:?}");
            }
            ok(cmd!(con, "FLUSHALL"));
        }
    });
}

/// How long a bucket is needed depends on the arguments: a denial under a slower rate keeps it for longer, or what it
/// says of the time to retry would not be true.
#[test]
fn a_denial_that_needs_the_state_for_longer_extends_its_expiry() {
    for_each_server(|bin| {
        let server = Server::options(bin).durable().start();
        let mut con = server.con();
        for algorithm in [TOKEN, LEAKY] {
            ok(cmd!(con, "FLUSHALL"));
            assert_eq!(algorithm.ask_for(&mut con, "k", "100s", 10, 10)[0], 1);
            let short = expires_at(&mut con, "k");
            let (mut events, mut effects) = (Events::listen(&server), Effects::of(&server));
            let look = full_of(&mut con, "RL.PEEK", &[algorithm.word(), "k", "6000s", "10", "FULL"]);
            assert_eq!((look.allowed, expires_at(&mut con, "k")), (0, short), "{algorithm:?}");
            assert_eq!((heard(&mut events), effects.take()), (vec![], vec![]), "{algorithm:?}");

            let denied = full_of(&mut con, algorithm.command, &["k", "6000s", "10", "FULL"]);
            let long = expires_at(&mut con, "k");
            assert_eq!((denied.allowed, long), (0, short + 5_900_000), "{algorithm:?}: {denied:?}");
            let late = long - denied.now_ms - denied.reset_ms - algorithm.expires_late_ms;
            assert!(late.abs() <= algorithm.slack_ms, "{algorithm:?}: {denied:?}");
            let sent = ["PEXPIREAT", "k", &long.to_string()].map(str::to_owned);
            assert_eq!(effects.take(), [sent.to_vec()], "{algorithm:?}");
            assert_eq!(heard(&mut events), [("expire".to_owned(), "k".to_owned())], "{algorithm:?}");

            // It is there for as long as that; a call that needs it for less leaves it.
            for window in ["6000s", "100s", "1s"] {
                assert_eq!(algorithm.ask_for(&mut con, "k", window, 10, 11)[0], 0, "{algorithm:?}");
                assert_eq!(expires_at(&mut con, "k"), long, "{algorithm:?}");
            }
            assert_eq!((heard(&mut events), effects.take()), (vec![], vec![]), "{algorithm:?}");
        }
    });
}

/// With RESERVE the limit fires what it fires without, and the HASH what HSET, PEXPIREAT and DEL fire.
#[test]
fn a_reservation_fires_what_hset_and_del_fire() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let (mut con, mut events) = (server.con(), Events::listen(&server));
        let mut fired = |call: String| {
            let mut words = call.split(' ');
            ok(redis::cmd(words.next().expect("a name")).arg(words.collect::<Vec<_>>()).query(&mut con));
            heard(&mut events)
        };
        for word in ["FIXED", "WINDOW", "COUNTER", "ROLLING"] {
            let hash = if word == "FIXED" { "k:86400000ms:reserved" } else { "k:reserved" };
            let of_hash = |events: &[&str]| events.iter().map(|&event| (event.to_owned(), hash.to_owned())).collect();
            let mut expected = fired(format!("RL.{word} plain 1d 5"));
            expected.iter_mut().for_each(|(_, key)| *key = key.replace("plain", "k"));
            expected.extend::<Happened>(of_hash(&["hset", "expire"]));
            assert_eq!(fired(format!("RL.{word} k 1d 5 RESERVE a 1h")), expected, "{word}");
            // A denial counts nothing, not even that of FIXED.
            assert_eq!(fired(format!("RL.{word} k 1d 1 RESERVE b 1h")), [], "{word}");
            // What was reserved is what it cost, so only the reservation goes.
            let settled = fired(format!("RL.SETTLE {word} k 1d 5 RESERVATION a ACTUAL 1"));
            assert_eq!(settled, of_hash(&["del"]) as Happened, "{word}");
            assert_eq!(fired(format!("RL.SETTLE {word} k 1d 5 RESERVATION a ACTUAL 5")), [], "{word}");
            fired("FLUSHALL".to_owned());
        }
    });
}

/// Whether a transaction that watches the key goes through, if `meanwhile` happens.
fn passes(server: &Server, key: &str, meanwhile: impl FnOnce()) -> bool {
    let mut con = server.con();
    ok(cmd!(con, "WATCH", key));
    meanwhile();
    ok(cmd!(con, "MULTI"));
    ok(cmd!(con, "PING"));
    ok(cmd!(con, "EXEC")) != Value::Nil
}

#[test]
fn a_charge_breaks_a_transaction_that_watches_the_key() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for algorithm in ALGORITHMS {
            // With a key, then without.
            assert_eq!(algorithm.ask(&mut con, "k", LONG, 5)[0], 1);
            let key = only_key(&mut con);
            assert!(passes(&server, &key, || ()), "{algorithm:?}");
            assert!(!passes(&server, &key, || assert_eq!(algorithm.ask(&mut server.con(), "k", LONG, 5)[0], 1)));
            assert!(passes(&server, &key, || assert_eq!(algorithm.ask(&mut server.con(), "other", LONG, 5)[0], 1)));
            ok(cmd!(con, "FLUSHALL"));
            assert!(!passes(&server, &key, || assert_eq!(algorithm.ask(&mut server.con(), "k", LONG, 5)[0], 1)));
            ok(cmd!(con, "FLUSHALL"));
        }
        // A denial that is counted, one that prunes, and one that moves entries change what the key holds.
        FIXED.ask(&mut con, "k", LONG, 0);
        let key = only_key(&mut con);
        assert!(!passes(&server, &key, || assert_eq!(FIXED.ask(&mut server.con(), "k", LONG, 0)[0], 0)));
        for score in [5, now_ms() + 3_600_000] {
            ok(cmd!(con, "ZADD", "log", score, "by hand"));
            assert!(!passes(&server, "log", || assert_eq!(SLIDING.ask(&mut server.con(), "log", "1h", 0)[0], 0)));
        }
    });
}

/// A client that caches what it reads, and another that writes.
struct Cache {
    ears: Connection,
    reader: Connection,
    writer: Connection,
}

impl Cache {
    fn of(server: &Server) -> Self {
        let mut cache = Self { ears: server.con(), reader: server.con(), writer: server.con() };
        cache.ears.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        let id = ok(cmd!(cache.ears, "CLIENT", "ID"));
        ok(cmd!(cache.ears, "SUBSCRIBE", "__redis__:invalidate"));
        let id = i64::from_redis_value(id).expect("an id");
        ok(cmd!(cache.reader, "CLIENT", "TRACKING", "ON", "REDIRECT", id));
        cache
    }

    /// Reads the key into the cache, and returns the keys that the client must drop after `change`.
    fn forgotten(&mut self, key: &str, change: impl FnOnce(&mut Connection)) -> Vec<String> {
        for key in [key, "fence"] {
            // Tracked is what is read, of whatever type.
            ok(cmd!(self.reader, "EXISTS", key));
        }
        change(&mut self.writer);
        ok(cmd!(self.writer, "SET", "fence", 1));
        let mut all = Vec::new();
        while all.last().is_none_or(|key| key != "fence") {
            let Value::Array(message) = self.ears.recv_response().expect("a message") else { panic!("no message") };
            all.extend(Vec::<String>::from_redis_value_ref(&message[2]).expect("keys"));
        }
        all.pop();
        all
    }
}

#[test]
fn a_charge_invalidates_client_side_caches() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let mut cache = Cache::of(&server);
        for algorithm in ALGORITHMS {
            assert_eq!(algorithm.ask(&mut con, algorithm.command, LONG, 5)[0], 1);
            let mut all = keys(&mut con);
            all.retain(|key| key.starts_with(algorithm.command));
            let key = &all[0];
            let forgotten = cache.forgotten(key, |con| _ = algorithm.ask(con, algorithm.command, LONG, 5));
            assert_eq!(forgotten, std::slice::from_ref(key), "{algorithm:?}");
            let forgotten = cache.forgotten(key, |con| _ = algorithm.ask(con, "another", LONG, 5));
            assert_eq!(forgotten, [""; 0], "{algorithm:?}");
            ok(cmd!(con, "DEL", "another"));
        }
        // Denials that prune and that move entries.
        for score in [5, now_ms() + 3_600_000] {
            ok(cmd!(con, "ZADD", "log", score, "by hand"));
            let forgotten = cache.forgotten("log", |con| _ = SLIDING.ask(con, "log", "1h", 0));
            assert!(forgotten.iter().any(|key| key == "log"), "{score}: {forgotten:?}");
        }
    });
}
