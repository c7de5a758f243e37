//! The headers of a decision are those that HEADERS replies, byte by byte. The clock of the server stands still.

use std::time::Duration;

use redis::Value;
use redis_rl_client::{Policy, Request};

use crate::setup::{block_on, limiter};
use crate::support::*;

const HOUR: Duration = Duration::from_secs(3600);

const POLICIES: [&str; 16] = [
    "FIXED 3600 5",
    "FIXED day 7 AS daily",
    "FIXED week 7",
    "FIXED month 7 AS monthly",
    "FIXED year 7",
    "FIXED month 7 ANCHOR 1769860800",
    "FIXED 1h 7 ANCHOR 1769860800",
    "WINDOW 90 5",
    "SLIDING 60 5 AS log",
    "COUNTER 1500ms 1000",
    "TOKEN 60 600 BURST 50 AS api",
    "LEAKY 500ms 10",
    "GCRA 1d 3 BURST 9",
    "ROLLING 999ms 5",
    "COUNTER 60 5 SHADOW",
    "TOKEN 1000000000 9223372036854775807",
];

fn owned(headers: Vec<(&'static str, String)>) -> Vec<(String, String)> {
    headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// What the server replies to these words.
fn reply(con: &mut redis::Connection, words: &str) -> Value {
    let mut words = words.split(' ');
    let mut command = redis::cmd(words.next().unwrap_or_default());
    words.for_each(|word| _ = command.arg(word));
    ok(command.arg("HEADERS").query(con))
}

#[test]
fn headers_are_those_of_the_server() {
    for_each_server(|bin| {
        let (_clock, server) = FrozenClock::server(bin);
        let con = std::cell::RefCell::new(server.con());
        block_on(async {
            let limiter = limiter(&server).await;
            let compare = async |request: &Request<'_>, cost: u64, words: &str| {
                let ours = owned(limiter.peek(&request.cost(cost)).await.unwrap().headers());
                let cost = if cost == 1 { String::new() } else { format!(" COST {cost}") };
                assert_eq!(
                    ours,
                    with_headers(reply(&mut con.borrow_mut(), &format!("RL.PEEK {words}{cost}"))).1,
                    "{words}"
                );
            };
            for text in POLICIES {
                let policy: Policy = text.parse().unwrap();
                let (algorithm, rest) = text.split_once(' ').unwrap();
                // New, with something used, and full.
                for charge in [0, 2, policy.capacity().min(5_000)] {
                    let key = format!("{}:{charge}", text.replace(' ', ":"));
                    let request = policy.request(&key);
                    if charge > 0 {
                        limiter.check_request(&request.cost(charge)).await.unwrap();
                    }
                    compare(&request, 1, &format!("{algorithm} {key} {rest}")).await;
                }
                // Never.
                if policy.capacity() < u64::MAX >> 1 {
                    compare(&policy.request("never"), policy.capacity() + 1, &format!("{algorithm} never {rest}"))
                        .await;
                }
            }
            let jobs = Policy::lease(Duration::from_millis(30_500), 1).name("jobs");
            for id in ["one", "two"] {
                let request = jobs.request("jobs").id(id);
                compare(&request, 1, &format!("LEASE jobs 30500ms 1 AS jobs ID {id}")).await;
                limiter.check_request(&request).await.unwrap();
            }
            let (a, b) = (Policy::token(HOUR, 5), Policy::token(HOUR, 3));
            let c = Policy::fixed(24 * HOUR, 9).name("token-2");
            // A cost of 0 changes nothing, so both sides see the same. The two limits of one name are numbered.
            // At last all deny, and the strictest is the one with the longest wait.
            for used in [0, 2, 3, 9] {
                for (policy, key) in [(&a, "{m}a"), (&b, "{m}b"), (&c, "{m}c")] {
                    limiter.reset(policy, key).await.unwrap();
                    limiter.check_request(&policy.request(key).cost(used.min(policy.limit()))).await.unwrap();
                }
                let requests = [a.request("{m}a").cost(0), c.request("{m}c").cost(0), b.request("{m}b").cost(0)];
                let words =
                    "RL.MULTI 3 TOKEN {m}a 3600 5 COST 0 FIXED {m}c 86400 9 COST 0 AS token-2 TOKEN {m}b 3600 3 COST 0";
                let Value::Array(parts) = reply(&mut con.borrow_mut(), words) else { panic!("no array") };
                let ours = owned(limiter.check_all(&requests).await.unwrap().headers());
                assert_eq!(ours, header_pairs(parts[2].clone()), "{used}");
            }
        });
    });
}
