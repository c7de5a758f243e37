//! Draws what each algorithm allows of the same traffic, in `docs/<algorithm>.svg`.
//!
//!     cargo run --package redis-rl-algorithm --example pictures
//!
//! The limit is 10 requests each 10 seconds. Two bursts of 12 come just before and just after the boundary of a window,
//! and a third later, in addition to a request every other second.

use std::fmt::Write;
use std::{fs, io};

use redis_rl_algorithm::in_memory::InMemory;
use redis_rl_algorithm::{Cost, Micros, Name, Policy, Window, with_algorithms};

const LIMIT: u64 = 10;
const WINDOW_MS: u64 = 10_000;
const END_MS: u64 = 40_000;

/// What the reply to a request said.
#[derive(Clone, Copy)]
struct Outcome {
    at_ms: u64,
    allowed: bool,
    delay_ms: u64,
}

/// Of each algorithm: its name, the first line of its documentation, and what it allows.
macro_rules! all {
    (($policy:expr) $(
        #[doc = $begin:literal]
        $(#[$doc:meta])*
        $snake:ident $name:ident $word:literal $label:literal: $type:ty, in_memory $in_memory:ty { $($column:tt)* }
    )*) => {
        [$((Name::$name, $begin, outcomes::<$in_memory>($policy))),*]
    };
}

fn main() -> io::Result<()> {
    let window = Window::from_millis(WINDOW_MS).ok_or_else(|| io::Error::other("no window"))?;
    let policy = Policy::new(window, LIMIT);
    for (name, begin, outcomes) in with_algorithms!(all(&policy)) {
        // Neither leases nor a lock are a rate.
        if name.traits().cost && !name.traits().lock {
            let begin = begin.trim().split(". ").next().unwrap_or_default().trim_end_matches('.').replace('`', "");
            let title = format!("{}: {}{}", name.word(), begin[..1].to_lowercase(), &begin[1..]);
            fs::write(format!("docs/{}.svg", name.label()), picture(&title, &outcomes))?;
        }
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

fn outcomes<A: InMemory>(policy: &Policy) -> Vec<Outcome> {
    let Ok(algorithm) = A::with_policy(policy) else { return Vec::new() };
    let mut key = A::Key::default();
    let request = |at_ms| {
        let now = Micros::from_millis(at_ms);
        A::expire(&mut key, now);
        let reply = algorithm.request(&mut key, now, Cost::ONE).ok()?;
        let delay_ms = u64::try_from(reply.figures.delay_ms).unwrap_or(0);
        Some(Outcome { at_ms, allowed: reply.verdict.allowed, delay_ms })
    };
    traffic().into_iter().filter_map(request).collect()
}

/// The most requests that went on within the length of a window. A delayed request goes on after its delay.
fn most_in_a_window(outcomes: &[Outcome]) -> usize {
    let mut went_on: Vec<u64> = outcomes.iter().filter(|o| o.allowed).map(|o| o.at_ms + o.delay_ms).collect();
    went_on.sort_unstable();
    let within = |start: u64| went_on.iter().filter(|&&at| (start..start + WINDOW_MS).contains(&at)).count();
    went_on.iter().map(|&start| within(start)).max().unwrap_or(0)
}

/// Where a time is in a picture, from left to right.
const fn x(at_ms: u64) -> u64 {
    LEFT + at_ms * BIN_WIDTH / BIN_MS
}

const BIN_MS: u64 = 500;
const BIN_WIDTH: u64 = 9;
const LEFT: u64 = 16;
const BASE: u64 = 128;

/// The title, the line below the picture, the axis of time, and a line at each boundary of a window.
fn frame(title: &str, below: &str) -> String {
    let (width, end) = (x(END_MS) + LEFT, x(END_MS));
    let mut svg = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} 176" role="img" font-family="sans-serif" font-size="12">
<style>
text {{ fill: #24292f }} .axis {{ stroke: #8c959f }} .edge {{ stroke: #8c959f; stroke-dasharray: 3 3 }}
.yes {{ fill: #1a7f37 }} .no {{ fill: #cf222e; fill-opacity: .55 }} .later {{ fill: #9a6700 }}
@media (prefers-color-scheme: dark) {{ text {{ fill: #e6edf3 }} .yes {{ fill: #3fb950 }} .no {{ fill: #f85149; fill-opacity: .6 }} .later {{ fill: #d29922 }} }}
</style>
<text x="{LEFT}" y="18" font-weight="bold">{title}</text>
<text x="{LEFT}" y="168">{below}</text>
"##
    );
    // Writing to a String cannot fail.
    for boundary in (0..=END_MS).step_by(WINDOW_MS as usize) {
        let (x, label) = (x(boundary), boundary / 1_000);
        let _ = writeln!(svg, r#"<line class="edge" x1="{x}" y1="28" x2="{x}" y2="{BASE}"/>"#);
        let _ = writeln!(svg, r#"<text x="{x}" y="{}" text-anchor="middle">{label} s</text>"#, BASE + 16);
    }
    let _ = writeln!(svg, r#"<line class="axis" x1="{LEFT}" y1="{BASE}" x2="{end}" y2="{BASE}"/>"#);
    svg
}

/// Draws requests as stacks, one for each half second: allowed requests below, denied requests on top. A delayed request
/// is in the stack of the moment at which it goes on.
fn picture(title: &str, outcomes: &[Outcome]) -> String {
    const UNIT: u64 = 11;
    let allowed = outcomes.iter().filter(|o| o.allowed).count();
    let (all, most) = (outcomes.len(), most_in_a_window(outcomes));
    let below = format!("{allowed} of {all} allowed; at most {most} went on within any 10 s (limit {LIMIT})");
    let mut svg = frame(title, &below);
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
    svg + "</svg>\n"
}
