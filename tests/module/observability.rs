//! What the server's own tools show of the commands: MONITOR, SLOWLOG, LATENCY, and INFO commandstats and errorstats.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use crate::support::*;
use redis::{Connection, Value};

/// Calls of every kind, and the commands that the module calls for them, in order. What it reads and writes itself is
/// no call: the effects that it replicates are in none of the tools.
const CALLS: [(&str, &[&str]); 21] = [
    ("RL.FIXED {k}fixed 60 5", &[]),
    ("RL.FIXED {k}fixed 60 5", &[]),
    ("RL.SLIDING {k}sliding 60 5", &[]),
    ("RL.SLIDING {k}sliding 60 5 COST 2", &[]),
    ("RL.SLIDING {k}sliding 60 5 FULL", &["ZRANGE"; 4]),
    ("RL.COUNTER {k}counter 60 5", &[]),
    ("RL.TOKEN {k}token 60 5", &[]),
    ("RL.TOKEN {k}token 60 5 HEADERS", &[]),
    ("RL.LEAKY {k}leaky 60 5", &[]),
    ("RL.GCRA {k}gcra 60 5", &[]),
    ("RL.ROLLING {k}rolling 60 5", &[]),
    ("RL.LEASE {k}lease 60 5 ID a", &[]),
    ("RL.LEASE {k}lease 90 5 ID a", &["ZADD"]),
    ("RL.RENEW {k}lease 120 a", &["ZADD"]),
    ("RL.RELEASE {k}lease a", &["ZREM"]),
    ("RL.MULTI 2 TOKEN {k}token 60 5 FIXED {k}fixed 60 5 FULL", &[]),
    ("RL.SHARE 2 TOKEN {k}token 60 5 FIXED {k}fixed 60 5 LINE", &[]),
    ("RL.PEEK TOKEN {k}token 60 5", &["GET"]),
    ("RL.REFUND SLIDING {k}sliding 60 5", &["ZREMRANGEBYRANK"]),
    ("RL.SETTLE TOKEN {k}token 60 5 RESERVED 1 ACTUAL 9", &[]),
    ("RL.RESET SLIDING {k}sliding 60", &[]),
];

fn words(call: &str) -> Vec<String> {
    call.split(' ').map(str::to_owned).collect()
}

fn names<'w>(calls: impl IntoIterator<Item = &'w Vec<String>>) -> Vec<&'w str> {
    calls.into_iter().map(|words| &*words[0]).collect()
}

/// A client that has sent MONITOR.
struct Monitor(BufReader<TcpStream>);

impl Monitor {
    fn of(server: &Server) -> Self {
        let mut stream = TcpStream::connect(("127.0.0.1", server.port())).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        stream.write_all(b"MONITOR\r\n").expect("MONITOR");
        let mut monitor = Self(BufReader::new(stream));
        assert_eq!(monitor.line(), "+OK");
        monitor
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).expect("a line");
        line.trim_end().to_owned()
    }

    /// The calls until now: whether a script made it, and its words.
    fn take(&mut self, con: &mut Connection) -> Vec<(bool, Vec<String>)> {
        ok(cmd!(*con, "ECHO", "end"));
        let mut calls = Vec::new();
        loop {
            let line = self.line();
            let (from, quoted) = line.split_once("] ").expect("a client and its call");
            let words: Vec<String> = quoted.trim_matches('"').split("\" \"").map(str::to_owned).collect();
            if words == ["ECHO", "end"] {
                return calls;
            }
            calls.push((from.ends_with(" lua"), words));
        }
    }
}

/// The words of the calls in the slow log, the oldest first.
fn slow_log(con: &mut Connection) -> Vec<Vec<String>> {
    let Value::Array(mut entries) = ok(cmd!(*con, "SLOWLOG", "GET", -1)) else { panic!("no entries") };
    entries.reverse();
    let words = |entry: Value| match entry {
        Value::Array(mut fields) => read(fields.swap_remove(3)),
        entry => panic!("not an entry: {entry:?}"),
    };
    entries.into_iter().map(words).collect()
}

/// The figures of a command in INFO commandstats: calls, failed_calls, rejected_calls.
fn stats(con: &mut Connection, command: &str) -> [u64; 3] {
    let text: String = redis::cmd("INFO").arg("commandstats").query(con).expect("INFO");
    let prefix = format!("cmdstat_{command}:");
    let Some(line) = text.lines().find_map(|line| line.strip_prefix(&prefix)) else { return [0; 3] };
    let figures: BTreeMap<_, _> = line.split(',').filter_map(|figure| figure.split_once('=')).collect();
    ["calls", "failed_calls", "rejected_calls"].map(|name| figures[name].parse().expect("a figure"))
}

/// The commands that INFO commandstats names.
fn counted(con: &mut Connection) -> Vec<String> {
    let text: String = redis::cmd("INFO").arg("commandstats").query(con).expect("INFO");
    let names = text.lines().filter_map(|line| line.strip_prefix("cmdstat_")?.split_once(':'));
    names.map(|(name, _)| name.to_owned()).collect()
}

fn error_count(con: &mut Connection, code: &str) -> u64 {
    let text: String = redis::cmd("INFO").arg("errorstats").query(con).expect("INFO");
    let prefix = format!("errorstat_{code}:count=");
    text.lines().find_map(|line| line.strip_prefix(&prefix)).map_or(0, |count| count.parse().expect("a count"))
}

/// MONITOR and the slow log have a call as it was sent, after the commands that it calls; INFO commandstats counts them. The
/// effects are calls on the replica alone.
#[test]
fn each_tool_shows_the_calls_and_what_they_call() {
    for_each_server(|bin| {
        let server = Server::options(bin).set("slowlog-log-slower-than", 0).start();
        let replica = Server::options(bin).replica_of(&server).start();
        wait_for_replica(&server, &replica);
        let (mut con, mut monitor) = (server.con(), Monitor::of(&server));
        ok(cmd!(con, "ZADD", "old", 1, "a"));
        for mut con in [server.con(), replica.con()] {
            ok(cmd!(con, "CONFIG", "RESETSTAT"));
        }
        ok(cmd!(con, "SLOWLOG", "RESET"));
        monitor.take(&mut con);
        let (mut logged, mut counts) = (Vec::new(), BTreeMap::<String, u64>::new());
        // In the case in which it was sent; a denial; and members that have left the window.
        let more = [("rl.token {k}token 60 0", &[][..]), ("RL.SLIDING old 60 5", &["ZREMRANGEBYSCORE"])];
        for (call, called) in CALLS.into_iter().chain(more) {
            ok(send(&mut con, call));
            let mut shown = monitor.take(&mut con);
            assert_eq!(shown.pop(), Some((false, words(call))));
            assert_eq!(names(shown.iter().map(|(_, words)| words)), called, "{call}");
            logged.extend(called.iter().map(|name| vec![(*name).to_owned()]));
            logged.push(words(call));
            *counts.entry(words(call)[0].to_uppercase()).or_default() += 1;
            // The server writes its own commands in lower case.
            called.iter().for_each(|name| *counts.entry(name.to_lowercase()).or_default() += 1);
        }
        let mut in_log = slow_log(&mut con);
        in_log.retain(|words| logged.iter().any(|logged| logged[0] == words[0]));
        assert_eq!(names(&in_log), names(&logged));
        assert!(logged.iter().filter(|call| call.len() > 1).all(|call| in_log.contains(call)), "{in_log:?}");
        for (command, calls) in &counts {
            assert_eq!(stats(&mut con, command), [*calls, 0, 0], "{command}");
        }
        wait_for_replica(&server, &replica);
        let on_replica = counted(&mut replica.con());
        for effect in ["set", "incr", "unlink"] {
            assert_eq!(stats(&mut con, effect), [0; 3], "{effect}");
            assert!(on_replica.iter().any(|name| name == effect), "{effect}: {on_replica:?}");
        }
        assert!(!on_replica.iter().any(|name| name.starts_with("RL.")), "{on_replica:?}");
        // A call with an error is shown. Of a script: it and its calls.
        monitor.take(&mut con);
        err(send(&mut con, "RL.TOKEN {k}token 60 x"));
        err(send(&mut con, "RL.TOKEN {k}token"));
        let wrong = ["RL.TOKEN {k}token 60 x", "RL.TOKEN {k}token"].map(|call| (false, words(call)));
        assert_eq!(monitor.take(&mut con), wrong);
        ok(cmd!(con, "EVAL", "return redis.call('RL.TOKEN',KEYS[1],60,5)", 1, "s"));
        let shown = monitor.take(&mut con);
        assert_eq!((shown.len(), &shown[1]), (2, &(true, words("RL.TOKEN s 60 5"))), "{shown:?}");
    });
}

#[test]
fn latency_is_that_of_each_command_by_name() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for _ in 0..3 {
            ok(send(&mut con, "RL.TOKEN token 60 2"));
        }
        err(send(&mut con, "RL.TOKEN token 60 x"));
        err(send(&mut con, "RL.TOKEN token"));
        // Calls that were executed, with denials and errors. Not what the server rejected.
        let reply = ok(cmd!(con, "LATENCY", "HISTOGRAM", "rl.token"));
        let Value::Array(reply) = reply else { panic!("no histogram: {reply:?}") };
        assert_eq!(reply[0], bytes("RL.TOKEN"));
        let Value::Array(histogram) = &reply[1] else { panic!("no histogram: {reply:?}") };
        assert_eq!(histogram[..2], [bytes("calls"), Value::Int(5)]);
        let text: String = redis::cmd("INFO").arg("latencystats").query(&mut con).expect("INFO");
        assert!(text.contains("latency_percentiles_usec_RL.TOKEN:p50="), "{text}");
        // The commands have the flag `fast` (commands.rs), which LATENCY LATEST goes by.
    });
}

/// A failed call got its error from the module, a rejected one from the server. A denial is neither.
#[test]
fn failed_and_rejected_calls() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut root = server.con();
        ok(cmd!(root, "ACL", "SETUSER", "limited", "on", ">secret", "~user", "+rl.token", "+rl.fixed", "+multi"));
        let mut limited = server.con();
        ok(cmd!(limited, "AUTH", "limited", "secret"));
        ok(cmd!(root, "RPUSH", "list", "x"));
        ok(cmd!(root, "SET", "text", "x"));
        ok(cmd!(root, "CONFIG", "RESETSTAT"));

        ok(send(&mut root, "RL.TOKEN user 60 0"));
        ok(send(&mut root, "RL.TOKEN user 60 5 COST 9"));
        assert_eq!(stats(&mut root, "RL.TOKEN"), [2, 0, 0], "denials");

        err(send(&mut root, "RL.TOKEN user 60 x"));
        err(send(&mut root, "RL.TOKEN text 60 5"));
        err(send(&mut root, "RL.TOKEN list 60 5"));
        assert_eq!(stats(&mut root, "RL.TOKEN"), [5, 3, 0]);
        assert_eq!([error_count(&mut root, "ERR"), error_count(&mut root, "WRONGTYPE")], [2, 1]);

        err(send(&mut root, "RL.TOKEN user"));
        assert!(err(send(&mut limited, "RL.TOKEN other 60 5")).starts_with("NOPERM "));
        assert_eq!(stats(&mut root, "RL.TOKEN"), [6, 4, 1]);
        // The server does not know the key of the counter, so the module looks at its permission.
        assert!(err(send(&mut limited, "RL.FIXED user 60 5")).starts_with("NOPERM "));
        assert_eq!(stats(&mut root, "RL.FIXED"), [1, 1, 0]);
        assert_eq!([error_count(&mut root, "ERR"), error_count(&mut root, "NOPERM")], [3, 2]);

        // The module decides at maxmemory, and too few replicas are the server's matter.
        ok(cmd!(root, "CONFIG", "SET", "maxmemory", 1));
        assert!(err(send(&mut root, "RL.TOKEN new 60 5")).starts_with("OOM "));
        ok(cmd!(root, "CONFIG", "SET", "maxmemory", 0));
        assert_eq!(stats(&mut root, "RL.TOKEN"), [7, 5, 1]);
        assert_eq!(error_count(&mut root, "OOM"), 1);
        ok(cmd!(root, "CONFIG", "SET", "min-replicas-to-write", 1));
        assert!(err(send(&mut root, "RL.TOKEN new 60 5")).starts_with("NOREPLICAS "));
        assert_eq!(stats(&mut root, "RL.TOKEN"), [7, 5, 2]);
        ok(send(&mut root, "RL.PEEK TOKEN new 60 5"));
        // INFO rl counts as errors what commandstats count as failed.
        assert_eq!(info(&mut root, "rl_token_errors"), "5");
    });
}
