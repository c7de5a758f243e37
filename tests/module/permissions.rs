//! The counter of FIXED and the reservations of a limit have other keys than the one that a client names. A user needs
//! permission for them too, in every command. That a call needs its command and its key is in commands.rs.

use redis::{Connection, Value};

use crate::support::*;

/// A window of which number 1 is the current one, until 2033.
const WINDOW: &str = "1000000000";

/// Every call that reads or changes the counter `user:1` for the key `user`. The first [`READS`] of them only read.
const CALLS: [&str; 10] = [
    "RL.PEEK FIXED user 1000000000 5",
    "RL.PEEK FIXED user 1000000000 5 HEADERS",
    "RL.FIXED user 1000000000 5 FULL",
    "RL.FIXED user 1000000000 0",
    "RL.MULTI 2 TOKEN user 1h 5 FIXED user 1000000000 5 FULL",
    "RL.SHARE 2 TOKEN user 1h 5 FIXED user 1000000000 5 FULL",
    "RL.REFUND FIXED user 1000000000 5",
    "RL.SETTLE FIXED user 1000000000 5 RESERVED 1 ACTUAL 2",
    "RL.SETTLE FIXED user 1000000000 5 RESERVED 2 ACTUAL 1",
    "RL.RESET FIXED user 1000000000",
];
const READS: usize = 2;

/// How a client can send a command.
#[derive(Clone, Copy, Debug)]
enum Way {
    Alone,
    Exec,
    Eval,
}

fn send_by(con: &mut Connection, way: Way, words: &str) -> Reply {
    const SCRIPT: &str = "return redis.pcall(unpack(ARGV))";
    match way {
        Way::Alone => send(con, words),
        Way::Exec => {
            let [reply] = redis::pipe().atomic().add_command(call(words)).query::<[Value; 1]>(con)?;
            Ok(reply)
        }
        Way::Eval => {
            let words: Vec<&str> = words.split(' ').collect();
            redis::cmd("EVAL").arg(SCRIPT).arg(1).arg("user").arg(words).query(con)
        }
    }
}

/// Gives the user `u` these rules, and nothing else. Its connections stay.
fn set_rules(root: &mut Connection, rules: &[&str]) {
    ok(cmd!(*root, "ACL", "SETUSER", "u", "on", ">p", "-@all", "+auth", "resetkeys", "clearselectors", rules));
}

/// Sends calls in every way, each on the counter 3. Each is allowed, or an error that changes nothing.
#[track_caller]
fn check(con: &mut Connection, root: &mut Connection, calls: &[&str], is_allowed: bool) {
    for (call, way) in calls.iter().flat_map(|call| [Way::Alone, Way::Exec, Way::Eval].map(|way| (call, way))) {
        ok(cmd!(*root, "DEL", "user"));
        ok(cmd!(*root, "SET", "user:1", "3"));
        let before = everything(root);
        let reply = send_by(con, way, call).and_then(Value::extract_error);
        if is_allowed {
            ok(reply);
        } else {
            assert!(err(reply).contains("NOPERM"), "{way:?} {call}");
            assert_eq!(everything(root), before, "{way:?} {call}");
        }
    }
}

#[test]
fn a_user_needs_the_key_of_the_counter() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut root = server.con();
        set_rules(&mut root, &[]);
        let mut con = server.con();
        ok(cmd!(con, "AUTH", "u", "p"));
        let (reads, writes) = CALLS.split_at(READS);
        for (rules, may_read, may_write) in [
            (&["+@all", "~user"][..], false, false),
            (&["+@all", "~user", "~user:2", "~user:", "~user:1?"], false, false),
            (&["+@all", "~user", "%R~user:1"], true, false),
            (&["+@all", "~user", "%W~user:1"], false, false),
            (&["+@all", "~user", "~user:1"], true, true),
            (&["+@all", "%RW~user", "%RW~user:*"], true, true),
            (&["+@all", "allkeys"], true, true),
            // As of the call, not of an earlier one.
            (&["+@all", "~user"], false, false),
        ] {
            set_rules(&mut root, rules);
            check(&mut con, &mut root, reads, may_read);
            check(&mut con, &mut root, writes, may_write);
        }
        // A selector of another command does not grant the key.
        for call in CALLS {
            let command = call.split(' ').next().expect("a name").to_lowercase();
            let of_key = format!("(+{command} +eval +multi +exec ~user)");
            let of_both = format!("(+{command} +eval +multi +exec ~user ~user:1)");
            let other = format!("(+@all -{command} ~user:*)");
            for (selectors, is_allowed) in [
                (&["+multi", "+exec", &of_key, "(+get ~user:*)", &other][..], false),
                (&["+multi", "+exec", "(+get ~user:*)", &of_both], true),
            ] {
                set_rules(&mut root, selectors);
                check(&mut con, &mut root, &[call], is_allowed);
            }
        }
        // The reply does not tell whether the key exists, or what it holds.
        set_rules(&mut root, &["+@all", "~user"]);
        for make in ["DEL user:1", "RPUSH user:1 x"] {
            ok(cmd!(root, "DEL", "user:1"));
            ok(send(&mut root, make));
            CALLS.iter().for_each(|call| assert!(err(send(&mut con, call)).starts_with("NOPERM "), "{call}"));
        }
        // The server looks at the keys after a mistake too.
        let call = format!("RL.MULTI 2 TOKEN user {WINDOW} 5 COST x TOKEN theirs 60 5");
        assert!(err(send(&mut con, &call)).starts_with("NOPERM "));
    });
}

/// RL.RESET needs it only if there are reservations.
#[test]
fn a_user_needs_the_key_of_the_reservations() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut root = server.con();
        set_rules(&mut root, &[]);
        let mut con = server.con();
        ok(cmd!(con, "AUTH", "u", "p"));
        for (word, hash) in [("FIXED", "user:1000000000000ms:reserved"), ("COUNTER", "user:reserved")] {
            ok(cmd!(root, "FLUSHALL"));
            let reset = format!("RL.RESET {word} user {WINDOW}");
            let calls = [
                format!("RL.{word} user {WINDOW} 5 RESERVE a 1m"),
                format!("RL.SETTLE {word} user {WINDOW} 5 RESERVATION a ACTUAL 1"),
                format!("RL.MULTI 1 {word} user {WINDOW} 5 RESERVE a 1m"),
            ];
            let [hash, ends] = ["", ":ends"].map(|end| format!("~{hash}{end}"));
            for other in ["~other", &hash, &ends] {
                set_rules(&mut root, &["+@all", "~user", "~user:1", other]);
                ok(send(&mut con, &reset));
                calls.iter().for_each(|call| assert!(err(send(&mut con, call)).starts_with("NOPERM "), "{call}"));
                assert_eq!(keys(&mut root), [""; 0]);
                ok(send(&mut root, &calls[0]));
                assert!(err(send(&mut con, &reset)).starts_with("NOPERM "), "{reset}");
                assert_eq!(keys(&mut root).len(), 3, "nothing is deleted");
                ok(send(&mut root, &reset));
            }
            set_rules(&mut root, &["+@all", "~user", "~user:1", &hash, &ends]);
            calls.iter().for_each(|call| _ = ok(send(&mut con, call)));
            ok(send(&mut con, &calls[0]));
            assert_eq!(ok(send(&mut con, &reset)), Value::Int(1));
            assert_eq!(keys(&mut root), [""; 0]);
        }
    });
}

/// In a cluster the counter has the key as its hash tag.
#[test]
fn in_a_cluster_the_name_of_the_counter_is_checked_as_it_is_there() {
    for_each_server(|bin| {
        let cluster = Cluster::start(bin, 1, |options| options);
        let (mut root, mut con) = (cluster.nodes[0].con(), cluster.nodes[0].con());
        for (pattern, is_allowed) in [("~user:1", false), ("~{user}:1", true)] {
            set_rules(&mut root, &["+@all", "~user", pattern]);
            ok(cmd!(con, "AUTH", "u", "p"));
            CALLS.iter().for_each(|call| assert_eq!(send(&mut con, call).is_ok(), is_allowed, "{call} {pattern}"));
        }
    });
}
