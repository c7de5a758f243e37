//! A panic in a command handler does not end the server: the client gets an error, and the log a line.
//!
//! The module here is built with the feature `panic-on-purpose`. A command panics when it opens a key whose name contains
//! `panic-on-opening`, and after it has written to a key whose name contains `panic-on-writing`.

use std::env;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use crate::cmd;
use crate::resp::{Client, Reply, call};
use crate::support::{Server, for_each_server, ok};
use crate::{ALGORITHMS, Done, each, report};

const INTERNAL: &[u8] = b"ERR internal error of the module rl, see the server's log";

fn panicking() -> PathBuf {
    let path = env::var_os("RL_PANICKING_MODULE").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/target/panic-on-purpose/debug/libredis_rl.so")),
        PathBuf::from,
    );
    assert!(path.exists(), "{} is missing: make reliability builds it", path.display());
    path
}

/// Every command, with a key that panics.
fn calls(place: &str) -> Vec<String> {
    let key = format!("panic-on-{place}");
    let mut calls = Vec::new();
    for algorithm in ALGORITHMS {
        for form in ["", " FULL", " HEADERS"] {
            calls.push(format!("RL.{algorithm} {key} 60 5{form}"));
            // The first and the last of several; the one that is fine is held open meanwhile.
            calls.push(format!("RL.MULTI 2 {algorithm} {key} 60 5 {algorithm} fine:{algorithm} 60 1000000{form}"));
            calls.push(format!("RL.MULTI 2 {algorithm} fine:{algorithm} 60 1000000 {algorithm} {key} 60 5{form}"));
        }
        if place == "opening" {
            calls.push(format!("RL.PEEK {algorithm} {key} 60 5 FULL"));
            calls.push(format!("RL.REFUND {algorithm} {key} 60 5"));
            calls.push(format!("RL.RESET {algorithm} {key} 60"));
        }
    }
    for name in ["RL.THROTTLE", "CL.THROTTLE"] {
        calls.push(format!("{name} {key} 5 5 60"));
    }
    calls
}

#[test]
fn a_panic_is_an_error_for_its_client_and_a_line_in_the_log() {
    let module = panicking();
    for_each_server(|bin| {
        let mut server = Server::options(bin).module_at(&module).start();
        let clients = [false, true].map(|resp3| Client::connect(&server, resp3));
        let mut panics = 0;
        for mut client in clients {
            for (place, text) in ["opening", "writing"]
                .into_iter()
                .flat_map(|place| calls(place).into_iter().map(move |text| (place, text)))
            {
                // What a panic on writing leaves is there to be opened again.
                client.call(&call(&["FLUSHALL"]));
                let words: Vec<&str> = text.split(' ').collect();
                assert_eq!(client.call(&call(&words)), Reply::Error(INTERNAL.into()), "{text}");
                // Exactly one reply: the next is that of the next command.
                assert_eq!(client.call(&call(&["ECHO", "next"])), Reply::Bulk(b"next".into()), "{text}");
                panics += 1;
                let line = format!("a command panicked, which is a bug: on purpose: panic-on-{place}");
                assert_eq!(server.log().matches("a command panicked, which is a bug").count(), panics, "{text}");
                assert!(server.log().contains(&line));
                // The same limits on another key are as ever.
                for algorithm in ALGORITHMS {
                    let reply = client.call(&call(&[&format!("RL.{algorithm}"), "fine:after", "60", "5"]));
                    assert!(
                        matches!(&reply, Reply::Array(parts) if parts[0] == Reply::Integer(1)) || text.contains("fine"),
                        "{text}: {reply:?}"
                    );
                    client.call(&call(&["DEL", "fine:after"]));
                }
            }
            // In a transaction and in a script as well.
            let mut replies = client.pipeline(&[
                call(&["MULTI"]),
                call(&["RL.TOKEN", "panic-on-opening", "60", "5"]),
                call(&["SET", "after", "1"]),
                call(&["EXEC"]),
            ]);
            let executed = Reply::Array(vec![Reply::Error(INTERNAL.into()), Reply::Simple(b"OK".into())]);
            assert_eq!(replies.pop(), Some(executed));
            let script = "return redis.pcall('RL.TOKEN', KEYS[1], 60, 5)['err']";
            let Reply::Bulk(text) = client.call(&call(&["EVAL", script, "1", "panic-on-opening"])) else {
                panic!("no text of an error");
            };
            assert!(text.starts_with(INTERNAL), "{}", text.escape_ascii());
            panics += 2;
        }
        assert!(server.is_running());
        let log = server.log();
        assert!(!log.contains("BUG REPORT"), "{log}");
    });
}

/// Many panics, with other clients served meanwhile: nothing is left over from any of them.
#[test]
fn a_server_lives_on_through_any_number_of_panics() {
    let module = panicking();
    for_each_server(|bin| {
        let mut server = Server::options(bin).module_at(&module).start();
        let done = AtomicBool::new(false);
        let panics = thread::scope(|scope| {
            let other = scope.spawn(|| {
                let mut con = server.con();
                let mut allowed = 0;
                while !done.load(Ordering::Relaxed) {
                    let reply: [i64; 3] = redis::cmd("RL.SLIDING")
                        .arg(&["fine", "1000000", "1000000000"])
                        .query(&mut con)
                        .expect("a reply");
                    assert_eq!(reply[..2], [1, allowed]);
                    allowed += 1;
                }
                allowed
            });
            let finish = Done(&done);
            let mut client = Client::connect(&server, true);
            let all = calls("opening");
            let end = Instant::now() + each();
            let mut panics = 0;
            while Instant::now() < end {
                for text in &all {
                    let words: Vec<&str> = text.split(' ').collect();
                    assert_eq!(client.call(&call(&words)), Reply::Error(INTERNAL.into()), "{text}");
                    panics += 1;
                }
            }
            drop(finish);
            assert!(other.join().expect("the other client") > 0);
            panics
        });
        assert!(server.is_running());
        ok(cmd!(server.con(), "PING"));
        report(&format!("{panics} panics"));
    });
}
