//! Rate limits in Redis and Valkey: a client of the module redis-rl.
//!
//! A [`Policy`] is a value, and a [`Limiter`] checks requests against it:
//!
//! ```
//! # mod doc { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/client/doc.rs")); } use doc::with_client;
//! use std::time::Duration;
//! use redis_rl_client::{Limiter, Policy};
//!
//! # with_client(async |client| {
//! const API: Policy = Policy::token(Duration::from_secs(60), 600).burst(50).name("api");
//! let limiter = Limiter::open("redis://127.0.0.1/")?;
//! # let limiter = Limiter::new(client);
//! let decision = limiter.check(&API, "user:42").await?;
//!
//! assert!(decision.allowed);
//! assert_eq!((decision.limit, decision.remaining), (50, 49));
//! assert!(decision.headers().contains(&("X-RateLimit-Remaining", "49".to_owned())));
//! # Ok(())
//! # });
//! ```
//!
//! The names are those of the command reference.
//!
//! - Servers without the module: the first request notices it, and the Lua library decides. It is part of this crate,
//!   and the log has a warning. ROLLING needs the module: [`Error::NeedsModule`].
//! - Servers that do not reply within 100 ms: [`Fallback`], [`BreakerSettings`] and [`Limiter::stats`]. The fallback is an
//!   error if not given. Errors are events of the crate `tracing`, each kind once a second at most.
//! - Clusters, Sentinels, TLS, sockets: [`Address`].
//! - No request is sent for a denied key before it could be allowed: [`Builder::denials`]. It is asked about again
//!   after ten seconds: [`Builder::recheck_denials`]. No fallback allows what a remembered denial denies.
//! - Long keys are sent and kept in a bounded form: [`bounded`].
//! - A service that is overloaded itself: [`Limiter::decide_without_server`].
//! - Keys with many requests: [`Grants`].
//! - Programs without an async runtime: [`sync`]. Services of `tower`, such as axum's: [`layer`].
//!
//! After a timeout or an error, no request is repeated, since the server may have charged it. (READONLY, MOVED, ASK and
//! TRYAGAIN say that it did not.)
//!
//! # Features
//!
//! | feature | |
//! |---|---|
//! | `async` (default) | [`Limiter`], on tokio. Without it there is only [`sync::Limiter`] |
//! | `tls` | URLs of the form `rediss://`, with rustls |
//! | `tower` | [`layer`] |
//! | `axum` | [`layer::keys::peer_address`], from axum's `ConnectInfo` |
//! | `metrics` | [`Stats`] as counters of the facade `metrics` |

#![forbid(unsafe_code)]
#![allow(clippy::duplicate_mod, reason = "what is in calls is compiled with async, and without in sync")]
#![allow(clippy::result_large_err, reason = "a request that is denied uses its decision at once")]
#![cfg_attr(not(feature = "async"), allow(dead_code, unused_imports, reason = "what only the runtime needs"))]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod address;
mod breaker;
mod core;
mod counts;
mod decision;
mod error;
#[cfg(feature = "async")]
mod grants;
mod guard;
mod key;
#[cfg(feature = "tower")]
pub mod layer;
#[cfg(feature = "async")]
mod link;
mod policy;
mod protocol;
#[cfg(feature = "async")]
#[doc(hidden)]
pub mod state_machines;
mod stats;
pub mod sync;
#[cfg(feature = "async")]
mod tasks;

pub use address::Address;
pub use breaker::BreakerSettings;
pub use core::{Builder, TopDenial};
pub use decision::{Decision, Decisions, RetryAfter, Source};
pub use error::{Error, Fallback};
#[cfg(feature = "async")]
pub use grants::Grants;
pub use guard::Outcome;
pub use key::{bounded, bounded_after};
#[cfg(feature = "async")]
pub use link::Link;
pub use policy::{Algorithm, Calendar, InvalidPolicy, Policy, Request, Window};
pub use stats::Stats;
#[cfg(feature = "async")]
pub use tasks::{Lease, Leased, Limiter, Reservation, Reserved, ReservedAll};
