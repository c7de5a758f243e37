//! Rate limits in Redis and Valkey: a client of the module redis-rl.
//!
//! A [`Policy`] is a value, and a [`Limiter`] checks requests against it:
//!
//! ```
//! # mod doc { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/client/doc.rs")); } use doc::with_server;
//! use std::time::Duration;
//! use redis_rl_client::{Limiter, Policy};
//!
//! # with_server(async |url| {
//! const API: Policy = Policy::token(Duration::from_secs(60), 600).burst(50).name("api");
//! let limiter = Limiter::open("redis://127.0.0.1/")?;
//! # let limiter = Limiter::open(url)?;
//! let decision = limiter.check(&API, "user:42").await?;
//!
//! assert!(decision.allowed);
//! assert_eq!((decision.limit, decision.remaining), (50, 49));
//! assert!(decision.headers().contains(&("X-RateLimit-Remaining", "49".to_owned())));
//! # Ok(())
//! # });
//! ```
//!
//! The names are those of the command reference. [`Limiter::builder`] has the URLs, [`Builder`] the settings, and [`Fallback`]
//! says what decides if the server cannot. [`Grants`] are for keys with many requests, [`layer`] for services of `tower`, such
//! as axum's. Errors are events of the crate `tracing`, each kind once a second at most.
//!
//! Programs without an async runtime start one of tokio. `new_current_thread` runs while a call does; leases, reservations and
//! [`Grants`] also need it between calls, as `new_multi_thread` with one worker does.
//!
//! If a caller leaves before its request is sent, the request is not charged. If the caller leaves later, the units stay
//! charged, and no other request gets them.
//!
//! # From a check to the bytes
//!
//! 1. [`Limiter::check`] makes a [`Request`], and asks the table for its key (`limiter/calls.rs`, `limiter/shared.rs`).
//! 2. The table (`limiter/accounts.rs`) has an account of each key (`account.rs`): the units that a grant has left, a remembered
//!    denial (`denial.rs`), the requests that wait, and the commands under way. The account decides at once, or says which
//!    command is to be sent. While two commands of a key are under way, requests of cost 1 wait and share the next command.
//! 3. A caller sends the request that shares no command. Any other command is a task of its own: it carries the requests that
//!    wait for it, and its reply is divided among them (`joined.rs`).
//! 4. `protocol` makes the command of the module, or the call of a Lua script, and reads the reply.
//! 5. `link` sends the command over the connection to the server, or to the node of its slot, unless the circuit breaker of
//!    that server (`link/silence.rs`) is open.
//! 6. Without a reply in time, `limiter/core.rs` applies the [`Fallback`]. With [`Fallback::Local`] the algorithm itself
//!    decides in memory (`local.rs`).

#![forbid(unsafe_code)]
#![allow(clippy::result_large_err, reason = "a request that is denied uses its decision at once")]
#![cfg_attr(not(feature = "async"), allow(dead_code, reason = "what only the limiter needs"))]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod decision;
mod key;
mod policy;

pub use decision::{Decision, Decisions, Fallback, RetryAfter, Shared, Source};
pub use key::{bounded, bounded_after};
pub use policy::{Algorithm, Calendar, InvalidPolicy, Policy, Request, Traits, Window};

#[cfg(feature = "async")]
mod error;
#[cfg(feature = "tower")]
pub mod layer;
#[cfg(feature = "async")]
mod limiter;
#[cfg(feature = "async")]
mod link;
#[cfg(feature = "async")]
mod protocol;
#[cfg(feature = "async")]
#[doc(hidden)]
pub mod state_machines;
#[cfg(feature = "async")]
mod stats;

#[cfg(feature = "async")]
#[doc(hidden)]
pub use link::Gather;
#[cfg(feature = "async")]
pub use {
    error::Error,
    limiter::{Builder, Grants, Lease, Leased, Limiter, Outcome, Reservation, Reserved, ReservedAll, TopDenial},
    stats::Stats,
};
