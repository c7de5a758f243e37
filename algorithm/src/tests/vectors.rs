//! vectors/algorithms.json: what every algorithm replies and stores, for readers in any language. It is written by the
//! algorithms in memory, with `UPDATE=1`; the server reads it in tests/module/vectors.rs.

use std::fmt::Write;

use super::*;
use crate::in_memory::{Charging, Holders, Limit};
use crate::reservation::{Reservation, Standing};

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../vectors/algorithms.json");
const START: i64 = 1_795_269_620_123_456;
const POLICY: &str = "k 1m 5";
const ABOUT: &str = "Calls, one a line, in their order: at `at`, in Unix microseconds, `call` is sent, `reply` is its reply, and \
    afterwards the server holds `keys`: name, value and expiry in Unix milliseconds. A value is the text of a STRING (of \
    ROLLING in hex), the sorted scores of a ZSET, or the fields of a HASH or members of a ZSET with their scores. Each \
    algorithm begins with empty keys. A clock that steps back is part of it.";

#[derive(Clone, Copy)]
enum Call {
    Request(u64),
    Peek(u64),
    Partial(u64),
    /// With SHADOW.
    PartialShadow(u64),
    Always(u64),
    /// Units, and how many milliseconds ago they were charged.
    Refund(u64, Option<u64>),
    Settle(u64, u64, Option<u64>),
    /// The id, the seconds of its ttl, and the units.
    Reserve(&'static str, u64, u64),
    SettleReservation(&'static str, u64),
    Reset,
}

/// Milliseconds since the call before, and the call.
const CALLS: &[(i64, Call)] = &[
    (0, Call::Request(1)),
    (500, Call::Request(3)),
    (0, Call::Peek(2)),
    (0, Call::Request(2)),
    (0, Call::Request(0)),
    (0, Call::Request(6)),
    (7_000, Call::Partial(3)),
    (0, Call::Partial(3)),
    (20_000, Call::Refund(2, None)),
    (0, Call::Settle(1, 4, None)),
    (1_000, Call::Request(1)),
    (0, Call::Always(2)),
    (3_000, Call::Refund(1, Some(4_000))),
    (0, Call::Settle(3, 1, Some(90_000))),
    (0, Call::Settle(1, 2, Some(4_000))),
    (61_000, Call::Request(2)),
    (0, Call::Reserve("a", 10, 2)),
    (1_000, Call::Reserve("b", 5, 1)),
    (1_000, Call::SettleReservation("a", 1)),
    (7_000, Call::Request(1)),
    (0, Call::SettleReservation("b", 3)),
    (0, Call::SettleReservation("c", 3)),
    (65_000, Call::Request(2)),
    (0, Call::PartialShadow(3)),
    (0, Call::PartialShadow(1)),
    (0, Call::Reset),
    (0, Call::Request(5)),
    (-2_000, Call::Request(1)),
];

/// The reply of LINE.
fn line(first: u64, verdict: &Verdict, figures: &Figures, now: Micros, (shadow, charged): (u8, u64)) -> String {
    let Figures { limit, remaining, retry_after_ms, next_ms, reset_ms, delay_ms } = figures;
    let (count, ttl, now_ms) = (verdict.count, verdict.ttl, now.millis());
    format!(
        "\"{first} {count} {ttl} {limit} {remaining} {retry_after_ms} {next_ms} {reset_ms} {delay_ms} {now_ms} {shadow} {charged}\""
    )
}

/// A limit with its key, as the server has it.
struct Server<A: TestAlgorithm> {
    word: String,
    algorithm: A,
    limit: Limit<A>,
}

impl<A: TestAlgorithm> Server<A> {
    /// The words and the reply of a call. `None` if the algorithm does not take it.
    fn call(&mut self, call: Call, now: Micros) -> Option<(String, String)> {
        let (word, algorithm, key) = (&self.word, &self.algorithm, &mut self.limit.key);
        A::expire(key, now);
        let request = |options: String| format!("RL.{word} {POLICY}{options} LINE");
        let correction = |command: &str, options: String| format!("RL.{command} {word} {POLICY}{options} LINE");
        let at = |ago: Option<u64>| ago.map(|ago| Micros::from_millis(now.millis() - ago));
        let at_words = |ago: Option<u64>| ago.map_or(String::new(), |ago| format!(" AT {}", now.millis() - ago));
        let decided = |key: &A::Key, units: u64| {
            let mut key = key.clone();
            algorithm.prune(&mut key, now);
            let decision = algorithm.decision(&key, now, cost(units), Charging::IfAllowed).unwrap();
            (decision.verdict, algorithm.figures(&key, &decision, now))
        };
        let reply = |(verdict, figures): (Verdict, Figures), charged| {
            line(verdict.allowed.into(), &verdict, &figures, now, (0, charged))
        };
        Some(match call {
            Call::Request(units) => {
                let Reply { verdict, figures, .. } = algorithm.request(key, now, cost(units)).unwrap();
                let charged = if verdict.allowed { units } else { 0 };
                (request(format!(" COST {units}")), reply((verdict, figures), charged))
            }
            Call::Peek(units) => (correction("PEEK", format!(" COST {units}")), reply(decided(key, units), 0)),
            Call::Partial(_) | Call::PartialShadow(_) if !A::TRAITS.partial => return None,
            Call::Partial(units) => {
                let part = algorithm.remaining(key, now).min(units);
                let Reply { verdict, figures, .. } = algorithm.request(key, now, cost(part)).unwrap();
                let first = if verdict.allowed { part } else { 0 };
                (request(format!(" COST {units} PARTIAL")), line(first, &verdict, &figures, now, (0, first)))
            }
            Call::PartialShadow(units) => {
                let part = algorithm.remaining(key, now).min(units);
                let Reply { mut verdict, mut figures, .. } = algorithm.request(key, now, cost(part)).unwrap();
                if !verdict.allowed && !A::TRAITS.ttl_of_script {
                    verdict.ttl = figures.reset_ms.unsigned_abs().div_ceil(1_000).cast_signed();
                }
                figures.retry_after_ms = 0;
                let charged = if verdict.allowed { part } else { 0 };
                let shadowed = (u8::from(charged < units), charged);
                (request(format!(" COST {units} PARTIAL SHADOW")), line(units, &verdict, &figures, now, shadowed))
            }
            Call::Always(_) if !A::TRAITS.always => return None,
            Call::Always(units) => {
                let Reply { verdict, figures, .. } =
                    algorithm.request_charging(key, now, cost(units), Charging::Always).unwrap();
                (request(format!(" COST {units} ALWAYS")), reply((verdict, figures), units))
            }
            Call::Refund(units, ago) => {
                algorithm.refund(key, now, at(ago), cost(units));
                let words = format!(" COST {units}{}", at_words(ago));
                (correction("REFUND", words), reply(decided(key, units), 0))
            }
            Call::Settle(..) if !A::TRAITS.settle => return None,
            Call::Settle(reserved, actual, ago) => {
                if actual < reserved {
                    algorithm.refund(key, now, at(ago), cost(reserved - actual));
                } else {
                    algorithm.overcharge(key, now, at(ago), cost(actual - reserved)).unwrap();
                }
                let words = format!(" RESERVED {reserved} ACTUAL {actual}{}", at_words(ago));
                (correction("SETTLE", words), reply(decided(key, 1), actual))
            }
            Call::Reserve(..) | Call::SettleReservation(..) if !A::TRAITS.reserve => return None,
            Call::Reserve(id, ttl, units) => {
                let ttl = Window::from_millis(ttl * 1_000).unwrap();
                let reserved = self.limit.reserve(algorithm, now, id.as_bytes(), ttl, cost(units)).unwrap();
                let Reply { verdict, figures, .. } = reserved.reply;
                let words = format!(" COST {units} RESERVE {id} {}", ttl.seconds());
                (request(words), reply((verdict, figures), reserved.charged))
            }
            Call::SettleReservation(id, actual) => {
                let known =
                    !matches!(self.limit.give_back(algorithm, now, id.as_bytes()).1.standing(), Standing::Unknown);
                let charged = self.limit.settle(algorithm, now, id.as_bytes(), cost(actual)).unwrap();
                assert_eq!(charged, if known { actual } else { 0 });
                let words = format!(" RESERVATION {id} ACTUAL {actual}");
                (correction("SETTLE", words), reply(decided(&self.limit.key, 1), charged))
            }
            Call::Reset => {
                let existed = !algorithm.stored_keys(key).is_empty() || !self.limit.fields.is_empty();
                self.limit = Limit::default();
                (format!("RL.RESET {word} k 1m"), u8::from(existed).to_string())
            }
        })
    }

    fn keys(&self) -> String {
        let hash =
            self.limit.fields.iter().map(|(id, field)| {
                format!("\"{}\": \"{}\"", String::from_utf8_lossy(id), String::from_utf8_lossy(field))
            });
        let hash = hash.collect::<Vec<_>>().join(", ");
        let infix = if self.word == "FIXED" { ":60000ms" } else { "" };
        let name = format!("k{infix}:reserved");
        let ends = self.limit.fields.iter().filter_map(|(id, field)| {
            Some(format!("\"{}\": {}", String::from_utf8_lossy(id), Reservation::decode(field)?.ends_at))
        });
        let ends = ends.collect::<Vec<_>>().join(", ");
        let reserved = [(name.clone(), hash), (name + ":ends", ends)].into_iter().filter(|(_, text)| !text.is_empty());
        let reserved = reserved.map(|(name, text)| (name, format!("{{{text}}}"), self.limit.expires_at));
        keys_of(self.algorithm.stored_keys(&self.limit.key).into_iter().chain(reserved))
    }
}

fn keys_of(keys: impl Iterator<Item = (String, String, Option<u64>)>) -> String {
    let key = |(name, value, expires_at): (String, String, Option<u64>)| {
        format!("[\"{name}\", {value}, {}]", expires_at.expect("an expiry"))
    };
    keys.map(key).collect::<Vec<_>>().join(", ")
}

fn add(text: &mut String, now: i64, (call, reply): (String, String), keys: &str) {
    writeln!(text, "  {{\"at\": {now}, \"call\": \"{call}\", \"reply\": {reply}, \"keys\": [{keys}]}},").unwrap();
}

fn cases_of<A: TestAlgorithm>(word: &str) -> String {
    let algorithm = A::build(&policy(60_000, 5)).unwrap();
    let mut server = Server { word: word.to_uppercase(), algorithm, limit: Limit::default() };
    let (mut text, mut now) = (String::new(), START);
    for &(step, call) in CALLS {
        now += step * 1_000;
        if let Some(called) = server.call(call, Micros(now.cast_unsigned())) {
            add(&mut text, now, called, &server.keys());
        }
    }
    text
}

fn cases_of_leases() -> String {
    let lease = Lease::new(&policy(30_000, 2));
    let (mut key, mut text, mut now) = (Holders::default(), String::new(), START);
    for (step, call, id) in [
        (0, "LEASE", "a"),
        (0, "LEASE", "b"),
        (1_000, "LEASE", "c"),
        (9_000, "RENEW", "a"),
        (0, "LEASE", "a"),
        (1_000, "RELEASE", "b"),
        (0, "LEASE", "c"),
        (29_000, "RENEW", "a"),
        (0, "RELEASE", "a"),
        (0, "LEASE", "d"),
        (-5_000, "LEASE", "c"),
    ] {
        now += step * 1_000;
        let at = Micros(now.cast_unsigned());
        let held = key.ends.get(id.as_bytes()).is_some_and(|&end| end > at.millis());
        let called = match call {
            "RENEW" => {
                (format!("RL.RENEW k 30s {id}"), u8::from(key.renew(window(30_000), id.as_bytes(), at)).to_string())
            }
            "RELEASE" => (format!("RL.RELEASE k {id}"), u8::from(key.release(id.as_bytes(), at)).to_string()),
            _ => {
                let Reply { verdict, figures, .. } = key.request(&lease, id.as_bytes(), at);
                let charged = u64::from(verdict.allowed && !held);
                let reply = line(verdict.allowed.into(), &verdict, &figures, at, (0, charged));
                (format!("RL.LEASE k 30s 2 ID {id} LINE"), reply)
            }
        };
        let members = key.ends.iter().map(|(id, end)| format!("\"{}\": {end}", String::from_utf8_lossy(id)));
        let members = format!("{{{}}}", members.collect::<Vec<_>>().join(", "));
        let keys = key.ends.values().max().map(|&last| ("k".to_owned(), members, Some(last)));
        add(&mut text, now, called, &keys_of(keys.into_iter()));
    }
    text
}

fn window(millis: u64) -> Window {
    Window::from_millis(millis).unwrap()
}

macro_rules! all_cases {
    ($($name:ident: $algorithm:ty = $kind:expr;)*) => {
        [$((stringify!($name), cases_of::<$algorithm>(stringify!($name)))),*]
    };
}

#[test]
fn the_vectors_are_what_the_algorithms_reply() {
    let mut text = format!("{{\n \"about\": \"{ABOUT}\",\n");
    let all = every_algorithm!(all_cases);
    for (word, cases) in all.into_iter().chain([("lease", cases_of_leases())]) {
        let cases = cases.trim_end().trim_end_matches(',');
        writeln!(text, " \"{}\": [\n{cases}\n ],", word.to_uppercase()).unwrap();
    }
    let text = format!("{}\n}}\n", text.trim_end().trim_end_matches(','));
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(PATH, &text).expect("vectors/algorithms.json");
    }
    assert!(std::fs::read_to_string(PATH).expect("vectors/algorithms.json") == text, "UPDATE=1 writes them again");
}
