//! Registers the commands of the module, with their documentation.

use std::ffi::{CStr, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{null, null_mut};

use redis_module::raw;

use super::{Args, Ctx, api};
use crate::error::Error;
use crate::integer::parse_unsigned;

/// A command: its arguments in, its reply (or an error, before anything is replied) out.
pub trait Handler {
    /// Where the keys are that the command's key spec says too, but not to every server: up to Valkey 8 (and Redis
    /// before 8) a counted spec's step is lost on the number of keys, and ACLs would not see all of them.
    const COUNTED_KEYS: Option<CountedKeys> = None;

    fn run<'c>(ctx: Ctx<'c>, args: Args<'c>) -> Result<(), Error>;
}

/// What COMMAND DOCS, COMMAND INFO, ACLs and cluster clients are told of a command.
pub struct CommandDoc {
    pub name: &'static CStr,
    /// As RM_CreateCommand takes them.
    pub flags: &'static CStr,
    /// Categories; no command of a module is in any by itself. Ours exists where [`super::set_up`] could add it.
    pub acl: &'static CStr,
    pub summary: &'static CStr,
    pub complexity: &'static CStr,
    pub since: &'static CStr,
    /// With the command's name; negative for at least so many.
    pub arity: c_int,
    pub keys: KeySpec,
    pub arguments: &'static [Argument],
}

/// Where a command's keys are, counted from its name.
#[derive(Clone, Copy)]
pub enum KeySpec {
    /// One key.
    At(c_int, Access),
    /// Several, all read and written.
    Counted(CountedKeys),
}

/// As many keys as the argument at `count_at` says: the first so many arguments after that one, and then each `step`
/// further on.
#[derive(Clone, Copy)]
pub struct CountedKeys {
    pub count_at: c_int,
    pub first_after: c_int,
    pub step: c_int,
}

impl CountedKeys {
    fn positions(self, args: &Args<'_>) -> impl Iterator<Item = c_int> {
        let count = usize::try_from(self.count_at.saturating_sub(1)).ok().and_then(|index| args.clone().nth(index));
        let count = count.and_then(|count| parse_unsigned(count.bytes())).and_then(|n| c_int::try_from(n).ok());
        let first = self.count_at.saturating_add(self.first_after);
        (0..count.unwrap_or(0)).map(move |n| first.saturating_add(n.saturating_mul(self.step)))
    }
}

/// What a command does with a key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Read,
    ReadWrite,
}

/// An argument in COMMAND DOCS.
#[derive(Clone, Copy)]
pub struct Argument {
    pub name: &'static CStr,
    pub kind: ArgumentKind,
    /// The word before it, or that it is.
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

static INFO_VERSION: raw::RedisModuleCommandInfoVersion = raw::RedisModuleCommandInfoVersion {
    version: 1,
    sizeof_historyentry: size_of::<raw::RedisModuleCommandHistoryEntry>(),
    sizeof_keyspec: size_of::<raw::RedisModuleCommandKeySpec>(),
    sizeof_arg: size_of::<raw::RedisModuleCommandArg>(),
};

/// Registers a command.
///
/// # Errors
/// The server refused, most likely because another module has a command of that name.
pub fn register<H: Handler>(ctx: Ctx<'_>, doc: &CommandDoc) -> Result<(), ()> {
    // The form from before key specs, which cannot say the other one.
    let (first, last, step) = if let KeySpec::At(key, _) = doc.keys { (key, key, 1) } else { (0, 0, 0) };
    let created = |status| if status == raw::REDISMODULE_OK as c_int { Ok(()) } else { Err(()) };
    // SAFETY: the handler has the signature the server calls; the strings live for ever.
    let command = unsafe {
        let (name, flags) = (doc.name.as_ptr(), doc.flags.as_ptr());
        created(api!(RedisModule_CreateCommand(ctx.raw, name, Some(entry::<H>), flags, first, last, step)))?;
        api!(RedisModule_GetCommand(ctx.raw, name))
    };
    let mut keys = key_specs(&doc.keys);
    let mut nested = Vec::new();
    let mut arguments = arguments(doc.arguments, &mut nested);
    let info = raw::RedisModuleCommandInfo {
        version: &raw const INFO_VERSION,
        summary: doc.summary.as_ptr(),
        complexity: doc.complexity.as_ptr(),
        since: doc.since.as_ptr(),
        history: null_mut(),
        tips: null(),
        arity: doc.arity,
        key_specs: keys.as_mut_ptr(),
        args: arguments.as_mut_ptr(),
    };
    // SAFETY: a command of ours, during the load; arrays that end with an empty entry, all of which the server copies.
    unsafe {
        created(api!(RedisModule_SetCommandInfo(command, &info)))?;
        if let (Some(set), Some(_)) = (raw::RedisModule_SetCommandACLCategories, raw::RedisModule_AddACLCategory) {
            created(set(command, doc.acl.as_ptr()))?;
        }
    }
    Ok(())
}

/// What the server calls. No panic leaves it: unwinding into C would end the server.
unsafe extern "C" fn entry<H: Handler>(
    ctx: *mut raw::RedisModuleCtx,
    argv: *mut *mut raw::RedisModuleString,
    argc: c_int,
) -> c_int {
    // SAFETY: what the server passes is live for this call.
    let (ctx, args) = unsafe { (Ctx::new(ctx), Args::new(argv, argc)) };
    let run = || {
        if let Some(keys) = H::COUNTED_KEYS
            && ctx.tell_keys(argc, keys.positions(&args))
        {
            return Ok(());
        }
        H::run(ctx, args)
    };
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(())) => {}
        Ok(Err(Error(text))) => ctx.reply_error(text),
        Err(panic) => {
            let what = panic.downcast_ref::<&str>().copied();
            let what = what.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
            ctx.log_warning(&format!("a command panicked, which is a bug: {what}"));
            ctx.reply_error(Error::INTERNAL.0);
        }
    }
    raw::REDISMODULE_OK as c_int
}

fn key_specs(keys: &KeySpec) -> [raw::RedisModuleCommandKeySpec; 2] {
    // SAFETY: plain C structs, for which all zeroes is the empty entry.
    let mut specs: [raw::RedisModuleCommandKeySpec; 2] = unsafe { std::mem::zeroed() };
    let [spec, _end] = &mut specs;
    let read_write = raw::REDISMODULE_CMD_KEY_RW | raw::REDISMODULE_CMD_KEY_ACCESS | raw::REDISMODULE_CMD_KEY_UPDATE;
    let flags = match keys {
        KeySpec::At(_, Access::Read) => raw::REDISMODULE_CMD_KEY_RO | raw::REDISMODULE_CMD_KEY_ACCESS,
        KeySpec::At(_, Access::ReadWrite) => read_write,
        // Has the server ask the command.
        KeySpec::Counted(_) => read_write | raw::REDISMODULE_CMD_KEY_VARIABLE_FLAGS,
    };
    spec.flags = u64::from(flags);
    spec.begin_search_type = raw::RedisModuleKeySpecBeginSearchType_REDISMODULE_KSPEC_BS_INDEX;
    match *keys {
        KeySpec::At(position, _) => {
            spec.bs.index.pos = position;
            spec.find_keys_type = raw::RedisModuleKeySpecFindKeysType_REDISMODULE_KSPEC_FK_RANGE;
            spec.fk.range.keystep = 1;
        }
        KeySpec::Counted(CountedKeys { count_at, first_after, step }) => {
            spec.bs.index.pos = count_at;
            spec.find_keys_type = raw::RedisModuleKeySpecFindKeysType_REDISMODULE_KSPEC_FK_KEYNUM;
            spec.fk.keynum.keynumidx = 0;
            spec.fk.keynum.firstkey = first_after;
            spec.fk.keynum.keystep = step;
        }
    }
    specs
}

/// The server's form of `arguments`, ended by an empty entry; `nested` keeps what the entries point to.
fn arguments(
    arguments: &[Argument],
    nested: &mut Vec<Vec<raw::RedisModuleCommandArg>>,
) -> Vec<raw::RedisModuleCommandArg> {
    let mut out = Vec::new();
    for argument in arguments {
        // SAFETY: a plain C struct, for which all zeroes is the empty entry.
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
