//! Random calls with wrong words, and keys with values that nobody should have written.

use std::fmt::Write;

use redis::Cmd;

use super::random_calls::*;
use crate::support::{BAD_WORDS, Random};

impl Case {
    /// Makes a word wrong, takes one away or adds one. Only the last limit may change its length: the others are
    /// followed by a key in one grammar and not in the other.
    pub fn spoil(&mut self, limits: &mut [(Vec<u8>, Vec<Vec<u8>>)], name: &str) {
        let count = limits.len();
        let which = self.random.below(count as u64) as usize;
        let (last, words) = (which + 1 == count, &mut limits[which].1);
        let takes_algorithm = !matches!(name, "rl_release" | "rl_renew");
        // RL.<another word> is no command, and a window in the place of an algorithm is one in the other grammar.
        let first = usize::from(takes_algorithm && name != "rl_peek");
        if words.len() <= first {
            return;
        }
        let at = first + self.random.below((words.len() - first) as u64) as usize;
        let bad = |random: &mut Random| match random.below(4) {
            0..3 => {
                let words = random.pick(&BAD_WORDS);
                random.pick(words).to_vec()
            }
            _ => {
                const WORDS: [&str; 22] = [
                    "COST",
                    "BURST",
                    "ANCHOR",
                    "ID",
                    "AS",
                    "AT",
                    "RESERVED",
                    "ACTUAL",
                    "PARTIAL",
                    "SHADOW",
                    "FULL",
                    "cost",
                    "Partial",
                    "month",
                    "FIXED",
                    "token",
                    "a b",
                    "a\u{e4}",
                    "0",
                    "1",
                    "253402300800",
                    "x",
                ];
                random.pick(&WORDS).as_bytes().to_vec()
            }
        };
        match self.random.below(4) {
            0 | 1 => {
                let word = bad(&mut self.random);
                // An algorithm in the place of an option begins another limit.
                let begins =
                    super::random_calls::words(|_| true).iter().any(|name| word.eq_ignore_ascii_case(name.as_bytes()));
                if last || at < 3 || !begins {
                    words[at] = word;
                }
            }
            2 if last => words.insert((at + 1).min(words.len()), bad(&mut self.random)),
            3 if last && at > 0 => _ = words.remove(at),
            _ => {
                // An option, twice or not taken.
                let pairs = [["COST", "1"], ["BURST", "2"], ["ANCHOR", "3"], ["ID", "h1"], ["AS", "c"], ["AT", "5"]];
                let more = [
                    ["RESERVED", "1"],
                    ["ACTUAL", "2"],
                    ["SHADOW", "SHADOW"],
                    ["PARTIAL", "PARTIAL"],
                    ["RESERVE", "h1"],
                    ["RESERVATION", "h1"],
                ];
                let pair = if self.chance(2) { self.random.pick(&pairs) } else { self.random.pick(&more) };
                if last {
                    words.extend(pair.map(|word| word.as_bytes().to_vec()));
                }
            }
        }
    }

    /// What one of the keys holds before the next call: the commands that write it.
    pub fn plant(&mut self, keys: &[&str]) -> Vec<Cmd> {
        let (key, algorithm) = self.key_and_algorithm(keys);
        let (_, window) = self.window();
        let now_ms = self.now / 1_000;
        let mut name = key.clone();
        if algorithm == "FIXED" || key.starts_with("FIXED") {
            name = match self.random.below(4) {
                0 => format!("{key}:day:{}", now_ms / 86_400_000 * 86_400_000),
                _ => format!("{key}:{}", now_ms / window),
            };
        }
        let mut commands = vec![redis::cmd("DEL").arg(&name).to_owned()];
        let command = match self.random.below(20) {
            0 => "RPUSH",
            1 => "HSET",
            2 if self.chance(2) => "SADD",
            _ if matches!(algorithm, "SLIDING" | "LEASE") => "ZADD",
            _ => "SET",
        };
        let mut write = redis::cmd(command);
        write.arg(&name);
        match command {
            "ZADD" => _ = write.arg(self.members(algorithm, window)),
            "SET" => _ = write.arg(self.record(algorithm, window)),
            "HSET" => _ = write.arg(&["field", "1"]),
            _ => _ = write.arg("1"),
        }
        commands.push(write);
        if !self.chance(4) {
            let expiry = match self.random.below(6) {
                0 => now_ms + self.random.pick(&[1, 2, 499, 500, 501, 1_500, 30_000, 1_000_000]),
                1 => i64::MAX / 2,
                2 => now_ms + window + window / 2 + self.random.below(5) as i64 - 2,
                3 => now_ms + 2 * window,
                4 => now_ms + window,
                _ => now_ms + 1 + self.random.below(3 * window as u64) as i64,
            };
            commands.push(redis::cmd("PEXPIREAT").arg(&name).arg(expiry.max(now_ms + 1)).to_owned());
        }
        commands
    }

    /// Scores and members of a sorted set.
    pub fn members(&mut self, algorithm: &str, window: i64) -> Vec<String> {
        let (now, mut words) = (self.now / 1_000, Vec::new());
        let count = if self.chance(10) { 150 } else { 1 + self.random.below(6) };
        let odd = self.chance(3);
        for n in 0..count {
            let score = if odd && self.chance(2) {
                const SCORES: [&str; 13] = [
                    "-inf",
                    "-1e300",
                    "-5",
                    "-0.5",
                    "0",
                    "0.5",
                    "1",
                    "1e12",
                    "1e15",
                    "9007199254740993",
                    "1e19",
                    "1e300",
                    "inf",
                ];
                self.random.pick(&SCORES).to_owned()
            } else {
                let around = self.random.pick(&[0, 0, -window, window]);
                let tenths = self.random.pick(&[-1_000, -10, -5, 0, 0, 0, 5, 10, 1_000]);
                let tenths = ((now + around) * 10 + tenths).max(0);
                format!("{}.{}", tenths / 10, tenths % 10)
            };
            words.push(score);
            words.push(match algorithm {
                "LEASE" if n < 4 => format!("h{n}"),
                // Some have the name that a new member would get.
                _ if self.chance(4) => format!("{now}-0.{n}"),
                _ => format!("x{n}"),
            });
        }
        words
    }

    /// The text of a record or a counter: a valid one, most often.
    pub fn record(&mut self, algorithm: &str, window: i64) -> String {
        const OTHERS: [&str; 22] = [
            "",
            "text",
            "1.5",
            " 1",
            "1\0",
            "+1",
            "01",
            "-0",
            "-1",
            "0",
            "T:",
            "T:1:0:60000",
            "T:1:0:60000:1:",
            "C:1",
            "T:1:0:60000:1700000000000000:0",
            "L:1:0:60000:1700000000000000:1:1",
            "18446744073709551616",
            "9223372036854775808",
            "-9223372036854775809",
            "t:1:0:60000:1700000000000000",
            "T::0:60000:1",
            "C:60000:1:1:1:",
        ];
        if self.chance(8) {
            return self.random.pick(&OTHERS).to_owned();
        }
        let limit = self.limit();
        let count = |case: &mut Self| match case.random.below(12) {
            0 => case.random.pick(&HUGE),
            1 => limit,
            2 => limit.saturating_add(1),
            3 => 0,
            _ => case.random.below(8) as i64,
        };
        let window_ms =
            if self.chance(4) { self.random.pick(&[1, 7, 1_000, 60_000, 999_999_999_999_999]) } else { window };
        let at = match self.random.below(10) {
            0 => self.random.pick(&[0, i64::MAX, EXACT]),
            1 | 2 => self.now + self.random.below(2_000 * window.min(1 << 45) as u64) as i64,
            _ => (self.now - self.random.below(1_500 * window.min(1 << 45) as u64) as i64).max(0),
        };
        match algorithm {
            "TOKEN" | "LEAKY" => {
                let part = if self.chance(2) { 0 } else { self.random.below(1_000 * window_ms as u64 + 1) };
                let tag = if self.chance(20) { "X" } else { &algorithm[..1] };
                let mut text = format!("{tag}:{}:{part}:{window_ms}:{at}", count(self));
                if self.chance(4) {
                    write!(text, ":{}", count(self)).expect("a string");
                }
                text
            }
            "COUNTER" => {
                let number = (at / 1_000 / window_ms + self.random.below(3) as i64 - 1).max(0);
                format!("C:{window_ms}:{number}:{}:{}", count(self), count(self))
            }
            "GCRA" => match self.random.below(8) {
                0 => self.random.pick(&[0, 1, 999, 1_000, u64::MAX, 1 << 63, EXACT as u64]).to_string(),
                _ => (i128::from(at.min(i64::MAX / 1_000)) * 1_000 + i128::from(self.random.below(1_000))).to_string(),
            },
            "FIXED" | "WINDOW" => match self.random.below(6) {
                0 => (-1 - self.random.below(5) as i64).to_string(),
                1 => self.random.pick(&[i64::MIN, -EXACT, EXACT, EXACT - 1, EXACT - 2]).to_string(),
                _ => count(self).to_string(),
            },
            "LOCKOUT" => {
                let last = at.min(i64::MAX / 1_000) / 1_000;
                let start = last - self.random.below(2 * window.min(1 << 45) as u64) as i64;
                let lock = self.random.pick(&[0, 0, 1, window_ms, 86_400_000]);
                let level = self.random.pick(&[0, 0, 1, 2, 11, 64, 65]);
                format!("O:{}:{}:{last}:{lock}:{level}", count(self), start.max(0))
            }
            "SLIDING" | "ROLLING" | "LEASE" => "1".to_owned(),
            // Some integers behind its letter.
            other => {
                let letter = traits(other).letter.unwrap_or('X');
                format!("{letter}:{}:{at}:{window_ms}", count(self))
            }
        }
    }
}
