//! The module comes and goes while it is in use: refused or done, never a crash. (Wrong arguments, named in the log, are
//! in tests/metadata.rs.)

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use redis::{Connection, Value};

use crate::support::{Server, err, for_each_server, module_path, ok};
use crate::{ALGORITHMS, Done, LONG, assert_sound, cmd, each, remaining, report};

/// Asks all the time, in every way there is, whether the module is there or not; how often it was.
fn ask_until(done: &AtomicBool, mut con: Connection, n: usize) -> u64 {
    let mut answered = 0;
    while !done.load(Ordering::Relaxed) {
        for algorithm in ALGORITHMS {
            // What a client asked last holds the module.
            ok(cmd!(con, "PING"));
            let key = format!("{n}:{algorithm}");
            let mut request = redis::cmd("EVAL");
            match n % 3 {
                0 => request = redis::cmd(&format!("RL.{algorithm}")),
                1 => {
                    request = redis::cmd("RL.PEEK");
                    request.arg(algorithm);
                }
                _ => {
                    let script = "return redis.call(ARGV[1], KEYS[1], ARGV[2], ARGV[3])";
                    request.arg(script).arg(1).arg(&key).arg(format!("RL.{algorithm}"));
                }
            }
            if n % 3 != 2 {
                request.arg(&key);
            }
            match request.arg(LONG).arg(100).query::<Value>(&mut con) {
                Ok(_) => answered += 1,
                Err(error) => {
                    let text = error.to_string().to_lowercase();
                    assert!(text.contains("unknown") && text.contains("command"), "{error}");
                }
            }
        }
    }
    answered
}

#[test]
fn loading_and_unloading_under_traffic_is_done_or_refused() {
    for_each_server(|bin| {
        let mut server = Server::options(bin).without_module().start();
        let path = module_path();
        let path = path.to_str().expect("a path");
        let done = AtomicBool::new(false);
        let (cycles, answered) = thread::scope(|scope| {
            let clients: Vec<_> = (0..6)
                .map(|n| {
                    let con = server.con();
                    let done = &done;
                    scope.spawn(move || ask_until(done, con, n))
                })
                .collect();
            let finish = Done(&done);
            let mut con = server.con();
            let end = Instant::now() + each();
            let mut cycles = 0;
            let mut refused = 0;
            while Instant::now() < end {
                ok(cmd!(con, "MODULE", "LOAD", path));
                err(cmd!(con, "MODULE", "LOAD", path));
                ok(cmd!(con, "RL.TOKEN", "k", LONG, 5));
                while let Err(error) = cmd!(con, "MODULE", "UNLOAD", "rl") {
                    assert!(error.to_string().contains("Error unloading module"), "{error}");
                    refused += 1;
                }
                err(cmd!(con, "MODULE", "UNLOAD", "rl"));
                cycles += 1;
            }
            assert!(refused > 0 && cycles > 0, "refused {refused} times of {cycles}");
            drop(finish);
            (cycles, clients.into_iter().map(|client| client.join().expect("a client")).sum::<u64>())
        });
        assert!(answered > 0);
        // What was counted is there still.
        ok(cmd!(server.con(), "MODULE", "LOAD", path));
        assert!(remaining(&mut server.con(), "SLIDING", "0:SLIDING", LONG, 100) < 100);
        assert_sound(&mut server);
        report(&format!("loaded and unloaded {cycles} times, {answered} requests answered between"));
    });
}

/// The server points to a command for as long as it is queued, or the last of a client, and would crash on one that is
/// gone.
#[test]
fn what_clients_still_hold_is_not_unloaded() {
    for_each_server(|bin| {
        let mut server = Server::options(bin).without_module().start();
        let path = module_path();
        let path = path.to_str().expect("a path");
        let mut con = server.con();
        for call in [&["RL.TOKEN", "k", "60", "5"][..], &["CL.THROTTLE", "c", "5", "5", "60"]] {
            let mut other = server.con();
            for queued in [true, false] {
                ok(cmd!(con, "MODULE", "LOAD", path));
                if queued {
                    ok(cmd!(other, "MULTI"));
                }
                ok(redis::cmd(call[0]).arg(&call[1..]).query(&mut other));
                if queued {
                    // Not the last any more.
                    ok(cmd!(other, "PING"));
                }
                assert!(err(cmd!(con, "MODULE", "UNLOAD", "rl")).contains("rror unloading module"));
                assert!(server.log().contains("rl: not unloaded: "));
                if queued {
                    ok(cmd!(other, "EXEC"));
                } else {
                    ok(cmd!(other, "PING"));
                }
                ok(cmd!(con, "MODULE", "UNLOAD", "rl"));
                ok(cmd!(con, "CLIENT", "LIST"));
            }
        }
        assert_sound(&mut server);
    });
}
