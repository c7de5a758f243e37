//! The arguments that several commands share, as COMMAND DOCS shows them.

use std::ffi::CStr;

use crate::ffi::{Argument, ArgumentKind};

/// The version in which the commands appeared.
pub const SINCE: &CStr = c"0.1.0";

pub const KEY: Argument = Argument::new(c"key", ArgumentKind::Key);
pub const WINDOW: Argument = Argument::new(c"window", ArgumentKind::String);
pub const LIMIT: Argument = Argument::new(c"limit", ArgumentKind::Integer);
pub const COST: Argument = Argument::new(c"cost", ArgumentKind::Integer).after(c"COST").optional();
pub const BURST: Argument = Argument::new(c"burst", ArgumentKind::Integer).after(c"BURST").optional();
pub const ANCHOR: Argument = Argument::new(c"anchor", ArgumentKind::Integer).after(c"ANCHOR").optional();
pub const ID: Argument = Argument::new(c"id", ArgumentKind::String).after(c"ID");
/// The ids of RL.RENEW and RL.RELEASE, which no word precedes.
pub const IDS: Argument = Argument::new(c"id", ArgumentKind::String).multiple();
pub const AS: Argument = Argument::new(c"name", ArgumentKind::String).after(c"AS").optional();
pub const AT: Argument = Argument::new(c"unix_time_milliseconds", ArgumentKind::Integer).after(c"AT").optional();
pub const PARTIAL: Argument = Argument::new(c"partial", ArgumentKind::Token).after(c"PARTIAL").optional();
pub const FORM: Argument = Argument::new(
    c"form",
    ArgumentKind::OneOf(&[
        Argument::new(c"full", ArgumentKind::Token).after(c"FULL"),
        Argument::new(c"headers", ArgumentKind::Token).after(c"HEADERS"),
    ]),
)
.optional();
