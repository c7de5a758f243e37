//! The names of policies in the headers: two limits of a call never share one.

use redis::{Connection, Value};

use crate::support::*;

/// The names that RL.MULTI lists for limits of TOKEN with these names, and the one of the strictest limit.
#[track_caller]
fn names(con: &mut Connection, given: &[&str]) -> (Vec<String>, String) {
    let limits = given.iter().enumerate().map(|(n, name)| match *name {
        "" => format!(" TOKEN k{n} 100d 5"),
        name => format!(" TOKEN k{n} 100d 5 AS {name}"),
    });
    let call = format!("RL.MULTI {}{} HEADERS", given.len(), limits.collect::<String>());
    let (_, _, headers): (i64, Value, Value) = read(ok(send(con, &call)));
    let headers = header_pairs(headers);
    let quoted = |item: &str| item.split('"').nth(1).expect("a quoted name").to_owned();
    let value = |name: &str| headers.iter().find(|(found, _)| found == name).map(|(_, value)| value).expect("a header");
    (value("RateLimit-Policy").split(", ").map(quoted).collect(), quoted(value("RateLimit")))
}

#[test]
fn two_limits_of_a_call_never_share_a_name() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        // Any mix, up to 64 limits: each has a name of its own, which begins with the one that it was given.
        let longest = "n".repeat(64);
        for mut random in randoms() {
            for count in [2, 5, 17, 64] {
                ok(cmd!(con, "FLUSHALL"));
                let from = ["x", "x-2", "x-3", "x-2-2", "token", "", &longest];
                let given: Vec<&str> = (0..count).map(|_| random.pick(&from)).collect();
                let (found, strictest) = names(&mut con, &given);
                let unique: std::collections::BTreeSet<_> = found.iter().collect();
                assert_eq!(unique.len(), count, "{given:?} became {found:?}");
                assert!(found.contains(&strictest), "{strictest} is not one of {found:?}");
                assert!(
                    given.iter().zip(&found).all(|(given, found)| found.starts_with(given)),
                    "{given:?}: {found:?}"
                );
            }
        }
    });
}
