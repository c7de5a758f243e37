//! The service against real servers. One program, so that it is linked once.

#[path = "../../../tests/support/mod.rs"]
mod support;

mod bounds;
mod control;
mod deadline;
mod envoy;
mod faults;
mod flood;
mod front;
mod http;
mod operation;
mod pools;
mod process;
mod promises;
mod proxies;
mod regions;
mod replies;
mod reserve;
mod security;
mod start;
mod steps;
mod traces;
mod why;

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::runtime::Builder;

use support::*;

/// One at a time: those that take the processors for themselves, and those that measure how long something takes.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a test in a runtime of its own.
fn block_on<T>(test: impl Future<Output = T>) -> T {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime").block_on(test)
}
