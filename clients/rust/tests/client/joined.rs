//! Requests of one key that share a command: each gets what it would have got alone.

use std::time::Duration;

use futures_util::future::join_all;
use redis::{Connection, ConnectionLike as _, Value};
use redis_rl_client::state_machines::{alone_and_joined, divided};
use redis_rl_client::{Algorithm, Decision, Policy, Request, RetryAfter, Window};

use crate::setup::{connected, for_each_way};
use crate::support::*;

/// Executes commands at one moment, and returns their replies; none if a server without memory rejects all of them.
fn at_once(con: &mut Connection, commands: &[Vec<u8>]) -> Vec<Value> {
    let packed = |word: &str| redis::cmd(word).get_packed_command();
    let bytes = [vec![packed("MULTI")], commands.to_vec(), vec![packed("EXEC")]].concat().concat();
    let replies = match con.req_packed_commands(&bytes, commands.len() + 1, 1) {
        Ok(replies) => replies,
        Err(error) => {
            let text = error.to_string();
            assert_eq!(text.matches("OOM").count(), commands.len(), "{text}");
            return Vec::new();
        }
    };
    let [Value::Array(replies)] = replies.as_slice() else { panic!("{replies:?}") };
    replies.clone()
}

fn words(text: &str) -> Vec<u8> {
    call(text).get_packed_command()
}

/// What one caller sees.
fn seen(decision: &Decision) -> (bool, u64, u64, bool) {
    (decision.allowed, decision.charged, decision.remaining, decision.shadow)
}

/// Sends so many requests for one key alone and for another as one command, at one moment.
fn compare(con: &mut Connection, requests: [&Request<'_>; 2], n: u64, what: &str) {
    let many = usize::try_from(n).expect("few");
    let ([one, other], always) = (requests, what.contains("always true"));
    let (alone, _) = alone_and_joined(one, n).expect("it shares a command");
    let (_, joined) = alone_and_joined(other, n).expect("it shares a command");
    let mut replies = at_once(con, &[vec![alone; many], vec![joined]].concat());
    let Some(joined) = replies.pop() else { return };
    if matches!(joined, Value::ServerError(_)) {
        // The error of all who share the command.
        assert_eq!(replies, vec![joined; many], "{what}");
        return;
    }
    let joined: Vec<Decision> = divided(&joined, other, n);
    let alone: Vec<Decision> = replies.iter().flat_map(|reply| divided(reply, one, 1)).collect();
    assert_eq!(joined.len(), many, "{what}");
    // Without memory, a limit that has less left than all of them take together denies all. Alone, each may fit.
    if always && joined.iter().all(|joined| !joined.allowed && joined.charged == 0 && joined.remaining > 0) {
        assert!(alone.iter().all(|alone| alone.charged == 0), "{what}");
        return;
    }
    for (at, (joined, alone)) in joined.iter().zip(&alone).enumerate() {
        let what = format!("{what}: {} of {n}\n{joined:?}\n{alone:?}", at + 1);
        assert_eq!(seen(joined), seen(alone), "{what}");
        assert_eq!(joined.count, alone.count, "{what}");
        // Times are those after the last of them: late, and never early.
        assert!(joined.retry_after >= alone.retry_after && joined.reset_after >= alone.reset_after, "{what}");
        assert_eq!(joined.retry_after == RetryAfter::Now, alone.retry_after == RetryAfter::Now, "{what}");
    }
    assert_eq!(joined.last().map(|last| last.retry_after), alone.last().map(|last| last.retry_after), "{what}");
}

#[test]
fn joined_is_as_alone() {
    // With a maxmemory of a byte, the server has no memory for a request.
    let options = [
        ("rl.shadow", ["no", "yes"].as_slice()),
        ("rl.on-oom", &["allow", "deny", "error"]),
        ("maxmemory", &["0", "1"]),
    ];
    for_each_server(|bin| {
        // Redis 7.0 has no clock that stands still in a transaction.
        if !bin.is_valkey() {
            return;
        }
        let server = Server::start(bin);
        let mut con = server.con();
        let mut random = Random::new(1);
        let set = |con: &mut Connection, name: &str, value: &str| {
            redis::cmd("CONFIG").arg("SET").arg(name).arg(value).exec(con).expect("CONFIG SET");
        };
        for (round, algorithm) in (0..12).flat_map(|round| Algorithm::ALL.map(|algorithm| (round, algorithm))) {
            let (limit, pause) = (random.below(12) + 1, Duration::from_millis(random.below(20)));
            let policy = Policy::new(algorithm, Window::Length(Duration::from_secs(20)), limit).expect("a policy");
            let policy =
                if random.below(2) == 0 { policy } else { policy.try_burst(random.below(9) + 1).unwrap_or(policy) };
            let keys = [0, 1].map(|n| format!("{{{round}}}:{n}"));
            for (always, partial) in [(false, false), (true, false), (false, true)] {
                let request = |key| match (always, partial) {
                    (true, _) => policy.request(key).always(),
                    (_, true) => policy.request(key).partial(),
                    _ => policy.request(key),
                };
                let requests = [request(&keys[0]), request(&keys[1])];
                if alone_and_joined(&requests[0], 1).is_none() {
                    continue;
                }
                redis::cmd("FLUSHALL").exec(&mut con).expect("FLUSHALL");
                let text = policy.to_string();
                let (word, terms) = text.split_once(' ').expect("words");
                for _ in 0..6 {
                    // The same for both keys at one moment: charges, refunds, and debt.
                    let cost = random.below(2 * limit) + 1;
                    let kind = random.below(3);
                    let history = |key: &String| match kind {
                        0 => words(&format!("RL.{word} {key} {terms} COST {cost} PARTIAL")),
                        1 => words(&format!("RL.REFUND {word} {key} {terms} COST {cost}")),
                        _ => words(&format!("RL.SETTLE {word} {key} {terms} RESERVED 0 ACTUAL {cost}")),
                    };
                    at_once(&mut con, &keys.each_ref().map(history));
                    std::thread::sleep(pause);
                    let settings = options.map(|(name, values)| (name, random.pick(values)));
                    settings.iter().for_each(|(name, value)| set(&mut con, name, value));

                    let n = random.below(limit + 3).max(2);
                    let most = if (algorithm == Algorithm::Fixed && !partial) || always { limit } else { n };
                    if n <= most {
                        let what = format!("{text} always {always} partial {partial} {settings:?} {n}");
                        compare(&mut con, requests.each_ref(), n, &what);
                        let peek = |key: &String| words(&format!("RL.PEEK {word} {key} {terms} COST 0 LINE"));
                        let left = at_once(&mut con, &keys.each_ref().map(peek));
                        let left: Vec<_> = left.iter().flat_map(|left| divided(left, &requests[0], 1)).collect();
                        assert_eq!((left[0].count, left[0].remaining), (left[1].count, left[1].remaining), "{what}");
                    }
                    set(&mut con, "maxmemory", "0");
                }
            }
        }
    });
}

#[test]
fn a_flood_of_one_key_is_few_commands() {
    const LIMIT: u64 = 700;
    const REQUESTS: usize = 4_000;
    for_each_server(|bin| {
        let server = Server::start(bin);
        for (text, counts_denials) in [
            ("COUNTER 1h 700", false),
            ("FIXED 24h 700", true),
            ("FIXED 24h 700", false),
            ("TOKEN 10h 700", false),
            ("GCRA 10h 700", false),
            ("WINDOW 1h 700", false),
            ("ROLLING 1h 700", false),
            ("SLIDING 1h 700", false),
        ] {
            let policy: Policy = text.parse().expect(text);
            redis::cmd("FLUSHALL").exec(&mut server.con()).expect("FLUSHALL");
            redis::cmd("CONFIG").arg("RESETSTAT").exec(&mut server.con()).expect("RESETSTAT");
            // All of them are under way before the first is written.
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            let (decisions, after) = runtime.block_on(async {
                let limiter = connected(&server, |builder| builder.timeout(PATIENCE).denials(0)).await;
                let request = policy.request("k");
                let decisions = join_all((0..REQUESTS).map(async |_| match counts_denials {
                    true => limiter.check_request(&request).await,
                    false => limiter.try_request(&request).await,
                }));
                (decisions.await, limiter.peek(&request.cost(0)).await.expect("a decision"))
            });
            let counted = if counts_denials { REQUESTS as u64 } else { LIMIT };
            assert!(policy.algorithm() != Algorithm::Fixed || after.count.unsigned_abs() == counted, "{after:?}");
            let mut left: Vec<_> = decisions
                .into_iter()
                .map(|decision| decision.expect("a decision"))
                .filter(|decision| decision.allowed)
                .map(|decision| decision.remaining)
                .collect();
            left.sort_unstable();
            assert_eq!(left, (0..LIMIT).collect::<Vec<_>>(), "{text}");
            let stats: String = redis::cmd("INFO").arg("commandstats").query(&mut server.con()).expect("INFO");
            let of_limit = stats.lines().find(|line| line.to_lowercase().starts_with("cmdstat_rl.")).expect("a line");
            let calls: usize = of_limit.split(['=', ',']).nth(1).expect("calls").parse().expect("a number");
            assert!(calls * 20 <= REQUESTS, "{text}: {calls} commands");
        }
    });
}

#[test]
fn the_library_and_several_limits_share_commands_too() {
    for_each_way(async |limiter, _, way| {
        let (hot, own): (Policy, Policy) = ("TOKEN 10h 300".parse().unwrap(), "COUNTER 1h 5".parse().unwrap());
        let keys: Vec<_> = (0..1_000).map(|n| n.to_string()).collect();
        let requests: Vec<_> = keys.iter().map(|key| [hot.request("hot"), own.request(key)]).collect();
        let all = join_all(requests.iter().map(|requests| limiter.check_each(requests))).await;
        let each = |at: usize| all.iter().filter(|all| all[at].as_ref().expect("a decision").allowed).count();
        assert_eq!([each(0), each(1)], [300, 1_000], "{way:?}");
        assert!(all.iter().all(|all| all[1].as_ref().is_ok_and(|own| own.remaining == 4)));
    });
}
