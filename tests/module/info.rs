//! INFO rl: exact figures after known calls.

use std::collections::BTreeMap;

use redis::Connection;
use redis_rl_algorithm::Name;

use crate::support::*;

/// Calls, and the figures that each of them adds 1 to. ALGO is each algorithm that takes COST, and `algo_` its figures.
/// Units 1 to 8 of 10 are at most 80 %.
const OF_EACH: &[(&str, &str)] = &[
    ("RL.ALGO k:ALGO 100d 10 COST 8", "algo_allowed"),
    ("RL.ALGO k:ALGO 100d 10 COST 0", "algo_allowed"),
    ("RL.ALGO k:ALGO 100d 10", "algo_near"),
    ("RL.ALGO k:ALGO 100d 10 COST 0 FULL", "algo_near"),
    ("RL.ALGO k:ALGO 100d 10 COST 9 PARTIAL", "algo_near"),
    ("RL.ALGO k:ALGO 100d 10 LINE", "algo_denied"),
    ("RL.ALGO k:ALGO 100d 10 COST 9 PARTIAL", "algo_denied"),
    ("RL.ALGO k:ALGO 100d 10 COST 11 HEADERS", "algo_denied"),
    ("RL.ALGO k:ALGO 100d 10 SHADOW", "algo_shadow_denied"),
    ("RL.ALGO k:ALGO 100d 10 COST 11 SHADOW FULL", "algo_shadow_denied"),
    ("RL.ALGO k:ALGO 100d 10 COST x", "algo_errors"),
    ("CONFIG SET rl.shadow yes", ""),
    ("RL.ALGO k:ALGO 100d 10", "algo_shadow_denied"),
    ("RL.ALGO new:ALGO 100d 10", "algo_allowed"),
    ("CONFIG SET rl.shadow no", ""),
    ("RL.ALGO k:ALGO", "algo_errors"),
    ("RL.PEEK ALGO k:ALGO 100d 10 COST 11", "peeks"),
    ("RL.PEEK ALGO k:ALGO 100d 10 COST x", ""),
    ("RL.REFUND ALGO k:ALGO 100d 10", "refunds"),
    ("RL.REFUND ALGO k:ALGO 100d 10 COST x", ""),
    ("RL.SETTLE ALGO k:ALGO 100d 10 RESERVED 0 ACTUAL 3", "settlements"),
    ("RL.SETTLE ALGO k:ALGO 100d 10 RESERVED x ACTUAL 3", ""),
    ("RL.RESET ALGO k:ALGO 100d", ""),
    // Each limit counts as it would alone, and the call by its strictest limit.
    ("RL.MULTI 2 GCRA t 100d 100 ALGO m:ALGO 100d 2", "gcra_allowed algo_allowed multi_allowed"),
    ("RL.MULTI 2 GCRA t 100d 100 ALGO m:ALGO 100d 2 FULL", "gcra_allowed algo_near multi_near"),
    ("RL.MULTI 2 GCRA t 100d 100 ALGO m:ALGO 100d 2 HEADERS", "gcra_allowed algo_denied multi_denied"),
    ("RL.MULTI 2 GCRA t 100d 100 ALGO m:ALGO 100d 2 SHADOW", "gcra_allowed algo_shadow_denied multi_shadow_denied"),
    ("RL.MULTI 2 GCRA t 100d 0 ALGO m:ALGO 100d 2 SHADOW", "gcra_denied algo_shadow_denied multi_denied"),
    ("RL.MULTI 2 GCRA t 100d 100 ALGO m:ALGO 100d 2 COST x", "multi_errors"),
    // At maxmemory, also by outcome.
    ("CONFIG SET maxmemory 1 rl.on-oom error", ""),
    ("RL.ALGO oom:ALGO 100d 10", "algo_errors oom_error"),
    ("RL.MULTI 1 ALGO oom:ALGO 100d 10", "multi_errors oom_error"),
    ("CONFIG SET rl.on-oom allow", ""),
    ("RL.ALGO oom:ALGO 100d 10", "algo_allowed oom_allowed"),
    ("RL.MULTI 1 ALGO oom:ALGO 100d 10", "algo_allowed multi_allowed oom_allowed"),
    ("CONFIG SET rl.on-oom deny", ""),
    ("RL.ALGO oom:ALGO 100d 10", "algo_denied oom_denied"),
    ("RL.MULTI 1 ALGO oom:ALGO 100d 10", "algo_denied multi_denied oom_denied"),
    ("RL.PEEK ALGO oom:ALGO 100d 10", "peeks"),
    ("CONFIG SET maxmemory 0 rl.on-oom error", ""),
];

/// Of the algorithms that have something else.
const OF_SOME: &[(&str, &str)] = &[
    ("RL.TOKEN b 100d 10 BURST 20 COST 16", "token_allowed"),
    ("RL.TOKEN b 100d 10 BURST 20", "token_near"),
    ("RL.TOKEN a 100d 5 COST 4 ALWAYS", "token_allowed"),
    ("RL.TOKEN a 100d 5 ALWAYS", "token_near"),
    ("RL.TOKEN a 100d 5 ALWAYS", "token_denied"),
    ("RL.TOKEN a 100d 5 COST 0 ALWAYS", "token_denied"),
    ("RL.TOKEN a 100d 5 COST 3 ALWAYS SHADOW", "token_shadow_denied"),
    ("RPUSH list x", ""),
    ("RL.TOKEN list 100d 5", "token_errors"),
    ("RL.LEASE l 1h 5 ID a", "lease_allowed"),
    ("RL.LEASE l 1h 5 ID a FULL", "lease_allowed"),
    ("RL.LEASE l 1h 1 ID b", "lease_denied"),
    ("RL.LEASE l 1h 1 ID b SHADOW", "lease_shadow_denied"),
    ("RL.LEASE l 1h 2 ID b", "lease_near"),
    ("RL.LEASE l 1h 5", "lease_errors"),
    ("RL.RENEW l 1h a", ""),
    ("RL.RELEASE l a", ""),
    ("RL.THROTTLE th 9 10 8640000 8", "gcra_allowed"),
    ("CL.THROTTLE th 9 10 8640000 2", "gcra_near"),
    ("RL.THROTTLE th 9 10 8640000", "gcra_denied"),
    ("CL.THROTTLE th 9 10 8640000 -1", "gcra_errors"),
    ("RL.THROTTLE list 9 10 8640000", "gcra_errors"),
    ("RL.MULTI 0 TOKEN k 60 5", "multi_errors"),
    // The limit that pays counts for its algorithm, and the widest one if none does.
    ("RL.SHARE 2 TOKEN sa 100d 2 WINDOW sb 100d 3", "token_allowed share_own"),
    ("RL.SHARE 2 TOKEN sa 100d 2 WINDOW sb 100d 3", "token_near share_own"),
    ("RL.SHARE 2 TOKEN sa 100d 2 WINDOW sb 100d 3 FULL", "window_near share_borrowed"),
    ("RL.SHARE 2 TOKEN sa 100d 2 WINDOW sb 100d 3 HEADERS", "window_denied share_denied"),
    ("RL.SHARE 2 TOKEN sa 100d 2 WINDOW sb 100d 3 SHADOW", "window_shadow_denied share_shadow_denied"),
    ("CONFIG SET rl.shadow yes", ""),
    ("RL.SHARE 2 TOKEN sa 100d 2 WINDOW sb 100d 3", "window_shadow_denied share_shadow_denied"),
    ("CONFIG SET rl.shadow no", ""),
    ("RL.SHARE 2 TOKEN sa 100d 2 SHADOW WINDOW sb 100d 3", "share_errors"),
    ("RL.SHARE 1 TOKEN sa 100d 2", "share_errors"),
    ("CONFIG SET maxmemory 1", ""),
    ("RL.SHARE 2 TOKEN sc 100d 2 WINDOW sb 100d 9", "share_errors oom_error"),
    ("CONFIG SET rl.on-oom allow", ""),
    ("RL.SHARE 2 TOKEN sc 100d 2 WINDOW sb 100d 9", "token_allowed share_own oom_allowed"),
    ("CONFIG SET rl.on-oom deny", ""),
    ("RL.SHARE 2 TOKEN sc 100d 2 WINDOW sb 100d 9", "window_denied share_denied oom_denied"),
    ("CONFIG SET maxmemory 0 rl.on-oom error", ""),
    ("RL.WINDOW r 100d 9 RESERVE a 1h", "window_allowed reservations_made"),
    ("RL.WINDOW r 100d 9 RESERVE a 1h", "window_allowed reservations_repeated"),
    ("RL.WINDOW r 100d 9 COST 99 RESERVE b 1h", "window_denied"),
    ("RL.SETTLE WINDOW r 100d 9 RESERVATION a ACTUAL 1", "settlements reservations_settled"),
    ("RL.SETTLE WINDOW r 100d 9 RESERVATION a ACTUAL 1", "settlements"),
];

/// The lines of the section, in order.
fn section(con: &mut Connection) -> Vec<(String, String)> {
    let text: String = redis::cmd("INFO").arg("rl").query(con).expect("INFO");
    let lines = text.lines().filter_map(|line| line.split_once(':'));
    lines.map(|(name, value)| (name.to_owned(), value.trim_end().to_owned())).collect()
}

/// The figures that count, without `rl_`.
fn figures(con: &mut Connection) -> BTreeMap<String, i64> {
    let is_counter = |name: &str| !["rl_loaded_seconds", "rl_shadow", "rl_top_keys"].contains(&name);
    let section = section(con).into_iter().filter(|(name, _)| is_counter(name));
    section.filter_map(|(name, value)| Some((name.strip_prefix("rl_")?.to_owned(), value.parse().ok()?))).collect()
}

#[test]
fn every_call_is_counted() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let grammar = Grammar::of(&mut con);
        let mut words = algorithms(&mut con);
        words.retain(|word| grammar.takes("RL.<ALGO>", word, "COST"));
        let of_each = words.iter().flat_map(|word| {
            let can = Name::from_word(word.as_bytes()).expect("an algorithm").traits();
            let calls = OF_EACH.iter().filter(|(call, _)| can.settle || !call.starts_with("RL.SETTLE"));
            calls.map(move |(call, counted)| {
                // One unit fits.
                let call = if can.partial { (*call).to_owned() } else { call.replace(" COST 9 PARTIAL", "") };
                (call.replace("ALGO", word), counted.replace("algo", &word.to_lowercase()))
            })
        });
        let of_some = OF_SOME.iter().map(|&(call, counted)| (call.to_owned(), counted.to_owned()));
        // They start at 0. The version names the build.
        let mut before = figures(&mut con);
        assert!(before.len() > 60 && before.values().all(|count| *count == 0), "{before:?}");
        let missing = match (bin.is_valkey(), bin.version) {
            (false, (7, 0, _)) => "acl-categories,cached-time",
            (false, (7, 1..=3, _)) => "acl-categories",
            _ => "none",
        };
        let section = section(&mut con);
        assert!(section[0].0 == "rl_version" && section[0].1.starts_with(env!("CARGO_PKG_VERSION")), "{section:?}");
        assert_eq!(section.last(), Some(&("rl_missing_api".to_owned(), missing.to_owned())));
        for (call, counted) in of_each.chain(of_some) {
            let _ = send(&mut con, &call);
            let after = figures(&mut con);
            for word in counted.split_whitespace() {
                *before.get_mut(word).unwrap_or_else(|| panic!("no {word}")) += 1;
            }
            assert_eq!(after, before, "{call}");
        }
    });
}
