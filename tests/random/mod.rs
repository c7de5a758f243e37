//! Random calls of the module and of the Lua scripts, and what they must reply.
#![allow(dead_code)] // No test program uses all of it.

pub mod calls;
pub mod dump;
mod hostile;
pub mod model;
pub mod random_calls;
