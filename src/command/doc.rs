//! The arguments that several commands share, as COMMAND DOCS shows them. The options are in [`super::options`].

use std::ffi::CStr;

use crate::ffi::{Argument, ArgumentKind};

/// The version in which the commands appeared.
pub const SINCE: &CStr = c"0.1.0";

pub const KEY: Argument = Argument::new(c"key", ArgumentKind::Key);
pub const WINDOW: Argument = Argument::new(c"window", ArgumentKind::String);
pub const LIMIT: Argument = Argument::new(c"limit", ArgumentKind::Integer);
/// The ids of RL.RENEW and RL.RELEASE, which no word precedes.
pub const IDS: Argument = Argument::new(c"id", ArgumentKind::String).multiple();
/// The values of RESERVE.
pub const RESERVATION: &[Argument] =
    &[Argument::new(c"id", ArgumentKind::String), Argument::new(c"ttl", ArgumentKind::String)];
