//! A server that is killed while it works, again and again, remembers every request it has answered. (What each way
//! to disk keeps is in tests/module/persistence.rs.)

use std::thread;
use std::time::{Duration, Instant};

use redis::{Connection, Value};

use crate::cmd;
use crate::support::{Options, PATIENCE, Random, Server, digest, eventually, for_each_server, info, ok};
use crate::{ALGORITHMS, LONG, assert_sound, each, remaining, report};

const CLIENTS: u64 = 4;
const LIMIT: u64 = 1_000_000;

/// What was answered: of each algorithm alone, and of all of them at once.
#[derive(Clone, Copy, Default)]
struct Answered {
    alone: [u64; ALGORITHMS.len()],
    at_once: u64,
}

/// The keys that are asked alone, and those that are asked all at once only.
fn key(algorithm: &str, at_once: bool) -> String {
    format!("{}:{algorithm}", if at_once { "all" } else { "one" })
}

/// Asks until the server is gone.
fn ask_until_the_end(mut con: Connection, seed: u64) -> Answered {
    let mut random = Random::new(seed);
    let mut answered = Answered::default();
    loop {
        let asked = random.below(ALGORITHMS.len() as u64 + 1) as usize;
        let outcome = if let Some(algorithm) = ALGORITHMS.get(asked) {
            let mut request = redis::cmd(&format!("RL.{algorithm}"));
            request.arg(key(algorithm, false)).arg(LONG).arg(LIMIT).query(&mut con).map(|[allowed, _, _]: [u64; 3]| {
                answered.alone[asked] += allowed;
            })
        } else {
            let mut request = redis::cmd("RL.MULTI");
            request.arg(ALGORITHMS.len());
            for algorithm in ALGORITHMS {
                request.arg(algorithm).arg(key(algorithm, true)).arg(LONG).arg(LIMIT);
            }
            request.query(&mut con).map(|(allowed, _): (u64, Value)| answered.at_once += allowed)
        };
        match outcome {
            Ok(()) => {}
            Err(error) if error.is_io_error() => return answered,
            Err(error) => panic!("{error}"),
        }
    }
}

fn taken(con: &mut Connection, algorithm: &str, at_once: bool) -> u64 {
    LIMIT - remaining(con, algorithm, &key(algorithm, at_once), LONG, LIMIT)
}

/// Kills the server under load until the time is up, and looks after each start.
fn crash_loop(options: Options, meanwhile: &[&[&str]]) -> (Server, u64, u64) {
    let mut server = options.start();
    let mut random = Random::new(5);
    // What is known to be kept.
    let mut kept = Answered::default();
    let end = Instant::now() + each();
    let mut rounds = 0;
    while Instant::now() < end || rounds < 2 {
        rounds += 1;
        let answered: Vec<Answered> = thread::scope(|scope| {
            let clients: Vec<_> = (0..CLIENTS)
                .map(|n| {
                    let con = server.con();
                    scope.spawn(move || ask_until_the_end(con, rounds * CLIENTS + n))
                })
                .collect();
            let mut con = server.con();
            let served = |con: &mut Connection| info(con, "total_commands_processed").parse::<u64>().expect("a count");
            let begin = served(&mut con);
            let some = 100 + random.below(400);
            assert!(eventually(PATIENCE, || served(&mut con) > begin + some), "no load");
            for command in meanwhile {
                // One may be under way.
                let _ = redis::cmd(command[0]).arg(&command[1..]).query::<Value>(&mut con);
            }
            thread::sleep(Duration::from_millis(random.below(120)));
            server.kill();
            clients.into_iter().map(|client| client.join().expect("a client")).collect()
        });
        server.start_again();
        let mut con = server.con();
        for (at, algorithm) in ALGORITHMS.iter().enumerate() {
            kept.alone[at] += answered.iter().map(|answered| answered.alone[at]).sum::<u64>();
            let found = taken(&mut con, algorithm, false);
            // Each client may have asked once more, and was not answered.
            let most = kept.alone[at] + CLIENTS;
            assert!(
                (kept.alone[at]..=most).contains(&found),
                "{algorithm}: {found} kept of {} answered",
                kept.alone[at]
            );
            kept.alone[at] = found;
        }
        kept.at_once += answered.iter().map(|answered| answered.at_once).sum::<u64>();
        let found = ALGORITHMS.map(|algorithm| taken(&mut con, algorithm, true));
        assert!(found.iter().all(|&of_one| of_one == found[0]), "half of a request was kept: {found:?}");
        assert!(
            (kept.at_once..=kept.at_once + CLIENTS).contains(&found[0]),
            "{} kept of {} answered",
            found[0],
            kept.at_once
        );
        kept.at_once = found[0];
    }
    assert_sound(&mut server);
    (server, rounds, kept.alone.iter().sum::<u64>() + kept.at_once)
}

/// The files mean the same to a server that does not know the module.
fn assert_readable_without_the_module(server: &mut Server) {
    let before = digest(&mut server.con());
    server.kill();
    server.start_again_with(Options::without_module);
    assert_eq!(digest(&mut server.con()), before);
    let mut con = server.con();
    let keys: Vec<String> = redis::cmd("KEYS").arg("*").query(&mut con).expect("KEYS");
    assert_eq!(keys.len(), 2 * ALGORITHMS.len(), "{keys:?}");
    for key in keys {
        let ttl: i64 = redis::cmd("PTTL").arg(&key).query(&mut con).expect("PTTL");
        assert!(ttl > 0, "{key} never ends");
    }
}

#[test]
fn kill_9_in_a_loop_loses_nothing_answered() {
    for_each_server(|bin| {
        let (mut server, rounds, requests) = crash_loop(Server::options(bin).durable(), &[]);
        assert_readable_without_the_module(&mut server);
        report(&format!("killed {rounds} times, {requests} requests kept"));
    });
}

#[test]
fn kill_9_loses_nothing_answered_while_the_aof_is_rewritten_and_an_rdb_is_saved() {
    for_each_server(|bin| {
        // They wait for one another, so that a kill meets now the one and now the other.
        let options = Server::options(bin).durable().set("save", "1 10");
        let (mut server, rounds, requests) = crash_loop(options, &[&["BGREWRITEAOF"], &["BGSAVE", "SCHEDULE"]]);
        // And to the end once.
        ok(cmd!(server.con(), "BGREWRITEAOF"));
        let mut con = server.con();
        assert!(eventually(PATIENCE, || info(&mut con, "aof_rewrite_in_progress") == "0"
            && info(&mut con, "aof_rewrite_scheduled") == "0"));
        assert_readable_without_the_module(&mut server);
        report(&format!("killed {rounds} times, {requests} requests kept"));
    });
}
