//! What the pages say of instructions is what `benches/budget.md` has as measured.
//!
//! A page may round: a figure may differ from its source by 2 %, or by half of its last digit.

use std::collections::BTreeMap;
use std::fs;

use crate::root;

/// A page, a sentence or a row of it with each figure as `{}`, and the source of each: a case of the budget, or the ratio of
/// two. Line breaks do not matter.
const SENTENCES: &[(&str, &str, &[&str])] = &[
    ("README.md", "cost the server {} to {} times the instructions.", LEAST_AND_MOST),
    ("docs/comparison.md", "They cost {} to {} times the instructions of the", LEAST_AND_MOST),
    ("README.md", "of which {} are those of a PING", &["PING"]),
    ("README.md", "| `RL.FIXED` | {} | {} |", &["RL.FIXED allowed", "RL.FIXED denied"]),
    ("README.md", "| `RL.WINDOW` | {} | {} |", &["RL.WINDOW allowed", "RL.WINDOW denied"]),
    ("README.md", "| `RL.COUNTER` | {} | {} |", &["RL.COUNTER allowed", "RL.COUNTER denied"]),
    ("README.md", "| `RL.TOKEN` | {} | {} |", &["RL.TOKEN allowed", "RL.TOKEN denied"]),
    (
        "docs/comparison.md",
        "| redis-rl, scripts | {} | {} | {} | {} | {} |",
        &["Lua FIXED", "Lua COUNTER", "Lua ROLLING @10", "Lua TOKEN", "Lua GCRA"],
    ),
    ("redis.conf", "232 bytes, {} instructions", &["RL.SLIDING allowed @5"]),
    ("redis.conf", "3,140 bytes, {} instructions", &["RL.SLIDING allowed @100"]),
    ("redis.conf", "119,000 bytes, {} instructions", &["RL.SLIDING allowed @1000"]),
    (
        "docs/scale.md",
        "FIXED, COUNTER, LEAKY, GCRA and ROLLING cost {} to {} times as much as TOKEN, LEASE {} times, SLIDING {} to {} \
         times ({} times with a listpack of 100 units)",
        &[
            "RL.GCRA allowed ÷ RL.TOKEN allowed",
            "RL.ROLLING allowed @4096 ÷ RL.TOKEN allowed",
            "RL.LEASE renewed ÷ RL.TOKEN allowed",
            "RL.SLIDING allowed @1000 ÷ RL.TOKEN allowed",
            "RL.SLIDING allowed @5 ÷ RL.TOKEN allowed",
            "RL.SLIDING allowed @100 ÷ RL.TOKEN allowed",
        ],
    ),
];

/// Of the scripts, to the commands that replace them.
const LEAST_AND_MOST: &[&str] =
    &["sliding script, allowed @100 ÷ RL.SLIDING allowed @100", "sliding script, denied ÷ RL.SLIDING denied"];

/// A page as one line, without the marks of comments.
fn joined(path: &str) -> String {
    let text = fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    text.lines().flat_map(|line| line.trim_start_matches('#').split_whitespace()).collect::<Vec<_>>().join(" ")
}

/// The column `measured` by the name of the case.
fn budget() -> BTreeMap<String, f64> {
    let text = fs::read_to_string(root().join("benches/budget.md")).expect("the budget");
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        Some(((*cells.get(1)?).to_owned(), cells.get(5)?.parse().ok()?))
    };
    text.lines().filter_map(row).collect()
}

/// The figures in the first place where the page has the sentence.
fn figures_in<'a>(page: &'a str, sentence: &str) -> Option<Vec<&'a str>> {
    let (first, rest) = sentence.split_once("{}")?;
    page.match_indices(first).find_map(|(at, _)| {
        let mut text = &page[at + first.len()..];
        let figure = |piece: &str| {
            let end = text.find(|character: char| !character.is_ascii_digit() && !",.".contains(character));
            let (figure, after) = text.split_at(end.unwrap_or(text.len()));
            text = after.strip_prefix(piece)?;
            (!figure.is_empty()).then_some(figure)
        };
        rest.split("{}").map(figure).collect()
    })
}

#[test]
fn the_figures_of_the_pages_are_those_of_the_budget() {
    let budget = budget();
    let value = |case: &str| *budget.get(case).unwrap_or_else(|| panic!("the budget has no {case}"));
    let mut wrong = Vec::new();
    for (page, sentence, sources) in SENTENCES {
        let text = joined(page);
        let Some(figures) = figures_in(&text, sentence) else {
            wrong.push(format!("{page} has no sentence: {sentence}"));
            continue;
        };
        assert_eq!(figures.len(), sources.len(), "{page}: {sentence}");
        for (figure, source) in figures.into_iter().zip(*sources) {
            let stated: f64 = figure.replace(',', "").parse().unwrap_or(f64::NAN);
            let measured = source.split_once(" ÷ ").map_or_else(|| value(source), |(a, b)| value(a) / value(b));
            let decimals = figure.split_once('.').map_or(0, |(_, decimals)| decimals.len() as i32);
            let half = if decimals > 0 { 0.5 / 10_f64.powi(decimals) + 1e-9 } else { 0.0 };
            if (stated - measured).abs() > f64::max(half, measured * 0.02) || stated.is_nan() {
                wrong.push(format!("{page}: {figure} in \"{sentence}\", measured {measured}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
