//! A clock that steps back by up to an hour opens no limit but FIXED's, and locks none for longer than a window. The
//! server's clock is bent by clock.c. (What single steps do to a log is in tests/module/clock.rs, to every algorithm's
//! numbers in algorithm/src/tests/promises.rs.)

use std::thread;
use std::time::{Duration, Instant};

use redis::{Connection, Value};

use crate::support::{PATIENCE, Random, Server, ServerBin, SteppedClock, eventually, for_each_server, info};
use crate::{ALGORITHMS, assert_sound, each, report};

const WINDOW: Duration = Duration::from_millis(1_500);
const LIMIT: u64 = 5;
const HOUR: i64 = 3_600;

/// A server, and what its clock is off by.
struct Clocked {
    server: Server,
    clock: SteppedClock,
}

impl Clocked {
    fn start(bin: &ServerBin) -> Self {
        let clock = SteppedClock::new();
        Self { server: clock.govern(Server::options(bin)).start(), clock }
    }

    /// Puts the clock so many seconds off the true time.
    fn step(&self, con: &mut Connection, seconds: i64) {
        self.clock.step(con, seconds);
    }
}

struct Answer {
    allowed: bool,
    retry_after_ms: i64,
}

fn ask(con: &mut Connection, algorithm: &str) -> Answer {
    let mut request = redis::cmd(&format!("RL.{algorithm}"));
    request.arg("k").arg(format!("{}ms", WINDOW.as_millis())).arg(LIMIT).arg("FULL");
    let figures: Vec<Value> = request.query(con).expect("a reply");
    let figure = |at: usize| redis::from_redis_value_ref::<i64>(&figures[2 * at + 1]).expect("a figure");
    Answer { allowed: figure(0) == 1, retry_after_ms: figure(5) }
}

/// Asks until the answer is no; how many were allowed.
fn exhaust(con: &mut Connection, algorithm: &str) -> u64 {
    (0..).find(|_| !ask(con, algorithm).allowed).expect("an end")
}

/// How long a denial can last at most.
fn longest(algorithm: &str) -> Duration {
    // What was counted in a window fades in the next one.
    if algorithm == "COUNTER" { 2 * WINDOW } else { WINDOW }
}

#[test]
fn an_hour_back_opens_no_limit_and_locks_none_for_longer_than_a_window() {
    for_each_server(|bin| {
        for algorithm in ALGORITHMS {
            let mut clocked = Clocked::start(bin);
            let mut con = clocked.server.con();
            exhaust(&mut con, algorithm);
            clocked.step(&mut con, -HOUR);
            let opened = exhaust(&mut con, algorithm);
            // The window of an hour ago has a counter of its own.
            let expected = if algorithm == "FIXED" { LIMIT } else { 0 };
            assert_eq!(opened, expected, "{algorithm}");
            let denied = Instant::now();
            let Answer { retry_after_ms, .. } = ask(&mut con, algorithm);
            assert!(
                (1..=longest(algorithm).as_millis() as i64).contains(&retry_after_ms),
                "{algorithm}: {retry_after_ms}"
            );
            // And so it is.
            let mut opened_again = || ask(&mut con, algorithm).allowed;
            assert!(eventually(PATIENCE, &mut opened_again), "{algorithm}");
            let locked = denied.elapsed();
            assert!(locked < longest(algorithm) + Duration::from_millis(400), "{algorithm}: locked for {locked:?}");
            assert_sound(&mut clocked.server);
        }
    });
}

#[test]
fn an_hour_forward_gives_no_more_than_a_window_would() {
    for_each_server(|bin| {
        for algorithm in ALGORITHMS {
            let mut clocked = Clocked::start(bin);
            let mut con = clocked.server.con();
            exhaust(&mut con, algorithm);
            clocked.step(&mut con, HOUR);
            let begin = Instant::now();
            let allowed = exhaust(&mut con, algorithm);
            // What came back while it was asked.
            let back = LIMIT * begin.elapsed().as_millis() as u64 / WINDOW.as_millis() as u64;
            let most = match algorithm {
                // A window may have ended between.
                "FIXED" | "COUNTER" => 2 * LIMIT,
                _ => LIMIT + back + 1,
            };
            assert!((LIMIT..=most).contains(&allowed), "{algorithm}: {allowed}");
            assert_sound(&mut clocked.server);
        }
    });
}

/// Steps of any size, again and again: a step back never opens what was exhausted, and in the end all is as ever.
#[test]
fn a_clock_that_steps_all_the_time_opens_nothing_and_locks_nothing() {
    for_each_server(|bin| {
        let mut random = Random::new(8);
        let mut steps = 0;
        for algorithm in ALGORITHMS {
            let mut clocked = Clocked::start(bin);
            let mut con = clocked.server.con();
            let end = Instant::now() + each() / ALGORITHMS.len() as u32;
            while Instant::now() < end {
                let late = random.below(2 * HOUR as u64) as i64 - HOUR;
                clocked.step(&mut con, late);
                let allowed = exhaust(&mut con, algorithm);
                // A window may have ended between.
                assert!(allowed <= 2 * LIMIT, "{algorithm}: {allowed}");
                // Back, by more than what comes back meanwhile.
                clocked.step(&mut con, late - 10 - random.below(HOUR as u64) as i64);
                let answer = ask(&mut con, algorithm);
                // Each window of FIXED has a counter of its own.
                assert!(!answer.allowed || algorithm == "FIXED", "{algorithm}: opened by a step back");
                assert!(answer.retry_after_ms <= longest(algorithm).as_millis() as i64, "{algorithm}: locked");
                steps += 2;
            }
            clocked.step(&mut con, 0);
            exhaust(&mut con, algorithm);
            thread::sleep(longest(algorithm));
            // Steps may have filled the counter that FIXED has for the window of now, and that of the next.
            let windows = if algorithm == "FIXED" { 10 } else { 0 };
            let is_open = || ask(&mut con, algorithm).allowed;
            assert!(eventually(longest(algorithm) * windows, is_open), "{algorithm}: locked for longer than a window");
            assert!(info(&mut con, "used_memory").parse::<u64>().expect("bytes") < 100_000_000);
            assert_sound(&mut clocked.server);
        }
        report(&format!("{steps} steps of the clock"));
    });
}
