//! Arguments, separated by newlines: a window, a limit, and the options. Accepts what a naive parser accepts.

#![no_main]

use libfuzzer_sys::fuzz_target;
use redis_rl::fuzzing::{Parsed, arguments};

fn naive_integer(word: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(word).ok()?;
    text.parse::<u64>().ok().filter(|n| n.to_string() == text)
}

fn naive_window(word: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(word).ok()?;
    let units = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000), ("", 1_000)];
    let (digits, unit) = units.into_iter().find_map(|(name, unit)| Some((text.strip_suffix(name)?, unit)))?;
    let millis = u128::from(naive_integer(digits.as_bytes())?) * unit;
    u64::try_from(millis).ok().filter(|millis| (1..=1_000_000_000_000_000).contains(millis))
}

fn naive_count(word: Option<&&[u8]>) -> Option<u64> {
    naive_integer(word?).filter(|&n| n <= i64::MAX as u64)
}

fn naive(words: &[&[u8]]) -> Option<Parsed> {
    let [window, limit, options @ ..] = words else { return None };
    let mut parsed = Parsed {
        window_ms: naive_window(window)?,
        limit: naive_count(Some(limit))?,
        cost: None,
        burst: None,
        form: None,
    };
    let mut at = 0;
    while let Some(option) = options.get(at) {
        match (option.to_ascii_uppercase().as_slice(), &parsed) {
            (b"COST", Parsed { cost: None, .. }) => parsed.cost = Some(naive_count(options.get(at + 1))?),
            (b"BURST", Parsed { burst: None, .. }) => {
                parsed.burst = Some(naive_count(options.get(at + 1)).filter(|&burst| burst > 0)?);
            }
            (b"FULL", Parsed { form: None, .. }) => parsed.form = Some("FULL"),
            (b"HEADERS", Parsed { form: None, .. }) => parsed.form = Some("HEADERS"),
            _ => return None,
        }
        at += if matches!(option.len(), 4 | 5) && !option.eq_ignore_ascii_case(b"FULL") { 2 } else { 1 };
    }
    Some(parsed)
}

fuzz_target!(|input: &[u8]| {
    let words: Vec<&[u8]> = input.split(|&byte| byte == b'\n').collect();
    let expected = naive(&words);
    match arguments(&words, true) {
        Ok(parsed) => assert_eq!(Some(parsed), expected),
        Err(error) => {
            assert_eq!(expected, None, "refused: {error}");
            assert!(error.starts_with("ERR "));
        }
    }
    // A limit of RL.MULTI: the form is no option of it.
    let expected = expected.filter(|parsed| parsed.form.is_none());
    assert_eq!(arguments(&words, false).ok(), expected);
});
