//! The client against real servers. One program, so that it is linked once.

#[path = "../../../../tests/support/mod.rs"]
mod support;

mod calls;
mod denials;
mod example;
mod grants;
mod headers;
mod layer;
mod lease;
mod library;
mod outage;
mod package;
mod setup;
mod topologies;
