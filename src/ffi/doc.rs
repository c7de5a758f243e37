//! The documentation of a command: the types in which it is written, and their form in the module API.

use std::ffi::{CStr, c_int};
use std::ptr::null;

use redis_module::raw;

/// The documentation of a command, as COMMAND DOCS, COMMAND INFO, ACLs and cluster clients use it.
pub struct CommandDoc {
    /// As RM_CreateCommand takes them.
    pub flags: &'static CStr,
    /// ACL categories. No command of a module is in any category by itself. `ratelimit` exists if [`super::set_up`]
    /// could add it.
    pub acl: &'static CStr,
    pub summary: &'static CStr,
    pub complexity: &'static CStr,
    pub since: &'static CStr,
    pub keys: KeySpec,
    pub arguments: &'static [Argument],
    /// A call, for RL.HELP.
    pub example: &'static str,
}

impl CommandDoc {
    /// The categories that every server has. Redis 7.2 lets a module set those, and add none of its own.
    pub(super) fn acl_of_server(&self) -> &'static CStr {
        let rest = self.acl.to_bytes_with_nul().strip_prefix(b"ratelimit ");
        rest.and_then(|rest| CStr::from_bytes_with_nul(rest).ok()).unwrap_or(self.acl)
    }
}

/// Where the keys of a command are, counted from its name.
#[derive(Clone, Copy)]
pub enum KeySpec {
    /// No key.
    None,
    /// One key.
    At(c_int, Access),
    /// Several keys, all read and written, the first one here. The command reports the positions of all:
    /// [`super::Handler::KEY_POSITIONS`].
    FromCommand(c_int),
}

/// What a command does with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    ReadWrite,
}

/// An argument in COMMAND DOCS.
#[derive(Clone, Copy)]
pub struct Argument {
    pub name: &'static CStr,
    pub kind: ArgumentKind,
    /// The word before the argument, or the word that it is.
    pub token: Option<&'static CStr>,
    pub optional: bool,
    pub multiple: bool,
}

impl Argument {
    pub const fn new(name: &'static CStr, kind: ArgumentKind) -> Self {
        Self { name, kind, token: None, optional: false, multiple: false }
    }

    pub const fn after(self, token: &'static CStr) -> Self {
        Self { token: Some(token), ..self }
    }

    pub const fn optional(self) -> Self {
        Self { optional: true, ..self }
    }

    pub const fn multiple(self) -> Self {
        Self { multiple: true, ..self }
    }
}

#[derive(Clone, Copy)]
pub enum ArgumentKind {
    Key,
    String,
    Integer,
    Token,
    OneOf(&'static [Argument]),
    Block(&'static [Argument]),
}

pub(super) fn key_specs(keys: &KeySpec) -> [raw::RedisModuleCommandKeySpec; 2] {
    // SAFETY: plain C structs; all zeroes are the empty entry.
    let mut specs: [raw::RedisModuleCommandKeySpec; 2] = unsafe { std::mem::zeroed() };
    let [spec, _end] = &mut specs;
    let read_write = raw::REDISMODULE_CMD_KEY_RW | raw::REDISMODULE_CMD_KEY_ACCESS | raw::REDISMODULE_CMD_KEY_UPDATE;
    let flags = match keys {
        KeySpec::None => return specs,
        KeySpec::At(_, Access::Read) => raw::REDISMODULE_CMD_KEY_RO | raw::REDISMODULE_CMD_KEY_ACCESS,
        KeySpec::At(_, Access::ReadWrite) => read_write,
        // The spec is incomplete, so the server calls the command to get the positions.
        KeySpec::FromCommand(_) => {
            read_write | raw::REDISMODULE_CMD_KEY_VARIABLE_FLAGS | raw::REDISMODULE_CMD_KEY_INCOMPLETE
        }
    };
    spec.flags = u64::from(flags);
    spec.begin_search_type = raw::RedisModuleKeySpecBeginSearchType_REDISMODULE_KSPEC_BS_INDEX;
    if let KeySpec::At(position, _) | KeySpec::FromCommand(position) = *keys {
        spec.bs.index.pos = position;
    }
    spec.find_keys_type = raw::RedisModuleKeySpecFindKeysType_REDISMODULE_KSPEC_FK_RANGE;
    spec.fk.range.keystep = 1;
    specs
}

/// The server's form of `arguments`, ended by an empty entry. `nested` owns what the entries point to.
pub(super) fn arguments(
    arguments: &[Argument],
    nested: &mut Vec<Vec<raw::RedisModuleCommandArg>>,
) -> Vec<raw::RedisModuleCommandArg> {
    let mut out = Vec::new();
    for argument in arguments {
        // SAFETY: a plain C struct; all zeroes are the empty entry.
        let mut arg: raw::RedisModuleCommandArg = unsafe { std::mem::zeroed() };
        arg.name = argument.name.as_ptr();
        arg.token = argument.token.map_or(null(), CStr::as_ptr);
        arg.key_spec_index = -1;
        if argument.optional {
            arg.flags |= raw::REDISMODULE_CMD_ARG_OPTIONAL as c_int;
        }
        if argument.multiple {
            arg.flags |= raw::REDISMODULE_CMD_ARG_MULTIPLE as c_int;
        }
        arg.type_ = match argument.kind {
            ArgumentKind::Key => {
                arg.key_spec_index = 0;
                raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_KEY
            }
            ArgumentKind::String => raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_STRING,
            ArgumentKind::Integer => raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_INTEGER,
            ArgumentKind::Token => raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_PURE_TOKEN,
            ArgumentKind::OneOf(inner) => {
                arg.subargs = nest(inner, nested);
                raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_ONEOF
            }
            ArgumentKind::Block(inner) => {
                arg.subargs = nest(inner, nested);
                raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_BLOCK
            }
        };
        out.push(arg);
    }
    // SAFETY: as above.
    out.push(unsafe { std::mem::zeroed() });
    out
}

fn nest(inner: &[Argument], nested: &mut Vec<Vec<raw::RedisModuleCommandArg>>) -> *mut raw::RedisModuleCommandArg {
    let mut inner = arguments(inner, nested);
    let start = inner.as_mut_ptr();
    nested.push(inner);
    start
}
