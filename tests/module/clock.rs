//! A clock that steps back opens no limit, and locks none for longer than a window.

use std::thread;
use std::time::Duration;

use crate::support::*;
use redis::Connection;

const HOUR: i64 = 3_600_000;

/// Entries of an hour ahead, as the clock leaves them that steps back by an hour.
fn from_ahead(con: &mut Connection, expire: bool) {
    let at = now_ms() + HOUR;
    for member in 0..3 {
        ok(cmd!(*con, "ZADD", "k", at + member, format!("{at}-0.{member}")));
    }
    if expire {
        ok(cmd!(*con, "PEXPIREAT", "k", at + 2_000));
    }
}

#[test]
fn what_the_sliding_log_holds_of_later_is_moved_to_now_on_a_denial_everywhere() {
    for_each_server(|bin| {
        let master = Server::options(bin).durable().start();
        let replica = Server::options(bin).without_module().replica_of(&master).start();
        let mut con = master.con();
        // A replica that has come this far follows at once.
        ok(cmd!(con, "SET", "before", 1));
        wait_for_replica(&master, &replica);
        // Nothing goes while it is compared.
        ok(cmd!(con, "DEBUG", "SET-ACTIVE-EXPIRE", 0));
        from_ahead(&mut con, true);
        let mut effects = Effects::of(&master);
        let begin = now_ms();
        assert_eq!(SLIDING.ask(&mut con, "k", 1, 3), [0, 3, 1], "no step of the clock opens the limit");
        let moved = scores(&mut con, "k");
        assert!(moved.iter().all(|score| (begin..=now_ms()).contains(score)), "{begin}: {moved:?}");
        assert_eq!(SLIDING.ask(&mut con, "k", 1, 3)[0], 0);
        assert_eq!(scores(&mut con, "k"), moved, "the denials that follow do not push it further");
        let sent = effects.take();
        let [add] = sent.as_slice() else { panic!("{sent:?}") };
        let mut pairs: Vec<_> = add[3..].chunks(2).collect();
        pairs.sort();
        let expected: Vec<_> =
            members(&mut con, "k").iter().map(|(member, score)| [score.to_string(), member.clone()]).collect();
        assert_eq!(add[..3], ["ZADD", "k", "XX"]);
        assert_eq!(pairs, expected);
        wait_for_replica(&master, &replica);
        assert_eq!(scores(&mut replica.con(), "k"), moved);
        assert_eq!(digest(&mut replica.con()), digest(&mut con));

        // They leave after one window.
        let free = moved.iter().max().expect("an entry") + 1_000;
        thread::sleep(Duration::from_millis(u64::try_from(free - now_ms()).unwrap_or(0)));
        assert_eq!(SLIDING.ask(&mut con, "k", 1, 3), [1, 0, 1]);
        wait_for_replica(&master, &replica);
        assert_eq!(digest(&mut replica.con()), digest(&mut con));
    });
}

/// A log that somebody made by hand has no expiry; one that is moved gets one, on the replica as well.
#[test]
fn a_moved_log_ends_everywhere() {
    for_each_server(|bin| {
        let master = Server::start(bin);
        let replica = Server::options(bin).without_module().replica_of(&master).start();
        wait_for_replica(&master, &replica);
        let mut con = master.con();
        from_ahead(&mut con, false);
        assert_eq!(SLIDING.ask(&mut con, "k", 1, 3)[0], 0);
        wait_for_replica(&master, &replica);
        let end = scores(&mut con, "k")[0] + 1_000;
        assert!(expires_at(&mut con, "k") >= end);
        let there = expires_at(&mut replica.con(), "k");
        assert!(there >= end, "the replica's ends at {there}, the window at {end}");
    });
}

#[test]
fn an_admission_leaves_what_is_later_where_it_is() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        from_ahead(&mut con, true);
        assert_eq!(SLIDING.ask(&mut con, "k", 1, 4), [1, 3, 1]);
        let all = scores(&mut con, "k");
        assert_eq!(all.len(), 4);
        assert!(all[1..].iter().all(|&score| score > now_ms() + HOUR / 2), "{all:?}");
    });
}

/// The same of the algorithms that keep a record: denied, as of now from the first denial on, and free when what was
/// taken would be free had it been taken now.
#[test]
fn a_record_of_later_is_taken_as_of_now_on_a_denial_everywhere() {
    for_each_server(|bin| {
        let master = Server::options(bin).durable().start();
        let replica = Server::options(bin).without_module().replica_of(&master).start();
        let mut con = master.con();
        ok(cmd!(con, "SET", "before", 1));
        wait_for_replica(&master, &replica);
        ok(cmd!(con, "DEBUG", "SET-ACTIVE-EXPIRE", 0));
        for (algorithm, record) in records() {
            let ahead = now_ms() + HOUR;
            let record = record(3, 3, 1_000_000, ahead * 1_000);
            ok(cmd!(con, "SET", "k", &record, "PXAT", ahead + 2_000));
            let look = |con: &mut Connection| full_of(con, "RL.PEEK", &[algorithm.word(), "k", "1", "3", "FULL"]);
            let seen = look(&mut con);
            assert_eq!((seen.allowed, seen.remaining), (0, 0), "{algorithm:?}: no step of the clock opens the limit");
            assert_eq!(ok(cmd!(con, "GET", "k")), bytes(&record), "a look changes nothing");

            let mut effects = Effects::of(&master);
            let denied = full(ok(cmd!(con, algorithm.command, "k", 1, 3, "FULL")));
            assert_eq!((denied.allowed, denied.count), (0, 3), "{algorithm:?}");
            let moved: String = read(ok(cmd!(con, "GET", "k")));
            assert_ne!(moved, record, "{algorithm:?}");
            let end = expires_at(&mut con, "k");
            let latest = denied.now_ms + 2_000 + algorithm.slack_ms + algorithm.expires_late_ms;
            assert!(end <= latest, "{algorithm:?}: {end} after {}", denied.now_ms);
            let expected = ["SET", "k", &moved, "PXAT", &end.to_string()].map(str::to_owned);
            assert_eq!(effects.take(), [expected.to_vec()], "{algorithm:?}");
            let mut taken = Taken::new(1_000, 3);
            taken.take(3, denied.now_ms);
            let promised = algorithm.freed_in(&taken, 1);
            assert!(promised.contains(&denied.retry_after_ms), "{algorithm:?}: {denied:?}, not {promised:?}");

            // The denials that follow do not push it further, and are no effect.
            assert_eq!(algorithm.ask(&mut con, "k", 1, 3)[0], 0, "{algorithm:?}");
            assert_eq!(ok(cmd!(con, "GET", "k")), bytes(&moved), "{algorithm:?}");
            assert_eq!(effects.take(), Vec::<Vec<String>>::new(), "{algorithm:?}");
            wait_for_replica(&master, &replica);
            assert_eq!(ok(cmd!(replica.con(), "GET", "k")), bytes(&moved), "{algorithm:?}");
            assert_eq!(digest(&mut replica.con()), digest(&mut con), "{algorithm:?}");

            let left = denied.now_ms + denied.retry_after_ms + 1 - now_ms();
            thread::sleep(Duration::from_millis(u64::try_from(left).unwrap_or(0)));
            assert_eq!(algorithm.ask(&mut con, "k", 1, 3)[0], 1, "{algorithm:?}");
            ok(cmd!(con, "DEL", "k"));
        }
    });
}
