//! What both kinds of leases share.

use crate::decision::Decision;
use crate::error::Error;
use crate::policy::{Algorithm, Policy};

/// An id that no other holder has.
pub fn new_id() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// Rejects a policy of another algorithm.
///
/// # Errors
/// [`Error::Unsupported`].
pub fn require_lease(policy: &Policy) -> Result<(), Error> {
    match policy.algorithm() {
        Algorithm::Lease => Ok(()),
        _ => Err(Error::Unsupported("a lease needs a policy of the algorithm LEASE")),
    }
}

/// Who takes a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// A new holder.
    New,
    /// A holder that may have the lease already.
    MayHold,
}

impl Holder {
    /// Whether the holder has a lease after a request that was allowed. The server takes none for what only shadow mode
    /// allows, and none at `maxmemory`; a lease that was renewed charges nothing either.
    pub const fn has_lease(self, decision: &Decision) -> bool {
        !decision.shadow && (decision.charged > 0 || matches!(self, Self::MayHold))
    }
}
