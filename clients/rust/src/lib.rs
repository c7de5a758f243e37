#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod breaker;
mod builder;
mod command;
mod connection;
mod core;
mod decision;
mod denials;
mod error;
mod fallback;
#[cfg(feature = "async")]
mod grants;
mod headers;
#[cfg(feature = "tower")]
pub mod layer;
#[cfg(feature = "async")]
mod lease;
#[cfg(any(feature = "async", feature = "sync"))]
mod lease_id;
#[cfg(feature = "async")]
mod limiter;
#[cfg(feature = "local")]
mod local;
mod policy;
mod protocol;
mod reply;
mod request;
mod stats;
#[cfg(feature = "sync")]
pub mod sync;

pub use breaker::BreakerSettings;
pub use builder::Builder;
#[cfg(feature = "async")]
pub use connection::Connection;
pub use decision::{Decision, Decisions, RetryAfter, Source};
pub use error::Error;
pub use fallback::Fallback;
#[cfg(feature = "async")]
pub use grants::Grants;
#[cfg(feature = "async")]
pub use lease::{Lease, Leased};
#[cfg(feature = "async")]
pub use limiter::Limiter;
pub use policy::{Algorithm, Calendar, InvalidPolicy, Policy, Window};
pub use request::Request;
pub use stats::Stats;

#[cfg(not(any(feature = "async", feature = "sync")))]
compile_error!("enable the feature async or sync");
