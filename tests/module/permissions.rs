//! The counter of FIXED has another key than the one that a client names. A user needs permission for both, in every
//! command that takes FIXED, as for the INCR of the script.

use crate::support::*;
use redis::{Connection, Value};

/// The number of the window, which is the end of the counter's name.
const BUCKET: i64 = 42;

/// A window of which number 42 is the current one, and stays so for a year.
fn window_of_bucket() -> String {
    let window = format!("{}ms", now_ms() / BUCKET);
    let name = FIXED.state_key(b"user", (now_ms() / BUCKET).unsigned_abs(), now_ms().unsigned_abs());
    assert_eq!(name, b"user:42");
    window
}

/// Every call that reads or changes the counter `user:42` for the key `user`. The first [`READS`] of them only read.
fn calls(window: &str) -> Vec<Vec<String>> {
    [
        format!("RL.PEEK FIXED user {window} 5"),
        format!("RL.PEEK FIXED user {window} 5 COST 6 FULL"),
        format!("RL.PEEK FIXED user {window} 5 HEADERS"),
        format!("RL.FIXED user {window} 5"),
        format!("RL.FIXED user {window} 5 COST 2 FULL"),
        format!("RL.FIXED user {window} 0"),
        format!("RL.MULTI 1 FIXED user {window} 5"),
        format!("RL.MULTI 2 TOKEN user {window} 5 FIXED user {window} 5 FULL"),
        format!("RL.MULTI 2 FIXED user {window} 5 TOKEN user {window} 5 HEADERS"),
        format!("RL.REFUND FIXED user {window} 5"),
        format!("RL.REFUND FIXED user {window} 5 COST 3"),
        format!("RL.SETTLE FIXED user {window} 5 RESERVED 1 ACTUAL 2"),
        format!("RL.SETTLE FIXED user {window} 5 RESERVED 2 ACTUAL 1"),
        format!("RL.RESET FIXED user {window}"),
    ]
    .iter()
    .map(|call| call.split(' ').map(str::to_owned).collect())
    .collect()
}

const READS: usize = 3;

/// How a client can send a command.
const WAYS: [&str; 3] = ["alone", "EXEC", "EVAL"];

fn send(con: &mut Connection, way: &str, call: &[String]) -> Reply {
    let command = redis::cmd(&call[0]).arg(&call[1..]).to_owned();
    match way {
        "alone" => command.query(con),
        "EXEC" => {
            ok(cmd!(*con, "MULTI"));
            assert_eq!(ok(command.query(con)), Value::SimpleString("QUEUED".into()), "{call:?}");
            let [reply]: [Value; 1] = read(redis::cmd("EXEC").query(con)?);
            Ok(reply)
        }
        "EVAL" => {
            const SCRIPT: &str = "return redis.pcall(unpack(ARGV))";
            redis::cmd("EVAL").arg(SCRIPT).arg(1).arg("user").arg(call).query(con)
        }
        way => panic!("no way to send a command: {way}"),
    }
}

/// A connection of a new user with these key patterns.
fn user(server: &Server, name: &str, patterns: &[&str]) -> Connection {
    ok(cmd!(server.con(), "ACL", "SETUSER", name, "on", ">secret", "resetkeys", "+@all", patterns));
    let mut con = server.con();
    ok(cmd!(con, "AUTH", name, "secret"));
    con
}

#[track_caller]
fn assert_refused(con: &mut Connection, root: &mut Connection, calls: &[Vec<String>]) {
    let before = (keys(root), digest(root));
    for call in calls {
        for way in WAYS {
            let text = err(send(con, way, call));
            assert!(text.contains("NOPERM"), "{way} {call:?}: {text}");
            assert_eq!((keys(root), digest(root)), before, "{way} {call:?}");
        }
    }
}

#[track_caller]
fn assert_allowed(con: &mut Connection, calls: &[Vec<String>]) {
    for call in calls {
        for way in WAYS {
            ok(send(con, way, call));
        }
    }
}

/// The reply is the same whatever the key holds: it does not tell whether the key exists.
#[test]
fn a_user_of_the_key_alone_has_no_access_to_its_counter() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut root = server.con();
        let calls = calls(&window_of_bucket());
        for (name, patterns) in [("exact", &["~user"][..]), ("similar", &["~user", "~user:41", "~user:4", "~user:42?"])]
        {
            let mut con = user(&server, name, patterns);
            for make in [&["SET", "user:42", "3"][..], &["SET", "user:42", "text"], &["RPUSH", "user:42", "x"]] {
                ok(cmd!(root, "DEL", "user:42"));
                assert_refused(&mut con, &mut root, &calls);
                ok(redis::cmd(make[0]).arg(&make[1..]).query(&mut root));
                assert_refused(&mut con, &mut root, &calls);
            }
        }
    });
}

#[test]
fn a_user_of_both_keys_has_access() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let calls = calls(&window_of_bucket());
        let users = [
            user(&server, "prefix", &["~user*"]),
            user(&server, "both", &["~user", "~user:42"]),
            user(&server, "rights", &["%RW~user", "%RW~user:*"]),
            user(&server, "all", &["allkeys"]),
            server.con(),
        ];
        for mut con in users {
            assert_allowed(&mut con, &calls);
            // The script's INCR would be allowed as well.
            ok(cmd!(con, "INCR", "user:42"));
        }
    });
}

#[test]
fn a_user_who_may_only_read_may_only_peek() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut root = server.con();
        let calls = calls(&window_of_bucket());
        let (reads, writes) = calls.split_at(READS);
        for make in [&["DEL", "user:42"][..], &["SET", "user:42", "3"]] {
            ok(redis::cmd(make[0]).arg(&make[1..]).query(&mut root));
            // The right for the counter decides, with every right for the key itself.
            let mut reader = user(&server, "reader", &["~user", "%R~user:42"]);
            assert_allowed(&mut reader, reads);
            assert_refused(&mut reader, &mut root, writes);
            let mut writer = user(&server, "writer", &["~user", "%W~user:42"]);
            assert_refused(&mut writer, &mut root, &calls);
            // A user who may read both keys and write none.
            let mut both = user(&server, "both", &["%R~user*"]);
            for call in reads {
                ok(redis::cmd(&call[0]).arg(&call[1..]).query(&mut both));
            }
            for call in writes {
                let text = err(redis::cmd(&call[0]).arg(&call[1..]).query(&mut both));
                assert!(text.starts_with("NOPERM "), "{call:?}: {text}");
            }
        }
        assert_eq!(ok(cmd!(root, "GET", "user:42")), bytes("3"));
    });
}

/// A selector of another command does not grant the key of the counter.
#[test]
fn one_selector_grants_the_command_and_the_key_of_the_counter() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut root = server.con();
        ok(cmd!(root, "SET", "user:42", "3"));
        let mut con = user(&server, "u", &[]);
        for call in calls(&window_of_bucket()) {
            let command = call[0].to_lowercase();
            let of_key = format!("(+{command} +eval ~user)");
            let with_counter = format!("(+{command} +eval ~user ~user:42)");
            let other = format!("(+@all -{command} ~user:*)");
            for (selectors, allowed) in [
                (vec![of_key.as_str()], false),
                (vec![&of_key, "(+get ~user:*)"], false),
                (vec![&of_key, &other], false),
                (vec!["(+get ~user:*)", &of_key, &other], false),
                (vec![&with_counter], true),
                (vec!["(+get ~user:*)", &with_counter], true),
            ] {
                ok(cmd!(root, "ACL", "SETUSER", "u", "-@all", "+multi", "+exec", "clearselectors", selectors.clone()));
                if allowed {
                    for way in WAYS {
                        ok(send(&mut con, way, &call));
                        ok(cmd!(root, "SET", "user:42", "3"));
                        ok(cmd!(root, "DEL", "user"));
                    }
                } else {
                    assert_refused(&mut con, &mut root, std::slice::from_ref(&call));
                }
            }
        }
    });
}

/// A permission holds as of the call, not of the connection or of an earlier call.
#[test]
fn a_permission_that_is_taken_away_ends_at_once() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut root = server.con();
        let calls = calls(&window_of_bucket());
        let mut con = user(&server, "u", &["~user*"]);
        for _ in 0..3 {
            ok(cmd!(root, "ACL", "SETUSER", "u", "resetkeys", "~user*"));
            assert_allowed(&mut con, &calls);
            ok(cmd!(root, "ACL", "SETUSER", "u", "resetkeys", "~user"));
            assert_refused(&mut con, &mut root, &calls);
        }
    });
}

/// The other algorithms keep their state at the key that the client names.
#[test]
fn the_other_algorithms_need_permission_for_the_key_alone() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = user(&server, "exact", &["~user"]);
        for algorithm in ALGORITHMS.iter().filter(|algorithm| algorithm.name != FIXED.name) {
            let word = algorithm.word();
            ok(cmd!(con, "DEL", "user"));
            for way in WAYS {
                for call in [
                    format!("RL.{word} user 60 5"),
                    format!("RL.MULTI 1 {word} user 60 5"),
                    format!("RL.PEEK {word} user 60 5"),
                    format!("RL.REFUND {word} user 60 5"),
                    format!("RL.RESET {word} user 60"),
                ] {
                    let call: Vec<String> = call.split(' ').map(str::to_owned).collect();
                    ok(send(&mut con, way, &call));
                }
            }
        }
    });
}

/// In a cluster the counter has the key as its hash tag.
#[test]
fn in_a_cluster_the_name_of_the_counter_is_checked_as_it_is_there() {
    for_each_server(|bin| {
        let cluster = Cluster::start(bin, 1, |options| options);
        let server = &cluster.nodes[0];
        let mut root = server.con();
        let calls = calls(&window_of_bucket());
        for patterns in [&["~user"][..], &["~user", "~user:42"]] {
            let mut con = user(server, "u", patterns);
            assert_refused(&mut con, &mut root, &calls);
        }
        let mut con = user(server, "u", &["~user", "~{user}:42"]);
        assert_allowed(&mut con, &calls);
    });
}
