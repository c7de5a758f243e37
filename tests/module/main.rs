//! The tests of the module against real servers: one file a promise. They are one program, since each program links all
//! libraries again.

#[path = "../random/mod.rs"]
mod random;
#[path = "../support/mod.rs"]
mod support;

mod cases;
mod commands;
mod differential;
mod info;
mod layout;
mod lua;
mod names;
mod operations;
mod permissions;
mod persistence;
mod replication;
mod reservations;
mod scripts;
mod settings;
mod slot_migration;
mod throttle_name;
mod top;
mod vectors;
