//! What build.rs makes of proto/. envoy-types has the messages of Envoy.
#![allow(clippy::all, clippy::pedantic, clippy::nursery, reason = "not written by hand")]

tonic::include_proto!("kuadrant.service.ratelimit.v1");

/// The service of Envoy.
pub mod envoy {
    tonic::include_proto!("envoy.service.ratelimit.v3");
}

/// What HTTP takes more than gRPC.
pub mod http {
    tonic::include_proto!("rlaas.v1");
}
