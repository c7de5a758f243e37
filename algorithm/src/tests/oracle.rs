//! One oracle for every algorithm: it remembers all charges and adds them up.

use super::{CalendarUnit, Micros, Policy, Schedule, Window};

/// How an algorithm counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Fixed,
    Window,
    /// Every unit by itself. The moments of a rolling log are as long as the argument says: 4096 in a window, if those
    /// are longer than a millisecond.
    Log {
        moments: Option<u64>,
    },
    Counter,
    /// What is charged beyond the capacity is debt.
    Bucket,
    /// What is charged beyond the capacity is forgotten. A unit is a whole number of nanoseconds.
    Gcra,
    /// Attempts that the last of them locks.
    Lockout,
}

/// The algorithms with costs: how the oracle counts each of them. Every law holds for every row.
macro_rules! every_algorithm {
    ($laws:ident) => {
        $laws! {
            fixed: FixedWindow = Kind::Fixed;
            window: WindowCounter = Kind::Window;
            sliding: SlidingLog = Kind::Log { moments: None };
            counter: SlidingCounter = Kind::Counter;
            token: TokenBucket = Kind::Bucket;
            leaky: LeakyBucket = Kind::Bucket;
            gcra: Gcra = Kind::Gcra;
            rolling: RollingLog = Kind::Log { moments: Some(4_096) };
            lockout: Lockout = Kind::Lockout;
        }
    };
}

/// Those whose state is a record of integers.
macro_rules! every_record {
    ($laws:ident) => {
        $laws! {
            counter_record: SlidingCounter;
            token_record: TokenBucket;
            leaky_record: LeakyBucket;
            gcra_record: Gcra;
            lockout_record: Lockout;
        }
    };
}

pub(super) use {every_algorithm, every_record};

/// The promises of an algorithm, computed from everything that was charged and given back under one policy.
#[derive(Debug)]
pub struct Oracle {
    pub kind: Kind,
    pub policy: Policy,
    /// The time and the units of each charge that was not given back, in the order of time.
    charges: Vec<(u64, u64)>,
    /// The time and the units of each change, for the buckets; negative if given back.
    changes: Vec<(u64, i128)>,
    /// The millisecond in which the window of WINDOW ends, and the units in it.
    running: (u64, u64),
}

impl Oracle {
    pub fn new(kind: Kind, policy: Policy) -> Self {
        Self { kind, policy, charges: Vec::new(), changes: Vec::new(), running: (0, 0) }
    }

    fn window(&self) -> u64 {
        self.policy.window().micros()
    }

    fn sum(&self, counts: impl Fn(u64) -> bool) -> u64 {
        self.charges.iter().filter(|&&(at, _)| counts(at)).map(|(_, units)| units).sum()
    }

    /// Removes so many units, the newest first.
    fn take(&mut self, mut units: u64, counts: impl Fn(u64) -> bool) {
        for (_, charged) in self.charges.iter_mut().rev().filter(|(at, _)| counts(*at)) {
            let taken = units.min(*charged);
            *charged -= taken;
            units -= taken;
        }
    }

    fn add(&mut self, now: u64, at: u64, units: u64) {
        self.charges.push((at, units));
        self.charges.sort_by_key(|&(at, _)| at);
        self.changes.push((now, units.into()));
    }

    /// The level of a bucket in parts: a unit is `unit` parts, `rate` parts drain each microsecond, and it holds `most`.
    fn level(&self, now: u64, unit: i128, rate: i128, most: i128) -> i128 {
        let (mut level, mut at) = (0, 0);
        for &(then, units) in self.changes.iter().chain([&(now, 0)]) {
            level = (level - i128::from(then - at) * rate).max(0);
            level = (level + units * unit).clamp(0, most);
            at = then;
        }
        level
    }

    /// Whether a unit of the time `at` counts in a log, in milliseconds: one of millisecond s counts before, and not
    /// in, s + window.
    fn counts_in_log(&self, at: u64, now: u64) -> bool {
        at / 1_000 + self.window() / 1_000 > now / 1_000
    }

    /// In a rolling log all units of a moment have the time of the latest of them. A request that charges nothing
    /// writes nothing.
    fn latest_of_moment(&self, at: u64, moments: u64) -> u64 {
        let window_ms = self.window() / 1_000;
        let moment = |at: u64| if window_ms > moments { at / 1_000 * moments / window_ms } else { at / 1_000 };
        let written = self.charges.iter().filter(|&&(_, units)| units > 0);
        written.map(|&(other, _)| other).filter(|&other| moment(other) == moment(at)).max().unwrap_or(at)
    }

    /// The units in the window of WINDOW that runs at `now`.
    fn units_running(&self, now: u64) -> u64 {
        let (ends, units) = self.running;
        if now / 1_000 < ends { units } else { 0 }
    }

    /// What is counted in parts of a unit, and how many parts a unit has.
    fn used(&self, now: u64) -> (u128, u128) {
        let (start, window) = (start_of(&self.policy.schedule, now), self.window());
        let current = || self.sum(|at| at >= start);
        let whole = |units: u64| (units.into(), 1);
        let parts = |level: i128, unit: u64| (level.unsigned_abs(), unit.into());
        match self.kind {
            Kind::Fixed => whole(current()),
            Kind::Window => whole(self.units_running(now)),
            Kind::Log { moments: None } => whole(self.sum(|at| self.counts_in_log(at, now))),
            Kind::Log { moments: Some(moments) } => {
                whole(self.sum(|at| self.counts_in_log(self.latest_of_moment(at, moments), now)))
            }
            Kind::Counter => {
                let previous = self.sum(|at| (start - window..start).contains(&at));
                let weighted = u128::from(previous) * u128::from(start + window - now);
                (u128::from(current()) * u128::from(window) + weighted, window.into())
            }
            Kind::Lockout => whole(self.replay(now).attempts),
            // Nothing is charged under a limit of 0.
            Kind::Bucket | Kind::Gcra if self.policy.limit == 0 => (0, 1),
            Kind::Bucket => parts(self.level(now, window.into(), self.policy.limit.into(), i128::MAX), window),
            Kind::Gcra => {
                let interval = (window * 1_000).div_ceil(self.policy.limit);
                let full = i128::from(self.policy.capacity() * interval);
                parts(self.level(now, interval.into(), 1_000, full), interval)
            }
        }
    }

    fn capacity(&self) -> u64 {
        match self.kind {
            Kind::Bucket | Kind::Gcra if self.policy.limit == 0 => 0,
            Kind::Bucket | Kind::Gcra => self.policy.capacity(),
            _ => self.policy.limit,
        }
    }

    /// Whether `needed` units fit.
    pub fn fits(&self, now: Micros, needed: u64) -> bool {
        let (used, unit) = self.used(now.0);
        used + u128::from(needed) * unit <= u128::from(self.capacity()) * unit
    }

    pub fn remaining(&self, now: Micros) -> u64 {
        let (used, unit) = self.used(now.0);
        ((u128::from(self.capacity()) * unit).saturating_sub(used) / unit) as u64
    }

    /// The units counted: of COUNTER rounded down, of a bucket rounded up.
    pub fn count(&self, now: Micros) -> u64 {
        let (used, unit) = self.used(now.0);
        (if self.kind == Kind::Counter { used / unit } else { used.div_ceil(unit) }) as u64
    }

    /// A request. Whether it is allowed.
    pub fn request(&mut self, now: Micros, units: u64) -> bool {
        let allowed = self.fits(now, units.max(1));
        // FIXED counts a denied request too, if the window is full.
        if allowed || self.kind == Kind::Fixed && !self.fits(now, 1) {
            self.overcharge(now, None, units);
        }
        allowed
    }

    pub fn refund(&mut self, now: Micros, at: Option<Micros>, units: u64) {
        // Otherwise what is beyond the limit is given back first.
        if units == 0 {
            return;
        }
        let (now, at) = (now.0, at.map(|at| at.0));
        let (start, window) = (start_of(&self.policy.schedule, now), self.window());
        let current = move |charged: u64| charged >= start;
        let previous = move |charged: u64| (start.saturating_sub(window)..start).contains(&charged);
        match self.kind {
            Kind::Fixed if at.is_none_or(current) => {
                let beyond = self.sum(current).saturating_sub(self.policy.limit);
                self.take(beyond + units, current);
            }
            Kind::Fixed => {}
            Kind::Window => {
                if at.is_none_or(|at| at / 1_000 + window / 1_000 >= self.running.0) {
                    self.running.1 = self.units_running(now).saturating_sub(units);
                }
            }
            Kind::Counter => match at {
                None => self.take(units, |charged| current(charged) || previous(charged)),
                Some(at) if current(at) => self.take(units, current),
                Some(at) if previous(at) => self.take(units, previous),
                Some(_) => {}
            },
            Kind::Log { .. } => {
                let until = at.map_or(u64::MAX, |at| at / 1_000);
                let window = window / 1_000;
                self.take(units, |charged| charged / 1_000 <= until && charged / 1_000 + window > now / 1_000);
            }
            Kind::Bucket | Kind::Gcra => self.changes.push((now, -i128::from(units))),
            Kind::Lockout => {
                if at.is_none_or(|at| at / 1_000 >= self.replay(now).start.unwrap_or(0)) {
                    self.changes.push((now, -i128::from(units)));
                }
            }
        }
    }

    pub fn overcharge(&mut self, now: Micros, at: Option<Micros>, units: u64) {
        let (now, at) = (now.0, at.unwrap_or(now).min(now).0);
        let (start, window) = (start_of(&self.policy.schedule, now), self.window());
        let counts = match self.kind {
            Kind::Fixed => at >= start,
            Kind::Window | Kind::Log { .. } => self.counts_in_log(at, now),
            Kind::Counter => at >= start - window,
            Kind::Bucket | Kind::Gcra | Kind::Lockout => true,
        };
        if !counts || units == 0 {
            return;
        }
        let before = self.units_running(now);
        if before == 0 {
            self.running.0 = (now + window) / 1_000;
        }
        self.running.1 = before + units;
        self.add(now, at, units);
    }
}

/// What a list of attempts leaves. Times are in milliseconds.
#[derive(Debug, Default)]
struct Locks {
    attempts: u64,
    /// The start of the window, if one runs.
    start: Option<u64>,
    lock_ends: Option<u64>,
    /// How many locks count, and how many counted before the one that runs.
    level: u32,
    level_before: u32,
    last: u64,
    quiet_since: u64,
}

impl Oracle {
    /// Goes through all attempts, and what was given back, from the first.
    fn replay(&self, now: u64) -> Locks {
        let millis = |window: Window| u128::from(window.millis());
        let window = self.policy.window();
        let block = millis(self.policy.block.unwrap_or(window));
        let longest = self.policy.max.map_or(block.max(86_400_000), millis);
        let length = |level: u32| (0..level).fold(block, |length, _| (length * 2).min(longest));
        let mut locks = Locks::default();
        for &(then, units) in self.changes.iter().chain([&(now, 0)]) {
            let then = then / 1_000;
            if let Some(end) = locks.lock_ends.filter(|&end| then >= end) {
                locks = Locks { attempts: 0, start: None, lock_ends: None, quiet_since: end, ..locks };
            }
            if locks.lock_ends.is_none() && locks.start.is_some_and(|start| then >= start + window.millis()) {
                (locks.attempts, locks.start) = (0, None);
            }
            while locks.lock_ends.is_none() && locks.level > 0 && u128::from(then - locks.quiet_since) >= longest {
                (locks.level, locks.quiet_since) = (locks.level - 1, locks.quiet_since + longest as u64);
            }
            if units < 0 && locks.attempts > 0 {
                if locks.lock_ends.take().is_some() {
                    (locks.level, locks.quiet_since) = (locks.level_before, locks.last);
                }
                locks.attempts = locks.attempts.saturating_sub(units.unsigned_abs() as u64);
                // A window without attempts, or one that is over, leaves nothing.
                if locks.attempts == 0 || locks.start.is_some_and(|start| then >= start + window.millis()) {
                    (locks.attempts, locks.start) = (0, None);
                }
            }
            if units > 0 {
                locks.attempts += units as u64;
                locks.start.get_or_insert(then);
                (locks.last, locks.quiet_since) = (then, then);
                if locks.attempts == self.policy.limit {
                    locks.lock_ends = Some(then + length(locks.level) as u64);
                    locks.level_before = locks.level;
                    if length(locks.level) < longest {
                        locks.level += 1;
                    }
                }
            }
        }
        locks
    }
}

/// The start of the window of `now`, as the calendar of days and weeks has it.
fn start_of(schedule: &Schedule, now: u64) -> u64 {
    let (anchor, window) = match *schedule {
        Schedule::Aligned(window) => (0, window),
        Schedule::Anchored(window, anchor) => (anchor.seconds(), window),
        Schedule::Calendar(unit, Some(anchor)) => (anchor.seconds(), unit.longest()),
        // A Monday.
        Schedule::Calendar(CalendarUnit::Week, None) => (345_600, CalendarUnit::Week.longest()),
        Schedule::Calendar(unit, None) => (0, unit.longest()),
    };
    let ago = (i128::from(now) - i128::from(anchor) * 1_000_000).rem_euclid(window.micros().into());
    now - ago as u64
}
