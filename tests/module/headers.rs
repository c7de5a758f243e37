//! The values of the HTTP headers are valid and true, whatever the policy: the integers of a structured field have at
//! most fifteen digits, and a window in `RateLimit-Policy` is a whole number of seconds.

use crate::support::*;
use redis::{Connection, Value};

const LARGEST: i64 = 999_999_999_999_999;

/// The headers of a request alone, of the same in RL.MULTI, and of RL.PEEK.
fn headers_of(con: &mut Connection, algorithm: &Algorithm, arguments: &[String]) -> [Vec<(String, String)>; 3] {
    let peek = cmd!(*con, "RL.PEEK", algorithm.word(), arguments, "HEADERS");
    let (_, peek) = with_headers(ok(peek));
    let (_, alone) = with_headers(ok(cmd!(*con, algorithm.command, arguments, "HEADERS")));
    ok(cmd!(*con, "FLUSHALL"));
    let reply = cmd!(*con, "RL.MULTI", 1, algorithm.word(), arguments, "HEADERS");
    let (_, _, multi): (i64, Value, Value) = read(ok(reply));
    ok(cmd!(*con, "FLUSHALL"));
    [alone, header_pairs(multi), peek]
}

#[track_caller]
fn value<'a>(headers: &'a [(String, String)], name: &str) -> &'a str {
    let found = headers.iter().find(|(found, _)| found == name);
    found.map(|(_, value)| value.as_str()).unwrap_or_else(|| panic!("no {name} in {headers:?}"))
}

/// The integer of a parameter: `q` of `"token";q=5;w=60`.
#[track_caller]
fn parameter(item: &str, name: &str) -> i64 {
    let mut parameters = item.split(';').skip(1).filter_map(|parameter| parameter.split_once('='));
    let found = parameters.find(|(found, _)| *found == name);
    let (_, digits) = found.unwrap_or_else(|| panic!("no {name} in {item}"));
    assert!(digits.len() <= 15 && digits.bytes().all(|byte| byte.is_ascii_digit()), "{item}");
    digits.parse().expect("an integer")
}

fn arguments(window: &str, limit: i64, options: &[&str]) -> Vec<String> {
    let words = ["k", window, &limit.to_string()].map(str::to_owned);
    words.into_iter().chain(options.iter().map(ToString::to_string)).collect()
}

/// RFC 9651, section 3.3.1. A larger integer voids the whole field.
#[test]
fn integers_of_structured_fields_have_at_most_fifteen_digits() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for algorithm in ALGORITHMS {
            for limit in [LARGEST, LARGEST + 1, 10_000_000_000_000_000] {
                for headers in headers_of(&mut con, algorithm, &arguments("100000000", limit, &[])) {
                    let (policy, now) = (value(&headers, "RateLimit-Policy"), value(&headers, "RateLimit"));
                    assert_eq!(parameter(policy, "q"), LARGEST, "{algorithm:?} {limit}");
                    assert_eq!(parameter(policy, "w"), 100_000_000, "{algorithm:?} {limit}");
                    assert_eq!(parameter(now, "r"), (limit - 1).min(LARGEST), "{algorithm:?} {limit}");
                    parameter(now, "t");
                    // These are no structured fields, so they have the figures as they are.
                    assert_eq!(value(&headers, "X-RateLimit-Limit"), limit.to_string(), "{algorithm:?}");
                    assert_eq!(value(&headers, "X-RateLimit-Remaining"), (limit - 1).to_string(), "{algorithm:?}");
                }
            }
            // Scaled to whole seconds, the limit has too many digits.
            for headers in headers_of(&mut con, algorithm, &arguments("10000000500ms", 600_000_000_000_000, &[])) {
                let policy = value(&headers, "RateLimit-Policy");
                assert_eq!([parameter(policy, "q"), parameter(policy, "w")], [LARGEST, 20_000_001], "{algorithm:?}");
            }
        }
        // The largest arguments.
        for algorithm in ALGORITHMS {
            let (window, limit) = algorithm.largest;
            for headers in headers_of(&mut con, algorithm, &arguments(&window.to_string(), limit, &[])) {
                let (policy, now) = (value(&headers, "RateLimit-Policy"), value(&headers, "RateLimit"));
                parameter(policy, "q");
                parameter(policy, "w");
                parameter(now, "r");
                parameter(now, "t");
            }
        }
    });
}

/// A window that is no whole number of seconds is scaled, together with the limit.
#[test]
fn the_policy_is_the_rate_that_is_held() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for algorithm in ALGORITHMS {
            for (window, limit, expected) in [
                ("500ms", 10, "q=20;w=1"),
                ("1500ms", 10, "q=20;w=3"),
                ("1ms", 1, "q=1000;w=1"),
                ("1ms", 7, "q=7000;w=1"),
                ("999ms", 1, "q=1000;w=999"),
                ("250ms", 3, "q=12;w=1"),
                ("1000ms", 3, "q=3;w=1"),
                ("2000ms", 3, "q=3;w=2"),
                ("60", 3, "q=3;w=60"),
                ("1d", 3, "q=3;w=86400"),
                ("500ms", 0, "q=0;w=1"),
            ] {
                for headers in headers_of(&mut con, algorithm, &arguments(window, limit, &[])) {
                    let expected = format!("\"{}\";{expected}", algorithm.name);
                    assert_eq!(value(&headers, "RateLimit-Policy"), expected, "{window} {limit}");
                    // The figures of this moment are not scaled.
                    assert_eq!(value(&headers, "X-RateLimit-Limit"), limit.to_string(), "{window} {limit}");
                }
            }
        }
    });
}

/// `q` is the rate, `X-RateLimit-Limit` the burst, from which the remaining counts down.
#[test]
fn a_burst_is_no_part_of_the_policy() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for algorithm in ALGORITHMS.iter().filter(|algorithm| algorithm.takes_burst) {
            for headers in headers_of(&mut con, algorithm, &arguments("500ms", 10, &["BURST", "30"])) {
                let expected = format!("\"{}\";q=20;w=1", algorithm.name);
                assert_eq!(value(&headers, "RateLimit-Policy"), expected, "{algorithm:?}");
                assert_eq!(value(&headers, "X-RateLimit-Limit"), "30", "{algorithm:?}");
                assert_eq!(value(&headers, "X-RateLimit-Remaining"), "29", "{algorithm:?}");
            }
        }
    });
}
