//! The settings of a limiter.

use std::time::Duration;

use crate::fallback::Fallback;
use crate::silence::BreakerSettings;

/// The settings of a limiter.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub timeout: Duration,
    pub fallback: Fallback,
    pub denials: usize,
    pub recheck_denials: Duration,
    pub breaker: BreakerSettings,
    pub requires_module: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            timeout: Duration::from_millis(100),
            fallback: Fallback::Error,
            denials: 10_000,
            recheck_denials: Duration::from_secs(10),
            breaker: BreakerSettings::default(),
            requires_module: false,
        }
    }
}

/// A longer timeout could not be added to the time of now.
pub fn at_most_a_year(timeout: Duration) -> Duration {
    timeout.min(Duration::from_secs(365 * 86_400))
}
