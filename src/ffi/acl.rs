//! Permission for keys that are not among the arguments of a call.

use std::ffi::c_int;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use redis_module::raw;

use super::{Access, Arg, Ctx, Str, api};

impl Ctx<'_> {
    /// Whether the user of this call may access keys that are not among its arguments, each in place of the argument
    /// `named`: whether this command with that key would be allowed. The server has checked the arguments.
    ///
    /// A call without a user may access every key: one from the append only file, or from another module. For the user
    /// `default`, any selector may grant the key: to check the command too takes 390 instructions.
    pub fn may_access(self, keys: &[&Str<'_>], named: Arg<'_>, access: Access) -> bool {
        let Some(user_name) = self.user_name() else { return true };
        if user_name.bytes() != b"default" {
            return keys.iter().all(|key| may_call_with(&user_name, key, named));
        }
        let flags = match access {
            Access::Read => raw::REDISMODULE_CMD_KEY_ACCESS,
            Access::ReadWrite => raw::REDISMODULE_CMD_KEY_ACCESS | raw::REDISMODULE_CMD_KEY_UPDATE,
        };
        // SAFETY: live strings, and a user that is never freed.
        unsafe {
            let user = default_user(&user_name);
            let granted = |key: &&Str<'_>| api!(RedisModule_ACLCheckKeyPermissions(user, key.raw, flags as _));
            !user.is_null() && keys.iter().all(|key| granted(key) == raw::REDISMODULE_OK as _)
        }
    }

    /// The name of the user of this call; `None` if there is no user.
    ///
    /// RM_GetCurrentUserName dereferences a null pointer if the client of the call has no user, so it is called only
    /// for clients that are known to have one.
    fn user_name(self) -> Option<Str<'static>> {
        // SAFETY: a live context.
        let id = unsafe { api!(RedisModule_GetClientId(self.raw)) };
        if !has_had_user(id) && !self.has_user(id) {
            return None;
        }
        // SAFETY: a live context, whose client has a user; the module does not use automatic memory, so the string is
        // owned.
        unsafe {
            let name = api!(RedisModule_GetCurrentUserName(self.raw));
            (!name.is_null()).then(|| Str::owned(name))
        }
    }

    /// Whether the client of this call has a user.
    ///
    /// The server finds the client of a connection by its id. A call from a script or another module has a client
    /// without a connection: the error of RM_Call of a command that does not exist then shows whether it has a user.
    #[cold]
    fn has_user(self, id: u64) -> bool {
        // SAFETY: a live context; the string is owned, and freed here.
        unsafe {
            let name = api!(RedisModule_GetClientUserNameById(self.raw, id));
            if !name.is_null() {
                drop(Str::owned(name));
                remember_user(id);
                return true;
            }
            if errno() != libc::ENOENT {
                return false;
            }
            let reply = api!(RedisModule_Call(self.raw, c"rl.".as_ptr(), c"C".as_ptr()));
            debug_assert!(reply.is_null());
            errno() != libc::ENOTSUP
        }
    }
}

/// The arguments of the call that runs, and how many there are; the name of the command is the first.
static ARGV: AtomicPtr<*mut raw::RedisModuleString> = AtomicPtr::new(std::ptr::null_mut());
static ARGC: AtomicUsize = AtomicUsize::new(0);

/// Notes the arguments of a call, for [`Ctx::may_access`] in it. Handlers run one at a time, and call no other.
pub(super) fn enter(argv: *mut *mut raw::RedisModuleString, argc: c_int) {
    ARGV.store(argv, Ordering::Relaxed);
    ARGC.store(usize::try_from(argc).unwrap_or(0), Ordering::Relaxed);
}

/// Whether a user may call the command that runs with `key` in place of the argument `named`: one selector grants both the
/// command and the keys.
fn may_call_with(user_name: &Str<'_>, key: &Str<'_>, named: Arg<'_>) -> bool {
    // SAFETY: the arguments of the call that runs. The user is freed here, before anything can delete it.
    unsafe {
        let call = std::slice::from_raw_parts(ARGV.load(Ordering::Relaxed), ARGC.load(Ordering::Relaxed));
        let mut argv: Vec<_> =
            call.iter().map(|&argument| if argument == named.0 { key.raw } else { argument }).collect();
        let user = if call.contains(&named.0) { module_user(user_name) } else { std::ptr::null_mut() };
        if user.is_null() {
            return false;
        }
        let argc = c_int::try_from(argv.len()).unwrap_or(c_int::MAX);
        let status = api!(RedisModule_ACLCheckCommandPermissions(user, argv.as_mut_ptr(), argc));
        api!(RedisModule_FreeModuleUser(user));
        status == raw::REDISMODULE_OK as _
    }
}

/// The user of this name; null if there is none.
///
/// # Safety
/// The caller frees it before anything can delete the user.
unsafe fn module_user(name: &Str<'_>) -> *mut raw::RedisModuleUser {
    // SAFETY: a live string.
    unsafe { api!(RedisModule_GetModuleUserFromUserName(name.raw)) }
}

/// The user `default`, which is never freed: the server never deletes or replaces its object, whatever ACL SETUSER, ACL
/// LOAD and CONFIG SET do to its permissions. Creating it for each call costs some 300 instructions.
fn default_user(name: &Str<'_>) -> *mut raw::RedisModuleUser {
    static DEFAULT: AtomicPtr<raw::RedisModuleUser> = AtomicPtr::new(std::ptr::null_mut());
    let known = DEFAULT.load(Ordering::Relaxed);
    if !known.is_null() {
        return known;
    }
    // SAFETY: it is never freed, and the user is never deleted.
    let user = unsafe { module_user(name) };
    DEFAULT.store(user, Ordering::Relaxed);
    user
}

/// Ids of connected clients that have a user, each at the index of its lowest bits. A connected client that has a user
/// keeps one, though not always the same, and ids are never used twice.
static WITH_USER: [AtomicU64; 256] = [const { AtomicU64::new(0) }; 256];

fn slot_of(id: u64) -> Option<&'static AtomicU64> {
    WITH_USER.get(usize::from(id.to_le_bytes()[0]))
}

fn has_had_user(id: u64) -> bool {
    slot_of(id).is_some_and(|slot| slot.load(Ordering::Relaxed) == id && id != 0)
}

fn remember_user(id: u64) {
    if let Some(slot) = slot_of(id) {
        slot.store(id, Ordering::Relaxed);
    }
}

fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}
