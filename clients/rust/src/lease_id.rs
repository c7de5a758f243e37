//! What both kinds of leases share.

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
