//! RESERVE and RESERVATION: what an id is charged is charged once, corrected once, and comes back by itself. The server is
//! compared with the same limits in memory, which an oracle has checked (`algorithm/src/tests/reservation.rs`).

use std::collections::BTreeMap;

use crate::support::*;
use redis::{Connection, Value};
use redis_rl_algorithm::in_memory::{Limit, Reservable};
use redis_rl_algorithm::period::CalendarUnit;
use redis_rl_algorithm::reservation::MAX_RESERVATIONS;
use redis_rl_algorithm::{
    Cost, FixedWindow, Micros, Policy, RollingLog, Schedule, SlidingCounter, Window, WindowCounter,
};

const LIMIT: u64 = 12;
/// The words of the algorithms that take RESERVE.
const WORDS: [&str; 4] = ["FIXED", "WINDOW", "COUNTER", "ROLLING"];

fn send(con: &mut Connection, call: &str) -> Reply {
    let mut words = call.split(' ');
    redis::cmd(words.next().expect("a name")).arg(words.collect::<Vec<_>>()).query(con)
}

#[track_caller]
fn full_of_call(con: &mut Connection, call: &str) -> Full {
    full(ok(send(con, &format!("{call} FULL"))))
}

#[track_caller]
fn allowed_and_charged(con: &mut Connection, call: &str) -> (i64, i64) {
    let reply = full_of_call(con, call);
    (reply.allowed, reply.charged)
}

/// What is left of [`LIMIT`] a day at `k`.
#[track_caller]
fn left(con: &mut Connection, word: &str) -> i64 {
    full_of_call(con, &format!("RL.PEEK {word} k 1d {LIMIT} COST 0")).remaining
}

/// The HASH of a limit: its fields, and its expiry.
type Hash = (BTreeMap<Vec<u8>, Vec<u8>>, i64);

fn hash(con: &mut Connection, key: &str) -> Hash {
    let fields = redis::cmd("HGETALL").arg(key).query(con).expect("HGETALL");
    (fields, redis::cmd("PEXPIRETIME").arg(key).query(con).expect("PEXPIRETIME"))
}

/// Every key with its value and its expiry.
fn everything(con: &mut Connection) -> Vec<(String, Value, Value)> {
    let mut keys: Vec<String> = redis::cmd("KEYS").arg("*").query(con).expect("KEYS");
    keys.sort_unstable();
    keys.into_iter()
        .map(|key| {
            let (value, expiry) = (ok(cmd!(*con, "DUMP", &key)), ok(cmd!(*con, "PEXPIRETIME", &key)));
            (key, value, expiry)
        })
        .collect()
}

fn hash_key(word: &str, key: &str, window_ms: u64) -> String {
    if word == "FIXED" { format!("{key}:{window_ms}ms:reserved") } else { format!("{key}:reserved") }
}

/// How many sequences of 40 calls each algorithm, and all of them at once, get on each server. More:
/// `RESERVATION_SEQUENCES=2000`.
fn sequences() -> u64 {
    std::env::var("RESERVATION_SEQUENCES").ok().and_then(|n| n.parse().ok()).unwrap_or(15)
}

/// One sequence of calls on a server and in memory. Every figure is compared, and the HASH byte by byte.
fn sequence<A: Reservable>(
    (clock, con): (&mut FrozenClock, &mut Connection),
    (word, schedule): (&str, &str),
    random: &mut Random,
    mut crash: impl FnMut(&mut Connection),
) {
    ok(cmd!(*con, "FLUSHALL"));
    let steady = word == "FIXED";
    let mut stored = Limit::<A>::default();
    let window_of = |text: &str| match CalendarUnit::from_word(text.as_bytes()) {
        Some(unit) => Schedule::Calendar(unit, None),
        None => Schedule::Aligned(Window::from_millis(text.trim_end_matches("ms").parse().unwrap()).unwrap()),
    };
    for _ in 0..40 {
        // FIXED has a counter for each window, so its clock does not step back and its window does not change here. The
        // expiry of COUNTER may be up to 5 s later than needed. On the server, a write that also gives back may keep
        // another one than in memory, where these are two writes. Only a call with a longer window can see that.
        let window = if steady || word == "COUNTER" || random.below(6) > 0 {
            schedule
        } else {
            random.pick(&["300ms", "2000ms", "9000ms"])
        };
        let step = [0, 7, 300_123, 1_900_777, 5_000_333, -700_111][random.below(if steady { 5 } else { 6 }) as usize];
        clock.set(clock.now() + step);
        clock.assert_governs(con);
        let now = Micros(clock.now().unsigned_abs());
        let policy = Policy { schedule: window_of(window), limit: LIMIT, burst: None };
        let algorithm = A::with_policy(&policy).unwrap();
        let (id, units) = (random.below(4), random.below(8));
        let context = format!("{word} {window} at {now:?}, id {id}, {units} units");
        match random.below(12) {
            0..5 => {
                let ttl = random.pick(&[1_u64, 200, 2_000, 6_000]);
                let call = format!("RL.{word} k {window} {LIMIT} COST {units} RESERVE {id} {ttl}ms");
                let reply = full_of_call(con, &call);
                let id = id.to_string();
                let ttl = Window::from_millis(ttl).unwrap();
                let expected = stored.reserve(&algorithm, now, id.as_bytes(), ttl, Cost::new(units).unwrap()).unwrap();
                let (verdict, figures) = (expected.reply.verdict, expected.reply.figures);
                assert_eq!(reply.allowed, i64::from(verdict.allowed), "{context}");
                assert_eq!((reply.count, reply.charged), (verdict.count, expected.charged.cast_signed()), "{context}");
                assert_eq!(reply.remaining, figures.remaining.cast_signed(), "{context}");
            }
            5..10 => {
                let call = format!("RL.SETTLE {word} k {window} {LIMIT} RESERVATION {id} ACTUAL {units}");
                let reply = full_of_call(con, &call);
                let actual = Cost::new(units).unwrap();
                let charged = stored.settle(&algorithm, now, id.to_string().as_bytes(), actual).unwrap();
                assert_eq!(reply.charged, charged.cast_signed(), "{context}");
                // The reply is that of RL.PEEK: it includes a further request.
                let remaining = algorithm.remaining(&stored.key, now).saturating_sub(1);
                assert_eq!(reply.remaining, remaining.cast_signed(), "{context}");
            }
            10 => {
                let reply = full_of_call(con, &format!("RL.{word} k {window} {LIMIT} COST {units}"));
                A::expire(&mut stored.key, now);
                let expected = algorithm.request(&mut stored.key, now, Cost::new(units).unwrap()).unwrap();
                assert_eq!(reply.allowed, i64::from(expected.verdict.allowed), "{context}");
                assert_eq!(reply.remaining, expected.figures.remaining.cast_signed(), "{context}");
            }
            _ if random.below(3) == 0 => {
                ok(send(con, &format!("RL.RESET {word} k {window}")));
                stored = Limit::default();
            }
            _ if random.below(8) == 0 => crash(con),
            _ => {}
        }
        let window_ms = window.trim_end_matches("ms");
        let name = match word {
            "FIXED" if window == "day" => "k:day:reserved".to_owned(),
            _ => hash_key(word, "k", window_ms.parse().unwrap_or(0)),
        };
        let (fields, expires_at) = hash(con, &name);
        if fields.is_empty() {
            assert!(
                stored.fields.is_empty() || stored.expires_at <= Some(now.millis()),
                "{context}: {:?}",
                stored.fields
            );
            (stored.fields, stored.expires_at) = Default::default();
        } else {
            assert_eq!(fields, stored.fields, "{context}");
            assert_eq!(Some(expires_at.unsigned_abs()), stored.expires_at, "{context}");
        }
        // To look at what has expired removes it, as the server's cron does at its own times. It stays removed when the
        // clock steps back.
        ok(cmd!(*con, "EXISTS", "k"));
        A::expire(&mut stored.key, now);
    }
}

/// Random calls, windows and clock steps, kills and replicas.
#[test]
fn the_server_does_what_the_same_limit_in_memory_does() {
    for_each_server(|bin| {
        let mut clock = FrozenClock::at(1_795_269_620_123_456);
        let mut server = clock.govern(Server::options(bin)).durable().start();
        let replica = clock.govern(Server::options(bin)).replica_of(&server).start();
        for seed in 0..sequences() {
            let mut random = Random::new(seed);
            // A server that is killed comes back with what it has replied.
            let mut con = server.con();
            macro_rules! run {
                ($algorithm:ty, $word:literal, $schedule:expr) => {
                    sequence::<$algorithm>((&mut clock, &mut con), ($word, $schedule), &mut random, |con| {
                        server.kill();
                        server.start_again();
                        *con = server.con();
                    });
                };
            }
            run!(FixedWindow, "FIXED", if seed % 3 == 0 { "day" } else { "2000ms" });
            run!(WindowCounter, "WINDOW", "2000ms");
            run!(SlidingCounter, "COUNTER", "2000ms");
            run!(RollingLog, "ROLLING", "2000ms");
            let mut con_of_replica = replica.con();
            // A replica whose server was killed connects again when its clock has moved on.
            let equal = eventually(PATIENCE, || {
                clock.set(clock.now() + 1_000_000);
                digest(&mut con) == digest(&mut con_of_replica)
            });
            assert!(equal, "seed {seed}: {:?} and {:?}", everything(&mut con), everything(&mut con_of_replica));
        }
    });
}

/// A limit on a server and in memory.
trait Both {
    fn new(words: &'static str, schedule: Schedule, hash: &'static str) -> Self
    where
        Self: Sized;
    /// `<ALGO> key window limit`, and the name of the HASH.
    fn names(&self) -> (&'static str, &'static str);
    /// What a request with RESERVE gets. Nothing is kept before [`Both::keep`].
    fn reserve(&mut self, now: Micros, id: &[u8], ttl: Window, cost: Cost) -> (bool, u64);
    fn settle(&mut self, now: Micros, id: &[u8], actual: Cost) -> u64;
    /// Keeps what the last request has changed; or only what has ended, if another limit of the call denies.
    fn keep(&mut self, now: Micros, allowed: bool);
    fn reset(&mut self);
    fn remaining(&self, now: Micros) -> u64;
    fn hash(&self, now: Micros) -> Hash;
}

struct InBoth<A: Reservable> {
    names: (&'static str, &'static str),
    algorithm: A,
    limit: Limit<A>,
    after: Option<Limit<A>>,
}

impl<A: Reservable + Clone> Both for InBoth<A> {
    fn new(words: &'static str, schedule: Schedule, hash: &'static str) -> Self {
        let algorithm = A::with_policy(&Policy { schedule, limit: LIMIT, burst: None }).unwrap();
        Self { names: (words, hash), algorithm, limit: Limit::default(), after: None }
    }

    fn names(&self) -> (&'static str, &'static str) {
        self.names
    }

    fn reserve(&mut self, now: Micros, id: &[u8], ttl: Window, cost: Cost) -> (bool, u64) {
        let mut after = self.limit.clone();
        let reserved = after.reserve(&self.algorithm, now, id, ttl, cost).unwrap();
        self.after = Some(after);
        (reserved.reply.verdict.allowed, reserved.charged)
    }

    fn settle(&mut self, now: Micros, id: &[u8], actual: Cost) -> u64 {
        self.limit.settle(&self.algorithm, now, id, actual).unwrap()
    }

    fn keep(&mut self, now: Micros, allowed: bool) {
        match self.after.take() {
            Some(after) if allowed => self.limit = after,
            // A call that names an unknown id gives back what has ended, and does nothing else.
            _ => assert_eq!(self.settle(now, b"unknown", Cost::ZERO), 0),
        }
    }

    fn reset(&mut self) {
        self.limit = Limit::default();
    }

    fn remaining(&self, now: Micros) -> u64 {
        self.algorithm.remaining(&self.limit.key, now)
    }

    fn hash(&self, now: Micros) -> Hash {
        // What has expired in memory is removed at the next call.
        match self.limit.expires_at {
            Some(at) if at > now.millis() => (self.limit.fields.clone(), at.cast_signed()),
            _ => (BTreeMap::new(), -2),
        }
    }
}

/// A day and a month of one key, and the other algorithms.
fn five_limits() -> [Box<dyn Both>; 5] {
    let seconds = |seconds: u64| Schedule::Aligned(Window::from_millis(seconds * 1_000).unwrap());
    let calendar = |unit| Schedule::Calendar(unit, None);
    [
        Box::new(InBoth::<FixedWindow>::new("FIXED k day 12", calendar(CalendarUnit::Day), "k:day:reserved")),
        Box::new(InBoth::<FixedWindow>::new("FIXED k month 12", calendar(CalendarUnit::Month), "k:month:reserved")),
        Box::new(InBoth::<WindowCounter>::new("WINDOW w 2s 12", seconds(2), "w:reserved")),
        Box::new(InBoth::<SlidingCounter>::new("COUNTER c 2s 12", seconds(2), "c:reserved")),
        Box::new(InBoth::<RollingLog>::new("ROLLING r 2s 12", seconds(2), "r:reserved")),
    ]
}

/// Random calls under several limits at once: all are charged, or none is, and each settles by itself.
fn sequence_of_several(
    clock: &mut FrozenClock,
    con: &mut Connection,
    random: &mut Random,
    mut crash: impl FnMut(&mut Connection),
) {
    ok(cmd!(*con, "FLUSHALL"));
    let mut limits = five_limits();
    for _ in 0..40 {
        clock.set(clock.now() + random.pick(&[0, 0, 7, 300_123, 1_900_777, 5_000_333, 40_000_000_000]));
        clock.assert_governs(con);
        let now = Micros(clock.now().unsigned_abs());
        let id = random.below(4).to_string();
        let (id, units) = (id.as_bytes(), random.below(7));
        let which = random.below(5) as usize;
        let context = format!("{now:?}, id {id:?}, {units} units, {}", limits[which].names().0);
        match random.below(10) {
            0..5 => {
                let ttl = random.pick(&[1_u64, 200, 2_000, 6_000]);
                // Each limit, or one that is left out.
                let mut named: Vec<_> =
                    limits.iter_mut().enumerate().filter(|(at, _)| *at != which || units % 2 == 0).collect();
                let id_text = std::str::from_utf8(id).unwrap();
                let options = format!("COST {units} RESERVE {id_text} {ttl}ms");
                let words: Vec<_> = named.iter().map(|(_, limit)| format!("{} {options}", limit.names().0)).collect();
                let call = format!("RL.MULTI {} {} FULL", words.len(), words.join(" "));
                let (allowed, replies): (i64, Vec<Value>) = read(ok(send(con, &call)));
                let ttl = Window::from_millis(ttl).unwrap();
                let cost = Cost::new(units).unwrap();
                let expected: Vec<_> = named.iter_mut().map(|(_, one)| one.reserve(now, id, ttl, cost)).collect();
                let all = expected.iter().all(|(allowed, _)| *allowed);
                assert_eq!(allowed, i64::from(all), "{context}: {expected:?}");
                for ((_, limit), ((alone, charged), reply)) in named.iter_mut().zip(expected.iter().zip(replies)) {
                    let reply = full(reply);
                    let charged = if all { charged.cast_signed() } else { 0 };
                    assert_eq!((reply.allowed, reply.charged), (i64::from(*alone), charged), "{context}");
                    limit.keep(now, all);
                }
            }
            5..9 => {
                let limit = &mut limits[which];
                let words = limit.names().0;
                let id_text = std::str::from_utf8(id).unwrap();
                let reply = full_of_call(con, &format!("RL.SETTLE {words} RESERVATION {id_text} ACTUAL {units}"));
                let charged = limit.settle(now, id, Cost::new(units).unwrap());
                assert_eq!(reply.charged, charged.cast_signed(), "{context}");
            }
            _ if random.below(4) == 0 => {
                let words = limits[which].names().0;
                ok(send(con, &format!("RL.RESET {}", words.trim_end_matches(" 12"))));
                limits[which].reset();
            }
            _ if random.below(6) == 0 => crash(con),
            _ => {}
        }
        for limit in &limits {
            let (words, name) = limit.names();
            assert_eq!(hash(con, name), limit.hash(now), "{words} after {context}");
            let left = full_of_call(con, &format!("RL.PEEK {words} COST 0")).remaining;
            assert_eq!(left, limit.remaining(now).cast_signed(), "{words} after {context}");
        }
    }
}

#[test]
fn several_limits_on_a_server_do_what_they_do_in_memory() {
    for_each_server(|bin| {
        let mut clock = FrozenClock::at(1_795_269_620_123_456);
        let mut server = clock.govern(Server::options(bin)).durable().start();
        for seed in 0..sequences() {
            let mut con = server.con();
            sequence_of_several(&mut clock, &mut con, &mut Random::new(seed), |con| {
                server.kill();
                server.start_again();
                *con = server.con();
            });
        }
    });
}

/// A retry charges nothing more, a second settlement corrects nothing, and what a dead worker reserved comes back.
#[test]
fn an_id_is_charged_once_and_corrected_once() {
    for_each_server(|bin| {
        let (mut clock, server) = FrozenClock::server(bin);
        let mut con = server.con();
        for word in WORDS {
            ok(cmd!(con, "FLUSHALL"));
            let reserve = |id: &str, cost: u64| format!("RL.{word} k 1d {LIMIT} COST {cost} RESERVE {id} 10s");
            let settle =
                |id: &str, actual: u64| format!("RL.SETTLE {word} k 1d {LIMIT} RESERVATION {id} ACTUAL {actual}");
            assert_eq!(allowed_and_charged(&mut con, &reserve("a", 9)), (1, 9));
            assert_eq!(allowed_and_charged(&mut con, &reserve("a", 1)), (1, 9), "{word}: repeated");
            assert_eq!(allowed_and_charged(&mut con, &reserve("b", 9)), (0, 0), "{word}: no room");
            assert_eq!(allowed_and_charged(&mut con, &format!("{} PARTIAL", reserve("b", 9))), (3, 3));
            assert_eq!(allowed_and_charged(&mut con, &format!("{} PARTIAL", reserve("b", 9))), (3, 3));
            assert_eq!(allowed_and_charged(&mut con, &format!("{} PARTIAL", reserve("c", 9))), (0, 0));
            assert_eq!(full_of_call(&mut con, &settle("a", 4)).charged, 4);
            assert_eq!(left(&mut con, word), 5, "{word}: settled");
            let again = full_of_call(&mut con, &settle("a", 7));
            assert_eq!((again.charged, left(&mut con, word)), (0, 5), "{word}: settled before");
            // `b` dies. It counts until the first call with RESERVE after its end.
            clock.step(&mut con, 10_000);
            assert_eq!(left(&mut con, word), 5);
            assert_eq!(allowed_and_charged(&mut con, &reserve("d", 8)), (1, 8), "{word}: given back");
            // It comes back to life, and is charged what it cost, whatever the limit says.
            let late = full_of_call(&mut con, &settle("b", 2));
            assert_eq!((late.charged, late.remaining, late.allowed), (2, 0, 0), "{word}: settled late");
            ok(send(&mut con, &settle("d", 0)));
            assert_eq!(left(&mut con, word), 6, "{word}: cancelled");
            assert_eq!(hash(&mut con, &hash_key(word, "k", 86_400_000)).0.len(), 0, "{word}: an empty HASH");
        }
    });
}

/// Several counters of one key, all or nothing. Each settles by itself.
#[test]
fn limits_of_one_call_reserve_together() {
    for_each_server(|bin| {
        let (_clock, server) = FrozenClock::server(bin);
        let mut con = server.con();
        let call = |cost: u64| {
            format!(
                "RL.MULTI 3 FIXED k day 10 COST {cost} RESERVE a 1m FIXED k month 100 COST {cost} RESERVE a 1m TOKEN t 1h 1"
            )
        };
        let (allowed, _): (i64, Value) = read(ok(send(&mut con, &call(11))));
        assert_eq!(allowed, 0);
        assert_eq!(ok(cmd!(con, "DBSIZE")), Value::Int(0), "a denied call leaves nothing");
        let (allowed, _): (i64, Value) = read(ok(send(&mut con, &call(6))));
        assert_eq!(allowed, 1);
        assert_eq!(ok(cmd!(con, "HLEN", "k:day:reserved")), Value::Int(2));
        // The reservations are known, and the token is spent.
        let (allowed, limits): (i64, Vec<Value>) = read(ok(send(&mut con, &format!("{} FULL", call(6)))));
        let [day, month, token] = limits.try_into().expect("three limits");
        assert_eq!((allowed, full(day).charged, full(month).charged, full(token).allowed), (0, 0, 0, 0));
        assert_eq!(full_of_call(&mut con, "RL.SETTLE FIXED k day 10 RESERVATION a ACTUAL 1").remaining, 8);
        assert_eq!(full_of_call(&mut con, "RL.PEEK FIXED k month 100").remaining, 93);
        let clash = "RL.MULTI 2 FIXED k day 10 RESERVE a 1m COUNTER k:day 1m 5 RESERVE a 1m";
        let error = err(send(&mut con, clash));
        assert!(error.starts_with("ERR limit 2: invalid key: two limits would keep their state"), "{error}");
    });
}

#[test]
fn a_full_limit_denies_until_a_reservation_ends() {
    for_each_server(|bin| {
        let (mut clock, server) = FrozenClock::server(bin);
        let mut con = server.con();
        let reserve = |id: u64| format!("RL.WINDOW k 1d 1000000 RESERVE {id} 10s");
        let mut pipe = redis::pipe();
        for id in 0..MAX_RESERVATIONS {
            pipe.cmd("RL.WINDOW").arg(&["k", "1d", "1000000", "RESERVE", &id.to_string(), "10s"]).ignore();
        }
        pipe.exec(&mut con).expect("10,000 reservations");
        clock.step(&mut con, 4_000);
        let denied = full_of_call(&mut con, &reserve(MAX_RESERVATIONS));
        assert_eq!((denied.allowed, denied.retry_after_ms, denied.ttl, denied.charged), (0, 6_000, 6, 0));
        assert_eq!(allowed_and_charged(&mut con, &reserve(7)), (1, 1), "an open id needs no room");
        ok(send(&mut con, "RL.SETTLE WINDOW k 1d 1000000 RESERVATION 8 ACTUAL 1"));
        assert_eq!(allowed_and_charged(&mut con, &reserve(MAX_RESERVATIONS)), (1, 1));
        // All but two end at once.
        clock.step(&mut con, 6_000);
        let reply = full_of_call(&mut con, "RL.SETTLE WINDOW k 1d 1000000 RESERVATION unknown ACTUAL 1");
        assert_eq!(reply.remaining, 1_000_000 - 3 - 1);
        assert_eq!(info(&mut con, "rl_reservations_ended"), (MAX_RESERVATIONS - 2).to_string());
        assert_eq!(ok(cmd!(con, "HLEN", "k:reserved")), Value::Int(MAX_RESERVATIONS.cast_signed() + 1), "marks");
    });
}

/// What charges nothing reserves nothing.
#[test]
fn shadow_mode_and_no_memory_reserve_nothing() {
    for_each_server(|bin| {
        let (mut clock, server) = FrozenClock::server(bin);
        let mut con = server.con();
        for word in WORDS {
            ok(cmd!(con, "FLUSHALL"));
            let name = hash_key(word, "k", 86_400_000);
            let reserve = |id: &str, cost: u64| format!("RL.{word} k 1d {LIMIT} COST {cost} RESERVE {id} 10s");
            assert_eq!(allowed_and_charged(&mut con, &reserve("a", LIMIT)), (1, 12));
            let shadow = full_of_call(&mut con, &format!("{} SHADOW", reserve("b", 1)));
            assert_eq!((shadow.allowed, shadow.shadow, shadow.charged, shadow.remaining), (1, 1, 0, 0), "{word}");
            let denied = full_of_call(&mut con, &reserve("b", 1));
            assert_eq!((denied.allowed, denied.count), (0, 12), "{word}: a denial is not counted");
            assert_eq!(hash(&mut con, &name).0.len(), 2, "{word}");
            let before = hash(&mut con, &name);
            ok(cmd!(con, "CONFIG", "SET", "maxmemory", 1));
            for (on_oom, allowed) in [("allow", 1), ("deny", 0)] {
                ok(cmd!(con, "CONFIG", "SET", "rl.on-oom", on_oom));
                assert_eq!(
                    allowed_and_charged(&mut con, &reserve("c", 0).replace(" k ", " k2 ")),
                    (allowed, 0),
                    "{word}"
                );
                assert_eq!(allowed_and_charged(&mut con, &reserve("a", 1)), (1, 12), "{word}: a repeated call");
            }
            ok(cmd!(con, "CONFIG", "SET", "rl.on-oom", "error"));
            clock.step(&mut con, 10_000);
            let error = err(send(&mut con, &reserve("c", 1)));
            assert!(error.starts_with("OOM "), "{error}");
            assert_eq!(hash(&mut con, &name), before, "{word}: an error changes nothing");
            // Settling for less never needs memory.
            let settle = format!("RL.SETTLE {word} k 1d {LIMIT} RESERVATION a ACTUAL 0");
            ok(send(&mut con, &settle));
            assert_eq!(left(&mut con, word), 12, "{word}");
            ok(cmd!(con, "CONFIG", "SET", "maxmemory", 0));
        }
    });
}

/// What a reservation that ends is corrected to is stored already: no memory is needed.
#[test]
fn at_maxmemory_a_reservation_that_has_just_ended_is_settled() {
    for_each_server(|bin| {
        let (mut clock, server) = FrozenClock::server(bin);
        let mut con = server.con();
        for word in WORDS {
            for on_oom in ["error", "allow", "deny"] {
                for actual in [1, 7, 8] {
                    ok(cmd!(con, "CONFIG", "SET", "maxmemory", 0, "rl.on-oom", on_oom));
                    ok(cmd!(con, "FLUSHALL"));
                    ok(send(&mut con, &format!("RL.{word} k 1d {LIMIT} COST 8 RESERVE a 500ms")));
                    clock.step(&mut con, 550);
                    ok(cmd!(con, "CONFIG", "SET", "maxmemory", 1));
                    let settle = format!("RL.SETTLE {word} k 1d {LIMIT} RESERVATION a ACTUAL {actual}");
                    assert_eq!(full_of_call(&mut con, &settle).charged, actual, "{word} {on_oom}");
                    assert_eq!(left(&mut con, word), LIMIT.cast_signed() - actual, "{word} {on_oom}");
                }
            }
        }
    });
}

/// Shadow mode leaves the expiry of a window that runs. The reservation counts until then, and comes back.
#[test]
fn in_shadow_mode_a_reservation_counts_until_the_window_that_runs_ends() {
    for_each_server(|bin| {
        let (mut clock, server) = FrozenClock::server(bin);
        let mut con = server.con();
        for (mode, option) in [("no", " SHADOW"), ("yes", "")] {
            for call in ["RL.WINDOW k 1m 5 COST 3", "RL.WINDOW k 2h 5 COST 3"] {
                ok(cmd!(con, "FLUSHALL"));
                ok(cmd!(con, "CONFIG", "SET", "rl.shadow", "no"));
                ok(send(&mut con, "RL.WINDOW k 1h 5"));
                ok(cmd!(con, "CONFIG", "SET", "rl.shadow", mode));
                for id in ["a", "b"] {
                    let reserve = format!("{call} RESERVE {id} 10s{option}").replace("COST 3", "COST 2");
                    assert_eq!(allowed_and_charged(&mut con, &reserve), (1, 2), "{reserve}");
                }
                let expires: String = redis::cmd("PEXPIRETIME").arg("k").query(&mut con).expect("an expiry");
                let fields = hash(&mut con, "k:reserved").0;
                let counts_until = fields[&b"a"[..]].split(|&byte| byte == b':').nth(3).expect("a field");
                assert_eq!(counts_until, expires.as_bytes(), "{call}");
                ok(send(
                    &mut con,
                    &format!("{} RESERVATION a ACTUAL 0", call.replace("RL.", "RL.SETTLE ").replace(" COST 3", "")),
                ));
                assert_eq!(ok(cmd!(con, "GET", "k")), bytes("3"), "{call}");
                clock.step(&mut con, 10_000);
                ok(send(&mut con, &format!("RL.WINDOW k 1h 5 RESERVE c 10s{option}")));
                assert_eq!(ok(cmd!(con, "GET", "k")), bytes("2"), "{call}");
            }
        }
    });
}

/// A settlement that is committed has no error, though no request could be counted after it.
#[test]
fn a_settlement_at_the_largest_counter_is_no_error() {
    for_each_server(|bin| {
        let (_clock, server) = FrozenClock::server(bin);
        let mut con = server.con();
        for word in WORDS {
            ok(cmd!(con, "FLUSHALL"));
            let limit = i64::MAX;
            let reserve = format!("RL.{word} k 1d {limit} COST {limit} RESERVE a 1h");
            assert_eq!(allowed_and_charged(&mut con, &reserve), (1, limit), "{word}");
            let settled =
                full_of_call(&mut con, &format!("RL.SETTLE {word} k 1d {limit} RESERVATION a ACTUAL {limit}"));
            assert_eq!((settled.allowed, settled.remaining, settled.charged), (0, 0, limit), "{word}");
        }
    });
}

/// Foreign values are errors, and stay.
#[test]
fn a_foreign_hash_is_an_error() {
    for_each_server(|bin| {
        let (_clock, server) = FrozenClock::server(bin);
        let mut con = server.con();
        for word in WORDS {
            let name = hash_key(word, "k", 60_000);
            let calls = [
                format!("RL.{word} k 1m 5 RESERVE a 1m"),
                format!("RL.SETTLE {word} k 1m 5 RESERVATION a ACTUAL 1"),
                format!("RL.MULTI 2 TOKEN t 1m 5 {word} k 1m 5 RESERVE a 1m"),
            ];
            for (fields, code) in [
                (&["a", "b"][..], "ERR "),
                (&["a", "1:2:3:4:5:6", "", "9999999999999"], "ERR "),
                (&["a", "99999999999999999999:2:3:4:5", "", "9999999999999"], "ERR "),
                (&["other", "1:2:3", "", "1"], "ERR "),
                (&["other", ":1:2:3:4", "", "-1"], "ERR "),
            ] {
                ok(cmd!(con, "FLUSHALL"));
                ok(cmd!(con, "HSET", &name, fields));
                let before = digest(&mut con);
                for call in &calls {
                    let error = err(send(&mut con, call));
                    assert!(
                        error.starts_with(code) && error.contains("the hash of the reservations"),
                        "{call}: {error}"
                    );
                    assert_eq!(digest(&mut con), before, "{call}");
                }
                // It is not ours, so it stays.
                ok(send(&mut con, &format!("RL.RESET {word} k 1m")));
                if !fields.contains(&"9999999999999") && !fields.ends_with(&["1"]) {
                    assert_eq!(digest(&mut con), before);
                }
            }
            ok(cmd!(con, "FLUSHALL"));
            ok(cmd!(con, "SET", &name, "x"));
            for call in &calls {
                let error = err(send(&mut con, call));
                assert!(error.contains("WRONGTYPE") && ok(cmd!(con, "DBSIZE")) == Value::Int(1), "{call}: {error}");
            }
            // The largest numbers are valid.
            ok(cmd!(con, "FLUSHALL"));
            let max = i64::MAX;
            ok(cmd!(con, "HSET", &name, "a", format!("{max}:{max}:{max}:{max}:1"), "", 1));
            for call in &calls {
                ok(send(&mut con, call));
            }
        }
    });
}

/// Algorithms whose states are records share a name for the HASH. RL.RESET deletes it only for one that writes it.
#[test]
fn reset_keeps_the_hash_of_another_algorithm() {
    for_each_server(|bin| {
        let (_clock, server) = FrozenClock::server(bin);
        let mut con = server.con();
        let words = ALGORITHMS.iter().map(|algorithm| algorithm.command.trim_start_matches("RL.")).chain(["LEASE"]);
        for algorithm in words.filter(|word| !WORDS.contains(word)) {
            ok(cmd!(con, "FLUSHALL"));
            ok(send(&mut con, "RL.COUNTER k 1m 5 RESERVE a 1m"));
            ok(cmd!(con, "DEL", "k"));
            let before = hash(&mut con, "k:reserved");
            assert_eq!(send(&mut con, &format!("RL.RESET {algorithm} k 1m")), Ok(Value::Int(0)), "{algorithm}");
            assert_eq!(hash(&mut con, "k:reserved"), before, "{algorithm}");
        }
    });
}

/// The user needs permission for the HASH too; RL.RESET only if there is one.
#[test]
fn the_hash_needs_permission() {
    for_each_server(|bin| {
        let (_clock, server) = FrozenClock::server(bin);
        let mut con = server.con();
        for word in WORDS {
            ok(cmd!(con, "FLUSHALL"));
            let name = hash_key(word, "k", 60_000);
            ok(cmd!(con, "ACL", "SETUSER", "u", "reset", "on", ">p", "+@all", "~k", "resetkeys", "~k"));
            if word == "FIXED" {
                ok(cmd!(con, "ACL", "SETUSER", "u", "~k:[0-9]*"));
                ok(cmd!(con, "ACL", "SETUSER", "u", "resetkeys", "~k", "~k:1*[0-9]", "~k:2*[0-9]", "~k:3*[0-9]"));
            }
            let mut user = server.con();
            ok(cmd!(user, "AUTH", "u", "p"));
            let reset = format!("RL.RESET {word} k 1m");
            ok(send(&mut user, &reset));
            let calls = [
                format!("RL.{word} k 1m 5 RESERVE a 1m"),
                format!("RL.SETTLE {word} k 1m 5 RESERVATION a ACTUAL 1"),
                format!("RL.MULTI 1 {word} k 1m 5 RESERVE a 1m"),
            ];
            for call in &calls {
                assert!(err(send(&mut user, call)).starts_with("NOPERM "), "{call}");
            }
            assert_eq!(ok(cmd!(con, "DBSIZE")), Value::Int(0));
            ok(send(&mut con, &calls[0]));
            assert!(err(send(&mut user, &reset)).starts_with("NOPERM "), "{reset}");
            assert_eq!(ok(cmd!(con, "DBSIZE")), Value::Int(2), "nothing is deleted");
            ok(cmd!(con, "ACL", "SETUSER", "u", format!("~{name}")));
            for call in &calls {
                ok(send(&mut user, call));
            }
            assert_eq!(ok(send(&mut user, &reset)), Value::Int(1));
            assert_eq!(ok(cmd!(con, "DBSIZE")), Value::Int(0));
        }
        ok(cmd!(con, "ACL", "DELUSER", "u"));
    });
}

/// In a cluster the HASH is in the slot of the key.
#[test]
fn the_hash_stays_in_the_slot_of_the_key() {
    for_each_server(|bin| {
        let server = Server::options(bin).cluster().start();
        let mut con = server.con();
        ok(cmd!(con, "CLUSTER", "ADDSLOTSRANGE", 0, 16_383));
        assert!(eventually(PATIENCE, || send(&mut con, "SET x 1").is_ok()), "the cluster is up");
        for word in WORDS {
            ok(cmd!(con, "FLUSHALL"));
            for (key, tagged) in [("a", "{a}"), ("{a}b", "{a}b")] {
                let call = format!("RL.{word} {key} 1m 5 RESERVE id 1m");
                assert_eq!(allowed_and_charged(&mut con, &call), (1, 1), "{call}");
                assert_eq!(ok(cmd!(con, "HLEN", hash_key(word, tagged, 60_000))), Value::Int(2), "{call}");
            }
            let error = err(send(&mut con, &format!("RL.{word} a}}b 1m 5 RESERVE id 1m")));
            assert!(error.starts_with("ERR invalid key: in a cluster "), "{error}");
            assert!(send(&mut con, &format!("RL.RESET {word} {{a}}b 1m")).is_ok());
        }
    });
}

/// The counters of INFO.
#[test]
fn reservations_are_counted() {
    for_each_server(|bin| {
        let (mut clock, server) = FrozenClock::server(bin);
        let mut con = server.con();
        for call in ["RESERVE a 1s", "RESERVE a 1s", "COST 9 RESERVE b 1s", "COST 2 RESERVE c 1s"] {
            ok(send(&mut con, &format!("RL.COUNTER k 1h 5 {call}")));
        }
        for id in ["a", "a", "unknown"] {
            ok(send(&mut con, &format!("RL.SETTLE COUNTER k 1h 5 RESERVATION {id} ACTUAL 1")));
        }
        clock.step(&mut con, 1_000);
        ok(send(&mut con, "RL.COUNTER k 1h 5 RESERVE d 1s"));
        let counters =
            ["made", "repeated", "settled", "ended"].map(|name| info(&mut con, &format!("rl_reservations_{name}")));
        assert_eq!(counters, ["3", "1", "1", "1"]);
        assert_eq!(info(&mut con, "rl_settlements"), "3");
    });
}

/// A server without the module, or with one that knows no reservations, has the same data and changes only the counter.
/// `OLDER_MODULE=path` names such a module.
#[test]
fn a_downgrade_keeps_what_is_counted_and_what_is_reserved() {
    let older = std::env::var_os("OLDER_MODULE");
    for_each_server(|bin| {
        for way in ["AOF", "RDB"] {
            let (mut clock, mut server) = FrozenClock::server(bin);
            let mut con = server.con();
            let key = |word: &str| format!("{{{word}}}");
            for word in WORDS {
                let request = format!("RL.{word} {} 1d {LIMIT} COST", key(word));
                for reserved in ["5 RESERVE open 10m", "3 RESERVE dead 5s", "2 RESERVE gone 1s"] {
                    assert_eq!(allowed_and_charged(&mut con, &format!("{request} {reserved}")).0, 1);
                }
                // Who has reserved nothing has the same counter.
                for cost in [5, 3] {
                    ok(send(&mut con, &format!("RL.{word} plain:{word} 1d {LIMIT} COST {cost}")));
                }
            }
            clock.step(&mut con, 1_500);
            let settle = |word: &str, id: &str, actual: u64| {
                format!("RL.SETTLE {word} {} 1d {LIMIT} RESERVATION {id} ACTUAL {actual}", key(word))
            };
            let mut counters = Vec::new();
            for word in WORDS {
                ok(send(&mut con, &settle(word, "unknown", 0))); // `gone` becomes a mark
                let (fields, expiry) = hash(&mut con, &hash_key(word, &key(word), 86_400_000));
                let mark = fields[b"gone".as_slice()].first().copied();
                assert_eq!((fields.len(), mark), (4, Some(b':')), "{word}: {fields:?}");
                // It goes by itself when the last of it has left its window.
                let until = clock.now_ms() + 2 * 86_400_000 + 5_000;
                assert!((clock.now_ms()..=until).contains(&expiry), "{word}: {expiry}");
                let names: Vec<String> = read(ok(cmd!(con, "KEYS", format!("{}*", key(word)))));
                let counter = names.into_iter().find(|name| !name.ends_with(":reserved")).expect("a counter");
                let plain = counter.replace(&key(word), &format!("plain:{word}"));
                assert_eq!(ok(cmd!(con, "GET", &counter)), ok(cmd!(con, "GET", plain)), "{word}");
                counters.push(counter);
            }

            let before = (digest(&mut con), everything(&mut con));
            let end = |server: &mut Server| if way == "AOF" { server.kill() } else { server.shutdown("SAVE") };
            let files = |options: Options| options.set("appendonly", if way == "AOF" { "yes" } else { "no" });
            end(&mut server);
            server.start_again_with(|options| match &older {
                Some(path) => files(options).module_at(path.as_ref()),
                None => files(options).without_module(),
            });
            let mut con = server.con();
            assert_eq!((digest(&mut con), everything(&mut con)), before, "{way}");
            clock.step(&mut con, 60_000);
            let mut counted = Vec::new();
            for (word, counter) in WORDS.into_iter().zip(&counters) {
                counted.push(match send(&mut con, &format!("RL.{word} {} 1d {LIMIT}", key(word))) {
                    Ok(_) => 1,
                    // As the script with INCR counts.
                    Err(_) if matches!(word, "FIXED" | "WINDOW") => {
                        assert_eq!(ok(cmd!(con, "INCR", counter)), Value::Int(9), "{word}");
                        1
                    }
                    Err(error) => {
                        assert!(error.to_string().contains("unknown command"), "{word}: {error}");
                        0
                    }
                });
            }
            end(&mut server);

            // The reservations go on: one settles, the other has ended.
            server.start_again_with(|options| files(options).module_args(&[]).module_at(&module_path()));
            let mut con = server.con();
            for (word, more) in WORDS.into_iter().zip(counted) {
                let settled = full_of_call(&mut con, &settle(word, "open", 6));
                assert_eq!(settled.charged, 6, "{word}");
                let look = format!("RL.PEEK {word} {} 1d {LIMIT} COST 0", key(word));
                assert_eq!(full_of_call(&mut con, &look).remaining, (LIMIT - 6 - more).cast_signed(), "{word}");

                // A later version may write more. This one then rejects what needs the HASH, and nothing else.
                let name = hash_key(word, &key(word), 86_400_000);
                ok(cmd!(con, "HSET", &name, "later", "1:2:3:4:5:6", "", 1));
                let fields = hash(&mut con, &name);
                let error = err(send(&mut con, &format!("RL.{word} {} 1d {LIMIT} RESERVE new 1m", key(word))));
                assert!(error.starts_with("ERR the hash of the reservations"), "{word}: {error}");
                assert!(send(&mut con, &settle(word, "dead", 1)).is_err(), "{word}");
                assert_eq!(allowed_and_charged(&mut con, &format!("RL.{word} {} 1d {LIMIT}", key(word))), (1, 1));
                assert_eq!(hash(&mut con, &name), fields, "{word}");
            }
        }
    });
}
