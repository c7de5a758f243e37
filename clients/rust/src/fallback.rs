//! What a request gets while the server cannot decide.

/// What a request gets if the server cannot decide: it does not reply within the timeout, the connection fails, the
/// circuit breaker is open, or the server replies that it accepts no writes now (LOADING, OOM, READONLY …).
///
/// It applies to requests: [`check`](crate::Limiter::check) and its variants, and [`wait`](crate::Limiter::wait). Peeks,
/// refunds, settlements and resets return the error, and so does a lease. A policy in shadow mode denies nobody: unless
/// the fallback is `Error`, its requests are allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fallback {
    /// Returns the error.
    #[default]
    Error,
    /// Allows the request: the service is more important than the limit.
    Allow,
    /// Denies the request: the limit is more important than the service.
    Deny,
    /// Limits inside this process. Each of the instances of the service allows its part of what the last reply left, less
    /// what was sent and has no reply. Without a reply, it allows its part of the limit and the burst, rounded down, but
    /// at least 1. Units come back late rather than early. When the server replies again, this client sends it what was
    /// allowed: [`Stats::local_sent`](crate::Stats::local_sent). At most 100,000 keys are counted:
    /// [`Stats::local_forgotten`](crate::Stats::local_forgotten).
    Local {
        /// How many instances share the limit.
        instances: u32,
    },
}
