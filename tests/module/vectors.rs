//! vectors/algorithms.json: calls and replies of every algorithm, for readers in any language. `UPDATE=1` writes what the
//! server replies.

use redis::Value;
use redis_rl_algorithm::Name;

use crate::support::*;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/vectors/algorithms.json");
const START: i64 = 1_795_269_620_123_456;
const ABOUT: &str = "Calls, one a line, in their order: at `at`, in Unix microseconds, `call` is sent, and `reply` is its reply. \
    Each algorithm begins with empty keys. A clock that steps back is part of it.";

/// Milliseconds since the call before, and the call: `A` is the algorithm, `<n>` the time of n milliseconds ago. An algorithm
/// that does not take a call has none of it.
const CALLS: &[(i64, &str)] = &[
    (0, "RL.A k 1m 5 COST 1 LINE"),
    (500, "RL.A k 1m 5 COST 3 LINE"),
    (0, "RL.PEEK A k 1m 5 COST 2 LINE"),
    (0, "RL.A k 1m 5 COST 2 LINE"),
    (0, "RL.A k 1m 5 COST 0 LINE"),
    (0, "RL.A k 1m 5 COST 6 LINE"),
    (7_000, "RL.A k 1m 5 COST 3 PARTIAL LINE"),
    (0, "RL.A k 1m 5 COST 3 PARTIAL LINE"),
    (20_000, "RL.REFUND A k 1m 5 COST 2 LINE"),
    (0, "RL.SETTLE A k 1m 5 RESERVED 1 ACTUAL 4 LINE"),
    (1_000, "RL.A k 1m 5 COST 1 LINE"),
    (0, "RL.A k 1m 5 COST 2 ALWAYS LINE"),
    (3_000, "RL.REFUND A k 1m 5 COST 1 AT <4000> LINE"),
    (0, "RL.SETTLE A k 1m 5 RESERVED 3 ACTUAL 1 AT <90000> LINE"),
    (0, "RL.SETTLE A k 1m 5 RESERVED 1 ACTUAL 2 AT <4000> LINE"),
    (61_000, "RL.A k 1m 5 COST 2 LINE"),
    (0, "RL.A k 1m 5 COST 2 RESERVE a 10 LINE"),
    (1_000, "RL.A k 1m 5 COST 1 RESERVE b 5 LINE"),
    (1_000, "RL.SETTLE A k 1m 5 RESERVATION a ACTUAL 1 LINE"),
    (7_000, "RL.A k 1m 5 COST 1 LINE"),
    (0, "RL.SETTLE A k 1m 5 RESERVATION b ACTUAL 3 LINE"),
    (0, "RL.SETTLE A k 1m 5 RESERVATION c ACTUAL 3 LINE"),
    (65_000, "RL.A k 1m 5 COST 2 LINE"),
    (0, "RL.A k 1m 5 COST 3 PARTIAL SHADOW LINE"),
    (0, "RL.A k 1m 5 COST 1 PARTIAL SHADOW LINE"),
    (0, "RL.RESET A k 1m"),
    (0, "RL.A k 1m 5 COST 5 LINE"),
    (-2_000, "RL.A k 1m 5 COST 1 LINE"),
];

/// The same of leases.
const LEASES: &[(i64, &str)] = &[
    (0, "RL.LEASE k 30s 2 ID a LINE"),
    (0, "RL.LEASE k 30s 2 ID b LINE"),
    (1_000, "RL.LEASE k 30s 2 ID c LINE"),
    (9_000, "RL.RENEW k 30s a"),
    (0, "RL.LEASE k 30s 2 ID a LINE"),
    (1_000, "RL.RELEASE k b"),
    (0, "RL.LEASE k 30s 2 ID c LINE"),
    (29_000, "RL.RENEW k 30s a"),
    (0, "RL.RELEASE k a"),
    (0, "RL.LEASE k 30s 2 ID d LINE"),
    (-5_000, "RL.LEASE k 30s 2 ID c LINE"),
];

#[test]
fn the_server_replies_what_the_vectors_say() {
    for_each_server(|bin| {
        let (mut clock, server) = FrozenClock::server(bin);
        let mut con = server.con();
        let mut sections = Vec::new();
        for name in Name::ALL {
            ok(cmd!(con, "FLUSHALL"));
            clock.set(START);
            let (mut rows, mut now) = (Vec::new(), START);
            for &(step, call) in if name.traits().id { LEASES } else { CALLS } {
                now += step * 1_000;
                clock.step(&mut con, step);
                let mut call = call
                    .replace("RL.A ", &format!("{} ", name.command()))
                    .replace(" A ", &format!(" {} ", name.word()));
                if let Some((before, rest)) = call.split_once('<') {
                    let (ago, after) = rest.split_once('>').expect("a time");
                    call = format!("{before}{}{after}", clock.now_ms() - ago.parse::<i64>().expect("milliseconds"));
                }
                let reply = match send(&mut con, &call).and_then(Value::extract_error) {
                    Ok(Value::Int(number)) => number.to_string(),
                    Ok(reply) => format!("{:?}", read::<String>(reply)),
                    Err(_) => continue,
                };
                rows.push(format!("  {{\"at\": {}, \"call\": \"{call}\", \"reply\": {reply}}}", now));
            }
            sections.push(format!(" \"{}\": [\n{}\n ]", name.word(), rows.join(",\n")));
        }
        let text = format!("{{\n \"about\": \"{ABOUT}\",\n{}\n}}\n", sections.join(",\n"));
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(PATH, &text).expect("vectors/algorithms.json");
        }
        assert!(std::fs::read_to_string(PATH).expect("vectors/algorithms.json") == text, "UPDATE=1 writes them again");
    });
}
