//! The stored forms that every version reads: docs/records.md.

use super::super::fixed_window::Counter;
use super::super::*;
use super::{every_record, policy, state_of};
use crate::in_memory::{Holders, InMemory, Log, StoredRecord};
use crate::integer::parse_integer;
use crate::lease::Leases;
use crate::record;

/// The rows of the page's examples: algorithm, state, now and remaining.
fn examples(page: &str) -> Vec<[String; 4]> {
    let (_, table) = page.split_once("\n## Examples\n").unwrap();
    let cells = |line: &str| line.split('|').map(|cell| cell.trim().trim_matches('`').to_owned()).collect::<Vec<_>>();
    let rows = table.lines().filter(|line| line.starts_with("| ") && line.contains('`')).map(cells);
    rows.map(|cells| <[String; 4]>::try_from(cells[1..5].to_vec()).unwrap()).collect()
}

/// What remains of a record. It is written as it was read.
fn of_record<A: RecordAlgorithm>(text: &str, now: Micros) -> u64 {
    assert_eq!(record::written_as_read::<A>(text.as_bytes()).as_deref(), Some(text.as_bytes()));
    let key = Some(StoredRecord { text: text.into(), expires_at: None });
    A::new(&policy(60_000, 10)).unwrap().forecast(state_of::<A>(&key), &Change::Keep, now).remaining()
}

fn of_key<A: InMemory>(key: &A::Key, now: Micros) -> u64 {
    A::with_policy(&policy(60_000, 10)).unwrap().remaining(key, now)
}

fn bytes(hexadecimal: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&hexadecimal[at..at + 2], 16).unwrap();
    (0..hexadecimal.len()).step_by(2).map(digit).collect()
}

/// What remains of a record of the algorithm that a word names.
macro_rules! of_any_record {
    ($($test:ident: $algorithm:ty;)*) => {
        fn of_any_record(word: &str, text: &str, now: Micros) -> u64 {
            $(if word == <$algorithm as Named>::NAME.word() {
                return of_record::<$algorithm>(text, now);
            })*
            panic!("{word} is no algorithm");
        }
    };
}
every_record!(of_any_record);

fn remaining(algorithm: &str, state: &str, now: Micros) -> u64 {
    let numbers = || state.split(' ').map(|number| parse_integer(number.as_bytes()).unwrap());
    let scores = || state.split(' ').skip(1).step_by(2).map(|score| score.parse::<u64>().unwrap());
    match algorithm {
        "ROLLING" => of_key::<RollingLog>(&Some(StoredRecord { text: bytes(state), expires_at: None }), now),
        "FIXED" => {
            let counter = Counter { value: numbers().next().unwrap(), expires_at: None };
            FixedWindow::new(&policy(60_000, 10)).unwrap().forecast(Some(counter), &Change::Keep, now).remaining()
        }
        "WINDOW" => {
            let mut numbers = numbers();
            let value = numbers.next().unwrap();
            let expires_at = numbers.next().map(i64::cast_unsigned);
            of_key::<WindowCounter>(&Some(Counter { value, expires_at }), now)
        }
        "SLIDING" => of_key::<SlidingLog>(&Log { entries: scores().collect(), expires_at: None }, now),
        "LEASE" => {
            let mut key = Holders { ends: scores().map(|end| (end.to_le_bytes().to_vec(), end)).collect() };
            // Removes what has ended, as a command does.
            key.release(b"nobody", now);
            let ends: Vec<u64> = key.ends.values().copied().collect();
            let leases = Leases { len: ends.len() as u64, own: None, end: |n| ends[n as usize] };
            Lease::new(&policy(60_000, 10)).forecast(&leases, &Change::Keep, now).remaining()
        }
        record => of_any_record(record, state, now),
    }
}

#[test]
fn the_examples_are_read_as_the_table_says() {
    let mut algorithms = std::collections::BTreeSet::new();
    for [algorithm, state, now, expected] in examples(include_str!("../../../docs/records.md")) {
        let now = Micros::from_millis(now.parse().unwrap());
        assert_eq!(remaining(&algorithm, &state, now).to_string(), expected, "{algorithm} {state}");
        algorithms.insert(algorithm);
    }
    assert_eq!(algorithms.len(), Name::ALL.len(), "an example of every algorithm: {algorithms:?}");
}
