//! What one copy of a service knows of a key. It reads no clock and sends nothing.
//!
//! Units come back as late as they may, never early: a reply says what is left, not when each unit was charged.

use redis_rl_algorithm::{MAX_COUNT, Micros, Policy as Terms, Schedule};

use crate::decision::RetryAfter;
use crate::policy::{Algorithm, Traits};

/// In how many parts a window is divided in which units of a log are admitted. Those of a part come back together.
const PARTS: u64 = 8;

/// A moment, in microseconds since this process began to count.
pub type At = u64;

/// The figures of a LINE reply that are kept.
#[derive(Clone, Copy, Debug, Default)]
pub struct Figures {
    pub allowed: bool,
    pub limit: u64,
    pub remaining: u64,
    /// Microseconds; the largest value for never.
    pub reset: u64,
    pub shadow: bool,
}

/// How units come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// All at once.
    Window,
    /// One by one, at the rate.
    Bucket,
    /// Each a window later, and gradually a window after that.
    Counter,
    /// Each a window later.
    Log,
}

/// What does not change of a key.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    pub algorithm: Algorithm,
    pub schedule: Schedule,
    /// What to add to a moment for the server's time, in microseconds.
    pub skew: i64,
}

impl Limit {
    const fn kind(&self) -> Kind {
        match self.algorithm.traits() {
            Traits { ends_at_once: true, .. } => Kind::Window,
            Traits { burst: true, .. } => Kind::Bucket,
            // Special: what counts of the previous window becomes less.
            _ if matches!(self.algorithm, Algorithm::Counter) => Kind::Counter,
            _ => Kind::Log,
        }
    }

    fn window(&self) -> u64 {
        Terms { schedule: self.schedule, limit: 0, burst: None, block: None, max: None }.window().micros()
    }

    /// When the window ends in which units of this moment count, if they all come back at once.
    fn end_of_window(&self, at: At) -> At {
        if self.algorithm.traits().key_per_window {
            let end = self.schedule.period_at(Micros(at.saturating_add_signed(self.skew))).end;
            end.0.saturating_add_signed(self.skew.saturating_neg())
        } else {
            at.saturating_add(self.window())
        }
    }
}

/// A request that is decided here.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    pub terms: Terms,
    pub cost: u64,
    pub partial: bool,
    pub always: bool,
    /// Whether its command was written, and has no reply.
    pub sent: bool,
    /// How many copies share the limit.
    pub instances: u32,
}

/// What a request gets that is decided here.
#[derive(Clone, Copy, Debug)]
pub struct Admission {
    pub allowed: bool,
    pub charged: u64,
    pub retry_after: RetryAfter,
    /// Microseconds.
    pub delay: u64,
    pub paid: Paid,
}

/// With which units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paid {
    Nothing,
    /// Those of its own command, which may have charged them.
    Lost(u64),
    /// Others, which the server does not know of.
    Local(u64),
}

/// Units that are admitted here and not sent. For a bucket `units` is the time in which they drain.
#[derive(Clone, Debug, Default)]
struct Local {
    units: u64,
    /// Of a window the first moment, of a log the last, of a bucket that from which on it drains.
    at: At,
    /// The parts of a log before, the oldest first.
    #[expect(clippy::box_collection, reason = "most keys have none")]
    older: Option<Box<Vec<(At, u64)>>>,
}

/// What is known of a key.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// What the server counts by its last reply: all of it until `full_until`, then less and less until `reset_at`.
    used: u64,
    full_until: At,
    reset_at: At,
    /// What was sent and has no reply.
    unknown: u64,
    local: Local,
    /// The limit, the burst (0 for none) and the copies of the last request that was decided here.
    limit: u64,
    burst: u64,
    instances: u32,
    /// Whether more than the limit is counted.
    over: bool,
    /// Whether this is in the list of keys whose units are to be sent.
    pub listed: bool,
    /// Units that commands without a reply may have charged, and whose callers have not been admitted here.
    lost: u64,
}

impl Known {
    /// A command is to be sent.
    pub fn opened(&mut self, cost: u64) {
        self.unknown = self.unknown.saturating_add(cost);
    }

    /// It was not sent, or not executed.
    pub fn unsent(&mut self, cost: u64) {
        self.unknown = self.unknown.saturating_sub(cost);
    }

    /// It has its reply.
    pub fn answered(&mut self, limit: &Limit, cost: u64, figures: &Figures, now: At) {
        self.unsent(cost);
        self.used = if figures.shadow { 0 } else { figures.limit.saturating_sub(figures.remaining) };
        self.reset_at = now.saturating_add(figures.reset);
        self.full_until = match limit.kind() {
            Kind::Window | Kind::Log => self.reset_at,
            Kind::Counter => self.reset_at.saturating_sub(limit.window()).max(now),
            Kind::Bucket => now,
        };
        self.over = !figures.allowed && figures.remaining == 0;
        // Each caller whose command was lost has decided by now.
        if self.unknown == 0 {
            self.lost = 0;
        }
    }

    /// Nobody knows whether it was executed. It counts until its window ends.
    pub fn lost(&mut self, limit: &Limit, cost: u64, is_request: bool, now: At) {
        self.unsent(cost);
        if cost == 0 {
            return;
        }
        let (used, window) = (self.used_at(now), limit.window());
        self.used = used.saturating_add(cost);
        let later = |windows: u64| now.saturating_add(window.saturating_mul(windows));
        match limit.kind() {
            Kind::Window if now < self.reset_at => {}
            Kind::Window => {
                self.reset_at = limit.end_of_window(now);
                self.full_until = self.reset_at;
            }
            Kind::Log => {
                self.reset_at = self.reset_at.max(later(1));
                self.full_until = self.reset_at;
            }
            Kind::Counter => {
                self.full_until = self.full_until.max(later(1));
                self.reset_at = self.reset_at.max(later(2));
            }
            Kind::Bucket => {
                self.full_until = now;
                self.reset_at = self.reset_at.max(now).saturating_add(window);
            }
        }
        if is_request {
            self.lost = self.lost.saturating_add(cost);
        }
    }

    /// What the server counts at this moment, as far as known.
    pub fn used_at(&self, now: At) -> u64 {
        if now >= self.reset_at {
            0
        } else if now <= self.full_until {
            self.used
        } else {
            div_ceil(self.used, self.reset_at - now, self.reset_at - self.full_until)
        }
    }

    /// When all of that has come back; `None` if nothing is known.
    pub fn reset_at(&self, now: At) -> Option<At> {
        (now < self.reset_at).then_some(self.reset_at)
    }

    /// Drops local units that count no more. How many of a window.
    pub fn expire(&mut self, limit: &Limit, now: At) -> u64 {
        let (reset_at, window, local) = (self.reset_at, limit.window(), &mut self.local);
        match limit.kind() {
            Kind::Window => {
                // A window that began with a request of another copy ends earlier.
                let ends = limit.end_of_window(local.at);
                let ends = if local.at < reset_at { ends.min(reset_at) } else { ends };
                if now >= ends { std::mem::take(&mut local.units) } else { 0 }
            }
            // What the server counts drains before.
            Kind::Bucket => {
                local.units = local.units.saturating_sub(now.saturating_sub(local.at.max(reset_at)));
                local.at = now;
                0
            }
            Kind::Counter | Kind::Log => {
                let mut gone = 0_u64;
                if let Some(older) = &mut local.older {
                    older.retain(|(at, units)| {
                        let counts = now < at.saturating_add(window);
                        gone = gone.saturating_add(if counts { 0 } else { *units });
                        counts
                    });
                }
                local.older.take_if(|older| older.is_empty());
                if now >= local.at.saturating_add(window) {
                    gone = gone.saturating_add(std::mem::take(&mut local.units));
                }
                gone
            }
        }
    }

    /// The units that are admitted here and not sent.
    fn local(&self, limit: &Limit) -> u64 {
        match limit.kind() {
            Kind::Bucket => div_ceil(self.local.units, part(self.limit, self.instances), limit.window()),
            _ => {
                let older = self.local.older.as_ref().map_or(0, |older| older.iter().map(|(_, units)| *units).sum());
                self.local.units.saturating_add(older)
            }
        }
    }

    pub fn has_local(&self) -> bool {
        self.local.units > 0 || self.local.older.is_some()
    }

    /// Counts units that are admitted here.
    fn admit(&mut self, limit: &Limit, units: u64, at: At) {
        let drains = self.span(limit, units);
        let local = &mut self.local;
        match limit.kind() {
            Kind::Window => {
                if local.units == 0 {
                    local.at = at;
                }
                local.units = local.units.saturating_add(units);
            }
            Kind::Bucket => {
                if local.units == 0 {
                    local.at = at;
                }
                local.units = local.units.saturating_add(drains);
            }
            Kind::Counter | Kind::Log => {
                let part = limit.window().div_ceil(PARTS);
                if local.units > 0 && local.at / part != at / part {
                    local.older.get_or_insert_default().push((local.at, std::mem::take(&mut local.units)));
                }
                local.at = local.at.max(at);
                local.units = local.units.saturating_add(units);
            }
        }
    }

    /// In which time the part of one copy drains so many units; no less than what [`Known::local`] makes of it.
    fn span(&self, limit: &Limit, units: u64) -> u64 {
        div_floor(units, limit.window(), part(self.limit, self.instances).max(1))
    }

    /// Decides on a request.
    pub fn decide(&mut self, limit: &Limit, asked: &Asked, now: At) -> Admission {
        self.expire(limit, now);
        self.over &= now < self.reset_at || self.has_local();
        (self.limit, self.burst) = (asked.terms.limit, asked.terms.burst.unwrap_or(0));
        self.instances = asked.instances.max(1);
        let &Asked { cost, .. } = asked;
        // Its own command counts for it, and not against it.
        let own = if asked.sent && self.lost >= cost { cost } else { 0 };
        let (used, unknown) = (self.used_at(now).saturating_sub(own), self.unknown);
        let capacity = if asked.terms.limit == 0 { 0 } else { asked.terms.capacity() };
        let counted = used.saturating_add(unknown);
        let left = capacity.saturating_sub(counted);
        let share = if counted == 0 { part(left, self.instances) } else { left / u64::from(self.instances) };
        let mine = self.local(limit);
        let room = share.saturating_sub(mine);
        let allowed = match asked {
            Asked { partial: true, cost: 1.., .. } => room > 0,
            Asked { always: true, cost: 0, .. } => !self.over && mine <= share && capacity > 0,
            _ => cost.max(1) <= room,
        };
        let charged = match asked {
            Asked { partial: true, .. } => cost.min(room),
            _ if allowed || asked.always => cost,
            _ => 0,
        };
        let delays = allowed && limit.algorithm.traits().delays;
        let delay = if delays { self.drained_in(limit, unknown, now) } else { 0 };
        let paid = self.pay(limit, allowed, if asked.always { cost.min(room) } else { charged }, charged, own, now);
        let needed = if asked.partial { 1 } else { cost.max(1) };
        let retry_after = if allowed {
            RetryAfter::Now
        } else if needed > part(capacity, self.instances) {
            RetryAfter::Never
        } else {
            let wait = self.wait(limit, needed, room, unknown, now);
            RetryAfter::from_millis(i64::try_from(wait.div_ceil(1_000).max(1)).unwrap_or(i64::MAX))
        };
        Admission { allowed, charged, retry_after, delay, paid }
    }

    /// Counts what a request charges. `fits` is the part within the limit: what ALWAYS charges of a window beyond it denies
    /// nothing more.
    fn pay(&mut self, limit: &Limit, allowed: bool, fits: u64, charged: u64, own: u64, now: At) -> Paid {
        self.over |= fits < charged;
        if own > 0 {
            if !allowed {
                return Paid::Nothing;
            }
            self.lost -= own;
            return Paid::Lost(own);
        }
        let units = if limit.kind() == Kind::Window { fits } else { charged };
        if units == 0 {
            return Paid::Nothing;
        }
        self.admit(limit, units, now);
        Paid::Local(units)
    }

    /// In which time a bucket drains all that is counted.
    fn drained_in(&self, limit: &Limit, unknown: u64, now: At) -> u64 {
        let unknown = self.span(limit, unknown.div_ceil(u64::from(self.instances)));
        self.reset_at.saturating_sub(now).saturating_add(self.local.units).saturating_add(unknown)
    }

    /// How long until so many units are there, of which some are there now.
    fn wait(&self, limit: &Limit, needed: u64, room: u64, unknown: u64, now: At) -> u64 {
        let missing = needed.saturating_sub(room);
        match limit.kind() {
            Kind::Bucket => {
                let capacity = if self.burst == 0 { self.limit } else { self.burst };
                let rest = part(capacity, self.instances).saturating_sub(needed);
                self.drained_in(limit, unknown, now).saturating_sub(self.span(limit, rest))
            }
            Kind::Window => {
                let begun = if self.local.units > 0 { self.local.at } else { now };
                let ends = self.reset_at(now).unwrap_or_else(|| limit.end_of_window(begun));
                ends.saturating_sub(now)
            }
            Kind::Counter | Kind::Log => {
                let (copies, window) = (u64::from(self.instances), limit.window());
                let older = self.local.older.iter().flat_map(|older| older.iter().copied());
                let mine = older.chain([(self.local.at, self.local.units)]);
                let mut back: Vec<_> = mine.map(|(at, units)| (at.saturating_add(window), units)).collect();
                back.push((self.reset_at, self.used_at(now).div_ceil(copies)));
                back.push((now.saturating_add(window), unknown.div_ceil(copies)));
                back.sort_unstable();
                let mut came = 0_u64;
                let enough = back.into_iter().find(|(_, units)| {
                    came = came.saturating_add(*units);
                    came >= missing
                });
                enough.map_or(window, |(at, _)| at.saturating_sub(now))
            }
        }
    }

    /// Gives back what a request was paid with.
    pub fn give_back(&mut self, limit: &Limit, paid: Paid) {
        match paid {
            Paid::Nothing => {}
            Paid::Lost(units) => self.lost = self.lost.saturating_add(units),
            Paid::Local(units) => {
                let units = if limit.kind() == Kind::Bucket { self.span(limit, units) } else { units };
                self.local.units = self.local.units.saturating_sub(units);
            }
        }
    }

    /// The local units, to be sent, and the moment for which they count. They are unknown from now on.
    pub fn take_local(&mut self, limit: &Limit) -> Option<(u64, At)> {
        let units = self.local(limit);
        if units == 0 {
            return None;
        }
        let local = std::mem::take(&mut self.local);
        let units = units.min(MAX_COUNT);
        self.opened(units);
        Some((units, local.at))
    }

    /// Local units were not sent.
    pub fn put_back(&mut self, limit: &Limit, units: u64, at: At) {
        self.unsent(units);
        self.admit(limit, units, at);
    }

    /// The terms under which local units were admitted.
    pub const fn terms(&self, schedule: Schedule) -> Terms {
        let burst = if self.burst == 0 { None } else { Some(self.burst) };
        Terms { schedule, limit: self.limit, burst, block: None, max: None }
    }
}

/// The part of a limit that one copy has: at least 1, unless the limit is 0.
fn part(whole: u64, instances: u32) -> u64 {
    (whole / u64::from(instances.max(1))).max(whole.min(1))
}

fn div_ceil(a: u64, b: u64, by: u64) -> u64 {
    u64::try_from((u128::from(a) * u128::from(b)).div_ceil(u128::from(by.max(1)))).unwrap_or(u64::MAX)
}

fn div_floor(a: u64, b: u64, by: u64) -> u64 {
    u64::try_from(u128::from(a) * u128::from(b) / u128::from(by.max(1))).unwrap_or(u64::MAX)
}
