//! rlaas: rate limits as a service. Limits are rules in files or of a control plane, proxies and services ask over gRPC,
//! and all state is in Redis or Valkey, in the keys of the module redis-rl.
//!
//! `docs/service.md` is the manual; this is the program's library, for its tests.

#![forbid(unsafe_code)]

pub mod cli;
pub mod control;
pub mod decide;
mod env;
mod go;
pub mod http;
mod metric;
pub mod serve;
mod throttle;

/// The version of the build: that of the crate, and what `git describe` says where there is a clone.
pub const VERSION: &str = env!("RL_VERSION");
