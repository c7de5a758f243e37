//! Windows in examples have a unit. Without one, a limit and a window that were exchanged are accepted, and look right.

use crate::names::code_of;
use crate::pages;

const ALGORITHMS: [&str; 9] = ["FIXED", "WINDOW", "SLIDING", "COUNTER", "TOKEN", "LEAKY", "GCRA", "ROLLING", "LEASE"];

/// The word at `at` is a key, and the next one its window.
fn key_at(words: &[&str], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).map(|at| words[at]);
    match before(1) {
        Some("RL.RENEW") => true,
        Some(command) if command.strip_prefix("RL.").is_some_and(|word| ALGORITHMS.contains(&word)) => true,
        // A limit of RL.MULTI, RL.PEEK and the others, which name the algorithm.
        Some(word) if ALGORITHMS.contains(&word) => words[..at].iter().any(|word| word.starts_with("RL.")),
        _ => false,
    }
}

#[test]
fn windows_have_a_unit() {
    let mut bare = Vec::new();
    let mut found = 0;
    for page in pages() {
        // The budget names the cases that were measured; the changelog, what was so.
        if page.path.starts_with("benches") || page.path.ends_with("CHANGELOG.md") {
            continue;
        }
        let sessions = page.blocks("redis").into_iter().chain(page.blocks("text"));
        let sessions = sessions.flat_map(|(_, text)| text.lines().map(str::to_owned).collect::<Vec<_>>());
        for code in code_of(&page).into_iter().chain(sessions) {
            let words: Vec<&str> = code.split_whitespace().collect();
            for at in 0..words.len().saturating_sub(1) {
                if key_at(&words, at) {
                    found += 1;
                    let window = words[at + 1];
                    // What `rlaas explain` prints is a program's command, which nobody copies.
                    if words.first() == Some(&"command") {
                        continue;
                    }
                    if window.chars().all(|digit| digit.is_ascii_digit()) && window != "0" {
                        bare.push(format!("{}: {code}", page.path.display()));
                    }
                }
            }
        }
    }
    assert!(found > 100, "{found} windows");
    assert!(bare.is_empty(), "windows without a unit:\n{}", bare.join("\n"));
}
