//! Counters of a limit.

use std::sync::OnceLock;

use prometheus::IntCounter;

/// The counters that most requests under a limit count in, so that they are looked up once.
#[derive(Debug, Default)]
pub struct Counters {
    pub total_hits: OnceLock<IntCounter>,
    pub within: OnceLock<IntCounter>,
}
