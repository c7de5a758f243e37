//! What decides on a request while the server cannot.

/// What decides on a check if the server cannot: it does not reply within the timeout, the connection fails, the circuit
/// breaker is open, or the server replies that it accepts no writes now (LOADING, OOM, READONLY …). A lease is an error then,
/// but for `Local`. A policy in shadow mode denies nobody: unless the fallback is `Error`, its requests are allowed.
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
    /// Limits inside this process: the same algorithm in memory, under the part of the limit and of the burst that each of
    /// the instances of the service has, rounded down, but at least 1. A key begins once, with its part of what the last
    /// reply says is used, and is counted until none of its units counts any more, also while the server decides again. So at
    /// most the limit passes through the server, and in each instance at most limit ÷ instances again, each as the algorithm
    /// bounds it. A new key without place among 100,000 keys in 64 MiB is denied, and so are LEASE and LOCKOUT.
    Local {
        /// How many instances share the limit.
        instances: u32,
    },
}
