//! The words of a valid call, as the reference describes them.

use redis_rl_algorithm::period::{Anchor, CalendarUnit};
use redis_rl_algorithm::{Cost, Micros, Policy, Schedule, Window};

/// `<ALGO> window limit [options]`, with the key before it. What a call does not say has the default.
#[derive(Clone, Debug)]
pub struct Request {
    pub algorithm: String,
    pub key: String,
    pub policy: Policy,
    pub cost: Cost,
    pub partial: bool,
    pub always: bool,
    /// A narrower limit of RL.SHARE has paid.
    pub lends: bool,
    pub shadow: bool,
    pub id: Option<Vec<u8>>,
    pub reserve: Option<(Vec<u8>, Window)>,
    pub reservation: Option<Vec<u8>>,
    pub reserved: Cost,
    pub actual: Cost,
    pub at: Option<Micros>,
}

impl Request {
    /// `None` for words that the grammar does not have. `takes_limit`: RL.RESET takes none.
    pub fn parse(key: &[u8], words: &[Vec<u8>], takes_limit: bool) -> Option<Self> {
        let mut words = words.iter().map(|word| std::str::from_utf8(word).unwrap_or("?"));
        let algorithm = words.next()?.to_uppercase();
        let window = words.next()?;
        let limit = if takes_limit { words.next()?.parse().ok()? } else { 0 };
        let mut anchor = None;
        let mut request = Self {
            algorithm,
            key: String::from_utf8(key.to_vec()).ok()?,
            policy: Policy { schedule: Schedule::Aligned(Window::LONGEST), limit, burst: None, block: None, max: None },
            cost: Cost::ONE,
            partial: false,
            always: false,
            lends: false,
            shadow: false,
            id: None,
            reserve: None,
            reservation: None,
            reserved: Cost::ZERO,
            actual: Cost::ZERO,
            at: None,
        };
        while let Some(word) = words.next() {
            let cost = |text: &str| Cost::new(text.parse().ok()?);
            match word {
                "COST" => request.cost = cost(words.next()?)?,
                "PARTIAL" => request.partial = true,
                "ALWAYS" => request.always = true,
                "SHADOW" => request.shadow = true,
                "RESERVED" => request.reserved = cost(words.next()?)?,
                "ACTUAL" => request.actual = cost(words.next()?)?,
                "AT" => request.at = Some(Micros::from_millis(words.next()?.parse().ok()?)),
                "BURST" => request.policy.burst = Some(words.next()?.parse().ok()?),
                "BLOCK" => request.policy.block = Some(length(words.next()?)?),
                "MAX" => request.policy.max = Some(length(words.next()?)?),
                "ANCHOR" => anchor = Some(Anchor::from_seconds(words.next()?.parse().ok()?)?),
                "ID" => request.id = Some(words.next()?.into()),
                "RESERVE" => request.reserve = Some((words.next()?.into(), length(words.next()?)?)),
                "RESERVATION" => request.reservation = Some(words.next()?.into()),
                "AS" => drop(words.next()?),
                _ => return None,
            }
        }
        request.policy.schedule = match (CalendarUnit::from_word(window.as_bytes()), anchor) {
            (Some(unit), anchor) => Schedule::Calendar(unit, anchor),
            (None, None) => Schedule::Aligned(length(window)?),
            (None, Some(anchor)) => Schedule::Anchored(length(window)?, anchor),
        };
        Some(request)
    }

    /// With PARTIAL, the part of the cost that fits. If nothing fits it is 0, which is denied and not counted.
    pub fn part_of_cost(&self, remaining: u64) -> Cost {
        let part = Cost::new(remaining).filter(|part| self.partial && *part < self.cost);
        part.unwrap_or(self.cost)
    }
}

/// The length of a window: seconds, or an integer with a unit.
pub fn length(text: &str) -> Option<Window> {
    let digits = text.trim_end_matches(|character: char| character.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "ms" => 1,
        "" | "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    Window::from_millis(digits.parse::<u64>().ok()?.checked_mul(unit)?)
}
