//! The settings of a limiter.

use std::time::Duration;

use crate::breaker::BreakerSettings;
use crate::core::{Settings, at_most_a_year};
use crate::fallback::Fallback;

/// The settings of a limiter that is to be built over a connection, or over a client without an async runtime.
#[derive(Clone, Debug)]
pub struct Builder<C> {
    connection: C,
    settings: Settings,
}

impl<C> Builder<C> {
    pub(crate) fn new(connection: C) -> Self {
        Self { connection, settings: Settings::default() }
    }

    pub(crate) fn into_parts(self) -> (C, Settings) {
        (self.connection, self.settings)
    }

    /// How long a call may take, with everything that it sends; 250 ms if not given.
    ///
    /// The connection has a timeout of its own: with the crate `redis` and an async runtime, 500 ms for a reply. Raise that
    /// too if a call may take longer.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.settings.timeout = at_most_a_year(timeout);
        self
    }

    /// What a request gets if the server cannot decide; an error if not given.
    #[must_use]
    pub fn fallback(mut self, fallback: Fallback) -> Self {
        self.settings.fallback = fallback;
        self
    }

    /// Of how many keys denials are remembered; 10,000 if not given, 0 to send every request.
    ///
    /// Until a denied request could be allowed, the limiter denies by itself what costs as much or more, under the same
    /// policy. It never denies what the server would allow if this limiter is the only client of the key. What it gives
    /// back itself ([`refund`](crate::Limiter::refund), [`settle`](crate::Limiter::settle), [`reset`](crate::Limiter::reset)) counts at once.
    /// What others give back counts when the denial ends, and after a minute at the latest. The same is true of a change
    /// of `rl.shadow`, and of memory that becomes free under `rl.on-oom deny`.
    ///
    /// The server does not count requests that are not sent: not in the counter of FIXED, in INFO or in RL.TOP. Leases
    /// are not remembered, since other holders release them.
    #[must_use]
    pub fn denials(mut self, keys: usize) -> Self {
        self.settings.denials = keys;
        self
    }

    /// When requests are no longer sent because the server is silent. Each node of a cluster has a circuit breaker of its own
    /// (or each range of 64 slots, if the connection is none of this crate), so one that is away stops only the requests of
    /// its keys.
    #[must_use]
    pub fn breaker(mut self, breaker: BreakerSettings) -> Self {
        self.settings.breaker = breaker;
        self
    }
}
