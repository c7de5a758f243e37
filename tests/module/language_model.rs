//! docs/language-models.md: the commands that it shows, and what it says of a denied call, of a call that costs more than
//! was reserved, of commands that are sent again, and of a holder that dies.

use std::fs;
use std::path::Path;

use crate::support::*;
use redis::{Connection, Value};

type Triple = [i64; 3];

/// So long that nothing comes back while a test runs.
const WINDOW: &str = "1000h";

/// The limits of one call: requests and tokens in the window, and calls at the same time.
struct Limits {
    requests: i64,
    tokens: i64,
    calls: i64,
    lease: &'static str,
    ttl: &'static str,
}

const LIMITS: Limits = Limits { requests: 10, tokens: 1_000, calls: 2, lease: "1h", ttl: "1h" };

const REQUESTS: &str = "{acme}:requests";
const TOKENS: &str = "{acme}:tokens";
const CALLS: &str = "{acme}:calls";

impl Limits {
    /// Step 1: one request, the estimated tokens and a lease.
    #[track_caller]
    fn reserve(&self, con: &mut Connection, id: &str, estimate: i64) -> (i64, [Triple; 3]) {
        let mut request = redis::cmd("RL.MULTI");
        request.arg(3).arg(&["ROLLING", REQUESTS, WINDOW]).arg(self.requests).arg(&["RESERVE", id, self.ttl]);
        request.arg(&["ROLLING", TOKENS, WINDOW]).arg(self.tokens).arg("COST").arg(estimate);
        request.arg(&["RESERVE", id, self.ttl]);
        request.arg(&["LEASE", CALLS, self.lease]).arg(self.calls).arg(&["ID", id]);
        read(ok(request.query(con)))
    }

    /// Step 3: the request, and the tokens that the call took.
    #[track_caller]
    fn settle(&self, con: &mut Connection, id: &str, actual: i64) -> Triple {
        let settlement = ["RESERVATION", id, "ACTUAL"];
        ok(cmd!(*con, "RL.SETTLE", "ROLLING", REQUESTS, WINDOW, self.requests, &settlement, 1));
        read(ok(cmd!(*con, "RL.SETTLE", "ROLLING", TOKENS, WINDOW, self.tokens, &settlement, actual)))
    }

    /// The tokens that are counted.
    #[track_caller]
    fn tokens_used(&self, con: &mut Connection) -> i64 {
        read::<Triple>(ok(cmd!(*con, "RL.PEEK", "ROLLING", TOKENS, WINDOW, self.tokens, "COST", 0)))[1]
    }
}

/// Step 3 too.
#[track_caller]
fn release(con: &mut Connection, id: &str) -> i64 {
    read(ok(cmd!(*con, "RL.RELEASE", CALLS, id)))
}

#[track_caller]
fn holders(con: &mut Connection) -> Vec<String> {
    read(ok(cmd!(*con, "ZRANGE", CALLS, 0, -1)))
}

/// The commands of the page with the first integer of the reply that it shows.
fn shown() -> Vec<(Vec<String>, i64)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/language-models.md");
    let page = fs::read_to_string(path).expect("docs/language-models.md");
    let replies = page.split("127.0.0.1:6379> ").skip(1);
    let of = |shown: &str| {
        let (command, reply) = shown.split_once('\n').expect("a reply");
        let (_, first) = reply.split_once("(integer) ").expect("an integer");
        let digits: String = first.chars().take_while(char::is_ascii_digit).collect();
        (command.split(' ').map(str::to_owned).collect(), digits.parse().expect("an integer"))
    };
    replies.map(of).collect()
}

/// The first integer of a reply.
fn first(reply: &Value) -> i64 {
    match reply {
        Value::Int(integer) => *integer,
        Value::Array(parts) => first(&parts[0]),
        other => panic!("no integer: {other:?}"),
    }
}

#[test]
fn the_commands_of_the_page_get_the_replies_that_it_shows() {
    let shown = shown();
    let names: Vec<&str> = shown.iter().map(|(command, _)| command[0].as_str()).collect();
    let cycle = [["RL.MULTI"; 4].as_slice(), &["RL.RENEW", "RL.RELEASE"], &["RL.SETTLE"; 3], &["RL.FIXED"; 3]];
    assert_eq!(names, cycle.concat());
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let mut replies = Vec::new();
        // The last one is sent 10 minutes later; docs/sessions.rs moves the clock.
        for (command, expected) in &shown[..11] {
            let reply: Value = ok(redis::cmd(&command[0]).arg(&command[1..]).query(&mut con));
            assert_eq!(first(&reply), *expected, "{command:?}: {reply:?}");
            replies.push(reply);
        }
        let multi = |n: usize| read::<(i64, [Triple; 3])>(replies[n].clone()).1;
        let verdicts = |n: usize| multi(n).map(|limit| limit[0]);
        assert_eq!([0, 1, 2, 3].map(verdicts), [[1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 0, 0]]);
        // The repeated call charged nothing.
        assert_eq!(multi(2).map(|limit| limit[1]), [1, 3_500, 1]);
        let settled = |n: usize| read::<Triple>(replies[n].clone());
        assert_eq!((settled(7)[1], settled(8)[1]), (4_200 + 3_500, 4_200 + 3_500));
        assert_eq!(holders(&mut con), ["call-2"]);
    });
}

#[test]
fn what_a_holder_that_dies_held_comes_back() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let limits = Limits { lease: "2s", ttl: "3s", ..LIMITS };
        // The holder dies with its connection, before it settles and releases.
        assert_eq!(limits.reserve(&mut server.con(), "dead", 300).0, 1);
        let mut con = server.con();
        assert_eq!(LIMITS.reserve(&mut con, "alive", 300).0, 1);
        let mut denials = 0;
        let allowed = eventually(PATIENCE, || {
            // The other holder works on, so the key stays.
            assert_eq!(read::<i64>(ok(cmd!(con, "RL.RENEW", CALLS, limits.lease, "alive"))), 1);
            let start = server_ms(&mut con);
            let end: Option<f64> = read(ok(cmd!(con, "ZSCORE", CALLS, "dead")));
            let (allowed, [_, _, lease]) = limits.reserve(&mut con, "next", 300);
            assert_eq!(allowed, lease[0], "only the lease denies");
            denials += 1 - allowed;
            if let Some(end) = end {
                let over = server_ms(&mut con) >= end as i64;
                assert!(if allowed == 1 { over } else { start < end as i64 }, "{allowed}: {start} {end}");
            }
            allowed == 1
        });
        assert!(allowed && denials > 0, "{denials} denials");
        // Then its tokens: those of the others remain.
        assert_eq!(limits.settle(&mut con, "next", 100)[0], 1);
        let back = eventually(PATIENCE, || {
            // A call with RESERVE gives back what has ended, also if it is denied.
            let denied = Limits { calls: 0, ..LIMITS }.reserve(&mut con, "none", 1);
            assert_eq!(denied.0, 0);
            LIMITS.tokens_used(&mut con) == 400
        });
        assert!(back, "{} tokens", LIMITS.tokens_used(&mut con));
        let mut both = holders(&mut con);
        both.sort();
        assert_eq!(both, ["alive", "next"]);
        assert_eq!(release(&mut con, "next"), 1);
        assert_eq!(limits.reserve(&mut con, "other", 1).0, 1);
        // Late calls of those that hold no lease any more change nothing.
        assert_eq!(read::<i64>(ok(cmd!(con, "RL.RENEW", CALLS, "1h", "next", "dead"))), 0);
        assert_eq!(release(&mut con, "dead"), 0);
        assert_eq!(limits.reserve(&mut con, "one more", 1).0, 0);
    });
}
