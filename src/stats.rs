//! Counters since the module was loaded. [`crate::info`] shows them.

use std::sync::atomic::{AtomicU64, Ordering};

/// A counter. Handlers run on one thread; the atomic is for the compiler.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    pub const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    #[inline(always)]
    pub fn increment(&self) {
        // Not fetch_add: its lock would cost more than the two accesses.
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    pub fn add(&self, n: u64) {
        self.0.store(self.value().wrapping_add(n), Ordering::Relaxed);
    }

    pub fn value(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Decisions by outcome: of one algorithm, or of RL.MULTI.
#[derive(Debug)]
pub struct Decisions {
    /// Allowed, with at most 80 % of the limit used afterwards.
    pub allowed: Counter,
    /// Allowed, with more than 80 % used.
    pub near: Counter,
    pub denied: Counter,
    /// Allowed because of shadow mode; the limit denies.
    pub shadow_denied: Counter,
    /// Calls that got an error.
    pub errors: Counter,
}

/// The counter that a decision adds to, the mildest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    Allowed,
    Near,
    ShadowDenied,
    Denied,
}

impl Decisions {
    #[inline(always)]
    pub fn count(&self, outcome: Outcome) {
        match outcome {
            Outcome::Allowed => self.allowed.increment(),
            Outcome::Near => self.near.increment(),
            Outcome::ShadowDenied => self.shadow_denied.increment(),
            Outcome::Denied => self.denied.increment(),
        }
    }

    pub const fn new() -> Self {
        let new = Counter::new;
        Self { allowed: new(), near: new(), denied: new(), shadow_denied: new(), errors: new() }
    }

    /// The counters with their names.
    pub fn fields(&self) -> [(&'static str, u64); 5] {
        [
            ("allowed", self.allowed.value()),
            ("near", self.near.value()),
            ("denied", self.denied.value()),
            ("shadow_denied", self.shadow_denied.value()),
            ("errors", self.errors.value()),
        ]
    }
}

/// Calls of RL.SHARE by outcome.
#[derive(Debug)]
pub struct Shares {
    /// Paid by the first limit, the caller's own part.
    pub own: Counter,
    /// Paid by another one.
    pub borrowed: Counter,
    pub denied: Counter,
    pub shadow_denied: Counter,
    pub errors: Counter,
}

impl Shares {
    const fn new() -> Self {
        let new = Counter::new;
        Self { own: new(), borrowed: new(), denied: new(), shadow_denied: new(), errors: new() }
    }

    /// The counters with their names.
    pub fn fields(&self) -> [(&'static str, u64); 5] {
        [
            ("own", self.own.value()),
            ("borrowed", self.borrowed.value()),
            ("denied", self.denied.value()),
            ("shadow_denied", self.shadow_denied.value()),
            ("errors", self.errors.value()),
        ]
    }
}

/// The counters that belong to no algorithm.
#[derive(Debug)]
pub struct Stats {
    /// Calls of RL.MULTI as a whole.
    pub multi: Decisions,
    pub share: Shares,
    pub peeks: Counter,
    pub refunds: Counter,
    pub settlements: Counter,
    pub reservations_made: Counter,
    /// Calls that named an open reservation.
    pub reservations_repeated: Counter,
    pub reservations_settled: Counter,
    /// Reservations that nobody settled in time.
    pub reservations_ended: Counter,
    /// Reservations whose hash or order was gone, or that disagreed.
    pub reservations_lost: Counter,
    /// Decisions at `maxmemory`, by `rl.on-oom`.
    pub oom_error: Counter,
    pub oom_allowed: Counter,
    pub oom_denied: Counter,
}

pub static STATS: Stats = Stats {
    multi: Decisions::new(),
    share: Shares::new(),
    peeks: Counter::new(),
    refunds: Counter::new(),
    settlements: Counter::new(),
    reservations_made: Counter::new(),
    reservations_repeated: Counter::new(),
    reservations_settled: Counter::new(),
    reservations_ended: Counter::new(),
    reservations_lost: Counter::new(),
    oom_error: Counter::new(),
    oom_allowed: Counter::new(),
    oom_denied: Counter::new(),
};
