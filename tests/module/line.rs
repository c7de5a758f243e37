//! LINE: the figures of FULL in one string, without their names. Two keys with equal states are asked at one moment, the
//! one for FULL and the other for LINE.

use crate::support::*;
use redis::{Connection, Value};

const KEYS: [&str; 2] = ["a", "b"];
const FORMS: [&str; 2] = ["FULL", "LINE"];

/// Calls that charge, deny, look and correct, in this order. `ALGO` is the word, `KEY` the key; the form comes last.
const CALLS: &[&str] = &[
    "RL.ALGO KEY 60 5",
    "RL.ALGO KEY 60 5 COST 0",
    "RL.ALGO KEY 60 5 COST 3 AS name",
    "RL.PEEK ALGO KEY 60 5",
    "RL.PEEK ALGO KEY 60 5 COST 6",
    "RL.ALGO KEY 60 5 COST 6",
    "RL.ALGO KEY 60 5 COST 3 PARTIAL",
    "RL.ALGO KEY 60 5",
    "RL.ALGO KEY 60 5 SHADOW",
    "RL.PEEK ALGO KEY 60 0",
    "RL.REFUND ALGO KEY 60 5 COST 2",
    "RL.SETTLE ALGO KEY 60 5 RESERVED 1 ACTUAL 2",
    "RL.SETTLE ALGO KEY 60 5 RESERVED 0 ACTUAL 9",
    "RL.ALGO KEY 1h 9223372036854775807 COST 0",
];

const CALLS_OF_LEASE: &[&str] = &[
    "RL.LEASE KEY 60 2 ID one",
    "RL.LEASE KEY 60 2 ID one",
    "RL.LEASE KEY 60 2 ID two AS name",
    "RL.LEASE KEY 60 2 ID three",
    "RL.LEASE KEY 60 2 ID three SHADOW",
    "RL.PEEK LEASE KEY 60 2",
    "RL.PEEK LEASE KEY 60 0 ID three",
];

/// The FULL reply to a call, and the LINE reply to the same call on another key.
fn both(con: &mut Connection, call: &str) -> [Value; 2] {
    [0, 1].map(|n| {
        let call = format!("{} {}", call.replace("KEY", KEYS[n]), FORMS[n]);
        let mut words = call.split(' ');
        ok(redis::cmd(words.next().expect("a name")).arg(words.collect::<Vec<_>>()).query(con))
    })
}

#[test]
fn line_has_the_figures_of_full() {
    for_each_server(|bin| {
        let (mut clock, server) = FrozenClock::server(bin);
        for mut con in [server.con(), server.con3()] {
            for word in algorithm_words() {
                ok(cmd!(con, "FLUSHALL"));
                for call in if word == LEASE { CALLS_OF_LEASE } else { CALLS } {
                    let call = call.replace("ALGO", word);
                    if word == "GCRA" && call.contains("9223372036854775807") {
                        continue; // It has no emission interval.
                    }
                    let [named, unnamed] = both(&mut con, &call);
                    assert_eq!(line(unnamed), full(named), "{call}");
                    clock.step(&mut con, 1_234);
                }
            }
        }
    });
}

/// The text itself, as the reference shows it.
#[test]
fn line_is_one_string_with_single_blanks() {
    for_each_server(|bin| {
        let (clock, server) = FrozenClock::server(bin);
        for mut con in [server.con(), server.con3()] {
            ok(cmd!(con, "FLUSHALL"));
            let now = clock.now_ms();
            let expected = format!("1 0 1 60 59 0 1000 1000 0 {now} 0 1");
            assert_eq!(ok(cmd!(con, "RL.TOKEN", "k", "1m", 60, "line")), bytes(expected));
            let expected = format!("0 0 -1 60 60 -1 0 0 0 {now} 0 0");
            assert_eq!(ok(cmd!(con, "RL.TOKEN", "new", "1m", 60, "COST", 61, "LINE")), bytes(expected));
        }
    });
}

/// `[allowed, [line, …]]`
#[test]
fn each_limit_of_rl_multi_has_its_line() {
    for_each_server(|bin| {
        let (_clock, server) = FrozenClock::server(bin);
        for mut con in [server.con(), server.con3()] {
            ok(cmd!(con, "FLUSHALL"));
            for expected in [1, 1, 0] {
                let limits = algorithm_words().map(|word| match word {
                    LEASE => format!("LEASE KEY:{word} 60 1 ID one"),
                    _ => format!("{word} KEY:{word} 60 5 COST 2"),
                });
                let limits: Vec<String> = limits.collect();
                let call = format!("RL.MULTI {} {}", limits.len(), limits.join(" "));
                let [named, unnamed] = both(&mut con, &call).map(read::<(i64, Vec<Value>)>);
                assert_eq!([named.0, unnamed.0], [expected; 2]);
                let named: Vec<Full> = named.1.into_iter().map(full).collect();
                let unnamed: Vec<Full> = unnamed.1.into_iter().map(line).collect();
                assert_eq!(unnamed, named);
                assert_eq!(named.len(), limits.len());
            }
        }
    });
}
