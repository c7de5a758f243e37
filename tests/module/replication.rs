//! A replica holds what its master holds, with the module or without: the effects of a request are propagated, as plain
//! commands with absolute expiry, and never the request itself.

use crate::support::*;
use redis::Connection;

/// As `["SET k 1 PXAT 5"]`.
fn lines(effects: Vec<Vec<String>>) -> Vec<String> {
    effects.into_iter().map(|effect| effect.join(" ")).collect()
}

/// Keys that are gone stay gone, and the others do not go while they are compared.
fn stop_expiry(master: &Server) {
    ok(cmd!(master.con(), "DEBUG", "SET-ACTIVE-EXPIRE", 0));
}

/// Every key has an expiry, and it is the same on the replica.
#[track_caller]
fn assert_same_expiry(master: &mut Connection, replica: &mut Connection, keys: &[String]) {
    for key in keys {
        let [here, there] = [expires_at(master, key), expires_at(replica, key)];
        assert!(here > 0 && here == there, "{key}: {here}, {there}");
    }
}

#[test]
fn replicas_with_and_without_the_module_equal_their_master_after_mixed_load() {
    for_each_server(|bin| {
        let master = Server::start(bin);
        let replicas = start_replicas(bin, &master);
        let mut con = master.con();
        for seed in 0..3 {
            let mut random = Random::new(seed);
            mixed_load(&mut con, &mut random, &["50ms", "1s", "1h"], 1_000);
            stop_expiry(&master);
            for replica in &replicas {
                wait_for_replica(&master, replica);
                assert_eq!(digest(&mut replica.con()), digest(&mut con), "seed {seed}");
                let long: Vec<_> = keys(&mut con).into_iter().filter(|key| key.contains(":1h:")).collect();
                assert!(long.len() >= 2 * ALGORITHMS.len(), "{long:?}");
                assert_same_expiry(&mut con, &mut replica.con(), &long);
            }
            ok(cmd!(con, "DEBUG", "SET-ACTIVE-EXPIRE", 1));
        }
    });
}

#[test]
fn what_has_ended_is_gone_from_replicas_as_well() {
    for_each_server(|bin| {
        let master = Server::start(bin);
        let replica = Server::options(bin).without_module().replica_of(&master).start();
        wait_for_replica(&master, &replica);
        stop_expiry(&master);
        for algorithm in ALGORITHMS {
            algorithm.ask(&mut master.con(), algorithm.command, "300ms", 1);
        }
        wait_for_replica(&master, &replica);
        let size = |server: &Server| redis::cmd("DBSIZE").query::<usize>(&mut server.con()).expect("DBSIZE");
        assert_eq!(size(&replica), ALGORITHMS.len());
        ok(cmd!(master.con(), "DEBUG", "SET-ACTIVE-EXPIRE", 1));
        assert!(eventually(PATIENCE, || size(&replica) == 0), "{:?}", keys(&mut replica.con()));
        assert_eq!(size(&master), 0);
    });
}

#[test]
fn only_plain_commands_with_absolute_expiry_are_propagated() {
    for_each_server(|bin| {
        let server = Server::options(bin).durable().start();
        for seed in [7, 8, 9, 11] {
            let mut effects = Effects::of(&server);
            let mut random = Random::new(seed);
            mixed_load(&mut server.con(), &mut random, &["50ms", "1h"], 1_000);
            let effects = effects.take();
            assert!(effects.len() > 100, "{}", effects.len());
            assert_plain(&effects);
        }
    });
}

/// What an admitted and a denied request propagate, whatever the algorithm.
#[test]
fn a_request_is_one_effect_or_one_transaction_and_a_denial_none() {
    for_each_server(|bin| {
        let server = Server::options(bin).durable().start();
        let mut con = server.con();
        for algorithm in ALGORITHMS {
            ok(cmd!(con, "FLUSHALL"));
            let mut effects = Effects::of(&server);
            assert_eq!(algorithm.ask(&mut con, "k", LONG, 1)[0], 1);
            let admitted = effects.take();
            let key = only_key(&mut con);
            let end = expires_at(&mut con, &key).to_string();
            let names: Vec<_> = admitted.iter().map(|effect| effect[0].as_str()).collect();
            match algorithm.replicated[0] {
                &[one] => assert_eq!(names, [one]),
                several => assert_eq!(names, [&["MULTI"], several, &["EXEC"]].concat()),
            }
            if names == ["SET"] {
                let value: Vec<u8> = redis::cmd("GET").arg(&key).query(&mut con).expect("GET");
                let value = String::from_utf8_lossy(&value).into_owned();
                assert_eq!(admitted[0][1..], [key, value, "PXAT".into(), end]);
            }
            assert_eq!(algorithm.ask(&mut con, "k", LONG, 1)[0], 0);
            let denied = effects.take();
            let names: Vec<_> = denied.iter().map(|effect| effect[0].as_str()).collect();
            assert_eq!(names, algorithm.replicated[2], "{algorithm:?}: {denied:?}");
        }
    });
}

#[test]
fn the_fixed_window_propagates_set_and_then_increments() {
    for_each_server(|bin| {
        let server = Server::options(bin).durable().start();
        let mut con = server.con();
        let mut effects = Effects::of(&server);
        let mut ask = |cost| {
            let [allowed, ..] = FIXED.ask_for(&mut con, "k", LONG, 5, cost);
            let key = only_key(&mut con);
            (allowed, lines(effects.take()), expires_at(&mut con, &key))
        };
        let key = format!("k:{}", now_ms() / 1_000 / LONG);

        let (allowed, sent, end) = ask(1);
        assert_eq!((allowed, sent), (1, vec![format!("SET {key} 1 PXAT {end}")]));
        assert!((end - LONG * 1_000 - now_ms()).abs() < PATIENCE.as_millis() as i64, "{end}");
        assert_eq!(ask(1), (1, vec![format!("INCR {key}")], end));
        assert_eq!(ask(4), (0, vec![], end), "a smaller one may still pass");
        assert_eq!(ask(3), (1, vec![format!("INCRBY {key} 3")], end));
        assert_eq!(ask(1), (0, vec![format!("INCR {key}")], end));
        assert_eq!(ask(2), (0, vec![format!("INCRBY {key} 2")], end));

        ok(cmd!(server.con(), "PERSIST", &key));
        let (_, sent, end) = ask(1);
        assert_eq!(sent, [format!("PERSIST {key}"), format!("SET {key} 9 PXAT {end}")]);
        ok(cmd!(server.con(), "SET", &key, 3));
        let (allowed, sent, end) = ask(3);
        assert_eq!((allowed, sent), (0, vec![format!("SET {key} 3"), format!("PEXPIREAT {key} {end}")]));
    });
}

#[test]
fn the_sliding_log_propagates_what_it_adds_and_prunes() {
    for_each_server(|bin| {
        let server = Server::options(bin).durable().start();
        let mut con = server.con();
        let mut effects = Effects::of(&server);
        let window = 3_600_000;
        let mut ask = |cost| {
            let [allowed, ..] = SLIDING.ask_for(&mut con, "k", "1h", 5, cost);
            (allowed, effects.take())
        };
        // ZADD k score member …; the member begins with the score, which is the time of the call.
        let assert_added = |add: &[String], count: usize| {
            assert_eq!(add[..2], ["ZADD", "k"]);
            let score = add[2].clone();
            let pairs: Vec<_> = add[2..].chunks(2).collect();
            assert_eq!(pairs.len(), count);
            assert!(
                pairs.iter().all(|pair| pair[0] == score && pair[1].starts_with(&format!("{score}-0."))),
                "{add:?}"
            );
            score.parse::<i64>().expect("a score")
        };
        // PEXPIREAT two windows after the time of the call.
        let assert_expires = |expire: &[String], now: i64| {
            assert_eq!(expire, ["PEXPIREAT", "k", &(now + 2 * window).to_string()]);
        };
        let assert_pruned = |sent: &[String]| {
            assert_eq!(sent[..3], ["ZREMRANGEBYSCORE", "k", "0"]);
            let through: i64 = sent[3].parse().expect("a score");
            assert!((now_ms() - window - through) < PATIENCE.as_millis() as i64, "{through}");
        };

        let (allowed, sent) = ask(1);
        let [multi, add, expire, exec] = sent.as_slice() else { panic!("{sent:?}") };
        assert_eq!((allowed, multi.join(" "), exec.join(" ")), (1, "MULTI".into(), "EXEC".into()));
        assert_expires(expire, assert_added(add, 1));
        // 1.5 windows are left: the expiry stays as it is, on the master and on replicas.
        let (allowed, sent) = ask(3);
        let [add] = sent.as_slice() else { panic!("{sent:?}") };
        assert_eq!(allowed, 1);
        assert_added(add, 3);
        assert_eq!(ask(2), (0, vec![]));
        for left in [2 * window - 1_000, window * 3 / 2 + PATIENCE.as_millis() as i64] {
            ok(cmd!(server.con(), "PEXPIRE", "k", left));
            let end = expires_at(&mut server.con(), "k");
            assert_eq!(ask(2).1.len(), 1, "only the PEXPIRE of the client is sent");
            assert_eq!(expires_at(&mut server.con(), "k"), end);
        }
        // Less is left: a denial sets the expiry too.
        for left in [window * 3 / 2 - 1, 10_000] {
            ok(cmd!(server.con(), "PEXPIRE", "k", left));
            let begin = now_ms();
            let (allowed, sent) = ask(2);
            assert_eq!((allowed, sent.len()), (0, 2), "{sent:?}");
            let end = expires_at(&mut server.con(), "k");
            assert_expires(&sent[1], end - 2 * window);
            assert!((begin - 1..=now_ms()).contains(&(end - 2 * window)), "{end}");
        }
        // With entries that have left the window: denied.
        ok(cmd!(server.con(), "ZADD", "k", 5, "old"));
        let (allowed, sent) = ask(2);
        assert_eq!((allowed, sent.len()), (0, 2), "{sent:?}");
        assert_pruned(&sent[1]);
        // And admitted.
        ok(cmd!(server.con(), "ZADD", "k", 5, "old"));
        let (allowed, sent) = ask(1);
        let [_, multi, prune, add, exec] = sent.as_slice() else { panic!("{sent:?}") };
        assert_eq!((allowed, multi.join(" "), exec.join(" ")), (1, "MULTI".into(), "EXEC".into()));
        assert_pruned(prune);
        assert_added(add, 1);
        // If no entry is left, pruning deletes the key, and its expiry with it.
        ok(cmd!(server.con(), "DEL", "k"));
        ok(cmd!(server.con(), "ZADD", "k", 5, "old"));
        ok(cmd!(server.con(), "PEXPIRE", "k", 2 * window));
        let (allowed, sent) = ask(1);
        let [_, _, _, multi, prune, add, expire, exec] = sent.as_slice() else { panic!("{sent:?}") };
        assert_eq!((allowed, multi.join(" "), exec.join(" ")), (1, "MULTI".into(), "EXEC".into()));
        assert_pruned(prune);
        assert_expires(expire, assert_added(add, 1));
    });
}

#[test]
fn in_a_transaction_and_in_a_script_the_effects_go_as_one() {
    const SCRIPT: &str = "redis.call(ARGV[1], 'k', ARGV[2], 9) redis.call(ARGV[1], 'k', ARGV[2], 9)";
    for_each_server(|bin| {
        let server = Server::options(bin).durable().start();
        let mut con = server.con();
        for algorithm in ALGORITHMS {
            let mut effects = Effects::of(&server);
            let request = || algorithm.request("k", LONG, 9, 1);
            let mut transaction = redis::pipe();
            transaction.atomic().add_command(request()).add_command(request()).exec(&mut con).expect("EXEC");
            let by_exec = effects.take();
            ok(cmd!(con, "FLUSHALL"));
            effects.take();
            ok(cmd!(con, "EVAL", SCRIPT, 0, algorithm.command, LONG));
            let by_script = effects.take();
            ok(cmd!(con, "FLUSHALL"));
            for sent in [by_exec, by_script] {
                let names: Vec<_> = sent.iter().map(|effect| effect[0].as_str()).collect();
                let [first, later, _] = algorithm.replicated;
                assert_eq!(names, [&["MULTI"], first, later, &["EXEC"]].concat(), "{algorithm:?}");
            }
        }
    });
}

#[test]
fn a_replica_refuses_to_charge() {
    for_each_server(|bin| {
        let master = Server::start(bin);
        let replica = Server::options(bin).replica_of(&master).start();
        for algorithm in ALGORITHMS {
            algorithm.ask(&mut master.con(), algorithm.command, LONG, 1);
        }
        wait_for_replica(&master, &replica);
        let before = digest(&mut replica.con());
        for algorithm in ALGORITHMS {
            for key in [algorithm.command, "another"] {
                let refused = err(cmd!(replica.con(), algorithm.command, key, LONG, 1));
                assert_eq!(refused, "READONLY You can't write against a read only replica.");
            }
        }
        assert_eq!(digest(&mut replica.con()), before);
        assert_eq!(digest(&mut master.con()), before);
    });
}

#[test]
fn a_replica_answers_a_look_as_its_master() {
    for_each_server(|bin| {
        let master = Server::start(bin);
        let replica = Server::options(bin).replica_of(&master).start();
        let mut con = master.con();
        for algorithm in ALGORITHMS {
            algorithm.ask_for(&mut con, algorithm.command, LONG, 3, 2);
        }
        wait_for_replica(&master, &replica);
        let before = digest(&mut replica.con());
        for algorithm in ALGORITHMS {
            for (cost, allowed) in [(1, 1), (2, 0)] {
                let look = |server: &Server| {
                    let mut look = redis::cmd("RL.PEEK");
                    look.arg(algorithm.word()).arg(algorithm.command).arg(LONG).arg(3).arg("COST").arg(cost);
                    look.query::<[i64; 3]>(&mut server.con()).expect("RL.PEEK")
                };
                assert_eq!(look(&replica)[0], allowed, "{algorithm:?}");
                assert_eq!(look(&replica)[..2], look(&master)[..2], "{algorithm:?}");
            }
            for (word, rest) in [
                ("RL.REFUND", &["3"][..]),
                ("RL.SETTLE", &["3", "RESERVED", "1", "ACTUAL", "2"]),
                ("RL.SETTLE", &["3", "RESERVED", "1", "ACTUAL", "1"]),
                ("RL.RESET", &[]),
            ] {
                let mut command = redis::cmd(word);
                command.arg(algorithm.word()).arg(algorithm.command).arg(LONG).arg(rest);
                assert!(err(command.query(&mut replica.con())).starts_with("READONLY "), "{word}");
            }
        }
        assert_eq!(digest(&mut replica.con()), before);
        assert_eq!(digest(&mut con), before);
    });
}

#[test]
fn a_promoted_replica_goes_on_where_the_master_stopped() {
    const LIMIT: i64 = 7;
    const BEFORE: i64 = 3;
    for_each_server(|bin| {
        let mut master = Server::start(bin);
        let replica = Server::options(bin).replica_of(&master).start();
        wait_for_replica(&master, &replica);
        for algorithm in ALGORITHMS {
            for _ in 0..BEFORE {
                assert_eq!(algorithm.ask(&mut master.con(), algorithm.command, LONG, LIMIT)[0], 1);
            }
        }
        wait_for_replica(&master, &replica);
        master.kill();
        let mut con = replica.con();
        ok(cmd!(con, "REPLICAOF", "NO", "ONE"));
        for algorithm in ALGORITHMS {
            let mut ask = || algorithm.ask(&mut con, algorithm.command, LONG, LIMIT)[0];
            let allowed: Vec<_> = (0..LIMIT).map(|_| ask()).collect();
            let expected: Vec<_> = (0..LIMIT).map(|at| i64::from(at < LIMIT - BEFORE)).collect();
            assert_eq!(allowed, expected, "{algorithm:?}");
        }
    });
}

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
        for algorithm in ALGORITHMS {
            assert_eq!(algorithm.ask_for(&mut con, algorithm.command, LONG, LIMIT, 2)[0], 1);
        }
        wait_for_replica(&master, &replica);

        // The link is down while more is written than the backlog holds.
        let mut looker = replica.con();
        ok(cmd!(looker, "REPLICAOF", "127.0.0.1", 1));
        for algorithm in ALGORITHMS {
            assert_eq!(algorithm.ask_for(&mut con, algorithm.command, LONG, LIMIT, 3)[0], 1);
        }
        for n in 0..KEYS {
            ok(cmd!(con, "SET", format!("fill:{n}"), "y".repeat(1_000)));
        }
        ok(cmd!(looker, "REPLICAOF", "127.0.0.1", master.port()));
        let loads = eventually(PATIENCE, || info(&mut looker, "async_loading") == "1");
        assert!(loads, "no load beside what is there:\n{}", replica.log());
        let remaining = |con: &mut Connection, algorithm: &Algorithm| {
            let arguments = [algorithm.word(), algorithm.command, &LONG.to_string(), &LIMIT.to_string(), "FULL"];
            full_of(con, "RL.PEEK", &arguments).remaining
        };
        for algorithm in ALGORITHMS {
            assert_eq!(remaining(&mut looker, algorithm), LIMIT - 2 - 1, "{algorithm:?}: what it had before");
        }
        assert_eq!(info(&mut looker, "async_loading"), "1", "the load was over too early to see anything");
        ok(cmd!(looker, "CONFIG", "SET", "key-load-delay", 0));
        wait_for_replica(&master, &replica);
        for algorithm in ALGORITHMS {
            assert_eq!(remaining(&mut looker, algorithm), LIMIT - 5 - 1, "{algorithm:?}: what the master has");
        }
        assert_eq!(digest(&mut replica.con()), digest(&mut con));
    });
}
