//! Exact integer arithmetic that the algorithms share.

use std::num::{NonZeroU64, NonZeroU128};

/// Converts a count or a time to the type of a Redis integer. Saturates at the largest value.
pub fn to_i64(n: impl TryInto<i64>) -> i64 {
    n.try_into().unwrap_or(i64::MAX)
}

/// The product of two 64-bit numbers. It always fits 128 bits, so the compiler removes the saturation.
pub(crate) fn widening_mul(a: u64, b: u64) -> u128 {
    u128::from(a).saturating_mul(u128::from(b))
}

/// Quotient and remainder. The quotient saturates at `u64::MAX`; it is `u64::MAX` for a division by 0.
///
/// Most dividends here fit 64 bits, and a 128-bit division costs several times a 64-bit one.
pub(crate) fn div_rem(n: u128, by: u64) -> (u64, u64) {
    let Some(by) = NonZeroU64::new(by) else { return (u64::MAX, 0) };
    if let Ok(n) = u64::try_from(n) {
        return (n / by, n % by);
    }
    let by = NonZeroU128::from(by);
    let rest = u64::try_from(n % by).unwrap_or(u64::MAX);
    (u64::try_from(n / by).unwrap_or(u64::MAX), rest)
}

/// [`div_rem`], rounded up. An amount divided by the rate at which it drains is the time it takes; at a rate of 0 that
/// is `u64::MAX`.
pub(crate) fn div_ceil(n: u128, by: u64) -> u64 {
    let (quotient, rest) = div_rem(n, by);
    quotient.saturating_add(u64::from(rest > 0))
}

/// Microseconds as whole seconds, rounded up.
pub(crate) fn ceil_seconds(micros: u64) -> i64 {
    to_i64(micros.div_ceil(1_000_000))
}
