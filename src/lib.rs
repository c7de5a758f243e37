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

pub mod algorithm;
mod command;
mod config;
mod error;
#[allow(unsafe_code)]
mod ffi;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
pub mod in_memory;
mod integer;
mod store;

use redis_module::{Context, RedisString, Status, redis_module};

fn load(ctx: &Context, args: &[RedisString]) -> Status {
    match try_load(ctx, args) {
        Ok(()) => Status::Ok,
        Err(why) => {
            ctx.log_warning(&format!("rl: not loaded: {}", why.replace('\0', "?")));
            Status::Err
        }
    }
}

fn try_load(ctx: &Context, args: &[RedisString]) -> Result<(), String> {
    ffi::require_server()
        .map_err(|function| format!("the server lacks {function}; Redis 7.0, Valkey 8.0 or a later one is needed"))?;
    ffi::set_up(ffi::Ctx::of(ctx));
    let loaded = config::register(ctx, args)?;
    command::register_all(ffi::Ctx::of(ctx))
        .map_err(|name| format!("the server refused the command {name}: has another module taken it?"))?;
    if loaded.cl_throttle {
        command::register_cl_throttle(ffi::Ctx::of(ctx));
    }
    Ok(())
}

fn unload(_ctx: &Context) -> Status {
    Status::Err
}

// The allocator is the system's, not the server's (RedisAlloc): no handler allocates on its way, so there is next to
// nothing for the server to account for, and tests, examples and fuzzers can link the crate outside a server.
#[allow(unsafe_code)]
mod module {
    use super::*;

    redis_module! {
        name: "rl",
        version: 1,
        allocator: (std::alloc::System, std::alloc::System),
        data_types: [],
        init: load,
        deinit: unload,
    }
}
