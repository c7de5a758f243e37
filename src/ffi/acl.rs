//! Permission for keys that are not among the arguments of a call.

use std::sync::atomic::{AtomicU64, Ordering};

use redis_module::raw;

use super::{Access, Ctx, Str, api};

impl Ctx<'_> {
    /// Whether the user of this call may access a key that is not among its arguments. The server checks the others.
    ///
    /// A call without a user may access every key: one from the append only file, or from another module.
    pub fn may_access(self, key: &Str<'_>, access: Access) -> bool {
        let Some(user_name) = self.user_name() else { return true };
        let flags = match access {
            Access::Read => raw::REDISMODULE_CMD_KEY_ACCESS,
            Access::ReadWrite => raw::REDISMODULE_CMD_KEY_ACCESS | raw::REDISMODULE_CMD_KEY_UPDATE,
        };
        // SAFETY: live strings; the user is freed here, before anything can delete it.
        unsafe {
            let user = api!(RedisModule_GetModuleUserFromUserName(user_name.raw));
            if user.is_null() {
                return false;
            }
            let status = api!(RedisModule_ACLCheckKeyPermissions(user, key.raw, flags as _));
            api!(RedisModule_FreeModuleUser(user));
            status == raw::REDISMODULE_OK as _
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
    /// The client of a connection is asked by its id. A call from a script or another module has a client without a
    /// connection: RM_Call of a command that does not exist then tells whether it has a user, and runs nothing.
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
