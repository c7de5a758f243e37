//! redis-rl: rate limiting as native commands of Redis and Valkey.
//!
//! This file says what the module is; `command` has what it does.

#![deny(unsafe_code, clippy::undocumented_unsafe_blocks)]
// Nothing that a client sends or a key holds may panic: it would be caught, but it would be a bug.
#![cfg_attr(
    not(test),
    deny(
        clippy::arithmetic_side_effects,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::todo,
        clippy::unimplemented,
        clippy::unreachable,
        clippy::unwrap_used
    )
)]

#[cfg(not(panic = "unwind"))]
compile_error!("a panic in a handler is caught, which takes a build with panic = \"unwind\"");

mod command;
mod config;
mod denied;
mod error;
#[allow(unsafe_code)]
mod ffi;
mod info;
mod stats;
mod store;

use ffi::Ctx;
use redis_module::{Context, RedisString, Status, redis_module};

fn load(ctx: &Context, args: &[RedisString]) -> Status {
    match try_load(ctx, args) {
        Ok(()) => Status::Ok,
        Err(why) => {
            // The server puts the name of the module in front.
            Ctx::of(ctx).log_warning(&format!("not loaded: {why}"));
            Status::Err
        }
    }
}

fn try_load(context: &Context, args: &[RedisString]) -> Result<(), String> {
    let ctx = Ctx::of(context);
    ffi::require_server()
        .map_err(|function| format!("the server lacks {function}; Redis 7.0, Valkey 8.0 or a later one is needed"))?;
    let missing = ffi::missing_commands(ctx);
    if !missing.is_empty() {
        let missing = missing.join(", ");
        return Err(format!("commands that the module needs are renamed (rename-command) or missing: {missing}"));
    }
    info::loaded(context);
    ffi::set_up(ctx);
    ffi::watch_shutdown(ctx);
    let cl_throttle = config::register(context, args)?;
    command::register_all(ctx, cl_throttle)
        .map_err(|name| format!("the server rejected the command {name}: has another module taken that name?"))?;
    ctx.log_notice(&format!("version {} ({VERSION} in MODULE LIST)", env!("RL_VERSION")));
    Ok(())
}

/// Refuses to unload, except where [`ffi::may_unload`] says otherwise: the server may still point to our commands.
fn unload(ctx: &Context) -> Status {
    let ctx = Ctx::of(ctx);
    if ffi::may_unload(ctx) {
        return Status::Ok;
    }
    ctx.log_warning(
        "not unloaded: clients may still have commands of the module in their pipelines, and the server would crash on \
         them. To run without the module or with another version of it, restart the server",
    );
    Status::Err
}

/// The version of the package as the one integer that MODULE LIST has room for: 10203 for 1.2.3.
const VERSION: u32 =
    module_version([env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR"), env!("CARGO_PKG_VERSION_PATCH")]);

const fn module_version([major, minor, patch]: [&str; 3]) -> u32 {
    const fn number(digits: &str) -> u32 {
        match u32::from_str_radix(digits, 10) {
            Ok(number) => number,
            Err(_) => u32::MAX,
        }
    }
    let [major, minor, patch] = [number(major), number(minor), number(patch)];
    assert!(major < 100_000 && minor < 100 && patch < 100, "MODULE LIST has no room for such a version");
    major.saturating_mul(10_000).saturating_add(minor.saturating_mul(100)).saturating_add(patch)
}

const _: () = assert!(module_version(["12", "34", "56"]) == 123_456 && module_version(["0", "1", "0"]) == 100);

// The allocator is that of the system, not that of the server (RedisAlloc). The handlers keep no memory, so the server
// has little to account for, and tests and examples can link the crate outside a server.
#[allow(unsafe_code)]
mod module {
    use super::*;

    redis_module! {
        name: "rl",
        version: VERSION,
        allocator: (std::alloc::System, std::alloc::System),
        data_types: [],
        init: load,
        deinit: unload,
    }
}
