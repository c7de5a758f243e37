//! `CONFIG GET/SET rl.*`, and the same names as arguments of `loadmodule`.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use lazy_static::lazy_static;
use redis_module::configuration::{
    ConfigurationContext, ConfigurationFlags, EnumConfigurationValue, register_bool_configuration,
    register_enum_configuration, register_i64_configuration,
};
use redis_module::{Context, RedisGILGuard, RedisString};

use crate::denied;
use crate::ffi::{Ctx, load_configs};
use redis_rl_algorithm::integer::parse_integer;
use redis_rl_algorithm::reservation;

/// The values of `rl.on-oom`: what happens to a request that needs memory when the server is at `maxmemory`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnOom {
    /// The usual OOM error.
    Error,
    /// Fail open: the request is allowed, and nothing is charged.
    Allow,
    /// Fail closed: the request is denied.
    Deny,
}

impl OnOom {
    const ALL: [(&'static str, Self); 3] = [("error", Self::Error), ("allow", Self::Allow), ("deny", Self::Deny)];

    fn from_word(word: &[u8]) -> Option<Self> {
        Self::ALL.iter().find(|(name, _)| name.as_bytes().eq_ignore_ascii_case(word)).map(|&(_, value)| value)
    }
}

impl From<OnOom> for i32 {
    fn from(value: OnOom) -> Self {
        value as Self
    }
}

impl TryFrom<i32> for OnOom {
    type Error = redis_module::RedisError;

    fn try_from(value: i32) -> Result<Self, redis_module::RedisError> {
        let known = Self::ALL.iter().find(|&&(_, known)| i32::from(known) == value);
        known.map(|&(_, known)| known).ok_or(redis_module::RedisError::Str("unknown value"))
    }
}

impl EnumConfigurationValue for OnOom {
    fn get_options(&self) -> (Vec<String>, Vec<i32>) {
        Self::ALL.iter().map(|&(name, value)| (name.to_owned(), i32::from(value))).unzip()
    }
}

/// The value of `rl.max-reservations`.
static MAX_RESERVATIONS: AtomicI64 = AtomicI64::new(DEFAULT_RESERVATIONS);

const DEFAULT_RESERVATIONS: i64 = reservation::MAX_RESERVATIONS.cast_signed();
const MOST_RESERVATIONS: i64 = 1_000_000;

/// The value of `rl.shadow`.
static SHADOW: AtomicBool = AtomicBool::new(false);

type TopKeysChanged = Box<dyn Fn(&ConfigurationContext, &str, &'static AtomicI64)>;

lazy_static! {
    static ref ON_OOM: RedisGILGuard<OnOom> = RedisGILGuard::new(OnOom::Error);
}

/// The value of `rl.on-oom`.
pub fn on_oom(ctx: Ctx<'_>) -> OnOom {
    *ON_OOM.lock(&ctx.context())
}

/// The value of `rl.max-reservations`: the most reservations and marks of a limit.
pub fn max_reservations() -> u64 {
    MAX_RESERVATIONS.load(Ordering::Relaxed).unsigned_abs()
}

/// The value of `rl.shadow`: whether every limit is in shadow mode.
pub fn shadow() -> bool {
    SHADOW.load(Ordering::Relaxed)
}

/// Registers the configuration, with the arguments of `loadmodule` (`rl.on-oom allow`, or `on-oom allow`) as defaults.
/// Returns whether to register CL.THROTTLE: `cl-throttle yes` (the default) or `no`.
///
/// # Errors
/// The argument that is wrong, and what it accepts.
pub fn register(ctx: &Context, args: &[RedisString]) -> Result<bool, String> {
    let mut on_oom = OnOom::Error;
    let (mut shadow, mut top_keys, mut cl_throttle) = (false, denied::DEFAULT_CAPACITY, true);
    let mut max_reservations = DEFAULT_RESERVATIONS;
    let mut words = args.iter().map(|word| word.as_slice());
    while let Some(word) = words.next() {
        let name = String::from_utf8_lossy(word).to_ascii_lowercase();
        match name.strip_prefix("rl.").unwrap_or(&name) {
            "on-oom" => {
                on_oom = words.next().and_then(OnOom::from_word).ok_or("rl.on-oom takes error, allow or deny")?;
            }
            "top-keys" => {
                let keys = integer(words.next(), 0..=denied::MAX_CAPACITY);
                top_keys = keys.ok_or("rl.top-keys takes an integer from 0 to 10000")?;
            }
            "max-reservations" => {
                let most = integer(words.next(), 1..=MOST_RESERVATIONS);
                max_reservations = most.ok_or("rl.max-reservations takes an integer from 1 to 1000000")?;
            }
            "shadow" => shadow = words.next().and_then(yes_or_no).ok_or("rl.shadow takes yes or no")?,
            "cl-throttle" => {
                cl_throttle = words.next().and_then(yes_or_no).ok_or("cl-throttle takes yes or no")?;
            }
            _ => {
                return Err(format!(
                    "unknown argument {name}: there are rl.on-oom, rl.shadow, rl.top-keys, rl.max-reservations and cl-throttle"
                ));
            }
        }
    }
    register_enum_configuration(ctx, "on-oom", &*ON_OOM, on_oom, ConfigurationFlags::DEFAULT, None);
    register_bool_configuration(ctx, "shadow", &SHADOW, shadow, ConfigurationFlags::DEFAULT, None);
    // Keys beyond the new number are dropped at once, and their memory is freed.
    let resize: TopKeysChanged = Box::new(|ctx, _, _| denied::with_sketch(ctx, |_| ()));
    let integers = [
        ("top-keys", &denied::CAPACITY, top_keys, 0..=denied::MAX_CAPACITY, Some(resize)),
        ("max-reservations", &MAX_RESERVATIONS, max_reservations, 1..=MOST_RESERVATIONS, None),
    ];
    for (name, place, default, range, changed) in integers {
        let (least, most) = range.into_inner();
        register_i64_configuration(ctx, name, place, default, least, most, ConfigurationFlags::DEFAULT, changed);
    }
    load_configs(Ctx::of(ctx));
    Ok(cl_throttle)
}

fn integer(word: Option<&[u8]>, range: RangeInclusive<i64>) -> Option<i64> {
    word.and_then(parse_integer).filter(|n| range.contains(n))
}

fn yes_or_no(word: &[u8]) -> Option<bool> {
    if word.eq_ignore_ascii_case(b"yes") {
        Some(true)
    } else if word.eq_ignore_ascii_case(b"no") {
        Some(false)
    } else {
        None
    }
}
