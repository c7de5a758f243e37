//! What a replica replies while it loads anew. What it holds and replies else is in commands.rs and differential.rs.

use crate::support::*;
use redis::Connection;

/// `repl-diskless-load swapdb`: a replica that lost its link serves what it has while it loads everything anew. The
/// server does that only if every module can handle it.
#[test]
fn a_replica_replies_from_what_it_has_while_it_loads_anew() {
    const KEYS: usize = 200;
    const LIMIT: i64 = 9;
    for_each_server(|bin| {
        let master = Server::options(bin)
            .set("repl-diskless-sync", "yes")
            .set("rdbcompression", "no")
            // Too short for what is written while the link is down, so everything is sent anew.
            .set("repl-backlog-size", "16kb")
            .start();
        let replica = Server::options(bin)
            .set("repl-diskless-load", "swapdb")
            // Four seconds for all keys, unless a shorter time is set; clients are served after each.
            .set("key-load-delay", 20_000)
            .set("loading-process-events-interval-bytes", 1_024)
            .replica_of(&master)
            .start();
        wait_for_replica(&master, &replica);
        let mut con = master.con();
        for n in 0..KEYS {
            ok(cmd!(con, "SET", format!("fill:{n}"), "x".repeat(1_000)));
        }
        let mut charge = |cost: i64| {
            for word in counting_words() {
                let [allowed, ..]: [i64; 3] =
                    read(ok(send(&mut con, &format!("RL.{word} {word} {LONG} {LIMIT} COST {cost}"))));
                assert_eq!(allowed, 1, "{word}");
            }
        };
        charge(2);
        wait_for_replica(&master, &replica);

        // The link is down while more is written than the backlog holds.
        let mut looker = replica.con();
        ok(cmd!(looker, "REPLICAOF", "127.0.0.1", 1));
        charge(3);
        for n in 0..KEYS {
            ok(cmd!(con, "SET", format!("fill:{n}"), "y".repeat(1_000)));
        }
        ok(cmd!(looker, "REPLICAOF", "127.0.0.1", master.port()));
        let loads = eventually(PATIENCE, || info(&mut looker, "async_loading") == "1");
        assert!(loads, "no load beside what is there:\n{}", replica.log());
        let remains = |con: &mut Connection, expected: i64| {
            for word in counting_words() {
                let peeked = full(ok(send(con, &format!("RL.PEEK {word} {word} {LONG} {LIMIT} FULL"))));
                assert_eq!(peeked.remaining, expected, "{word}");
            }
        };
        // What it had before.
        remains(&mut looker, LIMIT - 2 - 1);
        assert_eq!(info(&mut looker, "async_loading"), "1", "the load was over too early to see anything");
        ok(cmd!(looker, "CONFIG", "SET", "key-load-delay", 0));
        wait_for_replica(&master, &replica);
        // What the master has.
        remains(&mut looker, LIMIT - 5 - 1);
        assert_eq!(digest(&mut replica.con()), digest(&mut con));
    });
}
