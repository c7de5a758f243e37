//! The table of what each algorithm can do: its columns are true, and it is a file for readers in any language.

use std::fmt::Write;

use super::*;
use crate::in_memory::Charging;
use crate::record::Tag as _;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../vectors/capabilities.json");
const ABOUT: &str =
    "What each algorithm can do. A client that has an option has it for these algorithms and for no other.";

/// The columns that calls under 5 a minute show; under 2, and 5 at once, if it takes BURST.
fn shown<A: TestAlgorithm>() -> [(&'static str, bool, bool); 7] {
    let terms = if A::TRAITS.burst { burst(policy(60_000, 2), 5) } else { policy(60_000, 5) };
    let (row, algorithm, now) = (A::TRAITS, A::build(&terms).unwrap(), Micros(T0));
    let mut key = A::Key::default();
    let mut request = |at: Micros| {
        let decision = algorithm.decision(&key, at, Cost::ONE, Charging::IfAllowed).unwrap();
        let figures = algorithm.figures(&key, &decision, at);
        algorithm.commit(&mut key, &decision.change, at);
        (decision, figures)
    };
    let first = request(now).0;
    let second = request(now.plus(SECOND)).0;
    let later = now.plus(2 * SECOND);
    let full = (0..3).map(|_| request(later).1).last().unwrap();
    let denied = request(later);
    let mut corrected = key.clone();
    algorithm.refund(&mut corrected, later, Some(Micros(T0 - 300 * SECOND)), Cost::ONE);
    let has_time = algorithm.remaining(&corrected, later) == algorithm.remaining(&key, later);
    algorithm.overcharge(&mut key, later, None, cost(5)).unwrap();
    let look = algorithm.request_charging(&mut key, later, Cost::ZERO, Charging::Always).unwrap();
    [
        ("count_is_after", row.count_is_after, first.verdict.count == 1),
        ("delays", row.delays, second.delay > 0),
        ("ends_at_once", row.ends_at_once, full.next_ms == full.reset_ms),
        ("counts_denials", row.counts_denials, matches!(denied.0.change, Change::Charge(_))),
        ("ttl_of_script", row.ttl_of_script, denied.0.verdict.ttl != (denied.1.retry_after_ms + 999) / 1_000),
        ("at", row.at, has_time),
        ("debt", row.debt, row.settle && !look.verdict.allowed),
    ]
}

macro_rules! all_shown {
    ($($name:ident: $algorithm:ty = $kind:expr;)*) => {
        [$((<$algorithm as Named>::NAME, shown::<$algorithm>())),*]
    };
}

#[test]
fn the_columns_say_what_calls_show() {
    for (name, columns) in every_algorithm!(all_shown) {
        for (column, said, shown) in columns {
            assert_eq!(said, shown, "{column} of {}", name.word());
        }
    }
}

macro_rules! names_of {
    ($($name:ident: $algorithm:ty = $kind:expr;)*) => { vec![$(<$algorithm as Named>::NAME),*] };
}

macro_rules! letters_of {
    ($($test:ident: $algorithm:ty;)*) => {
        vec![$((<$algorithm as Named>::NAME, <$algorithm as RecordAlgorithm>::Tag::TEXT)),*]
    };
}

/// An algorithm that a list of the tests lacks is not tested.
#[test]
fn the_lists_of_the_tests_have_every_algorithm() {
    let with_cost = Name::ALL.into_iter().filter(|name| name.traits().cost);
    assert_eq!(every_algorithm!(names_of), with_cost.collect::<Vec<_>>(), "every_algorithm! in tests/oracle.rs");
    let mut tags = every_record!(letters_of);
    tags.push((Name::Rolling, &TAG));
    for name in Name::ALL {
        let tag = tags.iter().find(|(other, _)| *other == name).map_or(&b""[..], |(_, tag)| tag);
        let letter = name.traits().letter.map_or(String::new(), |letter| format!("{letter}:"));
        assert_eq!(tag, letter.as_bytes(), "the letter of {}, or every_record! in tests/oracle.rs", name.word());
    }
}

#[test]
fn other_languages_read_the_table() {
    let mut text = format!("{{\n \"about\": \"{ABOUT}\",\n \"columns\": {{\n");
    let columns = Name::Fixed.traits().columns();
    let columns: Vec<_> = columns.iter().map(|(name, text, _)| format!("  \"{name}\": {:?}", text.trim())).collect();
    writeln!(text, "{}\n }},\n \"algorithms\": {{", columns.join(",\n")).unwrap();
    let rows = Name::ALL.map(|name| {
        let cell = |(name, _, value): (&str, String, String)| format!("\"{name}\": {}", json(&value));
        let cells: Vec<_> = name.traits().columns().into_iter().map(cell).collect();
        format!("  \"{}\": {{{}}}", name.word(), cells.join(", "))
    });
    writeln!(text, "{}\n }}\n}}", rows.join(",\n")).unwrap();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(PATH, &text).expect("vectors/capabilities.json");
    }
    assert!(std::fs::read_to_string(PATH).expect("vectors/capabilities.json") == text, "UPDATE=1 writes it again");
}

/// `Some('T')` is `"T"`.
fn json(debug: &str) -> String {
    let value = debug.strip_prefix("Some(").and_then(|value| value.strip_suffix(')')).unwrap_or(debug);
    match value {
        "true" | "false" => value.to_owned(),
        "None" => "null".to_owned(),
        number if number.parse::<u64>().is_ok() => number.to_owned(),
        letter => format!("\"{}\"", letter.trim_matches('\'')),
    }
}
