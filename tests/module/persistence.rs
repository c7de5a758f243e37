//! What was answered is on disk: by AOF and RDB, through shutdown and kill, and for a server without the module too.

use std::fs;
use std::thread;
use std::time::Duration;

use crate::support::*;
use redis::Connection;

/// Brings everything to disk and ends the server.
type End = fn(&mut Server);

/// The ways to disk.
const WAYS: &[(&str, End)] = &[
    ("AOF as written", |server| server.kill()),
    ("AOF rewritten in commands", |server| {
        ok(cmd!(server.con(), "CONFIG", "SET", "aof-use-rdb-preamble", "no"));
        rewrite(server);
    }),
    ("AOF rewritten with a preamble", rewrite),
    ("RDB", |server| server.shutdown("SAVE")),
];

fn rewrite(server: &mut Server) {
    server.rewrite_aof();
    server.kill();
}

/// For an RDB to be read, there must be no AOF.
fn from_files(way: &str, options: Options) -> Options {
    options.set("appendonly", if way == "RDB" { "no" } else { "yes" })
}

fn expiries(con: &mut Connection) -> Vec<(String, i64)> {
    keys(con).into_iter().map(|key| (key.clone(), expires_at(con, &key))).collect()
}

#[test]
fn every_way_to_disk_and_back_keeps_everything_with_and_without_the_module() {
    for_each_server(|bin| {
        for mut random in randoms() {
            for (way, end) in WAYS {
                let mut server = Server::options(bin).durable().start();
                mixed_load(&mut server.con(), &mut random, &["1h", "1d"], 500);
                let before = digest(&mut server.con());
                let expected = expiries(&mut server.con());
                assert!(expected.len() >= 3 * ALGORITHMS.len(), "{expected:?}");
                end(&mut server);

                server.start_again_with(|options| from_files(way, options));
                assert_eq!(digest(&mut server.con()), before, "{way}");
                assert_eq!(expiries(&mut server.con()), expected, "{way}");
                // The limits go on from there.
                mixed_load(&mut server.con(), &mut random, &["1h", "2h"], 500);
                let before = digest(&mut server.con());
                let expected = expiries(&mut server.con());
                end(&mut server);

                server.start_again_with(|options| from_files(way, options).without_module());
                assert_eq!(digest(&mut server.con()), before, "{way}");
                assert_eq!(expiries(&mut server.con()), expected, "{way}");
                assert!(err(cmd!(server.con(), "RL.FIXED", "k", 1, 1)).starts_with("ERR unknown command"));
            }
        }
    });
}

/// A server that is killed while it writes leaves half of a call in the file. Nothing of it is done, also not later.
#[test]
fn half_of_a_call_in_the_append_only_file_is_never_done() {
    for_each_server(|bin| {
        let mut server = Server::options(bin).durable().start();
        let call = |con: &mut Connection| {
            ok(cmd!(*con, "RL.MULTI", 2, "WINDOW", "a", LONG, 9, "WINDOW", "b", LONG, 9));
        };
        let counted = |con: &mut Connection| read::<[i64; 2]>(ok(cmd!(*con, "MGET", "a", "b")));
        call(&mut server.con());
        call(&mut server.con());
        server.kill();
        let files = fs::read_dir(server.dir().join("appendonlydir")).expect("files").map(|file| file.expect("a file"));
        let paths = files.map(|file| file.path());
        let path = paths.filter(|path| path.to_string_lossy().ends_with(".incr.aof")).max().expect("a file");
        let text = fs::read(&path).expect("a text");
        let last_command = text.strip_suffix(b"*1\r\n$4\r\nEXEC\r\n").expect("the end of a transaction");
        fs::write(&path, &last_command[..last_command.len() - 3]).expect("written");
        server.start_again();
        assert_eq!(counted(&mut server.con()), [1, 1]);
        call(&mut server.con());
        server.kill();
        server.start_again();
        assert_eq!(counted(&mut server.con()), [2, 2]);
    });
}

/// A server killed under load remembers each request it has answered, and none that it was not asked.
#[test]
fn kill_9_loses_nothing_answered() {
    const LIMIT: i64 = 1_000_000;
    const CLIENTS: i64 = 4;
    for_each_server(|bin| {
        let mut server = Server::options(bin).durable().start();
        let mut answered = vec![0; ALGORITHMS.len()];
        for _ in 0..3 {
            let counts = thread::scope(|scope| {
                let clients: Vec<_> = (0..CLIENTS)
                    .map(|_| {
                        let con = server.con();
                        scope.spawn(|| ask_until_the_end(con, LIMIT))
                    })
                    .collect();
                // Some hundred requests, whatever the disk.
                let mut con = server.con();
                let begin = served(&mut con);
                assert!(eventually(PATIENCE, || served(&mut con) > begin + 500), "no load");
                server.kill();
                clients.into_iter().map(|client| client.join().expect("a client")).collect::<Vec<_>>()
            });
            server.start_again();
            for (at, algorithm) in ALGORITHMS.iter().enumerate() {
                answered[at] += counts.iter().map(|counts| counts[at]).sum::<i64>();
                // Asked by a request that is counted.
                let kept = LIMIT - algorithm.remaining(&mut server.con(), algorithm.command, LONG, LIMIT) - 1;
                let asked = answered[at] + CLIENTS;
                assert!(
                    (answered[at]..=asked).contains(&kept),
                    "{algorithm:?}: answered {}, asked at most {asked}, kept {kept}",
                    answered[at]
                );
                answered[at] = kept + 1;
            }
        }
    });
}

fn served(con: &mut Connection) -> i64 {
    info(con, "total_commands_processed").parse().expect("a count")
}

/// How many were allowed of each algorithm until the server was gone.
fn ask_until_the_end(mut con: Connection, limit: i64) -> Vec<i64> {
    let mut allowed = vec![0; ALGORITHMS.len()];
    loop {
        for (count, algorithm) in allowed.iter_mut().zip(ALGORITHMS) {
            match algorithm.request(algorithm.command, LONG, limit, 1).query::<[i64; 3]>(&mut con) {
                Ok(reply) => *count += reply[0],
                Err(error) if error.is_io_error() => return allowed,
                Err(error) => panic!("{algorithm:?}: {error}"),
            }
        }
    }
}

#[test]
fn a_thousand_denials_do_not_grow_the_aof() {
    for_each_server(|bin| {
        let server = Server::options(bin).durable().start();
        let mut con = server.con();
        for algorithm in ALGORITHMS {
            assert_eq!(algorithm.ask(&mut con, algorithm.command, LONG, 1)[0], 1);
            let size = server.aof_size();
            let mut denials = redis::pipe();
            for _ in 0..1_000 {
                denials.add_command(algorithm.request(algorithm.command, LONG, 1, 1));
            }
            let replies: Vec<[i64; 3]> = denials.query(&mut con).expect("denials");
            assert!(replies.iter().all(|reply| reply[0] == 0));
            let growth = server.aof_size() - size;
            if algorithm.counts_denials {
                // The fixed window counts its denials: an INCR each.
                assert!((20_000..100_000).contains(&growth), "{growth}");
            } else {
                assert_eq!(growth, 0, "{algorithm:?}");
            }
        }
    });
}

/// An expiry is a moment, not a span that begins anew with the server.
#[test]
fn a_window_that_ended_while_the_server_was_down_is_over() {
    for_each_server(|bin| {
        for (way, end) in WAYS {
            // One for a start with the module, one for a start without.
            let mut pair = [(); 2].map(|()| Server::options(bin).durable().start());
            let mut left = Vec::new();
            let mut over = 0;
            for server in &mut pair {
                let mut con = server.con();
                for algorithm in ALGORITHMS {
                    algorithm.ask(&mut con, &format!("{}:short", algorithm.command), "2s", 1);
                    algorithm.ask(&mut con, &format!("{}:long", algorithm.command), LONG, 1);
                }
                let (short, long): (Vec<_>, Vec<_>) =
                    expiries(&mut con).into_iter().partition(|(key, _)| key.contains(":short"));
                assert_eq!([short.len(), long.len()], [ALGORITHMS.len(); 2], "{short:?} {long:?}");
                over = over.max(short.iter().map(|(_, at)| at + 1).max().expect("a key"));
                left.push(long);
                end(server);
            }
            thread::sleep(Duration::from_millis(u64::try_from(over - now_ms()).unwrap_or(0)));
            pair[0].start_again_with(|options| from_files(way, options));
            pair[1].start_again_with(|options| from_files(way, options).without_module());
            for (server, left) in pair.iter().zip(left) {
                assert_eq!(expiries(&mut server.con()), left, "{way}");
            }
        }
    });
}
