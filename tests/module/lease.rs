//! RL.LEASE, RL.RENEW and RL.RELEASE: never more leases than the limit, and no slot is lost with its holder.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use crate::support::*;
use redis::{Connection, Value};

const HOUR: i64 = 3_600_000;

/// One request for a lease; the three integers of the reply.
#[track_caller]
fn lease(con: &mut Connection, window: &str, limit: i64, id: &str) -> [i64; 3] {
    read(ok(cmd!(*con, "RL.LEASE", "k", window, limit, "ID", id)))
}

#[track_caller]
fn renew(con: &mut Connection, window: &str, ids: &[&str]) -> i64 {
    read(ok(cmd!(*con, "RL.RENEW", "k", window, ids)))
}

#[track_caller]
fn release(con: &mut Connection, ids: &[&str]) -> i64 {
    read(ok(cmd!(*con, "RL.RELEASE", "k", ids)))
}

/// The holders and the milliseconds in which their leases end, earliest first.
fn holders(con: &mut Connection) -> Vec<(String, i64)> {
    members(con, "k")
}

fn ids(con: &mut Connection) -> Vec<String> {
    let mut ids: Vec<String> = holders(con).into_iter().map(|(id, _)| id).collect();
    ids.sort();
    ids
}

/// The key expires when the last lease ends: never earlier, and never later.
#[track_caller]
fn assert_expires_with_the_last(con: &mut Connection) {
    let last = holders(con).last().map_or(-2, |&(_, end)| end);
    assert_eq!(expires_at(con, "k"), last);
}

fn sleep_ms(millis: i64) {
    thread::sleep(Duration::from_millis(u64::try_from(millis).unwrap_or(0)));
}

#[test]
fn the_replies() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        for mut con in [server.con(), server.con3()] {
            assert_eq!(lease(&mut con, "60", 2, "a"), [1, 0, 60]);
            assert_eq!(lease(&mut con, "60", 2, "b"), [1, 1, 60]);
            assert_eq!(lease(&mut con, "60", 2, "c"), [0, 2, 60]);
            // A retry is harmless, and so is one with a limit that is smaller now.
            assert_eq!(lease(&mut con, "60", 2, "a"), [1, 1, 60]);
            assert_eq!(lease(&mut con, "60", 1, "a"), [1, 1, 60]);
            assert_eq!(lease(&mut con, "60", 0, "a"), [0, 1, -1]);
            assert_eq!(lease(&mut con, "60", 0, "c"), [0, 2, -1]);
            assert_eq!(lease(&mut con, "90s", 3, "c"), [1, 2, 90]);
            assert_eq!(ids(&mut con), ["a", "b", "c"]);
            assert_expires_with_the_last(&mut con);

            let taken = full(ok(cmd!(con, "RL.LEASE", "k", "90s", 4, "ID", "d", "FULL")));
            let ends = holders(&mut con);
            let now = taken.now_ms;
            let expected = Full {
                allowed: 1,
                count: 3,
                ttl: 90,
                limit: 4,
                remaining: 0,
                retry_after_ms: 0,
                next_ms: ends[0].1 - now,
                reset_ms: 90_000,
                delay_ms: 0,
                now_ms: now,
                shadow: 0,
                charged: 1,
            };
            assert_eq!(taken, expected);
            let found = full(ok(cmd!(con, "RL.LEASE", "k", "90s", 2, "ID", "e", "FULL")));
            assert_eq!([found.allowed, found.count, found.remaining], [0, 4, 0]);
            assert_eq!(found.retry_after_ms, ends[2].1 - found.now_ms, "three must end");
            assert_eq!(found.next_ms, found.retry_after_ms);
            assert_eq!(found.reset_ms, ends[3].1 - found.now_ms);

            assert_eq!(release(&mut con, &["a", "a", "nobody", "d"]), 2);
            assert_eq!(renew(&mut con, "30", &["b", "b", "a", "c"]), 2);
            assert_eq!(ids(&mut con), ["b", "c"]);
            assert_expires_with_the_last(&mut con);
            assert_eq!(release(&mut con, &["b"]), 1);
            assert_expires_with_the_last(&mut con);
            assert_eq!(release(&mut con, &["c"]), 1);
            assert_eq!(release(&mut con, &["c"]), 0);
            assert_eq!(renew(&mut con, "30", &["c"]), 0);
            assert_eq!(keys(&mut con), [""; 0]);
        }
    });
}

#[test]
fn the_headers_say_that_requests_at_once_are_counted() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let ([allowed, ..], headers) = with_headers(ok(cmd!(con, "RL.LEASE", "k", "500ms", 7, "ID", "a", "HEADERS")));
        assert_eq!(allowed, 1);
        let header = |name: &str| headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.as_str());
        assert_eq!(header("X-RateLimit-Limit"), Some("7"));
        assert_eq!(header("X-RateLimit-Remaining"), Some("6"));
        // 7 at once, however short the window is.
        assert_eq!(header("RateLimit-Policy"), Some("\"lease\";q=7;w=1;qu=\"concurrent-requests\""));
        assert_eq!(header("RateLimit"), Some("\"lease\";r=6;t=1"));
        assert_eq!(header("Retry-After"), None);
        let (_, headers) = with_headers(ok(cmd!(con, "RL.LEASE", "k", "500ms", 1, "ID", "b", "AS", "jobs", "HEADERS")));
        assert!(headers.contains(&("Retry-After".into(), "1".into())), "{headers:?}");
        assert!(headers.iter().any(|(_, value)| value.starts_with("\"jobs\";q=1;w=1;qu=")), "{headers:?}");
    });
}

/// A lease that ends in millisecond s counts before s, and no longer in s.
#[test]
fn a_client_that_waits_as_long_as_it_is_told_is_allowed() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for round in 0..10 {
            let [a, b, c] = ["a", "b", "c"].map(|id| format!("{id}{round}"));
            assert_eq!(lease(&mut con, "80ms", 2, &a)[0], 1);
            sleep_ms(round);
            assert_eq!(lease(&mut con, "80ms", 2, &b)[0], 1);
            let denied = full(ok(cmd!(con, "RL.LEASE", "k", "80ms", 2, "ID", &c, "FULL")));
            let free_at = denied.now_ms + denied.retry_after_ms;
            loop {
                let reply = full(ok(cmd!(con, "RL.LEASE", "k", "80ms", 2, "ID", &c, "FULL")));
                assert_eq!(reply.allowed == 1, reply.now_ms >= free_at, "{free_at}: {reply:?}");
                if reply.allowed == 1 {
                    break;
                }
            }
            sleep_ms(85);
            assert_eq!(renew(&mut con, "80ms", &[&a, &b, &c]), 0, "an ended lease is not revived");
            assert_eq!(keys(&mut con), [""; 0]);
        }
    });
}

/// What a client did, as the server executed it.
#[derive(Debug)]
struct Event {
    /// Its place in the order in which the server executed all of them.
    order: i64,
    /// The server's clock before and after it.
    time: [i64; 2],
    id: String,
    action: Action,
    /// Whether it was allowed; how many were renewed or released.
    reply: i64,
    /// For a request: the time that it used.
    now: i64,
    /// When the lease of `id` ends afterwards.
    end: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Request,
    Renew,
    Release,
}

const WINDOW_MS: i64 = 120;
const LIMIT: i64 = 7;

fn perform(con: &mut Connection, action: Action, id: &str) -> Event {
    let window = format!("{WINDOW_MS}ms");
    let mut all = redis::pipe();
    all.atomic().cmd("INCR").arg("order").cmd("TIME");
    match action {
        Action::Request => all.cmd("RL.LEASE").arg("k").arg(window).arg(LIMIT).arg("ID").arg(id).arg("FULL"),
        Action::Renew => all.cmd("RL.RENEW").arg("k").arg(window).arg(id),
        Action::Release => all.cmd("RL.RELEASE").arg("k").arg(id),
    };
    all.cmd("TIME").cmd("ZSCORE").arg("k").arg(id);
    type Time = (i64, i64);
    let (order, before, reply, after, end): (i64, Time, Value, Time, Option<f64>) = all.query(con).expect("EXEC");
    let (reply, now) = if action == Action::Request {
        let found = full(reply);
        (found.allowed, found.now_ms)
    } else {
        (read(reply), 0)
    };
    let millis = |(seconds, micros): Time| seconds * 1_000 + micros / 1_000;
    let time = [millis(before), millis(after)];
    Event { order, time, id: id.to_owned(), action, reply, now, end: end.map(|end| end as i64) }
}

/// A client that works with a lease, dies with it, renews too late, and renews and releases what others hold.
fn client(server: &Server, number: u64) -> Vec<Event> {
    let mut con = server.con();
    let mut random = Random::new(number);
    let mut events = Vec::new();
    for life in 0..4 {
        let id = format!("{number}:{life}");
        let stranger = format!("{}:{}", random.below(100), random.below(4));
        for _ in 0..6 {
            let event = match random.below(8) {
                0 => perform(&mut con, Action::Release, &stranger),
                1 => perform(&mut con, Action::Renew, &stranger),
                _ => perform(&mut con, Action::Request, &id),
            };
            let holds = event.action == Action::Request && event.reply == 1;
            events.push(event);
            if !holds {
                sleep_ms(random.below(20) as i64);
                continue;
            }
            match random.below(4) {
                // Dies with its lease.
                0 => break,
                1 => {
                    sleep_ms(random.below(2 * WINDOW_MS as u64) as i64);
                    events.push(perform(&mut con, Action::Renew, &id));
                }
                _ => {
                    sleep_ms(random.below(30) as i64);
                    events.push(perform(&mut con, Action::Release, &id));
                }
            }
        }
    }
    events
}

#[test]
fn a_hundred_clients_that_die_and_come_late_never_hold_more_than_the_limit() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut events: Vec<Event> = thread::scope(|scope| {
            let server = &server;
            let clients: Vec<_> = (0..100).map(|number| scope.spawn(move || client(server, number))).collect();
            clients.into_iter().flat_map(|client| client.join().expect("a client")).collect()
        });
        events.sort_unstable_by_key(|event| event.order);

        let mut ends: BTreeMap<&str, i64> = BTreeMap::new();
        let (mut tally, mut most) = (BTreeMap::new(), 0);
        for event in &events {
            let [before, after] = event.time;
            let held_at = |time: i64| ends.get(event.id.as_str()).is_some_and(|&end| time < end);
            if event.action == Action::Request {
                let others = ends.iter().filter(|&(id, &end)| *id != event.id && event.now < end).count() as i64;
                assert_eq!(event.reply == 1, held_at(event.now) || others < LIMIT, "{event:?}: {others} others");
                assert!((before..=after).contains(&event.now), "{event:?}");
                most = most.max(others + event.reply);
            } else if held_at(before) == held_at(after) {
                assert_eq!(event.reply, i64::from(held_at(after)), "{event:?}");
            }
            *tally.entry((event.action as u8, event.reply)).or_insert(0) += 1;
            match (event.action, event.end) {
                (Action::Release, end) => {
                    assert_eq!(end, None, "{event:?}");
                    ends.remove(event.id.as_str());
                }
                (_, Some(end)) if event.reply == 1 => {
                    assert!((before + WINDOW_MS..=after + WINDOW_MS).contains(&end), "{event:?}");
                    ends.insert(&event.id, end);
                }
                _ => assert_eq!(event.reply, 0, "{event:?}"),
            }
            let surely_held = ends.values().filter(|&&end| after < end).count() as i64;
            assert!(surely_held <= LIMIT, "{surely_held} after {event:?}");
        }
        assert_eq!(most, LIMIT, "the limit was reached");
        assert_eq!(tally.len(), 6, "each of the three was granted and was not: {tally:?}");

        // All are dead. A window later all slots are free.
        let mut con = server.con();
        sleep_ms(ends.values().max().expect("a lease") - now_ms() + 1);
        let granted: Vec<i64> = (0..=LIMIT).map(|n| lease(&mut con, "1h", LIMIT, &format!("new {n}"))[0]).collect();
        assert_eq!(granted, [vec![1; LIMIT as usize], vec![0]].concat());
        assert_eq!(ids(&mut con).len() as i64, LIMIT);
    });
}

#[test]
fn a_rate_and_a_lease_in_one_decision_are_both_charged_or_neither() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let mut ask = |rate: i64, limit: i64, id: &str| -> (i64, [[i64; 3]; 2]) {
            let mut request = redis::cmd("RL.MULTI");
            request.arg(2).arg(&["TOKEN", "rate", "1h"]).arg(rate).arg(&["COST", "2"]);
            request.arg(&["LEASE", "k", "60s"]).arg(limit).arg(&["AS", "jobs", "ID", id]);
            request.query(&mut con).expect("RL.MULTI")
        };
        assert_eq!(ask(3, 1, "a"), (1, [[1, 0, 2_400], [1, 0, 60]]));
        // The rate denies, the lease denies, both do.
        let (allowed, [rate, held]) = ask(3, 2, "b");
        assert_eq!((allowed, rate[0], held), (0, 0, [1, 1, 60]));
        let (allowed, [rate, held]) = ask(100, 1, "b");
        assert_eq!((allowed, rate[..2].to_vec(), held), (0, vec![1, 2], [0, 1, 60]));
        assert_eq!(ask(3, 1, "b").0, 0);
        // A renewal is all or nothing as well.
        assert_eq!(ask(3, 1, "a").0, 0);
        let mut con = server.con();
        let [(id, end)] = &holders(&mut con)[..] else { panic!("not one holder") };
        assert_eq!(id, "a");
        sleep_ms(3);
        let mut request = redis::cmd("RL.MULTI");
        request.arg(&["2", "LEASE", "k", "60s", "1", "ID", "a", "TOKEN", "rate", "1h", "100", "HEADERS"]);
        let (allowed, _, headers): (i64, Value, Value) = request.query(&mut con).expect("RL.MULTI");
        assert_eq!(allowed, 1);
        assert!(holders(&mut con)[0].1 > *end);
        let policies = "\"lease\";q=1;w=60;qu=\"concurrent-requests\", \"token\";q=100;w=3600";
        assert!(header_pairs(headers).contains(&("RateLimit-Policy".into(), policies.into())));

        // One holder cannot be asked about twice in a call.
        let twice = ["2", "LEASE", "k", "60s", "9", "ID", "a", "LEASE", "k", "60s", "9", "ID", "b"];
        assert!(err(cmd!(con, "RL.MULTI", &twice)).starts_with("ERR limit 2: invalid key"));
        let without = ["2", "FIXED", "f", "60s", "9", "LEASE", "k", "60s", "9"];
        assert!(err(cmd!(con, "RL.MULTI", &without)).starts_with("ERR limit 2: syntax error: LEASE needs ID"));
        assert_eq!(keys(&mut con), ["k", "rate"], "nothing was charged before the error");
    });
}

#[test]
fn a_peek_changes_nothing_and_needs_no_id() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let mut con2 = server.con();
        let mut peek = |arguments: &[&str]| full(ok(cmd!(con2, "RL.PEEK", "LEASE", "k", arguments, "FULL")));
        let empty = peek(&["60s", "2"]);
        assert_eq!([empty.allowed, empty.count, empty.remaining, empty.ttl], [1, 0, 1, 60]);
        assert_eq!(keys(&mut con), [""; 0]);
        lease(&mut con, "60s", 2, "a");
        lease(&mut con, "60s", 2, "b");
        let before = holders(&mut con);
        let found = peek(&["60s", "2"]);
        assert_eq!([found.allowed, found.count, found.remaining], [0, 2, 0]);
        assert_eq!(found.retry_after_ms, before[0].1 - found.now_ms);
        let own = peek(&["60s", "2", "ID", "a"]);
        assert_eq!([own.allowed, own.count, own.next_ms], [1, 1, before[1].1 - own.now_ms]);
        assert_eq!(holders(&mut con), before);

        // Leases that have ended and are still there do not count.
        ok(cmd!(con, "ZADD", "k", 5, "old", now_ms() - 1, "just ended", now_ms() + HOUR, "later"));
        let found = peek(&["2h", "4"]);
        assert_eq!([found.allowed, found.count, found.remaining], [1, 3, 0]);
        assert_eq!(found.next_ms, before[0].1 - found.now_ms);
        let ended = peek(&["2h", "3", "ID", "old"]);
        assert_eq!([ended.allowed, ended.count], [0, 3]);
        assert_eq!(ids(&mut con).len(), 5);
    });
}

/// The commands that a call replicates, without MULTI and EXEC.
fn replicated(effects: &mut Effects<'_>) -> Vec<Vec<String>> {
    let mut sent = effects.take();
    sent.retain(|command| !["MULTI", "EXEC"].contains(&command[0].to_uppercase().as_str()));
    sent.iter_mut().for_each(|command| command[0].make_ascii_uppercase());
    sent
}

#[test]
fn each_call_replicates_its_effect() {
    for_each_server(|bin| {
        let server = Server::options(bin).durable().start();
        let mut con = server.con();
        // Nothing goes while it is compared.
        ok(cmd!(con, "DEBUG", "SET-ACTIVE-EXPIRE", 0));
        let mut effects = Effects::of(&server);
        let mut sent = || replicated(&mut effects);
        let end_of = |con: &mut Connection, id: &str| -> String {
            holders(con).iter().find(|(holder, _)| holder == id).expect("a holder").1.to_string()
        };

        lease(&mut con, "60s", 2, "a");
        let a = end_of(&mut con, "a");
        assert_eq!(sent(), [vec!["ZADD", "k", &a, "a"], vec!["PEXPIREAT", "k", &a]]);
        // It ends before the other: one command.
        lease(&mut con, "30s", 2, "b");
        let b = end_of(&mut con, "b");
        assert_eq!(sent(), [["ZADD", "k", &b, "b"]]);
        // Denied, or not held: nothing.
        assert_eq!(lease(&mut con, "60s", 2, "c")[0], 0);
        assert_eq!((renew(&mut con, "60s", &["c"]), release(&mut con, &["c"])), (0, 0));
        full(ok(cmd!(con, "RL.PEEK", "LEASE", "k", "60s", 3, "FULL")));
        assert_eq!(sent(), Vec::<Vec<String>>::new());

        // In the same millisecond, a renewal changes nothing.
        sleep_ms(2);
        lease(&mut con, "30s", 2, "b");
        let b = end_of(&mut con, "b");
        assert_eq!(sent(), [["ZADD", "k", "XX", &b, "b"]]);
        assert_eq!(renew(&mut con, "90s", &["b", "a", "c"]), 2);
        let both = end_of(&mut con, "b");
        assert_eq!(sent(), [vec!["ZADD", "k", "XX", &both, "a", &both, "b"], vec!["PEXPIREAT", "k", &both]]);
        assert_eq!(renew(&mut con, "60s", &["a"]), 1);
        let a = end_of(&mut con, "a");
        assert_eq!(sent(), [["ZADD", "k", "XX", &a, "a"]]);

        assert_eq!(release(&mut con, &["b"]), 1);
        assert_eq!(sent(), [vec!["ZREM", "k", "b"], vec!["PEXPIREAT", "k", &a]]);
        // Ended leases are removed with one command.
        ok(cmd!(con, "ZADD", "k", 5, "old", "-inf", "older"));
        let now = now_ms();
        sent();
        assert_eq!(lease(&mut con, "60s", 1, "c")[0], 0);
        let [removed] = &sent()[..] else { panic!("not one command") };
        assert_eq!(removed[..3], ["ZREMRANGEBYSCORE", "k", "-inf"]);
        assert!((now..=now_ms()).contains(&removed[3].parse().expect("a time")), "{removed:?}");
        assert_eq!(release(&mut con, &["a"]), 1);
        assert_eq!(sent(), [["ZREM", "k", "a"]]);
        assert_eq!(keys(&mut con), [""; 0]);

        lease(&mut con, "60s", 2, "a");
        sent();
        assert_eq!(read::<i64>(ok(cmd!(con, "RL.RESET", "LEASE", "k", 60))), 1);
        assert_eq!(sent(), [["UNLINK", "k"]]);
        assert_eq!(read::<i64>(ok(cmd!(con, "RL.RESET", "LEASE", "k", 60))), 0);
    });
}

/// Requests, renewals and releases of a few holders.
fn traffic(con: &mut Connection, random: &mut Random, calls: u64) {
    for _ in 0..calls {
        let ids: Vec<String> = (0..1 + random.below(3)).map(|_| format!("id {}", random.below(8))).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let window = random.pick(&["20ms", "50ms", "10s", "1h"]);
        match random.below(8) {
            0 => _ = renew(con, window, &ids),
            1 | 2 => _ = release(con, &ids),
            3 => {
                let request = ["2", "FIXED", "rate", "1h", "40", "LEASE", "k", window, "5", "ID", ids[0]];
                ok(cmd!(*con, "RL.MULTI", &request));
            }
            4 if random.below(10) == 0 => _ = ok(cmd!(*con, "RL.RESET", "LEASE", "k", 60)),
            5 => sleep_ms(random.below(30) as i64),
            _ => _ = lease(con, window, 5, ids[0]),
        }
        if random.below(20) == 0 {
            assert_expires_with_the_last(con);
        }
    }
}

#[test]
fn replica_and_files_hold_the_same() {
    for_each_server(|bin| {
        let mut master = Server::options(bin).durable().start();
        let replica = Server::options(bin).without_module().replica_of(&master).start();
        let watching = Server::options(bin).replica_of(&master).start();
        let mut con = master.con();
        ok(cmd!(con, "SET", "before", 1));
        for replica in [&replica, &watching] {
            wait_for_replica(&master, replica);
        }
        let state = |con: &mut Connection| (digest(con), expires_at(con, "k"), holders(con));
        for (round, mut random) in randoms().enumerate() {
            traffic(&mut con, &mut random, 150);
            // The last one does not end while it is compared, nor while the server starts again.
            lease(&mut con, "1h", 100, "last");
            // Leases that a read finds ended stay until the next write.
            for replica in [&replica, &watching] {
                wait_for_replica(&master, replica);
            }
            let expected = state(&mut con);
            assert_eq!(state(&mut replica.con()), expected, "{round}: a replica without the module");
            assert_eq!(state(&mut watching.con()), expected, "{round}: a replica with it");
            let peek = |con: &mut Connection| full(ok(cmd!(*con, "RL.PEEK", "LEASE", "k", "1h", 100, "FULL"))).count;
            // A lease may end in between.
            let (before, on_replica, after) = (peek(&mut con), peek(&mut watching.con()), peek(&mut con));
            assert!(before >= on_replica && on_replica >= after, "{before}, {on_replica}, {after}");
            for command in
                [&["RL.LEASE", "k", "1h", "9", "ID", "x"][..], &["RL.RENEW", "k", "1h", "x"], &["RL.RELEASE", "k", "x"]]
            {
                assert!(
                    err(redis::cmd(command[0]).arg(&command[1..]).query(&mut watching.con())).starts_with("READONLY")
                );
            }
            if round % 2 == 1 {
                ok(cmd!(con, "BGREWRITEAOF"));
                assert!(eventually(PATIENCE, || {
                    info(&mut con, "aof_rewrite_in_progress") == "0" && info(&mut con, "aof_rewrite_scheduled") == "0"
                }));
            }
        }
        let expected = state(&mut con);
        master.kill();
        master.start_again();
        assert_eq!(state(&mut master.con()), expected, "after a restart");
        master.kill();
        master.start_again_with(|options| options.without_module());
        assert_eq!(state(&mut master.con()), expected, "after a restart without the module");
    });
}

#[test]
fn the_events_are_those_of_the_plain_commands() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let mut events = Events::listen(&server);
        let mut heard = || -> Vec<String> {
            let all = events.take().into_iter();
            all.inspect(|(_, key)| assert_eq!(key, b"k")).map(|(event, _)| event).collect()
        };
        lease(&mut con, "60s", 2, "a");
        assert_eq!(heard(), ["zadd", "expire"]);
        lease(&mut con, "30s", 2, "b");
        assert_eq!(heard(), ["zadd"]);
        assert_eq!(lease(&mut con, "60s", 2, "c")[0], 0);
        assert_eq!(heard(), [""; 0]);
        renew(&mut con, "90s", &["a", "b", "c"]);
        assert_eq!(heard(), ["zadd", "expire"]);
        sleep_ms(2);
        lease(&mut con, "60s", 2, "a");
        assert_eq!(heard(), ["zadd"]);
        release(&mut con, &["b", "c"]);
        assert_eq!(heard(), ["zrem", "expire"]);
        release(&mut con, &["c"]);
        assert_eq!(heard(), [""; 0]);
        ok(cmd!(con, "ZADD", "k", 5, "old"));
        heard();
        assert_eq!(renew(&mut con, "60s", &["old"]), 0);
        assert_eq!(heard(), ["zremrangebyscore"]);
        release(&mut con, &["a"]);
        assert_eq!(heard(), ["zrem", "del"]);
        ok(cmd!(con, "ZADD", "k", 5, "old"));
        heard();
        assert_eq!(release(&mut con, &["old"]), 0);
        assert_eq!(heard(), ["zremrangebyscore", "del"]);
        lease(&mut con, "60s", 2, "a");
        heard();
        ok(cmd!(con, "RL.RESET", "LEASE", "k", 60));
        assert_eq!(heard(), ["del"]);
    });
}

/// Whether a transaction that watches the key is executed, if `meanwhile` happens.
fn is_executed(server: &Server, meanwhile: impl FnOnce(&mut Connection)) -> bool {
    let mut con = server.con();
    ok(cmd!(con, "WATCH", "k"));
    meanwhile(&mut server.con());
    ok(cmd!(con, "MULTI"));
    ok(cmd!(con, "PING"));
    ok(cmd!(con, "EXEC")) != Value::Nil
}

#[test]
fn a_change_breaks_a_transaction_that_watches_the_key_and_nothing_else_does() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        assert!(!is_executed(&server, |con| _ = lease(con, "60s", 1, "a")));
        assert!(is_executed(&server, |con| _ = lease(con, "60s", 1, "b")));
        assert!(is_executed(&server, |con| _ = renew(con, "60s", &["b"])));
        assert!(is_executed(&server, |con| _ = release(con, &["b"])));
        assert!(!is_executed(&server, |con| _ = renew(con, "90s", &["a"])));
        assert!(!is_executed(&server, |con| _ = lease(con, "60s", 1, "a")));
        assert!(!is_executed(&server, |con| _ = release(con, &["a"])));
    });
}

/// A call that names a shorter window, and leases of an hour ahead, as a clock leaves them that steps back by an hour.
#[test]
fn no_call_shortens_the_lease_of_another_holder() {
    for_each_server(|bin| {
        let master = Server::options(bin).durable().start();
        let replica = Server::options(bin).without_module().replica_of(&master).start();
        let mut con = master.con();
        ok(cmd!(con, "SET", "before", 1));
        wait_for_replica(&master, &replica);
        ok(cmd!(con, "DEBUG", "SET-ACTIVE-EXPIRE", 0));
        assert_eq!(lease(&mut con, "1h", 1, "a")[0], 1);
        let held = holders(&mut con);
        let mut effects = Effects::of(&master);
        let mut events = Events::listen(&master);
        let peek = full(ok(cmd!(con, "RL.PEEK", "LEASE", "k", "1s", 1, "FULL")));
        let denied = full(ok(cmd!(con, "RL.LEASE", "k", "1s", 1, "ID", "b", "FULL")));
        for figures in [peek, denied] {
            assert_eq!([figures.allowed, figures.count], [0, 1]);
            let end = figures.now_ms + figures.retry_after_ms;
            assert_eq!((end, end), (held[0].1, figures.now_ms + figures.reset_ms), "when the lease of a ends");
        }
        assert_eq!(holders(&mut con), held);
        assert_eq!(replicated(&mut effects), Vec::<Vec<String>>::new());
        assert_eq!(events.take(), []);

        // An allowed request, a renewal and a release leave the leases of others too.
        assert_eq!(lease(&mut con, "1s", 2, "b")[0], 1);
        assert_eq!(renew(&mut con, "2s", &["b"]), 1);
        assert!(holders(&mut con).contains(&held[0]));
        assert_expires_with_the_last(&mut con);
        assert_eq!(release(&mut con, &["b"]), 1);
        assert_eq!(holders(&mut con), held);
        wait_for_replica(&master, &replica);
        assert_eq!(digest(&mut replica.con()), digest(&mut con));
    });
}

/// What a client wrote by hand: fractions, infinities, no expiry.
#[test]
fn any_score_is_the_end_of_a_lease() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let later = now_ms() + 50_000;
        ok(cmd!(
            con,
            "ZADD",
            "k",
            "+inf",
            "endless",
            "-inf",
            "never",
            -7,
            "negative",
            format!("{later}.5"),
            "fraction"
        ));
        // A lease that has ended is no lease of its holder, in RL.PEEK too.
        for ended in ["never", "negative"] {
            let peeked: Vec<i64> = read(ok(cmd!(con, "RL.PEEK", "LEASE", "k", "60s", 2, "ID", ended)));
            assert_eq!(peeked[..2], [0, 2], "{ended}");
        }
        let found = full(ok(cmd!(con, "RL.LEASE", "k", "60s", 3, "ID", "a", "FULL")));
        assert_eq!([found.allowed, found.count, found.reset_ms], [1, 2, -1]);
        assert_eq!(found.next_ms, later + 1 - found.now_ms);
        assert_eq!(ids(&mut con), ["a", "endless", "fraction"]);
        assert!(expires_at(&mut con, "k") > now_ms() + 1_000 * HOUR);
        let denied = full(ok(cmd!(con, "RL.LEASE", "k", "60s", 3, "ID", "b", "FULL")));
        assert_eq!([denied.allowed, denied.count, denied.reset_ms], [0, 3, -1], "the endless lease stays");
        assert_eq!(denied.retry_after_ms, later + 1 - denied.now_ms);
        assert_eq!(ids(&mut con), ["a", "endless", "fraction"]);
        assert!(expires_at(&mut con, "k") > now_ms() + 1_000 * HOUR);
        assert_eq!(release(&mut con, &["endless", "a"]), 2);
        assert_eq!(expires_at(&mut con, "k"), later + 1);
        // An expiry that a client removed or changed comes back with the next request, allowed or denied.
        for (limit, id, allowed) in [(3, "a", 1), (2, "b", 0)] {
            ok(cmd!(con, "PERSIST", "k"));
            assert_eq!(lease(&mut con, "60s", limit, id)[0], allowed);
            assert_expires_with_the_last(&mut con);
            ok(cmd!(con, "PEXPIRE", "k", 1_000));
            assert_eq!(lease(&mut con, "60s", limit, id)[0], allowed);
            assert_expires_with_the_last(&mut con);
        }
    });
}

#[test]
fn a_key_of_another_type_is_an_error_and_stays() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for create in [&["SET", "k", "1"][..], &["HSET", "k", "a", "1"], &["RPUSH", "k", "a"], &["SADD", "k", "a"]] {
            ok(redis::cmd(create[0]).arg(&create[1..]).query(&mut con));
            let before = digest(&mut con);
            for call in [
                "RL.LEASE k 60 5 ID a",
                "RL.RENEW k 60 a",
                "RL.RELEASE k a",
                "RL.PEEK LEASE k 60 5",
                "RL.RESET LEASE k 60",
                "RL.MULTI 2 FIXED f 60 5 LEASE k 60 5 ID a",
            ] {
                let words: Vec<&str> = call.split(' ').collect();
                let error = err(redis::cmd(words[0]).arg(&words[1..]).query(&mut con));
                assert!(error.starts_with("WRONGTYPE "), "{call}: {error}");
                assert_eq!(digest(&mut con), before, "{call}");
            }
            ok(cmd!(con, "DEL", "k"));
        }
    });
}

#[test]
fn bad_input_is_an_error_that_names_it_and_changes_nothing() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        lease(&mut con, "1h", 5, "a");
        let before = digest(&mut con);
        for (call, error) in [
            ("RL.LEASE k 60 5", "ERR syntax error: LEASE needs ID id"),
            ("RL.LEASE k 60 5 FULL", "ERR syntax error: LEASE needs ID id"),
            ("RL.LEASE k 60 5 ID", "ERR invalid ID: expected 1 to 512 bytes"),
            ("RL.LEASE k 60 5 ID a ID a", "ERR syntax error"),
            ("RL.LEASE k 60 5 ID a COST 1", "ERR invalid COST: LEASE takes none"),
            ("RL.LEASE k 60 5 COST 0 ID a", "ERR invalid COST: LEASE takes none"),
            ("RL.LEASE k 60 5 ID a BURST 5", "ERR invalid BURST: LEASE takes none"),
            ("RL.LEASE k 60 5 ID a PARTIAL", "ERR invalid PARTIAL: LEASE takes none"),
            ("RL.LEASE k 60 5 ID a ANCHOR 0", "ERR invalid ANCHOR: LEASE takes none"),
            ("RL.LEASE k day 5 ID a", "ERR invalid window: LEASE takes no windows of the calendar"),
            ("RL.LEASE k 60 5 a", "ERR syntax error"),
            ("RL.LEASE k 60 -1 ID a", "ERR invalid limit"),
            ("RL.PEEK LEASE k 60 5 COST 1", "ERR invalid COST: LEASE takes none"),
            ("RL.PEEK TOKEN k 60 5 ID a", "ERR invalid ID: TOKEN takes none"),
            ("RL.FIXED k 60 5 ID a", "ERR invalid ID: FIXED takes none"),
            ("RL.RESET LEASE k 60 ID a", "ERR invalid ID: only RL.<ALGO>, RL.PEEK and RL.MULTI take it"),
            ("RL.REFUND LEASE k 60 5", "ERR invalid algorithm: a lease has no cost to correct; RL.RELEASE"),
            ("RL.REFUND LEASE k 60 5 COST 1", "ERR invalid algorithm: a lease has no cost to correct; RL.RELEASE"),
            ("RL.SETTLE LEASE k 60 5 RESERVED 1 ACTUAL 2", "ERR invalid algorithm: a lease has no cost to correct"),
            ("RL.MULTI 1 LEASE k 60 5 ID b COST 1", "ERR limit 1: invalid COST: LEASE takes none"),
            ("RL.RENEW k 60", "ERR wrong number of arguments"),
            ("RL.RENEW k 0 a", "ERR invalid window"),
            ("RL.RENEW k a a", "ERR invalid window"),
            ("RL.RENEW k month a", "ERR invalid window"),
            ("RL.RELEASE k", "ERR wrong number of arguments"),
        ] {
            let words: Vec<&str> = call.split(' ').collect();
            let text = err(redis::cmd(words[0]).arg(&words[1..]).query(&mut con));
            assert!(text.starts_with(error), "{call}: {text}");
            assert_eq!(digest(&mut con), before, "{call}");
        }
        let long = vec![b'x'; 513];
        for bad in [&b""[..], &long] {
            for call in
                [&["RL.LEASE", "k", "60", "5", "ID"][..], &["RL.RENEW", "k", "60", "a"], &["RL.RELEASE", "k", "a"]]
            {
                let text = err(redis::cmd(call[0]).arg(&call[1..]).arg(bad).query(&mut con));
                assert_eq!(
                    text,
                    if call[0] == "RL.LEASE" {
                        "ERR invalid ID: expected 1 to 512 bytes"
                    } else {
                        "ERR invalid id: expected 1 to 512 bytes"
                    },
                    "{call:?}"
                );
                assert_eq!(digest(&mut con), before, "{call:?}: all is parsed before anything changes");
            }
        }
        // Any bytes are an id.
        for id in [&b"\0"[..], b"\xff\xfe\r\n", b"FULL", b"ID", b"17", &long[1..]] {
            assert_eq!(full(ok(cmd!(con, "RL.LEASE", "k", 60, 100, "ID", id, "FULL"))).count, 1);
            assert!(ok(cmd!(con, "ZSCORE", "k", id)) != Value::Nil);
            assert_eq!(ok(cmd!(con, "RL.RENEW", "k", 60, id)), Value::Int(1));
            assert_eq!(ok(cmd!(con, "RL.RELEASE", "k", id)), Value::Int(1));
        }
        assert_eq!(digest(&mut con), before);
    });
}

#[test]
fn at_maxmemory_only_a_new_lease_needs_memory() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        lease(&mut con, "1h", 5, "a");
        lease(&mut con, "1h", 5, "b");
        ok(cmd!(con, "CONFIG", "SET", "maxmemory", 1));
        let ask = |con: &mut Connection, id: &str| cmd!(*con, "RL.LEASE", "k", "1h", 5, "ID", id, "FULL");
        assert!(err(ask(&mut con, "c")).starts_with("OOM "));
        for (on_oom, expected) in [("allow", [1, 2, 0, 3, 0]), ("deny", [0, 2, 1, 3, 1_000])] {
            ok(cmd!(con, "CONFIG", "SET", "rl.on-oom", on_oom));
            let found = full(ok(ask(&mut con, "c")));
            let figures = [found.allowed, found.count, found.ttl, found.remaining, found.retry_after_ms];
            assert_eq!(figures, expected, "{on_oom}");
            assert_eq!(ids(&mut con), ["a", "b"]);
        }
        sleep_ms(2);
        assert_eq!(lease(&mut con, "1h", 5, "a"), [1, 1, 3_600]);
        assert_eq!(renew(&mut con, "2h", &["a"]), 1);
        assert_eq!(release(&mut con, &["a"]), 1);
        assert_expires_with_the_last(&mut con);
    });
}

/// The value of a field of a map, or of the flat array that a map is on RESP2.
#[track_caller]
fn field(map: &Value, name: &str) -> Value {
    let flat: Vec<Value> = match map.clone() {
        Value::Map(pairs) => pairs.into_iter().flat_map(|(name, value)| [name, value]).collect(),
        flat => read(flat),
    };
    let found = flat.chunks(2).find(|pair| read::<String>(pair[0].clone()) == name).map(|pair| pair[1].clone());
    found.unwrap_or_else(|| panic!("no {name} in {map:?}"))
}

#[test]
fn the_commands_are_documented() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        for mut con in [server.con(), server.con3()] {
            for (command, arity, arguments) in [
                ("RL.LEASE", -4, &["key", "window", "limit", "id", "name", "shadow", "form"][..]),
                ("RL.RENEW", -4, &["key", "window", "id"]),
                ("RL.RELEASE", -3, &["key", "id"]),
            ] {
                let docs = field(&ok(cmd!(con, "COMMAND", "DOCS", command)), command);
                let documented: Vec<Value> = read(field(&docs, "arguments"));
                let names: Vec<String> = documented.iter().map(|argument| read(field(argument, "name"))).collect();
                assert_eq!(names, arguments, "{command}");
                let id = documented.iter().find(|argument| read::<String>(field(argument, "name")) == "id");
                let id = id.expect("an id");
                if command == "RL.LEASE" {
                    assert_eq!(read::<String>(field(id, "token")), "ID");
                } else {
                    assert_eq!(read::<Vec<String>>(field(id, "flags")), ["multiple"], "{command}");
                }
                assert!(read::<String>(field(&docs, "complexity")).starts_with("O("), "{command}");

                let [info]: [Vec<Value>; 1] = read(ok(cmd!(con, "COMMAND", "INFO", command)));
                assert_eq!(info[1], Value::Int(arity), "{command}");
                let flags: Vec<String> = read(info[2].clone());
                assert!(flags.contains(&"write".to_owned()) && flags.contains(&"fast".to_owned()), "{flags:?}");
                let specs: Vec<Value> = read(info[8].clone());
                let [spec] = &specs[..] else { panic!("not one key spec: {specs:?}") };
                let flags: Vec<String> = read(field(spec, "flags"));
                let mut flags: Vec<String> = flags.iter().map(|flag| flag.to_lowercase()).collect();
                flags.sort();
                assert_eq!(flags, ["access", "rw", "update"], "{command}");
            }
            for call in ["RL.LEASE key 60 5 ID a", "RL.RENEW key 60 a b", "RL.RELEASE key a b"] {
                let found: Vec<String> = read(ok(cmd!(con, "COMMAND", "GETKEYS", call.split(' ').collect::<Vec<_>>())));
                assert_eq!(found, ["key"], "{call}");
            }
            let call = "RL.MULTI 3 LEASE a 60 5 ID x FIXED b 60 5 LEASE c 60 5 ID y AS z FULL";
            let found: Vec<String> = read(ok(cmd!(con, "COMMAND", "GETKEYS", call.split(' ').collect::<Vec<_>>())));
            assert_eq!(found, ["a", "b", "c"]);
        }
    });
}

#[test]
fn a_user_needs_the_commands_and_the_key() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut root = server.con();
        let granted = ["+rl.lease", "+rl.renew", "+rl.release", "+auth"];
        ok(cmd!(root, "ACL", "SETUSER", "limited", "on", ">secret", "~mine:*", "-@all", &granted));
        ok(cmd!(root, "ACL", "SETUSER", "reader", "on", ">secret", "%R~mine:*", "-@all", &granted));
        let mut con = server.con();
        ok(cmd!(con, "AUTH", "limited", "secret"));
        // Neither ZADD nor ZREM is granted: they are the module's own.
        assert_eq!(ok(cmd!(con, "RL.LEASE", "mine:k", 60, 5, "ID", "a")), ints(&[1, 0, 60]));
        assert_eq!(ok(cmd!(con, "RL.LEASE", "mine:k", 60, 5, "ID", "b")), ints(&[1, 1, 60]));
        assert_eq!(ok(cmd!(con, "RL.RENEW", "mine:k", 90, "a")), Value::Int(1));
        assert_eq!(ok(cmd!(con, "RL.RELEASE", "mine:k", "a", "b")), Value::Int(2));
        let mut reader = server.con();
        ok(cmd!(reader, "AUTH", "reader", "secret"));
        for (con, key) in [(&mut con, "other"), (&mut reader, "mine:k")] {
            assert!(err(cmd!(*con, "RL.LEASE", key, 60, 5, "ID", "a")).starts_with("NOPERM"));
            assert!(err(cmd!(*con, "RL.RENEW", key, 60, "a")).starts_with("NOPERM"));
            assert!(err(cmd!(*con, "RL.RELEASE", key, "a")).starts_with("NOPERM"));
        }
        if bin.is_valkey() || (bin.version.0, bin.version.1) >= (7, 4) {
            ok(cmd!(root, "ACL", "SETUSER", "limited", "reset", "on", ">secret", "~*", "-@all", "+@ratelimit"));
            for call in ["RL.LEASE k 60 5 ID a", "RL.RENEW k 60 a", "RL.RELEASE k a"] {
                let checked = cmd!(root, "ACL", "DRYRUN", "limited", call.split(' ').collect::<Vec<_>>());
                assert_eq!(ok(checked), Value::Okay, "{call}");
            }
        }
    });
}

#[test]
fn in_a_cluster_the_key_decides_the_slot() {
    for_each_server(|bin| {
        let cluster = Cluster::start(bin, 2, |options| options);
        for key in ["a", "b", "user:42", "{tag}:1", "", "}"] {
            let owner = cluster.owner(key);
            let other = cluster.nodes.iter().find(|node| node.port() != owner.port()).expect("another node");
            let [mut home, mut away] = [owner.con(), other.con()];
            assert_eq!(ok(cmd!(home, "RL.LEASE", key, 60, 5, "ID", "id")), ints(&[1, 0, 60]));
            assert_eq!(ok(cmd!(home, "RL.RENEW", key, 60, "id")), Value::Int(1));
            for call in [
                &["RL.LEASE", key, "60", "5", "ID", "id"][..],
                &["RL.RENEW", key, "60", "id"],
                &["RL.RELEASE", key, "id"],
            ] {
                let error = err(redis::cmd(call[0]).arg(&call[1..]).query(&mut away));
                assert!(error.starts_with("MOVED "), "{call:?}: {error}");
            }
            assert_eq!(ok(cmd!(home, "ZCARD", key)), Value::Int(1));
            assert_eq!(ok(cmd!(home, "RL.RELEASE", key, "id")), Value::Int(1));
        }
        // A rate and a lease share a slot by a hash tag.
        let mut con = cluster.owner("{user:7}").con();
        let call = ["2", "FIXED", "{user:7}:rate", "1h", "5", "LEASE", "{user:7}:jobs", "60", "5", "ID", "a"];
        let (allowed, _): (i64, Value) = redis::cmd("RL.MULTI").arg(&call).query(&mut con).expect("RL.MULTI");
        assert_eq!(allowed, 1);
        let call = ["2", "FIXED", "{user:7}:rate", "1h", "5", "LEASE", "jobs", "60", "5", "ID", "a"];
        assert!(err(cmd!(con, "RL.MULTI", &call)).starts_with("CROSSSLOT"));
    });
}

#[test]
fn in_a_script_and_in_a_transaction() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let script = "return {redis.call('RL.LEASE', KEYS[1], 60, 1, 'ID', 'a'), \
                      redis.call('RL.LEASE', KEYS[1], 60, 1, 'ID', 'b'), redis.call('RL.RENEW', KEYS[1], 90, 'a', 'b'), \
                      redis.call('RL.RELEASE', KEYS[1], 'b', 'a')}";
        let replies = ok(cmd!(con, "EVAL", script, 1, "k"));
        let expected = [ints(&[1, 0, 60]), ints(&[0, 1, 60]), Value::Int(1), Value::Int(1)];
        assert_eq!(replies, Value::Array(expected.to_vec()));
        let mut all = redis::pipe();
        all.atomic().cmd("RL.LEASE").arg(&["k", "60", "1", "ID", "a"]);
        all.cmd("RL.RENEW").arg(&["k", "90", "a"]).cmd("RL.RELEASE").arg(&["k", "a"]);
        let replies: ([i64; 3], i64, i64) = all.query(&mut con).expect("EXEC");
        assert_eq!(replies, ([1, 0, 60], 1, 1));
    });
}
