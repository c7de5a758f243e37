//! Draws what each algorithm makes of the same traffic, by the mathematics the module runs: `docs/<algorithm>.svg`.
//!
//!     cargo run --example pictures
//!
//! 10 requests each 10 seconds are allowed. Two bursts of 12 come just before and just after the boundary of a window,
//! and a third later, on top of a request every other second.

use std::collections::VecDeque;
use std::fmt::Write;
use std::{fs, io};

use redis_rl::algorithm::fixed_window::{Counter, FixedWindow};
use redis_rl::algorithm::{
    Change, Cost, Gcra, LeakyBucket, Micros, Policy, RecordAlgorithm, SlidingCounter, SlidingLog, TokenBucket, Window,
};

const LIMIT: u64 = 10;
const WINDOW_MS: u64 = 10_000;
const END_MS: u64 = 40_000;

/// What became of a request.
#[derive(Clone, Copy)]
struct Outcome {
    at_ms: u64,
    allowed: bool,
    delay_ms: u64,
}

fn main() -> io::Result<()> {
    let window = Window::from_millis(WINDOW_MS).ok_or_else(|| io::Error::other("no window"))?;
    let policy = Policy { window, limit: LIMIT, burst: None };
    for (file, title, outcomes) in [
        ("fixed", "FIXED: twice the limit passes around the boundary", fixed_window(&policy)),
        ("sliding", "SLIDING: never more than the limit in any window", sliding_log(&policy)),
        ("counter", "COUNTER: nearly the same, from two counters", record::<SlidingCounter>(&policy)),
        ("token", "TOKEN: a burst at once, then at the rate", record::<TokenBucket>(&policy)),
        ("leaky", "LEAKY: the same requests, each told when it is its turn", record::<LeakyBucket>(&policy)),
        ("gcra", "GCRA: a token bucket told by a single time", record::<Gcra>(&policy)),
    ] {
        fs::write(format!("docs/{file}.svg"), picture(title, &outcomes))?;
    }
    Ok(())
}

/// Milliseconds at which requests come, in order.
fn traffic() -> Vec<u64> {
    let steady = (0..END_MS).step_by(2_000).map(|at| at + 700);
    let burst = |start: u64| (0..12).map(move |n| start + n * 120);
    let mut all: Vec<u64> = steady.chain(burst(8_200)).chain(burst(10_100)).chain(burst(27_000)).collect();
    all.sort_unstable();
    all
}

fn fixed_window(policy: &Policy) -> Vec<Outcome> {
    let limiter = FixedWindow::new(policy);
    let mut counter: Option<(u64, Counter)> = None;
    let decide = |at_ms| {
        let now = Micros::from_millis(at_ms);
        let bucket = limiter.bucket(now);
        let state = counter.filter(|&(of, _)| of == bucket).map(|(_, counter)| counter);
        let decision = limiter.decide(state, now, Cost::ONE).ok();
        let allowed = decision.is_some_and(|decision| decision.verdict.allowed);
        if let Some(state) = decision.and_then(|decision| decision.change.into_state()) {
            counter = Some((bucket, state));
        }
        Outcome { at_ms, allowed, delay_ms: 0 }
    };
    traffic().into_iter().map(decide).collect()
}

fn sliding_log(policy: &Policy) -> Vec<Outcome> {
    let limiter = SlidingLog::new(policy);
    let mut log = VecDeque::new();
    let decide = |at_ms| {
        let through = limiter.expired_through(Micros::from_millis(at_ms));
        while log.front().is_some_and(|&made| Some(made) <= through) {
            log.pop_front();
        }
        let decision = limiter.decide(log.len() as u64, || false, Cost::ONE);
        if let Change::Charge(_) = decision.change {
            log.push_back(at_ms);
        }
        Outcome { at_ms, allowed: decision.verdict.allowed, delay_ms: 0 }
    };
    traffic().into_iter().map(decide).collect()
}

fn record<A: RecordAlgorithm>(policy: &Policy) -> Vec<Outcome> {
    let Ok(limiter) = A::new(policy) else { return Vec::new() };
    let mut state = None;
    let decide = |at_ms| {
        let decision = limiter.decide(state, Micros::from_millis(at_ms), Cost::ONE);
        state = decision.change.into_state().or(state);
        Outcome { at_ms, allowed: decision.verdict.allowed, delay_ms: decision.delay.div_ceil(1_000) }
    };
    traffic().into_iter().map(decide).collect()
}

/// The most that went on within any window's length; the delayed ones go on when they are told to.
fn most_in_a_window(outcomes: &[Outcome]) -> usize {
    let mut went_on: Vec<u64> = outcomes.iter().filter(|o| o.allowed).map(|o| o.at_ms + o.delay_ms).collect();
    went_on.sort_unstable();
    let within = |start: u64| went_on.iter().filter(|&&at| (start..start + WINDOW_MS).contains(&at)).count();
    went_on.iter().map(|&start| within(start)).max().unwrap_or(0)
}

/// Requests stacked in bins of half a second: denied ones on top, admitted ones below, delayed ones where they go on.
fn picture(title: &str, outcomes: &[Outcome]) -> String {
    const BIN_MS: u64 = 500;
    const BIN_WIDTH: u64 = 9;
    const UNIT: u64 = 11;
    const LEFT: u64 = 16;
    const BASE: u64 = 128;
    let x = |at_ms: u64| LEFT + at_ms * BIN_WIDTH / BIN_MS;
    let width = x(END_MS) + LEFT;
    let admitted = outcomes.iter().filter(|o| o.allowed).count();
    let mut svg = String::new();
    // Writing to a String cannot fail.
    let _ = write!(
        svg,
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} 176" role="img" font-family="sans-serif" font-size="12">
<style>
text {{ fill: #24292f }} .axis {{ stroke: #8c959f }} .edge {{ stroke: #8c959f; stroke-dasharray: 3 3 }}
.yes {{ fill: #1a7f37 }} .no {{ fill: #cf222e; fill-opacity: .55 }} .later {{ fill: #9a6700 }}
@media (prefers-color-scheme: dark) {{ text {{ fill: #e6edf3 }} .yes {{ fill: #3fb950 }} .no {{ fill: #f85149; fill-opacity: .6 }} .later {{ fill: #d29922 }} }}
</style>
<text x="{LEFT}" y="18" font-weight="bold">{title}</text>
<text x="{LEFT}" y="168">{admitted} of {} admitted; at most {} went on within any 10 s (limit {LIMIT})</text>
"##,
        outcomes.len(),
        most_in_a_window(outcomes),
    );
    for boundary in (0..=END_MS).step_by(WINDOW_MS as usize) {
        let (x, label) = (x(boundary), boundary / 1_000);
        let _ = writeln!(svg, r#"<line class="edge" x1="{x}" y1="28" x2="{x}" y2="{BASE}"/>"#);
        let _ = writeln!(svg, r#"<text x="{x}" y="{}" text-anchor="middle">{label} s</text>"#, BASE + 16);
    }
    let bins = (END_MS / BIN_MS) as usize + 1;
    let mut height = vec![0u64; bins];
    let mut draw = |class: &str, at_ms: u64| {
        let bin = at_ms / BIN_MS;
        let Some(stacked) = height.get_mut(bin as usize) else { return };
        *stacked += 1;
        let (x, y) = (LEFT + bin * BIN_WIDTH + 1, BASE.saturating_sub(*stacked * UNIT));
        let _ =
            writeln!(svg, r#"<rect class="{class}" x="{x}" y="{y}" width="{}" height="{}"/>"#, BIN_WIDTH - 2, UNIT - 2);
    };
    for outcome in outcomes.iter().filter(|o| o.allowed) {
        draw(if outcome.delay_ms > 0 { "later" } else { "yes" }, outcome.at_ms + outcome.delay_ms);
    }
    for outcome in outcomes.iter().filter(|o| !o.allowed) {
        draw("no", outcome.at_ms);
    }
    let _ = writeln!(svg, r#"<line class="axis" x1="{LEFT}" y1="{BASE}" x2="{}" y2="{BASE}"/>"#, x(END_MS));
    svg + "</svg>\n"
}
