//! FIXED with windows of the calendar and with ANCHOR: `RL.FIXED org:7 month 1000000 ANCHOR 1767225600`.
//!
//! The clock of a server cannot be set, so the period that a reply must be about is computed here from the reply's
//! `now_ms`, by a calendar that knows only how long the months are.

use std::thread;
use std::time::Duration;

use crate::support::*;
use redis::{Connection, Value};

const DAY: i64 = 86_400;

fn days_in_year(year: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    365 + i64::from(leap)
}

/// `month` is 0 to 11.
fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        1 => days_in_year(year) - 337,
        3 | 5 | 8 | 10 => 30,
        _ => 31,
    }
}

/// The months since year 0, and the days since the start of the month, of a day since 1970.
fn month_of(mut day: i64) -> (i64, i64) {
    let mut year = 1970;
    while day >= days_in_year(year) {
        day -= days_in_year(year);
        year += 1;
    }
    let mut month = 0;
    while day >= days_in_month(year, month) {
        day -= days_in_month(year, month);
        month += 1;
    }
    (12 * year + month, day)
}

/// The day since 1970 on which a month starts.
fn first_day(months: i64) -> i64 {
    let (year, month) = (months / 12, months % 12);
    (1970..year).map(days_in_year).sum::<i64>() + (0..month).map(|month| days_in_month(year, month)).sum::<i64>()
}

/// The window argument of a limit, and its anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Window {
    text: &'static str,
    /// The calendar word, or the length in ms with its unit: what is in the counter's key.
    name: &'static str,
    anchor: Option<i64>,
}

const WORDS: [&str; 4] = ["day", "week", "month", "year"];

/// Windows of a fixed length: the argument, and the name in the key.
const LENGTHS: [(&str, &str); 6] = [
    ("1d", "86400000ms"),
    ("24h", "86400000ms"),
    ("7200", "7200000ms"),
    ("1500ms", "1500ms"),
    ("999999", "999999000ms"),
    // Starts before 1970 if its anchor is in the future.
    ("1000000000000", "1000000000000000ms"),
];

/// 1970, 1 January 2026, 31 January 2026 at noon, 29 February 2000, 30 April 2021 at 23:59:59, 29 February 2080,
/// 31 December 2150 at 06:30, and the last second of 9999.
const ANCHORS: [i64; 8] =
    [0, 1_767_225_600, 1_769_860_800, 951_782_400, 1_619_827_199, 3_476_476_800, 5_711_754_600, 253_402_300_799];

impl Window {
    fn calendar(word: &'static str, anchor: Option<i64>) -> Self {
        Self { text: word, name: word, anchor }
    }

    /// Every window with every anchor; calendar words without one too.
    fn all() -> impl Iterator<Item = Self> {
        let anchors = ANCHORS.into_iter().map(Some).chain([None]);
        let words = anchors.flat_map(|anchor| WORDS.map(|word| Self::calendar(word, anchor)));
        let lengths = ANCHORS
            .into_iter()
            .flat_map(|anchor| LENGTHS.map(|(text, name)| Self { text, name, anchor: Some(anchor) }));
        words.chain(lengths)
    }

    /// Its periods end again and again while a test runs.
    fn is_short(&self) -> bool {
        self.name == "1500ms"
    }

    fn length_ms(&self) -> Option<i64> {
        self.name.strip_suffix("ms").map(|length| length.parse().expect("a length"))
    }

    /// The start and the end of the period that contains a time, in ms.
    fn period(&self, now_ms: i64) -> (i64, i64) {
        // 5 January 1970 was a Monday.
        let default = if self.name == "week" { 4 * DAY } else { 0 };
        let anchor = self.anchor.unwrap_or(default);
        let length = match self.name {
            "day" => Some(DAY * 1_000),
            "week" => Some(7 * DAY * 1_000),
            _ => self.length_ms(),
        };
        if let Some(length) = length {
            let start = anchor * 1_000 + (now_ms - anchor * 1_000).div_euclid(length) * length;
            return (start.max(0), start + length);
        }
        let step = if self.name == "year" { 12 } else { 1 };
        let ((anchor_month, anchor_day), time) = (month_of(anchor / DAY), anchor % DAY);
        // The start of the period `n` steps after the anchor's, in ms.
        let start = |n: i64| {
            let months = anchor_month + n * step;
            let day = anchor_day.min(days_in_month(months / 12, months % 12) - 1);
            ((first_day(months) + day) * DAY + time) * 1_000
        };
        // The first that starts after now, looked for from long before it.
        let (now_month, _) = month_of(now_ms / 1_000 / DAY);
        let mut n = (now_month - anchor_month) / step - 2;
        while start(n + 1) <= now_ms {
            n += 1;
        }
        assert!(start(n) <= now_ms, "the search started too late");
        (start(n), start(n + 1))
    }

    /// The key of the counter of `key`.
    fn counter(&self, key: &str, now_ms: i64) -> String {
        format!("{key}:{}:{}", self.name, self.period(now_ms).0)
    }

    /// ` ANCHOR t`, or nothing.
    fn anchor(&self) -> String {
        self.anchor.map_or(String::new(), |anchor| format!(" ANCHOR {anchor}"))
    }
}

#[track_caller]
fn send_full(con: &mut Connection, words: &str) -> Full {
    full(ok(send(con, &format!("{words} FULL"))))
}

/// Waits until none of these periods ends within the next seconds, so that the calls that follow are in one period.
fn wait_for_a_calm_time(windows: &[Window]) {
    const CALM_MS: i64 = 5_000;
    while windows.iter().any(|window| !window.is_short() && window.period(now_ms()).1 - now_ms() < CALM_MS) {
        thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn the_calendar_of_the_tests_is_right() {
    let millis = |seconds: i64| seconds * 1_000;
    let month = |anchor| Window::calendar("month", anchor);
    // 17 February 2026, 12:34:56.
    let now = millis(1_771_331_696);
    for (window, start, end) in [
        (Window::calendar("day", None), 1_771_286_400, 1_771_372_800),
        // Monday 16 February to Monday 23 February.
        (Window::calendar("week", None), 1_771_200_000, 1_771_804_800),
        (month(None), 1_769_904_000, 1_772_323_200),
        (Window::calendar("year", None), 1_767_225_600, 1_798_761_600),
        // 31 January to 28 February, at noon.
        (month(Some(1_769_860_800)), 1_769_860_800, 1_772_280_000),
        // 28 February 2025 to 28 February 2026, from the 29th.
        (Window::calendar("year", Some(951_782_400)), 1_740_700_800, 1_772_236_800),
    ] {
        assert_eq!(window.period(now), (millis(start), millis(end)), "{window:?}");
    }
}

/// Key, expiry, `reset_ms`, `ttl` and the headers, for every window with every anchor.
#[test]
fn a_counter_belongs_to_its_period_and_expires_at_its_end() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        for mut con in [server.con(), server.con3()] {
            for window in Window::all() {
                let (text, anchor) = (window.text, window.anchor());
                wait_for_a_calm_time(&[window]);
                // A short period can end between two calls.
                let done = (0..20).any(|_| {
                    ok(cmd!(con, "FLUSHALL"));
                    let call = format!("RL.FIXED org:7 {text} 10{anchor} COST 3");
                    let reply = send_full(&mut con, &call);
                    let now = reply.now_ms;
                    let (start, end) = window.period(now);
                    let (found, expiry) = (keys(&mut con), expires_at(&mut con, &window.counter("org:7", now)));
                    let value = ok(cmd!(con, "GET", window.counter("org:7", now)));
                    let denied = send_full(&mut con, &format!("RL.PEEK FIXED org:7 {text} 10{anchor} COST 8"));
                    let (_, headers) =
                        with_headers(ok(send(&mut con, &format!("RL.PEEK FIXED org:7 {text} 10{anchor} HEADERS"))));
                    if server_ms(&mut con) >= end {
                        return false;
                    }

                    assert_eq!(found, [format!("org:7:{}:{start}", window.name)], "{call}");
                    assert_eq!((value, expiry), (bytes("3"), end), "{call}");
                    let left = end - now;
                    let expected = Full {
                        allowed: 1,
                        count: 3,
                        ttl: (left + 500) / 1_000,
                        limit: 10,
                        remaining: 7,
                        retry_after_ms: 0,
                        next_ms: left,
                        reset_ms: left,
                        delay_ms: 0,
                        now_ms: now,
                        shadow: 0,
                        charged: 3,
                    };
                    assert_eq!(reply, expected, "{call}");
                    assert_eq!([denied.allowed, denied.count], [0, 3], "{call}");
                    assert_eq!(denied.now_ms + denied.retry_after_ms, end, "{call}");

                    let value =
                        |name: &str| headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.clone());
                    // The length of the current period; the quota of whole seconds where it has none.
                    let length = window.length_ms().unwrap_or(end - start);
                    let [quota, seconds] = if length % 1_000 == 0 { [10, length / 1_000] } else { [20, length / 500] };
                    let policy = format!("\"fixed\";q={quota};w={seconds}");
                    assert_eq!(value("RateLimit-Policy"), Some(policy), "{call}");
                    assert_eq!(value("X-RateLimit-Reset"), Some(((end + 999) / 1_000).to_string()), "{call}");
                    true
                });
                assert!(done, "{window:?}: a period ended between two calls, again and again");
            }
        }
    });
}

/// Upper and lower case are one word, and one counter.
#[test]
fn a_calendar_word_may_have_any_case() {
    wait_for_a_calm_time(&[Window::calendar("month", None)]);
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for (n, text) in ["month", "MONTH", "Month", "mOnTh"].iter().enumerate() {
            let [allowed, count, _]: [i64; 3] = read(ok(cmd!(con, "RL.FIXED", "k", text, 10)));
            assert_eq!([allowed, count], [1, 1 + n as i64]);
        }
        assert_eq!(only_key(&mut con), Window::calendar("month", None).counter("k", now_ms()));
    });
}

/// A window without ANCHOR keeps the key of the script.
#[test]
fn a_plain_window_keeps_its_key() {
    wait_for_a_calm_time(&Window::all().collect::<Vec<_>>());
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for (text, seconds) in [("1d", DAY), ("7200", 7_200), ("999999", 999_999)] {
            ok(cmd!(con, "FLUSHALL"));
            let reply = send_full(&mut con, &format!("RL.FIXED k {text} 10"));
            assert_eq!(only_key(&mut con), format!("k:{}", reply.now_ms / 1_000 / seconds));
            // With ANCHOR 0 the windows are the same, but the counter is another one.
            assert_eq!(send_full(&mut con, &format!("RL.FIXED k {text} 10 ANCHOR 0")).count, 1);
            assert_eq!(keys(&mut con).len(), 2);
        }
    });
}

/// All that starts at one moment on one key: each window has its own counter.
#[test]
fn limits_on_one_key_do_not_collide() {
    wait_for_a_calm_time(&Window::all().collect::<Vec<_>>());
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        // An hour ago all of them started.
        let anchor = now_ms() / 1_000 - 3_600;
        let mut windows: Vec<String> = WORDS.map(|word| format!("{word} 1000 ANCHOR {anchor}")).to_vec();
        windows.extend(["1d", "2d", "7d"].map(|length| format!("{length} 1000 ANCHOR {anchor}")));
        windows.extend(["day", "week", "month", "year", "1d", "7d"].map(|plain| format!("{plain} 1000")));
        for (n, window) in windows.iter().enumerate() {
            assert_eq!(send_full(&mut con, &format!("RL.FIXED k {window} COST {}", n + 1)).count, n as i64 + 1);
        }
        for (n, window) in windows.iter().enumerate() {
            assert_eq!(send_full(&mut con, &format!("RL.PEEK FIXED k {window} COST 0")).count, n as i64 + 1);
        }
        let all = keys(&mut con);
        assert_eq!(all.len(), windows.len(), "{all:?}");
        for word in ["day", "week", "month", "year", "86400000ms", "172800000ms", "604800000ms"] {
            assert!(all.contains(&format!("k:{word}:{anchor}000")), "no {word} in {all:?}");
        }
        // In one call too.
        let limits: Vec<String> = windows.iter().map(|window| format!("FIXED k {window}")).collect();
        let call = format!("RL.MULTI {} {}", limits.len(), limits.join(" "));
        let (allowed, replies): (i64, Vec<[i64; 3]>) = read(ok(send(&mut con, &call)));
        let counts: Vec<i64> = replies.iter().map(|reply| reply[1]).collect();
        assert_eq!((allowed, counts), (1, (2..).take(windows.len()).collect()));

        // One counter twice is an error.
        let month = Window::calendar("month", None).counter("k", now_ms());
        let data = digest(&mut con);
        for limits in [
            "FIXED k day 5 FIXED k DAY 7".to_owned(),
            "FIXED k 1d 5 ANCHOR 0 FIXED k 24h 5 ANCHOR 0".to_owned(),
            "FIXED k 1d 5 ANCHOR 0 FIXED k 86400 5 ANCHOR 86400".to_owned(),
            "FIXED k month 5 FIXED k month 5 ANCHOR 0".to_owned(),
            "FIXED k month 5 ANCHOR 0 FIXED k month 5 ANCHOR 1767225600".to_owned(),
            format!("FIXED k month 5 TOKEN {month} 60 5"),
            format!("GCRA {month} 60 5 FIXED k month 5"),
        ] {
            let text = err(send(&mut con, &format!("RL.MULTI 2 {limits}")));
            assert_eq!(
                text, "ERR limit 2: invalid key: two limits would keep their state in one key; give each its own key",
                "{limits}"
            );
        }
        assert_eq!(digest(&mut con), data);
    });
}

/// RL.PEEK, RL.REFUND, RL.SETTLE, RL.RESET and RL.MULTI find the counter of the period, and leave the others alone.
#[test]
fn every_command_finds_the_counter_of_the_period() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for window in Window::all().filter(|window| !window.is_short()) {
            let limit = format!("FIXED k {} 10{}", window.text, window.anchor());
            let reset = format!("RL.RESET FIXED k {}{}", window.text, window.anchor());
            wait_for_a_calm_time(&[window]);
            ok(cmd!(con, "FLUSHALL"));
            // Other counters of the key.
            ok(cmd!(con, "RL.FIXED", "k", "9999d", 10));
            ok(cmd!(con, "RL.FIXED", "k", "9999d", 10, "ANCHOR", 7));
            let others = digest(&mut con);
            // What is counted after a call.
            let peek = format!("RL.PEEK {limit} COST 0");
            let count = |con: &mut Connection, call: &str| {
                ok(send(con, call));
                let reply = send_full(con, &peek);
                let reset_at = if reply.count == 0 { reply.now_ms } else { window.period(reply.now_ms).1 };
                assert_eq!(reply.now_ms + reply.reset_ms, reset_at, "{call}");
                reply.count
            };

            assert_eq!(count(&mut con, &peek), 0);
            assert_eq!(ok(send(&mut con, &reset)), Value::Int(0), "{reset}");
            assert_eq!(count(&mut con, &format!("RL.REFUND {limit}")), 0);
            assert_eq!(digest(&mut con), others, "{limit}");

            assert_eq!(count(&mut con, &format!("RL.{limit} COST 6")), 6);
            let (start, end) = window.period(now_ms());
            assert_eq!(count(&mut con, &format!("RL.PEEK {limit} COST 2")), 6);
            assert_eq!(count(&mut con, &format!("RL.REFUND {limit} COST 2")), 4);
            assert_eq!(count(&mut con, &format!("RL.SETTLE {limit} RESERVED 1 ACTUAL 4")), 7);
            assert_eq!(count(&mut con, &format!("RL.SETTLE {limit} RESERVED 4 ACTUAL 2")), 5);
            // Of a request of this period, and of one of the last.
            assert_eq!(count(&mut con, &format!("RL.REFUND {limit} AT {start}")), 4);
            if start > 0 {
                let before = start - 1;
                assert_eq!(count(&mut con, &format!("RL.REFUND {limit} AT {before}")), 4);
                assert_eq!(count(&mut con, &format!("RL.SETTLE {limit} RESERVED 0 ACTUAL 3 AT {before}")), 4);
            }
            assert_eq!(count(&mut con, &format!("RL.SETTLE {limit} RESERVED 0 ACTUAL 1 AT {start}")), 5);
            assert_eq!(expires_at(&mut con, &window.counter("k", start)), end, "{limit}");

            let multi = format!("RL.MULTI 2 {limit} COST 2 FIXED k 9998d 10 ANCHOR 9 FULL");
            let (allowed, replies): (i64, Vec<Value>) = read(ok(send(&mut con, &multi)));
            let counts: Vec<i64> = replies.into_iter().map(|reply| full(reply).count).collect();
            assert_eq!((allowed, counts), (1, vec![7, 1]), "{multi}");
            // All or nothing.
            let data = digest(&mut con);
            let multi = format!("RL.MULTI 2 FIXED k 9998d 10 ANCHOR 9 {limit} COST 4");
            let (allowed, _): (i64, Value) = read(ok(send(&mut con, &multi)));
            assert_eq!((allowed, digest(&mut con)), (0, data), "{multi}");

            assert_eq!(ok(send(&mut con, "RL.RESET FIXED k 9998d ANCHOR 9")), Value::Int(1));
            assert_eq!(ok(send(&mut con, &reset)), Value::Int(1), "{reset}");
            assert_eq!(ok(send(&mut con, &reset)), Value::Int(0), "{reset}");
            assert_eq!(digest(&mut con), others, "{reset}");
        }
    });
}

/// A counter that lost its expiry gets that of its period; one that INCR or DECR changed is counted on.
#[test]
fn the_counter_is_a_plain_one() {
    wait_for_a_calm_time(&[Window::calendar("month", Some(1_769_860_800))]);
    for_each_server(|bin| {
        let server = Server::options(bin).durable().start();
        let mut con = server.con();
        let window = Window::calendar("month", Some(1_769_860_800));
        let call = "RL.FIXED k month 10 ANCHOR 1769860800";
        let mut effects = Effects::of(&server);
        let reply = send_full(&mut con, call);
        let (key, end) = (window.counter("k", reply.now_ms), window.period(reply.now_ms).1);
        assert_eq!(effects.take(), [["SET", &key, "1", "PXAT", &end.to_string()]]);
        send_full(&mut con, call);
        assert_eq!(effects.take(), [["INCR", &key]]);
        for (command, expected) in [("INCR", 4), ("DECR", 4)] {
            ok(cmd!(con, command, &key));
            assert_eq!(send_full(&mut con, call).count, expected);
            assert_eq!(expires_at(&mut con, &key), end);
        }
        ok(cmd!(con, "PERSIST", &key));
        assert_eq!(send_full(&mut con, call).count, 5);
        assert_eq!(expires_at(&mut con, &key), end);
        // At 0 an ordinary window would start its expiry anew. The end of the period stays.
        ok(cmd!(con, "SET", &key, 0, "KEEPTTL"));
        assert_eq!(send_full(&mut con, call).count, 1);
        assert_eq!(expires_at(&mut con, &key), end);
        for foreign in ["text", "1.5", ""] {
            ok(cmd!(con, "SET", &key, foreign));
            assert_eq!(err(send(&mut con, call)), "ERR value is not an integer or out of range");
            assert_eq!(ok(cmd!(con, "GET", &key)), bytes(foreign));
        }
        ok(cmd!(con, "DEL", &key));
        ok(cmd!(con, "RPUSH", &key, "x"));
        assert!(err(send(&mut con, call)).starts_with("WRONGTYPE "));
    });
}

/// Windows that end while the test looks on: a client that waits `retry_after_ms` is allowed, and the old counter is
/// gone.
#[test]
fn the_next_window_starts_when_the_reply_says() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        // In the past and in the future, at times that are no multiple of the length since the epoch.
        for anchor in [1_767_225_601, now_ms() / 1_000 + 1_000] {
            for key in 0..4 {
                let call = format!("RL.FIXED {anchor}:{key} 350ms 1 ANCHOR {anchor}");
                let first = send_full(&mut con, &call);
                let denied = send_full(&mut con, &call);
                if denied.allowed == 1 {
                    // The window ended between the two.
                    continue;
                }
                assert_eq!((denied.now_ms + denied.retry_after_ms - anchor * 1_000).rem_euclid(350), 0, "{call}");
                assert_eq!(denied.now_ms + denied.retry_after_ms, first.now_ms + first.reset_ms, "{call}");
                thread::sleep(Duration::from_millis(denied.retry_after_ms.unsigned_abs()));
                let next = send_full(&mut con, &call);
                assert_eq!([next.allowed, next.count], [1, 1], "{call}");
                let old = format!("{anchor}:{key}:350ms:{}", first.now_ms + first.reset_ms - 350);
                assert!(eventually(PATIENCE, || expires_at(&mut con, &old) == -2), "{old} is still there");
            }
        }
    });
}

/// Keys, and the braces that FIXED puts around them.
const SLOTTED: [(&str, &str); 5] = [
    ("user:42", "{user:42}"),
    ("{tag}", "{tag}"),
    ("{tag}:1", "{tag}:1"),
    ("x{a}{b}", "x{a}{b}"),
    ("open{brace", "{open{brace}"),
];

#[test]
fn in_a_cluster_the_counter_stays_in_the_slot_of_the_key() {
    for_each_server(|bin| {
        let cluster = Cluster::start(bin, 1, |options| options);
        let mut con = cluster.nodes[0].con();
        for (key, counted) in SLOTTED {
            for window in Window::all() {
                wait_for_a_calm_time(&[window]);
                ok(cmd!(con, "FLUSHALL"));
                let limit = format!("FIXED {key} {} 10{}", window.text, window.anchor());
                let now = send_full(&mut con, &format!("RL.{limit}")).now_ms;
                let found = keys(&mut con);
                if found.is_empty() && window.is_short() {
                    continue;
                }
                assert_eq!(found, [window.counter(counted, now)], "{limit}");
                let slots = [key, &found[0]].map(|key| ok(cmd!(con, "CLUSTER", "KEYSLOT", key)));
                assert_eq!(slots[0], slots[1], "{limit}");
                if window.is_short() {
                    continue;
                }
                assert_eq!(send_full(&mut con, &format!("RL.PEEK {limit} COST 0")).count, 1);
                let (allowed, _): (i64, Value) = read(ok(send(&mut con, &format!("RL.MULTI 1 {limit}"))));
                assert_eq!(allowed, 1);
                let reset = format!("RL.RESET FIXED {key} {}{}", window.text, window.anchor());
                assert_eq!(ok(send(&mut con, &reset)), Value::Int(1));
            }
        }
        for key in ["", "}", "a}b", "{}", "{}a", "}{"] {
            for (window, anchor) in [("month", ""), ("day", " ANCHOR 5"), ("1h", " ANCHOR 5")] {
                for call in [
                    format!("RL.FIXED {key} {window} 10{anchor}"),
                    format!("RL.PEEK FIXED {key} {window} 10{anchor}"),
                    format!("RL.REFUND FIXED {key} {window} 10{anchor}"),
                    format!("RL.SETTLE FIXED {key} {window} 10{anchor} RESERVED 1 ACTUAL 2"),
                    format!("RL.RESET FIXED {key} {window}{anchor}"),
                    format!("RL.MULTI 2 TOKEN {key} 60 5 FIXED {key} {window} 10{anchor}"),
                ] {
                    let text = err(send(&mut con, &call));
                    let limit = if call.starts_with("RL.MULTI") { "limit 2: " } else { "" };
                    assert!(
                        text.starts_with(&format!("ERR {limit}invalid key: in a cluster FIXED needs")),
                        "{call}: {text}"
                    );
                }
            }
        }
        assert_eq!(keys(&mut con), [""; 0]);
    });
}

/// The counter has another key than the one that the client names. A user needs permission for both.
#[test]
fn a_user_needs_permission_for_the_counter() {
    wait_for_a_calm_time(&Window::all().collect::<Vec<_>>());
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut admin = server.con();
        let mut user = |name: &str, patterns: &[&str]| {
            ok(cmd!(admin, "ACL", "SETUSER", name, "on", ">secret", "resetkeys", "+@all", patterns));
            let mut con = server.con();
            ok(cmd!(con, "AUTH", name, "secret"));
            con
        };
        let mut key_alone = user("key", &["~k"]);
        let mut of_the_month = user("month", &["~k", "~k:month:*"]);
        let mut reader = user("reader", &["%R~k", "%R~k:month:*"]);
        let calls = |window: &str, anchor: &str| {
            [
                format!("RL.PEEK FIXED k {window} 10{anchor}"),
                format!("RL.FIXED k {window} 10{anchor}"),
                format!("RL.MULTI 1 FIXED k {window} 10{anchor}"),
                format!("RL.REFUND FIXED k {window} 10{anchor}"),
                format!("RL.SETTLE FIXED k {window} 10{anchor} RESERVED 1 ACTUAL 2"),
                format!("RL.RESET FIXED k {window}{anchor}"),
            ]
        };
        for (window, anchor) in [("month", ""), ("month", " ANCHOR 1769860800")] {
            for (n, call) in calls(window, anchor).iter().enumerate() {
                assert!(err(send(&mut key_alone, call)).starts_with("NOPERM "), "{call}");
                assert_eq!(send(&mut reader, call).is_ok(), n == 0, "{call}");
                assert_eq!(keys(&mut server.con()), [""; 0], "{call}");
            }
        }
        for call in calls("month", "").iter().chain(&calls("month", " ANCHOR 1769860800")) {
            ok(send(&mut of_the_month, call));
        }
        for (window, anchor) in [("day", ""), ("1d", " ANCHOR 0"), ("1d", "")] {
            for call in calls(window, anchor) {
                assert!(err(send(&mut of_the_month, &call)).starts_with("NOPERM "), "{call}");
            }
        }
    });
}

#[test]
fn other_algorithms_take_neither() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let calls = |word: &str, window: &str, anchor: &str| {
            [
                format!("RL.{word} k {window} 10{anchor}"),
                format!("RL.PEEK {word} k {window} 10{anchor}"),
                format!("RL.REFUND {word} k {window} 10{anchor}"),
                format!("RL.SETTLE {word} k {window} 10{anchor} RESERVED 1 ACTUAL 2"),
                format!("RL.RESET {word} k {window}{anchor}"),
                format!("RL.MULTI 1 {word} k {window} 10{anchor}"),
            ]
        };
        let mut refused = |call: &str, error: &str| {
            let limit = if call.starts_with("RL.MULTI") { "limit 1: " } else { "" };
            let text = err(send(&mut con, call));
            assert!(text.starts_with(&format!("ERR {limit}{error}")), "{call}: {text}");
        };
        for algorithm in ALGORITHMS.iter().filter(|algorithm| algorithm.name != FIXED.name) {
            let word = algorithm.word();
            for unit in WORDS.iter().chain(&["MONTH"]) {
                for call in calls(word, unit, "") {
                    refused(&call, &format!("invalid window: {word} takes no windows of the calendar"));
                }
            }
            for (window, anchor) in [("60", " ANCHOR 0"), ("month", " ANCHOR 1767225600"), ("1d", " anchor 5")] {
                for call in calls(word, window, anchor) {
                    refused(&call, &format!("invalid ANCHOR: {word} takes none"));
                }
            }
        }
        for window in ["days", "months", "monthly", "quarter", "hour", "month1", "1month", "mont", "\u{17f}day", ""] {
            for call in calls("FIXED", window, "").iter().chain(&calls("FIXED", window, " ANCHOR 0")) {
                refused(call, "invalid window: expected");
            }
        }
        for anchor in
            ["-1", "+1", "01", "1.5", "x", "", "month", "253402300800", "1767225600000", "18446744073709551616"]
        {
            for window in ["month", "60"] {
                for call in calls("FIXED", window, &format!(" ANCHOR {anchor}")) {
                    refused(&call, "invalid ANCHOR: expected");
                }
            }
        }
        for call in calls("FIXED", "month", " ANCHOR 1 ANCHOR 1") {
            refused(&call, "syntax error: ANCHOR t comes at most once");
        }
        for call in &calls("FIXED", "month", " ANCHOR 1 BURST 5")[..4] {
            refused(call, "invalid BURST: FIXED takes none");
        }
        assert_eq!(keys(&mut con), [""; 0]);
    });
}
