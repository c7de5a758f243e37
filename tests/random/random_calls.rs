//! Random calls: every command, algorithm, option and form of the reply, at random times.

use redis_rl_algorithm::{Name, Traits};

use super::calls::Call;
use crate::support::Random;

/// Random calls, keys and times of one case.
pub struct Case {
    pub random: Random,
    pub windows: Vec<(String, i64)>,
    pub limits: Vec<i64>,
    pub now: i64,
    /// Whether words may be wrong, keys may hold anything, and every algorithm may be used with every key.
    pub hostile: bool,
    /// Whether no call has what only the module has: reservations, names of policies, FULL and HEADERS.
    pub for_scripts: bool,
}

/// The words of the algorithms that can do this.
pub fn words(can: impl Fn(&Traits) -> bool) -> Vec<&'static str> {
    Name::ALL.into_iter().filter(|name| can(name.traits())).map(Name::word).collect()
}

/// The options that not every algorithm takes, with a value, and whether it takes them.
pub fn options(can: &Traits) -> [(&'static str, bool); 9] {
    [
        ("COST 1", can.cost),
        ("PARTIAL", can.partial),
        ("ALWAYS", can.always),
        ("RESERVE a 1m", can.reserve),
        ("BURST 1", can.burst),
        ("ANCHOR 1", can.anchor),
        ("ID a", can.id),
        ("BLOCK 1", can.lock),
        ("MAX 1d", can.lock),
    ]
}

/// What the algorithm of a word can do.
pub fn traits(word: &str) -> &'static Traits {
    Name::from_word(word.as_bytes()).expect("an algorithm").traits()
}

pub const EXACT: i64 = 1 << 53;
pub const HUGE: [i64; 6] = [EXACT - 2, EXACT - 1, EXACT, EXACT + 1, i64::MAX - 1, i64::MAX];

impl Case {
    /// Calls of which some are wrong.
    pub fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        const STARTS: [i64; 6] = [
            1_700_000_000_000_000,
            1_700_000_000_000_000,
            951_782_400_000_000,   // 29 February 2000
            1_767_225_599_999_999, // the end of 2025
            4_107_542_400_000_000, // 1 March 2100
            5_000_000_000,         // 1970
        ];
        let now = random.pick(&STARTS) + random.below(86_400_000_000) as i64;
        let windows = (0..2)
            .map(|_| {
                const WINDOWS: [(&str, i64); 22] = [
                    ("1", 1_000),
                    ("1", 1_000),
                    ("60", 60_000),
                    ("60", 60_000),
                    ("1ms", 1),
                    ("2ms", 2),
                    ("3ms", 3),
                    ("7ms", 7),
                    ("10ms", 10),
                    ("999ms", 999),
                    ("1001ms", 1_001),
                    ("1500ms", 1_500),
                    ("100ms", 100),
                    ("5m", 300_000),
                    ("1h", 3_600_000),
                    ("1d", 86_400_000),
                    ("7d", 604_800_000),
                    ("365d", 31_536_000_000),
                    ("1000000000", 1_000_000_000_000),
                    ("10000000001", 10_000_000_001_000),
                    ("1000000000000", 1_000_000_000_000_000),
                    ("999999999999999ms", 999_999_999_999_999),
                ];
                // The longest are rare: most algorithms have no room for them.
                let count = if random.below(4) == 0 { WINDOWS.len() } else { WINDOWS.len() - 4 };
                let (text, ms) = random.pick(&WINDOWS[..count]);
                (text.to_owned(), ms)
            })
            .collect();
        let limits = (0..2)
            .map(|_| match random.below(12) {
                0 => 0,
                1 => random.pick(&HUGE),
                2 => random.pick(&[100, 1_000, 12_345, 1_000_000, 999_999_999_999, 4_000_000_000_000_000]),
                _ => random.pick(&[1, 1, 2, 2, 3, 5, 10]),
            })
            .collect();
        Self { random, windows, limits, now, hostile: true, for_scripts: false }
    }

    /// Calls that are valid one by one, on keys that only they have written.
    pub fn valid(seed: u64) -> Self {
        Self { hostile: false, ..Self::new(seed) }
    }

    pub fn chance(&mut self, one_in: u64) -> bool {
        self.random.below(one_in) == 0
    }

    pub fn window(&mut self) -> (String, i64) {
        let at = if self.chance(5) { 1 } else { 0 };
        self.windows[at].clone()
    }

    pub fn limit(&mut self) -> i64 {
        let at = if self.chance(4) { 1 } else { 0 };
        self.limits[at]
    }

    /// A cost, most often a small one.
    pub fn units(&mut self) -> i64 {
        let limit = self.limit();
        match self.random.below(12) {
            0 => 0,
            1 => limit,
            2 => limit.saturating_add(1),
            3 if self.chance(4) => self.random.pick(&HUGE),
            3 if self.chance(2) => self.random.pick(&[999, 1_001, 2_500, 9_999, 10_000, 10_001]),
            _ => 1 + self.random.below(4) as i64,
        }
    }

    pub fn anchor(&mut self) -> i64 {
        let now = self.now / 1_000_000;
        match self.random.below(5) {
            0 => 0,
            1 => self.random.pick(&[253_402_300_799, 1_769_860_800, 951_782_400 + 43_200, 86_399]),
            _ => (now + self.random.below(40_000_000) as i64 - 20_000_000).max(0),
        }
    }

    /// The time of a request, in ms.
    pub fn at(&mut self) -> i64 {
        let (_, window) = self.window();
        let now = self.now / 1_000;
        match self.random.below(8) {
            0 => self.random.pick(&[0, i64::MAX, now + 5, EXACT + 1]),
            1 => now,
            2 => now - window,
            3 => now - window + 1,
            _ => now - self.random.below(2 * window as u64 + 1) as i64,
        }
        .max(0)
    }

    pub fn id(&mut self) -> String {
        format!("h{}", self.random.below(4))
    }

    /// `<ALGO> window limit [options]`.
    pub fn limit_words(&mut self, name: &str, algorithm: &str) -> Vec<String> {
        let (mut window, _) = self.window();
        let mut options: Vec<Vec<String>> = Vec::new();
        let limit = self.limit();
        let with = |word: &str, value: String| vec![word.to_owned(), value];
        let traits = traits(algorithm);
        if traits.anchor {
            if self.chance(4) {
                window = self.random.pick(&["day", "week", "month", "year", "MONTH"]).to_owned();
            }
            if self.chance(4) {
                let anchor = self.anchor();
                options.push(with("ANCHOR", anchor.to_string()));
            }
        }
        let is_request = matches!(name, "rl" | "rl_multi" | "rl_share" | "rl_peek");
        if traits.burst && name != "rl_reset" && self.chance(4) {
            let burst = self.units().max(1);
            options.push(with("BURST", burst.to_string()));
        }
        if traits.lock && name != "rl_reset" && self.chance(2) {
            let (block, block_ms) = self.window();
            // A longest lock that the first does not reach by doubling, too.
            let between = (block_ms * 5 / 2).min(999_999_999_999_999);
            let between = (format!("{between}ms"), between);
            let (max, max_ms) = if self.chance(3) { between } else { self.window() };
            options.push(with("BLOCK", block));
            if max_ms >= block_ms || self.hostile && self.chance(4) {
                options.push(with("MAX", max));
            }
        }
        if traits.id {
            if is_request && !(name == "rl_peek" && self.chance(3)) {
                let id = self.id();
                options.push(with("ID", id));
            }
        } else if (is_request || name == "rl_refund") && self.chance(2) {
            let cost = self.units();
            options.push(with("COST", cost.to_string()));
        }
        if matches!(name, "rl" | "rl_peek") && traits.partial && self.chance(6) {
            options.push(vec!["PARTIAL".to_owned()]);
        }
        let takes_always = traits.always || self.chance(20);
        if matches!(name, "rl" | "rl_peek") && takes_always && self.chance(4) {
            options.push(vec!["ALWAYS".to_owned()]);
        }
        let takes_reserve = traits.reserve && name != "rl_peek" || self.chance(40);
        if is_request && takes_reserve && name != "rl_share" && !self.for_scripts && self.chance(2) {
            let (id, ttl) = (self.id(), self.random.pick(&["1ms", "1", "7s", "1m", "1h"]).to_owned());
            options.push(vec!["RESERVE".to_owned(), id, ttl]);
        }
        if is_request && self.chance(5) {
            options.push(vec!["SHADOW".to_owned()]);
        }
        if is_request && !self.for_scripts && self.chance(8) {
            let policy = self.random.pick(&["a", "b", "a-2", "x.Y_0-9"]).to_owned();
            options.push(with("AS", policy));
        }
        if matches!(name, "rl_refund" | "rl_settle") && self.chance(3) {
            let at = self.at();
            options.push(with("AT", at.to_string()));
        }
        if name == "rl_settle" {
            let (reserved, actual) = (self.units(), self.units());
            let takes_reservation = traits.reserve || self.chance(20);
            if takes_reservation && !self.for_scripts && self.chance(2) {
                let id = self.id();
                options.retain(|option| option[0] != "AT");
                options.push(with("RESERVATION", id));
            } else {
                options.push(with("RESERVED", reserved.to_string()));
            }
            options.push(with("ACTUAL", actual.to_string()));
        }
        let mut words = vec![algorithm.to_owned(), window];
        if name != "rl_reset" {
            words.push(limit.to_string());
        }
        while !options.is_empty() {
            let at = self.random.below(options.len() as u64) as usize;
            words.extend(options.swap_remove(at));
        }
        words
    }

    /// As clients send most requests: the scripts have a fast path for these.
    fn plain_words(&mut self, algorithm: &str) -> Vec<String> {
        let window = self.random.pick(&["1", "60", "1500ms", "3600000ms", "2m", "30d"]).to_owned();
        let mut words = vec![algorithm.to_owned(), window, self.limit().to_string()];
        if traits(algorithm).id {
            words.extend(["ID".to_owned(), self.id()]);
        } else if self.chance(2) {
            words.extend(["COST".to_owned(), self.units().to_string()]);
        }
        words
    }

    pub fn call(&mut self, keys: &[&str]) -> Call {
        const NAMES: [&str; 18] = [
            "rl",
            "rl",
            "rl",
            "rl",
            "rl",
            "rl",
            "rl",
            "rl_multi",
            "rl_multi",
            "rl_peek",
            "rl_peek",
            "rl_refund",
            "rl_settle",
            "rl_settle",
            "rl_reset",
            "rl",
            "rl_share",
            "rl_share",
        ];
        let (key, algorithm) = self.key_and_algorithm(keys);
        let name = if traits(algorithm).id && self.chance(3) {
            self.random.pick(&["rl_release", "rl_renew"])
        } else {
            self.random.pick(&NAMES)
        };
        // With one key there is nothing to share.
        let name = if name == "rl_share" && keys.len() < 2 { "rl_multi" } else { name };
        let key_bytes = key.as_bytes().to_vec();
        let mut limits: Vec<(Vec<u8>, Vec<String>)> = match name {
            "rl_multi" => (0..1 + self.random.below(3))
                .map(|_| {
                    let (key, algorithm) = self.key_and_algorithm(keys);
                    (key.into_bytes(), self.limit_words(name, algorithm))
                })
                .collect(),
            "rl_share" => self.shared_limits(keys),
            "rl_release" | "rl_renew" => {
                let mut words: Vec<String> = (0..1 + self.random.below(3)).map(|_| self.id()).collect();
                if name == "rl_renew" {
                    words.insert(0, self.window().0);
                }
                vec![(key_bytes, words)]
            }
            _ => vec![(key_bytes, self.limit_words(name, algorithm))],
        };
        let forms: &[&[&str]] = &[&[], &[], &["FULL"], &["FULL"], &["LINE"], &["line"], &["HEADERS"], &["headers"]];
        let has_form = !matches!(name, "rl_reset" | "rl_release" | "rl_renew");
        let forms_of_scripts: &[&[&str]] = &[&[], &["LINE"], &["line"]];
        let forms = if self.for_scripts { forms_of_scripts } else { forms };
        let mut tail = if has_form { self.random.pick(forms) } else { &[] };
        if name == "rl" && self.chance(3) {
            limits[0].1 = self.plain_words(algorithm);
            tail = &["LINE"];
        }
        if self.hostile && has_form && self.chance(40) {
            tail = self.random.pick(&[
                &["FULL", "FULL"][..],
                &["FULL", "HEADERS"],
                &["HEADERS", "LINE"],
                &["LINE", "LINE"],
                &["HEADERS", "X"],
                &["X"],
            ]);
        }
        let mut limits: Vec<(Vec<u8>, Vec<Vec<u8>>)> =
            limits.drain(..).map(|(key, words)| (key, words.into_iter().map(String::into_bytes).collect())).collect();
        if self.hostile && self.chance(8) {
            self.spoil(&mut limits, name);
        }
        Call { name, limits, tail: tail.iter().map(|word| word.as_bytes().to_vec()).collect() }
    }

    /// Limits of RL.SHARE under different keys, of algorithms that it takes where there are two.
    fn shared_limits(&mut self, keys: &[&str]) -> Vec<(Vec<u8>, Vec<String>)> {
        let takes = |key: &&&str| words(|traits| traits.always).iter().any(|word| key.starts_with(word));
        let able: Vec<&str> = keys.iter().filter(takes).copied().collect();
        let mut left = if able.len() < 2 { keys.to_vec() } else { able };
        let mut limits = Vec::new();
        for _ in 0..2 + self.random.below(left.len() as u64 - 1) {
            let at = self.random.below(left.len() as u64) as usize;
            let (key, algorithm) = self.key_and_algorithm(&[left.swap_remove(at)]);
            limits.push((key.into_bytes(), self.limit_words("rl_share", algorithm)));
        }
        let last = limits.len() - 1;
        limits[..last].iter_mut().for_each(|(_, words)| words.retain(|word| word != "SHADOW"));
        limits
    }

    /// A key, and most often the algorithm whose state it has.
    pub fn key_and_algorithm(&mut self, keys: &[&str]) -> (String, &'static str) {
        let at = self.random.below(keys.len() as u64) as usize;
        let own = words(|_| true).into_iter().find(|&word| keys[at].starts_with(word)).expect("an algorithm");
        let any = if self.hostile && self.chance(12) { self.random.pick(&words(|_| true)) } else { own };
        (keys[at].to_owned(), any)
    }

    /// When the next call is.
    pub fn next_time(&mut self) -> i64 {
        let (_, window) = self.window();
        let window_us = window.min(1 << 45) * 1_000;
        let step = match self.random.below(20) {
            0..8 => 0,
            8..10 => self.random.below(1_000) as i64,
            10..12 => self.random.below(5_000) as i64,
            12..15 => self.random.below(window_us as u64) as i64,
            15 => window_us,
            16 => 2 * window_us - 1,
            17 => 1_000 * self.random.pick(&[1, 999, 60_000, 86_400_000, 2_678_400_000]),
            18 => -(self.random.below(window_us as u64) as i64),
            _ => -self.random.pick(&[1, 1_000, 3_600_000_000]),
        };
        // Below 2^53 microseconds, whose end is in the year 2255.
        self.now = (self.now + step).clamp(1_000_000, 8_500_000_000_000_000);
        self.now
    }
}
