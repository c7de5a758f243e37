//! Loading and unloading the module: what the server must offer, what the module declares to it, and when the module
//! may be unloaded.

use std::ffi::{CStr, c_int, c_void};
use std::io;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};

use redis_module::raw;

use super::{Ctx, api};

/// The ACL category of the module's commands. It exists where [`set_up`] could add it.
pub(super) const ACL_CATEGORY: &CStr = c"ratelimit";

/// Every command that the module calls or replicates. Each takes at least one argument; see [`missing_commands`].
const SERVER_COMMANDS: &[&CStr] = &[
    // Replicated.
    c"APPEND",
    c"INCR",
    c"INCRBY",
    c"PEXPIREAT",
    c"SET",
    c"UNLINK",
    // Replicated, and called.
    c"SETRANGE",
    c"ZADD",
    // Called, and replicated by the call.
    c"HDEL",
    c"HSET",
    c"ZREM",
    c"ZREMRANGEBYRANK",
    c"ZREMRANGEBYSCORE",
    // Called.
    c"GET",
    c"ZCOUNT",
    c"ZRANGE",
];

/// Checks that the server has every function of the module API that is called without a check. Redis 7.0 is the first
/// server that has all of them.
///
/// # Errors
/// The name of a function that is missing.
pub fn require_server() -> Result<(), &'static str> {
    macro_rules! require {
        ($($function:ident)*) => {$(
            // SAFETY: a pointer that the server set before, and does not change.
            if unsafe { raw::$function }.is_none() {
                return Err(stringify!($function));
            }
        )*};
    }
    require! {
        RedisModule_ACLCheckCommandPermissions RedisModule_ACLCheckKeyPermissions RedisModule_Call RedisModule_CallReplyArrayElement RedisModule_CallReplyInteger RedisModule_CallReplyLength RedisModule_CallReplyStringPtr
        RedisModule_CallReplyType RedisModule_CloseKey RedisModule_CreateCommand RedisModule_CreateString
        RedisModule_FreeCallReply RedisModule_FreeModuleUser RedisModule_FreeServerInfo RedisModule_FreeString RedisModule_GetAbsExpire
        RedisModule_GetClientId RedisModule_GetClientUserNameById
        RedisModule_GetCommand RedisModule_GetContextFlags RedisModule_GetCurrentUserName
        RedisModule_GetModuleUserFromUserName RedisModule_GetServerInfo RedisModule_GetUsedMemoryRatio RedisModule_HashGet
        RedisModule_IsKeysPositionRequest RedisModule_KeyAtPosWithFlags RedisModule_KeyType RedisModule_LoadConfigs
        RedisModule_Log RedisModule_NotifyKeyspaceEvent RedisModule_OpenKey RedisModule_RegisterEnumConfig
        RedisModule_Replicate RedisModule_ReplyWithArray RedisModule_ReplyWithError RedisModule_ReplyWithLongLong
        RedisModule_ReplyWithMap RedisModule_ReplyWithSimpleString RedisModule_ReplyWithStringBuffer RedisModule_ServerInfoGetFieldUnsigned
        RedisModule_SetAbsExpire RedisModule_SetCommandInfo RedisModule_SetModuleOptions RedisModule_SignalModifiedKey
        RedisModule_StringDMA RedisModule_StringPtrLen RedisModule_StringTruncate RedisModule_SubscribeToServerEvent
        RedisModule_UnlinkKey RedisModule_ValueLength RedisModule_ZsetAdd RedisModule_ZsetFirstInScoreRange
        RedisModule_ZsetLastInScoreRange RedisModule_ZsetRangeCurrentElement RedisModule_ZsetRangeEndReached
        RedisModule_ZsetRangeNext RedisModule_ZsetRangeStop RedisModule_ZsetScore
    }
    Ok(())
}

/// The commands the module needs that the server does not have under their names. `rename-command` in the
/// configuration of the server renames or removes a command.
///
/// Such a command would be lost silently: the server replicates only commands that it finds by name.
pub fn missing_commands(ctx: Ctx<'_>) -> Vec<&'static str> {
    let missing = SERVER_COMMANDS.iter().filter(|name| !command_exists(ctx, name));
    missing.filter_map(|name| name.to_str().ok()).collect()
}

/// Calls the command without arguments. The server looks the name up first (ENOENT) and then rejects the number of
/// arguments (EINVAL), so nothing is executed. COMMAND INFO would not do: COMMAND itself may have been renamed.
fn command_exists(ctx: Ctx<'_>, name: &CStr) -> bool {
    // SAFETY: the context of the load; a format without arguments.
    let reply = unsafe { api!(RedisModule_Call(ctx.raw, name.as_ptr(), c"".as_ptr())) };
    let errno = io::Error::last_os_error().raw_os_error();
    if !reply.is_null() {
        // SAFETY: a live reply, freed once.
        unsafe { api!(RedisModule_FreeCallReply(reply)) };
        return true;
    }
    errno != Some(libc::ENOENT)
}

/// Declares to the server what the module can handle, adds the ACL category, and logs what the server lacks.
pub fn set_up(ctx: Ctx<'_>) {
    // SAFETY: the context of the load, as for all below; probed functions.
    unsafe {
        let options = module_options();
        api!(RedisModule_SetModuleOptions(ctx.raw, options));
        OPTIONS.store(options, Ordering::Relaxed);
        if let Some(add) = raw::RedisModule_AddACLCategory {
            add(ctx.raw, ACL_CATEGORY.as_ptr());
        }
    }
    for (missing, consequence) in [
        (!has_acl_categories(), "grant the commands by name instead of @ratelimit"),
        (!has_cached_time(), "each command of a transaction or script reads the clock itself"),
    ] {
        if missing {
            ctx.log_notice(&format!("the module API of this server is older: {consequence}"));
        }
    }
}

fn has_acl_categories() -> bool {
    // SAFETY: a pointer that the server set before, and does not change; so below.
    unsafe { raw::RedisModule_AddACLCategory }.is_some()
}

fn has_cached_time() -> bool {
    // SAFETY: as above.
    unsafe { raw::RedisModule_CachedMicroseconds }.is_some()
}

/// The features of the module API that the server lacks, separated by commas; `none` if it lacks none.
pub fn missing_features() -> String {
    let features = [(has_acl_categories(), "acl-categories"), (has_cached_time(), "cached-time")];
    let missing: Vec<_> = features.into_iter().filter(|(has, _)| !has).map(|(_, name)| name).collect();
    if missing.is_empty() { "none".to_owned() } else { missing.join(",") }
}

/// The options of RM_SetModuleOptions. A server switches a feature off while a module is loaded that does not declare that
/// it can handle the feature. All state of this module is in plain keys, so it can handle each of them.
fn module_options() -> c_int {
    /// Valkey 9 and later: CLUSTER MIGRATESLOTS.
    const HANDLE_ATOMIC_SLOT_MIGRATION: u32 = 1 << 5;
    // Diskless replication that may break off while the replica loads, and `repl-diskless-load swapdb`.
    let mut options = raw::REDISMODULE_OPTIONS_HANDLE_IO_ERRORS
        | raw::REDISMODULE_OPTIONS_HANDLE_REPL_ASYNC_LOAD
        // Otherwise closing a key that was open for writing counts as a write, and a denial breaks WATCH. A changed key
        // is closed without it: see [`set_signal_at_closing`].
        | raw::REDISMODULE_OPTION_NO_IMPLICIT_SIGNAL_MODIFIED;
    // Servers ignore options that they do not know, but a later Redis may give this bit another meaning.
    if is_valkey() {
        options |= HANDLE_ATOMIC_SLOT_MIGRATION;
    }
    options as c_int
}

/// The options of the module between two calls.
static OPTIONS: AtomicI32 = AtomicI32::new(0);

/// Whether closing a key that was open for writing signals that it has changed. Off between two calls.
#[inline(always)]
pub(super) fn set_signal_at_closing(ctx: Ctx<'_>, signal: bool) {
    let mut options = OPTIONS.load(Ordering::Relaxed);
    if signal {
        options &= !(raw::REDISMODULE_OPTION_NO_IMPLICIT_SIGNAL_MODIFIED as c_int);
    }
    // SAFETY: a live context.
    unsafe { api!(RedisModule_SetModuleOptions(ctx.raw, options)) };
}

/// Whether the server is a Valkey. Valkey has the functions of the module API under its own names too.
fn is_valkey() -> bool {
    let mut function: *mut c_void = null_mut();
    // SAFETY: a C string, and a place for the pointer, which is not used.
    let found = unsafe {
        api!(RedisModule_GetApi(c"ValkeyModule_SetModuleOptions".as_ptr(), (&raw mut function).cast::<c_void>()))
    };
    found == raw::REDISMODULE_OK as c_int
}

/// Gives the registered configuration its values: from the configuration file and MODULE LOADEX, else the defaults.
pub fn load_configs(ctx: Ctx<'_>) {
    // SAFETY: the context of the load.
    unsafe { api!(RedisModule_LoadConfigs(ctx.raw)) };
}

static SHUTTING_DOWN: AtomicBool = AtomicBool::new(false);

/// The server's cached time at the load. 0 if it is not known.
static LOADED_AT: AtomicU64 = AtomicU64::new(0);

/// Prepares for [`may_unload`]. Without it, unloading is always refused.
pub fn watch_shutdown(ctx: Ctx<'_>) {
    LOADED_AT.store(cached_time(ctx).unwrap_or(0), Ordering::Relaxed);
    SHUTTING_DOWN.store(false, Ordering::Relaxed);
    let shutdown = raw::RedisModuleEvent { id: raw::REDISMODULE_EVENT_SHUTDOWN, dataver: 1 };
    // SAFETY: the context of the load; a callback with the signature that the server calls.
    unsafe { api!(RedisModule_SubscribeToServerEvent(ctx.raw, shutdown, Some(on_shutdown))) };
}

/// The server fires the event when nothing can cancel the shutdown any more.
unsafe extern "C" fn on_shutdown(
    _ctx: *mut raw::RedisModuleCtx,
    _event: raw::RedisModuleEvent,
    _subevent: u64,
    _data: *mut c_void,
) {
    SHUTTING_DOWN.store(true, Ordering::Relaxed);
}

/// Whether the module may be unloaded: while the server shuts down, and within the command that loads it.
///
/// Unloading frees the module's commands. Servers that look up pipelined commands before they execute them (Valkey 9.1,
/// Redis 8.8) keep pointers to them in their clients, where a module cannot see them.
///
/// The server itself unloads the module again if MODULE LOADEX names a configuration that does not exist; it finds that
/// out after the module is loaded, and newer ones end if the module refuses. No client can have looked up a command
/// of the module by then.
pub fn may_unload(ctx: Ctx<'_>) -> bool {
    SHUTTING_DOWN.load(Ordering::Relaxed) || cached_time(ctx) == Some(LOADED_AT.load(Ordering::Relaxed))
}

/// The server's clock in microseconds as it was when the running command began; it stays the same until the next
/// command. INFO has it in every server; RM_CachedMicroseconds is newer than Redis 7.0.
fn cached_time(ctx: Ctx<'_>) -> Option<u64> {
    let mut failed = 0;
    // Not by `ServerInfo::field` of the crate, which holds its string twice and frees it once.
    // SAFETY: a live context and C strings; the information is freed once.
    let time = unsafe {
        let server = api!(RedisModule_GetServerInfo(ctx.raw, c"server".as_ptr()));
        let time = api!(RedisModule_ServerInfoGetFieldUnsigned(server, c"server_time_usec".as_ptr(), &mut failed));
        api!(RedisModule_FreeServerInfo(ctx.raw, server));
        time
    };
    (failed == raw::REDISMODULE_OK as c_int && time > 0).then_some(time)
}
