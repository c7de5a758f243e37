//! Counters since the module was loaded, and `INFO rl`.

use std::sync::atomic::{AtomicU64, Ordering};

use lazy_static::lazy_static;
use redis_module::{InfoContext, RedisGILGuard, RedisLockIndicator, RedisResult};
use redis_module_macros::info_command_handler;

use crate::command::for_each_algorithm;
use crate::config::top_keys;
use crate::ffi::Ctx;
use crate::top::Sketch;

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

    fn value(&self) -> u64 {
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

/// The outcome of a decision, the mildest first.
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

    fn fields(&self) -> [(&'static str, u64); 5] {
        [
            ("allowed", self.allowed.value()),
            ("near", self.near.value()),
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
    pub peeks: Counter,
    pub refunds: Counter,
    pub settlements: Counter,
    /// Decisions at `maxmemory`, by `rl.on-oom`.
    pub oom_error: Counter,
    pub oom_allowed: Counter,
    pub oom_denied: Counter,
}

pub static STATS: Stats = Stats {
    multi: Decisions::new(),
    peeks: Counter::new(),
    refunds: Counter::new(),
    settlements: Counter::new(),
    oom_error: Counter::new(),
    oom_allowed: Counter::new(),
    oom_denied: Counter::new(),
};

lazy_static! {
    /// The keys that are denied most.
    static ref TOP: RedisGILGuard<Sketch> = RedisGILGuard::new(Sketch::new(0));
}

/// How many keys RL.TOP counts now, for INFO.
static TOP_LENGTH: AtomicU64 = AtomicU64::new(0);

/// Runs `action` on the keys that are denied most, as many as `rl.top-keys` says.
pub fn with_top<T>(ctx: Ctx<'_>, action: impl FnOnce(&mut Sketch) -> T) -> T {
    with_top_locked_by(&ctx.context(), action)
}

/// [`with_top`] where there is no context of a command.
pub fn with_top_locked_by<T>(lock: &impl RedisLockIndicator, action: impl FnOnce(&mut Sketch) -> T) -> T {
    let mut top = TOP.lock(lock);
    top.set_capacity(top_keys());
    let result = action(&mut top);
    TOP_LENGTH.store(u64::try_from(top.len()).unwrap_or(u64::MAX), Ordering::Relaxed);
    result
}

/// The section `rl` of INFO.
#[info_command_handler]
fn info(ctx: &InfoContext, _for_crash_report: bool) -> RedisResult<()> {
    let number = |n: u64| n.to_string();
    let mut section = ctx.builder().add_section("").field("version", env!("CARGO_PKG_VERSION"))?;
    let mut rows = Vec::new();
    for_each_algorithm(|name, decisions| rows.push((name.to_ascii_lowercase(), decisions.fields())));
    rows.push(("multi".to_owned(), STATS.multi.fields()));
    for (name, fields) in &rows {
        for (outcome, count) in fields {
            section = section.field(&format!("{name}_{outcome}"), number(*count))?;
        }
    }
    for (name, counter) in [
        ("peeks", &STATS.peeks),
        ("refunds", &STATS.refunds),
        ("settlements", &STATS.settlements),
        ("oom_error", &STATS.oom_error),
        ("oom_allowed", &STATS.oom_allowed),
        ("oom_denied", &STATS.oom_denied),
    ] {
        section = section.field(name, number(counter.value()))?;
    }
    let section = section.field("top_keys", number(TOP_LENGTH.load(Ordering::Relaxed)))?;
    section.field("missing_api", crate::ffi::missing_features())?.build_section()?.build_info()?;
    Ok(())
}
