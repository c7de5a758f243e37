//! Arguments, separated by newlines: a window, a limit, and the options. Accepts what a naive parser accepts.
//! guarantee: readers

#![no_main]

use libfuzzer_sys::fuzz_target;
use redis_rl::fuzzing::{Command, Parsed, arguments};

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

fn naive_calendar(word: &[u8]) -> Option<&'static str> {
    let lower = std::str::from_utf8(word).ok()?.to_ascii_lowercase();
    ["day", "week", "month", "year"].into_iter().find(|calendar| *calendar == lower)
}

fn naive_count(word: &[u8]) -> Option<u64> {
    naive_integer(word).filter(|&n| n <= i64::MAX as u64)
}

fn naive_name(word: &[u8]) -> Option<String> {
    const ALLOWED: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    let name = String::from_utf8(word.to_vec()).ok()?;
    (!name.is_empty() && name.len() <= 64 && name.chars().all(|c| ALLOWED.contains(c))).then_some(name)
}

fn naive(words: &[&[u8]]) -> Option<Parsed> {
    let [window, limit, options @ ..] = words else { return None };
    let calendar = naive_calendar(window);
    let window_ms = if calendar.is_some() { None } else { Some(naive_window(window)?) };
    let mut parsed = Parsed { window_ms, calendar, limit: naive_count(limit)?, ..Parsed::default() };
    let mut seen = Vec::new();
    let mut words = options.iter();
    while let Some(option) = words.next() {
        let option = std::str::from_utf8(option).ok()?.to_ascii_uppercase();
        match option.as_str() {
            "COST" => parsed.cost = Some(naive_count(words.next()?)?),
            "BURST" => parsed.burst = Some(naive_count(words.next()?).filter(|&burst| burst > 0)?),
            // The end of the year 9999.
            "ANCHOR" => parsed.anchor = Some(naive_count(words.next()?).filter(|&at| at < 253_402_300_800)?),
            "ID" => parsed.id = Some(words.next().filter(|id| (1..=512).contains(&id.len()))?.to_vec()),
            "AS" => parsed.name = Some(naive_name(words.next()?)?),
            "AT" => {
                let micros = u128::from(naive_count(words.next()?)?) * 1_000;
                parsed.at = Some(micros.min(u64::MAX.into()) as u64);
            }
            "RESERVED" => parsed.reserved = Some(naive_count(words.next()?)?),
            "ACTUAL" => parsed.actual = Some(naive_count(words.next()?)?),
            "RESERVE" => {
                let id = words.next().filter(|id| (1..=128).contains(&id.len()))?.to_vec();
                parsed.reserve = Some((id, naive_window(words.next()?)?));
            }
            "RESERVATION" => {
                parsed.reservation = Some(words.next().filter(|id| (1..=128).contains(&id.len()))?.to_vec());
            }
            "PARTIAL" => parsed.partial = true,
            "ALWAYS" => parsed.always = true,
            "SHADOW" => parsed.shadow = true,
            "FULL" => parsed.form = Some("FULL"),
            "LINE" => parsed.form = Some("LINE"),
            "HEADERS" => parsed.form = Some("HEADERS"),
            _ => return None,
        }
        seen.push(option);
    }
    let forms = seen.iter().filter(|option| ["FULL", "LINE", "HEADERS"].contains(&option.as_str())).count();
    let twice = seen.iter().enumerate().any(|(index, option)| seen[..index].contains(option));
    let excluded = [("PARTIAL", "ALWAYS"), ("RESERVE", "ALWAYS"), ("RESERVATION", "RESERVED"), ("RESERVATION", "AT")];
    let has = |word: &str| seen.iter().any(|option| option == word);
    let excludes = excluded.iter().any(|(one, other)| has(one) && has(other));
    (!twice && forms <= 1 && !excludes).then_some(parsed)
}

/// Whether the command takes all of these options. The algorithm may still reject BURST, ANCHOR and a calendar word.
fn naive_takes(command: Command, parsed: &Parsed) -> bool {
    let Parsed { cost, id, name, partial, always, shadow, at, reserved, actual, reserve, reservation, form, .. } =
        parsed;
    let settles = reserved.is_some() || actual.is_some() || reservation.is_some();
    match command {
        Command::Request => at.is_none() && !settles,
        Command::Limit => at.is_none() && !settles && !partial && !always && form.is_none(),
        Command::Refund => {
            reserve.is_none() && id.is_none() && name.is_none() && !settles && !partial && !always && !shadow
        }
        Command::Settle => {
            reserve.is_none() && id.is_none() && name.is_none() && cost.is_none() && !partial && !always && !shadow
        }
    }
}

fuzz_target!(|input: &[u8]| {
    let words: Vec<&[u8]> = input.split(|&byte| byte == b'\n').collect();
    let naive = naive(&words);
    for command in [Command::Request, Command::Limit, Command::Refund, Command::Settle] {
        let expected = naive.clone().filter(|parsed| naive_takes(command, parsed));
        match arguments(&words, command) {
            Ok(parsed) => assert_eq!(Some(parsed), expected, "{command:?}"),
            Err(error) => {
                assert_eq!(expected, None, "{command:?} is refused: {error}");
                assert!(error.starts_with("ERR "));
            }
        }
    }
});
