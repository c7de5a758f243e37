//! The keys that are denied most, for RL.TOP, and how many of them are counted: `rl.top-keys`.

mod sketch;

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use lazy_static::lazy_static;
use redis_module::{RedisGILGuard, RedisLockIndicator};
use redis_rl_algorithm::Micros;

use crate::ffi::Ctx;
use sketch::Sketch;
pub use sketch::Written;

/// The largest `rl.top-keys`.
pub const MAX_CAPACITY: i64 = 10_000;
pub const DEFAULT_CAPACITY: i64 = 128;

/// The value of `rl.top-keys`.
pub static CAPACITY: AtomicI64 = AtomicI64::new(DEFAULT_CAPACITY);

/// How many keys are counted now.
static LENGTH: AtomicU64 = AtomicU64::new(0);

lazy_static! {
    static ref SKETCH: RedisGILGuard<Sketch> = RedisGILGuard::new(Sketch::new(0));
}

/// The number of keys that are counted at most; 0 turns counting off.
pub fn capacity() -> usize {
    usize::try_from(CAPACITY.load(Ordering::Relaxed)).unwrap_or(0)
}

/// How many keys are counted now.
pub fn len() -> u64 {
    LENGTH.load(Ordering::Relaxed)
}

/// Counts a denial.
pub fn record(ctx: Ctx<'_>, key: &[u8], algorithm: u8, now: Micros, written: Written<'_>) {
    if capacity() > 0 {
        with_sketch(&ctx.context(), |sketch| sketch.record(key, algorithm, now, written));
    }
}

/// Gives the sketch the capacity that `rl.top-keys` says, which drops the keys beyond it, and runs `action` on it.
#[inline(always)]
pub fn with_sketch<T>(lock: &impl RedisLockIndicator, action: impl FnOnce(&mut Sketch) -> T) -> T {
    let mut sketch = SKETCH.lock(lock);
    sketch.set_capacity(capacity());
    let result = action(&mut sketch);
    LENGTH.store(u64::try_from(sketch.len()).unwrap_or(u64::MAX), Ordering::Relaxed);
    result
}
