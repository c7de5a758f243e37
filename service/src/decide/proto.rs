//! What build.rs makes of proto/, where envoy-types has no code for it.
#![allow(clippy::all, clippy::pedantic, clippy::nursery, reason = "not written by hand")]

tonic::include_proto!("kuadrant.service.ratelimit.v1");

/// What HTTP takes more than gRPC.
pub mod http {
    tonic::include_proto!("rlaas.v1");
}
