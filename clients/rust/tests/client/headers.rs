//! The headers of a decision are those that HEADERS replies, byte by byte.

use std::time::Duration;

use redis::Value;
use redis_rl_client::{Limiter, Policy, Request};

use crate::setup::{block_on, limiter, manager};
use crate::support::*;

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

/// The headers that the server replies to a peek, and the time that it had.
fn headers_of_server(con: &mut redis::Connection, words: &[String]) -> Vec<(String, String)> {
    let mut command = redis::cmd("RL.PEEK");
    for word in words {
        command.arg(word);
    }
    with_headers(ok(command.arg("HEADERS").query(con))).1
}

fn words(request: &Request<'_>, cost: u64) -> Vec<String> {
    let policy = request.policy().to_string();
    let (algorithm, rest) = policy.split_once(' ').unwrap();
    let key = String::from_utf8(request.key().to_vec()).unwrap();
    let mut words = vec![algorithm.to_owned(), key];
    words.extend(rest.split(' ').map(str::to_owned));
    words.extend(["COST".to_owned(), cost.to_string()]);
    words
}

fn owned(headers: Vec<(&'static str, String)>) -> Vec<(String, String)> {
    headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Compares until both were computed at the same time: the figures change with it. The limiter adds its own time, which is
/// later than that of the server, so a second may begin between them: it may differ in a few of the comparisons.
async fn compare(
    mut ours: impl AsyncFnMut() -> Vec<(String, String)>,
    mut theirs: impl FnMut() -> Vec<(String, String)>,
) {
    let (mut last, mut different) = (None, 0);
    for _ in 0..50 {
        let before = theirs();
        let (mine, after) = (ours().await, theirs());
        if before == after {
            if mine == after {
                return;
            }
            different += 1;
            assert!(different < 4, "{mine:?} instead of {after:?}");
        }
        last = Some((mine, after));
    }
    panic!("the figures change all the time: {last:?}");
}

#[test]
fn headers_are_those_of_the_server() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        block_on(async {
            let limiter = limiter(&server).await;
            let mut con = server.con();
            for text in POLICIES {
                let policy: Policy = text.parse().unwrap();
                // New, with something used, full, and never.
                for (key, charge, cost) in [("new", 0, 1), ("used", 2, 1), ("full", policy.capacity().min(5_000), 1)] {
                    let key = format!("{text}:{key}");
                    if charge > 0 {
                        limiter.check_request(&policy.request(&key).cost(charge)).await.unwrap();
                    }
                    let request = policy.request(&key).cost(cost);
                    let words = words(&request, cost);
                    compare(
                        async || owned(limiter.peek(&request).await.unwrap().headers()),
                        || headers_of_server(&mut con, &words),
                    )
                    .await;
                }
                if policy.capacity() < u64::MAX >> 1 {
                    let request = policy.request("never").cost(policy.capacity() + 1);
                    let words = words(&request, policy.capacity() + 1);
                    compare(
                        async || owned(limiter.peek(&request).await.unwrap().headers()),
                        || headers_of_server(&mut con, &words),
                    )
                    .await;
                }
            }
            let jobs = Policy::lease(Duration::from_millis(30_500), 1).name("jobs");
            for id in ["one", "two"] {
                let request = jobs.request("jobs").id(id);
                compare(
                    async || owned(limiter.peek(&request).await.unwrap().headers()),
                    || {
                        let words = ["LEASE", "jobs", "30500ms", "1", "AS", "jobs", "ID", id].map(str::to_owned);
                        headers_of_server(&mut con, &words)
                    },
                )
                .await;
                limiter.check_request(&request).await.unwrap();
            }
        });
    });
}

#[test]
fn headers_of_several_limits_are_those_of_the_server() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        block_on(async {
            // A denial that is remembered counts down by this process' clock, not by the server's.
            let limiter = Limiter::builder(manager(&server, "resp3").await).denials(0).timeout(PATIENCE).build();
            let mut con = server.con();
            let hour = Duration::from_secs(3600);
            let (a, b) = (Policy::token(hour, 5), Policy::token(hour, 3));
            let c = Policy::fixed(Duration::from_secs(86_400), 9).name("token-2");
            // A cost of 0 changes nothing, so both sides see the same. The two limits of one name are numbered.
            // At last all deny, and the strictest is the one with the longest wait.
            for used in [0, 2, 3, u64::MAX] {
                for (policy, key) in [(&a, "{m}a"), (&b, "{m}b"), (&c, "{m}c")] {
                    limiter.reset(policy, key).await.unwrap();
                    if used > 0 {
                        limiter.check_request(&policy.request(key).cost(used.min(policy.limit()))).await.unwrap();
                    }
                }
                let requests = [a.request("{m}a").cost(0), c.request("{m}c").cost(0), b.request("{m}b").cost(0)];
                compare(
                    async || owned(limiter.check_all(&requests).await.unwrap().headers()),
                    || {
                        let words = "3 TOKEN {m}a 3600 5 COST 0 FIXED {m}c 86400 9 COST 0 AS token-2 TOKEN {m}b 3600 3 COST 0 HEADERS";
                        let mut command = redis::cmd("RL.MULTI");
                        words.split(' ').for_each(|word| _ = command.arg(word));
                        let Value::Array(parts) = ok(command.query(&mut con)) else { panic!("no array") };
                        header_pairs(parts[2].clone())
                    },
                )
                .await;
            }
        });
    });
}
