//! Registers the commands of the module, with their documentation.

use std::borrow::Cow;
use std::ffi::{CStr, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{null, null_mut};

use redis_module::raw;

use super::acl::enter;
use super::doc::{self, CommandDoc, KeySpec};
use super::{Args, Ctx, api};

/// Reports the positions of the keys among the arguments of a call, counted from the name of the command.
pub type KeyPositions = fn(Args<'_>, &mut dyn FnMut(c_int));

/// A command of the module.
pub trait Handler {
    /// The documentation of the command, under whatever name it is registered.
    const DOC: CommandDoc;
    /// The error that a client gets if the handler panics.
    const PANICKED: fn() -> Cow<'static, CStr>;

    /// Finds the keys of a call, if the key spec cannot say where they are. The flag `getkeys-api` goes with it.
    const KEY_POSITIONS: Option<KeyPositions> = None;

    /// Runs the command and replies.
    ///
    /// # Errors
    /// The error reply. Nothing has been replied before.
    fn run<'c>(ctx: Ctx<'c>, args: Args<'c>) -> Result<(), Cow<'static, CStr>>;
}

static INFO_VERSION: raw::RedisModuleCommandInfoVersion = raw::RedisModuleCommandInfoVersion {
    version: 1,
    sizeof_historyentry: size_of::<raw::RedisModuleCommandHistoryEntry>(),
    sizeof_keyspec: size_of::<raw::RedisModuleCommandKeySpec>(),
    sizeof_arg: size_of::<raw::RedisModuleCommandArg>(),
};

/// Registers a command under a name.
///
/// # Errors
/// The server rejected it, most likely because another command has that name.
pub fn register<H: Handler>(ctx: Ctx<'_>, name: &'static CStr) -> Result<(), ()> {
    let doc = &H::DOC;
    // The positions in the older form, before key specs. It cannot describe several keys.
    let (first, last, step) = if let KeySpec::At(key, _) = doc.keys { (key, key, 1) } else { (0, 0, 0) };
    let created = |status| if status == raw::REDISMODULE_OK as c_int { Ok(()) } else { Err(()) };
    // SAFETY: the handler has the signature that the server calls; the strings are static.
    let command = unsafe {
        let (name, flags) = (name.as_ptr(), doc.flags.as_ptr());
        created(api!(RedisModule_CreateCommand(ctx.raw, name, Some(entry::<H>), flags, first, last, step)))?;
        api!(RedisModule_GetCommand(ctx.raw, name))
    };
    let mut keys = doc::key_specs(&doc.keys);
    let mut nested = Vec::new();
    let mut arguments = doc::arguments(doc.arguments, &mut nested);
    let info = raw::RedisModuleCommandInfo {
        version: &raw const INFO_VERSION,
        summary: doc.summary.as_ptr(),
        complexity: doc.complexity.as_ptr(),
        since: doc.since.as_ptr(),
        history: null_mut(),
        tips: null(),
        // The command counts its words itself, and its error says where to look.
        arity: -1,
        key_specs: keys.as_mut_ptr(),
        args: arguments.as_mut_ptr(),
    };
    // SAFETY: a command of this module, during the load; the server copies the arrays, which end with an empty entry.
    unsafe {
        created(api!(RedisModule_SetCommandInfo(command, &info)))?;
        let categories = match raw::RedisModule_AddACLCategory {
            Some(_) => doc.acl,
            None => doc.acl_of_server(),
        };
        if let Some(set) = raw::RedisModule_SetCommandACLCategories {
            created(set(command, categories.as_ptr()))?;
        }
    }
    Ok(())
}

/// The function that the server calls. No panic leaves it: unwinding into C would end the server.
unsafe extern "C" fn entry<H: Handler>(
    ctx: *mut raw::RedisModuleCtx,
    argv: *mut *mut raw::RedisModuleString,
    argc: c_int,
) -> c_int {
    // SAFETY: what the server passes lives as long as this call.
    let (ctx, args) = unsafe { (Ctx::new(ctx), Args::new(argv, argc)) };
    let run = || {
        if let Some(positions) = H::KEY_POSITIONS
            && ctx.wants_key_positions()
        {
            positions(args, &mut |position| ctx.report_key_position(position));
            return Ok(());
        }
        enter(argv, argc);
        H::run(ctx, args)
    };
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(())) => {}
        Ok(Err(text)) => ctx.reply_error(&text),
        Err(panic) => {
            let what = panic.downcast_ref::<&str>().copied();
            let what = what.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
            ctx.log_warning(&format!("a command panicked, which is a bug: {what}"));
            ctx.reply_error(&H::PANICKED());
        }
    }
    raw::REDISMODULE_OK as c_int
}
