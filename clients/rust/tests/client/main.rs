//! The client against real servers. One program, so that it is linked once.

#[path = "../../../../tests/support/mod.rs"]
mod support;

mod calls;
mod cancel;
mod denials;
mod grants;
mod headers;
mod joined;
mod late;
mod layer;
mod lease;
mod link;
mod link_cluster;
mod link_sentinel;
mod link_tls;
mod local;
mod proxy;
mod reservation;
mod setup;
mod silence;
