//! Decides on requests, and replies over gRPC.

mod ask;
mod call;
mod codec;
mod counters;
mod grpc;
mod in_force;
mod leases;
mod left;
mod log;
mod metrics;
mod outcomes;
mod overload;
mod plan;
pub mod proto;
mod ready;
pub mod redis;
mod reply;
mod reserve;
mod service;
mod state;
mod text;
mod together;
mod trace;
mod unmatched;

/// The descriptors of the protocol, a `FileDescriptorSet`.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));

/// The text for operators wherever limits are shown.
pub const SHADOW_MODE: &str = "SHADOW_MODE=true: no request is denied, whatever its limits say";

pub use call::{Call, Deadline, grpc_timeout};
pub use codec::SmallCodec;
pub use grpc::Grpc;
pub use left::Left;
pub use metrics::Metrics;
pub use overload::{Load, UnderWay};
pub use plan::{Bounds, Check, Hits, Plan, Slot};
pub use reply::{HeaderNames, Overall, ReplySettings, whole_seconds};
pub use service::{Service, ServiceSettings};
pub use state::Snapshot;
pub use text::{read_descriptor, show_descriptor, show_pool, show_slot};
pub use trace::Traces;
