//! COST 0 is allowed while at least one unit is left. It charges nothing and creates no key, in every command.

use crate::support::*;
use redis::{Connection, Value};

const LIMIT: i64 = 3;

/// The commands that take a cost of 0. RL.PEEK and RL.MULTI reply for it as the command of the algorithm does.
const COMMANDS: [&str; 3] = ["RL.<ALGO>", "RL.MULTI", "RL.PEEK"];

fn ask(con: &mut Connection, command: &str, algorithm: &Algorithm, key: &str, limit: i64) -> Full {
    let arguments = [key, &LONG.to_string(), &limit.to_string(), "COST", "0", "FULL"].map(str::to_owned);
    match command {
        "RL.MULTI" => {
            let reply = cmd!(*con, "RL.MULTI", 1, algorithm.word(), &arguments[..]);
            let (allowed, [reply]): (i64, [Value; 1]) = read(ok(reply));
            let reply = full(reply);
            assert_eq!(allowed, reply.allowed);
            reply
        }
        "RL.PEEK" => full(ok(cmd!(*con, "RL.PEEK", algorithm.word(), &arguments[..]))),
        _ => full(ok(cmd!(*con, algorithm.command, &arguments[..]))),
    }
}

#[test]
fn a_cost_of_0_is_allowed_while_one_unit_is_left() {
    for_each_server(|bin| {
        let server = Server::options(bin).durable().start();
        let mut con = server.con();
        let mut effects = Effects::of(&server);
        for algorithm in ALGORITHMS {
            for charged in 0..=LIMIT {
                effects.take();
                let before = (digest(&mut con), keys(&mut con));
                for command in COMMANDS {
                    let what = format!("{command} {algorithm:?}, {charged} charged");
                    let found = ask(&mut con, command, algorithm, "k", LIMIT);
                    assert_eq!(found.allowed, i64::from(charged < LIMIT), "{what}: {found:?}");
                    assert_eq!((found.count, found.remaining), (charged, LIMIT - charged), "{what}");
                    assert_eq!(found.retry_after_ms == 0, charged < LIMIT, "{what}: {found:?}");
                    // A denial waits for one unit.
                    if charged == LIMIT {
                        assert_eq!(found.retry_after_ms, found.next_ms, "{what}");
                    }
                    // With a limit of 0 there is never one.
                    let none = ask(&mut con, command, algorithm, "k", 0);
                    assert_eq!((none.allowed, none.retry_after_ms), (0, -1), "{what}: {none:?}");
                }
                assert_eq!((digest(&mut con), keys(&mut con)), before, "{algorithm:?}");
                assert_eq!(effects.take(), Vec::<Vec<String>>::new(), "{algorithm:?}");
                ok(cmd!(con, algorithm.command, "k", LONG, LIMIT));
            }
            ok(cmd!(con, "FLUSHALL"));
        }
    });
}

#[test]
fn a_cost_of_0_counts_the_burst() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for algorithm in ALGORITHMS.iter().filter(|algorithm| algorithm.takes_burst) {
            let mut allowed = |cost: i64| {
                let mut request = algorithm.request(algorithm.name, LONG, LIMIT, cost);
                let reply: [i64; 3] = request.arg("BURST").arg(2).query(&mut con).expect("a reply");
                reply[0]
            };
            assert_eq!([0, 1, 0, 1, 0, 1].map(&mut allowed), [1, 1, 1, 1, 0, 0], "{algorithm:?}");
        }
    });
}

/// One limit of a call has the cost 0, the other the cost 1.
#[test]
fn in_a_call_with_several_limits_each_has_its_own_cost() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for checks in ALGORITHMS {
            for charges in ALGORITHMS {
                ok(cmd!(con, "FLUSHALL"));
                let mut call = redis::cmd("RL.MULTI");
                call.arg(2).arg(checks.word()).arg("a").arg(LONG).arg(1).arg("COST").arg(0);
                call.arg(charges.word()).arg("b").arg(LONG).arg(1);
                let allowed = |con: &mut Connection| {
                    let (allowed, replies): (i64, [[i64; 3]; 2]) = read(ok(call.query(con)));
                    [allowed, replies[0][0], replies[1][0]]
                };
                let what = format!("{checks:?} {charges:?}");
                assert_eq!(allowed(&mut con), [1, 1, 1], "{what}");
                assert_eq!(keys(&mut con).len(), 1, "{what}: only the second limit has a key");
                assert_eq!(allowed(&mut con), [0, 1, 0], "{what}");
                ok(cmd!(con, checks.command, "a", LONG, 1));
                ok(cmd!(con, "RL.RESET", charges.word(), "b", LONG));
                // The limit with the cost 0 can deny. Then nothing is charged.
                assert_eq!(allowed(&mut con), [0, 0, 1], "{what}");
                assert_eq!(keys(&mut con).len(), 1, "{what}: nothing is charged");
            }
        }
    });
}

/// The reply is that of any refund.
#[test]
fn a_refund_of_0_changes_nothing() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for algorithm in ALGORITHMS {
            for charged in 0..=LIMIT {
                let before = (digest(&mut con), keys(&mut con));
                let reply = cmd!(con, "RL.REFUND", algorithm.word(), "k", LONG, LIMIT, "COST", 0, "FULL");
                let found = full(ok(reply));
                assert_eq!((found.count, found.remaining), (charged, LIMIT - charged), "{algorithm:?}");
                assert_eq!((digest(&mut con), keys(&mut con)), before, "{algorithm:?}");
                ok(cmd!(con, algorithm.command, "k", LONG, LIMIT));
            }
            ok(cmd!(con, "FLUSHALL"));
        }
    });
}
