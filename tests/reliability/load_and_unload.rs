//! The module is loaded while clients send requests, and is never unloaded again: a server may point to its commands
//! where the module cannot see it, and would crash. (Wrong arguments, named in the log, are in tests/module/metadata.rs.)

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use redis::{Connection, Value};

use crate::support::{Done, LONG, Server, cmd, counting_words, err, for_each_server, module_path, ok};
use crate::{assert_sound, each, report};

/// Sends requests in every way there is, whether the module is loaded or not, until it is done. Returns how many were
/// answered.
fn request_until(done: &AtomicBool, mut con: Connection, n: usize) -> u64 {
    const SCRIPT: &str = "return redis.call(ARGV[1], KEYS[1], ARGV[2], ARGV[3])";
    let mut answered = 0;
    let mut read = |reply: Value| match reply {
        Value::Array(_) => answered += 1,
        Value::ServerError(error) => {
            let text = format!("{error:?}").to_lowercase();
            // EXECABORT follows a command that could not be queued.
            let unknown = text.contains("unknown") && text.contains("command");
            assert!(unknown || text.contains("execabort"), "{error:?}");
        }
        Value::Nil | Value::Okay | Value::SimpleString(_) => {}
        other => panic!("{other:?}"),
    };
    while !done.load(Ordering::Relaxed) {
        for algorithm in counting_words() {
            let key = format!("{n}:{algorithm}");
            let command = format!("RL.{algorithm}");
            let mut requests = redis::pipe();
            match n % 4 {
                0 => requests.cmd(&command).arg(&key),
                1 => requests.cmd("RL.PEEK").arg(algorithm).arg(&key),
                2 => requests.cmd("EVAL").arg(SCRIPT).arg(1).arg(&key).arg(&command),
                // Held back behind a command that blocks. Some servers look up the commands of a pipeline before they
                // execute them, and crash on one that is gone by then.
                _ => requests.cmd("BLPOP").arg("none").arg(0.01).cmd(&command).arg(&key),
            };
            requests.arg(LONG).arg(100).ignore_errors();
            let replies: Vec<Value> = requests.query(&mut con).expect("replies");
            replies.into_iter().for_each(&mut read);
        }
    }
    answered
}

/// Requests of several clients go on while the module is loaded, fails to load, and is not unloaded.
#[test]
fn loading_under_traffic_is_done_and_unloading_refused() {
    const CLIENTS: usize = 8;
    for_each_server(|bin| {
        let path = module_path();
        let path = path.to_str().expect("a path");
        let end = Instant::now() + each();
        let (mut loads, mut failed, mut refused, mut answered) = (0, 0, 0, 0);
        while Instant::now() < end {
            let mut server = Server::options(bin).without_module().start();
            let done = AtomicBool::new(false);
            answered += thread::scope(|scope| {
                let clients: Vec<_> = (0..CLIENTS)
                    .map(|n| {
                        let con = server.con();
                        let done = &done;
                        scope.spawn(move || request_until(done, con, n))
                    })
                    .collect();
                let finish = Done(&done);
                let mut con = server.con();
                // The server unloads the module again for this one.
                for _ in 0..20 {
                    err(cmd!(con, "MODULE", "LOADEX", path, "CONFIG", "rl.no-such-setting", 1));
                    failed += 1;
                }
                ok(cmd!(con, "MODULE", "LOAD", path));
                loads += 1;
                let end = Instant::now() + Duration::from_millis(500);
                while Instant::now() < end {
                    err(cmd!(con, "MODULE", "LOAD", path));
                    assert!(err(cmd!(con, "MODULE", "UNLOAD", "rl")).contains("rror unloading module"));
                    refused += 1;
                }
                drop(finish);
                clients.into_iter().map(|client| client.join().expect("a client")).sum::<u64>()
            });
            let log = server.log();
            assert!(log.contains("<rl> not unloaded: ") && log.contains("restart the server"), "{log}");
            assert_sound(&mut server);
        }
        assert!(answered > 0 && refused > 0);
        report(&format!(
            "loaded {loads} times, {failed} loads failed, {refused} unloads refused, {answered} requests answered"
        ));
    });
}
