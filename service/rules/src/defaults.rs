//! What a rule gets that names no algorithm.

use redis_rl_client::{Algorithm, Calendar};

use super::model::Unit;

/// The units that a calendar has.
pub const CALENDARS: [(&str, Unit, Calendar); 4] = [
    ("day", Unit::Day, Calendar::Day),
    ("week", Unit::Week, Calendar::Week),
    ("month", Unit::Month, Calendar::Month),
    ("year", Unit::Year, Calendar::Year),
];

/// What a rule gets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Defaults {
    pub algorithm: Option<Algorithm>,
    pub unit_scale: Option<u32>,
    /// Which of `CALENDARS` count from the calendar's beginning of them.
    pub calendars: [bool; 4],
}

impl Defaults {
    /// The calendar for a unit; `None` if its windows have a fixed length.
    pub fn calendar(self, unit: Unit) -> Option<Calendar> {
        let known = CALENDARS.into_iter().zip(self.calendars);
        known.into_iter().find(|((_, known, _), on)| *known == unit && *on).map(|((_, _, calendar), _)| calendar)
    }

    /// What another one says, else this one.
    pub fn and(self, narrower: Self) -> Self {
        let mut calendars = self.calendars;
        calendars.iter_mut().zip(narrower.calendars).for_each(|(on, narrower)| *on |= narrower);
        let unit_scale = narrower.unit_scale.or(self.unit_scale);
        Self { algorithm: narrower.algorithm.or(self.algorithm), unit_scale, calendars }
    }
}
