//! A panic in a command handler does not end the server: the client gets an error, and the log a line.
//!
//! The module here is built with the feature `panic-on-purpose`. A command panics when it opens a key whose name contains
//! `panic-on-opening`, and after it has written to a key whose name contains `panic-on-writing`.

use std::env;
use std::path::PathBuf;

use redis::{Connection, Value};

use crate::report;
use crate::support::{LONG, Server, bytes, call, counting_words, for_each_server, send};

const INTERNAL: &str = "ERR internal error of the module rl, see the server's log";

/// Every command, with a key that panics.
fn calls(place: &str) -> Vec<String> {
    let key = format!("panic-on-{place}");
    let mut calls = vec![format!("RL.THROTTLE {key} 5 5 60")];
    for algorithm in counting_words() {
        calls.push(format!("RL.{algorithm} {key} 60 5 FULL"));
        // The first and the last of several; the one that is fine is held open meanwhile.
        calls.push(format!("RL.MULTI 2 {algorithm} {key} 60 5 {algorithm} fine:{algorithm} {LONG} 1000000"));
        calls.push(format!("RL.MULTI 2 {algorithm} fine:{algorithm} {LONG} 1000000 {algorithm} {key} 60 5 HEADERS"));
        if place == "opening" {
            calls.push(format!("RL.PEEK {algorithm} {key} 60 5"));
            calls.push(format!("RL.REFUND {algorithm} {key} 60 5"));
            calls.push(format!("RL.RESET {algorithm} {key} 60"));
        }
    }
    calls
}

/// Replies to commands that are sent at once: the text of an error, or the value.
fn replies(con: &mut Connection, commands: &[&str]) -> Vec<Result<Value, String>> {
    let mut batch = redis::pipe();
    commands.iter().for_each(|words| _ = batch.add_command(call(words)));
    let replies: Vec<Value> = batch.ignore_errors().query(con).expect("replies");
    let text = |error: redis::ServerError| format!("{} {}", error.code(), error.details().unwrap_or_default());
    let replies = replies.into_iter().map(|reply| match reply {
        Value::ServerError(error) => Err(text(error)),
        value => Ok(value),
    });
    replies.collect()
}

#[test]
fn a_panic_is_an_error_for_its_client_and_a_line_in_the_log() {
    let module = env::var_os("RL_PANICKING_MODULE").map(PathBuf::from).expect("make reliability sets it");
    for_each_server(|bin| {
        let mut server = Server::options(bin).module_at(&module).start();
        let (mut panics, internal) = (0, || Err(INTERNAL.to_owned()));
        for mut con in [server.con(), server.con3()] {
            for text in calls("opening").into_iter().chain(calls("writing")) {
                // Exactly one reply: the next is that of the next command, and another key is as ever. What a panic on writing
                // leaves is there to be opened again.
                let three = replies(&mut con, &[&text, "ECHO next", "RL.SLIDING after 60 1000000", "FLUSHALL"]);
                assert_eq!(three[..2], [internal(), Ok(bytes("next"))], "{text}");
                assert!(matches!(&three[2], Ok(Value::Array(parts)) if parts[0] == Value::Int(1)), "{text}: {three:?}");
                panics += 1;
            }
            // In a transaction and in a script as well.
            let queued = ["MULTI", "RL.TOKEN panic-on-opening 60 5", "SET queued 1", "EXEC"];
            let executed = format!("{:?}", replies(&mut con, &queued).pop());
            assert!(executed.contains("internal error") && executed.contains("ok"), "{executed}");
            let script = "EVAL return(redis.pcall('RL.TOKEN',KEYS[1],60,5)['err']) 1 panic-on-opening";
            let text = format!("{:?}", send(&mut con, script).map(redis::from_redis_value::<String>));
            assert!(text.contains(INTERNAL), "{text}");
            panics += 2;
        }
        assert!(server.is_running());
        let log = server.log();
        assert_eq!(log.matches("a command panicked, which is a bug: on purpose: panic-on-").count(), panics, "{log}");
        assert!(!log.contains("BUG REPORT"), "{log}");
        report(&format!("{panics} panics"));
    });
}
